// SPDX-License-Identifier: MIT OR Apache-2.0

package merkle

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/hashloom/hashloom/go/sha256"
)

// Range is a tree by the rule RFC6962 that grows, such as a log's: the number of its leaves, and the roots of its
// complete subtrees, at most 64 (a compact range). The zero Range has no leaves. A Range must not be changed by two
// goroutines at once.
type Range struct {
	size  uint64
	roots []Node // the greatest subtree first
}

// NewRange returns the range of size leaves, with the roots that [Range.Roots] returned, the greatest subtree first: as
// many as size has bits that are one. Else it fails.
func NewRange(size uint64, roots []Node) (*Range, error) {
	if len(roots) != bits.OnesCount64(size) {
		return nil, fmt.Errorf("merkle: NewRange: %d leaves have %d complete subtrees, not %d", size,
			bits.OnesCount64(size), len(roots))
	}
	return &Range{size, slices.Clone(roots)}, nil
}

// Size returns the number of leaves.
func (r *Range) Size() uint64 { return r.size }

// Roots returns a copy of the roots of the complete subtrees, the greatest first.
func (r *Range) Roots() []Node { return slices.Clone(r.roots) }

// Append appends leaves, all nodes of a layer side by side. visit, unless it is nil, is called for each node of a
// complete subtree that is new, layer by layer: node index of the layer at this height, both from 0, where leaves are.
func (r *Range) Append(leaves []Node, visit func(height int, index uint64, node Node)) {
	var single []Node // left over at a layer, from below
	layer, first := append(make([]Node, 1, 1+len(leaves)), leaves...), r.size
	r.size += uint64(len(leaves))
	for height := 0; len(layer) > 1; height++ { // behind layer[0], which has room for the node before
		if visit != nil {
			for i, node := range layer[1:] {
				visit(height, first+uint64(i), node)
			}
		}
		begin := 1
		if first%2 != 0 {
			last := len(r.roots) - 1
			begin, layer[0], r.roots = 0, r.roots[last], r.roots[:last]
		}
		if n := len(layer) - begin; n%2 != 0 {
			single = append(single, layer[len(layer)-1])
			layer = layer[:len(layer)-1]
		}
		pairs := layer[begin:]
		// The nodes above go where the first pair was, and the room for the next layer is before them.
		above := make([]Node, 1+len(pairs)/2)
		sha256.SumPairs(above[1:], pairs, 1)
		layer, first = above, first/2
	}
	for _, node := range slices.Backward(single) {
		r.roots = append(r.roots, node)
	}
}

// Root returns the root of the tree.
func (r *Range) Root() Node {
	if len(r.roots) == 0 {
		return sha256.Sum256(nil)
	}
	last := len(r.roots) - 1
	root := r.roots[last]
	for _, left := range slices.Backward(r.roots[:last]) {
		root = RFC6962.node(left, root)
	}
	return root
}
