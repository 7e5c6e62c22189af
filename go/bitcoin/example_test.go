// SPDX-License-Identifier: MIT OR Apache-2.0

package bitcoin_test

import (
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/hashloom/hashloom/go/bitcoin"
)

// The public key of the secret key 1, whose hash is in the addresses of BIP 173's examples.
const key = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

func ExampleHash160() {
	publicKey, _ := hex.DecodeString(key)
	fmt.Printf("%x\n", bitcoin.Hash160(publicKey))

	hashes := make([][bitcoin.Hash160Size]byte, 1000)
	script := append([]byte{0x00, 0x14}, make([]byte, 20)...)
	bitcoin.Hash160Many(hashes[:2], [][]byte{publicKey, script})
	fmt.Printf("%x\n", hashes[0])
	// A thousand compressed public keys, one after another.
	bitcoin.Hash160Rows(hashes, slices.Repeat(publicKey, 1000), 33)
	fmt.Printf("%x\n", hashes[999])
	// Output:
	// 751e76e8199196d454941c45d1b3a323f1433bd6
	// 751e76e8199196d454941c45d1b3a323f1433bd6
	// 751e76e8199196d454941c45d1b3a323f1433bd6
}

// The header of block 0. Bitcoin prints digests in reverse.
func ExampleSHA256d() {
	header, _ := hex.DecodeString("01000000" + "0000000000000000000000000000000000000000000000000000000000000000" +
		"3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" + "29ab5f49" + "ffff001d" + "1dac2b7c")
	hash := bitcoin.SHA256d(header)
	slices.Reverse(hash[:])
	fmt.Printf("%x\n", hash)
	// Output: 000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f
}

func ExampleSHA256dMany() {
	hashes := make([][bitcoin.SHA256dSize]byte, 2)
	bitcoin.SHA256dMany(hashes, [][]byte{[]byte("hello"), nil})
	fmt.Printf("%x\n", hashes[0][:8])
	bitcoin.SHA256dRows(hashes, []byte("hellothere"), 5) // two rows of five bytes
	fmt.Printf("%x\n", hashes[0][:8])
	// Output:
	// 9595c9df90075148
	// 9595c9df90075148
}
