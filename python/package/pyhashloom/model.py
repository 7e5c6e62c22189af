# SPDX-License-Identifier: MIT OR Apache-2.0
"""One pass over the folder of a model: what model_signing (OpenSSF Model Signing) signs, and other digests beside it.

`Hashing` takes the place of `model_signing.hashing.Config`, in signing and in verifying. model_signing decides which
files there are and what is signed; pyhashloom reads them, each once, many at a time.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable
from typing import Any

from ._files import FileDigest, files

try:
    import model_signing.hashing
    import model_signing.manifest
except ImportError as error:
    raise ImportError(f"pyhashloom.model needs model_signing ({error}): pip install model-signing") from error

__all__ = ["Hashing"]

_Path = str | bytes | os.PathLike[Any]


class Hashing(model_signing.hashing.Config):  # type: ignore[misc, unused-ignore]
    """A configuration of model_signing whose files pyhashloom hashes. All methods of model_signing's own are there.

    `more` are algorithms that hash what is read too, as `git_blob` and `md5`. Shards are hashed by model_signing,
    without them. `threads` is the largest number of threads; 0 means one for each CPU. `progress` is called with the
    bytes hashed so far and None, up to 20 times a second.
    """

    files: dict[str, FileDigest]
    """After `hash`, `sign` and `verify`: each file that was hashed, by its path below the model. The first of its
    `digests` is the one that is signed, and the others are those of `more`, in their order."""

    def __init__(
        self, *more: str, threads: int = 0, progress: Callable[[int, int | None], object] | None = None
    ) -> None:
        self.files = {}
        self._more, self._threads, self._progress = more, threads, progress
        # A name that is none is an error before anything is read.
        files(["sha256", *more], [])
        super().__init__()

    def _build_file_hasher_factory(self, *args: Any, **kwargs: Any) -> Callable[[pathlib.Path], Any]:
        make = super()._build_file_hasher_factory(*args, **kwargs)

        def noted(path: pathlib.Path) -> Any:
            # The walk ends before a file is read: it takes an empty digest for each.
            hasher = make(path)
            hasher.compute = lambda: model_signing.hashing.hashing.Digest(hasher.digest_name, b"")
            return hasher

        return noted

    def hash(self, model_path: _Path, *, files_to_hash: Iterable[_Path] | None = None) -> Any:
        """Returns the manifest of the model, a model_signing.manifest.Manifest.

        Raises FileError for a file that cannot be read whole, or changes each time: there is no manifest without it."""
        self.files = {}
        top = pathlib.Path(os.fsdecode(model_path))
        wanted = None if files_to_hash is None else [pathlib.Path(os.fsdecode(path)) for path in files_to_hash]
        walked = super().hash(top, files_to_hash=wanted)
        parameters = walked.serialization_type
        found = list(walked.resource_descriptors())
        if parameters["method"] != "files":
            if not all(one.digest.digest_value for one in found):
                raise NotImplementedError(f"model_signing hashes by {parameters['method']} in a way not known here")
            return walked
        kind = model_signing.manifest.SerializationType.from_args(parameters)
        names = [found[0].digest.algorithm if found else "sha256", *self._more]
        paths = [top / one.identifier for one in found]
        items = []
        read = files(names, paths, threads=self._threads, progress=self._progress)
        for one, file in zip(found, read, strict=True):
            items.append(kind.new_item(one.identifier, type(one.digest)(one.digest.algorithm, file.digest)))
            self.files[one.identifier] = file
        return model_signing.manifest.Manifest(walked.model_name, items, kind)
