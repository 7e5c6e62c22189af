// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	_ "unsafe" // for go:linkname

	_ "github.com/minio/sha256-simd"
)

// minioBlocks advances 16 states of SHA-256 by whole blocks: minio's call that its server is built on, which is not
// exported. Word j of lane i is at digests[64*j+4*i:].
//
//go:linkname minioBlocks github.com/minio/sha256-simd.blockAvx512
func minioBlocks(digests *[512]byte, input [16][]byte, mask []uint64) [16][32]byte
