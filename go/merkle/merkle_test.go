// SPDX-License-Identifier: MIT OR Apache-2.0

package merkle_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"testing"

	"github.com/hashloom/hashloom/go/merkle"
)

func leaves(n int) []merkle.Node {
	all := make([]merkle.Node, n)
	for i := range all {
		all[i] = sha256.Sum256([]byte{0, byte(i), byte(i >> 8)})
	}
	return all
}

func join(prefix []byte, left, right merkle.Node) merkle.Node {
	return sha256.Sum256(slices.Concat(prefix, left[:], right[:]))
}

// root is the root by the definitions: RFC 6962 splits at the greatest power of two below n; the others are complete
// trees of a depth.
func root(rule merkle.Rule, all []merkle.Node, depth int) merkle.Node {
	switch {
	case rule == merkle.RFC6962 && len(all) == 0:
		return sha256.Sum256(nil)
	case rule == merkle.RFC6962 && len(all) > 1:
		k := 1
		for 2*k < len(all) {
			k *= 2
		}
		return join([]byte{1}, root(rule, all[:k], 0), root(rule, all[k:], 0))
	case rule == merkle.RFC6962:
		return all[0]
	case rule == merkle.Zeros && depth == 0:
		return slices.Concat(all, []merkle.Node{{}})[0]
	case rule == merkle.Zeros:
		half := min(len(all), 1<<(depth-1))
		return join(nil, root(rule, all[:half], depth-1), root(rule, all[half:], depth-1))
	}
	for len(all) > 1 {
		if len(all)%2 != 0 {
			all = append(slices.Clone(all), all[len(all)-1])
		}
		var above []merkle.Node
		for i := 0; i < len(all); i += 2 {
			inner := join(nil, all[i], all[i+1])
			above = append(above, sha256.Sum256(inner[:]))
		}
		all = above
	}
	return slices.Concat(all, []merkle.Node{{}})[0]
}

// Roots are those of the definitions, each leaf has a proof, and no other one.
func TestTree(t *testing.T) {
	for _, rule := range []merkle.Rule{merkle.RFC6962, merkle.Bitcoin, merkle.Zeros} {
		for _, n := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 31, 33, 64, 65, 100, 257, 1000} {
			all := leaves(n)
			least := 0
			for 1<<least < n {
				least++
			}
			for _, depth := range []int{0, least, least + 3} {
				if depth != 0 && rule != merkle.Zeros {
					continue
				}
				kept := slices.Clone(all)
				tree := merkle.New(rule, all, depth)
				want := root(rule, all, max(depth, least))
				if tree.Root() != want || !slices.Equal(all, kept) {
					t.Fatalf("rule %d, %d leaves, depth %d: %x, not %x", rule, n, depth, tree.Root(), want)
				}
				for i := 0; i < n; i += 1 + n/50 {
					proof := tree.Proof(i)
					if !merkle.Verify(rule, want, all[i], i, n, proof) {
						t.Fatalf("rule %d, leaf %d of %d, depth %d: its proof is refused", rule, i, n, depth)
					}
					longer := append(slices.Clone(proof), merkle.Node{})
					if rule != merkle.Bitcoin && merkle.Verify(rule, want, all[i], i^1, n, proof) && n > 1 ||
						merkle.Verify(rule, want, all[i], i, n, longer) || merkle.Verify(rule, want, merkle.Node{7}, i, n, proof) ||
						merkle.Verify(rule, want, all[i], n, n, proof) || merkle.Verify(rule, want, all[i], -1, n, proof) ||
						len(proof) > 0 && merkle.Verify(rule, want, all[i], i, n, proof[1:]) {
						t.Fatalf("rule %d, leaf %d of %d, depth %d: a wrong proof is accepted", rule, i, n, depth)
					}
				}
			}
		}
	}
}

func TestRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"rule": func() { merkle.New(4, nil, 0) }, "depth of Bitcoin": func() { merkle.New(merkle.Bitcoin, leaves(2), 1) },
		"depth": func() { merkle.New(merkle.Zeros, leaves(5), 2) }, "65": func() { merkle.New(merkle.Zeros, nil, 65) },
		"leaf": func() { merkle.New(merkle.Bitcoin, leaves(2), 0).Proof(2) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

// The Merkle root of Bitcoin's block 170, of two transactions, of which the second was the first payment.
func ExampleNew() {
	var leaves []merkle.Node
	for _, id := range []string{"b1fea52486ce0c62bb442b530a3f0132b826c74e473d1f2c220bfa78111c5082",
		"f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"} {
		bytes, _ := hex.DecodeString(id)
		slices.Reverse(bytes) // as Bitcoin writes digests
		leaves = append(leaves, merkle.Node(bytes))
	}
	root := merkle.New(merkle.Bitcoin, leaves, 0).Root()
	slices.Reverse(root[:])
	fmt.Printf("%x\n", root)
	// Output: 7dac2c5666815c17a3b36427de37bb9d2e2c5ccec3f8633eb91a4205cb4c10ff
}

func ExampleTree_Proof() {
	leaves := []merkle.Node{sha256.Sum256([]byte("\x00a")), sha256.Sum256([]byte("\x00b")), sha256.Sum256([]byte("\x00c"))}
	tree := merkle.New(merkle.RFC6962, leaves, 0)
	proof := tree.Proof(2)
	fmt.Println(len(proof), merkle.Verify(merkle.RFC6962, tree.Root(), leaves[2], 2, 3, proof))
	// Output: 1 true
}

func TestRange(t *testing.T) {
	all := leaves(300)
	for _, step := range []int{1, 2, 3, 7, 64, 299} {
		r := new(merkle.Range)
		seen := map[[2]uint64]merkle.Node{}
		for first := 0; ; {
			if want := root(merkle.RFC6962, all[:first], 0); r.Root() != want || r.Size() != uint64(first) {
				t.Fatalf("%d leaves, %d at a time: %x, want %x", first, step, r.Root(), want)
			}
			kept, err := merkle.NewRange(r.Size(), r.Roots())
			if err != nil {
				t.Fatal(err)
			}
			if r = kept; first == len(all) {
				break
			}
			next := min(first+step, len(all))
			r.Append(all[first:next], func(height int, index uint64, node merkle.Node) {
				at := [2]uint64{uint64(height), index}
				if _, isKnown := seen[at]; isKnown {
					t.Errorf("%v is told twice", at)
				}
				seen[at] = node
			})
			first = next
		}
		nnodes := 0
		for height := 0; len(all)>>height > 0; height++ {
			for i := range len(all) >> height {
				want := root(merkle.RFC6962, all[i<<height:(i+1)<<height], 0)
				if seen[[2]uint64{uint64(height), uint64(i)}] != want {
					t.Errorf("%d at a time: node %d at height %d is wrong or was not told", step, i, height)
				}
				nnodes++
			}
		}
		if len(seen) != nnodes {
			t.Errorf("%d at a time: %d nodes, want %d", step, len(seen), nnodes)
		}
	}
	// The same leaves have this root in test/api.c and rust/hashloom/tests/all/merkle.rs.
	r := new(merkle.Range)
	for i := range 150 {
		r.Append([]merkle.Node{merkle.Node(bytes.Repeat([]byte{byte(i)}, 32))}, nil)
	}
	if got := fmt.Sprintf("%x", r.Root()); got != "5f84e146e8b4010b6a76d0fdcbc663518fac745cba1cda1f25c958355cdf89dc" {
		t.Errorf("the root of 150 leaves is %s", got)
	}
	if r, err := merkle.NewRange(3, all[:1]); err == nil {
		t.Errorf("%v", r)
	}
}

func ExampleRange() {
	log := new(merkle.Range)
	log.Append([]merkle.Node{sha256.Sum256([]byte("\x00one")), sha256.Sum256([]byte("\x00two"))}, nil)
	size, roots := log.Size(), log.Roots() // what a log keeps
	log, err := merkle.NewRange(size, roots)
	log.Append([]merkle.Node{sha256.Sum256([]byte("\x00three"))}, func(height int, index uint64, node merkle.Node) {
		fmt.Printf("node %d at height %d: %.4x\n", index, height, node[:])
	})
	root := log.Root()
	fmt.Printf("%d leaves: %.4x %v\n", log.Size(), root[:], err)
	// Output:
	// node 2 at height 0: 671f146c
	// 3 leaves: 5aac771c <nil>
}
