/* oracle.c: tests the oracle: reference.c against libcrypto at every length up to several blocks, and every length of
 * an XOF's digest.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "test.h"

enum { LONG_MAX_NBYTES = 600 }; /* of an XOF's digest */

int main(int argc, char **argv)
{
    test_start(argc, argv);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        const hl_alg_info *alg = hl_alg_at(a);
        const struct reference *ref = reference_of(alg);

        test_case("%s: the reference describes it as the library does", alg->name);
        CHECK(ref->digest_nbytes == alg->digest_nbytes && ref->block_nbytes == alg->block_nbytes &&
                  ref->word_nbytes == alg->word_nbytes && ref->nwords == alg->nwords &&
                  ref->big_endian == alg->big_endian && ref->suffix == alg->suffix &&
                  (ref->suffix != 0) == is_sponge(alg) &&
                  ref->is_counted == (alg->ending < HL_COUNTED ? 0 : (int)(alg->ending - HL_COUNTED) + 1) &&
                  ref->is_xof == (alg->ending == HL_XOF),
              "%s", alg->name);
        for (unsigned w = 0; w < alg->nwords; w++)
            CHECK(ref->iv[w] == (alg->word_nbytes == 4 ? ((const uint32_t *)alg->iv)[w]
                                                       : ((const uint64_t *)alg->iv)[w]),
                  "initial value, word %u", w);

        if (strcmp(oracle_name(alg), "libcrypto") != 0) {
            test_skip("%s: reference against libcrypto (built without it, or it has none)", alg->name);
            continue;
        }
        test_case("%s: reference against libcrypto", alg->name);
        const uint8_t *pool = random_pool(4096);
        for (size_t nbytes = 0; nbytes <= 1200; nbytes++) {
            uint8_t expected[HL_DIGEST_MAX_NBYTES], found[HL_DIGEST_MAX_NBYTES];
            struct reference_ctx ctx;
            reference_init(&ctx, ref);
            reference_update(&ctx, pool + nbytes, nbytes);
            reference_final(&ctx, found);
            oracle(alg, pool + nbytes, nbytes, expected);
            CHECK(memcmp(expected, found, alg->digest_nbytes) == 0, "%zu bytes", nbytes);
        }
        for (size_t long_nbytes = 0; ref->is_xof && long_nbytes <= LONG_MAX_NBYTES; long_nbytes++) {
            uint8_t expected[LONG_MAX_NBYTES + 1], found[LONG_MAX_NBYTES + 1];
            struct reference_ctx ctx;
            reference_init(&ctx, ref);
            reference_update(&ctx, pool, long_nbytes);
            reference_final_long(&ctx, found, long_nbytes);
            oracle_long(alg, pool, long_nbytes, expected, long_nbytes);
            CHECK(memcmp(expected, found, long_nbytes) == 0, "%zu bytes of digest", long_nbytes);
        }
    }
    return test_end();
}
