// SPDX-License-Identifier: MIT OR Apache-2.0

//! Layers of trees, SLH-DSA and searches: the calls of `src/merkle.c`, `slh.c` and `search.c`, in which few live.

use core::ffi::{c_char, c_int, c_uint, c_void};

use super::*;

/// How two nodes of a Merkle tree become one, and what an odd node becomes.
pub type hl_merkle = c_uint;
/// RFC 6962 section 2.1.
pub const HL_MERKLE_RFC6962: hl_merkle = 1;
/// Bitcoin's blocks.
pub const HL_MERKLE_BITCOIN: hl_merkle = 2;
/// SSZ, BEP 52.
pub const HL_MERKLE_ZEROS: hl_merkle = 3;
/// The most layers above the leaves.
pub const HL_MERKLE_DEPTH_MAX: c_uint = 64;

/// A tree by [`HL_MERKLE_RFC6962`] that grows. All zeros: no leaves.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_merkle_range {
    /// The number of leaves.
    pub size: u64,
    /// `roots[h]`: that of the complete subtree of 2^h leaves, if bit h of `size` is one; else free.
    pub roots: [[u8; 32]; 64],
}

/// A parameter set of SLH-DSA (FIPS 205 section 11). `s`: small signatures; `f`: fast to sign.
pub type hl_slh = c_uint;
/// SLH-DSA-SHA2-128s.
pub const HL_SLH_SHA2_128S: hl_slh = 1;
/// SLH-DSA-SHAKE-128s.
pub const HL_SLH_SHAKE_128S: hl_slh = 2;
/// SLH-DSA-SHA2-128f.
pub const HL_SLH_SHA2_128F: hl_slh = 3;
/// SLH-DSA-SHAKE-128f.
pub const HL_SLH_SHAKE_128F: hl_slh = 4;
/// SLH-DSA-SHA2-192s.
pub const HL_SLH_SHA2_192S: hl_slh = 5;
/// SLH-DSA-SHAKE-192s.
pub const HL_SLH_SHAKE_192S: hl_slh = 6;
/// SLH-DSA-SHA2-192f.
pub const HL_SLH_SHA2_192F: hl_slh = 7;
/// SLH-DSA-SHAKE-192f.
pub const HL_SLH_SHAKE_192F: hl_slh = 8;
/// SLH-DSA-SHA2-256s.
pub const HL_SLH_SHA2_256S: hl_slh = 9;
/// SLH-DSA-SHAKE-256s.
pub const HL_SLH_SHAKE_256S: hl_slh = 10;
/// SLH-DSA-SHA2-256f.
pub const HL_SLH_SHA2_256F: hl_slh = 11;
/// SLH-DSA-SHAKE-256f.
pub const HL_SLH_SHAKE_256F: hl_slh = 12;

/// The description of one parameter set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_slh_info {
    /// "SLH-DSA-SHA2-128s", NUL-terminated, static.
    pub name: *const c_char,
    /// "2.16.840.1.101.3.4.3.20" (RFC 9909), NUL-terminated, static.
    pub oid: *const c_char,
    /// Its number.
    pub set: hl_slh,
    /// Bytes of a hash, and of each of a key's parts: 16, 24, 32.
    pub n: u32,
    /// The height of the hypertree.
    pub h: u32,
    /// Its layers.
    pub d: u32,
    /// The height of the FORS trees.
    pub a: u32,
    /// Their number.
    pub k: u32,
    /// 1: SHAKE256; 0: SHA-256, and if `n` > 16 SHA-512.
    pub is_shake: u32,
    /// 2 `n`: PK.seed, PK.root.
    pub public_nbytes: usize,
    /// 4 `n`: SK.seed, SK.prf, PK.seed, PK.root.
    pub secret_nbytes: usize,
    /// 7,856 to 49,856.
    pub signature_nbytes: usize,
}

/// How a message becomes what is signed.
pub type hl_slh_form = c_uint;
/// The message, behind the context (FIPS 205 section 10.2.1).
pub const HL_SLH_PURE: hl_slh_form = 0;
/// A digest of the message, behind the context (section 10.2.2).
pub const HL_SLH_PREHASH: hl_slh_form = 1;
/// The message alone (section 9.2), for protocols that say so.
pub const HL_SLH_INTERNAL: hl_slh_form = 2;

