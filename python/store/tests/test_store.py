# SPDX-License-Identifier: MIT OR Apache-2.0
"""Objects on a file system in memory whose reads go wrong, and on a real S3 server (moto) whose answers do."""

import asyncio
import hashlib
import json
import os
import random
import threading
import time

import pytest
from interrupt import interrupted

import pyhashloom

fsspec = pytest.importorskip("fsspec", reason="SKIPPED: objects: fsspec is not installed")
import pyhashloom_store._objects  # noqa: E402
import pyhashloom_store._versions  # noqa: E402
import pyhashloom.manifest  # noqa: E402
import pyhashloom_store as store  # noqa: E402
import pyhashloom.tree  # noqa: E402
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    monkeypatch.setattr(pyhashloom_store._objects, "_PAUSE", 0)
    # An object that was made a moment ago is waited for.
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    yield
    assert not [thread.name for thread in threading.enumerate() if "hashloom" in thread.name]


def sha256(content):
    return hashlib.sha256(content).digest()


class Faulty(MemoryFileSystem):
    """A file system in memory. `fault` is called before each read, and may raise or return other bytes."""

    protocol = "faulty"
    store, pseudo_dirs, cachable = {}, [""], False
    fault = staticmethod(lambda path, start, end: None)
    lock, reading, most = threading.Lock(), 0, 0

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("faulty://", "memory://"))

    def cat_file(self, path, start=None, end=None, **kwargs):
        kind = type(self)
        nbytes = (end or 0) - (start or 0)
        with kind.lock:
            kind.reading += nbytes
            kind.most = max(kind.most, kind.reading)
        try:
            wrong = kind.fault(path, start or 0, end or 0)
            return super().cat_file(path, start, end) if wrong is None else wrong
        finally:
            with kind.lock:
                kind.reading -= nbytes


@pytest.fixture
def faulty(monkeypatch):
    fsspec.register_implementation("faulty", Faulty, clobber=True)
    Faulty.store.clear()
    Faulty.pseudo_dirs[:] = [""]
    monkeypatch.setattr(Faulty, "most", 0)
    monkeypatch.setattr(Faulty, "fault", staticmethod(lambda path, start, end: None))
    return Faulty()


def objects(count=40, seed=1, most=50_000):
    random.seed(seed)
    sizes = [0, 1, 999, 1_000, 1_001, 8_000, 100_000]
    return {
        f"/bucket/{i % 3}/{i:03}": random.randbytes(sizes[i] if i < len(sizes) else random.randrange(most))
        for i in range(count)
    }


def by_path(results):
    return {one.path.partition("://")[2].removeprefix("/"): one for one in results}


def test_sums(faulty, tmp_path):
    contents = objects()
    faulty.pipe(contents)
    found = by_path(store.sums("sha256", "faulty://bucket", range_nbytes=1_000, requests=5))
    assert {path: one.digest for path, one in found.items()} == {p[1:]: sha256(c) for p, c in contents.items()}
    assert all(one.nbytes == len(contents[f"/{path}"]) and one.source == "read" for path, one in found.items())
    # Every object was read once.
    calls = []
    Faulty.fault = staticmethod(lambda path, start, end: calls.append(path))
    assert len(list(store.sums("sha256", "faulty://bucket"))) == len(contents) == len(calls)
    # One object, a list, and files on disk.
    assert [one.digest for one in store.sums("md5", "faulty://bucket/0/000")] == [hashlib.md5(b"").digest()]
    urls = [f"faulty:/{path}" for path in contents]
    assert len(list(store.sums("sha256", urls[::-1]))) == len(contents)
    assert list(store.sums("sha256", [])) == []
    (tmp_path / "a").write_bytes(b"abc")
    for url in (str(tmp_path), f"file://{tmp_path}"):
        assert [(one.path, one.digest) for one in store.sums("sha256", url)] == [(str(tmp_path / "a"), sha256(b"abc"))]


def test_several_algorithms_and_globs(faulty, tmp_path):
    faulty.pipe({f"/bucket/{path}": path.encode() for path in ("a.gz", "b.gz", "c", "x/a.gz", "x/y/[1].gz", "*")})
    calls = []
    Faulty.fault = staticmethod(lambda path, start, end: calls.append(path))
    (one,) = store.sums(["sha256", "md5"], "faulty://bucket/c", journal=tmp_path / "journal")
    assert one.digests == (sha256(b"c"), hashlib.md5(b"c").digest()) and calls == ["/bucket/c"]
    (one,) = store.sums(["sha256", "md5"], "faulty://bucket/c", journal=tmp_path / "journal")
    assert one.digests == (sha256(b"c"), hashlib.md5(b"c").digest()) and one.source == "journal" and len(calls) == 1
    for glob, expected in (
        ("*.gz", ["a.gz", "b.gz"]),
        ("**/*.gz", ["a.gz", "b.gz", "x/a.gz", "x/y/[1].gz"]),
        ("[ab].gz", ["a.gz", "b.gz"]),
        ("x/?.gz", ["x/a.gz"]),
        ("x/*/[[]*", ["x/y/[1].gz"]),
    ):
        found = by_path(store.sums("sha256", f"faulty://bucket/{glob}"))
        assert sorted(found) == [f"bucket/{path}" for path in expected]
        assert all(one.digest == sha256(path.removeprefix("bucket/").encode()) for path, one in found.items())
    # In a list there are no globs.
    assert [one.digest for one in store.sums("sha256", ["faulty://bucket/*"])] == [sha256(b"*")]
    with pytest.raises(pyhashloom.FileError, match="these globs name no object"):
        list(store.sums("sha256", "faulty://bucket/*.zip"))
    with pytest.raises(ValueError, match="no algorithm is named"):
        store.sums([], "faulty://bucket")


