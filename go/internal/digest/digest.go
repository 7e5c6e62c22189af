// SPDX-License-Identifier: MIT OR Apache-2.0

// Package digest is what the packages of the single algorithms share: the running hash, and the checks of the calls for
// many messages.
package digest

import (
	"encoding"
	"fmt"
	"hash"
	"unsafe"

	"github.com/hashloom/hashloom/go/internal/core"
)

// Digest is a running hash: a hash.Hash that implements hash.Cloner, encoding.BinaryMarshaler, encoding.BinaryAppender
// and encoding.BinaryUnmarshaler, and has no other methods.
type Digest struct {
	Ctx     core.Ctx
	Alg     core.Alg
	waiting bool // in a batch of WriteMany
}

// New begins a message.
func New(alg core.Alg) *Digest {
	d := &Digest{Alg: alg}
	core.Init(&d.Ctx, alg)
	return d
}

func (d *Digest) Write(p []byte) (int, error) {
	core.Update(&d.Ctx, p)
	return len(p), nil
}

func (d *Digest) Sum(b []byte) []byte {
	var zeros [core.MaxSize]byte
	n := len(b)
	b = append(b, zeros[:d.Alg.Size()]...)
	core.Peek(&d.Ctx, b[n:])
	return b
}

func (d *Digest) Reset() { core.Init(&d.Ctx, d.Alg) }

func (d *Digest) Size() int { return d.Alg.Size() }

func (d *Digest) BlockSize() int { return d.Alg.Info().BlockSize }

func (d *Digest) Clone() (hash.Cloner, error) {
	c := &Digest{Alg: d.Alg}
	core.Copy(&c.Ctx, &d.Ctx)
	return c, nil
}

// MarshalBinary has a capacity of a constant size so that a caller's slice can stay on the caller's stack.
func (d *Digest) MarshalBinary() ([]byte, error) {
	return d.AppendBinary(make([]byte, 0, core.MaxStateSize))
}

func (d *Digest) AppendBinary(b []byte) ([]byte, error) {
	return core.AppendState(&d.Ctx, d.Alg, b), nil
}

// UnmarshalBinary accepts what MarshalBinary returned. After an error d is unchanged.
func (d *Digest) UnmarshalBinary(b []byte) error {
	if err := d.Alg.CheckState(b); err != nil {
		return err
	}
	return core.SetState(&d.Ctx, d.Alg, b)
}

// Array is a digest of any algorithm.
type Array interface {
	[20]byte | [28]byte | [32]byte | [48]byte | [64]byte
}

// SumMany sets dst[i] to the digest of msgs[i].
func SumMany[D Array](alg core.Alg, dst []D, msgs [][]byte) {
	if len(dst) != len(msgs) {
		panic(fmt.Sprintf("%s: SumMany: dst has room for %d digests, msgs has %d messages",
			alg.Info().Package, len(dst), len(msgs)))
	}
	flat := Flat(dst)
	CheckOverlap(flat, msgs)
	core.SumMany(alg, flat, msgs)
}

// SumRows sets dst[i] to the digest of rows[i*rowLen:(i+1)*rowLen].
func SumRows[D Array](alg core.Alg, dst []D, rows []byte, rowLen int) {
	if rowLen < 0 {
		panic(fmt.Sprintf("%s: SumRows: rows of %d bytes", alg.Info().Package, rowLen))
	}
	// No multiplication, which could overflow.
	if rowLen == 0 && len(rows) > 0 || rowLen > 0 && (len(rows)%rowLen != 0 || len(rows)/rowLen != len(dst)) {
		panic(fmt.Sprintf("%s: SumRows: dst has room for %d digests, rows has %d bytes, a row %d",
			alg.Info().Package, len(dst), len(rows), rowLen))
	}
	flat := Flat(dst)
	if overlap(flat, rows) {
		panic("hashloom: digests overlap messages")
	}
	core.SumRows(alg, flat, rows, len(dst), rowLen, rowLen)
}

// Flat returns the bytes of dst.
func Flat[D Array](dst []D) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)*int(unsafe.Sizeof(*new(D))))
}

// CheckOverlap panics if dst overlaps a message. Digests are written while other messages are still read, so that an
// overlap would give wrong digests.
func CheckOverlap(dst []byte, msgs [][]byte) {
	for _, msg := range msgs {
		if overlap(dst, msg) {
			panic("hashloom: digests overlap messages")
		}
	}
}

// Of returns the running computation of h, a hash of this module or of the standard library, and its algorithm. It is
// h's own, or a copy in *room. For any other hash the algorithm is 0.
func Of(h hash.Hash, room *core.Ctx) (*core.Ctx, core.Alg) {
	if d, ok := h.(*Digest); ok {
		return &d.Ctx, d.Alg
	}
	appender, ok := h.(encoding.BinaryAppender)
	if !ok {
		return nil, 0
	}
	state, err := appender.AppendBinary(nil)
	if err != nil {
		return nil, 0
	}
	for alg := core.SHA1; alg <= core.RIPEMD160; alg++ {
		if alg.CheckState(state) == nil && core.SetState(room, alg, state) == nil {
			return room, alg
		}
	}
	return nil, 0
}

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return startA < startB+uintptr(len(b)) && startB < startA+uintptr(len(a))
}
