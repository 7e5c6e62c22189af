# SPDX-License-Identifier: MIT OR Apache-2.0
"""What tells versions of objects apart: descriptions by each file system of fsspec, and servers whose files change."""

import datetime
import email.utils
import hashlib
import http.server
import io
import logging
import os
import re
import tarfile
import threading
import time
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("fsspec", reason="SKIPPED: versions of objects: fsspec is not installed")
import pyhashloom_store._objects  # noqa: E402
import pyhashloom_store._versions  # noqa: E402
import pyhashloom_store as store  # noqa: E402
from pyhashloom_store._versions import described, time_ns  # noqa: E402

UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2026, 11, 25, 9, 46, 40, tzinfo=UTC)
LATER = MOMENT + datetime.timedelta(seconds=1)
SECONDS = round(MOMENT.timestamp())


def sha256(content):
    return hashlib.sha256(content).hexdigest()


# What `info` or `ls` of each file system gives, as of its source in 2026, and a field that changes with the bytes; None
# if no field does.
FILE_SYSTEMS = {
    "http": ({"ETag": '"a"', "mimetype": "text/plain", "url": "http://h/f"}, {"ETag": '"b"'}),
    "http without ETag": ({"Last-Modified": "Wed, 25 Nov 2026 09:46:40 GMT"},
                          {"Last-Modified": "Wed, 25 Nov 2026 09:46:41 GMT"}),
    "http, Digest": ({"Digest": "sha-256=abc="}, {"Digest": "sha-256=abd="}),
    "http, Content-MD5": ({"Content-MD5": "kAFQmDzST7DWlj99KOF/cg=="}, {"Content-MD5": "kAFQmDzST7DWlj99KOF/ch=="}),
    "http, weak ETag": ({"ETag": 'W/"a"'}, None),
    "http, empty ETag": ({"ETag": '""'}, None),
    "http, length alone": ({"mimetype": "text/plain", "partial": False}, None),
    "ftp, MLSD": ({"modify": "20261125094640", "unique": "fe00g1", "perm": "r"}, {"modify": "20261125094641"}),
    "ftp, MLSD with a fraction": ({"modify": "20261125094640.123"}, {"modify": "20261125094640.124"}),
    "ftp, LIST": ({"modify": "Nov 25 09:46", "unix.mode": "-rw-r--r--", "unix.owner": "a"}, None),
    "ftp, LIST of an old file": ({"modify": "Nov 25 2024"}, None),
    "sftp": ({"uid": 1, "gid": 1, "time": MOMENT, "mtime": MOMENT}, {"mtime": LATER}),
    "sshfs": ({"permissions": 0o644, "time": MOMENT, "mtime": MOMENT}, {"mtime": LATER}),
    "smb": ({"uid": 0, "gid": 0, "time": SECONDS + 0.5, "mtime": SECONDS + 0.5}, {"mtime": SECONDS + 0.5001}),
    "webhdfs": (
        {"accessTime": 0, "blockSize": 1, "fileId": 16, "length": 3, "modificationTime": SECONDS * 1000},
        {"modificationTime": SECONDS * 1000 + 1},
    ),
    "hdfs": ({"mtime": MOMENT}, {"mtime": LATER}),
    "webdav": (
        {"created": MOMENT, "modified": MOMENT, "etag": '"a"', "content_type": None, "display_name": "f"},
        {"modified": LATER},
    ),
    "webdav without times": ({"created": None, "modified": None, "etag": '"a"'}, {"etag": '"b"'}),
    "dropbox": (
        {"rev": "a1", "content_hash": "e3b0", "client_modified": MOMENT, "server_modified": MOMENT, "id": "id:1"},
        {"rev": "a2"},
    ),
    "dropbox, hash": ({"content_hash": "e3b0"}, {"content_hash": "e3b1"}),
    "hf": ({"blob_id": "ab", "lfs": None, "xet_hash": None, "last_commit": None, "security": None}, {"blob_id": "ac"}),
    "hf, LFS": ({"blob_id": "ab", "lfs": {"size": 3, "sha256": "ab", "pointer_size": 1}}, {"lfs": {"sha256": "ac"}}),
    "hf, bucket": ({"xet_hash": "ab", "mtime": MOMENT, "uploaded_at": MOMENT}, {"xet_hash": "ac"}),
    "github": ({"mode": "100644", "sha": "ab"}, {"sha": "ac"}),
    "gist": ({"raw_url": "https://gist.githubusercontent.com/u/1/raw/ab/f"}, {"raw_url": "https://g/u/1/raw/ac/f"}),
    "git": ({"hex": "ab", "mode": "100644"}, {"hex": "ac"}),
    "s3": ({"ETag": '"a"', "LastModified": MOMENT, "VersionId": None, "StorageClass": "GLACIER"},
           {"LastModified": LATER}),
    "s3, versions": ({"ETag": '"a"', "LastModified": MOMENT, "VersionId": "v1"}, {"VersionId": "v2"}),
    "gcs": (
        {"generation": "1", "metageneration": "1", "etag": "C", "md5Hash": "kA==", "crc32c": "A==",
         "updated": "2026-11-25T09:46:40.123Z", "timeCreated": "2026-11-25T09:46:40.123Z", "mtime": MOMENT},
        {"generation": "2"},
    ),
    "gcs, time": ({"updated": "2026-11-25T09:46:40.123Z"}, {"updated": "2026-11-25T09:46:40.124Z"}),
    "azure": (
        {"etag": '"0x8D"', "last_modified": MOMENT, "creation_time": MOMENT, "last_accessed_on": None},
        {"etag": '"0x8E"'},
    ),
    "azure, hash": ({"content_settings": {"content_md5": bytearray(b"a")}},
                    {"content_settings": {"content_md5": bytearray(b"b")}}),
    "azure, versions": ({"version_id": "2026-11-25T09:46:40.1234567Z", "is_current_version": 1}, {"version_id": "2"}),
    "oci": ({"etag": "a", "md5": "kA==", "timeCreated": MOMENT, "timeModified": MOMENT}, {"timeModified": LATER}),
    "oss": ({"LastModified": SECONDS, "Size": 3}, {"LastModified": SECONDS + 1}),
    "tos": ({"ETag": '"a"', "LastModified": MOMENT, "VersionId": "", "Size": 3}, {"LastModified": LATER}),
    "obstore": ({"e_tag": '"a"', "last_modified": MOMENT, "version": None}, {"e_tag": '"b"'}),
    "lakefs": ({"checksum": "ab", "content-type": "text/plain", "mtime": SECONDS}, {"checksum": "ac"}),
    "gdrive": ({"id": "1", "version": "7", "createdTime": "2026-11-25T09:46:40.000Z"}, {"version": "8"}),
    "gdrive, time": ({"modifiedTime": "2026-11-25T09:46:40.123Z"}, {"modifiedTime": "2026-11-25T09:46:40.124Z"}),
    "box": ({"id": "1", "modified_at": "2026-11-25T01:46:40-08:00", "created_at": "2026-11-25T01:46:40-08:00"},
            {"modified_at": "2026-11-25T01:46:41-08:00"}),
    "local": ({"created": SECONDS + 0.5, "islink": False, "mode": 33188, "ino": 1, "mtime": SECONDS + 0.5, "nlink": 1},
              {"mtime": SECONDS + 0.6}),
    "memory": ({"created": MOMENT, "modified": MOMENT}, {"modified": LATER}),
    "memory, as it is listed": ({"created": MOMENT}, None),
    "zip": ({"CRC": 1, "date_time": (2026, 11, 25, 9, 46, 40), "create_version": 20},
            {"date_time": (2026, 11, 25, 9, 46, 42)}),
    "zip without times": ({"CRC": 1, "date_time": (1980, 1, 1, 0, 0, 0)}, None),
    "tar": ({"mtime": SECONDS, "chksum": 1, "uname": "a"}, {"mtime": SECONDS + 1}),
    "tar without times": ({"mtime": 0}, None),
    "libarchive": ({"created": SECONDS, "mtime": SECONDS}, {"mtime": SECONDS + 1}),
    "jupyter": ({"last_modified": "2026-11-25T09:46:40.123456Z", "created": "2026-11-25T09:46:40.123456Z"},
                {"last_modified": "2026-11-25T09:46:40.123457Z"}),
    "xrootd": ({"mtime": SECONDS, "atime": SECONDS, "ctime": SECONDS, "mode": 0o644}, {"mtime": SECONDS + 1}),
    "alluxio": ({"last_modification_time_ms": SECONDS * 1000, "mtime": SECONDS * 1000}, {"mtime": SECONDS * 1000 + 1}),
    "dvc": ({"isexec": False, "dvc_info": {"md5": "ab", "size": 3}, "fs_info": {"mtime": SECONDS}},
            {"dvc_info": {"md5": "ac"}}),
    "dvc, a file of git": ({"fs_info": {"mtime": SECONDS}}, {"fs_info": {"mtime": SECONDS + 1}}),
    "wandb": ({"md5": "kA=="}, {"md5": "kB=="}),
    "dbfs": ({}, None),
    "data": ({"mimetype": "text/plain"}, None),
    "reference": ({}, None),
}  # fmt: skip


