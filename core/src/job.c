/* job.c: jobs whose digests overlap their rows.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "blake3.h"
#include "lanes.h"

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Hashes rows, at most as many as there is room for their digests, and writes these when all rows have been read.
 * Returns the number of rows hashed. */
static HLI_NOINLINE size_t hash_and_move(struct hli_plan *plan, size_t digest_nbytes, hl_messages *rows)
{
    uint8_t room[HLI_ROOM_NBYTES], *to = plan->digests;
    const size_t stride = plan->digest_stride, fit = sizeof room / digest_nbytes;

    rows->count = smaller(rows->count, smaller(HLI_WINDOW, fit));
    if (rows->count > 1) {
        plan->digests = room;
        plan->digest_stride = digest_nbytes;
    } else { /* a kernel writes a digest after it has read the row */
        rows->count = 1;
    }
    hli_hash(plan, rows);
    if (rows->count == 1)
        return 1;
    for (size_t i = 0; i < rows->count; i++, to += stride)
        if (digest_nbytes == 32) /* no call of memcpy */
            hli_copy(to, room + i * 32, 32);
        else
            hli_copy(to, room + i * digest_nbytes, digest_nbytes);
    return rows->count;
}

HLI_NOINLINE hl_status hli_hash_in_place(struct hli_plan *plan, size_t digest_nbytes, const hl_ctx *begin,
                                         size_t begin_stride, hl_messages *rows)
{
    enum { FEW = 32 };
    const size_t stride = plan->digest_stride;
    const int is_tree = hli_is_tree(plan->first.alg);

    if (rows->count > 1 &&
        (stride > rows->stride || (uintptr_t)plan->digests + digest_nbytes > (uintptr_t)rows->base + rows->stride))
        return HL_EJOB;
    if (begin != NULL && !is_tree) { /* hli_hash_on reads each group of rows before it writes their digests */
        hli_hash_on(plan, begin, begin_stride, rows);
        return HL_OK;
    }
    for (size_t left = rows->count, n; left > 0; left -= n) {
        /* Room for digests before the rows that are left, which they do not overwrite. Digests of half a row's length
         * double that room with each turn. */
        uint8_t *const digests = plan->digests;
        const uintptr_t row = (uintptr_t)rows->base, digest = (uintptr_t)digests;
        const size_t before = digest < row ? (row - digest) / stride : 0;
        n = smaller(left, before);
        rows->count = left;
        if (!is_tree && n < left && n < FEW) {
            n = hash_and_move(plan, digest_nbytes, rows);
        } else {
            rows->count = n = n == 0 ? 1 : n;
            if (is_tree)
                hli_hash_tree(plan, begin, rows);
            else
                hli_hash(plan, rows);
        }
        rows->base = (const uint8_t *)rows->base + n * rows->stride;
        plan->digests = digests + n * stride;
        plan->digest_stride = stride;
        plan->first.begin = hli_nth(plan->first.begin, n, plan->first.begin_stride);
        if (plan->second.alg != NULL)
            plan->second.begin = hli_nth(plan->second.begin, n, plan->second.begin_stride);
    }
    return HL_OK;
}
