// SPDX-License-Identifier: MIT OR Apache-2.0

//! A manual page of a command, in the macros of man(7).
//!
//! clap_mangen writes the parts that clap knows the structure of. The text after them, `after_long_help`, is broken
//! into lines for terminals: its sections become sections, its two columns a list, its examples stay as they are. It
//! must look like this:
//!
//! ```text
//! Title of a section:
//!   term   what it means, in
//!          two lines
//!   A paragraph, whose lines are filled anew.
//!
//! A paragraph at the margin belongs to the description.
//!
//! Examples:
//!   hashloom ...
//! ```
//!
//! Then characters are spelled such that every man program shows the ASCII ones as they are, to be copied, and needs to
//! know no encoding for the others.

use std::fmt::Write;

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// Of these pages: month and day are for people, nothing depends on them.
const DATE: &str = "2026-11-21";

/// `command` has been built; `above` are the names of the pages that lead to it.
pub fn of(command: &Command, above: &[String]) -> String {
    let source = concat!("hashloom ", env!("CARGO_PKG_VERSION"));
    let title = name(command).to_uppercase();
    let manual = "User Commands";
    let man = Man::new(command.clone().mut_args(with_values)).title(title).date(DATE).source(source).manual(manual);
    let notes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let notes = Notes::parse(&notes);

    let mut rendered = Vec::new();
    // Writing to a vector does not fail.
    let _ = man.render_title(&mut rendered);
    // Names of options and commands are not to be torn apart.
    let _ = Roff::new().control("nh", []).control("ad", ["l"]).to_writer(&mut rendered);
    let _ = man.render_name_section(&mut rendered);
    let _ = synopsis(command).to_writer(&mut rendered);
    let _ = man.render_description_section(&mut rendered);
    let mut roff = Roff::new();
    for text in &notes.paragraphs {
        roff.control("PP", []).text([roman(text)]);
    }
    let _ = roff.to_writer(&mut rendered);
    if command.get_arguments().next().is_some() {
        let _ = man.render_options_section(&mut rendered);
    }
    let mut roff = Roff::new();
    let below: Vec<&Command> = subcommands(command).collect();
    if !below.is_empty() {
        roff.control("SH", ["COMMANDS"]);
        for command in &below {
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            roff.control("TP", []).text([bold(name(command)), roman("(1)")]).text([roman(about)]);
        }
    }
    for section in &notes.sections {
        section.render(&mut roff);
    }
    see_also(&mut roff, above.iter().map(String::as_str).chain(below.iter().map(|command| name(command))));
    let _ = roff.to_writer(&mut rendered);
    portable(&String::from_utf8_lossy(&rendered))
}

/// The usage as `--help` has it: clap_mangen would name every option.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let program = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]).control("nf", []);
    for line in usage.trim_start_matches("Usage:").lines() {
        let line = line.trim();
        let program = Some(program).filter(|program| line.starts_with(program)).unwrap_or_default();
        roff.text([bold(program), roman(&line[program.len()..])]);
    }
    roff.control("fi", []);
    roff
}

/// Names the values that an option can have in its text, where they have no texts of their own, not in a list.
fn with_values(arg: Arg) -> Arg {
    let values = arg.get_possible_values();
    // A switch has the values true and false.
    if values.is_empty() || !arg.get_action().takes_values() || values.iter().any(|value| value.get_help().is_some()) {
        return arg;
    }
    let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = format!("{help} [possible values: {}]", values.join(", "));
    arg.long_help(help).hide_possible_values(true)
}

/// A command for a page, of the help text of a program that clap does not parse the options of: a usage, what it is,
/// paragraphs, and lists of options, with a title or without.
pub fn command_of_help(program: &'static str, help: &str) -> Command {
    let (usage, rest) = help.split_once('\n').unwrap_or((help, ""));
    let (about, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut options = String::from("Options:");
    let mut notes = Vec::new();
    for block in rest.trim_matches('\n').split("\n\n") {
        // Long options begin where those with a letter would have theirs.
        let block = block.replace("      --", "  --");
        if block.starts_with(' ') {
            options = options + "\n" + &block;
        } else {
            notes.push(block);
        }
    }
    // clap does not add options of its own to those.
    let command = Command::new(program).about(about.trim_end_matches('.').to_owned()).disable_help_flag(true);
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command.override_usage(usage).after_long_help(options + "\n\n" + &notes.join("\n\n"))
}

/// Those that have a page.
pub fn subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

fn see_also<'a>(roff: &mut Roff, names: impl Iterator<Item = &'a str>) {
    let mut line = Vec::new();
    for name in names {
        if !line.is_empty() {
            line.push(roman("(1), "));
        }
        line.push(bold(name));
    }
    if !line.is_empty() {
        line.push(roman("(1)"));
        roff.control("SH", ["SEE ALSO"]).text(line);
    }
}

/// What stands in `after_long_help`.
struct Notes {
    /// Those at the margin.
    paragraphs: Vec<String>,
    sections: Vec<Section>,
}

