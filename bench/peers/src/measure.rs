// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs all sides in turn and computes their ratios.

use std::error::Error;

use crate::peers::{HASHLOOM, Side};
use crate::scenario::{Algorithm, Machine, Messages, Scenario, goals};

/// Short work is repeated until one timing takes this long.
const SLOT_S: f64 = 0.003;

pub struct Timed {
    pub name: String,
    pub is_own: bool,
    /// Seconds of each round; empty if the side cannot hash these messages.
    times: Vec<f64>,
}

impl Timed {
    fn min(&self) -> Option<f64> {
        self.times.iter().copied().reduce(f64::min)
    }
}

pub struct Row {
    pub scenario: &'static Scenario,
    nbytes: usize,
    pub sides: Vec<Timed>,
}

pub fn measure(
    algorithm: Algorithm,
    scenario: &'static Scenario,
    sides: &mut [Box<dyn Side>],
    rounds: usize,
) -> Result<Row, Box<dyn Error>> {
    let messages = Messages::new(algorithm, scenario);
    let mut repeats = Vec::new();
    let mut digests: Option<Vec<u8>> = None;
    for side in sides.iter_mut() {
        if !side.hash(&messages) {
            repeats.push(0);
            continue;
        }
        let found = side.digests();
        if digests.get_or_insert_with(|| found.clone()) != &found {
            let (side, algorithm, scenario) = (side.name(), algorithm.name(), scenario.name);
            return Err(format!("{side} has other digests than {HASHLOOM}: {algorithm}, {scenario}").into());
        }
        repeats.push(1 + (SLOT_S / side.time(&messages, 1)) as u32);
    }
    let mut timed: Vec<Timed> =
        sides.iter().map(|side| Timed { name: side.name().into(), is_own: side.is_own(), times: Vec::new() }).collect();
    for _ in 0..rounds {
        for ((side, timed), &repeat) in sides.iter_mut().zip(&mut timed).zip(&repeats) {
            if repeat > 0 {
                timed.times.push(side.time(&messages, repeat));
            }
        }
    }
    Ok(Row { scenario, nbytes: messages.data.len(), sides: timed })
}

pub fn summary_head() -> String {
    let goals = Machine::here().map_or("no goals are set for this machine", Machine::describe);
    format!(
        "### hashloom / the best peer; {goals}\n\n\
         | algorithm | messages | hashloom: million/s | GB/s | beside | its million/s \
         | ratio | middle half | at least | stretch | |\n\
         |---|---|---:|---:|---|---:|---:|---|---:|---:|---|\n"
    )
}

impl Row {
    pub fn side(&self, name: &str) -> Option<usize> {
        self.sides.iter().position(|side| side.name == name && !side.times.is_empty())
    }

    /// The fastest of the peers whose names begin with this text.
    pub fn best_peer(&self, start: &str) -> Option<usize> {
        let peers = self.sides.iter().enumerate().filter(|(_, side)| !side.is_own && side.name.starts_with(start));
        let times = peers.filter_map(|(i, side)| Some((side.min()?, i)));
        times.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, i)| i)
    }

    fn million_messages(&self, side: usize) -> f64 {
        self.scenario.count as f64 * 1e-6 / self.sides[side].min().unwrap_or(f64::INFINITY)
    }

    pub fn gb(&self, side: usize) -> f64 {
        self.nbytes as f64 * 1e-9 / self.sides[side].min().unwrap_or(f64::INFINITY)
    }

    /// Million messages a second, or GB/s where messages are long.
    pub fn speed(&self, side: usize) -> Option<f64> {
        self.sides[side].min()?;
        Some(if self.scenario.lengths.1 < 1024 { self.million_messages(side) } else { self.gb(side) })
    }

    /// One line for each goal, and one that compares with the best peer, if none of the goals does.
    pub fn summary(&self, algorithm: Algorithm) -> Vec<String> {
        let goals = goals(Machine::here(), algorithm, self.scenario.name);
        let mut lines = Vec::new();
        if !goals.iter().any(|goal| self.best_peer(goal.beside) == self.best_peer("")) {
            lines.extend(self.line(algorithm, "", None, None));
        }
        for goal in goals {
            lines.extend(self.line(algorithm, goal.beside, Some(goal.at_least), goal.stretch));
        }
        lines
    }

    fn line(&self, algorithm: Algorithm, beside: &str, at_least: Option<f64>, stretch: Option<f64>) -> Option<String> {
        let (ours, theirs) = (self.side(HASHLOOM)?, self.best_peer(beside)?);
        let (a, b) = (&self.sides[ours], &self.sides[theirs]);
        // Rounded as printed, so that the verdict fits the figure that a reader sees.
        let ratio = (b.min()? / a.min()? * 100.0).round() / 100.0;
        let mut pairs: Vec<f64> = a.times.iter().zip(&b.times).map(|(a, b)| b / a).collect();
        pairs.sort_by(f64::total_cmp);
        let quarter = pairs.len() / 4;
        let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.2}"));
        let verdict = match (at_least, stretch) {
            (_, Some(stretch)) if ratio >= stretch => "stretch",
            (Some(at_least), _) if ratio >= at_least => "met",
            (Some(_), _) => "**short**",
            _ => "",
        };
        Some(format!(
            "| {} | {} | {:.3} | {:.3} | {} | {:.3} | {ratio:.2} | {:.2} to {:.2} | {} | {} | {verdict} |\n",
            algorithm.name(),
            self.scenario.name,
            self.million_messages(ours),
            self.gb(ours),
            b.name,
            self.million_messages(theirs),
            pairs[quarter],
            pairs[pairs.len() - 1 - quarter],
            number(at_least),
            number(stretch),
        ))
    }
}
