// SPDX-License-Identifier: MIT OR Apache-2.0

//! How work is run.

pub(crate) mod pool;

/// Number of messages that a thread works on at once: the lanes of the widest kernel. Narrower kernels take them in
/// turns.
pub(crate) const LANES: usize = 16;
