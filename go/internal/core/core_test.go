// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"crypto/hmac"
	"hash"
	"math/rand/v2"
	"testing"
)

// The functions agree with crypto/hmac and with the hashes of core_go.go one at a time.
func TestFunctionsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, alg := range All {
		size := alg.Size()
		for _, n := range []int{0, 1, 2, 5, 16, 17, 33, 100} {
			for _, most := range []int{0, 1, 64, 300, 5000} {
				msgs := make([][]byte, n)
				for i := range msgs {
					msgs[i] = make([]byte, rng.IntN(most+1))
					for j := range msgs[i] {
						msgs[i][j] = byte(rng.Uint32())
					}
				}
				prefix := make([]byte, rng.IntN(most+1))
				var ctx Ctx
				Init(&ctx, alg)
				Update(&ctx, prefix)
				before := AppendState(&ctx, alg, nil)
				var key Key
				if !alg.Info().IsXOF {
					KeyInit(&key, alg, prefix)
				}

				got := make([]byte, n*size)
				each := make([]byte, size)
				check := func(what string, want func(msg []byte)) {
					t.Helper()
					for i, msg := range msgs {
						want(msg)
						if !bytes.Equal(got[i*size:(i+1)*size], each) {
							t.Fatalf("%v, %s: message %d of %d, %d bytes", alg, what, i, n, len(msg))
						}
					}
				}
				plain := func(msg []byte) { hashOf(alg, each, msg) }
				after := func(msg []byte) { hashOf(alg, each, prefix, msg) }
				mac := func(msg []byte) {
					h := hmac.New(func() hash.Hash { return newHash(alg) }, prefix)
					h.Write(msg)
					h.Sum(each[:0])
				}
				SumMany(alg, got, msgs)
				check("SumMany", plain)
				SumManyFrom(&ctx, got, msgs)
				check("SumManyFrom", after)
				if !alg.Info().IsXOF {
					MACMany(&key, got, msgs)
					check("MACMany", mac)
					keys := make([]Key, n)
					for i := range keys {
						keys[i] = key
					}
					MACManyKeys(keys, got, msgs)
					check("MACManyKeys", mac)
				}

				ctxs := make([]*Ctx, n)
				for i := range ctxs {
					ctxs[i] = new(Ctx)
					Copy(ctxs[i], &ctx)
				}
				UpdateMany(ctxs, msgs)
				PeekMany(ctxs, got)
				check("UpdateMany", after)
				PeekMany(ctxs, got)
				check("PeekMany twice", after)
				for i, c := range ctxs {
					Peek(c, got[i*size:])
				}
				check("Peek", after)
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
				check("AppendState", after)

				rowLen := most
				stride := rowLen + rng.IntN(10)
				rows := make([]byte, n*stride)
				for i := range rows {
					rows[i] = byte(rng.Uint32())
				}
				for i := range msgs {
					msgs[i] = rows[i*stride : i*stride+rowLen]
				}
				SumRows(alg, got, rows, n, rowLen, stride)
				check("SumRows", plain)
				SumRowsFrom(&ctx, got, rows, n, rowLen, stride)
				check("SumRowsFrom", after)
				if !alg.Info().IsXOF {
					MACRows(&key, got, rows, n, rowLen, stride)
					check("MACRows", mac)
				}
				for i, msg := range msgs {
					Sum(alg, got[i*size:], msg)
				}
				check("Sum", plain)
				if !bytes.Equal(before, AppendState(&ctx, alg, nil)) {
					t.Fatal(alg, "the context of SumManyFrom changed")
				}
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
