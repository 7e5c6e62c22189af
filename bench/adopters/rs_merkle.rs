// SPDX-License-Identifier: MIT OR Apache-2.0

use crate::{Hasher, PartialTree, error::Error, prelude::*, utils};
use hashloom::{Algorithm, hash_pairs};

/// The parents of the nodes of a layer.
pub fn parents<H: Hasher>(nodes: &[H::Hash]) -> Vec<H::Hash> {
    nodes.chunks(2).map(|pair| H::concat_and_hash(&pair[0], pair.get(1))).collect()
}

pub fn sha256_parents(nodes: &[[u8; 32]]) -> Vec<[u8; 32]> {
    let mut parents = vec![[0; 32]; nodes.len() / 2];
    hash_pairs(Algorithm::Sha256, &[], nodes, &mut parents);
    parents.extend(nodes.chunks_exact(2).remainder());
    parents
}

impl<T: Hasher> PartialTree<T> {
    pub(crate) fn build_tree(
        partial: Vec<Vec<(usize, T::Hash)>>,
        depth: usize,
    ) -> Result<Vec<Vec<(usize, T::Hash)>>, Error> {
        let mut helpers = partial.into_iter();
        let (mut tree, mut layer) = (Vec::new(), Vec::new());
        for _ in 0..depth {
            layer.extend(helpers.next().unwrap_or_default());
            layer.sort_by_key(|(index, _)| *index);
            let (indices, nodes): (Vec<usize>, Vec<T::Hash>) = layer.iter().copied().unzip();
            tree.push(layer);
            let above = utils::indices::parent_indices(&indices);
            if above.len() > nodes.len().div_ceil(2) {
                return Err(Error::not_enough_helper_nodes());
            }
            layer = above.into_iter().zip(T::hash_layer(&nodes)).collect();
        }
        tree.push(layer);
        Ok(tree)
    }
}
