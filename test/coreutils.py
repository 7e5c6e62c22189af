#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares hashloom called md5sum, sha1sum, sha224sum, sha256sum, sha384sum and sha512sum with coreutils' own programs.

    python3 test/coreutils.py path/to/hashloom [--require] [--lists N] [--lines N]

Both run every case with the same name, folder, locale and input. Standard output, standard error, both of them in one
pipe, and the exit status must be the same, byte by byte. The cases: a table of options and of odd names, lists written
by one and checked by the other, N (200) random lists from a fixed seed, faults, standard streams that are closed or
cannot be used, and a list of N (300,000) lines, for which hashloom may take 64 MiB of memory.

Known differences, not compared: the words of --help and --version, and the reason why /dev/stdin cannot be opened if
standard input is closed. The behaviour of coreutils 9.1 is the reference. If that version is missing, nothing can be
compared; this is named as SKIPPED, and with --require is a failure.
"""

import argparse
import hashlib
import itertools
import os
import pathlib
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAMS = ["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum"]
LOCALES = ["C", "C.UTF-8"]
VERSION = b"(GNU coreutils) 9.1\n"
MEMORY = 64 << 20

# Names of files; each file exists.
NAMES = [
    b"a", b"empty", b"a b", b" leading", b"  two", b"trailing ", b"trailing\r", b".dot", b"-dash", b"--tag", b"*star",
    b"* star", b"new\nline", b"\nfirst", b"last\n", b"back\\slash", b"\\first", b"\\n", b"\\\\", b"cr\rcr", b"tab\ttab",
    b"it's", b"it's (a b)", b'say "x"', b"'\n'", b"'", b"both'\"", b"col:on", b"dol$lar", b"(par)", b"SHA1 (a)",
    b"SHA256 (a) = b", b"x) = y", b"=", b"#hash", b"h#sh", b"~", b"til~de", b"{", b"{}", b"a?b", b"a[b]", b"^", b"`",
    b"|", b"&;<>!", b"%+,@", b"\x01\x7f", b"\x1b[31m", b"\a\b\f\v", b"\xff", b"ab\xc3", b"\xc3\xa9", b"e\xcc\x81",
    b"\xe2\x80\x8b", b"\xc2\xa0", b"\xe2\x82\xac it's", b"\xf0\x9f\x92\xa9", b"\xff'\n\\", b"9" * 64, b"x" * 255,
]  # fmt: skip

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("hashloom", type=pathlib.Path)
parser.add_argument("--require", action="store_true", help="fail if coreutils' programs are missing")
parser.add_argument("--lists", type=int, default=200, help="random lists")
parser.add_argument("--lines", type=int, default=300_000, help="lines of the long list")
arguments = parser.parse_args()
hashloom = arguments.hashloom.resolve()

failures = []
ncases = 0


def skipped(what):
    print(f"SKIPPED: {what}")
    sys.exit(1 if arguments.require else 0)


def genuine(program):
    """Returns the path of coreutils' own program, or None."""
    path = shutil.which(program)
    if path is None:
        return None
    version = subprocess.run([path, "--version"], capture_output=True, env={"LC_ALL": "C"}).stdout
    return path if VERSION in version else None


def content(name):
    return b"" if name == b"empty" else b"content of " + name


def digest(program, data):
    return hashlib.new(program.removesuffix("sum"), data).hexdigest().encode()


