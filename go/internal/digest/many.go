// SPDX-License-Identifier: MIT OR Apache-2.0

package digest

import (
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
)

// batchLen is the number of running hashes that the core gets at once: enough to keep 16 lanes busy, and few enough
// for the stack.
const batchLen = 64

// WriteMany does hs[i].Write(chunks[i]) for all i, as if one after another. Hashes of this module and of the same
// algorithm run side by side.
func WriteMany(hs []hash.Hash, chunks [][]byte) {
	var seen uint // the algorithms, as bits
	for i, h := range hs {
		if d, ok := h.(*Digest); ok {
			seen |= 1 << d.Alg
		} else {
			h.Write(chunks[i])
		}
	}
	var b batch
	for alg := core.SHA1; alg <= core.RIPEMD160; alg++ {
		if seen>>alg&1 == 0 {
			continue
		}
		for i, h := range hs {
			d, ok := h.(*Digest)
			if !ok || d.Alg != alg {
				continue
			}
			// A hash that is in the batch already gets its first chunk before its second.
			if b.n == batchLen || d.waiting {
				b.update()
			}
			d.waiting = true
			b.digests[b.n], b.ctxs[b.n], b.chunks[b.n] = d, &d.Ctx, chunks[i]
			b.n++
		}
		b.update()
	}
}

type batch struct {
	n       int
	digests [batchLen]*Digest
	ctxs    [batchLen]*core.Ctx
	chunks  [batchLen][]byte
}

func (b *batch) update() {
	core.UpdateMany(b.ctxs[:b.n], b.chunks[:b.n])
	for _, d := range b.digests[:b.n] {
		d.waiting = false
	}
	b.n = 0
}

// AppendSums does b = hs[i].Sum(b) for all i. Hashes of this module and of the same algorithm run side by side.
func AppendSums(b []byte, hs []hash.Hash) []byte {
	var ctxs [batchLen]*core.Ctx
	var zeros [core.MaxSize]byte
	for len(hs) > 0 {
		d, ok := hs[0].(*Digest)
		if !ok {
			b = hs[0].Sum(b)
			hs = hs[1:]
			continue
		}
		alg := d.Alg
		start := len(b)
		n := 0
		for n < len(hs) && n < batchLen {
			d, ok := hs[n].(*Digest)
			if !ok || d.Alg != alg {
				break
			}
			ctxs[n] = &d.Ctx
			b = append(b, zeros[:alg.Size()]...)
			n++
		}
		core.PeekMany(ctxs[:n], b[start:])
		hs = hs[n:]
	}
	return b
}

// AppendSumsFrom appends to b the digests of the message of ctx, followed by msgs[i].
func AppendSumsFrom(b []byte, ctx *core.Ctx, alg core.Alg, msgs [][]byte) []byte {
	start := len(b)
	nbytes := len(msgs) * alg.Size()
	b = append(b, make([]byte, nbytes)...)
	CheckOverlap(b[start:], msgs)
	core.SumManyFrom(ctx, b[start:], msgs)
	return b
}
