#!/usr/bin/env bash
# pkcs11_module.sh: the PKCS#11 module: beside libcrypto, misuse, sanitizers, valgrind, fuzzing, installed, and in
# unchanged programs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/pkcs11_module.sh [quick|all|fuzz SECONDS]
#
# quick takes one of two sanitizers, by HASHLOOM_SEED. all: both, and 8 threads that each hash more than 4 GiB. fuzz:
# only fuzzing, with libFuzzer; useful inputs stay in build/pkcs11/corpus. HASHLOOM_REQUIRE=1 makes it a failure if a
# program is missing: opensc, gnutls-bin, p11-kit, valgrind, clang, python3-venv, default-jdk-headless.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
level=${1:-quick}
. test/ccache.sh
. test/sample.sh
build=$root/build/pkcs11
CC=${CC:-gcc}

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

skip() {
    [ -z "${HASHLOOM_REQUIRE:-}" ] || fail "$* (HASHLOOM_REQUIRE is set)"
    echo "SKIPPED: pkcs11: $*"
}

include="-Idrop-in/pkcs11 -Icore/include $(pkg-config --cflags p11-kit-1 2>/dev/null || echo -I/usr/include/p11-kit-1)"
if ! echo '#include <p11-kit/pkcs11.h>' | $CC $include -E -x c - >/dev/null 2>&1; then
    skip "p11-kit's header is not installed (libp11-kit-dev): the module was not built"
    exit 0
fi
mkdir -p "$build"
module=$root/build/drop-ins/libhashloom-pkcs11.so
make --silent drop-ins CFLAGS=-Werror
warnings="-std=c11 -g -O1 -Wall -Wextra -Werror $include"
sanitizers="-fsanitize=address,undefined -fno-sanitize-recover=all"

