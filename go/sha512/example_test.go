// SPDX-License-Identifier: MIT OR Apache-2.0

package sha512_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha512"
)

func ExampleNew() {
	h := sha512.New()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 309ecc48
}

func ExampleSum512() {
	sum := sha512.Sum512([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: 309ecc48
}

func ExampleSumMany() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha512.Size]byte, len(msgs))
	sha512.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// 05f70341
	// 928d50d1
	// 62758e4a
}

func ExampleSumRows() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][sha512.Size]byte, 3)
	sha512.SumRows(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: 928d50d1
}
