// SPDX-License-Identifier: MIT OR Apache-2.0

// Package slhdsa signs by SLH-DSA (FIPS 205, SPHINCS+): signatures that rest on a hash function alone, which no quantum
// computer is known to break. It has the shape of the standard library's crypto/mldsa.
//
// A signature is up to two million hashes of a few bytes. On amd64 and arm64 they are computed side by side in the
// lanes of SIMD registers. Elsewhere, and with the build tag purego or noasm, everything is pure Go, one hash after
// another, which takes many times as long.
//
// A call runs on its goroutine until it is done. Garbage collections and other goroutines wait for it a millisecond at
// most (some ten for SHAKE on CPUs without AVX2 or SHA-3 instructions). Keys may be used by any number of goroutines at
// once. What a call leaves of a secret key in its own memory is overwritten.
package slhdsa

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"

	"github.com/hashloom/hashloom/go/internal/core"
)

// set is a row of FIPS 205 table 2.
type set struct {
	id            uint32 // an hl_slh of hashloom.h
	name          string
	n             int // bytes of a hash
	h, d, a, k    int // height, layers; height and number of FORS trees
	shake         bool
	signatureSize int
}

var sets = [...]set{
	{1, "SLH-DSA-SHA2-128s", 16, 63, 7, 12, 14, false, 7856},
	{2, "SLH-DSA-SHAKE-128s", 16, 63, 7, 12, 14, true, 7856},
	{3, "SLH-DSA-SHA2-128f", 16, 66, 22, 6, 33, false, 17088},
	{4, "SLH-DSA-SHAKE-128f", 16, 66, 22, 6, 33, true, 17088},
	{5, "SLH-DSA-SHA2-192s", 24, 63, 7, 14, 17, false, 16224},
	{6, "SLH-DSA-SHAKE-192s", 24, 63, 7, 14, 17, true, 16224},
	{7, "SLH-DSA-SHA2-192f", 24, 66, 22, 8, 33, false, 35664},
	{8, "SLH-DSA-SHAKE-192f", 24, 66, 22, 8, 33, true, 35664},
	{9, "SLH-DSA-SHA2-256s", 32, 64, 8, 14, 22, false, 29792},
	{10, "SLH-DSA-SHAKE-256s", 32, 64, 8, 14, 22, true, 29792},
	{11, "SLH-DSA-SHA2-256f", 32, 68, 17, 9, 35, false, 49856},
	{12, "SLH-DSA-SHAKE-256f", 32, 68, 17, 9, 35, true, 49856},
}

// len is the number of chains of a one-time key.
func (p *set) len() int { return 2*p.n + 3 }

// use makes the kernels of the set's hashes known to the core.
func (p *set) use() {
	if p.shake {
		core.UseKeccak(core.SHAKE256)
		return
	}
	core.UseSHA256(core.SHA256)
	if p.n > 16 {
		core.UseSHA512(core.SHA512)
	}
}

// Parameters is one of the parameter sets of FIPS 205: what the functions [SHA2_128s] to [SHAKE_256f] return. Its zero
// value is none. The name says the hash, the bits of security (of a search by a classical computer), and whether
// signatures are small or fast to make. Parameters may be compared.
type Parameters struct{ set *set }

// SHA2_128s returns SLH-DSA-SHA2-128s: signatures of 7,856 bytes.
func SHA2_128s() Parameters { return Parameters{&sets[0]} }

// SHAKE_128s returns SLH-DSA-SHAKE-128s: signatures of 7,856 bytes.
func SHAKE_128s() Parameters { return Parameters{&sets[1]} }

// SHA2_128f returns SLH-DSA-SHA2-128f: signatures of 17,088 bytes.
func SHA2_128f() Parameters { return Parameters{&sets[2]} }

// SHAKE_128f returns SLH-DSA-SHAKE-128f: signatures of 17,088 bytes.
func SHAKE_128f() Parameters { return Parameters{&sets[3]} }

// SHA2_192s returns SLH-DSA-SHA2-192s: signatures of 16,224 bytes.
func SHA2_192s() Parameters { return Parameters{&sets[4]} }

// SHAKE_192s returns SLH-DSA-SHAKE-192s: signatures of 16,224 bytes.
func SHAKE_192s() Parameters { return Parameters{&sets[5]} }

// SHA2_192f returns SLH-DSA-SHA2-192f: signatures of 35,664 bytes.
func SHA2_192f() Parameters { return Parameters{&sets[6]} }

// SHAKE_192f returns SLH-DSA-SHAKE-192f: signatures of 35,664 bytes.
func SHAKE_192f() Parameters { return Parameters{&sets[7]} }

// SHA2_256s returns SLH-DSA-SHA2-256s: signatures of 29,792 bytes.
func SHA2_256s() Parameters { return Parameters{&sets[8]} }

// SHAKE_256s returns SLH-DSA-SHAKE-256s: signatures of 29,792 bytes.
func SHAKE_256s() Parameters { return Parameters{&sets[9]} }

// SHA2_256f returns SLH-DSA-SHA2-256f: signatures of 49,856 bytes.
func SHA2_256f() Parameters { return Parameters{&sets[10]} }

