// SPDX-License-Identifier: MIT OR Apache-2.0

package serve

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// ErrClosed is the error of a Write after Close.
var ErrClosed = errors.New("hashloom: Write: the server is closed")

// Server is what hashes have in common. The zero value is ready, and has no context.
type Server struct {
	Context  context.Context
	isClosed atomic.Bool
	queue    queue
	sums     [core.NAlgs]sync.Pool // of *Hash, for AppendSum
}

// SetCPUs sets how many goroutines hash at once, at most, or GOMAXPROCS for 0.
func (s *Server) SetCPUs(n int) {
	s.queue.mu.Lock()
	s.queue.most, s.queue.roundEnd = n, time.Time{}
	s.queue.mu.Unlock()
}

// Batches returns the number of batches, and of chunks in them.
func (s *Server) Batches() (nbatches, nchunks int) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	return s.queue.nbatches, s.queue.njobs
}

// Close makes later calls of Write fail. Calls that have begun end as always.
func (s *Server) Close() { s.isClosed.Store(true) }

func (s *Server) check() error {
	if s.isClosed.Load() {
		return ErrClosed
	}
	if s.Context != nil && s.Context.Err() != nil {
		return fmt.Errorf("hashloom: Write: the context of the server has ended: %w", context.Cause(s.Context))
	}
	return nil
}

// Hash writes to one hash or to several at once, in lanes beside the other hashes of the server.
type Hash struct {
	server *Server
	mu     sync.Mutex  // held by each call
	hashes []hash.Hash // all of them, in order
	others []hash.Hash // those that have no lanes
	job    job         // with those that have
	err    error       // of the Write that failed

	isCopied bool   // bytes that are perhaps not hashed yet
	room     []byte // for a state
}

// NewHash takes hashes over.
func (s *Server) NewHash(hashes []hash.Hash) *Hash {
	h := &Hash{server: s, job: job{wake: make(chan struct{}, 1)}}
	for i, each := range hashes {
		if each == nil {
			panic(fmt.Sprintf("hashloom: NewHash: hash %d of %d is nil", i+1, len(hashes)))
		}
	}
	h.set(hashes)
	return h
}

func (h *Hash) set(hashes []hash.Hash) {
	h.hashes, h.others, h.job.hashes = slices.Clone(hashes), nil, nil
	for _, each := range hashes {
		// A state that no message leads to may panic: on the goroutine of its own writer.
		if digest.HasLanes(each) {
			h.job.hashes = append(h.job.hashes, each)
		} else {
			h.others = append(h.others, each)
		}
	}
}

// Write returns when p has been hashed or copied. After an error nothing of p has been.
func (h *Hash) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil {
		return 0, h.err
	}
	if h.err = h.server.check(); h.err != nil {
		return 0, h.err
	}
	for _, other := range h.others {
		other.Write(p)
	}
	if len(h.job.hashes) > 0 && len(p) >= leastLen {
		h.isCopied = h.server.queue.do(&h.job, p)
		return len(p), nil
	}
	rest := p
	if h.isCopied {
		rest = h.server.queue.append(&h.job, p)
	}
	for len(rest) > 0 {
		rest = rest[h.job.writePiece(rest):]
	}
	return len(p), nil
}

// AppendSum appends the digest of what has been written to h, followed by data.
func (s *Server) AppendSum(b []byte, h hash.Hash, data []byte) ([]byte, error) {
	var alg core.Alg // or none
	if digest.HasLanes(h) {
		alg = digest.AlgOf(h)
	}
	one, _ := s.sums[alg].Get().(*Hash)
	if one == nil {
		clones, err := cloneAll("AppendSum", []hash.Hash{h})
		if err != nil {
			return b, err
		}
		one = s.NewHash(clones)
		one.job.isWhole = true
	} else {
		var err error
		if one.room, err = h.(core.State).AppendBinary(one.room[:0]); err != nil {
			return b, err
		}
		if err = one.hashes[0].(core.State).UnmarshalBinary(one.room); err != nil {
			return b, err
		}
	}
	_, err := one.Write(data)
	if err == nil {
		b = one.Sum(b)
	}
	if alg != 0 {
		one.err = nil
		s.sums[alg].Put(one)
	}
	return b, err
}

// finish locks h, and returns when all bytes are hashed.
func (h *Hash) finish() {
	h.mu.Lock()
	if h.isCopied || h.job.open > 0 {
		h.server.queue.finish(&h.job)
		h.isCopied = false
	}
}

const bufferLen = 64 << 10

// Buffer is room for what is read, or for copies.
type Buffer [bufferLen]byte

var buffers = sync.Pool{New: func() any { return new(Buffer) }}

// TakeBuffer returns a buffer that nobody uses.
func TakeBuffer() *Buffer { return buffers.Get().(*Buffer) }

// Free ends the use of a buffer.
func (b *Buffer) Free() { buffers.Put(b) }

// ReadFrom writes what r has until its end.
func (h *Hash) ReadFrom(r io.Reader) (int64, error) { return h.ReadAll(context.Background(), r) }

// ReadAll is ReadFrom that looks before each read whether ctx has ended.
func (h *Hash) ReadAll(ctx context.Context, r io.Reader) (total int64, err error) {
	buffer := TakeBuffer()
	defer buffer.Free()
	for err == nil {
		var n int
		n, err = ReadFull(ctx, r, buffer[:])
		if _, failed := h.Write(buffer[:n]); failed != nil {
			return total, failed
		}
		total += int64(n)
	}
	if err == io.EOF {
		err = nil
	}
	return total, err
}

