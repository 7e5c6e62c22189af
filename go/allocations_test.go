// SPDX-License-Identifier: MIT OR Apache-2.0

//go:build !race

package hashloom_test

import (
	"hash"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/bitcoin"
	"github.com/hashloom/hashloom/go/hmac"
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/md5"
	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
	"github.com/hashloom/hashloom/go/sha512"
)

// No call allocates. In pure Go the calls that continue a running hash do. Go 1.25 does not find out the types of the
// standard library's hashes, which then move to the heap.
func TestAllocations(t *testing.T) {
	msgs := randomMessages(rand.New(rand.NewPCG(1, 1)), 100, 300)
	long := slices.Repeat([][]byte{make([]byte, 2000)}, 100)
	rows := make([]byte, 100*64)
	sums1 := make([][sha1.Size]byte, 100)
	sums256 := make([][sha256.Size]byte, 100)
	sums512 := make([][sha512.Size]byte, 100)
	sums160 := make([][ripemd160.Size]byte, 100)
	sumsMD5 := make([][md5.Size]byte, 100)
	sums3 := make([][sha3.Size256]byte, 100)
	xofs := make([]byte, 100*20)
	hs, hs3 := make([]hash.Hash, 100), make([]hash.Hash, 100)
	for i := range hs {
		hs[i], hs3[i] = sha256.New(), sha3.New256()
	}
	room := make([]byte, 0, 100*sha256.Size)
	ok := make([]bool, 100)
	tags := make([][]byte, 100)
	key := hmac.NewKey(sha256.New, []byte("key"))
	prefix := sha256.New()
	var server hashloom.Server
	served := server.NewHash(sha256.New(), md5.New())
	continues := map[string]bool{"AppendSumsFrom": true, "AppendSum": true, "Search": true, "hmac": true}
	onHeap := map[string]bool{"hmac": true}
	isOld := strings.HasPrefix(runtime.Version(), "go1.25")
	for name, f := range map[string]func(){
		"sha1":      func() { sha1.SumMany(sums1, msgs); sha1.SumRows(sums1, rows, 64) },
		"sha256":    func() { sha256.SumMany(sums256, msgs); sha256.SumRows(sums256, rows, 64) },
		"sha512":    func() { sha512.SumMany(sums512, msgs); sha512.SumRows(sums512, rows, 64) },
		"ripemd160": func() { ripemd160.SumMany(sums160, msgs); ripemd160.SumRows(sums160, rows, 64) },
		"md5":       func() { md5.SumMany(sumsMD5, msgs); md5.SumRows(sumsMD5, rows, 64) },
		"sha3": func() {
			sha3.SumMany256(sums3, msgs)
			sha3.SumRows256(sums3, rows, 64)
			sha3.SumManySHAKE128(xofs, msgs, 20)
			sha3.SumRowsSHAKE256(xofs, rows, 64, 20)
			sha3.SumRowsSHAKE256(xofs, rows[:64], 64, 2000)
			hashloom.WriteMany(hs3, long)
			room = hashloom.AppendSums(room[:0], hs3)
		},
		"Server":         func() { served.Write(rows) },
		"AppendSum":      func() { room, _ = server.AppendSum(room[:0], prefix, rows) },
		"WriteMany":      func() { hashloom.WriteMany(hs, msgs); hashloom.WriteMany(hs, long) },
		"AppendSums":     func() { room = hashloom.AppendSums(room[:0], hs) },
		"AppendSumsFrom": func() { room = hashloom.AppendSumsFrom(room[:0], prefix, msgs) },
		"hmac": func() {
			key.SumMany(room[:100*sha256.Size], msgs)
			key.VerifyMany(ok, msgs, tags)
			room = key.AppendSum(room[:0], rows)
			key.Verify(rows, room)
			key.SumMany(room[:2*sha256.Size], msgs[:2])
		},
		"SumCmp48": func() { sha256.SumCmp48(rows, 0) },
		"bitcoin": func() {
			bitcoin.Hash160Many(sums160, msgs)
			bitcoin.Hash160Rows(sums160, rows, 64)
			bitcoin.SHA256dMany(sums256, msgs)
			bitcoin.SHA256dRows(sums256, rows, 64)
			bitcoin.Hash160(rows)
		},
		"Search": func() { sha256.Search([]byte("prefix"), sha256.Nonces{End: 1000}, []byte("suffix"), 0) },
	} {
		if n := testing.AllocsPerRun(10, f); n != 0 && (core.Enabled() || !continues[name]) && !(isOld && onHeap[name]) {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
