#!/usr/bin/env bash
# libmd.sh: our libmd beside Debian's. One program, compiled unchanged with each, prints the same, also when our library
# is preloaded into the one linked with theirs. abidiff finds no function missing; libmd's own tests pass; mtree, dpkg
# and debsums run with ours in the place of theirs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/libmd.sh [quick|all]       all: files over 4 GiB
#
# libmd's own tests: tools/libmd_tests.sh gets them. HASHLOOM_REQUIRE=1 makes it a failure if something is missing.
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
    echo "SKIPPED: $*"
}

mkdir -p "$build"
cmake -S libmd -B "$build/cmake" -DCMAKE_C_COMPILER="$CC" -DCMAKE_INSTALL_PREFIX="$build/installed" \
    -DCMAKE_INSTALL_LIBDIR=lib
cmake --build "$build/cmake" -j "${JOBS:-$(getconf _NPROCESSORS_ONLN)}"
cmake --install "$build/cmake" >/dev/null
export PKG_CONFIG_PATH=$build/installed/lib/pkgconfig
library=$build/installed/lib/libhashloom-md.so
system=$build/installed/lib/hashloom-md # libmd.so.0

# The libraries export exactly the names of the headers, and one that libmd has in no header.
{
    grep -hoE '\b(SHAKE|SHA|RMD|MD)[0-9_]+[A-Z][A-Za-z]*\(' libmd/include/{md2,md4,md5,sha1,sha2,sha3,rmd160}.h |
        tr -d '('
    echo MD2Transform
} | sort -u >"$build/header"
for each in "$library" "$system/libmd.so.0"; do
    test/hardened.sh --protected "$each"
    nm -D --defined-only --with-symbol-versions "$each" | awk '$2 == "T" {print $3}' | sort -u >"$build/exported"
    sed 's/@.*//' "$build/exported" | sort | diff "$build/header" - || fail "the headers (<) and $each (>) differ"
done
[ "$(wc -l <"$build/exported")" = 108 ] ||
    fail "$(wc -l <"$build/exported") names, expected 9 of 9 algorithms, 8 of MD2, 3 of 6 and SHA3_Selftest"

# Each header on its own, in C and in C++.
for header in md2 md4 md5 ripemd rmd160 sha sha1 sha2 sha256 sha3 sha512; do
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

# SHA-3 by Python, over the same bytes.
python3 - "$build/ours.txt" <<'END' || fail "SHA-3 and SHAKE are not Python's"
import hashlib
import sys

x, message = 1, bytearray()
for _ in range(700):
    x = (x * 1664525 + 1013904223) % 2**32
    message.append(x >> 24)
names, count = {"SHAKE128": "shake_128", "SHAKE256": "shake_256"}, 0
for line in open(sys.argv[1]):
    name, *rest = line.split()
    if name == "SHA3_Selftest":
        assert rest == ["0"], line
    elif name.startswith("SHA3_") or name in names:
        n = int(rest[0])
        digest = hashlib.new(names.get(name, name.lower()), message[:n])
        expected = digest.hexdigest(n) if name in names else digest.hexdigest()
        assert expected == "".join(rest[1:]), (expected, line)
        count += 1
assert count == 6 * 700, count
END

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

# libmd's own tests, as they are.
tests=$root/build/libmd-tests
if [ -e "$tests/md2.c" ]; then
    for file in "$tests"/*.c; do
        name=$(basename "$file" .c)
        # shellcheck disable=SC2046
        $CC -D_GNU_SOURCE -I"$tests" "$file" -o "$build/test-$name" $(pkg-config --cflags --libs hashloom-md) \
            -Wl,-rpath,"$build/installed/lib"
        "$build/test-$name" || fail "libmd's own test $name"
    done
    [ "$(find "$tests" -name '*.c' | wc -l)" -ge 6 ] || fail "$tests has fewer than the 6 programs of libmd 1.0"
else
    skip "libmd: its own tests are not in $tests: run tools/libmd_tests.sh"
fi

if ! echo '#include <sha2.h>' | $CC -E -x c - >/dev/null 2>&1; then
    skip "libmd: libmd-dev is not installed: our library was not compared with it"
    exit 0
fi
$CC $warnings test/libmd.c -o "$build/theirs" -lmd
rm -rf "$files" && mkdir "$files"
"$build/theirs" "$files" >"$build/theirs.txt"
rm -rf "$files" && mkdir "$files"
grep -q '^SHA224 ' "$build/theirs.txt" || export LIBMD_WITHOUT_SHA224=1
grep -q '^SHA3_224 ' "$build/theirs.txt" || export LIBMD_WITHOUT_SHA3=1
"$build/ours" "$files" >"$build/ours.txt"
diff "$build/theirs.txt" "$build/ours.txt" >"$build/diff" ||
    fail "Debian's libmd (<) and ours (>) differ: $(head -n 20 "$build/diff")"
lines=$(wc -l <"$build/ours.txt")
[ "$lines" -gt 70000 ] || fail "only $lines lines were compared"

# Compiled with their headers, linked with their library, run with ours: every call must have gone to ours.
bound_to() { # LIBRARY LOG NAME...
    local by=$1 log=$2 name
    for name in "${@:3}"; do
        grep -qE "to $by.*\`$name'" "$log" || fail "$name was not bound to $by"
    done
    ! grep -E "to (/usr)?/lib/.*\`(SHA|RMD|MD)[0-9]" "$log" || fail "a call went to Debian's libmd"
}
rm -rf "$files" && mkdir "$files"
LD_PRELOAD=$library LD_DEBUG=bindings LD_DEBUG_OUTPUT=$build/bindings "$build/theirs" "$files" >"$build/preloaded.txt"
cmp "$build/theirs.txt" "$build/preloaded.txt" ||
    fail "their program with our library preloaded prints something else"
cat "$build"/bindings.* >"$build/bound" && rm -f "$build"/bindings.*
# shellcheck disable=SC2046
bound_to "$library" "$build/bound" $(grep -vE '^SHA(224|512_256|3_|KE)|File$' "$build/header")

# What a linker and a loader see of libmd.so.0: its name, its functions and their versions. Ours may have more.
theirs=$(ldd "$build/theirs" | sed -n 's/.*libmd\.so\.0 => \([^ ]*\).*/\1/p')
nm -D --defined-only --with-symbol-versions "$theirs" | awk '{print $3}' | sort >"$build/symbols.theirs"
nm -D --defined-only --with-symbol-versions "$system/libmd.so.0" | awk '{print $3}' | sort >"$build/symbols.ours"
lacking=$(comm -23 "$build/symbols.theirs" "$build/symbols.ours")
[ -z "$lacking" ] || fail "$system/libmd.so.0 has no $lacking, which $theirs has"
[ "$(wc -l <"$build/symbols.theirs")" -gt 70 ] || fail "$theirs has too few functions"
if command -v abidiff >/dev/null; then
    abidiff --no-added-syms "$theirs" "$system/libmd.so.0" || fail "abidiff finds that $theirs and ours differ"
