// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that arrive in parts.

use hashloom::{Algorithm, Hasher};

use crate::device::Device;
use crate::error::Error;
use crate::hash::{CHECKED, copy_padded, copy_parts};
use crate::pass::{Pass, Source, States};
use crate::shader::Body;

/// Messages that arrive in parts, many side by side, whose states stay on the device: as [`hashloom::update_many`] and
/// [`hashloom::finalize_many`].
///
/// The CPU hashes one of 1,000 messages as well, at least one, and compares at the end.
///
/// ```
/// use hashloom::{Algorithm, hash};
/// use hashloom_gpu::{Device, Streams};
///
/// let Ok(device) = Device::open(None) else { return Ok(()) };
/// let mut streams = Streams::new(&device, Algorithm::Sha1, 2)?;
/// streams.update(&["ab", "x"])?;
/// streams.update(&["c", ""])?;
/// let mut digests = [0; 2 * 20];
/// streams.finalize(&mut digests)?;
/// assert_eq!(hash(Algorithm::Sha1, b"abc"), digests[..20]);
/// # Ok::<(), hashloom_gpu::Error>(())
/// ```
pub struct Streams<'d> {
    device: &'d Device,
    algorithm: Algorithm,
    body: &'static Body,
    pass: Pass<'d>,
    states: States,
    streams: Vec<Stream>,
    /// Streams that the CPU hashes too.
    checked: Vec<(usize, Hasher)>,
}

#[derive(Clone)]
struct Stream {
    nbytes: u64,
    /// Less than a block.
    rest: Vec<u8>,
}

impl<'d> Streams<'d> {
    /// Begins `count` empty messages.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but `NotFound`. `TooSmall` if no buffer has room for as many states; the device still works.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_gpu::{Device, Streams};
    ///
    /// let Ok(device) = Device::open(None) else { return Ok(()) };
    /// let mut digest = [0; 16];
    /// Streams::new(&device, Algorithm::Md5, 1)?.finalize(&mut digest)?;
    /// assert_eq!(digest[..2], [0xd4, 0x1d]);
    /// # Ok::<(), hashloom_gpu::Error>(())
    /// ```
    pub fn new(device: &'d Device, algorithm: Algorithm, count: usize) -> Result<Self, Error> {
        let unsupported = Error::Unsupported { algorithm };
        let body = Body::of(algorithm).ok_or(unsupported.clone())?;
        let begin = body.initial_state(algorithm).ok_or(unsupported)?;
        let pass = Pass::new(device, body)?;
        if count > pass.nlanes_max() {
            let lack = format!("{count} streams, but a buffer has room for {}", pass.nlanes_max());
            return Err(Error::TooSmall { device: device.adapter().name.clone(), lack });
        }
        device.guarded(|| {
            device.test(algorithm)?;
            let states = pass.states(count, &begin);
            let first = device.any_below(count.min(CHECKED));
            let checked = (first..count).step_by(CHECKED).map(|i| (i, Hasher::new(algorithm))).collect();
            let streams = vec![Stream { nbytes: 0, rest: Vec::new() }; count];
            Ok(Streams { device, algorithm, body, pass, states, streams, checked })
        })
    }

    /// Appends `chunks[i]` to message i. Chunks of like lengths, of thousands of bytes or more, are fastest.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but `NotFound`.
    ///
    /// # Panics
    ///
    /// If there are not as many chunks as messages.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_gpu::{Device, Streams};
    ///
    /// let Ok(device) = Device::open(None) else { return Ok(()) };
    /// let mut streams = Streams::new(&device, Algorithm::Sha256, 1)?;
    /// streams.update(&[vec![0; 100_000]])?;
    /// # Ok::<(), hashloom_gpu::Error>(())
    /// ```
    pub fn update<C: AsRef<[u8]>>(&mut self, chunks: &[C]) -> Result<(), Error> {
        let count = self.streams.len();
        assert!(chunks.len() == count, "Streams::update: {} chunks for {count} messages", chunks.len());
        let parts: Vec<&[u8]> = chunks.iter().map(AsRef::as_ref).collect();
        let Streams { device, body, pass, states, streams, checked, .. } = self;
        device.guarded(|| {
            pass.advance(states, &Blocks { body, streams: &*streams, parts: &parts })?;
            for (stream, part) in streams.iter_mut().zip(&parts) {
                stream.nbytes += part.len() as u64;
                let nwhole = (stream.rest.len() + part.len()) / body.block_nbytes() * body.block_nbytes();
                if nwhole == 0 {
                    stream.rest.extend_from_slice(part);
                } else {
                    let from = nwhole - stream.rest.len();
                    stream.rest.clear();
                    stream.rest.extend_from_slice(&part[from..]);
                }
            }
            checked.iter_mut().for_each(|(i, hasher)| hasher.update(parts[*i]));
            Ok(())
        })
    }

