#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Compares `hashloom PATH…` with plain rules, on random files with random evidence beside them.

    test/door.py path/to/hashloom [--draws N] [--seed S] [--only K]

Each draw makes a folder: FILE of some name and content; lists, torrents, manifests, PAR2 sets and signatures beside
FILE; other files. What is expected follows from hashlib and from rules for lines of lists:

- no: something names FILE and is wrong, or cannot be compared. The exit status is 1 or 2.
- yes: all that names FILE is right. The exit status is 0, and each list has a line with OK.
- right: the exit status is 0.
- nothing: nothing names FILE. A checksum is printed, the word OK is not; --require makes the exit status 1.
- content: FILE may read as a list, but is a script or the like. No OK.
- refused: paths in an order that means nothing. The exit status is 2.
- unlisted: the exit status is 1, or the files that no list has are said.
- unsure: the rules leave open what follows.

In every draw the exit status is 0, 1 or 2; no OK is of a file that was not asked for, or by a list that does not say
so. Other files of a list are wrong, missing, or pipes that nobody writes to: they are not read, and decide nothing.
"""

import base64
import codecs
import collections
import gzip
import hashlib
import os
import pathlib
import random
import re
import struct
import subprocess
import tempfile
import zlib

import checks

GUARD_SECONDS = 20
NAMES = ["film.iso", "film.mkv", "install.sh", "setup.exe", "data.tar.gz", "photo.jpg", "a b.bin", "-q", "--help", "f",
         "README", "notes.txt", "data.json", "table.csv", "index.xml", "some.list", "some.lst", "key.asc", "save.dat",
         "SHA512SUMS", "x.sha256", "x.manifest", "x.torrent", "x.par2", "Motörhead.mp3", "f(1).zip", "back\\slash"]
# F is FILE's name, S the same without its ending.
LISTS = ["SHA256SUMS", "SHA512SUMS", "MD5SUMS", "SHA1SUMS", "sha256sum.txt", "CHECKSUMS", "checksums.txt", "Manifest",
         "F.sha256", "F.sha512", "F.md5", "F.sfv", "all.sfv", "S.sha256", "S.md5",
         "F.sha256.txt", "F.sha256.asc", "F.b3", "F.sha3", "F.b2", "F.CRC32", "F-SHA256", "F_sha256.txt",
         "F.sha256sums", "F.SHA512", "digests.lst", "HASHES", "S.sha512.txt"]
SIGNATURES = [".sign", ".asc", ".sig", ".gpg", ".minisig", ".sigstore.json"]
IS_LIST = re.compile(r"SUMS$|\.(sha256|torrent|par2|manifest)$")
MAY_BE_LIST = re.compile(r"^[^.]*$|\.(txt|list|lst|csv|json|xml|asc|dat)$")
LENGTHS = {8: "crc32", 32: "md5", 40: "sha1", 56: "sha224", 64: "sha256", 96: "sha384", 128: "sha512"}
TAGS = {"CRC32": "crc32", "MD5": "md5", "SHA1": "sha1", "SHA256": "sha256", "SHA384": "sha384", "SHA512": "sha512",
        "SHA3-256": "sha3_256", "BLAKE2b": "blake2b"}
HASHES = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_512", "blake2b", "blake2s"]


def digests(data):
    return {**{name: hashlib.new(name, data).hexdigest() for name in HASHES}, "crc32": f"{zlib.crc32(data):08x}"}


# ---- What a list says


def algorithm_of(listed, subject, digest):
    """The algorithm that the name of a list tells, or else the length of a digest."""
    hint = re.search("sha3|sha512|sha256|sha1|md5|b2|b3|crc32|sfv", listed.removeprefix(subject).lower())
    told = {"sha3": {128: "sha3_512"}.get(len(digest), "sha3_256"), "b2": "blake2b", "sfv": "crc32"}
    return told.get(hint[0], hint[0]) if hint else LENGTHS.get(len(digest))


def compared(digest, algorithm, data):
    if algorithm == "size":
        # A digest without a name in a list of an unusual name may be refused.
        return "unsure" if digest == "alone" else "right" if int(digest) == len(data) else "wrong"
    own, digest = digests(data), digest.lower()
    if not re.fullmatch("[0-9a-f]+", digest) or len(digest) not in LENGTHS or algorithm is None:
        return "unread"
    return "right" if own.get(algorithm) == digest else "unsure" if digest in own.values() else "wrong"


def entries(listed, text, subject):
    """Yields of each line a name, digests with their algorithms, and whether OpenPGP has signed other lines only."""
    state = "outside" if "-----BEGIN PGP SIGNED" in text else "plain"
    for line in text.split("\n"):
        if line.startswith("-----BEGIN PGP SIGN"):
            state = "header" if "SIGNED" in line else "outside"
            continue
        if state == "header":
            state = "signed" if line == "" else state
            continue
        line, size, place, digest = line.removeprefix("- ") if state == "signed" else line, None, None, None
        if found := re.fullmatch(r"DATA (\S+) (\d+) (\S+) (\S+)", line):
            place, size, tag, digest = found.groups()
            algorithm = TAGS.get(tag)
        elif found := re.fullmatch(r"([A-Za-z0-9-]+) ?\((.+)\) ?= (\S+)", line):
            place, digest, algorithm = found[2], found[3], TAGS.get(found[1])
        elif found := re.fullmatch(r"(\\?)(\w{8,}) [ *](.+)", line):
            place, digest = found[3].replace("\\\\", "\\") if found[1] else found[3], found[2]
            algorithm = algorithm_of(listed, subject, digest)
        elif listed.endswith(".sfv") and (found := re.fullmatch(r"(.+) (\w{8})", line)):
            place, digest, algorithm = found[1], found[2], "crc32"
        elif listed.startswith(subject) and re.fullmatch(r"\w{8,}", line):
            place, digest, algorithm = subject, line, algorithm_of(listed, subject, line)
            is_usual = listed.removeprefix(subject) in (".sha256", ".sha512", ".md5", ".sha256.asc")
            size = None if is_usual else "alone"
        if place and line[0] not in "#;":
            yield place, [(digest, algorithm)] + [(size, "size")] * bool(size), state == "outside"


def is_of(place, folder, path):
    """Whether a name in a list in that folder is the file's; None where the rules leave it open."""
    there, is_windows = os.path.join(folder, place), place[1:2] == ":"
    if os.path.exists(there):
        return os.path.realpath(there) == os.path.realpath(path)
    last = re.split(r"[/\\]" if is_windows else "/", place)[-1]
    return last == path.name and ((is_windows or place[0] == "/") or None)


