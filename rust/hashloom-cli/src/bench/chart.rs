// SPDX-License-Identifier: MIT OR Apache-2.0

//! Draws a report as a chart: an SVG file that needs nothing else.
//!
//! Each algorithm has one panel. A panel has a column of bars for each kind of messages; all columns have one scale.
//! The rows are hashloom's choice, its kernels and the other libraries. The widths of texts are unknown here, so texts
//! begin or end where there is room for long ones. The colours are for white paper and, in viewers that prefer dark,
//! for black paper; each has a contrast of at least 3 to its paper. Viewers that ignore media queries show the white
//! one.

use svg::Document;
use svg::node::element::{Group, Line, Rectangle, Style, Text, Title};

use super::{Kind, Messages, Outcome, Report, Row, Speed};

const MARGIN: f64 = 24.0;
/// Width of one character of the labels; of the title in the next line. Most texts need less.
const CHARACTER: f64 = 7.3;
const TITLE_CHARACTER: f64 = 12.5;
/// Distance from row to row; the next line is the thickness of a bar.
const ROW: f64 = 19.0;
const BAR: f64 = 13.0;
/// Gap between hashloom, the kernels and the others.
const GROUP_GAP: f64 = 7.0;
/// Widths: the longest bar, its figure, the gap between columns.
const COLUMN: f64 = 170.0;
const FIGURE: f64 = 52.0;
const COLUMN_GAP: f64 = 20.0;
/// Heights: title and legend; heading of a panel with the titles of its columns; the gap after a panel.
const TITLE: f64 = 96.0;
const HEADING: f64 = 54.0;
const PANEL_GAP: f64 = 30.0;

