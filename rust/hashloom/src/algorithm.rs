// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms, chosen at run time.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use hashloom_sys as sys;

/// A hash algorithm.
///
/// ```
/// use hashloom::Algorithm;
///
/// let algorithm: Algorithm = "sha512-256".parse()?;
/// assert_eq!(algorithm, Algorithm::Sha512_256);
/// assert_eq!((algorithm.name(), algorithm.title()), ("sha512-256", "SHA-512/256"));
/// assert_eq!((algorithm.digest_nbytes(), algorithm.block_nbytes()), (32, 128));
/// assert!(algorithm.has_hmac() && !algorithm.is_xof() && Algorithm::ALL.contains(&algorithm));
/// assert_eq!(Algorithm::Ripemd160.tags()[..2], ["RMD160", "RIPEMD160"]);
/// # Ok::<(), hashloom::ParseAlgorithmError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Algorithm {
    // algorithms.py: rust_variants
    /// SHA-1: FIPS 180-4 section 6.1; 20-byte digest.
    ///
    /// Not collision resistant: for existing formats only, never where somebody might gain by a forged message.
    Sha1 = sys::HL_SHA1,
    /// SHA-224: FIPS 180-4 section 6.3; 28-byte digest.
    Sha224 = sys::HL_SHA224,
    /// SHA-256: FIPS 180-4 section 6.2; 32-byte digest.
    Sha256 = sys::HL_SHA256,
    /// SHA-384: FIPS 180-4 section 6.5; 48-byte digest.
    Sha384 = sys::HL_SHA384,
    /// SHA-512: FIPS 180-4 section 6.4; 64-byte digest.
    Sha512 = sys::HL_SHA512,
    /// SHA-512/224: FIPS 180-4 section 6.6; 28-byte digest.
    Sha512_224 = sys::HL_SHA512_224,
    /// SHA-512/256: FIPS 180-4 section 6.7; 32-byte digest.
    Sha512_256 = sys::HL_SHA512_256,
    /// RIPEMD-160: Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3; 20-byte digest.
    Ripemd160 = sys::HL_RIPEMD160,
    /// MD5: RFC 1321; 16-byte digest.
    ///
    /// Not collision resistant: for existing formats only, never where somebody might gain by a forged message.
    Md5 = sys::HL_MD5,
    /// SHA3-224: FIPS 202 section 6.1; 28-byte digest.
    Sha3_224 = sys::HL_SHA3_224,
    /// SHA3-256: FIPS 202 section 6.1; 32-byte digest.
    Sha3_256 = sys::HL_SHA3_256,
    /// SHA3-384: FIPS 202 section 6.1; 48-byte digest.
    Sha3_384 = sys::HL_SHA3_384,
    /// SHA3-512: FIPS 202 section 6.1; 64-byte digest.
    Sha3_512 = sys::HL_SHA3_512,
    /// Keccak-256: Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum; 32-byte digest.
    Keccak256 = sys::HL_KECCAK_256,
    /// SHAKE128: FIPS 202 section 6.2; 32-byte digest, or any other length.
    Shake128 = sys::HL_SHAKE128,
    /// SHAKE256: FIPS 202 section 6.2; 64-byte digest, or any other length.
    Shake256 = sys::HL_SHAKE256,
    /// SM3: GB/T 32905-2016; 32-byte digest.
    Sm3 = sys::HL_SM3,
    /// BLAKE2b: RFC 7693; 64-byte digest.
    Blake2b = sys::HL_BLAKE2B,
    /// BLAKE2b-256: RFC 7693; 32-byte digest.
    Blake2b256 = sys::HL_BLAKE2B_256,
    /// BLAKE2s: RFC 7693; 32-byte digest.
    Blake2s = sys::HL_BLAKE2S,
    /// BLAKE3: O'Connor, Aumasson, Neves, Wilcox-O'Hearn 2020: BLAKE3; 32-byte digest.
    Blake3 = sys::HL_BLAKE3,
    // algorithms.py: end
}

