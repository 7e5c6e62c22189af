#!/usr/bin/env bash
# wheels.sh: makes what is published on PyPI: the source distribution, with the sources of all crates, and from it the
# wheel for a target; and the wheel of pyhashloom-store, which is Python alone.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/wheels.sh FOLDER [source | TARGET...]
#
# TARGET: a target of Rust; x86_64-unknown-linux-gnu and -musl and aarch64's are built with zig, for manylinux2014
# (glibc 2.17) and musllinux_1_1, whatever this machine has. source: no wheel. Without a target the wheel is this
# machine's, with its own compiler. The wheel is built without a network, from the source distribution alone.
#
# It needs maturin and flit_core, and ziglang for the targets named above: pip install 'maturin>=1.9,<2' flit_core
# ziglang. PYTHON names the interpreter of a free-threaded wheel (python3.14t); all others share one wheel.
set -euo pipefail
cd "$(dirname "$0")/.."
prove=$PWD/test/proof/prove.py
[ -e .git ] || { echo "wheels.sh: a clone of the repository is needed: git has the files of the commit" >&2; exit 2; }
[ $# -gt 0 ] || { echo "usage: tools/wheels.sh FOLDER [source | TARGET...]" >&2; exit 2; }
command -v maturin >/dev/null ||
    { echo "wheels.sh: maturin is not installed: pip install 'maturin>=1.9,<2'" >&2; exit 2; }
umask 022
export LC_ALL=C
mkdir -p "$1"
out=$(cd "$1" && pwd)
shift
commit_time=$(git log -1 --format=%ct)
version=$(git show HEAD:python/Cargo.toml | sed -n 's/^version = "\(.*\)"$/\1/p' | head -1)
name=pyhashloom-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tools/vendor.sh
git diff --quiet HEAD || echo "wheels.sh: uncommitted changes are left out" >&2

git archive --prefix=tree/ HEAD | tar --extract --directory "$work"
cd "$work/tree"
vendor python/Cargo.toml
licences python/Cargo.toml hashloom-python >python/LICENSES-CRATES
mv vendor .cargo/config.toml "$work"
(cd python && maturin sdist --out "$work")
cd "$work"
tar --extract --gzip --file "$name.tar.gz"
mv vendor "$name"
mkdir "$name/.cargo"
mv config.toml "$name/.cargo"
archive "$name" "$out/$name.tar.gz"
(cd tree/python/store && SOURCE_DATE_EPOCH=$commit_time python3 -m flit_core.wheel --outdir "$out")

cd "$name"
export CARGO_NET_OFFLINE=true CARGO_TARGET_DIR=${CARGO_TARGET_DIR-$work/target}
build() {
    maturin build --release --locked --interpreter "${PYTHON:-python3}" --out "$out" "$@"
}
[ $# -gt 0 ] || build
for target in "$@"; do
    case $target in
    source) ;;
    *-linux-gnu) build --target "$target" --compatibility manylinux2014 --zig ;;
    *-linux-musl) build --target "$target" --compatibility musllinux_1_1 --zig ;;
    *) build --target "$target" ;;
    esac
done
# The libraries inside the wheels are proved. The wheels themselves cannot be: they have no names of functions.
[ "$*" = source ] || find "$CARGO_TARGET_DIR" -name libhashloom.a -exec "$prove" {} +
