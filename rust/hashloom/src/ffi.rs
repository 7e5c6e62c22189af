// SPDX-License-Identifier: MIT OR Apache-2.0
//! The only module of this crate with `unsafe`: the C calls that this crate makes, behind functions that any safe
//! caller may call.
//!
//! A slice or reference of the caller is turned into pointers for one call only; the C library keeps none of them
//! (`hashloom.h`: "nothing is kept after return"). Each further condition of a call is asserted here, once, so that the
//! functions are sound whatever the modules above check.

#[cfg(feature = "merkle")]
pub mod merkle;
#[cfg(feature = "sha1dc")]
pub mod sha1dc;

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ffi::{CStr, c_char, c_int, c_void};
use core::fmt;
use core::mem::MaybeUninit;
use core::num::NonZeroU32;
use core::ops::Range;
use core::ptr;

use hashloom_sys as sys;

#[cfg(any(feature = "blake2b", feature = "blake2s"))]
use crate::Blake2Parameters;
use crate::{Algorithm, Hasher};

/// Overwrites a secret with `zero`; the optimiser may not remove the write.
fn wipe<T: Copy>(secret: &mut T, zero: T) {
    // SAFETY: a valid value over one that needs no drop, through a reference that is ours alone.
    unsafe { core::ptr::write_volatile(secret, zero) };
    core::sync::atomic::compiler_fence(core::sync::atomic::Ordering::SeqCst);
}

/// Number of slices or pointers that are laid out for C on the stack: 16 KiB of slices.
const WINDOW: usize = 1024;

fn alg(algorithm: Algorithm) -> sys::hl_alg {
    algorithm as sys::hl_alg
}

fn slice(bytes: &[u8]) -> sys::hl_slice {
    sys::hl_slice { data: bytes.as_ptr().cast(), nbytes: bytes.len() }
}

/// Panics on the errors that safe callers cannot cause, and on a message that is too long.
#[track_caller]
#[inline]
pub fn check(status: sys::hl_status) {
    #[cold]
    #[track_caller]
    fn fail(status: sys::hl_status) -> ! {
        // SAFETY: hl_strerror returns a static NUL-terminated string for every status.
        panic!("hashloom: {}", unsafe { text(sys::hl_strerror(status)) })
    }
    if status != sys::HL_OK {
        fail(status);
    }
}

/// # Safety
///
/// `name` points to a static NUL-terminated string.
pub unsafe fn text(name: *const c_char) -> &'static str {
    // SAFETY: the caller keeps the conditions.
    unsafe { CStr::from_ptr(name) }.to_str().expect("the C library's names are ASCII")
}

// ---- Streams

/// A running computation of one algorithm; final only between `finalize` or `squeeze` and `reset` or drop.
#[derive(Clone)]
pub struct Ctx {
    raw: Raw,
    algorithm: Algorithm,
    digest_nbytes: u8,
    /// Whether it began with a key or the like, with which it cannot begin anew.
    has_parameters: bool,
}

/// The context of BLAKE3 is eight times as long as that of the others: its place is on the heap.
#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "hashers of the other algorithms take no heap")]
enum Raw {
    Plain(sys::hl_ctx),
    Tree(Box<sys::hl_blake3_ctx>),
}

impl Raw {
    /// For calls that take contexts of both kinds.
    #[inline]
    fn as_mut_ptr(&mut self) -> *mut sys::hl_ctx {
        match self {
            Raw::Plain(ctx) => ctx,
            Raw::Tree(tree) => (&raw mut **tree).cast(),
        }
    }

    fn as_ptr(&self) -> *const sys::hl_ctx {
        match self {
            Raw::Plain(ctx) => ctx,
            Raw::Tree(tree) => (&raw const **tree).cast(),
        }
    }

    /// Panics if it is a tree.
    fn plain(&mut self) -> &mut sys::hl_ctx {
        match self {
            Raw::Plain(ctx) => ctx,
            Raw::Tree(_) => panic!("BLAKE3 has a context of its own"),
        }
    }
}

impl Ctx {
    pub fn new(algorithm: Algorithm) -> Self {
        let mut ctx = Ctx::wiped(algorithm);
        ctx.reset();
        ctx
    }

