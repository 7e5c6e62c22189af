// SPDX-License-Identifier: MIT OR Apache-2.0

//! `hashloom sum` and `hashloom check`.
//!
//! `sum` and `check` have the options, `front` the frame around both. `summing` and `checking` hand files to the
//! engine. A check takes the lines of a list (`text_lines`) as steps (`reading`), finds the file of each name
//! (`place`), and says what came of it (`verdict`). `only` is about some files of the lists, and `hashloom PATH` asks
//! it too. `sum` also has `expect` and `known`; `check` also what the program hands over (`sources`).
//! `hashloom-stores` does that by `front`, `verdict`, `lines`, and the options in `check`.

pub mod check;
mod checking;
pub mod crc;
mod expect;
pub mod format;
pub mod found;
pub mod front;
mod json_lines;
mod known;
pub mod lines;
pub mod only;
pub mod place;
mod reading;
pub mod sources;
pub mod sum;
pub mod summing;
mod text_lines;
pub mod verdict;
