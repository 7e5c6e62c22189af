/* hashloom.h: hash many independent messages at once (the only public header of libhashloom).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One SHA-1 or SHA-2 is a serial chain of steps. hashloom puts message i into lane i of a SIMD register, so that one
 * instruction advances up to 16 messages. At run time it chooses the fastest kernel that the CPU has for the number of
 * messages.
 *
 * These rules hold for every function here, unless its own comment says otherwise:
 *
 *   threads     All functions are reentrant: any number of threads may call them at once, even in the very first call.
 *               Two threads may not use the same hl_ctx at the same time.
 *   memory      Nothing is allocated, no file or environment variable is read, and no pointer is kept after return.
 *               The stack used is below 32 KiB, for HL_SHA1DC below 48 KiB (when compiled with optimisation).
 *   lengths     In bytes. Zero is a length like any other; the data pointer may then be NULL.
 *               A message may have up to HL_MESSAGE_MAX_NBYTES bytes (FIPS 180-4 allows 2^64 - 1 bits).
 *   alignment   Messages and digests may have any alignment.
 *   overlap     Messages may overlap each other. Nothing that a call writes may overlap anything else that it reads or
 *               writes. One exception: digests may lie over rows (HL_ROWS) and between them, as where a layer of a tree
 *               is hashed in place, if digest i ends before row i + 1 begins and digests are no further apart than
 *               rows. Otherwise HL_EJOB.
 *   errors      HL_OK (0) or an hl_status. Arguments are checked before anything is written: an error leaves digests
 *               and contexts unchanged.
 *   digests     Digest i of a call is written at digests + i * digest size, in the byte order of the standard. It
 *               equals the digest of any other implementation of the algorithm.
 *   secrets     A call with a key, or a job with is_secret, overwrites its traces of keys and states before it returns:
 *               on the stack, as deep as the call went, and, on x86 and 64-bit ARM, in the vector registers and in the
 *               general registers that a call may change. (Kernels compiled without optimisation, by a bare `clang
 *               -O0`, spill more.) The caller has to wipe keys and contexts. Traces of messages and digests may remain.
 *   sizes       The sizes of structures and the constants HL_..._MAX_NBYTES hold for later versions: contexts and keys
 *               have room for a state of 200 bytes and a block of 168, which SHA-3 and SHAKE128 need.
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

/* HL_SHARED: set while the shared library is built. HL_DLL: set for a Windows program that uses it (CMake does). */
#if defined(_WIN32) && defined(HL_SHARED)
#  define HL_API __declspec(dllexport)
#elif defined(_WIN32) && defined(HL_DLL)
#  define HL_API __declspec(dllimport)
#elif defined(HL_SHARED) && defined(__GNUC__)
#  define HL_API __attribute__((visibility("default")))
#else
#  define HL_API
#endif

/* A call whose status must be looked at: gcc and clang warn if it is not. */
#if defined(__GNUC__)
#  define HL_CALL HL_API __attribute__((warn_unused_result))
#else
#  define HL_CALL HL_API
#endif

/* ---- Algorithms ------------------------------------------------------------------------------------------------ */

/* The values are part of the ABI.
 *
 * SHA-1 and MD5 are not collision resistant: the author of a file can make another with the same digest, for MD5 within
 * seconds on any machine. Use neither for signatures, nor for names or caches of data that others may have made, nor to
 * detect tampering. They are here for formats that prescribe them (Git, BitTorrent; S3's ETags), and they find
 * accidental damage. HMAC with them is not known to be broken, but nothing new should use it.
 */
typedef enum hl_alg {
    HL_SHA1DC      = 63,  /* SHA-1 that finds collision attacks, see below */
    /* algorithms.py: c_enum */
    HL_SHA1        = 1, /* FIPS 180-4 section 6.1. For existing formats only */
    HL_SHA256      = 2, /* FIPS 180-4 section 6.2 */
    HL_SHA224      = 3, /* FIPS 180-4 section 6.3 */
    HL_SHA384      = 4, /* FIPS 180-4 section 6.5 */
    HL_SHA512      = 5, /* FIPS 180-4 section 6.4 */
    HL_SHA512_224  = 6, /* FIPS 180-4 section 6.6 */
    HL_SHA512_256  = 7, /* FIPS 180-4 section 6.7 */
    HL_RIPEMD160   = 8, /* Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3 */
    HL_MD5         = 9, /* RFC 1321. For existing formats only */
    HL_SHA3_224    = 10, /* FIPS 202 section 6.1 */
    HL_SHA3_256    = 11, /* FIPS 202 section 6.1 */
    HL_SHA3_384    = 12, /* FIPS 202 section 6.1 */
    HL_SHA3_512    = 13, /* FIPS 202 section 6.1 */
    HL_SHAKE128    = 14, /* FIPS 202 section 6.2; digests of any length, usually 32 bytes */
    HL_SHAKE256    = 15, /* FIPS 202 section 6.2; digests of any length, usually 64 bytes */
    HL_KECCAK_256  = 16, /* Keccak-256: Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum */
    HL_SM3         = 17, /* GB/T 32905-2016 */
    HL_BLAKE2B     = 18, /* BLAKE2b: RFC 7693 */
    HL_BLAKE2B_256 = 19, /* BLAKE2b-256: RFC 7693 */
    HL_BLAKE2S     = 20, /* BLAKE2s: RFC 7693 */
    HL_BLAKE3      = 21  /* O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020: BLAKE3 */
    /* algorithms.py: end */
} hl_alg;