    fn wiped(algorithm: Algorithm) -> Self {
        let raw = match algorithm.body() {
            sys::HL_BODY_BLAKE3 => Raw::Tree(Box::new(WIPED_TREE)),
            _ => Raw::Plain(WIPED),
        };
        Ctx { raw, algorithm, digest_nbytes: algorithm.digest_nbytes() as u8, has_parameters: false }
    }

    /// BLAKE3 with a key.
    #[cfg(feature = "blake3")]
    pub fn blake3_keyed(key: &[u8; 32]) -> Self {
        // SAFETY: the key has 32 bytes.
        Ctx::begun_tree(|tree| unsafe { sys::hl_blake3_init(tree, key.as_ptr().cast()) })
    }

    /// BLAKE3 of the material of a key.
    #[cfg(feature = "blake3")]
    pub fn blake3_derive_key(context: &str) -> Self {
        // SAFETY: the context is a slice.
        Ctx::begun_tree(|tree| unsafe { sys::hl_blake3_init_derive_key(tree, context.as_ptr().cast(), context.len()) })
    }

    #[cfg(feature = "blake3")]
    fn begun_tree(begin: impl FnOnce(*mut sys::hl_blake3_ctx) -> sys::hl_status) -> Self {
        let mut ctx = Ctx::wiped(Algorithm::Blake3);
        ctx.has_parameters = true;
        if let Raw::Tree(tree) = &mut ctx.raw {
            check(begin(&mut **tree));
        }
        ctx
    }

    /// The chaining value of a subtree of the message. Panics unless the algorithm is BLAKE3, and `data` a subtree.
    pub fn subtree(&self, chunk: u64, data: &[u8]) -> [u8; 32] {
        let mut value = [0; 32];
        let Raw::Tree(tree) = &self.raw else { panic!("{} is no tree: only BLAKE3 has subtrees", self.algorithm) };
        // SAFETY: the stream is initialised; data is a slice; value has room.
        check(unsafe { sys::hl_blake3_subtree(&**tree, chunk, data.as_ptr().cast(), data.len(), value.as_mut_ptr()) });
        value
    }

    /// Appends a subtree. Panics unless the algorithm is BLAKE3, and the subtree fits.
    pub fn add_subtree(&mut self, nchunks: u64, value: &[u8; 32]) {
        let Raw::Tree(tree) = &mut self.raw else { panic!("{} is no tree: only BLAKE3 has subtrees", self.algorithm) };
        // SAFETY: the stream is initialised and ours alone; value has 32 bytes.
        check(unsafe { sys::hl_blake3_add_subtree(&mut **tree, nchunks, value.as_ptr()) });
    }

    /// BLAKE2. The caller has checked the lengths.
    #[cfg(any(feature = "blake2b", feature = "blake2s"))]
    pub fn blake2(algorithm: Algorithm, digest_nbytes: usize, parameters: Blake2Parameters<'_>) -> Self {
        let mut ctx = Ctx::wiped(algorithm);
        (ctx.digest_nbytes, ctx.has_parameters) = (digest_nbytes as u8, true);
        let padded = |bytes: &[u8]| core::array::from_fn(|i| bytes.get(i).copied().unwrap_or(0));
        let raw = sys::hl_blake2_parameters {
            key: parameters.key.as_ptr().cast(),
            key_nbytes: parameters.key.len(),
            salt: padded(parameters.salt),
            personal: padded(parameters.personal),
        };
        // SAFETY: the context is ours alone; the key is a slice.
        check(unsafe { sys::hl_blake2_init(ctx.raw.plain(), alg(algorithm), digest_nbytes, &raw) });
        ctx
    }

    /// Whether it is a BLAKE3 that has taken data.
    pub fn is_begun_tree(&self) -> bool {
        matches!(&self.raw, Raw::Tree(tree) if tree.ctx.nbytes > 0)
    }

    pub fn digest_nbytes(&self) -> usize {
        self.digest_nbytes.into()
    }

    pub fn has_parameters(&self) -> bool {
        self.has_parameters
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Panics if it has parameters.
    pub fn reset(&mut self) {
        assert!(
            !self.has_parameters,
            "a hasher with a key or parameters cannot begin anew: clone it when it has begun"
        );
        check(match &mut self.raw {
            // SAFETY: the context is ours alone.
            Raw::Plain(ctx) => unsafe { sys::hl_init(ctx, alg(self.algorithm)) },
            // SAFETY: likewise; there is no key.
            Raw::Tree(tree) => unsafe { sys::hl_blake3_init(&mut **tree, ptr::null()) },
        });
    }

    #[inline]
    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: the context is initialised and ours alone; data is a slice.
        check(unsafe { sys::hl_update(self.raw.as_mut_ptr(), data.as_ptr().cast(), data.len()) });
    }

