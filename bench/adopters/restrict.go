// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"os"
	"slices"
	"strings"
)

// WITHOUT=avx512,sha: as on a CPU without the instruction sets whose names have these parts.
func init() {
	without := strings.FieldsFunc(os.Getenv("WITHOUT"), func(r rune) bool { return r == ',' })
	if len(without) == 0 {
		return
	}
	if err := Restrict(slices.DeleteFunc(Implementations(), func(name string) bool {
		return slices.ContainsFunc(without, func(part string) bool { return strings.Contains(name, part) })
	})); err != nil {
		panic(err)
	}
}
