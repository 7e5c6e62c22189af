// SPDX-License-Identifier: MIT OR Apache-2.0

package core

// SLHPlace is where a message has its signature: struct place of slh.c.
type SLHPlace struct {
	Tree uint64     // of layer 0
	Leaf uint32     // of that tree
	FORS [35]uint16 // the leaf of each FORS tree
}

// SLHGroup is the most signatures that SLHVerify takes.
const SLHGroup = 16