/* algorithms.py: c_digest_sizes */
#define HL_SHA1_DIGEST_NBYTES        20
#define HL_SHA256_DIGEST_NBYTES      32
#define HL_SHA224_DIGEST_NBYTES      28
#define HL_SHA384_DIGEST_NBYTES      48
#define HL_SHA512_DIGEST_NBYTES      64
#define HL_SHA512_224_DIGEST_NBYTES  28
#define HL_SHA512_256_DIGEST_NBYTES  32
#define HL_RIPEMD160_DIGEST_NBYTES   20
#define HL_MD5_DIGEST_NBYTES         16
#define HL_SHA3_224_DIGEST_NBYTES    28
#define HL_SHA3_256_DIGEST_NBYTES    32
#define HL_SHA3_384_DIGEST_NBYTES    48
#define HL_SHA3_512_DIGEST_NBYTES    64
#define HL_SHAKE128_DIGEST_NBYTES    32
#define HL_SHAKE256_DIGEST_NBYTES    64
#define HL_KECCAK_256_DIGEST_NBYTES  32
#define HL_SM3_DIGEST_NBYTES         32
#define HL_BLAKE2B_DIGEST_NBYTES     64
#define HL_BLAKE2B_256_DIGEST_NBYTES 32
#define HL_BLAKE2S_DIGEST_NBYTES     32
#define HL_BLAKE3_DIGEST_NBYTES      32
/* algorithms.py: end */
#define HL_SHA1DC_DIGEST_NBYTES     24  /* SHA-1's 20, and a verdict */
#define HL_DIGEST_MAX_NBYTES        64  /* room for any digest of this and later versions */
#define HL_BLOCK_MAX_NBYTES         168 /* room for any block of this and later versions */
#define HL_STATE_MAX_NBYTES         200 /* room for any state of this and later versions */
#define HL_MESSAGE_MAX_NBYTES       ((UINT64_C(1) << 61) - 1)

/* The block function that an algorithm iterates ("hash computation" in FIPS 180-4). Several algorithms can share one:
 * SHA-224 is SHA-256 with another initial value. Kernels implement block functions. */
typedef enum hl_body {
    /* algorithms.py: c_bodies */
    HL_BODY_SHA1      = 0, /* SHA-1 */
    HL_BODY_SHA256    = 1, /* SHA-256, SHA-224 */
    HL_BODY_SHA512    = 2, /* SHA-384, SHA-512, SHA-512/224, SHA-512/256 */
    HL_BODY_RIPEMD160 = 3, /* RIPEMD-160 */
    HL_BODY_MD5       = 4, /* MD5 */
    HL_BODY_KECCAK    = 5, /* SHA3-224, SHA3-256, SHA3-384, SHA3-512, SHAKE128, SHAKE256, Keccak-256 */
    HL_BODY_SM3       = 6, /* SM3 */
    HL_BODY_BLAKE2B   = 7, /* BLAKE2b, BLAKE2b-256 */
    HL_BODY_BLAKE2S   = 8, /* BLAKE2s */
    HL_BODY_BLAKE3    = 9  /* BLAKE3 */
    /* algorithms.py: end */
} hl_body;

/* How a message ends. */
typedef enum hl_ending {
    HL_STRENGTHENED = 0, /* by a one bit, zeros, and its length in bits in two words (FIPS 180-4 section 5.1) */
    HL_SPONGE       = 1, /* by the suffix byte, zeros, and a one bit at the end of the block (FIPS 202 section B.2) */
    HL_XOF          = 2, /* likewise, and the digest may have any length: digest_nbytes is the usual one */
    HL_COUNTED      = 3, /* by zeros up to the end of the block, which is not empty; the block function takes the
                          * number of bytes and a mark of the last block (RFC 7693 section 3.3). See hl_blake2_init */
    HL_TREE         = 4  /* as HL_COUNTED, with flags; a message of more than 1,024 bytes is a tree of such messages
                          * (BLAKE3 section 2.1). See hl_blake3_init */
} hl_ending;

typedef struct hl_alg_info {
    const char *name;          /* "sha256", "sha512-256", "sha3-256": lower case, with - for the standard's / */
    hl_alg      alg;
    hl_body     body;
    unsigned    digest_nbytes; /* 16 to 64 */
    unsigned    block_nbytes;  /* 64 to 168 */
    unsigned    block_shift;   /* log2(block_nbytes); 0 if block_nbytes is no power of two, or for HL_COUNTED */
    unsigned    word_nbytes;   /* 4 or 8: bytes in a word of the state */
    unsigned    nwords;        /* 4 to 25: words in the state */
    int         big_endian;    /* byte order of words in messages and digests: 1 for SHA-1, SHA-2 and SM3 */
    const void *iv;            /* initial state: nwords words in the machine's byte order */
    hl_ending   ending;
    unsigned    suffix;        /* HL_SPONGE, HL_XOF: the byte that follows the message; else 0 */
} hl_alg_info;

/* Algorithm i, i = 0 .. hl_alg_count() - 1; NULL beyond. */
HL_API size_t hl_alg_count(void);
HL_API const hl_alg_info *hl_alg_at(size_t i);
/* The description of one algorithm; NULL if alg is not in enum hl_alg, and of HL_SHA1DC. */
HL_API const hl_alg_info *hl_alg_find(hl_alg alg);

/* HL_SHA1DC is SHA-1 that detects blocks made by a known collision attack, for Git and others that must go on with
 * SHA-1. Its digests have 24 bytes. Bytes 0 to 19 are the digest of SHA-1. If an attack was found, they are the "safe
 * hash" of sha1dc by M. Stevens and D. Shumow, which Git uses: the blocks found are hashed twice more, so that the two
 * messages have different digests even for callers that ignore the verdict. Byte 20 is the verdict: 1 if an attack was
 * found, else 0. Bytes 21 to 23 are zeros.
 *
 * A found attack means that the message is one of two with the same digest of SHA-1: the other one was computed. A
 * false alarm has a chance of about 2^-160 a block. Attacks are found that use one of 32 disturbance vectors: those of
 * all published collisions (SHAttered 2017, "SHA-1 is a Shambles" 2020) and of any attack that is known to be
 * practical. Collisions of SHA-1 with fewer steps, which forge nothing, are not looked for. Sources: M. Stevens,
 * "Counter-cryptanalysis", CRYPTO 2013; M. Stevens and D. Shumow, "Speeding up detection of SHA-1 collision attacks
 * using unavoidable attack conditions", USENIX Security 2017.
 *
 * These calls take HL_SHA1DC: hl_hash, hl_hash_many, hl_hash_rows, hl_hash_many_with, hl_kernel_chosen, hl_run without
 * keys, `again` and is_secret (how long a call takes depends on the messages), hl_init with hl_update, hl_final and
 * their _many, hl_export and hl_import. Others do not know it (HL_EALG), and it is not among those of hl_alg_at.
 * Kernels are those of SHA-1. A library compiled with HL_NO_SHA1DC, or with HL_ALGORITHMS without sha1dc, lacks it. */

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

