// SPDX-License-Identifier: MIT OR Apache-2.0
//! Search for nonces on a GPU.
//!
//! A nonce is found by the digest of the text around it ([`hashloom_work::Search`]). The shaders are written from the
//! block functions of the C library. Devices are reached over Vulkan, Metal or DX12, by the crate [`wgpu`], with the
//! feature `cuda` also over CUDA.
//!
//! ```
//! use std::ops::ControlFlow;
//!
//! use hashloom::Algorithm;
//! use hashloom_gpu::{Device, End, Event};
//! use hashloom_work::{Search, Target};
//!
//! match Device::open(None) {
//!     Ok(device) => {
//!         let search = Search::new(Algorithm::Sha256, Target::zero_bits(16)).prefix(b"hello ").digits(b"0123456789");
//!         let end: End = device.search(&search, 0..=5000, |event| {
//!             assert!(matches!(event, Event::Found(4361) | Event::Tried(_)));
//!             ControlFlow::Continue(())
//!         });
//!         assert_eq!(end.error, None);
//!     }
//!     Err(error) => println!("{error}"),
//! }
//! ```
//!
//! A device that is lost, too small or wrong is an [`Error`], never a wrong nonce: each shader is tested before its
//! first use, and the CPU hashes each nonce that was found, and 64 of each call of the shader, again.
//!
//! The crate hashes no data: 16 cores are faster than the way to the device (`docs/gpu.md`).
#![deny(missing_docs, unsafe_code)]

mod calls;
#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod error;
mod graph;
mod plan;
mod search;
mod shader;

#[doc(hidden)]
pub use device::Fault;
pub use device::{Adapter, Device, Options, adapters};
pub use error::Error;
pub use hashloom_work::Event;
#[doc(hidden)]
pub use plan::Shader;
pub use search::End;

// The example in the guide as a documentation test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/gpu.md")]
struct Guide;
