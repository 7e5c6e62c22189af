#!/usr/bin/env bash
# fresh.sh: does on a minimal system what README.md tells a new user, as printed: the commands of "From source" and of
# "Your files", the example of docs/c.md, the Rust, Go and Python examples in a new project each, `make drop-ins` and
# `make web`.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/fresh.sh [--with-tests] [--keep] [SYSTEM...]     debian-12, debian-13, ubuntu-24.04, fedora; default: the first
#                                                         three
#   test/fresh.sh [--with-tests] --here                   on this system, which should be a new container: it installs
#
# A system is made by `debootstrap --variant=minbase` in build/fresh, and gets git, make, an ordinary user and a clone
# of the commit that is checked out. It needs root, debootstrap and the archive of the system: a system that cannot be
# made is named as SKIPPED; HASHLOOM_REQUIRE=1 makes that a failure. Fedora has no debootstrap: .github/workflows/ci.yml
# runs it in a container. --keep leaves the folders of the systems.
#
# The host lends what a network needs (proxies, certificates, settings of registries), Rust where the system has none
# that is new enough, and Go. First the user has no sudo, and root runs what setup.sh prints; then sudo asks for no
# password. No locale is set. --with-tests runs `make test` too. The logs are in build/fresh.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
self=$PWD/test/fresh.sh
systems=() with_tests= keep= mode=
for argument; do
    case $argument in
    --with-tests) with_tests=$argument ;;
    --keep) keep=yes ;;
    --here | --inside) mode=$argument ;;
    debian-12 | debian-13 | ubuntu-24.04 | fedora) systems+=("$argument") ;;
    *) echo "usage: fresh.sh [--with-tests] [--keep] [debian-12] [debian-13] [ubuntu-24.04] [fedora], or fresh.sh" \
        "[--with-tests] --here" >&2; exit 2 ;;
    esac
done

# ---- On the fresh system --------------------------------------------------------------------------------------------

user=newcomer
home=/home/$user
repository=https://github.com/hashloom/hashloom
path=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# as_user FOLDER COMMAND: in a shell of the user, with the settings that the host lends.
as_user() {
    # shellcheck disable=SC2086
    (cd "$1" && setpriv --reuid=$user --regid=$user --init-groups env -i "HOME=$home" "USER=$user" "PATH=$path" \
        TERM=dumb $lent bash -o pipefail -ec "$2") </dev/null
}

# does FOLDER COMMAND: prints the command and how long it took. What it prints goes into the log, and is shown if it
# fails.
does() {
    local started=$SECONDS status=0
    printf '%-90s ' "$ $2"
    as_user "$1" "$2" >/tmp/said 2>&1 || status=$?
    { echo "\$ $2"; cat /tmp/said; } >>/tmp/log
    if [ $status != 0 ]; then
        echo "status $status"
    else
        echo "ok $((SECONDS - started)) s"
    fi
    return $status
}

must() { # FOLDER COMMAND
    does "$@" || { tail -n 60 /tmp/said; fail "$2"; }
}

# The line for root that setup.sh has printed last: a command, without "su -c" and sudo.
printed_for_root() {
    sed -n "s/^  su -c '\(.*\)'\$/\1/p; s/^  \(sudo .*\|apt-get .*\|dnf .*\|apk .*\)/\1/p" /tmp/said |
        sed 's/sudo //g; s/dnf install/dnf install -y/; s/apt-get install/apt-get install -y/'
}

# names_for_root FOLDER COMMAND: the user may install nothing, so the command names what root has to run. Root does so,
# and the command passes.
names_for_root() {
    local line status=0
    does "$@" || status=$?
    [ $status = 2 ] || { cat /tmp/said; fail "$2: expected status 2 of setup.sh, found $status"; }
    line=$(printed_for_root)
    [ -n "$line" ] || { cat /tmp/said; fail "$2: no line that installs what is missing"; }
    echo "# $line"
    DEBIAN_FRONTEND=noninteractive env $lent bash -c "$line" >>/tmp/log 2>&1 || fail "$line"
    must "$@"
}

