// SPDX-License-Identifier: MIT OR Apache-2.0
//! The algorithms as types with the RustCrypto traits, in the place of the `sha1` and `sha2` crates' types.

use digest::Output;
use digest::array::Array;

use crate::block_api::{Sha1Core, Sha256Core};
use crate::{Algorithm, hash_many};

digest::buffer_fixed!(
    /// SHA-1 with the traits of the [`digest`] crate, a drop-in for `sha1::Sha1`: `Digest`, `Clone`, `Reset`,
    /// `CoreProxy` (so `hmac::Hmac` takes it), `SerializableState`, …
    ///
    /// Not collision resistant: for existing formats only. The standard is FIPS 180-4 section 6.1.
    ///
    /// ```
    /// use hashloom::{Sha1, digest::Digest};
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
    /// use hashloom::{Sha256, digest::Digest};
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

macro_rules! inherent {
    ($type:ident, $algorithm:expr) => {
        impl $type {
            /// The digests of many messages, side by side in lanes: `digests[i]` is that of `messages[i]`.
            ///
            /// Any number of messages of any mixture of lengths; neighbours of similar length are fastest. This is
            /// [`hash_many`](crate::hash_many) with the RustCrypto types.
            ///
            /// # Panics
            ///
            /// If there are not as many digests as messages. If a message is longer than 2<sup>61</sup> − 1 bytes.
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

        /// Never fails and takes everything.
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
inherent!(Sha256, Algorithm::Sha256);
