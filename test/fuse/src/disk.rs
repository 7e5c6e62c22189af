//! A file system as slow as a disk. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//! MOUNT shows FOLDER, read-only, as it was at the start. Two mounts are two devices. Models:
//!
//!     hdd     200 MB/s, one head, 8 ms for a third of the disk and 1 ms for the next track, 7200 turns a minute;
//!             waiting requests are served in the order of their places, upwards, and those of half a second ago
//!             first; the drive reads up to 8 MiB ahead while it is idle
//!     sata    550 MB/s, 0.1 ms, 32 requests at once
//!     nvme    7 GB/s, 80 us, 32 requests at once
//!     nfs     1 GB/s, 1 ms, 128 requests at once; look-ups, opens and the like take 1 ms too
//!     none    no device: what the file system itself can do
//!
//! --slower divides the rates and multiplies the times: a machine too slow for a model gets one that it can keep up
//! with. --readahead is the kernel's (default: 128, as for a disk), which only root can set. The disk is as long as its
//! content. Except with nfs, names and attributes cost nothing, as if they were in memory.
//!
//! FOLDER should be in the page cache, or its own disk is added. The kernel caches pages of the mount as of any file
//! system. No listing shows two files: reading MOUNT/.drop drops these pages, forgets the requests and moves the head
//! to the beginning; MOUNT/.log has the requests since then.
//!
//! A file's number is that of its node plus 2, so that inodes have the order of places. Opening asks nothing of the
//! file system (ENOSYS once), unless a call costs something.

mod folder;
pub mod model;
mod queue;

use crate::Arguments;
use folder::{Folder, Node};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request,
};
use model::Model;
use queue::{Place, Queue};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{Error, Result};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

/// For ever: the folder does not change.
const ALWAYS: Duration = Duration::from_secs(1 << 30);
/// Reading the first tells the requests; reading the second drops the pages.
const LOG: &str = ".log";
const LOG_INO: INodeNo = INodeNo(u64::MAX - 1);
const DROP: &str = ".drop";
const DROP_INO: INodeNo = INodeNo(u64::MAX - 2);
const DROPPED: &[u8] = b"dropped\n";
/// The root is 1, whatever its node is.
const FIRST_INO: u64 = 2;

struct Disk {
    folder: Arc<Folder>,
    model: Model,
    queue: Arc<Queue>,
    mount: PathBuf,
    /// No call costs anything while the pages are dropped.
    is_dropping: AtomicBool,
    /// The content of the log. A call for its attributes renews it.
    report: Mutex<Arc<Vec<u8>>>,
}

pub fn serve(arguments: &Arguments, model: Model) -> Result<()> {
    let folder = Folder::new(&arguments.folder)?;
    queue::be_precise();
    let filesystem = Disk::new(folder, model, &arguments.mount.canonicalize()?);
    // Answers come from the queue's threads; these only take requests.
    let mounted = |mount: &Path| set_readahead(mount, arguments.readahead_kib);
    crate::serve(arguments, filesystem, 4, &[MountOption::RO], mounted, || ())
}

/// The kernel gives a FUSE file system no more than it gives a disk by default.
fn set_readahead(mount: &Path, kib: u64) -> Result<()> {
    let device = mount.metadata()?.dev();
    let place = format!("/sys/class/bdi/{}:{}/read_ahead_kb", libc::major(device), libc::minor(device));
    std::fs::write(&place, kib.to_string()).map_err(|error| Error::new(error.kind(), format!("{place}: {error}")))
}

impl Disk {
    fn new(folder: Folder, model: Model, mount: &Path) -> Disk {
        let queue = Queue::new(model, folder.nbytes);
        Disk {
            folder: Arc::new(folder),
            model,
            queue,
            mount: mount.to_owned(),
            is_dropping: AtomicBool::new(false),
            report: Mutex::default(),
        }
    }

    fn number(&self, ino: INodeNo) -> usize {
        if ino == INodeNo::ROOT { self.folder.root } else { (ino.0 - FIRST_INO) as usize }
    }

    fn ino(&self, number: usize) -> INodeNo {
        if number == self.folder.root { INodeNo::ROOT } else { INodeNo(number as u64 + FIRST_INO) }
    }

    fn attributes(&self, number: usize) -> FileAttr {
        crate::attributes(self.ino(number), &self.folder.nodes[number].metadata)
    }

    /// Answers after the time of a call.
    fn call(&self, answer: impl FnOnce() + Send + 'static) {
        if self.is_dropping.load(Ordering::Relaxed) { answer() } else { self.queue.add(None, answer) }
    }

    /// The attributes of the log or of the file that drops the pages, if it is one of them.
    fn control(&self, ino: INodeNo) -> Option<FileAttr> {
        let size = match ino {
            LOG_INO => {
                let report = Arc::new(self.tell().into_bytes());
                *self.report.lock().expect("no thread panics while it holds the report") = report.clone();
                report.len()
            }
            DROP_INO => DROPPED.len(),
            _ => return None,
        };
        // Another time each time, so that the kernel drops its pages.
        Some(FileAttr { mtime: SystemTime::now(), ..crate::control(ino, size as u64, 0o444) })
    }

