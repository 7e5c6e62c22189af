// SPDX-License-Identifier: MIT OR Apache-2.0

package core

// Search says what is hashed, and which digests count: hl_search_job of the C core. The message of a nonce is the
// prefix, the digits of the nonce, and the suffix. A nonce is found if the message's digest, read as one number, is at
// most the target.
type Search struct {
	Alg, Again     Alg // Again hashes each digest once more; 0: no second hash
	Prefix, Suffix []byte
	Digits         Digits
	// The first byte of a digest is its least significant one.
	LeastByteFirst bool
	Target         [MaxSize]byte // the most significant byte first; bytes after the digest's size are ignored
}

// MaxDigits is the number of digits in the longest number, which is one of base 2.
const MaxDigits = 64

// Digits says how numbers are written. Its callers have checked that the base is 2 to 256, the width at most MaxDigits,
// and that the numbers fit the width.
type Digits struct {
	Alphabet   string // the byte of each digit; empty: the numbers 0 to 255 themselves
	Width      int    // digits of each number, with zeros in front; 0: no zeros in front
	LeastFirst bool   // the least significant digit comes first
}

// Base returns the number of different digits.
func (d *Digits) Base() uint64 {
	if d.Alphabet == "" {
		return 256
	}
	return uint64(len(d.Alphabet))
}

// Len returns the number of digits of n without zeros in front, at least 1.
func (d *Digits) Len(n uint64) int {
	base := d.Base()
	count := 1
	for n >= base {
		n /= base
		count++
	}
	return count
}

func (d *Digits) digit(value uint64) byte {
	if d.Alphabet == "" {
		return byte(value)
	}
	return d.Alphabet[value]
}

// Append appends the digits of n to b.
func (d *Digits) Append(b []byte, n uint64) []byte {
	base, width := d.Base(), max(d.Width, d.Len(n))
	var text [MaxDigits]byte
	for i := range width {
		at := width - 1 - i
		if d.LeastFirst {
			at = i
		}
		text[at] = d.digit(n % base)
		n /= base
	}
	return append(b, text[:width]...)
}

// begin makes ctx the computation of the prefix's whole blocks, and returns the rest of the prefix. ctx is unused if
// there are no whole blocks.
func (s *Search) begin(ctx *Ctx) (rest []byte) {
	blockSize := s.Alg.Info().BlockSize
	nwhole := len(s.Prefix) / blockSize * blockSize
	if nwhole > 0 {
		Init(ctx, s.Alg)
		Update(ctx, s.Prefix[:nwhole])
	}
	return s.Prefix[nwhole:]
}

// searchEach is [SearchNonces] one message at a time.
func searchEach(s *Search, first, last uint64, nonces []uint64) int {
	var ctx Ctx
	head := s.begin(&ctx)
	continues := len(head) < len(s.Prefix)
	size, lastSize := s.Alg.Size(), s.Alg.Size()
	if s.Again != 0 {
		lastSize = s.Again.Size()
	}
	base := s.Digits.Base()
	var digest, again [MaxSize]byte
	var room [256]byte
	message := room[:0]
	width := 0 // of the nonce in message
	for nonce, nfound := first, 0; ; nonce++ {
		// Mostly the last digit alone changes.
		if value := nonce % base; width > 0 && value != 0 {
			at := len(head)
			if !s.Digits.LeastFirst {
				at += width - 1
			}
			message[at] = s.Digits.digit(value)
		} else {
			message = s.Digits.Append(append(message[:0], head...), nonce)
			width = len(message) - len(head)
			message = append(message, s.Suffix...)
		}
		if continues {
			SumRowsFrom(&ctx, digest[:], message, 1, len(message), 0)
		} else {
			Sum(s.Alg, digest[:], message)
		}
		low := &digest
		if s.Again != 0 {
			Sum(s.Again, again[:], digest[:size])
			low = &again
		}
		if s.isLow(low[:lastSize]) {
			nonces[nfound] = nonce
			nfound++
		}
		if nonce == last || nfound == len(nonces) {
			return nfound
		}
	}
}

// isLow reports whether the digest is at most the target.
func (s *Search) isLow(digest []byte) bool {
	for i, highest := range s.Target[:len(digest)] {
		x := digest[i]
		if s.LeastByteFirst {
			x = digest[len(digest)-1-i]
		}
		if x != highest {
			return x < highest
		}
	}
	return true
}
