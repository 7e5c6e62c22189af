// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the commands that have `--gpu` as a person or a script does. Any Vulkan driver will do.

mod common;

use std::process::{Command, Output};

use common::skipped::skipped_unless_required;
use common::{Ran, hashloom, status, stderr, stdout};

/// Mesa's layer that chooses a default device asks Wayland, and complains if there is none.
fn program() -> Command {
    let mut command = hashloom();
    command.env("NODEVICE_SELECT", "1");
    command
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

/// Returns the name of the first device.
fn device() -> Option<String> {
    let output = run(&["kernels", "--gpu", "--json"]).done();
    let devices: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let name = devices[0]["name"].as_str().map(str::to_owned);
    if name.is_none() {
        skipped_unless_required("no GPU was found");
    }
    name
}

#[test]
fn devices_are_listed() {
    let Some(name) = device() else { return };
    let output = run(&["kernels", "--gpu"]).done();
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert!(lines[0].split_whitespace().eq(["name", "kind", "interface", "driver"]));
    assert!(lines[1].contains(&name));
    assert_eq!(status(&run(&["kernels", "--gpu", "--bench"])), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn no_device_is_a_clear_message() {
    const NONE: &str = "no GPU was found: a driver for Vulkan, Metal or DX12 is needed\n";
    let without =
        |arguments: &[&str]| program().args(arguments).env("VK_DRIVER_FILES", "/nonexistent").output().unwrap().all();
    assert_eq!(without(&["kernels", "--gpu"]), (2, String::new(), format!("hashloom: {NONE}")));
    assert_eq!(without(&["kernels", "--gpu", "--json"]), (0, "[]\n".to_owned(), String::new()));
    let work = ["work", "--gpu", "--zero-bits", "4"];
    assert_eq!(without(&work), (2, String::new(), format!("hashloom: --gpu: {NONE}")));
}

#[test]
fn a_device_that_is_not_there() {
    let Some(name) = device() else { return };
    run(&["work", "--gpu=no such device", "--zero-bits", "4"])
        .ends(2)
        .prints("")
        .says_first(&format!("hashloom: --gpu: no GPU has \"no such device\" in its name; there are: {name}"));
}

#[test]
fn searches_print_what_the_cpu_prints() {
    let Some(name) = device() else { return };
    let header = concat!(
        "0100000081cd02ab7e569e8bcd9317e2fe99f2de44d49ab2b8851ba4a308000000000000",
        "e320b6c2fffc8d750423db8b1eb942ae710e951ed797f7affc8892b0f1fc122bc7f5d74df2b9441a"
    );
    for arguments in [
        &["--prefix", "k8juvewcui000000abcdef", "--target", "000011e1a300", "--range", "100000..600000", "--all"][..],
        &[
            "-a",
            "sha1",
            "--zero-bits",
            "20",
            "--prefix",
            "1:20:040428:foo::0298b26853c8ebb3:",
            "--digits",
            "0123456789abcdef",
            "--range",
            "500000..",
        ],
        &["--bitcoin-header", header, "--range", "2504000000..2505000000", "--json"],
        &[
            "--zero-bits",
            "12",
            "--prefix",
            "a",
            "--suffix",
            "b",
            "--binary",
            "--width",
            "4",
            "--range",
            "0..300000",
            "--all",
        ],
        &["--target", "00003f", "--algorithm", "sha512", "--digits", "01", "--width", "30", "--range", "0..300000"],
        &["--zero-bits", "64", "--range", "0..999999"],
    ] {
        let by_cpu = run(&[&["work"], arguments].concat());
        for gpu in ["--gpu".to_owned(), format!("--gpu={}", &name[..4])] {
            let by_gpu = run(&[&["work", &gpu], arguments].concat());
            assert_eq!((status(&by_gpu), stdout(&by_gpu)), (status(&by_cpu), stdout(&by_cpu)), "{arguments:?}");
            let is_found = status(&by_cpu) == 0;
            assert!(is_found == stderr(&by_gpu).is_empty(), "{}", stderr(&by_gpu));
        }
    }
}

#[test]
#[cfg(unix)]
fn a_search_goes_on_where_ctrl_c_stopped_it() {
    use std::io::{BufRead, BufReader};
    use std::os::unix::process::ExitStatusExt;
    use std::process::Stdio;

    let Some(_) = device() else { return };
    let arguments = ["work", "--gpu", "--zero-bits", "14", "--prefix", "resume", "--all"];
    let mut command = program();
    command.args(arguments).args(["--range", "200000.."]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut all: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    rustix::process::kill_process(rustix::process::Pid::from_child(&child), rustix::process::Signal::INT).unwrap();
    all.extend(lines.map(Result::unwrap));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.signal(), Some(2));
    let range = stderr(&output).trim_end().rsplit_once("--range ").unwrap().1;
    let next: u64 = range.strip_suffix("..18446744073709551615").unwrap().parse().unwrap();
    let by_cpu = |range: String| {
        let output = run(&["work", "--zero-bits", "14", "--prefix", "resume", "--all", "--range", &range]);
        stdout(&output).lines().map(str::to_owned).collect::<Vec<_>>()
    };
    all.extend(by_cpu(format!("{next}..{}", next + 100_000)));
    assert_eq!(all, by_cpu(format!("200000..{}", next + 100_000)));
}
