// SPDX-License-Identifier: MIT OR Apache-2.0

package sha256_test

import (
	"encoding/hex"
	"fmt"

	"github.com/hashloom/hashloom/go/sha256"
)

func ExampleSumToNum48() {
	fmt.Printf("%012x\n", sha256.SumToNum48([]byte("hello world")))
	// Output: b94d27b9934d
}

func ExampleSumCmp48() {
	fmt.Println(sha256.SumCmp48([]byte("k5ztameslf0000000000001nonce65226"), 1<<32-1))
	// Output: false
}

// A block of Krist: the address of the miner, the last block's first twelve hexadecimal digits, and a nonce.
func ExampleSearch() {
	prefix := []byte("k5ztameslf" + "0000000001e2")
	nonces := sha256.Nonces{End: 1000000}
	nonce, found := sha256.Search(prefix, nonces, nil, 1<<32)
	fmt.Println(nonce, found)

	sum := sha256.Sum256(nonces.AppendText(prefix, nonce))
	fmt.Println(hex.EncodeToString(sum[:6]))
	// Output:
	// 50980 true
	// 00001ee94215
}

func ExampleNonces() {
	nonces := sha256.Nonces{First: 0, End: 36 * 36 * 36, Alphabet: "0123456789abcdefghijklmnopqrstuvwxyz", Width: 3}
	nonce, found := sha256.Search([]byte("prefix-"), nonces, []byte("-suffix"), 1<<36)
	fmt.Println(string(nonces.AppendText(nil, nonce)), found)
	// Output: 180 true
}

func ExampleNonces_AppendText() {
	hexadecimal := sha256.Nonces{Alphabet: "0123456789abcdef", Width: 8}
	fmt.Println(string(hexadecimal.AppendText([]byte("nonce "), 48879)))
	// Output: nonce 0000beef
}
