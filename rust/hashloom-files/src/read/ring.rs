// SPDX-License-Identifier: MIT OR Apache-2.0

//! Opening and reading many small files by a few system calls: io_uring, where Linux has it.
//!
//! Opening, reading and closing a file of 16 KiB by separate calls took 5.2 µs of CPU, in batches of sixteen 3.7 (Zen
//! 4, Linux 6.18, all in memory). For files that are not in memory, the disk gets sixteen requests at a time instead of
//! one, which took a third of the time. The stamps before and after come from separate calls: the ring would use other
//! threads for them, and it cannot ask for the stamp of a file that it has open. The length in the stamp spares most
//! files a second read, the one that finds the end.
//!
//! Bytes that are in memory are read by separate calls too (`hot.rs`). A ring asks again when a read gives less than
//! the whole chunk, and on file systems that cannot read without waiting (tmpfs, overlayfs) has another thread do each
//! read: that was a fifth of the CPU time of files of ten bytes in tmpfs.
//!
//! The rule of this module: while the kernel works on a request, the memory that the request points to stays.
//! [`Ring::complete`] therefore returns only when all submitted requests are done. If the kernel cannot report that,
//! for instance for lack of memory or because its threads get no CPU, the ring is [`Lost`], and the memory of its
//! requests is leaked: neither freed nor used again.
//!
//! A pipe would keep all other files of its batch waiting, and its writer may wait for one of them to be read. A
//! request that keeps it waiting for [`PATIENCE`], or longer than the pool goes on, is therefore cancelled, which takes
//! no byte from a pipe, and left to plain calls. A pipe is also opened before it has a writer, and then seems to be at
//! its end: the caller looks again if the first read finds nothing.

#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring"))]
mod os {
    use std::fs::File;
    use std::io::{self, Seek, SeekFrom};
    use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::time::Instant;

    use io_uring::squeue::Entry;
    use io_uring::types::{Fd, SubmitArgs, Timespec};
    use io_uring::{IoUring, Probe, opcode};

    use super::{FirstRead, LAST_PATIENCE, Lost, PATIENCE, SLOTS};
    use crate::read::evidence::Noted;
    use crate::read::hot::Hot;
    use crate::run::pool::{LOOK, Pool};

    /// Whether the kernel's code says that a request was cancelled while it waited.
    fn was_cancelled(code: i32) -> bool {
        const ERESTARTSYS: i32 = 512;
        [libc::ECANCELED, libc::EINTR, ERESTARTSYS].contains(&-code)
    }

    pub(crate) struct Ring {
        ring: IoUring,
        /// The paths of a batch as C strings, one after the other.
        names: Vec<u8>,
        hot: Hot,
    }

    /// A file of a batch.
    enum Slot {
        /// It is open, and this many bytes are read.
        Reading(File, Option<Noted>, usize),
        /// It has a result; the file, if there is one, is to be closed.
        Done(FirstRead, Option<File>),
    }

    impl Slot {
        fn done(begun: FirstRead) -> Slot {
            Slot::Done(begun, None)
        }

        /// The file after a read into the rest of its chunk, which returned `code`.
        fn after_read(self, code: i32, chunk_nbytes: usize) -> Slot {
            let Slot::Reading(mut file, before, filled) = self else { return self };
            let stamp = before.map(|before| before.stamp);
            let nbytes = filled + code.max(0) as usize;
            let is_all = nbytes > 0 && stamp.is_some_and(|stamp| stamp.nbytes == nbytes as u64);
            // The file has filled its chunk, keeps the others waiting, or seems empty but is not a regular file.
            let goes_on =
                !is_all && nbytes == chunk_nbytes || was_cancelled(code) || code == 0 && nbytes == 0 && stamp.is_none();
            match code {
                // A regular file is read on at offsets, anything else at its position.
                _ if goes_on && before.is_some() => Slot::done(FirstRead::GoesOn(nbytes, file, before)),
                _ if goes_on => match file.seek(SeekFrom::Start(nbytes as u64)) {
                    Err(error) if error.raw_os_error() != Some(libc::ESPIPE) => {
                        Slot::done(FirstRead::NotRead(nbytes, error))
                    }
                    _ => Slot::done(FirstRead::GoesOn(nbytes, file, before)),
                },
                ..0 => Slot::done(FirstRead::NotRead(nbytes, io::Error::from_raw_os_error(-code))),
                _ if code == 0 || is_all => {
                    let judged = before.map(|before| (before, before.stamp.judge(&file, nbytes as u64)));
                    Slot::Done(FirstRead::Ended(nbytes, judged), Some(file))
                }
                _ => Slot::Reading(file, before, nbytes),
            }
        }
    }

