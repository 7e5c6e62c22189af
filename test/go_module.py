#!/usr/bin/env python3
"""go_module.py: publishes the Go module to a proxy in a folder, and uses it as a stranger does.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/go_module.py

The archive has the files of go/ that git knows, without the modules inside of it, as the go command makes it from a
tag. A new module gets it from the proxy, without a network and with an empty cache, and runs a program that imports
every package. The archive must have the licences at its root, where pkg.go.dev looks for them.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODULE = "github.com/hashloom/hashloom/go"
VERSION = "v0.0.1"
MOST_NBYTES = 8 << 20  # of the archive; the go command refuses 500 MB

PROGRAM = """package main

import (
	"encoding/hex"
	"fmt"
	"hash"

%s
)

func main() {
	sums := make([][sha256.Size]byte, 20)
	msgs := make([][]byte, len(sums))
	for i := range msgs {
		msgs[i] = []byte("hello world")
	}
	sha256.SumMany(sums, msgs)
	hs := []hash.Hash{sha256.New(), sha256.New(), sha256.New()}
	hashloom.WriteMany(hs, [][]byte{make([]byte, 1000), make([]byte, 1000), []byte("hello world")})
	key := hmac.NewKey(sha256.New, []byte("key"))
	isRight := key.Verify(nil, key.AppendSum(nil, nil))
	fmt.Println(hex.EncodeToString(sums[19][:4]), hex.EncodeToString(hs[2].Sum(nil)[:4]), isRight)
}
"""
PRINTED = "b94d27b9 b94d27b9 true"


def fail(text):
    sys.exit(f"go_module.py: {text}")


def module_files():
    """The files of the module, as paths from go/."""
    listed = subprocess.run(["git", "ls-files", "-z", "go"], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    paths = [pathlib.PurePosixPath(name).relative_to("go") for name in listed.stdout.split("\0") if name]
    inner = [path.parent for path in paths if path.name == "go.mod" and path.parent != pathlib.PurePosixPath(".")]
    return [path for path in paths if not any(folder in path.parents for folder in inner)]


def publish(proxy):
    """Writes the files of a proxy (https://go.dev/ref/mod#goproxy-protocol)."""
    folder = proxy / MODULE / "@v"
    folder.mkdir(parents=True)
    paths = module_files()
    with zipfile.ZipFile(folder / f"{VERSION}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in paths:
            file = ROOT / "go" / path
            if file.is_symlink() or not file.is_file():
                fail(f"go/{path} is no regular file: an archive of a module would lack it")
            archive.write(file, f"{MODULE}@{VERSION}/{path}")
    (folder / "list").write_text(VERSION + "\n")
    (folder / f"{VERSION}.mod").write_text((ROOT / "go/go.mod").read_text())
    (folder / f"{VERSION}.info").write_text(json.dumps({"Version": VERSION, "Time": "2026-01-01T00:00:00Z"}))
    nbytes = (folder / f"{VERSION}.zip").stat().st_size
    print(f"{len(paths)} files, an archive of {nbytes:,} bytes")
    if nbytes > MOST_NBYTES:
        fail(f"the archive has {nbytes} bytes, more than {MOST_NBYTES}")
    return {str(path) for path in paths}


def main():
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        paths = publish(scratch / "proxy")
        for name in ["LICENSE-MIT", "LICENSE-APACHE", "go.mod"]:
            if name not in paths:
                fail(f"go/{name} is missing in the archive")
        environment = dict(os.environ, GOPROXY=f"file://{scratch}/proxy", GOSUMDB="off", GOFLAGS="-modcacherw",
                           GOMODCACHE=str(scratch / "cache"), GOTOOLCHAIN="local", GOWORK="off", GONOPROXY="none",
                           GOPRIVATE="")
        stranger = scratch / "stranger"
        stranger.mkdir()

        def go(*arguments):
            done = subprocess.run(["go", *arguments], cwd=stranger, env=environment, text=True, capture_output=True)
            if done.returncode != 0:
                fail(f"go {' '.join(arguments)}:\n{done.stdout}{done.stderr}")
            return done.stdout.strip()

        go("mod", "init", "example.com/stranger")
        go("get", f"{MODULE}@{VERSION}")
        listed = go("list", "-f", "{{.ImportPath}} {{.Name}} {{.Doc}}", f"{MODULE}/...").splitlines()
        packages = []
        for line in listed:
            path, name, doc = line.split(" ", 2)
            if "/internal/" in path or name == "main":
                continue
            if not doc:
                fail(f"{path} has no documentation")
            packages.append(path)
        if len(packages) < 10:
            fail(f"only {len(packages)} packages: {listed}")
        used = {"", "/sha256", "/hmac"}
        names = {path: "" if path.removeprefix(MODULE) in used else "_ " for path in packages} | {MODULE: "hashloom "}
        imports = "\n".join(f'\t{names[path]}"{path}"' for path in sorted(packages))
        (stranger / "main.go").write_text(PROGRAM % imports)
        go("vet", ".")
        for tags in ["", "purego"]:
            printed = go("run", "-tags", tags, ".")
            if printed != PRINTED:
                fail(f"the program printed {printed!r}, want {PRINTED!r} (tags {tags!r})")
        modules = go("list", "-m", "all").splitlines()
        if len(modules) != 2:
            fail(f"the module brings others with it: {modules}")
        go("test", "-run", "^Example", f"{MODULE}/...")
        go("clean", "-modcache")
    print(f"{len(packages)} packages work in another module: {' '.join(packages)}")


main()
