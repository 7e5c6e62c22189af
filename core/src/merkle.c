/* merkle.c: Merkle trees of SHA-256, a layer at a time.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "algorithms.h"

enum { NODE = HL_SHA256_DIGEST_NBYTES };

/* above[i] = the node above pair i. prefix: NULL, or what comes before each pair. */
static hl_status hash_pairs(hl_merkle rule, const hl_ctx *prefix, const uint8_t *pairs, size_t count, uint8_t *above)
{
    if (rule == HL_MERKLE_BITCOIN)
        return hl_sha256d_rows(pairs, 2 * NODE, 2 * NODE, count, above);
    if (prefix == NULL)
        return hl_hash_rows(HL_SHA256, pairs, 2 * NODE, 2 * NODE, count, above);
    return hl_run(&(hl_job){.nbytes = sizeof(hl_job), .alg = HL_SHA256, .digests = above, .begin = prefix,
                            .messages = {HL_ROWS, 0, count, pairs, 2 * NODE, 2 * NODE}});
}

static hl_status hash_pair(hl_merkle rule, const uint8_t *left, const uint8_t *right, uint8_t *node)
{
    uint8_t pair[2 * NODE];

    hli_copy(pair, left, NODE);
    hli_copy(pair + NODE, right, NODE);
    return hash_pairs(rule, NULL, pair, 1, node);
}

/* zeros: the root of a tree of zeros as high as the layer. count >= 1. */
static hl_status hash_layer(hl_merkle rule, const uint8_t *zeros, const uint8_t *nodes, size_t count, uint8_t *above)
{
    static const uint8_t one = 1; /* RFC 6962 section 2.1 */
    const int is_prefixed = rule == HL_MERKLE_RFC6962;
    const size_t npairs = count / 2;
    uint8_t *const to = above + npairs * NODE;
    uint8_t odd[NODE]; /* a copy: nodes above the pairs may be written over it */
    hl_ctx prefix;
    hl_status status = HL_OK;

    if (count % 2 != 0)
        hli_copy(odd, nodes + (count - 1) * NODE, NODE);
    if (is_prefixed) {
        status = hl_init(&prefix, HL_SHA256);
        if (status == HL_OK)
            status = hl_update(&prefix, &one, 1);
    }
    if (status == HL_OK && npairs > 0)
        status = hash_pairs(rule, is_prefixed ? &prefix : NULL, nodes, npairs, above);
    if (status != HL_OK || count % 2 == 0)
        return status;
    if (!is_prefixed)
        return hash_pair(rule, odd, rule == HL_MERKLE_ZEROS ? zeros : odd, to);
    hli_copy(to, odd, NODE);
    return HL_OK;
}

/* The depth is one that a call of such nodes may have. */
static hl_status check(hl_merkle rule, unsigned depth, const uint8_t *nodes, size_t count, const uint8_t *to)
{
    if (!HLI_ALG(merkle) || rule < HL_MERKLE_RFC6962 || rule > HL_MERKLE_ZEROS)
        return HL_EALG;
    if (to == NULL || (nodes == NULL && count != 0))
        return HL_ENULL;
    return depth > HL_MERKLE_DEPTH_MAX || count > SIZE_MAX / NODE ? HL_ELENGTH : HL_OK;
}

static int overlap(const uint8_t *a, size_t a_nbytes, const uint8_t *b, size_t b_nbytes)
{
    return (uintptr_t)a < (uintptr_t)b + b_nbytes && (uintptr_t)b < (uintptr_t)a + a_nbytes;
}

static HLI_NOINLINE hl_status hash_layer_at(hl_merkle rule, unsigned height, const uint8_t *nodes, size_t count,
                                            uint8_t *above)
{
    uint8_t zeros[NODE] = {0};
    hl_status status = HL_OK;

    for (unsigned h = 0; status == HL_OK && rule == HL_MERKLE_ZEROS && h < height; h++)
        status = hash_pair(rule, zeros, zeros, zeros);
    return status == HL_OK ? hash_layer(rule, zeros, nodes, count, above) : status;
}

hl_status hl_merkle_layer(hl_merkle rule, unsigned height, const uint8_t *nodes, size_t count, uint8_t *above)
{
    const hl_status status = check(rule, height, nodes, count, above);

    if (status != HL_OK || count == 0)
        return status;
    if (rule != HL_MERKLE_ZEROS || count % 2 != 0)
        return hash_layer_at(rule, height, nodes, count, above);
    return hl_hash_rows(HL_SHA256, nodes, 2 * NODE, 2 * NODE, count / 2, above);
}

