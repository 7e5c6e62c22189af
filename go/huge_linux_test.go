// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !race && (amd64 || arm64 || riscv64 || s390x)

package hashloom_test

import (
	"hash"
	"os"
	"syscall"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
)

// Messages over 4 GiB, beside short ones. They are pages of zeros that take no memory.
func TestHugeMessages(t *testing.T) {
	if os.Getenv("HASHLOOM_TEST_ALL") == "" {
		t.Skip("messages over 4 GiB: HASHLOOM_TEST_ALL=1 hashes them")
	}
	const n = 4<<30 + 77
	huge, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE|syscall.MAP_NORESERVE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(huge)
	forEach(t, func(t *testing.T, v *variant) {
		if v.name != "sha256" && v.name != "sha512" {
			return // nothing but the block function differs
		}
		want := v.expect([][]byte{huge, nil})
		got := make([]byte, len(want))
		v.sumMany(got, [][]byte{huge, nil})
		v.check(t, "SumMany", got, want)
		hs := []hash.Hash{v.new(), v.new()}
		hashloom.WriteMany(hs, [][]byte{huge[:n-5], nil})
		hs[0].Write(huge[:5])
		v.check(t, "WriteMany", hashloom.AppendSums(nil, hs), want)
	})
}
