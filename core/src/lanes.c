/* lanes.c: messages side by side in lanes: how runs of blocks advance, how they end, and the second hash of digests.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Runs of blocks of any lengths: a lane whose run ends takes the next. The longest begin first. When nothing waits and
 * the lanes are no longer full, the remaining states move to the best kernel for their number. One long message among
 * short ones therefore costs no more than alone.
 *
 * A second hash (HMAC, a hash of a hash) is one more ending: the first digest and its padding, hashed from the state in
 * which the second pass begins. Digests wait in a queue until they fill the lanes of the best kernel for the second
 * algorithm, which may have more lanes than the kernel that made them.
 */
#include "lanes.h"

/* ---- Runs of blocks ---------------------------------------------------------------------------------------------- */

/* Sorts by 256 classes of size. Each shape of fewer than 32 blocks is a class; above, each doubling of the size has
 * eight classes, up to 128 MiB (with blocks of 64 bytes). Finer classes would not fill lanes better. Messages above the
 * last class are not sorted. */
static uint8_t size_class(size_t shape)
{
    if (shape < 128)
        return (uint8_t)shape;
    const unsigned octave = 63 - hli_clz64(shape); /* 7 or more */
    const unsigned class = 128 + 8 * (octave - 7) + (unsigned)(shape >> (octave - 3) & 7);
    return (uint8_t)(class < 255 ? class : 255);
}

