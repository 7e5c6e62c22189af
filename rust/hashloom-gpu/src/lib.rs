// SPDX-License-Identifier: MIT OR Apache-2.0
//! Hash many independent messages at once on a GPU.
//!
//! Message *i* is invocation *i* of a shader. The shaders are written from the block functions of the crate `hashloom`,
//! which puts message *i* into lane *i* of a vector register, and every digest is the same. Devices are reached over
//! Vulkan, Metal or DX12, by the crate [`wgpu`]. The feature `cuda` runs searches where only CUDA is, too.
//!
//! ```
//! use hashloom::Algorithm;
//! use hashloom_gpu::Device;
//!
//! match Device::open(None) {
//!     Ok(device) => {
//!         let mut digests = [0; 2 * 32];
//!         device.hash_many(Algorithm::Sha256, &["abc", ""], &mut digests)?;
//!         assert_eq!(digests[..4], [0xba, 0x78, 0x16, 0xbf]);
//!     }
//!     Err(error) => println!("{error}"),
//! }
//! # Ok::<(), hashloom_gpu::Error>(())
//! ```
//!
//! | input | call |
//! |---|---|
//! | many messages, each a slice | [`Device::hash_many`] |
//! | pieces of a buffer, a column of a table | [`Device::hash_rows`] |
//! | nonces whose digest is low enough (proof of work) | [`Device::search`] |
//!
//! A device that is lost, too small or wrong is an [`Error`], never a wrong digest: each algorithm is tested before its
//! first use, and the CPU hashes one of 1,000 messages again. A fault that makes fewer than one digest of a thousand
//! wrong may escape this check.
//!
//! The crate `hashloom` is faster for data that come over a bus, unless the bus is faster than the CPU's vectors:
//! `docs/gpu.md` has the figures.
#![deny(missing_docs, unsafe_code)]

mod calls;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod graph;
mod hash;
mod pass;
mod plan;
mod search;
mod shader;

#[doc(hidden)]
pub use device::Fault;
pub use device::{Adapter, Device, Options, adapters};
pub use error::Error;
#[doc(hidden)]
pub use plan::Shader;
pub use search::{End, Event};

// The example in the guide as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/gpu.md")]
struct Guide;
