// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !(amd64 || arm64) || purego || noasm

package core

// Package slhdsa has these in pure Go.

func SLHKeygen(set uint32, secret []byte) { panic("hashloom: internal error: no core") }

func SLHSign(set uint32, secret []byte, place *SLHPlace, signature []byte) bool {
	panic("hashloom: internal error: no core")
}

func SLHVerify(set uint32, keys, signatures [][]byte, places []SLHPlace, valid []bool) {
	panic("hashloom: internal error: no core")
}
