/* entry.c: the one function of the core that Go calls.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Go's garbage collector stops a goroutine only in Go code. A call therefore ends after some 150 microseconds, by the
 * costs of registry.def, and Go repeats it until all is done. Messages that take longer than that are streams in the
 * meantime: slots. text.py compiles this file beside a copy of the core.
 */
#include "../core/src/many.c" /* all use the table of kernels, which a file here has for itself */
#include "../core/src/plan.c"
#include "../core/src/registry.c"

/* Sets without which the module does not use the core (LEFT_OUT in text.py), and that are no choice therefore. */
#if HLI_X86
enum { ALWAYS = 1 << ISA_scalar | 1 << ISA_avx2, NO_CHOICE = 1 << ISA_scalar };
#else
enum { ALWAYS = 1 << ISA_scalar, NO_CHOICE = 0 };
#endif

enum {
    GROUP = 480,     /* short messages hashed in one call; a multiple of every number of lanes */
    SLOTS = 48,      /* long messages hashed side by side; likewise */
    LANES = 16,      /* fewer messages than that are no group of their own, unless there are no others */
    STREAMS = 96,    /* streams advanced in one call; the lane driver's window */
    COPIES = 32,     /* streams copied to the stack at once */
    AGAIN_NBYTES = 128, /* a second hash costs about as much as that number of bytes of the first */
    ROUNDED = 1024,  /* bytes by which frames of the core are longer here, at most */
    UNITS = 16,      /* costs are in sixteenths, so that a lane's share of a cost is a whole number */
    SLICE = 150000 * UNITS /* costs of one call: nanoseconds, on arm64 cycles */
};

/* A Go slice of bytes. */
struct go_slice {
    const uint8_t *data;
    size_t nbytes, capacity;
};

struct slot {
    hl_hmac_ctx ctx; /* without a key: only its inner stream */
    size_t at;       /* the message */
    size_t pos;      /* bytes hashed so far */
};

/* Memory for long messages: of `scratch` in core_asm.go. */
struct slots {
    struct slot slots[SLOTS];
};

/* The calls, and their arguments: `call` in core_asm.go. */
enum op {
    OP_SETUP, OP_ISA, OP_RESTRICT, OP_COSTS, OP_KERNEL, OP_ONE, OP_SUM, OP_UPDATE, OP_PEEK, OP_KEY, OP_SEARCH
};

struct call {
    uint32_t op, alg;
    uint64_t costs, longest;       /* of the algorithm, from OP_COSTS */
    uint8_t *dst;
    size_t digest_nbytes;          /* of each digest at dst */
    const struct go_slice *slices; /* messages or chunks; NULL: rows */
    const uint8_t *rows;
    size_t row_nbytes, stride;
    size_t count;
    const hl_ctx *begin;           /* messages continue this stream */
    const hl_hmac_key *keys;
    size_t key_stride;
    hl_ctx *const *ctxs;
    size_t next, pos, nslots;      /* what earlier calls have done; zeros at first */
    uint32_t status;               /* an hl_status */
    uint32_t again;                /* OP_SUM: an hl_alg that hashes the digests once more, or 0 */
    struct search *search;
};

/* OP_SEARCH: `search` in core_asm.go. */
struct search {
    hl_search_job job; /* `first` is the next nonce to try */
    uint64_t cost;     /* of a nonce */
    uint64_t *nonces;
    size_t room, nfound;
};

static unsigned long hwcap;

unsigned long hli_go_hwcap(void)
{
    return hwcap;
}

/* Freestanding code may call these. */
#define NO_CALL_OF_ITSELF __attribute__((optimize("no-tree-loop-distribute-patterns"), used))
typedef uint64_t __attribute__((vector_size(16), aligned(1), may_alias)) vector;

NO_CALL_OF_ITSELF void *memcpy(void *restrict to, const void *restrict from, size_t nbytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    for (; nbytes >= 16; nbytes -= 16, t += 16, f += 16)
        *(vector *)t = *(const vector *)f;
    for (; nbytes > 0; nbytes--)
        *t++ = *f++;
    return to;
}

