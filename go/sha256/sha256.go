// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha256 computes SHA-256 and SHA-224 (FIPS 180-4, sections 6.2 and 6.3): of one message with the API of
// [crypto/sha256], and of many messages at once.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package sha256

import (
	"crypto/sha256"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Size is the number of bytes in a digest of SHA-256.
const Size = 32

// Size224 is the number of bytes in a digest of SHA-224.
const Size224 = 28

// BlockSize is the number of bytes in a block of SHA-256 and SHA-224.
const BlockSize = 64

// New returns a new [hash.Hash] that computes SHA-256: that of crypto/sha256, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New() hash.Hash {
	return sha256.New()
}

// Sum256 returns the SHA-256 digest of data.
func Sum256(data []byte) [Size]byte {
	return sha256.Sum256(data)
}

// SumMany sets dst[i] to the SHA-256 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA256, dst[0][:], msgs[0]) {
		dst[0] = sha256.Sum256(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA256(core.SHA256), dst, msgs)
}

// SumRows sets dst[i] to the SHA-256 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA256, dst[0][:], rows) {
		dst[0] = sha256.Sum256(rows)
		return
	}
	digest.SumRows(core.UseSHA256(core.SHA256), dst, rows, rowLen)
}

// New224 returns a new [hash.Hash] that computes SHA-224: that of crypto/sha256, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New224() hash.Hash {
	return sha256.New224()
}

// Sum224 returns the SHA-224 digest of data.
func Sum224(data []byte) [Size224]byte {
	return sha256.Sum224(data)
}

// SumMany224 sets dst[i] to the SHA-224 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany224(dst [][Size224]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA224, dst[0][:], msgs[0]) {
		dst[0] = sha256.Sum224(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA256(core.SHA224), dst, msgs)
}

// SumRows224 sets dst[i] to the SHA-224 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows224(dst [][Size224]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA224, dst[0][:], rows) {
		dst[0] = sha256.Sum224(rows)
		return
	}
	digest.SumRows(core.UseSHA256(core.SHA224), dst, rows, rowLen)
}
