// SPDX-License-Identifier: MIT OR Apache-2.0

//! What Windows tells of a file beyond the standard library: its number, the time of its last change of any kind, and
//! whether a program has the file open for writing.
//!
//! A write shows in the times of a file at the latest when the writer closes the file, and possibly not before. Equal
//! times before and after a read therefore say something only if nobody has the file open for writing.

use std::fs::File;
use std::io;
use std::mem::{size_of, zeroed};
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
use std::path::Path;

use windows_sys::Wdk::Storage::FileSystem::{FILE_ACCESS_INFORMATION, FileAccessInformation, NtQueryInformationFile};
use windows_sys::Win32::Foundation::{
    ERROR_SHARING_VIOLATION, FILETIME, GENERIC_READ, INVALID_HANDLE_VALUE, STATUS_SUCCESS,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_APPEND_DATA, FILE_ATTRIBUTE_DIRECTORY, FILE_ATTRIBUTE_REPARSE_POINT,
    FILE_BASIC_INFO, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, FILE_FLAG_SEQUENTIAL_SCAN,
    FILE_READ_ATTRIBUTES, FILE_SHARE_DELETE, FILE_SHARE_READ, FILE_STANDARD_INFO, FILE_WRITE_DATA, FileBasicInfo,
    FileStandardInfo, GetFileInformationByHandle, GetFileInformationByHandleEx, ReOpenFile,
};
use windows_sys::Win32::System::IO::IO_STATUS_BLOCK;
use windows_sys::Win32::System::SystemInformation::GetSystemTimeAsFileTime;

use crate::read::stamp::Stamp;

/// 1970 in steps of 100 ns since 1601.
const UNIX_EPOCH: i64 = 116_444_736_000_000_000;

/// Opens a file, or a folder, which reads as an error. The file will be read from the front to the back.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(FILE_FLAG_SEQUENTIAL_SCAN | FILE_FLAG_BACKUP_SEMANTICS).open(path)
}

/// Whether a file is a regular one, and its stamp.
pub(crate) fn look(file: &File) -> io::Result<(bool, Stamp)> {
    // SAFETY: structures of integers alone may be all zeros.
    let (mut times, mut numbers): (FILE_BASIC_INFO, BY_HANDLE_FILE_INFORMATION) = unsafe { zeroed() };
    let handle = file.as_raw_handle();
    let nbytes = size_of::<FILE_BASIC_INFO>() as u32;
    // SAFETY: the handle is that of an open file, and each call writes one structure of this type.
    let is_told = unsafe {
        GetFileInformationByHandleEx(handle, FileBasicInfo, (&raw mut times).cast(), nbytes) != 0
            && GetFileInformationByHandle(handle, &raw mut numbers) != 0
    };
    if !is_told {
        return Err(io::Error::last_os_error());
    }
    let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
    let ino = pair(numbers.nFileIndexHigh, numbers.nFileIndexLow);
    let nbytes = pair(numbers.nFileSizeHigh, numbers.nFileSizeLow);
    let stamp = stamp(&times, nbytes, (numbers.dwVolumeSerialNumber.into(), ino));
    // Another call tells the kind of a reparse point.
    let is_file = match numbers.dwFileAttributes & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_REPARSE_POINT) {
        0 => true,
        FILE_ATTRIBUTE_DIRECTORY => false,
        _ => file.metadata()?.is_file(),
    };
    Ok((is_file, stamp))
}

/// The stamp of an open file that had the stamp `before`. The numbers of an open file stay, and that of the volume
/// takes longer than all else.
pub(crate) fn look_again(file: &File, before: &Stamp) -> io::Result<Stamp> {
    // SAFETY: structures of integers and truth values alone may be all zeros.
    let (mut times, mut lengths): (FILE_BASIC_INFO, FILE_STANDARD_INFO) = unsafe { zeroed() };
    let handle = file.as_raw_handle();
    // SAFETY: the handle is that of an open file, and each call writes one structure of this type.
    let is_told = unsafe {
        let (into, nbytes) = ((&raw mut times).cast(), size_of::<FILE_BASIC_INFO>() as u32);
        GetFileInformationByHandleEx(handle, FileBasicInfo, into, nbytes) != 0 && {
            let (into, nbytes) = ((&raw mut lengths).cast(), size_of::<FILE_STANDARD_INFO>() as u32);
            GetFileInformationByHandleEx(handle, FileStandardInfo, into, nbytes) != 0
        }
    };
    if is_told {
        Ok(stamp(&times, lengths.EndOfFile as u64, (before.dev, before.ino)))
    } else {
        Err(io::Error::last_os_error())
    }
}

fn stamp(times: &FILE_BASIC_INFO, nbytes: u64, (dev, ino): (u64, u64)) -> Stamp {
    // FAT has no time of the last change of any kind.
    let ctime_ns = if times.ChangeTime == 0 { 0 } else { since_1970(times.ChangeTime) };
    Stamp { nbytes, mtime_ns: since_1970(times.LastWriteTime), ctime_ns, dev, ino }
}

/// [`look`] for the file at a path, or for a link at the path itself. Nobody is kept from opening the file during the
/// call.
pub(crate) fn look_at(path: &Path, follow: bool) -> io::Result<(bool, Stamp)> {
    let link = if follow { 0 } else { FILE_FLAG_OPEN_REPARSE_POINT };
    let flags = FILE_FLAG_BACKUP_SEMANTICS | link;
    look(&File::options().access_mode(FILE_READ_ATTRIBUTES).custom_flags(flags).open(path)?)
}

/// Whether a program has the file open for writing, or mapped. The file is opened again for a moment, without leave for
/// others to write: until then a program that opens the file for writing is refused. False if the system does not tell,
/// or if this handle is for writing: then the caller is the writer.
pub(crate) fn has_writer(file: &File) -> bool {
    if may_write(file) {
        return false;
    }
    // SAFETY: the handle is that of an open file.
    let again = unsafe { ReOpenFile(file.as_raw_handle(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, 0) };
    if again == INVALID_HANDLE_VALUE {
        return io::Error::last_os_error().raw_os_error() == Some(ERROR_SHARING_VIOLATION as i32);
    }
    // SAFETY: the handle is new, and nobody else's.
    drop(unsafe { OwnedHandle::from_raw_handle(again) });
    false
}

/// Whether the handle itself is for writing.
fn may_write(file: &File) -> bool {
    // SAFETY: structures of integers and a pointer may be all zeros.
    let (mut access, mut status): (FILE_ACCESS_INFORMATION, IO_STATUS_BLOCK) = unsafe { zeroed() };
    let nbytes = size_of::<FILE_ACCESS_INFORMATION>() as u32;
    // SAFETY: the handle is that of an open file, and the call writes one structure of each type.
    let told = unsafe {
        let into = (&raw mut access).cast();
        NtQueryInformationFile(file.as_raw_handle(), &raw mut status, into, nbytes, FileAccessInformation)
    };
    told == STATUS_SUCCESS && access.AccessFlags & (FILE_WRITE_DATA | FILE_APPEND_DATA) != 0
}

/// The time of the clock that file systems use, in nanoseconds since 1970.
pub(crate) fn now_ns() -> i128 {
    let mut now = FILETIME { dwLowDateTime: 0, dwHighDateTime: 0 };
    // SAFETY: the call writes one structure of this type.
    unsafe { GetSystemTimeAsFileTime(&raw mut now) };
    since_1970(i64::from(now.dwHighDateTime) << 32 | i64::from(now.dwLowDateTime))
}

fn since_1970(time: i64) -> i128 {
    (i128::from(time) - i128::from(UNIX_EPOCH)) * 100
}
