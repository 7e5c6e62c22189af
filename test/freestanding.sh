#!/usr/bin/env bash
# Proves from the symbols that the core is freestanding: it needs only memcpy and memset, exports only hl_ names, and
# keeps one word between calls, and answers that follow from it. The one exception: on aarch64 with Linux it asks
# getauxval for the CPU's features, unless compiled with -ffreestanding.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# freestanding.sh [quick|all] [BUILD-FOLDER]     CC names the compiler or cross compiler
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
core=$(cd "$here/../core" && pwd)
CC=${CC:-cc}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}
level=${1:-all}
build=${2:-$here/../build/c/freestanding}
rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)

fail() {
    echo "freestanding.sh: $CC $flags: $*" >&2
    exit 1
}

# The binutils of the compiler's target.
nm() { command "$($CC -print-prog-name=nm)" "$@"; }

# Some distributions' compilers turn these on; the calls that they add are not part of the core.
plain="-fno-stack-protector -U_FORTIFY_SOURCE"

# quick: one set of flags for each compiler.
case $level$($CC --version) in
quick*clang*) all_flags=("-O2 -ffreestanding") ;;
quick*) all_flags=(-O2) ;;
*) all_flags=("-O2 -fPIC" "-O2 -ffreestanding" -O2 -O3 -Os) ;;
esac

nbodies=$(grep -c '^BLOCK_FUNCTION(' "$core/src/algorithms.def")

for flags in "${all_flags[@]}"; do
    rm -f "$build"/*.o
    for file in "$core"/src/*.c "$core"/src/*/*.c; do
        printf '%s\0' "$file" -o "$build/$(basename "$(dirname "$file")")-$(basename "$file" .c).o"
    done | xargs -0 -n 3 -P "$jobs" $CC $flags $plain -std=c11 -Wall -Wextra -Wpedantic -Werror \
        -I"$core/include" -c
    # The compiler links, not ld: it knows the right linker and target.
    $CC -r -nostdlib -o "$build/core.o" "$build"/*-*.o

    allowed=(-e memcpy -e memset -e _GLOBAL_OFFSET_TABLE_ -e .TOC.)
    case "$($CC -dumpmachine) $flags" in
    *-ffreestanding) ;;
    aarch64*-linux*) allowed+=(-e getauxval) ;;
    esac
    # 32-bit Arm before version 7VE cannot divide. Its run-time ABI has calls for division, which every compiler brings.
    case $($CC -dumpmachine) in
    arm*) allowed+=(-e __aeabi_uidiv -e __aeabi_uidivmod) ;;
    esac
    needed=$(nm -u "$build/core.o" | awk '{print $NF}' | grep -vx "${allowed[@]}" || true)
    [ -z "$needed" ] || fail "the core needs more than memcpy and memset:" $needed

    # Global names: hl_ is public; hli_ is shared between files, and hidden. (By __x86.get_pc_thunk i386 finds its data
    # in position independent code.)
    names='hli?_[a-z0-9_]+|__x86\.get_pc_thunk\.[a-z]+'
    odd=$(nm -g --defined-only "$build/core.o" | awk '{print $NF}' | grep -Evx "$names" || true)
    [ -z "$odd" ] || fail "global names of an unknown kind:" $odd
    visible=$(readelf -sW "$build/core.o" | awk '$5 == "GLOBAL" && $6 != "HIDDEN" && !/ UND / {print $NF}' |
        grep -v '^hl_' || true)
    [ -z "$visible" ] || fail "internal names that are not hidden:" $visible
    hidden=$(readelf -sW "$build/core.o" | awk '$5 == "GLOBAL" && $6 == "HIDDEN" {print $NF}' | grep '^hl_' || true)
    [ -z "$hidden" ] || fail "public names that are hidden:" $hidden

    # The library has every name of the header, and no other.
    grep -E '^HL_(API|CALL)' "$core/include/hashloom.h" | grep -oE '\bhl_[a-z0-9_]+\(' | tr -d '(' |
        sort -u >"$build/header"
    nm -g --defined-only "$build/core.o" | awk '{print $NF}' | grep '^hl_' | sort -u >"$build/defined"
    diff "$build/header" "$build/defined" >"$build/diff" ||
        fail "header (<) and library (>) differ: $(cat "$build/diff")"

    # Writable memory: a word, the choices for few messages of each body, and on x86 what the last calls have saved
    # (plan.c), with up to 12 bytes before them (.data.rel.ro holds pointers, and is read-only once the program is
    # loaded).
    expected=$((4 + nbodies * 16 * 17 * 4 + ($(nm "$build/core.o" | grep -c ' last_ticks$') * 8)))
    writable=$(size -A -d "$build/core.o" |
        awk '$1 ~ /^\.(data|bss|tdata|tbss)/ && $1 !~ /^\.data\.rel\.ro/ {n += $2} END {print n + 0}')
    [ "$writable" -ge $expected ] && [ "$writable" -le $((expected + 12)) ] ||
        fail "$writable bytes of writable memory, expected $expected: $(nm "$build/core.o" | grep -i ' [bdc] ')"
    ro_written=$(nm "$build/core.o" | awk '$2 ~ /[bBC]/ {print $3}' |
        grep -vxE 'choice|hli_answers|last_ticks|saved|[.$].*' || true)
    [ -z "$ro_written" ] || fail "globals other than the choices:" $ro_written
    needed=$(nm -u "$build/core.o" | awk '{print $NF}' | grep -v ^_ | paste -sd' ' || true)
    echo "$CC $flags: needs ${needed:-nothing}; $(wc -l <"$build/defined") public names; $writable writable bytes"
done

# The shared library as released.
flags=shared
{ cmake -S "$core" -B "$build/cmake" -DCMAKE_C_COMPILER="$CC" -DHASHLOOM_BUILD_STATIC=OFF &&
    cmake --build "$build/cmake" -j "$jobs"; } >"$build/log" 2>&1 || { cat "$build/log"; fail "does not build"; }
nm -D --defined-only "$build/cmake/libhashloom.so" | awk '{print $NF}' | sort -u >"$build/exported"
diff "$build/header" "$build/exported" >"$build/diff" ||
    fail "header (<) and libhashloom.so (>) differ: $(cat "$build/diff")"
"$here/hardened.sh" "$build/cmake/libhashloom.so"
echo "$CC libhashloom.so: exports exactly the names of hashloom.h"
