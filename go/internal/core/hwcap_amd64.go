// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !openbsd && !purego && !noasm

package core

// hwcap is for arm64: the core itself asks an x86 CPU.
func hwcap() uint64 { return 0 }
