// SPDX-License-Identifier: MIT OR Apache-2.0

// Package search finds nonces whose digest is low enough: the proofs of work of Bitcoin, hashcash, Krist and others.
//
// The message of a nonce is a prefix, the nonce's digits, and a suffix. Whole blocks of the prefix are hashed once, and
// many nonces are tried at once: from one to the next only their last digits change in the lanes.
//
// For SHA-256 of decimal numbers and Krist's work, sha256.Search says the same in one call. The rules for all calls are
// those of the package [github.com/hashloom/hashloom/go].
package search

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash"
	"iter"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Target is the highest digest that counts, the most significant byte first. A digest is read as one number of its own
// size; bytes of the target after that size are ignored.
type Target [64]byte

// FirstBytes returns the target of digests whose first bytes, as one number, are at most highest, the most significant
// byte first. For SHA-256, 32 bytes are a whole target; Krist compares its work with the first 6. FirstBytes panics if
// highest has more than 64 bytes.
func FirstBytes(highest []byte) Target {
	if len(highest) > len(Target{}) {
		panic(fmt.Sprintf("search: FirstBytes: %d bytes, want at most %d", len(highest), len(Target{})))
	}
	t := ZeroBits(0)
	copy(t[:], highest)
	return t
}

// ZeroBits returns the target of digests that begin with n zero bits, as hashcash counts. It panics if n is negative or
// more than 512.
func ZeroBits(n int) Target {
	var t Target
	if n < 0 || n > 8*len(t) {
		panic(fmt.Sprintf("search: ZeroBits: %d bits, want 0 to %d", n, 8*len(t)))
	}
	for i := n / 8; i < len(t); i++ {
		t[i] = 0xff
	}
	if n%8 != 0 {
		t[n/8] >>= n % 8
	}
	return t
}

// Compact returns the target that a Bitcoin block header has in its field nBits: the lower 23 bits times 256 to the
// power of the top byte less 3. A number that is negative, zero, or longer than 256 bits is an error: no header with
// such a field is valid.
func Compact(bits uint32) (Target, error) {
	exponent := int(bits >> 24)
	var mantissa [4]byte
	binary.BigEndian.PutUint32(mantissa[:], bits&0x7fffff)
	var highest [32]byte
	fits := bits&0x800000 == 0
	for i, b := range mantissa[1:] {
		// Byte i has the weight 256^(exponent - 1 - i). Fractions are dropped.
		if weight := exponent - 1 - i; b != 0 && weight >= 0 {
			if weight >= len(highest) {
				fits = false
				break
			}
			highest[len(highest)-1-weight] = b
		}
	}
	if !fits || highest == [32]byte{} {
		return Target{}, fmt.Errorf("search: the compact target %08x is negative, zero, or longer than 256 bits", bits)
	}
	return FirstBytes(highest[:]), nil
}

// Job says what is hashed, and which digests count. Any number of goroutines may use a Job at once, as long as none
// changes it.
type Job struct {
	// New returns the hash: sha256.New, or another one of this module or of the standard library. Nonces of SHA-3 are
	// tried one after another, which is slower.
	New func() hash.Hash

	// Again, if it is not nil, returns the hash that hashes each digest once more. The second digest counts.
	Again func() hash.Hash

	// Prefix and Suffix are the bytes before and after the nonce. Suffixes of more than some tens of kilobytes are
	// slower: their nonces are tried one after another.
	Prefix, Suffix []byte

	// Alphabet is the digits of nonces, a byte each, the digit for zero first; 2 to 256. Empty means that nonces are
	// numbers of base 256, and their digits bytes.
	Alphabet string

	// Width is the number of digits in each nonce, at most 64. Shorter numbers begin with zeros, as many as needed. 0
	// means as few digits as each number has, at least one.
	Width int

	// LeastDigitFirst reverses the digits of nonces: the least significant one comes first.
	LeastDigitFirst bool

	// LeastByteFirst reads digests in the other order: the first byte is the least significant one.
	LeastByteFirst bool

	// Target is the highest digest that counts.
	Target Target
}

