// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a wrong command line means: words of other programs, and those of hashloom.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::builder::{StyledStr, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use hashloom::Algorithm;
use hashloom_frame::names;

use crate::args::Arguments;

/// Commands of hashloom ("any"; "" is none), what users of other programs write there, and what hashloom has.
/// docs/checksums.md has the same table.
const TIPS: &[(&str, &str, &str)] = &[
    ("", "verify validate audit", "`hashloom check LIST`; `hashloom FILE` finds the lists that name FILE"),
    ("", "compare cmp", "`hashloom manifest diff OLD NEW`"),
    ("", "snapshot record scan index", "`hashloom manifest write DIR`"),
    ("", "update", "`hashloom manifest write --update OLD DIR`"),
    ("", "inspect print magnet", "`hashloom torrent show FILE`"),
    ("", "modify", "`hashloom torrent edit FILE`"),
    ("", "make mktorrent mkbrr", "`hashloom torrent create PATH`"),
    ("", "repair fix", "`par2 repair FILE.par2`; `hashloom check FILE.par2` says what is damaged"),
    ("", "hashdeep md5deep rhash hashsum checksum", "`hashloom sum -r DIR`"),
    ("", "b3", "`hashloom sum --algorithm blake3 FILE`"),
    ("", "crc32 sfv cfv cksfv", "`hashloom check FILE.sfv`; hashloom writes no CRC-32"),
    ("", "hmac", "`hashloom mac`"),
    ("", "veritysetup verity", "`hashloom tree dmverity`"),
    ("", "benchmark speed", "`hashloom bench`"),
    ("", "dupes duplicates dedup dedupe fdupes jdupes rdfind rmlint", DUPLICATES),
    ("sum", "-c --check", "`hashloom check LIST`"),
    ("sum", "--ignore-missing --strict --status -w --warn", "an option of `hashloom check LIST`"),
    ("sum", "-b --binary -t --text --untagged", "leave it out: contents are bytes, and --tag is the other form"),
    ("sum", "-q --quiet -s --silent -v --verbose", "leave it out: only checksums and errors are printed"),
    ("sum", "--hash --algo --type --digest", "--algorithm NAME"),
    ("sum", "-M", "--algorithm md5"),
    ("sum", "-H", "--algorithm sha1"),
    ("sum", "-C --crc32 --sfv", "hashloom writes no CRC-32; `hashloom check FILE.sfv` reads it"),
    ("sum", "-l --length", "the name has the length: --algorithm blake2b-256"),
    ("sum", "--raw", "--base64; bytes: `hashloom sum FILE | cut -c1-64 | xxd -r -p`"),
    ("sum", "--no-names", "`hashloom sum FILE | cut -d' ' -f1`"),
    ("sum", "--bsd", "--tag"),
    ("sum", "-f -p --printf", "--format NAME, or --json"),
    ("sum", "-R", "--recursive"),
    ("sum", "-0 --null", "--zero"),
    ("sum", "-m -k", "--known LIST"),
    ("sum", "-x", "--unknown LIST"),
    ("sum", "--compare --expected", "--expect DIGEST"),
    ("sum", "--bt --magnet", "`hashloom torrent create PATH`"),
    ("sum", "--key --keyed --derive-key", "`hashloom mac` has HMAC; b3sum has keyed BLAKE3"),
    ("sum", "--duplicates --dupes", DUPLICATES),
    ("check", "-c --check", "leave it out: the command is check, as in `hashloom check LIST`"),
    ("check", "-r --recursive", "a list names its files; a folder: `hashloom FOLDER`, `hashloom manifest check`"),
    ("check", "-s --silent", "--status"),
    ("check", "-i", "--ignore-case"),
    ("check", "--skip-ok", "--quiet"),
    ("check", "-v --verbose", "--warn names bad lines; files that match are named without an option"),
    ("check", "-b --binary -t --text --tag -z --zero", "leave it out: the form of a list is recognised"),
    ("check", "-d --base", "--directory DIR"),
    ("check", "-f --file", "leave it out: `hashloom check LIST`"),
    ("check", "-m -k -x", "`hashloom sum --known LIST PATH`, --unknown LIST"),
    ("manifest write", "-f", "--force"),
    ("manifest write", "-r --recursive -R", "leave it out: all files below DIR are recorded"),
    ("manifest check", "-r --recursive -R", "leave it out: all files below DIR are compared"),
    ("manifest check", "-s --silent --status", "--quiet"),
    ("manifest check", "-C --directory -d", "`hashloom manifest check FILE DIR`"),
    ("manifest check", "-c --check -f --file", "leave it out: `hashloom manifest check FILE DIR`"),
    ("manifest check", "-w --warn --strict --ignore-missing", "an option of `hashloom check LIST`"),
    ("manifest diff", "-s --silent --status", "--quiet"),
    ("manifest diff", "-r --recursive", "leave it out: all files below the folders are compared"),
    ("manifest", "PATH", "`hashloom manifest write PATH` for a folder, `hashloom manifest check PATH` for a manifest"),
    ("manifest", "update", "`hashloom manifest write --update OLD DIR`"),
    ("manifest", "compare", "`hashloom manifest diff OLD NEW`"),
    ("torrent", "PATH", "`hashloom torrent show PATH`, `torrent verify PATH`; of content `torrent create PATH`"),
    ("torrent", "inspect print list magnet", "`hashloom torrent show FILE`"),
    ("torrent", "modify", "`hashloom torrent edit FILE`"),
    ("torrent", "make new", "`hashloom torrent create PATH`"),
    ("torrent create", "-a", "--tracker URL"),
    ("torrent create", "--piece-size", "--piece-length BYTES"),
    ("torrent create", "-v --verbose -r --recursive", "leave it out"),
    ("torrent verify", "-c --content -C --path -p", "--data PATH"),
    ("torrent verify", "-v --verbose", "--missing, --map"),
    ("torrent verify", "-s --status --silent", "--quiet"),
    ("torrent show", "-v --verbose", "--all"),
    ("any", "-o --output", "`> FILE` behind the command"),
    ("any", "-j --jobs --num-threads --workers", "--threads N"),
];

