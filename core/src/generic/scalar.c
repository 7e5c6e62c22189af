/* scalar.c: the lane kernels of words/scalar.lv.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#if !defined(__clang__)
/* gcc would load and store the state as vectors, and move each word between these and general registers. */
#  pragma GCC optimize("no-tree-slp-vectorize")
#endif
#include "../words/scalar.lv.h"
#include "../alg/kernels.inc.h"
