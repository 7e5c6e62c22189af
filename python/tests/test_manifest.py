# SPDX-License-Identifier: MIT OR Apache-2.0
"""Manifests of folders, and lists of checksums."""

import hashlib
import json
import os
import pickle

import pytest

import pyhashloom
import pyhashloom.manifest
from pyhashloom._hashloom import Listing

SHA1_ABC = "a9993e364706816aba3e25717850c26c9cd0d89d"


@pytest.fixture
def folder(tmp_path):
    root = tmp_path / "folder"
    (root / "numbers").mkdir(parents=True)
    for i in range(1, 4):
        (root / "numbers" / f"{i}.txt").write_text(str(i) * i)
        os.utime(root / "numbers" / f"{i}.txt", (1767225600, 1767225600))
    return root


def test_the_bytes_of_a_manifest(folder):
    """Those of docs/manifests.md, which the program has written."""
    written = pyhashloom.manifest.write(folder / "numbers")
    lines = [json.loads(line) for line in written.content.splitlines()]
    assert lines[0] == {"format": "hashloom manifest", "version": 1, "algorithms": ["sha256"]}
    assert [line["sha256"] for line in lines[1:4]] == [hashlib.sha256(b"%d" % i * i).hexdigest() for i in range(1, 4)]
    end = "c34350e4eff57d8dd79d6478076840f2f15ee1ca934f15f3fe1c0d743bd3d895"
    assert lines[4] == {
        "type": "end", "files": 3, "links": 0, "folders": 0, "unread": 0, "bytes": 6, "sha256": end,
    }
    assert written.troubles == []
    read = written.reads[0]
    assert (read.path, read.nbytes, read.worker) == ("1.txt", 1, None)


def test_what_became_of_files(folder):
    (folder / "link").symlink_to("numbers")
    (folder / os.fsdecode(b"no \xff text")).write_bytes(b"a")
    content = pyhashloom.manifest.write(folder, algorithms=["sha256", "md5"]).content
    report = pyhashloom.manifest.check(content, folder)
    assert report.is_same and report.differences == [] and report.counts["same"] == 6
    assert report.nbytes_read == 7

    times = (1767225600, 1767225600)
    (folder / "numbers/1.txt").write_text("x")  # as long, and as old
    os.utime(folder / "numbers/1.txt", times)
    (folder / "numbers/2.txt").rename(folder / "two")
    (folder / "numbers/3.txt").unlink()
    (folder / "new").write_text("new")
    (folder / "link").unlink()
    (folder / "link").symlink_to("/etc/passwd")
    (folder / os.fsdecode(b"no \xff text")).write_bytes(b"ab")
    report = pyhashloom.manifest.check(content, folder)
    found = [(difference.status, difference.path) for difference in report.differences]
    assert found == [
        ("changed", "link"),
        ("changed", os.fsdecode(b"no \xff text")),
        ("rotted", "numbers/1.txt"),
        ("moved", "numbers/2.txt"),
        ("removed", "numbers/3.txt"),
        ("added", "new"),
    ]
    assert not report.is_same
    moved = report.differences[3]
    assert (moved.old["path"], moved.new["path"]) == ("numbers/2.txt", "two")
    assert moved.new["md5"] == hashlib.md5(b"22").hexdigest()
    assert report.counts["moved"] == 1 and report.counts["unreadable"] == 0


def test_the_manifest_is_not_part_of_the_folder(folder):
    content = pyhashloom.manifest.write(folder, exclude=["*.log"], max_nbytes=10).content
    (folder / "a.manifest").write_bytes(content)
    (folder / "x.log").write_bytes(b"left out")
    (folder / "long").write_bytes(b"longer than 10")
    assert pyhashloom.manifest.check(folder / "a.manifest", folder).is_same
    # A listed file that has outgrown the filter is changed, not gone.
    (folder / "numbers/1.txt").write_bytes(b"longer than 10")
    checked = pyhashloom.manifest.check(folder / "a.manifest", folder)
    statuses = [difference.status for difference in checked.differences]
    assert statuses == ["changed"]


