// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"fmt"

	sha256 "github.com/hashloom/hashloom/go/compat/sha256simd"
)

// padded returns the block of a message of Krist: address, last block and nonce, 41 bytes.
func padded(message string) []byte {
	block := make([]byte, sha256.BlockSize)
	block[copy(block, message)] = 0x80
	block[62], block[63] = byte(len(message)*8>>8), byte(len(message)*8)
	return block
}

func ExampleSumCmp256() {
	block := padded("2018-1100504330358")
	fmt.Println(sha256.SumCmp256(block, 10641), sha256.SumCmp256(block, 10640))
	// Output: true false
}

func ExampleSumToNum256() {
	fmt.Printf("%012x\n", sha256.SumToNum256(padded("k5ztameslf0000000001e20000000000000050980")))
	fmt.Printf("%.6x\n", sha256.Sum256([]byte("k5ztameslf0000000001e20000000000000050980")))
	// Output:
	// e6aef1c845f2
	// e6aef1c845f2
}

func ExampleNew() {
	h := sha256.New()
	h.Write([]byte("hello world"))
	var digest [sha256.Size]byte
	fmt.Printf("%.4x\n", h.Sum(digest[:0]))
	// Output: b94d27b9
}
