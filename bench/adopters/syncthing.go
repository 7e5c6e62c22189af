// SPDX-License-Identifier: MIT OR Apache-2.0

package scanner

import (
	"context"
	"encoding/binary"
	"hash"
	"hash/adler32"
	"io"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/syncthing/syncthing/lib/protocol"
)

// counting tells a Counter what was read.
type counting struct {
	io.Reader
	counter Counter
	n       int64
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	if c.counter != nil {
		c.counter.Update(int64(n))
	}
	return n, err
}

func Blocks(ctx context.Context, r io.Reader, blocksize int, sizehint int64, counter Counter,
	useWeakHashes bool) ([]protocol.BlockInfo, error) {
	hashes := []func() hash.Hash{sha256.New}
	if useWeakHashes {
		hashes = append(hashes, func() hash.Hash { return adler32.New() })
	}
	if sizehint >= 0 {
		r = io.LimitReader(r, sizehint)
	}
	read := &counting{Reader: r, counter: counter}
	sums, err := hashloom.SumBlocks(ctx, read, -1, int64(blocksize), 0, hashes...)
	if err != nil {
		return nil, err
	}
	if read.n == 0 {
		return []protocol.BlockInfo{{Hash: SHA256OfNothing}}, nil
	}
	blocks := make([]protocol.BlockInfo, len(sums[0])/sha256.Size)
	for i := range blocks {
		offset := int64(i) * int64(blocksize)
		blocks[i] = protocol.BlockInfo{Offset: offset, Size: int(min(int64(blocksize), read.n-offset)),
			Hash: sums[0][i*sha256.Size:][:sha256.Size:sha256.Size]}
		if useWeakHashes {
			blocks[i].WeakHash = binary.BigEndian.Uint32(sums[1][i*adler32.Size:])
		}
	}
	return blocks, nil
}
