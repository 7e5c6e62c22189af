// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !purego && !noasm

#include "funcdata.h"
#include "go_asm.h"
#include "textflag.h"

// func enter(c *call, s *scratch) uint64
//
// Calls the core (gen/text.py). R26 points at the end of C's stack, in s. Not NOSPLIT: the check of the stack at the
// beginning is where the garbage collector stops a goroutine between two calls.
TEXT ·enter(SB), 0, $8-24
	NO_LOCAL_POINTERS
	MOVD c+0(FP), R0
	MOVD s+8(FP), R1
	ADD  $scratch_stack, R1, R26
	ADD  $const_stackSize, R26
	AND  $~63, R26
	CALL ·hli_go(SB)
	MOVD R0, ret+16(FP)
	RET

// func enterPairs(nodes *byte, count int, digests *byte)
//
// C's stack is in this frame: a pool's would take longer than two pairs do.
TEXT ·enterPairs(SB), 0, $16384-24
	NO_LOCAL_POINTERS
	MOVD nodes+0(FP), R0
	MOVD count+8(FP), R1
	MOVD digests+16(FP), R2
	ADD  $(16384-64), RSP, R26
	AND  $~63, R26
	CALL ·hli_go_pairs(SB)
	RET

// func enterSLH(c *slhCall, s *scratch)
TEXT ·enterSLH(SB), 0, $8-16
	NO_LOCAL_POINTERS
	MOVD c+0(FP), R0
	MOVD s+8(FP), R1
	ADD  $scratch_stack, R1, R26
	ADD  $const_stackSize, R26
	AND  $~63, R26
	CALL ·hli_go_slh(SB)
	RET
