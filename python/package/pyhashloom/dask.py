# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files, manifests, lists of checksums and objects in buckets, hashed by the workers of a Dask cluster.

::

    client = dask.distributed.Client("tcp://scheduler:8786")
    for file in pyhashloom.dask.files(client, "sha256", paths):
        print(file.hexdigest, file.path, file.worker, file.attempt)
    report = pyhashloom.dask.check_manifest(client, "data.manifest", "/mnt/data")
    print(report.is_same, report.reads)

Every worker needs the package hashloom, and must see the files under the paths given. No worker is told a digest of a
list or a manifest: it returns the digests that it found, and the caller compares. What a worker returns is checked
against the task it had, and anything else is a WorkerError.
"""

import contextlib
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import distributed

from . import FileDigest, FileError, manifest, many, new
from ._hashloom import hash_listed
from .manifest import ListReport, ManifestReport, Written, _error

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "WorkerDigest",
    "WorkerError",
    "WorkerObject",
    "check_list",
    "check_manifest",
    "files",
    "sums",
    "write_manifest",
]

# A file to hash: its name and the algorithms.
_Asked = tuple[bytes, list[str]]

# What a worker found: digests, bytes, the time of a file or the version of an object, or why there is no digest (kind,
# number, text, bytes read before).
_Answer = tuple[list[bytes], int, Any, Any]

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

    __slots__ = ("attempt", "worker")

    worker: str
    """The address of the worker."""
    attempt: int
    """1, or one more for each worker that died over the task of this file."""

    def __init__(
        self, path: str, digest: bytes | None, nbytes: int, error: FileError | None, worker: str, attempt: int
    ) -> None:
        super().__init__(path, digest, nbytes, error)
        self.worker = worker
        self.attempt = attempt


@dataclass(frozen=True)
class _Task:
    """Files or objects for one worker."""

    asked: Sequence[tuple[bytes | str, list[str]]]
    """Names or URLs, each with its algorithms."""
    paths: list[str]
    """The same, as errors tell them."""
    arguments: tuple[Any, ...]
    """Those of the function that the worker calls."""


def _on_worker(work: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Runs on a worker."""
    return distributed.get_worker().address, work(*arguments)


class _Running:
    """Tasks that are under way on workers. The scheduler gives the task of a worker that died to another one."""

    def __init__(self, client: distributed.Client, work: Callable[..., Any]) -> None:
        self._client = client
        self._work = work
        self._begun: dict[str, tuple[_Task, Any]] = {}
        self._ended = distributed.as_completed()

    def __len__(self) -> int:
        return len(self._begun)

    def begin(self, task: _Task) -> None:
        future = self._client.submit(_on_worker, self._work, *task.arguments, pure=False)
        self._begun[future.key] = task, future
        self._ended.add(future)

    def next(self) -> tuple[_Task, Any]:
        """The next task that ends, and its future."""
        return self._begun.pop(next(self._ended).key)

    def close(self) -> None:
        self._client.cancel([future for _, future in self._begun.values()])


def _answers(client: distributed.Client, task: _Task, future: Any) -> list[tuple[list[bytes], int, Any, Any, str, int]]:
    """The answers of a task that ended, each with the worker and the attempt. Nothing that a worker says is trusted:
    they must be those of the files asked for, in order, each with all its digests or an error."""
    worker, attempt, returned = _outcome(client, future, task.paths)
    is_result = isinstance(returned, list) and all(isinstance(one, tuple) and len(one) == 2 for one in returned)
    if not is_result or [name for name, _ in returned] != [name for name, _ in task.asked]:
        text = f"worker {worker} returned results of other files than it was asked for"
        raise WorkerError(text, worker, task.paths)
    for path, (_, algorithms), (_, answer) in zip(task.paths, task.asked, returned, strict=True):
        if not _is_answer(answer, algorithms):
            text = f"worker {worker} returned neither the {' and '.join(algorithms)} nor an error of {path}"
            raise WorkerError(text, worker, task.paths)
    return [(*answer, worker, attempt) for _, answer in returned]


def _outcome(client: distributed.Client, future: Any, paths: list[str]) -> tuple[str, int, Any]:
    """The worker, the attempt, and what the worker returned for the task of these paths."""
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
    return returned[0], 1 + _deaths(client, future.key), returned[1]


