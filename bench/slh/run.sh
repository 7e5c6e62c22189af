#!/usr/bin/env bash
# run.sh: SLH-DSA of hashloom beside sphincsplus and the crates fips205 and slh-dsa, as tables in Markdown.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/slh/run.sh [ROUNDS]      of each time, by default 15; some minutes
#
# SPHINCSPLUS_DIR  a clone of https://github.com/sphincs/sphincsplus; without it that peer is left out. SHAKE needs its
#                  submodule of Keccak (shake-avx2/keccak4x).
# Neither aws-lc-rs (1.19) nor ring has SLH-DSA. OpenSSL 3.5 has: openssl speed -signature-algorithms SLH-DSA-SHA2-128s
set -euo pipefail
cd "$(dirname "$0")"
libraries=$PWD/target/sphincsplus
mkdir -p "$libraries"
if [ -n "${SPHINCSPLUS_DIR:-}" ]; then
    for set in SHA2-128s SHA2-128f SHA2-192s SHA2-256s SHAKE-128s; do
        name=${set,,}
        case $set in
        SHA2-*) files=(sha2-avx2 hash_sha2.c hash_sha2x8.c thash_sha2_simple.c thash_sha2_simplex8.c sha2.c sha256x8.c
            sha512x4.c sha256avx.c utilsx8.c) ;;
        *) files=(shake-avx2 hash_shake.c hash_shakex4.c thash_shake_simple.c thash_shake_simplex4.c fips202.c
            fips202x4.c utilsx4.c keccak4x/KeccakP-1600-times4-SIMD256.c) ;;
        esac
        (cd "$SPHINCSPLUS_DIR/${files[0]}" && gcc -O3 -std=gnu99 -march=native -flto -fPIC -shared -w \
            -DPARAMS="sphincs-$name" -I. -o "$libraries/lib$set.so" "${files[@]:1}" address.c randombytes.c merkle.c \
            wots.c utils.c fors.c sign.c) 2>/dev/null || echo "SKIPPED: sphincsplus $set does not compile"
    done
else
    echo "SKIPPED: peer sphincsplus: SPHINCSPLUS_DIR names no clone"
fi
cargo build --release --locked --quiet
lscpu | sed -n 's/^Model name: */CPU: /p'
echo "hashloom: $(${CC:-cc} --version | head -n1)"
for tier in here avx2 sha; do
    grep -qw -e "$tier" -e here <<<"$tier $(sed -n 's/^flags.*: / /p;T;q' /proc/cpuinfo | sed 's/sha_ni/sha/')" &&
        target/release/hashloom-bench-slh "${1:-15}" "$tier" "$libraries"
done