# A command of README. A system without apt-get names packages.
tells() { # FOLDER COMMAND
    if [ "$manager" = apt-get ]; then
        if ! does "$@"; then
            grep -q sh.rustup.rs /tmp/said || { tail -n 60 /tmp/said; fail "$2"; }
            get_rust
            must "$@"
        fi
    else
        does "$@" || { grep -q '^setup.sh: missing' /tmp/said && names_for_root "$@"; } ||
            { tail -n 60 /tmp/said; fail "$2"; }
    fi
}

# setup.sh has named rustup: its lines are run in a container, and where the host lends its Rust, that is taken.
get_rust() {
    local line
    cat /tmp/said
    grep -q '^  curl .*| sh$' /tmp/said || fail "setup.sh does not name rustup's command"
    line=$(printed_for_root)
    if [ -d /opt/host-rust ]; then
        [[ $line == *" curl"* ]] || fail "setup.sh does not name curl, which a minimal system lacks"
        echo "# Rust: the host's toolchain, $(/opt/host-rust/bin/rustc --version)"
        path=/opt/host-rust/bin:$path
    else
        [ -z "$line" ] || { echo "# $line"; bash -c "$line" >>/tmp/log 2>&1 || fail "$line"; }
        must "$home" "$(sed -n 's/^  \(curl .*| sh\)$/\1 -s -- -y --profile minimal/p' /tmp/said)"
        path=$home/.cargo/bin:$path
    fi
}

# block FILE LANGUAGE: the first such block of a document.
block() {
    local found
    found=$(awk -v fence="\`\`\`$2" '$0 == "```" && on {exit} on {print} $0 == fence {on = 1}' "$home/hashloom/$1")
    [ -n "$found" ] || fail "$1: no block of $2"
    echo "$found"
}

project() { # NAME
    install -d -o $user -g $user "$home/$1"
    echo "$home/$1"
}

