// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/hashloom/hashloom/go/internal/digest"
	"github.com/hashloom/hashloom/go/internal/serve"
)

const (
	blocksMemory = 128 << 20
	groupLen     = 1 << 20   // bytes of short blocks that are hashed at once
	partLen      = 256 << 10 // a longer block is hashed in parts, between which the context is looked at
	groupBlocks  = 16        // long blocks that are hashed side by side: as many as the widest lanes
	leastBlocks  = 8         // below that, lanes gain more than further goroutines
)

// SumBlocks reads size bytes of r and returns the digests of its blocks of blockLen bytes each, of which the last may
// be shorter: the pieces of a torrent, the blocks of a scanner, the leaves of a hash tree. A negative size stands for
// all that r has. The result has an element for each newHash, such as sha1.New, with the digests of all blocks behind
// each other; it has no digests if there are no bytes. A newHash is called many times, by many goroutines at once, and
// what it returns may have been written to, such as a salt before each block.
//
// SumBlocks reads from the beginning to the end, as a hard disk likes it, on the goroutine that calls it, and hashes
// blocks side by side on up to GOMAXPROCS others. It holds at most memory bytes of blocks; 0 stands for 128 MiB. Lanes
// are full if memory has room for 16 blocks for each goroutine and for 16 more. If it has not room for two blocks, they
// are hashed one after another, in parts.
//
// An error names the offset; if r ends before size bytes, the error wraps [io.ErrUnexpectedEOF]. If ctx ends, the error
// is the cause of the context. With an error there are no digests. SumBlocks returns after the last Read has returned,
// and leaves no goroutine behind.
//
// It panics if blockLen is not positive, if memory is negative, or if there is no newHash or a nil one.
func SumBlocks(ctx context.Context, r io.Reader, size, blockLen int64, memory int,
	newHash ...func() hash.Hash) ([][]byte, error) {
	if blockLen <= 0 || memory < 0 {
		panic(fmt.Sprintf("hashloom: SumBlocks: blocks of %d bytes, %d bytes of memory", blockLen, memory))
	}
	if len(newHash) == 0 {
		panic("hashloom: SumBlocks: no newHash")
	}
	for _, each := range newHash {
		if each == nil {
			panic("hashloom: newHash is nil")
		}
		if each() == nil {
			return nil, errors.New("hashloom: newHash has returned nil")
		}
	}
	if r == nil {
		return nil, errors.New("hashloom: SumBlocks: the reader is nil")
	}
	s := &blockSummer{ctx: ctx, newHash: newHash, blockLen: blockLen}
	s.plan(size, int64(memory))
	return s.run(r, size)
}

// blockSummer is what the goroutines of a call have in common.
type blockSummer struct {
	ctx        context.Context
	newHash    []func() hash.Hash
	blockLen   int64
	groupLen   int64 // bytes that are read and hashed at once: whole blocks, or a part of one
	nbuffers   int64 // of groupLen
	nhashing   int   // goroutines
	inParts    bool
	unfinished []hash.Hash // a block in parts
}

// group is blocks that are hashed side by side, or a part of a block.
type group struct {
	data []byte
	ends bool     // if a part: its block
	sums [][]byte // for each newHash
}

// plan divides the memory among groups: one is read while the others are hashed.
func (s *blockSummer) plan(size, memory int64) {
	if memory == 0 {
		memory = blocksMemory
	}
	if s.blockLen > memory/2 {
		s.inParts, s.nhashing, s.nbuffers = true, 1, 2
		s.groupLen = max(min(memory/2, groupLen), 1)
		return
	}
	n, nCPUs := memory/s.blockLen, int64(runtime.GOMAXPROCS(0))
	share := n / (nCPUs + 1)
	if share < leastBlocks {
		share = min(leastBlocks, n/2)
	}
	share = min(share, max(groupBlocks, groupLen/s.blockLen))
	if size > 0 { // groups of the same length
		nblocks := (size-1)/s.blockLen + 1
		ngroups := (nblocks-1)/share + 1
		share = (nblocks-1)/ngroups + 1
	}
	s.groupLen = share * s.blockLen
	s.nbuffers = min(n/share, nCPUs+1)
	s.nhashing = int(s.nbuffers - 1)
}

