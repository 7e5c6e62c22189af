// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom bench` as a person or a script does. The tests check that there are figures, and judge none.
#![cfg(feature = "bench")]

mod common;

use std::fs;
use std::path::Path;
use std::process::Output;

use common::{hashloom, status, stderr, stdout};
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, chosen, kernels};
use serde_json::Value;

/// Runs it as quickly as possible.
fn bench(arguments: &[&str]) -> Output {
    hashloom().args(["bench", "--rounds", "1", "--time", "1us"]).args(arguments).output().unwrap()
}

fn json(arguments: &[&str]) -> Value {
    let output = bench(&[arguments, &["--json"]].concat());
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    serde_json::from_str(stdout(&output)).unwrap()
}

fn rows(outcome: &Value) -> &[Value] {
    outcome["rows"].as_array().unwrap()
}

fn names<'a>(outcome: &'a Value, kind: &str) -> Vec<&'a str> {
    rows(outcome).iter().filter(|row| row["kind"] == kind).map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn kernels_can_be_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("chart.svg");
    let arguments = ["--algorithm", "sha1", "--size", "64", "--no-kernels", "--svg", chart.to_str().unwrap()];
    let json = json(&arguments);
    assert_eq!(
        (names(&json["results"][0], "hashloom"), names(&json["results"][0], "kernel")),
        (vec!["hashloom"], vec![])
    );
    assert_eq!(names(&json["results"][0], "peer").len(), 3);
    let chart = fs::read_to_string(chart).unwrap();
    assert!(chart.contains("others") && !chart.contains("each kernel"), "{chart}");
}

#[test]
fn by_default_each_block_function_once() {
    let json = json(&["--size", "64"]);
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
        let peers = names(outcome, "peer");
        assert!(peers.len() == 3, "{peers:?}");
        assert!(
            peers[0].starts_with("OpenSSL") && peers[1].starts_with("ring ") && peers[2].starts_with("RustCrypto ")
        );
        for row in rows(outcome) {
            let speeds = row["speeds"].as_array().unwrap();
            if row.get("absent").is_some() {
                assert!(row["kind"] == "peer" && speeds.is_empty(), "{row}");
                continue;
            }
            assert_eq!(speeds.len(), outcome["messages"].as_array().unwrap().len());
            for (speed, messages) in speeds.iter().zip(outcome["messages"].as_array().unwrap()) {
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
    let arguments = ["-a", "sha1", "-a", "ripemd160", "-a", "sha1", "-s", "64", "-s", "300"];
    let output = bench(&arguments);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    let text = stdout(&output);
    let json = json(&arguments);
    let outcomes = json["results"].as_array().unwrap();
    assert_eq!(outcomes.len(), 2, "an algorithm named twice is timed once");
    for outcome in outcomes {
        let name = outcome["algorithm"].as_str().unwrap();
        let part = text.split("\n\n").find(|part| part.trim_start().starts_with(name)).unwrap();
        for messages in outcome["messages"].as_array().unwrap() {
            let title = format!("{} x {} bytes", messages["count"], messages["nbytes"]);
            assert!(part.contains(&title), "{title}: {text}");
        }
        for row in rows(outcome) {
            let name = row["name"].as_str().unwrap();
            let line = part.lines().find(|line| line.trim_start().starts_with(&format!("{name} "))).unwrap();
            let cells: Vec<&str> = line.trim_start()[name.len()..].split_whitespace().collect();
            if let Some(reason) = row.get("absent") {
                assert_eq!(cells, vec!["-"; 3], "{line}");
                assert!(part.contains(&format!("{name}: {}", reason.as_str().unwrap())), "{part}");
            } else {
                assert_eq!(cells.len(), 2 * 3, "{line}");
                assert!(cells.iter().all(|cell| cell.parse::<f64>().is_ok()), "{line}");
            }
        }
    }
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().skip(3).all(|line| line.chars().count() <= 100), "{text}");
}

/// Returns the class, the text that a viewer shows, and the width of each bar.
fn bars<'a>(chart: &'a roxmltree::Document<'a>) -> Vec<(&'a str, &'a str, f64)> {
    chart
        .descendants()
        .filter(|node| node.has_tag_name(("http://www.w3.org/2000/svg", "rect")))
        .filter_map(|rect| {
            let title = rect.children().find(|child| child.tag_name().name() == "title")?;
            let number = |name| rect.attribute(name).unwrap().parse::<f64>().unwrap();
            assert!(number("x") > 0.0 && number("y") > 0.0 && number("height") > 0.0);
            Some((rect.attribute("class").unwrap(), title.text().unwrap().trim(), number("width")))
        })
        .collect()
}

