#!/usr/bin/env python3
"""blake_rounds.py: writes the rounds of BLAKE2s and BLAKE3 as assembly, core/src/words/blake_rounds.inc.h.

SPDX-License-Identifier: MIT OR Apache-2.0

    tools/blake_rounds.py [--check]

--check compares with the committed file instead of writing it. Exit status: 0; 1 if the file differs.

The state is 16 vectors, as many as AVX2 has registers, and a rotation by bits needs one more: v8 is in memory, and its
register is free. Compilers find no such order: gcc 12 moves some 70 vectors of a block of BLAKE3 to the stack and back.
Two of the four mixing functions are a step behind the others, so that shifts, for which there are two ports, stand
beside additions.
"""

import sys
import textwrap
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "core/src/words/blake_rounds.inc.h"

# RFC 7693 section 2.7; BLAKE3 (2020) table 2
SIGMA = [[int(word, 16) for word in line] for line in (
    "0123456789abcdef", "ea489fd61c02b753", "b8c052fdae367194", "7931dcbe265a40f8", "905724afe1bc683d",
    "2c6a0b834d75fe19", "c51fed4a0763928b", "db7ec13950f4862a", "6fe9b308c2d714a5", "a2847615fb9e3cd0")]
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
BLAKE3 = [list(range(16))]
while len(BLAKE3) < 7:
    BLAKE3.append([BLAKE3[-1][i] for i in PERMUTATION])

HEAD = r"""/* blake_rounds.inc.h: the rounds of BLAKE2s and BLAKE3 over AVX2, as one assembly statement.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 *
 * Written by tools/blake_rounds.py, which says why. Included by alg/blake.lanes.h, with its definitions. The text has
 * both dialects, -masm=att and -masm=intel.
 */
#define REG(n)            REG_##n
#define ATT(base, at)     #at "(%[" #base "])"
#define INTEL(base, at)   "[%[" #base "]+" #at "]"
#define OP(op, x, y, to)  op " {" REG(y) ", " REG(x) ", " REG(to) "|" REG(to) ", " REG(x) ", " REG(y) "}\n\t"
#define OPM(op, x, base, at, to) \
    op " {" ATT(base, at) ", " REG(x) ", " REG(to) "|" REG(to) ", " REG(x) ", " INTEL(base, at) "}\n\t"
#define OPN(op, n, x, to) op " {$" #n ", " REG(x) ", " REG(to) "|" REG(to) ", " REG(x) ", " #n "}\n\t"
#define LOAD(op, base, at, to) op " {" ATT(base, at) ", " REG(to) "|" REG(to) ", " INTEL(base, at) "}\n\t"
#define STORE(base, at, from)  "vmovdqa {" REG(from) ", " ATT(base, at) "|" INTEL(base, at) ", " REG(from) "}\n\t"
/* v[to] += word i of the block; v[to] += v[x]; v[to] ^= v[x]; v8 += v[d], v[b] ^= v8; rotations by R1 to R4 */
#define W(to, i) OPM("vpaddd", to, w, 32*i, to)
#define A(to, x) OP("vpaddd", to, x, to)
#define X(to, x) OP("vpxor", to, x, to)
#define M(d, b)  OPM("vpaddd", d, v8, 0, 8) X(b, 8) STORE(v8, 0, 8)
#define T1(x)    OPM("vpshufb", x, turns, 0, x)
#define T2(x)    OPN("vpsrld", 12, x, 8) OPN("vpslld", 20, x, x) OP("vpor", 8, x, x)
#define T3(x)    OPM("vpshufb", x, turns, 32, x)
#define T4(x)    OPN("vpsrld", 7, x, 8) OPN("vpslld", 25, x, x) OP("vpor", 8, x, x)
"""

