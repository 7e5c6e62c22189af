// SPDX-License-Identifier: MIT OR Apache-2.0
#![doc = include_str!("../README.md")]
#![cfg_attr(not(feature = "std"), no_std)]
#![deny(missing_docs, unsafe_code)]

extern crate alloc;

#[cfg(feature = "command")]
#[doc(hidden)]
pub mod command;
#[allow(unsafe_code)]
mod ffi;
#[cfg(feature = "pkcs8")]
mod keys;
#[cfg(feature = "signature")]
mod traits;

use alloc::vec::Vec;
use core::fmt;
use core::num::NonZeroUsize;
use core::str::FromStr;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use hashloom::Algorithm;
use hashloom_sys as sys;
use zeroize::Zeroizing;

use crate::ffi::{Scratch, Task};

#[cfg(feature = "pkcs8")]
#[doc(hidden)]
pub use keys::{label, why_no_key};
/// The traits for keys as PKCS#8.
#[cfg(feature = "pkcs8")]
pub use pkcs8;
/// The traits that [`SigningKey`] and [`VerifyingKey`] implement.
#[cfg(feature = "signature")]
pub use signature;

/// A parameter set (FIPS 205 section 11).
///
/// | | security | public key | signature | made for |
/// |---|---|---|---|---|
/// | 128s, 128f | category 1, as AES-128 | 32 bytes | 7,856 and 17,088 bytes | most uses |
/// | 192s, 192f | category 3, as AES-192 | 48 | 16,224 and 35,664 | |
/// | 256s, 256f | category 5, as AES-256 | 64 | 29,792 and 49,856 | |
///
/// `s` has small signatures, `f` makes a signature about twenty times as fast. SHA2 and SHAKE are equally strong; take
/// SHA2 unless a protocol says SHAKE, as it is faster on most machines.
///
/// ```
/// use hashloom_slh::ParameterSet;
///
/// let set: ParameterSet = "SLH-DSA-SHA2-128s".parse()?;
/// assert_eq!((set, set.signature_nbytes()), (ParameterSet::Sha2_128s, 7856));
/// # Ok::<(), hashloom_slh::Error>(())
/// ```
#[non_exhaustive]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the standard")]
#[repr(u32)]
pub enum ParameterSet {
    Sha2_128s = sys::HL_SLH_SHA2_128S,
    Shake128s = sys::HL_SLH_SHAKE_128S,
    Sha2_128f = sys::HL_SLH_SHA2_128F,
    Shake128f = sys::HL_SLH_SHAKE_128F,
    Sha2_192s = sys::HL_SLH_SHA2_192S,
    Shake192s = sys::HL_SLH_SHAKE_192S,
    Sha2_192f = sys::HL_SLH_SHA2_192F,
    Shake192f = sys::HL_SLH_SHAKE_192F,
    Sha2_256s = sys::HL_SLH_SHA2_256S,
    Shake256s = sys::HL_SLH_SHAKE_256S,
    Sha2_256f = sys::HL_SLH_SHA2_256F,
    Shake256f = sys::HL_SLH_SHAKE_256F,
}

impl ParameterSet {
    /// All sets, in the order of the standard's table 2.
    pub const ALL: [ParameterSet; 12] = [
        ParameterSet::Sha2_128s,
        ParameterSet::Shake128s,
        ParameterSet::Sha2_128f,
        ParameterSet::Shake128f,
        ParameterSet::Sha2_192s,
        ParameterSet::Shake192s,
        ParameterSet::Sha2_192f,
        ParameterSet::Shake192f,
        ParameterSet::Sha2_256s,
        ParameterSet::Shake256s,
        ParameterSet::Sha2_256f,
        ParameterSet::Shake256f,
    ];

    /// The name: `SLH-DSA-SHA2-128s`. [`str::parse`] takes it in any case.
    pub fn name(self) -> &'static str {
        ffi::info(self).name
    }

    /// The object identifier (RFC 9909): `2.16.840.1.101.3.4.3.20`.
    pub fn oid(self) -> &'static str {
        ffi::info(self).oid
    }

    /// Bytes of a hash, and of each part of a key: 16, 24 or 32.
    pub fn n(self) -> usize {
        ffi::info(self).n
    }

    /// Bytes in a public key: 2 [`n`](Self::n).
    pub fn verifying_key_nbytes(self) -> usize {
        2 * self.n()
    }

    /// Bytes in a signature.
    pub fn signature_nbytes(self) -> usize {
        ffi::info(self).signature_nbytes
    }
}