typedef enum hl_status {
    HL_OK = 0,
    HL_EALG,    /* the algorithm is not in enum hl_alg, or the call is not defined for it: HMAC with an HL_XOF,
                 * HL_COUNTED or HL_TREE, hl_search with these and SHA-3, hl_squeeze with others than an HL_XOF, hl_init
                 * and hl_export with an HL_TREE; or a set is not in enum hl_slh */
    HL_ENULL,   /* a pointer is NULL where bytes are to be read or written */
    HL_ELENGTH, /* a message is longer than HL_MESSAGE_MAX_NBYTES, or a size does not fit size_t */
    HL_ESTATE,  /* a context, key or task was not initialised, is already final, or has another algorithm than the
                 * others; hl_slh_sign: what it made is not right */
    HL_EISA,    /* an instruction set is unknown, or this machine lacks it */
    HL_EKERNEL, /* the given kernel does not implement the algorithm's body */
    HL_ETAG,    /* hl_hmac_verify: the tag does not belong to the message. hl_slh_verify: the signature does not */
    HL_EJOB,    /* hl_run: a field is of a later version, or two fields contradict each other */
    HL_EIMPORT, /* the bytes are not an exported stream, or are of a later version */
    HL_ESTOPPED /* the caller's function ended the call */
} hl_status;

/* One English phrase without a full stop, never NULL. */
HL_API const char *hl_strerror(hl_status status);

/* "0.1.0" */
HL_API const char *hl_version(void);

/* ---- One message ----------------------------------------------------------------------------------------------- */

/* digest = alg(data[0 .. nbytes - 1]). */
HL_CALL hl_status hl_hash(hl_alg alg, const void *data, size_t nbytes, uint8_t *digest);

/* ---- Many messages --------------------------------------------------------------------------------------------- */

/* A message: the same layout as POSIX's struct iovec. data may be NULL if nbytes is 0. */
typedef struct hl_slice {
    const void *data;
    size_t      nbytes;
} hl_slice;

/* digests[i] = alg(messages[i]), i = 0 .. count - 1. Messages may have any mixture of lengths; neighbours of similar
 * length are fastest. digests has room for count * digest size bytes. */
HL_CALL hl_status hl_hash_many(hl_alg alg, const hl_slice *messages, size_t count, uint8_t *digests);

/* Messages of one length at a regular distance: message i is nbytes bytes at base + i * stride. Use it for pieces of a
 * buffer (stride == nbytes), columns of a table (stride > nbytes), overlapping windows (stride < nbytes), and layers of
 * a tree, which may be hashed in place: hl_hash_rows(HL_SHA256, layer, 64, 64, n / 2, layer). For nodes with a prefix
 * give hl_run a stream that holds it, as `begin`. */
HL_CALL hl_status hl_hash_rows(hl_alg alg, const void *base, size_t stride, size_t nbytes, size_t count,
                              uint8_t *digests);

/* Rows hashed twice, for Bitcoin and what came after it: digests[i] = RIPEMD-160(SHA-256(row i)), 20 bytes each, and
 * SHA-256(SHA-256(row i)), 32 bytes each. */
HL_CALL hl_status hl_hash160_rows(const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests);
HL_CALL hl_status hl_sha256d_rows(const void *base, size_t stride, size_t nbytes, size_t count, uint8_t *digests);

/* ---- Streams: messages that arrive in parts -------------------------------------------------------------------- */

/* A state: nwords words of word_nbytes, packed, in the machine's byte order, like iv. The rest is room for later
 * algorithms. */
typedef union hl_state {
    uint32_t w32[HL_STATE_MAX_NBYTES / 4];
    uint64_t w64[HL_STATE_MAX_NBYTES / 8];
} hl_state;

/* A running computation. It holds no pointer and needs no destructor: it may be copied (the copy is independent) and
 * dropped at any time. The fields are for this library and its tests. */
typedef struct hl_ctx {
    hl_state state;
    uint64_t nbytes;                     /* length of the message so far */
    uint8_t  block[HL_BLOCK_MAX_NBYTES]; /* the last nbytes % block_nbytes bytes of the message, not hashed yet */
    uint32_t alg;                        /* an hl_alg, or 0: not initialised or already final; see hl_squeeze */
    uint32_t reserved;
} hl_ctx;

/* Begins a message of any algorithm but BLAKE3. Bytes of the context that the algorithm never uses stay as they are. */
HL_CALL hl_status hl_init(hl_ctx *ctx, hl_alg alg);
/* BLAKE2 with parameters (RFC 7693 section 2.5 and 2.8; salt and personalization as in its authors' paper). */
typedef struct hl_blake2_parameters {
    const void *key; /* up to 64 bytes for BLAKE2b, 32 for BLAKE2s; the digest is then a MAC */
    size_t      key_nbytes;
    uint8_t     salt[16];     /* BLAKE2s: the first 8 bytes; the rest is ignored */
    uint8_t     personal[16]; /* likewise */
} hl_blake2_parameters;

/* Begins a message of BLAKE2b or BLAKE2s whose digest has digest_nbytes, 1 to the algorithm's digest size; HL_EALG for
 * any other algorithm, HL_ELENGTH if a length is too great. parameters may be NULL: no key, zeros. Many messages with
 * one key: hl_run, with this stream as `begin`. A context with a key is as secret as the key. */
HL_CALL hl_status hl_blake2_init(hl_ctx *ctx, hl_alg alg, size_t digest_nbytes, const hl_blake2_parameters *parameters);

/* A message of BLAKE3 that arrives in parts. hl_update, hl_final, hl_update_many and hl_final_many take &stream.ctx; a
 * copy must be one of the whole structure. */
typedef struct hl_blake3_ctx {
    hl_ctx  ctx;
    uint8_t subtrees[54][32]; /* chaining values of the complete subtrees, the greatest first */
    uint8_t chunk[1024];      /* the bytes behind them, not hashed yet */
} hl_blake3_ctx;

