// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests of mappings whose files become shorter, in processes with and without handlers of SIGBUS of their own.
//!
//! The disposition of SIGBUS belongs to the whole process, and the signal may end it. Each such test therefore runs in
//! a child process: this program again, with the name of the one test.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Mapping;

const NBYTES: u64 = 300_000;

fn file() -> File {
    let file = tempfile::tempfile().unwrap();
    file.write_all_at(&[7; NBYTES as usize], 0).unwrap();
    file
}

/// A fetched mapping of a file that has become shorter since: pages are gone.
fn broken(file: &File) -> Mapping {
    let mapping = Mapping::new(file, NBYTES).unwrap();
    assert!(mapping.fetch(0..NBYTES) && mapping.is_sound());
    file.set_len(100_000).unwrap();
    mapping
}

/// Makes the guard catch a SIGBUS, or ends the process.
fn survive() {
    let file = file();
    let mapping = broken(&file);
    // The page with the new end has zeros beyond it; the next page is missing.
    assert_eq!(mapping.bytes(0..200_000).iter().filter(|&&byte| byte == 7).count(), 100_000);
    assert!(!mapping.is_sound());
}

/// Runs `body` in a child process, or directly if this is the child. `test` is the name of the calling test.
fn in_child(test: &str, body: fn()) -> Option<ExitStatus> {
    const CHILD: &str = "HASHLOOM_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        body();
        return None;
    }
    // test/cross.sh names an emulator, which a child of the emulated process needs too.
    let emulator = std::env::var("HASHLOOM_TEST_EMULATOR").unwrap_or_default();
    let this = std::env::current_exe().unwrap();
    let mut words = emulator.split_whitespace().map(OsStr::new).chain([this.as_os_str()]);
    let mut child = Command::new(words.next().unwrap());
    child.args(words).args(["--exact", &format!("read::map::tests::{test}"), "--nocapture"]).env(CHILD, "1");
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("running 1 test"), "{test} is the name of the test: {said}");
    eprintln!("{said}{}", String::from_utf8_lossy(&output.stderr));
    Some(output.status)
}

fn survives(test: &str, body: fn()) {
    assert!(in_child(test, body).is_none_or(|status| status.success()));
}

fn dies_by_sigbus(test: &str, body: fn()) {
    let body_ends = |status: ExitStatus| status.signal() == Some(libc::SIGBUS);
    assert!(in_child(test, body).is_none_or(body_ends));
}

static NCALLS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_signal: libc::c_int) {
    NCALLS.fetch_add(1, Ordering::SeqCst);
}

extern "C" fn count_with_info(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo_t.
    assert_eq!(unsafe { (*info).si_signo }, libc::SIGBUS);
    NCALLS.fetch_add(1, Ordering::SeqCst);
}

/// A host's handler for its own pages: it replaces the faulting page.
extern "C" fn repair(_signal: libc::c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    NCALLS.fetch_add(1, Ordering::SeqCst);
    // SAFETY: the page belongs to this test, and a handler may make the call.
    unsafe {
        let page = ((*info).si_addr() as usize & !0xffff) as *mut libc::c_void;
        let flags = libc::MAP_PRIVATE | libc::MAP_FIXED | libc::MAP_ANONYMOUS;
        libc::mmap(page, 1 << 16, libc::PROT_READ, flags, -1, 0);
    }
}

fn set(handler: usize, flags: libc::c_int) {
    // SAFETY: the type is plain data, and the handler has the form that the flags say.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        (action.sa_sigaction, action.sa_flags) = (handler, flags);
        assert_eq!(libc::sigaction(libc::SIGBUS, &action, null_mut()), 0);
    }
}

/// Sends SIGBUS to this thread, and returns after a handler has had the signal.
fn send() {
    // SAFETY: the signal goes to this thread, before the call returns.
    unsafe { libc::raise(libc::SIGBUS) };
}

