// SPDX-License-Identifier: MIT OR Apache-2.0
//! Raw bindings to libhashloom: every name of `hashloom.h`, and the name of the C compiler.
//!
//! The crate compiles the C sources that it carries; there is nothing to install. Use the safe crate
//! [`hashloom`](https://docs.rs/hashloom) unless you are writing another binding. The contracts (units, lengths,
//! overlap, alignment, threads) are in `include/hashloom.h` and hold here word for word; the comments below are short
//! forms. A build script that compiles C against the header finds its folder in `DEP_HASHLOOM_INCLUDE`.
//!
//! ```
//! use hashloom_sys::{HL_OK, HL_SHA256, HL_SHA256_DIGEST_NBYTES, hl_hash};
//!
//! let mut digest = [0; HL_SHA256_DIGEST_NBYTES];
//! // SAFETY: 3 bytes are readable at the first pointer, the digest's size is writable at the second.
//! let status = unsafe { hl_hash(HL_SHA256, b"abc".as_ptr().cast(), 3, digest.as_mut_ptr()) };
//! assert_eq!(status, HL_OK);
//! assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
//! ```
#![no_std]
#![deny(missing_docs)]
#![allow(non_camel_case_types)]

mod rooms;

use core::ffi::{c_char, c_int, c_uint, c_void};

pub use rooms::*;

/// The C compiler that this crate's build found: the first line of its `--version`.
pub const COMPILER: &str = env!("HASHLOOM_COMPILER");

/// An algorithm: one of the constants below. The values are part of the ABI.
pub type hl_alg = c_uint;
/// SHA-1 that finds collision attacks: see `hashloom.h`.
pub const HL_SHA1DC: hl_alg = 63;
include!("algorithms.rs");

/// Bytes in a digest of SHA-1 that finds attacks: SHA-1's 20, then 1 if an attack was found, then zeros.
pub const HL_SHA1DC_DIGEST_NBYTES: usize = 24;
/// Room for any digest of this and later versions, in bytes.
pub const HL_DIGEST_MAX_NBYTES: usize = 64;
/// Room for one block of any algorithm of this and later versions, in bytes.
pub const HL_BLOCK_MAX_NBYTES: usize = 168;
/// Room for the state of any algorithm of this and later versions, in bytes.
pub const HL_STATE_MAX_NBYTES: usize = 200;
/// The longest message, in bytes (FIPS 180-4 allows 2^64 - 1 bits).
pub const HL_MESSAGE_MAX_NBYTES: u64 = (1 << 61) - 1;
/// Room for any exported stream of this and later versions, in bytes.
pub const HL_EXPORT_MAX_NBYTES: usize = 512;
/// The stack that one call of any kernel takes at most, in bytes, in an optimised build.
pub const HL_KERNEL_STACK_NBYTES: usize = 5376;
/// The most messages that one call of a kernel advances.
pub const HL_LANES_MAX: usize = 16;

/// A block function, which several algorithms can share: one of [`HL_BODY_SHA1`] to [`HL_BODY_MD5`].
pub type hl_body = c_uint;

/// The description of one algorithm.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_alg_info {
    /// Its name, such as "sha256" or "sha512-224", NUL-terminated, static.
    pub name: *const c_char,
    /// Its number.
    pub alg: hl_alg,
    /// The block function that it iterates.
    pub body: hl_body,
    /// Bytes in a digest: 16 to 64.
    pub digest_nbytes: c_uint,
    /// Bytes in a block: 64 to 168.
    pub block_nbytes: c_uint,
    /// log2(`block_nbytes`), or 0 if that is no whole number.
    pub block_shift: c_uint,
    /// Bytes in a word of the state: 4, 8.
    pub word_nbytes: c_uint,
    /// Words in the state: 4 to 25.
    pub nwords: c_uint,
    /// Byte order of words in messages and digests: 1 for SHA-1, SHA-2 and SM3, which are big-endian, else 0.
    pub big_endian: c_int,
    /// The initial state: `nwords` words in the machine's byte order.
    pub iv: *const c_void,
    /// One of [`HL_STRENGTHENED`], [`HL_SPONGE`], [`HL_XOF`], [`HL_COUNTED`] and [`HL_TREE`].
    pub ending: hl_ending,
    /// The byte that follows the message of a sponge; else 0.
    pub suffix: c_uint,
}

