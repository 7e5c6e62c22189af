// SPDX-License-Identifier: MIT OR Apache-2.0

// Krist mines a block of Krist. It hashes the miner's address, the last block's first twelve digits and a nonce, and
// looks for a nonce for which the first six bytes of the SHA-256 digest are a number of at most the work.
//
//	go run ./examples/krist -address k5ztameslf -block 0000000001e2 -work 4000000000
//
// A miner that was written for github.com/1lann/sha256-simd replaces its loop over SumCmp256 by sha256.Search. A miner
// that keeps its loop replaces the import by github.com/hashloom/hashloom/go/compat/sha256simd.
package main

import (
	"flag"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashloom/hashloom/go/sha256"
)

// rangeLen is the number of nonces between two looks at the clock and at the other goroutines.
const rangeLen = 1 << 20

// mine returns the text of a nonce, and the number of nonces tried.
func mine(address, block string, work uint64, workers int) (string, uint64) {
	prefix := []byte(address + block)
	var next, tried atomic.Uint64
	var nonce atomic.Pointer[string]
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for nonce.Load() == nil {
				first := next.Add(rangeLen) - rangeLen
				nonces := sha256.Nonces{
					First: first, End: first + rangeLen, Width: 11, Alphabet: "0123456789abcdefghijklmnopqrstuvwxyz",
				}
				if n, found := sha256.Search(prefix, nonces, nil, work); found {
					text := string(nonces.AppendText(nil, n))
					nonce.Store(&text)
				}
				tried.Add(rangeLen)
			}
		})
	}
	group.Wait()
	return *nonce.Load(), tried.Load()
}

func main() {
	address := flag.String("address", "k5ztameslf", "the miner's address")
	block := flag.String("block", "0000000001e2", "the first twelve digits of the last block")
	work := flag.Uint64("work", 1<<26, "the work")
	flag.Parse()

	start := time.Now()
	nonce, tried := mine(*address, *block, *work, runtime.GOMAXPROCS(0))
	seconds := time.Since(start).Seconds()
	message := *address + *block + nonce
	fmt.Printf("nonce %s: sha256(%q) = %x\n", nonce, message, sha256.Sum256([]byte(message)))
	fmt.Printf("%.1f million nonces a second\n", float64(tried)/seconds/1e6)
}