inside() {
    local line folder
    manager=$(for name in apt-get dnf; do ! command -v $name >/dev/null || { echo $name; break; }; done)
    lent=$([ ! -e /lent ] || cat /lent)
    : >/tmp/log
    (
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2030
        export $lent
        case $manager in
        apt-get) apt-get -qq update && apt-get -qq install --no-install-recommends git make ;;
        dnf) dnf -y install git make shadow-utils util-linux ;;
        esac
    ) >>/tmp/log 2>&1 || { cat /tmp/log; fail "git and make cannot be installed"; }
    id $user >/dev/null 2>&1 || useradd --create-home --shell /bin/bash $user
    # The clone is that of the commit at hand, by README's own command.
    as_user "$home" "git config --global url./srv/hashloom.insteadOf $repository &&
        git config --global safe.directory '*'"
    [ -x /opt/host-go/bin/go ] && path=$path:/opt/host-go/bin

    block_of_install=$(awk '/^### From source/ {here = 1} here && $0 == "```" && on {exit} on {print}
        here && $0 == "```sh" {on = 1}' /srv/README.md)
    [[ $block_of_install == "git clone $repository && cd hashloom"* ]] || fail "README.md: From source begins otherwise"
    must "$home" "$(head -n 1 <<<"$block_of_install")"
    folder=$home/hashloom
    names_for_root "$folder" "make drop-ins"

    if [ "$manager" = apt-get ]; then
        DEBIAN_FRONTEND=noninteractive apt-get -qq install --no-install-recommends sudo >>/tmp/log 2>&1 ||
            fail "sudo cannot be installed"
    else
        dnf -y install sudo >>/tmp/log 2>&1 || fail "sudo cannot be installed"
    fi
    echo "$user ALL=(ALL) NOPASSWD: ALL" >/etc/sudoers.d/$user
    while read -r line; do
        tells "$folder" "$(sed 's/  *#.*//' <<<"$line")"
    done < <(tail -n +2 <<<"$block_of_install")
    must "$folder" "make demo"
    must "$home" "hashloom sum -a sha256 hashloom/LICENSE-MIT && test -e /usr/local/share/man/man1/hashloom-sum.1"
    must "$folder" "python3 test/docs.py target/release/hashloom README.md docs/c.md"
    sed -n '/SKIPPED:/p' /tmp/said
    # Files of the names that "Your files" has. hashloom writes over no torrent.
    project=$(project own)
    must "$project" "mkdir -p photos ~/Downloads ~/Videos && seq 9999 >film.mkv && cp film.mkv ~/Downloads && \
        cp film.mkv ~/Videos/renamed.mkv && seq 1000 >debian-13.iso && seq 500 >photos/1.jpg && \
        hashloom torrent create film.mkv -o film.torrent"
    while read -r line; do
        [[ $line != *" create "* ]] || must "$project" "rm film.torrent"
        # The digest of a page, which README cuts.
        line=$(sed 's/[0-9a-f]*…/$(sha256sum <debian-13.iso)/' <<<"$line")
        must "$project" "$(sed 's/  *#.*//' <<<"$line")"
    done < <(block README.md sh)
    # Whoever copies the core compiles it as the rest of a program, debug builds too, by the system's compiler.
    must "$folder" "mkdir build/levels && cd build/levels && for level in -O0 -O1 -Os; do \
        cc \$level -Werror -I../../core/include -c ../../core/src/*.c ../../core/src/*/*.c || exit; done"

    project=$(project rust-project)
    must "$project" "cargo init --quiet --name example"
    must "$project" "$(block docs/rust.md sh)"
    { echo 'fn main() {'; block README.md rust; echo '}'; } >"$project/src/main.rs"
    must "$project" "cargo run --quiet"

    project=$(project go-project)
    if as_user "$project" "go version" 2>/dev/null | grep -qE 'go1\.(2[5-9]|[3-9][0-9])'; then
        must "$project" "go mod init example"
        { printf 'package main\n\nimport "fmt"\n'; block README.md go | grep ^import; echo 'func main() {'
            block README.md go | grep -v ^import; echo '}'; } >"$project/main.go"
        must "$project" "$(block docs/go.md sh)"
        must "$project" "[ \"\$(go run .)\" = true ]"
    else
        echo "SKIPPED: the Go example: Go 1.25 or later is not installed"
    fi

    project=$(project python-project)
    # Only the folder of the build is not the user's own: most of the wheel was built by make demo-python.
    as_user "$folder" true
    must "$project" "export CARGO_TARGET_DIR=$folder/target/python; $(block docs/python.md sh)"
    block README.md pycon >"$project/example.txt"
    must "$project" ".venv/bin/python -m doctest example.txt"

    tells "$folder" "make web"
    must "$folder" "sudo make uninstall && ! hash hashloom"
    [ -z "$with_tests" ] || must "$folder" "make test"
    sed -n '/^SKIPPED/p' /tmp/said
    [ -z "$(as_user "$folder" "git status --porcelain")" ] ||
        echo "left in the clone: $(as_user "$folder" "git status --porcelain" | tr '\n' ' ')"
}

# ---- On the host ----------------------------------------------------------------------------------------------------