/* Begins a message of BLAKE3. key: NULL, or 32 bytes: the digest is then a MAC (BLAKE3 section 2.3, keyed_hash). Many
 * messages with one key: hl_run, with this stream as `begin`. A context with a key is as secret as the key. */
HL_CALL hl_status hl_blake3_init(hl_blake3_ctx *stream, const void *key);
/* Begins the material of a key: the digest is the key that is derived from it in that context, a text which is globally
 * unique and contains nothing else (BLAKE3 section 2.3, derive_key). */
HL_CALL hl_status hl_blake3_init_derive_key(hl_blake3_ctx *stream, const void *context, size_t nbytes);

/* For threads: value, 32 bytes, = the chaining value of a subtree of the message, with the stream's key. The subtree
 * has nbytes = 1,024 * 2^k, and begins with chunk number `chunk` of 1,024 bytes, a multiple of 2^k; else HL_ELENGTH.
 * The stream is only read. */
HL_CALL hl_status hl_blake3_subtree(const hl_blake3_ctx *stream, uint64_t chunk, const void *data, size_t nbytes,
                                    uint8_t *value);
/* Appends that subtree of nchunks = 2^k chunks in place of its bytes. The message so far must be whole subtrees, and a
 * multiple of nchunks: else HL_ESTATE. hl_update or a further subtree must follow: else hl_final is HL_ESTATE. */
HL_CALL hl_status hl_blake3_add_subtree(hl_blake3_ctx *stream, uint64_t nchunks, const uint8_t *value);

/* Appends data to the message. */
HL_CALL hl_status hl_update(hl_ctx *ctx, const void *data, size_t nbytes);
/* Writes the digest and wipes what the context held. Initialise the context again before its next use. */
HL_CALL hl_status hl_final(hl_ctx *ctx, uint8_t *digest);

/* Writes the next nbytes of the digest of an HL_XOF: the first call ends the message, further calls go on where the
 * last one stopped. All other calls but hl_init refuse the context from then on (HL_ESTATE). HL_EALG if the algorithm
 * is no HL_XOF. hl_final writes a digest of the usual length. A context that has hashed secrets must be wiped by the
 * caller, as the library cannot know which call is the last. */
HL_CALL hl_status hl_squeeze(hl_ctx *ctx, uint8_t *digest, size_t nbytes);

/* Appends chunks[i] to the message of ctxs[i], i = 0 .. count - 1, all streams side by side in lanes. Use it to hash
 * many files that are read in parts. The contexts have one algorithm and are all different (the same context twice in a
 * call gives undefined digests). Chunks may have different lengths. */
HL_CALL hl_status hl_update_many(hl_ctx *const ctxs[], const hl_slice *chunks, size_t count);
/* digests[i] = the digest of ctxs[i]. Wipes the contexts. The conditions on ctxs are those of hl_update_many; of
 * hl_blake2_init all have one length. */
HL_CALL hl_status hl_final_many(hl_ctx *const ctxs[], size_t count, uint8_t *digests);

/* Streams as bytes that can be kept, sent, and continued on any machine (C_GetOperationState). Every stream has only
 * one form:
 *
 *     4 bytes         "hlc1". The digit is the version of the format.
 *     4               the algorithm, an hl_alg
 *     8               the number of bytes hashed so far
 *     nwords words    the state
 *     block_nbytes    the bytes that do not fill a block yet, then zeros
 *
 * All numbers and words are big-endian. The bytes of a stream with a key are as secret as the key.
 */
#define HL_EXPORT_MAX_NBYTES 512 /* room for any export of this and later versions */

/* Writes the stream to bytes[0 .. *nbytes - 1]. The stream may continue. HL_ELENGTH if `room` is too small. */
HL_CALL hl_status hl_export(const hl_ctx *ctx, uint8_t *bytes, size_t room, size_t *nbytes);
/* Initialises ctx from all of bytes[0 .. nbytes - 1]. Any bytes are safe: bytes that hl_export never writes give
 * HL_EIMPORT and leave the context unchanged; a forged state gives digests, but does no harm. */
HL_CALL hl_status hl_import(hl_ctx *ctx, const uint8_t *bytes, size_t nbytes);

/* ---- HMAC: tags that prove a message with a key (FIPS 198-1, RFC 2104) ------------------------------------------- */

/* A key, ready for use: the states of the two hashes after their first blocks, which are the key xored with ipad and
 * with opad. It holds no pointer and may be copied. Any number of threads may use one key at once. It is as secret as
 * the bytes it was made of: wipe it when it is no longer needed. The fields are for this library and its bindings. */
typedef struct hl_hmac_key {
    hl_state inner;
    hl_state outer;
    uint32_t alg; /* an hl_alg, or 0: not initialised, or wiped */
    uint32_t reserved;
} hl_hmac_key;

/* Prepares a key of any length, zero included. A key longer than block_nbytes is replaced by its digest (FIPS 198-1
 * section 4). digest_nbytes random bytes make a key as strong as any (RFC 2104 section 3). */
HL_CALL hl_status hl_hmac_key_init(hl_hmac_key *key, hl_alg alg, const void *secret, size_t nbytes);
/* Overwrites the key with zeros. NULL is ignored. */
HL_API void hl_hmac_key_wipe(hl_hmac_key *key);

/* A tag has the algorithm's digest_nbytes bytes; if a protocol truncates tags, take the first bytes (FIPS 198-1 section
 * 5). A message may have up to HL_MESSAGE_MAX_NBYTES - block_nbytes bytes, as the key's block precedes it. A key that
 * is not initialised is HL_ESTATE. */

/* tag = HMAC(key, data[0 .. nbytes - 1]). */
HL_CALL hl_status hl_hmac(const hl_hmac_key *key, const void *data, size_t nbytes, uint8_t *tag);
/* tags[i] = HMAC(key, messages[i]), i = 0 .. count - 1, both hashes of all messages side by side in lanes. Tag i is
 * written at tags + i * digest_nbytes. For a key of each message, and for rows, use hl_run. */
