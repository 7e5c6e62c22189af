// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom torrent link`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hashloom_files::Stamp;
use hashloom_files::paths::to_path;
use hashloom_files::run::Cancel;
use hashloom_files::text::shown;
use hashloom_frame::exit::EXIT_ERROR;
use hashloom_frame::interrupt;
use hashloom_frame::json::Named;
use hashloom_frame::output::{self, Identity};
use hashloom_frame::stdio::Lines;
use hashloom_frame::style;
use hashloom_frame::text::{display, failed, reason};
use hashloom_frame::units::plural;
use hashloom_torrent::{Check, Location, PieceState, Report, Torrent, verify_many};

use super::find::{Json, Search, print_json, print_text};
use super::padding::make_folders;
use super::resume_files::{Targets, Written};
use super::verify_json::WrittenJson;
use crate::{Finding, Findings};

/// Give the files of torrents their names in another folder.
///
/// Finds files as hashloom torrent find does, and links them below a folder under the torrents' names, where a client
/// can seed them. Only whole torrents are linked, and only files of which every piece was compared.
#[derive(Debug, Args)]
#[command(
    after_long_help = HELP,
    override_usage = "hashloom torrent link [OPTIONS] <TORRENT>... --in <DIR>... --to <DIR>"
)]
pub struct Link {
    #[command(flatten)]
    search: Search,

    /// The folder that gets the torrents' files and folders. It must exist; no file in it is replaced
    #[arg(long, value_name = "DIR")]
    to: PathBuf,

    /// The kind of link, or a copy, that is made of a file
    #[arg(long, value_name = "KIND", default_value = "hard")]
    how: How,

    /// Also link what there is of a torrent whose absent files have at most PERCENT of its bytes, such as a release
    /// without its .nfo and sample: 0 to 100
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    partial: Option<u8>,

    #[command(flatten)]
    targets: Targets,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum How {
    /// A second name of the file, on the same file system
    Hard,
    /// A file that shares the blocks of the first until one of them changes (Linux: Btrfs, XFS and others)
    Reflink,
    /// A symbolic link
    Symbolic,
    /// A copy, which is read and compared with the torrent
    Copy,
}

const HELP: &str = "\
What is made:
  The torrent's file or folder, below the folder of --to. A file that has its
  name already (the same file, or a link to it) is left as it is, so that a
  second run makes what is missing. Any other file in the way is an error.
  If anything fails, or with Ctrl-C, all that was made for that torrent is
  removed again. After linking, every file is looked at again: one that changed
  since it was compared is an error too.
  A hard link is the same file: what a client writes to it changes the other
  name's content. Give --how reflink or copy if that must not happen.
  Symbolic links in the torrent (BEP 47) are not made.

Torrents that are not whole (--partial):
  Absent files are left out. A file that shares a piece of version 1 with one of
  them is linked if other pieces lie wholly in it, and these are right; a small
  file with no such piece is not, as nothing proves it. All is read once more,
  and the client's file claims exactly the pieces that are right. The client
  fetches the others, and writes a shared piece into the file that was found:
  into yours, if it is a hard or symbolic link. Give --how reflink or copy if
  that must not happen.

Clients:
  With --libtorrent or --transmission the resume files of linked torrents are
  written as by hashloom torrent verify. The content was compared already, and
  only copies are read again. --padding-files makes a torrent's padding, which
  Transmission 4, rTorrent and aria2 take for files.

Exit status:
  0    every torrent was linked
  1    a torrent is not whole, and was not linked, or in part (--partial)
  2    wrong usage, a bad torrent, a file in the way, a file that could not be
       read or linked, or that changed
  130  interrupted (Ctrl-C); torrents linked until then stay

Examples:
  hashloom torrent link *.torrent --in /srv/music --to /srv/seeds
  hashloom torrent link a.torrent --in /srv/music --to ~/seeds --how copy
  cd ~/.local/share/qBittorrent/BT_backup
  hashloom torrent link *.torrent --in /srv --to /srv/seeds --libtorrent .";

/// Returns the exit status.
pub fn run(arguments: &Link) -> Result<u8, String> {
    let Link { search, to, how, targets, partial } = arguments;
    targets.check(search.torrents.len())?;
    let root = to.canonicalize().map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!("{}: make this folder first; its disk may not be mounted", display(to)),
        _ => failed(to, &error),
    })?;
    if !root.is_dir() {
        return Err(format!("{}: expected a folder, found a file", display(to)));
    }
    let stop = interrupt::flag();
    let mut linker = Linker { arguments, root, stop: &stop, own: HashMap::new(), how: *how };
    search.run(&stop, |file, torrent, found| {
        let is_linked = found.is_whole() || partial.is_some_and(|percent| is_enough(torrent, found, percent));
        let linked = is_linked.then(|| linker.link(torrent, found));
        let mut errors = Vec::new();
        let (path, written) = match linked {
            Some(Ok((path, written))) => (Some(path), written),
            Some(Err(message)) if !stop.is_cancelled() => {
                errors.push(message);
                (None, Vec::new())
            }
            _ => (None, Vec::new()),
        };
        let written: Vec<Written> =
            written.into_iter().filter_map(|written| written.map_err(|message| errors.push(message)).ok()).collect();
        for message in &errors {
            // Best effort: if standard error is closed, the exit status still tells.
            let _ = writeln!(io::stderr().lock(), "{} {message}", style::error());
        }
        let status = if errors.is_empty() { 0 } else { EXIT_ERROR };
        let print = |out: &mut Lines| {
            if search.json {
                let mut json = Json::new(file, torrent, found);
                json.errors.append(&mut errors);
                json.linked = path.as_ref().map(|path| Named::path("linked", path));
                json.written = written.iter().map(WrittenJson::from).collect();
                return print_json(out, &json);
            }
            let word = match (&path, found.is_whole()) {
                (Some(_), true) => style::good("linked"),
                (Some(_), false) => style::partial("in part"),
                (None, _) if is_linked => style::bad("not linked"),
                (None, _) => style::partial("not whole"),
            };
            print_text(out, &format!("{word:<10}"), file, torrent, found, true)?;
            if let Some(path) = &path {
                writeln!(out, "  at        {}", display(path))?;
            }
            for Written { what, path, nbytes, note, .. } in &written {
                writeln!(out, "  written   the {what} {}, {}", display(path), plural(*nbytes, "byte"))?;
                note.iter().try_for_each(|note| writeln!(out, "  note      {note}"))?;
            }
            Ok(())
        };
        output::print(print).map(|()| status)
    })
}

