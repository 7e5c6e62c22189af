// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !openbsd && !purego && !noasm

package core

import "encoding/binary"

// AppendState appends the state of ctx, of algorithm alg, in the form of the standard library's AppendBinary.
func AppendState(ctx *Ctx, alg Alg, b []byte) []byte {
	info := alg.Info()
	b = append(b, info.Magic...)
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
	if err := alg.CheckState(b); err != nil {
		return err
	}
	info := alg.Info()
	nbytes := binary.BigEndian.Uint64(b[len(b)-8:])
	*ctx = Ctx{alg: uint32(alg), nbytes: nbytes}
	b = b[len(info.Magic):]
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
