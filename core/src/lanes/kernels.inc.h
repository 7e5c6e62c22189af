/* kernels.inc.h: one kernel of every algorithm for the vocabulary in scope. The last include of an ISA's file.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A vocabulary (lanes/<isa>.h) defines, and a body (alg/<algorithm>.lanes.h) uses nothing else:
 *
 *   LV_ISA                          the name of the instruction set, the end of the kernels' names
 *   LV_KERNEL                       attributes of a kernel: the target
 *   lv32, LV32_LANES                a vector of 32-bit words, and how many messages it holds; likewise lv64, LV64_LANES
 *   lv32_load(p), lv32_store(p, x)  one row of the state: LV32_LANES words, aligned to their size
 *   lv32_splat(c)                   a scalar in every lane
 *   lv32_add, lv32_xor, lv32_xor3
 *   lv32_ch(x, y, z)                (x & y) | (~x & z)           FIPS 180-4 section 4.1
 *   lv32_maj(x, y, z)               (x & y) | (x & z) | (y & z)  FIPS 180-4 section 4.1
 *   lv32_orn_xor(x, y, z)           (x | ~y) ^ z                 RIPEMD-160
 *   lv32_rol(x, n), lv32_shr(x, n)  macros: n must be a literal even when nothing is optimised
 *   lv32_load_block(w, msg, offset, big_endian)
 *                                   lane l of w[i] = the 32-bit word at msg[l] + offset + 4 * i, i = 0 .. 15, in the
 *                                   byte order that the literal says
 *   lv64_...                        the same on 64-bit words, without xor and orn_xor
 *
 * One that defines LV_ONLY_RIPEMD160 needs what that body uses, and gets its kernels alone.
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
#define lv64_ror(x, n) lv64_rol(x, 64 - (n))

#define lv32_load_block_be(w, msg, offset) lv32_load_block(w, msg, offset, 1)
#define lv32_load_block_le(w, msg, offset) lv32_load_block(w, msg, offset, 0)
#define lv64_load_block_be(w, msg, offset) lv64_load_block(w, msg, offset, 1)

#if !defined(LV_ONLY_RIPEMD160)
#  include "../alg/sha1.lanes.h"
#  define SHA2_WORD 32
#  include "../alg/sha2.lanes.h"
#  undef SHA2_WORD
#  define SHA2_WORD 64
#  include "../alg/sha2.lanes.h"
#  undef SHA2_WORD
#endif
#include "../alg/ripemd160.lanes.h"
