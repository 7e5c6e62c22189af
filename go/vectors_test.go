// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bufio"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// The vectors are in the repository, beside the module. A copy of the module alone lacks them.
const vectors = "../vectors"

// readVectors reads the messages of a file in the form of NIST's CAVP, "Name = hex", and their digests, joined.
func readVectors(t *testing.T, path string) (msgs [][]byte, digests []byte) {
	t.Helper()
	file, err := os.Open(filepath.Join(vectors, path))
	if err != nil {
		if _, err := os.Stat(vectors); err != nil && os.Getenv("HASHLOOM_REQUIRE") == "" {
			t.Skipf("SKIPPED: go: vectors: %v", err)
		}
		t.Fatal(err)
	}
	defer file.Close()
	nbits := -1
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), " = ")
		var content []byte
		switch name {
		case "Len":
			nbits, err = strconv.Atoi(value)
		case "Msg":
			content, err = hex.DecodeString(value)
			if nbits >= 0 {
				content = content[:nbits/8] // the message of length 0 is written 00
			}
			msgs = append(msgs, content)
		case "MD":
			content, err = hex.DecodeString(value)
			digests = append(digests, content...)
		}
		if err != nil {
			t.Fatal(path, err)
		}
	}
	if err := lines.Err(); err != nil || len(msgs) == 0 {
		t.Fatal(path, len(msgs), err)
	}
	return msgs, digests
}

// NIST's short and long messages, and the vectors of MD5's, RIPEMD-160's and Keccak's authors, with each instruction
// set.
func TestVectors(t *testing.T) {
	forEach(t, func(t *testing.T, v *variant) {
		files := map[string][]string{"ripemd160": {"ripemd160/ripevectors.txt"}, "md5": {"md5/rfc-1321.txt"},
			"keccak-256": {"keccak/ShortMsgKAT_256.txt"}}[v.name]
		if files == nil {
			folder := map[string]string{"sha1": "SHA1", "sha256": "SHA2", "sha512": "SHA2", "keccak": "SHA3"}[v.body]
			start := "nist-cavp/" + folder + "/" + strings.ToUpper(strings.Replace(v.name, "-", "_", 1))
			files = []string{start + "ShortMsg.rsp", start + "LongMsg.rsp"}
		}
		for _, file := range files {
			msgs, want := readVectors(t, file)
			eachISA(t, func(isa string) {
				got := make([]byte, len(want))
				v.sumMany(got, msgs)
				v.check(t, isa, got, want)
			})
			for i, msg := range msgs {
				v.check(t, "Sum", v.sum(msg), want[i*v.size:(i+1)*v.size])
			}
		}
	})
}
