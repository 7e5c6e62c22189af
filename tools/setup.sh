#!/usr/bin/env bash
# setup.sh: makes sure that what a target needs works: on Debian it installs the packages, elsewhere it names them.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/setup.sh TARGET      one of those in the case below
#
# A need is there if it works: a compiler must link a program, a header must be found by the compiler. A name in PATH
# says less than that.
#
# Debian packages are installed by root, or if sudo asks for no password. Otherwise setup.sh prints the exact command
# and exits with 2. Rust is Debian's own if that is new enough, or rustup's.
#
# For the tests a need that cannot be had leaves out the parts of test/run.py in the last column of the table, by way of
# build/left-out: a line "PART<tab>REASON" each. HASHLOOM_REQUIRE=1 makes that an error.
set -euo pipefail
cd "$(dirname "$0")/.."

# NEED            PACKAGES OF DEBIAN          GROUPS, comma-separated       PARTS LEFT OUT without the need
# Parts: none: nothing works without the need; "-": the tests name what they leave out. % is clang's version.
table='
cc                gcc,libc6-dev               c
ca-certificates   ca-certificates             rust
cargo             cargo,rustc                 rust
openssl           openssl                     demo                          openssl-provider,pkcs11
python3           python3                     python,demo,web
venv              python3-venv                venv
openssl/evp.h     libssl-dev                  crypto                        c,openssl-provider,pkcs11
p11-kit-1/p11-kit/pkcs11.h  libp11-kit-dev    p11-kit                       openssl-provider,pkcs11
clang             clang                       clang                         c
clang-wasm        clang                       web,npm                       web,npm
wasm-std          libstd-rust-dev-wasm32      web                           web
wasm-ld           lld                         web                           web
chromium          chromium                    chromium                      web
firefox           firefox-esr                 browsers                      -
WebKitWebDriver   webkit2gtk-driver           browsers                      -
Xvfb              xvfb                        browsers                      -
git               git                         test,dist
clippy            rust-clippy,rustfmt         test
c++               g++                         more                          c
clang-asan        libclang-rt-%-dev           more                          c
ccache            ccache                      test                          -
cmake             cmake                       cmake                         c,cross
make              make                        cmake                         c,cross
nm                binutils                    test                          c
pkg-config        pkg-config                  pkg-config                    c
valgrind          valgrind                    more                          c
valgrind/memcheck.h  valgrind                 more                          c
pkcs11-tool       opensc                      more                          -
p11tool           gnutls-bin                  more                          -
p11-kit           p11-kit                     more                          -
curl              curl                        more                          -
transmission-create  transmission-cli         more                          -
aria2c            aria2                       more                          -
mktorrent         mktorrent                   more                          -
qbittorrent-nox   qbittorrent-nox             more                          -
sha2.h            libmd-dev                   more                          -
mtree             mtree-netbsd                test                          -
abidiff           abigail-tools               more                          -
debsums           debsums                     test                          -
par2              par2                        test                          -
git-lfs           git-lfs                     test                          -
restic            restic                      test                          -
ostree            ostree                      test                          -
dpkg-source       dpkg-dev                    test                          -
bsdtar            libarchive-tools            test                          -
gpg               gpg                         test                          -
gpg-agent         gpg-agent                   test                          -
fsverity          fsverity                    test,trees                    -
/usr/sbin/veritysetup  cryptsetup-bin         test,trees                    -
xxd               xxd                         test                          -
shasum            perl                        test                          -
sha3sum           libdigest-sha3-perl         test                          -
b3sum             b3sum                       test                          -
busybox           busybox                     test,sums                     -
mandoc            mandoc                      more                          -
groff             groff-base                  more                          -
man               man-db                      more,dist                     -
zsh               zsh                         more,dist                     -
fish              fish                        more,dist                     -
/usr/share/vulkan/icd.d  mesa-vulkan-drivers  more                          -
/usr/sbin/mkfs.ext4  e2fsprogs                test                          -
/usr/sbin/mkfs.xfs  xfsprogs                  test                          -
/usr/sbin/mkfs.btrfs  btrfs-progs             test                          -
/usr/sbin/mkfs.vfat  dosfstools               test                          -
mksquashfs        squashfs-tools              test                          -
bindfs            bindfs                      test                          -
strace            strace                      test                          -
prlimit           util-linux                  test                          -
fusermount3       fuse3                       test                          -
java              default-jre-headless        more                          -
javac             default-jdk-headless        more                          -
i686-linux-gnu-gcc  gcc-i686-linux-gnu,libc6-dev-i386-cross  more,cross     cross
aarch64-linux-gnu-gcc  gcc-aarch64-linux-gnu,libc6-dev-arm64-cross  more,cross  cross
qemu-aarch64      qemu-user                   more,cross                    cross
intel-ipsec-mb.h  libipsec-mb-dev             ipsec-mb                      -
riscv64-linux-gnu-gcc  gcc-riscv64-linux-gnu,libc6-dev-riscv64-cross  cross  cross
s390x-linux-gnu-gcc  gcc-s390x-linux-gnu,libc6-dev-s390x-cross  cross       cross
powerpc64le-linux-gnu-gcc  gcc-powerpc64le-linux-gnu,libc6-dev-ppc64el-cross  cross  cross
arm-linux-gnueabihf-gcc  gcc-arm-linux-gnueabihf,libc6-dev-armhf-cross  cross  cross
x86_64-w64-mingw32-gcc  gcc-mingw-w64-x86-64  cross,windows                 other-systems,windows
wine              wine,wine64                 windows                       windows
node              nodejs                      test,cross                    cross
/usr/lib/wasm32-wasi/libc.a  wasi-libc        cross                         cross
clang-wasi        lld-%,lld,libclang-rt-%-dev-wasm32  cross                 cross
dpkg-buildpackage  dpkg-dev                   dist                          dist
dh                debhelper                   dist                          dist
lintian           lintian                     dist                          dist
musl-gcc          musl-tools                  dist                          dist
rpmbuild          rpm                         dist                          -
unshare           util-linux                  dist                          dist
aria2c            aria2                       clients
mktorrent         mktorrent                   torrents
transmission-cli  transmission-cli            clients
hashdeep          hashdeep                    test,sums                     -
rhash             rhash                       test,sums                     -
'
# What other systems call the packages that users need: Debian, Fedora, Alpine.
elsewhere='
libc6-dev         glibc-devel                 musl-dev
rustc             rust                        rust
python3-venv      python3                     python3
libssl-dev        openssl-devel               openssl-dev
libp11-kit-dev    p11-kit-devel               p11-kit-dev
libstd-rust-dev-wasm32  rust-std-static-wasm32-unknown-unknown  rust-wasm
'
# Not gcc-multilib for i686: installing it removes the cross compilers.

