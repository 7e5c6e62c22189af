#!/bin/sh
# emulate.sh: the C tests' CMAKE_CROSSCOMPILING_EMULATOR: what HASHLOOM_TEST_EMULATOR says, so that one build can be run
# on several CPUs. Empty: the program itself.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
#   HASHLOOM_TEST_EMULATOR='qemu-aarch64 -cpu cortex-a53' test/emulate.sh PROGRAM [ARGUMENT ...]

# Words between spaces.
# shellcheck disable=SC2086
exec $HASHLOOM_TEST_EMULATOR "$@"
