// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parts of a torrent, checked by several machines, and what one of them needs to join and to check the parts.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hashloom_files::Stamp;
use hashloom_torrent::{Bitfield, Check, PieceDigests, PieceState, Pieces, Report, VerifyError, look, verify_pieces};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::files::{fields, read, refused, trouble};
use crate::work::Work;

/// The length and both times of a file. All machines of a cluster see the same, but not the same device, nor on every
/// network file system the same inode.
type Seen = Option<(u64, i128, i128)>;

/// SHA-1 and root of a piece, from Python.
type Given = (Option<Vec<u8>>, Option<Vec<u8>>);

/// What a check found, and before it the looks of its files and the content's place.
struct Found {
    stamps: Vec<Option<Stamp>>,
    content: PathBuf,
    report: Report,
    /// The digests of the pieces of a part.
    digests: Vec<PieceDigests>,
}

type Checked = Result<Found, VerifyError>;

/// A torrent, and its pieces by number.
#[pyclass(frozen, module = "pyhashloom._hashloom")]
struct Torrent(Arc<hashloom_torrent::Torrent>);

impl Torrent {
    fn range(&self, first: usize, end: usize) -> PyResult<Range<usize>> {
        let npieces = self.0.piece_count();
        if first > end || end > npieces {
            let text = format!("pieces {first} to {end} are not among the torrent's {npieces}");
            return Err(PyValueError::new_err(text));
        }
        Ok(first..end)
    }

    /// The files that have bytes in a range of pieces, and those between them.
    fn files_of(&self, pieces: &Range<usize>) -> Range<usize> {
        if pieces.is_empty() {
            return 0..0;
        }
        self.0.files_of_piece(pieces.start).start..self.0.files_of_piece(pieces.end - 1).end
    }

    /// Looks at files, then checks a range of pieces of which these verdicts are known, on threads of the engine.
    fn check(
        &self,
        py: Python<'_>,
        path: PathBuf,
        files: Range<usize>,
        part: Range<usize>,
        known: Vec<PieceState>,
        threads: usize,
    ) -> PyResult<Found> {
        let torrent = self.0.clone();
        let work = Work::<Checked>::start(threads, None, move |options, results| {
            // The look comes first: a change after it shows in a later look, a change before it is part of what is read.
            let (content, stamps) = match look(&torrent, &path, files) {
                Ok(seen) => seen,
                Err(error) => {
                    let _ = results.send(Err(error));
                    return;
                }
            };
            let mut pieces = Bitfield::none(torrent.piece_count());
            part.clone().for_each(|piece| pieces.set(piece, true));
            let digests = Mutex::new(vec![PieceDigests::default(); part.len()]);
            let lock = || digests.lock().unwrap_or_else(PoisonError::into_inner);
            let mut report = None;
            verify_pieces(
                [Check::new(torrent, path).pieces(pieces).known(known)],
                options,
                |_, piece, _, found| lock()[piece - part.start] = *found,
                |_, result| report = Some(result),
            );
            if let Some(result) = report {
                let digests = std::mem::take(&mut *lock());
                let _ = results.send(result.map(|report| Found { stamps, content, report, digests }));
            }
        })?;
        let mut checked = None;
        while let Some(result) = work.next(py)? {
            checked = Some(result);
        }
        match checked {
            Some(Ok(found)) if found.content == found.report.content => Ok(found),
            Some(Ok(_)) => Err(PyRuntimeError::new_err("the content was moved during the check")),
            Some(Err(error)) => Err(refused(error).raise(py)),
            None => Err(PyRuntimeError::new_err("the check was lost")),
        }
    }
}

fn seen(stamps: &[Option<Stamp>]) -> Vec<Seen> {
    let of = |stamp: &Stamp| (stamp.nbytes, stamp.mtime_ns, stamp.ctime_ns);
    stamps.iter().map(|stamp| stamp.as_ref().map(of)).collect()
}

/// A digest of N bytes, from Python.
fn digest<const N: usize>(bytes: Option<&[u8]>) -> PyResult<Option<[u8; N]>> {
    let of = |bytes: &[u8]| {
        <[u8; N]>::try_from(bytes)
            .map_err(|_| PyValueError::new_err(format!("a digest of {} bytes, expected {N}", bytes.len())))
    };
    bytes.map(of).transpose()
}

#[pymethods]
impl Torrent {
    #[new]
    fn new(torrent: &Bound<'_, PyAny>) -> PyResult<Torrent> {
        let py = torrent.py();
        read(torrent)?.map(|torrent| Torrent(Arc::new(torrent))).map_err(|failure| failure.raise(py))
    }

    #[getter]
    fn piece_count(&self) -> usize {
        self.0.piece_count()
    }

    #[getter]
    fn piece_nbytes(&self) -> u64 {
        self.0.piece_nbytes()
    }