// SHAKE_256f returns SLH-DSA-SHAKE-256f: signatures of 49,856 bytes.
func SHAKE_256f() Parameters { return Parameters{&sets[11]} }

// String returns the name of the set, such as SLH-DSA-SHA2-128s.
func (params Parameters) String() string {
	if params.set == nil {
		return "no parameters of SLH-DSA"
	}
	return params.set.name
}

// PrivateKeySize returns the bytes of an encoded private key: 64, 96 or 128.
func (params Parameters) PrivateKeySize() int { return 4 * params.set.n }

// PublicKeySize returns the bytes of an encoded public key: 32, 48 or 64.
func (params Parameters) PublicKeySize() int { return 2 * params.set.n }

// SignatureSize returns the bytes of a signature.
func (params Parameters) SignatureSize() int { return params.set.signatureSize }

var errNoParameters = errors.New("slhdsa: no parameters of SLH-DSA: take those of SHA2_128s or another function")

// Options contains the choices for a signature and its verification, which must be the same for both.
type Options struct {
	// Context tells what the signature is for. It has up to 255 bytes, and none by default.
	Context string

	// Hash is 0, or the hash function of SHA-2 or SHA-3 by which the message was hashed: the message is the digest,
	// signed as FIPS 205 section 10.2.2 (HashSLH-DSA) says. Both sides must agree on it.
	Hash crypto.Hash
}

// HashFunc returns opts.Hash, to implement [crypto.SignerOpts].
func (opts *Options) HashFunc() crypto.Hash { return opts.Hash }

// PrivateKey signs. It implements [crypto.Signer].
type PrivateKey struct {
	params Parameters
	public *PublicKey
	secret []byte // SK.seed, SK.prf, PK.seed, PK.root
}

// PublicKey verifies signatures.
type PublicKey struct {
	params Parameters
	key    []byte // PK.seed, PK.root
}

// GenerateKey makes a new key from the system's random source. It takes a seventh of the time of a signature, or less.
func GenerateKey(params Parameters) (*PrivateKey, error) {
	if params.set == nil {
		return nil, errNoParameters
	}
	secret := make([]byte, params.PrivateKeySize())
	rand.Read(secret[:3*params.set.n])
	return newKey(params, secret), nil
}

// newKey completes the key of three seeds (slh_keygen_internal).
func newKey(params Parameters, secret []byte) *PrivateKey {
	p := params.set
	p.use()
	if core.Enabled() {
		core.SLHKeygen(p.id, secret)
	} else {
		p.keygen(secret)
	}
	return &PrivateKey{params, &PublicKey{params, bytes.Clone(secret[2*p.n:])}, secret}
}

// NewPrivateKey decodes what Bytes returned: SK.seed, SK.prf, PK.seed and PK.root, FIPS 205 figure 15. The root is not
// computed again: if it is wrong, the first signature fails.
func NewPrivateKey(params Parameters, encoding []byte) (*PrivateKey, error) {
	if params.set == nil {
		return nil, errNoParameters
	}
	if len(encoding) != params.PrivateKeySize() {
		return nil, fmt.Errorf("slhdsa: a private key of %d bytes, want %d (%v)", len(encoding), 4*params.set.n, params)
	}
	secret := bytes.Clone(encoding)
	return &PrivateKey{params, &PublicKey{params, bytes.Clone(secret[2*params.set.n:])}, secret}, nil
}

// Bytes returns the encoded key. Keep it secret.
func (sk *PrivateKey) Bytes() []byte { return bytes.Clone(sk.secret) }

// Equal reports whether x is the same key.
func (sk *PrivateKey) Equal(x crypto.PrivateKey) bool {
	other, ok := x.(*PrivateKey)
	return ok && sk.params == other.params && subtle.ConstantTimeCompare(sk.secret, other.secret) == 1
}

// Public returns PublicKey, to implement [crypto.Signer].
func (sk *PrivateKey) Public() crypto.PublicKey { return sk.public }

// PublicKey returns the key that verifies this key's signatures.
func (sk *PrivateKey) PublicKey() *PublicKey { return sk.public }

// Sign signs the message with fresh randomness from the system, as FIPS 205 advises. rand is ignored. opts is nil, an
// *[Options], or a hash function, which means Options with that Hash.
//
// The signature is verified before Sign returns. The error says what is wrong with opts, or that the signature is
// wrong: the machine erred, or the public part of the key does not belong to it.
func (sk *PrivateKey) Sign(_ io.Reader, message []byte, opts crypto.SignerOpts) ([]byte, error) {
	randomness := make([]byte, sk.params.set.n)
	rand.Read(randomness)
	return sk.signFramed(message, opts, randomness)
}

// SignDeterministic is Sign without randomness: the same message has the same signature.
func (sk *PrivateKey) SignDeterministic(message []byte, opts crypto.SignerOpts) ([]byte, error) {
	return sk.signFramed(message, opts, sk.public.key[:sk.params.set.n])
}

