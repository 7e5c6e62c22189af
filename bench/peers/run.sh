#!/usr/bin/env bash
# run.sh: hashloom beside its peers, on one CPU, as Markdown on standard output; about two minutes once it is built.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/peers/run.sh [--quick] [sha1|sha256|sha512|ripemd160|md5|sha3-256|hmac-sha256|hash160|sha256d|...]...
#   bench/peers/run.sh --chart FILE
#   bench/peers/run.sh --build
#
# --chart        draws SHA-256 beside OpenSSL, ring and RustCrypto's sha2 into FILE; half a minute, once it is built
# --quick        one round, which compares the digests of all peers with hashloom's; its figures mean little
#                with the cells of bench/never too, on every tier
# --build        for bench/never/run.py: names the peers that are missing, and prints the paths of the program and of
#                its Go peer, if there is Go
# PEERS_REQUIRE  1: a peer that is not installed is an error; otherwise the output names it and leaves it out
# CC             the compiler of hashloom and of the crates' C
# CPU            the CPU to run on (default: the last one)
# RUN            put before each measurement, such as 'chrt -f 50'; one measurement takes about 20 seconds
# ECLOOP_CLANG   the second compiler of ecloop (default: clang)
#
# The peers that are crates come with Cargo. The others:
#   OpenSSL, ipsec-mb, clang   make bench-peers installs Debian's packages, or names them
#   Go             1.24 or later from https://go.dev/dl; its folder bin must be in PATH
#   ISA-L crypto   no Debian package; needs nasm:
#                      git clone https://github.com/intel/isa-l_crypto
#                      make -C isa-l_crypto -f Makefile.unx units='sha1_mb sha256_mb sha512_mb misc' \
#                          lib install prefix=$HOME/isal
#                      export CPATH=$HOME/isal/include LIBRARY_PATH=$HOME/isal/lib LD_LIBRARY_PATH=$HOME/isal/lib
#   ecloop         no Debian package; compiled here by gcc and clang:
#                      git clone https://github.com/vladkens/ecloop && export ECLOOP_DIR=$PWD/ecloop
#   XKCP           no Debian package; needs xsltproc; clang's code is faster than gcc's:
#                      git clone --recursive https://github.com/XKCP/XKCP && cd XKCP
#                      make generic64/libXKCP.a CC=clang EXTRA_CFLAGS='-mbmi -mbmi2'
#                      mv bin/generic64 bin/generic64-bmi
#                      make AVX512/libXKCP.a CC=clang EXTRA_CFLAGS=-march=native
#                      make AVX2/libXKCP.a SSSE3/libXKCP.a generic64/libXKCP.a CC=clang
#                      export XKCP_DIR=$PWD
# PKG_CONFIG_PATH, CPATH and LIBRARY_PATH find libraries in other folders, also a newer ipsec-mb than Debian's.
set -euo pipefail
chart=
[ "${1-}" != --chart ] || chart=$(realpath "${2?usage: run.sh --chart FILE}")
cd "$(dirname "$0")"
quick='' build=''
[ "${1-}" != --quick ] || { quick=yes && shift; }
[ "${1-}" != --build ] || build=yes
[ $# -gt 0 ] || set -- sha1 sha256 sha512 ripemd160 md5 sha3-256 hmac-sha256 hash160 sha256d
cpu=${CPU:-$(($(getconf _NPROCESSORS_ONLN) - 1))}
# A folder of its own: in a shared one, each workspace would rebuild the other's crates.
export CARGO_TARGET_DIR=$PWD/target
work=$CARGO_TARGET_DIR/run
mkdir -p "$work"

if [ -n "$quick" ]; then
    # The peers need a newer Rust than hashloom does.
    wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
    found=$(rustc --version | cut -d' ' -f2)
    if [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n1)" != "$wanted" ]; then
        echo "SKIPPED: bench/peers needs Rust $wanted or later, $found is installed: rustup update"
        exit 0
    fi
fi
cargo build --release --locked --quiet >&2
PEERS_GO=
if command -v go >/dev/null && go build -C go -o "$work/go-peer" . >&2; then
    PEERS_GO=$work/go-peer
fi
export PEERS_GO
peers=$CARGO_TARGET_DIR/release/hashloom-bench-peers

machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1)
if [ -n "$chart" ]; then
    compiler=$(${CC:-cc} --version | head -n1)
    # shellcheck disable=SC2086 # RUN is a command with its arguments
    exec ${RUN:-} taskset -c "$cpu" "$peers" --chart "$chart" "$machine · $compiler · $(date +%F)"
fi

"$peers" --missing >"$work/missing"
if [ -s "$work/missing" ] && [ "${PEERS_REQUIRE:-0}" != 0 ]; then
    sed 's/^/run.sh: /' "$work/missing" >&2
    exit 2
fi
if [ -n "$build" ]; then
    sed 's/^/run.sh: missing: /' "$work/missing" >&2
    printf '%s\n' "$peers" "$PEERS_GO"
    exit
fi
if [ -n "$quick" ]; then
    sed 's/^/SKIPPED: peer /' "$work/missing"
    echo "The digests of all sides are compared. One round each: the figures below are no results."
    "$peers" --rounds 1 --summary /dev/null "$@"
    for tier in here no-avx512 avx2 ssse3 plain; do
        "$peers" --rounds 0 --few-cells --never "$tier"
    done
    "$peers" --rounds 1 --few-cells --never plain >"$work/never.csv"
    ../never/run.py --from "$work/never.csv" >"$work/never.md"
    exit
fi

: >"$work/summary"
: >"$work/details"
for algorithm in "$@"; do
    # shellcheck disable=SC2086 # RUN is a command with its arguments
    ${RUN:-} taskset -c "$cpu" "$peers" --summary "$work/summary" "$algorithm" >>"$work/details"
done

echo "hashloom at commit $(git describe --always --dirty --abbrev=7 2>/dev/null || echo unknown), $(date +%F)." \
    "$machine, one CPU of $(getconf _NPROCESSORS_ONLN)," \
    "$(uname -sr)."
echo
"$peers" --list
echo
"$peers" --summary-head
cat "$work/summary" "$work/details"