TAIL = r"""
/* v, the chaining value, becomes that after the block w. x: v12 to v15. s: for BLAKE2s, a copy of v. */
LV_FN void LV_PASTE(NAMED, rounds)(lv v[8], const WORD *s, const WORD *x, const lv w[16])
{
    static const uint64_t turns[2][4] __attribute__((aligned(32))) = {
        {0x0504070601000302, 0x0d0c0f0e09080b0a, 0x0504070601000302, 0x0d0c0f0e09080b0a},
        {0x0407060500030201, 0x0c0f0e0d080b0a09, 0x0407060500030201, 0x0c0f0e0d080b0a09}};
    lv v8;

    __asm__(ROUNDS
            : [v0] "+x"(v[0]), [v1] "+x"(v[1]), [v2] "+x"(v[2]), [v3] "+x"(v[3]), [v4] "+x"(v[4]), [v5] "+x"(v[5]),
              [v6] "+x"(v[6]), [v7] "+x"(v[7]), "=m"(v8)
            : [s] "r"(s), [x] "r"(x), [w] "r"(w), [v8] "r"(&v8), [turns] "r"(turns), [iv] "r"(IV), "m"(turns),
              "m"(*(const lv(*)[8])s), "m"(*(const lv(*)[4])x), "m"(*(const lv(*)[16])w)
            : "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

"""


def steps(order, of_pair):
    """What two of four mixing functions do, in steps of operations that are alike."""
    for sigma in order:
        for first, turn in (0, 0), (8, 1):
            # A pair of diagonals waits for the words b of one pair of columns only.
            columns = [(i, 4 + (i + turn) % 4, 8 + (i + 2 * turn) % 4, 12 + (i + 3 * turn) % 4)
                       for i in ((0, 1), (2, 3), (3, 0), (1, 2))[2 * turn + of_pair]]
            for half, turn_d, turn_b in (0, "T1", "T2"), (1, "T3", "T4"):
                yield [f"W({a},{sigma[first + 2 * a + half]})" for a, *_ in columns]
                yield [f"A({a},{b})" for a, b, _, _ in columns]
                yield [f"X({d},{a})" for a, _, _, d in columns]
                yield [f"{turn_d}({d})" for *_, d in columns]
                yield [f"A({c},{d})" if c != 8 else f"M({d},{b})" for _, b, c, d in columns]
                yield [f"X({b},{c})" for _, b, c, _ in columns if c != 8]
                yield [f"{turn_b}({b})" for _, b, _, _ in columns]


def statement(order, of_blake2):
    """The calls of the macros, in lines."""
    calls = ['LOAD("vpbroadcastd", iv, 0, 8)', "STORE(v8, 0, 8)"]
    calls += [f'LOAD("vpbroadcastd", iv, {4 * i}, {8 + i})' for i in (1, 2, 3)]
    calls += [f'LOAD("vmovdqa", x, 32*{i}, {12 + i})' for i in range(4)]
    for ahead, behind in zip([*steps(order, 0), []], [[], *steps(order, 1)]):
        calls += ahead + behind
    calls += ['OPM("vpxor", 0, v8, 0, 0)'] + [f"X({i},{8 + i})" for i in range(1, 8)]
    calls += [f'OPM("vpxor", {i}, s, 32*{i}, {i})' for i in range(8) if of_blake2]
    return " \\\n".join(textwrap.wrap(" ".join(calls), 112, initial_indent="    ", subsequent_indent="    "))


def main():
    registers = [f"%[v{i}]" for i in range(8)] + [f"%%ymm{i}" for i in range(8, 16)]
    text = HEAD + "".join(f'#define REG_{i} "{name}"\n' for i, name in enumerate(registers))
    text += f"#if BLAKE == 3\n#  define ROUNDS \\\n{statement(BLAKE3, False)}\n"
    text += f"#else\n#  define ROUNDS \\\n{statement(SIGMA, True)}\n#endif\n" + TAIL
    names = [line.split()[1].split("(")[0] for line in text.splitlines() if line.startswith("#define")]
    text += "".join(f"#undef {name}\n" for name in [*names, "ROUNDS"])
    if sys.argv[1:] != ["--check"]:
        OUT.write_text(text)
    elif OUT.read_text() != text:
        sys.exit(f"{OUT.name} is not as tools/blake_rounds.py writes it: run tools/blake_rounds.py")


if __name__ == "__main__":
    main()
