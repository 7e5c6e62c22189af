// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/hashloom/hashloom/go/sha256"
)

// FuzzSearch: Search finds what a loop finds, for the work given and for the least with which there is a nonce. The
// first inputs have alphabets of many sizes, among them powers of two and sizes around the number of rows.
func FuzzSearch(f *testing.F) {
	rng := rand.New(rand.NewPCG(3, 4))
	bytes := make([]byte, 256)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	for _, nDigits := range []int{0, 2, 3, 10, 16, 36, 94, 127, 128, 129, 256} {
		for _, prefixLen := range []int{0, 22, 63, 64, 65, 200} {
			for _, suffixLen := range []int{0, 7, 500} {
				f.Add(bytes[:prefixLen], rng.Uint64()>>rng.IntN(64), slices.Repeat(bytes, 2)[:suffixLen],
					string(bytes[:nDigits]), uint8(64*rng.IntN(2)), uint16(rng.IntN(600)), rng.Uint64()>>16)
			}
		}
	}
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
		var nums []uint64
		for n := first; n < nonces.End; n++ {
			nums = append(nums, num(append(nonces.AppendText(slices.Clone(prefix), n), suffix...)))
		}
		least := slices.Min(append(nums, math.MaxUint64))
		for _, work := range []uint64{work, least - 1, least, math.MaxUint64} {
			i := slices.IndexFunc(nums, func(num uint64) bool { return num <= work })
			nonce, found := sha256.Search(prefix, nonces, suffix, work)
			if found != (i >= 0) || found && nonce != first+uint64(i) || !found && nonce != 0 {
				t.Fatalf("work %d: %d, %v, want number %d", work, nonce, found, i)
			}
		}
		if i := slices.Index(nums, least); i >= 0 {
			nonces.End = first + uint64(i)
			if nonce, found := sha256.Search(prefix, nonces, suffix, least); found {
				t.Fatalf("the nonce %d, found up to %d", nonce, nonces.End)
			}
		}
	})
}
