// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tells why a resumed run looks at some things again.

use std::collections::BTreeMap;
use std::io::{self, Write};

use hashloom_files::Doubt;

use crate::units::plural;

/// Prints a line to standard error: how many things, of this name, are `done` again, and why. Prints nothing if there
/// are none.
pub fn tell(doubts: &BTreeMap<Doubt, u64>, noun: &str, done: &str) {
    if let Some(line) = line(doubts, noun, done) {
        // Best effort: a failure changes nothing.
        let _ = writeln!(io::stderr().lock(), "{line}");
    }
}

fn line(doubts: &BTreeMap<Doubt, u64>, noun: &str, done: &str) -> Option<String> {
    let count = doubts.values().sum();
    let reasons: Vec<String> = match doubts.len() {
        0 => return None,
        1 => doubts.keys().map(Doubt::to_string).collect(),
        _ => doubts.iter().map(|(doubt, count)| format!("{count} {doubt}")).collect(),
    };
    let verb = if count == 1 { "is" } else { "are" };
    Some(format!("resume: {} {verb} {done} again: {}", plural(count, noun), reasons.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_for_all() {
        let said = |doubts: &[(Doubt, u64)]| line(&doubts.iter().copied().collect(), "file", "checked");
        assert_eq!(said(&[]), None);
        let expected = "resume: 1 file is checked again: changed since";
        assert_eq!(said(&[(Doubt::Changed, 1)]).unwrap(), expected);
        let expected = "resume: 3 files are checked again: open for writing in another program";
        assert_eq!(said(&[(Doubt::Writer, 3)]).unwrap(), expected);
        let expected =
            "resume: 1003 files are checked again: 2 changed since; 1001 open for writing in another program";
        assert_eq!(said(&[(Doubt::Writer, 1001), (Doubt::Changed, 2)]).unwrap(), expected);
    }
}