    #[inline]
    pub fn finalize(&mut self, digest: &mut [u8]) {
        assert_eq!(digest.len(), self.digest_nbytes());
        // SAFETY: the context is ours alone; digest has room for one digest, asserted above.
        check(unsafe { sys::hl_final(self.raw.as_mut_ptr(), digest.as_mut_ptr()) });
    }

    /// Writes the next bytes of the digest; the first call ends the message. Panics unless the algorithm is an XOF.
    pub fn squeeze(&mut self, digest: &mut [u8]) {
        // SAFETY: the context is ours alone; digest is a slice.
        check(unsafe { sys::hl_squeeze(self.raw.plain(), digest.as_mut_ptr(), digest.len()) });
    }

    /// Writes the first words of the state, of `word_nbytes` bytes each, little-endian. Returns the number of whole
    /// blocks hashed so far.
    #[cfg(feature = "digest")]
    pub fn midstate(&self, word_nbytes: usize, words: &mut [u8]) -> u64 {
        let Raw::Plain(raw) = &self.raw else { panic!("BLAKE3 has a context of its own") };
        words.copy_from_slice(&raw.state.map(u64::to_ne_bytes).as_flattened()[..words.len()]);
        swap(words, word_nbytes);
        raw.nbytes / self.algorithm.block_nbytes() as u64
    }

    /// The computation that has this state after `nblocks` blocks; `None` if no message is that long.
    #[cfg(feature = "digest")]
    pub fn from_midstate(algorithm: Algorithm, word_nbytes: usize, words: &[u8], nblocks: u64) -> Option<Self> {
        let nbytes = nblocks.checked_mul(algorithm.block_nbytes() as u64)?;
        let mut ctx = Ctx::new(algorithm);
        let raw = ctx.raw.plain();
        raw.nbytes = Some(nbytes).filter(|&nbytes| nbytes <= sys::HL_MESSAGE_MAX_NBYTES)?;
        let mut state = raw.state.map(u64::to_ne_bytes);
        let place = &mut state.as_flattened_mut()[..words.len()];
        place.copy_from_slice(words);
        swap(place, word_nbytes);
        raw.state = state.map(u64::from_ne_bytes);
        Some(ctx)
    }
}

/// Turns words in the machine's byte order into little-endian ones, and back.
#[cfg(feature = "digest")]
fn swap(words: &mut [u8], word_nbytes: usize) {
    if cfg!(target_endian = "big") {
        words.chunks_exact_mut(word_nbytes).for_each(<[u8]>::reverse);
    }
}

const NO_STATE: sys::hl_state = [0; sys::HL_STATE_MAX_NBYTES / 8];

/// A context that is final and empty.
const WIPED: sys::hl_ctx =
    sys::hl_ctx { state: NO_STATE, nbytes: 0, block: [0; sys::HL_BLOCK_MAX_NBYTES], alg: 0, reserved: 0 };

const WIPED_TREE: sys::hl_blake3_ctx = sys::hl_blake3_ctx { ctx: WIPED, subtrees: [[0; 32]; 54], chunk: [0; 1024] };

#[cfg(feature = "zeroize")]
impl Drop for Ctx {
    fn drop(&mut self) {
        match &mut self.raw {
            Raw::Plain(ctx) => wipe(ctx, WIPED),
            Raw::Tree(tree) => wipe(&mut **tree, WIPED_TREE),
        }
    }
}

// ---- HMAC

/// The states of both hashes after the block of the key. The key is wiped when dropped.
#[derive(Clone)]
pub struct MacKey {
    raw: sys::hl_hmac_key,
    algorithm: Algorithm,
}

