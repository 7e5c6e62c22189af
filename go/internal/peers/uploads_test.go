// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build unix

package peers

import (
	"bytes"
	"fmt"
	"hash"
	"io"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	stdmd5 "crypto/md5"
	stdsha256 "crypto/sha256"

	md5simd "github.com/minio/md5-simd"

	hashloom "github.com/hashloom/hashloom/go"
	compat "github.com/hashloom/hashloom/go/compat/md5simd"
	"github.com/hashloom/hashloom/go/internal/serve"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
)

// cpuTime returns the CPU time of the process.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// both writes to two hashes.
type both [2]hash.Hash

func (b both) Write(p []byte) (int, error) {
	b[0].Write(p)
	return b[1].Write(p)
}

func (b both) Sum(sum []byte) []byte { return b[1].Sum(b[0].Sum(sum)) }

// upload is a hash, of which a benchmark needs no more.
type upload interface {
	io.Writer
	Sum(b []byte) []byte
}

// The options of minio-go take functions of this type.
var _ = func(s compat.Server) func() md5simd.Hasher { return func() md5simd.Hasher { return s.NewHash() } }

// BenchmarkUploads hashes uploads that lie in memory: each has a goroutine, which reads 64 KiB at a time. It reports
// the CPU time, and how many chunks a batch has.
func BenchmarkUploads(b *testing.B) {
	if runtime.GOMAXPROCS(0) == 1 {
		b.Skip("uploads take all CPUs")
	}
	const total = 64 << 20
	content := make([]byte, total)
	buffers := sync.Pool{New: func() any { return new([64 << 10]byte) }}
	for _, alg := range []string{"sha256", "md5", "sha256+md5"} {
		for _, n := range []int{1, 4, 16, 64, 1000} {
			measure := func(by string, newUpload func() upload, batches func() (int, int)) {
				b.Run(fmt.Sprintf("uploads=%d/alg=%s/by=%s", n, alg, by), func(b *testing.B) {
					all := func() {
						var group sync.WaitGroup
						for i := range n {
							group.Go(func() {
								u, buffer := newUpload(), buffers.Get().(*[64 << 10]byte)
								reader := bytes.NewReader(content[i*(total/n):][:total/n])
								io.CopyBuffer(struct{ io.Writer }{u}, struct{ io.Reader }{reader}, buffer[:])
								u.Sum(nil)
								if closer, ok := u.(interface{ Close() }); ok {
									closer.Close()
								}
								buffers.Put(buffer)
							})
						}
						group.Wait()
					}
					all() // memory that is touched for the first time
					begun := cpuTime()
					for b.Loop() {
						all()
					}
					b.ReportMetric(float64(cpuTime()-begun)/float64(b.N), "cpu-ns/op")
					if batches != nil {
						nbatches, nchunks := batches()
						b.ReportMetric(float64(nchunks)/float64(nbatches), "chunks/batch")
					}
				})
			}
			var ours serve.Server
			measure("hashloom", func() upload {
				hs := map[string][]hash.Hash{"sha256": {sha256.New()}, "md5": {md5.New()},
					"sha256+md5": {sha256.New(), md5.New()}}
				return ours.NewHash(hs[alg])
			}, ours.Batches)
			measure("std", func() upload {
				us := map[string]upload{"sha256": stdsha256.New(), "md5": stdmd5.New(),
					"sha256+md5": both{stdsha256.New(), stdmd5.New()}}
				return us[alg]
			}, nil)
			if alg == "md5" {
				server := md5simd.NewServer()
				measure("md5-simd", func() upload { return server.NewHash() }, nil)
				server.Close()
			}
		}
	}
}

// BenchmarkUploadsInTurn hashes 16 messages that one goroutine writes to in turn, as benchmarks of minio/sha256-simd's
// server do. It reports the CPU time.
func BenchmarkUploadsInTurn(b *testing.B) {
	for _, alg := range []struct {
		name string
		new  func() hash.Hash
	}{{"sha1", sha1.New}, {"sha256", sha256.New}, {"md5", md5.New}} {
		for _, n := range []int{64 << 10, 512 << 10, 1 << 20, 5 << 20} {
			chunk := make([]byte, n)
			for _, by := range []string{"hashloom", "std"} {
				b.Run(fmt.Sprintf("size=%d/alg=%s/by=%s", n, alg.name, by), func(b *testing.B) {
					var server serve.Server
					var hs [16]hash.Hash
					all := func() {
						for i := range hs {
							if hs[i] = alg.new(); by == "hashloom" {
								hs[i] = server.NewHash([]hash.Hash{hs[i]})
							}
							hs[i].Write(chunk)
						}
						for _, h := range hs {
							h.Sum(nil)
						}
					}
					all() // memory that is touched for the first time
					begun := cpuTime()
					for b.Loop() {
						all()
					}
					b.ReportMetric(float64(cpuTime()-begun)/float64(b.N), "cpu-ns/op")
				})
			}
		}
	}
}

// BenchmarkBlocks hashes the blocks of a reader over 128 MiB in memory.
func BenchmarkBlocks(b *testing.B) {
	content := make([]byte, 128<<20)
	for _, alg := range []struct {
		name string
		new  func() hash.Hash
	}{{"sha1", sha1.New}, {"sha256", sha256.New}} {
		for _, blockLen := range []int{16 << 10, 128 << 10, 4 << 20} {
			b.Run(fmt.Sprintf("size=%d/alg=%s/by=hashloom", blockLen, alg.name), func(b *testing.B) {
				for b.Loop() {
					hashloom.SumBlocks(b.Context(), bytes.NewReader(content), -1, int64(blockLen), 0, alg.new)
				}
			})
			b.Run(fmt.Sprintf("size=%d/alg=%s/by=std", blockLen, alg.name), func(b *testing.B) {
				block, h := make([]byte, blockLen), alg.new()
				for b.Loop() {
					for r := bytes.NewReader(content); r.Len() > 0; {
						n, _ := io.ReadFull(r, block)
						h.Reset()
						h.Write(block[:n])
						h.Sum(nil)
					}
				}
			})
		}
	}
}