def test_a_manifest_among_the_objects(faulty):
    faulty.pipe({"/bucket/a": b"abc"})
    written = store.write_manifest("faulty://bucket")
    assert list(written.versions) == ["a"] and "size=3" in written.versions["a"]
    faulty.pipe({"/bucket/list": written.content})
    report = store.check_manifest("faulty://bucket/list", "faulty://bucket")
    assert report.is_same and [read.path for read in report.reads] == ["a"]
    faulty.pipe({"/bucket/a": b"abd"})
    report = store.check_manifest("faulty://bucket/list", "faulty://bucket", range_nbytes=10)
    assert differences(report) == [("changed", "a")]
    with pytest.raises(pyhashloom.FileError, match="faulty://bucket/missing"):
        store.check_manifest("faulty://bucket/missing", "faulty://bucket")
    with pytest.raises(pyhashloom.manifest.ManifestError):
        store.check_manifest("faulty://bucket/a", "faulty://bucket")


def test_an_object_that_is_longer_than_its_length(faulty, monkeypatch):
    faulty.pipe({"/bucket/a": b"", "/bucket/b": b"b"})
    info = Faulty.info
    monkeypatch.setattr(Faulty, "info", lambda self, path: {**info(self, path), "size": 0})
    found = by_path(store.sums("sha256", ["faulty://bucket/a", "faulty://bucket/b"], retries=0))
    assert found["bucket/a"].digest == sha256(b"") and "the body has 1 of 0 bytes" in str(found["bucket/b"].error)


def test_memory_is_bounded(faulty):
    faulty.pipe({f"/bucket/{i}": bytes(100_000) for i in range(10)})
    for requests, memory_nbytes in ((64, 10_000), (64, 25_500), (3, 1 << 20)):
        Faulty.most = 0
        limits = dict(requests=requests, memory_nbytes=memory_nbytes, range_nbytes=10_000)
        assert len([one.digest for one in store.sums("sha1", "faulty://bucket", **limits)]) == 10
        assert 10_000 <= Faulty.most <= min(memory_nbytes, requests * 10_000)


def test_faults_that_pass(faulty):
    contents = objects()
    faulty.pipe(contents)
    failed = set()

    def fault(path, start, end):
        if (path, start) in failed or end - start < 2:
            return None
        failed.add((path, start))
        if start % 3_000 == 0:
            raise OSError(16, "Service Unavailable")
        return contents[path][start : end - 1]  # a body that is cut off

    Faulty.fault = staticmethod(fault)
    found = by_path(store.sums("sha256", "faulty://bucket", range_nbytes=1_000))
    assert {path: one.digest for path, one in found.items()} == {p[1:]: sha256(c) for p, c in contents.items()}
    assert len(failed) > 500


def test_an_object_that_cannot_be_read_does_not_stop_the_others(faulty):
    faulty.pipe({f"/bucket/{i}": b"%d" % i * 1_000 for i in range(6)})
    calls = []

    def fault(path, start, end):
        calls.append((path, start))
        if path == "/bucket/1" and start == 500:
            raise OSError(16, "Service Unavailable")
        if path == "/bucket/2":
            raise PermissionError(13, "Access Denied")
        if path == "/bucket/3" and start == 500:
            return b"short"
        if path == "/bucket/4":
            raise FileNotFoundError(path)
        return None

    Faulty.fault = staticmethod(fault)
    found = by_path(store.sums("sha256", "faulty://bucket", range_nbytes=500, retries=2))
    assert found["bucket/0"].digest == sha256(b"0" * 1_000) and found["bucket/5"].digest == sha256(b"5" * 1_000)
    told = {path: (one.error.kind, one.error.errno, one.error.offset) for path, one in found.items() if one.error}
    assert told == {
        "bucket/1": ("read", 16, 500),
        "bucket/2": ("open", 13, 0),
        "bucket/3": ("read", None, 500),
        "bucket/4": ("open", 2, 0),
    }
    assert "5 of 500 bytes" in str(found["bucket/3"].error)
    assert found["bucket/1"].error.filename == "faulty://bucket/1" and found["bucket/1"].source is None
    assert calls.count(("/bucket/1", 500)) == 3 and calls.count(("/bucket/2", 0)) == 1


def test_an_object_that_changes(faulty):
    faulty.pipe({"/bucket/once": b"a" * 5_000, "/bucket/shorter": b"b" * 5_000, "/bucket/always": b"c" * 5_000})
    left = {"/bucket/once": 1, "/bucket/shorter": 1, "/bucket/always": 100}

    def fault(path, start, end):
        if start == 2_000 and left[path]:
            left[path] -= 1
            faulty.pipe(path, b"x" * (3_000 if path == "/bucket/shorter" else 5_000))

    Faulty.fault = staticmethod(fault)
    found = by_path(store.sums("sha256", "faulty://bucket", range_nbytes=1_000))
    assert found["bucket/once"].digest == sha256(b"x" * 5_000)
    assert (found["bucket/shorter"].digest, found["bucket/shorter"].nbytes) == (sha256(b"x" * 3_000), 3_000)
    assert found["bucket/always"].error.kind == "unstable" and left["/bucket/always"] == 97


