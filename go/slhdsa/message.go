// SPDX-License-Identifier: MIT OR Apache-2.0

package slhdsa

import (
	"crypto"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/hashloom/hashloom/go/internal/core"
)

// oids are the last numbers of 2.16.840.1.101.3.4.2, and the sizes of the digests.
var oids = map[crypto.Hash][2]byte{
	crypto.SHA256: {1, 32}, crypto.SHA384: {2, 48}, crypto.SHA512: {3, 64}, crypto.SHA224: {4, 28},
	crypto.SHA512_224: {5, 28}, crypto.SHA512_256: {6, 32}, crypto.SHA3_224: {7, 28}, crypto.SHA3_256: {8, 32},
	crypto.SHA3_384: {9, 48}, crypto.SHA3_512: {10, 64},
}

// frame returns what is signed: the parts of FIPS 205 section 10.2.
func frame(message []byte, opts crypto.SignerOpts) ([][]byte, error) {
	context, h := "", crypto.Hash(0)
	if o, ok := opts.(*Options); ok && o != nil {
		context, h = o.Context, o.Hash
	} else if !ok && opts != nil {
		h = opts.HashFunc()
	}
	if len(context) > 255 {
		return nil, fmt.Errorf("slhdsa: a context of %d bytes, want at most 255", len(context))
	}
	head := append([]byte{0, byte(len(context))}, context...)
	if h != 0 {
		oid, ok := oids[h]
		if !ok {
			return nil, fmt.Errorf("slhdsa: the hash %v cannot be signed: want one of SHA-2 or SHA-3, or none", h)
		}
		if len(message) != int(oid[1]) {
			return nil, fmt.Errorf("slhdsa: a digest of %d bytes, want %d by %v (with a hash in the options the message is "+
				"its digest)", len(message), oid[1], h)
		}
		head[0] = 1
		head = append(head, 6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, oid[0])
	}
	return [][]byte{head, message}, nil
}

// newHash is the hash of messages, but for SHAKE.
func (p *set) newHash() hash.Hash {
	if p.n == 16 {
		return sha256.New()
	}
	return sha512.New()
}

func writeAll(to interface{ Write([]byte) (int, error) }, parts ...[]byte) {
	for _, part := range parts {
		to.Write(part)
	}
}

// putRandomizer sets r to PRF_msg(SK.prf, randomness, message).
func (p *set) putRandomizer(r, prf, randomness []byte, message [][]byte) {
	if p.shake {
		h := sha3.NewSHAKE256()
		writeAll(h, prf, randomness)
		writeAll(h, message...)
		h.Read(r)
		return
	}
	h := hmac.New(p.newHash, prf)
	h.Write(randomness)
	writeAll(h, message...)
	copy(r, h.Sum(nil))
}

// placeOf returns what H_msg(randomizer, public key, message) says (section 9.2).
func (p *set) placeOf(r, public []byte, message [][]byte) (place core.SLHPlace) {
	treeBits, leafBits := p.h-p.h/p.d, p.h/p.d
	forsLen, treeLen, leafLen := (p.k*p.a+7)/8, (treeBits+7)/8, (leafBits+7)/8
	digest := make([]byte, 0, 128)
	if p.shake {
		h := sha3.NewSHAKE256()
		writeAll(h, r, public)
		writeAll(h, message...)
		digest = digest[:forsLen+treeLen+leafLen]
		h.Read(digest)
	} else { // MGF1, RFC 8017 section B.2.1
		h := p.newHash()
		writeAll(h, r, public)
		writeAll(h, message...)
		inner := h.Sum(nil)
		for i := uint32(0); len(digest) < forsLen+treeLen+leafLen; i++ {
			h.Reset()
			writeAll(h, r, public[:p.n], inner, binary.BigEndian.AppendUint32(nil, i))
			digest = h.Sum(digest)
		}
	}
	for i := range p.k {
		for at := i * p.a; at < (i+1)*p.a; at++ {
			place.FORS[i] = place.FORS[i]<<1 | uint16(digest[at/8]>>(7-at%8)&1)
		}
	}
	for _, b := range digest[forsLen : forsLen+treeLen] {
		place.Tree = place.Tree<<8 | uint64(b)
	}
	for _, b := range digest[forsLen+treeLen : forsLen+treeLen+leafLen] {
		place.Leaf = place.Leaf<<8 | uint32(b)
	}
	place.Tree &= 1<<treeBits - 1 // all ones, if these are 64 bits
	place.Leaf &= 1<<leafBits - 1
	return place
}
