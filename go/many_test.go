// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"crypto"
	stdsha256 "crypto/sha256"
	"encoding"
	"fmt"
	"hash"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/bitcoin"
	"github.com/hashloom/hashloom/go/internal/digest"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
	"github.com/hashloom/hashloom/go/sha512"
)

// Every call, for any number of messages of any lengths, with each instruction set, gives the oracle's digests.
func TestAgainstOracle(t *testing.T) {
	eachISA(t, func(string) {
		forEach(t, func(t *testing.T, v *variant) {
			rng := rand.New(rand.NewPCG(1, 2))
			for _, n := range []int{0, 1, 2, 3, 4, 8, 15, 16, 17, 31, 40, 100, 300} {
				for _, most := range []int{0, 55, 64, 65, 130, 1000, 20000} {
					if n*most > 500000 || testing.Short() && n*most > 5000 {
						continue
					}
					testCalls(t, v, rng, randomMessages(rng, n, most), rng.IntN(most+1))
				}
			}
		})
	})
}

// testCalls compares the calls for many messages with the oracle.
func testCalls(t testing.TB, v *variant, rng *rand.Rand, msgs [][]byte, rowLen int) {
	t.Helper()
	want := v.expect(msgs)
	got := make([]byte, len(want))
	v.sumMany(got, msgs)
	v.check(t, "SumMany", got, want)
	for i, msg := range msgs {
		v.check(t, "Sum", v.sum(msg), want[i*v.size:(i+1)*v.size])
	}

	rows := randomBytes(rng, len(msgs)*rowLen)
	pieces := make([][]byte, len(msgs))
	for i := range pieces {
		pieces[i] = rows[i*rowLen : (i+1)*rowLen]
	}
	v.sumRows(got, rows, rowLen)
	v.check(t, fmt.Sprintf("SumRows of %d bytes", rowLen), got, v.expect(pieces))

	// Running hashes: all messages in a few chunks, at positions that differ from message to message.
	hs := make([]hash.Hash, len(msgs))
	rest := make([][]byte, len(msgs))
	chunks := make([][]byte, len(msgs))
	for i := range hs {
		hs[i], rest[i] = v.new(), msgs[i]
	}
	for round := range 4 {
		for i := range hs {
			n := len(rest[i])
			if round < 3 {
				n = rng.IntN(n + 1)
			}
			chunks[i], rest[i] = rest[i][:n], rest[i][n:]
		}
		hashloom.WriteMany(hs, chunks)
	}
	v.check(t, "WriteMany", hashloom.AppendSums(nil, hs), want)
	v.check(t, "AppendSums again", hashloom.AppendSums([]byte("before"), hs)[len("before"):], want)

	prefix := randomBytes(rng, rng.IntN(300)&^rng.IntN(64))
	joined := make([][]byte, len(msgs))
	for i := range msgs {
		joined[i] = append(prefix[:len(prefix):len(prefix)], msgs[i]...)
	}
	for _, h := range []hash.Hash{v.new(), v.oracle()} {
		h.Write(prefix)
		before := h.Sum(nil)
		v.check(t, "AppendSumsFrom", hashloom.AppendSumsFrom(nil, h, msgs), v.expect(joined))
		v.check(t, "Sum after AppendSumsFrom", h.Sum(nil), before)
	}
}

// Hashes of all algorithms and of other packages, and the same hash many times, in calls of WriteMany among calls of
// Write, Clone and the methods for marshaled states: short chunks, which no lane gets, and long ones.
func TestWriteManyMixture(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(3, seed))
		var hashes, oracles []hash.Hash
		for i := range variants {
			for range rng.IntN(4) {
				hashes, oracles = append(hashes, variants[i].new()), append(oracles, variants[i].oracle())
			}
		}
		hashes, oracles = append(hashes, fnv.New128()), append(oracles, fnv.New128())
		for range 6 {
			j := rng.IntN(len(hashes))
			switch part := randomBytes(rng, rng.IntN(300)); rng.IntN(5) {
			case 0:
				hashes[j].Write(part)
				oracles[j].Write(part)
			case 1:
				clone, err := hashes[j].(hash.Cloner).Clone()
				if err != nil {
					t.Fatal(err)
				}
				hashes[j].Write(part)
				hashes[j] = clone
			case 2:
				oracles[j] = moved(t, hashes[j], oracles[j])
			case 3:
				hashes[j] = moved(t, oracles[j], hashes[j])
			case 4:
				hashes[j].Reset()
				oracles[j].Reset()
			}
			chunks := randomMessages(rng, rng.IntN(200), []int{20, 200, 3000, 9000}[rng.IntN(4)])
			hs := make([]hash.Hash, len(chunks))
			for i := range hs {
				j := rng.IntN(len(hashes))
				hs[i] = hashes[j]
				oracles[j].Write(chunks[i])
			}
			hashloom.WriteMany(hs, chunks)
			var want []byte
			for _, h := range oracles {
				want = h.Sum(want)
			}
			if got := hashloom.AppendSums(nil, hashes); !bytes.Equal(got, want) {
				t.Fatalf("seed %d: %x, want %x", seed, got, want)
			}
		}
	}
}

