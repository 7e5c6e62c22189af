/* kernels.inc.h: one kernel of every algorithm for the vocabulary in scope. The last include of an ISA's file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A vocabulary (words/<isa>.lv.h) defines these names, and a body (alg/<algorithm>.lanes.h) uses nothing else:
 *
 *   LV_ISA                          the name of the instruction set, the end of the kernels' names
 *   LV_KERNEL, LV_FN                attributes of a kernel (the target) and of a function to inline into one
 *   lv32, LV32_LANES                a vector of 32-bit words, and its number of messages; likewise lv64, LV64_LANES
 *   lv32_load(p), lv32_store(p, x)  one row of the state: LV32_LANES words, aligned to their size
 *   lv32_splat(c)                   a scalar in every lane
 *   lv32_add, lv32_sub, lv32_xor, lv32_xor3
 *   lv32_ch(x, y, z)                (x & y) | (~x & z)           FIPS 180-4 section 4.1
 *   lv32_maj(x, y, z)               (x & y) | (x & z) | (y & z)  FIPS 180-4 section 4.1
 *   lv32_orn_xor(x, y, z)           (x | ~y) ^ z                 RIPEMD-160, MD5
 *   lv32_rol(x, n), lv32_shr(x, n)  macros: n must be a literal even when nothing is optimised
 *   lv32_load_block(w, msg, offset, big_endian)
 *                                   lane l of w[i] = the 32-bit word at msg[l] + offset + 4 * i, i = 0 .. 15, in the
 *                                   byte order that the literal says
 *   lv64_...                        the same on 64-bit words, without orn_xor
 *   lv64_chi(x, y, z)               x ^ (~y & z)                 FIPS 202 section 3.2.4
 *   lv64_load_words(w, msg, offset, n)
 *                                   lane l of w[i] = the little-endian word at msg[l] + offset + 8 * i, i = 0 .. the
 *                                   lower of n and LV64_GROUP, less one; nothing behind is read
 *
 * A vocabulary with LV_STAGES also has functions for whole short messages (hli_whole_fn); another one, if it defines
 * LV_WHOLES. They use
 *
 *   lv32_load_padded(w, whole, data, nbytes, b, order)
 *                                   block b: bytes of the messages, one bits, zeros, lengths; or zeros alone, if order
 *                                   is LV_COUNTED
 *   lv32_digests(state, nwords, big_endian, nbytes, n, digests)
 *                                   the digests of the first n lanes; likewise lv64
 *   lv64_load_padded_words(w, whole, data, nbytes, b, i)
 *                                   words i .. i + LV64_GROUP - 1 of block b of a sponge: bytes of the messages,
 *                                   suffixes, zeros; what is behind the block does not matter
 *
 * If functions of three words take more than two operations, the vocabulary also defines the macros lv32_and(x, y),
 * lv32_andn(x, y), which is ~x & y, lv64_and and lv64_xor. If it defines LV_PAIRS, it gets a second kernel of MD5, for
 * twice the messages.
 *
 * A vocabulary with 16 registers or less defines LV_FEW_REGISTERS: the schedules of SHA-1 and SM3 are then arrays. One
 * with 32 registers may define LV_WRITTEN_OUT: the rounds of SHA-2 are then all written out. If it
 * defines LV_TWO_ROUNDS, a loop has two of them in place of eight.
 *
 * A vocabulary may define LV_SETTLE(x), an assembly statement without instructions that changes the vector x: what is
 * added to x later stays later. clang adds operands in an order of its own, in MD5 the constant last, and each step
 * then waits for one addition more (AVX-512, Zen 4, clang 14: 521 -> 448 cycles; in 256 bits 411 -> 348).
 *
 * A vocabulary may define LV_RELOAD(pointer) as HLI_NEW_POINTER: the round constants are then loaded where they are
 * used. It may define LV_STAGES to 1, to load all blocks but the first in four parts, each while the block before is
 * hashed:
 *
 *   lv32_staging                    room for a block of every lane
 *   lv32_stage(staging, msg, offset, part, big_endian)
 *                                   part 0 .. 3 of lv32_load_block; all four, then
 *   lv32_staged(w, staging)         its result; likewise lv64
 *   lv32_copy(staging, msg, offset, part), lv32_copied(w, staging)
 *                                   the same of little-endian words, by copies of 16 bytes, for BLAKE3
 *   LV_SHARED                       attributes of a function that is not inlined
 *
 * A vocabulary that defines LV_ONLY as one of LV_SHA512, LV_RIPEMD160 and LV_KECCAK needs only the operations of that
 * body, and gets only its kernels. If it also defines LV_RIPEMD160_STEP (words/bmi.h), it has the body's step itself,
 * and gets no kernel for a schedule. A vocabulary that defines LV_NO_64 gets no kernel of SHA-512 and BLAKE2b. One with
 * LV_BLAKE_ROUNDS has the registers of words/blake_rounds.inc.h, and lv32_load_blended, a lv32_load_block for BLAKE3.
 *
 * The boolean functions are operations of their own because compilers do not find the one-instruction forms (gcc 12
 * spends two vpternlogd on Maj written with & and |).
 */
