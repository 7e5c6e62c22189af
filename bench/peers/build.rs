// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles the peers that are C libraries, those of them that are installed.
//!
//! None has to be: a peer whose shim does not compile and link is named in the output with what would install it. Where
//! a library is not in the compiler's own folders, `PKG_CONFIG_PATH` (ISA-L), `CPATH` and `LIBRARY_PATH` say where.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=c");
    for name in ["PKG_CONFIG_PATH", "CPATH", "LIBRARY_PATH", "ECLOOP_DIR", "ECLOOP_CLANG", "CC"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    for peer in ["openssl", "ipsec_mb", "isal", "ecloop_gcc", "ecloop_clang"] {
        println!("cargo:rustc-check-cfg=cfg(has_{peer})");
    }

    for (name, package, library) in
        [("openssl", "libcrypto", "crypto"), ("ipsec_mb", "libIPSec_MB", "IPSec_MB"), ("isal", "libisal_crypto", "isal_crypto")]
    {
        let flags = pkg_config(package).unwrap_or_else(|| vec![format!("-l{library}")]);
        let file = PathBuf::from(format!("c/{name}.c"));
        let mut build = cc::Build::new();
        build.file(&file).include("c").std("c11").cargo_warnings(false);
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

    if let Some(folder) = env::var_os("ECLOOP_DIR") {
        println!("cargo:rerun-if-changed={}", Path::new(&folder).join("lib/rmd160s.c").display());
        let clang = env::var("ECLOOP_CLANG").unwrap_or_else(|_| "clang".into());
        for (name, compiler) in [("ecloop_gcc", "gcc"), ("ecloop_clang", &clang)] {
            let mut build = cc::Build::new();
            build.compiler(compiler).file("c/ecloop.c").include("c").include(&folder).define("PEER_NAME", name);
            build.opt_level(3).flag("-march=native").warnings(false).cargo_warnings(false);
            if build.try_compile(&format!("peer_{name}")).is_ok() {
                println!("cargo:rustc-cfg=has_{name}");
            }
        }
    }
}

/// The flags to compile and link with a library, if `pkg-config` knows it.
fn pkg_config(package: &str) -> Option<Vec<String>> {
    let output = Command::new("pkg-config").args(["--cflags", "--libs", package]).stderr(Stdio::null()).output().ok()?;
    let flags = String::from_utf8(output.stdout).ok()?;
    // pkg-config leaves the folder out that the compiler looks into anyway; the rpath needs none there either.
    output.status.success().then(|| flags.split_whitespace().map(String::from).collect())
}

/// Whether the file compiles and links as a shared library that leaves nothing undefined.
fn links(build: &cc::Build, file: &Path, flags: &[String]) -> bool {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo sets it")).join("probe.so");
    let Ok(compiler) = build.try_get_compiler() else { return false };
    let mut command = compiler.to_command();
    command.args(["-shared", "-fPIC", "-Wl,--no-undefined", "-o"]).arg(out).arg(file).args(flags);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}
