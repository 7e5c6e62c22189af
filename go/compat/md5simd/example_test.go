// SPDX-License-Identifier: MIT OR Apache-2.0

package md5simd_test

import (
	"context"
	"fmt"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/compat/md5simd"
	"github.com/hashloom/hashloom/go/sha256"
)

// One goroutine writes to 16 hashes in turn.
func ExampleNewServer() {
	server := md5simd.NewServer()
	defer server.Close()
	var hashes [md5simd.Lanes]md5simd.Hasher
	for i := range hashes {
		hashes[i] = server.NewHash()
		defer hashes[i].Close()
	}
	for _, h := range hashes {
		h.Write([]byte("hello world"))
	}
	fmt.Printf("%.4x\n", hashes[15].Sum(nil))
	// Output: 5eb63bbb
}

// What CustomSHA256 of minio-go is for.
func ExampleHasherOf() {
	server := hashloom.NewServer(context.Background())
	newSHA256 := func() md5simd.Hasher { return md5simd.HasherOf(server.NewHash(sha256.New())) }
	h := newSHA256()
	h.Write([]byte("hello world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	h.Close()
	_, err := h.Write([]byte("more"))
	fmt.Println(err)
	// Output:
	// b94d27b9
	// md5simd: Write: the hash is closed
}

func ExampleStdlibHasher() {
	h := md5simd.StdlibHasher()
	defer h.Close()
	h.Write([]byte("hello world"))
	fmt.Printf("%.4x\n", h.Sum(nil))
	// Output: 5eb63bbb
}