/* A counting sort. */
void hli_sort(const size_t shapes[], size_t n, uint8_t order[])
{
    uint8_t classes[HLI_WINDOW], start[256];
    unsigned total = 0, least = 255, greatest = 0;

    for (size_t i = 0; i < n; i++) {
        classes[i] = size_class(shapes[i]);
        least = classes[i] < least ? classes[i] : least;
        greatest = classes[i] > greatest ? classes[i] : greatest;
    }
    hli_zero(start, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[classes[i]]++;
    for (unsigned c = greatest + 1; c-- > least;) {
        const unsigned here = start[c];
        start[c] = (uint8_t)total;
        total += here;
    }
    for (size_t i = 0; i < n; i++)
        order[start[classes[i]]++] = (uint8_t)i;
}

/* Not __builtin_popcount: on a CPU without such an instruction, that is a call into the compiler's library. */
static unsigned count_bits(uint32_t bits)
{
    unsigned n = 0;

    for (; bits != 0; bits &= bits - 1)
        n++;
    return n;
}

static HLI_NOINLINE void run_lanes(const struct hli_plan *plan, struct hli_item items[], size_t n, int more)
{
    const struct hli_pass *pass = &plan->first;
    const hl_alg_info *alg = pass->alg;
    union hli_lane_states states;
    const uint8_t *msg[HLI_LANES];
    size_t left[HLI_LANES];      /* blocks to go in each lane */
    uint8_t item_of[HLI_LANES];  /* the item in each lane, if its bit in `busy` is set */
    uint32_t busy = 0;
    size_t shapes[HLI_WINDOW];
    uint8_t order[HLI_WINDOW];
    size_t first = 0, end = n; /* order[first .. end - 1] wait */
    const hl_kernel *kernel = NULL;

    for (size_t i = 0; i < n; i++)
        shapes[i] = items[i].nblocks << 2;
    hli_sort(shapes, n, order);
    while (end > 0 && items[order[end - 1]].nblocks == 0)
        end--;
    if (more && end < hli_kernel(plan, pass, SIZE_MAX)->nlanes) /* they run later, beside others */
        return;

    for (;;) {
        if (first == end) {
            if (busy == 0)
                return;
            const unsigned nbusy = count_bits(busy);
            const int stop = more && nbusy < kernel->nlanes;
            if (stop || hli_kernel(plan, pass, nbusy) != kernel) {
                /* Moves all states out of the lanes, into a queue with the longest first. */
                first = end = 0;
                for (; busy != 0; busy &= busy - 1) {
                    const unsigned l = hli_ctz32(busy);
                    struct hli_item *item = &items[item_of[l]];
                    if (kernel->nlanes > 1)
                        hli_save_lane(alg, &states, kernel->nlanes, l, item->state);
                    item->data = msg[l];
                    item->nblocks = left[l];
                    size_t at = end++;
                    for (; at > 0 && items[order[at - 1]].nblocks < item->nblocks; at--)
                        order[at] = order[at - 1];
                    order[at] = item_of[l];
                }
                if (stop)
                    return;
                kernel = NULL;
            }
        }
        if (kernel == NULL)
            kernel = hli_kernel(plan, pass, end - first);

        const unsigned nlanes = kernel->nlanes;
        uint32_t idle = ~busy & (uint32_t)((UINT64_C(1) << nlanes) - 1);
        for (; idle != 0 && first < end; idle &= idle - 1) {
            const unsigned l = hli_ctz32(idle);
            const struct hli_item *item = &items[item_of[l] = order[first++]];
            msg[l] = item->data;
            left[l] = item->nblocks;
            if (nlanes > 1)
                hli_load_lane(alg, &states, nlanes, l, item->state);
            busy |= UINT32_C(1) << l;
        }
        for (; idle != 0; idle &= idle - 1) { /* a lane that stays idle works on any busy lane's data */
            const unsigned l = hli_ctz32(idle);
            msg[l] = msg[hli_ctz32(busy)];
            left[l] = SIZE_MAX;
            hli_load_lane(alg, &states, nlanes, l, alg->iv);
        }

        /* No branch depends on which lane has finished: a misprediction would delay the start of the next run. */
        size_t nblocks = left[0];
        for (unsigned l = 1; l < nlanes; l++)
            nblocks = left[l] < nblocks ? left[l] : nblocks;
        hli_advance_lanes(kernel, alg, nlanes > 1 ? &states : items[item_of[0]].state, msg, nblocks);
        uint32_t through = 0;
        for (unsigned l = 0; l < nlanes; l++) {
            msg[l] += nblocks * hli_block_nbytes(alg);
            left[l] -= nblocks;
            through |= (uint32_t)(left[l] == 0) << l;
        }
        for (busy &= ~through; through != 0; through &= through - 1) {
            const unsigned l = hli_ctz32(through);
            if (nlanes > 1)
                hli_save_lane(alg, &states, nlanes, l, items[item_of[l]].state);
            items[item_of[l]].nblocks = 0;
        }
    }
}

void hli_advance(const struct hli_plan *plan, struct hli_item items[], size_t n, int more)
{
    if (n == 0)
        return;
    if (n == 1 && !more) { /* a stream on its own */
        const hl_kernel *alone = hli_kernel(plan, &plan->first, 1);
        if (alone->nlanes == 1) {
            if (items[0].nblocks > 0)
                hli_advance_lanes(alone, plan->first.alg, items[0].state, &items[0].data, items[0].nblocks);
            items[0].nblocks = 0;
            return;
        }
    }
    run_lanes(plan, items, n, more);
}

/* ---- Endings ----------------------------------------------------------------------------------------------------- */

HLI_NOINLINE void hli_hash_again(struct hli_ends *ends, int all)
{
    const struct hli_plan *plan = ends->plan;
    const struct hli_pass *pass = &plan->second;
    const hl_alg_info *alg = pass->alg;
    const unsigned nblocks = ends->nblocks;
    /* Over AVX-512 padding is one store, and kernels load a block at once: after two stores they would wait. */
    const int are_blocks = ends->edges.pad == hli_pad_scalar && hli_is_strengthened(alg) &&
                           hli_block_nbytes(alg) == sizeof ends->digests[0] && nblocks == 1;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES];
    uint8_t *digests[HLI_LANES];
    unsigned first = 0;

    ends->nused = ends->n > ends->nused ? ends->n : ends->nused;
    while (first < ends->n) {
        const unsigned left = ends->n - first;
        if (!all && left < ends->second->nlanes)
            break;
        const hl_kernel *kernel = left < ends->second->nlanes ? hli_kernel(plan, pass, left) : ends->second;
        const unsigned nlanes = kernel->nlanes, n = left < nlanes ? left : nlanes;
        const uint8_t *const *const data = (const uint8_t *const *)ends->queue + first;
        for (unsigned l = 0; l < n; l++)
            digests[l] = plan->digests + ends->at[first + l] * plan->digest_stride;
        if (ends->again != NULL && kernel == ends->second && n == nlanes) {
            const struct hli_whole whole = hli_describe(pass, nblocks, 1, NULL);
            ends->again(&whole, data, ends->nbytes, digests);
        } else {
            for (; are_blocks && ends->npadded < ends->n; ends->npadded++)
                hli_pad_in_place(64, hli_big_endian(alg), ends->digests[ends->npadded], *ends->nbytes,
                                 pass->begin_nbytes + *ends->nbytes);
            if (!are_blocks)
                ends->edges.pad(alg, nblocks, data, ends->nbytes, pass->begin_nbytes, n, tails.bytes);
            for (unsigned l = 0; l < nlanes; l++)
                msg[l] = are_blocks ? data[l < n ? l : 0] : hli_tail(alg, &tails, l < n ? l : 0);
            hli_begin_lanes(pass, nlanes, ends->at + first, n, &states);
            hli_advance_last(kernel, alg, &states, msg, nblocks);
            hli_write_digests(ends->edges, kernel, alg, &states, n, digests);
        }
        first += n;
    }
    for (unsigned i = first; i < ends->n; i++) {
        hli_copy(ends->digests[i - first], ends->digests[i], *ends->nbytes); /* not what may lie behind */
        ends->at[i - first] = ends->at[i];
    }
    ends->n -= first;
}

