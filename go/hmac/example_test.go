// SPDX-License-Identifier: MIT OR Apache-2.0

package hmac_test

import (
	stdhmac "crypto/hmac"
	"fmt"

	"github.com/hashloom/hashloom/go/hmac"
	"github.com/hashloom/hashloom/go/sha256"
)

func ExampleNewKey() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	fmt.Printf("%d bytes: %.4x\n", key.Size(), key.AppendSum(nil, []byte("hello world")))

	h := stdhmac.New(sha256.New, []byte("secret"))
	h.Write([]byte("hello world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output:
	// 32 bytes: 734cc62f
	// 734cc62f
}

// A key for each user, prepared once.
func ExampleKey() {
	keys := map[string]*hmac.Key{
		"alice": hmac.NewKey(sha256.New, []byte("a secret")),
		"bob":   hmac.NewKey(sha256.New, []byte("another secret")),
	}
	tag := keys["alice"].AppendSum(nil, []byte("hello world"))
	fmt.Println(keys["alice"].Verify([]byte("hello world"), tag), keys["bob"].Verify([]byte("hello world"), tag))
	// Output: true false
}

func ExampleKey_VerifyMany() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	msgs := [][]byte{[]byte("one"), []byte("two")}
	tags := make([]byte, len(msgs)*key.Size())
	key.SumMany(tags, msgs)
	fmt.Printf("%.4x %.4x\n", tags[:key.Size()], tags[key.Size():])
	ok := make([]bool, len(msgs))
	fmt.Println(key.VerifyMany(ok, msgs, [][]byte{tags[:key.Size()], []byte("forged")}), ok)
	// Output:
	// 620baaca 3885b44e
	// false [true false]
}
