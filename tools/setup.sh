#!/usr/bin/env bash
# setup.sh: makes sure that what a target needs is installed: on Debian it installs the packages, elsewhere it names
# them.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/setup.sh build|demo|test|cross|dist|bench|bench-pkcs11|bench-peers|bench-torrents|bench-sums|bench-trees|
#                  bench-disks|web
#
# Installs Debian packages if it may (as root, or if sudo asks for no password). Otherwise it prints the exact command
# and exits with 2. Rust does not come from Debian, whose version is too old on the current release.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1-}" = test ] && ! [ -e .git ]; then
    echo "setup.sh: the tests need a clone of the repository: they ask git for its files. In a source archive run:" >&2
    echo "  cargo test --locked" >&2
    exit 2
fi

# command or header file -> Debian package
build="cc:gcc"
demo="$build openssl:openssl python3:python3"
test="$demo g++:g++ clang:clang ccache:ccache cmake:cmake make:make nm:binutils pkg-config:pkg-config
      valgrind:valgrind valgrind/memcheck.h:valgrind
      openssl/evp.h:libssl-dev p11-kit-1/p11-kit/pkcs11.h:libp11-kit-dev pkcs11-tool:opensc p11tool:gnutls-bin
      p11-kit:p11-kit curl:curl transmission-create:transmission-cli aria2c:aria2 mktorrent:mktorrent
      qbittorrent-nox:qbittorrent-nox sha2.h:libmd-dev mtree:mtree-netbsd fsverity:fsverity
      /usr/sbin/veritysetup:cryptsetup-bin mandoc:mandoc groff:groff-base man:man-db zsh:zsh fish:fish
      /usr/share/vulkan/icd.d:mesa-vulkan-drivers
      strace:strace prlimit:util-linux fusermount3:fuse3 java:openjdk-17-jre-headless
      i686-linux-gnu-gcc:gcc-i686-linux-gnu aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu qemu-aarch64:qemu-user
      /usr/i686-linux-gnu/include/stdio.h:libc6-dev-i386-cross
      /usr/aarch64-linux-gnu/include/stdio.h:libc6-dev-arm64-cross"
# Not gcc-multilib for i686: installing it removes the cross compilers.
cross="cc:gcc cmake:cmake make:make clang:clang node:nodejs /usr/lib/wasm32-wasi/libc.a:wasi-libc
       $(for arch in i686:i386 aarch64:arm64 riscv64:riscv64 s390x:s390x powerpc64le:ppc64el; do
             echo "${arch%:*}-linux-gnu-gcc:gcc-${arch%:*}-linux-gnu"
             echo "/usr/${arch%:*}-linux-gnu/include/stdio.h:libc6-dev-${arch#*:}-cross"
         done)
       arm-linux-gnueabihf-gcc:gcc-arm-linux-gnueabihf /usr/arm-linux-gnueabihf/include/stdio.h:libc6-dev-armhf-cross
       qemu-s390x:qemu-user x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64"
web="clang:clang python3:python3"
test="$test $web chromium:chromium"
dist="$build git:git dpkg-buildpackage:dpkg-dev dh:debhelper lintian:lintian musl-gcc:musl-tools python3:python3
      man:man-db zsh:zsh fish:fish unshare:util-linux"
bench="$demo openssl/evp.h:libssl-dev cmake:cmake make:make"
bench_pkcs11="$build p11-kit-1/p11-kit/pkcs11.h:libp11-kit-dev softhsm2-util:softhsm2"
bench_peers="$demo openssl/evp.h:libssl-dev pkg-config:pkg-config clang:clang"
# Debian has ipsec-mb for this architecture only.
if [ "$(uname -m)" = x86_64 ]; then
    test="$test intel-ipsec-mb.h:libipsec-mb-dev"
    bench_peers="$bench_peers intel-ipsec-mb.h:libipsec-mb-dev"