def test_errors_of_manifests(folder):
    content = pyhashloom.manifest.write(folder).content
    without_end = content[: content.rindex(b'{"type":"end"')]
    for bad in (b"", b"{}\n", content[:-1], without_end, content.replace(b"1.txt", b"0.txt")):
        with pytest.raises(pyhashloom.manifest.ManifestError) as raised:
            pyhashloom.manifest.check(bad, folder)
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), pyhashloom.manifest.ManifestError)
    lines = content.replace(b"numbers/1.txt", b"../x")
    with pytest.raises(pyhashloom.manifest.ManifestError, match=r"\.\./x"):
        pyhashloom.manifest.check(lines, folder)
    with pytest.raises(pyhashloom.FileError, match="missing"):
        pyhashloom.manifest.check(content, folder / "missing")
    with pytest.raises(OSError):
        pyhashloom.manifest.check(folder / "missing", folder)
    with pytest.raises(ValueError, match="unsupported"):
        pyhashloom.manifest.write(folder, algorithms=["sha3"])
    with pytest.raises(ValueError, match="expected an algorithm"):
        pyhashloom.manifest.write(folder, algorithms=[])
    with pytest.raises(TypeError):
        pyhashloom.manifest.write(folder, algorithms="sha256")
    with pytest.raises(ValueError):
        pyhashloom.manifest.write(folder, include=["["])


def test_a_file_without_digests_is_never_the_same(folder):
    """The engine takes files that were not read for the same if their lengths and times are: a listing refuses it."""
    content = pyhashloom.manifest.write(folder).content
    listing = Listing(folder, [], ([], [], None, None), [], content)
    with pytest.raises(RuntimeError, match="no digests of"):
        listing.compare()
    with pytest.raises(RuntimeError, match="no digests of"):
        listing.write()
    index = listing.files()[0][0]
    for digests in ([], [b"x"], [b"x" * 20], [b"x" * 32] * 2):
        with pytest.raises(ValueError, match="expected the digests"):
            listing.hashed(index, 1, 0, digests)
    for other in (0, 10**6):  # a folder, and nothing
        with pytest.raises(ValueError, match="not a file"):
            listing.hashed(other, 1, 0, [b"x" * 32])


def test_a_file_that_changes_between_listing_and_reading(folder, monkeypatch):
    hash_listed = pyhashloom.manifest.hash_listed

    def with_changes(root, asked, threads, progress):
        (folder / "numbers/1.txt").write_bytes(b"longer")  # as it is read, and here afterwards
        (folder / "numbers/2.txt").unlink()
        answers = hash_listed(root, asked, threads, progress)
        (folder / "numbers/3.txt").write_bytes(b"after the read")
        (folder / "numbers/2.txt").write_bytes(b"back again")
        digests, nbytes, mtime_ns, reason = answers[2]
        answers[2] = (digests, nbytes, mtime_ns - 1, reason)
        return answers

    monkeypatch.setattr(pyhashloom.manifest, "hash_listed", with_changes)
    written = pyhashloom.manifest.write(folder)
    lines = {line.get("path"): line for line in map(json.loads, written.content.splitlines())}
    assert lines["numbers/1.txt"]["sha256"] == hashlib.sha256(b"longer").hexdigest()
    assert (lines["numbers/2.txt"]["type"], lines["numbers/2.txt"]["reason"]) == ("unread", "unreadable")
    assert (lines["numbers/3.txt"]["type"], lines["numbers/3.txt"]["reason"]) == ("unread", "unstable")
    assert [os.path.basename(error.filename) for error in written.troubles] == ["2.txt", "3.txt"]


def test_a_file_that_becomes_something_else_is_told(folder, monkeypatch):
    """Only what is not there any more is left out."""
    hash_listed, lstat = pyhashloom.manifest.hash_listed, os.lstat

    def with_changes(root, asked, threads, progress):
        for name in ("1", "2", "3"):
            (folder / f"numbers/{name}.txt").unlink()
        (folder / "numbers/1.txt").mkdir()
        return hash_listed(root, asked, threads, progress)

    def failing(place, **keywords):
        if os.fsencode(place).endswith(b"2.txt"):
            raise PermissionError(13, "Permission denied")
        return lstat(place, **keywords)

    content = pyhashloom.manifest.write(folder).content
    with monkeypatch.context() as patch:
        patch.setattr(pyhashloom.manifest, "hash_listed", with_changes)
        patch.setattr(os, "lstat", failing)
        written = pyhashloom.manifest.write(folder)
    lines = {line.get("path"): line for line in map(json.loads, written.content.splitlines())}
    assert [lines[f"numbers/{name}.txt"]["type"] for name in "12"] == ["unread"] * 2 and "numbers/3.txt" not in lines
    assert sorted(os.path.basename(error.filename) for error in written.troubles) == ["1.txt", "2.txt"]
    assert not pyhashloom.manifest.check(content, folder).is_same


