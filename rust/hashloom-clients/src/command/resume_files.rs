// SPDX-License-Identifier: MIT OR Apache-2.0

//! Resume files of clients. `--libtorrent` and `--transmission` write the result of a check into them; `--claimed`
//! checks what one of them claims.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hashloom_files::Stamp;
use hashloom_files::text::shown;
use hashloom_frame::output;
use hashloom_frame::text::{display, failed, reason};
use hashloom_frame::units::plural;
use hashloom_torrent::bencode::Limits;
use hashloom_torrent::command::DATABASE;
use hashloom_torrent::{Bitfield, Location, Report, Torrent, Trouble};

use super::padding;
use crate::Content;
use crate::resume::{self, Format, MappedPath, PathMap};

/// The end of a message about an output that could not be written after the check.
pub const RESULT_STANDS: &str = "the result of the check stands";

#[derive(Debug, Args)]
pub struct Targets {
    /// Write the pieces that are right to a resume file of libtorrent, which qBittorrent uses: to FILE, or to
    /// INFO-HASH.fastresume in the folder DIR. An existing file keeps everything else; the name of a new FILE ends in
    /// .fastresume
    #[arg(long, value_name = "FILE|DIR")]
    pub libtorrent: Option<PathBuf>,

    /// Write the pieces that are right to a resume file of Transmission: to FILE, or to INFO-HASH.resume in the folder
    /// DIR. An existing file keeps everything else; the name of a new FILE ends in .resume
    #[arg(long, value_name = "FILE|DIR")]
    pub transmission: Option<PathBuf>,

    /// The client knows the folder HOST as CLIENT, as a client in a container does. Its resume files name CLIENT and
    /// keep it. Can be given several times
    #[arg(long, value_name = "CLIENT=HOST")]
    map_path: Vec<MappedPath>,

    /// Write the padding files of the torrent that are missing, which are zeros (sparse where the file system can), for
    /// clients that take padding for files: Transmission 4, rTorrent, aria2
    #[arg(long)]
    padding_files: bool,
}

#[derive(Debug, Args)]
pub struct Clients {
    #[command(flatten)]
    pub targets: Targets,

    /// Check only the pieces that FILE claims to be there, and list the wrong ones. FILE is a resume file of libtorrent
    /// or Transmission, or a bitfield; in a folder DIR it is the file named after the torrent's info-hash
    #[arg(long, value_name = "FILE|DIR")]
    pub claimed: Option<PathBuf>,
}

/// A resume file to write when the check is done.
#[derive(Debug)]
struct Target {
    format: Format,
    path: PathBuf,
    /// The file's bytes and stamp now; `None` for a pipe, a device, or a missing file.
    old: Option<Old>,
}

/// The files to write when the check is done.
#[derive(Debug)]
pub struct Plan {
    targets: Vec<Target>,
    /// The place where the content is looked for.
    place: Location,
    map: PathMap,
    padding_files: bool,
}

/// A file that was written.
pub struct Written {
    /// The kind of file, for people.
    pub what: String,
    pub path: PathBuf,
    pub nbytes: u64,
    /// Number of pieces that the file claims, if it is a client's.
    pub pieces: Option<usize>,
    /// A thing that the client will do and its user may not expect.
    pub note: Option<String>,
}

/// The claim of a resume file.
#[derive(Debug)]
pub struct Claim {
    pub path: PathBuf,
    pub format: Format,
    /// The pieces that the file claims to be there.
    pub pieces: Bitfield,
}

impl Targets {
    fn asked(&self) -> impl Iterator<Item = (Format, &PathBuf)> {
        let asked = [(Format::Libtorrent, &self.libtorrent), (Format::Transmission, &self.transmission)];
        asked.into_iter().filter_map(|(format, path)| Some((format, path.as_ref()?)))
    }

