// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests `hashloom generate`. `test/install.sh` tests how man programs and shells take the files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{Ran, hashloom, skipped, status, stderr, stdout};

/// Returns the pages in a folder, with their names.
fn pages(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let page = |entry: fs::DirEntry| {
        (entry.file_name().into_string().unwrap(), String::from_utf8(fs::read(entry.path()).unwrap()).unwrap())
    };
    let mut pages: Vec<_> = entries.map(page).collect();
    pages.sort();
    pages
}

fn generate_man(folder: &Path, arguments: &[&str]) {
    hashloom().args(["generate", "man"]).args(arguments).arg(folder).output().unwrap().is(0, "", "");
}

#[test]
fn a_page_is_plain_man_of_ascii_with_the_sections_of_the_help() {
    let folder = tempfile::tempdir().unwrap();
    // The folder is created, and existing pages are replaced.
    let folder = folder.path().join("share/man/man1");
    generate_man(&folder, &[]);
    let pages = pages(&folder);
    for (name, page) in &pages {
        assert!(page.is_ascii(), "{name}");
        for section in [".SH NAME\n", ".SH SYNOPSIS\n", ".SH DESCRIPTION\n", ".SH OPTIONS\n"] {
            assert_eq!(page.matches(section).count(), 1, "{name}: {section}");
        }
        // Only examples are not filled.
        assert_eq!(page.matches("\n.nf\n").count(), page.matches("\n.fi\n").count(), "{name}");
    }
    let find = |wanted: &str| &pages.iter().find(|(name, _)| name == wanted).unwrap().1;
    let verify = find("hashloom-torrent-verify.1");
    assert!(verify.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\ncomplete: all pieces are right"), "{verify}");
    assert!(verify.contains("\nhashloom torrent verify debian.torrent \\(ti/Downloads\n"), "{verify}");
    assert!(verify.contains(".SH \"SEE ALSO\"\n\\fBhashloom\\fR(1), \\fBhashloom\\-torrent\\fR(1)\n"), "{verify}");
    assert!(find("hashloom.1").contains("\\fBhashloom\\-torrent\\fR(1)\n"));

    generate_man(&folder, &[]);
    assert_eq!(self::pages(&folder), pages);
}

#[test]
fn a_page_fits_80_columns() {
    let folder = tempfile::tempdir().unwrap();
    generate_man(folder.path(), &[]);
    generate_man(folder.path(), &["--stand-ins"]);
    for (name, page) in pages(folder.path()) {
        // Plain text, without the codes of bold and underlined letters.
        let arguments = ["-man", "-Tutf8", "-P-cbou", "-rLL=80n"];
        let Ok(rendered) = Command::new("groff").args(arguments).arg(folder.path().join(&name)).output() else {
            return skipped::skipped("groff is not installed: the pages were NOT rendered");
        };
        assert!(rendered.status.success() && rendered.stderr.is_empty(), "{name}: {}", stderr(&rendered));
        let long: Vec<&str> = stdout(&rendered).lines().filter(|line| line.chars().count() > 80).collect();
        assert!(stdout(&rendered).len() > page.len() / 2 && long.is_empty(), "{name}: {long:#?}");
    }
}

#[test]
fn programs_that_it_can_be_called_as_have_pages_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    generate_man(folder.path(), &["--stand-ins"]);
    let pages = pages(folder.path());
    let names: Vec<&str> = pages.iter().map(|(name, _)| name.as_str()).collect();
    let expected = "b2sum b3sum cksum digest mac md5 md5sum rmd160 sha1 sha1sum sha224 sha224sum sha256 sha256sum \
        sha384 sha384sum sha3sum sha512 sha512sum sha512t224 sha512t256 shasum";
    let expected: Vec<String> = expected.split(' ').map(|name| format!("{name}.1")).collect();
    assert_eq!(names, expected);
    for (name, page) in &pages {
        let program = name.trim_end_matches(".1");
        assert!(page.contains(&format!(".SH SYNOPSIS\n.nf\n\\fB{program}\\fR ")), "{page}");
        assert!(!page.contains("hashloom digest") && !page.contains("hashloom mac"), "{page}");
    }
}

#[test]
fn every_shell_gets_a_script_that_names_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = hashloom().args(["generate", "completions", shell]).output().unwrap();
        assert_eq!((status(&output), stderr(&output)), (0, ""), "{shell}");
        for word in ["hashloom", "manifest", "libtorrent", "sha512_224_hmac"] {
            // The scripts of PowerShell and elvish have no option values.
            let is_there = stdout(&output).contains(word);
            assert!(is_there || word.ends_with("hmac") && ["elvish", "powershell"].contains(&shell), "{shell}: {word}");
        }
        // zsh would complete files alone behind the first one.
        assert!(!stdout(&output).contains("'*::"), "{shell}");
    }
}

#[test]
fn what_cannot_be_done_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let output = hashloom().args(["generate", "man"]).arg(&file).output().unwrap();
    output.refused("file: ");
    hashloom().args(["generate", "completions", "csh"]).output().unwrap().refused("bash");
}

/// Bash falls back to files where the script offers nothing.
#[cfg(target_os = "linux")]
#[test]
fn bash_offers_algorithms_and_files() {
    const SCRIPT: &str = r#"
        source <("$0" generate completions bash)
        offers() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
            _hashloom hashloom "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
            echo "${COMPREPLY[*]}"
        }
        for command in "torrent verify" "torrent create" "manifest check" sum check "tree fsverity"; do
            offers hashloom $command ''
        done
        offers hashloom sum --algorithm sha51
        offers hashloom sum --ta
        offers hashloom manifest ''
        offers hashloom generate completions f
    "#;
    let mut bash = std::process::Command::new("bash");
    let Ok(output) = bash.args(["-c", SCRIPT, env!("CARGO_BIN_EXE_hashloom")]).output() else {
        skipped::skipped("completions of bash: there is no bash here");
        return;
    };
    let of_manifest = "-h --isa --help write check diff log help";
    let expected = format!("sha512 sha512-224 sha512-256\n--tag\n{of_manifest}\nfish\n");
    assert_eq!((stdout(&output).trim_start_matches('\n'), stderr(&output)), (&*expected, ""));
    output.begins("\n\n\n\n\n\n");
}
