/* stack.c: measures every call's use of the stack: it stays below what hashloom.h promises, and each kernel's below
 * HL_KERNEL_STACK_NBYTES.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The call runs on a thread whose unused stack has been painted. Bytes that are no longer paint were used.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "test.h"

#include <pthread.h>
#include <sys/mman.h>

enum {
    STACK_NBYTES = 1 << 20, PROMISED_NBYTES = 32 << 10, OF_SHA1DC_NBYTES = 48 << 10, COUNT = 1000, PAINT = 0x5a,
    NEAR = 256, LONG_NBYTES = 500
};

struct call {
    const hl_alg_info *alg;
    const hl_kernel *kernel;
    enum { MANY, ROWS, HMAC, STREAMS, HMAC_STREAMS, AGAIN, AGAIN_SPONGE, BEGUN, BEGUN_WHOLE, BEGUN_EACH, IN_PLACE,
           PBKDF2, SEARCH, SQUEEZE, LONG, FEW, SLH_KEYGEN, SLH_SIGN, SLH_VERIFY, FORMS, BLOCKS, SCHEDULED } form;
    size_t used;
};

static uint8_t *stack;
static hl_slice messages[COUNT];
static hl_ctx ctxs[COUNT], *all[COUNT];
static hl_blake3_ctx trees[COUNT];
static hl_hmac_ctx hmac_ctxs[COUNT], *hmac_all[COUNT];
static uint8_t digests[COUNT * LONG_NBYTES];

/* Apart, as make_call's frame would count as the kernel's. */
static __attribute__((noinline)) void call_kernel(const struct call *c)
{
    static uint8_t state[HL_STATE_MAX_NBYTES * HL_LANES_MAX] __attribute__((aligned(64)));
    static const uint64_t schedule[160];
    static const uint8_t *msg[HL_LANES_MAX];

    for (size_t l = 0; l < HL_LANES_MAX; l++)
        msg[l] = messages[0].data;
    if (c->form == BLOCKS)
        c->kernel->blocks(state, msg, 2, c->alg->block_nbytes);
    else if (c->kernel->scheduled != NULL)
        c->kernel->scheduled(state, schedule);
}

