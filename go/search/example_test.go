// SPDX-License-Identifier: MIT OR Apache-2.0

package search_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/hashloom/hashloom/go/ripemd160"
	"github.com/hashloom/hashloom/go/search"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
)

// A nonce for which the SHA-256 digest begins with 16 zero bits.
func ExampleJob_Find() {
	job := search.Job{
		New:      sha256.New,
		Prefix:   []byte("hello "),
		Alphabet: "0123456789",
		Target:   search.ZeroBits(16),
	}
	nonce, found := job.Find(0, 100_000)
	fmt.Println(nonce, found)
	fmt.Printf("%x\n", sha256.Sum256([]byte("hello 4361")))
	// Output:
	// 4361 true
	// 0000179ebc627349ee057fe03ee13d3cd552bf12b8f7903d3e68397c8ce8e101
}

func ExampleJob_FindContext() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	job := search.Job{New: sha256.New, Prefix: []byte("hello "), Alphabet: "0123456789", Target: search.ZeroBits(16)}
	fmt.Println(job.FindContext(ctx, 0, 100_000))
	// Output:
	// 4361 true <nil>
}

func ExampleJob_All() {
	job := search.Job{New: sha256.New, Alphabet: "0123456789", Target: search.ZeroBits(12)}
	for nonce := range job.All(0, 1<<40) {
		fmt.Println(nonce)
		if nonce > 1000 {
			break
		}
	}
	// Output:
	// 886
	// 1039
}

// Block 0 of Bitcoin: the first 76 bytes of its header, a nonce of 4 bytes, SHA-256 twice; numbers and digests begin
// with the least significant byte.
func ExampleJob() {
	header, _ := hex.DecodeString("01000000" + "0000000000000000000000000000000000000000000000000000000000000000" +
		"3ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a" + "29ab5f49" + "ffff001d")
	target, err := search.Compact(binary.LittleEndian.Uint32(header[72:]))
	if err != nil {
		fmt.Println(err)
		return
	}
	job := search.Job{
		New:             sha256.New,
		Again:           sha256.New,
		Prefix:          header,
		Width:           4,
		LeastDigitFirst: true,
		LeastByteFirst:  true,
		Target:          target,
	}
	fmt.Println(job.Find(2_083_236_000, 2_083_237_000))
	// Output: 2083236893 true
}

func ExampleJob_AppendText() {
	job := search.Job{New: sha1.New, Again: ripemd160.New, Prefix: []byte("x="), Suffix: []byte(";"),
		Alphabet: "0123456789abcdef", Width: 4, Target: search.ZeroBits(8)}
	nonce, _ := job.Find(0, 0xffff)
	fmt.Printf("x=%s;\n", job.AppendText(nil, nonce))
	// Output: x=019b;
}

func ExampleTarget() {
	var none search.Target // no digest but zeros counts
	job := search.Job{New: sha256.New, Target: none}
	fmt.Println(job.Find(0, 10_000))
	// Output: 0 false
}

// Krist compares the first 48 bits of the digest with the work.
func ExampleFirstBytes() {
	work := uint64(1) << 32
	bytes := binary.BigEndian.AppendUint64(nil, work)[2:]
	job := search.Job{
		New:      sha256.New,
		Prefix:   []byte("k5ztameslf" + "0000000001e2"),
		Alphabet: "0123456789",
		Target:   search.FirstBytes(bytes),
	}
	fmt.Println(job.Find(0, 1_000_000))
	// Output: 50980 true
}

// Hashcash counts zero bits of SHA-1.
func ExampleZeroBits() {
	job := search.Job{
		New:      sha1.New,
		Prefix:   []byte("1:16:261122:hello@example.com::mkHOrhd7:"),
		Alphabet: "0123456789abcdef",
		Target:   search.ZeroBits(16),
	}
	nonce, _ := job.Find(0, 1_000_000)
	stamp := job.AppendText(job.Prefix, nonce)
	fmt.Printf("%s %x\n", stamp, sha1.Sum(stamp))
	// Output: 1:16:261122:hello@example.com::mkHOrhd7:ee70 0000462e56f3f28ed10b59399c80b0da0468959d
}

func ExampleCompact() {
	target, err := search.Compact(0x1d00ffff)
	fmt.Printf("%x %v\n", target[:8], err)
	_, err = search.Compact(0x04800001)
	fmt.Println(err)
	// Output:
	// 00000000ffff0000 <nil>
	// search: the compact target 04800001 is negative, zero, or longer than 256 bits
}
