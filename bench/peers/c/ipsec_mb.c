/* ipsec_mb.c: Intel's Multi-Buffer Crypto for IPsec, in each of its ways to hash.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The manager picks its code for AVX-512, AVX2, AVX or SSE itself (init_mb_mgr_auto), or is told to by the tier; it has
 * no plain code. The _nocheck calls are the faster ones.
 */
#include "peer.h"

#include <intel-ipsec-mb.h>

peer_fn ipsec_mb_job, ipsec_mb_burst, ipsec_mb_hash_burst, ipsec_mb_direct;

/* Without and with a key. */
static const IMB_HASH_ALG hash_algs[NHASHES][2] = {
    [HASH_SHA1] = {IMB_AUTH_SHA_1, IMB_AUTH_HMAC_SHA_1},
    [HASH_SHA256] = {IMB_AUTH_SHA_256, IMB_AUTH_HMAC_SHA_256},
    [HASH_SHA512] = {IMB_AUTH_SHA_512, IMB_AUTH_HMAC_SHA_512},
};

/* One manager for each way: jobs and bursts on one manager leave its queue in disorder (1.3). */
static IMB_MGR *manager(IMB_MGR **mgr)
{
    if (!*mgr) {
        const enum tier tier = peer_tier();
        *mgr = alloc_mb_mgr(tier >= TIER_AVX2 ? IMB_FLAG_SHANI_OFF : 0);
        if (!*mgr)
            abort();
        if (tier == TIER_HERE)
            init_mb_mgr_auto(*mgr, NULL);
#if IMB_VERSION_NUM < IMB_VERSION(2, 0, 0) /* later ones have no code for AVX alone */
        else if (tier == TIER_AVX)
            init_mb_mgr_avx(*mgr);
#endif
        else if (tier >= TIER_AVX)
            init_mb_mgr_sse(*mgr);
        else
            init_mb_mgr_avx2(*mgr);
    }
    return *mgr;
}

const char *ipsec_mb_version(void)
{
    return imb_get_version_str();
}

/* Lengths in the manager's lanes are 16 bits wide, and HMAC takes no empty message. The _nocheck calls do not check
 * that. */
static int can_queue(const struct work *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->messages[i].nbytes > UINT16_MAX - 1 || (w->messages[i].nbytes == 0 && w->call == CALL_HMAC))
            return 0;
    return (is_whole(w) || w->call == CALL_HMAC) && hash_algs[w->hash][0] != 0;
}

/* The states of HMAC after the key, which jobs point to: words of 32 or 64 bits; the inner and the outer one. */
static uint8_t *hmac_states(IMB_MGR *mgr, enum hash hash)
{
    static _Alignas(8) uint8_t states[NHASHES][2][64];
    static uint8_t is_known[NHASHES];
    for (size_t s = 0; s < 2 && !is_known[hash]; s++) {
        uint8_t block[128];
        for (size_t i = 0; i < sizeof block; i++)
            block[i] = (i < HMAC_KEY_NBYTES ? HMAC_KEY[i] : 0) ^ (s ? 0x5c : 0x36);
        if (hash == HASH_SHA1)
            IMB_SHA1_ONE_BLOCK(mgr, block, states[hash][s]);
        else if (hash == HASH_SHA256)
            IMB_SHA256_ONE_BLOCK(mgr, block, states[hash][s]);
        else
            IMB_SHA512_ONE_BLOCK(mgr, block, states[hash][s]);
    }
    is_known[hash] = 1;
    return states[hash][0];
}

static void set_hash(IMB_MGR *mgr, IMB_JOB *job, const struct work *w)
{
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = hash_algs[w->hash][w->call == CALL_HMAC];
    job->hash_start_src_offset_in_bytes = 0;
    job->auth_tag_output_len_in_bytes = digest_nbytes[w->hash];
    if (w->call == CALL_HMAC) {
        job->u.HMAC._hashed_auth_key_xor_ipad = hmac_states(mgr, w->hash);
        job->u.HMAC._hashed_auth_key_xor_opad = hmac_states(mgr, w->hash) + 64;
    }
}

