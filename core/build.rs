// SPDX-License-Identifier: MIT OR Apache-2.0
//! Compiles libhashloom into this crate.
//!
//! Two kinds of files go into the one archive:
//!
//! - `src/*.c`, the API and the lane driver, follow the Cargo profile and the user's `CFLAGS`: a debug build can be
//!   stepped through, and a sanitizer still sees a wrong length or pointer of a caller.
//! - `src/*/*.c`, the kernels, are always compiled `-O3` and uninstrumented, whatever the profile and `CFLAGS` say:
//!   they do nothing but arithmetic on whole blocks that the driver has bounded, and all the time is spent in them.
//!
//! No `-m` or `-march` flag is given: each kernel names its instruction set with a `target` attribute. The features of
//! this crate become `HL_ALGORITHMS`; `CFLAGS=-DHL_ISAS=avx2,sha` leaves out kernels (`src/parts.h`).
//!
//! Hardening that costs no measurable time is on, unless the user's `CFLAGS` name it: a guard behind the arrays on the
//! driver's stack, and on x86 a mark at the beginning of each function that may be called through a pointer.
//! `_FORTIFY_SOURCE` finds no call here that it could check.

use std::error::Error;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, thread};

/// Flags that come last on the command line, where the last flag wins. Objects with the C
/// compiler's intermediate code (`-flto`, which Linux distributions put into `CFLAGS`) are of no use to Rust's linker.
const DRIVER_FLAGS: [&str; 1] = ["-fno-lto"];
const KERNEL_FLAGS: [&str; 4] = ["-fno-lto", "-O3", "-fno-sanitize=all", "-fno-stack-protector"];

/// Kernels are compiled without flags that begin like one of these. The flags of instrumentation are left out, because
/// a later `-fno-…` does not take all of them back (gcc 12: `--coverage`; clang 14: `-fsanitize-coverage=…`); the
/// profile's `-O…`, so that all profiles have the same command, and ccache the object.
const NOT_FOR_KERNELS: [&str; 8] = [
    "-fsanitize",
    "--coverage",
    "-coverage",
    "-fprofile",
    "-ftest-coverage",
    "-fcoverage",
    "-finstrument-functions",
    "-O",
];

/// A flag, the name by which the user's flags may set it, and whether kernels get it too. (Kernels have no arrays of
/// variable length, so they have no stack guard, not even where `CFLAGS` or the compiler itself would have one:
/// test/proof proves them without.)
struct TargetFlag(&'static str, &'static str, bool);

const STACK_PROTECTOR: TargetFlag = TargetFlag("-fstack-protector-strong", "stack-protector", false);
const BRANCH_MARKS: TargetFlag = TargetFlag("-fcf-protection", "cf-protection", true);

/// gcc for Windows takes the stack of vectors of 32 bytes and more as aligned, and Windows aligns it to 16 (GCC bug
/// 54412). Debian's and MSYS2's gcc have a patch; for others the assembler turns such moves into unaligned ones.
const UNALIGNED_MOVES: TargetFlag = TargetFlag("-Wa,-muse-unaligned-vector-move", "-muse-unaligned-vector-move", true);

fn main() -> Result<(), Box<dyn Error>> {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let (parts, absent) = parts(&root.join("src/parts.h"))?;
    let (driver_files, kernel_files) = sources(&root.join("src"), &absent)?;

    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src");
    println!("cargo:rerun-if-changed=include");
    // For build scripts of dependants that compile C against the header: DEP_HASHLOOM_INCLUDE.
    println!("cargo:include={}", root.join("include").display());

    let mut library = cc::Build::new();
    library
        .std("c11")
        .include(root.join("include"))
        .warnings(false)
        // A shell and an editor rarely agree on their environment; each change would compile all of this again.
        .emit_rerun_if_env_changed(false);
    if env::var_os("CARGO_FEATURE_DEFAULT").is_none() {
        library.define("HL_ALGORITHMS", &*parts.join(","));
    }
    let compiler = library.try_get_compiler()?;
    let is_gcc = compiler.is_like_gnu();
    if compiler.is_like_msvc() {
        let path = compiler.path().display();
        return Err(format!("hashloom needs gcc >= 8 or clang >= 14; {path} is neither: set CC to one of them").into());
    }

    // cc puts CFLAGS last; by hand, ours come after them.
    let compiler = compiler.to_command();
    println!("cargo:rustc-env=HASHLOOM_COMPILER={}", version(&compiler)?);
    // `cargo clippy` links nothing. Cargo names its wrapper to members of the workspace alone, whose builds by it and
    // without it lie apart.
    let wrapper = env::var_os("RUSTC_WORKSPACE_WRAPPER").map(PathBuf::from);
    if wrapper.is_some_and(|wrapper| wrapper.file_stem().is_some_and(|stem| stem == "clippy-driver")) {
        return Ok(());
    }
    let target_flags = target_flags(&library, &compiler)?;
    let flags = |of: &[TargetFlag], more: &[&str]| -> Vec<OsString> {
        of.iter().map(|flag| flag.0).chain(more.iter().copied()).map(OsString::from).collect()
    };
    let mut driver_args: Vec<OsString> = compiler.get_args().map(OsString::from).collect();
    let mut kernel_args = driver_args.clone();
    kernel_args.retain(|arg| !NOT_FOR_KERNELS.iter().any(|beginning| arg.to_string_lossy().starts_with(beginning)));
    driver_args.extend(flags(&target_flags, &DRIVER_FLAGS));
    kernel_args.extend(flags(&target_flags.into_iter().filter(|flag| flag.2).collect::<Vec<_>>(), &KERNEL_FLAGS));
    // gcc 12 takes 0.8 seconds to read this header, as long as for a kernel of SHA-256: it is read once. What tests
    // share by ccache has no such header, which ccache does not see through; the objects are the same.
    let header = out.join("intrinsics.h");
    let precompiled = out.join("intrinsics.h.gch");
    let is_precompiled = is_gcc && family() == "x86" && env::var_os("CCACHE_DIR").is_none();
    if is_precompiled {
        fs::write(&header, "#include <immintrin.h>\n")?;
        let args = [&kernel_args[..], &["-x".into(), "c-header".into()]].concat();
        compile(&compiler, &args, &header, &precompiled)?;
        kernel_args.extend(["-include".into(), header.into()]);
    }
    let driver = driver_files.iter().map(|file| (file, &driver_args[..]));
    let files: Vec<_> = driver.chain(kernel_files.iter().map(|file| (file, &kernel_args[..]))).collect();
    compile_all(&compiler, &files, &out)?;
    if is_precompiled {
        fs::remove_file(precompiled)?; // 24 MB
    }
    for (file, _) in files {
        library.object(out.join(object_name(file)));
    }
    library.try_compile("hashloom")?;
    Ok(())
}

