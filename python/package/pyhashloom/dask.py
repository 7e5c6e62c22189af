# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files, manifests, lists of checksums, torrents and objects in buckets, hashed by the workers of a Dask cluster.

::

    client = dask.distributed.Client("tcp://scheduler:8786")
    for file in pyhashloom.dask.files(client, "sha256", paths):
        print(file.hexdigest, file.path, file.worker, file.attempt)
    report = pyhashloom.dask.verify_torrent(client, "data.torrent", "/mnt/data")
    print(report.is_complete, report.parts)

Every worker needs the package hashloom, and must see the files under the paths given. No worker is told a digest of a
list or a manifest: it returns the digests that it found, and the caller compares. What a worker returns is checked
against the task it had, and anything else is a WorkerError.
"""

import contextlib
import dataclasses
import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import distributed

from . import FileDigest, FileError, manifest, many, new
from . import files as files_here
from ._hashloom import Torrent, hash_listed
from .manifest import ListReport, ManifestReport, Written
from .torrent import FileReport, Report

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = [
    "Part",
    "WorkerDigest",
    "WorkerError",
    "WorkerObject",
    "WorkerReport",
    "check_list",
    "check_manifest",
    "files",
    "sums",
    "verify_torrent",
    "write_manifest",
]

# A worker's result for a file: path, digest, bytes, and the arguments of a FileError.
_Result = tuple[str, bytes | None, int, tuple[str, int | None, str, str, int] | None]

# A task has about this much to read, if the lengths of its files are known.
_TASK_NBYTES = 1 << 30

# Number of times that a torrent's pieces are checked before their file counts as unstable, as on one machine.
_ROUNDS = 3


class WorkerError(RuntimeError):
    """A worker returned something else than the results it was asked for, or failed, or tasks ended their workers again
    and again.

    `worker` is its address, or "unknown". `paths` are the files of the task, or the torrent's content.
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
class Part:
    """Pieces of a torrent that one worker checked."""

    first: int
    """The first piece."""
    end: int
    """The piece after the last one."""
    worker: str
    """The address of the worker."""
    attempt: int
    """1, or one more for each worker that died over the task."""
    round: int
    """1; 2 or 3 for pieces that were checked again, as a file of theirs had changed."""


@dataclass(frozen=True)
class WorkerReport(Report):
    """A Report that tells who checked what."""

    parts: list[Part]
    """The parts, in the order of their rounds and pieces."""


def _on_worker(work: Callable[..., Any], *arguments: Any) -> tuple[str, Any]:
    """Runs on a worker."""
    return distributed.get_worker().address, work(*arguments)


def _run(
    client: distributed.Client,
    work: Callable[..., Any],
    tasks: list[tuple[Any, ...]],
    paths_of: Callable[[int], list[str]],
) -> Iterator[tuple[int, str, int, Any]]:
    """Has tasks done by workers. Yields the number of each task, the worker, the attempt, and what the worker returned,
    as they come. The scheduler gives the task of a worker that died to another one."""
    futures = [client.submit(_on_worker, work, *arguments, pure=False) for arguments in tasks]
    order = {future.key: i for i, future in enumerate(futures)}
    try:
        for future in distributed.as_completed(futures):
            i = order[future.key]
            yield i, *_outcome(client, future, paths_of(i))
    finally:
        client.cancel(futures)


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


def _is_reason(value: object, kinds: Sequence[str] = ("open", "read", "unstable")) -> bool:
    """Whether a value has the form of an error: kind, number, text, bytes read before."""
    if not isinstance(value, tuple) or len(value) != 4:
        return False
    kind, number, text, offset = value
    return kind in kinds and (number is None or type(number) is int) and isinstance(text, str) and _is_count(offset)


