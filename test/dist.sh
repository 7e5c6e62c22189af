#!/usr/bin/env bash
# dist.sh: tests what tools/dist.sh has made, each in a clean folder: with an empty home, an empty environment, and no
# network where unshare may cut it off.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/dist.sh [FOLDER]     FOLDER: build/dist
#
# Also packs the crates, and installs the program from the packed ones and from its folder. A missing static program is
# named and skipped; HASHLOOM_REQUIRE=1 makes that a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
dist=$(cd "${1-build/dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. tools/clean_room.sh
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
target=$(uname -m)-unknown-linux-musl

fail() {
    echo "dist.sh: $*" >&2
    exit 1
}

quiet() { # COMMAND...
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; fail "failed: $*"; }
}

# right PROGRAM: its digests of the core's sources are openssl's, through every instruction set of this machine.
right() {
    local files=("$repository"/core/src/*.c) isas isa name
    isas=$(clean "$1" kernels | sed -n 's/^here: //p' | tr -d ,)
    [ -n "$isas" ] || fail "$1 kernels names no instruction set"
    for name in md5 sha1 sha256 sha512 sha512-256 sha3-256 ripemd160; do
        openssl dgst -r "-$name" "${files[@]}" | cut -d' ' -f1 >"$work/openssl"
        for isa in $isas; do
            clean "$1" sum --isa "scalar,$isa" -a $name "${files[@]}" | cut -d' ' -f1 | cmp - "$work/openssl" ||
                fail "$1 sum --isa scalar,$isa -a $name is not openssl's"
        done
    done
}

[ ${#without_network[@]} -gt 0 ] ||
    echo "SKIPPED: builds with the network cut off, the static program alone in a root: unshare is not permitted"

# The source archive: made twice, it is the same; it builds, and has what its tests need.
quiet tools/dist.sh source "$work/again"
archive=hashloom-$version.tar.gz
cmp "$work/again/$archive" "$dist/$archive" || fail "$archive is not the same when made again"
tar --extract --gzip --file "$dist/$archive" --directory "$work"
tree=$work/hashloom-$version
cd "$tree"
# Nobody steps through these programs.
lean=(clean CARGO_PROFILE_DEV_DEBUG=false "CARGO_TARGET_DIR=$work/target")
quiet "${lean[@]}" cargo build --locked
right "$work/target/debug/hashloom"
quiet "${lean[@]}" cargo test --locked --package hashloom --test kernels
if clean make test >"$work/log" 2>&1 || ! grep -q "need a clone" "$work/log"; then
    cat "$work/log"
    fail "make test in a source archive does not say what it needs"
fi
echo "$archive: the same twice; builds offline"

# The program installed from its folder, and, as from a registry, from the packed crates alone.
quiet "${lean[@]}" cargo install --debug --locked --path rust/hashloom-cli --root "$work/from-path"
# Cargo packs nothing while its registry is replaced by a folder.
quiet git clone --quiet --shared "$repository" "$work/clone"
(cd "$work/clone" && CARGO_TARGET_DIR=$work/target quiet cargo package --workspace --locked --no-verify)
mkdir -p "$work/registry" "$work/elsewhere"
cp -R vendor/. "$work/registry"
for crate in hashloom-sys hashloom hashloom-{files,tree,torrent,list,work,address,gpu,cli}; do
    package=$work/target/package/$crate-$version.crate
    tar --extract --gzip --file "$package" --directory "$work/registry"
    for file in LICENSE-MIT LICENSE-APACHE; do
        cmp "$repository/$file" "$work/registry/$crate-$version/$file" || fail "$package: $file is not the repository's"
    done
    printf '{"files": {}, "package": "%s"}' "$(sha256sum "$package" | cut -d' ' -f1)" \
        >"$work/registry/$crate-$version/.cargo-checksum.json"
done
cd "$work/elsewhere"
quiet "${lean[@]}" cargo install --debug --locked hashloom-cli --root "$work/from-crates" \
    --config 'source.crates-io.replace-with="local"' --config "source.local.directory=\"$work/registry\""
for how in from-path from-crates; do
    right "$work/$how/bin/hashloom"
done
echo "crates: installed from the folder and from packed crates"
rm -rf "$work/target" "$work/registry"

# The Debian package.
package=$(echo "$dist/hashloom_${version/-/\~}-0upstream1_"*.deb)
[ -f "$package" ] || fail "no Debian package in $dist"
quiet lintian --allow-root --info --fail-on error,warning,override "$package"
# A root whose package database has just what the package depends on.
root=$work/root
mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates" "$root/var/lib/dpkg/triggers"
depends=$(dpkg-deb --field "$package" Depends)
[[ $depends = *libc6* ]] || fail "$package depends on: $depends"
mapfile -t names < <(tr , '\n' <<<"$depends" | sed 's/ *\([^ (]*\).*/\1/')
dpkg-query --status "${names[@]}" >"$root/var/lib/dpkg/status"
dpkg_in_root() {
    quiet clean dpkg --root="$root" --force-not-root --log=/dev/null "$@"
}
files() {
    (cd "$root" && find . -path ./var/lib/dpkg -prune -o \( -type f -o -type l \) -print | sort)
}
dpkg_in_root --install "$package"
right "$root/usr/bin/hashloom"
[ "$(printf abc | clean "$root/usr/libexec/hashloom/sha1sum")" = "a9993e364706816aba3e25717850c26c9cd0d89d  -" ] ||
    fail "$package: sha1sum prints another digest"
share=$root/usr/share
[ "$(clean man -M "$share/man" --where hashloom-torrent-verify)" = "$share/man/man1/hashloom-torrent-verify.1.gz" ] ||
    fail "$package: man does not find the page"
clean man -M "$share/man" hashloom >"$work/page"
grep -q 'hashloom-kernels(1)' "$work/page" || fail "$package: man shows no page"
for page in README.md.gz changelog.gz changelog.Debian.gz LICENSES-CRATES.gz; do
    gzip --test "$share/doc/hashloom/$page"
done
[ -f "$share/doc/hashloom/copyright" ] || fail "$package: no copyright"
[ -f "$share/bash-completion/completions/hashloom" ] || fail "$package: no completions for bash"
[ -f "$share/fish/vendor_completions.d/hashloom.fish" ] || fail "$package: no completions for fish"
# shellcheck disable=SC2016
clean zsh -f -c 'for folder in $fpath; do [ ! -f $1$folder/_hashloom ] || exit 0; done; exit 1' - "$root" ||
    fail "$package: zsh does not find its completions"
dpkg_in_root --purge hashloom
[ -z "$(files)" ] || fail "$package leaves files behind: $(files)"
echo "${package##*/}: no complaint of lintian; installed, called and removed; depends on $depends"

# The static program: no loader, no libraries, every kernel.
archive=hashloom-$version-$target.tar.gz
if [ -f "$dist/$archive" ]; then
    tar --extract --gzip --file "$dist/$archive" --directory "$work"
    program=$work/${archive%.tar.gz}/hashloom
    if readelf --program-headers --dynamic --wide "$program" | grep -E 'INTERP|NEEDED'; then
        fail "$archive: the program is not static"
    fi
    # A root with no other file, not even /proc.
    mkdir "$work/alone"
    cp "$program" "$work/alone"
    if [ ${#without_network[@]} -gt 0 ]; then
        line=$(printf abc | env -i "$(command -v unshare)" --map-root-user --root "$work/alone" /hashloom sum -a sha1)
        [ "$line" = "a9993e364706816aba3e25717850c26c9cd0d89d  -" ] || fail "$archive: alone, the program prints: $line"
    fi
    right "$program"
    cd "$tree"
    quiet "${lean[@]}" cargo test --locked --package hashloom --test kernels --target "$target"
    echo "$archive: static; every kernel is right"
else
    echo "SKIPPED: the static program: $dist has no $archive"
    [ -z "${HASHLOOM_REQUIRE-}" ] || exit 1
fi

# The checksums, of all files.
cd "$dist"
quiet sha256sum --check --strict SHA256SUMS
quiet "$work/from-crates/bin/hashloom" check SHA256SUMS
printf '%s\n' hashloom* | diff - <(sed 's/^[0-9a-f]*  //' SHA256SUMS) ||
    fail "SHA256SUMS does not have each file (<) once"
echo "SHA256SUMS: sha256sum and hashloom agree"
ls -l
