// SPDX-License-Identifier: MIT OR Apache-2.0

//! Signed manifests, with keys and signatures that the program minisign has made.

use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{Ran, hashloom, mode, sha256, status, stderr, stdout};
use hashloom_files::run::Options;
use hashloom_manifest::Scan;
use hashloom_state::State;

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign")
}

/// A folder with minisign's files, and the folder `tree` that the manifest describes.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(vectors()).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
        mode(&folder.path().join(entry.file_name()), 0o600);
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
    let output = manifest(folder, &CHECK).done();
    output.begins("signed by C0371020E1BC610F: a test: manifest\nas written: ");
    // The key itself; JSON and --quiet have no line for it.
    let key = fs::read_to_string(folder.join("minisign.pub")).unwrap();
    let output =
        manifest(folder, &["check", "manifest", "tree", "--json", "--trusted-key", key.lines().nth(1).unwrap()]);
    assert_eq!((status(&output), stdout(&output).starts_with('{')), (0, true));
    let summary: serde_json::Value = serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap();
    let expected = serde_json::json!({"key": "C0371020E1BC610F", "comment": "a test: manifest"});
    assert_eq!(summary["signature"], expected, "the comment names neither a manifest nor a folder");
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
    manifest(folder, &["check", "tree/manifest", "--trusted-key", "minisign.pub"]).done();
}

/// Nothing of the folder is read: a file that would be an error, or a difference, is not named.
#[test]
fn what_is_not_signed() {
    let refused = |change: &dyn Fn(&Path), arguments: &[&str], why: &str| {
        let folder = folder();
        fs::write(folder.path().join("tree/new"), "").unwrap();
        change(folder.path());
        manifest(folder.path(), arguments).refused(why);
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
        manifest(path, &["write", "tree", "-o", "manifest", "--force"]).ends(0);
    };
    refused(&again, &CHECK, "manifest.minisig: the signature is wrong: ");
}

