// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files of clients: `--libtorrent` and `--transmission` write what a check found into them, `--claimed` checks
//! what one of them says.

use std::fs::File;
use std::io::{self, Read, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::Args;
use hashloom_engine::bencode::Limits;
use hashloom_engine::files::Stamp;
use hashloom_engine::text::shown;
use hashloom_engine::torrent::resume::{self, Format};
use hashloom_engine::torrent::{Bitfield, Content, PieceState, Report, Torrent, Trouble};

use super::states::state_name;
use crate::output;
use crate::style;
use crate::text::display;
use crate::units::plural;

#[derive(Debug, Args)]
pub struct Clients {
    /// Write the pieces that are right to a resume file of libtorrent, as qBittorrent has one: to FILE, or to
    /// INFO-HASH.fastresume in the folder DIR. If the file exists, all else in it is kept
    #[arg(long, value_name = "FILE|DIR")]
    pub libtorrent: Option<PathBuf>,

    /// Write the pieces that are right to a resume file of Transmission: to FILE, or to INFO-HASH.resume in the
    /// folder DIR. If the file exists, all else in it is kept
    #[arg(long, value_name = "FILE|DIR")]
    pub transmission: Option<PathBuf>,

    /// Say which of the pieces are wrong that FILE claims to be there: a resume file of libtorrent or Transmission, or
    /// a bitfield; or the one in the folder DIR that has the torrent's info-hash for its name. Only these pieces are
    /// checked
    #[arg(long, value_name = "FILE|DIR")]
    pub claimed: Option<PathBuf>,
}

/// A resume file that is to be written when the check is done.
#[derive(Debug)]
struct Target {
    format: Format,
    path: PathBuf,
    /// What it holds now, and what it is like; none of a pipe or device, or of nothing.
    old: Option<(Stamp, Vec<u8>)>,
}

/// What is to be written when the check is done.
#[derive(Debug)]
pub struct Plan {
    targets: Vec<Target>,
    /// Where the content is looked for.
    path: PathBuf,
}

/// What a file claims.
#[derive(Debug)]
pub struct Claim {
    pub path: PathBuf,
    pub format: Format,
    /// The pieces that are there by what it says.
    pub pieces: Bitfield,
}

impl Clients {
    fn asked(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        let asked = [(Format::Libtorrent, &self.libtorrent), (Format::Transmission, &self.transmission)];
        asked.into_iter().filter_map(|(format, path)| Some((format, path.as_ref()?)))
    }

    /// An error if the options are not for so many torrents: more than one need folders.
    pub fn check(&self, torrents: usize) -> Result<(), String> {
        let paths =
            [("libtorrent", &self.libtorrent), ("transmission", &self.transmission), ("claimed", &self.claimed)];
        for (option, path) in paths.iter().filter_map(|(option, path)| Some((option, path.as_ref()?))) {
            if torrents > 1 && !path.is_dir() {
                let path = display(path);
                return Err(format!(
                    "--{option} {path}: with several torrents a folder is needed, which has a file for each"
                ));
            }
        }
        Ok(())
    }

    /// The files that are to be written for a torrent.
    pub fn paths(&self, torrent: &Torrent) -> Result<Vec<(Format, PathBuf)>, String> {
        let path = |(format, path): (Format, &PathBuf)| match path.is_dir() {
            true => match resume::file_name(format, torrent) {
                Some(name) => Ok((format, path.join(name))),
                None => {
                    let name = shown(torrent.name());
                    Err(format!("{}: there is no {format} of a v2 torrent, which {name} is", display(path)))
                }
            },
            false => Ok((format, path.clone())),
        };
        self.asked().map(path).collect()
    }

    /// The folder where a client has the content, by the first of its files that says so. What is wrong with the others
    /// is told when they are used.
    pub fn folder(&self, torrent: &Torrent) -> Option<PathBuf> {
        let claimed = self.claimed.as_ref().and_then(|path| match path.is_dir() {
            true => in_folder(path, torrent).ok(),
            false => Some(path.clone()),
        });
        let written = self.paths(torrent).unwrap_or_default().into_iter().map(|(_, path)| path);
        let folder = |path: PathBuf| resume::decode(&old(&path).ok()??.1, torrent).ok()?.folder;
        claimed.into_iter().chain(written).find_map(folder).filter(|folder| folder.is_absolute())
    }

    /// What is to be written, where, and whether it can: known before a check that can take hours.
    pub fn plan(&self, torrent: &Torrent, content: &Path) -> Result<Plan, String> {
        let mut plan = Plan { targets: Vec::new(), path: content.to_owned() };
        for (format, path) in self.paths(torrent)? {
            let target = Target { old: old(&path)?, format, path };
            let probed = output::probe(&target.path);
            probed.map_err(|error| target.not_written(&error.to_string()))?;
            plan.targets.push(target);
        }
        if !plan.targets.is_empty() {
            let content = plan.find(torrent)?;
            // What cannot be written whatever the check finds: that of another torrent, of renamed files.
            for target in &plan.targets {
                target.encode(torrent, &Bitfield::none(torrent.piece_count()), &content)?;
            }
        }
        Ok(plan)
    }

    /// What FILE of `--claimed` claims.
    pub fn claim(&self, torrent: &Torrent) -> Result<Option<Claim>, String> {
        let Some(path) = &self.claimed else { return Ok(None) };
        let path = &match path.is_dir() {
            true => in_folder(path, torrent)?,
            false => path.clone(),
        };
        let (_, bytes) = read(path).map_err(|error| format!("{}: {error}", display(path)))?;
        let read = resume::decode(&bytes, torrent).map_err(|error| format!("{}: {error}", display(path)))?;
        Ok(Some(Claim { path: path.clone(), format: read.format, pieces: read.have }))
    }
}

impl Plan {
    fn find(&self, torrent: &Torrent) -> Result<Content, String> {
        Content::find(torrent, &self.path).map_err(|error| error.to_string())
    }

    /// Writes what the check found. What could not be written is in the error, the rest is.
    ///
    /// Nothing is written if a client would be told to fetch what may well be there, or that it has what it may not have:
    /// if the check did not come to its end, or files are there that could not be opened, or no file is where it was
    /// looked for, or one has changed since it was checked.
    pub fn write(&self, torrent: &Torrent, report: &Report) -> Result<(), String> {
        let Some(first) = self.targets.first() else { return Ok(()) };
        let content = &self.find(torrent)?;
        let changed = content.changed(report);
        let unopened = report.troubles.iter().find(|trouble| !matches!(trouble.trouble, Trouble::Read { .. }));
        let why = match unopened {
            _ if report.cancelled => Some("the check was interrupted".to_owned()),
            Some(trouble) => Some(format!("it would say that files are missing which are there: {trouble}")),
            None if torrent.file_count() > 0
                && (0..torrent.file_count()).all(|file| content.nbytes(file).is_none()) =>
            {
                Some(format!("none of the torrent's files is there: {}", display(content.path())))
            }
            None => changed.first().map(|&file| {
                let name = shown(torrent.file(file).path);
                format!("{name} was changed after it was checked. Check again when nothing writes there")
            }),
        };
        if let Some(why) = why {
            return Err(first.not_written(&why));
        }
        let have = Bitfield::from(&report.pieces[..]);
        let mut failed = Ok(());
        for target in &self.targets {
            let written = target
                .encode(torrent, &have, content)
                .and_then(|bytes| target.write(&bytes).map_err(|error| target.not_written(&error.to_string())));
            failed = failed.and(written);
        }
        failed
    }
}

impl Target {
    fn encode(&self, torrent: &Torrent, have: &Bitfield, content: &Content) -> Result<Vec<u8>, String> {
        let encoded = match &self.old {
            Some((_, old)) => resume::update(old, self.format, torrent, have, content),
            None => resume::encode(self.format, torrent, have, content),
        };
        encoded.map_err(|error| self.not_written(&error.to_string()))
    }

    /// If the client has written it meanwhile it knows more than what was read of it.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let Some((stamp, _)) = &self.old else { return output::write_new(&self.path, bytes) };
        match self.path.metadata() {
            Ok(metadata) if Stamp::of(&metadata) == *stamp => output::write(&self.path, bytes),
            Ok(_) => Err(io::Error::other("it was changed during the check: end the client, then check again")),
            Err(error) => Err(error),
        }
    }

    fn not_written(&self, why: &str) -> String {
        format!("{}: the {} cannot be written: {why}", display(&self.path), self.format)
    }
}

