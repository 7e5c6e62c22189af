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

// PairSize is the number of bytes in two nodes of a tree.
const PairSize = 64

const (
	// algorithms.py: go_constants
	SHA1       Alg = 1
	SHA256     Alg = 2
	SHA224     Alg = 3
	SHA384     Alg = 4
	SHA512     Alg = 5
	SHA512_224 Alg = 6
	SHA512_256 Alg = 7
	RIPEMD160  Alg = 8
	MD5        Alg = 9
	SHA3_224   Alg = 10
	SHA3_256   Alg = 11
	SHA3_384   Alg = 12
	SHA3_512   Alg = 13
	SHAKE128   Alg = 14
	SHAKE256   Alg = 15
	KECCAK_256 Alg = 16
	// algorithms.py: end

	// SHA1DC is SHA-1 with a verdict: 20 bytes, then 1 if the message is half of a collision, then three zeros.
	SHA1DC Alg = 63
)

// MaxSize is the size of the longest digest in bytes, but for an XOF's.
const MaxSize = 64

// MaxBlockSize is the size of the longest block in bytes.
const MaxBlockSize = 168

// row is what the list of algorithms says of one.
type row struct {
	Name      string // as in calls of C: "sha3-256"
	Title     string // as in its standard
	Body      string // the block function
	Size      int    // bytes in a digest; of an XOF, in the usual one
	BlockSize int    // bytes in a block
	WordSize  int    // bytes in a word of the state
	NWords    int    // words in the state
	Suffix    byte   // of a sponge: the byte that follows the message; else 0
	IsXOF     bool   // digests may have any length
}

var rows = [...]row{
	// algorithms.py: go_rows
	SHA1:       {"sha1", "SHA-1", "sha1", 20, 64, 4, 5, 0x00, false},
	SHA256:     {"sha256", "SHA-256", "sha256", 32, 64, 4, 8, 0x00, false},
	SHA224:     {"sha224", "SHA-224", "sha256", 28, 64, 4, 8, 0x00, false},
	SHA384:     {"sha384", "SHA-384", "sha512", 48, 128, 8, 8, 0x00, false},
	SHA512:     {"sha512", "SHA-512", "sha512", 64, 128, 8, 8, 0x00, false},
	SHA512_224: {"sha512-224", "SHA-512/224", "sha512", 28, 128, 8, 8, 0x00, false},
	SHA512_256: {"sha512-256", "SHA-512/256", "sha512", 32, 128, 8, 8, 0x00, false},
	RIPEMD160:  {"ripemd160", "RIPEMD-160", "ripemd160", 20, 64, 4, 5, 0x00, false},
	MD5:        {"md5", "MD5", "md5", 16, 64, 4, 4, 0x00, false},
	SHA3_224:   {"sha3-224", "SHA3-224", "keccak", 28, 144, 8, 25, 0x06, false},
	SHA3_256:   {"sha3-256", "SHA3-256", "keccak", 32, 136, 8, 25, 0x06, false},
	SHA3_384:   {"sha3-384", "SHA3-384", "keccak", 48, 104, 8, 25, 0x06, false},
	SHA3_512:   {"sha3-512", "SHA3-512", "keccak", 64, 72, 8, 25, 0x06, false},
	SHAKE128:   {"shake128", "SHAKE128", "keccak", 32, 168, 8, 25, 0x1f, true},
	SHAKE256:   {"shake256", "SHAKE256", "keccak", 64, 136, 8, 25, 0x1f, true},
	KECCAK_256: {"keccak-256", "Keccak-256", "keccak", 32, 136, 8, 25, 0x01, false},
	// algorithms.py: end
	SHA1DC: {"sha1dc", "SHA-1 with a verdict", "sha1", 24, 64, 4, 6, 0x00, false},
}

// Info describes an algorithm.
type Info struct {
	row
	Package string // the package of this module, which begins the texts of its errors and panics; "": none has it
	Magic   string // the first bytes of a marshaled state
}

// NAlgs is a number above that of every algorithm.
const NAlgs = len(rows)

