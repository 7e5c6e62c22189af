/* hashloom.h: hash many independent messages at once (the only public header of libhashloom).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One SHA-1 or SHA-2 is a serial chain of steps. hashloom puts message i into lane i of a SIMD register, so that
 * one instruction advances up to 16 messages, and chooses at run time the fastest kernel that the CPU has for the
 * number of messages at hand.
 *
 * What holds for every function here, unless its own comment says otherwise:
 *
 *   threads     All functions are reentrant and may be called from any number of threads at once, including the very
 *               first call. Two threads may not use the same hl_ctx at the same time.
 *   memory      Nothing is allocated, no file or environment variable is read, nothing is kept after return.
 *               The stack used is below 32 KiB (when compiled with optimisation).
 *   lengths     In bytes. Zero is a length like any other; then the data pointer may be NULL.
 *               A message may have up to HL_MESSAGE_MAX_NBYTES bytes (FIPS 180-4 allows 2^64 - 1 bits).
 *   alignment   None is asked of messages or digests.
 *   overlap     Messages may overlap each other. Digests must not overlap messages.
 *   errors      HL_OK (0) or an hl_status. Arguments are checked before anything is written: after an error the
 *               digests and contexts are as they were.
 *   digests     Digest i of a call is written at digests + i * digest size, in the byte order of the standard, and
 *               is equal to that of any other implementation of the algorithm.
 *   secrets     A call that is given a key, or a job that says is_secret, overwrites what it has left of keys and
 *               states before it returns: on the stack, as deep as it went, and, on x86 and 64-bit ARM, in the vector
 *               registers and in the general registers that a call may change. (Kernels compiled without optimisation,
 *               by a bare `clang -O0`, spill more.) Keys and contexts are the caller's to wipe. Messages and digests
 *               may stay.
 *   sizes       The sizes of structures and the constants HL_..._MAX_NBYTES hold for later versions: contexts and keys
 *               have room for a state of 200 bytes and a block of 168, as SHA-3 and SHAKE128 have them.
 */
#ifndef HASHLOOM_H
#define HASHLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HL_VERSION_MAJOR 0
#define HL_VERSION_MINOR 1
#define HL_VERSION_PATCH 0

/* HL_SHARED: the shared library is being built. HL_DLL: a program for Windows uses it (CMake's target says so). */
#if defined(_WIN32) && defined(HL_SHARED)
#  define HL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(HL_DLL)
#  define HL_API __declspec(dllimport)
#elif defined(HL_SHARED) && defined(__GNUC__)
#  define HL_API __attribute__((visibility("default")))
#else
#  define HL_API
#endif

/* ---- Algorithms ------------------------------------------------------------------------------------------------ */

/* The values are part of the ABI.
 *
 * SHA-1 and MD5 are not collision resistant: whoever makes a file can make another with the same digest, for MD5 within
 * seconds on any machine. Use neither for signatures, nor for names or caches of what others may have made, nor to tell
 * whether a file was tampered with. They are here for formats that prescribe them (Git, BitTorrent; S3's ETags), and
 * find damage that nobody intended. HMAC with them is not known to be broken, but nothing new should use it. */
typedef enum hl_alg {
    HL_SHA1       = 1, /* FIPS 180-4 section 6.1. For existing formats only (see below). */
    HL_SHA256     = 2, /* FIPS 180-4 section 6.2 */
    HL_SHA224     = 3, /* FIPS 180-4 section 6.3 */
    HL_SHA384     = 4, /* FIPS 180-4 section 6.5 */
    HL_SHA512     = 5, /* FIPS 180-4 section 6.4 */
    HL_SHA512_224 = 6, /* FIPS 180-4 section 6.6: SHA-512/224 */
    HL_SHA512_256 = 7, /* FIPS 180-4 section 6.7: SHA-512/256 */
    HL_RIPEMD160  = 8, /* Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3 */
    HL_MD5        = 9  /* RFC 1321. For existing formats only. */
} hl_alg;

