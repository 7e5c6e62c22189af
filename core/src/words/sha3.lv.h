/* words/sha3.lv.h: the vocabulary of NEON with FEAT_SHA3: four lanes of 32 bits, two of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The feature was made for Keccak, but two of its instructions serve any hash: EOR3 is an xor of three words, XAR a
 * rotation of an xor of 64-bit words.
 */
#include "neon_intrinsics.h"

#define LV_ISA    sha3
#define LV_TARGET TARGET_SHA3
#define LV_KERNEL LV_TARGET
#define LV_FN     LV_TARGET HLI_INLINE

#include "neon.inc.h"

LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return veor3q_u32(x, y, z); }
LV_FN lv64 lv64_xor3(lv64 x, lv64 y, lv64 z) { return veor3q_u64(x, y, z); }
#define lv64_chi(x, y, z) vbcaxq_u64(x, z, y)
#define lv64_rax(x, y)    vrax1q_u64(x, y)
#define lv64_xar(x, y, n) vxarq_u64(x, y, 64 - (n))
#define lv64_rol(x, n) vxarq_u64(x, vdupq_n_u64(0), 64 - (n))