    impl Ring {
        /// `None` if the kernel is older than 6.1, or does not let this process have a ring.
        pub(crate) fn new() -> Option<Ring> {
            let mut builder = IoUring::builder();
            builder.setup_single_issuer().setup_coop_taskrun().setup_defer_taskrun();
            let mut ring = builder.build(SLOTS as u32).ok()?;
            let mut probe = Probe::new();
            ring.submitter().register_probe(&mut probe).ok()?;
            let used = [opcode::OpenAt::CODE, opcode::Read::CODE, opcode::Close::CODE];
            if !used.into_iter().all(|code| probe.is_supported(code)) {
                return None;
            }
            // A filter of system calls may allow the calls above and forbid to use the ring.
            // SAFETY: the request points to nothing.
            unsafe { ring.submission().push(&opcode::Nop::new().build()) }.ok()?;
            ring.submit_and_wait(1).ok()?;
            let is_done = ring.completion().next().is_some();
            is_done.then_some(Ring { ring, names: Vec::new(), hot: Hot::default() })
        }

        /// Opens files, at most [`SLOTS`], and reads the beginning of each into its chunk. `notes`: whether it is noted
        /// of each file, before it is read, if a later change will show. If the ring is lost, the caller must drop it
        /// and must keep the memory of all chunks without using it: the kernel may still write there.
        pub(crate) fn begin(
            &mut self,
            paths: &[impl AsRef<Path>],
            chunks: &mut [&mut [u8]],
            notes: bool,
            pool: &Pool,
        ) -> Result<Vec<FirstRead>, Lost> {
            assert!(paths.len() == chunks.len() && paths.len() <= SLOTS);
            let mut names = std::mem::take(&mut self.names);
            let mut starts = [None; SLOTS];
            names.clear();
            for (slot, path) in paths.iter().enumerate() {
                let path = path.as_ref().as_os_str().as_bytes();
                // A path with a zero byte names no file.
                if !path.contains(&0) {
                    starts[slot] = Some(names.len());
                    names.extend_from_slice(path);
                    names.push(0);
                }
            }

            let opens = starts.iter().enumerate().filter_map(|(slot, &start)| {
                let open = opcode::OpenAt::new(Fd(libc::AT_FDCWD), names[start?..].as_ptr().cast());
                Some((slot, open.flags(libc::O_RDONLY | libc::O_CLOEXEC).build()))
            });
            // SAFETY: the names stay until all requests are done, or for ever.
            let results = match unsafe { self.complete(opens, pool) } {
                Ok(results) => results,
                Err(lost) => {
                    std::mem::forget(names);
                    return Err(lost);
                }
            };
            self.names = names;
            // Each of these descriptors becomes a file, which closes itself, before anything below can end early.
            let opened = results.into_iter().zip(starts).map(|(code, start)| match (start, code) {
                (Some(_), fd @ 0..) => {
                    // SAFETY: the descriptor is new, and nobody else has it.
                    let file = unsafe { File::from_raw_fd(fd) };
                    match Noted::before_reading(&file, notes) {
                        Ok(before) => Slot::Reading(file, before, 0),
                        Err(error) => Slot::done(FirstRead::NotRead(0, error)),
                    }
                }
                (Some(_), code) if was_cancelled(code) => Slot::done(FirstRead::Later),
                (Some(_), code) => Slot::done(FirstRead::NotOpened(io::Error::from_raw_os_error(-code))),
                (None, _) => {
                    let error = io::Error::new(io::ErrorKind::InvalidInput, "a zero byte in a path");
                    Slot::done(FirstRead::NotOpened(error))
                }
            });
            self.hot.begin_batch();
            let mut slots: Vec<Slot> = Vec::with_capacity(paths.len());
            for (slot, chunk) in opened.zip(chunks.iter_mut()) {
                let read = match &slot {
                    Slot::Reading(file, Some(before), _) => self.hot.read(file, &before.stamp, chunk),
                    _ => None,
                };
                slots.push(match read {
                    Some(nbytes) => slot.after_read(nbytes as i32, chunk.len()),
                    None => slot,
                });
            }

            let slots = self.read_chunks(slots, chunks, pool)?;

            let mut begun = Vec::with_capacity(slots.len());
            let mut files: [Option<File>; SLOTS] = [const { None }; SLOTS];
            for (slot, to_close) in slots.into_iter().zip(&mut files) {
                let Slot::Done(result, file) = slot else { continue };
                begun.push(result);
                *to_close = file;
            }
            let closes = files
                .into_iter()
                .enumerate()
                .filter_map(|(slot, file)| Some((slot, opcode::Close::new(Fd(file?.into_raw_fd())).build())));
            // SAFETY: the requests point to nothing.
            unsafe { self.complete(closes, pool) }?;
            Ok(begun)
        }

