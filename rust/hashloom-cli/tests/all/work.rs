// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom work` as a person or a script does: what is found, resumed searches, wrong arguments.

use std::process::Output;

use crate::common::{Ran, hashloom, hex, status, stderr, stdout};
use sha1::Sha1;
use sha2::{Digest, Sha256};

fn work(arguments: &[&str]) -> Output {
    hashloom().arg("work").args(arguments).output().unwrap()
}

/// Returns the output of a search that finds something.
fn found(arguments: &[&str]) -> String {
    let output = work(arguments);
    assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
    stdout(&output).to_owned()
}

const BLOCK_125552: &str = concat!(
    "0100000081cd02ab7e569e8bcd9317e2fe99f2de44d49ab2b8851ba4a308000000000000",
    "e320b6c2fffc8d750423db8b1eb942ae710e951ed797f7affc8892b0f1fc122bc7f5d74df2b9441a42a14695"
);

#[test]
fn all_nonces_of_a_range_are_those_of_another_library() {
    let sha256 = |nonce: u32| hex(Sha256::digest(format!("k8juvewcui000000abcdef{nonce}")));
    let expected: String = (500..=30_000)
        .map(|nonce| (nonce, sha256(nonce)))
        .filter(|(_, digest)| u64::from_str_radix(&digest[..12], 16).unwrap() <= 300_000_000_000)
        .map(|(nonce, digest)| format!("{nonce}  {digest}\n"))
        .collect();
    // 300,000,000,000 of 2^48.
    let some = ["--prefix", "k8juvewcui000000abcdef", "--target", "0045d964b800", "--range", "500..30000"];
    assert!(expected.lines().count() > 10);
    for threads in ["1", "2", "9"] {
        let all = found(&[&some[..], &["--all", "--threads", threads]].concat());
        assert_eq!(all, expected);
        assert_eq!(
            found(&[&some[..], &["--threads", threads]].concat()),
            expected.split_inclusive('\n').next().unwrap()
        );
    }

    let twice = |nonce: u32| {
        let message = [b"a".as_slice(), &nonce.to_be_bytes()[1..], b"b"].concat();
        hex(Sha1::digest(Sha256::digest(message)))
    };
    let expected: String = (65_000..=66_000)
        .map(|nonce| (nonce, twice(nonce)))
        .filter(|(_, digest)| digest[..4] <= *"0234")
        .map(|(nonce, digest)| format!("{nonce}  {digest}\n"))
        .collect();
    let general = ["--prefix", "a", "--suffix-hex", "62", "--again", "sha1", "--target", "0234", "--binary"];
    let more = ["--width", "3", "--range", "65000..66000", "--all"];
    assert!(!expected.is_empty());
    assert_eq!(found(&[&general[..], &more].concat()), expected);
}

#[test]
fn a_block_of_bitcoin() {
    let hash = "00000000000000001e8d6829a8a21adc5d38d0a473b144b6765798e61f98bd1d";
    let range = ["--range", "2504400000..2504433986"];
    // With the nonce, which does not matter, and without it.
    for header in [&format!("{}00000000", &BLOCK_125552[..152]), &BLOCK_125552[..152], BLOCK_125552] {
        let arguments = [&["--bitcoin-header", header][..], &range].concat();
        assert_eq!(found(&arguments), format!("2504433986  {hash}\n"));
        let json = format!("{{\"nonce\":2504433986,\"digest\":\"{hash}\",\"header\":\"{BLOCK_125552}\"}}\n");
        assert_eq!(found(&[&arguments[..], &["--json"]].concat()), json);
    }
    // One nonce, right and wrong.
    let one = ["--bitcoin-header", BLOCK_125552, "--range", "2504433986..2504433986"];
    assert_eq!(found(&one), format!("2504433986  {hash}\n"));
    work(&["--bitcoin-header", BLOCK_125552, "--range", "2504433987..2504433987"])
        .ends(1)
        .prints("")
        .says_first("hashloom: no nonce from 2504433987 to 2504433987 is low enough: 1 tried in ");
}

#[test]
fn nonces_at_the_end_of_64_bits() {
    let all = found(&["--zero-bits", "0", "--all", "--range", "18446744073709551613.."]);
    let nonces: Vec<_> = all.lines().map(|line| line.split_once("  ").unwrap().0).collect();
    assert_eq!(nonces, ["18446744073709551613", "18446744073709551614", "18446744073709551615"]);
    let binary = found(&["--zero-bits", "0", "--digits", "01", "--range", "18446744073709551615.."]);
    assert_eq!(binary, format!("{}  {}\n", "1".repeat(64), hex(Sha256::digest("1".repeat(64)))));
    // The last nonce of a width.
    let all = found(&["--zero-bits", "0", "--width", "2", "--all", "--range", "98.."]);
    assert_eq!(all.lines().map(|line| &line[..4]).collect::<Vec<_>>(), ["98  ", "99  "]);
    work(&["--zero-bits", "256", "--width", "2"]).ends(1).says("no nonce from 0 to 99 is low enough: 100 tried");
    work(&["--zero-bits", "256", "--range", "18446744073709551000.."]).ends(1).says(": 616 tried");
}

