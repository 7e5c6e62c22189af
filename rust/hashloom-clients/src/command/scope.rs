// SPDX-License-Identifier: MIT OR Apache-2.0

//! `--first` and `--file`: the pieces to check, if not all.

use clap::Args;
use hashloom_files::paths::to_path;
use hashloom_files::text::shown;
use hashloom_files::walk::Filter;
use hashloom_frame::units::plural;
use hashloom_torrent::command::identity::size_of;
use hashloom_torrent::{Bitfield, Torrent};

#[derive(Debug, Args)]
pub struct Scope {
    /// Check only the first N pieces of each file, and its last piece: a quick look that finds other files than the
    /// torrent's, and files that were cut short
    #[arg(long, value_name = "N", conflicts_with_all = CLIENTS, value_parser = clap::value_parser!(u32).range(1..))]
    first: Option<u32>,

    /// Check only the pieces of files that match; can be given several times. A piece of version 1 may begin or end in
    /// a neighbour file: it is read and must be right there too. GLOB must match a file with content
    #[arg(long = "file", value_name = "GLOB", conflicts_with_all = CLIENTS, value_parser = glob)]
    files: Vec<Filter>,
}

/// Options that write what was not checked as missing, so that a client would fetch it again.
const CLIENTS: [&str; 2] = ["libtorrent", "transmission"];

fn glob(glob: &str) -> Result<Filter, String> {
    Filter::new(&[glob], &[]).map_err(|error| error.to_string())
}

impl Scope {
    /// Returns the pieces to check, of `claimed` if that is given; `None` for all.
    pub fn pieces(&self, torrent: &Torrent, claimed: Option<&Bitfield>) -> Result<Option<Bitfield>, String> {
        if self.first.is_none() && self.files.is_empty() {
            return Ok(claimed.cloned());
        }
        let mut pieces = Bitfield::none(torrent.piece_count());
        let mut add = |file: usize| {
            let of_file = torrent.pieces_of_file(file);
            let nfirst = self.first.map_or(of_file.len(), |first| of_file.len().min(first as usize));
            let chosen = of_file.clone().take(nfirst).chain(of_file.last());
            chosen
                .filter(|&piece| claimed.is_none_or(|claimed| claimed.get(piece)))
                .for_each(|piece| pieces.set(piece, true));
        };
        if self.files.is_empty() {
            torrent.files_without_padding().for_each(|file| add(file.index));
        }
        for filter in &self.files {
            let glob = || shown(filter.included().concat().as_bytes()).to_string();
            let is_match = |path: &[u8]| filter.wants_path(&to_path(path), false);
            let matching: Vec<usize> =
                torrent.files_without_padding().filter(|file| is_match(file.path)).map(|file| file.index).collect();
            if matching.is_empty() {
                let of = plural(size_of(torrent).0 as u64, "file");
                return Err(format!(
                    "--file {}: none of the torrent's {of} matches. hashloom torrent show lists them",
                    glob()
                ));
            }
            if matching.iter().all(|&file| torrent.pieces_of_file(file).is_empty()) {
                let count = plural(matching.len() as u64, "matching file");
                return Err(format!("--file {}: {count} without content, so no piece to check", glob()));
            }
            matching.into_iter().for_each(&mut add);
        }
        Ok(Some(pieces))
    }
}
