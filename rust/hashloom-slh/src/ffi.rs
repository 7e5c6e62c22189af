// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C calls: the only module with `unsafe`. One key or one signature is a [`Task`] of parts, whatever the number of
//! threads.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::marker::PhantomData;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

use hashloom::{check, text};
use hashloom_sys as sys;

use crate::{Form, Message, ParameterSet};

/// The facts about a parameter set that `hashloom.h` gives.
pub struct SetInfo {
    pub name: &'static str,
    pub oid: &'static str,
    pub n: usize,
    pub signature_nbytes: usize,
}

/// Describes a set.
pub fn info(set: ParameterSet) -> SetInfo {
    // SAFETY: a description that is not NULL is static and never written.
    let info = unsafe { sys::hl_slh_find(set as sys::hl_slh).as_ref() }.expect("the C library has the set");
    // SAFETY: both are static NUL-terminated strings.
    let (name, oid) = unsafe { (text(info.name), text(info.oid)) };
    SetInfo { name, oid, n: info.n as usize, signature_nbytes: info.signature_nbytes }
}

/// Memory for one thread's calls. The C library leaves no secret in it.
pub struct Scratch(Vec<u8>);

impl Scratch {
    pub fn new() -> Self {
        Scratch(alloc::vec![0; sys::hl_slh_scratch_nbytes()])
    }

    fn as_mut_ptr(&mut self) -> *mut c_void {
        self.0.as_mut_ptr().cast()
    }
}

fn raw(message: &Message<'_>) -> sys::hl_slh_message {
    let (form, prehash) = match message.form {
        Form::Pure => (sys::HL_SLH_PURE, 0),
        Form::Prehash(algorithm) => (sys::HL_SLH_PREHASH, algorithm as sys::hl_alg),
        Form::Internal => (sys::HL_SLH_INTERNAL, 0),
    };
    sys::hl_slh_message {
        data: message.data.as_ptr().cast(),
        nbytes: message.data.len(),
        context: message.context.as_ptr().cast(),
        context_nbytes: message.context.len(),
        form,
        prehash,
    }
}

/// A key or a signature that is being made. It borrows the secret that it reads and the bytes that it writes, and is
/// wiped when dropped.
pub struct Task<'a> {
    raw: Box<UnsafeCell<sys::hl_slh_task>>,
    nparts: u32,
    next: AtomicU32,
    borrows: PhantomData<(&'a [u8], &'a mut [u8])>,
}

// SAFETY: hashloom.h allows different parts at once by any threads; `next` gives each part away once.
unsafe impl Sync for Task<'_> {}

impl<'a> Task<'a> {
    /// Panics unless there are 3 n bytes of seeds, and room for a secret key.
    pub fn keygen(set: ParameterSet, seeds: &'a [u8], secret: &'a mut [u8]) -> Self {
        assert_eq!((seeds.len(), secret.len()), (3 * set.n(), 4 * set.n()));
        Task::begun(|task| {
            // SAFETY: the lengths are asserted above, and the task borrows both slices.
            unsafe { sys::hl_slh_begin_keygen(task, set as sys::hl_slh, seeds.as_ptr(), secret.as_mut_ptr()) }
        })
    }

    /// Panics unless the key and the signature have their lengths, and the randomness, if any, has n bytes.
    pub fn sign(
        set: ParameterSet,
        secret: &'a [u8],
        message: &Message<'_>,
        randomness: Option<&[u8]>,
        signature: &'a mut [u8],
    ) -> Self {
        assert_eq!((secret.len(), signature.len()), (4 * set.n(), set.signature_nbytes()));
        assert!(randomness.is_none_or(|bytes| bytes.len() == set.n()));
        let randomness = randomness.map_or(ptr::null(), <[u8]>::as_ptr);
        let (set, message) = (set as sys::hl_slh, raw(message));
        Task::begun(|task| {
            // SAFETY: the lengths are asserted above, and the task borrows the key and the signature; the message and
            // the randomness are read in this call only.
            unsafe { sys::hl_slh_begin_sign(task, set, secret.as_ptr(), &message, randomness, signature.as_mut_ptr()) }
        })
    }