impl Algorithm {
    /// All algorithms of this version.
    pub const ALL: &'static [Algorithm] = &[
        // algorithms.py: rust_all
        Algorithm::Sha1,
        Algorithm::Sha224,
        Algorithm::Sha256,
        Algorithm::Sha384,
        Algorithm::Sha512,
        Algorithm::Sha512_224,
        Algorithm::Sha512_256,
        Algorithm::Ripemd160,
        Algorithm::Md5,
        Algorithm::Sha3_224,
        Algorithm::Sha3_256,
        Algorithm::Sha3_384,
        Algorithm::Sha3_512,
        Algorithm::Keccak256,
        Algorithm::Shake128,
        Algorithm::Shake256,
        Algorithm::Sm3,
        Algorithm::Blake2b,
        Algorithm::Blake2b256,
        Algorithm::Blake2s,
        Algorithm::Blake3,
        // algorithms.py: end
    ];

    const fn row(self) -> &'static Row {
        &ROWS[self as usize - 1]
    }

    /// The name that [`FromStr`] reads and [`Display`](fmt::Display) writes: lower case, with `-` in place of the
    /// standard's `/`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// The name in its standard.
    pub const fn title(self) -> &'static str {
        self.row().title
    }

    /// The names in lists of BSD's form, `TAG (file) = digest`: the one that writers use, then others.
    pub const fn tags(self) -> &'static [&'static str] {
        self.row().tags
    }

    /// Bytes in a digest; of an XOF ([`is_xof`](Self::is_xof)), those that it has if nothing else is said: twice its
    /// strength.
    pub const fn digest_nbytes(self) -> usize {
        self.row().digest_nbytes
    }

    /// Bytes in a block, the unit that a message is hashed in. HMAC pads its key to one block.
    pub const fn block_nbytes(self) -> usize {
        self.row().block_nbytes
    }

    /// Whether digests may have any length (FIPS 202 section 6.2).
    pub const fn is_xof(self) -> bool {
        self.row().is_xof
    }

    /// Whether HMAC and PBKDF2 are defined with it: not with an XOF, nor with BLAKE2, which takes a key itself
    /// ([`Hasher::blake2`](crate::Hasher::blake2)).
    pub const fn has_hmac(self) -> bool {
        self.row().has_hmac
    }

    /// The block function that it iterates.
    pub(crate) const fn body(self) -> sys::hl_body {
        self.row().body
    }
}

/// An algorithm's row in the list of algorithms.
struct Row {
    name: &'static str,
    title: &'static str,
    tags: &'static [&'static str],
    digest_nbytes: usize,
    block_nbytes: usize,
    body: sys::hl_body,
    is_xof: bool,
    has_hmac: bool,
}

