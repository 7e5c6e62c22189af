#!/usr/bin/env bash
# setup.sh: sees to it that what a target needs is installed, on Debian by installing it, elsewhere by naming it.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/setup.sh demo|test|bench
#
# Installs Debian packages when it may (as root, or with sudo that asks for no password); otherwise it prints the exact
# command and exits with 2. Rust is not taken from Debian, whose version is too old on the current release.
set -euo pipefail
cd "$(dirname "$0")/.."

# command or header file -> Debian package
demo="cc:gcc openssl:openssl python3:python3"
test="$demo g++:g++ clang:clang cmake:cmake make:make nm:binutils pkg-config:pkg-config
      openssl/evp.h:libssl-dev transmission-create:transmission-cli"
bench="$demo openssl/evp.h:libssl-dev cmake:cmake make:make"
target=${1:?usage: setup.sh demo|test|bench}
case $target in
demo) needs=$demo ;;
test) needs=$test ;;
bench) needs=$bench ;;
*) echo "setup.sh: unknown target $target" >&2; exit 2 ;;
esac

have() {
    case $1 in
    *.h) echo "#include <$1>" | cc -E -x c - >/dev/null 2>&1 ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

install() { # PACKAGE...
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo -n)
    if ! command -v apt-get >/dev/null || ! "${as_root[@]}" true 2>/dev/null; then
        echo "setup.sh: not installed: $*. On Debian:" >&2
        echo "  sudo apt-get install $*" >&2
        exit 2
    fi
    echo "setup.sh: installing $*"
    local log
    log=$(mktemp)
    { "${as_root[@]}" apt-get -qq update &&
        DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get -qq install --no-install-recommends "$@"; } \
        >"$log" 2>&1 || { cat "$log" >&2; echo "setup.sh: apt-get install $* failed" >&2; exit 2; }
    rm -f "$log"
}

packages=()
for need in $needs; do
    have "${need%%:*}" || packages+=("${need##*:}")
done
[ ${#packages[@]} -eq 0 ] || install "${packages[@]}"

# clang's sanitizers are a package of their own, named after its version.
if [ "$target" = test ]; then
    clang_major=$(clang -dumpversion | cut -d. -f1)
    echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c - -o /dev/null 2>/dev/null ||
        install "libclang-rt-$clang_major-dev"
fi

# The minimum is stated once, in Cargo.toml.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
if ! command -v cargo >/dev/null; then
    echo "setup.sh: Rust $wanted or later is needed and not installed. Its own installer is at https://rustup.rs:" >&2
    echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh" >&2
    exit 2
fi
found=$(rustc --version | cut -d' ' -f2)
if [ "$(printf '%s\n' "$wanted" "$found" | sort -V | head -n1)" != "$wanted" ]; then
    echo "setup.sh: Rust $wanted or later is needed, $found is installed: rustup update" >&2
    exit 2
fi
if [ "$target" = test ]; then
    cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 || {
        echo "setup.sh: clippy and rustfmt are needed: rustup component add clippy rustfmt" >&2
        exit 2
    }
    # libtorrent's own Python binding makes torrents for the interoperability test. It stays in a folder of the build.
    if ! [ -x build/venv/bin/python ] || ! build/venv/bin/python -c 'import libtorrent' 2>/dev/null; then
        mkdir -p build
        python3 -c 'import ensurepip, venv' 2>/dev/null || install python3-venv
        python3 -m venv build/venv
        build/venv/bin/python -m pip install --quiet --disable-pip-version-check libtorrent || {
            echo "setup.sh: pip could not install libtorrent, whose torrents are a test: it needs a network" >&2
            exit 2
        }
    fi
fi
