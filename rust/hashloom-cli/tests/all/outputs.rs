// SPDX-License-Identifier: MIT OR Apache-2.0

//! The files that the program writes must never cost anybody a file: not by a wrong name, a file planted by another
//! user, a disk that fails, or a run that is killed. `test/faults.py` fails writes, closes and fsyncs of every command.

use std::fs::{self, File};
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{Ran, make_fifo, names, run, status, stderr, stdout};
use crate::maker::{Version, content, noise};
use hashloom_files::Doubt;
use hashloom_manifest::Scan;
use hashloom_state::State;
use hashloom_torrent::{PieceState, Torrent};

const NOBODY: u32 = 65534;

/// Returns true if a test can run. Otherwise the test is named, and fails if HASHLOOM_REQUIRE is set.
fn can(what: &str, is_possible: bool) -> bool {
    if !is_possible {
        crate::common::skipped::skipped_unless_required(what);
    }
    is_possible
}

fn is_root() -> bool {
    can("a test that needs root", fs::metadata("/proc/self").unwrap().uid() == 0)
}

/// Runs the program under strace with these faults; returns `None` if strace is missing.
fn faulty(folder: &Path, faults: &[&str], arguments: &[&str]) -> Option<Output> {
    let mut command = Command::new("strace");
    command.args(["-f", "-o", "/dev/null"]);
    command.args(faults.iter().map(|fault| format!("--inject={fault}")));
    command.arg(env!("CARGO_BIN_EXE_hashloom")).args(arguments);
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").current_dir(folder).stdin(Stdio::null());
    let output = command.output();
    can("a test that needs strace", output.is_ok()).then(|| output.unwrap())
}

/// Makes `NAME.torrent` and its content.
fn torrent(folder: &Path, name: &str) -> Torrent {
    let files = [content("a", noise(40_000, 1)), content("b", noise(20_000, name.len() as u64))];
    let (bytes, files) = crate::maker::torrent(Version::V1, name, &files, 16384);
    fs::write(folder.join(format!("{name}.torrent")), &bytes).unwrap();
    crate::maker::write_files(&folder.join(name), &files);
    Torrent::parse(&bytes).unwrap()
}

/// Makes a folder with the folder `tree` of three files, one of them empty, and its manifest `m`.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("tree")).unwrap();
    for (name, bytes) in [("a", "a"), ("b", "bb"), ("empty", "")] {
        fs::write(folder.path().join("tree").join(name), bytes).unwrap();
    }
    assert_eq!(status(&run(folder.path(), &["manifest", "write", "tree", "-o", "m"])), 0);
    folder
}

#[test]
fn a_state_file_is_never_another_file() {
    let outer = tree();
    let folder = outer.path();
    torrent(folder, "one");
    fs::write(folder.join("nothing"), "").unwrap();
    fs::write(folder.join("diary"), "Monday").unwrap();
    symlink("diary", folder.join("link")).unwrap();
    symlink("none", folder.join("dangling")).unwrap();
    make_fifo(folder.join("fifo"));
    let mut cases = vec![
        ("tree/empty", "part of what the manifest describes"),
        ("tree/../tree/a", "part of what the manifest describes"),
        ("nothing", "It is not replaced: give another FILE, or remove it"),
        ("diary", "It is not replaced: give another FILE, or remove it"),
        ("link", "it is a symbolic link, and is not followed"),
        ("dangling", "it is a symbolic link, and is not followed"),
        ("fifo", "expected a regular file, found something else"),
        ("tree", "expected a regular file, found something else"),
        ("m", "is the manifest"),
    ];
    if is_root() {
        // A device like /dev/null, and a block device without a driver: opening it would be an error of its own.
        for (name, arguments) in [("null", ["c", "1", "3"]), ("block", ["b", "240", "77"])] {
            assert!(Command::new("mknod").arg(folder.join(name)).args(arguments).status().unwrap().success());
            cases.push((name, "expected a regular file, found something else"));
        }
    }
    let before = names(folder);
    let kind =
        |name: &str| fs::symlink_metadata(folder.join(name)).map(|metadata| (metadata.ino(), metadata.mode())).ok();
    for (name, why) in cases {
        let is = kind(name);
        run(folder, &["manifest", "check", "m", "tree", "--resume", name]).refused(why);
        if !["tree/empty", "tree/../tree/a", "m"].contains(&name) {
            run(folder, &["torrent", "verify", "one.torrent", "--resume", name]).refused(why);
        }
        assert_eq!(kind(name), is, "{name}");
    }
    assert_eq!(names(folder), before);
    assert_eq!(names(&folder.join("tree")), ["a", "b", "empty"]);
    assert_eq!(fs::read(folder.join("diary")).unwrap(), b"Monday");
    assert_eq!(fs::read(folder.join("nothing")).unwrap(), b"");
    // A file that would be listed if it existed.
    fs::remove_file(folder.join("tree/b")).unwrap();
    run(folder, &["manifest", "check", "m", "tree", "--resume", "tree/b"]).says("part of what the manifest describes");
}

