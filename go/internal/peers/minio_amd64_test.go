// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"encoding/binary"
	"slices"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha256"
)

func hasAVX512() bool { return slices.Contains(hashloom.Implementations(), "avx512") }

// minioMany returns a function that hashes the messages, padded beforehand, 16 at a time.
func minioMany(msgs [][]byte) func() {
	var groups [][16][]byte
	for i, msg := range msgs {
		if i%16 == 0 {
			groups = append(groups, [16][]byte{})
		}
		groups[i/16][i%16] = pad(msg)
	}
	mask := make([]uint64, len(groups[0][0])/64)
	for i := range mask {
		mask[i] = 0xffff
	}
	return func() {
		for _, group := range groups {
			digests := initial
			minioBlocks(&digests, group, mask)
		}
	}
}

func pad(msg []byte) []byte {
	padded := append(slices.Clone(msg), 0x80)
	padded = append(padded, make([]byte, (64+56-len(padded)%64)%64)...)
	return binary.BigEndian.AppendUint64(padded, uint64(len(msg))*8)
}

// initial is SHA-256's initial state in all lanes.
var initial = func() (digests [512]byte) {
	for j, word := range [8]uint32{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
		0x5be0cd19} {
		for lane := range 16 {
			binary.LittleEndian.PutUint32(digests[64*j+4*lane:], word)
		}
	}
	return
}()

// The call is used as it should be: its digests are right.
func TestMinioBlocks(t *testing.T) {
	if !hasAVX512() {
		t.Skip("SKIPPED: go: minio's 16 lanes: this machine has no AVX-512")
	}
	var group [16][]byte
	for i := range group {
		group[i] = pad(make([]byte, 1000+i))
	}
	mask := make([]uint64, len(group[0])/64)
	for i := range mask {
		mask[i] = 0xffff
	}
	digests := initial
	for i, sum := range minioBlocks(&digests, group, mask) {
		if want := sha256.Sum256(make([]byte, 1000+i)); sum != want {
			t.Fatalf("lane %d: %x, want %x", i, sum, want)
		}
	}
}
