// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/hashloom/hashloom/go/internal/core"
)

// SumToNum256 returns the first 6 bytes of the SHA-256 digest of data as a big-endian number, 0 to 2^48-1: the number
// that Krist compares with the work.
//
// The function of this name in github.com/1lann/sha256-simd takes one block that the caller has padded. For such blocks
// use [SumToNumBlock256].
func SumToNum256(data []byte) int64 {
	sum := Sum256(data)
	return int64(first48(sum[:]))
}

// SumCmp256 reports whether [SumToNum256] of data is at most work.
//
// The function of this name in github.com/1lann/sha256-simd takes one block that the caller has padded, and answers
// for at most 0x1ffff if work is more. For such blocks use [SumCmpBlock256].
func SumCmp256(data []byte, work uint32) bool {
	return SumToNum256(data) <= int64(work)
}

// SumToNumBlock256 is [SumToNum256] for a message that the caller has padded to one block of 64 bytes (FIPS 180-4,
// section 5.1.1): at most 55 bytes, 0x80, zeros, and the number of bits in the last 8 bytes. The padding is not
// checked.
//
// Any other length of the block is an error.
func SumToNumBlock256(block []byte) (int64, error) {
	if len(block) != BlockSize {
		return 0, fmt.Errorf("sha256: a padded block of %d bytes, want %d", len(block), BlockSize)
	}
	var ctx core.Ctx
	core.Init(&ctx, core.SHA256)
	core.Update(&ctx, block)
	var room [core.MaxStateSize]byte
	state := core.AppendState(&ctx, core.SHA256, room[:0])
	return int64(first48(state[len(core.SHA256.Info().Magic):])), nil
}

// SumCmpBlock256 reports whether [SumToNumBlock256] of block is at most work.
func SumCmpBlock256(block []byte, work uint32) (bool, error) {
	num, err := SumToNumBlock256(block)
	return err == nil && num <= int64(work), err
}

func first48(digest []byte) uint64 { return binary.BigEndian.Uint64(digest) >> 16 }

// Nonces is a range of numbers, and how they are written in messages.
type Nonces struct {
	First uint64 // the first number
	End   uint64 // the number after the last one

	// The digits, a byte each, the digit for zero first; at least two. Empty means "0123456789".
	Alphabet string

	// The number of digits. Shorter numbers begin with zeros, as many as needed. 0 means as few digits as each number
	// has.
	Width int
}

const decimal = "0123456789"

// AppendText appends the digits of the number n, which need not be in the range, to b and returns the result. It panics
// as [Search] does.
func (r Nonces) AppendText(b []byte, n uint64) []byte {
	alphabet := r.checked()
	width := r.Width
	if width == 0 {
		width = ndigits(n, uint64(len(alphabet)))
	} else if ndigits(n, uint64(len(alphabet))) > width {
		panic(fmt.Sprintf("sha256: the number %d does not fit %d digits", n, width))
	}
	var text [maxDigits]byte
	putDigits(text[:width], n, alphabet)
	return append(b, text[:width]...)
}

// maxDigits is the number of digits in the longest number, which is one of base 2.
const maxDigits = 64

// checked returns the alphabet. It panics if the range has no sense.
func (r Nonces) checked() string {
	alphabet := r.Alphabet
	if alphabet == "" {
		alphabet = decimal
	}
	if len(alphabet) < 2 || len(alphabet) > 256 {
		panic(fmt.Sprintf("sha256: an alphabet of %d digits, want 2 to 256", len(alphabet)))
	}
	if r.Width < 0 || r.Width > maxDigits {
		panic(fmt.Sprintf("sha256: nonces of %d digits, want 0 to %d", r.Width, maxDigits))
	}
	if r.Width > 0 && r.First < r.End && ndigits(r.End-1, uint64(len(alphabet))) > r.Width {
		panic(fmt.Sprintf("sha256: the nonce %d does not fit %d digits", r.End-1, r.Width))
	}
	return alphabet
}

// ndigits returns the number of digits of n, at least 1.
func ndigits(n, base uint64) int {
	count := 1
	for n >= base {
		n /= base
		count++
	}
	return count
}

// putDigits fills text with the lowest digits of n.
func putDigits(text []byte, n uint64, alphabet string) {
	base := uint64(len(alphabet))
	for i := len(text) - 1; i >= 0; i-- {
		text[i] = alphabet[n%base]
		n /= base
	}
}

