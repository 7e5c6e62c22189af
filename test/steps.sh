# steps.sh: the steps of c.sh, cross.sh and go.sh: their output and the counts. Sourced, with $root the repository and
# $logs a folder for builds and logs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0

mkdir -p "$logs"

. "$root/test/ccache.sh"
. "$root/test/sample.sh"

: >"$logs/skipped"
passed=0 failed=0 skipped=0
failed_steps=()
started=$SECONDS

telling='^FAILED: |^  .*not true: |^  \.\.\. and|runtime error: |^SUMMARY: |\*\*\*|[^a-z]error: |fuzz/hash_many: .*: '

# Sets children_cpu: the seconds of CPU that the ended commands of this script have taken. Not its output, as a subshell
# has children of its own.
count_cpu() {
    times >"$logs/times"
    children_cpu=$(awk 'END {split($1, own, /[ms]/); split($2, kernel, /[ms]/)
        printf "%d\n", own[1] * 60 + own[2] + kernel[1] * 60 + kernel[2]}' "$logs/times")
}

# step NAME COMMAND...: prints one line on success, the end of the output on failure. Counts the cases in the output's
# lines "N passed, N failed, N skipped"; without such a line, the step counts as one.
step() {
    local name=$1 log from=$SECONDS cpu status cases p f s
    shift
    count_cpu
    cpu=$children_cpu
    log=$logs/$(echo "$name" | tr -c 'a-z0-9\n' -).log
    printf '%-72s ' "$name"
    ("$@") >"$log" 2>&1
    status=$?
    count_cpu
    grep '^skipped: ' "$log" >>"$logs/skipped"
    read -r p f s cases < <(awk '/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {p += $1; f += $3; s += $5; n++}
        END {print p + 0, f + 0, s + 0, n + 0}' "$log")
    [ "$cases" -gt 0 ] || { [ $status -eq 0 ] && p=1; }
    [ $status -eq 0 ] || [ "$f" -gt 0 ] || f=1
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    if [ $status -eq 0 ] && [ "$f" -eq 0 ]; then
        printf 'ok %5s passed%s %3ds, CPU %ds\n' "$p" "$([ "$s" -eq 0 ] || echo ", $s skipped")" $((SECONDS - from)) \
            $((children_cpu - cpu))
    else
        printf 'FAILED %3ds\n' $((SECONDS - from))
        failed_steps+=("$name")
        # The first messages of tests and sanitizers, or else the end.
        { grep -E "$telling" "$log" || tail -n 40 "$log"; } | head -n 40 | sed 's/^/    /'
        echo "    the whole log: ${log#"$root"/}"
    fi
}

# leave_out WHERE REASON TEST...: leaves tests of the crates out, by the beginning of their names.
left_out=()
leave_out() {
    local where=$1 reason=$2 test
    shift 2
    for test; do
        left_out+=(--skip "$test")
        echo "skipped: $where: $test: $reason" >>"$logs/skipped"
    done
}

# suite_of TARGETS NAME CMAKE-ARGS...: these programs alone.
suite_of() {
    local targets=$1
    TARGETS=$targets suite "$2" "-R ^(${targets// /|})(_|\$)" "${@:3}"
}

# suite NAME CTEST-ARGS CMAKE-ARGS...: builds the tests, or the programs named in TARGETS, and runs them.
suite() {
    local build=$logs/$1 ctest_args=$2
    shift 2
    # shellcheck disable=SC2086
    cmake -S "$root/test" -B "$build" "$@" &&
        cmake --build "$build" -j "$JOBS" ${TARGETS:+--target $TARGETS} || return 1
    # shellcheck disable=SC2086
    (cd "$build" && ctest -j "$JOBS" $ctest_args)
    local status=$?
    # The output of the tests. A bad_length test is meant to end in a sanitizer's report.
    awk '/^[0-9]+\/[0-9]+ Testing: / {meant = /bad_length/}
        !meant {print}
        meant && /^Test Passed|^Test Pass Reason/ {print "1 passed, 0 failed, 0 skipped"}
        meant && /^Test Failed/ {print "FAILED: not caught by AddressSanitizer"; print "0 passed, 1 failed, 0 skipped"}
        ' "$build/Testing/Temporary/LastTest.log"
    return $status
}

# end_steps WHAT: prints skipped and failed steps and the sums; returns the exit status of the script.
end_steps() {
    sort -u "$logs/skipped"
    for name in "${failed_steps[@]}"; do
        echo "FAILED: $name"
    done
    echo "$1, $((SECONDS - started)) s"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}

# The C library that the crates are built with: compiled once for them, the tests in C and the Python package.
archive_of_crates() {
    (cd "$root" && cargo build --quiet --locked --package hashloom-sys --message-format json-render-diagnostics) |
        sed -n 's|.*"out_dir":"\([^"]*/hashloom-sys-[^"]*\)".*|\1/libhashloom.a|p'
}
