#!/usr/bin/env bash
# run.sh: all tests: the C library, the Rust crates, the Go module, the program against the torrents of other programs
# and against malformed ones.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/run.sh quick|all [PART...]       every part of that level, or only these, and what they need
#   test/run.sh check [COMMIT]            short parts for the files that differ from COMMIT, or else from HEAD
#   test/run.sh fuzz
#   test/run.sh list                      the names of the parts of quick
#
# Called by `make test`, `make test-all`, `make check` and `make fuzz`. HASHLOOM_EXPECT=avx512,sha makes it a failure if
# the library finds fewer instruction sets than these; by default, those that this CPU has (test/expect.sh).
# HASHLOOM_REQUIRE=1 makes it a failure if something cannot be tested here: a program is missing, root is needed. Exit
# status: 0 if everything passed.
#
# Parts run side by side, PARTS at a time: one more than there are CPUs, as some mostly wait. The output of a part is in
# build/parts/NAME.log (of check: build/check), and is printed whole, in the order of this file. The last lines name
# what was skipped, the times and the parts that failed. A part that takes more than 20 minutes of CPU time, or in
# test-all a day (LIMIT: seconds), or five times as long by the clock (WALL: seconds), is stopped, and its output ends
# with the commands that were running. Samples are taken by HASHLOOM_SEED: a new one for each run, which is printed.
set -uo pipefail
# A shell without job control starts a command in the background with SIGINT ignored, which the program respects: tests
# that interrupt it would wait for ever.
if [ -z "${HASHLOOM_SIGNALS-}" ]; then
    export HASHLOOM_SIGNALS=default
    env --default-signal true 2>/dev/null && exec env --default-signal "$BASH" "$0" "$@"
fi
cd "$(dirname "$0")/.." || exit 2
usage() {
    echo "usage: run.sh quick|all [PART...] | check [COMMIT] | fuzz | list" >&2
    exit 2
}
level=${1-}
root=$PWD
wanted=()
case $level in
quick | all) wanted=("${@:2}") limit=${LIMIT:-$([ "$level" = quick ] && echo 1200 || echo 86400)} ;;
check) [ $# -le 2 ] || usage
    base=${2:-HEAD} limit=${LIMIT:-900} ;;
fuzz) limit=${LIMIT:-86400} ;;
list) limit=0 ;;
*) usage ;;
esac
if [ "$level" != list ]; then
    if [ -z "${HASHLOOM_EXPECT+set}" ]; then
        HASHLOOM_EXPECT=$(test/expect.sh) || exit 2
        export HASHLOOM_EXPECT
    fi
    export HASHLOOM_SEED=${HASHLOOM_SEED:-$RANDOM}
    [[ $HASHLOOM_SEED =~ ^(0|[1-9][0-9]{0,8})$ ]] ||
        { echo "run.sh: HASHLOOM_SEED=$HASHLOOM_SEED: expected a number below a thousand million" >&2; exit 2; }
    echo "== Expected of this CPU: ${HASHLOOM_EXPECT:-nothing}; HASHLOOM_SEED=$HASHLOOM_SEED"
    # A build from clean gains nothing from what the compiler keeps for the next.
    [ "$level" = check ] || export CARGO_INCREMENTAL=0
    . test/ccache.sh
    . test/sample.sh
fi
at_once=${PARTS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}
logs=build/parts
[ "$level" != check ] || logs=build/check

# A process group for each part, so that Ctrl-C ends all that a part has started.
set -m
# shellcheck disable=SC2154
trap 'for group in $(jobs -p); do kill -- "-$group"; done; exit 130' INT TERM

names=() changed=() longer=()
declare -A after command paths is_wanted state # state: "" before, a process, then ended or printed

