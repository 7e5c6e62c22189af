/* plan.h: the plan of a call: its arguments are checked, and which kernels hash its messages (plan.c).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef HLI_PLAN_H
#define HLI_PLAN_H

#include <stdatomic.h>

#include "registry.h"

enum {
    HLI_WINDOW = 96,                  /* messages sorted together; 16 KiB of the promised 32 KiB of stack */
    HLI_LANES = HL_LANES_MAX,         /* messages in step */
    HLI_QUEUE = 2 * HLI_LANES,        /* digests that wait for the second hash */
    HLI_ROOM_NBYTES = 64 * HLI_WINDOW /* for copies of short messages, or of digests */
};

enum {
    HLI_FEW = 4,   /* messages that may take less time one after the other */
    HLI_SHORT = 16 /* messages that go in groups, if they take equally many blocks */
};

/* One hash over all messages of a call. */
struct hli_pass {
    const hl_alg_info *alg; /* NULL: the call has no such pass */
    /* The state in which message `at` begins, its words in order, is at begins[at] + begin_stride bytes, or, if begins
     * is NULL, at begin + at * begin_stride bytes. begin_nbytes, whole blocks, were hashed into each state before. */
    const void *begin;
    const void *const *begins;
    size_t begin_stride;
    uint64_t begin_nbytes;
};

/* Whether functions for whole messages can do it: all messages begin in one state, and the digest has a usual size. */
HLI_INLINE int hli_may_be_whole(const struct hli_pass *pass)
{
    const hl_alg_info *alg = pass->alg;

    return pass->begin_stride == 0 && pass->begin_nbytes < HLI_WHOLE_BEFORE_NBYTES && !hli_finds_attacks(alg) &&
           (HLI_ENDS(HL_XOF, HL_TREE, alg->ending >= HL_XOF) ? alg->digest_nbytes == 32 || alg->digest_nbytes == 64
            : hli_state_nbytes(alg) >= 32 ? hli_is_even(alg->digest_nbytes)
                                          : alg->digest_nbytes == hli_state_nbytes(alg));
}

/* Whole messages of a pass, for such a function. nblocks includes the padding, whose schedule may be given. */
HLI_INLINE struct hli_whole hli_describe(const struct hli_pass *pass, size_t nblocks, int is_one_length,
                                         const void *schedule)
{
    const hl_alg_info *alg = pass->alg;

    return (struct hli_whole){pass->begin, (uint32_t)pass->begin_nbytes, (uint32_t)nblocks - (schedule != NULL),
                              schedule, alg->digest_nbytes, is_one_length, hli_block_nbytes(alg), alg->suffix};
}

/* How one call is carried out. The choice of kernels is read once, so that hl_restrict does not change it half-way. */
struct hli_plan {
    uint32_t choice;
    int is_secret;           /* messages or first states are secret: they do not stay on the stack or in registers */
    const hl_kernel *forced; /* use only this kernel, for its body; NULL: the best for what is left to do */
    struct hli_pass first, second; /* the second hashes the digests of the first */
    uint8_t *digests;
    size_t digest_stride; /* bytes from one digest to the next */
};

/* The bytes after the first nwhole. NULL stays NULL, as C allows no addition to NULL, not even of 0. */
HLI_INLINE const uint8_t *hli_after(const uint8_t *data, size_t nwhole)
{
    return nwhole == 0 ? data : data + nwhole;
}

/* Message i of `all`. The layout is a separate argument, so that it can be a literal. */
HLI_INLINE hl_slice hli_message_at(unsigned layout, const hl_messages *all, size_t i)
{
    if (layout == HL_ROWS)
        return (hl_slice){hli_after(all->base, i * all->stride), all->nbytes};
    return ((const hl_slice *)all->base)[i];
}

