// SPDX-License-Identifier: MIT OR Apache-2.0

package digest

import (
	"encoding"
	"hash"
	"reflect"
	"slices"
	"sync"
	"unsafe"

	"github.com/hashloom/hashloom/go/internal/core"
)

// A running hash of MD5, SHA-1, SHA-2 or SHA-3 is the standard library's own object. The calls for many hashes move
// states to the core and back (AppendBinary, UnmarshalBinary). That takes as long as the standard library needs for
// some 100 bytes, so that short chunks, few messages, and most digests are left to the hashes themselves.

// batchLen is the number of running hashes that the core gets at once: a few times its lanes.
const batchLen = 64

// These are limits from which on the core gained on all CPUs that were measured: Zen 4 with AVX-512, and restricted to
// AVX2 and SHA instructions, to AVX2, and to SSE2 (2026-11-24).
const (
	minChunk = 512  // bytes that a hash of the standard library gets a lane for
	minTwo   = 8192 // bytes in both chunks that two hashes alone get lanes for
	minThree = 3072 // likewise of three
	minSums  = 4    // digests
)

// gains says how many messages that continue a hash go to the core, by block functions, and whether digests do.
type gains struct {
	from int
	sums bool
}

var gainsOf = map[string]gains{
	"md5": {4, false}, "sha1": {8, false}, "sha256": {8, false}, "sha512": {3, true}, "keccak": {0, true},
}

// kind is a type of running hash of the standard library, with its algorithms by their digest sizes.
type kind struct {
	hash reflect.Type
	algs [core.MaxSize + 1]core.Alg
	gains
}

// kinds is made when a call needs it: a program that makes none has no hash but those that it asks for.
var kinds struct {
	once sync.Once
	all  []kind
}

func allKinds() {
	var all []kind
	for _, alg := range core.All {
		// In FIPS 140 modes crypto/md5 and crypto/sha1 alone decide what happens to their hashes.
		if info := alg.Info(); alg.IsStandard() && !info.IsXOF {
			h := core.NewHash(alg)
			i := slices.IndexFunc(all, func(k kind) bool { return k.hash == reflect.TypeOf(h) })
			if i < 0 {
				i = len(all)
				all = append(all, kind{hash: reflect.TypeOf(h), gains: gainsOf[info.Body]})
			}
			all[i].algs[h.Size()] = alg
		}
	}
	kinds.all = all
}

// kindOf returns the kind of h, or nil.
func kindOf(h hash.Hash) *kind {
	t := reflect.TypeOf(h)
	kinds.once.Do(allKinds)
	for i := range kinds.all {
		if kinds.all[i].hash == t {
			return &kinds.all[i]
		}
	}
	return nil
}

// algOf returns the algorithm of h, a hash of this module or of the standard library. For any other hash it returns 0.
func algOf(h hash.Hash) core.Alg {
	if d, ok := h.(*Digest); ok {
		return d.alg
	}
	if k := kindOf(h); k != nil {
		return k.algs[h.Size()]
	}
	return 0
}

// laneFor returns the algorithm of h if a lane may hash the chunk faster than h.Write, or else 0.
func laneFor(h hash.Hash, chunk []byte) core.Alg {
	if d, ok := h.(*Digest); ok {
		if d.ctx.Holds(len(chunk)) {
			return 0
		}
		return d.alg
	}
	if len(chunk) < minChunk {
		return 0
	}
	return algOf(h)
}

// WriteMany does hs[i].Write(chunks[i]) for all i, as if one after another. Hashes of the same algorithm run side by
// side.
func WriteMany(hs []hash.Hash, chunks [][]byte) {
	if len(hs) == 1 {
		hs[0].Write(chunks[0])
		return
	}
	var b *batch
	for i := 0; i < len(hs); {
		h, chunk := hs[i], chunks[i]
		if !core.Enabled() || isShort(h, chunk) || areFew(chunks[i:]) || laneFor(h, chunk) == 0 {
			h.Write(chunk)
			i++
			continue
		}
		if b == nil {
			b = newBatch()
		}
		i += b.write(hs[i:], chunks[i:])
	}
	if b != nil {
		b.free()
	}
}

