// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"crypto/sha1"
	"crypto/sha256"
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
	default:
		panic("hashloom: unknown algorithm")
	}
	return h.(state)
}

// SumOne is [Sum] by the standard library where that is as fast: everything but RIPEMD-160. For one message on an AMD
// EPYC (Zen 4) with Go 1.26, the core is 25 to 45 ns slower, and from 1 KiB on within 4%.
func SumOne(alg Alg, dst, msg []byte) {
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
	default:
		Sum(alg, dst, msg)
	}
}
