// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/pbkdf2"
	"fmt"
	"hash"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/hmac"
	"github.com/hashloom/hashloom/go/internal/core"
	"github.com/hashloom/hashloom/go/internal/digest"
	"github.com/hashloom/hashloom/go/md5"
	ours "github.com/hashloom/hashloom/go/pbkdf2"
	"github.com/hashloom/hashloom/go/sha1"
	"github.com/hashloom/hashloom/go/sha256"
	"github.com/hashloom/hashloom/go/sha3"
	"github.com/hashloom/hashloom/go/sha512"

	stdhmac "crypto/hmac"
	stdsha256 "crypto/sha256"
)

// In all FIPS 140 modes crypto/hmac, crypto/pbkdf2 and crypto/hkdf accept the hashes of this module, and the calls of
// this module do the same for messages of all lengths, and for any number of them.
func TestFIPS(t *testing.T) {
	if os.Getenv("HASHLOOM_TEST_FIPS") != "" {
		testFIPS(t)
		return
	}
	for _, mode := range []string{"off", "on", "only"} {
		t.Run(mode, func(t *testing.T) {
			c := exec.Command(os.Args[0], "-test.run=^TestFIPS$", "-test.v")
			c.Env = append(os.Environ(), "GODEBUG=fips140="+mode, "HASHLOOM_TEST_FIPS="+mode)
			out, err := c.CombinedOutput()
			if c.ProcessState == nil {
				t.Skip("SKIPPED: go: FIPS 140 modes: ", err) // under an emulator, or where programs start no others
			}
			if reason := regexp.MustCompile(`panic: fips140: .*`).FindString(string(out)); reason != "" {
				t.Skip("SKIPPED: go: FIPS 140 modes: ", reason) // such a build or system has no FIPS 140 modes
			}
			if err != nil || !strings.Contains(string(out), "ok: FIPS 140 "+mode) {
				t.Fatalf("%v\n%s", err, out)
			}
		})
	}
}

func testFIPS(t *testing.T) {
	mode := os.Getenv("HASHLOOM_TEST_FIPS")
	secret, message := []byte("a secret of 24 bytes ..."), bytes.Repeat([]byte("message"), 1000)
	for name, newHash := range map[string]func() hash.Hash{
		"sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
		"sha512-224": sha512.New512_224, "sha512-256": sha512.New512_256,
		"sha3-256": func() hash.Hash { return sha3.New256() },
	} {
		key := hmac.NewKey(newHash, secret)
		for _, n := range []int{0, 32, 1000, 7000} {
			mac := stdhmac.New(newHash, secret)
			mac.Write(message[:n])
			want := mac.Sum(nil)
			for _, count := range []int{1, 2, 3, 20} {
				tags, msgs := make([]byte, count*key.Size()), make([][]byte, count)
				for i := range msgs {
					msgs[i] = message[:n]
				}
				if key.SumMany(tags, msgs); !bytes.Equal(tags, bytes.Repeat(want, count)) {
					t.Errorf("%s: %d tags of %d bytes", name, count, n)
				}
			}
			if !key.Verify(message[:n], want) {
				t.Errorf("%s: a right tag of %d bytes is wrong", name, n)
			}
		}
		if _, err := pbkdf2.Key(newHash, "password", message[:16], 10, 32); err != nil {
			t.Errorf("%s: pbkdf2: %v", name, err)
		}
		for _, count := range []int{1, 3} { // the salts and keys are shorter than crypto/pbkdf2 accepts in the mode "only"
			keys := make([]byte, count*8)
			err := ours.KeyMany(keys, newHash, make([]string, count), make([][]byte, count), 2, 8)
			if err != nil || bytes.Equal(keys, make([]byte, count*8)) {
				t.Errorf("%s: %d keys: %x, %v", name, count, keys, err)
			}
		}
		if _, err := hkdf.Key(newHash, secret, nil, "info", 32); err != nil {
			t.Errorf("%s: hkdf: %v", name, err)
		}
	}
	got, _ := pbkdf2.Key(sha256.New, "password", message[:16], 10, 32)
	want, _ := pbkdf2.Key(stdsha256.New, "password", message[:16], 10, 32)
	if !bytes.Equal(got, want) {
		t.Errorf("pbkdf2: %x, want %x", got, want)
	}
	if core.Enabled() { // in pure Go, they are the standard library's alone
		testNotApproved(t, mode, message, "md5", md5.New, md5.Sum, md5.SumMany)
		testNotApproved(t, mode, message, "sha1", sha1.New, sha1.Sum, sha1.SumMany)
	}
	fmt.Println("ok: FIPS 140", mode)
}

// MD5 and SHA-1 are not approved: crypto/md5 and crypto/sha1, and what stands for them, refuse to work if only approved
// functions may. The calls for many messages work, also for one message.
func testNotApproved[D digest.Array](t *testing.T, mode string, message []byte, name string, newHash func() hash.Hash,
	sum func([]byte) D, sumMany func([]D, [][]byte)) {
	refuses := func(call func()) (refused bool) {
		defer func() { refused = recover() != nil }()
		call()
		return
	}
	key := hmac.NewKey(newHash, message[:20])
	var server hashloom.Server
	for _, n := range []int{0, 32, 1000, 7000} {
		if got := refuses(func() { sum(message[:n]) }); got != (mode == "only") {
			t.Errorf("%s: Sum of %d bytes refuses: %v", name, n, got)
		}
		served := server.NewHash(newHash())
		served.Write(message[:n])
		if got := refuses(func() { served.Sum(nil) }); got != (mode == "only") {
			t.Errorf("%s: Sum of a server's hash refuses: %v", name, got)
		}
		for _, count := range []int{1, 2, 20} {
			msgs, hs := make([][]byte, count), make([]hash.Hash, count)
			for i := range msgs {
				msgs[i], hs[i] = message[:n], newHash()
			}
			if refuses(func() {
				sumMany(make([]D, count), msgs)
				key.SumMany(make([]byte, count*key.Size()), msgs)
				key.AppendSum(nil, message[:n])
			}) {
				t.Errorf("%s: a call for %d messages of %d bytes refuses", name, count, n)
			}
			hashloom.WriteMany(hs, msgs)
			if got := refuses(func() { hashloom.AppendSums(nil, hs) }); got != (mode == "only") {
				t.Errorf("%s: AppendSums of %d hashes refuses: %v", name, count, got)
			}
			if refuses(func() { hashloom.AppendSumsFrom(nil, newHash(), msgs) }) {
				t.Errorf("%s: AppendSumsFrom of %d messages refuses", name, count)
			}
		}
	}
}
