// SPDX-License-Identifier: MIT OR Apache-2.0
//! The chart of README.md: hashloom beside libraries that everybody knows, as an SVG file that needs nothing else.
//!
//! The widths of texts are unknown here, so texts begin or end where there is room for long ones. The colours are for
//! white paper and, in viewers that prefer dark, for black paper; each has a contrast of at least 3 to its paper.

use std::fmt::Write as _;

use crate::measure::Row;
use crate::peers::{self, HASHLOOM};

/// The sides of the chart, of which each column has a bar, and their names there.
pub const SIDES: [(&str, &str); 4] =
    [(HASHLOOM, HASHLOOM), ("OpenSSL EVP", "OpenSSL"), ("ring", "ring"), ("sha2", "RustCrypto sha2")];
/// The columns.
pub const SCENARIOS: [&str; 4] = ["64 bytes", "1 KiB", "16 KiB", "one of 16 KiB"];

/// The left edge of the bars, the longest bar, a column, and a row.
const LEFT: usize = 178;
const LONGEST: f64 = 170.0;
const COLUMN: usize = 242;
const ROW: usize = 19;
/// The top of the first row.
const TOP: usize = 126;

const STYLE: &str = "
text { font: 12px system-ui, 'Segoe UI', 'Helvetica Neue', 'DejaVu Sans', Arial, sans-serif; fill: #1f2328; }
.title { font-size: 20px; font-weight: 600; }
.strong { font-weight: 600; text-anchor: end; }
.note { fill: #59636e; }
.paper { fill: #ffffff; }
.axis { stroke: #8c959f; }
.own { fill: #1a7f37; }
.peer { fill: #c4590f; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.note { fill: #9198a1; }
.paper { fill: #0d1117; }
.axis { stroke: #6e7681; }
.own { fill: #3fb950; }
.peer { fill: #e8833a; }
}
";

/// Returns the whole file. `machine` is a line about the machine and the day.
pub fn draw(algorithm: &str, rows: &[Row], machine: &str) -> String {
    let title = format!("hashloom beside other libraries: GB/s of {algorithm} on one core");
    let sides: Vec<(usize, &str)> =
        SIDES.iter().filter_map(|(side, name)| Some((rows[0].side(side)?, *name))).collect();
    let (width, height) = (LEFT + COLUMN * rows.len(), TOP + ROW * sides.len() + 24);
    let most =
        rows.iter().flat_map(|row| sides.iter().map(|(side, _)| row.gb(*side))).fold(f64::MIN_POSITIVE, f64::max);
    let machine = machine.replace('&', "&amp;").replace('<', "&lt;");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<title>{title}</title>\n<style>{STYLE}</style>\n\
         <rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"24\" y=\"38\">{title}</text>\n\
         <text class=\"note\" x=\"24\" y=\"60\">{machine}</text>\n\
         <text class=\"note\" x=\"24\" y=\"82\">the others hash one message after the other</text>\n"
    );
    for (i, (_, name)) in sides.iter().enumerate() {
        let (x, y) = (LEFT - 8, TOP + ROW * i + 13);
        let _ = writeln!(svg, "<text class=\"strong\" x=\"{x}\" y=\"{y}\">{}</text>", with_version(name));
    }
    for (column, row) in rows.iter().enumerate() {
        let x = LEFT + COLUMN * column;
        let title = format!("{} × {}", row.scenario.count, row.scenario.name.trim_start_matches("one of "));
        let bottom = TOP + ROW * sides.len();
        let _ = writeln!(svg, "<text class=\"note\" x=\"{x}\" y=\"{}\">{title}, GB/s</text>", TOP - 8);
        let _ = writeln!(svg, "<line class=\"axis\" x1=\"{x}\" x2=\"{x}\" y1=\"{TOP}\" y2=\"{bottom}\"/>");
        for (i, (side, name)) in sides.iter().enumerate() {
            let (gb, y, class) = (row.gb(*side), TOP + ROW * i, if i == 0 { "own" } else { "peer" });
            let length = (gb / most * LONGEST).max(1.0);
            let ratio = row.gb(sides[0].0) / gb;
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" x=\"{x}\" y=\"{}\" width=\"{length:.1}\" height=\"13\">\
                 <title>{name}, {title}: {gb:.3} GB/s; hashloom / this: {ratio:.2}</title></rect>\n\
                 <text x=\"{:.1}\" y=\"{}\">{gb:.2}</text>",
                y + 3,
                x as f64 + length + 5.0,
                y + 13,
            );
        }
    }
    svg + "</svg>\n"
}

/// The name of a side with its version; hashloom's is that of this repository.
fn with_version(name: &str) -> String {
    match name {
        HASHLOOM => name.into(),
        "OpenSSL" => format!("OpenSSL {}", peers::openssl_version()),
        crate_name => {
            let version = peers::locked_version(crate_name.rsplit(' ').next().unwrap_or_default());
            format!("{name} {}", version.rsplit_once('.').map_or(version, |(minor, _)| minor))
        }
    }
}
