#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""All tests, as parts that run side by side.

    test/run.py test|more|all [PART...]   every part of that level, or only these, and what they need
    test/run.py check [COMMIT]            short parts for the files that differ from COMMIT, or else from HEAD
    test/run.py fuzz
    test/run.py list [LEVEL]              the names of the parts of test, or of that level

Called by `make test`, `make test-more`, `make test-all`, `make check` and `make fuzz`. test has the same cases in each
run, but for drawn inputs; more has what takes longer, or needs other compilers and programs.
HASHLOOM_EXPECT=avx512,sha makes it a failure if the library finds fewer instruction sets than these; by default, those
that this CPU has (test/expect.sh).
HASHLOOM_REQUIRE=1 makes it a failure if something cannot be tested here: a program is missing, root is needed. Exit
status: 0 if everything passed.

PARTS at a time: one more than there are CPUs, as some mostly wait. The output of a part is in build/parts/NAME.log (of
check: build/check), and is printed whole when the part ends. The last lines name what was skipped, the times and the
parts that failed. A part is stopped if it uses more than 100 minutes of CPU time, or in test-all five days (LIMIT:
seconds), or none for 20 minutes (IDLE: seconds), and its output ends with the commands that were running. Samples are
taken by HASHLOOM_SEED, which is printed. By default, it is of the C library: another version of core takes others.
"""

import collections
import fnmatch
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

import checks  # noqa: F401: the locale of all parts, and SIGINT is not ignored

# NAME | LEVELS | AFTER | COMMAND, and below it patterns of the files that the part tests. A part starts when the parts
# in AFTER have ended, whether they passed or not; those with a plus sign make what it needs. Parts that wait for the
# same lock of Cargo come one after another, as a part that waits takes up a place. Long parts come first, so that none
# is alone at the end. check runs its parts whose files have changed, and names the longer ones.
PARTS = r"""
c | check test | +program | test/c.sh check
    {core} test/*.c test/*.h test/CMakeLists.txt test/c.sh test/steps.sh libmd/*
c | more all | | test/c.sh {level}
    {core} test/*.c test/*.h test/CMakeLists.txt test/c.sh test/steps.sh libmd/*
program | check test more all | | cargo build {selection}
openssl-provider | more all | | test/openssl_provider.sh {level}
    drop-in/openssl/* test/openssl_* {core}
docs | test | +program | python3 test/docs.py {program} {require} --quick
docs | more all | +program | python3 test/docs.py {program} {require}
    *.md docs/* test/docs.py {cli}
documents | check | +program | python3 test/docs.py {program} {documents}
    *.md
format | check test all | | test/columns.py && cargo fmt --all --check
    *
crates | check | | {changed_crates}
    {crates}
lint | more all | | cargo clippy {workspace} --all-targets -- -D warnings
crates | test all | program | cargo test {workspace} --lib --bins --tests
examples | more all | lint | cargo test {workspace} --doc
    {crates}
clients | more all | +program | {python} test/clients.py {program} {require}
    test/clients.py test/torrents.py rust/hashloom-clients/src/* rust/hashloom-maker/src/*
cross | more all | | test/cross.sh {level}
    {core} test/*.c test/cross.sh test/emulate.sh
lists | check test all | | test/lists.py
    *
rounds | check test all | | tools/blake_rounds.py --check
    core/src/words/* tools/blake_rounds.py
loops | check more all | | test/loops.py {every}
    core/src/x86/* core/src/words/* core/src/alg/* test/loops.py
proof | more all | | test/proof/prove.py {proved}
    {core} tools/algorithms.py test/proof/* web/npm/build.py web/npm/module.c
certificates | all | | rustfmt --edition 2024 --check test/proof/audit/checker.rs || exit 1; \
    test -x build/decoders/bin/python || python3 -m venv build/decoders; PATH=$PWD/build/decoders/bin:$PATH; \
    python -c "import capstone, iced_x86" 2>/dev/null || \
    pip install --quiet --disable-pip-version-check capstone iced-x86; python test/proof/audit/certify.py {every}
    {core} tools/algorithms.py test/proof/*
# A workspace of its own, with other people's crates, C libraries and compilers.
peers-format | check more all | | \
    cargo fmt {peers} --check && cargo fmt --manifest-path bench/slh/Cargo.toml --check
    bench/peers/*.rs bench/slh/*.rs
peers | all | +program | bench/peers/run.sh --quick
    bench/peers/* bench/never/*
# The profile and the folder are those of the part before, so that the C of the crates is compiled once.
peers-lint | all | peers | \
    cargo clippy --quiet --release --locked {peers} --target-dir bench/peers/target -- -D warnings
    bench/peers/*
go | check test | | test/go.sh check
    go/* test/go* {core}
go | more all | | test/go.sh {level}
shaders | check more all | | tools/wgsl/write.py --check
    core/src/alg/* core/src/algorithms.def core/src/words/* tools/algorithms.py tools/wgsl/*
# wgpu takes minutes to build.
gpu | all | | test/gpu.sh
    rust/hashloom-gpu/* tools/wgsl/* bench/gpu/* test/cuda.py
python | test | program | test/python.sh check
python | more all | program | test/python.sh {level}
    python/* test/python.sh rust/*/src/* docs/rows.md vectors/rows/*
# Users run optimised code, and compilers have bugs: all random cases.
crates-optimised | all | program | cargo test --quiet --release --workspace --exclude hashloom-gpu \
    --exclude hashloom-cli --exclude hashloom-web --tests --locked \
    --features hashloom/digest,hashloom-slh/signature,hashloom-manifest/sign
# Without std the crate hashloom has the same kernels, which the part crates tests.
crate-without-std | more all | crates | \
    cargo test --quiet --package hashloom --package hashloom-slh --no-default-features --locked --lib --test all \
    --features hashloom/all,hashloom-slh/getrandom,hashloom-slh/pkcs8,hashloom-slh/signature
    rust/hashloom/* rust/hashloom-slh/*
# One algorithm, without a warning: the C core, tests/alone.rs, and the examples of what is left.
crate-sha256-alone | more all | crate-without-std | \
    cargo clippy {alone} --features sha256 -- -D warnings && cargo test {alone} --features sha256,std && \
    cargo test {alone} --features sha256,std,digest,hmac,merkle,zeroize
    rust/hashloom/* core/Cargo.toml core/build.rs core/src/parts.h
# Without features too no crate has a warning. clippy, as the lint has compiled what the crates depend on.
crates-without-features | all | crate-without-std | \
    cargo clippy --quiet --package hashloom-files --package hashloom-list --package hashloom-stores \
    --package hashloom-manifest --no-default-features --locked -- -D warnings
    rust/hashloom-files/* rust/hashloom-list/* rust/hashloom-manifest/* rust/hashloom-signature/* \
    rust/hashloom-state/* rust/hashloom-stores/*
fuse-format | check more all | | cargo fmt --manifest-path test/fuse/Cargo.toml --check
    test/fuse/*.rs
fuse-lint | check all | crate-without-std crates-without-features | cargo clippy {fuse} --all-targets -- -D warnings
    test/fuse/*
fuse-tests | check all | fuse-lint | cargo test {fuse}
    test/fuse/*
fuse | more all | crate-without-std fuse-tests | cargo build {fuse}
    test/fuse/*
documentation | more all | fuse | RUSTDOCFLAGS="-D warnings" cargo doc {workspace} --no-deps
    {crates}
faults | more all | +program +fuse | python3 test/faults.py {program} {require} {every}
    test/faults.* {cli} rust/*/src/*
torrents-of-others | check more all | +program | {python} test/interop_torrents.py {program} {require}
    test/interop_torrents.py test/torrents.py test/bencode.py
behind | test all | +program | python3 test/behind.py {program} {require}
    test/behind.py rust/hashloom-files/src/read/*
manifests | check test all | +program | test/manifest.py {program}
    test/manifest.py rust/hashloom-manifest/src/* rust/hashloom-signature/src/*
# Without --require: an OpenSSL with SLH-DSA came in 2025.
slh-of-openssl | check more all | +program | test/slh_openssl.py {program}
    test/slh_openssl.py rust/hashloom-slh/src/*
malformed-torrents | check test all | +program | {python} test/malformed_torrents.py {program} {require}
    test/malformed_torrents.* rust/hashloom-torrent/src/parse/*
door | check test | +program | python3 test/door.py {program} --seed 1 --draws 300
    test/door.py rust/hashloom-cli/src/door* rust/hashloom-list/src/command/only.rs
door | more all | +program | python3 test/door.py {program} --seed 1 --draws 5000
    test/door.py {cli} rust/hashloom-list/src/* rust/hashloom-stores/src/*
list-forms | check test all | +program | python3 test/list_forms.py {program} {require}
    test/list_forms.py rust/hashloom-list/src/*
covered | test all | +program | {python} test/covered.py {program} {require}
    test/covered.py {cli}
trees-of-others | check test all | +program | {python} test/trees.py {program} {require} {every}
    test/trees.py rust/hashloom-tree/src/*
stores | check test all | +program | python3 test/stores.py {program} {require}
    test/stores.py rust/hashloom-stores/src/* rust/hashloom-list/src/command/*
coreutils | check test all | +program | {python} test/coreutils.py {program} {require} {every}
    test/coreutils.py rust/hashloom-standins/src/* rust/hashloom-list/src/command/*
macs | check test all | +program | python3 test/macs.py {program} {require} {huge}
    test/macs.py rust/hashloom-solaris/src/*
addresses | check test all | +program | python3 test/addresses.py {program} {require} {every}
    test/addresses.py rust/hashloom-address/src/*
setup | check more all | | test/setup.sh
    tools/setup.sh test/setup.sh
installation | more all | +program | test/install.sh {program} {require}
    test/install.sh Makefile rust/hashloom-cli/src/generate/*
dependencies | check more all | | tools/deny.sh
    *Cargo.toml *Cargo.lock deny.toml
web | more all | +program | \
    make --silent web && HASHLOOM_TEST_ALL={test_all} python3 web/test.py build/web/hashloom.html --program {program}
    web/*
npm | check test | | make --silent npm && web/npm/test.py build/npm
    web/npm/* web/browser.py web/engines.py web/views.html vectors/npm/* {core}
npm | more all | | make --silent npm && web/npm/test.py build/npm {require}
    web/npm/* web/browser.py web/engines.py web/views.html vectors/npm/* {core}
pkcs11 | more all | openssl-provider | test/pkcs11_module.sh {level}
    drop-in/pkcs11/* test/pkcs11_* bench/Pkcs11.java {core}
offered | check more all | | test/offered.sh {level}
    *.sh *.py *.c .ci/run .github/* *Cargo.lock *Cargo.toml core/include/* fuzz/*
# This program's own limits, on parts that never end.
limits | check more all | | \
    diff <(LIMIT=1 IDLE=8 PARTS=9 test/run.py limits | grep -E '^(STOPPED|FAILED)' | sed 's/\. These.*//' | sort) \
    <(printf '%s\n' 'FAILED: sleeps' 'FAILED: spins' 'STOPPED: sleeps: no CPU time for 8 s' \
    'STOPPED: spins: more than 1 s of CPU time')
    test/run.py
