// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"context"
	stdhmac "crypto/hmac"
	stdmd5 "crypto/md5"
	stdsha256 "crypto/sha256"
	stdsha3 "crypto/sha3"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
)

// settled fails if more goroutines stay than there were: it is to be deferred with their number.
func settled(t *testing.T, before int) {
	t.Helper()
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, before the test %d", runtime.NumGoroutine(), before)
}

// message is a message that a goroutine writes to a server, and what it should become.
type message struct {
	h       hash.Hash
	oracles []hash.Hash
}

func newMessage(s *hashloom.Server, rng *rand.Rand) message {
	var m message
	var hs []hash.Hash
	for range 1 + rng.IntN(3) {
		v := &variants[rng.IntN(len(variants))]
		m.oracles = append(m.oracles, v.oracle())
		if rng.IntN(3) > 0 {
			hs = append(hs, v.new())
		} else { // the standard library's
			hs = append(hs, v.oracle())
		}
	}
	if rng.IntN(8) == 0 { // another package's
		m.oracles, hs = append(m.oracles, fnv.New128()), append(hs, fnv.New128())
	}
	m.h = s.NewHash(hs...)
	return m
}

func (m message) sum() (sum []byte) {
	for _, oracle := range m.oracles {
		sum = oracle.Sum(sum)
	}
	return sum
}

// Random writes of many goroutines to hashes of all algorithms, with each instruction set; and of few goroutines, each
// to many hashes in turn.
func TestServerAgainstStandardLibrary(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	source := randomBytes(rand.New(rand.NewPCG(1, 2)), 300_000)
	nmessages, nsteps := 48, 40
	if testing.Short() {
		nmessages, nsteps = 24, 6
	}
	var s hashloom.Server
	seed := uint64(0)
	for _, ngoroutines := range []int{nmessages, 1, 3} {
		eachISA(t, func(isa string) {
			seed++
			runtime.GOMAXPROCS([]int{2, 1, 16}[seed%3])
			s.SetCPUs(int(seed / 3 % 3))
			var group sync.WaitGroup
			for i := range ngoroutines {
				group.Go(func() {
					rng := rand.New(rand.NewPCG(seed, uint64(i)))
					ms := make([]message, nmessages/ngoroutines)
					for i := range ms {
						ms[i] = newMessage(&s, rng)
					}
					for range nsteps {
						for i := range ms {
							ms[i].step(t, rng, source)
						}
					}
					for i := range ms[:len(ms)*3/4] { // the others are given up
						ms[i].check(t)
					}
				})
			}
			group.Wait()
		})
	}
}

// step does anything to a message.
func (m *message) step(t *testing.T, rng *rand.Rand, source []byte) {
	switch rng.IntN(24) {
	case 0:
		m.h.Reset()
		for _, oracle := range m.oracles {
			oracle.Reset()
		}
	case 1:
		if clone, err := m.h.(hash.Cloner).Clone(); err == nil {
			m.h.Write(source[:rng.IntN(20000)]) // the clone does not see that
			m.h = clone
		} else if !errors.Is(err, errors.ErrUnsupported) {
			t.Error(err)
		}
	case 2:
		state, err := m.h.(encoding.BinaryMarshaler).MarshalBinary()
		m.h.Write(source[:rng.IntN(20000)])
		if err == nil {
			err = m.h.(encoding.BinaryUnmarshaler).UnmarshalBinary(state)
		}
		if err != nil {
			t.Error(err)
		}
	case 3:
		reader := bytes.NewReader(source[:rng.IntN(200_000)])
		for _, oracle := range m.oracles {
			io.Copy(oracle, io.NewSectionReader(reader, 0, 1<<20))
		}
		if n, err := io.Copy(m.h, iotest.HalfReader(reader)); n != reader.Size() || err != nil {
			t.Errorf("io.Copy: %d, %v", n, err)
		}
	case 4, 5:
		m.check(t)
	default:
		most := []int{100, 5000, 70_000, len(source)}[rng.IntN(4)]
		start := rng.IntN(len(source))
		chunk := bytes.Clone(source[start:min(start+rng.IntN(most), len(source))])
		for _, oracle := range m.oracles {
			oracle.Write(chunk)
		}
		if n, err := m.h.Write(chunk); n != len(chunk) || err != nil {
			t.Errorf("Write: %d, %v", n, err)
		}
		clear(chunk) // Write keeps nothing of it
	}
}