/// How a message ends.
pub type hl_ending = c_uint;
/// By a one bit, zeros, and its length in bits (FIPS 180-4 section 5.1).
pub const HL_STRENGTHENED: hl_ending = 0;
/// By the suffix byte, zeros, and a one bit at the end of the block (FIPS 202 section B.2).
pub const HL_SPONGE: hl_ending = 1;
/// Likewise, and the digest may have any length.
pub const HL_XOF: hl_ending = 2;
/// By zeros up to the end of the block; the block function takes the number of bytes, and a mark of the last block (RFC
/// 7693 section 3.3).
pub const HL_COUNTED: hl_ending = 3;
/// Likewise, with flags; a message of more than 1,024 bytes is a tree of such messages (BLAKE3 section 2.1).
pub const HL_TREE: hl_ending = 4;

/// The parameters of a BLAKE2 (RFC 7693 section 2.5).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_blake2_parameters {
    /// Up to 64 bytes for BLAKE2b, 32 for BLAKE2s.
    pub key: *const c_void,
    /// Bytes in the key; 0: none.
    pub key_nbytes: usize,
    /// BLAKE2s takes the first 8 bytes.
    pub salt: [u8; 16],
    /// Likewise.
    pub personal: [u8; 16],
}

/// The result of a call: [`HL_OK`] or one of the errors `HL_E…`.
pub type hl_status = c_uint;
/// Done.
pub const HL_OK: hl_status = 0;
/// The algorithm is not an [`hl_alg`], or the call is not defined for it.
pub const HL_EALG: hl_status = 1;
/// A pointer is NULL where bytes are to be read or written.
pub const HL_ENULL: hl_status = 2;
/// A message is longer than [`HL_MESSAGE_MAX_NBYTES`], or a size does not fit `usize`.
pub const HL_ELENGTH: hl_status = 3;
/// A context or key was not initialised, is already final, or has another algorithm than the others.
pub const HL_ESTATE: hl_status = 4;
/// An instruction set is unknown, or this machine lacks it.
pub const HL_EISA: hl_status = 5;
/// The given kernel does not implement the algorithm's body.
pub const HL_EKERNEL: hl_status = 6;
/// [`hl_hmac_verify`], [`hl_slh_verify`]: the tag or signature does not belong to the message.
pub const HL_ETAG: hl_status = 7;
/// [`hl_run`]: a field is of a later version, or two fields contradict each other.
pub const HL_EJOB: hl_status = 8;
/// [`hl_import`]: the bytes are not an exported stream, or are of a later version.
pub const HL_EIMPORT: hl_status = 9;
/// The caller's function ended the call.
pub const HL_ESTOPPED: hl_status = 10;

/// A message, with the layout of POSIX's `struct iovec`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_slice {
    /// Its first byte; may be NULL if `nbytes` is 0.
    pub data: *const c_void,
    /// Its length in bytes.
    pub nbytes: usize,
}

/// A state: `nwords` words of `word_nbytes` bytes, one after the other, in the machine's byte order, then room for
/// later algorithms.
pub type hl_state = [u64; HL_STATE_MAX_NBYTES / 8];

/// A running computation. It holds no pointer: it may be copied (the copy is independent) and dropped at any time.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_ctx {
    /// The block function's state.
    pub state: hl_state,
    /// Length of the message so far.
    pub nbytes: u64,
    /// The last `nbytes % block_nbytes` bytes of the message, not hashed yet.
    pub block: [u8; HL_BLOCK_MAX_NBYTES],
    /// An [`hl_alg`], or 0: not initialised or already final.
    pub alg: u32,
    /// 0.
    pub reserved: u32,
}

