// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/hashloom/hashloom/go/sha256"
)

// num is SumToNum48, from the digest.
func num(data []byte) uint64 {
	sum := sha256.Sum256(data)
	return binary.BigEndian.Uint64(sum[:]) >> 16
}

func TestNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		message := make([]byte, n)
		for i := range message {
			message[i] = byte(rng.Uint32())
		}
		want := num(message)
		if got := sha256.SumToNum48(message); got != int64(want) {
			t.Fatalf("SumToNum48 of %d bytes: %d, want %d", n, got, want)
		}
		for _, work := range []uint32{0, 0x1ffff, 0x20000, math.MaxUint32} {
			if got := sha256.SumCmp48(message, work); got != (want <= uint64(work)) {
				t.Fatalf("SumCmp48 of %d bytes: %v", n, got)
			}
		}
	}
}

// All of work counts, not only its lowest 17 bits.
func TestCompareAtTheLimit(t *testing.T) {
	nonces := sha256.Nonces{End: math.MaxUint64}
	nonce, _ := sha256.Search([]byte("limit"), nonces, nil, math.MaxUint32)
	message := nonces.AppendText([]byte("limit"), nonce)
	limit := uint32(num(message))
	if limit <= 0x1ffff {
		t.Fatalf("the number %#x is too small for this test", limit)
	}
	for work, want := range map[uint32]bool{
		0: false, 0x1ffff: false, limit - 1: false, limit: true, limit + 1: true, math.MaxUint32: true,
	} {
		if got := sha256.SumCmp48(message, work); got != want {
			t.Errorf("%#x for the work %#x: %v", limit, work, got)
		}
	}
}

// Search finds what a loop finds, for the least number of a range, and for less and more work. The package core
// compares searches of all forms with a loop.
func TestSearch(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, nonces := range []sha256.Nonces{{}, {Alphabet: "01", Width: 64}, {Alphabet: "0123456789abcdef"}} {
		nonces.First = rng.Uint64() >> rng.IntN(60)
		nonces.End = nonces.First + 600
		var nums []uint64
		for n := nonces.First; n < nonces.End; n++ {
			nums = append(nums, num(append(nonces.AppendText([]byte("prefix "), n), " suffix"...)))
		}
		least := slices.Min(nums)
		for _, work := range []uint64{0, least - 1, least, 1 << 46, 1 << 47, math.MaxUint64} {
			i := slices.IndexFunc(nums, func(num uint64) bool { return num <= work })
			nonce, found := sha256.Search([]byte("prefix "), nonces, []byte(" suffix"), work)
			if found != (i >= 0) || found && nonce != nonces.First+uint64(i) || !found && nonce != 0 {
				t.Errorf("work %d: %d, %v, want number %d", work, nonce, found, i)
			}
		}
	}
}

// The memory that Search takes does not grow to many copies of a long suffix.
func TestSearchLongSuffix(t *testing.T) {
	suffix := make([]byte, 17<<20)
	nonces := sha256.Nonces{First: 8, End: 11}
	lowest, want := uint64(math.MaxUint64), uint64(0)
	for n := nonces.First; n < nonces.End; n++ {
		if got := num(append(nonces.AppendText(nil, n), suffix...)); got < lowest {
			lowest, want = got, n
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	nonce, found := sha256.Search(nil, nonces, suffix, lowest)
	runtime.ReadMemStats(&after)
	if !found || nonce != want {
		t.Errorf("%d, %v, want %d", nonce, found, want)
	}
	if nbytes := after.TotalAlloc - before.TotalAlloc; nbytes > 64<<20 {
		t.Errorf("Search took %d MiB for a suffix of 17 MiB", nbytes>>20)
	}
}

// The texts are numbers in their base: strconv's for bases up to 36.
func TestText(t *testing.T) {
	for _, test := range []struct {
		nonces sha256.Nonces
		n      uint64
		want   string
	}{
		{sha256.Nonces{}, 0, "0"},
		{sha256.Nonces{}, 10, "10"},
		{sha256.Nonces{}, math.MaxUint64, "18446744073709551615"},
		{sha256.Nonces{Width: 5}, 123, "00123"},
		{sha256.Nonces{Alphabet: "0123456789abcdef"}, math.MaxUint64, "ffffffffffffffff"},
		{sha256.Nonces{Alphabet: "01"}, math.MaxUint64, strings.Repeat("1", 64)},
		{sha256.Nonces{Alphabet: "ab", Width: 64}, 1, strings.Repeat("a", 63) + "b"},
	} {
		if got := string(test.nonces.AppendText([]byte("x"), test.n)); got != "x"+test.want {
			t.Errorf("%+v: %q, want %q", test.nonces, got, test.want)
		}
	}
}
