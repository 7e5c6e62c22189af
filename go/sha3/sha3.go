// SPDX-License-Identifier: MIT OR Apache-2.0

// Package sha3 computes SHA-3 and SHAKE (FIPS 202): of one message with the API of [crypto/sha3], and of many messages
// at once.
//
// One message, and a running hash, are those of crypto/sha3 itself: the types are the same. WriteMany, AppendSums and
// AppendSumsFrom of this module run many of them side by side.
//
// The rules for all calls are those of the package [github.com/hashloom/hashloom/go].
package sha3

import (
	"crypto/sha3"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// SHA3 is a running hash of crypto/sha3: a [hash.Hash] that implements [hash.Cloner], [encoding.BinaryMarshaler],
// [encoding.BinaryAppender] and [encoding.BinaryUnmarshaler].
type SHA3 = sha3.SHA3

// SHAKE is an XOF of crypto/sha3, SHAKE or cSHAKE: a [hash.XOF] whose digest may be read in any number of parts. Its
// zero value is SHAKE256 from Go 1.26 on.
type SHAKE = sha3.SHAKE

var (
	_ hash.Hash = (*SHA3)(nil)
	_ hash.XOF  = (*SHAKE)(nil)
)

// NewCSHAKE128 returns a new cSHAKE128 (SP 800-185, section 3) for the function name N and the customization S. If both
// are empty, it is SHAKE128.
func NewCSHAKE128(N, S []byte) *SHAKE {
	return sha3.NewCSHAKE128(N, S)
}

// NewCSHAKE256 returns a new cSHAKE256 (SP 800-185, section 3) for the function name N and the customization S. If both
// are empty, it is SHAKE256.
func NewCSHAKE256(N, S []byte) *SHAKE {
	return sha3.NewCSHAKE256(N, S)
}

// The rest is written from the list of algorithms.
// algorithms.py: go_sha3

// Size224 is the number of bytes in a digest of SHA3-224.
const Size224 = 28

// New224 returns a new running hash that computes SHA3-224.
func New224() *SHA3 {
	return sha3.New224()
}

// Sum224 returns the SHA3-224 digest of data.
func Sum224(data []byte) [Size224]byte {
	return sha3.Sum224(data)
}

// SumMany224 sets dst[i] to the SHA3-224 digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumMany224(dst [][Size224]byte, msgs [][]byte) {
	digest.SumMany(core.UseKeccak(core.SHA3_224), dst, msgs)
}

// SumRows224 sets dst[i] to the SHA3-224 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows224(dst [][Size224]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseKeccak(core.SHA3_224), dst, rows, rowLen)
}

// Size256 is the number of bytes in a digest of SHA3-256.
const Size256 = 32

// New256 returns a new running hash that computes SHA3-256.
func New256() *SHA3 {
	return sha3.New256()
}

// Sum256 returns the SHA3-256 digest of data.
func Sum256(data []byte) [Size256]byte {
	return sha3.Sum256(data)
}

// SumMany256 sets dst[i] to the SHA3-256 digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumMany256(dst [][Size256]byte, msgs [][]byte) {
	digest.SumMany(core.UseKeccak(core.SHA3_256), dst, msgs)
}

// SumRows256 sets dst[i] to the SHA3-256 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows256(dst [][Size256]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseKeccak(core.SHA3_256), dst, rows, rowLen)
}

// Size384 is the number of bytes in a digest of SHA3-384.
const Size384 = 48

// New384 returns a new running hash that computes SHA3-384.
func New384() *SHA3 {
	return sha3.New384()
}

// Sum384 returns the SHA3-384 digest of data.
func Sum384(data []byte) [Size384]byte {
	return sha3.Sum384(data)
}

// SumMany384 sets dst[i] to the SHA3-384 digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumMany384(dst [][Size384]byte, msgs [][]byte) {
	digest.SumMany(core.UseKeccak(core.SHA3_384), dst, msgs)
}

// SumRows384 sets dst[i] to the SHA3-384 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows384(dst [][Size384]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseKeccak(core.SHA3_384), dst, rows, rowLen)
}

// Size512 is the number of bytes in a digest of SHA3-512.
const Size512 = 64

// New512 returns a new running hash that computes SHA3-512.
func New512() *SHA3 {
	return sha3.New512()
}

// Sum512 returns the SHA3-512 digest of data.
func Sum512(data []byte) [Size512]byte {
	return sha3.Sum512(data)
}

