// func enter(c *call, s *scratch) uint64
//
// As in text_amd64.s.
#ifdef GOOS_windows
TEXT ·enter(SB), 0, $49152-24
	MOVD $49152(RSP), R2
#else
TEXT ·enter(SB), 0, $16-24
	MOVD s+8(FP), R1
	MOVD $scratch__size, R2
	ADD  R1, R2
#endif
	MOVD c+0(FP), R0
	MOVD s+8(FP), R1
	MOVD RSP, R19 // C keeps R19
	AND  $~63, R2
	MOVD R2, RSP
	BL   hashloom_core<>(SB)
	MOVD R19, RSP
	MOVD R0, ret+16(FP)
	RET
