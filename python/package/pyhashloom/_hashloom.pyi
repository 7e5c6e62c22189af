# SPDX-License-Identifier: MIT OR Apache-2.0
# The types of the compiled module. A buffer is a type of Python only from 3.12 on. Type checkers bring
# typing_extensions along; where numpy is not installed they take its arrays for Any.

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, final, overload

import numpy
import numpy.typing
from typing_extensions import Buffer, disjoint_base

__all__ = [
    "Column",
    "ColumnReader",
    "Differ",
    "Files",
    "HMAC",
    "Hash",
    "HashXOF",
    "Journal",
    "Listing",
    "SigningKey",
    "VerifyingKey",
    "__version__",
    "algorithms",
    "column",
    "compare_digest",
    "hash160",
    "hash_listed",
    "hmac_digest",
    "hmac_many",
    "hmac_new",
    "is_public_key",
    "list_read",
    "manifest_signed",
    "many",
    "new",
    "pbkdf2_hmac",
    "pbkdf2_hmac_many",
    "rows",
    "sha256d",
    "slh_dsa_parameter_sets",
    "slh_dsa_verify_many",
    "sorted_digests",
    "torrent_create",
    "torrent_verify",
    "tree_bep52",
    "tree_fsverity",
    "tree_s3",
    "tree_s3_crc",
    "update_many",
    # algorithms.py: python_all
    "blake2b",
    "blake2b_256",
    "blake2s",
    "blake3",
    "keccak_256",
    "md5",
    "ripemd160",
    "sha1",
    "sha224",
    "sha256",
    "sha384",
    "sha3_224",
    "sha3_256",
    "sha3_384",
    "sha3_512",
    "sha512",
    "sha512_224",
    "sha512_256",
    "shake_128",
    "shake_256",
    "sm3",
    # algorithms.py: end
]

# numpy's arrays are buffers for type checkers only from Python 3.12 on.
_Data: TypeAlias = Buffer | numpy.typing.NDArray[Any]

__version__: str
algorithms: list[str]

class _AnyHash(Protocol):
    @property
    def name(self) -> str: ...
    def digest(self) -> bytes: ...

class _Constructor(Protocol):
    def new(self) -> _AnyHash: ...

_Digestmod: TypeAlias = str | Callable[[], _AnyHash] | _Constructor

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...

_Bools: TypeAlias = numpy.typing.NDArray[numpy.bool_]

class _Lazy(Protocol):
    def collect_schema(self) -> Any: ...

class _Typed(Protocol):
    def __arrow_c_schema__(self) -> Any: ...

_Columns: TypeAlias = _ArrowStream | _ArrowArray | _Lazy | Iterable[_ArrowArray] | Iterable[_ArrowStream]
_Schema: TypeAlias = Mapping[str, Any] | _Typed | _ArrowStream | _Lazy | str | os.PathLike[str]

@final
class Differ:
    """Rows of two tables as digests."""

    def __new__(cls) -> Differ: ...
    def add(self, is_second: bool, keys: Column, wholes: Column) -> None: ...
    def compare(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes], tuple[bytes, bytes], int, int]: ...

def sorted_digests(column: Column) -> bytes: ...

