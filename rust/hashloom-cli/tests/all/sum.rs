// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom sum` and `hashloom check` as a person or a script does. `test/coreutils.py` compares what they share
//! with coreutils' programs.
#![cfg_attr(not(unix), allow(unused_imports, reason = "some tests are for Unix only"))]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use crate::common::{Ran, hashloom, make_fifo, run, run_with, sha1, sha256, status, stderr, stdout};
use serde_json::{Value, json};

/// Makes a folder of these files, each with its path as content.
fn folder(paths: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for path in paths {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, path).unwrap();
    }
    folder
}

fn paths(output: &Output) -> Vec<&str> {
    stdout(output).lines().map(|line| line.split_once("  ").unwrap().1).collect()
}

#[test]
fn sha256_of_files_and_of_standard_input() {
    let folder = folder(&["a", "b"]);
    run(folder.path(), &["sum", "b", "a"]).done().prints(&format!("{}  b\n{}  a\n", sha256("b"), sha256("a")));
    for arguments in [&["sum"][..], &["sum", "-"]] {
        run_with(folder.path(), arguments, b"abc").prints(&format!("{}  -\n", sha256("abc")));
    }
    // The second time standard input is at its end.
    let output = run_with(folder.path(), &["sum", "-", "a", "-"], b"abc");
    let [abc, a, empty] = ["abc", "a", ""].map(sha256);
    assert_eq!(stdout(&output), format!("{abc}  -\n{a}  a\n{empty}  -\n"));
}

#[test]
fn several_algorithms_from_one_read() {
    let folder = folder(&["a"]);
    let (sha1, sha256) = (sha1("a"), sha256("a"));
    // A pipe can be read only once.
    run_with(folder.path(), &["sum", "-a", "sha1,SHA256", "-a", "sha1"], b"a")
        .prints(&format!("SHA1 (-) = {sha1}\nSHA256 (-) = {sha256}\n"));
    let output = run(folder.path(), &["sum", "--json", "-a", "sha256,sha1,sha512-256", "a"]);
    let mut found: Value = serde_json::from_str(stdout(&output)).unwrap();
    let last = found["digests"].as_object_mut().unwrap().remove("sha512-256").unwrap();
    assert_eq!(last.as_str().unwrap().len(), 64);
    assert_eq!(found, json!({ "path": "a", "length": 1, "digests": { "sha256": sha256, "sha1": sha1 } }));
    run(folder.path(), &["sum", "-a", "md4", "a"]).ends(2).says("possible values: sha1, sha224, sha256");
}

#[test]
fn folders_are_sorted_by_the_bytes_of_whole_paths() {
    let folder = folder(&["d/a.txt", "d/a/b", "d/a/c/d", "d/a-b", "d/a0", "d/Z", "d/é", "other"]);
    let expected = ["d/Z", "d/a-b", "d/a.txt", "d/a/b", "d/a/c/d", "d/a0", "d/é"];
    for threads in ["1", "2", "7"] {
        let output = run(folder.path(), &["sum", "--threads", threads, "-r", "d"]);
        assert_eq!((status(&output), stderr(&output), &paths(&output)[..]), (0, "", &expected[..]));
    }
    let output = run(folder.path(), &["sum", "-r", "other", "d/a/", "other"]);
    assert_eq!(paths(&output), ["other", "d/a/b", "d/a/c/d", "other"]);
    let output = run(folder.path(), &["sum", "d", "other"]);
    assert_eq!((status(&output), paths(&output)), (1, vec!["other"]));
    assert_eq!(stderr(&output), "hashloom: d: Is a directory: --recursive sums the files below it\n");
}

#[cfg(unix)]
#[test]
fn links_inside_of_folders_are_followed_on_demand() {
    use std::os::unix::fs::symlink;
    let folder = folder(&["d/a", "elsewhere/b"]);
    symlink("../elsewhere", folder.path().join("d/link")).unwrap();
    symlink("a", folder.path().join("d/z")).unwrap();
    symlink("d", folder.path().join("e")).unwrap();
    let output = run(folder.path(), &["sum", "-r", "e"]);
    assert_eq!((status(&output), paths(&output)), (0, vec!["e/a"]));
    let output = run(folder.path(), &["sum", "-rL", "d"]);
    assert_eq!((status(&output), stderr(&output), paths(&output)), (0, "", vec!["d/a", "d/link/b", "d/z"]));
    symlink(".", folder.path().join("d/y")).unwrap();
    symlink("nowhere", folder.path().join("d/x")).unwrap();
    let output = run(folder.path(), &["sum", "-rL", "d"]);
    assert_eq!(status(&output), 1);
    let messages: Vec<&str> = stderr(&output).lines().collect();
    assert!(messages[0].starts_with("hashloom: d/x: "), "{messages:?}");
    assert!(messages[1].starts_with("hashloom: d/y: a link to d, "), "{messages:?}");
    // The walk went on.
    assert_eq!(*paths(&output).last().unwrap(), "d/z");
}

