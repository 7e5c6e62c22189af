/* xkcp_lanes.inc.h: xkcp.c's way over NLANES states at once, a KeccakP1600times<NLANES>.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * KeccakP1600times<NLANES>_AddLanesAll takes inputs that lie at equal distances of whole words. Rows do, and need no
 * copy; other messages, and last blocks that end within a word, are copied next to each other. Words stand in the
 * states as the macro KeccakP1600times<NLANES>_AddByte has them: word w of state l is at w * NLANES + l.
 */
#define JOIN3_(A, B, C) A##B##C
#define JOIN3(A, B, C)  JOIN3_(A, B, C)
#define TIMES(NAME)     JOIN3(KeccakP1600times, NLANES, NAME)
#define FAST_ABSORB     JOIN3(KeccakF1600times, NLANES, _FastLoop_Absorb)
#define HASH_LANES      JOIN3(hash, NLANES, )

/* `count` messages, at least two and at most NLANES, that have the same number of blocks. Lanes without a message do
 * the last one once more. */
static void HASH_LANES(const struct message *messages, size_t count, uint8_t *digests)
{
    const unsigned rate = RATE_NBYTES, nwords = rate / 8;
    const size_t nwhole = messages[0].nbytes / rate * rate;
    uint8_t blocks[NLANES * RATE_NBYTES] __attribute__((aligned(64)));
    TIMES(_states) states __attribute__((aligned(64)));
    word *words = (word *)&states;
    const struct message *of[NLANES];
    for (size_t l = 0; l < NLANES; l++)
        of[l] = &messages[l < count ? l : count - 1];

    const size_t nbytes = messages[0].nbytes, distance = (size_t)(of[1]->data - of[0]->data);
    int are_rows = distance % 8 == 0 && distance < 1 << 30, are_alike = 1;
    for (size_t l = 1; l < NLANES; l++) {
        are_rows &= of[l]->data == of[0]->data + l * distance;
        are_alike &= of[l]->nbytes == nbytes;
    }

    TIMES(_InitializeAll)(&states);
    if (are_rows && nwhole)
        FAST_ABSORB(&states, nwords, (unsigned)(distance / 8), nwords, messages[0].data,
                    distance * (NLANES - 1) + nwhole);
    for (size_t at = are_rows ? nwhole : 0; at < nwhole; at += rate) {
        for (size_t l = 0; l < NLANES; l++)
            memcpy(blocks + l * rate, of[l]->data + at, rate);
        TIMES(_AddLanesAll)(&states, blocks, nwords, nwords);
        TIMES(_PermuteAll_24rounds)(&states);
    }
    if (are_rows && are_alike && nbytes % 8 == 0) {
        const unsigned nleft = (unsigned)(nbytes - nwhole) / 8;
        TIMES(_AddLanesAll)(&states, messages[0].data + nwhole, nleft, (unsigned)(distance / 8));
        for (size_t l = 0; l < NLANES; l++)
            words[nleft * NLANES + l] ^= SUFFIX;
    } else {
        /* Only the words that a message, with its suffix, reaches. */
        size_t longest = 0;
        for (size_t l = 0; l < NLANES; l++)
            longest = of[l]->nbytes > longest ? of[l]->nbytes : longest;
        const unsigned nused = (unsigned)(longest - nwhole) / 8 + 1;
        memset(blocks, 0, NLANES * 8 * nused);
        for (size_t l = 0; l < NLANES; l++) {
            const size_t nleft = of[l]->nbytes - nwhole;
            memcpy(blocks + l * 8 * nused, of[l]->data + nwhole, nleft);
            blocks[l * 8 * nused + nleft] = SUFFIX;
        }
        TIMES(_AddLanesAll)(&states, blocks, nused, nused);
    }
    for (size_t l = 0; l < NLANES; l++)
        words[(nwords - 1) * NLANES + l] ^= UINT64_C(1) << 63;
    TIMES(_PermuteAll_24rounds)(&states);

    const unsigned nbytes_out = DIGEST_NBYTES;
    TIMES(_ExtractLanesAll)(&states, count == NLANES ? digests : blocks, nbytes_out / 8, nbytes_out / 8);
    if (count < NLANES)
        memcpy(digests, blocks, count * nbytes_out);
}

#undef JOIN3_
#undef JOIN3
#undef TIMES
#undef FAST_ABSORB
#undef HASH_LANES
#undef NLANES
