#!/usr/bin/env bash
# go.sh: the Go module beside the standard library, other modules and the C library, on one CPU: the least ns of many
# short runs, and the ratio to hashloom's; about four minutes. First come the calls that the standard library has too; a
# row that takes longer than there is a failure of the run (go/internal/peers/never). At the end uploads, of many
# goroutines and of one that writes in turn, on all CPUs.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   bench/go.sh [PATTERN]     a pattern of `go test -bench`, such as 'Many/.*/size=64|Search'
#                             WITHOUT=avx512 or avx512,sha: as on a CPU without these instruction sets
#
# CC, CPU (default: the last one), ROUNDS (default: 20)
set -euo pipefail
cd "$(dirname "$0")/.."
work=$PWD/build/bench/go
mkdir -p "$work/objects"
(cd "$work/objects" &&
    "${CC:-cc}" -O2 -I../../../../core/include -c ../../../../core/src/*.c ../../../../core/src/*/*.c)
rm -f "$work/libhashloom.a"
ar rcs "$work/libhashloom.a" "$work"/objects/*.o
CGO_LDFLAGS=$work/libhashloom.a go test -C go/internal/peers -tags ccore -c -o "$work/peers" . 2>/dev/null
go build -C go/internal/peers -o "$work/never" ./never
IFS=, read -ra without <<<"${WITHOUT-}"
for name in "${without[@]}"; do # the standard library has no code for AVX-512
    [[ $name == avx512* ]] || GODEBUG=${GODEBUG:+$GODEBUG,}cpu.$name=off
done
export GODEBUG=${GODEBUG-}
if go version 2>&1 | grep '^GODEBUG: unknown' >&2; then # "GODEBUG sys/cpu: unknown": crypto/* has obeyed
    echo "go.sh: the standard library would be measured with them; take Go 1.26 or later" >&2
    exit 2
fi
cpu=${CPU:-$(($(getconf _NPROCESSORS_ONLN) - 1))}
never=0
[ $# -gt 0 ] || taskset -c "$cpu" "$work/never" || never=$?

# The least of a benchmark's values, in this unit, and its ratio to hashloom's; of uploads also the chunks in a batch.
least() { # UNIT TEXT
    awk -v unit="$1" -v text="$2" '/^Benchmark/ {
            sub(/^Benchmark/, "", $1)
            sub(/-[0-9]+$/, "", $1)
            for (i = 3; i < NF; i += 2) value[$(i + 1)] = $i
            if (!(unit in value)) next
            if (!($1 in least)) names[++n] = $1
            if (!($1 in least) || value[unit] < least[$1]) {
                least[$1] = value[unit]
                if ("chunks/batch" in value) batch[$1] = ", chunks in a batch: " value["chunks/batch"]
            }
            delete value
        }
        END {
            for (i = 1; i <= n; i++) {
                ours = names[i]
                sub(/by=.*/, "by=hashloom", ours)
                printf "%-52s %12.0f %s %6.2f%s\n", names[i], least[names[i]], text, least[names[i]] / least[ours],
                    batch[names[i]]
            }
        }'
}
for ((i = 0; i < ${ROUNDS:-20}; i++)); do
    taskset -c "$cpu" "$work/peers" -test.run '^$' -test.bench "${1:-.}" -test.cpu 1 -test.benchtime 20ms
done | least ns/op ns

# Uploads take all CPUs.
if [[ ${1:-Uploads} == *Uploads* ]]; then
    for ((i = 0; i < 5; i++)); do
        "$work/peers" -test.run '^$' -test.bench "${1:-Uploads}" -test.benchtime 200ms
    done | least cpu-ns/op "ns of CPU"
fi
exit $never
