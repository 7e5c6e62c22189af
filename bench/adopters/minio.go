// SPDX-License-Identifier: MIT OR Apache-2.0

package minio

import (
	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/compat/md5simd"
	hl "github.com/hashloom/hashloom/go/sha256"
	miniomd5 "github.com/minio/md5-simd"
)

var md5s, sha256s = md5simd.NewServer(), new(hashloom.Server)

func newMd5Hasher() miniomd5.Hasher { return md5s.NewHash() }

func newSHA256Hasher() miniomd5.Hasher { return md5simd.HasherOf(sha256s.NewHash(hl.New())) }
