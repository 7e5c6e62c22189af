// SPDX-License-Identifier: MIT OR Apache-2.0

// Package hmac computes HMAC (FIPS 198-1, RFC 2104) of many messages at once, with a key that is prepared once.
//
// For one message that arrives in parts use [crypto/hmac], which works with the hashes of this module too. A whole
// message takes as long here as there, and allocates nothing (Go 1.26). The rules for all calls are those of the
// package [github.com/hashloom/hashloom/go].
package hmac

import (
	"crypto/subtle"
	"fmt"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Key is a key, ready for use: the two hashes after their first blocks. It is made by [NewKey]; all calls with another
// one panic. Any number of goroutines may use one key at once. A key is as secret as the bytes that it was made of.
type Key struct {
	one core.OneKey // for one message, by key
	key core.Key
	alg core.Alg
}

// NewKey prepares a key of any length for the hash that h returns, such as sha256.New or sha3.New256 of this module or
// of the standard library. A key longer than a block is replaced by its digest (FIPS 198-1, section 4).
//
// It panics if the hash is not one of this module, or is an XOF, for which HMAC is not defined.
func NewKey[H hash.Hash](h func() H, secret []byte) *Key {
	sample := h()
	alg := digest.AlgOf(sample)
	if alg == 0 || alg.Info().IsXOF {
		panic(fmt.Sprintf("hmac: NewKey: %T is not a hash of this module", sample))
	}
	k := &Key{alg: alg}
	core.KeyInit(&k.key, core.Use(alg), secret)
	k.one.Init(&k.key)
	return k
}

// Size returns the number of bytes in a tag.
func (k *Key) Size() int {
	if k.alg == 0 {
		panic("hmac: a key that NewKey has not made")
	}
	return k.alg.Size()
}

// AppendSum appends the tag of msg to b and returns the result.
func (k *Key) AppendSum(b, msg []byte) []byte {
	return k.one.AppendSum(b, msg)
}

// SumMany sets dst[i*k.Size():(i+1)*k.Size()] to the tag of msgs[i]. It panics if dst is not len(msgs)*k.Size() bytes
// long, or overlaps a message.
func (k *Key) SumMany(dst []byte, msgs [][]byte) {
	if len(msgs) == 1 && len(dst) == k.alg.Size() && digest.IsApart(dst, msgs[0]) {
		k.one.AppendSum(dst[:0], msgs[0])
		return
	}
	size := k.Size()
	if len(dst) != len(msgs)*size {
		panic(fmt.Sprintf("hmac: SumMany: dst has %d bytes for %d tags of %d bytes", len(dst), len(msgs), size))
	}
	digest.CheckOverlap(dst, msgs)
	if k.one.IsFasterForTwo(msgs) {
		for i, msg := range msgs {
			k.one.AppendSum(dst[i*size:i*size], msg)
		}
		return
	}
	core.MACMany(&k.key, dst, msgs)
}

// Verify reports whether tag is the whole tag of msg. The time that it takes does not depend on where tags differ.
func (k *Key) Verify(msg, tag []byte) bool {
	var room [core.MaxSize]byte
	return subtle.ConstantTimeCompare(tag, k.AppendSum(room[:0], msg)) == 1
}

// VerifyMany sets ok[i] to whether tags[i] is the whole tag of msgs[i], and reports whether all are. The time that it
// takes does not depend on where tags differ, nor on which tags are right.
//
// It panics if ok, msgs and tags differ in length.
func (k *Key) VerifyMany(ok []bool, msgs, tags [][]byte) bool {
	if len(ok) != len(msgs) || len(tags) != len(msgs) {
		panic(fmt.Sprintf("hmac: VerifyMany: %d results and %d tags for %d messages", len(ok), len(tags), len(msgs)))
	}
	if len(msgs) == 1 {
		ok[0] = k.Verify(msgs[0], tags[0])
		return ok[0]
	}
	return k.verifyMany(ok, msgs, tags)
}

func (k *Key) verifyMany(ok []bool, msgs, tags [][]byte) bool {
	size := k.Size() // panics for a key that is not ready, also if there are no messages
	var room [64 * core.MaxSize]byte
	all := 1
	for len(msgs) > 0 {
		n := min(len(msgs), 64)
		want := room[:n*size]
		k.SumMany(want, msgs[:n])
		for i, tag := range tags[:n] {
			equal := subtle.ConstantTimeCompare(tag, want[i*size:(i+1)*size])
			ok[i] = equal == 1
			all &= equal
		}
		ok, msgs, tags = ok[n:], msgs[n:], tags[n:]
	}
	return all == 1
}