def _some(paths: list[str]) -> str:
    return paths[0] + (f" and {len(paths) - 1} more" if len(paths) > 1 else "")


def _deaths(client: distributed.Client, key: str) -> int:
    """The number of workers that died while they had the task."""

    def suspicious(dask_scheduler: distributed.Scheduler) -> int:
        task = dask_scheduler.tasks.get(key)
        return 0 if task is None else int(task.suspicious)

    return int(client.run_on_scheduler(suspicious))


def _is_count(value: object) -> bool:
    return type(value) is int and value >= 0


def _is_answer(answer: object, algorithms: list[str]) -> bool:
    """Whether a value has the form of an answer."""
    if not (isinstance(answer, tuple) and len(answer) == 4 and isinstance(answer[0], list)):
        return False
    digests, nbytes, seen, reason = answer
    if not isinstance(seen, (int, str, type(None))):
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
    """The digests of files, in the order of the paths: those of pyhashloom.files, with the worker and the attempt.

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
        WorkerDigest(text, None, 0, _error(reason, "", os.fsencode(text)), worker, attempt)
        if reason is not None
        else WorkerDigest(text, digests[0], nbytes, None, worker, attempt)
        for text, (digests, nbytes, _, reason, worker, attempt) in zip(texts, answers, strict=True)
    ]


def _cut(items: list[Any], per_task: int, sizes: list[int]) -> list[list[Any]]:
    """Cuts items into tasks: at most so many items, and not much more to read than _TASK_NBYTES."""
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


def _hash_listed(folder: str, asked: list[_Asked], threads: int) -> list[tuple[bytes, _Answer]]:
    """Runs on a worker."""
    answers = hash_listed(folder, asked, threads, None)
    return [(name, answer) for (name, _), answer in zip(asked, answers, strict=True)]


def _by_workers(
    client: distributed.Client,
    files_per_task: int,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> Callable[[str, list[_Asked], list[int]], list[Any]]:
    """A hasher for pyhashloom.manifest."""

    def hashed(folder: str, asked: list[_Asked], sizes: list[int]) -> list[Any]:
        tasks = [
            _Task(part, [os.path.join(folder, os.fsdecode(name)) for name, _ in part], (folder, part, threads))
            for part in _cut(asked, files_per_task, sizes)
        ]
        found: dict[int, list[Any]] = {}
        count = 0
        with contextlib.closing(_Running(client, _hash_listed)) as running:
            for task in tasks:
                running.begin(task)
            while running:
                task, future = running.next()
                found[id(task)] = _answers(client, task, future)
                count += len(task.asked)
                if progress is not None:
                    progress(count, len(asked))
        return [answer for task in tasks for answer in found[id(task)]]

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
    """The manifest of a folder: the bytes of pyhashloom.manifest.write, with the worker and the attempt of each read.

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
    """Compares a folder with its manifest: the report of pyhashloom.manifest.check, with the worker and the attempt of
    each read. `file` is the manifest's path or its bytes. The rest is as in write_manifest."""
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
    """Checks files against a list of checksums: the report of pyhashloom.manifest.check_list, with the worker and the
    attempt of each file.

    `file` is the list's path or its bytes, which only the caller reads. Names are relative to `folder`, or to the
    caller's current folder, on every worker. The rest is as in files.
    """
    return manifest._check_list(file, folder, algorithms, _by_workers(client, files_per_task, threads, progress))


class WorkerObject(WorkerDigest):
    """A WorkerDigest of an object in a bucket."""

    __slots__ = ("source", "version")

    source: str | None
    """"read" by the worker, "journal" if an earlier call had it read, None if there is an error."""
    version: str
    """The version that was read: what the store tells that changes with the bytes, such as ETag and time."""

    def __init__(
        self,
        path: str,
        digest: bytes | None,
        nbytes: int,
        error: FileError | None,
        worker: str,
        attempt: int,
        source: str | None,
        version: str,
    ) -> None:
        super().__init__(path, digest, nbytes, error, worker, attempt)
        self.source = source
        self.version = version


