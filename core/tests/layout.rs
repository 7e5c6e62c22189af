// SPDX-License-Identifier: MIT OR Apache-2.0
//! The structures here are those of the C compiler: each field is read where C wrote it, or written where C reads it.

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

/// A context between two guards: C writes all of it and nothing beside it.
#[test]
fn contexts() {
    #[repr(C)]
    struct Guarded {
        before: [u8; 64],
        ctx: hl_ctx,
        after: [u8; 64],
    }
    let junk = hl_ctx {
        state: [!0; HL_STATE_MAX_NBYTES / 8],
        nbytes: !0,
        block: [0xff; HL_BLOCK_MAX_NBYTES],
        alg: !0,
        reserved: !0,
    };
    let mut guarded = Guarded { before: [0xee; 64], ctx: junk, after: [0xee; 64] };
    let ctx = &raw mut guarded.ctx;
    let mut digest = [0; HL_SHA256_DIGEST_NBYTES];
    // SAFETY: the context, 3 bytes of message and room for a digest.
    unsafe {
        assert_eq!(hl_init(ctx, HL_SHA256), HL_OK);
        assert_eq!(hl_update(ctx, b"abc".as_ptr().cast(), 3), HL_OK);
    }
    assert_eq!((guarded.ctx.alg, guarded.ctx.reserved, guarded.ctx.nbytes), (HL_SHA256, 0, 3));
    assert_eq!(guarded.ctx.block[..4], *b"abc\0");
    // The state's 32-bit words stand one after the other in the machine's order.
    let pair = guarded.ctx.state[0].to_ne_bytes();
    assert_eq!(u32::from_ne_bytes(pair[..4].try_into().unwrap()), 0x6a09_e667);
    assert_eq!(u32::from_ne_bytes(pair[4..].try_into().unwrap()), 0xbb67_ae85);
    // SAFETY: as above.
    unsafe {
        assert_eq!(hl_final(&raw mut guarded.ctx, digest.as_mut_ptr()), HL_OK);
        assert_eq!(hl_final(&raw mut guarded.ctx, digest.as_mut_ptr()), HL_ESTATE);
    }
    assert_eq!(digest[..4], [0xba, 0x78, 0x16, 0xbf]);
    assert_eq!((guarded.ctx.alg, guarded.ctx.nbytes), (0, 0));
    assert_eq!((guarded.before, guarded.after), ([0xee; 64], [0xee; 64]));
}