@pytest.mark.parametrize("name", FILE_SYSTEMS)
def test_file_system(name):
    info, change = FILE_SYSTEMS[name]
    one = described("f", info, 3)
    assert one.is_same(described("f", info, 3)) and not one.is_same(described("f", info, 4))
    if change is None:
        assert not one.ties and not one.in_ranges
        with pytest.raises(ValueError, match="leave the journal out, or have the store tell them"):
            pyhashloom_store._objects.key_of(one, "url", "place")
        return
    other = described("f", {**info, **change}, 3)
    assert one.ties and one.in_ranges and not one.is_same(other) and not other.is_same(one)
    path, tie = pyhashloom_store._objects.key_of(one, "url", "place")
    assert one.version != other.version and path == b"f" and tie.endswith(one.version.encode())
    # What is read may change the time of the last access, and nothing else of a version.
    for access in ("time", "atime", "accessTime", "last_accessed_on", "last_accessed"):
        assert one.version == described("f", {**info, access: LATER}, 3).version


def test_every_protocol_has_a_description():
    import fsspec

    others = {
        # File systems over others, whose descriptions they hand on.
        "async_wrapper", "asyncwrapper", "asynclocal", "blockcache", "cached", "dask", "dir", "filecache", "generic",
        "simplecache", "pyscript",
        # Other names.
        "abfs", "adl", "az", "arrow_hdfs", "file", "gs", "https", "jlab", "ocilake", "root", "s3a", "ssh", "tosfs",
    }  # fmt: skip
    assert set(fsspec.available_protocols()) - others <= {name.partition(",")[0].split()[0] for name in FILE_SYSTEMS}