@final
class Column:
    """A column of digests, by the Arrow PyCapsule interface."""

    @property
    def name(self) -> str: ...
    @property
    def output(self) -> Literal["hex", "binary"]: ...
    @property
    def null_count(self) -> int: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str | bytes | None]: ...
    # numpy's arrays have __index__, too.
    @overload
    def __getitem__(  # type: ignore[overload-overlap] # pyright: ignore
        self, key: Sequence[int] | numpy.typing.NDArray[Any], /
    ) -> numpy.typing.NDArray[Any]: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> str | bytes | None: ...
    @overload
    def __getitem__(self, key: slice, /) -> Column: ...
    def __eq__(self, other: object, /) -> _Bools: ...  # type: ignore[override] # pyright: ignore
    def __ne__(self, other: object, /) -> _Bools: ...  # type: ignore[override] # pyright: ignore
    __pandas_priority__: int
    __hash__: None  # type: ignore[assignment] # pyright: ignore
    def equals(self, other: object) -> bool: ...
    def to_list(self) -> list[str | bytes | None]: ...
    def to_numpy(self) -> numpy.typing.NDArray[Any]: ...
    def to_arrow(self) -> Any: ...
    def _equal(self, other: Column) -> bytes: ...
    @staticmethod
    def _of(name: str, nbytes: int | None, arrays: list[tuple[int, bytes | None, bytes]], index: Any) -> Column: ...
    @property
    def _index(self) -> Any: ...
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]: ...
    def to_pylist(self) -> list[str | bytes | None]: ...
    def to_pandas(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> numpy.typing.NDArray[Any]: ...
    def __arrow_array__(self, type: Any = None) -> Any: ...
    def _repr_html_(self) -> str: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class ColumnReader:
    """Digests that are made as they are read: columns by a for loop, or record batches by the PyCapsule interface."""

    def __iter__(self) -> ColumnReader: ...
    def __next__(self) -> Column: ...
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@disjoint_base
class Hash:
    """A hash object, as those of hashlib. Any number of threads may use it at once."""

    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, data: _Data, /) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> Hash: ...

@final
class HashXOF(Hash):
    """A hash object of an algorithm whose digests may have any length, as shake_128's of hashlib."""

    def digest(self, length: int) -> bytes: ...  # type: ignore[override]
    def hexdigest(self, length: int) -> str: ...  # type: ignore[override]
    def copy(self) -> HashXOF: ...

@final
class Journal:
    """Digests of objects in a file, each with what ties it to its object. Any number of threads may use it at once."""

    def __new__(cls, file: str | os.PathLike[str], subject: str) -> Journal: ...
    def find(self, key: bytes, tie: bytes) -> bytes | None: ...
    def add(self, key: bytes, tie: bytes, value: bytes) -> None: ...
    def close(self) -> None: ...

@final
class HMAC:
    """An HMAC object, as those of the module hmac. Any number of threads may use it at once."""

    def __new__(cls, key: _Data, msg: _Data | None = None, digestmod: _Digestmod | None = None) -> HMAC: ...
    @property
    def name(self) -> str: ...
    @property
    def digest_size(self) -> int: ...
    @property
    def block_size(self) -> int: ...
    def update(self, msg: _Data) -> None: ...
    def digest(self) -> bytes: ...
    def hexdigest(self) -> str: ...
    def copy(self) -> HMAC: ...

@final
class SigningKey:
    """A secret key of SLH-DSA, with its public half."""

    @staticmethod
    def generate(parameter_set: str, *, threads: int = 1) -> SigningKey: ...
    @staticmethod
    def from_seeds(parameter_set: str, seeds: _Data, *, threads: int = 1) -> SigningKey: ...
    @staticmethod
    def from_bytes(parameter_set: str, data: _Data) -> SigningKey: ...
    @staticmethod
    def from_pem(pem: str | _Data) -> SigningKey: ...
    @staticmethod
    def from_der(der: _Data) -> SigningKey: ...
    def to_bytes(self) -> bytes: ...
    def to_pem(self) -> str: ...
    def to_der(self) -> bytes: ...
    @property
    def verifying_key(self) -> VerifyingKey: ...
    @property
    def parameter_set(self) -> str: ...
    def sign(
        self,
        message: _Data,
        *,
        context: _Data | None = None,
        prehash: str | None = None,
        deterministic: bool = False,
        threads: int = 1,
    ) -> bytes: ...
    def sign_many(
        self,
        messages: Iterable[_Data],
        *,
        context: _Data | None = None,
        prehash: str | None = None,
        deterministic: bool = False,
        threads: int = 1,
    ) -> list[bytes]: ...
    def sign_internal(self, message: _Data, randomness: _Data | None = None) -> bytes: ...