// The running hashes are the standard library's own, so the calls for many hashes advance them wherever they come from.
func TestStandardHashes(t *testing.T) {
	for name, pair := range map[string][2]hash.Hash{
		"md5":        {md5.New(), crypto.MD5.New()},
		"sha1":       {sha1.New(), crypto.SHA1.New()},
		"sha224":     {sha256.New224(), crypto.SHA224.New()},
		"sha256":     {sha256.New(), crypto.SHA256.New()},
		"sha384":     {sha512.New384(), crypto.SHA384.New()},
		"sha512":     {sha512.New(), crypto.SHA512.New()},
		"sha512-224": {sha512.New512_224(), crypto.SHA512_224.New()},
		"sha512-256": {sha512.New512_256(), crypto.SHA512_256.New()},
		"sha3-256":   {sha3.New256(), crypto.SHA3_256.New()},
	} {
		if reflect.TypeOf(pair[0]) != reflect.TypeOf(pair[1]) {
			t.Errorf("%s: %T, want %T", name, pair[0], pair[1])
		}
	}
}

// States of crypto/sha3 and crypto/sha256 that no message leads to: the calls do what these packages do.
func TestForgedStates(t *testing.T) {
	chunk := make([]byte, 1000)
	state, _ := sha3.New256().MarshalBinary()
	state[len(state)-2] = 136 // a block that is full
	full := []*sha3.SHA3{sha3.New256(), sha3.New256()}
	for _, h := range full {
		if err := h.UnmarshalBinary(state); err != nil {
			t.Fatal(err)
		}
	}
	full[0].Write(chunk)
	hashloom.WriteMany([]hash.Hash{full[1], sha3.New256()}, [][]byte{chunk, chunk})
	if want := full[0].Sum(nil); !bytes.Equal(full[1].Sum(nil), want) {
		t.Error("a block that is full")
	}
	state256, _ := sha256.New().(encoding.BinaryMarshaler).MarshalBinary()
	state256[len(state256)-8] = 0x20 // 2^61 bytes
	long := []hash.Hash{sha256.New(), sha256.New(), sha256.New(), sha256.New()}
	for _, h := range long {
		if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state256); err != nil {
			t.Fatal(err)
		}
	}
	longChunk := make([]byte, 3000)
	hashloom.WriteMany(long[:3], [][]byte{longChunk, longChunk, longChunk})
	long[3].Write(longChunk)
	if !bytes.Equal(hashloom.AppendSums(nil, long[:3]), bytes.Repeat(long[3].Sum(nil), 3)) {
		t.Error("a message of 2^61 bytes")
	}
	from := hashloom.AppendSumsFrom(nil, long[3], make([][]byte, 20))
	if !bytes.Equal(from, bytes.Repeat(long[3].Sum(nil), 20)) {
		t.Error("messages that begin with 2^61 bytes")
	}
	state[len(state)-2], state[len(state)-1] = 0, 1 // a digest that has been read
	read := sha3.New256()
	if err := read.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	panics(t, "after Read", func() { hashloom.WriteMany([]hash.Hash{read}, [][]byte{chunk}) })
	panics(t, "after Read", func() { hashloom.AppendSums(nil, []hash.Hash{read, read}) })
}

// moved returns to in the state of from.
func moved(t testing.TB, from, to hash.Hash) hash.Hash {
	t.Helper()
	state, err := from.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if err := to.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	again, err := to.(encoding.BinaryAppender).AppendBinary(nil)
	if err != nil || !bytes.Equal(again, state) {
		t.Fatalf("state %x became %x, %v", state, again, err)
	}
	return to
}

// All calls from many goroutines at once, under the race detector too.
func TestGoroutines(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	msgs := randomMessages(rng, 200, 500)
	rows := randomBytes(rng, 100*64)
	prefix := variants[2].new()
	prefix.Write(rows)
	var group sync.WaitGroup
	for worker := range 16 {
		group.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(worker), 9))
			for round := range 10 {
				v := &variants[(worker+round)%len(variants)]
				testCalls(t, v, rng, msgs, 64)
				hashloom.AppendSumsFrom(nil, prefix, msgs)
			}
		})
	}
	group.Wait()
}

