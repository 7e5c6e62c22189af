// SPDX-License-Identifier: MIT OR Apache-2.0

package hmac_test

import (
	"bytes"
	stdhmac "crypto/hmac"
	stdsha256 "crypto/sha256"
	"fmt"
	"hash"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/hashloom/hashloom/go/hmac"
	"github.com/hashloom/hashloom/go/md5"
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
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Tags equal those of crypto/hmac over the same hash, for keys shorter and longer than a block.
func TestAgainstStandardLibrary(t *testing.T) {
	for name, newHash := range hashes {
		rng := rand.New(rand.NewPCG(1, 2))
		for _, keyLen := range []int{0, 1, 20, 64, 65, 128, 129, 300} {
			secret := randomBytes(rng, keyLen)
			key := hmac.NewKey(newHash, secret)
			h := stdhmac.New(newHash, secret)
			if key.Size() != h.Size() {
				t.Fatalf("%s: tags of %d bytes, want %d", name, key.Size(), h.Size())
			}
			for _, n := range []int{0, 1, 2, 3, 5, 16, 100} {
				msgs := make([][]byte, n)
				tags := make([][]byte, n)
				for i := range msgs {
					msgs[i] = randomBytes(rng, rng.IntN(300))
					h.Reset()
					h.Write(msgs[i])
					tags[i] = h.Sum(nil)
				}
				got := make([]byte, n*key.Size())
				key.SumMany(got, msgs)
				if want := bytes.Join(tags, nil); !bytes.Equal(got, want) {
					t.Fatalf("%s, key of %d bytes, %d messages: %x, want %x", name, keyLen, n, got, want)
				}
				for i, msg := range msgs {
					if tag := key.AppendSum([]byte("x"), msg); !bytes.Equal(tag[1:], tags[i]) || tag[0] != 'x' {
						t.Fatalf("%s: AppendSum: %x, want %x", name, tag, tags[i])
					}
				}
				testVerify(t, rng, key, msgs, tags)
			}
		}
	}
}

// testVerify verifies tags, some of which it has changed.
func testVerify(t *testing.T, rng *rand.Rand, key *hmac.Key, msgs, tags [][]byte) {
	t.Helper()
	ok := make([]bool, len(msgs))
	if !key.VerifyMany(ok, msgs, tags) {
		t.Fatal("a right tag is wrong")
	}
	all := true
	want := make([]bool, len(msgs))
	for i, tag := range tags {
		want[i] = true
		switch rng.IntN(8) {
		case 0:
			tag[rng.IntN(len(tag))] ^= 1 << rng.IntN(8)
			want[i] = false
		case 1:
			tags[i] = tag[:len(tag)-1] // a truncated tag is not the whole tag
			want[i] = false
		case 2:
			tags[i] = append(tag, 0)
			want[i] = false
		}
		all = all && want[i]
		if key.Verify(msgs[i], tags[i]) != want[i] {
			t.Fatalf("tag %d: want %v", i, want[i])
		}
	}
	if got := key.VerifyMany(ok, msgs, tags); got != all || fmt.Sprint(ok) != fmt.Sprint(want) {
		t.Fatalf("%v %v, want %v %v", got, ok, all, want)
	}
}

// A function that returns another type than hash.Hash is one of a hash too.
func TestTypeOfHash(t *testing.T) {
	want := hmac.NewKey(func() hash.Hash { return sha3.New256() }, []byte("key")).AppendSum(nil, nil)
	if got := hmac.NewKey(sha3.New256, []byte("key")).AppendSum(nil, nil); !bytes.Equal(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

func TestGoroutinesShareKey(t *testing.T) {
	key := hmac.NewKey(sha256.New, []byte("key"))
	want := key.AppendSum(nil, []byte("message"))
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 100 {
				if !key.Verify([]byte("message"), want) {
					t.Error("a right tag is wrong")
				}
			}
		})
	}
	group.Wait()
}

func TestMisuse(t *testing.T) {
	key := hmac.NewKey(sha256.New, nil)
	tags := make([]byte, 64)
	two := make([][]byte, 2)
	for text, call := range map[string]func(){
		"*fnv.sum128 is not a hash":            func() { hmac.NewKey(fnv.New128, nil) },
		"SumMany: dst has 64 bytes for 3 tags": func() { key.SumMany(tags, make([][]byte, 3)) },
		"digests overlap messages":             func() { key.SumMany(tags, [][]byte{nil, tags[10:20]}) },
		"1 results and 2 tags for 2 messages":  func() { key.VerifyMany(make([]bool, 1), two, two) },
		"2 results and 1 tags for 2 messages":  func() { key.VerifyMany(make([]bool, 2), two, two[:1]) },
		"a key that NewKey has not made":       func() { new(hmac.Key).AppendSum(nil, nil) },
		"that NewKey has not made":             func() { new(hmac.Key).VerifyMany(nil, nil, nil) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, text) {
					t.Errorf("panic %q, want %q", got, text)
				}
			}()
			call()
		}()
	}
}