/// A running BLAKE3, begun by [`hl_blake3_init`]. Calls on streams take a pointer to its first field that may be used
/// for the whole structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_blake3_ctx {
    /// The key and the number of the current chunk.
    pub ctx: hl_ctx,
    /// The chaining values of the complete subtrees, the greatest first.
    pub subtrees: [[u8; 32]; 54],
    /// The bytes behind them, not hashed yet.
    pub chunk: [u8; 1024],
}

/// An HMAC key, ready for use: the states of both hashes after the block of the key. Wipe it when it is no longer
/// needed.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_hmac_key {
    /// After the key xored with ipad.
    pub inner: hl_state,
    /// After the key xored with opad.
    pub outer: hl_state,
    /// An [`hl_alg`], or 0: not initialised, or wiped.
    pub alg: u32,
    /// 0.
    pub reserved: u32,
}

/// An HMAC of a message that arrives in parts. It holds no pointer: it may be copied (the copy is independent).
#[repr(C)]
#[derive(Clone, Copy)]
pub struct hl_hmac_ctx {
    /// The first hash.
    pub inner: hl_ctx,
    /// The state in which the second hash begins.
    pub outer: hl_state,
}

/// A set of instruction sets: instruction set `i` of [`hl_isa_name`] is bit `i`.
pub type hl_isas = u32;

/// Advances `nlanes` independent states by `nblocks >= 1` whole blocks each. No padding, no finishing.
///
/// Word `w` of lane `l` is word number `w * nlanes + l` of `state`, which is aligned to `nlanes * word_nbytes` bytes
/// (at most 64). `msg` is `nlanes` pointers, each to `nblocks * block_nbytes` readable bytes of any alignment.
pub type hl_blocks_fn =
    unsafe extern "C" fn(state: *mut c_void, msg: *const *const u8, nblocks: usize, block_nbytes: c_uint);

/// Advances all lanes by one block that they share and whose message schedule is given: word `t`, of the state's word
/// size, is `W[t] + K[t]` (for RIPEMD-160 and MD5 in the order of `hashloom.h`).
pub type hl_scheduled_fn = unsafe extern "C" fn(state: *mut c_void, schedule: *const c_void);

/// One implementation of one block function for one instruction set.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_kernel {
    /// Its own name, such as `sha256_blocks_avx2`, NUL-terminated, static.
    pub name: *const c_char,
    /// The name of its instruction set, NUL-terminated, static.
    pub isa: *const c_char,
    /// The block function that it computes.
    pub body: hl_body,
    /// Messages that one call advances.
    pub nlanes: c_uint,
    /// Its instruction set, as a set.
    pub isas: hl_isas,
    /// Call it only if `isas & hl_isas_available()` is not 0.
    pub blocks: hl_blocks_fn,
    /// The same condition holds. `None` if the kernel has no such function.
    pub scheduled: Option<hl_scheduled_fn>,
}

/// How messages lie in memory: [`HL_SLICES`] or [`HL_ROWS`].
pub type hl_layout = c_uint;
/// Messages as for [`hl_hash_many`].
pub const HL_SLICES: hl_layout = 0;
/// Messages as for [`hl_hash_rows`].
pub const HL_ROWS: hl_layout = 1;

/// Messages of either layout.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_messages {
    /// An [`hl_layout`].
    pub layout: u32,
    /// 0.
    pub reserved: u32,
    /// Number of messages.
    pub count: usize,
    /// The [`hl_slice`]s, or the first row.
    pub base: *const c_void,
    /// Rows: bytes from one row to the next.
    pub stride: usize,
    /// Rows: bytes in each row.
    pub nbytes: usize,
}

