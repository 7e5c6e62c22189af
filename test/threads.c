/* threads.c: the first call of a process from 16 threads at once, and all calls at once after it. It also runs under
 * ThreadSanitizer.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A process has only one first call, so each round is a process of its own: this program, started again with --child.
 */
#include "test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#ifdef _WIN32
#include <process.h>
#else
#include <spawn.h>
#include <sys/wait.h>
#endif

enum { THREADS = 16, ROUNDS = 60, CALLS = 40, COUNT = 40, NBYTES = 700, STREAM_CALLS = 60000,
       KEY_CALLS = 8000, KEY_NBYTES = 300, NONCES = 40 };

static atomic_int nready;
static int round_number;
static const uint8_t *pool;
static uint8_t (*expected)[COUNT * HL_DIGEST_MAX_NBYTES]; /* by algorithm */
static int wrong[THREADS];
static hl_isas several; /* of_several_lanes() */
static size_t nstream_calls;

/* The work of a thread; which = 0 .. 7 selects the call. Returns 1 if all is right. */
static int do_call(const hl_alg_info *alg, const uint8_t *right, unsigned which, int restricting)
{
    uint8_t digests[COUNT * HL_DIGEST_MAX_NBYTES] = {0};
    hl_slice messages[COUNT];
    hl_ctx ctxs[COUNT], *all[COUNT];
    size_t count = COUNT;

    for (size_t i = 0; i < COUNT; i++)
        messages[i] = (hl_slice){pool + i, i * 17};
    switch (which % 8) {
    case 0:
        if (restricting)
            return hl_restrict(1) == HL_OK;
        return hl_hash(alg->alg, messages[5].data, messages[5].nbytes, digests) == HL_OK &&
               memcmp(digests, right + 5 * alg->digest_nbytes, alg->digest_nbytes) == 0;
    case 1: return hl_isas_available() != 0 && (hl_isas_available() & hl_isas_allowed()) != 0;
    case 2: return hl_kernel_chosen(alg->alg, COUNT) != NULL;
    case 3:
        if (restricting)
            return hl_restrict(0) == HL_OK;
        return hl_isas_allowed() != 0;
    case 4:
    case 5:
        if (which % 8 == 4)
            count = 7;
        if (hl_hash_many(alg->alg, messages, count, digests) != HL_OK)
            return 0;
        break;
    default:
        if (!has_ctx(alg))
            return 1;
        for (size_t i = 0; i < COUNT; i++) {
            all[i] = &ctxs[i];
            if (hl_init(&ctxs[i], alg->alg) != HL_OK)
                return 0;
        }
        if (hl_update_many(all, messages, COUNT) != HL_OK || hl_final_many(all, COUNT, digests) != HL_OK)
            return 0;
    }
    return memcmp(digests, right, count * alg->digest_nbytes) == 0;
}

static void *run_thread(void *arg)
{
    const unsigned thread = (unsigned)(uintptr_t)arg;

    /* All threads begin at once. They spin, because a thread asleep at a barrier would wake too late to race with
     * another's first call. */
    atomic_fetch_add(&nready, 1);
    while (atomic_load(&nready) < THREADS)
        sched_yield();
    /* The first call. In even rounds one thread restricts, and no other may undo the restriction; in odd rounds many
     * restrict at will. */
    if (thread == 0 && round_number % 2 == 0)
        wrong[thread] |= hl_restrict(1) != HL_OK;
    else
        wrong[thread] |= !do_call(hl_alg_at(0), expected[0], thread + (unsigned)round_number, round_number % 2);
    for (unsigned call = 0; call < CALLS; call++) {
        const size_t a = (thread + call) % hl_alg_count();
        wrong[thread] |= !do_call(hl_alg_at(a), expected[a], call * 5 + thread, round_number % 2);
    }
    return NULL;
}

/* An instruction set of this machine that has no kernel for one message; 0 if there is none. */
static hl_isas of_several_lanes(void)
{
    hl_isas isas = hl_isas_available();

    for (size_t i = 0; i < hl_kernel_count(); i++)
        if (hl_kernel_at(i)->nlanes == 1)
            isas &= ~hl_kernel_at(i)->isas;
    return isas & (0 - isas);
}

/* One stream at a time while other threads change the choice between one lane and several. A call that chose twice
 * would give its plain state to a kernel of several lanes, which writes beyond it. */
static void *run_stream(void *arg)
{
    const unsigned thread = (unsigned)(uintptr_t)arg;
    for (unsigned call = 0; call < nstream_calls; call++) {
        const hl_alg_info *alg = hl_alg_at((thread + call) % hl_alg_count());
        uint8_t digest[HL_DIGEST_MAX_NBYTES];
        hl_blake3_ctx tree;
        hl_ctx *const ctx = &tree.ctx;
        if (thread % 4 == 0) {
            wrong[thread] |= hl_restrict(call % 2 ? several : 0) != HL_OK;
            continue;
        }
        wrong[thread] |= (has_ctx(alg) ? hl_init(ctx, alg->alg) : hl_blake3_init(&tree, NULL)) != HL_OK ||
                         hl_update(ctx, pool, 64) != HL_OK || hl_final(ctx, digest) != HL_OK ||
                         memcmp(digest, expected[alg - hl_alg_at(0)], alg->digest_nbytes) != 0;
    }
    return NULL;
}

