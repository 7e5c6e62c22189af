// SPDX-License-Identifier: MIT OR Apache-2.0

//! Checks the files of a PAR 2.0 set by the MD5 of their blocks, which are hashed side by side as a torrent's pieces
//! are.
//!
//! Blocks cover every byte, so the MD5 of a whole file, a serial chain, and the CRC-32 of a block, by which par2 finds
//! blocks that have moved, would tell nothing more.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hashloom::{Algorithm, Hash};
use hashloom_files::lanes::Leaves;
use hashloom_files::paths::name::check_component;
use hashloom_files::paths::{portable, to_path};
use hashloom_files::pieces;
use hashloom_files::pieces::files::{Cache, Files, Place, Presence, Trouble};
use hashloom_files::pieces::job::{self, Content, Hashes, Job};
use hashloom_files::pieces::layout::{Layout, Spans};
use hashloom_files::run::Options;
use hashloom_frame::printing::Console;
use hashloom_frame::quote::quoted;
use hashloom_frame::text::reason;
use hashloom_frame::units::plural;
use hashloom_list::command::front::End;
use hashloom_list::command::summing::trouble;
use hashloom_list::command::verdict::{Rules, Verdict};

use super::audit::{Audit, Outcome};
use crate::{Par2, Par2File};

/// Opens a list that is a PAR 2.0 file.
pub fn open(list: &Path) -> Option<File> {
    let is_file = list.as_os_str() != "-" && list.is_file();
    // A pipe that is opened and left loses what its writer has written.
    let mut file = is_file.then(|| File::open(list).ok())??;
    let mut magic = [0; 8];
    file.read_exact(&mut magic).ok()?;
    file.rewind().ok().filter(|()| magic == *b"PAR2\0PKT").map(|()| file)
}

/// Calls `each` with the name, the MD5 and the length of each file. Returns whether these are all files of the set.
pub fn read(file: File, each: &mut dyn FnMut(&[u8], Hash, u64)) -> io::Result<bool> {
    let par2 = Par2::read(file)?;
    par2.files.iter().for_each(|file| each(&file.name, Hash::new(Algorithm::Md5, &file.md5), file.nbytes));
    Ok(par2.undescribed == 0)
}

const MD5: &str = "md5";

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

    fn settle(&self, block: usize, outcome: job::Outcome<'_>) {
        let is_match = matches!(outcome, job::Outcome::Hashed(digests) if digests.whole == self.expected[block]);
        self.matches[block].store(is_match, Ordering::Relaxed);
    }

    fn finish(&self) {}
}

impl<'a> Blocks<'a> {
    /// Hashes the blocks of files below a folder. `None` if the work was stopped.
    fn hash(
        files: &'a [&Par2File],
        block_nbytes: u64,
        place: Place,
        cache: &Arc<Cache>,
        options: &Options,
    ) -> Option<Arc<Blocks<'a>>> {
        let mut spans = Spans::aligned(block_nbytes);
        files.iter().for_each(|file| spans.push(file.nbytes, false));
        let path_of = |index: usize| -> PathBuf { to_path(&files[index].name) };
        let opened = Files::new(place, files.len(), Box::new(path_of), cache);
        let md5 = Leaves { is_filled: true, ..Leaves::plain(Algorithm::Md5, block_nbytes) };
        let hashes = Hashes { whole: Some(md5), leaves: None, has_root: false };
        let expected: Vec<_> = files.iter().flat_map(|file| file.blocks.iter().flatten()).collect();
        let job = Arc::new(Blocks {
            content: Content::new(Arc::new(Layout::new(block_nbytes, spans)), opened, hashes),
            matches: expected.iter().map(|_| AtomicBool::new(false)).collect(),
            expected,
        });
        // Empty files have no block to be read.
        (0..files.len()).filter(|&index| files[index].nbytes == 0).for_each(|index| job.content.files.visit(index));
        if !job.expected.is_empty() {
            pieces::run(std::iter::once(job.clone()), &options.for_lanes());
        }
        (job.expected.is_empty() || job.content.is_done()).then_some(job)
    }
}

