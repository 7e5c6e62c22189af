#!/usr/bin/env bash
# other_systems.sh: `cargo check` of the Rust crates, the program, their tests and the Python package for other systems,
# and the C library compiled for them. Nothing is run here; .github/workflows/ci.yml runs the tests on some of these
# systems.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/other_systems.sh [TARGET ...]
#
# The program's `bench` is left out, as the libraries it compares with need more C headers than a compiler brings. The C
# library is compiled by mingw-w64 for Windows, by Debian's cross compilers for Linux, and for Apple's systems and
# WebAssembly by clang, which needs none of their headers. A target without standard library (`rustup target add
# TARGET`) or C compiler (`tools/setup.sh cross`) is skipped; with HASHLOOM_REQUIRE=1 that is a failure.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
[ $# -gt 0 ] || set -- x86_64-pc-windows-gnu aarch64-apple-darwin x86_64-apple-darwin aarch64-unknown-linux-gnu \
    i686-unknown-linux-gnu wasm32-wasip1
export RUSTFLAGS="-D warnings"
libraries=$(rustc --print sysroot)/lib/rustlib
npassed=0 nfailed=0 nskipped=0

check() { # TARGET PACKAGES...
    local target=$1 compiler flags=
    case $target in
    x86_64-pc-windows-gnu) compiler=x86_64-w64-mingw32-gcc ;;
    aarch64-unknown-linux-gnu) compiler=aarch64-linux-gnu-gcc ;;
    i686-unknown-linux-gnu) compiler=i686-linux-gnu-gcc ;;
    *) compiler=clang flags=-ffreestanding ;;
    esac
    [ -d "$libraries/$target/lib" ] || rustup --quiet target add "$target" >/dev/null 2>&1
    if ! [ -d "$libraries/$target/lib" ]; then
        skip "$target: Rust's standard library is missing: rustup target add $target"
    elif ! command -v $compiler >/dev/null; then
        skip "$target: $compiler is missing: tools/setup.sh cross"
    elif env "CC_${target//-/_}=$compiler" "CFLAGS_${target//-/_}=$flags" "AR_${target//-/_}=ar" SDKROOT=/ \
        cargo check --quiet --locked --keep-going --target "$target" "${@:2}"; then
        echo "$target: checked"
        npassed=$((npassed + 1))
    else
        echo "FAILED: $target"
        nfailed=$((nfailed + 1))
    fi
}

skip() { # WHAT
    echo "SKIPPED: $1"
    nskipped=$((nskipped + 1))
}

for target; do
    case $target in
    wasm32-*) check "$target" --package hashloom --no-default-features --features all ;;
    # wgpu has drivers for few systems.
    *windows* | *apple*)
        check "$target" --workspace --no-default-features --all-targets
        check "$target" --manifest-path python/Cargo.toml
        ;;
    *) check "$target" --workspace --exclude hashloom-gpu --no-default-features --all-targets ;;
    esac
done
echo "$npassed passed, $nfailed failed, $nskipped skipped"
[ $nfailed -eq 0 ] && { [ $nskipped -eq 0 ] || [ -z "${HASHLOOM_REQUIRE-}" ]; }
