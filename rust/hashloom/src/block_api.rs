// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block-level types behind [`Sha1`](crate::Sha1) and [`Sha256`](crate::Sha256), as the RustCrypto crates have
//! them: whole blocks in, no buffer. `hmac::Hmac` works on these.
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
use digest::consts::{U20, U28, U32, U40, U64};
use digest::{HashMarker, Output};

use crate::{Algorithm, ffi};

macro_rules! block_level {
    ($(#[$attr:meta])* $core:ident, $algorithm:expr, $name:literal, $output:ty, $nwords:literal, $serialized:ty) => {
        $(#[$attr])*
        #[derive(Clone)]
        pub struct $core {
            /// Always at a block boundary; final only where the traits allow a dirty state.
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
            type BlockSize = U64;
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

        /// The form of the `sha1` and `sha2` crates, version 0.11: the state's words, then the number of blocks, all
        /// little-endian.
        impl SerializableState for $core {
            type SerializedStateSize = $serialized;

            fn serialize(&self) -> SerializedState<Self> {
                let (words, nblocks) = self.ctx.midstate::<$nwords>();
                let mut serialized = SerializedState::<Self>::default();
                let (states, count) = serialized.split_at_mut(4 * $nwords);
                for (bytes, word) in states.chunks_exact_mut(4).zip(words) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
                count.copy_from_slice(&nblocks.to_le_bytes());
                serialized
            }

            fn deserialize(serialized: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
                let (states, count) = serialized.split_at(4 * $nwords);
                let mut words = [0; $nwords];
                for (word, bytes) in words.iter_mut().zip(states.chunks_exact(4)) {
                    *word = u32::from_le_bytes(bytes.try_into().map_err(|_| DeserializeStateError)?);
                }
                let nblocks = u64::from_le_bytes(count.try_into().map_err(|_| DeserializeStateError)?);
                let ctx = ffi::Ctx::from_midstate($algorithm, words, nblocks).ok_or(DeserializeStateError)?;
                Ok($core { ctx })
            }
        }

        #[cfg(feature = "zeroize")]
        impl digest::zeroize::ZeroizeOnDrop for $core {}
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
    5,
    U28
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
    8,
    U40
);
