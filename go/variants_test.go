// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"fmt"
	"hash"
	"math/rand/v2"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
	"github.com/hashloom/hashloom/go/sha512"
)

// variant is all that the packages have for one algorithm, with digests as one slice of bytes, and an oracle.
type variant struct {
	name    string
	body    string // the block function
	size    int
	new     func() hash.Hash
	oracle  func() hash.Hash
	sum     func(data []byte) []byte
	sumMany func(dst []byte, msgs [][]byte)
	sumRows func(dst []byte, rows []byte, rowLen int)
}

func variantOf[D digest.Array](alg core.Alg, newHash func() hash.Hash, sum func([]byte) D, sumMany func([]D, [][]byte),
	sumRows func([]D, []byte, int)) variant {
	info := alg.Info()
	return variant{info.Name, info.Body, info.Size, newHash, func() hash.Hash { return core.NewHash(alg) },
		func(data []byte) []byte { return digest.Flat([]D{sum(data)}) },
		func(dst []byte, msgs [][]byte) {
			sums := make([]D, len(msgs))
			sumMany(sums, msgs)
			copy(dst, digest.Flat(sums))
		},
		func(dst []byte, rows []byte, rowLen int) {
			sums := make([]D, len(dst)/info.Size)
			sumRows(sums, rows, rowLen)
			copy(dst, digest.Flat(sums))
		}}
}

var variants = []variant{
	variantOf(core.SHA1, sha1.New, sha1.Sum, sha1.SumMany, sha1.SumRows),
	variantOf(core.SHA224, sha256.New224, sha256.Sum224, sha256.SumMany224, sha256.SumRows224),
	variantOf(core.SHA256, sha256.New, sha256.Sum256, sha256.SumMany, sha256.SumRows),
	variantOf(core.SHA384, sha512.New384, sha512.Sum384, sha512.SumMany384, sha512.SumRows384),
	variantOf(core.SHA512, sha512.New, sha512.Sum512, sha512.SumMany, sha512.SumRows),
	variantOf(core.SHA512_224, sha512.New512_224, sha512.Sum512_224, sha512.SumMany512_224, sha512.SumRows512_224),
	variantOf(core.SHA512_256, sha512.New512_256, sha512.Sum512_256, sha512.SumMany512_256, sha512.SumRows512_256),
	variantOf(core.RIPEMD160, ripemd160.New, ripemd160.Sum, ripemd160.SumMany, ripemd160.SumRows),
	variantOf(core.MD5, md5.New, md5.Sum, md5.SumMany, md5.SumRows),
	// algorithms.py: go_sha3_variants
	variantOf(core.SHA3_224, func() hash.Hash { return sha3.New224() },
		sha3.Sum224, sha3.SumMany224, sha3.SumRows224),
	variantOf(core.SHA3_256, func() hash.Hash { return sha3.New256() },
		sha3.Sum256, sha3.SumMany256, sha3.SumRows256),
	variantOf(core.SHA3_384, func() hash.Hash { return sha3.New384() },
		sha3.Sum384, sha3.SumMany384, sha3.SumRows384),
	variantOf(core.SHA3_512, func() hash.Hash { return sha3.New512() },
		sha3.Sum512, sha3.SumMany512, sha3.SumRows512),
	variantOf(core.KECCAK_256, func() hash.Hash { return sha3.NewLegacyKeccak256() },
		sha3.SumLegacyKeccak256, sha3.SumManyLegacyKeccak256, sha3.SumRowsLegacyKeccak256),
	// algorithms.py: end
}

// No algorithm lacks a test.
func TestEveryAlgorithmIsTested(t *testing.T) {
	tested := map[string]bool{}
	for _, v := range variants {
		tested[v.name] = true
	}
	for _, x := range xofs {
		tested[x.alg.Info().Name] = true
	}
	for _, alg := range core.All {
		if !tested[alg.Info().Name] {
			t.Errorf("%v is neither in variants nor in xofs", alg)
		}
	}
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

// eachISA runs f without a restriction, then with each instruction set alone.
func eachISA(t *testing.T, f func(isa string)) {
	t.Helper()
	t.Cleanup(func() { hashloom.Restrict() })
	f("")
	for _, isa := range hashloom.Implementations() {
		if err := hashloom.Restrict(isa); err != nil {
			t.Fatal(err)
		}
		f(isa)
	}
	hashloom.Restrict()
}

// panics fails t unless call panics with a text that contains this one.
func panics(t *testing.T, text string, call func()) {
	t.Helper()
	defer func() {
		if got := fmt.Sprint(recover()); !strings.Contains(got, text) {
			t.Errorf("panic %q, want %q", got, text)
		}
	}()
	call()
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
