// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom slh`, and manifests that its keys have signed. test/slh_openssl.py lets OpenSSL 3.5 verify.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Output;

use hashloom_files::text::base64;

use crate::common::{Ran, hashloom, mode, names, run, run_with, status, stderr, stdout, unprivileged};

fn slh(folder: &Path, arguments: &[&str]) -> Output {
    hashloom().current_dir(folder).arg("slh").args(arguments).output().unwrap()
}

/// Two pairs of keys of one set, one of another, and a file.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (key, set) in [("a", "SLH-DSA-SHA2-128f"), ("b", "slh-dsa-sha2-128F"), ("c", "SLH-DSA-SHAKE-128f")] {
        slh(folder.path(), &["keygen", key, "--algorithm", set]).is(0, "", "");
    }
    fs::write(folder.path().join("file"), "content").unwrap();
    folder
}

#[test]
fn keys() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    // The default, whatever the umask.
    unprivileged_if_possible(folder);
    slh(folder, &["keygen", "key"]).is(0, "", "");
    assert_eq!(fs::metadata(folder.join("key")).unwrap().permissions().mode() & 0o777, 0o600);
    let secret = fs::read_to_string(folder.join("key")).unwrap();
    assert!(secret.starts_with("-----BEGIN PRIVATE KEY-----\nMFICAQAwCwYJYIZIAWUDBAMUBE"), "RFC 9909's head");
    let public = fs::read_to_string(folder.join("key.pub")).unwrap();
    assert!(public.starts_with("-----BEGIN PUBLIC KEY-----\nMDAwCwYJYIZIAWUDBAMUAyEA"));
    // Neither is replaced, nor written without the other.
    let before = [secret, public];
    slh(folder, &["keygen", "key"]).refused("key: it exists, and a key is never replaced: give another KEY");
    fs::rename(folder.join("key"), folder.join("kept")).unwrap();
    slh(folder, &["keygen", "key"]).refused("key.pub: it exists");
    symlink("nowhere", folder.join("link")).unwrap();
    slh(folder, &["keygen", "link"]).refused("link: it exists");
    assert!(!folder.join("key").exists() && !folder.join("nowhere").exists());
    assert_eq!(["kept", "key.pub"].map(|name| fs::read_to_string(folder.join(name)).unwrap()), before);
    slh(folder, &["keygen", "nosuch/key"]).refused("nosuch/key: the key cannot be written: No such file");
    slh(folder, &["keygen", "new", "--algorithm", "ML-DSA-65"])
        .refused("expected a parameter set such as SLH-DSA-SHA2");
    assert!(!folder.join("new").exists());
}

/// The tests of permissions elsewhere do this too; here it only proves that a plain user can make keys.
fn unprivileged_if_possible(folder: &Path) {
    fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    unprivileged(folder, &["slh", "keygen", "own"]).is(0, "", "");
}

