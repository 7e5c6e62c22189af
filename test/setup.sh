#!/usr/bin/env bash
# setup.sh: tests tools/setup.sh on systems that lack something: programs that only pretend stand in for apt-get, cc,
# cargo and all others.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bin=$work/bin tree=$work/tree
nchecks=0 require=()

# pretend NAME [BODY]: a program that does BODY, by default nothing with success.
pretend() {
    printf '#!/bin/bash\n%s\n' "${2-exit 0}" >"$bin/$1.new"
    chmod +x "$bin/$1.new"
    mv "$bin/$1.new" "$bin/$1"
}

# A system with Debian's tools, an ordinary user without sudo, and everything that the table of setup.sh names.
everything() {
    local name
    rm -rf "$bin" "$tree"
    mkdir -p "$bin" "$tree/tools" "$tree/build/venv/bin" "$work/home" \
        "$work/sysroot/lib/rustlib/wasm32-unknown-unknown/lib"
    cp "$root/tools/setup.sh" "$tree/tools"
    cp "$root/Cargo.toml" "$tree"
    touch "$tree/.git"
    for name in bash awk cat cp cut dirname env grep head mkdir mktemp paste rm sed sort tee touch tr uname; do
        ln -s "$(command -v $name)" "$bin/$name"
    done
    for name in $(sed -n "/^table='/,/^'/s/^\([A-Za-z0-9_+-]*\) .*/\1/p" tools/setup.sh); do
        pretend "$name"
    done
    cp "$bin/python3" "$tree/build/venv/bin/python"
    pretend id 'echo 1000'
    pretend transmission-daemon
    pretend rustc 'case $1 in --print) echo '"$work"'/sysroot ;; *) echo "rustc 1.90.0 (0 0)" ;; esac'
    pretend go 'echo go version go1.30.1 linux/amd64'
    pretend apt-get 'exit 1'
    pretend apt-cache 'echo "  Candidate: 1.63.0+dfsg1-2"'
    # Compilers find what the folder has.
    touch "$work/home/certificates"
    pretend cc "[ -e $bin/libc ]"
    touch "$bin/libc"
}

# A root whose apt-get installs NAME of COMMANDS as a program, fails for the package of CANNOT, and writes down its
# words.
root_with_apt() {
    pretend id 'echo 0'
    # shellcheck disable=SC2016
    pretend apt-get 'bin='"$bin"'; echo "$*" >>'"$work/apt"'; [[ " $* " != *" '"${1:-none}"' "* ]] || exit 1
        case " $* " in
        *--simulate*) exit 0 ;;
        *" libc6-dev "*) touch $bin/libc ;;
        esac
        case " $* " in
        *" cargo "*) cp $bin/true $bin/cargo; cp $bin/new-rustc $bin/rustc ;;
        esac'
    pretend true
    pretend new-rustc 'echo "rustc 1.85.1 (0 0)"'
    : >"$work/apt"
}

# expect STATUS WHAT TARGET LINE...: setup.sh TARGET ends so, and prints these lines, among others.
expect() {
    local status=$1 what=$2 target=$3 found=0 line
    shift 3
    env -i "PATH=$bin" "HOME=$work/home" "SSL_CERT_FILE=$work/home/certificates" "${require[@]}" \
        "$tree/tools/setup.sh" "$target" >"$work/out" 2>&1 || found=$?
    [ $found = "$status" ] || { echo "FAILED: $what: status $found, expected $status"; cat "$work/out"; exit 1; }
    for line; do
        grep -qxF -- "$line" "$work/out" || { echo "FAILED: $what: expected the line: $line"; cat "$work/out"; exit 1; }
    done
    nchecks=$((nchecks + 1))
}

everything
expect 0 "nothing is missing" build
expect 0 "nothing is missing" drop-ins

