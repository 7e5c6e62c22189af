// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks the files of a PAR 2.0 set by the MD5 of their blocks, which are hashed side by side as a torrent's pieces are.
//!
//! Blocks cover every byte, so the MD5 of a whole file, a serial chain, and the CRC-32 of a block, by which par2 finds
//! blocks that have moved, would tell nothing more.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashloom::Algorithm;
use hashloom_files::lanes::Leaves;
use hashloom_files::paths::name::check_component;
use hashloom_files::paths::{portable, to_path};
use hashloom_files::pieces;
use hashloom_files::pieces::files::{Cache, Files, Place, Presence, Trouble};
use hashloom_files::pieces::job::{Content, Hashes, Job, Outcome};
use hashloom_files::pieces::layout::{Layout, Spans};
use hashloom_list::{Par2, Par2File};
use serde::Serialize;

use super::checking::{Base, Checker, Counts, CountsJson, Summary, Verdict, json_line, summarize};
use super::front::End;
use super::summing::trouble;
use crate::json::Named;
use crate::quote::quoted;
use crate::units::plural;

/// Opens a list that is a PAR 2.0 file.
pub fn open(list: &Path) -> Option<File> {
    let is_file = list.as_os_str() != "-" && list.is_file();
    let mut file = File::open(list).ok().filter(|_| is_file)?;
    let mut magic = [0; 8];
    file.read_exact(&mut magic).ok()?;
    file.rewind().ok().filter(|()| magic == *b"PAR2\0PKT").map(|()| file)
}

/// The blocks of all files, each file in blocks of its own.
struct Blocks<'a> {
    content: Content<'a>,
    expected: Vec<&'a [u8; 16]>,
    /// Whether each block matches.
    matches: Vec<AtomicBool>,
}

impl Job for Blocks<'_> {
    fn content(&self) -> &Content<'_> {
        &self.content
    }

    fn wants(&self, _block: usize) -> bool {
        true
    }

    fn settle(&self, block: usize, outcome: Outcome<'_>) {
        let is_match = matches!(outcome, Outcome::Hashed(digests) if digests.whole == self.expected[block]);
        self.matches[block].store(is_match, Ordering::Relaxed);
    }

    fn finish(&self) {}
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(flatten)]
    path: Named<'a>,
    algorithm: &'static str,
    state: &'static str,
    blocks: usize,
    /// The first and last of each run.
    bad_blocks: Vec<[usize; 2]>,
}