/// By the numbers of the algorithms, from 1 on.
#[rustfmt::skip]
static ROWS: [Row; Algorithm::ALL.len()] = [
    // algorithms.py: rust_rows
    Row { name: "sha1", title: "SHA-1", tags: &["SHA1", "SHA-1"],
        digest_nbytes: 20, block_nbytes: 64, body: sys::HL_BODY_SHA1, is_xof: false, has_hmac: true },
    Row { name: "sha256", title: "SHA-256", tags: &["SHA256", "SHA2-256", "SHA-256"],
        digest_nbytes: 32, block_nbytes: 64, body: sys::HL_BODY_SHA256, is_xof: false, has_hmac: true },
    Row { name: "sha224", title: "SHA-224", tags: &["SHA224", "SHA2-224"],
        digest_nbytes: 28, block_nbytes: 64, body: sys::HL_BODY_SHA256, is_xof: false, has_hmac: true },
    Row { name: "sha384", title: "SHA-384", tags: &["SHA384", "SHA2-384"],
        digest_nbytes: 48, block_nbytes: 128, body: sys::HL_BODY_SHA512, is_xof: false, has_hmac: true },
    Row { name: "sha512", title: "SHA-512", tags: &["SHA512", "SHA2-512", "SHA-512"],
        digest_nbytes: 64, block_nbytes: 128, body: sys::HL_BODY_SHA512, is_xof: false, has_hmac: true },
    Row { name: "sha512-224", title: "SHA-512/224", tags: &["SHA512/224", "SHA512-224", "SHA2-512/224", "SHA512t224"],
        digest_nbytes: 28, block_nbytes: 128, body: sys::HL_BODY_SHA512, is_xof: false, has_hmac: true },
    Row { name: "sha512-256", title: "SHA-512/256", tags: &["SHA512/256", "SHA512-256", "SHA2-512/256", "SHA512t256"],
        digest_nbytes: 32, block_nbytes: 128, body: sys::HL_BODY_SHA512, is_xof: false, has_hmac: true },
    Row { name: "ripemd160", title: "RIPEMD-160", tags: &["RMD160", "RIPEMD160", "RIPEMD-160"],
        digest_nbytes: 20, block_nbytes: 64, body: sys::HL_BODY_RIPEMD160, is_xof: false, has_hmac: true },
    Row { name: "md5", title: "MD5", tags: &["MD5"],
        digest_nbytes: 16, block_nbytes: 64, body: sys::HL_BODY_MD5, is_xof: false, has_hmac: true },
    Row { name: "sha3-224", title: "SHA3-224", tags: &["SHA3-224", "SHA3_224"],
        digest_nbytes: 28, block_nbytes: 144, body: sys::HL_BODY_KECCAK, is_xof: false, has_hmac: true },
    Row { name: "sha3-256", title: "SHA3-256", tags: &["SHA3-256", "SHA3_256"],
        digest_nbytes: 32, block_nbytes: 136, body: sys::HL_BODY_KECCAK, is_xof: false, has_hmac: true },
    Row { name: "sha3-384", title: "SHA3-384", tags: &["SHA3-384", "SHA3_384"],
        digest_nbytes: 48, block_nbytes: 104, body: sys::HL_BODY_KECCAK, is_xof: false, has_hmac: true },
    Row { name: "sha3-512", title: "SHA3-512", tags: &["SHA3-512", "SHA3_512"],
        digest_nbytes: 64, block_nbytes: 72, body: sys::HL_BODY_KECCAK, is_xof: false, has_hmac: true },
    Row { name: "shake128", title: "SHAKE128", tags: &["SHAKE128", "SHAKE-128"],
        digest_nbytes: 32, block_nbytes: 168, body: sys::HL_BODY_KECCAK, is_xof: true, has_hmac: false },
    Row { name: "shake256", title: "SHAKE256", tags: &["SHAKE256", "SHAKE-256"],
        digest_nbytes: 64, block_nbytes: 136, body: sys::HL_BODY_KECCAK, is_xof: true, has_hmac: false },
    Row { name: "keccak-256", title: "Keccak-256", tags: &["KECCAK-256", "Keccak-256"],
        digest_nbytes: 32, block_nbytes: 136, body: sys::HL_BODY_KECCAK, is_xof: false, has_hmac: true },
    Row { name: "sm3", title: "SM3", tags: &["SM3"],
        digest_nbytes: 32, block_nbytes: 64, body: sys::HL_BODY_SM3, is_xof: false, has_hmac: true },
    Row { name: "blake2b", title: "BLAKE2b", tags: &["BLAKE2b", "BLAKE2B", "BLAKE2b-512", "BLAKE2B-512", "BLAKE2b512"],
        digest_nbytes: 64, block_nbytes: 128, body: sys::HL_BODY_BLAKE2B, is_xof: false, has_hmac: false },
    Row { name: "blake2b-256", title: "BLAKE2b-256", tags: &["BLAKE2b-256", "BLAKE2B-256"],
        digest_nbytes: 32, block_nbytes: 128, body: sys::HL_BODY_BLAKE2B, is_xof: false, has_hmac: false },
    Row { name: "blake2s", title: "BLAKE2s", tags: &["BLAKE2s", "BLAKE2S", "BLAKE2s-256", "BLAKE2S-256", "BLAKE2s256"],
        digest_nbytes: 32, block_nbytes: 64, body: sys::HL_BODY_BLAKE2S, is_xof: false, has_hmac: false },
    Row { name: "blake3", title: "BLAKE3", tags: &["BLAKE3"],
        digest_nbytes: 32, block_nbytes: 64, body: sys::HL_BODY_BLAKE3, is_xof: false, has_hmac: false },
    // algorithms.py: end
];

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Algorithm {
    type Err = ParseAlgorithmError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Algorithm::ALL.iter().find(|algorithm| algorithm.name() == name);
        found.copied().ok_or_else(|| ParseAlgorithmError { name: name.into() })
    }
}

/// The error for a name that no [`Algorithm`] has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseAlgorithmError {
    name: String,
}

impl fmt::Display for ParseAlgorithmError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown algorithm {:?}: expected one of ", self.name)?;
        for (i, algorithm) in Algorithm::ALL.iter().enumerate() {
            write!(f, "{}{algorithm}", if i == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl core::error::Error for ParseAlgorithmError {}
