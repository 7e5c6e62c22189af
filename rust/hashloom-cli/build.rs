// SPDX-License-Identifier: MIT OR Apache-2.0
//! Links the code that unwinds the stack after a panic into the program, where the C compiler has it as an archive. To
//! load libgcc_s instead takes a seventh of the time in which a small file is hashed.

use std::env;
use std::path::Path;
use std::process::Command;

const ARCHIVE: &str = "libgcc_eh.a";

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|of| of == value);
    if !is("CARGO_CFG_TARGET_OS", "linux") || !is("CARGO_CFG_TARGET_ENV", "gnu") {
        return;
    }
    // Cargo names the linker if it is not the default; a linker that is no compiler does not answer.
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let answer = Command::new(linker).arg(format!("-print-file-name={ARCHIVE}")).output();
    let found = answer.ok().and_then(|answer| String::from_utf8(answer.stdout).ok()).unwrap_or_default();
    // A compiler that has none answers with the name alone.
    if let Some(folder) = Path::new(found.trim_end()).parent().filter(|folder| folder.is_absolute()) {
        println!("cargo:rustc-link-search=native={}", folder.display());
        println!("cargo:rustc-link-lib=static:-bundle,+verbatim={ARCHIVE}");
    }
}
