// SPDX-License-Identifier: MIT OR Apache-2.0

// Package merkle makes Merkle trees of SHA-256 a layer at a time, all nodes of a layer side by side: the trees of
// Certificate Transparency and CometBFT (RFC 6962), of Bitcoin's blocks, of Ethereum's SSZ, and of BitTorrent's files
// (BEP 52). A tree that is made differently is a loop over [github.com/hashloom/hashloom/go/sha256.SumPairs].
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go]. A Tree is not changed by its
// methods: any number of goroutines may use it.
package merkle

import (
	"fmt"
	"math/bits"

	"github.com/hashloom/hashloom/go/bitcoin"
	"github.com/hashloom/hashloom/go/sha256"
)

// Node is a digest of 32 bytes: a leaf, an inner node, a root.
type Node = [sha256.Size]byte

// Rule says how two nodes become one, and what an odd node at the end of a layer becomes.
type Rule int

const (
	// RFC6962 is the rule of RFC 6962 section 2.1: SHA-256 of a byte 1 and two nodes. An odd node goes up as it is. A
	// leaf is SHA-256 of a byte 0 and the data. Without leaves the root is SHA-256 of nothing.
	RFC6962 Rule = iota + 1
	// Bitcoin is the rule of Bitcoin's blocks: SHA-256 of SHA-256 of two nodes. An odd node is paired with itself, so that
	// a tree that ends with nodes twice has the root of a shorter one (CVE-2012-2459). Without leaves the root is zeros.
	Bitcoin
	// Zeros is the rule of SSZ and BEP 52: SHA-256 of two nodes. An odd node is paired with the root of as high a tree of
	// zeros.
	Zeros
)

// Tree has all nodes of a tree.
type Tree struct {
	rule   Rule
	layers [][]Node
	zeros  []Node // the root of a tree of zeros, as high as each layer
}

// New makes the tree over leaves, which it keeps: they must not change. depth is the number of layers above them, which
// only Zeros has (SSZ: log2 of the limit): 0, or at most 64 and enough for the leaves. It panics if depth is not.
func New(rule Rule, leaves []Node, depth int) *Tree {
	if rule < RFC6962 || rule > Zeros {
		panic(fmt.Sprintf("merkle: no rule %d", rule))
	}
	if least := bits.Len(uint(max(len(leaves), 1) - 1)); depth != 0 && (rule != Zeros || depth < least || depth > 64) {
		panic(fmt.Sprintf("merkle: New: depth is %d: it is 0, or of Zeros, %d to 64 for %d leaves",
			depth, least, len(leaves)))
	}
	t := &Tree{rule: rule, layers: [][]Node{leaves}}
	var zeros Node
	for height := 0; len(t.layers[height]) > 1 || height < depth; height++ {
		layer := t.layers[height]
		pairs := layer[:len(layer)&^1]
		above := make([]Node, len(layer)-len(layer)/2)
		switch rule {
		case RFC6962:
			sha256.SumPairs(above, pairs, 1)
		case Bitcoin:
			bitcoin.SHA256dPairs(above, pairs)
		case Zeros:
			sha256.SumPairs(above, pairs)
		}
		if len(pairs) < len(layer) {
			odd := layer[len(pairs)]
			above[len(above)-1] = odd
			if beside, ok := t.beside(odd, zeros); ok {
				above[len(above)-1] = rule.node(odd, beside)
			}
		}
		t.layers, t.zeros = append(t.layers, above), append(t.zeros, zeros)
		if rule == Zeros {
			zeros = rule.node(zeros, zeros)
		}
	}
	t.zeros = append(t.zeros, zeros)
	return t
}

// node returns the node above two.
func (rule Rule) node(left, right Node) (node Node) {
	pair := [2]Node{left, right}
	switch rule {
	case RFC6962:
		sha256.SumPairs(pair[:1], pair[:], 1)
	case Bitcoin:
		bitcoin.SHA256dPairs(pair[:1], pair[:])
	default:
		sha256.SumPairs(pair[:1], pair[:])
	}
	return pair[0]
}

// beside returns what an odd node is paired with, if anything.
func (t *Tree) beside(odd, zeros Node) (Node, bool) {
	if t.rule == Bitcoin {
		return odd, true
	}
	return zeros, t.rule == Zeros
}

// Root returns the root.
func (t *Tree) Root() Node {
	top := len(t.layers) - 1
	switch {
	case len(t.layers[top]) > 0:
		return t.layers[top][0]
	case t.rule == RFC6962:
		return sha256.Sum256(nil)
	}
	return t.zeros[top]
}

// Proof returns the nodes beside the path of leaf i to the root, from below. Where RFC6962 pairs nothing there is none.
// It panics if there is no leaf i.
func (t *Tree) Proof(i int) []Node {
	if i < 0 || i >= len(t.layers[0]) {
		panic(fmt.Sprintf("merkle: Proof: there is no leaf %d of %d", i, len(t.layers[0])))
	}
	var proof []Node
	for height, layer := range t.layers[:len(t.layers)-1] {
		if i^1 < len(layer) {
			proof = append(proof, layer[i^1])
		} else if beside, ok := t.beside(layer[i], t.zeros[height]); ok {
			proof = append(proof, beside)
		}
		i /= 2
	}
	return proof
}

// Verify reports whether proof is that of leaf i in the tree of n leaves with this root.
func Verify(rule Rule, root, leaf Node, i, n int, proof []Node) bool {
	if rule < RFC6962 || rule > Zeros || i < 0 || i >= n || rule == Zeros && len(proof) > 64 {
		return false
	}
	for ; n > 1 || rule == Zeros && len(proof) > 0; n, i = n-n/2, i/2 {
		if i^1 >= n && rule == RFC6962 {
			continue
		}
		if len(proof) == 0 {
			return false
		}
		beside := proof[0]
		if i^1 >= n && rule == Bitcoin && beside != leaf {
			return false
		}
		if i%2 == 0 {
			leaf = rule.node(leaf, beside)
		} else {
			leaf = rule.node(beside, leaf)
		}
		proof = proof[1:]
	}
	return len(proof) == 0 && leaf == root
}
