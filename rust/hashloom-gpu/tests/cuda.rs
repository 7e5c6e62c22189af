// SPDX-License-Identifier: MIT OR Apache-2.0

//! Searches over CUDA, without a device: `test/fake_cuda.c` stands in for the driver and for NVRTC, compiles each
//! kernel for the CPU, and runs it. The libraries are found by `LD_LIBRARY_PATH`, which is read once, so that each test
//! runs in a child process.
#![cfg(target_os = "linux")]

#[path = "../../../test/skipped.rs"]
mod skipped;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hashloom::Algorithm;
use hashloom_gpu::{Device, Error, Event, Fault, Options, adapters};
use hashloom_work::{Search, Target};

/// Tells a child process that it is one.
const CHILD: &str = "HASHLOOM_GPU_TEST_CHILD";

/// The stand-in's folder, with both libraries; `None` without a C or C++ compiler.
fn stand_in() -> Option<&'static Path> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let made = FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fake-cuda");
        std::fs::create_dir_all(&folder).unwrap();
        let is_there = |program: &str| Command::new(program).arg("--version").output().is_ok();
        if !is_there("cc") || !is_there(&std::env::var("CXX").unwrap_or("c++".into())) {
            skipped::skipped_unless_required("cc or c++ is not installed");
            return None;
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/fake_cuda.c");
        let library = folder.join("libcuda.so.1");
        let mut compiler = Command::new("cc");
        compiler.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC"]);
        assert!(compiler.arg(source).arg("-o").arg(&library).args(["-ldl", "-lpthread"]).status().unwrap().success());
        std::fs::copy(&library, folder.join("libnvrtc.so.12")).unwrap();
        Some(folder)
    });
    made.as_deref()
}

/// Runs this test in a child process that finds these libraries, and in which a call fails (`FUNCTION:N`).
fn with_libraries(folder: &Path, failing: &str, test: &str) {
    let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/gpu/cuda_host.h");
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", test, "--nocapture"]).env(CHILD, failing).env("LD_LIBRARY_PATH", folder);
    child.env("HASHLOOM_FAKE_CUDA", failing).env("HASHLOOM_CUDA_HOST", header);
    // CUDA alone, so that the device without a name is its.
    let output = child.env("VK_DRIVER_FILES", "/nonexistent").output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(said.contains("running 1 test"), "{test} is the name of the test: {said}");
    assert!(output.status.success(), "{failing}: {said}");
}

/// Runs `body` in a child process with the stand-in for CUDA.
fn with_cuda(failing: &str, test: &str, body: fn()) {
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    if let Some(folder) = stand_in() {
        with_libraries(folder, failing, test);
    }
}

/// All nonces of a range by the device, and how the search ended.
fn by_device(device: &Device, search: &Search<'_>, first: u64, last: u64) -> (Vec<u64>, Option<Error>) {
    let mut found = Vec::new();
    let end = device.search(search, first..=last, |event| {
        if let Event::Found(nonce) = event {
            found.push(nonce);
        }
        ControlFlow::Continue(())
    });
    assert_eq!(end.next.is_some(), end.error.is_some());
    (found, end.error)
}

#[test]
fn nonces_are_those_of_the_cpu() {
    with_cuda("", "nonces_are_those_of_the_cpu", || {
        let all = adapters();
        assert_eq!(all.len(), 1, "{all:?}");
        let adapter = &all[0];
        assert_eq!((&adapter.name[..], &adapter.interface[..]), ("a CPU that plays a GPU", "cuda"));
        assert_eq!((adapter.kind, &adapter.driver[..]), ("discrete GPU", "CUDA 12.4"));
        for name in [None, Some("cuda"), Some("PLAYS")] {
            assert_eq!(Device::open(name).unwrap().adapter(), adapter);
        }
        let device = Options::new().interface("cuda").open(None).unwrap();
        let (long, suffix) = ([b'x'; 150], [b'y'; 300]);
        let easy = Target::zero_bits(11);
        let searches = [
            Search::new(Algorithm::Sha256, easy).prefix(b"hello ").digits(b"0123456789"),
            Search::new(Algorithm::Sha256, easy).prefix(&long[..76]).width(4).again(Algorithm::Sha256),
            Search::new(Algorithm::Sha1, easy).prefix(&long).digits(b"0123456789abcdef").suffix(&suffix),
            Search::new(Algorithm::Md5, easy).width(8).least_digit_first().least_byte_first(),
            Search::new(Algorithm::Sha512, easy).suffix(&suffix).width(6),
            Search::new(Algorithm::Ripemd160, easy).digits(b"zyx9").width(16).again(Algorithm::Sha224),
        ];
        for (i, search) in searches.iter().enumerate() {
            // More than the CPU would take for itself, from the midst of an invocation to the midst of another.
            let (first, last) = (1_000_123, 1_262_400);
            let mut room = vec![0; 1000];
            let right = search.find_all(first, last, &mut room).to_vec();
            assert!(right.len() > 80, "{i}");
            assert_eq!(by_device(&device, search, first, last), (right, None), "{i}");
        }
    });
}

