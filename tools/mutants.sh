#!/usr/bin/env bash
# mutants.sh: changes the Rust crates in small ways, one at a time, and sees whether the tests notice (cargo-mutants).
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/mutants.sh [--shard K/N] [FILE...]
#
# FILE is one of the files below, such as hashloom/src/hmac.rs; the default is all. A copy of the sources is changed,
# never the sources themselves. The results are in build/mutants; exit status 1 if the tests missed a change.
set -euo pipefail
cd "$(dirname "$0")/.."

# Returns the tests that should notice changes in a file below rust/. Other tests would too, but take
# minutes for each change.
tests() { # FILE
    case $1 in
    hashloom/src/hmac.rs) echo hmac rustcrypto ;;
    hashloom/src/hash.rs) echo many ;;
    hashloom/src/hasher.rs | hashloom/src/many.rs) echo many streams ;;
    hashloom-files/src/read/stamp.rs) echo files ;;
    hashloom-state/src/state.rs) echo state ;;
    hashloom-torrent/src/bencode/*.rs) echo bencode metainfo ;;
    hashloom-torrent/src/bitfield.rs) echo verify ;;
    hashloom-clients/src/checkpoint.rs) echo checkpoint changes ;;
    hashloom-torrent/src/parse/layers.rs) echo metainfo metainfo_v2 metainfo_random ;;
    hashloom-torrent/src/verify/*.rs) echo verify verify_random ;;
    hashloom-clients/src/*.rs) echo resume kept ;;
    hashloom-list/src/list.rs) echo list ;;
    hashloom-manifest/src/*.rs) echo manifest ;;
    hashloom-tree/src/*.rs) echo trees ;;
    *) echo "mutants.sh: no tests are named for $1" >&2; exit 2 ;;
    esac
}
all="hashloom/src/hmac.rs hashloom/src/hash.rs hashloom/src/hasher.rs hashloom/src/many.rs
     hashloom-files/src/read/stamp.rs hashloom-state/src/state.rs
     hashloom-torrent/src/bencode/mod.rs hashloom-torrent/src/bencode/item.rs hashloom-torrent/src/bitfield.rs
     hashloom-torrent/src/parse/layers.rs hashloom-clients/src/checkpoint.rs
     hashloom-torrent/src/verify/locate.rs hashloom-torrent/src/verify/report.rs
     hashloom-clients/src/content.rs hashloom-clients/src/resume/mod.rs hashloom-clients/src/resume/libtorrent.rs
     hashloom-clients/src/resume/transmission.rs hashloom-clients/src/resume/places.rs
     hashloom-list/src/list.rs hashloom-manifest/src/compare.rs
     hashloom-tree/src/rfc6962/proof.rs hashloom-tree/src/dmverity/superblock.rs hashloom-tree/src/dmverity/check.rs"

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
    crate=${file%%/*} features=()
    if [ "$crate" = hashloom ]; then features=(--features digest); fi
    cargo mutants --package "$crate" --file "rust/$file" --output "$out" --no-shuffle "${shard[@]}" \
        "${features[@]}" "${only[@]}" || status=1
done
exit $status
