#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares hashloom called md5sum, sha256sum, cksum, shasum and so on with the programs of these names.

    python3 test/coreutils.py path/to/hashloom [--require] [--all] [--lists N] [--lines N] [--only CHECK...]

Both run every case with the same name, folder, locale and input. Standard output, standard error, both of them in one
pipe, and the exit status must be the same, byte by byte. The cases: a table of options and of odd names, lists written
by one and checked by the other, N (200) random lists from a fixed seed, faults, standard streams that are closed or
cannot be used, and a list of N (300,000) lines, for which hashloom may take 64 MiB of memory. What coreutils 9.1
lacks of cksum is compared with zlib and hashlib, as the programs of BSD. Of the compared cases a third runs, by
HASHLOOM_SEED; with --all each.

Known differences, not compared: the words of --help and --version, and the reason why /dev/stdin cannot be opened if
standard input is closed. The behaviour of coreutils 9.1 is the reference. If that version is missing, nothing can be
compared; this is named as SKIPPED, and with --require is a failure.
"""

import base64
import hashlib
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import zlib

import checks
from checks import check, equal as expect

PROGRAMS = ["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"]
LOCALES = ["C", "C.UTF-8"]
VERSION = b"(GNU coreutils) 9.1\n"
# The programs of perl's modules, and b3sum, with what --version says.
OTHERS = {"shasum": b"6.02\n", "sha3sum": b"1.05\n", "b3sum": b"b3sum 1.2.0\n"}
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

parser = checks.parser(__doc__)
parser.add_argument("--lists", type=int, default=200, help="random lists")
parser.add_argument("--lines", type=int, default=300_000, help="lines of the long list")
parser.add_argument("--all", action="store_true", help="every case, not a third of those that are compared")
parser.add_argument("--only", nargs="+", default=[], metavar="CHECK", help="only these checks, such as check_cksum")
arguments = parser.parse_args()
hashloom, checks.is_required = checks.for_all_users(arguments.hashloom.resolve()), arguments.require

sample = random.Random(os.environ.get("HASHLOOM_SEED", "1"))


def is_chosen():
    return arguments.all or sample.random() < 1 / 3


def genuine(program):
    """Returns the path of the genuine program, or None."""
    path = shutil.which(program)
    if path is None:
        return None
    version = subprocess.run([path, "--version"], capture_output=True, env={"LC_ALL": "C"}).stdout
    return path if OTHERS.get(program, VERSION) in version else None


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


def shown(found):
    """What the genuine program and hashloom did, for a failure."""
    return f"  genuine:  {found[0]}\n  hashloom: {found[1]}"


def same(program, options, folder, locale="C", stdin=b"", extra=None, preexec=None):
    """Returns True if both programs do the same, or if the case is not in the sample."""
    if not is_chosen():
        return True
    for merged in [False, True]:
        found = [
            run(executable, program, options, folder, locale, stdin, merged, extra or {}, preexec)
            for executable in [genuine_programs[program], hashloom]
        ]
        name = f"{program} {' '.join(map(str, options))} (LC_ALL={locale}, {stdin[:200]!r}, merged={merged})"
        check(name, found[0] == found[1], shown(found))
        if found[0] != found[1] or not found[0][2]: # only messages could change the order
            return found[0] == found[1]
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
        is_right = (status, errors) == (0, b"") and out.startswith((b"Usage: sha384sum ", b"sha384sum (hashloom) "))
        check(f"sha384sum {option}: {status} {out} {errors}", is_right)


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
        for program in PROGRAMS[:-1]:  # b2sum's reads digests of any length
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
    for program in PROGRAMS:
        for options in [[], ["-b"], ["--tag"]]:
            for writer, reader in itertools.permutations([genuine_programs[program], hashloom]):
                arguments = [*options, *operands()]
                _, text, _ = run(writer, program, arguments, folder, "C", b"", False, {})
                status, out, errors = run(reader, program, ["-c", "--strict"], folder, "C", text, False, {})
                check(f"{program} {options}: {writer}, checked by {reader}: {status} {out} {errors}",
                      (status, errors, out.count(b": OK\n")) == (0, b"", len(NAMES)))


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
    points = [*range(0xA0, 0x3000, 7), *range(0x2000, 0x2070), *range(0xE000, 0x10000, 37), 0x1F600, 0xE0001, 0x10FFFF]
    names = [f"no{chr(point)}" for point in points if not 0xD800 <= point < 0xE000]
    found = [
        run(executable, "sha1sum", names, folder, "C.UTF-8", b"", False, {})[2].splitlines()
        for executable in [genuine_programs["sha1sum"], hashloom]
    ]
    ndifferent = sum(one != other for one, other in zip(*found))
    check(f"characters in messages: {ndifferent} of {len(names)} differ",
          len(found[0]) == len(found[1]) and ndifferent <= len(names) // 100)


def check_faults(folder):
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
            found = []
            for executable in [genuine_programs["sha1sum"], hashloom]:
                with open("/dev/full", "w") as full:
                    done = subprocess.run(
                        ["sha1sum", *options], executable=executable, cwd=folder, env={"LC_ALL": "C"}, stdout=full,
                        stderr=subprocess.PIPE,
                    )  # fmt: skip
                found.append((done.returncode, done.stderr))
            check(f"sha1sum {options} > /dev/full: {found}", found[0] == found[1])
    # The reader of the pipe has gone: a shell sees the same of both.
    script = f'exec 3>&1; {{ (exec -a sha1sum "$0" "$@"); echo $? >&3; }} 2>&1 | sleep 0.2 >/dev/null'
    many = ["a"] * 20000
    found = [
        subprocess.run(["bash", "-c", script, executable, *many], cwd=folder, capture_output=True).stdout
        for executable in [genuine_programs["sha1sum"], hashloom]
    ]
    check(f"sha1sum to a closed pipe: {found}", found[0] == found[1])
    # An interrupted program is ended by the signal, and its output has only whole lines.
    for program in PROGRAMS[:1]:
        process = subprocess.Popen(
            [program, "a", "empty", "/dev/zero"], executable=hashloom, cwd=folder, stdout=subprocess.PIPE,
        )  # fmt: skip
        # The lines come before the end, however busy the machine is.
        guard = threading.Timer(60, process.kill)
        guard.start()
        out = process.stdout.readline() + process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out += process.communicate()[0]
        guard.cancel()
        check(f"{program}, interrupted: {process.returncode} {out}",
              (process.returncode, out.count(b"\n")) == (-signal.SIGINT, 2) and out.endswith(b"  empty\n"))
    # Called by its name, through a link, in PATH.
    links = folder / "links"
    links.mkdir()
    (links / "sha224sum").symlink_to(hashloom)
    done = subprocess.run(["sha224sum", "a"], cwd=folder, env={"PATH": str(links)}, capture_output=True)
    check(f"sha224sum through a link: {done}", done.stdout == digest("sha224sum", content(b"a")) + b"  a\n")


def check_streams(folder):
    """Standard input, output and error that are closed, open in the wrong direction, or full."""
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
        if not is_chosen():
            continue
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
        check(f"sha1sum {command} {stream}", theirs == ours or is_shorter, shown(found))
    # The name of a closed stream: the reason differs.
    for stream in ["<&-", "<&- >&-"]:
        script = f'exec -a sha1sum "$0" /dev/stdin {stream}'
        done = subprocess.run(["bash", "-c", script, hashloom], cwd=folder, capture_output=True)
        check(f"sha1sum /dev/stdin {stream}: {done}",
              (done.returncode, done.stdout) == (1, b"") and done.stderr.startswith(b"sha1sum: /dev/stdin: "))


def check_long_list(folder):
    """Checks that memory does not depend on the length of a list."""
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
    check(f"a long list: {status} {errors[:1000]} {usage.ru_maxrss} KiB",
          (status, errors) == (0, expected) and usage.ru_maxrss * 1024 <= MEMORY)


def check_cksum(folder):
    """What cksum of coreutils 9.1 has already."""
    formats = ["--untagged", "-z", "--tag", "--untagged -z"]
    kinds = ["bsd", "sysv", "crc", "md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "sm3"]
    for size in [0, 1, 511, 512, 513, 1023, 1024, 1025, 131071, 131072, 131073, 500000]:
        (folder / f"size {size}").write_bytes(random.Random(size).randbytes(size))
    sizes = [path.name for path in folder.iterdir() if path.name.startswith("size ")]
    for kind in [*(["-a", kind] for kind in kinds), []]:
        same("cksum", [*kind, *sizes], folder)
        same("cksum", kind, folder, stdin=b"abc")
        same("cksum", [*kind, "-"], folder, stdin=b"abc")
        # 9.1 prints a CRC of a folder.
        same("cksum", [*kind, "a", "missing", *(["folder"] if kind[1:] > ["crc"] else []), "-"], folder, stdin=b"abc")
        same("cksum", [*kind, *operands()], folder, "C.UTF-8")
    for kind, options in itertools.product(["bsd", "crc", "sha1"], formats):
        same("cksum", ["-a", kind, *options.split(), "a", "back\\slash"], folder)
    for options in [
        ["-z", "-c"], ["-w"], ["--quiet"],
        ["--length=8", "-a", "md5"], ["-x"], ["--nonsense"], ["--un"], ["-a"], ["--algorithm"], ["--strict=x"],
        ["--length"], ["-l"], ["a", "--st"], ["--ta", "-a", "md5", "a"], ["--untag", "-amd5", "a"],
    ]:  # fmt: skip
        theirs, ours = (
            run(program, "cksum", options, folder, "C", b"", False, {})
            for program in [genuine_programs["cksum"], hashloom]
        )
        # The names of algorithms differ.
        most = 2 if "-l" in "".join(options) else 3
        check(f"cksum {options}: {theirs} {ours}", theirs[:most] == ours[:most])
    for name, text in lists():
        if name in [b"tags", b"other tags"]:
            continue  # 9.1 takes two blanks and some letters after a tag for part of it.
        (folder / "list").write_bytes(text)
        for options in [["-c"], ["-cw"], ["-c", "--strict"], ["-c", "--ignore-missing", "--quiet"]]:
            same("cksum", [*options, "-a", "sha256", "list"], folder)
            # 9.1 takes the tag of a line without the one before it for a checksum of nothing.
            if b"SHA" not in text or name == b"tagged names":
                theirs, ours = (
                    run(program, "cksum", [*options, "list"], folder, "C", b"", False, {})
                    for program in [genuine_programs["cksum"], hashloom]
                )
                check(f"cksum {options} {name}: {theirs} {ours}", theirs[:2] == ours[:2])


def cksum(*options, folder, stdin=b""):
    return run(hashloom, "cksum", options, folder, "C", stdin, False, {})


def check_newer_cksum(folder):
    """What cksum has only since coreutils 9.2."""
    data = random.Random(1).randbytes(300000)
    (folder / "f").write_bytes(data)
    hashes = {"md5": [], "sha1": [], "sha2": [224, 256, 384, 512], "sha3": [224, 256, 384, 512]}
    for kind, lengths in hashes.items():
        for length in lengths or [None]:
            name = {"sha2": f"sha{length}", "sha3": f"sha3_{length}"}.get(kind, kind)
            digest = hashlib.new(name, data).digest()
            tag = name.upper().replace("_", "-").encode()
            options = ["-a", kind, *([f"-l{length}"] if length else []), "f"]
            text = base64.b64encode(digest)
            for more, shown in [([], digest.hex().encode()), (["--base64"], text)]:
                tagged, untagged = tag + b" (f) = " + shown + b"\n", shown + b"  f\n"
                expect(f"cksum {options} {more}", cksum(*options, *more, folder=folder), (0, tagged, b""))
                found = cksum(*options, *more, "--untagged", folder=folder)
                expect(f"cksum {options} {more} --untagged", found, (0, untagged, b""))
                for line, given in [(tagged, []), (tagged, ["-a", kind]), (untagged, ["-a", kind])]:
                    found = cksum("-c", "--strict", *given, folder=folder, stdin=line)
                    expect(f"cksum -c {given} {line}", found, (0, b"f: OK\n", b""))
                other = "sha1" if kind == "md5" else "md5"
                for line in [tagged, untagged]:
                    found = cksum("-c", "-a", other, folder=folder, stdin=line)
                    error = b"cksum: 'standard input': no properly formatted checksum lines found\n"
                    expect(f"cksum -c -a {other} {line}", found, (1, b"", error))
                error = b"cksum: 'standard input': no properly formatted checksum lines found\n"
                expect(f"cksum -c {untagged}", cksum("-c", folder=folder, stdin=untagged), (1, b"", error))
            expect(f"cksum {options} --raw", cksum(*options, "--raw", folder=folder), (0, digest, b""))
    crc = zlib.crc32(data)
    expect("crc32b", cksum("-a", "crc32b", "f", folder=folder), (0, b"%d 300000 f\n" % crc, b""))
    expect("crc32b --raw", cksum("-a", "crc32b", "--raw", "f", folder=folder), (0, crc.to_bytes(4, "big"), b""))
    for options, part in [
        (["-a", "sm4"], b"hashloom has bsd, sysv, crc, crc32b, md5,"),
        (["-a", "blake2b", "-l", "12"], b"not a multiple of 8"),
        (["-a", "blake2b", "-l", "160"], b"hashloom has digests of 256 and 512 bits"),
        (["-a", "blake2b", "-l", "520"], b"maximum digest length for 'BLAKE2b' is 512 bits"),
        (["-a", "sha22"], b"invalid argument 'sha22' for '--algorithm'"),
        (["-a", "sha3"], b"requires specifying --length"),
        (["-a", "sha2", "-l", "255"], b"invalid length: '255'\ncksum: digest length for 'SHA2' must be 224, 256, 384"),
        (["-a", "sha3", "-l", "99999999999999999999999"], b"invalid length: '99999999999999999999999'\n"),
        (["-a", "md5", "-l", "128"], b"--length is only supported with"), (["-l", "x"], b"invalid length: 'x'"),
        (["--raw", "f", "f"], b"--raw option is not supported with multiple files"),
        (["--raw", "--base64"], b"are mutually exclusive"), (["-t", "-a", "md5"], b"--text mode is only supported"),
    ]:  # fmt: skip
        status, out, error = cksum(*options, folder=folder)
        check(f"cksum {options}: {status} {out} {error}", (status, out) == (1, b"") and part in error)


def perl_lists(digest_of, tags):
    """Lists of shasum or sha3sum: digest_of gives digests of contents, tags pair a tag with a name in hashlib."""
    a, missing = digest_of(content(b"a")), digest_of(b"x")
    yield b"".join(a + b" " + mark + b"a\n" for mark in [b" ", b"*", b"U", b"^", b"x", b""])
    yield a.upper() + b"\t a\n  " + a + b"  a\n\\" + digest_of(content(b"back\\slash")) + b"  back\\\\slash\n"
    yield missing + b"  a\n" + a + b"  missing\nbad\n#comment\n\n" + a + b"  a\n"
    yield b"".join(b"%s (a) = %s\n" % (tag, hashlib.new(name, content(b"a")).hexdigest().encode())
                   for tag, name in tags)
    yield tags[0][0] + b" (a) = 00\n" + tags[0][0] + b"(a)= " + a + b"\n" + tags[0][0] + b" (x) = y) = " + a + b" z\n"
    yield b"bad\n"
    yield b""
    yield b"MD5 (a) = " + hashlib.md5(content(b"a")).hexdigest().encode() + b"\n" + a + b"  a\n"
    yield a + b"  missing\n"
    yield a + b"  cr\rcr\n" + digest_of(content(b"trailing\r")) + b"  trailing\r\n"


def check_perl(program, folder, numbers, bad, name, tags):
    texts = {
        "unix": b"a\nb\n", "dos": b"a\r\nb\r\n", "mac": b"a\rb\r", "mixed": b"\r\r\n\n\r", "cr": b"\r",
        "nul": b"a\0\r\n", "odd": b"\x01\x02\r\n" * 9, "utf8": "é\r\n\0".encode(), "cut": "é".encode() * 300 + b"\r\n",
        "latin": b"\xe9" * 9 + b"abc\r\n" * 9,
        "long": b"x\r\n" * 60000, "bits": b"0110 0001\n", "words": b"zero 0 one 1" * 400000,
        "third": b"\x01\x02\x03abcdef\r",
    }  # fmt: skip
    for key, text in texts.items():
        (folder / key).write_bytes(text)
    names = list(texts)
    for number in [None, *numbers]:
        chosen = ["-a", number] if number else []
        same(program, [*chosen, "a", "empty", "missing", "folder", "-"], folder, stdin=b"abc")
        same(program, [*chosen, "--tag", *names], folder)
        same(program, [*chosen, "-U", *names], folder)
        same(program, [*chosen, "-b"], folder, stdin=b"abc")
    for options in [["--"], ["-b", "--"], ["--tag", "--"]]:
        same(program, [*options, *NAMES], folder)
    same(program, ["-0", "empty", "bits", "words"], folder)
    same(program, ["--01", "-"], folder, stdin=b"01000001" * 5000)
    status, out, error = run(hashloom, program, ["-0", "bits", "-"], folder, "C", b"0110", False, {})
    check(f"{program} -0 of half a byte: {status} {out} {error}",
          status == 1 and out.count(b"\n") == 1 and b"hashes whole bytes only" in error)
    for options in [
        ["-x"], ["--nonsense"], ["-a"], ["-a", "x"], ["-a", bad], ["-b", "-t"], ["-w"], ["--quiet", "a"], ["-s"],
        ["--strict"],
        ["--tag", "-t"], ["--tag", "-0"], ["--tag", "-U"], ["--ignore-missing"], ["--che=x"], ["--st", "-c"], ["-ax"],
    ]:  # fmt: skip
        theirs, ours = (
            run(each, program, options, folder, "C", b"", False, {}) for each in [genuine_programs[program], hashloom]
        )
        # One error is told, after the name of the program.
        check(f"{program} {options}: {theirs} {ours}",
              theirs[:2] == ours[:2] and ours[2].splitlines()[-1:] == theirs[2].splitlines()[-1:])
    for options in [["--UNI", "dos"], ["-a256", "a"], ["--algo=256", "a"], ["--bin", "--ta", "a"], ["a", "-b"],
                    ["-bb", "a"]]:
        same(program, options, folder)
    digest_of = lambda data: hashlib.new(name, data).hexdigest().encode()
    modes = digest_of(b"a\nb\n") + b" Udos\n" + digest_of(b"a") + b" ^bits\n" + digest_of(b"a") + b" Umissing\n"
    for text in [*perl_lists(digest_of, tags), modes]:
        (folder / "list").write_bytes(text)
        for options in [
            ["-c"], ["-cw"], ["-c", "-q"], ["-cs"], ["-c", "--strict"], ["-c", "--ignore-missing"], ["-cwqs"],
            ["-c", "--ignore-missing", "-s"], ["-c", "-a", numbers[-1]],
        ]:  # fmt: skip
            same(program, [*options, "list"], folder)
        same(program, ["-c"], folder, stdin=text)

    junk = [b" ", b"*", b"U", b"^", b"\t", b"\\", b"(", b") = ", b"0", b"#", b"\xff", tags[0][0]]
    for seed in range(arguments.lists // 10):
        source = random.Random(seed)
        lines = b"".join([*perl_lists(digest_of, tags), modes]).splitlines()
        for number in source.sample(range(len(lines)), 9):
            place = source.randrange(len(lines[number]) + 1)
            kept = source.randrange(2)
            lines[number] = lines[number][:place] + source.choice(junk) + lines[number][place + kept :]
        found = [
            run(each, program, ["-cw"], folder, "C", b"\n".join(lines), False, {})
            for each in [genuine_programs[program], hashloom]
        ]
        # A message may quote the name of a file.
        check(f"{program} -cw {lines}", found[0][:2] == found[1][:2], shown(found))
    # The escaped name of a verdict cannot pass for a line of its own.
    line = b"\\" + digest_of(content(b"new\nline")) + b"  new\\nline\n"
    expect(f"{program} -c", run(hashloom, program, ["-c"], folder, "C", line, False, {}),
           (0, b"\\new\\nline: OK\n", b""))


def check_shasum(folder):
    numbers = ["1", "224", "256", "384", "512", "512224", "512256"]
    tags = [(b"SHA1", "sha1"), (b"SHA256", "sha256"), (b"SHA512/224", "sha512_224"), (b"SHA512256", "sha512_256")]
    check_perl("shasum", folder, numbers, "2", "sha1", tags)


def check_sha3sum(folder):
    numbers = ["224", "256", "384", "512"]
    tags = [(f"SHA3-{number}".encode(), f"sha3_{number}") for number in numbers]
    check_perl("sha3sum", folder, numbers, "1", "sha3_224", tags)
    status, out, error = run(hashloom, "sha3sum", ["-a", "128000", "a"], folder, "C", b"", False, {})
    check(f"sha3sum -a 128000: {status} {out} {error}", (status, out) == (1, b"") and b"shake128" in error)
    busybox = shutil.which("busybox")
    if busybox is None:
        return checks.skip("coreutils: busybox is missing: its sha3sum")
    for number in numbers:
        found = run(hashloom, "sha3sum", ["-a", number, *sorted(os.listdir(folder))[:20]], folder, "C", b"", False, {})
        theirs = run(busybox, "busybox", ["sha3sum", "-a", number, *sorted(os.listdir(folder))[:20]], folder, "C", b"",
                     False, {})
        expect(f"busybox sha3sum -a {number}", found[1], theirs[1])


def check_bsd(folder):
    """The programs of BSD, by hashlib."""
    names = {"md5": "MD5", "sha1": "SHA1", "sha224": "SHA224", "sha256": "SHA256", "sha384": "SHA384",
             "sha512": "SHA512",
             "sha512t224": "SHA512t224", "sha512t256": "SHA512t256", "rmd160": "RMD160"}  # fmt: skip
    # Some builds of OpenSSL lack it.
    known = {"rmd160": "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"}
    (folder / "abc").write_bytes(b"abc")
    for program, tag in names.items():
        digest = known.get(program) or hashlib.new(program.replace("t2", "_2"), b"abc").hexdigest()
        wrong = "0" * len(digest)
        for options, stdin, status, expected in [
            (["abc"], "", 0, f"{tag} (abc) = {digest}\n"), (["-r", "abc"], "", 0, f"{digest} abc\n"),
            (["-q", "abc", "abc"], "", 0, f"{digest}\n{digest}\n"), (["-qr", "abc"], "", 0, f"{digest}\n"),
            (["-b", "--reverse", "abc"], "", 0, f"{digest} abc\n"),
            (["-s", "abc"], "", 0, f'{tag} ("abc") = {digest}\n'),
            (["-sabc", "-r"], "", 0, f'{digest} "abc"\n'), (["--string=abc", "-q"], "", 0, f"{digest}\n"),
            ([], "abc", 0, f"{digest}\n"), (["-r"], "abc", 0, f"{digest}\n"),
            (["-"], "abc", 0, f"{tag} (-) = {digest}\n"),
            (["-p"], "abc", 0, f"abc{digest}\n"), (["-c", digest, "abc"], "", 0, f"{tag} (abc) = {digest}\n"),
            (["-c", digest.upper(), "abc"], "", 0, f"{tag} (abc) = {digest}\n"),
            (["-c", wrong, "abc"], "", 2, f"{tag} (abc) = {digest} [ Failed ]\n"),
            (["-rc", wrong, "abc"], "", 2, f"{digest} abc [ Failed ]\n"), (["-qc", wrong, "abc"], "", 2, f"{digest}\n"),
            (["-c", wrong], "abc", 2, f"{digest} [ Failed ]\n"), (["-c", digest[:-1], "-s", "abc"], "", 2,
             f'{tag} ("abc") = {digest} [ Failed ]\n'), (["missing", "abc"], "", 1, f"{tag} (abc) = {digest}\n"),
            (["-c", wrong, "abc", "missing"], "", 1, f"{tag} (abc) = {digest} [ Failed ]\n"),
            (["-t"], "", 1, ""), (["-x"], "", 1, ""), (["-y"], "", 1, ""), (["-c"], "", 1, ""), (["-s"], "", 1, ""),
        ]:  # fmt: skip
            found = run(hashloom, program, options, folder, "C", stdin.encode(), False, {})
            expect(f"{program} {options}", found[:2], (status, expected.encode()))
            check(f"{program} {options}: {found[2]}", (status == 1) == bool(found[2]))
    found = run(hashloom, "md5", [b"new\nline"], folder, "C", b"", False, {})
    expected = b"MD5 (new\nline) = " + hashlib.md5(content(b"new\nline")).hexdigest().encode() + b"\n"
    expect("md5 of a name with a line feed", found[:2], (0, expected))
    big = random.Random(2).randbytes(1 << 20)
    found = run(hashloom, "sha256", ["-p"], folder, "C", big, False, {})
    expect("sha256 -p", found[1] == big + hashlib.sha256(big).hexdigest().encode() + b"\n", True)


def check_b3sum(folder):
    """b3sum of BLAKE3's authors: the status and the standard output. Messages have other words."""
    genuine = genuine_programs["b3sum"]

    def both(options, stdin=b""):
        found = [run(it, "b3sum", options, folder, "C.UTF-8", stdin, False, {}) for it in (genuine, hashloom)]
        what = f"b3sum {options} {stdin[:100]}"
        check(what, found[0][:2] == found[1][:2] and bool(found[0][2]) == bool(found[1][2]), shown(found))
        return found[0][1]

    key, names = bytes(range(32)), [name for name in NAMES if name.isascii() or b"\xc3\xa9" in name]
    big = folder / "big"
    big.write_bytes(random.Random(3).randbytes((5 << 20) + 12345))
    for options in [[], ["--no-names"], ["-l", "5"], ["--length=32"], ["-l0"], ["--derive-key", "a context"],
                    ["--derive-key="], ["--num-threads", "2"], ["--num-threads=0", "--no-mmap"]]:  # fmt: skip
        both(options, b"abc")
        both([*options, "-", "big", "a", "missing", "folder", "empty"], b"abc")
        both([*options, "--", *names])
    for options, stdin in [(["--keyed", "a", "big"], key), (["--keyed", "a"], key[:31]), (["--keyed", "a"], key + b"x"),
                           (["--keyed"], key), (["--raw", "big"], b""), (["--raw", "-l", "7"], b"abc"),
                           (["--raw", "a", "big"], b""),
                           (["--keyed", "--derive-key", "x", "a"], key), (["--quiet", "a"], b""), (["-l", "x"], b""),
                           (["--num-threads", "x", "a"], b""), (["--zero"], b"")]:  # fmt: skip
        both(options, stdin)
    for option in [["-l", "3"], ["--raw"], ["--no-names"], ["--keyed"], ["--derive-key", "x"]]:
        both(["-c", *option, "a"], key)
    listed = both(["--", *names])
    a = both(["--no-names", "a"]).strip()
    for text in [listed, b"", b"\n", a + b"  a", a + b"  a\n\n", a + b" a\n", a.upper() + b"  a\n", a[1:] + b"  a\n",
                 a + b"0  a\n", a + b"  \n", a + b" *a\n", b"\\" + a + b"  a\n", b"\\" + a + b"  back\\x\n",
                 b"\\" + a + b"  back\\\\slash\n",
                 a + b"  a\0b\n", a + b"  folder\n" + a + b"  a\n" + a + b"  missing\nbad\n" + a + b"  big",
                 a + b"  -\n"]:  # fmt: skip
        (folder / "list").write_bytes(text)
        for options in [["-c"], ["--check", "--quiet"]]:
            both([*options, "list"])
            both(options, text)
    tagged = run(hashloom, "b3sum", ["--tag", "--", *NAMES], folder, "C", b"", False, {})
    (folder / "list").write_bytes(tagged[1])
    found = run(hashloom, "b3sum", ["-c", "--quiet", "list"], folder, "C", b"", False, {})
    expect("b3sum --tag, and --check", (tagged[0], tagged[1].count(b"BLAKE3 ("), found), (0, len(NAMES), (0, b"", b"")))
    for options in [["-l", "33", "a"], ["--tag", "--raw", "a"]]:
        status, out, errors = run(hashloom, "b3sum", options, folder, "C", b"", False, {})
        check(f"b3sum {options}: {status} {out} {errors}", (status, out) == (1, b"") and errors)


