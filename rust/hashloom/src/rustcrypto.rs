// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms as types with the RustCrypto traits, to replace the types of the crates `sha1`, `sha2`, `sha3`,
//! `md-5` and `ripemd`.

use digest::Output;
use digest::array::Array;

use crate::{Algorithm, block_api, hash_many};

/// The inherent functions that all kinds of types share.
macro_rules! writer {
    ($type:ident) => {
        /// Writing never fails and always takes all bytes.
        #[cfg(feature = "std")]
        impl std::io::Write for $type {
            fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
                digest::Update::update(self, data);
                Ok(data.len())
            }

            fn flush(&mut self) -> std::io::Result<()> {
                Ok(())
            }
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

        writer!($type);
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

        writer!($type);

        /// Reading never fails and always fills the buffer.
        #[cfg(feature = "std")]
        impl std::io::Read for $reader {
            fn read(&mut self, digest: &mut [u8]) -> std::io::Result<usize> {
                digest::XofReader::read(self, digest);
                Ok(digest.len())
            }
        }
    };
}

// algorithms.py: rust_types
fixed! {
    Sha1, Sha1Core, "SHA-1", "sha1::Sha1",
    "Not collision resistant: for existing formats only. The standard is FIPS 180-4 section 6.1.", oid "1.3.14.3.2.26"
}
fixed! {
    Sha224, Sha224Core, "SHA-224", "sha2::Sha224",
    "The standard is FIPS 180-4 section 6.3.", oid "2.16.840.1.101.3.4.2.4"
}
fixed! {
    Sha256, Sha256Core, "SHA-256", "sha2::Sha256",
    "The standard is FIPS 180-4 section 6.2.", oid "2.16.840.1.101.3.4.2.1"
}
fixed! {
    Sha384, Sha384Core, "SHA-384", "sha2::Sha384",
    "The standard is FIPS 180-4 section 6.5.", oid "2.16.840.1.101.3.4.2.2"
}
fixed! {
    Sha512, Sha512Core, "SHA-512", "sha2::Sha512",
    "The standard is FIPS 180-4 section 6.4.", oid "2.16.840.1.101.3.4.2.3"
}
fixed! {
    Sha512_224, Sha512_224Core, "SHA-512/224", "sha2::Sha512_224",
    "The standard is FIPS 180-4 section 6.6.", oid "2.16.840.1.101.3.4.2.5"
}
fixed! {
    Sha512_256, Sha512_256Core, "SHA-512/256", "sha2::Sha512_256",
    "The standard is FIPS 180-4 section 6.7.", oid "2.16.840.1.101.3.4.2.6"
}
fixed! {
    Ripemd160, Ripemd160Core, "RIPEMD-160", "ripemd::Ripemd160",
    "The standard is Dobbertin, Bosselaers, Preneel 1996; ISO/IEC 10118-3.", oid "1.3.36.3.2.1"
}
fixed! {
    Md5, Md5Core, "MD5", "md5::Md5",
    "Not collision resistant: for existing formats only. The standard is RFC 1321.", oid "1.2.840.113549.2.5"
}
fixed! {
    Sha3_224, Sha3_224Core, "SHA3-224", "sha3::Sha3_224",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.7"
}
fixed! {
    Sha3_256, Sha3_256Core, "SHA3-256", "sha3::Sha3_256",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.8"
}
fixed! {
    Sha3_384, Sha3_384Core, "SHA3-384", "sha3::Sha3_384",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.9"
}
fixed! {
    Sha3_512, Sha3_512Core, "SHA3-512", "sha3::Sha3_512",
    "The standard is FIPS 202 section 6.1.", oid "2.16.840.1.101.3.4.2.10"
}
fixed! {
    Keccak256, Keccak256Core, "Keccak-256", "sha3::Keccak256",
    "The standard is Bertoni et al. 2011: The Keccak SHA-3 submission; Ethereum."
}
xof! {
    Shake128, Shake128Core, Shake128Reader, Shake128ReaderCore, "SHAKE128", "sha3::Shake128",
    "The standard is FIPS 202 section 6.2.", oid "2.16.840.1.101.3.4.2.11"
}
xof! {
    Shake256, Shake256Core, Shake256Reader, Shake256ReaderCore, "SHAKE256", "sha3::Shake256",
    "The standard is FIPS 202 section 6.2.", oid "2.16.840.1.101.3.4.2.12"
}
fixed! {
    Sm3, Sm3Core, "SM3", "sm3::Sm3",
    "The standard is GB/T 32905-2016.", oid "1.2.156.10197.1.401"
}
// algorithms.py: end