    /// Returns an error if the options do not suit the number of torrents: several torrents need folders.
    pub fn check(&self, torrents: usize) -> Result<(), String> {
        for (option, path) in [("libtorrent", &self.libtorrent), ("transmission", &self.transmission)] {
            check_folder(option, path.as_deref(), torrents)?;
        }
        let is_missing =
            |path: &Path| matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        for (format, path) in self.asked().filter(|(_, path)| is_missing(path)) {
            let (option, extension) = match format {
                Format::Transmission => ("transmission", "resume"),
                _ => ("libtorrent", "fastresume"),
            };
            // Without this rule a mistyped folder would become a file, which no client ever reads.
            if path.extension().is_none_or(|found| found != extension) {
                return Err(format!(
                    "--{option} {}: there is no such file or folder, and the name of a new file ends in .{extension}. \
                     Create the folder, or give another FILE",
                    display(path)
                ));
            }
        }
        Ok(())
    }

    /// Returns the files to write for a torrent.
    pub fn paths(&self, torrent: &Torrent) -> Result<Vec<(Format, PathBuf)>, String> {
        let path = |(format, path): (Format, &PathBuf)| {
            if path.is_dir() {
                match resume::file_name(format, torrent) {
                    Some(name) => Ok((format, path.join(name))),
                    None => {
                        let name = shown(torrent.name());
                        Err(format!("{}: {name} is a v2 torrent, for which there is no {format}", display(path)))
                    }
                }
            } else {
                Ok((format, path.clone()))
            }
        };
        self.asked().map(path).collect()
    }

    fn map(&self) -> PathMap {
        self.map_path.iter().cloned().collect()
    }

    /// Plans what to write and where, and checks that it can be written: a check can take hours, so errors must come
    /// first.
    pub fn plan(&self, torrent: &Torrent, place: &Location) -> Result<Plan, String> {
        let mut plan =
            Plan { targets: Vec::new(), place: place.clone(), map: self.map(), padding_files: self.padding_files };
        for (format, path) in self.paths(torrent)? {
            if let Some(database) = database(&path).filter(|_| format == Format::Libtorrent) {
                return Err(format!(
                    "{}: qBittorrent does not read {format}s: beside them is {}, {DATABASE}",
                    display(&path),
                    display(&database)
                ));
            }
            let target = Target { old: old(&path)?, format, path };
            let probed = output::probe(&target.path);
            probed.map_err(|error| target.not_written(&reason(&error).to_string()))?;
            plan.targets.push(target);
        }
        if !plan.targets.is_empty() {
            let content = plan.find(torrent)?;
            // Find out now what cannot be written whatever the check finds, such as the file of another torrent or of
            // renamed files.
            for target in &plan.targets {
                target.encode(torrent, &Bitfield::none(torrent.piece_count()), &content)?;
            }
        }
        Ok(plan)
    }
}

impl Clients {
    /// Returns an error if the options do not suit the number of torrents: several torrents need folders.
    pub fn check(&self, torrents: usize) -> Result<(), String> {
        check_folder("claimed", self.claimed.as_deref(), torrents)?;
        self.targets.check(torrents)
    }

    /// Returns FILE of `--claimed`, if it is given.
    fn claimed_file(&self, torrent: &Torrent) -> Option<Result<PathBuf, String>> {
        let path = self.claimed.as_ref()?;
        Some(if path.is_dir() { in_folder(path, torrent) } else { Ok(path.clone()) })
    }

    /// Returns the client's files that the options name. Errors are reported when the files are used.
    fn files(&self, torrent: &Torrent) -> Vec<PathBuf> {
        let claimed = self.claimed_file(torrent).and_then(Result::ok);
        let written = self.targets.paths(torrent).unwrap_or_default().into_iter().map(|(_, path)| path);
        claimed.into_iter().chain(written).collect()
    }

