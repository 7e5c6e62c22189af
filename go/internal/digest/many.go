// SPDX-License-Identifier: MIT OR Apache-2.0

package digest

import (
	"hash"
	"slices"

	"github.com/hashloom/hashloom/go/internal/core"
)

// batchLen is the number of running hashes that the core gets at once: enough to keep 16 lanes busy, and few enough
// for the stack.
const batchLen = 64

// WriteMany does hs[i].Write(chunks[i]) for all i, as if one after another. Hashes of this module and of the same
// algorithm run side by side.
func WriteMany(hs []hash.Hash, chunks [][]byte) {
	var seen, seenStandard uint // the algorithms, as bits
	for i, h := range hs {
		if d, ok := h.(*Digest); ok {
			seen |= 1 << d.alg
		} else if alg := standardAlg(h); alg != 0 {
			seenStandard |= 1 << alg
		} else {
			h.Write(chunks[i])
		}
	}
	if seenStandard != 0 {
		writeStandard(hs, chunks, seenStandard)
	}
	if seen == 0 {
		return
	}
	var b batch
	for _, alg := range core.All {
		if seen>>alg&1 == 0 {
			continue
		}
		for i, h := range hs {
			if d, ok := h.(*Digest); ok && d.alg == alg {
				b.write(d, chunks[i])
			}
		}
		b.update()
	}
}

// AppendSums does b = hs[i].Sum(b) for all i. Hashes of this module and of the same algorithm run side by side if they
// are neighbours.
func AppendSums(b []byte, hs []hash.Hash) []byte {
	var batch batch
	var zeros [core.MaxSize]byte
	for len(hs) > 0 {
		first, ok := hs[0].(*Digest)
		if !ok {
			b, hs = appendOtherSums(b, hs)
			continue
		}
		start := len(b)
		n := 0
		for n < min(len(hs), batchLen) {
			d, ok := hs[n].(*Digest)
			if !ok || d.alg != first.alg || d.begun != first.begun {
				break
			}
			batch.digests[n], batch.chunks[n] = d, d.bytes[:d.n]
			b = append(b, zeros[:d.alg.Size()]...)
			n++
		}
		if first.begun {
			batch.n = n
			batch.flush()
			core.PeekMany(batch.ctxs[:n], b[start:])
		} else {
			core.SumMany(first.alg, b[start:], batch.chunks[:n])
		}
		hs = hs[n:]
	}
	return b
}

// batch is running hashes of one algorithm and a chunk for each.
type batch struct {
	n       int
	digests [batchLen]*Digest
	ctxs    [batchLen]*core.Ctx
	chunks  [batchLen][]byte
}

// write writes chunk to d, now or when the batch is full.
func (b *batch) write(d *Digest, chunk []byte) {
	if d.waiting {
		b.update() // d gets its first chunk before its second
	}
	if d.gather(chunk) {
		return
	}
	if b.n == batchLen {
		b.update()
	}
	d.waiting = true
	b.digests[b.n], b.chunks[b.n] = d, chunk
	b.n++
}

// update advances the hashes by the bytes that they have gathered, then by their chunks.
func (b *batch) update() {
	b.flush()
	core.UpdateMany(b.ctxs[:b.n], b.chunks[:b.n])
	for _, d := range b.digests[:b.n] {
		d.waiting = false
	}
	b.n = 0
}

// flush brings the contexts up to date, and notes them.
func (b *batch) flush() {
	var gathered [batchLen][]byte
	n := 0
	for _, d := range b.digests[:b.n] {
		d.begin()
		if d.n > 0 {
			b.ctxs[n], gathered[n] = &d.ctx, d.bytes[:d.n]
			d.n = 0 // a hash may be here twice, in AppendSums
			n++
		}
	}
	core.UpdateMany(b.ctxs[:n], gathered[:n])
	for i, d := range b.digests[:b.n] {
		b.ctxs[i] = &d.ctx
	}
}

// AppendSumsFrom appends to b the digests of the message of ctx, followed by msgs[i].
func AppendSumsFrom(b []byte, ctx *core.Ctx, alg core.Alg, msgs [][]byte) []byte {
	nbytes := len(msgs) * alg.Size()
	b = slices.Grow(b, nbytes) // append(b, make...) would write zeros before the check
	digests := b[len(b):][:nbytes]
	CheckOverlap(digests, msgs)
	core.SumManyFrom(ctx, digests, msgs)
	return b[:len(b)+nbytes]
}
