/* search.c: tries nonces, and finds those whose digest is low enough.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A message is prefix, nonce, suffix. The whole blocks of the prefix are hashed once. Each lane has a copy of the
 * blocks that the nonce touches; from one nonce to the next only the last digits in this copy change: one store of four
 * bytes, from a table. Blocks after these are the same for all lanes and lie in memory once. Of each digest, the most
 * significant 32 bits are compared in the kernel's layout. The whole digest is written only if they are low enough.
 *
 * Over AVX-512 the copies are in the kernel's layout already (hli_words_fn), and so are the digests that are hashed
 * again: no lane is read or written alone. Kernels with a function for whole messages (hli_whole_fn) go from copies to
 * digests, and from these to the second ones.
 */
#include "lanes.h"

/* gcc's -O2 does not vectorise the loops over lanes. */
#if !defined(__clang__)
#  pragma GCC optimize("O3")
#endif

enum {
    MAX_DIGITS = 64,   /* a 64-bit nonce in base 2 */
    TABLE_SIZE = 1024, /* entries: three digits of base 10 */
    WINDOW = 4,        /* bytes that are stored for each nonce; the last digits are among them */
    MAX_COPIED = 2,    /* blocks that the nonce touches: less than a block of the prefix, and up to 64 digits */
    BLOCK_NBYTES = 128, /* at most: no sponge comes here */
    COPY_NBYTES = MAX_COPIED * BLOCK_NBYTES + WINDOW
};

/* The search, and what stays the same for all nonces. */
struct search {
    const hl_search_job *job;
    const hl_alg_info *alg, *last_alg; /* of the first hash, and of the last */
    const hl_kernel *first, *second;   /* second: NULL if digests are not hashed again */
    hli_words_fn *first_words, *second_words; /* NULL: not used */
    hli_whole_fn *first_whole, *second_whole; /* likewise */
    const struct hli_plan *plan;
    struct hli_edges edges;
    unsigned nbatch;              /* nonces hashed at once, a whole number of calls of `first` */
    uint32_t base;                /* of the nonce's digits */
    size_t nrest;                 /* bytes of the prefix after its whole blocks */
    uint64_t begin_nbytes;        /* bytes of the prefix's whole blocks */
    uint32_t top;                 /* the most significant 32 bits of the target */
    unsigned top_word, top_shift; /* where a state has these bits of the digest */
    int top_swap;
    union hli_lane_states begin, begin_again; /* the states in which the hashes begin, in the kernels' layouts */
    uint64_t *nonces;
    size_t room, nfound;
};

/* Nonces of one number of digits. */
struct segment {
    unsigned ndigits, ninner;   /* all; the last ones, which are in the table */
    uint64_t table_size;        /* base to the power of ninner */
    size_t window;              /* of the WINDOW bytes in a copy */
    unsigned ncopied;           /* blocks of a copy */
    const uint8_t *shared;      /* the suffix's whole blocks after the copy */
    size_t nshared;
    const uint8_t *ending;      /* the last blocks, after the shared ones */
    unsigned nending;           /* 0 if the message ends in the copy */
    struct hli_whole whole;     /* messages that end in the copy; no blocks: others */
    size_t nbytes[HLI_LANES];   /* of these messages */
    int has_schedule;           /* one last block, whose schedule is */
    uint64_t schedule[80];
    uint8_t text[COPY_NBYTES + 2 * BLOCK_NBYTES]; /* a copy, with zeros for the digits in the table */
    uint8_t padded[2 * BLOCK_NBYTES];
    uint32_t table[TABLE_SIZE + HLI_LANES]; /* bytes of the last digits, to be ORed to those at `window` */
};

/* A block of every lane: word t of lane l is word number t * nlanes + l. */
union hli_words {
    uint32_t w32[16 * HLI_LANES];
    uint64_t w64[16 * HLI_LANES / 2];
} __attribute__((aligned(64)));

