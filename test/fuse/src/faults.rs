//! A file system that fails on command. SPDX-License-Identifier: MIT OR Apache-2.0
//!
//! The kernel may keep pages, but no names or attributes: the next call sees any change of FOLDER.
//!
//! Rules are lines written to MOUNT/.faults, which no listing shows:
//!
//!     OPERATION GLOB [nth=N|N-|N-M] [at=FIRST-LAST] FAULT...
//!
//! OPERATION is any, or one of lookup getattr setattr readlink mkdir unlink rmdir symlink rename link open create read
//! write flush fsync release opendir readdir fsyncdir times. GLOB must match the whole path below MOUNT (empty for the
//! folder itself), for `rename` and `link` one of both paths; * is any number of bytes, ? is one. `nth` counts the
//! calls that match, from 1. `at` selects reads and writes that touch one of these bytes. FAULT:
//!
//!     error=EIO         the call fails and does nothing
//!     hang              the call waits for the line `release`; after that no call hangs by this rule
//!     delay=MS          the call waits for MS milliseconds
//!     short=N           read: at most N bytes, as if the file ended there; write: takes at most N bytes
//!     zeros             read: zeros instead of the bytes of the file
//!     room=N            write: ENOSPC as soon as N bytes are written
//!     direct            open, create: without the page cache, so that a program sees each answer unchanged
//!     truncate=N        before the call, the file is cut to N bytes
//!     flip=N            before the call, byte N of the file is changed
//!     append=N          before the call, N bytes are added to the file
//!     keep              with truncate, flip or append: the modification time is restored
//!     ctime             times: the time of change equals that of modification, as on sshfs
//!     frozen            times: all are the beginning of 2020, always
//!     coarse            times: in steps of 2 seconds, as on FAT
//!
//! The operation `times` is not a call: its rules hold whenever times are reported. Two lines are not rules: `release`
//! lets hanging calls continue; `clear` does the same and removes all rules. Reading MOUNT/.faults gives a line for
//! each rule: the number of calls that it changed, a blank, the rule.
//!
//! A node is a descriptor (O_PATH) of the file: it stays the same file under another name, and without a name. Its
//! number is the file's inode, so FOLDER must be on one file system. Its path is the target of the descriptor's link in
//! /proc.

mod rules;

use crate::Arguments;
use fuser::{
    Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo, InitFlags, KernelConfig,
    OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen,
    ReplyWrite, Request, TimeOrNow, WriteFlags,
};
use rules::{Change, Faults, Rules, Times};
use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirEntryExt, FileExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Zero, so that the kernel asks again each time.
const NO_TIME: Duration = Duration::ZERO;
const CONTROL: &str = ".faults";
const CONTROL_INO: INodeNo = INodeNo(u64::MAX - 1);
/// The beginning of 2020.
const FROZEN: Duration = Duration::from_secs(1_577_836_800);

struct Node {
    file: Arc<File>,
    /// The number of look-ups that the kernel has not forgotten yet.
    nlookups: u64,
}

#[derive(Default)]
struct Tables {
    nodes: HashMap<u64, Node>,
    files: HashMap<u64, Arc<File>>,
    /// The entries of a folder at the time it was opened: number, kind and name of each.
    listings: HashMap<u64, Arc<Vec<Listed>>>,
    next_handle: u64,
}

type Listed = (INodeNo, FileType, std::ffi::OsString);

/// The file system.
struct Passthrough {
    root: PathBuf,
    rules: Arc<Rules>,
    tables: Mutex<Tables>,
}

type Result<T> = std::result::Result<T, Errno>;

pub fn serve(arguments: &Arguments) -> std::io::Result<()> {
    let rules = Arc::new(Rules::default());
    let filesystem = Passthrough::new(&arguments.folder, rules.clone())?;
    // Each hanging call keeps a thread. The number exceeds the files that a program has in flight.
    crate::serve(arguments, filesystem, 64, &[], |_| Ok(()), move || rules.clear())
}

/// Turns the return value of a libc call into a result.
fn done(status: libc::c_int) -> Result<libc::c_int> {
    if status < 0 { Err(std::io::Error::last_os_error().into()) } else { Ok(status) }
}

fn c_string(name: &OsStr) -> Result<CString> {
    CString::new(name.as_bytes()).map_err(|_| Errno::from_i32(libc::EINVAL))
}

