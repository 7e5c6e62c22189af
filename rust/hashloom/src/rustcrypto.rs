// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms as types with the RustCrypto traits, to replace the types of the crates `sha1`, `sha2` and `ripemd`.

use digest::Output;
use digest::array::Array;

use crate::block_api::{
    Md5Core, Ripemd160Core, Sha1Core, Sha224Core, Sha256Core, Sha384Core, Sha512_224Core, Sha512_256Core, Sha512Core,
};
use crate::{Algorithm, hash_many};

digest::buffer_fixed!(
    /// SHA-1 with the traits of the [`digest`] crate, a drop-in for `sha1::Sha1`: `Digest`, `Clone`, `Reset`,
    /// `CoreProxy` (so `hmac::Hmac` takes it), `SerializableState`, …
    ///
    /// Not collision resistant: for existing formats only. The standard is FIPS 180-4 section 6.1.
    ///
    /// ```
    /// use hashloom::{Sha1, Digest};
    ///
    /// let digest = Sha1::digest(b"abc");
    /// assert_eq!(digest[..4], [0xa9, 0x99, 0x3e, 0x36]);
    /// ```
    pub struct Sha1(Sha1Core);
    oid: "1.3.14.3.2.26";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-256 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha256`: `Digest`, `Clone`, `Reset`,
    /// `CoreProxy` (so `hmac::Hmac` takes it), `SerializableState`, …
    ///
    /// The standard is FIPS 180-4 section 6.2.
    ///
    /// ```
    /// use hashloom::{Sha256, Digest};
    ///
    /// let mut hasher = Sha256::new();
    /// hasher.update(b"a");
    /// hasher.update(b"bc");
    /// assert_eq!(hasher.finalize()[..4], [0xba, 0x78, 0x16, 0xbf]);
    /// ```
    pub struct Sha256(Sha256Core);
    oid: "2.16.840.1.101.3.4.2.1";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-224 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha224`; the traits are those of
    /// [`Sha256`].
    ///
    /// The standard is FIPS 180-4 section 6.3.
    ///
    /// ```
    /// use hashloom::{Sha224, Digest};
    ///
    /// let digest = Sha224::digest(b"abc");
    /// assert_eq!(digest[..4], [0x23, 0x09, 0x7d, 0x22]);
    /// ```
    pub struct Sha224(Sha224Core);
    oid: "2.16.840.1.101.3.4.2.4";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-384 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha384`; the traits are those of
    /// [`Sha256`].
    ///
    /// The standard is FIPS 180-4 section 6.5.
    ///
    /// ```
    /// use hashloom::{Sha384, Digest};
    ///
    /// let digest = Sha384::digest(b"abc");
    /// assert_eq!(digest[..4], [0xcb, 0x00, 0x75, 0x3f]);
    /// ```
    pub struct Sha384(Sha384Core);
    oid: "2.16.840.1.101.3.4.2.2";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-512 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha512`; the traits are those of
    /// [`Sha256`].
    ///
    /// The standard is FIPS 180-4 section 6.4.
    ///
    /// ```
    /// use hashloom::{Sha512, Digest};
    ///
    /// let digest = Sha512::digest(b"abc");
    /// assert_eq!(digest[..4], [0xdd, 0xaf, 0x35, 0xa1]);
    /// ```
    pub struct Sha512(Sha512Core);
    oid: "2.16.840.1.101.3.4.2.3";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-512/224 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha512_224`; the traits are those of
    /// [`Sha256`].
    ///
    /// The standard is FIPS 180-4 section 6.6.
    ///
    /// ```
    /// use hashloom::{Sha512_224, Digest};
    ///
    /// let digest = Sha512_224::digest(b"abc");
    /// assert_eq!(digest[..4], [0x46, 0x34, 0x27, 0x0f]);
    /// ```
    pub struct Sha512_224(Sha512_224Core);
    oid: "2.16.840.1.101.3.4.2.5";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// SHA-512/256 with the traits of the [`digest`] crate, a drop-in for `sha2::Sha512_256`; the traits are those of
    /// [`Sha256`].
    ///
    /// The standard is FIPS 180-4 section 6.7.
    ///
    /// ```
    /// use hashloom::{Sha512_256, Digest};
    ///
    /// let digest = Sha512_256::digest(b"abc");
    /// assert_eq!(digest[..4], [0x53, 0x04, 0x8e, 0x26]);
    /// ```
    pub struct Sha512_256(Sha512_256Core);
    oid: "2.16.840.1.101.3.4.2.6";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// RIPEMD-160 with the traits of the [`digest`] crate, a drop-in for `ripemd::Ripemd160`; the traits are those of
    /// [`Sha256`].
    ///
    /// For existing formats only. The algorithm is by Dobbertin, Bosselaers and Preneel, 1996; ISO/IEC 10118-3.
    ///
    /// ```
    /// use hashloom::{Ripemd160, Digest};
    ///
    /// let digest = Ripemd160::digest(b"abc");
    /// assert_eq!(digest[..4], [0x8e, 0xb2, 0x08, 0xf7]);
    /// ```
    pub struct Ripemd160(Ripemd160Core);
    oid: "1.3.36.3.2.1";
    impl: FixedHashTraits;
);

digest::buffer_fixed!(
    /// MD5 with the traits of the [`digest`] crate, a drop-in for `md5::Md5` of the crate `md-5`; the traits are those of
    /// [`Sha256`].
    ///
    /// For existing formats only: anybody can make collisions within seconds. The standard is RFC 1321.
    ///
    /// ```
    /// use hashloom::{Md5, Digest};
    ///
    /// let digest = Md5::digest(b"abc");
    /// assert_eq!(digest[..4], [0x90, 0x01, 0x50, 0x98]);
    /// ```
    pub struct Md5(Md5Core);
    oid: "1.2.840.113549.2.5";
    impl: FixedHashTraits;
);

macro_rules! inherent {
    ($type:ident, $algorithm:expr) => {
        impl $type {
            /// Computes the digests of many messages, side by side in lanes: `digests[i]` is that of `messages[i]`.
            ///
            /// The messages may be any number, of any mixture of lengths; neighbours of similar length are fastest.
            /// This is [`hash_many`](crate::hash_many) with the RustCrypto types.
            ///
            /// # Panics
            ///
            /// If there are not as many digests as messages, or a message is longer than 2<sup>61</sup> − 1 bytes.
            ///
            /// ```
            #[doc = concat!("use hashloom::{", stringify!($type), " as Hash, digest::{Digest, Output}};")]
            ///
            /// let messages = ["a", "", "of another length"];
            /// let mut digests = [Output::<Hash>::default(); 3];
            /// Hash::digest_many(&messages, &mut digests);
            /// assert_eq!(digests[2], Hash::digest("of another length"));
            /// ```
            pub fn digest_many<M: AsRef<[u8]>>(messages: &[M], digests: &mut [Output<Self>]) {
                assert!(
                    messages.len() == digests.len(),
                    "digest_many: {} messages but room for {} digests",
                    messages.len(),
                    digests.len()
                );
                hash_many($algorithm, messages, Array::slice_as_flattened_mut(digests));
            }
        }

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

inherent!(Sha1, Algorithm::Sha1);
inherent!(Sha224, Algorithm::Sha224);
inherent!(Sha256, Algorithm::Sha256);
inherent!(Sha384, Algorithm::Sha384);
inherent!(Sha512, Algorithm::Sha512);
inherent!(Sha512_224, Algorithm::Sha512_224);
inherent!(Sha512_256, Algorithm::Sha512_256);
inherent!(Ripemd160, Algorithm::Ripemd160);
inherent!(Md5, Algorithm::Md5);
