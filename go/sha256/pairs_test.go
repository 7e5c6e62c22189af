// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hashloom/hashloom/go/bitcoin"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
)

func ExampleSumPairs() {
	layer := [][32]byte{sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b")), sha256.Sum256([]byte("c")),
		sha256.Sum256([]byte("d"))}
	for len(layer) > 1 {
		sha256.SumPairs(layer, layer) // in place
		layer = layer[:len(layer)/2]
	}
	fmt.Printf("%x\n", layer[0][:8])
	// Output: 14ede5e8e97ad937
}

// Every way to hash a layer against one pair at a time: apart and in place, with and without a prefix.
func TestSumPairs(t *testing.T) {
	type nodes = [][32]byte
	for name, hash := range map[string]struct {
		one   func(message []byte) [32]byte
		pairs func(dst, src nodes, prefix ...byte)
		bytes func(dst, src []byte, prefix ...byte)
	}{
		"SHA-256": {sha256.Sum256, sha256.SumPairs[nodes], sha256.SumPairs[[]byte]},
		"Keccak":  {sha3.SumLegacyKeccak256, sha3.SumPairsLegacyKeccak256[nodes], sha3.SumPairsLegacyKeccak256[[]byte]},
		"SHA256d": {bitcoin.SHA256d, func(dst, src nodes, _ ...byte) { bitcoin.SHA256dPairs(dst, src) },
			func(dst, src []byte, _ ...byte) { bitcoin.SHA256dPairs(dst, src) }},
	} {
		prefixes := [][]byte{nil, {1}, []byte("0123456789"), make([]byte, 33), make([]byte, 64), make([]byte, 200)}
		if name == "SHA256d" {
			prefixes = prefixes[:1]
		}
		for _, prefix := range prefixes {
			for _, n := range []int{0, 1, 2, 3, 7, 16, 33, 64, 100, 1001} {
				src, want := make(nodes, 2*n), make(nodes, n)
				for i := range src {
					src[i] = sha256.Sum256([]byte{byte(i), byte(i >> 8)})
				}
				for i := range want {
					want[i] = hash.one(slices.Concat(prefix, src[2*i][:], src[2*i+1][:]))
				}
				apart := make(nodes, n+3)
				hash.pairs(apart, src, prefix...)
				// From a node before the layer to the second of its first pair.
				for shift := range 3 {
					layer := slices.Concat(make(nodes, 1), src)
					flat := make([]byte, 0, len(layer)*32)
					for _, node := range layer {
						flat = append(flat, node[:]...)
					}
					if n == 0 {
						shift = 0
					}
					hash.pairs(layer[shift:], layer[1:], prefix...)
					hash.bytes(flat[32*shift:], flat[32:], prefix...)
					expected := slices.Concat(make(nodes, 1), src)
					copy(expected[shift:], want)
					if !slices.Equal(layer, expected) || !slices.Equal(apart, slices.Concat(want, make(nodes, 3))) {
						t.Fatalf("%s, prefix of %d bytes, %d pairs, at %d: wrong", name, len(prefix), n, shift)
					}
					for i, node := range expected {
						if [32]byte(flat[32*i:]) != node {
							t.Fatalf("%s, prefix of %d bytes, %d pairs, at %d: wrong bytes", name, len(prefix), n, shift)
						}
					}
				}
			}
		}
	}
}

// Every place of dst over src: right, with nothing written beside dst, or a panic and no change where node i of dst
// overlaps a later pair.
func TestSumPairsOverlap(t *testing.T) {
	const before = 100
	for name, pairs := range map[string]func(dst, src []byte){
		"SHA-256":         func(dst, src []byte) { sha256.SumPairs(dst, src) },
		"SHA-256, prefix": func(dst, src []byte) { sha256.SumPairs(dst, src, 1) },
		"long prefix":     func(dst, src []byte) { sha256.SumPairs(dst, src, make([]byte, 99)...) },
		"Keccak":          func(dst, src []byte) { sha3.SumPairsLegacyKeccak256(dst, src) },
		"Keccak, prefix":  func(dst, src []byte) { sha3.SumPairsLegacyKeccak256(dst, src, 1) },
		"SHA256d":         func(dst, src []byte) { bitcoin.SHA256dPairs(dst, src) },
	} {
		for n := 1; n < 5; n++ {
			original := make([]byte, 2*before+64*n)
			for i := range original {
				original[i] = byte(i * 37)
			}
			want := make([]byte, 32*n)
			pairs(want, original[before:][:64*n])
			for at := range len(original) - 32*n + 1 {
				buffer, expected := slices.Clone(original), slices.Clone(original)
				refused := n > 1 && at > before+32 && at < before+64*n
				if !refused {
					copy(expected[at:], want)
				}
				func() {
					defer func() {
						if (recover() != nil) != refused {
							t.Errorf("%s, %d pairs, dst %d bytes behind src: panic %v", name, n, at-before, !refused)
						}
					}()
					pairs(buffer[at:][:32*n], buffer[before:][:64*n])
				}()
				if !slices.Equal(buffer, expected) {
					t.Fatalf("%s, %d pairs, dst %d bytes behind src: wrong", name, n, at-before)
				}
			}
		}
	}
}

func TestSumPairsPanics(t *testing.T) {
	layer := make([]byte, 6*32)
	for name, f := range map[string]func(){
		"an odd node": func() { sha256.SumPairs(layer, layer[:96]) },
		"no room":     func() { sha256.SumPairs(layer[:64], layer) },
		"half a node": func() { sha256.SumPairs(layer, layer[:65]) },
		"a later row": func() { sha256.SumPairs(layer[33:], layer[:128]) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
