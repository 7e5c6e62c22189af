#!/usr/bin/env bash
# compilers.sh: the cost of every kernel as compiled by two compilers, side by side; one to two minutes.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/compilers.sh [A B]      two compilers (default: gcc clang); A's figure / B's in the last column
#
# CPU (default: the last one); RUN: put before each run, such as 'chrt -f 50'. Both programs run in turn, 7 times. A
# figure is the least of a kernel's times, and the gap compares these. The goal is at most 10%, for the kernels that are
# chosen.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -eq 2 ] || set -- gcc clang
cpu=${CPU:-$(($(getconf _NPROCESSORS_ONLN) - 1))}
rounds=7
work=build/compilers
mkdir -p "$work"
: >"$work/times"

for side in 1 2; do
    "${!side}" -O2 -Icore/include -o "$work/bench$side" bench/kernels.c core/src/*.c core/src/*/*.c
done
for round in $(seq $rounds); do
    for side in 1 2; do
        # shellcheck disable=SC2086 # RUN is a command with its arguments
        ${RUN:-} taskset -c "$cpu" "$work/bench$side" | sed "s/^/$side/" >>"$work/times"
    done
done

echo "A: $("$1" --version | head -n1). B: $("$2" --version | head -n1)."
echo "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n1), $(date +%F)."
echo
echo '| kernel | lanes | A: ns a call | B: ns a call | A / B |'
echo '|---|---:|---:|---:|---:|'
# 1| name | lanes | ns | GB/s | ...: a heading and a kernel that is not on this machine have no number there.
awk -F'|' '
    $4 + 0 > 0 {
        side = $1 + 0; name = $2; gsub(/ /, "", name)
        if (!(name in lanes)) names[++n] = name
        lanes[name] = $3 + 0
        if (!((name, side) in least) || $4 + 0 < least[name, side]) least[name, side] = $4 + 0
    }
    END {
        for (i = 1; i <= n; i++) {
            name = names[i]; ratio = least[name, 1] / least[name, 2]
            format = (ratio > 1.1 || ratio < 1 / 1.1) ? "**%.2f**" : "%.2f"
            printf "| %s | %d | %.1f | %.1f | " format " |\n", name, lanes[name], least[name, 1], least[name, 2], ratio
        }
    }' "$work/times"