    /// Each file: its path, its bytes, whether it has content to check, and the range of its pieces.
    fn files<'py>(&self, py: Python<'py>) -> Vec<(Bound<'py, PyBytes>, u64, bool, usize, usize)> {
        let of = |(index, file): (usize, hashloom_torrent::File<'_>)| {
            let pieces = self.0.pieces_of_file(index);
            let has_content = !file.attributes.padding && !file.attributes.symlink;
            (PyBytes::new(py, file.path), file.nbytes, has_content, pieces.start, pieces.end)
        };
        self.0.files().enumerate().map(of).collect()
    }

    /// The first and the last file, exclusive, of a range of pieces.
    fn files_of_pieces(&self, first: usize, end: usize) -> PyResult<(usize, usize)> {
        let files = self.files_of(&self.range(first, end)?);
        Ok((files.start, files.end))
    }

    /// The verdicts that the torrent's own list gives on pieces from `first` on, by the SHA-1 and the root of each.
    fn verdicts(&self, first: usize, digests: Vec<Given>) -> PyResult<Vec<&'static str>> {
        let of = |(index, (sha1, root)): (usize, &Given)| {
            let found = PieceDigests { sha1: digest(sha1.as_deref())?, root: digest(root.as_deref())? };
            Ok(first.checked_add(index).map_or("unchecked", |piece| self.0.verdict(piece, &found).name()))
        };
        digests.iter().enumerate().map(of).collect()
    }

    /// The name, and whether there is one file.
    fn name<'py>(&self, py: Python<'py>) -> (Bound<'py, PyBytes>, bool) {
        (PyBytes::new(py, self.0.name()), self.0.is_single_file())
    }

    /// The place of each file's first byte in the content.
    fn offsets(&self) -> Vec<u64> {
        self.0.files().map(|file| file.offset).collect()
    }

    /// The range of a piece in the content, the files with their bytes in the piece (padding left out), and whether the
    /// piece has a SHA-1 and a root.
    #[allow(clippy::type_complexity, reason = "read by one caller")]
    fn bytes_of(&self, piece: usize) -> PyResult<(u64, u64, Vec<(usize, u64, u64)>, bool, bool)> {
        self.range(piece, piece.saturating_add(1))?;
        let range = self.0.piece_range(piece);
        let parts = self.0.bytes_of_pieces(piece..piece + 1).map(|(file, bytes)| (file, bytes.start, bytes.end));
        let (has_sha1, has_root) = (self.0.piece_digest(piece).is_some(), self.0.piece_root(piece).is_some());
        Ok((range.start, range.end, parts.collect(), has_sha1, has_root))
    }

    /// Whether a piece with this SHA-1, and with these digests of the 16 KiB of its tree, is right.
    fn is_right(&self, py: Python<'_>, piece: usize, sha1: &[u8], leaves: &[u8]) -> PyResult<bool> {
        self.range(piece, piece.saturating_add(1))?;
        Ok(py.detach(|| Pieces::hashed(&self.0, piece, sha1, leaves)))
    }

    /// Checks a range of pieces. Returns the content's place, what the files of the range looked like before, the state
    /// and the digests of each piece, the troubles with their files, and the bytes read.
    fn part<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        first: usize,
        end: usize,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let pieces = self.range(first, end)?;
        let Found { stamps, content, report, digests } =
            self.check(py, path, self.files_of(&pieces), pieces.clone(), Vec::new(), threads)?;
        let bytes = |digest: Option<&[u8]>| digest.map(|digest| PyBytes::new(py, digest));
        let found: Vec<_> = report.pieces[pieces]
            .iter()
            .zip(&digests)
            .map(|(state, found)| {
                let (sha1, root) = (found.sha1.as_ref().map(|d| &d[..]), found.root.as_ref().map(|d| &d[..]));
                (state.name(), bytes(sha1), bytes(root))
            })
            .collect();
        let troubles: Vec<_> = report.troubles.iter().map(|of| (of.file, trouble(of))).collect();
        (content.into_os_string(), seen(&stamps), found, troubles, report.nbytes_read).into_pyobject(py)
    }

    /// Looks at all files, with the verdicts on all pieces known. Returns what the files looked like before, the files of
    /// the troubles, and the fields of `pyhashloom.torrent.Report`.
    fn settled<'py>(
        &self,
        py: Python<'py>,
        path: PathBuf,
        states: Vec<String>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let of = |name: &String| {
            let is_it = |state: &&PieceState| state.name() == name && **state != PieceState::Unchecked;
            let found = PieceState::ALL.iter().copied().find(|state| is_it(&state));
            found.ok_or_else(|| PyValueError::new_err(format!("no verdict on a piece: {name:?}")))
        };
        let known: Vec<PieceState> = states.iter().map(of).collect::<PyResult<_>>()?;
        if known.len() != self.0.piece_count() {
            return Err(PyValueError::new_err("expected a verdict on each piece"));
        }
        let (files, pieces) = (0..self.0.file_count(), 0..known.len());
        let Found { stamps, report, .. } = self.check(py, path, files, pieces, known, threads)?;
        let troubled: Vec<usize> = report.troubles.iter().map(|of| of.file).collect();
        (seen(&stamps), troubled, fields(py, &self.0, &report)?).into_pyobject(py)
    }
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Torrent>()
}