void hli_ends_close(struct hli_ends *ends)
{
    if (ends->second == NULL)
        return;
    if (ends->n > 0)
        hli_hash_again(ends, 1);
    if (ends->plan->is_secret)
        hli_wipe(ends->digests, ends->nused * sizeof ends->digests[0]);
}

HLI_NOINLINE void hli_squeeze(struct hli_edges edges, const hl_kernel *kernel, const hl_alg_info *alg, void *states,
                              unsigned n, uint8_t *const digests[])
{
    const uint8_t *msg[HLI_LANES];
    uint8_t *to[HLI_LANES];
    hl_alg_info part = *alg;

    if (!HLI_ENDS(HL_XOF, HL_XOF, 1)) /* the build has none; likewise below */
        return;
    for (unsigned l = 0; l < kernel->nlanes; l++) {
        msg[l] = (const uint8_t *)hli_sponge_iv; /* a block of zeros */
        to[l] = digests[l < n ? l : 0];
    }
    for (unsigned left = alg->digest_nbytes;; left -= part.digest_nbytes) {
        part.digest_nbytes = left < hli_block_nbytes(alg) ? left : hli_block_nbytes(alg);
        edges.digests(&part, states, kernel->nlanes, n, to);
        if (left == part.digest_nbytes)
            return;
        for (unsigned l = 0; l < n; l++)
            to[l] += part.digest_nbytes;
        hli_advance_lanes(kernel, alg, states, msg, 1);
    }
}

