// SPDX-License-Identifier: MIT OR Apache-2.0

package digest

import (
	"crypto/sha3"
	"hash"
	"sync"

	"github.com/hashloom/hashloom/go/internal/core"
)

// The running hashes of SHA-3 are those of crypto/sha3, which are as fast as the core's at one message. Their states
// move to the core and back, which takes less than a tenth of the time of a block.

// standardLen is the number of running hashes that the core gets at once: a few times its lanes.
const standardLen = 64

// standardAlgs has the algorithms of crypto/sha3 by their digest sizes.
var standardAlgs = func() (algs [core.MaxSize + 1]core.Alg) {
	for _, alg := range core.All {
		if h, ok := core.NewHash(alg).(*sha3.SHA3); ok {
			algs[h.Size()] = alg
		}
	}
	return algs
}()

// standardAlg returns the algorithm of a hash of crypto/sha3 that the core can advance, or 0.
func standardAlg(h hash.Hash) core.Alg {
	if h, ok := h.(*sha3.SHA3); ok && core.Enabled {
		return standardAlgs[h.Size()]
	}
	return 0
}

// standardBatch is running hashes of crypto/sha3 of one algorithm, their states for the core, and a chunk for each.
type standardBatch struct {
	alg    core.Alg
	n      int
	hashes [standardLen]*sha3.SHA3
	states [standardLen]core.Ctx
	ctxs   [standardLen]*core.Ctx
	chunks [standardLen][]byte
}

var standardBatches = sync.Pool{New: func() any { return new(standardBatch) }}

func newStandardBatch(alg core.Alg) *standardBatch {
	b := standardBatches.Get().(*standardBatch)
	b.alg = alg
	return b
}

// free gives an empty batch back, which keeps no memory of others alive.
func (b *standardBatch) free() {
	b.n = 0
	clear(b.hashes[:])
	clear(b.chunks[:])
	standardBatches.Put(b)
}

// take takes the state of h; it reports whether it could.
func (b *standardBatch) take(h *sha3.SHA3) bool {
	var room [core.MaxStateSize]byte
	state, err := h.AppendBinary(room[:0])
	if err != nil || core.SetState(&b.states[b.n], b.alg, state) != nil {
		return false // a state that no message leads to
	}
	b.hashes[b.n], b.ctxs[b.n] = h, &b.states[b.n]
	b.n++
	return true
}

// update advances the hashes by their chunks.
func (b *standardBatch) update() {
	core.UpdateMany(b.ctxs[:b.n], b.chunks[:b.n])
	var room [core.MaxStateSize]byte
	for i, h := range b.hashes[:b.n] {
		if err := h.UnmarshalBinary(core.AppendState(b.ctxs[i], b.alg, room[:0])); err != nil {
			panic(err)
		}
	}
	b.n = 0
}

// writeStandard is [WriteMany] for the hashes of crypto/sha3 whose algorithms are in the bits of seen.
func writeStandard(hs []hash.Hash, chunks [][]byte, seen uint) {
	for _, alg := range core.All {
		if seen>>alg&1 == 0 {
			continue
		}
		b := newStandardBatch(alg)
		for i, h := range hs {
			if standardAlg(h) == alg {
				b.write(h.(*sha3.SHA3), chunks[i])
			}
		}
		b.update()
		b.free()
	}
}

// write writes chunk to h, now or when the batch is full.
func (b *standardBatch) write(h *sha3.SHA3, chunk []byte) {
	for _, other := range b.hashes[:b.n] {
		if h == other {
			b.update() // h gets its first chunk before its second
			break
		}
	}
	if len(chunk) < h.BlockSize() { // a block at most
		h.Write(chunk)
		return
	}
	if b.n == standardLen {
		b.update()
	}
	b.chunks[b.n] = chunk
	if !b.take(h) {
		h.Write(chunk)
	}
}

// appendOtherSums is [AppendSums] for the first hash, which is no Digest, or for a few of crypto/sha3. It returns the
// hashes that are left.
func appendOtherSums(sums []byte, hs []hash.Hash) ([]byte, []hash.Hash) {
	alg := standardAlg(hs[0])
	if alg == 0 || len(hs) == 1 || standardAlg(hs[1]) != alg {
		return hs[0].Sum(sums), hs[1:]
	}
	b := newStandardBatch(alg)
	defer b.free()
	for b.n < min(len(hs), standardLen) && standardAlg(hs[b.n]) == alg && b.take(hs[b.n].(*sha3.SHA3)) {
	}
	if b.n == 0 {
		return hs[0].Sum(sums), hs[1:]
	}
	start, size := len(sums), alg.Size()
	var zeros [core.MaxSize]byte
	for range b.n {
		sums = append(sums, zeros[:size]...)
	}
	core.PeekMany(b.ctxs[:b.n], sums[start:])
	return sums, hs[b.n:]
}
