// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs `hashloom torrent verify --libtorrent`, `--transmission` and `--claimed` as a person does. `test/clients.py`
//! shows that the clients accept the files written.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use crate::common::{Ran, hashloom, status, stderr, stdout};
use serde_json::{Value, json};
use sha1::{Digest, Sha1};

const PIECE: usize = 16 << 10;

/// A folder with `NAME` of ten pieces and `NAME.torrent`, for each name.
struct Images(tempfile::TempDir);

impl Images {
    fn new(names: &[&str]) -> Images {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            let bytes = Images::bytes(name);
            let digests: Vec<u8> = bytes.chunks(PIECE).flat_map(Sha1::digest).collect();
            let head = format!(
                "d4:infod6:lengthi{}e4:name{}:{name}12:piece lengthi16384e6:pieces200:",
                bytes.len(),
                name.len()
            );
            fs::write(folder.path().join(name), &bytes).unwrap();
            let torrent = [head.as_bytes(), &digests, b"ee"].concat();
            fs::write(folder.path().join(format!("{name}.torrent")), torrent).unwrap();
        }
        Images(folder)
    }

    fn bytes(name: &str) -> Vec<u8> {
        let seed = u32::from(name.as_bytes()[0]);
        (0..10 * PIECE as u32 - 5).map(|i| ((i.wrapping_mul(i + seed)) >> 7) as u8).collect()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a piece of a file wrong, or right again.
    fn flip(&self, name: &str, piece: usize) {
        let mut bytes = fs::read(self.path(name)).unwrap();
        bytes[piece * PIECE] ^= 1;
        fs::write(self.path(name), bytes).unwrap();
    }

    fn verify(&self, arguments: &[&str]) -> Output {
        hashloom().current_dir(self.0.path()).args(["torrent", "verify"]).args(arguments).output().unwrap()
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let names = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<String> = names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn both_are_written_and_claim_what_is_right() {
    let images = Images::new(&["image"]);
    images.flip("image", 3);
    let output =
        images.verify(&["image.torrent", ".", "-q", "--libtorrent", "lt.fastresume", "--transmission", "tr.resume"]);
    output.is(1, "", "");
    for (file, format) in [("lt.fastresume", "libtorrent"), ("tr.resume", "Transmission")] {
        let output = images.verify(&["image.torrent", ".", "--claimed", file]).done();
        output.has(&format!("\n  claimed    9 of 10 pieces by the {format} resume file {file}\n"));
        output.has("\n\npart right: 9 of 10 pieces checked, 9 right, 144 KiB (89.9%) in 0.");
        assert!(!stdout(&output).contains("complete"), "one piece was not checked: {}", stdout(&output));
    }
    for piece in [0, 1, 5] {
        images.flip("image", piece);
    }
    let output = images.verify(&["image.torrent", ".", "--claimed", "tr.resume"]);
    output.ends(1).tells("");
    let listed =
        "\n\npieces 0-1  bad  32 KiB\n  image  bytes 0-32767\npiece 5  bad  16 KiB\n  image  bytes 81920-98303\n";
    output.has(listed).has("\n\npart wrong: 9 of 10 pieces checked, 6 right, 96 KiB (59.9%) in 0.");
    let output = images.verify(&["image.torrent", ".", "--claimed", "lt.fastresume", "--json"]);
    let object: Value = serde_json::from_str(stdout(&output)).unwrap();
    let expected = json!({"path": "lt.fastresume", "format": "libtorrent resume file", "pieces": 9});
    assert_eq!(object["claimed"], expected);
    assert_eq!(object["scope"], json!({"pieces": 9, "right": false, "bitfield": "efc0"}));
    assert_eq!((&object["complete"], &object["bitfield"]), (&json!(false), &json!("2bc0")));
    assert_eq!(object["bytes_read"], 9 * PIECE - 5, "what is not claimed is not read");
}

#[test]
fn what_was_written_is_told() {
    let images = Images::new(&["image"]);
    let files = ["--libtorrent", "lt.fastresume", "--transmission", "tr.resume", "--bitfield", "bits"];
    let verify = |more: &[&str]| images.verify(&[&["image.torrent", "."], &files[..], more].concat());
    let nbytes = |name| fs::metadata(images.path(name)).unwrap().len();
    let (first, again) = (verify(&[]), verify(&["--json"]));
    let expected = format!(
        "\nwritten: the bitfield bits, 2 bytes\nwritten: the libtorrent resume file lt.fastresume, {} bytes\n\
         written: the Transmission resume file tr.resume, {} bytes\n",
        nbytes("lt.fastresume"),
        nbytes("tr.resume")
    );
    assert_eq!(status(&first), 0);
    assert!(stdout(&first).ends_with(&expected), "{}", stdout(&first));
    let object: Value = serde_json::from_str(stdout(&again)).unwrap();
    let expected = json!([
        {"path": "bits", "what": "bitfield", "length": 2},
        {"path": "lt.fastresume", "what": "libtorrent resume file", "length": nbytes("lt.fastresume"), "pieces": 10},
        {"path": "tr.resume", "what": "Transmission resume file", "length": nbytes("tr.resume"), "pieces": 10},
    ]);
    assert_eq!(object["written"], expected);
    fs::create_dir(images.path("empty")).unwrap();
    let output = images.verify(&["image.torrent", "empty", "--libtorrent", "lt.fastresume"]);
    assert_eq!(status(&output), 2);
    assert!(!stdout(&output).contains("written"), "{}", stdout(&output));
}

#[test]
fn a_folder_gets_a_file_for_each_torrent() {
    let images = Images::new(&["one", "two"]);
    fs::create_dir(images.path("resume")).unwrap();
    images.flip("two", 9);
    let both = ["one.torrent", "two.torrent", "--data", "."];
    let with = |more: &[&str]| images.verify(&[&both, more].concat());
    let output = with(&["--libtorrent", "resume", "--transmission", "resume"]);
    output.ends(1).tells("");
    let names = images.names("resume");
    let extensions: Vec<&str> = names.iter().map(|name| &name[40..]).collect();
    assert_eq!(extensions, [".fastresume", ".resume", ".fastresume", ".resume"]);
    assert!(stdout(&output).ends_with("\nwritten: 4 files\n"), "{}", stdout(&output));
    let output = with(&["--claimed", "resume"]).done();
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(
        lines[..2],
        ["complete      one.torrent  160 KiB", "part right    two.torrent  9 of 10 pieces checked, 9 right"]
    );
    assert!(lines[3].starts_with("part right: 2 of 2 torrents, 1 checked in part, in 0."), "{}", stdout(&output));

    for option in ["--libtorrent", "--transmission", "--claimed"] {
        with(&[option, "file"]).refused(&format!("{option} file: several torrents need a folder"));
    }
    fs::create_dir(images.path("empty")).unwrap();
    with(&["--claimed", "empty"]).ends(2).says("hashloom: empty: has none of the files ");
}

#[test]
fn a_file_that_is_no_resume_file_of_the_torrent_stays_as_it_is() {
    let images = Images::new(&["image", "other"]);
    assert_eq!(status(&images.verify(&["other.torrent", ".", "--libtorrent", "theirs.fastresume"])), 0);
    fs::write(images.path("letter"), "Dear Sir").unwrap();
    for (file, why) in [("theirs.fastresume", "it belongs to another torrent"), ("letter", "expected a resume file")] {
        let before = fs::read(images.path(file)).unwrap();
        let output = images.verify(&["image.torrent", ".", "--libtorrent", file]);
        output.ends(2).prints("");
        let message = format!("{file}: the libtorrent resume file cannot be written: ");
        assert!(stderr(&output).contains(&message) && stderr(&output).contains(why), "{}", stderr(&output));
        assert_eq!(fs::read(images.path(file)).unwrap(), before);
        images.verify(&["image.torrent", ".", "--claimed", file]).refused(why);
    }
    let output = images.verify(&["image.torrent", ".", "--transmission", "no/such/folder.resume"]);
    output.refused("no/such/folder.resume: the Transmission resume file cannot be written: ");
    let before = images.names(".");
    for (option, folder, extension) in [
        ("--libtorrent", "BT_backup", "fastresume"),
        ("--transmission", "resume/", "resume"),
        ("--transmission", "x.y", "resume"),
    ] {
        let output = images.verify(&["image.torrent", ".", option, folder]);
        output.ends(2).prints("");
        let message =
            format!("hashloom: {option} {folder}: there is no such file or folder, and the name of a new file ");
        output.says(&format!("{message}ends in .{extension}. "));
        assert_eq!(images.names("."), before);
    }
    for (option, file, what) in
        [("--libtorrent", "image", "the content"), ("--transmission", "image.torrent", "the torrent")]
    {
        let before = fs::read(images.path(file)).unwrap();
        images
            .verify(&["image.torrent", ".", option, file])
            .ends(2)
            .prints("")
            .says(&format!("resume file is not written there: it is {what}. Give another FILE"));
        assert_eq!(fs::read(images.path(file)).unwrap(), before);
    }
    assert!(images.names(".").iter().all(|name| !name.starts_with(".hashloom")), "nothing is left behind");
}

#[test]
#[cfg_attr(windows, ignore = "spells paths as this system does")]
fn the_content_is_where_the_client_has_it_unless_another_place_is_given() {
    let images = Images::new(&["image"]);
    let (here, there) = (images.path("here"), images.path("there"));
    for folder in [&here, &there] {
        fs::create_dir(folder).unwrap();
    }
    fs::rename(images.path("image"), here.join("image")).unwrap();
    for (option, file) in [("--libtorrent", "x.fastresume"), ("--transmission", "x.resume")] {
        assert_eq!(status(&images.verify(&["image.torrent", "here", option, file])), 0);
        let before = fs::read(images.path(file)).unwrap();
        for options in [[option, file], ["--claimed", file]] {
            let output = images.verify(&["image.torrent", options[0], options[1]]).done();
            let place = here.canonicalize().unwrap().join("image");
            output.has(&format!("  content    {}\n", place.display()));
        }
        // A folder that lacks the content is a mistake, and must not make the client forget what it has.
        images
            .verify(&["image.torrent", "there", option, file])
            .ends(2)
            .says(" cannot be written: none of the torrent's files exists in ");
        assert_eq!(fs::read(images.path(file)).unwrap(), before);
    }

    // Transmission's second folder, and its name of a file that is not finished.
    fs::rename(here.join("image"), here.join("image.part")).unwrap();
    let (here, there) = (here.canonicalize().unwrap(), there.canonicalize().unwrap());
    for key in ["incomplete-dir", "incomplete_dir"] {
        let key = [text("destination", &there), text(key, &here)].concat();
        fs::write(images.path("y.resume"), format!("d{key}8:progressd6:blocks3:allee")).unwrap();
        let output = images.verify(&["image.torrent", "--claimed", "y.resume"]).done();
        output.has(&format!("  content    {}\n", here.join("image.part").display()));
    }
    let before = fs::read(images.path("y.resume")).unwrap();
    images.verify(&["image.torrent", "--transmission", "y.resume"]).done();
    let after = fs::read(images.path("y.resume")).unwrap();
    let kept = before.windows(9).position(|bytes| bytes == b":progress").unwrap() - 1;
    assert!(after.windows(kept - 1).any(|bytes| bytes == &before[1..kept]), "both folders are kept");

    fn text(key: &str, path: &Path) -> String {
        let path = path.to_str().unwrap();
        format!("{}:{key}{}:{path}", key.len(), path.len())
    }
}

#[cfg(unix)]
#[test]
fn nothing_is_written_of_what_could_not_be_opened() {
    let images = Images::new(&["image"]);
    fs::create_dir(images.path("inner")).unwrap();
    std::os::unix::fs::symlink("../image", images.path("inner/image")).unwrap();
    let output = images.verify(&["image.torrent", "inner", "--libtorrent", "lt.fastresume"]);
    assert_eq!(status(&output), 2);
    let message =
        "lt.fastresume: the libtorrent resume file cannot be written: it would call files missing that exist: ";
    output.says(message).says("inner/image: not opened, as a symbolic link leads out of the folder");
    output.has("unread     10 pieces");
    assert!(!images.path("lt.fastresume").exists());
}

/// Transmission takes the padding of a hybrid torrent for files, so less is claimed than is right: a note says so, and
/// `--padding-files` makes them.
#[test]
fn padding_that_a_client_takes_for_files_is_told_and_made() {
    let images = Images::new(&[]);
    let run = |arguments: &[&str]| {
        hashloom().current_dir(images.0.path()).args(["torrent"]).args(arguments).output().unwrap()
    };
    fs::create_dir_all(images.path("pool")).unwrap();
    for (name, nbytes) in [("1", 20_000), ("2", 20_000), ("3", 16_384), ("4", 5)] {
        fs::write(images.path(&format!("pool/{name}")), &Images::bytes(name)[..nbytes]).unwrap();
    }
    run(&["create", "pool", "--hybrid", "-l", "16K", "-q", "-o", "a.torrent"]).done();
    fs::create_dir_all(images.path("seeds")).unwrap();
    let link = |more: &[&str]| {
        let common = ["link", "a.torrent", "--in", "pool", "--to", "seeds", "--transmission", "a.resume", "--json"];
        let output = run(&[&common[..], more].concat());
        serde_json::from_str::<Value>(stdout(&output)).unwrap()
    };
    let linked = link(&[]);
    let written = &linked["written"][0];
    assert_eq!((&linked["linked"], &written["pieces"]), (&json!("seeds/pool"), &json!(3)), "{written}");
    assert!(written["note"].as_str().unwrap().starts_with("3 of 6 right pieces not claimed: "), "{written}");
    let linked = link(&["--padding-files"]);
    let made = json!({"path": images.path("seeds/pool"), "what": "2 padding files", "length": 12_768 + 16_379});
    assert_eq!((&linked["written"][0], &linked["written"][1]["pieces"]), (&made, &json!(6)), "{linked}");
    assert_eq!(images.names("seeds/pool/.pad"), ["12768", "16379"]);
    let verify = |more: &[&str]| run(&[&["verify", "a.torrent", "seeds"], more].concat());
    let claims = || fs::read(images.path("a.resume")).unwrap().windows(12).any(|at| at == b"6:pieces3:al");
    verify(&["--transmission", "a.resume"]).done();
    assert!(claims());
    // Padding that is there is read: a wrong byte is a piece that is not claimed, and is not replaced.
    let mut wrong = vec![0; 12_768];
    wrong[12_000] = 1;
    fs::write(images.path("seeds/pool/.pad/12768"), &wrong).unwrap();
    verify(&["--transmission", "a.resume"]).done().has("\n  note: 2 of 6 right pieces not claimed: ");
    assert!(!claims());
    verify(&["--padding-files"]).ends(2).says("/.pad/12768: expected 12768 zeros, as it is padding. Remove it\n");
    assert_eq!(fs::read(images.path("seeds/pool/.pad/12768")).unwrap(), wrong);
    // Without a client, for those that read no such file.
    fs::remove_dir_all(images.path("seeds/pool/.pad")).unwrap();
    let output = verify(&["--padding-files"]).done();
    output.has("\nwritten: the 2 padding files ").has("/seeds/pool, 29147 bytes\n");
    verify(&["--padding-files", "--transmission", "a.resume"]).done();
    assert!(claims());
    // No link that leads out of the content is followed.
    #[cfg(unix)]
    {
        fs::remove_dir_all(images.path("seeds/pool/.pad")).unwrap();
        fs::create_dir(images.path("elsewhere")).unwrap();
        std::os::unix::fs::symlink(images.path("elsewhere"), images.path("seeds/pool/.pad")).unwrap();
        verify(&["--padding-files"]).ends(2).says("/.pad: a symbolic link leads out of the folder of the content, to ");
        assert!(images.names("elsewhere").is_empty());
    }
}
