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
	xsha3 "golang.org/x/crypto/sha3"

	hashloom "github.com/hashloom/hashloom/go"
	compat2018 "github.com/hashloom/hashloom/go/compat/sha256simd"
	"github.com/hashloom/hashloom/go/hmac"
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