impl MacKey {
    pub fn new(algorithm: Algorithm, secret: &[u8]) -> Self {
        // The key is made in place: a copy would escape the wiping.
        let raw = sys::hl_hmac_key { inner: NO_STATE, outer: NO_STATE, alg: 0, reserved: 0 };
        let mut key = MacKey { raw, algorithm };
        // SAFETY: the key is ours alone; secret is a slice.
        check(unsafe { sys::hl_hmac_key_init(&mut key.raw, alg(algorithm), secret.as_ptr().cast(), secret.len()) });
        key
    }

    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub fn hmac(&self, message: &[u8], tag: &mut [u8]) {
        assert_eq!(tag.len(), self.algorithm.digest_nbytes());
        // SAFETY: the key is initialised; message is a slice; tag has room for one, asserted above.
        check(unsafe { sys::hl_hmac(&self.raw, message.as_ptr().cast(), message.len(), tag.as_mut_ptr()) });
    }

    pub fn hmac_many<M: AsRef<[u8]>>(&self, messages: &[M], tags: &mut [u8]) {
        with_slices(self.algorithm.digest_nbytes(), messages, tags, |slices, tags| {
            // SAFETY: the key is initialised; with_slices gives live slices and room for a tag of each.
            unsafe { sys::hl_hmac_many(&self.raw, slices.as_ptr(), slices.len(), tags) }
        });
    }

    /// The first hash, after the block of the key.
    pub fn inner(&self) -> Ctx {
        self.after_key(self.raw.inner)
    }

    /// The second hash, after the block of the key; the digest of the first must follow.
    pub fn outer(&self) -> Ctx {
        self.after_key(self.raw.outer)
    }

    fn after_key(&self, state: sys::hl_state) -> Ctx {
        let mut ctx = Ctx::new(self.algorithm);
        let raw = ctx.raw.plain();
        raw.state = state;
        raw.nbytes = self.algorithm.block_nbytes() as u64;
        ctx
    }
}

impl Drop for MacKey {
    fn drop(&mut self) {
        // SAFETY: the key is ours alone.
        unsafe { sys::hl_hmac_key_wipe(&mut self.raw) };
    }
}

/// A running HMAC; final only between `finalize` and `reset` or drop. The context is wiped when dropped.
#[derive(Clone)]
pub struct MacCtx {
    raw: sys::hl_hmac_ctx,
}

impl MacCtx {
    pub fn new(key: &MacKey) -> Self {
        let mut ctx = MacCtx { raw: sys::hl_hmac_ctx { inner: WIPED, outer: NO_STATE } };
        ctx.reset(key);
        ctx
    }

    pub fn reset(&mut self, key: &MacKey) {
        // SAFETY: the context is ours alone; the key is initialised.
        check(unsafe { sys::hl_hmac_init(&mut self.raw, &key.raw) });
    }

    #[inline]
    pub fn update(&mut self, data: &[u8]) {
        // SAFETY: the context is initialised and ours alone; data is a slice.
        check(unsafe { sys::hl_hmac_update(&mut self.raw, data.as_ptr().cast(), data.len()) });
    }

    /// `key` must be the key that the context was made with: it gives the length of the tag.
    #[inline]
    pub fn finalize(&mut self, key: &MacKey, tag: &mut [u8]) {
        assert_eq!(tag.len(), key.algorithm.digest_nbytes());
        assert_eq!(self.raw.inner.alg, key.raw.alg);
        // SAFETY: the context is ours alone; tag has room for one of its algorithm, asserted above.
        check(unsafe { sys::hl_hmac_final(&mut self.raw, tag.as_mut_ptr()) });
    }
}

impl Drop for MacCtx {
    fn drop(&mut self) {
        wipe(&mut self.raw, sys::hl_hmac_ctx { inner: WIPED, outer: NO_STATE });
    }
}