usage="usage: setup.sh TARGET, one of $(sed -n '/^case \$target in$/,/^esac$/s/^\([a-z].*\)) groups=.*/\1/p' "$0" |
    tr '\n' ' ')"
target=${1:?$usage}
tests="c rust demo python venv crypto cmake npm test"
more="$tests p11-kit clang web chromium pkg-config more"
# Debian has ipsec-mb for this architecture only.
[ "$(uname -m)" != x86_64 ] || more="$more ipsec-mb"
case $target in
build) groups="c rust" ;;
demo) groups="c rust demo" ;;
demo-python) groups="c rust python venv" ;;
drop-ins) groups="c crypto p11-kit" ;;
web) groups="c rust web" ;;
test) groups=$tests ;;
test-more) groups=$more ;;
test-all) groups="$more cross windows dist browsers" ;;
cross) groups="c clang cmake cross" ;;
windows) groups="c rust cmake windows" ;;
dist) groups="c rust python dist" ;;
bench) groups="c rust demo crypto pkg-config cmake" ;;
bench-compilers) groups="c clang" ;;
bench-peers) groups="c rust demo crypto pkg-config clang ipsec-mb" ;;
bench-never) groups="c rust demo crypto pkg-config clang ipsec-mb" ;;
bench-torrents) groups="c rust demo venv clients torrents" ;;
bench-sums) groups="c rust demo sums" ;;
bench-trees) groups="c rust demo trees" ;;
bench-disks) groups="c rust demo venv clients" ;;
*) echo "setup.sh: unknown target $target; $usage" >&2; exit 2 ;;
esac
is_test=
[[ $target != test* ]] || is_test=yes