/* The blocks of all lanes. */
struct copies {
    uint8_t first[HLI_LANES][MAX_COPIED * BLOCK_NBYTES + 64] __attribute__((aligned(64)));
    uint8_t second[HLI_LANES][2 * BLOCK_NBYTES];
    const uint8_t *data[HLI_LANES]; /* the addresses of `first` */
    uint8_t *digests[HLI_LANES];    /* those of `second`, which begin with digests */
    struct hli_whole again;         /* a digest as a message, and */
    size_t nbytes[HLI_LANES];       /* its length */
    union hli_words first_words[MAX_COPIED + 1], second_words; /* the same in the kernels' layouts */
};

static uint8_t digit(const hl_search_job *job, uint64_t value)
{
    return job->alphabet == NULL ? (uint8_t)value : ((const uint8_t *)job->alphabet)[value];
}

/* The place of digit i in a copy; digit 0 is the least significant. */
static size_t digit_at(const struct search *s, const struct segment *seg, unsigned i)
{
    return s->nrest + (s->job->nonce_order == HL_LEAST_FIRST ? i : seg->ndigits - 1 - i);
}

/* Lays out messages whose nonce has seg->ndigits digits. */
static void lay_out(const struct search *s, struct segment *seg)
{
    const hl_search_job *job = s->job;
    const hl_alg_info *alg = s->alg;
    const size_t block = hli_block_nbytes(alg), nbefore = s->nrest + seg->ndigits;
    const size_t nbytes = nbefore + job->suffix_nbytes;
    const size_t nwhole = nbytes & ~(block - 1), ncopied = (nbefore + block - 1) & ~(block - 1);
    const size_t nrest = nbytes - nwhole, nintext = nbytes < ncopied ? nbytes : ncopied;
    const unsigned nlast = hli_ending_nblocks(alg, nrest);
    const uint8_t *rest;

    hli_zero(seg->text, sizeof seg->text);
    if (s->nrest > 0)
        hli_copy(seg->text, hli_after(job->prefix, job->prefix_nbytes - s->nrest), s->nrest);
    if (nintext > nbefore)
        hli_copy(seg->text + nbefore, job->suffix, nintext - nbefore);
    seg->ncopied = (unsigned)hli_whole_blocks(alg, ncopied);
    seg->shared = NULL;
    seg->nshared = 0;
    if (nwhole >= ncopied) {
        seg->shared = hli_after(job->suffix, ncopied - nbefore);
        seg->nshared = hli_whole_blocks(alg, nwhole - ncopied);
        rest = hli_after(job->suffix, nwhole - nbefore);
    } else {
        rest = seg->text + nwhole;
    }
    hli_pad_scalar(alg, nlast, &rest, &nrest, s->begin_nbytes + nwhole, 1, seg->padded);
    seg->ending = seg->padded;
    seg->nending = nlast;
    if (nwhole < ncopied) { /* the padding begins in the copy */
        hli_copy(seg->text + nwhole, seg->padded, block);
        seg->ending += block;
        seg->nending--;
    }
    const int is_whole = s->first_whole != NULL && nbytes < ncopied && seg->nending == 0;
    seg->whole = hli_describe(&s->plan->first, is_whole ? seg->ncopied : 0, 1, NULL);
    for (unsigned l = 0; l < HLI_LANES; l++)
        seg->nbytes[l] = nbytes;
    seg->has_schedule = seg->nending == 1 && s->first->scheduled != NULL;
    if (seg->has_schedule)
        hli_schedule(hli_body(alg), seg->ending, seg->schedule);

    const size_t end = job->nonce_order == HL_LEAST_FIRST ? s->nrest + WINDOW : nbefore;
    seg->window = end > WINDOW ? end - WINDOW : 0;
    seg->ninner = 0;
    seg->table_size = 1;
    seg->table[0] = 0;
    while (seg->ninner < seg->ndigits && seg->ninner < WINDOW && seg->table_size * s->base <= TABLE_SIZE) {
        for (uint32_t d = s->base; d-- > 0;) { /* 0 last: other digits copy the entries that d = 0 changes */
            uint8_t bytes[WINDOW] = {0};
            uint32_t bits;
            bytes[digit_at(s, seg, seg->ninner) - seg->window] = digit(job, d);
            hli_copy(&bits, bytes, WINDOW);
            if (s->first_words != NULL)
                bits = hli_load32(bytes, hli_big_endian(alg));
            for (uint64_t v = 0; v < seg->table_size; v++)
                seg->table[d * seg->table_size + v] = seg->table[v] | bits;
        }
        seg->table_size *= s->base;
        seg->ninner++;
    }
    /* Behind the last nonce, for lanes without one: a branch depends on the digests of all lanes. */
    hli_zero(seg->table + seg->table_size, HLI_LANES * sizeof *seg->table);
}