HL_CALL hl_status hl_hmac_many(const hl_hmac_key *key, const hl_slice *messages, size_t count, uint8_t *tags);
/* HL_OK if tag[0 .. tag_nbytes - 1] are the first bytes of the message's tag, else HL_ETAG. The time does not depend on
 * where they differ. tag_nbytes is the length that the protocol says, never the length of a received tag: from 10
 * bytes, the least that RFC 2104 section 5 allows, to digest_nbytes. Any other length is HL_ELENGTH. */
HL_CALL hl_status hl_hmac_verify(const hl_hmac_key *key, const void *data, size_t nbytes, const uint8_t *tag,
                                size_t tag_nbytes);

/* A message that arrives in parts. It holds no pointer, not even to the key, and may be copied; the copy is
 * independent. It is as secret as the key: wipe a context that is dropped before hl_hmac_final has wiped it. */
typedef struct hl_hmac_ctx {
    hl_ctx   inner; /* the first hash */
    hl_state outer; /* the state in which the second hash begins */
} hl_hmac_ctx;

/* Begins a message. */
HL_CALL hl_status hl_hmac_init(hl_hmac_ctx *ctx, const hl_hmac_key *key);
/* Appends data to the message. */
HL_CALL hl_status hl_hmac_update(hl_hmac_ctx *ctx, const void *data, size_t nbytes);
/* Writes the tag and wipes the context. Initialise the context again before its next use. */
HL_CALL hl_status hl_hmac_final(hl_hmac_ctx *ctx, uint8_t *tag);
/* Many HMAC streams at once, side by side in lanes, like hl_update_many and hl_final_many. Each has its own key. */
HL_CALL hl_status hl_hmac_update_many(hl_hmac_ctx *const ctxs[], const hl_slice *chunks, size_t count);
HL_CALL hl_status hl_hmac_final_many(hl_hmac_ctx *const ctxs[], size_t count, uint8_t *tags);

/* PBKDF2 with HMAC (RFC 8018 section 5.2). Key i, key_nbytes bytes at keys + i * key_nbytes, is derived from
 * passwords[i] and salts[i] by niterations >= 1 iterations, i = 0 .. count - 1. All blocks of all keys run side by side
 * in lanes, so 16 passwords take little longer than one. HL_ELENGTH if niterations is 0 or key_nbytes is not between 1
 * and (2^32 - 1) * digest_nbytes. */
HL_CALL hl_status hl_pbkdf2_many(hl_alg alg, const hl_slice *passwords, const hl_slice *salts, uint32_t niterations,
                                size_t count, uint8_t *keys, size_t key_nbytes);
/* Like hl_pbkdf2_many, but asks is_stopped(context) before each 4,096 iterations or fewer of a group of lanes: some
 * milliseconds. Unless the answer is 0, all keys are set to zeros, and the result is HL_ESTOPPED. The function must
 * return: it may not leave by longjmp or an exception. */
HL_CALL hl_status hl_pbkdf2_many_until(hl_alg alg, const hl_slice *passwords, const hl_slice *salts,
                                      uint32_t niterations, size_t count, uint8_t *keys, size_t key_nbytes,
                                      int (*is_stopped)(void *context), void *context);

/* 1 if the nbytes at a and at b are equal, else 0. The time depends only on nbytes: for tags, keys and other secrets.
 * If nbytes is 0, the result is 1, and the pointers may be NULL. */
HL_API int hl_equal(const void *a, const void *b, size_t nbytes);

/* ---- Kernels and the choice among them ------------------------------------------------------------------------- */

/* The instruction sets that this build has kernels for, i = 0 .. hl_isa_count() - 1, the plainest first. In a set
 * (hl_isas), instruction set i is bit i. */
typedef uint32_t hl_isas;

HL_API size_t      hl_isa_count(void);
/* "scalar", "sse2", "avx2", "avx512", "sha"; NULL beyond the last. */
HL_API const char *hl_isa_name(size_t i);
/* The set of the one instruction set of that name (exact, lower case); 0 if this build has none of that name. */
HL_API hl_isas     hl_isa_named(const char *name);
/* The instruction sets that this machine and its operating system can run. */
HL_API hl_isas     hl_isas_available(void);
/* The instruction sets that may be chosen now: all available ones, or those that hl_restrict left. */
HL_API hl_isas     hl_isas_allowed(void);
/* From now on, in the whole process, choose only kernels of these instruction sets; 0 removes the restriction. If a set
 * leaves an algorithm without a kernel ("sha" has none of SHA-512), plain C ("scalar") is allowed too, so that no call
 * can fail for lack of a kernel; hl_isas_allowed then includes it. HL_EISA, and no change, if one of them is not
 * available. Safe at any time: every digest is right whatever is chosen, and a running call keeps its choice. Meant for
 * tests, benchmarks and finding faults. */
HL_CALL hl_status   hl_restrict(hl_isas isas);

/* Advances `nlanes` independent states by nblocks >= 1 whole blocks each. No padding, no finishing.
 *   state         word w of lane l is word number w * nlanes + l; aligned to nlanes * word_nbytes bytes (at most 64),
 *                 or to word_nbytes if that is no power of two. What a body needs with a block besides its bytes (a
 *                 counter, flags) would be words of the state, too.
 *   msg           nlanes pointers, each to nblocks * block_nbytes readable bytes of any alignment. Pointers may be
 *                 equal: an idle lane is pointed at the message of another lane.
 *   block_nbytes  that of the algorithm. SHA-3's algorithms share a body and have blocks of several sizes. */
typedef void hl_blocks_fn(void *state, const uint8_t *const msg[], size_t nblocks, unsigned block_nbytes);

/* Advances all lanes by one block that is the same in all of them and has a known message schedule. Word t of
 * schedule, a word of the state's size and aligned to it, is
 *   W[t] + K[t] of round t (FIPS 180-4 sections 6.1.2, 6.2.2 and 6.4.2);
 *   for RIPEMD-160, word 16 * (5 * s + j) + i is X[i] + K of round j, with s = 0 for the left line, 1 for the right;
 *   for MD5, word t is X[k] + T of step t;
 *   for SM3, word t is W[t], and word 64 + t is W'[t] (GB/T 32905-2016 section 5.3.2).
 * Messages of one length that is a multiple of the block size end in such a block: it is all padding. */
