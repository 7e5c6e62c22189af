// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms as types with the RustCrypto traits, to replace the types of the crates `sha1`, `sha2`, `sha3`,
//! `md-5` and `ripemd`.

use digest::Output;
use digest::array::Array;

use crate::{Algorithm, block_api, hash_many};

macro_rules! fixed {
    ($type:ident, $core:ident, $title:literal, $peer:literal, $standard:literal $(, oid $oid:literal)?) => {
        digest::buffer_fixed!(
            #[doc = concat!($title, " with the traits of the [`digest`] crate, a drop-in for `", $peer, "`:")]
            /// `Digest`, `Clone`, `Reset`, `CoreProxy` (so `hmac::Hmac` takes it), `SerializableState`, …
            ///
            #[doc = $standard]
            ///
            /// ```
            #[doc = concat!("use hashloom::{Algorithm, Digest, ", stringify!($type), ", hash};")]
            ///
            #[doc = concat!("let mut hasher = ", stringify!($type), "::new();")]
            /// hasher.update(b"a");
            /// hasher.update(b"bc");
            #[doc = concat!("assert_eq!(hash(Algorithm::", stringify!($type), ", b\"abc\"), hasher.finalize()[..]);")]
            /// let mut digests = [Default::default(); 2];
            #[doc = concat!(stringify!($type), "::digest_many(&[\"\", \"of another length\"], &mut digests);")]
            #[doc = concat!("assert_eq!(digests[1], ", stringify!($type), "::digest(\"of another length\"));")]
            /// ```
            pub struct $type(block_api::$core);
            $(oid: $oid;)?
            impl: FixedHashTraits;
        );

        impl $type {
            /// Computes the digests of many messages, side by side in lanes: `digests[i]` is that of `messages[i]`.
            ///
            /// The messages may be any number, of any mixture of lengths; neighbours of similar length are fastest.
            /// This is [`hash_many`](crate::hash_many) with the RustCrypto types.
            ///
            /// # Panics
            ///
            /// If there are not as many digests as messages, or a message is longer than 2<sup>61</sup> − 1 bytes.
            pub fn digest_many<M: AsRef<[u8]>>(messages: &[M], digests: &mut [Output<Self>]) {
                assert!(
                    messages.len() == digests.len(),
                    "digest_many: {} messages but room for {} digests",
                    messages.len(),
                    digests.len()
                );
                hash_many(Algorithm::$type, messages, Array::slice_as_flattened_mut(digests));
            }
        }
        crate::hasher::writer!($type, digest::Update::update);
    };
}

macro_rules! xof {
    ($type:ident, $core:ident, $reader:ident, $reader_core:ident, $title:literal, $peer:literal, $standard:literal
        $(, oid $oid:literal)?) => {
        digest::buffer_xof!(
            #[doc = concat!($title, " with the traits of the [`digest`] crate, a drop-in for `", $peer, "`:")]
            /// `ExtendableOutput`, `Update`, `Clone`, `Reset`, `CoreProxy`, `SerializableState`, …
            ///
            #[doc = $standard]
            ///
            /// ```
            #[doc = concat!("use hashloom::{Algorithm, ", stringify!($type), ", ", stringify!($reader), ", xof};")]
            /// use hashloom::digest::{ExtendableOutput, Update, XofReader};
            ///
            #[doc = concat!("let message = ", stringify!($type), "::default().chain(b\"a\").chain(b\"bc\");")]
            #[doc = concat!("let mut reader: ", stringify!($reader), " = message.finalize_xof();")]
            /// let (mut digest, mut expected) = ([0; 1000], [0; 1000]);
            /// reader.read(&mut digest[..10]);
            /// reader.read(&mut digest[10..]);
            #[doc = concat!("xof(Algorithm::", stringify!($type), ", b\"abc\", &mut expected);")]
            /// assert_eq!(digest, expected);
            /// ```
            pub struct $type(block_api::$core);
            $(oid: $oid;)?
            impl: XofHasherTraits;
            #[doc = concat!("Reads a digest of [`", stringify!($type), "`], of any length.")]
            pub struct $reader(block_api::$reader_core);
            impl: XofReaderTraits;
        );

        impl digest::CollisionResistance for $type {
            type CollisionResistance = <block_api::$core as digest::CollisionResistance>::CollisionResistance;
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $type {}
        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $reader {}

        crate::hasher::writer!($type, digest::Update::update);

        crate::xof::reader!($reader, digest::XofReader::read);
    };
}

include!("rows/types.rs");
