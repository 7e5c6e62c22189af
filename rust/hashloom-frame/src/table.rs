// SPDX-License-Identifier: MIT OR Apache-2.0

//! Prints text in columns.

use std::io::{self, Write};

use crate::style;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Right,
}

/// The look of a cell, if there are colours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Look {
    Plain,
    Dim,
    Bold,
    Good,
    Partial,
}

pub struct Table {
    align: Vec<Align>,
    lines: Vec<Line>,
}

enum Line {
    Cells(Vec<String>, Vec<Look>),
    Heading(String),
}

const GAP: &str = "  ";

impl Table {
    pub fn new(columns: impl IntoIterator<Item = Align>) -> Table {
        Table { align: columns.into_iter().collect(), lines: Vec::new() }
    }

    /// Adds a row, one cell for each column.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = (S, Look)>) {
        let (cells, looks): (Vec<String>, Vec<Look>) =
            cells.into_iter().map(|(text, look)| (text.into(), look)).unzip();
        assert_eq!(cells.len(), self.align.len());
        self.lines.push(Line::Cells(cells, looks));
    }

    /// Adds a line of its own, above the rows that follow.
    pub fn heading(&mut self, text: impl Into<String>) {
        self.lines.push(Line::Heading(text.into()));
    }

    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut widths = vec![0; self.align.len()];
        for line in &self.lines {
            if let Line::Cells(cells, _) = line {
                for (width, cell) in widths.iter_mut().zip(cells) {
                    *width = (*width).max(cell.chars().count());
                }
            }
        }
        for line in &self.lines {
            match line {
                Line::Heading(text) => writeln!(out, "{}", style::bold(text))?,
                Line::Cells(cells, looks) => {
                    // Lines do not end in blanks.
                    let last = cells.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
                    for (i, (cell, &look)) in cells.iter().zip(looks).enumerate().take(last) {
                        let width = widths[i];
                        let text = match self.align[i] {
                            Align::Left if i + 1 == last => cell.clone(),
                            Align::Left => format!("{cell:<width$}"),
                            Align::Right => format!("{cell:>width$}"),
                        };
                        write!(out, "{GAP}{}", styled(text, look))?;
                    }
                    writeln!(out)?;
                }
            }
        }
        Ok(())
    }
}

fn styled(text: String, look: Look) -> console::StyledObject<String> {
    match look {
        Look::Plain => console::style(text),
        Look::Dim => style::dim(text),
        Look::Bold => style::bold(text),
        Look::Good => style::good(text),
        Look::Partial => style::partial(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_where_the_text_ends() {
        console::set_colors_enabled(false);
        let mut table = Table::new([Align::Left, Align::Right, Align::Left]);
        table.row([("name", Look::Dim), ("n", Look::Dim), ("note", Look::Dim)]);
        table.heading("group");
        table.row([("a", Look::Plain), ("100", Look::Good), ("", Look::Plain)]);
        table.row([("longer ü", Look::Plain), ("7", Look::Bold), ("x", Look::Partial)]);
        let mut out = Vec::new();
        table.write(&mut out).unwrap();
        let expected = "  name        n  note\ngroup\n  a         100\n  longer ü    7  x\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