struct Section {
    title: String,
    /// Without the indentation by two that all have.
    lines: Vec<String>,
}

impl Notes {
    fn parse(text: &str) -> Notes {
        let mut notes = Notes { paragraphs: Vec::new(), sections: Vec::new() };
        let mut blocks = Vec::new();
        for block in text.split("\n\n").filter(|block| !block.is_empty()) {
            // Within a section blank lines may stand between indented ones.
            match blocks.last_mut() {
                Some(last) if block.starts_with("  ") => *last = format!("{last}\n\n{block}"),
                _ => blocks.push(block.to_owned()),
            }
        }
        for block in &blocks {
            match block.split_once(":\n  ") {
                Some((title, body)) if !title.contains('\n') => notes.sections.push(Section {
                    title: title.to_owned(),
                    lines: format!("  {body}").lines().map(|line| line.get(2..).unwrap_or("").to_owned()).collect(),
                }),
                _ => notes.paragraphs.push(block.lines().collect::<Vec<_>>().join(" ")),
            }
        }
        notes
    }
}

impl Section {
    fn render(&self, roff: &mut Roff) {
        roff.control("SH", [self.title.to_uppercase().as_str()]);
        if self.title.starts_with("Example") {
            roff.control("nf", []);
            for line in &self.lines {
                roff.text([roman(line)]);
            }
            roff.control("fi", []);
            return;
        }
        let mut lines = self.lines.iter().map(String::as_str).filter(|line| !line.is_empty()).peekable();
        let mut is_first = true;
        while let Some(line) = lines.next() {
            let follows = |next: &&str| indent(next) > 0 && columns(next).is_none();
            // A term that is too long for its column has its text below.
            let row = columns(line).or_else(|| lines.next_if(follows).map(|text| (line, text.trim_start())));
            if let Some((term, text)) = row {
                let mut text = text.to_owned();
                while let Some(more) = lines.next_if(follows) {
                    text = text + " " + more.trim_start();
                }
                roff.control("TP", []).text([bold(term)]).text([roman(text)]);
            } else {
                let mut text = line.to_owned();
                while let Some(more) = lines.next_if(|next| indent(next) == 0 && columns(next).is_none()) {
                    text = text + " " + more;
                }
                if !is_first {
                    roff.control("PP", []);
                }
                roff.text([roman(text)]);
            }
            is_first = false;
        }
    }
}

/// `term   text`, with two blanks between them at least; if there are three anywhere, the term may have two in it.
fn columns(line: &str) -> Option<(&str, &str)> {
    let (term, text) = line.split_once("   ").or_else(|| line.split_once("  "))?;
    (!term.trim().is_empty() && !text.trim().is_empty()).then(|| (term, text.trim_start()))
}

/// Blanks that the line begins with.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// What renders the same everywhere, see the head of this file, and has nothing that `mandoc -T lint` warns of.
fn portable(rendered: &str) -> String {
    let mut page = String::new();
    let mut is_filled = true;
    let mut before = "";
    for (number, line) in rendered.lines().enumerate() {
        let is_control = line.starts_with('.');
        let is_repeated = number > 1 && line.contains(".ds Aq ") || line == ".br" && before == ".br";
        if is_repeated || line.is_empty() && before == ".br" {
            continue;
        }
        before = line;
        match line {
            "" => page.push_str(".sp\n"),
            _ if is_control => {
                is_filled = is_filled && line != ".nf" || line == ".fi";
                spell(&mut page, line, |_| None);
                page.push('\n');
            }
            _ => text_line(&mut page, line.trim_end(), is_filled),
        }
    }
    page
}

/// If it may be filled, it is broken into lines of 80 characters at most.
fn text_line(page: &mut String, line: &str, is_filled: bool) {
    let mut spelled = String::new();
    spell(&mut spelled, &line.replace(r"\\", r"\(rs"), |character| match character {
        '`' => Some(r"\(ga"),
        '~' => Some(r"\(ti"),
        '^' => Some(r"\(ha"),
        _ => None,
    });
    let mut column = 0;
    for (number, word) in spelled.split(' ').enumerate() {
        // A line that begins with one of these would be a command.
        let may_begin = !word.is_empty() && !word.starts_with(['.', '\'']);
        if is_filled && column + word.len() >= 80 && may_begin {
            page.push('\n');
            column = 0;
        } else if number > 0 {
            page.push(' ');
        }
        page.push_str(word);
        column += word.len() + 1;
    }
    page.push('\n');
}

/// Appends `text` with what `other` spells otherwise, and without characters that are not ASCII.
fn spell(page: &mut String, text: &str, other: impl Fn(char) -> Option<&'static str>) {
    for character in text.chars() {
        match other(character) {
            Some(spelling) => page.push_str(spelling),
            None if character.is_ascii() => page.push(character),
            // Writing to a string does not fail.
            None => drop(write!(page, "\\[u{:04X}]", u32::from(character))),
        }
    }
}
