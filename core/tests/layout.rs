// SPDX-License-Identifier: MIT OR Apache-2.0
//! The tables that C has made are read through the structures here. tests/header.rs compares the structures' fields with
//! the header's, and the crate `hashloom` fills all of them.

use std::collections::HashSet;
use std::ffi::CStr;
use std::mem::{align_of, offset_of, size_of};
use std::ptr;

use hashloom_sys::*;

fn text(name: *const std::ffi::c_char) -> &'static str {
    assert!(!name.is_null());
    // SAFETY: the names of the library are static and NUL-terminated.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap()
}

/// `hashloom.h` promises `struct iovec` and fields of fixed sizes.
#[test]
fn sizes() {
    assert_eq!(size_of::<hl_slice>(), 2 * size_of::<usize>());
    assert_eq!(offset_of!(hl_slice, nbytes), size_of::<usize>());
    assert_eq!(size_of::<hl_ctx>(), HL_STATE_MAX_NBYTES + 8 + HL_BLOCK_MAX_NBYTES + 8);
    assert_eq!(align_of::<hl_ctx>(), align_of::<u64>());
    assert_eq!(size_of::<hl_hmac_key>(), 2 * HL_STATE_MAX_NBYTES + 8);
    assert_eq!(size_of::<hl_hmac_ctx>(), size_of::<hl_ctx>() + HL_STATE_MAX_NBYTES);
    // Both have a field of the machine's word size after pairs of 32-bit ones.
    assert_eq!(offset_of!(hl_messages, count), 8);
    assert_eq!(size_of::<hl_messages>(), 8 + 4 * size_of::<usize>());
    assert_eq!(offset_of!(hl_job, messages), size_of::<usize>() + 8);
    assert_eq!(offset_of!(hl_search_job, base), size_of::<[usize; 6]>() + 8);
    assert_eq!(offset_of!(hl_search_job, target) - offset_of!(hl_search_job, last), 8);
    assert_eq!(size_of::<hl_job>(), 16 + size_of::<hl_messages>() + size_of::<[usize; 9]>());
}

/// The arguments of each row of a macro of `core/src/algorithms.def`, the list from which C makes its table.
fn rows(name: &str) -> Vec<Vec<&'static str>> {
    let list = include_str!("../src/algorithms.def");
    // Behind the comment that describes the list.
    let list = &list[list.find("*/").unwrap()..];
    let begin = format!("\n{name}(");
    list.match_indices(&begin)
        .map(|(at, begin)| {
            let row = &list[at + begin.len()..];
            let row = &row[..row.find(")\n").unwrap()];
            row.split(',').map(|argument| argument.trim().trim_matches('"')).collect()
        })
        .collect()
}

