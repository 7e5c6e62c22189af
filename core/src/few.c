/* few.c: a few whole messages: one after the other, or in the groups that plan.c names.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Messages stand in columns, the form that kernels take: a group is a place in them. Behind the last message idle lanes
 * hash the first of their group once more.
 */
#include "one.h"

/* Not inlined: the first digests of two are in this frame, which the caller's hli_forget overwrites. */
HLI_NOINLINE void hli_hash_apart(const struct hli_plan *plan, const hl_kernel *kernel, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first;
    uint8_t inner[HL_DIGEST_MAX_NBYTES];

    for (size_t i = 0; i < all->count; i++) {
        const hl_slice message = hli_message_at(all->layout, all, i);
        hli_hash_one(kernel, pass->alg, hli_begin_of(pass, i), pass->begin_nbytes, message.data, message.nbytes,
                     hli_digest_one(plan, i, inner));
        hli_again_one(plan, i, inner);
    }
}

/* ---- In groups --------------------------------------------------------------------------------------------------- */

/* Messages of equally many blocks, for one pass. */
struct few {
    const struct hli_pass *pass;
    size_t count, nblocks;
    unsigned flags; /* of hli_plan_group */
    int is_one_length;
    const void *schedule;   /* of their last block, if it is known */
    struct hli_whole whole; /* for functions for whole messages: with that schedule; begin_few leaves it out */
};

/* The messages and the places for their digests, with room for idle lanes. */
struct columns {
    const uint8_t *data[HLI_SHORT + HLI_LANES];
    size_t nbytes[HLI_SHORT + HLI_LANES];
    uint8_t *to[HLI_SHORT + HLI_LANES];
    uint8_t idle[HL_DIGEST_MAX_NBYTES]; /* what idle lanes write */
};

/* Field by field: gcc would make a struct beside it, and copy that before its stores have arrived. */
HLI_INLINE void begin_few(struct few *few, uint32_t word, const struct hli_pass *pass, size_t count, size_t nblocks,
                          size_t most, int is_one_length)
{
    const void *const schedule =
        is_one_length && pass->begin_nbytes == 0 ? hli_known_schedule(pass->alg, most) : NULL;
    const int may_be_whole = hli_may_be_whole(pass) && nblocks <= hli_whole_nblocks(word, pass->alg);

    few->schedule = schedule;
    few->pass = pass;
    few->count = count;
    few->nblocks = nblocks;
    few->flags = (schedule != NULL ? HLI_IS_KNOWN : 0) | (may_be_whole ? HLI_MAY_BE_WHOLE : 0);
    few->is_one_length = is_one_length;
}

/* A group by any kernel of several lanes: messages first .. first + n - 1. The last two blocks are copied and padded,
 * or all share one padding. */
static HLI_NOINLINE void hash_blocks(const hl_kernel *kernel, struct hli_edges edges, const struct few *few,
                                     size_t first, unsigned n, const uint8_t *const data[], const size_t nbytes[],
                                     uint8_t *const digests[])
{
    const struct hli_pass *pass = few->pass;
    const hl_alg_info *alg = pass->alg;
    const int is_shared = few->is_one_length && hli_rest_of_block(alg, nbytes[0]) == 0;
    const unsigned nlanes = kernel->nlanes, npadded = is_shared ? 1 : n;
    const unsigned nlast = is_shared || few->nblocks == 1 || !hli_is_strengthened(alg) ? 1 : 2;
    const size_t nwhole = (few->nblocks - nlast) * hli_block_nbytes(alg);
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES], *rests[HLI_LANES];
    size_t nrests[HLI_LANES];

    if (pass->begin_stride == 0)
        hli_splat_lanes(alg, &states, nlanes, pass->begin);
    for (unsigned l = 0; l < nlanes; l++) {
        if (pass->begin_stride != 0)
            hli_load_lane(alg, &states, nlanes, l, hli_begin_of(pass, l < n ? first + l : first));
        rests[l] = hli_after(data[l], nwhole);
        nrests[l] = nbytes[l] - nwhole;
    }
    if (nwhole != 0)
        hli_advance_lanes(kernel, alg, &states, data, few->nblocks - nlast);
    if (few->schedule != NULL && kernel->scheduled != NULL) {
        kernel->scheduled(&states, few->schedule);
    } else {
        edges.pad(alg, nlast, rests, nrests, pass->begin_nbytes + nwhole, npadded, tails.bytes);
        hli_point_at_tails(alg, &tails, nlanes, npadded, msg);
        hli_advance_last(kernel, alg, &states, msg, nlast);
    }
    hli_write_digests(edges, kernel, alg, &states, n, digests);
}

