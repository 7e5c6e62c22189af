// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// onlyScratch returns the memory that all calls of a test use, if they come from one goroutine.
func onlyScratch(t *testing.T) *scratch {
	before := kept
	kept = make([]place, 1)
	t.Cleanup(func() { kept = before })
	s := new(scratch)
	kept[0].scratch.Store(s)
	return s
}

// Every call stays on the stack that it gets.
func TestStackDepth(t *testing.T) {
	const paint = 0x5a5a5a5a5a5a5a5a
	s := onlyScratch(t)
	for i := range s.stack {
		s.stack[i] = paint
	}

	lists := longLists()
	secret := randomBytes(11, 1000)
	eachImplementation(t, func(t *testing.T, _ bool) {
		for _, alg := range All {
			var ctx Ctx
			Init(&ctx, alg)
			Update(&ctx, secret[:7])
			var key Key
			if !alg.Info().IsXOF {
				KeyInit(&key, alg, secret[:20]) // after a secret longer than a block the stack is cleared
			}
			for l, msgs := range lists[6:] {
				if testing.Short() && l%4 != int(alg)%4 {
					continue
				}
				got := make([]byte, len(msgs)*alg.Size())
				ctxs, keys := make([]*Ctx, len(msgs)), make([]Key, len(msgs))
				for i := range msgs {
					ctxs[i] = &Ctx{}
					*ctxs[i] = ctx
					keys[i] = key
				}
				SumMany(alg, got, msgs)
				SumManyFrom(&ctx, got, msgs)
				SumAgainMany(alg, alg, got, msgs)
				if alg.Info().IsXOF {
					SumManyXOF(alg, make([]byte, 1000*len(msgs)), 1000, msgs)
				} else {
					MACMany(&key, got, msgs)
					MACManyKeys(keys, got, msgs)
				}
				UpdateMany(ctxs, msgs)
				PeekMany(ctxs, got)
			}
			for _, again := range append(All[:len(All):len(All)], 0) {
				search := Search{Alg: alg, Again: again, Prefix: secret[:200], Suffix: secret}
				SearchNonces(&search, 0, 1000, make([]uint64, 1))
			}
		}
	})
	i := 0
	for i < len(s.stack) && s.stack[i] == paint {
		i++
	}
	deepest := 8 * (len(s.stack) - i)
	if deepest > stackSize-4096 {
		t.Errorf("%d of %d bytes of stack were used", deepest, stackSize)
	}
	t.Logf("%d of %d bytes of stack were used", deepest, stackSize)
}

// searchOnStack searches in a few slices. The job, its bytes and the nonces are on the goroutine's own stack.
func searchOnStack() (nonces [8]uint64) {
	var bytes [300]byte
	for i := range bytes {
		bytes[i] = byte(i)
	}
	search := Search{Alg: SHA512, Again: SHA1, Prefix: bytes[:200], Suffix: bytes[:], Target: [MaxSize]byte{1: 0x80}}
	SearchNonces(&search, 0, 2500, nonces[:])
	runtime.KeepAlive(&bytes)
	return nonces
}

// lowOnStack is what searchOnStack finds on a stack that does not move.
var lowOnStack = sync.OnceValue(searchOnStack)

// hashOnStack hashes messages that lie on the goroutine's own stack, which grows while it goes deeper.
func hashOnStack(t *testing.T, depth int) {
	var bytes [300]byte
	for i := range bytes {
		bytes[i] = byte(i * depth)
	}
	msgs := [...][]byte{bytes[:depth%300], bytes[:], bytes[:0], bytes[100:200], bytes[1:65]}
	var got [len(msgs) * 32]byte
	var each [32]byte
	if depth%10 == 0 {
		alg := []Alg{SHA256, SHA512_256}[depth/10%2]
		SumMany(alg, got[:], msgs[:])
		for i := range msgs {
			hashOf(alg, each[:], msgs[i])
			if each != [32]byte(got[32*i:]) {
				t.Errorf("%v: wrong digest at depth %d", alg, depth)
			}
		}
	}
	if depth%50 == 5 {
		if got := searchOnStack(); got != lowOnStack() || got[0] == 0 {
			t.Errorf("wrong nonces at depth %d: %d", depth, got)
		}
	}
	if depth > 0 {
		hashOnStack(t, depth-1)
	}
	runtime.KeepAlive(&bytes)
}