def _hash_objects(
    name: str, place: str, top: str, objects: list[Any], options: dict[str, Any], limits: Any
) -> list[tuple[str, _Answer | None]]:
    """Runs on a worker, whose store must be the caller's."""
    from . import store
    from ._objects import results

    found: dict[str, _Answer] = {}
    source = [one for _, one in objects]
    for one in results(functools.partial(store._sums, name, top, source, None, options, limits, place)):
        error = one.error
        if error is None:
            found[one.path] = [one.digest], one.nbytes, one.version, None
        else:
            found[one.path] = [], 0, one.version, (error.kind, error.errno, str(error.strerror), error.offset)
    return [(url, found.get(url)) for url, _ in objects]


def sums(
    client: distributed.Client,
    name: str,
    url: str,
    *,
    journal: str | os.PathLike[str] | None = None,
    objects_per_task: int = 500,
    storage_options: dict[str, Any] | None = None,
    requests: int = 64,
    memory_nbytes: int = 128 << 20,
    range_nbytes: int = 8 << 20,
    retries: int = 5,
) -> Iterator[WorkerObject]:
    """The digests of the objects below a URL, as pyhashloom.store.sums, by the workers of a cluster, as their tasks
    end.

    The caller lists the objects and keeps the journal. A task has `objects_per_task` objects, fewer if they are long,
    and is begun as others end: two for each thread of a worker are under way, whatever the number of objects.
    `requests` and `memory_nbytes` are those of one task. `storage_options` travel to the workers as they are: rather
    than keys, give the workers a role or an environment of their own.

    A task that fails, or whose answer is not that of its objects, costs its own objects alone: their results have an
    error of the kind "read" whose `__cause__` is the WorkerError, and they are not in the journal.
    """
    from . import store
    from ._objects import Limits

    new(name)
    if objects_per_task < 1:
        raise ValueError("objects_per_task must be at least 1")
    limits = Limits(requests, memory_nbytes, range_nbytes, retries)
    options = dict(storage_options or {})
    place = store._place(url, options, limits)
    return _sums(client, name, place, url, store._opened(journal, url, [name]), objects_per_task, options, limits)


def _sums(
    client: distributed.Client,
    name: str,
    place: str,
    top: str,
    journal: Any,
    per_task: int,
    options: dict[str, Any],
    limits: Any,
) -> Iterator[WorkerObject]:
    from . import store
    from ._objects import key_of

    def ended(task: _Task, future: Any) -> Iterator[WorkerObject]:
        try:
            answers = _answers(client, task, future)
        except WorkerError as error:
            for url, one in task.arguments[3]:
                told = FileError("read", None, str(error), url, 0)
                told.__cause__ = error
                yield WorkerObject(url, None, 0, told, error.worker, 1, None, one.version)
            return
        for (url, one), (digests, nbytes, version, reason, worker, attempt) in zip(task.arguments[3], answers):
            if reason is not None:
                told = FileError(reason[0], reason[1], reason[2], url, reason[3])
                yield WorkerObject(url, None, 0, told, worker, attempt, None, version)
                continue
            # Only what the caller has seen too goes into the journal.
            if known is not None and one.ties and version == one.version:
                known.add(*key_of(one, url, place), digests[0])
            yield WorkerObject(url, digests[0], nbytes, None, worker, attempt, "read", version)

    def begin(part: list[tuple[str, Any]]) -> None:
        urls = [url for url, _ in part]
        arguments = name, place, top, part, options, limits
        running.begin(_Task([(url, [name]) for url in urls], urls, arguments))

    with (
        journal as known,
        contextlib.closing(store._listed(top, options, limits, known is not None)) as listed,
        contextlib.closing(_Running(client, _hash_objects)) as running,
    ):
        part: list[tuple[str, Any]] = []
        part_nbytes = 0
        for url, one in listed:
            joined = known.find(*key_of(one, url, place)) if known is not None and one.fields else None
            if joined is not None and len(joined) == _size(name):
                yield WorkerObject(url, joined, one.nbytes, None, "", 0, "journal", one.version)
                continue
            part.append((url, one))
            part_nbytes += one.nbytes
            if len(part) == per_task or part_nbytes >= _TASK_NBYTES:
                # The number of workers may change meanwhile.
                while running and len(running) >= 2 * sum(client.nthreads().values()):
                    yield from ended(*running.next())
                begin(part)
                part, part_nbytes = [], 0
        if part:
            begin(part)
        while running:
            yield from ended(*running.next())
