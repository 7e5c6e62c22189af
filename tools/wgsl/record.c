/* record.c: prints the operations of the block function that its argument names, one a line (vocabulary.h).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "core.h"

#include "vocabulary.h"

#include "lanes/kernels.inc.h"
#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        hl_blocks_fn *blocks;
    } bodies[] = {
        {"md5", hli_md5_blocks_recorded},           {"sha1", hli_sha1_blocks_recorded},
        {"sha256", hli_sha256_blocks_recorded},     {"sha512", hli_sha512_blocks_recorded},
        {"ripemd160", hli_ripemd160_blocks_recorded},
    };
    static uint64_t state[16 * LV64_LANES];
    const uint8_t *msg[LV64_LANES] = {0};

    recorded_state = state;
    for (size_t i = 0; argc == 2 && i < sizeof bodies / sizeof bodies[0]; i++)
        if (strcmp(argv[1], bodies[i].name) == 0) {
            bodies[i].blocks(state, msg, 1, 64);
            return 0;
        }
    fputs("usage: record md5|sha1|sha256|sha512|ripemd160\n", stderr);
    return 2;
}
