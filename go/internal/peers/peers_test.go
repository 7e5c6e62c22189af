// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	simd2018 "github.com/1lann/sha256-simd"
	minio "github.com/minio/sha256-simd"
	"golang.org/x/crypto/ripemd160"

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

// The functions of 2018 where they are defined: one padded block, for SumToNum256 of a message of 41 bytes, and work up
// to 0x1ffff.
func TestModuleOf2018(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		message := randomBytes(rng, 41)
		block := padded(message)
		want := simd2018.SumToNum256(block)
		if got := sha256.SumToNum256(message); got != want {
			t.Fatalf("SumToNum256(%x): %d, want %d", message, got, want)
		}
		if got, err := sha256.SumToNumBlock256(block); got != want || err != nil {
			t.Fatalf("SumToNumBlock256(%x): %d, %v, want %d", block, got, err, want)
		}
	}
	// Numbers this small are rare, so that Search finds them first, for messages of all lengths of one block.
	for prefixLen := range 52 {
		prefix := randomBytes(rng, prefixLen)
		nonces := sha256.Nonces{End: 1000, Width: 3}
		for n := range uint64(1000) {
			message := nonces.AppendText(prefix[:prefixLen:prefixLen], n)
			if simd2018.SumCmp256(padded(message), 0x1ffff) != sha256.SumCmp256(message, 0x1ffff) {
				t.Fatalf("SumCmp256(%x)", message)
			}
		}
	}
	nonce, found := sha256.Search([]byte("2018"), sha256.Nonces{End: math.MaxUint64}, nil, 1<<26)
	if !found {
		t.Fatal("nothing found")
	}
	message := sha256.Nonces{}.AppendText([]byte("2018"), nonce)
	block := padded(message)
	num := sha256.SumToNum256(message)
	for _, work := range []int64{0, 0x1ffff, num - 1, num, num + 1} {
		work := uint32(min(work, 0x1ffff))
		got, err := sha256.SumCmpBlock256(block, work)
		if want := simd2018.SumCmp256(block, work); got != want || sha256.SumCmp256(message, work) != want || err != nil {
			t.Errorf("work %d: %v, %v, want %v", work, got, err, want)
		}
	}
}

// The old SumCmp256 at a number below its limit of 0x1ffff. It took a search of two thousand million nonces to find.
func TestSmallNumberOf2018(t *testing.T) {
	message := []byte("2018-1100504330358")
	num := uint32(sha256.SumToNum256(message))
	if num != 10641 {
		t.Fatal(num)
	}
	for _, work := range []uint32{0, num - 1, num, num + 1, 0x1ffff} {
		want := simd2018.SumCmp256(padded(message), work)
		if want != (work >= num) || sha256.SumCmp256(message, work) != want {
			t.Errorf("work %d: want %v", work, want)
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

func TestMinio(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	msgs := make([][]byte, 100)
	for i := range msgs {
		msgs[i] = randomBytes(rng, rng.IntN(1000))
	}
	sums := make([][sha256.Size]byte, len(msgs))
	sha256.SumMany(sums, msgs)
	for i, msg := range msgs {
		if want := minio.Sum256(msg); sums[i] != want {
			t.Fatalf("%d bytes: %x, want %x", len(msg), sums[i], want)
		}
	}
}
