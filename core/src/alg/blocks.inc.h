/* blocks.inc.h: the kernel that runs a body's block function over blocks, <NAMED>_blocks.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A body includes it once, behind its block function, and defines
 *
 *   lv, LV(op)  the lane word and its operations: lv32, lv32_##op
 *   NAMED       the body's name. <NAMED>_block(state, w, msg, offset, staging, more) hashes the block w, which is the
 *               one at `offset`, and stages the next one if there is `more`. It may overwrite w
 *   ROOM        words of w: the block's 16, or more that the block function computes from them
 *   NSTATE      words of the state
 *   ORDER       of the words: 1 big-endian, 0 little-endian, or LV_COUNTED
 *
 * If blocks are staged, a function hashes all of them, with the rounds once. BLAKE2's last block is written out once
 * more, without stages: a short message has only that block. (The others gain 4% at most by that, and are twice as
 * long: Emerald Rapids, Zen 4, gcc 12.) Both are functions of their own, so that their frames are not on the stack
 * together.
 */
#if !LV_STAGES
LV_KERNEL void LV_NAME(LV_PASTE(NAMED, blocks))(HLI_BLOCKS_ARGS)
{
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += LV(block_nbytes)) {
        lv w[ROOM];
        LV(load_block)(w, msg, offset, ORDER == 1);
        LV_PASTE(NAMED, block)(state, w, msg, offset, NULL, 0);
    }
}
#else
#  if ORDER != LV_COUNTED
/* (If the rounds were a function of their own, SHA-256 would take 7 to 10% longer, SHA-512 6%, RIPEMD-160 5%, as the
 * block would pass through memory: Emerald Rapids, gcc 12.) */
LV_SHARED void LV_PASTE(NAMED, run)(void *state, const uint8_t *const msg[], size_t nblocks, const struct given *given)
{
    LV(staging) staging;
    for (size_t offset = 0; nblocks > 0; nblocks--, offset += LV(block_nbytes)) {
        lv w[ROOM];
        if (offset > 0) {
            LV(staged)(w, &staging);
        } else if (given == NULL) {
            LV(load_block)(w, msg, 0, ORDER == 1);
        } else if (given->words == NULL) {
            lv padded[16];
            LV(load_padded)(padded, given->whole, msg, given->nbytes, given->b, ORDER);
            LV_UNROLL(16)
            for (unsigned i = 0; i < 16; i++)
                w[i] = padded[i];
        } else {
            const LV(word) *words = given->words;
            LV_UNROLL(16)
            for (unsigned i = 0; i < 16; i++)
                w[i] = LV(load)(words + i * LV(nlanes));
        }
        LV_PASTE(NAMED, block)(state, w, msg, offset, &staging, nblocks > 1);
    }
}

LV_KERNEL void LV_NAME(LV_PASTE(NAMED, blocks))(HLI_BLOCKS_ARGS)
{
    LV_PASTE(NAMED, run)(state, msg, nblocks, NULL);
}
#  else
/* The last block is staged, or given, or the first one at msg. */
LV_SHARED void LV_PASTE(NAMED, last)(void *state, const LV(staging) *staging, const uint8_t *const msg[],
                                     const struct given *given)
{
    lv w[ROOM];
    if (staging != NULL) {
        LV(staged)(w, staging);
    } else if (given == NULL) {
        LV(load_block)(w, msg, 0, ORDER == 1);
    } else {
        LV(load_padded)(w, given->whole, msg, given->nbytes, given->b, ORDER);
    }
    LV_PASTE(NAMED, block)(state, w, NULL, 0, NULL, 0);
}

LV_SHARED void LV_PASTE(NAMED, all_but_last)(void *state, LV(staging) *staging, const uint8_t *const msg[],
                                             size_t nblocks)
{
    for (size_t offset = 0; nblocks > 1; nblocks--, offset += LV(block_nbytes)) {
        lv w[ROOM];
        if (offset > 0)
            LV(staged)(w, staging);
        else
            LV(load_block)(w, msg, 0, ORDER == 1);
        LV_PASTE(NAMED, block)(state, w, msg, offset, staging, 1);
    }
}

LV_KERNEL void LV_NAME(LV_PASTE(NAMED, blocks))(HLI_BLOCKS_ARGS)
{
    LV(staging) staging;
    if (nblocks > 1)
        LV_PASTE(NAMED, all_but_last)(state, &staging, msg, nblocks);
    if (nblocks > 0)
        LV_PASTE(NAMED, last)(state, nblocks > 1 ? &staging : NULL, msg, NULL);
}
#  endif
#endif
