// SPDX-License-Identifier: MIT OR Apache-2.0

package pbkdf2_test

import (
	"bytes"
	stdpbkdf2 "crypto/pbkdf2"
	stdsha256 "crypto/sha256"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/pbkdf2"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
	"github.com/hashloom/hashloom/go/sha512"
)

var hashes = map[string]func() hash.Hash{
	"sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha512-224": sha512.New512_224, "sha512-256": sha512.New512_256, "ripemd160": ripemd160.New, "md5": md5.New,
	"crypto/sha256": stdsha256.New, "sha3-256": func() hash.Hash { return sha3.New256() },
	"keccak-256": sha3.NewLegacyKeccak256,
}

// forEach runs f with each instruction set.
func forEach(t *testing.T, f func(t *testing.T)) {
	t.Cleanup(func() { hashloom.Restrict() })
	for _, isa := range hashloom.Implementations() {
		if err := hashloom.Restrict(isa); err != nil {
			t.Fatal(err)
		}
		t.Run(isa, f)
	}
}

// Keys equal those of crypto/pbkdf2 over the same hash: any number and length of passwords, salts and blocks, more than
// one batch of them, salts longer than the room for a batch's, and thousands of iterations.
func TestAgainstStandardLibrary(t *testing.T) {
	forEach(t, func(t *testing.T) {
		for name, newHash := range hashes {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{0, 1, 2, 5, 40} {
				keyLen, iter := 1+rng.IntN(100), 1+rng.IntN(4)
				if n == 2 && !testing.Short() {
					iter = 4096
				}
				passwords, salts := make([]string, n), make([][]byte, n)
				var want []byte
				for i := range passwords {
					passwords[i], salts[i] = string(randomBytes(rng, 200)), randomBytes(rng, 100)
					if i == 3 {
						salts[i] = make([]byte, 20_000)
					}
					key, err := stdpbkdf2.Key(newHash, passwords[i], salts[i], iter, keyLen)
					if err != nil {
						t.Fatal(err)
					}
					want = append(want, key...)
				}
				got := make([]byte, n*keyLen)
				if err := pbkdf2.KeyMany(got, newHash, passwords, salts, iter, keyLen); err != nil {
					t.Fatal(err)
				}
				if n == 1 {
					if one, err := pbkdf2.Key(newHash, passwords[0], salts[0], iter, keyLen); !bytes.Equal(one, want) {
						t.Fatalf("%s: Key: %x, %v, want %x", name, one, err, want)
					}
				}
				if !bytes.Equal(got, want) {
					t.Fatalf("%s: %d keys of %d bytes, %d iterations: %x, want %x", name, n, keyLen, iter, got, want)
				}
			}
		}
	})
}

// randomBytes returns up to most bytes.
func randomBytes(rng *rand.Rand, most int) []byte {
	b := make([]byte, rng.IntN(most+1))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// shake is an XOF as a hash, as in golang.org/x/crypto/sha3.
type shake struct{ *sha3.SHAKE }

func (shake) Size() int           { return 32 }
func (shake) Sum(b []byte) []byte { panic("not called") }

func TestMisuse(t *testing.T) {
	dst, two, salts := make([]byte, 64), make([]string, 2), make([][]byte, 2)
	for text, call := range map[string]func() error{
		"*fnv.sum128 is not a hash of this module": func() error {
			return pbkdf2.KeyMany(dst, fnv.New128, two, salts, 1, 32)
		},
		"pbkdf2_test.shake is not a hash of this module": func() error {
			return pbkdf2.KeyMany(dst, func() hash.Hash { return shake{sha3.NewSHAKE128()} }, two, salts, 1, 32)
		},
		"2 passwords, 1 salts": func() error { return pbkdf2.KeyMany(dst, sha256.New, two, salts[:1], 1, 32) },
		"dst has 64 bytes for 2 keys of 16 bytes": func() error {
			return pbkdf2.KeyMany(dst, sha256.New, two, salts, 1, 16)
		},
		"dst has 63 bytes for 2 keys of 32 bytes": func() error {
			return pbkdf2.KeyMany(dst[:63], sha256.New, two, salts, 1, 32)
		},
		"dst overlaps salt 1": func() error {
			return pbkdf2.KeyMany(dst, sha256.New, two, [][]byte{nil, dst[63:]}, 1, 32)
		},
		"0 iterations, want at least 1":  func() error { return pbkdf2.KeyMany(dst, sha256.New, two, salts, 0, 32) },
		"-1 iterations, want at least 1": func() error { return pbkdf2.KeyMany(dst, sha256.New, two, salts, -1, 32) },
		"keys of 0 bytes, want 1 to":     func() error { return pbkdf2.KeyMany(dst, sha256.New, two, salts, 1, 0) },
		"keys of -1 bytes, want 1 to":    func() error { return pbkdf2.KeyMany(dst, sha256.New, two, salts, 1, -1) },
	} {
		got := func() (text string) {
			defer func() {
				if p := recover(); p != nil {
					text = fmt.Sprint("panic: ", p)
				}
			}()
			return fmt.Sprint(call())
		}()
		isError := strings.Contains(text, "want")
		if !strings.Contains(got, "pbkdf2: KeyMany: ") || !strings.Contains(got, text) ||
			isError == strings.HasPrefix(got, "panic: ") || !bytes.Equal(dst, make([]byte, 64)) {
			t.Errorf("%q, want %q; dst is %x", got, text, dst)
		}
	}
}