# part NAME LEVELS AFTER PATHS COMMAND...: a part of these levels, to run when the parts named in AFTER have ended,
# whether they passed or not. Those with a plus sign make what the part needs. Parts that wait for the same lock of
# Cargo come one after another, as a part that waits takes up a place.
# PATHS: patterns of the files that the part tests. check runs its parts whose files have changed, and names the longer
# parts of quick. A part that tools/setup.sh names in build/left-out only says so.
part() {
    local why
    if [[ " $2 " != *" $level "* ]]; then
        # A part of check with this name is its short form.
        [ "$level" != check ] || [[ " $2 " != *" quick "* || " ${names[*]} " == *" $1 "* ]] || ! has_changed "$4" ||
            longer+=("$1")
        return
    fi
    names+=("$1")
    after[$1]=$3
    paths[$1]=$4
    command[$1]=$(printf '%q ' "${@:5}")
    why=$(sed -n "s/^$1\t//p" build/left-out 2>/dev/null | paste -sd';')
    [ -z "$why" ] || command[$1]=$(printf '%q ' echo "SKIPPED: $1: $why")
}

# has_changed PATTERNS: whether a changed file matches one of them.
has_changed() {
    local file pattern
    local IFS=' '
    set -f
    for file in "${changed[@]}"; do
        for pattern in $1; do
            # shellcheck disable=SC2053
            [[ $file != $pattern ]] || { set +f; return 0; }
        done
    done
    set +f
    return 1
}

want() { # NAME: the part and what it needs
    local needed
    [[ " ${names[*]} " == *" $1 "* ]] || { echo "run.sh: $level has no part $1: run.sh list" >&2; exit 2; }
    is_wanted[$1]=yes
    for needed in ${after[$1]}; do
        [[ $needed != +* ]] || want "${needed#+}"
    done
}

may_start() { # NAME
    local earlier
    for earlier in ${after[$1]}; do
        earlier=${earlier#+}
        [ -z "${is_wanted[$earlier]-}" ] || [[ ${state[$earlier]-} =~ ended|printed ]] || return 1
    done
}

# Prints the lines of /proc/PID/stat of a process group, from the state on.
stats_of() { # GROUP
    cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s/^\([0-9]*\) (.*) \(. [0-9]* $1 .*\)/\1 \2/p"
}

# Stops a part after its time, and says what was running. Part of the part's own process group.
stop_late() { # NAME GROUP
    local never running used=0 began=$SECONDS wall=${WALL:-$((5 * limit))}
    # A sleep would be one more process to end.
    exec {never}<> <(:)
    while [ "$used" -lt "$limit" ] && [ $((SECONDS - began)) -lt "$wall" ]; do
        read -rt $((limit < wall && limit < 10 || wall < 10 ? 1 : 10)) -u "$never"
        # In hundredths: of each process, and of its children that have ended.
        used=$(stats_of "$2" | awk '{n += $13 + $14 + $15 + $16} END {print int(n / 100)}')
    done
    trap '' TERM # the group's end is this function's too
    running=$(for pid in $(stats_of "$2" | cut -d' ' -f1); do tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c1-300; done)
    {
        echo
        echo "STOPPED: $1: $used s of CPU time, of $limit, and $((SECONDS - began)) s, of $wall. The last lines of its"
        echo "output are above. These were running:"
        grep -v 'run\.sh' <<<"$running" | sed 's/^/  /'
    } >>$logs/"$1".log 2>/dev/null
    echo 124 >$logs/"$1".status
    echo "$((SECONDS - began)) $used 0" >>$logs/"$1".time
    kill -TERM -- "-$2"
    read -rt 10 -u "$never"
    kill -KILL -- "-$2"
}

# The exit status of the part goes into NAME.status, its seconds (real, user and system) into NAME.time.
start() { # NAME
    {
        group=$BASHPID
        stop_late "$1" "$group" >/dev/null 2>&1 &
        TIMEFORMAT='%R %U %S'
        time eval "${command[$1]}" >>$logs/"$1".log 2>&1 </dev/null
        echo $? >$logs/"$1".status
        disown $!
        kill -KILL $!
    } 2>$logs/"$1".time &
    state[$1]=$!
}

run_parts() {
    local name pid running=0
    if [ ${#wanted[@]} -eq 0 ]; then
        for name in "${names[@]}"; do
            [ "$level" = check ] && ! has_changed "${paths[$name]}" || wanted+=("$name")
        done
    fi
    for name in "${wanted[@]}"; do
        want "$name"
    done
    for name in "${names[@]}"; do
        [ -n "${is_wanted[$name]-}" ] || unset "state[$name]"
    done
    mapfile -t names < <(for name in "${names[@]}"; do [ -z "${is_wanted[$name]-}" ] || echo "$name"; done)
    rm -rf $logs
    mkdir -p $logs
    while true; do
        for name in "${names[@]}"; do
            [ $running -lt "$at_once" ] || break
            if [ -z "${state[$name]-}" ] && may_start "$name"; then
                start "$name"
                running=$((running + 1))
            fi
        done
        [ $running -gt 0 ] || break
        wait -n -p pid
        running=$((running - 1))
        for name in "${names[@]}"; do
            [ "${state[$name]-}" != "$pid" ] || state[$name]=ended
        done
        for name in "${names[@]}"; do
            case ${state[$name]-} in
            ended) print "$name" ;;
            printed) ;;
            *) break ;;
            esac
        done
    done
    for name in "${names[@]}"; do # a part that waits for itself
        [ "${state[$name]-}" = printed ] || { echo "run.sh: $name was never started" >&2; exit 2; }
    done
}