/// A path to the file of a descriptor, whatever its name is.
fn proc_path(file: &File) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

fn open_path(folder: Option<&File>, name: &OsStr) -> Result<File> {
    let folder = folder.map_or(libc::AT_FDCWD, |folder| folder.as_raw_fd());
    let name = c_string(name)?;
    // SAFETY: the name is a C string that outlives the call, and nothing else owns the new descriptor.
    unsafe {
        let flags = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
        Ok(File::from_raw_fd(done(libc::openat(folder, name.as_ptr(), flags))?))
    }
}

impl Passthrough {
    fn new(folder: &Path, rules: Arc<Rules>) -> std::io::Result<Passthrough> {
        let root = folder.canonicalize()?;
        let file = OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(&root)?;
        let mut tables = Tables::default();
        tables.nodes.insert(INodeNo::ROOT.0, Node { file: Arc::new(file), nlookups: 1 });
        Ok(Passthrough { root, rules, tables: Mutex::new(tables) })
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock().expect("no thread panics while it holds the tables")
    }

    fn node(&self, ino: INodeNo) -> Result<Arc<File>> {
        Ok(self.tables().nodes.get(&ino.0).ok_or(Errno::from_i32(libc::ESTALE))?.file.clone())
    }

    fn opened(&self, handle: FileHandle) -> Result<Arc<File>> {
        Ok(self.tables().files.get(&handle.0).ok_or(Errno::from_i32(libc::EBADF))?.clone())
    }

    fn keep_open(&self, file: File) -> FileHandle {
        let mut tables = self.tables();
        tables.next_handle += 1;
        let handle = tables.next_handle;
        tables.files.insert(handle, Arc::new(file));
        FileHandle(handle)
    }

    /// The path below the root, without a slash before it.
    fn path(&self, node: &File) -> Vec<u8> {
        let path = std::fs::read_link(proc_path(node)).unwrap_or_default();
        let path = path.strip_prefix(&self.root).map_or_else(|_| path.clone(), Path::to_path_buf);
        let path = path.into_os_string().into_vec();
        path.strip_suffix(b" (deleted)").map_or(path.clone(), <[u8]>::to_vec)
    }

    fn path_of(&self, folder: &File, name: &OsStr) -> Vec<u8> {
        let mut path = self.path(folder);
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend(name.as_bytes());
        path
    }

    fn judge(&self, operation: &str, paths: &[&[u8]], bytes: Option<(u64, u64)>) -> Result<Faults> {
        self.rules.judge(operation, paths, bytes).map_err(Errno::from_i32)
    }

    /// Applies the rules to a call on a file, and changes the file if a rule says so.
    fn judge_node(&self, operation: &str, node: &File, bytes: Option<(u64, u64)>) -> Result<Faults> {
        let faults = self.judge(operation, &[&self.path(node)], bytes)?;
        if !faults.changes.is_empty() {
            change(node, &faults)?;
        }
        Ok(faults)
    }

    fn judge_name(&self, operation: &str, folder: INodeNo, name: &OsStr) -> Result<Arc<File>> {
        let folder = self.node(folder)?;
        self.judge(operation, &[&self.path_of(&folder, name)], None)?;
        Ok(folder)
    }

    /// The reported attributes of a file, with times as the rules of `times` say.
    fn told(&self, node: &File) -> Result<FileAttr> {
        let metadata = node.metadata()?;
        let mut told = crate::attributes(self.number(metadata.ino()), &metadata);
        let times = [&mut told.atime, &mut told.mtime, &mut told.ctime];
        match self.rules.judge("times", &[&self.path(node)], None).map_or(None, |faults| faults.times) {
            None => {}
            Some(Times::CtimeIsMtime) => told.ctime = told.mtime,
            Some(Times::Frozen) => times.into_iter().for_each(|time| *time = UNIX_EPOCH + FROZEN),
            Some(Times::Coarse) => times.into_iter().for_each(|time| {
                let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
                *time = UNIX_EPOCH + Duration::from_secs(seconds / 2 * 2);
            }),
        }
        Ok(told)
    }

    /// The number of a file: its inode, except for the root.
    fn number(&self, ino: u64) -> INodeNo {
        let root = self.tables().nodes[&INodeNo::ROOT.0].file.metadata().map_or(0, |root| root.ino());
        if ino == root { INodeNo::ROOT } else { INodeNo(ino) }
    }

