// SPDX-License-Identifier: MIT OR Apache-2.0

package slhdsa_test

import (
	"crypto"
	"crypto/sha256"
	"fmt"

	"github.com/hashloom/hashloom/go/slhdsa"
)

func Example() {
	// The signer makes a key, and publishes its public part.
	key, err := slhdsa.GenerateKey(slhdsa.SHA2_128f())
	if err != nil {
		fmt.Println(err)
		return
	}
	published := key.PublicKey().Bytes()

	message := []byte("hello, world")
	signature, err := key.Sign(nil, message, &slhdsa.Options{Context: "example"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("a key of %d bytes, a signature of %d\n", len(published), len(signature))

	// Whoever has the public key verifies the signature, with the same context.
	public, err := slhdsa.NewPublicKey(slhdsa.SHA2_128f(), published)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(slhdsa.Verify(public, message, signature, &slhdsa.Options{Context: "example"}))
	fmt.Println(slhdsa.Verify(public, message, signature, nil))
	// Output:
	// a key of 32 bytes, a signature of 17088
	// <nil>
	// slhdsa: invalid signature
}

// A digest is signed in place of a message that is not at hand.
func ExamplePrivateKey_Sign() {
	key, _ := slhdsa.GenerateKey(slhdsa.SHA2_128f())
	digest := sha256.Sum256([]byte("a long message"))
	signature, err := key.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(slhdsa.Verify(key.PublicKey(), digest[:], signature, &slhdsa.Options{Hash: crypto.SHA256}))
	// Output: <nil>
}

// Many signatures of one key, side by side.
func ExampleVerifyMany() {
	key, _ := slhdsa.GenerateKey(slhdsa.SHA2_128f())
	messages := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	signatures := make([][]byte, len(messages))
	for i, message := range messages {
		signatures[i], _ = key.Sign(nil, message, nil)
	}
	messages[1] = []byte("another")
	valid := make([]bool, len(messages))
	if err := slhdsa.VerifyMany(valid, []*slhdsa.PublicKey{key.PublicKey()}, messages, signatures, nil); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(valid)
	// Output: [true false true]
}
