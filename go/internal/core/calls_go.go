// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"math"
	"unsafe"
)

// This file makes the core's calls by the hashes of the standard library and of this module: on amd64 for CPUs without
// AVX2, and wherever [Restrict] says so. Streams and keys are the core's own, so that either may go on with what the
// other began.

// inGo are costs without which no call is made in slices.
var inGo = costs{longest: math.MaxInt}

// ways has those of the algorithms in use: use sets them.
var ways [NAlgs]*way

// runInGo makes a call. What it points to need not be on the heap: no hash keeps what it gets.
func (hidden *call) runInGo(scratch *scratch) {
	address := *(*uintptr)(unsafe.Pointer(&hidden))
	c := *(**call)(unsafe.Pointer(&address)) // the compiler cannot follow, and moves nothing to the heap
	switch c.op {
	case opUpdate:
		for i, ctx := range unsafe.Slice(c.ctxs, c.count) {
			h := ctx.hash()
			h.Write(c.message(i))
			ctx.setHash(h)
		}
	case opPeek:
		for i, ctx := range unsafe.Slice(c.ctxs, c.count) {
			ctx.hash().Sum(c.digest(i)[:0])
		}
	case opKey:
		blockSize := c.alg.Info().BlockSize
		c.keys.alg = uint32(c.alg)
		for pad, state := range map[byte]*[25]uint64{0x36: &c.keys.inner, 0x5c: &c.keys.outer} {
			var block [MaxBlockSize]byte
			copy(block[:], c.message(0))
			for i := range blockSize {
				block[i] ^= pad
			}
			ctx := fresh[c.alg]
			h := ctx.hash()
			h.Write(block[:blockSize])
			ctx.setHash(h)
			*state = ctx.state
			clear(block[:])
		}
	case opOne, opSum:
		for i := range c.count {
			c.sumInGo(i, scratch)
		}
	}
}

// sumInGo writes the digest or tag of message i.
func (c *call) sumInGo(i int, scratch *scratch) {
	dst, msg, size := c.digest(i), c.message(i), c.alg.Size()
	switch {
	case c.keys != nil:
		key := (*Key)(unsafe.Add(unsafe.Pointer(c.keys), c.keyStride*uintptr(i)))
		ctx := Ctx{state: key.inner, nbytes: uint64(c.alg.Info().BlockSize), alg: key.alg}
		h := ctx.hash()
		h.Write(msg)
		inner := h.Sum(nil)
		ctx.state = key.outer
		h = ctx.hash()
		h.Write(inner)
		h.Sum(dst[:0])
	case c.begin != nil:
		h := c.begin.hash()
		h.Write(msg)
		h.Sum(dst[:0])
	case c.again != 0:
		digest := (*[MaxSize]byte)(unsafe.Pointer(&scratch.slots))[:size]
		ways[c.alg].sum(c.alg, digest, msg)
		ways[c.again].sum(c.again, dst, digest)
	default:
		ways[c.alg].sum(c.alg, dst, msg)
	}
}

// message returns message or chunk i.
func (c *call) message(i int) []byte {
	if c.slices != nil {
		return unsafe.Slice(c.slices, c.count)[i]
	}
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c.rows), c.stride*i)), c.rowLen)
}

// digest returns the place of digest i.
func (c *call) digest(i int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(c.dst), c.digestLen*i)), c.digestLen)
}

// hash returns the running hash of ctx.
func (ctx *Ctx) hash() State {
	alg := ctx.algorithm()
	h := ways[alg].new(alg)
	if err := h.UnmarshalBinary(AppendState(ctx, alg, nil)); err != nil {
		panic(err)
	}
	return h
}

// setHash makes ctx the running hash, of the same algorithm.
func (ctx *Ctx) setHash(h State) {
	state, err := h.AppendBinary(nil)
	if err == nil {
		err = SetState(ctx, ctx.algorithm(), state)
	}
	if err != nil {
		panic(err)
	}
}
