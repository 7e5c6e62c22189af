#!/usr/bin/env bash
# run.sh: all tests: the C library, the Rust crates, the Go module, the program against the torrents of other programs
# and against malformed ones.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/run.sh quick|all|fuzz
#
# Called by `make test`, `make test-all` and `make fuzz`, which install what is needed first. HASHLOOM_EXPECT=avx512,sha
# makes it a failure if the library finds fewer instruction sets than these; by default, those that this CPU has
# (test/expect.sh). HASHLOOM_REQUIRE=1 makes it a failure if something cannot be tested here: a program is missing, root
# is needed. Exit status: 0 if everything passed.
#
# Parts run side by side, PARTS at a time: one more than there are CPUs, as some mostly wait. The output of a part is in
# build/parts/NAME.log, and is printed whole, in the order of this file. The last lines name what was skipped, the times
# and the parts that failed.
set -uo pipefail
# A shell without job control starts a command in the background with SIGINT ignored, which the program respects: tests
# that interrupt it would wait for ever.
if [ -z "${HASHLOOM_SIGNALS-}" ]; then
    export HASHLOOM_SIGNALS=default
    env --default-signal true 2>/dev/null && exec env --default-signal "$BASH" "$0" "$@"
fi
cd "$(dirname "$0")/.." || exit 2
level=${1:?usage: run.sh quick|all|fuzz}
root=$PWD
if [ -z "${HASHLOOM_EXPECT+set}" ]; then
    HASHLOOM_EXPECT=$(test/expect.sh) || exit 2
    export HASHLOOM_EXPECT
fi
echo "== Expected of this CPU: ${HASHLOOM_EXPECT:-nothing}"
. test/ccache.sh
at_once=${PARTS:-$(($(getconf _NPROCESSORS_ONLN) + 1))}
logs=build/parts
rm -rf $logs
mkdir -p $logs

# A process group for each part, so that Ctrl-C ends all that a part has started.
set -m
# shellcheck disable=SC2154
trap 'for group in $(jobs -p); do kill -- "-$group"; done; exit 130' INT TERM

names=()
declare -A after command state # state: "" before, a process, then ended or printed

# part NAME AFTER COMMAND...: a part to run, when the parts named in AFTER have ended, whether they passed or not.
# Parts that wait for the same lock of Cargo come one after another, as a part that waits takes up a place.
# A part that tools/setup.sh names in build/left-out only says so.
part() {
    local why
    names+=("$1")
    after[$1]=$2
    command[$1]=$(printf '%q ' "${@:3}")
    why=$(sed -n "s/^$1\t//p" build/left-out 2>/dev/null | paste -sd';')
    [ -z "$why" ] || command[$1]=$(printf '%q ' echo "SKIPPED: $1: $why")
}

may_start() { # NAME
    local earlier
    for earlier in ${after[$1]}; do
        [[ ${state[$earlier]-} =~ ended|printed ]] || return 1
    done
}

# The exit status of the part goes into NAME.status, its seconds (real, user and system) into NAME.time.
start() { # NAME
    {
        TIMEFORMAT='%R %U %S'
        time eval "${command[$1]}" >$logs/"$1".log 2>&1 </dev/null
        echo $? >$logs/"$1".status
    } 2>$logs/"$1".time &
    state[$1]=$!
}

run_parts() {
    local name pid running=0
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
    for name in "${names[@]}"; do # a name in AFTER that no part has
        [ "${state[$name]-}" = printed ] || { echo "run.sh: $name was never started" >&2; exit 2; }
    done
}

print() { # NAME
    state[$1]=printed
    echo
    echo "== $1: ${command[$1]}"
    cat $logs/"$1".log
}

