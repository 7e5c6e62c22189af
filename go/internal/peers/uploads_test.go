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

	"github.com/hashloom/hashloom/go/internal/serve"
	"github.com/hashloom/hashloom/go/md5"
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
