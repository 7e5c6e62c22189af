/* chain.c: a digest that is hashed again and again in its block, with a byte that counts.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The blocks of a call go through the lanes in groups, in their order. A group takes as many steps as its shortest
 * chain has left, then goes on without that chain. The kernel's function for chains (hli_chain_fn) keeps digest and
 * counter in the lanes from step to step; other kernels read each block from memory, where the digest of the step
 * before was written.
 */
#include "chain.h"

/* These stay the same from step to step. */
struct run {
    const struct hli_chains *chains;
    struct hli_edges edges;
    const hl_kernel *kernel;
    hli_chain_fn *chain;
    union hli_lane_states begin; /* of all lanes of the kernel, if all messages begin in one state */
};

static void use_kernel(struct run *run, const hl_kernel *kernel)
{
    const struct hli_pass *pass = &run->chains->plan.first;

    if (kernel == run->kernel)
        return;
    run->kernel = kernel;
    run->chain = hli_chain_of(kernel);
    if (pass->begin_stride == 0)
        hli_splat_lanes(pass->alg, &run->begin, kernel->nlanes, pass->begin);
}

/* Advances the blocks of messages at[0 .. n - 1] by nsteps. Idle lanes work on the first. */
static void step(struct run *run, uint8_t *const blocks[], const size_t at[], unsigned n, unsigned nsteps)
{
    const struct hli_pass *pass = &run->chains->plan.first;
    const hl_alg_info *alg = pass->alg;
    const unsigned nlanes = run->kernel->nlanes, count_at = run->chains->links.count_at;
    struct hli_links links = run->chains->links;
    union hli_lane_states states;
    const uint8_t *msg[HLI_LANES];
    uint8_t *to[HLI_LANES];

    links.nsteps = nsteps;
    for (unsigned l = 0; l < nlanes; l++) {
        uint8_t *const block = blocks[l < n ? l : 0];
        msg[l] = block;
        to[l] = block + links.at;
    }
    if (pass->begin_stride != 0)
        hli_begin_lanes(pass, nlanes, at, n, &run->begin);
    if (run->chain != NULL && run->chain(&links, &run->begin, &states, msg)) {
        run->edges.digests(alg, &states, nlanes, n, to);
    } else {
        for (unsigned left = nsteps; left > 0; left--) {
            hli_copy(&states, &run->begin, nlanes * hli_state_nbytes(alg));
            hli_advance_lanes(run->kernel, alg, &states, msg, 1);
            run->edges.digests(alg, &states, nlanes, n, to);
            for (unsigned l = 0; left > 1 && count_at < links.block_nbytes && l < n; l++)
                blocks[l][count_at]++;
        }
        nsteps = 1; /* is still to be counted */
    }
    for (unsigned l = 0; count_at < links.block_nbytes && l < n; l++)
        blocks[l][count_at] = (uint8_t)(blocks[l][count_at] + nsteps);
}

/* Messages at[0 .. n - 1], which fill the lanes or are the last, and have left[..] steps to go. All arrays change. */
static void run_group(struct run *run, uint8_t *blocks[], size_t at[], unsigned left[], unsigned n)
{
    const struct hli_plan *plan = &run->chains->plan;

    for (unsigned shortest = 0;;) {
        unsigned nleft = 0;
        for (unsigned l = 0; l < n; l++)
            if (left[l] > shortest) {
                at[nleft] = at[l];
                blocks[nleft] = blocks[l];
                left[nleft++] = left[l] - shortest;
            }
        n = nleft;
        if (n == 0)
            return;
        shortest = left[0];
        for (unsigned l = 1; l < n; l++)
            shortest = left[l] < shortest ? left[l] : shortest;
        for (unsigned l = 0; l < n;) {
            if (n - l != run->kernel->nlanes)
                use_kernel(run, hli_kernel(plan, &plan->first, n - l));
            const unsigned nhere = n - l < run->kernel->nlanes ? n - l : run->kernel->nlanes;
            step(run, blocks + l, at + l, nhere, shortest);
            l += nhere;
        }
    }
}

HLI_NOINLINE void hli_run_chains(const struct hli_chains *chains, uint8_t *const blocks[], const uint8_t *nsteps,
                                 unsigned all_steps, size_t count)
{
    const struct hli_plan *plan = &chains->plan;
    const hl_kernel *const many = count > HLI_LANES ? hli_kernel(plan, &plan->first, count) : NULL;
    struct run run;

    if (!HLI_ALG(slh))
        return;
    run.chains = chains;
    run.edges = hli_edges_of(plan);
    run.kernel = NULL;
    for (size_t i = 0; i < count;) {
        use_kernel(&run, count - i > HLI_LANES ? many : hli_kernel(plan, &plan->first, count - i));
        const unsigned nlanes = run.kernel->nlanes, n = count - i < nlanes ? (unsigned)(count - i) : nlanes;
        if (nsteps == NULL && all_steps != 0 && plan->first.begin_stride == 0) { /* all end together */
            step(&run, blocks + i, NULL, n, all_steps);
            i += n;
            continue;
        }
        unsigned left[HLI_LANES];
        uint8_t *active[HLI_LANES];
        size_t at[HLI_LANES];
        for (unsigned l = 0; l < n; l++) {
            at[l] = i + l;
            active[l] = blocks[i + l];
            left[l] = nsteps == NULL ? all_steps : nsteps[i + l];
        }
        i += n;
        run_group(&run, active, at, left, n);
    }
}
