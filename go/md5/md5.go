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

// New returns a new [hash.Hash] that computes MD5. It implements [hash.Cloner], [encoding.BinaryMarshaler],
// [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler], whose bytes are those of crypto/md5.
func New() hash.Hash {
	if !core.Enabled {
		return md5.New()
	}
	return digest.New(core.MD5)
}

// Sum returns the MD5 digest of data.
func Sum(data []byte) [Size]byte {
	return md5.Sum(data)
}

// SumMany sets dst[i] to the MD5 digest of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	digest.SumMany(core.MD5, dst, msgs)
}

// SumRows sets dst[i] to the MD5 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not len(dst)*rowLen bytes
// long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	digest.SumRows(core.MD5, dst, rows, rowLen)
}