impl fmt::Display for ParameterSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ParameterSet {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let found = ParameterSet::ALL.into_iter().find(|set| set.name().eq_ignore_ascii_case(name));
        found.ok_or(Error::UnknownSet)
    }
}

/// What is signed: a message or its digest, and a context.
///
/// ```
/// use hashloom_slh::Message;
/// use hashloom::{Algorithm, hash};
///
/// let short = Message::new(b"a message");
/// let in_context = Message::new(b"a message").with_context(b"example.org login")?;
/// let digest = hash(Algorithm::Sha512, b"a message of many gigabytes");
/// let long = Message::prehashed(Algorithm::Sha512, digest.as_ref())?;
/// # Ok::<(), hashloom_slh::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Message<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) context: &'a [u8],
    pub(crate) form: Form,
}

/// How a message becomes what is signed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    Pure,
    Prehash(Algorithm),
    Internal,
}

impl<'a> Message<'a> {
    /// A message that is whole in memory: the form for most uses (FIPS 205 section 10.2.1, `slh_sign`).
    pub fn new(data: &'a [u8]) -> Self {
        Message { data, context: &[], form: Form::Pure }
    }

    /// A message by its digest: HashSLH-DSA (section 10.2.2, `hash_slh_sign`). Another algorithm, and the pure form of
    /// the message, have other signatures.
    ///
    /// # Errors
    /// [`Error::Prehash`] unless the algorithm is one of SHA-2, SHA-3 and SHAKE, and the digest has its length.
    pub fn prehashed(algorithm: Algorithm, digest: &'a [u8]) -> Result<Self, Error> {
        // NIST's, but for the first of them.
        let is_allowed = algorithm.title().starts_with("SHA") && algorithm != Algorithm::Sha1;
        match is_allowed && digest.len() == algorithm.digest_nbytes() {
            true => Ok(Message { data: digest, context: &[], form: Form::Prehash(algorithm) }),
            false => Err(Error::Prehash { algorithm, nbytes: digest.len() }),
        }
    }

    /// The bytes themselves, without a context: `slh_sign_internal` (section 9.2). For protocols that say so.
    pub fn internal(data: &'a [u8]) -> Self {
        Message { data, context: &[], form: Form::Internal }
    }

    /// With a context: 0 to 255 bytes that say what the signature is for. A signature in one context is none in
    /// another.
    ///
    /// # Errors
    /// [`Error::Context`] if it is longer, or if the message is [internal](Self::internal).
    pub fn with_context(self, context: &'a [u8]) -> Result<Self, Error> {
        match context.len() <= 255 && !matches!(self.form, Form::Internal) {
            true => Ok(Message { context, ..self }),
            false => Err(Error::Context { nbytes: context.len() }),
        }
    }
}

/// The random bytes of a signature. With random bytes it is hedged, which FIPS 205 advises: whoever watches or disturbs
/// the machine learns less.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Randomness<'a> {
    /// Those of the system.
    #[cfg(feature = "getrandom")]
    System,
    /// [`n`](ParameterSet::n) fresh random bytes for each signature.
    Fresh(&'a [u8]),
    /// None: the signature is deterministic.
    None,
}

/// How a long call works: by how many threads, and whether it asks if it should stop.
///
/// ```
/// use hashloom_slh::{Error, Message, ParameterSet, Randomness, SigningKey, Work};
/// use std::time::{Duration, Instant};
///
/// let key = SigningKey::from_seeds(ParameterSet::Sha2_128f, &[7; 48])?;
/// let start = Instant::now();
/// let mut is_late = || start.elapsed() > Duration::from_secs(60);
/// let work = Work::new().threads(4.try_into().unwrap()).until(&mut is_late);
/// let signature = key.sign_message_with(Message::new(b"message"), Randomness::None, work)?;
/// // No answer but false goes on.
/// let result = key.sign_message_with(Message::new(b"message"), Randomness::None, Work::new().until(&mut || true));
/// assert!(matches!(result, Err(Error::Stopped)));
/// # Ok::<(), Error>(())
/// ```
#[derive(Default)]
pub struct Work<'a> {
    nthreads: Option<NonZeroUsize>,
    is_stopped: Option<&'a mut dyn FnMut() -> bool>,
}

