// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files through the engine: the calls behind `pyhashloom.files` and `pyhashloom.torrent`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use std::{fs, io};

use hashloom::{Algorithm, Hash, Hasher};
use hashloom_files::text::reason;
use hashloom_files::{FileError, Hashed, Method, Request, Source, hash_files};
use hashloom_maker::{Builder, CreateError};
use hashloom_torrent::{
    Check, FileTrouble, OpenError, OpenProblem, Report, Torrent, Trouble, VerifyError, Version, verify_many,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use crate::buffer::Data;
use crate::hash::algorithm;
use crate::signals::TICK;
use crate::work::{Work, work_once};

/// The kind of an error, its number, its text and the bytes read before it.
pub type Reason = (&'static str, Option<i32>, String, u64);

/// The digests and the bytes of a file, or the reason why there are none.
type Answer = Result<(Vec<Hash>, u64), Reason>;

/// The results of files, in the order of their paths.
#[pyclass(frozen, module = "pyhashloom._hashloom")]
struct Files(Work<Answer>);

#[pymethods]
impl Files {
    #[new]
    #[pyo3(signature = (names, paths, threads, progress))]
    fn new(names: Vec<String>, paths: Vec<OsString>, threads: usize, progress: Option<Py<PyAny>>) -> PyResult<Files> {
        let is_blob: Vec<bool> = names.iter().map(|name| matches!(name.as_str(), "git_blob" | "git-blob")).collect();
        let of = |(name, is_blob): (&String, &bool)| if *is_blob { Ok(Algorithm::Sha1) } else { algorithm(name) };
        let algorithms: Vec<Algorithm> = names.iter().zip(&is_blob).map(of).collect::<PyResult<_>>()?;
        let plain: Arc<[Method]> = algorithms.into_iter().map(Method::from).collect();
        let has_blobs = is_blob.contains(&true);
        let is_short = is_short(&paths);
        // The length comes first in a blob of git, so it is asked for before the file is opened.
        let mut requests = paths.into_iter().map(move |path| {
            if has_blobs {
                let told = fs::metadata(&path).map_or(Some(0), |it| Some(it.len()).filter(|_| it.is_file()));
                let mut hasher = Hasher::new(Algorithm::Sha1);
                hasher.update(format!("blob {}\0", told.unwrap_or(0)).as_bytes());
                let method = |(method, is_blob): (&Method, &bool)| {
                    if *is_blob { Method::After(hasher.clone()) } else { method.clone() }
                };
                let methods = plain.iter().zip(&is_blob).map(method).collect();
                Request { source: Source::Path(path.into()), methods, tag: Some(told) }
            } else {
                Request { source: Source::Path(path.into()), methods: plain.clone(), tag: None }
            }
        });
        let hashed = |request: Request<Option<Option<u64>>>, result: Result<Hashed, FileError>| match result {
            Ok(hashed) if request.tag.is_some_and(|told| told != Some(hashed.nbytes)) => {
                let text = "the length of a git blob comes first, and the file is no regular one, or has changed since";
                Err(("unstable", None, text.to_string(), 0))
            }
            Ok(hashed) => Ok((hashed.digests, hashed.nbytes)),
            Err(error) => Err(described(&error)),
        };
        if threads == 1 || is_short {
            return Ok(Files(Work::in_turns(progress, move |options, results| {
                // Files that are begun later wait for the next turn, so that the first results need not wait for all.
                let end = Instant::now() + TICK;
                let count = requests.len();
                let begun = std::iter::from_fn(|| if Instant::now() < end { requests.next() } else { None });
                hash_files(begun.take(count), options, |request, result| results.push_back(hashed(request, result)));
                requests.len() > 0
            })));
        }
        let work = Work::start(threads, progress, move |options, results| {
            hash_files(requests, options, |request, result| {
                // After an interruption nobody wants the result.
                let _ = results.send(hashed(request, result));
            });
        })?;
        Ok(Files(work))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match self.0.next(py)? {
            None => Ok(None),
            Some(Ok((digests, nbytes))) => {
                let digests = PyTuple::new(py, digests.iter().map(|digest| PyBytes::new(py, digest.as_ref())))?;
                (digests, nbytes, py.None()).into_pyobject(py).map(Some)
            }
            Some(Err(error)) => (py.None(), 0, error).into_pyobject(py).map(Some),
        }
    }

    /// Stops the work.
    fn close(&self, py: Python<'_>) {
        self.0.stop(py);
    }
}

/// Whether files are hashed sooner than threads begin: one, which one thread hashes anyway, or few and short ones.
fn is_short(paths: &[OsString]) -> bool {
    const COUNT: usize = 64;
    const NBYTES: u64 = 1 << 20;
    let nbytes = |path| match fs::metadata(path) {
        Ok(metadata) => Some(metadata.len()).filter(|_| metadata.is_file()),
        Err(_) => Some(0),
    };
    let add = |sum: u64, path| Some(sum.saturating_add(nbytes(path)?)).filter(|&sum| sum <= NBYTES);
    paths.len() == 1 || paths.len() <= COUNT && paths.iter().try_fold(0, add).is_some()
}

pub fn described(error: &FileError) -> Reason {
    let (kind, offset) = match error {
        FileError::Open(_) => ("open", 0),
        FileError::Read { offset, .. } => ("read", *offset),
        _ => ("unstable", 0),
    };
    (kind, error.io().raw_os_error(), reason(error.io()).to_string(), offset)
}

/// An error of the system, as (number, text, path).
pub fn of_system(error: &io::Error, path: PathBuf) -> Failure {
    Failure::System(error.raw_os_error(), reason(error).to_string(), path)
}

pub enum Failure {
    System(Option<i32>, String, PathBuf),
    /// The text, the key and the offset.
    Torrent(String, String, usize),
}

impl Failure {
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Failure::System(number, text, path) => file_error(py, "open", number, text, path, 0),
            Failure::Torrent(text, key, offset) => {
                let raised = || py.import("pyhashloom.torrent")?.getattr("TorrentError")?.call1((text, key, offset));
                raised().map_or_else(|error| error, PyErr::from_value)
            }
        }
    }
}

