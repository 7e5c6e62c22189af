#!/usr/bin/env bash
# optimised_kernels.sh: whatever a user's build type and flags, CMake compiles the kernels optimised and unsanitized,
# and the rest of the core with the user's flags.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# optimised_kernels.sh [quick|all] [BUILD-FOLDER]     CC names the compiler
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
core=$here/../core
CC=${CC:-cc}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
level=${1:-all}
build=${2:-$here/../build/c/optimised-kernels}
rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)

fail() {
    echo "optimised_kernels.sh: $*" >&2
    exit 1
}

configure_and_build() {
    rm -rf "$build/lib"
    { cmake -S "$core" -B "$build/lib" -DHASHLOOM_BUILD_SHARED=OFF -DCMAKE_C_COMPILER="$CC" "$@" &&
        cmake --build "$build/lib" -j "$jobs"; } >"$build/log" 2>&1 || { cat "$build/log"; fail "does not build: $*"; }
    find "$build/lib" -name '*.c.o' | grep -E '/src/[a-z0-9]+/' >"$build/kernels"
    find "$build/lib" -name '*.c.o' | grep -vE '/src/[a-z0-9]+/' >"$build/driver"
}

undefined() { # of the object files listed in FILE
    xargs nm -u <"$1" 2>/dev/null | awk 'NF == 2 {print $2}' | sort -u
}

code_size() {
    xargs size -A -d <"$1" | awk '$1 ~ /^\.text/ {n += $2} END {print n}'
}

configure_and_build -DCMAKE_BUILD_TYPE=Release
usual=$(undefined "$build/kernels")
usual_size=$(code_size "$build/kernels")

check() { # NAME PATTERN FLAGS: the driver needs symbols that match PATTERN; kernels are as in a release
    configure_and_build -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$3"
    undefined "$build/driver" | grep -qE "$2" || fail "$CC $1: the driver is not sanitized"
    local extra
    extra=$(comm -13 <(echo "$usual") <(undefined "$build/kernels"))
    [ -z "$extra" ] || fail "$CC $1: the kernels are sanitized: $extra"
    local size
    size=$(code_size "$build/kernels")
    [ "$size" -le $((usual_size * 11 / 10)) ] ||
        fail "$CC $1: the kernels have $size bytes of code, released $usual_size"
    echo "$CC $1: the driver sanitized, the kernels not"
}

check "-O0, address and undefined" __asan_ "-O0 -fsanitize=address,undefined"
[ "$level" = all ] || exit 0
check "-O0, thread" __tsan_ "-O0 -fsanitize=thread"
if $CC --version | grep -q clang; then
    check "-O0, memory" __msan_ "-O0 -fsanitize=memory"
    check "-O0, fuzzer and address" __sanitizer_cov "-O0 -fsanitize=fuzzer-no-link,address"
fi
