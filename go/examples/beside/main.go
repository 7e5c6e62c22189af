// SPDX-License-Identifier: MIT OR Apache-2.0

// Beside hashes 4,096 messages of 1 KiB by crypto/sha256 and by hashloom, and prints the time that each takes
// and the ratio.
package main

import (
	stdsha256 "crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/hashloom/hashloom/go/sha256"
)

func main() {
	rows := make([]byte, 4096<<10)
	one, many := make([][32]byte, 4096), make([][32]byte, 4096)
	std := fastest(func() {
		for i := range one {
			one[i] = stdsha256.Sum256(rows[i<<10:][:1<<10])
		}
	})
	ours := fastest(func() { sha256.SumRows(many, rows, 1<<10) })
	fmt.Println("crypto/sha256", std)
	fmt.Printf("hashloom      %v: %.2f times as fast\n", ours, std.Seconds()/ours.Seconds())
	fmt.Println("same digests:", slices.Equal(one, many))
}

// fastest returns the least of 50 times.
func fastest(f func()) time.Duration {
	least := time.Hour
	for range 50 {
		start := time.Now()
		f()
		least = min(least, time.Since(start))
	}
	return least
}
