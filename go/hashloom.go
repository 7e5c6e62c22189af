// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom

import (
	"fmt"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// WriteMany appends chunks[i] to the message of hs[i], as hs[i].Write(chunks[i]) one after another would. Hashes of
// this module and of the standard library's MD5, SHA-1, SHA-2 and SHA-3 run side by side if they have the same
// algorithm and their chunks have 512 bytes or more; if there are only three, 1 KiB, only two, 4 KiB. All others are
// written one after another.
//
// It panics if hs and chunks differ in length.
func WriteMany(hs []hash.Hash, chunks [][]byte) {
	if len(hs) != len(chunks) {
		panic(fmt.Sprintf("hashloom: WriteMany: %d hashes for %d chunks", len(hs), len(chunks)))
	}
	digest.WriteMany(hs, chunks)
}

// AppendSums appends the digests of all hashes to b and returns the result, as b = hs[i].Sum(b) one after another
// would. Like Sum it does not change the hashes. Four or more neighbours of the same algorithm run side by side where
// that is faster: SHA-384, SHA-512 and their variants, SHA-3, Keccak-256 and RIPEMD-160.
func AppendSums(b []byte, hs []hash.Hash) []byte {
	return digest.AppendSums(b, hs)
}

// AppendSumsFrom appends a digest for each message to b and returns the result: the digest of what has been written to
// h, followed by msgs[i]. It does not change h. If what has been written to h is a multiple of the block size, it
// costs nothing; it is hashed once, not once a message.
//
// It panics if h is neither of this module nor one of the standard library's MD5, SHA-1, SHA-2 and SHA-3, or if a
// message overlaps the spare capacity of b that the digests go to.
func AppendSumsFrom(b []byte, h hash.Hash, msgs [][]byte) []byte {
	b, known := digest.AppendSumsFrom(b, h, msgs)
	if !known {
		panic(fmt.Sprintf("hashloom: AppendSumsFrom: %T is not a hash of this module", h))
	}
	return b
}

// AppendSumsParts is [AppendSumsFrom] for messages that lie in parts: message i is what has been written to h, then
// msgs[i][0], msgs[i][1], and so on. Nothing is copied together. Git's objects are an example: a header before
// contents.
//
// It panics as AppendSumsFrom does.
func AppendSumsParts(b []byte, h hash.Hash, msgs [][][]byte) []byte {
	b, known := digest.AppendSumsParts(b, h, msgs)
	if !known {
		panic(fmt.Sprintf("hashloom: AppendSumsParts: %T is not a hash of this module", h))
	}
	return b
}

// AppendSumsColumn is [AppendSumsFrom] for the values of a column: message i is data[offsets[i]:offsets[i+1]], as in
// Apache Arrow's binary and string layouts, so that n digests have n+1 offsets. Without offsets there are none. The
// digests stand behind each other in one slice, which a digest that is kept does not keep alive once copied.
//
// It panics as AppendSumsFrom does, and if an offset is less than the one before, or beyond data.
func AppendSumsColumn[T int | int32 | int64 | uint32 | uint64](b []byte, h hash.Hash, data []byte, offsets []T) []byte {
	for i, offset := range offsets {
		if offset < 0 || uint64(offset) > uint64(len(data)) || i > 0 && offset < offsets[i-1] {
			panic(fmt.Sprintf("hashloom: AppendSumsColumn: offset %d of %d is %d: it is less than the one before, or beyond "+
				"data, of %d bytes", i, len(offsets), offset, len(data)))
		}
	}
	n := max(len(offsets), 1) - 1
	b, digests := digest.Grow(b, n*h.Size(), [][]byte{data})
	sums := digests[:0]
	msgs := make([][]byte, min(n, 1024))
	for first := 0; first < n; first += len(msgs) {
		msgs = msgs[:min(len(msgs), n-first)]
		for i := range msgs {
			msgs[i] = data[offsets[first+i]:offsets[first+i+1]]
		}
		sums = AppendSumsFrom(sums, h, msgs)
	}
	return b[:len(b)+len(sums)]
}

// Implementations returns "go", for the standard library and pure Go, and the names of the instruction sets that this
// machine has code for beside it, the plainest first: "avx2", "avx512", "sha" and so on. On amd64 there are none
// without AVX2, nor in a build of pure Go.
func Implementations() []string { return core.Implementations() }

// Restrict makes the process use only code of the named instruction sets, from [Implementations]. No name removes the
// restriction. If the sets have no code for an algorithm, plainer code is used for it: no call fails, and every digest
// is right. Restrict may be called at any time, and is meant for tests, benchmarks and finding faults.
//
// An unknown name is an error, and changes nothing.
func Restrict(names ...string) error { return core.Restrict(names) }