else
    skip "libmd: abidiff (Debian: abigail-tools) is not installed: only the names of symbols were compared"
fi

# Programs that were linked with Debian's libmd.so.0, with ours in its place.
with_ours() { # COMMAND...
    rm -f "$build"/bindings.*
    LD_LIBRARY_PATH=$system LD_DEBUG=bindings LD_DEBUG_OUTPUT=$build/bindings "$@" 2>"$build/errors" || return
    ! grep 'version information' "$build/errors" || fail "$1 finds no versions in our library"
    cat "$build"/bindings.* >"$build/bound"
}

# mtree (NetBSD's, in Debian) writes and checks specifications of directories.
if command -v mtree >/dev/null; then
    keywords=size,md5,sha1,sha256,sha384,sha512,rmd160
    mtree -c -K $keywords -p vectors | grep -v '^#' >"$build/mtree.theirs"
    with_ours mtree -c -K $keywords -p vectors | grep -v '^#' >"$build/mtree.ours"
    bound_to "$system/libmd.so.0" "$build/bound" MD5File SHA1File SHA256File SHA384File SHA512File RMD160File
    cmp "$build/mtree.theirs" "$build/mtree.ours" || fail "mtree prints something else with our library"
    with_ours mtree -f "$build/mtree.theirs" -p vectors || fail "mtree finds its own digests wrong"
    [ "$(grep -c sha512= "$build/mtree.ours")" -gt 50 ] || fail "mtree hashed too few files"
else
    skip "libmd: mtree-netbsd is not installed: mtree was not run with our library"
fi

# dpkg hashes what it unpacks and verifies; debsums asks dpkg. The package is our own, and goes into a folder.
if ! command -v dpkg-deb >/dev/null || ! ldd "$(command -v dpkg)" | grep libmd >/dev/null; then
    skip "libmd: dpkg is not installed, or was built without libmd: dpkg was not run with our library"
else
    package=$build/package
    rm -rf "$package" "$build/root"
    mkdir -p "$package/DEBIAN" "$package/usr/share/a" "$package/etc" "$build/root/var/lib/dpkg"/{info,updates}
    touch "$build/root/var/lib/dpkg"/{status,available}
    cp core/src/*.c "$package/usr/share/a/"
    echo setting >"$package/etc/a.conf"
    echo /etc/a.conf >"$package/DEBIAN/conffiles"
    printf '%s\n' 'Package: a' 'Version: 1' 'Architecture: all' 'Maintainer: a <a@example.org>' 'Description: a' \
        >"$package/DEBIAN/control"
    (cd "$package" && md5sum usr/share/a/*) >"$package/DEBIAN/md5sums"
    dpkg-deb --root-owner-group -Zgzip --build "$package" "$build/a.deb" >/dev/null
    run_dpkg() { # OPTION...
        with_ours dpkg --root="$build/root" --force-not-root --log="$build/dpkg.log" "$@" >"$build/dpkg.txt" ||
            fail "dpkg $* with our library: $(cat "$build/dpkg.txt" "$build/errors")"
        bound_to "$system/libmd.so.0" "$build/bound" MD5Init MD5Update MD5Final
    }
    run_dpkg --install "$build/a.deb"
    grep -q " /etc/a.conf $(echo setting | md5sum | cut -d' ' -f1)$" "$build/root/var/lib/dpkg/status" ||
        fail "dpkg wrote another digest of /etc/a.conf"
    run_dpkg --verify a
    [ ! -s "$build/dpkg.txt" ] || fail "dpkg --verify with our library: $(cat "$build/dpkg.txt")"
    if command -v debsums >/dev/null; then
        with_ours debsums --root="$build/root" a >"$build/debsums.txt" &&
            [ "$(grep -c ' OK$' "$build/debsums.txt")" = "$(wc -l <"$package/DEBIAN/md5sums")" ] ||
            fail "debsums with our library: $(cat "$build/debsums.txt" "$build/errors")"
    else
        skip "libmd: debsums is not installed: debsums was not run with our library"
    fi
    changed=$(basename "$(find "$build/root/usr/share/a" -type f | head -n 1)")
    echo more >>"$build/root/usr/share/a/$changed"
    run_dpkg --verify a
    grep -q "^??5.* /usr/share/a/$changed$" "$build/dpkg.txt" || fail "dpkg --verify does not see a changed file"
fi
echo "$lines lines equal"