/* The lengths of the shortest and of the longest of one message or more. */
HLI_INLINE void hli_lengths(const hl_messages *all, size_t *least, size_t *most)
{
    const hl_slice *const slices = all->base;

    *least = *most = all->layout == HL_ROWS ? all->nbytes : slices[0].nbytes;
    for (size_t i = 1; all->layout != HL_ROWS && i < all->count; i++) {
        *least = slices[i].nbytes < *least ? slices[i].nbytes : *least;
        *most = slices[i].nbytes > *most ? slices[i].nbytes : *most;
    }
}

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

HLI_INLINE const hl_kernel *hli_best(const struct hli_plan *plan, const struct hli_pass *pass, size_t nmessages,
                                     uint32_t call_cost)
{
    const hl_body body = hli_body(pass->alg);

    return plan->forced != NULL && plan->forced->body == body
               ? plan->forced
               : hli_choose(plan->choice, body, nmessages, call_cost, hli_finds_attacks(pass->alg));
}

/* The kernel for this number of messages. */
HLI_INLINE const hl_kernel *hli_kernel(const struct hli_plan *plan, const struct hli_pass *pass, size_t nmessages)
{
    return hli_best(plan, pass, nmessages, 0);
}

/* The most blocks of a message of that pass for a function for whole messages; 0: none can do it. */
HLI_INLINE size_t hli_whole_most(hl_isas isas, const struct hli_pass *pass)
{
    return hli_may_be_whole(pass) ? hli_whole_nblocks(isas, pass->alg) : 0;
}

/* The kernels for a pass over many messages. */
struct hli_kernels {
    const hl_kernel *wide;  /* for long messages */
    const hl_kernel *brief; /* for messages of a few blocks */
    const hl_kernel *whole; /* has a function for whole messages, which is better than both; NULL: none */
    size_t whole_nblocks;   /* the most of a message for such a function of any kernel; 0: none may do it */
};

/* wide: hli_kernel of `count`. Inline: as calls these would take a twentieth of 16 short messages' time. */
HLI_INLINE struct hli_kernels hli_plan_pass(const struct hli_plan *plan, const struct hli_pass *pass, size_t count,
                                            const hl_kernel *wide)
{
    /* On AMD the SHA instructions are the best for long messages; sixteen lanes take 0.82 of their time for 20 and 64
     * bytes, 0.92 for 128. It pays beyond a window of messages: of fewer, those left over cost what the others gain. */
    const hl_body body = hli_body(pass->alg);
    const int is_searched = hli_finds_attacks(pass->alg), is_free = plan->forced == NULL || plan->forced->body != body;
    const hl_kernel *const brief =
        count > HLI_WINDOW || is_searched
            ? hli_best(plan, pass, SIZE_MAX, is_searched ? HLI_BESIDE_search : HLI_BESIDE_step)
            : wide;
    const size_t whole_nblocks = hli_whole_most(plan->choice | wide->isas, pass);
    const hl_kernel *const whole =
        whole_nblocks == 0              ? NULL
        : count > HLI_WINDOW && is_free ? hli_choose_whole(plan->choice, body, HLI_BESIDE_step)
        : hli_whole_of(wide) != NULL    ? wide
                                        : NULL;

    return (struct hli_kernels){wide, brief, whole, whole_nblocks};
}

/* Those of the second pass, over the digests of the first, for which `wide` is. NULL: there is none. */
HLI_INLINE struct hli_kernels hli_plan_again(const struct hli_plan *plan, size_t count, const hl_kernel *wide)
{
    const struct hli_pass *const second = &plan->second;

    if (second->alg == NULL)
        return (struct hli_kernels){NULL, NULL, NULL, 0};
    const int is_one_body = hli_body(second->alg) == hli_body(plan->first.alg);
    return hli_plan_pass(plan, second, count, is_one_body ? wide : hli_kernel(plan, second, count));
}

/* A forced kernel's edges are of its own instruction set, or of a plainer one. */
HLI_INLINE struct hli_edges hli_edges_of(const struct hli_plan *plan)
{
    return hli_choose_edges(plan->forced != NULL ? plan->forced->isas : plan->choice);
}

