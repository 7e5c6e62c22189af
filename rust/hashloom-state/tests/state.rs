// SPDX-License-Identifier: MIT OR Apache-2.0

//! A state gives back what went in, wherever it was cut off, and nothing else.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use hashloom_files::Doubt;
use hashloom_state::{State, Tie};

const SUBJECT: &str = "things";

fn open(path: &Path, secret: Option<&[u8]>) -> io::Result<State> {
    State::open(File::options().read(true).append(true).create(true).open(path)?, SUBJECT, secret)
}

fn all(state: &mut State, key: &str) -> Vec<(Tie, String)> {
    let mut found = Vec::new();
    state.all(key.as_bytes(), |tie, value| found.push((tie, value.to_owned())));
    found
}

#[test]
fn the_last_entry_of_a_key_holds() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let ties = ["1", "2", "3"].map(|version| Tie::of("here", version));
    let mut state = open(&path, None).unwrap();
    for (key, tie, value) in [("a", 0, "x"), ("b", 1, "y"), ("a", 2, "z")] {
        state.add(key.as_bytes(), &ties[tie], value).unwrap();
    }
    assert!(state.is_empty(), "what is added is for later runs");
    drop(state);
    let mut state = open(&path, None).unwrap();
    assert_eq!(state.len(), 3);
    assert_eq!(all(&mut state, "a"), [(ties[0], "x".into()), (ties[2], "z".into())]);
    assert_eq!(state.last(b"a"), Some((ties[2], "z".into())));
    assert_eq!(state.last(b"c"), None);
    state.forget(b"a").unwrap();
    assert_eq!((state.last(b"a"), state.len()), (None, 1));
    state.add(b"b", &ties[0], "w").unwrap();
    drop(state);
    let mut state = open(&path, None).unwrap();
    assert_eq!((state.last(b"a"), state.len()), (None, 2));
    state.forget(b"b").unwrap();
    assert!(state.is_empty());
    state.add(b"b", &ties[1], "v").unwrap();
    drop(state);
    assert_eq!(all(&mut open(&path, None).unwrap(), "b"), [(ties[1], "v".into())]);
    for value in ["", "-", "two words", "line\n", "\u{fc}", &"x".repeat(1 << 16)] {
        let error = open(&path, None).unwrap().add(b"b", &ties[1], value).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    let error = State::open(tempfile::tempfile().unwrap(), "two\nlines", None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

/// A state cut anywhere, as by a crash, or with any byte changed, or bytes appended, keeps the lines before, and grows
/// on.
#[test]
fn states_that_were_torn() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let key = |i: usize| i.to_string().into_bytes();
    for secret in [None, Some(&b"secret"[..])] {
        let _ = fs::remove_file(&path);
        let mut state = open(&path, secret).unwrap();
        for i in 0..6 {
            state.add(&key(i), &Tie::of("here", "1"), &format!("value{i}")).unwrap();
        }
        drop(state);
        let whole = fs::read(&path).unwrap();
        let header = whole.iter().position(|&byte| byte == b'\n').unwrap() + 1;
        let nlines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
        let check = |bytes: &[u8], nwhole: usize| {
            fs::write(&path, bytes).unwrap();
            let mut state = open(&path, secret).unwrap();
            assert_eq!(state.len(), nwhole);
            for i in 0..6 {
                let expected = (i < nwhole).then(|| (Tie::of("here", "1"), format!("value{i}")));
                assert_eq!(state.last(&key(i)), expected);
            }
            state.add(b"new", &Tie::of("here", "2"), "new").unwrap();
            drop(state);
            let mut state = open(&path, secret).unwrap();
            assert_eq!((state.len(), state.last(b"new").unwrap().1), (nwhole + 1, "new".to_owned()));
        };
        for nbytes in header..=whole.len() {
            check(&whole[..nbytes], nlines(&whole[header..nbytes]));
        }
        for rest in [&b"\0\0\0\n"[..], b"{}\n", b"\n", &whole[..header]] {
            check(&[&whole[..], rest].concat(), 6);
        }
        for place in (header..whole.len()).step_by(7) {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            check(&changed, nlines(&whole[header..place]));
        }
        // Without a whole first line nothing is lost.
        for nbytes in 0..header {
            check(&whole[..nbytes], 0);
        }
    }
}

/// What is no state, or is one of something else, is an error, and stays as it is.
#[test]
fn files_that_are_no_state() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    drop(open(&path, None).unwrap());
    let whole = fs::read_to_string(&path).unwrap();
    let (head, check) = whole.trim().rsplit_once(' ').unwrap();
    let other = folder.path().join("other");
    let file = File::options().read(true).write(true).create_new(true).open(&other).unwrap();
    drop(State::open(file, "other things", None).unwrap());
    for (content, why) in [
        (&b"my diary\n"[..], "expected a state that begins with"),
        (b"x", "expected a state that begins with"),
        (b"hashloom state 2 ", "expected a state that begins with"),
        (b"hashloom state 1 \n", "its first line is damaged"),
        (b"hashloom state 1 \xff\xff \n", "its first line is damaged"),
        (format!("{head}{check}\n").as_bytes(), "its first line is damaged"),
        (whole.replace("things", "thinks").as_bytes(), "its first line is damaged"),
        (&fs::read(&other).unwrap(), "it has \"other things\", not things"),
        (format!("hashloom state 1 {}", "x".repeat(1 << 16)).as_bytes(), "its first line is too long"),
    ] {
        fs::write(&path, content).unwrap();
        let error = open(&path, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().contains(why), "{error}");
        assert_eq!(fs::read(&path).unwrap(), content);
    }
}

