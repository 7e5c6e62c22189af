// SPDX-License-Identifier: MIT OR Apache-2.0

package ripemd160_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/ripemd160"
)

func Example() {
	sum, h := ripemd160.Sum([]byte("one")), ripemd160.New()
	h.Write([]byte("o"))
	h.Write([]byte("ne"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][ripemd160.Size]byte, len(msgs))
	ripemd160.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	ripemd160.SumRows(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// 086c7019 086c7019
	// 086c7019
	// a578b2ba
	// 4f6c98ac
	// a578b2ba
}
