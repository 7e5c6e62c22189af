// SPDX-License-Identifier: MIT OR Apache-2.0

// Package ripemd160 computes RIPEMD-160 (Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3): of one message with
// the API of golang.org/x/crypto/ripemd160, and of many messages at once.
//
// RIPEMD-160 has 80 bits of security against collisions. Use it for formats that prescribe it, such as Bitcoin's
// addresses.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package ripemd160

import (
	"crypto"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

func init() {
	crypto.RegisterHash(crypto.RIPEMD160, New)
}

// Size is the number of bytes in a digest.
const Size = 20

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// New returns a new [hash.Hash] that computes RIPEMD-160. It implements [hash.Cloner], [encoding.BinaryMarshaler],
// [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
func New() hash.Hash {
	return digest.NewHash(core.UseRIPEMD160(core.RIPEMD160))
}

// Sum returns the RIPEMD-160 digest of data.
func Sum(data []byte) [Size]byte {
	var sum [Size]byte
	core.Sum(core.UseRIPEMD160(core.RIPEMD160), sum[:], data)
	return sum
}

// SumMany sets dst[i] to the RIPEMD-160 digest of msgs[i]. It panics if dst and msgs differ in length, or overlap.
func SumMany(dst [][Size]byte, msgs [][]byte) {
	digest.SumMany(core.UseRIPEMD160(core.RIPEMD160), dst, msgs)
}

// SumRows sets dst[i] to the RIPEMD-160 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows(dst [][Size]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseRIPEMD160(core.RIPEMD160), dst, rows, rowLen)
}
