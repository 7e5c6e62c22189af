// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signed manifests, with keys and signatures that the program minisign has made.
#![cfg(unix)]

mod common;

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use common::{hashloom, status, stderr, stdout};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign")
}

/// A folder with minisign's files, and the folder `tree` that the manifest describes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(vectors()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    fs::create_dir(folder.path().join("tree")).unwrap();
    fs::write(folder.path().join("tree/a"), "abc").unwrap();
    folder
}

fn manifest(folder: &Path, arguments: &[&str]) -> Output {
    hashloom().current_dir(folder).arg("manifest").args(arguments).output().unwrap()
}

const CHECK: [&str; 5] = ["check", "manifest", "tree", "--trusted-key", "minisign.pub"];

#[test]
fn what_minisign_has_signed() {
    let folder = folder();
    let folder = folder.path();
    let output = manifest(folder, &CHECK);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    assert!(stdout(&output).starts_with("signed: a test: manifest\nas written: "), "{}", stdout(&output));
    // The key itself; JSON and --quiet have no line for it.
    let key = fs::read_to_string(folder.join("minisign.pub")).unwrap();
    let output =
        manifest(folder, &["check", "manifest", "tree", "--json", "--trusted-key", key.lines().nth(1).unwrap()]);
    assert_eq!((status(&output), stdout(&output).starts_with('{')), (0, true));
    // Elsewhere, and through a pipe.
    fs::rename(folder.join("manifest.minisig"), folder.join("sig")).unwrap();
    let mut child = hashloom();
    child.current_dir(folder).args(["manifest", "check", "-", "tree", "--trusted-key", "minisign.pub"]);
    child.args(["--signature", "sig"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&fs::read(folder.join("manifest")).unwrap()).unwrap();
    assert_eq!(status(&child.wait_with_output().unwrap()), 0);
    // A signature in DIR is no part of it, as the manifest is none.
    for name in ["manifest", "manifest.minisig"] {
        fs::copy(vectors().join(name), folder.join("tree").join(name)).unwrap();
    }
    let output = manifest(folder, &["check", "tree/manifest", "--trusted-key", "minisign.pub"]);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
}

/// Nothing of the folder is read: a file that would be an error, or a difference, is not named.
#[test]
fn what_is_not_signed() {
    let refused = |change: &dyn Fn(&Path), arguments: &[&str], why: &str| {
        let folder = folder();
        fs::write(folder.path().join("tree/new"), "").unwrap();
        change(folder.path());
        let output = manifest(folder.path(), arguments);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{why}: {}", stderr(&output));
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
    };
    let nothing = |_: &Path| {};
    let other = ["check", "manifest", "tree", "--trusted-key", "password.pub"];
    refused(&nothing, &other, "manifest.minisig: the signature is wrong: ");
    refused(&|path| fs::remove_file(path.join("manifest.minisig")).unwrap(), &CHECK, "the manifest is not signed");
    refused(&|path| fs::write(path.join("manifest.minisig"), "").unwrap(), &CHECK, "expected a signature of minisign");
    let legacy = [&CHECK[..], &["--signature", "legacy.minisig"]].concat();
    refused(&nothing, &legacy, "legacy.minisig: the signature is wrong: ");
    let key = |key: &'static str| ["check", "manifest", "tree", "--trusted-key", key];
    refused(&nothing, &key("nosuch.pub"), "--trusted-key: nosuch.pub: No such file");
    refused(&nothing, &key("minisign.key"), "expected a public key of minisign");
    refused(&nothing, &key("/dev/null"), "expected a public key of minisign");
    refused(&nothing, &["check", "-", "tree", "--trusted-key", "minisign.pub"], "name the signature with --signature");
    // A manifest that is right by its own last line.
    let again = |path: &Path| {
        let output = manifest(path, &["write", "tree", "-o", "manifest", "--force"]);
        assert_eq!(status(&output), 0);
    };
    refused(&again, &CHECK, "manifest.minisig: the signature is wrong: ");
    // Any byte of the manifest or of the signature counts, except those of the untrusted comment.
    let nbytes = |name: &str| fs::read(vectors().join(name)).unwrap().len();
    let comment = fs::read_to_string(vectors().join("manifest.minisig")).unwrap().find('\n').unwrap();
    let places = [("manifest", 0), ("manifest.minisig", comment + 1)];
    for (name, first) in places {
        for place in (first..nbytes(name) - 1).step_by(13) {
            let flip = |path: &Path| {
                let mut bytes = fs::read(path.join(name)).unwrap();
                bytes[place] ^= 1;
                fs::write(path.join(name), bytes).unwrap();
            };
            refused(&flip, &CHECK, "");
        }
        for nbytes in (first..nbytes(name) - 1).step_by(29) {
            refused(
                &|path| {
                    let file = fs::File::options().write(true).open(path.join(name)).unwrap();
                    file.set_len(nbytes as u64).unwrap();
                },
                &CHECK,
                "",
            );
        }
    }
}

#[test]
fn what_is_signed_here() {
    let folder = folder();
    let folder = folder.path();
    fs::remove_file(folder.join("manifest")).unwrap();
    let write = ["write", "tree", "-o", "tree/m", "--sign", "minisign.key"];
    let output = manifest(folder, &write);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    let output = manifest(folder, &["check", "tree/m", "--trusted-key", "minisign.pub"]);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    assert!(stdout(&output).starts_with("signed: timestamp:"), "{}", stdout(&output));
    assert!(stdout(&output).contains(r"\x09file:m\x09hashed"), "{}", stdout(&output));
    match Command::new("minisign").current_dir(folder).args(["-Vm", "tree/m", "-p", "minisign.pub"]).output() {
        Ok(output) => assert!(output.status.success(), "{}", stderr(&output)),
        Err(error) => common::skipped::skipped_part("the program minisign accepts a signature", error),
    }
    // Neither file is replaced unless asked, and both are then.
    let before = [fs::read(folder.join("tree/m")).unwrap(), fs::read(folder.join("tree/m.minisig")).unwrap()];
    fs::rename(folder.join("tree/m"), folder.join("kept")).unwrap();
    let output = manifest(folder, &write);
    assert_eq!(status(&output), 2);
    assert!(
        stderr(&output).contains("m.minisig: the signature is not written there: it exists"),
        "{}",
        stderr(&output)
    );
    assert!(!folder.join("tree/m").exists() && fs::read(folder.join("tree/m.minisig")).unwrap() == before[1]);
    assert_eq!(status(&manifest(folder, &[&write[..], &["--force"]].concat())), 0);
    assert_eq!(fs::read(folder.join("tree/m")).unwrap(), before[0]);
    assert_eq!(status(&manifest(folder, &["check", "tree/m", "--trusted-key", "minisign.pub"])), 0);
    let key = fs::read_to_string(folder.join("minisign.key")).unwrap();
    // In the middle of the secret half.
    let place = key.find('\n').unwrap() + 120;
    let other = if &key[place..=place] == "A" { "B" } else { "A" };
    fs::write(folder.join("damaged.key"), [&key[..place], other, &key[place + 1..]].concat()).unwrap();
    for (arguments, why) in [
        (&["write", "tree", "--sign", "minisign.key"][..], "--output"),
        (&["write", "tree", "-o", "/dev/null", "--sign", "minisign.key"], "expected a file, beside which"),
        (&["write", "tree", "-o", "x", "--sign", "minisign.pub"], "expected a secret key of minisign"),
        (&["write", "tree", "-o", "x", "--sign", "nosuch"], "--sign: nosuch: No such file"),
        (&["write", "tree", "-o", "x", "--sign", "/dev/null"], "expected a secret key of minisign"),
        (&["write", "tree", "-o", "x", "--sign", "damaged.key"], "--sign: "),
    ] {
        let output = manifest(folder, arguments);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains(why), "{}", stderr(&output));
        assert!(!folder.join("x").exists());
    }
}

