#!/usr/bin/env bash
# dist.sh: tests what tools/dist.sh has made, each in a clean folder: with an empty home, an empty environment, and no
# network where unshare may cut it off.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/dist.sh [FOLDER]     FOLDER: build/dist
#
# Also packs the crates, and installs the program from the packed ones and from its folder; builds or reads what is in
# packaging/ by the programs that take it. A missing static program or RPM package is named and skipped;
# HASHLOOM_REQUIRE=1 makes that a failure. Programs of other systems are named and skipped.
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
quiet "${lean[@]}" cargo test --locked --package hashloom --test all kernels::
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
for crate in hashloom-sys $(basename --multiple rust/*); do
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

# works PACKAGE: what it has installed into $root: programs, pages, completions.
works() {
    local share=$root/usr/share page
    right "$root/usr/bin/hashloom"
    [ "$(printf abc | clean "$root/usr/libexec/hashloom/sha1sum")" = "$sha1_of_abc  -" ] ||
        fail "$1: sha1sum prints another digest"
    page=$(clean man -M "$share/man" --where hashloom-torrent-verify)
    [ "$page" = "$share/man/man1/hashloom-torrent-verify.1.gz" ] || fail "$1: man finds ${page:-no page}"
    clean man -M "$share/man" hashloom >"$work/page"
    grep -q 'hashloom-kernels(1)' "$work/page" || fail "$1: man shows no page"
    [ -f "$share/bash-completion/completions/hashloom" ] || fail "$1: no completions for bash"
    [ -f "$share/fish/vendor_completions.d/hashloom.fish" ] || fail "$1: no completions for fish"
}
sha1_of_abc=a9993e364706816aba3e25717850c26c9cd0d89d

# files: those in $root, but for the databases of packages.
files() {
    (cd "$root" && find . -path ./var/lib -prune -o \( -type f -o -type l \) -print | sort)
}

# missing WHAT: says that the release lacks it.
missing() {
    echo "SKIPPED: $1: $dist has none"
    [ -z "${HASHLOOM_REQUIRE-}" ] || exit 1
}

# lint PROGRAM ARGUMENT...: by a program that a system may lack.
lint() {
    if command -v "$1" >/dev/null; then quiet clean "$@"; else echo "SKIPPED: packaging: $1 is not installed"; fi
}

# image FOLDER: its Dockerfile makes an image of the folder that an ordinary user can run.
image() {
    local recipe=$1/Dockerfile said= status=0 engine= entry user data=$work/data alone=$work/alone
    entry=$(sed -n 's/^ENTRYPOINT \["\(.*\)"\]$/\1/p' "$recipe")
    user=$(sed -n 's/^USER \([0-9]*\):[0-9]*$/\1/p' "$recipe")
    mkdir "$data"
    printf abc >"$data/abc"
    # A root with no other file, not even /proc.
    mkdir -p "$alone$(sed -n 's/^WORKDIR //p' "$recipe")"
    cp "$1/hashloom" "$alone$entry"
    cp "$data/abc" "$alone/data"
    if [ ${#without_network[@]} -gt 0 ]; then
        said=$(env -i "$(command -v unshare)" --map-user="$user" --map-group="$user" --root "$alone" --wd /data \
            "$entry" sum -a sha1 abc)
        [ "$said" = "$sha1_of_abc  abc" ] || fail "$1: alone, as user $user, the program prints: $said"
    fi
    if docker info >/dev/null 2>&1; then
        engine=docker
    elif podman info >/dev/null 2>&1; then
        engine="podman --root $work/images --runroot $work/containers --storage-driver vfs"
    else
        echo "SKIPPED: packaging/Dockerfile: neither docker nor podman works here"
        return
    fi
    quiet $engine build --tag "hashloom:$version-test" "$1"
    said=$($engine run --rm --network none --volume "$data:/data:ro" "hashloom:$version-test" sum -a sha1 abc \
        2>"$work/log") || status=$?
    case $status in
    0) [ "$said" = "$sha1_of_abc  abc" ] || fail "the image prints: $said" ;;
    # The engine's own errors.
    125 | 126) echo "SKIPPED: packaging/Dockerfile: built, not run: $(tail -n 1 "$work/log")" ;;
    *) fail "the image: $(cat "$work/log")" ;;
    esac
    $engine rmi "hashloom:$version-test" >/dev/null
}

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
dpkg_in_root --install "$package"
works "$package"
# The system reads and relocates the program before it begins. The bounds are a sixth above the sizes of November 2026.
program=$root/usr/bin/hashloom
nbytes=$(stat --format %s "$program")
nrelocations=$(readelf --relocs --wide "$program" | grep -c RELATIVE)
[ "$nbytes" -le 10100000 ] || fail "$package: the program has $nbytes bytes, more than 10100000"
[ "$nrelocations" -le 6100 ] || fail "$package: the program has $nrelocations relocations, more than 6100"
! readelf --dynamic --wide "$program" | grep 'NEEDED.*libgcc_s' || fail "$package: the program loads libgcc_s"
for page in README.md.gz changelog.gz changelog.Debian.gz LICENSES-CRATES.gz; do
    gzip --test "$root/usr/share/doc/hashloom/$page"
done
[ -f "$root/usr/share/doc/hashloom/copyright" ] || fail "$package: no copyright"
# shellcheck disable=SC2016
clean zsh -f -c 'for folder in $fpath; do [ ! -f $1$folder/_hashloom ] || exit 0; done; exit 1' - "$root" ||
    fail "$package: zsh does not find its completions"
dpkg_in_root --purge hashloom
[ -z "$(files)" ] || fail "$package leaves files behind: $(files)"
echo "${package##*/}: no complaint of lintian; installed, called and removed; depends on $depends"