/// A message to sign or verify.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_slh_message {
    /// The message; with [`HL_SLH_PREHASH`] its digest.
    pub data: *const c_void,
    /// Its length in bytes.
    pub nbytes: usize,
    /// Bytes that tell what the signature is for. Not with [`HL_SLH_INTERNAL`].
    pub context: *const c_void,
    /// 0 to 255.
    pub context_nbytes: usize,
    /// An [`hl_slh_form`].
    pub form: u32,
    /// With [`HL_SLH_PREHASH`]: an [`hl_alg`], one of SHA-2, SHA-3 and SHAKE.
    pub prehash: u32,
}

/// The memory of a call of SLH-DSA, and a function that may stop the call.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_slh_work {
    /// Room for one call at a time; wiped after calls that have secrets.
    pub scratch: *mut c_void,
    /// At least [`hl_slh_scratch_nbytes`].
    pub scratch_nbytes: usize,
    /// Called every few milliseconds; the call ends with [`HL_ESTOPPED`] when it does not return 0.
    pub is_stopped: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
    /// For `is_stopped`.
    pub context: *mut c_void,
}

/// One key or one signature, made by many threads in `nparts` parts. It points at the caller's secret and signature,
/// and is as secret as the key.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_slh_task {
    /// An [`hl_slh`], or 0: not begun, or ended.
    pub set: u32,
    /// Number of parts.
    pub nparts: u32,
    /// For the library.
    pub private_words: [u64; 2040],
}

/// The most significant digit of a nonce, or byte of a digest, comes first.
pub const HL_MOST_FIRST: u32 = 0;
/// The least significant one comes first.
pub const HL_LEAST_FIRST: u32 = 1;

/// The search for nonces with [`hl_search`]. Zero in a field means that the search has no such part.
///
/// ```
/// use hashloom_sys::*;
/// use std::mem;
///
/// // The numbers 0 to 9,999, in decimal, whose SHA-256 begins with 12 zero bits.
/// // SAFETY: a search may be all zeros.
/// let mut job: hl_search_job = unsafe { mem::zeroed() };
/// job.nbytes = mem::size_of::<hl_search_job>();
/// job.alg = HL_SHA256;
/// job.alphabet = b"0123456789".as_ptr().cast();
/// job.base = 10;
/// job.last = 9_999;
/// job.target[1] = 0x0f;
/// job.target[2..].fill(0xff);
/// let (mut nonces, mut nfound) = ([0; 100], 0);
/// // SAFETY: ten digits can be read, and 100 nonces written.
/// assert_eq!(unsafe { hl_search(&job, nonces.as_mut_ptr(), nonces.len(), &mut nfound) }, HL_OK);
/// assert_eq!(nonces[..nfound], [886, 1_039, 3_633, 5_848]);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_search_job {
    /// `size_of::<hl_search_job>()`.
    pub nbytes: usize,
    /// An [`hl_alg`].
    pub alg: u32,
    /// An [`hl_alg`] that hashes each digest once more, or 0.
    pub again: u32,
    /// The bytes before the nonce; may be NULL if there are none.
    pub prefix: *const c_void,
    /// Their number.
    pub prefix_nbytes: usize,
    /// The bytes after the nonce; may be NULL if there are none.
    pub suffix: *const c_void,
    /// Their number.
    pub suffix_nbytes: usize,
    /// `base` bytes, one for each digit; NULL: the numbers 0 to 255 themselves.
    pub alphabet: *const c_void,
    /// 2 to 256; 0 means 256 if there is no alphabet.
    pub base: u32,
    /// Digits in each nonce, at most 64, with zeros in front; 0: no zeros in front.
    pub nonce_width: u32,
    /// [`HL_MOST_FIRST`] or [`HL_LEAST_FIRST`].
    pub nonce_order: u32,
    /// The same of the bytes of a digest that is read as a number.
    pub digest_order: u32,
    /// The first nonce to try.
    pub first: u64,
    /// The last nonce to try.
    pub last: u64,
    /// The highest digest that counts, the most significant byte first, of the digest's length.
    pub target: [u8; HL_DIGEST_MAX_NBYTES],
}

