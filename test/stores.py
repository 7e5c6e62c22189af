#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tests what `hashloom check` reads beside lists: stores (--names), PAR2 files, Debian's packages (--dpkg).

    test/stores.py path/to/hashloom [--require]

Stores are made by their own programs where these are installed, and by hand in all forms. par2 and debsums judge the
same files as hashloom.
"""

import hashlib
import json
import os
import pathlib
import random
import struct
import subprocess
import sys

import checks
from checks import check, equal, run_part

RANDOM = random.Random(53)


def run(*words, cwd=None, data=None, **env):
    env = {**os.environ, "LC_ALL": "C", "HOME": str(cwd), **env}
    done = subprocess.run([str(word) for word in words], cwd=cwd, env=env, input=data, capture_output=True)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def tool(*words, cwd, **env):
    code, out, error = run(*words, cwd=cwd, **env)
    if code:
        raise RuntimeError(f"{words}: {out}{error}")
    return out


def hashloom(*words, cwd=None):
    return run(HASHLOOM, "check", *words, cwd=cwd)


def hexed(name):
    return lambda data: hashlib.new(name, data).hexdigest()


def blake3(data):
    return run(HASHLOOM, "b3sum", "--no-names", "-", data=data)[1].strip()


def blob(data):
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def nix(data):
    number = int.from_bytes(hashlib.sha256(data).digest(), "little")
    return "".join("0123456789abcdfghijklmnpqrsvwxyz"[number >> 5 * i & 31] for i in reversed(range(52)))


# An object of restic.
R = 5

# An object's path in each form, with the digest as d, and the digest.
FORMS = [
    ("g/lfs/objects/{d[0]}{d[1]}/{d[2]}{d[3]}/{d}", hexed("sha256")),
    ("o/blobs/sha256/{d}", hexed("sha256")),
    ("o/blobs/sha512/{d}", hexed("sha512")),
    ("o/blobs/blake3/{d}", blake3),
    ("ollama/blobs/sha256-{d}", hexed("sha256")),
    ("r/data/{d[0]}{d[1]}/{d}", hexed("sha256")),
    *((f"r/{folder}/{{d}}", hexed("sha256")) for folder in ("index", "snapshots", "keys", "locks")),
    ("b/packs/{d[0]}{d[1]}/{d}", hexed("sha256")),
    ("hub/models--a--b/blobs/{d}", hexed("sha256")),
    ("hub/datasets--a--b/blobs/{d}", blob),
    ("dvc/files/md5/{d[0]}{d[1]}/{rest}", hexed("md5")),
    ("dvc/files/md5/{d[0]}{d[1]}/{rest}.dir", hexed("md5")),
    ("bazel/cas/{d[0]}{d[1]}/{d}", hexed("sha256")),
    ("bazel/content_addressable/sha256/{d}/file", hexed("sha256")),
    *((f"npm/content-v2/{name}/{{d[0]}}{{d[1]}}/{{d[2]}}{{d[3]}}/{{tail}}", hexed(name))
      for name in ("sha1", "sha256", "sha512")),
    ("cache/nar/{d}.nar", nix),
    ("cache/nar/{d}.nar.xz", nix),
    *((f"ostree/objects/{{d[0]}}{{d[1]}}/{{rest}}.{kind}", hexed("sha256"))
      for kind in ("commit", "dirtree", "dirmeta")),
]


def put(path, data):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def place(folder, form, digest, data):
    d = digest(data)
    return put(folder / form.format(d=d, rest=d[2:], tail=d[4:]), data)


def forms(folder):
    rows = (pathlib.Path(__file__).parent.parent / "rust/hashloom-stores/src/command/stores.rs").read_text()
    rows = [line for line in rows.splitlines()
            if line.startswith('    ("') and "NoObject" not in line and "More(" not in line]
    equal("every form has an example", len(FORMS), len(rows))
    objects = [place(folder, form, digest, RANDOM.randbytes(RANDOM.choice((0, 100, 70_000)) + n + 1))
               for n, (form, digest) in enumerate(FORMS)]
    code, out, error = hashloom("--names", folder)
    equal("all forms match", (code, sorted(out.split(": OK\n")[:-1]), error), (0, sorted(map(str, objects)), ""))
    for path in objects:
        data = path.read_bytes()
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        code, out, error = hashloom("--names", "--quiet", folder)
        equal(f"damaged: {path}", (code, out), (1, f"{path}: FAILED\n"))
        path.write_bytes(data)
    inner = objects[R].parent
    equal("a folder within a store", hashloom("--names", "-q", inner)[:2], (0, ""))
    linked = folder / "linked"
    linked.symlink_to(inner.parent.parent)
    equal("a link to a store", hashloom("--names", "-q", linked)[0], 0)

    # Files that are no objects: elsewhere, and known ones, are counted; others among objects are wrong.
    aside = [inner / "x-tmp-1", folder / "hub/models--a--b/blobs/x.incomplete", folder / "r/config",
             folder / "o/index.json"]
    for path in aside:
        put(path, b"x")
    code, out, error = hashloom("--names", "-q", folder)
    says = all(text in error for text in ("2 other files not checked", "r/config",
                                          "2 files not checked, as not finished"))
    check("files that are no objects", (code, out) == (0, "") and says, error)
    lines = [json.loads(line) for line in hashloom("--names", "--json", folder)[1].splitlines()]
    equal("json", (lines[-1]["counts"]["ok"], lines[-1]["not_covered"]), (len(objects), 4))
    check("json of a blob", {"git-blob"} == {line["algorithm"] for line in lines[:-1] if "datasets--" in line["path"]})
    stray = put(inner / ("0" * 63), b"x")
    code, out, error = hashloom("--names", folder)
    check("a file among objects without a digest", code == 1 and f"{stray}" in error, error)
    stray.unlink()
    for lacking in ("o/blobs/sha999/" + "0" * 64, "npm/content-v2/sha999/00/11/" + "0" * 60,
                    "o/blobs/blake3/" + "0" * 60):
        stray = put(folder / lacking, b"x")
        code, out, error = hashloom("--names", "-q", folder)
        check(f"an algorithm that is not known: {lacking[:20]}", code == 1 and str(stray) in error + out, error)
        stray.unlink()
    moved = inner.parent / ("ff" if inner.name != "ff" else "00") / objects[R].name
    moved.parent.mkdir()
    objects[R].rename(moved)
    code, out, error = hashloom("--names", "-q", folder)
    check("in the folder of another digest", code == 1 and "in the folder of another digest" in error, error)
    moved.rename(objects[R])
    link = objects[R].parent / ("0" * 62 + "11")
    link.symlink_to(objects[R])
    equal("an object that is a link", hashloom("--names", "-q", inner)[0], 1)
    link.unlink()
    link.symlink_to("/dev/zero")
    code, out, error = hashloom("--names", "-q", inner)
    check("an object that is a link to a device", code == 1 and "neither a file nor a link" in error, error)
    link.unlink()
    place(folder, "ostree/objects/{d[0]}{d[1]}/{rest}.filez", hexed("sha256"), b"x")
    code, out, error = hashloom("--names", "-q", folder)
    check("ostree's files are not verified", code == 1 and "ostree fsck" in error, error)
    for name, words in {"nothing": (aside[-1].parent.parent / "npm/none",),
                        "no store": (put(folder / "n/x", b"").parent,)}.items():
        code, out, error = hashloom("--names", *words)
        check(f"{name} is no success", code == 1 and error, error)
    equal("no folder", hashloom("--names")[0], 2)


def by_tool(folder, store, program, needs_all=True):
    """A store of another program: all its objects match, and each that is damaged does not."""
    code, out, error = hashloom("--names", store)
    objects = out.split(": OK\n")[:-1]
    check(f"{program}: found", code == (0 if needs_all else 1) and objects, f"{out}{error}")
    for path in map(pathlib.Path, objects):
        data, mode = path.read_bytes(), path.stat().st_mode
        path.chmod(0o644)
        path.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
        equal(f"{program}: damaged: {path}", hashloom("--names", "-q", store)[:2], (1, f"{path}: FAILED\n"))
        path.write_bytes(data)
        path.chmod(mode)
    return list(map(pathlib.Path, objects))


def git_lfs(folder):
    for i in range(3):
        put(folder / f"{i}.bin", RANDOM.randbytes(5000))
    for words in ("init -q", "config user.email a@b", "config user.name a", "lfs install --local", "lfs track *.bin",
                  "add -A", "commit -qm x"):
        tool("git", *words.split(), cwd=folder)
    objects = by_tool(folder, folder / ".git/lfs", "git-lfs")
    equal("git-lfs: objects", len(objects), 3)
    objects[1].chmod(0o644)
    objects[1].write_bytes(b"")
    code, out, error = run("git", "lfs", "fsck", cwd=folder)
    check("git-lfs: fsck agrees", code == 1 and objects[1].name in out + error, out + error)


def restic(folder):
    put(folder / "data/a", RANDOM.randbytes(100_000))
    secret = {"RESTIC_PASSWORD": "x", "XDG_CACHE_HOME": str(folder / "cache")}
    for words in (("init",), ("backup", "data")):
        tool("restic", "-q", "-r", "store", *words, cwd=folder, **secret)
    objects = by_tool(folder, folder / "store", "restic")
    files = [path for path in (folder / "store").rglob("*") if path.is_file() and path.name != "config"]
    equal("restic: objects", sorted(objects), sorted(files))


def npm(folder):
    put(folder / "package/package.json", b'{"name":"x","version":"1.0.0"}')
    tool("tar", "czf", "x.tgz", "package", cwd=folder)
    tool("npm", "--cache", folder / "cache", "--offline", "cache", "add", folder / "x.tgz", cwd=folder)
    by_tool(folder, folder / "cache/_cacache", "npm")


def ostree(folder):
    put(folder / "tree/a", b"hi")
    tool("ostree", "--repo=store", "init", "--mode=archive", cwd=folder)
    tool("ostree", "--repo=store", "commit", "-b", "main", "tree", cwd=folder)
    equal("ostree: objects", len(by_tool(folder, folder / "store", "ostree", needs_all=False)), 3)


def packets(data):
    found, at = [], 0
    while at < len(data):
        end = at + struct.unpack_from("<Q", data, at + 8)[0]
        found.append(bytearray(data[at:end]))
        at = end
    return found


def seal(packet):
    """Makes the length and the MD5 of a packet those of its content."""
    packet[8:16] = struct.pack("<Q", len(packet))
    packet[16:32] = hashlib.md5(packet[32:]).digest()


def par2(folder):
    names = ["long.bin", "one block.bin", "below/two.bin", "short.bin"]
    for name, length in zip(names, (1_000_003, 4096, 8192, 5)):
        put(folder / name, RANDOM.randbytes(length))
    tool("par2", "create", "-q", "-s4096", "-r20", "-n1", "set.par2", *names, cwd=folder)
    volume = next(folder.glob("*.vol*")).name
    fine = sorted(f"{name}: OK" for name in names)
    for cwd, words in ((folder, ("set.par2",)), (folder, (volume,)), (folder, ("-C", ".", "--strict", "set.par2")),
                       (folder.parent, (folder / "set.par2",))):
        code, out, error = hashloom(*words, cwd=cwd)
        equal(f"par2: {words}", (code, sorted(out.splitlines()), error), (0, fine, ""))
    changes = [
        (0, lambda data: data[:4096] + b"?" + data[4097:20000] + b"??" + data[20002:], "2 of 245 blocks are bad: 1, 4"),
        (0, lambda data: data[:-1] + b"?", "1 of 245 blocks is bad: 244"),
        (1, lambda data: data[:-1], "expected 4096 bytes, found 4095"),
        (3, lambda data: data + b"\0", "expected 5 bytes, found 6"),
        (2, lambda data: b"", "2 of 2 blocks are bad: 0-1"),
        (2, None, "below/two.bin: the file is missing"),
    ]
    for index, change, expected in changes:
        path = folder / names[index]
        data = path.read_bytes()
        path.write_bytes(change(data)) if change else path.unlink()
        code, out, error = hashloom("set.par2", cwd=folder)
        check(f"par2: {expected}", code == 1 and expected in error and out.count(": OK\n") == 3, f"{out}{error}")
        equal(f"par2 itself: {expected}", run("par2", "verify", "-q", "set.par2", cwd=folder)[0] != 0, True)
        if not change:
            equal("par2: --ignore-missing", hashloom("--ignore-missing", "set.par2", cwd=folder)[0], 0)
        path.write_bytes(data)

    original = packets((folder / "set.par2").read_bytes())
    kinds = [bytes(packet[56:60]) for packet in original]
    main, described = kinds.index(b"Main"), next(i for i, packet in enumerate(original) if names[0].encode() in packet)
    long_list = max((i for i, kind in enumerate(kinds) if kind == b"IFSC"), key=lambda i: len(original[i]))

    def rename(name):
        """Gives a file another name, and so another number and the set another one."""
        def change(made):
            old, packet = bytes(made[described][64:80]), made[described]
            packet[120:] = name + bytes(-len(name) % 4)
            new = hashlib.md5(packet[96:120] + name).digest()
            for packet in made:
                at = packet.find(old, 64)
                if at >= 0:
                    packet[at : at + 16] = new
            for packet in made:
                packet[32:48] = hashlib.md5(made[main][64:]).digest()
                seal(packet)
        return change

    def sealed(index, edit):
        return lambda made: (edit(made[index]), seal(made[index]))

    flip = lambda index, at: lambda made: made[index].__setitem__(at, made[index][at] ^ 1)
    repeat = lambda made: made.append(bytearray(original[long_list]))
    forged = [
        (rename(names[0].encode()), 0, ""),
        *((rename(name), 1, "not opened, as a part of the name") for name in (b"../x", b"/etc/passwd", b"a//x")),
        (rename(names[1].encode()), 1, "one name"),
        (flip(long_list, 100), 1, "long.bin: not verified"),
        (flip(described, 100), 1, "does not describe 1 file"),
        (flip(main, 100), 1, "Main"),
        (flip(len(original) - 1, 8), 0, "1 packet is damaged"),
        (flip(len(original) - 1, 8), 1, "1 packet is damaged", "--strict"),
        (lambda made: (repeat(made), flip(long_list, 70)(made)), 0, "1 packet is damaged"),
        (lambda made: (repeat(made), sealed(long_list, lambda packet: packet.__setitem__(90, packet[90] ^ 1))(made)), 1,
         "differ"),
        (sealed(long_list, lambda packet: packet.__delitem__(slice(-20, None))), 1, "number of blocks"),
        (lambda made: made[-2].__setitem__(slice(32, 48), bytes(16)) or seal(made[-2]), 1, "two sets"),
        # Damage in every 8 bytes.
        (lambda made: made.__setitem__(slice(None), [b"PAR2\0PKT" * (1 << 20)]), 1, "65,536 places"),
    ]
    for change, expected_code, expected, *words in forged:
        made = [bytearray(packet) for packet in original]
        change(made)
        (folder / "forged.par2").write_bytes(b"".join(made))
        code, out, error = hashloom(*words, "forged.par2", cwd=folder)
        check(f"par2: {expected} {words}", code == expected_code and expected in error, f"{code} {out}{error}")


def dpkg(folder):
    root = folder / "root"
    md5 = hexed("md5")

    def package(name, files, conffiles="", lists=True, status="install ok installed", more=""):
        head = (f"Package: {name.split(':')[0]}\nStatus: {status}\nMaintainer: x\nArchitecture: amd64\n"
                f"Version: 1\n{more}")
        stanzas.append(head + (f"Conffiles:\n{conffiles}" if conffiles else "") + "Description: x\n")
        info = root / "var/lib/dpkg/info"
        put(info / f"{name}.list", "".join(f"/{path}\n" for path in files).encode())
        if lists:
            put(info / f"{name}.md5sums", "".join(f"{md5(data)}  {path}\n" for path, data in files.items()).encode())

    stanzas = []
    for path in ("usr/lib", "etc/dpkg/dpkg.cfg.d", "var/lib/dpkg/updates"):
        (root / path).mkdir(parents=True)
    (root / "lib").symlink_to("/usr/lib")
    same = ["usr/bin/a", "lib/liba.so", "usr/share/doc/a/copyright", "usr/bin/both"]
    package("a", {path: path.encode() for path in same},
            f" /etc/a {md5(b'etc/a')}\n /etc/b {md5(b'etc/b')}\n"
            f" /etc/gone {md5(b'')} obsolete\n /etc/old {md5(b'')} remove-on-upgrade\n")
    package("liba:amd64", {"usr/lib/x.so": b"x", "usr/bin/both": b"other"}, more="Multi-Arch: same\nReplaces: a\n")
    package("divert", {"usr/bin/tool": b"new", "usr/share/doc/divert/readme": b""})
    package("diverted", {"usr/bin/tool": b"old"})
    package("none", {"usr/bin/none": b""}, lists=False)
    package("removed", {"usr/bin/removed": b""}, status="deinstall ok config-files")
    put(root / "var/lib/dpkg/status", "\n".join(stanzas).encode())
    put(root / "var/lib/dpkg/diversions", b"/usr/bin/tool\n/usr/bin/tool.old\ndivert\n")
    put(root / "etc/dpkg/dpkg.cfg.d/slim", b"path-exclude=/usr/share/doc/*\npath-include=/usr/share/doc/*/copyright\n")
    contents = {path: path.encode() for path in (*same[:3], "etc/a", "etc/b")}
    contents |= {"usr/bin/both": b"other", "usr/lib/x.so": b"x", "usr/bin/tool": b"new", "usr/bin/tool.old": b"old"}
    for path, data in contents.items():
        put(root / (f"usr/{path}" if path.startswith("lib/") else path), data)

    def judged(what, code, bad, changed=()):
        found = hashloom("--dpkg", "-C", root)
        lines = dict(line.rsplit(": ", 1) for line in found[1].splitlines())
        ours = sorted(path for path, state in lines.items() if state.startswith("FAILED"))
        equal(f"dpkg: {what}", (found[0], ours), (code, sorted(f"{root}/{path}" for path in bad)))
        ours = sorted(path for path, state in lines.items() if state == "CHANGED")
        equal(f"dpkg: changed: {what}", ours, sorted(f"{root}/{path}" for path in changed))
        if checks.has("debsums"):
            code, out, error = run("debsums", "-r", root, "-a", cwd=folder)
            bad = bool(bad or changed)
            check(f"debsums: {what}", bool(code) == bad, f"{code} {out}{error}")
        return found

    (root / "etc/gone").write_bytes(b"")
    found = judged("as installed", 0, [])
    check("dpkg: a package without md5sums", "1 package without md5sums: none" in found[2], found[2])
    check("dpkg: left out", "1 file missing, as dpkg.cfg leaves them out" in found[2], found[2])
    (root / "etc/a").write_bytes(b"mine")
    (root / "etc/gone").unlink()
    found = judged("configuration files", 0, [], ["etc/a", "etc/gone"])
    check("dpkg: said", "2 configuration files changed, which is no failure" in found[2], found[2])
    for path in ("usr/bin/a", "usr/lib/liba.so", "usr/bin/both", "usr/bin/tool", "usr/bin/tool.old",
                 "usr/share/doc/a/copyright"):
        data = (root / path).read_bytes()
        name = path.replace("usr/lib/liba", "lib/liba")
        (root / path).write_bytes(b"damaged")
        judged(f"damaged {path}", 1, [name], ["etc/a", "etc/gone"])
        (root / path).unlink()
        judged(f"missing {path}", 1, [name], ["etc/a", "etc/gone"])
        (root / path).write_bytes(data)
    put(root / "var/lib/dpkg/info/divert.md5sums", b"not a line\n")
    found = hashloom("--dpkg", "-C", root)
    check("dpkg: a bad line", found[0] == 1 and "divert.md5sums: 1: expected" in found[2], found[2])
    check("dpkg: no dpkg", hashloom("--dpkg", "-C", folder)[0] == 2)
    for words in (("--dpkg", "x"), ("--dpkg", "--names", "x"), ("--names", "-C", "x", "x"), ("--dpkg", "--strict")):
        equal(f"usage: {words}", hashloom(*words)[0], 2)


def main():
    global HASHLOOM
    arguments = checks.parser(__doc__).parse_args()
    HASHLOOM = arguments.hashloom.resolve()
    checks.is_required = arguments.require
    run_part(forms)
    for part, needs in ((git_lfs, ("git", "git-lfs")), (restic, ("restic",)), (npm, ("npm",)), (ostree, ("ostree",))):
        run_part(part, needs)
    run_part(par2, ("par2",))
    if not checks.has("debsums"):
        checks.skip("dpkg: debsums not installed")
    run_part(dpkg)
    return checks.end()


if __name__ == "__main__":
    sys.exit(main())
