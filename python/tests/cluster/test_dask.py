# SPDX-License-Identifier: MIT OR Apache-2.0
"""pyhashloom.dask on a cluster of worker processes, of which one is killed in the middle, beside one machine."""

import dataclasses
import fcntl
import hashlib
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import termios
import threading
import time

import pytest

pytest.importorskip("distributed", reason="SKIPPED: Dask: distributed is not installed")
import cloudpickle  # noqa: E402
import distributed  # noqa: E402

import pyhashloom  # noqa: E402
import pyhashloom.dask  # noqa: E402
import pyhashloom.manifest  # noqa: E402
import pyhashloom.torrent  # noqa: E402

VECTORS = pathlib.Path(__file__).resolve().parents[3] / "vectors"
CONTENT = VECTORS / "webtorrent-fixtures/fixtures"

# Workers cannot import this module: functions of it travel by value.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for i in range(400):
        path = folder / f"{i}"
        path.write_bytes(b"%d" % i * (i * 37))
        paths.append(path)
    paths[17] = folder / "missing"
    paths[18] = folder  # not a file
    return paths


def told(files):
    return [(f.path, None if f.error else f.digest, f.nbytes, f.error and (f.error.kind, f.error.errno)) for f in files]


def test_the_report_is_that_of_one_machine(client, paths):
    counts = []
    got = pyhashloom.dask.files(client, "sha256", paths, files_per_task=7, progress=lambda *n: counts.append(n))
    assert told(got) == told(pyhashloom.files("sha256", paths))
    assert counts[-1] == (400, 400) and len(counts) == 58
    assert {file.worker for file in got} == set(client.scheduler_info()["workers"])
    assert {file.attempt for file in got} == {1}
    with pytest.raises(OSError, match="missing"):
        got[17].digest


def unread(pipe):
    """The number of bytes in a pipe that nobody has read yet."""
    return int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder)


def test_a_worker_that_is_killed(client, paths, tmp_path):
    """A pipe holds one worker in the middle of its task until it is killed; then another worker gets the task."""
    client.wait_for_workers(2)
    pids = client.run(os.getpid)
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    result = []
    work = threading.Thread(
        target=lambda: result.extend(pyhashloom.dask.files(client, "sha256", [*paths, pipe], files_per_task=5))
    )
    work.start()
    with open(pipe, "r+b", buffering=0) as end:  # for reading too: a write after the kill has a reader
        end.write(b"half of the ")
        busy = []
        while unread(end) or len(busy) != 1:  # the worker is in the middle, and all other tasks are done
            time.sleep(0.05)
            busy = [address for address, keys in client.processing().items() if keys]
        os.kill(pids[busy[0]], signal.SIGKILL)
        while busy[0] in client.scheduler_info()["workers"]:
            time.sleep(0.05)
        end.write(b"all of the content")
        while unread(end):
            time.sleep(0.05)
    work.join(120)
    assert not work.is_alive()
    assert told(result[:-1]) == told(pyhashloom.files("sha256", paths))
    last = result[-1]
    assert last.digest == pyhashloom.sha256(b"all of the content").digest()
    assert last.attempt == 2 and last.worker != busy[0]
    assert result[0].attempt == 1


def test_what_a_worker_says_is_checked():
    def check(*results):
        return pyhashloom.dask._checked("sha256", ["a"], "w", 1, list(results))

    assert check(("a", b"x" * 32, 1, None))[0].digest == b"x" * 32
    told = ("open", 2, "No such file", "a", 0)
    assert check(("a", None, 0, told))[0].error.errno == 2
    for bad in (
        [("b", b"x" * 32, 1, None)],  # another file
        [("a", b"x" * 31, 1, None)],  # not a digest
        [("a", "x" * 32, 1, None)],
        [("a", b"x" * 32, -1, None)],
        [("a", b"x" * 32, 1, told)],  # a digest and an error
        [("a", None, 0, None)],  # neither
        [("a", None, 0, (*told[:3], "b", 0))],  # the error of another file
        [("a", None, 0, ("fine", 2, "No such file", "a", 0))],
        [("a", None, 0, ())],
        [("a", b"x" * 32, 1, None)] * 2,
        [("a", b"x" * 32)],
        ["a"],
        [],
    ):
        with pytest.raises(pyhashloom.dask.WorkerError):
            check(*bad)
    with pytest.raises(pyhashloom.dask.WorkerError):
        pyhashloom.dask._checked("sha256", ["a"], "w", 1, None)


