// SPDX-License-Identifier: MIT OR Apache-2.0
//! The block-level types behind [`Sha256`](crate::Sha256) and the others, as in the RustCrypto crates: they take whole
//! blocks and have no buffer. `hmac::Hmac` builds on these types.

use core::fmt;

use digest::array::Array;
use digest::block_api::{
    AlgorithmName, Block, BlockSizeUser, Buffer, BufferKindUser, Eager, ExtendableOutputCore, FixedOutputCore,
    OutputSizeUser, Reset, UpdateCore, XofReaderCore,
};
use digest::common::hazmat::{DeserializeStateError, SerializableState, SerializedState};
use digest::{CollisionResistance, HashMarker, Output, consts};

use crate::{Algorithm, ffi};

/// The implementations that all kinds of cores share. A saved state has the words of the state, then the number of
/// blocks in $count_nbytes.
macro_rules! core {
    ($type:ident, $core:ident, $title:literal, $standard:literal, [$word:ty; $nwords:literal], $count_nbytes:literal,
        $saved:ident, $block:ident) => {
        #[doc = concat!($title, " over whole blocks (", $standard, ").")]
        ///
        /// ```
        #[doc = concat!("use hashloom::{block_api::", stringify!($core), ", digest::block_api::UpdateCore};")]
        ///
        #[doc = concat!(stringify!($core), "::default().update_blocks(&[Default::default(); 3]);")]
        /// ```
        #[derive(Clone)]
        pub struct $core {
            /// Always at a block boundary; final only after calls for which the traits allow a dirty state.
            ctx: ffi::Ctx,
        }

        impl Default for $core {
            #[inline]
            fn default() -> Self {
                $core { ctx: ffi::Ctx::new(Algorithm::$type) }
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
            type BlockSize = consts::$block;
        }

        impl BufferKindUser for $core {
            type BufferKind = Eager;
        }

        impl UpdateCore for $core {
            #[inline]
            fn update_blocks(&mut self, blocks: &[Block<Self>]) {
                self.ctx.update(Array::slice_as_flattened(blocks));
            }
        }

        impl AlgorithmName for $core {
            fn write_alg_name(f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($type))
            }
        }

        impl fmt::Debug for $core {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($core), " { ... }"))
            }
        }

        /// The format of the crates `sha1`, `sha2`, `sha3` and `md-5`, version 0.11, and `ripemd`, version 0.2: the
        /// words of the state, then the number of blocks in as many bytes as the padding uses for the length, all
        /// little-endian.
        impl SerializableState for $core {
            type SerializedStateSize = consts::$saved;

            fn serialize(&self) -> SerializedState<Self> {
                let mut serialized = SerializedState::<Self>::default();
                let (words, count) = serialized.split_at_mut(size_of::<[$word; $nwords]>());
                let nblocks = self.ctx.midstate(size_of::<$word>(), words);
                count.copy_from_slice(&u128::from(nblocks).to_le_bytes()[..$count_nbytes]);
                serialized
            }

            fn deserialize(serialized: &SerializedState<Self>) -> Result<Self, DeserializeStateError> {
                let (words, count) = serialized.split_at(size_of::<[$word; $nwords]>());
                let mut nblocks = [0; size_of::<u128>()];
                nblocks[..$count_nbytes].copy_from_slice(count);
                let nblocks = u128::from_le_bytes(nblocks).try_into().map_err(|_| DeserializeStateError)?;
                let ctx = ffi::Ctx::from_midstate(Algorithm::$type, size_of::<$word>(), words, nblocks);
                ctx.map(|ctx| $core { ctx }).ok_or(DeserializeStateError)
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $core {}
    };
}

/// A core of a hash function: `core!`, then the digest's size.
macro_rules! fixed {
    ($type:ident, $core:ident, $title:literal, $standard:literal, [$word:ty; $nwords:literal], $count_nbytes:literal,
        $saved:ident, $block:ident, $output:ident) => {
        core!($type, $core, $title, $standard, [$word; $nwords], $count_nbytes, $saved, $block);

        impl OutputSizeUser for $core {
            type OutputSize = consts::$output;
        }

        impl FixedOutputCore for $core {
            #[inline]
            fn finalize_fixed_core(&mut self, buffer: &mut Buffer<Self>, out: &mut Output<Self>) {
                self.ctx.update(buffer.get_data());
                self.ctx.finalize(out);
                buffer.reset();
            }
        }
    };
}

/// A core of an extendable-output function, and one of what reads its digest: `core!`, then its strength in bytes.
macro_rules! xof {
    ($type:ident, $core:ident, $title:literal, $standard:literal, [$word:ty; $nwords:literal], $count_nbytes:literal,
        $saved:ident, $block:ident, $strength:ident, $reader:ident) => {
        core!($type, $core, $title, $standard, [$word; $nwords], $count_nbytes, $saved, $block);

        impl ExtendableOutputCore for $core {
            type ReaderCore = $reader;

            fn finalize_xof_core(&mut self, buffer: &mut Buffer<Self>) -> $reader {
                self.ctx.update(buffer.get_data());
                buffer.reset();
                $reader { ctx: self.ctx.clone() }
            }
        }

        impl CollisionResistance for $core {
            type CollisionResistance = consts::$strength;
        }

        #[doc = concat!("The digest of ", $title, ", block by block: see [`", stringify!($core), "`].")]
        ///
        /// ```
        #[doc = concat!("use hashloom::block_api::", stringify!($core), ";")]
        /// use hashloom::digest::block_api::{ExtendableOutputCore, XofReaderCore};
        ///
        /// let mut reader =
        #[doc = concat!(stringify!($core), "::default().finalize_xof_core(&mut Default::default());")]
        /// assert_ne!(reader.read_block(), reader.read_block());
        /// ```
        #[derive(Clone)]
        pub struct $reader {
            ctx: ffi::Ctx,
        }

        impl BlockSizeUser for $reader {
            type BlockSize = consts::$block;
        }

        impl XofReaderCore for $reader {
            fn read_block(&mut self) -> Block<Self> {
                let mut block = Block::<Self>::default();
                self.ctx.squeeze(&mut block);
                block
            }
        }

        impl fmt::Debug for $reader {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($reader), " { ... }"))
            }
        }

        #[cfg(feature = "zeroize")]
        impl zeroize::ZeroizeOnDrop for $reader {}
    };
}

include!("rows/cores.rs");