def test_a_list(tmp_path, monkeypatch):
    (tmp_path / "abc").write_bytes(b"abc")
    (tmp_path / "b\nc").write_bytes(b"abd")
    (tmp_path / "empty").mkdir()
    lines = [
        f"\ufeff{SHA1_ABC}  abc",
        "# a comment",
        f"{SHA1_ABC.upper()} *abc\r",
        f"\\{SHA1_ABC}  b\\nc",
        f"SHA1 (missing) = {SHA1_ABC}",
        f"{SHA1_ABC}  empty",
        f"{SHA1_ABC}  -",
        '{"path":"abc","length":3,"digests":{}}',
        "no checksum",
        f"MD5 (../{tmp_path.name}/abc) = {hashlib.md5(b'abc').hexdigest()}",
        f"{SHA1_ABC}  {tmp_path}/abc",
    ]
    path = tmp_path / "list"
    path.write_text("\n".join(lines) + "\n")
    report = pyhashloom.manifest.check_list(path, folder=tmp_path)
    assert [(file.line, file.path, file.state) for file in report.files] == [
        (1, "abc", "ok"),
        (3, "abc", "ok"),
        (4, "b\nc", "failed"),
        (5, "missing", "unread"),
        (6, "empty", "unread"),
        (10, f"../{tmp_path.name}/abc", "ok"),
        (11, f"{tmp_path}/abc", "ok"),
    ]
    assert report.files[3].error.filename == str(tmp_path / "missing")
    assert [number for number, _ in report.bad_lines] == [7, 8, 9]
    assert not report.is_right
    monkeypatch.chdir(tmp_path)
    good = pyhashloom.manifest.check_list(f"{SHA1_ABC}  abc\n".encode())
    assert good.is_right and good.files[0].algorithms == ("sha1",)
    # Nothing right, and a line too much.
    assert not pyhashloom.manifest.check_list(b"").is_right
    assert not pyhashloom.manifest.check_list(f"{SHA1_ABC}  abc\nno\n".encode()).is_right


def test_a_list_is_read_whole(tmp_path):
    (tmp_path / "a\nb").write_bytes(b"abc")
    (tmp_path / "c").write_bytes(b"other")

    def checked(content):
        report = pyhashloom.manifest.check_list(content, folder=tmp_path)
        return [(file.path, file.state) for file in report.files], [line for line, _ in report.bad_lines]

    def zero(name):
        return f"{SHA1_ABC}  {name}\0".encode()

    # Lines that end with NUL, and both kinds in one list.
    assert checked(zero("a\nb") + zero("c")) == ([("a\nb", "ok"), ("c", "failed")], [])
    assert checked(f"{SHA1_ABC}  c\n".encode() + zero("c") + zero("c")) == ([("c", "failed")], [1])
    assert checked(f"\ufeff{SHA1_ABC}  c\n".encode("utf-16-le")) == ([("c", "failed")], [])
    # A record without its end.
    record = f"Algorithm : SHA1\nHash : {SHA1_ABC}\nPath : c\n\n"
    assert checked((record + record[:-11]).encode()) == ([("c", "failed")], [6])