/// Messages, and the work that [`hl_run`] does with them. Zero in a field means that the job has no such part.
///
/// ```
/// use hashloom_sys::*;
/// use std::mem;
///
/// // SHA-256 of SHA-256 of two rows of 3 bytes.
/// let mut digests = [[0; HL_SHA256_DIGEST_NBYTES]; 2];
/// // SAFETY: a job may be all zeros.
/// let mut job: hl_job = unsafe { mem::zeroed() };
/// job.nbytes = mem::size_of::<hl_job>();
/// (job.alg, job.again) = (HL_SHA256, HL_SHA256);
/// job.messages.layout = HL_ROWS;
/// (job.messages.count, job.messages.stride, job.messages.nbytes) = (2, 3, 3);
/// job.messages.base = b"abcabc".as_ptr().cast();
/// job.digests = digests.as_flattened_mut().as_mut_ptr();
/// // SAFETY: two rows can be read, and two digests written.
/// assert_eq!(unsafe { hl_run(&job) }, HL_OK);
/// assert_eq!(digests[0][..4], [0x4f, 0x8b, 0x42, 0xc2]);
/// assert_eq!(digests[0], digests[1]);
/// ```
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct hl_job {
    /// `size_of::<hl_job>()`.
    pub nbytes: usize,
    /// An [`hl_alg`]; may be 0 if there are keys.
    pub alg: u32,
    /// An [`hl_alg`] that hashes each digest once more, or 0. Not with keys.
    pub again: u32,
    /// The messages.
    pub messages: hl_messages,
    /// Room for the digests.
    pub digests: *mut u8,
    /// Bytes from one digest to the next; 0: the digest's size.
    pub digest_stride: usize,
    /// NULL, or the streams that the messages continue. Not with keys.
    pub begin: *const hl_ctx,
    /// Bytes from one stream to the next; 0: one for all messages.
    pub begin_stride: usize,
    /// NULL, or the keys of HMAC.
    pub keys: *const hl_hmac_key,
    /// Bytes from one key to the next; 0: one for all messages.
    pub key_stride: usize,
    /// NULL, or the only kernel to use.
    pub kernel: *const hl_kernel,
    /// 1: nothing of states stays on the stack and in registers. Keys imply it.
    pub is_secret: u32,
    /// 0.
    pub reserved: u32,
    /// Bytes of each digest of the (second) algorithm; 0: the usual ones. Up to the digest's size: its first bytes, and
    /// of an [`HL_COUNTED`] a digest of that length. An [`HL_XOF`]: any number. Not with keys.
    pub digest_nbytes: usize,
}

