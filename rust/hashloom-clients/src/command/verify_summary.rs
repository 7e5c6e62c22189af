// SPDX-License-Identifier: MIT OR Apache-2.0

//! The report of a check as text.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use console::StyledObject;
use hashloom_files::run::HeldBack;
use hashloom_files::text::shown;
use hashloom_frame::style;
use hashloom_frame::text::display;
use hashloom_frame::units::{duration, percent, plural, read_at, size};
use hashloom_torrent::command::identity::{size_of, write_info_hashes};
use hashloom_torrent::{File, FileDifference, FileReport, FileState, PieceState, Report, Torrent};

use super::resume_files::Claim;
use super::verify::Counts;

/// The greatest number of files, errors and notes named in the summary. `--missing` or `--json` lists all.
const NAMED_MAX: usize = 10;

/// Prints what the torrent is and where its content was looked for.
pub fn heading(out: &mut impl Write, torrent: &Torrent, report: &Report, claim: Option<&Claim>) -> io::Result<()> {
    writeln!(out, "{}", style::bold(shown(torrent.name())))?;
    write_info_hashes(out, torrent)?;
    let (count, nbytes) = size_of(torrent);
    writeln!(
        out,
        "  torrent    {}, {} in {}, {} of {}",
        torrent.version(),
        size(nbytes),
        plural(count as u64, "file"),
        plural(torrent.piece_count() as u64, "piece"),
        size(torrent.piece_nbytes()),
    )?;
    writeln!(out, "  content    {}", display(&report.content))?;
    claim.map_or(Ok(()), |claim| claim.print(out))?;
    for note in torrent.notes().iter().take(3) {
        writeln!(out, "  note       {note}")?;
    }
    if torrent.note_count() > 3 {
        writeln!(out, "  note       and {} more that are not canonical", torrent.note_count() - 3)?;
    }
    Ok(())
}

/// Prints the verdict: a table if pieces have several states, then a line. `exact`: files must not be too long.
/// `is_listed`: [`missing`] and [`differences`] have been printed.
pub fn verdict(
    out: &mut impl Write,
    torrent: &Torrent,
    report: &Report,
    held_back: Option<HeldBack>,
    exact: bool,
    is_listed: bool,
) -> io::Result<()> {
    let named = files(out, torrent, report, is_listed)?;
    if !is_listed && has_notes(report) {
        if named == 0 {
            writeln!(out)?;
        }
        differences(out, torrent, report, NAMED_MAX)?;
    }
    let total = torrent.files_nbytes();
    let have = report.nbytes(torrent, PieceState::Have);
    let states = [
        PieceState::Have,
        PieceState::Missing,
        PieceState::Bad,
        PieceState::Unread,
        PieceState::Disputed,
        PieceState::Unstable,
        PieceState::Unchecked,
    ];
    if !report.is_complete() {
        writeln!(out)?;
        let width = report.pieces.len().to_string().len();
        for state in states {
            let count = report.count(state);
            if count == 0 && !matches!(state, PieceState::Have | PieceState::Missing | PieceState::Bad) {
                continue;
            }
            let nbytes = report.nbytes(torrent, state);
            let noun = if count == 1 { "piece " } else { "pieces" };
            let name = format!("{:<9}", state.name());
            let name = match state {
                _ if count == 0 => style::dim(name),
                PieceState::Have => style::good(name),
                PieceState::Missing | PieceState::Unchecked => style::partial(name),
                _ => style::bad(name),
            };
            writeln!(out, "  {name}  {count:>width$} {noun}  {:>10}  {:>6}", size(nbytes), percent(nbytes, total))?;
        }
    }
    let mut line = Vec::new();
    write!(line, "{}: ", word(report, exact).bold())?;
    if report.is_of_all() {
        write!(line, "{} of {}", report.have(), plural(report.pieces.len() as u64, "piece"))?
    } else {
        checked(&mut line, report)?
    }
    write!(line, ", {} ({})", size(have), percent(have, total))?;
    long(&mut line, report)?;
    write!(line, " in {}{}", duration(report.elapsed), read_at(report.nbytes_read, report.elapsed, held_back))?;
    taken_over(&mut line, report)?;
    writeln!(out, "\n{}", style::fitted(&String::from_utf8_lossy(&line)))
}

/// Writes the number of pieces that an earlier run has checked, if there are any.
fn taken_over(out: &mut impl Write, report: &Report) -> io::Result<()> {
    match report.ntaken_over as u64 {
        0 => Ok(()),
        count => write!(out, ", {} taken over from an earlier run", plural(count, "piece")),
    }
}

/// Returns the verdict in a word or two. Only that on all pieces is "complete".
fn word(report: &Report, exact: bool) -> StyledObject<&'static str> {
    let is_of_all = report.is_of_all();
    match report.is_complete() {
        true if exact && !report.is_exact() => style::bad("not exact"),
        true if !is_of_all => style::good("part right"),
        true => style::good("complete"),
        false if report.cancelled => style::bad("interrupted"),
        false if !is_of_all && report.scope.count() == 0 => style::partial("not checked"),
        false if !is_of_all => style::bad("part wrong"),
        false => style::bad("not complete"),
    }
}

