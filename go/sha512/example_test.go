// SPDX-License-Identifier: MIT OR Apache-2.0

package sha512_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha512"
)

func Example() {
	sum, h := sha512.Sum512([]byte("one")), sha512.New()
	h.Write([]byte("o"))
	h.Write([]byte("ne"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha512.Size]byte, len(msgs))
	sha512.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	sha512.SumRows(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// 05f70341 05f70341
	// 05f70341
	// 928d50d1
	// 62758e4a
	// 928d50d1
}
