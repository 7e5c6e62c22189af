#!/usr/bin/env bash
# run.sh: hashloom beside its peers, on one CPU, as Markdown on standard output; about a minute once it is built.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/peers/run.sh [sha1|sha256|sha512|ripemd160]...
#
# CC             the compiler of hashloom and of the crates' C
# CPU            the CPU to run on (default: the last one)
# RUN            put before each measurement, such as 'chrt -f 50'; one measurement takes about 15 seconds
# ECLOOP_DIR     a clone of https://github.com/vladkens/ecloop; ECLOOP_CLANG names the second compiler for it
# PKG_CONFIG_PATH, CPATH, LIBRARY_PATH   the folders of libraries without a package (ISA-L crypto)
#
# The output names the peers that are not installed, and leaves them out.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- sha1 sha256 sha512 ripemd160
cpu=${CPU:-$(($(getconf _NPROCESSORS_ONLN) - 1))}
# A folder of its own: in a shared one, each workspace would rebuild the other's crates.
export CARGO_TARGET_DIR=$PWD/target
work=$CARGO_TARGET_DIR/run
mkdir -p "$work"

cargo build --release --locked --quiet >&2
PEERS_GO=
if command -v go >/dev/null; then
    PEERS_GO=$work/go-peer
    go build -C go -o "$PEERS_GO" .
fi
export PEERS_GO
peers=$CARGO_TARGET_DIR/release/hashloom-bench-peers

: >"$work/summary"
: >"$work/details"
for algorithm in "$@"; do
    # shellcheck disable=SC2086 # RUN is a command with its arguments
    ${RUN:-} taskset -c "$cpu" "$peers" --summary "$work/summary" "$algorithm" >>"$work/details"
done

echo "hashloom at commit $(git describe --always --dirty --abbrev=7 2>/dev/null || echo unknown), $(date +%F)." \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), one CPU of $(getconf _NPROCESSORS_ONLN)," \
    "$(uname -sr)."
echo
"$peers" --list
echo
echo '### hashloom / the best peer, and the goals'
echo
"$peers" --summary-head
cat "$work/summary" "$work/details"