        /// Reads until each file is at its end, or its chunk is full. If the ring is lost, the caller keeps the memory
        /// of all chunks, as after [`begin`](Ring::begin).
        fn read_chunks(
            &mut self,
            mut slots: Vec<Slot>,
            chunks: &mut [&mut [u8]],
            pool: &Pool,
        ) -> Result<Vec<Slot>, Lost> {
            while slots.iter().any(|slot| matches!(slot, Slot::Reading(..))) {
                let mut reads: [Option<Entry>; SLOTS] = [const { None }; SLOTS];
                for ((slot, chunk), read) in slots.iter().zip(chunks.iter_mut()).zip(&mut reads) {
                    let Slot::Reading(file, _, filled) = slot else { continue };
                    let rest = &mut chunk[*filled..];
                    let nbytes = rest.len().min(1 << 30) as u32;
                    let entry = opcode::Read::new(Fd(file.as_raw_fd()), rest.as_mut_ptr(), nbytes);
                    // The read gives an offset and ignores the file's position: after a read past the pages, which a
                    // FUSE file system may ask for, Linux 6.18 leaves the position as it was. Pipes have no offsets,
                    // and the kernel ignores theirs.
                    *read = Some(entry.offset(*filled as u64).build());
                }
                let reads = reads.into_iter().enumerate().filter_map(|(slot, read)| Some((slot, read?)));
                // SAFETY: the chunks are different and ours alone. They stay until all requests are done; if the ring
                // is lost the caller keeps them.
                let results = unsafe { self.complete(reads, pool) }?;
                let after = slots.into_iter().zip(results).zip(chunks.iter());
                slots = after.map(|((slot, code), chunk)| slot.after_read(code, chunk.len())).collect();
            }
            Ok(slots)
        }