def _hash(name: str, paths: list[str], threads: int) -> list[_Result]:
    """Runs on a worker."""
    results: list[_Result] = []
    for file in files_here(name, paths, threads=threads):
        error = file.error
        if error is None:
            results.append((file.path, file.digest, file.nbytes, None))
        else:
            told = (error.kind, error.errno, str(error.strerror), file.path, error.offset)
            results.append((file.path, None, 0, told))
    return results


def _size(name: str) -> int:
    """Bytes of a digest; of SHAKE, of the usual one."""
    return new(name).digest_size or len(many(name, [b""])[0])


def _checked(name: str, asked: list[str], worker: str, attempt: int, results: object) -> list[WorkerDigest]:
    return _checked_files(name, _size(name), asked, worker, attempt, results)


def _checked_files(
    name: str, size: int, asked: list[str], worker: str, attempt: int, results: object
) -> list[WorkerDigest]:
    """The results of a task. Nothing that a worker says is trusted: they must be those of the files asked for."""
    is_result = (
        isinstance(results, list)
        and all(isinstance(result, tuple) and len(result) == 4 for result in results)
        and [result[0] for result in results] == asked
    )
    if not is_result:
        raise WorkerError(f"worker {worker} returned results of other files than it was asked for", worker, asked)
    digests: list[WorkerDigest] = []
    for path, digest, nbytes, told in results:  # type: ignore[attr-defined]
        is_digest = told is None and isinstance(digest, bytes) and len(digest) == size and _is_count(nbytes)
        is_error = (
            digest is None
            and isinstance(told, tuple)
            and len(told) == 5
            and told[3] == path
            and _is_reason((*told[:3], told[4]))
        )
        if not (is_digest or is_error):
            raise WorkerError(f"worker {worker} returned neither a {name} nor an error of {path}", worker, asked)
        error = FileError(*told) if is_error else None
        digests.append(WorkerDigest(path, digest, nbytes if is_digest else 0, error, worker, attempt))
    return digests


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
    tasks = _cut(texts, files_per_task, [])
    done: list[list[WorkerDigest]] = [[] for _ in tasks]
    count = 0
    asked: list[tuple[Any, ...]] = [(name, task, threads) for task in tasks]
    for i, worker, attempt, returned in _run(client, _hash, asked, tasks.__getitem__):
        done[i] = _checked(name, tasks[i], worker, attempt, returned)
        count += len(tasks[i])
        if progress is not None:
            progress(count, len(texts))
    return [digest for task in done for digest in task]


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


def _hash_listed(folder: str, asked: list[tuple[bytes, list[str]]], threads: int) -> list[tuple[bytes, Any]]:
    """Runs on a worker."""
    answers = hash_listed(folder, asked, threads, None)
    return [(name, answer) for (name, _), answer in zip(asked, answers, strict=True)]


def _checked_answers(
    asked: list[tuple[bytes, list[str]]], paths: list[str], worker: str, attempt: int, results: object
) -> list[tuple[list[bytes], int, int | None, Any, str, int]]:
    """The answers of a task: those of the files asked for, in order, each with all its digests or an error."""
    is_result = (
        isinstance(results, list)
        and all(isinstance(result, tuple) and len(result) == 2 for result in results)
        and [name for name, _ in results] == [name for name, _ in asked]
    )
    if not is_result:
        raise WorkerError(f"worker {worker} returned results of other files than it was asked for", worker, paths)
    checked: list[tuple[list[bytes], int, int | None, Any, str, int]] = []
    for (name, algorithms), (_, answer) in zip(asked, results, strict=True):  # type: ignore[call-overload]
        is_answer = False
        if isinstance(answer, tuple) and len(answer) == 4 and isinstance(answer[0], list):
            digests, nbytes, mtime_ns, reason = answer
            sizes = [len(digest) if isinstance(digest, bytes) else -1 for digest in digests]
            if reason is None:
                is_answer = (
                    sizes == [_size(algorithm) for algorithm in algorithms]
                    and _is_count(nbytes)
                    and (mtime_ns is None or type(mtime_ns) is int)
                )
            else:
                is_answer = not digests and nbytes == 0 and mtime_ns is None and _is_reason(reason)
        if not is_answer:
            path = os.fsdecode(name)
            raise WorkerError(f"worker {worker} returned neither the digests nor an error of {path}", worker, paths)
        checked.append((*answer, worker, attempt))
    return checked