NO_CALL_OF_ITSELF void *memset(void *to, int byte, size_t nbytes)
{
    uint8_t *t = to;
    const vector all = (vector){0, 0} + 0x0101010101010101u * (uint8_t)byte;

    for (; nbytes >= 16; nbytes -= 16, t += 16)
        *(vector *)t = all;
    for (; nbytes > 0; nbytes--)
        *t++ = (uint8_t)byte;
    return to;
}

/* The stack in `scratch` reaches further down than any caller of this function wipes. */
void hli_go_wipe_below(size_t nbytes)
{
    uint8_t *here;

#if HLI_X86
    __asm__ volatile("mov %%rsp, %0" : "=r"(here));
#else
    __asm__ volatile("mov %0, sp" : "=r"(here));
#endif
    nbytes += ROUNDED; /* frames here are multiples of 64 bytes */
    hli_wipe(here - nbytes, nbytes);
}

/* The costs of a block: by the best kernel for many messages, and by the best one for one. */
static uint32_t cost_of_many(const struct call *c)
{
    return (uint32_t)c->costs;
}

static uint32_t cost_of_one(const struct call *c)
{
    return (uint32_t)(c->costs >> 32);
}

/* Bytes that `n` messages side by side may each have hashed in a call. */
static size_t share_of(const struct call *c, const hl_alg_info *info, size_t n)
{
    const uint32_t nblocks = SLICE / ((uint32_t)n * cost_of_many(c) + cost_of_one(c));

    return (nblocks > 0 ? nblocks : 1) * (size_t)info->block_nbytes;
}

/* Sets the costs, and the length of the longest short message: LANES of that length fit in a call. */
static void set_costs(struct call *c)
{
    const uint32_t word = hli_choice();
    const hl_alg_info *info = hli_alg_find(c->alg);
    const hl_kernel *many = hli_choose(word, info->body, SIZE_MAX, 0, hli_finds_attacks(info));
    const hl_kernel *one = hli_choose(word, info->body, 1, 0, 0);
    const unsigned tune = word >> CHOICE_TUNE & 7, times = hli_finds_attacks(info) ? 4 : 1; /* what its search takes */
    const uint32_t of_many = times * hli_row_of(many)->cost[tune] * UNITS / many->nlanes;
    const uint32_t of_one = times * hli_row_of(one)->cost[tune] * UNITS / one->nlanes;

    c->costs = (uint64_t)of_one << 32 | of_many;
    c->longest = share_of(c, info, LANES) - 64;
}

static hl_slice message_at(const struct call *c, size_t i)
{
    if (c->slices != NULL)
        return (hl_slice){c->slices[i].data, c->slices[i].nbytes};
    return (hl_slice){hli_after(c->rows, i * c->stride), c->row_nbytes};
}

/* ---- Long messages ----------------------------------------------------------------------------------------------- */

static hl_status take_slot(struct call *c, struct slot *slot)
{
    const size_t at = c->next;

    slot->at = at;
    slot->pos = 0;
    if (c->keys != NULL)
        return hl_hmac_init(&slot->ctx, hli_nth(c->keys, at, c->key_stride));
    if (c->begin != NULL) {
        slot->ctx.inner = *c->begin;
        return HL_OK;
    }
    return hl_init(&slot->ctx.inner, (hl_alg)c->alg);
}

