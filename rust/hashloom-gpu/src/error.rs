// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors of devices.

use std::fmt;

use hashloom::Algorithm;

/// Why a device did not do what was asked.
///
/// ```
/// use hashloom_gpu::{Device, Error};
///
/// let error = Device::open(Some("no such device")).unwrap_err();
/// assert!(matches!(&error, Error::NotFound { .. }));
/// assert!(error.to_string().starts_with("no GPU"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The machine has no device of this name, or none at all.
    NotFound {
        /// The name asked for, if there was one.
        wanted: Option<String>,
        /// The names of the devices that the machine has.
        found: Vec<String>,
    },
    /// A device over CUDA was asked for by its interface, and a library of CUDA is missing, or says that there is none.
    NoCuda {
        /// The missing library or device, and its cure.
        lack: String,
    },
    /// The device lacks what the shaders need, or room.
    TooSmall {
        /// The device's name.
        device: String,
        /// The lacking feature or limit, in the words of the driver.
        lack: String,
    },
    /// The driver refused a request: out of memory, or a shader that the driver does not compile. The device takes no
    /// further work.
    Refused {
        /// The device's name.
        device: String,
        /// The words of the driver.
        reason: String,
    },
    /// The device was lost: removed, reset, or without an answer. The device takes no further work.
    Lost {
        /// The device's name.
        device: String,
        /// The words of the driver.
        reason: String,
    },
    /// The device computes wrong digests: in the self-test before its first use, or later. The device takes no further
    /// work.
    Wrong {
        /// The device's name.
        device: String,
        /// The algorithm.
        algorithm: Algorithm,
        /// The check that found it.
        check: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NotFound { found, .. } if found.is_empty() => {
                f.write_str("no GPU was found: a driver for Vulkan, Metal or DX12 is needed")
            }
            Error::NotFound { wanted, found } => {
                let wanted = wanted.as_deref().unwrap_or_default();
                write!(f, "no GPU has {wanted:?} in its name; there are: {}", found.join(", "))
            }
            Error::NoCuda { lack } => write!(f, "CUDA cannot be used: {lack}"),
            Error::TooSmall { device, lack } => write!(f, "{device} cannot run the shaders: {lack}"),
            Error::Refused { device, reason } => write!(f, "{device}: the driver refused a request: {reason}"),
            Error::Lost { device, reason } => write!(f, "{device} was lost: {reason}"),
            Error::Wrong { device, algorithm, check } => {
                write!(f, "{device} computes {algorithm} wrongly: {check}; its driver or the device has an error")
            }
        }
    }
}

impl std::error::Error for Error {}
