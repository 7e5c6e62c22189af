#!/usr/bin/env bash
# windows.sh: the tests on Windows, as Wine stands in for it: the crates, the program, the C library, the Go module, the
# Python package's wheel, and lists that go from one system to the other.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/windows.sh [PROGRAM [PART...]]
#
# PROGRAM: hashloom for this system, target/debug/hashloom by default. PART: crate, crates, program, lists, names, c,
# go, wheel; by default all. Each step has a limit of time, and the whole takes about ten minutes on two quiet CPUs.
# Tests that cannot pass under Wine, or whose expectations are those of Unix, are named below and printed as skipped.
# Needed are Wine, mingw-w64 and Rust's standard library for the target; HASHLOOM_REQUIRE=1 makes it a failure if one is
# missing.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
root=$PWD
logs=$root/build/windows
program=${1:-target/debug/hashloom}
parts=" ${*:2} "
target=x86_64-pc-windows-gnu
export JOBS=${JOBS:-$(getconf _NPROCESSORS_ONLN)}

missing=()
command -v wine >/dev/null || missing+=("wine (tools/setup.sh windows)")
command -v x86_64-w64-mingw32-gcc >/dev/null || missing+=("mingw-w64 (tools/setup.sh windows)")
[ -d "$(rustc --print sysroot)/lib/rustlib/$target" ] || rustup --quiet target add $target >/dev/null 2>&1 ||
    missing+=("Rust's standard library: rustup target add $target")
