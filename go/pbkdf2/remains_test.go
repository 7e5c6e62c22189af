// SPDX-License-Identifier: MIT OR Apache-2.0

package pbkdf2

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/hashloom/hashloom/go/internal/core"
)

// A batch keeps nothing of its passwords, salts and keys, also where an earlier turn had more blocks than the last one.
func TestNothingRemains(t *testing.T) {
	for _, n := range []int{1, 3, batchLen + 1} {
		for _, salt := range [][]byte{[]byte("salt"), make([]byte, saltsLen)} {
			passwords, salts := make([]string, n), make([][]byte, n)
			for i := range passwords {
				passwords[i], salts[i] = "password", salt
			}
			var b batch
			dst := make([]byte, n*20)
			b.derive(core.Use(core.SHA512), dst, passwords, salts, 3, 20)
			if bytes.Equal(dst, make([]byte, len(dst))) {
				t.Fatal("no keys")
			}
			room := b.salts[:cap(b.salts)]
			if !bytes.Equal(room, make([]byte, len(room))) || len(room) > saltsLen {
				t.Errorf("%d keys: salts remain, or room for %d bytes", n, len(room))
			}
			if b.salts = nil; !reflect.DeepEqual(b, batch{}) {
				t.Errorf("%d keys: something remains", n)
			}
		}
	}
}
