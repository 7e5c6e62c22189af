// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom kernels` as a person or a script does.

use std::collections::HashMap;
use std::process::Output;

use crate::common::{Ran, hashloom, status, stderr, stdout};
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, chosen, kernels};
use serde_json::Value;

fn run(arguments: &[&str]) -> Output {
    hashloom().arg("kernels").args(arguments).output().unwrap()
}

fn table(arguments: &[&str]) -> String {
    let output = run(arguments).done();
    stdout(&output).to_owned()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&table(&[arguments, &["--json"]].concat())).unwrap()
}

const TITLES: [&str; 9] = ["kernel", "isa", "lanes", "here", "chosen for", "ns a call", "GB/s", "M/s", "/ scalar"];

/// Returns the cells of each kernel, in the order of `TITLES`.
fn cells(table: &str) -> HashMap<&str, Vec<&str>> {
    let title = table.lines().find(|line| line.trim_start().starts_with("kernel ")).unwrap();
    let mut rows = HashMap::new();
    for line in table.lines().filter(|line| line.contains("_blocks_")) {
        let cells = TITLES.iter().filter_map(|&name| {
            let start = title.find(name)?;
            Some(match name {
                // These cells begin where their title does.
                "kernel" | "isa" | "here" | "chosen for" => {
                    line.get(start..).map_or("", |rest| rest.split("  ").next().unwrap())
                }
                _ => line.get(..start + name.len()).map_or("", |rest| rest.rsplit(' ').next().unwrap()),
            })
        });
        let cells: Vec<&str> = cells.collect();
        assert!(rows.insert(cells[0], cells).is_none(), "a kernel is listed twice: {line}");
    }
    rows
}

/// Returns the numbers of messages, up to 40, that `1, 3-4, 10+` describes.
fn numbers(text: &str) -> Vec<usize> {
    let runs = text.split(", ").filter(|run| !run.is_empty());
    let numbers = runs.flat_map(|run| match (run.strip_suffix('+'), run.split_once('-')) {
        (Some(first), _) => first.parse().unwrap()..=40,
        (None, Some((first, last))) => first.parse().unwrap()..=last.parse().unwrap(),
        (None, None) => run.parse().unwrap()..=run.parse().unwrap(),
    });
    numbers.collect()
}

/// The option stands last in the help of commands whose speed people compare, and every command takes it.
#[test]
fn the_instruction_sets_are_an_option_of_every_command_and_shown_in_few() {
    let help = |command: &str| {
        let output = hashloom().args(command.split(' ')).arg("--help").output().unwrap();
        assert_eq!(status(&output), 0, "{command}");
        stdout(&output).to_owned()
    };
    for command in ["kernels", "sum", "check", "bench"] {
        let help = help(command);
        let options: Vec<&str> = help.lines().filter(|line| line.trim_start().starts_with('-')).collect();
        let place = options.iter().position(|line| line.trim_start().starts_with("--isa <NAME[,NAME]>")).unwrap();
        assert!(options[place + 1].trim_start().starts_with("-h, --help"), "{command}");
    }
    for command in
        ["torrent", "torrent create", "torrent verify", "manifest write", "manifest diff", "tree s3", "address", "mac"]
    {
        assert!(!help(command).contains("--isa <"), "{command}");
    }
    let given: [&[&str]; 4] = [
        &["--isa", "nope", "sum", "a"],
        &["torrent", "--isa", "nope", "verify", "a"],
        &["manifest", "diff", "a", "b", "--isa", "nope"],
        &["check", "--isa=nope", "a"],
    ];
    for arguments in given {
        let output = hashloom().args(arguments).output().unwrap();
        assert_eq!(status(&output), 2, "{arguments:?}");
        output.says("unknown instruction set \"nope\"");
    }
    // The option overrides the variable.
    for (arguments, code) in [(&["kernels"][..], 2), (&["kernels", "--isa", "scalar"], 0)] {
        hashloom().args(arguments).env("HASHLOOM_ISA", "nope").output().unwrap().ends(code);
    }
}

