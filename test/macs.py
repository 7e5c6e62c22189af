#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares hashloom digest and hashloom mac with Python's hashlib and hmac.

    python3 test/macs.py path/to/hashloom [--require] [--huge]

Every algorithm, keys of lengths around a block, files of lengths around blocks and chunks; standard input, a FIFO; the
key made from a passphrase typed on a terminal. The terminal is restored after any signal. No byte of the key stays in
memory while a file is read, and no core is dumped. --huge adds files just over 2 GiB and 4 GiB. Tests that are
impossible on this system are named and skipped; with --require that is a failure.
"""

import hashlib
import hmac
import os
import pathlib
import pty
import random
import resource
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time

import checks
from checks import equal

parser = checks.parser(__doc__)
parser.add_argument("--huge", action="store_true", help="files of more than 2 GiB and 4 GiB too")
arguments = parser.parse_args()
program, checks.is_required = arguments.hashloom.resolve(), arguments.require
# A key that others can read is refused.
os.umask(0o077)

SIZES = [0, 1, 55, 56, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 1000, 4095, 65535, 65537, (1 << 20) + 3]


def run(*words, **options):
    result = subprocess.run([program, *words], capture_output=True, **options)
    return result.returncode, result.stdout, result.stderr


# The names that mac -l lists, which are OpenSSL's too.
ALGORITHMS = [name.removesuffix("_hmac") for name in run("mac", "-l")[1].decode().split() if name.endswith("_hmac")]


def lines(algorithm, names, digests):
    return "".join(f"{algorithm} ({name}) = {digest}\n" for name, digest in zip(names, digests)).encode()


def prf(algorithm, key, message):
    return hmac.new(key, message, algorithm).hexdigest()


def every_length():
    generator = random.Random(2104)
    messages = [generator.randbytes(size) for size in SIZES]
    names = [f"{size}" for size in SIZES]
    for name, message in zip(names, messages):
        pathlib.Path(name).write_bytes(message)
    for algorithm in ALGORITHMS:
        expected = [hashlib.new(algorithm, message).hexdigest() for message in messages]
        found = run("digest", "-v", "-a", algorithm, *names)
        equal(f"digest -a {algorithm}", found, (0, lines(algorithm, names, expected), b""))
        for name, digest in zip(names, expected):
            # Alone, so that it does not share the lanes with other messages.
            equal(f"digest -a {algorithm} {name}", run("digest", "-a", algorithm, name),
                  (0, f"{digest}\n".encode(), b""))
        block = hashlib.new(algorithm).block_size
        for key_length in [1, 16, 20, block - 1, block, block + 1, 1000, 1 << 20]:
            key = generator.randbytes(key_length)
            pathlib.Path("key").write_bytes(key)
            expected = [prf(algorithm, key, message) for message in messages]
            words = ["mac", "-v", "-a", f"{algorithm}_hmac", "-k", "key"]
            found = run(*words, *names)
            equal(f"{algorithm}_hmac, a key of {key_length}", found,
                  (0, lines(f"{algorithm}_hmac", names, expected), b""))
            found = run(*words, input=messages[-1])
            equal(f"{algorithm}_hmac, stdin", found, (0, f"{algorithm}_hmac {expected[-1]}\n".encode(), b""))
    for length in [0, (1 << 20) + 1]:
        pathlib.Path("key").write_bytes(bytes(length))
        status, output, message = run("mac", "-a", "sha1_hmac", "-k", "key", names[0])
        equal(f"a key of {length}", (status, output), (1, b""))
        equal(f"a key of {length}", message.endswith(b"hashloom mac: invalid key.\n"), True)


def fifo():
    os.mkfifo("fifo")
    words = [program, "digest", "-a", "sha256", "fifo", "1000"]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as process:
        pathlib.Path("fifo").write_bytes(bytes(300_000))
        found = process.stdout.read()
    expected = [hashlib.sha256(bytes(300_000)).hexdigest(),
                hashlib.sha256(pathlib.Path("1000").read_bytes()).hexdigest()]
    equal("a FIFO", found, f"(fifo) = {expected[0]}\n(1000) = {expected[1]}\n".encode())


class Terminal:
    """`mac` that asks for a key on a terminal of its own."""

    def __init__(self, preexec=lambda: None):
        self.controller, self.terminal = pty.openpty()
        self.before = termios.tcgetattr(self.terminal)
        self.shown = b""

        def begin():
            # Opening the terminal makes it the controlling terminal of the new session.
            os.close(os.open(os.ttyname(self.terminal), os.O_RDWR))
            preexec()

        self.process = subprocess.Popen(
            [program, "mac", "-a", "sha256_hmac", "1000"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            preexec_fn=begin,
        )

    def until_asked(self, times=1):
        deadline = time.monotonic() + 30
        while self.shown.count(b"Enter key: ") < times:
            if not select.select([self.controller], [], [], max(0, deadline - time.monotonic()))[0]:
                return False
            self.shown += os.read(self.controller, 1000)
        return True

    def type(self, keys):
        os.write(self.controller, keys)

    def is_as_before(self):
        return termios.tcgetattr(self.terminal) == self.before

    def end(self):
        """Returns the exit status and output of `mac`, the text on the terminal, and whether the terminal is
        restored."""
        try:
            output, message = self.process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            output, message = self.process.communicate()
        while select.select([self.controller], [], [], 0)[0]:
            self.shown += os.read(self.controller, 1000)
        is_as_before = self.is_as_before()
        os.close(self.controller)
        os.close(self.terminal)
        return self.process.returncode, output, message, self.shown.replace(b"\r\n", b"\n"), is_as_before


def typed(keys):
    terminal = Terminal()
    terminal.until_asked()
    terminal.type(keys)
    return terminal.end()


def signals():
    """Whatever signal ends or stops `mac` at its prompt, the terminal's echo is restored."""
    # A caller such as nohup ignores this signal, and programs inherit that.
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    for number in [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGALRM, signal.SIGUSR1]:
        terminal = Terminal()
        terminal.until_asked()
        terminal.type(b"half a pass")
        equal(f"{number.name}: the terminal while a key is typed", terminal.is_as_before(), False)
        terminal.process.send_signal(number)
        equal(f"{number.name} at the prompt", terminal.end(), (-number, b"", b"", b"Enter key: \n", True))
    for key, number in [(b"\x03", signal.SIGINT), (b"\x1c", signal.SIGQUIT)]:
        equal(f"{number.name} typed", typed(b"secret" + key), (-number, b"", b"", b"Enter key: \n", True))
    # After a signal that does not end it, `mac` asks again: a signal that is ignored, as under nohup, and a stop.
    key = hashlib.pbkdf2_hmac("sha1", b"right", b"\x0a" * 16, 1000, 16)
    expected = f"{prf('sha256', key, pathlib.Path('1000').read_bytes())}\n"
    terminal = Terminal(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    terminal.until_asked()
    terminal.type(b"wrong")
    terminal.process.send_signal(signal.SIGHUP)
    equal("SIGHUP ignored: asked again", terminal.until_asked(2), True)
    terminal.type(b"right\n")
    equal("SIGHUP ignored", terminal.end(), (0, expected.encode(), b"", b"Enter key: \n" * 2, True))
    stopped("Ctrl-Z", lambda pid, controller: os.write(controller, b"\x1a"))
    stopped("SIGTSTP", lambda pid, controller: os.kill(pid, signal.SIGTSTP))


def stopped(what, stop):
    """Runs under a shell with job control: these signals do not stop a process that has none."""
    controller, tty = pty.openpty()
    # The process id goes through this pipe.
    reader, writer = os.pipe()
    before = termios.tcgetattr(tty)
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            os.close(os.open(os.ttyname(tty), os.O_RDWR))
            # This is the shell; mac is a process group of its own, in the foreground.
            signal.signal(signal.SIGTTOU, signal.SIG_IGN)
            with subprocess.Popen(
                [program, "mac", "-a", "sha256_hmac", "1000"], stdin=tty, stdout=subprocess.DEVNULL,
                preexec_fn=lambda: (os.setpgid(0, 0), os.tcsetpgrp(tty, os.getpid()),
                                    signal.signal(signal.SIGTTOU, signal.SIG_DFL)),
            ) as process:  # fmt: skip
                os.write(writer, b"%d\n" % process.pid)
                _, status = os.waitpid(process.pid, os.WUNTRACED)
                # Right: the signal itself has stopped the process, and the terminal is restored.
                is_right = os.WIFSTOPPED(status) and os.WSTOPSIG(status) == signal.SIGTSTP
                is_right &= termios.tcgetattr(tty) == before
                os.kill(process.pid, signal.SIGCONT)
                _, status = os.waitpid(process.pid, 0)
                os._exit(0 if is_right and status == 0 else 1)
        finally:
            os._exit(2)
    shown, pid = b"", int(os.read(reader, 20))
    for asked in [1, 2]:
        while shown.count(b"Enter key: ") < asked and select.select([controller], [], [], 60)[0]:
            shown += os.read(controller, 1000)
        equal(f"{what}: asked", shown.count(b"Enter key: "), asked)
        if shown.count(b"Enter key: ") < asked:
            os.kill(pid, signal.SIGKILL)  # what is typed before the prompt is lost, and mac would wait for ever
            break
        if asked == 1:
            os.write(controller, b"wrong")
            stop(pid, controller)
        else:
            os.write(controller, b"right\n")
    _, status = os.waitpid(child, 0)
    equal(f"stopped by {what} and continued", (status, termios.tcgetattr(tty) == before), (0, True))
    for file in [controller, tty, reader, writer]:
        os.close(file)


def passphrase():
    message = pathlib.Path("1000").read_bytes()
    for keys, text in [
        (b"correct horse\n", b"correct horse"),
        (b"correct hoax\x7f\x7frse\r", b"correct horse"),
        (b"all wrong\x15right\n", b"right"),
        ("pässword\n".encode(), "pässword".encode()),
        (b"x" * 1024 + b"\n", b"x" * 1024),
    ]:
        key = hashlib.pbkdf2_hmac("sha1", text, b"\x0a" * 16, 1000, 16)
        expected = (0, f"{prf('sha256', key, message)}\n".encode(), b"", b"Enter key: \n", True)
        equal(f"typed: {keys}", typed(keys), expected)
    invalid = b"hashloom mac: invalid passphrase.\n"
    found = typed(b"\n")
    equal("nothing typed", found,
          (1, b"", b"hashloom mac: expected a key, found an empty line\n" + invalid, b"Enter key: \n", True))
    status, output, errors, shown, echoes = typed(b"x" * 1025 + b"\n")
    equal("a long line", (status, output, errors.endswith(invalid), echoes), (1, b"", True, True))
    # No terminal.
    status, output, errors = run("mac", "-a", "sha256_hmac", "1000", start_new_session=True, stdin=subprocess.DEVNULL)
    equal("no terminal", (status, output), (1, b""))
    equal("no terminal", b"name a key file with -k\n" in errors and errors.endswith(invalid), True)


def memory():
    """While a message is read, no bytes of the key are in memory, neither plain nor padded."""
    if os.geteuid() != 0:
        return checks.skip("the key in memory: needs root, as mac makes its memory unreadable for others")
    key = random.Random(198).randbytes(48)
    pathlib.Path("key").write_bytes(key)
    words = [program, "mac", "-a", "sha256_hmac", "-k", "key"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        # More than a pipe holds: when the write returns, all bytes read are hashed, except the last of them.
        process.stdin.write(bytes(1 << 20))
        process.stdin.flush()
        marks = {
            name: bytes(byte ^ mask for byte in key[part])
            for name, mask in (("as it is", 0), ("inner pad", 0x36), ("outer pad", 0x5C))
            for part in [slice(0, 16)]
        }
        try:
            # An argument must be found in memory: this shows that the search works.
            is_there = False
            for place, content in checks.memory(process.pid):
                is_there |= b"sha256_hmac" in content
                for name, mark in marks.items():
                    equal(f"the key in memory {name}, {place}", content.find(mark), -1)
            equal("arguments in memory", is_there, True)
        except OSError as error:
            checks.skip(f"the memory of another process cannot be read: {error}")
        process.stdin.close()
        equal("after that", process.stdout.read(), f"{prf('sha256', key, bytes(1 << 20))}\n".encode())


def key_files():
    """While a command reads what is to be signed, no part of the text of its key is in memory. A key that signs later
    is there, but not as text."""
    if os.geteuid() != 0:
        return checks.skip("the text of keys in memory: needs root, as hashloom makes its memory unreadable for others")
    run("slh", "keygen", "pem", "-a", "SLH-DSA-SHA2-128f")
    pathlib.Path("raw").write_bytes(random.Random(7).randbytes(96).hex().encode())
    vectors = pathlib.Path(__file__).resolve().parent.parent / "vectors/minisign"
    pathlib.Path("minisign").write_bytes((vectors / "minisign.key").read_bytes())
    for key, *words in (
        ("raw", "mac", "-a", "sha256_hmac", "-k"),
        ("pem", "slh", "sign", "-", "-o", "signature", "-k"),
        ("pem", "manifest", "log", "add", "log", "-", "--new", "--sign"),
        ("minisign", "manifest", "log", "add", "log", "-", "--new", "--sign"),
    ):
        # The line with the secret, in pieces that no other text has.
        line = max(pathlib.Path(key).read_bytes().split(b"\n"), key=len)
        pieces = {line[at : at + 16] for at in range(0, len(line) - 15, 16)}
        public = (vectors / "minisign.pub").read_bytes()
        pieces = [piece for piece in pieces if len(set(piece)) > 4 and piece not in public]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        with subprocess.Popen([program, *words, key], **pipes) as process:
            # More than a pipe holds: when the write returns, the key has been read.
            process.stdin.write(bytes(1 << 20))
            process.stdin.flush()
            found = b"\0".join(content for _, content in checks.memory(process.pid))
            equal(f"{words[:3]}: arguments in memory", words[-1].encode() in found, True)
            equal(f"{words[:3]}: pieces of {key} in memory", [piece for piece in pieces if piece in found], [])
            process.kill()


def dumps():
    """A process that has a key dumps no core, whatever its limit, and its user cannot read its memory."""
    pathlib.Path("key").write_bytes(b"Jefe")
    words = [program, "mac", "-a", "sha256_hmac", "-k", "key"]
    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    limit = unlimited if os.getuid() == 0 else (limits[1], limits[1])
    begin = lambda: resource.setrlimit(resource.RLIMIT_CORE, limit)  # noqa: E731
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=begin) as process:
        # More than a pipe holds: when the write returns, the key has been read.
        process.stdin.write(bytes(1 << 20))
        process.stdin.flush()
        found = [line.split() for line in open(f"/proc/{process.pid}/limits") if line.startswith("Max core file size")]
        equal("the limit of cores", [line[4:6] for line in found], [["0", "0"]])
        # A process whose files in /proc belong to root dumps no core; run by root, all files belong to root.
        if os.getuid() != 0:
            equal("the owner of /proc/PID/mem", os.stat(f"/proc/{process.pid}/mem").st_uid, 0)
        process.send_signal(signal.SIGABRT)
        _, status = os.waitpid(process.pid, 0)
        equal("killed by SIGABRT", (os.WTERMSIG(status), os.WCOREDUMP(status)), (signal.SIGABRT, False))


def huge():
    pathlib.Path("key").write_bytes(b"Jefe")
    for size in ((1 << 31) + 1, (1 << 32) + 1):
        with open("huge", "wb") as file:
            file.truncate(size - 1)
            file.seek(size - 1)
            file.write(b"x")
        digest, code = hashlib.sha256(), hmac.new(b"Jefe", digestmod="sha1")
        zeros = bytes(1 << 24)
        for _ in range((size - 1) // len(zeros)):
            digest.update(zeros)
            code.update(zeros)
        digest.update(b"x")
        code.update(b"x")
        equal(f"digest of {size} bytes", run("digest", "-a", "sha256", "huge"),
              (0, f"{digest.hexdigest()}\n".encode(), b""))
        found = run("mac", "-a", "sha1_hmac", "-k", "key", "huge")
        equal(f"mac of {size} bytes", found, (0, f"{code.hexdigest()}\n".encode(), b""))
        with open("huge", "rb") as file:
            found = run("digest", "-a", "sha256", stdin=file)
        equal(f"stdin of {size} bytes", found, (0, f"{digest.hexdigest()}\n".encode(), b""))


missing = [name for name in ALGORITHMS if name not in hashlib.algorithms_available]
if set(missing) - {"keccak_256"}:  # no version has this one
    checks.skip(f"Python's hashlib lacks {', '.join(missing)}")
ALGORITHMS = [name for name in ALGORITHMS if name not in missing]
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    parts = [every_length, fifo, passphrase, signals]
    if sys.platform == "linux":
        parts += [memory, key_files, dumps]
    else:
        checks.skip("only on Linux can the memory of another process be read")
    if arguments.huge:
        parts.append(huge)
    for part in parts:
        part()
    os.chdir("/")
sys.exit(checks.end())
