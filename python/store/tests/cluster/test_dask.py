# SPDX-License-Identifier: MIT OR Apache-2.0
"""pyhashloom_store.dask on a cluster of worker processes, of which one is killed in the middle, beside one machine."""

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
import pyhashloom_store.dask  # noqa: E402
import pyhashloom.manifest  # noqa: E402

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
    got = pyhashloom_store.dask.files(client, "sha256", paths, files_per_task=7, progress=lambda *n: counts.append(n))
    assert told(got) == told(pyhashloom.files("sha256", paths))
    assert counts[-1] == (400, 400) and len(counts) == 58
    assert {file.worker for file in got} == set(client.scheduler_info()["workers"])
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
        target=lambda: result.extend(pyhashloom_store.dask.files(client, "sha256", [*paths, pipe], files_per_task=5))
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
    assert last.worker != busy[0]


class Ended:
    """The future of a task that a worker has done."""

    def __init__(self, returned):
        self.returned = returned

    def result(self):
        return "worker", self.returned


def test_what_a_worker_says_is_checked():
    asked = [(b"a", ["sha256", "sha1"]), (b"b", ["sha256"])]
    task = pyhashloom_store.dask._Task(asked, ["/a", "/b"])
    a, b = (b"a", ([b"x" * 32, b"y" * 20], 1, 5, None)), (b"b", ([], 0, None, ("open", 2, "No such file", 0)))

    def check(returned):
        return pyhashloom_store.dask._answers(task, Ended(returned))

    assert check([a, b]) == [(*a[1], "worker"), (*b[1], "worker")]
    for bad in (None, [a], [a, b, b], [b, a], [a, (b"../../etc/passwd", b[1])], [b"a", b"b"], ["a", "b"]):
        with pytest.raises(pyhashloom_store.dask.WorkerError, match="returned results of other files"):
            check(bad)
    (digests, nbytes, mtime_ns, _), (_, _, _, reason) = a[1], b[1]
    for bad in (
        ([digests[0]], nbytes, mtime_ns, None),
        ([digests[0][:-1], digests[1]], nbytes, mtime_ns, None),
        (digests[::-1], nbytes, mtime_ns, None),
        ([digests[0], digests[1].hex()], nbytes, mtime_ns, None),
        (digests, -1, mtime_ns, None),
        (digests, True, mtime_ns, None),
        (digests, nbytes, b"now", None),
        (digests, nbytes, mtime_ns),
        (digests, nbytes, mtime_ns, reason),
        ([], 0, None, None),
        ([], 1, None, reason),
        ([], 0, None, ("fine", *reason[1:])),
        ([], 0, None, (*reason[:3], -1)),
        ([], 0, None, ()),
        None,
    ):
        with pytest.raises(pyhashloom_store.dask.WorkerError, match="neither the sha256 and sha1 nor an error of /a"):
            check([(b"a", bad), b])


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
    """A report without worker and what an exception is by identity."""
    if isinstance(value, OSError):
        return (value.kind, value.errno, value.strerror, value.filename, value.offset)
    if isinstance(value, list):
        return [plain(one) for one in value]
    if dataclasses.is_dataclass(value):
        fields = [field.name for field in dataclasses.fields(value) if field.name != "worker"]
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
        there = pyhashloom_store.dask.check_manifest(client, manifest, root, files_per_task=7)
        list_there = pyhashloom_store.dask.check_list(client, lines, folder=root, files_per_task=7)
        counts = []
        written = pyhashloom_store.dask.write_manifest(
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
    assert {read.worker for read in there.reads} <= workers
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


# False answers of workers about a manifest or list


def tampered(monkeypatch, change):
    """Has the results of workers changed on their way."""
    outcome = pyhashloom_store.dask._outcome

    def changed(future, paths):
        worker, returned = outcome(future, paths)
        return worker, change(returned)

    monkeypatch.setattr(pyhashloom_store.dask, "_outcome", changed)


def test_a_worker_that_returns_something_else(client, tree, monkeypatch):
    root, manifest, _ = tree
    tampered(monkeypatch, lambda results: results[:-1])
    with pytest.raises(pyhashloom_store.dask.WorkerError, match="returned"):
        pyhashloom_store.dask.check_manifest(client, manifest, root)
    with pytest.raises(pyhashloom_store.dask.WorkerError, match="returned"):
        pyhashloom_store.dask.write_manifest(client, root)


def test_a_worker_that_sees_other_files(client, tree, monkeypatch):
    """Digests of other content, files that are there only for others, and files of another time are never right."""
    root, _, lines = tree
    as_it_is = pyhashloom.manifest.write(root).content
    assert pyhashloom_store.dask.check_manifest(client, as_it_is, root).is_same

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
            tampered(patch, other(change))
            report = pyhashloom_store.dask.check_manifest(client, as_it_is, root)
            assert {difference.status for difference in report.differences} == states, states
            assert not report.is_same and len(report.differences) == 59
            written = pyhashloom_store.dask.write_manifest(client, root)
            # A file that is here is in the manifest, whatever a worker says.
            assert written.content.count(b'"path":') == as_it_is.count(b'"path":')
    for change, state in (
        (lambda digests, nbytes, mtime_ns, reason: ([b"x" * 32], nbytes, mtime_ns, None), "failed"),
        (lambda *_: ([], 0, None, ("open", 2, "No such file or directory", 0)), "unread"),
    ):
        with monkeypatch.context() as patch:
            tampered(patch, other(change))
            listed = pyhashloom_store.dask.check_list(client, lines, folder=root)
            assert {file.state for file in listed.files} == {state, "unread"}


def test_errors_of_manifests(client, tmp_path):
    with pytest.raises(pyhashloom.manifest.ManifestError):
        pyhashloom_store.dask.check_manifest(client, b"{}\n", tmp_path)
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom_store.dask.write_manifest(client, tmp_path / "missing")
    assert pyhashloom_store.dask.check_list(client, b"").files == []
    assert pyhashloom_store.dask.write_manifest(client, tmp_path).content == pyhashloom.manifest.write(tmp_path).content


def test_errors(client):
    with pytest.raises(ValueError, match="unsupported"):
        pyhashloom_store.dask.files(client, "sha3", ["a"])
    with pytest.raises(ValueError, match="at least 1"):
        pyhashloom_store.dask.files(client, "sha256", ["a"], files_per_task=0)
    assert pyhashloom_store.dask.files(client, "sha256", []) == []


def test_files_by_shake(client, tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (one,) = pyhashloom_store.dask.files(client, "shake_128", [tmp_path / "a"])
    assert one.digest == hashlib.shake_128(b"abc").digest(32)
