// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !(amd64 || arm64) || purego || noasm

package core

import (
	"fmt"
	"hash"
)

// Compiled says whether the C core is in the program.
const Compiled = false

// Enabled says whether the C core is in use.
func Enabled() bool { return false }

// Ctx is a running computation. Its zero value must be initialised. Copying the structure does not copy the
// computation: use Copy.
type Ctx struct {
	h hash.Cloner
}

// Key is an HMAC key, ready for use. It may be copied.
type Key struct {
	alg          Alg
	inner, outer Ctx
}

// Nothing must be made known to a core.

func UseSHA1(alg Alg) Alg      { return alg }
func UseSHA1DC() Alg           { return SHA1DC }
func UseSHA256(alg Alg) Alg    { return alg }
func UseSHA512(alg Alg) Alg    { return alg }
func UseRIPEMD160(alg Alg) Alg { return alg }
func UseMD5(alg Alg) Alg       { return alg }
func UseKeccak(alg Alg) Alg    { return alg }

// Sum writes the digest of msg to dst, which has room for it.
func Sum(alg Alg, dst, msg []byte) {
	dst = dst[:alg.Size()]
	switch alg.Info().Body { // no call of a way's: then nothing moves to the heap
	case "sha1":
		if alg == SHA1DC {
			sumSHA1DC(alg, dst, msg)
			return
		}
		sumSHA1(alg, dst, msg)
	case "sha256":
		sumSHA256(alg, dst, msg)
	case "sha512":
		sumSHA512(alg, dst, msg)
	case "ripemd160":
		sumRIPEMD160(alg, dst, msg)
	case "md5":
		sumMD5(alg, dst, msg)
	case "keccak":
		sumKeccak(alg, dst, msg)
	}
}

// SumMany writes the digest of msgs[i] to dst[i*size:], with len(dst) == len(msgs)*size.
func SumMany(alg Alg, dst []byte, msgs [][]byte) {
	size := alg.Size()
	for i, msg := range msgs {
		Sum(alg, dst[i*size:(i+1)*size], msg)
	}
}

// SumRows writes the digest of rows[i*stride:i*stride+rowLen] to dst[i*size:], for i from 0 to n-1.
func SumRows(alg Alg, dst, rows []byte, n, rowLen, stride int) {
	size := alg.Size()
	for i := range n {
		Sum(alg, dst[i*size:(i+1)*size], rows[i*stride:i*stride+rowLen])
	}
}

// SumPairs is SumRows for pairs of nodes of 32 bytes.
func SumPairs(alg Alg, dst, rows []byte) {
	SumRows(alg, dst, rows, len(rows)/PairSize, PairSize, PairSize)
}

// SumManyXOF is SumMany with digests of size bytes each, by an XOF.
func SumManyXOF(alg Alg, dst []byte, size int, msgs [][]byte) { sumManyXOF(alg, dst, size, msgs) }

// SumRowsXOF is SumRows with digests of size bytes each, by an XOF.
func SumRowsXOF(alg Alg, dst []byte, size int, rows []byte, n, rowLen, stride int) {
	sumRowsXOF(alg, dst, size, rows, n, rowLen, stride)
}

// SumAgainMany writes the digest by again of the digest of msgs[i] to dst[i*size:], where size is again's.
func SumAgainMany(alg, again Alg, dst []byte, msgs [][]byte) {
	var digest [MaxSize]byte
	size := again.Size()
	for i, msg := range msgs {
		Sum(alg, digest[:], msg)
		Sum(again, dst[i*size:(i+1)*size], digest[:alg.Size()])
	}
}

// SumAgainRows is SumAgainMany for rows, as in SumRows.
func SumAgainRows(alg, again Alg, dst, rows []byte, n, rowLen, stride int) {
	var digest [MaxSize]byte
	size := again.Size()
	for i := range n {
		Sum(alg, digest[:], rows[i*stride:i*stride+rowLen])
		Sum(again, dst[i*size:(i+1)*size], digest[:alg.Size()])
	}
}

// sumFrom writes the digest of the message of ctx, followed by msg. It does not change ctx.
func sumFrom(ctx *Ctx, dst, msg []byte) {
	h, err := ctx.h.Clone()
	if err != nil {
		panic(err)
	}
	h.Write(msg)
	h.Sum(dst[:0])
}

// SumManyFrom is SumMany for messages that continue the one of ctx, which does not change.
func SumManyFrom(ctx *Ctx, dst []byte, msgs [][]byte) {
	size := ctx.h.Size()
	for i, msg := range msgs {
		sumFrom(ctx, dst[i*size:(i+1)*size], msg)
	}
}

// SumRowsFrom is SumRows for rows that continue the message of ctx, which does not change.
func SumRowsFrom(ctx *Ctx, dst, rows []byte, n, rowLen, stride int) {
	size := ctx.h.Size()
	for i := range n {
		sumFrom(ctx, dst[i*size:(i+1)*size], rows[i*stride:i*stride+rowLen])
	}
}