const DUPLICATES: &str = "`hashloom sum -r DIR | sort | uniq -w64 -D` prints files of equal content; hashloom is no \
    tool that links or removes them";

/// Puts what the words may mean into an error of clap. Returns a word that resembles no command: a missing file.
pub fn add(words: &[OsString], error: &mut clap::Error) -> Option<PathBuf> {
    let at = command_of(words);
    let tips = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text_of(error, ContextKind::InvalidSubcommand);
            let meant = if at.is_empty() { meant_by(&word) } else { vec![] };
            let is_path = Path::new(&word).symlink_metadata().is_ok();
            let tips = tip(&at, &word).or_else(|| tip(&at, "PATH").filter(|_| is_path));
            if !meant.is_empty() || tips.is_some() {
                // clap suggests names with similar letters, such as `tree` for `create`.
                error.remove(ContextKind::SuggestedSubcommand);
            }
            if !meant.is_empty() {
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
            }
            tips.map(ToOwned::to_owned)
        }
        ErrorKind::UnknownArgument => {
            let word = text_of(error, ContextKind::InvalidArg);
            let name = word.split('=').next().unwrap_or_default();
            let found = tip(&at, name).map(|tip| format!("hashloom's for {name}: {tip}"));
            found.or_else(|| of_algorithm(name)).or_else(|| elsewhere(&at, name))
        }
        ErrorKind::InvalidValue if text_of(error, ContextKind::InvalidArg).contains("--algorithm") => {
            let begun = text_of(error, ContextKind::InvalidValue).to_ascii_lowercase().replace(['-', '_'], "");
            let names = || Algorithm::ALL.iter().map(|algorithm| algorithm.name().to_owned());
            // sha3 is not sha384 if sha3-256 is there.
            let is_family = |name: &String| name.strip_prefix(&begun).is_some_and(|rest| rest.starts_with('-'));
            let mut longer: Vec<_> = names().filter(is_family).collect();
            if longer.is_empty() {
                longer.extend(names().filter(|name| name.replace('-', "").starts_with(&begun)));
            }
            if begun.len() > 2 && !longer.is_empty() {
                error.insert(ContextKind::SuggestedValue, ContextValue::Strings(longer));
            }
            None
        }
        _ => None,
    };
    if let Some(tip) = tips {
        // clap's is to write `--` before the word, or an option with similar letters.
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    let is_word = at.is_empty()
        && error.kind() == ErrorKind::InvalidSubcommand
        && [ContextKind::Suggested, ContextKind::SuggestedSubcommand].iter().all(|kind| error.get(*kind).is_none());
    is_word.then(|| text_of(error, ContextKind::InvalidSubcommand).into())
}

fn text_of(error: &clap::Error, kind: ContextKind) -> String {
    error.get(kind).map(ToString::to_string).unwrap_or_default()
}

/// The first words of a line, as far as they are a command.
pub fn command_of(words: &[OsString]) -> String {
    let mut command = &Arguments::whole();
    let mut names = Vec::new();
    for word in words.iter().skip(1) {
        match word.to_str().and_then(|word| command.find_subcommand(word)) {
            Some(inner) => {
                names.push(inner.get_name());
                command = inner;
            }
            None => break,
        }
    }
    names.join(" ")
}

