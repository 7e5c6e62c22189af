#!/usr/bin/env bash
# Every check of the C side: the core, its build files, its tests and its fuzz target.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/c.sh [check|quick|all] [--expect ISA,ISA,...]
#
# quick (the default) takes a few minutes: gcc's library is static; an eighth of the repetitions, some of the programs,
# one of clang's three builds, libmd or the ways to use the library, and a library with a part of everything, by
# HASHLOOM_SEED. all adds the others, every installed version of gcc and clang, all builds by each, hardened and
# unoptimised ones, each sanitizer over the kernels as well, all repetitions under sanitizers, valgrind, messages over 4
# GiB and longer fuzzing. check tests the library that the program has, with a sixteenth of the repetitions. The end
# names all that this machine cannot run. --expect (or HASHLOOM_EXPECT) makes a missing instruction set a failure. JOBS:
# the number of compilers to run at once. Exit status: 0 all passed, 1 something failed, 2 something needed is not
# installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
root=$PWD
logs=$root/build/c
level=quick
export JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

while [ $# -gt 0 ]; do
    case $1 in
    check | quick | all) level=$1 ;;
    --expect) [ $# -ge 2 ] || { echo "c.sh: --expect needs a list: --expect avx512,sha" >&2; exit 2; }
        export HASHLOOM_EXPECT=$2; shift ;;
    *) echo "usage: test/c.sh [check|quick|all] [--expect ISA,ISA,...]" >&2; exit 2 ;;
    esac
    shift
done

# ---- Needed programs ------------------------------------------------------------------------------------------------

missing=()
needed="gcc cmake make nm"
[ $level = check ] || needed="$needed c++ clang pkg-config valgrind"
for name in $needed; do
    command -v $name >/dev/null || missing+=("$name")
done
echo '#include <openssl/evp.h>' | ${CC:-gcc} -E -x c - >/dev/null 2>&1 || missing+=("openssl/evp.h")
[ $level = check ] || echo 'int main(void){return 0;}' | clang -fsanitize=address -x c - -o /dev/null 2>/dev/null ||
    missing+=("clang's sanitizers")
