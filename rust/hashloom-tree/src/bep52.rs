// SPDX-License-Identifier: MIT OR Apache-2.0

//! The `pieces root` of a file in a v2 or hybrid torrent (BEP 52): the root of the file's own hash tree, which is the
//! same in every torrent, whatever the length of its pieces.

use crate::levels::{Levels, Odd, Shape};
use hashloom::{Algorithm, Hash};
use hashloom_files::Source;
use hashloom_files::lanes::Leaves;
use hashloom_files::merkle::{BLOCK_NBYTES, NO_LEAF};
use hashloom_files::run::Options;

use super::{Input, TreeError};

/// The root; `None` for an empty file, which has no root.
///
/// # Errors
///
/// [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_files::Source;
/// use hashloom_tree::bep52;
/// use hashloom::{Algorithm, hash};
///
/// // Up to 16 KiB are one leaf.
/// let root = bep52::pieces_root(Source::memory(b"abc"), &Options::new())?;
/// assert_eq!(root, Some(hash(Algorithm::Sha256, b"abc")));
/// assert_eq!(bep52::pieces_root(Source::memory(b""), &Options::new())?, None);
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn pieces_root(source: impl Into<Source>, options: &Options) -> Result<Option<Hash>, TreeError> {
    let algorithm = Algorithm::Sha256;
    let mut levels = Levels::new(Shape::binary(algorithm, &[], Odd::Leaf(NO_LEAF.to_vec())));
    let leaves = Leaves::plain(algorithm, BLOCK_NBYTES);
    Input::open(source.into())?.hash(&leaves, options, &mut |digests| {
        levels.push(digests, &mut |_, _, _| {});
        Ok(())
    })?;
    Ok(levels.finish(&mut |_, _, _| {}).map(|root| Hash::new(algorithm, &root)))
}
