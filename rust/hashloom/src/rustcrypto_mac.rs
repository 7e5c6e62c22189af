// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC as types with the RustCrypto traits, to replace `hmac::Hmac<sha2::Sha256>` and the others.

use core::fmt;

use digest::common::{AlgorithmName, InvalidLength, KeySizeUser};
use digest::{FixedOutput, FixedOutputReset, Key, KeyInit, MacMarker, Output, OutputSizeUser, Reset, Update, consts};

use crate::{Algorithm, Hmac, HmacKey};

macro_rules! mac {
    ($type:ident, $hash:ident, $block:ident, $output:ident) => {
        #[doc = concat!("HMAC with [`", stringify!($hash), "`](crate::", stringify!($hash), ") and the traits of the")]
        /// [`digest`] crate: `Mac`, `KeyInit`, `Clone`, …
        ///
        /// The type replaces `hmac::Hmac`. Like that type, it keeps the key as the states of its hashes and takes keys
        /// of any length with `new_from_slice`. The value is wiped when dropped. [`Hmac`] does the same with an
        /// algorithm chosen at run time.
        ///
        /// The standard is FIPS 198-1.
        ///
        /// ```
        #[doc = concat!("use hashloom::{Algorithm, HmacKey, ", stringify!($type), ", hmac};")]
        /// use hashloom::digest::{KeyInit, Mac};
        ///
        #[doc = concat!("let mut mac = ", stringify!($type), "::new_from_slice(b\"Jefe\").unwrap();")]
        /// mac.update(b"message");
        #[doc = concat!("let key = HmacKey::new(Algorithm::", stringify!($hash), ", b\"Jefe\");")]
        /// assert_eq!(hmac(&key, b"message"), mac.finalize().into_bytes()[..]);
        /// ```
        #[derive(Clone)]
        pub struct $type {
            mac: Hmac,
        }

        impl KeySizeUser for $type {
            type KeySize = consts::$block;
        }

        impl KeyInit for $type {
            fn new(key: &Key<Self>) -> Self {
                $type { mac: Hmac::new(&HmacKey::new(Algorithm::$hash, key)) }
            }

            fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
                Ok($type { mac: Hmac::new(&HmacKey::new(Algorithm::$hash, key)) })
            }
        }

        impl MacMarker for $type {}

        impl OutputSizeUser for $type {
            type OutputSize = consts::$output;
        }

        impl Update for $type {
            #[inline]
            fn update(&mut self, data: &[u8]) {
                self.mac.update(data);
            }
        }

        impl FixedOutput for $type {
            fn finalize_into(self, out: &mut Output<Self>) {
                out.copy_from_slice(self.mac.finalize().as_ref());
            }
        }

        impl Reset for $type {
            fn reset(&mut self) {
                self.mac.reset();
            }
        }

        impl FixedOutputReset for $type {
            fn finalize_into_reset(&mut self, out: &mut Output<Self>) {
                out.copy_from_slice(self.mac.finalize_reset().as_ref());
            }
        }

        impl AlgorithmName for $type {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!("Hmac<", stringify!($hash), ">"))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($type), " { ... }"))
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $type {}
    };
}

include!("rows/macs.rs");
