// SPDX-License-Identifier: MIT OR Apache-2.0

package search_test

import (
	"bytes"
	"context"
	stdsha256 "crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/search"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha512"
)

const decimal = "0123456789"

// The headers of blocks 0 and 125552 are found from a range around their nonces, with each instruction set.
func TestHeaders(t *testing.T) {
	t.Cleanup(func() { hashloom.Restrict() })
	for _, block := range []struct {
		header string
		nonce  uint64
	}{
		{"01000000" + "0000000000000000000000000000000000000000000000000000000000000000" +
			"3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" + "29ab5f49" + "ffff001d", 2083236893},
		{"01000000" + "81cd02ab7e569e8bcd9317e2fe99f2de44d49ab2b8851ba4a308000000000000" +
			"e320b6c2fffc8d750423db8b1eb942ae710e951ed797f7affc8892b0f1fc122b" + "c7f5d74d" + "f2b9441a", 2504433986},
	} {
		header, err := hex.DecodeString(block.header)
		if err != nil {
			t.Fatal(err)
		}
		target, err := search.Compact(binary.LittleEndian.Uint32(header[72:]))
		if err != nil {
			t.Fatal(err)
		}
		job := search.Job{New: sha256.New, Again: stdsha256.New, Prefix: header, Width: 4, LeastDigitFirst: true,
			LeastByteFirst: true, Target: target}
		for _, isa := range append([]string{""}, hashloom.Implementations()...) {
			if isa != "" {
				if err := hashloom.Restrict(isa); err != nil {
					t.Fatal(err)
				}
			}
			if got := findAll(&job, block.nonce-3000, block.nonce+3000); !slices.Equal(got, []uint64{block.nonce}) {
				t.Errorf("%s: %v, want %d", isa, got, block.nonce)
			}
		}
		whole := job.AppendText(header, block.nonce)
		if len(whole) != 80 || binary.LittleEndian.Uint32(whole[76:]) != uint32(block.nonce) {
			t.Errorf("the header %x", whole)
		}
	}
}

// findAll returns the nonces that All yields.
func findAll(job *search.Job, first, last uint64) []uint64 {
	return slices.Collect(job.All(first, last))
}

func TestRanges(t *testing.T) {
	const most = math.MaxUint64
	for _, job := range []search.Job{
		{New: sha256.New, Target: search.ZeroBits(0)},
		{New: ripemd160.New, Target: search.ZeroBits(0), Alphabet: decimal, Width: 20},
	} {
		for _, test := range []struct {
			first, last uint64
			want        int
		}{{0, 0, 1}, {1, 0, 0}, {most, most, 1}, {most, 0, 0}, {most - 999, most, 1000}, {250, 260, 11}} {
			got := findAll(&job, test.first, test.last)
			nonce, found := job.Find(test.first, test.last)
			if len(got) != test.want || found != (test.want > 0) || found && nonce != test.first {
				t.Errorf("%d to %d: %d nonces, %d, %v", test.first, test.last, len(got), nonce, found)
			}
			for i, nonce := range got {
				if nonce != test.first+uint64(i) {
					t.Errorf("%d to %d: nonce %d is %d", test.first, test.last, i, nonce)
				}
			}
		}
	}
}

func TestTargets(t *testing.T) {
	ones := func(zeros int, bytes ...byte) search.Target {
		var target search.Target
		n := copy(target[zeros:], bytes)
		for i := zeros + n; i < len(target); i++ {
			target[i] = 0xff
		}
		return target
	}
	if search.ZeroBits(512) != (search.Target{}) || search.ZeroBits(0) != ones(0) || search.ZeroBits(8) != ones(1) ||
		search.ZeroBits(12) != ones(1, 0x0f) || search.ZeroBits(511) != ones(63, 0x01) {
		t.Error("ZeroBits")
	}
	if search.FirstBytes(nil) != ones(0) || search.FirstBytes([]byte{0, 0, 0x12, 0}) != ones(2, 0x12, 0) ||
		search.FirstBytes(make([]byte, 64)) != (search.Target{}) {
		t.Error("FirstBytes")
	}
	for bits, want := range map[uint32]string{
		0x1d00ffff: "00000000ffff" + strings.Repeat("00", 26),
		0x1a44b9f2: "00000000000044b9f2" + strings.Repeat("00", 23),
		0x207fffff: "7fffff" + strings.Repeat("00", 29),
		0x03123456: strings.Repeat("00", 29) + "123456",
		0x02123456: strings.Repeat("00", 30) + "1234",
		0x01123456: strings.Repeat("00", 31) + "12",
		0x2200007f: "7f" + strings.Repeat("00", 31),
		0x00123456: "", 0x01000056: "", 0x04800001: "", 0x1d000000: "", 0xff123456: "", 0x22000100: "", 0x21010000: "", 0: "",
	} {
		target, err := search.Compact(bits)
		if got := hex.EncodeToString(target[:32]); err == nil && got != want || err != nil && want != "" {
			t.Errorf("%08x: %s, %v, want %q", bits, got, err, want)
		}
		if err == nil && target != search.FirstBytes(target[:32]) || err != nil && target != (search.Target{}) {
			t.Errorf("%08x: %x", bits, target)
		}
	}
}

