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
	fmt.Printf("%.4x\n", key.AppendSum(nil, []byte("hello world")))

	h := stdhmac.New(sha256.New, []byte("secret"))
	h.Write([]byte("hello world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output:
	// 734cc62f
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

func ExampleKey_Size() {
	fmt.Println(hmac.NewKey(sha256.New224, nil).Size())
	// Output: 28
}

func ExampleKey_AppendSum() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	message := []byte("hello world")
	signed := key.AppendSum(message, message)
	fmt.Printf("%s %.4x\n", signed[:11], signed[11:])
	// Output: hello world 734cc62f
}

func ExampleKey_SumMany() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	msgs := [][]byte{[]byte("one"), []byte("two")}
	tags := make([]byte, len(msgs)*key.Size())
	key.SumMany(tags, msgs)
	fmt.Printf("%.4x %.4x\n", tags[:key.Size()], tags[key.Size():])
	// Output: 620baaca 3885b44e
}

func ExampleKey_Verify() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	tag := key.AppendSum(nil, []byte("hello world"))
	fmt.Println(key.Verify([]byte("hello world"), tag), key.Verify([]byte("hello moon"), tag))
	// Output: true false
}

func ExampleKey_VerifyMany() {
	key := hmac.NewKey(sha256.New, []byte("secret"))
	msgs := [][]byte{[]byte("one"), []byte("two")}
	tags := [][]byte{key.AppendSum(nil, msgs[0]), []byte("forged")}
	ok := make([]bool, len(msgs))
	fmt.Println(key.VerifyMany(ok, msgs, tags), ok)
	// Output: false [true false]
}