def _by_workers(
    client: distributed.Client,
    files_per_task: int,
    threads: int,
    progress: Callable[[int, int], object] | None,
) -> Callable[[str, list[tuple[bytes, list[str]]], list[int]], Iterable[Any]]:
    """A hasher for pyhashloom.manifest."""

    def hashed(folder: str, asked: list[tuple[bytes, list[str]]], sizes: list[int]) -> Iterable[Any]:
        tasks = _cut(asked, files_per_task, sizes)
        done: list[list[Any]] = [[] for _ in tasks]
        count = 0

        def paths_of(i: int) -> list[str]:
            return [os.path.join(folder, os.fsdecode(name)) for name, _ in tasks[i]]

        arguments: list[tuple[Any, ...]] = [(folder, task, threads) for task in tasks]
        for i, worker, attempt, returned in _run(client, _hash_listed, arguments, paths_of):
            done[i] = _checked_answers(tasks[i], paths_of(i), worker, attempt, returned)
            count += len(tasks[i])
            if progress is not None:
                progress(count, len(asked))
        return [answer for task in done for answer in task]

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
) -> list[Any]:
    """Runs on a worker, whose store must be the caller's."""
    from . import store
    from ._objects import results

    source = [functools.partial(_given, one) for _, one in objects]
    found: dict[str, Any] = {}
    for one in results(functools.partial(store._sums, name, top, source, None, options, limits, place)):
        error = one.error
        told = None
        if error is not None:
            told = (error.kind, error.errno, str(error.strerror), one.path, error.offset)
        found[one.path] = (one.path, None if told else one.digest, one.nbytes, told, one.version)
    return [found.get(url) for url, _ in objects]


def _given(one: Any, _: Any) -> Any:
    return one


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
    from ._objects import tie_of

    size = _size(name)
    asked: dict[Any, tuple[Any, list[Any]]] = {}
    running = distributed.as_completed()

    def begin(task: list[Any]) -> None:
        future = client.submit(_on_worker, _hash_objects, name, place, top, task, options, limits, pure=False)
        asked[future.key] = future, task
        running.add(future)

    def ended(future: Any) -> Iterator[WorkerObject]:
        _, task = asked.pop(future.key)
        try:
            worker, attempt, returned = _outcome(client, future, [url for url, _ in task])
            found = _checked_objects(name, size, task, worker, attempt, returned)
        except WorkerError as error:
            for url, one in task:
                told = FileError("read", None, str(error), url, 0)
                told.__cause__ = error
                yield WorkerObject(url, None, 0, told, error.worker, 1, None, one.version)
            return
        for (_, one), result in zip(task, found, strict=True):
            # Only what the caller has seen too goes into the journal.
            if known is not None and one.ties and result.error is None and result.version == one.version:
                known.add(one.path, tie_of(one, result.path, place), result.digest)
            yield result

    with journal as known, contextlib.closing(store._listed(top, options, limits, known is not None)) as listed:
        try:
            task: list[Any] = []
            nbytes = 0
            for url, one in listed:
                joined = known.find(one.path, tie_of(one, url, place)) if known is not None and one.fields else None
                if joined is not None and len(joined) == size:
                    yield WorkerObject(url, joined, one.nbytes, None, "", 0, "journal", one.version)
                    continue
                task.append((url, one))
                nbytes += one.nbytes
                if len(task) == per_task or nbytes >= _TASK_NBYTES:
                    # The number of workers may change meanwhile.
                    while asked and len(asked) >= 2 * sum(client.nthreads().values()):
                        yield from ended(next(running))
                    begin(task)
                    task, nbytes = [], 0
            if task:
                begin(task)
            while asked:
                yield from ended(next(running))
        finally:
            client.cancel([future for future, _ in asked.values()])


