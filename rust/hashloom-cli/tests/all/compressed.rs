// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists and manifests from pipes, from standard input, and compressed by gzip or zstd.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{Ran, hashloom, run, status, stderr, stdout};
use flate2::Compression;
use flate2::write::GzEncoder;

/// A folder with the folder `tree`, its manifest `m`, and `old`, a manifest that differs.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    fs::create_dir(&tree).unwrap();
    for i in 0..50 {
        fs::write(tree.join(format!("{i:02}")), format!("{i}")).unwrap();
    }
    assert_eq!(status(&run(folder.path(), &["manifest", "write", "tree", "-o", "m"])), 0);
    fs::write(folder.path().join("tree/new"), "new").unwrap();
    assert_eq!(status(&run(folder.path(), &["manifest", "write", "tree", "-o", "new"])), 0);
    fs::remove_file(tree.join("new")).unwrap();
    folder
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn gunzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).read_to_end(&mut content)?;
    Ok(content)
}

fn unzstd(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    ruzstd::decoding::StreamingDecoder::new(bytes).map_err(io::Error::other)?.read_to_end(&mut content)?;
    Ok(content)
}

/// Runs a line of bash, in which `$H` is the program.
fn bash(folder: &Path, line: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(folder).env("H", env!("CARGO_BIN_EXE_hashloom"));
    command.env_remove("HASHLOOM_ISA").env("LC_ALL", "C.UTF-8").output().unwrap()
}

#[test]
fn a_manifest_comes_from_anywhere() {
    let folder = tree();
    let folder = folder.path();
    let plain = fs::read(folder.join("m")).unwrap();
    fs::write(folder.join("m.gz"), gzip(&plain)).unwrap();
    // The name does not tell the format.
    fs::write(folder.join("m.txt"), zstd(&plain)).unwrap();
    for line in [
        "$H manifest check m.gz tree",
        "$H manifest check m.txt tree",
        "cat m | $H manifest check - tree",
        "$H manifest check - tree < m",
        "cat m.gz | $H manifest check - tree",
        "$H manifest check <(cat m.txt) tree",
        "$H manifest diff m.gz m.txt",
        "$H manifest diff <(cat m.gz) <(cat m.txt)",
        "cat m.gz | $H manifest diff - m.txt",
        "cat m.gz | $H manifest diff m -",
        "cat m.txt | $H manifest write tree --update - -o again --force > /dev/null && cmp m again",
    ] {
        let output = bash(folder, line);
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{line}");
    }
    // A manifest with a filter of lengths is read once more.
    bash(folder, "$H manifest write tree --max-size 1 | gzip | $H manifest check - tree").done();
    for line in ["cat new | $H manifest diff m -", "$H manifest diff m <(gzip < new)"] {
        let output = bash(folder, line);
        assert_eq!((status(&output), stdout(&output).starts_with("added       new\n")), (1, true), "{line}");
    }
    for (line, why) in [
        ("$H manifest diff - - < m", "standard input can be read only once"),
        ("$H manifest check - < m", "standard input: name the folder as DIR"),
        ("$H manifest check <(cat m)", ": name the folder as DIR"),
        ("head -c 300 m | $H manifest check - tree", "standard input: line "),
        ("$H manifest check - tree <&-", "standard input: "),
        // Endless input ends at its first line.
        ("$H manifest check - tree < /dev/zero", "standard input: line 1: this is not a manifest"),
        ("gzip < /dev/zero | $H manifest check - tree", "standard input: line 1: this is not a manifest"),
    ] {
        bash(folder, line).refused(why);
    }
    // A file of this name is a file of the folder.
    fs::write(folder.join("tree/-"), "").unwrap();
    Command::new("bash")
        .args(["-c", "$H manifest check - . < ../m"])
        .env("H", env!("CARGO_BIN_EXE_hashloom"))
        .current_dir(folder.join("tree"))
        .output()
        .unwrap()
        .ends(1)
        .has("added       -\n");
}

#[test]
fn a_list_may_be_compressed() {
    let folder = tree();
    let folder = folder.path();
    let list = run(folder, &["sum", "-r", "tree"]).stdout;
    for (name, bytes) in [("gzip", gzip(&list)), ("zstd", zstd(&list))] {
        fs::write(folder.join(name), bytes).unwrap();
        for line in [&format!("$H check --quiet {name}"), &format!("cat {name} | $H check --quiet")] {
            let output = bash(folder, line);
            assert_eq!((status(&output), stdout(&output), stderr(&output)), (0, "", ""), "{line}");
        }
        let output = run(folder, &["sum", "tree/01", "tree/02", "m", "--known", name]);
        assert_eq!((status(&output), stdout(&output).lines().count()), (0, 2));
        // The program of coreutils that hashloom stands in for knows nothing of it.
        use std::os::unix::process::CommandExt;
        hashloom().arg0("sha256sum").current_dir(folder).args(["-c", name]).output().unwrap().ends(1);
    }
    fs::write(folder.join("tree/07"), "8").unwrap();
    run(folder, &["check", "--quiet", "gzip"]).ends(1).prints("tree/07: FAILED\n");
}

