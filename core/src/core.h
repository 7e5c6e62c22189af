/* core.h: shared by all parts of the core: the target, a few helpers for bytes, and the kinds of functions in kernels.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_CORE_H
#define HLI_CORE_H

#include "../include/hashloom.h"

#if !defined(__GNUC__) /* clang defines it too */
#  error "hashloom needs gcc >= 8 or clang >= 14: its kernels use their attributes and vector types"
#endif

/* ARM64EC defines the x86 macros while it compiles for ARM (seen in libdeflate, BLAKE3 and simdutf). */
#if (defined(__x86_64__) || defined(__i386__)) && !defined(__arm64ec__)
#  define HLI_X86 1
#else
#  define HLI_X86 0
#endif
#if HLI_X86 && defined(__x86_64__)
#  define HLI_X86_64 1
#else
#  define HLI_X86_64 0
#endif

/* Little-endian only: on big-endian, the lanes of a register are numbered from the other end than words in memory.
 * ARM64EC does not define __aarch64__. Big-endian and ARM64EC run the kernels that need no instruction set. */
#if defined(__aarch64__) && !defined(__AARCH64EB__)
#  define HLI_ARM64 1
#else
#  define HLI_ARM64 0
#endif

/* Vectors of WebAssembly are a promise of the compiler's flags (-msimd128): a module that has them either loads or does
 * not, so nothing is left to detect. */
#if defined(__wasm_simd128__)
#  define HLI_WASM 1
#else
#  define HLI_WASM 0
#endif

/* 1 if the compiler's vector types become vectors on every CPU that this build is for, and no vocabulary of its own
 * serves the target: on x86 SSE2 is as fast (Zen 4, gcc 12.2: SHA-1 437 cycles for 477, SHA-512 1,282 for 1,258), on
 * aarch64 NEON. On plain words vector types lose: four lanes in general registers spill (i686, gcc 12.2: SHA-1 0.86 of
 * scalar, SHA-256 0.84, SHA-512 0.24, and 56 KiB of stack). 32-bit Arm has vectors, but gcc 12.2 spills those of 64-bit
 * words as well: 40 KiB of stack. */
#if (defined(__AARCH64EB__) && defined(__ARM_NEON)) || defined(__VX__) || defined(__VSX__)
#  define HLI_VECTORS 1
#else
#  define HLI_VECTORS 0
#endif

#if defined(__ELF__)
#  define HLI_HIDDEN __attribute__((visibility("hidden")))
#else
#  define HLI_HIDDEN
#endif

#define HLI_INLINE static inline __attribute__((always_inline, unused))

/* The function keeps a frame of its own: because the frame has secrets, which callers burn with the stack below theirs,
 * or because it must not be on the stack while other parts of the driver run. */
#define HLI_NOINLINE __attribute__((noinline))

/* 1: fewer lines of assembly, for kernels that take at most 3% longer. For Go, whose assembly is kept as text. */
#ifndef HLI_SMALL
#  define HLI_SMALL 0
#endif

/* Makes the compiler treat the pointer as a new one. What is loaded through it is then loaded where it is used.
 * Otherwise the compiler loads constants before the loop, and words for their first use, and has to keep them on the
 * stack. */
#define HLI_NEW_POINTER(p) __asm__ volatile("" : "+r"(p))

/* From the C library: the core calls only these two functions. */
#define hli_copy(to, from, nbytes) __builtin_memcpy((to), (from), (nbytes))

/* Stores zeros. gcc makes a memset of a context `rep stos`, which takes 15 to 20 ns to start. gcc does not see that
 * `zero` is 0, and leaves plain stores. */
HLI_INLINE void hli_zero(void *to, size_t nbytes)
{
    size_t zero = 0;

    if (!__builtin_constant_p(nbytes) || nbytes % sizeof zero != 0 || nbytes > 512) {
        __builtin_memset(to, 0, nbytes);
        return;
    }
    __asm__("" : "+r"(zero));
    for (size_t i = 0; i < nbytes; i += sizeof zero)
        hli_copy((uint8_t *)to + i, &zero, sizeof zero);
}

/* Stores zeros. No optimiser may drop the stores, although the memory is not read again. */
HLI_INLINE void hli_wipe(void *p, size_t nbytes)
{
    hli_zero(p, nbytes);
    __asm__ volatile("" : : "r"(p) : "memory");
}