    /// The requests since the last drop, and the files that they are for.
    fn tell(&self) -> String {
        let served = self.queue.served();
        let mut files: Vec<usize> = served.iter().map(|served| served.place.file).collect();
        files.sort_unstable();
        files.dedup();
        let mut text = format!("model {} {}\n", self.model.name, self.folder.nbytes);
        let late = self.queue.late();
        if let Some(most) = late.last() {
            let _ = writeln!(text, "late {} {} {most}", late[late.len() / 2], late[late.len() * 99 / 100]);
        }
        for number in files {
            let node = &self.folder.nodes[number];
            let _ = writeln!(text, "file {} {} {}", node.start, node.metadata.len(), node.path.display());
        }
        for served in served {
            let (place, times) = (served.place, served.times);
            let _ = writeln!(
                text,
                "read {} {} {} {} {} {}",
                served.arrived,
                times.started,
                times.done,
                place.position,
                place.nbytes,
                u8::from(times.moved)
            );
        }
        text
    }

    /// Drops the pages of all files from the page cache.
    fn drop_pages(&self) {
        self.is_dropping.store(true, Ordering::Relaxed);
        for node in self.folder.nodes.iter().filter(|node| kind(node) == FileType::RegularFile) {
            // A file that cannot be opened has no pages.
            if let Ok(file) = File::open(self.mount.join(&node.path)) {
                // SAFETY: the call takes numbers only.
                unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
            }
        }
        self.is_dropping.store(false, Ordering::Relaxed);
    }
}

fn kind(node: &Node) -> FileType {
    FileType::from_std(node.metadata.file_type()).unwrap_or(FileType::NamedPipe)
}

impl Filesystem for Disk {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // The second makes the kernel drop pages of the log when its time of modification changes.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_AUTO_INVAL_DATA);
        let _ = config.set_max_background(1024);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let control = if name == LOG { LOG_INO } else { DROP_INO };
        if parent == INodeNo::ROOT && (name == LOG || name == DROP) {
            let attributes = self.control(control).expect("is a control");
            return reply.entry(&Duration::ZERO, &attributes, Generation(0));
        }
        match self.folder.find(self.number(parent), name) {
            Some(number) => {
                let attributes = self.attributes(number);
                self.call(move || reply.entry(&ALWAYS, &attributes, Generation(0)));
            }
            None => self.call(move || reply.error(Errno::from_i32(libc::ENOENT))),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        if let Some(attributes) = self.control(ino) {
            return reply.attr(&Duration::ZERO, &attributes);
        }
        let attributes = self.attributes(self.number(ino));
        self.call(move || reply.attr(&ALWAYS, &attributes));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.folder.nodes[self.number(ino)].target.clone();
        self.call(move || reply.data(target.as_os_str().as_bytes()));
    }

    fn open(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if self.model.call == 0 {
            return reply.error(Errno::from_i32(libc::ENOSYS));
        }
        let opened = move || reply.opened(FileHandle(0), FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_NOFLUSH);
        if ino == LOG_INO || ino == DROP_INO { opened() } else { self.call(opened) }
    }

    fn opendir(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if self.model.call == 0 {
            return reply.error(Errno::from_i32(libc::ENOSYS));
        }
        let flags = FopenFlags::FOPEN_KEEP_CACHE | FopenFlags::FOPEN_CACHE_DIR;
        self.call(move || reply.opened(FileHandle(0), flags));
    }

    fn readdir(&self, _: &Request, ino: INodeNo, _: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let number = self.number(ino);
        let entries = &self.folder.nodes[number].entries;
        let dots = [(OsStr::new("."), number), (OsStr::new(".."), number)];
        let entries = entries.iter().map(|(name, number)| (name.as_os_str(), *number));
        for (index, (name, number)) in dots.into_iter().chain(entries).enumerate().skip(offset as usize) {
            if reply.add(self.ino(number), index as u64 + 1, kind(&self.folder.nodes[number]), name) {
                break;
            }
        }
        self.call(move || reply.ok());
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<fuser::LockOwner>,
        reply: ReplyData,
    ) {
        let rest = |content: &[u8]| {
            let rest = content.get(offset as usize..).unwrap_or_default();
            rest[..rest.len().min(size as usize)].to_vec()
        };
        if ino == LOG_INO {
            let report = self.report.lock().expect("no thread panics while it holds the report").clone();
            return reply.data(&rest(&report));
        }
        if ino == DROP_INO {
            self.drop_pages();
            self.queue.reset();
            return reply.data(&rest(DROPPED));
        }
        let number = self.number(ino);
        let nbytes = self.folder.bytes(number, offset, u64::from(size)).len() as u64;
        // The kernel asks whole pages, the last of which may be beyond the end of the file.
        if nbytes == 0 {
            return reply.data(&[]);
        }
        let place = Place { file: number, position: self.folder.nodes[number].start + offset, nbytes };
        let folder = self.folder.clone();
        self.queue.add(Some(place), move || reply.data(folder.bytes(number, offset, nbytes)));
    }

    fn release(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<fuser::LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        reply.ok();
    }
}