/* The next n endings of nblocks, from place i on. Returns the place behind them. */
static HLI_NOINLINE size_t end_lanes(struct hli_ends *ends, const hl_kernel *kernel, const struct hli_ending endings[],
                                     const struct hli_item items[], size_t i, unsigned n, unsigned nblocks, size_t at[])
{
    const hl_alg_info *alg = ends->plan->first.alg;
    const unsigned nlanes = kernel->nlanes;
    union hli_lane_states states;
    struct hli_tails tails;
    const uint8_t *msg[HLI_LANES];
    uint8_t *digests[HLI_LANES];
    const void *state = NULL;

    for (unsigned l = 0; l < n; i++) {
        const struct hli_ending *e = &endings[i];
        if ((items != NULL && items[i].nblocks != 0) || hli_ending_nblocks(alg, e->nrest) != nblocks)
            continue;
        ends->edges.pad(alg, nblocks, &e->rest, &e->nrest, e->nbytes - e->nrest, 1, hli_tail(alg, &tails, l));
        state = e->state;
        hli_load_lane(alg, &states, nlanes, l, state);
        at[l++] = e->at;
    }
    for (unsigned l = n; l < nlanes; l++) /* idle lanes work on the last message's state */
        hli_load_lane(alg, &states, nlanes, l, state);
    hli_point_at_tails(alg, &tails, nlanes, n, msg);
    hli_advance_last(kernel, alg, &states, msg, nblocks);
    hli_write_digests(ends->edges, kernel, alg, &states, n, hli_digests_of(ends, at, n, digests));
    return i;
}

void hli_finish(struct hli_ends *ends, const struct hli_ending endings[], const struct hli_item items[], size_t n)
{
    const struct hli_plan *plan = ends->plan;
    size_t at[HLI_LANES];

    for (unsigned nblocks = 1; nblocks <= 2; nblocks++) {
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            left += (items == NULL || items[i].nblocks == 0) &&
                    hli_ending_nblocks(plan->first.alg, endings[i].nrest) == nblocks;
        for (size_t i = 0; left > 0;) {
            const hl_kernel *kernel = hli_kernel(plan, &plan->first, left);
            const unsigned nstep = left < kernel->nlanes ? (unsigned)left : kernel->nlanes;
            i = end_lanes(ends, kernel, endings, items, i, nstep, nblocks, at);
            hli_digests_written(ends, at, nstep);
            left -= nstep;
        }
    }
}

/* ---- One lane ---------------------------------------------------------------------------------------------------- */

/* hl_restrict may leave only such kernels. Not inlined, so that no other kernel takes this stack. */
HLI_NOINLINE void hli_advance_in_lanes(const hl_kernel *kernel, const hl_alg_info *alg, void *state,
                                       const uint8_t *data, size_t nblocks)
{
    union hli_lane_states states;
    const uint8_t *msg[HLI_LANES];

    hli_splat_lanes(alg, &states, kernel->nlanes, state);
    for (unsigned l = 0; l < kernel->nlanes; l++)
        msg[l] = data;
    hli_advance_lanes(kernel, alg, &states, msg, nblocks);
    hli_save_lane(alg, &states, kernel->nlanes, 0, state);
}

HLI_NOINLINE void hli_squeeze_one(const hl_kernel *kernel, const hl_alg_info *alg, void *state, uint8_t *digest)
{
    if (!HLI_ENDS(HL_SPONGE, HL_XOF, 1))
        return;
    for (unsigned left = alg->digest_nbytes;;) {
        const unsigned n = left < hli_block_nbytes(alg) ? left : hli_block_nbytes(alg);
        hli_write_words(state, 1, digest, n);
        digest += n;
        left -= n;
        if (left == 0)
            return;
        hli_advance_one(kernel, alg, state, (const uint8_t *)hli_sponge_iv, 1); /* a block of zeros */
    }
}

HLI_NOINLINE void hli_hash_one(const hl_kernel *kernel, const hl_alg_info *alg, const void *begin, uint64_t nbefore,
                               const uint8_t *data, size_t nbytes, uint8_t *digest)
{
    hli_hash_inline(kernel, alg, begin, nbefore, data, nbytes, digest);
}

