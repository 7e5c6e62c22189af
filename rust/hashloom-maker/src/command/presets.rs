// SPDX-License-Identifier: MIT OR Apache-2.0

//! Options of `torrent create` from files: presets, batches, and the rules of trackers. Presets and batches are those
//! of mkbrr.
//!
//! Layers fill in what no layer above has set: command line, job, preset, `default`, and the rule of the first tracker.

use std::env;
use std::path::{Path, PathBuf};

use hashloom_files::walk::Filter;
use hashloom_frame::numbers::{Nbytes, from_one};
use hashloom_frame::text::display;
use hashloom_torrent::Version;

use super::Date;
use super::create::{Create, PieceLength};
use super::yaml::{self, Node};
use crate::Builder;

const RULES: &str = "source, piece_lengths, max_piece_length, max_torrent_size";
const PRESETS: &str = "trackers, webseeds, private, source, comment, format, piece_length, target_piece_count, \
    max_piece_length, max_torrent_size, include_patterns, exclude_patterns, output_dir, skip_prefix, no_date, \
    no_creator, entropy, fail_on_season_warning, workers";
const JOBS: &str = "path, output, trackers, webseeds, private, source, comment, format, piece_length, \
    target_piece_count, max_piece_length, max_torrent_size, include_patterns, exclude_patterns, skip_prefix, no_date, \
    no_creator, entropy, fail_on_season_warning, workers";

/// The torrents of a call: one set of options for all paths, or one for each job of a batch.
pub fn jobs(arguments: &Create) -> Result<Vec<Create>, String> {
    let found = match (&arguments.preset_file, &arguments.preset) {
        (Some(file), _) => Some(file.clone()),
        (None, Some(name)) => {
            let places = places();
            let found = places.iter().find(|place| place.exists()).cloned();
            let all = || places.iter().map(|place| display(place)).collect::<Vec<_>>().join(", ");
            Some(found.ok_or_else(|| format!("--preset {name}: there is none of {}. Give --preset-file", all()))?)
        }
        (None, None) => None,
    };
    // Rules are those of the user: a folder from elsewhere must not bring its own unless it is asked for.
    let own = home().map(|home| home.join(".config/hashloom/presets.yaml")).filter(|own| own.exists());
    let own = own.filter(|own| found.as_ref() != Some(own));
    let presets = found.as_deref().map(|file| document(file, "presets")).transpose()?;
    let own = own.as_deref().map(|file| document(file, "presets")).transpose()?;
    let batch = arguments.batch.as_deref().map(|file| document(file, "jobs")).transpose()?;

    let mut jobs = Vec::new();
    match &batch {
        Some(batch) => {
            let list = batch.get("jobs")?.ok_or_else(|| batch.error("expected the key jobs, a list of torrents"))?;
            for node in list.list()? {
                let mut job = arguments.clone();
                job.origin = Some(node.error(""));
                job.fill(node, JOBS)?;
                if job.paths.is_empty() || job.output.is_none() {
                    return Err(node.error("expected a job with path and output"));
                }
                jobs.push(job);
            }
            if jobs.is_empty() {
                return Err(list.error("expected at least one job"));
            }
        }
        None => jobs.push(arguments.clone()),
    }
    for job in &mut jobs {
        if let (Some(name), Some(presets)) = (&arguments.preset, &presets) {
            job.fill_preset(presets, name)?;
        }
        if job.like.is_none() && (batch.is_some() || arguments.preset.is_some()) {
            // mkbrr makes these.
            job.v1 |= !job.v2 && !job.hybrid;
            job.private.get_or_insert(arguments.preset.is_some());
        }
        for rules in presets.iter().chain(&own) {
            job.fill_rule(rules)?;
        }
        if job.like.is_some() {
            // The pieces are those of the other torrent.
            (job.piece_length, job.max_piece_length) = (None, None);
        }
    }
    Ok(jobs)
}

/// Reads a file whose version is 1.
fn document<'a>(file: &'a Path, what: &str) -> Result<Node<'a>, String> {
    let node = yaml::read(file)?;
    for (key, _) in node.pairs()? {
        let known = matches!(key.text()?, "version" | "default" | "trackers") && what == "presets";
        if !known && !matches!(key.text()?, "version") && key.text()? != what && !key.text()?.starts_with("x-") {
            let known = if what == "presets" { "version, default, presets, trackers" } else { "version, jobs" };
            return Err(key.error(format_args!("expected one of {known}, found {}", quoted(key.text()?))));
        }
    }
    match node.get("version")? {
        Some(version) if version.text()? == "1" => Ok(node),
        Some(version) => Err(version.error("expected version 1. A later version needs a later hashloom")),
        None => Err(node.error("expected the key version. Add the line \"version: 1\"")),
    }
}

fn quoted(text: &str) -> String {
    hashloom_files::text::quoted(text.as_bytes()).to_string()
}