    /// Writes the digest of message i to the i-th `digest_nbytes` bytes of `digests`, and begins empty messages.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but `NotFound`. `digests` is then zero throughout.
    ///
    /// # Panics
    ///
    /// If `digests` does not have exactly `count * digest_nbytes` bytes.
    ///
    /// ```
    /// use hashloom::Algorithm;
    /// use hashloom_gpu::{Device, Streams};
    ///
    /// let Ok(device) = Device::open(None) else { return Ok(()) };
    /// let mut streams = Streams::new(&device, Algorithm::Sha1, 1)?;
    /// streams.update(&["abc"])?;
    /// let mut digest = [0; 20];
    /// streams.finalize(&mut digest)?;
    /// assert_eq!(digest[..2], [0xa9, 0x99]);
    /// # Ok::<(), hashloom_gpu::Error>(())
    /// ```
    pub fn finalize(&mut self, digests: &mut [u8]) -> Result<(), Error> {
        let (count, nbytes, algorithm) = (self.streams.len(), self.algorithm.digest_nbytes(), self.algorithm);
        assert!(
            digests.len() == count * nbytes,
            "Streams::finalize: {} bytes for {count} digests of {algorithm}",
            digests.len()
        );
        let Streams { device, body, pass, states, streams, checked, .. } = self;
        let done = device.guarded(|| {
            pass.advance(states, &Endings { body, streams: &*streams })?;
            let results = pass.fetch(states);
            pass.digests(results, nbytes, |lane, digest| {
                digests[lane * nbytes..][..nbytes].copy_from_slice(digest);
            })?;
            states.begin_again();
            for stream in streams.iter_mut() {
                stream.nbytes = 0;
                stream.rest.clear();
            }
            for (i, hasher) in checked {
                if hasher.finalize_reset() != digests[*i * nbytes..][..nbytes] {
                    return Err(device.found_wrong(algorithm, format!("the CPU has another digest of message {i}")));
                }
            }
            Ok(())
        });
        if done.is_err() {
            digests.fill(0);
        }
        done
    }
}

/// Whole blocks of what waits and of what comes.
struct Blocks<'s> {
    body: &'static Body,
    streams: &'s [Stream],
    parts: &'s [&'s [u8]],
}

impl Source for Blocks<'_> {
    fn nblocks(&self, lane: usize) -> u64 {
        ((self.streams[lane].rest.len() + self.parts[lane].len()) / self.body.block_nbytes()) as u64
    }

    fn copy(&self, lane: usize, first_block: u64, out: &mut [u8]) {
        let skip = first_block as usize * self.body.block_nbytes();
        copy_parts([&self.streams[lane].rest, self.parts[lane]].into_iter(), skip, out);
    }
}

/// The last blocks, with their padding.
struct Endings<'s> {
    body: &'static Body,
    streams: &'s [Stream],
}

impl Source for Endings<'_> {
    fn nblocks(&self, lane: usize) -> u64 {
        self.body.nblocks(self.streams[lane].rest.len() as u64)
    }

    fn copy(&self, lane: usize, first_block: u64, out: &mut [u8]) {
        let stream = &self.streams[lane];
        copy_padded(self.body, &[&stream.rest], stream.nbytes, first_block, out);
    }
}