/// Whoever opens a pipe first gets its bytes, so nothing looks into a list before it is read.
#[test]
fn a_list_may_be_a_named_pipe() {
    let folder = tree();
    bash(folder.path(), "$H sum -r tree > list && mkfifo pipe").done();
    for _ in 0..20 {
        bash(folder.path(), "cat list > pipe & $H check --quiet pipe").done();
    }
}

/// No damage to compressed bytes is taken for the end, wherever it is.
#[test]
fn damaged_bytes_are_an_error() {
    let folder = tree();
    let folder = folder.path();
    let plain = fs::read(folder.join("m")).unwrap();
    let half = plain.len() / 2;
    let refused = |bytes: &[u8], what: &str| {
        fs::write(folder.join("bad"), bytes).unwrap();
        let output = run(folder, &["manifest", "diff", "m", "bad"]);
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{what}");
        assert!(stderr(&output).starts_with("hashloom: bad: "), "{what}: {}", stderr(&output));
        stderr(&output).to_owned()
    };
    type Compress = fn(&[u8]) -> Vec<u8>;
    type Decompress = fn(&[u8]) -> io::Result<Vec<u8>>;
    let ways: [(&str, Compress, Decompress); 2] = [("gzip", gzip, gunzip), ("zstd", zstd, unzstd)];
    for (name, compress, decompress) in ways {
        let whole = compress(&plain);
        for nbytes in (1..whole.len()).step_by(whole.len() / 23).chain([3, 4, 5, whole.len() - 1]) {
            refused(&whole[..nbytes], &format!("{name}, cut after {nbytes} bytes"));
        }
        let message = refused(&whole[..whole.len() - 1], name);
        assert!(message.contains(&format!("{name}, after ")), "{message}");
        assert!(message.ends_with(" bytes decompressed: the compressed bytes are cut short\n"), "{message}");
        for place in (4..whole.len()).step_by(whole.len() / 23) {
            let mut bad = whole.clone();
            bad[place] ^= 0x10;
            fs::write(folder.join("bad"), &bad).unwrap();
            let output = run(folder, &["manifest", "diff", "m", "bad"]);
            // Some bits mean nothing for the content: a time in the header, or a way back to the
            // same letters elsewhere.
            let is_harmless = status(&output) == 0 && stdout(&output).starts_with("as written");
            let is_same = || decompress(&bad).is_ok_and(|content| content == plain);
            let is_right = if is_harmless { is_same() } else { status(&output) == 2 };
            assert!(is_right, "{name}, byte {place}: {}", stdout(&output));
        }
        for garbage in [&b"x"[..], b"some more text, longer than a header"] {
            refused(&[&whole[..], garbage].concat(), &format!("{name}, garbage"));
        }
        // Members and frames follow one another.
        let parts = [compress(&plain[..half]), compress(b""), compress(&plain[half..])];
        fs::write(folder.join("parts"), parts.concat()).unwrap();
        let output = run(folder, &["manifest", "diff", "m", "parts"]);
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{name}");
        refused(&parts[..2].concat(), &format!("{name}: without the last part"));
    }
    let skipped = b"\x50\x2a\x4d\x18\x03\0\0\0abc";
    fs::write(folder.join("skipped"), [skipped, &zstd(&plain)[..], skipped].concat()).unwrap();
    assert_eq!(status(&run(folder, &["manifest", "diff", "m", "skipped"])), 0);
    refused(&[&zstd(&plain)[..], &skipped[..10]].concat(), "a frame to skip that is cut short");
    for (list, compress) in [("list.gz", gzip as Compress), ("list.zst", zstd)] {
        let lines = compress(&run(folder, &["sum", "-r", "tree"]).stdout);
        fs::write(folder.join(list), &lines[..lines.len() - 2]).unwrap();
        run(folder, &["check", "--quiet", list]).ends(1).says("the compressed bytes are cut short");
        run(folder, &["sum", "tree/01", "--unknown", list]).ends(2).prints("");
    }
}

/// A few bytes that decompress to many take no more memory than others.
#[cfg(target_os = "linux")]
#[test]
fn a_bomb_takes_little_memory() {
    let folder = tree();
    let folder = folder.path();
    let mut bomb = GzEncoder::new(File::create(folder.join("bomb")).unwrap(), Compression::fast());
    let line = format!("{}  {}\n", "0".repeat(64), "x".repeat(1 << 20));
    (0..64).for_each(|_| bomb.write_all(line.as_bytes()).unwrap());
    bomb.write_all(&vec![b'x'; 32 << 20]).unwrap();
    bomb.finish().unwrap();
    let output = bash(folder, "ulimit -v 400000; $H check --threads 1 bomb");
    assert_eq!(status(&output), 1);
    let told = "hashloom: bomb: 1: not verified: it is too long\n";
    assert!(
        stderr(&output).starts_with(told) && stderr(&output).contains("65 lines have digests"),
        "{}",
        stderr(&output)
    );
    bash(folder, "ulimit -v 400000; $H manifest diff m bomb").ends(2).says("bomb: line 1: this is not a manifest");
}

