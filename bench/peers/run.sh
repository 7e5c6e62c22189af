#!/usr/bin/env bash
# run.sh: builds hashloom beside its peers, for bench/never/run.py.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/peers/run.sh --build     names the peers that are missing, and prints the path of the program
#   bench/peers/run.sh --quick     compares the digests of all peers with hashloom's, on every tier, without timing
#
# PEERS_REQUIRE  1: a peer that is not installed is an error; otherwise the output names it and leaves it out
# CC             the compiler of hashloom and of the crates' C
#
# The peers that are crates come with Cargo. The others:
#   OpenSSL, ipsec-mb, clang   make bench-peers installs Debian's packages, or names them
#   ISA-L crypto   no Debian package; needs nasm:
#                      git clone https://github.com/intel/isa-l_crypto
#                      make -C isa-l_crypto -f Makefile.unx units='sha1_mb sha256_mb sha512_mb misc' \
#                          lib install prefix=$HOME/isal
#                      export CPATH=$HOME/isal/include LIBRARY_PATH=$HOME/isal/lib LD_LIBRARY_PATH=$HOME/isal/lib
#   XKCP           no Debian package; needs xsltproc; clang's code is faster than gcc's:
#                      git clone --recursive https://github.com/XKCP/XKCP && cd XKCP
#                      make generic64/libXKCP.a CC=clang EXTRA_CFLAGS='-mbmi -mbmi2'
#                      mv bin/generic64 bin/generic64-bmi
#                      make AVX512/libXKCP.a CC=clang EXTRA_CFLAGS=-march=native
#                      make AVX2/libXKCP.a SSSE3/libXKCP.a generic64/libXKCP.a CC=clang
#                      export XKCP_DIR=$PWD
# PKG_CONFIG_PATH, CPATH and LIBRARY_PATH find libraries in other folders, also a newer ipsec-mb than Debian's.
set -euo pipefail
cd "$(dirname "$0")"
[[ $# = 1 && ${1-} =~ ^--(build|quick)$ ]] || { echo "usage: bench/peers/run.sh --build|--quick" >&2; exit 2; }
# A folder of its own: in a shared one, each workspace would rebuild the other's crates.
export CARGO_TARGET_DIR=$PWD/target
peers=$CARGO_TARGET_DIR/release/hashloom-bench-peers

# The peers need a newer Rust than hashloom does.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
found=$(rustc --version | cut -d' ' -f2)
if [ "$1" = --quick ] && [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n1)" != "$wanted" ]; then
    echo "SKIPPED: bench/peers needs Rust $wanted or later, $found is installed: rustup update"
    exit 0
fi
cargo build --release --locked --quiet >&2
missing=$("$peers" --missing)
if [ -n "$missing" ] && [ "${PEERS_REQUIRE:-0}" != 0 ]; then
    echo "$missing" >&2
    exit 2
fi
if [ "$1" = --build ]; then
    [ -z "$missing" ] || echo "$missing" >&2
    echo "$peers"
    exit
fi
[ -z "$missing" ] || sed 's/^/SKIPPED: peer /' <<<"$missing"
for tier in $("$peers" --tiers); do
    "$peers" --rounds 0 --few-cells --tier "$tier"
done
"$peers" --rounds 1 --few-cells --tier plain >target/never.csv
../never/run.py --from target/never.csv >target/never.md
