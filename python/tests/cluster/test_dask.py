# SPDX-License-Identifier: MIT OR Apache-2.0
"""hashloom.dask on a cluster of worker processes, of which one is killed in the middle, beside one machine."""

import fcntl
import os
import signal
import sys
import termios
import threading
import time

import pytest

pytest.importorskip("distributed", reason="SKIPPED: Dask: distributed is not installed")
import distributed  # noqa: E402

import hashloom  # noqa: E402
import hashloom.dask  # noqa: E402


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
    got = hashloom.dask.files(client, "sha256", paths, files_per_task=7, progress=lambda *n: counts.append(n))
    assert told(got) == told(hashloom.files("sha256", paths))
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
        target=lambda: result.extend(hashloom.dask.files(client, "sha256", [*paths, pipe], files_per_task=5))
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
    assert told(result[:-1]) == told(hashloom.files("sha256", paths))
    last = result[-1]
    assert last.digest == hashloom.sha256(b"all of the content").digest()
    assert last.attempt == 2 and last.worker != busy[0]
    assert result[0].attempt == 1


def test_what_a_worker_says_is_checked():
    good = ("w", [("a", b"x" * 32, 1, None)])
    assert hashloom.dask._checked("sha256", ["a"], good, 1)[0].digest == b"x" * 32
    for bad in (
        ("w", [("b", b"x" * 32, 1, None)]),  # another file
        ("w", [("a", b"x" * 31, 1, None)]),  # not a digest
        ("w", [("a", None, 0, None)]),
        ("w", []),
        None,
    ):
        with pytest.raises(hashloom.dask.WorkerError):
            hashloom.dask._checked("sha256", ["a"], bad, 1)


def test_errors(client):
    with pytest.raises(ValueError, match="unsupported"):
        hashloom.dask.files(client, "sha3", ["a"])
    with pytest.raises(ValueError, match="at least 1"):
        hashloom.dask.files(client, "sha256", ["a"], files_per_task=0)
    assert hashloom.dask.files(client, "sha256", []) == []
