#!/usr/bin/env bash
# Fuzzes the C library with libFuzzer: fuzz/hash_many.c under the address and undefined behaviour sanitizers.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# fuzz_c.sh [SECONDS]     CC names a clang. Useful inputs stay in build/c/libfuzz/corpus. A failing input is left in
# build/c/libfuzz as crash-..., and `build/c/gcc/fuzz FILE` replays it.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
seconds=${1:-600}
CC=${CC:-clang}
build=$root/build/c/libfuzz
command -v "$CC" >/dev/null || { echo "fuzz_c.sh: no $CC: apt-get install clang" >&2; exit 2; }

mkdir -p "$build/corpus"
{ cmake -S test -B "$build" -DCMAKE_C_COMPILER="$CC" -DTEST_LIBFUZZER=ON \
    -DCMAKE_C_FLAGS="-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all" &&
    cmake --build "$build" -j "${JOBS:-$(getconf _NPROCESSORS_ONLN)}" --target libfuzz; } >"$build/log" 2>&1 ||
    { cat "$build/log"; exit 1; }
cd "$build"
if ! ./libfuzz -max_total_time="$seconds" -max_len=600 -timeout=60 -print_final_stats=1 corpus >>log 2>&1; then
    tail -n 60 log
    exit 1
fi
grep '^stat::' log
echo "hash_many: $seconds s of fuzzing, no failure"
