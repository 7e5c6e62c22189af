# harness.py: fetches a project of others, puts hashloom in, runs its own tests, and its benchmarks before and after.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
import argparse
import datetime
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WORK = ROOT / "build/adopters"
CPU = os.environ.get("CPU") or str(max(os.sched_getaffinity(0)))
PREFIX = [*shlex.split(os.environ.get("RUN", "")), "taskset", "-c", CPU]
WITHOUT = [part for part in os.environ.get("WITHOUT", "").split(",") if part]
HAS_AVX512 = "avx512f" in Path("/proc/cpuinfo").read_text() and "avx512" not in WITHOUT
# The standard library of Go has no code for AVX-512.
GODEBUG = ",".join(f"cpu.{part}=off" for part in WITHOUT if not part.startswith("avx512"))
if GODEBUG:  # "GODEBUG sys/cpu: unknown" is another library's word: crypto/* has obeyed then
    said = subprocess.run(["go", "version"], env=os.environ | {"GODEBUG": GODEBUG}, capture_output=True, text=True)
    if unknown := re.search("^GODEBUG: (unknown .*)", said.stderr, re.M):
        sys.exit(f"adopters: {unknown[1]}: crypto/* would be measured with it; take Go 1.26 or later")
ENVIRONMENT = os.environ | {"GOWORK": "off", "GODEBUG": GODEBUG, "CARGO_TARGET_DIR": str(WORK / "target")}
# Of benchmarks, whose files lie in memory if there is a folder for them.
MEASURED = {"GOMAXPROCS": "1", "RAYON_NUM_THREADS": "1"} | (
    {"TMPDIR": "/dev/shm"} if os.access("/dev/shm", os.W_OK) else {})


class Skipped(Exception):
    """Why a project cannot be measured here."""


def run(*line, folder=None, **environment):
    """The output of a command that must succeed."""
    result = subprocess.run(line, cwd=folder, env=ENVIRONMENT | environment, stdin=subprocess.DEVNULL,
                            capture_output=True, text=True, errors="replace")
    if result.returncode:
        lines = (result.stdout + result.stderr).strip().splitlines() or [f"status {result.returncode}"]
        (WORK / "failed.txt").write_text("\n".join(lines))
        tell = [line for line in lines if re.search(r"rror|FAIL|panic|[.](?:go|rs|cpp):\d+", line)] or lines
        raise Skipped(f"{' '.join(map(str, line[:3]))}: {tell[0][:160]}")
    return result.stdout


