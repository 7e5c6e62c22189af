// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"crypto/sha3"
	"encoding"
	"hash"
	"math/rand/v2"
	"testing"
)

// The sponges that need of crypto/sha3 only its permutation are those of crypto/sha3, states included.
func TestSponges(t *testing.T) {
	for _, alg := range All {
		if !alg.Info().IsSponge() {
			continue
		}
		rng := rand.New(rand.NewPCG(1, uint64(alg)))
		h, standard := newSponge(alg), newStandardSponge(alg)
		if standard == nil {
			continue
		}
		for range 200 {
			part := randomBytes(rng.Uint64(), rng.IntN(300))
			h.Write(part)
			standard.Write(part)
			want := make([]byte, alg.Size())
			standard.sum(want)
			if got := h.Sum(nil); !bytes.Equal(got, want) {
				t.Fatalf("%v: %x, want %x", alg, got, want)
			}
			state, _ := standard.AppendBinary(nil)
			again, _ := h.AppendBinary(nil)
			if !bytes.Equal(state, again) {
				t.Fatalf("%v: state %x, want %x", alg, again, state)
			}
			h = newSponge(alg)
			if err := h.UnmarshalBinary(state); err != nil {
				t.Fatal(alg, err)
			}
			if rng.IntN(20) == 0 {
				h.Reset()
				standard.Reset()
			}
		}
	}
}

// standardSponge is a sponge of crypto/sha3 with a way to its digest that does not change it.
type standardSponge struct {
	absorber
	sum func(dst []byte)
}

func newStandardSponge(alg Alg) *standardSponge {
	switch alg {
	case SHAKE128, SHAKE256:
		h := sha3.NewSHAKE128()
		if alg == SHAKE256 {
			h = sha3.NewSHAKE256()
		}
		return &standardSponge{h, func(dst []byte) {
			c := *h
			c.Read(dst)
		}}
	}
	if h, ok := newHash(alg).(*sha3.SHA3); ok {
		return &standardSponge{h, func(dst []byte) { h.Sum(dst[:0]) }}
	}
	return nil
}

// States of sponges that no message leads to are errors, and change nothing.
func TestSpongeStates(t *testing.T) {
	for _, alg := range All {
		info := alg.Info()
		if !info.IsSponge() {
			continue
		}
		var ctx Ctx
		Init(&ctx, alg)
		Update(&ctx, make([]byte, 100))
		before := AppendState(&ctx, alg, nil)
		full, read, other := bytes.Clone(before), bytes.Clone(before), bytes.Clone(before)
		full[len(full)-2] = byte(info.BlockSize)
		read[len(read)-1] = 1
		other[4]++
		for name, b := range map[string][]byte{"full block": full, "digest read": read, "other block": other,
			"short": before[1:], "long": append(before, 0)} {
			var h hash.Hash = newHash(alg)
			if _, ok := h.(*sha3.SHA3); !ok && h.(encoding.BinaryUnmarshaler).UnmarshalBinary(b) == nil {
				t.Errorf("%v, %s: no error in pure Go", alg, name)
			}
			if SetState(&ctx, alg, b) == nil && Enabled() {
				t.Errorf("%v, %s: no error", alg, name)
			}
		}
		if Enabled() && !bytes.Equal(AppendState(&ctx, alg, nil), before) {
			t.Errorf("%v: an error changed the state", alg)
		}
	}
}