#[test]
fn two_runs_do_not_share_a_state_file() {
    let folder = tree();
    drop(State::at(&folder.path().join("state"), &Scan::subject(&[hashloom::Algorithm::Sha256])).unwrap());
    let state = File::open(folder.path().join("state")).unwrap();
    rustix_lock(&state);
    run(folder.path(), &["manifest", "check", "m", "tree", "--resume", "state"])
        .ends(2)
        .says("state: another run is writing it");
    drop(state);
    run(folder.path(), &["manifest", "check", "m", "tree", "--resume", "state"]).done();
    assert_eq!(names(folder.path()), ["m", "tree"]);
}

fn rustix_lock(file: &File) {
    rustix::fs::flock(file, rustix::fs::FlockOperation::LockExclusive).unwrap();
}

#[test]
fn what_another_torrent_has_in_the_checkpoint_stays() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    let [one, two] = ["one", "two"].map(|name| torrent(folder, name));
    fs::write(folder.join("bad.torrent"), "no torrent").unwrap();
    let check = folder.join("check");
    let checkpoint = crate::common::checkpoint(&check);
    for torrent in [&one, &two] {
        checkpoint.begin(torrent, folder);
        checkpoint.record(torrent, 0, PieceState::Have);
    }
    checkpoint.close().unwrap();
    let saved = fs::read(&check).unwrap();
    let known = || {
        let checkpoint = crate::common::checkpoint(&check);
        [&one, &two].map(|torrent| checkpoint.begin(torrent, folder)[0] == PieceState::Have)
    };
    let can_know = known() == [true, true];
    // Another torrent that cannot be read, missing content, and an output that cannot be written.
    for (arguments, code) in [
        (&["bad.torrent", "--resume", "check"][..], 2),
        (&["one.torrent", "--resume", "check", "--data", "no/where"], 2),
        (&["one.torrent", "--resume", "check", "--bitfield", "/dev/full"], 2),
    ] {
        run(folder, &[&["torrent", "verify"], arguments].concat()).ends(code);
        if arguments.contains(&"no/where") {
            fs::write(&check, &saved).unwrap();
        }
        assert_eq!(known(), [can_know; 2], "{arguments:?}");
    }
    // A checked torrent is taken out; the file is removed with the last torrent.
    assert_eq!(status(&run(folder, &["torrent", "verify", "one.torrent", "--resume", "check"])), 0);
    assert_eq!(known(), [false, can_know]);
    assert_eq!(status(&run(folder, &["torrent", "verify", "bad.torrent", "two.torrent", "--resume", "check"])), 2);
    assert!(!check.exists());
}