/* ---- Few messages ------------------------------------------------------------------------------------------------ */

enum hli_how {
    HLI_ONE,    /* this and all messages behind it one by one, each alone */
    HLI_BLOCKS, /* side by side: first their whole blocks, then copies of their last ones with the padding */
    HLI_WHOLE   /* side by side, by the kernel's function for whole messages */
};
/* The next messages: as many as the kernel has lanes. */
struct hli_group {
    const hl_kernel *kernel;
    enum hli_how how;
};

enum {
    HLI_MAY_BE_WHOLE = 1, /* they are for functions for whole messages */
    HLI_IS_KNOWN = 2,     /* the last block's schedule is known */
    HLI_ARE_ALL = 4       /* no other messages came before */
};

/* An answer is one word: the row of the group's kernel, flags, and the bits of the choice word from which both follow.
 * An answer with other such bits is out of date. HLI_GROUP_WHOLE: the kernel's function for whole messages is meant.
 * HLI_GROUP_APART: one by one, if no others came before. */
#define HLI_GROUP_ROW   CHOICE_AVAILABLE
#define HLI_GROUP_WHOLE (UINT32_C(1) << 19)
#define HLI_GROUP_APART (UINT32_C(1) << 20)
#define HLI_GROUP_FROM  (ISA_MASK | UINT32_C(7) << CHOICE_TUNE | CHOICE_KNOWN)

/* Shapes of messages: 1 .. HLI_WHOLE_NBLOCKS blocks, with and without functions for whole messages; two blocks with a
 * known schedule; and 8, 16 and 32 blocks, which stand for all greater numbers. */
enum {
    HLI_SHAPE_KNOWN = 2 * HLI_WHOLE_NBLOCKS,
    HLI_SHAPE_LONG = HLI_SHAPE_KNOWN + 2,
    HLI_NSHAPES = HLI_SHAPE_LONG + 3
};

HLI_INLINE unsigned hli_group_shape(size_t nblocks, int is_known, int may_be_whole)
{
    if (nblocks > HLI_WHOLE_NBLOCKS)
        return HLI_SHAPE_LONG + (nblocks >= 16) + (nblocks >= 32);
    return (is_known ? (unsigned)HLI_SHAPE_KNOWN : 2 * ((unsigned)nblocks - 1)) + (unsigned)may_be_whole;
}

/* The answers so far (plan.c). */
extern _Atomic uint32_t hli_answers[HLI_NBODIES][HLI_SHORT][HLI_NSHAPES] HLI_HIDDEN;
/* Finds and keeps an answer. */
HLI_HIDDEN uint32_t hli_weigh(uint32_t word, hl_body body, uint32_t nmessages, unsigned shape);
/* The kernel for one message: it has one lane, unless the choice leaves none of these. In lanes the driver would add
 * the time of some blocks (RIPEMD-160 of 64 bytes: 480 ns instead of 250). Many programs hash one message a call: to
 * weigh all rows would take a third of that time (64 bytes: 20 to 30 ns of 90). */
HLI_INLINE const hl_kernel *hli_one_in_table(uint32_t word, hl_body body)
{
    uint32_t found = atomic_load_explicit(&hli_answers[body][0][0], memory_order_relaxed);

    if (__builtin_expect(((found ^ word) & HLI_GROUP_FROM) != 0, 0))
        found = hli_weigh(word, body, 1, 0);
    return &hli_rows[found >> HLI_GROUP_ROW & 0xff].kernel;
}
#if HLI_SMALL /* Go's text may name the answers in one file only */
HLI_HIDDEN const hl_kernel *hli_choose_one(uint32_t word, hl_body body);
#else
#  define hli_choose_one hli_one_in_table
#endif
/* The next group of three or more messages of HL_SHA1DC. */
HLI_HIDDEN struct hli_group hli_plan_searched(uint32_t word, size_t n, size_t nblocks);

