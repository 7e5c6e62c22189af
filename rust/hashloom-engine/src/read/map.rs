// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files mapped into memory, so that they are hashed where the page cache has them instead of being copied first.
//!
//! Two things can go wrong under a mapping that cannot with reading. The file becomes shorter, or its disk fails: then
//! touching it raises SIGBUS. And it is written to while it is hashed, which here as there gives some digest or other.
//!
//! Pages are therefore made present before they are hashed, by a call that fails instead of raising a signal. What is
//! left is the moment between that and the hashing. For it [`guard`] installs a handler: it puts a page of zeros where
//! the file's page was and marks the mapping broken, hashing goes on, and whoever used the mapping finds the mark, throws
//! the digest away and reads what is there.
//!
//! A handler is the whole process's. So every SIGBUS that is no page of a mapping here goes where it went before, to a
//! handler of the host's or to what the system does by default, and the guard stands afterwards as it did. A handler that
//! the host installs later takes this one's place: it is looked for before each range is hashed, and without it files
//! are read. The crate signal-hook-registry cannot do this: where there was no handler before, it swallows the signal,
//! and an instruction that faults is tried again for ever.
//!
//! Bytes of a mapping are handed to the hash functions only, which are C, read each byte some times, and depend on no
//! byte being the same twice.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod os {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsRawFd;
    use std::ptr::{null, null_mut};
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// A file's bytes in memory.
    #[derive(Debug)]
    pub(crate) struct Mapping {
        start: usize,
        nbytes: usize,
        slot: &'static Slot,
    }

    /// What the handler knows of a mapping. None while `end` is 0.
    #[derive(Debug)]
    struct Slot {
        taken: AtomicBool,
        /// Odd while `start` and `end` are being changed: the handler takes no start of one mapping with the end of
        /// another.
        version: AtomicUsize,
        start: AtomicUsize,
        end: AtomicUsize,
        broken: AtomicBool,
    }

    impl Slot {
        /// By the one thread that has taken it.
        fn set(&self, start: usize, end: usize) {
            self.version.fetch_add(1, Ordering::SeqCst);
            self.start.store(start, Ordering::SeqCst);
            self.end.store(end, Ordering::SeqCst);
            self.version.fetch_add(1, Ordering::SeqCst);
        }

        /// Whether an address at which a thread has just faulted is in the mapping. One that is made or given up
        /// meanwhile is another thread's, and not where this one has faulted.
        fn has(&self, at: usize) -> bool {
            let version = self.version.load(Ordering::SeqCst);
            let is_inside = self.start.load(Ordering::SeqCst) <= at && at < self.end.load(Ordering::SeqCst);
            is_inside && version % 2 == 0 && version == self.version.load(Ordering::SeqCst)
        }
    }

    /// More files than are open at once. A file that gets no slot is read.
    static SLOTS: [Slot; 512] = [const {
        Slot {
            taken: AtomicBool::new(false),
            version: AtomicUsize::new(0),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }; 512];

    /// The handler's page: 64 KiB is the greatest of any Linux.
    static PAGE_NBYTES: AtomicUsize = AtomicUsize::new(64 << 10);

    /// What SIGBUS did before: see [`Before`]. In one word, so that the handler can read and replace it.
    static BEFORE: AtomicUsize = AtomicUsize::new(libc::SIG_DFL);

    type Handler = extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void);

    /// The handler, which has one address here only.
    static HANDLER: Handler = on_sigbus;

    /// Sees to it that a file which becomes shorter does not end the process. Returns whether that can be had.
    pub(crate) fn guard() -> bool {
        static GUARDED: OnceLock<bool> = OnceLock::new();
        *GUARDED.get_or_init(|| {
            // SAFETY: Linux before 5.14 does not know the advice. Of no bytes it tells only that: asked once, so that
            // nothing is mapped in vain.
            let is_known = unsafe { libc::madvise(null_mut(), 0, libc::MADV_POPULATE_READ) } == 0;
            // SAFETY: it only tells.
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

    /// Installs the handler, to be called as the one before it: on the same stack, with the same signals blocked.
    fn install(before: &libc::sigaction) -> bool {
        let mut action = *before;
        action.sa_sigaction = HANDLER as usize;
        action.sa_flags = match before.sa_sigaction {
            libc::SIG_DFL | libc::SIG_IGN => libc::SA_ONSTACK | libc::SA_RESTART,
            _ => before.sa_flags & !libc::SA_RESETHAND,
        } | libc::SA_SIGINFO;
        // SAFETY: the handler has the signature that SA_SIGINFO asks for, and does nothing but atomic loads and stores and
        // calls that a handler may make.
        unsafe { libc::sigaction(libc::SIGBUS, &action, null_mut()) == 0 }
    }

    /// What SIGBUS does now.
    fn disposition() -> Option<libc::sigaction> {
        // SAFETY: plain data, for which zeros are valid.
        let mut now: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: nothing is changed, and what is there is written to `now`.
        (unsafe { libc::sigaction(libc::SIGBUS, null(), &mut now) } == 0).then_some(now)
    }

    /// Whether a mapping is guarded: the host has put no handler of its own in the place of this one.
    fn is_guarded() -> bool {
        guard() && disposition().is_some_and(|now| now.sa_sigaction == HANDLER as usize)
    }

    /// A handler's address or `SIG_DFL` or `SIG_IGN`, above two bits: how it is called, and whether only once.
    #[derive(Clone, Copy, PartialEq)]
    struct Before(usize);

    impl Before {
        const HAS_INFO: usize = 1;
        const IS_ONCE: usize = 2;

        /// None of an address so high that no program is there.
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
        // SAFETY: where the thread keeps what the last call of the system said, also for whom this has interrupted.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: it is this thread's.
        let interrupted = unsafe { *errno };
        // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo_t, and calls the handler as it would another.
        unsafe {
            let is_page = matches!((*info).si_code, libc::BUS_ADRERR | libc::BUS_OBJERR | libc::BUS_MCEERR_AR);
            if !is_page || !replace_page((*info).si_addr() as usize) {
                pass_on(signal, info, context);
            }
        }
        // SAFETY: as above.
        unsafe { *errno = interrupted };
    }

    /// Puts zeros where a page of a mapping was. Returns false if the address is in none.
    fn replace_page(at: usize) -> bool {
        let Some(slot) = SLOTS.iter().find(|slot| slot.has(at)) else { return false };
        // First the mark: whoever reads the zeros finds it.
        slot.broken.store(true, Ordering::SeqCst);
        let nbytes = PAGE_NBYTES.load(Ordering::SeqCst);
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_ANONYMOUS;
        let page = (at & !(nbytes - 1)) as *mut libc::c_void;
        // SAFETY: a plain call of the system, which replaces one page of a mapping that is this module's own.
        unsafe { libc::mmap(page, nbytes, libc::PROT_READ, flags, -1, 0) == page }
    }

    /// Does what would be done if there was no handler here.
    ///
    /// # Safety
    /// As the kernel calls a handler.
    unsafe fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
        let before = Before(BEFORE.load(Ordering::SeqCst));
        // SAFETY: the caller's.
        let code = unsafe { (*info).si_code };
        // Of the instruction that is tried again when the handler returns; not of `kill`, nor of memory that is known to
        // be bad before anybody has used it.
        let is_fault = code > 0 && code != libc::BUS_MCEERR_AO;
        match before.address() {
            libc::SIG_IGN if !is_fault => {}
            // Nobody can ignore a fault of his own: the next one ends the process. A signal that was sent is sent again,
            // to arrive when this returns.
            libc::SIG_DFL | libc::SIG_IGN => {
                // SAFETY: both may be called in a handler.
                unsafe { libc::signal(signal, libc::SIG_DFL) };
                if !is_fault {
                    // SAFETY: as before.
                    unsafe { libc::raise(signal) };
                }
            }
            address => {
                if before.0 & Before::IS_ONCE != 0 {
                    BEFORE.store(libc::SIG_DFL << 2, Ordering::SeqCst);
                }
                // SAFETY: the address is a handler of this kind, as whoever installed it has told the system.
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

    /// A handler may set the default before it returns, as Rust's own does, or itself again: that then is what was
    /// before, and the guard stays. Another handler stays where it is, as it may call this one.
    fn stay(before: Before) {
        let Some(now) = disposition() else { return };
        let Some(word) = Before::of(&now) else { return };
        if [libc::SIG_DFL, libc::SIG_IGN, before.address()].contains(&word.address()) {
            BEFORE.store(word.0, Ordering::SeqCst);
            install(&now);
        }
    }

    impl Mapping {
        /// Maps the first `nbytes` bytes of a file. None if that cannot be had, or nothing guards it.
        pub(crate) fn new(file: &File, nbytes: u64) -> Option<Mapping> {
            let nbytes = usize::try_from(nbytes).ok().filter(|&nbytes| nbytes > 0)?;
            if !is_guarded() {
                return None;
            }
            let slot = SLOTS.iter().find(|slot| !slot.taken.swap(true, Ordering::AcqRel))?;
            // SAFETY: a new mapping, for reading, at an address that the system chooses.
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

        /// Makes a range present, which must be inside. Returns false if it is not, or may not be what the file has: then
        /// the file is to be read.
        pub(crate) fn fetch(&self, range: Range<u64>) -> bool {
            range.end <= self.nbytes as u64
                && is_guarded()
                && self.advise(range, libc::MADV_POPULATE_READ)
                && self.is_sound()
        }

        /// The bytes of a range, which must have been [fetched](Mapping::fetch).
        ///
        /// # Panics
        /// If it is not inside.
        pub(crate) fn bytes(&self, range: Range<u64>) -> &[u8] {
            let (start, end) = (range.start as usize, range.end as usize);
            assert!(start <= end && end <= self.nbytes);
            // SAFETY: inside of the mapping, which lives as long as `self`; a page that the file no longer has becomes
            // zeros. See the head of this file about bytes that change.
            unsafe { std::slice::from_raw_parts((self.start + start) as *const u8, end - start) }
        }

        /// Gives a range's pages back, so that what is mapped at a time, which counts as this process's memory, is little.
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
            // SAFETY: of pages of this mapping, which are for reading only, so that none is lost.
            unsafe { libc::madvise((self.start + first) as *mut libc::c_void, nbytes, advice) == 0 }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            self.slot.set(0, 0);
            // SAFETY: the mapping is this one's own, and nobody has a slice of it.
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

    /// There are none here: files are read.
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
