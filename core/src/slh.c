/* slh.c: SLH-DSA, FIPS 205: keys, signatures and their verification, with all hashes of a step side by side in lanes.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A signature has chains, and authentication paths in two kinds of trees. No leaf depends on another, nor on what the
 * trees below sign: parts of 16 leaves of XMSS trees (560 to 1,072 chains) and of 1,024 leaves of FORS trees can be
 * computed in any order (hl_slh_part). The roots, and each tree's signature of the root below, come at the end.
 *
 * All hashes but two are of rows: PK.seed, an address (section 4.2), and one, two or many values of n bytes. With SHA-2
 * PK.seed is a block of its own, hashed once for each key, and the address is short (section 11.2). Rows of one value
 * (F and PRF) are one block, and go through chain.c; the others (H and T_l) through the lane driver. Both cut the
 * digests.
 *
 *   h' = h / d    height of an XMSS tree
 *   len           chains of a one-time key
 *   tree node z   a node of height z. Nodes of all trees of a kind are numbered from left to right, tree after tree: a
 *                 node's parent is its number halved.
 */
#include "chain.h"
#include "lanes.h"

enum {
    MAX_N = 32,
    MAX_LEN = 2 * MAX_N + 3,
    MAX_LAYERS = 22,
    MAX_CHAINS = 1139, /* of one signature: SLH-DSA-SHA2-256f, 17 * 67; of LEAVES one-time keys: 1,072 */
    MAX_TREES = 35,    /* of FORS */
    NDIGEST = 49,      /* bytes of H_msg, at most */
    ROWS = 64,         /* rows at a time */
    ROW_NBYTES = 144,  /* of one or two values, or a padded block of them */
    LEAVES = 16,       /* XMSS leaves of a part; one-time keys and signatures at a time */
    FORS_LEAVES = 1024,
    WIDE_NBYTES = 2 * MAX_N + 32 + MAX_LEN * MAX_N, /* of a row of len or k values */
    NODES_NBYTES = 15360 /* roots that parts leave behind, at most: SLH-DSA-SHA2-256s, 352 of FORS and 128 of XMSS */
};

/* Types of addresses, section 4.2. */
enum { WOTS_HASH, WOTS_PK, TREE, FORS_TREE, FORS_ROOTS, WOTS_PRF, FORS_PRF };

#define SET(id, hash, bits, letter, oid, n, h, d, a, k, is_shake, nsignature) \
    {"SLH-DSA-" hash "-" bits letter, "2.16.840.1.101.3.4.3." oid, HL_SLH_##id, n, h, d, a, k, is_shake, 2 * (n), \
     4 * (n), nsignature},
/* FIPS 205 table 2; RFC 9909 section 3. */
static const hl_slh_info sets[] = {
    SET(SHA2_128S, "SHA2", "128", "s", "20", 16, 63, 7, 12, 14, 0, 7856)
    SET(SHAKE_128S, "SHAKE", "128", "s", "26", 16, 63, 7, 12, 14, 1, 7856)
    SET(SHA2_128F, "SHA2", "128", "f", "21", 16, 66, 22, 6, 33, 0, 17088)
    SET(SHAKE_128F, "SHAKE", "128", "f", "27", 16, 66, 22, 6, 33, 1, 17088)
    SET(SHA2_192S, "SHA2", "192", "s", "22", 24, 63, 7, 14, 17, 0, 16224)
    SET(SHAKE_192S, "SHAKE", "192", "s", "28", 24, 63, 7, 14, 17, 1, 16224)
    SET(SHA2_192F, "SHA2", "192", "f", "23", 24, 66, 22, 8, 33, 0, 35664)
    SET(SHAKE_192F, "SHAKE", "192", "f", "29", 24, 66, 22, 8, 33, 1, 35664)
    SET(SHA2_256S, "SHA2", "256", "s", "24", 32, 64, 8, 14, 22, 0, 29792)
    SET(SHAKE_256S, "SHAKE", "256", "s", "30", 32, 64, 8, 14, 22, 1, 29792)
    SET(SHA2_256F, "SHA2", "256", "f", "25", 32, 68, 17, 9, 35, 0, 49856)
    SET(SHAKE_256F, "SHAKE", "256", "f", "31", 32, 68, 17, 9, 35, 1, 49856)
};
#define SET_COUNT (sizeof sets / sizeof *sets)

/* The states behind PK.seed. begin_stride is their offset here: not 0, which would mean one state for all messages. */
struct seeded {
    uint64_t unused;
    hl_state f, h;
};

/* All hashes of a call share this. */
struct slh {
    const hl_slh_info *set;
    unsigned len, tree_height;
    unsigned layer, tree, type, word1, word2, word3, value; /* places in a row */
    unsigned stride;                                        /* of padded blocks */
    hl_alg_info f_alg, h_alg;
    struct hli_chains f;    /* F and PRF */
    struct hli_plan h;      /* H and T_l */
    struct seeded seeded;
    const uint8_t *pk_seed, *sk_seed;
};

/* Where a signature's trees and leaves are. */
struct place {
    uint64_t tree;             /* of layer 0 */
    uint32_t leaf;
    uint16_t fors[MAX_TREES];  /* the leaf of each FORS tree */
};

/* Signatures of one call, up to LEAVES. */
struct group {
    unsigned count;
    const uint8_t *keys[LEAVES], *signatures[LEAVES];
    struct place places[LEAVES];
    uint8_t values[LEAVES * MAX_N]; /* what the next layer signs */
    int is_one_key;
};

/* Memory of a call. */
struct scratch {
    uint8_t rows[ROWS * ROW_NBYTES] __attribute__((aligned(64)));
    uint8_t wide[LEAVES * WIDE_NBYTES] __attribute__((aligned(64)));
    uint8_t nodes[FORS_LEAVES * MAX_N];
    uint8_t models[LEAVES * ROW_NBYTES]; /* of rows */
    uint16_t order[MAX_CHAINS];
    uint8_t digits[MAX_CHAINS];
    hl_slh_task task;
    struct seeded seeded[LEAVES];
    struct group group;
};

/* The private words of a task. */
struct task {
    const uint8_t *secret;
    uint8_t *signature; /* NULL: a key is made */
    uint8_t *made;      /* that key */
    uint32_t nfors, nleaves; /* leaves of FORS and XMSS, in all trees */
    uint32_t nfors_parts, first_layer;
    struct place place;
    uint8_t nodes[NODES_NBYTES]; /* roots that parts have left: of FORS, then of XMSS */
};
_Static_assert(sizeof(struct task) <= sizeof(uint64_t[2040]), "a task has too few private words");

HLI_INLINE struct task *private_of(hl_slh_task *task)
{
    return (struct task *)task->private_words;
}

