// SPDX-License-Identifier: MIT OR Apache-2.0

//! The networks and the beginnings of their addresses.

use bech32::Hrp;

/// A network of Bitcoin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// The network of money.
    Main,
    /// The test network.
    Test,
    /// The test network of signed blocks.
    Signet,
    /// A network of one's own.
    Regtest,
}

/// By hand, as clap would show the documentation of each network.
#[cfg(feature = "clap")]
impl clap::ValueEnum for Network {
    fn value_variants<'a>() -> &'a [Network] {
        &[Network::Main, Network::Test, Network::Signet, Network::Regtest]
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.name()))
    }
}

/// The beginnings of a network's addresses and secret keys. The bytes in front of base58 are those of Bitcoin Core's
/// chainparams.cpp, the words in front of bech32 those of BIP 173.
#[derive(Debug, Clone, Copy)]
pub struct Prefixes {
    /// Before the hash of a key.
    pub p2pkh: u8,
    /// Before the hash of a script.
    pub p2sh: u8,
    /// Before a secret key.
    pub wif: u8,
    /// Before a segregated witness.
    pub hrp: Hrp,
}

/// Test, signet and regtest share the bytes in front of base58, test and signet also the word in front of bech32.
const MAIN: Prefixes = Prefixes { p2pkh: 0x00, p2sh: 0x05, wif: 0x80, hrp: Hrp::parse_unchecked("bc") };
const TEST: Prefixes = Prefixes { p2pkh: 0x6f, p2sh: 0xc4, wif: 0xef, hrp: Hrp::parse_unchecked("tb") };
const REGTEST: Prefixes = Prefixes { hrp: Hrp::parse_unchecked("bcrt"), ..TEST };

impl Network {
    /// The networks that addresses can be told apart by.
    pub(crate) const DIFFERENT: [Network; 3] = [Network::Main, Network::Test, Network::Regtest];

    /// The beginnings of its addresses.
    pub fn prefixes(self) -> Prefixes {
        match self {
            Network::Main => MAIN,
            Network::Test | Network::Signet => TEST,
            Network::Regtest => REGTEST,
        }
    }

    /// Its name, such as `main`.
    pub fn name(self) -> &'static str {
        match self {
            Network::Main => "main",
            Network::Test => "test",
            Network::Signet => "signet",
            Network::Regtest => "regtest",
        }
    }
}