def list_says(listed, path):
    """What the lines of a list say of a file: a set of right, wrong, unread (they cannot be compared), unsure."""
    raw, said, data = listed.read_bytes(), set(), path.read_bytes()
    is_wide = raw.startswith(codecs.BOM_UTF16_LE)
    text = raw.decode("utf-16" if is_wide else "utf-8-sig")
    for place, found, is_outside in entries(listed.name, text, path.name):
        is_named = is_of(place, listed.parent, path)
        if is_named is None:
            said.add("unsure")
        elif is_named:
            each = {"unread"} if is_outside else {compared(digest, algorithm, data) for digest, algorithm in found}
            # Such a list may be refused as a whole.
            said |= {"unsure"} if each == {"right"} and (is_wide or "<?xml" in text) else each
    return said


def verdict(said):
    return "no" if said & {"wrong", "unread"} else "unsure" if "unsure" in said else "yes" if said else "nothing"


# ---- What is drawn


def lines_of(files, cut):
    return "".join(f"{hashlib.sha256(data).hexdigest()}  {name[cut:]}\n" for name, data in files.items())


def md5(data):
    return hashlib.md5(data).digest()


def par2(name, data):
    """A PAR2 set without blocks for repair, of one file in blocks of 4 bytes."""
    padded = name.encode() + b"\0" * (-len(name.encode()) % 4)
    of_file = md5(data) + md5(data[:16384]) + struct.pack("<Q", len(data))
    file = md5(of_file[16:] + name.encode())
    main = struct.pack("<QI", 4, 1) + file
    blocks = [data[i:i + 4].ljust(4, b"\0") for i in range(0, len(data), 4)]
    sums = b"".join(md5(block) + struct.pack("<I", zlib.crc32(block)) for block in blocks)
    packets = b""
    for kind, body in (b"FileDesc", file + of_file + padded), (b"IFSC\0\0\0\0", file + sums), (b"Main\0\0\0\0", main):
        rest = md5(main) + b"PAR 2.0\0" + kind + body
        packets += b"PAR2\0PKT" + struct.pack("<Q", 32 + len(rest)) + md5(rest) + rest
    return packets


