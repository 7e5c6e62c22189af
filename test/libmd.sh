#!/usr/bin/env bash
# libmd.sh: our libmd beside Debian's. One program, compiled unchanged with each, prints the same, also when our library
# is preloaded into the one linked with theirs. The same holds for mtree, a NetBSD program that uses libmd.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/libmd.sh [quick|all]       all: files over 4 GiB
#
# HASHLOOM_REQUIRE=1 makes it a failure if libmd-dev or mtree-netbsd is not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
level=${1:-quick}
build=$root/build/libmd
CC=${CC:-gcc}
# Shows headers that are not plain C.
warnings="-std=c11 -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -Wall -Wextra -Wpedantic -Werror"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

skip() {
    [ -z "${HASHLOOM_REQUIRE:-}" ] || fail "$* (HASHLOOM_REQUIRE is set)"
    echo "skipped: $*"
}

mkdir -p "$build"
cmake -S libmd -B "$build/cmake" -DCMAKE_C_COMPILER="$CC" -DCMAKE_INSTALL_PREFIX="$build/installed" \
    -DCMAKE_INSTALL_LIBDIR=lib
cmake --build "$build/cmake" -j "${JOBS:-$(getconf _NPROCESSORS_ONLN)}"
cmake --install "$build/cmake" >/dev/null
export PKG_CONFIG_PATH=$build/installed/lib/pkgconfig
library=$build/installed/lib/libhashloom-md.so

# The library exports exactly the names of the headers.
grep -hoE '\b(SHA|RMD|MD)[0-9_]+[A-Z][A-Za-z]*\(' libmd/include/{md5,sha1,sha2,rmd160}.h | tr -d '(' | sort -u >"$build/header"
test/hardened.sh --protected "$library"
nm -D --defined-only "$library" | awk '{print $NF}' | sort -u >"$build/exported"
diff "$build/header" "$build/exported" || fail "the headers (<) and $library (>) differ"
[ "$(wc -l <"$build/exported")" = 72 ] || fail "$(wc -l <"$build/exported") names, expected 9 of 8 algorithms"

# Each header on its own, in C and in C++.
for header in md5 sha sha1 sha2 sha256 sha512 rmd160; do
    for language in "$CC -std=c11 -x c" "c++ -x c++"; do
        echo "#include <$header.h>" | $language -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Ilibmd/include -
    done
done
# shellcheck disable=SC2046
$CC $warnings test/libmd.c -o "$build/ours" $(pkg-config --cflags --libs hashloom-md) -Wl,-rpath,"$build/installed/lib"
# shellcheck disable=SC2046
$CC $warnings test/libmd.c -o "$build/ours-static" $(pkg-config --cflags hashloom-md) \
    "$build/installed/lib/libhashloom-md.a" "$build/installed/lib/libhashloom.a"
files=$build/files
rm -rf "$files" && mkdir "$files"
"$build/ours" "$files" >"$build/ours.txt"
rm -rf "$files" && mkdir "$files"
"$build/ours-static" "$files" | cmp - "$build/ours.txt" || fail "the static and the shared library differ"

# Against programs of other authors: SHA-224, which Debian 12's libmd lacks, and files without a known size.
cat >"$build/file.c" <<'END'
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv)
{
    char hex[SHA512_DIGEST_STRING_LENGTH];
    const off_t at = argc > 3 ? atoll(argv[3]) : 0, n = argc > 4 ? atoll(argv[4]) : 0;
    char *(*const f)(const char *, char *, off_t, off_t) = strcmp(argv[1], "sha224") == 0 ? SHA224FileChunk
                                                           : strcmp(argv[1], "sha512-256") == 0
                                                               ? SHA512_256FileChunk
                                                               : SHA256FileChunk;
    puts(f(argv[2], hex, at, n) == NULL ? "NULL" : hex);
    return 0;
}
END
# shellcheck disable=SC2046
$CC $warnings "$build/file.c" -o "$build/file" $(pkg-config --cflags --libs hashloom-md) \
    -Wl,-rpath,"$build/installed/lib"
