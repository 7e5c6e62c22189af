#!/usr/bin/env bash
# python.sh: builds the Python package, installs it into clean environments and tests it there.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/python.sh [check|quick|all|demo]
#
# check: the tests with NumPy and pyarrow, by python3, or the one that PYTHON names, with a wheel of a debug build.
# quick: those with polars, pandas, DuckDB and others too, the types and the examples. all: every Python from 3.10
# on that is found, all with the same optimised wheel; python3.14t, which is free-threaded, with a wheel of its own;
# clusters of Dask and Spark; an S3 server; model_signing; and the source distribution.
# Others than those in PATH and in pyenv's folder are named by HASHLOOM_PYTHONS, paths with blanks between. demo: only
# builds the wheel and runs bench/columns.py with it.
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
    [ "$level" != demo ] || { echo "python.sh: $1" >&2; exit 2; }
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
    "$2" -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check --no-compile "${@:3}"
}
rm -rf "$tools" "$logs/wheels"
environment "$tools" "$python" 'maturin>=1.9,<2' 'flit_core>=3.11,<4' >"$logs/tools.log" 2>&1 || {
    cat "$logs/tools.log"
    missing "pip cannot install maturin: pip needs a network"
}

formatted() {
    cargo fmt --manifest-path "$root/python/Cargo.toml" --check
}

linted() {
    PYO3_PYTHON=$python cargo clippy --quiet --release --locked --manifest-path "$root/python/Cargo.toml" -- -D warnings
}

# check and quick test a debug build: it takes less CPU time, and finds overflows.
wheel() {
    local profile=(--release)
    [[ $level != @(check|quick) ]] || { profile=() && export CARGO_PROFILE_DEV_DEBUG=false; }
    if [ "$level" = check ]; then # the library of the crates, whose build script is not run
        local archive links
        archive=$(CARGO_TARGET_DIR=$root/target archive_of_crates)
        [ -f "$archive" ] || { echo "cargo built no library"; return 1; }
        links=target.$(rustc -vV | sed -n 's/^host: //p').hashloom
        profile+=(--config "$links.rustc-link-lib=['static=hashloom']"
            --config "$links.rustc-env.HASHLOOM_COMPILER='cc'"
            --config "$links.rustc-link-search=['native=${archive%/*}']")
    fi
    (cd "$root/python" &&
        "$tools/bin/maturin" build "${profile[@]}" --locked --interpreter "$python" --out "$logs/wheels") &&
        (cd "$root/python/store" && "$tools/bin/python" -m flit_core.wheel --outdir "$logs/wheels")
}

requirements=$root/python/tests/requirements.txt

# into FOLDER: installs the wheels that suit the environment's Python.
into() {
    "$1/bin/pip" install --quiet --disable-pip-version-check --no-index --no-deps --find-links "$logs/wheels" \
        pyhashloom pyhashloom-store
}

# tested PYTHON: the wheel in a clean environment, without the sources in sight. Only $python must have every package of
# the requirements: for new and free-threaded versions some have no wheels; check does without 300 MB of them.
tested() {
    local name package
    name=$logs/$(basename "$1")
    if [ $level = check ]; then
        environment "$name" "$1" hypothesis numpy pyarrow pytest || return 1
    elif [ "$1" = "$python" ]; then
        environment "$name" "$1" --requirement "$requirements" || return 1
    else
        environment "$name" "$1" --only-binary :all: hypothesis numpy pytest || return 1
        for package in aiohttp fsspec pyarrow polars pandas duckdb; do
            "$name/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: "$package" ||
                echo "skipped: tests of $(basename "$1") with $package: there is no wheel of it for this Python"
        done
    fi
    into "$name" &&
        (cd "$logs" && "$name/bin/python" -m pytest -q -rs -p no:cacheprovider \
            --ignore "$root/python/store/tests/cluster" "$root/python/tests" "$root/python/store/tests")
}

# Offsets of 64 bits. It takes 8 GiB of memory.
huge() {
    (cd "$logs" && HASHLOOM_TEST_ALL=1 "$logs/$(basename "$python")/bin/python" -m pytest -q -p no:cacheprovider \
        -k offsets_of_64_bits "$root/python/tests/test_column.py")
}

# free_threaded PYTHON: a wheel of its own, as the stable ABI of all other versions does not fit.
free_threaded() {
    (cd "$root/python" && "$tools/bin/maturin" build --release --locked --interpreter "$1" --out "$logs/wheels") &&
        tested "$1"
}

# found NAME: prints the path of an interpreter: of HASHLOOM_PYTHONS, in PATH, or in pyenv's folder. pyenv puts names in
# PATH that do not run, so each is tried.
found() {
    local path
    for path in ${HASHLOOM_PYTHONS-} "$(command -v "$1")" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/"$1"; do
        [ "$(basename "$path")" = "$1" ] && "$path" -c "$is_new_enough" 2>/dev/null && echo "$path" && return
    done
    return 1
}

# An S3 server on the loopback (moto). Its packages have versions: without them pip searches for minutes.
store() {
    environment "$logs/store" "$python" --requirement "$root/python/store/tests/store.txt" &&
        into "$logs/store" &&
        (cd "$logs" &&
            "$logs/store/bin/python" -m pytest -q -rs -p no:cacheprovider "$root/python/store/tests/test_store.py" &&
            "$logs/store/bin/python" -m doctest "$root/docs/store.md")
}