#define HL_SHA1_DIGEST_NBYTES       20
#define HL_SHA224_DIGEST_NBYTES     28
#define HL_SHA256_DIGEST_NBYTES     32
#define HL_SHA384_DIGEST_NBYTES     48
#define HL_SHA512_DIGEST_NBYTES     64
#define HL_SHA512_224_DIGEST_NBYTES 28
#define HL_SHA512_256_DIGEST_NBYTES 32
#define HL_RIPEMD160_DIGEST_NBYTES  20
#define HL_MD5_DIGEST_NBYTES        16
#define HL_DIGEST_MAX_NBYTES        64  /* room for any digest of this and later versions */
#define HL_BLOCK_MAX_NBYTES         168 /* room for any block of this and later versions */
#define HL_STATE_MAX_NBYTES         200 /* room for any state of this and later versions */
#define HL_MESSAGE_MAX_NBYTES       ((UINT64_C(1) << 61) - 1)

/* The block function that an algorithm iterates ("hash computation" in FIPS 180-4). Several algorithms can share one:
 * SHA-224 is SHA-256's with another initial value. Kernels implement block functions. */
typedef enum hl_body {
    HL_BODY_SHA1      = 0,
    HL_BODY_SHA256    = 1, /* SHA-224 too */
    HL_BODY_SHA512    = 2, /* SHA-384 and SHA-512/t too */
    HL_BODY_RIPEMD160 = 3,
    HL_BODY_MD5       = 4
} hl_body;

typedef struct hl_alg_info {
    const char *name;          /* "sha1", "sha224", "sha256", "sha384", "sha512", "sha512-224", "sha512-256",
                                * "ripemd160", "md5" */
    hl_alg      alg;
    hl_body     body;
    unsigned    digest_nbytes; /* 16 to 64 */
    unsigned    block_nbytes;  /* 64, 128 */
    unsigned    word_nbytes;   /* 4, 8: bytes in a word of the state */
    unsigned    nwords;        /* 4, 5, 8: words in the state */
    int         big_endian;    /* words stand in messages and digests in this byte order; 0 for RIPEMD-160, MD5 */
    const void *iv;            /* initial state: nwords words in the machine's byte order */
} hl_alg_info;

/* All algorithms, i = 0 .. hl_alg_count() - 1; NULL beyond. */
HL_API size_t hl_alg_count(void);
HL_API const hl_alg_info *hl_alg_at(size_t i);
/* The description of one algorithm; NULL if alg is none of enum hl_alg. */
HL_API const hl_alg_info *hl_alg_find(hl_alg alg);
/* By name ("sha256"), exact, lower case; NULL if there is none of that name. */
HL_API const hl_alg_info *hl_alg_named(const char *name);

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

typedef enum hl_status {
    HL_OK = 0,
    HL_EALG,     /* the algorithm is none of enum hl_alg */
    HL_ENULL,    /* a pointer is NULL where bytes are to be read or written */
    HL_ELENGTH,  /* a message is longer than HL_MESSAGE_MAX_NBYTES, or a size does not fit size_t */
    HL_EOFFSETS, /* offsets decrease, are negative, end beyond the values, or are not of 4 or 8 bytes */
    HL_ESTATE,   /* a context or key was not initialised, is already final, or is of another algorithm than the rest */
    HL_EISA,     /* an instruction set is unknown or this machine does not have it */
    HL_EKERNEL,  /* the kernel that is to be used is not of the algorithm's body */
    HL_ETAG,     /* hl_hmac_verify: the tag is not that of the message */
    HL_EJOB,     /* hl_run: a field is of a later version, or two fields contradict each other */
    HL_EIMPORT   /* the bytes are no exported stream of this kind, or one of a later version */
} hl_status;

/* One English sentence without a full stop, never NULL. */
HL_API const char *hl_strerror(hl_status status);

/* "0.1.0" */
HL_API const char *hl_version(void);

/* ---- One message ----------------------------------------------------------------------------------------------- */

/* digest = alg(data[0 .. nbytes - 1]). */
HL_API hl_status hl_hash(hl_alg alg, const void *data, size_t nbytes, uint8_t *digest);

/* ---- Many messages --------------------------------------------------------------------------------------------- */

/* A message: the same layout as POSIX's struct iovec. data may be NULL if nbytes is 0. */
typedef struct hl_slice {
    const void *data;
    size_t      nbytes;
} hl_slice;

/* digests[i] = alg(messages[i]), i = 0 .. count - 1. Any number of messages of any mixture of lengths; neighbours of
 * similar length are fastest. digests has room for count * digest size bytes. */
