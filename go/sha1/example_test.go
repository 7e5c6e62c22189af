// SPDX-License-Identifier: MIT OR Apache-2.0

package sha1_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha1"
)

func Example() {
	sum, h := sha1.Sum([]byte("one")), sha1.New()
	h.Write([]byte("o"))
	h.Write([]byte("ne"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha1.Size]byte, len(msgs))
	sha1.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	sha1.SumRows(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// fe05bcdc fe05bcdc
	// fe05bcdc
	// ad782ecd
	// b802f384
	// ad782ecd
}
