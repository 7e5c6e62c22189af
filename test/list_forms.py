#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Lists of other programs: `check` reads them, and what is damaged, missing or doubled never counts as right.

    python3 test/list_forms.py path/to/hashloom [--require]

Each list is made by the program of its form, of the same three files. Then each file is changed, and each line of the
list. A program that is not installed is named as SKIPPED; with --require that is a failure. What `sum --format` writes
is checked by mtree and by Python.
"""

import base64
import csv
import hashlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zlib

import checks
from checks import check, equal

FILES = {"a.txt": b"alpha\n", "sub/c.txt": b"gamma", "b_b.bin": b"beta" * 1000}
BLANKS = {**FILES, "sub/d e.txt": b"", "we#ird [1]": b"w"}
DSC = """Format: 3.0 (native)
Source: forms
Maintainer: A <a@example.org>
Standards-Version: 4.6.2

Package: forms
Architecture: all
Description: forms
"""


def sh(command, **options):
    return subprocess.run(command, shell=True, capture_output=True, text=True, **options)


def run(*line):
    return subprocess.run([PROGRAM, *line], capture_output=True, text=True, errors="surrogateescape")


def put(files):
    for name, data in files.items():
        pathlib.Path(name).parent.mkdir(exist_ok=True)
        pathlib.Path(name).write_bytes(data)


def statuses(name, list_name, files):
    """The list is right; no change of a file or of a line is."""
    text = pathlib.Path(list_name).read_bytes()
    done = run("check", list_name)
    nok = done.stdout.count(": OK\n")
    check(name, done.returncode == 0 and nok >= len(files),
          f"{done.returncode} {done.stdout}{done.stderr}{text.decode()}")
    for file, data in files.items():
        for change in [data + b"x", bytes([data[0] ^ 1]) + data[1:] if data else b"x", None]:
            pathlib.Path(file).write_bytes(change) if change is not None else os.remove(file)
            equal(f"{name}: {file} changed", run("check", list_name).returncode, 1)
        put({file: data})
    # A digit of each digest that a list has.
    for digest in re.finditer(rb"[0-9A-Fa-f]{8,}|[0-9A-Za-z+/_-]{27,}=*", text):
        at = digest.start() + 3
        other = b"0" if text[at:at + 1] != b"0" else b"1"
        for change in [other, b"", b"x.", b" "]:
            pathlib.Path(list_name).write_bytes(text[:at] + change + text[at + 1:])
            if run("check", list_name).returncode == 0:
                now = run("check", list_name).stdout.count(": OK\n")
                check(f"{name}: {digest[0]} with {change}", now >= nok, f"{now} OK")
    pathlib.Path(list_name).write_bytes(text + text)
    check(f"{name}: doubled", run("check", list_name).stdout.count(": OK\n") in (2 * nok, nok + len(files), nok))
    pathlib.Path(list_name).write_bytes(text)


def of_programs():
    names = "a.txt sub/c.txt b_b.bin"
    forms = {
        "rhash -M -H": ("list", f"rhash -M -H {names}"),
        "rhash --sfv": ("list.sfv", f"rhash -C {names}"),
        "rhash --bsd": ("list", f"rhash --bsd --crc32 --crc32c --sha1 --sha3-256 {names}"),
        "hashdeep": ("list", f"hashdeep -l -c md5,sha1,sha256 {names}"),
        "md5deep -z": ("list", f"sha256deep -l -z {names}"),
        "sha256sum": ("list", f"sha256sum {names}"),
        "gpg --print-md SHA256": ("list", f"gpg --print-md SHA256 {names}"),
        "gpg --print-md SHA512": ("list", f"gpg --print-md SHA512 {names}"),
        "gpg --print-mds": ("list", f"gpg --print-mds {names}"),
        "gpg --clear-sign": ("list", f"gpg -q --batch --passphrase '' --quick-gen-key forms@example.org; "
                                     f"sha256sum {names} | gpg -q --batch --clear-sign"),
        "openssl dgst": ("list", f"openssl dgst -sha512 {names}"),
        "mtree -c": ("list", "mtree -c -k type,size,sha256,md5 -X ../left-out -p ."),
        "mtree -C": ("list", "mtree -c -k type,size,sha256,cksum -X ../left-out -p . | mtree -C -K sha256,cksum,size"),
        "bsdtar": ("list",
                   f"bsdtar -c -f - --format=mtree --options='mtree:!all,use-set,type,size,sha256,md5' {names}"),
        "bsdtar | gzip": (None, f"bsdtar -cz -f - --format=mtree --options='!all,use-set,type,size,sha256' {names}"),
    }
    for name, (list_name, command) in forms.items():
        program = {"md5deep": "sha256deep"}.get(name.split()[0], name.split()[0])
        # Without its agent, gpg prints digests, but has no keys.
        missing = [each for each in (program, "gpg-agent" * ("sign" in name)) if each and not checks.has(each)]
        if missing:
            checks.skip(f"{name}: {missing[0]} is not installed")
            continue
        files = BLANKS if program == "mtree" else FILES
        with tempfile.TemporaryDirectory() as top:
            pathlib.Path(top, "left-out").write_text("./list\n")
            os.mkdir(f"{top}/f")
            os.chdir(f"{top}/f")
            put(files)
            os.makedirs(f"{top}/gpg", 0o700)
            made = subprocess.run(command, shell=True, capture_output=True,
                                  env={**os.environ, "GNUPGHOME": f"{top}/gpg"})
            if made.returncode != 0:
                check(f"{name}: made", False, made.stderr.decode())
                continue
            put({list_name or "list.gz": made.stdout})
            if list_name:
                statuses(name, list_name, files)
            else:
                equal(f"{name}: status", run("check", "list.gz").returncode, 0)
            os.chdir("/")


def of_debian():
    """What dpkg-source makes of a package, and dpkg of an installed one."""
    if not checks.has("dpkg-source"):
        return checks.skip("lists of dpkg-source: it is not installed")
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f"{top}/forms-1/debian/source")
        os.chdir(top)
        put({"forms-1/debian/source/format": b"3.0 (native)\n",
             "forms-1/debian/control": DSC.split("\n", 1)[1].encode(),
             "forms-1/debian/changelog": b"forms (1) unstable; urgency=low\n\n  * x\n\n -- A <a@example.org>  "
                                         b"Thu, 01 Jan 1970 00:00:00 +0000\n"})
        sh("dpkg-source -b forms-1")
        statuses("dpkg-source", "forms_1.dsc", {"forms_1.tar.xz": pathlib.Path("forms_1.tar.xz").read_bytes()})
        done = sh("cd forms-1 && dpkg-genchanges -S")
        put({"forms_1.changes": done.stdout.encode()})
        files = {name: pathlib.Path(name).read_bytes() for name in ("forms_1.tar.xz", "forms_1.dsc")}
        statuses("dpkg-genchanges", "forms_1.changes", files)
        put({"usr/a": b"1"})
        os.makedirs("var/lib/dpkg/info")
        put({"var/lib/dpkg/info/a.md5sums": f"{hashlib.md5(b'1').hexdigest()}  usr/a\n".encode()})
        equal("dpkg's md5sums name files of the root", run("check", "var/lib/dpkg/info/a.md5sums").stdout,
              "usr/a: OK\n")
        os.chdir("/")


def of_python():
    """The RECORD of a package as Python reads it, with a name that CSV quotes; and a requirement of pip."""
    import importlib.metadata
    with tempfile.TemporaryDirectory() as top:
        os.makedirs(f"{top}/p-1.dist-info")
        os.chdir(top)
        files = {'a,"b.py': b"x", "c.py": b"y", "p-1.dist-info/METADATA": b"z"}
        put(files)
        digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        with open("p-1.dist-info/RECORD", "w", newline="") as file:
            rows = [(name, f"sha256={digest(data)}", len(data)) for name, data in files.items()]
            csv.writer(file).writerows([*rows, ("p-1.dist-info/RECORD", "", ""), ("c.pyc", "", "")])
        found = importlib.metadata.PathDistribution(pathlib.Path("p-1.dist-info")).files
        equal("RECORD: importlib.metadata", [str(file) for file in found][:3], list(files))
        statuses("RECORD", "p-1.dist-info/RECORD", files)
        with open("p-1.dist-info/RECORD", "a") as file:
            file.write("c.py,,\n")
        equal("RECORD: a file without a digest", run("check", "p-1.dist-info/RECORD").returncode, 1)
        put({"a.whl": b"w"})
        hashes = "".join(f" \\\n    --hash=sha256:{hashlib.sha256(data).hexdigest()}" for data in (b"other", b"w"))
        put({"requirements.txt": f"./a.whl{hashes}\n    # via b\n".encode()})
        equal("pip: one digest of several", run("check", "requirements.txt").stdout, "./a.whl: OK\n")
        put({"a.whl": b"v"})
        equal("pip: none of them", run("check", "requirements.txt").stdout, "./a.whl: FAILED\n")
        put({"requirements.txt": f"a==1.0{hashes}\n".encode()})
        check("pip: a package", "not verified" in run("check", "requirements.txt").stderr)
        os.chdir("/")


def of_packages():
    """The databases of Alpine's and Arch's installed packages, and rpm's."""
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        os.makedirs("usr/bin")
        put({"usr/bin/a": b"1", "b": b"2"})
        sha1 = lambda data: base64.b64encode(hashlib.sha1(data).digest()).decode()
        os.makedirs("lib/apk/db")
        put({"lib/apk/db/installed": (f"C:Q1{sha1(b'x')}\nP:a\nF:\nR:b\nZ:Q1{sha1(b'2')}\nF:usr/bin\nM:0:0:755\n"
                                      f"R:a\na:0:0:755\nZ:Q1{sha1(b'1')}\nR:l\na:0:0:777\n"
                                      f"Z:Q1{sha1(b'a')}\n\n").encode()})
        statuses("apk", "lib/apk/db/installed", {"usr/bin/a": b"1", "b": b"2"})
        put({"lib/apk/db/installed": f"C:Q1{sha1(b'x')}\nF:\nR:b\nR:c\n".encode()})
        equal("apk: a file without a digest", run("check", "lib/apk/db/installed").returncode, 1)
        if checks.has("bsdtar"):
            put({".PKGINFO": b"p"})
            os.makedirs("var/lib/pacman/local/a-1")
            sh("bsdtar -czf var/lib/pacman/local/a-1/mtree --format=mtree "
               "--options='!all,use-set,type,size,sha256' .PKGINFO usr; rm .PKGINFO")
            done = run("check", "var/lib/pacman/local/a-1/mtree")
            equal("pacman: the package's own files are not there", (done.returncode, done.stdout),
                  (0, "./usr/bin/a: OK\n"))
        row = f"{top}/b 1 1700000000 {hashlib.sha256(b'2').hexdigest()} 0100644 root root 0 0 0 X\n"
        put({"dump": f"{row}(contains no files)\n".encode()})
        statuses("rpm -qa --dump", "dump", {f"{top}/b": b"2"})
        os.chdir("/")