func TestMillionEmptyMessages(t *testing.T) {
	n := 1000000
	if testing.Short() {
		n = 10000
	}
	msgs := make([][]byte, n)
	dst := make([][sha256.Size]byte, n)
	sha256.SumMany(dst, msgs)
	want := sha256.Sum256(nil)
	for i := range dst {
		if dst[i] != want {
			t.Fatalf("digest %d: %x", i, dst[i])
		}
	}
}

// Wrong use panics with a text that names the call, before anything is written.
func TestMisuse(t *testing.T) {
	buffer := bytes.Repeat([]byte{0xa5}, 1000)
	digests := make([][32]byte, 4)
	inside := digests[1][5:20]
	for name, test := range map[string]struct {
		call func()
		text string
	}{
		"more digests":    {func() { sha256.SumMany(digests, make([][]byte, 3)) }, "SumMany: dst has room for 4 digests"},
		"fewer digests":   {func() { sha512.SumMany384(nil, make([][]byte, 3)) }, "SumMany: dst has room for 0 digests"},
		"overlap":         {func() { sha256.SumMany(digests[:1], [][]byte{digests[0][31:]}) }, "overlap"},
		"overlap, second": {func() { sha256.SumMany(digests, [][]byte{nil, nil, inside, nil}) }, "overlap"},
		"rows too short":  {func() { sha1.SumRows(make([][20]byte, 4), buffer[:399], 100) }, "SumRows: dst has room for 4"},
		"rows too long":   {func() { sha1.SumRows(make([][20]byte, 4), buffer[:401], 100) }, "SumRows: dst has room for 4"},
		"fewer rows":      {func() { sha1.SumRows(make([][20]byte, 4), buffer[:300], 100) }, "SumRows: dst has room for 4"},
		"rows of nothing": {func() { ripemd160.SumRows(make([][20]byte, 4), buffer, 0) }, "a row 0"},
		"negative rows":   {func() { ripemd160.SumRows(make([][20]byte, 4), nil, -1) }, "rows of -1 bytes"},
		"huge rows":       {func() { sha256.SumRows(digests, buffer, math.MaxInt) }, "SumRows: dst has room for 4"},
		"hash160":         {func() { bitcoin.Hash160Many(nil, make([][]byte, 2)) }, "bitcoin: Hash160Many: dst has room"},
		"hash160 rows":    {func() { bitcoin.Hash160Rows(nil, buffer, 33) }, "bitcoin: Hash160Rows: dst has room for 0"},
		"sha256d":         {func() { bitcoin.SHA256dMany(digests, nil) }, "bitcoin: SHA256dMany: dst has room for 4"},
		"sha256d rows":    {func() { bitcoin.SHA256dRows(digests, nil, -1) }, "bitcoin: SHA256dRows: rows of -1 bytes"},
		"sha256d overlap": {func() { bitcoin.SHA256dRows(digests, digest.Flat(digests), 32) }, "overlap"},
		"chunks":          {func() { hashloom.WriteMany(make([]hash.Hash, 2), nil) }, "WriteMany: 2 hashes for 0 chunks"},
		"foreign hash":    {func() { hashloom.AppendSumsFrom(nil, fnv.New128(), nil) }, "*fnv.sum128"},
		"overlap, append": {func() {
			hashloom.AppendSumsFrom(buffer[:0], sha256.New(), [][]byte{nil, buffer[60:70]})
		}, "overlap"},
		"foreign hash, parts": {func() { hashloom.AppendSumsParts(nil, fnv.New128(), nil) }, "*fnv.sum128"},
		"overlap, parts": {func() {
			hashloom.AppendSumsParts(buffer[:0], sha256.New(), [][][]byte{{nil}, {nil, buffer[60:70]}})
		}, "overlap"},
		"one digit":      {func() { sha256.Search(nil, sha256.Nonces{Alphabet: "x"}, nil, 0) }, "alphabet of 1 digits"},
		"negative width": {func() { sha256.Search(nil, sha256.Nonces{Width: -1}, nil, 0) }, "nonces of -1 digits"},
		"huge width":     {func() { sha256.Search(nil, sha256.Nonces{Width: 65}, nil, 0) }, "nonces of 65 digits"},
		"too wide":       {func() { sha256.Search(nil, sha256.Nonces{End: 101, Width: 2}, nil, 0) }, "100 does not fit"},
		"too wide text":  {func() { sha256.Nonces{Width: 2}.AppendText(nil, 100) }, "100 does not fit"},
	} {
		t.Run(name, func(t *testing.T) { panics(t, test.text, test.call) })
	}
	if [4][32]byte(digests) != [4][32]byte{} {
		t.Error("a call that panics has written digests")
	}
	if !bytes.Equal(buffer, bytes.Repeat([]byte{0xa5}, 1000)) {
		t.Error("a call that panics has written to a message")
	}
	// Neither empty messages inside of dst nor messages beside it overlap it.
	sha256.SumMany(digests[:2], [][]byte{digests[0][5:5], digests[2][:]})
	if digests[0] != sha256.Sum256(nil) || digests[1] != sha256.Sum256(make([]byte, 32)) {
		t.Error("messages beside dst")
	}
}

