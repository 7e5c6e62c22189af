#!/usr/bin/env bash
# debian_source.sh: gets the archive of a Debian source package, as its authors released it.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/debian_source.sh PACKAGE FOLDER       of this system's release, into FOLDER
set -euo pipefail
package=$1 folder=$(realpath "$2")
. /etc/os-release
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
mkdir -p "$apt/lists/partial" "$apt/archives/partial"
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian \
${VERSION_CODENAME:?} main" >"$apt/sources.list"
options=(-qq -o "Dir::Etc::sourcelist=$apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$apt/lists" -o "Dir::Cache=$apt" -o APT::Sandbox::User=)
cd "$apt"
apt-get "${options[@]}" update
apt-get "${options[@]}" --download-only --tar-only source "$package"
mv "$package"_*.orig.tar.* "$folder"
