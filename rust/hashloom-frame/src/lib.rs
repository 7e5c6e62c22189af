// SPDX-License-Identifier: MIT OR Apache-2.0

//! What all commands of the program share. No command is named here.
//!
//! | a command | by |
//! |---|---|
//! | reads its arguments | [`names`], [`numbers`], [`filters`], [`work`] (threads, rates), [`isa`] |
//! | reads lists, secret keys and passphrases | [`input`], [`secrets`], [`passphrase`] |
//! | prints lines in order, and shows how far it has come | [`stdio`], [`printing`], [`progress`] |
//! | writes files that are whole or not there | [`output`] |
//! | says things | [`text`], [`quote`], [`style`], [`table`], [`units`], [`json`], [`doubts`] |
//! | ends | [`exit`], [`interrupt`], [`memory`] |
#![deny(unsafe_code)]

pub mod doubts;
pub mod exit;
pub mod filters;
pub mod input;
pub mod interrupt;
pub mod isa;
pub mod json;
pub mod memory;
pub mod names;
pub mod numbers;
pub mod output;
pub mod passphrase;
pub mod printing;
pub mod progress;
pub mod quote;
pub mod secrets;
pub mod stdio;
pub mod style;
pub mod table;
pub mod text;
pub mod units;
pub mod work;
