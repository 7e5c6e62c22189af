# vendor.sh: what both source distributions carry: the sources of all crates, and the licences of those in the program.
# Sourced, with $commit_time the time of the commit in seconds.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

# vendor MANIFEST: in the current folder, vendor/ with the crates of this Cargo.toml, and Cargo's configuration that
# takes them from there.
vendor() {
    cargo vendor --quiet --locked --versioned-dirs --manifest-path "$1" vendor >/dev/null
    mkdir -p .cargo
    printf '%s\n' '# The crates in vendor/. Without this file Cargo takes them from crates.io.' '[source.crates-io]' \
        'replace-with = "vendor"' '' '[source.vendor]' 'directory = "vendor"' >.cargo/config.toml
}

# licences MANIFEST PACKAGE: prints the licences of the crates that are linked into the package. Each wants its text in
# every copy. vendor/ is in the current folder.
licences() {
    local crate version licence file
    shopt -s nocaseglob
    cargo tree --offline --locked --manifest-path "$1" --package "$2" --edges normal,no-proc-macro --target all \
        --prefix none --format '{p}|{l}' | sed 's/ (\*)$//; /(\//d; s/ v/ /' | sort -u |
        while IFS='| ' read -r crate version licence; do
            printf '\n== %s %s: %s\n' "$crate" "$version" "$licence"
            # depend/: libsecp256k1, whose sources are in the crate secp256k1-sys.
            for file in vendor/"$crate-$version"/{,depend/*/}{licen[cs]e,copying,copyright,notice,unlicense}*; do
                [ ! -f "$file" ] || { printf '\n-- %s\n\n' "${file##*/}"; cat "$file"; }
            done
        done
}

# archive FOLDER FILE: the same bytes for the same files, whoever has made them, and when. Links become files, as
# Windows may have none.
archive() {
    tar --create --sort=name --format=gnu --dereference --hard-dereference "--mtime=@$commit_time" \
        --owner=0 --group=0 --numeric-owner --mode=u+rwX,go=rX --directory "$(dirname "$1")" "$(basename "$1")" |
        gzip -9 --no-name >"$2"
}