def told(*line, folder):
    """The output of a command, which may fail."""
    return subprocess.run(line, cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace").stdout


def make(folder, texts):
    """Writes files."""
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


def manifest(*needs):
    """Cargo.toml of a program."""
    return "\n".join(['[package]', 'name = "job"', 'edition = "2024"', "[workspace]", "[dependencies]",
                      f'hashloom.path = "{ROOT / "rust/hashloom"}"', *needs, ""])


def lines_of(text):
    """The number of lines that say something: not blank, no comment, not the name of the package."""
    return sum(bool(re.match(r"\s*(?!//|/\*|\*|package )\S", line)) for line in text.splitlines())


def edited(text, name, place, functions, swaps):
    """The text of a file without the functions, which get another name, and with each pattern replaced. Returns the
    text and the number of lines that a patch removes and adds."""
    removed = added = 0
    for function in functions:
        owner, _, method = function.rpartition(".")
        indent = "" if method.startswith("^") else " *"
        method = method.removeprefix("^")
        receiver = rf"[(]\w+ [*]?{owner}[)] " if owner else ""
        start = rf"^(?P<indent>{indent})(?:pub(?:[(]crate[)])? )?(?:func|fn|void) {receiver}{method}(?=[(<])"
        found = list(re.finditer(rf"{start}.*?^(?P=indent)}}$", text, re.M | re.S))
        if len(found) != 1:
            raise Skipped(f"{place} has {len(found)} functions {function}")
        removed += lines_of(found[0][0])
        text = re.sub(rf"({start})", r"\1_before", text, flags=re.M)
    for pattern, replacement in swaps:
        text, count = re.subn(pattern, replacement, text, flags=re.M)
        if count == 0:
            raise Skipped(f"{place} has no {pattern}")
        removed, added = removed + count, added + count
    return text, removed, added


class Project:
    """A project, and the copy of it. `files`: the path in the project of each file of this folder that replaces
    something. `moved`: for each path the functions that are replaced. `swapped`: for each path patterns and what stands
    in their place. `jobs`: files for both builds. `without`: for a part of WITHOUT the patterns that make the project
    itself do without these instruction sets, or None if it cannot."""

    def __init__(self, name, module, version, checksum, what, files, moved={}, swapped={}, jobs={},
                 without={}, tests=(), benchmarks=(), time="40ms", job="", needs=(), sources={}):
        vars(self).update(locals())
        self.folder = WORK / name
        self.added = self.removed = 0

    def changes(self, is_after):
        """The texts of the files that differ from the project's, by their paths."""
        files = dict(self.jobs) | (self.files if is_after else {})
        texts = {path: (HERE / ours).read_text() for path, ours in files.items()}
        swaps = {}
        for part in set(WITHOUT) & set(self.without):
            if self.without[part] is None:
                raise Skipped(f"its other libraries cannot be told to do without {part}")
            for path, pairs in self.without[part].items():
                swaps.setdefault(path, []).extend(pairs)
        for path in {*swaps, *(is_after and {*self.moved, *self.swapped} or ())}:
            text = (self.folder / path).read_text()
            text = edited(text, self.name, path, [], swaps.get(path, []))[0]
            if is_after:
                text, removed, added = edited(text, self.name, path, self.moved.get(path, []),
                                              self.swapped.get(path, []))
                self.removed, self.added = self.removed + removed, self.added + added
            texts[path] = text
        if is_after:
            self.added += sum(lines_of((HERE / ours).read_text()) for ours in self.files.values())
        return texts

    def test(self):
        """The tests of the touched packages, with hashloom in. One may fail only if it fails without hashloom too."""
        (_, before), (npassed, after) = self.tested("before"), self.tested("after")
        if new := after - before:
            return f"FAILED: {', '.join(sorted(map(str, new)))}"
        nfailed = len({str(name).split("/")[0] for name in before})
        passed = f"{npassed} pass" if npassed else "digests equal"
        return passed + (f", {nfailed} fail without hashloom too" if nfailed else "")

    def measure(self, rounds):
        """Least nanoseconds of each benchmark, before and after, in turns."""
        least = {}
        for _ in range(rounds):
            for side in ("before", "after"):
                for folder, line in self.commands(side):
                    output = run(*PREFIX, *line, folder=folder, **MEASURED)
                    for found in re.finditer(r"^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op", output, re.M):
                        pair = least.setdefault(found[1], {})
                        pair[side] = min(pair.get(side, float("inf")), float(found[2]))
        return least


class Go(Project):
    """`tests`: patterns of packages, with flags behind. `benchmarks`: a package and a pattern each."""

    def fetch(self):
        told = json.loads(subprocess.run(["go", "mod", "download", "-json", f"{self.module}@{self.version}"], text=True,
                                         cwd=WORK, env=ENVIRONMENT, capture_output=True).stdout or "{}")
        if "Error" in told or "Dir" not in told:
            raise Skipped(told.get("Error", "go mod download failed").split("\n")[0].split(": ", 1)[-1])
        if told["Sum"] != self.checksum:
            raise Skipped(f"checksum {told['Sum']}, not {self.checksum}")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(told["Dir"], self.folder)
        for path in [self.folder, *self.folder.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        shutil.copy(self.folder / "go.sum", f"{self.folder}.sum")
        shutil.copy(self.folder / "go.mod", f"{self.folder}.mod")
        run("go", "mod", "edit", "-require=github.com/hashloom/hashloom/go@v0.0.0",
            f"-replace=github.com/hashloom/hashloom/go={ROOT / 'go'}", f"{self.folder}.mod")

    def build(self):
        for side in ("before", "after"):
            put = {str(ROOT / "go/internal/core/restrict.go"): str(HERE / "restrict.go")}
            texts = self.changes(side == "after")
            make(WORK / "put" / self.name / side, texts)
            put |= {str(self.folder / path): str(WORK / "put" / self.name / side / path) for path in texts}
            overlay = Path(f"{self.folder}.{side}.json")
            overlay.write_text(json.dumps({"Replace": put}))
            for i, (package, _) in enumerate(self.benchmarks):
                run("go", "test", "-vet=off", *self.flags(side), "-c", "-o", f"{self.folder}.{side}{i}", package,
                    folder=self.folder)

    def flags(self, side):
        return "-mod=mod", f"-modfile={self.folder}.mod", f"-overlay={self.folder}.{side}.json"

    def commands(self, side):
        for i, (package, pattern) in enumerate(self.benchmarks):
            yield self.folder / package, [f"{self.folder}.{side}{i}", "-test.run=^$", f"-test.bench={pattern}",
                                          "-test.cpu=1", f"-test.benchtime={self.time}"]

    def tested(self, side):
        """The number of tests that pass, and the names of those that fail."""
        output = told("go", "test", "-vet=off", "-v", "-count=1", *self.flags(side), *self.tests, folder=self.folder)
        failed = re.findall(r"^ *--- FAIL: (\S+)|^FAIL\t(\S+) \[", output, re.M)
        return len(re.findall(r"^--- PASS", output, re.M)), {test or package for test, package in failed}


class Crate(Project):
    """A crate, and `job`, a program of this folder that runs it. `needs`: lines of the program's Cargo.toml."""

    def fetch(self):
        probe = WORK / "fetch"
        make(probe, {"Cargo.toml": manifest(f'{self.module} = "={self.version}"'), "src/lib.rs": ""})
        run("cargo", "fetch", folder=probe)
        home = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
        archive = next(home.glob(f"registry/cache/*/{self.module}-{self.version}.crate"))
        if (checksum := hashlib.sha256(archive.read_bytes()).hexdigest()) != self.checksum:
            raise Skipped(f"checksum {checksum}, not {self.checksum}")
        shutil.rmtree(self.folder, ignore_errors=True)
        with tarfile.open(archive) as crate:
            crate.extractall(WORK / "fetch", filter="data")
        (WORK / "fetch" / f"{self.module}-{self.version}").rename(self.folder)

    def copy(self, side):
        """A copy of the crate with the changes of a side."""
        folder = WORK / "put" / self.name / side
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(self.folder, folder)
        make(folder, self.changes(side == "after"))
        return folder

    def build(self):
        for side in ("before", "after"):
            folder = self.copy(side)
            with open(folder / "Cargo.toml", "a") as crate:
                crate.write(f'[workspace]\n[dependencies.hashloom]\npath = "{ROOT / "rust/hashloom"}"\n')
            job = WORK / "put" / self.name / f"{side}-job"
            make(job, {"Cargo.toml": manifest(f'{self.module} = "={self.version}"', *self.needs) +
                       f'[patch.crates-io]\n{self.module} = {{ path = "{folder}" }}\n',
                       "Cargo.lock": (folder / "Cargo.lock").read_text(),
                       "src/main.rs": (HERE / self.job).read_text(), "src/bench.rs": (HERE / "bench.rs").read_text()})
            run("cargo", "build", "--release", folder=job)
            shutil.copy(WORK / "target/release/job", f"{self.folder}.{side}")

    def commands(self, side):
        yield WORK, [f"{self.folder}.{side}"]

    def tested(self, side):
        output = told("cargo", "test", "--release", *self.tests, folder=WORK / "put" / self.name / side)
        return (len(re.findall(r"^test .* ok$", output, re.M)),
                {test or error for test, error in re.findall(r"^test (.*) \.\.\. FAILED|^(error: .*)", output, re.M)})


class Core(Crate):
    """C++ that a crate carries: `sources`, compiled with `job`, and with hashloom on both sides."""

    def build(self):
        library = WORK / "hashloom"
        library.mkdir(exist_ok=True)
        sources = [*(ROOT / "core/src").glob("*.c"), *(ROOT / "core/src").glob("*/*.c")]
        run("cc", "-O2", f"-I{ROOT / 'core/include'}", "-c", *sources, folder=library)
        for side in ("before", "after"):
            root, objects = self.copy(side) / "bitcoin/src", []
            for source in [*self.sources, *(self.files if side == "after" else ()), HERE / self.job]:
                flags = self.sources.get(source, "").split()
                source = root.parent.parent / source if source in self.files else root / source
                objects.append(f"{self.folder}.{side}.{source.stem}.o")
                run("c++", "-std=c++20", "-O2", "-ffunction-sections", "-DENABLE_SSE41", "-DENABLE_AVX2",
                    "-DENABLE_X86_SHANI", f"-I{root}", f"-I{ROOT / 'core/include'}", *flags,
                    "-c", source, "-o", objects[-1])
            run("c++", "-Wl,--gc-sections", *objects, *library.glob("*.o"), "-o", f"{self.folder}.{side}")

    def tested(self, side):
        if "equal" not in run(f"{self.folder}.{side}"):
            raise Skipped("digests differ")
        return 0, set()


def machine():
    """The CPU, the compilers and the day."""
    model = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    family = re.findall(r"(?:cpu family|model)\s*: (\d+)", Path("/proc/cpuinfo").read_text())[:2]
    tools = ["go version", "rustc --version", "c++ --version"]
    versions = [subprocess.run(shlex.split(tool), capture_output=True, text=True).stdout.split("\n")[0]
                for tool in tools if shutil.which(tool.split()[0])]
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True).stdout
    without = f", restricted: WITHOUT={','.join(WITHOUT)}" if WITHOUT else ""
    return (f"{model[1] if model else 'unknown CPU'} (family {', model '.join(family)}){without}, CPU {CPU}; "
            f"{'; '.join(versions)}; {datetime.date.today()}, hashloom {commit.strip()}")


def main(projects, description):
    """Measures the projects that the command line names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="the projects to measure; none: all")
    parser.add_argument("--rounds", type=int, default=5, help="runs of each benchmark, of which the least counts")
    parser.add_argument("--list", action="store_true", help="print the projects and end")
    options = parser.parse_args()
    known = {project.name: project for project in projects}
    if unknown := set(options.names) - set(known):
        parser.error(f"no project {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.list:
        return print(*(f"{project.name}: {project.module} {project.version}" for project in projects), sep="\n")
    WORK.mkdir(parents=True, exist_ok=True)
    failed, details = False, []
    print(machine(), "", "| project | version | what ran | lines | gain | its tests |", "|---|---|---|---|---|---|",
          sep="\n", flush=True)
    for project in [known[name] for name in options.names] or projects:
        print(f"{project.name}: ", end="", file=sys.stderr, flush=True)
        try:
            project.fetch()
            project.build()
            tests = project.test()
            least = project.measure(options.rounds)
            if not least or any(len(pair) < 2 for pair in least.values()):
                raise Skipped("no benchmark ran on both sides")
        except Skipped as why:
            print(f"SKIPPED: {why}", file=sys.stderr)
            print(f"| {project.name} | {project.version} | SKIPPED: {why} | | | |", flush=True)
            continue
        gains = {name: pair["before"] / pair["after"] for name, pair in least.items()}
        low, high = f"{min(gains.values()):.2f}", f"{max(gains.values()):.2f}"
        gain = low if low == high else f"{low} to {high}"
        print(gain, file=sys.stderr)
        failed |= tests.startswith("FAILED: ")
        print(f"| {project.name} | {project.version} | {project.what} | +{project.added} -{project.removed} | "
              f"{gain} | {tests} |", flush=True)
        details += [f"| {project.name} | {name} | {least[name]['before']:.0f} | {least[name]['after']:.0f} | "
                    f"{ratio:.2f} |" for name, ratio in gains.items()]
    print("", "| project | benchmark | ns before | ns after | gain |", "|---|---|---:|---:|---:|", *details, sep="\n")
    return failed