/// A `pyhashloom.FileError`.
pub fn file_error(py: Python<'_>, kind: &str, number: Option<i32>, text: String, path: PathBuf, offset: u64) -> PyErr {
    let arguments = (kind, number, text, path.into_os_string(), offset);
    let raised = || py.import("pyhashloom._files")?.getattr("FileError")?.call1(arguments);
    raised().map_or_else(|error| error, PyErr::from_value)
}

/// The torrent, given by its path or its bytes.
fn read(torrent: &Bound<'_, PyAny>) -> PyResult<Result<Torrent, Failure>> {
    if let Ok(path) = torrent.extract::<PathBuf>() {
        return Ok(Torrent::open(&path).map_err(|OpenError { path, problem }| match problem {
            OpenProblem::Io(error) => of_system(&error, path),
            OpenProblem::Torrent(error) => Failure::Torrent(error.to_string(), error.key, error.offset),
            _ => Failure::System(None, "expected a .torrent file, found a folder, pipe or device".into(), path),
        }));
    }
    let data = Data::of(torrent)?;
    let parsed = Torrent::parse(data.bytes());
    Ok(parsed.map_err(|error| Failure::Torrent(error.to_string(), error.key, error.offset)))
}

/// Checks the content of a torrent, given by its path or its bytes. Returns the fields of `pyhashloom.torrent.Report`.
#[pyfunction]
#[pyo3(signature = (torrent, path, threads, progress))]
fn torrent_verify<'py>(
    torrent: &Bound<'py, PyAny>,
    path: PathBuf,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = torrent.py();
    let torrent = Arc::new(read(torrent)?.map_err(|failure| failure.raise(py))?);
    let checked = torrent.clone();
    let report = work_once(py, threads, progress, move |options| {
        let mut report = None;
        verify_many([Check::new(checked, path)], options, |_, result| report = Some(result));
        report
    })?;
    match report {
        Some(Ok(report)) => fields(py, &torrent, &report),
        Some(Err(error)) => Err(refused(error).raise(py)),
        None => Err(Failure::System(None, "the check was lost".into(), PathBuf::new()).raise(py)),
    }
}

/// Why a check could not begin.
fn refused(error: VerifyError) -> Failure {
    match error {
        VerifyError::Path { path, error } => of_system(&error, path),
        VerifyError::NotAFolder { path, .. } => {
            let text = "expected a folder, as the torrent has several files, found a file".into();
            Failure::System(None, text, path)
        }
        other => Failure::System(None, other.to_string(), PathBuf::new()),
    }
}