def _checked_objects(
    name: str, size: int, asked: list[Any], worker: str, attempt: int, results: object
) -> list[WorkerObject]:
    """The results of a task: those of the objects asked for."""
    urls = [url for url, _ in asked]
    is_result = (
        isinstance(results, list)
        and all(isinstance(result, tuple) and len(result) == 5 for result in results)
        and [result[0] for result in results] == urls
        and all(isinstance(result[4], str) for result in results)
    )
    if not is_result:
        raise WorkerError(f"worker {worker} returned results of other objects than it was asked for", worker, urls)
    told = [result[:4] for result in results]  # type: ignore[attr-defined]
    files = _checked_files(name, size, urls, worker, attempt, told)
    return [
        WorkerObject(
            file.path,
            None if file.error else file.digest,
            file.nbytes,
            file.error,
            worker,
            attempt,
            None if file.error else "read",
            result[4],
        )
        for file, result in zip(files, results, strict=True)  # type: ignore[call-overload]
    ]


@functools.lru_cache(maxsize=1)
def _parsed(content: bytes) -> Torrent:
    return Torrent(content)


def _part(content: bytes, path: str, first: int, end: int, threads: int) -> tuple[Any, ...]:
    """Runs on a worker."""
    return (first, end, *_parsed(content).part(path, first, end, threads))


def _settled(content: bytes, path: str, states: list[str], threads: int) -> tuple[Any, ...]:
    """Runs on a worker."""
    return _parsed(content).settled(path, states, threads)


def _is_stamp(value: object) -> bool:
    return value is None or (isinstance(value, tuple) and len(value) == 3 and all(type(one) is int for one in value))


_TROUBLES = ("open", "read", "outside", "not regular")


def _is_trouble(value: object) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == 5
        and isinstance(value[3], (str, bytes))
        and _is_reason((*value[:3], value[4]), _TROUBLES)
    )


def _checked_part(torrent: Torrent, first: int, end: int, result: object) -> tuple[Any, ...]:
    """A part's content, stamps, states, troubles and bytes. ValueError says what is wrong with it."""
    if not isinstance(result, tuple) or len(result) != 7 or result[:2] != (first, end):
        raise ValueError("other pieces than it was asked for")
    content, stamps, found, troubles, nbytes = result[2:]
    start, stop = torrent.files_of_pieces(first, end)
    if not (isinstance(stamps, list) and len(stamps) == stop - start and all(map(_is_stamp, stamps))):
        raise ValueError("looks at other files than the pieces have")
    if not (isinstance(content, str) and _is_count(nbytes) and isinstance(troubles, list)):
        raise ValueError("no report")
    for trouble in troubles:
        is_one = isinstance(trouble, tuple) and len(trouble) == 2 and type(trouble[0]) is int
        if not (is_one and start <= trouble[0] < stop and _is_trouble(trouble[1])):
            raise ValueError("a trouble of another file than the pieces have")
    if not (isinstance(found, list) and len(found) == end - first):
        raise ValueError("verdicts on other pieces than it was asked for")
    if not all(isinstance(one, tuple) and len(one) == 3 for one in found):
        raise ValueError("no verdicts")
    states = [state for state, _, _ in found]
    if any(state not in ("have", "bad", "disputed", "missing", "unread", "unstable") for state in states):
        raise ValueError("no verdicts")
    digests: list[tuple[bytes | None, bytes | None]] = []
    for _, sha1, root in found:
        if not all(digest is None or isinstance(digest, bytes) for digest in (sha1, root)):
            raise ValueError("no digests")
        digests.append((sha1, root))
    # The torrent's own list decides; a digest of the wrong length is an error.
    for piece, (state, verdict) in enumerate(zip(states, torrent.verdicts(first, digests), strict=True), first):
        if verdict != (state if state in ("have", "bad", "disputed") else "unchecked"):
            raise ValueError(f"the verdict {state} on piece {piece}, which its digests contradict")
    return content, stamps, states, troubles, nbytes


