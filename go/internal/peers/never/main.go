// SPDX-License-Identifier: MIT OR Apache-2.0

// Never measures the calls that the standard library has too, or that stand for a loop over its calls: who replaces an
// import must not lose. It prints the standard library's time divided by hashloom's, and ends with status 1 if a row is
// below 0.97, but for rows marked with a star: calls that have no equal in the standard library, at few messages. Both
// sides of a row take turns, and the least time of each counts, so that other work on the machine slows neither side
// alone.
//
//	go run ./never [PART OF A ROW'S NAME]
//
// WITHOUT=avx512,sha in the environment: as on a CPU without these instruction sets.
package main

import (
	"crypto/hkdf"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	stdhmac "crypto/hmac"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/hmac"
	"github.com/hashloom/hashloom/go/internal/peers"
	oursMD5 "github.com/hashloom/hashloom/go/md5"
	ours1 "github.com/hashloom/hashloom/go/sha1"
	ours256 "github.com/hashloom/hashloom/go/sha256"
	ours512 "github.com/hashloom/hashloom/go/sha512"
)

const (
	limit  = 0.97
	star   = " *"                   // the limit does not hold
	rounds = 64                     // of both sides
	turn   = 100 * time.Microsecond // of one side
	tries  = 20                     // of a row that is below the limit: what noise alone does is not repeated
)

func main() {
	if err := peers.Restrict(); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
	wanted := ""
	if len(os.Args) > 1 {
		wanted = os.Args[1]
	}
	t := table{wanted: wanted}
	message := make([]byte, 32)
	t.row("md5 Sum of 32 bytes", func() { md5.Sum(message) }, func() { oursMD5.Sum(message) })
	rows(&t, "md5", md5.New, oursMD5.New, md5.Sum, oursMD5.SumMany, oursMD5.SumRows)
	t.row("sha1 Sum of 32 bytes", func() { sha1.Sum(message) }, func() { ours1.Sum(message) })
	rows(&t, "sha1", sha1.New, ours1.New, sha1.Sum, ours1.SumMany, ours1.SumRows)
	t.row("sha256 Sum of 32 bytes", func() { sha256.Sum256(message) }, func() { ours256.Sum256(message) })
	rows(&t, "sha256", sha256.New, ours256.New, sha256.Sum256, ours256.SumMany, ours256.SumRows)
	t.row("sha512 Sum of 32 bytes", func() { sha512.Sum512(message) }, func() { ours512.Sum512(message) })
	rows(&t, "sha512", sha512.New, ours512.New, sha512.Sum512, ours512.SumMany, ours512.SumRows)
	runtime.KeepAlive(&isRight)
	if len(t.slow) > 0 {
		fmt.Fprintf(os.Stderr, "error: slower than the standard library, or larger: %s\n", strings.Join(t.slow, "; "))
		os.Exit(1)
	}
}