if [ "$level" = fuzz ]; then
    command -v clang >/dev/null || fail "clang is not installed: apt-get install clang"
    clang $warnings -DLIBFUZZER -fsanitize=fuzzer $sanitizers -o "$build/libfuzzer" fuzz/pkcs11.c drop-in/pkcs11/*.c \
        build/drop-ins/core.o -lpthread
    mkdir -p "$build/corpus"
    cd "$build"
    ./libfuzzer -max_total_time="${2:?seconds}" -max_len=2000 -timeout=60 -print_final_stats=1 corpus >fuzz.log 2>&1 ||
        { tail -n 60 fuzz.log; exit 1; }
    grep '^stat::' fuzz.log
    echo "pkcs11: $2 s of fuzzing, no failure"
    exit
fi

test/hardened.sh --protected "$module"
nm -D --defined-only "$module" | awk '{print $NF}' | sort >"$build/exported"
[ "$(grep -c '^C_[A-Z]' "$build/exported")" = 92 ] && ! grep -qv '^C_[A-Z]' "$build/exported" ||
    fail "$module exports not just the 92 functions of PKCS#11 3.0: $build/exported"
if command -v clang >/dev/null; then
    clang -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only $include drop-in/pkcs11/*.c
else
    skip "clang is not installed: the module was compiled by $CC only"
fi

# In one process: with failing allocations, then with sanitizers, then under valgrind.
$CC $warnings -DFAILING_MALLOC -Wl,-z,now -o "$build/test" test/pkcs11_module.c -lcrypto -lpthread -ldl
"$build/test" "$module"
"$build/test" "$module" unload
[ "$level" != all ] || "$build/test" "$module" huge
mapfile -t chosen < <(sample $([ "$level" = all ] && echo 2 || echo 1) "address $sanitizers" "thread -fsanitize=thread")
for each in "${chosen[@]}"; do
    folder=$build/${each%% *}
    mkdir -p "$folder"
    $CC $warnings ${each#* } -fPIC -fvisibility=hidden -shared -o "$folder/module.so" drop-in/pkcs11/*.c \
        build/drop-ins/core.o -lpthread
    $CC $warnings ${each#* } -o "$folder/test" test/pkcs11_module.c -lcrypto -lpthread -ldl
    "$folder/test" "$folder/module.so" quick
    "$folder/test" "$folder/module.so" unload
done
if command -v valgrind >/dev/null; then
    $CC $warnings -o "$build/test-valgrind" test/pkcs11_module.c -lcrypto -lpthread -ldl
    for what in quick unload; do
        valgrind -q --child-silent-after-fork=yes --fair-sched=yes --error-exitcode=9 --leak-check=full \
            --show-leak-kinds=definite --errors-for-leak-kinds=definite "$build/test-valgrind" "$module" $what
    done
else
    skip "valgrind is not installed"
fi
$CC $warnings $sanitizers -o "$build/fuzz" fuzz/pkcs11.c drop-in/pkcs11/*.c build/drop-ins/core.o -lpthread
(cd "$build" && ./fuzz --seconds 5)

# Installed into a folder that other users can read: p11-kit asks root's own folder for nothing.
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
make --silent install-drop-ins DESTDIR="$place" PREFIX=/usr >/dev/null
installed=$(find "$place" -name libhashloom-pkcs11.so)
configuration=$(find "$place" -name hashloom.module)
[ "$place$(sed 's/module: //' "$configuration")" = "$installed" ] || fail "$configuration does not name $installed"
mkdir -p "$place/home/pkcs11/modules"
echo "module: $installed" >"$place/home/pkcs11/modules/hashloom.module"
head -c 300000 "$module" >"$place/file"
chmod -R a+rX "$place"

# Unchanged programs.
hex() {
    od -An -v -tx1 | tr -d ' \n'
}
if command -v pkcs11-tool >/dev/null; then
    tool() {
        pkcs11-tool --module "$installed" "$@" 2>"$build/tool.log" || fail "pkcs11-tool $*: $(cat "$build/tool.log")"
    }
    # Each digest that it lists is that of one of openssl's, and, where it knows the mechanism, by the same name.
    declare -A known
    for name in $(openssl list -digest-commands); do
        known[$(openssl dgst "-$name" -r "$place/file" | cut -d' ' -f1)]=$name
    done
    tool -M >"$build/mechanisms"
    count=0
    for mechanism in $(sed -n 's/^ *\([^ ]*\), digest$/\1/p' "$build/mechanisms"); do
        name=${known[$(tool --hash -m "${mechanism#mechtype-}" -i "$place/file" | hex)]:-}
        plain=$(tr -d - <<<"${name/rmd/ripemd}")
        [ -n "$name" ] && [[ $mechanism = mechtype-* || $(tr -d - <<<"${mechanism,,}") = "$plain" ]] ||
            fail "pkcs11-tool --hash $mechanism is openssl's ${name:-none}"
        count=$((count + 1))
    done
    [ "$count" -ge 13 ] && [ "$(grep -cE 'digest|sign, verify|generate' "$build/mechanisms")" = $((3 * count + 2)) ] ||
        fail "pkcs11-tool -M: $(cat "$build/mechanisms")"
    tool --test >"$build/tool.out"
    grep 'all 4 digest functions seem to work' "$build/tool.out" >/dev/null &&
        grep 'No errors' "$build/tool.out" >/dev/null || fail "pkcs11-tool --test: $(cat "$build/tool.out")"
    tool --test-fork >/dev/null
    [ "$(tool --generate-random 1000 | wc -c)" = 1000 ] || fail "pkcs11-tool --generate-random"
    # Any PIN is right, and no program asks for one. A key of the token ends with the program.
    tool --login -O </dev/null >"$build/tool.out"
    tool --login --pin 1234 --keygen --key-type GENERIC:32 --label x --id 07 >"$build/tool.out"
    grep -q 'Generic secret length 32' "$build/tool.out" && grep -q 'label: *x' "$build/tool.out" ||
        fail "pkcs11-tool --keygen: $(cat "$build/tool.out")"
    tool --keygen --key-type GENERIC:1 --label x >"$build/tool.out"
    grep -q 'Generic secret length 1$' "$build/tool.out" || fail "pkcs11-tool --keygen: $(cat "$build/tool.out")"
    [ -z "$(tool -O)" ] || fail "a key outlives the program"
else
    skip "opensc is not installed: pkcs11-tool"
fi
if command -v p11tool >/dev/null; then
    token='pkcs11:token=hashloom'
    p11tool --provider "$installed" --list-tokens | grep 'Label: hashloom' >/dev/null || fail "p11tool --list-tokens"
    listed=$(p11tool --provider "$installed" --list-mechanisms $token 2>/dev/null | grep -c '^\[0x')
    [ "$listed" -ge 41 ] || fail "p11tool --list-mechanisms: $listed"
    [ "$(p11tool --provider "$installed" --generate-random=16 $token | wc -c)" -ge 16 ] ||
        fail "p11tool --generate-random"
else
    skip "gnutls-bin is not installed: p11tool"
fi
if command -v p11-kit >/dev/null; then
    user=(env "HOME=$place/home" "XDG_CONFIG_HOME=$place/home")
    [ "$(id -u)" != 0 ] || user=(setpriv --reuid=65534 --regid=65534 --clear-groups "${user[@]}")
    "${user[@]}" p11-kit list-modules | grep 'token: hashloom' >/dev/null || fail "p11-kit does not list the module"
    proxy=$(pkg-config --variable=proxy_module p11-kit-1)
    if command -v pkcs11-tool >/dev/null; then
        [ "$("${user[@]}" pkcs11-tool --module "$proxy" --token-label hashloom --hash -m SHA512 -i "$place/file" \
            2>"$build/tool.log" | hex)" = "$(openssl dgst -sha512 -r "$place/file" | cut -d' ' -f1)" ] ||
            fail "through p11-kit's proxy module: $(cat "$build/tool.log")"
    fi
else
    skip "p11-kit is not installed"
fi
if python3 -c 'import ensurepip, venv' 2>/dev/null && { [ -x "$build/venv/bin/python" ] ||
    python3 -m venv "$build/venv"; } && { "$build/venv/bin/python" -c 'import pkcs11' 2>/dev/null ||
    "$build/venv/bin/pip" install --quiet --disable-pip-version-check python-pkcs11==0.10.1; }; then
    "$build/venv/bin/python" test/pkcs11_module.py "$installed"
else
    skip "pip cannot install python-pkcs11: pip needs a network, and venv the package python3-venv"
fi
if command -v javac >/dev/null; then # java runs a source file only where there is a compiler
    java bench/Pkcs11.java "$installed" --check
else
    skip "default-jdk-headless is not installed: SunPKCS11"
fi
make --silent uninstall-drop-ins DESTDIR="$place" PREFIX=/usr
[ -z "$(find "$place/usr" -type f)" ] || fail "make uninstall-drop-ins leaves $(find "$place/usr" -type f)"
echo "pkcs11_module.sh: passed"