// SumMany512 sets dst[i] to the SHA3-512 digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumMany512(dst [][Size512]byte, msgs [][]byte) {
	digest.SumMany(core.UseKeccak(core.SHA3_512), dst, msgs)
}

// SumRows512 sets dst[i] to the SHA3-512 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRows512(dst [][Size512]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseKeccak(core.SHA3_512), dst, rows, rowLen)
}

// NewSHAKE128 returns a new SHAKE128.
func NewSHAKE128() *SHAKE {
	return sha3.NewSHAKE128()
}

// SumSHAKE128 returns the SHAKE128 digest of data, length bytes of it.
func SumSHAKE128(data []byte, length int) []byte {
	return sha3.SumSHAKE128(data, length)
}

// SumManySHAKE128 sets dst[i*length:(i+1)*length] to the SHAKE128 digest of msgs[i]. It panics if length is not
// positive, if dst is not len(msgs)*length bytes long, or if it overlaps a message.
func SumManySHAKE128(dst []byte, msgs [][]byte, length int) {
	digest.SumManyXOF(core.UseKeccak(core.SHAKE128), dst, msgs, length)
}

// SumRowsSHAKE128 sets dst[i*length:(i+1)*length] to the SHAKE128 digest of rows[i*rowLen:(i+1)*rowLen]. It
// panics if length is not positive, if dst does not have room for the digests of all rows and no more, or if it
// overlaps rows.
func SumRowsSHAKE128(dst, rows []byte, rowLen, length int) {
	digest.SumRowsXOF(core.UseKeccak(core.SHAKE128), dst, rows, rowLen, length)
}

// NewSHAKE256 returns a new SHAKE256.
func NewSHAKE256() *SHAKE {
	return sha3.NewSHAKE256()
}

// SumSHAKE256 returns the SHAKE256 digest of data, length bytes of it.
func SumSHAKE256(data []byte, length int) []byte {
	return sha3.SumSHAKE256(data, length)
}

// SumManySHAKE256 sets dst[i*length:(i+1)*length] to the SHAKE256 digest of msgs[i]. It panics if length is not
// positive, if dst is not len(msgs)*length bytes long, or if it overlaps a message.
func SumManySHAKE256(dst []byte, msgs [][]byte, length int) {
	digest.SumManyXOF(core.UseKeccak(core.SHAKE256), dst, msgs, length)
}

// SumRowsSHAKE256 sets dst[i*length:(i+1)*length] to the SHAKE256 digest of rows[i*rowLen:(i+1)*rowLen]. It
// panics if length is not positive, if dst does not have room for the digests of all rows and no more, or if it
// overlaps rows.
func SumRowsSHAKE256(dst, rows []byte, rowLen, length int) {
	digest.SumRowsXOF(core.UseKeccak(core.SHAKE256), dst, rows, rowLen, length)
}

// SizeLegacyKeccak256 is the number of bytes in a digest of Keccak-256.
const SizeLegacyKeccak256 = 32

// NewLegacyKeccak256 returns a new running hash that computes Keccak-256.
func NewLegacyKeccak256() hash.Hash {
	return digest.NewHash(core.UseKeccak(core.KECCAK_256))
}

// SumLegacyKeccak256 returns the Keccak-256 digest of data.
func SumLegacyKeccak256(data []byte) [SizeLegacyKeccak256]byte {
	var sum [SizeLegacyKeccak256]byte
	core.Sum(core.UseKeccak(core.KECCAK_256), sum[:], data)
	return sum
}

// SumManyLegacyKeccak256 sets dst[i] to the Keccak-256 digest of msgs[i]. It panics if dst and msgs differ in length,
// or overlap.
func SumManyLegacyKeccak256(dst [][SizeLegacyKeccak256]byte, msgs [][]byte) {
	digest.SumMany(core.UseKeccak(core.KECCAK_256), dst, msgs)
}

// SumRowsLegacyKeccak256 sets dst[i] to the Keccak-256 digest of rows[i*rowLen:(i+1)*rowLen]. It panics if rows is not
// len(dst)*rowLen bytes long, or overlaps dst.
func SumRowsLegacyKeccak256(dst [][SizeLegacyKeccak256]byte, rows []byte, rowLen int) {
	digest.SumRows(core.UseKeccak(core.KECCAK_256), dst, rows, rowLen)
}

// algorithms.py: end