HL_API hl_status hl_hash_many(hl_alg alg, const hl_slice *messages, size_t count, uint8_t *digests);

/* Messages of one length at a regular distance: message i is nbytes bytes at base + i * stride. For pieces of a
 * buffer (stride == nbytes), columns of a table (stride > nbytes), overlapping windows (stride < nbytes). */
HL_API hl_status hl_hash_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count,
                              uint8_t *digests);

/* A column of variable length in Apache Arrow's layout: message i is values[offsets[i] .. offsets[i + 1] - 1].
 * offsets has count + 1 entries, signed integers of offset_nbytes (4 or 8) bytes in the machine's byte order, naturally
 * aligned, not decreasing, the last at most values_nbytes. If count is 0 nothing is read: offsets may be NULL. */
HL_API hl_status hl_hash_offsets(hl_alg alg, const void *values, size_t values_nbytes, const void *offsets,
                                 unsigned offset_nbytes, size_t count, uint8_t *digests);

/* ---- Streams: messages that arrive in parts -------------------------------------------------------------------- */

/* A state: nwords words of word_nbytes, packed, in the machine's order, like iv. What follows them is room for later
 * algorithms. */
typedef union hl_state {
    uint32_t w32[HL_STATE_MAX_NBYTES / 4];
    uint64_t w64[HL_STATE_MAX_NBYTES / 8];
} hl_state;

/* A running computation. It holds no pointer and needs no destructor: it may be copied (a copy goes on independently)
 * and dropped at any time. The fields are for this library and its tests. */
typedef struct hl_ctx {
    hl_state state;
    uint64_t nbytes;                     /* bytes of message so far */
    uint8_t  block[HL_BLOCK_MAX_NBYTES]; /* its last nbytes % block_nbytes bytes, not hashed yet */
    uint32_t alg;                        /* an hl_alg, or 0: not initialised or already final */
    uint32_t reserved;
} hl_ctx;

HL_API hl_status hl_init(hl_ctx *ctx, hl_alg alg);
/* Appends data to the message. */
HL_API hl_status hl_update(hl_ctx *ctx, const void *data, size_t nbytes);
/* Writes the digest and wipes the context, which must be initialised again before its next use. */
HL_API hl_status hl_final(hl_ctx *ctx, uint8_t *digest);

/* Appends chunks[i] to the message of ctxs[i], i = 0 .. count - 1, all streams side by side in lanes: the way to hash
 * many files that are read in parts. The contexts are of one algorithm and all different (the same context twice in one
 * call gives undefined digests). Chunks may have different lengths. */
HL_API hl_status hl_update_many(hl_ctx *const ctxs[], const hl_slice *chunks, size_t count);
/* digests[i] = the digest of ctxs[i]; wipes the contexts. The conditions on ctxs are those of hl_update_many. */
HL_API hl_status hl_final_many(hl_ctx *const ctxs[], size_t count, uint8_t *digests);

/* Streams as bytes, to be kept, sent, and gone on from by any machine (Go's MarshalBinary, C_GetOperationState). Every
 * stream has one form only:
 *
 *     4 bytes         "hlc1"; of an HMAC "hlm1". The digit is the version of the format.
 *     4               the algorithm, an hl_alg
 *     8               the number of bytes hashed so far; of an HMAC with the block of its key
 *     nwords words    the state
 *     nwords words    of an HMAC only: the state that its second hash begins in
 *     block_nbytes    the bytes that do not fill a block yet, then zeros
 *
 * All numbers and words are big-endian. The bytes of an HMAC are as secret as its key. */
#define HL_EXPORT_MAX_NBYTES 640 /* room for any export of this and later versions */

/* Writes the stream to bytes[0 .. *nbytes - 1]. The stream may go on. HL_ELENGTH if `room` is too little. */
HL_API hl_status hl_export(const hl_ctx *ctx, uint8_t *bytes, size_t room, size_t *nbytes);
/* Initialises ctx from all of bytes[0 .. nbytes - 1]. Any bytes may be given: those that no hl_export has written are
 * HL_EIMPORT, and the context stays as it was. A state that was made up gives digests, but no harm. */
