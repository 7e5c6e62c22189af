#!/usr/bin/env bash
# pack.sh: puts a program, and what belongs to it, into a folder for a release.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   tools/pack.sh PROGRAM FOLDER
#
# The program must run here: it writes its own manual pages and completions.
set -euo pipefail
program=$1 folder=$2
mkdir -p "$folder/completions"
cp -R "$program" README.md SECURITY.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE docs "$folder"
# Only source archives have this file.
[ ! -e LICENSES-CRATES ] || cp LICENSES-CRATES "$folder"
"$program" generate man "$folder/man/man1"
for shell in bash zsh fish; do "$program" generate completions $shell >"$folder/completions/$shell"; done
