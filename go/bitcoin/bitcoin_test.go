// SPDX-License-Identifier: MIT OR Apache-2.0

package bitcoin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/bitcoin"
	oracle "github.com/hashloom/hashloom/go/internal/ripemd160"
)

func hash160(data []byte) [20]byte {
	sum := sha256.Sum256(data)
	return oracle.Sum(sum[:])
}

func sha256d(data []byte) [32]byte {
	sum := sha256.Sum256(data)
	return sha256.Sum256(sum[:])
}

// Every call gives what crypto/sha256 and plain RIPEMD-160 give one message at a time, with each instruction set.
func TestAgainstOracle(t *testing.T) {
	t.Cleanup(func() { hashloom.Restrict() })
	pool := make([]byte, 100_000)
	source := rand.NewChaCha8([32]byte{1})
	source.Read(pool)
	for _, isa := range append([]string{""}, hashloom.Implementations()...) {
		var names []string
		if isa != "" {
			names = append(names, isa)
		}
		if err := hashloom.Restrict(names...); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(2, 3))
		for _, n := range []int{0, 1, 2, 15, 16, 17, 40, 300, 1000} {
			for _, rowLen := range []int{0, 1, 20, 33, 65, 80, 300, 2000, 99_000} {
				if n*rowLen > len(pool) || testing.Short() && n > 40 && n*rowLen > 10_000 {
					continue
				}
				msgs := make([][]byte, n)
				for i := range msgs {
					msgs[i] = pool[i:][:rng.IntN(rowLen+1)]
					if rowLen == 33 && n <= 40 && i%3 == 2 { // long ones beside short ones
						msgs[i] = pool[:rng.IntN(len(pool))]
					}
				}
				hashes, doubles := make([][bitcoin.Hash160Size]byte, n), make([][bitcoin.SHA256dSize]byte, n)
				check := func(call string) {
					t.Helper()
					for i, msg := range msgs {
						if hashes[i] != hash160(msg) || n < 20 && hashes[i] != bitcoin.Hash160(msg) {
							t.Fatalf("%s, Hash160%s: message %d of %d, %d bytes: %x", isa, call, i, n, len(msg), hashes[i])
						}
						if doubles[i] != sha256d(msg) || n < 20 && doubles[i] != bitcoin.SHA256d(msg) {
							t.Fatalf("%s, SHA256d%s: message %d of %d, %d bytes: %x", isa, call, i, n, len(msg), doubles[i])
						}
					}
				}
				bitcoin.Hash160Many(hashes, msgs)
				bitcoin.SHA256dMany(doubles, msgs)
				check("Many")
				for i := range msgs {
					msgs[i] = pool[i*rowLen : (i+1)*rowLen]
				}
				bitcoin.Hash160Rows(hashes, pool[:n*rowLen], rowLen)
				bitcoin.SHA256dRows(doubles, pool[:n*rowLen], rowLen)
				check("Rows")
			}
		}
	}
}

// Known digests: of the empty message, and of the public keys in BIP 143, BIP 173 and block 0.
func TestVectors(t *testing.T) {
	for message, want := range map[string]string{
		"": "b472a266d0bd89c13706a4132ccfb16f7c3b9fcb",
		"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798": "751e76e8199196d454941c45d1b3a323f1433bd6",
		"025476c2e83188368da1ff3e292e7acafcdb3566bb0ad253f62fc70f07aeee6357": "1d0f172a0ecb48aee1be1f2687d2963ae33f71a1",
		"04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb6" +
			"49f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f": "62e907b15cbf27d5425399ebf6f0fb50ebb88f18",
	} {
		data, err := hex.DecodeString(message)
		if err != nil {
			t.Fatal(err)
		}
		hash := bitcoin.Hash160(data)
		if got := hex.EncodeToString(hash[:]); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}