/// Checksums of a release: `tools/sign.sh` looks at each file before it signs.
#[test]
fn what_a_release_has() {
    let folder = folder();
    let release = folder.path().join("release");
    fs::create_dir(&release).unwrap();
    for name in ["b.tar.gz", "a.deb"] {
        fs::write(release.join(name), name).unwrap();
    }
    let sums = hashloom().current_dir(&release).args(["sum", "a.deb", "b.tar.gz"]).output().unwrap().stdout;
    fs::write(release.join("SHA256SUMS"), &sums).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/sign.sh");
    let sign = |key: &str| {
        let program = env!("CARGO_BIN_EXE_hashloom");
        let key = folder.path().join(key);
        Command::new("bash").arg(&script).arg(&release).arg(key).arg(program).output().unwrap()
    };
    let signature = release.join("SHA256SUMS.minisig");
    let output = sign("minisign.key");
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    assert!(fs::read_to_string(&signature).unwrap().contains("\tfile:SHA256SUMS\thashed"));
    let verify = ["-Vm", "release/SHA256SUMS", "-p", "minisign.pub"];
    match Command::new("minisign").current_dir(folder.path()).args(verify).output() {
        Ok(output) => assert!(output.status.success(), "{}", stderr(&output)),
        Err(error) => common::skipped::skipped_part("the program minisign accepts the signature of a release", error),
    }
    let refused = |key: &str, why: &str| {
        let before = fs::read(&signature).ok();
        let output = sign(key);
        assert_ne!(status(&output), 0, "{why}");
        assert!([stdout(&output), stderr(&output)].concat().contains(why), "{}", stderr(&output));
        assert_eq!(fs::read(&signature).ok(), before);
        assert_eq!(fs::read_dir(&release).unwrap().filter(|entry| entry.as_ref().unwrap().path() != signature).count(), 3);
    };
    refused("minisign.pub", "expected a secret key");
    fs::write(release.join("SHA256SUMS"), &sums[..sums.len() / 2 + 1]).unwrap();
    refused("minisign.key", "");
    fs::write(release.join("SHA256SUMS"), sums.split_inclusive(|byte| *byte == b'\n').next().unwrap()).unwrap();
    refused("minisign.key", "< b.tar.gz");
    fs::write(release.join("SHA256SUMS"), &sums).unwrap();
    fs::remove_file(&signature).unwrap();
    fs::write(release.join("a.deb"), "another").unwrap();
    refused("minisign.key", "a.deb");
}