class Draw:
    """A folder, and what the program is asked there.

    words: the arguments. may_be_ok: the files of which an OK may be, or None for all. says: what each list says of
    FILE. noted: names that must be said. about: the content of which a torrent, manifest or PAR2 set is, by file.
    """

    def __init__(self, rng, top):
        self.rng, self.top, self.here, self.tags, self.options = rng, top, top / "w", [], []
        self.may_be_ok, self.says, self.noted, self.about, self.others = None, {}, [], {}, {}
        for name in ("w/sub", "elsewhere/deep", "aside"):
            (top / name).mkdir(parents=True)
        (self.here / "lnk").symlink_to("../elsewhere/deep")
        (top / "same").symlink_to("w")
        (self.here / "same").symlink_to(".")
        for name in rng.sample(["other.iso", "b", "z.txt", "movie.mkv"], 2):
            self.others[name] = rng.randbytes(rng.randrange(1, 200))
            self.write(name, self.others[name])

    def once_in(self, n):
        return self.rng.randrange(n) == 0

    def write(self, name, data):
        (self.here / name).parent.mkdir(parents=True, exist_ok=True)
        (self.here / name).write_bytes(data if isinstance(data, bytes) else data.encode())
        return self.here / name

    def made(self, kind, subject, folder):
        """A torrent or manifest of a file or folder."""
        verb, output = "create" if kind == "torrent" else "write", self.top / "made"
        subprocess.run([PROGRAM, kind, verb, subject, "-o", output, "-q"], cwd=folder, check=True, capture_output=True)
        data = output.read_bytes()
        output.unlink()
        return data

    def line(self, listed, place, data, subject, form):
        """A line about a file, with a digest that is right, wrong, cut or unreadable."""
        rng, kind = self.rng, self.rng.choice(["right"] * 6 + ["wrong"] * 5 + ["cut", "letter", "tag"])
        hint = algorithm_of(listed, subject, "") or "sha256"
        algorithm = "sha3_256" if hint == "b3" else hint
        form = "sfv" if listed.endswith(".sfv") else "data" if listed == "Manifest" else form
        tag = next((tag for tag, one in TAGS.items() if one == algorithm), "SHA256")
        digest = digests(data)[TAGS[tag] if form in ("bsd", "openssl", "data") else algorithm]
        at = rng.randrange(len(digest))
        if kind == "wrong":
            digest = digest[:at] + "10"[digest[at] == "1"] + digest[at + 1:]
        elif kind == "cut" and form != "sfv":
            digest = digest[:rng.choice([len(digest) // 2, -1, -8])] or "0"
        elif kind == "letter" and form != "sfv":
            digest = digest[:at] + "g" + digest[at + 1:]
        elif kind == "tag":
            tag, form = rng.choice(["TIGER", "HAVAL", "SHA257"]), form if form == "data" else "bsd"
        self.tags.append(f"{listed}: {form} {kind} {place}")
        digest, mark = digest.upper() if form == "upper" else digest, "*" if form == "star" else " "
        escape = "\\" if "\\" in place and not self.once_in(3) else ""
        plain = f"{escape}{digest} {mark}" + (place.replace("\\", "\\\\") if escape else place)
        forms = {"bsd": f"{tag} ({place}) = {digest}", "openssl": f"{tag}({place})= {digest}",
                 "sfv": f"{place} {digest}", "data": f"DATA {place} {len(data)} {tag} {digest}"}
        return forms.get(form, plain)

    def list(self, listed, name, data):
        """The content of a list that may name the file."""
        rng = self.rng
        places = [name] * 6 + [f"./{name}", f".//{name}", f"././{name}", f"sub/../{name}", f"{self.here}/{name}",
                               f"same/{name}", f"{self.top}/same/{name}", f"lnk/../{name}", f"dist/{name}",
                               f"/home/other/dl/{name}"] + [f"C:\\dl\\{name}"] * (listed != "Manifest")
        if self.once_in(8):
            self.write(f"../elsewhere/{name}", "another file") # lnk/../NAME
        forms = ["gnu", "gnu", "star", "bsd", "openssl", "upper"]
        lines = [self.line(listed, rng.choice(places), data, name, rng.choice(forms))
                 for _ in range(rng.choice([1] * 8 + [2, 0]))]
        if listed.startswith(name) and not listed.endswith(".sfv") and self.once_in(4):
            lines = [self.line(listed, name, data, name, "gnu").split(" ")[0].strip("\\")]
            self.tags.append("alone")
        else:
            others = rng.sample([*self.others.items(), ("missing.bin", b"1")], rng.randrange(3))
            lines += [self.line(listed, other, content, name, "gnu") for other, content in others]
            rng.shuffle(lines)
            odd = rng.choice(['<?xml version="1.0"?>', "# a comment", "; one", ""])
            lines[:0 if self.once_in(2) else 1] += [odd] * self.once_in(7)
        if listed.endswith(".asc") or self.once_in(16):
            at = rng.randrange(len(lines) + 1) if self.once_in(2) else 0
            lines = [*lines[:at], "-----BEGIN PGP SIGNED MESSAGE-----", "Hash: SHA512", "",
                     *("- " * (line[:1] == "-") + line for line in lines[at:]),
                     "-----BEGIN PGP SIGNATURE-----", "", "iQ==", "-----END PGP SIGNATURE-----"]
        coded = rng.choice(["utf-8"] * 16 + ["utf-8-sig", "utf-16"])
        return "\n".join([*lines, ""]).encode("utf-8" if listed == "Manifest" else coded)

    def evidence(self, name, data):
        """Writes something beside FILE that may name FILE."""
        rng, stem = self.rng, name.rsplit(".", 1)[0]
        kind = rng.choice(["list"] * 6 + ["torrent", "par2", "manifest"])
        listed = {"list": rng.choice(LISTS), "torrent": rng.choice(["F.torrent", "S.torrent", "other.torrent"]),
                  "par2": rng.choice(["F.par2", "S.par2", "F.vol0+1.par2"]), "manifest": "S.manifest"}[kind]
        listed = re.sub(r"^[FS](?=[._-])", lambda word: name if word[0] == "F" else stem, listed)
        is_odd = re.search(r"[ \\]", name) if listed == "Manifest" else kind != "list" and name[0] == "-"
        if (self.here / listed).exists() or is_odd:
            return
        made, of, about = None, name, rng.choice([data, data, data + b"x", bytes([data[0] ^ 1]) + data[1:]])
        if self.once_in(10) and kind != "list":
            of, about = next(iter(self.others.items()))
        if kind == "list":
            made = self.list(listed, name, data)
        elif kind == "par2":
            made = par2(of, about)
        else:
            self.write(f"../aside/{of}", about)
            made = self.made(kind, of if kind == "torrent" else ".", self.top / "aside")
            (self.top / "aside" / of).unlink()
        path = self.write(listed, made)
        if kind != "list":
            self.about[path] = {of: about}
            self.tags.append(f"{listed}: {of} {'right' if about == data else 'another content'}")
            if kind == "torrent" and listed != "other.torrent" and self.once_in(8):
                path.write_bytes(made[:-9])
                self.about[path] = {name: b""}
                self.tags.append("cut")
        self.says[path] = set()

    def look(self, file):
        """What all evidence says of a file."""
        for path in self.says:
            if path in self.about:
                about, data = self.about[path], file.read_bytes()
                said = {"right" if about[file.name] == data else "wrong"} if file.name in about else set()
            else:
                said = list_says(path, file)
            # The rules leave open what is said of a list that is called like FILE, and is of other files.
            self.says[path] = said or ({"unsure"} if path.name.startswith(file.name) else set())
        return verdict(set().union(*self.says.values()))

    def disguised(self, name):
        """A content of FILE that reads as a list, with the right digest of another file beside FILE."""
        target = self.rng.choice(sorted(path for path in self.here.iterdir() if path.is_file() and path.name != name))
        data = target.read_bytes()
        line, packets = lines_of({target.name: data}, 0), par2(target.name, data)
        kinds = {"list": line, "script": f"#!/bin/sh\n#\necho evil\n{line}{line}", "zip": f"PK\3\4\n{line}",
                 "iso": packets.ljust(32768, b"\0") + b"\1CD001\1\0".ljust(2048, b"\0"), "par2": packets,
                 "xml": f'<?xml version="1.0"?>\n<x>\n{line}</x>\n', "png": b"\x89PNG\r\n\x1a\n" + line.encode(),
                 "utf16": line.encode("utf-16"), "gzip": gzip.compress(line.encode()),
                 "mtree": f"#mtree\n{target.name} type=file sha256digest={line[:64]}\n"}
        kind = self.rng.choice([*kinds, "list", "script", "iso"])
        self.tags.append(f"FILE is {kind} about {target.name}")
        return kind, kinds[kind]

    def signatures(self, paths):
        for path in paths:
            name = path.name + self.rng.choice(SIGNATURES)
            if not (self.here / name).exists() and "\\" not in name:
                self.noted.append(self.write(name, "x\n").name)

    # -- What is asked. Each returns what is expected.

    def one_file(self):
        rng = self.rng
        name, data = rng.choice(NAMES), rng.randbytes(rng.choice([1, 9, 300, 3000]))
        file, kind = self.write(name, data), None
        for _ in range(rng.choice([0, 1, 1, 1, 1, 2, 3])):
            self.evidence(name, data)
        if self.once_in(3) and "\\" not in name:
            kind, content = self.disguised(name)
            self.write(name, content)
        elif self.once_in(16):
            file.rename(self.top / "elsewhere/deep/stored")
            file.symlink_to("../elsewhere/deep/stored")
        expected = self.look(file)
        if self.once_in(3):
            # A torrent of another file says nothing.
            about = (path for path, said in self.says.items()
                     if said - {"unsure"} and name in self.about.get(path, [name]))
            self.signatures([file, *about])
        for other in self.others if kind is None and self.once_in(2) else ():
            (self.here / other).unlink()
            rng.choice([os.mkfifo, os.mkdir, str, lambda path: path.write_bytes(b"?")])(self.here / other)
        self.may_be_ok = [file]
        if expected in ("nothing", "unsure") and (IS_LIST.search(name) or MAY_BE_LIST.search(name) and kind):
            # FILE itself may be a list.
            self.may_be_ok, self.noted = None, []
            expected = "content" if kind in ("script", "iso", "png", "zip") and not IS_LIST.search(name) else "unsure"
        self.options = ["--require"] * (expected == "nothing" and self.once_in(3))
        word = rng.choice([name] * 4 + [f"./{name}", f"sub/../{name}", f"same/{name}", str(file), f"../same/{name}"])
        self.words = ["--", word] if word[0] == "-" else [word]
        if self.noted and expected in ("yes", "no") and self.once_in(4) and (asked := name + ".sig") in self.noted:
            self.words = ["--", asked]
            self.noted.remove(asked)
        return expected

    def two_files(self):
        """Two files that lists beside them name, each for itself."""
        files = {name: self.rng.randbytes(9) for name in self.rng.sample(["film.iso", "setup.exe", "data.tar.gz"], 2)}
        self.may_be_ok = [self.write(name, data) for name, data in files.items()]
        for name, data in files.items():
            self.evidence(name, data)
        found, self.words = {self.look(file) for file in self.may_be_ok}, list(files)
        self.says = {}
        return "no" if "no" in found else "right" if found == {"yes"} else "unsure"

    def list_alone(self):
        """A list that nothing names: all of its files are checked."""
        listed, (name, data) = self.rng.choice([*LISTS[:7], "SHA256SUMS.asc"]), next(iter(self.others.items()))
        path, said = self.write(listed, self.list(listed, name, data)), set()
        raw = path.read_bytes()
        for place, _, is_outside in entries(listed, raw.decode(errors="replace").removeprefix("\ufeff"), name):
            there = self.here / place
            is_foreign = not there.exists() and (place[0] == "/" or place[1] == ":")
            said |= {"wrong"} if is_outside else {"unsure"} if is_foreign else \
                list_says(path, there) if there.is_file() else {"wrong"}
        if self.once_in(4):
            self.signatures([path])
        self.words = self.noted or [listed]
        return "unsure" if raw[:2] == codecs.BOM_UTF16_LE or b"<?xml" in raw or not said else verdict(said)

    def list_and_file(self):
        data = self.rng.randbytes(99)
        self.may_be_ok = [self.write("film.iso", data)]
        self.says[self.write("SHA256SUMS", self.list("SHA256SUMS", "film.iso", data))] = set()
        self.words = ["SHA256SUMS", "film.iso"]
        return self.look(*self.may_be_ok).replace("nothing", "no")

    def tree(self, name):
        """Writes a folder. Returns the content of its files."""
        files = {f"{name}/{one}": f"content of {one}".encode() for one in ["a", "b.jpg", "sub/c"]}
        for one, data in files.items():
            self.write(one, data)
        return files

    def folder(self):
        rng, files = self.rng, self.tree("photos")
        kind, listed = rng.choice(["manifest", "torrent", "SHA256SUMS", "photos.sha256", None]), dict(files)
        if kind in ("manifest", "torrent"):
            self.write(f"photos.{kind}", self.made(kind, "photos", self.here))
        elif kind:
            listed = dict(rng.sample([*files.items()], rng.choice([1, 2, 3, 3, 3])))
            is_inside = kind == "SHA256SUMS"
            self.write("photos/SHA256SUMS" if is_inside else kind, lines_of(listed, len("photos/") * is_inside))
        if self.once_in(5):
            files["photos/setup.exe"] = self.write("photos/setup.exe", "evil").read_bytes()
        changed = rng.choice(sorted(files)) if self.once_in(2) else None
        if changed:
            rng.choice([pathlib.Path.unlink, lambda path: path.write_bytes(b"another")])(self.here / changed)
        self.tags.append(f"{kind} of {sorted(listed)}, changed: {changed}")
        word = rng.choice(["photos", "photos/", "photos/.", "./photos", "./photos/", f"{self.here}/photos/", "."])
        self.here = self.here / "photos" if word == "." else self.here
        self.words = [word]
        self.noted = [pathlib.Path(one).name for one in set(files) - set(listed) - {changed}] if kind else []
        if kind == "manifest" and any((self.here / pathlib.Path(one).name).exists() or (self.here / one).exists()
                                      for one in set(files) - set(listed)):
            return "no" # a manifest has the whole folder
        return "nothing" if not kind else "no" if changed in listed else "unlisted" if self.noted else "right"

    def content_second(self):
        files, is_right = self.tree("photos"), self.once_in(2)
        for one, data in files.items():
            self.write(f"copy/{one[7:]}", data)
        film = self.write("film.mkv", b"film" * 9999).read_bytes()
        words = self.rng.choice([
            "photos.manifest copy", "x.torrent copy", "x.torrent copy/film.mkv", "photos copy", "list/SHA256SUMS copy",
            "film.mkv copy", "film.mkv list/SHA256SUMS", "film.mkv x.torrent"]).split()
        self.write("list/SHA256SUMS", lines_of(files, 7))
        self.write("photos.manifest", self.made("manifest", "photos", self.here))
        self.write("x.torrent", self.made("torrent", "film.mkv", self.here))
        if words[0] == "x.torrent":
            self.write("copy/film.mkv", film if is_right else film[:-4] + b"flim")
        elif not is_right:
            self.write(self.rng.choice(["copy/a", "copy/sub/c"]), "?")
        self.words = words
        self.tags.append("right" if is_right else "wrong")
        return "refused" if words[0] == "film.mkv" else "right" if is_right else "no"

    def digest(self):
        rng, data = self.rng, self.rng.randbytes(100)
        algorithm = rng.choice(["md5", "sha1", "sha256", "sha512"])
        name = self.write(rng.choice(["film.iso", "README", "setup.exe"]), data).name
        kind = rng.choice(["right", "right", "wrong", "cut"])
        raw = hashlib.new(algorithm, data if kind != "wrong" else b"").digest()
        raw = raw[:rng.choice([-1, -4, len(raw) // 2])] if kind == "cut" else raw
        pairs, text = re.findall("..", raw.hex()), base64.b64encode(raw).decode()
        word = rng.choice([raw.hex(), raw.hex().upper(), " ".join(pairs), ":".join(pairs).upper(), text,
                           f"{algorithm}:{raw.hex()}"] + [f"{algorithm}-{text}"] * algorithm.startswith("sha2"))
        self.words = [name, word][::rng.choice([1, -1])]
        return "right" if kind == "right" else "no"


def faults(draw, expected, status, out, err):
    """What is wrong with an answer."""
    both = out + err
    # Whether a backslash parts names is for the program to guess, which may then say that it cannot compare.
    if expected in ("yes", "nothing") and status == 1 and "not compared" in both and "\\" in "".join(draw.words):
        return
    wanted = {"no": (1, 2), "yes": (0,), "right": (0,), "refused": (2,), "nothing": (bool(draw.options),)}
    if status not in wanted.get(expected, (0, 1, 2)) or "panicked" in err:
        yield f"exit status {status}, expected {expected}"
    if expected in ("nothing", "content") and re.search(r"\bOK\b", both):
        yield "OK of nothing"
    if expected == "nothing" and draw.may_be_ok and not draw.options:
        if digests(draw.may_be_ok[0].read_bytes())["sha256"] not in out:
            yield "no checksum was printed"
    oks = [line for line in out.splitlines() if re.search(r": OK\b", line)]
    for line in oks:
        if draw.may_be_ok and not any(path.name in line for path in draw.may_be_ok):
            yield f"OK of another file: {line}"
        for path, said in draw.says.items() if draw.may_be_ok else ():
            if path.name in line.rpartition(" of ")[2] and not said & {"right", "unsure"}:
                yield f"this list does not say so: {line}"
    if expected == "yes":
        for path in (path for path, said in draw.says.items() if said):
            if not any(path.name in line for line in (both.splitlines() if path.suffix == ".torrent" else oks)):
                yield f"no OK by {path.name}"
    if expected in ("yes", "no", "nothing") and status in (0, 1):
        yield from (f"{name} is not named" for name in draw.noted if name not in both)
    if expected == "unlisted" and status == 0 and not re.search(rf"\b{len(draw.noted)}\b.*(other|list)", both):
        yield from (f"{name} is in no list" for name in draw.noted if name not in both)


def main():
    global PROGRAM
    parser = checks.parser(__doc__)
    parser.add_argument("--draws", type=int, default=300, metavar="N")
    parser.add_argument("--seed", default=os.environ.get("HASHLOOM_SEED", "1"), metavar="S")
    parser.add_argument("--only", type=int, metavar="K", help="only this draw, with all files and output")
    arguments = parser.parse_args()
    PROGRAM, only, counts = arguments.hashloom.resolve(), arguments.only, collections.Counter()
    for k in range(arguments.draws) if only is None else [only]:
        rng = random.Random(f"{arguments.seed} {k}")
        with tempfile.TemporaryDirectory() as folder:
            draw = Draw(rng, pathlib.Path(folder).resolve())
            ask = rng.choice([draw.one_file] * 12 + [draw.folder, draw.content_second] * 2 + [
                draw.two_files, draw.list_alone, draw.list_and_file, draw.digest])
            expected = ask()
            command = [*draw.options, *draw.words]
            try:
                done = subprocess.run([PROGRAM, *command], cwd=draw.here, stdin=subprocess.DEVNULL, capture_output=True,
                                      timeout=GUARD_SECONDS)
                status = done.returncode
                out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
            except subprocess.TimeoutExpired:
                status, out, err = "endless", "", ""
            found = list(faults(draw, expected, status, out, err))
            shown = [f"$ hashloom {' '.join(map(repr, command))}", *(f"has {tag}" for tag in draw.tags),
                     *(f"> {line}" for line in (out + err).splitlines()[:None if only is not None else 12])]
            if only is not None:
                files = sorted(path for path in draw.here.iterdir() if path.is_file())
                shown += [f"{path.name}: {path.read_bytes()[:600]!r}" for path in files]
                print(f"expected {expected}, exit status {status}", *shown, sep="\n  ")
            shown.append(f"again: test/door.py {arguments.hashloom} --seed {arguments.seed} --only {k}")
            checks.check(f"draw {k}, {ask.__name__}: {'; '.join(found)}", not found, "  " + "\n  ".join(shown))
            counts[expected] += 1
    print("expected:", *(f"{name} {count}" for name, count in counts.most_common()))
    return checks.end()


if __name__ == "__main__":
    raise SystemExit(main())