HLI_INLINE size_t minimum(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Overwrites secrets on the stack below this file's functions, which hold secrets only in rows. */
static void forget(void)
{
    enum { FRAMES_NBYTES = 15 << 10 };

    hli_burn((size_t)HLI_MANY_NBYTES + HL_KERNEL_STACK_NBYTES + FRAMES_NBYTES);
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

/* The algorithm of H, T_l, H_msg and PRF_msg (section 11). */
static hl_alg wide_alg(const hl_slh_info *set)
{
    return set->is_shake ? HL_SHAKE256 : set->n == 16 ? HL_SHA256 : HL_SHA512;
}

/* Both hashes of a set, and the places of a row. */
static hl_status open(struct slh *s, const hl_slh_info *set)
{
    const hl_alg f = set->is_shake ? HL_SHAKE256 : HL_SHA256;
    const hl_alg h = wide_alg(set);
    /* FIPS 205 section 11.2: a short address lacks the upper bytes of layer, tree and type. */
    const unsigned at = set->is_shake ? set->n + 3 : 0, tree = set->is_shake ? at + 5 : 1;

    if (hl_alg_find(f) == NULL || hl_alg_find(h) == NULL)
        return HL_EALG;
    *s = (struct slh){.set = set, .len = 2 * set->n + 3, .tree_height = set->h / set->d};
    s->layer = at;
    s->tree = tree;
    s->type = tree + (set->is_shake ? 11 : 8);
    s->word1 = s->type + 1;
    s->word2 = s->type + 5;
    s->word3 = s->type + 9;
    s->value = s->type + 13;
    s->f_alg = *hl_alg_find(f);
    s->h_alg = *hl_alg_find(h);
    s->f_alg.digest_nbytes = s->h_alg.digest_nbytes = set->n;
    s->stride = set->is_shake ? ROW_NBYTES : 64;
    s->h = (struct hli_plan){.choice = hli_choice(), .digest_stride = set->n};
    s->f.plan = s->h;
    s->f.plan.first = (struct hli_pass){.alg = &s->f_alg, .begin = s->f_alg.iv};
    s->h.first = (struct hli_pass){.alg = &s->h_alg, .begin = s->h_alg.iv};
    s->f.links = (struct hli_links){0, s->f_alg.block_nbytes, s->value, set->n, s->word3 + 3};
    return HL_OK;
}

/* The states behind PK.seed's blocks. */
static void make_seeded(const struct slh *s, const uint8_t *pk_seed, struct seeded *seeded)
{
    uint8_t block[128] __attribute__((aligned(16))) = {0};

    if (s->set->is_shake)
        return;
    hli_copy(block, pk_seed, s->set->n);
    hli_copy(&seeded->f, s->f_alg.iv, hli_state_nbytes(&s->f_alg));
    hli_copy(&seeded->h, s->h_alg.iv, hli_state_nbytes(&s->h_alg));
    hli_advance_one(hli_choose_one(s->h.choice, s->f_alg.body), &s->f_alg, &seeded->f, block, 1);
    hli_advance_one(hli_choose_one(s->h.choice, s->h_alg.body), &s->h_alg, &seeded->h, block, 1);
}

/* All rows have this key. */
static void set_key(struct slh *s, const uint8_t *pk_seed, const uint8_t *sk_seed)
{
    s->pk_seed = pk_seed;
    s->sk_seed = sk_seed;
    make_seeded(s, pk_seed, &s->seeded);
    if (s->set->is_shake)
        return;
    s->f.plan.first.begin = &s->seeded.f;
    s->f.plan.first.begin_nbytes = s->f_alg.block_nbytes;
    s->h.first.begin = &s->seeded.h;
    s->h.first.begin_nbytes = s->h_alg.block_nbytes;
}

/* A value has 16, 24 or 32 bytes: two copies of 16, of which the second may overlap the first. */
HLI_INLINE void copy_value(const struct slh *s, uint8_t *to, const uint8_t *from)
{
    const unsigned second = s->set->n - 16;

    hli_copy(to, from, 16);
    if (second != 0)
        hli_copy(to + second, from + second, 16);
}

/* A copy of a row up to its first value, and something behind. */
HLI_INLINE void copy_head(uint8_t *row, const uint8_t *from)
{
    hli_copy(row, from, 64);
}

/* A copy of a padded row of one value. */
HLI_INLINE void copy_block(const struct slh *s, uint8_t *row, const uint8_t *from)
{
    if (s->set->is_shake)
        hli_copy(row, from, ROW_NBYTES);
    else
        hli_copy(row, from, 64);
}

/* Begins a row: PK.seed, and an address whose words are zeros. */
static void put_address(const struct slh *s, uint8_t *row, const uint8_t *pk_seed, unsigned layer, uint64_t tree,
                        unsigned type)
{
    hli_zero(row, s->value);
    if (s->set->is_shake)
        hli_copy(row, pk_seed, s->set->n);
    row[s->layer] = (uint8_t)layer;
    hli_store64(row + s->tree, tree, 1);
    row[s->type] = (uint8_t)type;
}

HLI_INLINE void put_value(const struct slh *s, uint8_t *row, const uint8_t *value)
{
    copy_value(s, row + s->value, value);
}

/* Pads a row of one value to a block, in place. */
static void pad(const struct slh *s, uint8_t *row)
{
    const uint8_t *const rest = row;

    hli_pad_scalar(&s->f_alg, 1, &rest, &(const size_t){s->value + s->set->n}, s->f.plan.first.begin_nbytes, 1, row);
}

/* F and PRF: replaces the value of each row by its hash, nsteps[i] times, or all_steps times. The counted ones begin at
 * the hash address in the row. */
static void hash_blocks(const struct slh *s, const void *const begins[], uint8_t *rows, const uint8_t *nsteps,
                        unsigned all_steps, int is_counted, size_t count)
{
    struct hli_chains chains = s->f;
    uint8_t *blocks[ROWS];

    if (begins != NULL) {
        chains.plan.first.begins = begins;
        chains.plan.first.begin_stride = offsetof(struct seeded, f);
    }
    for (size_t i = 0; i < count; i++)
        blocks[i] = rows + i * s->stride;
    if (!is_counted)
        chains.links.count_at = chains.links.block_nbytes;
    hli_run_chains(&chains, blocks, nsteps, all_steps, count);
}

/* H and T_l: value i = the hash of row i, which has nvalues values. */
static void hash_rows(const struct slh *s, const void *const begins[], const uint8_t *rows, size_t stride,
                      unsigned nvalues, size_t count, uint8_t *values)
{
    const hl_messages messages = {HL_ROWS, 0, count, rows, stride, s->value + nvalues * s->set->n};
    struct hli_plan plan = s->h;

    if (begins != NULL) {
        plan.first.begins = begins;
        plan.first.begin_stride = offsetof(struct seeded, h);
    }
    plan.digests = values;
    hli_hash(&plan, &messages);
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

/* The trees of FORS, or those of XMSS from layer `first` on. */
struct forest {
    int is_fors;
    unsigned height, first;
    const struct place *place;
    uint8_t *signature; /* NULL: no paths are wanted */
};

/* The index of layer's tree in it, and of that tree's leaf that signs (FIPS 205 section 7.1). */
static uint64_t tree_at(const struct slh *s, const struct place *place, unsigned layer)
{
    const unsigned by = layer * s->tree_height;

    return by > 63 ? 0 : place->tree >> by;
}

static uint32_t leaf_at(const struct slh *s, const struct place *place, unsigned layer)
{
    return layer == 0 ? place->leaf
                      : (uint32_t)(tree_at(s, place, layer - 1) & ((UINT64_C(1) << s->tree_height) - 1));
}

/* The part of a signature that a tree has: FORS: a secret value, and the path; XMSS: chains, and the path. */
static uint8_t *part_of(const struct slh *s, const struct forest *f, unsigned tree)
{
    const size_t n = s->set->n;

    return f->signature + n +
           (f->is_fors ? tree * n * (s->set->a + 1)
                       : s->set->k * n * (s->set->a + 1) + (f->first + tree) * n * (s->len + s->tree_height));
}

static uint32_t chosen_leaf(const struct slh *s, const struct forest *f, unsigned tree)
{
    return f->is_fors ? f->place->fors[tree] : leaf_at(s, f->place, f->first + tree);
}

/* Copies the nodes on a path out of `count` nodes of height z, from number `first` on. */
static void keep_path(const struct slh *s, const struct forest *f, const uint8_t *nodes, uint32_t first, uint32_t count,
                      unsigned z)
{
    const unsigned across = f->height - z, n = s->set->n;

    if (f->signature == NULL || across == 0)
        return;
    for (uint32_t tree = first >> across; tree <= (first + count - 1) >> across; tree++) {
        /* Wraps if it is before. */
        const uint32_t wanted = (tree << across) + (chosen_leaf(s, f, tree) >> z ^ 1) - first;
        if (wanted < count)
            hli_copy(part_of(s, f, tree) + ((f->is_fors ? 1 : s->len) + z) * (size_t)n, nodes + wanted * (size_t)n, n);
    }
}

/* Begins the row of a node of height z. */
static void put_node(const struct slh *s, const struct forest *f, uint8_t *row, uint32_t number, unsigned z)
{
    const unsigned across = f->height - z, layer = f->first + (f->is_fors ? 0 : number >> across);

    put_address(s, row, s->pk_seed, layer, tree_at(s, f->place, layer), f->is_fors ? FORS_TREE : TREE);
    if (f->is_fors)
        hli_store32(row + s->word1, f->place->leaf, 1);
    hli_store32(row + s->word2, z, 1);
    hli_store32(row + s->word3, f->is_fors ? number : number & ((UINT32_C(1) << across) - 1), 1);
}

/* Replaces `count` nodes of height z, from number `first` on, by those of height `top`. Copies the paths between. */
static void climb(const struct slh *s, const struct forest *f, struct scratch *scratch, uint8_t *nodes, uint32_t first,
                  uint32_t count, unsigned z, unsigned top)
{
    const unsigned n = s->set->n;

    for (;; z++, first /= 2, count /= 2) {
        keep_path(s, f, nodes, first, count, z);
        if (z == top)
            return;
        for (uint32_t i = 0; i < count / 2; i += ROWS) {
            const uint32_t nrows = (uint32_t)minimum(count / 2 - i, ROWS);
            for (uint32_t r = 0; r < nrows; r++) {
                uint8_t *row = scratch->rows + r * ROW_NBYTES;
                put_node(s, f, row, first / 2 + i + r, z + 1);
                copy_value(s, row + s->value, nodes + 2 * (i + r) * (size_t)n);
                copy_value(s, row + s->value + n, nodes + (2 * (i + r) + 1) * (size_t)n);
            }
            hash_rows(s, NULL, scratch->rows, ROW_NBYTES, 2, nrows, nodes + i * (size_t)n);
        }
    }
}

/* Leaves of FORS (section 8.2), from number `first` on. */
static void fors_leaves(const struct slh *s, const struct forest *f, struct scratch *scratch, uint32_t first,
                        uint32_t count, uint8_t *leaves)
{
    const unsigned n = s->set->n;
    uint8_t *const model = scratch->models;

    put_node(s, f, model, 0, 0);
    model[s->type] = FORS_PRF;
    put_value(s, model, s->sk_seed);
    pad(s, model);
    for (uint32_t i = 0; i < count; i += ROWS) {
        const uint32_t nrows = (uint32_t)minimum(count - i, ROWS);
        for (uint32_t r = 0; r < nrows; r++) {
            uint8_t *row = scratch->rows + r * s->stride;
            copy_block(s, row, model);
            hli_store32(row + s->word3, first + i + r, 1);
        }
        hash_blocks(s, NULL, scratch->rows, NULL, 1, 0, nrows);
        for (uint32_t r = 0; r < nrows; r++) {
            uint8_t *row = scratch->rows + r * s->stride;
            const uint32_t number = first + i + r, tree = number >> f->height;
            row[s->type] = FORS_TREE;
            if ((number & ((UINT32_C(1) << f->height) - 1)) == f->place->fors[tree])
                copy_value(s, part_of(s, f, tree), row + s->value);
        }
        hash_blocks(s, NULL, scratch->rows, NULL, 1, 0, nrows);
        for (uint32_t r = 0; r < nrows; r++)
            copy_value(s, leaves + (i + r) * (size_t)n, scratch->rows + r * s->stride + s->value);
    }
}

/* ---- One-time signatures (section 5) ----------------------------------------------------------------------------- */

/* The row of a chain, before its secret value is made. */
static void put_chain(const struct slh *s, uint8_t *row, unsigned layer, uint64_t tree, uint32_t leaf, unsigned chain)
{
    put_address(s, row, s->pk_seed, layer, tree, WOTS_PRF);
    hli_store32(row + s->word1, leaf, 1);
    hli_store32(row + s->word2, chain, 1);
    put_value(s, row, s->sk_seed);
    pad(s, row);
}

/* Makes the secret values of chains, after which the rows are those of the chains' hashes. */
static void begin_chains(const struct slh *s, uint8_t *rows, size_t count)
{
    hash_blocks(s, NULL, rows, NULL, 1, 0, count);
    for (size_t r = 0; r < count; r++)
        rows[r * s->stride + s->type] = WOTS_HASH;
}

/* Row i of scratch->wide begins with the address of T_len. */
static void put_public(const struct slh *s, struct scratch *scratch, size_t i, const uint8_t *pk_seed, unsigned layer,
                       uint64_t tree, uint32_t leaf)
{
    uint8_t *row = scratch->wide + i * WIDE_NBYTES;

    put_address(s, row, pk_seed, layer, tree, WOTS_PK);
    hli_store32(row + s->word1, leaf, 1);
}

HLI_INLINE uint8_t *public_value(const struct slh *s, struct scratch *scratch, size_t i, unsigned chain)
{
    return scratch->wide + i * WIDE_NBYTES + s->value + chain * (size_t)s->set->n;
}

/* Leaves of XMSS trees (section 5.1), up to LEAVES of them. */
static void tree_leaves(const struct slh *s, const struct forest *f, struct scratch *scratch, uint32_t first,
                        uint32_t count, uint8_t *leaves)
{
    const uint32_t nchains = count * s->len;
    uint32_t leaf = 0, chain = 0;

    for (uint32_t i = 0; i < nchains; i += ROWS) {
        const uint32_t nrows = (uint32_t)minimum(nchains - i, ROWS);
        uint32_t l = leaf, c = chain;
        for (uint32_t r = 0; r < nrows; r++) {
            uint8_t *row = scratch->rows + r * s->stride;
            if (c == 0) {
                const uint32_t number = first + l, layer = f->first + (number >> f->height);
                const uint32_t index = number & ((UINT32_C(1) << f->height) - 1);
                const uint64_t tree = tree_at(s, f->place, layer);
                put_chain(s, scratch->models, layer, tree, index, 0);
                put_public(s, scratch, l, s->pk_seed, layer, tree, index);
            }
            copy_block(s, row, scratch->models);
            row[s->word2 + 3] = (uint8_t)c;
            if (++c == s->len)
                l++, c = 0;
        }
        begin_chains(s, scratch->rows, nrows);
        hash_blocks(s, NULL, scratch->rows, NULL, 15, 1, nrows);
        for (uint32_t r = 0; r < nrows; r++) {
            copy_value(s, public_value(s, scratch, leaf, chain), scratch->rows + r * s->stride + s->value);
            if (++chain == s->len)
                leaf++, chain = 0;
        }
    }
    hash_rows(s, NULL, scratch->wide, WIDE_NBYTES, s->len, count, leaves);
}

/* The digits of a value of n bytes, base 16, and of their checksum (section 5.2). */
static void digits_of(const struct slh *s, const uint8_t *value, uint8_t *digits)
{
    const unsigned n = s->set->n;
    unsigned sum = 0;

    for (unsigned i = 0; i < n; i++) {
        digits[2 * i] = value[i] >> 4;
        digits[2 * i + 1] = value[i] & 15;
        sum += 30u - digits[2 * i] - digits[2 * i + 1];
    }
    for (unsigned i = 0; i < 3; i++)
        digits[2 * n + i] = sum >> (8 - 4 * i) & 15;
}

/* order = 0 .. count - 1, the highest digits first, or, if from_lowest, the lowest. */
static void sort(const uint8_t *digits, size_t count, int from_lowest, uint16_t *order)
{
    uint16_t at[17] = {0};

    for (size_t i = 0; i < count; i++)
        at[(from_lowest ? digits[i] : 15 - digits[i]) + 1]++;
    for (unsigned d = 1; d < 16; d++)
        at[d] = (uint16_t)(at[d] + at[d - 1]);
    for (size_t i = 0; i < count; i++)
        order[at[from_lowest ? digits[i] : 15 - digits[i]]++] = (uint16_t)i;
}

/* The chains of all layers' signatures. Layer j signs roots[j]. */
static void sign_roots(const struct slh *s, const struct forest *f, struct scratch *scratch,
                       const uint8_t *const roots[])
{
    const unsigned n = s->set->n;
    const size_t count = s->set->d * s->len;
    uint8_t nsteps[ROWS];

    for (unsigned layer = 0; layer < s->set->d; layer++)
        digits_of(s, roots[layer], scratch->digits + layer * s->len);
    sort(scratch->digits, count, 0, scratch->order);
    for (size_t i = 0; i < count; i += ROWS) {
        const size_t nrows = minimum(count - i, ROWS);
        for (size_t r = 0; r < nrows; r++) {
            const unsigned layer = scratch->order[i + r] / s->len, chain = scratch->order[i + r] % s->len;
            nsteps[r] = scratch->digits[scratch->order[i + r]];
            put_chain(s, scratch->rows + r * s->stride, layer, tree_at(s, f->place, layer), leaf_at(s, f->place, layer),
                      chain);
        }
        begin_chains(s, scratch->rows, nrows);
        hash_blocks(s, NULL, scratch->rows, nsteps, 0, 1, nrows);
        for (size_t r = 0; r < nrows; r++) {
            const unsigned layer = scratch->order[i + r] / s->len, chain = scratch->order[i + r] % s->len;
            hli_copy(part_of(s, f, layer) + chain * (size_t)n, scratch->rows + r * s->stride + s->value, n);
        }
    }
}

/* ---- What is signed ---------------------------------------------------------------------------------------------- */

/* The bytes before the message (section 10.2): a kind, the context, and with HL_SLH_PREHASH the digest's OID. */
struct framed {
    uint8_t head[2];
    uint8_t oid[11];
    hl_slice parts[4];
    unsigned nparts;
};

static hl_status frame(const hl_slh_message *m, struct framed *to)
{
    static const struct {
        uint8_t alg, arc; /* 2.16.840.1.101.3.4.2.arc */
    } oids[] = {{HL_SHA256, 1},     {HL_SHA384, 2},   {HL_SHA512, 3},   {HL_SHA224, 4},   {HL_SHA512_224, 5},
                {HL_SHA512_256, 6}, {HL_SHA3_224, 7}, {HL_SHA3_256, 8}, {HL_SHA3_384, 9}, {HL_SHA3_512, 10},
                {HL_SHAKE128, 11},  {HL_SHAKE256, 12}};
    unsigned arc = 0;

    if (m->form > HL_SLH_INTERNAL || (m->form == HL_SLH_INTERNAL && m->context_nbytes != 0) ||
        (m->form != HL_SLH_PREHASH && m->prehash != 0))
        return HL_EJOB;
    if (m->context_nbytes > 255)
        return HL_ELENGTH;
    if (m->context == NULL && m->context_nbytes != 0)
        return HL_ENULL;
    const hl_status status = hli_check_slice(m->data, m->nbytes, 1024); /* a key's block, the head, the context */
    if (status != HL_OK)
        return status;
    hli_check_readable(m->data, m->nbytes);
    to->nparts = 0;
    if (m->form != HL_SLH_INTERNAL) {
        to->head[0] = m->form == HL_SLH_PREHASH;
        to->head[1] = (uint8_t)m->context_nbytes;
        to->parts[to->nparts++] = (hl_slice){to->head, 2};
        to->parts[to->nparts++] = (hl_slice){m->context, m->context_nbytes};
    }
    if (m->form == HL_SLH_PREHASH) {
        const hl_alg_info *alg = hl_alg_find((hl_alg)m->prehash);
        for (unsigned i = 0; i < sizeof oids / sizeof *oids; i++)
            arc = oids[i].alg == m->prehash ? oids[i].arc : arc;
        if (arc == 0 || alg == NULL)
            return HL_EALG;
        if (m->nbytes != alg->digest_nbytes)
            return HL_ELENGTH;
        hli_copy(to->oid, ((const uint8_t[]){6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2}), 10);
        to->oid[10] = (uint8_t)arc;
        to->parts[to->nparts++] = (hl_slice){to->oid, sizeof to->oid};
    }
    to->parts[to->nparts++] = (hl_slice){m->data, m->nbytes};
    return HL_OK;
}

/* randomizer = PRF_msg(SK.prf, randomness, message). */
static hl_status randomize(const struct slh *s, const uint8_t *sk_prf, const uint8_t *randomness,
                           const struct framed *message, uint8_t *randomizer)
{
    const unsigned n = s->set->n;
    const hl_alg alg = wide_alg(s->set);
    uint8_t tag[HL_DIGEST_MAX_NBYTES];
    hl_hmac_key key;
    hl_hmac_ctx mac;
    hl_status status;

    if (s->set->is_shake) {
        hl_ctx ctx;
        status = hl_init(&ctx, alg) | hl_update(&ctx, sk_prf, n) | hl_update(&ctx, randomness, n);
        for (unsigned i = 0; i < message->nparts; i++)
            status |= hl_update(&ctx, message->parts[i].data, message->parts[i].nbytes);
        status |= hl_squeeze(&ctx, randomizer, n);
        hli_wipe(&ctx, sizeof ctx);
        return status;
    }
    status = hl_hmac_key_init(&key, alg, sk_prf, n) | hl_hmac_init(&mac, &key) | hl_hmac_update(&mac, randomness, n);
    for (unsigned i = 0; i < message->nparts; i++)
        status |= hl_hmac_update(&mac, message->parts[i].data, message->parts[i].nbytes);
    status |= hl_hmac_final(&mac, tag);
    hli_copy(randomizer, tag, n);
    hl_hmac_key_wipe(&key);
    hli_wipe(&mac, sizeof mac);
    return status;
}

/* The first `bits` bits of bytes from `from` on, most significant first; at most 16. */
static unsigned bits_at(const uint8_t *bytes, unsigned from, unsigned bits)
{
    const uint8_t *p = bytes + from / 8;
    const uint32_t word = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2];

    return word >> (24 - from % 8 - bits) & ((1u << bits) - 1);
}

/* *place = what H_msg(randomizer, PK.seed, PK.root, message) says (section 9.2). */
static hl_status find_place(const struct slh *s, const uint8_t *randomizer, const uint8_t *public_key,
                            const struct framed *message, struct place *place)
{
    const hl_slh_info *set = s->set;
    const unsigned n = set->n, tree_bits = set->h - s->tree_height;
    const unsigned nfors = (set->k * set->a + 7) / 8, ntree = (tree_bits + 7) / 8, nleaf = (s->tree_height + 7) / 8;
    const unsigned ndigest = nfors + ntree + nleaf;
    const hl_alg alg = wide_alg(set);
    uint8_t digest[2 * HL_DIGEST_MAX_NBYTES], seed[2 * MAX_N + HL_DIGEST_MAX_NBYTES + 4];
    const unsigned nseed = 2 * n + (n == 16 ? 32 : 64);
    uint64_t tree = 0;
    uint32_t leaf = 0;
    hl_ctx ctx;
    hl_status status = hl_init(&ctx, alg) | hl_update(&ctx, randomizer, n) | hl_update(&ctx, public_key, 2 * n);

    for (unsigned i = 0; i < message->nparts; i++)
        status |= hl_update(&ctx, message->parts[i].data, message->parts[i].nbytes);
    if (set->is_shake) {
        status |= hl_squeeze(&ctx, digest, ndigest);
    } else { /* MGF1, RFC 8017 section B.2.1 */
        hli_copy(seed, randomizer, n);
        hli_copy(seed + n, public_key, n);
        status |= hl_final(&ctx, seed + 2 * n);
        for (unsigned i = 0, done = 0; done < ndigest; i++, done += nseed - 2 * n) {
            hli_store32(seed + nseed, i, 1);
            status |= hl_hash(alg, seed, nseed + 4, digest + done);
        }
    }
    for (unsigned i = 0; i < set->k; i++)
        place->fors[i] = (uint16_t)bits_at(digest, i * set->a, set->a);
    for (unsigned i = 0; i < ntree; i++)
        tree = tree << 8 | digest[nfors + i];
    for (unsigned i = 0; i < nleaf; i++)
        leaf = leaf << 8 | digest[nfors + ntree + i];
    place->tree = tree_bits < 64 ? tree & ((UINT64_C(1) << tree_bits) - 1) : tree;
    place->leaf = leaf & ((UINT32_C(1) << s->tree_height) - 1);
    return status;
}

/* ---- Verification ------------------------------------------------------------------------------------------------ */

/* The states that rows of these signatures begin with; NULL: one for all. */
static const void *const *begins_of(const struct slh *s, const struct scratch *scratch, const struct group *g,
                                    const uint16_t owners[], size_t count, const void *begins[])
{
    if (g->is_one_key || s->set->is_shake)
        return NULL;
    for (size_t i = 0; i < count; i++)
        begins[i] = &scratch->seeded[owners[i]];
    return begins;
}

/* The hashes of rows that belong to these signatures. */
static void hash_rows_of(const struct slh *s, const struct scratch *scratch, const struct group *g,
                         const uint16_t owners[], const uint8_t *rows, size_t stride, unsigned nvalues, size_t count,
                         uint8_t *values)
{
    const void *begins[ROWS];

    hash_rows(s, begins_of(s, scratch, g, owners, count, begins), rows, stride, nvalues, count, values);
}

static void hash_blocks_of(const struct slh *s, const struct scratch *scratch, const struct group *g,
                           const uint16_t owners[], uint8_t *rows, const uint8_t *nsteps, size_t count)
{
    const void *begins[ROWS];

    hash_blocks(s, begins_of(s, scratch, g, owners, count, begins), rows, nsteps, 1, nsteps != NULL, count);
}

/* One step up the paths: node i of scratch->nodes, which is number numbers(i) of its height z, becomes its parent. Of
 * each signature there are `each` nodes, whose paths begin at path(i). */
struct steps {
    int is_fors;
    unsigned each, layer, height;
};
static void climb_paths(const struct slh *s, struct scratch *scratch, const struct group *g, const struct steps *steps)
{
    const unsigned n = s->set->n;
    const size_t count = (size_t)g->count * steps->each;

    for (unsigned i = 0; i < g->count; i++) {
        uint8_t *model = scratch->models + i * ROW_NBYTES;
        put_address(s, model, g->keys[i], steps->layer, tree_at(s, &g->places[i], steps->layer),
                    steps->is_fors ? FORS_TREE : TREE);
        if (steps->is_fors)
            hli_store32(model + s->word1, g->places[i].leaf, 1);
    }
    for (unsigned z = 1; z <= steps->height; z++)
        for (size_t i = 0; i < count; i += ROWS) {
            const size_t nrows = minimum(count - i, ROWS);
            uint16_t owners[ROWS];
            for (size_t r = 0; r < nrows; r++) {
                const unsigned owner = (unsigned)((i + r) / steps->each), tree = (unsigned)((i + r) % steps->each);
                const struct forest f = {steps->is_fors, steps->height, steps->layer, &g->places[owner],
                                         (uint8_t *)(uintptr_t)g->signatures[owner]};
                const uint32_t leaf = chosen_leaf(s, &f, tree), across = steps->height - z;
                const uint8_t *sibling = part_of(s, &f, tree) + ((f.is_fors ? 1 : s->len) + z - 1) * (size_t)n;
                const uint8_t *node = scratch->nodes + (i + r) * n;
                uint8_t *row = scratch->rows + r * ROW_NBYTES;
                const unsigned is_right = leaf >> (z - 1) & 1;
                owners[r] = (uint16_t)owner;
                copy_head(row, scratch->models + owner * ROW_NBYTES);
                row[s->word2 + 3] = (uint8_t)z;
                hli_store32(row + s->word3, (f.is_fors ? tree << across : 0) + (leaf >> z), 1);
                copy_value(s, row + s->value + is_right * n, node);
                copy_value(s, row + s->value + (1 - is_right) * n, sibling);
            }
            hash_rows_of(s, scratch, g, owners, scratch->rows, ROW_NBYTES, 2, nrows, scratch->nodes + i * n);
        }
}

/* values = the FORS public keys that the signatures lead to (section 8.4). */
static void verify_fors(const struct slh *s, struct scratch *scratch, struct group *g)
{
    const unsigned n = s->set->n, k = s->set->k;
    const size_t count = (size_t)g->count * k;
    uint16_t owners[ROWS];

    for (size_t i = 0; i < count; i += ROWS) {
        const size_t nrows = minimum(count - i, ROWS);
        for (size_t r = 0; r < nrows; r++) {
            const unsigned owner = (unsigned)((i + r) / k), tree = (unsigned)((i + r) % k);
            const struct place *place = &g->places[owner];
            uint8_t *row = scratch->rows + r * s->stride;
            owners[r] = (uint16_t)owner;
            put_address(s, row, g->keys[owner], 0, place->tree, FORS_TREE);
            hli_store32(row + s->word1, place->leaf, 1);
            hli_store32(row + s->word3, (tree << s->set->a) + place->fors[tree], 1);
            put_value(s, row, g->signatures[owner] + n + tree * (size_t)n * (s->set->a + 1));
            pad(s, row);
        }
        hash_blocks_of(s, scratch, g, owners, scratch->rows, NULL, nrows);
        for (size_t r = 0; r < nrows; r++)
            copy_value(s, scratch->nodes + (i + r) * n, scratch->rows + r * s->stride + s->value);
    }
    climb_paths(s, scratch, g, &(struct steps){1, k, 0, s->set->a});
    for (unsigned i = 0; i < g->count; i++) {
        uint8_t *row = scratch->wide + i * WIDE_NBYTES;
        put_address(s, row, g->keys[i], 0, g->places[i].tree, FORS_ROOTS);
        hli_store32(row + s->word1, g->places[i].leaf, 1);
        hli_copy(row + s->value, scratch->nodes + i * (size_t)k * n, k * (size_t)n);
        owners[i] = (uint16_t)i;
    }
    hash_rows_of(s, scratch, g, owners, scratch->wide, WIDE_NBYTES, k, g->count, g->values);
}

/* values = the roots that the signatures of this layer lead to (sections 5.3 and 6.3). */
static void verify_layer(const struct slh *s, struct scratch *scratch, struct group *g, unsigned layer)
{
    const unsigned n = s->set->n;
    const size_t count = (size_t)g->count * s->len;
    uint8_t nsteps[ROWS];
    uint16_t owners[ROWS];

    for (unsigned i = 0; i < g->count; i++) {
        const struct place *place = &g->places[i];
        uint8_t *model = scratch->models + i * ROW_NBYTES;
        digits_of(s, g->values + i * n, scratch->digits + i * s->len);
        put_address(s, model, g->keys[i], layer, tree_at(s, place, layer), WOTS_HASH);
        hli_store32(model + s->word1, leaf_at(s, place, layer), 1);
        pad(s, model);
        put_public(s, scratch, i, g->keys[i], layer, tree_at(s, place, layer), leaf_at(s, place, layer));
    }
    sort(scratch->digits, count, 1, scratch->order);
    for (size_t i = 0; i < count; i += ROWS) {
        const size_t nrows = minimum(count - i, ROWS);
        for (size_t r = 0; r < nrows; r++) {
            const unsigned owner = scratch->order[i + r] / s->len, chain = scratch->order[i + r] % s->len;
            const struct forest f = {0, s->tree_height, layer, &g->places[owner],
                                     (uint8_t *)(uintptr_t)g->signatures[owner]};
            const unsigned digit = scratch->digits[scratch->order[i + r]];
            uint8_t *row = scratch->rows + r * s->stride;
            owners[r] = (uint16_t)owner;
            nsteps[r] = (uint8_t)(15 - digit);
            copy_block(s, row, scratch->models + owner * ROW_NBYTES);
            row[s->word2 + 3] = (uint8_t)chain;
            row[s->word3 + 3] = (uint8_t)digit;
            put_value(s, row, part_of(s, &f, 0) + chain * (size_t)n);
        }
        hash_blocks_of(s, scratch, g, owners, scratch->rows, nsteps, nrows);
        for (size_t r = 0; r < nrows; r++)
            copy_value(s, public_value(s, scratch, scratch->order[i + r] / s->len, scratch->order[i + r] % s->len),
                       scratch->rows + r * s->stride + s->value);
    }
    for (unsigned i = 0; i < g->count; i++)
        owners[i] = (uint16_t)i;
    hash_rows_of(s, scratch, g, owners, scratch->wide, WIDE_NBYTES, s->len, g->count, scratch->nodes);
    climb_paths(s, scratch, g, &(struct steps){0, 1, layer, s->tree_height});
    hli_copy(g->values, scratch->nodes, g->count * (size_t)n);
}

/* valid[i] = whether signature i leads to its key's root. */
static HLI_NOINLINE void verify_group(struct slh *s, struct scratch *scratch, struct group *g, uint8_t valid[])
{
    g->is_one_key = 1;
    for (unsigned i = 1; i < g->count; i++)
        g->is_one_key &= hl_equal(g->keys[i], g->keys[0], s->set->n);
    set_key(s, g->keys[0], NULL);
    for (unsigned i = 0; !g->is_one_key && i < g->count; i++)
        make_seeded(s, g->keys[i], &scratch->seeded[i]);
    verify_fors(s, scratch, g);
    for (unsigned layer = 0; layer < s->set->d; layer++)
        verify_layer(s, scratch, g, layer);
    for (unsigned i = 0; i < g->count; i++)
        valid[i] = (uint8_t)hl_equal(g->values + i * s->set->n, g->keys[i] + s->set->n, s->set->n);
}

/* ---- Tasks ------------------------------------------------------------------------------------------------------- */

static struct scratch *scratch_in(void *memory, size_t nbytes)
{
    const uintptr_t at = ((uintptr_t)memory + 63) & ~(uintptr_t)63;

    return memory == NULL || nbytes < hl_slh_scratch_nbytes() ? NULL : (struct scratch *)at;
}

/* Wipes all that is secret in a scratch after a call. Its nodes are in signatures, or hashes of secrets. */
static void wipe_rows(struct scratch *scratch)
{
    hli_wipe(scratch->rows, sizeof scratch->rows);
    hli_wipe(scratch->models, sizeof scratch->models);
}

static struct forest forest_of(const struct slh *s, const struct task *t, int is_fors)
{
    return (struct forest){is_fors, is_fors ? s->set->a : s->tree_height, is_fors ? 0 : t->first_layer, &t->place,
                           t->signature};
}

/* The heights of the nodes that parts leave behind. */
static unsigned part_height(const struct forest *f)
{
    return (unsigned)minimum(f->height, f->is_fors ? 10 : 4);
}

static hl_status begin(hl_slh_task *task, struct slh *s, const uint8_t *secret)
{
    struct task *t = private_of(task);

    t->secret = secret;
    t->nfors_parts = (t->nfors + FORS_LEAVES - 1) / FORS_LEAVES;
    task->set = s->set->set;
    task->nparts = t->nfors_parts + (t->nleaves + LEAVES - 1) / LEAVES;
    return HL_OK;
}

hl_status hl_slh_begin_keygen(hl_slh_task *task, hl_slh set, const uint8_t *seeds, uint8_t *secret)
{
    const hl_slh_info *info = hl_slh_find(set);
    struct slh s;

    if (task == NULL || seeds == NULL || secret == NULL)
        return HL_ENULL;
    if (info == NULL || open(&s, info) != HL_OK)
        return HL_EALG;
    struct task *t = private_of(task);
    hli_zero(task, sizeof *task);
    t->made = secret;
    t->nleaves = UINT32_C(1) << s.tree_height;
    t->first_layer = info->d - 1;
    return begin(task, &s, seeds);
}

hl_status hl_slh_begin_sign(hl_slh_task *task, hl_slh set, const uint8_t *secret, const hl_slh_message *message,
                            const uint8_t *randomness, uint8_t *signature)
{
    const hl_slh_info *info = hl_slh_find(set);
    struct framed framed;
    struct slh s;

    if (task == NULL || secret == NULL || message == NULL || signature == NULL)
        return HL_ENULL;
    if (info == NULL || open(&s, info) != HL_OK)
        return HL_EALG;
    hl_status status = frame(message, &framed);
    if (status != HL_OK)
        return status;
    const size_t n = info->n;
    struct task *t = private_of(task);
    hli_zero(task, sizeof *task);
    t->signature = signature;
    t->nfors = info->k << info->a;
    t->nleaves = info->d << s.tree_height;
    status = randomize(&s, secret + n, randomness != NULL ? randomness : secret + 2 * n, &framed, signature);
    if (status == HL_OK)
        status = find_place(&s, signature, secret + 2 * n, &framed, &t->place);
    return status == HL_OK ? begin(task, &s, secret) : status;
}

/* Both kinds of keys have SK.seed first and PK.seed third. */
static hl_status open_task(struct slh *s, hl_slh_task *task)
{
    if (task == NULL)
        return HL_ENULL;
    const hl_slh_info *set = hl_slh_find((hl_slh)task->set);
    if (set == NULL || open(s, set) != HL_OK)
        return HL_ESTATE;
    set_key(s, private_of(task)->secret + 2 * set->n, private_of(task)->secret);
    return HL_OK;
}

static HLI_NOINLINE void do_part(const struct slh *s, struct task *t, uint32_t part, struct scratch *scratch)
{
    const int is_fors = part < t->nfors_parts;
    const struct forest f = forest_of(s, t, is_fors);
    const unsigned top = part_height(&f), n = s->set->n;
    const uint32_t each = is_fors ? FORS_LEAVES : LEAVES, first = (is_fors ? part : part - t->nfors_parts) * each;
    const uint32_t count = (uint32_t)minimum(each, (is_fors ? t->nfors : t->nleaves) - first);
    const size_t before = is_fors ? 0 : t->nfors >> minimum(s->set->a, 10);

    if (is_fors)
        fors_leaves(s, &f, scratch, first, count, scratch->nodes);
    else
        tree_leaves(s, &f, scratch, first, count, scratch->nodes);
    climb(s, &f, scratch, scratch->nodes, first, count, 0, top);
    hli_copy(t->nodes + (before + (first >> top)) * n, scratch->nodes, (count >> top) * (size_t)n);
}

hl_status hl_slh_part(hl_slh_task *task, uint32_t part, void *memory, size_t nbytes)
{
    struct scratch *const scratch = scratch_in(memory, nbytes);
    struct slh s;
    const hl_status status = open_task(&s, task);

    if (!HLI_ALG(slh))
        return HL_EALG;
    if (status != HL_OK)
        return status;
    if (scratch == NULL)
        return memory == NULL ? HL_ENULL : HL_ELENGTH;
    if (part >= task->nparts)
        return HL_EJOB;
    do_part(&s, private_of(task), part, scratch);
    wipe_rows(scratch);
    forget();
    return HL_OK;
}

/* Does the rest of a task, when all its parts are done. */
static HLI_NOINLINE void finish(struct slh *s, struct task *t, struct scratch *scratch)
{
    const unsigned n = s->set->n;
    const struct forest fors = forest_of(s, t, 1), trees = forest_of(s, t, 0);
    const uint8_t *signed_by[MAX_LAYERS];
    uint8_t pk_fors[MAX_N], *const roots = t->nodes + (t->nfors >> part_height(&fors)) * (size_t)n;
    const unsigned top = part_height(&trees);

    climb(s, &trees, scratch, roots, 0, t->nleaves >> top, top, trees.height);
    if (t->signature == NULL) {
        hli_copy(t->made, t->secret, 3 * n);
        hli_copy(t->made + 3 * n, roots, n);
        return;
    }
    climb(s, &fors, scratch, t->nodes, 0, t->nfors >> part_height(&fors), part_height(&fors), fors.height);
    put_address(s, scratch->wide, s->pk_seed, 0, t->place.tree, FORS_ROOTS);
    hli_store32(scratch->wide + s->word1, t->place.leaf, 1);
    hli_copy(scratch->wide + s->value, t->nodes, s->set->k * (size_t)n);
    hash_rows(s, NULL, scratch->wide, WIDE_NBYTES, s->set->k, 1, pk_fors);
    for (unsigned layer = 0; layer < s->set->d; layer++)
        signed_by[layer] = layer == 0 ? pk_fors : roots + (layer - 1) * (size_t)n;
    sign_roots(s, &trees, scratch, signed_by);
}

/* Whether the signature just made is right: an error of the machine could give a forger a second signature of a
 * one-time key. Not every such error is found (Castelnovi, Martinelli, Prest 2018). */
static HLI_NOINLINE int is_right(struct slh *s, struct scratch *scratch, const struct task *t)
{
    struct group *const g = &scratch->group;
    uint8_t valid;

    g->count = 1;
    g->keys[0] = t->secret + 2 * s->set->n;
    g->signatures[0] = t->signature;
    g->places[0] = t->place;
    verify_group(s, scratch, g, &valid);
    return valid;
}

hl_status hl_slh_end(hl_slh_task *task, void *memory, size_t nbytes)
{
    struct scratch *const scratch = scratch_in(memory, nbytes);
    struct slh s;
    hl_status status = open_task(&s, task);

    if (!HLI_ALG(slh))
        return HL_EALG;
    if (status != HL_OK)
        return status;
    if (scratch == NULL)
        return memory == NULL ? HL_ENULL : HL_ELENGTH;
    struct task *t = private_of(task);
    finish(&s, t, scratch);
    if (t->signature != NULL && !is_right(&s, scratch, t)) {
        hli_wipe(t->signature, s.set->signature_nbytes);
        status = HL_ESTATE;
    }
    wipe_rows(scratch);
    hl_slh_drop(task);
    forget();
    return status;
}

void hl_slh_drop(hl_slh_task *task)
{
    if (task != NULL)
        hli_wipe(task, sizeof *task);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

const hl_slh_info *hl_slh_find(hl_slh set)
{
    const size_t i = (size_t)set - 1;

    return HLI_ALG(slh) && i < SET_COUNT ? &sets[i] : NULL;
}

size_t hl_slh_scratch_nbytes(void)
{
    return sizeof(struct scratch) + 63;
}

static hl_status check_work(const hl_slh_work *work)
{
    if (work == NULL || work->scratch == NULL)
        return HL_ENULL;
    return work->scratch_nbytes < hl_slh_scratch_nbytes() ? HL_ELENGTH : HL_OK;
}

static int is_stopped(const hl_slh_work *work)
{
    return work->is_stopped != NULL && work->is_stopped(work->context) != 0;
}

/* All parts of a task that was begun, and its end. */
static hl_status run(hl_slh_task *task, uint8_t *written, size_t nbytes, const hl_slh_work *work)
{
    for (uint32_t part = 0; part < task->nparts; part++) {
        hl_status status = is_stopped(work) ? HL_ESTOPPED
                                            : hl_slh_part(task, part, work->scratch, work->scratch_nbytes);
        if (status != HL_OK) {
            hl_slh_drop(task);
            hli_wipe(written, nbytes);
            return status;
        }
    }
    return hl_slh_end(task, work->scratch, work->scratch_nbytes);
}

hl_status hl_slh_keygen(hl_slh set, const uint8_t *seeds, uint8_t *secret, const hl_slh_work *work)
{
    hl_status status = check_work(work);

    if (status != HL_OK)
        return status;
    hl_slh_task *task = &scratch_in(work->scratch, work->scratch_nbytes)->task;
    status = hl_slh_begin_keygen(task, set, seeds, secret);
    return status != HL_OK ? status : run(task, secret, hl_slh_find(set)->secret_nbytes, work);
}

hl_status hl_slh_sign(hl_slh set, const uint8_t *secret, const hl_slh_message *message, const uint8_t *randomness,
                      uint8_t *signature, const hl_slh_work *work)
{
    const hl_slh_info *info = hl_slh_find(set);
    hl_status status = check_work(work);

    if (!HLI_ALG(slh))
        return HL_EALG;
    if (status != HL_OK)
        return status;
    hl_slh_task *task = &scratch_in(work->scratch, work->scratch_nbytes)->task;
    status = hl_slh_begin_sign(task, set, secret, message, randomness, signature);
    return status != HL_OK ? status : run(task, signature, info->signature_nbytes, work);
}

hl_status hl_slh_verify(hl_slh set, const uint8_t *public_key, const hl_slh_message *message, const uint8_t *signature,
                        size_t signature_nbytes, const hl_slh_work *work)
{
    uint8_t valid;

    return hl_slh_verify_many(set, public_key, 0, message, &signature, &signature_nbytes, 1, &valid, work);
}

hl_status hl_slh_verify_many(hl_slh set, const uint8_t *public_keys, size_t key_stride, const hl_slh_message *messages,
                             const uint8_t *const signatures[], const size_t signature_nbytes[], size_t count,
                             uint8_t *valid, const hl_slh_work *work)
{
    const hl_slh_info *info = hl_slh_find(set);
    hl_status status = check_work(work);
    struct framed framed;
    struct slh s;
    int all = 1;

    if (!HLI_ALG(slh)) /* first: else gcc keeps the functions called below */
        return HL_EALG;
    if (status == HL_OK && (info == NULL || open(&s, info) != HL_OK))
        status = HL_EALG;
    if (status == HL_OK && count != 0 && (public_keys == NULL || messages == NULL || signatures == NULL ||
                                          signature_nbytes == NULL || valid == NULL))
        status = HL_ENULL;
    for (size_t i = 0; status == HL_OK && i < count; i++) {
        if (signatures[i] == NULL && signature_nbytes[i] != 0)
            status = HL_ENULL;
        else
            status = frame(&messages[i], &framed);
    }
    if (status != HL_OK)
        return status;
    struct scratch *const scratch = scratch_in(work->scratch, work->scratch_nbytes);
    struct group *const g = &scratch->group;
    for (size_t i = 0; i < count; i++)
        valid[i] = 0;
    for (size_t i = 0; i < count;) {
        size_t owners[LEAVES];
        uint8_t are_valid[LEAVES];
        if (is_stopped(work)) {
            for (size_t j = 0; j < count; j++)
                valid[j] = 0;
            return HL_ESTOPPED;
        }
        for (g->count = 0; i < count && g->count < LEAVES; i++) {
            const uint8_t *key = hli_nth(public_keys, i, key_stride);
            if (signature_nbytes[i] != info->signature_nbytes) {
                all = 0;
                continue;
            }
            if (frame(&messages[i], &framed) != HL_OK ||
                find_place(&s, signatures[i], key, &framed, &g->places[g->count]) != HL_OK)
                return HL_ESTATE; /* does not happen: checked above */
            owners[g->count] = i;
            g->keys[g->count] = key;
            g->signatures[g->count++] = signatures[i];
        }
        if (g->count != 0)
            verify_group(&s, scratch, g, are_valid);
        for (unsigned j = 0; j < g->count; j++) {
            valid[owners[j]] = are_valid[j];
            all &= are_valid[j];
        }
    }
    return all ? HL_OK : HL_ETAG;
}