    /// Returns where a client has the content, from the first of its files that names a folder.
    pub fn place(&self, torrent: &Torrent) -> Option<Location> {
        let map = self.targets.map();
        let place = |path: PathBuf| {
            let read = resume::decode(&old(&path).ok()??.1, torrent).ok()?;
            let renamed = read.renamed.into_iter().map(|(file, path)| (file, map.to_host(&path))).collect();
            let place = Location::from(map.to_host(&read.folder?)).paths(renamed).unwanted(read.unwanted);
            // Transmission moves all files of a torrent at once.
            let incomplete = read.incomplete.map(|folder| place.clone().moved_to(map.to_host(&folder)));
            let count = |place: &Location| {
                let content = Content::find(torrent, place).ok();
                let is_there = |file: &usize| content.as_ref().is_some_and(|content| content.nbytes(*file).is_some());
                (0..torrent.file_count()).filter(is_there).count()
            };
            Some(match incomplete.filter(|incomplete| count(incomplete) > count(&place)) {
                Some(incomplete) => incomplete,
                None => place,
            })
        };
        self.files(torrent).into_iter().find_map(place).filter(|place| place.path().is_absolute())
    }

    /// Takes the piece layers that a client's copy of a torrent lacks from the client's resume files.
    pub fn take_layers(&self, torrent: &mut Torrent) {
        for path in self.files(torrent) {
            super::take_layers(torrent, &path);
        }
    }

    /// Reads the claim of FILE of `--claimed`.
    pub fn claim(&self, torrent: &Torrent) -> Result<Option<Claim>, String> {
        let Some(path) = self.claimed_file(torrent).transpose()? else { return Ok(None) };
        let (_, bytes) = read(&path).map_err(|error| failed(&path, &error))?;
        let read = resume::decode(&bytes, torrent).map_err(|error| format!("{}: {error}", display(&path)))?;
        Ok(Some(Claim { path, format: read.format, pieces: read.have }))
    }
}

impl Plan {
    fn find(&self, torrent: &Torrent) -> Result<Content, String> {
        let found = Content::find(torrent, &self.place).map_err(|error| error.to_string())?;
        Ok(found.for_client(self.map.clone()))
    }

    /// Writes the result of the check. Returns each file that was written with its length. The errors tell which files
    /// could not be written.
    ///
    /// Nothing is written if a client would be told to fetch pieces that may well be there, or that it has pieces that
    /// it may not have. The cases: the check was interrupted, existing files could not be opened, no file is where it
    /// was looked for, or a file has changed since it was checked.
    pub fn write(&self, torrent: &Torrent, report: &Report) -> Vec<Result<Written, String>> {
        if self.targets.is_empty() && !self.padding_files {
            return Vec::new();
        }
        let mut content = match self.find(torrent) {
            Ok(content) => content,
            Err(message) => return vec![Err(message)],
        };
        let changed = content.changed(report);
        let unopened = report.troubles.iter().find(|trouble| !matches!(trouble.trouble, Trouble::Read { .. }));
        let why = match unopened {
            _ if report.cancelled => Some("the check was interrupted".to_owned()),
            Some(trouble) => Some(format!("it would call files missing that exist: {trouble}")),
            None if torrent.file_count() > 0
                && (0..torrent.file_count()).all(|file| content.nbytes(file).is_none()) =>
            {
                Some(format!("none of the torrent's files exists in {}", display(content.path())))
            }
            None => changed.first().map(|&file| {
                let name = shown(torrent.file(file).path);
                format!("{name} was changed after it was checked. Check again when nothing writes there")
            }),
        };
        if let Some(why) = why {
            return vec![Err(match self.targets.first() {
                Some(first) => first.not_written(&why),
                None => format!("{}: no padding files are written: {why}", display(content.path())),
            })];
        }
        let mut all = Vec::new();
        if self.padding_files {
            match padding::write(torrent, &content) {
                Ok(written) => all.extend(written.map(Ok)),
                Err(message) => return vec![Err(message)],
            }
            match self.find(torrent) {
                Ok(now) => content = now,
                Err(message) => return vec![Err(message)],
            }
        }
        let have = report.bitfield();
        let write = |target: &Target| {
            let claimed = resume::on_disk(torrent, &have, &content, target.format);
            let bytes = target.encode(torrent, &claimed, &content)?;
            let failed = |error| target.not_written(&format!("{}; {RESULT_STANDS}", reason(&error)));
            target.write(&bytes).map_err(failed)?;
            let numbered = resume::numbered(torrent).filter(|_| target.format == Format::Libtorrent);
            let numbered = numbered.map(|file| {
                format!(
                    "{} differs from another name in case only: libtorrent takes it, qBittorrent for one start alone",
                    shown(torrent.file(file).path)
                )
            });
            Ok(Written {
                what: target.format.to_string(),
                path: target.path.clone(),
                nbytes: bytes.len() as u64,
                pieces: Some(claimed.count()),
                note: numbered.or_else(|| padding::note(torrent, &have, &claimed, &content)),
            })
        };
        all.extend(self.targets.iter().map(write));
        all
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

    /// A client that has written its file since knows more than the bytes read before.
    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let Some((stamp, _)) = &self.old else { return output::write_new(&self.path, bytes) };
        match Stamp::at(&self.path) {
            Ok(now) if now == *stamp => output::write(&self.path, bytes),
            Ok(_) => Err(io::Error::other("it was changed during the check: end the client, then check again")),
            Err(error) => Err(error),
        }
    }

