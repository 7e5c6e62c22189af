// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads PAR 2.0 files that may come from anybody: likely ones, edited before or after their packets are sealed. What is
//! read, or that nothing is, is compared with the specification, read here from memory, one packet after the other.

#![no_main]

mod numbers;

use std::collections::BTreeMap;
use std::io::Cursor;

use hashloom::{Algorithm, hash};
use hashloom_list::{Par2, Par2File};
use libfuzzer_sys::fuzz_target;
use numbers::Numbers;

fn md5(bytes: &[u8]) -> [u8; 16] {
    hash(Algorithm::Md5, bytes).as_ref().try_into().unwrap()
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(bytes[..8].try_into().unwrap())
}

fn seal(set: [u8; 16], kind: &[u8; 16], body: &[u8]) -> Vec<u8> {
    let covered = [&set[..], kind, body].concat();
    let nbytes = covered.len() as u64 + 32;
    [b"PAR2\0PKT", &nbytes.to_le_bytes()[..], &md5(&covered), &covered].concat()
}

/// Makes a likely file.
fn likely(numbers: &mut Numbers<'_>) -> Vec<u8> {
    let block = [4, 8, 64, 6, 0, 1 << 40][numbers.next() % 6].max(numbers.next() as u64 % 2 * 4);
    let (mut main, mut bodies) = (block.to_le_bytes().to_vec(), Vec::new());
    main.extend([numbers.next() as u8, 0, 0, 0]);
    for _ in 0..numbers.next() % 5 {
        let digest = [numbers.next() as u8 % 2; 16];
        let (nbytes, name) = (numbers.next() as u64 % 200, vec![b'a' + numbers.next() as u8 % 3; numbers.next() % 6]);
        let id = md5(&[&digest[..], &nbytes.to_le_bytes(), &name].concat());
        main.extend(id);
        let padding = vec![0; name.len().next_multiple_of(4) - name.len()];
        bodies
            .push((b"PAR 2.0\0FileDesc", [&id[..], &digest, &digest, &nbytes.to_le_bytes(), &name, &padding].concat()));
        let nblocks = nbytes.div_ceil(block.max(1)) as usize + usize::from(numbers.next() % 16 == 1);
        bodies.push((b"PAR 2.0\0IFSC\0\0\0\0", [&id[..], &vec![numbers.next() as u8; nblocks * 20]].concat()));
    }
    let set = md5(&main);
    bodies.push((b"PAR 2.0\0Main\0\0\0\0", main));
    bodies.push((b"PAR 2.0\0RecvSlic", vec![1; numbers.next()]));
    let mut bytes = Vec::new();
    for _ in 0..bodies.len() + numbers.next() % 4 {
        let (kind, mut body) = bodies[(bytes.len() + numbers.next()) % bodies.len()].clone();
        if numbers.next() % 16 == 1 {
            numbers.edit(&mut body);
        }
        bytes.extend(seal(if numbers.next() % 64 == 1 { [0; 16] } else { set }, kind, &body));
    }
    bytes
}

/// The file, read by the specification. `None` if it says nothing.
fn model(bytes: &[u8]) -> Option<Par2> {
    let kinds = [b"PAR 2.0\0Main\0\0\0\0", b"PAR 2.0\0FileDesc", b"PAR 2.0\0IFSC\0\0\0\0"];
    let is_packet = |at: usize| bytes[at..].starts_with(b"PAR2\0PKT");
    let (mut at, mut damaged, mut sets, mut packets) = (0, 0, Vec::new(), BTreeMap::new());
    while at < bytes.len() {
        let rest = &bytes[at..];
        let head = rest.get(..64).filter(|head| is_packet(at) && number(&head[8..]) >= 64);
        let nbytes = head.map_or(u64::MAX, |head| number(&head[8..]));
        let packet = rest.get(..usize::try_from(nbytes).unwrap_or(usize::MAX));
        let kind = head.and_then(|head| kinds.iter().position(|kind| head[48..] == kind[..]));
        let is_right = match (kind.filter(|_| nbytes <= 1 << 20), packet) {
            (_, None) => false,
            (None, Some(packet)) => packet.len() == rest.len() || is_packet(at + packet.len()),
            (Some(_), Some(packet)) => md5(&packet[32..]) == packet[16..32],
        };
        if let (true, Some(packet)) = (is_right, packet) {
            at += packet.len();
            let Some(kind) = kind.filter(|_| nbytes <= 1 << 20) else { continue };
            let body = &packet[64..];
            sets.push(&packet[32..48]);
            let id = if kind == 0 { None } else { Some(body.get(..16)?) };
            if body.len() < [12, 57, 16][kind] || *packets.entry((kind, id)).or_insert(body) != body {
                return None;
            }
            continue;
        }
        damaged += 1;
        at = (at + 1..bytes.len()).find(|&at| is_packet(at)).unwrap_or(bytes.len());
    }
    let main = packets.get(&(0, None))?;
    if sets.iter().any(|set| **set != md5(main)) || number(main) == 0 || number(main) % 4 > 0 || main.len() % 16 != 12 {
        return None;
    }
    let mut par2 = Par2 { block_nbytes: number(main), files: Vec::new(), undescribed: 0, damaged };
    let mut ids: Vec<&[u8]> = Vec::new();
    for id in main[12..].chunks(16) {
        ids.push(id);
        let Some(body) = packets.get(&(1, Some(id))) else {
            par2.undescribed += 1;
            continue;
        };
        let nnul = body[56..].iter().rev().take_while(|&&byte| byte == 0).count();
        let (nbytes, name) = (number(&body[48..]), &body[56..body.len() - nnul]);
        let blocks = packets.get(&(2, Some(id))).map(|body| (&body[16..], body.len() % 20 == 16));
        let nblocks = nbytes.div_ceil(par2.block_nbytes);
        let is_odd = blocks.is_some_and(|(list, is_whole)| !is_whole || list.len() as u64 / 20 != nblocks);
        let is_contrary = nbytes <= 16384 && body[16..32] != body[32..48];
        if is_odd
            || is_contrary
            || md5(&[&body[32..56], name].concat()) != *id
            || nblocks.checked_mul(par2.block_nbytes)? >> 62 > 0
        {
            return None;
        }
        let list = |list: &[u8]| list.chunks(20).map(|block| block[..16].try_into().unwrap()).collect();
        let blocks = blocks.map(|(blocks, _)| list(blocks)).or((nblocks == 0).then(Vec::new));
        par2.files.push(Par2File { name: name.to_vec(), nbytes, blocks });
    }
    let is_twice = |one: usize| (0..one).any(|other| ids[one] == ids[other]);
    let names: Vec<_> = par2.files.iter().map(|file| &file.name).collect();
    let is_one_name = |one: usize| names[..one].contains(&names[one]);
    (!(0..ids.len()).any(is_twice) && !(0..names.len()).any(is_one_name)).then_some(par2)
}

fuzz_target!(|input: &[u8]| {
    let mut numbers = Numbers(input);
    let mut bytes = if numbers.next() % 8 == 1 { numbers.bytes(1 << 12).to_vec() } else { likely(&mut numbers) };
    if numbers.next() % 3 == 1 {
        numbers.edit(&mut bytes);
    }
    let found = Par2::read(Cursor::new(&bytes));
    assert_eq!(found.as_ref().ok(), model(&bytes).as_ref(), "{found:?}");
});
