// SPDX-License-Identifier: MIT OR Apache-2.0

package ripemd160

import (
	"encoding/hex"
	"strings"
	"testing"
)

// The paper's own values, appendix B.
func TestPaper(t *testing.T) {
	for message, want := range map[string]string{
		"":                              "9c1185a5c5e9fc54612808977ee8f548b2258d31",
		"abc":                           "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc",
		"abcdefghijklmnopqrstuvwxyz":    "f71c27109c692c1b56bbdceb5b9d2865b3708dbc",
		strings.Repeat("1234567890", 8): "9b752e45573d4b39f4dbd3323cab82bf63326bfb",
		strings.Repeat("a", 1e6):        "52783243c1697bdbe16d37f97f68f08325dc1528",
	} {
		if sum := Sum([]byte(message)); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%.20q: %x, want %s", message, sum, want)
		}
	}
}