# Manifests and lists


@pytest.fixture
def tree():
    """A folder that workers of other users may enter, its manifest and its list; then files go bad."""
    root = pathlib.Path(tempfile.mkdtemp(prefix="hashloom-tree-"))
    root.chmod(0o755)
    for i in range(60):
        (root / f"{i % 5}").mkdir(exist_ok=True)
        (root / f"{i % 5}" / f"{i}").write_bytes(b"%d" % i * (i * 91))
    (root / "link").symlink_to("0/5")
    (root / "outside").symlink_to("/etc/hostname")
    manifest = pyhashloom.manifest.write(root, algorithms=["sha256", "sha1"]).content
    lines = [f"{hashlib.sha256((root / f'{i % 5}/{i}').read_bytes()).hexdigest()}  {i % 5}/{i}" for i in range(60)]
    times = (root / "1/1").stat()
    (root / "1/1").write_bytes(b"2" * 91)
    os.utime(root / "1/1", ns=(times.st_atime_ns, times.st_mtime_ns))
    (root / "2/2").write_bytes(b"longer" * 100)
    (root / "3/3").unlink()
    (root / "4/4").rename(root / "four")
    (root / "extra").write_bytes(b"extra")
    (root / "1/6").unlink()
    (root / "1/6").symlink_to("/etc/hostname")
    (root / "0/10").chmod(0)
    yield root, manifest, "\n".join(lines).encode()
    shutil.rmtree(root)


def as_another_user():
    """Root can read everything: be nobody, as a worker or here."""
    if os.geteuid() == 0:
        os.seteuid(65534)


def as_before():
    if os.getuid() == 0:
        os.seteuid(0)


def plain(value):
    """A report without worker, attempt and what an exception is by identity."""
    if isinstance(value, OSError):
        return (value.kind, value.errno, value.strerror, value.filename, value.offset)
    if isinstance(value, list):
        return [plain(one) for one in value]
    if dataclasses.is_dataclass(value):
        left_out = ("worker", "attempt", "parts", "seconds", "nbytes_read")
        fields = [field.name for field in dataclasses.fields(value) if field.name not in left_out]
        return {name: plain(getattr(value, name)) for name in fields}
    return value


def test_manifests_and_lists_are_those_of_one_machine(client, tree):
    root, manifest, lines = tree
    client.wait_for_workers(2)  # a later one would be root
    client.run(as_another_user)
    as_another_user()
    try:
        here = pyhashloom.manifest.check(manifest, root)
        list_here = pyhashloom.manifest.check_list(lines, folder=root)
        written_here = pyhashloom.manifest.write(root)
        there = pyhashloom.dask.check_manifest(client, manifest, root, files_per_task=7)
        list_there = pyhashloom.dask.check_list(client, lines, folder=root, files_per_task=7)
        counts = []
        written = pyhashloom.dask.write_manifest(
            client, root, files_per_task=7, progress=lambda *n: counts.append(n)
        )
    finally:
        as_before()
        client.run(as_before)
    assert plain(there) == plain(here)
    found = {difference.path: difference.status for difference in there.differences}
    assert found == {
        "0/10": "unreadable",
        "1/1": "rotted",
        "1/6": "changed",
        "2/2": "changed",
        "3/3": "removed",
        "4/4": "moved",
        "extra": "added",
    }
    assert [error.errno for d in there.differences if (error := d.error)] == [13]
    workers = set(client.scheduler_info()["workers"])
    assert {read.worker for read in there.reads} <= workers and {read.attempt for read in there.reads} == {1}
    assert next(d for d in there.differences if d.path == "1/1").worker in workers
    assert next(d for d in there.differences if d.path == "3/3").worker is None

    assert plain(list_there) == plain(list_here)
    # A link in a list is followed, in a manifest it is not.
    states = {one.path: one.state for one in list_there.files}
    assert {path for path, state in states.items() if state == "failed"} == {"1/1", "1/6", "2/2"}
    assert {path for path, state in states.items() if state == "unread"} == {"0/10", "3/3", "4/4"}
    assert {file.worker for file in list_there.files} <= workers

    assert written.content == written_here.content
    assert plain(written.troubles) == plain(written_here.troubles)
    assert counts[-1][0] == counts[-1][1] == len(written.reads)


