// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build (amd64 || arm64) && !purego && !noasm

package core

import (
	"sync"
	"unsafe"
)

// slhOp is the number of a call in gen/slh.c.
type slhOp uint32

const (
	slhKeygen slhOp = iota
	slhSign
	slhPart
	slhEnd
	slhVerify
)

// slhCall is the argument of a call: struct slh_call of gen/slh.c.
type slhCall struct {
	op               slhOp
	set              uint32
	part             uint32
	status           uint32
	task             *slhTask
	memory           *byte
	memorySize       uintptr
	secret, out      *byte
	places           *SLHPlace
	keys, signatures **byte
	count            int
	valid            *bool
}

// slhTask is hl_slh_task of the C core.
type slhTask struct {
	set, nparts uint32
	_           [2040]uint64
}

// slhWork is the memory of a key or a signature in the making. It is on the heap, where nothing moves: the task points
// to the secret and to what is made.
type slhWork struct {
	task      slhTask
	memory    [108_671]byte // hl_slh_scratch_nbytes() of the C core
	secret    [4 * 32]byte
	made      [4 * 32]byte
	signature []byte
}

var slhWorks = sync.Pool{New: func() any { return new(slhWork) }}

const statusState = 4 // HL_ESTATE

// enterSLH calls the core: enter_amd64.s, enter_arm64.s.
//
//go:noescape
func enterSLH(c *slhCall, s *scratch)

// run makes one call, for which no garbage collector can stop the goroutine: about half a millisecond.
func (c *slhCall) run(op slhOp, w *slhWork, s *scratch) {
	c.op = op
	c.task, c.memory, c.memorySize = &w.task, &w.memory[0], unsafe.Sizeof(w.memory)
	enterSLH(c, s)
	if c.status != 0 && !(op == slhEnd && c.status == statusState) {
		panic("hashloom: internal error: " + statuses[c.status])
	}
}

// runParts makes what was begun.
func (c *slhCall) runParts(w *slhWork, s *scratch) {
	for c.part = 0; c.part < w.task.nparts; c.part++ {
		c.run(slhPart, w, s)
	}
	c.run(slhEnd, w, s)
}

// takeSLH returns memory for a call with this secret, and the function that wipes and frees it.
func takeSLH(c *slhCall, secret []byte) (w *slhWork, s *scratch, free func()) {
	from := &kept[0]
	w, s = slhWorks.Get().(*slhWork), takeScratch(from)
	copy(w.secret[:], secret)
	c.secret = &w.secret[0]
	return w, s, func() {
		clear(w.secret[:])
		clear(w.made[:])
		w.signature = nil
		s.free(from)
		slhWorks.Put(w)
	}
}

// SLHKeygen completes a secret key, of which the three seeds are there.
func SLHKeygen(set uint32, secret []byte) {
	c := slhCall{set: set}
	w, s, free := takeSLH(&c, secret)
	c.out = &w.made[0]
	c.run(slhKeygen, w, s)
	c.runParts(w, s)
	copy(secret, w.made[:])
	free()
}

// SLHSign completes a signature, of which the randomizer is there. It returns false if the signature is wrong.
func SLHSign(set uint32, secret []byte, place *SLHPlace, signature []byte) bool {
	c := slhCall{set: set, places: place}
	w, s, free := takeSLH(&c, secret)
	w.signature = signature
	c.out = &signature[0]
	c.run(slhSign, w, s)
	c.runParts(w, s)
	free()
	return c.status == 0
}

// SLHVerify sets valid[i] to whether signatures[i], which has its length, is right for keys[i] and places[i].
func SLHVerify(set uint32, keys, signatures [][]byte, places []SLHPlace, valid []bool) {
	var at [2][SLHGroup]*byte
	c := slhCall{set: set, places: &places[0], keys: &at[0][0], signatures: &at[1][0], count: len(places),
		valid: &valid[:len(places)][0]}
	for i := range places {
		at[0][i], at[1][i] = &keys[i][0], &signatures[i][0]
	}
	w, s, free := takeSLH(&c, nil)
	c.run(slhVerify, w, s)
	free()
}