HLI_INLINE int hli_same_text(const char *a, const char *b)
{
    while (*a != '\0' && *a == *b)
        a++, b++;
    return *a == *b;
}

/* Number of zero bits at the lower (ctz) and upper (clz) end of x, which is not 0. RISC-V without Zbb has no
 * instruction for them, and there the builtins call into the compiler's library. */
HLI_INLINE unsigned hli_ctz32(uint32_t x)
{
#if defined(__riscv) && !defined(__riscv_zbb)
    unsigned n = 0;

    for (unsigned half = 16; half > 0; half /= 2)
        if ((x & ((UINT32_C(1) << half) - 1)) == 0)
            x >>= half, n += half;
    return n;
#else
    return (unsigned)__builtin_ctz(x);
#endif
}

HLI_INLINE unsigned hli_clz64(uint64_t x)
{
#if defined(__riscv) && !defined(__riscv_zbb)
    unsigned n = 63;

    for (unsigned half = 32; half > 0; half /= 2)
        if (x >> half != 0)
            x >>= half, n -= half;
    return n;
#else
    return (unsigned)__builtin_clzll(x);
#endif
}

/* Words in memory. big_endian is a literal: compilers make one load or store of each function, and a byte swap if
 * needed. */
HLI_INLINE uint32_t hli_load32(const uint8_t *p, int big_endian)
{
    return big_endian ? (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3]
                      : (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

HLI_INLINE uint64_t hli_load64(const uint8_t *p, int big_endian)
{
    const uint64_t first = hli_load32(p, big_endian), second = hli_load32(p + 4, big_endian);

    return big_endian ? first << 32 | second : second << 32 | first;
}

HLI_INLINE void hli_store32(uint8_t *p, uint32_t x, int big_endian)
{
    p[0] = (uint8_t)(big_endian ? x >> 24 : x);
    p[1] = (uint8_t)(big_endian ? x >> 16 : x >> 8);
    p[2] = (uint8_t)(big_endian ? x >> 8 : x >> 16);
    p[3] = (uint8_t)(big_endian ? x : x >> 24);
}

HLI_INLINE void hli_store64(uint8_t *p, uint64_t x, int big_endian)
{
    hli_store32(p, (uint32_t)(big_endian ? x >> 32 : x), big_endian);
    hli_store32(p + 4, (uint32_t)(big_endian ? x : x >> 32), big_endian);
}

/* alg/constants.c */
/* A sponge begins with zeros. Its kernels may load 16 bytes at a time behind a block. */
extern const uint64_t hli_sponge_iv[HL_STATE_MAX_NBYTES / 8] HLI_HIDDEN;
extern const uint64_t hli_keccak_rc[24] HLI_HIDDEN __attribute__((aligned(64)));
extern const uint32_t hli_sha1_iv[8] HLI_HIDDEN; /* 5 words, and zeros that are copied with them */
extern const uint32_t hli_sha1_k[4] HLI_HIDDEN;
extern const uint32_t hli_sha224_iv[8] HLI_HIDDEN;
extern const uint32_t hli_sha256_iv[8] HLI_HIDDEN;
extern const uint32_t hli_sha256_k[64] HLI_HIDDEN __attribute__((aligned(64)));
extern const uint64_t hli_sha384_iv[8] HLI_HIDDEN;
extern const uint64_t hli_sha512_iv[8] HLI_HIDDEN;
extern const uint64_t hli_sha512_224_iv[8] HLI_HIDDEN;
extern const uint64_t hli_sha512_256_iv[8] HLI_HIDDEN;
extern const uint64_t hli_sha512_k[80] HLI_HIDDEN;
extern const uint32_t hli_ripemd160_k[2][5] HLI_HIDDEN;
extern const uint32_t hli_sha1_schedule_64[80] HLI_HIDDEN;
extern const uint32_t hli_sha256_schedule_64[64] HLI_HIDDEN;
extern const uint32_t hli_md5_t[64] HLI_HIDDEN;
extern const uint64_t hli_blake2b_iv[12] HLI_HIDDEN;
extern const uint64_t hli_blake2b_256_iv[12] HLI_HIDDEN;
extern const uint32_t hli_blake2s_iv[16] HLI_HIDDEN; /* 12 words, and zeros that are copied with them */
extern const uint32_t hli_blake3_iv[16] HLI_HIDDEN;  /* 13 words, likewise */
extern const uint32_t hli_sm3_iv[8] HLI_HIDDEN;
extern const uint32_t hli_sm3_k[64] HLI_HIDDEN;

enum { NWORDS_OF_BLAKE3 = 13 };
enum { HLI_COUNTER = 8 }; /* the word of the counter */
/* Sets a lane's counter to the bytes before its last block, less those that the block lacks, and the mark. BLAKE3: the
 * bytes in the last block, and its flags. nwords: of the state. */
HLI_INLINE void hli_mark_lane(unsigned nwords, unsigned word_nbytes, void *states, unsigned nlanes, unsigned lane,
                              uint64_t before)
{
    if (nwords == NWORDS_OF_BLAKE3) {
        uint32_t *const word = (uint32_t *)states + HLI_COUNTER * nlanes + lane;
        const uint32_t last = (uint32_t)before + 63; /* the place of the last byte in the chunk, or -1: there is none */
        word[2 * nlanes] = last % 64 + 1 - (last >> 31) * 64;
        word[3 * nlanes] |= word[4 * nlanes];
    } else if (word_nbytes == 8) {
        uint64_t *const word = (uint64_t *)states + HLI_COUNTER * nlanes + lane;
        word[0] = before;
        word[nlanes] = UINT64_MAX;
    } else {
        uint32_t *const word = (uint32_t *)states + HLI_COUNTER * nlanes + lane;
        word[0] = (uint32_t)before;
        word[nlanes] = (uint32_t)(before >> 32);
        word[2 * nlanes] = UINT32_MAX;
    }
}
/* The arguments of a kernel (hl_blocks_fn) whose blocks have one size. */
#define HLI_BLOCKS_ARGS \
    void *state, const uint8_t *const msg[], size_t nblocks, unsigned block_nbytes __attribute__((unused))
/* An order of bytes: little-endian, and zeros alone behind the message. The others are 1, big-endian, and 0. */
#define LV_COUNTED 2

/* Whether a digest has 16, 20, 24, 28, 32, 48 or 64 bytes: lengths that are written a word at a time. */
HLI_INLINE int hli_is_even(size_t digest_nbytes)
{
    return digest_nbytes <= 64 && digest_nbytes % 4 == 0 && (UINT32_C(0x111f0) >> digest_nbytes / 4 & 1) != 0;
}

/* Element i of streams or keys, which are stride bytes apart. If stride is 0, there is only one. */
HLI_INLINE const void *hli_nth(const void *first, size_t i, size_t stride)
{
    return (const uint8_t *)first + i * stride;
}

/* Writes the last `nblocks` blocks of n messages: for each the bytes left after nwhole bytes, and the padding. Message
 * i's blocks are written at out + i * hli_tail_nbytes(alg), in whole pairs of words; out is aligned to 64 bytes.
 * rests[i] may be NULL if nrests[i] is 0. */
typedef void hli_pad_fn(const hl_alg_info *alg, unsigned nblocks, const uint8_t *const rests[], const size_t nrests[],
                        uint64_t nwhole, unsigned n, uint8_t *out);
/* Writes the digests of the first n lanes. */
typedef void hli_digests_fn(const hl_alg_info *alg, const void *states, unsigned nlanes, unsigned n,
                            uint8_t *const digests[]);
/* In plain C, for any number of lanes (edges.c). */
HLI_HIDDEN hli_pad_fn hli_pad_scalar;
HLI_HIDDEN hli_digests_fn hli_digests_scalar;
struct hli_edges {
    hli_pad_fn *pad;
    hli_digests_fn *digests;
};

/* A function that hashes whole messages, as many as its kernel has lanes, from memory to digest. */
struct hli_whole {
    const void *begin;    /* the state in which all of them begin, in the plain layout */
    uint32_t before;      /* number of bytes hashed into that state; less than HLI_WHOLE_BEFORE_NBYTES */
    uint32_t nblocks;     /* number of blocks of each message, up to hli_whole_nblocks: with the padding, unless there
                           * is a */
    const void *schedule; /* schedule of a padding block: each message is then exactly one block. BLAKE3: of chunks, two
                           * pointers, to the lower and the upper words of their numbers; NULL: as in `begin` */
    size_t digest_nbytes;
    int is_one_length;    /* all messages are as long as the first */
    unsigned block_nbytes; /* for a sponge: of its algorithm */
    unsigned suffix;       /* likewise */
};
/* Whether block b of such messages ends with their lengths. */
HLI_INLINE int hli_ends_in(const struct hli_whole *whole, unsigned b)
{
    return b + 1 == whole->nblocks && whole->schedule == NULL;
}
typedef void hli_whole_fn(const struct hli_whole *whole, const uint8_t *const data[], const size_t nbytes[],
                          uint8_t *const digests[]);
#define HLI_WHOLE_BEFORE_NBYTES (UINT32_C(1) << 28) /* the length in bits is one word of 32 bits */
/* The bytes behind a message's end: zeros, 0x80 at HLI_ONE_BIT_AT, zeros. Two blocks of 128 bytes, or four of 64, find
 * a place on either side (edges.c). */
#define HLI_ONE_BIT_AT 256
extern const uint8_t hli_one_bit[HLI_ONE_BIT_AT + 256] HLI_HIDDEN;
/* 16 bytes of ones, then zeros: the 16 bytes from 16 - n on are a mask of the first n (edges.c). */
extern const uint8_t hli_first_bytes[32] HLI_HIDDEN;
/* An order for a shuffle of bytes: with the 16 from 16 - n on, the last n bytes of a register become the first, with
 * zeros behind (edges.c). */
extern const uint8_t hli_last_first[32] HLI_HIDDEN;

/* Advances all lanes by one block whose words are given: word t of lane l is word number t * nlanes + l, in the
 * machine's byte order. Aligned like the state. */
typedef void hli_words_fn(void *state, const void *words);

/* A block of each lane that is hashed again and again (chain.c): each time the digest's first bytes replace those at
 * `at`, and the byte at count_at becomes one more. */
struct hli_links {
    unsigned nsteps;       /* 1 or more */
    unsigned block_nbytes;
    unsigned at, nbytes;   /* the place of the digest, and how much of it is put there */
    unsigned count_at;     /* block_nbytes: none */
};
/* From the padded blocks at msg, which it only reads, to the states after the last hash. Each hash begins in the states
 * `begin`. Both are in the kernel's layout. 0, and nothing is done, if the function is not for these places. */
typedef int hli_chain_fn(const struct hli_links *links, const void *begin, void *states, const uint8_t *const msg[]);

/* possible[i] = the disturbance vectors, by their rows in sha1dc.def, that the block at msg[i] leaves possible. As
 * many blocks as the function has lanes; possible is aligned to the lanes. */
typedef void hli_possible_fn(const uint8_t *const msg[], uint32_t *possible);
/* As many tries of one vector with one block as the detector has lanes; word i of try l is at i * lanes + l. */
struct hli_tries {
    const uint8_t *blocks[HL_LANES_MAX];
    const uint8_t *differences[HL_LANES_MAX]; /* of the words of the other block: 16 words */
    uint32_t rotated[HL_LANES_MAX] __attribute__((aligned(64))); /* ones if these words are rotated by 2 */
    uint32_t late[HL_LANES_MAX];                                 /* ones if HLI_SHA1DC_STEP is 65 */
    uint32_t ends[5 * HL_LANES_MAX];                             /* the states after the last step */
    uint32_t after[5 * HL_LANES_MAX];                            /* the chaining values after the block */
};
/* differ[l] = 0 if the two blocks of try l are those of an attack. */
typedef void hli_differ_fn(const struct hli_tries *tries, uint32_t *differ);
/* The state after that number of steps is the same for both blocks of an attack by a vector with k. */
#define HLI_SHA1DC_STEP(k) ((k) < 50 ? 58u : 65u)
/* A DETECT row of registry.def. blocks() hashes and searches: `state` is followed by a state for each block, whose
 * sixth word is what possible() says of the block. */
struct hli_detector {
    hli_possible_fn *possible;
    hli_differ_fn *differ;
    hl_blocks_fn *blocks;
    uint32_t nlanes, from, isas, apart, with;
};
/* Advances all lanes of HL_SHA1DC (sha1dc.c). */
HLI_HIDDEN void hli_sha1dc_advance(const hl_kernel *kernel, uint32_t *states, const uint8_t *const msg[],
                                   size_t nblocks);

#endif
