#!/usr/bin/env bash
# install.sh: `make install`, `install-links` and `uninstall` in a temporary folder: each file is where it belongs, the
# manual pages give no warning, the shells complete, the links work as the programs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/install.sh PROGRAM [--require]
#
# PROGRAM: such as target/release/hashloom, as Cargo has built it. Missing shells and programs for manual pages are
# named and skipped; with --require they are a failure.
set -euo pipefail
cd "$(dirname "$0")/.."
program=${1:?usage: test/install.sh PROGRAM [--require]} require=${2-}
built=$(dirname "$program")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
# A user's own settings must not matter.
export HOME=$folder LC_ALL=C.UTF-8 MAKEFLAGS= CDPATH=
unset MANPATH XDG_DATA_HOME XDG_DATA_DIRS ZDOTDIR

fail() {
    echo "install.sh: $*" >&2
    exit 1
}

have() { # PROGRAM
    command -v "$1" >/dev/null && return
    [ "$require" != --require ] || fail "$1 is needed for this test and not installed"
    echo "skipped: $1 is not installed"
    return 1
}

files() { # all files of the installation
    (cd "$folder/root" && find . \( -type f -o -type l \) -printf '%P %m %l\n' | sed 's/ $//' | sort)
}

pages() { # FOLDER PREFIX
    (cd "$1" && for page in *.1; do echo "$2/$page 644"; done)
}

from=("HASHLOOM=$program" "SHARE=$built/share")
make --silent share "${from[@]}"
make --silent install install-links "${from[@]}" "DESTDIR=$folder/root" PREFIX=/usr >"$folder/log"
stand_ins="b2sum b3sum cksum digest mac md5 md5sum rmd160 sha1 sha1sum sha224 sha224sum sha256 sha256sum sha384
sha384sum sha3sum sha512 sha512sum sha512t224 sha512t256 shasum"
{
    echo usr/bin/hashloom 755
    pages "$built/share/man/man1" usr/share/man/man1
    echo usr/share/bash-completion/completions/hashloom 644
    echo usr/share/zsh/site-functions/_hashloom 644
    echo usr/share/fish/vendor_completions.d/hashloom.fish 644
    for name in $stand_ins; do
        echo "usr/libexec/hashloom/$name 777 ../../bin/hashloom"
        echo "usr/libexec/hashloom/man/man1/$name.1 644"
    done
} | sort | diff - <(files) || fail "the installed files (>) are not the expected ones (<)"
cmp "$program" "$folder/root/usr/bin/hashloom"

# Hardened by the linker; the program can be loaded anywhere. Objects of C are marked for indirect branches on CPUs that
# check them (the whole program is not, as Rust's library is not), and stacks of the driver are guarded.
if [ "$(uname)" = Linux ]; then
    test/hardened.sh "$program"
    readelf -hW "$program" | grep -E 'Type: +DYN' >/dev/null || fail "$program is not position-independent"
    # The newest folder: older ones may be beside it.
    objects=$(find "$built"/build/hashloom-sys-*/out -name src-api.o -printf '%T@ %h\n' | sort -n | tail -n 1 |
        cut -d' ' -f2)
    [ -n "$objects" ] || fail "no objects of the C library below $built/build"
    if [ "$(uname -m)" = x86_64 ] && [ -z "${CFLAGS-}" ]; then
        for object in "$objects"/*.o; do
            readelf -nW "$object" | grep -q 'x86 feature:.*IBT' || fail "$object is not marked for indirect branches"
        done
        nm "$objects/src-hmac.o" | grep -q __stack_chk_fail || fail "$objects/src-hmac.o: no stack is guarded"
    fi
fi

# A page for every command that the program's own help lists.
commands() { # COMMAND...
    local name
    echo "$(IFS=-; echo "$*").1"
    for name in $("$program" "${@:2}" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z0-9-]*\) .*/\1/p'); do
        [ "$name" = help ] || commands "$@" "$name"
    done
}
commands hashloom | sort | diff - <(cd "$folder/root/usr/share/man/man1" && printf '%s\n' *.1 | sort) ||
    fail "manual pages and commands differ"

mapfile -t all_pages < <(find "$folder/root" -name '*.1')
if have mandoc; then
    mandoc -T lint "${all_pages[@]}" || fail "mandoc warns about the manual pages"
fi
if have groff; then
    for page in "${all_pages[@]}"; do
        # Bold and underlined letters removed. Not adjusted: groff 1.23 warns of a line of one long word.
        warnings=$(groff -man -dAD=l -Tutf8 -P-cbou -ww "$page" 2>&1 >"$folder/page")
        [ -z "$warnings" ] || fail "$page: $warnings"
        for section in NAME SYNOPSIS DESCRIPTION; do
            grep -q "$section" "$folder/page" || fail "$page: no section $section"
        done
    done
fi
if have man; then
    # man-db searches beside the folders of PATH.
    links=$folder/root/usr/libexec/hashloom
    found=$(PATH=$links:$PATH man -w digest)
    [ "$found" = "$links/man/man1/digest.1" ] || fail "man finds $found for digest"
    found=$(PATH=$folder/root/usr/bin:$PATH man -w hashloom-torrent-verify)
    [ "$found" = "$folder/root/usr/share/man/man1/hashloom-torrent-verify.1" ] || fail "man finds $found"