def run(executable, program, options, folder, locale, stdin, merged, extra, preexec=None):
    environment = {"LC_ALL": locale, "PATH": os.environ["PATH"], **extra}
    stderr = subprocess.STDOUT if merged else subprocess.PIPE
    done = subprocess.run(
        [program, *options], executable=executable, cwd=folder, env=environment, input=stdin, stdout=subprocess.PIPE,
        stderr=stderr, timeout=60, preexec_fn=preexec,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


def same(program, options, folder, locale="C", stdin=b"", extra=None, preexec=None):
    """Returns True if both programs do the same."""
    global ncases
    ncases += 1
    for merged in [False, True]:
        found = [
            run(executable, program, options, folder, locale, stdin, merged, extra or {}, preexec)
            for executable in [genuine_programs[program], hashloom]
        ]
        if found[0] != found[1]:
            shown = " ".join(map(str, options))
            failures.append(f"{program} {shown} (LC_ALL={locale}, {stdin[:200]!r}, merged={merged}):")
            failures.extend(f"  {who}: {what}" for who, what in zip(["coreutils", "hashloom "], found))
            return False
        if not found[0][2] and not merged:
            # Only messages could change the order.
            break
    return True


def write_files(folder):
    for name in NAMES:
        with open(os.path.join(os.fsencode(folder), name), "wb") as file:
            file.write(content(name))
    (folder / "folder").mkdir()
    (folder / "folder" / "inner").write_bytes(b"inner")
    (folder / "link").symlink_to("a")
    (folder / "dangling").symlink_to("nowhere")


def operands():
    """Returns names as arguments, after -- as some begin with a dash."""
    return ["--", *NAMES]


def check_summing(folder):
    for program in PROGRAMS:
        same(program, ["a"], folder)
        same(program, [], folder, stdin=b"abc")
        same(program, ["-"], folder, stdin=b"abc")
        same(program, operands(), folder)
    for locale in LOCALES:
        # Every name as an existing file, a missing file, and a file in a missing folder.
        for options in [[], ["-b"], ["--tag"], ["-z"], ["--tag", "-z"], ["-bz"]]:
            same("sha256sum", [*options, *operands()], folder, locale)
        same("sha256sum", ["--", *[name + b".missing" for name in NAMES if len(name) < 200]], folder, locale)
        same("sha256sum", ["--", *[b"missing/" + name for name in NAMES]], folder, locale)
    formats = ["-b", "-t", "--tag", "-z", "--binary", "--text", "--zero", "-bt", "-tb", "-zb"]
    for number in range(1, 4):
        for options in itertools.permutations(formats, number):
            if number < 3 or len(set(options) & {"--tag", "-t", "-b", "-z"}) == 3:
                same("sha1sum", [*options, "a", "back\\slash"], folder)
    for options in [
        ["a", "missing", "empty"], ["folder"], ["folder/"], ["a", "folder", "empty"], [""], ["link", "dangling"],
        ["a", "-", "empty", "-"], ["-", "-"], ["a/b"], ["x" * 300], ["a", "a", "a"], ["/dev/null"],
        ["a", "--tag"], ["a", "-b", "empty"], ["--", "-dash"], ["-dash"], ["a", "--", "--tag"], ["--", "a", "--", "-b"],
        ["/proc/self/mem"], ["a", "/proc/self/mem", "empty"], ["./a", "folder/../a", "folder//inner"],
    ]:  # fmt: skip
        for program in PROGRAMS[1:3]:
            same(program, options, folder, stdin=b"abc")
        same("sha256sum", options, folder, stdin=b"abc", extra={"POSIXLY_CORRECT": "1"})


def check_options(folder):
    (folder / "right").write_bytes(digest("sha384sum", content(b"a")) + b"  a\n")
    long_options = ["check", "ignore-missing", "quiet", "status", "warn", "strict", "tag", "zero", "binary", "text"]
    for option in [*long_options, "help", "version", "nonsense"]:
        for end in range(0, len(option) + 1):
            for suffix in ["", "=", "=x"]:
                if not suffix and any(option[:end] and name.startswith(option[:end]) for name in ["help", "version"]):
                    continue
                for operand in ["a", "right"]:
                    same("sha384sum", [f"--{option[:end]}{suffix}", operand], folder)
        for other in long_options:
            if option not in ["help", "version"]:
                same("sha384sum", [f"--{option}", f"--{other}", "right"], folder)
    for letter in map(chr, range(33, 127)):
        for options in [[f"-{letter}", "right"], [f"-c{letter}", "right"], [f"-{letter}=", "a"], [f"-b{letter}c", "a"]]:
            same("sha384sum", options, folder)
    for options in [
        ["-\xe9"], ["--\xe9"], ["--tag\xe9"], ["-b", "--status=1", "--nonsense"], ["--nonsense", "--help"], ["---"],
        ["--tag", "--check", "--zero"], ["a", "--nonsense"], ["a", "-x"], ["--check=right"], ["-c", "--", "right"],
        ["-c="], ["-"], ["right", "-c"], ["right", "--check", "--strict"], ["--tag", "-t"], ["-t", "--tag"],
        ["--tag", "--text", "-c"],
    ]:  # fmt: skip
        for extra in [{}, {"POSIXLY_CORRECT": "1"}]:
            same("sha384sum", options, folder, extra=extra)
            same("sha384sum", options, folder, "C.UTF-8", extra=extra)
    for option in ["--help", "--version", "--he", "--vers", "-b --help", "a --version", "--status --help"]:
        status, out, errors = run(hashloom, "sha384sum", option.split(), folder, "C", b"", False, {})
        if status != 0 or errors or not out.startswith((b"Usage: sha384sum ", b"sha384sum (hashloom) ")):
            failures.append(f"sha384sum {option}: {status} {out} {errors}")


def lists():
    """Lists for SHA-256, with a name that says what each contains."""
    right = {name: digest("sha256sum", content(name)) for name in NAMES}
    a, wrong, other = right[b"a"], b"0" * 64, digest("sha1sum", content(b"a"))
    yield b"right", a + b"  a\n"
    yield b"two", a + b"  a\n" + right[b"empty"] + b" *empty\n"
    yield b"wrong", wrong + b"  a\n"
    yield b"wrong, right", wrong + b"  empty\n" + wrong + b"  a\n" + a + b"  a\n"
    yield b"missing", a + b"  missing\n"
    yield b"missing, right", a + b"  missing\n" + a + b"  a\n" + a + b"  also missing\n"
    yield b"bad, right", b"bad\n" + a + b"  a\nbad\nbad\n"
    yield b"all", b"bad\n" + a + b"  a\n" + wrong + b"  empty\n" + a + b"  missing\nbad\n"
    yield b"bad", b"bad\n"
    yield b"empty", b""
    yield b"blank", b"\n\n# comment\n\r\n"
    yield b"folder", a + b"  folder\n" + a + b"  a\n"
    yield b"no newline", a + b"  a"
    yield b"windows", a + b"  a\r\n" + right[b"trailing\r"] + b"  trailing\r\r\n"
    yield b"upper", a.upper() + b"  a\n" + a[:32] + a[32:].upper() + b"  a\n"
    yield b"mark", b"\xef\xbb\xbf" + a + b"  a\n" + a + b"  a\n"
    yield b"blanks before", b" " + a + b"  a\n\t \t" + a + b"  a\n \\" + a + b"  a\n\\ " + a + b"  a\n # x\n"
    yield b"reversed", a + b" a\n" + right[b" leading"] + b"  leading\n" + right[b"*star"] + b" *star\n"
    yield b"not reversed", a + b"  a\n" + a + b" a\n" + a + b"\ta\n" + a + b"\t*a\n" + a + b"\t\ta\n"
    yield b"short", a + b" \n" + a + b"  \n" + a + b" *\n" + a + b"\n" + a + b" a\n"
    yield b"stdin", right[b"empty"] + b"  -\n" + right[b"empty"] + b"  -\n"
    yield b"comments", b"#" + a + b"  a\n #\n" + a + b"  a\n"
    yield b"nul", a + b"  a\0b\n" + a + b"  \0\n\\" + a + b"  a\0\n" + a + b"\0  a\n" + a[:9] + b"\0\n\0\n"
    yield b"tags", b"".join(
        prefix + b"SHA256" + space + b"(a)" + before + b"=" + after + hex + end + b"\n"
        for prefix in [b"", b" ", b"\\"] for space in [b"", b" ", b"  ", b"\t"] for before in [b"", b" ", b"\t "]
        for after in [b"", b" ", b"  "] for hex in [a, a.upper(), a[1:]] for end in [b"", b" ", b"\r"]
    )  # fmt: skip
    yield b"tagged names", b"".join(b"SHA256 (" + name + b") = " + hex + b"\n" for name, hex in right.items())
    yield b"other tags", b"".join(
        tag + b" (a) = " + hex + b"\n"
        for tag in b"SHA1 SHA256 sha256 SHA2-256 SHA-256 SHA512/256 MD5 SHA2567 RMD160".split()
        for hex in [a, other]
    )
    tagged = b"SHA256 (a) = " + a + b"\n"
    yield b"tag in part", b"".join(tagged[:end] + b"\n" for end in range(5, len(tagged))) + b"SHA256 () = " + a + b"\n"
    yield b"parentheses", tagged + b"SHA256 (x) = y) = " + right[b"x) = y"] + b"\n" + b"".join(
        b"SHA256 " + name + b" = " + a + b"\n" for name in [b"a", b"(a", b"a)", b"((a))", b"(a))", b")a(", b"()"]
    )
    yield b"escapes", b"".join(
        b"\\" + a + b"  " + name + b"\n\\SHA256 (" + name + b") = " + a + b"\n"
        for name in rb"a \n \r \\ \ a\ \x \\n new\nline a\tb \na".split() + [b""]
    )
    yield b"other digest", other + b"  a\n" + a + b"0  a\n" + a[1:] + b"  a\n" + b"g" + a[1:] + b"  a\n"
    yield b"two backslashes", b"\\\\" + a + b"  a\n"
    yield b"long name", a + b"  " + b"x" * 5000 + b"\n" + a + b"  " + b"y/" * 1500 + b"\n"
    yield b"many", (a + b"  a\n") * 3000 + b"bad\n" * 5000 + (wrong + b"  a\n") * 2 + a + b"  missing\n"
    yield b"names", b"".join(a + b"  " + name + b".missing\n" for name in NAMES if len(name) < 200)


def check_checking(folder):
    rules = ["--ignore-missing", "--quiet", "--status", "--strict", "--warn"]
    for number, (name, text) in enumerate(lists()):
        with open(folder / "list", "wb") as file:
            file.write(text)
        for locale in LOCALES:
            for options in [["-c"], ["-cw"], ["-c", "--quiet"], ["-c", "--strict"], ["-c", "--ignore-missing"]]:
                same("sha256sum", [*options, "list"], folder, locale)
        same("sha256sum", ["-cw"], folder, stdin=text)
        same("sha256sum", ["-c", "-"], folder, stdin=text)
        if 0 < number < 12:
            for count in range(0, 4 if name in [b"all", b"missing, right"] else 3):
                for options in itertools.permutations(rules, count):
                    same("sha256sum", ["--check", *options, "list"], folder)
        for program in PROGRAMS:
            same(program, ["-cw", "list"], folder)
    a = digest("sha256sum", content(b"a"))
    (folder / "stars").write_bytes(a + b"  a\n")
    (folder / "one").write_bytes(a + b" a\n")
    (folder / "bad").write_bytes(b"bad\n")
    (folder / "minus").write_bytes(digest("sha256sum", b"") + b"  -\n" + a + b"  a\n")
    for names in itertools.permutations(["stars", "one", "bad", "missing", "folder", "minus", "-", "a:b"], 2):
        same("sha256sum", ["-c", *names], folder, stdin=a + b"  a\n")
        same("sha256sum", ["-c", "--status", *names], folder, stdin=a + b"  -\n")
    same("sha256sum", ["-c", "minus"], folder, stdin=b"abc")
    same("sha256sum", ["-c", *[name for name in NAMES if not name.startswith(b"-")]], folder)


def check_each_other(folder):
    """Lists written by one program are right for the other."""
    global ncases
    for program in PROGRAMS:
        for options in [[], ["-b"], ["--tag"]]:
            for writer, reader in itertools.permutations([genuine_programs[program], hashloom]):
                ncases += 1
                arguments = [*options, *operands()]
                _, text, _ = run(writer, program, arguments, folder, "C", b"", False, {})
                status, out, errors = run(reader, program, ["-c", "--strict"], folder, "C", text, False, {})
                if status != 0 or errors or out.count(b": OK\n") != len(NAMES):
                    failures.append(f"{program} {options}: {writer}, checked by {reader}: {status} {out} {errors}")


def random_list(source):
    names = [b"a", b"empty", b"a b", b" leading", b"missing", b"-", b"new\\nline", b"x) = y", b"\\\\", b"cr\rcr", b""]
    junk = [b" ", b"  ", b" *", b"\t", b"\\", b"(", b")", b"=", b"\r", b"\0", b"#", b"\xff", b"0", b"SHA256 "]
    lines = []
    for _ in range(source.randrange(1, 40)):
        name = source.choice(names)
        hex = source.choice([digest("sha256sum", content(name)), digest("sha256sum", content(b"a")), b"f" * 64])
        if source.random() < 0.5:
            parts = [hex, source.choice([b"  ", b" *", b" ", b"\t"]), name]
        else:
            parts = [b"SHA256", source.choice([b" (", b"("]), name, source.choice([b") = ", b")= ", b")="]), hex]
        if source.random() < 0.2 or (b"\\" in name and source.random() < 0.8):
            parts.insert(0, b"\\")
        line = b"".join(parts)
        for _ in range(source.choice([0, 0, 0, 1, 1, 2])):
            place = source.randrange(len(line) + 1)
            change = source.randrange(3)
            line = line[:place] + (b"" if change == 1 else source.choice(junk)) + line[place + (change > 0) :]
        lines.append(line)
    return source.choice([b"\n", b"\n", b"\r\n"]).join(lines) + source.choice([b"", b"\n"])


def check_random(folder):
    for seed in range(arguments.lists):
        text = random_list(random.Random(seed))
        same("sha256sum", ["-cw"], folder, LOCALES[seed % 2], stdin=text)


def check_letters(folder):
    """Compares the characters that messages show unescaped. The C library's table may be older or newer than Rust's."""
    global ncases
    ncases += 1
    points = [*range(0xA0, 0x3000, 7), *range(0x2000, 0x2070), *range(0xE000, 0x10000, 37), 0x1F600, 0xE0001, 0x10FFFF]
    names = [f"no{chr(point)}" for point in points if not 0xD800 <= point < 0xE000]
    found = [
        run(executable, "sha1sum", names, folder, "C.UTF-8", b"", False, {})[2].splitlines()
        for executable in [genuine_programs["sha1sum"], hashloom]
    ]
    ndifferent = sum(one != other for one, other in zip(*found))
    if len(found[0]) != len(found[1]) or ndifferent > len(names) // 100:
        failures.append(f"characters in messages: {ndifferent} of {len(names)} differ")


def check_faults(folder):
    global ncases
    # Run as another user, as root may read everything.
    locked = folder / "locked"
    locked.write_bytes(b"locked")
    locked.chmod(0)
    folder.chmod(0o755)
    lines = [digest("sha1sum", b"locked") + b"  locked\n", digest("sha1sum", content(b"a")) + b"  a\n"]
    (folder / "list").write_bytes(b"".join(lines))
    become = (lambda: os.setuid(65534)) if os.getuid() == 0 else None
    for options in ["locked", "a locked empty", "-c list", "-c --ignore-missing list", "-c locked"]:
        options = options.split()
        same("sha1sum", options, folder, preexec=become)
    # Output that cannot be written.
    if os.path.exists("/dev/full"):
        for options in ["a", "a missing", "-c list", "-c --status list", "--help", "--nonsense"]:
            options = options.split()
            ncases += 1
            found = []
            for executable in [genuine_programs["sha1sum"], hashloom]:
                with open("/dev/full", "w") as full:
                    done = subprocess.run(
                        ["sha1sum", *options], executable=executable, cwd=folder, env={"LC_ALL": "C"}, stdout=full,
                        stderr=subprocess.PIPE,
                    )  # fmt: skip
                found.append((done.returncode, done.stderr))
            if found[0] != found[1]:
                failures.append(f"sha1sum {options} > /dev/full: {found}")
    # The reader of the pipe has gone: a shell sees the same of both.
    ncases += 1
    script = f'exec 3>&1; {{ (exec -a sha1sum "$0" "$@"); echo $? >&3; }} 2>&1 | sleep 0.2 >/dev/null'
    many = ["a"] * 20000
    found = [
        subprocess.run(["bash", "-c", script, executable, *many], cwd=folder, capture_output=True).stdout
        for executable in [genuine_programs["sha1sum"], hashloom]
    ]
    if found[0] != found[1]:
        failures.append(f"sha1sum to a closed pipe: {found}")
    # An interrupted program is ended by the signal, and its output has only whole lines.
    for program in PROGRAMS[:1]:
        ncases += 1
        process = subprocess.Popen(
            [program, "a", "empty", "/dev/zero"], executable=hashloom, cwd=folder, stdout=subprocess.PIPE,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )  # fmt: skip
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            out, _ = process.communicate()
        if process.returncode != -signal.SIGINT or out.count(b"\n") != 2 or not out.endswith(b"  empty\n"):
            failures.append(f"{program}, interrupted: {process.returncode} {out}")
    # Called by its name, through a link, in PATH.
    ncases += 1
    links = folder / "links"
    links.mkdir()
    (links / "sha224sum").symlink_to(hashloom)
    done = subprocess.run(["sha224sum", "a"], cwd=folder, env={"PATH": str(links)}, capture_output=True)
    if done.stdout != digest("sha224sum", content(b"a")) + b"  a\n":
        failures.append(f"sha224sum through a link: {done}")


def check_streams(folder):
    """Standard input, output and error that are closed, open in the wrong direction, or full."""
    global ncases
    line = digest("sha1sum", content(b"a")) + b"  a\n"
    (folder / "list").write_bytes(line)
    (folder / "warned").write_bytes(line + b"bad\n")
    (folder / "minus").write_bytes(digest("sha1sum", b"") + b"  -\n" + line)
    streams = ["<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- 2>&-", "<&- >&- 2>&-", "0>/dev/null", "1</dev/null"]
    streams += ["2</dev/null", ">/dev/full", "2>/dev/full", "</", "<&- >/dev/full"]
    commands = ["a", "a missing", "", "-", "- a", "a -", "- -", "missing", "folder", "-c list", "-c --status list"]
    commands += ["-c -", "-c", "-c list - list", "-c warned", "-c --status warned", "-cw warned", "-c --strict warned"]
    commands += ["-c minus", "-c --quiet minus", "--help", "--version", "--nonsense", "-c --ignore-missing minus"]
    if not os.path.exists("/dev/full"):
        streams = [each for each in streams if "full" not in each]
    for command, stream in itertools.product(commands, streams):
        ncases += 1
        found = []
        for executable in [genuine_programs["sha1sum"], hashloom]:
            done = subprocess.run(
                ["bash", "-c", f'exec -a sha1sum "$0" {command} {stream}', executable], cwd=folder, input=b"",
                capture_output=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]}, timeout=60,
            )  # fmt: skip
            # Each program has its own words for these two.
            is_own = command in ["--help", "--version"] and done.stdout
            found.append((done.returncode, bool(done.stdout) if is_own else done.stdout, done.stderr))
        theirs, ours = found
        # hashloom may find that it cannot write before it has read all files.
        is_shorter = ">" in stream and theirs[:2] == ours[:2] and ours[2] != b"" and theirs[2].endswith(ours[2])
        if theirs != ours and not is_shorter:
            failures.append(f"sha1sum {command} {stream}:")
            failures.extend(f"  {who}: {what}" for who, what in zip(["coreutils", "hashloom "], found))
    # The name of a closed stream: the reason differs.
    for stream in ["<&-", "<&- >&-"]:
        ncases += 1
        script = f'exec -a sha1sum "$0" /dev/stdin {stream}'
        done = subprocess.run(["bash", "-c", script, hashloom], cwd=folder, capture_output=True)
        if done.returncode != 1 or done.stdout or not done.stderr.startswith(b"sha1sum: /dev/stdin: "):
            failures.append(f"sha1sum /dev/stdin {stream}: {done}")