# OpenSSF Model Signing. Its version 1.1.1 needs pyOpenSSL, and does not say so.
models() {
    environment "$logs/models" "$python" model-signing pyopenssl pytest &&
        into "$logs/models" &&
        (cd "$logs" &&
            "$logs/models/bin/python" -m pytest -q -rs -p no:cacheprovider "$root/python/tests/test_model.py")
}

# Spark and Dask with workers in processes of their own.
cluster() {
    environment "$logs/cluster" "$python" --requirement "$root/python/store/tests/cluster/requirements.txt" &&
        into "$logs/cluster" &&
        (cd "$logs" && "$logs/cluster/bin/python" -m pytest -q -p no:cacheprovider "$root/python/store/tests/cluster" &&
            "$logs/cluster/bin/python" -m doctest "$root/docs/cluster.md")
}

# The stubs: consistent by two checkers, and the same as the module by a third. tests/typed.py uses every call.
types() {
    local bin
    bin=$logs/$(basename "$python")/bin
    local mypy=("$bin/mypy" --config-file "$root/python/pyproject.toml" --cache-dir "$logs/mypy")
    "$bin/pip" install --quiet --disable-pip-version-check --requirement "$root/python/tests/types.txt" || return 1
    (cd "$logs" && "${mypy[@]}" -p pyhashloom -p pyhashloom_store &&
        "${mypy[@]}" "$root/python/tests/typed.py" &&
        "$bin/pyright" --project "$root/python" --pythonpath "$bin/python" "$root/python/tests/typed.py" &&
        "$bin/python" -m mypy.stubtest pyhashloom._hashloom)
}

examples() {
    (cd "$logs" && "$logs/$(basename "$python")/bin/python" -m pytest -q -p no:cacheprovider --doctest-modules \
        --ignore-glob='*/pyhashloom_store/spark.py' --ignore-glob='*/pyhashloom_store/dask.py' \
        --ignore-glob='*/pyhashloom/model.py' --pyargs pyhashloom pyhashloom_store &&
        "$logs/$(basename "$python")/bin/python" -c \
            'import doctest, pyhashloom._hashloom as m; f, n = doctest.testmod(m); assert n > 50 and not f' &&
        "$logs/$(basename "$python")/bin/python" -m doctest "$root/docs/python.md" "$root/docs/rows.md" \
            "$root/README.md" "$root/python/store/README.md")
}

# Builds the source distribution twice, compares both, and installs from one: with maturin alone, an empty home, and
# no network where unshare may cut it off.
source_distribution() {
    local work=$logs/sdist
    rm -rf "$work" && mkdir -p "$work"
    . "$root/tools/clean_room.sh"
    environment "$logs/from-source" "$python" pytest hypothesis numpy 'maturin>=1.9,<2' 'flit_core>=3.11,<4' &&
        PATH=$tools/bin:$PATH "$root/tools/wheels.sh" "$work/one" source &&
        PATH=$tools/bin:$PATH "$root/tools/wheels.sh" "$work/two" source &&
        cmp "$work"/{one,two}/pyhashloom-*.tar.gz || return 1
    ! tar --list --gzip --file "$work"/one/*.tar.gz | grep -E '\.(whl|so|pyc)$|/dist/' || return 1
    clean_path=$logs/from-source/bin:$clean_path
    clean "$logs/from-source/bin/pip" install --quiet --disable-pip-version-check --no-index --no-build-isolation \
        "$work"/one/pyhashloom-*.tar.gz &&
        ls "$logs"/from-source/lib/python*/site-packages/pyhashloom-*/licenses/LICENSES-CRATES &&
        (cd "$logs" && from-source/bin/python -m pytest -q -p no:cacheprovider "$root/python/tests/test_hashlib.py")
}

skip() {
    echo "skipped: $1" >>"$logs/skipped"
    skipped=$((skipped + 1))
}

if [ "$level" = demo ]; then
    wheel >"$logs/wheel.log" 2>&1 || {
        cat "$logs/wheel.log"
        exit 1
    }
    environment "$logs/demo" "$python" duckdb numpy polars polars-hash pyarrow "$logs"/wheels/pyhashloom-*.whl &&
        "$logs/demo/bin/python" "$root/bench/columns.py"
    exit
fi
step "format" formatted
step "wheel" wheel
step "tests: $("$python" -V)" tested "$python"
if [ "$level" = check ]; then
    end_steps "the Python package"
    exit
fi
step "types: mypy, pyright, stubtest" types
step "examples" examples
if [ "$level" = all ]; then
    if command -v java >/dev/null || [ -n "${HASHLOOM_REQUIRE-}" ]; then
        step "cluster: Dask and Spark" cluster
    else
        skip "cluster: java is not installed: apt-get install default-jre-headless"
    fi
    step "S3: moto" store
    step "models: model_signing" models
    step "lint" linted
    step "a column of 3 GiB" huge
    for name in python3.1{0,1,2,3,4}; do
        if other=$(found $name); then
            step "tests: $name, the same wheel" tested "$other"
        else
            skip "tests of $name: it is not installed; HASHLOOM_PYTHONS can name it"
        fi
    done
    # PyO3 0.30 does not support 3.13t.
    if other=$(found python3.14t); then
        step "tests: python3.14t, free-threaded, a wheel of its own" free_threaded "$other"
    else
        skip "tests of python3.14t (free-threaded): it is not installed; HASHLOOM_PYTHONS can name it"
    fi
    step "source distribution" source_distribution
else
    skip "S3, models, Dask, Spark, other versions of Python and free-threaded ones: make test-all, where they are found"
fi
end_steps "the Python package"