// Search returns the first nonce of the range for which [SumToNum256] of prefix, the text of the nonce, and suffix, one
// after another, is at most work; found is false if there is none. It hashes many nonces at once, on the goroutine that
// calls. To use more CPUs, split the range among goroutines, into ranges short enough to notice that another goroutine
// has found a nonce, or that the prefix has changed: a million nonces take some tens of milliseconds.
//
// Whole blocks of prefix are hashed once. Search panics if the alphabet has one digit or more than 256, if Width is
// negative or more than 64, or if a nonce has more than Width digits.
func Search(prefix []byte, nonces Nonces, suffix []byte, work uint64) (nonce uint64, found bool) {
	alphabet := nonces.checked()
	base := uint64(len(alphabet))
	first := nonces.First
	for first < nonces.End {
		// The longest part of the range in which all numbers have one width.
		end, width := nonces.End, nonces.Width
		if width == 0 {
			width = ndigits(first, base)
			if limit, ok := power(base, width); ok {
				end = min(end, limit)
			}
		}
		if nonce, found = search(prefix, first, end, width, alphabet, suffix, work); found {
			return nonce, true
		}
		first = end
	}
	return 0, false
}

// power returns base to the power of exponent, if it is less than 2^64.
func power(base uint64, exponent int) (product uint64, ok bool) {
	product = 1
	for range exponent {
		high, low := bits.Mul64(product, base)
		if high > 0 {
			return 0, false
		}
		product = low
	}
	return product, true
}

// maxRows is the most messages that are hashed at once, enough to make little of the time between two calls.
const maxRows = 128

// maxRowsLen is the most bytes of these messages, if there is more than one: a suffix may be long.
const maxRowsLen = 16 << 20

// search is Search for numbers of one width.
//
// The messages, without the whole blocks of the prefix, lie one after another in rows. Row i has the number start + i,
// where start is a multiple of the number of rows, itself a multiple of a power of the base: the last digits of a row
// stay, and all rows of a group have the same digits before them.
func search(prefix []byte, first, end uint64, width int, alphabet string, suffix []byte, work uint64) (uint64, bool) {
	base := uint64(len(alphabet))
	nwhole := len(prefix) / BlockSize * BlockSize
	head := prefix[nwhole:]
	rowLen := len(head) + width + len(suffix)
	most := max(1, min(maxRows, uint64(maxRowsLen/rowLen)))
	nlast, group := 0, uint64(1) // digits that stay, and rows in a group
	for nlast < width && group*base <= most {
		nlast++
		group *= base
	}
	ngroups := min(base, most/group)
	nrows := group * ngroups

	var ctx core.Ctx
	if nwhole > 0 {
		core.Init(&ctx, core.SHA256)
		core.Update(&ctx, prefix[:nwhole])
	}
	var room [maxRows * 96]byte
	rows := room[:]
	if uint64(rowLen) > uint64(len(rows))/nrows {
		rows = make([]byte, uint64(rowLen)*nrows)
	}
	var sums [maxRows * Size]byte

	// All rows as for the number 0.
	for i := range nrows {
		row := rows[uint64(rowLen)*i:][:rowLen]
		copy(row, head)
		putDigits(row[len(head):][:width], i%group, alphabet)
		copy(row[len(head)+width:], suffix)
	}
	nhigh := width - nlast
	var text [maxDigits]byte
	high := text[:nhigh]
	for start := first - first%nrows; ; start += nrows {
		for g := range ngroups {
			putDigits(high, start/group+g, alphabet)
			groupRows := rows[uint64(rowLen)*group*g:]
			// Mostly only the last of these digits differ from those that stand in the rows.
			same := 0
			for same < nhigh && groupRows[len(head)+same] == high[same] {
				same++
			}
			for i := range group {
				copy(groupRows[uint64(rowLen)*i+uint64(len(head)+same):], high[same:])
			}
		}
		from, to := uint64(0), min(nrows, end-start)
		if start < first {
			from = first - start
		}
		n := int(to - from)
		batch := rows[uint64(rowLen)*from:][:rowLen*n]
		if nwhole > 0 {
			core.SumRowsFrom(&ctx, sums[:n*Size], batch, n, rowLen, rowLen)
		} else {
			core.SumRows(core.SHA256, sums[:n*Size], batch, n, rowLen, rowLen)
		}
		for i := range n {
			if first48(sums[i*Size:]) <= work {
				return start + from + uint64(i), true
			}
		}
		if end-start <= nrows {
			return 0, false
		}
	}
}