def test_times():
    ns = SECONDS * 10**9
    for value in (
        MOMENT, MOMENT.replace(tzinfo=None), SECONDS, float(SECONDS), SECONDS * 1000, SECONDS * 10**9,
        "2026-11-25T09:46:40Z", "2026-11-25 09:46:40+00:00", "2026-11-25T10:46:40.0000000+01:00", "20261125094640",
        "Wed, 25 Nov 2026 09:46:40 GMT", (2026, 11, 25, 9, 46, 40),
    ):  # fmt: skip
        assert time_ns(value) == ns, value
    assert time_ns("2026-11-25T09:46:40.1234567Z") == ns + 123_456_000
    for value in (
        None, "", "now", "2026-11-25", "Nov 25 09:46", "2026-11-25T09:46Z", True, float("nan"), float("inf"), b"1", [],
        (2026, 13, 1, 0, 0, 0), (1, 2), {}, "99:99:99", "20269999999999",
    ):  # fmt: skip
        assert time_ns(value) is None, value


def test_fresh():
    ns = SECONDS * 10**9

    def is_settled(info, now_ns):
        return described("f", info, 3, now_ns).is_settled

    # In seconds, also for those who made a second of two; with a fraction.
    settled = [is_settled({"mtime": SECONDS}, ns + age) for age in (-(10**12), 0, 19 * 10**8, 2 * 10**9)]
    assert settled == [False, False, False, True]
    assert [is_settled({"mtime": SECONDS + 0.5}, ns + 5 * 10**8 + age) for age in (10**6, 10**8)] == [False, True]
    assert not is_settled({"created": SECONDS, "mtime": 10**9}, ns)
    assert not is_settled({"ETag": '"a"', "LastModified": SECONDS}, ns) and is_settled({"ETag": '"a"'}, ns)
    # Each change has a revision of its own.
    assert is_settled({"VersionId": "1", "LastModified": SECONDS}, ns)


