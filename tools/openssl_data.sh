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
. /etc/os-release
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$data"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
${VERSION_CODENAME:?} main" >"$apt/sources.list"
options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=)
cd "$apt"
apt-get "${options[@]}" update
apt-get "${options[@]}" --download-only source openssl
tar -xzf openssl_*.orig.tar.gz -C "$data" --strip-components=4 --wildcards \
    '*/test/recipes/30-test_evp_data/evpmd_*.txt' '*/test/recipes/30-test_evp_data/evpmac_common.txt' \
    '*/test/recipes/30-test_evp_data/evpkdf_pbkdf2.txt'
ls "$data"
