# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files and torrents, through the engine."""

import errno
import hashlib
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import time

import pytest
from interrupt import interrupted

import pyhashloom
import pyhashloom.manifest
import pyhashloom.torrent
import pyhashloom.tree

TORRENTS = pathlib.Path(__file__).resolve().parents[2] / "vectors/webtorrent-fixtures/fixtures"


def test_files(tmp_path):
    contents = [bytes([i % 256]) * (i * 37) for i in range(300)] + [bytes(3_000_000)]
    paths = [tmp_path / str(i) for i in range(len(contents))]
    for path, content in zip(paths, contents):
        path.write_bytes(content)
    for name in "sha256", "md5":
        for threads in 0, 1:
            results = list(pyhashloom.files(name, iter(paths), threads=threads))
            assert [file.path for file in results] == [str(path) for path in paths]
            assert [file.digest for file in results] == [hashlib.new(name, content).digest() for content in contents]
            assert [file.nbytes for file in results] == [len(content) for content in contents]
            assert all(file.error is None for file in results)
            assert results[0].hexdigest == hashlib.new(name, contents[0]).hexdigest()
            assert results[1].digests == (results[1].digest,)
    names = ["sha256", "md5", "sha512"]
    for file, content in zip(pyhashloom.files(names, paths), contents, strict=True):
        assert file.digests == tuple(hashlib.new(name, content).digest() for name in names)
    for wrong in [], ["sha256", "sha257"]:
        with pytest.raises(ValueError):
            pyhashloom.files(wrong, paths)


def test_paths_of_all_kinds(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff"
    with open(path, "wb") as file:
        file.write(b"abc")
    for kind in path, os.fsdecode(path), pathlib.Path(os.fsdecode(path)):
        (file,) = pyhashloom.files("sha1", [kind])
        assert file.hexdigest == hashlib.sha1(b"abc").hexdigest()
        assert os.fsencode(file.path) == path


def test_errors_of_files(tmp_path):
    (tmp_path / "there").write_bytes(b"abc")
    there, missing, folder = pyhashloom.files("sha256", [tmp_path / "there", tmp_path / "missing", tmp_path])
    assert there.digest == hashlib.sha256(b"abc").digest()
    error = missing.error
    assert isinstance(error, OSError) and isinstance(error, pyhashloom.FileError)
    assert (error.errno, error.filename, error.kind, error.offset) == (errno.ENOENT, missing.path, "open", 0)
    assert str(error).startswith(f"{missing.path}: ")
    with pytest.raises(pyhashloom.FileError) as raised:
        missing.hexdigest
    assert raised.value is error
    copied = pickle.loads(pickle.dumps(error))
    assert (str(copied), copied.kind, copied.errno) == (str(error), error.kind, error.errno)
    assert folder.error is not None and folder.error.errno == errno.EISDIR


def test_git_blobs(tmp_path):
    """Beside other digests, from one read; the length of what cannot have one is never guessed."""
    contents = {"a": b"abc", "empty": b"", "long": os.urandom(3_000_000)}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    names = ["sha256", "git_blob", "sha1", "git-blob"]
    os.link(tmp_path / "long", tmp_path / "linked")
    paths = [tmp_path / name for name in (*contents, "linked", "missing")]
    *found, missing = pyhashloom.files(names, [*paths[:-1], tmp_path, paths[-1]])
    *found, folder = found
    for file, content in zip(found, [*contents.values(), contents["long"]], strict=True):
        blob = hashlib.sha1(b"blob %d\0" % len(content) + content).digest()
        assert file.digests == (hashlib.sha256(content).digest(), blob, hashlib.sha1(content).digest(), blob)
    assert folder.error.errno == errno.EISDIR and missing.error.errno == errno.ENOENT
    if os.path.exists("/proc/self/stat"):
        (made,) = pyhashloom.files(["git_blob"], ["/proc/self/stat"])
        assert made.error.kind == "unstable" and "length of a git blob" in str(made.error)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="SKIPPED: pipes: this system has none")
