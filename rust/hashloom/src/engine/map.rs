// SPDX-License-Identifier: MIT OR Apache-2.0

//! Files mapped into memory, so that they are hashed where the page cache has them instead of being copied first.
//!
//! Two things can go wrong under a mapping that cannot with reading. The file becomes shorter, or its disk fails: then
//! touching it raises SIGBUS. And it is written to while it is hashed, which here as there gives some digest or other.
//!
//! Pages are therefore made present before they are hashed, by a call that fails instead of raising a signal. What is
//! left is the moment between that and the hashing. For it [`guard`] installs a handler: it puts a page of zeros where
//! the file's page was and marks the mapping broken, hashing goes on, and whoever used the mapping finds the mark, throws
//! the digest away and reads what is there. A SIGBUS from anywhere else goes where it went before.
//!
//! Bytes of a mapping are handed to the hash functions only, which are C, read each byte some times, and depend on no
//! byte being the same twice.

#[cfg(all(target_os = "linux", target_pointer_width = "64"))]
mod os {
    use std::fs::File;
    use std::ops::Range;
    use std::os::fd::AsRawFd;
    use std::ptr::null_mut;
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
        start: AtomicUsize,
        end: AtomicUsize,
        broken: AtomicBool,
    }

    /// More files than are open at once. A file that gets no slot is read.
    static SLOTS: [Slot; 512] = [const {
        Slot {
            taken: AtomicBool::new(false),
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
        }
    }; 512];

    /// The handler's page: 64 KiB is the greatest of any Linux.
    static PAGE_NBYTES: AtomicUsize = AtomicUsize::new(64 << 10);

    /// What SIGBUS did before.
    static BEFORE: OnceLock<libc::sigaction> = OnceLock::new();

    /// Sees to it that a file which becomes shorter does not end the process. Returns whether that can be had.
    pub(crate) fn guard() -> bool {
        static GUARDED: OnceLock<bool> = OnceLock::new();
        *GUARDED.get_or_init(|| {
            // SAFETY: the structures are plain data, for which zeros are valid; the handler has the signature that
            // SA_SIGINFO asks for, and does nothing but atomic loads and stores and system calls.
            unsafe {
                // Linux before 5.14 does not know it. Of no bytes it tells only that: asked once, so that nothing is mapped
                // in vain.
                if libc::madvise(null_mut(), 0, libc::MADV_POPULATE_READ) != 0 {
                    return false;
                }
                let page = libc::sysconf(libc::_SC_PAGESIZE);
                let mut before: libc::sigaction = std::mem::zeroed();
                if page <= 0 || libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) != 0 {
                    return false;
                }
                PAGE_NBYTES.store(page as usize, Ordering::Relaxed);
                let _ = BEFORE.set(before);
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = on_sigbus as extern "C" fn(_, _, _) as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
                libc::sigemptyset(&mut action.sa_mask);
                libc::sigaction(libc::SIGBUS, &action, null_mut()) == 0
            }
        })
    }

    extern "C" fn on_sigbus(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
        // SAFETY: with SA_SIGINFO the kernel passes a valid siginfo_t. `mmap` replaces one page inside of a mapping that
        // is this module's own, and is a plain system call.
        unsafe {
            let at = (*info).si_addr() as usize;
            for slot in &SLOTS {
                if slot.start.load(Ordering::SeqCst) <= at && at < slot.end.load(Ordering::SeqCst) {
                    // First the mark: whoever reads the zeros finds it.
                    slot.broken.store(true, Ordering::SeqCst);
                    let nbytes = PAGE_NBYTES.load(Ordering::Relaxed);
                    let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_ANONYMOUS;
                    let page = (at & !(nbytes - 1)) as *mut libc::c_void;
                    if libc::mmap(page, nbytes, libc::PROT_READ, flags, -1, 0) == page {
                        return;
                    }
                }
            }
            // Not ours: what happened before happens now, when the instruction is tried again.
            if let Some(before) = BEFORE.get() {
                libc::sigaction(libc::SIGBUS, before, null_mut());
            }
        }
    }

    impl Mapping {
        /// Maps the first `nbytes` bytes of a file. None if that cannot be had, or nothing guards it.
        pub(crate) fn new(file: &File, nbytes: u64) -> Option<Mapping> {
            let nbytes = usize::try_from(nbytes).ok().filter(|&nbytes| nbytes > 0)?;
            if !guard() {
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
            slot.start.store(start, Ordering::SeqCst);
            slot.end.store(start + nbytes, Ordering::SeqCst);
            Some(Mapping { start, nbytes, slot })
        }

        /// Makes a range present, which must be inside. Returns false if it is not, or may not be what the file has: then
        /// the file is to be read.
        pub(crate) fn fetch(&self, range: Range<u64>) -> bool {
            range.end <= self.nbytes as u64 && self.advise(range, libc::MADV_POPULATE_READ) && self.is_sound()
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
            self.slot.end.store(0, Ordering::SeqCst);
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
mod tests {
    use super::*;

    #[test]
    fn a_file_that_becomes_shorter_is_noticed_and_kills_nobody() {
        let file = tempfile::tempfile().unwrap();
        std::os::unix::fs::FileExt::write_all_at(&file, &[7; 300_000], 0).unwrap();
        let (mapping, other) = (Mapping::new(&file, 300_000).unwrap(), Mapping::new(&file, 300_000).unwrap());
        assert!(mapping.fetch(5..200_000) && mapping.is_sound());
        assert!(mapping.bytes(5..200_000).iter().all(|&byte| byte == 7));
        assert!(!mapping.fetch(299_999..300_001), "beyond its end");
        file.set_len(100_000).unwrap();
        assert!(!mapping.fetch(150_000..200_000), "fails instead of raising a signal");
        assert!(mapping.is_sound());
        // The page that has the new end is zeros beyond it; the next one is not there.
        assert_eq!(mapping.bytes(0..200_000).iter().filter(|&&byte| byte == 7).count(), 100_000);
        assert!(!mapping.is_sound());
        assert!(!mapping.fetch(0..10), "never again");
        assert!(other.is_sound() && other.fetch(0..10));
        mapping.give_back(0..10);
        drop(mapping);
        // Its place is free again, and a new mapping is sound.
        assert!(Mapping::new(&file, 100_000).unwrap().fetch(0..100_000));
    }
}