    fn begun(begin: impl FnOnce(*mut sys::hl_slh_task) -> sys::hl_status) -> Self {
        let raw = Box::new(UnsafeCell::new(sys::hl_slh_task { set: 0, nparts: 0, private_words: [0; 2040] }));
        let mut task = Task { raw, nparts: 0, next: AtomicU32::new(0), borrows: PhantomData };
        check(begin(task.raw.get()));
        task.nparts = task.raw.get_mut().nparts;
        task
    }

    /// Makes the next part. False if all are begun.
    pub fn next_part(&self, scratch: &mut Scratch) -> bool {
        // More calls than u32 has numbers cannot happen: each thread stops at its first `false`.
        let part = self.next.fetch_add(1, Ordering::Relaxed);
        if part < self.nparts {
            // SAFETY: the task is begun, nobody else makes this part, and the scratch is ours alone.
            check(unsafe { sys::hl_slh_part(self.raw.get(), part, scratch.as_mut_ptr(), scratch.0.len()) });
        }
        part < self.nparts
    }

    /// Ends the task. False if the signature was not right when it was verified; it is zeros then. Panics unless all
    /// parts are made.
    #[must_use]
    pub fn end(mut self, scratch: &mut Scratch) -> bool {
        assert!(*self.next.get_mut() >= self.nparts);
        // SAFETY: the task is ours alone now, so that its parts are not only begun but made; so is the scratch.
        let status = unsafe { sys::hl_slh_end(self.raw.get(), scratch.as_mut_ptr(), scratch.0.len()) };
        if status != sys::HL_ESTATE {
            check(status);
        }
        status == sys::HL_OK
    }
}

impl Drop for Task<'_> {
    fn drop(&mut self) {
        // SAFETY: the task is ours alone.
        unsafe { sys::hl_slh_drop(self.raw.get()) };
    }
}

/// The signatures that one call verifies at most.
pub const VERIFY_MAX: usize = 64;

/// Whether each signature is one of its message and its key. The public keys, or the only one, follow each other in
/// `keys`. Panics if there are more than [`VERIFY_MAX`], or not as many of each.
pub fn verify<S: AsRef<[u8]>>(
    set: ParameterSet,
    keys: &[u8],
    messages: &[Message<'_>],
    signatures: &[S],
    scratch: &mut Scratch,
) -> [u8; VERIFY_MAX] {
    let (count, key_nbytes) = (messages.len(), 2 * set.n());
    assert!(count <= VERIFY_MAX && signatures.len() == count);
    let key_stride = if keys.len() == key_nbytes { 0 } else { key_nbytes };
    assert!(key_stride == 0 || keys.len() == count * key_nbytes);
    let mut raws = [const { core::mem::MaybeUninit::uninit() }; VERIFY_MAX];
    let (mut pointers, mut lengths) = ([ptr::null(); VERIFY_MAX], [0; VERIFY_MAX]);
    for (i, (message, signature)) in messages.iter().zip(signatures).enumerate() {
        raws[i].write(raw(message));
        let signature = signature.as_ref();
        (pointers[i], lengths[i]) = (signature.as_ptr(), signature.len());
    }
    let mut valid = [0; VERIFY_MAX];
    let work = sys::hl_slh_work {
        scratch: scratch.as_mut_ptr(),
        scratch_nbytes: scratch.0.len(),
        is_stopped: None,
        context: ptr::null_mut(),
    };
    // SAFETY: `count` messages were just written, and as many signatures, each with its length; the keys are as many,
    // or one, asserted above; `valid` has room.
    let status = unsafe {
        sys::hl_slh_verify_many(
            set as sys::hl_slh,
            keys.as_ptr(),
            key_stride,
            raws.as_ptr().cast(),
            pointers.as_ptr(),
            lengths.as_ptr(),
            count,
            valid.as_mut_ptr(),
            &work,
        )
    };
    if status != sys::HL_ETAG {
        check(status);
    }
    valid
}