/* Words t of a block in every lane = the words of these bytes. */
static void spread(const hl_alg_info *alg, unsigned nlanes, const uint8_t *bytes,
                   union hli_words *words)
{
    for (unsigned t = 0; t < 16; t++)
        for (unsigned l = 0; l < nlanes; l++)
            if (hli_word_nbytes(alg) == 8)
                words->w64[t * nlanes + l] = hli_load64(bytes + 8 * t, 1);
            else
                words->w32[t * nlanes + l] = hli_load32(bytes + 4 * t, hli_big_endian(alg));
}

/* Words k and, if the digits reach into it, k + 1 of all lanes: these words without the last digits, or the digits.
 * nlanes and the byte order are literals, so that compilers make vectors of the loops. */
HLI_INLINE void write_words32(unsigned nlanes, int big_endian, unsigned at, const uint8_t *bytes, const uint32_t *table,
                              uint32_t *to, uint32_t *then)
{
    const uint32_t here = hli_load32(bytes, big_endian), next = hli_load32(bytes + 4, big_endian);

    for (unsigned l = 0; l < nlanes; l++)
        to[l] = here | (big_endian ? table[l] >> 8 * at : table[l] << 8 * at);
    for (unsigned l = 0; at > 0 && l < nlanes; l++)
        then[l] = next | (big_endian ? table[l] << (32 - 8 * at) : table[l] >> (32 - 8 * at));
}

HLI_INLINE void write_words64(unsigned nlanes, unsigned at, const uint8_t *bytes, const uint32_t *table, uint64_t *to,
                              uint64_t *then)
{
    const uint64_t here = hli_load64(bytes, 1), next = hli_load64(bytes + 8, 1);

    for (unsigned l = 0; l < nlanes; l++)
        to[l] = here | (uint64_t)table[l] << 32 >> 8 * at;
    for (unsigned l = 0; at > 4 && l < nlanes; l++)
        then[l] = next | (uint64_t)table[l] << 32 << (64 - 8 * at);
}

/* Writes the last digits of nonces from v on, one for each lane. The digits may reach into a word behind the blocks. */
static void write_words(const struct search *s, const struct segment *seg, union hli_words *words, unsigned v)
{
    const unsigned nlanes = s->first->nlanes, word_nbytes = hli_word_nbytes(s->alg);
    const unsigned at = (unsigned)(seg->window % word_nbytes), k = (unsigned)(seg->window / word_nbytes);
    const uint8_t *bytes = seg->text + k * word_nbytes;
    const uint32_t *table = seg->table + v;

    if (word_nbytes == 8) {
        uint64_t *to = words[k / 16].w64 + k % 16 * nlanes, *then = words[(k + 1) / 16].w64 + (k + 1) % 16 * nlanes;
        if (nlanes == 8)
            write_words64(8, at, bytes, table, to, then);
        else
            write_words64(nlanes, at, bytes, table, to, then);
        return;
    }
    uint32_t *to = words[k / 16].w32 + k % 16 * nlanes, *then = words[(k + 1) / 16].w32 + (k + 1) % 16 * nlanes;
    if (nlanes == 16 && hli_big_endian(s->alg))
        write_words32(16, 1, at, bytes, table, to, then);
    else
        write_words32(nlanes, hli_big_endian(s->alg), at, bytes, table, to, then);
}

/* The digests of all lanes, as the first words of blocks that are hashed again. */
static void again_words(const struct search *s, const union hli_lane_states *states, union hli_words *words)
{
    const unsigned n = s->alg->digest_nbytes / hli_word_nbytes(s->alg) * s->first->nlanes;

    if (hli_big_endian(s->alg) == hli_big_endian(s->last_alg))
        hli_copy(words, states, n * (size_t)hli_word_nbytes(s->alg));
    else
        for (unsigned i = 0; i < n; i++)
            words->w32[i] = __builtin_bswap32(states->w32[i]);
}