/// A list without tags of an algorithm that the number of digits does not tell.
#[test]
fn a_list_of_another_algorithm_gets_a_hint() {
    let folder = folder(&["a", "b"]);
    let list = |algorithm: &str, options: &[&str]| {
        let output = run(folder.path(), &[&["sum", "a", "b", "-a", algorithm], options].concat());
        fs::write(folder.path().join("l"), &output.stdout).unwrap();
    };
    let check = |arguments: &[&str]| run(folder.path(), &[&["check"], arguments].concat()).all();
    let failed = |hint: &str| {
        let warning = "hashloom: WARNING: 2 computed checksums did NOT match\n";
        (1, "a: FAILED\nb: FAILED\n".to_owned(), format!("{warning}{hint}"))
    };
    let of_32 = "hashloom: hint: no line names its algorithm, so digests of 32 bytes (64 hexadecimal digits) count as \
                 sha256. If they are of sha512-256, sha3-256, keccak-256, shake128, sm3, blake2b-256, blake2s or \
                 blake3, name it: hashloom check --algorithm NAME";
    let of_20 = "hashloom: hint: no line names its algorithm, so digests of 20 bytes (40 hexadecimal digits) count as \
                 sha1. If they are of ripemd160, name it: hashloom check --algorithm ripemd160 l\n";
    for options in [&[][..], &["--base64"]] {
        list("sha3-256", options);
        assert_eq!(check(&["l"]), failed(&format!("{of_32} l\n")), "{options:?}");
        assert_eq!(check(&["-a", "sha3-256", "l"]), (0, "a: OK\nb: OK\n".to_owned(), String::new()), "{options:?}");
    }
    run_with(folder.path(), &["check"], &fs::read(folder.path().join("l")).unwrap())
        .tells(&failed(&format!("{of_32}\n")).2);
    // The name of the list is quoted for a shell.
    fs::copy(folder.path().join("l"), folder.path().join("l l")).unwrap();
    assert_eq!(check(&["l l"]), failed(&format!("{of_32} 'l l'\n")));
    list("ripemd160", &[]);
    assert_eq!(check(&["l"]), failed(of_20));
    assert_eq!(check(&["--quiet", "l"]).2, failed(of_20).2);
    assert_eq!(check(&["--status", "l"]), (1, String::new(), String::new()));
    assert_eq!(check(&["--json", "l"]).2, "");
    // The algorithm is known: by an option, by a tag, by columns.
    assert_eq!(check(&["-a", "sha1", "l"]), failed(""));
    let hashdeep = format!("%%%% size,sha1,filename\n1,{0},a\n1,{0},b\n", "0".repeat(40));
    let json = ["a", "b"].map(|name| format!(r#"{{"path":"{name}","digests":{{"sha1":"{}"}}}}"#, "0".repeat(40)));
    let tagged = ["a", "b"].map(|name| format!("SHA1 ({name}) = {}", "0".repeat(40)));
    for text in [hashdeep, json.join("\n"), tagged.join("\n")] {
        fs::write(folder.path().join("l"), &text).unwrap();
        assert_eq!(check(&["l"]), failed(""), "{text}");
    }
    // So does the name of the list. What is wrong was verified.
    fs::write(folder.path().join("SHA1SUMS"), format!("{0}  a\n{0}  b\n", "0".repeat(40))).unwrap();
    assert_eq!(check(&["--ignore-missing", "SHA1SUMS"]), failed(""));
    // A line that matches shows that the algorithm is right. Files that are missing show nothing.
    let a = sha1("a");
    fs::write(folder.path().join("l"), format!("{a}  a\n{a}  b\n")).unwrap();
    assert_eq!(check(&["l"]).2, "hashloom: WARNING: 1 computed checksum did NOT match\n");
    fs::write(folder.path().join("l"), format!("{a}  missing\n")).unwrap();
    assert!(!check(&["l"]).2.contains("hint"));
}

/// Lists as Windows writes them: UTF-16, backslashes, and what Get-FileHash prints, with paths from a drive on.
#[cfg(unix)]
#[test]
fn lists_of_windows() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("a"), "abc").unwrap();
    fs::write(folder.path().join("sub/b c"), "x").unwrap();
    let (a, b) = (
        "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
        "2D711642B726B04401627CA9FBAC32F5C8530FB1903CC4DB02258717921A4881",
    );
    let check = |text: &str, options: &[&str]| {
        let units =
            |to: fn(u16) -> [u8; 2]| "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to).collect();
        let texts: [Vec<u8>; 4] = [
            text.into(),
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
            units(u16::to_le_bytes),
            units(u16::to_be_bytes),
        ];
        let outputs = texts.map(|text| run_with(folder.path(), &[&["check", "-"], options].concat(), &text).all());
        assert!(outputs.iter().all(|output| *output == outputs[0]), "{outputs:?}");
        outputs[0].clone()
    };
    let right = |names: [&str; 2]| (0, format!("{}: OK\n{}: OK\n", names[0], names[1]), String::new());
    let windows = ["C:/x/pkg/a", "C:/x/pkg/sub/b c"];
    assert_eq!(check(&format!("{a}  a\r\n{b} *sub\\b c\r\n"), &[]), right(["a", "sub\\b c"]));
    assert_eq!(
        check(
            &format!(
                "\r\nAlgorithm Hash Path\r\n--- --- ---\r\nSHA256 {a} C:\\x\\pkg\\a\r\nSHA256 \
                 {b} C:\\x\\pkg\\sub\\b c\r\n"
            ),
            &[]
        ),
        right(windows)
    );
    // A file of another folder with the same name is not taken for it: it is missing, not wrong.
    let record =
        |digest: &str, name: &str| format!("Algorithm : SHA256\r\nHash      : {digest}\r\nPath      : {name}\r\n\r\n");
    let list = record(b, "C:\\x\\pkg\\sub\\b c") + &record(a, "C:\\y\\a");
    let (code, out, _) = check(&list, &[]);
    assert_eq!((code, &out[..]), (1, "C:/x/pkg/sub/b c: OK\nC:/y/a: FAILED open or read\n"));
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn verdicts_and_why_a_line_is_bad() {
    let folder = folder(&["a", "b"]);
    let (a, wrong) = (sha256("a"), "0".repeat(64));
    let list = format!("{a}  a\n{wrong}  b\n{a}  gone\nbad\n{}  x\n\\{a}  \\q\n{a}  -\n", "0".repeat(48));
    let output = run_with(folder.path(), &["check", "--warn"], list.as_bytes());
    output.ends(1).prints("a: OK\nb: FAILED\ngone: FAILED open or read\n");
    let expected = "\
hashloom: gone: No such file or directory
hashloom: 'standard input': 4: improperly formatted checksum line: neither `<hex>  <name>` nor \
`SHA256 (<name>) = <hex>`
hashloom: 'standard input': 5: not verified: a digest of 48 hexadecimal digits, which no algorithm asked for has
hashloom: 'standard input': 6: not verified: a backslash in the name that is followed by none of n, r and \\
hashloom: 'standard input': 7: not verified: the list itself is standard input
hashloom: WARNING: 1 line is improperly formatted
hashloom: WARNING: 3 lines have digests that were NOT verified
hashloom: WARNING: 1 listed file could not be read
hashloom: WARNING: 1 computed checksum did NOT match
";
    assert_eq!(stderr(&output), expected);
    let output = run_with(folder.path(), &["check", "--json"], list.as_bytes());
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let object = |path, state| json!({ "path": path, "algorithm": "sha256", "state": state });
    let unverified = |lines: &[Value]| lines.iter().filter(|line| line["state"] == "unverified").count();
    let (others, lines): (Vec<_>, Vec<_>) = lines.into_iter().partition(|line| line["state"] == "unverified");
    assert_eq!(others.len(), 3);
    assert_eq!(&others[1]["line"], &json!(6));
    assert_eq!(&others[2]["error"], &json!("the list itself is standard input"));
    let summary = |counts| json!({ "list": "standard input", "counts": counts, "bytes": 2, "bad_lines": 1 });
    let counts = json!({ "ok": 1, "failed": 1, "unread": 1, "unstable": 0, "ignored": 0, "unverified": 3 });
    assert_eq!(lines, [object("a", "ok"), object("b", "failed"), object("gone", "unread"), summary(counts)]);
    output.ends(1).tells("hashloom: gone: No such file or directory\n");
    // Missing files that are ignored were not checked.
    run_with(folder.path(), &["check", "--ignore-missing", "--quiet"], list.as_bytes())
        .says("hashloom: 1 listed file is missing and not checked\n");
    let output = run_with(folder.path(), &["check", "--ignore-missing", "--quiet", "--json"], list.as_bytes());
    let lines: Vec<Value> = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let counts = json!({ "ok": 1, "failed": 1, "unread": 0, "unstable": 0, "ignored": 1, "unverified": 3 });
    assert_eq!(unverified(&lines), 3);
    assert_eq!(&lines[..1], &[object("b", "failed")][..]);
    assert_eq!(&lines[4..], &[summary(counts)][..]);
    let output =
        run_with(folder.path(), &["check", "--status", "--ignore-missing"], format!("{a}  a\n{a}  x\n").as_bytes());
    output.is(0, "", "");
}

#[test]
fn a_line_without_end_is_one_bad_line() {
    let folder = folder(&["a"]);
    let list = [vec![b'x'; 2 << 20], format!("\n{}  a\n", sha256("a")).into_bytes()].concat();
    run_with(folder.path(), &["check", "--warn"], &list)
        .ends(0)
        .prints("a: OK\n")
        .says(": 1: improperly formatted checksum line: it is too long\n");
}

#[cfg(unix)]
#[test]
fn called_by_the_name_of_a_coreutils_program() {
    use std::os::unix::process::CommandExt;
    let folder = folder(&["a"]);
    let output =
        hashloom().arg0("sha1sum").env("HASHLOOM_ISA", "nonsense").current_dir(&folder).arg("a").output().unwrap();
    output.ends(1).prints("").says_first("sha1sum: --isa or HASHLOOM_ISA: ");
    for name in ["xxhsum", "/usr/local/bin/sum"] {
        let output = hashloom().arg0(name).current_dir(&folder).arg("a").output().unwrap();
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{name}");
        let name = name.rsplit('/').next().unwrap();
        output.says_first(&format!("hashloom: hashloom is called as {name}, for which it cannot stand in: "));
    }
    assert_eq!(status(&hashloom().arg0("hashloom-0.1").current_dir(&folder).args(["sum", "a"]).output().unwrap()), 0);
}

/// Names with control characters cannot steer a terminal; into a pipe their bytes stay.
#[cfg(target_os = "linux")]
#[test]
fn names_on_a_terminal() {
    let folder = folder(&["a\u{1b}[31mb", "c\u{202e}", "plain b"]);
    let program = env!("CARGO_BIN_EXE_hashloom");
    let on_terminal = |words: &str| {
        // On a busy machine a bar of progress may come.
        let line = format!("{program} {words} 2>/dev/null");
        let output = std::process::Command::new("script")
            .args(["-qec", &line, "/dev/null"])
            .env("LC_ALL", "C.UTF-8")
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output();
        match output {
            Ok(output) => Some(stdout(&output).replace('\r', "")),
            Err(error) => {
                crate::common::skipped::skipped_unless_required(format!("script: {error}"));
                None
            }
        }
    };
    let quoted = [r"'./a'$'\033''[31mb'", r"'./c'$'\342\200\256'", "./plain b"];
    let names = ["a\u{1b}[31mb", "c\u{202e}", "plain b"];
    let Some(text) = on_terminal("sum -r .") else { return };
    let expected: Vec<String> =
        names.iter().zip(quoted).map(|(name, quoted)| format!("{}  {quoted}\n", sha256(name))).collect();
    assert_eq!(text, expected.concat());
    let list = run(folder.path(), &["sum", "-r", "."]).stdout;
    assert!(String::from_utf8(list.clone()).unwrap().contains("  ./a\u{1b}[31mb\n"));
    fs::write(folder.path().join("plain b.list"), list).unwrap();
    let text = on_terminal("check 'plain b.list'").unwrap();
    assert_eq!(text, quoted.map(|name| format!("{name}: OK\n")).concat());
    let text = on_terminal("digest -a sha256 a* plain*b").unwrap();
    assert!(text.starts_with(r"('a'$'\033''[31mb') = "), "{text:?}");
    // JSON is the same everywhere.
    let json = run(folder.path(), &["sum", "--json", "c\u{202e}"]);
    json.begins(r#"{"path":"c\u202e","#);
    assert_eq!(on_terminal("sum --json c*").unwrap(), stdout(&json));
}

/// Runs the program with standard output in a file of the folder.
#[cfg(unix)]
fn run_into(folder: &Path, file: &str, append: bool, arguments: &[&str]) -> Output {
    let out =
        fs::File::options().create(true).write(true).append(append).truncate(!append).open(folder.join(file)).unwrap();
    hashloom().current_dir(folder).args(arguments).stdout(out).output().unwrap()
}

#[cfg(unix)]
#[test]
fn the_output_is_no_part_of_itself() {
    let folder = folder(&["a", "sub/b"]);
    let path = folder.path();
    let left_out = |name: &str| format!("hashloom: {name}: it is the output itself, and left out\n");
    let check = || run(path, &["check", "--quiet", "SUMS"]);
    for append in [false, true] {
        run_into(path, "SUMS", append, &["sum", "-r", "."]).ends(0).tells(left_out("./SUMS").as_str());
        assert_eq!((status(&check()), stdout(&check())), (0, ""));
    }
    // By another name, behind a link, and by names from a file.
    fs::hard_link(path.join("SUMS"), path.join("sub/hard")).unwrap();
    std::os::unix::fs::symlink("../SUMS", path.join("sub/link")).unwrap();
    let output = run_into(path, "SUMS", false, &["sum", "-rL", "."]);
    let expected = ["./SUMS", "./sub/hard", "./sub/link"].map(left_out).concat();
    output.ends(0).tells(expected.as_str());
    assert_eq!(status(&check()), 0);
    fs::write(path.join("names"), "a\0SUMS\0").unwrap();
    run_into(path, "SUMS", false, &["sum", "--files0-from", "names"]).ends(0).tells(left_out("SUMS").as_str());
    assert_eq!(fs::read_to_string(path.join("SUMS")).unwrap().lines().count(), 1);
    // The user has named it.
    run_into(path, "SUMS", false, &["sum", "a", "SUMS"]).ends(1).tells(left_out("SUMS").as_str());
    // A list that was made otherwise.
    fs::write(path.join("SUMS"), run(path, &["sum", "-r", "."]).stdout).unwrap();
    let output = check();
    assert_eq!(status(&output), 1);
    assert!(
        stderr(&output).ends_with("SUMS: it lists itself, and no list can have its own digest: remove that line\n")
    );
}

#[test]
fn a_command_without_its_first_word_and_other_programs_names_are_tips() {
    let folder = folder(&["a"]);
    let cases = [
        (&["create", "a"][..], "manifest write', 'torrent create"),
        (&["edit", "a"], "torrent edit"),
        (&["verify", "a"], "manifest check', 'torrent verify', 'tree dmverity verify', 'slh verify"),
        (&["diff", "a", "a"], "manifest diff"),
        (&["sha256", "a"], "sum --algorithm sha256"),
        (&["sha256", "-c", "a"], "check --algorithm sha256"),
        (&["sha512-256", "a"], "sum --algorithm sha512-256"),
        (&["prove-inclusion", "1", "a"], "tree rfc6962 prove-inclusion"),
        (&["chekc", "a"], "check"),
    ];
    for (arguments, tip) in cases {
        run(folder.path(), arguments).refused(&format!(": '{tip}'\n"));
    }
}

/// People who know other programs, or forget a word, type these lines: each message has the right one.
#[test]
fn wrong_lines_name_the_right_ones() {
    let folder = folder(&["a"]);
    fs::create_dir(folder.path().join("d")).unwrap();
    let cases = [
        ("-c a", "hashloom's for -c: `hashloom check LIST`"),
        ("--md5 a", "hashloom's for --md5: `hashloom sum --algorithm md5`"),
        ("a -sha256", "'-sha256' found\n\n  tip: hashloom's for --sha256: `hashloom sum --algorithm sha256`"),
        ("sum -Algorithm md5 a", "it is written --algorithm"),
        ("sum -a 256 a", "similar value exists: 'sha256'"),
        ("sum -a sha3 a", "'sha3-224', 'sha3-256'"),
        ("sum -a crc32 a", "`hashloom check FILE.sfv`"),
        ("sha3 a", "'sum --algorithm sha3-256'"),
        ("certutil -hashfile a SHA256", "`hashloom sum --algorithm NAME FILE`"),
        ("Get-FileHash a", "`hashloom sum --algorithm NAME FILE`"),
        ("a sha1", "its sha1: `hashloom sum --algorithm sha1 a`"),
        ("a --only x", "--only is an option of `hashloom check`, behind the command"),
        ("check --require a", "an option of `hashloom FILE`"),
        ("--json check a", "options stand behind the command: `hashloom check --json`"),
        ("torrent -o x create a", "options stand behind the command: `hashloom torrent create -o`"),
        ("torrent -v", "-v of `hashloom torrent create`: leave it out"),
        ("torrent --verify a", "hashloom's for --verify: `hashloom torrent verify`"),
        ("torrent verify d a.torrent", "d: the torrent comes first: hashloom torrent verify a.torrent d"),
        ("manifest --md5 d", "`hashloom manifest write --algorithm md5`"),
        ("manifest write d out", "--output FILE"),
        ("tree -r d", "first comes what to do: fsverity, dmverity,"),
        ("tree a", "`hashloom tree fsverity FILE`"),
        ("generate bash", "`hashloom generate completions SHELL`"),
    ];
    for (line, part) in cases {
        let words: Vec<_> = line.split(' ').collect();
        run(folder.path(), &words).refused(part);
    }
    run(folder.path(), &["sum", "md5", "a"]).ends(1).says("an algorithm is named so: --algorithm md5");
    // clap's way of a file that begins with a dash is told only where there is one.
    assert!(!stderr(&run(folder.path(), &["sum", "-y"])).contains("as a value"));
    fs::write(folder.path().join("-y"), "").unwrap();
    run(folder.path(), &["sum", "-y"]).refused("to pass '-y' as a value, use '-- -y'");
}

#[cfg(target_os = "linux")]
#[test]
fn interrupted_there_are_whole_lines_only() {
    let folder = folder(&["a", "b"]);
    let mut command = hashloom();
    command.current_dir(&folder).args(["sum", "a", "b", "/dev/zero"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // When these lines arrive, signals are caught.
    let mut stdout = child.stdout.take().unwrap();
    let mut lines = vec![0; 2 * (64 + 4)];
    std::io::Read::read_exact(&mut stdout, &mut lines).unwrap();
    let killed = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    std::io::Read::read_to_end(&mut stdout, &mut lines).unwrap();
    let output = child.wait_with_output().unwrap();
    let expected = format!("{}  a\n{}  b\n", sha256("a"), sha256("b"));
    assert_eq!((status(&output), String::from_utf8(lines).unwrap(), stderr(&output)), (130, expected, ""));
}

/// Each pipe is opened for writing when the line of the one before has come. The last is never written.
#[cfg(target_os = "linux")]
#[test]
fn a_line_comes_as_soon_as_its_file_ends() {
    use std::os::unix::process::CommandExt;

    let folder = folder(&["a", "b", "c"]);
    let names = ["a", "one", "b", "two", "c", "last"];
    ["one", "two", "last"].iter().for_each(|name| make_fifo(folder.path().join(name)));
    let list = names.map(|name| format!("{}  {name}\n", sha256(name))).concat();
    fs::write(folder.path().join("list"), list).unwrap();
    let sum = |name: &str| format!("{}  {name}\n", sha256(name));
    let json = |name: &str| {
        let (sha1, sha256) = (sha1(name), sha256(name));
        format!(
            "{{\"path\":\"{name}\",\"length\":{},\"digests\":{{\"sha1\":\"{sha1}\",\"sha256\":\"{sha256}\"}}}}\n",
            name.len()
        )
    };
    type Line<'a> = &'a dyn Fn(&str) -> String;
    let cases: [(&str, &[&str], Line<'_>); 6] = [
        ("hashloom", &["sum", "--threads", "1"], &sum),
        ("hashloom", &["sum", "--threads", "5"], &sum),
        ("hashloom", &["sum", "--json", "-a", "sha1,sha256"], &json),
        ("hashloom", &["check", "list"], &|name| format!("{name}: OK\n")),
        ("hashloom", &["check", "list", "--rate", "1G", "--threads", "2"], &|name| format!("{name}: OK\n")),
        ("sha256sum", &[], &sum),
    ];
    for (program, arguments, line) in cases {
        let files: &[&str] = if arguments.contains(&"list") { &[] } else { &names };
        let mut command = hashloom();
        command.arg0(program).current_dir(&folder).args(arguments).args(files).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (told, lines) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || output.lines().for_each(|line| drop(told.send(line.unwrap() + "\n"))));
        for name in &names[..5] {
            if ["one", "two"].contains(name) {
                // Opened when the program has it open.
                fs::write(folder.path().join(name), name).unwrap();
            }
            // Nobody waits for ever for a line that is late.
            let found = lines.recv_timeout(std::time::Duration::from_secs(60));
            if found.as_ref() != Ok(&line(name)) {
                child.kill().unwrap();
                panic!("{program} {arguments:?}: {name}: {found:?}");
            }
        }
        // Signals are caught, and the program still ends by them.
        let killed = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        assert_eq!(status(&child.wait_with_output().unwrap()), 128 + 15, "{program} {arguments:?}");
        reader.join().unwrap();
        assert!(lines.recv().is_err());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn one_signal_ends_what_waits_for_a_pipe() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make_fifo(&pipe);
    for arguments in [&["sum", "pipe"][..], &["tree", "fsverity", "pipe"]] {
        let mut command = hashloom();
        command.current_dir(&folder).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.spawn().unwrap();
        // The pipe can be opened when the program has opened its other end; by then signals are caught.
        let writer = fs::File::options().write(true).open(&pipe).unwrap();
        let killed = std::process::Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert_eq!((status(&output), stdout(&output), stderr(&output)), (128 + 15, "", ""), "{arguments:?}");
        drop(writer);
    }
}

/// The first file may wait for a second name, which shows that names come slowly.
#[test]
fn files_do_not_wait_for_all_names() {
    let folder = folder(&["a", "b", "c", "d"]);
    for threads in ["1", "3"] {
        let mut command = hashloom();
        command.current_dir(&folder).args(["sum", "--threads", threads, "--files0-from", "-"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (told, lines) = std::sync::mpsc::channel();
        let output = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::spawn(move || output.lines().for_each(|line| drop(told.send(line.unwrap()))));
        let mut names = child.stdin.take();
        let late = [None, Some("a"), Some("b"), Some("c")];
        for (name, late) in ["a", "b", "c", "d"].into_iter().zip(late) {
            // Longer than a list takes to give a name.
            std::thread::sleep(std::time::Duration::from_millis(300));
            names.as_mut().unwrap().write_all(format!("{name}\0").as_bytes()).unwrap();
            let Some(late) = late else { continue };
            let found = lines.recv_timeout(std::time::Duration::from_secs(60));
            if found.as_ref() != Ok(&format!("{}  {late}", sha256(late))) {
                child.kill().unwrap();
                panic!("{threads} threads: {late}: {found:?}");
            }
        }
        drop(names.take());
        assert!(child.wait().unwrap().success());
        reader.join().unwrap();
        assert_eq!(lines.recv(), Ok(format!("{}  d", sha256("d"))));
    }
}

/// Names that `find -print0` would write, from a file and from standard input.
#[test]
#[cfg_attr(windows, ignore = "names that Windows cannot have")]
fn names_come_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    fs::write(path.join("a"), "abc").unwrap();
    fs::write(path.join("b\nc"), "abc").unwrap();
    fs::write(path.join("names"), "a\0b\nc").unwrap();
    let expected = run(path, &["sum", "-a", "sha1", "a", "b\nc"]);
    assert_eq!(status(&expected), 0);
    run(path, &["sum", "-a", "sha1", "--files0-from", "names"]).ends(0).prints(stdout(&expected));
    let found = run_with(path, &["sum", "-a", "sha1", "--files0-from=-"], b"a\0b\nc\0");
    found.ends(0).prints(stdout(&expected));

    let long = vec![b'x'; 2 << 20];
    let cases: [(&[u8], &str); 5] = [
        (b"a\0\0a\0", "hashloom: -: name 2: it is empty\n"),
        (b"-\0a\0a\0", "hashloom: -: name 1: the names themselves come from standard input\n"),
        (&[&long[..], b"\0a\0a\0"].concat(), "hashloom: -: name 1: it is too long; is each name ended by NUL?\n"),
        (b"a\0a\0missing\0", "hashloom: missing: No such file or directory\n"),
        (b"", ""),
    ];
    for (names, message) in cases {
        let found = run_with(path, &["sum", "-a", "sha1", "--files0-from=-"], names);
        found.ends(i32::from(!names.is_empty())).tells(message);
        assert_eq!(stdout(&found).lines().count(), if names.is_empty() { 0 } else { 2 });
    }
    let missing = run(path, &["sum", "--files0-from", "none"]);
    missing.refused("--files0-from none: No such file or directory");
    assert_eq!(status(&run(path, &["sum", "--files0-from", "names", "a"])), 2);
    // Options that are given twice count once, and an empty name is a file that is missing.
    let twice = run(path, &["sum", "-a", "sha1", "-r", "-r", "", "a"]);
    twice.ends(1).tells("hashloom: '': No such file or directory\n");
    assert!(stdout(&twice).ends_with("  a\n"));
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn filters_choose_files() {
    let folder = folder(&["a.txt", "b.jpg", "drafts/c.txt", "sub/d.txt", "sub/drafts/e.txt", "sub/long.txt"]);
    fs::write(folder.path().join("sub/long.txt"), [0; 5000]).unwrap();
    let sum = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["sum", "-r"], arguments].concat());
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{arguments:?}");
        paths(&output).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(sum(&[".", "--include", "*.jpg"]), ["./b.jpg"]);
    assert_eq!(
        sum(&[".", "--include", "*.txt", "--exclude", "/drafts/", "--max-size", "4k"]),
        ["./a.txt", "./sub/d.txt", "./sub/drafts/e.txt"]
    );
    assert_eq!(sum(&["sub", "--exclude", "drafts"]), ["sub/d.txt", "sub/long.txt"]);
    assert_eq!(sum(&["sub", "--min-size", "5000", "--max-size", "5000B"]), ["sub/long.txt"]);
    assert_eq!(sum(&["sub", "--min-size", "5001"]), [""; 0]);
    // A file that is named is matched by its name.
    assert_eq!(sum(&["sub/d.txt", "b.jpg", "--include", "/*.txt"]), ["sub/d.txt"]);
    assert_eq!(sum(&["sub/d.txt", "sub/long.txt", "--exclude", "sub", "--max-size", "100"]), ["sub/d.txt"]);
    let output = run(folder.path(), &["sum", "a.txt", "b.jpg", "missing", "--exclude", "*.jpg", "--min-size", "1"]);
    assert_eq!((status(&output), paths(&output)), (1, vec!["a.txt"]));
    assert_eq!(stderr(&output), "hashloom: missing: No such file or directory\n");
    run(folder.path(), &["sum", "sub", "--include", "*.txt"]).ends(1).prints("").says("sub: Is a directory");
    let output = run_with(folder.path(), &["sum", "--include", "*.jpg", "--min-size", "100"], b"abc");
    assert_eq!(paths(&output), ["-"]);
    for (arguments, part) in [
        (&["--include", ""][..], "the glob \"\": expected a pattern"),
        (&["--exclude", "[a"], "the glob \"[a\": "),
        (&["--exclude", "!a"], "the glob \"!a\": expected a pattern"),
        (&["--min-size", "2k", "--max-size", "2047"], "--min-size 2048 is more than --max-size 2047"),
        (&["--min-size", "-1"], "unexpected argument"),
        (&["--max-size", "1.5M"], "expected a whole number of bytes"),
        (&["--max-size", "99999999999999999999"], "expected less than 2^64 bytes"),
    ] {
        run(folder.path(), &[&["sum", "-r", "."], arguments].concat()).refused(part);
    }
}

#[cfg(unix)]
#[test]
fn filters_leave_out_errors_too() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;

    let folder = folder(&["a", "sub/b"]);
    symlink("nothing", folder.path().join("broken")).unwrap();
    symlink(".", folder.path().join("sub/loop")).unwrap();
    let name = std::ffi::OsStr::from_bytes(b"sub/\xff.txt");
    fs::write(folder.path().join(name), "x").unwrap();
    let output = run(folder.path(), &["sum", "-rL", "."]);
    assert_eq!((status(&output), stderr(&output).lines().count()), (1, 2));
    let output = run(folder.path(), &["sum", "-rL", ".", "--exclude", "broken", "--exclude", "loop/"]).done();
    assert_eq!(output.stdout.split(|&byte| byte == b'\n').count(), 4);
    let output = run(folder.path(), &["sum", "-rL", ".", "--include", "?.txt", "--exclude", "loop"]).done();
    assert!(output.stdout.ends_with(b"  ./sub/\xff.txt\n"));
}

#[test]
fn a_list_can_be_the_json_of_sum() {
    let folder = folder(&["a", "sub/b c"]);
    let json = run(folder.path(), &["sum", "-r", "--json", "-a", "sha512-256,md5", "."]);
    let list = folder.path().join("list");
    fs::write(&list, &json.stdout).unwrap();
    run(folder.path(), &["check", "list"]).ends(0).prints("./a: OK\n./sub/b c: OK\n");
    // Lines of all formats may stand side by side, in a list from Windows too.
    let gnu = run(folder.path(), &["sum", "a"]);
    let mixed = [b"\xEF\xBB\xBF", &json.stdout[..], b"  ", &gnu.stdout[..]].concat();
    fs::write(&list, String::from_utf8(mixed).unwrap().replace('\n', "\r\n")).unwrap();
    let output = run(folder.path(), &["check", "list", "--strict"]);
    output.ends(0).prints("./a: OK\n./sub/b c: OK\na: OK\n");
    // Every digest counts, and the length.
    let md5 = "0cc175b9c0f1b6a831c399e269772661";
    let sha1 = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";
    let verdict = |line: &str| {
        fs::write(&list, format!("{line}\n")).unwrap();
        let output = run(folder.path(), &["check", "--json", "list"]);
        let verdict: Value = serde_json::from_str(stdout(&output).lines().next().unwrap()).unwrap();
        (status(&output), verdict["algorithm"].as_str().unwrap().to_owned(), verdict["state"] == "ok")
    };
    let both = |md5: &str, sha1: &str, more: &str| {
        format!("{{\"path\":\"a\",\"digests\":{{\"sha1\":\"{sha1}\",\"md5\":\"{md5}\"}}{more}}}")
    };
    let names = "md5,sha1".to_owned();
    assert_eq!(verdict(&both(md5, &sha1.to_uppercase(), ",\"other\":[1]")), (0, names.clone(), true));
    assert_eq!(verdict(&both(md5, sha1, ",\"length\":1")), (0, names.clone(), true));
    assert_eq!(verdict(&both(md5, sha1, ",\"length\":2")), (1, names.clone(), false));
    assert_eq!(verdict(&both(md5, &sha1.replace('8', "9"), "")), (1, names.clone(), false));
    assert_eq!(verdict(&both(&md5.replace('0', "1"), sha1, "")), (1, names, false));
    // Faults of a line.
    for (line, why) in [
        ("{", "JSON over several lines"),
        ("{}", "missing field `path`"),
        ("{\"path\":\"a\"}", "missing field `digests`"),
        ("{\"path\":\"a\",\"digests\":{}}", "there is no digest"),
        ("{\"path\":\"a\",\"digests\":{\"md4\":\"00\"}}", "unknown algorithm"),
        (&both(md5, md5, ""), "sha1 has a malformed digest"),
        (&both("é", sha1, ""), "md5 has a malformed digest"),
        (&both(md5, sha1, ",\"length\":18446744073709551616"), "invalid"),
        (&both(md5, sha1, ",\"length\":-1"), "invalid"),
        (&both(md5, sha1, ",\"path\":\"a\""), "duplicate field"),
        (&both(md5, sha1, ",\"path_hex\":\"62\""), "path_hex is not the path"),
        (&both(md5, sha1, ",\"path_hex\":\"6\""), "path_hex is not the path"),
        (&both(md5, md5, "").replace("sha1", "md5"), "md5 is there twice"),
        (&format!("{} {{}}", both(md5, sha1, "")), "trailing characters"),
        (&"{\"a\":".repeat(5000), "JSON over several lines"),
        (&format!("{{\"digests\":{}", "[".repeat(5000)), "invalid type"),
    ] {
        fs::write(&list, format!("{line}\n")).unwrap();
        let output = run(folder.path(), &["check", "--warn", "list"]);
        let is_cut = why.starts_with("JSON");
        let part = if is_cut { "list: 1: not verified: " } else { "no object of `hashloom sum --json`: " };
        assert_eq!((status(&output), stdout(&output)), (1, ""), "{line}");
        assert!(stderr(&output).contains(part) && stderr(&output).contains(why), "{line}: {}", stderr(&output));
    }
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_utf8_comes_back_from_json() {
    use std::os::unix::ffi::OsStrExt;

    let folder = tempfile::tempdir().unwrap();
    for name in [&b"\xff\n\\"[..], b"\xef\xbf\xbd"] {
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), name).unwrap();
    }
    let json = run(folder.path(), &["sum", "-r", "--json", "."]);
    json.has("\"path_hex\":\"2e2fff0a5c\"");
    let output = run_with(folder.path(), &["check", "--json"], &json.stdout);
    assert_eq!((status(&output), stdout(&output).matches("\"state\":\"ok\"").count()), (0, 2));
    // A zero byte ends no name: there is no such file.
    let list = b"{\"path\":\"a\\u0000\",\"digests\":{\"md5\":\"0cc175b9c0f1b6a831c399e269772661\"}}\n";
    fs::write(folder.path().join("a"), "a").unwrap();
    let output = run_with(folder.path(), &["check"], list);
    assert_eq!((status(&output), &output.stdout[..]), (1, &b"a\0: FAILED open or read\n"[..]));
}

#[cfg(unix)]
#[test]
fn a_manifest_is_named_as_such() {
    let folder = folder(&["a"]);
    let manifest = run(folder.path(), &["manifest", "write", "."]);
    fs::write(folder.path().join("list"), &manifest.stdout).unwrap();
    run(folder.path(), &["check", "list"])
        .ends(1)
        .prints("")
        .tells("hashloom: list: this is a manifest: use `hashloom manifest check`\n");
    run_with(folder.path(), &["check"], &manifest.stdout)
        .tells("hashloom: 'standard input': this is a manifest: use `hashloom manifest check`\n");
    // sha256sum knows neither.
    let alias = |list: &[u8]| {
        let mut command = hashloom();
        use std::os::unix::process::CommandExt as _;
        command.arg0("sha256sum").arg("--check").current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(list).unwrap();
        stderr(&child.wait_with_output().unwrap()).to_owned()
    };
    let json = run(folder.path(), &["sum", "--json", "a"]);
    for list in [manifest.stdout, json.stdout] {
        assert!(alias(&list).ends_with(": no properly formatted checksum lines found\n"), "{}", alias(&list));
    }
}

#[test]
fn a_check_by_sum_is_refused_with_the_right_command() {
    let folder = folder(&["a"]);
    for arguments in [&["-c", "list"][..], &["list", "--check", "-a", "sha1"], &["-zc"]] {
        run(folder.path(), &[&["sum"], arguments].concat()).refused("tip: hashloom's for -");
        run(folder.path(), &[&["sum"], arguments].concat()).says("`hashloom check LIST`");
    }
    for arguments in [&["sum", "--chec"][..], &["check", "sum", "-c"], &["sum", "-y"]] {
        run(folder.path(), arguments).says("unexpected argument");
    }
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn names_are_relative_to_a_folder_or_to_the_list() {
    let folder = folder(&["one/a", "one/sub/b", "two/a"]);
    let sums = run(&folder.path().join("one"), &["sum", "a", "sub/b"]);
    for place in ["one/list", "two/list"] {
        fs::write(folder.path().join(place), &sums.stdout).unwrap();
    }
    let check = |arguments: &[&str]| run(folder.path(), &[&["check"], arguments].concat()).all();
    let right = "a: OK\nsub/b: OK\n";
    for directory in [&["-C", "one"][..], &["--directory", "one/"], &["-C", "two", "-C", "./one"], &["-Cone"]] {
        assert_eq!(check(&[directory, &["two/list"]].concat()), (0, right.into(), String::new()), "{directory:?}");
    }
    // Names of several lists stand behind the folder of each.
    let (code, printed, message) = check(&["--relative-to-list", "one/list", "two/list"]);
    assert_eq!((code, &*printed), (1, "one/a: OK\none/sub/b: OK\ntwo/a: FAILED\ntwo/sub/b: FAILED open or read\n"));
    assert_eq!(check(&["--relative-to-list", "one/list"]), (0, right.into(), String::new()));
    assert!(check(&["one/list"]).2.contains("lie beside it: hashloom check --relative-to-list one/list\n"));
    assert!(message.starts_with("hashloom: two/sub/b: No such file or directory\n"), "{message}");
    let (code, printed, _) = check(&["--json", "--relative-to-list", "one/list"]);
    assert_eq!((code, printed.lines().next()), (0, Some(r#"{"path":"a","algorithm":"sha256","state":"ok"}"#)));
    // A list in the current folder, and one on standard input.
    let at_one = |arguments: &[&str]| run_with(&folder.path().join("one"), arguments, &sums.stdout);
    assert_eq!(stdout(&at_one(&["check", "--relative-to-list", "list"])), right);
    assert_eq!(stdout(&at_one(&["check", "--relative-to-list"])), right);
    assert_eq!(stdout(&at_one(&["check", "-C", "../one"])), right);
    // A name that is absolute stays so.
    let absolute = folder.path().join("one/a");
    fs::write(folder.path().join("list"), format!("{}  {}\n", sha256("one/a"), absolute.display())).unwrap();
    assert_eq!(check(&["-C", "two", "list"]).0, 0);
    for (arguments, part) in [
        (&["-C", "missing", "one/list"][..], "hashloom: --directory: missing: No such file"),
        (&["-C", "one/a", "one/list"], "hashloom: --directory: one/a: expected a folder, found a file"),
        (&["-C", "", "one/list"], "hashloom: "),
        (&["-C"], "a value is required for '--directory <DIR>'"),
        (&["-C", "one", "--relative-to-list", "one/list"], "cannot be used with"),
    ] {
        let (code, printed, message) = check(arguments);
        assert_eq!((code, &*printed), (2, ""), "{arguments:?}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn digests_in_base64() {
    let folder = folder(&["a"]);
    let sha256 = "ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs=";
    run(folder.path(), &["sum", "--base64", "a"]).ends(0).prints(&format!("{sha256}  a\n"));
    run(folder.path(), &["sum", "--base64", "--tag", "-z", "a"]).prints(&format!("SHA256 (a) = {sha256}\0"));
    run_with(folder.path(), &["check"], format!("{}  a\n", sha256.replace('y', "z")).as_bytes())
        .ends(1)
        .prints("a: FAILED\n");
    run(folder.path(), &["sum", "--base64", "--json", "a"]).ends(2).says("cannot be used with");
}

#[test]
#[cfg_attr(windows, ignore = "the words of Unix for errors")]
fn files_with_known_digests() {
    let folder = folder(&["a", "sub/b", "sub/c"]);
    fs::write(folder.path().join("copy of a"), "a").unwrap();
    let sum = |arguments: &[&str]| {
        let output = run(folder.path(), &[&["sum"], arguments].concat());
        let names =
            stdout(&output).lines().map(|line| line.rsplit("  ").next().unwrap().to_owned()).collect::<Vec<_>>();
        (status(&output), names, stderr(&output).to_owned())
    };
    let found = |names: &[&str]| {
        (i32::from(names.is_empty()), names.iter().map(|&name| name.to_owned()).collect(), String::new())
    };
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let [a, b, other] = ["a", "sub/b", "other"].map(sha256);
    fs::create_dir(folder.path().join("lists")).unwrap();
    write("lists/gnu", &format!("{a}  x\n{other}  y\n{a}  z\n"));
    write(
        "lists/json",
        &format!("{{\"path\":\"x\",\"digests\":{{\"sha256\":\"{b}\",\"md5\":\"{}\"}}}}\r\n", "00".repeat(16)),
    );
    write("lists/deep", &format!("%%%% HASHDEEP-1.0\n%%%% size,sha256,filename\n9,{other},x\n5,{b},y\n"));
    write("lists/tagged", &format!("SHA256 (x) = {other}\nSHA1 (x) = {}\n", sha1("sub/c")));
    let files = ["a", "copy of a", "sub", "-r"];
    let with = |arguments: &[&'static str]| sum(&[&files[..], arguments].concat());
    assert_eq!(with(&["--known", "lists/gnu"]), found(&["a", "copy of a"]));
    assert_eq!(with(&["--unknown", "lists/gnu"]), found(&["sub/b", "sub/c"]));
    assert_eq!(with(&["--known", "lists/json", "--known", "lists/gnu"]), found(&["a", "copy of a", "sub/b"]));
    assert_eq!(with(&["--unknown", "lists/deep", "--unknown", "lists/gnu"]), found(&["sub/c"]));
    assert_eq!(with(&["--known", "lists/deep", "--exclude", "b"]), found(&[]));
    assert_eq!(with(&["--known", "lists/tagged"]), found(&[]));
    assert_eq!(with(&["--known", "lists/tagged", "-a", "sha1"]), found(&["sub/c"]));
    let output =
        run_with(folder.path(), &["sum", "--json", "a", "sub/c", "--known", "-"], format!("{a}  a\n").as_bytes());
    assert_eq!((status(&output), stdout(&output).matches("\"path\":\"a\"").count()), (0, 1));
    // Any digest of several algorithms counts.
    write("lists/three", &format!("{a}  x\n{}  y\nSHA1 (z) = {}\n", sha1("sub/b"), sha1("other")));
    let known = |option| {
        let words = ["sum", "-r", "sub", "a", "-a", "sha1,sha256", "--json", option, "lists/three"];
        let output = run(folder.path(), &words);
        let names =
            stdout(&output).lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["path"].to_string());
        (status(&output), names.collect::<Vec<_>>().join(" "))
    };
    assert_eq!(known("--known"), (0, r#""sub/b" "a""#.to_owned()));
    assert_eq!(known("--unknown"), (0, r#""sub/c""#.to_owned()));
    // Lines that are not checksums are told, as some known files may be in them.
    write("lists/odd", &format!("{a}  x\nhello\n{}\n{}  y\n", "x".repeat(100_000), "00".repeat(20)));
    let (code, names, message) = with(&["--known", "lists/odd"]);
    assert_eq!(
        (code, names.len(), &*message),
        (
            2,
            2,
            "hashloom: lists/odd: WARNING: 2 lines are improperly formatted\n\
             hashloom: lists/odd: 4: not compared: a digest of 40 hexadecimal digits, which no algorithm asked for \
             has; name it: --algorithm sha1 or ripemd160\n\
             hashloom: lists/odd: WARNING: 1 line is not compared: a file may be known all the same\n"
        )
    );
    // A file may have a line for each algorithm, but not a line of another algorithm alone.
    let [c, other] = ["sub/c", "other"].map(|text| (sha1(text), sha256(text)));
    let both =
        |name: &str, (sha1, sha256): &(String, String)| format!("SHA1 ({name}) = {sha1}\nSHA256 ({name}) = {sha256}\n");
    let beside = "there is no digest of sha256 beside it";
    for (list, line) in [
        (both("c", &c) + &both("other", &other), None),
        (format!("{}SHA1 (c) = {}\n", both("other", &other), c.0), Some((3, beside))),
        (format!("SHA1 (c) = {}\n{}", c.0, both("other", &other)), Some((1, beside))),
        (format!("{}TIGER (c) = {}\n", both("other", &other), c.1), Some((3, "a digest of TIGER"))),
        (format!("%%%% size,sha256,tiger,filename\n5,{},00,other\n", other.1), Some((1, "a digest of tiger"))),
        (
            format!("{{\"path\":\"c\",\"digests\":{{\"sha1\":\"{}\"}}}}\n{}", c.0, both("other", &other)),
            Some((1, beside)),
        ),
        (format!("{}{}", both("other", &other), &c.1[..40]), Some((3, "a digest of 40"))),
        (format!("{}hel", both("other", &other)), Some((3, "the list ends within this line"))),
    ] {
        write("lists/mixed", &list);
        let (code, names, message) = sum(&["sub/c", "a", "--unknown", "lists/mixed"]);
        let nfound = if list == both("c", &c) + &both("other", &other) { 1 } else { 2 };
        assert_eq!((code, names.len()), (if line.is_some() { 2 } else { 0 }, nfound), "{list}: {message}");
        let told =
            line.is_none_or(|(number, why)| message.contains(&format!("lists/mixed: {number}: not compared: {why}")));
        assert!(told, "{list}: {message}");
        // No file was found, and that means nothing.
        assert_eq!(sum(&["a", "--known", "lists/mixed"]).0, if line.is_some() { 2 } else { 1 }, "{list}");
    }
    // A file that cannot be read leaves the answer open.
    let (code, names, _) = sum(&["a", "missing", "--known", "lists/gnu"]);
    assert_eq!((code, names), (2, vec!["a".to_owned()]));
    write("lists/empty", "# nothing\n");
    fs::write(folder.path().join("lists/manifest"), run(folder.path(), &["manifest", "write", "sub"]).stdout).unwrap();
    for (arguments, part) in [
        (&["a", "--known", "lists/missing"][..], "--known: lists/missing: No such file"),
        (&["a", "--known", "lists"], "--known: lists: Is a directory"),
        (&["a", "--unknown", "lists/empty"], "--unknown: lists/empty: there is no digest of sha256. --algorithm names"),
        (&["a", "--known", "lists/gnu", "-a", "sha512"], "there is no digest of sha512"),
        (&["a", "--known", "lists/manifest"], "expected a list of checksums, found a manifest"),
        (&["a", "--known", "lists/gnu", "--unknown", "lists/gnu"], "cannot be used with"),
        (&["--known", "-"], "--known -: standard input can be read only once"),
        (&["-", "--known", "-"], "--known -: standard input can be read only once"),
        (&["a", "--unknown", "-", "--unknown", "-"], "standard input can be read only once"),
        (&["--files0-from", "-", "--known", "-"], "standard input can be read only once"),
    ] {
        let (code, names, message) = sum(arguments);
        assert_eq!((code, names.len()), (2, 0), "{arguments:?}");
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

/// All lists that `sum` can write are read back without an option, or refused with the option to give.
#[cfg(unix)]
#[test]
fn check_reads_what_sum_writes() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let names = [&b"a\nb"[..], b"plain", b"back\\slash", b" leading", b"\xff\xfe", b"end\r", b"*star", b"x) = 1\n\ny"];
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &[u8]| folder.path().join(OsStr::from_bytes(name));
    names.iter().for_each(|name| fs::write(place(name), name).unwrap());
    let options = ["--zero", "--tag", "--base64", "--json"];
    let mut nlists = 0;
    for chosen in 0..1 << options.len() {
        let chosen: Vec<&str> = (0..options.len()).filter(|i| chosen >> i & 1 == 1).map(|i| options[i]).collect();
        for algorithms in ["sha256", "md5", "ripemd160", "sha3-256", "sha1,sha512"] {
            // The first name tells how lines end.
            for first in 0..1 + usize::from(chosen.contains(&"--zero")) {
                let sum = |more: &[&str]| {
                    let mut command = hashloom();
                    command.current_dir(&folder).arg("sum").args(&chosen).args(["-a", algorithms]).args(more);
                    command.args(names[first..].iter().chain(&names[..first]).map(|name| OsStr::from_bytes(name)));
                    command.output().unwrap()
                };
                let list = sum(&[]);
                if status(&list) == 2 {
                    assert!(stderr(&list).contains("cannot be used with"), "{chosen:?}: {}", stderr(&list));
                    break;
                }
                fs::write(folder.path().join("list"), &list.stdout).unwrap();
                nlists += 1;
                let what = format!("{chosen:?} {algorithms} {first}");
                let nlines = names.len() * if chosen.contains(&"--json") { 1 } else { algorithms.split(',').count() };
                let check = |more: &[&str]| {
                    let output = run(folder.path(), &[&["check", "list"], more].concat());
                    let ends = |end: &[u8]| output.stdout.windows(end.len()).filter(|part| part == &end).count();
                    let (ok, failed, unread) = (ends(b": OK\n"), ends(b": FAILED\n"), ends(b": FAILED open or read\n"));
                    (status(&output), ok, failed, unread, String::from_utf8_lossy(&output.stderr).into_owned())
                };
                let (code, ok, .., message) = check(&[]);
                let named = match (code, ok) {
                    (0, ok) => {
                        assert_eq!((ok, &*message), (nlines, ""), "{what}");
                        vec![]
                    }
                    _ => {
                        assert!((code, ok) == (1, 0) && message.contains("--algorithm "), "{what}: {message}");
                        assert!(message.contains(algorithms), "{what}: {message}");
                        vec!["-a", algorithms]
                    }
                };
                assert_eq!(check(&named), (0, nlines, 0, 0, String::new()), "{what}");
                if nlines == names.len() && !algorithms.contains(',') {
                    let output = sum(&["--unknown", "list"]);
                    assert_eq!((status(&output), output.stdout.len()), (1, 0), "{what}");
                }
            }
        }
    }
    assert_eq!(nlists, 65);
}

/// A line that names a digest which nobody has verified is not a success, whatever is right beside it.
#[test]
fn digests_that_are_not_verified() {
    let folder = folder(&["a", "b"]);
    let a = sha256("a");
    let (tiger, untagged) = (format!("TIGER (b) = {}", "0".repeat(128)), format!("{}  b", "0".repeat(48)));
    let dist = format!("DIST b 1 WHIRLPOOL {0}", "0".repeat(128));
    let cut = format!("{}  b", "0".repeat(63));
    let json = r#"{"path":"b","digests":{"tiger":"00"}}"#.to_owned();
    let too_long = format!("{}  {}", "0".repeat(64), "b".repeat(2 << 20));
    let check =
        |list: &str, options: &[&str]| run_with(folder.path(), &[&["check"], options].concat(), list.as_bytes()).all();
    for (line, why) in [
        (&tiger, "a digest of TIGER, which hashloom lacks\n"),
        (&untagged, "a digest of 48 hexadecimal digits"),
        (&dist, "a digest of WHIRLPOOL, which hashloom lacks"),
        (&cut, "a digest of 63 hexadecimal digits"),
        (&json, "unknown algorithm"),
        (&too_long, "it is too long"),
    ] {
        let list = format!("{a}  a\n{line}\n{line}\n");
        let (code, printed, message) = check(&list, &[]);
        assert_eq!((code, &*printed), (1, "a: OK\n"), "{why}");
        // Each reason is told once, each line only with --warn.
        assert!(message.starts_with("hashloom: 'standard input': 2: not verified: "), "{message}");
        assert!(message.contains(why), "{message}");
        assert!(message.ends_with("\nhashloom: WARNING: 2 lines have digests that were NOT verified\n"), "{message}");
        assert_eq!((message.lines().count(), check(&list, &["--warn"]).2.lines().count()), (2, 3), "{why}");
        for option in ["--ignore-missing", "--quiet"] {
            assert_eq!(check(&list, &[option]).0, 1, "{why}");
        }
        assert_eq!(check(&list, &["--status"]), (1, String::new(), String::new()), "{why}");
        let (code, printed, message) = check(&list, &["--json"]);
        let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!((code, lines.len(), &*message), (1, 4, ""), "{why}");
        assert_eq!((&lines[2]["line"], &lines[2]["state"]), (&json!(3), &json!("unverified")), "{why}");
        assert_eq!(lines[3]["counts"]["unverified"], 2, "{why}");
        // Alone, it is no list without checksums.
        let (code, _, message) = check(&format!("{line}\n"), &[]);
        assert!(code == 1 && message.contains("1 line has a digest that was NOT verified"), "{message}");
    }
    // Lines that nobody can read are as in coreutils.
    let (code, _, message) = check(&format!("{a}  a\nhello\n"), &[]);
    assert_eq!((code, &*message), (0, "hashloom: WARNING: 1 line is improperly formatted\n"));
    // A name within a list that ends lines with NUL is not another line.
    let (code, _, message) = check(&format!("{a}  a\n{a}  b\n{a}  a\0"), &["--ignore-missing"]);
    assert!(code == 1 && message.contains("some lines of the list end with NUL"), "{message}");
}

#[test]
fn a_file_is_compared_with_a_copied_digest() {
    let folder = folder(&["a.iso", "b"]);
    let (sha256, sha1) = (sha256("a.iso"), sha1("a.iso"));
    let expect = |digest: &str, file: &str| run(folder.path(), &["sum", "--expect", digest, file]);
    for digest in [
        sha256.clone(),
        format!("SHA256  {}  C:\\one.iso", sha256.to_uppercase()),
        format!("<tr><td>SHA-256</td><td><code>{sha256}</code></td></tr>"),
        format!("--hash=sha256:{sha256}"),
    ] {
        expect(&digest, "a.iso").done().prints("a.iso: OK (sha256)\n");
        expect(&digest, "b").ends(1).prints("b: FAILED\n").says("b: it").says(if digest == sha256 {
            "blake3"
        } else {
            "its sha256 is"
        });
    }
    run_with(folder.path(), &["sum", "--expect", &sha256], b"a.iso").prints("-: OK (sha256)\n");
    let weak = expect(&sha1, "a.iso");
    weak.ends(0)
        .prints("a.iso: OK (sha1)\n")
        .tells("hashloom: a.iso: sha1 finds accidents, but not each change that was made on purpose\n");
    // A named algorithm is the only one, and each of several counts.
    expect(&format!("RIPEMD-160: {sha1}"), "a.iso").ends(1).prints("a.iso: FAILED\n");
    let both = format!("SHA-1: {sha1}\nSHA-256: {sha256}\n");
    expect(&both, "a.iso").done().prints("a.iso: OK (sha1, sha256)\n");
    expect(&both.replace(&sha1, &"0".repeat(40)), "a.iso").ends(1).prints("a.iso: FAILED\n").says(&sha1);
    let crc = expect("CRC32: a3830348", "nothing");
    crc.ends(1).prints("nothing: FAILED open or read\n");
    fs::write(folder.path().join("abc"), "abc").unwrap();
    expect("crc-32 352441C2", "abc").ends(0).prints("abc: OK (crc32)\n").says("accidents");
    expect("crc-32 352441C3", "abc").ends(1).prints("abc: FAILED\n").says("it has another crc32");
    let json = run(folder.path(), &["sum", "--json", "--expect", &both, "a.iso"]);
    json.done().prints("{\"path\":\"a.iso\",\"algorithm\":\"sha1,sha256\",\"state\":\"ok\"}\n");

    expect(&sha256[1..], "a.iso").refused("63 digits, but SHA256 has 64: 1 missing");
    expect(&format!("{sha256} {}", sha256.replace('a', "b")), "a.iso").refused("these are several digests");
    expect(&sha1[..8], "a.iso").refused("crc32:");
    run(folder.path(), &["sum", "--expect", &sha256, "a.iso", "b"]).refused("give one PATH");
    run(folder.path(), &["sum", "--expect", &sha256, "--expect", &sha1, "a.iso"]).refused("give one DIGEST");
    run(folder.path(), &["sum", "--expect", &sha256, "-a", "md5", "a.iso"]).ends(2);
}

/// A line above, far from the beginning of a file, too. What a pipe has given by then stays printed.
#[test]
fn lines_outside_of_a_signed_text() {
    let folder = folder(&["a", "b"]);
    let line = |name: &str| format!("{}  {name}\n", sha256(name));
    let signed = format!(
        "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{}-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP \
        SIGNATURE-----\n",
        line("a")
    );
    let (blanks, json) = ("\n".repeat(100_000), json!({ "path": "b", "digests": { "sha256": sha256("b") } }));
    for above in [line("b"), line("b") + &blanks, format!("{json}\n{blanks}")] {
        fs::write(folder.path().join("list"), above.clone() + &signed).unwrap();
        let output = run(folder.path(), &["check", "list"]);
        output.ends(1).prints("a: OK\n").says("list: 1: not verified: the list has digests outside the text");
        output.says("gpg --decrypt list | hashloom check");
        run(folder.path(), &["sum", "--known", "list", "a", "b"])
            .says("list: 1: not compared: the list has digests outside");
        let output = run_with(folder.path(), &["check"], (above + &signed).as_bytes());
        output.ends(1).says("not verified: the list has digests outside the text");
    }
}

#[test]
fn a_length_is_no_check_of_bytes() {
    let folder = folder(&["a"]);
    let check = |list: &str| run_with(folder.path(), &["check"], list.as_bytes());
    check("SIZE (a) = 1\n").ends(1).prints("").says("only the length of a is known");
    let list = format!("SHA256 (a) = {}\nSize (a) = 1 bytes\n", sha256("a"));
    check(&list).ends(0).prints("a: OK\n");
    check(&list.replace("= 1 ", "= 2 ")).ends(1).prints("a: OK\na: FAILED\n");
    fs::write(folder.path().join("a"), "b").unwrap();
    check(&list).ends(1).prints("a: FAILED\n");
    let output = run_with(folder.path(), &["check", "--json"], list.as_bytes());
    assert_eq!(stdout(&output).lines().filter(|line| line.contains("\"path\"")).count(), 1);
}

/// Lists of old programs: names in a code page are explained, and the byte 0x1a ends a text of DOS.
#[cfg(unix)]
#[test]
fn lists_of_old_windows() {
    let folder = folder(&["a"]);
    let line = |name: &[u8]| [sha256("a").as_bytes(), b" *", name, b"\r\n"].concat();
    let check = |list: &[u8], options: &[&str]| run_with(folder.path(), &[&["check"], options].concat(), list);
    check(&[&line(b"a")[..], b"\x1a"].concat(), &[]).done().prints("a: OK\n");
    check(&[&line(b"a")[..], b"hello\x1a"].concat(), &[]).ends(1).says("cut off");
    let list = [line(b"a"), line(b"M\xf6")].concat();
    check(&list, &[]).ends(1).says("not UTF-8").says("hashloom check --encoding cp1252 LIST");
    check(&list, &["--ignore-missing"]).ends(0).says("not UTF-8");
    assert!(!stderr(&check(&line("\u{f6}".as_bytes()), &[])).contains("UTF-8"));
    fs::write(folder.path().join("M\u{f6}"), "a").unwrap();
    check(&list, &["--encoding", "cp1252"]).done().prints("a: OK\nM\u{f6}: OK\n");
    check(&line(b"M\x94"), &["--encoding=CP437"]).done().prints("M\u{f6}: OK\n");
    check(&list, &["--encoding", "cp850"]).ends(1).says("M\u{f7}: ");
    check(&list, &["--encoding", "ebcdic"]).ends(2).says("cp850");
    fs::write(folder.path().join("list"), &list).unwrap();
    run_with(folder.path(), &["list", "--encoding", "cp1252"], b"").ends(0).says("running: hashloom check --encoding");
}

/// Packages of Python: a package within a package is no environment.
#[test]
fn an_environment_of_python() {
    let folder = folder(&[]);
    let put = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let check = |path: &str| run_with(folder.path(), &["check", "--python", path], b"");
    let row = |name: &str| format!("{name},sha256=ypeBEsobvcr6wjGzmiPcTaeG7_gUfE5yuYB3ha_uSLs,1\n");
    put("env/lib/python3/site-packages/a.py", "a");
    put("env/lib/python3/site-packages/a-1.dist-info/RECORD", &(row("a.py") + "a-1.dist-info/RECORD,,\na.pyc,,\n"));
    put("env/lib/python3/site-packages/a/_vendor/b-1.dist-info/RECORD", &row("missing.py"));
    put("env/lib/python3/site-packages/c-1.egg-info/PKG-INFO", "");
    put("env/bin/x", "a");
    for path in ["env", "env/lib/python3/site-packages", "."] {
        check(path)
            .ends(0)
            .prints("a.py: OK\n")
            .says("1 package without RECORD: c-1.egg-info")
            .says("2 files without digest");
    }
    check("env/bin").ends(2).says("there is no package with a list");
    put("env/lib/python3/site-packages/d-1.dist-info/RECORD", &row("../../../bin/x"));
    check("env").ends(0).prints("a.py: OK\n../../../bin/x: OK\n");
    put("env/bin/x", "b");
    check("env").ends(1).prints("a.py: OK\n../../../bin/x: FAILED\n");
    fs::remove_file(folder.path().join("env/bin/x")).unwrap();
    check("env").ends(1).says("../../../bin/x: No such file");
}

/// One file is no two names' file.
#[cfg(target_os = "linux")]
#[test]
fn names_in_another_case() {
    let folder = folder(&["Sub/\u{c4}.TXT", "x"]);
    let line = |name: &str| format!("{}  {name}\n", sha256("Sub/\u{c4}.TXT"));
    let check =
        |list: &str, options: &[&str]| run_with(folder.path(), &[&["check"], options].concat(), list.as_bytes());
    let list = line("sub/\u{e4}.txt");
    check(&list, &[]).ends(1);
    check(&list, &["--ignore-case"])
        .ends(0)
        .prints("sub/\u{e4}.txt: OK\n")
        .says("1 file has its name in another case or Unicode form here than in the list");
    check(&(list.clone() + &line("SUB/\u{e4}.txt")), &["--ignore-case"]).ends(1);
    fs::write(folder.path().join("X"), "").unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    check(&list, &["--ignore-case"]).ends(1).says("No such file");
}

#[test]
#[cfg(target_os = "linux")]
fn uncached_reads_the_disk_or_says_why_not() {
    let folder = tempfile::tempdir().unwrap();
    let lengths = [0, 1, 4095, 4096, 4097, (1 << 20) - 1, (1 << 20) + 1, 3_000_001];
    let content = |nbytes: usize| (0..nbytes).map(|i| ((i * i) >> 7) as u8).collect::<Vec<u8>>();
    let mut list = String::new();
    for nbytes in lengths {
        fs::write(folder.path().join(nbytes.to_string()), content(nbytes)).unwrap();
        list += &format!("{}  {nbytes}\n", sha256(content(nbytes)));
    }
    let (list, names) = (list, lengths.map(|nbytes| nbytes.to_string()));
    let mut arguments = vec!["sum", "--uncached"];
    arguments.extend(names.iter().map(String::as_str));
    let output = run(folder.path(), &arguments);
    let is_possible = status(&output) == 0;
    if is_possible {
        output.prints(&list);
    } else {
        assert_eq!(stdout(&output), "");
        assert_eq!(stderr(&output).matches(": --uncached: ").count(), lengths.len());
    }
    let state = if is_possible { "OK" } else { "FAILED open or read" };
    let told: String = names.iter().map(|name| format!("{name}: {state}\n")).collect();
    let output = run_with(folder.path(), &["check", "--uncached"], list.as_bytes());
    assert_eq!((status(&output), stdout(&output)), (i32::from(!is_possible), &told[..]));
    // A pipe is no disk, and has no digest under this option.
    run_with(folder.path(), &["sum", "--uncached"], b"abc").ends(1).says("-: --uncached: it is no file on a disk");
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        let folder = tempfile::tempdir_in(memory).unwrap();
        fs::write(folder.path().join("a"), "a").unwrap();
        run(folder.path(), &["sum", "--uncached", "a"]).ends(1).says("a: --uncached: not on a disk");
    }
}
