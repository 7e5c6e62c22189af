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

func ExampleNew384() {
	h := sha512.New384()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: fdbd8e75
}

func ExampleSum384() {
	sum := sha512.Sum384([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: fdbd8e75
}

func ExampleSumMany384() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha512.Size384]byte, len(msgs))
	sha512.SumMany384(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// 5dbcbedb
	// 0b5a10c7
	// 0a87bc22
}

func ExampleSumRows384() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][sha512.Size384]byte, 3)
	sha512.SumRows384(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: 0b5a10c7
}

func Example_truncated() {
	h := sha512.New512_224()
	h.Write([]byte("hello world"))
	sum224 := sha512.Sum512_224([]byte("hello world"))
	fmt.Printf("%.4x %.4x\n", h.Sum(nil), sum224[:])

	h = sha512.New512_256()
	h.Write([]byte("hello world"))
	sum256 := sha512.Sum512_256([]byte("hello world"))
	fmt.Printf("%.4x %.4x\n", h.Sum(nil), sum256[:])
	// Output:
	// 22e0d523 22e0d523
	// 0ac561fa 0ac561fa
}

func Example_truncatedMany() {
	sums224 := make([][sha512.Size224]byte, 2)
	sums256 := make([][sha512.Size256]byte, 2)
	msgs := [][]byte{[]byte("one"), []byte("two")}
	sha512.SumMany512_224(sums224, msgs)
	sha512.SumMany512_256(sums256, msgs)
	fmt.Printf("%.4x %.4x\n", sums224[1][:], sums256[1][:])

	rows := []byte("onetwo")
	sha512.SumRows512_224(sums224, rows, 3)
	sha512.SumRows512_256(sums256, rows, 3)
	fmt.Printf("%.4x %.4x\n", sums224[1][:], sums256[1][:])
	// Output:
	// 2f98aa1e d22e87bb
	// 2f98aa1e d22e87bb
}