impl<'a> Work<'a> {
    /// One thread, to the end.
    pub fn new() -> Self {
        Work::default()
    }

    /// Works with this number of threads, the calling one included. They begin and end with the call.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn threads(self, nthreads: NonZeroUsize) -> Self {
        Work { nthreads: Some(nthreads), ..self }
    }

    /// Asks every few milliseconds, on the calling thread, whether to stop: the result then is [`Error::Stopped`].
    #[must_use]
    pub fn until(self, is_stopped: &'a mut dyn FnMut() -> bool) -> Self {
        Work { is_stopped: Some(is_stopped), ..self }
    }

    /// Each thread calls `step` with a scratch of its own until it returns false.
    fn run(&mut self, step: &(dyn Fn(&mut Scratch) -> bool + Sync)) -> Result<(), Error> {
        let stop = AtomicBool::new(false);
        let here = |is_stopped: &mut dyn FnMut() -> bool| {
            let mut scratch = Scratch::new();
            loop {
                if is_stopped() {
                    stop.store(true, Ordering::Relaxed);
                    return Err(Error::Stopped);
                }
                if !step(&mut scratch) {
                    return Ok(());
                }
            }
        };
        let mut never = || false;
        let is_stopped = match &mut self.is_stopped {
            Some(is_stopped) => &mut **is_stopped,
            None => &mut never as &mut dyn FnMut() -> bool,
        };
        match self.nthreads.map_or(0, |nthreads| nthreads.get() - 1) {
            #[cfg(feature = "std")]
            nothers @ 1.. => std::thread::scope(|scope| {
                for _ in 0..nothers {
                    let there = || here(&mut || stop.load(Ordering::Relaxed)).is_ok();
                    // If no thread can be started, those that could do the work.
                    if std::thread::Builder::new().spawn_scoped(scope, there).is_err() {
                        break;
                    }
                }
                here(is_stopped)
            }),
            _ => here(is_stopped),
        }
    }

    /// Makes all parts of a task, and ends it.
    fn complete(&mut self, task: Task<'_>) -> Result<(), Error> {
        self.run(&|scratch| task.next_part(scratch))?;
        if task.end(&mut Scratch::new()) { Ok(()) } else { Err(Error::Fault) }
    }
}

/// A secret key, with its public half. It is wiped when dropped, and its `Debug` form does not show it.
///
/// Any number of threads can sign with it at once.
#[derive(Clone)]
pub struct SigningKey {
    set: ParameterSet,
    /// SK.seed, SK.prf, PK.seed, PK.root; on the heap, where a move leaves no copy.
    bytes: Zeroizing<Vec<u8>>,
}

impl SigningKey {
    /// A new key of the system's random bytes.
    ///
    /// # Errors
    /// [`Error::NoRandomness`] if the system has none.
    #[cfg(feature = "getrandom")]
    pub fn generate(set: ParameterSet) -> Result<Self, Error> {
        SigningKey::generate_with(set, Work::new())
    }

    /// The same as [`generate`](Self::generate), with a choice of [`Work`].
    ///
    /// # Errors
    /// Likewise, and [`Error::Stopped`].
    #[cfg(feature = "getrandom")]
    pub fn generate_with(set: ParameterSet, work: Work<'_>) -> Result<Self, Error> {
        let mut seeds = Zeroizing::new(alloc::vec![0; 3 * set.n()]);
        getrandom::fill(&mut seeds).map_err(|_| Error::NoRandomness)?;
        SigningKey::from_seeds_with(set, &seeds, work)
    }

    /// The key of three random seeds of [`n`](ParameterSet::n) bytes: SK.seed, SK.prf, PK.seed (`slh_keygen_internal`).
    ///
    /// # Errors
    /// [`Error::Length`] unless there are 3 `n` bytes.
    pub fn from_seeds(set: ParameterSet, seeds: &[u8]) -> Result<Self, Error> {
        SigningKey::from_seeds_with(set, seeds, Work::new())
    }