static HLI_NOINLINE hl_status end_slots(struct call *c, hl_hmac_ctx *const done[], const size_t at[], size_t n)
{
    uint8_t digests[SLOTS * HL_DIGEST_MAX_NBYTES];
    const hl_alg_info *info = hli_alg_find(c->alg);
    const size_t nbytes = info->digest_nbytes;
    hl_ctx *inner[SLOTS];
    hl_status status = HL_OK;

    if (c->again == 0 && c->digest_nbytes != nbytes) { /* an XOF */
        for (size_t i = 0; i < n && status == HL_OK; i++)
            status = hl_squeeze(&done[i]->inner, c->dst + at[i] * c->digest_nbytes, c->digest_nbytes);
        return status;
    }
    for (size_t i = 0; i < n; i++)
        inner[i] = &done[i]->inner;
    status = c->keys != NULL ? hl_hmac_final_many(done, n, digests) : hl_final_many(inner, n, digests);
    for (size_t i = 0; i < n && status == HL_OK; i++)
        if (c->again == 0)
            hli_copy(c->dst + at[i] * nbytes, digests + i * nbytes, nbytes);
        else /* one at a time: little time beside a long message, and no more stack */
            status = hl_hash((hl_alg)c->again, digests + i * nbytes, nbytes, c->dst + at[i] * c->digest_nbytes);
    return status;
}

/* Advances all slots, and ends the messages that are finished. */
static HLI_NOINLINE hl_status run_slots(struct call *c, const hl_alg_info *info, struct slot slots[])
{
    hl_hmac_ctx *ctxs[SLOTS], *done[SLOTS];
    hl_ctx *inner[SLOTS];
    hl_slice chunks[SLOTS];
    size_t at[SLOTS], ndone = 0, nkept = 0, n = c->nslots;
    const size_t share = share_of(c, info, n), most_ending = share_of(c, info, 1) / c->digest_nbytes;
    hl_status status;

    for (size_t i = 0; i < n; i++) {
        const hl_slice message = message_at(c, slots[i].at);
        const size_t left = message.nbytes - slots[i].pos;
        ctxs[i] = &slots[i].ctx;
        inner[i] = &slots[i].ctx.inner;
        chunks[i] = (hl_slice){hli_after(message.data, slots[i].pos), left < share ? left : share};
        slots[i].pos += chunks[i].nbytes;
        if (chunks[i].nbytes == left && (ndone == 0 || ndone < most_ending)) { /* others end in the next call */
            at[ndone] = slots[i].at;
            done[ndone++] = ctxs[i];
        }
    }
    status = c->keys != NULL ? hl_hmac_update_many(ctxs, chunks, n) : hl_update_many(inner, chunks, n);
    if (status != HL_OK || ndone == 0)
        return status;
    status = end_slots(c, done, at, ndone);
    for (size_t i = 0, d = 0; i < n; i++) {
        if (d < ndone && done[d] == &slots[i].ctx) {
            d++;
            continue;
        }
        if (nkept < i) {
            slots[nkept] = slots[i];
            if (c->keys != NULL)
                hli_wipe(&slots[i].ctx, sizeof slots[i].ctx);
        }
        nkept++;
    }
    c->nslots = nkept;
    return status;
}

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

/* Hashes n messages from c->next on. */
static hl_status run_group(struct call *c, hl_job *job, size_t n)
{
    job->nbytes = sizeof *job;
    job->alg = c->alg;
    job->again = c->again;
    job->messages.count = n;
    job->digests = c->dst + c->next * c->digest_nbytes;
    job->digest_nbytes = c->digest_nbytes;
    job->begin = c->begin;
    job->keys = c->keys == NULL ? NULL : hli_nth(c->keys, c->next, c->key_stride);
    job->key_stride = c->key_stride;
    c->next += n;
    return hl_run(job);
}

/* The number of messages from c->next on that make a group: each short, in all no more than a call may hash. Fills in
 * the job's messages. */
