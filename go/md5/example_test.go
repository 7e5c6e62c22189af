// SPDX-License-Identifier: MIT OR Apache-2.0

package md5_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/md5"
)

func ExampleNew() {
	h := md5.New()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 5eb63bbb
}

func ExampleSum() {
	sum := md5.Sum([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: 5eb63bbb
}

func ExampleSumMany() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][md5.Size]byte, len(msgs))
	md5.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// f97c5d29
	// b8a9f715
	// 35d6d334
}

func ExampleSumRows() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][md5.Size]byte, 3)
	md5.SumRows(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: b8a9f715
}
