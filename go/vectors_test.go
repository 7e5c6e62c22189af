// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	hashloom "github.com/hashloom/hashloom/go"
	"github.com/hashloom/hashloom/go/hmac"
)

// The vectors are in the repository, beside the module. A copy of the module alone lacks them.
const vectors = "../vectors"

// record is one entry of a file of vectors: the bytes by their names.
type record map[string][]byte

// readVectors reads a file in the form of NIST's CAVP: "Name = hex" lines, with an empty line after each record.
func readVectors(t *testing.T, path string) []record {
	t.Helper()
	file, err := os.Open(filepath.Join(vectors, path))
	if err != nil {
		if _, err := os.Stat(vectors); err != nil && os.Getenv("HASHLOOM_REQUIRE") == "" {
			t.Skipf("SKIPPED: go: vectors: %v", err)
		}
		t.Fatal(err)
	}
	defer file.Close()
	var records []record
	present := record{}
	nbits := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), " = ")
		if !found || strings.HasPrefix(name, "[") {
			continue
		}
		switch name {
		case "COUNT":
			continue
		case "Len":
			if nbits, err = strconv.Atoi(value); err != nil {
				t.Fatal(path, err)
			}
			continue
		}
		if present[name], err = hex.DecodeString(value); err != nil {
			t.Fatal(path, err)
		}
		if name == "MD" || name == "Seed" {
			if message, found := present["Msg"]; found {
				present["Msg"] = message[:nbits/8] // the message of length 0 is written 00
			}
			records = append(records, present)
			present = record{}
		}
	}
	if err := lines.Err(); err != nil || len(records) == 0 {
		t.Fatal(path, len(records), err)
	}
	return records
}

// NIST's short and long messages, and the vectors of RIPEMD-160's authors, with each instruction set.
func TestVectors(t *testing.T) {
	t.Cleanup(func() { hashloom.Restrict() })
	forEach(t, func(t *testing.T, v *variant) {
		folder := map[bool]string{true: "SHA1", false: "SHA2"}[v.name == "sha1"]
		name := strings.ToUpper(strings.Replace(v.name, "-", "_", 1))
		path := "nist-cavp/" + folder + "/" + name
		files := []string{path + "ShortMsg.rsp", path + "LongMsg.rsp"}
		if v.name == "ripemd160" {
			files = []string{"ripemd160/ripevectors.txt"}
		}
		for _, file := range files {
			var msgs [][]byte
			var want []byte
			for _, r := range readVectors(t, file) {
				msgs, want = append(msgs, r["Msg"]), append(want, r["MD"]...)
			}
			for _, isa := range append([]string{""}, hashloom.Implementations()...) {
				restrictTo(t, isa)
				got := make([]byte, len(want))
				v.sumMany(got, msgs)
				v.check(t, isa, got, want)
			}
			for i, msg := range msgs {
				v.check(t, "Sum", v.sum(msg), want[i*v.size:(i+1)*v.size])
			}
		}
	})
}

// NIST's Monte Carlo test: each digest is of the three before it (SHAVS, section 6.4).
func TestMonteCarlo(t *testing.T) {
	forEach(t, func(t *testing.T, v *variant) {
		if v.name == "ripemd160" {
			return // NIST has none
		}
		folder := map[bool]string{true: "SHA1", false: "SHA2"}[v.name == "sha1"]
		records := readVectors(t, "nist-cavp/"+folder+"/"+strings.ToUpper(strings.Replace(v.name, "-", "_", 1))+"Monte.rsp")
		seed := records[0]["Seed"]
		if testing.Short() {
			records = records[:11]
		}
		digest := make([]byte, v.size)
		for _, r := range records[1:] {
			message := bytes.Repeat(seed, 3)
			for range 1000 {
				v.sumMany(digest, [][]byte{message})
				message = append(message[v.size:], digest...)
			}
			v.check(t, "Monte", digest, r["MD"])
			seed = bytes.Clone(digest)
		}
	})
}

// The vectors of RFC 2202, 2286 and 4231.
func TestVectorsHMAC(t *testing.T) {
	files := map[string]string{"sha1": "rfc-2202-sha1", "ripemd160": "rfc-2286-ripemd160", "sha224": "rfc-4231-sha224",
		"sha256": "rfc-4231-sha256", "sha384": "rfc-4231-sha384", "sha512": "rfc-4231-sha512"}
	forEach(t, func(t *testing.T, v *variant) {
		if files[v.name] == "" {
			return // no vectors of SHA-512/t
		}
		for _, r := range readVectors(t, "hmac-rfc/"+files[v.name]+".txt") {
			key := hmac.NewKey(v.new, r["Key"])
			if tag := key.AppendSum(nil, r["Msg"]); !bytes.Equal(tag, r["MD"]) || !key.Verify(r["Msg"], r["MD"]) {
				t.Errorf("message %x: %x, want %x", r["Msg"], tag, r["MD"])
			}
		}
	})
}
