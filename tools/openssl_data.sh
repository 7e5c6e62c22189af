#!/usr/bin/env bash
# openssl_data.sh: gets OpenSSL's test data of digests, MACs and PBKDF2, from Debian's source package, into
# build/openssl-data.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# test/openssl_provider.sh runs them. They stay in OpenSSL's own words and licence, and out of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."
data=$PWD/build/openssl-data
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT
tools/debian_source.sh openssl "$source"
mkdir -p "$data"
tar -xzf "$source"/openssl_*.orig.tar.gz -C "$data" --strip-components=4 --wildcards \
    '*/test/recipes/30-test_evp_data/evpmd_*.txt' '*/test/recipes/30-test_evp_data/evpmac_common.txt' \
    '*/test/recipes/30-test_evp_data/evpkdf_pbkdf2.txt'
ls "$data"
