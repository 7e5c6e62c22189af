// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build ccore

package peers

// #cgo CFLAGS: -I${SRCDIR}/../../../core/include
// #include <hashloom.h>
// #include <stdlib.h>
import "C"

import "unsafe"

func init() { cMany, cAgain, cSearch = newCMany, hashAgain, newCSearch }

// newCMany copies the messages to memory of C, and returns a function that hashes them.
func newCMany(alg int, msgs [][]byte) func() {
	slices := unsafe.Slice((*C.hl_slice)(C.malloc(C.size_t(len(msgs))*C.sizeof_hl_slice)), len(msgs))
	for i, msg := range msgs {
		slices[i] = C.hl_slice{data: C.CBytes(msg), nbytes: C.size_t(len(msg))}
	}
	digests := (*C.uint8_t)(C.malloc(C.size_t(len(msgs) * 64)))
	return func() {
		if C.hl_hash_many(C.hl_alg(alg), &slices[0], C.size_t(len(msgs)), digests) != C.HL_OK {
			panic("hl_hash_many")
		}
	}
}

// hashAgain hashes rows by hl_hash160_rows or hl_sha256d_rows. dst is the first of the digests.
func hashAgain(isHash160 bool, dst, rows []byte, rowLen int) {
	base, n, digests := unsafe.Pointer(&rows[0]), C.size_t(rowLen), (*C.uint8_t)(&dst[0])
	count := C.size_t(len(rows) / rowLen)
	status := C.hl_status(C.HL_OK)
	if isHash160 {
		status = C.hl_hash160_rows(base, n, n, count, digests)
	} else {
		status = C.hl_sha256d_rows(base, n, n, count, digests)
	}
	if status != C.HL_OK {
		panic("rows hashed twice")
	}
}

// newCSearch returns a function that tries decimal numbers behind the prefix; no number is low enough.
func newCSearch(prefix []byte, first, last uint64) func() {
	job := (*C.hl_search_job)(C.calloc(1, C.sizeof_hl_search_job))
	job.nbytes = C.sizeof_hl_search_job
	job.alg = C.HL_SHA256
	job.prefix, job.prefix_nbytes = C.CBytes(prefix), C.size_t(len(prefix))
	job.alphabet, job.base = C.CBytes([]byte("0123456789")), 10
	job.first, job.last = C.uint64_t(first), C.uint64_t(last)
	found := (*C.uint64_t)(C.malloc(C.sizeof_uint64_t))
	nfound := (*C.size_t)(C.malloc(C.sizeof_size_t))
	return func() {
		if C.hl_search(job, found, 1, nfound) != C.HL_OK || *nfound != 0 {
			panic("hl_search")
		}
	}
}
