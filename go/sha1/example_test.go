// SPDX-License-Identifier: MIT OR Apache-2.0

package sha1_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha1"
)

func ExampleNew() {
	h := sha1.New()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 2aae6c35
}

func ExampleSum() {
	sum := sha1.Sum([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: 2aae6c35
}

func ExampleSumMany() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha1.Size]byte, len(msgs))
	sha1.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// fe05bcdc
	// ad782ecd
	// b802f384
}

func ExampleSumRows() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][sha1.Size]byte, 3)
	sha1.SumRows(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: ad782ecd
}
