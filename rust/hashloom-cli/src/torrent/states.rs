// SPDX-License-Identifier: MIT OR Apache-2.0

//! The names of the states of pieces and files, in text and in JSON.

use hashloom_engine::torrent::{FileDifference, FileState, PieceState};

pub fn state_name(state: PieceState) -> &'static str {
    match state {
        PieceState::Have => "have",
        PieceState::Missing => "missing",
        PieceState::Bad => "bad",
        PieceState::Unread => "unread",
        PieceState::Disputed => "disputed",
        PieceState::Unstable => "unstable",
        _ => "unchecked",
    }
}

pub fn file_state_name(state: FileState) -> &'static str {
    match state {
        FileState::Complete => "complete",
        FileState::Incomplete => "incomplete",
        FileState::Short => "short",
        FileState::Missing => "missing",
        FileState::Failed => "failed",
        FileState::Skipped => "skipped",
        FileState::Unstable => "unstable",
        _ => "unchecked",
    }
}

pub fn difference_name(difference: FileDifference) -> &'static str {
    match difference {
        FileDifference::LinkMissing => "link missing",
        FileDifference::LinkElsewhere => "link elsewhere",
        FileDifference::NotALink => "not a link",
        FileDifference::NotExecutable => "not executable",
        _ => "other",
    }
}
