#!/usr/bin/env bash
# openssl_provider.sh: the OpenSSL provider: beside the default provider, installed, and in unchanged programs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/openssl_provider.sh [quick|all]
#
# quick takes one of two sanitizers, by HASHLOOM_SEED. HASHLOOM_REQUIRE=1 makes it a failure if OpenSSL's headers, curl
# or valgrind are not installed.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
. test/ccache.sh
. test/sample.sh
build=$root/build/openssl-provider
CC=${CC:-gcc}

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

skip() {
    [ -z "${HASHLOOM_REQUIRE:-}" ] || fail "$* (HASHLOOM_REQUIRE is set)"
    echo "skipped: $*"
}

if ! echo '#include <openssl/core_dispatch.h>' | $CC -E -x c - >/dev/null 2>&1; then
    skip "OpenSSL 3's headers are not installed (libssl-dev): the provider was not built"
    exit 0
fi
rm -rf "$build"
mkdir -p "$build"
module=$root/build/drop-ins/hashloom.so
make --silent drop-ins CFLAGS=-Werror
[ "$(nm -D --defined-only "$module" | awk '{print $NF}')" = OSSL_provider_init ] ||
    fail "$module exports more than OSSL_provider_init"
test/hardened.sh --protected "$module"
if command -v clang >/dev/null; then
    clang -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -Icore/include drop-in/openssl/*.c
else
    skip "clang is not installed: the provider was compiled by $CC only"
fi

# One process, both providers; then with sanitizers, then under valgrind.
warnings="-std=c11 -g -Wall -Wextra -Werror"
$CC $warnings -O1 -o "$build/test" test/openssl_provider.c -lcrypto -lpthread -ldl
"$build/test" "$module"
mapfile -t chosen < <(sample $([ "${1:-all}" = all ] && echo 2 || echo 1) address,undefined thread)
for sanitizers in "${chosen[@]}"; do
    folder=$build/${sanitizers%,*}
    mkdir "$folder"
    flags="$warnings -O1 -fsanitize=$sanitizers -fno-sanitize-recover=all"
    $CC $flags -fPIC -fvisibility=hidden -shared -Icore/include -o "$folder/hashloom.so" drop-in/openssl/*.c \
        build/drop-ins/core.o -lcrypto
    $CC $flags -o "$folder/test" test/openssl_provider.c -lcrypto -lpthread -ldl
    "$folder/test" "$folder/hashloom.so" 30
done
if command -v valgrind >/dev/null; then
    valgrind -q --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite "$build/test" "$module" 3
else
    skip "valgrind is not installed"
fi

# Installed into a folder: the module, and the configuration that the documentation names.
make --silent install-drop-ins DESTDIR="$build/root" PREFIX=/usr
installed=$(find "$build/root" -name hashloom.so)
[[ $installed == "$build/root$(openssl version -m | sed 's/.*"\(.*\)"/\1/')/hashloom.so" ]] ||
    fail "installed as $installed, which is not OpenSSL's folder of modules: $(openssl version -m)"
conf=$(find "$build/root" -name hashloom.cnf)
[ -f "$conf" ] || fail "hashloom.cnf was not installed"
OPENSSL_MODULES=$(dirname "$installed") OPENSSL_CONF=$conf openssl list -providers | grep 'name: hashloom' >/dev/null ||
    fail "openssl does not list the provider"
OPENSSL_MODULES=$(dirname "$installed") openssl list -digest-algorithms -provider hashloom |
    grep 'SHA2-256.*@ hashloom' >/dev/null || fail "openssl does not list the provider's digests"

# A digest whose kernel is slower than OpenSSL's is not offered, unless the configuration says so.
offers() { # CONFIGURATION: whether the provider in $build/slower has SHA-256
    OPENSSL_MODULES=$build/slower OPENSSL_CONF=$1 openssl list -digest-algorithms | grep 'SHA256.*@ hashloom' >/dev/null
}
mkdir "$build/slower"
kernels=$(printf '"sha256_blocks_%s",' scalar sse2_x1 avx_x1 avx2_x1 sha_x1)
$CC $warnings -O1 -fPIC -fvisibility=hidden -shared -Icore/include "-DSLOWER_KERNELS=${kernels%,}" \
    -o "$build/slower/hashloom.so" drop-in/openssl/*.c build/drop-ins/core.o -lcrypto
for value in all faster some; do
    sed "s/^\[hashloom_sect\]/&\noffer = $value/" "$conf" >"$build/$value.cnf"
done
! offers "$conf" && ! offers "$build/faster.cnf" || fail "a slower digest is offered"
offers "$build/all.cnf" || fail "offer = all does not offer a slower digest"
! OPENSSL_MODULES=$build/slower OPENSSL_CONF=$build/some.cnf openssl list -providers |
    grep 'name: hashloom' >/dev/null || fail "offer = some is accepted"

# Unchanged programs, with nothing but a configuration. A module in front of ours notes what they use.
mkdir "$build/traced"
$CC $warnings -fPIC -shared -o "$build/traced/hashloom.so" test/openssl_trace.c -ldl
export OPENSSL_CONF=$build/all.cnf HASHLOOM_MODULE=$module HASHLOOM_TRACE=$build/trace
head -c 300000 "$module" >"$build/file"
hex() { # what openssl says without hashloom
    OPENSSL_CONF=/dev/null openssl "$@" <"$build/file" | sed 's/.*= //' | tr A-F a-f
}
uses() { # EXPECTED ALGORITHMS COMMAND...: the command prints EXPECTED, and begins these algorithms of ours
    local expected=$1 algorithms=$2 found name
    shift 2
    rm -f "$HASHLOOM_TRACE"
    found=$(OPENSSL_MODULES=$build/traced "$@" | sed 's/.*= //' | tr A-F a-f)
    [ "$found" = "$expected" ] || fail "$*: expected $expected, found $found"
    for name in $algorithms; do
        grep -qE "(^|:)$name(:|\$)" "$HASHLOOM_TRACE" || fail "$* did not use $name of hashloom"
    done
}
# Each digest by each of its names, as openssl lists them: { OID, NAME, NAME } @ hashloom
count=0
while read -r names; do
    for name in $names; do
        options=()
        [[ $name != SHAKE* ]] || options=(-xoflen 99)
        [ -n "$(hex dgst "-$name" "${options[@]}" 2>/dev/null)" ] || {
            echo "not compared: $name: the default provider of $(openssl version) lacks it"
            continue
        }
        uses "$(hex dgst "-$name" "${options[@]}")" "$name" openssl dgst "-$name" "${options[@]}" "$build/file"
        count=$((count + 1))
    done
done < <(OPENSSL_MODULES=$(dirname "$module") openssl list -digest-algorithms -provider hashloom |
    sed -n 's/[{},]//g; s/ @ hashloom$//p' | sed 's/[0-9]*\.[0-9.]*[0-9]//')
[ "$count" -ge 15 ] || fail "openssl lists $count names of hashloom's digests"
uses "$(hex dgst -sha256 -hmac key)" HMAC openssl dgst -sha256 -hmac key "$build/file"
for digest in SHA256 SHA3-256 SM3; do
    uses "$(hex mac -digest $digest -macopt key:secret HMAC)" HMAC \
        openssl mac -digest $digest -macopt key:secret -in "$build/file" HMAC
done
uses "$(hex dgst -sm3)" "" openssl dgst -sm3 "$build/file"
for digest in SHA1 SHA512 SM3; do # a digest that is not ours is left to the default provider
    options=(-keylen 77 -kdfopt digest:$digest -kdfopt pass:secret -kdfopt salt:saltsaltsaltsalt -kdfopt iter:999
        PBKDF2)
    uses "$(hex kdf "${options[@]}" | tr -d :)" PBKDF2 bash -c 'openssl kdf "$@" | tr -d :' - "${options[@]}"
done

# Python's hashlib. Some builds of Python have hash functions of their own besides: _hashlib is the one over OpenSSL.
for python in /usr/bin/python3 python3; do
    "$python" -c 'import _hashlib' 2>/dev/null || { skip "$python has no hashlib over OpenSSL"; continue; }
    uses "$(hex dgst -sha1) $(hex dgst -sha512)" "SHA1 SHA2-512" "$python" -c 'import hashlib, sys
data = open(sys.argv[1], "rb").read()
print(hashlib.sha1(data).hexdigest(), hashlib.sha512(data).hexdigest())' "$build/file"
    uses "$(hex dgst -sha3-256) $(hex dgst -shake128 -xoflen 500)" "SHA3-256 SHAKE128" "$python" -c 'import hashlib, sys
data = open(sys.argv[1], "rb").read()
print(hashlib.sha3_256(data).hexdigest(), hashlib.shake_128(data).hexdigest(500))' "$build/file"
    uses "$(hex dgst -sha256 -hmac key)" HMAC "$python" -c 'import _hashlib, sys
print(_hashlib.hmac_digest(b"key", open(sys.argv[1], "rb").read(), "sha256").hex())' "$build/file"
    uses "$(hex kdf -keylen 32 -kdfopt digest:SHA256 -kdfopt pass:secret -kdfopt salt:salt -kdfopt iter:5000 PBKDF2 |
        tr -d :)" PBKDF2 "$python" -c 'import hashlib
print(hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", 5000).hex())'
done

# TLS with a server of OpenSSL, which has hashloom or only the default provider: version 1.3, and 1.2 with CBC, the MAC
# after the padding or (-no_etm) before it.
if ! command -v curl >/dev/null || ! curl --version | grep OpenSSL >/dev/null; then
    skip "curl over OpenSSL is not installed"
else
    OPENSSL_MODULES=$build/traced openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost -config /dev/stdin -keyout "$build/key" -out "$build/cert" \
        2>"$build/req.log" <<<$'[req]\ndistinguished_name=name\n[name]' || fail "openssl req: $(cat "$build/req.log")"
    server=
    trap 'kill $server 2>/dev/null || true' EXIT
    tls() { # SERVER_CONFIGURATION ALGORITHMS SERVER_OPTIONS... -- CURL_OPTIONS...
        local configuration=$1 algorithms=$2 options=() port=
        shift 2
        while [ "$1" != -- ]; do options+=("$1"); shift; done
        shift
        : >"$build/server.log"
        (cd "$build" && OPENSSL_CONF=$configuration OPENSSL_MODULES=$root/build/drop-ins exec openssl s_server \
            -accept 127.0.0.1:0 -cert cert -key key -WWW "${options[@]}" >server.log 2>&1) &
        server=$!
        for _ in $(seq 200); do
            port=$(sed -n 's/^ACCEPT .*:\([0-9]*\)$/\1/p' "$build/server.log")
            [ -z "$port" ] || break
            sleep 0.05
        done
        [ -n "$port" ] || fail "openssl s_server: $(cat "$build/server.log")"
        uses "$(openssl_sum <"$build/file")" "$algorithms" bash -c 'set -o pipefail
            curl --silent --show-error --noproxy "*" --cacert "$1/cert" "${@:3}" "https://localhost:$2/file" |
            OPENSSL_CONF=/dev/null openssl dgst -sha256' - "$build" "$port" --resolve "localhost:$port:127.0.0.1" "$@"
        kill $server
        wait $server 2>/dev/null || true
        ! grep -q 'error:' "$build/server.log" || fail "openssl s_server: $(cat "$build/server.log")"
    }
    openssl_sum() {
        OPENSSL_CONF=/dev/null openssl dgst -sha256 | sed 's/.*= //'
    }
    for configuration in /dev/null "$OPENSSL_CONF"; do
        tls "$configuration" "SHA2-256 HMAC" -tls1_3 -ciphersuites TLS_AES_128_GCM_SHA256 -- --tlsv1.3
        tls "$configuration" "SHA2-384 HMAC" -tls1_3 -ciphersuites TLS_AES_256_GCM_SHA384 -- --tlsv1.3
        for suite in ECDHE-RSA-AES128-SHA ECDHE-RSA-AES128-SHA256 ECDHE-RSA-AES256-SHA384; do
            tls "$configuration" HMAC -tls1_2 -cipher $suite -- --tls-max 1.2 --ciphers $suite
            tls "$configuration" HMAC -tls1_2 -cipher $suite -no_etm -- --tls-max 1.2 --ciphers $suite
        done
    done
fi
unset OPENSSL_CONF
make --silent uninstall-drop-ins DESTDIR="$build/root" PREFIX=/usr
[ -z "$(find "$build/root" -type f)" ] || fail "make uninstall-drop-ins leaves $(find "$build/root" -type f)"
echo "openssl_provider.sh: passed"