if [ -n "$is_test" ] && ! [ -e .git ]; then
    echo "setup.sh: the tests need a clone of the repository: they ask git for its files. In a source archive run:" >&2
    echo "  cargo test --locked" >&2
    exit 2
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# ---- What works -----------------------------------------------------------------------------------------------------

# The minimum is stated once, in Cargo.toml.
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)

not_older() { # VERSION THAN
    [ "$(printf '%s\n' "$1" "$2" | sort -V | head -n1)" = "$2" ]
}

# A whole program with the C library and, for C++, its own.
links() { # COMPILER [OPTION...]
    printf '#ifdef __cplusplus\n#include <string>\n#endif\n#include <stdio.h>\nint main() { return puts("") < 0; }\n' \
        >"$work/program.$([[ $1 == *++ ]] && echo cpp || echo c)"
    "$@" "$work"/program.c* -o "$work/program" >/dev/null 2>&1
    local status=$?
    rm -f "$work"/program*
    return $status
}

works() { # NEED
    case $1 in
    /*) test -e "$1" ;;
    *.h) cc -E -x c - <<<"#include <$1>" >/dev/null 2>&1 ;;
    cc | c++ | clang | *-gcc) links "$1" ;;
    clang-asan) links clang -fsanitize=address ;;
    # The module for browsers has no C library.
    clang-wasm) clang --target=wasm32 -x c -c - -o /dev/null <<<'#include <stdint.h>' 2>/dev/null ;;
    clang-wasi) wasi_clang ;;
    ca-certificates) compgen -G '/etc/ssl/certs/*.crt' >/dev/null || compgen -G '/etc/ssl/*.pem' >/dev/null ||
        [ -e /etc/pki/tls/certs/ca-bundle.crt ] || [ -f "${SSL_CERT_FILE-}" ] ;;
    # Debian's python3-minimal lacks modules.
    python3) python3 -c 'import concurrent.futures, json, pty, tempfile' 2>/dev/null ;;
    venv) "${PYTHON:-python3}" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))' 2>/dev/null ;;
    cargo) cargo --version >/dev/null 2>&1 && not_older "$(rustc --version 2>/dev/null | cut -d' ' -f2)" "$wanted" ;;
    clippy) cargo clippy --version >/dev/null 2>&1 && cargo fmt --version >/dev/null 2>&1 ;;
    wasm-std) test -d "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/wasm32-unknown-unknown/lib" ;;
    # The names of web/browser.py.
    chromium) [ -n "${CHROMIUM-}" ] || command -v chromium chromium-browser google-chrome chrome >/dev/null ;;
    # The names of web/engines.py.
    firefox) command -v firefox-esr firefox >/dev/null ;;
    java) java -version >/dev/null 2>&1 ;;
    # rustup's Rust has a linker of its own.
    wasm-ld) command -v wasm-ld >/dev/null ||
        compgen -G "$(rustc --print sysroot 2>/dev/null)/lib/rustlib/*/bin/rust-lld" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# clang's linker and library for WebAssembly are packages of its version.
wasi_clang() {
    local suffix
    for suffix in "" -22 -21 -20 -19 -18 -17 -16 -15 -14; do
        command -v "clang$suffix" >/dev/null && command -v "wasm-ld$suffix" >/dev/null &&
            "clang$suffix" --target=wasm32-wasi --sysroot=/usr -x c - -o /dev/null \
                <<<'int main(void) { return 0; }' 2>/dev/null && return
    done
    return 1
}

# Rows of the table whose need does not work: NEED PACKAGES PARTS, "" for no parts.
missing() {
    local need packages of parts group
    while read -r need packages of parts; do
        for group in $groups; do
            if [[ ,$of, == *,$group,* ]]; then
                works "$need" || echo "$need $packages $parts"
                break
            fi
        done
    done <<<"$table"
}

# ---- Install --------------------------------------------------------------------------------------------------------

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo -n)
manager=$(for name in apt-get dnf apk; do ! command -v $name >/dev/null || { echo $name; break; }; done)

may_install() {
    [ "$manager" = apt-get ] && "${as_root[@]}" true 2>/dev/null
}

apt_get() { # ARGUMENT...
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 "$@"
}