/* One pass, in groups, of which one is given. Returns an upper bound of the stack that it took, if is_secret. */
HLI_INLINE size_t hash_groups(uint32_t word, int is_secret, const struct few *few, struct hli_group group,
                              struct columns *columns)
{
    enum { OWN = 208, ONE = HLI_ONE_NBYTES, BLOCKS = 4480, WHOLE = 160 }; /* frames */
    static const uint16_t frames[] = {[HLI_ONE] = ONE + OWN, [HLI_BLOCKS] = BLOCKS + OWN, [HLI_WHOLE] = WHOLE + OWN};
    const struct hli_pass *pass = few->pass;
    size_t most = 0;

    for (size_t first = 0; first < few->count;) {
        const hl_kernel *const kernel = group.kernel;
        const size_t left = few->count - first, nlanes = kernel->nlanes;
        if (is_secret) {
            const size_t stack = hli_stack_of(kernel) + frames[group.how];
            most = stack > most ? stack : most;
        }
        for (; group.how == HLI_ONE && first < few->count; first++)
            hli_hash_one(kernel, pass->alg, hli_begin_of(pass, first), pass->begin_nbytes, columns->data[first],
                         columns->nbytes[first], columns->to[first]);
        if (group.how == HLI_ONE)
            break;
        for (size_t l = left; l < nlanes; l++) {
            columns->data[first + l] = columns->data[first];
            columns->nbytes[first + l] = columns->nbytes[first];
            columns->to[first + l] = columns->idle;
        }
        if (group.how == HLI_BLOCKS) {
            hash_blocks(kernel, hli_choose_edges(word), few, first, (unsigned)(left < nlanes ? left : nlanes),
                        columns->data + first, columns->nbytes + first, columns->to + first);
        } else if (few->schedule != NULL && kernel->scheduled == NULL) {
            const struct hli_whole whole = hli_describe(pass, few->nblocks, few->is_one_length, NULL);
            hli_row_of(kernel)->whole(&whole, columns->data + first, columns->nbytes + first, columns->to + first);
        } else {
            hli_row_of(kernel)->whole(&few->whole, columns->data + first, columns->nbytes + first, columns->to + first);
        }
        first += nlanes;
        if (first < few->count)
            group = hli_plan_group(word, pass->alg, few->count - first, few->nblocks, few->flags);
    }
    return most;
}

/* Two passes. */
static HLI_NOINLINE void hash_groups_again(const struct hli_plan *plan, const struct few *few, struct hli_group group,
                                           const struct few *again, struct hli_group group_again,
                                           struct columns *columns)
{
    uint8_t inner[HLI_SHORT][HL_DIGEST_MAX_NBYTES];

    for (size_t i = 0; i < few->count; i++)
        columns->to[i] = inner[i];
    const size_t stack = hash_groups(plan->choice, plan->is_secret, few, group, columns);
    for (size_t i = 0; i < few->count; i++) {
        columns->data[i] = inner[i];
        columns->nbytes[i] = plan->first.alg->digest_nbytes;
        columns->to[i] = plan->digests + i * plan->digest_stride;
    }
    const size_t stack_again = hash_groups(plan->choice, plan->is_secret, again, group_again, columns);
    if (plan->is_secret) { /* the digests are the only secrets in this frame; the rest is pointers and lengths */
        hli_wipe(inner, few->count * sizeof inner[0]);
        hli_wipe(columns->idle, sizeof columns->idle);
        hli_burn(stack > stack_again ? stack : stack_again);
    }
}