func (m *message) check(t *testing.T) {
	if got, want := m.h.Sum(nil), m.sum(); !bytes.Equal(got, want) || m.h.Size() != len(want) {
		t.Errorf("%T: %x, want %x", m.oracles, got, want)
	}
}

// A thousand goroutines, on many and on one CPU, while the garbage collector runs all the time.
func TestServerGoroutines(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	source := randomBytes(rand.New(rand.NewPCG(3, 4)), 1<<16)
	n := 1000
	if testing.Short() {
		n = 200
	}
	for _, nCPUs := range []int{1, 2, 16} {
		previous := runtime.GOMAXPROCS(nCPUs)
		s := hashloom.NewServer(context.Background())
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() {
				h, want := s.NewHash(sha256.New(), md5.New()), stdsha256.New()
				for j := range 5 {
					chunk := source[i : 8000+20*i+j]
					h.Write(chunk)
					want.Write(chunk)
				}
				if got := h.Sum(nil); !bytes.Equal(got[:sha256.Size], want.Sum(nil)) || len(got) != sha256.Size+md5.Size {
					t.Errorf("goroutine %d: %x", i, got)
				}
			})
		}
		group.Wait()
		runtime.GOMAXPROCS(previous)
	}
}

// Many goroutines write to one hash: no write is lost or torn.
func TestServerOneHash(t *testing.T) {
	var s hashloom.Server
	h := s.NewHash(sha256.New())
	chunk := bytes.Repeat([]byte("x"), 10_000)
	var group sync.WaitGroup
	for range 50 {
		group.Go(func() {
			h.Write(chunk)
			h.Sum(nil)
		})
	}
	group.Wait()
	want := stdsha256.Sum256(bytes.Repeat(chunk, 50))
	if got := h.Sum(nil); !bytes.Equal(got, want[:]) {
		t.Errorf("%x, want %x", got, want)
	}
}

// After Close, or after the end of the context, a message has no digest if a Write to it has failed, and its right
// digest if none has.
func TestServerEnds(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	why := errors.New("the machine stops")
	for name, test := range map[string]struct {
		end  func(s *hashloom.Server, cancel context.CancelCauseFunc)
		want error
	}{
		"Close":   {func(s *hashloom.Server, _ context.CancelCauseFunc) { s.Close(); s.Close() }, hashloom.ErrServerClosed},
		"context": {func(_ *hashloom.Server, cancel context.CancelCauseFunc) { cancel(why) }, why},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		s := hashloom.NewServer(ctx)
		var group, begun sync.WaitGroup
		for i := range 100 {
			begun.Add(1)
			group.Go(func() {
				h, oracle := s.NewHash(sha256.New()), stdsha256.New()
				chunk := make([]byte, 1000*i)
				for n := 0; ; n++ {
					_, err := h.Write(chunk)
					if n == 0 {
						begun.Done()
					}
					if err != nil {
						if !errors.Is(err, test.want) {
							t.Errorf("%s: %v", name, err)
						}
						break
					}
					oracle.Write(chunk)
					if got := h.Sum(nil); !bytes.Equal(got, oracle.Sum(nil)) {
						t.Errorf("%s: %x", name, got)
					}
				}
				if got := h.Sum([]byte("before")); string(got) != "before" {
					t.Errorf("%s: a digest %x after an error", name, got)
				}
				if _, err := h.Write(nil); !errors.Is(err, test.want) {
					t.Errorf("%s: a second Write: %v", name, err)
				}
				if _, err := h.(hash.Cloner).Clone(); !errors.Is(err, test.want) {
					t.Errorf("%s: Clone: %v", name, err)
				}
				if _, err := h.(encoding.BinaryMarshaler).MarshalBinary(); !errors.Is(err, test.want) {
					t.Errorf("%s: MarshalBinary: %v", name, err)
				}
				h.Reset()
				if got, want := h.Sum(nil), stdsha256.Sum256(nil); !bytes.Equal(got, want[:]) {
					t.Errorf("%s: %x after Reset", name, got)
				}
			})
		}
		begun.Wait()
		test.end(s, cancel)
		group.Wait()
	}
}

