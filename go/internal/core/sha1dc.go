// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// sha1dc is SHA1DC in pure Go: core/src/sha1dc.c and core/src/sha1dc.def of this repository say what it does.
type sha1dc struct {
	state [5]uint32
	found bool
	n     uint64
	held  [64]byte
}

// dcVector is the disturbance vector I(k, b) or II(k, b).
type dcVector struct{ kind, k, b int }

// dcCondition says that bit i of word k+t and bit j of word k+u are equal, or differ if differ is 1, for the vectors of
// the mask, the one with k = 0 of which would have bit first.
type dcCondition struct {
	first, t, i, u, j int
	differ            uint32
	vectors           uint32
}

var dcVectors = [32]dcVector{
	// algorithms.py: go_sha1dc_vectors
	{1, 43, 0}, {1, 44, 0}, {1, 45, 0}, {1, 46, 0}, {1, 47, 0}, {1, 48, 0}, {1, 49, 0}, {1, 50, 0},
	{1, 51, 0}, {1, 52, 0}, {1, 46, 2}, {1, 47, 2}, {1, 48, 2}, {1, 49, 2}, {1, 50, 2}, {1, 51, 2},
	{2, 45, 0}, {2, 46, 0}, {2, 47, 0}, {2, 48, 0}, {2, 49, 0}, {2, 50, 0}, {2, 51, 0}, {2, 52, 0},
	{2, 53, 0}, {2, 54, 0}, {2, 55, 0}, {2, 56, 0}, {2, 49, 2}, {2, 50, 2}, {2, 51, 2}, {2, 46, 2},
	// algorithms.py: end
}

// dcDifferences has those of word t at t-k+56.
var dcDifferences = [2][29]uint32{
	// algorithms.py: go_sha1dc_differences
	{0, 0, 0, 0, 0x04000010, 0xe8000000, 0x0800000c, 0x18000000, 0xb800000a, 0xc8000010, 0x2c000010, 0xf4000014,
		0xb4000008, 0x08000000, 0x9800000c, 0xd8000010, 0x08000010, 0xb8000010, 0x98000000, 0x60000000, 0x00000008,
		0xc0000000, 0x90000014, 0x10000010, 0xb8000014, 0x28000000, 0x20000010, 0x48000000, 0x08000018},
	{0x2600001a, 0x00000010, 0x0400001c, 0xcc000014, 0x0c000002, 0xc0000010, 0xb400001c, 0x3c000004, 0xbc00001a,
		0x20000010, 0x2400001c, 0xec000014, 0x0c000002, 0xc0000010, 0xb400001c, 0x2c000004, 0xbc000018, 0xb0000010,
		0x0000000c, 0xb8000010, 0x08000018, 0x78000010, 0x08000014, 0x70000010, 0xb800001c, 0xe8000000, 0xb0000004,
		0, 0},
	// algorithms.py: end
}