/// Panics unless there are as many salts as passwords, and `keys` has room for as many keys. False if `is_stopped`
/// ended the call; all keys are zeros then.
pub fn pbkdf2_many<P: AsRef<[u8]>, S: AsRef<[u8]>, F: FnMut() -> bool>(
    algorithm: Algorithm,
    passwords: &[P],
    salts: &[S],
    niterations: NonZeroU32,
    (keys, key_nbytes): (&mut [u8], usize),
    mut is_stopped: Option<F>,
) -> bool {
    /// A panic ends the program: it cannot go through C.
    unsafe extern "C" fn ask<F: FnMut() -> bool>(context: *mut c_void) -> c_int {
        // SAFETY: the function below gives its own closure, which nothing else uses during the call.
        c_int::from(unsafe { (*context.cast::<F>())() })
    }
    assert_eq!(passwords.len(), salts.len());
    assert_eq!(passwords.len().checked_mul(key_nbytes), Some(keys.len()));
    if keys.is_empty() {
        return true;
    }
    let (function, context): (Option<unsafe extern "C" fn(*mut c_void) -> c_int>, _) = match &mut is_stopped {
        Some(is_stopped) => (Some(ask::<F>), ptr::from_mut(is_stopped).cast()),
        None => (None, ptr::null_mut()),
    };
    let (mut passwords_window, mut salts_window) = (Window::new(), Window::new());
    let windows = passwords.chunks(WINDOW).zip(salts.chunks(WINDOW));
    for (i, (passwords, salts)) in windows.enumerate() {
        let here = &mut keys[i * WINDOW * key_nbytes..];
        let passwords = passwords_window.fill(passwords.iter().map(|password| slice(password.as_ref())));
        let salts = salts_window.fill(salts.iter().map(|salt| slice(salt.as_ref())));
        // SAFETY: both arrays have as many live slices, and keys has room for as many keys, asserted above.
        let status = unsafe {
            sys::hl_pbkdf2_many_until(
                alg(algorithm),
                passwords.as_ptr(),
                salts.as_ptr(),
                niterations.get(),
                passwords.len(),
                here.as_mut_ptr(),
                key_nbytes,
                function,
                context,
            )
        };
        if status == sys::HL_ESTOPPED {
            keys.iter_mut().for_each(|byte| wipe(byte, 0));
            return false;
        }
        check(status);
    }
    true
}

/// Whether the bytes are equal; the time depends on their number only.
pub fn equal(a: &[u8], b: &[u8]) -> bool {
    // SAFETY: `a.len()` bytes are readable at both.
    a.len() == b.len() && unsafe { sys::hl_equal(a.as_ptr().cast(), b.as_ptr().cast(), a.len()) } == 1
}

// ---- Many streams

/// Panics unless all hashers have one algorithm.
pub fn update_many<C: AsRef<[u8]>>(hashers: &mut [Hasher], chunks: &[C]) {
    assert_eq!(hashers.len(), chunks.len());
    let mut ctxs = Window::new();
    let mut slices = Window::new();
    for (hashers, chunks) in hashers.chunks_mut(WINDOW).zip(chunks.chunks(WINDOW)) {
        let ctxs = ctxs.fill(hashers.iter_mut().map(|hasher| hasher.ctx.raw.as_mut_ptr()));
        let slices = slices.fill(chunks.iter().map(|chunk| slice(chunk.as_ref())));
        // SAFETY: both arrays have chunks.len() entries; the contexts are different and ours alone; the chunks live on.
        check(unsafe { sys::hl_update_many(ctxs.as_ptr(), slices.as_ptr(), chunks.len()) });
    }
}

/// Panics unless all hashers are of `algorithm`.
pub fn finalize_many(algorithm: Algorithm, hashers: &mut [Hasher], digests: &mut [u8]) {
    let digest_nbytes = algorithm.digest_nbytes();
    assert!(hashers.iter().all(|hasher| hasher.algorithm() == algorithm));
    assert_eq!(hashers.len().checked_mul(digest_nbytes), Some(digests.len()));
    let mut ctxs = Window::new();
    for (hashers, digests) in hashers.chunks_mut(WINDOW).zip(digests.chunks_mut(WINDOW * digest_nbytes)) {
        let window = ctxs.fill(hashers.iter_mut().map(|hasher| hasher.ctx.raw.as_mut_ptr()));
        // SAFETY: the contexts are different and ours alone; digests has room for a digest each, asserted above.
        check(unsafe { sys::hl_final_many(window.as_ptr(), window.len(), digests.as_mut_ptr()) });
        hashers.iter_mut().for_each(Hasher::reset);
    }
}

/// An array on the stack that stays uninitialised until used: most calls have few messages.
struct Window<T>([MaybeUninit<T>; WINDOW]);

impl<T: Copy> Window<T> {
    fn new() -> Self {
        Window([const { MaybeUninit::uninit() }; WINDOW])
    }

    /// Writes the first `WINDOW` items and returns them.
    fn fill(&mut self, items: impl Iterator<Item = T>) -> &[T] {
        let mut len = 0;
        for (place, item) in self.0.iter_mut().zip(items) {
            place.write(item);
            len += 1;
        }
        // SAFETY: the first len places were just written; MaybeUninit<T> is laid out as T.
        unsafe { core::slice::from_raw_parts(self.0.as_ptr().cast(), len) }
    }
}