// What was written before Close has its digest, even if it was copied.
func TestServerEndsWithCopies(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	s := hashloom.NewServer(context.Background())
	hs := make([]hash.Hash, 40)
	chunk := make([]byte, 10_000)
	for range 3 {
		for i := range hs {
			hs[i] = s.NewHash(sha256.New())
			hs[i].Write(chunk)
		}
	}
	s.Close()
	want := stdsha256.Sum256(chunk)
	for i, h := range hs {
		if i%2 == 0 {
			if n, err := h.Write(chunk); n != 0 || err != hashloom.ErrServerClosed || h.Sum(nil) != nil {
				t.Errorf("%d, %v, %x", n, err, h.Sum(nil))
			}
			h.Reset()
			if got := h.Sum(nil); !bytes.Equal(got, stdsha256.New().Sum(nil)) {
				t.Errorf("%x after Reset", got)
			}
		} else if got := h.Sum(nil); !bytes.Equal(got, want[:]) {
			t.Errorf("%x, want %x", got, want)
		}
	}
}

// Messages of many goroutines in one call each, by all algorithms and behind a prefix.
func TestServerAppendSum(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	source := randomBytes(rand.New(rand.NewPCG(9, 10)), 300_000)
	s := hashloom.NewServer(context.Background())
	var group sync.WaitGroup
	for i := range variants {
		v := &variants[i]
		ours, theirs := v.new(), v.oracle()
		salted := v.new()
		salted.Write(source[:99])
		for j := range 8 {
			group.Go(func() {
				rng := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				for range 20 {
					data := source[:rng.IntN([]int{100, 10_000, len(source)}[rng.IntN(3)])]
					for _, h := range []hash.Hash{ours, theirs, salted} {
						oracle := v.oracle()
						if h == salted {
							oracle.Write(source[:99])
						}
						oracle.Write(data)
						want := oracle.Sum([]byte("before"))
						if got, err := s.AppendSum([]byte("before"), h, data); err != nil || !bytes.Equal(got, want) {
							t.Errorf("%s: %x, %v, want %x", v.name, got, err, want)
						}
					}
				}
			})
		}
	}
	group.Wait()
	for _, h := range []hash.Hash{fnv.New64a(), nil} {
		sum, err := s.AppendSum([]byte("before"), h, source)
		if _, ok := h.(hash.Cloner); !ok && (!errors.Is(err, errors.ErrUnsupported) || string(sum) != "before") {
			t.Errorf("%T: %x, %v", h, sum, err)
		}
	}
	panics(t, "after Read", func() { s.AppendSum(nil, forged(t), source) })
	s.Close()
	sum, err := s.AppendSum([]byte("before"), sha256.New(), source)
	if err != hashloom.ErrServerClosed || string(sum) != "before" {
		t.Errorf("%x, %v", sum, err)
	}
}

// reader returns what its function returns.
type reader func(p []byte) (int, error)

func (f reader) Read(p []byte) (int, error) { return f(p) }

func newSHA256() hash.Hash { return sha256.New() }