fn home() -> Option<PathBuf> {
    let variable = if cfg!(windows) { "USERPROFILE" } else { "HOME" };
    env::var_os(variable).filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The files that may have presets; the first one counts.
fn places() -> Vec<PathBuf> {
    let below = [".config/hashloom/presets.yaml", ".config/mkbrr/presets.yaml", ".mkbrr/presets.yaml"];
    let of_home = home().into_iter().flat_map(|home| below.map(|place| home.join(place)));
    std::iter::once(PathBuf::from("presets.yaml")).chain(of_home).collect()
}

/// Sets what nothing has set.
fn or<T>(place: &mut Option<T>, value: Result<T, String>) -> Result<(), String> {
    place.get_or_insert(value?);
    Ok(())
}

fn or_all<T>(place: &mut Vec<T>, values: Result<Vec<T>, String>) -> Result<(), String> {
    values.map(|values| {
        if place.is_empty() {
            *place = values
        }
    })
}

/// The least piece, and the longest: 2^14 to 2^28 bytes. Files of mkbrr give the exponent.
fn piece_length(text: &str) -> Result<PieceLength, String> {
    let length = match text.parse::<u32>() {
        Ok(shift @ 14..=28) => PieceLength(1 << shift),
        _ => text.parse().map_err(|error| format!("{error}, or an exponent of 2 from 14 to 28"))?,
    };
    valid(Builder::new().version(Version::V1).piece_nbytes(length.0)).map(|()| length)
}

/// Whether a torrent could have this, such as a tracker.
fn valid(builder: Builder) -> Result<(), String> {
    builder.draft(None, [("x", 1)]).map(drop).map_err(|error| error.to_string())
}

/// URLs, each with its own error.
fn urls(node: &Node<'_>, add: fn(Builder, &str) -> Builder) -> Result<Vec<String>, String> {
    let url = |node: &Node<'_>| node.parsed(|text| valid(add(Builder::new(), text)).map(|()| text.to_owned()));
    node.list()?.iter().map(url).collect()
}

/// Patterns that are globs.
fn globs(node: &Node<'_>) -> Result<Vec<String>, String> {
    let globs = |text: &str| {
        let globs = patterns(text);
        Filter::new(&globs, &[]).map(|_| globs).map_err(|error| error.to_string())
    };
    node.list()?.iter().map(|node| node.parsed(globs)).collect::<Result<Vec<_>, _>>().map(|all| all.concat())
}

fn nbytes(text: &str) -> Result<Nbytes, String> {
    text.parse()
}

impl Create {
    fn fill_preset(&mut self, presets: &Node<'_>, name: &str) -> Result<(), String> {
        let map = presets.get("presets")?.ok_or_else(|| presets.error("expected the key presets"))?;
        let preset = map.pairs()?.iter().find(|(key, _)| key.text().is_ok_and(|key| key == name));
        let Some((_, preset)) = preset else {
            let names: Vec<&str> = map.pairs()?.iter().map(|(key, _)| key.text()).collect::<Result<_, _>>()?;
            let names = hashloom_files::text::shown(names.join(", ").as_bytes()).to_string();
            return Err(map.error(format_args!("there is no preset {}. These are here: {names}", quoted(name))));
        };
        self.has_preset = true;
        if !preset.is_null() {
            self.fill(preset, PRESETS)?;
        }
        presets.get("default")?.map_or(Ok(()), |default| self.fill(default, PRESETS))
    }

    /// Fills in the rule of the first tracker, if the file has one for it.
    fn fill_rule(&mut self, rules: &Node<'_>) -> Result<(), String> {
        let first = self.trackers.first().and_then(|tier| tier.split(',').next());
        let (Some(first), Some(rules)) = (first.map(str::to_owned), rules.get("trackers")?) else { return Ok(()) };
        for (key, rule) in rules.pairs()? {
            if is_for(key.text()?, &first) {
                self.fill(rule, RULES)?;
            }
        }
        Ok(())
    }

    fn fill(&mut self, map: &Node<'_>, known: &str) -> Result<(), String> {
        let has_version = self.v1 || self.v2 || self.hybrid;
        let has_date = self.date.is_some() || self.no_date;
        for (key, node) in map.pairs()? {
            let name = key.text()?;
            if !known.split(", ").any(|known| known == name) {
                return Err(key.error(format_args!("expected one of {known}, found {}", quoted(name))));
            }
            // mkbrr takes an empty text, and the number 0, as not given.
            let is_number = matches!(name, "piece_length" | "max_piece_length" | "target_piece_count" | "workers");
            let is_text = matches!(name, "path" | "output" | "source" | "comment" | "output_dir");
            if node.is_null() || node.text().is_ok_and(|text| is_text && text.is_empty() || is_number && text == "0") {
                continue;
            }
            match name {
                "path" => self.paths = vec![node.text()?.into()],
                "output" => {
                    let mut output = node.text()?.to_owned();
                    if !output.ends_with(".torrent") {
                        output.push_str(".torrent");
                    }
                    or(&mut self.output, Ok(output.into()))?;
                }
                "trackers" => or_all(&mut self.trackers, urls(node, |builder, url| builder.tier(url.split(','))))?,
                "webseeds" => or_all(&mut self.web_seeds, urls(node, |builder, url| builder.web_seed(url)))?,
                "private" => or(&mut self.private, node.is_true())?,
                "source" => or(&mut self.source, node.text().map(str::to_owned))?,
                "comment" => or(&mut self.comment, node.text().map(str::to_owned))?,
                "format" => {
                    let version = node.parsed(|text| match text {
                        "v1" => Ok(Version::V1),
                        "v2" => Ok(Version::V2),
                        "hybrid" => Ok(Version::Hybrid),
                        _ => Err("expected v1, v2 or hybrid".into()),
                    })?;
                    if !has_version {
                        self.v1 = version == Version::V1;
                        self.v2 = version == Version::V2;
                        self.hybrid = version == Version::Hybrid;
                    }
                }
                "piece_length" => or(&mut self.piece_length, node.parsed(piece_length))?,
                "piece_lengths" => {
                    let row = |(key, node): &(Node<'_>, Node<'_>)| {
                        let most =
                            key.parsed(|text| if text == "more" { Ok(Nbytes(u64::MAX)) } else { nbytes(text) })?;
                        Ok((most.0, node.parsed(piece_length)?.0))
                    };
                    or_all(&mut self.piece_table, node.pairs()?.iter().map(row).collect())?;
                    self.piece_table.sort_unstable();
                }
                "max_piece_length" => or(&mut self.max_piece_length, node.parsed(piece_length))?,
                "max_torrent_size" => or(&mut self.max_torrent_size, node.parsed(nbytes))?,
                "include_patterns" => or_all(&mut self.include_patterns, globs(node))?,
                "exclude_patterns" => or_all(&mut self.exclude_patterns, globs(node))?,
                "output_dir" if self.output.is_some() => {}
                "output_dir" => or(&mut self.output_dir, node.text().map(PathBuf::from))?,
                "skip_prefix" => or(&mut self.skip_prefix, node.is_true())?,
                "no_date" => match node.is_true()? {
                    _ if has_date => {}
                    true => self.no_date = true,
                    false => self.date = Some(Date::Now),
                },
                "entropy" => or(&mut self.entropy, node.is_true())?,
                "target_piece_count" | "no_creator" | "fail_on_season_warning" => {
                    let asks = if name == "target_piece_count" { true } else { node.is_true()? };
                    let warning =
                        asks.then(|| key.error(format_args!("{name} is ignored: hashloom has no such option")));
                    self.ignored.entry(name.to_owned()).or_insert(warning);
                }
                "workers" => self.threads.or(node.parsed(from_one)?),
                _ => return Err(key.error("this key has no meaning here")),
            }
        }
        Ok(())
    }
}

/// Whether a rule for a host, or for the beginning of a URL, is one for this tracker.
fn is_for(rule: &str, url: &str) -> bool {
    if rule.contains("://") {
        return url.starts_with(rule);
    }
    let host = host(url);
    host.strip_suffix(&*rule.to_ascii_lowercase()).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// The host of a URL, without a port.
fn host(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    authority.split(':').next().unwrap_or_default().to_ascii_lowercase()
}

/// mkbrr's prefix of the name of a torrent for one tracker: `example` of `https://www.tracker.example.org/announce`.
pub fn prefix(url: &str) -> String {
    let host = host(url);
    let labels: Vec<&str> = host.trim_start_matches("www.").split('.').collect();
    labels[labels.len().saturating_sub(2)].to_owned()
}

/// mkbrr's patterns: commas outside of braces separate them; `\` is `/`.
fn patterns(group: &str) -> Vec<String> {
    let mut patterns = Vec::new();
    let (mut depth, mut start) = (0_i32, 0);
    for (at, char) in group.char_indices().chain([(group.len(), ',')]) {
        match char {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth <= 0 || at == group.len() => {
                patterns.push(group[start..at].trim().replace('\\', "/"));
                start = at + 1;
            }
            _ => {}
        }
    }
    patterns.retain(|pattern| !pattern.is_empty());
    patterns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_prefixes_and_patterns() {
        let url = "https://user@www.Tracker.example.org:8443/key/announce";
        for rule in ["example.org", "tracker.example.org", "https://user@www.Tracker.example.org:8443/key"] {
            assert!(is_for(rule, url), "{rule}");
        }
        for rule in ["ample.org", "example.com", "http://", "key"] {
            assert!(!is_for(rule, url), "{rule}");
        }
        // mkbrr's GetDomainPrefix gives the same.
        for (url, name) in [(url, "example"), ("udp://a.example:80", "a"), ("http://localhost/x", "localhost")] {
            assert_eq!(prefix(url), name);
        }
        assert_eq!(patterns("*.nfo, *.{jpg,png}, extras\\*,"), ["*.nfo", "*.{jpg,png}", "extras/*"]);
    }
}
