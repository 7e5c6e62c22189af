#!/usr/bin/env python3
"""mutants_core.py: changes the core's driver, one place at a time, and tells which changes no test of C notices.

SPDX-License-Identifier: MIT OR Apache-2.0

    tools/mutants_core.py [--file NAME] [--only REGEX] [--every N] [--list]

A mutant is one rule of RULES applied to one place of a file in core/src. The file, or every file that includes it, is
compiled by a bare cc, linked with kernels and tests that were compiled once, and run until a test fails. A mutant that
compiles to the same code does not count. One that survives is run once more under the address and undefined behaviour
sanitizers. Survivors that are not faults stand in EQUIVALENT, with the reason; any other makes the exit status 1. CC
names the compiler. Folder: build/mutants.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "mutants"
TREE = BUILD / "core" / "src"  # a copy, which is changed; objects tell the name of their source
CC = os.environ.get("CC", "cc")
FILES = ["algorithms.c", "api.c", "api.h", "edges.c", "edges.h", "hmac.c", "lanes.c", "lanes.h", "many.c", "pbkdf2.c",
         "plan.c", "plan.h", "registry.c", "registry.h", "streams.c"]
# The tests that find most mutants soonest come first; each with its arguments.
TESTS = {"choice": [], "remains": [], "hash_many": ["--runs", "20", "--seed", "1"], "streams": [], "hmac": [],
         "jobs": [], "pbkdf2": [], "export": [], "constant_time": [], "lengths": [], "api": []}
# The tests that run with sanitizers: all except those that look at the stack, and the one for valgrind.
SANITIZERS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
SANITIZED = [name for name in TESTS if name not in ("remains", "constant_time", "choice")]
# A guard against endless runs: this many times the test's usual time, and some seconds.
PATIENCE = 10

RULES = [
    ("a comparison turned", r"(?<=[\w\])]) (==|!=|<=|>=|<|>) (?=[\w(-])",
     {"==": "!=", "!=": "==", "<": ">=", ">": "<=", "<=": ">", ">=": "<"}),
    ("off by one", r"(?<=[\w\])]) (<=|>=|<|>) (?=[\w(-])", {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    ("plus for minus", r"(?<=[\w\])]) (\+|-) (?=[\w(])", {"+": "-", "-": "+"}),
    ("and for or", r" (&&|\|\|) ", {"&&": "||", "||": "&&"}),
    ("a wipe left out", r"^ *()hli_wipe(?:_one|_state)?\([^;]*\);", {"": "(void)0; //"}),
    ("a burn left out",
     r"^ *()(?:hli_burn|hli_burn_stack|hli_clear_registers|hli_clear_vectors|hli_forget|hli_forget_one)\([^;]*\);",
     {"": "(void)0; //"}),
    ("a status ignored", r"(if \(status != HL_OK\))", {"if (status != HL_OK)": "if (0)"}),
    ("a secret forgotten", r"is_secret = (1);", {"1": "0"}),
    ("chosen anew", r"(plan->choice)", {"plan->choice": "hli_choice()"}),
    ("HMAC's constants exchanged", r"\b(IPAD|OPAD)(?=,)", {"IPAD": "OPAD", "OPAD": "IPAD"}),
    ("an early exit", r"^ *()differ \|= p\[i\] \^ q\[i\];", {"": "if (p[i] != q[i]) return 0; "}),
    ("the column of costs lost", r"\(word (& ~ISA_MASK)\)", {"& ~ISA_MASK": "& ~ISA_MASK & ~(7u << CHOICE_TUNE)"}),
]

# (file, rule, a part of the line): why the mutant is not a fault. "Speed": the digests are the same.
EQUIVALENT = [
    ("edges.h", "off by one", "nbytes >= 8", "8 bytes are then two moves of 4"),
    ("many.c", "a comparison turned", "for (size_t i = 0; i < n; i++)", "speed: paddings of one block stay apart"),
    ("many.c", "a comparison turned", "const int nothing_else", "speed: which messages wait for others"),
    ("many.c", "and for or", "const int is_brief", "speed: the choice of a kernel"),
    ("many.c", "off by one", "nleft <= HLI_SHORT", "speed: the choice of a kernel"),
    ("lanes.h", "off by one", "if (nblocks > 0)", "a kernel does nothing with 0 blocks"),
    ("plan.h", "a comparison turned", "rows->nbytes > 0; i++", "for AddressSanitizer: the tests bad_length see it"),
    ("lanes.c", "off by one", "left < ends->second->nlanes ?", "the kernel for as many messages as it has lanes"),
    ("lanes.c", "a comparison turned", "left < ends->second->nlanes ?", "speed: the choice of a kernel"),
    ("lanes.c", "off by one", "if (ends->n > 0)", "a call without ends"),
    ("lanes.c", "plus for minus", "const unsigned class", "speed: the order of messages"),
    ("lanes.c", "plus for minus", "kernel = hli_kernel(plan, pass, end - first)", "speed: the choice of a kernel"),
    ("registry.c", "off by one", "cost < best_cost", "speed: of two kernels with the same cost"),
    ("registry.h", "off by one", "kernel->nlanes > 1 ?", "more of the stack is overwritten"),
    ("streams.c", "off by one", "if (nhashed > 0)", "the stack is overwritten without need"),
    ("streams.c", "off by one", "start < count; start += HLI_WINDOW", "a last turn without messages"),
]


def places(name):
    """Yields (rule, line number, line, mutated line) of one file."""
    in_comment = False
    for number, line in enumerate((ROOT / "core/src" / name).read_text().splitlines(), 1):
        code = line
        if in_comment or code.lstrip().startswith(("/*", "*", "//", "#")):
            in_comment = "*/" not in code if in_comment or code.lstrip().startswith("/*") else in_comment
            continue
        code = code.split("/*")[0]
        in_comment = "/*" in line and "*/" not in line
        for rule, pattern, exchange in RULES:
            for match in re.finditer(pattern, code):
                start, end = match.span(1)
                yield rule, number, line, line[:start] + exchange[match.group(1)] + line[end:]


class Build:
    """All objects of the core and of the tests, compiled with some flags."""

    def __init__(self, folder, flags, tests):
        self.folder, self.flags, self.tests, self.objects, self.took = folder, flags, tests, {}, {}
        folder.mkdir(parents=True, exist_ok=True)
        for source in sorted(TREE.glob("**/*.c")):
            to = folder / f"{source.parent.name}-{source.stem}.o"
            if not self.compile(source, to):
                sys.exit(f"mutants_core.py: {source} does not compile with {CC}")
            self.objects[source.name if source.parent == TREE else str(to)] = to
        for name in [*tests, "test", "reference"]:
            source = ROOT / ("fuzz" if name == "hash_many" else "test") / f"{name}.c"
            vectors = f"-DHASHLOOM_VECTORS=\"{ROOT}/vectors\""
            subprocess.run([CC, "-std=c11", "-O1", *flags, vectors, "-I", ROOT / "core/include", "-I", ROOT / "test",
                            "-c", source, "-o", folder / f"test-{name}.o"], check=True)
        if failed := self.run({}):
            sys.exit(f"mutants_core.py: {failed} fails without any change")
        print("seconds of each test:", {name: round(seconds, 1) for name, seconds in self.took.items()}, flush=True)

    def compile(self, source, to):
        return subprocess.run([CC, "-std=c11", "-O1", "-w", *self.flags, "-I", TREE.parent / "include", "-c",
                               source, "-o", to], capture_output=True).returncode == 0

    def mutate(self, sources):
        """Compiles the sources as they are now. Returns their objects, or None if one does not compile."""
        mutants = {source: self.folder / f"mutant-{source}.o" for source in sources}
        return mutants if all(self.compile(TREE / source, to) for source, to in mutants.items()) else None

    def run(self, mutants):
        """Returns the name of the first test that fails with these objects in place of the core's, or None."""
        environment = {**os.environ, "HASHLOOM_TEST_SHARE": "40"}
        first = not mutants
        for name in self.tests:
            program = self.folder / name
            runner = ["valgrind", "-q"] if name == "constant_time" else []
            wrap = ["-Wl,--wrap=hli_choice"] if name == "choice" else []
            tests = [self.folder / f"test-{part}.o" for part in (name, "test", "reference")]
            link = [CC, *self.flags, "-o", program, *tests, *{**self.objects, **mutants}.values(), *wrap, "-lpthread"]
            if subprocess.run(link, capture_output=True).returncode != 0:
                return "linking"
            patience = None if first else 20 + PATIENCE * self.took[name]
            began = time.monotonic()
            try:
                done = subprocess.run([*runner, program, *TESTS[name]], capture_output=True, env=environment,
                                      timeout=patience, cwd=self.folder)
            except subprocess.TimeoutExpired:
                return f"{name} (no end)"
            if first:
                self.took[name] = time.monotonic() - began
            if done.returncode != 0:
                return name
        return None


