// SPDX-License-Identifier: MIT OR Apache-2.0

package sha1cd_test

import (
	"crypto/sha1"
	"fmt"
	"os"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/sha1cd"
)

func ExampleSumMany() {
	objects := [][]byte{[]byte("blob 3\x00abc"), []byte("blob 0\x00")}
	sums, found := make([][sha1cd.Size]byte, 2), make([]bool, 2)
	sha1cd.SumMany(sums, found, objects)
	for i := range objects {
		fmt.Printf("%.4x %v\n", sums[i][:], found[i])
	}
	// Output:
	// f2ba8f84 false
	// e69de29b false
}

func ExampleNew() {
	h := sha1cd.New().(sha1cd.CollisionResistantHash)
	h.Write([]byte("blob 0\x00"))
	sum, found := h.CollisionResistantSum(nil)
	fmt.Printf("%.4x %v\n", sum, found)
	// Output: e69de29b false
}

// attacks has the published pairs, then a collision of fewer steps, which is none.
func attacks(t *testing.T) (all [][]byte) {
	for i, name := range []string{"shattered-1", "shattered-2", "shambles-1", "shambles-2", "reduced"} {
		data, err := os.ReadFile("../../vectors/sha1dc/" + name + ".bin")
		if err != nil {
			t.Skip("skipped: no vectors beside the module: ", err)
		}
		all = append(all, data)
		if i < len(safeSums) {
			safe[string(data)] = safeSums[i]
		}
	}
	return all
}

// safe has the digests of the published pairs by sha1dc (commit b4a7b0b).
var safe = map[string]string{}

var safeSums = []string{"7117b3cb9225aaf0d8ef1a40e493957b0bf8693d", "29f38ae9fd98e2931120fa0bf213e024250d3f6a",
	"4f3d9be4a472c4dae83c6314aa6c36a064c1fd14", "9ed5d77a4f48be1dbf3e9e15650733eb850897f2"}

func check(t *testing.T, what string, sum []byte, found bool, msg []byte, isAttack bool) {
	t.Helper()
	right := fmt.Sprintf("%x", sha1.Sum(msg))
	if isAttack {
		right = safe[string(msg)]
	}
	if fmt.Sprintf("%x", sum) != right || found != isAttack {
		t.Errorf("%s: %d bytes: %x, %v; not %s, %v", what, len(msg), sum, found, right, isAttack)
	}
}

func TestPublishedPairs(t *testing.T) {
	pairs := attacks(t)
	for _, isa := range append(core.Implementations(), "") {
		names := []string{isa}
		if isa == "" {
			names = nil
		}
		if err := hashloom.Restrict(names...); err != nil {
			t.Fatal(err)
		}
		for i, msg := range pairs {
			sum, found := sha1cd.Sum(msg)
			check(t, "Sum", sum, found, msg, i < 4)
			pure := core.NewHash(core.SHA1DC)
			pure.Write(msg)
			checked := pure.Sum(nil)
			check(t, "pure Go", checked[:20], checked[20] == 1, msg, i < 4)
			for cut := range msg {
				h := sha1cd.New().(sha1cd.CollisionResistantHash)
				h.Write(msg[:cut])
				h.Sum(nil)
				h.Write(msg[cut:])
				sum, found := h.CollisionResistantSum(nil)
				check(t, "cut", sum, found, msg, i < 4)
			}
		}
		var msgs [][]byte
		for i := range 2100 {
			msgs = append(msgs, make([]byte, i))
			if i%37 == 0 {
				msgs[i] = pairs[i/37%len(pairs)]
			}
		}
		sums, found := make([][20]byte, len(msgs)), make([]bool, len(msgs))
		sha1cd.SumMany(sums, found, msgs)
		for i, msg := range msgs {
			check(t, "SumMany", sums[i][:], found[i], msg, i%37 == 0 && i/37%len(pairs) < 4)
		}
	}
}
