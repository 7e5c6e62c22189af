/* lanes.h: the parts of the lane driver: states in lanes, endings, order, and the functions that its files share.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The driver takes messages of any number and length, and gives kernels runs of whole blocks. A message is split into
 * its whole blocks, which are read in place, and an ending of one or two blocks (edges.c): the rest, the padding and
 * the length.
 *
 *   plan.c     which kernels hash the messages of a call, and how
 *   many.c     whole messages: one by one, in groups, in step with others of equally many blocks, or 96 at a time
 *   streams.c  messages that arrive in parts
 *   lanes.c    runs of blocks side by side, endings, and the second hash of a digest, if the plan has one; one message
 *              alone, or one stream, without all of these
 *
 * A state has one of two layouts: "plain" is its words in order; in a kernel's layout, word w of lane l is at w *
 * nlanes + l. With one lane both are the same.
 */
#ifndef HLI_LANES_H
#define HLI_LANES_H

#include "edges.h"
#include "plan.h"

/* The states of all lanes: up to 8 words of 32 bits in 16 lanes, up to 25 of 64 bits in 8. lanes.c checks that each
 * kernel's states fit. */
union hli_lane_states {
    uint32_t w32[HL_STATE_MAX_NBYTES / 8 * HLI_LANES];
    uint64_t w64[HL_STATE_MAX_NBYTES / 8 * HLI_LANES / 2]; /* twice as wide, half as many lanes */
} __attribute__((aligned(64)));

/* Room for every lane's ending: 2 blocks of 64 bytes each, or half as many of 128 or of a sponge's. */
struct hli_tails {
    uint8_t bytes[HLI_LANES * 2 * 64] __attribute__((aligned(64)));
};

/* ---- States in lanes --------------------------------------------------------------------------------------------- */

HLI_INLINE void hli_load_lane(const hl_alg_info *alg, union hli_lane_states *states, unsigned nlanes, unsigned lane,
                              const void *plain)
{
    if (hli_word_nbytes(alg) == 8)
        for (unsigned w = 0; w < hli_nwords(alg); w++)
            states->w64[w * nlanes + lane] = ((const uint64_t *)plain)[w];
    else
        for (unsigned w = 0; w < hli_nwords(alg); w++)
            states->w32[w * nlanes + lane] = ((const uint32_t *)plain)[w];
}

HLI_INLINE void hli_save_lane(const hl_alg_info *alg, const union hli_lane_states *states, unsigned nlanes,
                              unsigned lane, void *plain)
{
    if (hli_word_nbytes(alg) == 8)
        for (unsigned w = 0; w < hli_nwords(alg); w++)
            ((uint64_t *)plain)[w] = states->w64[w * nlanes + lane];
    else
        for (unsigned w = 0; w < hli_nwords(alg); w++)
            ((uint32_t *)plain)[w] = states->w32[w * nlanes + lane];
}

/* The state in which message `at` begins. */
HLI_INLINE const void *hli_begin_of(const struct hli_pass *pass, size_t at)
{
    return pass->begins != NULL ? (const uint8_t *)pass->begins[at] + pass->begin_stride
                                : (const uint8_t *)pass->begin + at * pass->begin_stride;
}

/* All lanes = one plain state. Pairs of words at a time: 16 lanes of SHA-256 are 32 stores. */
HLI_INLINE void hli_splat_lanes(const hl_alg_info *alg, union hli_lane_states *states, unsigned nlanes,
                                const void *plain)
{
    const unsigned in_pair = 16 / hli_word_nbytes(alg);

    if (nlanes % in_pair != 0) {
        for (unsigned l = 0; l < nlanes; l++)
            hli_load_lane(alg, states, nlanes, l, plain);
        return;
    }
    uint8_t *to = (uint8_t *)states;
    for (unsigned w = 0; w < hli_nwords(alg); w++) {
        const uint64_t word = hli_word_nbytes(alg) == 8 ? ((const uint64_t *)plain)[w]
                                                    : ((const uint32_t *)plain)[w] * UINT64_C(0x100000001);
        for (unsigned l = 0; l < nlanes; l += in_pair, to += 16)
            hli_store_pair(to, (hli_pair){word, word});
    }
}