/* Returns whether one of these words is at most `top`. nlanes and swap are literals. */
HLI_INLINE int any_is_low(unsigned nlanes, int swap, const uint32_t *words, uint32_t top)
{
    uint32_t any = 0;

    for (unsigned l = 0; l < nlanes; l++)
        any |= (swap ? __builtin_bswap32(words[l]) : words[l]) <= top;
    return any != 0;
}

/* Takes those of nonces `nonce` to `nonce + n - 1` whose last digest is low enough. */
static void take(struct search *s, uint8_t *const digests[], uint64_t nonce, unsigned n)
{
    const int is_least_first = s->job->digest_order == HL_LEAST_FIRST;
    const unsigned nbytes = s->last_alg->digest_nbytes;

    for (unsigned l = 0; l < n && s->nfound < s->room; l++) {
        int is_low = hli_load32(digests[l] + (is_least_first ? nbytes - 4 : 0), !is_least_first) <= s->top;
        for (unsigned i = 0; is_low && i < nbytes; i++) {
            const uint8_t x = digests[l][is_least_first ? nbytes - 1 - i : i];
            if (x != s->job->target[i]) {
                is_low = x < s->job->target[i];
                break;
            }
        }
        if (is_low)
            s->nonces[s->nfound++] = nonce + l;
    }
}

/* Looks through the states of the last hash of nonces `nonce` to `nonce + n - 1`. */
static void look_through(struct search *s, const union hli_lane_states *states, unsigned nlanes, uint64_t nonce,
                         unsigned n)
{
    const unsigned word_nbytes = hli_word_nbytes(s->last_alg);
    uint8_t digests[HLI_LANES][HL_DIGEST_MAX_NBYTES], *to[HLI_LANES];
    uint32_t tops[HLI_LANES];
    int any;

    if (word_nbytes == 8) {
        for (unsigned l = 0; l < nlanes; l++)
            tops[l] = (uint32_t)(states->w64[s->top_word * nlanes + l] >> s->top_shift);
        any = s->top_swap ? any_is_low(nlanes, 1, tops, s->top) : any_is_low(nlanes, 0, tops, s->top);
    } else {
        const uint32_t *words = states->w32 + s->top_word * nlanes;
        any = nlanes == 16 ? s->top_swap ? any_is_low(16, 1, words, s->top) : any_is_low(16, 0, words, s->top)
                           : s->top_swap ? any_is_low(nlanes, 1, words, s->top) : any_is_low(nlanes, 0, words, s->top);
    }
    if (!any)
        return;
    for (unsigned l = 0; l < nlanes; l++)
        to[l] = digests[l];
    hli_digests_scalar(s->last_alg, states, nlanes, n, to);
    take(s, to, nonce, n);
}

/* Hashes the first n copies, those of nonces `nonce` to `nonce + n - 1`, block by block. Looks through the states of
 * the last hash, or writes the digests that are hashed again. */
static void hash_blocks(struct search *s, const struct segment *seg, struct copies *copies, uint64_t nonce, unsigned n)
{
    const hl_kernel *const first = s->first, *const second = s->second;
    const uint8_t *shared[HLI_LANES], *ending[HLI_LANES];
    union hli_lane_states states;

    for (unsigned l = 0; l < HLI_LANES; l++) {
        shared[l] = seg->shared;
        ending[l] = seg->ending;
    }
    for (unsigned i = 0; i < n; i += first->nlanes) {
        const unsigned nhere = n - i < first->nlanes ? n - i : first->nlanes;
        hli_copy(&states, &s->begin, first->nlanes * hli_state_nbytes(s->alg));
        if (s->first_words == NULL)
            hli_advance_lanes(first, s->alg, &states, copies->data + i, seg->ncopied);
        for (unsigned b = 0; s->first_words != NULL && b < seg->ncopied; b++)
            s->first_words(&states, &copies->first_words[b]);
        if (seg->nshared > 0)
            hli_advance_lanes(first, s->alg, &states, shared, seg->nshared);
        if (seg->has_schedule)
            first->scheduled(&states, seg->schedule);
        else if (seg->nending > 0)
            hli_advance_lanes(first, s->alg, &states, ending, seg->nending);
        if (second == NULL) {
            look_through(s, &states, first->nlanes, nonce + i, nhere);
        } else if (s->second_words != NULL) {
            again_words(s, &states, &copies->second_words);
            hli_copy(&states, &s->begin_again, second->nlanes * hli_state_nbytes(s->last_alg));
            s->second_words(&states, &copies->second_words);
            look_through(s, &states, second->nlanes, nonce + i, nhere);
        } else {
            s->edges.digests(s->alg, &states, first->nlanes, nhere, copies->digests + i);
        }
    }
}