def _checked_end(torrent: Torrent, result: object) -> tuple[Any, ...]:
    """Stamps of all files, the content's place, the states of the pieces, the files, and troubles by file."""
    own = torrent.files()
    if not isinstance(result, tuple) or len(result) != 3 or not isinstance(result[2], tuple) or len(result[2]) != 6:
        raise ValueError("no report")
    stamps, troubled, (content, pieces, _, files, troubles, _) = result
    if not (isinstance(stamps, list) and len(stamps) == len(own) and all(map(_is_stamp, stamps))):
        raise ValueError("looks at other files than the torrent has")
    if not (isinstance(content, str) and isinstance(pieces, list) and len(pieces) == torrent.piece_count):
        raise ValueError("no report")
    is_troubled = isinstance(troubled, list) and isinstance(troubles, list) and len(troubled) == len(troubles)
    if not (is_troubled and all(file in range(len(own)) for file in troubled) and all(map(_is_trouble, troubles))):
        raise ValueError("troubles of other files than the torrent has")
    if not (isinstance(files, list) and len(files) == len(own)):
        raise ValueError("other files than the torrent has")
    reports: list[FileReport] = []
    for file, (path, nbytes, has_content, first, end) in zip(files, own, strict=True):
        if not (isinstance(file, tuple) and len(file) == 5 and file[:2] == (path, nbytes)):
            raise ValueError(f"another file than the torrent's {os.fsdecode(path)}")
        report = FileReport(*file)
        found = report.found_nbytes
        is_whole = _is_count(found) and found is not None and found >= nbytes and set(pieces[first:end]) <= {"have"}
        if (report.state == "skipped") == has_content or (report.state in ("complete", "too long") and not is_whole):
            raise ValueError(f"{os.fsdecode(path)} as {report.state}, which its pieces contradict")
        reports.append(report)
    return stamps, content, pieces, reports, dict(zip(troubled, (FileError(*one) for one in troubles)))


def _ranges(pieces: Iterable[int], per_task: int) -> list[tuple[int, int]]:
    """Ascending pieces as ranges, each of at most so many."""
    ranges: list[tuple[int, int]] = []
    for piece in pieces:
        if ranges and ranges[-1][1] == piece and piece - ranges[-1][0] < per_task:
            ranges[-1] = (ranges[-1][0], piece + 1)
        else:
            ranges.append((piece, piece + 1))
    return ranges


