# SPDX-License-Identifier: MIT OR Apache-2.0
"""Threads at one object: a result that some order of the calls gives, or a clear error. Most of all for free-threaded
Python, where nothing else keeps the threads apart."""

import hashlib
import hmac
import subprocess
import sys
import sysconfig
import threading

import pytest

import pyhashloom
import pyhashloom.tree

NTHREADS = 8


def hammer(*functions):
    """Runs each function on a share of the threads, all begun at once. Raises the first error of any."""
    barrier, errors = threading.Barrier(NTHREADS), []

    def run(function):
        barrier.wait()
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(functions[i % len(functions)],)) for i in range(NTHREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="this Python has an interpreter lock")
def test_the_interpreter_lock_stays_off():
    program = "import sys, hashloom, pyhashloom.torrent, pyhashloom.tree; sys.exit(sys._is_gil_enabled())"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True)


# Below and above the length from which on the lock is released.
@pytest.mark.parametrize("nbytes", [1, 200, 5_000])
@pytest.mark.parametrize("new, theirs", [
    (pyhashloom.sha256, hashlib.sha256),
    (lambda: pyhashloom.hmac.new(b"key", b"", "sha1"), lambda: hmac.new(b"key", b"", "sha1")),
], ids=["hash", "hmac"])
def test_one_object(new, theirs, nbytes):
    part, count = b"x" * nbytes, 60
    prefixes, expected = set(), theirs()
    for _ in range(NTHREADS * count + 1):
        prefixes.add(expected.digest())
        expected.update(part)
    ours, seen = new(), []

    def update():
        for i in range(count):
            ours.update(part)
            seen.append(ours.digest() if i % 3 else bytes.fromhex(ours.copy().hexdigest()))

    hammer(update)
    assert set(seen) <= prefixes
    want = theirs()
    want.update(part * (NTHREADS * count))
    assert ours.digest() == want.digest()


def test_one_buffer_that_is_written_to():
    """The digest is of some mixture, and the call ends well."""
    buffer = bytearray(50_000)

    def write():
        for i in range(3_000):
            buffer[i * 16 % 50_000] = i & 255

    def read():
        for _ in range(100):
            assert len(pyhashloom.sha256(buffer).digest()) == 32
            assert len(pyhashloom.rows("sha1", buffer, 50)) == 1_000
            assert len(pyhashloom.many("sha1", [buffer] * 5)) == 5

    hammer(read, write)


def test_one_buffer_that_is_resized():
    buffer, wanted = bytearray(3_000), {hashlib.sha256(bytes(n)).digest() for n in (3_000, 4_000)}

    def resize():
        for _ in range(500):
            try:
                buffer.extend(bytes(1_000))
                del buffer[3_000:]
            except BufferError:  # while another thread hashes it
                pass

    def read():
        for _ in range(500):
            assert len(pyhashloom.sha256(buffer).digest()) == 32

    hammer(read, resize)
    del buffer[3_000:]
    assert pyhashloom.sha256(buffer).digest() in wanted


def test_one_list_that_changes():
    messages = [b"%d" % (i % 100) for i in range(5_000)]
    wanted = {hashlib.sha256(b"%d" % i).digest() for i in range(100)}

    def change():
        for _ in range(100):
            del messages[len(messages) // 2 :]
            messages.extend(b"%d" % (i % 100) for i in range(1_000))

    def read():
        for _ in range(20):
            assert set(pyhashloom.many("sha256", messages)) <= wanted
            assert set(pyhashloom.hmac.many(b"key", messages, "sha1", output="joined")) <= set(range(256))

    hammer(read, read, read, change)


def test_one_iterator(tmp_path):
    paths = [tmp_path / str(i) for i in range(400)]
    for i, path in enumerate(paths):
        path.write_bytes(b"%d" % i)
    # The iterator of the module; pyhashloom.files is a generator, which Python itself guards.
    files, found = pyhashloom._files.Files(["sha1"], [str(path) for path in paths], 2, None), []
    hammer(lambda: found.extend(digest for (digest,), _, _ in files))
    assert sorted(found) == sorted(hashlib.sha1(b"%d" % i).digest() for i in range(400))
    files = pyhashloom._files.Files(["sha1"], [str(path) for path in paths], 2, None)
    hammer(lambda: list(files), files.close)


def test_many_calls():
    message, key = b"abc" * 1_000, hashlib.pbkdf2_hmac("sha256", b"p", b"s", 100)
    root = pyhashloom.tree.bep52(message, threads=1)

    def calls():
        for _ in range(30):
            assert pyhashloom.new("sha512", message).digest() == hashlib.sha512(message).digest()
            assert pyhashloom.hmac.compare_digest(message, message)
            assert pyhashloom.pbkdf2_hmac("sha256", b"p", b"s", 100) == key
            assert pyhashloom.pbkdf2_hmac_many("sha256", [b"p"] * 3, [b"s"] * 3, 100, threads=2) == [key] * 3
            assert pyhashloom.tree.bep52(message, threads=2) == root
            with pytest.raises(ValueError):
                pyhashloom.new("crc32")

    hammer(calls)


def test_one_column():
    pa = pytest.importorskip("pyarrow", reason="SKIPPED: threads at one column: pyarrow is not installed")
    column = pa.array([b"%d" % i for i in range(20_000)])
    want = [hashlib.sha256(b"%d" % i).hexdigest() for i in range(20_000)]

    def read():
        assert pyhashloom.column("sha256", column).to_pylist() == want

    hammer(read)