/// The password is asked for at the terminal, and shown nowhere.
#[cfg(target_os = "linux")]
#[test]
fn a_key_with_a_password() {
    let folder = folder();
    let folder = folder.path();
    let sign = |name: &str, password: &str| {
        let line = format!("{} manifest write tree -q -o {name} --sign password.key", env!("CARGO_BIN_EXE_hashloom"));
        let child = Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                common::skipped::skipped_unless_required(format!("script: {error}"));
                return None;
            }
        };
        // The program drops everything typed before the prompt, as every prompt for a password does.
        let (mut prompt, mut byte) = (Vec::new(), [0]);
        let out = child.stdout.as_mut().unwrap();
        while !prompt.ends_with(b"Password of password.key: ") && out.read(&mut byte).unwrap() == 1 {
            prompt.push(byte[0]);
        }
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(format!("{password}\n").as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(!String::from_utf8_lossy(&prompt).contains(password) && !stdout(&output).contains(password));
        drop(stdin);
        Some(output)
    };
    let Some(output) = sign("m", "correct horse") else { return };
    assert_eq!(status(&output), 0, "{}", stdout(&output));
    assert_eq!(status(&manifest(folder, &["check", "m", "tree", "--trusted-key", "password.pub"])), 0);
    assert_eq!(status(&manifest(folder, &["check", "m", "tree", "--trusted-key", "minisign.pub"])), 2);
    let output = sign("n", "wrong horse").unwrap();
    assert_eq!(status(&output), 2);
    assert!(stdout(&output).contains("the password is wrong, or the key is damaged"), "{}", stdout(&output));
    assert!(!folder.join("n").exists() && !folder.join("n.minisig").exists());
}
