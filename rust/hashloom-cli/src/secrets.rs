// SPDX-License-Identifier: MIT OR Apache-2.0

//! Keeps secrets of this process from other processes.

/// Forbids dumps of this process, which would have secret keys in them, and keeps other processes of the same user from
/// looking into it.
pub fn refuse_dumps() {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    }
}
