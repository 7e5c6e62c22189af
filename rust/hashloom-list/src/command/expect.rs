// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum --expect`: compares a file with a digest that somebody has copied.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use hashloom::Algorithm;
use hashloom_files::paths::portable;
use hashloom_files::{Event, Hashed, Method, Request, Source, Step, hash_steps};
use hashloom_frame::quote::quoted;
use hashloom_frame::work::Reading;

use super::crc::Crcs;
use super::front::{self, End};
use super::summing::{nbytes_of, source, trouble};
use super::verdict::Verdict;
use crate::{Entry, read_digest};

/// Returns the exit status.
pub fn run(text: &str, path: PathBuf, json: bool, work: &Reading) -> Result<u8, String> {
    let expected = read_digest(text).map_err(|error| format!("--expect: {error}"))?;
    let crcs = (!expected.crcs.is_empty()).then(|| Crcs::new(expected.crcs.clone(), None));
    let name = portable(&path).into_owned();
    let of_bar = path.clone();
    front::run(
        std::slice::from_ref(&path),
        work.checking(true),
        move || nbytes_of(&source(of_bar)),
        |options, console| {
            let source = match &crcs {
                Some(crcs) => Source::reader(crcs.reader(path.clone())),
                None => source(path.clone()),
            };
            let methods = expected.digests.iter().map(|&(algorithm, _)| Method::from(algorithm)).collect();
            let step = Step::<(), ()>::Hash(Request { source, methods, tag: () });
            let quotes = io::stdout().is_terminal();
            let tell = |verdict: Verdict, names: &[String]| {
                let names = names.join(if json { "," } else { ", " });
                console.print(|lines| match verdict {
                    Verdict::Ok if !json => verdict.write_noted(lines, &name, names.as_bytes(), quotes),
                    _ => verdict.write_named(lines, &name, names, json, quotes),
                });
            };
            let say = |what: String| console.message(&[&quoted(&name)[..], b": ", what.as_bytes()].concat());
            let mut end = End::Cancelled;
            let is_done = hash_steps(std::iter::once(step), options, |event| match event {
                Event::Hashed(_, Ok(hashed)) => {
                    let found = Compared::new(&expected, crcs.as_ref(), &hashed);
                    end = End::of(found.is_right);
                    tell(if found.is_right { Verdict::Ok } else { Verdict::Failed }, &found.names);
                    found.remarks.into_iter().for_each(say);
                }
                Event::Hashed(_, Err(error)) => {
                    console.message(&trouble(&name, error.io()));
                    let names: Vec<_> = expected.digests.iter().map(|(algorithm, _)| algorithm.to_string()).collect();
                    tell(Verdict::of_error(&error), &names);
                    end = End::of_error(&error);
                }
                Event::Note(()) => {}
            });
            if is_done { end } else { End::Cancelled }
        },
    )
}

/// A file beside the digest that was expected.
struct Compared {
    is_right: bool,
    /// The algorithms by which the file is right; if it is wrong, those that were tried.
    names: Vec<String>,
    remarks: Vec<String>,
}

impl Compared {
    fn new(expected: &Entry<'_>, crcs: Option<&Crcs>, hashed: &Hashed) -> Compared {
        let pairs = || expected.digests.iter().zip(&hashed.digests).map(|((of, listed), found)| (*of, listed, found));
        let by: Vec<Algorithm> = pairs().filter(|(_, listed, found)| listed == found).map(|(of, ..)| of).collect();
        let has_digests =
            if expected.is_any && crcs.is_none() { !by.is_empty() } else { by.len() == expected.digests.len() };
        let has_crcs = crcs.is_none_or(Crcs::are_right);
        let is_right = has_digests && has_crcs && !(by.is_empty() && crcs.is_none());
        let of_crcs = || expected.crcs.iter().map(|(crc, _)| crc.tag().to_lowercase());
        let tried = || expected.digests.iter().map(|(of, _)| of.to_string()).chain(of_crcs());
        let names: Vec<_> =
            if is_right { by.iter().map(Algorithm::to_string).chain(of_crcs()).collect() } else { tried().collect() };
        let is_weak = by.iter().all(|of| matches!(of, Algorithm::Md5 | Algorithm::Sha1));
        let mut remarks = Vec::new();
        if is_right && is_weak {
            let find = if names.len() == 1 { "finds" } else { "find" };
            let names = names.join(" and ");
            remarks.push(format!("{names} {find} accidents, but not each change that was made on purpose"));
        } else if !is_right && !expected.is_tagged {
            remarks.push(format!("it has this digest by none of {}", names.join(", ")));
        } else if !is_right {
            let wrong = pairs().filter(|(_, listed, found)| listed != found);
            remarks.extend(wrong.map(|(of, _, found)| format!("its {of} is {found}")));
            remarks.dedup();
            remarks
                .extend((!has_crcs).then(|| format!("it has another {}", of_crcs().collect::<Vec<_>>().join(" or "))));
        }
        Compared { is_right, names, remarks }
    }
}