/* Hashes the n digests again, likewise. */
static void hash_again(struct search *s, struct copies *copies, uint64_t nonce, unsigned n)
{
    const hl_kernel *const second = s->second;
    const uint8_t *msg[HLI_LANES];
    union hli_lane_states states;

    for (unsigned i = 0; i < n; i += second->nlanes) {
        for (unsigned l = 0; l < second->nlanes; l++)
            msg[l] = copies->second[i + l < n ? i + l : i];
        hli_copy(&states, &s->begin_again, second->nlanes * hli_state_nbytes(s->last_alg));
        hli_advance_lanes(second, s->last_alg, &states, msg, copies->again.nblocks);
        look_through(s, &states, second->nlanes, nonce + i, n - i < second->nlanes ? n - i : second->nlanes);
    }
}

/* Hashes the first n copies, and their digests. */
static void hash_batch(struct search *s, const struct segment *seg, struct copies *copies, uint64_t nonce, unsigned n)
{
    const int is_whole = seg->whole.nblocks > 0;

    if (!is_whole)
        hash_blocks(s, seg, copies, nonce, n);
    for (unsigned i = 0; is_whole && i < n; i += s->first->nlanes)
        s->first_whole(&seg->whole, copies->data + i, seg->nbytes, copies->digests + i);
    if (s->second == NULL ? is_whole : s->second_whole != NULL) {
        for (unsigned i = 0; s->second != NULL && i < n; i += s->second->nlanes)
            s->second_whole(&copies->again, (const uint8_t *const *)copies->digests + i, copies->nbytes,
                            copies->digests + i);
        take(s, copies->digests, nonce, n);
    } else if (s->second != NULL && s->second_words == NULL) {
        hash_again(s, copies, nonce, n);
    }
}

/* Tries nonces first to last, which all have ndigits digits. */
static void search_segment(struct search *s, struct segment *seg, struct copies *copies, uint64_t first, uint64_t last)
{
    const uint64_t size = seg->table_size;

    for (uint64_t outer = first / size;; outer++) {
        const unsigned from = outer == first / size ? (unsigned)(first % size) : 0;
        const unsigned upto = outer == last / size ? (unsigned)(last % size) : (unsigned)(size - 1);
        uint64_t value = outer;
        uint32_t window;

        for (unsigned i = seg->ninner; i < seg->ndigits; i++, value /= s->base)
            seg->text[digit_at(s, seg, i)] = digit(s->job, value % s->base);
        for (unsigned b = 0; s->first_words != NULL && b < seg->ncopied; b++)
            spread(s->alg, s->first->nlanes, seg->text + b * hli_block_nbytes(s->alg), &copies->first_words[b]);
        for (unsigned l = 0; s->first_words == NULL && l < s->nbatch; l++)
            hli_copy(copies->first[l], seg->text, seg->ncopied * (size_t)hli_block_nbytes(s->alg) + WINDOW);
        hli_copy(&window, seg->text + seg->window, WINDOW);
        for (unsigned v = from; v <= upto && s->nfound < s->room; v += s->nbatch) {
            const unsigned n = upto - v + 1 < s->nbatch ? upto - v + 1 : s->nbatch;
            if (s->first_words != NULL)
                write_words(s, seg, copies->first_words, v);
            for (unsigned l = 0; s->first_words == NULL && l < n; l++) {
                const uint32_t x = window | seg->table[v + l];
                hli_copy(copies->first[l] + seg->window, &x, WINDOW);
            }
            hash_batch(s, seg, copies, outer * size + v, n);
        }
        if (outer == last / size || s->nfound == s->room)
            return;
    }
}