// isShort reports whether chunk is too short for a lane, where no more is to be known of h. The compiler inlines it.
func isShort(h hash.Hash, chunk []byte) bool {
	if len(chunk) >= minChunk {
		return false
	}
	_, ok := h.(*Digest)
	return !ok
}

// areFew reports whether these chunks, the last of a call, are too few for lanes.
func areFew(chunks [][]byte) bool {
	switch len(chunks) {
	case 1:
		return true
	case 2:
		return len(chunks[0])+len(chunks[1]) < minTwo
	case 3:
		return len(chunks[0])+len(chunks[1])+len(chunks[2]) < minThree
	}
	return false
}

// AppendSums does sums = hs[i].Sum(sums) for all i. Hashes of the same algorithm run side by side if they are
// neighbours.
func AppendSums(sums []byte, hs []hash.Hash) []byte {
	for len(hs) >= minSums {
		alg, n := neighbours(hs)
		if alg == 0 {
			for _, h := range hs[:n] {
				sums = h.Sum(sums)
			}
			hs = hs[n:]
			continue
		}
		b := newBatch()
		b.alg = core.Use(alg)
		for b.n < n && b.take(hs[b.n]) {
		}
		if b.n == 0 {
			sums = hs[0].Sum(sums)
			b.free()
			hs = hs[1:]
			continue
		}
		nbytes := b.n * alg.Size()
		sums = slices.Grow(sums, nbytes)
		core.PeekMany(b.ctxs[:b.n], sums[len(sums):][:nbytes])
		sums, hs = sums[:len(sums)+nbytes], hs[b.n:]
		b.free()
	}
	for _, h := range hs {
		sums = h.Sum(sums)
	}
	return sums
}

// neighbours returns the number of hashes at the beginning of hs that have one algorithm, at most batchLen, and that
// algorithm; or 0 and the number of hashes that had better be asked for their digests.
func neighbours(hs []hash.Hash) (alg core.Alg, n int) {
	if _, ok := hs[0].(*Digest); !ok || !core.Enabled() {
		t := reflect.TypeOf(hs[0])
		if k := kindOf(hs[0]); k == nil || !k.sums || !core.Enabled() {
			for n = 1; n < len(hs) && reflect.TypeOf(hs[n]) == t; n++ {
			}
			return 0, n
		}
	}
	alg = algOf(hs[0])
	for n = 1; n < min(len(hs), batchLen) && algOf(hs[n]) == alg; n++ {
	}
	if n < minSums {
		return 0, n
	}
	return alg, n
}

// batch is different running hashes of one algorithm, their contexts, and a chunk for each.
type batch struct {
	alg    core.Alg
	n      int
	hashes [batchLen]core.State // nil: the hash is a Digest
	ctxs   [batchLen]*core.Ctx
	chunks [batchLen][]byte

	// The contexts of the hashes that are not Digests, and a marshaled state. Both are on the heap with the batch, as
	// what a method of an interface gets would be.
	states [batchLen]core.Ctx
	room   [core.MaxStateSize]byte
}

var batches = sync.Pool{New: func() any { return new(batch) }}

func newBatch() *batch { return batches.Get().(*batch) }

// free gives the batch back, which keeps no memory of others alive.
func (b *batch) free() {
	b.forget()
	batches.Put(b)
}

func (b *batch) forget() {
	clear(b.hashes[:b.n])
	clear(b.ctxs[:b.n])
	clear(b.chunks[:b.n])
	b.n = 0
}