HLI_NOINLINE void hli_squeeze_stream(const hl_kernel *kernel, const hl_alg_info *alg, hl_ctx *ctx, int is_first,
                                     uint8_t *digest, size_t nbytes)
{
    if (!HLI_ENDS(HL_XOF, HL_XOF, 1))
        return;
    if (is_first) {
        uint8_t last[HL_BLOCK_MAX_NBYTES + 8] __attribute__((aligned(16)));
        hli_pad_alg(alg, last, ctx->block, hli_rest_of_block(alg, ctx->nbytes), ctx->nbytes);
        hli_advance_one(kernel, alg, &ctx->state, last, 1);
        hli_wipe(ctx->block, sizeof ctx->block);
        hli_wipe(last, sizeof last);
        ctx->nbytes = 0;
    }
    /* The block holds what the state would write. */
    while (nbytes > 0) {
        const size_t at = hli_rest_of_block(alg, ctx->nbytes), left = hli_block_nbytes(alg) - at;
        const size_t n = nbytes < left ? nbytes : left;
        if (at == 0) {
            if (ctx->nbytes != 0)
                hli_advance_one(kernel, alg, &ctx->state, (const uint8_t *)hli_sponge_iv, 1); /* a block of zeros */
            hli_write_words(&ctx->state, 1, ctx->block, hli_block_nbytes(alg));
        }
        hli_copy(digest, ctx->block + at, n);
        ctx->nbytes += n;
        digest += n;
        nbytes -= n;
    }
}

/* ---- Secrets ----------------------------------------------------------------------------------------------------- */

/* Kernels keep states and message schedules in registers and spill them to the stack, where they stay after return. A
 * kernel that cleaned up after itself would do so for every block of every hash. A call with a secret therefore burns
 * the stack once, at its end, from a frame that holds no secret itself, as deep as its callees have been.
 *
 * Called from the frame below which it burns, and not from another function: frames keep their tops, on s390x 160 bytes
 * each. It needs so few registers that it saves none of its caller's, which may hold words of a secret. */
HLI_NOINLINE void hli_burn_stack(size_t nbytes)
{
#ifdef HLI_WIPE_BELOW /* a build whose stack is not where the stack pointer points: Go's */
    HLI_WIPE_BELOW(nbytes);
#else
    uint8_t stack[nbytes];

    hli_wipe(stack, nbytes);
#endif
}

HLI_NOINLINE void hli_clear_registers(void)
{
    hli_clear_vectors();
#if HLI_X86_64
    __asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx\n\txor %%esi, %%esi\n\t"
                     "xor %%edi, %%edi\n\txor %%r8d, %%r8d\n\txor %%r9d, %%r9d\n\txor %%r10d, %%r10d\n\t"
                     "xor %%r11d, %%r11d"
                     :
                     :
                     : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
#elif HLI_X86
    __asm__ volatile("xor %%eax, %%eax\n\txor %%ecx, %%ecx\n\txor %%edx, %%edx" : : : "eax", "ecx", "edx", "cc");
#elif HLI_ARM64
#  define ZERO(n) "mov x" #n ", xzr\n\t"
    __asm__ volatile(ZERO(0) ZERO(1) ZERO(2) ZERO(3) ZERO(4) ZERO(5) ZERO(6) ZERO(7) ZERO(8) ZERO(9) ZERO(10) ZERO(11)
                     ZERO(12) ZERO(13) ZERO(14) ZERO(15) ZERO(16) ZERO(17)
                     :
                     :
                     : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14",
                       "x15", "x16", "x17");
#endif
}

/* The lane driver has room for this number of states. */
#define FITS(body, nlanes) \
    _Static_assert((nlanes) * WORD_NBYTES_##body <= 64 && \
                   (nlanes) * WORD_NBYTES_##body * NWORDS_##body <= sizeof(union hli_lane_states), "too many lanes");
#define LANES(body, name, isa, nlanes, ...)      FITS(body, nlanes)
#define KERNEL(body, function, isa, nlanes, ...) FITS(body, nlanes)
#include "registry.def"
