#!/usr/bin/env bash
# python.sh: builds the Python package, installs it into clean environments and tests it there.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/python.sh [quick|all|demo]
#
# quick: one Python: python3, or the one that PYTHON names. all: every Python from 3.10 on that is installed, all with
# the same wheel, and the source distribution. demo: only builds the wheel and runs bench/columns.py with it.
#
# It needs Python 3.10 with venv, cargo, and pip's access to a network: HASHLOOM_REQUIRE=1 makes it a failure if these
# are missing. Dask's and Spark's cluster also needs java.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
level=${1:-all}
python=${PYTHON:-python3}
logs=$root/build/python
tools=$logs/tools
. "$root/test/steps.sh"
# steps.sh puts ccache first in PATH; the objects of this package have a folder of their own.
export CARGO_TARGET_DIR=$root/target/python

missing() {
    echo "SKIPPED: python: $1"
    [ -z "${HASHLOOM_REQUIRE-}" ]
    exit
}
is_new_enough='import sys; sys.exit(sys.version_info < (3, 10))'
"$python" -c "$is_new_enough" 2>/dev/null || missing "$python is not Python 3.10 or later: apt-get install python3"
"$python" -c 'import ensurepip' 2>/dev/null || missing "$python has no venv: apt-get install python3-venv"
command -v cargo >/dev/null || missing "cargo is not installed: https://rustup.rs"

# environment FOLDER PYTHON PACKAGE...: a new environment with these packages.
environment() {
    rm -rf "$1"
    "$2" -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check "${@:3}"
}
rm -rf "$tools" "$logs/wheels"
environment "$tools" "$python" 'maturin>=1.9,<2' >"$logs/tools.log" 2>&1 || {
    cat "$logs/tools.log"
    missing "pip cannot install maturin: pip needs a network"
}

formatted() {
    cargo fmt --manifest-path "$root/python/Cargo.toml" --check
}

linted() {
    PYO3_PYTHON=$python cargo clippy --quiet --release --locked --manifest-path "$root/python/Cargo.toml" -- -D warnings
}

wheel() {
    (cd "$root/python" && "$tools/bin/maturin" build --release --locked --interpreter "$python" --out "$logs/wheels")
}

# tested PYTHON: the wheel in a clean environment, without the sources in sight.
tested() {
    local name
    name=$logs/$(basename "$1")
    environment "$name" "$1" --requirement "$root/python/tests/requirements.txt" &&
        "$name/bin/pip" install --quiet --disable-pip-version-check --no-index "$logs"/wheels/*.whl &&
        (cd "$logs" && "$name/bin/python" -m pytest -q -rs -p no:cacheprovider --ignore "$root/python/tests/cluster" \
            "$root/python/tests")
}

# Spark and Dask with workers in processes of their own.
cluster() {
    environment "$logs/cluster" "$python" --requirement "$root/python/tests/cluster/requirements.txt" &&
        "$logs/cluster/bin/pip" install --quiet --disable-pip-version-check --no-index "$logs"/wheels/*.whl &&
        (cd "$logs" && "$logs/cluster/bin/python" -m pytest -q -p no:cacheprovider "$root/python/tests/cluster")
}

# The stubs: consistent by two checkers, and the same as the module by a third. tests/typed.py uses every call.
types() {
    local bin
    bin=$logs/$(basename "$python")/bin
    local mypy=("$bin/mypy" --config-file "$root/python/pyproject.toml" --cache-dir "$logs/mypy")
    (cd "$logs" && "${mypy[@]}" -p hashloom &&
        "${mypy[@]}" "$root/python/tests/typed.py" &&
        "$bin/pyright" --project "$root/python" --pythonpath "$bin/python" "$root/python/tests/typed.py" &&
        "$bin/python" -m mypy.stubtest hashloom._hashloom)
}

examples() {
    (cd "$logs" && "$logs/$(basename "$python")/bin/python" -m pytest -q -p no:cacheprovider --doctest-modules \
        --ignore-glob='*/hashloom/spark.py' --ignore-glob='*/hashloom/dask.py' --pyargs hashloom &&
        "$logs/$(basename "$python")/bin/python" -m doctest "$root/docs/python.md" "$root/README.md")
}

source_distribution() {
    rm -rf "$logs/sdist"
    (cd "$root/python" && "$tools/bin/maturin" sdist --out "$logs/sdist") &&
        environment "$logs/from-source" "$python" pytest hypothesis numpy "$logs"/sdist/*.tar.gz &&
        (cd "$logs" && from-source/bin/python -m pytest -q -p no:cacheprovider "$root/python/tests/test_hashlib.py")
}

if [ "$level" = demo ]; then
    wheel >"$logs/wheel.log" 2>&1 || {
        cat "$logs/wheel.log"
        exit 1
    }
    environment "$logs/demo" "$python" duckdb matplotlib polars polars-hash pyarrow "$logs"/wheels/*.whl &&
        "$logs/demo/bin/python" "$root/bench/columns.py" --svg "$logs/columns.svg" &&
        echo "The picture: $logs/columns.svg"
    exit
fi
step "format" formatted
step "wheel" wheel
step "tests: $("$python" -V)" tested "$python"
step "types: mypy, pyright, stubtest" types
step "examples" examples
if command -v java >/dev/null || [ -n "${HASHLOOM_REQUIRE-}" ]; then
    step "cluster: Dask and Spark" cluster
else
    echo "skipped: cluster: java is not installed: apt-get install openjdk-17-jre-headless" >>"$logs/skipped"
    skipped=$((skipped + 1))
fi
if [ "$level" = all ]; then
    step "lint" linted
    for minor in 10 11 12 13 14; do
        other=$(command -v python3.$minor) && "$other" -c "$is_new_enough" 2>/dev/null || continue
        step "tests: $("$other" -V), the same wheel" tested "$other"
    done
    step "source distribution" source_distribution
fi
end_steps "the Python package"
