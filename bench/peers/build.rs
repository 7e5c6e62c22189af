// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the shims of those peers in C that are installed.
//!
//! No peer is required: if a shim does not compile and link, the output names the peer and how to install it. For a
//! library outside the compiler's own folders, set `PKG_CONFIG_PATH` (ISA-L), `CPATH` and `LIBRARY_PATH`.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c");
    for name in ["PKG_CONFIG_PATH", "CPATH", "LIBRARY_PATH", "XKCP_DIR", "CC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    for peer in ["openssl", "ipsec_mb", "isal"] {
        println!("cargo:rustc-check-cfg=cfg(has_{peer})");
    }
    for (target, _) in XKCP {
        println!("cargo:rustc-check-cfg=cfg({})", xkcp_name(target));
    }

    for (name, package, library) in [
        ("openssl", "libcrypto", "crypto"),
        ("ipsec_mb", "libIPSec_MB", "IPSec_MB"),
        ("isal", "libisal_crypto", "isal_crypto"),
    ] {
        let flags = pkg_config(package).unwrap_or_else(|| vec![format!("-l{library}")]);
        let file = PathBuf::from(format!("c/{name}.c"));
        let mut build = cc::Build::new();
        // ISA-L leaves the upper halves of the vector registers in use. An SSE instruction in the old encoding then
        // waits for the one before: 5.8 million messages of 41 bytes a second, with AVX encoding 27.5 (SHA-1).
        build.file(&file).include("c").std("c11").flag_if_supported("-march=native").cargo_warnings(false);
        for flag in &flags {
            if let Some(folder) = flag.strip_prefix("-I") {
                build.include(folder);
            }
        }
        if links(&build, &file, &flags) && build.try_compile(&format!("peer_{name}")).is_ok() {
            println!("cargo:rustc-cfg=has_{name}");
            for flag in &flags {
                if let Some(folder) = flag.strip_prefix("-L") {
                    println!("cargo:rustc-link-arg=-Wl,-rpath,{folder}");
                    println!("cargo:rustc-link-search=native={folder}");
                } else if let Some(library) = flag.strip_prefix("-l") {
                    println!("cargo:rustc-link-lib=dylib={library}");
                }
            }
        }
    }

    // hashloom is not compiled with the flags below, but cc finds the same compiler for both.
    if let Ok(compiler) = cc::Build::new().try_get_compiler() {
        println!("cargo:rustc-env=PEERS_CC={}", first_line(compiler.path().as_ref()));
    }
    println!("cargo:rustc-env=PEERS_RUSTC={}", first_line(&env::var_os("RUSTC").expect("Cargo sets it")));

    let mut xkcp_targets = Vec::new();
    let xkcp = env::var_os("XKCP_DIR").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    for (target, flag) in XKCP {
        let Some(folder) = &xkcp else { break };
        let library = folder.join("bin").join(target).join("libXKCP.a");
        println!("cargo:rerun-if-changed={}", library.display());
        if xkcp_joined(&xkcp_name(target), flag, &library).is_some() {
            println!("cargo:rustc-cfg={}", xkcp_name(target));
            xkcp_targets.push(target);
        }
    }
    let version = match (&xkcp, &xkcp_targets[..]) {
        (Some(folder), [_, ..]) => {
            let mut command = Command::new("git");
            command.arg("-C").arg(folder).args(["log", "-1", "--format=%h of %as"]);
            let output = command.output().map(|output| output.stdout).unwrap_or_default();
            format!("{}, targets {}", String::from_utf8_lossy(&output).trim(), xkcp_targets.join(" "))
        }
        _ => String::new(),
    };
    println!("cargo:rustc-env=PEERS_XKCP={version}");
}

/// XKCP's targets, and the flag for what goes with them. `generic64-bmi` is `generic64` with BMI, the fastest one for a
/// long message: 16 KiB take 29.9 µs, over `AVX2` 33.7, `AVX512` 34.4, `generic64` 43 (Zen 4, clang 14).
const XKCP: [(&str, &str); 5] = [
    ("AVX512", "-march=native"),
    ("AVX2", "-mavx2"),
    ("SSSE3", "-mssse3"),
    ("generic64-bmi", "-mbmi2"),
    ("generic64", "-mtune=native"),
];

/// The name of a target's functions, and of its cfg.
fn xkcp_name(target: &str) -> String {
    format!("xkcp_{}", target.to_lowercase().replace('-', "_"))
}

/// Joins the shim with one of XKCP's libraries, and hides all names but this one: the libraries have the same names.
fn xkcp_joined(name: &str, flag: &str, library: &Path) -> Option<()> {
    let mut build = cc::Build::new();
    build.file("c/xkcp.c").include("c").include(library.with_extension("a.headers")).define("PEER_NAME", name);
    build.std("gnu11").opt_level(3).flag(flag).warnings(false).cargo_warnings(false);
    let shim = build.try_compile_intermediates().ok()?.pop()?;
    let joined = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join(format!("{name}.o"));
    let mut link = Command::new("ld");
    link.args(["-r", "-o"]).args([&joined, &shim]).arg(library);
    let mut hide = Command::new("objcopy");
    hide.arg(format!("--keep-global-symbol={name}")).arg(&joined);
    for command in [&mut link, &mut hide] {
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success()).then_some(())?;
    }
    cc::Build::new().object(&joined).cargo_warnings(false).try_compile(&format!("peer_{name}")).ok()
}

/// The first line of a compiler's `--version`.
fn first_line(compiler: &OsStr) -> String {
    let output = Command::new(compiler).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or("unknown").into()
}

/// The flags to compile and link with a library, if `pkg-config` knows it.
fn pkg_config(package: &str) -> Option<Vec<String>> {
    let output =
        Command::new("pkg-config").args(["--cflags", "--libs", package]).stderr(Stdio::null()).output().ok()?;
    let flags = String::from_utf8(output.stdout).ok()?;
    // pkg-config leaves out the compiler's default folder, which needs no rpath either.
    output.status.success().then(|| flags.split_whitespace().map(String::from).collect())
}

/// Returns whether the file compiles and links as a shared library without undefined symbols.
fn links(build: &cc::Build, file: &Path, flags: &[String]) -> bool {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("probe.so");
    let Ok(compiler) = build.try_get_compiler() else { return false };
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-Wl,--no-undefined", "-o"]).arg(out).arg(file).args(flags);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