#[test]
fn what_is_signed_here() {
    let folder = folder();
    let folder = folder.path();
    fs::remove_file(folder.join("manifest")).unwrap();
    let write = ["write", "tree", "-o", "tree/m", "--sign", "minisign.key"];
    manifest(folder, &write).done();
    let output = manifest(folder, &["check", "tree/m", "--trusted-key", "minisign.pub"]).done();
    output.begins("signed by C0371020E1BC610F: timestamp:").has(", file:m, folder:tree, hashed\n");
    match Command::new("minisign").current_dir(folder).args(["-Vm", "tree/m", "-p", "minisign.pub"]).output() {
        Ok(output) => assert!(output.status.success(), "{}", stderr(&output)),
        Err(error) => crate::common::skipped::skipped_part("the program minisign accepts a signature", error),
    }
    // Neither file is replaced unless asked, and both are then.
    let before = [fs::read(folder.join("tree/m")).unwrap(), fs::read(folder.join("tree/m.minisig")).unwrap()];
    fs::rename(folder.join("tree/m"), folder.join("kept")).unwrap();
    let output = manifest(folder, &write);
    assert_eq!(status(&output), 2);
    output.says("m.minisig: the signature is not written there: it exists");
    assert!(!folder.join("tree/m").exists() && fs::read(folder.join("tree/m.minisig")).unwrap() == before[1]);
    assert_eq!(status(&manifest(folder, &[&write[..], &["--force"]].concat())), 0);
    assert_eq!(fs::read(folder.join("tree/m")).unwrap(), before[0]);
    assert_eq!(status(&manifest(folder, &["check", "tree/m", "--trusted-key", "minisign.pub"])), 0);
    let key = fs::read_to_string(folder.join("minisign.key")).unwrap();
    // In the middle of the secret half.
    let place = key.find('\n').unwrap() + 120;
    let other = if &key[place..=place] == "A" { "B" } else { "A" };
    fs::write(folder.join("damaged.key"), [&key[..place], other, &key[place + 1..]].concat()).unwrap();
    mode(&folder.join("damaged.key"), 0o600);
    for (arguments, why) in [
        (&["write", "tree", "--sign", "minisign.key"][..], "--output"),
        (&["write", "tree", "-o", "/dev/null", "--sign", "minisign.key"], "expected a file, beside which"),
        (&["write", "tree", "-o", "x", "--sign", "minisign.pub"], "expected a secret key of minisign"),
        (&["write", "tree", "-o", "x", "--sign", "nosuch"], "--sign: nosuch: No such file"),
        (&["write", "tree", "-o", "x", "--sign", "/dev/null"], "expected a secret key of minisign"),
        (&["write", "tree", "-o", "x", "--sign", "damaged.key"], "--sign: "),
    ] {
        manifest(folder, arguments).refused(why);
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
    sign("minisign.key").done();
    assert!(fs::read_to_string(&signature).unwrap().contains("\tfile:SHA256SUMS\thashed"));
    let verify = ["-Vm", "release/SHA256SUMS", "-p", "minisign.pub"];
    match Command::new("minisign").current_dir(folder.path()).args(verify).output() {
        Ok(output) => assert!(output.status.success(), "{}", stderr(&output)),
        Err(error) => {
            crate::common::skipped::skipped_part("the program minisign accepts the signature of a release", error)
        }
    }
    let refused = |key: &str, why: &str| {
        let before = fs::read(&signature).ok();
        let output = sign(key);
        assert_ne!(status(&output), 0, "{why}");
        assert!([stdout(&output), stderr(&output)].concat().contains(why), "{}", stderr(&output));
        assert_eq!(fs::read(&signature).ok(), before);
        assert_eq!(
            fs::read_dir(&release).unwrap().filter(|entry| entry.as_ref().unwrap().path() != signature).count(),
            3
        );
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
                crate::common::skipped::skipped_unless_required(format!("script: {error}"));
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
    sign("n", "wrong horse").unwrap().ends(2).has("the password is wrong, or the key is damaged");
    assert!(!folder.join("n").exists() && !folder.join("n.minisig").exists());
}

const FORCE: [&str; 7] = ["write", "tree", "-o", "m", "--force", "--sign", "minisign.key"];
const CHECK_M: [&str; 5] = ["check", "m", "tree", "--trusted-key", "minisign.pub"];

/// A secret key with another number than minisign.key has.
fn other_key(folder: &Path) {
    let key = fs::read_to_string(folder.join("minisign.key")).unwrap();
    let place = key.find('\n').unwrap() + 1 + 72;
    fs::write(folder.join("other.key"), [&key[..place], "AAAA", &key[place + 4..]].concat()).unwrap();
    mode(&folder.join("other.key"), 0o600);
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) {
    fs::write(folder.join(name), text).unwrap();
}

/// The summary of a check or diff with `--json`.
fn summary(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let output = manifest(folder, &[arguments, &["--json"]].concat());
    assert!(status(&output) < 2, "{}", stderr(&output));
    serde_json::from_str(stdout(&output).lines().last().unwrap()).unwrap()
}

/// While a manifest is replaced, its file of signatures has that of the old and that of the new one. test/manifest.py
/// ends a run at each of its system calls.
#[test]
fn a_signature_is_there_while_a_manifest_is_replaced() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    let old = (read(folder, "m"), read(folder, "m.minisig"));
    write(folder, "tree/b", "b");
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    let new = (read(folder, "m"), read(folder, "m.minisig"));
    assert_eq!(new.1.lines().count(), 4);
    let both = [&old.1[..], &new.1].concat();
    for (content, expected) in [(&old, 1), (&new, 0)] {
        write(folder, "m", &content.0);
        write(folder, "m.minisig", &both);
        assert_eq!(status(&manifest(folder, &CHECK_M)), expected);
        // The comment is that of the right one.
        let comment = content.1.lines().nth(2).unwrap().strip_prefix("trusted comment: ").unwrap();
        assert_eq!(summary(folder, &CHECK_M)["signature"]["comment"], comment);
    }
    // Signatures by other keys are kept until the new manifest is there, as nobody here can check them.
    for (text, why) in [
        ([&both[..], "x\n"].concat(), "expected a signature of minisign or SLH-DSA from line 9 on"),
        (both.repeat(3), "expected up to 4 signatures, found more"),
    ] {
        write(folder, "m.minisig", text);
        manifest(folder, &CHECK_M).ends(2).says(why);
    }
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    assert_eq!(status(&manifest(folder, &CHECK_M)), 0);
    // A signature without a manifest is what an ended run left, if its progress is there too, and another's if not.
    let first: Vec<&str> = FORCE.into_iter().filter(|word| *word != "--force").collect();
    let (signature, progress) = (read(folder, "m.minisig"), read(folder, "m"));
    for (has_progress, signature, expected) in [(false, &signature, 2), (true, &signature, 0), (true, &progress, 2)] {
        fs::remove_file(folder.join("m")).unwrap();
        write(folder, "m.minisig", signature);
        if has_progress {
            drop(state(folder, "m.partial", Some(&state_key(folder, "minisign.key"))));
        }
        manifest(folder, &first).ends(expected);
        assert_eq!(folder.join("m").exists(), expected == 0);
        if expected == 2 {
            assert_eq!(read(folder, "m.minisig"), *signature);
            write(folder, "m", "");
        }
    }
}

/// A check finds a right signature also while another run replaces manifest and signature.
#[test]
fn a_check_beside_a_run_that_signs() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for number in 0..25 {
                write(folder, "tree/b", number.to_string());
                assert_eq!(status(&manifest(folder, &FORCE)), 0);
            }
        });
        while !writer.is_finished() {
            let output = manifest(folder, &CHECK_M);
            // Whoever stands still between two reads finds another manifest each time, and may say so.
            let text = stderr(&output);
            assert!(status(&output) < 2 || text.contains("m: changed while it was read"), "{text}");
        }
    });
}

