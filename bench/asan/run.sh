#!/usr/bin/env bash
# How much slower a program's debug build with AddressSanitizer hashes than its -O2 build: a file of 485 MiB in pieces
# of 256 KiB, both against libhashloom as CMake builds it in that configuration.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# bench/asan/run.sh     CC names the compiler. Method: 7 rounds, the builds in turn, the file in the page cache; the
# ratio of the minima. The goal is at most 1.3.
set -euo pipefail
cd "$(dirname "$0")/../.."
CC=${CC:-cc}
ROUNDS=7
build=build/bench-asan
image=$build/image
mkdir -p "$build"

make_build() { # NAME FLAGS
    { cmake -S bench/asan -B "$build/$1" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=None -DCMAKE_C_FLAGS="$2" &&
        cmake --build "$build/$1"; } >"$build/log" 2>&1 || { cat "$build/log" >&2; exit 1; }
}
make_build O2 "-O2"
make_build asan "-O0 -g -fsanitize=address -fno-omit-frame-pointer"

if [ "$(stat -c %s "$image" 2>/dev/null)" != $((485 << 20)) ]; then
    head -c $((485 << 20)) /dev/urandom >"$image"
fi
cat "$image" >/dev/null

echo "$($CC --version | head -n1); $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1)"
for alg in sha1 sha256; do
    min_O2= min_asan= digests=
    for round in $(seq $((ROUNDS + 1))); do # the first is a warm-up
        for kind in O2 asan; do
            read -r seconds digest < <("$build/$kind/verify_image" "$image" $alg)
            digests+="$digest "
            [ "$round" -gt 1 ] || continue
            declare -n min=min_$kind
            min=$(awk -v a="$seconds" -v b="${min:-$seconds}" 'BEGIN {print a < b ? a : b}')
        done
    done
    [ "$(tr ' ' '\n' <<<"$digests" | grep . | sort -u | wc -l)" = 1 ] || { echo "the digests differ" >&2; exit 1; }
    awk -v alg=$alg -v plain="$min_O2" -v asan="$min_asan" 'BEGIN {
        printf "%-6s -O2 %.3f s, -O0 -fsanitize=address %.3f s: ratio %.2f (aimed at: at most 1.3)\n", alg, plain, asan,
            asan / plain }'
done
rm -f "$image"