    /// Looks a name up, and notes that the kernel knows the node now.
    fn found(&self, folder: &File, name: &OsStr) -> Result<FileAttr> {
        let file = Arc::new(open_path(Some(folder), name)?);
        let told = self.told(&file)?;
        let mut tables = self.tables();
        let node = tables.nodes.entry(told.ino.0).or_insert(Node { file, nlookups: 0 });
        node.nlookups += 1;
        Ok(told)
    }

    fn read_bytes(&self, ino: INodeNo, handle: FileHandle, offset: u64, size: u32) -> Result<Vec<u8>> {
        let file = self.opened(handle)?;
        let faults = self.judge_node("read", &*self.node(ino)?, Some((offset, u64::from(size))))?;
        let mut bytes = vec![0; (size as usize).min(faults.short.unwrap_or(usize::MAX))];
        let mut nread = 0;
        while nread < bytes.len() {
            match file.read_at(&mut bytes[nread..], offset + nread as u64)? {
                0 => break,
                more => nread += more,
            }
        }
        bytes.truncate(nread);
        if faults.zeros {
            bytes.fill(0);
        }
        Ok(bytes)
    }

    fn write_bytes(&self, ino: INodeNo, handle: FileHandle, offset: u64, data: &[u8]) -> Result<u32> {
        let file = self.opened(handle)?;
        let faults = self.judge_node("write", &*self.node(ino)?, Some((offset, data.len() as u64)))?;
        let data = &data[..data.len().min(faults.short.unwrap_or(usize::MAX))];
        file.write_all_at(data, offset)?;
        Ok(data.len() as u32)
    }

    fn open_file(&self, ino: INodeNo, flags: OpenFlags) -> Result<(FileHandle, FopenFlags)> {
        let node = self.node(ino)?;
        let faults = self.judge_node("open", &node, None)?;
        Ok((self.keep_open(open_again(&node, flags.0)?), caching(&faults)))
    }

    fn create_file(
        &self,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        flags: i32,
    ) -> Result<(FileAttr, FileHandle, FopenFlags)> {
        let folder = self.node(parent)?;
        let faults = self.judge("create", &[&self.path_of(&folder, name)], None)?;
        let flags = (flags | libc::O_CREAT | libc::O_CLOEXEC) & !libc::O_APPEND;
        let c_name = c_string(name)?;
        // SAFETY: as in `open_path`.
        let file = unsafe { File::from_raw_fd(done(libc::openat(folder.as_raw_fd(), c_name.as_ptr(), flags, mode))?) };
        let told = self.found(&folder, name)?;
        Ok((told, self.keep_open(file), caching(&faults)))
    }

    fn set(
        &self,
        ino: INodeNo,
        mode: Option<u32>,
        owner: (Option<u32>, Option<u32>),
        size: Option<u64>,
        times: [Option<TimeOrNow>; 2],
        handle: Option<FileHandle>,
    ) -> Result<FileAttr> {
        let node = self.node(ino)?;
        self.judge_node("setattr", &node, None)?;
        if let Some(mode) = mode {
            std::fs::set_permissions(proc_path(&node), std::fs::Permissions::from_mode(mode))?;
        }
        if owner != (None, None) {
            let [uid, gid] = [owner.0, owner.1].map(|id| id.unwrap_or(u32::MAX));
            // SAFETY: the string outlives the call.
            done(unsafe { libc::fchownat(node.as_raw_fd(), c"".as_ptr(), uid, gid, libc::AT_EMPTY_PATH) })?;
        }
        if let Some(size) = size {
            match handle {
                Some(handle) => self.opened(handle)?.set_len(size)?,
                None => OpenOptions::new().write(true).open(proc_path(&node))?.set_len(size)?,
            }
        }
        if times.iter().any(Option::is_some) {
            set_times(&node, times)?;
        }
        self.told(&node)
    }

    /// The entries of a folder, with `.` and `..`.
    fn list(&self, ino: INodeNo) -> Result<Vec<Listed>> {
        let node = self.node(ino)?;
        self.judge_node("opendir", &node, None)?;
        let mut listed = vec![(ino, FileType::Directory, ".".into()), (ino, FileType::Directory, "..".into())];
        for entry in std::fs::read_dir(proc_path(&node))? {
            let entry = entry?;
            if let Some(kind) = FileType::from_std(entry.file_type()?) {
                listed.push((self.number(entry.ino()), kind, entry.file_name()));
            }
        }
        Ok(listed)
    }