def test_a_list_with_a_length(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    head = "%%%% HASHDEEP-1.0\n%%%% size,md5,sha256,filename\n"
    digests = f"{hashlib.md5(b'abc').hexdigest()},{hashlib.sha256(b'abc').hexdigest()},a\n"
    states = []
    for size in (3, 4):
        report = pyhashloom.manifest.check_list(f"{head}{size},{digests}".encode(), folder=tmp_path)
        states.append((report.files[0].state, report.files[0].algorithms))
    assert states == [("ok", ("md5", "sha256")), ("failed", ("md5", "sha256"))]
    ripemd = pyhashloom.ripemd160(b"abc").hexdigest()
    lines = f"{ripemd}  a".encode()
    assert not pyhashloom.manifest.check_list(lines, folder=tmp_path).is_right
    assert pyhashloom.manifest.check_list(lines, folder=tmp_path, algorithms=["ripemd160"]).is_right


# minisign's files in vectors/minisign: a manifest of the file "a", a public key, and a signature.
PUBLIC_KEY = "RWQPYbzhIBA3wKDEzIfuTBp0Nl2VES5xfOLptmqAt1cgebhVSznOCPak"
OTHER_KEY = "RWS3Dro6h+37ZTtTQsdxCmKAOxgSCOVSBqx9SA23GAIAkc+RNmzvg+Ac"
SIGNED = (
    b'{"format":"hashloom manifest","version":1,"algorithms":["sha256"]}\n'
    b'{"type":"file","path":"a","length":3,"mtime_ns":1767225600000000000,'
    b'"sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}\n'
    b'{"type":"end","files":1,"links":0,"folders":0,"unread":0,"bytes":3,'
    b'"sha256":"b9da5be73837bf9e81dad54c5b70d31011229cea71f84566277f200d08a7461e"}\n'
)
SIGNATURE = b"""untrusted comment: signature from minisign secret key
RUQPYbzhIBA3wAJ8YFE0GWGtUT1zGQ5HNipUhw/aD/H/CCYHm/20QRqGo+XJcozKuUCFNOghj/QmIzPS94C8hGxRr4VcSSCZ1AE=
trusted comment: a test: manifest
0QYzcJB5VCw04AHpn0tVLWi7Hk323v16elbzSuX2z9pyLemUM1ja/SnhUrrPgKgUnA8OJs5gHMLWCf6ZAR7bBA==
"""
# The same manifest, signed by hashloom as that of a folder named "d".
OF_D = b"""untrusted comment: signature from hashloom
RUQPYbzhIBA3wMb7vZEVYTiFcqOchhyPsHdgLLE9crUNP5Z2jz/rZ02ru/PddapU+k34gR8wXFeACW6NQyaQ9+T5P/vlIl+LyAA=
trusted comment: timestamp:1795705056\tfile:m\tfolder:d\thashed
OGvOp6Et3TbHB0PpBqO3udgXybGKqqYSzFbSjPU6LLRcdlWYuEj/umtItggUBa/Poa3PbrHVb2p6HNsywU4cDA==
"""


def test_a_signature(tmp_path):
    folder = tmp_path / "d"
    folder.mkdir()
    (folder / "a").write_bytes(b"abc")
    path = folder / "m"
    path.write_bytes(SIGNED)
    (tmp_path / "key").write_text(f"untrusted comment: minisign public key\n{PUBLIC_KEY}\n")
    check = pyhashloom.manifest.check
    with pytest.raises(pyhashloom.manifest.SignatureError, match="m.minisig: missing: the manifest is not signed"):
        check(path, folder, trusted_key=PUBLIC_KEY)
    (folder / "m.minisig").write_bytes(SIGNATURE)
    # The manifest and its signature in the folder are no part of it.
    for key in (PUBLIC_KEY, tmp_path / "key", str(tmp_path / "key")):
        report = check(path, folder, trusted_key=key)
        assert report.is_same and not [found for found in report.differences if found.status != "touched"]
        found = pyhashloom.manifest.Signature("C0371020E1BC610F", "a test: manifest", None, None, None, None)
        assert report.signature == found
    assert check(path, folder).signature is None
    # Names are compared.
    of_d = SIGNATURE + OF_D
    for name, is_this in (("d", True), ("copy", False)):
        other = tmp_path / name
        other.mkdir(exist_ok=True)
        report = check(SIGNED, other, trusted_key=PUBLIC_KEY, signature=OF_D)
        signature = report.signature
        assert (signature.file, signature.is_this_file, signature.folder, signature.is_this_folder) == (
            "m", None, "d", is_this
        )
    (tmp_path / "both").write_bytes(of_d)
    assert check(path, folder, trusted_key=PUBLIC_KEY,
                 signature=tmp_path / "both").signature.comment == "a test: manifest"
    # Without a right signature nothing is said of the folder, which need not even be there.
    for content, signature, key in (
        (SIGNED.replace(b'"a"', b'"b"'), SIGNATURE, PUBLIC_KEY),
        (SIGNED, SIGNATURE, OTHER_KEY),
        (SIGNED, SIGNATURE.replace(b"a test", b"a tesT"), PUBLIC_KEY),
        (SIGNED, SIGNATURE[:200], PUBLIC_KEY),
        (SIGNED, b"", PUBLIC_KEY),
        (SIGNED, b"\xff" * 100, PUBLIC_KEY),
        (SIGNED, SIGNATURE * 5, PUBLIC_KEY),
        (SIGNED, SIGNATURE, tmp_path / "both"),
        (SIGNED, None, PUBLIC_KEY),
    ):
        with pytest.raises(pyhashloom.manifest.SignatureError):
            check(content, tmp_path / "missing", trusted_key=key, signature=signature)
    with pytest.raises(ValueError, match="give both"):
        check(SIGNED, folder, signature=SIGNATURE)
    with pytest.raises(FileNotFoundError):
        check(SIGNED, folder, trusted_key="nokey", signature=SIGNATURE)
    # A damaged manifest with a right signature is not one.
    assert issubclass(pyhashloom.manifest.SignatureError, pyhashloom.manifest.ManifestError)
