// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256

import (
	"encoding/binary"
	"fmt"

	"github.com/hashloom/hashloom/go/internal/core"
)

// SumToNum48 returns the first 6 bytes of the SHA-256 digest of data as a big-endian number, 0 to 2^48-1: the number
// that Krist compares with the work.
func SumToNum48(data []byte) int64 {
	sum := Sum256(data)
	return int64(binary.BigEndian.Uint64(sum[:]) >> 16)
}

// SumCmp48 reports whether [SumToNum48] of data is at most work.
func SumCmp48(data []byte, work uint32) bool {
	return SumToNum48(data) <= int64(work)
}

// Nonces is a range of numbers, and how they are written in messages.
type Nonces struct {
	First uint64 // the first number
	End   uint64 // the number after the last one

	// The digits, a byte each, the digit for zero first; 2 to 256. Empty means "0123456789".
	Alphabet string

	// The number of digits. Shorter numbers begin with zeros, as many as needed. 0 means as few digits as each number
	// has.
	Width int
}

const decimal = "0123456789"

// AppendText appends the digits of the number n, which need not be in the range, to b and returns the result. It panics
// as [Search] does.
func (r Nonces) AppendText(b []byte, n uint64) []byte {
	digits := r.checked()
	if r.Width > 0 && digits.Len(n) > r.Width {
		panic(fmt.Sprintf("sha256: the number %d does not fit %d digits", n, r.Width))
	}
	return digits.Append(b, n)
}

// checked returns the digits. It panics if the range has no sense.
func (r Nonces) checked() core.Digits {
	alphabet := r.Alphabet
	if alphabet == "" {
		alphabet = decimal
	}
	if len(alphabet) < 2 || len(alphabet) > 256 {
		panic(fmt.Sprintf("sha256: an alphabet of %d digits, want 2 to 256", len(alphabet)))
	}
	if r.Width < 0 || r.Width > core.MaxDigits {
		panic(fmt.Sprintf("sha256: nonces of %d digits, want 0 to %d", r.Width, core.MaxDigits))
	}
	digits := core.Digits{Alphabet: alphabet, Width: r.Width}
	if r.Width > 0 && r.First < r.End && digits.Len(r.End-1) > r.Width {
		panic(fmt.Sprintf("sha256: the nonce %d does not fit %d digits", r.End-1, r.Width))
	}
	return digits
}

// Search returns the first nonce of the range for which [SumToNum48] of prefix, the text of the nonce, and suffix, one
// after another, is at most work; found is false if there is none. It hashes many nonces at once, on the goroutine that
// calls. To use more CPUs, split the range among goroutines, into ranges short enough to notice that another goroutine
// has found a nonce, or that the prefix has changed: a million nonces take some tens of milliseconds.
//
// Whole blocks of prefix are hashed once. Search panics if the alphabet has one digit or more than 256, if Width is
// negative or more than 64, or if a nonce has more than Width digits.
//
// The package search has the same search for other hash functions, orders of bytes, and targets.
func Search(prefix []byte, nonces Nonces, suffix []byte, work uint64) (nonce uint64, found bool) {
	s := core.Search{Alg: core.UseSHA256(core.SHA256), Prefix: prefix, Suffix: suffix, Digits: nonces.checked()}
	if nonces.First >= nonces.End {
		return 0, false
	}
	binary.BigEndian.PutUint64(s.Target[:], min(work, 1<<48-1)<<16)
	for i := 6; i < Size; i++ {
		s.Target[i] = 0xff
	}
	var room [1]uint64
	n := core.SearchNonces(&s, nonces.First, nonces.End-1, room[:])
	return room[0], n > 0
}
