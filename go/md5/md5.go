// SPDX-License-Identifier: MIT OR Apache-2.0

// Package md5 computes MD5 (RFC 1321): of one message with the API of [crypto/md5], and of many messages at once.
//
// MD5 is broken: anybody can make two files with the same digest. Use it only for formats that prescribe it, such as
// the ETag of S3 and the header Content-MD5.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package md5

import (
	"crypto/md5"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Size is the number of bytes in a digest.
const Size = 16

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// minTwo is the number of bytes in two messages from which on the core is faster than crypto/md5 (AMD EPYC, Zen 4, with
// AVX-512, with AVX2 and with SSE2, 2026-11-24).
const minTwo = 256

// New returns a new [hash.Hash] that computes MD5: that of crypto/md5, which implements [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New() hash.Hash {
	return md5.New()
}

// Sum returns the MD5 digest of data.
func Sum(data []byte) [Size]byte {
	return md5.Sum(data)
}

// SumMany sets dst[i] to the MD5 digest of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	if len(dst) == 1 && len(msgs) == 1 && digest.IsOne(core.MD5, dst[0][:], msgs[0]) {
		dst[0] = md5.Sum(msgs[0])
		return
	}
	if len(dst) == 2 && len(msgs) == 2 && len(msgs[0])+len(msgs[1]) < minTwo && core.MD5.IsStandard() {
		digest.CheckOverlap(digest.Flat(dst), msgs)
		dst[0], dst[1] = md5.Sum(msgs[0]), md5.Sum(msgs[1])
		return
	}
	digest.SumMany(core.UseMD5(core.MD5), dst, msgs)
}

// SumRows sets dst[i] to the MD5 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not len(dst)*rowLen bytes
// long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	if len(dst) == 1 && len(rows) == rowLen && digest.IsOne(core.MD5, dst[0][:], rows) {
		dst[0] = md5.Sum(rows)
		return
	}
	if len(dst) == 2 && len(rows) == 2*rowLen && len(rows) < minTwo && rowLen >= 0 &&
		digest.IsOne(core.MD5, digest.Flat(dst), rows) {
		dst[0], dst[1] = md5.Sum(rows[:rowLen]), md5.Sum(rows[rowLen:])
		return
	}
	digest.SumRows(core.UseMD5(core.MD5), dst, rows, rowLen)
}