@final
class VerifyingKey:
    """A public key of SLH-DSA."""

    @staticmethod
    def from_bytes(parameter_set: str, data: _Data) -> VerifyingKey: ...
    @staticmethod
    def from_pem(pem: str | _Data) -> VerifyingKey: ...
    @staticmethod
    def from_der(der: _Data) -> VerifyingKey: ...
    def to_bytes(self) -> bytes: ...
    def to_pem(self) -> str: ...
    def to_der(self) -> bytes: ...
    @property
    def parameter_set(self) -> str: ...
    def verify(
        self, message: _Data, signature: _Data, *, context: _Data | None = None, prehash: str | None = None
    ) -> bool: ...
    def verify_many(
        self,
        messages: Iterable[_Data],
        signatures: Iterable[_Data],
        *,
        context: _Data | None = None,
        prehash: str | None = None,
        threads: int = 1,
    ) -> list[bool]: ...
    def verify_internal(self, message: _Data, signature: _Data) -> bool: ...
    def __hash__(self) -> int: ...

slh_dsa_parameter_sets: list[str]

def slh_dsa_verify_many(
    keys: Iterable[VerifyingKey],
    messages: Iterable[_Data],
    signatures: Iterable[_Data],
    *,
    context: _Data | None = None,
    prehash: str | None = None,
    threads: int = 1,
) -> list[bool]: ...

