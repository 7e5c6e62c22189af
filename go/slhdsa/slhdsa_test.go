// SPDX-License-Identifier: MIT OR Apache-2.0

package slhdsa

import (
	"bytes"
	"crypto"
	"crypto/sha512"
	"encoding/hex"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/hashloom/hashloom/go/internal/core"
)

// named returns the set of that name.
func named(t *testing.T, name string) Parameters {
	for i := range sets {
		if sets[i].name == name {
			return Parameters{&sets[i]}
		}
	}
	t.Fatal("no set ", name)
	return Parameters{}
}

type hexBytes []byte

func (b *hexBytes) UnmarshalText(text []byte) (err error) {
	*b, err = hex.AppendDecode(nil, text)
	return err
}

type vector struct {
	ID                           int `json:"tcId"`
	Sk, Pk, Message, Signature   hexBytes
	AdditionalRandomness, SkSeed hexBytes
	TestPassed                   bool
}

// forVectors runs f with NIST's vectors (ACVP) of that file. In pure Go, and with -short, with the first of each group.
func forVectors(t *testing.T, name string, f func(params Parameters, v *vector)) {
	t.Helper()
	path := "../../vectors/slh-dsa/" + name + ".json.xz"
	if _, err := os.Stat("../../vectors"); err != nil && os.Getenv("HASHLOOM_REQUIRE") == "" {
		t.Skipf("SKIPPED: go: vectors of SLH-DSA: %v", err)
	}
	if _, err := exec.LookPath("xz"); err != nil && os.Getenv("HASHLOOM_REQUIRE") == "" {
		t.Skipf("SKIPPED: go: vectors of SLH-DSA: %v", err)
	}
	text, err := exec.Command("xz", "-dc", path).Output()
	if err != nil {
		t.Fatal(path, ": ", err)
	}
	var file struct {
		TestGroups []struct {
			ParameterSet string
			Tests        []*vector
		}
	}
	if err := json.Unmarshal(text, &file); err != nil || len(file.TestGroups) == 0 {
		t.Fatal(path, ": ", len(file.TestGroups), " groups: ", err)
	}
	for _, group := range file.TestGroups {
		for i, v := range group.Tests {
			if i == 0 || (core.Enabled() && !testing.Short()) {
				f(named(t, group.ParameterSet), v)
			}
		}
	}
}

func TestVectors(t *testing.T) {
	forVectors(t, "keyGen", func(params Parameters, v *vector) {
		secret := bytes.Clone(v.Sk)
		clear(secret[3*params.set.n:])
		if key := newKey(params, secret); !bytes.Equal(key.Bytes(), v.Sk) || !bytes.Equal(key.PublicKey().Bytes(), v.Pk) {
			t.Errorf("keyGen %d: key %x, want %x", v.ID, key.Bytes(), v.Sk)
		}
	})
	forVectors(t, "sigGen", func(params Parameters, v *vector) {
		key, err := NewPrivateKey(params, v.Sk)
		if err != nil {
			t.Fatal(err)
		}
		randomness := []byte(v.AdditionalRandomness)
		if randomness == nil {
			randomness = key.public.key[:params.set.n]
		}
		if signature, err := key.sign([][]byte{v.Message}, randomness); err != nil || !bytes.Equal(signature, v.Signature) {
			t.Errorf("sigGen %d: another signature: %v", v.ID, err)
		}
	})
	forVectors(t, "sigVer", func(params Parameters, v *vector) {
		key, err := NewPublicKey(params, v.Pk)
		if err != nil {
			t.Fatal(err)
		}
		var valid [1]bool
		verify(valid[:], []*PublicKey{key}, [][][]byte{{v.Message}}, [][]byte{v.Signature})
		if valid[0] != v.TestPassed {
			t.Errorf("sigVer %d: valid: %v, want %v", v.ID, valid[0], v.TestPassed)
		}
	})
}

func randomBytes(rng *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return b
}

// Each set by the core, those with fast signatures with each instruction set, and in pure Go: the same keys and
// signatures, and the same answers of verification, of signatures that are right and of mutations, none of which is
// accepted.
func TestAgainstPureGo(t *testing.T) {
	t.Cleanup(func() { core.Restrict(nil) })
	for i := range sets {
		p := &sets[i]
		isFast := p.h/p.d < 8
		if testing.Short() && (!isFast || p.n != 24) {
			continue
		}
		params, rng := Parameters{p}, rand.New(rand.NewPCG(uint64(i), 5))
		seeds, message := randomBytes(rng, 4*p.n), randomBytes(rng, rng.IntN(300))
		want := bytes.Clone(seeds)
		p.keygen(want)
		wrong := bytes.Clone(want)
		wrong[4*p.n-1] ^= 1
		signature := make([]byte, p.signatureSize)
		parts, err := frame(message, &Options{Context: "some"})
		if err != nil {
			t.Fatal(err)
		}
		p.putRandomizer(signature[:p.n], want[p.n:2*p.n], want[2*p.n:3*p.n], parts)
		place := p.placeOf(signature[:p.n], want[2*p.n:], parts)
		if !p.sign(want, &place, signature) || p.sign(wrong, &place, bytes.Clone(signature)) {
			t.Fatalf("%v: sign in pure Go reports the contrary", params)
		}
		isas := core.Implementations()
		if !isFast {
			isas = isas[len(isas)-1:]
		}
		for _, isa := range isas {
			if err := core.Restrict([]string{isa}); err != nil {
				t.Fatal(err)
			}
			key := newKey(params, bytes.Clone(seeds))
			if !bytes.Equal(key.Bytes(), want) {
				t.Fatalf("%v, %s: key %x, want %x", params, isa, key.Bytes(), want)
			}
			got, err := key.SignDeterministic(message, &Options{Context: "some"})
			if err != nil || !bytes.Equal(got, signature) {
				t.Fatalf("%v, %s: another signature: %v", params, isa, err)
			}
			wrongKey, err := NewPrivateKey(params, wrong)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := wrongKey.Sign(nil, message, nil); err == nil || got != nil {
				t.Errorf("%v, %s: a key with a wrong root signs", params, isa)
			}
			checkVerify(t, rng, key, message, signature)
		}
	}
}