# The version that apt would install, "" for none.
candidate() { # PACKAGE
    LC_ALL=C apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: \([^(]\)/\1/p'
}

# command_for PACKAGE...: the line that installs these packages of Debian, in the words of this system.
command_for() {
    local column=1 line package
    case $manager in
    dnf) line="dnf install" column=2 ;;
    apk) line="apk add" column=3 ;;
    # Without its lists, apt finds no package.
    *) line="apt-get update && apt-get install --no-install-recommends" ;;
    esac
    for package; do
        line+=" $(awk -v package="$package" -v column=$column \
            '$1 == package {found = $column} END {print found ? found : package}' <<<"$elsewhere")"
    done
    if [ "$(id -u)" = 0 ]; then
        echo "  $line"
    elif command -v sudo >/dev/null; then
        echo "  sudo ${line/ apt-get install/ sudo apt-get install}"
    else
        echo "  su -c '$line'"
    fi
}

# Keeps what apt-get says, and shows a line of it every ten seconds.
install_all() { # PACKAGE...
    apt_get install --no-install-recommends "$@" 2>&1 | tee "$work/log" | {
        SECONDS=0 next=10
        while IFS= read -r line; do
            [ $SECONDS -lt $next ] || { echo "  $line" && next=$((SECONDS + 10)); }
        done
    }
}

