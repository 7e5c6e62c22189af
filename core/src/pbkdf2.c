/* pbkdf2.c: PBKDF2 with HMAC, RFC 8018 section 5.2, over lanes: across the blocks of a key and across passwords.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Block i of a key is U_1 xor U_2 xor ... with U_1 = HMAC(password, salt || i) and U_j = HMAC(password, U_(j - 1)).
 * Each lane has a block. From U_2 on, a lane hashes one block at a time: a digest and its padding. The padding is the
 * same for the inner and the outer hash, and stays in place. An iteration is two calls of a kernel.
 */
#include "hmac.h"

/* Burned in addition to the stack below the driver: the frame of derive. */
enum { DERIVE_NBYTES = 13 << 10 };

/* Iterations of a group of lanes between two calls of is_stopped. */
enum { STRETCH = 4096 };

struct derivation {
    const struct hli_plan *plan;
    const hl_alg_info *alg;
    const hl_slice *passwords, *salts;
    uint32_t niterations;
    uint8_t *keys;
    size_t key_nbytes;
    size_t nblocks;              /* of each key */
    int (*is_stopped)(void *context); /* or NULL */
    void *context;
};

/* digest = U_1 of block `index` (from 1 on), a whole digest. */
static void begin_block(const struct derivation *d, const hl_hmac_key *key, const hl_slice *salt, uint32_t index,
                        uint8_t *digest)
{
    hl_ctx ctx, *const inner = &ctx;
    struct hli_plan plan = *d->plan;
    uint8_t number[4];

    hli_begin_one(d->alg, &ctx, &key->inner, hli_block_nbytes(d->alg));
    hli_store32(number, index, 1);
    hli_update(&plan, &inner, salt, 1);
    hli_update(&plan, &inner, &(hl_slice){number, sizeof number}, 1);
    plan.second = (struct hli_pass){d->alg, &key->outer, NULL, 0, hli_block_nbytes(d->alg)};
    plan.digests = digest;
    hli_final(&plan, &inner, 1); /* wipes the context */
}

/* A call of memcpy takes as long as the copy of one lane's state. */
HLI_INLINE void copy_states(union hli_lane_states *to, const union hli_lane_states *from, size_t nbytes)
{
    if (nbytes <= 64)
        hli_copy(to, from, 64);
    else
        hli_copy(to, from, nbytes);
}

/* 0 if the caller's function stopped it, which leaves part of the keys written; else 1. */
static HLI_NOINLINE int derive(const struct derivation *d, size_t ntasks)
{
    const hl_alg_info *alg = d->alg;
    const struct hli_edges edges = hli_edges_of(d->plan);
    const size_t digest_nbytes = alg->digest_nbytes;
    union hli_lane_states inner, outer, states, sums;
    struct hli_tails tails;
    uint8_t first[HLI_LANES][HL_DIGEST_MAX_NBYTES], *to[HLI_LANES];
    const uint8_t *msg[HLI_LANES];
    hl_hmac_key key;
    size_t password = SIZE_MAX; /* index of the password that `key` was made of */

    for (size_t task = 0; task < ntasks;) {
        const hl_kernel *kernel = hli_kernel(d->plan, &d->plan->first, ntasks - task);
        const unsigned nlanes = kernel->nlanes, n = ntasks - task < nlanes ? (unsigned)(ntasks - task) : nlanes;
        const size_t nbytes = nlanes * hli_state_nbytes(alg);
        for (unsigned l = 0; l < nlanes; l++) {
            if (l < n) {
                const size_t i = (task + l) / d->nblocks;
                if (i != password)
                    hli_make_key(hli_kernel(d->plan, &d->plan->first, 1), alg, &d->passwords[i], &key);
                password = i;
                begin_block(d, &key, &d->salts[i], (uint32_t)((task + l) % d->nblocks + 1), first[l]);
                to[l] = hli_tail(alg, &tails, l);
                edges.pad(alg, 1, &(const uint8_t *){first[l]}, &digest_nbytes, hli_block_nbytes(alg), 1, to[l]);
            }
            hli_load_lane(alg, &inner, nlanes, l, &key.inner); /* a lane without a block gets the latest key */
            hli_load_lane(alg, &outer, nlanes, l, &key.outer);
        }
        hli_point_at_tails(alg, &tails, nlanes, n, msg);
        hli_zero(&sums, sizeof sums);
        for (uint32_t iteration = 1; iteration < d->niterations; iteration++) {
            if (iteration % STRETCH == 1 && d->is_stopped != NULL && d->is_stopped(d->context) != 0)
                return 0;
            copy_states(&states, &inner, nbytes);
            hli_advance_lanes(kernel, alg, &states, msg, 1);
            edges.digests(alg, &states, nlanes, n, to);
            copy_states(&states, &outer, nbytes);
            hli_advance_lanes(kernel, alg, &states, msg, 1);
            edges.digests(alg, &states, nlanes, n, to);
            for (size_t w = 0; w < (nbytes + 7) / 8; w++) /* one lane of five words: what follows has no meaning */
                sums.w64[w] ^= states.w64[w];
        }
        edges.digests(alg, &sums, nlanes, n, to);
        for (unsigned l = 0; l < n; l++) {
            const size_t i = (task + l) / d->nblocks, at = (task + l) % d->nblocks * digest_nbytes;
            for (size_t b = 0; b < digest_nbytes && at + b < d->key_nbytes; b++)
                d->keys[i * d->key_nbytes + at + b] = first[l][b] ^ to[l][b];
        }
        task += n;
    }
    return 1;
}

