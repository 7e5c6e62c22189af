#!/usr/bin/env bash
# dist.sh: makes what a release carries: a source archive with the sources of all crates; a Debian package, an RPM
# package and a static program, built from that archive without a network; and their checksums. The kernels in the
# programs are proved (test/proof) before they are stripped. test/dist.sh tests them.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/dist.sh [source] [FOLDER]     FOLDER: build/dist; source: only the source archive
#
# The archive holds the commit that is checked out, so changes without a commit are left out. Equal commits give equal
# archives, byte for byte (with one version of Cargo, git and gzip).
set -euo pipefail
cd "$(dirname "$0")/.."
[ -e .git ] || { echo "dist.sh: a clone of the repository is needed: git has the files of the commit" >&2; exit 2; }
umask 022
# No order, no date depends on the user's language.
export LC_ALL=C
level=all
[ "${1-}" != source ] || { level=source; shift; }
out=${1-build/dist}
version=$(git show HEAD:Cargo.toml | sed -n 's/^version = "\(.*\)"$/\1/p')
name=hashloom-$version
commit_time=$(git log -1 --format=%ct)
target=$(uname -m)-unknown-linux-musl
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tools/clean_room.sh
. tools/vendor.sh
git diff --quiet HEAD || echo "dist.sh: uncommitted changes are left out" >&2

mkdir -p "$work/source" "$work/dist"
git archive --prefix="$name/" HEAD | tar --extract --directory "$work/source"
(
    cd "$work/source/$name"
    vendor Cargo.toml
    licences Cargo.toml hashloom-cli >LICENSES-CRATES
    # The version is Cargo's. A tilde sorts before the release; a package by Debian itself (-1) sorts after this one.
    maintainer=$(sed -n 's/^Maintainer: //p' debian/control)
    printf 'hashloom (%s-0upstream1) unstable; urgency=medium\n\n  * The changes are in CHANGELOG.md.\n\n -- %s  %s\n' \
        "${version/-/\~}" "$maintainer" "$(date --utc --rfc-email "--date=@$commit_time")" >debian/changelog
)
archive "$work/source/$name" "$work/dist/$name.tar.gz"

if [ $level = all ]; then
    mkdir -p "$work/build"
    tar --extract --gzip --file "$work/dist/$name.tar.gz" --directory "$work/build"
    tree=$work/build/$name
    quiet() {
        (cd "$tree" && clean "$@") >"$work/log" 2>&1 || { cat "$work/log"; echo "dist.sh: failed: $*" >&2; exit 1; }
    }
    quiet dpkg-buildpackage --build=binary --no-sign
    quiet test/proof/prove.py target/dist/hashloom
    cp "$work"/build/*.deb "$work/dist"
    if command -v rpmbuild >/dev/null; then
        # The program is that of the Debian package. Debian's rpm does not know what is installed.
        quiet rpmbuild -bb --build-in-place --nodeps --without build --define "_topdir $work/rpm" \
            packaging/hashloom.spec
        cp "$work"/rpm/RPMS/*/*.rpm "$work/dist"
    else
        echo "SKIPPED: the RPM package: rpmbuild is missing: sudo apt-get install rpm"
    fi
    if ! [ -d "$(rustc --print sysroot)/lib/rustlib/$target/lib" ]; then
        echo "SKIPPED: the static program: Rust's standard library is missing: rustup target add $target"
    elif ! command -v musl-gcc >/dev/null; then
        echo "SKIPPED: the static program: musl-gcc is missing: sudo apt-get install musl-tools"
    else
        quiet cargo build --profile dist --locked --package hashloom-cli --target "$target"
        quiet test/proof/prove.py "target/$target/dist/hashloom"
        (cd "$tree" && tools/pack.sh "target/$target/dist/hashloom" "$work/packed/$name-$target")
        cp "$tree/packaging/Dockerfile" "$work/packed/$name-$target"
        archive "$work/packed/$name-$target" "$work/dist/$name-$target.tar.gz"
    fi
    (cd "$work/dist" && "$tree/target/dist/hashloom" sum --algorithm sha256 hashloom* >"$work/SHA256SUMS")
    mv "$work/SHA256SUMS" "$work/dist"
fi
mkdir -p "$out"
rm -f "$out"/hashloom* "$out/SHA256SUMS"
cp "$work/dist"/* "$out"
