// func enter(c *call, s *scratch) uint64
//
// As in text_amd64.s.
TEXT ·enter(SB), 0, $16-24
	MOVD c+0(FP), R0
	MOVD s+8(FP), R1
	MOVD RSP, R19 // C keeps R19
	MOVD $scratch__size, R2
	ADD  R1, R2
	AND  $~63, R2
	MOVD R2, RSP
	BL   hashloom_core<>(SB)
	MOVD R19, RSP
	MOVD R0, ret+16(FP)
	RET