same() { # EXPECTED ARGUMENTS...
    local expected=$1 found
    shift
    found=$("$build/file" "$@")
    [ "$found" = "$expected" ] || fail "file $*: expected $expected, found $found"
}
digest() { # ALGORITHM: digest of standard input
    openssl dgst "-$1" | sed 's/.* //'
}
for algorithm in sha224 sha512-256 sha256; do
    for at in 0 1 70000; do
        for n in 0 1 30000 200000; do
            # 0 means all. The last cat reads the rest, so that SIGPIPE does not end tail.
            part="head -c $n"
            [ "$n" != 0 ] || part=cat
            expected=$(tail -c +$((at + 1)) "$files/big" | { $part | digest $algorithm; cat >/dev/null; })
            same "$expected" $algorithm "$files/big" $at $n
        done
    done
done
same "$(digest sha256 </proc/version)" sha256 /proc/version     # its reported size is 0
same "$(digest sha256 <"$files/big")" sha256 "$files/big" -5 -5 # sha1(3): negative numbers are ignored
same "$(printf hello | digest sha256)" sha256 /dev/stdin < <(printf hello)
same NULL sha256 "$files"
same NULL sha256 "$files/none"
if [ "$level" = all ]; then
    truncate -s $(((1 << 32) + 1000)) "$files/huge"
    printf end >>"$files/huge"
    same "$(digest sha256 <"$files/huge")" sha256 "$files/huge"
    same "$(printf end | digest sha256)" sha256 "$files/huge" $(((1 << 32) + 1000))
    rm "$files/huge"
fi

if ! echo '#include <sha2.h>' | $CC -E -x c - >/dev/null 2>&1; then
    skip "libmd-dev is not installed: our libmd was not compared with it"
    exit 0
fi
$CC $warnings test/libmd.c -o "$build/theirs" -lmd
rm -rf "$files" && mkdir "$files"
"$build/theirs" "$files" >"$build/theirs.txt"
rm -rf "$files" && mkdir "$files"
grep -q '^SHA224 ' "$build/theirs.txt" || export LIBMD_WITHOUT_SHA224=1
"$build/ours" "$files" >"$build/ours.txt"
diff "$build/theirs.txt" "$build/ours.txt" >"$build/diff" ||
    fail "Debian's libmd (<) and ours (>) differ: $(head -n 20 "$build/diff")"
lines=$(wc -l <"$build/ours.txt")
[ "$lines" -gt 50000 ] || fail "only $lines lines were compared"

# Compiled with their headers, linked with their library, run with ours: every call must have gone to ours.
bound_to_ours() { # LOG NAME...
    local log=$1 name
    shift
    for name in "$@"; do
        grep -qE "to $library.*\`$name'" "$log" || fail "$name was not bound to $library"
    done
    ! grep -E "to .*/libmd\.so.*\`(SHA|RMD|MD5)" "$log" || fail "a call went to Debian's libmd"
}
rm -rf "$files" && mkdir "$files"
LD_PRELOAD=$library LD_DEBUG=bindings LD_DEBUG_OUTPUT=$build/bindings "$build/theirs" "$files" >"$build/preloaded.txt"
cmp "$build/theirs.txt" "$build/preloaded.txt" ||
    fail "their program with our library preloaded prints something else"
cat "$build"/bindings.* >"$build/bound" && rm -f "$build"/bindings.*
# shellcheck disable=SC2046
bound_to_ours "$build/bound" $(grep -vE '^SHA(224|512_256)|File$' "$build/header")

# mtree (NetBSD's, in Debian) writes and checks specifications of directories with libmd's digests.
if command -v mtree >/dev/null; then
    keywords=size,md5,sha1,sha256,sha384,sha512,rmd160
    mtree -c -K $keywords -p vectors | grep -v '^#' >"$build/mtree.theirs"
    LD_PRELOAD=$library LD_DEBUG=bindings LD_DEBUG_OUTPUT=$build/bindings \
        mtree -c -K $keywords -p vectors | grep -v '^#' >"$build/mtree.ours"
    cat "$build"/bindings.* >"$build/bound" && rm -f "$build"/bindings.*
    bound_to_ours "$build/bound" MD5File SHA1File SHA256File SHA384File SHA512File RMD160File
    cmp "$build/mtree.theirs" "$build/mtree.ours" || fail "mtree prints something else with our library"
    LD_PRELOAD=$library mtree -f "$build/mtree.theirs" -p vectors || fail "mtree finds its own digests wrong"
    [ "$(grep -c sha512= "$build/mtree.ours")" -gt 50 ] || fail "mtree hashed too few files"
else
    skip "mtree-netbsd is not installed: no third-party program was run with our libmd"
fi
echo "$lines lines equal"