/* states = the states in which messages at[0 .. n - 1] begin. A lane without a message gets that of the first. */
HLI_INLINE void hli_begin_lanes(const struct hli_pass *pass, unsigned nlanes, const size_t at[], unsigned n,
                                union hli_lane_states *states)
{
    if (pass->begin_stride == 0)
        hli_splat_lanes(pass->alg, states, nlanes, pass->begin);
    else
        for (unsigned l = 0; l < nlanes; l++)
            hli_load_lane(pass->alg, states, nlanes, l, hli_begin_of(pass, at[l < n ? l : 0]));
}

/* Sets the counters to the lengths less a block, and the marks of the last block. */
HLI_INLINE void hli_mark_last(const hl_alg_info *alg, void *states, unsigned nlanes, const uint8_t *const msg[])
{
    for (unsigned l = 0; l < nlanes; l++)
        hli_mark_lane(hli_nwords(alg), hli_word_nbytes(alg), states, nlanes, l,
                      hli_load64(msg[l] + hli_block_nbytes(alg), 0) - hli_block_nbytes(alg));
}

/* Advances all lanes. */
HLI_INLINE void hli_advance_lanes(const hl_kernel *kernel, const hl_alg_info *alg, void *states,
                                  const uint8_t *const msg[], size_t nblocks)
{
#if HLI_ALG(sha1)
    if (__builtin_expect(hli_finds_attacks(alg), 0)) {
        hli_sha1dc_advance(kernel, states, msg, nblocks);
        return;
    }
#endif
    kernel->blocks(states, msg, nblocks, hli_block_nbytes(alg));
}

/* Advances a state by a kernel of several lanes, in its first lane (lanes.c). */
HLI_HIDDEN void hli_advance_in_lanes(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *data,
                                     size_t nblocks);

HLI_INLINE void hli_advance_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *data,
                                size_t nblocks)
{
    if (__builtin_expect(kernel->nlanes == 1, 1))
        hli_advance_lanes(kernel, alg, state, &data, nblocks);
    else
        hli_advance_in_lanes(kernel, alg, state, data, nblocks);
}

/* Advances all lanes by their last blocks, which were padded. A counted message has one such block, and behind it its
 * length, from which the state's counter is set. */
HLI_INLINE void hli_advance_last(const hl_kernel *kernel, const hl_alg_info *alg, void *states,
                                 const uint8_t *const msg[], size_t nblocks)
{
    if (__builtin_expect(hli_is_counted(alg), 0))
        hli_mark_last(alg, states, kernel->nlanes, msg);
    hli_advance_lanes(kernel, alg, states, msg, nblocks);
}

/* The digests of an XOF that are longer than a block (lanes.c): FIPS 202 section 4. */
HLI_HIDDEN void hli_squeeze(struct hli_edges edges, const hl_kernel *kernel, const hl_alg_info *alg, void *states,
                            unsigned n, uint8_t *const digests[]);

/* Writes the digests of the first n lanes. The states have no meaning after it. */
HLI_INLINE void hli_write_digests(struct hli_edges edges, const hl_kernel *kernel, const hl_alg_info *alg,
                                  void *states, unsigned n, uint8_t *const digests[])
{
    if (HLI_ENDS(HL_XOF, HL_XOF, 1) && __builtin_expect(alg->digest_nbytes > hli_block_nbytes(alg), 0))
        hli_squeeze(edges, kernel, alg, states, n, digests);
    else
        edges.digests(alg, states, kernel->nlanes, n, digests);
}

/* Writes the digest of a sponge's state, which squeezing may change. */
HLI_HIDDEN void hli_squeeze_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, uint8_t *digest);

/* ---- Endings (lanes.c) ------------------------------------------------------------------------------------------- */

/* State that the endings of a call share. A digest goes to the caller. If the plan has a second pass, the digest waits
 * in a queue until there are enough to fill the lanes. */
