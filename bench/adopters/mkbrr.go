// SPDX-License-Identifier: MIT OR Apache-2.0

package torrent

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/sha1"
)

// content reads files one after another, as one stream from an offset on.
type content struct {
	hasher *pieceHasher
	rest   []fileEntry
	offset int64
	file   *os.File
}

func (c *content) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		if len(c.rest) == 0 {
			return 0, io.EOF
		}
		if in := c.offset - c.rest[0].offset; in >= c.rest[0].length {
			c.Close()
			c.file, c.rest = nil, c.rest[1:]
			continue
		} else if c.file == nil {
			if c.file, err = os.Open(c.rest[0].path); err == nil {
				_, err = c.file.Seek(in, io.SeekStart)
			}
			continue
		}
		n, err = c.file.Read(p)
		c.offset += int64(n)
		atomic.AddInt64(&c.hasher.bytesProcessed, int64(n))
	}
	return n, err
}

func (c *content) Close() error { return c.file.Close() }

func (h *pieceHasher) hashPieceRange(startPiece, endPiece int, completedPieces *uint64) error {
	last := h.files[len(h.files)-1]
	r := &content{hasher: h, rest: h.files, offset: int64(startPiece) * h.pieceLen}
	size := min(int64(endPiece)*h.pieceLen, last.offset+last.length) - r.offset
	if size <= 0 {
		return nil
	}
	defer r.Close()
	sums, err := hashloom.SumBlocks(context.Background(), r, size, h.pieceLen, 0, sha1.New)
	if err != nil {
		return fmt.Errorf("pieces %d to %d: %w", startPiece, endPiece, err)
	}
	for i := startPiece; i < endPiece; i++ {
		h.pieces[i] = sums[0][(i-startPiece)*sha1.Size:][:sha1.Size]
	}
	atomic.AddUint64(completedPieces, uint64(endPiece-startPiece))
	return nil
}
