// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha3"
	"crypto/sha512"
	"fmt"
	"hash"
	"testing"

	stdpbkdf2 "crypto/pbkdf2"
	stdsha256 "crypto/sha256"

	simd2018 "github.com/1lann/sha256-simd"
	//lint:ignore SA1019 The comparison is with this package.
	"golang.org/x/crypto/ripemd160"
	xsha3 "golang.org/x/crypto/sha3"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/bitcoin"
	oursMD5 "github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/pbkdf2"
	ours160 "github.com/hashloom/hashloom/go/ripemd160"
	ours1 "github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	ours3 "github.com/hashloom/hashloom/go/sha3"
	ours512 "github.com/hashloom/hashloom/go/sha512"
)

// cMany, cAgain and cSearch are those of ccore.go, if that is built.
var (
	cMany   func(alg int, msgs [][]byte) func()
	cAgain  func(isHash160 bool, dst, rows []byte, rowLen int) // dst: the first digest
	cSearch func(prefix []byte, first, last uint64) func()
)

const count = 256

func messages(size int) [][]byte {
	buffer := make([]byte, count*size)
	msgs := make([][]byte, count)
	for i := range msgs {
		msgs[i], buffer = buffer[:size:size], buffer[size:]
	}
	return msgs
}

func measure(b *testing.B, name string, size int, by string, f func()) {
	b.Run(fmt.Sprintf("alg=%s/size=%d/by=%s", name, size, by), func(b *testing.B) {
		b.SetBytes(int64(count * size))
		b.ReportAllocs()
		for b.Loop() {
			f()
		}
	})
}

// many measures the call for all messages, that of the C library, and other hash functions one message at a time.
func many[D any](b *testing.B, name string, alg int, msgs [][]byte, sumMany func([]D, [][]byte),
	others map[string]func([]byte) D) {
	sums, size := make([]D, count), len(msgs[0])
	measure(b, name, size, "hashloom", func() { sumMany(sums, msgs) })
	if cMany != nil {
		measure(b, name, size, "C", cMany(alg, msgs))
	}
	for by, sum := range others {
		measure(b, name, size, by, func() {
			for i, msg := range msgs {
				sums[i] = sum(msg)
			}
		})
	}
}

// BenchmarkMany hashes 256 messages of one size.
func BenchmarkMany(b *testing.B) {
	old := ripemd160.New()
	for _, size := range []int{64, 1024, 16384} {
		msgs := messages(size)
		many(b, "md5", 9, msgs, oursMD5.SumMany, map[string]func([]byte) [16]byte{"std": md5.Sum})
		many(b, "sha1", 1, msgs, ours1.SumMany, map[string]func([]byte) [20]byte{"std": sha1.Sum})
		many(b, "sha256", 2, msgs, sha256.SumMany, map[string]func([]byte) [32]byte{"std": stdsha256.Sum256})
		many(b, "sha512", 5, msgs, ours512.SumMany, map[string]func([]byte) [64]byte{"std": sha512.Sum512})
		many(b, "sha3-256", 11, msgs, ours3.SumMany256,
			map[string]func([]byte) [32]byte{"std": sha3.Sum256, "x-crypto": xsha3.Sum256})
		shakes := make([]byte, count*32)
		many(b, "shake128", 14, msgs, func(_ [][32]byte, msgs [][]byte) { ours3.SumManySHAKE128(shakes, msgs, 32) },
			map[string]func([]byte) [32]byte{
				"std": func(msg []byte) [32]byte { return [32]byte(sha3.SumSHAKE128(msg, 32)) },
			})
		many(b, "ripemd160", 8, msgs, ours160.SumMany, map[string]func([]byte) [20]byte{
			"x-crypto": func(msg []byte) (sum [20]byte) {
				old.Reset()
				old.Write(msg)
				old.Sum(sum[:0])
				return sum
			},
		})
		hs, sums := make([]hash.Hash, count), make([]byte, 0, count*32)
		for i := range hs {
			hs[i] = ours3.New256()
		}
		measure(b, "sha3-256-running", size, "hashloom", func() {
			hashloom.WriteMany(hs, msgs)
			hashloom.AppendSums(sums, hs)
		})
		measure(b, "sha3-256-running", size, "std", func() {
			for i, h := range hs {
				h.Write(msgs[i])
				h.Sum(sums)
			}
		})
	}
}