/// The arguments of a Python FileError.
fn trouble(trouble: &FileTrouble) -> (&'static str, Option<i32>, String, OsString, u64) {
    let (kind, number, offset) = match &trouble.trouble {
        Trouble::Outside(_) => ("outside", None, 0),
        Trouble::Open(error) => ("open", error.raw_os_error(), 0),
        Trouble::Read { offset, error } => ("read", error.raw_os_error(), *offset),
        _ => ("not regular", None, 0),
    };
    // The exception has the path in a field of its own.
    let path = format!("{}: ", hashloom_files::paths::display(&trouble.path));
    let text = trouble.to_string();
    let text = text.strip_prefix(&path).unwrap_or(&text).to_string();
    (kind, number, text, trouble.path.clone().into_os_string(), offset)
}

/// The fields of `pyhashloom.torrent.Report`.
fn fields<'py>(py: Python<'py>, torrent: &Torrent, report: &Report) -> PyResult<Bound<'py, PyTuple>> {
    let pieces: Vec<&str> = report.pieces.iter().map(|piece| piece.name()).collect();
    let files: Vec<_> = torrent
        .files()
        .zip(&report.files)
        .map(|(file, found)| {
            let difference = found.difference.map(|difference| difference.name());
            (PyBytes::new(py, file.path), file.nbytes, found.state.name(), found.found_nbytes, difference)
        })
        .collect();
    let troubles: Vec<_> = report.troubles.iter().map(trouble).collect();
    let whole = (report.is_complete(), report.nbytes_read, report.elapsed.as_secs_f64());
    (
        report.content.clone().into_os_string(),
        pieces,
        PyBytes::new(py, report.bitfield().as_bytes()),
        files,
        troubles,
        whole,
    )
        .into_pyobject(py)
}

/// Makes a torrent. Returns its bytes, both info-hashes and the bytes read.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "the options of a torrent, once each")]
fn torrent_create<'py>(
    py: Python<'py>,
    path: PathBuf,
    version: &str,
    piece_nbytes: Option<u64>,
    trackers: Vec<Vec<String>>,
    web_seeds: Vec<String>,
    private: bool,
    source: Option<String>,
    comment: Option<String>,
    date: Option<i64>,
    name: Option<String>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyTuple>> {
    let version = match version {
        "v1" => Version::V1,
        "v2" => Version::V2,
        "hybrid" => Version::Hybrid,
        other => {
            return Err(PyValueError::new_err(format!("unknown version {other:?}: expected 'v1', 'v2' or 'hybrid'")));
        }
    };
    let mut builder = Builder::new().version(version).private(private).created_by("hashloom");
    for tier in trackers {
        builder = builder.tier(tier);
    }
    for url in web_seeds {
        builder = builder.web_seed(url);
    }
    let set = |builder: Builder, value, set: fn(Builder, String) -> Builder| match value {
        Some(value) => set(builder, value),
        None => builder,
    };
    builder = set(builder, source, Builder::source);
    builder = set(builder, comment, Builder::comment);
    builder = set(builder, name, Builder::name);
    if let Some(nbytes) = piece_nbytes {
        builder = builder.piece_nbytes(nbytes);
    }
    if let Some(seconds) = date {
        builder = builder.date(seconds);
    }
    let created =
        work_once(py, threads, progress, move |options| builder.plan(&path).and_then(|plan| plan.create(options)))?;
    match created {
        Ok(created) => {
            let v1 = created.torrent.info_hash_v1().map(|hash| PyBytes::new(py, &hash));
            let v2 = created.torrent.info_hash_v2().map(|hash| PyBytes::new(py, &hash));
            (PyBytes::new(py, &created.bytes), v1, v2, created.nbytes_read).into_pyobject(py)
        }
        Err(CreateError::Path { path, error }) => Err(of_system(&error, path).raise(py)),
        Err(error) => Err(Failure::Torrent(error.to_string(), String::new(), 0).raise(py)),
    }
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Files>()?;
    module.add_function(wrap_pyfunction!(torrent_create, module)?)?;
    module.add_function(wrap_pyfunction!(torrent_verify, module)?)
}