// ---- Whole messages

pub fn hash(algorithm: Algorithm, message: &[u8], digest: &mut [u8]) {
    assert_eq!(digest.len(), algorithm.digest_nbytes());
    // SAFETY: message is a slice; digest has room for one digest, asserted above.
    check(unsafe { sys::hl_hash(alg(algorithm), message.as_ptr().cast(), message.len(), digest.as_mut_ptr()) });
}

pub fn hash_many<M: AsRef<[u8]>>(algorithm: Algorithm, messages: &[M], digests: &mut [u8]) {
    with_slices(algorithm.digest_nbytes(), messages, digests, |slices, digests| {
        // SAFETY: with_slices gives live slices and room for a digest of each.
        unsafe { sys::hl_hash_many(alg(algorithm), slices.as_ptr(), slices.len(), digests) }
    });
}

/// Digests of `digest_nbytes` each, of messages that continue `begin`. Panics unless the algorithm has digests of that
/// length.
pub fn run_many<M: AsRef<[u8]>>(
    algorithm: Algorithm,
    begin: Option<&Ctx>,
    messages: &[M],
    digest_nbytes: usize,
    digests: &mut [u8],
) {
    if digest_nbytes == 0 {
        return;
    }
    with_slices(digest_nbytes, messages, digests, |slices, digests| {
        let mut job = job(algorithm, sys::HL_SLICES, slices.as_ptr().cast(), slices.len(), digests);
        if let Some(ctx) = begin {
            (job.begin, job.is_secret) = (ctx.raw.as_ptr(), 1);
        }
        job.digest_nbytes = digest_nbytes;
        // SAFETY: with_slices gives live slices and room for digest_nbytes of each.
        unsafe { sys::hl_run(&job) }
    });
}

/// A job of messages that lie at `base`; rows lack their length.
fn job(
    algorithm: Algorithm,
    layout: sys::hl_layout,
    base: *const c_void,
    count: usize,
    digests: *mut u8,
) -> sys::hl_job {
    // SAFETY: a job may be all zeros.
    let mut job: sys::hl_job = unsafe { core::mem::zeroed() };
    (job.nbytes, job.alg, job.digests) = (size_of::<sys::hl_job>(), alg(algorithm), digests);
    (job.messages.layout, job.messages.base, job.messages.count) = (layout, base, count);
    job
}

/// Hashes with kernel `index` and no other. Panics unless the kernel is available and has the algorithm's body.
pub fn hash_many_with<M: AsRef<[u8]>>(index: usize, algorithm: Algorithm, messages: &[M], digests: &mut [u8]) {
    let kernel = sys::hl_kernel_at(index);
    assert!(!kernel.is_null());
    with_slices(algorithm.digest_nbytes(), messages, digests, |slices, digests| {
        // SAFETY: the kernel is one of the table; with_slices gives live slices and room for a digest of each.
        unsafe { sys::hl_hash_many_with(kernel, alg(algorithm), slices.as_ptr(), slices.len(), digests) }
    });
}

/// Calls `run` with all messages in C's layout and a pointer to room for their digests.
///
/// The layout of `&[u8]` is not specified, so C cannot take an array of them as it is. All messages go into one call,
/// so that long messages far apart in the array share the lanes.
fn with_slices<M: AsRef<[u8]>>(
    digest_nbytes: usize,
    messages: &[M],
    digests: &mut [u8],
    run: impl Fn(&[sys::hl_slice], *mut u8) -> sys::hl_status,
) {
    assert_eq!(messages.len().checked_mul(digest_nbytes), Some(digests.len()));
    let slices = messages.iter().map(|message| slice(message.as_ref()));
    check(if messages.len() <= WINDOW {
        run(Window::new().fill(slices), digests.as_mut_ptr())
    } else {
        run(&slices.collect::<Vec<_>>(), digests.as_mut_ptr())
    });
}

pub fn hash_rows(algorithm: Algorithm, rows: Rows<'_>, digests: &mut [u8]) {
    let (base, digests) = rows.with_room(algorithm, digests);
    // SAFETY: with_room gives live rows and room for a digest of each.
    check(unsafe { sys::hl_hash_rows(alg(algorithm), base, rows.stride, rows.nbytes, rows.count, digests) });
}

