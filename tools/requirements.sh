#!/usr/bin/env bash
# requirements.sh: writes .github/build.txt, test.txt and columns.txt: the versions that the workflows install from
# PyPI, with the hashes of their files, for every Python and system. It needs uv: pip install uv
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/../.github"
compile() { # FILE REQUIREMENT...
    printf '%s\n' "${@:2}" | uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-annotate \
        --custom-compile-command tools/requirements.sh --output-file "$1" -
}
compile build.txt 'flit_core>=3.11,<4' 'maturin>=1.9,<2' ziglang
compile test.txt hypothesis numpy pytest
# Packages that the tests of columns need. Not every Python has wheels of all of these.
compile columns.txt duckdb pandas polars pyarrow
