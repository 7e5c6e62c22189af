// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every kernel against an independent oracle. `test/lengths.c`, `choice.c` and `kernels.c` have every number of
//! messages, any mixture of lengths, and every alignment.

use crate::common::{data, described, each_kernel, is_sponge, oracle};
use hashloom::Algorithm;
use hashloom::kernels::{IsaSet, KernelError, chosen, kernels};

/// Message `i` begins at byte `i * STEP` of the data, so that no two messages are equal.
const STEP: usize = 13;

#[test]
fn no_messages() {
    each_kernel(|kernel, algorithm| kernel.hash_many::<&[u8]>(algorithm, &[], &mut []).unwrap());
}

#[test]
fn the_table_is_in_order() {
    assert!(IsaSet::built().contains(IsaSet::available()));
    assert!(!IsaSet::available().is_empty());
    for kernel in kernels() {
        assert_eq!(kernel.isa_set().names().collect::<Vec<_>>(), [kernel.isa()]);
        assert!((1..=16).contains(&kernel.lanes()), "{kernel}");
        assert_eq!(kernel.is_available(), IsaSet::parse(kernel.isa()).is_ok(), "{kernel}");
        let twins = kernels().filter(|other| other.to_string() == kernel.to_string()).count();
        assert_eq!(twins, 1, "two kernels are called {kernel}");
    }
    for &algorithm in Algorithm::ALL {
        assert!(kernels().any(|kernel| kernel.isa() == "scalar" && kernel.computes(algorithm)));
        assert_eq!(chosen(algorithm, 0), None);
        for nmessages in 1..=40 {
            let kernel = chosen(algorithm, nmessages).unwrap();
            assert!(kernel.is_available() && kernel.computes(algorithm), "{kernel} for {nmessages} of {algorithm}");
        }
        let names: Vec<String> =
            [1, 2, 3, 4, 8, 16, 1000].map(|n| format!("{n}: {}", chosen(algorithm, n).unwrap())).into();
        eprintln!("{algorithm}: chosen for {}", names.join(", "));
    }
}

/// `message` with the padding of FIPS 180-4 section 5.1 (RIPEMD-160 and MD5: the length in the other byte order), or of
/// FIPS 202 section B.2.
fn padded(algorithm: Algorithm, message: &[u8]) -> Vec<u8> {
    let (block_nbytes, described) = (algorithm.block_nbytes(), described(algorithm));
    let mut bytes = message.to_vec();
    if is_sponge(algorithm) {
        bytes.push(described.suffix as u8);
        bytes.resize(bytes.len().next_multiple_of(block_nbytes), 0);
        *bytes.last_mut().unwrap() |= 0x80;
        return bytes;
    }
    bytes.push(0x80);
    while bytes.len() % block_nbytes != block_nbytes - 8 {
        bytes.push(0);
    }
    let nbits = 8 * message.len() as u64;
    bytes.extend(if described.big_endian == 1 { nbits.to_be_bytes() } else { nbits.to_le_bytes() });
    bytes
}

#[test]
fn a_kernel_by_itself() {
    let data = data(16 * STEP + 1000);
    each_kernel(|kernel, algorithm| {
        if described(algorithm).ending >= hashloom_sys::HL_COUNTED {
            return; // The last block is marked in the state, which these functions do not offer.
        }
        let block_nbytes = algorithm.block_nbytes();
        let blocks: Vec<Vec<u8>> =
            (0..kernel.lanes()).map(|lane| padded(algorithm, &data[lane * STEP..][..5 * block_nbytes + 7])).collect();
        let mut states = kernel.start(algorithm).unwrap();
        states.advance(&vec![[]; kernel.lanes()]);
        // The blocks come in two parts: the second part begins with the state after the first.
        states.advance(&blocks.iter().map(|blocks| &blocks[..2 * block_nbytes]).collect::<Vec<_>>());
        states.advance(&blocks.iter().map(|blocks| &blocks[2 * block_nbytes..]).collect::<Vec<_>>());
        for lane in 0..kernel.lanes() {
            let words = states.words(lane);
            let described = described(algorithm);
            let mut digest: Vec<u8> = match (described.word_nbytes, described.big_endian) {
                (4, 0) => words.flat_map(|word| (word as u32).to_le_bytes()).collect(),
                (4, _) => words.flat_map(|word| (word as u32).to_be_bytes()).collect(),
                (_, 0) => words.flat_map(u64::to_le_bytes).collect(),
                (_, _) => words.flat_map(u64::to_be_bytes).collect(),
            };
            digest.truncate(algorithm.digest_nbytes());
            assert_eq!(
                digest,
                oracle(algorithm, &data[lane * STEP..][..5 * block_nbytes + 7]),
                "{kernel}: lane {lane}"
            );
        }
    });
}

#[test]
fn a_kernel_by_itself_refuses_what_it_cannot_do() {
    let panics = |advance: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(advance)).is_err();
    each_kernel(|kernel, algorithm| {
        let states = kernel.start(algorithm).unwrap();
        let (lanes, block) = (kernel.lanes(), vec![0; algorithm.block_nbytes()]);
        assert!(!panics(&|| states.clone().advance(&vec![&block; lanes])));
        assert!(panics(&|| states.clone().advance(&vec![&block; lanes + 1])), "a lane more than there are");
        assert!(panics(&|| states.clone().advance(&vec![&block; lanes - 1])), "a lane less than there are");
        assert!(panics(&|| states.clone().advance(&vec![&block[1..]; lanes])), "no whole block");
        let mut uneven = vec![block.repeat(2); lanes];
        uneven[lanes - 1] = block.clone();
        assert_eq!(panics(&|| states.clone().advance(&uneven)), lanes > 1, "different lengths");
        assert!(panics(&|| drop(states.words(lanes))), "a lane that is not there");
    });
    for kernel in kernels() {
        for &algorithm in Algorithm::ALL {
            let expected = match (kernel.computes(algorithm), kernel.is_available()) {
                (false, _) => Some(KernelError::OtherAlgorithm { kernel, algorithm }),
                (true, false) => Some(KernelError::Unavailable { kernel }),
                (true, true) => None,
            };
            assert_eq!(kernel.start(algorithm).err(), expected);
        }
    }
}

#[test]
fn a_kernel_that_cannot_says_so() {
    let mut digests = [7; 64];
    for kernel in kernels() {
        for &algorithm in Algorithm::ALL {
            let digest = &mut digests[..algorithm.digest_nbytes()];
            let result = kernel.hash_many(algorithm, &["abc"], digest);
            match (kernel.computes(algorithm), kernel.is_available()) {
                (false, _) => assert_eq!(result, Err(KernelError::OtherAlgorithm { kernel, algorithm })),
                (true, false) => {
                    assert_eq!(result, Err(KernelError::Unavailable { kernel }));
                    assert!(result.unwrap_err().to_string().contains("available here: scalar"));
                }
                (true, true) => {
                    assert_eq!(result, Ok(()));
                    assert_eq!(digest, oracle(algorithm, b"abc"), "{kernel}");
                }
            }
            if result.is_err() {
                assert!(digest.iter().all(|&byte| byte == 7), "{kernel} wrote, then failed");
            }
            digest.fill(7);
        }
    }
}