func TestSumReaders(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	var s hashloom.Server
	rng := rand.New(rand.NewPCG(5, 6))
	var readers []io.Reader
	var contents [][]byte
	for i := range 100 {
		content := randomBytes(rng, rng.IntN(1+2000*i))
		contents = append(contents, content)
		var r io.Reader = bytes.NewReader(content)
		switch i % 5 {
		case 1:
			r = iotest.HalfReader(r)
		case 2:
			r = iotest.DataErrReader(r)
		case 3: // slow
			fast := r
			r = reader(func(p []byte) (int, error) {
				time.Sleep(time.Microsecond)
				return fast.Read(p[:min(len(p), 5000)])
			})
		}
		readers = append(readers, r)
	}
	both := func() hash.Hash { return s.NewHash(sha256.New(), md5.New()) }
	sums, err := s.SumReaders(context.Background(), both, readers...)
	if err != nil || len(sums) != len(readers) {
		t.Fatal(len(sums), err)
	}
	for i, content := range contents {
		first, second := stdsha256.Sum256(content), stdmd5.Sum(content)
		if want := append(first[:], second[:]...); !bytes.Equal(sums[i], want) {
			t.Errorf("reader %d: %x, want %x", i, sums[i], want)
		}
	}
	if sums, err := s.SumReaders(context.Background(), newSHA256); len(sums) != 0 || err != nil {
		t.Errorf("no readers: %x, %v", sums, err)
	}
}

// Readers that fail have no digest; the others have.
func TestSumReadersErrors(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	broken := errors.New("broken")
	var s hashloom.Server
	good := func() io.Reader { return strings.NewReader("good") }
	sums, err := s.SumReaders(context.Background(), newSHA256, good(), iotest.ErrReader(broken), nil,
		io.MultiReader(bytes.NewReader(make([]byte, 200_000)), iotest.ErrReader(io.ErrUnexpectedEOF)),
		reader(func(p []byte) (int, error) { return 0, nil }),
		reader(func(p []byte) (int, error) { return len(p) + 1, nil }),
		reader(func(p []byte) (int, error) { return -1, nil }), good())
	want := stdsha256.Sum256([]byte("good"))
	for i, sum := range sums {
		if isGood := i == 0 || i == len(sums)-1; isGood != bytes.Equal(sum, want[:]) || !isGood && sum != nil {
			t.Errorf("reader %d: %x", i, sum)
		}
	}
	for _, one := range []error{broken, io.ErrUnexpectedEOF, io.ErrNoProgress} {
		if !errors.Is(err, one) {
			t.Errorf("%v is not in %v", one, err)
		}
	}
	for _, text := range []string{"reader 2 of 8: broken", "reader 3 of 8 is nil", "reader 6 of 8: ", "Read returned -1"} {
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%q is not in %v", text, err)
		}
	}
	none := func() hash.Hash { return nil }
	if sums, err := s.SumReaders(context.Background(), none, good()); err == nil || sums[0] != nil {
		t.Errorf("newHash returns nil: %x, %v", sums, err)
	}
	s.Close()
	if sums, err := s.SumReaders(context.Background(), newSHA256, good()); !errors.Is(err, hashloom.ErrServerClosed) ||
		sums[0] != nil {
		t.Errorf("closed: %x, %v", sums, err)
	}
}

// A context ends while readers have no end.
func TestSumReadersContext(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	why := errors.New("the user has left")
	var s hashloom.Server
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var endless []io.Reader
	for i := range 50 {
		n := 0
		endless = append(endless, reader(func(p []byte) (int, error) {
			if n++; i == 49 && n == 100 {
				cancel(why)
			}
			return len(p), nil
		}))
	}
	for range 2 { // the second time the context has ended before
		if sums, err := s.SumReaders(ctx, newSHA256, endless...); err != why || sums != nil {
			t.Errorf("%x, %v", sums, err)
		}
	}
	if sums, errs := s.SumFiles(ctx, newSHA256, "server_test.go"); len(errs) != 1 || errs[0] != why || sums[0] != nil {
		t.Errorf("%x, %v", sums, errs)
	}
	// A context that ends too late changes nothing.
	late, cancelLate := context.WithCancel(context.Background())
	end := reader(func([]byte) (int, error) { cancelLate(); return 0, io.EOF })
	last := io.MultiReader(strings.NewReader("last"), end)
	if sums, err := s.SumReaders(late, newSHA256, last); err != nil || len(sums) != 1 || len(sums[0]) != sha256.Size {
		t.Errorf("%x, %v", sums, err)
	}
}