# Installs what can be had of the packages, and names the others.
install() { # PACKAGE...
    local package log=$work/log can=() cannot=()
    echo "setup.sh: installing $*"
    install_all "$@" && return
    for package; do
        if apt_get install --simulate --no-install-recommends "$package" >/dev/null 2>&1; then
            can+=("$package")
        else
            cannot+=("$package")
        fi
    done
    # Without packages that cannot be had, apt says why it failed.
    [ ${#cannot[@]} -eq 0 ] || echo "setup.sh: apt has no way to install: ${cannot[*]}" >&2
    if [ ${#cannot[@]} -eq 0 ] || { [ ${#can[@]} -gt 0 ] &&
        ! install_all "${can[@]}"; }; then
        cat "$log" >&2
        echo "setup.sh: apt-get install failed" >&2
    fi
}

# Where Rust cannot come from the system: the exact commands. Ends the script.
needs_rustup() { # WHY PACKAGE...: other packages that are missing
    local why=$1 home=${CARGO_HOME:-$HOME/.cargo}
    shift
    {
        echo "setup.sh: Rust $wanted or later is needed, $why."
        if command -v rustup >/dev/null; then
            echo "  rustup update stable && rustup default stable"
        elif ! command -v cargo >/dev/null && [ -x "$home/bin/cargo" ]; then
            echo "It is installed, but its folder is not in PATH:"
        else
            works ca-certificates || set -- "$@" ca-certificates
            works curl || set -- "$@" curl
            echo "Its own installer is at https://rustup.rs:"
            [ $# -eq 0 ] || command_for $(printf '%s\n' "$@" | sort -u)
            echo "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
        fi
        command -v rustup >/dev/null || echo "  . $home/env"
    } >&2
    exit 2
}

mkdir -p build
[ -z "$is_test" ] || rm -f build/left-out

# rustup's own parts come from it. One that it cannot add is among what is missing.
if command -v rustup >/dev/null && works cargo; then
    [ -z "$is_test" ] || works clippy || rustup --quiet component add clippy rustfmt || true
    [[ " $groups " != *" web "* ]] || works wasm-std || rustup --quiet target add wasm32-unknown-unknown || true
fi

mapfile -t rows < <(missing)
packages=()
if [ ${#rows[@]} -gt 0 ]; then
    # apt knows no package before its first update.
    if may_install && ! apt_get update >"$work/log" 2>&1; then
        cat "$work/log" >&2
        echo "setup.sh: apt-get update failed" >&2
    fi
    clang_major=$(! command -v clang >/dev/null || clang -dumpversion | cut -d. -f1)
    [ -n "$clang_major" ] || clang_major=$(candidate clang | sed 's/^[0-9]*:\([0-9]*\).*/\1/')
    mapfile -t packages < <(printf '%s\n' "${rows[@]}" | cut -d' ' -f2 | tr ',' '\n' |
        sed "s/%/$clang_major/" | sort -u)

    # Debian's parts of Rust fit Debian's Rust alone.
    mapfile -t others < <(printf '%s\n' "${packages[@]}" |
        grep -vxE 'cargo|rustc|rust-clippy|rustfmt|libstd-rust-dev-wasm32')
    if works cargo; then
        [ "$(command -v cargo)" = /usr/bin/cargo ] || packages=("${others[@]}")
    elif [[ " $groups " == *" rust "* ]]; then
        own=$(candidate rustc)
        own=${own%%[+-]*}
        found="none is installed"
        # The rustc of rustup ends in an error if it has no toolchain.
        ! command -v rustc >/dev/null || found="$(rustc --version 2>/dev/null | cut -d' ' -f2 || true) is installed"
        if command -v rustup >/dev/null || [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
            needs_rustup "$found" "${others[@]}"
        elif [ "$manager" = apt-get ] && ! not_older "${own:-0}" "$wanted"; then
            needs_rustup "$found, and apt has ${own:-none}" "${others[@]}"
        elif [ "$manager" = apt-get ]; then
            echo "setup.sh: Rust: the system's own, $own (the minimum is $wanted)"
        elif [ -z "$manager" ]; then
            needs_rustup "$found" "${others[@]}"
        fi
    fi
    [ ${#packages[@]} -eq 0 ] || ! may_install || install "${packages[@]}"
fi

# A missing need of the command ends the script; other missing needs leave out parts of the tests.
lacking=() lost=() without=()
while read -r need of parts; do
    [ -n "$need" ] || continue
    if [ -z "$is_test" ] || [ -z "$parts" ] || [ -n "${HASHLOOM_REQUIRE-}" ]; then
        lacking+=("$need")
    elif [ "$parts" = - ]; then
        without+=("$need")
    else
        lost+=(${parts//,/ })
        printf "%s\t$need does not work (Debian: ${of//,/ })\n" ${parts//,/ } >>build/left-out
    fi
done < <([ ${#rows[@]} -eq 0 ] || missing)
heading=
if [ ${#lacking[@]} -gt 0 ]; then
    heading="missing, or installed and not working: ${lacking[*]}. To install:"
elif [ -n "${lost-}${without-}" ] && ! may_install; then
    heading="to run all tests, install:"
fi
{
    [ -z "$heading" ] || echo "setup.sh: $heading"
    [ -z "$heading" ] || [ ${#packages[@]} -eq 0 ] || command_for "${packages[@]}"
    if [ -n "${lost-}${without-}" ]; then
        parts=$(printf '%s\n' "${lost[@]}" | sort -u | paste -sd' ')
        echo "setup.sh: left out${heading:+ without them}: ${parts:+$parts; }${without:+tests that need ${without[*]}}"
    fi
} >&2
if [ ${#lacking[@]} -gt 0 ]; then
    if [ "$manager" = dnf ] || [ "$manager" = apk ]; then
        works cargo || echo "Rust must be $wanted or later; if that of the system is older: https://rustup.rs" >&2
    elif [ -z "$manager" ]; then
        echo "These are Debian's names: look for those of your system." >&2
    fi
    if [[ " ${packages[*]} " != *" cargo "* ]] && [ "$(command -v cargo)" != /usr/bin/cargo ]; then
        [[ " ${lacking[*]} " != *" clippy "* ]] || echo "  rustup component add clippy rustfmt" >&2
        [[ " ${lacking[*]} " != *" wasm-std "* ]] || echo "  rustup target add wasm32-unknown-unknown" >&2
    fi
    exit 2
fi

# ---- What is no package ---------------------------------------------------------------------------------------------

# libtorrent stays at the version whose verdicts test/malformed_torrents.md lists, the others at versions that were
# reviewed.
from_pip() { # PACKAGE, into build/venv
    local package=$1
    [ "$1" != libtorrent ] || package=libtorrent==2.1.1
    [ "$1" != torf ] || package=torf==4.3.1
    build/venv/bin/python -c "import $1" 2>/dev/null && return
    [ -x build/venv/bin/python ] || python3 -m venv build/venv &&
        build/venv/bin/python -m pip install --quiet --disable-pip-version-check "$package"
}

# Programs to compare with, each in a folder of the build. Missing ones are named, here and in the tables.
from_cargo() { # CRATE VERSION [OPTION...], whose program has the crate's name
    command -v "$1" >/dev/null || [ -x "build/peers/bin/$1" ] ||
        cargo install --quiet --root build/peers --no-track "${@:3}" "$1@$2" ||
        echo "setup.sh: cargo could not install $1: it is left out" >&2
}

# The tests name what they leave out without it; HASHLOOM_REQUIRE=1 makes that an error.
left_out() { # MESSAGE
    echo "setup.sh: $1" >&2
    [ -z "$is_test" ] || [ -z "${HASHLOOM_REQUIRE-}" ] || exit 2
}

if [ -n "$is_test" ]; then
    # Debian's Go is too old on the current releases. Only the Go module needs it.
    go version 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])' ||
        left_out "Go 1.25 or later is not installed (https://go.dev/dl): the tests of the Go module are left out"
    # libtorrent's own Python binding makes torrents for the interoperability test. It stays in the build folder.
    from_pip libtorrent || left_out "pip could not install libtorrent, which makes and judges torrents: no network?"
    from_pip torf || left_out "pip could not install torf, which judges torrents: no network?"
fi
if [[ " $groups " == *" more "* ]]; then
    # libmd's own tests. The test says so if they are missing.
    [ -e build/libmd-tests/md2.c ] || tools/libmd_tests.sh >/dev/null 2>&1 ||
        echo "setup.sh: tools/libmd_tests.sh could not get libmd's tests"
    # Debian's package of the daemon starts it as a service of the system. Only the program is needed: it goes into the
    # build folder. transmission-cli has brought its libraries.
    daemon=build/clients/usr/bin/transmission-daemon
    if ! works transmission-daemon && ! [ -x "$daemon" ]; then
        mkdir -p build/clients
        { (cd build/clients && apt-get -qq download transmission-daemon) &&
            dpkg-deb --fsys-tarfile build/clients/transmission-daemon_*.deb |
            tar -x -C build/clients ./usr/bin/transmission-daemon; } >build/clients/log 2>&1 && "$daemon" --version \
            >>build/clients/log 2>&1 || {
            cat build/clients/log >&2
            left_out "transmission-daemon could not be taken from Debian's package: its tests are left out"
        }
    fi
fi

# Makes build/qemu. Prints why it cannot.
qemu_of_backports() {
    local apt=$PWD/build/qemu/apt
    echo "setup.sh: taking a newer qemu-user from bookworm-backports into build/qemu"
    mkdir -p "$apt/lists/partial" "$apt/archives/partial"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
bookworm-backports main" >"$apt/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=)
    { apt-get "${options[@]}" update && (cd "$apt" && apt-get "${options[@]}" download qemu-user) &&
        dpkg-deb --fsys-tarfile "$apt"/qemu-user_*.deb | tar -x -C build/qemu ./usr/bin/qemu-x86_64
    } >"$apt/log" 2>&1 || { cat "$apt/log" >&2; return 1; }
    rm -rf "$apt"
}

no_cross() { # WHY
    echo "setup.sh: $1" >&2
    [ -n "$is_test" ] && [ -z "${HASHLOOM_REQUIRE-}" ] || exit 2
    printf 'cross\t%s\n' "$1" >>build/left-out
}

if [[ " $groups " == *" cross "* ]] && works qemu-x86_64; then
    # qemu emulates the x86 SHA instructions since version 8.2. Debian 12 has that version in its backports: it goes
    # into the build folder, beside the system's, which stays unchanged.
    version=$(qemu-x86_64 --version | sed -n 's/.*version \([0-9.]*\).*/\1/p')
    older=$(printf '%s\n' 8.2 "$version" | sort -V | head -n1)
    if [ "$older" != 8.2 ] && ! [ -x build/qemu/usr/bin/qemu-x86_64 ]; then
        if ! grep -q '^VERSION_CODENAME=bookworm' /etc/os-release; then
            no_cross "qemu-user 8.2 or later is needed, $version is installed"
        else
            qemu_of_backports || no_cross "qemu-user could not be taken from bookworm-backports"
        fi
    fi
fi

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
if [[ " $groups " == *" dist "* ]]; then
    musl=$(uname -m)-unknown-linux-musl
    [ -d "$(rustc --print sysroot)/lib/rustlib/$musl/lib" ] || rustup --quiet target add "$musl" >/dev/null 2>&1 || true
fi

if [ "$target" = bench-sums ]; then
    from_cargo hashsum 0.1.0
    # uutils
    from_cargo coreutils 0.12.0 --locked
fi
