// SPDX-License-Identifier: MIT OR Apache-2.0

package pbkdf2_test

import (
	"fmt"

	"github.com/hashloom/hashloom/go/pbkdf2"
	"github.com/hashloom/hashloom/go/sha256"
)

func ExampleKey() {
	key, err := pbkdf2.Key(sha256.New, "correct horse", []byte("a salt of 16 B.."), 4096, 32)
	fmt.Printf("%.8x %v\n", key, err)
	// Output: 4290522a6854205e <nil>
}

// The keys of two passwords, side by side.
func ExampleKeyMany() {
	passwords := []string{"correct horse", "battery staple"}
	salts := [][]byte{[]byte("a salt of 16 B.."), []byte("another salt ...")}
	keys := make([]byte, len(passwords)*32)
	if err := pbkdf2.KeyMany(keys, sha256.New, passwords, salts, 4096, 32); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.8x\n%.8x\n", keys[:32], keys[32:])
	// Output:
	// 4290522a6854205e
	// 056bed39e3accf7e
}
