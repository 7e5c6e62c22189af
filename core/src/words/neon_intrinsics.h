/* neon_intrinsics.h: arm_neon.h with the optional instructions, and the attributes for functions that use them.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Include this file before anything that may include arm_neon.h. clang < 16 declares these intrinsics only if the
 * feature macros say that all code may use them. The macros defined here make it declare them everywhere, and a
 * function with the attribute can be compiled (seen with 14). Later versions and gcc always declare them.
 *
 * gcc can inline an intrinsic only into a function whose target includes the target in arm_neon.h: crypto for SHA-1 and
 * SHA-256, armv8.2-a+sha3 for the others.
 */
#if defined(__clang__)
#  if __clang_major__ < 16
#    undef __ARM_FEATURE_SHA2
#    undef __ARM_FEATURE_SHA3
#    undef __ARM_FEATURE_SHA512
#    define __ARM_FEATURE_SHA2   1
#    define __ARM_FEATURE_SHA3   1
#    define __ARM_FEATURE_SHA512 1
#  endif
#  define TARGET_SHA2 __attribute__((target("sha2")))
#  define TARGET_SHA3 __attribute__((target("sha3")))
#else
#  define TARGET_SHA2 __attribute__((target("+crypto")))
#  define TARGET_SHA3 __attribute__((target("arch=armv8.2-a+sha3")))
#endif
#include <arm_neon.h>