def main():
    parser = argparse.ArgumentParser(description="Which changes of the core does no test notice?")
    parser.add_argument("--file", choices=FILES)
    parser.add_argument("--only", default="", help="only mutants whose rule or line matches")
    parser.add_argument("--every", type=int, default=1, help="only every N-th mutant")
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    arguments = parser.parse_args()
    files = [arguments.file] if arguments.file else FILES
    mutants = [(name, *place) for name in files for place in places(name)
               if re.search(arguments.only, f"{place[0]}: {place[2]}")][::arguments.every]
    if arguments.list:
        for name, rule, number, _, mutated in mutants:
            print(f"{name}:{number}: {rule}: {mutated.strip()}")
        return 0

    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(ROOT / "core/src", TREE)
    shutil.copytree(ROOT / "core/include", TREE.parent / "include")
    plain = Build(BUILD / "plain", [], list(TESTS))
    sanitized = Build(BUILD / "sanitized", SANITIZERS, SANITIZED)
    killed, survived, equivalent, same, broken = 0, [], 0, 0, 0
    for name, rule, number, line, mutated in mutants:
        original = ROOT / "core/src" / name
        lines = original.read_text().splitlines()
        lines[number - 1] = mutated
        (TREE / name).write_text("\n".join(lines) + "\n")
        # A header is part of all of the driver.
        sources = [name] if name.endswith(".c") else sorted(path.name for path in TREE.glob("*.c"))
        objects = plain.mutate(sources)
        if objects is None:
            broken += 1
        elif all(to.read_bytes() == plain.objects[source].read_bytes() for source, to in objects.items()):
            same += 1
        elif plain.run(objects):
            killed += 1
        elif any(e[0] == name and e[1] == rule and e[2] in line for e in EQUIVALENT):
            equivalent += 1
        elif sanitized.run(sanitized.mutate(sources)):
            killed += 1
        else:
            survived.append((name, number, rule, mutated.strip()))
            print(f"survived: {name}:{number}: {rule}: {mutated.strip()}", flush=True)
        shutil.copy(original, TREE / name)
    print(f"mutants of the core: {killed} killed, {len(survived)} survived, {equivalent} equivalent,"
          f" {same} the same code, {broken} do not compile")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