def test_versions_are_not_confused():
    one, other = {"ETag": '"a"; Last-Modified=1%'}, {"ETag": '"a"', "Last-Modified": "1%"}
    assert described("f", one, 3).version != described("f", other, 3).version


# ---- HTTP


class Site:
    """A file behind HTTP, and how the server speaks of it. `change` is called behind each answer with a body."""

    def __init__(self):
        self.body, self.time, self.requests = b"A" * 3_000, 1_700_000_000, []
        self.has_time, self.etag, self.has_ranges, self.has_head = True, None, True, True
        self.change = lambda: None
        self.headers = lambda request: {}
        self.status = self.date = None

    def answer(self, request):
        span = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", "")) if self.has_ranges else None
        self.requests.append((request.command, request.path, request.headers.get("Range")))
        body = self.body
        headers = {"Last-Modified": email.utils.formatdate(self.time, usegmt=True)} if self.has_time else {}
        if self.etag:
            headers["ETag"] = self.etag(body)
        status = self.status(request) if self.status else None
        status = status or (405 if request.command == "HEAD" and not self.has_head else 206 if span else 200)
        part = body[int(span[1]) : int(span[2]) + 1] if span else body
        headers["Content-Length"] = str(len(part))
        if span:
            headers["Content-Range"] = f"bytes {span[1]}-{span[2]}/{len(body)}"
        headers.update(self.headers(request))
        request.send_response(status)
        for name, value in headers.items():
            if value is not None:
                request.send_header(name, value)
        request.end_headers()
        if request.command == "GET" and status < 300:
            request.wfile.write(part)
            self.change()

    def replace(self, body, seconds=100):
        self.body, self.time, self.change = body, self.time + seconds, lambda: None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.server.site.answer(self)

    do_HEAD = do_GET

    def date_time_string(self, timestamp=None):
        return self.server.site.date or super().date_time_string(timestamp)


class Server(http.server.ThreadingHTTPServer):
    def handle_error(self, *_):
        pass


@pytest.fixture
def serve(monkeypatch):
    pytest.importorskip("aiohttp", reason="SKIPPED: files behind HTTP: aiohttp is not installed")
    monkeypatch.setattr(pyhashloom_store._objects, "_PAUSE", 0)
    servers = []

    def start():
        server = Server(("127.0.0.1", 0), Handler)
        server.site = Site()
        server.site.url = f"http://127.0.0.1:{server.server_port}/f"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        servers.append((server, thread))
        return server.site

    yield start
    for server, thread in servers:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def site(serve):
    return serve()


def summed(url, **keywords):
    (one,) = store.sums("sha256", [url], **keywords)
    return one


def of_body(body):
    return f'"{sha256(body)}"'


TELLS = {"Last-Modified": (True, None), "ETag": (False, of_body), "both": (True, of_body)}


@pytest.mark.parametrize("tells", TELLS)
def test_http_journal(site, tmp_path, tells):
    site.has_time, site.etag = TELLS[tells]
    assert summed(site.url, journal=tmp_path / "j").source == "read"
    again = summed(site.url, journal=tmp_path / "j")
    assert (again.path, again.source, again.hexdigest) == (site.url, "journal", sha256(site.body))
    site.replace(b"B" * 3_000)
    changed = summed(site.url, journal=tmp_path / "j")
    assert (changed.source, changed.hexdigest) == ("read", sha256(b"B" * 3_000))