static size_t group_of(const struct call *c, hl_slice slices[GROUP], hl_job *job)
{
    const size_t left = c->count - c->next, squeezed = c->digest_nbytes > HL_DIGEST_MAX_NBYTES ? c->digest_nbytes : 0;
    const size_t ending = 64 + (c->again != 0 ? AGAIN_NBYTES : 0) + squeezed;
    const size_t most = LANES * (c->longest + ending);
    size_t n = 0, nbytes = 0;

    if (c->slices == NULL) {
        n = c->row_nbytes > c->longest ? 0 : left <= LANES ? left : most / (c->row_nbytes + ending);
        n = n < GROUP ? n : GROUP;
        job->messages = (hl_messages){.layout = HL_ROWS, .base = hli_after(c->rows, c->next * c->stride),
                                      .stride = c->stride, .nbytes = c->row_nbytes};
        return n < left ? n : left;
    }
    job->messages = (hl_messages){.layout = HL_SLICES, .base = slices};
    for (const struct go_slice *from = c->slices + c->next; n < GROUP && n < left; n++, from++) {
        nbytes += from->nbytes + ending;
        if (from->nbytes > c->longest || nbytes > most)
            break;
        slices[n] = (hl_slice){from->data, from->nbytes};
    }
    return n;
}

static HLI_NOINLINE uint64_t sum(struct call *c, struct slots *slots)
{
    const hl_alg_info *info = hli_alg_find(c->alg);
    hl_slice group[GROUP];
    hl_job job = {0};

    while (c->next < c->count && c->nslots < SLOTS) {
        size_t n = group_of(c, group, &job);
        const size_t left = c->count - c->next;
        if (n >= LANES || (n == left && c->nslots == 0)) {
            if (n > LANES && n < left)
                n -= n % LANES;
            c->status = run_group(c, &job, n);
            return c->status == HL_OK && (c->next < c->count || c->nslots > 0);
        }
        /* A long message, or a few short ones beside long ones. */
        for (n = n < left ? n + 1 : n; n > 0 && c->nslots < SLOTS; n--) {
            c->status = take_slot(c, &slots->slots[c->nslots]);
            if (c->status != HL_OK)
                return 0;
            c->nslots++;
            c->next++;
        }
    }
    if (c->nslots > 0)
        c->status = run_slots(c, info, slots->slots);
    return c->status == HL_OK && (c->next < c->count || c->nslots > 0);
}

/* ---- Streams ----------------------------------------------------------------------------------------------------- */

static HLI_NOINLINE uint64_t update(struct call *c)
{
    const size_t left = c->count - c->next, n = left < STREAMS ? left : STREAMS;
    const hl_alg_info *info = n == 0 || c->ctxs[c->next] == NULL ? NULL : hli_alg_find(c->ctxs[c->next]->alg);
    hl_ctx *ctxs[STREAMS];
    hl_slice chunks[STREAMS];
    size_t nactive = 0, share;
    int more = 0;

    if (info == NULL) {
        c->status = n == 0 ? HL_OK : HL_ESTATE;
        return 0;
    }
    for (size_t i = 0; i < n; i++) {
        const hl_slice chunk = message_at(c, c->next + i);
        if (chunk.nbytes <= c->pos)
            continue;
        ctxs[nactive] = c->ctxs[c->next + i];
        chunks[nactive++] = (hl_slice){hli_after(chunk.data, c->pos), chunk.nbytes - c->pos};
    }
    share = share_of(c, info, nactive);
    for (size_t i = 0; i < nactive; i++)
        if (chunks[i].nbytes > share) {
            chunks[i].nbytes = share;
            more = 1;
        }
    c->status = hl_update_many(ctxs, chunks, nactive);
    if (more) {
        c->pos += share;
    } else {
        c->pos = 0;
        c->next += n;
    }
    return c->status == HL_OK && c->next < c->count;
}

/* Writes digests, and leaves the streams as they are. */
static HLI_NOINLINE uint64_t peek(struct call *c)
{
    hl_ctx copies[COPIES], *all[COPIES];

    for (size_t done = 0; c->next < c->count && done < GROUP;) {
        const size_t left = c->count - c->next, n = left < COPIES ? left : COPIES;
        for (size_t i = 0; i < n; i++) {
            if (c->ctxs[c->next + i] == NULL) {
                c->status = HL_ENULL;
                return 0;
            }
            copies[i] = *c->ctxs[c->next + i];
            all[i] = &copies[i];
        }
        const hl_alg_info *info = hli_alg_find(copies[0].alg);
        c->status = info == NULL ? HL_ESTATE
                                 : hl_final_many(all, n, c->dst + c->next * info->digest_nbytes);
        if (c->status != HL_OK)
            return 0;
        c->next += n;
        done += n;
    }
    return c->next < c->count;
}