func TestSumFiles(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	folder := t.TempDir()
	rng := rand.New(rand.NewPCG(7, 8))
	var names []string
	var want [][]byte
	for i := range 200 {
		content := randomBytes(rng, rng.IntN(1000*i+1))
		name := filepath.Join(folder, fmt.Sprint(i))
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		sum := stdsha256.Sum256(content)
		names, want = append(names, name), append(want, sum[:])
	}
	names[7], want[7] = filepath.Join(folder, "missing"), nil
	names[8], want[8] = folder, nil
	var s hashloom.Server
	foreign := func() hash.Hash { return struct{ hash.Hash }{stdsha256.New()} }
	both := func() hash.Hash { return s.NewHash(foreign(), newSHA256()) }
	for times, newHash := range []func() hash.Hash{newSHA256, foreign, both} {
		sums, errs := s.SumFiles(context.Background(), newHash, names...)
		for i := range names {
			expected := want[i]
			if times == 2 && expected != nil {
				expected = append(expected[:len(expected):len(expected)], expected...)
			}
			if !bytes.Equal(sums[i], expected) || (errs[i] == nil) != (want[i] != nil) {
				t.Errorf("%s: %x, %v, want %x", names[i], sums[i], errs[i], expected)
			}
		}
		var of *fs.PathError
		if !errors.Is(errs[7], fs.ErrNotExist) || !errors.As(errs[8], &of) || of.Path != folder {
			t.Errorf("%v, %v", errs[7], errs[8])
		}
	}
}

func TestSumOpened(t *testing.T) {
	defer settled(t, runtime.NumGoroutine())
	var s hashloom.Server
	var nopen atomic.Int64
	failed := errors.New("failed")
	// Contents around the length from which they are read in parts, of readers that fail at their end.
	open := func(i int) (io.ReadCloser, error) {
		nopen.Add(1)
		switch content := bytes.NewReader(make([]byte, i*(64<<10)/40)); i % 10 {
		case 3:
			return nil, failed
		case 5:
			return nil, nil
		case 7:
			return counted{io.MultiReader(content, iotest.ErrReader(failed)), &nopen}, nil
		default:
			return counted{iotest.HalfReader(content), &nopen}, nil
		}
	}
	sums, errs := s.SumOpened(context.Background(), newSHA256, 100, open)
	for i := range 100 {
		want := stdsha256.Sum256(make([]byte, i*(64<<10)/40))
		switch i % 10 {
		case 3, 7:
			if sums[i] != nil || !errors.Is(errs[i], failed) {
				t.Errorf("%d: %x, %v", i, sums[i], errs[i])
			}
		case 5:
			if sums[i] != nil || errs[i] == nil {
				t.Errorf("%d: %x, %v", i, sums[i], errs[i])
			}
		default:
			if !bytes.Equal(sums[i], want[:]) || errs[i] != nil {
				t.Errorf("%d: %x, %v", i, sums[i], errs[i])
			}
		}
	}
	if n := nopen.Load(); n != 20 {
		t.Errorf("%d of the opened contents were not closed, or opened twice", n-20)
	}
	if sums, errs := s.SumOpened(context.Background(), newSHA256, 0, open); len(sums) != 0 || errs != nil {
		t.Errorf("%x, %v", sums, errs)
	}
	s.Close()
	if sums, errs := s.SumOpened(context.Background(), newSHA256, 1, open); sums[0] != nil ||
		errs[0] != hashloom.ErrServerClosed {
		t.Errorf("%x, %v", sums, errs)
	}
}

