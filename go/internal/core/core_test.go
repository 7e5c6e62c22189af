// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"crypto/hmac"
	"fmt"
	"hash"
	"math/rand/v2"
	"testing"
)

// expected has the digests of messages: alone, after a prefix, and as tags by a key.
type expected struct{ plain, from, tags [][]byte }

// expect returns what the hashes of core_go.go and crypto/hmac give one at a time.
func expect(alg Alg, prefix, secret []byte, msgs [][]byte) (want expected) {
	for _, msg := range msgs {
		plain, from := make([]byte, alg.Size()), make([]byte, alg.Size())
		hashOf(alg, plain, msg)
		hashOf(alg, from, prefix, msg)
		want.plain, want.from = append(want.plain, plain), append(want.from, from)
		if !alg.Info().IsXOF {
			h := hmac.New(func() hash.Hash { return newHash(alg) }, secret)
			h.Write(msg)
			want.tags = append(want.tags, h.Sum(nil))
		}
	}
	return want
}

// begun returns a stream that has the prefix, and a key, which XOFs have none of.
func begun(alg Alg, prefix, secret []byte) (ctx Ctx, key Key) {
	Init(&ctx, alg)
	Update(&ctx, prefix)
	if !alg.Info().IsXOF {
		KeyInit(&key, alg, secret)
	}
	return ctx, key
}

// checkMessages makes every call for messages, as streams in three parts.
func checkMessages(t *testing.T, what string, alg Alg, prefix, secret []byte, msgs [][]byte, want expected) {
	t.Helper()
	ctx, key := begun(alg, prefix, secret)
	before := AppendState(&ctx, alg, nil)
	size := alg.Size()
	got := make([]byte, len(msgs)*size)
	check := func(call string, want [][]byte) {
		t.Helper()
		checkDigests(t, what+", "+call, alg, got, want)
		clear(got)
	}
	SumMany(alg, got, msgs)
	check("SumMany", want.plain)
	SumManyFrom(&ctx, got, msgs)
	check("SumManyFrom", want.from)
	if !alg.Info().IsXOF {
		MACMany(&key, got, msgs)
		check("MACMany", want.tags)
		keys := make([]Key, len(msgs))
		for i := range keys {
			keys[i] = key
		}
		MACManyKeys(keys, got, msgs)
		check("MACManyKeys", want.tags)
	}
	n := 0 // up to the second long one
	for ; n < len(msgs) && (n == 0 || len(msgs[n]) <= 5000); n++ {
		Sum(alg, got[n*size:], msgs[n])
	}
	check("Sum", want.plain[:n])

	ctxs, chunks := make([]*Ctx, len(msgs)), make([][]byte, len(msgs))
	for i := range ctxs {
		ctxs[i] = new(Ctx)
		Copy(ctxs[i], &ctx)
	}
	for part := range 3 {
		for i, msg := range msgs {
			chunks[i] = msg[part*len(msg)/3 : (part+1)*len(msg)/3]
		}
		UpdateMany(ctxs, chunks)
	}
	PeekMany(ctxs, got)
	check("UpdateMany", want.from)
	PeekMany(ctxs, got)
	check("PeekMany twice", want.from)
	for i, c := range ctxs {
		Peek(c, got[i*size:])
	}
	check("Peek", want.from)
	for i, c := range ctxs {
		state := AppendState(c, alg, nil)
		h := newHash(alg)
		if err := h.UnmarshalBinary(state); err != nil {
			t.Fatal(alg, err)
		}
		h.Sum(got[i*size : i*size])
		if again, _ := h.AppendBinary(nil); !bytes.Equal(again, state) {
			t.Fatal(alg, "the states differ")
		}
	}
	check("AppendState", want.from)
	if !bytes.Equal(before, AppendState(&ctx, alg, nil)) {
		t.Fatal(alg, "the context of SumManyFrom changed")
	}
}

// checkRows makes every call for rows.
func checkRows(t *testing.T, alg Alg, prefix, secret, rows []byte, n, rowLen, stride int) {
	t.Helper()
	msgs := make([][]byte, n)
	for i := range msgs {
		msgs[i] = rows[i*stride : i*stride+rowLen]
	}
	what := fmt.Sprintf("rows of %d bytes, %d apart", rowLen, stride)
	want := expect(alg, prefix, secret, msgs)
	ctx, key := begun(alg, prefix, secret)
	got := make([]byte, n*alg.Size())
	SumRows(alg, got, rows, n, rowLen, stride)
	checkDigests(t, what, alg, got, want.plain)
	SumRowsFrom(&ctx, got, rows, n, rowLen, stride)
	checkDigests(t, what+", from a prefix", alg, got, want.from)
	if !alg.Info().IsXOF {
		MACRows(&key, got, rows, n, rowLen, stride)
		checkDigests(t, what+", by a key", alg, got, want.tags)
	}
}

// The functions agree with crypto/hmac and with the hashes of core_go.go one at a time.
func TestFunctionsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alg := range All {
		for _, n := range []int{0, 1, 2, 5, 16, 17, 33, 100} {
			for _, most := range []int{0, 1, 64, 300, 5000} {
				msgs := make([][]byte, n)
				for i := range msgs {
					msgs[i] = randomBytes(rng.Uint64(), rng.IntN(most+1))
				}
				prefix := randomBytes(rng.Uint64(), rng.IntN(most+1))
				want := expect(alg, prefix, prefix, msgs)
				checkMessages(t, fmt.Sprint("up to ", most, " bytes"), alg, prefix, prefix, msgs, want)
				stride := most + rng.IntN(10)
				checkRows(t, alg, prefix, prefix, randomBytes(rng.Uint64(), n*stride), n, most, stride)
			}
		}
	}
}

func hashOf(alg Alg, dst []byte, parts ...[]byte) {
	h := newHash(alg)
	for _, part := range parts {
		h.Write(part)
	}
	h.Sum(dst[:0])
}
