// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"encoding"
	"hash"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha3"
)

// split cuts data into messages of the lengths that the bytes of cuts give, in units of 1 or 37 bytes.
func split(data, cuts []byte) [][]byte {
	var msgs [][]byte
	for _, cut := range cuts {
		n := int(cut)
		if cut >= 128 {
			n = int(cut-128) * 37
		}
		n = min(n, len(data))
		msgs, data = append(msgs, data[:n:n]), data[n:]
	}
	return append(msgs, data)
}

func addSeeds(f *testing.F) {
	for i := range variants {
		f.Add(uint8(i), []byte("abc"), []byte{0, 1, 0, 1})
		f.Add(uint8(i), bytes.Repeat([]byte("0123456789"), 2000), bytes.Repeat([]byte{63, 64, 65, 130, 119, 55, 56}, 9))
	}
}

// FuzzOneHash: a running hash gives the oracle's digests whatever is done in between.
func FuzzOneHash(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, which uint8, data, cuts []byte) {
		v := &variants[int(which)%len(variants)]
		h, o := v.new(), v.oracle()
		for i, part := range split(data, cuts) {
			switch len(part) % 5 {
			case 0:
				h.Write(part)
			case 1:
				hashloom.WriteMany([]hash.Hash{h, h}, [][]byte{part[:i%len(part)], part[i%len(part):]})
			case 2:
				h = moved(t, h, v.new())
				h.Write(part)
			case 3:
				clone, _ := h.(hash.Cloner).Clone()
				h.Write([]byte("gone"))
				h = clone
				h.Write(part)
			case 4:
				if i%16 == 15 {
					h.Reset()
					o.Reset()
				}
				h.Write(part)
			}
			o.Write(part)
			v.check(t, "Sum", h.Sum(nil), o.Sum(nil))
			v.check(t, "AppendSums", hashloom.AppendSums(nil, []hash.Hash{h, h}), o.Sum(o.Sum(nil)))
		}
	})
}

// FuzzUnmarshal: any bytes are an error that changes nothing, or a state that the oracle goes on from in the same way.
// (The running hashes of SHA-3 are the oracle's own.)
func FuzzUnmarshal(f *testing.F) {
	for i := range variants {
		h := variants[i].new()
		if _, ok := h.(*sha3.SHA3); ok {
			continue
		}
		h.Write([]byte("some bytes"))
		state, _ := h.(encoding.BinaryMarshaler).MarshalBinary()
		f.Add(uint8(i), state)
		for j := range state {
			bad := bytes.Clone(state)
			bad[j] ^= 0xff
			f.Add(uint8(i), bad)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, state []byte) {
		v := &variants[int(which)%len(variants)]
		h, o := v.new(), v.oracle()
		if _, ok := h.(*sha3.SHA3); ok {
			return
		}
		before := h.Sum(nil)
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
			v.check(t, "after an error", h.Sum(nil), before)
			return
		}
		if err := o.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
			t.Fatalf("the oracle: %v", err)
		}
		for range 2 {
			v.check(t, "Sum", h.Sum(nil), o.Sum(nil))
			v.check(t, "AppendSumsFrom", hashloom.AppendSumsFrom(nil, h, make([][]byte, 2)), o.Sum(o.Sum(nil)))
			hashloom.WriteMany([]hash.Hash{h}, [][]byte{state})
			o.Write(state)
		}
	})
}
