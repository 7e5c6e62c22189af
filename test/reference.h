/* reference.h: every algorithm once more, written to be read: the oracle that the library is compared with.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * It shares nothing with the library, constants included, and is itself compared with libcrypto and published vectors
 * (test/oracle.c).
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stddef.h>
#include <stdint.h>

enum { REFERENCE_NWORDS = 25, REFERENCE_BLOCK_NBYTES = 168 }; /* at most */

struct reference {
    const char *name;
    unsigned digest_nbytes, block_nbytes, word_nbytes, nwords;
    int big_endian;
    uint64_t iv[REFERENCE_NWORDS]; /* words of 32 bits are in the lower half */
    void (*block)(uint64_t state[REFERENCE_NWORDS], const uint8_t *block, unsigned block_nbytes);
    unsigned nscheduled; /* words in the schedule of hl_scheduled_fn; 0: it has none */
    void (*schedule)(uint64_t words[160], const uint8_t *block);
    unsigned suffix; /* of a sponge: the byte that follows the message; else 0 */
    int is_xof;
    int is_counted; /* BLAKE2: word 8 of the state is the number of bytes; the last block is marked, and never empty.
                     * 2: BLAKE3, a tree of chunks of 1,024 bytes */
};

struct reference_ctx {
    const struct reference *ref;
    uint64_t state[REFERENCE_NWORDS];
    uint64_t nbytes; /* so far; may be preset to a whole number of blocks */
    uint8_t block[REFERENCE_BLOCK_NBYTES];
    uint8_t subtrees[54][32]; /* of a tree: before the current chunk */
};

const struct reference *reference_named(const char *name); /* NULL if there is none */
void reference_init(struct reference_ctx *ctx, const struct reference *ref);
void reference_update(struct reference_ctx *ctx, const void *data, size_t nbytes);
void reference_final(struct reference_ctx *ctx, uint8_t *digest);
/* The same for a digest of any length, of an XOF. */
void reference_final_long(struct reference_ctx *ctx, uint8_t *digest, size_t nbytes);

#endif