unsafe extern "C" {
    /// `above` = the layer above a layer of `count` nodes of 32 bytes, which it may be itself, with `height` layers
    /// below.
    pub fn hl_merkle_layer(
        rule: hl_merkle,
        height: c_uint,
        nodes: *const u8,
        count: usize,
        above: *mut u8,
    ) -> hl_status;
    /// `root` = the root above `count` leaves, which are lost; `proof`: NULL, or the nodes beside the path of leaf
    /// `index`.
    pub fn hl_merkle_root(
        rule: hl_merkle,
        depth: c_uint,
        nodes: *mut u8,
        count: usize,
        root: *mut u8,
        index: usize,
        proof: *mut u8,
        nproof: *mut usize,
    ) -> hl_status;
    /// Appends `count` leaves, a layer at a time, until `count` is 0: `nodes` are the new roots of complete subtrees of
    /// this height, and become those above.
    pub fn hl_merkle_grow(range: *mut hl_merkle_range, height: c_uint, nodes: *mut u8, count: *mut usize) -> hl_status;
    /// `root` = the root above all leaves.
    pub fn hl_merkle_range_root(range: *const hl_merkle_range, root: *mut u8) -> hl_status;

    /// The description of one set; NULL if `set` is not an [`hl_slh`].
    pub safe fn hl_slh_find(set: hl_slh) -> *const hl_slh_info;
    /// Bytes of scratch that a call of SLH-DSA takes.
    pub safe fn hl_slh_scratch_nbytes() -> usize;
    /// The key of three secret random seeds of `n` bytes: SK.seed, SK.prf, PK.seed.
    pub fn hl_slh_keygen(set: hl_slh, seeds: *const u8, secret: *mut u8, work: *const hl_slh_work) -> hl_status;
    /// Signs, with `n` fresh random bytes, or none (NULL: deterministic), and verifies the signature.
    pub fn hl_slh_sign(
        set: hl_slh,
        secret: *const u8,
        message: *const hl_slh_message,
        randomness: *const u8,
        signature: *mut u8,
        work: *const hl_slh_work,
    ) -> hl_status;
    /// [`HL_OK`] if the signature is one of the message and the key, else [`HL_ETAG`].
    pub fn hl_slh_verify(
        set: hl_slh,
        public_key: *const u8,
        message: *const hl_slh_message,
        signature: *const u8,
        signature_nbytes: usize,
        work: *const hl_slh_work,
    ) -> hl_status;
    /// Verifies many signatures: `valid[i]` = 1 or 0; [`HL_OK`] if all are valid, else [`HL_ETAG`]. The key of
    /// signature `i` is at `public_keys + i * key_stride` (0: one key).
    pub fn hl_slh_verify_many(
        set: hl_slh,
        public_keys: *const u8,
        key_stride: usize,
        messages: *const hl_slh_message,
        signatures: *const *const u8,
        signature_nbytes: *const usize,
        count: usize,
        valid: *mut u8,
        work: *const hl_slh_work,
    ) -> hl_status;
    /// Begins the key of three seeds.
    pub fn hl_slh_begin_keygen(task: *mut hl_slh_task, set: hl_slh, seeds: *const u8, secret: *mut u8) -> hl_status;
    /// Begins a signature.
    pub fn hl_slh_begin_sign(
        task: *mut hl_slh_task,
        set: hl_slh,
        secret: *const u8,
        message: *const hl_slh_message,
        randomness: *const u8,
        signature: *mut u8,
    ) -> hl_status;
    /// Makes one part. Any threads may make different parts at once, each with a scratch of its own.
    pub fn hl_slh_part(task: *mut hl_slh_task, part: u32, scratch: *mut c_void, scratch_nbytes: usize) -> hl_status;
    /// Ends the task when all parts are made, and wipes it.
    pub fn hl_slh_end(task: *mut hl_slh_task, scratch: *mut c_void, scratch_nbytes: usize) -> hl_status;
    /// Wipes a task that is given up.
    pub fn hl_slh_drop(task: *mut hl_slh_task);
    /// Tries the nonces of a search in order, and writes the first `room` of those found to `nonces`, and their number
    /// to `nfound`.
    pub fn hl_search(job: *const hl_search_job, nonces: *mut u64, room: usize, nfound: *mut usize) -> hl_status;
}