/* base to the power of n, less one; at most UINT64_MAX. */
static uint64_t highest(uint32_t base, unsigned n)
{
    uint64_t power = 1;

    for (unsigned i = 0; i < n; i++)
        if (__builtin_mul_overflow(power, (uint64_t)base, &power))
            return UINT64_MAX;
    return power - 1;
}

static HLI_NOINLINE void search_all(struct search *s)
{
    const hl_search_job *job = s->job;
    struct segment seg;
    struct copies copies;
    const unsigned least = job->nonce_width == 0 ? 1 : job->nonce_width;
    const unsigned most = job->nonce_width == 0 ? MAX_DIGITS : job->nonce_width;

    /* Lanes without a nonce hash what their memory has: it must be set. */
    hli_zero(&copies, sizeof copies);
    copies.again = hli_describe(&s->plan->second, hli_ending_nblocks(s->last_alg, s->alg->digest_nbytes), 1, NULL);
    for (unsigned l = 0; l < HLI_LANES; l++) {
        copies.data[l] = copies.first[l];
        copies.digests[l] = copies.second[l];
        copies.nbytes[l] = s->alg->digest_nbytes;
    }
    if (s->second != NULL)
        for (unsigned l = 0; l < HLI_LANES; l++) {
            const size_t nbytes = s->alg->digest_nbytes;
            hli_pad_scalar(s->last_alg, 1, &(const uint8_t *){copies.first[0]}, &nbytes, 0, 1, copies.second[l]);
            if (l == 0 && s->second_words != NULL)
                spread(s->last_alg, s->second->nlanes, copies.second[0], &copies.second_words);
        }
    for (seg.ndigits = least; seg.ndigits <= most && s->nfound < s->room; seg.ndigits++) {
        const uint64_t low = seg.ndigits == least ? 0 : highest(s->base, seg.ndigits - 1) + 1;
        const uint64_t high = highest(s->base, seg.ndigits);
        if (job->last >= low && job->first <= high) {
            lay_out(s, &seg);
            search_segment(s, &seg, &copies, job->first > low ? job->first : low,
                           job->last < high ? job->last : high);
        }
        if (high >= job->last)
            return;
    }
}

/* The kernel for this pass over many nonces, and its function for whole messages, or NULL. Only blocks() spares a last
 * hash its digests: over AVX2 these take longer than the function gains (SHA-1, Zen 1: 137 cycles a nonce for 124). */
static const hl_kernel *choose(const struct hli_plan *plan, const struct hli_pass *pass, int is_last,
                               hli_whole_fn **whole)
{
    const hl_kernel *kernel =
        hli_may_be_whole(pass) ? hli_choose_whole(plan->choice, hli_body(pass->alg), HLI_BESIDE_nonces) : NULL;

    if (kernel != NULL && is_last && hli_row_of(kernel)->beside > HLI_BESIDE_digests)
        kernel = NULL;
    *whole = kernel == NULL ? NULL : hli_whole_of(kernel);
    return kernel == NULL ? hli_best(plan, pass, SIZE_MAX, HLI_BESIDE_nonces) : kernel;
}

static hl_status check_job(const hl_search_job *job, const struct search *s)
{
    if (job->nbytes < sizeof *job || job->nonce_order > HL_LEAST_FIRST || job->digest_order > HL_LEAST_FIRST ||
        job->nonce_width > MAX_DIGITS || s->base < 2 || s->base > 256 || (job->alphabet == NULL && s->base != 256))
        return HL_EJOB;
    for (size_t i = sizeof *job; i < job->nbytes; i++) /* fields of a later version, unknown here */
        if (((const uint8_t *)job)[i] != 0)
            return HL_EJOB;
    if (job->first > job->last || (job->nonce_width != 0 && highest(s->base, job->nonce_width) < job->last))
        return HL_EJOB;
    hl_status status = hli_check_slice(job->prefix, job->prefix_nbytes, MAX_DIGITS);
    if (status == HL_OK)
        status = hli_check_slice(job->suffix, job->suffix_nbytes, job->prefix_nbytes + MAX_DIGITS);
    if (status != HL_OK)
        return status;
    hli_check_readable(job->prefix, job->prefix_nbytes);
    hli_check_readable(job->suffix, job->suffix_nbytes);
    if (job->alphabet != NULL)
        hli_check_readable(job->alphabet, s->base);
    return HL_OK;
}