unsafe extern "C" {
    /// The number of algorithms.
    pub safe fn hl_alg_count() -> usize;
    /// Algorithm `i`; NULL beyond the last.
    pub safe fn hl_alg_at(i: usize) -> *const hl_alg_info;
    /// The description of one algorithm; NULL if `alg` is not an [`hl_alg`].
    pub safe fn hl_alg_find(alg: hl_alg) -> *const hl_alg_info;

    /// One English phrase without a full stop, NUL-terminated, static, never NULL.
    pub safe fn hl_strerror(status: hl_status) -> *const c_char;
    /// The version of the library, "0.1.0", NUL-terminated, static.
    pub safe fn hl_version() -> *const c_char;

    /// `digest = alg(data[0 .. nbytes])`.
    pub fn hl_hash(alg: hl_alg, data: *const c_void, nbytes: usize, digest: *mut u8) -> hl_status;

    /// `digests[i] = alg(messages[i])` for `i` in `0 .. count`.
    pub fn hl_hash_many(alg: hl_alg, messages: *const hl_slice, count: usize, digests: *mut u8) -> hl_status;
    /// Messages of one length at a regular distance: message `i` is `nbytes` bytes at `base + i * stride`.
    pub fn hl_hash_rows(
        alg: hl_alg,
        base: *const c_void,
        stride: usize,
        nbytes: usize,
        count: usize,
        digests: *mut u8,
    ) -> hl_status;
    /// RIPEMD-160 of SHA-256 of each row: digests of 20 bytes.
    pub fn hl_hash160_rows(
        base: *const c_void,
        stride: usize,
        nbytes: usize,
        count: usize,
        digests: *mut u8,
    ) -> hl_status;
    /// SHA-256 of SHA-256 of each row: digests of 32 bytes.
    pub fn hl_sha256d_rows(
        base: *const c_void,
        stride: usize,
        nbytes: usize,
        count: usize,
        digests: *mut u8,
    ) -> hl_status;

    /// Begins a message, of any algorithm but BLAKE3. Bytes of the context that the algorithm never uses are not
    /// written.
    pub fn hl_init(ctx: *mut hl_ctx, alg: hl_alg) -> hl_status;
    /// Begins a message of BLAKE2 with parameters, which may be null, and a digest of that length.
    pub fn hl_blake2_init(
        ctx: *mut hl_ctx,
        alg: hl_alg,
        digest_nbytes: usize,
        parameters: *const hl_blake2_parameters,
    ) -> hl_status;
    /// Begins a message of BLAKE3, with a key of 32 bytes unless it is null.
    pub fn hl_blake3_init(stream: *mut hl_blake3_ctx, key: *const c_void) -> hl_status;
    /// Begins the material of a key that is derived in a context.
    pub fn hl_blake3_init_derive_key(stream: *mut hl_blake3_ctx, context: *const c_void, nbytes: usize) -> hl_status;
    /// `value` = the chaining value of a subtree of the message: 1,024 * 2^k bytes, from chunk number `chunk` of 1,024
    /// bytes on, a multiple of 2^k.
    pub fn hl_blake3_subtree(
        stream: *const hl_blake3_ctx,
        chunk: u64,
        data: *const c_void,
        nbytes: usize,
        value: *mut u8,
    ) -> hl_status;
    /// Appends that subtree of `nchunks` chunks in place of its bytes. The message may not end with it.
    pub fn hl_blake3_add_subtree(stream: *mut hl_blake3_ctx, nchunks: u64, value: *const u8) -> hl_status;
    /// Appends data to the message.
    pub fn hl_update(ctx: *mut hl_ctx, data: *const c_void, nbytes: usize) -> hl_status;
    /// Writes the digest and wipes what the context held. Initialise the context again before its next use.
    pub fn hl_final(ctx: *mut hl_ctx, digest: *mut u8) -> hl_status;
    /// Writes the next `nbytes` of the digest of an [`HL_XOF`]; the first call ends the message.
    pub fn hl_squeeze(ctx: *mut hl_ctx, digest: *mut u8, nbytes: usize) -> hl_status;

    /// Appends `chunks[i]` to the message of `ctxs[i]` for `i` in `0 .. count`. The contexts have one algorithm and
    /// are all different.
    pub fn hl_update_many(ctxs: *const *mut hl_ctx, chunks: *const hl_slice, count: usize) -> hl_status;
    /// `digests[i]` = the digest of `ctxs[i]`. Wipes the contexts. The conditions on `ctxs` are those of
    /// [`hl_update_many`].
    pub fn hl_final_many(ctxs: *const *mut hl_ctx, count: usize, digests: *mut u8) -> hl_status;

    /// Writes the stream as bytes in the order that `hashloom.h` fixes.
    pub fn hl_export(ctx: *const hl_ctx, bytes: *mut u8, room: usize, nbytes: *mut usize) -> hl_status;
    /// Initialises the context from all of the bytes. Any bytes are safe: [`HL_EIMPORT`] if [`hl_export`] never writes
    /// them.
    pub fn hl_import(ctx: *mut hl_ctx, bytes: *const u8, nbytes: usize) -> hl_status;

    /// Prepares an HMAC key of any length.
    pub fn hl_hmac_key_init(key: *mut hl_hmac_key, alg: hl_alg, secret: *const c_void, nbytes: usize) -> hl_status;
    /// Overwrites the key with zeros.
    pub fn hl_hmac_key_wipe(key: *mut hl_hmac_key);
    /// `tag = HMAC(key, data[0 .. nbytes])`.
    pub fn hl_hmac(key: *const hl_hmac_key, data: *const c_void, nbytes: usize, tag: *mut u8) -> hl_status;
    /// `tags[i] = HMAC(key, messages[i])` for `i` in `0 .. count`.
    pub fn hl_hmac_many(key: *const hl_hmac_key, messages: *const hl_slice, count: usize, tags: *mut u8) -> hl_status;
    /// [`HL_OK`] if `tag[0 .. tag_nbytes]` are the first bytes of the message's tag, else [`HL_ETAG`]. `tag_nbytes` is
    /// from 10 to the digest's size.
    pub fn hl_hmac_verify(
        key: *const hl_hmac_key,
        data: *const c_void,
        nbytes: usize,
        tag: *const u8,
        tag_nbytes: usize,
    ) -> hl_status;
    /// Begins a message.
    pub fn hl_hmac_init(ctx: *mut hl_hmac_ctx, key: *const hl_hmac_key) -> hl_status;
    /// Appends data to the message.
    pub fn hl_hmac_update(ctx: *mut hl_hmac_ctx, data: *const c_void, nbytes: usize) -> hl_status;
    /// Writes the tag and wipes the context. Initialise the context again before its next use.
    pub fn hl_hmac_final(ctx: *mut hl_hmac_ctx, tag: *mut u8) -> hl_status;
    /// Like [`hl_update_many`]. Each stream has its own key.
    pub fn hl_hmac_update_many(ctxs: *const *mut hl_hmac_ctx, chunks: *const hl_slice, count: usize) -> hl_status;
    /// Like [`hl_final_many`].
    pub fn hl_hmac_final_many(ctxs: *const *mut hl_hmac_ctx, count: usize, tags: *mut u8) -> hl_status;
    /// PBKDF2 with HMAC (RFC 8018 section 5.2): `key_nbytes` bytes for each password and its salt.
    pub fn hl_pbkdf2_many(
        alg: hl_alg,
        passwords: *const hl_slice,
        salts: *const hl_slice,
        niterations: u32,
        count: usize,
        keys: *mut u8,
        key_nbytes: usize,
    ) -> hl_status;
    /// Like [`hl_pbkdf2_many`]; [`HL_ESTOPPED`] when the function, called every few milliseconds, does not return 0.
    pub fn hl_pbkdf2_many_until(
        alg: hl_alg,
        passwords: *const hl_slice,
        salts: *const hl_slice,
        niterations: u32,
        count: usize,
        keys: *mut u8,
        key_nbytes: usize,
        is_stopped: Option<unsafe extern "C" fn(context: *mut c_void) -> c_int>,
        context: *mut c_void,
    ) -> hl_status;
    /// 1 if the bytes are equal, else 0. The time depends only on `nbytes`.
    pub fn hl_equal(a: *const c_void, b: *const c_void, nbytes: usize) -> c_int;

    /// The number of instruction sets that this build has kernels for.
    pub safe fn hl_isa_count() -> usize;
    /// The name of instruction set `i`, NUL-terminated, static; NULL beyond the last.
    pub safe fn hl_isa_name(i: usize) -> *const c_char;
    /// The set of the one instruction set of that name; 0 if this build has none of that name.
    pub fn hl_isa_named(name: *const c_char) -> hl_isas;
    /// The instruction sets that this machine and its operating system can run.
    pub safe fn hl_isas_available() -> hl_isas;
    /// The instruction sets that may be chosen now.
    pub safe fn hl_isas_allowed() -> hl_isas;
    /// From now on, in the whole process, choose only kernels of these instruction sets; 0 removes the restriction. If
    /// they leave an algorithm without a kernel, plain C is allowed too.
    pub safe fn hl_restrict(isas: hl_isas) -> hl_status;

    /// The number of kernels of this build, whether this machine can run them or not.
    pub safe fn hl_kernel_count() -> usize;
    /// Kernel `i`; NULL beyond the last.
    pub safe fn hl_kernel_at(i: usize) -> *const hl_kernel;
    /// The kernel that is chosen when `nmessages >= 1` messages of this algorithm are left; NULL if `alg` is
    /// unknown.
    pub safe fn hl_kernel_chosen(alg: hl_alg, nmessages: usize) -> *const hl_kernel;
    /// Like [`hl_hash_many`], but only with this kernel, whatever [`hl_restrict`] says.
    pub fn hl_hash_many_with(
        kernel: *const hl_kernel,
        alg: hl_alg,
        messages: *const hl_slice,
        count: usize,
        digests: *mut u8,
    ) -> hl_status;
    /// Runs the job.
    pub fn hl_run(job: *const hl_job) -> hl_status;
}
