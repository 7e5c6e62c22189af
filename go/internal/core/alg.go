// SPDX-License-Identifier: MIT OR Apache-2.0

// Package core hashes many messages at once: the one place that knows how. Its callers have checked all arguments.
//
// Two files implement the same functions. core_asm.go calls the C core of this repository, compiled to Go assembly
// (amd64 and arm64). core_go.go is pure Go over the standard library: for other CPUs, and for the build tags purego and
// noasm.
package core

// Alg is a hash function. The values are those of enum hl_alg in hashloom.h.
type Alg uint32

const (
	SHA1       Alg = 1
	SHA256     Alg = 2
	SHA224     Alg = 3
	SHA384     Alg = 4
	SHA512     Alg = 5
	SHA512_224 Alg = 6
	SHA512_256 Alg = 7
	RIPEMD160  Alg = 8
)

// MaxSize is the size of the longest digest in bytes.
const MaxSize = 64

// Info describes an algorithm.
type Info struct {
	Package   string // the standard library's import path, which begins the texts of its errors
	Name      string // as in FIPS 180-4
	Size      int    // bytes in a digest
	BlockSize int    // bytes in a block
	WordSize  int    // bytes in a word of the state
	NWords    int    // words in the state
	Magic     string // the first bytes of a marshaled state
}

var infos = [...]Info{
	SHA1:       {"crypto/sha1", "SHA-1", 20, 64, 4, 5, "sha\x01"},
	SHA224:     {"crypto/sha256", "SHA-224", 28, 64, 4, 8, "sha\x02"},
	SHA256:     {"crypto/sha256", "SHA-256", 32, 64, 4, 8, "sha\x03"},
	SHA384:     {"crypto/sha512", "SHA-384", 48, 128, 8, 8, "sha\x04"},
	SHA512_224: {"crypto/sha512", "SHA-512/224", 28, 128, 8, 8, "sha\x05"},
	SHA512_256: {"crypto/sha512", "SHA-512/256", 32, 128, 8, 8, "sha\x06"},
	SHA512:     {"crypto/sha512", "SHA-512", 64, 128, 8, 8, "sha\x07"},
	RIPEMD160:  {"ripemd160", "RIPEMD-160", 20, 64, 4, 5, "rmd\x01"},
}

// Info returns the description of alg.
func (alg Alg) Info() *Info { return &infos[alg] }

// Size returns the bytes in a digest of alg.
func (alg Alg) Size() int { return infos[alg].Size }

// String returns the name of alg, as in its standard.
func (alg Alg) String() string { return infos[alg].Name }
