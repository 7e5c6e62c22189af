// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms as types with the RustCrypto traits, to replace the types of the crates `sha1`, `sha2`, `sha3`,
//! `md-5` and `ripemd`.

use core::any::TypeId;

use digest::array::Array;
use digest::{Digest, Output};

use crate::{Algorithm, block_api, hash_many};

/// [`hash_many`] for code that is generic over [`Digest`]: every hash function that has that trait has this one too.
///
/// Types of this crate hash side by side in lanes; others, such as those of `sha2`, one message after the other. Which
/// of the two is known when the program is compiled.
///
/// ```
/// use hashloom::digest::{Digest, Output};
/// use hashloom::{DigestMany, Sha256};
///
/// /// A layer of a Merkle tree by any hash function: the nodes above pairs.
/// fn above<D: Digest + 'static>(layer: &[Output<D>]) -> Vec<Output<D>> {
///     let pairs: Vec<_> = layer.chunks_exact(2).map(|pair| pair.concat()).collect();
///     let mut above = vec![Default::default(); pairs.len()];
///     D::digest_many(&pairs, &mut above);
///     above
/// }
///
/// let leaves = ["a", "b"].map(Sha256::digest);
/// assert_eq!(above::<Sha256>(&leaves), above::<sha2::Sha256>(&leaves));
/// ```
pub trait DigestMany: Digest {
    /// Computes the digests of many messages: `digests[i]` is that of `messages[i]`. Lengths may be any mixture;
    /// neighbours of similar length are fastest.
    ///
    /// # Panics
    ///
    /// If there are not as many digests as messages, or a message is longer than 2<sup>61</sup> − 1 bytes.
    fn digest_many<M: AsRef<[u8]>>(messages: &[M], digests: &mut [Output<Self>]);
}

impl<D: Digest + 'static> DigestMany for D {
    fn digest_many<M: AsRef<[u8]>>(messages: &[M], digests: &mut [Output<Self>]) {
        assert!(
            messages.len() == digests.len(),
            "digest_many: {} messages but room for {} digests",
            messages.len(),
            digests.len()
        );
        match algorithm_of::<D>() {
            Some(algorithm) => hash_many(algorithm, messages, Array::slice_as_flattened_mut(digests)),
            None => messages.iter().zip(digests).for_each(|(message, digest)| *digest = D::digest(message)),
        }
    }
}

/// Which type of this crate `D` is, if any.
macro_rules! types {
    ($($feature:literal $type:ident)*) => {
        fn algorithm_of<D: 'static>() -> Option<Algorithm> {
            $(
                #[cfg(feature = $feature)]
                if TypeId::of::<D>() == TypeId::of::<$type>() {
                    return Some(Algorithm::$type);
                }
            )*
            None
        }
    };
}

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
            /// ```
            pub struct $type(block_api::$core);
            $(oid: $oid;)?
            impl: FixedHashTraits;
        );

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
