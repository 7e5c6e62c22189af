// SPDX-License-Identifier: MIT OR Apache-2.0

//! Writes the manual page of a command, in the macros of man(7).
//!
//! clap_mangen writes the parts whose structure clap knows. The text after them, `after_long_help`, is broken into
//! lines for terminals. Its sections become sections of the page, its two columns a list, and its examples stay as they
//! are. The text must look like this:
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
//! The characters are then spelled so that every man program shows the ASCII ones unchanged, ready to be copied, and
//! needs no encoding for the others.

use std::fmt::Write;

use clap::builder::PossibleValue;
use clap::{Arg, Command};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

/// The date of the pages: month and day are for people, nothing depends on them.
const DATE: &str = "2026-11-21";

/// Returns the page. `command` has been built; `above` are the names of the parent pages.
pub fn of(command: &Command, above: &[String]) -> String {
    let source = concat!("hashloom ", env!("CARGO_PKG_VERSION"));
    let title = name(command).to_uppercase();
    let manual = "User Commands";
    let man = Man::new(command.clone().mut_args(with_values)).title(title).date(DATE).source(source).manual(manual);
    let notes = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let notes = Notes::parse(&notes);

    let mut rendered = Vec::new();
    // Writing to a vector cannot fail.
    let _ = man.render_title(&mut rendered);
    // Do not hyphenate names of options and commands.
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

/// Returns the usage as `--help` shows it: clap_mangen would name every option.
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

/// Names the possible values of an option in its text, not in a list, unless a value has a help text of its own.
fn with_values(arg: Arg) -> Arg {
    let values = arg.get_possible_values();
    // A switch has the possible values true and false.
    if values.is_empty() || !arg.get_action().takes_values() || values.iter().any(|value| value.get_help().is_some()) {
        return arg;
    }
    let values: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
    let help = arg.get_long_help().or_else(|| arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let help = format!("{help} [possible values: {}]", values.join(", "));
    arg.long_help(help).hide_possible_values(true)
}

/// Returns the subcommands that have a page.
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

/// The contents of `after_long_help`.
struct Notes {
    /// The paragraphs at the margin.
    paragraphs: Vec<String>,
    sections: Vec<Section>,
}

struct Section {
    title: String,
    /// The lines of the section; the indent of two blanks that all have is removed.
    lines: Vec<String>,
}

impl Notes {
    fn parse(text: &str) -> Notes {
        let mut notes = Notes { paragraphs: Vec::new(), sections: Vec::new() };
        let mut blocks = Vec::new();
        for block in text.split("\n\n").filter(|block| !block.is_empty()) {
            // A section may have blank lines between indented lines.
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
            // A term too long for its column has its text on the next line.
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

/// Splits `term   text`, which have at least two blanks between them. If the line has three blanks in a row anywhere,
/// the term may contain two.
fn columns(line: &str) -> Option<(&str, &str)> {
    let (term, text) = line.split_once("   ").or_else(|| line.split_once("  "))?;
    (!term.trim().is_empty() && !text.trim().is_empty()).then(|| (term, text.trim_start()))
}

/// Returns the number of leading blanks.
fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Spells the page so that it renders the same everywhere (see the head of this file) and `mandoc -T lint` warns of
/// nothing.
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

/// Appends a line of text. If it may be filled, it is broken into lines of at most 80 characters.
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
        // roff would take a line that begins with one of these for a command.
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

/// Appends `text`, with the spellings that `other` gives, and with only ASCII characters.
fn spell(page: &mut String, text: &str, other: impl Fn(char) -> Option<&'static str>) {
    for character in text.chars() {
        match other(character) {
            Some(spelling) => page.push_str(spelling),
            None if character.is_ascii() => page.push(character),
            // Writing to a string cannot fail.
            None => drop(write!(page, "\\[u{:04X}]", u32::from(character))),
        }
    }
}