    /// The same as [`from_seeds`](Self::from_seeds), with a choice of [`Work`].
    ///
    /// # Errors
    /// Likewise, and [`Error::Stopped`].
    pub fn from_seeds_with(set: ParameterSet, seeds: &[u8], mut work: Work<'_>) -> Result<Self, Error> {
        check_length(seeds, 3 * set.n())?;
        let mut bytes = Zeroizing::new(alloc::vec![0; 4 * set.n()]);
        work.complete(Task::keygen(set, seeds, &mut bytes))?;
        Ok(SigningKey { set, bytes })
    }

    /// The key of its bytes, as [`as_bytes`](Self::as_bytes) gives them and PKCS#8 has them. Whether the public half
    /// belongs to the secret one is found out when the key signs ([`Error::Fault`]).
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Self, Error> {
        check_length(bytes, 4 * set.n())?;
        Ok(SigningKey { set, bytes: Zeroizing::new(bytes.into()) })
    }

    /// SK.seed, SK.prf, PK.seed, PK.root: 4 [`n`](ParameterSet::n) bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The parameter set.
    pub fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// The public half.
    pub fn verifying_key(&self) -> VerifyingKey {
        let mut bytes = [0; 64];
        let public = &self.bytes[2 * self.set.n()..];
        bytes[..public.len()].copy_from_slice(public);
        VerifyingKey { set: self.set, bytes }
    }

    /// Signs, hedged by the system's random bytes.
    ///
    /// # Errors
    /// [`Error::NoRandomness`], [`Error::Fault`].
    #[cfg(feature = "getrandom")]
    pub fn sign_message(&self, message: Message<'_>) -> Result<Signature, Error> {
        self.sign_message_with(message, Randomness::System, Work::new())
    }

    /// Signs. The signature is verified before it is returned.
    ///
    /// # Errors
    /// [`Error::Length`] unless fresh randomness has [`n`](ParameterSet::n) bytes, [`Error::NoRandomness`],
    /// [`Error::Fault`], [`Error::Stopped`].
    pub fn sign_message_with(
        &self,
        message: Message<'_>,
        randomness: Randomness<'_>,
        mut work: Work<'_>,
    ) -> Result<Signature, Error> {
        let n = self.set.n();
        let mut fresh = Zeroizing::new([0; 32]);
        let randomness = match randomness {
            #[cfg(feature = "getrandom")]
            Randomness::System => {
                getrandom::fill(&mut fresh[..n]).map_err(|_| Error::NoRandomness)?;
                Some(&fresh[..n])
            }
            Randomness::Fresh(bytes) => {
                check_length(bytes, n)?;
                fresh[..n].copy_from_slice(bytes);
                Some(&fresh[..n])
            }
            Randomness::None => None,
        };
        let mut signature = alloc::vec![0; self.set.signature_nbytes()];
        work.complete(Task::sign(self.set, &self.bytes, &message, randomness, &mut signature))?;
        Ok(Signature(signature))
    }

    /// Signs many messages, one after the other: see [`sign_message_with`](Self::sign_message_with). Fresh randomness
    /// has `n` bytes for each message.
    ///
    /// # Errors
    /// Likewise.
    pub fn sign_many(
        &self,
        messages: &[Message<'_>],
        randomness: Randomness<'_>,
        work: Work<'_>,
    ) -> Result<Vec<Signature>, Error> {
        let n = self.set.n();
        if let Randomness::Fresh(bytes) = randomness {
            check_length(bytes, messages.len().saturating_mul(n))?;
        }
        let Work { nthreads, mut is_stopped } = work;
        let one = |(i, message): (usize, &Message<'_>)| {
            let randomness = match randomness {
                Randomness::Fresh(bytes) => Randomness::Fresh(&bytes[i * n..][..n]),
                other => other,
            };
            let is_stopped = is_stopped.as_mut().map(|is_stopped| &mut **is_stopped as &mut dyn FnMut() -> bool);
            self.sign_message_with(*message, randomness, Work { nthreads, is_stopped })
        };
        messages.iter().enumerate().map(one).collect()
    }
}

/// Only the set and the public half are shown.
impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningKey").field("verifying_key", &self.verifying_key()).finish_non_exhaustive()
    }
}

impl zeroize::ZeroizeOnDrop for SigningKey {}