hl_status hl_pbkdf2_many(hl_alg alg, const hl_slice *passwords, const hl_slice *salts, uint32_t niterations,
                         size_t count, uint8_t *keys, size_t key_nbytes)
{
    return hl_pbkdf2_many_until(alg, passwords, salts, niterations, count, keys, key_nbytes, NULL, NULL);
}

hl_status hl_pbkdf2_many_until(hl_alg alg, const hl_slice *passwords, const hl_slice *salts, uint32_t niterations,
                               size_t count, uint8_t *keys, size_t key_nbytes, int (*is_stopped)(void *context),
                               void *context)
{
    const hl_alg_info *info = hl_alg_find(alg);
    struct hli_plan plan;
    size_t total;

    if (info == NULL || !hli_has_hmac(info))
        return HL_EALG;
    hl_status status = hli_check_call(info, NULL, count, keys, &plan);
    if (status != HL_OK)
        return status;
    const size_t nblocks = key_nbytes / info->digest_nbytes + (key_nbytes % info->digest_nbytes != 0);
    if (niterations == 0 || nblocks == 0 || nblocks > UINT32_MAX ||
        __builtin_mul_overflow(count, key_nbytes, &total) || __builtin_mul_overflow(count, nblocks, &total))
        return HL_ELENGTH;
    if (count != 0 && (passwords == NULL || salts == NULL))
        return HL_ENULL;
    for (size_t i = 0; status == HL_OK && i < count; i++) {
        status = hli_check_slice(passwords[i].data, passwords[i].nbytes, 0);
        if (status == HL_OK) /* the key's block comes before the salt, the block's number after it */
            status = hli_check_slice(salts[i].data, salts[i].nbytes, hli_block_nbytes(info) + 4);
    }
    if (status != HL_OK || count == 0)
        return status;
    hli_check_readable_slices(passwords, count);
    hli_check_readable_slices(salts, count);
    plan.is_secret = 1; /* covers the first block; the iterations are burned here */
    const struct derivation derivation = {&plan,      info,    passwords,  salts,  niterations, keys,
                                          key_nbytes, nblocks, is_stopped, context};
    if (!derive(&derivation, total)) {
        hli_wipe(keys, count * key_nbytes);
        status = HL_ESTOPPED;
    }
    hli_burn((size_t)HLI_MANY_NBYTES + HL_KERNEL_STACK_NBYTES + DERIVE_NBYTES);
    return status;
}