// take takes h and its context; it reports whether it could: the core refuses states that no message leads to.
func (b *batch) take(h hash.Hash) bool {
	if d, ok := h.(*Digest); ok {
		b.ctxs[b.n] = &d.ctx
	} else {
		standard, ctx := h.(core.State), &b.states[b.n]
		state, err := standard.AppendBinary(b.room[:0])
		if err != nil || core.SetState(ctx, b.alg, state) != nil {
			return false
		}
		b.hashes[b.n], b.ctxs[b.n] = standard, ctx
	}
	b.n++
	return true
}

// write writes the first chunks to their hashes, as many as the batch can take and are of different hashes, and returns
// their number.
func (b *batch) write(hs []hash.Hash, chunks [][]byte) int {
	var algs [batchLen]core.Alg
	var count, nbytes [core.NAlgs]int
	n := differing(hs)
	for i, h := range hs[:n] {
		alg := laneFor(h, chunks[i])
		algs[i] = alg
		count[alg]++
		nbytes[alg] += len(chunks[i])
	}
	var lanes uint // algorithms, as bits
	for _, alg := range core.All {
		if n := count[alg]; n > 3 || n == 3 && nbytes[alg] >= minThree || n == 2 && nbytes[alg] >= minTwo {
			lanes |= 1 << alg
		}
	}
	for i, h := range hs[:n] {
		if lanes>>algs[i]&1 == 0 {
			h.Write(chunks[i])
		}
	}
	for _, alg := range core.All {
		if lanes>>alg&1 == 0 {
			continue
		}
		b.alg = core.Use(alg)
		for i, h := range hs[:n] {
			if algs[i] != alg {
				continue
			}
			if b.take(h) {
				b.chunks[b.n-1] = chunks[i]
			} else {
				h.Write(chunks[i])
			}
		}
		b.update()
	}
	return n
}

// differing returns the number of hashes at the beginning of hs that are different, at most batchLen.
func differing(hs []hash.Hash) int {
	var seen [4]uint64 // a bit for each hash, which others may have too
	n := 0
	for ; n < min(len(hs), batchLen); n++ {
		address := addressOf(&hs[n])
		place := address * 0x9e3779b97f4a7c15 >> 56 // the golden ratio spreads addresses evenly
		word, bit := &seen[place/64], uint64(1)<<(place%64)
		if *word&bit != 0 && isAmong(hs[:n], address) {
			break
		}
		*word |= bit
	}
	return n
}

// addressOf returns the address of a hash. An interface is two words: the table of a type, and the address of a value.
func addressOf(h *hash.Hash) uint64 { return uint64((*[2]uintptr)(unsafe.Pointer(h))[1]) }

func isAmong(hs []hash.Hash, address uint64) bool {
	for i := range hs {
		if addressOf(&hs[i]) == address {
			return true
		}
	}
	return false
}

// update advances the hashes by their chunks.
func (b *batch) update() {
	core.UpdateMany(b.ctxs[:b.n], b.chunks[:b.n])
	for i, standard := range b.hashes[:b.n] {
		if standard == nil {
			continue
		}
		if err := standard.UnmarshalBinary(core.AppendState(b.ctxs[i], b.alg, b.room[:0])); err != nil {
			panic(err)
		}
	}
	b.forget()
}

// begin takes one hash: of this module, of the standard library, or of a package with the same marshaled states. It
// returns the algorithm, or 0 for any other hash.
func (b *batch) begin(h hash.Hash) core.Alg {
	if b.alg = algOf(h); b.alg != 0 {
		if b.take(h) {
			return core.Use(b.alg)
		}
		return 0
	}
	appender, ok := h.(encoding.BinaryAppender)
	if !ok {
		return 0
	}
	state, err := appender.AppendBinary(nil)
	if err != nil {
		return 0
	}
	for _, alg := range core.All {
		if core.SetState(&b.states[0], alg, state) == nil {
			b.alg, b.ctxs[0], b.n = alg, &b.states[0], 1
			return core.Use(alg)
		}
	}
	return 0
}

