// SPDX-License-Identifier: MIT OR Apache-2.0

//! Colours, if the output is a terminal that has them, and the characters that its locale can show.

use std::fmt::Display;

use console::{StyledObject, style};

/// The beginning of an error on standard error.
pub fn error() -> StyledObject<&'static str> {
    style("hashloom:").for_stderr().red().bold()
}

/// The beginning of a note on standard error.
pub fn note() -> StyledObject<&'static str> {
    style("hashloom:").for_stderr().dim()
}

/// The beginning of a warning on standard error.
pub fn warning() -> StyledObject<&'static str> {
    style("hashloom: warning:").for_stderr().yellow().bold()
}

pub fn good<D: Display>(text: D) -> StyledObject<D> {
    style(text).green()
}

pub fn bad<D: Display>(text: D) -> StyledObject<D> {
    style(text).red()
}

pub fn partial<D: Display>(text: D) -> StyledObject<D> {
    style(text).yellow()
}

pub fn dim<D: Display>(text: D) -> StyledObject<D> {
    style(text).dim()
}

pub fn bold<D: Display>(text: D) -> StyledObject<D> {
    style(text).bold()
}

/// Breaks a line behind commas and semicolons so that it fits a terminal, if standard output is one. The lines that
/// follow are indented.
pub fn fitted(line: &str) -> String {
    let terminal = console::Term::stdout();
    match terminal.size_checked().filter(|_| terminal.is_term()) {
        Some((_, columns)) => fitted_in(line, columns.into()),
        None => line.to_owned(),
    }
}

fn fitted_in(line: &str, columns: usize) -> String {
    let (mut fitted, mut width) = (String::new(), 0);
    for part in line.split_inclusive([',', ';']) {
        let nchars = console::measure_text_width(part);
        if width > 0 && width + nchars > columns {
            fitted += "\n ";
            width = 1;
        }
        fitted += part;
        width += nchars;
    }
    fitted
}

/// Returns true if the locale's characters are UTF-8. POSIX: the first of these variables that is set and not empty
/// counts.
pub fn is_utf8() -> bool {
    if cfg!(windows) {
        return true;
    }
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|name| {
        let value = std::env::var(name).ok()?;
        (!value.is_empty()).then_some(value)
    });
    locale.is_some_and(|locale| {
        let locale = locale.to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use super::fitted_in;

    #[test]
    fn lines_break_behind_commas() {
        let line = "\u{1b}[31mbad\u{1b}[0m: 12 the same, 1 moved; read 35 MiB in 0.1 s, held back";
        assert_eq!(fitted_in(line, 80), line);
        assert_eq!(fitted_in(line, 45), line.replace("; read", ";\n  read"));
        assert_eq!(fitted_in("a name of many letters, and one", 5), "a name of many letters,\n  and one");
    }
}
