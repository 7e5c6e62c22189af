// SPDX-License-Identifier: MIT OR Apache-2.0

// Package pbkdf2 derives keys from many passwords at once by PBKDF2 with HMAC (RFC 8018, section 5.2).
//
// [Key] is crypto/pbkdf2's. [KeyMany] gives each block of each key a lane, so that one long key gains too. The rules
// for all calls are those of the package [github.com/hashloom/hashloom/go].
package pbkdf2

import (
	"crypto/pbkdf2"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
)

// Key derives one key, as [crypto/pbkdf2.Key], which it calls.
func Key[H hash.Hash](h func() H, password string, salt []byte, iter, keyLength int) ([]byte, error) {
	return pbkdf2.Key(h, password, salt, iter, keyLength)
}

// KeyMany sets dst[i*keyLength:(i+1)*keyLength] to the key of passwords[i] and salts[i]: what [Key] returns for these
// and for the hash that h returns, such as sha256.New of this module or of the standard library.
//
// It is an error if iter is less than 1, or keyLength less than 1 or more than 2^32-1 digests; then dst is unchanged.
// KeyMany panics if the hash is not one of this module, or is an XOF, if passwords and salts differ in number, if dst
// is not len(passwords)*keyLength bytes long, or if it overlaps a salt.
//
// The call runs on its goroutine until all keys are there, and allocates nothing but the hash that h returns. A single
// block, which gains nothing by lanes, goes to crypto/pbkdf2. What lanes leave of a password is overwritten. Under
// GODEBUG=fips140=only KeyMany works for all salts and keys too, whatever their number, where Key refuses short ones.
func KeyMany[H hash.Hash](dst []byte, h func() H, passwords []string, salts [][]byte, iter, keyLength int) error {
	sample := h()
	alg := digest.AlgOf(sample)
	if alg == 0 || alg.Info().IsXOF {
		panic(fmt.Sprintf("pbkdf2: KeyMany: %T is not a hash of this module", sample))
	}
	size := alg.Size()
	if iter < 1 {
		return fmt.Errorf("pbkdf2: KeyMany: %d iterations, want at least 1", iter)
	}
	if keyLength < 1 || int64(keyLength-1)/int64(size) >= math.MaxUint32 {
		return fmt.Errorf("pbkdf2: KeyMany: keys of %d bytes, want 1 to %d", keyLength, int64(size)*math.MaxUint32)
	}
	if len(passwords) != len(salts) {
		panic(fmt.Sprintf("pbkdf2: KeyMany: %d passwords, %d salts", len(passwords), len(salts)))
	}
	if len(dst)%keyLength != 0 || len(dst)/keyLength != len(passwords) {
		panic(fmt.Sprintf("pbkdf2: KeyMany: dst has %d bytes for %d keys of %d bytes", len(dst), len(passwords), keyLength))
	}
	for i, salt := range salts {
		if !digest.IsApart(dst, salt) {
			panic(fmt.Sprintf("pbkdf2: KeyMany: dst overlaps salt %d", i))
		}
	}
	nblocks := (keyLength-1)/size + 1
	if alg.IsStandard() && !gains(alg, len(passwords)*nblocks) && eachKey(dst, h, passwords, salts, iter, keyLength) {
		return nil
	}
	b := batches.Get().(*batch)
	b.derive(core.Use(alg), dst, passwords, salts, iter, keyLength)
	batches.Put(b)
	return nil
}

// gains reports whether lanes derive n blocks of keys faster than crypto/pbkdf2 does. Two blocks gained with any number
// of iterations, by all hashes (MD5: as fast), on Zen 4 with AVX-512, without, and without SHA instructions
// (2026-11-24).
func gains(alg core.Alg, n int) bool {
	return core.Enabled() && (n > 1 || alg.Info().IsSponge())
}

// eachKey derives one key after another by crypto/pbkdf2. It reports whether that could: under GODEBUG=fips140=only it
// refuses hashes, salts and keys that are not approved.
func eachKey[H hash.Hash](dst []byte, h func() H, passwords []string, salts [][]byte, iter, keyLength int) bool {
	for i, password := range passwords {
		key, err := pbkdf2.Key(h, password, salts[i], iter, keyLength)
		if err != nil {
			return false
		}
		copy(dst[i*keyLength:], key)
		clear(key)
	}
	return true
}

