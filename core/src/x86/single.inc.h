/* single.inc.h: SHA-1 and SHA-2 of one message: the message schedule in vectors, the rounds in general registers.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * One message has no lanes, but neighbouring words of its schedule are alike: a vector operation makes two or four of
 * them, and adds K. W + K goes to the stack, where a round takes it as the memory operand of an addition. The rounds
 * are one long chain that leaves ports idle. The vectors run on these ports: a few operations of the schedule, on W of
 * sixteen rounds before, stand between the halves of the rounds.
 *
 * A vector of 256 bits holds the same words of two blocks, 128 bits of each. No operation crosses the middle, so the
 * code is the same. The schedules of both blocks are made during the rounds of the first.
 *
 * Included after a vocabulary (words/<isa>.h) by x86/<isa>.c or x86/single_<isa>.c, which defines
 *
 *   SV_RORX   1 if a rotation into another register is one instruction (BMI2)
 *   SV_VPROL  1 if a rotation in a vector is one instruction: SHA-512 alone
 */
#define SV_PASTE_(name, isa) hli_##name##_blocks_##isa##_x1
#define SV_PASTE(name, isa)  SV_PASTE_(name, isa)
#define SV_NAME(name)        SV_PASTE(name, LV_ISA)

/* Aligned, because the decoder works on 64 bytes at a time: otherwise the speed varies by 5% by chance. */
#define SV_KERNEL LV_KERNEL __attribute__((aligned(64)))

#define SV_PRAGMA(x) _Pragma(#x)
#define SV_UNROLL(n) SV_PRAGMA(GCC unroll n)

#define lv64_ror(x, n) lv64_rol(x, 64 - (n))

/* Operations beyond those of the vocabularies:
 *   SV_BLOCKS                number of blocks that a vector holds 128 bits of
 *   sv_load(blocks, offset)  16 bytes of each block; sv_same(p): 16 aligned bytes for each block
 *   sv_bytes(x, order)       a shuffle of the bytes; sv_words(x, order): of the words of 32 bits
 *   sv_align(high, low, n)   16 bytes of high:low from byte n on
 *   sv_up(x, n), sv_down     moved by n bytes to the higher or lower end, zeros behind */
#if LV32_LANES == 4
#  define SV_BLOCKS              1
#  define sv_load(blocks, at)    _mm_loadu_si128((const __m128i *)(blocks[0] + (at)))
#  define sv_same(p)             _mm_load_si128((const __m128i *)(p))
#  define sv_bytes(x, order)     _mm_shuffle_epi8(x, order)
#  define sv_words(x, order)     _mm_shuffle_epi32(x, order)
#  ifdef X86_NO_PSHUFB /* n is 4 or 8 */
#    define sv_align(high, low, n) \
         ((n) == 8 ? (__m128i)_mm_shuffle_pd((__m128d)(low), (__m128d)(high), 1) \
                   : sv_words((__m128i)_mm_move_ss((__m128)(low), (__m128)(high)), 0x39))
#  else
#    define sv_align(high, low, n) _mm_alignr_epi8(high, low, n)
#  endif
#  define sv_up(x, n)            _mm_slli_si128(x, n)
#  define sv_down(x, n)          _mm_srli_si128(x, n)
#else
#  define SV_BLOCKS              2
#  define sv_load(blocks, at)    load_pair(blocks[0] + (at), blocks[1] + (at))
#  define sv_same(p)             _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)(p)))
#  define sv_bytes(x, order)     _mm256_shuffle_epi8(x, order)
#  define sv_words(x, order)     _mm256_shuffle_epi32(x, order)
#  define sv_align(high, low, n) _mm256_alignr_epi8(high, low, n)
#  define sv_up(x, n)            _mm256_bslli_epi128(x, n)
#  define sv_down(x, n)          _mm256_bsrli_epi128(x, n)
#endif
/*   sv_even_down(x), sv_even_up(x): words 0 and 2 at the lower and at the upper end, zeros beside */
#ifdef X86_NO_PSHUFB
#  define sv_even_down(x) _mm_move_epi64(sv_words(x, 0x08))
#  define sv_even_up(x)   sv_up(sv_words(x, 0x08), 8)
#else
#  define sv_even_down(x) sv_bytes(x, sv_same(even_down))
#  define sv_even_up(x)   sv_bytes(x, sv_same(even_up))
#  if !SV_VPROL
/* Orders for sv_bytes, the lowest byte first. */
static const uint64_t even_down[2] __attribute__((aligned(16))) = {0x0b0a090803020100, 0x8080808080808080};
static const uint64_t even_up[2] __attribute__((aligned(16))) = {0x8080808080808080, 0x0b0a090803020100};
#  endif
#endif