# algorithms.py: python_stubs
def sha1(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha224(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha384(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha512(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha512_224(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha512_256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def ripemd160(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def md5(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha3_224(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha3_256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha3_384(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def sha3_512(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def keccak_256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def shake_128(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> HashXOF: ...
def shake_256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> HashXOF: ...
def sm3(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def blake2b(
    data: _Data = b"", *, digest_size: int | None = None, key: _Data = b"", salt: _Data = b"",
    person: _Data = b"", usedforsecurity: bool = True, string: _Data | None = None
) -> Hash: ...
def blake2b_256(data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None) -> Hash: ...
def blake2s(
    data: _Data = b"", *, digest_size: int | None = None, key: _Data = b"", salt: _Data = b"",
    person: _Data = b"", usedforsecurity: bool = True, string: _Data | None = None
) -> Hash: ...
def blake3(
    data: _Data = b"", *, key: _Data | None = None, derive_key_context: str | None = None,
    usedforsecurity: bool = True, string: _Data | None = None
) -> Hash: ...
# algorithms.py: end
def new(
    name: str, data: _Data = b"", *, usedforsecurity: bool = True, string: _Data | None = None
) -> Hash: ...
def hash160(data: _Data, /) -> bytes: ...
def sha256d(data: _Data, /) -> bytes: ...
@overload
def many(
    name: str,
    messages: Iterable[_Data] | _Data,
    /,
    *,
    output: Literal["bytes"] = "bytes",
    length: int | None = None,
    threads: int = 1,
) -> list[bytes]: ...
@overload
def many(
    name: str,
    messages: Iterable[_Data] | _Data,
    /,
    *,
    output: Literal["hex"],
    length: int | None = None,
    threads: int = 1,
) -> list[str]: ...
@overload
def many(
    name: str,
    messages: Iterable[_Data] | _Data,
    /,
    *,
    output: Literal["joined"],
    length: int | None = None,
    threads: int = 1,
) -> bytes: ...
@overload
def many(
    name: str,
    messages: Iterable[_Data] | _Data,
    /,
    *,
    output: Literal["numpy"],
    length: int | None = None,
    threads: int = 1,
) -> numpy.typing.NDArray[numpy.uint8]: ...
@overload
def many(
    name: str,
    messages: Iterable[_Data] | _Data,
    /,
    *,
    output: str,
    length: int | None = None,
    threads: int = 1,
) -> list[bytes] | list[str] | bytes | numpy.typing.NDArray[numpy.uint8]: ...
@overload
def rows(
    name: str,
    data: _Data,
    /,
    row_nbytes: int | None = None,
    *,
    output: Literal["bytes"] = "bytes",
    length: int | None = None,
    threads: int = 1,
) -> list[bytes]: ...
@overload
def rows(
    name: str,
    data: _Data,
    /,
    row_nbytes: int | None = None,
    *,
    output: Literal["hex"],
    length: int | None = None,
    threads: int = 1,
) -> list[str]: ...
@overload
def rows(
    name: str,
    data: _Data,
    /,
    row_nbytes: int | None = None,
    *,
    output: Literal["joined"],
    length: int | None = None,
    threads: int = 1,
) -> bytes: ...
@overload
def rows(
    name: str,
    data: _Data,
    /,
    row_nbytes: int | None = None,
    *,
    output: Literal["numpy"],
    length: int | None = None,
    threads: int = 1,
) -> numpy.typing.NDArray[numpy.uint8]: ...
@overload
def rows(
    name: str,
    data: _Data,
    /,
    row_nbytes: int | None = None,
    *,
    output: str,
    length: int | None = None,
    threads: int = 1,
) -> list[bytes] | list[str] | bytes | numpy.typing.NDArray[numpy.uint8]: ...
# pyhashloom.column has the types of the results.
def column(
    name: str,
    /,
    *columns: _Columns,
    output: Literal["hex", "binary"] = "hex",
    salt: _Data | None = None,
    key: _Data | None = None,
    length: int | None = None,
    threads: int = 0,
    stream: bool = False,
    field: str | None = None,
    index: Any = None,
) -> Any: ...
def hmac_new(
    key: _Data, msg: _Data | None = None, digestmod: _Digestmod | None = None
) -> HMAC: ...
def hmac_digest(key: _Data, msg: _Data, digest: _Digestmod) -> bytes: ...
@overload
def hmac_many(
    key: _Data,
    messages: Iterable[_Data] | _Data,
    digestmod: _Digestmod,
    *,
    output: Literal["bytes"] = "bytes",
    threads: int = 1,
) -> list[bytes]: ...
@overload
def hmac_many(
    key: _Data,
    messages: Iterable[_Data] | _Data,
    digestmod: _Digestmod,
    *,
    output: Literal["hex"],
    threads: int = 1,
) -> list[str]: ...
@overload
def hmac_many(
    key: _Data,
    messages: Iterable[_Data] | _Data,
    digestmod: _Digestmod,
    *,
    output: Literal["joined"],
    threads: int = 1,
) -> bytes: ...
@overload
def hmac_many(
    key: _Data,
    messages: Iterable[_Data] | _Data,
    digestmod: _Digestmod,
    *,
    output: Literal["numpy"],
    threads: int = 1,
) -> numpy.typing.NDArray[numpy.uint8]: ...
@overload
def hmac_many(
    key: _Data,
    messages: Iterable[_Data] | _Data,
    digestmod: _Digestmod,
    *,
    output: str,
    threads: int = 1,
) -> list[bytes] | list[str] | bytes | numpy.typing.NDArray[numpy.uint8]: ...
def pbkdf2_hmac(hash_name: str, password: _Data, salt: _Data, iterations: int, dklen: int | None = None) -> bytes: ...
def pbkdf2_hmac_many(
    hash_name: str,
    passwords: Iterable[_Data],
    salts: Iterable[_Data],
    iterations: int,
    dklen: int | None = None,
    *,
    threads: int = 0,
) -> list[bytes]: ...
@overload
def compare_digest(a: str, b: str, /) -> bool: ...
@overload
def compare_digest(a: _Data, b: _Data, /) -> bool: ...

_Progress: TypeAlias = Callable[[int, int | None], object]

# The digests, the bytes, and the error: its kind, number, text and offset.
_Hashed: TypeAlias = tuple[tuple[bytes, ...], int, None] | tuple[None, int, tuple[str, int | None, str, int]]

@final
class Files(Iterator[_Hashed]):
    def __new__(cls, names: list[str], paths: list[str], threads: int, progress: _Progress | None) -> Files: ...
    def __iter__(self) -> Files: ...
    def __next__(self) -> _Hashed: ...
    def close(self) -> None: ...

def torrent_create(
    path: str | os.PathLike[str],
    version: str,
    piece_nbytes: int | None,
    trackers: list[list[str]],
    web_seeds: list[str],
    private: bool,
    source: str | None,
    comment: str | None,
    date: int | None,
    name: str | None,
    threads: int,
    progress: Callable[[int, int | None], object] | None,
) -> tuple[bytes, bytes | None, bytes | None, int]: ...
# The fields of pyhashloom.torrent.Report.
_Fields: TypeAlias = tuple[
    str,
    list[str],
    bytes,
    list[tuple[bytes, int, str, int | None, str | None]],
    list[tuple[str, int | None, str, str, int]],
    tuple[bool, int, float],
]

_PathOrData: TypeAlias = str | os.PathLike[str] | _Data

def tree_bep52(data: _PathOrData, threads: int, progress: _Progress | None) -> bytes | None: ...
def tree_s3(
    data: _PathOrData, name: str, part_nbytes: int, threads: int, progress: _Progress | None
) -> tuple[bytes, list[bytes], str]: ...
def tree_s3_crc(
    data: _PathOrData, name: str, part_nbytes: int | None, threads: int, progress: _Progress | None
) -> tuple[str, list[str]]: ...
def tree_fsverity(
    data: _PathOrData, name: str, block_nbytes: int, salt: _Data, threads: int, progress: _Progress | None
) -> tuple[bytes, bytes, int, bytes, bytes, str]: ...

def torrent_verify(
    torrent: str | os.PathLike[str] | _Data, path: str | os.PathLike[str], threads: int, progress: _Progress | None
) -> _Fields: ...

# The kind of an error, its number, its text and the bytes read before it.
_Reason: TypeAlias = tuple[str, int | None, str, int]

@final
class Listing:
    def __new__(
        cls,
        folder: str | os.PathLike[str],
        algorithms: list[str],
        wanted: tuple[list[str], list[str], int | None, int | None],
        without: list[str],
        manifest: _Data | None,
    ) -> Listing: ...
    @staticmethod
    def of(
        objects: list[tuple[bytes, int, int]],
        algorithms: list[str],
        wanted: tuple[list[str], list[str], int | None, int | None],
        manifest: _Data | None,
    ) -> Listing: ...
    @property
    def algorithms(self) -> list[str]: ...
    def files(self) -> list[tuple[int, bytes, int, int]]: ...
    def errors(self) -> list[tuple[bytes, _Reason]]: ...
    def hashed(self, index: int, nbytes: int, mtime_ns: int, digests: list[bytes]) -> None: ...
    def unread(self, index: int, is_unstable: bool) -> None: ...
    def vanished(self, index: int) -> None: ...
    def write(self) -> bytes: ...
    def compare(self) -> tuple[list[tuple[str, bytes, str | None, str | None]], dict[str, int]]: ...

def is_public_key(text: str) -> bool: ...
def manifest_signed(
    content: _Data, signatures: _Data, key: str, file: str | None, folder: str | os.PathLike[str]
) -> tuple[str, str, str | None, bool | None, str | None, bool | None]: ...
def list_read(
    content: _Data, algorithms: list[str]
) -> tuple[list[tuple[int, bytes, list[tuple[str, bytes]], int | None]], list[tuple[int, str]]]: ...
def hash_listed(
    folder: str | os.PathLike[str] | None,
    files: list[tuple[bytes, list[str]]],
    threads: int,
    progress: _Progress | None,
) -> list[tuple[list[bytes], int, int | None, _Reason | None]]: ...
def update_many(hashes: Iterable[Hash], chunks: Iterable[_Data], /) -> None: ...