if ! compgen -G '/etc/ssl/certs/*.crt' && ! compgen -G '/etc/ssl/*.pem' && ! [ -e /etc/pki ]; then
    rm "$work/home/certificates"
    expect 2 "a variable that names certificates, but no file" build \
        "  su -c 'apt-get update && apt-get install --no-install-recommends ca-certificates'"
    touch "$work/home/certificates"
fi >/dev/null

rm "$bin/libc"
expect 2 "a compiler that cannot link, no root" build \
    "  su -c 'apt-get update && apt-get install --no-install-recommends gcc libc6-dev'"
pretend sudo 'exit 1'
expect 2 "a compiler that cannot link, sudo with a password" build \
    "  sudo apt-get update && sudo apt-get install --no-install-recommends gcc libc6-dev"
# shellcheck disable=SC2016
pretend sudo 'echo "$*" >>'"$work/sudo"'; [ "$1" = -n ] && "${@:2}"'
root_with_apt
pretend id 'echo 1000'
expect 0 "a compiler that cannot link, sudo without a password" build "setup.sh: installing gcc libc6-dev"
grep -q 'DEBIAN_FRONTEND=noninteractive apt-get' "$work/sudo"
rm "$bin/libc"
root_with_apt libc6-dev
expect 2 "apt-get fails" build "setup.sh: apt has no way to install: libc6-dev" \
    "  apt-get update && apt-get install --no-install-recommends gcc libc6-dev"

for each in "dnf install gcc glibc-devel" "apk add gcc musl-dev"; do
    everything
    rm "$bin/libc" "$bin/apt-get"
    pretend "${each%% *}"
    expect 2 "$each" build "  su -c '$each'"
done

everything
rm "$bin/cargo" "$bin/rustc" "$bin/curl"
expect 2 "only rustup has a Rust that is new enough" build \
    "setup.sh: Rust 1.85 or later is needed, none is installed, and apt has 1.63.0." \
    "  su -c 'apt-get update && apt-get install --no-install-recommends curl'" \
    "  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
mkdir -p "$work/home/.cargo/bin"
cp "$bin/cc" "$work/home/.cargo/bin/cargo"
expect 2 "rustup's folder is not in PATH" build "  . $work/home/.cargo/env"
rm -r "$work/home/.cargo"
root_with_apt
pretend apt-cache 'echo "  Candidate: 1.85.1+dfsg1-1"'
expect 0 "Debian's Rust is new enough" build "setup.sh: Rust: the system's own, 1.85.1 (the minimum is 1.85)" \
    "setup.sh: installing cargo rustc"

everything
rm "$bin/chromium" "$bin/aria2c"
root_with_apt chromium
expect 0 "packages that cannot be had" test-more
grep -q '^setup.sh: left out: web; tests that need aria2c' "$work/out"
grep -qx $'web\tchromium does not work (Debian: chromium)' "$tree/build/left-out"
! grep aria2 "$tree/build/left-out"
pretend id 'echo 1000'
rm -f "$bin/sudo"
expect 0 "an ordinary user" test-more
head -n 3 "$work/out" | paste -sd'|' | grep -q "^setup.sh: to run all tests, install:|  su -c '.* aria2 chromium\>.*|\
setup.sh: left out without them: web; tests that need aria2c" ||
    { echo "FAILED: the command comes first:"; cat "$work/out"; exit 1; }
pretend id 'echo 0'
require=(HASHLOOM_REQUIRE=1)
expect 2 "packages that cannot be had, and everything is required" test-more
grep -q '^setup.sh: missing, or installed and not working: .*chromium aria2c' "$work/out"
require=()
rm "$bin/git"
root_with_apt git
expect 2 "git cannot be had, which every test needs" test

# The parts that the table names are parts of run.py.
sed -n "/^table='/,/^'/p" tools/setup.sh | awk 'NF == 4 && $4 != "-" {print $4}' | tr ',' '\n' | sort -u >"$work/parts"
test/run.py list all | grep -vxFf - "$work/parts" &&
    { echo "FAILED: tools/setup.sh: run.py has no such parts"; exit 1; }
echo "$nchecks passed, 0 failed, 0 skipped"