HLI_NOINLINE int hli_hash_few(const struct hli_plan *plan, const hl_messages *all)
{
    const struct hli_pass *pass = &plan->first, *const second = &plan->second;
    const hl_alg_info *alg = pass->alg;
    const size_t count = all->count;
    const uint32_t word = plan->choice;
    size_t least = all->nbytes, most = all->nbytes;

    if (all->layout != HL_ROWS) {
        const hl_slice *const slices = all->base;
        least = most = slices[0].nbytes;
        for (size_t i = 1; i < count; i++) {
            least = slices[i].nbytes < least ? slices[i].nbytes : least;
            most = slices[i].nbytes > most ? slices[i].nbytes : most;
        }
    }
    const size_t nblocks = hli_padded_nblocks(alg, most);
    const int is_one_length = least == most, is_even = is_one_length || hli_padded_nblocks(alg, least) == nblocks;
    if (!is_even && (count > HLI_FEW || !hli_plan_apart(word, alg, all->base, count, nblocks)))
        return 0;
    struct few few, again;
    begin_few(&few, word, pass, count, nblocks, most, is_one_length);
    const struct hli_group group = is_even ? hli_plan_group(word, alg, count, nblocks, few.flags | HLI_ARE_ALL)
                                           : (struct hli_group){hli_choose_one(word, hli_body(alg)), HLI_ONE};
    struct hli_group group_again = {NULL, HLI_ONE};
    if (second->alg != NULL) {
        begin_few(&again, word, second, count, hli_ending_nblocks(second->alg, alg->digest_nbytes),
                  alg->digest_nbytes, 1);
        group_again = hli_plan_group(word, second->alg, count, again.nblocks, again.flags | HLI_ARE_ALL);
    }
    if (group.how == HLI_ONE && group_again.how == HLI_ONE) {
        hli_hash_apart(plan, group.kernel, all);
        hli_forget(plan, 1, group.kernel);
        return 1;
    }
    if (count >= HLI_SHARED && group.how == HLI_BLOCKS && is_one_length && group.kernel->scheduled != NULL &&
        hli_rest_of_block(alg, most) == 0) /* in step they share the padding's schedule */
        return 0;
    few.whole = hli_describe(pass, nblocks, is_one_length, few.schedule);
    if (second->alg != NULL)
        again.whole = hli_describe(second, again.nblocks, 1, again.schedule);
    struct columns columns;
    for (size_t i = 0; i < count; i++) {
        const hl_slice message = hli_message_at(all->layout, all, i);
        columns.data[i] = message.data;
        columns.nbytes[i] = message.nbytes;
        columns.to[i] = plan->digests + i * plan->digest_stride;
    }
    if (second->alg != NULL) {
        hash_groups_again(plan, &few, group, &again, group_again, &columns);
        return 1;
    }
    const size_t stack = hash_groups(word, plan->is_secret, &few, group, &columns);
    if (plan->is_secret)
        hli_burn(stack);
    return 1;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

enum { NODE = 64 };

/* The next nodes of a call by a kernel without a function for whole messages. */
static HLI_NOINLINE void hash_node_blocks(uint32_t word, const hl_alg_info *alg, const hl_kernel *kernel,
                                          const uint8_t *const data[], const size_t nbytes[], uint8_t *const to[],
                                          unsigned n)
{
    const struct hli_pass pass = {.alg = alg, .begin = alg->iv};
    struct few few;

    begin_few(&few, word, &pass, n, 2, NODE, 1);

    hash_blocks(kernel, hli_choose_edges(word), &few, 0, n, data, nbytes, to);
}

const struct hli_whole hli_nodes[2] = {
    {hli_sha256_iv, 0, 2, NULL, NODE / 2, 1, NODE, 0},
    {hli_sha256_iv, 0, 1, hli_sha256_schedule_64, NODE / 2, 1, NODE, 0},
};

HLI_NOINLINE void hli_hash_nodes(const hl_alg_info *alg, const uint8_t *nodes, size_t count, uint8_t *digests)
{
    static const size_t nbytes[] = {NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE,
                                    NODE, NODE, NODE, NODE, NODE, NODE, NODE, NODE};
    uint32_t word = hli_choice();
    unsigned flags = HLI_MAY_BE_WHOLE | HLI_IS_KNOWN | HLI_ARE_ALL;

    if (hli_has_price(word)) /* too few to pay it */
        word = hli_without_price(word);
    for (size_t nlanes; count > 0; flags = HLI_MAY_BE_WHOLE | HLI_IS_KNOWN) {
        const struct hli_group group = hli_plan_group(word, alg, count < HLI_SHORT ? count : HLI_SHORT, 2, flags);
        const uint8_t *data[HLI_LANES];
        uint8_t *to[HLI_LANES], idle[NODE / 2];
        nlanes = group.kernel->nlanes;
        for (size_t l = 0; l < nlanes; l++) { /* idle lanes hash the first node */
            data[l] = nodes + (l < count ? l : 0) * NODE;
            to[l] = l < count ? digests + l * (NODE / 2) : idle;
            __asm__("" : "+r"(l)); /* else gcc fills vectors, which takes longer */
        }
        if (group.how == HLI_WHOLE || (group.how == HLI_ONE && hli_row_of(group.kernel)->whole != NULL))
            hli_row_of(group.kernel)->whole(&hli_nodes[group.kernel->scheduled != NULL], data, nbytes, to);
        else if (group.how == HLI_ONE)
            hli_hash_one(group.kernel, alg, alg->iv, 0, nodes, NODE, digests);
        else
            hash_node_blocks(word, alg, group.kernel, data, nbytes, to, (unsigned)(count < nlanes ? count : nlanes));
        if (count <= nlanes)
            break;
        count -= nlanes;
        nodes += nlanes * NODE;
        digests += nlanes * (NODE / 2);
    }
}
