// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomSearch returns a search and its range: any algorithms, lengths, digits and orders.
func randomSearch(rng *rand.Rand, alg Alg, pool []byte) (s Search, first, last uint64) {
	var alphabet [256]byte
	for i := range alphabet {
		alphabet[i] = byte(7*i + 3)
	}
	s = Search{Alg: alg, Prefix: pool[:rng.IntN(300)], Suffix: pool[:rng.IntN(80)], LeastByteFirst: rng.IntN(2) == 0}
	if rng.IntN(3) == 0 {
		s.Again = All[rng.IntN(len(All))]
	}
	if rng.IntN(4) == 0 {
		s.Suffix = pool[:rng.IntN(600)]
	}
	s.Digits.LeastFirst = rng.IntN(2) == 0
	if rng.IntN(3) > 0 {
		s.Digits.Alphabet = string(alphabet[:2+rng.IntN([]int{8, 254}[rng.IntN(2)])])
	}
	first = rng.Uint64() >> rng.IntN(64)
	last = first + min(rng.Uint64N(1200), math.MaxUint64-first)
	if rng.IntN(2) == 0 {
		ndigits := s.Digits.Len(last)
		s.Digits.Width = ndigits + rng.IntN(MaxDigits+1-ndigits)
	}
	for i := range s.Target {
		s.Target[i] = byte(rng.Uint32())
	}
	s.Target[0] >>= rng.IntN(9)
	return s, first, last
}

// lowNonces is SearchNonces from the definition.
func lowNonces(s *Search, first, last uint64) []uint64 {
	found := []uint64{}
	base := s.Digits.Base()
	for nonce := first; ; nonce++ {
		var digits []byte
		for n := nonce; n > 0 || len(digits) == 0; n /= base {
			digits = append(digits, byte(n%base))
		}
		for len(digits) < s.Digits.Width {
			digits = append(digits, 0)
		}
		if !s.Digits.LeastFirst {
			slices.Reverse(digits)
		}
		for i, d := range digits {
			if s.Digits.Alphabet != "" {
				digits[i] = s.Digits.Alphabet[d]
			}
		}
		digest := make([]byte, s.Alg.Size())
		hashOf(s.Alg, digest, s.Prefix, digits, s.Suffix)
		if s.Again != 0 {
			again := make([]byte, s.Again.Size())
			hashOf(s.Again, again, digest)
			digest = again
		}
		if s.LeastByteFirst {
			slices.Reverse(digest)
		}
		if bytes.Compare(digest, s.Target[:len(digest)]) <= 0 {
			found = append(found, nonce)
		}
		if nonce == last {
			return found
		}
	}
}

// SearchNonces finds what a loop finds, and so does the way one message at a time.
func TestSearchNonces(t *testing.T) {
	pool := randomBytes(20, 1000)
	rounds := 40
	if testing.Short() {
		rounds = 6
	}
	eachImplementation(t, func(t *testing.T, restricted bool) {
		rng := rand.New(rand.NewPCG(21, 22))
		for _, alg := range All {
			for range rounds {
				s, first, last := randomSearch(rng, alg, pool)
				want := lowNonces(&s, first, last)
				nonces := make([]uint64, 1+rng.IntN(1300))
				want = want[:min(len(want), len(nonces))]
				what := fmt.Sprintf("%v again %v, prefix %d, suffix %d, base %d, width %d, %v, %v, %d to %d", s.Alg, s.Again,
					len(s.Prefix), len(s.Suffix), s.Digits.Base(), s.Digits.Width, s.Digits.LeastFirst, s.LeastByteFirst,
					first, last)
				if got := nonces[:SearchNonces(&s, first, last, nonces)]; !slices.Equal(got, want) {
					t.Fatalf("%s: %v, want %v", what, got, want)
				}
				if got := nonces[:searchEach(&s, first, last, nonces)]; !slices.Equal(got, want) {
					t.Fatalf("%s, one at a time: %v, want %v", what, got, want)
				}
			}
		}
	})
}

// A search of many slices, which begin anywhere in the blocks of numbers whose last digits are in the core's table.
func TestSearchSlices(t *testing.T) {
	for _, s := range []Search{
		{Alg: SHA256, Prefix: []byte("k5ztameslf0000000001e2"), Digits: Digits{Alphabet: "0123456789"}},
		{Alg: SHA256, Again: SHA256, Prefix: make([]byte, 76), Digits: Digits{Width: 4, LeastFirst: true},
			LeastByteFirst: true},
		{Alg: SHA512, Suffix: make([]byte, 2000), Digits: Digits{Alphabet: "abc", Width: 50}},
		{Alg: SHA1, Again: RIPEMD160, Prefix: make([]byte, 3000), Digits: Digits{Alphabet: "01"}},
	} {
		s.Target[1] = 0x80
		first, last := uint64(999_999-77), uint64(1_030_000)
		want := lowNonces(&s, first, last)
		for _, n := range []int{1, 2, len(want), len(want) + 1} {
			got := make([]uint64, n)
			got = got[:SearchNonces(&s, first, last, got)]
			if !slices.Equal(got, want[:min(n, len(want))]) || len(want) < 3 {
				t.Errorf("%v, room for %d: %v, want %v", s.Alg, n, got, want)
			}
		}
	}
}

// Suffixes around the length from which on nonces are tried one at a time.
func TestSearchLongSuffixes(t *testing.T) {
	suffix := randomBytes(23, 1<<20)
	for _, n := range []int{10_000, 40_000, 80_000, 200_000, len(suffix)} {
		s := Search{Alg: SHA256, Suffix: suffix[:n], Digits: Digits{Alphabet: "0123456789"}}
		s.Target[0] = 0x40
		want := lowNonces(&s, 95, 115)
		got := make([]uint64, len(want)+1)
		if got = got[:SearchNonces(&s, 95, 115, got)]; !slices.Equal(got, want) || len(want) == 0 {
			t.Errorf("%d bytes: %v, want %v", n, got, want)
		}
	}
}
