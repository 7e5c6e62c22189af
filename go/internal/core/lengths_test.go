// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

const maxMessages, maxLength = 70, 300

func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	source := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	source.Read(b)
	return b
}

func init() {
	for _, alg := range All {
		Use(alg)
	}
}

// eachImplementation runs f without a restriction, then once for each instruction set of this machine alone.
func eachImplementation(t *testing.T, f func(t *testing.T, restricted bool)) {
	t.Run("all", func(t *testing.T) { f(t, false) })
	for _, name := range Implementations() {
		t.Run(name, func(t *testing.T) {
			if err := Restrict([]string{name}); err != nil {
				t.Fatal(err)
			}
			defer Restrict(nil)
			f(t, true)
		})
	}
}

func checkDigests(t *testing.T, what string, alg Alg, got []byte, want [][]byte) {
	t.Helper()
	for i := range want {
		if !bytes.Equal(got[i*alg.Size():(i+1)*alg.Size()], want[i]) {
			t.Fatalf("%v, %s: message %d of %d: %x, expected %x", alg, what, i, len(want),
				got[i*alg.Size():(i+1)*alg.Size()], want[i])
		}
	}
}

// Every length from 0 to 300, in every number of messages from 0 to 70: all of one length, and ascending lengths.
func TestEveryLength(t *testing.T) {
	data := randomBytes(1, maxMessages+maxLength)
	for _, alg := range All {
		var digests [maxMessages][maxLength + 1][]byte
		for i := range digests {
			for length := range digests[i] {
				digests[i][length] = make([]byte, alg.Size())
				hashOf(alg, digests[i][length], data[i:i+length])
			}
		}
		eachImplementation(t, func(t *testing.T, restricted bool) {
			if restricted && testing.Short() && alg != firstOf(alg.Info().Body) {
				return
			}
			got := make([]byte, maxMessages*alg.Size())
			for n := 0; n <= maxMessages; n++ {
				if (restricted || testing.Short()) && n > 17 && n != 33 && n != maxMessages {
					continue
				}
				equal, ascending := make([][]byte, n), make([][]byte, n)
				want, wantAscending := make([][]byte, n), make([][]byte, n)
				for length := 0; length <= maxLength; length++ {
					if testing.Short() && length%9 != n%9 {
						continue
					}
					for i := range n {
						other := (length + i*i) % (maxLength + 1)
						equal[i], want[i] = data[i:i+length], digests[i][length]
						ascending[i], wantAscending[i] = data[i:i+other], digests[i][other]
					}
					clear(got)
					SumMany(alg, got, equal)
					checkDigests(t, fmt.Sprint(length, " bytes each"), alg, got, want)
					clear(got)
					SumRows(alg, got, data, n, length, 1)
					checkDigests(t, fmt.Sprint("rows of ", length, " bytes"), alg, got, want)
					clear(got)
					SumMany(alg, got, ascending)
					checkDigests(t, fmt.Sprint("from ", length, " bytes"), alg, got, wantAscending)
				}
			}
		})
	}
}

// longLists has lists of messages that one call cannot hash: long ones among others, at the beginning, in between and
// at the end, and more of them than are hashed side by side.
func longLists() [][][]byte {
	data := randomBytes(2, 3<<20)
	list := func(lengths ...int) [][]byte {
		msgs := make([][]byte, len(lengths))
		for i, length := range lengths {
			msgs[i] = data[i : i+length]
		}
		return msgs
	}
	many := func(n int, length func(i int) int) [][]byte {
		lengths := make([]int, n)
		for i := range lengths {
			lengths[i] = length(i)
		}
		return list(lengths...)
	}
	return [][][]byte{
		list(2 << 20),
		list(2<<20, 0, 1<<20+1, 63, 64, 65, 2<<20+127),
		list(0, 1, 2<<20-1, 2, 3),
		many(5, func(i int) int { return 300_000 - i }),
		many(17, func(i int) int { return 200_000 }),
		many(70, func(i int) int { return 20_000 + 1000*i }),
		many(110, func(i int) int { return 45_000 + i*i }),
		many(600, func(i int) int { return []int{100_000, 10, 64, 1000}[min(3, i%100)] }),
		many(700, func(i int) int { return i % 130 }),
		many(200, func(i int) int { return 17_000 - i }),
		append(many(100, func(i int) int { return 8 }), list(1<<20)...),
	}
}

// firstOf returns the first algorithm over a block function.
func firstOf(body string) Alg {
	for _, alg := range All {
		if alg.Info().Body == body {
			return alg
		}
	}
	return 0
}

// Messages that are cut across several calls.
func TestLongMessages(t *testing.T) {
	prefix, secret := randomBytes(3, 100), randomBytes(4, 40)
	for l, msgs := range longLists() {
		for _, alg := range All {
			if testing.Short() {
				msgs = msgs[:min(len(msgs), 120)]
				if l%3 != int(alg)%3 {
					continue
				}
			}
			want := expect(alg, prefix, secret, msgs)
			stream := make([]byte, alg.Size())
			hashOf(alg, stream, append([][]byte{prefix}, msgs...)...)
			eachImplementation(t, func(t *testing.T, restricted bool) {
				if restricted && (l%3 != int(alg)%3 || alg != firstOf(alg.Info().Body)) {
					return
				}
				what := fmt.Sprint("list ", l)
				checkMessages(t, what, alg, prefix, secret, msgs, want)
				ctx, _ := begun(alg, prefix, secret)
				for _, msg := range msgs {
					Update(&ctx, msg)
				}
				got := make([]byte, alg.Size())
				Peek(&ctx, got)
				checkDigests(t, what+" as one stream", alg, got, [][]byte{stream})
			})
		}
	}
}

// Rows that touch, overlap, lie apart, are all the same, are long, or are empty.
func TestRows(t *testing.T) {
	rows := randomBytes(5, 1<<20)
	secret := randomBytes(6, 200)
	for _, alg := range All {
		for _, shape := range []struct{ n, rowLen, stride int }{
			{0, 0, 0}, {1, 0, 0}, {3, 0, 5}, {1000, 64, 64}, {1000, 64, 100}, {500, 300, 7}, {50, 64, 0}, {20, 50_000, 50_000},
			{1, 1 << 20, 0}, {5, 1<<20 - 4, 1}, {4096, 128, 256}, {100, 5000, 10_000}, {49, 60_000, 1}, {1, 1000, math.MaxInt},
		} {
			checkRows(t, alg, secret[:alg.Info().BlockSize], secret, rows, shape.n, shape.rowLen, shape.stride)
		}
	}
}
