# SPDX-License-Identifier: MIT OR Apache-2.0
"""Digests of files by the workers of a Dask cluster.

::

    client = dask.distributed.Client("tcp://scheduler:8786")
    for file in hashloom.dask.files(client, "sha256", paths):
        print(file.hexdigest, file.path, file.worker, file.attempt)

Every worker needs the package hashloom, and must see the files under the paths given.
"""

import os
from collections.abc import Callable, Iterable

import distributed

from . import FileDigest, FileError, new
from . import files as files_here

__all__ = ["WorkerDigest", "WorkerError", "files"]

# A worker's result for a file: path, digest, bytes, and the arguments of a FileError.
_Result = tuple[str, bytes | None, int, tuple[str, int | None, str, str, int] | None]


class WorkerError(RuntimeError):
    """A worker returned something else than the digests it was asked for, or tasks ended their workers again and again.

    `worker` is its address, `paths` are the files of the task.
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


def _hash(name: str, paths: list[str], threads: int) -> tuple[str, list[_Result]]:
    """Runs on a worker."""
    results: list[_Result] = []
    for file in files_here(name, paths, threads=threads):
        error = file.error
        if error is None:
            results.append((file.path, file.digest, file.nbytes, None))
        else:
            told = (error.kind, error.errno, str(error.strerror), file.path, error.offset)
            results.append((file.path, None, 0, told))
    return distributed.get_worker().address, results


def _checked(name: str, asked: list[str], returned: object, attempt: int) -> list[WorkerDigest]:
    """The results of a task. Nothing that a worker says is trusted: they must be those of the files asked for."""
    worker, results = returned if isinstance(returned, tuple) and len(returned) == 2 else ("unknown", None)
    size = new(name).digest_size
    if not isinstance(results, list) or [result[0] for result in results] != asked:
        raise WorkerError(f"worker {worker} returned results of other files than it was asked for", worker, asked)
    digests = []
    for path, digest, nbytes, told in results:
        if (digest is None) == (told is None) or (digest is not None and len(digest) != size):
            raise WorkerError(f"worker {worker} returned no {name} of {path}", worker, asked)
        error = None if told is None else FileError(*told)
        digests.append(WorkerDigest(path, digest, nbytes, error, worker, attempt))
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
    """The digests of files, in the order of the paths: those of hashloom.files, with the worker and the attempt.

    A task has `files_per_task` files, which a worker hashes side by side with `threads` threads. If a worker dies, the
    scheduler gives its tasks to others (`distributed.scheduler.allowed-failures` times). A file that cannot be read
    does not stop the others. `progress` is called with the number of files done and of all files.

    WorkerError if a worker returns anything else than the digests of its files, or no worker survives a task.
    """
    if files_per_task < 1:
        raise ValueError("files_per_task must be at least 1")
    new(name)  # an unknown name is an error here, not in each task
    texts = [os.fsdecode(path) for path in paths]
    tasks = [texts[i : i + files_per_task] for i in range(0, len(texts), files_per_task)]
    futures = [client.submit(_hash, name, task, threads, pure=False) for task in tasks]
    order = {future.key: i for i, future in enumerate(futures)}
    done: list[list[WorkerDigest]] = [[] for _ in tasks]
    count = 0
    try:
        for future in distributed.as_completed(futures):
            i = order[future.key]
            try:
                returned = future.result()
            except distributed.KilledWorker as error:
                worker = str(error.last_worker and error.last_worker.address)
                message = f"no worker survived the task of {tasks[i][0]} and the files after it: {error}"
                raise WorkerError(message, worker, tasks[i]) from error
            done[i] = _checked(name, tasks[i], returned, 1 + _deaths(client, future.key))
            count += len(tasks[i])
            if progress is not None:
                progress(count, len(texts))
    finally:
        client.cancel(futures)
    return [digest for task in done for digest in task]


def _deaths(client: distributed.Client, key: str) -> int:
    """The number of workers that died while they had the task."""

    def suspicious(dask_scheduler: distributed.Scheduler) -> int:
        task = dask_scheduler.tasks.get(key)
        return 0 if task is None else int(task.suspicious)

    return int(client.run_on_scheduler(suspicious))
