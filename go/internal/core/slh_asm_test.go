// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"bytes"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"unsafe"
)

// slhSet is a set of parameters with fast signatures: 128f by both hashes, and the largest.
type slhSet struct {
	id                    uint32
	n, treeBits, leafBits int
	signatureSize         int
}

var slhSets = []slhSet{{3, 16, 63, 3, 17088}, {4, 16, 63, 3, 17088}, {11, 32, 64, 4, 49856}, {12, 32, 64, 4, 49856}}

// signSLH makes a key and a signature, and verifies it beside others.
func signSLH(t *testing.T, set slhSet) (secret, signature []byte) {
	UseSHA256(SHA256)
	UseSHA512(SHA512)
	UseKeccak(SHAKE256)
	secret, signature = randomBytes(uint64(set.id), 4*set.n), make([]byte, set.signatureSize)
	place := SLHPlace{Tree: 0x123456789abcdef0 & (1<<set.treeBits - 1), Leaf: 5, FORS: [35]uint16{3, 1, 4}}
	SLHKeygen(set.id, secret)
	if !SLHSign(set.id, secret, &place, signature) {
		t.Errorf("set %d: a signature is wrong", set.id)
	}
	n := 16
	keys, signatures, places := make([][]byte, n), make([][]byte, n), make([]SLHPlace, n)
	valid := make([]bool, n)
	for i := range n {
		keys[i], signatures[i], places[i] = secret[2*set.n:], signature, place
		if i == 7 {
			keys[i] = randomBytes(7, 2*set.n)
		}
	}
	SLHVerify(set.id, keys, signatures, places, valid)
	for i := range n {
		if valid[i] != (i != 7) {
			t.Errorf("set %d: signature %d: valid: %v", set.id, i, valid[i])
		}
	}
	return secret, signature
}

// Every call stays on its stack, and leaves nothing there, or in its memory, of the secret seeds, nor of what is made
// from them and not published.
func TestSLHStackAndSecrets(t *testing.T) {
	s, w := onlyScratch(t), new(slhWork)
	slhWorks = sync.Pool{New: func() any { return w }}
	t.Cleanup(func() { slhWorks = sync.Pool{New: func() any { return new(slhWork) }} })
	deepest := 0
	eachImplementation(t, func(t *testing.T, _ bool) {
		for _, set := range slhSets {
			for i := range s.stack {
				s.stack[i] = 0x5a5a5a5a5a5a5a5a
			}
			secret, _ := signSLH(t, set)
			i := 0
			for i < len(s.stack) && s.stack[i] == 0x5a5a5a5a5a5a5a5a {
				i++
			}
			deepest = max(deepest, 8*(len(s.stack)-i))
			for what, memory := range map[string][]byte{
				"stack": unsafe.Slice((*byte)(unsafe.Pointer(s)), int(unsafe.Sizeof(*s))),
				"work":  unsafe.Slice((*byte)(unsafe.Pointer(w)), int(unsafe.Sizeof(*w))),
			} {
				for at := 0; at+8 <= 2*set.n; at++ {
					if bytes.Contains(memory, secret[at:at+8]) {
						t.Errorf("set %d: the %s has byte %d of the secret key", set.id, what, at)
						break
					}
				}
			}
		}
	})
	if deepest > stackSize-4096 {
		t.Errorf("%d of %d bytes of stack were used", deepest, stackSize)
	}
	t.Logf("%d of %d bytes of stack were used", deepest, stackSize)
}

// Goroutines sign on stacks that grow, while the garbage collector never rests.
func TestSLHGoroutines(t *testing.T) {
	set := slhSets[0]
	_, want := signSLH(t, set)
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var stop atomic.Bool
	var collector, group sync.WaitGroup
	collector.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	var deeper func(depth int)
	deeper = func(depth int) {
		var room [500]byte
		if depth%5 == 0 {
			if _, got := signSLH(t, set); !bytes.Equal(got, want) {
				t.Errorf("another signature at depth %d", depth)
			}
		}
		if depth > 0 {
			deeper(depth - 1)
		}
		runtime.KeepAlive(&room)
	}
	for range 8 {
		group.Go(func() { deeper(20) })
	}
	group.Wait()
	stop.Store(true)
	collector.Wait()
}
