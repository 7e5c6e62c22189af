// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/sha256"
)

func Example() {
	sum, h := sha256.Sum256([]byte("one")), sha256.New()
	h.Write([]byte("o"))
	h.Write([]byte("ne"))
	fmt.Printf("%.4x %.4x\n", sum[:], h.Sum(nil))

	msgs := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	sums := make([][sha256.Size]byte, len(msgs))
	sha256.SumMany(sums, msgs)
	for _, sum := range sums {
		fmt.Printf("%.4x\n", sum[:])
	}

	sha256.SumRows(sums, []byte("onetwosix"), 3) // three rows of three bytes
	fmt.Printf("%.4x\n", sums[1][:])
	// Output:
	// 7692c3ad 7692c3ad
	// 7692c3ad
	// 3fc4ccfe
	// 8b5b9db0
	// 3fc4ccfe
}
