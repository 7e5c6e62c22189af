// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding"
	"hash"

	"github.com/hashloom/hashloom/go/internal/ripemd160"
)

// state is what the hashes of the standard library and of this module implement.
type state interface {
	hash.Cloner
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// NewHash returns the hash of the standard library, or in pure Go.
func NewHash(alg Alg) hash.Hash { return newHash(alg) }

func newHash(alg Alg) state {
	var h hash.Hash
	switch alg {
	case SHA1:
		h = sha1.New()
	case SHA224:
		h = sha256.New224()
	case SHA256:
		h = sha256.New()
	case SHA384:
		h = sha512.New384()
	case SHA512:
		h = sha512.New()
	case SHA512_224:
		h = sha512.New512_224()
	case SHA512_256:
		h = sha512.New512_256()
	case RIPEMD160:
		h = ripemd160.New()
	case MD5:
		h = md5.New()
	case SHA3_224:
		h = sha3.New224()
	case SHA3_256:
		h = sha3.New256()
	case SHA3_384:
		h = sha3.New384()
	case SHA3_512:
		h = sha3.New512()
	default:
		return newSponge(alg)
	}
	return h.(state)
}

// SumOne is [Sum] by the standard library where that is as fast: everything but RIPEMD-160. For one message on an AMD
// EPYC (Zen 4) with Go 1.26, the core is 25 to 45 ns slower, and from 1 KiB on within 4%.
func SumOne(alg Alg, dst, msg []byte) {
	if !sumStandard(alg, dst, msg) {
		Sum(alg, dst, msg)
	}
}

// sumStandard writes the digest of msg to dst, or reports that the standard library cannot.
func sumStandard(alg Alg, dst, msg []byte) bool {
	switch alg {
	case SHA1:
		sum := sha1.Sum(msg)
		copy(dst, sum[:])
	case SHA224:
		sum := sha256.Sum224(msg)
		copy(dst, sum[:])
	case SHA256:
		sum := sha256.Sum256(msg)
		copy(dst, sum[:])
	case SHA384:
		sum := sha512.Sum384(msg)
		copy(dst, sum[:])
	case SHA512:
		sum := sha512.Sum512(msg)
		copy(dst, sum[:])
	case SHA512_224:
		sum := sha512.Sum512_224(msg)
		copy(dst, sum[:])
	case SHA512_256:
		sum := sha512.Sum512_256(msg)
		copy(dst, sum[:])
	case MD5:
		sum := md5.Sum(msg)
		copy(dst, sum[:])
	case SHA3_224:
		sum := sha3.Sum224(msg)
		copy(dst, sum[:])
	case SHA3_256:
		sum := sha3.Sum256(msg)
		copy(dst, sum[:])
	case SHA3_384:
		sum := sha3.Sum384(msg)
		copy(dst, sum[:])
	case SHA3_512:
		sum := sha3.Sum512(msg)
		copy(dst, sum[:])
	case SHAKE128, SHAKE256:
		sumXOF(alg, dst[:alg.Size()], msg)
	default:
		return false
	}
	return true
}

// sumXOF fills dst with the digest of msg.
func sumXOF(alg Alg, dst, msg []byte) {
	switch alg {
	case SHAKE128:
		h := sha3.NewSHAKE128()
		h.Write(msg)
		h.Read(dst)
	case SHAKE256:
		h := sha3.NewSHAKE256()
		h.Write(msg)
		h.Read(dst)
	default:
		panic("hashloom: unknown XOF")
	}
}

func sumManyXOF(alg Alg, dst []byte, size int, msgs [][]byte) {
	for i, msg := range msgs {
		sumXOF(alg, dst[i*size:(i+1)*size], msg)
	}
}

func sumRowsXOF(alg Alg, dst []byte, size int, rows []byte, n, rowLen, stride int) {
	for i := range n {
		sumXOF(alg, dst[i*size:(i+1)*size], rows[i*stride:i*stride+rowLen])
	}
}