def test_one_file_that_is_a_pipe_is_read_by_the_caller(tmp_path):
    """No thread is begun for one path, so the caller's own looks at signals and tells the progress."""
    waiting, told = pipe(tmp_path), []
    writer = threading.Timer(0.3, lambda: waiting.write_bytes(b"abc"))
    writer.start()
    (file,) = pyhashloom.files("sha1", [waiting], progress=lambda *of: told.append(of))
    writer.join()
    assert file.digest == hashlib.sha1(b"abc").digest() and len(told) > 2 and told[-1] == (3, None)

    def fail(nbytes, total):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        list(pyhashloom.files("sha1", [waiting], progress=fail))


def test_lengths_around_those_of_reads(tmp_path):
    """Of one file, read by itself, and of few, which are not alone."""
    content = os.urandom((1 << 19) + 70_000)
    for at in (1 << 15, 1 << 16, 1 << 18, (1 << 18) + (1 << 15), 1 << 19):
        for nbytes in (at - 1, at, at + 1):
            (tmp_path / "a").write_bytes(content[:nbytes])
            for paths in [tmp_path / "a"], [tmp_path / "a"] * 2, [tmp_path / "a"] * 5:
                files = list(pyhashloom.files(["md5", "sha256"], paths))
                expected = hashlib.md5(content[:nbytes]).digest(), hashlib.sha256(content[:nbytes]).digest()
                assert [file.digests for file in files] == [expected] * len(paths)


def test_wrong_calls():
    for one in "path", b"path", pathlib.Path("path"):
        with pytest.raises(TypeError, match="give a list of paths"):
            pyhashloom.files("sha256", one)
    with pytest.raises(TypeError):
        pyhashloom.files("sha256", [5])
    with pytest.raises(ValueError, match="unsupported hash type"):
        pyhashloom.files("crc32", [])
    with pytest.raises(OverflowError):
        pyhashloom.files("sha256", [], threads=-1)
    assert list(pyhashloom.files("sha256", [])) == []


@pytest.mark.parametrize("threads", [0, 1])
def test_progress(threads, tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(5_000_000))
    told = []
    results = pyhashloom.files("sha256", [path] * 40, threads=threads, progress=lambda *of: told.append(of))
    assert len(list(results)) == 40
    assert told[-1] == (200_000_000, None)
    assert told == sorted(told)

    def fails(nbytes, total):
        raise KeyError("from the callback")

    with pytest.raises(KeyError, match="from the callback"):
        list(pyhashloom.files("sha256", [path] * 3, threads=threads, progress=fails))


def pipe(tmp_path):
    """A path whose reading waits for ever."""
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="SKIPPED: threads: this system lists none")
def test_an_iterator_that_is_dropped_stops_the_work(tmp_path):
    (tmp_path / "file").write_bytes(b"abc")
    before = len(os.listdir("/proc/self/task"))
    waiting = pipe(tmp_path)
    for paths in [tmp_path / "file"] * 5000 + [waiting], [waiting]:
        results = pyhashloom.files("sha256", paths)
        if len(paths) > 1:
            assert next(results).nbytes == 3
        results.close()
        assert list(results) == []
        del results
        # The kernel lists a thread for a moment after it was joined.
        deadline = time.monotonic() + 60
        while len(os.listdir("/proc/self/task")) > before and time.monotonic() < deadline:
            time.sleep(0.01)
        assert len(os.listdir("/proc/self/task")) <= before


