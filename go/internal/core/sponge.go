// SPDX-License-Identifier: MIT OR Apache-2.0

package core

import (
	"crypto/sha3"
	"encoding"
	"errors"
	"hash"
	"io"
)

// sponge is any sponge of the list in pure Go, also one that crypto/sha3 lacks. It needs no more of crypto/sha3 than
// the permutation: a hash with blocks of the same size absorbs the message and this file's padding, which end a block.
// The marshaled state of that hash then begins with the digest.
type sponge struct {
	info     *Info
	absorber absorber
}

type absorber interface {
	io.Writer
	Reset()
	encoding.BinaryAppender
	encoding.BinaryUnmarshaler
}

// A marshaled state of crypto/sha3: magic and size of the block, state, bytes in the block, direction.
const (
	spongeHead  = 4 + 1
	spongeState = spongeHead + 200 + 1 + 1
)

func newSponge(alg Alg) *sponge {
	info := alg.Info()
	if !info.IsSponge() {
		panic("hashloom: unknown algorithm")
	}
	return &sponge{info, newAbsorber(info.BlockSize)}
}

func newAbsorber(blockSize int) absorber {
	switch blockSize {
	case 72:
		return sha3.New512()
	case 104:
		return sha3.New384()
	case 136:
		return sha3.New256()
	case 144:
		return sha3.New224()
	case 168:
		return sha3.NewSHAKE128()
	}
	panic("hashloom: no sponge has such blocks")
}

func (s *sponge) Write(p []byte) (int, error) { return s.absorber.Write(p) }

func (s *sponge) Reset() { s.absorber.Reset() }

func (s *sponge) Size() int { return s.info.Size }

func (s *sponge) BlockSize() int { return s.info.BlockSize }

func (s *sponge) Sum(b []byte) []byte {
	ended := s.clone()
	state, _ := ended.absorber.AppendBinary(nil)
	padding := make([]byte, s.info.BlockSize-int(state[spongeState-2]))
	padding[0] = s.info.Suffix
	padding[len(padding)-1] |= 0x80
	ended.absorber.Write(padding)
	state, _ = ended.absorber.AppendBinary(state[:0])
	return append(b, state[spongeHead:][:s.info.Size]...)
}

func (s *sponge) clone() *sponge {
	state, err := s.absorber.AppendBinary(nil)
	c := &sponge{s.info, newAbsorber(s.info.BlockSize)}
	if err = errors.Join(err, c.absorber.UnmarshalBinary(state)); err != nil {
		panic(err)
	}
	return c
}

func (s *sponge) Clone() (hash.Cloner, error) { return s.clone(), nil }

func (s *sponge) MarshalBinary() ([]byte, error) { return s.AppendBinary(nil) }

func (s *sponge) AppendBinary(b []byte) ([]byte, error) {
	start := len(b)
	b, err := s.absorber.AppendBinary(b)
	if err == nil {
		copy(b[start:], s.info.Magic)
	}
	return b, err
}

func (s *sponge) UnmarshalBinary(b []byte) error {
	if err := s.info.checkState(b); err != nil {
		return err
	}
	state, err := s.absorber.AppendBinary(nil)
	if err != nil {
		return err
	}
	copy(state[spongeHead:], b[spongeHead:])
	return s.absorber.UnmarshalBinary(state)
}