struct hli_ends {
    const struct hli_plan *plan;
    struct hli_edges edges;
    const hl_kernel *second; /* for many digests; NULL if the plan has no second pass */
    hli_whole_fn *again;     /* its function for whole messages; NULL: not used */
    unsigned n, nused;       /* digests in the queue, now and at most so far */
    unsigned nblocks;        /* of a digest that is hashed again */
    unsigned npadded;        /* digests that are blocks: their padding is behind them, and stays */
    size_t at[HLI_QUEUE];    /* the messages that the digests belong to */
    uint8_t digests[HLI_QUEUE][HL_DIGEST_MAX_NBYTES] __attribute__((aligned(64)));
    uint8_t *queue[HLI_QUEUE]; /* the addresses of these digests, and */
    size_t nbytes[HLI_LANES];  /* their lengths, in the form that the padding functions take */
};

/* again: hli_plan_again's. */
HLI_INLINE void hli_ends_init(struct hli_ends *ends, const struct hli_plan *plan, struct hli_kernels again)
{
    ends->plan = plan;
    ends->edges = hli_edges_of(plan);
    ends->second = again.whole == NULL ? again.brief : again.whole;
    ends->n = ends->nused = ends->npadded = 0;
    if (ends->second == NULL)
        return;
    ends->nblocks = hli_ending_nblocks(plan->second.alg, plan->first.alg->digest_nbytes);
    ends->again = again.whole == NULL ? NULL : hli_whole_of(again.whole);
    for (unsigned i = 0; i < HLI_QUEUE; i++)
        ends->queue[i] = ends->digests[i];
    for (unsigned l = 0; l < HLI_LANES; l++)
        ends->nbytes[l] = plan->first.alg->digest_nbytes;
}

/* Hashes queued digests again as long as they fill the lanes, or, if `all`, all of them. */
HLI_HIDDEN void hli_hash_again(struct hli_ends *ends, int all);
/* Called after the last ending of a call. */
HLI_HIDDEN void hli_ends_close(struct hli_ends *ends);

HLI_INLINE uint8_t *hli_tail(const hl_alg_info *alg, struct hli_tails *tails, size_t lane)
{
    return tails->bytes + lane * hli_tail_nbytes(alg);
}

/* Points the lanes at the first n tails. A lane without a message works on the first tail. */
HLI_INLINE void hli_point_at_tails(const hl_alg_info *alg, struct hli_tails *tails, unsigned nlanes, unsigned n,
                                   const uint8_t *msg[])
{
    for (unsigned l = 0; l < nlanes; l++)
        msg[l] = hli_tail(alg, tails, l < n ? l : 0);
}

/* The place for the digests of messages at[0 .. n - 1] of the first pass: the caller's, or the queue for the second
 * hash. Once they are there, hli_digests_written must be called. */
HLI_INLINE uint8_t *const *hli_digests_of(struct hli_ends *ends, const size_t at[], unsigned n,
                                          uint8_t *digests[HLI_LANES])
{
    if (ends->second != NULL)
        return ends->queue + ends->n;
    for (unsigned l = 0; l < n; l++)
        digests[l] = ends->plan->digests + at[l] * ends->plan->digest_stride;
    return digests;
}

HLI_INLINE void hli_digests_written(struct hli_ends *ends, const size_t at[], unsigned n)
{
    if (ends->second == NULL)
        return;
    for (unsigned l = 0; l < n; l++)
        ends->at[ends->n++] = at[l];
    if (ends->n >= ends->second->nlanes)
        hli_hash_again(ends, 0);
}

/* The part of a message that is left when its whole blocks are done. */
struct hli_ending {
    void *state;
    const uint8_t *rest;
    size_t nrest;
    uint64_t nbytes; /* of the whole message */
    size_t at;
};

/* ---- Whole messages (many.c), and in parts (streams.c) ----------------------------------------------------------- */

