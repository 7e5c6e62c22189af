// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !openbsd && !purego && !noasm

package core

import (
	"runtime"
	_ "unsafe" // for go:linkname
)

// The runtime offers it for golang.org/x/sys/cpu.
//
//go:linkname getAuxv runtime.getAuxv
func getAuxv() []uintptr

// hwcap returns the CPU's features as bits of Linux's AT_HWCAP. A program cannot read the CPU's own registers. Where
// the operating system is not asked, only NEON is used, which every 64-bit ARM has.
func hwcap() uint64 {
	const sha1, sha2, sha3, sha512 = 1 << 5, 1 << 6, 1 << 17, 1 << 21
	wanted := uintptr(0)
	switch runtime.GOOS {
	case "linux", "android":
		wanted = 16
	case "freebsd": // has Linux's bits
		wanted = 25
	case "darwin": // every CPU since the M1
		return sha1 | sha2 | sha3 | sha512
	case "ios": // every CPU since the A7
		return sha1 | sha2
	default:
		return 0
	}
	auxv := getAuxv()
	for i := 0; i+1 < len(auxv); i += 2 {
		if auxv[i] == wanted {
			return uint64(auxv[i+1])
		}
	}
	return 0
}
