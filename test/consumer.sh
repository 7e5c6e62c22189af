#!/usr/bin/env bash
# Uses hashloom as other projects do: add_subdirectory, find_package and pkg-config, each static and shared.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# consumer.sh [BUILD-FOLDER]     CC names the compiler
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
core=$here/../core
build=${1:-$here/../build/c/consumer}
rm -rf "$build"
mkdir -p "$build"
build=$(cd "$build" && pwd)
prefix=$build/prefix
CC=${CC:-cc}
jobs=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

version=$(sed -n 's/^#define HL_VERSION_[A-Z]* *\([0-9]*\)$/\1/p' "$core/include/hashloom.h" | paste -sd.)

fail() {
    echo "consumer.sh: $*" >&2
    exit 1
}

# runs PROGRAM KIND: the program must work, and be linked as KIND says.
runs() {
    local said
    said=$("$1") || fail "$1 fails: $said"
    [ "$said" = "hashloom $version" ] || fail "$1 says '$said', expected 'hashloom $version'"
    if readelf -d "$1" | grep -q 'NEEDED.*libhashloom'; then
        [ "$2" = shared ] || fail "$1 needs the shared library"
    else
        [ "$2" = static ] || fail "$1 does not need the shared library"
    fi
}

quiet() {
    "$@" >"$build/log" 2>&1 || { cat "$build/log"; fail "failed: $*"; }
}

for kind in static shared; do
    [ $kind = shared ] && flag=ON || flag=OFF
    # Release: the objects are those of the library that is built below.
    quiet cmake -S "$here/consumer" -B "$build/sub-$kind" -DCMAKE_C_COMPILER="$CC" -DCMAKE_BUILD_TYPE=Release \
        -DBUILD_SHARED_LIBS=$flag -DCONSUMER_SOURCE="$core"
    quiet cmake --build "$build/sub-$kind" -j "$jobs"
    runs "$build/sub-$kind/consumer" $kind
    [ "$(find "$build/sub-$kind" -name 'libhashloom.*' -type f | wc -l)" = 1 ] ||
        fail "add_subdirectory, $kind: expected one library"
done
echo "add_subdirectory: static, shared"

quiet cmake -S "$core" -B "$build/lib" -DCMAKE_C_COMPILER="$CC" -DCMAKE_INSTALL_PREFIX="$prefix" \
    -DCMAKE_INSTALL_LIBDIR=lib
quiet cmake --build "$build/lib" -j "$jobs" --target install
soname=$(readelf -d "$prefix/lib/libhashloom.so" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
[ -e "$prefix/lib/$soname" ] || fail "soname '$soname' is not installed"
[ "$(basename "$(readlink -f "$prefix/lib/libhashloom.so")")" = "libhashloom.so.$version" ] ||
    fail "libhashloom.so is not libhashloom.so.$version"

# By the component's name, and by BUILD_SHARED_LIBS alone.
for kind in static shared; do
    [ $kind = shared ] && flag=ON || flag=OFF
    for how in "-DCONSUMER_KIND=$kind" "-DBUILD_SHARED_LIBS=$flag"; do
        quiet cmake -S "$here/consumer" -B "$build/find-$kind" -DCMAKE_C_COMPILER="$CC" \
            -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_VERSION="${version%.*}" "$how"
        quiet cmake --build "$build/find-$kind"
        runs "$build/find-$kind/consumer" $kind
        rm -r "$build/find-$kind"
    done
done
if cmake -S "$here/consumer" -B "$build/find-newer" -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_VERSION=99.0 \
    >"$build/log" 2>&1; then
    fail "find_package(hashloom 99.0) succeeded"
fi
echo "find_package: static, shared; a newer version is refused"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
[ "$(pkg-config --modversion hashloom)" = "$version" ] || fail "pkg-config says $(pkg-config --modversion hashloom)"
# shellcheck disable=SC2046
quiet $CC -o "$build/pc-shared" "$here/consumer/main.c" $(pkg-config --cflags --libs hashloom) "-Wl,-rpath,$prefix/lib"
runs "$build/pc-shared" shared
# shellcheck disable=SC2046
quiet $CC -o "$build/pc-static" "$here/consumer/main.c" $(pkg-config --cflags hashloom) \
    -Wl,-Bstatic $(pkg-config --static --libs hashloom) -Wl,-Bdynamic
runs "$build/pc-static" static
echo "pkg-config: static, shared"

quiet $CC -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c "$prefix/include/hashloom.h"
quiet c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -x c++ "$prefix/include/hashloom.h"
echo "the header compiles as C11 and C++11"