#[test]
fn the_chart_has_a_bar_for_everything_timed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("speed.svg");
    fs::write(&path, "old").unwrap();
    let json = json(&["-a", "sha256", "-a", "ripemd160", "-s", "64", "-s", "1KiB", "--svg", path.to_str().unwrap()]);
    let text = fs::read_to_string(&path).unwrap();
    let chart = roxmltree::Document::parse(&text).unwrap();
    assert!(chart.root_element().has_tag_name(("http://www.w3.org/2000/svg", "svg")));
    let bars = bars(&chart);
    let mut timed = 0;
    for outcome in json["results"].as_array().unwrap() {
        let algorithm = outcome["algorithm"].as_str().unwrap();
        for row in rows(outcome) {
            let name = row["name"].as_str().unwrap();
            let of_row: Vec<_> =
                bars.iter().filter(|(_, title, _)| title.starts_with(&format!("{name}, {algorithm}, "))).collect();
            let speeds = row["speeds"].as_array().unwrap();
            assert_eq!(of_row.len(), speeds.len(), "{name}");
            for ((class, title, width), speed) in of_row.into_iter().zip(speeds) {
                assert_eq!(*class, row["kind"]);
                assert!(*width >= 1.0, "{title}");
                let figure = format!(": {:.3} GB/s, ", speed["gb_per_s"].as_f64().unwrap());
                assert!(title.contains(&figure), "{title}: {figure}");
            }
            timed += speeds.len();
            assert!(text.contains(&format!("\n{name}\n")), "{name} has no label");
        }
    }
    assert_eq!(bars.len(), timed);
    for part in ["compiler", "date"] {
        assert!(text.contains(json[part].as_str().unwrap()), "{part} is not in the chart");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "a temporary file is left");
}

#[test]
fn a_chart_that_cannot_be_written_is_told_before_anything_is_timed() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("no-such-folder/speed.svg");
    for (path, part) in [(nowhere.as_path(), "No such file or directory"), (folder.path(), "s a directory")] {
        // Timing would take hours.
        let output =
            hashloom().args(["bench", "--rounds", "1000", "--time", "10s", "--svg"]).arg(path).output().unwrap();
        assert_eq!((status(&output), stdout(&output)), (2, ""));
        let error = stderr(&output);
        assert!(error.starts_with(&format!("hashloom: {}: the chart cannot be written: ", path.display())), "{error}");
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_chart_that_turns_out_not_to_fit_is_an_error_and_the_table_is_shown() {
    let output = bench(&["-a", "sha1", "-s", "64", "--svg", "/dev/full"]);
    assert_eq!(status(&output), 2);
    assert!(stdout(&output).contains("  hashloom "), "{}", stdout(&output));
    assert!(stderr(&output).starts_with("hashloom: /dev/full: the chart cannot be written: "), "{}", stderr(&output));
}

#[test]
fn only_allowed_kernels_are_timed() {
    let json = json(&["--isa", "scalar", "-s", "64", "-a", "sha512"]);
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
        let output = bench(&["--isa", isa, "-a", lacking.name(), "-s", "64"]);
        assert_eq!((status(&output), stdout(&output)), (2, ""));
        assert!(
            stderr(&output).contains(&format!("no kernel for {lacking} in the set {{{isa}}}")),
            "{}",
            stderr(&output)
        );
        if !Algorithm::ALL.iter().any(|&algorithm| has(algorithm)) {
            continue;
        }
        for outcome in json(&["--isa", isa, "-s", "64"])["results"].as_array().unwrap() {
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
        (&["--libcrypto", "/no/such/libcrypto.so.3"], &["hashloom: /no/such/libcrypto.so.3: "]),
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

/// An existing library that is not OpenSSL's is reported with the function that it lacks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_library_that_is_not_openssl_is_named() {
    let output = bench(&["--libcrypto", "libc.so.6"]);
    assert_eq!((status(&output), stdout(&output)), (2, ""));
    assert_eq!(stderr(&output), "hashloom: libc.so.6 has no OpenSSL_version: OpenSSL 3 is needed\n");
    assert!(!Path::new("libc.so.6").exists());
}