def test_names_what_is_wrong(faulty):
    with pytest.raises(ValueError, match="unsupported hash type"):
        store.sums("crc32", "faulty://bucket")
    for limits in ({"requests": 0}, {"retries": -1}, {"memory_nbytes": 100}, {"range_nbytes": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(limits))} is .*: expected at least"):
            store.sums("sha256", "faulty://bucket", **limits)
    with pytest.raises(pyhashloom.FileError, match="faulty://bucket: there is no such object, and none below it"):
        list(store.sums("sha256", "faulty://bucket"))
    with pytest.raises(ValueError, match="url 1: s3://b is in another kind of store"):
        store.sums("sha256", ["faulty://a", "s3://b"])
    with pytest.raises(TypeError, match="url 0: expected text, found int"):
        store.sums("sha256", [1])
    with pytest.raises(ValueError, match="chains of file systems"):
        list(store.sums("sha256", "simplecache::faulty://bucket"))
    with pytest.raises(ValueError, match="not known"):
        list(store.sums("sha256", "nosuch://bucket"))


def test_leaving_the_iterator(faulty):
    faulty.pipe({f"/bucket/{i:04}": b"x" for i in range(1_200)})
    results = store.sums("sha256", "faulty://bucket")
    assert next(results).digest == sha256(b"x")
    results.close()
    assert not [thread.name for thread in threading.enumerate() if "hashloom" in thread.name]
    assert len(list(store.sums("sha256", "faulty://bucket"))) == 1_200  # more than may wait


SLOW = """
import time
import fsspec, pyhashloom_store
from fsspec.implementations.memory import MemoryFileSystem

class Slow(MemoryFileSystem):
    protocol, cachable, store, pseudo_dirs = "slow", False, {}, [""]

    @classmethod
    def _strip_protocol(cls, path):
        return super()._strip_protocol(path.replace("slow://", "memory://"))

    def cat_file(self, path, **kwargs):
        time.sleep(0.1)
        raise OSError(16, "Service Unavailable")

fsspec.register_implementation("slow", Slow)
Slow().pipe({f"/bucket/{i}": b"x" for i in range(1000)})
"""


def test_ctrl_c():
    assert interrupted('list(pyhashloom_store.sums("sha256", "slow://bucket", retries=10**9))', SLOW)


# ---- The journal


def lines_of(journal):
    return journal.read_bytes().splitlines(keepends=True)


def test_journal(faulty, tmp_path):
    contents, journal = objects(), tmp_path / "journal"
    faulty.pipe(contents)
    wanted = {path[1:]: sha256(content) for path, content in contents.items()}

    def run():
        found = by_path(store.sums("sha256", "faulty://bucket", journal=journal))
        assert {path: one.digest for path, one in found.items()} == wanted
        return {path for path, one in found.items() if one.source == "read"}

    assert run() == set(wanted) and run() == set()
    faulty.pipe("/bucket/0/000", b"new")
    wanted["bucket/0/000"] = sha256(b"new")
    assert run() == {"bucket/0/000"} and run() == set()
    whole = lines_of(journal)
    # Nothing is believed from damage in the middle on, and what comes before any cut at the end.
    journal.write_bytes(b"".join([*whole[:5], whole[5].replace(b".", b"-", 1), *whole[6:]]))
    assert len(run()) in (len(wanted) - 4, len(wanted) - 3) and run() == set()
    content = b"".join(whole)
    random.seed(4)
    count = 100 if os.environ.get("HASHLOOM_TEST_ALL") else 4
    for cut in [0, 1, len(whole[0]) - 1, *random.sample(range(len(whole[0]), len(content)), count)]:
        journal.write_bytes(content[:cut])
        left = run()
        assert len(left) >= len(wanted) - content[:cut].count(b"\n")
        assert run() == set()
    # An interrupted call has written what it gave.
    journal.unlink()
    results = store.sums("sha256", "faulty://bucket", journal=journal)
    given = [next(results) for _ in range(10)]
    results.close()
    assert len(run()) <= len(wanted) - len(given)


def test_journal_of_something_else(faulty, tmp_path):
    faulty.pipe({"/bucket/a": b"a", "/bucket/b": b"b"})
    journal = tmp_path / "journal"
    list(store.sums("sha256", "faulty://bucket", journal=journal))
    with pytest.raises(ValueError,
                       match='it has "faulty://bucket by sha256", not faulty://bucket by sha1: name a new file'):
        list(store.sums("sha1", "faulty://bucket", journal=journal))
    (tmp_path / "text").write_text("some text\n")
    with pytest.raises(ValueError, match="expected a state that begins with .*: name a new file"):
        list(store.sums("sha1", "faulty://bucket", journal=tmp_path / "text"))
    assert (tmp_path / "text").read_text() == "some text\n"
    pytest.importorskip("fcntl")
    other = pyhashloom._hashloom.Journal(journal, "faulty://bucket by sha256")
    with pytest.raises(ValueError, match="another call uses it"):
        list(store.sums("sha256", "faulty://bucket", journal=journal))
    other.close()


# ---- S3