static __attribute__((noinline)) void make_call(const struct call *c)
{
    const hl_alg_info *const wide = body_alg(c->form == AGAIN_SPONGE ? HL_BODY_KECCAK : HL_BODY_SHA512);
    const hl_alg a = c->alg->alg, again = wide != NULL ? wide->alg : a;

    if (c->kernel != NULL) {
        hl_hash_many_with(c->kernel, a, messages, COUNT, digests);
        hl_hash_many_with(c->kernel, a, messages, 3, digests);
        return;
    }
    switch (c->form) {
    case MANY: hl_hash_many(a, messages, COUNT, digests); break;
    case ROWS: hl_hash_rows(a, messages[0].data, 10, 1000, COUNT, digests); break;
    case HMAC: {
        hl_hmac_key key;
        hl_hmac_key_init(&key, a, messages, 200);
        hl_hmac_many(&key, messages, COUNT, digests);
        break;
    }
    case AGAIN:
    case AGAIN_SPONGE:
    case BEGUN:
    case BEGUN_WHOLE:
    case BEGUN_EACH: {
        for (size_t i = 0; i < COUNT && has_ctx(c->alg); i++) {
            hl_init(all[i], a);
            hl_update(all[i], messages[0].data, c->form == BEGUN_WHOLE ? c->alg->block_nbytes : 3);
        }
        hl_blake3_init(&trees[0], messages[0].data);
        hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)a, .again = again,
                         .messages = {.count = COUNT, .base = messages}, .digests = digests, .is_secret = 1,
                         .begin = c->form <= AGAIN_SPONGE ? NULL : has_ctx(c->alg) ? &ctxs[0] : &trees[0].ctx,
                         .begin_stride = c->form == BEGUN_EACH ? sizeof ctxs[0] : 0});
        break;
    }
    case IN_PLACE: /* alone, again, behind a prefix; with room before the rows, and without */
        if (has_ctx(c->alg)) {
            hl_init(&ctxs[0], a);
            hl_update(&ctxs[0], messages[0].data, 3);
        }
        for (unsigned k = 0; k < 6; k++)
            hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)a, .again = k % 3 == 1 ? again : 0,
                             .messages = {.layout = HL_ROWS, .count = COUNT, .base = digests, .stride = 130,
                                          .nbytes = 130},
                             .digests = digests, .digest_stride = k < 3 ? 0 : 130, .is_secret = 1,
                             .begin = k % 3 == 2 && has_ctx(c->alg) ? &ctxs[0] : NULL});
        break;
    case LONG:
        hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = (uint32_t)a, .digest_nbytes = LONG_NBYTES,
                         .messages = {.count = COUNT, .base = messages}, .digests = digests});
        break;
    case SQUEEZE:
        hl_init(&ctxs[0], a);
        hl_update(&ctxs[0], messages[0].data, 200);
        hl_squeeze(&ctxs[0], digests, LONG_NBYTES);
        break;
    case FEW:
        for (size_t n = 1; n < 20; n++)
            hl_hash_rows(a, messages[0].data, 10, n * 20, n, digests);
        break;
    case SLH_KEYGEN:
    case SLH_SIGN:
    case SLH_VERIFY: {
        static uint8_t scratch[200000], secret[20][128], signature[49856];
        static const uint8_t *signatures[20];
        static size_t lengths[20];
        static hl_slh_message prehash[20];
        const hl_slh_work work = {scratch, sizeof scratch, NULL, NULL};
        const hl_slh first = is_sponge(c->alg) ? HL_SLH_SHAKE_128F : HL_SLH_SHA2_128F;
        for (hl_slh set = first; set <= HL_SLH_SHAKE_256F; set += 4) {
            if (c->form == SLH_KEYGEN)
                hl_slh_keygen(set, messages[0].data, secret[0], &work);
            for (unsigned i = 0; i < 20; i++) {
                prehash[i] = (hl_slh_message){digests, 32, digests, 255, HL_SLH_PREHASH, HL_SHA256};
                signatures[i] = signature, lengths[i] = hl_slh_find(set)->signature_nbytes;
                secret[i][64] = (uint8_t)i;
            }
            if (c->form == SLH_SIGN)
                hl_slh_sign(set, secret[0], prehash, NULL, signature, &work);
            if (c->form == SLH_VERIFY)
                hl_slh_verify_many(set, secret[0] + 32, sizeof *secret, prehash, signatures, lengths, 20, digests,
                                   &work);
        }
        break;
    }
    case PBKDF2: hl_pbkdf2_many(a, messages, messages, 2, COUNT, digests, c->alg->digest_nbytes); break;
    case SEARCH: {
        uint64_t nonces[3];
        size_t n;
        hl_search(&(hl_search_job){.nbytes = sizeof(hl_search_job), .alg = (uint32_t)a, .again = again,
                                   .prefix = messages[0].data, .prefix_nbytes = 10, .last = 1000}, nonces, 3, &n);
        break;
    }
    case HMAC_STREAMS: {
        hl_hmac_key key;
        hl_hmac_key_init(&key, a, messages, 20);
        for (size_t i = 0; i < COUNT; i++)
            hl_hmac_init(hmac_all[i], &key);
        hl_hmac_update_many(hmac_all, messages, COUNT);
        hl_hmac_final_many(hmac_all, COUNT, digests);
        break;
    }
    default:
        for (size_t i = 0; i < COUNT; i++) {
            all[i] = has_ctx(c->alg) ? &ctxs[i] : &trees[i].ctx;
            if (has_ctx(c->alg))
                hl_init(all[i], a);
            else
                hl_blake3_init(&trees[i], messages[0].data);
        }
        hl_update_many(all, messages, COUNT);
        hl_update_many(all, messages, COUNT);
        hl_final_many(all, COUNT, digests);
    }
}

static int is_defined(const struct call *c)
{
    const int is_sha1dc = c->alg->alg == HL_SHA1DC;

    switch (c->form) {
    case AGAIN:
    case AGAIN_SPONGE: return !is_sha1dc;
    case HMAC:
    case HMAC_STREAMS:
    case PBKDF2: return !is_sha1dc && has_hmac(c->alg);
    case SEARCH: return !is_sha1dc && is_searchable(c->alg);
    case SQUEEZE:
    case LONG: return c->alg->ending == HL_XOF;
    case BEGUN_EACH: return has_ctx(c->alg);
    case SLH_KEYGEN:
    case SLH_SIGN:
    case SLH_VERIFY:
        return hl_slh_find(HL_SLH_SHA2_128F) != NULL && (c->alg->alg == HL_SHA256 || c->alg->alg == HL_SHAKE256);
    default: return 1;
    }
}

static __attribute__((noinline)) void measure(struct call *c)
{
    uint8_t *const top = (uint8_t *)__builtin_frame_address(0) - NEAR; /* this function's own frame is above */
    const uint8_t *lowest = stack;

    for (volatile uint8_t *p = stack; p < top; p++)
        *p = PAINT;
    if (c->form >= BLOCKS)
        call_kernel(c);
    else
        make_call(c);
    while (lowest < top && *lowest == PAINT)
        lowest++;
    c->used = (size_t)(top + NEAR - lowest);
}