#[test]
fn the_names_in_the_comment_are_compared() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    fs::rename(folder.join("tree"), folder.join("copy")).unwrap();
    for suffix in ["", ".minisig"] {
        fs::copy(folder.join(format!("m{suffix}")), folder.join(format!("n{suffix}"))).unwrap();
    }
    std::os::unix::fs::symlink("copy", folder.join("tree")).unwrap();
    for (name, place, is_this_file, is_this_folder) in
        [("m", "copy", true, false), ("n", "copy", false, false), ("m", "tree", true, false)]
    {
        let check = ["check", name, place, "--trusted-key", "minisign.pub"];
        let output = manifest(folder, &check);
        assert_eq!(status(&output), 0);
        assert_eq!(stderr(&output).contains("of a manifest named m: n may be another one"), !is_this_file);
        assert_eq!(
            stderr(&output).contains(&format!("of a folder named tree: {place} may be another")),
            !is_this_folder
        );
        let signature = &summary(folder, &check)["signature"];
        assert_eq!((&signature["file"], &signature["folder"]), (&"m".into(), &"tree".into()));
        assert_eq!(signature["is_this_file"], is_this_file);
        assert_eq!(signature["is_this_folder"], is_this_folder);
        assert_eq!(stderr(&manifest(folder, &[&check[..], &["--quiet"]].concat())), "");
    }
    // Names that could be taken for parts of the comment are escaped.
    let name = "a\tfolder:b\n";
    fs::rename(folder.join("copy"), folder.join(name)).unwrap();
    assert_eq!(status(&manifest(folder, &["write", name, "-o", "m", "--force", "--sign", "minisign.key"])), 0);
    let signature = &summary(folder, &["check", "m", name, "--trusted-key", "minisign.pub"])["signature"];
    assert_eq!((&signature["folder"], &signature["is_this_folder"]), (&r"a\x09folder:b\x0a".into(), &true.into()));
    assert_eq!(read(folder, "m.minisig").lines().count(), 4);
}

#[test]
fn a_diff_of_signed_manifests() {
    let folder = folder();
    let folder = folder.path();
    assert_eq!(status(&manifest(folder, &FORCE)), 0);
    write(folder, "tree/b", "b");
    assert_eq!(status(&manifest(folder, &["write", "tree", "-o", "n", "--sign", "minisign.key"])), 0);
    let diff = ["diff", "m", "n", "--trusted-key", "minisign.pub"];
    let output = manifest(folder, &diff);
    output.ends(1).tells("");
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(lines[0].starts_with("m: signed by C0371020E1BC610F: timestamp:"), "{}", lines[0]);
    assert!(lines[1].starts_with("n: signed by C0371020E1BC610F: ") && lines[2].starts_with("added "), "{lines:?}");
    let signatures = &summary(folder, &diff)["signatures"];
    assert_eq!((&signatures["old"]["file"], &signatures["new"]["file"]), (&"m".into(), &"n".into()));
    assert_eq!(signatures["new"]["is_this_file"], true);
    // Without both signatures nothing is said.
    let refused = |arguments: &[&str], why: &str| {
        manifest(folder, arguments).refused(why);
    };
    refused(&["diff", "m", "n", "--trusted-key", "password.pub"], "the signature is wrong");
    refused(
        &["diff", "m", "-", "--trusted-key", "minisign.pub"],
        "standard input: expected a file, which has its signature",
    );
    for name in ["m", "n"] {
        let right = read(folder, name);
        write(folder, name, right.replace("\"files\":", " \"files\":"));
        refused(&diff, &format!("{name}.minisig: the signature is wrong"));
        write(folder, name, right);
        fs::rename(folder.join(format!("{name}.minisig")), folder.join("away")).unwrap();
        refused(&diff, "the manifest is not signed");
        fs::rename(folder.join("away"), folder.join(format!("{name}.minisig"))).unwrap();
    }
}

