#!/usr/bin/env bash
# run.sh: all tests: the C library, the Rust crates, the program against the torrents of other programs and
# against malformed ones.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/run.sh quick|all|fuzz
#
# Called by `make test`, `make test-all` and `make fuzz`, which install what is needed first. HASHLOOM_EXPECT=avx512,sha
# makes it a failure if this machine lacks one of these instruction sets. Exit status: 0 if everything passed.
set -uo pipefail
cd "$(dirname "$0")/.."
level=${1:?usage: run.sh quick|all|fuzz}
failed=()

part() { # TITLE COMMAND...
    local title=$1
    shift
    echo
    echo "== $title: $*"
    "$@" || failed+=("$title")
}

if [ "$level" = fuzz ]; then
    part "fuzz the C library" test/fuzz_c.sh 600
    part "fuzz the parsers and verify" fuzz/run.sh 600
else
    part "C library" test/c.sh "$level"
    part "C library on other architectures" test/cross.sh "$level"
    part "format" cargo fmt --all --check
    part "lint" cargo clippy --quiet --workspace --all-targets --locked -- -D warnings
    part "lint, without bench" \
        cargo clippy --quiet --package hashloom-cli --no-default-features --all-targets --locked -- -D warnings
    part "Rust crates and program" cargo test --quiet --workspace --locked
    # What users run is optimised, and compilers have bugs.
    part "crates, optimised" \
        cargo test --quiet --release --package hashloom --package hashloom-engine --features hashloom/digest --tests --locked
    part "crate without std" cargo test --quiet --package hashloom --no-default-features --locked
    part "crate with the traits" cargo test --quiet --package hashloom --all-features --locked
    for feature in "" torrent create resume tree manifest io-uring; do
        part "engine with feature ${feature:-none}" \
            env RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=target/features \
            cargo check --quiet --package hashloom-engine --no-default-features --features "$feature" --locked
    done
    part "dependencies" tools/deny.sh
    part "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps --locked
    part "program, optimised" cargo build --quiet --release --locked --package hashloom-cli
    part "sizes of the kernels" tools/kernels.py target/release/hashloom
    part "torrents of other programs" build/venv/bin/python test/interop_torrents.py target/release/hashloom --require
    part "manifests of random folders" test/manifest.py target/release/hashloom
    part "malformed torrents" build/venv/bin/python test/malformed_torrents.py target/release/hashloom --require
    part "hash trees of other programs" build/venv/bin/python test/trees.py target/release/hashloom --require \
        $([ "$level" = quick ] || echo --all)
    part "resume files of clients" build/venv/bin/python test/clients.py target/release/hashloom --require
    part "coreutils' programs" build/venv/bin/python test/coreutils.py target/release/hashloom --require
    huge=()
    [ "$level" != all ] || huge=(--huge)
    part "digests and codes as Python's" python3 test/macs.py target/release/hashloom --require "${huge[@]}"
    faultfs=(--quiet --locked --manifest-path test/faultfs/Cargo.toml)
    part "format of the file system with faults" cargo fmt --manifest-path test/faultfs/Cargo.toml --check
    part "lint of it" cargo clippy "${faultfs[@]}" --all-targets -- -D warnings
    part "tests of it" cargo test "${faultfs[@]}"
    part "file system with faults" cargo build "${faultfs[@]}"
    part "faults" python3 test/faults.py target/release/hashloom --require \
        $([ "$level" = quick ] || echo --all)
    part "installation" test/install.sh --require
fi

echo
if [ ${#failed[@]} -gt 0 ]; then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "All parts passed."