typedef void hl_scheduled_fn(void *state, const void *schedule);

typedef struct hl_kernel {
    const char      *name;      /* "sha256_blocks_avx2"; unique */
    const char      *isa;       /* name of its instruction set */
    hl_body          body;
    unsigned         nlanes;    /* messages that one call advances */
    hl_isas          isas;      /* its instruction set, as a set */
    hl_blocks_fn    *blocks;
    hl_scheduled_fn *scheduled; /* NULL if the kernel has none */
} hl_kernel;

#define HL_LANES_MAX 16
/* Upper bound of the stack of one call of any kernel, in an optimised build. Callers with small stacks, such as Go, can
 * reserve it. */
#define HL_KERNEL_STACK_NBYTES 5376

/* Kernel i, i = 0 .. hl_kernel_count() - 1, whether this machine can run it or not; NULL beyond. A kernel may be called
 * if (kernel->isas & hl_isas_available()) != 0. One that the build leaves out (HL_ALGORITHMS, HL_ISAS) has no
 * functions, and that is never the case. */
HL_API size_t           hl_kernel_count(void);
HL_API const hl_kernel *hl_kernel_at(size_t i);
/* The kernel that is chosen when nmessages >= 1 messages of this algorithm are left (for many short ones it may be one
 * with more lanes); NULL if alg is unknown. */
HL_API const hl_kernel *hl_kernel_chosen(hl_alg alg, size_t nmessages);
/* Like hl_hash_many, but only with this kernel, one of hl_kernel_at, whatever hl_restrict says. HL_EKERNEL if the
 * kernel does not implement alg's body, HL_EISA if this machine cannot run it. (The second algorithm of a job uses the
 * kernel too if the kernel implements its body.) */
HL_CALL hl_status hl_hash_many_with(const hl_kernel *kernel, hl_alg alg, const hl_slice *messages, size_t count,
                                   uint8_t *digests);

/* ---- Jobs: any messages, and what is done with them ------------------------------------------------------------- */

/* How messages lie in memory. The values are part of the ABI. */
typedef enum hl_layout {
    HL_SLICES = 0, /* as for hl_hash_many */
    HL_ROWS   = 1  /* as for hl_hash_rows */
} hl_layout;

typedef struct hl_messages {
    uint32_t    layout; /* an hl_layout */
    uint32_t    reserved;
    size_t      count;
    const void *base;   /* HL_SLICES: hl_slice[count]; HL_ROWS: the first row */
    size_t      stride; /* HL_ROWS: bytes from one row to the next */
    size_t      nbytes; /* HL_ROWS: bytes in each row */
} hl_messages;

/* The job of one hl_run. Begin with zeros and set nbytes, alg, messages and digests; zero in any other field means that
 * the job has no such part. The digest of message i is then
 *
 *     alg(m)                  m = message i; with begin: the data of that stream, followed by message i
 *     HMAC(keys[i], m)        if there are keys
 *     again(alg(m))           if there is a second algorithm
 *
 * All other calls that take whole messages are shorter forms of a job.
 */
typedef struct hl_job {
    size_t             nbytes;        /* sizeof(hl_job): tells which fields the caller's version has */
    uint32_t           alg;           /* an hl_alg; 0 is allowed with keys, whose algorithm counts */
    uint32_t           again;         /* an hl_alg: each digest is hashed once more. For SHA-256 of SHA-256, RIPEMD-160
                                       * of SHA-256. Not with keys. */
    hl_messages        messages;
    uint8_t           *digests;       /* with a second algorithm: its digests */
    size_t             digest_stride; /* bytes from one digest to the next; 0: the digest size */
    const hl_ctx      *begin;         /* streams of alg, each with any number of bytes so far: message i continues the
                                       * one at begin + i * begin_stride (bytes). They are only read. Not with keys.
                                       * HL_TREE: one stream without data, whose key all messages have. */
    size_t             begin_stride;  /* 0: all messages continue one stream; free if the stream is whole blocks */
    const hl_hmac_key *keys;          /* the key of message i is at keys + i * key_stride; all of one algorithm */
    size_t             key_stride;    /* 0: one key for all messages */
    const hl_kernel   *kernel;        /* only this kernel, as in hl_hash_many_with */
    uint32_t           is_secret;     /* 1: leave nothing of states on the stack and in registers. Keys imply it. */
    uint32_t           reserved;
    size_t             digest_nbytes; /* bytes of each digest of the last algorithm; 0: the usual ones. Up to the digest
                                       * size: the first bytes of the digest (FIPS 180-4 section 7); HL_COUNTED: a
                                       * digest of that length, with `begin` that of its streams, or 0. An HL_XOF: any
                                       * number. Not with keys. */
} hl_job;

/* Runs a job. HL_EJOB if nbytes is less than the size of this structure, if fields of a later version are not zero, or
 * if fields exclude each other. After an error nothing has been written. */
HL_CALL hl_status hl_run(const hl_job *job);

/* ---- Merkle trees of SHA-256, a layer at a time ------------------------------------------------------------------ */

/* A layer is nodes of 32 bytes, one behind the other: digests of leaves, or the layer above another. How two nodes
 * become one, and what an odd node at the end becomes: */
typedef enum hl_merkle {
    HL_MERKLE_RFC6962 = 1, /* SHA-256 of a byte 1 and the two; it goes up as it is. RFC 6962 section 2.1, RFC 9162:
                            * Certificate Transparency, CometBFT. (A leaf there is SHA-256 of a byte 0 and its data.) */
    HL_MERKLE_BITCOIN = 2, /* SHA-256 of SHA-256 of the two; it is paired with itself. (So a tree that ends with nodes
                            * twice has the root of one without them: CVE-2012-2459) */
    HL_MERKLE_ZEROS = 3    /* SHA-256 of the two; it is paired with the root of as high a tree whose leaves are zeros.
                            * SSZ of Ethereum, BEP 52 */
} hl_merkle;
#define HL_MERKLE_DEPTH_MAX 64

