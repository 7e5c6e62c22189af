// SPDX-License-Identifier: MIT OR Apache-2.0

package bitcoin_test

import (
	"crypto/sha256"
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