// algOf returns the algorithm of the hash that newHash returns.
func algOf(field string, newHash func() hash.Hash) core.Alg {
	if newHash == nil {
		panic("search: Job." + field + " is nil")
	}
	h := newHash()
	alg := digest.AlgOf(h)
	if alg == 0 {
		panic(fmt.Sprintf("search: Job.%s: %T is not a hash of this module", field, h))
	}
	return core.Use(alg)
}

// digits returns the form of nonces, once it has checked that last fits.
func (j *Job) digits(last uint64) core.Digits {
	if n := len(j.Alphabet); n == 1 || n > 256 {
		panic(fmt.Sprintf("search: Job.Alphabet: %d digits, want 2 to 256, or none", n))
	}
	if j.Width < 0 || j.Width > core.MaxDigits {
		panic(fmt.Sprintf("search: Job.Width: %d digits, want 0 to %d", j.Width, core.MaxDigits))
	}
	d := core.Digits{Alphabet: j.Alphabet, Width: j.Width, LeastFirst: j.LeastDigitFirst}
	if j.Width > 0 && d.Len(last) > j.Width {
		panic(fmt.Sprintf("search: the nonce %d does not fit %d digits", last, j.Width))
	}
	return d
}

// search returns the job in the form that the core takes.
func (j *Job) search(last uint64) core.Search {
	s := core.Search{
		Alg: algOf("New", j.New), Prefix: j.Prefix, Suffix: j.Suffix, Digits: j.digits(last),
		LeastByteFirst: j.LeastByteFirst, Target: j.Target,
	}
	if j.Again != nil {
		s.Again = algOf("Again", j.Again)
	}
	return s
}

// Find returns the first nonce from first to last, both included, whose digest is at most the target; found is false
// if there is none, or if first is more than last.
//
// The search runs on the goroutine that calls. To use more CPUs, split the range among goroutines, into ranges short
// enough to notice that another goroutine has found a nonce, or that the job has changed: a million nonces take some
// tens of milliseconds.
//
// Find panics if a field of the job is out of its range, if a hash is not one of MD5, SHA-1, SHA-2, SHA-3 and
// RIPEMD-160, or if last has more digits than Width.
func (j *Job) Find(first, last uint64) (nonce uint64, found bool) {
	s := j.search(last)
	var room [1]uint64
	n := core.SearchNonces(&s, first, last, room[:])
	return room[0], n > 0
}

// FindContext is [Job.Find] that gives up some milliseconds after ctx has ended, with the cause of its end
// ([context.Cause]).
func (j *Job) FindContext(ctx context.Context, first, last uint64) (nonce uint64, found bool, err error) {
	err = j.each(ctx, first, last, func(n uint64) bool {
		nonce, found = n, true
		return false
	})
	return nonce, found, err
}

// All returns an iterator over the nonces from first to last, both included, whose digests are at most the target, in
// order. The search goes on while the loop asks for more: it panics as [Job.Find] does, on the goroutine of the loop.
func (j *Job) All(first, last uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) { j.each(context.Background(), first, last, yield) }
}

// each calls yield with the nonces found, in order, until yield returns false or ctx has ended: then it returns the
// cause. It searches in pieces that take about a millisecond, or 16 times as long as hashing the prefix.
func (j *Job) each(ctx context.Context, first, last uint64, yield func(uint64) bool) error {
	const pieceLen = 1 << 20
	s := j.search(last)
	n := uint64(max(pieceLen, 16*len(j.Prefix))/(len(j.Suffix)+128)) + 1
	var room [256]uint64
	for first <= last {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		end := last
		if last-first >= n {
			end = first + n - 1
		}
		found := room[:core.SearchNonces(&s, first, end, room[:])]
		for _, nonce := range found {
			if !yield(nonce) {
				return nil
			}
		}
		if len(found) == len(room) {
			end = found[len(found)-1]
		}
		if end == last {
			break
		}
		first = end + 1
	}
	return nil
}

// AppendText appends the digits of a nonce to b and returns the result. It panics if the nonce has more digits than
// Width, or if the alphabet or the width is out of its range.
func (j *Job) AppendText(b []byte, nonce uint64) []byte {
	d := j.digits(nonce)
	return d.Append(b, nonce)
}
