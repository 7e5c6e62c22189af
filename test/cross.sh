#!/usr/bin/env bash
# The C tests for other architectures than this machine's, by Debian's cross compilers, statically linked, under qemu's
# user emulation (i686: on the machine itself), and with the oracle of test/reference.c. On aarch64 and s390x also tests
# of the Rust crates, in all.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/cross.sh [quick|all] [ARCH ...]
#
# quick (the default) is i686 or aarch64, by HASHLOOM_SEED, all is every architecture; ARCH names some. Each line of
# output is an architecture with a CPU. Emulation is slow: there only about one in eight repetitions runs, in quick one
# in 64 of the kernels and of two other programs, by HASHLOOM_SEED, unless HASHLOOM_TEST_SHARE (test.h) is set; 1 runs
# all. all also proves that the core is freestanding. JOBS: the number of compilers or tests to run at once. Exit
# status: 0 all passed, 1 something failed, 2 something needed is not installed; the output names it.
#
# Each CPU comes with the instruction sets that it must have, so that a silently missing kernel fails, and, after a
# minus, with those that it must not seem to have. i686 runs on the machine itself, so HASHLOOM_EXPECT, if set, applies.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
root=$PWD
logs=$root/build/cross
export JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

usage() {
    echo "usage: test/cross.sh [quick|all] [i686|aarch64|x86_64|riscv64|s390x|ppc64le|armhf|wasm32 ...]" >&2
    exit 2
}
level=quick archs=()
for argument; do
    case $argument in
    quick | all) level=$argument ;;
    i686 | aarch64 | x86_64 | riscv64 | s390x | ppc64le | armhf | wasm32) archs+=("$argument") ;;
    *) usage ;;
    esac
done
if [ ${#archs[@]} -eq 0 ] && [ $level = quick ]; then
    . test/sample.sh
    mapfile -t archs < <(sample 1 i686 aarch64)
elif [ ${#archs[@]} -eq 0 ]; then
    archs=(i686 aarch64 x86_64 riscv64 s390x ppc64le armhf wasm32)
fi

# ---- Needed programs ------------------------------------------------------------------------------------------------

# qemu emulates the x86 SHA instructions since version 8.2. On Debian 12 tools/setup.sh puts a newer qemu beside the
# system's.
newer_qemu=$root/build/qemu/usr/bin/qemu-x86_64
if ! [ -x $newer_qemu ]; then
    version=$(qemu-x86_64 --version 2>/dev/null | sed -n 's/.*version \([0-9.]*\).*/\1/p')
    [ "$(printf '%s\n' 8.2 "${version:-0}" | sort -V | head -n1)" != 8.2 ] || newer_qemu=qemu-x86_64
fi
# clang and its linker for WebAssembly, of the same version.
wasm_clang=
for version in "" -22 -21 -20 -19 -18 -17 -16 -15 -14; do
    command -v "clang$version" >/dev/null && command -v "wasm-ld$version" >/dev/null || continue
    wasm_clang=clang$version
    break
done

compiler_of() { # ARCH
    case $1 in
    wasm32) echo "${wasm_clang:-clang and wasm-ld}" ;;
    armhf) echo arm-linux-gnueabihf-gcc ;;
    ppc64le) echo powerpc64le-linux-gnu-gcc ;;
    *) echo "$1-linux-gnu-gcc" ;;
    esac
}

missing=()
need() { # COMMAND...
    local name
    for name; do
        command -v "$name" >/dev/null || missing+=("$name")
    done
}
need cmake
for arch in "${archs[@]}"; do
    need "$(compiler_of "$arch")"
    case $arch in
    i686) need qemu-i386 ;;
    armhf) need qemu-arm ;;
    x86_64) need qemu-x86_64 $newer_qemu ;;
    wasm32)
        need node
        [ -e /usr/lib/wasm32-wasi/libc.a ] || missing+=(wasi-libc)
        ;;
    *) need "qemu-$arch" ;;
    esac
