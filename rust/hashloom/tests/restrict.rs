// SPDX-License-Identifier: MIT OR Apache-2.0
//! Restricting the choice of kernels. The restriction is process-wide: hence a separate test program, one test at a
//! time.

mod common;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{check_expected, data, oracle_many};
use hashloom::kernels::{
    IsaSet, Kernel, ParseIsaError, RestrictError, chosen, kernels, restrict, restrict_for, unrestrict,
};
use hashloom::{Algorithm, Hasher, finalize_many, hash, hash_many, update_many};

/// Keeps the other tests waiting, and lifts the restriction at the end.
struct Alone(#[allow(dead_code, reason = "held, not read")] MutexGuard<'static, ()>);

impl Alone {
    fn new() -> Self {
        static LOCK: Mutex<()> = Mutex::new(());
        let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
        unrestrict();
        Alone(guard)
    }
}

impl Drop for Alone {
    fn drop(&mut self) {
        unrestrict();
    }
}

#[test]
fn each_isa_alone_is_chosen_and_right() {
    let _alone = Alone::new();
    check_expected();
    let data = data(5000);
    let messages: Vec<&[u8]> = (0..100).map(|i| &data[i..][..i * i % 3000]).collect();
    let mut computing = Vec::new();
    for name in IsaSet::built().names() {
        let isa = match IsaSet::parse(name) {
            Ok(isa) => isa,
            Err(error) => {
                common::skipped::skipped_part(name, error);
                continue;
            }
        };
        unrestrict();
        let has = |algorithm| kernels().any(|kernel| kernel.isa() == name && kernel.computes(algorithm));
        match restrict(isa) {
            Ok(()) => {
                assert!(Algorithm::ALL.iter().all(|&algorithm| has(algorithm)), "{name}");
                computing.push(name);
            }
            Err(RestrictError::NoKernel { isas, algorithm }) => {
                assert_eq!(isas, isa);
                assert!(!has(algorithm), "{name} has kernels of {algorithm}");
                assert_eq!(IsaSet::allowed(), IsaSet::available(), "a failed call must change nothing");
            }
            Err(error) => panic!("{error}"),
        }
        for &algorithm in Algorithm::ALL {
            unrestrict();
            if let Err(error) = restrict_for(isa, algorithm) {
                assert_eq!(error, RestrictError::NoKernel { isas: isa, algorithm });
                assert!(!has(algorithm), "{name} has kernels of {algorithm}");
                assert_eq!(IsaSet::allowed(), IsaSet::available(), "a failed call must change nothing");
                eprintln!("{name} alone cannot do {algorithm}");
                continue;
            }
            // Only plain C is allowed beside the set, and only for algorithms that the set has no kernel for.
            let rest = IsaSet::allowed() - isa;
            assert_eq!(rest.is_empty(), name == "scalar" || Algorithm::ALL.iter().all(|&other| has(other)), "{name}");
            assert!(rest.is_empty() || rest == IsaSet::parse("scalar").unwrap(), "{rest}");
            for &other in Algorithm::ALL {
                let isa = chosen(other, 1).unwrap().isa();
                // One message has a kernel of one lane, if any that is allowed has.
                let lanes_only = |kernel: Kernel| kernel.isa() != name || !kernel.computes(other) || kernel.lanes() > 1;
                let is_plain = !has(other) || (!rest.is_empty() && kernels().all(lanes_only));
                assert_eq!(isa, if is_plain { "scalar" } else { name }, "{other}");
                assert_eq!(hash(other, b"abc"), oracle_many(other, &[b"abc"])[..]);
            }
            // Two may take less time one after the other, by plain C.
            for nmessages in [3, 4, 7, 8, 15, 16, 17, 1000] {
                assert_eq!(chosen(algorithm, nmessages).unwrap().isa(), name);
            }
            let expected = oracle_many(algorithm, &messages);
            let mut digests = vec![0; expected.len()];
            hash_many(algorithm, &messages, &mut digests);
            assert!(digests == expected, "{name}: hash_many of {algorithm}");

            let mut hashers = vec![Hasher::new(algorithm); messages.len()];
            update_many(&mut hashers, &messages);
            digests.fill(0);
            finalize_many(&mut hashers, &mut digests);
            assert!(digests == expected, "{name}: update_many of {algorithm}");

            let one: Vec<u8> = messages.iter().flat_map(|m| hash(algorithm, m).as_ref().to_vec()).collect();
            assert!(one == expected, "{name}: hash of {algorithm}");
        }
    }
    assert!(computing.contains(&"scalar"));
}

#[test]
fn the_restriction_is_taken_back() {
    let _alone = Alone::new();
    restrict(IsaSet::parse("scalar").unwrap()).unwrap();
    assert_eq!(IsaSet::allowed().to_string(), "scalar");
    restrict(IsaSet::available()).unwrap();
    assert_eq!(IsaSet::allowed(), IsaSet::available());
    restrict(IsaSet::parse("scalar").unwrap()).unwrap();
    unrestrict();
    assert_eq!(IsaSet::allowed(), IsaSet::available());
}

#[test]
fn an_empty_set_is_an_error_and_lifts_nothing() {
    let _alone = Alone::new();
    let scalar = IsaSet::parse("scalar").unwrap();
    restrict(scalar).unwrap();
    let empty = scalar - scalar;
    assert!(empty.is_empty());
    assert!(matches!(restrict_for(empty, Algorithm::Sha1), Err(RestrictError::NoKernel { .. })));
    let error = restrict(empty).unwrap_err();
    assert!(matches!(error, RestrictError::NoKernel { .. }));
    assert!(error.to_string().ends_with(&format!("available here: {}", IsaSet::available())), "{error}");
    assert_eq!(IsaSet::allowed(), scalar);
}

#[test]
fn an_isa_that_this_machine_lacks_is_an_error() {
    let _alone = Alone::new();
    let missing = IsaSet::built() - IsaSet::available();
    if missing.is_empty() {
        common::skipped::skipped(format!("this machine has all that this build has: {}", IsaSet::built()));
        return;
    }
    let error = restrict(IsaSet::available() | missing).unwrap_err();
    assert!(matches!(error, RestrictError::Unavailable { .. }));
    assert_eq!(IsaSet::allowed(), IsaSet::available());
    for name in missing.names() {
        let error = IsaSet::parse(name).unwrap_err();
        assert_eq!(error, ParseIsaError::Unavailable { name: name.into() });
        assert!(error.to_string().contains("available here: scalar"), "{error}");
    }
}

#[test]
fn names() {
    let _alone = Alone::new();
    let all = IsaSet::available();
    assert_eq!(IsaSet::parse(&all.to_string()), Ok(all));
    assert_eq!(IsaSet::parse(" scalar , scalar "), IsaSet::parse("scalar"));
    assert_eq!("scalar".parse(), IsaSet::parse("scalar"));
    for (names, unknown) in
        [("", ""), ("scalar,", ""), ("Scalar", "Scalar"), ("scalar,avx3", "avx3"), ("scalar sse2", "scalar sse2")]
    {
        let error = IsaSet::parse(names).unwrap_err();
        assert_eq!(error, ParseIsaError::Unknown { name: unknown.into() });
        let text = format!("unknown instruction set {unknown:?}; available here: {all}");
        assert_eq!(error.to_string(), text);
    }
}