@pytest.mark.parametrize("tells", TELLS)
@pytest.mark.parametrize("nbytes", [3_000, 2_999])
def test_http_change_between_ranges(site, monkeypatch, tells, nbytes):
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    site.has_time, site.etag = TELLS[tells]
    site.change = lambda: site.replace(b"B" * nbytes)
    one = summed(site.url, range_nbytes=1_000, requests=1)
    assert one.hexdigest == sha256(b"B" * nbytes)

    def change():
        site.body, site.time = os.urandom(3_000), site.time + 1

    site.body, site.change = b"A" * 3_000, change
    assert summed(site.url, range_nbytes=1_000, requests=1).error.kind == "unstable"


@pytest.mark.parametrize("etag", [None, lambda body: 'W/"same"', lambda body: '""'], ids=["none", "weak", "empty"])
def test_http_length_alone(site, monkeypatch, tmp_path, etag):
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    site.has_time, site.etag = False, etag
    site.change = lambda: site.replace(b"B" * 3_000)
    one = summed(site.url, range_nbytes=1_000)
    assert one.hexdigest == sha256(b"A" * 3_000) and one.version.startswith("size=3000")
    assert [span for command, _, span in site.requests if command == "GET"] == [None]
    with pytest.raises(ValueError, match=f"{site.url}: the store tells no time, no revision and no hash of it"):
        summed(site.url, journal=tmp_path / "j")
    # Longer while it is read.
    site.change = lambda: site.replace(site.body + b"C")
    assert summed(site.url).hexdigest == sha256(site.body)
    too_long = summed(site.url, range_nbytes=1_000, memory_nbytes=2_000)
    assert "it has 3001 bytes: give a greater memory_nbytes" in str(too_long.error)


def test_http_weak_etag_with_a_time(site, tmp_path):
    site.etag = lambda body: 'W/"same"'
    assert [summed(site.url, journal=tmp_path / "j").source for _ in range(2)] == ["read", "journal"]
    site.replace(b"B" * 3_000)
    assert summed(site.url, journal=tmp_path / "j").hexdigest == sha256(b"B" * 3_000)


def test_http_change_in_the_same_second(site, tmp_path):
    """The file is made and changed in a second that is not over: both have one time."""
    site.time = int(time.time())

    def change():
        if int(time.time()) == site.time:
            site.body = b"B" * 3_000

    site.change = change
    one = summed(site.url, range_nbytes=1_000, requests=1, journal=tmp_path / "j")
    assert one.hexdigest == sha256(site.body) == summed(site.url, journal=tmp_path / "j").hexdigest
    assert {command for command, _, _ in site.requests[:2]} == {"HEAD"}  # it was waited for

    # A server whose clock is late.
    site.time = int(time.time()) - 1_000
    site.date = email.utils.formatdate(site.time, usegmt=True)
    begun = time.monotonic()
    one = summed(site.url, range_nbytes=1_000)
    assert one.hexdigest == sha256(site.body) and time.monotonic() - begun >= 2


@pytest.mark.parametrize("has_head", [True, False], ids=["HEAD", "no HEAD"])
def test_http_server_that_ignores_ranges(site, has_head):
    site.has_ranges, site.has_head = False, has_head
    assert summed(site.url, range_nbytes=1_000).hexdigest == sha256(site.body)
    error = summed(site.url, range_nbytes=1_000, memory_nbytes=2_000, retries=0).error
    assert "as the server has no ranges, and it has" in str(error)


def test_http_answers_that_tell_less(site, monkeypatch):
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    site.headers = lambda request: {"Last-Modified": None} if request.headers.get("Range") else {}
    assert summed(site.url, range_nbytes=1_000).hexdigest == sha256(site.body)
    assert site.requests[-2][::2] == ("GET", None)
    # Only HEAD tells the version.
    site.headers = lambda request: {"Last-Modified": None} if request.command == "GET" else {}
    assert summed(site.url, range_nbytes=1_000).hexdigest == sha256(site.body)
    site.change = lambda: site.replace(b"B" * 3_000)
    assert summed(site.url, range_nbytes=1_000).hexdigest == sha256(b"B" * 3_000)


def test_http_answers_of_another_range(site):
    site.headers = lambda request: {"Content-Range": "bytes 0-999/3000"} if request.headers.get("Range") else {}
    error = summed(site.url, range_nbytes=1_000, retries=0).error
    assert "offers bytes 0-999/3000 in place of bytes 1000-1999/3000" in str(error)
    site.headers = lambda request: {"Content-Encoding": "gzip"} if request.command == "GET" else {}
    assert summed(site.url, retries=0).error.kind == "read"


