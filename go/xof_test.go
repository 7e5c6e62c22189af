// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/sha3"
)

// xof is all that a package has for one XOF.
type xof struct {
	alg     core.Alg
	new     func() *sha3.SHAKE
	sum     func(data []byte, length int) []byte
	sumMany func(dst []byte, msgs [][]byte, length int)
	sumRows func(dst, rows []byte, rowLen, length int)
}

var xofs = []xof{
	// algorithms.py: go_xofs
	{core.SHAKE128, sha3.NewSHAKE128, sha3.SumSHAKE128, sha3.SumManySHAKE128, sha3.SumRowsSHAKE128},
	{core.SHAKE256, sha3.NewSHAKE256, sha3.SumSHAKE256, sha3.SumManySHAKE256, sha3.SumRowsSHAKE256},
	// algorithms.py: end
}

// Digests of lengths around a block and of a few longer ones, of messages of any lengths, are those of crypto/sha3.
func TestXOF(t *testing.T) {
	eachISA(t, func(string) {
		for _, x := range xofs {
			rng := rand.New(rand.NewPCG(1, 2))
			blockSize := x.alg.Info().BlockSize
			for _, length := range []int{1, 2, 31, 32, 33, 64, 65, blockSize - 1, blockSize, blockSize + 1, 2 * blockSize,
				1000, 5000, 50_000} {
				for _, n := range []int{0, 1, 2, 7, 8, 33, 100} {
					for _, most := range []int{0, 20, 300, 30_000, 300_000} {
						if n*(most+length) > 2_000_000 || testing.Short() && n*(most+length) > 200_000 {
							continue
						}
						testXOF(t, &x, rng, n, length, most)
					}
				}
			}
		}
	})
}

func testXOF(t *testing.T, x *xof, rng *rand.Rand, n, length, most int) {
	t.Helper()
	what := fmt.Sprintf("%v: %d digests of %d bytes, messages of up to %d", x.alg, n, length, most)
	expect := func(msgs [][]byte) []byte {
		var want []byte
		for _, msg := range msgs {
			h := x.new()
			h.Write(msg)
			sum := make([]byte, length)
			h.Read(sum[:length/2])
			h.Read(sum[length/2:])
			if !bytes.Equal(sum, x.sum(msg, length)) {
				t.Fatalf("%s: one message", what)
			}
			want = append(want, sum...)
		}
		return want
	}
	msgs := randomMessages(rng, n, most)
	got := make([]byte, n*length)
	x.sumMany(got, msgs, length)
	if !bytes.Equal(got, expect(msgs)) {
		t.Fatalf("%s: SumMany", what)
	}
	rowLen := rng.IntN(most + 1)
	rows := randomBytes(rng, n*rowLen)
	for i := range msgs {
		msgs[i] = rows[i*rowLen : (i+1)*rowLen]
	}
	x.sumRows(got, rows, rowLen, length)
	if !bytes.Equal(got, expect(msgs)) {
		t.Fatalf("%s: SumRows of %d bytes", what, rowLen)
	}
}

// Wrong use panics with a text that names the call.
func TestMisuseXOF(t *testing.T) {
	dst := make([]byte, 100)
	two := make([][]byte, 2)
	for _, test := range []struct {
		call func()
		text string
	}{
		{func() { sha3.SumManySHAKE128(dst, two, 0) }, "sha3: SumMany: dst has 100 bytes, for digests of 0 bytes"},
		{func() { sha3.SumManySHAKE128(dst, two, -1) }, "digests of -1 bytes"},
		{func() { sha3.SumManySHAKE128(dst, two, 49) }, "dst has 100 bytes, for digests of 49"},
		{func() { sha3.SumManySHAKE256(dst, two, 25) }, "dst has room for 4 digests, msgs has 2 messages"},
		{func() { sha3.SumManySHAKE256(dst, two, math.MaxInt) }, "digests of"},
		{func() { sha3.SumManySHAKE256(dst, [][]byte{nil, dst[99:]}, 50) }, "overlap"},
		{func() { sha3.SumRowsSHAKE128(dst, dst, 50, 50) }, "overlap"},
		{func() { sha3.SumRowsSHAKE128(dst, nil, -1, 50) }, "rows of -1 bytes"},
		{func() { sha3.SumRowsSHAKE128(dst, make([]byte, 99), 50, 50) }, "SumRows: dst has room for 2 digests"},
		{func() { sha3.SumRowsSHAKE128(dst, nil, 0, 3) }, "digests of 3 bytes"},
	} {
		panics(t, test.text, test.call)
	}
	if !bytes.Equal(dst, make([]byte, 100)) {
		t.Error("a call that panics has written digests")
	}
}