def hold(name, marker, number):
    """Runs on a worker: after its work the call `number` of a function waits to be killed, if it is the first to."""
    import pyhashloom.dask

    work = getattr(pyhashloom.dask, name)

    def held(*arguments):
        result = work(*arguments)
        if number in arguments or any(isinstance(one, list) and number in one for one in arguments):
            try:
                with open(marker, "x") as file:
                    file.write(str(os.getpid()))
            except FileExistsError:
                return result
            time.sleep(1000)
        return result

    setattr(pyhashloom.dask, name, held)


def release(name):
    import importlib

    import pyhashloom.dask

    importlib.reload(pyhashloom.dask)


def killed(marker):
    """Kills the worker that waits, with SIGKILL, in a thread. Returns the thread."""

    def kill():
        while not (marker.exists() and marker.read_text()):
            time.sleep(0.02)
        os.kill(int(marker.read_text()), signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    return thread


def test_a_worker_that_is_killed_in_a_manifest(client, tree, tmp_path):
    root, manifest, _ = tree
    client.wait_for_workers(2)
    name, marker = "_hash_listed", tmp_path / "pid"
    client.run(hold, name, marker, (b"2/32", ["sha256", "sha1"]))
    thread = killed(marker)
    report = pyhashloom.dask.check_manifest(client, manifest, root, files_per_task=4)
    thread.join()
    client.wait_for_workers(2)
    client.run(release, name)
    assert plain(report) == plain(pyhashloom.manifest.check(manifest, root))
    attempts = {read.path: read.attempt for read in report.reads}
    assert attempts["2/32"] == 2 and set(attempts.values()) == {1, 2}


def test_a_worker_that_is_killed_in_a_torrent(client, tmp_path):
    client.wait_for_workers(2)
    marker = tmp_path / "pid"
    client.run(hold, "_part", marker, 12)
    thread = killed(marker)
    torrent = CONTENT / "leaves.torrent"
    report = pyhashloom.dask.verify_torrent(client, torrent, CONTENT, pieces_per_task=3)
    thread.join()
    client.wait_for_workers(2)
    client.run(release, "_part")
    assert plain(report) == plain(pyhashloom.torrent.verify(torrent, CONTENT))
    assert report.is_complete
    attempts = {part.first: part.attempt for part in report.parts}
    assert attempts[12] == 2 or attempts[9] == 2  # one of the tasks whose pieces are 12 at an end
    assert list(attempts) == list(range(0, 23, 3))


# False answers of workers about a manifest or list


def tampered(monkeypatch, work, change):
    """Has the results of one function of workers changed on their way."""
    run = pyhashloom.dask._run

    def changed(client, function, tasks, paths_of):
        for i, worker, attempt, returned in run(client, function, tasks, paths_of):
            yield i, worker, attempt, change(returned) if function.__name__ == work else returned

    monkeypatch.setattr(pyhashloom.dask, "_run", changed)


def answer(change):
    return lambda results: [*results[:-1], (results[-1][0], change(*results[-1][1]))]


@pytest.mark.parametrize(
    "change",
    [
        lambda results: results[:-1],
        lambda results: [*results, results[-1]],
        lambda results: [results[-1], *results[1:]],
        lambda results: [*results[:-1], (b"../../etc/passwd", results[-1][1])],
        lambda results: None,
        lambda results: [name for name, _ in results],
        answer(lambda digests, *rest: ([digests[0]], *rest)),
        answer(lambda digests, *rest: ([digests[0][:-1], digests[1]], *rest)),
        answer(lambda digests, *rest: (digests[::-1], *rest)),
        answer(lambda digests, *rest: ([digests[0], digests[1].hex()], *rest)),
        answer(lambda digests, nbytes, *rest: (digests, -1, *rest)),
        answer(lambda digests, nbytes, *rest: (digests, True, *rest)),
        answer(lambda digests, nbytes, mtime_ns, reason: (digests, nbytes, mtime_ns, ("open", 2, "No", 0))),
        answer(lambda digests, nbytes, mtime_ns, reason: ([], 0, None, ("fine", 2, "No", 0))),
        answer(lambda *all: None),
    ],
)
def test_a_worker_that_returns_something_else(client, tree, monkeypatch, change):
    root, manifest, _ = tree
    tampered(monkeypatch, "_hash_listed", change)
    with pytest.raises(pyhashloom.dask.WorkerError, match="returned"):
        pyhashloom.dask.check_manifest(client, manifest, root)
    with pytest.raises(pyhashloom.dask.WorkerError, match="returned"):
        pyhashloom.dask.write_manifest(client, root, algorithms=["sha256", "sha1"])


def test_a_worker_that_sees_other_files(client, tree, monkeypatch):
    """Digests of other content, files that are there only for others, and files of another time are never right."""
    root, _, lines = tree
    as_it_is = pyhashloom.manifest.write(root).content
    assert pyhashloom.dask.check_manifest(client, as_it_is, root).is_same

    def other(change):
        return lambda results: [(name, change(*one) if one[3] is None else one) for name, one in results]

    for change, states in (
        (lambda digests, nbytes, mtime_ns, reason: ([b"x" * 32], nbytes, mtime_ns, None), {"rotted"}),
        (lambda *_: ([], 0, None, ("open", 2, "No such file or directory", 0)), {"unreadable"}),
        (lambda digests, nbytes, mtime_ns, reason: (digests, nbytes, mtime_ns - 1, None), {"unstable"}),
        (lambda digests, nbytes, mtime_ns, reason: (digests, nbytes + 1, mtime_ns, None), {"unstable"}),
        (lambda digests, nbytes, mtime_ns, reason: (digests, nbytes, None, None), {"unstable"}),
    ):
        with monkeypatch.context() as patch:
            tampered(patch, "_hash_listed", other(change))
            report = pyhashloom.dask.check_manifest(client, as_it_is, root)
            assert {difference.status for difference in report.differences} == states, states
            assert not report.is_same and len(report.differences) == 59
            written = pyhashloom.dask.write_manifest(client, root)
            # A file that is here is in the manifest, whatever a worker says.
            assert written.content.count(b'"path":') == as_it_is.count(b'"path":')
    for change, state in (
        (lambda digests, nbytes, mtime_ns, reason: ([b"x" * 32], nbytes, mtime_ns, None), "failed"),
        (lambda *_: ([], 0, None, ("open", 2, "No such file or directory", 0)), "unread"),
    ):
        with monkeypatch.context() as patch:
            tampered(patch, "_hash_listed", other(change))
            listed = pyhashloom.dask.check_list(client, lines, folder=root)
            assert {file.state for file in listed.files} == {state, "unread"}


# Torrents

TORRENTS = [
    *(CONTENT / f"{name}.torrent" for name in ("leaves", "numbers", "alice", "lots-of-numbers")),
    *(VECTORS / f"libtorrent/{name}.torrent" for name in ("leaves-v2", "leaves-hybrid", "numbers-v2", "lots-hybrid")),
]


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    """A copy of the torrents' content with missing, wrong, short, long and unreadable files, and links."""
    root = tmp_path_factory.mktemp("damaged") / "content"
    shutil.copytree(CONTENT, root)
    with open(root / "Leaves of Grass by Walt Whitman.epub", "r+b") as file:
        file.seek(200_000)
        file.write(b"X")
    os.truncate(root / "alice.txt", 100_000)
    (root / "numbers/1.txt").unlink()
    (root / "numbers/1.txt").symlink_to("/etc/hostname")
    (root / "numbers/2.txt").write_text("2 and more")
    lots = sorted((root / "lots-of-numbers").rglob("*.txt"))
    lots[0].unlink()
    lots[1].unlink()
    lots[1].mkdir()
    lots[2].write_text("x")
    return root


@pytest.mark.parametrize("torrent", TORRENTS, ids=lambda path: path.stem)
def test_the_report_on_a_torrent_is_that_of_one_machine(client, damaged, torrent):
    for folder in (CONTENT, damaged, damaged.parent):
        counts = []
        told = pyhashloom.dask.verify_torrent(
            client, torrent, folder, pieces_per_task=4, progress=lambda *n: counts.append(n)
        )
        alone = pyhashloom.torrent.verify(torrent, folder)
        assert plain(told) == plain(alone)
        assert told.nbytes_read >= alone.nbytes_read
        assert {part.round for part in told.parts} == {1}
        covered = [piece for part in told.parts for piece in range(part.first, part.end)]
        assert covered == list(range(len(told.pieces)))
        assert counts[-1] == (len(covered), len(covered))
    assert pyhashloom.dask.verify_torrent(client, torrent.read_bytes(), CONTENT).pieces


def piece(change):
    """Changes the last piece of a part."""
    return lambda part: (*part[:4], [*part[4][:-1], change(*part[4][-1])], *part[5:])


@pytest.mark.parametrize(
    "change",
    [
        lambda part: None,
        lambda part: part[:-1],
        lambda part: (part[0] + 1, *part[1:]),
        lambda part: (*part[:4], part[4][:-1], *part[5:]),
        lambda part: (*part[:4], [*part[4], part[4][-1]], *part[5:]),
        lambda part: (*part[:3], [], *part[4:]),
        lambda part: (*part[:3], ["now"], *part[4:]),
        lambda part: (*part[:5], [(7, ("open", 2, "No", "x", 0))], *part[6:]),
        lambda part: (*part[:6], -1),
        piece(lambda state, sha1, root: ("unchecked", None, None)),
        piece(lambda state, sha1, root: ("fine", sha1, root)),
        piece(lambda state, sha1, root: ("have", None, None)),
        piece(lambda state, sha1, root: ("have", sha1[:-1] + bytes([sha1[-1] ^ 1]), root)),
        piece(lambda state, sha1, root: ("have", sha1[:-1], root)),
        piece(lambda state, sha1, root: ("have", sha1, sha1)),
        piece(lambda state, sha1, root: ("have", sha1.hex(), root)),
        piece(lambda state, sha1, root: ("bad", sha1, root)),
        piece(lambda state, sha1, root: ("missing", sha1, root)),
        lambda part: (*part[:4], part[4][::-1], *part[5:]),
    ],
)
def test_a_worker_that_returns_other_pieces(client, monkeypatch, change):
    tampered(monkeypatch, "_part", change)
    with pytest.raises(pyhashloom.dask.WorkerError, match="returned"):
        pyhashloom.dask.verify_torrent(client, CONTENT / "leaves.torrent", CONTENT, pieces_per_task=8)


def end(change):
    """Changes the report of the last look: its place, pieces, bitfield, files and more."""
    return lambda result: (*result[:2], change(*result[2]))


def file(*fields):
    """Changes the path, the bytes, the state and the rest of the only file."""
    return end(lambda content, pieces, bits, files, *rest: (content, pieces, bits, [fields], *rest))


LEAVES = (b"Leaves of Grass by Walt Whitman.epub", 362017)


@pytest.mark.parametrize(
    "change",
    [
        lambda result: None,
        lambda result: result[:2],
        lambda result: ([], *result[1:]),
        lambda result: (result[0], [99], result[2]),
        end(lambda content, pieces, *rest: (content, pieces[:-1], *rest)),
        end(lambda content, pieces, bits, files, *rest: (content, pieces, bits, [], *rest)),
        file(b"x", LEAVES[1], "complete", LEAVES[1], None),
        file(LEAVES[0], 1, "complete", LEAVES[1], None),
        file(*LEAVES, "skipped", 1, None),
        file(*LEAVES, "complete", 9, None),
        file(*LEAVES, "complete", None, None),
        file(*LEAVES, "too long", None, None),
        file(*LEAVES, "too long", 9, None),
    ],
)
def test_a_worker_that_returns_another_end(client, monkeypatch, change):
    tampered(monkeypatch, "_settled", change)
    with pytest.raises(pyhashloom.dask.WorkerError, match="returned"):
        pyhashloom.dask.verify_torrent(client, CONTENT / "leaves.torrent", CONTENT)


def test_a_complete_file_of_bad_pieces_is_an_error(client, damaged, monkeypatch):
    whole = file(*LEAVES, "complete", LEAVES[1], None)
    tampered(monkeypatch, "_settled", whole)
    with pytest.raises(pyhashloom.dask.WorkerError, match="contradict"):
        pyhashloom.dask.verify_torrent(client, CONTENT / "leaves.torrent", damaged)


def with_hook(monkeypatch, work, hook):
    """Calls `hook` with the number of the call before tasks of one function are given to workers."""
    run = pyhashloom.dask._run
    calls = []

    def hooked(client, function, tasks, paths_of):
        if function.__name__ == work:
            calls.append(1)
            hook(len(calls))
        return run(client, function, tasks, paths_of)

    monkeypatch.setattr(pyhashloom.dask, "_run", hooked)


def test_a_file_that_changes_after_its_pieces_were_read(client, monkeypatch, tmp_path):
    """The verdicts are those of the state at the end, as on one machine."""
    for name in ("leaves.torrent", "Leaves of Grass by Walt Whitman.epub"):
        shutil.copy(CONTENT / name, tmp_path)
    content = tmp_path / "Leaves of Grass by Walt Whitman.epub"
    before = content.stat()

    def change(number):
        if number == 1:
            with open(content, "r+b") as file:
                file.seek(200_000)
                file.write(b"X")
            os.utime(content, ns=(before.st_atime_ns, before.st_mtime_ns))  # only the ctime tells

    with_hook(monkeypatch, "_settled", change)
    report = pyhashloom.dask.verify_torrent(client, tmp_path / "leaves.torrent", tmp_path, pieces_per_task=5)
    assert plain(report) == plain(pyhashloom.torrent.verify(tmp_path / "leaves.torrent", tmp_path))
    assert report.pieces[12] == "bad" and not report.is_complete
    assert {part.round for part in report.parts} == {1, 2}


def test_a_file_that_changes_each_time_is_unstable(client, monkeypatch, tmp_path):
    shutil.copytree(CONTENT / "numbers", tmp_path / "numbers")
    with_hook(monkeypatch, "_settled", lambda number: os.utime(tmp_path / "numbers/2.txt", (number, number)))
    for name, others in (("webtorrent-fixtures/fixtures/numbers", "incomplete"), ("libtorrent/numbers-v2", "complete")):
        report = pyhashloom.dask.verify_torrent(client, VECTORS / f"{name}.torrent", tmp_path)
        states = [file.state for file in report.files if file.path in (b"1.txt", b"2.txt", b"3.txt")]
        # In v1 all three files share a piece.
        assert states == [others, "unstable", others]
        assert "unstable" in report.pieces and not report.is_complete
        assert {part.round for part in report.parts} == {1, 2, 3}


def test_a_worker_without_the_files(client, monkeypatch, tmp_path):
    """One worker sees an empty folder. Its verdicts stand only if the last look agrees."""
    empty = tmp_path / "empty"
    empty.mkdir()

    def elsewhere(address, dask_worker):
        import pyhashloom.dask

        if dask_worker.address == address:
            work = pyhashloom.dask._part
            pyhashloom.dask._part = lambda content, path, *rest: work(content, str(empty), *rest)

    client.wait_for_workers(2)
    bad = sorted(client.scheduler_info()["workers"])[0]
    client.run(elsewhere, bad)
    try:
        for torrent in (CONTENT / "leaves.torrent", VECTORS / "libtorrent/lots-hybrid.torrent"):
            report = pyhashloom.dask.verify_torrent(client, torrent, CONTENT, pieces_per_task=2)
            wrong = [state for state in report.pieces if state != "have"]
            assert set(wrong) <= {"unstable"} and report.is_complete == (not wrong)
            took_part = any(part.worker == bad and part.round == 1 for part in report.parts)
            assert took_part == any(part.round > 1 for part in report.parts)
            # The last verdict on a piece is of a worker that sees the files, or there is none.
            last = {piece: part for part in report.parts for piece in range(part.first, part.end)}
            assert all((last[i].worker == bad) <= (state == "unstable") for i, state in enumerate(report.pieces))
    finally:
        client.run(release, "_part")


def test_errors_of_torrents_and_manifests(client, tmp_path):
    with pytest.raises(pyhashloom.torrent.TorrentError, match="not a torrent"):
        pyhashloom.dask.verify_torrent(client, b"no torrent", tmp_path)
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom.dask.verify_torrent(client, CONTENT / "leaves.torrent", tmp_path / "missing")
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom.dask.verify_torrent(client, tmp_path / "missing", tmp_path)
    with pytest.raises(ValueError, match="at least 1"):
        pyhashloom.dask.verify_torrent(client, CONTENT / "leaves.torrent", CONTENT, pieces_per_task=0)
    with pytest.raises(pyhashloom.manifest.ManifestError):
        pyhashloom.dask.check_manifest(client, b"{}\n", tmp_path)
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom.dask.write_manifest(client, tmp_path / "missing")
    assert pyhashloom.dask.check_list(client, b"").files == []
    assert pyhashloom.dask.write_manifest(client, tmp_path).content == pyhashloom.manifest.write(tmp_path).content


def test_errors(client):
    with pytest.raises(ValueError, match="unsupported"):
        pyhashloom.dask.files(client, "sha3", ["a"])
    with pytest.raises(ValueError, match="at least 1"):
        pyhashloom.dask.files(client, "sha256", ["a"], files_per_task=0)
    assert pyhashloom.dask.files(client, "sha256", []) == []


def test_files_by_shake(client, tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (one,) = pyhashloom.dask.files(client, "shake_128", [tmp_path / "a"])
    assert one.digest == hashlib.shake_128(b"abc").digest(32)


def wrong_about(name, place, top, task, options, limits):
    """A worker's answer that lacks an object in the task of the first one."""
    answer = HASH_OBJECTS(name, place, top, task, options, limits)
    return answer[1:] if task[0][0].endswith("/000") else answer


def of_another_version(*arguments):
    """Digests of what the caller has not seen."""
    return [(*one[:4], one[4] + "0") for one in HASH_OBJECTS(*arguments)]


HASH_OBJECTS = pyhashloom.dask._hash_objects


def test_objects(client, tmp_path, monkeypatch):
    pytest.importorskip("fsspec", reason="SKIPPED: fsspec is not installed")
    folder, journal = tmp_path / "objects", tmp_path / "journal"
    folder.mkdir()
    contents = {f"{folder}/{i:03}": b"%d" % i * (i * 37) for i in range(100)}
    for path, content in contents.items():
        pathlib.Path(path).write_bytes(content)
    wanted = {path: hashlib.sha256(content).digest() for path, content in contents.items()}

    def run():
        return list(pyhashloom.dask.sums(client, "sha256", f"file://{folder}", journal=journal, objects_per_task=7))

    # One bad answer costs its task.
    monkeypatch.setattr(pyhashloom.dask, "_hash_objects", wrong_about)
    found = run()
    failed = [one for one in found if one.error]
    assert {one.path for one in failed} == set(sorted(contents)[:7])
    assert all(isinstance(one.error.__cause__, pyhashloom.dask.WorkerError) for one in failed)
    assert {one.path: one.digest for one in found if not one.error}.items() < wanted.items() and len(found) == 100
    # The journal has the others.
    monkeypatch.undo()
    found = run()
    assert {one.path: one.digest for one in found} == wanted
    assert {one.path for one in found if one.source == "read"} == {one.path for one in failed}
    assert {one.worker for one in found if one.source == "read"} <= set(client.scheduler_info()["workers"])
    results = pyhashloom.dask.sums(client, "sha1", str(folder), objects_per_task=1)
    assert next(results).error is None
    results.close()
    # The journal has what the caller has seen too.
    journal = tmp_path / "other"
    monkeypatch.setattr(pyhashloom.dask, "_hash_objects", of_another_version)
    assert {one.digest for one in run()} == set(wanted.values())
    monkeypatch.undo()
    assert {one.source for one in run()} == {"read"} and {one.source for one in run()} == {"journal"}


def test_a_worker_that_has_another_store(client, tmp_path, monkeypatch):
    store = pytest.importorskip("pyhashloom.store", reason="SKIPPED: fsspec is not installed")
    (tmp_path / "a").write_bytes(b"abc")
    monkeypatch.setattr(store, "_place", lambda *_: "s3 of the caller")
    (one,) = pyhashloom.dask.sums(client, "sha256", f"file://{tmp_path}", journal=tmp_path.parent / "journal")
    assert "would be read here, and not s3 of the caller: give the endpoint by storage_options" in str(one.error)
