// SPDX-License-Identifier: MIT OR Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"testing"
)

// The nonce is what Krist's server accepts: the first twelve hexadecimal digits, as a number, are at most the work.
func TestMine(t *testing.T) {
	const work = 1 << 30
	nonce, tried := mine("k5ztameslf", "0000000001e2", work, 3)
	sum := sha256.Sum256([]byte("k5ztameslf" + "0000000001e2" + nonce))
	number, err := strconv.ParseUint(hex.EncodeToString(sum[:])[:12], 16, 64)
	if err != nil || number > work || tried == 0 {
		t.Fatalf("nonce %q: %x after %d nonces, %v", nonce, sum, tried, err)
	}
}