#[test]
fn more_nonces_than_a_call_has_room_for() {
    with_cuda("", "more_nonces_than_a_call_has_room_for", || {
        let device = Device::open(None).unwrap();
        let search = Search::new(Algorithm::Md5, Target::zero_bits(1)).width(4);
        let mut room = vec![0; 300_000];
        let right = search.find_all(0, 300_000, &mut room).to_vec();
        assert_eq!(by_device(&device, &search, 0, 300_000), (right, None));
    });
}

#[test]
fn wrong_digests_are_noticed() {
    with_cuda("", "wrong_digests_are_noticed", || {
        let search = Search::new(Algorithm::Sha256, Target::zero_bits(30)).width(4);
        for fault in [Fault::Constant, Fault::LargeCalls] {
            let device = Options::new().fault(fault).open(None).unwrap();
            let (found, error) = by_device(&device, &search, 0, 1_000_000);
            assert!(found.is_empty() && matches!(error, Some(Error::Wrong { .. })), "{fault:?}: {error:?}");
            assert_eq!(by_device(&device, &search, 0, 1_000_000).1, error, "the device takes no further work");
        }
        let device = Device::open(None).unwrap();
        device.lose();
        assert!(matches!(by_device(&device, &search, 0, 1_000_000).1, Some(Error::Lost { .. })));
    });
}

#[test]
fn calls_that_fail() {
    let failing = [
        "cuInit:1",
        "cuDevicePrimaryCtxRetain:1",
        "cuMemAlloc_v2:1",
        "cuMemAlloc_v2:3",
        "cuModuleLoadData:1",
        "cuLaunchKernel:1",
        "cuLaunchKernel:6",
        "cuEventQuery:1",
        "cuEventQuery:9",
        "cuMemcpyDtoHAsync_v2:2",
        "cuStreamSynchronize:1",
        "nvrtcCompileProgram:1",
    ];
    let body = || {
        let failing = std::env::var(CHILD).unwrap();
        let device = match Device::open(Some("cuda")) {
            Ok(device) => device,
            Err(error) => {
                println!("{failing}: {error}");
                let is_early = ["cuInit:1", "cuDevicePrimaryCtxRetain:1"].contains(&&failing[..]);
                return assert!(is_early && error.to_string().contains("(1") | error.to_string().contains("(2)"));
            }
        };
        let search = Search::new(Algorithm::Sha256, Target::zero_bits(20)).width(4);
        let (_, error) = by_device(&device, &search, 0, 3_000_000);
        let text = error.expect("a failing call is an error").to_string();
        println!("{failing}: {text}");
        let expected = match failing.split_once(':').unwrap().0 {
            "cuMemAlloc_v2" => "out of memory (2)",
            "cuLaunchKernel" | "cuEventQuery" | "cuStreamSynchronize" => "unspecified launch failure (719)",
            "nvrtcCompileProgram" => "the driver refused a request: NVRTC: kernel.cu(1): error: a fault",
            _ => "invalid argument (1)",
        };
        assert!(text.contains(expected), "{failing}: {text}");
        // The first error stays.
        assert_eq!(by_device(&device, &search, 0, 3_000_000).1.unwrap().to_string(), text);
    };
    for failing in failing {
        with_cuda(failing, "calls_that_fail", body);
    }
}

#[test]
fn missing_libraries_are_named_with_their_cure() {
    let body = || {
        let text = Device::open(Some("cuda")).unwrap_err().to_string();
        let cure = match std::env::var(CHILD).unwrap().as_str() {
            "no driver" => "install NVIDIA's driver, or start the container with its devices",
            _ => "install CUDA's package cuda-nvrtc, or nvidia-cuda-nvrtc by pip",
        };
        assert!(text.starts_with("CUDA cannot be used: ") && text.contains(cure), "{text}");
        assert_eq!(Options::new().interface("cuda").open(None).unwrap_err().to_string(), text);
        // Without a wish for CUDA the driver is missing, and a device is there without a compiler.
        let error = Device::open(None).unwrap_err();
        assert!(matches!(error, Error::NotFound { .. } | Error::NoCuda { .. }), "{error}");
    };
    let test = "missing_libraries_are_named_with_their_cure";
    if std::env::var_os(CHILD).is_some() {
        return body();
    }
    let Some(folder) = stand_in() else { return };
    let system = Command::new("sh").args(["-c", "ldconfig -p | grep -cE 'libcuda.so|libnvrtc.so'"]).output().unwrap();
    if system.stdout.first() != Some(&b'0') {
        return skipped::skipped("the system has libraries of CUDA, or no ldconfig");
    }
    let (none, driver) = (folder.join("none"), folder.join("driver"));
    std::fs::create_dir_all(&none).unwrap();
    std::fs::create_dir_all(&driver).unwrap();
    std::fs::copy(folder.join("libcuda.so.1"), driver.join("libcuda.so.1")).unwrap();
    with_libraries(&none, "no driver", test);
    with_libraries(&driver, "no compiler", test);
}