/// One line tells which results are not trusted.
#[test]
fn what_is_checked_again_is_told() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    let one = torrent(folder, "one");
    let writer = File::options().write(true).open(folder.join("one/b")).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let checkpoint = crate::common::checkpoint(&folder.join("check"));
    checkpoint.begin(&one, folder);
    for piece in 0..one.piece_count() {
        checkpoint.record(&one, piece, PieceState::Have);
    }
    drop(writer);
    checkpoint.close().unwrap();
    let output = run(folder, &["torrent", "verify", "one.torrent", "--resume", "check", "--json"]);
    let (again, nbytes) = match crate::common::doubt_of(folder) {
        // The piece that has bytes of both files too.
        None => ("2 pieces are checked again: open for writing in another program", "27232"),
        Some(Doubt::FileSystem) => {
            ("4 pieces are checked again: on a file system that does not promise to tell of each change", "60000")
        }
        Some(_) => return,
    };
    output.ends(0).tells(&format!("resume: {again}\n")).has(&format!("\"bytes_read\":{nbytes}"));
}

/// Returns the arguments of each command that writes a file, and the file.
fn writers(folder: &Path) -> Vec<(Vec<&'static str>, PathBuf)> {
    torrent(folder, "one");
    fs::create_dir(folder.join("tree")).unwrap();
    fs::write(folder.join("tree/a"), "a").unwrap();
    fs::write(folder.join("data"), [7; 8192]).unwrap();
    let salt = "--salt=00";
    let uuid = "--uuid=01234567-89ab-4def-8123-456789abcdef";
    [
        vec!["torrent", "verify", "one.torrent", "--bitfield", "out"],
        vec!["torrent", "verify", "one.torrent", "--libtorrent", "out.fastresume"],
        vec!["torrent", "verify", "one.torrent", "--transmission", "out.resume"],
        vec!["torrent", "create", "tree", "-o", "out", "--force"],
        vec!["manifest", "write", "tree", "-o", "out", "--force"],
        vec!["tree", "dmverity", "format", "data", "out", "--force", salt, uuid],
        vec!["tree", "fsverity", "data", "--out-merkle-tree", "out"],
        vec!["tree", "fsverity", "data", "--out-descriptor", "out"],
    ]
    .map(|arguments| {
        let out = folder.join(arguments[place_of_output(&arguments)]);
        (arguments, out)
    })
    .into()
}

/// Returns the place of the file among the arguments.
fn place_of_output(arguments: &[&str]) -> usize {
    arguments.iter().position(|argument| argument.starts_with("out")).unwrap()
}

/// Returns the old contents. A resume file is read before it is replaced, so it must be valid.
fn old(arguments: &[&str], folder: &Path) -> Vec<u8> {
    if arguments.iter().any(|argument| ["--libtorrent", "--transmission"].contains(argument)) {
        assert_eq!(status(&run(folder, arguments)), 0);
        return fs::read(folder.join(arguments[place_of_output(arguments)])).unwrap();
    }
    b"old".to_vec()
}

#[test]
fn a_folder_that_is_not_on_the_disk_is_told() {
    let outer = tempfile::tempdir().unwrap();
    torrent(outer.path(), "one");
    let arguments = ["torrent", "verify", "one.torrent", "--bitfield", "out"];
    // The first fsync is of the file, the second of the folder.
    let Some(output) = faulty(outer.path(), &["fsync:error=EIO:when=2"], &arguments) else { return };
    assert_eq!(status(&output), 2);
    output.says("written, but may not survive a crash: ");
    assert!(outer.path().join("out").exists());
}

#[test]
fn what_a_killed_run_leaves_is_removed_by_the_next() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    torrent(folder, "one");
    let arguments = ["torrent", "verify", "one.torrent", "--bitfield", "out"];
    fs::write(folder.join("out"), "old").unwrap();
    let before = names(folder);
    // Files without a name fail first, then work.
    for faults in [&["linkat:error=EPERM", "rename:signal=KILL"][..], &["rename:signal=KILL"]] {
        let Some(output) = faulty(folder, faults, &arguments) else { return };
        assert_ne!(output.status.code(), Some(0));
        assert_eq!(fs::read(folder.join("out")).unwrap(), b"old");
    }
    assert_eq!(names(folder).len(), before.len() + 1, "{:?}", names(folder));
    // A file of another user, or of a run that still goes on, stays.
    let theirs = folder.join(".hashloom-abcdefghijklmnop");
    let busy = folder.join(".hashloom-ponmlkjihgfedcba");
    let mut stay = 0;
    if is_root() {
        fs::write(&theirs, "").unwrap();
        chown(&theirs, Some(NOBODY), None).unwrap();
        stay += 1;
    }
    let busy = File::create_new(busy).unwrap();
    rustix_lock(&busy);
    assert_eq!(status(&run(folder, &arguments)), 0);
    assert_eq!(names(folder).len(), before.len() + 1 + stay, "{:?}", names(folder));
}