fi

printf abc >"$folder/abc"
if have bash; then
    completed=$(bash --norc -c '
        set -eu
        source "$1"
        COMP_WORDS=(hashloom torrent ver) COMP_CWORD=2
        _hashloom hashloom ver torrent 2>/dev/null
        echo "${COMPREPLY[@]}"' - "$folder/root/usr/share/bash-completion/completions/hashloom")
    [ "$completed" = verify ] || fail "bash completes: $completed"
    # Files as the first word, names behind a comma, options of the programs that it stands in for.
    completed=$(cd "$folder" && bash --norc -c '
        source "$1"
        for line in "hashloom ab" "hashloom sum -a sha256,md" "hashloom sha256sum --ch"; do
            read -ra COMP_WORDS <<<"$line"
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMPREPLY=()
            _hashloom hashloom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}" 2>/dev/null
            echo "${COMPREPLY[@]}"
        done' - "$folder/root/usr/share/bash-completion/completions/hashloom")
    [ "$completed" = $'abc\nsha256,md5\n--check' ] || fail "bash completes: $completed"
fi
if have zsh; then
    # `|| true`: after a time-out the line below tells what zsh has printed.
    completed=$(timeout 60 zsh -f -c '
        zmodload zsh/zpty
        zpty shell zsh -f -i
        zpty -w shell "fpath=($1 \$fpath); autoload -U compinit; compinit -D -u; PS1=; echo rea\"\"dy"
        zpty -r shell output "*ready*"
        zpty -w -n shell "hashloom torrent ver"$'"'\\t'"'" --li"$'"'\\t'"'
        zpty -r shell output "*--libtorrent*"
        print -r -- "$output"
        zpty -w -n shell $'"'\\C-u'"'"hashloom $2/ab"$'"'\\t'"'
        zpty -r shell output "*abc*"
        print -r -- "$output"
        zpty -w -n shell $'"'\\C-u'"'"hashloom sum -a sha256,md"$'"'\\t'"'"; hashloom sha256sum --ch"$'"'\\t'"'
        zpty -r shell output "*sha256sum --check*"
        print -r -- "$output"' - "$folder/root/usr/share/zsh/site-functions" "$folder") || true
    [[ $completed = *torrent\ verify*--libtorrent*abc*sha256,md5*--check* ]] || fail "zsh completes: $completed"
fi
if have fish; then
    completed=$(fish --no-config -c 'source $argv[1]; complete -C "hashloom torrent ver"' \
        "$folder/root/usr/share/fish/vendor_completions.d/hashloom.fish")
    [[ $completed = verify* ]] || fail "fish completes: $completed"
    completed=$(cd "$folder" && fish --no-config -c 'source $argv[1]; complete -C "hashloom ab"
        complete -C "hashloom sum -a sha256,md"; complete -C "hashloom sha256sum --ch"' \
        "$folder/root/usr/share/fish/vendor_completions.d/hashloom.fish")
    [[ $completed = abc*$'\n'sha256,md5*$'\n'--check* ]] || fail "fish completes: $completed"
fi

for name in $stand_ins; do
    "$folder/root/usr/libexec/hashloom/$name" --help >"$folder/help" || fail "$name --help: exit status $?"
    grep -q "$name" "$folder/help" || fail "$name --help does not name it"
done
digest=$("$folder/root/usr/libexec/hashloom/digest" -a sha1 "$folder/abc")
[ "$digest" = a9993e364706816aba3e25717850c26c9cd0d89d ] || fail "digest prints $digest"
line=$("$folder/root/usr/libexec/hashloom/sha1sum" "$folder/abc")
[ "$line" = "a9993e364706816aba3e25717850c26c9cd0d89d  $folder/abc" ] || fail "sha1sum prints $line"

# Files of other packages stay.
touch "$folder/root/usr/bin/other" "$folder/root/usr/share/man/man1/other.1"
make --silent uninstall "DESTDIR=$folder/root" PREFIX=/usr >"$folder/log"
printf 'usr/bin/other 644\nusr/share/man/man1/other.1 644\n' | diff - <(files) ||
    fail "uninstall leaves other files (>) than expected (<)"
empty=$(find "$folder/root" -type d -empty)
[ -z "$empty" ] || fail "uninstall leaves empty folders: $empty"
rm "$folder/root/usr/bin/other" "$folder/root/usr/share/man/man1/other.1"
make --silent install-links uninstall "${from[@]}" "DESTDIR=$folder/root" PREFIX=/home/own >"$folder/log"
[ -z "$(ls "$folder/root/home/own")" ] || fail "uninstall leaves folders: $(find "$folder/root/home/own")"
# A distribution's fish reads nothing below /usr/local.
make --silent install "${from[@]}" "DESTDIR=$folder/root" PREFIX=/usr/local >"$folder/log"
[ "$(uname)" != Linux ] || [ -f "$folder/root/etc/fish/completions/hashloom.fish" ] || fail "fish of /usr finds nothing"
make --silent uninstall "DESTDIR=$folder/root" PREFIX=/usr/local >"$folder/log"
[ -z "$(files)" ] || fail "uninstall from /usr/local leaves: $(files)"
echo "installed, completed, called and removed: $(wc -w <<<"$stand_ins") links, ${#all_pages[@]} manual pages"