static void set_message(IMB_JOB *job, const struct work *w, size_t i)
{
    job->src = w->messages[i].data;
    job->msg_len_to_hash_in_bytes = w->messages[i].nbytes;
    job->auth_tag_output = w->digests + i * digest_nbytes[w->hash];
}

/* One job after the other. The manager returns finished jobs in order; they are not waited for here. */
int ipsec_mb_job(const struct work *w)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    size_t ncompleted = 0;
    if (!can_queue(w))
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
        set_hash(mgr, job, w);
        set_message(job, w, i);
        for (job = IMB_SUBMIT_JOB_NOCHECK(mgr); job; job = IMB_GET_COMPLETED_JOB(mgr))
            ncompleted += job->status == IMB_STATUS_COMPLETED;
    }
    for (IMB_JOB *job; (job = IMB_FLUSH_JOB(mgr));)
        ncompleted += job->status == IMB_STATUS_COMPLETED;
    return ncompleted == w->count ? 0 : -1;
}

/* Up to IMB_MAX_BURST_SIZE jobs of the manager's queue in one call. The end is flushed job by job: FLUSH_BURST of 1.3
 * reports jobs as complete before it has computed their digests. */
int ipsec_mb_burst(const struct work *w)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    size_t ncompleted = 0;
    uint32_t n;
    if (!can_queue(w))
        return -1;
    for (size_t i = 0; i < w->count; i += n) {
        const size_t left = w->count - i;
        n = left < IMB_MAX_BURST_SIZE ? (uint32_t)left : IMB_MAX_BURST_SIZE;
        while (IMB_GET_NEXT_BURST(mgr, n, jobs) < n)
            ncompleted += IMB_FLUSH_JOB(mgr) != NULL;
        for (uint32_t j = 0; j < n; j++) {
            set_hash(mgr, jobs[j], w);
            set_message(jobs[j], w, i + j);
#if IMB_VERSION_NUM >= IMB_VERSION(1, 4, 0)
            imb_set_session(mgr, jobs[j]);
#endif
        }
        ncompleted += IMB_SUBMIT_BURST_NOCHECK(mgr, n, jobs);
    }
    while (IMB_FLUSH_JOB(mgr))
        ncompleted++;
    return ncompleted == w->count ? 0 : -1;
}

/* Synchronous, hashes only, with the caller's jobs. Fields that are equal in all jobs are set once. */
int ipsec_mb_hash_burst(const struct work *w)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    static IMB_JOB all[NHASHES][2][IMB_MAX_BURST_SIZE];
    IMB_JOB *jobs = all[w->hash][w->call == CALL_HMAC];
    const IMB_HASH_ALG hash_alg = hash_algs[w->hash][w->call == CALL_HMAC];
    uint32_t n;
    if (!can_queue(w))
        return -1;
    if (jobs->hash_alg != hash_alg)
        for (size_t j = 0; j < IMB_MAX_BURST_SIZE; j++)
            set_hash(mgr, &jobs[j], w);
    for (size_t i = 0; i < w->count; i += n) {
        const size_t left = w->count - i;
        n = left < IMB_MAX_BURST_SIZE ? (uint32_t)left : IMB_MAX_BURST_SIZE;
        for (uint32_t j = 0; j < n; j++)
            set_message(&jobs[j], w, i + j);
        if (IMB_SUBMIT_HASH_BURST_NOCHECK(mgr, jobs, n, hash_alg) != n)
            return -1;
    }
    return 0;
}

/* One message a call, no manager. */
int ipsec_mb_direct(const struct work *w)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    if (!is_whole(w))
        return -1;
    for (size_t i = 0; i < w->count; i++) {
        const uint8_t *data = w->messages[i].data;
        uint8_t *digest = w->digests + i * digest_nbytes[w->hash];
        switch (w->hash) {
        case HASH_SHA1: IMB_SHA1(mgr, data, w->messages[i].nbytes, digest); break;
        case HASH_SHA256: IMB_SHA256(mgr, data, w->messages[i].nbytes, digest); break;
        case HASH_SHA512: IMB_SHA512(mgr, data, w->messages[i].nbytes, digest); break;
        default: return -1;
        }
    }
    return 0;
}