// ReadFull reads until buffer is full, the end or another error, of which it returns the bytes before it. It looks
// before each read, of at most 1 MiB, whether ctx has ended.
func ReadFull(ctx context.Context, r io.Reader, buffer []byte) (n int, err error) {
	for nempty := 0; n < len(buffer) && err == nil; {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		room := buffer[n:min(n+1<<20, len(buffer))]
		var nread int
		nread, err = r.Read(room)
		if nread < 0 || nread > len(room) {
			return n, fmt.Errorf("hashloom: %T.Read returned %d for a buffer of %d bytes", r, nread, len(room))
		}
		n += nread
		if nread > 0 {
			nempty = 0
		} else if nempty++; nempty == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// Sum appends the digests of all hashes, or nothing after a Write that failed. It panics if a hash does not append Size
// bytes.
func (h *Hash) Sum(b []byte) []byte {
	h.finish()
	defer h.mu.Unlock()
	if h.err == nil {
		for i, each := range h.hashes {
			before := len(b)
			if b = each.Sum(b); len(b) != before+each.Size() {
				panic(fmt.Sprintf("hashloom: Sum: hash %d of %d, a %T: its Sum does not append Size bytes", i+1, len(h.hashes),
					each))
			}
		}
	}
	return b
}

// AllHaveLanes reports whether AppendSums may be called.
func (h *Hash) AllHaveLanes() bool { return len(h.others) == 0 }

// AppendSums returns, behind each other, what Sum would append after a Write of each message. The state does not
// change.
func (h *Hash) AppendSums(msgs [][]byte) (sums []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.server.check(); err != nil {
		return nil, err
	}
	parts := make([][]byte, len(h.hashes)) // of each hash, the digests of all messages
	for i, each := range h.hashes {
		parts[i], _ = digest.AppendSumsFrom(nil, each, msgs)
	}
	for m := range msgs {
		for i, each := range h.hashes {
			sums = append(sums, parts[i][m*each.Size():(m+1)*each.Size()]...)
		}
	}
	return sums, nil
}

// Reset begins a new message. The error of a Write that failed is forgotten.
func (h *Hash) Reset() {
	h.finish()
	defer h.mu.Unlock()
	for _, each := range h.hashes {
		each.Reset()
	}
	h.err = nil
}

// Size returns the bytes that Sum appends.
func (h *Hash) Size() int {
	size := 0
	for _, each := range h.all() {
		size += each.Size()
	}
	return size
}

// BlockSize returns the longest block.
func (h *Hash) BlockSize() int {
	size := 0
	for _, each := range h.all() {
		size = max(size, each.BlockSize())
	}
	return size
}

// all returns the hashes, which UnmarshalBinary replaces.
func (h *Hash) all() []hash.Hash {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.hashes
}

// Clone returns an independent copy, of the same server.
func (h *Hash) Clone() (hash.Cloner, error) {
	h.finish()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, h.err
	}
	clones, err := cloneAll("Clone", h.hashes)
	if err != nil {
		return nil, err
	}
	return h.server.NewHash(clones), nil
}

func cloneAll(call string, hashes []hash.Hash) ([]hash.Hash, error) {
	clones := make([]hash.Hash, len(hashes))
	for i, h := range hashes {
		cloner, ok := h.(hash.Cloner)
		if !ok {
			return nil, fmt.Errorf("hashloom: %s: %T is not a hash.Cloner: %w", call, h, errors.ErrUnsupported)
		}
		clone, err := cloner.Clone()
		if err != nil {
			return nil, err
		}
		clones[i] = clone
	}
	return clones, nil
}

// MarshalBinary returns the states of the hashes behind each other.
func (h *Hash) MarshalBinary() ([]byte, error) { return h.AppendBinary(nil) }

// AppendBinary appends the states of the hashes.
func (h *Hash) AppendBinary(b []byte) ([]byte, error) {
	h.finish()
	defer h.mu.Unlock()
	if h.err != nil {
		return nil, h.err
	}
	for _, each := range h.hashes {
		appender, ok := each.(encoding.BinaryAppender)
		if !ok {
			return nil, fmt.Errorf("hashloom: AppendBinary: %T is not an encoding.BinaryAppender: %w", each,
				errors.ErrUnsupported)
		}
		var err error
		if b, err = appender.AppendBinary(b); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// UnmarshalBinary accepts what MarshalBinary of a hash over the same algorithms returned. After an error nothing has
// changed.
func (h *Hash) UnmarshalBinary(b []byte) error {
	h.finish()
	defer h.mu.Unlock()
	hashes, err := cloneAll("Clone", h.hashes)
	if err != nil {
		return err
	}
	for _, each := range hashes {
		appender, _ := each.(encoding.BinaryAppender)
		state, ok := each.(encoding.BinaryUnmarshaler)
		if appender == nil || !ok {
			return fmt.Errorf("hashloom: UnmarshalBinary: %T has no states: %w", each, errors.ErrUnsupported)
		}
		now, err := appender.AppendBinary(nil) // as long as any of its states
		if err != nil {
			return err
		}
		n := min(len(now), len(b))
		if err := state.UnmarshalBinary(b[:n]); err != nil {
			return err
		}
		b = b[n:]
	}
	if len(b) > 0 {
		return fmt.Errorf("hashloom: UnmarshalBinary: %d bytes behind the states of %d hashes", len(b), len(hashes))
	}
	h.set(hashes)
	h.err = nil
	return nil
}