@pytest.mark.skipif(not os.path.exists("/proc/self/task"), reason="SKIPPED: threads: this system lists none")
def test_one_thread_starts_no_other(tmp_path):
    """Also not for a file that is not in memory."""
    for i in range(300):
        (tmp_path / str(i)).write_bytes(bytes(100_000))
    with open(tmp_path / "long", "wb") as long:
        long.write(bytes(150_000_000))
        long.flush()
        os.fsync(long.fileno())
        os.posix_fadvise(long.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    torrent = pyhashloom.torrent.create(tmp_path / "long", threads=1).content
    calls = [
        lambda: list(pyhashloom.files("sha256", sorted(tmp_path.iterdir()), threads=1)),
        lambda: pyhashloom.torrent.verify(torrent, tmp_path, threads=1),
        lambda: pyhashloom.tree.bep52(tmp_path / "long", threads=1),
        lambda: pyhashloom.manifest.write(tmp_path, threads=1),
    ]
    for call in calls:
        seen, is_over = set(), threading.Event()

        def look():
            while not is_over.is_set():
                for task in os.listdir("/proc/self/task"):
                    try:
                        seen.add(pathlib.Path(f"/proc/self/task/{task}/comm").read_text().strip())
                    except OSError:  # it has ended
                        pass

        watcher = threading.Thread(target=look)
        watcher.start()
        call()
        is_over.set()
        watcher.join()
        assert not [name for name in seen if name.startswith("hashloom")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="SKIPPED: fork: not a Unix")
def test_a_forked_child_neither_waits_nor_gets_results(tmp_path):
    """In processes of their own, as the child of a test would end the tests."""
    program = f"""
import gc, os, sys, pyhashloom
results = pyhashloom.files("sha256", [{str(tmp_path / "file")!r}] * 3000 + [{str(pipe(tmp_path))!r}])
next(results)
child = os.fork()
if child == 0:
    try:
        next(results)
    except RuntimeError as error:
        assert "forked" in str(error)
        del results, error
        gc.collect()
        assert len(list(pyhashloom.files("sha256", [{str(tmp_path / "file")!r}] * 5))) == 5
        os._exit(7)
    os._exit(1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
for i in range(2999):
    next(results)
results.close()
"""
    (tmp_path / "file").write_bytes(b"abc")
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_keyboard_interrupt(tmp_path):
    waiting = str(pipe(tmp_path))
    assert interrupted(f"list(pyhashloom.files('sha256', [{waiting!r}]))")
    assert interrupted(f"list(pyhashloom.files('sha256', [{waiting!r}] * 3, threads=1))")
    torrent = b"d4:infod6:lengthi3e4:name4:pipe12:piece lengthi16384e6:pieces20:01234567890123456789ee"
    # A torrent opens no pipe.
    assert pyhashloom.torrent.verify(torrent, tmp_path).pieces == ["unread"]


@pytest.mark.parametrize("as_bytes", [True, False])
def test_torrent(as_bytes):
    path = TORRENTS / "leaves.torrent"
    told = []
    torrent = path.read_bytes() if as_bytes else path
    report = pyhashloom.torrent.verify(torrent, TORRENTS, progress=lambda *of: told.append(of))
    assert report.is_complete and report.pieces == ["have"] * 23
    assert report.bitfield == b"\xff\xff\xfe"
    (file,) = report.files
    assert (file.path, file.state) == (b"Leaves of Grass by Walt Whitman.epub", "complete")
    assert file.nbytes == file.found_nbytes == report.nbytes_read == 362_017
    assert pathlib.Path(report.content) == TORRENTS / "Leaves of Grass by Walt Whitman.epub"
    assert report.troubles == [] and report.seconds >= 0
    assert told[-1] == (362_017, 362_017)


def test_torrent_that_is_not_complete(tmp_path):
    content = bytearray((TORRENTS / "Leaves of Grass by Walt Whitman.epub").read_bytes())
    content[20_000] ^= 1
    (tmp_path / "Leaves of Grass by Walt Whitman.epub").write_bytes(content[:200_000])
    report = pyhashloom.torrent.verify(TORRENTS / "leaves.torrent", tmp_path, threads=1)
    assert not report.is_complete
    assert report.pieces == ["have", "bad"] + ["have"] * 10 + ["missing"] * 11
    assert (report.files[0].state, report.files[0].found_nbytes) == ("short", 200_000)
    (tmp_path / "Leaves of Grass by Walt Whitman.epub").unlink()
    report = pyhashloom.torrent.verify(TORRENTS / "leaves.torrent", tmp_path)
    assert set(report.pieces) == {"missing"} and report.files[0].found_nbytes is None


def test_troubles_of_torrents(tmp_path):
    (tmp_path / "Leaves of Grass by Walt Whitman.epub").mkdir()
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "Leaves of Grass by Walt Whitman.epub").symlink_to("/etc/passwd")
    report = pyhashloom.torrent.verify(TORRENTS / "leaves.torrent", tmp_path / "below")
    assert set(report.pieces) == {"unread"}
    (trouble,) = report.troubles
    assert isinstance(trouble, pyhashloom.FileError) and trouble.kind == "outside"
    assert "symbolic link" in trouble.strerror and str(trouble).count("Leaves of Grass") == 1


