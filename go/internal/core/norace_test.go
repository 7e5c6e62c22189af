// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !race && (amd64 || arm64) && !openbsd && !purego && !noasm

package core

const raceEnabled = false
