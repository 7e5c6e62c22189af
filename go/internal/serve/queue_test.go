// SPDX-License-Identifier: MIT OR Apache-2.0

package serve

import (
	"crypto/sha1"
	"crypto/sha256"
	"hash"
	"runtime"
	"sync"
	"testing"
	"time"
)

// blocker is a hash whose Write begins and ends when the test says so.
type blocker struct {
	hash.Hash
	begun, end chan struct{}
}

func (b blocker) Write(p []byte) (int, error) {
	b.begun <- struct{}{}
	<-b.end
	return len(p), nil
}

func newJob(hashes ...hash.Hash) *job {
	return &job{hashes: hashes, chunk: make([]byte, 1000), wake: make(chan struct{}, 1)}
}

// wait waits until the queue is as it should be.
func (q *queue) wait(isReady func() bool) {
	for {
		q.mu.Lock()
		ready := isReady()
		q.mu.Unlock()
		if ready {
			return
		}
		runtime.Gosched()
	}
}

// The jobs that come while leaders hash make one batch, of at most 64, and every job is done.
func TestBatches(t *testing.T) {
	for _, test := range []struct{ nleaders, njobs, nbatches int }{
		{1, 1, 1}, {1, 20, 1}, {1, 64, 1}, {1, 65, 2}, {1, 1000, 16}, {3, 64, 1}, {3, 100, 2},
	} {
		var q queue
		q.roundEnd, q.limit = time.Now().Add(time.Hour), test.nleaders // not the number of CPUs
		b := blocker{nil, make(chan struct{}), make(chan struct{})}
		var group sync.WaitGroup
		for range test.nleaders {
			group.Go(func() { q.do(newJob(b)) })
			<-b.begun
		}
		sums := make([]hash.Hash, test.njobs)
		for i := range sums {
			sums[i] = sha256.New()
			group.Go(func() { q.do(newJob(sums[i])) })
		}
		q.wait(func() bool { return len(q.jobs) == test.njobs })
		b.end <- struct{}{} // one leader leaves; the others still block
		q.wait(func() bool { return q.njobs == test.njobs+test.nleaders && q.nleaders == test.nleaders-1 })
		if n := q.nbatches - test.nleaders; n != test.nbatches {
			t.Errorf("%d leaders, %d jobs: %d batches, want %d", test.nleaders, test.njobs, n, test.nbatches)
		}
		close(b.end)
		group.Wait()
		want := sha256.Sum256(make([]byte, 1000))
		for _, h := range sums {
			if [sha256.Size]byte(h.Sum(nil)) != want {
				t.Fatal("wrong digest")
			}
		}
		if q.nleaders != 0 || len(q.jobs) != 0 || q.nbytes != 0 || q.gathers {
			t.Errorf("%+v", &q)
		}
	}
}

// In a pause everybody hashes for themselves, even if there are as many leaders as may be.
func TestPause(t *testing.T) {
	var q queue
	q.roundEnd, q.limit = time.Now().Add(time.Hour), 1
	b := blocker{nil, make(chan struct{}), make(chan struct{})}
	var group sync.WaitGroup
	group.Go(func() { q.do(newJob(b)) })
	<-b.begun
	q.mu.Lock()
	q.pauseEnd = time.Now().Add(time.Hour)
	q.mu.Unlock()
	for range 10 {
		q.do(newJob(sha1.New()))
	}
	close(b.end)
	group.Wait()
	if q.nbatches != 11 || q.njobs != 11 || q.nleaders != 0 {
		t.Errorf("%+v", &q)
	}
}

// A debt ends in a pause of many times its length.
func TestDebt(t *testing.T) {
	var q queue
	for n := range 3 {
		q.debt, q.npauses = 2*mostDebt, n
		start := time.Now()
		q.pauseEnd = start
		q.mu.Lock()
		q.gather()
		q.mu.Unlock()
		if least := start.Add(mostDebt << firstPause); q.pauseEnd.Before(least) || q.debt != 0 || q.npauses < 1 || q.gathers {
			t.Errorf("%+v", &q)
		}
	}
}