    fn rename_entry(&self, from: (INodeNo, &OsStr), to: (INodeNo, &OsStr), flags: RenameFlags) -> Result<()> {
        let (folder, new_folder) = (self.node(from.0)?, self.node(to.0)?);
        let paths = [self.path_of(&folder, from.1), self.path_of(&new_folder, to.1)];
        self.judge("rename", &[&paths[0], &paths[1]], None)?;
        let (name, new_name) = (c_string(from.1)?, c_string(to.1)?);
        let (folder, new_folder) = (folder.as_raw_fd(), new_folder.as_raw_fd());
        // SAFETY: the strings outlive the call.
        done(unsafe { libc::renameat2(folder, name.as_ptr(), new_folder, new_name.as_ptr(), flags.bits()) })?;
        Ok(())
    }

    fn remove(&self, operation: &str, parent: INodeNo, name: &OsStr, flags: libc::c_int) -> Result<()> {
        let folder = self.judge_name(operation, parent, name)?;
        let name = c_string(name)?;
        // SAFETY: the string outlives the call.
        done(unsafe { libc::unlinkat(folder.as_raw_fd(), name.as_ptr(), flags) })?;
        Ok(())
    }

    /// Makes an entry by a libc call and looks it up.
    fn make(
        &self,
        operation: &str,
        parent: INodeNo,
        name: &OsStr,
        call: impl FnOnce(RawFd, &CString) -> libc::c_int,
    ) -> Result<FileAttr> {
        let folder = self.judge_name(operation, parent, name)?;
        done(call(folder.as_raw_fd(), &c_string(name)?))?;
        self.found(&folder, name)
    }
}

/// The attributes of the file that rules are written to. Its length is more than the content, so that no reader stops
/// early.
fn control() -> FileAttr {
    crate::control(CONTROL_INO, 1 << 20, 0o666)
}

fn caching(faults: &Faults) -> FopenFlags {
    if faults.direct { FopenFlags::FOPEN_DIRECT_IO } else { FopenFlags::empty() }
}

/// Opens the file of a node again. O_APPEND is left out, as the kernel gives the offset of each write.
fn open_again(node: &File, flags: libc::c_int) -> Result<File> {
    let path = CString::new(format!("/proc/self/fd/{}", node.as_raw_fd())).expect("has no zero byte");
    let flags = (flags | libc::O_CLOEXEC) & !(libc::O_NOFOLLOW | libc::O_APPEND | libc::O_DIRECT);
    // SAFETY: the string outlives the call, and nothing else owns the new descriptor.
    unsafe { Ok(File::from_raw_fd(done(libc::open(path.as_ptr(), flags))?)) }
}

/// Changes the file as a rule says, unseen by its readers.
fn change(node: &File, faults: &Faults) -> Result<()> {
    let file = OpenOptions::new().read(true).write(true).open(proc_path(node))?;
    let metadata = file.metadata()?;
    for change in &faults.changes {
        match *change {
            Change::Truncate(length) => file.set_len(length)?,
            Change::Flip(offset) => {
                let mut byte = [0];
                file.read_exact_at(&mut byte, offset)?;
                file.write_all_at(&[!byte[0]], offset)?;
            }
            Change::Append(length) => file.write_all_at(&vec![b'+'; length as usize], metadata.len())?,
        }
    }
    if faults.keep {
        file.set_modified(metadata.modified()?)?;
    }
    Ok(())
}

fn set_times(node: &File, times: [Option<TimeOrNow>; 2]) -> Result<()> {
    let times = times.map(|time| match time {
        None => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_OMIT },
        Some(TimeOrNow::Now) => libc::timespec { tv_sec: 0, tv_nsec: libc::UTIME_NOW },
        Some(TimeOrNow::SpecificTime(time)) => {
            let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
            libc::timespec { tv_sec: since.as_secs() as i64, tv_nsec: i64::from(since.subsec_nanos()) }
        }
    });
    // SAFETY: the string and the array outlive the call.
    done(unsafe { libc::utimensat(node.as_raw_fd(), c"".as_ptr(), times.as_ptr(), libc::AT_EMPTY_PATH) })?;
    Ok(())
}

/// Replies with a function's result, or with its error.
macro_rules! answer {
    ($reply:ident, $result:expr, $found:pat => $with:expr) => {
        match $result {
            Ok($found) => $with,
            Err(error) => $reply.error(error),
        }
    };
}