/// Whoever lacks the secret can neither make a state nor change one, nor put an entry of another state into it.
#[test]
fn a_secret_authenticates() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let state = |secret: Option<&[u8]>, value: &str| {
        let _ = fs::remove_file(&path);
        open(&path, secret).unwrap().add(b"key", &Tie::of("here", "1"), value).unwrap();
        fs::read_to_string(&path).unwrap()
    };
    let (one, two) = (state(Some(b"secret"), "one"), state(Some(b"secret"), "two"));
    let (plain, other) = (state(None, "three"), state(Some(b"other"), "four"));
    for (content, secret) in [(&plain, Some(&b"secret"[..])), (&other, Some(b"secret")), (&one, None)] {
        fs::write(&path, content).unwrap();
        let error = open(&path, secret).unwrap_err();
        assert!(error.to_string().contains("authenticated"), "{error}");
        assert_eq!(&fs::read_to_string(&path).unwrap(), content);
    }
    let line = |of: &str| of.lines().nth(1).unwrap().to_owned();
    for forged in [&two, &plain, &other] {
        fs::write(&path, format!("{}{}\n", one.split_inclusive('\n').next().unwrap(), line(forged))).unwrap();
        assert_eq!(open(&path, Some(b"secret")).unwrap().len(), 0, "an entry of another state");
    }
    // A line that changes after the state was opened is not believed either.
    fs::write(&path, &one).unwrap();
    let mut opened = open(&path, Some(b"secret")).unwrap();
    assert_eq!(opened.last(b"key").unwrap().1, "one");
    fs::write(&path, one.replace(" one ", " own ")).unwrap();
    assert_eq!(opened.last(b"key"), None);
}

/// Lines as short as they can be, and none that is whole.
#[test]
fn hostile_states_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    drop(open(&path, None).unwrap());
    let header = fs::read(&path).unwrap();
    for rest in [vec![b'\n'; 1 << 20], vec![b'x'; 1 << 20], b" \n".repeat(1 << 19)] {
        fs::write(&path, [&header[..], &rest].concat()).unwrap();
        assert_eq!(open(&path, None).unwrap().len(), 0);
        assert_eq!(fs::read(&path).unwrap(), header);
    }
    assert_eq!(Tie::of("a", "1").doubt_at(&Tie::of("b", "1")), Some(Doubt::Folder));
}
