#!/usr/bin/env bash
# packages.sh: writes what Homebrew, winget and the AUR take, from packaging/templates: version and checksums are those
# of a release.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/packages.sh RELEASE FOLDER     RELEASE: a folder with the SHA256SUMS of the release; FOLDER: for the files
#
# In a template @VERSION@ is the version, and "@SHA256 NAME@" the checksum of that file of the release.
set -euo pipefail
shopt -s dotglob
usage="usage: packages.sh RELEASE FOLDER"
sums=${1:?$usage}/SHA256SUMS folder=${2:?$usage}
templates=$(dirname "$0")/../packaging/templates
version=$(sed -n 's/^[0-9a-f]*  hashloom-\([0-9.]*\)\.tar\.gz$/\1/p' "$sums")
# No registry takes a pre-release.
[ -n "$version" ] ||
    { echo "packages.sh: $sums has no source archive of a release, hashloom-1.2.3.tar.gz" >&2; exit 1; }
fill() { # FILE...
    sed -e "s/@VERSION@/$version/g" "$@" | sed -f <(sed 's/^\([0-9a-f]*\)  \(.*\)$/s|@SHA256 \2@|\1|/' "$sums")
}
for registry in aur homebrew winget; do
    missing=$(fill "$templates/$registry"/* | sed -n 's/.*@SHA256 \(.*\)@.*/\1/p')
    [ -z "$missing" ] || { echo "SKIPPED: $registry: the release has no $missing"; continue; }
    mkdir -p "$folder/$registry"
    for file in "$templates/$registry"/*; do
        fill "$file" >"$folder/$registry/${file##*/}"
    done
done
