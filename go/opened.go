// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom

import (
	"context"
	"errors"
	"hash"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/hashloom/hashloom/go/internal/serve"
)

// mostTogether is the number of short contents that are hashed together: as many as the widest lanes.
const mostTogether = 16

// SumOpened reads n contents, such as the files of an [io/fs.FS], the objects of a store or the members of an archive,
// and returns for each a digest or an error; without any error, errs is nil. open returns content i, which SumOpened
// closes; it is called once for each, by at most 16 goroutines for each of GOMAXPROCS at once. Contents of up to 64 KiB
// are kept until there are 16, and are hashed side by side; longer ones are read as by [Server.SumReaders].
//
// newHash is called by many goroutines at once, once for each long content and for each 16 short ones: sha256.New, or
// for several algorithms a function that returns a hash of [Server.NewHash].
//
// If ctx ends, its cause is the error of each content that has no digest yet. SumOpened leaves no goroutine behind.
func (s *Server) SumOpened(ctx context.Context, newHash func() hash.Hash, n int,
	open func(i int) (io.ReadCloser, error)) (sums [][]byte, errs []error) {
	if newHash == nil {
		panic("hashloom: newHash is nil")
	}
	all := &opened{server: s, ctx: ctx, newHash: newHash, sums: make([][]byte, n), errs: make([]error, n)}
	var next atomic.Int64
	var group sync.WaitGroup
	for range min(n, mostTogether*runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				all.sum(i, open)
			}
		})
	}
	group.Wait()
	all.sumTogether(all.short)
	for _, err := range all.errs {
		if err != nil {
			return all.sums, all.errs
		}
	}
	return all.sums, nil
}

// opened is a call of SumOpened.
type opened struct {
	server  *Server
	ctx     context.Context
	newHash func() hash.Hash
	sums    [][]byte
	errs    []error

	mu    sync.Mutex
	short []content // that wait for others
}

// content is a whole one.
type content struct {
	i      int
	bytes  []byte
	buffer *serve.Buffer
}

func (o *opened) sum(i int, open func(i int) (io.ReadCloser, error)) {
	if o.ctx.Err() != nil {
		o.errs[i] = context.Cause(o.ctx)
		return
	}
	file, err := open(i)
	if err != nil || file == nil {
		o.errs[i] = errors.Join(err)
		if err == nil {
			o.errs[i] = errors.New("hashloom: SumOpened: open has returned nil")
		}
		return
	}
	defer file.Close()
	buffer := serve.TakeBuffer()
	nread, err := serve.ReadFull(o.ctx, file, buffer[:])
	if err == io.EOF {
		o.keep(content{i, buffer[:nread], buffer})
		return
	}
	defer buffer.Free()
	if err == nil {
		var h *serve.Hash
		if h, err = o.server.hashOf(o.newHash); err == nil {
			if _, err = h.Write(buffer[:]); err == nil {
				_, err = h.ReadAll(o.ctx, file)
			}
			if err == nil {
				o.sums[i] = h.Sum(nil)
			}
		}
	}
	o.errs[i] = err
}

// keep hashes a content beside those that wait, if there are enough.
func (o *opened) keep(one content) {
	o.mu.Lock()
	o.short = append(o.short, one)
	var together []content
	if len(o.short) == mostTogether {
		together, o.short = o.short, nil
	}
	o.mu.Unlock()
	o.sumTogether(together)
}

// sumTogether hashes contents side by side, if newHash gives hashes of this module.
func (o *opened) sumTogether(contents []content) {
	for len(contents) > 0 {
		h, err := o.server.hashOf(o.newHash)
		group := contents
		var sums []byte
		switch {
		case err != nil:
		case h.AllHaveLanes():
			msgs := make([][]byte, len(group))
			for m, one := range group {
				msgs[m] = one.bytes
			}
			sums, err = h.AppendSums(msgs)
		default:
			group = contents[:1]
			if _, err = h.Write(group[0].bytes); err == nil {
				sums = h.Sum(nil)
			}
		}
		for m, one := range group {
			if o.errs[one.i] = err; err == nil {
				size := len(sums) / len(group)
				o.sums[one.i] = sums[m*size : (m+1)*size : (m+1)*size]
			}
			one.buffer.Free()
		}
		contents = contents[len(group):]
	}
}

// hashOf returns a hash of the server.
func (s *Server) hashOf(newHash func() hash.Hash) (*serve.Hash, error) {
	one := newHash()
	if one == nil {
		return nil, errors.New("hashloom: newHash has returned nil")
	}
	if h, isServed := one.(*serve.Hash); isServed {
		return h, nil
	}
	return s.serve.NewHash([]hash.Hash{one}), nil
}