/// The folder of the target's kernels.
fn family() -> &'static str {
    match env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default().as_str() {
        "x86" | "x86_64" => "x86",
        "aarch64" => "arm",
        "wasm32" | "wasm64" => "wasm",
        _ => "",
    }
}

/// The names of parts.h that are features of this build, and those that are not.
fn parts(header: &Path) -> Result<(Vec<String>, Vec<String>), Box<dyn Error>> {
    let text = fs::read_to_string(header)?;
    let rows = text.lines().filter_map(|line| line.strip_prefix("#define HLI_ALG_"));
    let names = rows.filter_map(|row| row.split(' ').next()).filter(|name| *name != "none").map(str::to_owned);
    let is_feature = |name: &String| env::var_os(format!("CARGO_FEATURE_{}", name.to_uppercase())).is_some();
    let (parts, absent): (Vec<_>, Vec<_>) = names.partition(is_feature);
    if parts.is_empty() {
        return Err("hashloom without an algorithm: name one, such as features = [\"sha256\"], or \"all\"".into());
    }
    Ok((parts, absent))
}

/// The flags that the target wants and the compiler supports, and that the user's flags do not name.
fn target_flags(library: &cc::Build, compiler: &Command) -> Result<Vec<TargetFlag>, Box<dyn Error>> {
    let mut wanted = Vec::new();
    // Other systems may lack the function that a failed check calls.
    if env::var_os("CARGO_CFG_UNIX").is_some() {
        wanted.push(STACK_PROTECTOR);
    }
    if family() == "x86" {
        wanted.push(BRANCH_MARKS);
    }
    if env::var_os("CARGO_CFG_WINDOWS").is_some() && env::var("CARGO_CFG_TARGET_ARCH")? == "x86_64" {
        wanted.push(UNALIGNED_MOVES);
    }
    let is_given = |name: &str| compiler.get_args().any(|arg| arg.to_string_lossy().contains(name));
    wanted.retain(|flag| !is_given(flag.1) && library.is_flag_supported(flag.0).unwrap_or(false));
    Ok(wanted)
}

/// The compiler's name for itself, such as `cc (Debian 12.2.0-14) 12.2.0`.
fn version(compiler: &Command) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(compiler.get_program());
    command.envs(compiler.get_envs().filter_map(|(name, value)| Some((name, value?)))).arg("--version");
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("an unknown compiler").into())
}

/// Compiles all files, as many at a time as Cargo allows: one after the other they would be the longest part of a build
/// on many CPUs.
fn compile_all(compiler: &Command, files: &[(&PathBuf, &[OsString])], out: &Path) -> Result<(), String> {
    let njobs = env::var("NUM_JOBS").ok().and_then(|number| number.parse().ok()).unwrap_or(1);
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((file, args)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            compile(compiler, args, file, &out.join(object_name(file)))?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        let mut threads: Vec<_> = (0..njobs).map(|_| scope.spawn(work)).collect();
        threads
            .drain(..)
            .try_for_each(|thread| thread.join().map_err(|_| "a thread of the build script ended".to_owned())?)
    })
}

fn compile(compiler: &Command, args: &[OsString], file: &Path, object: &Path) -> Result<(), String> {
    let mut command = Command::new(compiler.get_program());
    command.envs(compiler.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(args).arg("-c").arg(file).arg("-o").arg(object);
    println!("{command:?}");
    let status = command.status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: the C compiler ended with {status}")) }
}

/// The files `src/*.c` and `src/*/*.c`, sorted, so that equal sources give an equal archive: without kernels of other
/// CPUs, and the two files whose calls hashloom itself never makes, if they are absent.
fn sources(src: &Path, absent: &[String]) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Box<dyn Error>> {
    let (mut driver, mut kernels) = (c_files(src)?, Vec::new());
    for part in absent.iter().filter(|part| matches!(part.as_str(), "search" | "slh")) {
        driver.retain(|file| !file.ends_with(format!("{part}.c")));
    }
    for folder in ["alg", "generic", family()].iter().filter(|folder| !folder.is_empty()) {
        kernels.extend(c_files(&src.join(folder))?);
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