/* Computes x = value at this place. gcc would move a value to its only use, behind the rounds whose gaps it should
 * fill. */
#define SV_SET(x, value) \
    do { \
        x = value; \
        __asm__("" : "+x"(x)); \
    } while (0)

/* x = state word += x. Keeps the words in general registers: clang would gather them in a vector, add, and scatter
 * them, which takes 8 cycles more for a block of SHA-1. */
#define SV_ADD_TO_STATE(word, x) \
    do { \
        x += word; \
        __asm__("" : "+r"(x)); \
        word = x; \
    } while (0)

/* On x86-64, which has enough registers, the rounds are assembly: the order of instructions decides the speed, and
 * compilers change it. Only two of a core's five ports rotate, and an instruction is bound to its port before it is
 * known when it will run. Measured on Granite Rapids, cycles of a round of SHA-512 without the schedule: 7.3 as gcc 12
 * and clang 14 make it; 7.0 (gcc) and 7.2 (clang) in the form of single_sha2.inc.h but in C; 5.9 in assembly, in an
 * order found by trial. Schedule included, SHA-512 over AVX2 took 7.6 (gcc) and 7.8 to 8.0 (clang 14, 19) in C; in
 * assembly it takes 7.1 with each.
 *
 * Operands have names, and the text has both dialects (-masm=att, -masm=intel). A copy and a rotation in place are as
 * fast as rorx on cores that rename registers instead of copying.
 */
#if HLI_X86_64
#  define OP(op, from, to)      #op " {%[" #from "], %[" #to "]|%[" #to "], %[" #from "]}\n\t"
#  define ROR_IN_PLACE_(n, to)  "ror {$" #n ", %[" #to "]|%[" #to "], " #n "}\n\t"
#  define ROR_IN_PLACE(n, to)   ROR_IN_PLACE_(n, to)
#  define RORX_(n, from, to)    "rorx {$" #n ", %[" #from "], %[" #to "]|%[" #to "], %[" #from "], " #n "}\n\t"
#  define RORX(n, from, to)     RORX_(n, from, to)
#  define ANDN(x, y, to) /* ~x & y */ "andn {%[" #y "], %[" #x "], %[" #to "]|%[" #to "], %[" #x "], %[" #y "]}\n\t"
#  if SV_RORX
#    define ROR_TO(n, from, to) RORX(n, from, to)
#  else
#    define ROR_TO(n, from, to) OP(mov, from, to) ROR_IN_PLACE(n, to)
#  endif
#else
#  define ROR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#endif

/* V...: the same for vectors, in which half of the state of SHA-512 is then (single_sha2.inc.h). */
#if SV_VPROL
#  define VOP(op, x, y, to) \
      "vp" #op "q {%[" #y "], %[" #x "], %[" #to "]|%[" #to "], %[" #x "], %[" #y "]}\n\t"
#  define VADD_WORD(word, x, to) \
      "vpaddq {%[" #word "]%{1to2%}, %[" #x "], %[" #to "]|%[" #to "], %[" #x "], %[" #word "]%{1to2%}}\n\t"
#  define VROR_(n, from, to) "vprorq {$" #n ", %[" #from "], %[" #to "]|%[" #to "], %[" #from "], " #n "}\n\t"
#  define VROR(n, from, to)  VROR_(n, from, to)
#  define VMOVE(from, to)    "vmovdqa64 {%[" #from "], %[" #to "]|%[" #to "], %[" #from "]}\n\t"
#  define VWORD(from, to)    "vmovq {%[" #from "], %[" #to "]|%[" #to "], %[" #from "]}\n\t"
#  define VLOGIC(table, z, y, x) /* the table, as Intel has it, of x, y and z */ \
      "vpternlogq {$" #table ", %[" #z "], %[" #y "], %[" #x "]|" \
      "%[" #x "], %[" #y "], %[" #z "], " #table "}\n\t"
#endif

#if HLI_ALG(sha1) && !SV_VPROL && !defined(SV_NO_SHA1)
#  include "single_sha1.inc.h"
#endif
#define SHA2_WORD 32
#if HLI_ALG(sha256) && !SV_VPROL
#  include "single_sha2.inc.h"
#endif
#undef SHA2_WORD
#if HLI_X86_64 && HLI_ALG(sha512) /* a round on 64-bit words does not fit 32-bit registers */
#  define SHA2_WORD 64
#  include "single_sha2.inc.h"
#  undef SHA2_WORD
#endif