def test_http_redirections_to_mirrors(serve, tmp_path):
    """Both mirrors tell the same time and length, and one has rotted."""
    site, good, rotten = serve(), serve(), serve()
    rotten.body = b"A" * 2_999 + b"?"
    mirrors = [good, rotten]
    site.status = lambda request: 302
    site.headers = lambda request: {"Location": mirrors[len(site.requests) % 2].url + "?token=1"}
    one = summed(site.url, range_nbytes=1_000)
    assert one.hexdigest in (sha256(good.body), sha256(rotten.body)) and "token" not in one.version
    mirrors[:] = [good, good]
    assert [summed(site.url, journal=tmp_path / "j").source for _ in range(2)] == ["read", "journal"]
    mirrors[:] = [rotten, rotten]
    one = summed(site.url, journal=tmp_path / "j")
    assert (one.source, one.hexdigest) == ("read", sha256(rotten.body))


def test_http_errors(site):
    for status, kind, number in ((403, "open", 13), (404, "open", 2), (410, "open", 2), (500, "read", None)):
        site.status = lambda request, status=status: status if request.command == "GET" else None
        error = summed(site.url, retries=1).error
        assert (error.kind, error.errno) == (kind, number), status
    assert [command for command, _, _ in site.requests[-3:]] == ["HEAD", "GET", "GET"]
    for status, kind, number in ((404, "open", 2), (403, "open", 13), (500, "read", None)):
        site.status = lambda request, status=status: status
        error = summed(site.url, retries=1).error
        assert (error.kind, error.errno) == (kind, number), status


def test_http_length_that_is_not_the_file_s(site, monkeypatch):
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    for length in ("0", "2999", "3001"):
        site.headers = lambda request, length=length: {"Content-Length": length} if request.command == "HEAD" else {}
        for span in ({}, {"range_nbytes": 1_000}):
            assert summed(site.url, retries=0, **span).error.kind in ("read", "unstable"), length


@pytest.fixture
def ftp(tmp_path, monkeypatch):
    pytest.importorskip("pyftpdlib", reason="SKIPPED: files behind FTP: pyftpdlib is not installed")
    from pyftpdlib.authorizers import DummyAuthorizer
    from pyftpdlib.handlers import FTPHandler
    from pyftpdlib.servers import FTPServer

    monkeypatch.setattr(pyhashloom_store._objects, "_PAUSE", 0)
    logging.getLogger("pyftpdlib").setLevel(logging.CRITICAL)
    root = tmp_path / "root"
    root.mkdir()
    users = DummyAuthorizer()
    users.add_anonymous(str(root))

    class Session(FTPHandler):
        authorizer = users

    server = FTPServer(("127.0.0.1", 0), Session)
    is_ended = threading.Event()

    def run():
        while not is_ended.is_set():
            server.serve_forever(timeout=0.05, blocking=False)
        server.close_all()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield root, f"ftp://127.0.0.1:{server.address[1]}", Session
    is_ended.set()
    thread.join()


def old(path, content, age=1_000):
    path.write_bytes(content)
    os.utime(path, (time.time() - age,) * 2)


def test_ftp(ftp, tmp_path):
    root, url, session = ftp
    contents = {"a b": b"abc", "e": b"", "sub/c": os.urandom(200_000), "sub/d": os.urandom(100_000)}
    for name, content in contents.items():
        (root / name).parent.mkdir(exist_ok=True)
        old(root / name, content)
    wanted = {f"{url}/{name}": sha256(content) for name, content in contents.items()}
    options = dict(range_nbytes=70_000, journal=tmp_path / "j")
    for source in ("read", "journal"):
        found = {one.path: (one.hexdigest, one.source) for one in store.sums("sha256", url, **options)}
        assert found == {path: (digest, source) for path, digest in wanted.items()}
    old(root / "sub/d", b"D" * 100_000, 900)
    found = {one.path: one for one in store.sums("sha256", url, **options)}
    assert [path for path, one in found.items() if one.source == "read"] == [f"{url}/sub/d"]
    assert found[f"{url}/sub/d"].hexdigest == sha256(b"D" * 100_000)
    assert {one.error and one.error.errno for one in store.sums("sha256", [f"{url}/e", f"{url}/no"])} == {None, 2}
    with pytest.raises(ValueError, match="it is in another store than the first URL"):
        list(store.sums("sha256", [f"{url}/e", "ftp://127.0.0.2/e"]))
    written = store.write_manifest(url)
    assert store.check_manifest(written.content, url).is_same


