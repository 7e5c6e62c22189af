// SPDX-License-Identifier: MIT OR Apache-2.0

// Package core hashes many messages at once: the one place that knows how. Its callers have checked all arguments.
//
// Two files implement the same functions. core_asm.go calls the C core of this repository, compiled to Go assembly
// (amd64 and arm64). core_go.go is pure Go over the standard library: for other CPUs, and for the build tags purego and
// noasm.
package core

import (
	"encoding/binary"
	"errors"
)

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
	Package   string // the package of this module, which begins the texts of its errors and panics
	Name      string // as in FIPS 180-4
	Size      int    // bytes in a digest
	BlockSize int    // bytes in a block
	WordSize  int    // bytes in a word of the state
	NWords    int    // words in the state
	Magic     string // the first bytes of a marshaled state
}

var infos = [...]Info{
	SHA1:       {"sha1", "SHA-1", 20, 64, 4, 5, "sha\x01"},
	SHA224:     {"sha256", "SHA-224", 28, 64, 4, 8, "sha\x02"},
	SHA256:     {"sha256", "SHA-256", 32, 64, 4, 8, "sha\x03"},
	SHA384:     {"sha512", "SHA-384", 48, 128, 8, 8, "sha\x04"},
	SHA512_224: {"sha512", "SHA-512/224", 28, 128, 8, 8, "sha\x05"},
	SHA512_256: {"sha512", "SHA-512/256", 32, 128, 8, 8, "sha\x06"},
	SHA512:     {"sha512", "SHA-512", 64, 128, 8, 8, "sha\x07"},
	RIPEMD160:  {"ripemd160", "RIPEMD-160", 20, 64, 4, 5, "rmd\x01"},
}

// Info returns the description of alg.
func (alg Alg) Info() *Info { return &infos[alg] }

// StateSize returns the bytes in a marshaled state: magic, words, block, and the length of the message.
func (info *Info) StateSize() int {
	return len(info.Magic) + info.NWords*info.WordSize + info.BlockSize + 8
}

// MaxStateSize is the size of the longest marshaled state in bytes.
const MaxStateSize = 4 + 8*8 + 128 + 8

// maxLen is far beyond any message, and so far below 2^61 that no program can get there by Update: the C core refuses
// longer messages.
const maxLen = 1 << 60

// CheckState says whether b is a marshaled state of alg.
func (alg Alg) CheckState(b []byte) error {
	info := alg.Info()
	if len(b) < len(info.Magic) || string(b[:len(info.Magic)]) != info.Magic {
		return errors.New(info.Package + ": invalid hash state identifier")
	}
	if len(b) != info.StateSize() {
		return errors.New(info.Package + ": invalid hash state size")
	}
	if binary.BigEndian.Uint64(b[len(b)-8:]) > maxLen {
		return errors.New(info.Package + ": invalid hash state length")
	}
	return nil
}

// Size returns the bytes in a digest of alg.
func (alg Alg) Size() int { return infos[alg].Size }

// String returns the name of alg, as in its standard.
func (alg Alg) String() string { return infos[alg].Name }