# The settings of the host without which its network cannot be used: variables as words NAME=VALUE, and files.
lend() { # ROOT
    local root=$1 name file
    for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR \
        CURL_CA_BUNDLE GIT_SSL_CAINFO REQUESTS_CA_BUNDLE PIP_CERT PIP_INDEX_URL PIP_EXTRA_INDEX_URL \
        PIP_TRUSTED_HOST GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GOFLAGS; do
        [ -z "${!name-}" ] || echo "$name=${!name}"
    done >"$root/lent"
    cp --dereference /etc/resolv.conf "$root/etc/resolv.conf"
    # The package ca-certificates, when it comes, adds the certificates of this folder.
    mkdir -p "$root/usr/local/share/ca-certificates"
    cp -r /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates"
    for name in SSL_CERT_FILE CURL_CA_BUNDLE GIT_SSL_CAINFO REQUESTS_CA_BUNDLE PIP_CERT; do
        file=${!name-}
        if [ -f "$file" ] && [[ $file != /etc/ssl/certs/* ]]; then
            mkdir -p "$root$(dirname "$file")"
            cp --dereference "$file" "$root$file"
        fi
    done
    ! command -v apt-config >/dev/null || apt-config dump | sed -n '/^Acquire::/p' >"$root/etc/apt/apt.conf.d/90host"
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$root/etc/pip.conf"
    # In the home of every user that the system gets.
    for file in .config/pip/pip.conf .pip/pip.conf .config/go/env .cargo/config.toml; do
        [ ! -f "$HOME/$file" ] || install -D -m 644 "$HOME/$file" "$root/etc/skel/$file"
    done
}

# on SYSTEM SUITE MIRROR SCRIPT OPTION...: makes the system by this script of debootstrap and does everything there.
on() {
    local system=$1 root=$PWD/build/fresh/$1 rust go
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    if ! debootstrap --force-check-gpg --variant=minbase "${@:5}" "$2" "$root" "$3" "$4" \
        >"$root.debootstrap.log" 2>&1; then
        echo "SKIPPED: $system: debootstrap $2 failed: $(tail -n 1 "$root.debootstrap.log")"
        rm -rf "$root"
        [ -z "${HASHLOOM_REQUIRE-}" ]
        return
    fi
    lend "$root"
    git clone --quiet --bare . "$root/srv/hashloom"
    git show HEAD:README.md >"$root/srv/README.md"
    install -D "$self" "$root/srv/test/fresh.sh"
    rust=$(! command -v rustc >/dev/null || rustc --print sysroot)
    go=$(! command -v go >/dev/null || go env GOROOT)
    # The mounts and processes end with the shell that has made them.
    local status=0
    # shellcheck disable=SC2016
    unshare --mount --pid --fork --kill-child bash -ec 'root=$1
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        lend() {
            [ -z "$1" ] || { mkdir -p "$root$2"; mount --bind "$1" "$root$2"; mount -o remount,ro,bind "$root$2"; }
        }
        lend "$2" /opt/host-rust
        lend "$3" /opt/host-go
        exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
            bash /srv/test/fresh.sh --inside $4' - "$root" "$rust" "$go" "$with_tests" || status=$?
    [ ! -e "$root/tmp/log" ] || cp "$root/tmp/log" "$root.log"
    [ -n "$keep" ] || rm -rf --one-file-system "$root"
    return $status
}

if [ -n "$mode" ]; then
    if [ "$mode" = --here ]; then
        [ "$(id -u)" = 0 ] || fail "--here installs packages: it needs root"
        mkdir -p /srv
        command -v git >/dev/null || fail "git is needed for a clone of this folder"
        rm -rf /srv/hashloom
        git -c safe.directory='*' clone --quiet --bare . /srv/hashloom
        cp README.md /srv
    fi
    inside
    echo "passed in $SECONDS s"
    exit
fi
[ ${#systems[@]} -gt 0 ] || systems=(debian-12 debian-13 ubuntu-24.04)
if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "SKIPPED: fresh systems: they need root and debootstrap"
    [ -z "${HASHLOOM_REQUIRE-}" ]
    exit
fi
git diff --quiet HEAD || echo "fresh.sh: uncommitted changes are left out" >&2
failed=()
for system in "${systems[@]}"; do
    echo "== $system"
    case $system in
    debian-12) on "$system" bookworm http://deb.debian.org/debian sid || failed+=("$system") ;;
    debian-13) on "$system" trixie http://deb.debian.org/debian sid || failed+=("$system") ;;
    # A host of Ubuntu has the keys in its package ubuntu-keyring.
    ubuntu-24.04) on "$system" noble http://archive.ubuntu.com/ubuntu gutsy --components=main,universe \
        --keyring=/usr/share/keyrings/ubuntu-archive-keyring.gpg || failed+=("$system") ;;
    fedora) echo "SKIPPED: fedora: no debootstrap makes it: .github/workflows/ci.yml runs it in a container" ;;
    esac
done
[ ${#failed[@]} -eq 0 ] || fail "${failed[*]}"