if [ ${#missing[@]} -gt 0 ]; then
    printf 'c.sh: not installed: %s\n' "${missing[@]}" >&2
    echo "      tools/setup.sh test-more installs it" >&2
    exit 2
fi

# gcc and clang, and for `all` each further version once.
compilers=(gcc)
[ $level = check ] || compilers+=(clang)
if [ $level = all ]; then
    seen=" $(gcc -dumpversion)gcc $(clang -dumpversion)clang "
    for version in 8 9 10 11 12 13 14 15 16; do
        command -v gcc-$version >/dev/null || continue
        [[ $seen == *" $(gcc-$version -dumpversion)gcc "* ]] || compilers+=(gcc-$version)
    done
    for version in 14 15 16 17 18 19 20 21 22; do
        command -v clang-$version >/dev/null || continue
        [[ $seen == *" $(clang-$version -dumpversion)clang "* ]] || compilers+=(clang-$version)
    done
fi

# ---- Steps ----------------------------------------------------------------------------------------------------------

. test/steps.sh

# The flags of freestanding.sh, which says why.
plain="-fno-stack-protector -U_FORTIFY_SOURCE"

bare() { # CC FLAGS: the build without a build system
    local out="$logs/bare-$1${2// /}"
    # shellcheck disable=SC2086
    rm -rf "$out" && mkdir -p "$out" && cd "$out" &&
        for file in "$root"/core/src/*.c "$root"/core/src/*/*.c; do
            printf '%s\0' "$file" -o "$(basename "$(dirname "$file")")-$(basename "$file" .c).o"
        done | xargs -0 -n 3 -P "$JOBS" $1 $2 $plain -std=c11 -Wall -Wextra -Wpedantic -Werror \
            -I"$root/core/include" -c &&
        $1 $2 -I"$root/core/include" "$root/test/consumer/main.c" ./*.o -o consumer && ./consumer
}

memcheck() { # valgrind 3.19 lacks AVX-512 and SHA instructions and hides them from cpuid: those kernels are skipped
    local build=$logs/gcc program
    unset HASHLOOM_EXPECT HASHLOOM_TEST_ALL
    for program in oracle cavp lengths kernels api streams hmac; do
        (cd "$build" && valgrind -q --error-exitcode=9 --track-origins=yes "./$program") || return 1
    done | sed 's/ here)$/ under valgrind)/'
    [ "${PIPESTATUS[0]}" -eq 0 ] && (cd "$build" && valgrind -q --error-exitcode=9 ./fuzz --runs 20)
}

# A user's hardening stays: the driver's functions check their frames, memcpy into objects of known size is checked, and
# every object, also those with assembly, is marked for control flow protection.
hardened() { # CC
    local out=$logs/hardened-$(basename "$1") object notes odd
    local flags="-O2 -g1 -D_FORTIFY_SOURCE=2 -fstack-protector-strong"
    [ "$(uname -m)" != x86_64 ] || flags+=" -fcf-protection=full"
    rm -rf "$out" && mkdir -p "$out"
    for file in core/src/*.c core/src/*/*.c; do
        printf '%s\0' "$file" -o "$out/$(basename "$(dirname "$file")")-$(basename "$file" .c).o"
    done | xargs -0 -n 3 -P "$JOBS" "$1" $flags -std=c11 -Wall -Wextra -Werror -Icore/include -c ||
        return 1
    for object in "$out"/*.o; do
        [ "$(uname -m)" = x86_64 ] || break
        notes=$(readelf -nW "$object")
        [[ $notes == *IBT*SHSTK* ]] || { echo "$object: no notes of control flow protection"; return 1; }
    done
    for object in src-hash src-streams src-hmac src-burn; do
        nm -u "$out/$object.o" | grep -q __stack_chk_fail || { echo "$object: its frames are not checked"; return 1; }
    done
    odd=$(nm -u "$out"/*.o | awk 'NF == 2 {print $2}' | sort -u | grep -vE '^hli?_' |
        grep -vxE 'mem(cpy|set)|__mem(cpy|set)_chk|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_|getauxval')
    [ -z "$odd" ] || { echo "needs more than the checks of memcpy and memset:" $odd; return 1; }
    "$1" $flags -Icore/include test/consumer/main.c "$out"/*.o -o "$out/consumer" && "$out/consumer"
}

# A kernel or algorithm that was left out does not count as skipped.
suite_of_parts() { # NAME ALGORITHMS ISAS
    HASHLOOM_EXPECT='' suite "parts-$1" "" -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release \
        "-DHASHLOOM_ALGORITHMS=$2" "-DHASHLOOM_ISAS=$3" |
        sed 's/^skipped: /left out: /; s/, [0-9]* skipped$/, 0 skipped/'
    return "${PIPESTATUS[0]}"
}

shapes() { # with the objects of the build without a build system
    gcc -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -Icore/include core/examples/shapes.c \
        "$logs"/bare-gcc-O2/*.o -o "$logs/shapes" && "$logs/shapes" && [ "$("$logs/shapes" | grep -c ' right$')" = 6 ]
}

# HASHLOOM_EXPECT fails with a core that overlooks what the CPU has.
overlooked() {
    local out=$logs/overlooked objects
    mkdir -p "$out"
    echo '#include "cpu.h"
        struct hli_machine hli_detect(void) { return (struct hli_machine){0, 0}; }' >"$out/cpu.c"
    objects=$(printf '%s\n' "$logs"/bare-gcc-O2/*.o | grep -v '/src-cpu\.o$')
    # shellcheck disable=SC2086
    gcc -O2 -Wall -Wextra -Wno-unused-result -Icore/include -Icore/src -Itest test/oracle.c test/test.c \
        test/reference.c "$out/cpu.c" $objects -o "$out/oracle" || return 1
    HASHLOOM_EXPECT='' "$out/oracle" >"$out/log" 2>&1 || { cat "$out/log"; return 1; }
    HASHLOOM_EXPECT=$(test/expect.sh) || return 1
    [ -n "$HASHLOOM_EXPECT" ] || { echo "skipped: a core that overlooks instruction sets: this CPU has none"; return; }
    export HASHLOOM_EXPECT
    if "$out/oracle" >"$out/log" 2>&1; then
        echo "a core that finds nothing passes with HASHLOOM_EXPECT=$HASHLOOM_EXPECT"
        return 1
    fi
    grep -q 'this machine has no' "$out/log"
}

san="-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer"
export UBSAN_OPTIONS=print_stacktrace=1

if [ $level = check ]; then
    # The kernels take most of a compiler's time. quick has what is true of optimised code alone (stack, remains), and
    # what takes long: x86's SHA-512 instructions by a model, constant_time under valgrind, choice.
    export TARGETS="oracle cavp lengths kernels api streams export jobs chains hmac blake2 blake3 pbkdf2 slh search"
    TARGETS+=" threads sha1dc fuzz"
    archive=$(archive_of_crates)
    [ -f "$archive" ] || { echo "c.sh: cargo built no library" >&2; exit 2; }
    HASHLOOM_TEST_SHARE=${HASHLOOM_TEST_SHARE:-16} step "tests of the program's library, 1/16" \
        suite check "-R ^(${TARGETS// /|})\$" "-DTEST_ARCHIVE=$archive" -DCMAKE_C_COMPILER=gcc \
        -DCMAKE_BUILD_TYPE=Release
    end_steps check
    exit
fi

for cc in "${compilers[@]}"; do
    # In quick, freestanding.sh compiles with the same flags and warnings, so gcc's objects are compiled once.
    [ $level$cc = quickclang ] || step "$cc: cc -O2 core/src/*.c core/src/*/*.c, no warning" bare "$cc" -O2
    [ $level = quick ] || step "$cc: cc -O0 ..." bare "$cc" -O0
    # A target that a user chose. Not -march=native: clang 19 warns of its own choice for CPUs with AVX10.
    [ $level = quick ] || [ "$(uname -m)" != x86_64 ] ||
        step "$cc: cc -O3 -march=x86-64-v3 ..." bare "$cc" "-O3 -march=x86-64-v3"
done
for cc in "${compilers[@]}"; do
    [ $level$cc = quickclang ] || step "$cc: freestanding" env CC="$cc" test/freestanding.sh $level
    [ $level = quick ] ||
        step "$cc: kernels optimised and unsanitized in a debug build" env CC="$cc" test/optimised_kernels.sh $level
done
for cc in gcc clang; do
    [ $level = quick ] || step "$cc: hardened: fortified, stack protector, control flow protection" hardened $cc
done
step "gcc: core/examples/shapes.c" shapes
step "gcc: a core that overlooks an instruction set fails the tests" overlooked
uses=(consumer libmd)
[ $level = all ] || mapfile -t uses < <(sample 1 "${uses[@]}")
for cc in gcc clang; do
    [ $level$cc != quickclang ] || continue
    [[ ${uses[*]} != *consumer* ]] ||
        step "$cc: used by add_subdirectory, find_package, pkg-config" env CC=$cc test/consumer.sh
    [[ ${uses[*]} != *libmd* ]] ||
        step "$cc: libmd's functions beside Debian's libmd, programs with them" env CC=$cc test/libmd.sh $level
done

# Libraries, each with a part of everything; two have one block function.
parts=("one sha256 avx2;sha"
    "others sha512;ripemd160;md5;search;hmac gnu;sse2;avx;avx512vl;avx512;neon;sha3;sha512"
    "sponges sha3;slh avx2;avx512vl")
[ $level = all ] || mapfile -t parts < <(sample 1 "${parts[@]}")
for part in "${parts[@]}"; do
    read -r name algorithms isas <<<"$part"
    HASHLOOM_TEST_SHARE=${HASHLOOM_TEST_SHARE:-16} step "gcc: a library of $algorithms, 1/16" \
        suite_of_parts "$name" "$algorithms" "$isas"
done

if [ $level = quick ]; then
    # The libraries of a release. The steps above have compiled most of their objects.
    # Every kernel and call, but not every repetition (test.h), and some of the programs.
    mapfile -t some < <(sample 4 streams export jobs hmac blake2 blake3 pbkdf2 chains slh search stack choice threads)
    HASHLOOM_TEST_SHARE=${HASHLOOM_TEST_SHARE:-8} step "gcc: tests, static library, 1/8: ${some[*]}" \
        suite_of "oracle cavp lengths kernels api remains constant_time fuzz ${some[*]}" gcc \
        -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Release
    export HASHLOOM_TEST_SHARE=${HASHLOOM_TEST_SHARE:-32}
    mapfile -t some < <(sample 6 cavp lengths streams export jobs hmac blake2 blake3 pbkdf2 slh search stack)
    mapfile -t kinds < <(sample 1 shared debug tsan)
    [[ ${kinds[*]} != *shared* ]] ||
        step "clang: tests, shared library, 1/32: ${some[*]::3}" suite_of "oracle kernels api ${some[*]::3}" \
            clang-shared -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=ON
    [[ ${kinds[*]} != *debug* ]] ||
        step "clang: tests, address and undefined, kernels as shipped, 1/32: ${some[*]:3}" \
            suite_of "oracle kernels api bad_length ${some[*]:3}" clang-debug -DCMAKE_C_COMPILER=clang \
            -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$san"
    [[ ${kinds[*]} != *tsan* ]] ||
        step "clang: threads, under ThreadSanitizer" suite_of threads clang-tsan -DCMAKE_C_COMPILER=clang \
            -DCMAKE_C_FLAGS=-fsanitize=thread
else
    export HASHLOOM_TEST_ALL=1
    step "gcc: tests, static library, with messages over 4 GiB" suite gcc "" -DCMAKE_C_COMPILER=gcc \
        -DTEST_FUZZ_SECONDS=60
    for cc in "${compilers[@]}"; do
        step "$cc: tests, shared library" suite "$cc-shared" "-E huge" -DCMAKE_C_COMPILER="$cc" -DBUILD_SHARED_LIBS=ON
        step "$cc: tests, reference.c as the oracle" suite "$cc-reference" "-E huge" -DCMAKE_C_COMPILER="$cc" \
            -DTEST_LIBCRYPTO=OFF
        step "$cc: tests, -O0, address and undefined, kernels as shipped" suite "$cc-debug" "-E huge" \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS="$san"
        step "$cc: tests, address and undefined, kernels too" suite "$cc-san-bare" "-E huge" \
            -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_C_FLAGS="$san" -DTEST_BARE_CORE=ON
        step "$cc: tests, -O0, kernels too" suite "$cc-bare-O0" "-E huge" -DCMAKE_C_COMPILER="$cc" \
            -DCMAKE_BUILD_TYPE=Debug -DTEST_BARE_CORE=ON
        TARGETS="threads streams" step "$cc: threads and streams, under ThreadSanitizer" \
            suite "$cc-tsan" "-R (threads|streams)" -DCMAKE_C_COMPILER="$cc" -DCMAKE_C_FLAGS=-fsanitize=thread \
            -DTEST_BARE_CORE=ON
    done
    step "clang: tests, under MemorySanitizer" suite clang-msan "-E huge" -DCMAKE_C_COMPILER=clang \
        -DCMAKE_C_FLAGS="-fsanitize=memory -fno-omit-frame-pointer" -DTEST_LIBCRYPTO=OFF
    step "clang: tests, under MemorySanitizer, kernels too" suite clang-msan-bare "-E huge" -DCMAKE_C_COMPILER=clang \
        -DCMAKE_C_FLAGS="-fsanitize=memory -fno-omit-frame-pointer" -DTEST_LIBCRYPTO=OFF -DTEST_BARE_CORE=ON
    step "valgrind memcheck" memcheck
    step "clang: libFuzzer, 120 s" test/fuzz_c.sh 120
fi

# ---- The end --------------------------------------------------------------------------------------------------------

end_steps "$level, compilers ${compilers[*]}"