#[test]
fn signatures() {
    let folder = folder();
    let folder = folder.path();
    fs::write(folder.join("empty"), "").unwrap();
    slh(folder, &["sign", "--key", "a", "file", "empty", "--threads", "3"]).is(0, "", "");
    assert_eq!(fs::metadata(folder.join("file.sig")).unwrap().len(), 17088);
    slh(folder, &["verify", "--key", "a.pub", "file", "empty"]).is(0, "file: OK\nempty: OK\n", "");
    slh(folder, &["verify", "--key", "a.pub", "file", "empty", "--quiet"]).is(0, "", "");
    // Hedged: never the same twice. Deterministic: always, with any number of threads. Contexts part them.
    slh(folder, &["sign", "--key", "a", "file"]).refused("file.sig: the signature is not written there: it exists");
    let sign = |more: &[&str]| {
        slh(folder, &[&["sign", "--key", "a", "file", "-o", "sig", "--force"], more].concat()).is(0, "", "");
        fs::read(folder.join("sig")).unwrap()
    };
    assert_ne!(sign(&[]), sign(&[]));
    assert_eq!(sign(&["--deterministic", "--threads", "1"]), sign(&["--deterministic", "--threads", "4"]));
    sign(&["--context", "release"]);
    slh(folder, &["verify", "--key", "a.pub", "file", "-s", "sig", "--context", "release"]).is(0, "file: OK\n", "");
    for more in [&[][..], &["--context", "releas"], &["--context", "release "]] {
        slh(folder, &[&["verify", "--key", "a.pub", "file", "-s", "sig"], more].concat())
            .ends(1)
            .prints("file: FAILED\n")
            .says("sig: the signature is wrong: it is not one of this file and this context by this key");
    }
    // Through pipes.
    run_with(folder, &["slh", "sign", "--key", "a", "-", "-o", "piped"], b"content").is(0, "", "");
    run_with(folder, &["slh", "verify", "--key", "a.pub", "-", "-s", "piped"], b"content").is(0, "-: OK\n", "");
    assert_eq!(status(&run_with(folder, &["slh", "verify", "--key", "a.pub", "-", "-s", "piped"], b"contenu")), 1);
    // What is wrong: other keys, bytes that are missing or too many, a file that has changed.
    let wrong = |arguments: &[&str], why: &str| {
        slh(folder, &[&["verify", "file", "--key"], arguments].concat()).ends(1).prints("file: FAILED\n").says(why);
    };
    wrong(&["b.pub"], "it is not one of");
    wrong(&["c.pub"], "it is not one of");
    let right = fs::read(folder.join("file.sig")).unwrap();
    for (bytes, why) in [
        (right[..17087].to_vec(), "expected 17088 bytes, as SLH-DSA-SHA2-128f has, found 17087"),
        ([&right[..], b"\n"].concat(), "found more"),
        (Vec::new(), "found 0"),
    ] {
        fs::write(folder.join("bad"), bytes).unwrap();
        wrong(&["a.pub", "-s", "bad"], why);
    }
    wrong(&["a.pub", "-s", "/dev/zero"], "found more");
    fs::write(folder.join("file"), "Content").unwrap();
    wrong(&["a.pub"], "it is not one of");
    slh(folder, &["verify", "--key", "a.pub", "empty", "file"]).ends(1).prints("empty: OK\nfile: FAILED\n");
}

/// No output takes the place of a key, by whichever name, nor of a file that is signed.
#[test]
fn outputs_that_are_keys() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("tree")).unwrap();
    fs::write(folder.join("tree/file"), [7; 5000]).unwrap();
    for name in ["minisign.key", "minisign.pub", "password.key"] {
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign");
        fs::copy(vectors.join(name), folder.join(name)).unwrap();
        mode(&folder.join(name), 0o600);
    }
    fs::hard_link(folder.join("a"), folder.join("hard")).unwrap();
    symlink("a", folder.join("link")).unwrap();
    fs::copy(folder.join("a.pub"), folder.join("public.half")).unwrap();
    fs::copy(folder.join("a"), folder.join("new.minisig")).unwrap();
    fs::copy(folder.join("a"), folder.join("new.slhsig")).unwrap();
    // A text before the PEM, which the reader of keys skips.
    fs::write(folder.join("titled"), format!("A key\n{}", fs::read_to_string(folder.join("a")).unwrap())).unwrap();
    let keys =
        ["a", "./tree/../a", "hard", "link", "a.pub", "public.half", "titled", "b", "minisign.key", "minisign.pub"];
    let files =
        || names(folder).into_iter().filter(|name| name != "tree").map(|name| fs::read(folder.join(name)).unwrap());
    let before: Vec<_> = files().collect();
    for key in keys.into_iter().chain(["password.key"]) {
        for output in [
            &["slh", "sign", "-k", "a", "file", "-o", key, "--force"][..],
            &["manifest", "write", "tree", "-o", key, "--sign", "a", "--force"],
            &["manifest", "write", "tree", "-o", key, "--sign", "minisign.key", "--force"],
            &["torrent", "create", "tree", "-o", key, "--force"],
            &["tree", "fsverity", "tree/file", "--out-descriptor", key],
        ] {
            run(folder, output).ends(2).says("it is a key, and a key is never replaced");
        }
        run(folder, &["manifest", "log", "add", key, "m", "--sign", "a"]).ends(2);
        run(folder, &["manifest", "write", "tree", "-o", "new", "--sign", "a", "--force"]).ends(2).says("new.slhsig: ");
        run(folder, &["manifest", "write", "tree", "-o", "new", "--sign", "minisign.key", "--force"]).ends(2);
    }
    for (files, output) in [(&["file"][..], "file"), (&["file"], "./file"), (&["-", "file"], "file")] {
        let output = run(folder, &[&["slh", "sign", "-k", "a", "-o", output, "--force"], files].concat());
        assert_eq!(status(&output), 2);
    }
    assert!(files().eq(before), "nothing was written");
    fs::write(folder.join("file.sig"), "file").unwrap();
    run(folder, &["slh", "sign", "-k", "a", "file", "file.sig", "--force"]).refused("file.sig: it is a FILE to sign");
}