/// A key and a context between guards: C writes nothing beside them.
#[test]
fn hmac() {
    #[repr(C)]
    struct Guarded {
        before: [u8; 64],
        key: hl_hmac_key,
        between: [u8; 64],
        ctx: hl_hmac_ctx,
        after: [u8; 64],
    }
    let junk = hl_ctx {
        state: [!0; HL_STATE_MAX_NBYTES / 8],
        nbytes: !0,
        block: [0xff; HL_BLOCK_MAX_NBYTES],
        alg: !0,
        reserved: !0,
    };
    let mut guarded = Guarded {
        before: [0xee; 64],
        key: hl_hmac_key {
            inner: [!0; HL_STATE_MAX_NBYTES / 8],
            outer: [!0; HL_STATE_MAX_NBYTES / 8],
            alg: !0,
            reserved: !0,
        },
        between: [0xee; 64],
        ctx: hl_hmac_ctx { inner: junk, outer: [!0; HL_STATE_MAX_NBYTES / 8] },
        after: [0xee; 64],
    };
    let (key, ctx) = (&raw mut guarded.key, &raw mut guarded.ctx);
    let (mut tag, mut again) = ([0; HL_SHA256_DIGEST_NBYTES], [0; HL_SHA256_DIGEST_NBYTES]);
    let message = b"what do ya want for nothing?"; // RFC 4231, test case 2
    // SAFETY: a key, a context, bytes with their number, and room for tags.
    unsafe {
        assert_eq!(hl_hmac_key_init(key, HL_SHA256, b"Jefe".as_ptr().cast(), 4), HL_OK);
        assert_eq!((guarded.key.alg, guarded.key.reserved), (HL_SHA256, 0));
        assert_eq!(hl_hmac(key, message.as_ptr().cast(), message.len(), tag.as_mut_ptr()), HL_OK);
        assert_eq!(hl_hmac_init(ctx, key), HL_OK);
        assert_eq!((guarded.ctx.inner.nbytes, &guarded.ctx.outer[..4]), (64, &guarded.key.outer[..4]));
        assert_eq!(hl_hmac_update(ctx, message.as_ptr().cast(), message.len()), HL_OK);
        assert_eq!(hl_hmac_final(ctx, again.as_mut_ptr()), HL_OK);
        assert_eq!(hl_hmac_final(ctx, again.as_mut_ptr()), HL_ESTATE);
        assert_eq!(hl_equal(tag.as_ptr().cast(), again.as_ptr().cast(), tag.len()), 1);
        assert_eq!(hl_hmac_verify(key, message.as_ptr().cast(), message.len(), tag.as_ptr(), 16), HL_OK);
        assert_eq!(hl_hmac_verify(key, message.as_ptr().cast(), 3, tag.as_ptr(), 16), HL_ETAG);
        let slice = hl_slice { data: message.as_ptr().cast(), nbytes: message.len() };
        again = [0; HL_SHA256_DIGEST_NBYTES];
        assert_eq!(hl_hmac_many(key, &slice, 1, again.as_mut_ptr()), HL_OK);
        hl_hmac_key_wipe(key);
    }
    assert_eq!(tag[..4], [0x5b, 0xdc, 0xc1, 0x46]);
    assert_eq!(tag, again);
    assert_eq!(
        (guarded.key.inner, guarded.key.outer, guarded.key.alg),
        ([0; HL_STATE_MAX_NBYTES / 8], [0; HL_STATE_MAX_NBYTES / 8], 0)
    );
    assert_eq!((guarded.before, guarded.between, guarded.after), ([0xee; 64], [0xee; 64], [0xee; 64]));
}

/// Each field of a search is where C looks for it.
#[test]
fn searches() {
    let mut nonces = [0; 3];
    let mut nfound = 0;
    let mut job = hl_search_job {
        nbytes: size_of::<hl_search_job>(),
        alg: HL_SHA1,
        again: HL_SHA256,
        prefix: b"ab".as_ptr().cast(),
        prefix_nbytes: 2,
        suffix: b"xyz".as_ptr().cast(),
        suffix_nbytes: 3,
        alphabet: b"01".as_ptr().cast(),
        base: 2,
        nonce_width: 12,
        nonce_order: HL_LEAST_FIRST,
        digest_order: HL_LEAST_FIRST,
        first: 1000,
        last: 1000,
        target: [0; HL_DIGEST_MAX_NBYTES],
    };
    let (mut digest, mut again) = ([0; HL_SHA1_DIGEST_NBYTES], [0; HL_SHA256_DIGEST_NBYTES]);
    let message = b"ab000101111100xyz"; // 1000 in base 2, the least significant digit first
    // SAFETY: slices with their lengths, room for the digests and for three nonces.
    unsafe {
        assert_eq!(hl_hash(HL_SHA1, message.as_ptr().cast(), message.len(), digest.as_mut_ptr()), HL_OK);
        assert_eq!(hl_hash(HL_SHA256, digest.as_ptr().cast(), digest.len(), again.as_mut_ptr()), HL_OK);
        again.reverse();
        job.target[..again.len()].copy_from_slice(&again);
        assert_eq!(hl_search(&job, nonces.as_mut_ptr(), nonces.len(), &raw mut nfound), HL_OK);
        assert_eq!((nfound, nonces[0]), (1, 1000));
        job.target[again.len() - 1] = again[again.len() - 1].wrapping_sub(1); // one less, unless the byte is 0
        assert_ne!(again[again.len() - 1], 0);
        assert_eq!(hl_search(&job, nonces.as_mut_ptr(), nonces.len(), &raw mut nfound), HL_OK);
        assert_eq!(nfound, 0);
    }
}

