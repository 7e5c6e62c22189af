// SPDX-License-Identifier: MIT OR Apache-2.0

//! The programs as commands of clap, for their manual pages and completions.

use clap::{Arg, ArgAction, Command, ValueHint};

use crate::PROGRAMS;

/// The program of this name as a command. Its help text is that of a page, or it has the options that shells complete.
pub fn command(name: &'static str, has_options: bool) -> Command {
    let help = PROGRAMS.iter().find(|(program, _)| *program == name).map(|(_, family)| family.help(name));
    let help = help.unwrap_or_default();
    let command = of_help(name, &help);
    // clap keeps no texts of its own; a program writes its completions once.
    if has_options { command.args(options(help.leak())) } else { command }
}

/// Makes a command, for its page, of the help text of a program whose options clap does not parse. The text has a
/// usage, a line that says what the program does, paragraphs, and lists of options; a list may have a title.
fn of_help(program: &'static str, help: &str) -> Command {
    let (usage, rest) = help.split_once('\n').unwrap_or((help, ""));
    let (about, rest) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut options = String::from("Options:");
    let mut notes = Vec::new();
    for block in rest.trim_matches('\n').split("\n\n") {
        // Move long options to the column of the short ones.
        let block = block.replace("      --", "  --");
        if block.starts_with(' ') {
            options = options + "\n" + &block;
        } else {
            notes.push(block);
        }
    }
    // Keep clap from adding options of its own.
    let command = Command::new(program).about(about.trim_end_matches('.').to_owned()).disable_help_flag(true);
    let usage = usage.trim_start_matches("Usage: ").to_owned();
    command.override_usage(usage).after_long_help(options + "\n\n" + &notes.join("\n\n"))
}

/// The options that a help text lists, and files.
fn options(help: &'static str) -> Vec<Arg> {
    let option = |line: &'static str| {
        let mut words = line.split_whitespace().peekable();
        let mut arg = Arg::new(line).action(ArgAction::SetTrue);
        while let Some(word) = words.next_if(|word| word.starts_with('-')).map(|word| word.trim_end_matches(',')) {
            arg = match word.strip_prefix("--") {
                Some(long) => arg.long(long),
                None => arg.short(word.chars().nth(1)),
            };
        }
        let is_value = |word: &&str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase()) || *word == "N";
        let arg = if words.next_if(is_value).is_some() { arg.action(ArgAction::Set) } else { arg };
        arg.help(words.collect::<Vec<_>>().join(" "))
    };
    let lines = help.lines().filter(|line| line.starts_with("  ") && line.trim_start().starts_with('-'));
    let files = Arg::new("FILE").num_args(0..).value_hint(ValueHint::FilePath);
    lines.map(option).chain([files]).collect()
}
