#!/usr/bin/env bash
# versions.sh: whether all files that name hashloom's version name the same one, for a release (RELEASING.md).
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/versions.sh [--release]
#
# --release: CHANGELOG.md must also have the date of the version, and no tag may have the version yet. Exit status: 0 if
# all agree, 1 if not.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' Cargo.toml)
nwrong=0

found() { # WHERE VERSION
    [ "$2" = "$version" ] && return
    echo "$1: expected $version, as in Cargo.toml, found ${2:-no version}"
    nwrong=$((nwrong + 1))
}

found web/npm/package.json "$(sed -n 's/^  "version": "\(.*\)",$/\1/p' web/npm/package.json)"
store=python/store/pyproject.toml
found $store "$(sed -n 's/^version = "\(.*\)"$/\1/p' $store)"
found "$store: pyhashloom" "$(sed -n 's/.*"pyhashloom==\([^"]*\)".*/\1/p' $store)"
found python/Cargo.toml "$(sed -n 's/^version = "\(.*\)"$/\1/p' python/Cargo.toml)"
part() { sed -n "s/^#define HL_VERSION_$1 *\([0-9]*\)$/\1/p" core/include/hashloom.h; }
# The numbers of the header have no suffix such as -rc.1.
plain=${version%%[-+]*}
[ "$(part MAJOR).$(part MINOR).$(part PATCH)" = "$plain" ] ||
    found core/include/hashloom.h "$(part MAJOR).$(part MINOR).$(part PATCH)"
while IFS=: read -r file line; do
    found "$file: $line" "$(sed -n 's/.*version = "\([^"]*\)".*/\1/p' <<<"$line")"
done < <(git grep -E '^hashloom[a-z-]* = .*version' -- '*Cargo.toml')
while IFS= read -r lock; do
    while read -r name number; do
        # Programs that are not published have the version 0.0.0.
        [ "$number" = 0.0.0 ] || found "$lock: $name" "$number"
    done < <(sed -n '/^name = "hashloom/{s/^name = "\(.*\)"$/\1/;N;s/\nversion = "\(.*\)"$/ \1/p}' "$lock")
done < <(git ls-files '*Cargo.lock')
if [ "${1-}" = --release ]; then
    grep -qE "^## ${version//./\\.} \(20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$" CHANGELOG.md ||
        { echo "CHANGELOG.md: expected the heading \"## $version (YEAR-MONTH-DAY)\""; nwrong=$((nwrong + 1)); }
    for tag in "v$version" "go/v$version"; do
        ! git rev-parse --quiet --verify "refs/tags/$tag" >/dev/null ||
            { echo "the tag $tag is there already: set the next version in Cargo.toml"; nwrong=$((nwrong + 1)); }
    done
fi
[ $nwrong -eq 0 ] || exit 1
echo "$version everywhere"
