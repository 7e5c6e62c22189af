// SPDX-License-Identifier: MIT OR Apache-2.0

package torrent

import (
	"math/rand"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkCreate256MiB(b *testing.B) {
	folder := b.TempDir()
	data := make([]byte, 256<<20)
	rand.New(rand.NewSource(1)).Read(data)
	if err := os.WriteFile(filepath.Join(folder, "video.mkv"), data, 0o600); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := CreateTorrent(CreateTorrentOptions{Path: folder, Quiet: true, NoDate: true}); err != nil {
			b.Fatal(err)
		}
	}
}
