#!/bin/sh
# emulate.sh: the C tests' CMAKE_CROSSCOMPILING_EMULATOR. Runs a program under the command in HASHLOOM_TEST_EMULATOR, so
# that one build can run on several CPUs; directly if the variable is empty.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   HASHLOOM_TEST_EMULATOR='qemu-aarch64 -cpu cortex-a53' test/emulate.sh PROGRAM [ARGUMENT ...]

# The variable is split at spaces.
# shellcheck disable=SC2086
exec $HASHLOOM_TEST_EMULATOR "$@"
