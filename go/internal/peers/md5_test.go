// SPDX-License-Identifier: MIT OR Apache-2.0

package peers

import (
	"testing"

	stdmd5 "crypto/md5"

	"github.com/hashloom/hashloom/go/md5"
)

// BenchmarkManyMD5 is BenchmarkMany for MD5.
func BenchmarkManyMD5(b *testing.B) {
	for _, size := range []int{64, 1024, 16384} {
		msgs, sums := messages(size), [count][md5.Size]byte{}
		measure(b, "md5", size, "hashloom", func() { md5.SumMany(sums[:], msgs) })
		if cMany != nil {
			measure(b, "md5", size, "C", cMany(9, msgs))
		}
		measure(b, "md5", size, "std", func() {
			for i, msg := range msgs {
				sums[i] = stdmd5.Sum(msg)
			}
		})
	}
}