/* above[0 .. (count + 1) / 2 - 1] = the layer above a layer of `count` nodes, side by side in lanes. above may be
 * `nodes`: in place. A node above that overlaps a later pair is HL_EJOB, as for rows. height: the layers below `nodes`,
 * 0 to HL_MERKLE_DEPTH_MAX, which HL_MERKLE_ZEROS needs to know. Without nodes nothing is written. */
HL_CALL hl_status hl_merkle_layer(hl_merkle rule, unsigned height, const uint8_t *nodes, size_t count, uint8_t *above);
/* root = the root above `count` leaves of 32 bytes each. All layers are made in place: the leaves are lost. root may
 * lie anywhere in `nodes`. depth: 0, or, for HL_MERKLE_ZEROS, the number of layers above the leaves (SSZ: log2 of the
 * limit), with room for the leaves; else HL_ELENGTH. Without leaves the root is SHA-256 of nothing (RFC 6962), or
 * zeros.
 * proof: NULL, or room for HL_MERKLE_DEPTH_MAX nodes: the *nproof nodes beside the path of leaf number `index`, the
 * lowest first. A layer of RFC 6962 where the path's node is not paired adds none. HL_EJOB if proof overlaps the leaves
 * or the root. */
HL_CALL hl_status hl_merkle_root(hl_merkle rule, unsigned depth, uint8_t *nodes, size_t count, uint8_t *root,
                                 size_t index, uint8_t *proof, size_t *nproof);

/* A tree by HL_MERKLE_RFC6962 that grows, such as a log's (a compact range): the number of its leaves, and the roots of
 * its complete subtrees. All zeros: no leaves. It holds no pointer: it may be copied, or filled in with what a log has
 * kept. Two threads may not grow one range at once. */
typedef struct hl_merkle_range {
    uint64_t size;
    uint8_t  roots[64][32]; /* roots[h]: of 2^h leaves, if bit h of size is one; else free. The highest comes first */
} hl_merkle_range;

/* Appends *count leaves, a layer at a time, until none is left above:
 *
 *     for (unsigned height = 0; count > 0; height++)
 *         if (hl_merkle_grow(&range, height, nodes, &count) != HL_OK) ...
 *
 * Before each call nodes[0 .. 32 * *count - 1] are the new roots of complete subtrees of 2^height leaves, from number
 * first on, which a log stores: first = range.size at height 0, where they are the leaves, and then (range.size >>
 * height) - count. The call makes the roots above from them, side by side in lanes and in place, and *count their
 * number; range has every leaf after the first call, and a root when the last call has ended. HL_ELENGTH if the tree
 * would have 2^64 leaves, or at this height less than *count roots; HL_EJOB if nodes overlap the range. */
HL_CALL hl_status hl_merkle_grow(hl_merkle_range *range, unsigned height, uint8_t *nodes, size_t *count);
/* root = the root of 32 bytes above all leaves, in at most 63 hashes. Without leaves it is SHA-256 of nothing. */
HL_CALL hl_status hl_merkle_range_root(const hl_merkle_range *range, uint8_t *root);

/* ---- SLH-DSA: signatures made of hashes alone (FIPS 205) --------------------------------------------------------- */

/* The parameter sets, FIPS 205 section 11. `s`: small signatures; `f`: fast to sign. */
typedef enum hl_slh {
    HL_SLH_SHA2_128S = 1,
    HL_SLH_SHAKE_128S,
    HL_SLH_SHA2_128F,
    HL_SLH_SHAKE_128F,
    HL_SLH_SHA2_192S,
    HL_SLH_SHAKE_192S,
    HL_SLH_SHA2_192F,
    HL_SLH_SHAKE_192F,
    HL_SLH_SHA2_256S,
    HL_SLH_SHAKE_256S,
    HL_SLH_SHA2_256F,
    HL_SLH_SHAKE_256F
} hl_slh;

typedef struct hl_slh_info {
    const char *name;             /* "SLH-DSA-SHA2-128s" */
    const char *oid;              /* RFC 9909: "2.16.840.1.101.3.4.3.20" */
    hl_slh      set;
    uint32_t    n;                /* bytes of a hash, and of each of a key's parts: 16, 24, 32 */
    uint32_t    h, d, a, k;       /* FIPS 205 table 2: height, layers; height and number of FORS trees */
    uint32_t    is_shake;         /* 1: SHAKE256; 0: SHA-256, and if n > 16 SHA-512 */
    size_t      public_nbytes;    /* 2 n: PK.seed, PK.root */
    size_t      secret_nbytes;    /* 4 n: SK.seed, SK.prf, PK.seed, PK.root */
    size_t      signature_nbytes; /* 7,856 to 49,856 */
} hl_slh_info;

/* The description of one set, 1 to 12; NULL of any other number, or if the build has no SLH-DSA. */
HL_API const hl_slh_info *hl_slh_find(hl_slh set);

/* How a message is signed. */
typedef enum hl_slh_form {
    HL_SLH_PURE = 0,    /* slh_sign: the message, behind the context (FIPS 205 section 10.2.1) */
    HL_SLH_PREHASH = 1, /* hash_slh_sign: a digest of the message, behind the context (section 10.2.2) */
    HL_SLH_INTERNAL = 2 /* slh_sign_internal: the message alone (section 9.2), for protocols that say so */
} hl_slh_form;

typedef struct hl_slh_message {
    const void *data;          /* with HL_SLH_PREHASH the digest of the message: nbytes is its size. SHAKE128: 32 bytes,
                                * SHAKE256: 64 */
    size_t      nbytes;
    const void *context;       /* 0 to 255 bytes (HL_ELENGTH) that tell what the signature is for; not with
                                * HL_SLH_INTERNAL (HL_EJOB) */
    size_t      context_nbytes;
    uint32_t    form;          /* an hl_slh_form */
    uint32_t    prehash;       /* with HL_SLH_PREHASH: an hl_alg, one of SHA-2, SHA-3 and SHAKE (HL_EALG) */
} hl_slh_message;

