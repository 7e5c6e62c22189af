#!/usr/bin/env bash
# run_test.sh: test/run.sh with parts of its own: which of them run, and the end of those that hang.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -uo pipefail
cd "$(dirname "$0")/.." || exit 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/test"
cp test/ccache.sh test/sample.sh "$folder/test"
sed -e '/^part c /,/^part fuzz-crates /c\
part makes "check quick all" "" "" echo making\
part needs "check quick all" +makes "a/*" echo needing\
part follows "quick all" needs "b/* a/*" echo following\
part burns all "" "" bash -c "echo before; while true; do :; done"\
part waits all "" "" sleep 3\
part hangs all "" "" bash -c "echo before; trap : TERM; sleep 298 \& exec sleep 299"\
part fails all hangs "" false' test/run.sh >"$folder/test/run.sh"
cd "$folder" || exit 2
mkdir a b
git init --quiet . && git add . && git -c user.name=x -c user.email=x@example.org commit --quiet --message x
export HASHLOOM_EXPECT='' PARTS=2 LIMIT=60
unset HASHLOOM_SEED
unset HASHLOOM_REQUIRE
failed=0

# says STATUS PATTERN ABSENT ARGUMENTS...: run.sh's exit status, what its output has, and what it has not.
says() {
    local status=0
    bash test/run.sh "${@:4}" >said 2>&1 || status=$?
    [ "$status" = "$1" ] && grep -qE "$2" said && ! grep -qE "$3" said && return
    echo "FAILED: run.sh ${*:4}: status $status, expected $1, /$2/ and not /$3/:"
    cat said
    failed=1
}

says 0 'All 3 parts passed' FAILED quick
says 0 'All 2 parts passed' following quick needs
says 0 'All 1 parts passed' making quick follows
says 2 'no part nothing' passed quick nothing
says 2 usage: passed what
says 2 'no commit nowhere' passed check nowhere
says 1 'FAILED: fails' 'FAILED: (makes|hangs)' all fails makes
echo said >.gitignore
git add . && git -c user.name=x -c user.email=x@example.org commit --quiet --message y
says 0 'No part of check tests a changed file: no file' passed check
touch b/new
says 0 'No part of check tests a changed file: b/new' passed check
grep -q 'quick follows$' said || { echo "FAILED: the longer part is not named:"; cat said; failed=1; }
touch a/new
says 0 'All 2 parts passed' following check
grep -q 'quick follows$' said || { echo "FAILED: the longer part is not named:"; cat said; failed=1; }
WALL=1 says 1 'STOPPED: hangs: .* of 1\. ' 'FAILED: makes' all hangs
grep -q '^before$' said && grep -q '^  sleep 299' said && grep -q 'FAILED: hangs' said ||
    { echo "FAILED: the end of a part that hangs:"; cat said; failed=1; }
# The limit is of CPU time: on a busy machine right code only takes longer.
LIMIT=1 says 1 'STOPPED: burns: .* s of CPU time, of 1,' 'FAILED: waits' all burns waits
grep -q '^  bash -c echo before' said || { echo "FAILED: the end of a part that takes too much:"; cat said; failed=1; }
says 0 'HASHLOOM_SEED=[0-9]' FAILED quick makes
HASHLOOM_SEED=7 says 0 'HASHLOOM_SEED=7$' FAILED quick makes
[ $failed != 0 ] || echo "test/run.sh runs the parts that it should, and stops one that hangs or takes too much"
exit $failed
