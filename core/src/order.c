/* order.c: the order in which messages of a window are hashed.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "lanes.h"

/* Sorts by 256 classes of size. Each shape of fewer than 32 blocks is a class; above, each doubling of the size has
 * eight classes, up to 128 MiB (with blocks of 64 bytes). Finer classes would not fill lanes better. Messages above the
 * last class are not sorted. */
static uint8_t size_class(size_t shape)
{
    if (shape < 128)
        return (uint8_t)shape;
    const unsigned octave = 63 - hli_clz64(shape); /* 7 or more */
    const unsigned class = 128 + 8 * (octave - 7) + (unsigned)(shape >> (octave - 3) & 7);
    return (uint8_t)(class < 255 ? class : 255);
}

/* A counting sort. */
void hli_sort(const size_t shapes[], size_t n, uint8_t order[])
{
    uint8_t classes[HLI_WINDOW], start[256];
    unsigned total = 0, least = 255, greatest = 0;

    for (size_t i = 0; i < n; i++) {
        classes[i] = size_class(shapes[i]);
        least = classes[i] < least ? classes[i] : least;
        greatest = classes[i] > greatest ? classes[i] : greatest;
    }
    hli_zero(start, sizeof start);
    for (size_t i = 0; i < n; i++)
        start[classes[i]]++;
    for (unsigned c = greatest + 1; c-- > least;) {
        const unsigned here = start[c];
        start[c] = (uint8_t)total;
        total += here;
    }
    for (size_t i = 0; i < n; i++)
        order[start[classes[i]]++] = (uint8_t)i;
}
