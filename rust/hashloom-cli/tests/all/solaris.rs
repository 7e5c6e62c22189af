// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests `digest` and `mac` of Solaris, as commands of `hashloom` and by their own names: options, output, exit
//! statuses. `test/macs.py` tests digests and codes; here all are of "abc" and nothing.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Ran, hashloom, mode, status, stderr, stdout};
use hashloom::Algorithm;
use tempfile::TempDir;

/// SHA-1 of "abc" (FIPS 180-2, appendix A.1) and of nothing.
const ABC: &str = "a9993e364706816aba3e25717850c26c9cd0d89d";
const NOTHING: &str = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
/// HMAC-SHA-1 of "what do ya want for nothing?" under "Jefe" (RFC 2202).
const MAC: &str = "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79";

/// The same with HMAC-SHA-512/256.
const MAC_T: &str = "6df7b24630d5ccb2ee335407081a87188c221489768fa2020513b2d593359456|";

const DIGEST_USAGE: &str = "Usage:\n  digest -l | [-v] -a <algorithm> [file...]\n";
const MAC_USAGE: &str =
    "Usage:\n  mac -l\n  mac [-v] -a <algorithm> [-k <keyfile> | -K <keylabel> [-T <tokenspec>]] [file...]\n";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("abc", b"abc");
    write("-v", b"abc");
    write("-", b"abc");
    write("a b\nc", b"abc");
    write("question", b"what do ya want for nothing?");
    write("key", b"Jefe");
    write("empty", b"");
    ["key", "empty"].iter().for_each(|name| mode(&folder.path().join(name), 0o600));
    fs::create_dir(folder.path().join("folder")).unwrap();
    folder
}

/// The algorithm's name for `digest`.
fn named(algorithm: &Algorithm) -> String {
    algorithm.name().replace('-', "_")
}

/// Runs the program by the name `name`, with no terminal to ask.
fn called(name: &str, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = hashloom();
    command.arg0(name).args(arguments).current_dir(folder);
    command
}

fn run(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    called(name, folder, arguments).output().unwrap()
}

/// Runs `hashloom digest`, not `digest`.
fn run_command(name: &str, folder: &Path, arguments: &[&str]) -> Output {
    hashloom().arg(name).args(arguments).current_dir(folder).output().unwrap()
}

/// Runs cases. Blanks separate arguments, or tabs if an argument has a blank; `|` in the output ends a line.
fn check(name: &str, cases: &[(&str, i32, &str, &str)]) {
    let folder = folder();
    for &(line, expected_status, expected, message) in cases {
        let separator = if line.contains('\t') { '\t' } else { ' ' };
        let arguments: Vec<&str> = line.split(separator).filter(|argument| !argument.is_empty()).collect();
        let output = run(name, folder.path(), &arguments);
        let expected = expected.replace("ABC", ABC).replace("NOTHING", NOTHING).replace("MAC", MAC).replace('|', "\n");
        let mut message = message.replace('|', "\n");
        for (word, text) in [
            ("USAGE", if name == "mac" { MAC_USAGE } else { DIGEST_USAGE }),
            ("GONE", &format!("{name}: can not open input file no: No such file or directory")),
            ("FOLDER", &format!("{name}: error reading file folder: Is a directory")),
            ("KEY", "expected a key of 1 to 1048576 bytes, found"),
            ("BITS", "expected -a sha512_t with -t 224 or -t 256, and -t with nothing else"),
        ] {
            message = message.replace(word, text);
        }
        let found = (status(&output), stdout(&output), stderr(&output));
        assert_eq!(found, (expected_status, expected.as_str(), message.as_str()), "{name} {line}");
    }
}