/// What hashloom has for the word of another program.
fn tip(at: &str, word: &str) -> Option<&'static str> {
    let is_it =
        |row: &&(&str, &str, &str)| (row.0 == at || row.0 == "any") && row.1.split(' ').any(|theirs| theirs == word);
    TIPS.iter().find(is_it).map(|row| row.2)
}

/// `--md5` and `--sha3=256`, as rhash and others have it.
fn of_algorithm(name: &str) -> Option<String> {
    let algorithm = names::ANY.parse_ref(&clap::Command::new("hashloom"), None, OsStr::new(name.strip_prefix("--")?));
    algorithm.ok().map(|algorithm| format!("hashloom's for {name}: --algorithm {algorithm}"))
}

/// The commands that have an option of this name.
fn elsewhere(at: &str, name: &str) -> Option<String> {
    fn below(command: &clap::Command, path: &str, name: &str, have: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path} {}", inner.get_name());
            if inner.get_arguments().any(|arg| arg.get_long_and_visible_aliases().unwrap_or_default().contains(&name)) {
                have.push(format!("`hashloom{path}`"));
            }
            below(inner, &path, name, have);
        }
    }
    let mut have = Vec::new();
    below(&Arguments::whole(), "", name.strip_prefix("--")?, &mut have);
    have.truncate(4);
    let behind = if at.is_empty() { ", behind the command" } else { "" };
    (!have.is_empty()).then(|| format!("{name} is an option of {}{behind}", have.join(", ")))
}

/// Returns the commands that a user may have meant who left out the first words of a command, or named an algorithm.
fn meant_by(name: &str) -> Vec<String> {
    fn below(command: &clap::Command, path: &str, name: &str, meant: &mut Vec<String>) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            let path = format!("{path}{}", inner.get_name());
            let is_it = inner.get_name() == name || inner.get_all_aliases().any(|alias| alias == name);
            meant.extend(is_it.then(|| path.clone()));
            below(inner, &format!("{path} "), name, meant);
        }
    }
    let program = Arguments::whole();
    let mut meant = Vec::new();
    below(&program, "", name, &mut meant);
    let algorithm = names::ANY.parse_ref(&program, None, OsStr::new(name.strip_suffix("sum").unwrap_or(name)));
    let is_check = std::env::args_os().any(|argument| argument == "-c" || argument == "--check");
    let command = if is_check { "check" } else { "sum" };
    meant.extend(algorithm.map(|algorithm| format!("{command} --algorithm {algorithm}")));
    meant
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The commands and options that tips name are there, and what they replace is not.
    #[test]
    fn tips_name_what_there_is() {
        let program = Arguments::whole();
        let find = |path: &str| path.split(' ').try_fold(&program, |command, name| command.find_subcommand(name));
        for (at, theirs, ours) in TIPS {
            let command = if matches!(*at, "" | "any") { &program } else { find(at).unwrap() };
            for word in theirs.split(' ') {
                let has = command.get_opts().chain(command.get_arguments()).any(|arg| match word.strip_prefix("--") {
                    Some(long) => arg.get_long_and_visible_aliases().unwrap_or_default().contains(&long),
                    None => word.starts_with('-') && arg.get_short() == word.chars().nth(1),
                });
                assert!(!has && command.find_subcommand(word).is_none(), "{at}: {word} is there");
            }
            for line in ours.split('`').skip(1).step_by(2).filter_map(|part| part.strip_prefix("hashloom ")) {
                let first = line.split(' ').next().unwrap();
                let is_path = first.chars().all(|c| c.is_ascii_uppercase());
                let inner = program.find_subcommand(first);
                assert!(is_path || inner.is_some(), "{at}: {line}");
                let second = line.split(' ').nth(1).unwrap_or_default();
                let is_group = inner.is_some_and(|inner| inner.has_subcommands());
                assert!(!is_group || find(&format!("{first} {second}")).is_some(), "{at}: {line}");
            }
            if *at != "any" && !at.is_empty() {
                for option in ours.split([' ', ',', ';']).filter(|word| word.starts_with("--")) {
                    assert!(elsewhere(at, option).is_some(), "{at}: {option}");
                }
            }
        }
    }

    /// docs/checksums.md has the table of this file.
    #[test]
    fn the_page_has_all_tips() {
        let page = include_str!("../../../docs/checksums.md");
        for (at, theirs, ours) in TIPS {
            let at = match *at {
                "" => "".to_owned(),
                at => format!("`{at}`").replace("`any`", "any"),
            };
            let theirs = theirs.split(' ').map(|word| format!("`{word}`")).collect::<Vec<_>>().join(" ");
            let row = format!("| {at} | {theirs} | {} |", ours.replace('|', "\\|"));
            assert!(page.contains(&row), "docs/checksums.md lacks\n{row}");
        }
    }
}