var infos [NAlgs]Info

// packages has the package of each block function that this module offers.
var packages = map[string]string{
	"sha1": "sha1", "sha256": "sha256", "sha512": "sha512", "ripemd160": "ripemd160", "md5": "md5",
	"keccak": "sha3",
}

// The first bytes of marshaled states are those of the standard library. A sponge's depend on its suffix; the size of
// the block follows.
var (
	magics = map[Alg]string{
		SHA1: "sha\x01", SHA224: "sha\x02", SHA256: "sha\x03", SHA384: "sha\x04", SHA512_224: "sha\x05",
		SHA512_256: "sha\x06", SHA512: "sha\x07", RIPEMD160: "rmd\x01", MD5: "md5\x01",
	}
	spongeMagics = map[byte]string{0x06: "sha\x08", 0x1f: "sha\x09", 0x01: "sha\x0b"}
)

// All has every algorithm that a package of this module offers, but SHA1DC.
var All = offered()

func offered() (all []Alg) {
	for i, row := range rows {
		info := &infos[i]
		*info = Info{row, packages[row.Body], magics[Alg(i)]}
		if info.IsSponge() {
			info.Magic = spongeMagics[row.Suffix] + string([]byte{byte(row.BlockSize)})
		}
		if Alg(i) == SHA1DC {
			info.Package = "sha1cd"
		} else if info.Package != "" {
			all = append(all, Alg(i))
		}
	}
	return all
}

// Info returns the description of alg.
func (alg Alg) Info() *Info { return &infos[alg] }

// IsOffered reports whether a package of this module offers alg.
func (alg Alg) IsOffered() bool { return int(alg) < len(infos) && infos[alg].Package != "" }

// IsSponge reports whether a message ends without its length: SHA-3 and SHAKE.
func (info *Info) IsSponge() bool { return info.Suffix != 0 }

// StateSize returns the bytes in a marshaled state: magic, words, block, and the length of the message. A sponge's has
// the block in its words, and in place of a length two bytes: that of what is in the block, and 0.
func (info *Info) StateSize() int {
	if info.IsSponge() {
		return len(info.Magic) + info.NWords*info.WordSize + 2
	}
	return len(info.Magic) + info.NWords*info.WordSize + info.BlockSize + 8
}

// MaxStateSize is the size of the longest marshaled state in bytes.
const MaxStateSize = 4 + 1 + 25*8 + 2

// maxLen is far beyond any message, and so far below 2^61 that no program can get there by Update: the C core refuses
// longer messages.
const maxLen = 1 << 60

// checkState says whether b is a marshaled state.
func (info *Info) checkState(b []byte) error {
	if len(b) < len(info.Magic) || string(b[:len(info.Magic)]) != info.Magic {
		return errors.New(info.Package + ": invalid hash state identifier")
	}
	if len(b) != info.StateSize() {
		return errors.New(info.Package + ": invalid hash state size")
	}
	if info.IsSponge() {
		if int(b[len(b)-2]) >= info.BlockSize || b[len(b)-1] != 0 {
			return errors.New(info.Package + ": invalid hash state")
		}
		return nil
	}
	if binary.BigEndian.Uint64(b[len(b)-8:]) > maxLen {
		return errors.New(info.Package + ": invalid hash state length")
	}
	return nil
}

// Size returns the bytes in a digest of alg.
func (alg Alg) Size() int { return infos[alg].Size }

// String returns the name of alg, as in its standard.
func (alg Alg) String() string { return infos[alg].Title }

// Use is UseSHA1 or another of these functions, for any algorithm: a program that calls it has all kernels.
func Use(alg Alg) Alg {
	switch alg.Info().Body {
	case "sha1":
		return UseSHA1(alg)
	case "sha256":
		return UseSHA256(alg)
	case "sha512":
		return UseSHA512(alg)
	case "ripemd160":
		return UseRIPEMD160(alg)
	case "md5":
		return UseMD5(alg)
	case "keccak":
		return UseKeccak(alg)
	}
	return alg
}