hl_status hl_merkle_root(hl_merkle rule, unsigned depth, uint8_t *nodes, size_t count, uint8_t *root, size_t index,
                         uint8_t *proof, size_t *nproof)
{
    const int is_padded = rule == HL_MERKLE_ZEROS;
    uint8_t zeros[NODE] = {0};
    hl_status status = check(rule, depth, nodes, count, root);
    size_t n = 0;

    if (status != HL_OK)
        return status;
    if (proof != NULL && nproof == NULL)
        return HL_ENULL;
    if ((proof != NULL && index >= count) || (depth != 0 && !is_padded) ||
        (depth != 0 && depth < 8 * sizeof count && count > (size_t)1 << depth))
        return HL_ELENGTH;
    if (proof != NULL && (overlap(proof, HL_MERKLE_DEPTH_MAX * NODE, nodes, count * NODE) ||
                          overlap(proof, HL_MERKLE_DEPTH_MAX * NODE, root, NODE)))
        return HL_EJOB;
    if (count == 0 && rule == HL_MERKLE_RFC6962)
        return hl_hash(HL_SHA256, NULL, 0, root);
    for (unsigned height = 0; status == HL_OK && (count > 1 || height < depth); height++) {
        const size_t beside = index ^ 1;
        if (proof != NULL && beside < count)
            hli_copy(proof + n++ * NODE, nodes + beside * NODE, NODE);
        else if (proof != NULL && rule != HL_MERKLE_RFC6962)
            hli_copy(proof + n++ * NODE, is_padded ? zeros : nodes + index * NODE, NODE);
        if (count > 0)
            status = hash_layer(rule, zeros, nodes, count, nodes);
        if (status == HL_OK && is_padded)
            status = hash_pair(rule, zeros, zeros, zeros);
        count -= count / 2;
        index /= 2;
    }
    if (status != HL_OK)
        return status;
    if (proof != NULL)
        *nproof = n;
    if (count > 0)
        hli_copy(zeros, nodes, NODE); /* root may overlap them */
    hli_copy(root, zeros, NODE);
    return HL_OK;
}

hl_status hl_merkle_grow(hl_merkle_range *range, unsigned height, uint8_t *nodes, size_t *count)
{
    const size_t n = count == NULL ? 0 : *count;
    const hl_status status = check(HL_MERKLE_RFC6962, height, nodes, n, (const uint8_t *)range);
    const unsigned shift = height & 63;
    uint8_t pair[2 * NODE];
    uint64_t size;

    if (status != HL_OK)
        return status;
    if (count == NULL)
        return HL_ENULL;
    size = range->size + (height == 0 ? n : 0);
    if (height > 63 || size < range->size || size >> shift < n)
        return HL_ELENGTH;
    if (overlap(nodes, n * NODE, (const uint8_t *)range, sizeof *range))
        return HL_EJOB;
    range->size = size;
    if (n == 0)
        return HL_OK;
    /* The first node may be the right one of a pair, the last one without another. Both are so together only if there
     * are two or more. */
    const size_t is_right = ((size >> shift) - n) % 2, is_odd = (size >> shift) % 2, npairs = (n - is_right) / 2;
    if (is_right != 0) {
        hli_copy(pair, range->roots[height], NODE);
        hli_copy(pair + NODE, nodes, NODE);
        hash_layer(HL_MERKLE_RFC6962, NULL, pair, 2, nodes);
    }
    if (is_odd != 0)
        hli_copy(range->roots[height], nodes + (n - 1) * NODE, NODE);
    *count = is_right + npairs;
    nodes += is_right * NODE;
    return npairs == 0 ? HL_OK : hash_layer(HL_MERKLE_RFC6962, NULL, nodes, 2 * npairs, nodes);
}

hl_status hl_merkle_range_root(const hl_merkle_range *range, uint8_t *root)
{
    const hl_status status = check(HL_MERKLE_RFC6962, 0, (const uint8_t *)range, range != NULL, root);
    uint8_t pair[2 * NODE], *const right = pair + NODE;
    int is_first = 1;

    if (status != HL_OK)
        return status;
    if (range == NULL)
        return HL_ENULL;
    if (range->size == 0)
        return hl_hash(HL_SHA256, NULL, 0, root);
    for (unsigned height = 0; height < 64; height++) {
        if ((range->size >> height & 1) == 0)
            continue;
        hli_copy(is_first ? right : pair, range->roots[height], NODE);
        if (!is_first)
            hash_layer(HL_MERKLE_RFC6962, NULL, pair, 2, right);
        is_first = 0;
    }
    hli_copy(root, right, NODE);
    return HL_OK;
}
