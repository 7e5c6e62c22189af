#!/usr/bin/env python3
"""Measures four orders in which RIPEMD-160's two lines can be written, on every instruction set.

SPDX-License-Identifier: MIT OR Apache-2.0

    bench/ripemd160_orders.py [CC ...]          (default: gcc clang)

Rewrites core/src/alg/ripemd160.lanes.h with its steps left line first, round by round, and step by step, builds the
library with each and with its own order, operation by operation, and runs the programs in turn, 5 times, on one CPU.
Prints the least time of a call that advances all lanes by one block, then the least time of a Bitcoin key's hash160 (33
bytes, RIPEMD-160 of SHA-256, from memory to memory). Exit status: 0, or 1 if something cannot be built or run.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "ripemd160_orders"
RUNS = 5
HALVES = """#define HALF(a, b, c, d, e, f, xk, s) \\
    do { \\
        a = lv32_add(a, xk); \\
        a = lv32_add(lv32_rol(lv32_add(a, f(b, c, d)), s), e); \\
        c = lv32_rol(c, 10); \\
    } while (0)
#define LEFT(a, b, c, d, e, j, fl, rl, sl, fr, rr, sr) \\
    HALF(a##l, b##l, c##l, d##l, e##l, fl, XK(0, j, rl), sl)
#define RIGHT(a, b, c, d, e, j, fl, rl, sl, fr, rr, sr) \\
    HALF(a##r, b##r, c##r, d##r, e##r, fr, XK(1, j, rr), sr)
"""


def orders(body: str) -> dict[str, str]:
    """Returns the body of each order, by its name."""
    step = re.compile(r"^ *STEP\((.*)\); *\\$", re.M)
    steps = step.findall(body)
    if len(steps) != 80:
        sys.exit(f"ripemd160_orders.py: {len(steps)} steps found in ripemd160.lanes.h, not 80")
    left = [f"LEFT({s})" for s in steps]
    right = [f"RIGHT({s})" for s in steps]
    arranged = {
        "left line, then right": left + right,
        "round by round": [half for r in range(0, 80, 16) for half in left[r:r + 16] + right[r:r + 16]],
        "step by step": [half for pair in zip(left, right) for half in pair],
    }
    for halves in arranged.values():
        for part in 3, 2, 1:  # as in the original: other work is inserted after each quarter
            halves.insert(40 * part, f"BETWEEN({part})")
    first, last = step.search(body).start(), [m.end() for m in step.finditer(body)][-1]
    begin = body.index("#define STEPS80(")
    return {"operation by operation": body} | {
        # a vocabulary with a step of its own (one message) keeps it
        name: "#if defined(LV_RIPEMD160_STEP)\n" + body + "#else\n" + body[:begin] + HALVES + body[begin:first]
        + "\n".join(f"        {half}; \\" for half in halves)
        + body[last:] + "#undef HALF\n#undef LEFT\n#undef RIGHT\n#endif\n"
        for name, halves in arranged.items()
    }


def build(compiler: str, name: str, body: str) -> pathlib.Path:
    """Builds the benchmark of the library with this body; returns its path."""
    tree = BUILD / compiler / name.replace(" ", "-").replace(",", "")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(ROOT / "core", tree / "core", ignore=shutil.ignore_patterns("target"))
    (tree / "core/src/alg/ripemd160.lanes.h").write_text(body)
    sources = [*tree.glob("core/src/*.c"), *tree.glob("core/src/*/*.c"), ROOT / "bench/bench.c"]
    command = [compiler, "-O3", "-I", tree / "core/include", *sources, "-lcrypto", "-o", tree / "bench"]
    subprocess.run(command, check=True)
    return tree / "bench"


def nanoseconds(program: pathlib.Path) -> dict[str, float]:
    """Returns the times of the kernels of RIPEMD-160 and of hash160 that this machine can run."""
    def run(mode: str) -> str:
        return subprocess.run([program, mode], check=True, capture_output=True, text=True).stdout

    rows = re.findall(r"^\| ripemd160_blocks_(\S+) *\| *\d+ \| *([\d.]+) \|", run("kernels"), re.M)
    keys = re.findall(r"^\| (\w+(?: and sha)?) \| ([\d.]+) \|", run("hash160"), re.M)
    return {name: float(ns) for name, ns in rows} | {f"hash160, {name}": float(ns) for name, ns in keys}


def main() -> None:
    compilers = sys.argv[1:] or ["gcc", "clang"]
    bodies = orders((ROOT / "core/src/alg/ripemd160.lanes.h").read_text())
    programs = {(c, name): build(c, name, body) for c in compilers for name, body in bodies.items()}
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    best: dict[tuple[str, str], dict[str, float]] = {key: {} for key in programs}
    for _ in range(RUNS):
        for key, program in programs.items():
            for kernel, ns in nanoseconds(program).items():
                best[key][kernel] = min(ns, best[key].get(kernel, ns))
    for c in compilers:
        version = subprocess.run([c, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]
        print(f"{version}\n\n| kernel, or hash160 over | " + " | ".join(bodies) + " |\n|---|" + "---|" * len(bodies))
        for kernel in best[c, "step by step"]:
            print(f"| {kernel} | " + " | ".join(f"{best[c, name][kernel]:.1f} ns" for name in bodies) + " |")
        print()


if __name__ == "__main__":
    try:
        main()
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"ripemd160_orders.py: {error}")
