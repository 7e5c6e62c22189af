// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	stdsha1 "crypto/sha1"
	stdsha256 "crypto/sha256"
	stdsha512 "crypto/sha512"
	"hash"
	"math/rand/v2"
	"testing"

	"github.com/hashloom/hashloom/go/internal/digest"
	oracle "github.com/hashloom/hashloom/go/internal/ripemd160"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha512"
)

// variant is all that the packages have for one algorithm, with digests as one slice of bytes, and an oracle.
type variant struct {
	name    string
	size    int
	new     func() hash.Hash
	oracle  func() hash.Hash
	sum     func(data []byte) []byte
	sumMany func(dst []byte, msgs [][]byte)
	sumRows func(dst []byte, rows []byte, rowLen int)
}

func variantOf[D digest.Array](name string, newHash, oracle func() hash.Hash, sum func([]byte) D,
	sumMany func([]D, [][]byte), sumRows func([]D, []byte, int)) variant {
	size := newHash().Size()
	return variant{name, size, newHash, oracle,
		func(data []byte) []byte { return digest.Flat([]D{sum(data)}) },
		func(dst []byte, msgs [][]byte) {
			sums := make([]D, len(msgs))
			sumMany(sums, msgs)
			copy(dst, digest.Flat(sums))
		},
		func(dst []byte, rows []byte, rowLen int) {
			sums := make([]D, len(dst)/size)
			sumRows(sums, rows, rowLen)
			copy(dst, digest.Flat(sums))
		}}
}

var variants = []variant{
	variantOf("sha1", sha1.New, stdsha1.New, sha1.Sum, sha1.SumMany, sha1.SumRows),
	variantOf("sha224", sha256.New224, stdsha256.New224, sha256.Sum224, sha256.SumMany224, sha256.SumRows224),
	variantOf("sha256", sha256.New, stdsha256.New, sha256.Sum256, sha256.SumMany, sha256.SumRows),
	variantOf("sha384", sha512.New384, stdsha512.New384, sha512.Sum384, sha512.SumMany384, sha512.SumRows384),
	variantOf("sha512", sha512.New, stdsha512.New, sha512.Sum512, sha512.SumMany, sha512.SumRows),
	variantOf("sha512-224", sha512.New512_224, stdsha512.New512_224, sha512.Sum512_224, sha512.SumMany512_224,
		sha512.SumRows512_224),
	variantOf("sha512-256", sha512.New512_256, stdsha512.New512_256, sha512.Sum512_256, sha512.SumMany512_256,
		sha512.SumRows512_256),
	variantOf("ripemd160", ripemd160.New, func() hash.Hash { return oracle.New() }, ripemd160.Sum, ripemd160.SumMany,
		ripemd160.SumRows),
}

// expect returns the digests of msgs by the oracle.
func (v *variant) expect(msgs [][]byte) []byte {
	var sums []byte
	h := v.oracle()
	for _, msg := range msgs {
		h.Reset()
		h.Write(msg)
		sums = h.Sum(sums)
	}
	return sums
}

func forEach(t *testing.T, f func(t *testing.T, v *variant)) {
	for i := range variants {
		t.Run(variants[i].name, func(t *testing.T) { f(t, &variants[i]) })
	}
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// randomMessages returns n messages of up to most bytes each, all in one buffer, at any alignment.
func randomMessages(rng *rand.Rand, n, most int) [][]byte {
	lens := make([]int, n)
	total := 0
	for i := range lens {
		lens[i] = rng.IntN(most + 1)
		total += lens[i]
	}
	buffer := randomBytes(rng, total)
	msgs := make([][]byte, n)
	for i := range msgs {
		msgs[i], buffer = buffer[:lens[i]:lens[i]], buffer[lens[i]:]
	}
	return msgs
}

func (v *variant) check(t testing.TB, what string, got, want []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d bytes, want %d", what, len(got), len(want))
	}
	for i := 0; i < len(want); i += v.size {
		if !bytes.Equal(got[i:i+v.size], want[i:i+v.size]) {
			t.Fatalf("%s: digest %d of %d: %x, want %x", what, i/v.size, len(want)/v.size, got[i:i+v.size],
				want[i:i+v.size])
		}
	}
}
