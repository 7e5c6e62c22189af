// SPDX-License-Identifier: MIT OR Apache-2.0

// Package serve puts the writes of many goroutines into lanes side by side.
//
// It has no goroutine of its own. A goroutine that writes puts its chunk into a queue. If nobody hashes, or fewer
// goroutines than there are CPUs, it leads: it lets the goroutines run that are ready, which put their chunks into the
// queue, takes a batch, hashes it, and wakes the others of the batch. Whoever does not lead waits, so that chunks are
// not copied. A goroutine that writes alone hashes its chunk at once, without a switch to another goroutine.
package serve

import (
	"hash"
	"runtime"
	"sync"
	"time"

	"github.com/hashloom/hashloom/go/internal/digest"
)

const (
	// mostJobs is the number of chunks in a batch at most, and fewestJobs the number that is left to one leader if
	// another could take a part: as many as the widest lanes. Two leaders gain more than two times the lanes.
	mostJobs, fewestJobs = 64, 8
	// pieceLen is the length of the longest chunk. Chunks of one batch wait for the longest of them.
	pieceLen = 64 << 10
	// leastLen is the length of the shortest chunk that is worth a place in the queue. CPU time beside crypto/sha256 on
	// an AMD EPYC (Zen 4, two CPUs): 4 KiB of 4 goroutines 0.83, of 64 0.67; 2 KiB 1.09 and 0.79.
	leastLen = 4 << 10
	// aloneLen is the number of chunks of one writer behind each other for which it once asks for the time.
	aloneLen = 16
	// roundTime is the time in which the writers are counted: a goroutine that never blocks has a CPU for 10 ms.
	roundTime = 100 * time.Millisecond
	// While a leader lets others run that do not write, its uploads stand still: a goroutine that computes has the CPU
	// for 10 ms. So the time that this takes is a debt, which chunks that come repay with a nanosecond a byte, about as
	// much as a chunk takes without lanes. When the debt is over mostDebt, everybody hashes for themselves, for 8 times
	// as long as the debt; if the next debt comes soon, for 16, 32, and at most 64 times.
	mostDebt                 = 20 * time.Millisecond
	worstDebt                = 100 * time.Millisecond // such as of a process that was stopped
	freeOfDebt               = 50 * time.Microsecond  // others read their next chunks
	firstPause, longestPause = 3, 6                   // as powers of 2
)

// queue is chunks that wait, and the goroutines that hash.
type queue struct {
	mu       sync.Mutex
	jobs     []*job
	nbytes   int // in jobs
	nleaders int
	gathers  bool // a leader lets others run
	limit    int  // of leaders: GOMAXPROCS at the beginning of the round

	round    int // the number of the round, from 1
	roundEnd time.Time
	nseen    int // jobs in this round
	nactive  int // jobs in the round before
	last     *job
	nlast    int // chunks of last behind each other

	debt     time.Duration
	npauses  int // close behind each other
	pauseEnd time.Time

	nbatches, njobs int // all that there were
}

// job is a chunk for running hashes, and the goroutine that waits for it. It may be used again.
type job struct {
	hashes []hash.Hash
	chunk  []byte
	wake   chan struct{} // of capacity 1: something below has changed
	isDone bool          // the fields from here on are guarded by the queue's mutex
	leads  bool          // the goroutine is a leader, or will be when it wakes
	round  int           // the last one in which the job was seen
}

// do returns when the chunk is hashed.
func (q *queue) do(j *job) {
	q.mu.Lock()
	if q.isAlone(j) || q.isPaused(j) {
		q.nbatches++
		q.njobs++
		q.mu.Unlock()
		write([]*job{j})
		return
	}
	q.jobs = append(q.jobs, j)
	q.nbytes += len(j.chunk)
	j.isDone = false
	if q.nleaders < q.limit && !q.gathers {
		q.nleaders++
		j.leads = true
	}
	for {
		if j.leads {
			q.lead(j)
		}
		isDone := j.isDone
		q.mu.Unlock()
		if isDone {
			return
		}
		<-j.wake
		q.mu.Lock()
	}
}