// checkVerify verifies many signatures at once, of two keys, right ones and mutations.
func checkVerify(t *testing.T, rng *rand.Rand, key *PrivateKey, message, signature []byte) {
	const n = 40
	options, p := &Options{Context: "some"}, key.params.set
	other := newKey(key.params, randomBytes(rng, 4*p.n))
	otherSignature, err := other.Sign(nil, message, options)
	if err != nil {
		t.Fatal(err)
	}
	keys, messages, signatures := make([]*PublicKey, n), make([][]byte, n), make([][]byte, n)
	want, got := make([]bool, n), make([]bool, n)
	for i := range n {
		keys[i], messages[i], signatures[i], want[i] = key.PublicKey(), message, signature, i%4 == 0
		if i%3 == 0 {
			keys[i], signatures[i] = other.PublicKey(), otherSignature
		}
		if want[i] {
			continue
		}
		mutation := bytes.Clone(signatures[i])
		switch i % 7 {
		case 0:
			messages[i] = append(bytes.Clone(message), 0)
		case 1:
			mutation = mutation[:rng.IntN(len(mutation))]
		case 2:
			mutation = append(mutation, 0)
		case 3:
			public := bytes.Clone(keys[i].key)
			public[rng.IntN(len(public))] ^= 1 << rng.IntN(8)
			keys[i] = &PublicKey{key.params, public}
		default:
			mutation[rng.IntN(len(mutation))] ^= 1 << rng.IntN(8)
		}
		signatures[i] = mutation
	}
	if err := VerifyMany(got, keys, messages, signatures, options); err != nil {
		t.Fatal(err)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("%v: signature %d: valid: %v, want %v", key.params, i, got[i], want[i])
		}
	}
	for _, wrong := range []*Options{nil, {Context: "some "}, {Context: "some", Hash: crypto.SHA256}} {
		if Verify(key.PublicKey(), message, signature, wrong) == nil {
			t.Errorf("%v: options %v are accepted", key.params, wrong)
		}
	}
}

func TestKeysAndOptions(t *testing.T) {
	key, err := GenerateKey(SHA2_128f())
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewPrivateKey(SHA2_128f(), key.Bytes())
	if err != nil || !again.Equal(key) || !again.PublicKey().Equal(key.Public()) {
		t.Errorf("a key is not what it was encoded as: %v", err)
	}
	digest := sha512.Sum384(nil)
	one, err := key.Sign(nil, digest[:], crypto.SHA384)
	if err != nil || Verify(key.PublicKey(), digest[:], one, &Options{Hash: crypto.SHA384}) != nil {
		t.Errorf("a signed digest: %v", err)
	}
	two, err := key.Sign(nil, digest[:], &Options{Hash: crypto.SHA384})
	if err != nil || bytes.Equal(one, two) {
		t.Errorf("two signatures with randomness are the same: %v", err)
	}
	if Verify(key.PublicKey(), digest[:], one, &Options{Hash: crypto.SHA3_384}) == nil ||
		Verify(key.PublicKey(), digest[:], one, nil) == nil {
		t.Error("a signed digest is accepted as something else")
	}
	if names := (Parameters{}).String() + SHAKE_256f().String(); names != "no parameters of SLH-DSASLH-DSA-SHAKE-256f" {
		t.Error(names)
	}
	public := key.PublicKey()
	for text, call := range map[string]func() error{
		"no parameters of SLH-DSA: ": func() error { _, err := GenerateKey(Parameters{}); return err },
		"63 bytes, want 64 (SLH-DSA-SHA2-128f)": func() error {
			_, err := NewPrivateKey(SHA2_128f(), key.Bytes()[1:])
			return err
		},
		"48 bytes, want 32": func() error { _, err := NewPublicKey(SHA2_128s(), make([]byte, 48)); return err },
		"a context of 256 bytes": func() error {
			_, err := key.Sign(nil, nil, &Options{Context: strings.Repeat("c", 256)})
			return err
		},
		"want one of SHA-2 or SHA-3": func() error { _, err := key.Sign(nil, make([]byte, 20), crypto.SHA1); return err },
		"a digest of 31 bytes, want 32": func() error {
			return Verify(public, make([]byte, 31), one, &Options{Hash: crypto.SHA256})
		},
		"key 1 is of SLH-DSA-SHAKE-128f": func() error {
			return VerifyMany(make([]bool, 2), []*PublicKey{public, {SHAKE_128f(), public.key}}, make([][]byte, 2),
				make([][]byte, 2), nil)
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%v, want %q", err, text)
		}
	}
}