// BenchmarkPBKDF2 derives 64 keys of one digest each, by 1,000 iterations.
func BenchmarkPBKDF2(b *testing.B) {
	const n = 64
	passwords, salts := make([]string, n), make([][]byte, n)
	for i := range passwords {
		passwords[i], salts[i] = fmt.Sprint("password ", i), fmt.Appendf(nil, "a salt of 16 B%02d", i)
	}
	for name, newHash := range map[string]func() hash.Hash{
		"sha1": ours1.New, "sha256": sha256.New, "sha512": ours512.New} {
		size := newHash().Size()
		keys := make([]byte, n*size)
		b.Run("alg="+name+"/by=hashloom", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				pbkdf2.KeyMany(keys, newHash, passwords, salts, 1000, size)
			}
		})
		b.Run("alg="+name+"/by=std", func(b *testing.B) {
			for b.Loop() {
				for i, password := range passwords {
					stdpbkdf2.Key(newHash, password, salts[i], 1000, size)
				}
			}
		})
	}
}

// BenchmarkSearch tries 10,000 nonces of Krist.
func BenchmarkSearch(b *testing.B) {
	const tries = 10000
	prefix := []byte("k5ztameslf" + "0000000001e2")
	b.Run("by=hashloom", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			sha256.Search(prefix, sha256.Nonces{First: 1e9, End: 1e9 + tries}, nil, 0)
		}
		b.ReportMetric(float64(b.N)*tries/b.Elapsed().Seconds()/1e6, "MH/s")
	})
	if cSearch != nil {
		b.Run("by=C", func(b *testing.B) {
			search := cSearch(prefix, 1e9, 1e9+tries-1)
			for b.Loop() {
				search()
			}
			b.ReportMetric(float64(b.N)*tries/b.Elapsed().Seconds()/1e6, "MH/s")
		})
	}
	b.Run("by=2018", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			block := padded(append(prefix[:len(prefix):len(prefix)], "1000000000"...))
			for range tries {
				simd2018.SumCmp256(block, 0)
				// The next nonce, in place.
				for i := len(prefix) + 9; ; i-- {
					block[i]++
					if block[i] <= '9' {
						break
					}
					block[i] = '0'
				}
			}
		}
		b.ReportMetric(float64(b.N)*tries/b.Elapsed().Seconds()/1e6, "MH/s")
	})
}

// BenchmarkAgain hashes 1,000 public keys by Hash160, and 1,000 block headers by SHA256d.
func BenchmarkAgain(b *testing.B) {
	const n = 1000
	measure := func(name string, rowLen int, by string, f func(rows []byte)) {
		b.Run(fmt.Sprintf("alg=%s/size=%d/by=%s", name, rowLen, by), func(b *testing.B) {
			rows := make([]byte, n*rowLen)
			for i := range rows {
				rows[i] = byte(i * i >> 8)
			}
			b.ReportAllocs()
			for b.Loop() {
				f(rows)
			}
			b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds()/1e6, "M/s")
		})
	}
	hashes, doubles := make([][20]byte, n), make([][32]byte, n)
	for _, keyLen := range []int{33, 65} {
		measure("hash160", keyLen, "hashloom", func(rows []byte) { bitcoin.Hash160Rows(hashes, rows, keyLen) })
		if cAgain != nil {
			measure("hash160", keyLen, "C", func(rows []byte) { cAgain(true, hashes[0][:], rows, keyLen) })
		}
		measure("hash160", keyLen, "x-crypto", func(rows []byte) {
			h := ripemd160.New()
			for i := range hashes {
				sum := stdsha256.Sum256(rows[i*keyLen : (i+1)*keyLen])
				h.Reset()
				h.Write(sum[:])
				h.Sum(hashes[i][:0])
			}
		})
	}
	measure("sha256d", 80, "hashloom", func(rows []byte) { bitcoin.SHA256dRows(doubles, rows, 80) })
	if cAgain != nil {
		measure("sha256d", 80, "C", func(rows []byte) { cAgain(false, doubles[0][:], rows, 80) })
	}
	measure("sha256d", 80, "std", func(rows []byte) {
		for i := range doubles {
			sum := stdsha256.Sum256(rows[i*80 : (i+1)*80])
			doubles[i] = stdsha256.Sum256(sum[:])
		}
	})
}
