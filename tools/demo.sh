#!/usr/bin/env bash
# demo.sh: hashloom at work: a download, checksums, a list, a manifest, torrents, then a race on a 485 MiB image, and
# one with Go's crypto/sha256.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
fixtures=$root/vectors/webtorrent-fixtures/fixtures
program=$root/target/release/hashloom

bold=$(tput bold 2>/dev/null || true) plain=$(tput sgr0 2>/dev/null || true)
[ -t 1 ] || bold='' plain=''

[ -x "$program" ] || { echo "demo.sh: target/release/hashloom is missing: run 'make demo'" >&2; exit 2; }

# Commands with names that fit a terminal of 80 columns, on copies, in a folder that goes when the demo ends.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
leaves='Leaves of Grass by Walt Whitman.epub'
mkdir books torrents
cp "$fixtures/alice.txt" "$fixtures/$leaves" books
cp -r "$fixtures/numbers" books
cp "$fixtures"/{leaves,bunny}.torrent "$root"/vectors/libtorrent/{alice,leaves}-{hybrid,v2}.torrent torrents

title() { # TEXT
    printf '\n%s== %s%s\n' "$bold" "$1" "$plain"
}

hashloom() {
    "$program" "$@"
}

# show STATUS LINE: prints the line, runs it, and ends the demo if its exit status is not STATUS.
show() {
    local status=0
    printf '\n%s$ %s%s\n' "$bold" "$2" "$plain"
    eval "$2" 2>&1 || status=$?
    if [ $status -ne "$1" ]; then
        echo "demo.sh: exit status $status instead of $1" >&2
        exit 1
    fi
}

# rot FILE: changes one byte and keeps the times, as a failing disk does.
rot() {
    touch -r "$1" "$work/time"
    printf X | dd of="$1" bs=1 seek=100000 conv=notrunc status=none
    touch -r "$work/time" "$1"
}

title 'hashloom FILE: a download and the list beside it, whole and with one byte changed'
cd books
cp alice.txt debian-13.iso
hashloom sum debian-13.iso >SHA256SUMS
show 0 'hashloom debian-13.iso'
rot debian-13.iso
show 1 'hashloom debian-13.iso'
rm debian-13.iso SHA256SUMS
cd ..

title 'sum: checksums of files and folders, of several algorithms in one read'
cd books
show 0 'hashloom sum --recursive numbers alice.txt'
show 0 'hashloom sum --algorithm sha1,md5 alice.txt'

title 'check: files against a list of checksums, and again with one byte changed'
show 0 'hashloom sum --recursive numbers alice.txt >../books.sha256'
show 0 'hashloom check ../books.sha256'
rot alice.txt
show 1 'hashloom check ../books.sha256'
cp "$fixtures/alice.txt" .
cd ..

title 'manifest: a folder is recorded; later it says what became of each file'
show 0 'hashloom manifest write books --output books.manifest'
printf '\n(One file is renamed, one edited, one added; in the book one byte decays.)\n'
mv books/numbers/1.txt books/numbers/one.txt
echo 'two and a half' >books/numbers/2.txt
echo 4 >books/numbers/4.txt
rot "books/$leaves"
show 1 'hashloom manifest check books.manifest books'

title 'torrent verify: the book with that byte; the piece that is bad is found'
show 1 'hashloom torrent verify torrents/leaves.torrent books --map --missing'

title 'torrent create: versions 1 and 2 in one torrent, both checked in one read'
show 0 'hashloom torrent create books/alice.txt --output new.torrent'
show 0 'hashloom torrent verify new.torrent books'

title 'torrent verify: many torrents in one call; not all content is here'
cp "$fixtures/$leaves" books
show 1 'hashloom torrent verify torrents/*.torrent --data books'

cd "$root"
title 'The race: SHA-1 of a 485 MiB image in pieces of 256 KiB, one CPU, all in memory'
[ -e build/bench/image-485M.bin ] ||
    printf '(First the image is made, of random bytes: build/bench/image-485M.bin, which stays for the next race.)\n'
printf '(Each program then reads the image five times; the table comes at the end.)\n'
bench/torrents.py "$program" image --rounds 5 --dir build/bench

title 'Go: 4,096 messages of 1 KiB, one CPU, crypto/sha256 beside hashloom'
if go version 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])'; then
    sed -n '/^func main/,/^}/p' go/examples/beside/main.go
    printf '%s$ go run ./examples/beside%s\n' "$bold" "$plain"
    go run -C go ./examples/beside
else
    echo "left out: Go 1.25 or later is not installed"
fi
