// func enter(c *call, s *scratch) uint64
//
// Calls the core on the stack in s. The frame is small, so that a goroutine's own stack does not grow. A write to SP
// tells Go's unwinder that a traceback cannot pass here. Not NOSPLIT: the check of the stack at the beginning is where
// the garbage collector stops a goroutine between two calls.
//
// On Windows the call's stack is the frame, stackSize bytes: there the CPU profiler takes a thread's goroutine from the
// stack pointer. If the stack pointer is in no goroutine's stack, the runtime crashes (profilem and sigprof, Go 1.26).
#ifdef GOOS_windows
TEXT ·enter(SB), 0, $49152-24
	LEAQ 49152(SP), AX
#else
TEXT ·enter(SB), 0, $0-24
	MOVQ s+8(FP), AX
	LEAQ scratch__size(AX), AX
#endif
	MOVQ c+0(FP), DI
	MOVQ s+8(FP), SI
	MOVQ SP, R12 // C keeps R12
	MOVQ AX, SP
	ANDQ $~63, SP
	CALL hashloom_core<>(SB)
	MOVQ R12, SP
	MOVQ AX, ret+16(FP)
	RET
