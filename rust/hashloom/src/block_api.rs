// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block-level types behind [`Sha256`](crate::Sha256) and the others, as in the RustCrypto crates: they take whole
//! blocks and have no buffer. `hmac::Hmac` builds on these types.
//!
//! ```
//! use hashloom::{block_api::Sha256Core, digest::block_api::UpdateCore};
//!
//! let mut core = Sha256Core::default();
//! core.update_blocks(&[[0; 64].into(), [1; 64].into()]);
//! ```

use core::fmt;

use digest::array::Array;
use digest::block_api::{
    AlgorithmName, Block, BlockSizeUser, Buffer, BufferKindUser, Eager, FixedOutputCore, OutputSizeUser, Reset,
    UpdateCore,
};
use digest::common::hazmat::{DeserializeStateError, SerializableState, SerializedState};
use digest::consts::{U16, U20, U24, U28, U32, U40, U48, U64, U80, U128};
use digest::{HashMarker, Output};

use crate::{Algorithm, ffi};

macro_rules! block_level {
    ($(#[$attr:meta])* $core:ident, $algorithm:expr, $name:literal, $output:ty, [$word:ty; $nwords:literal], $block:ty,
        $count:ty, $serialized:ty) => {
        $(#[$attr])*
        #[derive(Clone)]
        pub struct $core {
            /// Always at a block boundary; final only after calls for which the traits allow a dirty state.
            ctx: ffi::Ctx,
        }

        impl Default for $core {
            #[inline]
            fn default() -> Self {
                $core { ctx: ffi::Ctx::new($algorithm) }
            }
        }

        impl Reset for $core {
            #[inline]
            fn reset(&mut self) {
                self.ctx.reset();
            }
        }

        impl HashMarker for $core {}

        impl BlockSizeUser for $core {
            type BlockSize = $block;
        }

        impl BufferKindUser for $core {
            type BufferKind = Eager;
        }

        impl OutputSizeUser for $core {
            type OutputSize = $output;
        }

        impl UpdateCore for $core {
            #[inline]
            fn update_blocks(&mut self, blocks: &[Block<Self>]) {
                self.ctx.update(Array::slice_as_flattened(blocks));
            }
        }

        impl FixedOutputCore for $core {
            #[inline]
            fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
                self.ctx.update(buffer.get_data());
                self.ctx.finalize(out);
                buffer.reset();
            }
        }

        impl AlgorithmName for $core {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str($name)
            }
        }

        impl fmt::Debug for $core {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($core), " { ... }"))
            }
        }

        /// The format of the crates `sha1` and `sha2`, version 0.11, and `ripemd`, version 0.2: the words of the state,
        /// then the number of blocks in as many bytes as the padding uses for the length, all little-endian.
        impl SerializableState for $core {
            type SerializedStateSize = $serialized;

            fn serialize(&self) -> SerializedState<Self> {
                let (words, nblocks) = self.ctx.midstate::<$word, $nwords>();
                let mut serialized = SerializedState::<Self>::default();
                let (states, count) = serialized.split_at_mut(size_of::<[$word; $nwords]>());
                for (bytes, word) in states.chunks_exact_mut(size_of::<$word>()).zip(words) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                count.copy_from_slice(&<$count>::from(nblocks).to_le_bytes());
                serialized
            }

            fn deserialize(serialized: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
                let (states, count) = serialized.split_at(size_of::<[$word; $nwords]>());
                let mut words = [0; $nwords];
                for (word, bytes) in words.iter_mut().zip(states.chunks_exact(size_of::<$word>())) {
                    *word = <$word>::from_le_bytes(bytes.try_into().map_err(|_| DeserializeStateError)?);
                }
                let count = <$count>::from_le_bytes(count.try_into().map_err(|_| DeserializeStateError)?);
                let nblocks = count.try_into().map_err(|_| DeserializeStateError)?;
                let ctx = ffi::Ctx::from_midstate($algorithm, words, nblocks).ok_or(DeserializeStateError)?;
                Ok($core { ctx })
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $core {}
    };
}

