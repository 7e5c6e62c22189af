// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles libhashloom into this crate.
//!
//! Two kinds of files go into the one archive:
//!
//! - `src/*.c`, the API and the lane driver, follow the Cargo profile and the user's `CFLAGS`: a debug build can be
//!   stepped through, and a sanitizer still sees a wrong length or pointer that a caller hands in.
//! - `src/*/*.c`, the kernels, are always compiled `-O3` and uninstrumented, whatever the profile and `CFLAGS` say: they
//!   do nothing but arithmetic on whole blocks that the driver has bounded, and at `-O0` they would be 20 times slower.
//!
//! No `-m` or `-march` flag is given: each kernel names its instruction set with a `target` attribute.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Must come after the user's `CFLAGS` on the command line, where the last flag wins.
const KERNEL_FLAGS: [&str; 2] = ["-O3", "-fno-lto"];

/// The same, for compilers that know them (gcc and clang each lack some): takes back every instrumentation.
const KERNEL_FLAGS_IF_SUPPORTED: [&str; 10] = [
    "-fno-sanitize=all",
    "-fno-sanitize-coverage=trace-pc",
    "-fno-sanitize-coverage=trace-cmp",
    "-fno-sanitize-coverage=edge,trace-pc-guard,inline-8bit-counters,pc-table,trace-cmp,trace-div,trace-gep",
    "-fno-profile-arcs",
    "-fno-test-coverage",
    "-fno-profile-instr-generate",
    "-fno-coverage-mapping",
    "-fno-instrument-functions",
    "-fno-stack-protector",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let (driver_files, kernel_files) = sources(&root.join("src"))?;

    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=include");
    // For build scripts of dependants that compile C against the header: DEP_HASHLOOM_INCLUDE.
    println!("cargo:include={}", root.join("include").display());

    let mut base = cc::Build::new();
    base.std("c11")
        .include(root.join("include"))
        .warnings(true)
        .extra_warnings(true)
        // Objects with the C compiler's intermediate code are of no use to Rust's linker.
        .flag_if_supported("-fno-lto")
        // A shell and an editor rarely agree on their environment; each change would compile all of this again.
        .emit_rerun_if_env_changed(false);

    let mut library = base.clone();
    let compiler = base.try_get_compiler()?;
    if compiler.is_like_msvc() {
        library.objects(base.opt_level(3).files(kernel_files).try_compile_intermediates()?);
    } else {
        // cc puts CFLAGS last, so these files are compiled by hand, with the kernels' flags after them.
        for file in &kernel_files {
            let object = out.join(object_name(file));
            let mut command = compiler.to_command();
            command.args(KERNEL_FLAGS);
            for flag in KERNEL_FLAGS_IF_SUPPORTED {
                if base.is_flag_supported(flag)? {
                    command.arg(flag);
                }
            }
            command.arg("-c").arg(file).arg("-o").arg(&object);
            println!("{command:?}");
            let status = command.status()?;
            if !status.success() {
                return Err(format!("{}: the C compiler ended with {status}: {command:?}", file.display()).into());
            }
            library.object(object);
        }
    }
    library.files(driver_files).try_compile("hashloom")?;
    Ok(())
}

/// The files `src/*.c` and `src/*/*.c`, sorted, so that equal sources give an equal archive.
fn sources(src: &Path) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Box<dyn Error>> {
    let (mut driver, mut kernels) = (c_files(src)?, Vec::new());
    for entry in fs::read_dir(src)? {
        let path = entry?.path();
        if path.is_dir() {
            kernels.extend(c_files(&path)?);
        }
    }
    driver.sort();
    kernels.sort();
    Ok((driver, kernels))
}

fn c_files(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "c") {
            files.push(path);
        }
    }
    Ok(files)
}

/// `src/x86/avx2.c` becomes `x86-avx2.o`: files of different folders may share a name.
fn object_name(file: &Path) -> String {
    let folder = file.parent().and_then(Path::file_name).unwrap_or_default();
    let stem = file.file_stem().unwrap_or_default();
    format!("{}-{}.o", folder.to_string_lossy(), stem.to_string_lossy())
}
