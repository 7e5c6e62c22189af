#!/usr/bin/env bash
# run.sh: fuzzes the parsers of foreign files (torrents, manifests, logs, lists, resume files, states, hash files,
# proofs, keys and addresses, PAR2 files), with cargo-fuzz, each for SECONDS (600).
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   fuzz/run.sh [SECONDS [TARGET...]]     the default is every target
#
# Inputs worth keeping stay in build/fuzz; one that fails is left in fuzz/artifacts and named in the end.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-600}
targets=(bencode manifest metainfo list state log proof resume superblock address par2)
if [ $# -gt 1 ]; then targets=("${@:2}"); fi

if ! cargo fuzz --version >/dev/null 2>&1; then
    echo "fuzz/run.sh: cargo-fuzz is not installed: cargo install cargo-fuzz --locked" >&2
    exit 2
fi
if ! cargo +nightly --version >/dev/null 2>&1; then
    echo "fuzz/run.sh: cargo-fuzz needs a nightly compiler: rustup toolchain install nightly" >&2
    exit 2
fi
# The runtime of the address sanitizer is LLVM's. gcc's code takes its frames for better aligned than they are.
export CC=${CC:-clang}
command -v "$CC" >/dev/null || { echo "fuzz/run.sh: no $CC: apt-get install clang" >&2; exit 2; }
# Several targets write files of up to a few hundred kilobytes each time: in memory, if there is such a place.
if [ -d /dev/shm ] && [ -w /dev/shm ]; then
    export TMPDIR=/dev/shm
fi
for target in "${targets[@]}"; do
    mkdir -p "build/fuzz/$target"
    case $target in
        manifest) corpus=(fuzz/manifests) options=(-dict=fuzz/manifest.dict -max_len=4096) ;;
        list) corpus=() options=(-dict=fuzz/list.dict -max_len=1024) ;;
        state | par2) corpus=() options=(-max_len=1024) ;;
        log | proof | resume) corpus=("fuzz/seeds/$target") options=(-max_len=1024) ;;
        address) corpus=("fuzz/seeds/$target") options=(-max_len=4096) ;;
        # Threads that a scope has waited for may still free their memory, which looks like a leak to libFuzzer.
        superblock) corpus=("fuzz/seeds/$target") options=(-max_len=1200 -detect_leaks=0) ;;
        *)
            corpus=(vectors/webtorrent-fixtures/fixtures vectors/libtorrent)
            options=(-dict=fuzz/bencode.dict -max_len=65536 -detect_leaks=0)
            ;;
    esac
    cargo +nightly fuzz run "$target" --fuzz-dir fuzz "build/fuzz/$target" "${corpus[@]}" -- \
        "${options[@]}" -max_total_time="$seconds" -print_final_stats=1 -verbosity=0
    echo "$target: $seconds s of fuzzing, no failure"
done
