// SPDX-License-Identifier: MIT OR Apache-2.0

package checker

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/hashloom/hashloom/go/sha256"
	"github.com/restic/restic/internal/pack"
	"github.com/restic/restic/internal/repository"
	"github.com/restic/restic/internal/restic"
)

func checkPack(ctx context.Context, r restic.Repository, id restic.ID) error {
	handle := restic.Handle{Type: restic.PackFile, Name: id.String()}
	file, sum, size, err := repository.DownloadAndHash(ctx, r.Backend(), handle)
	if err != nil {
		return fmt.Errorf("pack %v: %w", id.Str(), err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if !sum.Equal(id) {
		return fmt.Errorf("pack %v has the hash %v", id.Str(), sum.Str())
	}
	blobs, err := pack.List(r.Key(), file, size)
	if err != nil {
		return err
	}
	const atOnce = 16
	var errs []error
	var bufs, texts [atOnce][]byte
	var sums [atOnce][sha256.Size]byte
	for ; len(blobs) > 0; blobs = blobs[min(len(blobs), atOnce):] {
		group := blobs[:min(len(blobs), atOnce)]
		for i, blob := range group {
			if uint(cap(bufs[i])) < blob.Length {
				bufs[i] = make([]byte, blob.Length)
			}
			buf, at := bufs[i][:blob.Length], io.NewSectionReader(file, int64(blob.Offset), int64(blob.Length))
			texts[i] = nil // the digest of no bytes is no blob's
			if _, err := io.ReadFull(at, buf); err != nil {
				errs = append(errs, fmt.Errorf("blob %v: %w", blob.ID, err))
				continue
			}
			nonce, sealed := buf[:r.Key().NonceSize()], buf[r.Key().NonceSize():]
			if texts[i], err = r.Key().Open(sealed[:0], nonce, sealed, nil); err != nil {
				errs = append(errs, fmt.Errorf("blob %v: %w", blob.ID, err))
			}
		}
		sha256.SumMany(sums[:len(group)], texts[:len(group)])
		for i, blob := range group {
			if texts[i] != nil && !blob.ID.Equal(sums[i]) {
				errs = append(errs, fmt.Errorf("blob %v has the hash %x", blob.ID.Str(), sums[i]))
			}
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("pack %v: %v", id.Str(), errs)
	}
	return nil
}