hl_status hli_search(const hl_search_job *job, const hl_ctx *begin, uint64_t *nonces, size_t room, size_t *nfound)
{
    struct hli_plan plan;
    struct search s;

    if (!HLI_ALG(search))
        return HL_EALG;
    if (job == NULL || nfound == NULL || (nonces == NULL && room != 0))
        return HL_ENULL;
    s.job = job;
    s.base = job->alphabet == NULL && job->base == 0 ? 256 : job->base;
    hl_status status = check_job(job, &s);
    if (status != HL_OK)
        return status;
    s.alg = s.last_alg = hl_alg_find((hl_alg)job->alg);
    if (job->again != 0)
        s.last_alg = hl_alg_find((hl_alg)job->again);
    if (s.alg == NULL || s.last_alg == NULL || !hli_is_strengthened(s.alg) || !hli_is_strengthened(s.last_alg))
        return HL_EALG; /* of a sponge's block nothing is known here */
    *nfound = 0;
    if (room == 0)
        return HL_OK;

    plan.choice = hli_choice();
    plan.forced = NULL;
    plan.is_secret = 0;
    plan.first = (struct hli_pass){.alg = s.alg};
    plan.second = (struct hli_pass){.alg = s.last_alg, .begin = s.last_alg->iv};
    hl_ctx ctx = {.alg = job->alg}, *const stream = &ctx;
    hli_copy(&ctx.state, begin != NULL ? &begin->state : s.alg->iv, hli_state_nbytes(s.alg));
    ctx.nbytes = begin != NULL ? begin->nbytes : 0;
    hli_update(&plan, &stream, &(hl_slice){job->prefix, job->prefix_nbytes}, 1);
    s.nrest = hli_rest_of_block(s.alg, ctx.nbytes);
    s.begin_nbytes = ctx.nbytes - s.nrest;
    plan.first.begin = &ctx.state;
    plan.first.begin_nbytes = s.begin_nbytes;
    s.plan = &plan;
    s.edges = hli_edges_of(&plan);
    s.first_whole = s.second_whole = NULL;
    s.first = hli_choose_words(plan.choice, hli_body(s.alg), &s.first_words);
    if (s.first == NULL)
        s.first = choose(&plan, &plan.first, job->again == 0, &s.first_whole);
    s.second = job->again == 0 ? NULL : hli_choose_words(plan.choice, hli_body(s.last_alg), &s.second_words);
    if (s.second == NULL || s.first_words == NULL || hli_word_nbytes(s.alg) != hli_word_nbytes(s.last_alg) ||
        s.alg->digest_nbytes % hli_word_nbytes(s.alg) != 0)
        s.second_words = NULL;
    if (job->again != 0 && s.second_words == NULL)
        s.second = choose(&plan, &plan.second, 1, &s.second_whole);
    s.nbatch = s.first_words != NULL ? s.first->nlanes : HLI_LANES / s.first->nlanes * s.first->nlanes;
    s.nonces = nonces;
    s.room = room;
    s.nfound = 0;

    const unsigned top_at = job->digest_order == HL_LEAST_FIRST ? s.last_alg->digest_nbytes - 4 : 0;
    s.top = hli_load32(job->target, 1);
    s.top_word = top_at / hli_word_nbytes(s.last_alg);
    s.top_shift = top_at % hli_word_nbytes(s.last_alg) == 0 ? 32 : 0; /* in words of 64 bits, which are big-endian */
    s.top_swap = (job->digest_order == HL_LEAST_FIRST) == hli_big_endian(s.last_alg);

    hli_splat_lanes(s.alg, &s.begin, s.first->nlanes, &ctx.state);
    if (s.second != NULL)
        hli_splat_lanes(s.last_alg, &s.begin_again, s.second->nlanes, s.last_alg->iv);
    search_all(&s);
    *nfound = s.nfound;
    return HL_OK;
}

hl_status hl_search(const hl_search_job *job, uint64_t *nonces, size_t room, size_t *nfound)
{
    return hli_search(job, NULL, nonces, room, nfound);
}
