// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms, chosen at run time.

use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use hashloom_sys as sys;

macro_rules! algorithms {
    ($($feature:literal $(#[$doc:meta])* $name:ident = $id:ident, $text:literal, $title:literal, [$($tag:literal),*],
        $digest_nbytes:literal, $block_nbytes:literal, $body:ident, $is_xof:literal, $has_hmac:literal;)*) => {
        /// A hash algorithm. A build has those that its features name.
        ///
        /// ```
        /// use hashloom::Algorithm;
        ///
        /// let algorithm: Algorithm = "sha256".parse()?;
        /// assert_eq!(algorithm, Algorithm::Sha256);
        /// assert_eq!((algorithm.name(), algorithm.title()), ("sha256", "SHA-256"));
        /// assert_eq!((algorithm.digest_nbytes(), algorithm.block_nbytes()), (32, 64));
        /// assert!(algorithm.has_hmac() && !algorithm.is_xof() && Algorithm::ALL.contains(&algorithm));
        /// assert_eq!(algorithm.tags()[..2], ["SHA256", "SHA2-256"]);
        /// # Ok::<(), hashloom::ParseAlgorithmError>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u32)]
        pub enum Algorithm {
            $(#[cfg(feature = $feature)] $(#[$doc])* $name = sys::$id,)*
        }

        impl Algorithm {
            /// All algorithms of this build.
            pub const ALL: &'static [Algorithm] = &[$(#[cfg(feature = $feature)] Algorithm::$name,)*];

            const fn row(self) -> &'static Row {
                match self {
                    $(#[cfg(feature = $feature)] Algorithm::$name => &Row {
                        name: $text,
                        title: $title,
                        tags: &[$($tag),*],
                        digest_nbytes: $digest_nbytes,
                        block_nbytes: $block_nbytes,
                        body: sys::$body,
                        is_xof: $is_xof,
                        has_hmac: $has_hmac,
                    },)*
                }
            }
        }
    };
}

include!("rows/algorithms.rs");

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

impl Algorithm {
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
