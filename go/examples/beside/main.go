// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build unix

// Beside hashes 4,096 messages of 1 KiB by crypto/sha256 and by hashloom, in turns, and prints the CPU time that each
// takes and the ratio. The ratio is the median of those of all turns; a busy machine shows itself by their spread.
package main

import (
	stdsha256 "crypto/sha256"
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/hashloom/hashloom/go/sha256"
)

func main() {
	rows := make([]byte, 4096<<10)
	one, many := make([][32]byte, 4096), make([][32]byte, 4096)
	std := func() {
		for i := range one {
			one[i] = stdsha256.Sum256(rows[i<<10:][:1<<10])
		}
	}
	ours := func() { sha256.SumRows(many, rows, 1<<10) }
	var stds, hashlooms, ratios [25]float64
	for i := range ratios {
		stds[i], hashlooms[i] = microseconds(std), microseconds(ours)
		ratios[i] = stds[i] / hashlooms[i]
	}
	for _, values := range [][]float64{stds[:], hashlooms[:], ratios[:]} {
		slices.Sort(values)
	}
	fmt.Printf("crypto/sha256 %5.0f microseconds of CPU time\nhashloom      %5.0f\n", stds[12], hashlooms[12])
	fmt.Printf("%.1f times as fast; half of the turns: %.1f to %.1f\n", ratios[12], ratios[6], ratios[18])
	fmt.Println("same digests:", slices.Equal(one, many))
}

// microseconds returns the CPU time of a call, from calls that take 40 ms together.
func microseconds(f func()) float64 {
	start, ncalls := cpu(), 0
	for cpu()-start < 40*time.Millisecond {
		f()
		ncalls++
	}
	return float64((cpu() - start).Microseconds()) / float64(ncalls)
}

func cpu() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
