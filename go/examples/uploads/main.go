// SPDX-License-Identifier: MIT OR Apache-2.0

// Uploads hashes the parts of many uploads that arrive at once, as an object store does: each upload has a running hash
// and a goroutine that receives it, and one goroutine hashes whatever chunks have come, side by side.
//
//	go run ./examples/uploads FILE...
package main

import (
	"fmt"
	"hash"
	"io"
	"os"
	"runtime"
	"sync"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha256"
)

// hasher hashes chunks of many uploads together.
type hasher chan job

type job struct {
	h     hash.Hash
	chunk []byte
	done  chan struct{}
}

// run hashes until the channel is closed. Start one for each CPU that may hash.
func (c hasher) run() {
	for first := range c {
		jobs := []job{first}
		for open := true; open && len(jobs) < 64; {
			select {
			case next, more := <-c:
				if open = more; more {
					jobs = append(jobs, next)
				}
			default:
				open = false // nothing else has come yet
			}
		}
		hs, chunks := make([]hash.Hash, len(jobs)), make([][]byte, len(jobs))
		for i, job := range jobs {
			hs[i], chunks[i] = job.h, job.chunk
		}
		hashloom.WriteMany(hs, chunks)
		for _, job := range jobs {
			job.done <- struct{}{}
		}
	}
}

// upload is an io.Writer that hashes what is written to it.
type upload struct {
	hasher hasher
	h      hash.Hash
	done   chan struct{}
}

func (u upload) Write(p []byte) (int, error) {
	u.hasher <- job{u.h, p, u.done}
	<-u.done // p belongs to the caller again
	return len(p), nil
}

// sums returns the digests of all sources, which are read at once, or the first error.
func sums(sources []io.Reader) ([][sha256.Size]byte, error) {
	c := make(hasher, 64)
	for range runtime.GOMAXPROCS(0) {
		go c.run()
	}
	defer close(c)
	digests, errs := make([][sha256.Size]byte, len(sources)), make([]error, len(sources))
	var group sync.WaitGroup
	for i, source := range sources {
		group.Go(func() {
			u := upload{c, sha256.New(), make(chan struct{}, 1)}
			_, errs[i] = io.CopyBuffer(u, struct{ io.Reader }{source}, make([]byte, 64<<10))
			u.h.Sum(digests[i][:0])
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return digests, nil
}

func main() {
	var sources []io.Reader
	for _, name := range os.Args[1:] {
		file, err := os.Open(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		defer file.Close()
		sources = append(sources, file)
	}
	digests, err := sums(sources)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for i, digest := range digests {
		fmt.Printf("%x  %s\n", digest, os.Args[1+i])
	}
}