#[test]
fn a_new_file_is_for_whom_the_old_one_was_and_runs_as_nobody() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    for (arguments, out) in writers(folder) {
        let old = old(&arguments, folder);
        fs::write(&out, old).unwrap();
        let is_root = is_root();
        if is_root {
            chown(&out, Some(NOBODY), Some(NOBODY)).unwrap();
        }
        fs::set_permissions(&out, fs::Permissions::from_mode(0o7751)).unwrap();
        assert_eq!(status(&run(folder, &arguments)), 0, "{arguments:?}");
        let metadata = fs::metadata(&out).unwrap();
        assert_eq!(metadata.mode() & 0o7777, 0o751, "{arguments:?}");
        if is_root {
            assert_eq!((metadata.uid(), metadata.gid()), (NOBODY, NOBODY));
        }
        fs::remove_file(&out).unwrap();
    }
}

/// A file that another user has put into a folder where anybody may put files is not followed, replaced or opened.
#[test]
fn what_another_user_has_planted() {
    if !is_root() {
        return;
    }
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path();
    let shared = folder.join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let victim = folder.join("victim");
    fs::write(&victim, "mine").unwrap();
    type Plant = fn(&Path, &Path);
    let plants: [Plant; 4] = [
        |path, victim| symlink(victim, path).unwrap(),
        |path, _| symlink("new", path).unwrap(),
        |path, _| fs::write(path, "").unwrap(),
        |path, _| make_fifo(path),
    ];
    for (mut arguments, _) in writers(folder) {
        let place = place_of_output(&arguments);
        let name = arguments[place];
        let given = format!("shared/{name}");
        arguments[place] = &given;
        for (index, plant) in plants.iter().enumerate() {
            let out = shared.join(name);
            plant(&out, &victim);
            lchown(&out, Some(NOBODY), Some(NOBODY)).unwrap();
            let output = run(folder, &arguments);
            assert_eq!(status(&output), 2, "{arguments:?} {index}: {}", stderr(&output));
            assert!(stderr(&output).contains("belongs to another user"), "{arguments:?} {index}: {}", stderr(&output));
            assert_eq!(fs::symlink_metadata(&out).unwrap().uid(), NOBODY);
            assert_eq!(fs::read(&victim).unwrap(), b"mine");
            assert_eq!(names(&shared), [name]);
            fs::remove_file(&out).unwrap();
        }
        // A link of the user's own is followed, and so is a link of the folder's owner.
        symlink(&victim, shared.join(name)).unwrap();
        fs::remove_file(&victim).unwrap();
        assert_eq!(status(&run(folder, &arguments)), 0, "{arguments:?}");
        assert!(fs::symlink_metadata(shared.join(name)).unwrap().is_symlink());
        assert_ne!(fs::read(&victim).unwrap(), b"mine");
        fs::remove_file(shared.join(name)).unwrap();
        fs::write(&victim, "mine").unwrap();
        fs::remove_dir_all(folder.join("one")).unwrap();
        fs::remove_dir_all(folder.join("tree")).unwrap();
        torrent(folder, "one");
        fs::create_dir(folder.join("tree")).unwrap();
        fs::write(folder.join("tree/a"), "a").unwrap();
    }
    // The journal beside an output, and a state file.
    for planted in ["shared/m.partial", "shared/state"] {
        symlink(&victim, folder.join(planted)).unwrap();
    }
    run(folder, &["manifest", "write", "tree", "-o", "shared/m"]).ends(2).says("m.partial: it is a symbolic link");
    run(folder, &["torrent", "verify", "one.torrent", "--resume", "shared/state"]).says("state: it is a symbolic link");
    drop(crate::common::checkpoint(&shared.join("theirs")));
    chown(shared.join("theirs"), Some(NOBODY), None).unwrap();
    run(folder, &["torrent", "verify", "one.torrent", "--resume", "shared/theirs"]).says("belongs to another user");
    assert!(shared.join("theirs").exists());
    assert_eq!(fs::read(&victim).unwrap(), b"mine");
}

