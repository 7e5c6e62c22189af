/* record.c: prints the operations of the block function that its first argument names, one a line (vocabulary.h), for
 * one block of as many bytes as the second argument says. Then a line "out WORD NUMBER" for each word of the new state.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "core.h"
#include "parts.h"

#include "vocabulary.h"

#include "alg/kernels.inc.h"
#include <string.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        hl_blocks_fn *blocks;
        int nwords;
    } bodies[] = {
#define BLOCK_FUNCTION(NAME, id, name, word_nbytes, nwords, order) {#name, hli_##name##_blocks_recorded, nwords},
#include "algorithms.def"
    };
    const uint8_t *msg[LV64_LANES] = {0};

    for (size_t i = 0; argc == 3 && i < sizeof bodies / sizeof bodies[0]; i++)
        if (strcmp(argv[1], bodies[i].name) == 0) {
            bodies[i].blocks(recorded_state, msg, 1, (unsigned)atoi(argv[2]));
            for (int row = 0; row < bodies[i].nwords; row++)
                printf("out %d %d\n", row, recorded_stored[row] - 1);
            return 0;
        }
    fputs("usage: record BODY BLOCK_NBYTES; core/src/algorithms.def lists the bodies\n", stderr);
    return 2;
}
