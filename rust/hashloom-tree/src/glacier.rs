// SPDX-License-Identifier: MIT OR Apache-2.0

//! The SHA-256 tree hash of Amazon S3 Glacier: the SHA-256 of each MiB, then of two digests at a time; a digest left
//! over goes up unchanged. ("Computing Checksums" in the Amazon S3 Glacier Developer Guide.)

use hashloom::{Algorithm, Hash, hash};
use hashloom_files::Source;
use hashloom_files::lanes::Leaves;
use hashloom_files::merkle::levels::{Levels, Odd, Shape};
use hashloom_files::run::Options;

use super::{Input, TreeError};

/// Bytes under a leaf.
const LEAF_NBYTES: u64 = 1 << 20;

/// The tree hash; `x-amz-sha256-tree-hash` takes it in hexadecimal. For empty input the tree hash is the SHA-256 of
/// nothing, as in Amazon's tools.
///
/// # Errors
///
/// [`TreeError::Read`], [`TreeError::Changed`], [`TreeError::Cancelled`].
///
/// ```
/// use hashloom_files::run::Options;
/// use hashloom_files::Source;
/// use hashloom_tree::glacier;
/// use hashloom::{Algorithm, hash};
///
/// let data = vec![7; (1 << 20) + 1];
/// let root = glacier::tree_hash(Source::memory(data.clone()), &Options::new())?;
/// let leaves = [hash(Algorithm::Sha256, &data[..1 << 20]), hash(Algorithm::Sha256, &[7])];
/// assert_eq!(root, hash(Algorithm::Sha256, &[leaves[0].as_ref(), leaves[1].as_ref()].concat()));
/// # Ok::<(), hashloom_tree::TreeError>(())
/// ```
pub fn tree_hash(source: impl Into<Source>, options: &Options) -> Result<Hash, TreeError> {
    let algorithm = Algorithm::Sha256;
    let mut levels = Levels::new(Shape::binary(algorithm, &[], Odd::Promoted));
    let leaves = Leaves::plain(algorithm, LEAF_NBYTES);
    Input::open(source.into())?.hash(&leaves, options, &mut |digests| {
        levels.push(digests, &mut |_, _, _| {});
        Ok(())
    })?;
    let root = levels.finish(&mut |_, _, _| {});
    Ok(root.map_or_else(|| hash(algorithm, &[]), |root| Hash::new(algorithm, &root)))
}