#[test]
fn every_kernel_of_the_registry_is_listed_with_the_choice() {
    let text = table(&[]);
    let rows = cells(&text);
    assert_eq!(rows.len(), kernels().count(), "{text}");
    for kernel in kernels() {
        let &algorithm = Algorithm::ALL.iter().find(|&&algorithm| kernel.computes(algorithm)).unwrap();
        let row = &rows[kernel.name()];
        let lanes = kernel.lanes().to_string();
        let here = if kernel.is_available() { "yes" } else { "no" };
        assert_eq!(row[..4], [kernel.name(), kernel.isa(), &lanes, here]);
        let expected: Vec<usize> = (1..=40).filter(|&n| chosen(algorithm, n) == Some(kernel)).collect();
        assert_eq!(numbers(row[4]), expected, "{kernel}: {text}");
    }
    // The table is for people: no escape sequences in a pipe, and no line too long.
    assert!(!text.contains('\u{1b}'));
    assert!(text.lines().skip(3).all(|line| line.len() <= 100), "{text}");
}

#[test]
fn json_says_what_the_table_says() {
    let arguments = ["--bench", "--rounds", "1", "--time", "1us"];
    // The speeds differ from run to run; the kernels do not.
    let (text, json) = (table(&arguments), json(&arguments));
    let rows = cells(&text);
    let listed = json["kernels"].as_array().unwrap();
    assert_eq!(listed.len(), rows.len());
    assert_eq!(json["hashloom"], env!("CARGO_PKG_VERSION"));
    assert_eq!(json["compiler"], hashloom::kernels::compiler());
    let isas = |set: IsaSet| set.names().collect::<Vec<_>>();
    assert_eq!(json["isas"]["built"], serde_json::json!(isas(IsaSet::built())));
    assert_eq!(json["isas"]["available"], serde_json::json!(isas(IsaSet::available())));
    for (kernel, found) in kernels().zip(listed) {
        let row = &rows[found["name"].as_str().unwrap()];
        assert_eq!(found["name"], kernel.name());
        assert_eq!(found["isa"], row[1]);
        assert_eq!(found["lanes"].to_string(), row[2]);
        assert_eq!(found["available"], row[3] == "yes");
        let runs = found["chosen_for"].as_array().unwrap().iter();
        let runs = runs.flat_map(|run| run["first"].as_u64().unwrap()..=run["last"].as_u64().unwrap_or(40));
        assert_eq!(runs.map(|n| n as usize).collect::<Vec<_>>(), numbers(row[4]));
        let algorithms = found["algorithms"].as_array().unwrap();
        for algorithm in Algorithm::ALL {
            let named = algorithms.iter().any(|name| name == algorithm.name());
            assert_eq!(named, kernel.computes(*algorithm), "{kernel}: {algorithm}");
        }
        let speeds = ["ns_per_call", "gb_per_s", "million_blocks_per_s", "ratio_to_scalar"];
        for (key, cell) in speeds.into_iter().zip(&row[5..]) {
            if kernel.is_available() {
                // On a busy machine a short round can be so slow that two decimals of its speed are 0.00.
                assert!(found[key].as_f64().unwrap() > 0.0, "{kernel}: {key}");
                assert!(cell.parse::<f64>().unwrap() >= 0.0, "{kernel}: {key} {cell}");
            } else {
                assert!(found.get(key).is_none() && cell.is_empty(), "{kernel}: {key}");
            }
        }
        if kernel.isa() == "scalar" && kernel.lanes() == 1 {
            assert_eq!((&found["ratio_to_scalar"], row[8]), (&serde_json::json!(1.0), "1.00"));
        }
    }
}