        /// Submits requests, each with the number of the slot for its result, and waits for all.
        ///
        /// # Safety
        /// The memory that the requests point to stays until this returns, and for ever if the ring is lost.
        unsafe fn complete(
            &mut self,
            requests: impl Iterator<Item = (usize, Entry)>,
            pool: &Pool,
        ) -> Result<[i32; SLOTS], Lost> {
            let mut results = [0; SLOTS];
            let mut submitted = [false; SLOTS];
            let mut nleft = 0;
            let mut has_cancelled = false;
            for (number, request) in requests {
                // SAFETY: the caller's. There is room: the ring was made for SLOTS requests, and is empty between
                // calls.
                if unsafe { self.ring.submission().push(&request.user_data(number as u64)) }.is_ok() {
                    nleft += 1;
                    submitted[number] = true;
                }
            }
            let look = Timespec::from(LOOK);
            let mut since = None;
            let mut is_pending: [bool; SLOTS] = submitted;
            while nleft > 0 {
                let waited = self.ring.submitter().submit_with_args(nleft, &SubmitArgs::new().timespec(&look));
                match waited.map_err(|error| error.raw_os_error()) {
                    Ok(_) | Err(Some(libc::EINTR | libc::ETIME)) => {}
                    // The system lacks something that others may give back.
                    Err(Some(libc::EAGAIN | libc::EBUSY)) => std::thread::sleep(LOOK),
                    // The kernel may still write to the requests' memory, and does not report when it has ended.
                    Err(code) => return Err(Lost(code.unwrap_or(libc::EIO))),
                }
                for completion in self.ring.completion() {
                    (nleft, since) = (nleft - 1, None);
                    // Results of cancellations have no slot.
                    if let Some(result) = results.get_mut(completion.user_data() as usize) {
                        *result = completion.result();
                        is_pending[completion.user_data() as usize] = false;
                    }
                }
                if nleft == 0 {
                    break;
                }
                let waited = since.get_or_insert_with(Instant::now).elapsed();
                // Nor can every request be cancelled: the thread that works on it may have no CPU.
                if waited >= PATIENCE + LAST_PATIENCE {
                    return Err(Lost(libc::ETIMEDOUT));
                }
                if !has_cancelled && (waited >= PATIENCE || pool.must_stop()) {
                    has_cancelled = true;
                    for slot in (0..SLOTS).filter(|&slot| is_pending[slot]) {
                        let cancel = opcode::AsyncCancel::new(slot as u64).build().user_data(u64::MAX);
                        // SAFETY: the requests point to nothing.
                        if unsafe { self.ring.submission().push(&cancel) }.is_ok() {
                            nleft += 1;
                        }
                    }
                }
            }
            Ok(results)
        }
    }
}

#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring")))]
mod os {
    use std::convert::Infallible;
    use std::path::Path;

    use super::{FirstRead, Lost};
    use crate::run::pool::Pool;

    /// This system has no rings.
    pub(crate) struct Ring(Infallible);

    impl Ring {
        pub(crate) fn new() -> Option<Ring> {
            None
        }

        pub(crate) fn begin(
            &mut self,
            _paths: &[impl AsRef<Path>],
            _chunks: &mut [&mut [u8]],
            _notes: bool,
            _pool: &Pool,
        ) -> Result<Vec<FirstRead>, Lost> {
            match self.0 {}
        }
    }
}

pub(crate) use os::Ring;

use crate::read::evidence::Noted;
use crate::read::stamp::Verdict;

/// How long a batch waits after the last request that was done: most disks take less for the next one. What takes
/// longer is read by plain calls, while the files that are done are handed out.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring"))]
const PATIENCE: std::time::Duration = std::time::Duration::from_millis(100);

/// How long it then waits for the cancelled requests. Later the ring is lost, and all is read by plain calls.
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring"))]
const LAST_PATIENCE: std::time::Duration = std::time::Duration::from_secs(10);

/// Largest number of files in a batch.
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring")),
    allow(dead_code, reason = "no other system has rings")
)]
pub(crate) const SLOTS: usize = crate::run::LANES;

/// The error of a ring whose requests the kernel no longer reports; it holds the system's code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lost(i32);

impl From<Lost> for std::io::Error {
    fn from(Lost(code): Lost) -> std::io::Error {
        std::io::Error::from_raw_os_error(code)
    }
}

/// The result of opening a file and reading its first chunk.
#[derive(Debug)]
#[cfg_attr(
    not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little", feature = "io-uring")),
    allow(dead_code, reason = "there are no rings")
)]
pub(crate) enum FirstRead {
    /// The whole file, of this many bytes; for a regular file its stamp and the verdict on the read.
    Ended(usize, Option<(Noted, Verdict)>),
    /// The first bytes, this many; there may be more. For a regular file, its stamp.
    GoesOn(usize, std::fs::File, Option<Noted>),
    /// Opening the file took too long.
    Later,
    NotOpened(std::io::Error),
    /// The read failed after this many bytes.
    NotRead(usize, std::io::Error),
}
