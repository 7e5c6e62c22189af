// SPDX-License-Identifier: MIT OR Apache-2.0

// Package md5simd stands for github.com/minio/md5-simd: the same names with the same meaning, so that replacing the
// import is enough. Unlike there, a hash need not be closed, and a server has no goroutine that waits.
//
// Its hashes are what the options CustomMD5 and CustomSHA256 of github.com/minio/minio-go/v7 ask for. The type there is
// a function that returns that module's Hasher, so that a function literal is needed:
//
//	server := md5simd.NewServer() // of this package
//	options := &minio.Options{CustomMD5: func() miniomd5.Hasher { return server.NewHash() }}
//
// New programs had better use a [github.com/hashloom/hashloom/go.Server], which hashes by any algorithm.
package md5simd

import (
	"context"
	"errors"
	"hash"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/md5"
)

// Size is the number of bytes in a digest.
const Size = 16

// BlockSize is the number of bytes in a block.
const BlockSize = 64

// Lanes is the number of hashes that are worth writing to at once: lanes of the widest kernels.
const Lanes = 16

// Server hashes what many goroutines write, or one to many hashes, in lanes side by side. Any number of goroutines may
// use one server.
type Server interface {
	// NewHash returns a hash for a new message.
	NewHash() Hasher
	// Close makes later Writes to the hashes of the server fail. What has been written has its digest.
	Close()
}

// Hasher is a [hash.Hash] of a server. Close ends its use: after it Write fails, and Sum and Reset panic. Close may be
// called many times, and need not be called.
type Hasher interface {
	hash.Hash
	Close()
}

// NewServer returns a server that hashes on one goroutine at a time, as [hashloom.Server.SetCPUs] with 1 says: two
// lanes of MD5 take as long as one.
func NewServer() Server {
	s := hashloom.NewServer(context.Background())
	s.SetCPUs(1)
	return server{s}
}

type server struct{ *hashloom.Server }

// NewHash returns a hash of MD5.
func (s server) NewHash() Hasher { return HasherOf(s.Server.NewHash(md5.New())) }

// Close closes the server, which returns no error.
func (s server) Close() { s.Server.Close() }

// StdlibHasher returns a Hasher of crypto/md5, without a server.
func StdlibHasher() Hasher { return HasherOf(md5.New()) }

// HasherOf returns h with a method Close: for SHA-256 in the place of MD5, such as minio-go's CustomSHA256, that of a
// [hashloom.Server.NewHash]. From then on h belongs to it. It panics if h is nil.
func HasherOf(h hash.Hash) Hasher {
	if h == nil {
		panic("md5simd: HasherOf: the hash is nil")
	}
	return &hasher{h}
}

type hasher struct{ hash.Hash }

// Close ends the use of the hash.
func (h *hasher) Close() {
	if _, ok := h.Hash.(closed); !ok {
		h.Hash = closed{Hash: h.Hash}
	}
}

// closed is a hash that nobody is to use any more.
type closed struct{ hash.Hash }

// Write fails.
func (closed) Write([]byte) (int, error) { return 0, errors.New("md5simd: Write: the hash is closed") }

// Sum panics.
func (closed) Sum([]byte) []byte { panic("md5simd: Sum: the hash is closed") }

// Reset panics.
func (closed) Reset() { panic("md5simd: Reset: the hash is closed") }