type counted struct {
	io.Reader
	nopen *atomic.Int64
}

func (c counted) Close() error { c.nopen.Add(-1); return nil }

func TestServerMisuse(t *testing.T) {
	var s hashloom.Server
	for text, call := range map[string]func(){
		"hash 2 of 3 is nil": func() { s.NewHash(sha256.New(), nil, md5.New()) },
		"hash 2 of 2, a hashloom_test.short: its Sum does not append Size bytes": func() {
			s.NewHash(md5.New(), short{md5.New()}).Sum([]byte("before"))
		},
		"SetCPUs: -1":    func() { s.SetCPUs(-1) },
		"newHash is nil": func() { s.SumFiles(context.Background(), nil, "server_test.go") },
	} {
		panics(t, text, call)
	}
	var forgotten context.Context
	none := hashloom.NewServer(forgotten).NewHash()
	if n, err := none.Write(make([]byte, 100_000)); n != 100_000 || err != nil || none.Size() != 0 ||
		none.BlockSize() != 0 || none.Sum(nil) != nil {
		t.Error("no hashes")
	}
	h := s.NewHash(sha256.New(), md5.New())
	h.Write([]byte("some"))
	state, _ := h.(encoding.BinaryMarshaler).MarshalBinary()
	want := h.Sum(nil)
	for name, b := range map[string][]byte{"nothing": nil, "short": state[:len(state)-1], "long": append(state, 0),
		"first": state[:108], "second": state[108:]} {
		if h.(encoding.BinaryUnmarshaler).UnmarshalBinary(b) == nil || !bytes.Equal(h.Sum(nil), want) {
			t.Errorf("%s: no error, or another digest", name)
		}
	}
	foreign := s.NewHash(sha256.New(), struct{ hash.Hash }{stdmd5.New()})
	if _, err := foreign.(hash.Cloner).Clone(); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if _, err := foreign.(encoding.BinaryMarshaler).MarshalBinary(); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
	if err := foreign.(encoding.BinaryUnmarshaler).UnmarshalBinary(state); !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// short is a hash of another package whose Sum does not append.
type short struct{ hash.Hash }

func (s short) Sum([]byte) []byte { return s.Hash.Sum(nil) }

func forged(t *testing.T) hash.Hash {
	state, _ := stdsha3.New256().MarshalBinary()
	state[len(state)-1] = 1 // a digest that has been read
	read := stdsha3.New256()
	if err := read.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	return read
}

// A state of crypto/sha3 that no message leads to panics where it is written to, and the server goes on.
func TestServerForgedState(t *testing.T) {
	var s hashloom.Server
	for range 3 {
		panics(t, "after Read", func() { s.NewHash(forged(t)).Write(make([]byte, 100_000)) })
	}
	h := s.NewHash(sha3.New256())
	h.Write(make([]byte, 100_000))
	if want := stdsha3.Sum256(make([]byte, 100_000)); !bytes.Equal(h.Sum(nil), want[:]) {
		t.Errorf("%x", h.Sum(nil))
	}
}

// crypto/hmac works with a hash of a server.
func TestServerHMAC(t *testing.T) {
	var s hashloom.Server
	mac := stdhmac.New(func() hash.Hash { return s.NewHash(sha256.New()) }, []byte("key"))
	want := stdhmac.New(stdsha256.New, []byte("key"))
	for range 3 {
		mac.Write(make([]byte, 100_000))
		want.Write(make([]byte, 100_000))
		if !bytes.Equal(mac.Sum(nil), want.Sum(nil)) {
			t.Errorf("%x, want %x", mac.Sum(nil), want.Sum(nil))
		}
		mac.Reset()
		want.Reset()
	}
}
