/* kernels.inc.h: one kernel of every algorithm for the vocabulary in scope. The last include of an ISA's file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A vocabulary (lanes/<isa>.h) defines, and a body (alg/<algorithm>.lanes.h) uses nothing else:
 *
 *   LV_ISA                          the name of the instruction set, the end of the kernels' names
 *   LV_KERNEL                       attributes of a kernel: the target
 *   lv32, LV32_LANES                a vector of 32-bit words, and how many messages it holds
 *   lv32_load(p), lv32_store(p, x)  one row of the state: LV32_LANES words, aligned to their size
 *   lv32_splat(c)                   a scalar in every lane
 *   lv32_add, lv32_xor, lv32_xor3
 *   lv32_ch(x, y, z)                (x & y) | (~x & z)           FIPS 180-4 section 4.1
 *   lv32_maj(x, y, z)               (x & y) | (x & z) | (y & z)  FIPS 180-4 section 4.1
 *   lv32_rol(x, n), lv32_shr(x, n)  macros: n must be a literal even when nothing is optimised
 *   lv32_load_block_be(w, msg, offset)
 *                                   lane l of w[i] = the big-endian 32-bit word at msg[l] + offset + 4 * i, i = 0 .. 15
 *
 * The boolean functions are operations of their own because compilers do not find the one-instruction forms (gcc 12
 * spends two vpternlogd on Maj written with & and |).
 */
#define LV_PASTE_(name, isa) name##_##isa
#define LV_PASTE(name, isa)  LV_PASTE_(name, isa)
#define LV_NAME(name)        LV_PASTE(name, LV_ISA)

#define LV_PRAGMA(x) _Pragma(#x)
#define LV_UNROLL(n) LV_PRAGMA(GCC unroll n)

#define lv32_ror(x, n) lv32_rol(x, 32 - (n))

#include "../alg/sha1.lanes.h"
#include "../alg/sha256.lanes.h"
