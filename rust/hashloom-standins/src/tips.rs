// SPDX-License-Identifier: MIT OR Apache-2.0

//! What a wrong command line of hashloom means: words of the programs that it stands in for and of others, and its own.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use hashloom::Algorithm;
use hashloom_files::text::shown;
use hashloom_frame::names;

/// A line has commands of hashloom ("any"; none before the first word), words of other programs there, and what
/// hashloom has. docs/checksums.md has the same lines.
pub const TABLE: &str = include_str!("tips.md");

/// A command line.
struct Typed<'a> {
    program: &'a Command,
    words: &'a [OsString],
    /// The command that it names.
    at: String,
}

/// Puts what the words may mean into an error of clap about a line of `program`, which begins with the name of that.
/// Returns a word that resembles no command: a missing file.
pub fn add(program: &Command, words: &[OsString], error: &mut clap::Error) -> Option<PathBuf> {
    let typed = Typed::new(program, words);
    let group = typed.command().filter(|command| command.has_subcommands() && !typed.at.is_empty());
    let is_there = |word: &str| Path::new(word).symlink_metadata().is_ok();
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let word = text_of(error, ContextKind::InvalidSubcommand);
            let meant = if typed.at.is_empty() { typed.meant_by(&word) } else { vec![] };
            let tip = tip(&typed.at, &word).or_else(|| tip(&typed.at, "PATH").filter(|_| is_there(&word)));
            if !meant.is_empty() || tip.is_some() {
                // clap suggests names with similar letters, such as `tree` for `create`.
                error.remove(ContextKind::SuggestedSubcommand);
            }
            if !meant.is_empty() {
                error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(meant));
            }
            let is_open = tip.is_none() && error.get(ContextKind::SuggestedSubcommand).is_none();
            tip.or_else(|| group.filter(|_| is_open).map(first_of))
        }
        ErrorKind::UnknownArgument => {
            let word = text_of(error, ContextKind::InvalidArg);
            let tip = match word.strip_prefix('-') {
                Some(_) => typed.option(&typed.spelled(word.split('=').next().unwrap_or_default())),
                None => tip(&typed.at, "PATH"),
            };
            // clap's tip is to write `--` before the word: it is no name of a file.
            if !is_there(&word) {
                error.remove(ContextKind::Suggested);
            }
            tip.or_else(|| group.map(first_of))
        }
        ErrorKind::InvalidValue if text_of(error, ContextKind::InvalidArg).contains("--algorithm") => {
            let begun = text_of(error, ContextKind::InvalidValue).to_ascii_lowercase().replace(['-', '_'], "");
            let longer = like(&begun);
            if !longer.is_empty() {
                error.insert(ContextKind::SuggestedValue, ContextValue::Strings(longer));
            }
            tip("", &begun)
        }
        _ => None,
    };
    if let Some(tip) = tip {
        // clap's is an option with similar letters.
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    let is_word = typed.at.is_empty()
        && error.kind() == ErrorKind::InvalidSubcommand
        && [ContextKind::Suggested, ContextKind::SuggestedSubcommand].iter().all(|kind| error.get(*kind).is_none());
    is_word.then(|| text_of(error, ContextKind::InvalidSubcommand).into())
}

/// Refuses an option beside a path for which `command` is to run, and which has no such option.
pub fn refused(program: &Command, words: &[OsString], name: &str, command: &str) -> String {
    let typed = Typed { program, words, at: String::new() };
    let long = typed.spelled(name);
    let tip =
        typed.option(&long).or_else(|| tip(command, &long)).map_or(String::new(), |tip| format!("  tip: {tip}\n\n"));
    // Its value may be a secret.
    let mut typed = words.iter().filter_map(|word| word.as_encoded_bytes().split(|byte| *byte == b'=').next());
    let word = shown(typed.find(|word| word.starts_with(name.as_bytes())).unwrap_or(name.as_bytes()));
    format!("unexpected argument '{word}' found\n\n{tip}For more information, try '--help'.")
}

fn text_of(error: &clap::Error, kind: ContextKind) -> String {
    error.get(kind).map(ToString::to_string).unwrap_or_default()
}

/// The first words of a line, as far as they are a command.
pub fn command_of(program: &Command, words: &[OsString]) -> String {
    Typed::new(program, words).at
}

