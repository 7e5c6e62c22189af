#!/usr/bin/env bash
# expect_test.sh: test/expect.sh against the features of CPUs that this machine is not.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
cpuinfo=$(mktemp) errors=$(mktemp)
trap 'rm -f "$cpuinfo" "$errors"' EXIT
failed=0

# cpu NAME EXPECTED LACKING FLAGS...: FLAGS is a processor's list each. EXPECTED and LACKING: what expect.sh prints, and
# the sets that it names as not tested.
cpu() {
    local name=$1 expected=$2 lacking=$3 found named
    shift 3
    printf 'processor\t: 0\nmodel name\t: sha_ni in another line\nflags\t\t: %s\n\n' "$@" >"$cpuinfo"
    found=$(test/expect.sh "$cpuinfo" 2>"$errors") ||
        { echo "FAILED: $name: status $?"; cat "$errors"; failed=1; return; }
    named=$(sed -n 's/^not tested here: [0-9]* kernels of \([^:]*\): this CPU lacks .*/\1/p' "$errors" | paste -sd,)
    [ "$found" = "$expected" ] || { echo "FAILED: $name: expected $expected, found $found"; failed=1; }
    [ "$named" = "$lacking" ] || { echo "FAILED: $name: lacks $lacking, found $named"; failed=1; }
}

refused() { # WHAT TEXT CPUINFO
    local status=0
    test/expect.sh "$3" >"$cpuinfo.out" 2>"$errors" || status=$?
    [ $status = 2 ] && [ ! -s "$cpuinfo.out" ] && grep -q "$2" "$errors" && grep -q 'HASHLOOM_EXPECT=' "$errors" ||
        { echo "FAILED: $1: status $status"; cat "$cpuinfo.out" "$errors"; failed=1; }
    rm -f "$cpuinfo.out"
}

baseline="fpu sse sse2"
conroe="$baseline ssse3"
haswell="$conroe sse4_1 avx bmi1 avx2 bmi2"
skylake="$haswell avx512f avx512bw avx512vl"
case $(uname -m) in
x86_64)
    cpu "Opteron, the first" sse2 ssse3,avx,avx2,avx512vl,avx512,sha,sha_avx512vl "$baseline"
    cpu "Goldmont: SHA without AVX" sse2,ssse3,sha avx,avx2,avx512vl,avx512,sha_avx512vl "$conroe sse4_1 sha_ni"
    cpu Haswell sse2,ssse3,avx,avx2 avx512vl,avx512,sha,sha_avx512vl "$haswell"
    cpu "Zen 3" sse2,ssse3,avx,avx2,sha avx512vl,avx512,sha_avx512vl "$haswell sha_ni"
    cpu "Knights Landing: AVX-512 without its smaller registers" sse2,ssse3,avx,avx2 avx512vl,avx512,sha,sha_avx512vl \
        "$haswell avx512f avx512cd"
    cpu "Skylake-X" sse2,ssse3,avx,avx2,avx512vl,avx512 sha,sha_avx512vl "$skylake"
    cpu "Zen 5" sse2,ssse3,avx,avx2,avx512vl,avx512,sha,sha_avx512vl "" "$skylake sha_ni"
    cpu "a virtual machine with one feature masked" sse2,ssse3,avx,sha avx2,avx512vl,avx512,sha_avx512vl \
        "${skylake/ bmi2/} sha_ni"
    cpu "two processors that differ" sse2,ssse3,avx,avx2 avx512vl,avx512,sha,sha_avx512vl "$skylake" "$haswell sha_ni"
    ;;
*) echo "SKIPPED: test/expect.sh with the features of other CPUs: they are listed for x86-64 only" ;;
esac
case $(uname -m) in
x86_64 | aarch64)
    refused "a list without features" "does not list" /dev/null
    CC=false refused "no compiler" "cannot read core/src/registry.def" /proc/cpuinfo
    ;;
esac
refused "no list" "cannot be read" /nonexistent/cpuinfo
[ $failed = 0 ] && echo "test/expect.sh names what each CPU has"
exit $failed
