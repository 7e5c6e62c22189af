// SPDX-License-Identifier: MIT OR Apache-2.0

//! The program, as a person or a script runs it. One program, as each would link the crates again;
//! `cargo test -p hashloom-cli --test all address::` runs one file of it.

#[path = "../common/mod.rs"]
mod common;
#[path = "../../../hashloom-torrent/tests/maker/mod.rs"]
mod maker;

mod address;
mod bench;
#[cfg(unix)]
mod changes;
mod clients;
#[cfg(unix)]
mod compressed;
mod create;
mod door;
mod edit;
mod find;
mod generate;
mod kernels;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(unix)]
mod log;
mod manifest;
mod many;
#[cfg(target_os = "linux")]
mod outputs;
mod scope;
#[cfg(target_os = "linux")]
mod sharing;
mod show;
#[cfg(unix)]
mod signed;
#[cfg(unix)]
mod slh;
#[cfg(unix)]
mod solaris;
#[cfg(unix)]
mod stdio;
mod sum;
mod tree;
mod verify;
#[cfg(windows)]
mod windows;
mod work;