/// Writes how many pieces were checked, in a check of some, and how many of these are right.
fn checked(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let (all, count) = (report.pieces.len(), report.pieces.len() - report.count(PieceState::Unchecked));
    write!(out, "{count} of {} checked, {} right", plural(all as u64, "piece"), report.have())?;
    if report.cancelled { write!(out, ", {} asked for", report.scope.count()) } else { Ok(()) }
}

/// Writes the number of files that are too long, if there are any.
fn long(out: &mut impl Write, report: &Report) -> io::Result<()> {
    match report.nlong() as u64 {
        0 => Ok(()),
        count => write!(out, ", {} too long", plural(count, "file")),
    }
}

/// Prints the line of one of several torrents.
pub fn line(out: &mut impl Write, file: &Path, torrent: &Torrent, report: &Report, exact: bool) -> io::Result<()> {
    let have = report.nbytes(torrent, PieceState::Have);
    // As wide as "not complete".
    write!(out, "{:<12}  {}  ", word(report, exact), display(file))?;
    let total = torrent.files_nbytes();
    match report.is_of_all() {
        false => checked(out, report)?,
        true if report.is_complete() => write!(out, "{}", size(total))?,
        true => write!(out, "{} of {} ({})", size(have), size(total), percent(have, total))?,
    }
    let others = [
        PieceState::Missing,
        PieceState::Bad,
        PieceState::Unread,
        PieceState::Disputed,
        PieceState::Unstable,
        PieceState::Unchecked,
    ];
    for state in others {
        match report.count(state) as u64 {
            0 => {}
            _ if state == PieceState::Unchecked && !report.is_of_all() => {}
            count => write!(out, ", {} {}", plural(count, "piece"), state.name())?,
        }
    }
    let is_gone = |file: &&FileReport| matches!(file.state, FileState::Missing);
    match report.files.iter().filter(is_gone).count() as u64 {
        0 => {}
        count => write!(out, ", {} missing", plural(count, "file"))?,
    }
    long(out, report)?;
    taken_over(out, report)?;
    notes(out, report)
}

/// Ends a line with the number of files that contradict their attributes.
fn notes(out: &mut impl Write, report: &Report) -> io::Result<()> {
    match report.files.iter().filter(|found| found.difference.is_some()).count() as u64 {
        0 => writeln!(out),
        count => writeln!(out, ", {} (--missing lists them)", plural(count, "note")),
    }
}

/// Returns how a file contradicts its attributes.
fn difference(file: &File<'_>, difference: FileDifference) -> String {
    let link = || match file.symlink {
        Some(target) => format!("a symbolic link to {}", shown(target)),
        None => "a symbolic link".to_owned(),
    };
    match difference {
        FileDifference::LinkMissing => format!("should be {}, but is missing", link()),
        FileDifference::LinkElsewhere => format!("should be {}, but leads elsewhere", link()),
        FileDifference::NotALink => format!("should be {}, but is not", link()),
        FileDifference::NotExecutable => "should be executable, but is not".to_owned(),
        _ => "contradicts its attributes".to_owned(),
    }
}

/// Whether [`differences`] prints anything.
pub fn has_notes(report: &Report) -> bool {
    !report.moved().is_empty() || report.files.iter().any(|found| found.difference.is_some())
}

/// Prints up to `most` of the files that have other names or contradict their attributes, and the number of the others.
pub fn differences(out: &mut impl Write, torrent: &Torrent, report: &Report, most: usize) -> io::Result<()> {
    let differ = torrent.files().zip(&report.files).filter_map(|(file, found)| Some((file, found.difference?)));
    let differ = differ.map(|(file, what)| (file.path, difference(&file, what)));
    let moved =
        report.moved().into_iter().map(|(file, path)| (torrent.file(file).path, format!("is {}", display(&path))));
    let mut all = moved.chain(differ);
    for (path, what) in all.by_ref().take(most) {
        writeln!(out, "  note: {} {what}", shown(path))?;
    }
    match all.count() {
        0 => Ok(()),
        more => writeln!(out, "  and {} (--missing lists them)", plural(more as u64, "more note")),
    }
}

/// Prints the line after those of several torrents.
pub fn total(
    out: &mut impl Write,
    &Counts { complete, in_part, nbytes_read, .. }: &Counts,
    count: u64,
    elapsed: Duration,
    held_back: Option<HeldBack>,
    interrupted: bool,
) -> io::Result<()> {
    let torrents = plural(count, "torrent");
    let are = |some: u64| if some == 1 { "is" } else { "are" };
    let mut line = Vec::new();
    match count - complete {
        0 if in_part > 0 => write!(line, "{}: {complete} of {torrents}", style::good("part right").bold())?,
        0 => write!(line, "{}: {complete} of {torrents}", style::good("complete").bold())?,
        _ if interrupted => {
            let verdict = style::bad("interrupted").bold();
            write!(line, "{verdict}: {complete} of {torrents} {} complete", are(complete))?;
        }
        wrong if in_part > 0 => {
            write!(line, "{}: {wrong} of {torrents} {} not right", style::bad("part wrong").bold(), are(wrong))?;
        }
        wrong => write!(line, "{wrong} of {torrents} {} {}", are(wrong), style::bad("not complete").bold())?,
    }
    if in_part > 0 {
        write!(line, ", {in_part} checked in part,")?;
    }
    write!(line, " in {}", duration(elapsed))?;
    write!(line, "{}", read_at(nbytes_read, elapsed, held_back))?;
    writeln!(out, "\n{}", style::fitted(&String::from_utf8_lossy(&line)))
}

