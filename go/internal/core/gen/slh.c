/* slh.c: what Go calls of SLH-DSA, in steps short enough for the garbage collector.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Go itself hashes the messages, which may be long: a call gets the place that a message has in the trees. The function
 * is another one than hli_go, so that only programs that sign have it.
 */
#include "../core/src/slh.c"

/* The calls, and their arguments: `slhCall` in slh_asm.go. */
enum slh_op { SLH_KEYGEN, SLH_SIGN, SLH_PART, SLH_END, SLH_VERIFY };

struct slh_call {
    uint32_t op, set;
    uint32_t part, status;     /* status: an hl_status */
    hl_slh_task *task;
    void *memory;              /* a scratch */
    size_t memory_nbytes;
    const uint8_t *secret;     /* SLH_KEYGEN: seeds. It and `out` stay where they are until SLH_END. */
    uint8_t *out;              /* SLH_KEYGEN: the key; SLH_SIGN: the signature, which has its randomizer */
    const struct place *places;
    const uint8_t *const *keys, *const *signatures; /* SLH_VERIFY, as the rest: at most LEAVES */
    size_t count;
    uint8_t *valid;
};

static hl_status sign(const struct slh_call *c)
{
    const hl_slh_info *info = hl_slh_find((hl_slh)c->set);
    struct task *t = private_of(c->task);
    struct slh s;

    if (info == NULL || open(&s, info) != HL_OK)
        return HL_EALG;
    hli_zero(c->task, sizeof *c->task);
    t->signature = c->out;
    t->nfors = info->k << info->a;
    t->nleaves = info->d << s.tree_height;
    t->place = *c->places;
    return begin(c->task, &s, c->secret);
}

static hl_status verify(const struct slh_call *c)
{
    const hl_slh_info *info = hl_slh_find((hl_slh)c->set);
    struct scratch *const scratch = scratch_in(c->memory, c->memory_nbytes);
    struct slh s;

    if (info == NULL || open(&s, info) != HL_OK)
        return HL_EALG;
    if (scratch == NULL || c->count > LEAVES)
        return HL_ELENGTH;
    struct group *const g = &scratch->group;
    g->count = (unsigned)c->count;
    for (unsigned i = 0; i < g->count; i++) {
        g->keys[i] = c->keys[i];
        g->signatures[i] = c->signatures[i];
        g->places[i] = c->places[i];
    }
    if (g->count != 0)
        verify_group(&s, scratch, g, c->valid);
    return HL_OK;
}

void hli_go_slh(struct slh_call *c);

void hli_go_slh(struct slh_call *c)
{
    switch ((enum slh_op)c->op) {
    case SLH_KEYGEN: c->status = hl_slh_begin_keygen(c->task, (hl_slh)c->set, c->secret, c->out); break;
    case SLH_SIGN: c->status = sign(c); break;
    case SLH_PART: c->status = hl_slh_part(c->task, c->part, c->memory, c->memory_nbytes); break;
    case SLH_END: c->status = hl_slh_end(c->task, c->memory, c->memory_nbytes); break;
    case SLH_VERIFY: c->status = verify(c); break;
    }
}
