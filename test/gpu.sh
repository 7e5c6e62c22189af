#!/usr/bin/env bash
# gpu.sh: the shaders, also in CUDA C, the crate hashloom-gpu, and the program with the feature gpu.
#
# SPDX-License-Identifier: MIT OR Apache-2.0
#
# No GPU is needed: Mesa's lavapipe (Debian's mesa-vulkan-drivers) computes on the CPU, and fake_cuda.c stands in for
# CUDA. If there is a GPU, the tests use it over Vulkan. HASHLOOM_REQUIRE=1 makes it a failure if there is no device at
# all. Exit status: 0 if everything passed.
set -euo pipefail
cd "$(dirname "$0")/.."
# Mesa's layer that chooses a default device asks Wayland, and complains if there is none.
export NODEVICE_SELECT=1
# Not the folder of other parts, which would wait.
export CARGO_TARGET_DIR=target/gpu

tools/wgsl/write.py --check
# Both packages in each command, so that wgpu is built once for the tests. A lint compiles it once more.
both=(--quiet --locked --package hashloom-gpu --package hashloom-cli --no-default-features --features hashloom-cli/cuda)
export CARGO_PROFILE_DEV_DEBUG=false
cargo test "${both[@]}" --bins --lib --example gpubench --test device --test no_device --test cuda --test gpu
cargo build "${both[@]}" --example gpubench
test/cuda.py "$CARGO_TARGET_DIR/debug/examples/gpubench"
cargo clippy "${both[@]}" --all-targets -- -D warnings
cargo clippy "${both[@]/%cuda/gpu}" --all-targets -- -D warnings
cargo test "${both[@]}" --doc
RUSTDOCFLAGS="-D warnings" cargo doc "${both[@]}" --no-deps