static void *run_thread(void *arg)
{
    const struct call *c = arg;

    if (c->form < BLOCKS)
        make_call(c); /* one call before the measured one: the dynamic linker looks up memcpy on this stack */
    measure(arg);
    return NULL;
}

int main(int argc, char **argv)
{
    static const char *const forms[FORMS] = {"hl_hash_many", "hl_hash_rows", "hl_hmac_many", "streams",
                                             "streams of HMAC", "hl_run, hash of hash", "hl_run, SHA-3 of hash",
                                             "hl_run, from a prefix", "hl_run, from whole blocks",
                                             "hl_run, from a prefix each", "hl_run, in place", "hl_pbkdf2_many",
                                             "hl_search", "hl_squeeze",
                                             "hl_run, long digests", "hl_hash_rows, few", "hl_slh_keygen",
                                             "hl_slh_sign", "hl_slh_verify_many"};
    struct call most = {0};
    size_t most_of_kernels = 0;
    pthread_attr_t attr;

    test_start(argc, argv);
#ifdef __OPTIMIZE__
    const int optimised = 1;
#else
    const int optimised = 0;
#endif
    if (UNDER_SANITIZER || !optimised) {
        test_case("nothing to measure");
        test_skip("use of the stack (%s)", optimised ? "a sanitizer adds to it" : "promised for optimised builds");
        return test_end();
    }
    stack = mmap(NULL, STACK_NBYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attr);
    if (stack == MAP_FAILED || pthread_attr_setstack(&attr, stack, STACK_NBYTES) != 0) {
        perror("a stack for the thread");
        return 2;
    }
    const uint8_t *data = random_pool(COUNT * 1000);
    for (size_t i = 0; i < COUNT; i++) {
        messages[i] = (hl_slice){data, random_length(1000)};
        data += messages[i].nbytes;
        if (i % 100 == 50) /* more than a chunk of BLAKE3, and very many */
            messages[i] = (hl_slice){messages[0].data, i == 50 ? 400000 : 20 * i};
        all[i] = &ctxs[i];
        hmac_all[i] = &hmac_ctxs[i];
    }
    const size_t nalgs = hl_alg_count() + (hl_hash(HL_SHA1DC, NULL, 0, digests) == HL_OK);
    hl_alg_info sha1dc; /* hl_alg_find does not know it */
    if (nalgs > hl_alg_count()) {
        sha1dc = *hl_alg_find(HL_SHA1);
        sha1dc.alg = HL_SHA1DC;
        sha1dc.name = "sha1dc";
    }
    for (size_t a = 0; a < nalgs; a++)
        for (size_t k = 0; k < hl_kernel_count() + FORMS; k++) {
            const hl_alg_info *const alg = a < hl_alg_count() ? hl_alg_at(a) : &sha1dc;
            const size_t promised = alg == &sha1dc ? OF_SHA1DC_NBYTES : PROMISED_NBYTES;
            const size_t form = k < hl_kernel_count() ? MANY : k - hl_kernel_count();
            struct call call = {alg, hl_kernel_at(k), form, 0};
            pthread_t thread;
            if (call.kernel != NULL && (call.kernel->body != call.alg->body || !test_kernel(call.kernel)))
                continue;
            if (call.kernel == NULL && !is_defined(&call))
                continue;
            test_case("stack of %s: %s", call.alg->name,
                      call.kernel != NULL ? call.kernel->name : forms[call.form]);
            if (pthread_create(&thread, &attr, run_thread, &call) != 0) {
                perror("pthread_create");
                return 2;
            }
            pthread_join(thread, NULL);
            CHECK(call.used > 64 && call.used < promised, "%zu bytes used, %zu promised", call.used, promised);
            if (call.used > most.used)
                most = call;
            for (call.form = BLOCKS; call.kernel != NULL && call.form <= SCHEDULED; call.form++) {
                if (pthread_create(&thread, &attr, run_thread, &call) != 0) {
                    perror("pthread_create");
                    return 2;
                }
                pthread_join(thread, NULL);
                CHECK(call.used < HL_KERNEL_STACK_NBYTES, "%s alone: %zu bytes used", call.kernel->name, call.used);
                most_of_kernels = call.used > most_of_kernels ? call.used : most_of_kernels;
            }
        }
    printf("stack: at most %zu bytes (%s of %s), a kernel %zu\n", most.used,
           most.kernel != NULL ? most.kernel->name : forms[most.form], most.alg->name, most_of_kernels);
    return test_end();
}
