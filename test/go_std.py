#!/usr/bin/env python3
"""go_std.py: runs the tests of Go's own packages against the packages of this repository that replace them.

SPDX-License-Identifier: MIT OR Apache-2.0

    test/go_std.py [argument of go test]...

The tests of crypto/md5, crypto/sha1, crypto/sha256, crypto/sha512 and crypto/sha3 come from the Go installation, those
of golang.org/x/crypto/ripemd160, of github.com/1lann/sha256-simd and of github.com/minio/md5-simd (those that know its
exported names alone) from Go's module cache (the module go/internal/peers requires them). Nothing of them is kept: `go
test -overlay` shows them to the compiler inside of our packages, with these changes:

  * the import of the package itself is ours;
  * crypto/internal/cryptotest and internal/testhash, which only the standard library may import, are our internal/
    packages of the same content. In place of its list of implementations, each test runs with each instruction set that
    the core has here;
  * crypto/sha1's ConstantTimeSum, a method for crypto/tls that is not exported, becomes Sum;
  * crypto/md5's TestBlockGeneric, which compares two functions of that package alone, is left out.

If one of these modules is not in the module cache and cannot be downloaded, its tests are skipped; with
HASHLOOM_REQUIRE=1 that is a failure.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent / "go"
MODULE = "github.com/hashloom/hashloom/go"

CRYPTOTEST = f"""package cryptotest

import (
	"hash"
	"testing"

	hashloom "{MODULE}"
	"{MODULE}/internal/core"
	"{MODULE}/internal/testhash"
)

type MakeHash func() hash.Hash

func TestHash(t *testing.T, mh MakeHash) {{ testhash.TestHash(t, testhash.MakeHash(mh)) }}

func TestAllImplementations(t *testing.T, pkg string, f func(t *testing.T)) {{
	t.Cleanup(func() {{ hashloom.Restrict() }})
	names := hashloom.Implementations()
	if pkg == "sha3" {{ // its calls for one message are crypto/sha3's own: these tests look for what is missing
		names = names[:1]
	}}
	for _, name := range names {{
		if err := hashloom.Restrict(name); err != nil {{
			t.Fatal(err)
		}}
		t.Run(name, f)
	}}
}}

// In pure Go running hashes are those of the standard library, which has this test itself.
func SkipTestAllocations(t *testing.T) {{
	if raceEnabled || !core.Enabled() {{
		t.Skip("allocations: the race detector allocates, and pure Go is the standard library's own")
	}}
}}
"""


def go(*arguments, **options):
    return subprocess.run(["go", *arguments], check=True, text=True, cwd=ROOT, **options)


def output(*arguments, **options):
    return go(*arguments, stdout=subprocess.PIPE, **options).stdout.strip()


def main():
    goroot = pathlib.Path(output("env", "GOROOT")) / "src"
    folders = {name: goroot / "crypto" / name for name in ["md5", "sha1", "sha256", "sha512", "sha3"]}
    for name, module, folder in [("ripemd160", "golang.org/x/crypto", "ripemd160"),
                                 ("compat/sha256simd", "github.com/1lann/sha256-simd", "."),
                                 ("compat/md5simd", "github.com/minio/md5-simd", ".")]:
        # Without a network this fails, and the list says so.
        subprocess.run(["go", "mod", "download", "-C", "internal/peers", module], cwd=ROOT, capture_output=True)
        listed = subprocess.run(["go", "list", "-C", "internal/peers", "-m", "-f", "{{.Dir}}", module], text=True,
                                cwd=ROOT, capture_output=True)
        if listed.returncode == 0 and listed.stdout.strip():
            folders[name] = pathlib.Path(listed.stdout.strip()) / folder
            continue
        print(f"SKIPPED: {name}: {module} is not in the module cache (in go/internal/peers run "
              f"go mod download {module})", listed.stderr.strip(), flush=True)
        if os.environ.get("HASHLOOM_REQUIRE"):
            sys.exit(1)
    overlay = {}
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)

        def show(path, text):
            source = scratch / str(path).replace("/", "_")
            source.write_text(text)
            overlay[str(ROOT / path)] = str(source)

        sources = {f"{name}/std_{path.name}": path
                   for name, folder in folders.items() for path in folder.glob("*_test.go")
                   if name != "compat/md5simd" or not path.name.endswith("_amd64_test.go")}  # its assembly's own
        packages = sorted(folders)
        for name in packages:
            if not any(path.startswith(f"{name}/") for path in sources):
                sys.exit(f"go_std.py: no tests of {name} in {folders[name]}")
        for path in (path for package in packages for path in (ROOT / package).glob("*_test.go")):
            overlay[str(path)] = ""  # no test of ours: they have the same names
        for path, source in sources.items():
            text = source.read_text()
            for name in packages if path.count("/") == 1 else []:
                text = text.replace(f'"crypto/{name}"', f'"{MODULE}/{name}"')
            text = text.replace('"crypto/internal/', f'"{MODULE}/internal/')
            text = text.replace(".(*digest).ConstantTimeSum(", ".Sum(")
            text = re.sub(r"^func TestBlockGeneric.*?^}", "var _ = rand.Read", text, flags=re.DOTALL | re.MULTILINE)
            show(path, text)
        show("internal/boring/boring.go", "package boring\n\nconst Enabled = false\n")
        show("internal/testhash/hash.go", (goroot / "internal/testhash/hash.go").read_text())
        show("internal/cryptotest/methods.go", (goroot / "crypto/internal/cryptotest/methods.go").read_text())
        show("internal/cryptotest/shim.go", CRYPTOTEST)
        show("internal/cryptotest/race.go", "//go:build race\n\npackage cryptotest\n\nconst raceEnabled = true\n")
        show("internal/cryptotest/norace.go", "//go:build !race\n\npackage cryptotest\n\nconst raceEnabled = false\n")
        (scratch / "overlay.json").write_text(json.dumps({"Replace": overlay}))
        test = ["test", "-vet=off", "-overlay", str(scratch / "overlay.json"), *(f"./{name}" for name in packages)]
        listing = output(*test, "-list", ".")
        tests = [line for line in listing.splitlines() if re.match(r"(Test|Example)", line)]
        print(f"{len(tests)} tests of Go's own packages, on {', '.join(packages)}", flush=True)
        # A version of Go whose tests lie elsewhere must not pass as none.
        if len(tests) < 30 or any(f"ok  \t{MODULE}/{name}" not in listing for name in packages):
            sys.exit(f"go_std.py: too few tests:\n{listing}")
        # The compiler inlines some methods of crypto/sha256 in the standard library alone: elsewhere the library's own
        # hash allocates here, too.
        skipped = ["-skip", "^TestAllocatonsWithTypeAsserts$"]
        sys.exit(subprocess.run(["go", *test, "-count=1", *skipped, *sys.argv[1:]], cwd=ROOT).returncode)


main()
