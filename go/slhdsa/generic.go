// SPDX-License-Identifier: MIT OR Apache-2.0

package slhdsa

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/binary"

	"github.com/hashloom/hashloom/go/internal/core"
)

// Keys, signatures and verification in pure Go, one hash after another: for CPUs, and builds, without the core.

// Types of addresses (FIPS 205 section 4.2).
const (
	wotsHash = iota
	wotsPK
	tree
	forsTree
	forsRoots
	wotsPRF
	forsPRF
)

// address is what tells each hash from all others: layer, tree, type and three words.
type address struct {
	layer                    uint32
	tree                     uint64
	typ, word1, word2, word3 uint32
}

// hasher has the hashes of a key.
type hasher struct {
	*set
	pkSeed, skSeed []byte
	buffer         []byte
}

// sum sets dst to F, PRF, H or T_l (section 11) of an address and the values.
func (h *hasher) sum(dst []byte, at address, values ...[]byte) {
	b := append(h.buffer[:0], h.pkSeed...)
	isLong := h.n > 16 && (len(values) > 1 || len(values[0]) > h.n)
	if h.shake {
		b = binary.BigEndian.AppendUint32(b, at.layer)
		b = append(b, 0, 0, 0, 0)
	} else {
		b = append(b, make([]byte, 64-h.n)...)
		if isLong {
			b = append(b, make([]byte, 64)...)
		}
		b = append(b, byte(at.layer))
	}
	b = binary.BigEndian.AppendUint64(b, at.tree)
	if h.shake {
		b = append(b, 0, 0, 0)
	}
	b = append(b, byte(at.typ))
	for _, word := range []uint32{at.word1, at.word2, at.word3} {
		b = binary.BigEndian.AppendUint32(b, word)
	}
	for _, value := range values {
		b = append(b, value...)
	}
	h.buffer = b
	switch {
	case h.shake:
		copy(dst[:h.n], sha3.SumSHAKE256(b, h.n))
	case isLong:
		sum := sha512.Sum512(b)
		copy(dst[:h.n], sum[:])
	default:
		sum := sha256.Sum256(b)
		copy(dst[:h.n], sum[:])
	}
}

// chain hashes value from step `from` to step `to` in place.
func (h *hasher) chain(value []byte, at address, from, to uint32) {
	at.typ = wotsHash
	for at.word3 = from; at.word3 < to; at.word3++ {
		h.sum(value, at, value)
	}
}

// wots sets the values of a one-time key: those that sign these digits, or with nil the ends of the chains.
func (h *hasher) wots(values []byte, at address, digits []uint32) {
	for i := range h.len() {
		value := values[i*h.n:][:h.n]
		at.word2, at.typ = uint32(i), wotsPRF
		h.sum(value, at, h.skSeed)
		to := uint32(15)
		if digits != nil {
			to = digits[i]
		}
		h.chain(value, at, 0, to)
	}
}

// wotsKey sets dst to the public key of the ends of its chains.
func (h *hasher) wotsKey(dst []byte, at address, ends []byte) {
	at.typ, at.word2, at.word3 = wotsPK, 0, 0
	h.sum(dst, at, ends)
}

// digits returns those of a value, base 16, and of their checksum (section 5.2).
func (p *set) digits(value []byte) []uint32 {
	digits, sum := make([]uint32, 0, p.len()), uint32(0)
	for _, b := range value[:p.n] {
		digits = append(digits, uint32(b>>4), uint32(b&15))
		sum += 30 - uint32(b>>4) - uint32(b&15)
	}
	return append(digits, sum>>8, sum>>4&15, sum&15)
}

// climb hashes the leaves of a tree to its root, which it returns, and writes the path of leaf `index`. first is the
// number of the first leaf. It writes over the leaves.
func (h *hasher) climb(nodes []byte, at address, first, index uint32, path []byte) []byte {
	for at.word2 = 1; len(nodes) > h.n; at.word2++ {
		copy(path, nodes[int(index^1)*h.n:][:h.n])
		path = path[min(h.n, len(path)):]
		first, index = first/2, index/2
		for i := range len(nodes) / h.n / 2 {
			at.word3 = first + uint32(i)
			h.sum(nodes[i*h.n:], at, nodes[2*i*h.n:][:h.n], nodes[(2*i+1)*h.n:][:h.n])
		}
		nodes = nodes[:len(nodes)/2]
	}
	return nodes
}

// climbPath replaces a leaf by the root that its path leads to. number is the leaf's, in all trees.
func (h *hasher) climbPath(node []byte, at address, number, index uint32, path []byte) {
	for at.word2 = 1; len(path) > 0; at.word2++ {
		left, right := node, path[:h.n]
		if index&1 != 0 {
			left, right = right, left
		}
		number, index = number/2, index/2
		at.word3 = number
		h.sum(node, at, left, right)
		path = path[h.n:]
	}
}