const (
	batchLen = 64       // blocks of keys that the core gets at once: a few times its lanes
	saltsLen = 16 << 10 // bytes of salts that it gets at once, if none is longer
)

// batch is blocks of keys that are derived side by side, each with the HMAC key of its password. Block number i of a
// key is U_1 xor U_2 xor ... with U_1 = HMAC(password, salt || i) and U_j = HMAC(password, U_(j-1)).
type batch struct {
	keys  [batchLen]core.Key
	sums  [batchLen * core.MaxSize]byte    // of U_1 to the latest
	us    [2][batchLen * core.MaxSize]byte // U_j for even j, and for odd j
	msgs  [2][batchLen][]byte              // the same, block by block
	salts []byte                           // each with the number of a block behind
}

var batches = sync.Pool{New: func() any { return new(batch) }}

// derive derives all keys, and leaves nothing of them in the batch.
func (b *batch) derive(alg core.Alg, dst []byte, passwords []string, salts [][]byte, iter, keyLength int) {
	size := alg.Size()
	nblocks := (keyLength-1)/size + 1
	all := len(passwords) * nblocks // at most len(dst)
	for first := 0; first < all; first += batchLen {
		n := min(batchLen, all-first)
		nbytes := n * size
		b.setKeys(alg, passwords, nblocks, first, n)
		b.begin(size, salts, nblocks, first, n)
		copy(b.sums[:nbytes], b.us[1][:nbytes])
		for lane := range n {
			for parity := range b.us {
				b.msgs[parity][lane] = b.us[parity][lane*size : (lane+1)*size]
			}
		}
		for j := 2; j <= iter; j++ {
			u := b.us[j%2][:nbytes]
			core.MACManyKeys(b.keys[:n], u, b.msgs[(j-1)%2][:n])
			subtle.XORBytes(b.sums[:nbytes], b.sums[:nbytes], u)
		}
		for lane := range n {
			i, block := (first+lane)/nblocks, (first+lane)%nblocks
			copy(dst[i*keyLength+block*size:(i+1)*keyLength], b.sums[lane*size:(lane+1)*size])
		}
	}
	b.wipe(min(batchLen, all), size)
}

// setKeys makes the keys of n blocks.
func (b *batch) setKeys(alg core.Alg, passwords []string, nblocks, first, n int) {
	for lane := range n {
		if (first+lane)%nblocks > 0 {
			b.keys[lane] = b.keys[(lane+batchLen-1)%batchLen] // the block before has the same password
			continue
		}
		b.keys[lane] = core.Key{} // in pure Go a copy shares what KeyInit would change
		core.KeyInit(&b.keys[lane], alg, bytesOf(passwords[(first+lane)/nblocks]))
	}
}

// begin makes U_1 of n blocks.
func (b *batch) begin(size int, salts [][]byte, nblocks, first, n int) {
	begun := 0
	msgs := b.msgs[0][:n]
	for lane := range n {
		salt, block := salts[(first+lane)/nblocks], (first+lane)%nblocks
		if nbytes := len(salt) + 4; nbytes > cap(b.salts)-len(b.salts) {
			core.MACManyKeys(b.keys[begun:lane], b.us[1][begun*size:lane*size], msgs[begun:lane])
			begun = lane
			clear(b.salts)
			b.salts = slices.Grow(b.salts[:0], max(nbytes, saltsLen))
		}
		at := len(b.salts)
		b.salts = binary.BigEndian.AppendUint32(append(b.salts, salt...), uint32(block+1))
		msgs[lane] = b.salts[at:]
	}
	core.MACManyKeys(b.keys[begun:n], b.us[1][begun*size:n*size], msgs[begun:])
	clear(b.salts)
	b.salts = b.salts[:0]
}

// wipe overwrites what the batch has of n blocks. It keeps no long salt's memory.
func (b *batch) wipe(n, size int) {
	clear(b.keys[:n])
	clear(b.sums[:n*size])
	for parity := range b.us {
		clear(b.us[parity][:n*size])
		clear(b.msgs[parity][:n])
	}
	if cap(b.salts) > saltsLen {
		b.salts = nil
	}
}

// bytesOf returns the bytes of s without a copy of a secret. Nobody changes them.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
