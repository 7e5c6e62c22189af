// SPDX-License-Identifier: MIT OR Apache-2.0

// Package serve puts the writes of many goroutines, or of one to many hashes, into lanes side by side.
//
// A goroutine that writes finds out whether others write, too. If nobody hashes, or fewer goroutines than there are
// CPUs, it lets the goroutines run that are ready, which put their chunks into the queue. If many came, it leads: it
// takes a batch, hashes it, and wakes the others of the batch, which wait, so that their chunks are not copied. If few
// came although many messages are being written, as by one goroutine in turn, it leaves a copy in the queue, and its
// Write is over. When there are copies for all lanes, a goroutine that lives as long as they hashes them; Sum hashes
// what is left. A goroutine that writes one message alone hashes its chunk at once, without a switch to another
// goroutine.
package serve

import (
	"hash"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/hashloom/hashloom/go/internal/digest"
)

// MostCopied is the number of bytes that a server copies at most.
const MostCopied = 64 << 20

const (
	// mostJobs is the number of chunks in a batch at most, and fewestJobs the number that is left to one leader if
	// another could take a part: as many as the widest lanes. Two leaders gain more than two times the lanes.
	mostJobs, fewestJobs = 64, 8
	// fullLanes is the number of chunks that a goroutine is begun for: lanes of the widest kernels.
	fullLanes = 16
	// mostCopies is the number of copies, of pieceLen each, that the server keeps: for 16 hashes that one goroutine
	// writes 4 MiB each to. fewCopies is the number behind each other if all lanes are full anyhow.
	mostCopies, fewCopies = MostCopied / pieceLen, 2
	mostOfOne             = mostCopies / fullLanes // copies behind each other
	// pieceLen is the length of the longest chunk. Chunks of one batch wait for the longest of them.
	pieceLen = 64 << 10
	// leastLen is the length of the shortest chunk that is worth a place in the queue. CPU time beside crypto/sha256 on
	// an AMD EPYC (Zen 4, two CPUs): 4 KiB of 4 goroutines 0.83, of 64 0.67; 2 KiB 1.09 and 0.79.
	leastLen = 4 << 10
	// aloneLen is the number of chunks of one writer behind each other for which it once asks for the time.
	aloneLen = 16
	// roundTime is the time in which the writers are counted: a goroutine that never blocks has a CPU for 10 ms.
	roundTime = 100 * time.Millisecond
	// openRounds is the number of rounds after which a message is counted no longer: it may have been given up.
	openRounds = 16
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
	most     int // leaders, or 0
	jobs     []*job
	nbytes   int // in jobs
	nleaders int
	gathers  bool // a leader lets others run
	limit    int  // of leaders: GOMAXPROCS at the beginning of the round, or most

	nwriters int             // goroutines in do
	nwaiting int             // of these, with a chunk in the queue or in a batch
	ncopies  int             // buffers
	ncopied  int             // jobs that have copies
	opened   [openRounds]int // messages without a Sum, by the last round in which they were written to
	nopen    int             // of these in all
	mostOpen int             // in this round
	lastMost int             // in the round before

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

// state is where a job is.
type state int

const (
	idle   state = iota
	queued       // in queue.jobs
	taken        // in a batch
)

// job is the bytes for running hashes. It may be used again. One goroutine at a time writes to it or waits for it; all
// fields but the hashes are guarded by the queue's mutex.
type job struct {
	hashes  []hash.Hash
	state   state
	chunk   []byte   // unless idle
	copies  [][]byte // behind it, if it is a copy
	rest    []byte   // behind it, if it is not
	isCopy  bool
	isWhole bool          // one Write is the whole message
	waits   bool          // a goroutine, for the bytes to be hashed
	leads   bool          // that goroutine is a leader, or will be when it wakes
	wake    chan struct{} // of capacity 1: something above has changed
	round   int           // the last one in which the job was seen
	open    int           // the round in which the message is counted, or 0
}

// do hashes p, or copies it. It reports whether there are copies.
func (q *queue) do(j *job, p []byte) bool {
	mayCopy := len(p) <= mostOfOne*pieceLen
	q.mu.Lock()
	q.nwriters++
	for len(p) > 0 {
		isPaused := false
		if j.state != idle || !q.isAlone(j) {
			isPaused = q.isPaused(j)
			gathered := !isPaused && q.nleaders < q.limit && !q.gathers
			if gathered {
				q.nleaders++
				if q.isCrowded() {
					q.gather()
				}
			}
			if mayCopy && q.copies(j) {
				p = p[q.copy(j, p):]
				if gathered {
					q.resign()
				}
				q.help()
				continue
			}
			j.leads = gathered
			if j.state != idle {
				q.wait(j, func() bool { return j.state == idle || mayCopy && q.copies(j) })
				continue
			}
			if !isPaused {
				j.chunk, j.rest = nil, p
				q.next(j)
				if n := len(q.jobs) - 1; gathered { // a leader hashes its own chunk first
					q.jobs[0], q.jobs[n] = q.jobs[n], q.jobs[0]
				}
				q.nwaiting++
				q.wait(j, func() bool { return j.state == idle })
				q.nwaiting--
				break
			}
		}
		q.nbatches++
		q.njobs++
		q.mu.Unlock()
		p = p[j.writePiece(p):]
		q.mu.Lock()
	}
	q.nwriters--
	isCopied := j.state != idle
	q.mu.Unlock()
	return isCopied
}

// append appends bytes too few for a batch to copies. It returns the bytes that are left when there are none.
func (q *queue) append(j *job, p []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(p) > 0 && j.state != idle {
		if q.copies(j) {
			p = p[q.copy(j, p):]
		} else {
			q.wait(j, func() bool { return j.state == idle || q.copies(j) })
		}
	}
	return p
}

// finish returns when all copies are hashed, and counts the message no longer.
func (q *queue) finish(j *job) {
	q.mu.Lock()
	q.close(j)
	q.wait(j, func() bool { return j.state == idle })
	q.mu.Unlock()
}

// close counts the message of j no longer.
func (q *queue) close(j *job) {
	if j.open > 0 && j.open > q.round-openRounds {
		q.opened[j.open%openRounds]--
		q.nopen--
	}
	j.open = 0
}

// copies says whether bytes for j are to be copied: many messages are written to, by few goroutines, and there is
// memory.
func (q *queue) copies(j *job) bool {
	open := max(q.mostOpen, q.lastMost)
	areFew := q.nwaiting < fewestJobs && q.nwriters*4 <= open && !q.gathers
	hasRoom := len(j.copies) < fewCopies || len(j.copies) < mostOfOne && q.ncopied < q.lanes()
	return !j.isWhole && open >= fewestJobs && areFew && hasRoom && q.ncopies < mostCopies
}

// lanes returns the number of copied chunks that are worth a batch.
func (q *queue) lanes() int { return min(max(q.mostOpen, q.lastMost, fewestJobs), fullLanes) }

// copy copies what it can of p, at least a byte.
func (q *queue) copy(j *job, p []byte) (n int) {
	for n < len(p) {
		tail := &j.chunk // to which is appended
		if len(j.copies) > 0 {
			tail = &j.copies[len(j.copies)-1]
		}
		if j.state == idle || j.state == taken && len(j.copies) == 0 || len(*tail) == pieceLen {
			if n > 0 && !q.copies(j) {
				break
			}
			j.copies = append(j.copies, TakeBuffer()[:0])
			q.ncopies++
			tail = &j.copies[len(j.copies)-1]
		}
		before := len(*tail)
		*tail = append(*tail, p[n:n+min(len(p)-n, pieceLen-before)]...)
		n += len(*tail) - before
		if j.state == idle {
			q.ncopied++
			q.next(j)
		} else if tail == &j.chunk {
			q.nbytes += len(*tail) - before
		}
	}
	return n
}

// next puts the next chunk of j into the queue, or makes j idle.
func (q *queue) next(j *job) {
	switch {
	case len(j.copies) > 0:
		j.chunk, j.isCopy = j.copies[0], true
		j.copies = slices.Delete(j.copies, 0, 1)
	case len(j.rest) > 0:
		n := min(len(j.rest), pieceLen)
		j.chunk, j.rest, j.isCopy = j.rest[:n], j.rest[n:], false
	default:
		j.state, j.chunk, j.rest = idle, nil, nil
		return
	}
	j.state = queued
	q.jobs = append(q.jobs, j)
	q.nbytes += len(j.chunk)
}

// help begins a goroutine if there are copies for all lanes, and a CPU.
func (q *queue) help() {
	if len(q.jobs) < q.lanes() || q.nleaders >= q.limit {
		return
	}
	q.nleaders++
	go func() {
		q.mu.Lock()
		for len(q.jobs) >= q.lanes() {
			q.batch(nil)
		}
		q.resign()
		q.mu.Unlock()
	}()
}

// wait returns when the condition is met. Until then the goroutine leads, or waits for those who do.
func (q *queue) wait(j *job, isMet func() bool) {
	hasGathered := j.leads
	for {
		if j.leads {
			for j.state == queued {
				if q.isCrowded() && !q.gathers && !hasGathered && !j.isCopy {
					q.gather()
				}
				hasGathered = false
				if j.state == queued {
					q.batch(j)
				}
			}
			j.leads = false
			q.resign()
		}
		if isMet() {
			return
		}
		if j.state == queued && q.nleaders < q.limit && !q.gathers {
			q.nleaders++
			j.leads = true
			continue
		}
		j.waits = true
		q.mu.Unlock()
		<-j.wake
		q.mu.Lock()
		j.waits = false
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

// isPaused counts the writers and the messages, and says whether leaders do not gather.
func (q *queue) isPaused(j *job) bool {
	now := time.Now()
	if now.After(q.roundEnd) {
		q.limit = runtime.GOMAXPROCS(0)
		if q.most > 0 {
			q.limit = min(q.limit, q.most)
		}
		q.round, q.roundEnd = q.round+1, now.Add(roundTime)
		q.nactive, q.nseen = q.nseen, 0
		q.lastMost, q.mostOpen = q.mostOpen, 0
		q.nopen -= q.opened[q.round%openRounds]
		q.opened[q.round%openRounds] = 0
	}
	if j.round != q.round {
		j.round = q.round
		q.nseen++
	}
	if j.open != q.round && !j.isWhole {
		q.close(j)
		j.open = q.round
		q.opened[j.open%openRounds]++
		q.nopen++
		q.mostOpen = max(q.mostOpen, q.nopen)
	}
	return now.Before(q.pauseEnd)
}

// batch hashes chunks, and makes another goroutine a leader if there are more. The mutex is held, but not while they
// are hashed.
func (q *queue) batch(own *job) {
	least := fewestJobs
	if own == nil || own.isCopy {
		least = fullLanes
	}
	n := len(q.jobs)
	if n > least { // the others are for leaders that there could be
		nfree := max(q.limit-q.nleaders, 0) + 1
		n = min(max((n+nfree-1)/nfree, least), mostJobs)
	}
	var room [mostJobs]*job
	batch := room[:copy(room[:n], q.jobs)]
	left := copy(q.jobs, q.jobs[n:])
	clear(q.jobs[left:])
	q.jobs = q.jobs[:left]
	for _, j := range batch {
		j.state = taken
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
		if j.isCopy {
			(*Buffer)(j.chunk[:bufferLen]).Free()
			q.ncopies--
		}
		if q.next(j); j.state == idle && j.isCopy {
			q.ncopied--
			j.isCopy = false
		}
		if j != own && j.waits {
			j.signal()
		}
	}
}

// resign ends the time of a leader, and makes a goroutine that waits one in its place.
func (q *queue) resign() {
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
		if j.waits && !j.leads {
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

// writePiece writes the first bytes of p, whose number it returns.
func (j *job) writePiece(p []byte) int {
	p = p[:min(len(p), pieceLen)]
	for _, h := range j.hashes {
		h.Write(p)
	}
	return len(p)
}

// write writes the chunks of a batch.
func write(batch []*job) {
	if len(batch) == 1 {
		batch[0].writePiece(batch[0].chunk)
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