#[test]
fn digest_prints_and_exits_as_the_manual_says() {
    check(
        "digest",
        &[
            // One file: the digest alone. Several files: with names. Standard input has no name.
            ("-a sha1 abc", 0, "ABC|", ""),
            ("-asha1 abc", 0, "ABC|", ""),
            ("-a sha1 abc empty", 0, "(abc) = ABC|(empty) = NOTHING|", ""),
            ("-a sha1", 0, "NOTHING|", ""),
            ("-v -a sha1", 0, "sha1 NOTHING|", ""),
            ("-v -a sha1 abc", 0, "sha1 (abc) = ABC|", ""),
            ("-va sha1 abc empty", 0, "sha1 (abc) = ABC|sha1 (empty) = NOTHING|", ""),
            ("-a\tsha1\ta b\nc\tabc", 0, "(a b|c) = ABC|(abc) = ABC|", ""),
            // The order is that of the arguments; a file named twice is printed twice.
            ("-a sha1 empty abc empty", 0, "(empty) = NOTHING|(abc) = ABC|(empty) = NOTHING|", ""),
            // Options end at the first file, and - is a file.
            ("-a sha1 abc -v", 0, "(abc) = ABC|(-v) = ABC|", ""),
            ("-a sha1 -- -v", 0, "ABC|", ""),
            ("-a sha1 -", 0, "ABC|", ""),
            ("-v -v -a sha256 -a sha1 abc", 0, "sha1 (abc) = ABC|", ""),
            // A file that cannot be opened gives 2, one that cannot be read 1. The last counts, and the other files are
            // read.
            ("-a sha1 no", 2, "", "GONE|"),
            ("-a sha1 no abc", 2, "(abc) = ABC|", "GONE|"),
            ("-a sha1 folder abc", 1, "(abc) = ABC|", "FOLDER|"),
            ("-a sha1 folder no abc", 2, "(abc) = ABC|", "FOLDER|GONE|"),
            ("-a sha1 no abc folder", 1, "(abc) = ABC|", "GONE|FOLDER|"),
            // Algorithms.
            ("-l", 0, &Algorithm::ALL.iter().map(|algorithm| named(algorithm) + "|").collect::<String>(), ""),
            ("-a md4 abc", 1, "", "digest: unknown algorithm -- md4 (digest -l lists all)|"),
            ("-a SHA1 abc", 1, "", "digest: unknown algorithm -- SHA1 (digest -l lists all)|"),
            ("-a sha1_hmac abc", 1, "", "digest: unknown algorithm -- sha1_hmac (digest -l lists all)|"),
            ("-a sha512_t -t 256 abc", 0, "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23|", ""),
            ("-a sha512_t abc", 2, "", "digest: BITS|"),
            ("-a sha1 -t 224 abc", 2, "", "digest: BITS|"),
            // Usage.
            ("", 2, "", "USAGE"),
            ("abc", 2, "", "USAGE"),
            ("-v", 2, "", "USAGE"),
            ("-l -v", 2, "", "USAGE"),
            ("-l abc", 2, "", "USAGE"),
            ("-l -a sha1", 2, "", "USAGE"),
            ("-a", 2, "", "digest: option requires an argument -- a|USAGE"),
            ("-x", 2, "", "digest: illegal option -- x|USAGE"),
            ("-h", 2, "", "digest: illegal option -- h|USAGE"),
            ("-k key -a sha1 abc", 2, "", "digest: illegal option -- k|USAGE"),
        ],
    );
}

#[test]
fn mac_prints_and_exits_as_the_manual_says() {
    let lines = Algorithm::ALL.iter().filter(|algorithm| algorithm.has_hmac()).map(|algorithm| {
        format!("{:15}         {:5} {:5}|", named(algorithm) + "_hmac", 8, 8 * algorithm.block_nbytes())
    });
    let list = "Algorithm       Keysize:  Min   Max (bits)|------------------------------------------|".to_owned();
    let list = list + &lines.collect::<String>();
    check(
        "mac",
        &[
            ("-a sha1_hmac -k key question", 0, "MAC|", ""),
            ("-k key -v -a sha1_hmac question", 0, "sha1_hmac (question) = MAC|", ""),
            ("-a sha1_hmac -kkey question question", 0, "(question) = MAC|(question) = MAC|", ""),
            ("-l", 0, &list, ""),
            ("-a sha512_t_hmac -t 256 -k key question", 0, MAC_T, ""),
            ("-a sha1 -k key abc", 1, "", "mac: unknown algorithm -- sha1 (mac -l lists all)|"),
            // Keys.
            ("-a sha1_hmac -k no abc", 1, "", "mac: cannot open no: No such file or directory|mac: invalid key.|"),
            ("-a sha1_hmac -k folder abc", 1, "", "mac: cannot open folder: Is a directory|mac: invalid key.|"),
            ("-a sha1_hmac -k empty abc", 1, "", "mac: empty: KEY nothing|mac: invalid key.|"),
            ("-a sha1_hmac -k /dev/zero abc", 1, "", "mac: /dev/zero: KEY more|mac: invalid key.|"),
            // Files.
            (
                "-a sha1_hmac -k key no question folder question",
                1,
                "(question) = MAC|(question) = MAC|",
                "GONE|FOLDER|",
            ),
            // Tokens.
            (
                "-a sha1_hmac -K label -T token question",
                1,
                "",
                "mac: no matching PKCS#11 token (hashloom supports none: put the key into a file for -k)|",
            ),
            ("-a sha1_hmac -T token -k key abc", 2, "", "USAGE"),
            ("-a sha1_hmac -K label -k key abc", 2, "", "USAGE"),
            // Usage.
            ("", 2, "", "USAGE"),
            ("-k key abc", 2, "", "USAGE"),
            ("-l -k key", 2, "", "USAGE"),
            ("-a sha1_hmac -k", 2, "", "mac: option requires an argument -- k|USAGE"),
            ("-x", 2, "", "mac: illegal option -- x|USAGE"),
        ],
    );
}