/// A key that other users can read is refused, as ssh does.
#[test]
fn keys_that_others_can_read() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("tree")).unwrap();
    let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/minisign");
    fs::copy(vectors.join("minisign.key"), folder.join("minisign.key")).unwrap();
    for (bits, is_right) in
        [(0o644, false), (0o640, false), (0o602, false), (0o601, false), (0o600, true), (0o400, true)]
    {
        ["a", "minisign.key"].iter().for_each(|name| mode(&folder.join(name), bits));
        for (number, command) in [
            &["slh", "sign", "-k", "a", "file", "-o", "sig", "--force"][..],
            &["manifest", "write", "tree", "-q", "-o", "m", "--force", "--sign", "a"],
            &["manifest", "write", "tree", "-q", "-o", "n", "--force", "--sign", "minisign.key"],
            &["mac", "-a", "sha256_hmac", "-k", "a", "file"],
        ]
        .iter()
        .enumerate()
        {
            let output = run(folder, command);
            if is_right {
                output.done();
            } else {
                output
                    .ends(if number == 3 { 1 } else { 2 })
                    .says(&format!("its permissions {bits:04o} let other users"));
                output.says("chmod 600");
            }
        }
    }
}

#[test]
fn refusals() {
    let folder = folder();
    let folder = folder.path();
    let torn = fs::read_to_string(folder.join("a")).unwrap().replace("\n-----END", "").replace("BEGIN", "BEGI");
    fs::write(folder.join("torn"), torn).unwrap();
    // A key of another algorithm: Ed25519, RFC 8410 section 10.1.
    let ed25519 = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n\
                   -----END PUBLIC KEY-----\n";
    fs::write(folder.join("ed25519"), ed25519).unwrap();
    let encrypted = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMAA=\n-----END ENCRYPTED PRIVATE KEY-----\n";
    fs::write(folder.join("encrypted"), encrypted).unwrap();
    ["torn", "encrypted"].iter().for_each(|name| mode(&folder.join(name), 0o600));
    let long = "x".repeat(256);
    for (arguments, why) in [
        (&["sign", "--key", "a.pub", "file"][..], "--key: a.pub: expected a secret key of SLH-DSA: it is a public key"),
        (&["sign", "--key", "torn", "file"], "it has no line -----BEGIN PRIVATE KEY-----"),
        (&["sign", "--key", "encrypted", "file"], "it has a password; `openssl pkey -in KEY -out NEW`"),
        (&["sign", "--key", "/dev/zero", "file"], "--key: /dev/zero: expected a secret key of SLH-DSA"),
        (&["sign", "--key", "nosuch", "file"], "--key: nosuch: No such file"),
        (&["sign", "--key", "a", "nosuch"], "nosuch: No such file"),
        (&["sign", "--key", "a", "."], ".: Is a directory"),
        (&["sign", "--key", "a", "file", "-o", "nosuch/s"], "nosuch/s: the signature cannot be written: No such file"),
        (&["sign", "--key", "a", "-"], "-: name the file of its signature with --output"),
        (&["sign", "--key", "a", "file", "file", "-o", "s"], "--output: expected one FILE, found 2"),
        (&["sign", "--key", "a", "file", "--context", &long], "--context: a context has 255 bytes at most, found 256"),
        (&["verify", "--key", "a", "file"], "--key: a: expected a public key of SLH-DSA: it is a private key"),
        (&["verify", "--key", "ed25519", "file"], "unknown/unsupported algorithm OID: 1.3.101.112"),
        (&["verify", "--key", "a.pub", "file"], "file.sig: No such file"),
        (&["sign", "file"], "--key <KEY>"),
    ] {
        slh(folder, arguments).refused(why);
    }
    assert!(!folder.join("file.sig").exists() && !folder.join("s").exists());
    // A key whose halves do not belong together signs nothing.
    let (a, b) = (fs::read_to_string(folder.join("a")).unwrap(), fs::read_to_string(folder.join("b")).unwrap());
    // Of the 64 bytes of a key the last 21 are in the last 28 letters.
    let place = a.find("\n-----END").unwrap() - 28;
    fs::write(folder.join("mixed"), [&a[..place], &b[place..]].concat()).unwrap();
    mode(&folder.join("mixed"), 0o600);
    slh(folder, &["sign", "--key", "mixed", "file"])
        .refused("file: the new signature is wrong: the machine has erred, or");
    assert!(!folder.join("file.sig").exists());
}