/// The lines of files in a manifest: path and SHA-256.
fn digests(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let files = lines.filter(|line| line["type"] == "file");
    files.map(|line| (line["path"].as_str().unwrap().to_owned(), line["sha256"].as_str().unwrap().to_owned())).collect()
}

/// Puts another digest into a manifest, and makes its last line anew.
fn forged(text: &str, old: &str, new: &str) -> String {
    let text = text.replace(old, new);
    let (lines, end) = text.split_at(text.trim_end().rfind('\n').unwrap() + 1);
    let mut end: serde_json::Value = serde_json::from_str(end).unwrap();
    end["sha256"] = sha256(lines).into();
    format!("{lines}{end}\n")
}

const UPDATE: [&str; 9] = ["write", "tree", "-o", "m", "--force", "--update", "old", "--sign", "minisign.key"];

#[test]
fn digests_of_an_old_manifest_need_its_signature() {
    let folder = folder();
    let folder = folder.path();
    other_key(folder);
    write(folder, "tree/b", "b");
    assert_eq!(status(&manifest(folder, &["write", "tree", "-o", "old", "--sign", "minisign.key"])), 0);
    write(folder, "tree/c", "c");
    let output = manifest(folder, &UPDATE).done();
    let last = stdout(&output).lines().last().unwrap();
    assert!(last.ends_with("; 2 files taken over from OLD, by length and time alone"), "{last}");
    let comment = &summary(folder, &CHECK_M)["signature"]["comment"];
    assert!(comment.as_str().unwrap().ends_with("\tfile:m\tfolder:tree\ttaken-over:2\thashed"), "{comment}");
    let before = (read(folder, "m"), read(folder, "m.minisig"));
    let right = (read(folder, "old"), read(folder, "old.minisig"));
    assert_eq!(status(&manifest(folder, &["write", "tree", "-o", "others", "--sign", "other.key"])), 0);
    let others = read(folder, "others.minisig");
    let evil = forged(&right.0, &sha256("b"), &sha256("evil"));
    assert_eq!(digests(&evil)[1], ("b".to_owned(), sha256("evil")));
    for (old, signature, why) in [
        (&evil, Some(&right.1), "old.minisig: the signature is wrong: it is not one of this content"),
        (&right.0, None, "old.minisig: No such file or directory"),
        (&right.0, Some(&others), "the signature is wrong: it is not one by the key C0371020E1BC610F"),
        (&right.0, Some(&before.1), "the signature is wrong: it is not one of this content"),
        (&right.0, Some(&String::new()), "expected a signature of minisign or SLH-DSA, found nothing"),
    ] {
        write(folder, "old", old);
        fs::remove_file(folder.join("old.minisig")).unwrap();
        if let Some(signature) = signature {
            write(folder, "old.minisig", signature);
        }
        let output = manifest(folder, &UPDATE);
        output.ends(2).prints("");
        assert!(stderr(&output).contains("--update: old") || stderr(&output).contains("old.minisig"));
        output.says(why).says("sign it, or leave out --update");
        assert_eq!((read(folder, "m"), read(folder, "m.minisig")), before);
        write(folder, "old.minisig", "");
    }
    manifest(folder, &["write", "tree", "-o", "x", "--update", "-", "--sign", "minisign.key"])
        .ends(2)
        .says("its signature beside it");
    // Without --sign an update needs no signature, and a manifest of another folder is named.
    write(folder, "old", &right.0);
    write(folder, "old.minisig", &right.1);
    fs::rename(folder.join("tree"), folder.join("other")).unwrap();
    let arguments: Vec<&str> = UPDATE.iter().map(|&word| if word == "tree" { "other" } else { word }).collect();
    manifest(folder, &arguments).ends(0).says("named tree: other may be another");
    fs::remove_file(folder.join("old.minisig")).unwrap();
    assert_eq!(status(&manifest(folder, &["write", "other", "-o", "m", "--update", "old", "--force"])), 0);
}

