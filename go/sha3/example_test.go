// SPDX-License-Identifier: MIT OR Apache-2.0

package sha3_test

import (
	"fmt"
	"io"

	"github.com/hashloom/hashloom/go/sha3"
)

func Example() {
	sum, h := sha3.Sum256([]byte("one")), sha3.New256()
	h.Write([]byte("one"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha3.Size256]byte, len(msgs))
	sha3.SumMany256(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	sha3.SumRows256(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// 6f70f27e 6f70f27e
	// 6f70f27e
	// cad32d6d
	// 441532cb
	// cad32d6d
}

// Digests of any length: read in parts, at once, and keys of 8 bytes each from names.
func ExampleSHAKE() {
	h := sha3.NewSHAKE128()
	h.Write([]byte("hello world"))
	part := make([]byte, 4)
	for range 2 {
		io.ReadFull(h, part)
		fmt.Printf("%x\n", part)
	}
	fmt.Printf("%x\n", sha3.SumSHAKE128([]byte("hello world"), 8))
	keys := make([]byte, 2*8)
	sha3.SumManySHAKE128(keys, [][]byte{[]byte("one"), []byte("two")}, 8)
	fmt.Printf("%x\n%x\n", keys[:8], keys[8:])
	// Output:
	// 3a9159f0
	// 71e4dd1c
	// 3a9159f071e4dd1c
	// 08e6a90dc43c2bd0
	// 82cab51240f00731
}

func ExampleNewCSHAKE128() {
	for _, newHash := range []func(n, s []byte) *sha3.SHAKE{sha3.NewCSHAKE128, sha3.NewCSHAKE256} {
		h := newHash(nil, []byte("Email Signature"))
		h.Write([]byte{0, 1, 2, 3})
		sum := make([]byte, 4)
		h.Read(sum)
		fmt.Printf("%x\n", sum)
	}
	// Output:
	// c1c36925
	// d008828e
}