#[test]
fn wrong_arguments_are_misuse() {
    let (long, odd) = ("00".repeat(33), "0".repeat(151));
    // Bits 00000000, a negative target, one above 2^256.
    let header = |bits: &str| format!("{}{bits}", "00".repeat(72));
    let headers =
        [header("00000000"), header("000080ff"), header("ffff7f04").replace("ffff7f04", "010080 "), header("ffffff22")];
    let plain = "--prefix a | --bitcoin-header 0 | --bitcoin-header xyz | --zero-bits 257 | \
        --zero-bits 99999999999999999999 | \
        --zero-bits -1 | --zero-bits 161 --again ripemd160 | --zero-bits 1 --target 00 | --target 0 | \
        --target zz | --zero-bits 1 --prefix-hex 0 | --zero-bits 1 --prefix-hex 00 --prefix a | \
        --zero-bits 1 --digits 0 | --zero-bits 1 --digits 010 | --zero-bits 1 --digits 01 --binary | \
        --zero-bits 1 --width 0 | --zero-bits 1 --width 65 | --zero-bits 1 --width 18446744073709551615 | \
        --zero-bits 1 --width 2 --range 0..100 | --zero-bits 1 --width 2 --range 100.. | \
        --zero-bits 1 --range 9..3 | --zero-bits 1 --range 3 | --zero-bits 1 --range 0..18446744073709551616 | \
        --zero-bits 1 --threads 0 | --zero-bits 1 --algorithm sha3";
    let mut wrong: Vec<Vec<&str>> = vec![
        vec![],
        vec!["--bitcoin-header", ""],
        vec!["--bitcoin-header", &odd],
        vec!["--bitcoin-header", BLOCK_125552, "--range", "0..4294967296"],
        vec!["--bitcoin-header", BLOCK_125552, "--range", "4294967296.."],
        vec!["--bitcoin-header", BLOCK_125552, "--width", "4"],
        vec!["--bitcoin-header", BLOCK_125552, "--zero-bits", "1"],
        vec!["--bitcoin-header", BLOCK_125552, "--prefix", "a"],
        vec!["--bitcoin-header", BLOCK_125552, "--again", "sha1"],
        vec!["--target", ""],
        vec!["--target", &long],
        vec!["--zero-bits", "1", "--digits", ""],
        vec!["--zero-bits", "1", "--digits", "01\n"],
        vec!["--zero-bits", "1", "--digits", "0\u{e4}"],
        vec!["--zero-bits", "1", "--range", ""],
    ];
    wrong.extend(plain.split('|').map(|words| words.split_whitespace().collect()));
    wrong.extend(headers.iter().map(|header| vec!["--bitcoin-header", header]));
    for arguments in wrong {
        let output = work(&arguments);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
        assert!(stderr(&output).contains("hashloom") && !stderr(&output).contains("panicked"), "{arguments:?}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "a command line has 32,767 characters at most")]
fn a_prefix_of_any_bytes() {
    let long = "a".repeat(100_000);
    let one = found(&["--zero-bits", "0", "--prefix", &long, "--range", "5..5"]);
    assert_eq!(one, format!("5  {}\n", hex(Sha256::digest(format!("{long}5")))));
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let bytes = std::ffi::OsStr::from_bytes(b"\xff\xfe\n");
        let mut command = hashloom();
        command.args(["work", "--zero-bits", "0", "--json", "--prefix"]).arg(bytes).args(["--range", "0..0"]);
        let output = command.output().unwrap();
        let digest = hex(Sha256::digest(b"\xff\xfe\n0"));
        assert_eq!(stdout(&output), format!("{{\"nonce\":0,\"text\":\"0\",\"digest\":\"{digest}\"}}\n"));
    }
}

#[cfg(unix)]
mod interrupted {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Stdio};

    use super::*;

    fn begin(arguments: &[&str]) -> Child {
        let mut command = hashloom();
        command.arg("work").args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    fn interrupt(child: &Child) {
        let pid = rustix::process::Pid::from_child(child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    }

    /// Returns the --range that the message names.
    fn range(message: &str) -> &str {
        assert!(message.starts_with("hashloom: interrupted: "), "{message}");
        message.trim_end().rsplit_once("--range ").unwrap().1
    }

    #[test]
    fn a_search_goes_on_where_ctrl_c_stopped_it() {
        let arguments = ["--zero-bits", "14", "--prefix", "resume", "--all"];
        let mut child = begin(&arguments);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut all: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
        interrupt(&child);
        all.extend(lines.map(Result::unwrap));
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.signal(), Some(2));
        let (next, last) = range(stderr(&output)).split_once("..").unwrap();
        let next: u64 = next.parse().unwrap();
        assert_eq!(last, u64::MAX.to_string());
        // What was printed before and what is printed now are all nonces.
        let rest = format!("{next}..{}", next + 100_000);
        all.extend(found(&[&arguments[..], &["--range", &rest]].concat()).lines().map(str::to_owned));
        let expected = found(&[&arguments[..], &["--range", &format!("0..{}", next + 100_000)]].concat());
        assert_eq!(all, expected.lines().collect::<Vec<_>>());
    }

    #[test]
    fn a_reader_that_has_gone_ends_the_search() {
        let mut child = begin(&["--zero-bits", "0", "--all"]);
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert_eq!(first, format!("0  {}\n", hex(Sha256::digest("0"))));
        child.wait_with_output().unwrap().ends(141);
    }
}
