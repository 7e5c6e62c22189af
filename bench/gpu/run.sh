#!/usr/bin/env bash
# run.sh: tests and measures a machine with a GPU, without a network and without a compiler of Rust.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/gpu/run.sh --pack FOLDER       on a machine that builds: gpubench, and all that the other one needs
#   FOLDER/run.sh [--small] [RESULTS]    there: at most 40 minutes, 5 with --small
#
# RESULTS (default: results.jsonl) becomes lines of JSON: the machine; searches beside the CPU's lanes and hashcat; the
# same kernels in CUDA C with nothing around them (nvcc) and their instructions (cuobjdump). A part whose program is
# missing says SKIPPED. DEVICE, if it is set, is a part of the device's name; HASHCAT and NVCC name these programs. Exit
# status: 0; 1 if a part failed.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export NODEVICE_SELECT=1

if [ "${1-}" = --pack ]; then
    [ $# = 2 ] || { echo "usage: bench/gpu/run.sh --pack FOLDER" >&2; exit 2; }
    mkdir -p "$2" && folder=$(cd "$2" && pwd) && cd "$here/../.." || exit 2
    export CARGO_TARGET_DIR=target/gpu
    cargo build --quiet --locked --release --package hashloom-gpu --example gpubench || exit 2
    cp target/gpu/release/examples/gpubench bench/gpu/run.sh bench/gpu/ceiling.cu "$folder"
    exit
fi

seconds=5 repeats=3 invocations=4194304
modes=(0 100 1400 1700 6000)
if [ "${1-}" = --small ]; then
    seconds=0.5 repeats=1 invocations=1024
    modes=(1400)
    shift
fi
results=${1-results.jsonl}
bench=$here/gpubench
[ -x "$bench" ] || { echo "run.sh: $bench is missing: bench/gpu/run.sh --pack FOLDER makes it" >&2; exit 2; }
device=()
[ -z "${DEVICE-}" ] || device=(--device "$DEVICE")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
: >"$results" || exit 2
failed=0
begun=$SECONDS

skipped() { echo "SKIPPED: $*" | tee -a "$work/skipped"; }
# part NAME SECONDS COMMAND...: its lines go to the results. Nothing goes on after 38 minutes.
part() {
    local name=$1 most=$2 left=$((2280 - (SECONDS - begun)))
    shift 2
    [ "$left" -gt 0 ] || { skipped "$name: the time is over"; return 0; }
    [ "$most" -le "$left" ] || most=$left
    echo "$((SECONDS - begun)) s: $name" >&2
    timeout "$most" "$@" >>"$results" || { echo "FAILED: $name, exit status $?" >&2; failed=1; }
}
# A line of JSON with one string.
line() { printf '{"%s": "%s"}\n' "$1" "$(tr -d '"\\\n' <<<"$2")"; }

{
    line date "$(date -u +%F)"
    line cpu "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs"
    line system "$(uname -sr)"
    ! command -v nvidia-smi >"$work/path" ||
        line nvidia "$(nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,power.limit --format=csv,noheader)"
} >>"$results"

part probe 60 "$bench" probe "${device[@]}"

search=(search --seconds "$seconds" --repeats "$repeats" "${device[@]}")
part search 420 "$bench" "${search[@]}" --algorithm searchable
part search-twice 60 "$bench" "${search[@]}" --again sha256 --prefix-nbytes 76 --width 4 --digits ''
part search-hex 60 "$bench" "${search[@]}" --digits 0123456789abcdef
part search-suffix 60 "$bench" "${search[@]}" --algorithm sha1 --suffix-nbytes 200
part count 60 "$bench" count --algorithm searchable
part search-pairs 60 "$bench" "${search[@]}" --algorithm sha512 --pairs

hashcat=${HASHCAT-hashcat}
if command -v "$hashcat" >"$work/path"; then
    for mode in "${modes[@]}"; do
        [ $((SECONDS - begun)) -lt 2100 ] || { skipped "hashcat, mode $mode: the time is over"; continue; }
        echo "$((SECONDS - begun)) s: hashcat-$mode" >&2
        timeout 180 "$hashcat" --benchmark --machine-readable --optimized-kernel-enable --workload-profile 4 \
            --hash-type "$mode" >"$work/hashcat" 2>&1
        # device:mode:clock:memory clock:milliseconds:hashes a second
        grep -E '^[0-9]+:[0-9]+:' "$work/hashcat" >"$work/rows" ||
            { echo "FAILED: hashcat: $(tail -n 1 "$work/hashcat")" >&2; failed=1; }
        while IFS= read -r row; do line hashcat "$row"; done <"$work/rows" >>"$results"
    done
else
    skipped "hashcat is not installed; HASHCAT names it"
fi

nvcc=${NVCC-nvcc}
if command -v "$nvcc" >"$work/path"; then
    for algorithm in $("$bench" count --algorithm searchable | sed 's/.*"count":"\([^"]*\)".*/\1/'); do
        "$bench" text --language cuda --algorithm "$algorithm" >"$work/kernel.cu"
        "$bench" text --language inputs --algorithm "$algorithm" >"$work/inputs.h"
        "$nvcc" -O3 -arch=native -I"$work" "$here/ceiling.cu" -o "$work/ceiling" ||
            { echo "FAILED: nvcc, $algorithm" >&2; failed=1; continue; }
        line ceiling "$algorithm" >>"$results"
        part "ceiling-$algorithm" 60 "$work/ceiling" "$invocations" 10
        ! command -v cuobjdump >"$work/path" || line instructions "$algorithm: $(cuobjdump -sass "$work/ceiling" |
            sed -nE 's/^ +\/\*[0-9a-f]{4,}\*\/ +(@!?U?P[0-9T]+ +)?([A-Z0-9]+).*/\2/p' | sort | uniq -c | sort -nr |
            awk '{printf "%s %d, ", $2, $1}')" >>"$results"
    done
else
    skipped "the ceiling: nvcc is not installed; NVCC names it"
fi

[ ! -s "$work/skipped" ] || while IFS= read -r row; do line skipped "$row"; done <"$work/skipped" >>"$results"
line minutes "$(((SECONDS - begun) / 60))" >>"$results"
echo "$results: $(wc -l <"$results") lines, $((SECONDS - begun)) s" >&2
exit "$failed"