/// Checks the files of a set.
pub fn check(checker: &Checker<'_>, list: &Path, file: File) -> End {
    let Checker { rules, base, options, console, .. } = *checker;
    let list_name = portable(list);
    let told = |message: &str| console.message(&[&quoted(&list_name)[..], b": ", message.as_bytes()].concat());
    let par2 = match Par2::read(file) {
        Ok(par2) => par2,
        Err(error) => {
            told(&error.to_string());
            return End::Wrong;
        }
    };
    let folder = match base {
        Base::Folder(folder) => folder,
        Base::Current | Base::List => list.parent().filter(|path| !path.as_os_str().is_empty()).unwrap_or(".".as_ref()),
    };
    console.begin_part();
    let mut nunverified = par2.undescribed as u64;
    let is_quiet = rules.status || rules.json;
    let cure = "check one of its volumes (*.vol*.par2), which repeat this";
    if par2.damaged > 0 {
        told(&format!("{} damaged", plural(par2.damaged, "packet") + if par2.damaged == 1 { " is" } else { " are" }));
    }
    if par2.undescribed > 0 && !is_quiet {
        told(&format!("it does not describe {}: {cure}", plural(nunverified, "file")));
    }
    let (mut files, mut counts) = (Vec::new(), Counts::default());
    let quotes = io::stdout().is_terminal();
    let tell = |file: &Par2File, verdict: Verdict, bad: &[Range<usize>]| {
        if rules.json {
            let bad_blocks = bad.iter().map(|run| [run.start, run.end - 1]).collect();
            let blocks = file.blocks.as_ref().map_or(0, Vec::len);
            let (path, state) = (Named::new("path", &file.name), verdict.state());
            console.print(|lines| json_line(lines, &Object { path, algorithm: "md5", state, blocks, bad_blocks }));
        } else if !(rules.status || rules.quiet && verdict == Verdict::Ok) {
            console.print(|lines| verdict.write_named(lines, &file.name, String::new(), false, quotes));
        }
    };
    for file in &par2.files {
        let refused = file.name.split(|&byte| byte == b'/').find_map(|part| check_component(part).err());
        if let Some(why) = refused {
            counts.nunread += 1;
            let why = format!(": not opened, as a part of the name {why}");
            console.message(&[&quoted(&file.name)[..], why.as_bytes()].concat());
            tell(file, Verdict::Unread, &[]);
        } else if file.blocks.is_none() {
            nunverified += 1;
            if !is_quiet {
                let why = format!(": not verified: its list of blocks is missing or damaged; {cure}");
                console.message(&[&quoted(&file.name)[..], why.as_bytes()].concat());
            }
        } else {
            files.push(file);
        }
    }
    let cache = Arc::<Cache>::default();
    let root = match cache.root(folder) {
        Ok(root) => root,
        Err(error) => {
            console.message(&trouble(&portable(folder), &error));
            return End::Wrong;
        }
    };
    let mut spans = Spans::aligned(par2.block_nbytes);
    files.iter().for_each(|file| spans.push(file.nbytes, false));
    let path_of = |index: usize| -> PathBuf { to_path(&files[index].name) };
    let opened = Files::new(Place::Folder(root), files.len(), Box::new(path_of), &cache);
    let md5 = Leaves { is_filled: true, ..Leaves::plain(Algorithm::Md5, par2.block_nbytes) };
    let hashes = Hashes { whole: Some(md5), leaves: None, has_root: false };
    let expected: Vec<_> = files.iter().flat_map(|file| file.blocks.iter().flatten()).collect();
    let job = Arc::new(Blocks {
        content: Content::new(Arc::new(Layout::new(par2.block_nbytes, spans)), opened, hashes),
        matches: expected.iter().map(|_| AtomicBool::new(false)).collect(),
        expected,
    });
    // Empty files have no block to be read.
    (0..files.len()).filter(|&index| files[index].nbytes == 0).for_each(|index| job.content.files.visit(index));
    if !job.expected.is_empty() {
        pieces::run(std::iter::once(job.clone()), &options.for_lanes());
        if !job.content.is_done() {
            return End::Cancelled;
        }
    }
    let mut troubles = job.content.files.take_troubles();
    let mut first = 0;
    for (index, file) in files.iter().enumerate() {
        let nblocks = file.blocks.as_ref().map_or(0, Vec::len);
        let matches = &job.matches[first..first + nblocks];
        first += nblocks;
        let bad = runs(matches.iter().map(|is_match| !is_match.load(Ordering::Relaxed)));
        let known = job.content.files.known(index);
        let verdict = match known {
            _ if job.content.files.is_unstable(index) => Verdict::Unstable,
            Presence::Missing | Presence::Unknown | Presence::Failed => Verdict::Unread,
            Presence::Present(_) if troubles.contains_key(&index) => Verdict::Unread,
            Presence::Present(nbytes) if nbytes == file.nbytes && bad.is_empty() => Verdict::Ok,
            Presence::Present(_) => Verdict::Failed,
        };
        let message = |why: &str| console.message(&[&quoted(&file.name)[..], b": ", why.as_bytes()].concat());
        match verdict {
            Verdict::Ok | Verdict::Changed => counts.nmatched += 1,
            Verdict::Unstable => {
                counts.nunstable += 1;
                message("the file changes while it is read; try again when nothing writes to it");
            }
            Verdict::Unread if known == Presence::Missing && rules.ignore_missing => {
                counts.nignored += 1;
                continue;
            }
            Verdict::Unread => {
                counts.nunread += 1;
                match troubles.remove(&index) {
                    Some(Trouble::Open(error) | Trouble::Read { error, .. }) => {
                        console.message(&trouble(&file.name, &error));
                    }
                    Some(Trouble::NotRegular(what)) => message(&format!("expected a file, found {what}")),
                    Some(Trouble::Outside(_)) => message("not opened, as a link leads out of the folder"),
                    None => message("the file is missing"),
                }
            }
            Verdict::Failed => {
                counts.nmismatched += 1;
                if let (Presence::Present(nbytes), false) = (known, is_quiet || known == Presence::Present(file.nbytes))
                {
                    message(&format!("expected {} bytes, found {nbytes}", file.nbytes));
                }
                if !bad.is_empty() && !is_quiet {
                    message(&shown(&bad, nblocks, par2.block_nbytes, file.nbytes));
                }
            }
        }
        if let (Verdict::Ok | Verdict::Failed, Presence::Present(nbytes)) = (verdict, known) {
            counts.nbytes += nbytes.min(file.nbytes);
        }
        tell(file, verdict, &bad);
    }
    if rules.json {
        let (list, bytes) = (Named::new("list", &list_name), counts.nbytes);
        let counts = CountsJson::new(&counts, nunverified);
        console.print(|lines| json_line(lines, &Summary { list, counts, bytes, bad_lines: par2.damaged }));
    } else if !rules.status {
        summarize(console, 0, 0, &counts);
        if counts.nmismatched + counts.nunread > 0 {
            told("`par2 repair` with this file may restore what does not match");
        }
        if counts.nmatched == 0 {
            told("no file was verified");
        }
    }
    if counts.nunstable > 0 {
        return End::Unstable;
    }
    let is_right = counts.nmatched > 0 && counts.nmismatched + counts.nunread + nunverified == 0;
    End::of(is_right && (par2.damaged == 0 || !rules.strict))
}

/// The runs of true values.
fn runs(values: impl Iterator<Item = bool>) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (index, _) in values.enumerate().filter(|&(_, value)| value) {
        match runs.last_mut() {
            Some(run) if run.end == index => run.end += 1,
            _ => runs.push(index..index + 1),
        }
    }
    runs
}

/// The bad blocks, counted from 0, and their bytes.
fn shown(bad: &[Range<usize>], nblocks: usize, block_nbytes: u64, nbytes: u64) -> String {
    /// A file may have any number of runs.
    const SHOWN_MAX: usize = 8;
    let count: usize = bad.iter().map(Range::len).sum();
    let run = |first: u64, last: u64| if first == last { first.to_string() } else { format!("{first}-{last}") };
    let listed =
        |run: &dyn Fn(&Range<usize>) -> String| bad.iter().take(SHOWN_MAX).map(run).collect::<Vec<_>>().join(", ");
    let blocks = listed(&|bad| run(bad.start as u64, bad.end as u64 - 1));
    let bytes = listed(&|bad| run(bad.start as u64 * block_nbytes, (bad.end as u64 * block_nbytes).min(nbytes) - 1));
    let more = if bad.len() > SHOWN_MAX { ", …" } else { "" };
    let are = if count == 1 { "is" } else { "are" };
    format!("{count} of {} {are} bad: {blocks}{more} (bytes {bytes}{more})", plural(nblocks as u64, "block"))
}