func TestMisuse(t *testing.T) {
	foreign := func() hash.Hash { return fnv.New128() }
	for text, f := range map[string]func(){
		"Job.New is nil":         func() { (&search.Job{}).Find(0, 1) },
		"Job.New: *fnv.sum128":   func() { (&search.Job{New: foreign}).Find(0, 1) },
		"Job.Again: *fnv.sum128": func() { (&search.Job{New: sha1.New, Again: foreign}).Find(0, 1) },
		"Job.Alphabet: 1 digits": func() { (&search.Job{New: sha1.New, Alphabet: "0"}).Find(0, 1) },
		"Job.Alphabet: 257 ":     func() { (&search.Job{New: sha1.New, Alphabet: strings.Repeat("0", 257)}).Find(0, 1) },
		"Job.Width: -1 digits":   func() { (&search.Job{New: sha1.New, Width: -1}).Find(0, 1) },
		"Job.Width: 65 digits":   func() { (&search.Job{New: sha1.New, Width: 65}).AppendText(nil, 0) },
		"nonce 256 does not fit 1 digits": func() {
			(&search.Job{New: sha1.New, Width: 1}).Find(0, 256)
		},
		"nonce 100 does not fit 2 digits": func() { (&search.Job{Alphabet: decimal, Width: 2}).AppendText(nil, 100) },
		"FirstBytes: 65 bytes":            func() { search.FirstBytes(make([]byte, 65)) },
		"ZeroBits: 513 bits":              func() { search.ZeroBits(513) },
		"ZeroBits: -1 bits":               func() { search.ZeroBits(-1) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.HasPrefix(got, "search: ") || !strings.Contains(got, text) {
					t.Errorf("panic %q, want %q", got, text)
				}
			}()
			f()
		}()
	}
}

// FuzzFind: All finds what a loop finds.
func FuzzFind(f *testing.F) {
	f.Add([]byte("k5ztameslf000000abcdef"), uint64(95), []byte{}, decimal, uint8(0), uint16(200), uint8(0), []byte{8})
	f.Add(make([]byte, 130), uint64(1)<<63, []byte("suffix"), "", uint8(30), uint16(99), uint8(255), []byte{0x10, 0})
	hashes := []func() hash.Hash{nil, sha1.New, sha256.New, sha256.New224, sha512.New, sha512.New512_224, ripemd160.New}
	f.Fuzz(func(t *testing.T, prefix []byte, first uint64, suffix []byte, alphabet string, width uint8, count uint16,
		form uint8, highest []byte) {
		job := search.Job{New: hashes[1+form%6], Again: hashes[form/6%7], Prefix: prefix, Suffix: suffix, Alphabet: alphabet,
			Width: int(width) % 65, LeastDigitFirst: form&1 != 0, LeastByteFirst: form&2 != 0,
			Target: search.FirstBytes(highest[:min(len(highest), 64)])}
		last := first + min(uint64(count)%1000, math.MaxUint64-first)
		if len(alphabet) == 1 || len(alphabet) > 256 {
			return
		}
		if unlimited := (&search.Job{Alphabet: alphabet}).AppendText(nil, last); job.Width > 0 && len(unlimited) > job.Width {
			return // TestMisuse
		}
		var want []uint64
		for nonce := first; ; nonce++ {
			h := job.New()
			h.Write(append(job.AppendText(slices.Clone(prefix), nonce), suffix...))
			digest := h.Sum(nil)
			if job.Again != nil {
				h := job.Again()
				h.Write(digest)
				digest = h.Sum(nil)
			}
			if job.LeastByteFirst {
				slices.Reverse(digest)
			}
			if bytes.Compare(digest, job.Target[:len(digest)]) <= 0 {
				want = append(want, nonce)
			}
			if nonce == last {
				break
			}
		}
		if got := findAll(&job, first, last); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

// All and FindContext find what a loop and Find do, over ranges of many pieces and with every nonce found.
func TestAllAndContext(t *testing.T) {
	for _, bits := range []int{0, 1, 6, 12} {
		job := search.Job{New: sha256.New, Prefix: make([]byte, 100), Alphabet: decimal, Target: search.ZeroBits(bits)}
		const first, last = 17, 40_000
		var want []uint64
		for nonce := uint64(first); nonce <= last; nonce++ {
			digest := stdsha256.Sum256(job.AppendText(slices.Clone(job.Prefix), nonce))
			if binary.BigEndian.Uint64(digest[:])>>(63-bits)>>1 == 0 {
				want = append(want, nonce)
			}
		}
		if got := slices.Collect(job.All(first, last)); !slices.Equal(got, want) {
			t.Errorf("%d bits: All finds %d nonces, want %d", bits, len(got), len(want))
		}
		nonce, found, err := job.FindContext(context.Background(), first, last)
		if !found || err != nil || nonce != want[0] {
			t.Errorf("%d bits: FindContext: %d, %v, %v", bits, nonce, found, err)
		}
		for nonce := range job.All(first, last) {
			if nonce != want[0] {
				t.Errorf("%d bits: All begins with %d, want %d", bits, nonce, want[0])
			}
			break
		}
	}
	job := search.Job{New: sha256.New, Target: search.ZeroBits(0)}
	end := slices.Collect(job.All(math.MaxUint64-2, math.MaxUint64))
	if !slices.Equal(end, []uint64{math.MaxUint64 - 2, math.MaxUint64 - 1, math.MaxUint64}) {
		t.Errorf("the last nonces: %d", end)
	}
}

// A search that would take years ends with its context.
func TestContextEnds(t *testing.T) {
	for _, job := range []search.Job{
		{New: sha256.New, Target: search.ZeroBits(255)},
		{New: sha256.New, Prefix: make([]byte, 100_000), Suffix: make([]byte, 100_000), Target: search.ZeroBits(255)},
	} {
		reason := errors.New("another one was faster")
		ctx, cancel := context.WithCancelCause(context.Background())
		timer := time.AfterFunc(20*time.Millisecond, func() { cancel(reason) })
		for range 2 { // the second time it has ended before
			if _, found, err := job.FindContext(ctx, 0, math.MaxUint64); found || err != reason {
				t.Errorf("%v, %v", found, err)
			}
		}
		timer.Stop()
	}
}
