#!/usr/bin/env bash
# run_test.sh: test/run.py with parts of its own: which of them run, and the end of those that hang.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
set -uo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/test" "$folder/a" "$folder/b"
cp "$(dirname "$0")"/{run.py,ccache.sh} "$folder/test"
cd "$folder" || exit 2
commit() { git add . && git -c user.name=x -c user.email=x@example.org commit --quiet --message "$1"; }
printf '%s\n' said build >.gitignore
git init --quiet . && commit x
export HASHLOOM_EXPECT='' PARTS=2 LIMIT=60 PARTS_FROM='
makes | check quick all | | echo making
needs | check quick all | +makes | echo needing; echo "SKIPPED: needs: a reason"
    a/*
follows | quick all | needs | echo following
    b/* a/*
burns | all | | bash -c "echo before; while true; do :; done"
hangs | all | | echo before; trap : TERM; sleep 298 & exec sleep 299
fails | all | hangs | false
'
unset HASHLOOM_SEED HASHLOOM_REQUIRE
failed=0

# says STATUS PATTERN ABSENT ARGUMENTS...: run.py's exit status, what its output has in this order, and what it has not.
says() {
    local status=0
    python3 test/run.py "${@:4}" >said 2>&1 || status=$?
    [ "$status" = "$1" ] && tr '\n' ' ' <said | grep -qE "$2" && ! grep -qE "$3" said && return
    echo "FAILED: run.py ${*:4}: status $status, expected $1, /$2/ and not /$3/:"
    cat said
    failed=1
}

HASHLOOM_SEED=7 says 0 'SEED=7 .*making .*needing .*following .*Skipped: 1 .* SKIPPED: needs: a reason .*All 3 parts' \
    FAILED quick
says 0 'All 2 parts passed' following quick needs
says 1 'quick has no part nothing' passed quick nothing
says 1 'test/run.py quick.all' == what
says 1 'nowhere' passed check nowhere
says 1 'FAILED: fails' 'FAILED: makes' all fails makes
says 0 'No part of check tests a changed file: no file' FAILED check
touch b/new
says 0 'No part of check tests a changed file: b/new .*quick follows ' FAILED check
touch a/new
says 0 'quick follows .*All 2 parts passed' following check
WALL=1 says 1 'before .*STOPPED: hangs: .* of 1\. .*  sleep 299 .*FAILED: hangs' 'FAILED: makes' all hangs makes
# The limit is of CPU time: on a busy machine right code only takes longer.
LIMIT=1 says 1 'before .*STOPPED: burns: .* s of CPU time, of 1,.*  bash -c echo before.*FAILED: burns' 'FAILED: m' \
    all burns makes
[ $failed != 0 ] || echo "test/run.py runs the parts that it should, and stops one that hangs or takes too much"
exit $failed
