// SPDX-License-Identifier: MIT OR Apache-2.0

package desync

import (
	"context"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
)

func BenchmarkVerifyIndex256MiB(b *testing.B) {
	name := filepath.Join(b.TempDir(), "blob")
	data := make([]byte, 256<<20)
	rand.New(rand.NewSource(1)).Read(data)
	if err := os.WriteFile(name, data, 0o600); err != nil {
		b.Fatal(err)
	}
	const n = 10 // the program's default
	index, _, err := IndexFromFile(context.Background(), name, n, 16<<10, 64<<10, 256<<10, NullProgressBar{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := VerifyIndex(context.Background(), name, index, n, NullProgressBar{}); err != nil {
			b.Fatal(err)
		}
	}
}
