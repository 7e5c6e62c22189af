// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256

import (
	"crypto/sha256"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// SumPairs hashes a layer of a Merkle tree: it sets node i of dst to the SHA-256 digest of prefix and nodes 2*i and
// 2*i+1 of src. A layer is a [][32]byte, or the bytes of its nodes behind each other. RFC 6962 and BEP 30 have a prefix
// for inner nodes, SSZ and BEP 52 none.
//
// dst may have more room than src has pairs, and may begin where src does: SumPairs(layer, layer). It panics if dst has
// less room, src has an odd number of nodes, or node i of dst overlaps a later pair than i.
func SumPairs[T []byte | [][Size]byte](dst, src T, prefix ...byte) {
	above, layer := digest.CheckPairs("sha256: SumPairs", dst, src)
	if len(above) == Size && len(prefix) <= Size && core.SHA256.IsStandard() && !(len(prefix) == 0 && core.Enabled()) {
		var message [3 * Size]byte
		sum := sha256.Sum256(message[:copy(message[copy(message[:], prefix):], layer)+len(prefix)])
		copy(above, sum[:])
		return
	}
	digest.SumPairs(core.UseSHA256(core.SHA256), above, layer, prefix)
}
