// SPDX-License-Identifier: MIT OR Apache-2.0

//! A device beside the CPU that hashes some of the messages.

use hashloom::Algorithm;

/// Hashes many messages at once beside the CPU's lanes: a GPU, for instance. One thread of a run hands messages to it.
///
/// The engine tests no device: an implementation must only return digests that it has reason to believe. A piece of a
/// torrent that is wrong by the device's digest is hashed again by the CPU. After [`DeviceFailed`] the CPU hashes the
/// same messages, and the run uses the device no more; whoever implements the trait tells why.
///
/// ```
/// use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};
/// use hashloom_engine::run::{Device, DeviceFailed, DeviceStreams, Options};
///
/// /// No device at all, but the CPU.
/// struct Lanes;
///
/// impl Device for Lanes {
///     fn hash_many(&self, of: Algorithm, messages: &[&[u8]], digests: &mut [u8]) -> Result<(), DeviceFailed> {
///         hash_many(of, messages, digests);
///         Ok(())
///     }
///
///     fn streams(&self, of: Algorithm, count: usize) -> Result<Box<dyn DeviceStreams + '_>, DeviceFailed> {
///         Ok(Box::new(LaneStreams(vec![Hasher::new(of); count])))
///     }
/// }
///
/// struct LaneStreams(Vec<Hasher>);
///
/// impl DeviceStreams for LaneStreams {
///     fn update(&mut self, chunks: &[&[u8]]) -> Result<(), DeviceFailed> {
///         update_many(&mut self.0, chunks);
///         Ok(())
///     }
///
///     fn finalize(&mut self, digests: &mut [u8]) -> Result<(), DeviceFailed> {
///         finalize_many(&mut self.0, digests);
///         Ok(())
///     }
/// }
///
/// let options = Options::new().device(std::sync::Arc::new(Lanes));
/// ```
pub trait Device: Send + Sync {
    /// Writes the digest of message i to the i-th `digest_nbytes` bytes of `digests`. A call without messages comes first,
    /// while the CPU works: it makes the device ready for the algorithm.
    ///
    /// # Errors
    ///
    /// [`DeviceFailed`]; `digests` then holds no digests.
    fn hash_many(&self, algorithm: Algorithm, messages: &[&[u8]], digests: &mut [u8]) -> Result<(), DeviceFailed>;

    /// Begins `count` empty messages that come in parts.
    ///
    /// # Errors
    ///
    /// [`DeviceFailed`].
    fn streams(&self, algorithm: Algorithm, count: usize) -> Result<Box<dyn DeviceStreams + '_>, DeviceFailed>;
}

/// Messages on a [`Device`] that come in parts.
///
/// ```
/// use hashloom::Algorithm;
/// use hashloom_engine::run::{Device, DeviceFailed};
///
/// fn of_halves(device: &dyn Device, halves: [&[&[u8]]; 2], digests: &mut [u8]) -> Result<(), DeviceFailed> {
///     let mut streams = device.streams(Algorithm::Sha1, halves[0].len())?;
///     streams.update(halves[0])?;
///     streams.update(halves[1])?;
///     streams.finalize(digests)
/// }
/// ```
pub trait DeviceStreams {
    /// Appends `chunks[i]` to message i; there are as many chunks as messages.
    ///
    /// # Errors
    ///
    /// [`DeviceFailed`]; the messages are then lost.
    fn update(&mut self, chunks: &[&[u8]]) -> Result<(), DeviceFailed>;

    /// Writes the digest of message i to the i-th `digest_nbytes` bytes of `digests`, and begins empty messages.
    ///
    /// # Errors
    ///
    /// [`DeviceFailed`]; `digests` then holds no digests.
    fn finalize(&mut self, digests: &mut [u8]) -> Result<(), DeviceFailed>;
}

/// A device has failed, and takes no further work.
///
/// ```
/// use hashloom_engine::run::DeviceFailed;
///
/// assert_eq!(DeviceFailed.to_string(), "the device has failed");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceFailed;

impl std::fmt::Display for DeviceFailed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the device has failed")
    }
}

impl std::error::Error for DeviceFailed {}