if [ ${#missing[@]} -gt 0 ]; then
    printf 'SKIPPED: windows: %s is missing\n' "${missing[@]}"
    [ -z "${HASHLOOM_REQUIRE-}" ]
    exit
fi

. test/steps.sh

# No window, no Mono, no menus.
export WINEPREFIX=$logs/prefix WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
unset DISPLAY WAYLAND_DISPLAY
windows_exe=$root/target/$target/debug/hashloom.exe
trap 'wineserver -k 2>/dev/null || /usr/lib/wine/wineserver -k 2>/dev/null' EXIT

# Wine 8 lacks a library that Rust's programs take random numbers from. Its one function is that of another library.
prefix() {
    local system=$WINEPREFIX/drive_c/windows/system32
    mkdir -p "$WINEPREFIX" && timeout 120 wineboot -i && [ -d "$system" ] || return 1
    [ ! -e "$system/bcryptprimitives.dll" ] || return 0
    x86_64-w64-mingw32-gcc -O2 -shared -nostartfiles -Wl,-e,0 -o "$system/bcryptprimitives.dll" -x c - -ladvapi32 <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(BYTE *bytes, SIZE_T nbytes)
{
    return SystemFunction036(bytes, (ULONG)nbytes);
}
C
}

# part NAME WHAT COMMAND...: a step, if its part is wanted.
part() {
    case $parts in
    *[![:space:]]*) [[ $parts == *" $1 "* ]] || return 0 ;;
    esac
    step "${@:2}"
}

# tests LIMIT PACKAGE: a crate's tests; LIMIT: the seconds of each program of tests.
tests() {
    export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER="timeout $1 wine" RUST_BACKTRACE=0
    local status again
    # On a busy machine Wine sometimes starts no program, and says "Internal error" (1359).
    for again in 1 0; do
        # Without --no-fail-fast the first program that fails would end the run.
        PROPTEST_CASES=${PROPTEST_CASES:-8} cargo test --quiet --locked --no-fail-fast --target $target \
            --package "$2" --tests -- "${left_out[@]}" >"$logs/$2-tests" 2>&1
        status=$?
        if [ $status -eq 0 ] || [ $again -eq 0 ] || ! grep -q 'Os { code: 1359,' "$logs/$2-tests"; then
            break
        fi
    done
    cat "$logs/$2-tests"
    sed -n 's/^SKIPPED: /skipped: windows: /p' "$logs/$2-tests"
    awk '/^test result: / {p += $4; f += $6; s += $8 + $12}
        END {print p + 0 " passed, " f + 0 " failed, " s + 0 " skipped"}' "$logs/$2-tests"
    return $status
}

c_tests() {
    HASHLOOM_TEST_SHARE=${HASHLOOM_TEST_SHARE:-8} suite c "--timeout 600" -DCMAKE_SYSTEM_NAME=Windows \
        -DCMAKE_SYSTEM_PROCESSOR=x86_64 -DCMAKE_C_COMPILER=x86_64-w64-mingw32-gcc -DCMAKE_EXE_LINKER_FLAGS=-static \
        -DCMAKE_CROSSCOMPILING_EMULATOR=wine -DTEST_LIBCRYPTO=OFF -DTEST_FUZZ_SECONDS=2
}

go_tests() {
    command -v go >/dev/null || { echo "skipped: windows: go is not installed"; return; }
    echo "skipped: windows: TestSumFiles: Wine 8 removes no file in the way that Go 1.26 asks for"
    # go test gives the program its own limit.
    (cd go && GOOS=windows GOARCH=amd64 CGO_ENABLED=0 GOFLAGS="${GOFLAGS-} -mod=readonly" \
        go test -short -count=1 -skip '^TestSumFiles$' -timeout 300s -exec "timeout 320 wine" . ./hmac ./sha1 \
        ./sha256 ./sha512 ./search ./internal/serve)
}

# Wine has no Python, so the wheel is built, and its name and its imports are looked at: the stable ABI of Python 3.11,
# the first that has buffers.
wheel() {
    local tools=$logs/tools folder=$logs/wheel failures=0
    rm -rf "$tools" "$folder"
    python3 -m venv "$tools"
    "$tools/bin/pip" install --quiet --disable-pip-version-check 'maturin>=1.9,<2' || {
        echo "skipped: windows: the wheel: pip cannot install maturin"
        return
    }
    CARGO_TARGET_DIR=$root/target/python "$tools/bin/maturin" build --quiet --locked --target $target \
        --no-default-features --features py311 --manifest-path python/Cargo.toml --out "$folder" || return 1
    python3 -m zipfile -e "$folder"/*.whl "$folder" || return 1
    x86_64-w64-mingw32-objdump -p "$folder"/pyhashloom/*.pyd >"$folder/headers" || return 1
    expect "the wheel's name" cp311-abi3-win_amd64 "$(cd "$folder" && ls ./*.whl | cut -d- -f3- | sed 's/\.whl$//')"
    expect "libraries of Python" "DLL Name: python3.dll" "$(grep -o 'DLL Name: python.*' "$folder/headers" | sort -u)"
    expect "functions of buffers" 3 "$(grep -cE 'Py(Object_(Check|Get)Buffer|Buffer_Release)$' "$folder/headers")"
    echo "$npassed passed, $failures failed, 0 skipped"
    [ $failures -eq 0 ]
}

# ---- The program ----------------------------------------------------------------------------------------------------

npassed=0
# expect WHAT EXPECTED FOUND: the two texts are equal.
expect() {
    if [ "$2" = "$3" ]; then
        npassed=$((npassed + 1))
    else
        printf 'FAILED: %s\n  expected: %s\n  found:    %s\n' "$1" "$2" "$3"
        failures=$((failures + 1))
    fi
}

windows() {
    timeout 60 wine "$windows_exe" "$@" </dev/null
}

# Output with a line of its own for the exit status, and the lines' ends as they are.
with_status() {
    "$@" 2>&1
    echo "status $?"
}

# A list, a manifest and a torrent that one system makes are those of the other, and check there.
lists() {
    local folder=$logs/lists failures=0 form status
    rm -rf "$folder"
    mkdir -p "$folder/t/deep/er" && cd "$folder" || return 1
    printf one >t/f1
    printf two >"t/deep/f 2"
    printf three >t/deep/er/ünï
    for form in "" --tag --json; do
        # shellcheck disable=SC2086
        windows sum $form -r t >windows.sums
        # shellcheck disable=SC2086
        "$root/$program" sum $form -r t >here.sums
        expect "sum $form: the same bytes" "$(cat here.sums)" "$(cat windows.sums)"
        with_status windows check --quiet here.sums >found
        expect "check $form on Windows, a list from here" "status 0" "$(cat found)"
        with_status "$root/$program" check --quiet windows.sums >found
        expect "check $form here, a list from Windows" "status 0" "$(cat found)"
    done
    windows sum -r t >windows.sums
    with_status sha256sum --check --quiet windows.sums >found
    expect "sha256sum reads a list from Windows" "status 0" "$(cat found)"
    # The names with backslashes that other programs of Windows write.
    sed 's|/|\\|g' windows.sums >backslashes.sums
    with_status windows check --quiet backslashes.sums >found
    expect "names with backslashes" "status 0" "$(cat found)"
    expect "a path given with a backslash" "$(grep f1 windows.sums)" "$(windows sum 't\f1')"
    windows manifest write t -o windows.manifest >found 2>&1
    with_status "$root/$program" manifest check -q windows.manifest t >found
    expect "a manifest from Windows" "status 0" "$(tail -n 1 found)"
    "$root/$program" manifest write t -o here.manifest >found 2>&1
    with_status windows manifest check -q here.manifest t >found
    expect "a manifest from here" "status 0" "$(tail -n 1 found)"
    windows torrent create -q t -o windows.torrent >found 2>&1
    "$root/$program" torrent create -q t -o here.torrent >>found 2>&1
    expect "the info-hash of a torrent" "$("$root/$program" torrent show here.torrent | grep -i 'hash')" \
        "$("$root/$program" torrent show windows.torrent | grep -i 'hash')"
    with_status windows torrent verify -q here.torrent . >found
    expect "a torrent from here" "status 0" "$(tail -n 1 found)"
    printf tWo >"t/deep/f 2"
    windows check --quiet here.sums >found 2>&1
    expect "a changed file" 1 $?
    with_status windows torrent verify -q here.torrent . >found
    expect "a torrent whose file has changed" "status 1" "$(tail -n 1 found)"
    echo "$npassed passed, $failures failed, 0 skipped"
    [ $failures -eq 0 ]
}

# What users of Windows have.
names() {
    local folder=$logs/names failures=0 digest long
    rm -rf "$folder"
    mkdir -p "$folder/t" && cd "$folder" || return 1
    printf abc >t/a.iso
    printf abc >t/B.ISO
    printf abc >t/c.txt
    digest=$(printf abc | sha256sum | cut -d' ' -f1)
    expect "wildcards that no shell has replaced" "$digest  t/B.ISO $digest  t/a.iso" \
        "$(windows sum 't\*.iso' | sort | paste -sd' ')"
    # The drive's own folder. Z: is this system's root.
    expect "a path from the drive's folder on" "$digest  Z:t/a.iso" "$(windows sum Z:t/a.iso)"
    expect "a wildcard without files" 1 "$(windows sum 't\*.zip' 2>/dev/null; echo $?)"
    # Devices and streams that a list names are not opened.
    printf '%s  %s\n' "$digest" CON "$digest" t/nul.txt "$digest" t/a.iso:b "$digest" 'COM1' "$digest" 't/a.iso.' \
        "$digest" '//./PhysicalDrive0' "$digest" '\\server\share\a' "$digest" t/a.iso >hostile.sums
    with_status windows check hostile.sums >found
    expect "names of devices and servers" "7 1 status 1" \
        "$(grep -c 'not opened, as a part' found) $(grep -c ': OK' found) $(tail -n 1 found)"
    # 40 folders of 20 letters each.
    long=t
    for _ in $(seq 40); do
        long+=/abcdefghijklmnopqrst
    done
    mkdir -p "$long" && printf abc >"$long/file"
    expect "a path of over 260 characters" "$digest  $long/file" "$(windows sum "$long/file")"
    expect "folders of over 260 characters" 1 "$(windows sum -r t | grep -c "  $long/file\$")"
    windows sum -r t >long.sums
    with_status windows check --quiet long.sums >found
    expect "a list of such paths" "status 0" "$(cat found)"
    expect "a folder" "hashloom: t: Is a directory: --recursive sums the files below it" "$(windows sum t 2>&1)"
    # Called by another name.
    cp "$windows_exe" SHA256SUM.exe
    expect "as sha256sum.exe" "$digest  t/a.iso" "$(timeout 60 wine SHA256SUM.exe t/a.iso)"
    # Its own output is not summed.
    printf '@hashloom sum -r t >t\\sums 2>found\r\n' >output.bat
    cp "$windows_exe" hashloom.exe
    timeout 60 wine cmd /c output.bat </dev/null
    expect "the output itself" "1 0" "$(grep -c 'it is the output itself' found) $(grep -c sums t/sums)"
    # A reader that goes away.
    windows sum -r t | head -n 1 >found
    expect "a pipe that is closed" 1 "$(wc -l <found)"
    echo "$npassed passed, $failures failed, 0 skipped"
    [ $failures -eq 0 ]
}

# Ctrl-C at a console: 130, the progress is kept, and no temporary file is left.
interrupted() {
    local folder=$logs/interrupted failures=0
    command -v script >/dev/null || { echo "skipped: windows: Ctrl-C: the program script is not installed"; return; }
    rm -rf "$folder"
    mkdir -p "$folder/t" && cd "$folder" || return 1
    truncate -s 8G t/hole
    {
        timeout 30 bash -c 'until [ -e m.partial ]; do sleep 0.1; done'
        sleep 0.5
        printf '\003'
        sleep 5
    } | timeout 60 script -qec "wine $windows_exe manifest write t -o m -a sha3-512 2>words; echo status \$? >found" \
        typescript
    expect "the status after Ctrl-C" "status 130" "$(cat found)"
    expect "the files after Ctrl-C" "found m.partial t typescript words" "$(LC_ALL=C ls -A | paste -sd' ')"
    expect "the words after Ctrl-C" 1 "$(grep -c 'interrupted: the progress is kept in m.partial' words)"
    echo "$npassed passed, $failures failed, 0 skipped"
    [ $failures -eq 0 ]
}

step "Wine's folder" prefix
step "the program" cargo build --quiet --locked --target $target --package hashloom-cli
[ -x "$program" ] || step "the program for this system" cargo build --quiet --locked --package hashloom-cli
part crate "the crate hashloom: tests" tests 600 hashloom
leave_out windows "Wine lists a folder for each name in it, and this one has 9000 files" \
    files_too_short_to_fetch_are_read_by_lanes
for crate in files tree torrent list work address; do
    part crates "the crate hashloom-$crate: tests" tests 600 hashloom-$crate
done
# Tests that leave themselves out on Windows: `cargo test -- --ignored --list` names them.
leave_out windows "cargo is no program of Wine" a_command_that_is_not_there_or_fails_says_so
part program "the program: tests" tests 600 hashloom-cli
part lists "lists, manifests and torrents from one system to the other" lists
part names "names, devices, long paths, wildcards" names
part names "Ctrl-C at a console" interrupted
part c "the C library: tests" c_tests
part go "the Go module: tests" go_tests
part wheel "the wheel" wheel
end_steps "windows, $(wine --version)"
