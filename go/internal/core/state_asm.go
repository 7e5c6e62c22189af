// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"crypto/subtle"
	"encoding/binary"
	"math/bits"
)

var zeros [MaxBlockSize]byte

// turn is 32 if two words of a state are in one of Ctx: amd64 and arm64 are little-endian, marshaled states big-endian.
func (info *Info) turn() int { return 64 - 8*info.WordSize }

// AppendState appends the state of ctx, of algorithm alg, in the form of the standard library's AppendBinary.
func AppendState(ctx *Ctx, alg Alg, b []byte) []byte {
	info := alg.Info()
	b = append(b, info.Magic...)
	if info.IsSponge() {
		return appendSponge(ctx, info, b)
	}
	nbytes := info.NWords * info.WordSize
	for _, word := range ctx.state[:nbytes/8] {
		b = binary.BigEndian.AppendUint64(b, bits.RotateLeft64(word, info.turn()))
	}
	if nbytes%8 != 0 {
		b = binary.BigEndian.AppendUint32(b, uint32(ctx.state[nbytes/8]))
	}
	held := int(ctx.nbytes % uint64(info.BlockSize))
	b = append(b, ctx.block[:held]...)
	b = append(b, zeros[held:info.BlockSize]...)
	return binary.BigEndian.AppendUint64(b, ctx.nbytes)
}

// SetState sets ctx, of algorithm alg, to a state that AppendState appended. After an error ctx is unchanged.
func SetState(ctx *Ctx, alg Alg, b []byte) error {
	info := alg.Info()
	if err := info.checkState(b); err != nil {
		return err
	}
	*ctx = Ctx{alg: uint32(alg)}
	b = b[len(info.Magic):]
	if info.IsSponge() {
		setSponge(ctx, b)
		return nil
	}
	nbytes := info.NWords * info.WordSize
	for i := range ctx.state[:nbytes/8] {
		ctx.state[i] = bits.RotateLeft64(binary.BigEndian.Uint64(b[8*i:]), info.turn())
	}
	if nbytes%8 != 0 {
		ctx.state[nbytes/8] = uint64(binary.BigEndian.Uint32(b[nbytes-4:]))
	}
	ctx.nbytes = binary.BigEndian.Uint64(b[len(b)-8:])
	copy(ctx.block[:ctx.nbytes%uint64(info.BlockSize)], b[nbytes:])
	return nil
}

// appendSponge appends the state with the bytes of the block in it, and their number.
func appendSponge(ctx *Ctx, info *Info, b []byte) []byte {
	held := int(ctx.nbytes % uint64(info.BlockSize))
	start := len(b)
	for _, word := range ctx.state {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	subtle.XORBytes(b[start:], b[start:], ctx.block[:held])
	return append(b, byte(held), 0)
}

// setSponge leaves the bytes of the block in the state: those of the block itself are zeros.
func setSponge(ctx *Ctx, b []byte) {
	for i := range ctx.state {
		ctx.state[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	ctx.nbytes = uint64(b[len(b)-2])
}