sleeps | limits | | sleep 5000 & wait
spins | limits | | (while :; do :; done) & wait
ends | limits | | true
# Two optimised builds of all crates and three others: about 40 minutes on two busy CPUs.
dist | all | | make --silent dist
fresh | all | | test/fresh.sh
windows | all | +program | test/windows.sh {program}
    test/windows.sh
other-systems | all | documentation | test/other_systems.sh
# Ratios, printed for a reader: no speed fails a test, but other digests do.
choice | all | offered | build/bench/kernels --choice
    bench/kernels.c {core}
fuzz-c | fuzz | | test/fuzz_c.sh 600
fuzz-pkcs11 | fuzz | | test/pkcs11_module.sh fuzz 600
fuzz-crates | fuzz | | fuzz/run.sh 600
"""
WORKSPACE = "--quiet --workspace --exclude hashloom-gpu --features hashloom/digest,hashloom-slh/signature --locked"
WORDS = {
    "core": "core/src/* core/include/* core/CMakeLists.txt",
    "crates": "Cargo.* rust/* core/*.rs core/Cargo.toml web/*.rs web/Cargo.toml",
    "cli": "rust/hashloom-cli/src/* rust/hashloom-frame/src/* rust/hashloom-solaris/src/* "
           "rust/hashloom-standins/src/* rust/hashloom-bench/src/* rust/*/src/command/*",
    "python": "build/venv/bin/python",
    "workspace": WORKSPACE,
    "peers": "--manifest-path bench/peers/Cargo.toml",
    "fuse": "--quiet --locked --manifest-path test/fuse/Cargo.toml",
    "alone": "--quiet --locked --package hashloom --no-default-features",
    "require": "--require" if os.environ.get("HASHLOOM_REQUIRE") else "",
}
# The program is the one that the crates' tests build too: with a test, so that Cargo selects the same features, and
# compiles no crate twice. In test-all it is optimised, as users run it. The others leave out repetitions, and tests
# that another part has too.
FULL = {"program": "target/release/hashloom", "selection": "--quiet --locked --release --package hashloom-cli",
        "every": "--all", "proved": "--all", "huge": "--huge", "test_all": "1"}
SHORT = {"program": "target/debug/hashloom", "selection": f"{WORKSPACE} --bin hashloom --test restrict",
         "every": "", "proved": "--share 16", "huge": "", "test_all": ""}
Part = collections.namedtuple("Part", "name levels after command files")


def sh(command):
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else sys.exit(f"run.py: {command}: {done.returncode}")


def changed_crates(changed):
    """Lints and tests of the crates that have changed; if only files in tests/all have, these files' tests alone. Not
    hashloom-gpu, for which wgpu takes minutes to build."""
    tests = collections.defaultdict(list)
    for file in changed:
        place = re.match(r"(rust/[^/]+|web|core(?!/src|/include))/(?:tests/all/(?!main\.)([^/]*)\.rs$)?", file)
        manifest = place and f"{place[1]}/Cargo.toml"
        if place and file.endswith((".rs", ".toml")) and os.path.exists(manifest) and "gpu" not in manifest:
            text = open(manifest, encoding="utf-8").read()
            wanted = ("command", "digest", "getrandom", "pkcs8", "sign", "signature")
            features = ",".join(feature for feature in wanted if re.search(rf"^{feature} = \[", text, re.M))
            tests[f"--manifest-path={manifest}{f' --features={features}' * bool(features)}"].append(
                place[2] and os.path.exists(file) and f"{place[2]}::")
            if "/src/command/" in file or place[1].endswith(("-bench", "-frame", "-solaris", "-standins")):
                tests["--manifest-path=rust/hashloom-cli/Cargo.toml"].append(None)  # what a command prints
    tests = tests or {"--package=hashloom": ["kernels::"]}
    return " && ".join([f"cargo clippy --quiet --locked {crate} --all-targets -- -D warnings" for crate in tests] + [
        f"cargo test --quiet --locked {crate}{' --test all -- ' + ' '.join(only) if all(only) else ''}"
        for crate, only in tests.items()])


def read_parts(level, changed):
    """The parts of the level; of check, the names of those for the changed files, and of longer parts."""
    # What the scripts of parts call it.
    words = {**WORDS, **(FULL if level == "all" else SHORT), "level": level if level in ("all", "check") else "quick",
             "documents": shlex.join(file for file in changed if file.endswith(".md") and os.path.exists(file))}
    words["changed_crates"] = changed_crates(changed)
    text = re.sub(r"\{(\w+)\}", lambda word: words.get(word[1], word[0]), PARTS.replace("\\\n    ", ""))
    try:
        left_out = dict(line.split("\t", 1) for line in open("build/left-out", encoding="utf-8").read().splitlines())
    except FileNotFoundError:
        left_out = {}
    parts, wanted, longer = {}, [], []
    for row in re.findall(r"^([^#\s].*)\n((?: +.*\n)?)", text, re.M):
        name, levels, after, command = (cell.strip() for cell in re.split(r"\|", row[0], maxsplit=3))
        part = Part(name, levels.split(), after.split(), command, row[1].split())
        if name in left_out:
            part = part._replace(command=shlex.join(["echo", f"SKIPPED: {name}: {left_out[name]}"]))
        is_changed = level != "check" or any(fnmatch.fnmatchcase(f, p) for f in changed for p in part.files)
        if level in part.levels:
            parts[name] = part
            wanted += [name] * is_changed
        elif level == "check" and is_changed and name not in parts:
            longer += [f"{other} {name}" for other in ("test", "more") if other in part.levels][:1]
    return parts, wanted, longer


class Running:
    def __init__(self, part, logs):
        self.part, self.log, self.stopped, self.cpu = part, logs / f"{part.name}.log", None, 0
        self.began = self.looked = self.moved = time.monotonic()
        with open(self.log, "wb") as log:
            command = f'root=$PWD; . test/ccache.sh; {part.command}'
            self.process = subprocess.Popen(["bash", "-c", command], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            start_new_session=True)

    def kill(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            pass

    def cpu_time(self):
        """Seconds of its processes, and of those that they have waited for."""
        ticks = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_bytes().rpartition(b")")[2].split()
            except OSError: # the process has ended
                continue
            if int(fields[3]) == self.process.pid: # the session
                ticks += sum(map(int, fields[11:15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def look(self, limit, idle):
        """Stops it after its CPU time, or if it has used none for so long that it hangs."""
        cpu = self.cpu_time()
        if cpu != self.cpu:
            self.cpu, self.moved = cpu, self.looked
        if cpu > limit:
            why = f"more than {limit} s of CPU time"
        elif self.looked - self.moved > idle:
            why = f"no CPU time for {idle} s"
        else:
            return
        self.stopped = self.looked
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"\nSTOPPED: {self.part.name}: {why}. These were running:\n")
            log.flush()
            subprocess.run(["ps", "-o", "args=", "-s", str(self.process.pid)], stdout=log)
        self.kill(signal.SIGTERM)

    def has_ended(self, limit, idle):
        """Whether it has ended. Looks at it every two seconds."""
        now = time.monotonic()
        pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if pid:
            self.process.returncode = 124 if self.stopped else os.waitstatus_to_exitcode(status)
            self.seconds, self.cpu = now - self.began, usage.ru_utime + usage.ru_stime
        elif not self.stopped and now - self.looked > 2:
            self.looked = now
            self.look(limit, idle)
        if self.stopped and (pid or now - self.stopped > 10):
            self.kill(signal.SIGKILL)
        return bool(pid)


def run(parts, logs, level):
    """Runs the parts, each after those that it names. Returns them as they ended."""
    limit = int(os.environ.get("LIMIT") or {"test": 4500, "more": 6000, "check": 4500}.get(level, 432000))
    idle = int(os.environ.get("IDLE") or 1200)
    at_once = int(os.environ.get("PARTS") or os.cpu_count() + 1)
    waiting, running, ended = list(parts.values()), [], []
    try:
        while waiting or running:
            for part in list(waiting):
                busy = {p.name for p in waiting} | {r.part.name for r in running}
                if len(running) < at_once and not any(name.lstrip("+") in busy for name in part.after):
                    waiting.remove(part)
                    running.append(Running(part, logs))
            if not running:
                sys.exit(f"run.py: never started: {' '.join(part.name for part in waiting)}")
            time.sleep(0.05)
            for one in [one for one in running if one.has_ended(limit, idle)]:
                running.remove(one)
                ended.append(one)
                if level != "check" or one.process.returncode != 0:
                    print(f"\n== {one.part.name}: {one.part.command}", flush=True)
                    sys.stdout.buffer.write(one.log.read_bytes())
    finally:
        for one in running:
            one.kill(signal.SIGTERM)
    return ended


def report(ended, longer):
    """Prints what was skipped, the time of each part, longest first, and the parts that failed."""
    if longer:
        print("\nNot run, as they take longer:", *(f"test/run.py {part}" for part in longer), sep="\n")
    if not ended:
        return 0
    skipped = collections.Counter(
        line for one in ended
        for line in re.findall(r"(?i)(?<![a-z])SKIPPED: .*", one.log.read_text(encoding="utf-8", errors="replace")))
    print(f"\n== Skipped: {len(skipped)}", *(f"{count:7} {line}" for line, count in sorted(skipped.items())), sep="\n")
    print(f"\n== Times: {time.monotonic() - BEGAN:.0f} s in all\n seconds      CPU  part")
    for one in sorted(ended, key=lambda one: -one.seconds):
        print(f"{one.seconds:8.0f} {one.cpu:8.0f}  {one.part.name}")
    failed = [one.part.name for one in ended if one.process.returncode != 0]
    print("\n" + ("\n".join(f"FAILED: {name}" for name in failed) or f"All {len(ended)} parts passed."))
    return 1 if failed else 0


def main():
    level, *wanted = sys.argv[1:] or ["list"]
    levels = ("test", "more", "all", "check", "fuzz", "list", "limits")
    if level not in levels or level in ("check", "list") and len(wanted) > 1:
        sys.exit(__doc__)
    os.chdir(pathlib.Path(__file__).parent.parent)
    core = sh("git rev-parse --verify --quiet HEAD:core 2>/dev/null || true")
    os.environ.setdefault("HASHLOOM_SEED", str(int("".join(core)[:4] or "1", 16)))
    seed = os.environ["HASHLOOM_SEED"]
    if not re.fullmatch("0|[1-9][0-9]{0,8}", seed):
        sys.exit(f"run.py: HASHLOOM_SEED={seed}: expected a number below a thousand million")
    if level == "list":
        print("\n".join(read_parts(*(wanted or ["test"]), [])[0]))
        return 0
    changed = []
    if level == "check":
        base = shlex.quote(*wanted or ["HEAD"])
        changed = sh(f"git diff --name-only --no-renames {base} && git ls-files --others --exclude-standard")
        wanted = []
    parts, every, longer = read_parts(level, changed)
    if not every:
        print(f"No part of check tests a changed file: {' '.join(changed) or 'no file has changed'}")
        return report([], longer)
    wanted, needed = wanted or every, set()
    while wanted:
        name = wanted.pop()
        if name not in parts:
            sys.exit(f"run.py: {level} has no part {name}: run.py list")
        needed.add(name)
        wanted += [other[1:] for other in parts[name].after if other[0] == "+"]
    if "HASHLOOM_EXPECT" not in os.environ:
        os.environ["HASHLOOM_EXPECT"] = "".join(sh("test/expect.sh"))
    if level != "check":
        os.environ["CARGO_INCREMENTAL"] = "0" # a build from clean gains nothing from what the compiler keeps
    os.environ.update({"more": {"PROPTEST_CASES": "32"}, "test": {"PROPTEST_CASES": "8"},
                       "check": {"PROPTEST_CASES": "8"}}.get(level, {}))
    print(f"== Expected of this CPU: {os.environ['HASHLOOM_EXPECT'] or 'nothing'}; HASHLOOM_SEED={seed}", flush=True)
    logs = pathlib.Path("build") / {"check": "check", "limits": "limits"}.get(level, "parts")
    subprocess.run(["rm", "-rf", logs], check=True)
    logs.mkdir(parents=True)
    return report(run({name: part for name, part in parts.items() if name in needed}, logs, level), longer)


BEGAN = time.monotonic()
try:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    sys.exit(main())
except KeyboardInterrupt:
    sys.exit(130)
