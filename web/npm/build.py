#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Builds the npm package: build.py FOLDER. The C core becomes a module of WebAssembly, a text of base64 in a script:
a package that reads no file works with every bundler. WASM_CC is a clang."""

import base64
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]

CLANG = [os.environ.get("WASM_CC", "clang"), "--target=wasm32"]
# Compiled and linked apart. Linked without -O: with it clang would run binaryen's wasm-opt where that is installed.
FLAGS = ["-std=c11", "-O3", "-ffreestanding", "-fvisibility=hidden", "-ffunction-sections", "-mbulk-memory",
         "-msimd128", "-DHL_NO_SHA1DC"]
# hl_alg_at is for test/proof.
EXPORTS = ["heap", "describe", "explain", "begin", "ctx_nbytes", "hmac_ctx_nbytes", "hmac_key_nbytes", "hl_alg_count",
           "hl_alg_at", "hl_hash", "hl_hash_many", "hl_hash_rows", "merkle_root", "hl_update_many", "hl_final_many",
           "hl_squeeze", "hl_hmac_key_init", "hl_hmac_init", "hl_hmac_many", "hl_hmac_update_many",
           "hl_hmac_final_many"]


def linker() -> list[str]:
    """Rust of rustup has a linker for WebAssembly; that of a distribution takes the system's, as clang does."""
    sysroot = subprocess.run(["rustc", "--print", "sysroot"], check=True, capture_output=True, text=True).stdout.strip()
    return [f"-fuse-ld={path}" for path in sorted(pathlib.Path(sysroot).glob("lib/rustlib/*/bin/gcc-ld/wasm-ld"))][:1]


def flags(source: pathlib.Path) -> list[str]:
    """All but the kernels is compiled for size: an eighth of the module, and no call takes longer for it."""
    return FLAGS if source.parent.name in ("generic", "wasm") else [*FLAGS, "-Os"]


def link(objects: list[pathlib.Path], out: pathlib.Path, *options: str) -> None:
    subprocess.run([*CLANG, "-nostdlib", *linker(), *map(str, sorted(objects)), "-o", str(out),
                    "-Wl,--no-entry,--gc-sections,--stack-first,-z,stack-size=262144",
                    *(f"-Wl,--export={name}" for name in EXPORTS), *(f"-Wl,{x}" for x in options)], check=True)


def module() -> bytes:
    sources = sorted((ROOT / "core/src").glob("*.c")) + sorted((ROOT / "core/src").glob("*/*.c"))
    with tempfile.TemporaryDirectory() as work:
        for source in (*sources, HERE / "module.c"):
            subprocess.run([*CLANG, *flags(source), "-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'core/include'}", "-c",
                            str(source)], check=True, cwd=work)
        objects = list(pathlib.Path(work).glob("*.o"))
        assert len(objects) == len(sources) + 1, "two sources of one name"
        out = pathlib.Path(work) / "module.wasm"
        link(objects, out, "--strip-all")
        return out.read_bytes()


def main() -> None:
    out = pathlib.Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    deflate = zlib.compressobj(9)
    text = base64.b64encode(deflate.compress(module()) + deflate.flush()).decode()
    (out / "module.js").write_text(f"export default '{text}';\n")
    for name in ("index.js", "index.cjs", "index.d.ts", "node.js", "node.cjs", "module.c", "module.h",
                 "package.json", "README.md"):
        shutil.copy(HERE / name, out)
    shutil.copytree(HERE / "native", out / "native")
    for name in "include", "src":
        shutil.copytree(ROOT / "core" / name, out / "native/core" / name)
    shutil.copy(HERE / "index.d.ts", out / "index.d.cts")
    for name in "LICENSE-MIT", "LICENSE-APACHE":
        shutil.copy(ROOT / name, out)


if __name__ == "__main__":
    main()