/* ---- Search ------------------------------------------------------------------------------------------------------ */

/* The prefix of the job is what comes after the whole blocks in c->begin. */
static HLI_NOINLINE uint64_t search(struct call *c)
{
    struct search *const all = c->search;
    const uint64_t left = all->job.last - all->job.first, most = SLICE / all->cost;
    const uint64_t n = most > LANES ? most : LANES;
    hl_search_job job = all->job;
    size_t nfound = 0;

    if (left >= n)
        job.last = job.first + n - 1;
    c->status = hli_search(&job, c->begin, all->nonces + all->nfound, all->room - all->nfound, &nfound);
    all->nfound += nfound;
    all->job.first = job.last + 1;
    return c->status == HL_OK && left >= n && all->nfound < all->room;
}

/* ---- The choice of kernels --------------------------------------------------------------------------------------- */

/* Copies a name with its zero, which fits 64 bytes. */
static void put_name(uint8_t *to, const char *name)
{
    size_t i = 0;

    for (; i < 63 && name != NULL && name[i] != '\0'; i++)
        to[i] = (uint8_t)name[i];
    to[i] = 0;
}

static hl_isas sets_of_kernels(void)
{
    hl_isas sets = 0;

    for (size_t i = 0; i < hl_kernel_count(); i++)
        sets |= hl_kernel_at(i)->isas;
    return sets;
}

/* The SHA-256 digests of one or a few pairs of nodes of 32 bytes, on a stack in the frame of enterPairs. */
void hli_go_pairs(const uint8_t *nodes, size_t count, uint8_t *digests);

void hli_go_pairs(const uint8_t *nodes, size_t count, uint8_t *digests)
{
    hli_hash_nodes(hli_alg_find(HL_SHA256), nodes, count, digests);
}

uint64_t hli_go(struct call *c, struct slots *slots);

/* Returns 1 if the same call must be made again, as there is more to do. Other functions here return that too. */
uint64_t hli_go(struct call *c, struct slots *slots)
{
    switch ((enum op)c->op) {
    case OP_ONE: c->status = hl_hash((hl_alg)c->alg, c->rows, c->row_nbytes, c->dst); return 0;
    case OP_SUM: return sum(c, slots);
    case OP_UPDATE: return update(c);
    case OP_PEEK: return peek(c);
    case OP_SEARCH: return search(c);
    case OP_KEY:
        c->status = hl_hmac_key_init((hl_hmac_key *)(uintptr_t)c->keys, (hl_alg)c->alg, c->rows, c->row_nbytes);
        return 0;
    case OP_SETUP: /* count: whether the core can be used */
        hwcap = c->count;
        c->count = (~hl_isas_available() & ALWAYS) == 0;
        return 0;
    case OP_ISA: /* the name of instruction set `next`; count: those available, those allowed << 32 */
        put_name(c->dst, hl_isa_name(c->next));
        c->count = (uint64_t)hl_isas_allowed() << 32 | (hl_isas_available() & sets_of_kernels() & ~NO_CHOICE);
        return 0;
    case OP_RESTRICT: /* also after kernels became known, without which plans have been made */
        for (size_t i = 0; i < sizeof hli_answers / sizeof hli_answers[0][0][0]; i++)
            atomic_store_explicit(&hli_answers[0][0][i], 0, memory_order_relaxed);
        c->status = hl_restrict((hl_isas)(c->count == 0 ? 0 : c->count | ALWAYS));
        return 0;
    case OP_COSTS: set_costs(c); return 0;
    case OP_KERNEL: put_name(c->dst, hl_kernel_chosen((hl_alg)c->alg, c->count)->name); return 0;
    }
    return 0;
}