// root returns the root of an XMSS tree, and writes the path of leaf `index`.
func (h *hasher) root(at address, index uint32, path []byte) []byte {
	leaves := make([]byte, h.n<<(h.h/h.d))
	values := make([]byte, h.len()*h.n)
	for i := range len(leaves) / h.n {
		at.word1 = uint32(i)
		h.wots(values, at, nil)
		h.wotsKey(leaves[i*h.n:], at, values)
	}
	return h.climb(leaves, address{layer: at.layer, tree: at.tree, typ: tree}, 0, index, path)
}

// up returns the place one layer higher.
func (p *set) up(treeAt uint64, leaf uint32) (uint64, uint32) {
	bits := p.h / p.d
	return treeAt >> bits, uint32(treeAt & (1<<bits - 1))
}

// keygen completes a secret key.
func (p *set) keygen(secret []byte) {
	h := hasher{set: p, pkSeed: secret[2*p.n : 3*p.n], skSeed: secret[:p.n]}
	copy(secret[3*p.n:], h.root(address{layer: uint32(p.d - 1)}, 0, nil))
}

// sign completes a signature, and reports whether it is right.
func (p *set) sign(secret []byte, place *core.SLHPlace, signature []byte) bool {
	h := hasher{set: p, pkSeed: secret[2*p.n : 3*p.n], skSeed: secret[:p.n]}
	at := address{tree: place.Tree, word1: place.Leaf, typ: forsTree}
	rest := signature[p.n:]
	roots := make([]byte, 0, p.k*p.n)
	leaves := make([]byte, p.n<<p.a)
	for i, index := range place.FORS[:p.k] {
		first := uint32(i << p.a)
		for j := range 1 << p.a {
			leaf := leaves[j*p.n:][:p.n]
			at.typ, at.word2, at.word3 = forsPRF, 0, first+uint32(j)
			h.sum(leaf, at, h.skSeed)
			if j == int(index) {
				copy(rest, leaf)
			}
			at.typ = forsTree
			h.sum(leaf, at, leaf)
		}
		roots = append(roots, h.climb(leaves, at, first, uint32(index), rest[p.n:(1+p.a)*p.n])...)
		rest = rest[(1+p.a)*p.n:]
	}
	node := make([]byte, p.n)
	h.sum(node, address{tree: place.Tree, word1: place.Leaf, typ: forsRoots}, roots)
	treeAt, leaf := place.Tree, place.Leaf
	for layer := range p.d {
		at := address{layer: uint32(layer), tree: treeAt, word1: leaf}
		h.wots(rest, at, p.digits(node))
		rest = rest[p.len()*p.n:]
		node = h.root(at, leaf, rest[:p.h/p.d*p.n])
		rest = rest[p.h/p.d*p.n:]
		treeAt, leaf = p.up(treeAt, leaf)
	}
	return bytes.Equal(node, secret[3*p.n:]) && p.verify(secret[2*p.n:], place, signature)
}

// verify reports whether a signature of the right length is right.
func (p *set) verify(public []byte, place *core.SLHPlace, signature []byte) bool {
	h := hasher{set: p, pkSeed: public[:p.n]}
	at := address{tree: place.Tree, word1: place.Leaf, typ: forsTree}
	rest := signature[p.n:]
	roots := make([]byte, p.k*p.n)
	for i, index := range place.FORS[:p.k] {
		node := roots[i*p.n:][:p.n]
		at.word3 = uint32(i<<p.a) + uint32(index)
		h.sum(node, at, rest[:p.n])
		h.climbPath(node, at, at.word3, uint32(index), rest[p.n:(1+p.a)*p.n])
		rest = rest[(1+p.a)*p.n:]
	}
	node := make([]byte, p.n)
	h.sum(node, address{tree: place.Tree, word1: place.Leaf, typ: forsRoots}, roots)
	treeAt, leaf := place.Tree, place.Leaf
	for layer := range p.d {
		at := address{layer: uint32(layer), tree: treeAt, word1: leaf}
		ends := bytes.Clone(rest[:p.len()*p.n])
		for i, digit := range p.digits(node) {
			at.word2 = uint32(i)
			h.chain(ends[i*p.n:][:p.n], at, digit, 15)
		}
		h.wotsKey(node, at, ends)
		rest = rest[len(ends):]
		path := rest[:p.h/p.d*p.n]
		h.climbPath(node, address{layer: at.layer, tree: treeAt, typ: tree}, leaf, leaf, path)
		rest = rest[len(path):]
		treeAt, leaf = p.up(treeAt, leaf)
	}
	return bytes.Equal(node, public[p.n:])
}