/* The callers have checked the arguments, and that the plan has kernels. */
HLI_HIDDEN void hli_hash(struct hli_plan *plan, const hl_messages *messages);
/* A node of 64 bytes for functions for whole messages: two blocks, or one and the schedule of the padding. */
extern const struct hli_whole hli_nodes[2] HLI_HIDDEN;
/* SHA-256 of nodes, one behind the other. Begins sooner than a call for rows. */
HLI_HIDDEN void hli_hash_nodes(const hl_alg_info *alg, const uint8_t *nodes, size_t count, uint8_t *digests);
/* Whether hli_hash_nodes may and should do it: fewer than gain from functions for many, and no digest is written where
 * a node is that is still to be read. */
HLI_INLINE int hli_are_few_nodes(const void *nodes, size_t count, const uint8_t *digests)
{
    const uintptr_t from = (uintptr_t)nodes, into = (uintptr_t)digests;

    return HLI_ALG(sha256) && count - 1 < 64 && from != 0 && into != 0 &&
           (into <= from + 32 || into >= from + 64 * count);
}
HLI_HIDDEN void hli_update(const struct hli_plan *plan, hl_ctx *const ctxs[], const hl_slice *chunks, size_t count);
/* Message `at` of the plan is that of ctxs[at]. Wipes the contexts. */
HLI_HIDDEN void hli_final(const struct hli_plan *plan, hl_ctx *const ctxs[], size_t count);

/* ---- Search (search.c) ------------------------------------------------------------------------------------------- */

/* hl_search for messages that continue `begin`, whole blocks of the job's algorithm; NULL: nothing comes before. */
HLI_HIDDEN hl_status hli_search(const hl_search_job *job, const hl_ctx *begin, uint64_t *nonces, size_t room,
                                size_t *nfound);

/* ---- Runs of blocks (lanes.c) ------------------------------------------------------------------------------------ */

enum hli_ending_kind { HLI_PADDING_ONLY, HLI_ONE_BLOCK, HLI_TWO_BLOCKS };

/* Messages of one shape can go in step. The shape is the number of whole blocks << 2 | the kind of ending. */
HLI_INLINE size_t hli_shape_of(const hl_alg_info *alg, size_t nbytes)
{
    /* A message of up to two blocks, padding included, is all ending: a copy costs less than a kernel call for its
     * first block. Exceptions: exactly one whole block, as padding with a known schedule is faster, and algorithms that
     * end in one block. */
    const size_t longest = hli_longest_in_one_block(alg);
    if (nbytes <= (hli_is_strengthened(alg) ? longest + hli_block_nbytes(alg) : longest) &&
        nbytes != hli_block_nbytes(alg))
        return HLI_ONE_BLOCK + (nbytes > longest); /* no branch: lengths around one block would be mispredicted */
    const size_t nrest = hli_rest_of_block(alg, nbytes);
    const enum hli_ending_kind kind = nrest == 0                            ? HLI_PADDING_ONLY
                                      : hli_ending_nblocks(alg, nrest) == 1 ? HLI_ONE_BLOCK
                                                                            : HLI_TWO_BLOCKS;

    return hli_whole_blocks(alg, nbytes) << 2 | kind;
}

/* Number of blocks of a message of that shape, with its padding. */
HLI_INLINE size_t hli_shape_nblocks(size_t shape)
{
    return (shape >> 2) + 1 + ((shape & 3) == HLI_TWO_BLOCKS);
}

/* order = 0 .. n - 1 (at most HLI_WINDOW), sorted by shape, the largest first. Equal shapes keep their order. */
HLI_HIDDEN void hli_sort(const size_t shapes[], size_t n, uint8_t order[]);

/* Whole blocks to hash into a plain state. */
struct hli_item {
    void *state;
    const uint8_t *data;
    size_t nblocks;
};

/* Hashes the endings, those of one block first, with full lanes as long as there are enough. items: NULL, or the blocks
 * before each ending: ending i is left out if items[i] has blocks left. */
HLI_HIDDEN void hli_finish(struct hli_ends *ends, const struct hli_ending endings[], const struct hli_item items[],
                           size_t n);