def test_ftp_that_changes(ftp, monkeypatch):
    root, url, session = ftp
    monkeypatch.setattr(pyhashloom_store._versions, "_SECONDS_NS", 10**7)
    old(root / "f", b"A" * 200_000)
    read = pyhashloom_store._objects.Store._get

    async def get(self, one, start, end):
        data = await read(self, one, start, end)
        if start == 0 and data[:1] == b"A":
            old(root / "f", b"B" * 200_000, 900)
        return data

    monkeypatch.setattr(pyhashloom_store._objects.Store, "_get", get)
    assert summed(f"{url}/f", range_nbytes=70_000).hexdigest == sha256(b"B" * 200_000)


def test_ftp_without_times(ftp, tmp_path):
    root, url, session = ftp
    session.proto_cmds = {name: value for name, value in session.proto_cmds.items() if name not in ("MLSD", "MLST")}
    old(root / "f", os.urandom(200_000))
    assert summed(f"{url}/f", range_nbytes=70_000).hexdigest == sha256((root / "f").read_bytes())
    with pytest.raises(ValueError, match="leave the journal out"):
        summed(f"{url}/f", journal=tmp_path / "j")


# ---- Archives, and files of this machine


@pytest.mark.parametrize("protocol", ["tar", "zip"])
def test_members_of_an_archive(tmp_path, protocol):
    """Members have one time and length whatever their bytes, as of a build that is reproducible."""
    archive = tmp_path / f"a.{protocol}"

    def pack(letter):
        with tarfile.open(archive, "w") if protocol == "tar" else zipfile.ZipFile(archive, "w") as file:
            for name in "ab":
                if protocol == "tar":
                    member = tarfile.TarInfo(name)
                    member.size, member.mtime = 50_000, SECONDS
                    file.addfile(member, io.BytesIO(letter * 50_000))
                else:
                    file.writestr(zipfile.ZipInfo(name, (2026, 11, 25, 9, 46, 40)), letter * 50_000)
        os.utime(archive, (1_700_000_000 + letter[0],) * 2)

    def source(letter, fo=str(archive)):
        found = list(store.sums("sha256", f"{protocol}://", storage_options={"fo": fo}, **options))
        assert [one.hexdigest for one in found] == [sha256(letter * 50_000)] * 2
        return {one.source for one in found}

    options = dict(range_nbytes=10_000, journal=tmp_path / "j")
    pack(b"A")
    assert [source(b"A") for _ in range(2)] == [{"read"}, {"journal"}]
    pack(b"B")
    assert source(b"B") == {"read"}
    with open(archive, "rb") as opened, pytest.raises(ValueError, match="leave the journal out"):
        source(b"B", opened)


def test_a_length_of_0_that_stands_for_none():
    if not Path("/proc/version").exists():
        pytest.skip("SKIPPED: files without a length: this system has no /proc")
    (one,) = store.sums("sha256", ["file:///proc/version"], retries=0)
    assert one.error.kind == "read"


def test_a_link_is_told_by_its_target(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    old(tmp_path / "target", b"A" * 10)
    try:
        (folder / "link").symlink_to(tmp_path / "target")
    except OSError:
        pytest.skip("SKIPPED: links in folders: this system has none")
    options = dict(journal=tmp_path / "j")

    def source():
        (one,) = store.sums("sha256", str(folder), **options)
        assert one.hexdigest == sha256(Path(folder, "link").read_bytes())
        return one.source

    assert [source() for _ in range(2)] == ["read", "journal"]
    old(tmp_path / "target", b"B" * 10)
    assert source() == "read"
