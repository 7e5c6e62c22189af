// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"bytes"
	"crypto/fips140"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding"
	"encoding/binary"
	"hash"

	"github.com/hashloom/hashloom/go/internal/ripemd160"
)

// State is what the hashes of the standard library and of this module implement.
type State interface {
	hash.Cloner
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// way is how the algorithms of a block function are computed in Go.
type way struct {
	new func(alg Alg) State
	sum func(alg Alg, dst, msg []byte) // the digest of msg, which takes no memory of the heap
}

// A program has only the ways of the functions that it calls, as it has their kernels.
var (
	sha1Way      = way{newSHA1, sumSHA1}
	sha256Way    = way{newSHA256, sumSHA256}
	sha512Way    = way{newSHA512, sumSHA512}
	ripemd160Way = way{newRIPEMD160, sumRIPEMD160}
	md5Way       = way{newMD5, sumMD5}
	keccakWay    = way{newKeccak, sumKeccak}
	sha1dcWay    = way{func(Alg) State { return newSHA1DC() }, sumSHA1DC}
)

// wayOf returns the way of any algorithm.
func wayOf(alg Alg) *way {
	switch alg.Info().Body {
	case "sha1":
		if alg == SHA1DC {
			return &sha1dcWay
		}
		return &sha1Way
	case "sha256":
		return &sha256Way
	case "sha512":
		return &sha512Way
	case "ripemd160":
		return &ripemd160Way
	case "md5":
		return &md5Way
	case "keccak":
		return &keccakWay
	}
	panic("hashloom: unknown algorithm")
}

// NewHash returns the hash of the standard library, or in pure Go.
func NewHash(alg Alg) hash.Hash { return newHash(alg) }

func newHash(alg Alg) State { return wayOf(alg).new(alg) }

func newMD5(Alg) State       { return md5.New().(State) }
func newSHA1(Alg) State      { return sha1.New().(State) }
func newRIPEMD160(Alg) State { return ripemd160.New() }

func newSHA256(alg Alg) State {
	if alg == SHA224 {
		return sha256.New224().(State)
	}
	return sha256.New().(State)
}

func newSHA512(alg Alg) State {
	var h hash.Hash
	switch alg {
	case SHA384:
		h = sha512.New384()
	case SHA512_224:
		h = sha512.New512_224()
	case SHA512_256:
		h = sha512.New512_256()
	default:
		h = sha512.New()
	}
	return h.(State)
}

func newKeccak(alg Alg) State {
	switch alg {
	case SHA3_224:
		return sha3.New224()
	case SHA3_256:
		return sha3.New256()
	case SHA3_384:
		return sha3.New384()
	case SHA3_512:
		return sha3.New512()
	}
	return newSponge(alg)
}

func sumMD5(_ Alg, dst, msg []byte) {
	sum := md5.Sum(msg)
	copy(dst, sum[:])
}

func sumSHA1(_ Alg, dst, msg []byte) {
	sum := sha1.Sum(msg)
	copy(dst, sum[:])
}

func sumSHA1DC(_ Alg, dst, msg []byte) {
	h := sha1dc{state: dcStart}
	h.Write(msg)
	h.Sum(dst[:0])
}

func sumRIPEMD160(_ Alg, dst, msg []byte) {
	sum := ripemd160.Sum(msg)
	copy(dst, sum[:])
}

func sumSHA256(alg Alg, dst, msg []byte) {
	if alg == SHA224 {
		sum := sha256.Sum224(msg)
		copy(dst, sum[:])
		return
	}
	sum := sha256.Sum256(msg)
	copy(dst, sum[:])
}

func sumSHA512(alg Alg, dst, msg []byte) {
	switch alg {
	case SHA384:
		sum := sha512.Sum384(msg)
		copy(dst, sum[:])
	case SHA512:
		sum := sha512.Sum512(msg)
		copy(dst, sum[:])
	case SHA512_224:
		sum := sha512.Sum512_224(msg)
		copy(dst, sum[:])
	case SHA512_256:
		sum := sha512.Sum512_256(msg)
		copy(dst, sum[:])
	}
}

// sumKeccak fills dst, if alg is an XOF.
func sumKeccak(alg Alg, dst, msg []byte) {
	switch alg {
	case SHA3_224:
		sum := sha3.Sum224(msg)
		copy(dst, sum[:])
	case SHA3_256:
		sum := sha3.Sum256(msg)
		copy(dst, sum[:])
	case SHA3_384:
		sum := sha3.Sum384(msg)
		copy(dst, sum[:])
	case SHA3_512:
		sum := sha3.Sum512(msg)
		copy(dst, sum[:])
	case SHAKE128, SHAKE256:
		sumXOF(alg, dst, msg)
	default:
		h := newSponge(alg)
		h.Write(bytes.Clone(msg)) // so that messages and digests of other algorithms may be on the caller's stack
		copy(dst, h.Sum(nil))
	}
}

// IsStandard reports whether one message of alg goes to the standard library. In FIPS 140 modes no MD5 or SHA-1 does:
// the calls for many messages do there what they do elsewhere, whatever the number of messages.
func (alg Alg) IsStandard() bool { return isStandard[alg] }

var isStandard = func() (is [len(rows)]bool) {
	for _, alg := range All {
		is[alg] = alg != RIPEMD160 && alg != KECCAK_256 && !((alg == MD5 || alg == SHA1) && fips140.Enabled())
	}
	return is
}()

// First48 returns the first 6 bytes of the state of SHA-256 after the whole blocks of data, as a big-endian number:
// those of a digest, if the blocks are a padded message.
func First48(data []byte) int64 {
	const start = 4 // of the words in a marshaled state
	var room [4 + 32 + 64 + 8]byte
	h := sha256.New() // whose type the compiler finds out: nothing moves to the heap
	h.Write(data[:len(data)&^63])
	state, err := h.(encoding.BinaryAppender).AppendBinary(room[:0])
	if err != nil {
		panic(err)
	}
	return int64(binary.BigEndian.Uint64(state[start:]) >> 16)
}

// OneKey is a key for one message at a time.
type OneKey struct {
	alg Alg // of the states, or 0: the core has the message
	key *Key

	// The marshaled states of the two hashes of MD5, SHA-1 or SHA-2 after their first blocks; of the outer one with
	// zeros for the inner digest. The longest are SHA-512's.
	inner, outer [204]byte
}

// Init makes k the key for one message at a time of key, which must not change.
func (k *OneKey) Init(key *Key) {
	k.key = key
	if alg := key.Alg(); alg.IsStandard() && !alg.Info().IsSponge() {
		k.alg = alg
		key.putStates(k.inner[:0], k.outer[:0])
	}
}

// IsFasterForTwo reports whether msgs are two for which AppendSum is faster than [MACMany]: short ones of SHA-512,
// whose block costs the core twice what it costs the standard library, whatever the lanes in use, and short ones of MD5
// (Zen 4, 2026-11-24).
func (k *OneKey) IsFasterForTwo(msgs [][]byte) bool {
	if len(msgs) != 2 {
		return false
	}
	alg, nbytes := k.key.Alg(), len(msgs[0])+len(msgs[1])
	return alg.Info().WordSize == 8 && nbytes < 512 || alg == MD5 && nbytes < 1024
}

// AppendSum appends the tag of msg to b, of MD5, SHA-1 or SHA-2 by the standard library. The digest of the inner hash
// goes to where the outer state has the bytes of its block. None of the calls can fail.
//
// Each h has a case of its own, in which the compiler finds out its type (Go 1.26): then neither h nor an argument
// moves to the heap, which would take a fifth of the time of a short message.
func (k *OneKey) AppendSum(b, msg []byte) []byte {
	switch k.alg {
	case MD5:
		h, state := md5.New(), [92]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:92])
		h.Write(msg)
		h.Sum(state[:20])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA1:
		h, state := sha1.New(), [96]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:96])
		h.Write(msg)
		h.Sum(state[:24])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA224:
		h, state := sha256.New224(), [108]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:108])
		h.Write(msg)
		h.Sum(state[:36])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA256:
		h, state := sha256.New(), [108]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:108])
		h.Write(msg)
		h.Sum(state[:36])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA384:
		h, state := sha512.New384(), [204]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:204])
		h.Write(msg)
		h.Sum(state[:68])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA512:
		h, state := sha512.New(), [204]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:204])
		h.Write(msg)
		h.Sum(state[:68])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA512_224:
		h, state := sha512.New512_224(), [204]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:204])
		h.Write(msg)
		h.Sum(state[:68])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	case SHA512_256:
		h, state := sha512.New512_256(), [204]byte(k.outer[:])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(k.inner[:204])
		h.Write(msg)
		h.Sum(state[:68])
		h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state[:])
		return h.Sum(b)
	}
	if k.key == nil {
		panic("hmac: a key that NewKey has not made")
	}
	var tag [MaxSize]byte
	size := k.key.Alg().Size()
	MACMany(k.key, tag[:size], [][]byte{msg})
	return append(b, tag[:size]...)
}

// sumXOF fills dst with the digest of msg.
func sumXOF(alg Alg, dst, msg []byte) {
	switch alg {
	case SHAKE128:
		h := sha3.NewSHAKE128()
		h.Write(msg)
		h.Read(dst)
	case SHAKE256:
		h := sha3.NewSHAKE256()
		h.Write(msg)
		h.Read(dst)
	default:
		panic("hashloom: unknown XOF")
	}
}

func sumManyXOF(alg Alg, dst []byte, size int, msgs [][]byte) {
	for i, msg := range msgs {
		sumXOF(alg, dst[i*size:(i+1)*size], msg)
	}
}

func sumRowsXOF(alg Alg, dst []byte, size int, rows []byte, n, rowLen, stride int) {
	for i := range n {
		sumXOF(alg, dst[i*size:(i+1)*size], rows[i*stride:i*stride+rowLen])
	}
}
