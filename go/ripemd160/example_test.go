// SPDX-License-Identifier: MIT OR Apache-2.0

package ripemd160_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/ripemd160"
)

func ExampleNew() {
	h := ripemd160.New()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 98c61578
}

func ExampleSum() {
	sum := ripemd160.Sum([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: 98c61578
}

func ExampleSumMany() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][ripemd160.Size]byte, len(msgs))
	ripemd160.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// 086c7019
	// a578b2ba
	// 4f6c98ac
}

func ExampleSumRows() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][ripemd160.Size]byte, 3)
	ripemd160.SumRows(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: a578b2ba
}
