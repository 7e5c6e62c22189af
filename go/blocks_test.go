// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"context"
	stdsha256 "crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha3"
)

func newSalted() hash.Hash {
	h := stdsha256.New()
	h.Write([]byte("a salt before each block"))
	return h
}

// Blocks of all lengths, of sizes known and unknown, in little and in much memory, against a plain loop.
func TestSumBlocks(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	source := randomBytes(rand.New(rand.NewPCG(11, 12)), 6<<20)
	var server hashloom.Server
	newHash := []func() hash.Hash{sha1.New, newSalted, ripemd160.New, func() hash.Hash { return sha3.New256() },
		func() hash.Hash { return fnv.New64() }, func() hash.Hash { return server.NewHash(md5.New(), sha1.New()) }}
	count := 0
	for _, blockLen := range []int{1, 63, 4096, 100_000, 300_000, 1 << 20} {
		for i, size := range []int{0, 1, blockLen, 3*blockLen - 1, 9 * blockLen, 17*blockLen + 1, 64 * blockLen,
			200*blockLen - 5, 3000 * blockLen} {
			if size > len(source) || i > 0 && size == 0 {
				continue
			}
			want := make([][]byte, len(newHash))
			for i, each := range newHash {
				for start := 0; start < size; start += blockLen {
					h := each()
					h.Write(source[start:min(start+blockLen, size)])
					want[i] = h.Sum(want[i])
				}
			}
			for _, memory := range []int{0, 1, 1000, 2 * blockLen, 70 * blockLen} {
				if size/memoryStep(memory) > 10_000 {
					continue
				}
				count++
				runtime.GOMAXPROCS([]int{1, 2, 16}[count%3])
				content := source[:size]
				known := int64(size)
				if count%2 == 0 {
					known = -1
				} else if count%5 == 0 { // SumBlocks is to stop before the end
					content = source
				}
				var r io.Reader = bytes.NewReader(content)
				switch count % 7 {
				case 1:
					r = iotest.HalfReader(r)
				case 2:
					r = iotest.DataErrReader(r)
				}
				sums, err := hashloom.SumBlocks(context.Background(), r, known, int64(blockLen), memory, newHash...)
				if err != nil || len(sums) != len(want) {
					t.Fatal(err)
				}
				for i := range want {
					if !bytes.Equal(sums[i], want[i]) {
						t.Fatalf("blocks of %d bytes of %d (%d), memory %d: wrong digests of hash %d", blockLen, size, known,
							memory, i)
					}
				}
			}
		}
	}
}

func memoryStep(memory int) int {
	if memory == 0 {
		return 1 << 20
	}
	return max(memory/2, 1)
}

// slow is a hash that takes its time, and counts the bytes that it has hashed.
type slow struct {
	hash.Hash
	nhashed *atomic.Int64
}

func (h slow) Write(p []byte) (int, error) {
	time.Sleep(time.Duration(len(p)) * 10) // 100 MB/s
	h.nhashed.Add(int64(len(p)))
	return len(p), nil
}

// SumBlocks reads on while blocks are hashed, but no more than the memory is for.
func TestSumBlocksMemory(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, test := range []struct{ blockLen, memory, size int }{
		{10_000, 1_000_000, 4 << 20}, {10_000, 20_000, 1 << 20}, {10_000, 19_999, 1 << 20}, {100_000, 1000, 1 << 18},
		{300_000, 3_000_000, 8 << 20},
	} {
		var nhashed atomic.Int64
		nread, most := 0, 0
		source := reader(func(p []byte) (int, error) {
			nread += len(p)
			most = max(most, nread-int(nhashed.Load()))
			return len(p), nil
		})
		newHash := func() hash.Hash { return slow{fnv.New32(), &nhashed} }
		sums, err := hashloom.SumBlocks(context.Background(), source, int64(test.size), int64(test.blockLen), test.memory,
			newHash)
		if want := 4 * ((test.size-1)/test.blockLen + 1); err != nil || len(sums[0]) != want {
			t.Errorf("%+v: %d bytes of digests, want %d, %v", test, len(sums[0]), want, err)
		}
		if most > test.memory || most < test.memory/2 {
			t.Errorf("%+v: %d bytes were read and not hashed", test, most)
		}
	}
}

