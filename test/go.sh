#!/usr/bin/env bash
# go.sh: tests the Go module: as assembly and in pure Go, on other CPUs, under the race detector, by the tests of Go's
# own packages, and beside other modules.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/go.sh [check|quick|all]
#
# check: the tests over this CPU. quick: beside them, the assembly of amd64 or arm64, and two of the other steps, by
# HASHLOOM_SEED. all: both, every step, every pair of `go tool dist list`, CPUs under qemu, messages over 4 GiB, and a
# minute of fuzzing. It needs Go 1.25; HASHLOOM_REQUIRE=1 makes it a failure if Go is not installed.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root/go" || exit 2
level=${1:-all}
logs=$root/build/go
. "$root/test/steps.sh"

rm -f "$logs"/*.log
newest=$(go env GOVERSION 2>/dev/null | sed 's/^go//')
if [ -z "$newest" ] || [ "$(printf '%s\n' 1.25 "$newest" | sort -V | head -n1)" != 1.25 ]; then
    echo "SKIPPED: go: Go 1.25 or later is not installed: ${newest:-no Go}"
    [ -z "${HASHLOOM_REQUIRE-}" ]
    exit
fi
# A busy machine fails no test: test/run.py has the limit.
export GOFLAGS="${GOFLAGS-} -mod=readonly -timeout=0"

formatted() {
    local files
    files=$(gofmt -l .)
    echo "$files"
    [ -z "$files" ]
}

# A module's archive has only regular files below its folder, and pkg.go.dev documents no module without a licence.
licences() {
    local file
    for file in LICENSE-MIT LICENSE-APACHE; do
        [ -f $file ] && [ ! -L $file ] && cmp ../$file $file || return 1
    done
}

static_check() {
    command -v staticcheck >/dev/null || { echo "skipped: staticcheck is not installed"; return; }
    staticcheck ./... && staticcheck -tags purego ./... && (cd internal/peers && staticcheck ./...)
}

# same.py compares with what this compiler makes.
same_instructions() {
    python3 internal/core/gen/text.py --check amd64 | grep -q '^skipped' &&
        { echo "skipped: same.py: another compiler made the assembly"; return; }
    python3 internal/core/gen/same.py
}

tests() {
    go test -count=1 "$@"
}

# emulated ARCH EMULATOR: the short tests, under qemu.
emulated() {
    command -v "${2%% *}" >/dev/null || { echo "skipped: go on $1: ${2%% *} is not installed"; return; }
    env GOARCH="$1" go test -short -count=1 -exec "$2" "${packages[@]}"
}

# The core's own tests of all lengths take minutes under qemu.
packages=(. ./hmac ./pbkdf2 ./md5 ./sha1 ./sha256 ./sha512 ./sha3 ./ripemd160 ./bitcoin ./search ./slhdsa
    ./compat/...    ./internal/ripemd160 ./internal/serve)
[ "$level" != all ] || packages+=(./internal/core)

# The tests of the core's assembly that are short enough under qemu.
core_emulated() {
    local tests='Agree|Again|Search|Goroutines|Collector|Profiles|Allocations|Wrong|Keys|Streams'
    local packages=(-run "$tests" ./internal/core)
    emulated "$@"
}

short=()
[ "$level" = all ] || short=(-short)

# pairs TAGS SYSTEM/ARCH...: compiles everything, tests too, for each of them.
pairs() {
    local tags=$1 pair failed=0
    shift
    for pair in "$@"; do
        env CGO_ENABLED=0 GOOS="${pair%/*}" GOARCH="${pair#*/}" go vet -tags "$tags" ./... ||
            { echo "FAILED: $pair, tags '$tags'"; failed=1; }
    done
    echo "${#} pairs"
    return $failed
}

long=(purego race arm64 arm64-core)
steps=(proxy same std std-purego peers)
archs=(amd64 arm64)
if [ "$level" != all ]; then
    mapfile -t steps < <(sample 1 "${long[@]}" noasm && sample 1 "${steps[@]}")
    mapfile -t archs < <(sample 1 "${archs[@]}")
else
    steps+=("${long[@]}")
fi

# maybe KIND NAME COMMAND...: a step that quick takes only some of.
maybe() {
    [[ " ${steps[*]} " != *" $1 "* ]] || step "${@:2}"
}

if [ "$level" != quick ]; then
    step "gofmt" formatted
    step "licences" licences
    step "go vet" go vet ./...
    step "tests" tests "${short[@]}" ./...
fi
if [ "$level" = check ]; then
    end_steps "$level, go $newest"
    exit
fi
step "staticcheck" static_check
step "go mod tidy changes nothing" go mod tidy -diff
step "go mod tidy changes nothing, internal/peers" go mod tidy -C internal/peers -diff
step "the assembly is what the core makes: ${archs[*]}" python3 internal/core/gen/text.py --check "${archs[@]}"
step "a program has only the kernels that it calls" python3 "$root/test/go_size.py"
maybe proxy "the module, from a proxy" python3 "$root/test/go_module.py"
maybe same "the assembly has gcc's instructions" same_instructions
maybe purego "go vet, pure Go" go vet -tags purego ./...
maybe purego "tests, pure Go" tests -short -tags purego ./...
# The core's own tests of all lengths are long, and have no goroutines.
maybe race "tests, race detector" tests -short -race . ./search ./internal/serve ./examples/...
maybe race "tests, race detector, core" tests -short -race -run 'Goroutines|Collector|Profiles' ./internal/core
maybe std "tests of crypto/* and x/crypto, on our packages" python3 "$root/test/go_std.py"
maybe std-purego "tests of crypto/* and x/crypto, pure Go" python3 "$root/test/go_std.py" -tags purego
maybe peers "other modules: the same digests" go test -C internal/peers -count=1 ./...
maybe arm64 "arm64, NEON and SHA instructions" emulated arm64 "qemu-aarch64 -cpu cortex-a53"
maybe arm64-core "arm64, the core's calls" core_emulated arm64 "qemu-aarch64 -cpu max"
maybe noasm "tag noasm compiles" pairs noasm linux/amd64 linux/arm64
if [ "$level" = all ]; then
    step "amd64 without AVX2" emulated amd64 "qemu-x86_64 -cpu Nehalem"
    step "386: pure Go" env GOARCH=386 go test -short -count=1 "${packages[@]}"
    step "riscv64: pure Go" emulated riscv64 qemu-riscv64
    step "s390x: pure Go, big-endian" emulated s390x qemu-s390x
    step "arm64, all instruction sets" emulated arm64 "qemu-aarch64 -cpu max"
    GOFLAGS="$GOFLAGS -tags=noasm" step "arm64, pure Go" emulated arm64 qemu-aarch64
    mapfile -t all < <(go tool dist list)
    step "every system compiles" pairs "" "${all[@]}"
    step "every system compiles, tag purego" pairs purego "${all[@]}"
    step "every system compiles, tag noasm" pairs noasm "${all[@]}"
    if command -v node >/dev/null; then
        step "wasm, by node" env GOOS=js GOARCH=wasm go test -short -count=1 \
            -exec "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" "${packages[@]}"
    fi
    step "messages over 4 GiB" env HASHLOOM_TEST_ALL=1 go test -count=1 -run TestHugeMessages .
    for target in FuzzOneHash FuzzUnmarshal; do
        step "fuzz: $target" go test -run '^$' -fuzz "^$target\$" -fuzztime 60s .
    done
    step "fuzz: FuzzFind" go test -run '^$' -fuzz FuzzFind -fuzztime 60s ./search
fi
grep -hs '^SKIPPED: ' "$logs"/*.log
end_steps "$level, go $newest"