/// The lines of the table.
pub fn rows() -> impl Iterator<Item = (&'static str, &'static str, String)> {
    TABLE.lines().filter_map(|line| {
        let mut columns = line.strip_prefix("| ")?.strip_suffix(" |")?.splitn(3, " | ");
        Some((columns.next()?, columns.next()?, columns.next()?.replace("\\|", "|")))
    })
}

/// The words of a column, without the marks around them.
pub fn words_of(column: &'static str, between: &'static str) -> impl Iterator<Item = &'static str> {
    column.split(between).map(|word| word.trim_matches('`'))
}

/// What hashloom has for the word of another program.
fn tip(at: &str, word: &str) -> Option<String> {
    let is_it = |their: &str| their == word || !word.starts_with('-') && their.eq_ignore_ascii_case(word);
    let is_here = |command: &str| command == at || command == "any";
    rows().find(|row| words_of(row.0, ", ").any(is_here) && words_of(row.1, " ").any(is_it)).map(|row| row.2)
}

/// The algorithms whose names begin so: sha3 is not sha384, and shasum's 256 is sha256.
fn like(begun: &str) -> Vec<String> {
    let is_family = |name: &&str| name.strip_prefix(begun).is_some_and(|rest| rest.starts_with('-'));
    let is_longer = |name: &&str| begun.len() > 2 && name.replace('-', "").starts_with(begun);
    let is_number = |name: &&str| name.strip_prefix("sha") == Some(begun);
    let those = |is_it: &dyn Fn(&&str) -> bool| -> Vec<String> {
        Algorithm::ALL.iter().map(|algorithm| algorithm.name()).filter(is_it).map(ToOwned::to_owned).collect()
    };
    let tries = [those(&is_number), those(&is_family), those(&is_longer)];
    tries.into_iter().find(|names| !names.is_empty()).unwrap_or_default()
}

/// What a group of commands begins with.
fn first_of(group: &Command) -> String {
    let names: Vec<_> = group.get_subcommands().map(Command::get_name).filter(|name| *name != "help").collect();
    let (last, others) = names.split_last().unwrap_or((&"", &[]));
    format!("first comes what to do: {} or {last}", others.join(", "))
}

/// The option of a command that is written so.
pub fn option<'a>(command: &'a Command, name: &str) -> Option<&'a Arg> {
    let letter = name.strip_prefix('-')?.chars().next()?;
    let short = Some(letter).filter(|letter| *letter != '-');
    command.get_arguments().find(|arg| match short {
        Some(short) => arg.get_short_and_visible_aliases().is_some_and(|names| names.contains(&short)),
        None => arg.get_long_and_visible_aliases().is_some_and(|names| names.contains(&&name[2..])),
    })
}

/// Whether a command has an option, which is written so.
pub fn has(command: &Command, name: &str) -> bool {
    option(command, name).is_some()
}

/// All commands below one, and their names in a line.
pub fn below<'a>(command: &'a Command, path: &str) -> Vec<(String, &'a Command)> {
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help").flat_map(|inner| {
        let path = format!("{path} {}", inner.get_name());
        let further = below(inner, &path);
        [vec![(path, inner)], further].concat()
    });
    inner.collect()
}