/// Checks the files of a set below a folder.
pub fn check(file: File, list: &Path, folder: &Path, rules: Rules, options: &Options, console: &Console<'_>) -> End {
    let audit = Audit { rules, options, console };
    let about = |name: &[u8], why: &str| console.message(&[&quoted(name)[..], b": ", why.as_bytes()].concat());
    let told = |why: &str| about(&portable(list), why);
    let say = |name: &[u8], why: &str| {
        if !rules.status {
            about(name, why);
        }
    };
    let cache = Arc::new(Cache::new(options));
    let (par2, root) = match (Par2::read(file), cache.root(folder)) {
        (Ok(par2), Ok(root)) => (par2, root),
        (Err(error), _) => {
            told(&error.to_string());
            return End::Wrong;
        }
        (_, Err(error)) => {
            console.message(&trouble(&portable(folder), &error));
            return End::Wrong;
        }
    };
    console.begin_part();
    let mut outcome = Outcome::default();
    outcome.counts.nunverified = par2.undescribed as u64;
    let cure = "check one of its volumes (*.vol*.par2), which repeat this";
    if par2.damaged > 0 {
        told(&format!("{} damaged", plural(par2.damaged, "packet") + if par2.damaged == 1 { " is" } else { " are" }));
    }
    if par2.undescribed > 0 {
        say(&portable(list), &format!("it does not describe {}: {cure}", plural(outcome.counts.nunverified, "file")));
    }
    let mut files = Vec::new();
    for file in &par2.files {
        let refused = file.name.split(|&byte| byte == b'/').find_map(|part| check_component(part).err());
        if let Some(why) = refused {
            about(&file.name, &format!("not opened, as a part of the name {why}"));
            audit.tell(&mut outcome, &file.name, MD5, Verdict::Unread);
        } else if file.blocks.is_none() {
            outcome.counts.nunverified += 1;
            say(&file.name, &format!("not verified: its list of blocks is missing or damaged; {cure}"));
        } else {
            files.push(file);
        }
    }
    let Some(job) = Blocks::hash(&files, par2.block_nbytes, Place::Folder(root), &cache, options) else {
        return End::Cancelled;
    };
    let (mut troubles, mut matches) = (job.content.files.take_troubles(), job.matches.iter());
    for (index, file) in files.iter().enumerate() {
        let nblocks = file.blocks.as_ref().map_or(0, Vec::len);
        let bad = runs(matches.by_ref().take(nblocks).map(|is_match| !is_match.load(Ordering::Relaxed)));
        let presence = job.content.files.known(index);
        let (verdict, why) = match troubles.remove(&index) {
            _ if job.content.files.is_unstable(index) => {
                (Verdict::Unstable, "the file changes while it is read; try again when nothing writes to it".to_owned())
            }
            Some(trouble) => (Verdict::Unread, in_words(trouble)),
            None => match presence {
                Presence::Present(nbytes) => {
                    outcome.counts.nbytes += nbytes.min(file.nbytes);
                    let why = faults(file, nbytes, &bad, nblocks);
                    (if why.is_empty() { Verdict::Ok } else { Verdict::Failed }, why.join("; "))
                }
                Presence::Missing if rules.ignore_missing => {
                    outcome.counts.nignored += 1;
                    continue;
                }
                _ => (Verdict::Unread, "the file is missing".to_owned()),
            },
        };
        match verdict {
            Verdict::Ok => {}
            Verdict::Failed => say(&file.name, &why),
            _ => about(&file.name, &why),
        }
        audit.tell(&mut outcome, &file.name, MD5, verdict);
    }
    let counts = &outcome.counts;
    if counts.nmismatched + counts.nunread > 0 {
        say(&portable(list), "`par2 repair` with this file may restore what does not match");
    }
    let end = audit.end(&outcome, 0, "no file of the set was verified");
    if end == End::Right && par2.damaged > 0 && rules.strict { End::Wrong } else { end }
}

/// Why a file was not read.
fn in_words(trouble: Trouble) -> String {
    match trouble {
        Trouble::Open(error) | Trouble::Read { error, .. } => reason(&error).to_string(),
        Trouble::NotRegular(what) => format!("expected a file, found {what}"),
        Trouble::Outside(_) => "not opened, as a link leads out of the folder".to_owned(),
    }
}

/// The differences of a file, which has this length and these bad blocks, from the set; none if the file is right.
fn faults(file: &Par2File, nbytes: u64, bad: &[Range<usize>], nblocks: usize) -> Vec<String> {
    let length = (nbytes != file.nbytes).then(|| format!("expected {} bytes, found {nbytes}", file.nbytes));
    length.into_iter().chain(bad_blocks(bad, nblocks)).collect()
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

/// Tells which blocks are bad, counted from 0.
fn bad_blocks(bad: &[Range<usize>], nblocks: usize) -> Vec<String> {
    /// A file may have any number of runs.
    const SHOWN_MAX: usize = 8;
    let count: usize = bad.iter().map(Range::len).sum();
    let run = |run: &Range<usize>| match run.len() {
        1 => run.start.to_string(),
        _ => format!("{}-{}", run.start, run.end - 1),
    };
    let shown = bad.iter().take(SHOWN_MAX).map(run).collect::<Vec<_>>().join(", ");
    let more = if bad.len() > SHOWN_MAX { ", …" } else { "" };
    let are = if count == 1 { "is" } else { "are" };
    let told = format!("{count} of {} {are} bad: {shown}{more}", plural(nblocks as u64, "block"));
    (count > 0).then_some(told).into_iter().collect()
}
