// SPDX-License-Identifier: MIT OR Apache-2.0

//! The networks and the beginnings of their addresses.

use bech32::Hrp;
use clap::ValueEnum;

/// A network of Bitcoin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Network {
    Main,
    Test,
    Signet,
    Regtest,
}

/// The beginnings of a network's addresses and secret keys. The bytes in front of base58 are those of Bitcoin Core's
/// chainparams.cpp, the words in front of bech32 those of BIP 173.
#[derive(Debug, Clone, Copy)]
pub struct Prefixes {
    pub p2pkh: u8,
    pub p2sh: u8,
    pub wif: u8,
    pub hrp: Hrp,
}

/// Test, signet and regtest share the bytes in front of base58, test and signet also the word in front of bech32.
const MAIN: Prefixes = Prefixes { p2pkh: 0x00, p2sh: 0x05, wif: 0x80, hrp: Hrp::parse_unchecked("bc") };
const TEST: Prefixes = Prefixes { p2pkh: 0x6f, p2sh: 0xc4, wif: 0xef, hrp: Hrp::parse_unchecked("tb") };
const REGTEST: Prefixes = Prefixes { hrp: Hrp::parse_unchecked("bcrt"), ..TEST };

impl Network {
    /// The networks that addresses can be told apart by.
    pub const DIFFERENT: [Network; 3] = [Network::Main, Network::Test, Network::Regtest];

    pub fn prefixes(self) -> Prefixes {
        match self {
            Network::Main => MAIN,
            Network::Test | Network::Signet => TEST,
            Network::Regtest => REGTEST,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Network::Main => "main",
            Network::Test => "test",
            Network::Signet => "signet",
            Network::Regtest => "regtest",
        }
    }
}