// Thousands of goroutines, with stacks that grow around the calls, while the garbage collector never rests.
func TestGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var stop atomic.Bool
	var collector sync.WaitGroup
	collector.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	n := 3000
	if testing.Short() {
		n = 300
	}
	msgs := longLists()[3]
	want := make([]byte, len(msgs)*20)
	for i, msg := range msgs {
		hashOf(SHA1, want[20*i:], msg)
	}
	var group sync.WaitGroup
	for g := range n {
		group.Go(func() {
			hashOnStack(t, g%100)
			if g%30 != 0 {
				return
			}
			got := make([]byte, len(want))
			SumMany(SHA1, got, msgs)
			if !bytes.Equal(got, want) {
				t.Error("wrong digests of long messages")
			}
		})
	}
	group.Wait()
	stop.Store(true)
	collector.Wait()
}

// The garbage collector does not wait for the end of a long call.
func TestCollectorInterrupts(t *testing.T) {
	const most = 3200
	row, got := make([]byte, 1<<20), make([]byte, most*32)
	search := Search{Alg: SHA256, Again: SHA256, Prefix: row[:76], Suffix: row[:20_000]}
	for name, call := range map[string]func(n int){
		"rows":       func(n int) { SumRows(SHA256, got, row, n, len(row), 0) },
		"rows again": func(n int) { SumAgainRows(SHA256, RIPEMD160, got, row, n, len(row), 0) },
		"search":     func(n int) { SearchNonces(&search, 0, uint64(50*n), make([]uint64, 1)) },
	} {
		if !isInterrupted(call, most) {
			t.Errorf("%s: no garbage collection ended while %d MiB were hashed in one call", name, most)
		}
	}
}

// isInterrupted reports whether a garbage collection ends during a call with n of 50 to most.
func isInterrupted(call func(n int), most int) bool {
	for n := 50; n <= most; n *= 2 { // on a busy machine, or on one CPU, a collection may take longer than a short call
		var collected, running atomic.Bool
		running.Store(true)
		var collector sync.WaitGroup
		collector.Go(func() {
			for running.Load() {
				runtime.GC()
				if running.Load() {
					collected.Store(true)
				}
			}
		})
		call(n)
		running.Store(false)
		collector.Wait()
		if collected.Load() {
			return true
		}
	}
	return false
}

// CPU profiles, execution traces and tracebacks of all goroutines while goroutines are inside of the text.
func TestProfiles(t *testing.T) {
	var profile, events bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal("CPU profile: ", err) // systems without one return no error
	}
	traced := trace.Start(&events) == nil
	rows := randomBytes(12, 1<<20)
	var group sync.WaitGroup
	for _, alg := range All {
		group.Go(func() {
			got := make([]byte, 100*alg.Size())
			for range 3 {
				SumRows(alg, got, rows, 100, 60_000, 1000)
				SumRows(alg, got, rows, 100, 64, 1000)
			}
			if alg.Info().IsXOF {
				return
			}
			var key Key
			KeyInit(&key, alg, rows[:300])
			MACRows(&key, got, rows, 100, 100_000, 1000)
		})
	}
	all := make([]byte, 1<<16)
	for range 20 {
		runtime.Stack(all, true)
		runtime.Gosched()
	}
	group.Wait()
	pprof.StopCPUProfile()
	if traced {
		trace.Stop()
	}
}

// A CPU profile names the function of the core, and the Go function that called it.
func TestCallersInProfiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: go: CPU profiles: " + runtime.GOOS + " may have none")
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Skip("SKIPPED: go: CPU profiles: ", err)
	}
	rows, got := make([]byte, 1<<20), make([]byte, 16*32)
	name := filepath.Join(t.TempDir(), "profile")
	for range 10 { // a busy machine may take no sample in a while
		var profile bytes.Buffer
		if err := pprof.StartCPUProfile(&profile); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); time.Since(begin) < 200*time.Millisecond; {
			SumRows(SHA256, got, rows, 16, 60_000, 60_000)
		}
		pprof.StopCPUProfile()
		if err := os.WriteFile(name, profile.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		command := exec.Command(goTool, "tool", "pprof", "-traces", name)
		traces, err := command.Output()
		if command.ProcessState == nil {
			t.Skip("SKIPPED: go: CPU profiles: ", err) // an emulator cannot start the go of this machine
		}
		if err != nil {
			t.Fatal(err)
		}
		for stack := range strings.SplitSeq(string(traces), "-----------+") {
			// The kernel may be in a function of its own file that it calls.
			whole := strings.Join(strings.Fields(stack), " ")
			if strings.Contains(whole, "/core.hli_sha256_") &&
				strings.HasSuffix(whole, "/core.TestCallersInProfiles testing.tRunner") {
				return
			}
		}
	}
	t.Error("no sample is in a function of the core that this test has called")
}