/* The nonces of one byte behind 63 bytes whose digest begins with a zero bit: lowest[i] tells whether i is one. */
static int right_search(const hl_alg_info *alg, const uint8_t *lowest)
{
    hl_search_job job = {.nbytes = sizeof job, .alg = (uint32_t)alg->alg, .prefix = pool, .prefix_nbytes = 63,
                         .nonce_width = 1, .last = NONCES - 1};
    uint64_t nonces[NONCES];
    uint8_t found[NONCES] = {0};
    size_t nfound;

    memset(job.target, 0xff, sizeof job.target);
    job.target[0] = 0x7f;
    if (hl_search(&job, nonces, NONCES, &nfound) != HL_OK)
        return 0;
    for (size_t i = 0; i < nfound; i++)
        found[nonces[i]] = 1;
    return memcmp(found, lowest, NONCES) == 0;
}

/* Keys longer than a block (which are hashed first), hashes, tags and searches, while another thread in turn allows
 * sets that have kernels of only one algorithm: each call succeeds and is right. */
static void *run_key(void *arg)
{
    const unsigned thread = (unsigned)(uintptr_t)arg;

    for (size_t i = 0; thread % 4 == 0 && atomic_load(&nready) < THREADS - THREADS / 4; i++) {
        const hl_isas isa = (hl_isas)1 << i % hl_isa_count();
        if ((isa & hl_isas_available()) != 0)
            wrong[thread] |= hl_restrict(i % 2 == 0 ? 0 : isa) != HL_OK;
    }
    for (unsigned call = 0; thread % 4 != 0 && call < nstream_calls; call++) {
        const hl_alg_info *alg = hl_alg_at((thread + call) % hl_alg_count());
        const uint8_t *right = expected[alg - hl_alg_at(0)];
        uint8_t found[HL_DIGEST_MAX_NBYTES];
        hl_hmac_key key;
        if (has_hmac(alg))
            wrong[thread] |= hl_hmac_key_init(&key, alg->alg, pool, KEY_NBYTES) != HL_OK ||
                             hl_hmac(&key, pool, 64, found) != HL_OK || memcmp(found, right, alg->digest_nbytes) != 0;
        wrong[thread] |= hl_hash(alg->alg, pool, 64, found) != HL_OK ||
                         memcmp(found, right + HL_DIGEST_MAX_NBYTES, alg->digest_nbytes) != 0;
        if (is_searchable(alg))
            wrong[thread] |= !right_search(alg, right + 2 * HL_DIGEST_MAX_NBYTES);
    }
    atomic_fetch_add(&nready, thread % 4 != 0);
    return NULL;
}

/* Returns 1 if a thread found something wrong. Thread 0 starts last: it is awake when all begin. */
static int run_threads(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    int any_wrong = 0;

    for (uintptr_t t = THREADS; t-- > 0;)
        if (pthread_create(&threads[t], NULL, run, (void *)t) != 0) {
            perror("pthread_create");
            return 2;
        }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        any_wrong |= wrong[t];
    }
    return any_wrong;
}

static int child_keys(void)
{
    pool = random_pool(KEY_NBYTES);
    nstream_calls = share_of(KEY_CALLS);
    for (size_t a = 0; a < hl_alg_count(); a++) {
        if (has_hmac(hl_alg_at(a)))
            oracle_hmac(hl_alg_at(a), pool, KEY_NBYTES, pool, 64, expected[a]);
        oracle(hl_alg_at(a), pool, 64, expected[a] + HL_DIGEST_MAX_NBYTES);
        for (uint8_t nonce = 0; nonce < NONCES; nonce++) {
            uint8_t message[64], digest[HL_DIGEST_MAX_NBYTES];
            memcpy(message, pool, 63);
            message[63] = nonce;
            oracle(hl_alg_at(a), message, 64, digest);
            expected[a][2 * HL_DIGEST_MAX_NBYTES + nonce] = digest[0] < 0x80;
        }
    }
    return run_threads(run_key);
}

/* One signature by all threads, some of which restrict between their parts. */
static struct {
    hl_slh_task task;
    atomic_uint part;
    uint8_t scratch[THREADS][200000], secret[64], signature[17088], right[17088];
} slh;

