// SPDX-License-Identifier: MIT OR Apache-2.0

// Package digest is what the packages of the single algorithms share: the running hash, and the checks of the calls for
// many messages.
package digest

import (
	"fmt"
	"hash"
	"unsafe"

	"github.com/hashloom/hashloom/go/internal/core"
)

// Digest is a running hash of an algorithm that the standard library lacks: a hash.Hash that implements hash.Cloner,
// encoding.BinaryMarshaler, encoding.BinaryAppender and encoding.BinaryUnmarshaler, and has no other methods.
type Digest struct {
	alg core.Alg
	ctx core.Ctx
}

// NewHash begins a message of an algorithm that the standard library lacks: by the core, or in pure Go.
func NewHash(alg core.Alg) hash.Hash {
	if !core.Compiled {
		return core.NewHash(alg)
	}
	d := &Digest{alg: alg}
	d.Reset()
	return d
}

func (d *Digest) Write(p []byte) (int, error) {
	core.Update(&d.ctx, p)
	return len(p), nil
}

func (d *Digest) Sum(b []byte) []byte {
	var sum [core.MaxSize]byte
	core.Peek(&d.ctx, sum[:])
	return append(b, sum[:d.alg.Size()]...)
}

func (d *Digest) Reset() { core.Init(&d.ctx, d.alg) }

func (d *Digest) Size() int { return d.alg.Size() }

func (d *Digest) BlockSize() int { return d.alg.Info().BlockSize }

func (d *Digest) Clone() (hash.Cloner, error) {
	c := &Digest{alg: d.alg}
	core.Copy(&c.ctx, &d.ctx)
	return c, nil
}

// MarshalBinary has a capacity of a constant size so that the bytes can stay on the caller's stack.
func (d *Digest) MarshalBinary() ([]byte, error) {
	return d.AppendBinary(make([]byte, 0, core.MaxStateSize))
}

func (d *Digest) AppendBinary(b []byte) ([]byte, error) {
	return core.AppendState(&d.ctx, d.alg, b), nil
}

// UnmarshalBinary accepts what MarshalBinary returned. After an error d is unchanged.
func (d *Digest) UnmarshalBinary(b []byte) error { return core.SetState(&d.ctx, d.alg, b) }

// Array is a digest of any algorithm.
type Array interface {
	[16]byte | [20]byte | [28]byte | [32]byte | [48]byte | [64]byte
}

// IsOne reports whether the standard library is to hash msg, the only message of a call. It is false if dst overlaps
// msg, which is for SumMany to tell.
func IsOne(alg core.Alg, dst, msg []byte) bool { return alg.IsStandard() && IsApart(dst, msg) }

// IsApart reports whether the two slices do not overlap.
func IsApart(a, b []byte) bool { return !overlap(a, b) }

// SumMany sets dst[i] to the digest of msgs[i].
func SumMany[D Array](alg core.Alg, dst []D, msgs [][]byte) {
	core.SumMany(alg, CheckMany(alg.Info().Package, "SumMany", dst, msgs), msgs)
}

// SumRows sets dst[i] to the digest of rows[i*rowLen:(i+1)*rowLen].
func SumRows[D Array](alg core.Alg, dst []D, rows []byte, rowLen int) {
	core.SumRows(alg, CheckRows(alg.Info().Package, "SumRows", dst, rows, rowLen), rows, len(dst), rowLen, rowLen)
}

// CheckMany returns the bytes of dst. It panics if dst has not room for a digest of each message, or overlaps one. The
// text of the panic begins with the package and the call.
func CheckMany[D Array](pkg, call string, dst []D, msgs [][]byte) []byte {
	if len(dst) != len(msgs) {
		panic(fmt.Sprintf("%s: %s: dst has room for %d digests, msgs has %d messages", pkg, call, len(dst), len(msgs)))
	}
	flat := Flat(dst)
	CheckOverlap(flat, msgs)
	return flat
}

// CheckRows is CheckMany for rows of rowLen bytes each.
func CheckRows[D Array](pkg, call string, dst []D, rows []byte, rowLen int) []byte {
	flat := Flat(dst)
	checkRows(pkg, call, flat, len(dst), rows, rowLen)
	return flat
}

// checkRows panics if the n digests of dst are not those of rows, or overlap them.
func checkRows(pkg, call string, dst []byte, n int, rows []byte, rowLen int) {
	if rowLen < 0 {
		panic(fmt.Sprintf("%s: %s: rows of %d bytes", pkg, call, rowLen))
	}
	// No multiplication, which could overflow.
	if rowLen == 0 && len(rows) > 0 || rowLen > 0 && (len(rows)%rowLen != 0 || len(rows)/rowLen != n) {
		panic(fmt.Sprintf("%s: %s: dst has room for %d digests, rows has %d bytes, a row %d", pkg, call, n, len(rows),
			rowLen))
	}
	if overlap(dst, rows) {
		panic("hashloom: digests overlap messages")
	}
}

// SumManyXOF sets dst[i*length:(i+1)*length] to the digest of msgs[i], by an XOF.
func SumManyXOF(alg core.Alg, dst []byte, msgs [][]byte, length int) {
	if n := checkXOF(alg, "SumMany", dst, length); n != len(msgs) {
		panic(fmt.Sprintf("%s: SumMany: dst has room for %d digests, msgs has %d messages", alg.Info().Package, n,
			len(msgs)))
	}
	CheckOverlap(dst, msgs)
	core.SumManyXOF(alg, dst, length, msgs)
}

// SumRowsXOF sets dst[i*length:(i+1)*length] to the digest of rows[i*rowLen:(i+1)*rowLen], by an XOF.
func SumRowsXOF(alg core.Alg, dst, rows []byte, rowLen, length int) {
	n := checkXOF(alg, "SumRows", dst, length)
	checkRows(alg.Info().Package, "SumRows", dst, n, rows, rowLen)
	core.SumRowsXOF(alg, dst, length, rows, n, rowLen, rowLen)
}

// checkXOF returns the number of digests that dst has room for. It panics if that is no whole number.
func checkXOF(alg core.Alg, call string, dst []byte, length int) int {
	if length <= 0 || len(dst)%length != 0 {
		panic(fmt.Sprintf("%s: %s: dst has %d bytes, for digests of %d bytes each", alg.Info().Package, call, len(dst),
			length))
	}
	return len(dst) / length
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

func overlap(a, b []byte) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	startA, startB := uintptr(unsafe.Pointer(unsafe.SliceData(a))), uintptr(unsafe.Pointer(unsafe.SliceData(b)))
	return startA < startB+uintptr(len(b)) && startB < startA+uintptr(len(a))
}
