// SPDX-License-Identifier: MIT OR Apache-2.0

package merkle

import (
	"unsafe"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha256"
)

func HashFromByteSlices(items [][]byte) []byte {
	if len(items) == 0 {
		return emptyHash()
	}
	leaf := sha256.New()
	leaf.Write(leafPrefix)
	sums := hashloom.AppendSumsFrom(make([]byte, 0, len(items)*sha256.Size), leaf, items)
	layer := unsafe.Slice((*[sha256.Size]byte)(sums), len(items))
	for n := len(items); n > 1; n = (n + 1) / 2 {
		sha256.SumPairs(layer[:n/2], layer[:n/2*2], innerPrefix...)
		if n%2 == 1 {
			layer[n/2] = layer[n-1]
		}
	}
	return sums[:sha256.Size]
}

func HashFromByteSlicesIterative(input [][]byte) []byte { return HashFromByteSlices(input) }
