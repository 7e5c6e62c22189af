#!/usr/bin/env bash
# expect.sh: the instruction sets of core/src/registry.def that this CPU has by Linux's account of it, for
# HASHLOOM_EXPECT. The core asks the CPU itself; a test that follows this list fails if the core overlooks one.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# Prints them as HASHLOOM_EXPECT wants them, and on standard error those whose kernels cannot run here. CC is the
# compiler, whose preprocessor reads the tables. Exit status: 2 if the CPU's features cannot be read.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cpuinfo=/proc/cpuinfo

cannot() { # WHY
    echo "expect.sh: $1" >&2
    echo "expect.sh: name the instruction sets that must be found: HASHLOOM_EXPECT=sse2,avx2 make test" >&2
    echo "expect.sh: HASHLOOM_EXPECT= with nothing after it expects none" >&2
    exit 2
}

[ -r "$cpuinfo" ] || cannot "$cpuinfo cannot be read: this CPU's features are unknown"
# A feature counts if every processor has it. x86 calls the list flags, arm Features.
flags=$(awk -F: '
    /^(flags|Features)[ \t]*:/ {
        processors++
        n = split($2, names, " ")
        for (i = 1; i <= n; i++) seen[names[i]]++
    }
    END {for (name in seen) if (seen[name] == processors) print name}' "$cpuinfo")

# Lines "feature NAME LINUX'S-NAME", "isa NAME FEATURE|FEATURE..." and "kernel ISA".
tables=$("${CC:-cc}" -E -P -I"$root/core/src" -x c - <<'C'
#include "core.h"
#define FEATURE(name, linux_name, ...)             :feature name linux_name
#include "features.def"
#define HLI_F(name)                                name
#define ISA(name, needs)                           :isa name needs
#define LANES(body, name, isa, nlanes, ...) :kernel isa
#define KERNEL(body, name, isa, nlanes, ...) :kernel isa
#include "registry.def"
C
) || cannot "the compiler ${CC:-cc} cannot read core/src/registry.def"
tables=$(tr '\n' ' ' <<<"$tables" | tr ':' '\n' | sed -n 's/^\(feature\|isa\|kernel\) /&/p' | tr -d '"|')
grep -q '^isa ' <<<"$tables" || cannot "the compiler ${CC:-cc} found no instruction set in core/src/registry.def"
# Without a list, an x86 or arm64 CPU would seem to have nothing.
[ -n "$flags" ] || ! grep -q '^feature ' <<<"$tables" || cannot "$cpuinfo does not list the features of this CPU"

awk -v flags="$flags" '
    BEGIN {n = split(flags, names, "\n"); for (i = 1; i <= n; i++) has[names[i]] = 1}
    $1 == "feature" {linux_name[$2] = $3}
    $1 == "kernel" {kernels[$2]++}
    $1 == "isa" && $3 != "0" { # every CPU has an instruction set that needs no feature
        missing = ""
        for (i = 3; i <= NF; i++) {
            if (!($i in linux_name)) {print "expect.sh: features.def has no " $i | "cat >&2"; exit 2}
            if (!(linux_name[$i] in has)) missing = missing " " linux_name[$i]
        }
        if (missing == "") expected = expected "," $2
        else lacking[++nlacking] = $2 SUBSEP missing
    }
    END {
        print substr(expected, 2)
        for (i = 1; i <= nlacking; i++) {
            split(lacking[i], part, SUBSEP)
            if (kernels[part[1]]) print "not tested here: " kernels[part[1]] " kernels of " part[1] \
                ": this CPU lacks" part[2] | "cat >&2"
        }
    }' <<<"$tables"