/// Whether the files of a torrent that would be left out have few enough bytes, and any would be linked.
fn is_enough(torrent: &Torrent, found: &Findings, percent: u8) -> bool {
    let (mut linked, mut left) = (0u64, 0u64);
    for (file, one) in torrent.files().zip(&found.files).filter(|(_, one)| !matches!(one, Finding::Skipped)) {
        if is_linked(torrent, file.index, one) { linked += file.nbytes } else { left += file.nbytes }
    }
    linked > 0 && u128::from(left) * 100 <= u128::from(linked + left) * u128::from(percent)
}

/// Whether a file is linked: all its pieces are right, or, if others of its torrent are absent, those that have bytes
/// of this file alone.
fn is_linked(torrent: &Torrent, file: usize, found: &Finding) -> bool {
    match found {
        Finding::Found { .. } | Finding::Empty => true,
        Finding::Unproved { .. } => own_pieces(torrent, file).next().is_some(),
        _ => false,
    }
}

/// The pieces that have bytes of a file alone.
fn own_pieces(torrent: &Torrent, file: usize) -> impl Iterator<Item = usize> + '_ {
    torrent.pieces_of_file(file).filter(|&piece| torrent.bytes_of_pieces(piece..piece + 1).count() == 1)
}

/// Makes links.
struct Linker<'a> {
    arguments: &'a Link,
    /// The folder of `--to`, without links.
    root: PathBuf,
    stop: &'a Cancel,
    how: How,
    /// For each file with new hard links, the stamp with which it was compared, and the present one: a hard link gives
    /// the file another time of change.
    own: HashMap<(u64, u64), (Stamp, Stamp)>,
}

/// The files and folders made for a torrent, which are removed if anything fails.
#[derive(Default)]
struct Made {
    folders: Vec<PathBuf>,
    files: Vec<(PathBuf, Identity)>,
    /// The file of the torrent, its source, the source's stamp, and the path of the link.
    links: Vec<(usize, PathBuf, Stamp, PathBuf)>,
    /// Whether there are files whose bytes no comparison has seen.
    must_read: bool,
    /// Whether files are left out.
    is_partial: bool,
}

