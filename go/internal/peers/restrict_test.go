// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"os"
	"slices"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
)

// WITHOUT_AVX512=1 measures as on a CPU without AVX-512. The standard library has no code for AVX-512.
func TestMain(m *testing.M) {
	if os.Getenv("WITHOUT_AVX512") != "" {
		left := slices.DeleteFunc(hashloom.Implementations(), func(name string) bool { return strings.Contains(name, "avx512") })
		if err := hashloom.Restrict(left...); err != nil {
			panic(err)
		}
	}
	m.Run()
}