# Prints what was skipped, the time of each part, longest first, and the parts that failed. Returns 1 if a part failed.
report() {
    local name real user system failed=() skipped
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
    [ ${#failed[@]} -eq 0 ] || { printf 'FAILED: %s\n' "${failed[@]}"; return 1; }
    echo "All parts passed."
}

program=target/release/hashloom
require=(${HASHLOOM_REQUIRE:+--require})
if [ "$level" = fuzz ]; then
    part fuzz-c "" test/fuzz_c.sh 600
    part fuzz-pkcs11 "" test/pkcs11_module.sh fuzz 600
    part fuzz-crates "" fuzz/run.sh 600
    run_parts
    report
    exit
fi

# quick leaves out repetitions, and tests that another part has too.
if [ "$level" = quick ]; then
    every=() huge=() targets=() cases=(env PROPTEST_CASES=32)
else
    every=(--all) huge=(--huge) targets=(--all-targets) cases=()
fi

# Long parts first, so that none is alone at the end.
part c "" test/c.sh "$level"
part program "" cargo build --quiet --release --locked --package hashloom-cli
part docs program python3 test/docs.py $program "${require[@]}"
part expect "" test/expect_test.sh
part format "" cargo fmt --all --check
part lint "" cargo clippy --quiet --workspace --exclude hashloom-gpu --all-targets --locked -- -D warnings
part crates lint "${cases[@]}" cargo test --quiet --workspace --exclude hashloom-gpu --locked
part clients program build/venv/bin/python test/clients.py $program "${require[@]}"
part cross "" test/cross.sh "$level"
part proof "" test/proof/prove.py "${every[@]}"
peers=(--manifest-path bench/peers/Cargo.toml)
part peers-format "" cargo fmt "${peers[@]}" --check
part peers program bench/peers/run.sh --quick
# The profile and the folder are those of the part before, so that the C of the crates is compiled once.
part peers-lint peers \
    cargo clippy --quiet --release --locked "${peers[@]}" --target-dir bench/peers/target -- -D warnings
part go "" test/go.sh "$level"
part gpu "" test/gpu.sh
part python program test/python.sh "$level"
# Users run optimised code, and compilers have bugs: all random cases.
[ "$level" = quick ] || part crates-optimised program \
    cargo test --quiet --release --package hashloom --package hashloom-engine --features hashloom/digest --tests --locked
part lint-without-bench crates \
    cargo clippy --quiet --package hashloom-cli --no-default-features "${targets[@]}" --locked -- -D warnings
part crate-without-std lint-without-bench "${cases[@]}" cargo test --quiet --package hashloom --no-default-features --locked
part crate-with-traits crate-without-std "${cases[@]}" cargo test --quiet --package hashloom --all-features --locked
# Each feature compiles alone, without a warning.
part engine-features crate-with-traits bash -c 'for feature in "" torrent create resume tree manifest io-uring; do
    RUSTFLAGS="-D warnings" CARGO_TARGET_DIR=target/features cargo check --quiet --package hashloom-engine \
        --no-default-features --features "$feature" --locked || { echo "feature: $feature"; exit 1; }; done'
faultfs=(--quiet --locked --manifest-path test/faultfs/Cargo.toml)
part faultfs-format "" cargo fmt --manifest-path test/faultfs/Cargo.toml --check
part faultfs-lint engine-features cargo clippy "${faultfs[@]}" --all-targets -- -D warnings
part faultfs-tests faultfs-lint cargo test "${faultfs[@]}"
part faultfs faultfs-tests cargo build "${faultfs[@]}"
disks=(--quiet --locked --manifest-path bench/disks/Cargo.toml)
part disk-model-format "" cargo fmt --manifest-path bench/disks/Cargo.toml --check
part disk-model-lint faultfs cargo clippy "${disks[@]}" --all-targets -- -D warnings
part disk-model-tests disk-model-lint cargo test "${disks[@]}"
part documentation disk-model-tests env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace \
    --exclude hashloom-gpu --no-deps --locked
part faults "program faultfs" python3 test/faults.py $program "${require[@]}" "${every[@]}"
part torrents-of-others program build/venv/bin/python test/interop_torrents.py $program "${require[@]}"
part manifests program test/manifest.py $program
part malformed-torrents program build/venv/bin/python test/malformed_torrents.py $program "${require[@]}"
part trees-of-others program build/venv/bin/python test/trees.py $program "${require[@]}" "${every[@]}"
part coreutils program build/venv/bin/python test/coreutils.py $program "${require[@]}"
part macs program python3 test/macs.py $program "${require[@]}" "${huge[@]}"
part addresses program python3 test/addresses.py $program "${require[@]}" "${every[@]}"
part kernel-sizes program tools/kernels.py $program
part setup "" test/setup.sh
part installation program test/install.sh "${require[@]}"
part dependencies "" tools/deny.sh
part openssl-provider "" test/openssl_provider.sh
part web program bash -c 'make --silent web && python3 web/test.py build/web/hashloom.html'
part pkcs11 openssl-provider test/pkcs11_module.sh "$level"
part offered "" test/offered.sh "$level"
# Two optimised builds of all crates and three others: about 40 minutes on two busy CPUs.
[ "$level" = quick ] || part fresh "" test/fresh.sh
[ "$level" = quick ] || part dist "" make --silent dist
[ "$level" = quick ] || part other-systems documentation test/other_systems.sh
[ "$level" = quick ] ||
    part consumer-crate other-systems cargo run --quiet --locked --manifest-path test/consumer/crate/Cargo.toml
run_parts
report