// Bytes that are no state of the algorithm are an error and change nothing; lengths that no message has, too.
func TestUnmarshalErrors(t *testing.T) {
	forEach(t, func(t *testing.T, v *variant) {
		h := v.new()
		h.Write([]byte("something"))
		want := h.Sum(nil)
		state, _ := h.(encoding.BinaryMarshaler).MarshalBinary()
		other, _ := variants[0].new().(encoding.BinaryMarshaler).MarshalBinary()
		if v == &variants[0] {
			other, _ = variants[1].new().(encoding.BinaryMarshaler).MarshalBinary()
		}
		for name, b := range map[string][]byte{
			"nothing": nil, "magic": state[:4], "short": state[:len(state)-1], "long": append(state, 0), "other": other,
		} {
			if err := h.(encoding.BinaryUnmarshaler).UnmarshalBinary(b); err == nil {
				t.Errorf("%s: no error", name)
			}
			v.check(t, name, h.Sum(nil), want)
		}
	})
}

func TestRestrict(t *testing.T) {
	names := hashloom.Implementations()
	if len(names) == 0 {
		t.Fatal("no implementation")
	}
	for _, name := range names {
		if err := hashloom.Restrict(name); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"", "avx1024", "AVX2", names[0] + "\x00"} {
		if err := hashloom.Restrict(name); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", name)) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := hashloom.Restrict(); err != nil {
		t.Error(err)
	}
}

// Messages in parts, of any number and length, have the digests of the whole messages.
func TestParts(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	forEach(t, func(t *testing.T, v *variant) {
		for _, n := range []int{0, 1, 2, 3, 8, 64, 65, 150} {
			for _, longest := range []int{3, 200, 5000} {
				h := v.new()
				fmt.Fprint(h, "a beginning"[:random.IntN(12)])
				msgs := make([][][]byte, n)
				want := []byte("before")
				for i := range msgs {
					whole := v.new()
					state, _ := h.(encoding.BinaryMarshaler).MarshalBinary()
					whole.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
					for range random.IntN(5) {
						part := make([]byte, random.IntN(longest))
						for j := range part {
							part[j] = byte(random.Uint32())
						}
						msgs[i] = append(msgs[i], part)
						whole.Write(part)
					}
					want = whole.Sum(want)
				}
				before := h.Sum(nil)
				if got := hashloom.AppendSumsParts([]byte("before"), h, msgs); !bytes.Equal(got, want) {
					t.Errorf("%d messages of parts up to %d bytes: wrong digests", n, longest)
				}
				if !bytes.Equal(h.Sum(nil), before) {
					t.Error("the hash has changed")
				}
			}
		}
	})
}

func TestAppendSumsColumn(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	data := randomBytes(rng, 100_000)
	offsets := []int64{0}
	for range 2500 {
		offsets = append(offsets, min(offsets[len(offsets)-1]+int64(rng.IntN(80)), int64(len(data))))
	}
	for _, newHash := range []func() hash.Hash{sha256.New, sha512.New, stdsha256.New} {
		for _, n := range []int{0, 1, 2, 1023, 1024, 1025, 2500} {
			h := newHash()
			h.Write([]byte("before"))
			sums := hashloom.AppendSumsColumn([]byte("kept"), h, data, offsets[:n+1])
			want := []byte("kept")
			for i := range n {
				one := newHash()
				one.Write([]byte("before"))
				one.Write(data[offsets[i]:offsets[i+1]])
				want = one.Sum(want)
			}
			if !bytes.Equal(sums, want) {
				t.Errorf("%T, %d values: wrong", h, n)
			}
		}
	}
	if sums := hashloom.AppendSumsColumn(nil, sha256.New(), data, []int32(nil)); len(sums) != 0 {
		t.Errorf("%x", sums)
	}
	for text, offsets := range map[string][]int{"offset 1 of 3 is 4": {5, 4, 6},
		"offset 2 of 3 is 100001": {0, 1, 100_001}, "offset 0 of 2 is -1": {-1, 0}} {
		panics(t, text, func() { hashloom.AppendSumsColumn(nil, sha256.New(), data, offsets) })
	}
	panics(t, "overlap", func() { hashloom.AppendSumsColumn(data[:0], sha256.New(), data, []uint32{0, 10, 20}) })
}
