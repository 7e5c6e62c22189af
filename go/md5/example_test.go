// SPDX-License-Identifier: MIT OR Apache-2.0

package md5_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/md5"
)

func Example() {
	sum, h := md5.Sum([]byte("one")), md5.New()
	h.Write([]byte("o"))
	h.Write([]byte("ne"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][md5.Size]byte, len(msgs))
	md5.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	md5.SumRows(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// f97c5d29 f97c5d29
	// f97c5d29
	// b8a9f715
	// 35d6d334
	// b8a9f715
}