/// Whatever is changed of what a signing run reads: it ends with an error and what was there before, or with a signed
/// manifest of the folder as it is. Digests of an old manifest are in it only where length and time are still those,
/// and only if its own signature is right.
#[test]
fn a_signature_covers_what_was_read_or_signed_before() {
    let source = folder();
    let source = source.path();
    let names = ["tree/a", "tree/b", "tree/c", "old", "old.minisig", "m", "m.minisig", "m.partial", "minisign.key"];
    write(source, "tree/b", "was b");
    let time = fs::metadata(source.join("tree/b")).unwrap().modified().unwrap();
    assert_eq!(status(&manifest(source, &["write", "tree", "-o", "old", "--sign", "minisign.key"])), 0);
    assert_eq!(status(&manifest(source, &FORCE)), 0);
    // Rotten since, and new since.
    write(source, "tree/b", "is b!");
    fs::File::options().write(true).open(source.join("tree/b")).unwrap().set_modified(time).unwrap();
    write(source, "tree/c", "c");
    let rotten = sha256("was b");
    let old = read(source, "old");
    let evil = forged(&old, &rotten, &sha256("evil!"));
    let attempt = |what: &str, change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("tree")).unwrap();
        for name in ["minisign.pub"].iter().chain(&names) {
            if let Ok(bytes) = fs::read(source.join(name)) {
                write(folder, name, bytes);
                mode(&folder.join(name), 0o600);
                let time = fs::metadata(source.join(name)).unwrap().modified().unwrap();
                fs::File::options().write(true).open(folder.join(name)).unwrap().set_modified(time).unwrap();
            }
        }
        change(folder);
        let files = |names: &[&str]| names.iter().map(|name| fs::read(folder.join(name)).ok()).collect::<Vec<_>>();
        let before = files(&["m", "m.minisig"]);
        let content = files(&names[..3]);
        let output = manifest(folder, &UPDATE);
        match status(&output) {
            2 => assert_eq!(files(&["m", "m.minisig"]), before, "{what}"),
            0 => {
                let checked = manifest(folder, &CHECK_M);
                assert!(status(&checked) < 2, "{what}: {}", stderr(&checked));
                let found = digests(&read(folder, "m"));
                let expected = |at: usize| content[at].as_ref().map(sha256).unwrap();
                for (path, digest) in &found {
                    let at = names.iter().position(|name| *name == format!("tree/{path}")).unwrap();
                    let is_old = *path == "b" && *digest == rotten;
                    assert!(is_old || *digest == expected(at), "{what}: {path} {digest}");
                }
                let comment = summary(folder, &CHECK_M)["signature"]["comment"].to_string();
                let has_old = found.contains(&("b".to_owned(), rotten.clone()));
                assert!(!has_old || comment.contains("taken-over:"), "{what}: {comment}");
            }
            other => panic!("{what}: exit status {other}: {}", stderr(&output)),
        }
        status(&output)
    };
    assert_eq!(attempt("nothing", &|_| ()), 0);
    for name in &names[..names.len() - 2] {
        for place in 0..fs::read(source.join(name)).map_or(0, |bytes| bytes.len()) {
            if place % 31 == 0 || place < 4 {
                let flip = |folder: &Path| {
                    let mut bytes = fs::read(folder.join(name)).unwrap();
                    bytes[place] ^= 1 << (place % 8);
                    write(folder, name, bytes);
                };
                attempt(&format!("{name}, byte {place}"), &flip);
            }
        }
    }
    let of_old = read(source, "old.minisig");
    let swapped = |name: &'static str, content: String| move |folder: &Path| write(folder, name, &content);
    assert_eq!(attempt("M forged", &swapped("m", evil.clone())), 0);
    assert_eq!(
        attempt("M and OLD exchanged", &|folder: &Path| {
            let (m, old) = (read(folder, "m"), read(folder, "old"));
            write(folder, "m", old);
            write(folder, "old", m);
        }),
        0,
        "both have the same content"
    );
    assert_eq!(attempt("no M", &|folder: &Path| fs::remove_file(folder.join("m")).unwrap()), 0);
    assert_eq!(attempt("signatures of M", &swapped("m.minisig", of_old.repeat(4))), 0);
    assert_eq!(attempt("a long text as the signature of M", &swapped("m.minisig", "x\n".repeat(100_000))), 0);
    assert_eq!(attempt("progress that is none", &swapped("m.partial", evil.clone())), 2);
    assert_eq!(attempt("a key that is none", &swapped("minisign.key", of_old.clone())), 2);
}

