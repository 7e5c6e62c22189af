/* scalar.c: the lane kernels of lanes/scalar.h.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include "../kernels.h"
#include "../lanes/scalar.h"
#include "../lanes/kernels.inc.h"
