// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws the pieces as a rectangle of cells. Each cell stands for the same number of pieces in a row.

use std::io::{self, Write};

use console::{StyledObject, Term};
use hashloom_frame::style;
use hashloom_frame::units::plural;
use hashloom_torrent::PieceState;

/// The greatest number of rows. If the pieces of a torrent do not fit, cells stand for several pieces.
const ROWS_MAX: usize = 16;
/// Columns if the output is not a terminal.
const COLUMNS: usize = 80;
const MARGIN: &str = "  ";

/// How many of a cell's pieces are right, from none to all; then the states that stand out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    None,
    Some,
    Half,
    Most,
    All,
    Bad,
    Unread,
    Disputed,
    Unstable,
    /// No piece was checked.
    Unchecked,
}

impl Cell {
    fn of(pieces: &[PieceState]) -> Cell {
        let stands_out = [
            (PieceState::Disputed, Cell::Disputed),
            (PieceState::Unstable, Cell::Unstable),
            (PieceState::Unread, Cell::Unread),
            (PieceState::Bad, Cell::Bad),
        ];
        if let Some((_, cell)) = stands_out.into_iter().find(|(state, _)| pieces.contains(state)) {
            return cell;
        }
        if !pieces.is_empty() && pieces.iter().all(|&piece| piece == PieceState::Unchecked) {
            return Cell::Unchecked;
        }
        let have = pieces.iter().filter(|&&piece| piece == PieceState::Have).count();
        match 3 * have / pieces.len().max(1) {
            _ if have == pieces.len() => Cell::All,
            _ if have == 0 => Cell::None,
            0 => Cell::Some,
            1 => Cell::Half,
            _ => Cell::Most,
        }
    }

    fn symbol(self, utf8: bool) -> StyledObject<char> {
        let (unicode, ascii) = match self {
            Cell::None => ('·', '.'),
            Cell::Some => ('░', '-'),
            Cell::Half => ('▒', '+'),
            Cell::Most => ('▓', '*'),
            Cell::All => ('█', '#'),
            Cell::Bad => ('✗', 'x'),
            Cell::Unread => ('?', '?'),
            Cell::Disputed => ('!', '!'),
            Cell::Unstable => ('≠', '%'),
            Cell::Unchecked => ('~', '~'),
        };
        let symbol = if utf8 { unicode } else { ascii };
        match self {
            Cell::None | Cell::Unchecked => style::dim(symbol),
            Cell::Some | Cell::Half | Cell::Most => style::partial(symbol),
            Cell::All => style::good(symbol),
            Cell::Bad | Cell::Unread | Cell::Disputed | Cell::Unstable => style::bad(symbol),
        }
    }
}

/// Draws `pieces` for the terminal on standard output, if there is one.
pub fn draw(out: &mut impl Write, pieces: &[PieceState]) -> io::Result<()> {
    let columns = Term::stdout().size_checked().map_or(COLUMNS, |(_rows, columns)| usize::from(columns));
    draw_in(out, pieces, columns, style::is_utf8())
}

fn draw_in(out: &mut impl Write, pieces: &[PieceState], columns: usize, utf8: bool) -> io::Result<()> {
    let columns = columns.saturating_sub(2 * MARGIN.len()).max(8);
    let pieces_per_cell = pieces.len().div_ceil(columns * ROWS_MAX).max(1);
    let cells: Vec<Cell> = pieces.chunks(pieces_per_cell).map(Cell::of).collect();
    for row in cells.chunks(columns) {
        write!(out, "{MARGIN}")?;
        for cell in row {
            write!(out, "{}", cell.symbol(utf8))?;
        }
        writeln!(out)?;
    }
    let mut legend = vec![(Cell::All, "have")];
    if cells.iter().any(|cell| matches!(cell, Cell::Some | Cell::Half | Cell::Most)) {
        legend.extend([(Cell::Most, "most"), (Cell::Half, "half"), (Cell::Some, "some")]);
    }
    legend.extend([(Cell::None, "missing"), (Cell::Bad, "bad")]);
    let others = [
        (Cell::Unread, "unread"),
        (Cell::Disputed, "disputed"),
        (Cell::Unstable, "unstable"),
        (Cell::Unchecked, "unchecked"),
    ];
    legend.extend(others.into_iter().filter(|(cell, _)| cells.contains(cell)));
    write!(out, "{MARGIN}")?;
    for (cell, meaning) in legend {
        write!(out, "{} {meaning}   ", cell.symbol(utf8))?;
    }
    writeln!(out, "each {}", plural(pieces_per_cell as u64, "piece"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PieceState::{Bad, Disputed, Have, Missing, Unchecked, Unread, Unstable};

    fn drawn(pieces: &[PieceState], columns: usize, utf8: bool) -> String {
        console::set_colors_enabled(false);
        let mut out = Vec::new();
        draw_in(&mut out, pieces, columns, utf8).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn one_cell_for_each_piece_if_they_fit() {
        let pieces = [Have, Have, Missing, Bad, Have, Unread, Missing, Have, Have, Have];
        let expected = "  ██·✗█?·█\n  ██\n  █ have   · missing   ✗ bad   ? unread   each 1 piece\n";
        assert_eq!(drawn(&pieces, 12, true), expected);
        let expected = "  ##.x#?.###\n  # have   . missing   x bad   ? unread   each 1 piece\n";
        assert_eq!(drawn(&pieces, 80, false), expected);
    }

    #[test]
    fn what_was_not_checked_is_not_drawn_as_missing() {
        let pieces = [Have, Disputed, Unchecked, Unchecked, Missing, Unstable];
        let expected =
            "  #!~~.%\n  # have   . missing   x bad   ! disputed   % unstable   ~ unchecked   each 1 piece\n";
        assert_eq!(drawn(&pieces, 80, false), expected);
    }

    #[test]
    fn many_pieces_share_cells() {
        let mut pieces = vec![Have; 262_144];
        pieces[1..170].fill(Missing);
        pieces[200_000] = Bad;
        let text = drawn(&pieces, 80, false);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), ROWS_MAX + 1);
        assert!(rows[0].starts_with("  -####"), "{text}");
        assert_eq!(text.matches('x').count(), 2, "one cell and the legend: {text}");
        assert!(text.ends_with("each 216 pieces\n"), "{text}");
        assert!(rows.iter().all(|row| row.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_single_bad_piece_is_never_averaged_away_and_full_means_all() {
        let mut pieces = vec![Have; 100_000];
        pieces[77_777] = Missing;
        let text = drawn(&pieces, 80, true);
        assert_eq!(text.matches('▓').count(), 2, "{text}");
    }

    #[test]
    fn a_torrent_without_pieces_and_a_narrow_terminal() {
        assert_eq!(drawn(&[], 80, false), "  # have   . missing   x bad   each 1 piece\n");
        assert!(drawn(&[Have; 20], 0, false).starts_with("  ########\n"));
    }
}
