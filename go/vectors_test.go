// SPDX-License-Identifier: MIT OR Apache-2.0

package hashloom_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
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
	nbits := -1
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, found := strings.Cut(lines.Text(), " = ")
		if !found || strings.HasPrefix(name, "[") {
			continue
		}
		switch name {
		case "COUNT", "Outputlen":
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
		switch name {
		case "MD", "Seed", "Output", "Wrong MD":
			if message, found := present["Msg"]; found && nbits >= 0 {
				present["Msg"] = message[:nbits/8] // the message of length 0 is written 00
			}
			records = append(records, present)
			present, nbits = record{}, -1
		}
	}
	if err := lines.Err(); err != nil || len(records) == 0 {
		t.Fatal(path, len(records), err)
	}
	return records
}

// vectorPath returns the beginning of the names of an algorithm's files.
func (v *variant) vectorPath() string {
	folder := map[string]string{"sha1": "SHA1", "sha256": "SHA2", "sha512": "SHA2", "keccak": "SHA3"}[v.body]
	return "nist-cavp/" + folder + "/" + strings.ToUpper(strings.Replace(v.name, "-", "_", 1))
}

// isNIST says whether the algorithm has vectors of NIST.
func (v *variant) isNIST() bool {
	return v.name != "ripemd160" && v.name != "md5" && !strings.HasPrefix(v.name, "keccak")
}

// NIST's short and long messages, and the vectors of MD5's, RIPEMD-160's and Keccak's authors, with each instruction
// set.
func TestVectors(t *testing.T) {
	t.Cleanup(func() { hashloom.Restrict() })
	forEach(t, func(t *testing.T, v *variant) {
		files := []string{v.vectorPath() + "ShortMsg.rsp", v.vectorPath() + "LongMsg.rsp"}
		if v.name == "ripemd160" {
			files = []string{"ripemd160/ripevectors.txt"}
		} else if v.name == "md5" {
			files = []string{"md5/rfc-1321.txt"}
		} else if !v.isNIST() {
			files = []string{fmt.Sprintf("keccak/ShortMsgKAT_%d.txt", 8*v.size)}
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

// NIST's Monte Carlo test: each digest is of the three before it (SHAVS, section 6.4), of SHA-3 of the one before it
// (SHA3VS, section 6.2.3).
func TestMonteCarlo(t *testing.T) {
	forEach(t, func(t *testing.T, v *variant) {
		if !v.isNIST() {
			return
		}
		copies := 3
		if v.body == "keccak" {
			copies = 1
		}
		records := readVectors(t, v.vectorPath()+"Monte.rsp")
		seed := records[0]["Seed"]
		if testing.Short() {
			records = records[:11]
		}
		digest := make([]byte, v.size)
		for _, r := range records[1:] {
			message := bytes.Repeat(seed, copies)
			for range 1000 {
				v.sumMany(digest, [][]byte{message})
				message = append(message[v.size:], digest...)
			}
			v.check(t, "Monte", digest, r["MD"])
			seed = bytes.Clone(digest)
		}
	})
}

// NIST's messages for XOFs, and its digests of many lengths, with each instruction set.
func TestVectorsXOF(t *testing.T) {
	t.Cleanup(func() { hashloom.Restrict() })
	for _, x := range xofs {
		for _, file := range []string{"ShortMsg", "LongMsg", "VariableOut"} {
			records := readVectors(t, "nist-cavp/SHAKE/"+strings.ToUpper(x.alg.Info().Name)+file+".rsp")
			for first := 0; first < len(records); {
				length := len(records[first]["Output"])
				var msgs [][]byte
				var want []byte
				for _, r := range records[first:] {
					if len(r["Output"]) != length {
						break
					}
					msgs, want = append(msgs, r["Msg"]), append(want, r["Output"]...)
				}
				first += len(msgs)
				for _, isa := range append([]string{""}, hashloom.Implementations()...) {
					restrictTo(t, isa)
					got := make([]byte, len(want))
					x.sumMany(got, msgs, length)
					if !bytes.Equal(got, want) {
						t.Errorf("%v, %s, digests of %d bytes by %q: %x, want %x", x.alg, file, length, isa, got, want)
					}
				}
				if got := x.sum(msgs[0], length); !bytes.Equal(got, want[:length]) {
					t.Errorf("%v, %s, one digest of %d bytes: %x, want %x", x.alg, file, length, got, want[:length])
				}
			}
		}
	}
}

// The vectors of RFC 2202, 2286 and 4231, and Wycheproof's, some of which have the first half of a tag, or a wrong tag.
func TestVectorsHMAC(t *testing.T) {
	files := map[string]string{"sha1": "hmac-rfc/rfc-2202-sha1", "md5": "hmac-rfc/rfc-2202-md5",
		"ripemd160": "hmac-rfc/rfc-2286-ripemd160"}
	for _, name := range []string{"sha224", "sha256", "sha384", "sha512"} {
		files[name] = "hmac-rfc/rfc-4231-" + name
	}
	for _, v := range variants {
		if v.body == "keccak" && v.isNIST() {
			files[v.name] = "hmac-wycheproof/hmac_" + strings.Replace(v.name, "-", "_", 1)
		}
	}
	forEach(t, func(t *testing.T, v *variant) {
		if files[v.name] == "" {
			return // no vectors of SHA-512/t and Keccak
		}
		for _, r := range readVectors(t, files[v.name]+".txt") {
			want, isRight := r["MD"]
			if !isRight {
				want = r["Wrong MD"]
			}
			key := hmac.NewKey(v.new, r["Key"])
			tag := key.AppendSum(nil, r["Msg"])
			isVerified := key.Verify(r["Msg"], append(want, tag[len(want):]...))
			if bytes.Equal(tag[:len(want)], want) != isRight || isVerified != isRight {
				t.Errorf("message %x: %x, want %x: %v", r["Msg"], tag, want, isRight)
			}
		}
	})
}