impl Linker<'_> {
    /// Returns the path of the torrent's file or folder, and the resume files written.
    fn link(&mut self, torrent: &Torrent, found: &Findings) -> Result<(PathBuf, Vec<Result<Written, String>>), String> {
        let plan = self.arguments.targets.plan(torrent, &Location::from(&*self.arguments.to))?;
        let mut made = Made { must_read: self.how == How::Copy || !found.is_whole(), ..Made::default() };
        made.is_partial = !found.is_whole();
        let proved = self.make(torrent, found, &mut made).and_then(|()| self.prove(torrent, &made));
        match proved {
            Ok(report) => Ok((self.arguments.to.join(to_path(torrent.name())), plan.write(torrent, &report))),
            Err(message) => {
                self.undo(made);
                Err(format!("{message}. Nothing of {} was linked", shown(torrent.name())))
            }
        }
    }

    fn make(&mut self, torrent: &Torrent, found: &Findings, made: &mut Made) -> Result<(), String> {
        let name = to_path(torrent.name());
        for (file, one) in torrent.files().zip(&found.files) {
            if self.stop.is_cancelled() {
                return Err("interrupted".into());
            }
            // The parser has checked that names have no `..` and no separators.
            let own = if torrent.is_single_file() { name.clone() } else { name.join(to_path(file.path)) };
            let (Some(inner), Some(name)) = (own.parent(), own.file_name()) else { continue };
            if !is_linked(torrent, file.index, one) {
                continue;
            }
            let path = make_folders(&self.root, inner, "of --to", &mut made.folders)?.join(name);
            match one {
                Finding::Found { path: source, stamp, .. } => {
                    self.make_file(source, stamp, &path, made)?;
                    made.links.push((file.index, source.clone(), *stamp, path));
                }
                // All is read after linking.
                Finding::Unproved { path: source } => {
                    let stamp = Stamp::of_entry(source).ok().flatten().ok_or_else(|| changed(source))?;
                    self.make_file(source, &stamp, &path, made)?;
                    made.links.push((file.index, source.clone(), stamp, path));
                }
                _ if path.symlink_metadata().is_ok_and(|there| there.is_file() && there.len() == 0) => {}
                _ => {
                    File::create_new(&path).map_err(|error| failed(&path, &error))?;
                    made.add(&path)?;
                }
            }
        }
        Ok(())
    }

    fn make_file(&mut self, source: &Path, stamp: &Stamp, path: &Path, made: &mut Made) -> Result<(), String> {
        if Stamp::of_entry(source).ok().flatten() != Some(self.present(stamp)) {
            return Err(changed(source));
        }
        if let Ok(there) = path.symlink_metadata() {
            let is_link = self.how == How::Symbolic && there.is_symlink();
            let found = if is_link { Stamp::at(path) } else { Stamp::of_entry(path) }.ok().flatten();
            return match found {
                Some(found) if found.ino != 0 && (found.dev, found.ino) == (stamp.dev, stamp.ino) => Ok(()),
                Some(found) if matches!(self.how, How::Copy | How::Reflink) && found.nbytes == stamp.nbytes => {
                    made.must_read = true;
                    Ok(())
                }
                _ => Err(format!("{}: another file has this name, and is not replaced", display(path))),
            };
        }
        let result = match self.how {
            How::Hard => fs::hard_link(source, path),
            How::Symbolic => source.canonicalize().and_then(|source| symlink(&source, path)),
            How::Reflink => output::write_with(path, false, |file| reflink(&File::open(source)?, file)),
            How::Copy => output::write_with(path, false, |file| self.copy(&mut File::open(source)?, file)),
        };
        if let Err(error) = result {
            // A copy may have its name and still not be safely on the disk.
            if error.kind() != io::ErrorKind::AlreadyExists && path.symlink_metadata().is_ok() {
                made.add(path)?;
            }
            return Err(format!("{}: {}", display(path), self.cure(&error)));
        }
        made.add(path)?;
        if self.how == How::Hard {
            self.relinked(source, stamp);
        }
        Ok(())
    }

    /// The stamp that a file should have now, of the one with which it was compared.
    fn present(&self, stamp: &Stamp) -> Stamp {
        let own = self.own.get(&(stamp.dev, stamp.ino)).filter(|(compared, _)| compared == stamp);
        own.map_or(*stamp, |(_, present)| *present)
    }

    /// Notes the stamp of a file that has got or lost a hard link.
    fn relinked(&mut self, source: &Path, stamp: &Stamp) {
        if let Ok(Some(now)) = Stamp::of_entry(source) {
            // The stamp shows more of any other change.
            let mut before = now;
            before.ctime_ns = stamp.ctime_ns;
            if before == *stamp {
                self.own.insert((stamp.dev, stamp.ino), (*stamp, now));
            }
        }
    }

    fn copy(&self, from: &mut File, mut to: &File) -> io::Result<()> {
        const STEP_NBYTES: u64 = 16 << 20;
        while !self.stop.is_cancelled() {
            if io::copy(&mut from.take(STEP_NBYTES), &mut to)? == 0 {
                return Ok(());
            }
        }
        Err(io::ErrorKind::Interrupted.into())
    }

    /// Looks at all files again, and reads them if no comparison has seen the bytes of one.
    fn prove(&self, torrent: &Torrent, made: &Made) -> Result<Report, String> {
        for (_, source, stamp, path) in &made.links {
            let now = match self.how {
                How::Hard => Stamp::of_entry(path),
                How::Symbolic => Stamp::at(path),
                How::Reflink | How::Copy => Stamp::of_entry(source),
            };
            if now.ok().flatten() != Some(self.present(stamp)) {
                return Err(changed(source));
            }
        }
        let mut place = Location::from(&*self.arguments.to);
        if self.how == How::Symbolic {
            // These lead out of the folder on purpose.
            place = place.paths(made.links.iter().map(|(file, _, _, path)| (*file, path.clone())).collect());
        }
        let mut check = Check::new(torrent, place);
        if !made.must_read {
            check = check.known(vec![PieceState::Have; torrent.piece_count()]);
        }
        let mut result = Err("the check was lost".to_owned());
        let options = self.arguments.search.threads.options().cancel(self.stop);
        verify_many([check], &options, |_, report| result = report.map_err(|error| error.to_string()));
        let report = result?;
        match report.troubles.first() {
            Some(trouble) => Err(trouble.to_string()),
            None if report.cancelled => Err("interrupted".into()),
            None if made.is_partial => {
                let mut pieces = made.links.iter().flat_map(|(file, ..)| own_pieces(torrent, *file));
                if pieces.all(|piece| report.pieces[piece] == PieceState::Have) {
                    return Ok(report);
                }
                let path = self.arguments.to.join(to_path(torrent.name()));
                Err(format!("{}: pieces that were right are not any more", display(&path)))
            }
            None if !report.is_complete() => Err(format!(
                "{}: the content differs from the torrent",
                display(&self.arguments.to.join(to_path(torrent.name())))
            )),
            None => Ok(report),
        }
    }

    /// Removes what was made.
    fn undo(&mut self, made: Made) {
        for (path, identity) in made.files.iter().rev() {
            // A file that another program has put there stays.
            if Identity::at(path, false).is_ok_and(|now| now == *identity) {
                let _ = fs::remove_file(path);
            }
        }
        made.folders.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
        if self.how == How::Hard {
            made.links.iter().for_each(|(_, source, stamp, _)| self.relinked(source, stamp));
        }
    }

    /// The error of making a link, with what the user can do.
    fn cure(&self, error: &io::Error) -> String {
        use io::ErrorKind::{CrossesDevices, InvalidInput, PermissionDenied, TooManyLinks, Unsupported};
        let what = match (self.how, error.kind()) {
            (How::Hard, CrossesDevices) => {
                "the file is on another file system, to which no hard link leads. Give --how symbolic or copy, or a \
                 folder on the file system of the file"
            }
            (How::Hard, TooManyLinks) => "the file has as many names as its file system allows. Give --how copy",
            (How::Hard, PermissionDenied | Unsupported) => {
                "no hard link can be made: you may not write to the folder, the file is another user's, or its file \
                 system has no hard links. Give another folder, or --how symbolic or copy"
            }
            (How::Reflink, CrossesDevices | InvalidInput | Unsupported) => {
                "the two files cannot share blocks: both must be on one file system that can, such as Btrfs or XFS. \
                 Give --how hard or copy"
            }
            _ => return reason(error).to_string(),
        };
        what.to_owned()
    }
}

impl Made {
    /// Notes a new file.
    fn add(&mut self, path: &Path) -> Result<(), String> {
        let identity = Identity::at(path, false).map_err(|error| failed(path, &error))?;
        self.files.push((path.to_owned(), identity));
        Ok(())
    }
}

fn changed(source: &Path) -> String {
    format!("{}: changed since it was compared. Link again when nothing writes there", display(source))
}

#[cfg(unix)]
fn symlink(source: &Path, path: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(source, path)
}

#[cfg(windows)]
fn symlink(source: &Path, path: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_file(source, path)
}

#[cfg(not(any(unix, windows)))]
fn symlink(_source: &Path, _path: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(target_os = "linux")]
fn reflink(source: &File, file: &File) -> io::Result<()> {
    Ok(rustix::fs::ioctl_ficlone(file, source)?)
}

#[cfg(not(target_os = "linux"))]
fn reflink(_source: &File, _file: &File) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
