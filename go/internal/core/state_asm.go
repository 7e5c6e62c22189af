// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !openbsd && !purego && !noasm

package core

import (
	"crypto/subtle"
	"encoding/binary"
)

// AppendState appends the state of ctx, of algorithm alg, in the form of the standard library's AppendBinary.
func AppendState(ctx *Ctx, alg Alg, b []byte) []byte {
	info := alg.Info()
	b = append(b, info.Magic...)
	if info.IsSponge() {
		return appendSponge(ctx, info, b)
	}
	for i := range info.NWords {
		if info.WordSize == 8 {
			b = binary.BigEndian.AppendUint64(b, ctx.state[i])
		} else { // two words in one of Ctx; amd64 and arm64 are little-endian
			b = binary.BigEndian.AppendUint32(b, uint32(ctx.state[i/2]>>(32*(i%2))))
		}
	}
	var block [128]byte
	copy(block[:], ctx.block[:ctx.nbytes%uint64(info.BlockSize)])
	b = append(b, block[:info.BlockSize]...)
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
	nbytes := binary.BigEndian.Uint64(b[len(b)-8:])
	ctx.nbytes = nbytes
	for i := range info.NWords {
		if info.WordSize == 8 {
			ctx.state[i] = binary.BigEndian.Uint64(b[8*i:])
		} else {
			ctx.state[i/2] |= uint64(binary.BigEndian.Uint32(b[4*i:])) << (32 * (i % 2))
		}
	}
	copy(ctx.block[:nbytes%uint64(info.BlockSize)], b[info.NWords*info.WordSize:])
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
