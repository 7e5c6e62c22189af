// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha512 computes SHA-512, SHA-384, SHA-512/224 and SHA-512/256 (FIPS 180-4, sections 6.4 to 6.7): of one
// message with the API of [crypto/sha512], and of many messages at once.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package sha512

import (
	"crypto/sha512"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Size is the number of bytes in a digest of SHA-512.
const Size = 64

// Size384 is the number of bytes in a digest of SHA-384.
const Size384 = 48

// Size224 is the number of bytes in a digest of SHA-512/224.
const Size224 = 28

// Size256 is the number of bytes in a digest of SHA-512/256.
const Size256 = 32

// BlockSize is the number of bytes in a block of SHA-512, SHA-384, SHA-512/224 and SHA-512/256.
const BlockSize = 128

// New returns a new [hash.Hash] that computes SHA-512: that of crypto/sha512, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New() hash.Hash {
	return sha512.New()
}

// Sum512 returns the SHA-512 digest of data.
func Sum512(data []byte) [Size]byte {
	return sha512.Sum512(data)
}

// SumMany sets dst[i] to the SHA-512 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA512, dst[0][:], msgs[0]) {
		dst[0] = sha512.Sum512(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA512(core.SHA512), dst, msgs)
}

// SumRows sets dst[i] to the SHA-512 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA512, dst[0][:], rows) {
		dst[0] = sha512.Sum512(rows)
		return
	}
	digest.SumRows(core.UseSHA512(core.SHA512), dst, rows, rowLen)
}

// New384 returns a new [hash.Hash] that computes SHA-384: that of crypto/sha512, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New384() hash.Hash {
	return sha512.New384()
}

// Sum384 returns the SHA-384 digest of data.
func Sum384(data []byte) [Size384]byte {
	return sha512.Sum384(data)
}

// SumMany384 sets dst[i] to the SHA-384 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany384(dst [][Size384]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA384, dst[0][:], msgs[0]) {
		dst[0] = sha512.Sum384(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA512(core.SHA384), dst, msgs)
}

// SumRows384 sets dst[i] to the SHA-384 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows384(dst [][Size384]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA384, dst[0][:], rows) {
		dst[0] = sha512.Sum384(rows)
		return
	}
	digest.SumRows(core.UseSHA512(core.SHA384), dst, rows, rowLen)
}

// New512_224 returns a new [hash.Hash] that computes SHA-512/224: that of crypto/sha512, which implements
// [hash.Cloner], [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New512_224() hash.Hash {
	return sha512.New512_224()
}

// Sum512_224 returns the SHA-512/224 digest of data.
func Sum512_224(data []byte) [Size224]byte {
	return sha512.Sum512_224(data)
}

// SumMany512_224 sets dst[i] to the SHA-512/224 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany512_224(dst [][Size224]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA512_224, dst[0][:], msgs[0]) {
		dst[0] = sha512.Sum512_224(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA512(core.SHA512_224), dst, msgs)
}

// SumRows512_224 sets dst[i] to the SHA-512/224 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows512_224(dst [][Size224]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA512_224, dst[0][:], rows) {
		dst[0] = sha512.Sum512_224(rows)
		return
	}
	digest.SumRows(core.UseSHA512(core.SHA512_224), dst, rows, rowLen)
}

// New512_256 returns a new [hash.Hash] that computes SHA-512/256: that of crypto/sha512, which implements
// [hash.Cloner], [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New512_256() hash.Hash {
	return sha512.New512_256()
}

// Sum512_256 returns the SHA-512/256 digest of data.
func Sum512_256(data []byte) [Size256]byte {
	return sha512.Sum512_256(data)
}

// SumMany512_256 sets dst[i] to the SHA-512/256 digest of msgs[i]. It panics if dst and msgs differ in length, or
// overlap.
func SumMany512_256(dst [][Size256]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.SHA512_256, dst[0][:], msgs[0]) {
		dst[0] = sha512.Sum512_256(msgs[0])
		return
	}
	digest.SumMany(core.UseSHA512(core.SHA512_256), dst, msgs)
}

// SumRows512_256 sets dst[i] to the SHA-512/256 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is
// not len(dst)*rowLen bytes long, or overlaps dst.
func SumRows512_256(dst [][Size256]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.SHA512_256, dst[0][:], rows) {
		dst[0] = sha512.Sum512_256(rows)
		return
	}
	digest.SumRows(core.UseSHA512(core.SHA512_256), dst, rows, rowLen)
}
