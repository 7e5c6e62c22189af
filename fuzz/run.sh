#!/usr/bin/env bash
# run.sh: fuzzes the bencode and torrent parsers with cargo-fuzz, each for SECONDS (600).
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Inputs worth keeping stay in build/fuzz; one that fails is left in fuzz/artifacts and named in the end.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz/run.sh: cargo-fuzz is not installed: cargo install cargo-fuzz --locked" >&2
    exit 2
fi
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz/run.sh: cargo-fuzz needs a nightly compiler: rustup toolchain install nightly" >&2
    exit 2
fi
for target in bencode metainfo; do
    mkdir -p "build/fuzz/$target"
    cargo +nightly fuzz run "$target" --fuzz-dir fuzz "build/fuzz/$target" vectors/webtorrent-fixtures/fixtures \
        vectors/libtorrent -- \
        -dict=fuzz/bencode.dict -max_total_time="$seconds" -max_len=65536 -print_final_stats=1 -verbosity=0
    echo "$target: $seconds s of fuzzing, no failure"
done
