// SPDX-License-Identifier: MIT OR Apache-2.0

package merkle

import (
	"slices"

	"github.com/hashloom/hashloom/go/sha256"
)

func rootInPlace(level [][32]byte) [32]byte {
	for ; len(level) > 1; level = level[:len(level)/2] {
		sha256.SumPairs(level[:len(level)/2], level)
	}
	return level[0]
}

func (h *Hash) Write(p []byte) (n int, err error) {
	n = len(p)
	if h.nextBlockWritten > 0 {
		filled := copy(h.nextBlock[h.nextBlockWritten:], p)
		h.nextBlockWritten += filled
		p = p[filled:]
		if h.nextBlockWritten == BlockSize {
			h.blocks = append(h.blocks, sha256.Sum256(h.nextBlock[:]))
			h.nextBlockWritten = 0
		}
	}
	if whole := len(p) / BlockSize; whole > 0 {
		old := len(h.blocks)
		h.blocks = slices.Grow(h.blocks, whole)[:old+whole]
		sha256.SumRows(h.blocks[old:], p[:whole*BlockSize], BlockSize)
		p = p[whole*BlockSize:]
	}
	if len(p) > 0 {
		h.nextBlockWritten += copy(h.nextBlock[h.nextBlockWritten:], p)
	}
	return n, nil
}