/// A frame says how much of its past it needs: no more than `zstd -d` allows, and memory is bounded by it.
#[cfg(target_os = "linux")]
#[test]
fn windows_of_zstd() {
    let folder = tree();
    let folder = folder.path();
    // Blocks of one byte, 128 KiB times; without a window the content's length stands for it.
    let frame = |descriptor: &[u8], nblocks: usize, byte: u8| {
        let header = |i| ((128 << 10 << 3 | 1 << 1 | usize::from(i + 1 == nblocks)) as u32).to_le_bytes();
        let blocks = (0..nblocks).flat_map(|i| [&header(i)[..3], &[byte]].concat());
        [b"\x28\xb5\x2f\xfd", descriptor].concat().into_iter().chain(blocks).collect::<Vec<u8>>()
    };
    let list = zstd(&run(folder, &["sum", "-r", "tree"]).stdout);
    // Windows of 128 MiB, as of `zstd --long`, of 112 MiB, and of 1 KiB; the second is longer than 100 MiB.
    let frames = [&frame(&[0, 17 << 3], 8, b'\n')[..], &frame(&[0, 16 << 3 | 6], 2, b'\n'), &frame(&[0, 0], 2, b'\n')];
    fs::write(folder.join("long"), [&list, frames[0], frames[1], frames[2], &list].concat()).unwrap();
    bash(folder, "ulimit -v 400000; $H check --threads 1 --quiet long").done();
    let single = |nbytes: u64| [&[0xe0][..], &nbytes.to_le_bytes()].concat();
    for (descriptor, found) in [
        (vec![0, 17 << 3 | 1], "144 MiB"),
        (vec![0, 18 << 3], "256 MiB"),
        (vec![0, 0xff], "3.8 TiB"),
        (single(129 << 20), "129 MiB"),
        (single(1 << 63), "8 EiB"),
    ] {
        fs::write(folder.join("window"), frame(&descriptor, 1, b'\n')).unwrap();
        let output = bash(folder, "ulimit -v 400000; $H manifest diff m window");
        let expected = format!(
            "hashloom: window: zstd, after 0 bytes decompressed: expected a window of at most 128 MiB, found {found}: \
             decompress it with `zstd -d --long=31`\n"
        );
        output.ends(2).tells(&expected);
    }
    // A block of copies of four bytes, each as long as a copy can be, which would take gigabytes.
    for ncopies in [2_u16, 2000, 0x7f00 + 20_000] {
        let number = match ncopies {
            0..128 => vec![ncopies as u8],
            128..0x7f00 => vec![(ncopies >> 8) as u8 | 0x80, ncopies as u8],
            _ => [&[0xff][..], &(ncopies - 0x7f00).to_le_bytes()].concat(),
        };
        let body = [&[0][..], &number, &[0x54, 0, 0, 52], &vec![0xff; 2 * usize::from(ncopies)], &[1]].concat();
        let header = |kind: usize, nbytes: usize, is_last| ((nbytes << 3 | kind << 1 | is_last) as u32).to_le_bytes();
        let blocks = [&header(0, 4, 0)[..3], b"\n\n\n\n", &header(2, body.len(), 1)[..3], &body].concat();
        fs::write(folder.join("block"), [b"\x28\xb5\x2f\xfd\0\0", &blocks[..]].concat()).unwrap();
        let output = bash(folder, "ulimit -v 400000; $H check block");
        let why = "hashloom: block: zstd, after 0 bytes decompressed: a block has more than 128 KiB\n";
        assert_eq!((status(&output), stderr(&output)), (1, why), "{ncopies}");
    }
}

/// A folder for temporary files that cannot be used is named, and the variable that names it.
#[test]
fn no_folder_for_temporary_files() {
    let folder = tree();
    for line in ["cat m | $H manifest check - tree", "$H manifest diff <(gzip < m) m", "$H manifest diff - m < m"] {
        let output = bash(folder.path(), &format!("export TMPDIR=$PWD/nowhere; {line}"));
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{line}");
        let told = stderr(&output);
        assert!(told.contains("/nowhere: ") && told.ends_with("; set TMPDIR to another folder\n"), "{line}: {told}");
    }
    // A file is read where it is.
    bash(folder.path(), "TMPDIR=$PWD/nowhere $H manifest check m tree").done();
}