#[test]
fn commands_of_hashloom_do_the_same_under_their_own_name() {
    let folder = folder();
    run_command("digest", folder.path(), &["-v", "-a", "sha1", "no", "abc"])
        .ends(2)
        .tells("hashloom digest: can not open input file no: No such file or directory\n")
        .prints(&format!("sha1 (abc) = {ABC}\n"));

    run_command("mac", folder.path(), &["-a", "sha1_hmac", "-k", "key", "question"]).is(0, &format!("{MAC}\n"), "");

    // Into the key itself.
    let mut command = called("mac", folder.path(), &["-a", "sha1_hmac", "-k", "key", "question"]);
    command.stdout(fs::File::options().append(true).open(folder.path().join("key")).unwrap());
    command.output().unwrap().ends(1).says("standard output would be written into this key");
    assert_eq!(fs::read(folder.path().join("key")).unwrap(), b"Jefe");

    run_command("digest", folder.path(), &["-a", "md4", "abc"])
        .ends(1)
        .tells("hashloom digest: unknown algorithm -- md4 (hashloom digest -l lists all)\n");
    // Wrong usage is reported as by every command of hashloom.
    run_command("digest", folder.path(), &["-x"])
        .ends(2)
        .prints("")
        .says_first("hashloom: unexpected argument '-x' found");
}

#[test]
fn a_name_that_is_not_text_is_printed_as_it_is_and_shown_in_messages() {
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = std::ffi::OsStr::from_bytes(b"\xff\x1b[31m");
    fs::write(folder.path().join(name), "abc").unwrap();
    let output = called("digest", folder.path(), &["-va", "sha1"]).arg(name).output().unwrap();
    assert_eq!(output.stdout, [b"sha1 (\xff\x1b[31m) = ", ABC.as_bytes(), b"\n"].concat());
    fs::remove_file(folder.path().join(name)).unwrap();
    called("digest", folder.path(), &["-va", "sha1"]).arg(name).output().unwrap().ends(2).says(r"\xff\x1b[31m");
}

#[test]
fn an_empty_name_is_one_that_cannot_be_opened() {
    let folder = folder();
    run("digest", folder.path(), &["-a", "sha1", "", "abc"])
        .ends(2)
        .prints(format!("(abc) = {ABC}\n").as_str())
        .tells("digest: can not open input file : No such file or directory\n");
    run("mac", folder.path(), &["-a", "sha1_hmac", "-k", "", "abc"]).ends(2).prints("");
}

#[test]
fn the_instruction_sets_of_the_environment_hold() {
    let folder = folder();
    for (isa, expected) in [("generic", 0), ("scalar", 0), ("nonsense", 2)] {
        let output = called("digest", folder.path(), &["-a", "sha1", "abc"]).env("HASHLOOM_ISA", isa).output().unwrap();
        let is_known = hashloom::kernels::kernels().any(|kernel| kernel.isa() == isa);
        let expected = if is_known { expected } else { 2 };
        assert_eq!(status(&output), expected, "{isa}: {}", stderr(&output));
        assert!(expected == 0 || stderr(&output).starts_with("digest: --isa or HASHLOOM_ISA: "), "{}", stderr(&output));
    }
}

#[test]
fn help_names_the_program_as_it_is_called() {
    let folder = folder();
    for (name, first) in [("digest", "Usage: digest -l\n"), ("mac", "Usage: mac -l\n")] {
        let output = run(name, folder.path(), &["--help"]).done();
        assert!(stdout(&output).contains(first) && !stdout(&output).contains("hashloom digest"), "{}", stdout(&output));
        assert!(stdout(&output).lines().all(|line| line.len() <= 100));
        run(name, folder.path(), &["--version"]).prints(&format!("{name} {}\n", env!("CARGO_PKG_VERSION")));
    }
}