#[test]
fn algorithms() {
    let bodies = rows("BLOCK_FUNCTION");
    let expected = rows("ALG");
    assert!(bodies.len() > 5 && expected.len() > 9, "rows of the list are missing");
    assert_eq!(hl_alg_count(), expected.len());
    assert!(hl_alg_at(expected.len()).is_null());
    for (i, row) in expected.iter().enumerate() {
        let found = hl_alg_at(i);
        assert_eq!(hl_alg_find(row[1].parse().unwrap()), found);
        // SAFETY: a description that is not NULL is static.
        let info = unsafe { found.as_ref() }.unwrap();
        let body = bodies.iter().find(|body| body[0] == row[4]).unwrap();
        let (word_nbytes, nwords) = (body[3], body[4]);
        assert_eq!((text(info.name), info.alg.to_string().as_str()), (row[2], row[1]));
        assert_eq!((info.body.to_string().as_str(), info.big_endian != 0), (body[1], body[5] == "BIG"), "{}", row[2]);
        assert_eq!([info.digest_nbytes, info.block_nbytes].map(|n| n.to_string()), row[5..7], "{}", row[2]);
        assert_eq!([info.word_nbytes, info.nwords].map(|n| n.to_string()), [word_nbytes, nwords], "{}", row[2]);
        let (ending, suffix) = row[8].split_once('(').unwrap_or((row[8], "0x0)"));
        let ending = match ending {
            "STRENGTHENED" => HL_STRENGTHENED,
            "SPONGE" => HL_SPONGE,
            _ => HL_XOF,
        };
        let suffix = u32::from_str_radix(suffix.trim_start_matches("0x").trim_end_matches(')'), 16).unwrap();
        assert_eq!((info.ending, info.suffix), (ending, suffix), "{}", row[2]);
        // SAFETY: the initial state has words of that size.
        let word = match info.word_nbytes {
            4 => u64::from(unsafe { info.iv.cast::<u32>().read() }),
            _ => unsafe { info.iv.cast::<u64>().read() },
        };
        // The first word of the initial states that standards write out; a sponge begins with zeros.
        match info.alg {
            HL_SHA1 => assert_eq!(word, 0x6745_2301),
            HL_SHA256 => assert_eq!(word, 0x6a09_e667),
            HL_SHA512 => assert_eq!(word, 0x6a09_e667_f3bc_c908),
            _ => assert_eq!(word == 0, ending != HL_STRENGTHENED, "{}", row[2]),
        }
    }
    assert!(hl_alg_find(0).is_null());
}

#[test]
fn kernels() {
    let isas: Vec<&str> = (0..hl_isa_count()).map(|i| text(hl_isa_name(i))).collect();
    assert!(hl_isa_name(isas.len()).is_null());
    assert_eq!(isas[0], "scalar");
    let mut seen = HashSet::new();
    for i in 0..hl_kernel_count() {
        // SAFETY: a kernel that is not NULL is static.
        let kernel = unsafe { hl_kernel_at(i).as_ref() }.unwrap();
        let isa = isas.iter().position(|&isa| isa == text(kernel.isa)).unwrap();
        assert_eq!(kernel.isas, 1 << isa);
        assert!((kernel.body as usize) < rows("BLOCK_FUNCTION").len());
        assert!((1..=HL_LANES_MAX).contains(&(kernel.nlanes as usize)));
        assert!(seen.insert(kernel.blocks as usize), "two rows have one function");
    }
    assert!(hl_kernel_at(hl_kernel_count()).is_null());
}

#[test]
fn errors() {
    let texts: HashSet<&str> = (HL_OK..=HL_ESTOPPED).map(|status| text(hl_strerror(status))).collect();
    assert_eq!(texts.len(), 11, "{texts:?}");
    assert_eq!(text(hl_version()), env!("CARGO_PKG_VERSION"));
    let mut digest = [0; HL_DIGEST_MAX_NBYTES];
    // SAFETY: these are the errors that C finds without touching the data.
    unsafe {
        assert_eq!(hl_hash(99, ptr::null(), 0, digest.as_mut_ptr()), HL_EALG);
        assert_eq!(hl_hash(HL_SHA1, ptr::null(), 1, digest.as_mut_ptr()), HL_ENULL);
        let too_long = HL_MESSAGE_MAX_NBYTES as usize + 1;
        assert_eq!(hl_hash(HL_SHA1, ptr::dangling::<u8>().cast(), too_long, digest.as_mut_ptr()), HL_ELENGTH);
        assert_eq!(hl_hash_many_with(ptr::null(), HL_SHA1, ptr::null(), 0, digest.as_mut_ptr()), HL_ENULL);
        assert_eq!(hl_isa_named(c"avx9".as_ptr()), 0);
        assert_eq!(hl_isa_named(c"scalar".as_ptr()), 1);
        assert!(hl_alg_named(c"SHA256".as_ptr()).is_null());
        assert_eq!(hl_alg_named(c"sha256".as_ptr()), hl_alg_find(HL_SHA256));
    }
    assert_eq!(hl_restrict(1 << 31), HL_EISA);
    assert_eq!(digest, [0; HL_DIGEST_MAX_NBYTES]);
}