/// Sends SIGBUS as `kill -BUS` does: whichever thread gets the signal, the process must end.
fn end() {
    // SAFETY: the signal goes to this process.
    unsafe { libc::kill(libc::getpid(), libc::SIGBUS) };
    // This is reached only if the process does not end.
    std::thread::sleep(std::time::Duration::from_secs(20));
    std::process::exit(0);
}

/// A page of the host that its file lacks, at an address that the test's `repair` can replace.
struct OwnPage {
    place: *mut libc::c_void,
    page: *mut libc::c_void,
}

impl OwnPage {
    fn new(file: &File) -> OwnPage {
        // SAFETY: this reserves a new place in memory, then maps at a multiple of 64 KiB in it; nobody else has the
        // place.
        unsafe {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let place = libc::mmap(null_mut(), 1 << 17, libc::PROT_NONE, flags, -1, 0);
            assert_ne!(place, libc::MAP_FAILED);
            let page = ((place as usize + 0xffff) & !0xffff) as *mut libc::c_void;
            let flags = libc::MAP_SHARED | libc::MAP_FIXED;
            assert_eq!(libc::mmap(page, 1 << 16, libc::PROT_READ, flags, file.as_raw_fd(), 0), page);
            OwnPage { place, page }
        }
    }

    fn touch(&self) -> u8 {
        // SAFETY: the page is mapped. Reading it may raise SIGBUS, as the test wants.
        unsafe { std::ptr::read_volatile(self.page.cast::<u8>()) }
    }
}

impl Drop for OwnPage {
    fn drop(&mut self) {
        // SAFETY: this unmaps exactly what `new` has mapped.
        unsafe { libc::munmap(self.place, 1 << 17) };
    }
}

#[test]
fn a_file_that_becomes_shorter_is_noticed_and_kills_nobody() {
    survives("a_file_that_becomes_shorter_is_noticed_and_kills_nobody", || {
        let file = file();
        let (mapping, other) = (Mapping::new(&file, NBYTES).unwrap(), Mapping::new(&file, NBYTES).unwrap());
        assert!(mapping.fetch(5..200_000) && mapping.is_sound());
        assert!(mapping.bytes(5..200_000).iter().all(|&byte| byte == 7));
        assert!(!mapping.fetch(299_999..300_001), "beyond its end");
        file.set_len(100_000).unwrap();
        assert!(!mapping.fetch(150_000..200_000), "fails instead of raising a signal");
        assert!(mapping.is_sound());
        assert_eq!(mapping.bytes(0..200_000).iter().filter(|&&byte| byte == 7).count(), 100_000);
        assert!(!mapping.is_sound());
        assert!(!mapping.fetch(0..10), "never again");
        assert!(other.is_sound() && other.fetch(0..10));
        mapping.give_back(0..10);
        drop(mapping);
        // The slot is free again, and a new mapping is sound.
        assert!(Mapping::new(&file, 100_000).unwrap().fetch(0..100_000));
    });
}

#[test]
fn a_hosts_handler_gets_what_was_sent_and_the_guard_stays() {
    survives("a_hosts_handler_gets_what_was_sent_and_the_guard_stays", || {
        set(count_with_info as extern "C" fn(_, _, _) as usize, libc::SA_SIGINFO);
        survive();
        (0..3).for_each(|_| send());
        assert_eq!(NCALLS.load(Ordering::SeqCst), 3);
        survive();
        assert_eq!(NCALLS.load(Ordering::SeqCst), 3, "not the guard's own");
    });
}

#[test]
fn a_hosts_handler_without_siginfo_gets_what_was_sent() {
    survives("a_hosts_handler_without_siginfo_gets_what_was_sent", || {
        set(count as extern "C" fn(_) as usize, 0);
        survive();
        (0..3).for_each(|_| send());
        assert_eq!(NCALLS.load(Ordering::SeqCst), 3);
        survive();
    });
}

#[test]
fn a_handler_for_one_time_is_called_once() {
    dies_by_sigbus("a_handler_for_one_time_is_called_once", || {
        set(count as extern "C" fn(_) as usize, libc::SA_RESETHAND);
        survive();
        send();
        assert_eq!(NCALLS.load(Ordering::SeqCst), 1);
        survive();
        end();
    });
}

