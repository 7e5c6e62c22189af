// SPDX-License-Identifier: MIT OR Apache-2.0

package dirhash

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
)

// A module of 1,000 files of 100 bytes to 40 KB, as Go's own are.
func BenchmarkHashDir(b *testing.B) {
	random, folder := rand.New(rand.NewSource(1)), b.TempDir()
	for i := range 1000 {
		data := make([]byte, 100+random.Intn(200)*random.Intn(200))
		random.Read(data)
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.go", i)), data, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, err := HashDir(folder, "module@v1", Hash1); err != nil {
			b.Fatal(err)
		}
	}
}