#[cfg(all(feature = "ripemd160", feature = "sha256"))]
pub fn hash160_rows(rows: Rows<'_>, digests: &mut [u8]) {
    let (base, digests) = rows.with_room(Algorithm::Ripemd160, digests);
    // SAFETY: with_room gives live rows and room for a digest of RIPEMD-160 of each.
    check(unsafe { sys::hl_hash160_rows(base, rows.stride, rows.nbytes, rows.count, digests) });
}

#[cfg(feature = "sha256")]
pub fn sha256d_rows(rows: Rows<'_>, digests: &mut [u8]) {
    let (base, digests) = rows.with_room(Algorithm::Sha256, digests);
    // SAFETY: with_room gives live rows and room for a digest of SHA-256 of each.
    check(unsafe { sys::hl_sha256d_rows(base, rows.stride, rows.nbytes, rows.count, digests) });
}

/// Messages of one length at a regular distance: pieces of a buffer, a column of a table, overlapping windows. Bytes
/// between and behind them are not read.
///
/// ```
/// use hashloom::{RowLayout, Rows};
///
/// let table = [[0; 10], [1; 10], [2; 10]];
/// assert_eq!((Rows::from(&table).len(), Rows::chunks_exact(table.as_flattened(), 10).len()), (3, 3));
/// let column = Rows::from(&table).columns(2..6);
/// assert_eq!(column.get(1), Some(&[1; 4][..]));
/// let windows = Rows::new(b"abcd", RowLayout { row_nbytes: 2, stride: 1, count: 3 });
/// assert_eq!((windows.get(2), windows.get(3)), (Some(&b"cd"[..]), None));
/// ```
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    data: &'a [u8],
    nbytes: usize,
    stride: usize,
    count: usize,
}

/// How [`Rows`] of any kind lie in their data: row `i` begins at byte `i * stride`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowLayout {
    /// Bytes in each row.
    pub row_nbytes: usize,
    /// Bytes from the beginning of a row to that of the next.
    pub stride: usize,
    /// The number of rows.
    pub count: usize,
}

impl<'a> Rows<'a> {
    /// The rows of `data` that `layout` names.
    ///
    /// # Panics
    ///
    /// If the last row ends beyond `data`.
    #[track_caller]
    pub fn new(data: &'a [u8], layout: RowLayout) -> Self {
        let RowLayout { row_nbytes: nbytes, stride, count } = layout;
        let last = count.checked_sub(1).map(|last| last.checked_mul(stride).and_then(|at| at.checked_add(nbytes)));
        assert!(
            last.is_none_or(|end| end.is_some_and(|end| end <= data.len())),
            "{count} rows of {nbytes} bytes at a stride of {stride} do not fit into {} bytes",
            data.len()
        );
        Rows { data, nbytes, stride, count }
    }

    /// Rows of `row_nbytes` behind each other, as those of [`slice::chunks_exact`]: shorter ones at the end are none.
    ///
    /// # Panics
    ///
    /// If `row_nbytes` is 0.
    #[track_caller]
    pub fn chunks_exact(data: &'a [u8], row_nbytes: usize) -> Self {
        let count = data.chunks_exact(row_nbytes).len();
        Rows { data, nbytes: row_nbytes, stride: row_nbytes, count }
    }

    /// These bytes of each row.
    ///
    /// # Panics
    ///
    /// If they are not within a row.
    #[must_use]
    #[track_caller]
    pub fn columns(self, columns: Range<usize>) -> Self {
        let Range { start, end } = columns;
        assert!(start <= end && end <= self.nbytes, "bytes {start}..{end} of rows of {} bytes", self.nbytes);
        // Without rows there may be no byte at start.
        Rows { data: self.data.get(start..).unwrap_or_default(), nbytes: end - start, ..self }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Row `i`, if there is one.
    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        (i < self.count).then(|| &self.data[i * self.stride..][..self.nbytes])
    }

    /// The pointers of a call: all rows are in the data, as both constructors check. Panics unless `digests` has room
    /// for a digest of each.
    fn with_room(&self, algorithm: Algorithm, digests: &mut [u8]) -> (*const c_void, *mut u8) {
        assert_eq!(self.count.checked_mul(algorithm.digest_nbytes()), Some(digests.len()));
        (self.data.as_ptr().cast(), digests.as_mut_ptr())
    }
}