    fn not_written(&self, why: &str) -> String {
        format!("{}: the {} cannot be written: {why}", display(&self.path), self.format)
    }
}

impl Claim {
    /// Prints what claims which number of pieces.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let (count, of) = (self.pieces.count(), plural(self.pieces.len() as u64, "piece"));
        writeln!(out, "  claimed    {count} of {of} by the {} {}", self.format, display(&self.path))
    }
}

fn check_folder(option: &str, path: Option<&Path>, torrents: usize) -> Result<(), String> {
    match path.filter(|path| torrents > 1 && !path.is_dir()) {
        Some(path) => {
            let path = display(path);
            Err(format!("--{option} {path}: several torrents need a folder that has a file for each"))
        }
        None => Ok(()),
    }
}

/// The database that qBittorrent has its torrents in, if it does: it lies beside BT_backup, and is removed when
/// qBittorrent goes back to files.
fn database(resume: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(resume).ok()?.parent()?.canonicalize().ok()?;
    let database = folder.parent()?.join("torrents.db");
    (folder.file_name()? == "BT_backup" && database.is_file()).then_some(database)
}

/// Returns a client's resume file of a torrent.
fn in_folder(folder: &Path, torrent: &Torrent) -> Result<PathBuf, String> {
    let formats = [Format::Libtorrent, Format::Transmission, Format::Bitfield];
    let names: Vec<String> = formats.into_iter().filter_map(|format| resume::file_name(format, torrent)).collect();
    let found = names.iter().map(|name| folder.join(name)).find(|path| path.is_file());
    found.ok_or_else(|| format!("{}: has none of the files {}", display(folder), names.join(", ")))
}

/// The stamp of a file, if it is a regular one, and its bytes.
type Old = (Option<Stamp>, Vec<u8>);

/// Returns the stamp and the bytes of the file to be written, if it exists and is a regular file.
fn old(path: &Path) -> Result<Option<Old>, String> {
    // A pipe or device has nothing to keep.
    if output::path_is_special(path) {
        return Ok(None);
    }
    match read(path) {
        Ok(old) => Ok(Some(old)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Returns a file's stamp from before the read, and its bytes: at most one more than the limit, which shows that it is
/// too long.
fn read(path: &Path) -> io::Result<Old> {
    let mut bytes = Vec::new();
    let file = File::open(path)?;
    let stamp = Stamp::of_file(&file)?;
    file.take(Limits::default().nbytes as u64 + 1).read_to_end(&mut bytes)?;
    Ok((stamp, bytes))
}