const WRITE: [&str; 7] = ["manifest", "write", "tree", "-o", "m", "--sign", "a"];
const CHECK: [&str; 6] = ["manifest", "check", "m", "tree", "--trusted-key", "a.pub"];

#[test]
fn manifests() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("tree")).unwrap();
    fs::write(folder.join("tree/f"), "content").unwrap();
    run(folder, &WRITE).done();
    assert!(!folder.join("m.minisig").exists());
    let output = run(folder, &CHECK).done();
    output.begins("signed by ").has(": timestamp:").has(", file:m, folder:tree, hashed\nas written: 1 the same");
    let manifest = fs::read(folder.join("m")).unwrap();
    let text = fs::read_to_string(folder.join("m.slhsig")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines.len(), lines[0]), (3, "untrusted comment: signature from hashloom by SLH-DSA-SHA2-128f"));
    let refused = |why: &str| {
        let output = run(folder, &CHECK);
        output.refused(why);
        assert!(!stdout(&output).contains("signed by"));
        fs::write(folder.join("m.slhsig"), &text).unwrap();
        fs::write(folder.join("m"), &manifest).unwrap();
        assert_eq!(status(&run(folder, &CHECK)), 0);
    };
    let signature = |text: String| fs::write(folder.join("m.slhsig"), text).unwrap();
    // Another manifest, that is right by its own last line; a longer one; another comment.
    fs::write(folder.join("tree/f"), "Content").unwrap();
    run(folder, &["manifest", "write", "tree", "-o", "m", "--force"]).done();
    fs::write(folder.join("tree/f"), "content").unwrap();
    refused("m.slhsig: the signature is wrong: it is not one of this content, or its comment was changed");
    fs::write(folder.join("m"), [&manifest[..], b"\n"].concat()).unwrap();
    refused("the signature is wrong: it is not one of this content");
    signature(text.replace("\tfile:m\t", "\tfile:n\t"));
    refused("the signature is wrong: it is not one of this content");
    signature(text.replace("trusted comment: timestamp", "trusted comment: \ttimestamp"));
    refused("the signature is wrong");
    // Keys: another of the same set, one of another set, one with the number of this key's in the signature of another.
    for key in ["b", "c"] {
        let other = [&WRITE[..6], &[key, "--force"]].concat();
        run(folder, &other).done();
        refused("the signature is wrong: it is not one by the key ");
        run(folder, &other).done();
        let theirs = fs::read_to_string(folder.join("m.slhsig")).unwrap();
        let body = theirs.lines().nth(1).unwrap();
        // "SL" and eight bytes of the number are 13 letters and a third; the next letters are the signature's.
        let forged = text.replace(lines[1], &[&lines[1][..16], &body[16..]].concat());
        signature(forged.replace(lines[2], theirs.lines().nth(2).unwrap()));
        refused("the signature is wrong");
    }
    // The raw signature of the manifest as a plain file, in any context, is none of a manifest.
    for context in ["", "hashloom manifest"] {
        slh(folder, &["sign", "--key", "a", "m", "-o", "raw", "--force", "--context", context]).is(0, "", "");
        let raw = fs::read(folder.join("raw")).unwrap();
        let bytes = [&unbase64(&lines[1][..16])[..10], &raw].concat();
        signature(text.replace(lines[1], &base64(&bytes)));
        refused("the signature is wrong: it is not one of this content");
    }
    // Two signatures: the right one counts, wherever it is.
    run(folder, &[&WRITE[..6], &["b", "--force"]].concat()).done();
    let other = fs::read_to_string(folder.join("m.slhsig")).unwrap();
    fs::write(folder.join("m"), &manifest).unwrap();
    signature([&other[..], &text].concat());
    run(folder, &CHECK).done();
    // Neither key is one of the other kind, and what replaces a manifest keeps to its key.
    run(folder, &["manifest", "check", "m", "tree", "--trusted-key", "a"]).refused("it is a private key");
    run(folder, &["manifest", "write", "tree", "-o", "x", "--sign", "a.pub"]).refused("it is a public key");
    run(folder, &["manifest", "write", "tree", "-o", "new", "--update", "m", "--sign", "c"]).refused("by the same key");
    run(folder, &["manifest", "write", "tree", "-o", "new", "--update", "m", "--sign", "a"]).done();
    run(folder, &["manifest", "diff", "m", "new", "--trusted-key", "a.pub"]).done().begins("m: signed by ");
    fs::remove_file(folder.join("m.slhsig")).unwrap();
    run(folder, &CHECK).refused("m.slhsig: No such file or directory: the manifest is not signed");
}