#[test]
fn by_default_what_was_sent_ends_the_process() {
    dies_by_sigbus("by_default_what_was_sent_ends_the_process", || {
        set(libc::SIG_DFL, 0);
        survive();
        survive();
        end();
    });
}

/// Rust's own handler, in a program that installs none, sets the default and returns.
#[test]
fn rusts_handler_lets_the_guard_stay() {
    survives("rusts_handler_lets_the_guard_stay", || {
        survive();
        send();
        survive();
    });
}

#[test]
fn what_was_sent_can_be_ignored() {
    survives("what_was_sent_can_be_ignored", || {
        set(libc::SIG_IGN, 0);
        survive();
        send();
        survive();
    });
}

#[test]
fn a_fault_of_the_hosts_cannot_be_ignored() {
    dies_by_sigbus("a_fault_of_the_hosts_cannot_be_ignored", || {
        set(libc::SIG_IGN, 0);
        survive();
        OwnPage::new(&tempfile::tempfile().unwrap()).touch();
        std::process::exit(0);
    });
}

#[test]
fn by_default_a_fault_of_the_hosts_ends_the_process() {
    dies_by_sigbus("by_default_a_fault_of_the_hosts_ends_the_process", || {
        set(libc::SIG_DFL, 0);
        survive();
        OwnPage::new(&tempfile::tempfile().unwrap()).touch();
        std::process::exit(0);
    });
}

#[test]
fn a_hosts_handler_gets_its_own_faults() {
    survives("a_hosts_handler_gets_its_own_faults", || {
        set(repair as extern "C" fn(_, _, _) as usize, libc::SA_SIGINFO);
        survive();
        let empty = tempfile::tempfile().unwrap();
        for ncalls in 1..4 {
            assert_eq!(OwnPage::new(&empty).touch(), 0);
            assert_eq!(NCALLS.load(Ordering::SeqCst), ncalls);
            survive();
            assert_eq!(NCALLS.load(Ordering::SeqCst), ncalls, "not the guard's own");
        }
    });
}

#[test]
fn under_a_handler_that_came_later_files_are_read() {
    survives("under_a_handler_that_came_later_files_are_read", || {
        let file = file();
        let mapping = Mapping::new(&file, NBYTES).unwrap();
        assert!(mapping.fetch(0..NBYTES));
        set(repair as extern "C" fn(_, _, _) as usize, libc::SA_SIGINFO);
        assert!(!mapping.fetch(0..NBYTES), "what guards it is gone");
        assert!(Mapping::new(&file, NBYTES).is_none());
    });
}

/// Threads map and drop files in the gaps between the host's pages, and the host faults on its pages all the time.
#[test]
fn a_place_that_is_used_again_matches_no_other_address() {
    survives("a_place_that_is_used_again_matches_no_other_address", || {
        set(repair as extern "C" fn(_, _, _) as usize, libc::SA_SIGINFO);
        survive();
        NCALLS.store(0, Ordering::SeqCst);
        let (file, empty) = (file(), tempfile::tempfile().unwrap());
        let is_done = AtomicBool::new(false);
        let nfaults = 20_000;
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut kept = Vec::new();
                    while !is_done.load(Ordering::Relaxed) {
                        // Several mappings are kept, so that addresses come and go above and below.
                        kept.extend(Mapping::new(&file, NBYTES));
                        if kept.len() > 3 {
                            kept.swap_remove(0);
                        }
                        assert!(kept.iter().all(Mapping::is_sound));
                    }
                });
            }
            for ncalls in 1..=nfaults {
                OwnPage::new(&empty).touch();
                if NCALLS.load(Ordering::SeqCst) != ncalls {
                    is_done.store(true, Ordering::Relaxed);
                    panic!("the guard has taken fault {ncalls}, which was the host's");
                }
            }
            is_done.store(true, Ordering::Relaxed);
        });
    });
}
