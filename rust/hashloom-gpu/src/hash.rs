// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that are whole in memory.

use std::collections::VecDeque;

use hashloom::Algorithm;

use crate::device::Device;
use crate::error::Error;
use crate::pass::Pass;
use crate::shader::{Body, NWORDS_MAX};

/// The CPU hashes one message again for each 1,000 that the device hashes.
const CHECKED: usize = 1000;

/// Batches whose states are on their way back while later ones are hashed.
const NBATCHES: usize = 2;

impl Device {
    /// The digests of many messages: as [`hashloom::hash_many`], on the device. Messages are sorted by their lengths
    /// and hashed in batches; one message is one invocation, so that thousands of messages keep a GPU busy, and a
    /// single long one is slower than on a CPU.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but `NotFound`. `digests` is then zero throughout.
    ///
    /// # Panics
    ///
    /// If `digests` does not have exactly `messages.len() * digest_nbytes` bytes.
    ///
    /// ```
    /// use hashloom::{Algorithm, hash};
    /// use hashloom_gpu::Device;
    ///
    /// let Ok(device) = Device::open(None) else { return Ok(()) };
    /// let messages = ["a", "message", "of another length"];
    /// let mut digests = [0; 3 * 32];
    /// device.hash_many(Algorithm::Sha256, &messages, &mut digests)?;
    /// assert_eq!(hash(Algorithm::Sha256, b"message"), digests[32..64]);
    /// # Ok::<(), hashloom_gpu::Error>(())
    /// ```
    pub fn hash_many<M: AsRef<[u8]>>(
        &self,
        algorithm: Algorithm,
        messages: &[M],
        digests: &mut [u8],
    ) -> Result<(), Error> {
        let messages: Vec<&[u8]> = messages.iter().map(AsRef::as_ref).collect();
        self.hash_all(algorithm, messages.len(), &|i| messages[i], digests)
    }

    /// The digests of `count` messages of `row_nbytes` bytes each, `stride` bytes apart: as [`hashloom::hash_rows`], on
    /// the device.
    ///
    /// # Errors
    ///
    /// Any [`Error`] but `NotFound`. `digests` is then zero throughout.
    ///
    /// # Panics
    ///
    /// If a row reaches beyond `data`, or `digests` does not have exactly `count * digest_nbytes` bytes.
    ///
    /// ```
    /// use hashloom::{Algorithm, hash};
    /// use hashloom_gpu::Device;
    ///
    /// let Ok(device) = Device::open(None) else { return Ok(()) };
    /// let mut digests = [0; 2 * 20];
    /// device.hash_rows(Algorithm::Sha1, b"abcdef", 3, 3, 2, &mut digests)?;
    /// assert_eq!(hash(Algorithm::Sha1, b"def"), digests[20..]);
    /// # Ok::<(), hashloom_gpu::Error>(())
    /// ```
    pub fn hash_rows(
        &self,
        algorithm: Algorithm,
        data: &[u8],
        row_nbytes: usize,
        stride: usize,
        count: usize,
        digests: &mut [u8],
    ) -> Result<(), Error> {
        let last = count.saturating_sub(1).checked_mul(stride).and_then(|at| at.checked_add(row_nbytes));
        assert!(
            count == 0 || last.is_some_and(|end| end <= data.len()),
            "hash_rows: {count} rows of {row_nbytes} bytes, {stride} apart, in {} bytes",
            data.len()
        );
        self.hash_all(algorithm, count, &|i| &data[i * stride..][..row_nbytes], digests)
    }

    fn hash_all<'a>(
        &self,
        algorithm: Algorithm,
        count: usize,
        message: &dyn Fn(usize) -> &'a [u8],
        digests: &mut [u8],
    ) -> Result<(), Error> {
        let nbytes = algorithm.digest_nbytes();
        assert!(
            count.checked_mul(nbytes) == Some(digests.len()),
            "digests has {} bytes, but {count} digests of {algorithm} take {count} * {nbytes}",
            digests.len()
        );
        let work = || {
            self.test(algorithm)?;
            hash_all(self, algorithm, count, message, digests)?;
            let checked: Vec<usize> = (self.any_below(count.min(CHECKED))..count).step_by(CHECKED).collect();
            check(self, algorithm, &checked, message, digests)
        };
        let done = self.wgpu().and_then(|_| self.guarded(work));
        if done.is_err() {
            digests.fill(0);
        }
        done
    }
}

/// Messages whose bytes go to the device. Lane i has message `order[i]`.
pub(crate) struct Messages<'m, 'a> {
    body: &'static Body,
    order: &'m [usize],
    message: &'m dyn Fn(usize) -> &'a [u8],
}

impl Messages<'_, '_> {
    /// Blocks that lane `lane` has to hash, padding included.
    pub fn nblocks(&self, lane: usize) -> u64 {
        self.body.nblocks((self.message)(self.order[lane]).len() as u64)
    }