# The RPM package. The root has no glibc, so its dependencies are only read.
package=$(echo "$dist/hashloom-${version/-/\~}-1."*.rpm)
if [ -f "$package" ]; then
    root=$work/rpm
    mkdir "$root"
    rpm_in_root() {
        quiet clean rpm --root="$root" --dbpath=/var/lib/rpm "$@"
    }
    depends=$(clean rpm --query --requires --package "$package" | sed -n 's/^\(libc\.so\.6(GLIBC_[^)]*\).*/\1)/p' |
        sort --version-sort | tail -n 1)
    [ -n "$depends" ] || fail "$package does not depend on glibc"
    rpm_in_root --install --nodeps "$package"
    rpm_in_root --verify --nodeps hashloom
    works "$package"
    [ -f "$root/usr/share/zsh/site-functions/_hashloom" ] || fail "$package: no completions for zsh"
    [ "$(find "$root/usr/share/licenses" -type f -size +0 | wc -l)" = 3 ] || fail "$package: no licences"
    if readelf --section-headers --wide "$root/usr/bin/hashloom" | grep symtab; then fail "$package: not stripped"; fi
    rpm_in_root --erase hashloom
    [ -z "$(files)" ] || fail "$package leaves files behind: $(files)"
    echo "${package##*/}: installed, called and removed; depends on $depends"
else
    missing "the RPM package"
fi

# The static program: no loader, no libraries, every kernel.
archive=hashloom-$version-$target.tar.gz
if [ -f "$dist/$archive" ]; then
    tar --extract --gzip --file "$dist/$archive" --directory "$work"
    program=$work/${archive%.tar.gz}/hashloom
    if readelf --program-headers --dynamic --wide "$program" | grep -E 'INTERP|NEEDED'; then
        fail "$archive: the program is not static"
    fi
    image "${program%/*}"
    right "$program"
    cd "$tree"
    quiet "${lean[@]}" cargo test --locked --package hashloom --test all kernels:: --target "$target"
    echo "$archive: static; every kernel is right"
else
    missing "the static program"
fi

# The files for registries. A release also has a program for Windows.
mkdir "$work/release"
cp "$dist/SHA256SUMS" "$work/release"
windows=hashloom-$version-x86_64-pc-windows-gnu.zip
if [[ $version = *-* ]]; then
    if "$tree/tools/packages.sh" "$work/release" "$work/packages" 2>"$work/log"; then
        fail "packages.sh takes a pre-release"
    fi
    echo "SKIPPED: packaging/templates: $version is no release"
else
    said=$("$tree/tools/packages.sh" "$work/release" "$work/packages")
    [ "$said" = "SKIPPED: winget: the release has no $windows" ] && [ ! -e "$work/packages/winget" ] ||
        fail "packages.sh does not name what is missing for winget"
    sed -n '1s/  .*/  '"$windows/p" "$dist/SHA256SUMS" >>"$work/release/SHA256SUMS"
    quiet "$tree/tools/packages.sh" "$work/release" "$work/packages"
    if grep -r @ "$work/packages"; then fail "packages.sh leaves words in a template"; fi
    cd "$work/packages"
    lint ruby -ryaml -e 'ARGV.each { |name| YAML.load_file(name).fetch("ManifestVersion") }' winget/*
    lint ruby -c homebrew/hashloom.rb
    lint brew style homebrew/hashloom.rb
    lint winget validate winget
    lint namcap aur/PKGBUILD
    if command -v makepkg >/dev/null && [ ${#without_network[@]} -gt 0 ]; then
        cd aur
        cp "$dist/hashloom-$version.tar.gz" .
        # Without optimisation, as the packages above have it. makepkg works for no root.
        ordinary=(clean CARGO_PROFILE_DIST_OPT_LEVEL=0 CARGO_PROFILE_DIST_LTO=off PKGEXT=.pkg.tar
            unshare --map-user=1000 --map-group=1000 makepkg)
        "${ordinary[@]}" --printsrcinfo | diff .SRCINFO - || fail "makepkg writes another .SRCINFO (>)"
        quiet "${ordinary[@]}" --nodeps
        root=$work/aur
        mkdir "$root"
        tar --extract --file "hashloom-$version-1-$(uname -m).pkg.tar" --directory "$root"
        works PKGBUILD
        echo "PKGBUILD: built by makepkg, called"
    else
        echo "SKIPPED: packaging: PKGBUILD: makepkg is not installed, or unshare is not permitted"
    fi
fi

# The flake, with a nixpkgs that hands back what it is given.
cd "$tree"
# shellcheck disable=SC2016
lint nix-instantiate --store dummy:// --eval --strict --expr '
    let nixpkgs.lib.genAttrs = names: f: builtins.listToAttrs (map (name: { inherit name; value = f name; }) names);
        nixpkgs.legacyPackages.x86_64-linux = {
          rustPlatform.buildRustPackage = given: given; installShellFiles = 0;
          lib.licenses = { mit = 0; asl20 = 0; }; };
        flake = import '"$tree"'/packaging/flake.nix;
        given = ((flake.outputs { self = 0; inherit nixpkgs; }).packages.x86_64-linux).default;
    in assert given.version == "'"$version"'"; assert builtins.pathExists given.cargoLock.lockFile; given'
echo "SKIPPED: packaging: flake.nix: only evaluated: a build takes nixpkgs from the network"

# The checksums, of all files.
cd "$dist"
quiet sha256sum --check --strict SHA256SUMS
quiet "$work/from-crates/bin/hashloom" check SHA256SUMS
printf '%s\n' hashloom* | diff - <(sed 's/^[0-9a-f]*  //' SHA256SUMS) ||
    fail "SHA256SUMS does not have each file (<) once"
echo "SHA256SUMS: sha256sum and hashloom agree"
ls -l
