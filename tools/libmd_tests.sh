#!/usr/bin/env bash
# libmd_tests.sh: gets libmd's own tests into build/libmd-tests.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/libmd_tests.sh                   those of Debian's source package
#   tools/libmd_tests.sh REPOSITORY        those of libmd 1.2, from a clone of https://github.com/guillemj/libmd
#
# test/libmd.sh runs them. They stay in their own licence, and out of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=90c4f432134c608c7e2b4dd0a1d7ca5c40b92c7a # 1.2.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ $# -gt 0 ]; then
    git clone --quiet --bare "$1" "$work/libmd"
    git -C "$work/libmd" archive "$commit" test | tar -x -C "$work"
else
    tools/debian_source.sh libmd "$work"
    tar -xf "$work"/libmd_*.orig.tar.* -C "$work" --strip-components=1 --wildcards '*/test/*'
fi
: >"$work/test/config.h" # which ./configure would write
rm -rf build/libmd-tests
mkdir -p build
mv "$work/test" build/libmd-tests
ls build/libmd-tests