/* The next group of n messages (1 .. HLI_SHORT) of equally many blocks, with their padding. Inline: two calls of a
 * function cost 2 nodes of 64 bytes a fortieth. */
HLI_INLINE struct hli_group hli_plan_group(uint32_t word, const hl_alg_info *alg, size_t n, size_t nblocks,
                                           unsigned flags)
{
    const hl_body body = hli_body(alg);
    const unsigned shape = hli_group_shape(nblocks, (flags & HLI_IS_KNOWN) != 0, (flags & HLI_MAY_BE_WHOLE) != 0);

    if (n > 2 && __builtin_expect(hli_finds_attacks(alg), 0))
        return hli_plan_searched(word, n, nblocks);
    uint32_t found = atomic_load_explicit(&hli_answers[body][n - 1][shape], memory_order_relaxed);
    if (__builtin_expect(((found ^ word) & HLI_GROUP_FROM) != 0, 0))
        found = hli_weigh(word, body, (uint32_t)n, shape);
    if ((flags & HLI_ARE_ALL) != 0 && (found & HLI_GROUP_APART) != 0)
        return (struct hli_group){hli_choose_one(word, body), HLI_ONE};
    const hl_kernel *const kernel = &hli_rows[found >> HLI_GROUP_ROW & 0xff].kernel;
    return (struct hli_group){kernel, kernel->nlanes == 1                 ? HLI_ONE
                                      : (found & HLI_GROUP_WHOLE) != 0 ? HLI_WHOLE
                                                                           : HLI_BLOCKS};
}
/* Whether n messages (2 .. HLI_FEW) of other numbers of blocks, at most `most`, take less time one by one than side by
 * side. Reads their lengths. */
HLI_HIDDEN int hli_plan_apart(uint32_t word, const hl_alg_info *alg, const hl_slice *messages, size_t n, size_t most);
/* Whether a call avoids vectors of 512 bits, under a choice with hli_has_price. */
HLI_HIDDEN int hli_spares_power(const struct hli_plan *plan, const hl_messages *all);

/* ---- Checks, before anything is written -------------------------------------------------------------------------- */

#define HLI_SLICES_OF(messages, n) {.layout = HL_SLICES, .count = (n), .base = (messages)}

/* Kernels are compiled without sanitizers, so that a debug build stays fast, but a length that runs over the caller's
 * buffer must be caught all the same. Under AddressSanitizer the range is looked up in its shadow memory. The first bad
 * byte, if any, is read here, in instrumented code, which reports the read with the caller's stack. */
#if defined(__has_feature)
#  if __has_feature(address_sanitizer)
#    define HLI_ASAN 1
#  endif
#elif defined(__SANITIZE_ADDRESS__)
#  define HLI_ASAN 1
#endif
#ifdef HLI_ASAN
void *__asan_region_is_poisoned(void *begin, size_t nbytes);
HLI_INLINE void hli_check_readable(const void *data, size_t nbytes)
{
    const volatile uint8_t *bad = nbytes == 0 ? NULL : __asan_region_is_poisoned((void *)(uintptr_t)data, nbytes);
    if (bad != NULL)
        (void)*bad;
}
#else
#  define hli_check_readable(data, nbytes) ((void)(data), (void)(nbytes))
#endif

/* `before`, at most HL_MESSAGE_MAX_NBYTES, is the number of bytes of the message that came before. */
HLI_INLINE hl_status hli_check_slice(const void *data, size_t nbytes, uint64_t before)
{
    if (data == NULL && nbytes != 0)
        return HL_ENULL;
    return nbytes > HL_MESSAGE_MAX_NBYTES - before ? HL_ELENGTH : HL_OK;
}

HLI_INLINE void hli_check_readable_slices(const hl_slice *slices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hli_check_readable(slices[i].data, slices[i].nbytes);
}

/* Checks an array of `count` contexts. */
HLI_INLINE hl_status hli_check_array(const void *ctxs, size_t count)
{
    if (count > SIZE_MAX / sizeof(hl_slice)) /* no arrays of this length fit in memory */
        return HL_ELENGTH;
    return ctxs == NULL ? HL_ENULL : HL_OK;
}

