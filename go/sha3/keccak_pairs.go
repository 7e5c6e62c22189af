// SPDX-License-Identifier: MIT OR Apache-2.0

package sha3

import (
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// SumPairsLegacyKeccak256 hashes a layer of a Merkle tree: it sets node i of dst to the Keccak-256 digest of prefix and
// nodes 2*i and 2*i+1 of src. A layer is a [][32]byte, or the bytes of its nodes behind each other.
//
// dst may have more room than src has pairs, and may begin where src does. It panics if dst has less room, src has an
// odd number of nodes, or node i of dst overlaps a later pair than i.
func SumPairsLegacyKeccak256[T []byte | [][SizeLegacyKeccak256]byte](dst, src T, prefix ...byte) {
	above, layer := digest.CheckPairs("sha3: SumPairsLegacyKeccak256", dst, src)
	digest.SumPairs(core.UseKeccak(core.KECCAK_256), above, layer, prefix)
}