// run returns the digests of the blocks of r.
func (s *blockSummer) run(r io.Reader, size int64) ([][]byte, error) {
	groups, nread, err := s.read(r, size)
	switch {
	case s.ctx.Err() != nil:
		return nil, context.Cause(s.ctx)
	case err == io.EOF && nread < size:
		return nil, fmt.Errorf("hashloom: SumBlocks: the reader has ended at byte %d of %d: %w", nread, size,
			io.ErrUnexpectedEOF)
	case err != nil && err != io.EOF && nread != size:
		return nil, fmt.Errorf("hashloom: SumBlocks: at byte %d: %w", nread, err)
	}
	if s.unfinished != nil {
		s.finish(groups[len(groups)-1])
	}
	sums := make([][]byte, len(s.newHash))
	for i := range sums {
		for _, g := range groups {
			if g.sums != nil {
				sums[i] = append(sums[i], g.sums[i]...)
			}
		}
	}
	return sums, nil
}

// blockBuffers is the memory of calls before: memory that is touched for the first time takes as long as to hash it.
var blockBuffers sync.Pool

func newBuffer(length int64) []byte {
	if last, _ := blockBuffers.Get().(*[]byte); last != nil && int64(cap(*last)) >= length {
		return *last
	}
	return make([]byte, length)
}

// read reads groups, which other goroutines hash.
func (s *blockSummer) read(r io.Reader, size int64) (groups []*group, nread int64, err error) {
	work, free := make(chan *group, s.nbuffers), make(chan []byte, s.nbuffers)
	var workers sync.WaitGroup
	defer func() {
		close(work)
		workers.Wait()
		for len(free) > 0 {
			buffer := <-free
			blockBuffers.Put(&buffer)
		}
	}()
	for err == nil && nread != size {
		length := s.groupLen
		if s.inParts {
			length = min(length, s.blockLen-nread%s.blockLen)
		}
		if size >= 0 {
			length = min(length, size-nread)
		}
		var buffer []byte
		if int64(len(groups)) >= s.nbuffers {
			buffer = <-free
		}
		if int64(cap(buffer)) < length {
			buffer = newBuffer(length)
		}
		var n int
		n, err = serve.ReadFull(s.ctx, r, buffer[:length])
		if n == 0 {
			break
		}
		nread += int64(n)
		g := &group{data: buffer[:n], ends: nread%s.blockLen == 0}
		groups = append(groups, g)
		if len(groups) == 1 && (nread == size || err != nil) { // the only one
			s.sum(g)
			free <- g.data
			break
		}
		if len(groups) <= s.nhashing {
			workers.Go(func() {
				for g := range work {
					s.sum(g)
					free <- g.data
					g.data = nil
				}
			})
		}
		work <- g
	}
	return groups, nread, err
}

// sum hashes a group, or a part of it if the context has ended.
func (s *blockSummer) sum(g *group) {
	if !s.inParts {
		for _, newHash := range s.newHash {
			g.sums = append(g.sums, s.sumBlocks(newHash, g.data))
		}
		return
	}
	if s.unfinished == nil {
		for _, newHash := range s.newHash {
			s.unfinished = append(s.unfinished, newHash())
		}
	}
	for _, h := range s.unfinished {
		h.Write(g.data)
	}
	if g.ends {
		s.finish(g)
	}
}

func (s *blockSummer) finish(g *group) {
	for _, h := range s.unfinished {
		g.sums = append(g.sums, h.Sum(nil))
	}
	s.unfinished = nil
}

// sumBlocks returns the digests of the blocks of data.
func (s *blockSummer) sumBlocks(newHash func() hash.Hash, data []byte) (sums []byte) {
	blockLen := int(s.blockLen)
	if h := newHash(); blockLen <= partLen {
		var room [64][]byte
		for known := true; len(data) > (leastBlocks-1)*blockLen && s.ctx.Err() == nil; {
			blocks := slices.AppendSeq(room[:0], slices.Chunk(data[:min(len(room)*blockLen, len(data))], blockLen))
			if sums, known = digest.AppendSumsFrom(sums, h, blocks); !known {
				break
			}
			data = data[min(len(room)*blockLen, len(data)):]
		}
	}
	blocks := slices.Collect(slices.Chunk(data, blockLen))
	hs, parts := make([]hash.Hash, len(blocks)), make([][]byte, len(blocks))
	for i := range hs {
		hs[i] = newHash()
	}
	for start := 0; start < blockLen && s.ctx.Err() == nil; start += partLen {
		for i, block := range blocks {
			parts[i] = block[min(start, len(block)):min(start+partLen, len(block))]
		}
		digest.WriteMany(hs, parts)
	}
	return digest.AppendSums(sums, hs)
}
