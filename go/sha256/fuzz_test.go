// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"testing"

	"github.com/hashloom/hashloom/go/sha256"
)

// FuzzSearch: Search finds what a loop finds.
func FuzzSearch(f *testing.F) {
	f.Add([]byte("k5ztameslf000000abcdef"), uint64(95), []byte{}, "", uint8(0), uint16(200), uint64(1)<<40)
	f.Add(make([]byte, 130), uint64(1)<<63, []byte("suffix"), "abcdefghijklmnop", uint8(30), uint16(99), uint64(0))
	f.Fuzz(func(t *testing.T, prefix []byte, first uint64, suffix []byte, alphabet string, width uint8, count uint16,
		work uint64) {
		count %= 1000
		nonces := sha256.Nonces{First: first, End: first + uint64(count), Alphabet: alphabet, Width: int(width) % 65}
		if nonces.End < first || len(alphabet) == 1 || len(alphabet) > 256 {
			return
		}
		if nonces.Width != 0 {
			unlimited := sha256.Nonces{Alphabet: alphabet}
			if len(unlimited.AppendText(nil, nonces.End)) > nonces.Width {
				return // TestMisuse in the folder above
			}
		}
		wantNonce, wantFound := uint64(0), false
		for n := first; n < nonces.End && !wantFound; n++ {
			message := append(nonces.AppendText(append([]byte{}, prefix...), n), suffix...)
			if num(message) <= work {
				wantNonce, wantFound = n, true
			}
		}
		nonce, found := sha256.Search(prefix, nonces, suffix, work)
		if nonce != wantNonce || found != wantFound {
			t.Fatalf("%d, %v, want %d, %v", nonce, found, wantNonce, wantFound)
		}
	})
}
