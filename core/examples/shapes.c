/* shapes.c: functions in the shapes that other projects call, over hashloom. docs/shapes.md says where they go.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Compile it together with the sources of the library, as README.md shows for its example.
 */
#include <hashloom.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODE_NBYTES = 64, DIGEST_NBYTES = HL_SHA256_DIGEST_NBYTES };

/* The shapes have no way to report an error. The possible ones are a NULL pointer, and a library without SHA-256. */
static void must(hl_status status)
{
    if (status != HL_OK) {
        fprintf(stderr, "hashloom: %s\n", hl_strerror(status));
        abort();
    }
}

/* A layer of a tree: digests of 64 bytes each, hashed once or twice. The output may begin where the input does. */
static void hash_layer(unsigned char *output, const unsigned char *input, uint64_t count, int twice)
{
    if (count > SIZE_MAX / NODE_NBYTES)
        must(HL_ELENGTH);
    must(twice ? hl_sha256d_rows(input, NODE_NBYTES, NODE_NBYTES, (size_t)count, output)
               : hl_hash_rows(HL_SHA256, input, NODE_NBYTES, NODE_NBYTES, (size_t)count, output));
}

/* hashtree, of Prysm and other clients of Ethereum: SHA-256 of nodes of 64 bytes. */
void hashtree_hash(unsigned char *output, const unsigned char *input, uint64_t count);
void hashtree_hash(unsigned char *output, const unsigned char *input, uint64_t count)
{
    hash_layer(output, input, count, 0);
}

/* Bitcoin Core: SHA-256 of SHA-256 of blocks of 64 bytes. ComputeMerkleRoot calls it in place. */
void SHA256D64(unsigned char *output, const unsigned char *input, size_t blocks);
void SHA256D64(unsigned char *output, const unsigned char *input, size_t blocks)
{
    hash_layer(output, input, blocks, 1);
}

/* git's platform_SHA256_..., and SHA1_... and SHA256_... of libtorrent's hasher: a context, and three functions. A copy
 * of the context is a clone. */
typedef hl_ctx SHA256_CTX;

static void SHA256_Init(SHA256_CTX *context)
{
    must(hl_init(context, HL_SHA256));
}

static void SHA256_Update(SHA256_CTX *context, const void *data, size_t nbytes)
{
    must(hl_update(context, data, nbytes));
}

static void SHA256_Final(unsigned char *digest, SHA256_CTX *context)
{
    must(hl_final(context, digest));
}

/* git's SHA-1, of sha1dc: the last call says whether the message is half of a collision. */
typedef hl_ctx SHA1_CTX;

static void SHA1DCInit(SHA1_CTX *context)
{
    must(hl_init(context, HL_SHA1DC));
}

static void SHA1DCUpdate(SHA1_CTX *context, const char *data, size_t nbytes)
{
    must(hl_update(context, data, nbytes));
}

static int SHA1DCFinal(unsigned char digest[HL_SHA1_DIGEST_NBYTES], SHA1_CTX *context)
{
    uint8_t checked[HL_SHA1DC_DIGEST_NBYTES];

    must(hl_final(context, checked));
    memcpy(digest, checked, HL_SHA1_DIGEST_NBYTES);
    return checked[HL_SHA1_DIGEST_NBYTES];
}

/* ---- Each shape against one message at a time ------------------------------------------------------------------- */

enum { NODES = 1000 };

static uint8_t nodes[NODES * NODE_NBYTES], apart[NODES * DIGEST_NBYTES], expected[NODES * DIGEST_NBYTES];

static void fill(void)
{
    for (size_t i = 0; i < sizeof nodes; i++)
        nodes[i] = (uint8_t)(i * i >> 3);
}

static int is_right(const char *what, const uint8_t *digests, size_t nbytes)
{
    const int same = memcmp(digests, expected, nbytes) == 0;

    printf("%-14s %s\n", what, same ? "right" : "WRONG");
    return same;
}

int main(void)
{
    int all = 1;
    SHA256_CTX context, clone;
    SHA1_CTX object;

    fill();
    for (size_t i = 0; i < NODES; i++)
        must(hl_hash(HL_SHA256, nodes + i * NODE_NBYTES, NODE_NBYTES, expected + i * DIGEST_NBYTES));
    hashtree_hash(apart, nodes, NODES);
    all &= is_right("hashtree_hash", apart, sizeof expected);
    hashtree_hash(nodes, nodes, NODES);
    all &= is_right("in place", nodes, sizeof expected);

    fill();
    for (size_t i = 0; i < NODES; i++) {
        uint8_t first[DIGEST_NBYTES];
        must(hl_hash(HL_SHA256, nodes + i * NODE_NBYTES, NODE_NBYTES, first));
        must(hl_hash(HL_SHA256, first, sizeof first, expected + i * DIGEST_NBYTES));
    }
    SHA256D64(apart, nodes, NODES);
    all &= is_right("SHA256D64", apart, sizeof expected);
    SHA256D64(nodes, nodes, NODES);
    all &= is_right("in place", nodes, sizeof expected);

    fill();
    must(hl_hash(HL_SHA256, nodes, 100, expected));
    SHA256_Init(&context);
    SHA256_Update(&context, nodes, 70);
    clone = context;
    SHA256_Update(&clone, nodes + 70, 30);
    SHA256_Final(nodes, &clone);
    all &= is_right("SHA256_Final", nodes, DIGEST_NBYTES);

    fill();
    must(hl_hash(HL_SHA1, nodes, 100, expected));
    SHA1DCInit(&object);
    SHA1DCUpdate(&object, (const char *)nodes, 100);
    const int is_attack = SHA1DCFinal(nodes, &object);
    all &= is_right("SHA1DCFinal", nodes, HL_SHA1_DIGEST_NBYTES) & !is_attack;
    return all ? 0 : 1;
}
