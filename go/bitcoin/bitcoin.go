// SPDX-License-Identifier: MIT OR Apache-2.0

// Package bitcoin has the double hashes of Bitcoin and the currencies that came after it: of one message, and of many
// at once.
//
//	Hash160    RIPEMD-160 of SHA-256: public keys and scripts in addresses
//	SHA256d    SHA-256 of SHA-256: block headers, transactions, checksums
//
// One call hashes many messages side by side, both times. The search for a block header's nonce is in the package
// search.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package bitcoin

import (
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
	"github.com/hashloom/hashloom/go/sha256"
)

// Hash160Size is the number of bytes in a digest of Hash160.
const Hash160Size = 20

// SHA256dSize is the number of bytes in a digest of SHA256d.
const SHA256dSize = 32

// Hash160 returns the RIPEMD-160 digest of the SHA-256 digest of data.
func Hash160(data []byte) [Hash160Size]byte {
	var sum [Hash160Size]byte
	inner := sha256.Sum256(data)
	core.Sum(core.UseRIPEMD160(core.RIPEMD160), sum[:], inner[:])
	return sum
}

// Hash160Many sets dst[i] to the Hash160 of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func Hash160Many(dst [][Hash160Size]byte, msgs [][]byte) {
	flat := digest.CheckMany("bitcoin", "Hash160Many", dst, msgs)
	core.SumAgainMany(core.UseSHA256(core.SHA256), core.UseRIPEMD160(core.RIPEMD160), flat, msgs)
}

// Hash160Rows sets dst[i] to the Hash160 of rows[i*rowLen:(i+1)*rowLen], such as public keys of 33 bytes. It panics if
// rows is not len(dst)*rowLen bytes long, or overlaps dst.
func Hash160Rows(dst [][Hash160Size]byte, rows []byte, rowLen int) {
	flat := digest.CheckRows("bitcoin", "Hash160Rows", dst, rows, rowLen)
	core.SumAgainRows(core.UseSHA256(core.SHA256), core.UseRIPEMD160(core.RIPEMD160), flat, rows, len(dst), rowLen, rowLen)
}

// SHA256d returns the SHA-256 digest of the SHA-256 digest of data.
func SHA256d(data []byte) [SHA256dSize]byte {
	inner := sha256.Sum256(data)
	return sha256.Sum256(inner[:])
}

// SHA256dMany sets dst[i] to the SHA256d of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func SHA256dMany(dst [][SHA256dSize]byte, msgs [][]byte) {
	flat := digest.CheckMany("bitcoin", "SHA256dMany", dst, msgs)
	core.SumAgainMany(core.UseSHA256(core.SHA256), core.SHA256, flat, msgs)
}

// SHA256dRows sets dst[i] to the SHA256d of rows[i*rowLen:(i+1)*rowLen], such as block headers of 80 bytes. It panics
// if rows is not len(dst)*rowLen bytes long, or overlaps dst.
func SHA256dRows(dst [][SHA256dSize]byte, rows []byte, rowLen int) {
	flat := digest.CheckRows("bitcoin", "SHA256dRows", dst, rows, rowLen)
	core.SumAgainRows(core.UseSHA256(core.SHA256), core.SHA256, flat, rows, len(dst), rowLen, rowLen)
}

// SHA256dPairs hashes a layer of a Merkle tree: it sets node i of dst to the SHA256d of nodes 2*i and 2*i+1 of src. A
// layer is a [][32]byte, or the bytes of its nodes behind each other.
//
// dst may have more room than src has pairs, and may begin where src does: SHA256dPairs(layer, layer). It panics if dst
// has less room, src has an odd number of nodes, or node i of dst overlaps a later pair than i.
func SHA256dPairs[T []byte | [][SHA256dSize]byte](dst, src T) {
	above, layer := digest.CheckPairs("bitcoin: SHA256dPairs", dst, src)
	if len(above) == SHA256dSize {
		sum := SHA256d(layer)
		copy(above, sum[:])
		return
	}
	core.SumAgainRows(core.UseSHA256(core.SHA256), core.SHA256, above, layer, len(above)/SHA256dSize,
		2*SHA256dSize, 2*SHA256dSize)
}
