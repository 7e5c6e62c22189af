/* words/neon.lv.h: the vocabulary of NEON, which every aarch64 CPU has: four lanes of 32 bits, two of 64.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <arm_neon.h>

#define LV_ISA    neon
#define LV_KERNEL
#define LV_FN     HLI_INLINE
#define LV_PAIRS

#include "neon.inc.h"

LV_FN lv32 lv32_xor3(lv32 x, lv32 y, lv32 z) { return veorq_u32(veorq_u32(x, y), z); }
LV_FN lv64 lv64_chi(lv64 x, lv64 y, lv64 z) { return veorq_u64(x, vbicq_u64(z, y)); }
LV_FN lv64 lv64_xor3(lv64 x, lv64 y, lv64 z) { return veorq_u64(veorq_u64(x, y), z); }
#define lv64_rol(x, n) vsriq_n_u64(vshlq_n_u64(x, n), x, 64 - (n))