# A check prints only what failed.
print() { # NAME
    state[$1]=printed
    [ "$level" != check ] || [ "$(cat $logs/"$1".status)" != 0 ] || return 0
    echo
    echo "== $1: ${command[$1]}"
    cat $logs/"$1".log
}

# Prints what was skipped, the time of each part, longest first, and the parts that failed. Returns 1 if a part failed.
report() {
    local name real user system failed=() skipped
    local longer_parts=
    [ ${#longer[@]} -eq 0 ] || longer_parts="Not run, as they take longer: test/run.sh quick ${longer[*]}"
    if [ ${#names[@]} -eq 0 ]; then
        echo "No part of check tests a changed file: ${changed[*]:-no file has changed}"
        echo "$longer_parts"
        return
    fi
    skipped=$(grep -hoiE '(^|[^a-z])SKIPPED: .*' $logs/*.log | sed 's/^[^a-zA-Z]//' | sort | uniq -c)
    echo
    echo "== Skipped: $(grep -c . <<<"$skipped")"
    [ -z "$skipped" ] || echo "$skipped"
    echo
    echo "== Times: $SECONDS s in all, $at_once parts at a time"
    printf '%8s %8s  %s\n' seconds CPU part
    for name in "${names[@]}"; do
        read -r real user system < <(tail -n 1 $logs/"$name".time)
        printf '%8.0f %8.0f  %s\n' "$real" "$(awk "BEGIN {print $user + $system}")" "$name"
    done | sort -rn
    echo
    for name in "${names[@]}"; do
        [ "$(cat $logs/"$name".status)" = 0 ] || failed+=("$name")
    done
    echo "$longer_parts"
    [ ${#failed[@]} -eq 0 ] || { printf 'FAILED: %s\n' "${failed[@]}"; return 1; }
    echo "All ${#names[@]} parts passed."
}

# check: short parts for what has changed.
if [ "$level" = check ]; then
    git rev-parse --quiet --verify "$base^{commit}" >/dev/null ||
        { echo "run.sh: git has no commit $base" >&2; exit 2; }
    mapfile -t changed < <({ git diff --name-only --no-renames "$base" && git ls-files --others --exclude-standard; } |
        sort -u)
fi

# The packages of the workspace that have changed: their lints, and their tests. If a package has changed only in files
# of tests, these alone.
check_crates() {
    local file name manifest packages=()
    local -A only=() whole=() is_package=()
    for file in "${changed[@]}"; do
        case $file in
        core/src/* | core/include/*) continue ;; # its own part
        core/*.rs | core/Cargo.toml) name=hashloom-sys ;;
        rust/*/*) name=${file#rust/} name=${name%%/*} ;;
        web/*) name=hashloom-web ;;
        *) continue ;;
        esac
        is_package[$name]=yes
        if [[ $file =~ ^rust/[^/]*/tests/([^/]*)\.rs$ ]]; then
            only[$name]+=" --test=${BASH_REMATCH[1]}"
        else
            whole[$name]=yes
        fi
    done
    for name in "${!is_package[@]}"; do
        # wgpu takes minutes to build: the part gpu.
        [ "$name" = hashloom-gpu ] || packages+=("$name")
    done
    [ ${#packages[@]} -gt 0 ] || { packages=(hashloom); only[hashloom]=--lib; }
    cargo clippy --quiet --locked "${packages[@]/#/--package=}" --all-targets -- -D warnings || return 1
    for name in "${packages[@]}"; do
        [ -z "${whole[$name]-}" ] || only[$name]=
        [ "$name" != hashloom-list ] || only[$name]+=" --features=sign"
        # shellcheck disable=SC2086
        cargo test --quiet --locked --package "$name" ${only[$name]} || return 1
    done
}

# The tests of the crates; in quick half of the files of tests/, and in every third run the examples.
test_crates() {
    local of=(--quiet --workspace --exclude hashloom-gpu --features hashloom/digest --locked) only=() files
    if [ "$level" = quick ]; then
        mapfile -t files < <(basename -s .rs {core,rust/*}/tests/*.rs | grep -vxE 'gpu|device|no_device|cuda' | sort -u)
        mapfile -t files < <(sample $((${#files[@]} / 2)) "${files[@]}")
        echo "tests/: ${files[*]}"
        only=(--lib --bins "${files[@]/#/--test=}")
        [ $((HASHLOOM_SEED % 3)) != 0 ] || cargo test "${of[@]}" --doc || return 1
    fi
    cargo test "${of[@]}" "${only[@]}"
}

# The documents that have changed, with the program as it is.
check_documents() {
    local file documents=()
    for file in "${changed[@]}"; do
        [[ $file != *.md || ! -e $file ]] || documents+=("$file")
    done
    python3 test/docs.py $program "${documents[@]}"
}

# The program is the one that the crates' tests build too; in test-all it is optimised, as users run it.
program=target/debug/hashloom program_profile=()
[ "$level" != all ] || program=target/release/hashloom program_profile=(--release)
require=(${HASHLOOM_REQUIRE:+--require})
# quick leaves out repetitions, and tests that another part has too.
every=(--all) proved=(--all) huge=(--huge)
case $level in
quick | list) every=() proved=(--share 9) huge=() && export PROPTEST_CASES=32 ;;
check) every=() huge=() && export PROPTEST_CASES=8 ;;
esac
python=build/venv/bin/python
fuse=(--quiet --locked --manifest-path test/fuse/Cargo.toml)
peers=(--manifest-path bench/peers/Cargo.toml)
# Files.
core='core/src/* core/include/* core/CMakeLists.txt'
crates='Cargo.* rust/* core/*.rs core/Cargo.toml web/*.rs web/Cargo.toml'
cli='rust/hashloom-cli/src/*'

[ "$level" != list ] || level=quick is_list=yes
# Long parts first, so that none is alone at the end.
part c "check quick all" "" "$core test/*.c test/*.h test/CMakeLists.txt test/c.sh test/steps.sh libmd/*" \
    test/c.sh "$level"
part program "check quick all" "" "" \
    cargo build --quiet "${program_profile[@]}" --locked --package hashloom-cli
part docs "quick all" +program "*.md docs/* test/docs.py $cli" python3 test/docs.py $program "${require[@]}"
part documents check +program "*.md" check_documents
part expect "check quick all" "" "core/src/*.def test/expect*" test/expect_test.sh
part format "check quick all" "" "*.rs" cargo fmt --all --check
part crates check "" "$crates" check_crates
part lint "quick all" "" "" \
    cargo clippy --quiet --workspace --exclude hashloom-gpu --features hashloom/digest --all-targets --locked \
    -- -D warnings
part crates "quick all" "lint program" "" \
    test_crates
part clients "quick all" +program "test/clients.py rust/hashloom-torrent/src/resume/*" \
    $python test/clients.py $program "${require[@]}"
part cross "quick all" "" "$core test/*.c test/cross.sh test/emulate.sh" test/cross.sh "$level"
part lists "check quick all" "" "*" test/lists.py
part loops "check quick all" "" "core/src/x86/* core/src/lanes/* core/src/alg/* test/loops.py" test/loops.py
part proof "quick all" "" "$core tools/algorithms.py test/proof/*" test/proof/prove.py "${proved[@]}"
# In a folder of its own: no other test needs the solver. Without it smt.py says what is skipped.
part proof-by-solver all "" "$core tools/algorithms.py test/proof/*" bash -c 'at=build/smt/bin
    [ -x $at/python ] || python3 -m venv build/smt
    $at/python -c "import z3" 2>/dev/null || $at/pip install --quiet --disable-pip-version-check z3-solver
    PATH=$at:$PATH python3 test/proof/smt.py'
# A workspace of its own, with other people's crates, C libraries and compilers.
part peers-format "check quick all" "" "bench/peers/*.rs" cargo fmt "${peers[@]}" --check
part peers all +program "bench/peers/* bench/never/*" bench/peers/run.sh --quick
# The profile and the folder are those of the part before, so that the C of the crates is compiled once.
part peers-lint all peers "bench/peers/*" \
    cargo clippy --quiet --release --locked "${peers[@]}" --target-dir bench/peers/target -- -D warnings
part go "quick all" "" "go/* test/go* $core" test/go.sh "$level"
part shaders "check quick" "" "core/src/alg/* core/src/algorithms.def core/src/lanes/* tools/algorithms.py tools/wgsl/*" \
    tools/wgsl/write.py --check
# wgpu takes minutes to build.
part gpu all "" "rust/hashloom-gpu/* tools/wgsl/* bench/gpu/* test/cuda.py" test/gpu.sh
part python "quick all" program "python/* test/python.sh rust/*/src/* docs/rows.md vectors/rows/*" \
    test/python.sh "$level"
# Users run optimised code, and compilers have bugs: all random cases.
part crates-optimised all program "" cargo test --quiet --release --workspace --exclude hashloom-gpu \
    --exclude hashloom-cli --exclude hashloom-web --features hashloom/digest,hashloom-list/sign --tests --locked
part lint-without-features all crates "rust/hashloom-cli/*" \
    cargo clippy --quiet --package hashloom-cli --no-default-features --all-targets --locked -- -D warnings
part crate-without-std "quick all" lint-without-features "rust/hashloom/*" \
    cargo test --quiet --package hashloom --no-default-features --locked
# Without features too no crate has a warning. clippy, as the lint has compiled what the crates depend on.
part crates-without-features all crate-without-std "rust/hashloom-files/* rust/hashloom-list/*" cargo clippy --quiet \
    --package hashloom-files --package hashloom-list --no-default-features --locked -- -D warnings
part fuse-format "check quick all" "" "test/fuse/*.rs" cargo fmt --manifest-path test/fuse/Cargo.toml --check
part fuse-lint "check all" "crate-without-std crates-without-features" "test/fuse/*" \
    cargo clippy "${fuse[@]}" --all-targets -- -D warnings
part fuse-tests "check all" fuse-lint "test/fuse/*" cargo test "${fuse[@]}"
part fuse "quick all" "crate-without-std fuse-tests" "test/fuse/*" cargo build "${fuse[@]}"
part documentation "quick all" fuse "$crates" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace \
    --exclude hashloom-gpu --no-deps --locked
part faults "quick all" "+program +fuse" "test/faults.* $cli rust/*/src/*" \
    python3 test/faults.py $program "${require[@]}" "${every[@]}"
part torrents-of-others "check quick all" +program "test/interop_torrents.py test/bencode.py" \
    $python test/interop_torrents.py $program "${require[@]}"
part behind "quick all" +program "test/behind.py rust/hashloom-files/src/read/*" \
    python3 test/behind.py $program "${require[@]}"
part manifests "check quick all" +program "test/manifest.py rust/hashloom-list/src/manifest/*" \
    test/manifest.py $program
part malformed-torrents "check quick all" +program \
    "test/malformed_torrents.py rust/hashloom-torrent/src/parse/*" \
    $python test/malformed_torrents.py $program "${require[@]}"
part covered "quick all" +program "test/covered.py $cli" $python test/covered.py $program "${require[@]}"
part trees-of-others "check quick all" +program "test/trees.py rust/hashloom-tree/src/*" \
    $python test/trees.py $program "${require[@]}" "${every[@]}"
part coreutils "check quick all" +program "test/coreutils.py rust/hashloom-cli/src/solaris/*" \
    $python test/coreutils.py $program "${require[@]}"
part macs "check quick all" +program test/macs.py python3 test/macs.py $program "${require[@]}" "${huge[@]}"
part addresses "check quick all" +program test/addresses.py \
    python3 test/addresses.py $program "${require[@]}" "${every[@]}"
part kernel-sizes all +program "tools/kernels.py $core" tools/kernels.py $program
part runner "check quick all" "" "test/run.sh test/run_test.sh" test/run_test.sh
part setup "check quick all" "" "tools/setup.sh test/setup.sh" test/setup.sh
part installation "quick all" +program "test/install.sh Makefile rust/hashloom-cli/src/generate/*" \
    test/install.sh $program "${require[@]}"
part dependencies "check quick all" "" "*Cargo.toml *Cargo.lock deny.toml" tools/deny.sh
part openssl-provider "quick all" "" "drop-in/openssl/* test/openssl_* $core" test/openssl_provider.sh
part web "quick all" +program "web/*" env HASHLOOM_TEST_ALL="$([ "$level" != all ] || echo 1)" \
    bash -c "make --silent web && python3 web/test.py build/web/hashloom.html --program $program"
part npm "check quick all" "" "web/npm/* web/browser.py web/engines.py vectors/npm/* $core" \
    bash -c "make --silent npm && web/npm/test.py build/npm ${require[*]}"
part pkcs11 "quick all" openssl-provider "drop-in/pkcs11/* test/pkcs11_* bench/Pkcs11.java $core" test/pkcs11_module.sh "$level"
part offered "check quick all" "" "*.sh *.py *.c .ci/run .github/* *Cargo.lock *Cargo.toml core/include/* fuzz/*" \
    test/offered.sh "$([ "$level" = all ] && echo all || echo quick)"
# Two optimised builds of all crates and three others: about 40 minutes on two busy CPUs.
part dist all "" "" make --silent dist
part fresh all "" "" test/fresh.sh
part windows all +program "test/windows.sh" test/windows.sh $program
part other-systems all documentation "" test/other_systems.sh
part consumer-crate all other-systems "" cargo run --quiet --locked --manifest-path test/consumer/crate/Cargo.toml
part fuzz-c fuzz "" "" test/fuzz_c.sh 600
part fuzz-pkcs11 fuzz "" "" test/pkcs11_module.sh fuzz 600
part fuzz-crates fuzz "" "" fuzz/run.sh 600
[ -z "${is_list-}" ] || { printf '%s\n' "${names[@]}"; exit; }
run_parts
report