#define LV_PASTE_(name, isa) name##_##isa
#define LV_PASTE(name, isa)  LV_PASTE_(name, isa)
#define LV_NAMED_(name, isa) hli_##name##_##isa
#define LV_NAMED(name, isa)  LV_NAMED_(name, isa)
#define LV_NAME(name)        LV_NAMED(name, LV_ISA) /* sha1_blocks: hli_sha1_blocks_avx2 */

#define LV_PRAGMA(x) _Pragma(#x)
#define LV_UNROLL(n) LV_PRAGMA(GCC unroll n)
/* A loop that the compiler must not write out. */
#define LV_LOOP LV_UNROLL(1)

#define lv32_ror(x, n) lv32_rol(x, 32 - (n))
#define lv64_ror(x, n) lv64_rol(x, 64 - (n))

/* FIPS 202 section 3.2.1 and 3.2.2: two steps of Keccak that are one instruction of FEAT_SHA3. */
#ifndef lv64_xar
#  define lv64_rax(x, y)    lv64_xor(x, lv64_rol(y, 1))
#  define lv64_xar(x, y, n) lv64_rol(lv64_xor(x, y), n)
#endif

#ifndef LV_SETTLE
#  define LV_SETTLE(x) ((void)0)
#endif
#ifndef LV_RELOAD
#  define LV_RELOAD(pointer) ((void)0)
#endif
#define LV_SHA512    1
#define LV_RIPEMD160 2
#define LV_KECCAK    3
#ifndef LV_ONLY
#  define LV_ONLY 0
#endif
#ifndef LV_STAGES
#  define LV_STAGES 0
typedef struct {
    char none;
} lv32_staging, lv64_staging;
#  define lv32_stage(staging, msg, offset, part, big_endian) ((void)(staging), (void)(msg), (void)(offset))
#  define lv32_copy(staging, msg, offset, part) lv32_stage(staging, msg, offset, part, 0)
#  define lv64_stage(staging, msg, offset, part, big_endian) ((void)(staging), (void)(msg), (void)(offset))
#endif

typedef uint32_t lv32_word;
typedef uint64_t lv64_word;
#if LV_ONLY != LV_SHA512
enum { lv32_block_nbytes = 64, lv32_nlanes = LV32_LANES };
#endif
#if LV_ONLY != LV_RIPEMD160
enum { lv64_block_nbytes = 128, lv64_nlanes = LV64_LANES };
#endif

/* The arguments of a block function, and those of a kernel for whole messages. */
#define LV_BLOCK_ARGS(lv) \
    void *state, lv *w, const uint8_t *const msg[], size_t offset, LV_PASTE(lv, staging) *staging, int more
#define LV_WHOLE_ARGS \
    const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[], uint8_t *const digests[]
/* A block that is not at msg: block b of whole messages, or words of each lane. */
struct given {
    const struct hli_whole *whole;
    const size_t *nbytes;
    unsigned b;
    const void *words;
};
#if LV_STAGES
#  define LV_BLOCK_FN LV_FN
#else
#  ifndef LV_SHARED
#    define LV_SHARED LV_KERNEL static HLI_NOINLINE
#  endif
#  ifdef LV_WHOLES
#    define LV_BLOCK_FN LV_SHARED
#  else
#    define LV_BLOCK_FN LV_FN
#  endif
#endif

/* Used in a block function: stages a part of the next block. */
#define LV_STAGE(lv, block_nbytes, part, big_endian) \
    (more ? LV_PASTE(lv, stage)(staging, msg, offset + (block_nbytes), part, big_endian) : (void)(staging))

#if HLI_ALG(keccak) && (!LV_ONLY || LV_ONLY == LV_KECCAK)
#  include "keccak.lanes.h"
#endif
#if HLI_ALG(sha1) && !LV_ONLY
#  include "sha1.lanes.h"
#  if HLI_SHA1DC
#    include "sha1dc.lanes.h"
#  endif
#endif
#define SHA2_WORD 32
#if HLI_ALG(sha256) && !LV_ONLY
#  include "sha2.lanes.h"
#endif
#undef SHA2_WORD
#define SHA2_WORD 64
#if HLI_ALG(sha512) && (!LV_ONLY || LV_ONLY == LV_SHA512) && !defined(LV_NO_64)
#  include "sha2.lanes.h"
#endif
#undef SHA2_WORD
#if HLI_ALG(md5) && !LV_ONLY
#  define MD5_PAIR 0
#  include "md5.lanes.h"
#  undef MD5_PAIR
#  ifdef LV_PAIRS
#    include "pair.inc.h"
#    define MD5_PAIR 1
#    include "md5.lanes.h"
#    undef MD5_PAIR
#  endif
#endif
#if HLI_ALG(blake2s) && !LV_ONLY
#  define BLAKE 22
#  include "blake.lanes.h"
#  undef BLAKE
#endif
#if HLI_ALG(blake2b) && !LV_ONLY && !defined(LV_NO_64)
#  define BLAKE 23
#  include "blake.lanes.h"
#  undef BLAKE
#endif
#if HLI_ALG(blake3) && !LV_ONLY
#  define BLAKE 3
#  include "blake.lanes.h"
#  undef BLAKE
#endif
#if HLI_ALG(sm3) && !LV_ONLY
#  include "sm3.lanes.h"
#endif
#if HLI_ALG(ripemd160) && (!LV_ONLY || LV_ONLY == LV_RIPEMD160)
#  include "ripemd160.lanes.h"
#endif