/* The memory of a call, and a function that may stop the call. */
typedef struct hl_slh_work {
    void   *scratch;                    /* hl_slh_scratch_nbytes() bytes or more, for one call at a time; wiped after
                                         * calls that have secrets */
    size_t  scratch_nbytes;             /* HL_ELENGTH if it is less */
    int   (*is_stopped)(void *context); /* asked every few milliseconds; unless it answers 0, the call returns
                                         * HL_ESTOPPED, and what it was to write is zeros. NULL: not asked. It must
                                         * return: it may not leave by longjmp or an exception. */
    void   *context;
} hl_slh_work;
HL_API size_t hl_slh_scratch_nbytes(void);

/* The key of three secret random seeds of n bytes: seeds = SK.seed, SK.prf, PK.seed (slh_keygen_internal). Writes
 * secret_nbytes bytes, of which the last public_nbytes are the public key. */
HL_CALL hl_status hl_slh_keygen(hl_slh set, const uint8_t *seeds, uint8_t *secret, const hl_slh_work *work);
/* Signs. randomness: n fresh random bytes (hedged, what FIPS 205 advises), or NULL (deterministic: PK.seed in their
 * place). The signature is verified before the call returns: HL_ESTATE, and zeros, if the machine erred, or if the
 * secret key's public part does not belong to it. */
HL_CALL hl_status hl_slh_sign(hl_slh set, const uint8_t *secret, const hl_slh_message *message,
                              const uint8_t *randomness, uint8_t *signature, const hl_slh_work *work);
/* HL_OK if the signature is one of the message and the key, else HL_ETAG. A length that is not signature_nbytes is
 * HL_ETAG, too. */
HL_CALL hl_status hl_slh_verify(hl_slh set, const uint8_t *public_key, const hl_slh_message *message,
                                const uint8_t *signature, size_t signature_nbytes, const hl_slh_work *work);
/* Many signatures, side by side. The key of signature i is at public_keys + i * key_stride (0: one key). valid[i] = 1
 * or 0. HL_OK if all are valid, else HL_ETAG. */
HL_CALL hl_status hl_slh_verify_many(hl_slh set, const uint8_t *public_keys, size_t key_stride,
                                     const hl_slh_message *messages, const uint8_t *const signatures[],
                                     const size_t signature_nbytes[], size_t count, uint8_t *valid,
                                     const hl_slh_work *work);

/* One key or one signature by many threads. hl_slh_begin_keygen or hl_slh_begin_sign fills in the task; then
 * hl_slh_part(task, i, ...) for each i = 0 .. task->nparts - 1, in any order, by any threads, each with a scratch of
 * its own; then hl_slh_end. A part takes about half a millisecond. The task points at the caller's secret and
 * signature. It is as secret as the key: hl_slh_end wipes it, or hl_slh_drop, for a task that is given up. */
typedef struct hl_slh_task {
    uint32_t set;    /* an hl_slh, or 0: not begun, or ended */
    uint32_t nparts;
    uint64_t private_words[2040];
} hl_slh_task;
HL_CALL hl_status hl_slh_begin_keygen(hl_slh_task *task, hl_slh set, const uint8_t *seeds, uint8_t *secret);
HL_CALL hl_status hl_slh_begin_sign(hl_slh_task *task, hl_slh set, const uint8_t *secret,
                                    const hl_slh_message *message, const uint8_t *randomness, uint8_t *signature);
HL_CALL hl_status hl_slh_part(hl_slh_task *task, uint32_t part, void *scratch, size_t scratch_nbytes);
HL_CALL hl_status hl_slh_end(hl_slh_task *task, void *scratch, size_t scratch_nbytes);
HL_API void hl_slh_drop(hl_slh_task *task);

/* ---- Search: nonces whose digest is low enough ------------------------------------------------------------------- */

/* The order of digits in a nonce, and of bytes in a digest that is read as a number. */
enum { HL_MOST_FIRST = 0, HL_LEAST_FIRST = 1 };

/* The search for nonces. Begin with zeros and set nbytes, alg, first, last and target. The message of a nonce is the
 * prefix, the nonce, and the suffix. A nonce is found if the message's digest, read as one number, is at most the
 * target:
 *
 *     n leading zero bits     a target of n zero bits, then ones (hashcash)
 *     first 48 bits <= work   a target of these 48 bits, then ones (Krist)
 *     a Bitcoin header        again = alg, prefix = the first 76 bytes, nonce_width = 4, both orders HL_LEAST_FIRST
 */
typedef struct hl_search_job {
    size_t      nbytes;        /* sizeof(hl_search_job): tells which fields the caller's version has */
    uint32_t    alg;           /* an hl_alg */
    uint32_t    again;         /* an hl_alg: each digest is hashed once more, and the second digest counts. 0: no */
    const void *prefix;        /* may be NULL if prefix_nbytes is 0 */
    size_t      prefix_nbytes;
    const void *suffix;        /* may be NULL if suffix_nbytes is 0 */
    size_t      suffix_nbytes;
    const void *alphabet;      /* the bytes that stand for digits 0 to base - 1; NULL: the bytes 0 to 255 */
    uint32_t    base;          /* 2 to 256; 0 means 256 if there is no alphabet */
    uint32_t    nonce_width;   /* digits in each nonce, at most 64, with zeros in front; 0: no zeros in front */
    uint32_t    nonce_order;   /* HL_MOST_FIRST or HL_LEAST_FIRST */
    uint32_t    digest_order;  /* HL_MOST_FIRST or HL_LEAST_FIRST: the first byte of a digest is its most, or its least,
                                * significant one */
    uint64_t    first, last;   /* nonces to try: first to last, both included */
    uint8_t     target[HL_DIGEST_MAX_NBYTES]; /* digest_nbytes bytes, the most significant first; the rest is ignored */
} hl_search_job;

/* Tries the nonces in order, and writes the first `room` of those found to nonces[0 .. *nfound - 1]. If *nfound is less
 * than room, all nonces were tried; otherwise a further search may go on after the last one found. The time of a call
 * grows with last - first: choose ranges of a second or less, and threads can divide the work between them. HL_EJOB if
 * first > last, if last has more digits than nonce_width, or if a field is out of its range. After an error, *nfound is
 * unchanged. */
HL_CALL hl_status hl_search(const hl_search_job *job, uint64_t *nonces, size_t room, size_t *nfound);

#ifdef __cplusplus
}
#endif
#endif
