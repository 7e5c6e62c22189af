// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every kernel against an independent oracle. `test/lengths.c`, `choice.c` and `kernels.c` have every number of
//! messages, any mixture of lengths, and every alignment.

use crate::common::{data, each_kernel, oracle};
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

#[test]
fn every_kernel_hashes_as_the_oracle() {
    let data = data(40 * STEP + 1000);
    each_kernel(|kernel, algorithm| {
        let nbytes = 5 * algorithm.block_nbytes() + 7;
        let messages: Vec<&[u8]> = (0..2 * kernel.lanes() + 1).map(|i| &data[i * STEP..][..nbytes]).collect();
        let mut digests = vec![0; messages.len() * algorithm.digest_nbytes()];
        kernel.hash_many(algorithm, &messages, &mut digests).unwrap();
        for (message, digest) in messages.iter().zip(digests.chunks_exact(algorithm.digest_nbytes())) {
            assert_eq!(digest, oracle(algorithm, message), "{kernel}");
        }
    });
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