/* Checks one stream of a call. *info is NULL, or the algorithm of the streams before, which this one must share; it is
 * set to this stream's algorithm. */
HLI_INLINE hl_status hli_check_stream(const hl_ctx *ctx, int is_hmac, const hl_alg_info **info)
{
    if (is_hmac && !HLI_ALG(hmac))
        return HL_ESTATE;
    if (*info == NULL)
        *info = hli_alg_find(ctx->alg);
    if (*info == NULL || ctx->alg != (uint32_t)(*info)->alg || ctx->nbytes > HL_MESSAGE_MAX_NBYTES)
        return HL_ESTATE;
    /* HMAC: its key's block */
    return is_hmac && (ctx->nbytes < hli_block_nbytes(*info) || !hli_has_hmac(*info)) ? HL_ESTATE : HL_OK;
}

/* Checks what every hashing call needs: a known algorithm and room for the digests. Fills in the plan, with the present
 * choice of kernels; hl_restrict leaves each algorithm at least one. Inline, like check_contexts of api.c: as calls the
 * two would take a twentieth of a short stream's time (gcc 12.2). */
HLI_INLINE hl_status hli_check_call(const hl_alg_info *info, const hl_kernel *forced, size_t count,
                                    uint8_t *digests, struct hli_plan *plan)
{
    if (info == NULL)
        return HL_EALG;
    if (count != 0 && digests == NULL)
        return HL_ENULL;
    if (count > SIZE_MAX / info->digest_nbytes)
        return HL_ELENGTH;
    if (forced != NULL && forced->body != hli_body(info))
        return HL_EKERNEL;
    plan->choice = hli_choice();
    plan->is_secret = 0;
    plan->forced = forced;
    plan->first = (struct hli_pass){.alg = info, .begin = info->iv};
    plan->second.alg = NULL; /* the other fields have no meaning then */
    plan->digests = digests;
    plan->digest_stride = info->digest_nbytes;
    return HL_OK;
}

/* `before` is the number of bytes hashed before each message. */
HLI_INLINE hl_status hli_check_slices(const hl_slice *slices, size_t count, uint64_t before)
{
    size_t wrong = 0;

    if (count != 0 && slices == NULL)
        return HL_ENULL;
    /* All at once, without branches: with one for each message, four of SHA-256 of 33 bytes took 40 ns more. */
    for (size_t i = 0; i < count; i++) {
        const hl_slice *slice = slices + i;
        wrong |= (slice->data == NULL ? slice->nbytes : 0) | (slice->nbytes > HL_MESSAGE_MAX_NBYTES - before);
    }
    for (size_t i = 0; wrong != 0 && i < count; i++) {
        const hl_status status = hli_check_slice(slices[i].data, slices[i].nbytes, before);
        if (status != HL_OK)
            return status;
    }
    hli_check_readable_slices(slices, count);
    return HL_OK;
}

HLI_INLINE hl_status hli_check_rows(const hl_messages *rows, uint64_t before)
{
    size_t span;

    if (rows->count == 0)
        return HL_OK;
    if (__builtin_mul_overflow(rows->count - 1, rows->stride, &span) ||
        __builtin_add_overflow(span, rows->nbytes, &span))
        return HL_ELENGTH;
    const hl_status status = hli_check_slice(rows->base, rows->nbytes, before);
    for (size_t i = 0; status == HL_OK && i < rows->count && rows->nbytes > 0; i++)
        hli_check_readable((const uint8_t *)rows->base + i * rows->stride, rows->nbytes);
    return status;
}

HLI_INLINE hl_status hli_check_messages(const hl_messages *all, uint64_t before)
{
    switch (all->layout) {
    case HL_SLICES: return hli_check_slices(all->base, all->count, before);
    case HL_ROWS: return hli_check_rows(all, before);
    default: return HL_EJOB;
    }
}

#endif
