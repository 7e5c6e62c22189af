#!/usr/bin/env bash
# demo.sh: hashloom at work: real torrents first, then a race on a 485 MiB image, and one with Go's crypto/sha256.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
fixtures=vectors/webtorrent-fixtures/fixtures
hashloom=target/release/hashloom

bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
[ -t 1 ] || bold='' plain=''

[ -x "$hashloom" ] || { echo "demo.sh: $hashloom is missing: run 'make demo'" >&2; exit 2; }

# show STATUS ARGUMENT...: prints the command, runs it, and ends the demo if its exit status is not STATUS.
show() {
    local expected=$1 status=0
    shift
    printf '\n%s$ hashloom' "$bold"
    printf ' %q' "$@"
    printf '%s\n' "$plain"
    "$hashloom" "$@" || status=$?
    if [ $status -ne "$expected" ]; then
        echo "demo.sh: exit status $status instead of $expected" >&2
        exit 1
    fi
}

echo
echo "== Walt Whitman's Leaves of Grass, as published: one file, and every piece is right"
show 0 torrent verify "$fixtures/leaves.torrent" "$fixtures" --map

echo
echo "== Folders: pieces that span files"
show 0 torrent verify "$fixtures/numbers.torrent" "$fixtures"
show 0 torrent verify "$fixtures/lots-of-numbers.torrent" "$fixtures"

echo
echo "== The same book with one byte changed: the piece is found (exit status 1)"
damaged=$(mktemp -d)
trap 'rm -rf "$damaged"' EXIT
cp "$fixtures/Leaves of Grass by Walt Whitman.epub" "$damaged"
printf 'X' | dd of="$damaged/Leaves of Grass by Walt Whitman.epub" bs=1 seek=200000 conv=notrunc status=none
show 1 torrent verify "$fixtures/leaves.torrent" "$damaged" --missing

echo
echo "== A torrent whose content is not here (exit status 1)"
show 1 torrent verify "$fixtures/sintel.torrent" "$fixtures"

echo
echo "== A torrent file that is damaged itself: the error says where (exit status 2)"
show 2 torrent verify "$fixtures/corrupt.torrent" "$fixtures"

echo
echo "== A hybrid torrent: made from a folder, shown, and both halves checked in one read"
show 0 torrent create "$fixtures/numbers" --tracker https://tracker.example.org/announce --output "$damaged/numbers.torrent"
show 0 torrent show "$damaged/numbers.torrent"
show 0 torrent verify "$damaged/numbers.torrent" "$fixtures"

echo
echo "== Many torrents in one call: one line each (exit status 1: not all content is here)"
show 1 torrent verify vectors/libtorrent/*.torrent "$fixtures/leaves.torrent" "$fixtures/bunny.torrent" --data "$fixtures"

echo
echo "== The race: SHA-1 of a 485 MiB image in pieces of 256 KiB, one CPU, everything in memory"
bench/verify.py "$hashloom" --kernels --rounds 3

echo
echo "== Go: 4,096 messages of 1 KiB, one CPU, crypto/sha256 beside hashloom"
if go version 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])'; then
    sed -n '/^func main/,/^}/p' go/examples/beside/main.go
    printf '%s$ go run ./examples/beside%s\n' "$bold" "$plain"
    go run -C go ./examples/beside
else
    echo "left out: Go 1.25 or later is not installed"
fi