def of_sets():
    """DAT files: unpacked files are checked, members of archives are named."""
    with tempfile.TemporaryDirectory() as top:
        os.chdir(top)
        put({"G & H/r.bin": b"abc", "s.bin": b"s"})
        rom = lambda name, data: (f'\t\t<rom name="{name}" size="{len(data)}" crc="{zlib.crc32(data):08x}" '
                                  f'sha1="{hashlib.sha1(data).hexdigest()}" status="verified"/>\n')
        start = "\t\t<description>x</description>\n"
        game = lambda name, *roms: f'\t<game name="{name}">\n{start}' + "".join(roms) + "\t</game>\n"
        head = '<?xml version="1.0"?>\n<!DOCTYPE datafile PUBLIC "-//Logiqx"\n  "http://x/datafile.dtd">\n<datafile>\n'
        dat = head + game("G &amp; H", rom("r.bin", b"abc")) + game("S", rom("s.bin", b"s"))
        put({"x.dat": (dat + "</datafile>\n").encode()})
        statuses("DAT", "x.dat", {"s.bin": b"s", "G & H/r.bin": b"abc"})
        put({"x.dat": (dat + game("Z", rom("z.bin", b"z")) + "</datafile>\n").encode(), "Z.zip": b"PK"})
        done = run("check", "x.dat")
        check("DAT: a member of an archive", done.returncode == 1 and "a member of Z.zip" in done.stderr, done.stderr)
        put({"x.dat": dat.encode()})
        equal("DAT: cut off", run("check", "x.dat").returncode, 1)
        crc = lambda name, data: f"{name} {zlib.crc32(data):08X}\n"
        put({"x.sfv": crc("s.bin", b"s").encode()})
        check("CRCs alone: a word of warning", "accidents" in run("check", "x.sfv").stderr)
        put({"x.sfv": b"; x\n" + crc("s.bin", b"s").encode()})
        done = run("check", top)
        check("a folder: its lists are named", done.returncode == 1 and "x.sfv: 1 entry" in done.stderr, done.stderr)
        put({"sizes": b"SIZE (s.bin) = 1\n"})
        equal("lengths alone", run("check", "sizes").returncode, 1)
        put({"notes": b"sha999:abcd  file\n"})
        done = run("check", "notes")
        check("an unknown form",
              done.returncode == 1 and "sha999:abcd" in done.stderr and "nearest" in done.stderr, done.stderr)
        os.chdir("/")