done
if [ ${#missing[@]} -gt 0 ]; then
    printf 'cross.sh: not installed: %s\n' "${missing[@]}" >&2
    echo "          tools/setup.sh cross installs it" >&2
    exit 2
fi

# ---- Steps ----------------------------------------------------------------------------------------------------------

. test/steps.sh

warnings="-Wall -Wextra -Wpedantic -Werror"

# build_for ARCH NAME CMAKE-ARGS...: the following steps build in build/cross/NAME for this architecture.
build_for() {
    local arch=$1 compiler
    name=$2
    shift 2
    compiler=$(compiler_of "$arch")
    cmake_args=(-DCMAKE_C_COMPILER="$compiler" -DCMAKE_SYSTEM_PROCESSOR="$arch" -DTEST_LIBCRYPTO=OFF
        -DCMAKE_CROSSCOMPILING_EMULATOR="$root/test/emulate.sh" -DTEST_FUZZ_SECONDS=2)
    if [ "$arch" = wasm32 ]; then
        cmake_args+=(-DCMAKE_SYSTEM_NAME=WASI -DCMAKE_C_COMPILER_TARGET=wasm32-wasi -DCMAKE_SYSROOT=/usr
            -DCMAKE_EXE_LINKER_FLAGS=-Wl,-z,stack-size=1048576)
    else
        cmake_args+=(-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_EXE_LINKER_FLAGS=-static)
        [ $level = quick ] ||
            step "$name: freestanding" env CC=$compiler test/freestanding.sh all "$logs/$name-freestanding"
    fi
    cmake_args+=("$@")
}

# on CPU EXPECTED EMULATOR [CTEST-ARGS]: runs the tests of the last build_for. EMULATOR is empty, or a command that runs
# a program.
on() {
    local share=${HASHLOOM_TEST_SHARE:-8}
    [ -n "$3" ] || share=${HASHLOOM_TEST_SHARE:-1}
    local run=(suite "$name" "${4-}") which=
    if [ $level = quick ]; then
        share=${HASHLOOM_TEST_SHARE:-64}
        run=(suite_of "oracle kernels api" "$name")
        if [ -z "${4-}" ]; then
            which=$(sample 2 lengths fuzz streams export jobs hmac blake2 blake3 pbkdf2 chains slh search threads \
                stack remains choice)
            which="${which//$'\n'/ }$([ "$name" != aarch64 ] || echo " hwcap")"
            run[1]+=" $which"
        fi
    fi
    HASHLOOM_EXPECT=$2 HASHLOOM_TEST_EMULATOR=$3 HASHLOOM_TEST_SHARE=$share \
        step "$name, $1: tests${which:+: $which}$([ "$share" = 1 ] || echo ", 1/$share of the repetitions")" \
        "${run[@]}" "${cmake_args[@]}"
}

# The kernels of i686, called from code that aligns the stack to only 4 bytes.
stack_of_4_bytes() {
    i686-linux-gnu-gcc -O1 -static -mpreferred-stack-boundary=2 -Icore/include test/kernels.c test/test.c \
        test/reference.c "$logs/i686/core/libhashloom.a" -o "$logs/i686/kernels4" && "$logs/i686/kernels4"
}

# crates ARCH CPU EXPECTED PACKAGE CARGO-ARGS...: tests of a Rust crate, whose bindings and choice of a kernel no C test
# has. Debug builds would take three times as long to emulate.
crates() {
    local arch=$1 target=$1-unknown-linux-gnu at log=$logs/$1-$4-cargo status
    at=${target//-/_}
    [ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup --quiet target add "$target" >/dev/null 2>&1 ||
        { echo "skipped: $arch: $4: Rust's standard library is missing: rustup target add $target"; return; }
    export HASHLOOM_TEST_EMULATOR="qemu-$arch -cpu $2 -L /usr/$arch-linux-gnu"
    env "CC_$at=$arch-linux-gnu-gcc" "CARGO_TARGET_${at^^}_LINKER=$arch-linux-gnu-gcc" \
        "CARGO_TARGET_${at^^}_RUNNER=$HASHLOOM_TEST_EMULATOR" CARGO_PROFILE_DEV_OPT_LEVEL=1 \
        CARGO_PROFILE_DEV_DEBUG=false PROPTEST_CASES=8 HASHLOOM_EXPECT="$3" \
        cargo test --quiet --locked --no-fail-fast --target "$target" --package "$4" "${@:5}" -- "${left_out[@]}" \
        >"$log" 2>&1
    status=$?
    cat "$log"
    awk '/^test result: / {p += $4; f += $6; s += $8}
        END {print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"}' "$log"
    return $status
}

# Tests that start the program as it is, not by another one.
program_tests=(sum:: manifest:: tree:: kernels::)

# The program that measures i686's costs for registry.def.
bench_of_i686() {
    i686-linux-gnu-gcc -O2 -Wall -Wextra -Werror -static -Icore/include bench/kernels.c \
        "$logs/i686/core/libhashloom.a" -o "$logs/i686/bench" && "$logs/i686/bench" scalar
}

# For each CPU: the kernels that it has, and the choice among them.
detection='-R ^(oracle|kernels|api)$'

for arch in "${archs[@]}"; do
    case $arch in
    i686)
        build_for i686 i686 -DCMAKE_C_FLAGS="$warnings"
        on "this machine" "${HASHLOOM_EXPECT-scalar,sse2}" ""
        step "i686, this machine: kernels called with a stack aligned to 4 bytes" stack_of_4_bytes
        step "i686: bench kernels" bench_of_i686
        on "pentium2, without SSE" scalar,-sse2 "qemu-i386 -cpu pentium2" "$detection"
        on "pentium3, without SSE2" scalar,-sse2 "qemu-i386 -cpu pentium3" "$detection"
        on "coreduo" scalar,sse2,-avx,-sha "qemu-i386 -cpu coreduo" "$detection"
        ;;
    aarch64)
        build_for aarch64 aarch64 -DCMAKE_C_FLAGS="$warnings"
        # All of qemu's CPUs have the SHA instructions; the program hwcap removes them one by one.
        on max neon,sha3,sha,sha512 "qemu-aarch64 -cpu max"
        if [ $level = all ]; then
            kernels=neon,sha3,sha,sha512
            step "aarch64, max: the crate hashloom" crates aarch64 max $kernels hashloom --features digest --tests
            step "aarch64, cortex-a72: the crate hashloom" crates aarch64 cortex-a72 neon,sha hashloom \
                --features digest --tests
            leave_out qemu "/proc/self/stat is a file of the emulator, which has a length" after_a_wait_files_are_left
            leave_out qemu "the emulator knows no MADV_POPULATE_READ" a_file_that_becomes_shorter_is_noticed
            for crate in files tree torrent list work address; do
                step "aarch64, max: the crate hashloom-$crate" crates aarch64 max $kernels hashloom-$crate --tests
            done
            leave_out qemu "an emulator passes on no other name of the program" a_manifest_is_named_as_such \
                called_by_the_name called_as_sha256sum
            leave_out qemu "a shell, or a copy, is no program that the emulator starts" names_on_a_terminal \
                unix::what_cannot_be_read
            echo "skipped: the program under qemu: its other files of tests: a shell, a tracer or another name starts" \
                "it there, or memory is measured" >>"$logs/skipped"
            left_out+=("${program_tests[@]}")
            step "aarch64, max: the program" crates aarch64 max $kernels hashloom-cli --test all
            left_out=()
        fi
        on cortex-a53 neon,sha,-sha3,-sha512 "qemu-aarch64 -cpu cortex-a53" "$detection"
        ;;
    x86_64)
        # Real CPUs, oldest first. Goldmont has the SHA instructions and no AVX.
        build_for x86_64 x86_64 -DCMAKE_C_FLAGS="$warnings"
        on "Denverton: SHA without AVX" sse2,sha,-avx,-avx2,-avx512 "$newer_qemu -cpu Denverton"
        on "Opteron_G1: SSE2" sse2,-avx,-sha "$newer_qemu -cpu Opteron_G1" "$detection"
        on "Conroe: SSSE3" sse2,-avx,-sha "$newer_qemu -cpu Conroe" "$detection"
        on "SandyBridge: AVX" sse2,avx,-avx2,-sha "$newer_qemu -cpu SandyBridge" "$detection"
        # Here the system's own qemu: qemu 10.0 ends the test of sha1_blocks_avx2 with a segmentation fault, apparently
        # at an aligned 32-byte load from the stack; under qemu 7.2 the same program passes.
        on "Haswell: AVX2" avx,avx2,-avx512vl,-avx512,-sha,-sha512 "qemu-x86_64 -cpu Haswell" "$detection"
        on "AVX2 without BMI2" avx,-avx2,-avx512,-sha "qemu-x86_64 -cpu Haswell,-bmi2" "$detection"
        on "AVX2 without BMI1" avx,-avx2,-avx512,-sha "qemu-x86_64 -cpu Haswell,-bmi1" "$detection"
        ;;
    riscv64)
        build_for riscv64 riscv64 -DCMAKE_C_FLAGS="$warnings"
        on rv64 scalar,-gnu "qemu-riscv64 -cpu rv64"
        ;;
    s390x) # big-endian; vectors since z13
        build_for s390x s390x -DCMAKE_C_FLAGS="$warnings"
        on max scalar,-gnu "qemu-s390x -cpu max"
        [ $level = quick ] || step "s390x, max: the crate hashloom" crates s390x max scalar hashloom --tests
        build_for s390x s390x-z13 -DCMAKE_C_FLAGS="$warnings -march=z13"
        on max scalar,gnu "qemu-s390x -cpu max"
        ;;
    ppc64le)
        build_for ppc64le ppc64le -DCMAKE_C_FLAGS="$warnings"
        on power8 scalar,gnu "qemu-ppc64le -cpu power8"
        ;;
    armhf)
        build_for armhf armhf -DCMAKE_C_FLAGS="$warnings"
        on cortex-a9 scalar,-gnu "qemu-arm -cpu cortex-a9"
        ;;
    wasm32)
        build_for wasm32 wasm32 -DCMAKE_C_FLAGS="$warnings"
        on node scalar,-gnu "node --no-warnings $root/test/wasi.mjs"
        build_for wasm32 wasm32-simd128 -DCMAKE_C_FLAGS="$warnings -msimd128"
        on node scalar,simd128,-gnu "node --no-warnings $root/test/wasi.mjs"
        ;;
    esac
done

end_steps "$level: ${archs[*]}"