class Faults:
    """Between the client and moto: `fault` may change a request, answer in moto's place, or cut the answer off."""

    def __init__(self, application):
        self.application = application
        self.fault = None
        self.requests = []

    def __call__(self, environ, start_response):
        self.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE")))
        answer = self.fault(environ) if self.fault else None
        if answer == "busy":
            body = b"<Error><Code>SlowDown</Code><Message>Please reduce your request rate.</Message></Error>"
            start_response("503 Slow Down", [("Content-Length", str(len(body)))])
            return [body]
        if answer == "missing":
            body = b"<Error><Code>NoSuchKey</Code><Message>The specified key does not exist.</Message></Error>"
            start_response("404 Not Found", [("Content-Length", str(len(body)))])
            return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
        parts = self.application(environ, start_response)
        if answer == "cut":
            body = b"".join(parts)
            return [body[: len(body) // 2]]
        return parts


@pytest.fixture(scope="module")
def server():
    pytest.importorskip("s3fs", reason="SKIPPED: objects on S3: s3fs is not installed")
    pytest.importorskip("boto3", reason="SKIPPED: objects on S3: boto3 is not installed")
    moto = pytest.importorskip("moto.server", reason="SKIPPED: objects on S3: moto[server] is not installed")
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_request(self, *_):
            pass

    application = Faults(moto.DomainDispatcherApplication(moto.create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    server.faults = application
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


class Bucket:
    def __init__(self, server, client, options):
        self.faults, self.client, self.options = server.faults, client, options

    def put(self, key, content):
        self.client.put_object(Bucket="bucket", Key=key, Body=content)


@pytest.fixture
def bucket(server):
    import boto3

    endpoint = f"http://127.0.0.1:{server.server_port}"
    keys = dict(aws_access_key_id="key", aws_secret_access_key="secret", region_name="us-east-1")
    client = boto3.client("s3", endpoint_url=endpoint, **keys)
    server.faults.fault = None
    client.create_bucket(Bucket="bucket")
    for listed in client.list_objects_v2(Bucket="bucket").get("Contents", []):
        client.delete_object(Bucket="bucket", Key=listed["Key"])
    region = {"region_name": "us-east-1"}
    server.faults.requests.clear()
    options = dict(key="key", secret="secret", endpoint_url=endpoint, client_kwargs=region)
    yield Bucket(server, client, options)
    client.close()


def sums(bucket, url="s3://bucket", name="sha256", **keywords):
    return list(store.sums(name, url, storage_options=bucket.options, **keywords))


def test_s3(bucket):
    contents = {f"a/{i}": os.urandom(n) for i, n in enumerate([0, 1, 1_000, 50_000, 300_000])}
    contents |= {key: key.encode() for key in ["a", "ab/c", "a?versionId=1", "d/../e", "x//y", "ü +%20&#", "a/f/"]}
    for key, content in contents.items():
        bucket.put(key, content)
    bucket.put("folder/", b"")
    bucket.faults.requests.clear()
    # Pages of three keys.
    bucket.options["s3_additional_kwargs"] = {"MaxKeys": 3}
    found = {one.path.removeprefix("s3://bucket/"): one for one in sums(bucket, range_nbytes=100_000)}
    assert {key: one.digest for key, one in found.items()} == {key: sha256(c) for key, c in contents.items()}
    assert f'ETag="{hashlib.md5(contents["a/3"]).hexdigest()}"; LastModified=' in found["a/3"].version
    nranges = len(contents) - 1 + 3
    nlistings = -(-(len(contents) + 1) // 3)
    # The object of three ranges is looked at again.
    assert [method for method, _, _ in bucket.faults.requests].count("GET") == nranges + nlistings
    assert ("HEAD", "/bucket/a/4", None) in bucket.faults.requests
    below = {one.path.removeprefix("s3://bucket/") for one in sums(bucket, "s3://bucket/a")}
    assert below == {"a", "a/f/", *(f"a/{i}" for i in range(5))}
    assert len(sums(bucket, "s3://bucket/a/")) == 6
    (one,) = sums(bucket, ["s3://bucket/a/3"])
    assert one.digest == sha256(contents["a/3"])


def test_s3_errors(bucket):
    bucket.put("a", b"abc")
    with pytest.raises(pyhashloom.FileError, match="s3://bucket/b: there is no such object, and none below it"):
        sums(bucket, "s3://bucket/b")
    with pytest.raises(pyhashloom.FileError, match="s3://nobucket: The specified bucket does not exist"):
        sums(bucket, "s3://nobucket")
    bucket.client.delete_object(Bucket="bucket", Key="a")
    assert sums(bucket) == []
    (one,) = sums(bucket, ["s3://bucket/a"])
    assert (one.error.kind, one.error.errno) == ("open", 2)
    bucket.options["endpoint_url"] = "http://127.0.0.1:1"
    with pytest.raises(pyhashloom.FileError, match="Could not connect"):
        sums(bucket, retries=1)


def test_s3_that_is_busy_and_bodies_that_are_cut_off(bucket):
    contents = {f"{i}": os.urandom(20_000) for i in range(10)}
    for key, content in contents.items():
        bucket.put(key, content)
    seen = {}

    def fault(environ):
        name = environ["PATH_INFO"], environ["QUERY_STRING"], environ.get("HTTP_RANGE")
        seen[name] = seen.get(name, 0) + 1
        return {1: "busy", 2: environ.get("HTTP_RANGE") and "cut"}.get(seen[name])

    bucket.faults.fault = fault
    found = {one.path.removeprefix("s3://bucket/"): one for one in sums(bucket, range_nbytes=10_000)}
    assert {key: one.digest for key, one in found.items()} == {key: sha256(c) for key, c in contents.items()}
    assert [count for (_, _, span), count in seen.items() if span] == [3] * 20
    bucket.faults.fault = lambda environ: environ.get("HTTP_RANGE") and "busy"
    assert {one.error.kind for one in sums(bucket, retries=1)} == {"read"}
    bucket.faults.fault = lambda environ: environ.get("HTTP_RANGE") and "cut"
    assert {one.error.kind for one in sums(bucket, retries=0)} == {"read"}


@pytest.mark.parametrize("is_honest", [True, False], ids=["If-Match", "a server without If-Match"])
def test_s3_object_that_changes_between_ranges(bucket, is_honest):
    bucket.put("once", b"a" * 30_000)
    bucket.put("always", b"b" * 30_000)
    left, count = {"/bucket/once": 1, "/bucket/always": 100}, iter(range(1_000))

    def fault(environ):
        if environ["REQUEST_METHOD"] == "GET" and "HTTP_RANGE" in environ:
            if not is_honest:
                environ.pop("HTTP_IF_MATCH")
            path = environ["PATH_INFO"]
            if environ["HTTP_RANGE"] == "bytes=10000-19999" and left[path]:
                left[path] -= 1
                bucket.put(path.removeprefix("/bucket/"), b"%09d%d" % (next(count), left[path]) * 2_800)

    bucket.faults.fault = fault
    found = {one.path.removeprefix("s3://bucket/"): one for one in sums(bucket, range_nbytes=10_000)}
    now = bucket.client.get_object(Bucket="bucket", Key="once")["Body"].read()
    assert found["once"].digest == sha256(now) and len(now) == found["once"].nbytes != 30_000
    assert found["always"].error.kind == "unstable"


# Two contents with one MD5 (Wang and others, 2004), and so with one ETag.
TWIN = bytes.fromhex(
    "d131dd02c5e6eec4693d9a0698aff95c2fcab58712467eab4004583eb8fb7f8955ad340609f4b30283e488832571415a"
    "085125e8f7cdc99fd91dbdf280373c5bd8823e3156348f5bae6dacd436c919c6dd53e2b487da03fd02396306d248cda0"
    "e99f33420f577ee8ce54b67080a80d1ec69821bcb6a8839396f9652b6ff72a70"
)
OTHER_TWIN = bytearray(TWIN)
for place in (19, 45, 59, 83, 109, 123):
    OTHER_TWIN[place] ^= 0x80
OTHER_TWIN = bytes(OTHER_TWIN)


def test_s3_twins(bucket, tmp_path, monkeypatch):
    assert TWIN != OTHER_TWIN and hashlib.md5(TWIN).digest() == hashlib.md5(OTHER_TWIN).digest()
    monkeypatch.undo()  # The server tells seconds.
    bucket.put("a", TWIN)
    assert sums(bucket, journal=tmp_path / "j")[0].digest == sha256(TWIN)
    # It was waited for the end of the second, so this one has another time.
    bucket.put("a", OTHER_TWIN)
    written = store.write_manifest("s3://bucket", storage_options=bucket.options)
    (one,) = sums(bucket, journal=tmp_path / "j")
    assert (one.source, one.digest) == ("read", sha256(OTHER_TWIN))
    report = store.check_manifest(written.content, "s3://bucket", storage_options=bucket.options)
    assert report.is_same

    # Between two ranges, in the second in which the first twin was made.
    bucket.put("a", TWIN)
    left = [1]

    def fault(environ):
        if environ.get("HTTP_RANGE") == "bytes=64-127" and left:
            left.pop()
            bucket.put("a", OTHER_TWIN)

    bucket.faults.fault = fault
    (one,) = sums(bucket, range_nbytes=64, requests=1)
    assert one.digest == sha256(OTHER_TWIN) and not left


def test_s3_second_that_is_not_over(bucket, tmp_path, monkeypatch):
    """Nothing is read, and nothing is in the journal, while another twin could have the same time."""
    monkeypatch.undo()
    read = []

    def fault(environ):
        if "HTTP_RANGE" in environ:
            read.append(int(time.time()))

    for urls in ("s3://bucket", ["s3://bucket/a"]):
        bucket.put("a", TWIN)
        bucket.faults.fault = fault
        (one,) = sums(bucket, urls, range_nbytes=64, journal=tmp_path / f"j{len(urls)}")
        made = int(one.version.rpartition("LastModified=")[2]) // 10**9
        assert one.digest == sha256(TWIN) and len(read) == 2 and min(read) > made
        read.clear()


def test_s3_journal_of_another_endpoint(bucket, server, tmp_path):
    """The same bucket, key, ETag and time, and other bytes."""
    bucket.put("a", b"abc")
    journal = tmp_path / "j"
    assert [sums(bucket, journal=journal)[0].source for _ in range(2)] == ["read", "journal"]
    other = {**bucket.options, "endpoint_url": bucket.options["endpoint_url"].replace("127.0.0.1", "localhost")}
    written = store.write_manifest("s3://bucket", journal=tmp_path / "m", storage_options=bucket.options)
    assert written.journaled == []
    again = store.write_manifest("s3://bucket", journal=tmp_path / "m", storage_options=bucket.options)
    assert (again.content, again.journaled, again.reads) == (written.content, ["a"], [])
    report = store.check_manifest(written.content, "s3://bucket", journal=tmp_path / "m", storage_options=other)
    assert report.is_same and report.journaled == []
    (one,) = store.sums("sha256", "s3://bucket", journal=journal, storage_options=other)
    assert one.source == "read"


def place_of(url, options):
    async def run():
        limits = pyhashloom_store._objects.Limits(1, 1, 1, 0)
        async with pyhashloom_store._objects.Store(url, options, limits) as opened:
            return opened.place()

    return asyncio.run(run())


def test_the_place_of_a_journal_has_the_real_endpoint_and_no_secrets(bucket, monkeypatch):
    place = place_of("s3://bucket", bucket.options)
    assert bucket.options["endpoint_url"] in place and "secret" not in place
    options = {name: value for name, value in bucket.options.items() if name != "endpoint_url"}
    places = {place, place_of("s3://bucket", options)}
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    places.add(place_of("s3://bucket", options))
    assert len(places) == 3
    # Another key reads the same objects.
    assert place == place_of("s3://bucket", {**bucket.options, "secret": "other"})


def test_the_place_of_files_behind_a_url(faulty):
    one = place_of("faulty://a", {"x": "ftp://user:password@host/a", "y": [1, "b"], "z": object(), "token": "t"})
    assert one == 'faulty {"x": "ftp://host/a", "y": [1, "b"]}'


def test_s3_object_that_is_listed_and_cannot_be_had(bucket):
    bucket.put("a", b"abc")
    bucket.put("b", b"abd")
    options = dict(storage_options=bucket.options)
    written = store.write_manifest("s3://bucket", **options)
    is_head_there = [True]

    def fault(environ):
        if environ["PATH_INFO"] == "/bucket/a" and (environ["REQUEST_METHOD"] == "GET" or not is_head_there[0]):
            return "missing"
        return None

    bucket.faults.fault = fault
    again = store.write_manifest("s3://bucket", **options)
    assert b'"unread"' in again.content and [error.filename for error in again.troubles] == ["s3://bucket/a"]
    assert "a look finds it, but it cannot be read" in str(again.troubles[0])
    for manifest in (written.content, again.content):
        report = store.check_manifest(manifest, "s3://bucket", **options)
        assert not report.is_same and report.counts["unreadable"] == 1 and len(report.troubles) == 1
    # It is gone behind the listing.
    is_head_there[0] = False
    gone = store.write_manifest("s3://bucket", **options)
    assert b'"path":"a"' not in gone.content and "it was there before it was read, and is gone" in str(gone.troubles[0])
    for manifest in (written.content, gone.content):
        report = store.check_manifest(manifest, "s3://bucket", **options)
        assert not report.is_same and [error.errno for error in report.troubles] == [2]
    told = {one.path: one.error and one.error.errno for one in sums(bucket)}
    assert told == {"s3://bucket/a": 2, "s3://bucket/b": None}


def test_s3_key_with_a_slash_at_its_end(bucket):
    bucket.put("a", b"abc")
    bucket.put("a/", b"abd")
    found = {one.path: one.digest for one in sums(bucket, ["s3://bucket/a", "s3://bucket/a/"])}
    assert found == {"s3://bucket/a": sha256(b"abc"), "s3://bucket/a/": sha256(b"abd")}


def test_s3_server_that_ignores_ranges(bucket):
    bucket.put("a", bytes(30_000))
    bucket.faults.fault = lambda environ: environ.pop("HTTP_RANGE", None) and None
    (one,) = sums(bucket, range_nbytes=10_000, retries=1)
    assert "offers bytes 0-29999/30000 in place of bytes 0-9999/30000" in str(one.error)
    (one,) = sums(bucket)
    assert one.digest == sha256(bytes(30_000))


# ---- Manifests


def written_to(folder, contents, prefix):
    for path, content in contents.items():
        place = folder / path.removeprefix(prefix)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def differences(report):
    return sorted((found.status, found.path) for found in report.differences)


def test_manifest(faulty, tmp_path):
    contents = objects() | {"/bucket/a b": b"x", "/bucket/a-b/c": b"y", "/bucket/ü": b""}
    faulty.pipe(contents)
    folder = tmp_path / "copy"
    written_to(folder, contents, "/bucket/")
    seen = []
    options = dict(algorithms=["sha256", "md5"], progress=lambda *counts: seen.append(counts))
    written = store.write_manifest("faulty://bucket", **options)
    assert seen[-1] == (len(contents), len(contents)) and len(written.reads) == len(contents)
    # The same entries as those of the copy on a disk, except the times.
    strip = (
        lambda content: [  # noqa: E731
            {key: value for key, value in json.loads(line).items() if key != "mtime_ns"}
            for line in content.splitlines()[:-1]
        ]
    )
    there = pyhashloom.manifest.write(folder, algorithms=["sha256", "md5"])
    assert strip(written.content) == strip(there.content)
    report = pyhashloom.manifest.check(written.content, folder)
    assert report.is_same and report.counts["touched"] == len(contents)
    report = store.check_manifest(written.content, "faulty://bucket/")
    assert report.is_same and report.counts["touched"] == 0 and report.vouched == report.journaled == []
    assert report.nbytes_read == sum(map(len, contents.values()))

    faulty.pipe({"/bucket/0/003": b"z" * 1_000, "/bucket/new/a": b"new", "/bucket/moved": contents["/bucket/0/006"]})
    faulty.rm(["/bucket/0/006", "/bucket/1/001"])

    def fault(path, start, end):
        if path == "/bucket/2/002":
            raise PermissionError(13, "Access Denied")
        if path == "/bucket/1/004":
            raise FileNotFoundError(path)

    Faulty.fault = staticmethod(fault)
    file = tmp_path / "manifest"
    file.write_bytes(written.content)
    report = store.check_manifest(file, "faulty://bucket")
    assert differences(report) == [
        ("added", "new"), ("added", "new/a"), ("changed", "0/003"), ("moved", "0/006"), ("removed", "1/001"),
        ("unreadable", "1/004"), ("unreadable", "2/002"),
    ]  # fmt: skip
    (_, unread) = [found for found in report.differences if found.status == "unreadable"]
    assert unread.error.filename == "faulty://bucket/2/002" and unread.error.errno == 13


def test_manifest_of_some_objects(faulty, tmp_path):
    contents = {
        "/bucket/a.txt": b"a",
        "/bucket/b.jpg": b"b",
        "/bucket/cache/c.txt": b"c",
        "/bucket/long.txt": b"d" * 99,
    }
    faulty.pipe(contents)
    some = dict(include=["*.txt"], exclude=["cache/"], max_nbytes=50)
    written = store.write_manifest("faulty://bucket", **some)
    assert [read.path for read in written.reads] == ["a.txt"]
    faulty.pipe({"/bucket/a.txt": b"a" * 60, "/bucket/e.txt": b"e", "/bucket/cache/f.txt": b"f"})
    report = store.check_manifest(written.content, "faulty://bucket")
    assert differences(report) == [("added", "e.txt"), ("changed", "a.txt")]


def test_manifest_with_a_journal(faulty, tmp_path):
    contents, journal = objects(), tmp_path / "journal"
    faulty.pipe(contents)
    written = store.write_manifest("faulty://bucket", algorithms=["sha1", "md5"], journal=journal)
    faulty.pipe("/bucket/0/000", b"new")
    report = store.check_manifest(written.content, "faulty://bucket", journal=journal)
    assert differences(report) == [("changed", "0/000")]
    assert [read.path for read in report.reads] == ["0/000"] and len(report.journaled) == len(contents) - 1


def test_manifest_names_what_is_wrong(faulty):
    faulty.pipe({"/bucket/a": b"a"})
    with pytest.raises(pyhashloom.FileError, match="there is no such object"):
        store.write_manifest("faulty://nothing")
    with pytest.raises(pyhashloom.FileError, match="a manifest has what is below one"):
        store.write_manifest("faulty://bucket/a")
    with pytest.raises(pyhashloom.manifest.ManifestError):
        store.check_manifest(b"nonsense", "faulty://bucket")
    with pytest.raises(TypeError, match="algorithms is one name"):
        store.write_manifest("faulty://bucket", algorithms="sha256")
    entries = [(b"a", 1, 0), (b"a/b", 1, 0)]
    every = ([], [], None, None)
    of = pyhashloom._hashloom.Listing.of
    with pytest.raises(pyhashloom.manifest.ManifestError, match='"a" cannot be in a manifest: there are other objects'):
        of(entries, ["sha256"], every, None)
    for name in (b"", b"x//y", b"../x", b"x/./y", b"/x", b"x/", b"x\0"):
        with pytest.raises(pyhashloom.manifest.ManifestError, match="leave it out by exclude"):
            of([(name, 1, 0)], ["sha256"], every, None)


def test_s3_manifest_without_reading(bucket):
    contents = {f"p/{i}": os.urandom(2_000) for i in range(6)}
    for key, content in contents.items():
        extra = {"ChecksumAlgorithm": "SHA256"} if key < "p/3" else {}
        bucket.client.put_object(Bucket="bucket", Key=key, Body=content, **extra)
    upload = bucket.client.create_multipart_upload(Bucket="bucket", Key="p/parts", ChecksumAlgorithm="SHA256")[
        "UploadId"
    ]
    part = bucket.client.upload_part(
        Bucket="bucket", Key="p/parts", UploadId=upload, PartNumber=1, Body=b"part", ChecksumAlgorithm="SHA256"
    )
    told = {"Parts": [{"ETag": part["ETag"], "PartNumber": 1, "ChecksumSHA256": part["ChecksumSHA256"]}]}
    bucket.client.complete_multipart_upload(Bucket="bucket", Key="p/parts", UploadId=upload, MultipartUpload=told)

    options = dict(storage_options=bucket.options)
    written = store.write_manifest("s3://bucket/p", **options)
    report = store.check_manifest(written.content, "s3://bucket/p", **options)
    assert report.is_same and len(report.reads) == 7 and report.vouched == []
    bucket.client.put_object(Bucket="bucket", Key="p/1", Body=b"other", ChecksumAlgorithm="SHA256")
    bucket.faults.requests.clear()
    report = store.check_manifest(written.content, "s3://bucket/p/", trust_store=True, **options)
    assert differences(report) == [("changed", "1")]
    assert report.vouched == ["0", "1", "2"] and [read.path for read in report.reads] == ["3", "4", "5", "parts"]
    read = {path for method, path, _ in bucket.faults.requests if method == "GET"}
    assert read == {"/bucket", "/bucket/p/3", "/bucket/p/4", "/bucket/p/5", "/bucket/p/parts"}
    # An ETag is MD5, except that of parts.
    written = store.write_manifest("s3://bucket/p", algorithms=["md5"], **options)
    report = store.check_manifest(written.content, "s3://bucket/p", trust_store=True, **options)
    assert report.is_same and len(report.vouched) == 6 and [read.path for read in report.reads] == ["parts"]


# ---- Uploads


def test_uploads(bucket, tmp_path):
    content = os.urandom((5 << 20) + 1_000)
    (tmp_path / "file").write_bytes(content)
    client = bucket.client
    client.put_object(Bucket="bucket", Key="plain", Body=content)
    client.put_object(Bucket="bucket", Key="sha", Body=content, ChecksumAlgorithm="SHA256")
    client.put_object(Bucket="bucket", Key="other", Body=content[:-1] + b"?")
    client.put_object(Bucket="bucket", Key="short", Body=content[:-1])
    upload = client.create_multipart_upload(Bucket="bucket", Key="parts")["UploadId"]
    parts = [
        client.upload_part(Bucket="bucket", Key="parts", UploadId=upload, PartNumber=number, Body=part)["ETag"]
        for number, part in ((1, content[: 5 << 20]), (2, content[5 << 20 :]))
    ]
    told = {"Parts": [{"ETag": tag, "PartNumber": number} for number, tag in enumerate(parts, 1)]}
    client.complete_multipart_upload(Bucket="bucket", Key="parts", UploadId=upload, MultipartUpload=told)
    bucket.faults.requests.clear()

    def check(key):
        found = store.check_upload(tmp_path / "file", f"s3://bucket/{key}", storage_options=bucket.options)
        return found.is_same, found.checksum

    assert check("plain") == (True, "md5") and check("sha") == (True, "sha256")
    assert check("parts") == (True, f"md5 of parts of {5 << 20} bytes")
    assert check("other") == (False, "md5") and check("short") == (False, "md5")
    assert {method for method, _, _ in bucket.faults.requests} == {"HEAD"}
    with pytest.raises(pyhashloom.FileError, match="s3://bucket/missing"):
        check("missing")
    with pytest.raises(ValueError, match="only S3 tells checksums"):
        store.check_upload(tmp_path / "file", "memory://a")


@pytest.mark.parametrize("name", ["crc64nvme", "crc32c", "crc32"])
def test_uploads_with_a_crc(bucket, tmp_path, monkeypatch, name):
    """Uploads that S3 encrypts by KMS have no other checksum. What S3 says of them stands in for it."""
    content = os.urandom((5 << 20) + 1_000)
    (tmp_path / "file").write_bytes(content)
    bucket.put("a", content)
    whole = str(pyhashloom.tree.s3(content, name=name, part_nbytes=None))
    parts = str(pyhashloom.tree.s3(content, name=name, part_nbytes=5 << 20))
    head, told = pyhashloom_store._objects.Store.head, {}

    async def said(self, one, **more):
        found = {key: value for key, value in (await head(self, one)).items() if not key.startswith("Checksum")}
        etag = '"0123-2"' if told["parts"] else '"0123"'
        first = {"ContentLength": 5 << 20} if more and told["parts"] else {}
        field = pyhashloom_store._objects.CRC_FIELDS[name]
        return {**found, "ETag": etag, "ServerSideEncryption": "aws:kms", field: told["crc"], **first}

    monkeypatch.setattr(pyhashloom_store._objects.Store, "head", said)

    def check(crc, is_in_parts):
        told.update(crc=crc, parts=is_in_parts)
        found = store.check_upload(tmp_path / "file", "s3://bucket/a", storage_options=bucket.options)
        return found.is_same, found.checksum

    assert check(whole, False) == check(whole, True) == (True, name)
    if "-" in parts:
        assert check(parts, True) == (True, f"{name} of parts of {5 << 20} bytes")
    (tmp_path / "file").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert check(whole, True) == (False, name)
    (tmp_path / "file").write_bytes(content + b"x")
    assert check(whole, False) == (False, name)
    # A CRC vouches for no digest.
    written = store.write_manifest("s3://bucket/", storage_options=bucket.options)
    told.update(crc=whole, parts=False)
    report = store.check_manifest(written.content, "s3://bucket/", trust_store=True, storage_options=bucket.options)
    assert report.vouched == [] and [read.path for read in report.reads] == ["a"]


# ---- What a hostile store says


def test_a_pipe_is_an_error_and_is_not_opened(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    if not hasattr(os, "mkfifo"):
        pytest.skip("SKIPPED: pipes in folders: this system has none")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "link").symlink_to("a")
    a, link, loop, pipe = sorted(store.sums("sha256", f"file://{tmp_path}"), key=lambda one: one.path)
    assert a.digest == link.digest == sha256(b"abc") and loop.error.errno == 21
    assert "it is not a regular file" in str(pipe.error)


def test_s3_that_answers_with_another_range(bucket):
    bucket.put("a", bytes(10_000) + b"x" * 10_000)

    def fault(environ):
        if environ.get("HTTP_RANGE") == "bytes=10000-19999":
            environ["HTTP_RANGE"] = "bytes=0-9999"

    bucket.faults.fault = fault
    (one,) = sums(bucket, range_nbytes=10_000, retries=0)
    assert "offers bytes 0-9999/20000 in place of bytes 10000-19999/20000" in str(one.error)


@pytest.mark.parametrize(
    "told", [{}, {"ETag": "", "Size": 1}, {"ETag": '"a"', "Size": None}, {"ETag": '"a"', "Size": -1}], ids=repr
)
def test_s3_without_etag_or_length(told):
    with pytest.raises(OSError, match="does not tell the ETag and the length"):
        pyhashloom_store._objects.of_s3("bucket/a", "bucket", told, told.get("Size"))


class Endless(Faulty):
    """A listing that leads to itself."""

    protocol, store, pseudo_dirs = "endless", {}, [""]

    def split_path(self, path):
        return "/bucket", "", None

    async def _call_s3(self, method, **arguments):
        return {"IsTruncated": True, "NextContinuationToken": "again", "Contents": []}


def test_a_listing_that_never_ends(monkeypatch):
    async def run():
        limits = pyhashloom_store._objects.Limits(1, 1, 1, 0)
        async with pyhashloom_store._objects.Store("memory://bucket", {}, limits) as opened:
            opened.fs, opened.is_s3 = Endless(), True
            return [one async for one in opened.below("memory://bucket")]

    with pytest.raises(pyhashloom.FileError, match="a page does not lead to the next"):
        asyncio.run(run())