/* Advances items (at most HLI_WINDOW) by the first pass's kernels until all are done, or, if `more` messages wait,
 * until a lane stands idle. On return each item describes what is left of it. */
HLI_HIDDEN void hli_advance(const struct hli_plan *plan, struct hli_item items[], size_t n, int more);

/* ---- Secrets ----------------------------------------------------------------------------------------------------- */

/* The nbytes of the stack below the caller's frame; the registers that a call may change. */
HLI_HIDDEN void hli_burn_stack(size_t nbytes);
HLI_HIDDEN void hli_clear_registers(void);
/* Both. The first is no tail call, which would drop the caller's frame first, and burn too far up. */
HLI_INLINE void hli_burn(size_t nbytes)
{
    hli_burn_stack(nbytes);
    hli_clear_registers();
}

/* Bytes of stack that are burned below the driver's calls, in addition to the kernel's own stack: after one message in
 * a kernel of one lane, and after all else. test/remains.c searches for what these miss. */
enum { HLI_ONE_NBYTES = 1056, HLI_MANY_NBYTES = 5824 };

/* Overwrites what one message has left below the caller's frame. */
HLI_INLINE void hli_forget_one(const hl_kernel *kernel)
{
    hli_burn(hli_stack_of(kernel) + (kernel->nlanes == 1 ? (size_t)HLI_ONE_NBYTES : (size_t)HLI_MANY_NBYTES));
}

/* Overwrites what `count` messages have left below the caller's frame, if the plan is secret. `kernel` is the first
 * pass's kernel for that number. One message had this kernel, two had it or the kernel for one, of more messages the
 * last may have had any. */
HLI_INLINE void hli_forget(const struct hli_plan *plan, size_t count, const hl_kernel *kernel)
{
    const int is_one_body = plan->second.alg == NULL || hli_body(plan->second.alg) == hli_body(plan->first.alg);

    if (!plan->is_secret)
        return;
    if (count == 1 && is_one_body) {
        hli_forget_one(kernel);
        return;
    }
    size_t kernel_nbytes = HL_KERNEL_STACK_NBYTES;
    if (count == 2 && is_one_body) {
        const size_t of_one = hli_stack_of(hli_kernel(plan, &plan->first, 1));
        kernel_nbytes = hli_stack_of(kernel);
        kernel_nbytes = of_one > kernel_nbytes ? of_one : kernel_nbytes;
    }
    hli_burn(kernel_nbytes + HLI_MANY_NBYTES);
}

/* ---- One message, one stream ------------------------------------------------------------------------------------- */

/* The calls for one message and one stream come here directly, without a plan for lanes. `kernel` is always the one for
 * one message. All is inline: over the SHA instructions a block is 160 to 190 instructions, and the calls from function
 * to function once took almost as many. */

/* Copies a state and zeros behind it: four fixed sizes instead of a call of memcpy. */
HLI_INLINE void hli_copy_state(const hl_alg_info *alg, void *to, const void *from)
{
    if (hli_nwords(alg) <= 8 && hli_word_nbytes(alg) == 4)
        hli_copy(to, from, 32);
    else if (hli_state_nbytes(alg) <= 64)
        hli_copy(to, from, 64);
    else if (hli_nwords(alg) <= 12)
        hli_copy(to, from, 96);
    else
        hli_copy(to, from, HL_STATE_MAX_NBYTES);
}

/* Begins a stream in a state in which nbytes, whole blocks, have been hashed. Does not write what the algorithm never
 * uses. */
HLI_INLINE void hli_begin_one(const hl_alg_info *alg, hl_ctx *ctx, const void *state, uint64_t nbytes)
{
    hli_copy_state(alg, &ctx->state, state);
    ctx->nbytes = nbytes;
    ctx->alg = (uint32_t)alg->alg;
    ctx->reserved = 0;
}

/* Writes bytes that do not fill the block behind the `held` ones. Zeros behind them let hli_final_one load the last 16
 * bytes at once; a sponge's block may fill the context's room. */
