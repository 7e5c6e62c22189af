// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha1cd computes SHA-1 and finds collision attacks, for Git and others that must go on with SHA-1: of one
// message with the API of github.com/pjbgit/sha1cd, and of many messages at once.
//
// The digests are those of SHA-1. An attack gets another one, as from that package: its blocks are hashed twice more,
// so that the two messages differ even for callers that do not ask. An attack is found if it uses one of 32 disturbance
// vectors, which are those of all published collisions and of any attack that is known to be practical: M. Stevens,
// "Counter-cryptanalysis", 2013; M. Stevens and D. Shumow, "Speeding up detection of SHA-1 collision attacks using
// unavoidable attack conditions", 2017. A false alarm has a chance of about 2^-160 a block.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package sha1cd

import (
	"fmt"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Size is the number of bytes in a digest.
const Size = 20

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// A digest of the core is SHA-1's, then 1 if an attack was found, then zeros.
const checkedSize = 24

// CollisionResistantHash is what New returns.
type CollisionResistantHash interface {
	// CollisionResistantSum appends the digest to b, and reports whether the message is half of a collision. It does
	// not change the hash.
	CollisionResistantSum(b []byte) ([]byte, bool)

	hash.Hash
}

type sum struct {
	ctx core.Ctx
}

// New returns a new [CollisionResistantHash]. Its Sum is that of [crypto/sha1], but of an attack.
func New() hash.Hash {
	s := new(sum)
	s.Reset()
	return s
}

// Write appends p to the message.
func (s *sum) Write(p []byte) (int, error) {
	core.Update(&s.ctx, p)
	return len(p), nil
}

// Sum appends the digest to b. It does not change the hash.
func (s *sum) Sum(b []byte) []byte {
	b, _ = s.CollisionResistantSum(b)
	return b
}

// CollisionResistantSum is that of CollisionResistantHash.
func (s *sum) CollisionResistantSum(b []byte) ([]byte, bool) {
	var checked [checkedSize]byte
	core.Peek(&s.ctx, checked[:])
	return append(b, checked[:Size]...), checked[Size] != 0
}

// Reset begins an empty message.
func (s *sum) Reset() { core.Init(&s.ctx, core.UseSHA1DC()) }

// Size returns the number of bytes in a digest.
func (s *sum) Size() int { return Size }

// BlockSize returns the number of bytes in a block.
func (s *sum) BlockSize() int { return BlockSize }

// Sum returns the SHA-1 digest of data, and reports whether data is half of a collision.
func Sum(data []byte) ([]byte, bool) {
	var checked [checkedSize]byte
	core.Sum(core.UseSHA1DC(), checked[:], data)
	return checked[:Size], checked[Size] != 0
}

// SumMany sets dst[i] to the SHA-1 digest of msgs[i], and found[i] to whether msgs[i] is half of a collision. It panics
// if dst, found and msgs differ in length, or dst overlaps msgs. It allocates up to 24 KiB.
func SumMany(dst [][Size]byte, found []bool, msgs [][]byte) {
	const group = 1024
	digest.CheckMany("sha1cd", "SumMany", dst, msgs)
	if len(found) != len(msgs) {
		panic(fmt.Sprintf("sha1cd: SumMany: found has %d elements, msgs has %d messages", len(found), len(msgs)))
	}
	checked := make([]byte, checkedSize*min(group, len(msgs)))
	for from := 0; from < len(msgs); from += group {
		n := min(group, len(msgs)-from)
		core.SumMany(core.UseSHA1DC(), checked[:checkedSize*n], msgs[from:from+n])
		for i := range n {
			copy(dst[from+i][:], checked[checkedSize*i:])
			found[from+i] = checked[checkedSize*i+Size] != 0
		}
	}
}
