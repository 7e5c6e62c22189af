/* words/bmi.h: a vocabulary for RIPEMD-160 of one message in general registers, with andn (BMI1) and rorx (BMI2).
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * A step of the body (alg/ripemd160.lanes.h) is one assembly statement, as compilers choose longer forms and other
 * orders. Each line is a chain from step to step, and b is the variable that is ready last. In these forms b passes
 * through one operation, or two (F2, F3), before the sum:
 *
 *   F2(b, c, d) = d ^ (b & (c ^ d))
 *   F3(b, c, d) = ~((~b & c) ^ d)
 *   F4(b, c, d) = (d & b) + (~d & c)    the second term is added before b is ready
 *   F5(b, c, d) = ~(b ^ (~c & d))
 *
 * a + ~x is computed as a - 1 - x. The order of both lines was found by search. A rotation is rorx, because Intel's
 * cores make two operations of rol.
 */
#define LV_ISA    avx2_x1
#define LV_KERNEL __attribute__((target("bmi,bmi2"), aligned(64)))
#define LV_FN     HLI_INLINE __attribute__((target("bmi,bmi2")))
#define LV_ONLY LV_RIPEMD160

typedef uint32_t lv32;
#define LV32_LANES 1
#define LV64_LANES 1

/* Keeps a word of the state in a general register. gcc 12 would load four words as a vector, right after stores of
 * single words, and wait for these (6 ns a block). */
#define IN_REGISTER(x) __asm__("" : "+r"(x))

LV_FN lv32 lv32_load(const uint32_t *p)
{
    lv32 x = *p;

    IN_REGISTER(x);
    return x;
}

LV_FN void lv32_store(uint32_t *p, lv32 x)
{
    IN_REGISTER(x);
    *p = x;
}

LV_FN lv32 lv32_add(lv32 x, lv32 y) { return x + y; }
LV_FN void lv32_load_block(lv32 w[16], const uint8_t *const msg[], size_t offset, int big_endian)
{
    (void)big_endian; /* both RIPEMD-160 and x86 are little-endian */
    hli_copy(w, msg[0] + offset, 64);
}

/* Operands have names; s is the line, l or r. The text has both dialects (-masm=att, -masm=intel). */
#define OP(op, from, to) #op " {%[" #from "], %[" #to "]|%[" #to "], %[" #from "]}\n\t"
#define ANDN(x, y, to)   "andn {%[" #y "], %[" #x "], %[" #to "]|%[" #to "], %[" #x "], %[" #y "]}\n\t" /* ~x & y */
#define ROL(n, to)       "rorx {$32-" #n ", %[" #to "], %[" #to "]|%[" #to "], %[" #to "], 32-" #n "}\n\t"
#define LESS_1(a, t)     "lea {-1(%q[" #a "], %q[" #t "]), %[" #a "]|%[" #a "], [%q[" #a "] + %q[" #t "] - 1]}\n\t"

/* For each function: a += X, or X - 1 if the complement is to be subtracted; a += K, unless K is 0; t = the part
 * without b; t = the function or its complement; the sum. */
#define X_ADDED(s) OP(add, x##s, a##s)
#define X_LESS(s)  OP(mov, x##s, t##s) LESS_1(a##s, t##s)
#define X_F1       X_ADDED
#define X_F2       X_ADDED
#define X_F3       X_LESS
#define X_F4       X_ADDED
#define X_F5       X_LESS

#define K_ADDED(s) OP(add, k##s, a##s)
#define K_F1(s)
#define K_F2 K_ADDED
#define K_F3 K_ADDED
#define K_F4 K_ADDED
#define K_F5 K_ADDED

#define EARLY_F1(s) OP(mov, c##s, t##s) OP(xor, d##s, t##s)
#define EARLY_F2(s) OP(mov, c##s, t##s) OP(xor, d##s, t##s)
#define EARLY_F3(s)
#define EARLY_F4(s) ANDN(d##s, c##s, t##s) OP(add, t##s, a##s) OP(mov, d##s, t##s)
#define EARLY_F5(s) ANDN(c##s, d##s, t##s)

#define LATE_F1(s) OP(xor, b##s, t##s)
#define LATE_F2(s) OP(and, b##s, t##s) OP(xor, d##s, t##s)
#define LATE_F3(s) ANDN(b##s, c##s, t##s) OP(xor, d##s, t##s)
#define LATE_F4(s) OP(and, b##s, t##s)
#define LATE_F5(s) OP(xor, b##s, t##s)

#define SUM_F1(s) OP(add, t##s, a##s)
#define SUM_F2(s) OP(add, t##s, a##s)
#define SUM_F3(s) OP(sub, t##s, a##s)
#define SUM_F4(s) OP(add, t##s, a##s)
#define SUM_F5(s) OP(sub, t##s, a##s)

/* The body's STEP. */
#define LV_RIPEMD160_STEP(a, b, c, d, e, j, fl, rl, sl, fr, rr, sr) \
    do { \
        lv32 tl, tr; \
        __asm__(X_##fl(l) X_##fr(r) K_##fl(l) EARLY_##fr(r) K_##fr(r) EARLY_##fl(l) LATE_##fl(l) LATE_##fr(r) \
                SUM_##fl(l) ROL(sl, al) SUM_##fr(r) ROL(sr, ar) OP(add, el, al) OP(add, er, ar) \
                ROL(10, cl) ROL(10, cr) \
                : [al] "+&r"(a##l), [ar] "+&r"(a##r), [cl] "+&r"(c##l), [cr] "+&r"(c##r), [tl] "=&r"(tl), \
                  [tr] "=&r"(tr) \
                : [bl] "r"(b##l), [br] "r"(b##r), [dl] "r"(d##l), [dr] "r"(d##r), [el] "r"(e##l), [er] "r"(e##r), \
                  [xl] "m"(w[rl]), [xr] "m"(w[rr]), [kl] "m"(hli_ripemd160_k[0][j]), [kr] "m"(hli_ripemd160_k[1][j]) \
                : "cc"); \
    } while (0)
