// SPDX-License-Identifier: MIT OR Apache-2.0
//! HMAC as types with the RustCrypto traits, to replace `hmac::Hmac<sha2::Sha256>` and the others.

use core::fmt;

use digest::array::Array;
use digest::common::{AlgorithmName, InvalidLength, KeySizeUser};
use digest::consts::{U16, U20, U28, U32, U48, U64, U128};
use digest::{FixedOutput, FixedOutputReset, Key, KeyInit, MacMarker, Output, OutputSizeUser, Reset, Update};

use crate::{Algorithm, Hmac, HmacKey, hmac_many};

macro_rules! mac {
    ($type:ident, $name:literal, $standard:literal, $algorithm:expr, $block:ty, $output:ty, $tag:literal) => {
        #[doc = concat!("HMAC with ", $name, " and the traits of the [`digest`] crate: `Mac`, `KeyInit`, `Clone`, …")]
        ///
        /// The type replaces `hmac::Hmac`. Like that type, it keeps the key as the states of its hashes and takes keys
        /// of any length with `new_from_slice`. The value is wiped when dropped. [`Hmac`] does the same with an
        /// algorithm chosen at run time.
        ///
        #[doc = concat!("The standard is FIPS 198-1; test vectors are in ", $standard, ".")]
        ///
        /// ```
        #[doc = concat!("use hashloom::", stringify!($type), ";")]
        /// use hashloom::digest::{KeyInit, Mac};
        ///
        #[doc = concat!("let mut mac = ", stringify!($type), "::new_from_slice(b\"Jefe\").unwrap();")]
        /// mac.update(b"what do ya want for nothing?");
        #[doc = concat!("assert_eq!(mac.finalize().into_bytes()[..4], ", $tag, ");")]
        /// ```
        #[derive(Clone)]
        pub struct $type {
            mac: Hmac,
        }

        impl $type {
            /// Computes the tags of many messages under one key, side by side in lanes: `tags[i]` is that of
            /// `messages[i]`.
            ///
            /// This is [`hmac_many`](crate::hmac_many()) with the RustCrypto types.
            ///
            /// # Panics
            ///
            /// If the key has another algorithm, or there are not as many tags as messages, or a message is longer than
            /// 2<sup>61</sup> − 1 bytes less a block.
            ///
            /// ```
            #[doc = concat!("use hashloom::{Algorithm, HmacKey, ", stringify!($type), " as Mac, digest::Output};")]
            ///
            #[doc = concat!("let key = HmacKey::new(", stringify!($algorithm), ", b\"Jefe\");")]
            /// let mut tags = [Output::<Mac>::default(); 2];
            /// Mac::mac_many(&key, &["", "what do ya want for nothing?"], &mut tags);
            #[doc = concat!("assert_eq!(tags[1][..4], ", $tag, ");")]
            /// ```
            pub fn mac_many<M: AsRef<[u8]>>(key: &HmacKey, messages: &[M], tags: &mut [Output<Self>]) {
                assert!(
                    key.algorithm() == $algorithm,
                    "mac_many: a key of {} for {}",
                    key.algorithm(),
                    stringify!($type)
                );
                assert!(
                    messages.len() == tags.len(),
                    "mac_many: {} messages but room for {} tags",
                    messages.len(),
                    tags.len()
                );
                hmac_many(key, messages, Array::slice_as_flattened_mut(tags));
            }
        }

        impl KeySizeUser for $type {
            type KeySize = $block;
        }

        impl KeyInit for $type {
            fn new(key: &Key<Self>) -> Self {
                $type { mac: Hmac::new(&HmacKey::new($algorithm, key)) }
            }

            fn new_from_slice(key: &[u8]) -> Result<Self, InvalidLength> {
                Ok($type { mac: Hmac::new(&HmacKey::new($algorithm, key)) })
            }
        }

        impl MacMarker for $type {}

        impl OutputSizeUser for $type {
            type OutputSize = $output;
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
                f.write_str(concat!("Hmac<", $name, ">"))
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

mac!(HmacSha1, "Sha1", "RFC 2202", Algorithm::Sha1, U64, U20, "[0xef, 0xfc, 0xdf, 0x6a]");
mac!(HmacSha224, "Sha224", "RFC 4231", Algorithm::Sha224, U64, U28, "[0xa3, 0x0e, 0x01, 0x09]");
mac!(HmacSha256, "Sha256", "RFC 4231", Algorithm::Sha256, U64, U32, "[0x5b, 0xdc, 0xc1, 0x46]");
mac!(HmacSha384, "Sha384", "RFC 4231", Algorithm::Sha384, U128, U48, "[0xaf, 0x45, 0xd2, 0xe3]");
mac!(HmacSha512, "Sha512", "RFC 4231", Algorithm::Sha512, U128, U64, "[0x16, 0x4b, 0x7a, 0x7b]");
mac!(HmacSha512_224, "Sha512_224", "none", Algorithm::Sha512_224, U128, U28, "[0x4a, 0x53, 0x0b, 0x31]");
mac!(HmacSha512_256, "Sha512_256", "none", Algorithm::Sha512_256, U128, U32, "[0x6d, 0xf7, 0xb2, 0x46]");
mac!(HmacRipemd160, "Ripemd160", "RFC 2286", Algorithm::Ripemd160, U64, U20, "[0xdd, 0xa6, 0xc0, 0x21]");
mac!(HmacMd5, "Md5", "RFC 2202", Algorithm::Md5, U64, U16, "[0x75, 0x0c, 0x78, 0x3e]");