/// Logs have the same signatures.
#[test]
fn logs() {
    let folder = folder();
    let folder = folder.path();
    fs::create_dir(folder.join("tree")).unwrap();
    run(folder, &WRITE).done();
    let add = ["manifest", "log", "add", "log", "m", "--sign"];
    run(folder, &[&add[..], &["a", "--new"]].concat()).done();
    let check = |key: &str| run(folder, &["manifest", "log", "check", "log", "m", "--trusted-key", key]);
    check("a.pub").done().has("newest: m is entry 1 of 1");
    check("b.pub").refused("the signature of the log is wrong: it is not one by the key");
    run(folder, &[&add[..], &["c"]].concat()).refused("");
    let log = fs::read_to_string(folder.join("log")).unwrap();
    fs::write(folder.join("log"), log.replacen("\"date\":\"20", "\"date\":\"19", 1)).unwrap();
    let output = check("a.pub");
    assert_eq!(status(&output), 2, "{}", stderr(&output));
}

fn unbase64(text: &str) -> Vec<u8> {
    let value = |letter: u8| (0..64).find(|&value| base64(&[value << 2]).as_bytes()[0] == letter).unwrap();
    let group = |four: &[u8]| four.iter().fold(0, |sum, &letter| sum << 6 | u32::from(value(letter))).to_be_bytes();
    text.as_bytes().chunks_exact(4).flat_map(|four| group(four)[1..].to_vec()).collect()
}