// rows measures all rows of one algorithm.
func rows[D [16]byte | [20]byte | [32]byte | [64]byte](t *table, alg string, std, ours func() hash.Hash,
	stdSum func([]byte) D, sumMany func([]D, [][]byte), sumRows func([]D, []byte, int)) {
	message, room := make([]byte, 64<<10), make([]byte, 0, 64*64)
	secret := []byte("a secret of 24 bytes ...")
	// each measures f over both kinds of hash.
	each := func(name string, f func(newHash func() hash.Hash) func()) { t.row(alg+" "+name, f(std), f(ours)) }
	each("New, 400 bytes, Sum", func(newHash func() hash.Hash) func() {
		return func() {
			h := newHash()
			h.Write(message[:400])
			h.Sum(room)
		}
	})
	for _, n := range []int{20, 100} {
		each(fmt.Sprintf("New, 32 writes of %d bytes", n), func(newHash func() hash.Hash) func() {
			return func() {
				h := newHash() // where it lies makes a difference of up to a sixth
				for range 32 {
					h.Write(message[:n])
				}
			}
		})
	}
	each("Clone", func(newHash func() hash.Hash) func() {
		h := newHash().(hash.Cloner)
		return func() { h.Clone() }
	})
	each("crypto/hmac, New, 100 bytes, Sum", func(newHash func() hash.Hash) func() {
		return func() {
			h := stdhmac.New(newHash, secret)
			h.Write(message[:100])
			h.Sum(room)
		}
	})
	each("crypto/pbkdf2, 100 rounds", func(newHash func() hash.Hash) func() {
		return func() { pbkdf2.Key(newHash, "password", secret, 100, 32) }
	})
	each("crypto/hkdf, 100 bytes", func(newHash func() hash.Hash) func() {
		return func() { hkdf.Key(newHash, secret, secret, "info", 100) }
	})
	t.bytes(alg+" New, 400 bytes, Sum: bytes of heap", func() { useHash(std, message) }, func() { useHash(ours, message) })
	for _, size := range []int{32, 1000} {
		for _, n := range []int{1, 2, 3, 4, 8} {
			digests, msgs := make([]D, n), slices(message, n, size)
			t.row(fmt.Sprintf("%s SumMany, %d of %d bytes", alg, n, size), func() {
				for i, msg := range msgs {
					digests[i] = stdSum(msg)
				}
			}, func() { sumMany(digests, msgs) })
		}
	}
	for _, n := range []int{1, 2, 4} {
		digests, rows := make([]D, n), message[:n*32]
		t.row(fmt.Sprintf("%s SumRows, %d of 32 bytes", alg, n), func() {
			for i := range digests {
				digests[i] = stdSum(rows[i*32 : (i+1)*32])
			}
		}, func() { sumRows(digests, rows, 32) })
	}
	for _, size := range []int{100, 400, 512, 1024, 64 << 10} {
		for _, n := range []int{1, 2, 3, 4, 8, 64} {
			hs, chunks := hashes(ours, n), slices(message, n, size)
			times := 1 // so that the chunks of a hash are whole blocks in all, and both sides begin at the same place
			for times*size%128 != 0 {
				times++
			}
			t.row(fmt.Sprintf("%s WriteMany, %d of %d bytes", alg, n, size), func() {
				for range times {
					for i, h := range hs {
						h.Write(chunks[i])
					}
				}
			}, func() {
				for range times {
					hashloom.WriteMany(hs, chunks)
				}
			})
		}
	}
	for _, n := range []int{1, 2, 4, 8, 64} {
		hs := hashes(ours, n)
		t.row(fmt.Sprintf("%s AppendSums, %d%s", alg, n, star), func() {
			b := room
			for _, h := range hs {
				b = h.Sum(b)
			}
		}, func() { hashloom.AppendSums(room, hs) })
	}
	for _, n := range []int{2, 4, 8} {
		h, msgs := ours(), slices(message, n, 32)
		h.Write(message[:100])
		t.row(fmt.Sprintf("%s AppendSumsFrom, %d of 32 bytes%s", alg, n, star), func() {
			b := room
			for _, msg := range msgs {
				c, _ := h.(hash.Cloner).Clone()
				c.Write(msg)
				b = c.Sum(b)
			}
		}, func() { hashloom.AppendSumsFrom(room, h, msgs) })
	}
	key, mac := hmac.NewKey(ours, secret), stdhmac.New(std, secret)
	tag := func(b, msg []byte) []byte {
		mac.Reset()
		mac.Write(msg)
		return mac.Sum(b)
	}
	t.row(alg+" hmac.NewKey"+star, func() { stdhmac.New(std, secret).Reset() }, func() { hmac.NewKey(ours, secret) })
	for _, size := range []int{32, 1000} {
		t.row(fmt.Sprintf("%s Key.AppendSum, %d bytes", alg, size), func() { tag(room, message[:size]) },
			func() { key.AppendSum(room, message[:size]) })
		want := tag(nil, message[:size])
		t.row(fmt.Sprintf("%s Key.Verify, %d bytes", alg, size),
			func() { isRight = stdhmac.Equal(tag(room, message[:size]), want) },
			func() { isRight = key.Verify(message[:size], want) })
		ok, msgs, tags := make([]bool, 1), slices(message, 1, size), [][]byte{want}
		t.row(fmt.Sprintf("%s Key.VerifyMany, 1 of %d bytes%s", alg, size, star),
			func() { isRight = stdhmac.Equal(tag(room, message[:size]), want) },
			func() { isRight = key.VerifyMany(ok, msgs, tags) })
		for _, n := range []int{1, 2, 3, 4} {
			tags, msgs := make([]byte, n*key.Size()), slices(message, n, size)
			t.row(fmt.Sprintf("%s Key.SumMany, %d of %d bytes", alg, n, size), func() {
				for i, msg := range msgs {
					tag(tags[i*key.Size():i*key.Size()], msg)
				}
			}, func() { key.SumMany(tags, msgs) })
		}
	}
}

