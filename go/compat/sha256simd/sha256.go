// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha256 stands for github.com/1lann/sha256-simd, the module of 2018 that miners of Krist were written for: the
// same names with the same meaning, so that replacing the import is enough.
//
// New programs had better use [github.com/hashloom/hashloom/go/sha256], whose Search tries many nonces at once.
package sha256

import (
	"crypto/sha256"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
)

// Size is the number of bytes in a digest.
const Size = 32

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// New returns a new [hash.Hash] that computes SHA-256: that of crypto/sha256.
func New() hash.Hash { return sha256.New() }

// Sum256 returns the SHA-256 digest of data.
func Sum256(data []byte) [Size]byte { return sha256.Sum256(data) }

// SumCmp256 reports whether the first 6 bytes of a digest, as a big-endian number, are at most 0x1ffff and at most
// work. The digest is that of a message that the caller has padded to the block data (FIPS 180-4, section 5.1.1).
func SumCmp256(data []byte, work uint32) bool {
	return core.First48(data) <= int64(min(work, 0x1ffff))
}

// SumToNum256 returns the first 6 bytes of a digest, as a big-endian number. The digest is that of a message of 41
// bytes that the caller has padded to the block data (FIPS 180-4, section 5.1.1). SumToNum256 panics if data[41] is not
// 0x80.
func SumToNum256(data []byte) int64 {
	if data[41] != 0x80 {
		panic("41st byte must be 0x80")
	}
	return core.First48(data)
}