/// A public key.
///
/// ```
/// use hashloom_slh::{Error, Message, ParameterSet, VerifyingKey};
///
/// let key = VerifyingKey::from_bytes(ParameterSet::Sha2_128s, &[0; 32])?;
/// assert_eq!(key.verify_message(Message::new(b"message"), [0; 7856]), Err(Error::Invalid));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct VerifyingKey {
    set: ParameterSet,
    /// PK.seed, PK.root, zeros.
    bytes: [u8; 64],
}

impl VerifyingKey {
    /// The key of its bytes, PK.seed and PK.root.
    ///
    /// # Errors
    /// [`Error::Length`].
    pub fn from_bytes(set: ParameterSet, bytes: &[u8]) -> Result<Self, Error> {
        check_length(bytes, set.verifying_key_nbytes())?;
        let mut key = VerifyingKey { set, bytes: [0; 64] };
        key.bytes[..bytes.len()].copy_from_slice(bytes);
        Ok(key)
    }

    /// PK.seed, PK.root: 2 [`n`](ParameterSet::n) bytes.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.set.verifying_key_nbytes()]
    }

    /// The parameter set.
    pub fn parameter_set(&self) -> ParameterSet {
        self.set
    }

    /// Verifies a signature: a [`Signature`] or bytes of any length.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not one of this message, with this context, by this key.
    pub fn verify_message(&self, message: Message<'_>, signature: impl AsRef<[u8]>) -> Result<(), Error> {
        let valid = ffi::verify(self.set, self.as_bytes(), &[message], &[signature], &mut Scratch::new());
        if valid[0] == 1 { Ok(()) } else { Err(Error::Invalid) }
    }

    /// Verifies many signatures by this key, side by side in lanes, several times as fast as one by one. Returns
    /// whether `signatures[i]` is one of `messages[i]`.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    ///
    /// # Panics
    /// If there are not as many signatures as messages.
    pub fn verify_many<S: AsRef<[u8]> + Sync>(
        &self,
        messages: &[Message<'_>],
        signatures: &[S],
        work: Work<'_>,
    ) -> Result<Vec<bool>, Error> {
        verify_all(self.set, self.as_bytes(), messages, signatures, work)
    }
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({} ", self.set)?;
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// Verifies many signatures, each by its own key, as [`VerifyingKey::verify_many`].
///
/// # Errors
/// [`Error::MixedSets`] unless all keys are of one parameter set, [`Error::Stopped`].
///
/// # Panics
/// If there are not as many keys and signatures as messages.
///
/// ```
/// use hashloom_slh::{Message, ParameterSet, Randomness, SigningKey, Work, verify_many};
///
/// let keys = [1, 2].map(|seed| SigningKey::from_seeds(ParameterSet::Sha2_128f, &[seed; 48]).unwrap());
/// let messages = [Message::new(b"one"), Message::new(b"two")];
/// let sign = |i: usize| keys[i].sign_message_with(messages[i], Randomness::None, Work::new()).unwrap();
/// let (keys, signatures) = ([keys[0].verifying_key(), keys[1].verifying_key()], [sign(0), sign(1)]);
/// assert_eq!(verify_many(&keys, &messages, &signatures, Work::new())?, [true, true]);
/// # Ok::<(), hashloom_slh::Error>(())
/// ```
pub fn verify_many<S: AsRef<[u8]> + Sync>(
    keys: &[VerifyingKey],
    messages: &[Message<'_>],
    signatures: &[S],
    work: Work<'_>,
) -> Result<Vec<bool>, Error> {
    assert_eq!(keys.len(), messages.len(), "verify_many: a key for each message");
    let Some(first) = keys.first() else { return Ok(Vec::new()) };
    if keys.iter().any(|key| key.set != first.set) {
        return Err(Error::MixedSets);
    }
    let bytes: Vec<u8> = keys.iter().flat_map(VerifyingKey::as_bytes).copied().collect();
    verify_all(first.set, &bytes, messages, signatures, work)
}

/// `keys` are those of the messages, or one.
fn verify_all<S: AsRef<[u8]> + Sync>(
    set: ParameterSet,
    keys: &[u8],
    messages: &[Message<'_>],
    signatures: &[S],
    mut work: Work<'_>,
) -> Result<Vec<bool>, Error> {
    let (count, key_nbytes) = (messages.len(), set.verifying_key_nbytes());
    assert_eq!(count, signatures.len(), "verify_many: a signature for each message");
    let is_valid: Vec<AtomicBool> = (0..count).map(|_| AtomicBool::new(false)).collect();
    let next = AtomicUsize::new(0);
    work.run(&|scratch| {
        let first = next.fetch_add(ffi::VERIFY_MAX, Ordering::Relaxed);
        if first >= count {
            return false;
        }
        let here = first..count.min(first + ffi::VERIFY_MAX);
        let keys = match keys.len() == key_nbytes {
            true => keys,
            false => &keys[here.start * key_nbytes..here.end * key_nbytes],
        };
        let valid = ffi::verify(set, keys, &messages[here.clone()], &signatures[here.clone()], scratch);
        is_valid[here].iter().zip(valid).for_each(|(place, valid)| place.store(valid == 1, Ordering::Relaxed));
        true
    })?;
    Ok(is_valid.into_iter().map(AtomicBool::into_inner).collect())
}

/// A signature, which is not verified yet.
#[derive(Clone, PartialEq, Eq)]
pub struct Signature(Vec<u8>);

impl TryFrom<&[u8]> for Signature {
    type Error = Error;

    /// Takes bytes of the length of some set's signatures.
    fn try_from(bytes: &[u8]) -> Result<Self, Error> {
        match ParameterSet::ALL.iter().any(|set| set.signature_nbytes() == bytes.len()) {
            true => Ok(Signature(bytes.into())),
            false => Err(Error::Invalid),
        }
    }
}

impl AsRef<[u8]> for Signature {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Signature> for Vec<u8> {
    fn from(signature: Signature) -> Self {
        signature.0
    }
}

/// Only the length and the first bytes are shown.
impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signature({} bytes: {:02x?}…)", self.0.len(), &self.0[..4])
    }
}

/// Why there is no key or no signature, or why a signature is not valid.
///
/// ```
/// assert_eq!(hashloom_slh::Error::Invalid.to_string(), "the signature is not one of this message by this key");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The signature is not one of this message, in this context, by this key.
    Invalid,
    /// The name is none of the twelve.
    UnknownSet,
    /// The bytes of a key, seeds or randomness are too few or too many.
    Length {
        /// The number of bytes that there should be.
        expected: usize,
        /// The number that was given.
        found: usize,
    },
    /// A context that is longer than 255 bytes, or one for an internal message.
    Context {
        /// Its length.
        nbytes: usize,
    },
    /// An algorithm whose digests are not signed, or a digest that is not of its length.
    Prehash {
        /// The algorithm.
        algorithm: Algorithm,
        /// The length of the digest.
        nbytes: usize,
    },
    /// Keys of several parameter sets in one call.
    MixedSets,
    /// The new signature was not right. The machine has erred, or the public half of the key is not that of its secret
    /// half.
    Fault,
    /// The system has no random bytes.
    NoRandomness,
    /// The caller stopped the call.
    Stopped,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Invalid => f.write_str("the signature is not one of this message by this key"),
            Error::UnknownSet => f.write_str("expected a parameter set such as SLH-DSA-SHA2-128s"),
            Error::Length { expected, found } => write!(f, "expected {expected} bytes, found {found}"),
            Error::Context { nbytes: 256.. } => f.write_str("a context has 255 bytes at most"),
            Error::Context { .. } => f.write_str("an internal message has no context"),
            Error::Prehash { algorithm, nbytes } => {
                write!(
                    f,
                    "no digest of {algorithm} with {nbytes} bytes can be signed: take a whole one of SHA-2 or SHA-3"
                )
            }
            Error::MixedSets => f.write_str("the keys are of several parameter sets"),
            Error::Fault => f.write_str(
                "the new signature is wrong: the machine has erred, or the halves of the key do not belong together",
            ),
            Error::NoRandomness => f.write_str("the system has no random bytes"),
            Error::Stopped => hashloom::Stopped.fmt(f),
        }
    }
}

impl core::error::Error for Error {}

fn check_length(bytes: &[u8], expected: usize) -> Result<(), Error> {
    match bytes.len() {
        found if found == expected => Ok(()),
        found => Err(Error::Length { expected, found }),
    }
}