func TestSumBlocksErrors(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	broken, why, unexpected := errors.New("broken"), errors.New("the machine stops"), io.ErrUnexpectedEOF
	good := func(n int) io.Reader { return bytes.NewReader(make([]byte, n)) }
	for text, test := range map[string]struct {
		r    io.Reader
		size int64
		want error
	}{
		"at byte 300000 of 300001": {good(300_000), 300_001, io.ErrUnexpectedEOF},
		"at byte 0 of 1":           {good(0), 1, io.ErrUnexpectedEOF},
		"at byte 300000: broken":   {io.MultiReader(good(300_000), iotest.ErrReader(broken)), -1, broken},
		"at byte 300000: unex":     {io.MultiReader(good(300_000), iotest.ErrReader(unexpected)), -1, unexpected},
		"at byte 0: multiple Read": {reader(func([]byte) (int, error) { return 0, nil }), 5, io.ErrNoProgress},
	} {
		for _, memory := range []int{0, 4000, 100} {
			sums, err := hashloom.SumBlocks(context.Background(), test.r, test.size, 1000, memory, sha1.New)
			if sums != nil || err == nil || !strings.Contains(err.Error(), text) || !errors.Is(err, test.want) {
				t.Errorf("%q: %x, %v", text, sums, err)
			}
			if seeker, ok := test.r.(io.Seeker); ok {
				seeker.Seek(0, io.SeekStart)
			} else if test.want == broken || strings.Contains(text, "unex") {
				break // the reader has been read
			}
		}
	}
	for _, blockLen := range []int64{1000, 1 << 20} {
		for _, memory := range []int{0, 3000} {
			ctx, cancel := context.WithCancelCause(context.Background())
			n := 0
			endless := reader(func(p []byte) (int, error) {
				if n += len(p); n > 20<<20 {
					cancel(why)
				}
				return len(p), nil
			})
			for range 2 { // the second time the context has ended before
				if sums, err := hashloom.SumBlocks(ctx, endless, -1, blockLen, memory, sha1.New); err != why || sums != nil {
					t.Errorf("%x, %v", sums, err)
				}
			}
		}
	}
	for text, r := range map[string]io.Reader{"the reader is nil": nil,
		"at byte 0: hashloom: hashloom_test.reader.Read returned -1 for": reader(
			func([]byte) (int, error) { return -1, nil })} {
		_, err := hashloom.SumBlocks(context.Background(), r, 5, 1, 0, sha1.New)
		if !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("%q: %v", text, err)
		}
	}
	none := func() hash.Hash { return nil }
	if _, err := hashloom.SumBlocks(context.Background(), good(5), 5, 1, 0, sha1.New, none); err == nil {
		t.Error("no error of a hash that is nil")
	}
	sum := func(blockLen int64, memory int, newHash ...func() hash.Hash) func() {
		return func() { hashloom.SumBlocks(context.Background(), good(5), 5, blockLen, memory, newHash...) }
	}
	panics(t, "blocks of 0 bytes", sum(0, 0, sha1.New))
	panics(t, "-1 bytes of memory", sum(1, -1, sha1.New))
	panics(t, "no newHash", sum(1, 0))
	panics(t, "newHash is nil", sum(1, 0, sha1.New, nil))
	panics(t, "a reader's", func() { // and no goroutine stays
		r := io.MultiReader(good(5000), reader(func([]byte) (int, error) { panic("a reader's") }))
		hashloom.SumBlocks(context.Background(), r, -1, 10, 100, sha1.New)
	})
}

// The pieces of a torrent and the leaves of a hash tree, in one read.
func ExampleSumBlocks() {
	content := strings.NewReader(strings.Repeat("x", 100_000))
	sums, err := hashloom.SumBlocks(context.Background(), content, content.Size(), 16<<10, 0, sha1.New, stdsha256.New)
	fmt.Println(len(sums[0])/sha1.Size, len(sums[1])/stdsha256.Size, err) // the last block is shorter
	fmt.Printf("%.4x\n", sums[0][6*sha1.Size:])
	// Output:
	// 7 7 <nil>
	// 1f0bf950
}
