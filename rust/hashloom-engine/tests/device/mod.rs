// SPDX-License-Identifier: MIT OR Apache-2.0

//! Devices for tests: the CPU hashes for them.

#![allow(dead_code, reason = "each test file uses some of it")]

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hashloom::{Algorithm, Hasher, finalize_many, hash_many, update_many};
use hashloom_engine::run::{Device, DeviceFailed, DeviceStreams};

/// A device that may be faulty.
#[derive(Debug, Default)]
pub struct Faulty {
    fails_at: Option<usize>,
    is_wrong: bool,
    nap: Duration,
    ncalls: AtomicUsize,
    nfailed: AtomicUsize,
    nbytes: AtomicU64,
}

impl Faulty {
    /// The call of number `fails_at` fails, and all later ones. If `is_wrong`, every seventh digest has a wrong bit.
    pub fn new(fails_at: Option<usize>, is_wrong: bool) -> Faulty {
        Faulty { fails_at, is_wrong, ..Faulty::default() }
    }

    /// Each call takes at least this long.
    pub fn slow(nap: Duration) -> Faulty {
        Faulty { nap, ..Faulty::default() }
    }

    /// Total bytes hashed.
    pub fn nbytes(&self) -> u64 {
        self.nbytes.load(Ordering::SeqCst)
    }

    pub fn ncalls(&self) -> usize {
        self.ncalls.load(Ordering::SeqCst)
    }

    /// Waits until the device has been called.
    ///
    /// # Panics
    ///
    /// After a time that only a run which leaves the device alone takes.
    pub fn wait(&self) {
        let begun = Instant::now();
        while self.ncalls() == 0 {
            assert!(begun.elapsed() < Duration::from_secs(60), "the device gets nothing to hash");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn call(&self) -> Result<(), DeviceFailed> {
        let number = self.ncalls.fetch_add(1, Ordering::SeqCst);
        std::thread::sleep(self.nap);
        if self.fails_at.is_none_or(|at| number < at) {
            return Ok(());
        }
        self.nfailed.fetch_add(1, Ordering::SeqCst);
        Err(DeviceFailed)
    }

    /// Number of calls that failed.
    pub fn nfailed(&self) -> usize {
        self.nfailed.load(Ordering::SeqCst)
    }

    fn hashed(&self, messages: &[&[u8]]) {
        let nbytes: usize = messages.iter().map(|message| message.len()).sum();
        self.nbytes.fetch_add(nbytes as u64, Ordering::SeqCst);
    }

    fn spoil(&self, of: Algorithm, digests: &mut [u8]) {
        if self.is_wrong {
            digests.chunks_exact_mut(of.digest_nbytes()).step_by(7).for_each(|digest| digest[0] ^= 1);
        }
    }
}

impl Device for Faulty {
    fn hash_many(&self, of: Algorithm, messages: &[&[u8]], digests: &mut [u8]) -> Result<(), DeviceFailed> {
        if messages.is_empty() {
            return Ok(()); // only asked to be ready
        }
        self.call()?;
        hash_many(of, messages, digests);
        self.hashed(messages);
        self.spoil(of, digests);
        Ok(())
    }

    fn streams(&self, of: Algorithm, count: usize) -> Result<Box<dyn DeviceStreams + '_>, DeviceFailed> {
        self.call()?;
        Ok(Box::new(Streams { device: self, of, hashers: vec![Hasher::new(of); count] }))
    }
}

struct Streams<'d> {
    device: &'d Faulty,
    of: Algorithm,
    hashers: Vec<Hasher>,
}

impl DeviceStreams for Streams<'_> {
    fn update(&mut self, chunks: &[&[u8]]) -> Result<(), DeviceFailed> {
        self.device.call()?;
        update_many(&mut self.hashers, chunks);
        self.device.hashed(chunks);
        Ok(())
    }

    fn finalize(&mut self, digests: &mut [u8]) -> Result<(), DeviceFailed> {
        self.device.call()?;
        finalize_many(&mut self.hashers, digests);
        self.device.spoil(self.of, digests);
        Ok(())
    }
}