HL_API hl_status hl_import(hl_ctx *ctx, const uint8_t *bytes, size_t nbytes);

/* ---- HMAC: messages that a key vouches for (FIPS 198-1, RFC 2104) ----------------------------------------------- */

/* A key, ready for use: the states of the two hashes after their first blocks, which are the key xored with ipad and
 * with opad. It holds no pointer and may be copied. Any number of threads may use one key at once. It is as secret as
 * the bytes that it was made of, to be wiped when no longer needed. The fields are for this library and its bindings.
 */
typedef struct hl_hmac_key {
    hl_state inner;
    hl_state outer;
    uint32_t alg; /* an hl_alg, or 0: not initialised, or wiped */
    uint32_t reserved;
} hl_hmac_key;

/* Prepares a key of any length, zero included: one of more than block_nbytes bytes is replaced by its digest (FIPS
 * 198-1 section 4). digest_nbytes random bytes are as strong as it gets (RFC 2104 section 3). */
HL_API hl_status hl_hmac_key_init(hl_hmac_key *key, hl_alg alg, const void *secret, size_t nbytes);
/* Overwrites the key with zeros. NULL is left alone. */
HL_API void hl_hmac_key_wipe(hl_hmac_key *key);

/* Tags are of the algorithm's digest_nbytes bytes; where a protocol truncates them, take the first ones (FIPS 198-1
 * section 5). A message may have up to HL_MESSAGE_MAX_NBYTES - block_nbytes bytes, as the key's block goes before it. A
 * key that is not initialised is HL_ESTATE. */

/* tag = HMAC(key, data[0 .. nbytes - 1]). */
HL_API hl_status hl_hmac(const hl_hmac_key *key, const void *data, size_t nbytes, uint8_t *tag);
/* tags[i] = HMAC(key, messages[i]), i = 0 .. count - 1, both hashes of all messages side by side in lanes: what
 * hl_hash_many is to hl_hash. Tag i is written at tags + i * digest_nbytes. */
HL_API hl_status hl_hmac_many(const hl_hmac_key *key, const hl_slice *messages, size_t count, uint8_t *tags);
/* tags[i] = HMAC(keys[i], messages[i]): a key for each message, all keys of one algorithm. Rows and columns
 * (hl_messages), and keys that lie further apart, go through hl_run. */
HL_API hl_status hl_hmac_many_keys(const hl_hmac_key *keys, const hl_slice *messages, size_t count, uint8_t *tags);
/* HL_OK if tag[0 .. tag_nbytes - 1] are the first bytes of the message's tag, HL_ETAG if not, in a time that does not
 * depend on where they differ. tag_nbytes is what the protocol says, never what a sender sent: from 10 bytes, the least
 * that RFC 2104 section 5 allows, to digest_nbytes; all else is HL_ELENGTH. */
HL_API hl_status hl_hmac_verify(const hl_hmac_key *key, const void *data, size_t nbytes, const uint8_t *tag,
                                size_t tag_nbytes);

/* A message that arrives in parts. Holds no pointer, also not to the key, and may be copied; a copy goes on
 * independently. It is as secret as the key: what is dropped before hl_hmac_final has wiped it should be wiped. */
typedef struct hl_hmac_ctx {
    hl_ctx   inner; /* the first hash */
    hl_state outer; /* where the second begins */
} hl_hmac_ctx;

HL_API hl_status hl_hmac_init(hl_hmac_ctx *ctx, const hl_hmac_key *key);
/* Appends data to the message. */
HL_API hl_status hl_hmac_update(hl_hmac_ctx *ctx, const void *data, size_t nbytes);
/* Writes the tag and wipes the context, which must be initialised again before its next use. */
HL_API hl_status hl_hmac_final(hl_hmac_ctx *ctx, uint8_t *tag);
/* Many HMAC streams at once, side by side in lanes, as hl_update_many and hl_final_many. Each stream has a key of its
 * own. */
HL_API hl_status hl_hmac_update_many(hl_hmac_ctx *const ctxs[], const hl_slice *chunks, size_t count);
HL_API hl_status hl_hmac_final_many(hl_hmac_ctx *const ctxs[], size_t count, uint8_t *tags);

