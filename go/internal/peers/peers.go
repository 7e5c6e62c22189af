// SPDX-License-Identifier: MIT OR Apache-2.0

// Package peers compares this repository's Go module with others: their digests, and their speed. It is a module of its
// own, so that the other one requires nothing.
//
//	go test           the comparison of digests
//	bench/go.sh       the speeds, beside the C library too (tag ccore), from the root of the repository
package peers

import (
	"os"
	"runtime"
	"slices"
	"strings"

	hashloom "github.com/hashloom/hashloom/go"
)

// Restrict makes the process measure as on a lesser CPU: the environment's WITHOUT has the parts of the names of
// instruction sets, with commas between them, that the core does without. The standard library does without them by
// GODEBUG=cpu.sha=off and so on (Go 1.26; golang.org/x/sys/cpu, in a program that has it, says that it knows no "sha");
// it has no code for AVX-512.
func Restrict() error {
	without := strings.FieldsFunc(os.Getenv("WITHOUT"), func(r rune) bool { return r == ',' })
	if len(without) == 0 {
		return nil
	}
	if runtime.GOARCH == "amd64" && slices.Contains(without, "avx2") {
		return hashloom.Restrict("go") // the core needs AVX2
	}
	return hashloom.Restrict(slices.DeleteFunc(hashloom.Implementations(), func(name string) bool {
		return slices.ContainsFunc(without, func(part string) bool { return strings.Contains(name, part) })
	})...)
}
