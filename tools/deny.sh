#!/usr/bin/env bash
# deny.sh: licences, duplicates and sources of all dependencies, and what is known to be wrong with them, as deny.toml
# says: those of the crates and the program, and those of the file system that tests of faults use.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/deny.sh [--require]
#
# What cannot be looked at is named. --require makes it a failure: cargo-deny that is not installed, RustSec's database
# that cannot be had.
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
# deny CHECK...: of each Cargo.toml. The second needs not all that deny.toml allows.
deny() {
    cargo deny --log-level error --manifest-path ./Cargo.toml check --config deny.toml "$@"
    cargo deny --log-level error --manifest-path ./test/faultfs/Cargo.toml check --config deny.toml \
        --allow license-not-encountered "$@"
}
deny licenses bans sources
# What was fetched before still counts where there is no network.
cargo deny --log-level off fetch db >/dev/null 2>&1 || true
databases=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs
if compgen -G "$databases/*/crates" >/dev/null; then
    deny --disable-fetch advisories
else
    skipped "advisories: https://github.com/RustSec/advisory-db cannot be had"
fi
