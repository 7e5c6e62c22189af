// SPDX-License-Identifier: MIT OR Apache-2.0

// Package ripemd160 is RIPEMD-160 in pure Go, after Dobbertin, Bosselaers and Preneel, "RIPEMD-160: A Strengthened
// Version of RIPEMD" (1996), and ISO/IEC 10118-3. The standard library has no RIPEMD-160.
package ripemd160

import (
	"encoding/binary"
	"errors"
	"hash"
	"math/bits"
)

const (
	Size      = 20
	BlockSize = 64

	magic         = "rmd\x01"
	marshaledSize = len(magic) + 5*4 + BlockSize + 8
)

// Digest is a running computation. Begin with New or Reset.
type Digest struct {
	h      [5]uint32
	block  [BlockSize]byte
	nbytes uint64
}

// New begins a message.
func New() *Digest {
	d := new(Digest)
	d.Reset()
	return d
}

func (d *Digest) Reset() {
	*d = Digest{h: [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}}
}

func (d *Digest) Size() int { return Size }

func (d *Digest) BlockSize() int { return BlockSize }

func (d *Digest) Write(p []byte) (int, error) {
	nbytes := len(p)
	used := int(d.nbytes % BlockSize)
	d.nbytes += uint64(nbytes)
	if used > 0 {
		n := copy(d.block[used:], p)
		p = p[n:]
		if used+n < BlockSize {
			return nbytes, nil
		}
		compress(&d.h, d.block[:])
	}
	for len(p) >= BlockSize {
		compress(&d.h, p[:BlockSize])
		p = p[BlockSize:]
	}
	copy(d.block[:], p)
	return nbytes, nil
}

func (d *Digest) Sum(b []byte) []byte {
	sum := d.checkSum()
	return append(b, sum[:]...)
}

func (d *Digest) checkSum() (sum [Size]byte) {
	c := *d
	var padding [BlockSize + 8]byte
	padding[0] = 0x80
	n := BlockSize - int((d.nbytes+8)%BlockSize) // 1 to 64
	binary.LittleEndian.PutUint64(padding[n:], d.nbytes*8)
	c.Write(padding[:n+8])
	for i, word := range c.h {
		binary.LittleEndian.PutUint32(sum[4*i:], word)
	}
	return sum
}

// Sum returns the digest of data.
func Sum(data []byte) [Size]byte {
	var d Digest
	d.Reset()
	d.Write(data)
	return d.checkSum()
}

func (d *Digest) Clone() (hash.Cloner, error) {
	c := *d
	return &c, nil
}

func (d *Digest) MarshalBinary() ([]byte, error) {
	return d.AppendBinary(make([]byte, 0, marshaledSize))
}

func (d *Digest) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, magic...)
	for _, word := range d.h {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	used := d.nbytes % BlockSize
	b = append(b, d.block[:used]...)
	b = append(b, make([]byte, BlockSize-used)...)
	return binary.BigEndian.AppendUint64(b, d.nbytes), nil
}

func (d *Digest) UnmarshalBinary(b []byte) error {
	if len(b) < len(magic) || string(b[:len(magic)]) != magic {
		return errors.New("ripemd160: invalid hash state identifier")
	}
	if len(b) != marshaledSize {
		return errors.New("ripemd160: invalid hash state size")
	}
	b = b[len(magic):]
	for i := range d.h {
		d.h[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	b = b[4*len(d.h):]
	copy(d.block[:], b)
	d.nbytes = binary.BigEndian.Uint64(b[BlockSize:])
	return nil
}

// The tables of the paper, one row a round of 16 steps: the words of the block, and the rotations, of the left line
// and of the right line.
var (
	leftWord = [80]uint8{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9, 5, 2, 14, 11, 8,
		3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12,
		1, 9, 11, 10, 0, 8, 12, 4, 13, 3, 7, 15, 14, 5, 6, 2,
		4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13,
	}
	rightWord = [80]uint8{
		5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12,
		6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8, 12, 4, 9, 1, 2,
		15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13,
		8, 6, 4, 1, 3, 11, 15, 0, 5, 12, 2, 13, 9, 7, 10, 14,
		12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11,
	}
	leftShift = [80]uint8{
		11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8,
		7, 6, 8, 13, 11, 9, 7, 15, 7, 12, 15, 9, 11, 7, 13, 12,
		11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5,
		11, 12, 14, 15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12,
		9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11, 8, 5, 6,
	}
	rightShift = [80]uint8{
		8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6,
		9, 13, 15, 7, 12, 8, 9, 11, 7, 7, 12, 7, 6, 15, 13, 11,
		9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5,
		15, 5, 8, 11, 14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8,
		8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13, 11, 11,
	}
	leftAdd  = [5]uint32{0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e}
	rightAdd = [5]uint32{0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0}
)

// line is the state of one of the two lines.
type line struct{ a, b, c, d, e uint32 }

// step is one step: f is the line's function of b, c and d; word the word of the block plus the constant of the round.
func (l *line) step(f, word uint32, shift uint8) {
	t := bits.RotateLeft32(l.a+f+word, int(shift&31)) + l.e
	l.a, l.b, l.c, l.d, l.e = l.e, t, l.b, bits.RotateLeft32(l.c, 10), l.d
}

// compress is the compression function for one block.
func compress(h *[5]uint32, block []byte) {
	var x [16]uint32
	for i := range x {
		x[i] = binary.LittleEndian.Uint32(block[4*i:])
	}
	l := line{h[0], h[1], h[2], h[3], h[4]}
	r := l
	for j := range 16 {
		l.step(l.b^l.c^l.d, x[leftWord[j]&15]+leftAdd[0], leftShift[j])
		r.step(r.b^(r.c|^r.d), x[rightWord[j]&15]+rightAdd[0], rightShift[j])
	}
	for j := 16; j < 32; j++ {
		l.step(l.b&l.c|^l.b&l.d, x[leftWord[j]&15]+leftAdd[1], leftShift[j])
		r.step(r.b&r.d|r.c&^r.d, x[rightWord[j]&15]+rightAdd[1], rightShift[j])
	}
	for j := 32; j < 48; j++ {
		l.step((l.b|^l.c)^l.d, x[leftWord[j]&15]+leftAdd[2], leftShift[j])
		r.step((r.b|^r.c)^r.d, x[rightWord[j]&15]+rightAdd[2], rightShift[j])
	}
	for j := 48; j < 64; j++ {
		l.step(l.b&l.d|l.c&^l.d, x[leftWord[j]&15]+leftAdd[3], leftShift[j])
		r.step(r.b&r.c|^r.b&r.d, x[rightWord[j]&15]+rightAdd[3], rightShift[j])
	}
	for j := 64; j < 80; j++ {
		l.step(l.b^(l.c|^l.d), x[leftWord[j]&15]+leftAdd[4], leftShift[j])
		r.step(r.b^r.c^r.d, x[rightWord[j]&15]+rightAdd[4], rightShift[j])
	}
	h[0], h[1], h[2], h[3], h[4] = h[1]+l.c+r.d, h[2]+l.d+r.e, h[3]+l.e+r.a, h[4]+l.a+r.b, h[0]+l.b+r.c
}
