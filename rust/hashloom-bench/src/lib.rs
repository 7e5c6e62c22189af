// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom bench` and `hashloom kernels`.
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod bare;
pub mod bench;
pub mod kernels;
mod machine;
mod timing;