/// Prints the files that are not as they should be: first those that are missing, too short, too long or unreadable, as
/// they may be why pieces of others are not right. Returns the number of files named.
fn files(out: &mut impl Write, torrent: &Torrent, report: &Report, is_listed: bool) -> io::Result<usize> {
    let is_missing = |found: &FileReport| matches!(found.state, FileState::Missing | FileState::NotMade);
    let missing = |found: &FileReport| is_missing(found) || found.state == FileState::Skipped;
    if report.files.len() > 1 && report.files.iter().all(missing) && report.files.iter().any(is_missing) {
        let place = display(&report.content);
        writeln!(out, "\n  none of its files is in {place}: give the folder of the content, or the content, as PATH")?;
        return Ok(1);
    }
    let mut named = 0;
    let mut wrong = 0;
    for culprits in [true, false] {
        for (file, found) in torrent.files().zip(&report.files) {
            let what = match fault(&file, found) {
                Some(what) if culprits => what,
                None if !culprits && found.state == FileState::Incomplete => shared(torrent, report, &file),
                _ => continue,
            };
            wrong += 1;
            if named < NAMED_MAX || culprits && is_listed {
                if named == 0 {
                    writeln!(out)?;
                }
                named += 1;
                writeln!(out, "  {} {what}", style::partial(shown(file.path)))?;
            }
        }
    }
    if wrong > named {
        writeln!(out, "  and {} more (--missing lists pieces and files)", plural((wrong - named) as u64, "file"))?;
    }
    Ok(named)
}

/// Returns what is wrong with the file itself.
fn fault(file: &File<'_>, found: &FileReport) -> Option<String> {
    match (found.state, found.found_nbytes) {
        (FileState::Missing, _) => Some("is missing".to_owned()),
        (FileState::NotMade, _) => Some("is empty and missing, which clients do not mind".to_owned()),
        (FileState::Short, Some(nbytes)) => Some(format!("is too short: {nbytes} of {}", plural(file.nbytes, "byte"))),
        (FileState::Failed, _) => Some("could not be read".to_owned()),
        (FileState::Unstable, _) => Some("changed each time that it was checked".to_owned()),
        _ if found.extra_nbytes > 0 => {
            Some(format!("is too long: {} after its end", plural(found.extra_nbytes, "extra byte")))
        }
        _ => None,
    }
}

/// Returns how many pieces of a file are not right. Another file in the same piece may be the reason.
fn shared(torrent: &Torrent, report: &Report, file: &File<'_>) -> String {
    let pieces = &report.pieces[torrent.pieces_of_file(file.index)];
    let is_asked = |state: PieceState| state != PieceState::Unchecked || report.is_of_all();
    let wrong = pieces.iter().filter(|&&piece| piece != PieceState::Have && is_asked(piece)).count();
    format!("has {wrong} of {} not right", plural(pieces.len() as u64, "piece"))
}

/// Prints the files that could not be read, for standard error.
pub fn troubles(out: &mut impl Write, report: &Report) -> io::Result<()> {
    for trouble in report.troubles.iter().take(NAMED_MAX) {
        writeln!(out, "{} {trouble}", style::error())?;
    }
    match report.troubles.len().checked_sub(NAMED_MAX) {
        None | Some(0) => Ok(()),
        Some(more) => writeln!(out, "{} and {} more", style::error(), plural(more as u64, "file")),
    }
}

/// Prints the pieces that are not right, in runs, with the bytes of each file that they cover. In a check of some
/// pieces the others are not listed.
pub fn missing(out: &mut impl Write, torrent: &Torrent, report: &Report) -> io::Result<()> {
    let is_listed = |state| state != PieceState::Have && (state != PieceState::Unchecked || report.is_of_all());
    for (state, pieces) in report.ranges().filter(|&(state, _)| is_listed(state)) {
        let nbytes: u64 = torrent.bytes_of_pieces(pieces.clone()).map(|(_, bytes)| bytes.end - bytes.start).sum();
        let numbers = match pieces.len() {
            1 => format!("piece {}", pieces.start),
            _ => format!("pieces {}-{}", pieces.start, pieces.end - 1),
        };
        writeln!(out, "{numbers}  {}  {}", style::bad(state.name()), size(nbytes))?;
        for (file, bytes) in torrent.bytes_of_pieces(pieces) {
            writeln!(out, "  {}  bytes {}-{}", shown(torrent.file(file).path), bytes.start, bytes.end - 1)?;
        }
    }
    Ok(())
}
