// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !purego && !noasm

#include "funcdata.h"
#include "go_asm.h"
#include "textflag.h"

// func enter(c *call, s *scratch) uint64
//
// Calls the core (gen/text.py). R12 points at the end of C's stack, in s. Not NOSPLIT: the check of the stack at the
// beginning is where the garbage collector stops a goroutine between two calls.
TEXT ·enter(SB), 0, $8-24
	NO_LOCAL_POINTERS
	MOVQ c+0(FP), DI
	MOVQ s+8(FP), SI
	LEAQ scratch_stack(SI), R12
	ADDQ $const_stackSize, R12
	ANDQ $~63, R12
	CALL ·hli_go(SB)
	MOVQ AX, ret+16(FP)
	RET

// func enterPairs(nodes *byte, count int, digests *byte)
//
// C's stack is in this frame: a pool's would take longer than two pairs do.
TEXT ·enterPairs(SB), 0, $16384-24
	NO_LOCAL_POINTERS
	MOVQ nodes+0(FP), DI
	MOVQ count+8(FP), SI
	MOVQ digests+16(FP), DX
	LEAQ (16384-64)(SP), R12
	ANDQ $~63, R12
	CALL ·hli_go_pairs(SB)
	RET

// func enterSLH(c *slhCall, s *scratch)
TEXT ·enterSLH(SB), 0, $8-16
	NO_LOCAL_POINTERS
	MOVQ c+0(FP), DI
	MOVQ s+8(FP), SI
	LEAQ scratch_stack(SI), R12
	ADDQ $const_stackSize, R12
	ANDQ $~63, R12
	CALL ·hli_go_slh(SB)
	RET
