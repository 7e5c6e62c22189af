// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build ccore

package peers

// #cgo CFLAGS: -I${SRCDIR}/../../../core/include
// #include <hashloom.h>
// #include <stdlib.h>
import "C"

import "unsafe"

func init() { cMany, cAgain = newCMany, hashAgain }

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