#[test]
fn a_manifest_replaces_no_file_of_its_folder() {
    let folder = tree();
    run(folder.path(), &["manifest", "write", "tree", "-o", "tree/a", "--force"])
        .ends(2)
        .says("tree/a: it is a file in tree and not a manifest. It is not replaced");
    assert_eq!(fs::read(folder.path().join("tree/a")).unwrap(), b"a");
    for force in ["--quiet", "--force"] {
        assert_eq!(status(&run(folder.path(), &["manifest", "write", "tree", "-o", "tree/m", force])), 0);
    }
    assert_eq!(names(&folder.path().join("tree")), ["a", "b", "empty", "m"]);
}

#[test]
fn a_finished_manifest_is_replaced_only_if_asked_to() {
    let folder = tree();
    let old = fs::read(folder.path().join("m")).unwrap();
    fs::write(folder.path().join("tree/new"), "new").unwrap();
    let before = names(folder.path());
    let write = |more: &[&str]| run(folder.path(), &[&["manifest", "write", "tree", "-o", "m"], more].concat());
    fs::copy(folder.path().join("m"), folder.path().join("other")).unwrap();
    for more in [&[][..], &["--update", "other"]] {
        let output = write(more);
        output.ends(2).prints("");
        let why = "it exists. Give --force to replace it, or another FILE with --output";
        assert_eq!(stderr(&output), format!("hashloom: m: the manifest is not written there: {why}\n"));
        assert_eq!(fs::read(folder.path().join("m")).unwrap(), old);
    }
    fs::remove_file(folder.path().join("other")).unwrap();
    assert_eq!(names(folder.path()), before);
    for more in ["--update=./m", "--force"] {
        fs::write(folder.path().join("m"), &old).unwrap();
        assert_eq!(status(&write(&[more])), 0, "{more}");
        assert_ne!(fs::read(folder.path().join("m")).unwrap(), old);
    }
    // A pipe has nothing to lose.
    run(folder.path(), &["manifest", "write", "tree", "-o", "/dev/stdout"]).ends(0);
}

#[test]
fn outputs_of_trees_are_not_what_is_read_or_each_other() {
    let folder = tree();
    let folder = folder.path();
    for arguments in [
        &["m", "--out-descriptor", "m"][..],
        &["m", "--out-merkle-tree", "tree/../m"],
        &["m", "--out-merkle-tree", "x", "--out-descriptor", "tree/../x"],
    ] {
        let before = fs::read(folder.join("m")).unwrap();
        run(folder, &[&["tree", "fsverity"], arguments].concat()).refused("Give another FILE");
        assert_eq!(fs::read(folder.join("m")).unwrap(), before);
    }
}

#[test]
fn a_device_or_pipe_is_written_to_as_it_stands() {
    let outer = tree();
    let folder = outer.path();
    let fifo = folder.join("fifo");
    make_fifo(&fifo);
    let reader = std::thread::spawn({
        let fifo = fifo.clone();
        move || fs::read(fifo).unwrap()
    });
    run(folder, &["manifest", "write", "tree", "-o", "fifo"]).done();
    assert_eq!(reader.join().unwrap(), fs::read(folder.join("m")).unwrap());
    assert!(fs::metadata(&fifo).unwrap().file_type().is_fifo());
    run(folder, &["manifest", "write", "tree", "-o", "/dev/full"])
        .ends(2)
        .says("/dev/full: the manifest cannot be written: No space left on device");
    let output = run(folder, &["manifest", "write", "tree", "-o", "/dev/stdout"]);
    assert_eq!(stdout(&output).as_bytes(), fs::read(folder.join("m")).unwrap());
    assert_eq!(names(folder), ["fifo", "m", "tree"]);
}