def check_long_list(folder):
    """Checks that memory does not depend on the length of a list."""
    global ncases
    ncases += 1
    right, wrong = digest("sha1sum", content(b"a")) + b"  a\n", b"0" * 40 + b"  missing\n"
    with open(folder / "list", "wb") as file:
        for _ in range(arguments.lines // 1000):
            file.write(right * 990 + wrong * 5 + b"bad\n" * 5)
    with open(os.devnull, "wb") as devnull:
        process = subprocess.Popen(
            ["sha1sum", "-c", "--ignore-missing", "list"], executable=hashloom, cwd=folder, stdout=devnull,
            stderr=subprocess.PIPE, env={"LC_ALL": "C"},
        )  # fmt: skip
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
    nbad = arguments.lines // 1000 * 5
    expected = b"sha1sum: WARNING: %d lines are improperly formatted\n" % nbad
    print(f"a list of {arguments.lines:,} lines: {usage.ru_maxrss / 1024:.1f} MiB of memory at most")
    if status != 0 or errors != expected or usage.ru_maxrss * 1024 > MEMORY:
        failures.append(f"a long list: {status} {errors[:1000]} {usage.ru_maxrss} KiB")


if os.name != "posix":
    skipped("coreutils: this is not a POSIX system")
genuine_programs = {program: genuine(program) for program in PROGRAMS}
if not all(genuine_programs.values()):
    missing = [program for program, path in genuine_programs.items() if path is None]
    skipped(f"coreutils 9.1 is missing: {' '.join(missing)}")

with tempfile.TemporaryDirectory() as path:
    for check in [
        check_summing, check_options, check_checking, check_each_other, check_random, check_letters, check_faults,
        check_streams, check_long_list,
    ]:  # fmt: skip
        folder = pathlib.Path(path) / check.__name__
        folder.mkdir()
        os.chmod(path, 0o755)
        write_files(folder)
        started, before = time.monotonic(), ncases
        check(folder)
        print(f"{check.__name__}: {ncases - before} cases, {time.monotonic() - started:.1f} s")

for line in failures[:200]:
    print(line)
nfailed = sum(not line.startswith("  ") for line in failures)
print(f"{ncases} cases, {nfailed} failures")
sys.exit(1 if failures else 0)
