#!/usr/bin/env bash
# sign.sh: signs the checksums of a release: SHA256SUMS.minisig, after a look at every file that they name.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/sign.sh FOLDER KEY [PROGRAM]     FOLDER: all files of the draft; KEY: a secret key of minisign; PROGRAM: a
#                                          hashloom that you have built yourself, target/release/hashloom
set -euo pipefail
usage="usage: sign.sh FOLDER KEY [PROGRAM]"
folder=${1:?$usage} key=$(realpath "${2:?$usage}")
program=$(realpath "${3:-$(dirname "$0")/../target/release/hashloom}")
cd "$folder"
"$program" check --strict --quiet SHA256SUMS
LC_ALL=C ls | grep -vxF -e SHA256SUMS -e SHA256SUMS.minisig |
    diff - <(sed 's/^[0-9a-f]*  //' SHA256SUMS | LC_ALL=C sort) >&2 ||
    { echo "sign.sh: SHA256SUMS lacks files of $folder (<), or names others (>)" >&2; exit 1; }
"$program" generate signature SHA256SUMS --sign "$key" >SHA256SUMS.minisig.new || { rm SHA256SUMS.minisig.new; exit 2; }
mv SHA256SUMS.minisig.new SHA256SUMS.minisig
