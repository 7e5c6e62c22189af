// SPDX-License-Identifier: MIT OR Apache-2.0

// Package hashloom hashes many messages at once. One message is a chain of steps that keeps most of a CPU idle; this
// module puts up to 16 messages into the lanes of SIMD registers, and chooses the fastest code for the CPU at run time.
// It needs neither cgo nor other modules.
//
// The packages [md5], [sha1], [sha256], [sha512], [sha3] and [ripemd160] have the API of the standard library's
// packages of these names (ripemd160: of golang.org/x/crypto), so that replacing the import is enough, and the same
// additions:
//
//	SumMany(dst, msgs)           dst[i] = digest of msgs[i]
//	SumRows(dst, rows, rowLen)   dst[i] = digest of row i, rowLen bytes each, of one buffer
//
// A suffix names a variant, as in the standard library: SumMany224, SumRows512_256, SumManySHAKE128. Running hashes of
// MD5, SHA-1, SHA-2 and SHA-3 are the standard library's own objects. This package has what works on many of them:
// [WriteMany], [AppendSums] and [AppendSumsFrom], and [Server] for messages that arrive on goroutines of their own,
// such as uploads. [SumBlocks] has the digests of the blocks of a reader. Package [hmac] has HMAC with a key prepared
// once, and package [pbkdf2] keys from passwords. Package [slhdsa] signs by SLH-DSA. Package [bitcoin] has RIPEMD-160
// of SHA-256 and SHA-256 of SHA-256, and package [search] finds nonces whose digest is low enough.
//
// # Speed
//
// Many messages per call are what makes this module fast: eight or more, better 16 or a multiple. Messages may have any
// lengths; neighbours of similar length are fastest. A call runs on the goroutine that makes it: split work among
// goroutines to use more CPUs. No call but [SumBlocks], and those of [Server], starts a goroutine. No call allocates
// memory in the long run, except that a result that is appended may grow, that [AppendSumsFrom] clones the hash for
// each of fewer than eight messages, and that SumBlocks and package [slhdsa] do.
//
// One message goes to the standard library, and so do chunks of less than 512 bytes in [WriteMany]: bench/go.sh of the
// repository measures that no such call takes longer than there.
//
// On amd64 with AVX2 and on arm64 the code is assembly: the C core of this repository, compiled. Elsewhere, and with
// the build tag purego or noasm, everything is pure Go over the standard library, and gives the same digests one
// message at a time.
//
// # Rules for all calls
//
//   - Lengths are bytes. A message may have any length, zero and nil included, up to 2^60 bytes.
//   - Digests are in the byte order of their standard, and equal those of any other implementation.
//   - Any number of goroutines may call any function at once. One running hash or one slice of digests belongs to one
//     goroutine at a time, as in the standard library.
//   - Messages may overlap each other. If digests overlap messages, or slices do not fit each other, a call panics
//     before it writes anything.
//   - The module has not been validated for FIPS 140. Under GODEBUG=fips140=only what has the standard library's name
//     does what it does there: crypto/hmac, crypto/pbkdf2 and crypto/hkdf accept the hashes of SHA-2 and SHA-3, and
//     Sum and the hashes of md5 and sha1 refuse to work. Calls for many messages work, whatever the length and number
//     of the messages.
//
// [md5]: https://pkg.go.dev/github.com/hashloom/hashloom/go/md5
// [sha1]: https://pkg.go.dev/github.com/hashloom/hashloom/go/sha1
// [sha256]: https://pkg.go.dev/github.com/hashloom/hashloom/go/sha256
// [sha512]: https://pkg.go.dev/github.com/hashloom/hashloom/go/sha512
// [sha3]: https://pkg.go.dev/github.com/hashloom/hashloom/go/sha3
// [ripemd160]: https://pkg.go.dev/github.com/hashloom/hashloom/go/ripemd160
// [hmac]: https://pkg.go.dev/github.com/hashloom/hashloom/go/hmac
// [pbkdf2]: https://pkg.go.dev/github.com/hashloom/hashloom/go/pbkdf2
// [slhdsa]: https://pkg.go.dev/github.com/hashloom/hashloom/go/slhdsa
// [bitcoin]: https://pkg.go.dev/github.com/hashloom/hashloom/go/bitcoin
// [search]: https://pkg.go.dev/github.com/hashloom/hashloom/go/search
package hashloom