func (sk *PrivateKey) signFramed(message []byte, opts crypto.SignerOpts, randomness []byte) ([]byte, error) {
	parts, err := frame(message, opts)
	if err != nil {
		return nil, err
	}
	return sk.sign(parts, randomness)
}

// sign is slh_sign_internal.
func (sk *PrivateKey) sign(parts [][]byte, randomness []byte) ([]byte, error) {
	p := sk.params.set
	p.use()
	signature := make([]byte, p.signatureSize)
	p.putRandomizer(signature[:p.n], sk.secret[p.n:2*p.n], randomness, parts)
	place := p.placeOf(signature[:p.n], sk.public.key, parts)
	isRight := false
	if core.Enabled() {
		isRight = core.SLHSign(p.id, sk.secret, &place, signature)
	} else {
		isRight = p.sign(sk.secret, &place, signature)
	}
	if !isRight {
		clear(signature)
		return nil, errors.New("slhdsa: the signature that was made is wrong: the machine erred, or the public part of the " +
			"key does not belong to it")
	}
	return signature, nil
}

// NewPublicKey decodes a public key: PK.seed and PK.root, FIPS 205 figure 16.
func NewPublicKey(params Parameters, encoding []byte) (*PublicKey, error) {
	if params.set == nil {
		return nil, errNoParameters
	}
	if len(encoding) != params.PublicKeySize() {
		return nil, fmt.Errorf("slhdsa: a public key of %d bytes, want %d (%v)", len(encoding), 2*params.set.n, params)
	}
	return &PublicKey{params, bytes.Clone(encoding)}, nil
}

// Bytes returns the encoded key.
func (pk *PublicKey) Bytes() []byte { return bytes.Clone(pk.key) }

// Equal reports whether x is the same key.
func (pk *PublicKey) Equal(x crypto.PublicKey) bool {
	other, ok := x.(*PublicKey)
	return ok && pk.params == other.params && bytes.Equal(pk.key, other.key)
}

// Parameters returns the key's parameter set.
func (pk *PublicKey) Parameters() Parameters { return pk.params }

var errInvalid = errors.New("slhdsa: invalid signature")

// Verify returns nil if the signature is one of the message by the key, and opts are those of Sign; else an error. opts
// may be nil: no context, and the message itself.
func Verify(pk *PublicKey, message, signature []byte, opts *Options) error {
	var valid [1]bool
	if err := VerifyMany(valid[:], []*PublicKey{pk}, [][]byte{message}, [][]byte{signature}, opts); err != nil {
		return err
	}
	if !valid[0] {
		return errInvalid
	}
	return nil
}

// VerifyMany sets valid[i] to whether signatures[i] is one of messages[i] by keys[i], or by the only key. Several are
// verified side by side, which gains most with the sets of small signatures. All keys have the same parameters. The
// error says what is wrong with keys or opts; then nothing is valid. VerifyMany panics if slices differ in length.
func VerifyMany(valid []bool, keys []*PublicKey, messages, signatures [][]byte, opts *Options) error {
	if len(messages) != len(valid) || len(signatures) != len(valid) || (len(keys) != len(valid) && len(keys) != 1) {
		panic(fmt.Sprintf("slhdsa: VerifyMany: %d results, %d keys, %d messages, %d signatures", len(valid), len(keys),
			len(messages), len(signatures)))
	}
	clear(valid)
	for i, key := range keys {
		if key.params != keys[0].params {
			return fmt.Errorf("slhdsa: key %d is of %v, the first of %v: verify each kind for itself", i, key.params,
				keys[0].params)
		}
	}
	all := make([][][]byte, len(messages))
	for i, message := range messages {
		parts, err := frame(message, opts)
		if err != nil {
			return err
		}
		all[i] = parts
	}
	verify(valid, keys, all, signatures)
	return nil
}

// groupChains is the number of chains of signatures that one call of the core verifies: a millisecond's work.
const groupChains = 4000

// verify is slh_verify_internal.
func verify(valid []bool, keys []*PublicKey, messages [][][]byte, signatures [][]byte) {
	if len(valid) == 0 {
		return
	}
	p := keys[0].params.set
	p.use()
	var at []int // the signatures of the right length, which are the following ones
	var itsKeys, its [][]byte
	var places []core.SLHPlace
	for i, signature := range signatures {
		if len(signature) == p.signatureSize {
			key := keys[min(i, len(keys)-1)].key
			at, itsKeys, its = append(at, i), append(itsKeys, key), append(its, signature)
			places = append(places, p.placeOf(signature[:p.n], key, messages[i]))
		}
	}
	areValid := make([]bool, len(at))
	most := max(1, min(core.SLHGroup, groupChains/(p.d*p.len())))
	for first := 0; first < len(at); first += most {
		end := min(first+most, len(at))
		if core.Enabled() {
			core.SLHVerify(p.id, itsKeys[first:end], its[first:end], places[first:end], areValid[first:end])
			continue
		}
		for i := first; i < end; i++ {
			areValid[i] = p.verify(itsKeys[i], &places[i], its[i])
		}
	}
	for i, isValid := range areValid {
		valid[at[i]] = isValid
	}
}
