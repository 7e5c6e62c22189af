# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files, manifests and lists of checksums, hashed by the workers of a Dask cluster.

::

    client = dask.distributed.Client("tcp://scheduler:8786")
    for file in pyhashloom_store.dask.files(client, "sha256", paths):
        print(file.hexdigest, file.path, file.worker)
    report = pyhashloom_store.dask.check_manifest(client, "data.manifest", "/mnt/data")
    print(report.is_same, report.reads)

Every worker needs the package hashloom, and must see the files under the paths given. No worker is told a digest of a
list or a manifest: it returns the digests that it found, and the caller compares. What a worker returns is checked
against the task it had, and anything else is a WorkerError.
"""

import functools
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import distributed

from pyhashloom import FileDigest, FileError, manifest, many, new
from pyhashloom._hashloom import hash_listed
from pyhashloom.manifest import ListReport, ManifestReport, Written, _error

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "WorkerDigest",
    "WorkerError",
    "check_list",
    "check_manifest",
    "files",
    "write_manifest",
]

# A file to hash: its name and the algorithms.
_Asked = tuple[bytes, list[str]]

# A worker's result for a file: digests, number of bytes, the file's time, and, without a digest, the reason (kind,
# number, text, number of bytes read before).
_Answer = tuple[list[bytes], int, int | None, Any]

# A task has about this much to read, if the lengths of its files are known.
_TASK_NBYTES = 1 << 30


class WorkerError(RuntimeError):
    """A worker returned something else than the results it was asked for, or failed, or tasks ended their workers again
    and again.

    `worker` is its address, or "unknown". `paths` are the files of the task.
    """

    worker: str
    paths: list[str]

    def __init__(self, message: str, worker: str, paths: list[str]) -> None:
        super().__init__(message, worker, paths)
        self.worker = worker
        self.paths = paths

    def __str__(self) -> str:
        return str(self.args[0])


class WorkerDigest(FileDigest):
    """A FileDigest that tells who computed it."""

    __slots__ = ("worker",)

    worker: str
    """The address of the worker."""

    def __init__(self, path: str, digest: bytes | None, nbytes: int, error: FileError | None, worker: str) -> None:
        super().__init__(path, digest, nbytes, error)
        self.worker = worker


@dataclass(frozen=True)
class _Task:
    """Files for one worker, which are below a folder."""

    asked: list[_Asked]
    paths: list[str]


def _on_worker(folder: str, asked: list[_Asked], threads: int) -> tuple[str, list[tuple[bytes, _Answer]]]:
    """Runs on a worker."""
    answers = hash_listed(folder, asked, threads, None)
    found = [(name, answer) for (name, _), answer in zip(asked, answers, strict=True)]
    return distributed.get_worker().address, found


def _answers(task: _Task, future: Any) -> list[Any]:
    """The answers of a task that ended, each with the worker. Nothing that a worker says is trusted: they must be those
    of the files asked for, in order, each with all its digests or an error."""
    worker, returned = _outcome(future, task.paths)
    is_result = isinstance(returned, list) and all(isinstance(one, tuple) and len(one) == 2 for one in returned)
    if not is_result or [name for name, _ in returned] != [name for name, _ in task.asked]:
        text = f"worker {worker} returned results of other files than it was asked for"
        raise WorkerError(text, worker, task.paths)
    for path, (_, algorithms), (_, answer) in zip(task.paths, task.asked, returned, strict=True):
        if not _is_answer(answer, algorithms):
            text = f"worker {worker} returned neither the {' and '.join(algorithms)} nor an error of {path}"
            raise WorkerError(text, worker, task.paths)
    return [(*answer, worker) for _, answer in returned]


def _outcome(future: Any, paths: list[str]) -> tuple[str, Any]:
    """The worker, and what the worker returned for the task of these paths."""
    try:
        returned = future.result()
    except distributed.KilledWorker as error:
        worker = str(error.last_worker and error.last_worker.address)
        message = f"no worker survived the task of {_some(paths)}: {error}"
        raise WorkerError(message, worker, paths) from error
    except (FileError, distributed.CancelledError):
        raise
    except Exception as error:
        message = f"a worker could not do the task of {_some(paths)}: {error!r}"
        raise WorkerError(message, "unknown", paths) from error
    if not (isinstance(returned, tuple) and len(returned) == 2 and isinstance(returned[0], str)):
        raise WorkerError("a worker returned no result", "unknown", paths)
    return returned[0], returned[1]


def _some(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_answer(answer: object, algorithms: list[str]) -> bool:
    """Whether a value has the form of an answer."""
    if not (isinstance(answer, tuple) and len(answer) == 4 and isinstance(answer[0], list)):
        return False
    digests, nbytes, mtime_ns, reason = answer
    if mtime_ns is not None and type(mtime_ns) is not int:
        return False
    if reason is None:
        sizes = [len(digest) if isinstance(digest, bytes) else -1 for digest in digests]
        return sizes == [_size(algorithm) for algorithm in algorithms] and _is_count(nbytes)
    if digests or nbytes != 0 or not isinstance(reason, tuple) or len(reason) != 4:
        return False
    kind, number, text, offset = reason
    is_number = number is None or type(number) is int
    return kind in ("open", "read", "unstable") and is_number and isinstance(text, str) and _is_count(offset)


@functools.lru_cache
def _size(name: str) -> int:
    """Bytes of a digest; of SHAKE, of the usual one."""
    return new(name).digest_size or len(many(name, [b""])[0])


def files(
    client: distributed.Client,
    name: str,
    paths: Iterable[str | bytes | os.PathLike[str] | os.PathLike[bytes]],
    *,
    files_per_task: int = 64,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> list[WorkerDigest]:
    """The digests of files, in the order of the paths: those of pyhashloom.files, with the worker.

    A task has `files_per_task` files, which a worker hashes side by side with `threads` threads. If a worker dies, the
    scheduler gives its tasks to others (`distributed.scheduler.allowed-failures` times). A file that cannot be read
    does not stop the others. `progress` is called with the number of files done and of all files.

    WorkerError if a worker returns anything else than the digests of its files, or no worker survives a task.
    """
    new(name)  # an unknown name is an error here, not in each task
    texts = [os.fsdecode(path) for path in paths]
    hashed = _by_workers(client, files_per_task, threads, progress)
    answers = hashed("", [(os.fsencode(text), [name]) for text in texts], [])
    return [
        WorkerDigest(text, None, 0, _error(reason, "", os.fsencode(text)), worker)
        if reason is not None
        else WorkerDigest(text, digests[0], nbytes, None, worker)
        for text, (digests, nbytes, _, reason, worker) in zip(texts, answers, strict=True)
    ]


def _cut(items: list[Any], per_task: int, sizes: list[int]) -> list[list[Any]]:
    """Cuts items into tasks: at most per_task items, and not much more to read than _TASK_NBYTES."""
    if per_task < 1:
        raise ValueError("files_per_task must be at least 1")
    tasks: list[list[Any]] = []
    nbytes = 0
    for i, item in enumerate(items):
        if not tasks or len(tasks[-1]) == per_task or nbytes >= _TASK_NBYTES:
            tasks.append([])
            nbytes = 0
        tasks[-1].append(item)
        nbytes += sizes[i] if sizes else 0
    return tasks


def _by_workers(
    client: distributed.Client,
    files_per_task: int,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> Callable[[str, list[_Asked], list[int]], list[Any]]:
    """A hasher for pyhashloom.manifest."""

    def hashed(folder: str, asked: list[_Asked], sizes: list[int]) -> list[Any]:
        tasks = [
            _Task(part, [os.path.join(folder, os.fsdecode(name)) for name, _ in part])
            for part in _cut(asked, files_per_task, sizes)
        ]
        # The scheduler gives the task of a worker that died to another one.
        futures = [client.submit(_on_worker, folder, task.asked, threads, pure=False) for task in tasks]
        order = {future.key: i for i, future in enumerate(futures)}
        found: list[list[Any]] = [[] for _ in tasks]
        count = 0
        try:
            for future in distributed.as_completed(futures):
                i = order[future.key]
                found[i] = _answers(tasks[i], future)
                count += len(tasks[i].asked)
                if progress is not None:
                    progress(count, len(asked))
        finally:
            client.cancel(futures)
        return [answer for answers in found for answer in answers]

    return hashed


def write_manifest(
    client: distributed.Client,
    folder: str | os.PathLike[str],
    *,
    algorithms: Sequence[str] = ("sha256",),
    include: Iterable[str] = (),
    exclude: Iterable[str] = (),
    min_nbytes: int | None = None,
    max_nbytes: int | None = None,
    files_per_task: int = 64,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> Written:
    """The manifest of a folder: the bytes of pyhashloom.manifest.write, with the worker of each read.

    The caller lists the folder, the workers read the files. A file must look the same to both (its length and time);
    otherwise the manifest has it as unstable. A file that a worker does not find, and the caller does, is unread. A
    task has at most `files_per_task` files, fewer if they are long. `threads` and `progress` are those of files.

    FileError if the folder cannot be listed, WorkerError as in files.
    """
    wanted = (list(include), list(exclude), min_nbytes, max_nbytes)
    return manifest._write(folder, algorithms, wanted, _by_workers(client, files_per_task, threads, progress))


def check_manifest(
    client: distributed.Client,
    file: "str | os.PathLike[str] | Buffer",
    folder: str | os.PathLike[str],
    *,
    files_per_task: int = 64,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> ManifestReport:
    """Compares a folder with its manifest: the report of pyhashloom.manifest.check, with the worker of each read.
    `file` is the manifest's path or its bytes. The rest is as in write_manifest."""
    return manifest._check(file, folder, _by_workers(client, files_per_task, threads, progress))


def check_list(
    client: distributed.Client,
    file: "str | os.PathLike[str] | Buffer",
    *,
    folder: str | os.PathLike[str] | None = None,
    algorithms: Sequence[str] = (),
    files_per_task: int = 64,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> ListReport:
    """Checks files against a list of checksums: the report of pyhashloom.manifest.check_list, with the worker of each
    file.

    `file` is the list's path or its bytes, which only the caller reads. Names are relative to `folder`, or to the
    caller's current folder, on every worker. The rest is as in files.
    """
    return manifest._check_list(file, folder, algorithms, _by_workers(client, files_per_task, threads, progress))
