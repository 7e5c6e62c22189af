/* sha1dc.lanes.h: which disturbance vectors a block leaves possible (Stevens and Shumow 2017, section 4), over lane
 * words.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Included by lanes/kernels.inc.h. The conditions (sha1dc.def) look at the message schedule alone, not at the state:
 * the blocks of all lanes may be those of one message. Vectors that differ in k have the same conditions, k words on. A
 * plane gathers one bit of all words, word after word; one operation on planes then is a condition of all vectors of a
 * kind: 66 in place of 373.
 */
#ifdef lv32_and
#  define AND(x, y)       lv32_and(x, y)
#  define PICKED(p, x, m) lv32_xor(p, lv32_and(x, m)) /* the plane has no such bit yet */
#else
#  define AND(x, y)       lv32_ch(x, y, lv32_splat(0))
#  define PICKED(p, x, m) lv32_ch(m, x, p)
#endif
#ifndef lv32_and_orn
#  define lv32_and_orn(x, y, z) AND(x, lv32_orn_xor(y, z, lv32_splat(0)))
#endif
#define ROTATED(x, n) (((n) & 31) == 0 ? (x) : lv32_rol(x, ((n) & 31) == 0 ? 1 : (n) & 31))

/* Bit i of word t becomes bit AT(i, t) of plane i. */
#define AT(i, t)  (((i) + (t) - 34) & 31)
#define TURN(t)   w[t] = lv32_rol(w[t], (t) - 34)
#define TURN10(t) \
    TURN(t), TURN((t) + 1), TURN((t) + 2), TURN((t) + 3), TURN((t) + 4), TURN((t) + 5), TURN((t) + 6), TURN((t) + 7), \
        TURN((t) + 8), TURN((t) + 9)

/* Bit i of word k + t, at the bit of the kind's vector k. */
#define OF_VECTORS(i, t, kind) ROTATED(plane[i], kind - AT(i, t))

LV_KERNEL void LV_NAME(sha1dc_possible)(const uint8_t *const msg[], uint32_t *possible)
{
    static const uint32_t masks[] = {
#define CONDITION(kind, t, i, u, j, differ, vectors) UINT32_C(vectors),
#include "sha1dc.def"
    };
    enum {
#define KIND(kind, bit) kind = bit,
#include "sha1dc.def"
    };
#define BITS4(i) UINT32_C(1) << (i), UINT32_C(2) << (i), UINT32_C(4) << (i), UINT32_C(8) << (i)
    static const uint32_t bits[32] = {BITS4(0),  BITS4(4),  BITS4(8),  BITS4(12),
                                      BITS4(16), BITS4(20), BITS4(24), BITS4(28)};
#undef BITS4
    const uint32_t *mask = masks, *bit = bits;
    lv32 w[65], plane[31], kept = lv32_splat(UINT32_MAX);

    lv32_load_block(w, msg, 0, 1);
    LV_UNROLL(49)
    for (unsigned t = 16; t < 65; t++)
        w[t] = lv32_rol(lv32_xor3(lv32_xor(w[t - 16], w[t - 14]), w[t - 8], w[t - 3]), 1);
    TURN10(35), TURN10(45), TURN10(55);
    LV_UNROLL(31)
    for (unsigned i = 0; i < 31; i++)
        plane[i] = lv32_splat(0);
    if (LV32_LANES > 1) { /* a vector of one word is a load; a constant would take a general register first */
        HLI_NEW_POINTER(bit);
        HLI_NEW_POINTER(mask);
    }
#define BITS(i, first, last) \
    LV_UNROLL(31) \
    for (unsigned t = first; t <= last; t++) \
        plane[i] = PICKED(plane[i], w[t], lv32_splat(bit[AT(i, t)]));
#include "sha1dc.def"
#define CONDITION(kind, t, i, u, j, differ, vectors) \
    kept = lv32_and_orn(kept, \
                        differ ? lv32_xor(OF_VECTORS(i, t, kind), OF_VECTORS(j, u, kind)) \
                               : lv32_xor3(OF_VECTORS(i, t, kind), OF_VECTORS(j, u, kind), lv32_splat(UINT32_MAX)), \
                        lv32_splat(*mask++));
#include "sha1dc.def"
    lv32_store(possible, kept);
}

#undef AND
#undef PICKED
#undef ROTATED
#undef AT
#undef TURN
#undef TURN10
#undef OF_VECTORS