HLI_INLINE void hli_write_rest(const hl_alg_info *alg, hl_ctx *ctx, size_t held, const uint8_t *data, size_t nbytes)
{
    if (hli_is_sponge(alg))
        hli_append(ctx->block, held, data, nbytes);
    else
        hli_copy_short(ctx->block + held, data, nbytes);
}

/* Appends bytes that do not fill a block. If they do, returns 0, with nothing done. */
HLI_INLINE int hli_hold(const hl_alg_info *alg, hl_ctx *ctx, const void *data, size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    if (nbytes >= hli_block_nbytes(alg) - held)
        return 0;
    hli_write_rest(alg, ctx, held, data, nbytes);
    ctx->nbytes += nbytes;
    return 1;
}

/* Appends bytes for which hli_hold returns 0. */
HLI_INLINE void hli_update_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, const uint8_t *data,
                               size_t nbytes)
{
    const size_t held = hli_rest_of_block(alg, ctx->nbytes);

    ctx->nbytes += nbytes;
    if (held != 0) {
        const size_t room = hli_block_nbytes(alg) - held;
        if (nbytes == room && hli_is_counted(alg)) { /* it may be the last block */
            hli_append(ctx->block, held, data, nbytes);
            return;
        }
        hli_append(ctx->block, held, data, room);
        hli_advance_one(kernel, alg, &ctx->state, ctx->block, 1);
        data += room;
        nbytes -= room;
    }
    const size_t nblocks = hli_whole_blocks(alg, nbytes), nwhole = nblocks * hli_block_nbytes(alg);
    if (nblocks > 0)
        hli_advance_one(kernel, alg, &ctx->state, data, nblocks);
    hli_write_rest(alg, ctx, 0, data + nwhole, nbytes - nwhole);
}

/* Tells the compiler what calls have checked: the length in bits is one word of 64 bits. */
HLI_INLINE void hli_assume_length(uint64_t nbytes)
{
    if (nbytes > HL_MESSAGE_MAX_NBYTES)
        __builtin_unreachable();
}

/* Hashes the last blocks, padding included, and writes the digest. */
HLI_INLINE void hli_end_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, const uint8_t *last,
                            unsigned nblocks, uint8_t *digest)
{
    if (__builtin_expect(hli_is_counted(alg), 0))
        hli_mark_last(alg, state, 1, &last);
    hli_advance_one(kernel, alg, state, last, nblocks);
    if (hli_is_sponge(alg))
        hli_squeeze_one(kernel, alg, state, digest);
    else
        hli_write_lane(alg, state, 1, digest, alg->digest_nbytes);
}

/* Hashes a message that continues `begin`, the state after nbefore bytes, whole blocks. */
HLI_INLINE void hli_hash_inline(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                                const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    uint8_t last[2 * 128] __attribute__((aligned(16)));
    hl_state state;

    if (nbytes == 64 && nbefore == 0 && hli_body(alg) == HL_BODY_SHA256 && kernel->nlanes == 1 &&
        hli_whole_of(kernel) != NULL && hli_is_even(alg->digest_nbytes)) { /* a node */
        /* Copies: a parameter whose address is taken would be in memory throughout the function. */
        const struct hli_whole whole = {begin, 0, 1, hli_sha256_schedule_64, alg->digest_nbytes, 1, 64, 0};
        const uint8_t *const node = data;
        uint8_t *const to = digest;
        hli_whole_of(kernel)(&whole, &node, &(const size_t){64}, &to);
        return;
    }
    hli_copy_state(alg, &state, begin);
    nbefore += nbytes;
    /* A block is hashed where it is, unless the kernel takes less time for two blocks at once. */
    if (nbytes >= hli_block_nbytes(alg) && (nbytes > hli_longest_in_one_block(alg) + hli_block_nbytes(alg) ||
                                        !hli_is_strengthened(alg) || !hli_makes_pairs(kernel))) {
        const size_t nblocks = hli_whole_blocks(alg, nbytes);
        hli_advance_one(kernel, alg, &state, data, nblocks);
        data += nblocks * hli_block_nbytes(alg);
        nbytes -= nblocks * hli_block_nbytes(alg);
        if (nbefore == 64 && kernel->nlanes == 1 && kernel->scheduled != NULL &&
            hli_body(alg) == HL_BODY_SHA256) { /* a node of two digests */
            kernel->scheduled(&state, hli_sha256_schedule_64);
            hli_write_lane(alg, &state, 1, digest, alg->digest_nbytes);
            return;
        }
    }
    hli_assume_length(nbefore);
    hli_end_one(kernel, alg, &state, last, hli_pad_alg(alg, last, data, nbytes, nbefore), digest);
}

