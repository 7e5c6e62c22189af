/* parts.h: the algorithms and instruction sets that this build has.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * By default all. Two macros of the whole build leave the others out:
 *
 *   -DHL_ALGORITHMS=sha1,sha256   names as in hl_alg_info; those that share a block function come together. And calls
 *                                 beside hashing: hmac (and PBKDF2), merkle, search, slh, sha1dc
 *   -DHL_ISAS=avx2,sha            names as in registry.def; `scalar` is always there
 *
 * A name that is not known does not compile. A kernel that is left out keeps its row in registry.def without functions,
 * and its instruction set is not available. Its file compiles to nothing.
 */
#ifndef HLI_PARTS_H
#define HLI_PARTS_H

/* One bit for each block function: 1 << HL_BODY_... */
/* algorithms.py: c_bits */
#define HLI_ALG_sha1        0x01
#define HLI_ALG_sha224      0x02
#define HLI_ALG_sha256      0x02
#define HLI_ALG_sha384      0x04
#define HLI_ALG_sha512      0x04
#define HLI_ALG_sha512_224  0x04
#define HLI_ALG_sha512_256  0x04
#define HLI_ALG_ripemd160   0x08
#define HLI_ALG_md5         0x10
#define HLI_ALG_keccak      0x20
#define HLI_ALG_keccak_256  0x20
#define HLI_ALG_sha3        0x20
#define HLI_ALG_sha3_224    0x20
#define HLI_ALG_sha3_256    0x20
#define HLI_ALG_sha3_384    0x20
#define HLI_ALG_sha3_512    0x20
#define HLI_ALG_shake128    0x20
#define HLI_ALG_shake256    0x20
#define HLI_ALG_sm3         0x40
#define HLI_ALG_blake2b     0x80
#define HLI_ALG_blake2b_256 0x80
#define HLI_ALG_blake2s     0x100
#define HLI_ALG_blake3      0x200
/* algorithms.py: end */
#define HLI_ALG_none       0
/* Calls that few programs make. These bits include those of what the calls are made of. */
#define HLI_ALG_sha1dc     0x100001
#define HLI_ALG_hmac       0x200000
#define HLI_ALG_merkle     0x400002
#define HLI_ALG_search     0x800000
#define HLI_ALG_slh        0x1200000

#define HLI_ISA_scalar       0
#define HLI_ISA_gnu          0x0001
#define HLI_ISA_sse2         0x0002
#define HLI_ISA_avx          0x0008
#define HLI_ISA_avx2         0x0010
#define HLI_ISA_avx512vl     0x0020
#define HLI_ISA_avx512       0x0040
#define HLI_ISA_sha          0x0080 /* of x86 and of Arm */
#define HLI_ISA_sha_avx512vl 0x0100
#define HLI_ISA_neon         0x0200
#define HLI_ISA_sha3         0x0400
#define HLI_ISA_sha512       0x0800 /* of x86 and of Arm */
#define HLI_ISA_simd128      0x1000
#define HLI_ISA_none         0

/* The bits of a list of up to 16 names. */
#define HLI_BITS(kind, ...) \
    HLI_BITS_(kind, __VA_ARGS__, none, none, none, none, none, none, none, none, none, none, none, none, none, none, \
              none, none)
#define HLI_BITS_(kind, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, ...) \
    (kind##a | kind##b | kind##c | kind##d | kind##e | kind##f | kind##g | kind##h | kind##i | kind##j | kind##k | \
     kind##l | kind##m | kind##n | kind##o | kind##p)

/* Whether the build has it; also for #if. */
#ifdef HL_ALGORITHMS
#  define HLI_ALG(name) ((HLI_BITS(HLI_ALG_, HL_ALGORITHMS) & HLI_ALG_##name) == HLI_ALG_##name)
#else
#  define HLI_ALG(name) 1
#endif
#ifdef HL_ISAS
#  define HLI_ISA(name) ((HLI_BITS(HLI_ISA_, HL_ISAS) & HLI_ISA_##name) == HLI_ISA_##name)
#else
#  define HLI_ISA(name) 1
#endif

#ifndef HLI_SHA1DC
#  if HLI_ALG(sha1dc) && !defined(HL_NO_SHA1DC)
#    define HLI_SHA1DC 1
#  else
#    define HLI_SHA1DC 0
#  endif
#endif

#endif
