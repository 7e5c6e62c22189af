//! The folder as a file system. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//! A file's number is that of its node plus 2, so that inodes have the order of places. Opening asks nothing of the
//! file system (ENOSYS once), unless a call costs something.

use crate::folder::{Folder, Node};
use crate::queue::{Place, Queue};
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    OpenFlags, ReplyAttr, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, Request,
};
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

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

pub struct Model {
    folder: Arc<Folder>,
    model: crate::model::Model,
    queue: Arc<Queue>,
    mount: PathBuf,
    /// No call costs anything while the pages are dropped.
    is_dropping: AtomicBool,
    /// The content of the log. A call for its attributes renews it.
    report: Mutex<Arc<Vec<u8>>>,
}

impl Model {
    pub fn new(folder: Folder, model: crate::model::Model, mount: &Path) -> Model {
        let queue = Queue::new(model, folder.nbytes);
        Model {
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
        let node = &self.folder.nodes[number];
        let metadata = &node.metadata;
        let time = |time: std::io::Result<SystemTime>| time.unwrap_or(UNIX_EPOCH);
        FileAttr {
            ino: self.ino(number),
            size: metadata.len(),
            blocks: metadata.blocks(),
            atime: time(metadata.accessed()),
            mtime: time(metadata.modified()),
            ctime: UNIX_EPOCH + Duration::from_secs(metadata.ctime().unsigned_abs()),
            crtime: UNIX_EPOCH,
            kind: kind(node),
            perm: (metadata.mode() & 0o7777) as u16,
            nlink: metadata.nlink() as u32,
            uid: metadata.uid(),
            gid: metadata.gid(),
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
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
        Some(FileAttr {
            ino,
            size: size as u64,
            blocks: 0,
            atime: UNIX_EPOCH,
            // Another time each time, so that the kernel drops its pages.
            mtime: SystemTime::now(),
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind: FileType::RegularFile,
            perm: 0o444,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
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

impl Filesystem for Model {
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