// AlgOf returns the algorithm of h, a hash of this module or of the standard library. For any other hash it returns 0.
func AlgOf(h hash.Hash) core.Alg {
	if alg := algOf(h); alg != 0 {
		return alg
	}
	b := newBatch()
	defer b.free()
	return b.begin(h)
}

// HasLanes reports whether WriteMany can put h into lanes, in the state in which it is.
func HasLanes(h hash.Hash) bool {
	if !core.Enabled() || algOf(h) == 0 {
		return false
	}
	b := newBatch()
	defer b.free()
	return b.begin(h) != 0
}

// AppendSumsFrom appends to sums the digests of the message of h, followed by msgs[i]. It reports whether h is a hash
// of this module or of the standard library.
func AppendSumsFrom(sums []byte, h hash.Hash, msgs [][]byte) ([]byte, bool) {
	k := kindOf(h)
	if k == nil || len(msgs) >= k.from {
		b := newBatch()
		defer b.free()
		if alg := b.begin(h); alg != 0 {
			sums, digests := Grow(sums, len(msgs)*alg.Size(), msgs)
			core.SumManyFrom(b.ctxs[0], digests, msgs)
			return sums[:len(sums)+len(digests)], true
		}
		if k == nil {
			return sums, false
		}
	}
	sums, _ = Grow(sums, len(msgs)*h.Size(), msgs)
	for _, msg := range msgs {
		c := clone(h)
		c.Write(msg)
		sums = c.Sum(sums)
	}
	return sums, true
}

func clone(h hash.Hash) hash.Hash {
	c, err := h.(hash.Cloner).Clone()
	if err != nil {
		panic(err)
	}
	return c
}

// AppendSumsParts is AppendSumsFrom for messages in parts.
func AppendSumsParts(sums []byte, h hash.Hash, msgs [][][]byte) ([]byte, bool) {
	sums, digests := Grow(sums, len(msgs)*h.Size(), nil)
	for _, parts := range msgs {
		CheckOverlap(digests, parts)
	}
	k := kindOf(h)
	if k == nil || len(msgs) >= k.from {
		b := newBatch()
		defer b.free()
		if b.begin(h) != 0 {
			b.sumParts(digests, msgs)
			return sums[:len(sums)+len(digests)], true
		}
		if k == nil {
			return sums, false
		}
	}
	for _, parts := range msgs {
		c := clone(h)
		for _, part := range parts {
			c.Write(part)
		}
		sums = c.Sum(sums)
	}
	return sums, true
}

// sumParts writes the digests of messages that continue the one that the batch has taken.
func (b *batch) sumParts(digests []byte, msgs [][][]byte) {
	var begun core.Ctx
	core.Copy(&begun, b.ctxs[0])
	for len(msgs) > 0 {
		b.forget()
		now := msgs[:min(len(msgs), batchLen)]
		msgs = msgs[len(now):]
		nparts := 0
		for i, parts := range now {
			core.Copy(&b.states[i], &begun)
			b.ctxs[i] = &b.states[i]
			nparts = max(nparts, len(parts))
		}
		b.n = len(now)
		for j := range nparts {
			for i, parts := range now {
				b.chunks[i] = nil
				if j < len(parts) {
					b.chunks[i] = parts[j]
				}
			}
			core.UpdateMany(b.ctxs[:b.n], b.chunks[:b.n])
		}
		nbytes := len(now) * b.alg.Size()
		core.PeekMany(b.ctxs[:b.n], digests[:nbytes])
		digests = digests[nbytes:]
	}
}

// Grow returns sums with spare capacity for nbytes of digests, and these. It panics if they overlap a message.
func Grow(sums []byte, nbytes int, msgs [][]byte) (grown, digests []byte) {
	grown = slices.Grow(sums, nbytes) // append(sums, make...) would write zeros before the check
	digests = grown[len(grown):][:nbytes]
	CheckOverlap(digests, msgs)
	return grown, digests
}
