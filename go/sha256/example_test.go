// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha256"
)

func ExampleNew() {
	h := sha256.New()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: b94d27b9
}

func ExampleSum256() {
	sum := sha256.Sum256([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: b94d27b9
}

func ExampleSumMany() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha256.Size]byte, len(msgs))
	sha256.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// 7692c3ad
	// 3fc4ccfe
	// 8b5b9db0
}

func ExampleSumRows() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][sha256.Size]byte, 3)
	sha256.SumRows(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: 3fc4ccfe
}