fi
bench_torrents="$demo aria2c:aria2 mktorrent:mktorrent transmission-cli:transmission-cli"
bench_sums="$demo hashdeep:hashdeep rhash:rhash busybox:busybox"
bench_disks="$demo aria2c:aria2 transmission-cli:transmission-cli"
bench_trees="$demo fsverity:fsverity /usr/sbin/veritysetup:cryptsetup-bin"
target=${1:?usage: setup.sh TARGET, one of those in the head of the file}
case $target in
build) needs=$build ;;
demo) needs=$demo ;;
test) needs=$test ;;
cross) needs=$cross ;;
dist) needs=$dist ;;
bench) needs=$bench ;;
bench-pkcs11) needs=$bench_pkcs11 ;;
bench-peers) needs=$bench_peers ;;
bench-torrents) needs=$bench_torrents ;;
bench-sums) needs=$bench_sums ;;
bench-trees) needs=$bench_trees ;;
web) needs=$web ;;
bench-disks) needs=$bench_disks ;;
*) echo "setup.sh: unknown target $target" >&2; exit 2 ;;
esac

have() {
    case $1 in
    /*) test -e "$1" ;;
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

# libtorrent stays at the version whose verdicts docs/torrents.md lists, botocore at a version that was reviewed.
from_pip() { # PACKAGE, into build/venv
    local package=$1
    [ "$1" != libtorrent ] || package=libtorrent==2.1.1
    [ "$1" != botocore ] || package=botocore==1.40.50
    build/venv/bin/python -c "import $1" 2>/dev/null && return
    mkdir -p build
    python3 -c 'import ensurepip, venv' 2>/dev/null || install python3-venv
    [ -x build/venv/bin/python ] || python3 -m venv build/venv
    build/venv/bin/python -m pip install --quiet --disable-pip-version-check "$package"
}

packages=()
for need in $needs; do
    have "${need%%:*}" || packages+=("${need##*:}")
done
[ ${#packages[@]} -eq 0 ] || install "${packages[@]}"

# OpenSSL's own test data. The test says so if they are missing.
if [ "$target" = test ] && ! [ -e build/openssl-data/evpmac_common.txt ]; then
    tools/openssl_data.sh >/dev/null 2>&1 || echo "setup.sh: tools/openssl_data.sh could not get OpenSSL's test data"
fi

# clang's sanitizers are a separate package, named after its version.
if [ "$target" = test ]; then
    clang_major=$(clang -dumpversion | cut -d. -f1)
    echo 'int main(void) { return 0; }' | clang -fsanitize=address -x c - -o /dev/null 2>/dev/null ||
        install "libclang-rt-$clang_major-dev"
fi

if [ "$target" = cross ]; then
    # clang's linker and library for WebAssembly are packages of its version.
    compile_wasm() { # SUFFIX
        command -v "clang$1" >/dev/null && command -v "wasm-ld$1" >/dev/null &&
            echo 'int main(void) { return 0; }' |
            "clang$1" --target=wasm32-wasi --sysroot=/usr -x c - -o /dev/null 2>/dev/null
    }
    found_wasm=
    for version in "" -22 -21 -20 -19 -18 -17 -16 -15 -14; do
        compile_wasm "$version" && found_wasm=yes && break
    done
    clang_major=$(clang -dumpversion | cut -d. -f1)
    [ -n "$found_wasm" ] || install "lld-$clang_major" lld "libclang-rt-$clang_major-dev-wasm32"

    # qemu emulates the x86 SHA instructions since version 8.2. Debian 12 has that version in its backports: it goes
    # into the build folder, beside the system's, which stays unchanged.
    version=$(qemu-x86_64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
    older=$(printf '%s\n' 8.2 "$version" | sort -V | head -n1)
    if [ "$older" != 8.2 ] && ! [ -x build/qemu/usr/bin/qemu-x86_64 ]; then
        if ! grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
            echo "setup.sh: qemu-user 8.2 or later is needed, $version is installed" >&2
            exit 2
        fi
        echo "setup.sh: taking a newer qemu-user from bookworm-backports into build/qemu"
        apt=$PWD/build/qemu/apt
        mkdir -p "$apt/lists/partial" "$apt/archives/partial"
        echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
bookworm-backports main" >"$apt/sources.list"
        options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
            -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=)
        { apt-get "${options[@]}" update && (cd "$apt" && apt-get "${options[@]}" download qemu-user) &&
            dpkg-deb --fsys-tarfile "$apt"/qemu-user_*.deb |
            tar -x -C build/qemu ./usr/bin/qemu-x86_64; } >"$apt/log" 2>&1 || {
            cat "$apt/log" >&2
            echo "setup.sh: qemu-user could not be taken from http://deb.debian.org/debian bookworm-backports" >&2
            exit 2
        }
        rm -rf "$apt"
    fi
fi

# Debian's Go is too old on the current release. Only the Go module needs it.
if [ "$target" = test ] && ! go version 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])'; then
    echo "setup.sh: Go 1.25 or later is not installed (https://go.dev/dl): the tests of the Go module are left out" >&2
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
    # Debian's package of the daemon starts it as a service of the system. Only the program is needed: it goes into the
    # build folder. transmission-cli has brought its libraries.
    daemon=build/clients/usr/bin/transmission-daemon
    if ! have transmission-daemon && ! [ -x "$daemon" ]; then
        mkdir -p build/clients
        { (cd build/clients && apt-get -qq download transmission-daemon) &&
            dpkg-deb --fsys-tarfile build/clients/transmission-daemon_*.deb |
            tar -x -C build/clients ./usr/bin/transmission-daemon; } >build/clients/log 2>&1 && "$daemon" --version \
            >>build/clients/log 2>&1 || {
            cat build/clients/log >&2
            echo "setup.sh: transmission-daemon is needed and could not be taken from Debian's package" >&2
            exit 2
        }
    fi
    # libtorrent's own Python binding makes torrents for the interoperability test. It stays in the build folder.
    from_pip libtorrent || {
        echo "setup.sh: pip could not install libtorrent, which a test needs for its torrents: pip needs a network" >&2
        exit 2
    }
fi

# The tree hash of Amazon's own library: one more oracle.
if [ "$target" = test ] || [ "$target" = bench-trees ]; then
    from_pip botocore || {
        echo "setup.sh: pip could not install botocore, which a test needs for its tree hashes: pip needs a network" >&2
        [ "$target" != test ] || exit 2
    }
fi

# Programs to compare with, each in a folder of the build. Missing ones are named, here and in the tables.
from_cargo() { # CRATE VERSION [OPTION...], whose program has the crate's name
    command -v "$1" >/dev/null || [ -x "build/peers/bin/$1" ] ||
        cargo install --quiet --root build/peers --no-track "${@:3}" "$1@$2" ||
        echo "setup.sh: cargo could not install $1: it is left out" >&2
}

if [ "$target" = bench-torrents ]; then
    for package in libtorrent torf; do
        from_pip "$package" || echo "setup.sh: pip could not install $package: it is left out" >&2
    done
    from_cargo imdl 0.1.16 --locked
    mkdir -p build/peers/bin
    command -v mkbrr >/dev/null || [ -x build/peers/bin/mkbrr ] ||
        { command -v go >/dev/null && GOBIN=$PWD/build/peers/bin go install github.com/autobrr/mkbrr@v1.24.0; } ||
        echo "setup.sh: go could not install mkbrr: it is left out" >&2
    command -v torrenttools >/dev/null || [ -x build/peers/bin/torrenttools ] ||
        echo "setup.sh: no package has torrenttools: put a binary of https://github.com/fbdtemme/torrenttools into" \
            "build/peers/bin, or it is left out" >&2
fi

if [ "$target" = bench-disks ]; then
    from_pip libtorrent || echo "setup.sh: pip could not install libtorrent: it is left out" >&2
fi

# If the target cannot be added, tools/dist.sh names the command.
if [ "$target" = dist ]; then
    musl=$(uname -m)-unknown-linux-musl
    [ -d "$(rustc --print sysroot)/lib/rustlib/$musl/lib" ] || rustup --quiet target add "$musl" >/dev/null 2>&1 || true
fi

if [ "$target" = web ] || [ "$target" = test ]; then
    [ -d "$(rustc --print sysroot)/lib/rustlib/wasm32-unknown-unknown/lib" ] ||
        rustup --quiet target add wasm32-unknown-unknown ||
        echo "setup.sh: the page cannot be built without: rustup target add wasm32-unknown-unknown" >&2
fi

if [ "$target" = bench-sums ]; then
    from_cargo hashsum 0.1.0
    # uutils
    from_cargo coreutils 0.12.0 --locked
fi
