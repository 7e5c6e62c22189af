// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"context"
	stdsha256 "crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing/fstest"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
)

// Parts of three uploads arrive; each has a running hash.
func ExampleWriteMany() {
	hs := []hash.Hash{sha256.New(), sha256.New(), sha1.New()}
	hashloom.WriteMany(hs, [][]byte{[]byte("hello "), []byte("good"), []byte("abc")})
	hashloom.WriteMany(hs[:2], [][]byte{[]byte("world"), []byte("bye")})
	for _, h := range hs {
		fmt.Printf("%.4x\n", h.Sum(nil))
	}
	// Output:
	// b94d27b9
	// 82e35a63
	// a9993e36
}

func ExampleAppendSums() {
	hs := []hash.Hash{sha256.New(), sha256.New()}
	hashloom.WriteMany(hs, [][]byte{[]byte("one"), []byte("two")})
	sums := hashloom.AppendSums(nil, hs)
	fmt.Printf("%.4x %.4x\n", sums[:sha256.Size], sums[sha256.Size:])
	// Output: 7692c3ad 3fc4ccfe
}

// Salted messages: the salt is hashed once. The hash may also be one of the standard library.
func ExampleAppendSumsFrom() {
	salt := stdsha256.New()
	salt.Write([]byte("some salt, "))
	sums := hashloom.AppendSumsFrom(nil, salt, [][]byte{[]byte("one"), []byte("two")})
	fmt.Printf("%.4x %.4x\n", sums[:sha256.Size], sums[sha256.Size:])
	// Output: 5d95334e 608f0c04
}

// Two uploads at once; S3 wants SHA-256 and MD5 of each.
func ExampleServer_NewHash() {
	server := hashloom.NewServer(context.Background())
	defer server.Close()
	uploads := []io.Reader{strings.NewReader("hello world"), strings.NewReader("goodbye")}
	sums := make([][]byte, len(uploads))
	var group sync.WaitGroup
	for i, upload := range uploads {
		group.Go(func() { // such as the handler of a request
			h := server.NewHash(sha256.New(), md5.New())
			if _, err := io.Copy(h, upload); err == nil {
				sums[i] = h.Sum(nil)
			}
		})
	}
	group.Wait()
	for _, sum := range sums {
		fmt.Printf("%.4x %.4x\n", sum[:sha256.Size], sum[sha256.Size:])
	}
	// Output:
	// b94d27b9 5eb63bbb
	// 82e35a63 69faab62
}

func ExampleServer_SumReaders() {
	var server hashloom.Server
	sums, err := server.SumReaders(context.Background(), sha256.New, strings.NewReader("one"), strings.NewReader("two"))
	fmt.Printf("%.4x %.4x %v\n", sums[0], sums[1], err)
	// Output: 7692c3ad 3fc4ccfe <nil>
}

func ExampleServer_SumFiles() {
	var server hashloom.Server
	both := func() hash.Hash { return server.NewHash(sha256.New(), md5.New()) }
	sums, errs := server.SumFiles(context.Background(), both, "LICENSE-MIT", "missing")
	fmt.Println(len(sums[0]), errs[0], sums[1] == nil, errors.Is(errs[1], fs.ErrNotExist))
	// Output: 48 <nil> true true
}

// Files of any file system, such as those of a program, of an archive, or of a folder.
func ExampleServer_SumOpened() {
	files, names := fstest.MapFS{"one": {Data: []byte("one")}, "two": {Data: []byte("two")}}, []string{"one", "two"}
	var server hashloom.Server
	open := func(i int) (io.ReadCloser, error) { return files.Open(names[i]) }
	sums, errs := server.SumOpened(context.Background(), sha256.New, len(names), open)
	fmt.Printf("%.4x %.4x %v\n", sums[0], sums[1], errs)
	// Output: 7692c3ad 3fc4ccfe []
}

// A column of texts, of which the second is empty.
func ExampleAppendSumsColumn() {
	sums := hashloom.AppendSumsColumn(nil, sha256.New(), []byte("onetwo"), []int32{0, 3, 3, 6})
	fmt.Printf("%.4x %.4x %.4x\n", sums[:32], sums[32:64], sums[64:])
	// Output: 7692c3ad e3b0c442 3fc4ccfe
}

// A message that lies in memory, such as a chunk of a backup, on each of many goroutines.
func ExampleServer_AppendSum() {
	server, function := hashloom.NewServer(context.Background()), sha256.New()
	name, err := server.AppendSum(make([]byte, 0, sha256.Size), function, []byte("hello world"))
	fmt.Printf("%.4x %v\n", name, err)
	// Output: b94d27b9 <nil>
}

// Two goroutines share lanes, on a machine with any number of CPUs.
func ExampleServer_SetCPUs() {
	var server hashloom.Server
	server.SetCPUs(1)
	sums, err := server.SumReaders(context.Background(), md5.New, strings.NewReader("one"), strings.NewReader("two"))
	fmt.Printf("%.4x %.4x %v\n", sums[0], sums[1], err)
	// Output: f97c5d29 b8a9f715 <nil>
}

func ExampleServer_Close() {
	server := hashloom.NewServer(context.Background())
	h := server.NewHash(sha256.New())
	server.Close()
	_, err := h.Write([]byte("hello world"))
	fmt.Println(err == hashloom.ErrServerClosed, h.Sum(nil) == nil)
	// Output: true true
}

func ExampleImplementations() {
	names := hashloom.Implementations()
	fmt.Println(slices.Contains(names, "go"))
	// Output: true
}

func ExampleRestrict() {
	defer hashloom.Restrict()
	fmt.Println(hashloom.Restrict(hashloom.Implementations()[0])) // the plainest
	sum := make([][sha256.Size]byte, 1)
	sha256.SumMany(sum, [][]byte{[]byte("hello world")})
	fmt.Printf("%.4x\n", sum[0][:])
	// Output:
	// <nil>
	// b94d27b9
}

// The names of git's objects: a header, then the contents, which are not copied.
func ExampleAppendSumsParts() {
	contents := [][]byte{[]byte("hello\n"), {}}
	objects := make([][][]byte, len(contents))
	for i, bytes := range contents {
		objects[i] = [][]byte{fmt.Appendf(nil, "blob %d\x00", len(bytes)), bytes}
	}
	names := hashloom.AppendSumsParts(nil, sha1.New(), objects)
	fmt.Printf("%x\n%x\n", names[:20], names[20:])
	// Output:
	// ce013625030ba8dba906f756967f9e9ca394464a
	// e69de29bb2d1d6434b8b29ae775ad8c2e48c5391
}
