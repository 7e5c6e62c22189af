/* interleave.h: for kernels that are written by hand, once for N messages, and instantiated for literal N.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * The body is an inline function with N as its first argument. All its loops are unrolled: every index of its arrays is
 * then a literal, and the arrays are registers.
 */
#define PRAGMA(x)   _Pragma(#x)
#define UNROLLED(n) PRAGMA(GCC unroll n)
/* clang 14 does not unroll a loop that has fewer turns than the pragma asks for. The arrays then stay in memory (x86,
 * two messages: SHA-256 1.45 times the time, SHA-1 1.2 times). gcc wants a number. */
#if defined(__clang__)
#  define EACH_MESSAGE(l) PRAGMA(clang loop unroll(full)) for (unsigned l = 0; l < N; l++)
#else
#  define EACH_MESSAGE(l) UNROLLED(4) for (unsigned l = 0; l < N; l++)
#endif

/* Defines the kernel `name`, which calls the body with these arguments before its own. `target`: attributes. */
#define INSTANCE(target, name, body, ...) \
    target void hli_##name(HLI_BLOCKS_ARGS) \
    { \
        body(__VA_ARGS__, state, msg, nblocks); \
    }