#[test]
fn a_restricted_choice_is_shown_and_all_kernels_stay_listed() {
    let through_variable = |isa| {
        let output = hashloom().arg("kernels").env("HASHLOOM_ISA", isa).output().unwrap().done();
        stdout(&output).to_owned()
    };
    let text = table(&["--isa", "scalar"]);
    assert_eq!(text, through_variable("scalar"));
    assert!(text.contains("\nallowed: only scalar\n") || IsaSet::available().names().count() == 1, "{text}");
    let rows = cells(&text);
    assert_eq!(rows.len(), kernels().count());
    for kernel in kernels() {
        let expected = match (kernel.is_available(), kernel.isa() == "scalar") {
            (false, _) => "",
            (true, false) => "not allowed",
            (true, true) if kernel.lanes() == 1 => "1+",
            (true, true) => continue,
        };
        assert_eq!(rows[kernel.name()][4], expected, "{kernel}");
    }
    for row in json(&["--isa", "scalar"])["kernels"].as_array().unwrap() {
        assert_eq!(row["allowed"], row["isa"] == "scalar");
        assert!(row["isa"] == "scalar" || row["chosen_for"].as_array().unwrap().is_empty());
    }
    assert!(!table(&[]).contains("not allowed"));
}

#[test]
fn only_kernels_of_the_algorithms_asked_for() {
    for algorithms in [&[Algorithm::Sha224][..], &[Algorithm::Sha1, Algorithm::Ripemd160]] {
        let arguments: Vec<&str> = algorithms.iter().flat_map(|algorithm| ["-a", algorithm.name()]).collect();
        let json = json(&arguments);
        let names: Vec<&str> =
            json["kernels"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
        let computes = |kernel: &hashloom::kernels::Kernel| algorithms.iter().any(|&a| kernel.computes(a));
        let expected: Vec<&str> = kernels().filter(computes).map(|kernel| kernel.name()).collect();
        assert_eq!(names, expected);
    }
}

/// Each kernel that runs here has a cost, and of those for one message the last with a cost is the fastest.
#[test]
fn a_column_of_costs() {
    let output = run(&["--bench", "--column", "--rounds", "1", "--time", "20us"]);
    assert_eq!((status(&output), stderr(&output)), (0, ""));
    let lines: Vec<(&str, &str)> = stdout(&output).lines().skip(1).map(|line| line.split_once(' ').unwrap()).collect();
    let names: Vec<&str> = kernels().filter(|kernel| kernel.is_available()).map(|kernel| kernel.name()).collect();
    assert_eq!(lines.iter().map(|&(name, _)| name).collect::<Vec<_>>(), names);
    let mut least = [u32::MAX; 64];
    for (kernel, (_, cost)) in kernels().filter(|kernel| kernel.is_available()).zip(lines) {
        let body = Algorithm::ALL.iter().position(|&algorithm| kernel.computes(algorithm)).unwrap();
        match cost.parse::<u32>() {
            Ok(cost) if kernel.lanes() == 1 => {
                assert!(cost <= least[body], "{kernel}");
                least[body] = cost;
            }
            Ok(cost) => assert!(cost > 0, "{kernel}"),
            Err(_) => assert!(cost == "HLI_NEVER" && kernel.lanes() == 1, "{kernel}: {cost}"),
        }
    }
}

#[test]
fn wrong_arguments() {
    for (arguments, parts) in [
        (&["--algorithm", "md4"][..], &["possible values: sha1, ", "ripemd160"][..]),
        (&["--rounds", "3"], &["--bench"]),
        (&["--time", "3ms"], &["--bench"]),
        (&["--column"], &["--bench"]),
        (&["--bench", "--rounds", "0"], &["0 is not in 1..=1000"]),
        (&["--bench", "--time", "0ms"], &["at least 1us"]),
        (&["--bench", "--time", "1h"], &["a whole number and us, ms or s"]),
        (&["--isa", "avx9"], &["unknown instruction set \"avx9\"; available here: scalar"]),
        (&["extra"], &["unexpected argument 'extra'"]),
    ] {
        let output = run(arguments);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
        for part in parts {
            assert!(stderr(&output).contains(part), "{arguments:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = hashloom().arg("kernels").stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}
