#!/usr/bin/env bash
# hardened.sh: shared libraries are hardened as those of the system's packages are: their tables are filled when they
# are loaded and stay read-only, no stack can be run, no code is changed.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/hardened.sh LIBRARY...             the core alone, whose kernels have no stack protector
#   test/hardened.sh --protected LIBRARY... also: what handles other programs' data has a stack protector
set -euo pipefail
protected=
[ "$1" != --protected ] || { protected=yes; shift; }

expect() { # WHAT PATTERN COMMAND...
    local what=$1 pattern=$2
    "${@:3}" | grep -E "$pattern" >/dev/null || { echo "FAILED: $library: $what" >&2; exit 1; }
}

for library; do
    case $(readelf -hW "$library") in *ELF*) ;; *) continue ;; esac
    expect "its tables are filled late (no BIND_NOW)" 'BIND_NOW|FLAGS_1.*NOW' readelf -dW "$library"
    expect "its tables stay writable (no RELRO)" GNU_RELRO readelf -lW "$library"
    expect "its stack can be run" 'GNU_STACK.* RW ' readelf -lW "$library"
    ! readelf -dW "$library" | grep TEXTREL || { echo "FAILED: $library: its code is changed (TEXTREL)" >&2; exit 1; }
    [ -z "$protected" ] || expect "it has no stack protector" __stack_chk_fail nm -D --undefined-only "$library"
done
