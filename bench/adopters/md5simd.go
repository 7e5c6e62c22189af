// SPDX-License-Identifier: MIT OR Apache-2.0

package md5simd

import "github.com/hashloom/hashloom/go/compat/md5simd"

type served struct{ md5simd.Server }

func (s served) NewHash() Hasher { return s.Server.NewHash() }

func NewServer() Server { return served{md5simd.NewServer()} }
