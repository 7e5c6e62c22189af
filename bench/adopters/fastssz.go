// SPDX-License-Identifier: MIT OR Apache-2.0

package ssz

import "github.com/hashloom/hashloom/go/sha256"

func NewHasher() *Hasher {
	return NewHasherWithHashFn(func(dst, input []byte) error {
		sha256.SumPairs(dst[:len(input)/2], input)
		return nil
	})
}
