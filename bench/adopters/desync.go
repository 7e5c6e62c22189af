// SPDX-License-Identifier: MIT OR Apache-2.0

package desync

import (
	"fmt"
	"os"

	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha512"
)

func (s *fileSeedSegment) Validate(file *os.File) error {
	const atOnce = 16
	var bufs [atOnce][]byte
	var sums [atOnce][32]byte
	for rest := s.chunks; len(rest) > 0; rest = rest[min(len(rest), atOnce):] {
		chunks := rest[:min(len(rest), atOnce)]
		for i, c := range chunks {
			bufs[i] = append(bufs[i][:0], make([]byte, c.Size)...)
			if _, err := file.ReadAt(bufs[i], int64(c.Start)); err != nil {
				return err
			}
		}
		if _, is512 := Digest.(SHA512256); is512 {
			sha512.SumMany512_256(sums[:len(chunks)], bufs[:len(chunks)])
		} else {
			sha256.SumMany(sums[:len(chunks)], bufs[:len(chunks)])
		}
		for i, c := range chunks {
			if sums[i] != c.ID {
				return fmt.Errorf("seed index for %s doesn't match its data", s.file)
			}
		}
	}
	return nil
}
