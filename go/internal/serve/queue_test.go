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
	return &job{hashes: hashes, wake: make(chan struct{}, 1)}
}

// until waits until the queue is as it should be.
func (q *queue) until(isReady func() bool) {
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
			group.Go(func() { q.do(newJob(b), make([]byte, 1000)) })
			<-b.begun
		}
		sums := make([]hash.Hash, test.njobs)
		for i := range sums {
			sums[i] = sha256.New()
			group.Go(func() { q.do(newJob(sums[i]), make([]byte, 1000)) })
		}
		q.until(func() bool { return len(q.jobs) == test.njobs })
		b.end <- struct{}{} // one leader leaves; the others still block
		q.until(func() bool { return q.njobs == test.njobs+test.nleaders && q.nleaders == test.nleaders-1 })
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
	group.Go(func() { q.do(newJob(b), make([]byte, 1000)) })
	<-b.begun
	q.mu.Lock()
	q.pauseEnd = time.Now().Add(time.Hour)
	q.mu.Unlock()
	for range 10 {
		q.do(newJob(sha1.New()), make([]byte, 1000))
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

// What one goroutine writes to many hashes in turn is copied, within bounds, and hashed in full batches.
func TestCopies(t *testing.T) {
	var q queue
	q.roundEnd, q.round, q.limit, q.lastMost = time.Now().Add(time.Hour), 1, 2, 16
	jobs, chunk := make([]*job, 17), make([]byte, pieceLen)
	sums := make([]hash.Hash, len(jobs))
	for i := range jobs {
		sums[i] = sha256.New()
		jobs[i] = newJob(sums[i])
	}
	for i, j := range jobs[:15] {
		if !q.do(j, chunk[:5000]) || !q.do(j, chunk[5000:]) || q.ncopies != i+1 || q.nbatches != 0 {
			t.Fatalf("write %d: %+v", i, &q)
		}
	}
	q.do(jobs[15], chunk)
	q.until(func() bool { return q.ncopies == 0 && q.nleaders == 0 })
	if q.nbatches != 1 || q.njobs != 16 {
		t.Errorf("%d batches of %d chunks", q.nbatches, q.njobs)
	}
	most := 0
	for range 9 {
		for _, j := range jobs[:15] { // one too few for a goroutine to begin
			q.do(j, make([]byte, 1<<20))
			most = max(most, q.ncopies)
		}
	}
	if most != 15*mostOfOne {
		t.Errorf("%d copies, want %d", most, 15*mostOfOne)
	}
	for range 20 {
		q.do(jobs[15], chunk) // lanes are full
	}
	q.do(jobs[16], chunk) // given up
	for _, i := range []int{15, 0, 3} {
		q.finish(jobs[i])
		want := sha256.New()
		want.Write(chunk)
		for range 9 * 16 {
			if i < 15 {
				want.Write(chunk)
			}
		}
		for range 20 {
			if i == 15 {
				want.Write(chunk)
			}
		}
		if got := sums[i].Sum(nil); string(got) != string(want.Sum(nil)) {
			t.Errorf("message %d: %x", i, got)
		}
	}
	for _, j := range jobs {
		q.finish(j)
	}
	q.until(func() bool { return q.nleaders == 0 })
	if q.ncopies != 0 || q.ncopied != 0 || q.nopen != 0 || q.nbytes != 0 || len(q.jobs) != 0 || q.nwriters != 0 {
		t.Errorf("%+v", &q)
	}
}

// A goroutine that hashes for others does not keep them from writing, until there is no memory for more.
func TestCopiesBehindAHash(t *testing.T) {
	var q queue
	q.roundEnd, q.round, q.limit, q.lastMost = time.Now().Add(time.Hour), 1, 1, 16
	b := blocker{nil, make(chan struct{}), make(chan struct{})}
	jobs, chunk := make([]*job, 16), make([]byte, pieceLen)
	for i := range jobs {
		jobs[i] = newJob(b)
	}
	var group sync.WaitGroup
	group.Go(func() {
		for range 1 + fewCopies + 1 {
			for _, j := range jobs {
				q.do(j, chunk)
			}
		}
	})
	<-b.begun
	q.until(func() bool { return jobs[0].waits })
	if want := 16 * (1 + fewCopies); q.ncopies != want || len(jobs[0].copies) != fewCopies {
		t.Errorf("%d copies, want %d", q.ncopies, want)
	}
	go func() {
		for range b.begun {
		}
	}()
	close(b.end)
	group.Wait()
	for _, j := range jobs {
		q.finish(j)
	}
	close(b.begun)
}