const STYLE: &str = "
text { font: 12px system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif; fill: #1f2328; }
.title { font-size: 20px; font-weight: 600; }
.heading { font-size: 16px; font-weight: 600; }
.strong { font-weight: 600; }
.note { fill: #59636e; }
.end { text-anchor: end; }
.paper { fill: #ffffff; }
.axis { stroke: #8c959f; stroke-width: 1; }
.rule { stroke: #d1d9e0; stroke-width: 1; }
.hashloom { fill: #1a7f37; }
.kernel { fill: #5b8def; }
.peer { fill: #c4590f; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.note { fill: #9198a1; }
.paper { fill: #0d1117; }
.axis { stroke: #6e7681; }
.rule { stroke: #30363d; }
.hashloom { fill: #3fb950; }
.kernel { fill: #4c7fe0; }
.peer { fill: #e8833a; }
}
";

/// Returns the whole file.
pub fn draw(report: &Report) -> String {
    let rows = || report.results.iter().flat_map(|outcome| &outcome.rows);
    let names = rows().map(|row| row.name.chars().count()).max().unwrap_or(0) as f64 * CHARACTER;
    let columns = report.results.iter().map(|outcome| outcome.messages.len()).max().unwrap_or(0) as f64;
    let bars = MARGIN + names + 8.0;
    let title = format!("hashloom {} beside other libraries: GB/s on one core", report.hashloom);
    let mut subtitle = format!("{} · {} · {}", report.cpu, report.compiler, report.date);
    if !report.optimised {
        subtitle += " · built without optimisation";
    }
    let width = (bars + columns * (COLUMN + FIGURE + COLUMN_GAP) - COLUMN_GAP + MARGIN)
        .max(2.0 * MARGIN + subtitle.chars().count() as f64 * CHARACTER)
        .max(2.0 * MARGIN + title.chars().count() as f64 * TITLE_CHARACTER);

    let mut document = Document::new()
        .set("role", "img")
        .add(Title::new(title.clone()))
        .add(Style::new(STYLE))
        .add(Rectangle::new().set("class", "paper").set("width", "100%").set("height", "100%"))
        .add(text(MARGIN, 38.0, "title", title))
        .add(text(MARGIN, 60.0, "note", subtitle))
        .add(legend(report, 84.0));
    let mut top = TITLE;
    for outcome in &report.results {
        document = document.add(panel(outcome, bars, top, width));
        top += height(outcome) + PANEL_GAP;
    }
    let height = top - PANEL_GAP + MARGIN;
    document = document
        .set("viewBox", (0, 0, round(width), round(height)))
        .set("width", round(width))
        .set("height", round(height));
    format!("{document}\n")
}

fn legend(report: &Report, y: f64) -> Group {
    let mut group = Group::new();
    let mut x = MARGIN;
    let legend = [
        (Kind::Hashloom, "hashloom's choice"),
        (Kind::Kernel, "each kernel of hashloom"),
        (Kind::Peer, "others, one message after the other"),
    ];
    for (kind, meaning) in legend.into_iter().filter(|(kind, _)| report.has(*kind)) {
        let mark = Rectangle::new().set("class", class(kind)).set("x", round(x)).set("y", round(y - 10.0));
        group = group.add(mark.set("width", 12).set("height", 12)).add(text(x + 18.0, y, "note", meaning));
        x += 18.0 + (meaning.chars().count() as f64 + 3.0) * CHARACTER;
    }
    group
}

/// Returns the rows and their heights on the page, with a gap between kinds of rows.
fn places(outcome: &Outcome) -> impl Iterator<Item = (&Row, f64)> {
    let mut y = HEADING;
    let mut before = None;
    outcome.rows.iter().map(move |row| {
        if before.is_some_and(|kind| kind != row.kind) {
            y += GROUP_GAP;
        }
        before = Some(row.kind);
        let place = (row, y);
        y += ROW;
        place
    })
}

fn height(outcome: &Outcome) -> f64 {
    places(outcome).last().map_or(HEADING, |(_, y)| y + ROW)
}

fn panel(outcome: &Outcome, bars: f64, top: f64, width: f64) -> Group {
    let mut group = Group::new()
        .set("transform", format!("translate(0 {})", round(top)))
        .add(line("rule", MARGIN, 6.0, width - MARGIN, 6.0))
        .add(text(MARGIN, 28.0, "heading", outcome.algorithm));
    let speeds = outcome.rows.iter().flat_map(|row| &row.speeds);
    let most = speeds.map(|speed| speed.gb_per_s).fold(f64::MIN_POSITIVE, f64::max);
    let left = |column: usize| bars + column as f64 * (COLUMN + FIGURE + COLUMN_GAP);
    let bottom = height(outcome) - (ROW - BAR) / 2.0;
    for (i, messages) in outcome.messages.iter().enumerate() {
        group = group.add(text(left(i), 46.0, "note", format!("{}, GB/s", messages.title(" × ")))).add(line(
            "axis",
            left(i) - 0.5,
            HEADING,
            left(i) - 0.5,
            bottom,
        ));
    }
    for (row, y) in places(outcome) {
        let baseline = y + ROW - 5.5;
        let strength = if row.kind == Kind::Kernel { "end" } else { "end strong" };
        group = group.add(text(bars - 8.0, baseline, strength, &row.name));
        if let Some(reason) = &row.absent {
            group = group.add(text(bars + 6.0, baseline, "note", shortened(reason)).add(Title::new(printable(reason))));
        }
        for (i, (speed, messages)) in row.speeds.iter().zip(&outcome.messages).enumerate() {
            let length = (speed.gb_per_s / most * COLUMN).max(1.0);
            let bar = Rectangle::new()
                .set("class", class(row.kind))
                .set("x", round(left(i)))
                .set("y", round(y + (ROW - BAR) / 2.0))
                .set("width", round(length))
                .set("height", BAR)
                .add(Title::new(printable(&told(outcome, row, messages, speed))));
            let figure = format!("{:.2}", speed.gb_per_s);
            group = group.add(bar).add(text(left(i) + length + 5.0, baseline, "", figure));
        }
    }
    group
}

/// Returns what a viewer shows when the pointer is on the bar.
fn told(outcome: &Outcome, row: &Row, messages: &Messages, speed: &Speed) -> String {
    format!(
        "{}, {}, {}: {:.3} GB/s, {:.3} million messages/s; hashloom / this: {:.2}",
        row.name,
        outcome.algorithm,
        messages.title(" × "),
        speed.gb_per_s,
        speed.million_messages_per_s,
        speed.ratio
    )
}

/// Returns the first words of a long reason that fit into a column. A reason can be a paragraph from the loader.
fn shortened(reason: &str) -> String {
    let most = ((COLUMN + FIGURE) / CHARACTER) as usize;
    match reason.char_indices().nth(most) {
        Some((end, _)) => {
            let fits = &reason[..end];
            let words = fits.rsplit_once(' ').map_or(fits, |(words, _)| words);
            format!("{}…", words.trim_end_matches([':', ',', ' ']))
        }
        None => reason.to_owned(),
    }
}

/// Removes control characters: XML has none, not even escaped.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Hashloom => "hashloom",
        Kind::Kernel => "kernel",
        Kind::Peer => "peer",
    }
}

fn text(x: f64, y: f64, class: &str, content: impl AsRef<str>) -> Text {
    let text = Text::new(printable(content.as_ref())).set("x", round(x)).set("y", round(y));
    if class.is_empty() { text } else { text.set("class", class) }
}

fn line(class: &str, x1: f64, y1: f64, x2: f64, y2: f64) -> Line {
    let line = Line::new().set("class", class);
    line.set("x1", round(x1)).set("y1", round(y1)).set("x2", round(x2)).set("y2", round(y2))
}

/// Rounds to a tenth of a pixel, which is enough.
fn round(x: f64) -> f64 {
    (x * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_reasons_are_text_and_not_markup() {
        let report = Report {
            hashloom: "0",
            cpu: "<cpu> & \"co\"\u{7}".into(),
            compiler: "cc",
            optimised: true,
            date: "2026-11-20".into(),
            rounds: 1,
            seconds: 1.0,
            allowed: Vec::new(),
            results: vec![Outcome {
                algorithm: "sha1",
                messages: vec![Messages { count: 3, nbytes: 64 }],
                rows: vec![
                    Row {
                        kind: Kind::Hashloom,
                        name: "hash<loom>".into(),
                        absent: None,
                        speeds: vec![Speed { seconds: 1.0, gb_per_s: 2.0, million_messages_per_s: 3.0, ratio: 1.0 }],
                    },
                    Row {
                        kind: Kind::Peer,
                        name: "&".into(),
                        absent: Some(format!("not there: {}\u{1}", "ü".repeat(70))),
                        speeds: Vec::new(),
                    },
                ],
            }],
        };
        let text = draw(&report);
        assert!(text.contains("\n&lt;cpu&gt; &amp; \"co\" · cc · 2026-11-20\n"), "{text}");
        assert!(text.contains("\nhash&lt;loom&gt;\n") && text.contains("\n&amp;\n"), "{text}");
        assert!(
            text.contains("not there…") && text.contains(&format!("<title>not there: {}</title>", "ü".repeat(70))),
            "{text}"
        );
        assert!(!text.contains(['\u{7}', '\u{1}']) && !text.contains("NaN") && !text.contains("inf"), "{text}");
        // The paper, two marks of the legend as there are no kernels, and one bar.
        assert_eq!(text.matches("<rect ").count(), 4, "{text}");
    }
}
