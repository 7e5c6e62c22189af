#!/usr/bin/env bash
# mutants.sh: changes the Rust crates in small ways, one at a time, and sees whether the tests notice (cargo-mutants).
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/mutants.sh [--shard K/N] [FILE...]
#
# FILE is one of the files below, such as hmac.rs; the default is all. A copy of the sources is changed, never the
# sources themselves. The results are in build/mutants; exit status 1 if the tests missed a change.
set -euo pipefail
cd "$(dirname "$0")/.."

# Returns the tests that should notice changes in a file below the src of its crate. Other tests would too, but take
# minutes for each change.
tests() { # FILE
    case $1 in
    hmac.rs) echo hmac rustcrypto ;;
    hash.rs) echo many ;;
    hasher.rs | many.rs) echo many streams ;;
    list.rs) echo list ;;
    read/stamp.rs) echo files manifest ;;
    bencode/*.rs) echo bencode metainfo create ;;
    torrent/bitfield.rs) echo resume verify ;;
    torrent/verify/checkpoint.rs) echo checkpoint verify ;;
    state.rs) echo state ;;
    torrent/paths.rs | torrent/parse/layers.rs) echo metainfo metainfo_v2 metainfo_random ;;
    torrent/verify/locate.rs | torrent/verify/content.rs | torrent/verify/report.rs) echo verify resume verify_random ;;
    torrent/resume/*.rs) echo resume ;;
    manifest/*.rs) echo manifest ;;
    tree/rfc6962/proof.rs | tree/dmverity/*.rs) echo trees ;;
    *) echo "mutants.sh: no tests are named for $1" >&2; exit 2 ;;
    esac
}
all="hmac.rs hash.rs hasher.rs many.rs list.rs read/stamp.rs bencode/mod.rs bencode/item.rs torrent/bitfield.rs
     torrent/paths.rs torrent/parse/layers.rs torrent/verify/checkpoint.rs torrent/verify/locate.rs
     torrent/verify/content.rs torrent/verify/report.rs torrent/resume/mod.rs torrent/resume/libtorrent.rs
     torrent/resume/transmission.rs torrent/resume/places.rs manifest/compare.rs state.rs
     tree/rfc6962/proof.rs tree/dmverity/superblock.rs tree/dmverity/check.rs"

shard=()
if [ "${1-}" = --shard ]; then
    shard=(--shard "${2:?usage: mutants.sh [--shard K/N] [FILE...]}")
    shift 2
fi
if ! cargo mutants --version >/dev/null 2>&1; then
    echo "mutants.sh: cargo-mutants is not installed: cargo install cargo-mutants --locked" >&2
    exit 2
fi
# The parts that no change affects are built once for all files.
export CARGO_TARGET_DIR=$PWD/build/mutants/target
status=0
for file in ${*:-$all}; do
    names=$(tests "$file")
    out=build/mutants/${file//\//-}
    rm -rf "$out"
    mkdir -p "$out"
    echo "== $file, with the tests $names"
    only=(--cargo-arg=--lib)
    for name in $names; do only+=("--cargo-arg=--test=$name"); done
    crate=hashloom-engine features=()
    if [ -e "rust/hashloom/src/$file" ]; then crate=hashloom features=(--features digest); fi
    cargo mutants --package "$crate" --file "rust/$crate/src/$file" --output "$out" --no-shuffle "${shard[@]}" \
        "${features[@]}" "${only[@]}" || status=1
done
exit $status