def check_names(folder):
    """Every name prints its help and its version, and names itself."""
    for program in [*PROGRAMS, "b3sum", "cksum", "shasum", "sha3sum", "md5", "sha512t256"]:
        for option, start in [("--help", f"Usage: {program} "), ("--version", f"{program} (hashloom) ")]:
            status, out, errors = run(hashloom, program, [option], folder, "C", b"", False, {})
            is_right = (status, errors) == (0, b"") and out.startswith(start.encode())
            check(f"{program} {option}: {status} {out} {errors}", is_right)


genuine_programs = {program: genuine(program) for program in [*PROGRAMS, "cksum", *OTHERS]}
CHECKS = [
    (["md5sum", "cksum"], "coreutils 9.1", [
        check_summing, check_options, check_checking, check_each_other, check_random, check_letters, check_faults,
        check_streams, check_long_list, check_cksum,
    ]),
    (["shasum"], "Digest::SHA 6.02 of perl", [check_shasum]),
    (["b3sum"], "b3sum 1.2.0", [check_b3sum]),
    (["sha3sum"], "Digest::SHA3 1.05 of perl", [check_sha3sum]),
    ([], "", [check_newer_cksum, check_bsd, check_names]),
]  # fmt: skip
for programs, package, parts in CHECKS:
    for part in parts:
        if arguments.only and part.__name__ not in arguments.only:
            continue
        if not all(genuine_programs[program] for program in programs):
            checks.skip(f"coreutils: {package} is missing: {part.__name__}")
            continue

        def with_files(folder, part=part):
            write_files(folder)
            part(folder)

        with_files.__name__ = part.__name__
        checks.run_part(with_files)
sys.exit(checks.end())
