// SPDX-License-Identifier: MIT OR Apache-2.0

package sha3_test

import (
	"fmt"
	"io"

	"github.com/hashloom/hashloom/go/sha3"
)

func ExampleNew256() {
	var h *sha3.SHA3 = sha3.New256()
	h.Write([]byte("hello "))
	h.Write([]byte("world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 644bcc7e
}

func ExampleSum256() {
	sum := sha3.Sum256([]byte("hello world"))
	fmt.Printf("%.4x\n", sum[:])
	// Output: 644bcc7e
}

func ExampleSumMany256() {
	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha3.Size256]byte, len(msgs))
	sha3.SumMany256(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}
	// Output:
	// 6f70f27e
	// cad32d6d
	// 441532cb
}

func ExampleSumRows256() {
	rows := []byte("onetwosix") // three rows of three bytes
	sums := make([][sha3.Size256]byte, 3)
	sha3.SumRows256(sums, rows, 3)
	fmt.Printf("%.4x\n", sums[1][:])
	// Output: cad32d6d
}

// A digest of any length, read in parts.
func ExampleNewSHAKE128() {
	var h *sha3.SHAKE = sha3.NewSHAKE128()
	h.Write([]byte("hello world"))
	part := make([]byte, 4)
	for range 2 {
		io.ReadFull(h, part)
		fmt.Printf("%x\n", part)
	}
	// Output:
	// 3a9159f0
	// 71e4dd1c
}

func ExampleSumSHAKE128() {
	fmt.Printf("%x\n", sha3.SumSHAKE128([]byte("hello world"), 8))
	// Output: 3a9159f071e4dd1c
}

// Keys of 8 bytes each, from names.
func ExampleSumManySHAKE128() {
	names := [][]byte{[]byte("one"), []byte("two")}
	keys := make([]byte, len(names)*8)
	sha3.SumManySHAKE128(keys, names, 8)
	fmt.Printf("%x\n%x\n", keys[:8], keys[8:])
	// Output:
	// 08e6a90dc43c2bd0
	// 82cab51240f00731
}

func ExampleNewCSHAKE128() {
	h := sha3.NewCSHAKE128(nil, []byte("Email Signature"))
	h.Write([]byte{0, 1, 2, 3})
	sum := make([]byte, 4)
	h.Read(sum)
	fmt.Printf("%x\n", sum)
	// Output: c1c36925
}

func ExampleNewCSHAKE256() {
	h := sha3.NewCSHAKE256(nil, []byte("Email Signature"))
	h.Write([]byte{0, 1, 2, 3})
	sum := make([]byte, 4)
	h.Read(sum)
	fmt.Printf("%x\n", sum)
	// Output: d008828e
}