var dcConditions = [...]dcCondition{
	// algorithms.py: go_sha1dc_conditions
	{-29, 4, 4, 4, 29, 1, 0x01ff0000},
	{-15, -10, 1, -9, 6, 1, 0x80000000},
	{-36, -4, 6, -6, 6, 0, 0x0000fc00},
	{-21, -13, 0, -12, 5, 1, 0x70000000},
	{-36, -2, 6, -4, 6, 0, 0x0000fc00},
	{-36, 0, 6, 1, 1, 0, 0x0000fc00},
	{-36, 0, 6, -2, 6, 0, 0x0000fc00},
	{-15, -5, 1, -4, 6, 1, 0x80000000},
	{-43, -4, 4, -6, 4, 1, 0x000003ff},
	{-43, -4, 4, -4, 29, 1, 0x000003fe},
	{-43, -4, 4, -3, 29, 1, 0x000003ff},
	{-43, 3, 29, 1, 29, 1, 0x000003ff},
	{-43, 3, 29, 4, 29, 0, 0x000003ff},
	{-21, -8, 30, -12, 5, 0, 0x70000000},
	{-21, -10, 1, -9, 6, 1, 0x70000000},
	{-15, -3, 1, -5, 1, 1, 0x80000000},
	{-43, -2, 4, -3, 29, 0, 0x000003ff},
	{-43, -2, 4, -1, 29, 1, 0x000003ff},
	{-43, 0, 4, -1, 29, 0, 0x000003ff},
	{-43, 0, 4, 1, 29, 1, 0x000003ff},
	{-21, -5, 1, -4, 6, 1, 0x70000000},
	{-15, 1, 1, 2, 6, 1, 0x80000000},
	{-15, 1, 1, 4, 6, 1, 0x80000000},
	{-29, -16, 4, -18, 4, 1, 0x0e000000},
	{-21, -9, 6, -8, 1, 0, 0x70000000},
	{-29, -8, 29, -12, 4, 0, 0x0ffc0000},
	{-29, -14, 4, -16, 4, 1, 0x0f800000},
	{-29, -14, 4, -13, 29, 1, 0x0f000000},
	{-29, -7, 29, -6, 29, 0, 0x0ffc0000},
	{-15, 5, 1, 1, 1, 1, 0x80000000},
	{-36, 15, 2, 16, 7, 1, 0x00001c00},
	{-29, -5, 29, -9, 4, 0, 0x0fff0000},
	{-29, -5, 29, -6, 29, 0, 0x0ffe0000},
	{-36, -14, 1, -13, 6, 1, 0x0000e000},
	{-21, 1, 1, 2, 6, 1, 0x70000000},
	{-21, -4, 6, -3, 1, 0, 0x70000000},
	{-29, -2, 29, -4, 4, 0, 0x0fff0000},
	{-29, -2, 29, -1, 29, 0, 0x0fff0000},
	{-36, -11, 1, -10, 6, 1, 0x0000fc00},
	{-29, 0, 29, -1, 29, 0, 0x0fff0000},
	{-36, -7, 1, -6, 6, 1, 0x0000fc00},
	{-29, 4, 29, 2, 4, 0, 0x07ff0000},
	{-21, 4, 6, 5, 1, 0, 0x70000000},
	{-21, 4, 6, 2, 6, 0, 0x70000000},
	{-29, 5, 29, 4, 29, 0, 0x03ff0000},
	{-15, 15, 2, 16, 7, 1, 0x80000000},
	{-36, -10, 6, -9, 1, 0, 0x0000e000},
	{-43, -6, 29, -10, 4, 0, 0x000003fc},
	{-43, -6, 29, -7, 29, 0, 0x000003f0},
	{-29, 8, 29, 7, 29, 0, 0x00ff0000},
	// algorithms.py: end
}

var dcStart = [5]uint32{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}

func newSHA1DC() *sha1dc { return &sha1dc{state: dcStart} }

func (d *sha1dc) Reset() { *d = sha1dc{state: dcStart} }

func (d *sha1dc) Size() int { return SHA1DC.Size() }

func (d *sha1dc) BlockSize() int { return 64 }

func (d *sha1dc) Clone() (hash.Cloner, error) {
	c := *d
	return &c, nil
}