/// The key by which the progress of a run with this secret key is authenticated.
fn state_key(folder: &Path, name: &str) -> [u8; 32] {
    let key = hashloom_signature::Signer::parse(&read(folder, name), None).unwrap();
    *key.state_key()
}

fn state(folder: &Path, name: &str, secret: Option<&[u8]>) -> State {
    let file = fs::File::options().read(true).append(true).create(true).open(folder.join(name)).unwrap();
    State::open(file, &Scan::subject(&[hashloom::Algorithm::Sha256]), secret).unwrap()
}

/// Progress with a forged digest, of the file as it is: by nobody, by another key, by the own key, and changed since.
#[test]
fn progress_is_signed_only_if_this_key_wrote_it() {
    let folder = folder();
    let folder = folder.path();
    if !crate::common::is_trusted(folder) {
        return;
    }
    std::thread::sleep(std::time::Duration::from_millis(200));
    // Another secret.
    let key = read(folder, "minisign.key");
    let place = key.find('\n').unwrap() + 1 + 100;
    write(folder, "other.key", [&key[..place], "AAAA", &key[place + 4..]].concat());
    mode(&folder.join("other.key"), 0o600);
    let (own, other) = (state_key(folder, "minisign.key"), state_key(folder, "other.key"));
    assert_ne!(own, other);
    let scan = Scan::new(&folder.join("tree")).state(state(folder, "plain", None));
    scan.run(&Options::new(), |_| Ok::<(), std::fmt::Error>(())).unwrap();
    let (tie, digest) = state(folder, "plain", None).last(b"a").unwrap();
    assert_eq!(digest, sha256("abc"));
    let evil = sha256("evil");
    let begin = |secret: Option<&[u8]>, value: &str| {
        let _ = fs::remove_file(folder.join("m.partial"));
        state(folder, "m.partial", secret).add(b"a", &tie, value).unwrap();
    };
    for secret in [None, Some(&other[..])] {
        begin(secret, &evil);
        let before = read(folder, "m.partial");
        manifest(folder, &FORCE).refused("m.partial: nothing in it counts: it is not authenticated by this key. It is");
        assert!(!folder.join("m").exists() && read(folder, "m.partial") == before);
    }
    // A line of a state that this key has authenticated is another's in this one; so is a line that was changed.
    begin(Some(&own), &evil);
    let line = read(folder, "m.partial").lines().nth(1).unwrap().to_owned();
    begin(Some(&own), &digest);
    let whole = read(folder, "m.partial");
    for forged in [whole.replace(whole.lines().nth(1).unwrap(), &line), whole.replace(&digest, &evil)] {
        write(folder, "m.partial", forged);
        manifest(folder, &FORCE).done();
        assert_eq!(digests(&read(folder, "m")), [("a".to_owned(), digest.clone())]);
    }
    // What the same key wrote is taken over, in this folder only; without --sign it is not.
    write(folder, "m.partial", &whole);
    manifest(folder, &["write", "tree", "-o", "m", "--force"]).ends(2);
    manifest(folder, &FORCE).has("; 1 file taken over from the interrupted run");
    fs::rename(folder.join("tree"), folder.join("moved")).unwrap();
    write(folder, "m.partial", &whole);
    manifest(folder, &["write", "moved", "-o", "m", "--force", "--sign", "minisign.key"])
        .tells("resume: 1 file is read again: last read in another folder\n");
}

/// A file changes between two contents while the folder is read.
#[test]
fn a_signature_covers_no_mixture() {
    let folder = folder();
    let folder = folder.path();
    let contents = [vec![b'1'; 3 << 20], vec![b'2'; 3 << 20]];
    write(folder, "tree/a", &contents[0]);
    let [one, other] = &contents;
    crate::common::while_written(&folder.join("tree/a"), &[other, one], || {
        for _ in 0..20 {
            let output = manifest(folder, &FORCE);
            assert!(status(&output) < 2, "{}", stderr(&output));
            for (_, digest) in digests(&read(folder, "m")) {
                assert!(contents.iter().any(|content| sha256(content) == digest));
            }
        }
    });
    assert!(status(&manifest(folder, &CHECK_M)) < 2);
}
