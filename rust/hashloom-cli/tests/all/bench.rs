// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom bench` as a person or a script does. The tests check that there are figures, and judge none.

use std::process::{Command, Output, Stdio};

use crate::common::{Ran, hashloom, skipped, status, stderr, stdout};
use hashloom::Algorithm;
use hashloom::kernels::kernels;
use serde_json::Value;

/// Runs it as quickly as possible.
fn bench(arguments: &[&str]) -> Output {
    with_openssl(&[arguments, &["--no-openssl"]].concat())
}

fn with_openssl(arguments: &[&str]) -> Output {
    hashloom().args(["bench", "--rounds", "1", "--time", "1us"]).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = bench(&[arguments, &["--json"]].concat()).done();
    serde_json::from_str(stdout(&output)).unwrap()
}

fn rows(json: &Value) -> &[Value] {
    json["results"].as_array().unwrap()
}

/// Checks that the figures of a row agree with each other.
#[track_caller]
fn check_row(row: &Value) {
    let number = |key: &str| row[key].as_f64().unwrap();
    let close = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-9, "{row}");
    assert!(number("seconds") > 0.0, "{row}");
    close(number("gb_per_s"), number("count") * number("nbytes") / number("seconds") / 1e9);
    close(number("million_messages_per_s"), number("count") / number("seconds") / 1e6);
    match row.get("ratio") {
        Some(_) => close(number("ratio"), number("gb_per_s") / number("openssl_gb_per_s")),
        None => assert!(row.get("openssl_gb_per_s").is_none(), "{row}"),
    }
}

#[test]
fn openssl_is_measured_by_its_command() {
    // OpenSSL has Keccak-256 from 3.2 on.
    let output = with_openssl(&["-a", "sha256", "-a", "keccak-256", "-s", "64", "--json"]).done();
    let json: Value = serde_json::from_str(stdout(&output)).unwrap();
    rows(&json).iter().for_each(check_row);
    assert_eq!(rows(&json).len(), 4);
    let version = Command::new("openssl").arg("version").stdin(Stdio::null()).output();
    match version {
        Ok(version) if stdout(&version).starts_with("OpenSSL ") => {
            let words: Vec<&str> = stdout(&version).split(' ').take(2).collect();
            assert_eq!(json["openssl"], words.join(" "));
            assert!(rows(&json)[..2].iter().all(|row| row["ratio"].is_f64()), "{json}");
            assert!(rows(&json)[2..].iter().all(|row| row["ratio"].is_f64() != row["absent"].is_string()), "{json}");
        }
        _ => skipped::skipped_part("openssl", "it is not installed, or another program of that name is"),
    }
}

#[test]
fn a_machine_without_openssl() {
    let output = hashloom()
        .args(["bench", "--rounds", "1", "--time", "1us", "-a", "sha1", "-a", "md5", "-s", "64"])
        .env("PATH", "")
        .output()
        .unwrap()
        .done();
    let text = stdout(&output);
    assert_eq!(text.matches("\nopenssl: no command openssl in PATH\n").count(), 1, "{text}");
}

#[test]
fn by_default_each_block_function_once() {
    let json = json(&["--size", "64"]);
    assert_eq!(json["hashloom"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["compiler"], hashloom::kernels::compiler());
    rows(&json).iter().for_each(check_row);
    let many = rows(&json).iter().filter(|row| row["count"] != 1);
    let algorithms: Vec<Algorithm> = many.map(|row| row["algorithm"].as_str().unwrap().parse().unwrap()).collect();
    for kernel in kernels() {
        assert_eq!(algorithms.iter().filter(|&&algorithm| kernel.computes(algorithm)).count(), 1, "{kernel}");
    }
}

#[test]
fn many_messages_of_each_size_and_one_of_the_greatest() {
    let json = json(&["-a", "sha256", "-s", "100", "-s", "2KiB", "-s", "100", "-s", "1"]);
    let sizes: Vec<u64> = rows(&json).iter().map(|row| row["nbytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [100, 2048, 1, 2048]);
    let most = kernels().map(|kernel| kernel.lanes() as u64).max().unwrap();
    let counts: Vec<u64> = rows(&json).iter().map(|row| row["count"].as_u64().unwrap()).collect();
    assert!(counts[..3].iter().all(|&count| count >= 2 * most) && counts[3] == 1, "{counts:?}");
}

#[test]
fn the_table_has_every_row_of_json() {
    let arguments = ["-a", "sha1", "-a", "ripemd160", "-a", "sha1", "-s", "64", "-s", "300"];
    let output = bench(&arguments).done();
    let text = stdout(&output);
    let json = json(&arguments);
    assert_eq!(rows(&json).len(), 6, "an algorithm named twice is timed once");
    for (row, line) in rows(&json).iter().zip(text.lines().skip(5)) {
        let title = format!(" {} x {} bytes ", row["count"], row["nbytes"]);
        assert!(line.contains(&title) && line.ends_with("  -      -"), "{title}: {text}");
    }
    assert_eq!(text.matches("  sha1 ").count(), 1, "{text}");
    assert!(!text.contains('\u{1b}'));
}

#[test]
fn wrong_arguments() {
    for (arguments, parts) in [
        (&["--algorithm", "sha3"][..], &["possible values: sha1, ", "ripemd160"][..]),
        (&["--size", "0"], &["at least 1"]),
        (&["--size", "5MiB"], &["at most 4MiB"]),
        (&["--size", "1000000000000000000000"], &["less than 2^64 bytes"]),
        (&["--size", "many"], &["expected a whole number of bytes, KiB, MiB, GiB or TiB, such as 4096 or 8MiB"]),
        (&["--isa", "avx9"], &["unknown instruction set \"avx9\"; available here: scalar"]),
    ] {
        let output = bench(arguments);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
        }
    }
    for arguments in [["--rounds", "0"], ["--rounds", "1001"], ["--time", "0s"], ["--time", "11s"]] {
        let output = hashloom().arg("bench").args(arguments).output().unwrap();
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
    }
}
