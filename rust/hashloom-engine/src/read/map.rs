// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files mapped into memory, so that they are hashed in the page cache without a copy.
//!
//! Two things can go wrong under a mapping. The file becomes shorter, or its disk fails: touching the lost page then
//! raises SIGBUS, where a read would fail or come to the end. Or the file is written to while it is hashed, which gives
//! an arbitrary digest, as with reads.
//!
//! Pages are therefore made present before they are hashed, by a call that fails instead of raising a signal. The
//! moment between that call and the hashing remains. For that moment [`guard`] installs a handler: the handler replaces
//! the file's page by a page of zeros and marks the mapping broken. Hashing goes on, and the user of the mapping finds
//! the mark, discards the digest and reads the file.
//!
//! A signal handler belongs to the whole process. Every SIGBUS outside of these mappings therefore goes to the previous
//! handler or to the system's default, and the guard stays installed. A handler that the host installs later replaces
//! this one: the guard is looked for before each range is hashed, and if it is gone, files are read. The crate
//! signal-hook-registry cannot do this: if there was no handler before, it swallows the signal, and a faulting
//! instruction is tried again for ever.
//!
//! The bytes of a mapping are given only to the hash functions. These are written in C, may read a byte several times,
//! and do not rely on a byte being the same each time.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod os {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsRawFd;
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// A file mapped into memory.
    #[derive(Debug)]
    pub(crate) struct Mapping {
        start: usize,
        nbytes: usize,
        slot: &'static Slot,
    }

    /// The handler's record of a mapping. The slot is free while `end` is 0.
    #[derive(Debug)]
    struct Slot {
        taken: AtomicBool,
        /// Odd while `start` and `end` are being changed, so that the handler never combines one mapping's start with
        /// another's end.
        version: AtomicUsize,
        start: AtomicUsize,
        end: AtomicUsize,
        broken: AtomicBool,
    }

    impl Slot {
        /// Only the thread that has taken the slot may call this.
        fn set(&self, start: usize, end: usize) {
            self.version.fetch_add(1, Ordering::SeqCst);
            self.start.store(start, Ordering::SeqCst);
            self.end.store(end, Ordering::SeqCst);
            self.version.fetch_add(1, Ordering::SeqCst);
        }

        /// Whether an address where a thread has just faulted is in the mapping. A mapping that is made or dropped
        /// meanwhile is another thread's, so this thread has not faulted in it.
        fn has(&self, at: usize) -> bool {
            let version = self.version.load(Ordering::SeqCst);
            let is_inside = self.start.load(Ordering::SeqCst) <= at && at < self.end.load(Ordering::SeqCst);
            is_inside && version % 2 == 0 && version == self.version.load(Ordering::SeqCst)
        }
    }

    /// More slots than files are open at once. A file that gets no slot is read.
    static SLOTS: [Slot; 512] = [const {
        Slot {
            taken: AtomicBool::new(false),
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }; 512];

    /// The page size that the handler uses; 64 KiB is the largest of any Linux.
    static PAGE_NBYTES: AtomicUsize = AtomicUsize::new(64 << 10);

    /// The previous disposition of SIGBUS: see [`Before`]. It is one word, so that the handler can read and replace it.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// The handler as a static, so that its address is the same everywhere.
    static HANDLER: Handler = on_sigbus;

    /// Ensures that a file which becomes shorter does not end the process. Returns whether the system permits that.
    pub(crate) fn guard() -> bool {
        static GUARDED: OnceLock<bool> = OnceLock::new();
        *GUARDED.get_or_init(|| {
            // SAFETY: Linux before 5.14 does not know this advice. Asking about no bytes only tells whether the kernel
            // knows it; the answer is kept, so that nothing is mapped in vain.
            let is_known = unsafe { libc::madvise(null_mut(), 0, libc::MADV_POPULATE_READ) } == 0;
            // SAFETY: the call changes nothing.
            let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
            if !is_known || page <= 0 {
                return false;
            }
            PAGE_NBYTES.store(page as usize, Ordering::SeqCst);
            let Some(before) = disposition() else { return false };
            let Some(word) = Before::of(&before) else { return false };
            BEFORE.store(word.0, Ordering::SeqCst);
            install(&before)
        })
    }

    /// Installs the handler, to be called as the previous one was: on the same stack, with the same signals blocked.
    fn install(before: &libc::sigaction) -> bool {
        let mut action = *before;
        action.sa_sigaction = HANDLER as usize;
        action.sa_flags = match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => libc::SA_ONSTACK | libc::SA_RESTART,
            _ => before.sa_flags & !libc::SA_RESETHAND,
        } | libc::SA_SIGINFO;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for. It uses only atomic loads and stores and
        // calls that a handler may make.
        unsafe { libc::sigaction(libc::SIGBUS, &action, null_mut()) == 0 }
    }

    /// The present disposition of SIGBUS.
    fn disposition() -> Option<libc::sigaction> {
        // SAFETY: the type is plain data, for which zeros are valid.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: the call changes nothing and writes the disposition to `now`.
        (unsafe { libc::sigaction(libc::SIGBUS, null(), &mut now) } == 0).then_some(now)
    }

    /// Whether mappings are guarded: the host has not replaced the handler by its own.
    fn is_guarded() -> bool {
        guard() && disposition().is_some_and(|now| now.sa_sigaction == HANDLER as usize)
    }

    /// The address of a handler, or `SIG_DFL` or `SIG_IGN`, above two bits: the form of its call, and whether it is
    /// called only once.
    #[derive(Clone, Copy, PartialEq)]
    struct Before(usize);

    impl Before {
        const HAS_INFO: usize = 1;
        const IS_ONCE: usize = 2;

        /// `None` for an address too high for any program.
        fn of(action: &libc::sigaction) -> Option<Before> {
            let bit = |flag: libc::c_int, bit: usize| if action.sa_flags & flag != 0 { bit } else { 0 };
            let bits = bit(libc::SA_SIGINFO, Before::HAS_INFO) | bit(libc::SA_RESETHAND, Before::IS_ONCE);
            let address = action.sa_sigaction;
            (address >> (usize::BITS - 2) == 0).then_some(Before(address << 2 | bits))
        }

        fn address(self) -> usize {
            self.0 >> 2
        }
    }

    extern "C" fn on_sigbus(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the thread's errno, which the interrupted code may be about to read.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: the errno belongs to this thread.
        let interrupted = unsafe { *errno };
        // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo_t, and calls this handler as it would another.
        unsafe {
            let is_page = matches!((*info).si_code, libc::BUS_ADRERR | libc::BUS_OBJERR | libc::BUS_MCEERR_AR);
            if !is_page || !replace_page((*info).si_addr() as usize) {
                pass_on(signal, info, context);
            }
        }
        // SAFETY: as above.
        unsafe { *errno = interrupted };
    }

    /// Puts zeros in place of a page of a mapping. Returns false if no mapping has the address.
    fn replace_page(at: usize) -> bool {
        let Some(slot) = SLOTS.iter().find(|slot| slot.has(at)) else { return false };
        // The mark is set first: a thread that reads the zeros must find it.
        slot.broken.store(true, Ordering::SeqCst);
        let nbytes = PAGE_NBYTES.load(Ordering::SeqCst);
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_ANONYMOUS;
        let page = (at & !(nbytes - 1)) as *mut libc::c_void;
        // SAFETY: the call is plain and replaces one page of a mapping that belongs to this module.
        unsafe { libc::mmap(page, nbytes, libc::PROT_READ, flags, -1, 0) == page }
    }

    /// Does what would happen without this handler.
    ///
    /// # Safety
    /// The arguments must be those of the kernel's call of a handler.
    unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let before = Before(BEFORE.load(Ordering::SeqCst));
        // SAFETY: the caller keeps the conditions.
        let code = unsafe { (*info).si_code };
        // Whether the signal comes from an instruction that is tried again when the handler returns, not from `kill`,
        // nor from memory found bad before any use.
        let is_fault = code > 0 && code != libc::BUS_MCEERR_AO;
        match before.address() {
            libc::SIG_IGN if !is_fault => {}
            // A fault cannot be ignored: the next one ends the process. A signal that was sent is sent again, to arrive
            // when this returns.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: both may be called in a handler.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
                if !is_fault {
                    // SAFETY: as above.
                    unsafe { libc::raise(signal) };
                }
            }
            address => {
                if before.0 & Before::IS_ONCE != 0 {
                    BEFORE.store(libc::SIG_DFL << 2, Ordering::SeqCst);
                }
                // SAFETY: the address is a handler of this form, as its installer told the system.
                unsafe {
                    if before.0 & Before::HAS_INFO != 0 {
                        std::mem::transmute::<*const (), Handler>(address as *const ())(signal, info, context);
                    } else {
                        type Plain = extern "C" fn(libc::c_int);
                        std::mem::transmute::<*const (), Plain>(address as *const ())(signal);
                    }
                }
                stay(before);
            }
        }
    }

    /// Keeps the guard after a call of the previous handler. The previous handler may set the default before it
    /// returns, as Rust's own does, or install itself again: its choice becomes the new previous disposition, and the
    /// guard stays. Any other new handler stays installed, as it may call this one.
    fn stay(before: Before) {
        let Some(now) = disposition() else { return };
        let Some(word) = Before::of(&now) else { return };
        if [libc::SIG_DFL, libc::SIG_IGN, before.address()].contains(&word.address()) {
            BEFORE.store(word.0, Ordering::SeqCst);
            install(&now);
        }
    }

    impl Mapping {
        /// Maps the first `nbytes` bytes of a file. `None` if the system refuses or the guard is not in place.
        pub(crate) fn new(file: &File, nbytes: u64) -> Option<Mapping> {
            let nbytes = usize::try_from(nbytes).ok().filter(|&nbytes| nbytes > 0)?;
            if !is_guarded() {
                return None;
            }
            let slot = SLOTS.iter().find(|slot| !slot.taken.swap(true, Ordering::AcqRel))?;
            // SAFETY: this is a new mapping, for reading, at an address that the system chooses.
            let start =
                unsafe { libc::mmap(null_mut(), nbytes, libc::PROT_READ, libc::MAP_SHARED, file.as_raw_fd(), 0) };
            if start == libc::MAP_FAILED {
                slot.taken.store(false, Ordering::Release);
                return None;
            }
            let start = start as usize;
            slot.broken.store(false, Ordering::SeqCst);
            slot.set(start, start + nbytes);
            Some(Mapping { start, nbytes, slot })
        }

        /// Makes a range of the mapping present. Returns false if that fails or the bytes may not be the file's: the
        /// file must be read then.
        pub(crate) fn fetch(&self, range: Range<u64>) -> bool {
            range.end <= self.nbytes as u64
                && is_guarded()
                && self.advise(range, libc::MADV_POPULATE_READ)
                && self.is_sound()
        }

        /// The bytes of a range that was [fetched](Mapping::fetch) before.
        ///
        /// # Panics
        /// If the range is not inside the mapping.
        pub(crate) fn bytes(&self, range: Range<u64>) -> &[u8] {
            let (start, end) = (range.start as usize, range.end as usize);
            assert!(start <= end && end <= self.nbytes);
            // SAFETY: the range is inside the mapping, which lives as long as `self`; a page that the file has lost
            // becomes zeros. The head of this file says why bytes may change.
            unsafe { std::slice::from_raw_parts((self.start + start) as *const u8, end - start) }
        }

        /// Gives a range's pages back, so that only little is mapped at a time: mapped pages count as this process's
        /// memory.
        pub(crate) fn give_back(&self, range: Range<u64>) {
            self.advise(range, libc::MADV_DONTNEED);
        }

        /// Whether all bytes so far were the file's.
        pub(crate) fn is_sound(&self) -> bool {
            !self.slot.broken.load(Ordering::SeqCst)
        }

        fn advise(&self, range: Range<u64>, advice: libc::c_int) -> bool {
            let page = PAGE_NBYTES.load(Ordering::Relaxed);
            let first = range.start as usize & !(page - 1);
            let nbytes = range.end as usize - first;
            // SAFETY: the pages belong to this mapping and are read-only, so no data is lost.
            unsafe { libc::madvise((self.start + first) as *mut libc::c_void, nbytes, advice) == 0 }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            self.slot.set(0, 0);
            // SAFETY: the mapping belongs to this value, and nobody has a slice of it.
            unsafe { libc::munmap(self.start as *mut libc::c_void, self.nbytes) };
            self.slot.taken.store(false, Ordering::Release);
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
mod os {
    use std::convert::Infallible;
    use std::fs::File;
    use std::ops::Range;

    /// This system has no mappings: files are read.
    #[derive(Debug)]
    pub(crate) struct Mapping(Infallible);

    impl Mapping {
        pub(crate) fn new(_file: &File, _nbytes: u64) -> Option<Mapping> {
            None
        }

        pub(crate) fn fetch(&self, _range: Range<u64>) -> bool {
            match self.0 {}
        }

        pub(crate) fn bytes(&self, _range: Range<u64>) -> &[u8] {
            match self.0 {}
        }

        pub(crate) fn give_back(&self, _range: Range<u64>) {
            match self.0 {}
        }

        pub(crate) fn is_sound(&self) -> bool {
            match self.0 {}
        }
    }
}

pub(crate) use os::Mapping;

#[cfg(all(test, target_os = "linux", target_pointer_width = "64"))]
mod tests;
