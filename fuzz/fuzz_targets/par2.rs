// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads PAR 2.0 files that may come from anybody. A likely file says what was put in. Edits after its packets are
//! sealed lose packets, and change nothing else; what edits before that say must not contradict the format.

#![no_main]

mod numbers;

use std::io::Cursor;

use hashloom::{Algorithm, hash};
use hashloom_stores::{Par2, Par2File};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;

fn md5(bytes: &[u8]) -> [u8; 16] {
    hash(Algorithm::Md5, bytes).as_ref().try_into().unwrap()
}

fn seal(set: [u8; 16], kind: &[u8; 16], body: &[u8]) -> Vec<u8> {
    let covered = [&set[..], kind, body].concat();
    let nbytes = covered.len() as u64 + 32;
    [b"PAR2\0PKT", &nbytes.to_le_bytes()[..], &md5(&covered), &covered].concat()
}

/// The packets of a likely file, and what they say.
fn likely(numbers: &mut Numbers<'_>) -> (Vec<(&'static [u8; 16], Vec<u8>)>, Par2) {
    let block_nbytes = [4, 8, 64, 1 << 40][numbers.next() % 4];
    let mut par2 = Par2 { block_nbytes, files: Vec::new(), undescribed: 0, damaged: 0 };
    let (mut main, mut bodies) =
        ([&block_nbytes.to_le_bytes()[..], &[numbers.next() as u8, 0, 0, 0]].concat(), Vec::new());
    for first in b'a'..b'a' + numbers.next() as u8 % 5 {
        let (nbytes, name) = (numbers.next() as u64 % 200, vec![first; 1 + numbers.next() % 6]);
        let (digest, block) = ([numbers.next() as u8 % 2; 16], [numbers.next() as u8; 20]);
        let id = md5(&[&digest[..], &nbytes.to_le_bytes(), &name].concat());
        main.extend(id);
        let padding = vec![0; name.len().next_multiple_of(4) - name.len()];
        let described = [&id[..], &digest, &digest, &nbytes.to_le_bytes(), &name, &padding].concat();
        let nblocks = nbytes.div_ceil(block_nbytes) as usize;
        bodies.push((b"PAR 2.0\0FileDesc", described));
        bodies.push((b"PAR 2.0\0IFSC\0\0\0\0", [&id[..], &block.repeat(nblocks)].concat()));
        let blocks = vec![block[..16].try_into().unwrap(); nblocks];
        par2.files.push(Par2File { name, nbytes, md5: digest, blocks: Some(blocks) });
    }
    bodies.push((b"PAR 2.0\0RecvSlic", vec![1; numbers.next()]));
    bodies.insert(numbers.next() % bodies.len(), (b"PAR 2.0\0Main\0\0\0\0", main));
    (bodies, par2)
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let (mut bodies, expected) = likely(&mut numbers);
    let set = md5(&bodies.iter().find(|(kind, _)| kind[8] == b'M').unwrap().1);
    let is_forged = numbers.next() % 4 == 1 && {
        let at = numbers.next() % bodies.len();
        numbers.edit(&mut bodies[at].1)
    };
    let mut bytes: Vec<u8> = bodies.iter().flat_map(|(kind, body)| seal(set, kind, body)).collect();
    bytes.extend(bodies.get(numbers.next()).into_iter().flat_map(|(kind, body)| seal(set, kind, body)));
    let is_edited = numbers.edit(&mut bytes);
    let found = Par2::read(Cursor::new(&bytes));
    if !is_forged && !is_edited {
        assert_eq!(found.as_ref().unwrap(), &expected);
    }
    let Ok(par2) = found else { return };
    for file in &par2.files {
        let nblocks = file.blocks.as_ref().map(|blocks| blocks.len() as u64);
        assert!(nblocks.is_none_or(|nblocks| nblocks == file.nbytes.div_ceil(par2.block_nbytes)), "{file:?}");
        let is_it = |one: &&Par2File| one.name == file.name && one.nbytes == file.nbytes;
        let known = expected.files.iter().find(is_it);
        let is_same = known.is_some_and(|known| file.blocks.is_none() || file.blocks == known.blocks);
        assert!(is_same || is_forged, "{file:?}");
    }
    assert!(is_forged || par2.files.len() + par2.undescribed == expected.files.len());
});
