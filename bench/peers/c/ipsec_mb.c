/* ipsec_mb.c: Intel's Multi-Buffer Crypto for IPsec, in each of its ways to hash.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The manager picks its AVX-512, AVX2 or SSE code itself (init_mb_mgr_auto), or is told to by the tier; it has no plain
 * code. The _nocheck calls are the faster ones.
 */
#include "peer.h"

#include <intel-ipsec-mb.h>

peer_fn ipsec_mb_job, ipsec_mb_burst, ipsec_mb_hash_burst, ipsec_mb_direct;

static const IMB_HASH_ALG hash_algs[NALGORITHMS] = {
    [ALG_SHA1] = IMB_AUTH_SHA_1,
    [ALG_SHA256] = IMB_AUTH_SHA_256,
    [ALG_SHA512] = IMB_AUTH_SHA_512,
    [ALG_HMAC_SHA1] = IMB_AUTH_HMAC_SHA_1,
    [ALG_HMAC_SHA256] = IMB_AUTH_HMAC_SHA_256,
    [ALG_HMAC_SHA512] = IMB_AUTH_HMAC_SHA_512,
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
        else if (tier == TIER_SSSE3)
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
static int can_queue(enum algorithm algorithm, const struct message *messages, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (messages[i].nbytes > UINT16_MAX - 1 || (messages[i].nbytes == 0 && algorithm > ALG_SHA512))
            return 0;
    return hash_algs[algorithm] != 0;
}

/* The states of HMAC after the key, which jobs point to: words of 32 or 64 bits. */
struct hmac_states {
    _Alignas(8) uint8_t inner[64], outer[64];
};

static const struct hmac_states *hmac_states(IMB_MGR *mgr, enum algorithm algorithm)
{
    static struct hmac_states states[NALGORITHMS];
    static uint8_t is_known[NALGORITHMS];
    struct hmac_states *found = &states[algorithm];
    if (!is_known[algorithm]) {
        for (size_t s = 0; s < 2; s++) {
            uint8_t block[128], *state = s ? found->outer : found->inner;
            for (size_t i = 0; i < sizeof block; i++)
                block[i] = (i < HMAC_KEY_NBYTES ? HMAC_KEY[i] : 0) ^ (s ? 0x5c : 0x36);
            if (algorithm == ALG_HMAC_SHA1)
                IMB_SHA1_ONE_BLOCK(mgr, block, state);
            else if (algorithm == ALG_HMAC_SHA256)
                IMB_SHA256_ONE_BLOCK(mgr, block, state);
            else
                IMB_SHA512_ONE_BLOCK(mgr, block, state);
        }
        is_known[algorithm] = 1;
    }
    return found;
}

static void set_hash(IMB_MGR *mgr, IMB_JOB *job, enum algorithm algorithm)
{
    job->cipher_mode = IMB_CIPHER_NULL;
    job->cipher_direction = IMB_DIR_ENCRYPT;
    job->chain_order = IMB_ORDER_HASH_CIPHER;
    job->hash_alg = hash_algs[algorithm];
    job->hash_start_src_offset_in_bytes = 0;
    job->auth_tag_output_len_in_bytes = digest_nbytes[algorithm];
    if (algorithm == ALG_HMAC_SHA1 || algorithm == ALG_HMAC_SHA256 || algorithm == ALG_HMAC_SHA512) {
        const struct hmac_states *states = hmac_states(mgr, algorithm);
        job->u.HMAC._hashed_auth_key_xor_ipad = states->inner;
        job->u.HMAC._hashed_auth_key_xor_opad = states->outer;
    }
}

static void set_message(IMB_JOB *job, const struct message *message, uint8_t *digest)
{
    job->src = message->data;
    job->msg_len_to_hash_in_bytes = message->nbytes;
    job->auth_tag_output = digest;
}

/* One job after the other. The manager returns finished jobs in order; they are not waited for here. */
int ipsec_mb_job(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    size_t ncompleted = 0;
    if (!can_queue(algorithm, messages, count))
        return -1;
    for (size_t i = 0; i < count; i++) {
        IMB_JOB *job = IMB_GET_NEXT_JOB(mgr);
        set_hash(mgr, job, algorithm);
        set_message(job, &messages[i], digests + i * digest_nbytes[algorithm]);
        for (job = IMB_SUBMIT_JOB_NOCHECK(mgr); job; job = IMB_GET_COMPLETED_JOB(mgr))
            ncompleted += job->status == IMB_STATUS_COMPLETED;
    }
    for (IMB_JOB *job; (job = IMB_FLUSH_JOB(mgr));)
        ncompleted += job->status == IMB_STATUS_COMPLETED;
    return ncompleted == count ? 0 : -1;
}

/* Up to IMB_MAX_BURST_SIZE jobs of the manager's queue in one call. The end is flushed job by job: FLUSH_BURST of 1.3
 * reports jobs as complete before it has computed their digests. */
int ipsec_mb_burst(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    IMB_JOB *jobs[IMB_MAX_BURST_SIZE];
    size_t ncompleted = 0;
    uint32_t n;
    if (!can_queue(algorithm, messages, count))
        return -1;
    for (size_t i = 0; i < count; i += n) {
        const size_t left = count - i;
        n = left < IMB_MAX_BURST_SIZE ? (uint32_t)left : IMB_MAX_BURST_SIZE;
        while (IMB_GET_NEXT_BURST(mgr, n, jobs) < n)
            ncompleted += IMB_FLUSH_JOB(mgr) != NULL;
        for (uint32_t j = 0; j < n; j++) {
            set_hash(mgr, jobs[j], algorithm);
            set_message(jobs[j], &messages[i + j], digests + (i + j) * digest_nbytes[algorithm]);
#if IMB_VERSION_NUM >= IMB_VERSION(1, 4, 0)
            imb_set_session(mgr, jobs[j]);
#endif
        }
        ncompleted += IMB_SUBMIT_BURST_NOCHECK(mgr, n, jobs);
    }
    while (IMB_FLUSH_JOB(mgr))
        ncompleted++;
    return ncompleted == count ? 0 : -1;
}

/* Synchronous, hashes only, with the caller's jobs. Fields that are equal in all jobs are set once. */
int ipsec_mb_hash_burst(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    static IMB_JOB jobs[NALGORITHMS][IMB_MAX_BURST_SIZE];
    uint32_t n;
    if (!can_queue(algorithm, messages, count))
        return -1;
    if (jobs[algorithm]->hash_alg != hash_algs[algorithm])
        for (size_t j = 0; j < IMB_MAX_BURST_SIZE; j++)
            set_hash(mgr, &jobs[algorithm][j], algorithm);
    for (size_t i = 0; i < count; i += n) {
        const size_t left = count - i;
        n = left < IMB_MAX_BURST_SIZE ? (uint32_t)left : IMB_MAX_BURST_SIZE;
        for (uint32_t j = 0; j < n; j++)
            set_message(&jobs[algorithm][j], &messages[i + j], digests + (i + j) * digest_nbytes[algorithm]);
        if (IMB_SUBMIT_HASH_BURST_NOCHECK(mgr, jobs[algorithm], n, hash_algs[algorithm]) != n)
            return -1;
    }
    return 0;
}

/* One message a call, no manager. */
int ipsec_mb_direct(enum algorithm algorithm, const struct message *messages, size_t count, uint8_t *digests)
{
    static IMB_MGR *kept;
    IMB_MGR *mgr = manager(&kept);
    for (size_t i = 0; i < count; i++) {
        uint8_t *digest = digests + i * digest_nbytes[algorithm];
        switch (algorithm) {
        case ALG_SHA1: IMB_SHA1(mgr, messages[i].data, messages[i].nbytes, digest); break;
        case ALG_SHA256: IMB_SHA256(mgr, messages[i].data, messages[i].nbytes, digest); break;
        case ALG_SHA512: IMB_SHA512(mgr, messages[i].data, messages[i].nbytes, digest); break;
        default: return -1;
        }
    }
    return 0;
}