// Init begins a message.
func Init(ctx *Ctx, alg Alg) {
	if ctx.h == nil {
		ctx.h = newHash(alg)
		return
	}
	ctx.h.Reset()
}

// Copy makes dst an independent copy of src.
func Copy(dst, src *Ctx) {
	h, err := src.h.Clone()
	if err != nil {
		panic(err)
	}
	dst.h = h
}

// Update appends p to the message of ctx.
func Update(ctx *Ctx, p []byte) { ctx.h.Write(p) }

// Holds reports whether n more bytes complete no block, so that Update only keeps them.
func (ctx *Ctx) Holds(n int) bool { return false }

// Peek writes the digest of ctx to dst. ctx does not change.
func Peek(ctx *Ctx, dst []byte) { ctx.h.Sum(dst[:0]) }

// UpdateMany appends chunks[i] to the message of ctxs[i]. The contexts have one algorithm and are all different.
func UpdateMany(ctxs []*Ctx, chunks [][]byte) {
	for i, ctx := range ctxs {
		ctx.h.Write(chunks[i])
	}
}

// PeekMany writes the digest of ctxs[i] to dst[i*size:]. The contexts have one algorithm, and do not change.
func PeekMany(ctxs []*Ctx, dst []byte) {
	for i, ctx := range ctxs {
		size := ctx.h.Size()
		ctx.h.Sum(dst[i*size : i*size])
	}
}

// AppendState appends the state of ctx, of algorithm alg, in the form of the standard library's AppendBinary.
func AppendState(ctx *Ctx, alg Alg, b []byte) []byte {
	b, err := ctx.h.(State).AppendBinary(b)
	if err != nil {
		panic(err)
	}
	return b
}

// SetState sets ctx, of algorithm alg, to a state that AppendState appended. After an error ctx is unchanged.
func SetState(ctx *Ctx, alg Alg, b []byte) error {
	h := newHash(alg)
	if err := h.UnmarshalBinary(b); err != nil {
		return err
	}
	ctx.h = h
	return nil
}

// KeyInit prepares a key of any length (FIPS 198-1, section 4).
func KeyInit(k *Key, alg Alg, secret []byte) {
	var digest [MaxSize]byte
	blockSize := alg.Info().BlockSize
	if len(secret) > blockSize {
		Sum(alg, digest[:], secret)
		secret = digest[:alg.Size()]
	}
	var pads [2][MaxBlockSize]byte
	for i, pad := range [2]byte{0x36, 0x5c} {
		copy(pads[i][:], secret)
		for j := range blockSize {
			pads[i][j] ^= pad
		}
	}
	k.alg = alg
	Init(&k.inner, alg)
	Init(&k.outer, alg)
	Update(&k.inner, pads[0][:blockSize])
	Update(&k.outer, pads[1][:blockSize])
}

// Alg returns the algorithm of the key.
func (k *Key) Alg() Alg { return k.alg }

// putStates appends the marshaled states of OneKey.
func (k *Key) putStates(inner, outer []byte) {
	var ctx Ctx
	Copy(&ctx, &k.outer)
	Update(&ctx, make([]byte, k.alg.Size()))
	AppendState(&k.inner, k.alg, inner)
	AppendState(&ctx, k.alg, outer)
}

func mac(k *Key, dst, msg []byte) {
	var digest [MaxSize]byte
	inner := digest[:k.alg.Size()]
	sumFrom(&k.inner, inner, msg)
	sumFrom(&k.outer, dst, inner)
}

// MACMany writes the tag of msgs[i] to dst[i*size:].
func MACMany(k *Key, dst []byte, msgs [][]byte) {
	size := k.alg.Size()
	for i, msg := range msgs {
		mac(k, dst[i*size:(i+1)*size], msg)
	}
}

// MACManyKeys writes the tag of msgs[i] by keys[i] to dst[i*size:]. All keys have one algorithm.
func MACManyKeys(keys []Key, dst []byte, msgs [][]byte) {
	for i, msg := range msgs {
		size := keys[i].alg.Size()
		mac(&keys[i], dst[i*size:(i+1)*size], msg)
	}
}

// MACRows is MACMany for rows, as in SumRows.
func MACRows(k *Key, dst, rows []byte, n, rowLen, stride int) {
	size := k.alg.Size()
	for i := range n {
		mac(k, dst[i*size:(i+1)*size], rows[i*stride:i*stride+rowLen])
	}
}

// SearchNonces tries the nonces first to last, both included, and writes those found to nonces, in order, until nonces
// is full. It returns their number.
func SearchNonces(s *Search, first, last uint64, nonces []uint64) int {
	if first > last || len(nonces) == 0 {
		return 0
	}
	return searchEach(s, first, last, nonces)
}

// Implementations returns the instruction sets that this machine has kernels for.
func Implementations() []string { return []string{"go"} }

// Restrict makes the process choose only kernels of the named instruction sets. No names remove the restriction.
func Restrict(names []string) error {
	for _, name := range names {
		if name != "go" {
			return fmt.Errorf("hashloom: no instruction set %q here, only \"go\"", name)
		}
	}
	return nil
}