impl<'a> Typed<'a> {
    fn new(program: &'a Command, words: &'a [OsString]) -> Typed<'a> {
        let (mut command, mut names) = (program, Vec::new());
        for word in words.iter().skip(1) {
            let Some(inner) = word.to_str().and_then(|word| command.find_subcommand(word)) else { break };
            names.push(inner.get_name());
            command = inner;
        }
        let at = names.join(" ");
        Typed { program, words, at }
    }

    fn command(&self) -> Option<&'a Command> {
        self.at.split_whitespace().try_fold(self.program, |command, name| command.find_subcommand(name))
    }

    /// The option that was typed: of `-sha256` and `-Algorithm` clap takes the first letter for one.
    fn spelled(&self, name: &str) -> String {
        let long = |word: &OsString| {
            let word = word.to_str()?.split('=').next().filter(|word| word.len() > 2 && word.starts_with(name))?;
            let long = format!("--{}", word.trim_start_matches('-').to_ascii_lowercase());
            let is_option = || below(self.program, "").iter().any(|(_, command)| has(command, &long));
            (long != word && (names::algorithm(&long[2..]).is_some() || is_option())).then_some(long)
        };
        self.words.iter().find_map(long).unwrap_or_else(|| name.to_owned())
    }

    /// What an option may mean that the command has not.
    fn option(&self, name: &str) -> Option<String> {
        let commands = below(self.program, "");
        let here = self.command().filter(|command| !command.has_subcommands());
        let own = |path: &str| path[1..].starts_with(&self.at) && here.is_none();
        let those = |is_wanted: &dyn Fn(&str) -> bool| {
            let have = commands.iter().filter(|(path, command)| is_wanted(path) && has(command, name));
            let have: Vec<_> = have.take(4).map(|(path, _)| format!("`hashloom{path}`")).collect();
            let behind = if here.is_none() { ", behind the command" } else { "" };
            (!have.is_empty()).then(|| format!("{name} is an option of {}{behind}", have.join(", ")))
        };
        let told = |tip: String| format!("hashloom's for {name}: {tip}");
        let of_algorithm = || {
            let of = names::algorithm(name.strip_prefix("--")?)?;
            let takes = |command: &&Command| has(command, "--algorithm");
            let path =
                commands.iter().find(|(path, command)| own(path) && takes(command)).map_or(" sum", |(path, _)| path);
            Some(told(match here.filter(takes) {
                Some(_) => format!("--algorithm {of}"),
                None => format!("`hashloom{path} --algorithm {of}`"),
            }))
        };
        let of_group = || {
            let (path, tip) = commands
                .iter()
                .filter(|(path, _)| own(path))
                .find_map(|(path, _)| Some((path, tip(&path[1..], name)?)))?;
            Some(format!("{name} of `hashloom{path}`: {tip}"))
        };
        let verb = || {
            let word = name.strip_prefix("--")?;
            let verb = self.command()?.find_subcommand(word).map(Command::get_name);
            let meant = verb.map(|verb| vec![format!("{} {verb}", self.at).trim().to_owned()]);
            let meant = meant.unwrap_or_else(|| self.meant_by(word));
            let meant = meant.iter().map(|line| format!("`hashloom {line}`")).collect::<Vec<_>>().join(", ");
            if meant.is_empty() { tip(&self.at, word) } else { Some(told(meant)) }
        };
        if here.is_some_and(|here| has(here, name)) {
            return Some(format!("it is written {name}"));
        }
        // The command may come behind its option.
        let inner = |word: &OsString| self.command()?.find_subcommand(word.to_str()?);
        if let Some(later) = self.words.iter().find_map(inner).filter(|later| here.is_none() && has(later, name)) {
            let line = format!("{} {} {name}", self.at, later.get_name());
            return Some(format!("options stand behind the command: `hashloom {}`", line.trim()));
        }
        let is_group = here.is_none() && !self.at.is_empty();
        let first = || those(&own).filter(|_| is_group);
        let last = || those(&|_| true).filter(|_| name.starts_with("--"));
        first()
            .or_else(|| tip(&self.at, name).map(told))
            .or_else(|| those(&own))
            .or_else(of_algorithm)
            .or_else(|| verb().filter(|_| here.is_none()))
            .or_else(of_group)
            .or_else(last)
    }

    /// Returns the commands that a user may have meant who left out the first words of a command, or named an
    /// algorithm.
    fn meant_by(&self, name: &str) -> Vec<String> {
        let commands = below(self.program, "").into_iter();
        let is_it =
            |command: &Command| command.get_name() == name || command.get_all_aliases().any(|alias| alias == name);
        let mut meant: Vec<_> =
            commands.filter(|(_, command)| is_it(command)).map(|(path, _)| path[1..].to_owned()).collect();
        let is_check = self.words.iter().any(|word| word == "-c" || word == "--check");
        let command = if is_check { "check" } else { "sum" };
        let name = name.strip_suffix("sum").unwrap_or(name);
        let of = names::algorithm(name).map_or_else(|| like(name), |of| vec![of.to_string()]);
        meant.extend(of.into_iter().map(|of| format!("{command} --algorithm {of}")));
        meant
    }
}
