#!/usr/bin/env bash
# offered.sh: builds all that no other part builds: benchmarks, fuzz targets, scripts.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   test/offered.sh [quick|all]
#
# quick: each Cargo.lock is up to date, scripts and C programs have no error that shows without a build, the lists of
# fuzz targets agree, as do the versions, and the subjects of commits are short. all: everything is compiled (the part
# "peers" compiles bench/peers), and actionlint reads the workflows. actionlint needs Go; HASHLOOM_REQUIRE=1 makes it a
# failure if Go is not installed.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
level=${1:-all}
npassed=0 nfailed=0 nskipped=0

check() { # NAME COMMAND...
    local said
    if said=$("${@:2}" 2>&1); then
        npassed=$((npassed + 1))
    else
        echo "FAILED: $1: $said"
        nfailed=$((nfailed + 1))
    fi
}

# Each list of fuzz targets is complete: Cargo's, and that of the script that runs them.
fuzz_targets() {
    local files
    files=$(basename -s .rs fuzz/fuzz_targets/*.rs | sort)
    diff <(echo "$files") <(sed -n 's/^name = "\([a-z0-9_]*\)"$/\1/p' fuzz/Cargo.toml | sort) &&
        diff <(echo "$files") <(sed -n 's/^targets=(\(.*\))$/\1/p' fuzz/run.sh | tr ' ' '\n' | sort)
}

# The jobs of the workflow run every part of test and of more, each once; what they run more of test-all is there.
workflow_parts() {
    local file=.github/workflows/ci.yml
    diff <({ test/run.py list test && test/run.py list more; } | sort) \
        <(sed -n 's/^ *parts: \(.*\)$/\1/p' $file | tr ' ' '\n' | sort) &&
        diff /dev/null <(sed -n 's/^ *more: \(.*\)$/\1/p' $file | tr ' ' '\n' | grep -vxFf <(test/run.py list all))
}

# Workflows name each action by a commit, with its version, and each package of PyPI by the hashes in a file.
pinned() {
    local files lines
    mapfile -t files < <(git ls-files '.github/*.yml' '.github/*.yaml' '*action.yml' '*action.yaml')
    lines=$(grep -nE '^[^#]*\buses\b["'\'']? *:|docker://' "${files[@]}" |
        grep -vE '^[^:]*:[0-9]+: *(- )?uses: [A-Za-z0-9_./-]+@[0-9a-f]{40} # v[0-9][0-9.]*$'
        grep -nE 'pip3? +install|-m +pip|\bpipx\b|\buvx\b|\buv +(pip|tool|run|add)' "${files[@]}" |
            grep -vE 'install --(require-hashes|no-index) ')
    [ -z "$lines" ] || { echo "$lines"; return 1; }
}

# Subjects of commits: at most 65 characters, and one change, which no ";" joins to another. Git writes that of a
# revert.
rules_since=f9341e297094
subjects() {
    local long
    long=$(git log --no-merges --format='%h %s' "$rules_since.." | awk '{s = substr($0, index($0, " ") + 1)}
        s !~ /^Revert "/ && (length(s) > 65 || s ~ /;/)')
    [ -z "$long" ] || { echo "$long"; return 1; }
}

mapfile -t scripts < <(git ls-files '*.sh' .ci/run)
for script in "${scripts[@]}"; do
    check "$script" bash -n "$script"
done
mapfile -t programs < <(git ls-files '*.py')
check "Python programs" python3 -c 'import ast, sys; [ast.parse(open(name).read(), name) for name in sys.argv[1:]]' \
    "${programs[@]}"
check "fuzz targets" fuzz_targets
check "versions" tools/versions.sh
check "a workflow takes what it does not name by its content" pinned
check ".github/workflows/ci.yml lacks parts of test/run.py (<), or names others (>)" workflow_parts
if git rev-parse --quiet --verify "$rules_since^{commit}" >/dev/null; then
    check "subjects of commits, at most 65 characters without ;" subjects
else
    echo "SKIPPED: offered: subjects of commits: git has no history back to $rules_since"
    nskipped=1
fi
mapfile -t locks < <(git ls-files '*Cargo.lock')
for lock in "${locks[@]}"; do
    # The only command that reads the lock file without fetching its crates.
    check "$lock is out of date" cargo update --workspace --locked --manifest-path "${lock%lock}toml"
done
for file in bench/kernels.c bench/asan/verify_image.c; do
    check $file "${CC:-cc}" -std=gnu11 -O2 -Wall -Wextra -Werror -Icore/include -Ilibmd/include -fsyntax-only $file
done

if [ "$level" = all ]; then
    check "make build/bench/kernels" make --silent build/bench/kernels
    check "bench/asan" cmake -S bench/asan -B build/bench-asan/check
    check "bench/asan" cmake --build build/bench-asan/check
    check "fuzz" cargo check --quiet --locked --bins --manifest-path fuzz/Cargo.toml --target-dir target/offered
    if command -v go >/dev/null; then
        check ".github/workflows" go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
    else
        echo "SKIPPED: actionlint: Go is not installed"
        nskipped=1
        [ -z "${HASHLOOM_REQUIRE-}" ] || nfailed=$((nfailed + 1))
    fi
fi
echo "$npassed passed, $nfailed failed, $nskipped skipped"
[ $nfailed -eq 0 ]