// Neither a secret nor a state of its key stays in the memory of a call, which other goroutines get.
func TestSecretsAreWiped(t *testing.T) {
	s := onlyScratch(t)
	memory := unsafe.Slice((*byte)(unsafe.Pointer(s)), int(unsafe.Sizeof(*s)))
	long := randomBytes(13, 300_000)
	messages := make([]byte, 101_000)
	got := make([]byte, 100*MaxSize)
	eachImplementation(t, func(t *testing.T, _ bool) {
		for _, alg := range All {
			if alg.Info().IsXOF {
				continue // no keys
			}
			for _, secret := range [][]byte{long[:60], long[:900], long} {
				var key Key
				check := func(call string) {
					t.Helper()
					stateSize := alg.Info().WordSize * alg.Info().NWords
					state := unsafe.Slice((*byte)(unsafe.Pointer(&key)), 2*unsafe.Sizeof(key.inner))
					secrets := map[string][]byte{
						"the secret": secret[:min(len(secret), 200)], "the inner state": state[:stateSize],
						"the outer state": state[unsafe.Sizeof(key.inner):][:stateSize],
					}
					for name, bytesOf := range secrets {
						for at := 0; at+16 <= len(bytesOf); at += 4 {
							if bytes.Contains(memory, bytesOf[at:at+16]) {
								t.Errorf("%v, %d bytes: %s leaves %s from byte %d on", alg, len(secret), call, name, at)
								break
							}
						}
					}
					clear(memory)
				}
				KeyInit(&key, alg, secret)
				check("KeyInit")
				for _, n := range []int{1, 3, 100} {
					for _, rowLen := range []int{10, 1000, 300_000 / n} {
						MACRows(&key, got, messages, n, min(rowLen, 100_000), 1)
						check("MACRows")
					}
				}
			}
		}
	})
}

// Nothing escapes: messages, digests and streams may lie on the caller's stack. (TestAllocations, two folders above,
// has the calls of every package.)
func TestNoAllocations(t *testing.T) {
	var key Key
	KeyInit(&key, SHA256, make([]byte, 100))
	runtime.GC() // twice, after which a pool has nothing left
	runtime.GC()
	n := testing.AllocsPerRun(20, func() {
		var onStack [64]byte
		var sums [2][32]byte
		var nonces [1]uint64
		var ctx Ctx
		msgs := [][]byte{onStack[:], onStack[:7]}
		got := unsafe.Slice(&sums[0][0], 64)
		SumMany(SHA256, got, msgs)
		SumAgainMany(SHA256, RIPEMD160, got[:40], msgs)
		SumRows(SHA256, got, onStack[:], 2, 32, 32)
		MACMany(&key, got, msgs)
		Init(&ctx, SHA256)
		Update(&ctx, onStack[:])
		Peek(&ctx, got)
		SumManyFrom(&ctx, got, msgs)
		search := Search{Alg: SHA256, Prefix: onStack[:], Suffix: onStack[:7]}
		SearchNonces(&search, 0, 1000, nonces[:])
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Arguments that would make the core read or write elsewhere.
func TestWrongArguments(t *testing.T) {
	row := make([]byte, 100)
	var ctx Ctx
	Init(&ctx, SHA1)
	var key Key
	for name, f := range map[string]func(){
		"digests":   func() { SumMany(SHA1, make([]byte, 39), [][]byte{row, row}) },
		"algorithm": func() { SumMany(Alg(len(rows)), make([]byte, 64), [][]byte{row}) },
		"none's":    func() { SumMany(0, make([]byte, 64), [][]byte{row}) },
		"rows":      func() { SumRows(SHA1, make([]byte, 60), row, 3, 34, 34) },
		"stride":    func() { SumRows(SHA1, make([]byte, 60), row, 3, 1, 1<<63-1) },
		"negative":  func() { SumRows(SHA1, make([]byte, 60), row, 3, 10, -1) },
		"chunks":    func() { UpdateMany([]*Ctx{&ctx, &ctx}, [][]byte{row}) },
		"stream":    func() { Update(new(Ctx), row) },
		"nil":       func() { UpdateMany([]*Ctx{&ctx, nil}, [][]byte{row, row}) },
		"mixed":     func() { PeekMany([]*Ctx{&ctx, new(Ctx)}, make([]byte, 40)) },
		"key":       func() { MACMany(&key, make([]byte, 64), [][]byte{row}) },
		"keys":      func() { MACManyKeys([]Key{{alg: 1}}, make([]byte, 64), [][]byte{row, row}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}
