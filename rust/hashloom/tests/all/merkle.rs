// SPDX-License-Identifier: MIT OR Apache-2.0
//! Layers and trees against one pair at a time, and the definitions.

use std::collections::HashMap;

use hashloom::merkle::{Node, Range, Rule, Tree, root, verify};
use hashloom::{Algorithm, hash, hash_pairs, hash_pairs_in_place};

fn digest(algorithm: Algorithm, parts: &[&[u8]]) -> Node {
    hash(algorithm, &parts.concat()).as_ref().try_into().unwrap()
}

fn leaves(n: usize) -> Vec<Node> {
    (0..n).map(|i| digest(Algorithm::Sha256, &[&i.to_le_bytes()])).collect()
}

#[test]
fn pairs_apart_and_in_place() {
    for algorithm in
        [Algorithm::Sha256, Algorithm::Keccak256, Algorithm::Blake2s, Algorithm::Sha512_256, Algorithm::Blake3]
    {
        for prefix in [&b""[..], &[1], &[9; 33], &[8; 64], &[7; 150]] {
            if algorithm == Algorithm::Blake3 && !prefix.is_empty() {
                continue;
            }
            for n in [0, 1, 2, 3, 16, 33, 64, 65, 100, 201, 1000] {
                let mut layer = leaves(2 * n + n % 2);
                let expected: Vec<Node> =
                    layer.chunks_exact(2).map(|pair| digest(algorithm, &[prefix, &pair[0], &pair[1]])).collect();
                let mut above = vec![[0; 32]; n];
                hash_pairs(algorithm, prefix, &layer, &mut above);
                assert_eq!(above, expected, "{algorithm}, {n} pairs");
                let behind = layer[n..].to_vec();
                assert_eq!(
                    hash_pairs_in_place(algorithm, prefix, &mut layer),
                    expected,
                    "{algorithm}, {n} pairs in place"
                );
                assert_eq!(layer[n..], behind);
            }
        }
    }
}

/// The root by the definition: RFC 6962 splits at the greatest power of two below n.
fn expected_root(rule: Rule, leaves: &[Node], depth: u32) -> Node {
    let sha256 = |parts: &[&[u8]]| digest(Algorithm::Sha256, parts);
    match (rule, leaves) {
        (Rule::Rfc6962, []) => sha256(&[]),
        (Rule::Rfc6962, [one]) => *one,
        (Rule::Rfc6962, _) => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            sha256(&[&[1], &expected_root(rule, left, 0), &expected_root(rule, right, 0)])
        }
        (Rule::Bitcoin, [] | [_]) => leaves.first().copied().unwrap_or_default(),
        (Rule::Bitcoin, _) => {
            let pair = |pair: &[Node]| sha256(&[&sha256(&[&pair[0], pair.last().unwrap()])]);
            expected_root(rule, &leaves.chunks(2).map(pair).collect::<Vec<_>>(), 0)
        }
        (Rule::Zeros, _) if depth == 0 => leaves.first().copied().unwrap_or_default(),
        (Rule::Zeros, _) => {
            let (left, right) = leaves.split_at(leaves.len().min(1 << (depth - 1)));
            sha256(&[&expected_root(rule, left, depth - 1), &expected_root(rule, right, depth - 1)])
        }
        _ => panic!("{rule:?} is not in this test"),
    }
}

#[test]
fn roots_and_proofs() {
    for rule in [Rule::Rfc6962, Rule::Bitcoin, Rule::Zeros] {
        for n in [0, 1, 2, 3, 4, 5, 6, 7, 9, 31, 33, 64, 100, 257] {
            let (all, least) = (leaves(n), n.max(1).next_power_of_two().trailing_zeros());
            for depth in if rule == Rule::Zeros { vec![0, least, least + 3] } else { vec![0] } {
                let expected = expected_root(rule, &all, depth.max(least));
                assert_eq!(root(rule, &mut all.clone(), depth), expected, "{rule:?}, {n} leaves, depth {depth}");
                let tree = Tree::new(rule, all.clone(), depth);
                assert_eq!(tree.root(), expected, "{rule:?}, {n} leaves, depth {depth}");
                for (i, &leaf) in all.iter().enumerate() {
                    let proof = tree.proof(i);
                    assert!(verify(rule, expected, leaf, i, n, &proof), "{rule:?}, leaf {i} of {n}");
                    assert!(!verify(rule, expected, [0; 32], i, n, &proof), "{rule:?}, leaf {i} of {n}");
                    assert!(!verify(rule, expected, leaf, i, n, &[&proof[..], &[[0; 32]]].concat()));
                    assert!(!verify(rule, expected, leaf, n, n, &proof));
                    assert!(proof.is_empty() || !verify(rule, expected, leaf, i, n, &proof[1..]));
                }
            }
        }
    }
    for (rule, depth) in [(Rule::Bitcoin, 1), (Rule::Zeros, 2), (Rule::Zeros, 65)] {
        assert!(std::panic::catch_unwind(|| Tree::new(rule, leaves(5), depth)).is_err(), "{rule:?}, depth {depth}");
    }
}

/// For each size, in steps of several lengths: the root is that of the whole tree, the root of each complete subtree is
/// told once, and a range goes on from the roots that were kept.
#[test]
fn ranges() {
    let leaves: Vec<Node> = (0..150u8).map(|i| [i; 32]).collect();
    for step in [1, 2, 3, 7, 64, 149] {
        let (mut range, mut told) = (Range::default(), HashMap::new());
        for new in leaves.chunks(step) {
            range.append(new, |height, index, node| assert_eq!(told.insert((height, index), node), None));
            let size = range.size() as usize;
            assert_eq!(range.root(), root(Rule::Rfc6962, &mut leaves[..size].to_vec(), 0), "{size} by {step}");
            let kept = Range::new(range.size(), range.roots()).unwrap();
            assert_eq!((&kept, kept.roots().count() as u32), (&range, range.size().count_ones()));
            range = kept;
        }
        // The same leaves have this root in test/api.c and go/merkle/merkle_test.go.
        let known: String = range.root().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(known, "5f84e146e8b4010b6a76d0fdcbc663518fac745cba1cda1f25c958355cdf89dc");
        let complete = (0..8).flat_map(|height| (0..150u64 >> height).map(move |index| (height, index)));
        assert_eq!(told.len(), complete.clone().count());
        for (height, index) in complete {
            let from = (index as usize) << height;
            let expected = root(Rule::Rfc6962, &mut leaves[from..from + (1 << height)].to_vec(), 0);
            assert_eq!(told[&(height, index)], expected, "{height}, {index}, by {step}");
        }
    }
    assert_eq!(Range::default().root(), root(Rule::Rfc6962, &mut [], 0));
    let (one, three) = ([[0; 32]; 1], [[0; 32]; 3]);
    assert_eq!((Range::new(3, one), Range::new(3, three)), (None, None));
    assert_ne!(Range::new(1, one), Range::new(2, one));
    let mut full = Range::new(u64::MAX, [[0; 32]; 64]).unwrap();
    assert_eq!(format!("{full:?}"), "Range(18446744073709551615 leaves)");
    assert!(std::panic::catch_unwind(move || full.append(&one, |_, _, _| {})).is_err());
}