block_level!(
    /// SHA-1 over whole blocks (FIPS 180-4 section 6.1.2).
    ///
    /// ```
    /// use hashloom::{block_api::Sha1Core, digest::block_api::UpdateCore};
    ///
    /// Sha1Core::default().update_blocks(&[[0; 64].into()]);
    /// ```
    Sha1Core,
    Algorithm::Sha1,
    "Sha1",
    U20,
    [u32; 5],
    U64,
    u64,
    U28
);

block_level!(
    /// SHA-224 over whole blocks (FIPS 180-4 section 6.3).
    ///
    /// ```
    /// use hashloom::{block_api::Sha224Core, digest::block_api::UpdateCore};
    ///
    /// Sha224Core::default().update_blocks(&[[0; 64].into()]);
    /// ```
    Sha224Core,
    Algorithm::Sha224,
    "Sha224",
    U28,
    [u32; 8],
    U64,
    u64,
    U40
);

block_level!(
    /// SHA-256 over whole blocks (FIPS 180-4 section 6.2.2).
    ///
    /// ```
    /// use hashloom::{block_api::Sha256Core, digest::block_api::UpdateCore};
    ///
    /// Sha256Core::default().update_blocks(&[[0; 64].into()]);
    /// ```
    Sha256Core,
    Algorithm::Sha256,
    "Sha256",
    U32,
    [u32; 8],
    U64,
    u64,
    U40
);

block_level!(
    /// SHA-384 over whole blocks (FIPS 180-4 section 6.5).
    ///
    /// ```
    /// use hashloom::{block_api::Sha384Core, digest::block_api::UpdateCore};
    ///
    /// Sha384Core::default().update_blocks(&[[0; 128].into()]);
    /// ```
    Sha384Core,
    Algorithm::Sha384,
    "Sha384",
    U48,
    [u64; 8],
    U128,
    u128,
    U80
);

block_level!(
    /// SHA-512 over whole blocks (FIPS 180-4 section 6.4.2).
    ///
    /// ```
    /// use hashloom::{block_api::Sha512Core, digest::block_api::UpdateCore};
    ///
    /// Sha512Core::default().update_blocks(&[[0; 128].into()]);
    /// ```
    Sha512Core,
    Algorithm::Sha512,
    "Sha512",
    U64,
    [u64; 8],
    U128,
    u128,
    U80
);

block_level!(
    /// SHA-512/224 over whole blocks (FIPS 180-4 section 6.6).
    ///
    /// ```
    /// use hashloom::{block_api::Sha512_224Core, digest::block_api::UpdateCore};
    ///
    /// Sha512_224Core::default().update_blocks(&[[0; 128].into()]);
    /// ```
    Sha512_224Core,
    Algorithm::Sha512_224,
    "Sha512_224",
    U28,
    [u64; 8],
    U128,
    u128,
    U80
);

block_level!(
    /// SHA-512/256 over whole blocks (FIPS 180-4 section 6.7).
    ///
    /// ```
    /// use hashloom::{block_api::Sha512_256Core, digest::block_api::UpdateCore};
    ///
    /// Sha512_256Core::default().update_blocks(&[[0; 128].into()]);
    /// ```
    Sha512_256Core,
    Algorithm::Sha512_256,
    "Sha512_256",
    U32,
    [u64; 8],
    U128,
    u128,
    U80
);

block_level!(
    /// RIPEMD-160 over whole blocks (Dobbertin, Bosselaers, Preneel 1996).
    ///
    /// ```
    /// use hashloom::{block_api::Ripemd160Core, digest::block_api::UpdateCore};
    ///
    /// Ripemd160Core::default().update_blocks(&[[0; 64].into()]);
    /// ```
    Ripemd160Core,
    Algorithm::Ripemd160,
    "Ripemd160",
    U20,
    [u32; 5],
    U64,
    u64,
    U28
);

block_level!(
    /// MD5 over whole blocks (RFC 1321 section 3.4).
    ///
    /// ```
    /// use hashloom::{block_api::Md5Core, digest::block_api::UpdateCore};
    ///
    /// Md5Core::default().update_blocks(&[[0; 64].into()]);
    /// ```
    Md5Core,
    Algorithm::Md5,
    "Md5",
    U16,
    [u32; 4],
    U64,
    u64,
    U24
);