/* As hl_export and hl_import. */
HL_API hl_status hl_hmac_export(const hl_hmac_ctx *ctx, uint8_t *bytes, size_t room, size_t *nbytes);
HL_API hl_status hl_hmac_import(hl_hmac_ctx *ctx, const uint8_t *bytes, size_t nbytes);

/* PBKDF2 with HMAC (RFC 8018 section 5.2): key i, key_nbytes bytes at keys + i * key_nbytes, is derived from
 * passwords[i] and salts[i] by niterations >= 1 iterations, i = 0 .. count - 1. All blocks of all keys run side by side
 * in lanes, so that 16 passwords take little longer than one. HL_ELENGTH if niterations is 0 or key_nbytes is not
 * between 1 and (2^32 - 1) * digest_nbytes. */
HL_API hl_status hl_pbkdf2_many(hl_alg alg, const hl_slice *passwords, const hl_slice *salts, uint32_t niterations,
                                size_t count, uint8_t *keys, size_t key_nbytes);

/* 1 if the bytes at a and at b are equal, else 0, in a time that depends on nbytes only: for tags, keys and other
 * secrets. Of 0 bytes it is 1, and the pointers may be NULL. */
HL_API int hl_equal(const void *a, const void *b, size_t nbytes);

/* ---- Kernels and the choice among them ------------------------------------------------------------------------- */

/* The instruction sets that this build has kernels for, i = 0 .. hl_isa_count() - 1, from the plainest on. In a
 * set of them (hl_isas), instruction set i is bit i. */
typedef uint32_t hl_isas;

HL_API size_t      hl_isa_count(void);
/* "scalar", "gnu", "sse2", "avx2", "avx512", "sha"; NULL beyond the last. */
HL_API const char *hl_isa_name(size_t i);
/* The set that has the one instruction set of that name (exact, lower case), or 0 if this build knows none such. */
HL_API hl_isas     hl_isa_named(const char *name);
/* Those that this machine, its operating system included, can run. */
HL_API hl_isas     hl_isas_available(void);
/* Those that may be chosen now: all available ones, or what hl_restrict left. */
HL_API hl_isas     hl_isas_allowed(void);
/* From now on, in the whole process, choose only kernels of these instruction sets; 0 takes the restriction back. If
 * they leave an algorithm without a kernel ("sha" has none of SHA-512), plain C ("scalar") is allowed beside them, so
 * that no call can fail for want of one; hl_isas_allowed then tells of it, too. HL_EISA, and no change, if one of them
 * is not available. Safe at any time: every digest is right whatever is chosen, and a call under way ends with the
 * choice that it began with. Meant for tests, benchmarks and finding faults. */
HL_API hl_status   hl_restrict(hl_isas isas);

/* Advances `nlanes` independent states by nblocks >= 1 whole blocks each. No padding, no finishing.
 *   state   word w of lane l is word number w * nlanes + l; aligned to nlanes * word_nbytes bytes (at most 64), or, if
 *           that is no power of two, to word_nbytes.
 *   msg     nlanes pointers, each to nblocks * block_nbytes readable bytes of any alignment. They may be equal: an idle
 *           lane is pointed at some other lane's message. */
typedef void hl_blocks_fn(void *state, const uint8_t *const msg[], size_t nblocks);

/* Advances all lanes by one block that is the same in all of them and whose message schedule is known: word t of
 * schedule, a word of the state's size and aligned to it, is W[t] + K[t] of round t (FIPS 180-4 sections 6.1.2, 6.2.2
 * and 6.4.2); of RIPEMD-160, word 16 * (5 * s + j) + i is X[i] + K of round j, s = 0 the left line, 1 the right;
 * of MD5, word t is X[k] + T of step t.
 * Messages of one length that is a multiple of the block size end in such a block: it is all padding. */
typedef void hl_scheduled_fn(void *state, const void *schedule);

typedef struct hl_kernel {
    const char      *name;      /* "sha256_blocks_avx2": no other kernel has it */
    const char      *isa;       /* name of its instruction set */
    hl_body          body;
    unsigned         nlanes;    /* messages that one call advances */
    hl_isas          isas;      /* its instruction set, as a set */
    hl_blocks_fn    *blocks;
    hl_scheduled_fn *scheduled; /* NULL if the kernel has none */
} hl_kernel;

