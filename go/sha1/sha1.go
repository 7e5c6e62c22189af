// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha1 computes SHA-1 (FIPS 180-4, section 6.1): of one message with the API of [crypto/sha1], and of many
// messages at once.
//
// SHA-1 is not collision resistant: the author of a file can make another with the same digest. Use it only for formats
// that prescribe it, such as Git and BitTorrent.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package sha1

import (
	"crypto/sha1"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Size is the number of bytes in a digest.
const Size = 20

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// New returns a new [hash.Hash] that computes SHA-1: that of crypto/sha1, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New() hash.Hash {
	return sha1.New()
}

// Sum returns the SHA-1 digest of data.
func Sum(data []byte) [Size]byte {
	return sha1.Sum(data)
}

// SumMany sets dst[i] to the SHA-1 digest of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA1, dst[0][:], msgs[0]) {
		dst[0] = sha1.Sum(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA1(core.SHA1), dst, msgs)
}

// SumRows sets dst[i] to the SHA-1 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA1, dst[0][:], rows) {
		dst[0] = sha1.Sum(rows)
		return
	}
	digest.SumRows(core.UseSHA1(core.SHA1), dst, rows, rowLen)
}
