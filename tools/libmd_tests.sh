#!/usr/bin/env bash
# libmd_tests.sh: gets libmd 1.2's own tests into build/libmd-tests.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/libmd_tests.sh [REPOSITORY]      a clone of libmd, if not its own at GitHub
#
# test/libmd.sh runs them. They stay in their own licence, and out of this repository.
set -euo pipefail
cd "$(dirname "$0")/.."
from=${1:-https://github.com/guillemj/libmd}
commit=90c4f432134c608c7e2b4dd0a1d7ca5c40b92c7a # 1.2.0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet --bare "$from" "$work/libmd"
git -C "$work/libmd" archive "$commit" test | tar -x -C "$work"
: >"$work/test/config.h" # which ./configure would write
rm -rf build/libmd-tests
mkdir -p build
mv "$work/test" build/libmd-tests
ls build/libmd-tests
