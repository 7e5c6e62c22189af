/* chains.c: chains of hashes, of which SLH-DSA is made (core/src/chain.h), on every instruction set, against a loop
 * over the oracle.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

#include "../core/src/chain.h"

enum { COUNT = 70, STEPS = 12, BLOCK_NBYTES = 256 };

static uint8_t blocks[COUNT][BLOCK_NBYTES] __attribute__((aligned(64)));

/* Hashes a row again and again, by the oracle. */
static void expect(const hl_alg_info *alg, const struct hli_links *links, const uint8_t *prefix, size_t prefix_nbytes,
                   uint8_t *row, size_t nbytes, unsigned nsteps)
{
    uint8_t digest[HL_DIGEST_MAX_NBYTES];

    while (nsteps-- > 0) {
        struct oracle *o = oracle_new(alg);
        oracle_update(o, prefix, prefix_nbytes);
        oracle_update(o, row, nbytes);
        oracle_final(o, digest);
        memcpy(row + links->at, digest, links->nbytes);
        if (links->count_at < links->block_nbytes)
            row[links->count_at]++;
    }
}

static void check_round(const hl_alg_info *alg, const uint8_t *prefix)
{
    static uint8_t rows[COUNT][HL_BLOCK_MAX_NBYTES];
    uint8_t nsteps[COUNT], *at[COUNT];
    const size_t count = random_below(COUNT + 1), prefix_nbytes = alg->block_nbytes * random_below(3);
    const unsigned all_steps = (unsigned)random_below(STEPS + 1);
    const int is_each = random_below(2) == 0;
    size_t nbytes = 1 + random_below(hli_longest_in_one_block(alg));
    hl_alg_info truncated = *alg;
    struct hli_chains chains;
    hl_ctx begun;

    memset(&chains, 0, sizeof chains);
    chains.links.block_nbytes = alg->block_nbytes;
    if (random_below(2) == 0) { /* places of SLH-DSA */
        const unsigned n = 16 + 8 * (unsigned)random_below(3), value = alg->alg == HL_SHA256 ? 22 : n + 32;
        nbytes = value + n, chains.links.at = value, chains.links.nbytes = n, chains.links.count_at = value - 1;
    } else {
        const size_t most = alg->digest_nbytes < nbytes ? alg->digest_nbytes : nbytes, cut = 1 + random_below(most);
        chains.links.nbytes = (unsigned)(random_below(2) == 0 && cut > 8 ? cut & ~(size_t)7 : cut); /* whole words */
        chains.links.at = (unsigned)random_below(nbytes - chains.links.nbytes + 1);
        chains.links.count_at = (unsigned)random_below(nbytes + 1);
        if (chains.links.count_at == nbytes || chains.links.count_at - chains.links.at < chains.links.nbytes)
            chains.links.count_at = alg->block_nbytes;
    }
    truncated.digest_nbytes = chains.links.nbytes;
    hl_init(&begun, alg->alg);
    hl_update(&begun, prefix, prefix_nbytes);
    chains.plan.choice = hli_choice();
    chains.plan.first.alg = &truncated;
    chains.plan.first.begin = &begun.state;
    for (size_t i = 0; i < count; i++) {
        random_fill(rows[i], nbytes);
        nsteps[i] = (uint8_t)random_below(STEPS + 1);
        if (chains.links.count_at < nbytes) /* up to 255 */
            rows[i][chains.links.count_at] = (uint8_t)(255 - STEPS - random_below(2) * random_below(200));
        const uint8_t *const row = rows[i];
        at[i] = blocks[i];
        hli_pad_scalar(alg, 1, &row, &nbytes, prefix_nbytes, 1, at[i]);
        expect(alg, &chains.links, prefix, prefix_nbytes, rows[i], nbytes, is_each ? nsteps[i] : all_steps);
    }
    hli_run_chains(&chains, at, is_each ? nsteps : NULL, all_steps, count);
    for (size_t i = 0; i < count; i++)
        if (!CHECK(memcmp(blocks[i], rows[i], nbytes) == 0, "row %zu of %zu: %zu bytes, digest of %u at %u, count %u",
                   i, count, nbytes, chains.links.nbytes, chains.links.at, chains.links.count_at))
            return;
}

int main(int argc, char **argv)
{
    static const hl_alg algs[] = {HL_SHA256, HL_SHAKE256};

    if (!HLI_ALG(slh)) {
        puts("skipped: chains (slh is left out)\n0 passed, 0 failed, 1 skipped");
        return 0;
    }
    test_start(argc, argv);
    const uint8_t *prefix = random_pool(2 * HL_BLOCK_MAX_NBYTES);
    for (size_t a = 0; a < 2; a++) {
        if (!test_alg(algs[a], "chains"))
            continue;
        const hl_alg_info *alg = hl_alg_find(algs[a]);
        for (size_t i = 0; i <= hl_isa_count(); i++) {
            const char *isa = test_isa(i, "chains of %s", alg->name);
            if (isa == NULL)
                continue;
            test_case("%s, %s: chains", alg->name, isa);
            for (size_t round = 0; round < share_of(test_all ? 2000 : 300); round++)
                check_round(alg, prefix);
        }
        hl_restrict(0);
    }
    return test_end();
}