def verify_torrent(
    client: distributed.Client,
    torrent: "str | os.PathLike[str] | Buffer",
    path: str | os.PathLike[str],
    *,
    pieces_per_task: int | None = None,
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> WorkerReport:
    """Checks every piece of a torrent: the report of pyhashloom.torrent.verify, with the worker and the attempt of each
    part.

    `torrent` is its path or its bytes, which only the caller reads; `path` is that of the content on every worker. A
    task is a range of `pieces_per_task` pieces, 1 GiB if that is not given. Workers return the digests of the pieces,
    and the caller compares them with the torrent. At the end a worker looks at all files: the pieces of a file that has
    changed since it was read, or that looks different to two workers (length and times), are checked again, and the
    file is unstable after the third time. `progress` is called with the number of pieces done and of all pieces; the
    first number falls if pieces must be checked again.

    TorrentError for bytes that are not a torrent, FileError if `torrent` or `path` cannot be read, WorkerError as in
    files.
    """
    started = time.monotonic()
    if isinstance(torrent, (str, os.PathLike)):
        Torrent(torrent)  # its errors are better than those of reading
        with open(torrent, "rb") as file:
            content = file.read()
    else:
        content = bytes(torrent)
    own = Torrent(content)
    place = os.path.abspath(path)
    own_files = own.files()
    count = own.piece_count
    per_task = max(1, _TASK_NBYTES // own.piece_nbytes) if pieces_per_task is None else pieces_per_task
    if per_task < 1:
        raise ValueError("pieces_per_task must be at least 1")
    shared = client.submit(bytes, content, pure=False)  # made again if the workers that have it die

    states = ["unchecked"] * count
    parts: list[Part] = []
    seen: dict[int, set[Any]] = {}
    troubles: dict[int, FileError] = {}
    nbytes_read = 0

    def ended() -> tuple[Any, ...]:
        for _, worker, _, returned in _run(client, _settled, [(shared, place, states, threads)], lambda _: [place]):
            try:
                return _checked_end(own, returned)
            except (TypeError, ValueError) as error:
                raise WorkerError(f"worker {worker} returned {error}", worker, [place]) from error
        raise WorkerError("no worker returned a report", "unknown", [place])

    todo = _ranges(range(count), per_task)
    for number in range(1, _ROUNDS + 1):
        nleft = sum(end - first for first, end in todo)
        places: dict[str, set[int]] = {}
        arguments: list[tuple[Any, ...]] = [(shared, place, first, end, threads) for first, end in todo]
        done: list[Part] = []
        for i, worker, attempt, returned in _run(client, _part, arguments, lambda _: [place]):
            first, end = todo[i]
            try:
                where, stamps, found, told, nbytes = _checked_part(own, first, end, returned)
            except (TypeError, ValueError) as error:
                raise WorkerError(f"worker {worker} returned {error}", worker, [place]) from error
            states[first:end] = found
            start, stop = own.files_of_pieces(first, end)
            places.setdefault(where, set()).update(range(start, stop))
            for index, stamp in enumerate(stamps, start):
                seen.setdefault(index, set()).add(stamp)
            for index, trouble in sorted(told):
                troubles.setdefault(index, FileError(*trouble))
            nbytes_read += nbytes
            done.append(Part(first, end, worker, attempt, number))
            nleft -= end - first
            if progress is not None:
                progress(count - nleft, count)
        parts.extend(sorted(done, key=lambda part: part.first))

        stamps, where, pieces, reports, found_troubles = ended()
        changed = {index for index, looks in seen.items() if looks != {stamps[index]}}
        changed.update(*(files for other, files in places.items() if other != where))
        for piece, (state, later) in enumerate(zip(states, pieces, strict=True)):
            if state != later or state == "unstable":
                changed.update(range(*own.files_of_pieces(piece, piece + 1)))
        if not changed:
            break
        again = sorted({piece for index in changed for piece in range(*own_files[index][3:])})
        if number == _ROUNDS:
            for piece in again:
                states[piece] = "unstable"
            stamps, where, pieces, reports, found_troubles = ended()
            for index, (_, _, has_content, first, end) in enumerate(own_files):
                if index in changed and has_content:
                    reports[index] = dataclasses.replace(reports[index], state="unstable")
                elif reports[index].state in ("complete", "too long") and not set(states[first:end]) <= {"have"}:
                    reports[index] = dataclasses.replace(reports[index], state="incomplete")
        for index in changed:
            seen.pop(index, None)
            troubles.pop(index, None)
        todo = _ranges(again, per_task)

    for index, trouble in found_troubles.items():
        troubles.setdefault(index, trouble)
    bits = "".join("1" if state == "have" else "0" for state in states)
    bitfield = bytes(int(bits[i : i + 8].ljust(8, "0"), 2) for i in range(0, count, 8))
    is_there = all(file.state in ("complete", "too long", "skipped") for file in reports)
    is_complete = set(states) <= {"have"} and is_there
    return WorkerReport(
        where,
        states,
        bitfield,
        reports,
        [troubles[index] for index in sorted(troubles)],
        is_complete,
        nbytes_read,
        time.monotonic() - started,
        parts,
    )
