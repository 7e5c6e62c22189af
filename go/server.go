// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom

import (
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/hashloom/hashloom/go/internal/serve"
)

// Server hashes what many goroutines write, such as the handlers of uploads, or one goroutine in turn, in lanes side by
// side: each message has a running hash from [Server.NewHash], and its Write takes part in a batch with the Writes to
// other hashes. No goroutine of it outlives the bytes that it hashes, so that there is nothing to stop. The zero Server
// is ready for use. Any number of goroutines may use one Server at once. A Server must not be copied.
type Server struct {
	serve serve.Server
}

// ErrServerClosed is the error of Write after [Server.Close].
var ErrServerClosed = serve.ErrClosed

// NewServer returns a Server. When ctx ends, all Writes fail, as after [Server.Close], with an error that wraps the
// cause of the context.
func NewServer(ctx context.Context) *Server {
	return &Server{serve.Server{Context: ctx}}
}

// SetCPUs sets how many goroutines hash at once, at most; 0 stands for GOMAXPROCS, which is how a Server begins. Fewer
// goroutines have fuller lanes, so that hashing takes less CPU time and, where the program has nothing else to do,
// longer: with SetCPUs(1) the Writes of 2 goroutines share lanes however many CPUs there are. It may be called at any
// time. It panics if n is negative.
func (s *Server) SetCPUs(n int) {
	if n < 0 {
		panic(fmt.Sprintf("hashloom: SetCPUs: %d", n))
	}
	s.serve.SetCPUs(n)
}

// NewHash returns a [hash.Hash] for one message, which hs hash at once, such as NewHash(sha256.New(), md5.New()). From
// then on hs belong to it. They may have been written to. Hashes of this module and of the standard library's MD5,
// SHA-1, SHA-2 and SHA-3 run in lanes; a hash of any other package takes part beside them.
//
// If more goroutines write to hashes of the server than there are CPUs, Write puts the bytes into lanes beside theirs,
// and blocks until they are hashed. If few goroutines write to many hashes, eight or more that have had no Sum, Write
// copies up to 4 MiB and returns: another goroutine hashes the copies of many messages at once, and Sum hashes what is
// left. The copies of a server have at most 64 MiB, of which a message that is given up may keep its part. Else, and
// below 4 KiB, it is a Write of hs.
//
// Write fails only after the server was closed or its context has ended. Then it hashes nothing of its bytes, all later
// Writes fail too, and Sum appends nothing until Reset: a message that lacks bytes has no digest.
//
// Sum appends the digests of hs behind each other, in their order, and Size is the number of their bytes. The hash
// implements [io.ReaderFrom], which reads 64 KiB at a time, and if all of hs do, [hash.Cloner],
// [encoding.BinaryMarshaler], [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler]; a state is the states of hs
// behind each other. Unlike other hashes it may be used by many goroutines at once: Writes to it are hashed one after
// another.
//
// It panics if one of hs is nil; Sum, if one is a hash of another package whose Sum does not append Size bytes.
func (s *Server) NewHash(hs ...hash.Hash) hash.Hash { return s.serve.NewHash(hs) }

// AppendSum appends the digest of one message that lies in memory, data, and returns the result: beside the messages of
// other goroutines, as a Write and a Sum of a hash of [Server.NewHash], but without an allocation. h gives the hash
// function, such as a variable that holds sha256.New(); what has been written to h comes before data. AppendSum does
// not change h, which any number of goroutines may use for it at once.
//
// It fails as Write does, and if h is no [hash.Cloner]; then it appends nothing.
func (s *Server) AppendSum(b []byte, h hash.Hash, data []byte) ([]byte, error) {
	return s.serve.AppendSum(b, h, data)
}

// Close makes all later Writes fail with [ErrServerClosed]. Bytes of Writes that have begun are hashed, and
// Sum and Reset still work. Close may be called many times. It returns nil.
func (s *Server) Close() error {
	s.serve.Close()
	return nil
}

// SumReaders reads all readers to their ends at the same time, each on a goroutine of its own, and returns a digest
// for each. newHash is called once for each, by many goroutines at once: sha256.New, or for several algorithms a
// function that returns a hash of [Server.NewHash].
//
// The digest of a reader that fails is nil, and the error joins the errors of all readers that failed. If ctx ends,
// there are no digests, and the error is the cause of the context. SumReaders returns after the last Read has
// returned, and leaves no goroutine behind. To interrupt a Read that blocks, close what it reads from (see
// [context.AfterFunc]).
func (s *Server) SumReaders(ctx context.Context, newHash func() hash.Hash, readers ...io.Reader) ([][]byte, error) {
	if newHash == nil {
		panic("hashloom: newHash is nil")
	}
	n := len(readers)
	sums, errs := make([][]byte, n), make([]error, n)
	var nended atomic.Int64
	var group sync.WaitGroup
	for i, reader := range readers {
		group.Go(func() {
			if ctx.Err() != nil {
				return
			}
			h, err := s.hashOf(newHash)
			switch {
			case err == nil && reader == nil:
				err = fmt.Errorf("hashloom: SumReaders: reader %d of %d is nil", i+1, n)
			case err == nil:
				if _, err = h.ReadAll(ctx, reader); err != nil {
					err = fmt.Errorf("hashloom: SumReaders: reader %d of %d: %w", i+1, n, err)
				}
			}
			if errs[i] = err; err == nil {
				sums[i] = h.Sum(nil)
			}
			nended.Add(1)
		})
	}
	group.Wait()
	err := errors.Join(errs...)
	if ctx.Err() != nil && (err != nil || int(nended.Load()) < n) {
		return nil, context.Cause(ctx)
	}
	return sums, err
}

// SumFiles is [Server.SumOpened] for the files of these names. An error of a file is a [*io/fs.PathError].
func (s *Server) SumFiles(ctx context.Context, newHash func() hash.Hash, names ...string) ([][]byte, []error) {
	return s.SumOpened(ctx, newHash, len(names), func(i int) (io.ReadCloser, error) { return os.Open(names[i]) })
}