// isAlone says whether nobody else writes, without the cost of asking for the time.
func (q *queue) isAlone(j *job) bool {
	if q.last != j {
		q.last, q.nlast = j, 0
	}
	q.nlast++
	return q.nlast%aloneLen != 1 && q.nleaders == 0 && !q.isCrowded()
}

// isCrowded says whether there are more writers than CPUs.
func (q *queue) isCrowded() bool { return max(q.nactive, q.nseen) > q.limit }

// isPaused counts the writers, and says whether leaders do not gather.
func (q *queue) isPaused(j *job) bool {
	now := time.Now()
	if now.After(q.roundEnd) {
		q.limit = runtime.GOMAXPROCS(0)
		q.round, q.roundEnd = q.round+1, now.Add(roundTime)
		q.nactive, q.nseen = q.nseen, 0
	}
	if j.round != q.round {
		j.round = q.round
		q.nseen++
	}
	return now.Before(q.pauseEnd)
}

// lead hashes a batch, if other leaders have left something, and makes another goroutine the leader if some wait. The
// mutex is held, but not while the batch is hashed.
func (q *queue) lead(own *job) {
	if q.isCrowded() && !q.gathers {
		q.gather()
	}
	n := len(q.jobs)
	if n > fewestJobs {
		nfree := max(q.limit-q.nleaders, 0) + 1
		n = min(max((n+nfree-1)/nfree, fewestJobs), mostJobs)
	}
	if n > 0 {
		var room [mostJobs]*job
		batch := room[:copy(room[:n], q.jobs)]
		left := copy(q.jobs, q.jobs[n:])
		clear(q.jobs[left:])
		q.jobs = q.jobs[:left]
		for _, j := range batch {
			q.nbytes -= len(j.chunk)
		}
		if q.nleaders < q.limit && q.promote() {
			q.nleaders++
		}
		q.nbatches++
		q.njobs += n
		q.mu.Unlock()
		write(batch)
		q.mu.Lock()
		for _, j := range batch {
			j.isDone = true
			if j != own {
				j.signal()
			}
		}
	}
	own.leads = false
	if q.gathers || !q.promote() {
		q.nleaders--
	}
}

// gather lets other goroutines run, as long as they bring chunks. The mutex is held, but not while others run.
func (q *queue) gather() {
	start := time.Now()
	if start.Before(q.pauseEnd) {
		return
	}
	q.gathers = true
	before := q.nbytes
	var spent time.Duration
	for n := -1; n < len(q.jobs) && len(q.jobs) < mostJobs && spent < mostDebt/4; {
		n = len(q.jobs)
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
		spent = time.Since(start)
	}
	q.gathers = false
	q.debt += spent - freeOfDebt - time.Duration(max(q.nbytes-before, 0))
	q.debt = min(max(q.debt, 0), worstDebt)
	if q.debt > mostDebt {
		if start.Sub(q.pauseEnd) > roundTime {
			q.npauses = 0
		}
		q.pauseEnd = start.Add(spent + q.debt<<min(firstPause+q.npauses, longestPause))
		q.debt = 0
		q.npauses++
	}
}

// promote makes a goroutine that waits a leader. It reports whether there was one.
func (q *queue) promote() bool {
	for _, j := range q.jobs {
		if !j.leads {
			j.leads = true
			j.signal()
			return true
		}
	}
	return false
}

func (j *job) signal() {
	select {
	case j.wake <- struct{}{}:
	default: // it will look anyhow
	}
}

// write writes the chunks of a batch.
func write(batch []*job) {
	if len(batch) == 1 {
		for _, h := range batch[0].hashes {
			h.Write(batch[0].chunk)
		}
		return
	}
	hashes, chunks := make([]hash.Hash, 0, 2*mostJobs), make([][]byte, 0, 2*mostJobs)
	for _, j := range batch {
		for _, h := range j.hashes {
			hashes, chunks = append(hashes, h), append(chunks, j.chunk)
		}
	}
	digest.WriteMany(hashes, chunks)
}
