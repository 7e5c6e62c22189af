/* plan.h: the messages of a call, and which kernels hash them (plan.c).
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

/* ---- Choices ----------------------------------------------------------------------------------------------------- */

HLI_INLINE const hl_kernel *hli_best(const struct hli_plan *plan, const struct hli_pass *pass, size_t nmessages,
                                     uint32_t call_cost)
{
    const hl_body body = hli_body(pass->alg);

    return plan->forced != NULL && plan->forced->body == body ? plan->forced
           : hli_finds_attacks(pass->alg) ? hli_choose_searched(plan->choice, nmessages, call_cost)
                                          : hli_choose(plan->choice, body, nmessages, call_cost);
}

/* The kernel for this number of messages. */
HLI_INLINE const hl_kernel *hli_kernel(const struct hli_plan *plan, const struct hli_pass *pass, size_t nmessages)
{
    return hli_best(plan, pass, nmessages, 0);
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
    /* The driver's own time for a step counts beside the kernel's: for four lanes as for sixteen. On AMD the SHA
     * instructions are the best for long messages; sixteen lanes take 0.82 of their time for 20 and 64 bytes, 0.92 for
     * 128. It pays for more than a window of messages: of fewer, those left over cost what the others gain. */
    enum { STEP = 30 };
    const hl_body body = hli_body(pass->alg);
    const int is_searched = hli_finds_attacks(pass->alg), is_free = plan->forced == NULL || plan->forced->body != body;
    const hl_kernel *const brief = count > HLI_WINDOW || is_searched
                                       ? hli_best(plan, pass, SIZE_MAX, is_searched ? HLI_BESIDE_search : STEP)
                                       : wide;
    const size_t whole_nblocks = hli_whole_most(plan->choice | wide->isas, pass);
    const hl_kernel *const whole = whole_nblocks == 0              ? NULL
                                   : count > HLI_WINDOW && is_free ? hli_choose_whole(plan->choice, body, STEP)
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

#endif
