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
