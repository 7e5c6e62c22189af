#!/usr/bin/env bash
# deny.sh: checks licences, duplicates, sources and known vulnerabilities of all dependencies, by the rules of
# deny.toml: those of the crates, of the program, of the Python package, and of the file systems of tests and
# benchmarks.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/deny.sh [--require]
#
# A check that cannot run is named, and fails with --require: cargo-deny is not installed, or RustSec's database cannot
# be fetched.
set -euo pipefail
cd "$(dirname "$0")/.."
require=${1-}

skipped() { # MESSAGE
    echo "SKIPPED: $1"
    [ "$require" != --require ] || exit 1
}

if ! cargo deny --version >/dev/null 2>&1; then
    skipped "cargo-deny is not installed: cargo install cargo-deny --locked"
    exit 0
fi
# deny CHECK...: runs the checks for each Cargo.toml. All but the first use only some of the licences that deny.toml
# allows.
deny() {
    cargo deny --log-level error --manifest-path ./Cargo.toml check "$@"
    for folder in python test/fuse; do
        cargo deny --log-level error --manifest-path ./$folder/Cargo.toml check \
            --allow license-not-encountered "$@"
    done
}
deny licenses bans sources
# A database fetched earlier still counts if there is no network.
cargo deny --log-level off fetch db >/dev/null 2>&1 || true
databases=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if compgen -G "$databases/*/crates" >/dev/null; then
    deny --disable-fetch advisories
else
    skipped "advisories: https://github.com/RustSec/advisory-db cannot be fetched"
fi