impl Filesystem for Passthrough {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> std::io::Result<()> {
        // The flags of libfuse. If the first is missing, Linux 6.18 reports an asynchronous read without the page cache
        // (io_uring) as complete. The second makes the kernel drop a file's pages when its length or time of
        // modification changes.
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO | InitFlags::FUSE_AUTO_INVAL_DATA);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if parent == INodeNo::ROOT && name == CONTROL {
            return reply.entry(&NO_TIME, &control(), Generation(0));
        }
        let found = self.judge_name("lookup", parent, name).and_then(|folder| self.found(&folder, name));
        answer!(reply, found, told => reply.entry(&NO_TIME, &told, Generation(0)));
    }

    fn forget(&self, _: &Request, ino: INodeNo, nlookups: u64) {
        let mut tables = self.tables();
        let Some(node) = tables.nodes.get_mut(&ino.0) else { return };
        node.nlookups = node.nlookups.saturating_sub(nlookups);
        if node.nlookups == 0 && ino != INodeNo::ROOT {
            tables.nodes.remove(&ino.0);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        if ino == CONTROL_INO {
            return reply.attr(&NO_TIME, &control());
        }
        let told = self.node(ino).and_then(|node| {
            self.judge_node("getattr", &node, None)?;
            self.told(&node)
        });
        answer!(reply, told, told => reply.attr(&NO_TIME, &told));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        atime: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        // A program that writes the control file truncates it first: nothing to do.
        if ino == CONTROL_INO {
            return reply.attr(&NO_TIME, &control());
        }
        let set = self.set(ino, mode, (uid, gid), size, [atime, mtime], handle);
        answer!(reply, set, told => reply.attr(&NO_TIME, &told));
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        let target = self.node(ino).and_then(|node| {
            self.judge_node("readlink", &node, None)?;
            let mut target = vec![0; libc::PATH_MAX as usize];
            let (start, length) = (target.as_mut_ptr().cast(), target.len());
            // SAFETY: an empty path means the descriptor itself, and the vector has the given length.
            let nbytes = unsafe { libc::readlinkat(node.as_raw_fd(), c"".as_ptr(), start, length) };
            target.truncate(done(nbytes as libc::c_int)? as usize);
            Ok(target)
        });
        answer!(reply, target, target => reply.data(&target));
    }

    fn mkdir(&self, _: &Request, parent: INodeNo, name: &OsStr, mode: u32, _umask: u32, reply: ReplyEntry) {
        // SAFETY: the string outlives the call.
        let made =
            self.make("mkdir", parent, name, |folder, name| unsafe { libc::mkdirat(folder, name.as_ptr(), mode) });
        answer!(reply, made, told => reply.entry(&NO_TIME, &told, Generation(0)));
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer!(reply, self.remove("unlink", parent, name, 0), () => reply.ok());
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        answer!(reply, self.remove("rmdir", parent, name, libc::AT_REMOVEDIR), () => reply.ok());
    }

    fn symlink(&self, _: &Request, parent: INodeNo, name: &OsStr, target: &Path, reply: ReplyEntry) {
        let made = c_string(target.as_os_str()).and_then(|target| {
            // SAFETY: both strings outlive the call.
            let call = |folder, name: &CString| unsafe { libc::symlinkat(target.as_ptr(), folder, name.as_ptr()) };
            self.make("symlink", parent, name, call)
        });
        answer!(reply, made, told => reply.entry(&NO_TIME, &told, Generation(0)));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        answer!(reply, self.rename_entry((parent, name), (new_parent, new_name), flags), () => reply.ok());
    }

    fn link(&self, _: &Request, ino: INodeNo, new_parent: INodeNo, new_name: &OsStr, reply: ReplyEntry) {
        let made = self.node(ino).and_then(|node| {
            let path = c_string(proc_path(&node).as_os_str())?;
            self.make("link", new_parent, new_name, |folder, name| {
                // SAFETY: both strings outlive the call.
                unsafe { libc::linkat(libc::AT_FDCWD, path.as_ptr(), folder, name.as_ptr(), libc::AT_SYMLINK_FOLLOW) }
            })
        });
        answer!(reply, made, told => reply.entry(&NO_TIME, &told, Generation(0)));
    }

    fn open(&self, _: &Request, ino: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        if ino == CONTROL_INO {
            return reply.opened(FileHandle(0), FopenFlags::FOPEN_DIRECT_IO);
        }
        answer!(reply, self.open_file(ino, flags), (handle, how) => reply.opened(handle, how));
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let created = self.create_file(parent, name, mode, flags);
        answer!(reply, created, (told, handle, how) => reply.created(&NO_TIME, &told, Generation(0), handle, how));
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        size: u32,
        _flags: OpenFlags,
        _lock_owner: Option<fuser::LockOwner>,
        reply: ReplyData,
    ) {
        if ino == CONTROL_INO {
            let report = self.rules.report().into_bytes();
            let rest = report.get(offset as usize..).unwrap_or_default();
            return reply.data(&rest[..rest.len().min(size as usize)]);
        }
        answer!(reply, self.read_bytes(ino, handle, offset, size), bytes => reply.data(&bytes));
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        offset: u64,
        data: &[u8],
        _write_flags: WriteFlags,
        _flags: OpenFlags,
        _lock_owner: Option<fuser::LockOwner>,
        reply: ReplyWrite,
    ) {
        if ino == CONTROL_INO {
            return match self.rules.tell(&String::from_utf8_lossy(data)) {
                Ok(()) => reply.written(data.len() as u32),
                Err(error) => {
                    eprintln!("hashloom-fuse: {error}");
                    reply.error(Errno::from_i32(libc::EINVAL));
                }
            };
        }
        answer!(reply, self.write_bytes(ino, handle, offset, data), nbytes => reply.written(nbytes));
    }

    fn flush(&self, _: &Request, ino: INodeNo, _: FileHandle, _: fuser::LockOwner, reply: ReplyEmpty) {
        if ino == CONTROL_INO {
            return reply.ok();
        }
        let flushed = self.node(ino).and_then(|node| self.judge_node("flush", &node, None));
        answer!(reply, flushed, _ => reply.ok());
    }

    fn release(
        &self,
        _: &Request,
        ino: INodeNo,
        handle: FileHandle,
        _flags: OpenFlags,
        _lock_owner: Option<fuser::LockOwner>,
        _flush: bool,
        reply: ReplyEmpty,
    ) {
        if ino == CONTROL_INO {
            return reply.ok();
        }
        let released = self.node(ino).and_then(|node| self.judge_node("release", &node, None));
        self.tables().files.remove(&handle.0);
        answer!(reply, released, _ => reply.ok());
    }

    fn fsync(&self, _: &Request, ino: INodeNo, handle: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let synced = self.node(ino).and_then(|node| {
            self.judge_node("fsync", &node, None)?;
            Ok(self.opened(handle)?.sync_all()?)
        });
        answer!(reply, synced, () => reply.ok());
    }

    fn opendir(&self, _: &Request, ino: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        let listed = self.list(ino).map(|listed| {
            let mut tables = self.tables();
            tables.next_handle += 1;
            let handle = tables.next_handle;
            tables.listings.insert(handle, Arc::new(listed));
            FileHandle(handle)
        });
        answer!(reply, listed, handle => reply.opened(handle, FopenFlags::empty()));
    }

    fn readdir(&self, _: &Request, ino: INodeNo, handle: FileHandle, offset: u64, mut reply: ReplyDirectory) {
        let listed = self.node(ino).and_then(|node| {
            self.judge_node("readdir", &node, None)?;
            Ok(self.tables().listings.get(&handle.0).ok_or(Errno::from_i32(libc::EBADF))?.clone())
        });
        answer!(reply, listed, listed => {
            for (index, (ino, kind, name)) in listed.iter().enumerate().skip(offset as usize) {
                if reply.add(*ino, index as u64 + 1, *kind, name) {
                    break;
                }
            }
            reply.ok();
        });
    }

    fn releasedir(&self, _: &Request, _: INodeNo, handle: FileHandle, _: OpenFlags, reply: ReplyEmpty) {
        self.tables().listings.remove(&handle.0);
        reply.ok();
    }

    fn fsyncdir(&self, _: &Request, ino: INodeNo, _: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        let synced = self.node(ino).and_then(|node| {
            self.judge_node("fsyncdir", &node, None)?;
            Ok(open_again(&node, libc::O_RDONLY | libc::O_DIRECTORY)?.sync_all()?)
        });
        answer!(reply, synced, () => reply.ok());
    }
}