// isRight keeps the compiler from leaving comparisons out.
var isRight bool

func useHash(newHash func() hash.Hash, message []byte) {
	var room [64]byte
	h := newHash()
	h.Write(message[:400])
	h.Sum(room[:0])
}

func hashes(newHash func() hash.Hash, n int) []hash.Hash {
	hs := make([]hash.Hash, n)
	for i := range hs {
		hs[i] = newHash()
	}
	return hs
}

// slices returns n messages of one size.
func slices(message []byte, n, size int) [][]byte {
	msgs := make([][]byte, n)
	for i := range msgs {
		msgs[i] = message[:size]
	}
	return msgs
}

// table prints rows, and notes those below the limit.
type table struct {
	wanted string
	slow   []string
}

// row measures the two sides of a row.
func (t *table) row(name string, std, ours func()) {
	if !strings.Contains(name, t.wanted) {
		return
	}
	sides := [2]func(){std, ours}
	var least [2]float64
	calls := [2]int{1, 1}
	measure := func(side, round int) {
		moved[round/2%len(moved)](func() {
			start := time.Now()
			for range calls[side] {
				sides[side]()
			}
			least[side] = min(least[side], float64(time.Since(start))/float64(calls[side]))
		})
	}
	for range tries {
		least = [2]float64{math.Inf(1), math.Inf(1)}
		for round := range rounds {
			measure(round%2, round)
			measure(1-round%2, round)
			if round < 3 {
				for side := range sides {
					calls[side] = max(1, int(float64(turn)/least[side]))
				}
			}
		}
		if least[0]/least[1] >= limit {
			break
		}
	}
	t.print(name, "ns", least[0], least[1])
}

// moved has functions that call f with the stack moved by 0, 8, 16 bytes and so on: crypto/sha512 takes up to 2.4 times
// as long where its vectors on the stack straddle cache lines (Go 1.26, amd64), which is luck on either side.
var moved = [...]func(f func()){
	func(f func()) { f() }, move[[8]byte], move[[16]byte], move[[24]byte], move[[32]byte], move[[40]byte], move[[48]byte],
	move[[56]byte],
}

//go:noinline
func move[T any](f func()) {
	var room T
	touch(&room)
	f()
	touch(&room)
}

//go:noinline
func touch[T any](*T) {}

// bytes compares what the two sides allocate.
func (t *table) bytes(name string, std, ours func()) {
	if !strings.Contains(name, t.wanted) {
		return
	}
	allocated := func(f func()) float64 {
		least := math.Inf(1)
		for range 10 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 1000 {
				f()
			}
			runtime.ReadMemStats(&after)
			least = min(least, float64(after.TotalAlloc-before.TotalAlloc)/1000)
		}
		return least
	}
	t.print(name, "B ", allocated(std), allocated(ours))
}

func (t *table) print(name, unit string, std, ours float64) {
	mark := ""
	if std/ours < limit && !strings.HasSuffix(name, star) {
		mark = "  BELOW " + fmt.Sprint(limit)
		t.slow = append(t.slow, name)
	}
	fmt.Printf("%-46s %9.0f %s std %9.0f %s hashloom %6.2f%s\n", name, std, unit, ours, unit, std/ours, mark)
}
