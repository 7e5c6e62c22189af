// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom bench` as a person or a script does. The tests check that there are figures, and judge none.

mod common;

use std::process::{Command, Output, Stdio};

use common::{Ran, hashloom, skipped, status, stderr, stdout};
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, chosen, kernels};
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

fn rows(outcome: &Value) -> &[Value] {
    outcome["rows"].as_array().unwrap()
}

fn names<'a>(outcome: &'a Value, kind: &str) -> Vec<&'a str> {
    rows(outcome).iter().filter(|row| row["kind"] == kind).map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn kernels_are_timed_if_asked_for() {
    let arguments = ["--algorithm", "sha1", "--size", "64"];
    let json = json(&arguments);
    assert_eq!(rows(&json["results"][0]).len(), 1);
    assert_eq!(names(&json["results"][0], "hashloom"), ["hashloom"]);
}

#[test]
fn openssl_is_measured_by_its_command() {
    // OpenSSL has Keccak-256 from 3.2 on.
    let arguments = ["-a", "sha256", "-a", "keccak-256", "-s", "64", "-s", "100", "--json"];
    let output = with_openssl(&arguments).done();
    let json: Value = serde_json::from_str(stdout(&output)).unwrap();
    let [outcome, keccak] = &json["results"].as_array().unwrap()[..] else { panic!("{json}") };
    for outcome in [outcome, keccak] {
        check_row(outcome, &rows(outcome)[1]);
    }
    let row = &rows(outcome)[1];
    assert_eq!(row["kind"], "openssl");
    let version = Command::new("openssl").arg("version").stdin(Stdio::null()).output();
    match version {
        Ok(version) if stdout(&version).starts_with("OpenSSL ") => {
            let words: Vec<&str> = stdout(&version).split(' ').take(2).collect();
            assert_eq!(row["name"], words.join(" "));
            assert!(row.get("absent").is_none(), "{row}");
            // Many messages are as fast as one.
            let speeds = row["speeds"].as_array().unwrap();
            assert!(speeds.len() == 3 && speeds[1]["gb_per_s"] == speeds[2]["gb_per_s"], "{row}");
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
    assert_eq!(text.matches("  OpenSSL: no command openssl in PATH\n").count(), 1, "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("    OpenSSL ")).count(), 2, "{text}");
}

/// Checks that the figures of a row agree with each other.
#[track_caller]
fn check_row(outcome: &Value, row: &Value) {
    let (messages, speeds) = (outcome["messages"].as_array().unwrap(), row["speeds"].as_array().unwrap());
    if row.get("absent").is_some() {
        assert!(row["kind"] == "openssl" && speeds.is_empty(), "{row}");
        return;
    }
    assert_eq!(speeds.len(), messages.len());
    for (speed, messages) in speeds.iter().zip(messages) {
        let (count, nbytes) = (messages["count"].as_f64().unwrap(), messages["nbytes"].as_f64().unwrap());
        let seconds = speed["seconds"].as_f64().unwrap();
        assert!(seconds > 0.0 && speed["ratio"].as_f64().unwrap() > 0.0);
        let close = |key: &str, expected: f64| {
            let found = speed[key].as_f64().unwrap();
            assert!((found / expected - 1.0).abs() < 1e-9, "{key}: {found}, expected {expected}");
        };
        close("gb_per_s", count * nbytes / seconds / 1e9);
        close("million_messages_per_s", count / seconds / 1e6);
    }
}

#[test]
fn by_default_each_block_function_once() {
    let json = json(&["--size", "64", "--kernels"]);
    assert_eq!(json["hashloom"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["compiler"], hashloom::kernels::compiler());
    let algorithms: Vec<Algorithm> = json["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|outcome| outcome["algorithm"].as_str().unwrap().parse().unwrap())
        .collect();
    for kernel in kernels() {
        assert_eq!(algorithms.iter().filter(|&&algorithm| kernel.computes(algorithm)).count(), 1, "{kernel}");
    }
    for (outcome, algorithm) in json["results"].as_array().unwrap().iter().zip(algorithms) {
        assert_eq!(names(outcome, "hashloom"), ["hashloom"]);
        let expected: Vec<&str> = kernels()
            .filter(|kernel| kernel.computes(algorithm) && kernel.is_available())
            .map(|kernel| kernel.name())
            .collect();
        assert_eq!(names(outcome, "kernel"), expected);
        assert_eq!(rows(outcome).len(), 1 + expected.len());
        rows(outcome).iter().for_each(|row| check_row(outcome, row));
        assert!(rows(outcome)[0]["speeds"].as_array().unwrap().iter().all(|speed| speed["ratio"] == 1.0));
    }
}

#[test]
fn many_messages_of_each_size_and_one_of_the_greatest() {
    let json = json(&["-a", "sha256", "-s", "100", "-s", "2KiB", "-s", "100", "-s", "1"]);
    let messages = json["results"][0]["messages"].as_array().unwrap();
    let sizes: Vec<u64> = messages.iter().map(|messages| messages["nbytes"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [100, 2048, 1, 2048]);
    let most = kernels().map(|kernel| kernel.lanes() as u64).max().unwrap();
    let counts: Vec<u64> = messages.iter().map(|messages| messages["count"].as_u64().unwrap()).collect();
    assert!(counts[..3].iter().all(|&count| count >= 2 * most) && counts[3] == 1, "{counts:?}");
}

#[test]
fn the_table_has_every_row_of_json() {
    let arguments = ["-a", "sha1", "-a", "ripemd160", "-a", "sha1", "-s", "64", "-s", "300", "--kernels"];
    let output = bench(&arguments).done();
    let text = stdout(&output);
    let json = json(&arguments);
    let outcomes = json["results"].as_array().unwrap();
    assert_eq!(outcomes.len(), 2, "an algorithm named twice is timed once");
    let mut lines = text.lines().skip(4);
    let titles = lines.next().unwrap();
    for messages in outcomes[0]["messages"].as_array().unwrap() {
        let title = format!("{} x {} bytes", messages["count"], messages["nbytes"]);
        assert!(titles.contains(&title), "{title}: {text}");
    }
    lines.next();
    for outcome in outcomes {
        for row in rows(outcome) {
            let name = if row["kind"] == "hashloom" { &outcome["algorithm"] } else { &row["name"] };
            let mut cells = lines.next().unwrap().split_whitespace();
            assert_eq!(cells.next(), name.as_str(), "{text}");
            let figures: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(figures.len(), 2 * 3, "{text}");
        }
    }
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().skip(3).all(|line| line.chars().count() <= 100), "{text}");
}

#[test]
fn only_allowed_kernels_are_timed() {
    let json = json(&["--isa", "scalar", "-s", "64", "-a", "sha512", "--kernels"]);
    assert_eq!(json["allowed"], serde_json::json!(["scalar"]));
    let scalar: Vec<&str> = kernels()
        .filter(|kernel| kernel.isa() == "scalar" && kernel.computes(Algorithm::Sha512))
        .map(|kernel| kernel.name())
        .collect();
    assert_eq!(names(&json["results"][0], "kernel"), scalar);
}

/// An algorithm asked for must have a kernel in the set. Otherwise an algorithm that has none is timed in plain C.
#[test]
fn instruction_sets_without_a_kernel_for_each_algorithm() {
    assert!(chosen(Algorithm::Sha1, 1).is_some());
    for isa in IsaSet::available().names() {
        let has = |algorithm| kernels().any(|kernel| kernel.isa() == isa && kernel.computes(algorithm));
        let Some(lacking) = Algorithm::ALL.iter().copied().find(|&algorithm| !has(algorithm)) else { continue };
        bench(&["--isa", isa, "-a", lacking.name(), "-s", "64"])
            .refused(&format!("no kernel for {lacking} in the set {{{isa}}}"));
        if !Algorithm::ALL.iter().any(|&algorithm| has(algorithm)) {
            continue;
        }
        for outcome in json(&["--isa", isa, "-s", "64", "--kernels"])["results"].as_array().unwrap() {
            let algorithm: Algorithm = outcome["algorithm"].as_str().unwrap().parse().unwrap();
            assert_eq!(rows(outcome)[0].get("absent"), None, "{isa}: {algorithm}");
            let name = names(outcome, "kernel")[0];
            let timed = kernels().find(|kernel| kernel.computes(algorithm) && kernel.name() == name).unwrap();
            assert!(timed.isa() == "scalar" || has(algorithm) && timed.isa() == isa, "{isa}: {algorithm} by {name}");
        }
    }
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
