// SPDX-License-Identifier: MIT OR Apache-2.0

//! Proofs of RFC 6962: the input selects the tree, the proof, and an enemy's changes to the proof. The expected root
//! and proof come from the standard's recursions, written here with other programs' hash functions. A changed proof
//! that is accepted must still prove something true.

#![no_main]

mod numbers;
#[path = "../../rust/hashloom-tree/tests/rfc9162/mod.rs"]
mod rfc9162;

use hashloom::Algorithm;
use hashloom_tree::rfc6962::{Prove, Tree, check_consistency, check_inclusion, leaf};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;
use rfc9162::{Model, Node};
use sha1::Sha1;
use sha2::{Digest as _, Sha256, Sha512};

/// Changes a proof, its digest, and the numbers of its claim. A node may become any node of the tree.
fn forge(numbers: &mut Numbers<'_>, pool: &[Node], nodes: &mut Vec<Node>, of: &mut Node, at: &mut [u64]) {
    for _ in 0..numbers.next() % 6 {
        let place = numbers.next() % (nodes.len() + 1);
        let one = pool[numbers.next() % pool.len()].clone();
        match numbers.next() % 8 {
            0 if place < nodes.len() => drop(nodes.remove(place)),
            1 => nodes.insert(place, one),
            2 if place < nodes.len() => nodes[place] = one,
            3 if place < nodes.len() && !nodes[place].is_empty() => {
                let byte = numbers.next() % nodes[place].len();
                nodes[place][byte] ^= 1 << (numbers.next() % 8);
            }
            4 => *of = one,
            5 if !of.is_empty() => {
                let byte = numbers.next() % of.len();
                of[byte] ^= 1 << (numbers.next() % 8);
            }
            6 => {
                let which = numbers.next() % at.len();
                at[which] = match numbers.next() % 4 {
                    0 => u64::MAX - numbers.next() as u64,
                    1 => 1 << (numbers.next() % 64),
                    _ => numbers.next() as u64 % 70,
                };
            }
            _ => drop(of.pop()),
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let algorithm = [Algorithm::Sha1, Algorithm::Sha256, Algorithm::Sha512][numbers.next() % 3];
    let size = 1 + numbers.next() % 66;
    // Some entries are equal.
    let kinds = 1 + numbers.next();
    let entries: Vec<Vec<u8>> = (0..size).map(|i| vec![(i % kinds) as u8; i % kinds % 5]).collect();
    let hash: fn(&[u8]) -> Node = match algorithm {
        Algorithm::Sha1 => |bytes| Sha1::digest(bytes).to_vec(),
        Algorithm::Sha256 => |bytes| Sha256::digest(bytes).to_vec(),
        _ => |bytes| Sha512::digest(bytes).to_vec(),
    };
    let leaves = entries.iter().map(|entry| hash(&[&[0], &entry[..]].concat())).collect();
    let model = Model { hash, leaves };
    assert!(entries.iter().zip(&model.leaves).all(|(entry, node)| leaf(algorithm, entry).as_ref() == &node[..]));
    let root = model.root(0..size);

    let first = numbers.next();
    let prove = match numbers.next() % 2 {
        0 => Prove::Inclusion((first % size) as u64),
        _ => Prove::Consistency((1 + first % size) as u64),
    };
    let mut tree = Tree::new(algorithm, &[prove]);
    for some in entries.chunks(1 + numbers.next() % 20) {
        tree.push_entries(some);
    }
    let built = tree.finish();
    assert_eq!((built.size, built.root.as_ref()), (size as u64, &root[..]));
    let proof = match &built.proofs[0] {
        Ok(proof) => proof,
        Err(error) => panic!("{prove:?} of {size}: {error}"),
    };
    let mut nodes: Vec<Node> = proof.nodes.iter().map(|node| node.as_ref().to_vec()).collect();
    let mut of = proof.of.as_ref().to_vec();

    // All nodes of the tree, and some other bytes.
    let mut pool: Vec<Node> = model.leaves.clone();
    for level in 1..8 {
        pool.extend((0..size).step_by(1 << level).map(|start| model.root(start..size.min(start + (1 << level)))));
    }
    pool.extend([root.clone(), Vec::new(), numbers.bytes(root.len()).to_vec()]);

    let total = size as u64;
    match prove {
        Prove::Inclusion(index) => {
            assert_eq!(nodes, model.path(index as usize, 0..size));
            assert_eq!(of, model.leaves[index as usize]);
            check_inclusion(algorithm, &of, index, total, &nodes, &root).unwrap();
            let mut at = [index, total];
            forge(&mut numbers, &pool, &mut nodes, &mut of, &mut at);
            let accepted = check_inclusion(algorithm, &of, at[0], at[1], &nodes, &root);
            if accepted.is_ok() && at[1] == total {
                assert_eq!(of, model.leaves[at[0] as usize], "{at:?}");
            }
        }
        Prove::Consistency(size1) => {
            assert_eq!(nodes, model.subproof(size1 as usize, 0..size, true));
            assert_eq!(of, model.root(0..size1 as usize));
            check_consistency(algorithm, size1, &of, total, &root, &nodes).unwrap();
            let mut at = [size1, total];
            forge(&mut numbers, &pool, &mut nodes, &mut of, &mut at);
            let accepted = check_consistency(algorithm, at[0], &of, at[1], &root, &nodes);
            if accepted.is_ok() && at[1] == total {
                assert_eq!(of, model.root(0..at[0] as usize), "{at:?}");
            }
        }
    }
});