static void *run_part(void *arg)
{
    const unsigned thread = (unsigned)(uintptr_t)arg;

    for (unsigned part; (part = atomic_fetch_add(&slh.part, 1)) < slh.task.nparts;) {
        if (thread % 4 == 0)
            hl_restrict(part % 2 ? several : 0);
        wrong[thread] |= hl_slh_part(&slh.task, part, slh.scratch[thread], sizeof slh.scratch[thread]) != HL_OK;
    }
    return NULL;
}

static int child_slh(void)
{
    const hl_slh set = body_alg(HL_BODY_KECCAK) != NULL ? HL_SLH_SHAKE_128F : HL_SLH_SHA2_128F;
    const hl_slh_message message = {"abc", 3, NULL, 0, HL_SLH_PURE, 0};
    const hl_slh_work work = {slh.scratch[0], sizeof slh.scratch[0], NULL, NULL};

    several = of_several_lanes();
    const hl_status status = hl_slh_keygen(set, random_pool(48), slh.secret, &work);
    if (status == HL_EALG) /* a build without its hash */
        return 0;
    if (hl_slh_sign(set, slh.secret, &message, NULL, slh.right, &work) != HL_OK ||
        hl_slh_begin_sign(&slh.task, set, slh.secret, &message, NULL, slh.signature) != HL_OK)
        return 1;
    const int any_wrong = run_threads(run_part);
    return any_wrong || hl_slh_end(&slh.task, slh.scratch[0], sizeof slh.scratch[0]) != HL_OK ||
           memcmp(slh.signature, slh.right, sizeof slh.right) != 0;
}

static int child_streams(void)
{
    pool = random_pool(64);
    several = of_several_lanes();
    nstream_calls = share_of(STREAM_CALLS);
    for (size_t a = 0; a < hl_alg_count(); a++)
        oracle(hl_alg_at(a), pool, 64, expected[a]);
    return run_threads(run_stream);
}

static int child(void)
{
    pool = random_pool(NBYTES + 2 * COUNT);
    for (size_t a = 0; a < hl_alg_count(); a++) /* these two calls use nothing that is detected at run time */
        for (size_t i = 0; i < COUNT; i++)
            oracle(hl_alg_at(a), pool + i, i * 17, expected[a] + i * hl_alg_at(a)->digest_nbytes);
    const int any_wrong = run_threads(run_thread);
    return any_wrong || (round_number % 2 == 0 && hl_isas_allowed() != 1);
}

/* Runs a program to its end. Returns its status; -1 if it does not start. */
static int run_program(char **args)
{
#ifdef _WIN32
    return (int)_spawnvp(_P_WAIT, args[0], (const char *const *)args);
#else
    extern char **environ;
    int status = -1;
    pid_t pid;

    if (posix_spawnp(&pid, args[0], NULL, NULL, args, environ) == 0)
        waitpid(pid, &status, 0);
    return status;
#endif
}

int main(int argc, char **argv)
{
    expected = calloc(hl_alg_count(), sizeof *expected); /* the count is not detected at run time */
    if (argc == 3 && strcmp(argv[1], "--child") == 0) {
        round_number = atoi(argv[2]);
        random_restart((uint64_t)round_number);
        return round_number > ROUNDS + 1 ? child_slh()
               : round_number > ROUNDS   ? child_keys()
               : round_number == ROUNDS  ? child_streams()
                                         : child();
    }
    test_start(argc, argv);
    for (int i = 0; i <= ROUNDS + 2; i++) {
        char number[12], option[] = "--child", emulator[300] = "", *args[16];
        size_t nargs = 0;
        int status;
        if (i < ROUNDS && !in_share((size_t)i / 2))
            continue;
        if (i == ROUNDS && of_several_lanes() == 0) {
            test_skip("streams while others restrict (every instruction set here has kernels of one lane)");
            continue;
        }
        if (i > ROUNDS + 1)
            test_case("one signature by %d threads, some of which restrict", THREADS);
        else if (i > ROUNDS)
            test_case("keys, tags, hashes and searches in %d threads, some of which restrict", THREADS);
        else if (i == ROUNDS)
            test_case("streams of their own in %d threads, some of which restrict", THREADS);
        else
            test_case("first call from %d threads, round %d (%s)", THREADS, i,
                      i % 2 ? "many restrict" : "one restricts");
        snprintf(number, sizeof number, "%d", i);
        /* The program that this program runs under (an emulator), in words separated by spaces: the system may not know
         * the format of this program. */
        if (getenv("HASHLOOM_TEST_EMULATOR") != NULL)
            snprintf(emulator, sizeof emulator, "%s", getenv("HASHLOOM_TEST_EMULATOR"));
        for (char *word = strtok(emulator, " "); word != NULL && nargs < 12; word = strtok(NULL, " "))
            args[nargs++] = word;
        args[nargs++] = argv[0];
        args[nargs++] = option;
        args[nargs++] = number;
        args[nargs] = NULL;
        status = run_program(args);
        CHECK(status == 0, "%s --child %d ended with status %#x", argv[0], i, (unsigned)status);
    }
    return test_end();
}