/// Each field of a job is where C looks for it: a job with all of them that go together.
#[test]
fn jobs() {
    let mut digests = [0xee; 100];
    let mut keys =
        [hl_hmac_key { inner: [0; HL_STATE_MAX_NBYTES / 8], outer: [0; HL_STATE_MAX_NBYTES / 8], alg: 0, reserved: 0 };
            2];
    let message = b"what do ya want for nothing?"; // RFC 4231, test case 2
    let slices =
        [hl_slice { data: message.as_ptr().cast(), nbytes: message.len() }, hl_slice { data: ptr::null(), nbytes: 0 }];
    // SAFETY: what the job points to lives here; kernel 0 has one lane of plain C or is what the table begins with.
    unsafe {
        for key in &mut keys {
            assert_eq!(hl_hmac_key_init(key, HL_SHA256, b"Jefe".as_ptr().cast(), 4), HL_OK);
        }
        let messages = hl_messages {
            layout: HL_SLICES,
            reserved: 0,
            count: 2,
            base: slices.as_ptr().cast(),
            stride: 0,
            nbytes: 0,
        };
        let mut job = hl_job {
            nbytes: size_of::<hl_job>(),
            alg: HL_SHA256,
            again: 0,
            messages,
            digests: digests.as_mut_ptr(),
            digest_stride: 40,
            begin: ptr::null(),
            begin_stride: 0,
            keys: keys.as_ptr(),
            key_stride: size_of::<hl_hmac_key>(),
            kernel: hl_kernel_chosen(HL_SHA256, 2),
            is_secret: 1,
            reserved: 0,
            digest_nbytes: HL_SHA256_DIGEST_NBYTES,
        };
        assert_eq!(hl_run(&job), HL_OK);
        assert_eq!((&digests[..2], &digests[32..40]), (&[0x5b, 0xdc][..], &[0xee; 8][..]));
        assert_eq!((digests[39], digests[72]), (0xee, 0xee));
        let mut begun = std::mem::zeroed::<hl_ctx>();
        assert_eq!(hl_init(&mut begun, HL_SHA1), HL_OK);
        assert_eq!(hl_update(&mut begun, b"a".as_ptr().cast(), 1), HL_OK);
        job.digest_nbytes += 1; // SHA-256 has no other length
        assert_eq!(hl_run(&job), HL_EJOB);
        job = hl_job { alg: HL_SHA1, begin: &begun, keys: ptr::null(), kernel: ptr::null(), digest_stride: 0, ..job };
        job.digest_nbytes = 0;
        job.messages =
            hl_messages { layout: HL_ROWS, count: 2, base: b"bcbc".as_ptr().cast(), stride: 2, nbytes: 2, reserved: 0 };
        assert_eq!(hl_run(&job), HL_OK);
        assert_eq!((&digests[..2], &digests[20..22]), (&[0xa9, 0x99][..], &[0xa9, 0x99][..]));
        job.again = HL_SHA1;
        job.nbytes -= 1;
        assert_eq!(hl_run(&job), HL_EJOB);
    }
}

#[test]
fn slices() {
    let messages = [
        hl_slice { data: b"abc".as_ptr().cast(), nbytes: 3 },
        hl_slice { data: ptr::null(), nbytes: 0 },
        hl_slice { data: b"abc".as_ptr().cast(), nbytes: 3 },
    ];
    let mut digests = [[0_u8; HL_SHA1_DIGEST_NBYTES]; 3];
    // SAFETY: three slices and room for three digests.
    let status = unsafe { hl_hash_many(HL_SHA1, messages.as_ptr(), 3, digests.as_flattened_mut().as_mut_ptr()) };
    assert_eq!(status, HL_OK);
    assert_eq!(digests[0], digests[2]);
    assert_eq!(digests[0][..4], [0xa9, 0x99, 0x3e, 0x36]);
    assert_eq!(digests[1][..4], [0xda, 0x39, 0xa3, 0xee]);
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