impl Claim {
    /// The pieces that it wrongly claims, in runs of one state.
    pub fn wrong(&self, report: &Report) -> Vec<(PieceState, Range<usize>)> {
        let mut runs: Vec<(PieceState, Range<usize>)> = Vec::new();
        for piece in self.pieces.ones().filter(|&piece| report.pieces[piece] != PieceState::Have) {
            let state = report.pieces[piece];
            match runs.last_mut() {
                Some((last, run)) if *last == state && run.end == piece => run.end += 1,
                _ => runs.push((state, piece..piece + 1)),
            }
        }
        runs
    }

    /// Whether all pieces are right that it claims.
    pub fn is_true(&self, report: &Report) -> bool {
        self.wrong(report).is_empty()
    }

    /// A line on what it claims and which of it is wrong.
    pub fn print(&self, out: &mut impl Write, report: &Report) -> io::Result<()> {
        let (count, of) = (self.pieces.count() as u64, self.pieces.len() as u64);
        let runs = self.wrong(report);
        let wrong: u64 = runs.iter().map(|(_, run)| run.len() as u64).sum();
        let verdict = match wrong {
            0 => style::good("all of them are right".to_owned()).bold(),
            _ => style::bad(plural(wrong, "wrong piece")).bold(),
        };
        write!(
            out,
            "claimed: {count} of {} by the {} {}: {verdict}",
            plural(of, "piece"),
            self.format,
            display(&self.path)
        )?;
        for (i, (state, run)) in runs.iter().enumerate() {
            let separator = if i == 0 { ":" } else { "," };
            match run.len() {
                1 => write!(out, "{separator} {}", run.start)?,
                _ => write!(out, "{separator} {}-{}", run.start, run.end - 1)?,
            }
            write!(out, " {}", state_name(*state))?;
        }
        writeln!(out)
    }
}

/// A client's resume file of a torrent.
fn in_folder(folder: &Path, torrent: &Torrent) -> Result<PathBuf, String> {
    let formats = [Format::Libtorrent, Format::Transmission, Format::Bitfield];
    let names: Vec<String> = formats.into_iter().filter_map(|format| resume::file_name(format, torrent)).collect();
    let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| format!("{}: none of {} is there", display(folder), names.join(", ")))
}

/// What the file holds that is to be written, if it exists and is a file.
fn old(path: &Path) -> Result<Option<(Stamp, Vec<u8>)>, String> {
    // A pipe or device has nothing to keep.
    if output::path_is_special(path) {
        return Ok(None);
    }
    match read(path) {
        Ok(old) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(format!("{}: {error}", display(path))),
    }
}

/// A file's bytes, as many as are needed to see that it is too long, and what it was like before they were read.
fn read(path: &Path) -> io::Result<(Stamp, Vec<u8>)> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let stamp = Stamp::of(&file.metadata()?);
    file.take(Limits::default().nbytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok((stamp, bytes))
}