    /// Copies blocks from `first_block` on.
    pub fn copy(&self, lane: usize, first_block: u64, out: &mut [u8]) {
        copy_padded(self.body, (self.message)(self.order[lane]), first_block, out);
    }
}

/// Copies blocks from `first_block` on of a message and its padding.
fn copy_padded(body: &Body, message: &[u8], first_block: u64, out: &mut [u8]) {
    let (block, nbytes) = (body.block_nbytes(), message.len());
    let before = first_block as usize * block;
    let bytes = &message[before.min(nbytes)..];
    let (here, behind) = out.split_at_mut(bytes.len().min(out.len()));
    here.copy_from_slice(&bytes[..here.len()]);
    if behind.is_empty() {
        return;
    }
    let mut room = [0; 2 * 4 * NWORDS_MAX];
    let padding = &mut room[..body.nblocks(nbytes as u64) as usize * block - nbytes];
    body.pad(padding, nbytes as u64);
    behind.copy_from_slice(&padding[before.saturating_sub(nbytes)..][..behind.len()]);
}

/// Hashes all messages, without a check.
fn hash_all<'a>(
    device: &Device,
    algorithm: Algorithm,
    count: usize,
    message: &dyn Fn(usize) -> &'a [u8],
    digests: &mut [u8],
) -> Result<(), Error> {
    let unsupported = Error::Unsupported { algorithm };
    let body = Body::of(algorithm).ok_or(unsupported.clone())?;
    let (begin, nbytes) = (body.initial_state(algorithm).ok_or(unsupported)?, algorithm.digest_nbytes());
    let mut order: Vec<usize> = (0..count).collect();
    // The sort is stable: messages of one length keep their order, and are read in it.
    order.sort_by_key(|&i| std::cmp::Reverse(body.nblocks(message(i).len() as u64)));
    let mut pass = Pass::new(device, body)?;
    let mut waiting = VecDeque::new();
    let mut rest = &order[..];
    loop {
        if waiting.len() > NBATCHES || rest.is_empty() {
            let Some((lanes, results)) = waiting.pop_front() else { break };
            let lanes: &[usize] = lanes;
            pass.digests(results, nbytes, |lane, digest| {
                digests[lanes[lane] * nbytes..][..nbytes].copy_from_slice(digest);
            })?;
            continue;
        }
        let longest = body.nblocks(message(rest[0]).len() as u64);
        let (lanes, later) = rest.split_at(pass.nlanes_of_chunk(longest).min(rest.len()));
        rest = later;
        let states = pass.states(lanes.len(), &begin);
        pass.hash(&states, &Messages { body, order: lanes, message })?;
        waiting.push_back((lanes, pass.fetch(&states)));
    }
    pass.finish()
}

/// Compares the digests of some messages with those by the CPU.
fn check<'a>(
    device: &Device,
    algorithm: Algorithm,
    checked: &[usize],
    message: &dyn Fn(usize) -> &'a [u8],
    digests: &[u8],
) -> Result<(), Error> {
    let nbytes = algorithm.digest_nbytes();
    let messages: Vec<&[u8]> = checked.iter().map(|&i| message(i)).collect();
    let mut right = vec![0; checked.len() * nbytes];
    hashloom::hash_many(algorithm, &messages, &mut right);
    let wrong =
        checked.iter().zip(right.chunks_exact(nbytes)).find(|&(&i, right)| digests[i * nbytes..][..nbytes] != *right);
    match wrong {
        Some((i, _)) => Err(device.found_wrong(algorithm, format!("the CPU has another digest of message {i}"))),
        None => Ok(()),
    }
}

/// Messages of all lengths up to two blocks and more, which the CPU hashes too.
pub(crate) fn self_test(device: &Device, algorithm: Algorithm) -> Result<(), Error> {
    let nbytes = algorithm.digest_nbytes();
    let data: Vec<u8> = (0..1024_u32).map(|i| (i.wrapping_mul(0x9e37_79b9) >> 24) as u8).collect();
    let mut messages: Vec<&[u8]> = (0..=2 * algorithm.block_nbytes() + 20).map(|n| &data[n % 7..][..n]).collect();
    messages.push(&data);
    let mut digests = vec![0; messages.len() * nbytes];
    let message = |i: usize| messages[i];
    hash_all(device, algorithm, messages.len(), &message, &mut digests)?;
    check(device, algorithm, &(0..messages.len()).collect::<Vec<_>>(), &message, &digests)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_message_is_copied_block_by_block() {
        let body = Body::of(Algorithm::Sha512).unwrap();
        let message: Vec<u8> = (0..250).collect();
        let mut whole = vec![0; 384];
        copy_padded(body, &message, 0, &mut whole);
        assert_eq!((&whole[..250], whole[250]), (&message[..], 0x80));
        assert_eq!(whole[382..], 2000_u16.to_be_bytes());
        for first in 0..3 {
            let mut block = vec![1; 128];
            copy_padded(body, &message, first, &mut block);
            assert_eq!(block, whole[first as usize * 128..][..128]);
        }
    }
}