/* Ends the message of an XOF, if is_first, and writes the next nbytes of its digest. */
HLI_HIDDEN void hli_squeeze_stream(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, int is_first,
                                   uint8_t *digest, size_t nbytes);

/* hli_hash_inline as a call. */
HLI_HIDDEN void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                             const uint8_t *data, size_t nbytes, uint8_t *digest);

/* Ends a stream. Its state and block are overwritten. */
HLI_INLINE void hli_final_one(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, uint8_t *digest)
{
    const size_t nrest = hli_rest_of_block(alg, ctx->nbytes);

    hli_assume_length(ctx->nbytes);
    /* A context has room for one block; other padding needs more. */
    if (nrest > hli_longest_in_one_block(alg) || !hli_is_strengthened(alg)) {
        if (hli_is_counted(alg)) {
            const hl_alg_info as = hli_counted_as(alg, &ctx->state);
            hli_hash_one(kernel, &as, &ctx->state, ctx->nbytes - nrest, ctx->block, nrest, digest);
            if (hli_is_keyed(alg, &ctx->state))
                hli_forget_one(kernel);
        } else {
            hli_hash_one(kernel, alg, &ctx->state, ctx->nbytes - nrest, ctx->block, nrest, digest);
        }
        return;
    }
    hli_pad_in_place(hli_block_nbytes(alg), hli_big_endian(alg), ctx->block, nrest, ctx->nbytes);
    hli_end_one(kernel, alg, &ctx->state, ctx->block, 1, digest);
}

/* Wipe what the algorithm uses of a state and of a context. */
HLI_INLINE void hli_wipe_state(const hl_alg_info *alg, hl_state *state)
{
    if (hli_nwords(alg) <= 8 && hli_word_nbytes(alg) == 4)
        hli_wipe(state, 32);
    else if (hli_state_nbytes(alg) <= 64)
        hli_wipe(state, 64);
    else if (hli_nwords(alg) <= 12)
        hli_wipe(state, 96);
    else
        hli_wipe(state, HL_STATE_MAX_NBYTES);
}

HLI_INLINE void hli_wipe_one(const hl_alg_info *alg, hl_ctx *ctx)
{
    hli_wipe_state(alg, &ctx->state);
    if (hli_block_nbytes(alg) == 64)
        hli_wipe(ctx->block, 64);
    else if (hli_block_nbytes(alg) == 128)
        hli_wipe(ctx->block, 128);
    else
        hli_wipe(ctx->block, HL_BLOCK_MAX_NBYTES);
    ctx->nbytes = ctx->alg = 0;
}

/* The place for the first digest of message `at` of a plan: the caller's, or `inner` if it is hashed again. */
HLI_INLINE uint8_t *hli_digest_one(const struct hli_plan *plan, size_t at, uint8_t *inner)
{
    return plan->second.alg == NULL ? plan->digests + at * plan->digest_stride : inner;
}

HLI_INLINE void hli_again_one(const struct hli_plan *plan, size_t at, const uint8_t *inner)
{
    const struct hli_pass *pass = &plan->second;

    if (pass->alg != NULL)
        hli_hash_one(hli_kernel(plan, pass, 1), pass->alg, hli_begin_of(pass, at), pass->begin_nbytes, inner,
                     plan->first.alg->digest_nbytes, plan->digests + at * plan->digest_stride);
}

#endif