// AppendBinary appends the state as AppendState has it: the verdict is the sixth word.
func (d *sha1dc) AppendBinary(b []byte) ([]byte, error) {
	for _, word := range d.state {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	b = binary.BigEndian.AppendUint32(b, d.verdict())
	b = append(b, d.held[:]...)
	return binary.BigEndian.AppendUint64(b, d.n), nil
}

func (d *sha1dc) UnmarshalBinary(b []byte) error {
	if err := SHA1DC.Info().checkState(b); err != nil {
		return err
	}
	for i := range d.state {
		d.state[i] = binary.BigEndian.Uint32(b[4*i:])
	}
	d.found = binary.BigEndian.Uint32(b[20:]) != 0
	copy(d.held[:], b[24:])
	d.n = binary.BigEndian.Uint64(b[24+64:])
	return nil
}

// verdict is the sixth word of a digest.
func (d *sha1dc) verdict() uint32 {
	if d.found {
		return 1 << 24
	}
	return 0
}

func (d *sha1dc) Write(p []byte) (int, error) {
	n := len(p)
	for held := int(d.n % 64); len(p) > 0; held = 0 {
		taken := copy(d.held[held:], p)
		p = p[taken:]
		d.n += uint64(taken)
		if held+taken == 64 {
			d.hash()
		}
	}
	return n, nil
}

func (d *sha1dc) Sum(b []byte) []byte {
	end := *d
	padding := [128]byte{0x80}
	zeros := 8 + (128-8-1-int(d.n%64))%64
	binary.BigEndian.PutUint64(padding[zeros-7:], d.n*8)
	end.Write(padding[:zeros+1])
	for _, word := range end.state {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	return binary.BigEndian.AppendUint32(b, end.verdict())
}

func dcExpand(w *[80]uint32) {
	for t := 16; t < 80; t++ {
		w[t] = bits.RotateLeft32(w[t-3]^w[t-8]^w[t-14]^w[t-16], 1)
	}
}

// dcSum is f and K of step t (FIPS 180-4, sections 4.1.1 and 4.2.1).
func dcSum(t int, b, c, d uint32) uint32 {
	switch {
	case t < 20:
		return 0x5a827999 + (b&c | ^b&d)
	case t < 40:
		return 0x6ed9eba1 + (b ^ c ^ d)
	case t < 60:
		return 0x8f1bbcdc + (b&c | b&d | c&d)
	}
	return 0xca62c1d6 + (b ^ c ^ d)
}

// dcSteps advances s from one step to another, or back.
func dcSteps(s [5]uint32, w *[80]uint32, from, to int) [5]uint32 {
	a, b, c, d, e := s[0], s[1], s[2], s[3], s[4]
	for t := from; t < to; t++ {
		a, b, c, d, e = bits.RotateLeft32(a, 5)+dcSum(t, b, c, d)+e+w[t], a, bits.RotateLeft32(b, 30), c, d
	}
	for t := from - 1; t >= to; t-- {
		next := a
		a, b, c, d = b, bits.RotateLeft32(c, 2), d, e
		e = next - bits.RotateLeft32(a, 5) - dcSum(t, b, c, d) - w[t]
	}
	return [5]uint32{a, b, c, d, e}
}

func (d *sha1dc) hash() {
	var w [80]uint32
	for t := range 16 {
		w[t] = binary.BigEndian.Uint32(d.held[4*t:])
	}
	dcExpand(&w)
	before, end := d.state, dcSteps(d.state, &w, 0, 80)
	for i := range d.state {
		d.state[i] += end[i]
	}
	for left := dcPossible(&w); left != 0; left &= left - 1 {
		v := dcVectors[bits.TrailingZeros32(left)]
		other := w
		for t := range 16 {
			other[t] ^= bits.RotateLeft32(dcDifferences[v.kind-1][t-v.k+56], v.b)
		}
		dcExpand(&other)
		step := 58
		if v.k >= 50 {
			step = 65
		}
		middle := dcSteps(end, &w, 80, step)
		first, last := dcSteps(middle, &other, step, 0), dcSteps(middle, &other, step, 80)
		is := true
		for i := range last {
			is = is && first[i]+last[i] == before[i]+end[i]
		}
		if is { // the block is hashed twice more
			d.found = true
			for range 2 {
				for i, word := range dcSteps(d.state, &w, 0, 80) {
					d.state[i] += word
				}
			}
			break
		}
	}
}

// dcPossible returns the vectors whose conditions the message schedule keeps.
func dcPossible(w *[80]uint32) uint32 {
	left := ^uint32(0)
	for _, c := range dcConditions {
		for m := c.vectors & left; m != 0; m &= m - 1 {
			v := bits.TrailingZeros32(m)
			k := v - c.first
			if (w[k+c.t]>>c.i^w[k+c.u]>>c.j)&1 != c.differ {
				left &^= 1 << v
			}
		}
		if left == 0 {
			break
		}
	}
	return left
}
