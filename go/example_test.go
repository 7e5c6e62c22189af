// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	stdsha256 "crypto/sha256"
	"fmt"
	"hash"
	"slices"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
)

// Parts of three uploads arrive; each has a running hash.
func ExampleWriteMany() {
	hs := []hash.Hash{sha256.New(), sha256.New(), sha1.New()}
	hashloom.WriteMany(hs, [][]byte{[]byte("hello "), []byte("good"), []byte("abc")})
	hashloom.WriteMany(hs[:2], [][]byte{[]byte("world"), []byte("bye")})
	for _, h := range hs {
		fmt.Printf("%.4x\n", h.Sum(nil))
	}
	// Output:
	// b94d27b9
	// 82e35a63
	// a9993e36
}

func ExampleAppendSums() {
	hs := []hash.Hash{sha256.New(), sha256.New()}
	hashloom.WriteMany(hs, [][]byte{[]byte("one"), []byte("two")})
	sums := hashloom.AppendSums(nil, hs)
	fmt.Printf("%.4x %.4x\n", sums[:sha256.Size], sums[sha256.Size:])
	// Output: 7692c3ad 3fc4ccfe
}

// Salted messages: the salt is hashed once. The hash may also be one of the standard library.
func ExampleAppendSumsFrom() {
	salt := stdsha256.New()
	salt.Write([]byte("some salt, "))
	sums := hashloom.AppendSumsFrom(nil, salt, [][]byte{[]byte("one"), []byte("two")})
	fmt.Printf("%.4x %.4x\n", sums[:sha256.Size], sums[sha256.Size:])
	// Output: 5d95334e 608f0c04
}

func ExampleImplementations() {
	names := hashloom.Implementations()
	fmt.Println(slices.Contains(names, "scalar") || slices.Contains(names, "go"))
	// Output: true
}

func ExampleRestrict() {
	defer hashloom.Restrict()
	fmt.Println(hashloom.Restrict(hashloom.Implementations()[0])) // the plainest
	sum := make([][sha256.Size]byte, 1)
	sha256.SumMany(sum, [][]byte{[]byte("hello world")})
	fmt.Printf("%.4x\n", sum[0][:])
	// Output:
	// <nil>
	// b94d27b9
}
