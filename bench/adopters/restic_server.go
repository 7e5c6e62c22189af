// SPDX-License-Identifier: MIT OR Apache-2.0

package repository

import (
	"hash"

	hashloom "github.com/hashloom/hashloom/go"
	hl "github.com/hashloom/hashloom/go/sha256"
)

var server hashloom.Server

func newServed() hash.Hash { return server.NewHash(hl.New()) }
