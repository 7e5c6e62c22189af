/* whole.inc.h: a body's kernels for whole short messages, <NAMED>_whole, and for given words, <NAMED>_words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A body includes it once, behind blocks.inc.h and <NAMED>_scheduled, with the same definitions. It is empty unless the
 * vocabulary has LV_STAGES or LV_WHOLES; <NAMED>_words needs LV_STAGES.
 */
#if LV_STAGES || defined(LV_WHOLES)
LV_KERNEL void LV_NAME(LV_PASTE(NAMED, whole))(LV_WHOLE_ARGS)
{
    LV(word) state[NSTATE * LV(nlanes)] __attribute__((aligned(64)));
    const LV(word) *begin = whole->begin;
    for (unsigned i = 0; i < NSTATE; i++)
        LV(store)(state + i * LV(nlanes), LV(splat)(begin[i]));
    unsigned b = 0;
#  if BLAKE == 3
    if (whole->schedule != NULL)
        for (unsigned i = 0; i < 2; i++)
            hli_copy(state + (HLI_COUNTER + i) * LV(nlanes), ((const uint32_t *const *)whole->schedule)[i],
                     LV(nlanes) * sizeof *state);
#  endif
#  if ORDER == LV_COUNTED && (LV_STAGES || BLAKE == 3)
    const int are_full = whole->is_one_length && nbytes[0] == (size_t)whole->nblocks * LV(block_nbytes);
#    if BLAKE == 3
    if (are_full) {
        b = whole->nblocks;
        blake3_run(state, data, b, 1, NULL);
    }
#    else
    LV(staging) staging;
    if (are_full && whole->nblocks > 1) {
        b = whole->nblocks - 1;
        LV_PASTE(NAMED, all_but_last)(state, &staging, data, whole->nblocks);
    }
#    endif
#  endif
    for (; b < whole->nblocks; b++) {
#  if ORDER == LV_COUNTED
        for (unsigned l = 0; b + 1 == whole->nblocks && l < LV(nlanes); l++)
            hli_mark_lane(NSTATE, sizeof(LV(word)), state, LV(nlanes), l,
                          (uint64_t)whole->before + nbytes[whole->is_one_length ? 0 : l] - LV(block_nbytes));
#  endif
#  if LV_STAGES && BLAKE == 3
        blake3_run(state, data, 1, 0, &(struct given){whole, nbytes, b, NULL});
#  elif LV_STAGES && ORDER == LV_COUNTED
        LV_PASTE(NAMED, last)(state, are_full && b > 0 ? &staging : NULL, data,
                              &(struct given){whole, nbytes, b, NULL});
#  elif LV_STAGES
        LV_PASTE(NAMED, run)(state, data, 1, &(struct given){whole, nbytes, b, NULL});
#  else
        lv w[ROOM];
        LV(load_padded)(w, whole, data, nbytes, b, ORDER);
        LV_PASTE(NAMED, block)(state, w, NULL, 0, NULL, 0);
#  endif
    }
#  if ORDER == LV_COUNTED
    LV(digests)(state, 8, 0, whole->digest_nbytes, LV(nlanes), digests);
#  else
    if (whole->schedule != NULL)
        LV_NAME(LV_PASTE(NAMED, scheduled))(state, whole->schedule);
    LV(digests)(state, NSTATE, ORDER, whole->digest_nbytes, LV(nlanes), digests);
#  endif
}
#  if LV_STAGES && ORDER != LV_COUNTED
LV_KERNEL void LV_NAME(LV_PASTE(NAMED, words))(void *state, const void *words)
{
    LV_PASTE(NAMED, run)(state, NULL, 1, &(struct given){NULL, NULL, 0, words});
}
#  endif
#endif