impl<'a, const N: usize> From<&'a [[u8; N]]> for Rows<'a> {
    fn from(rows: &'a [[u8; N]]) -> Self {
        Rows { data: rows.as_flattened(), nbytes: N, stride: N, count: rows.len() }
    }
}

impl<'a, const N: usize, const COUNT: usize> From<&'a [[u8; N]; COUNT]> for Rows<'a> {
    fn from(rows: &'a [[u8; N]; COUNT]) -> Self {
        Rows::from(&rows[..])
    }
}

/// The bytes are not shown.
impl fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rows({} of {} bytes, {} apart)", self.count, self.nbytes, self.stride)
    }
}

/// `above[i]` = the digest of the prefix and pair `i` of the layer.
pub fn hash_pairs<const N: usize>(algorithm: Algorithm, prefix: &[u8], layer: &[[u8; N]], above: &mut [[u8; N]]) {
    assert!(N == algorithm.digest_nbytes() && layer.len() / 2 == above.len());
    // SAFETY: the layer is live; there is room for a digest of each pair.
    unsafe { run_pairs(algorithm, prefix, layer.as_ptr().cast(), above.len(), above.as_mut_ptr().cast()) };
}

/// The same in place.
pub fn hash_pairs_in_place<const N: usize>(algorithm: Algorithm, prefix: &[u8], layer: &mut [[u8; N]]) {
    assert!(N == algorithm.digest_nbytes());
    let nodes = layer.as_mut_ptr().cast::<u8>();
    // SAFETY: the layer is live, and ours alone. Digest i overlaps pairs up to its own, as the library allows.
    unsafe { run_pairs(algorithm, prefix, nodes, layer.len() / 2, nodes) };
}

/// # Safety
///
/// There must be `count` pairs of digests at `pairs`, and room for `count` digests at `above`, which may be `pairs`.
unsafe fn run_pairs(algorithm: Algorithm, prefix: &[u8], pairs: *const u8, count: usize, above: *mut u8) {
    let begin = (!prefix.is_empty()).then(|| {
        let mut ctx = Ctx::new(algorithm);
        ctx.update(prefix);
        ctx
    });
    let nbytes = 2 * algorithm.digest_nbytes();
    check(match &begin {
        // SAFETY: as the caller says.
        None => unsafe { sys::hl_hash_rows(alg(algorithm), pairs.cast(), nbytes, nbytes, count, above) },
        Some(begin) => {
            let mut job = job(algorithm, sys::HL_ROWS, pairs.cast(), count, above);
            (job.begin, job.messages.stride, job.messages.nbytes) = (begin.raw.as_ptr(), nbytes, nbytes);
            // SAFETY: as the caller says.
            unsafe { sys::hl_run(&job) }
        }
    });
}

// ---- Kernels

/// The name of instruction set `i`.
pub fn isa_name(i: usize) -> Option<&'static str> {
    let name = sys::hl_isa_name(i);
    // SAFETY: a name that is not NULL is a static NUL-terminated string.
    (!name.is_null()).then(|| unsafe { text(name) })
}

/// The facts about a kernel that `hashloom.h` gives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct KernelInfo {
    pub name: &'static str,
    pub isa: &'static str,
    pub body: sys::hl_body,
    pub nlanes: usize,
    pub isas: sys::hl_isas,
}

/// Kernel `index`.
pub fn kernel(index: usize) -> Option<KernelInfo> {
    // SAFETY: a kernel that is not NULL is static and never written.
    let kernel = unsafe { sys::hl_kernel_at(index).as_ref() }?;
    // SAFETY: both are static NUL-terminated strings.
    let (name, isa) = unsafe { (text(kernel.name), text(kernel.isa)) };
    Some(KernelInfo { name, isa, body: kernel.body, nlanes: kernel.nlanes as usize, isas: kernel.isas })
}

/// The index of the kernel that is chosen for `nmessages` messages.
pub fn chosen(algorithm: Algorithm, nmessages: usize) -> Option<usize> {
    let chosen = sys::hl_kernel_chosen(alg(algorithm), nmessages);
    (0..sys::hl_kernel_count()).find(|&index| sys::hl_kernel_at(index) == chosen)
}
