// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"bytes"
	"encoding/binary"
	"hash"
	"math"
	"math/rand/v2"
	"testing"

	simd2018 "github.com/1lann/sha256-simd"
	//lint:ignore SA1019 The comparison is with this package.
	"golang.org/x/crypto/ripemd160"
	xsha3 "golang.org/x/crypto/sha3"

	hashloom "github.com/hashloom/hashloom/go"
	compat2018 "github.com/hashloom/hashloom/go/compat/sha256simd"
	"github.com/hashloom/hashloom/go/hmac"
	ours160 "github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha256"
)

// padded returns the one block of a message of at most 55 bytes (FIPS 180-4, section 5.1.1).
func padded(message []byte) []byte {
	block := make([]byte, 64)
	block[copy(block, message)] = 0x80
	binary.BigEndian.PutUint64(block[56:], uint64(len(message))*8)
	return block
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// The functions of 2018 and those that stand for them, for one padded block and for more.
func TestCompatOf2018(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		blocks := randomBytes(rng, 64*(1+rng.IntN(3)))
		blocks[41] = 0x80
		if got, want := compat2018.SumToNum256(blocks), simd2018.SumToNum256(blocks); got != want {
			t.Fatalf("SumToNum256(%x): %d, want %d", blocks, got, want)
		}
	}
	for _, test := range []struct {
		message string
		num     uint32
	}{{"2018-1100504330358", 10641}, {"any other message", math.MaxUint32}} {
		block := padded([]byte(test.message))
		for _, work := range []uint32{0, test.num - 1, test.num, test.num + 1, 0x1ffff, 0x20000, math.MaxUint32} {
			if got, want := compat2018.SumCmp256(block, work), simd2018.SumCmp256(block, work); got != want {
				t.Errorf("SumCmp256(%q, %d): %v", test.message, work, got)
			} else if ours := sha256.SumCmp48([]byte(test.message), work); work <= 0x1ffff && ours != want {
				t.Errorf("SumCmp48(%q, %d): %v", test.message, work, ours)
			}
		}
	}
	// A number above the old limit, and its neighbours.
	nonce, _ := sha256.Search([]byte("2018"), sha256.Nonces{End: math.MaxUint64}, nil, 1<<26)
	block := padded(sha256.Nonces{}.AppendText([]byte("2018"), nonce))
	for _, work := range []uint32{0x1ffff, 1 << 26, math.MaxUint32} {
		if got, want := compat2018.SumCmp256(block, work), simd2018.SumCmp256(block, work); got != want {
			t.Errorf("SumCmp256, work %d: %v", work, got)
		}
	}
	defer func() {
		if text := recover(); text != "41st byte must be 0x80" {
			t.Errorf("panic %v", text)
		}
	}()
	compat2018.SumToNum256(make([]byte, 64))
}

// The functions of 2018 where they are defined: one padded block, for SumToNum48 of a message of 41 bytes, and work up
// to 0x1ffff.
func TestModuleOf2018(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		message := randomBytes(rng, 41)
		want := simd2018.SumToNum256(padded(message))
		if got := sha256.SumToNum48(message); got != want {
			t.Fatalf("SumToNum48(%x): %d, want %d", message, got, want)
		}
	}
	// Numbers this small are rare, so that Search finds them first, for messages of all lengths of one block.
	for prefixLen := range 52 {
		prefix := randomBytes(rng, prefixLen)
		nonces := sha256.Nonces{End: 1000, Width: 3}
		for n := range uint64(1000) {
			message := nonces.AppendText(prefix[:prefixLen:prefixLen], n)
			if simd2018.SumCmp256(padded(message), 0x1ffff) != sha256.SumCmp48(message, 0x1ffff) {
				t.Fatalf("SumCmp48(%x)", message)
			}
		}
	}
	nonce, found := sha256.Search([]byte("2018"), sha256.Nonces{End: math.MaxUint64}, nil, 1<<26)
	if !found {
		t.Fatal("nothing found")
	}
	message := sha256.Nonces{}.AppendText([]byte("2018"), nonce)
	block := padded(message)
	num := sha256.SumToNum48(message)
	for _, work := range []int64{0, 0x1ffff, num - 1, num, num + 1} {
		work := uint32(min(work, 0x1ffff))
		if got, want := sha256.SumCmp48(message, work), simd2018.SumCmp256(block, work); got != want {
			t.Errorf("work %d: %v, want %v", work, got, want)
		}
	}
}

func TestRIPEMD160(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var msgs [][]byte
	for n := range 300 {
		msgs = append(msgs, randomBytes(rng, n))
	}
	sums := make([][ours160.Size]byte, len(msgs))
	ours160.SumMany(sums, msgs)
	for i, msg := range msgs {
		h := ripemd160.New()
		h.Write(msg)
		want := [ours160.Size]byte(h.Sum(nil))
		running := ours160.New()
		running.Write(msg)
		if sums[i] != want || ours160.Sum(msg) != want || [ours160.Size]byte(running.Sum(nil)) != want {
			t.Fatalf("%d bytes: %x, want %x", len(msg), sums[i], want)
		}
	}
}

// x/crypto's hashes of SHA-3 and SHAKE begin messages.
func TestSHA3(t *testing.T) {
	prefix, msgs := make([]byte, 500), [][]byte{[]byte("one"), make([]byte, 300)}
	for name, newHash := range map[string]func() hash.Hash{"SHA3-384": xsha3.New384,
		"SHAKE128": func() hash.Hash { return xsha3.NewShake128() },
		"SHAKE256": func() hash.Hash { return xsha3.NewShake256() }} {
		var want []byte
		for _, msg := range msgs {
			h := newHash()
			h.Write(prefix)
			h.Write(msg)
			want = h.Sum(want)
		}
		h := newHash()
		h.Write(prefix)
		if got := hashloom.AppendSumsFrom(nil, h, msgs); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("HMAC of SHAKE128 does not panic")
		}
	}()
	hmac.NewKey(xsha3.NewShake128, nil)
}
