// SPDX-License-Identifier: MIT OR Apache-2.0
//! Tiers: what all sides may use of this CPU, so that one machine says how hashloom stands on lesser ones.

use std::env;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use hashloom::kernels::{self, IsaSet};

/// The same values as in `c/peer.h`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    Here,
    NoAvx512,
    Avx2,
    Avx,
    Plain,
}

/// The tiers, the highest first: name, title, and the variable of OpenSSL and aws-lc. OPENSSL_ia32cap(3): bit 41 is
/// SSSE3, 60 AVX; after the colon comes leaf 7, with bits 16, 17, 21, 28, 30 and 31 for parts of AVX-512, 29 for SHA, 5
/// for AVX2, 3 and 8 for BMI; after another colon bit 32 is SHA-512.
pub const TIERS: [(Tier, &str, &str, &str); 5] = [
    (Tier::Here, "here", "this CPU", ""),
    (Tier::NoAvx512, "no-avx512", "no AVX-512", ":~0xd0230000"),
    (Tier::Avx2, "avx2", "AVX2 without SHA instructions", ":~0xf0230000:~0x100000000"),
    (Tier::Avx, "avx", "AVX", ":0"),
    (Tier::Plain, "plain", "SSE2", "~0x1000020000000000:0"),
];

impl Tier {
    pub fn title(self) -> &'static str {
        TIERS[self as usize].2
    }

    /// The lowest tier that has hashloom's instruction set of this name. `Avx` is a CPU of 2011, without BMI.
    fn lowest_with(isa: &str) -> Option<Tier> {
        match isa {
            "avx512vl" | "avx512" | "sha_avx512vl" => Some(Tier::Here),
            "sha" | "sha512" => Some(Tier::NoAvx512),
            "avx2" => Some(Tier::Avx2),
            "avx" => Some(Tier::Avx),
            "scalar" | "sse2" => Some(Tier::Plain),
            _ => None,
        }
    }

    /// hashloom's instruction sets.
    fn isas(self) -> Result<IsaSet, String> {
        if !cfg!(target_arch = "x86_64") {
            return Ok(IsaSet::available());
        }
        let mut names = Vec::new();
        for isa in IsaSet::available().names() {
            let lowest = Tier::lowest_with(isa).ok_or(format!("src/tier.rs lacks the instruction set {isa}"))?;
            if self <= lowest {
                names.push(isa);
            }
        }
        IsaSet::parse(&names.join(",")).map_err(|error| error.to_string())
    }

    pub fn of_this_process() -> Tier {
        let number = env::var("PEERS_TIER").ok().and_then(|number| number.parse::<usize>().ok());
        number.and_then(|number| TIERS.get(number)).map_or(Tier::Here, |row| row.0)
    }

    /// Restricts this process and its children, by running the program again: libcrypto reads its variable when it is
    /// loaded. Returns false if the tier is the one above on this machine.
    pub fn enter(self) -> Result<bool, String> {
        let isas = self.isas()?;
        if self != Tier::Here && TIERS[self as usize - 1].0.isas()? == isas {
            return Ok(false);
        }
        if env::var_os("PEERS_TIER").is_some() && Tier::of_this_process() == self {
            return kernels::restrict(isas).map(|()| true).map_err(|error| error.to_string());
        }
        let program = env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
        let mut again = Command::new(program);
        again.args(env::args_os().skip(1)).env("PEERS_TIER", (self as usize).to_string());
        match self {
            Tier::Here => again.env_remove("OPENSSL_ia32cap"),
            _ => again.env("OPENSSL_ia32cap", TIERS[self as usize].3),
        };
        Err(format!("cannot run itself again: {}", again.exec()))
    }

    /// Whether this peer does on the tier what it would do on such a CPU. Those that follow a variable or `c/peer.h`,
    /// and those without special instructions, always do. The others do while they use nothing beyond the tier.
    pub fn has(self, peer: &str) -> bool {
        match peer {
            // The SHA instructions, AVX2 and AVX, never AVX-512.
            "sha1" | "sha2" | "ripemd and sha2" | "ring" => self <= Tier::NoAvx512,
            name if name.starts_with("tape-sha256") => {
                self == Tier::Here || self == Tier::NoAvx512 && !tape_sha256::backend().contains("512")
            }
            "stringzilla" | "commonware-cryptography" => self == Tier::Here,
            "XKCP AVX512" => self == Tier::Here && is_here("avx512vl"),
            "XKCP AVX2" | "XKCP generic64-bmi" => self <= Tier::Avx2 && is_here("avx2"),
            "XKCP SSSE3" => self <= Tier::Avx,
            name if name.starts_with("ipsec-mb") => self != Tier::Plain,
            _ => true,
        }
    }
}

/// Whether this CPU has an instruction set of hashloom's. Every CPU that has AVX2 has BMI too.
fn is_here(isa: &str) -> bool {
    IsaSet::available().names().any(|name| name == isa)
}