def written():
    with tempfile.TemporaryDirectory() as top:
        os.mkdir(f"{top}/f")
        os.chdir(f"{top}/f")
        put({**BLANKS, "sub/x%\\\n": b"n"})
        for name, list_name in [("mtree", "list"), ("bag", "manifest-sha256.txt"), ("sri", "list")]:
            done = run("sum", "--recursive", "--format", name, ".")
            is_whole = name in ("mtree", "bag")
            equal(f"--format {name}: status", done.returncode, 0 if is_whole else 1)
            put({f"../{list_name}": done.stdout.encode()})
            done = run("check", f"../{list_name}")
            equal(f"--format {name}: read", (done.returncode, done.stdout.count(": OK")), (0, len(BLANKS) + is_whole))
            if name == "mtree" and checks.has("mtree"):
                equal("mtree", sh("mtree -p . -f ../list").stdout, "")
                put({"a.txt": b"alphb\n"})
                check("mtree: a changed file", sh("mtree -p . -f ../list").returncode == 2)
                put(FILES)
        for option in ["--tag", "--base64", "--zero", "--json", "--algorithm=sha1,sha256"]:
            equal(f"--format sri {option}", run("sum", "--format", "sri", option, "a.txt").returncode, 2)
        os.chdir("/")


if __name__ == "__main__":
    arguments = checks.parser(__doc__).parse_args()
    PROGRAM, checks.is_required = str(arguments.hashloom.resolve()), arguments.require
    of_programs()
    of_debian()
    of_python()
    of_packages()
    of_sets()
    written()
    sys.exit(checks.end())