def test_errors_of_torrents(tmp_path):
    with pytest.raises(pyhashloom.torrent.TorrentError, match="not a torrent") as raised:
        pyhashloom.torrent.verify(b"no torrent", tmp_path)
    assert (raised.value.key, raised.value.offset) == ("", 0)
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), pyhashloom.torrent.TorrentError)
    broken = b"d4:infod6:lengthi-3e4:name1:a12:piece lengthi16384e6:pieces20:01234567890123456789ee"
    with pytest.raises(pyhashloom.torrent.TorrentError) as raised:
        pyhashloom.torrent.verify(broken, tmp_path)
    assert raised.value.key == "info.length" and raised.value.offset > 0
    with pytest.raises(pyhashloom.FileError) as missing:
        pyhashloom.torrent.verify(tmp_path / "missing.torrent", tmp_path)
    assert (missing.value.errno, missing.value.filename) == (errno.ENOENT, str(tmp_path / "missing.torrent"))
    with pytest.raises(pyhashloom.FileError):
        pyhashloom.torrent.verify(TORRENTS / "leaves.torrent", tmp_path / "missing")
    with pytest.raises(pyhashloom.FileError, match="expected a folder"):
        pyhashloom.torrent.verify(TORRENTS / "numbers.torrent", TORRENTS / "alice.txt")
    with pytest.raises(TypeError):
        pyhashloom.torrent.verify(5, tmp_path)


@pytest.mark.parametrize("version", ["v1", "v2", "hybrid"])
def test_created_torrents_are_complete(version, tmp_path):
    folder = tmp_path / "folder"
    (folder / "sub").mkdir(parents=True)
    (folder / "a").write_bytes(b"a" * 50_000)
    (folder / "sub" / "b").write_bytes(b"b" * 70_000)
    seen = []
    created = pyhashloom.torrent.create(
        folder,
        version=version,
        piece_nbytes=1 << 15,
        trackers=["https://a.example/x", ["udp://b.example:1", "udp://c:2"]],
        web_seeds=["https://d.example/"],
        private=True,
        source="s",
        comment="c",
        date=1_700_000_000,
        name="other",
        progress=lambda *progress: seen.append(progress),
    )
    assert (created.info_hash_v1 is None) == (version == "v2")
    assert (created.info_hash_v2 is None) == (version == "v1")
    assert created.nbytes_read == 120_000
    assert seen[-1][0] == seen[-1][1] >= 120_000
    for part in (
        b"8:announce19:https://a.example/x",
        b"7:comment1:c",
        b"13:creation datei1700000000e",
        b"4:name5:other",
        b"7:privatei1e",
        b"6:source1:s",
        b"8:url-list",
    ):
        assert part in created.content
    start = created.content.index(b"4:info") + 6
    if created.info_hash_v1 is not None:
        ends = [i for i in range(start, len(created.content) + 1)
                if hashlib.sha1(created.content[start:i]).digest() == created.info_hash_v1]
        assert len(ends) == 1
    report = pyhashloom.torrent.verify(created.content, folder)
    assert report.is_complete
    (folder / "a").write_bytes(b"a" * 49_999 + b"x")
    assert not pyhashloom.torrent.verify(created.content, folder).is_complete


def test_errors_of_new_torrents(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "a").write_bytes(b"a")
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom.torrent.create(tmp_path / "missing")
    for path, keywords, text in [
        ("empty", {}, "."),
        ("a", {"piece_nbytes": 1000}, "1000"),
        ("a", {"trackers": ["tracker.example"]}, "tracker.example"),
        ("a", {"name": "a/b"}, "a/b"),
    ]:
        with pytest.raises(pyhashloom.torrent.TorrentError, match=text):
            pyhashloom.torrent.create(tmp_path / path, **keywords)
    with pytest.raises(ValueError, match="'v1', 'v2' or 'hybrid'"):
        pyhashloom.torrent.create(tmp_path / "a", version="v3")