#define HL_LANES_MAX 16
/* The stack that one call of any kernel takes at most, in an optimised build. Go and others whose stacks are small can
 * provide for it. */
#define HL_KERNEL_STACK_NBYTES 5120

/* All kernels of this build, i = 0 .. hl_kernel_count() - 1, whether this machine can run them or not; NULL beyond.
 * A kernel may be called if (kernel->isas & hl_isas_available()) != 0. */
HL_API size_t           hl_kernel_count(void);
HL_API const hl_kernel *hl_kernel_at(size_t i);
/* The kernel that is chosen when nmessages >= 1 messages of this algorithm are left to do (of many short ones it may be
 * one of more lanes); NULL if alg is unknown. */
HL_API const hl_kernel *hl_kernel_chosen(hl_alg alg, size_t nmessages);
/* hl_hash_many with this kernel, one of hl_kernel_at's, and no other, whatever hl_restrict says. HL_EKERNEL if the
 * kernel is not of alg's body, HL_EISA if this machine cannot run it. (A job's second algorithm uses the kernel if
 * it is of that body, too.) */
HL_API hl_status hl_hash_many_with(const hl_kernel *kernel, hl_alg alg, const hl_slice *messages, size_t count,
                                   uint8_t *digests);

/* ---- Jobs: any messages, and what is done with them ------------------------------------------------------------- */

/* How messages lie in memory. The values are part of the ABI. */
typedef enum hl_layout {
    HL_SLICES    = 0, /* as hl_hash_many takes them */
    HL_ROWS      = 1, /* as hl_hash_rows */
    HL_OFFSETS32 = 2, /* as hl_hash_offsets, with offsets of 4 bytes */
    HL_OFFSETS64 = 3  /* with offsets of 8 */
} hl_layout;

typedef struct hl_messages {
    uint32_t    layout;  /* an hl_layout */
    uint32_t    reserved;
    size_t      count;
    const void *base;    /* HL_SLICES: hl_slice[count]; HL_ROWS: the first row; HL_OFFSETSx: the values */
    size_t      stride;  /* HL_ROWS: bytes from one row to the next */
    size_t      nbytes;  /* HL_ROWS: of each row; HL_OFFSETSx: of the values */
    const void *offsets; /* HL_OFFSETSx: count + 1 of them */
} hl_messages;

/* The job of one hl_run. Begin with zeros and set nbytes, alg, messages and digests: zero in any other field means that the
 * job has no such part. The digest of message i is then
 *
 *     alg(m)                  with m = message i, or what begin has hashed, followed by message i
 *     HMAC(keys[i], m)        if there are keys
 *     again(alg(m))           if there is a second algorithm
 *
 * All other calls that take whole messages are short names for a job. */
typedef struct hl_job {
    size_t             nbytes;        /* sizeof(hl_job): which fields the caller's version has */
    uint32_t           alg;           /* an hl_alg; may be 0 if there are keys, whose algorithm counts */
    uint32_t           again;         /* an hl_alg: the digest is hashed once more. SHA-256 of SHA-256, RIPEMD-160 of
                                       * SHA-256. Not with keys. */
    hl_messages        messages;
    uint8_t           *digests;       /* of the second algorithm, if there is one */
    size_t             digest_stride; /* bytes from one digest to the next; 0: the digest size */
    const hl_ctx      *begin;         /* streams of alg, any number of bytes into their messages: message i goes on from
                                       * the one at begin + i * begin_stride (bytes). They are only read. Not with keys.
                                       */
    size_t             begin_stride;  /* 0: all messages go on from one stream; whole blocks of it cost nothing */
    const hl_hmac_key *keys;          /* the key of message i at keys + i * key_stride (bytes), all of one algorithm */
    size_t             key_stride;    /* 0: one key for all messages */
    const hl_kernel   *kernel;        /* this kernel and no other, as with hl_hash_many_with */
    uint32_t           is_secret;     /* 1: leave nothing of states on the stack and in registers. Keys say so, too. */
    uint32_t           reserved;
} hl_job;

/* HL_EJOB if nbytes is less than this structure's size, if fields that only a later version has are not zero, or if the
 * fields exclude each other. With an error nothing has been written. */
HL_API hl_status hl_run(const hl_job *job);

#ifdef __cplusplus
}
#endif
#endif
