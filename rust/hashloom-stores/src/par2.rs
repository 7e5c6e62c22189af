// SPDX-License-Identifier: MIT OR Apache-2.0

//! The block lists of a PAR 2.0 file ("Parity Volume Set Specification 2.0"), which may come from anybody.
//!
//! A file is packets one after the other, each with an MD5 of its own. Three kinds say what the files of the set were:
//! Main has the length of a block and the numbers of the files, a description the name and length of one file, a list
//! the MD5 and CRC-32 of each of its blocks; the last block is filled with zeros. Packets of other kinds are skipped.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

use hashloom::{Algorithm, hash};

const MAGIC: &[u8] = b"PAR2\0PKT";
const HEAD_NBYTES: u64 = 64;

/// Longest packet that is kept: a list of 32,768 blocks, the most that the format allows, has 640 KiB.
const PACKET_MAX_NBYTES: u64 = 1 << 20;

/// Most bytes of packets that are kept, and most bytes of damaged packets that are read.
const TOTAL_MAX_NBYTES: u64 = 64 << 20;

/// Most places with damage: a file could have one in every 8 bytes, each of which is looked at.
const DAMAGED_MAX: u64 = 1 << 16;

/// Bytes read at once. Little, as packets may be short, and many.
const STEP_NBYTES: u64 = 4 << 10;

type Md5 = [u8; 16];

/// The files that a PAR 2.0 file describes.
///
/// ```
/// use hashloom_stores::{Par2, Par2File};
///
/// let error = Par2::read(std::io::Cursor::new([0; 99])).unwrap_err();
/// assert_eq!(error.to_string(), "expected a Main packet, found none that is undamaged");
/// let names = |par2: Par2| -> Vec<Vec<u8>> { par2.files.into_iter().map(|file: Par2File| file.name).collect() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Par2 {
    /// Bytes in a block, at least 4.
    pub block_nbytes: u64,
    /// The files, in the order of Main. All of them filled with zeros to whole blocks have less than 2^62 bytes.
    pub files: Vec<Par2File>,
    /// Number of files without a description.
    pub undescribed: usize,
    /// Number of places that are no undamaged packet.
    pub damaged: u64,
}

/// A file that a PAR 2.0 file describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Par2File {
    /// The name, as anybody may have chosen it.
    pub name: Vec<u8>,
    /// Number of bytes.
    pub nbytes: u64,
    /// The MD5 of the whole file.
    pub md5: [u8; 16],
    /// The MD5 of each block, or `None` if the PAR 2.0 file lacks them.
    pub blocks: Option<Vec<[u8; 16]>>,
}

/// The undamaged packets of a file, without their heads.
#[derive(Default)]
struct Packets {
    set: Option<Md5>,
    main: Option<Vec<u8>>,
    descriptions: HashMap<Md5, Vec<u8>>,
    lists: HashMap<Md5, Vec<u8>>,
    nbytes: u64,
}

impl Par2 {
    /// Reads all packets.
    ///
    /// # Errors
    /// Those of the reader; `InvalidData` if there is no undamaged Main packet, if undamaged packets contradict each
    /// other or their format, if packets take more memory than 64 MiB, or if there is damage in more than 65,536
    /// places.
    pub fn read(from: impl Read + Seek) -> io::Result<Par2> {
        let mut reader = BufReader::with_capacity(STEP_NBYTES as usize, from);
        let (mut packets, mut damaged, mut damaged_nbytes, mut at) = (Packets::default(), 0, 0, 0);
        let total_nbytes = reader.seek(SeekFrom::End(0))?;
        while at < total_nbytes {
            reader.seek(SeekFrom::Start(at))?;
            let head = read(&mut reader, HEAD_NBYTES)?;
            let nbytes = head.get(8..16).map_or(0, number);
            let is_head = head.len() as u64 == HEAD_NBYTES && head.starts_with(MAGIC) && nbytes >= HEAD_NBYTES;
            let is_kept = is_head && nbytes <= PACKET_MAX_NBYTES && Packets::has(&head[48..]);
            if is_kept {
                let body = read(&mut reader, nbytes - HEAD_NBYTES)?;
                if body.len() as u64 + HEAD_NBYTES == nbytes && md5(&[&head[32..], &body]) == head[16..32] {
                    packets.add(&head, body)?;
                    at += nbytes;
                    continue;
                }
                damaged_nbytes += nbytes;
            } else if is_head && nbytes <= total_nbytes - at {
                // Nothing says whether this length is right but what follows.
                let end = at + nbytes;
                reader.seek(SeekFrom::Start(end - 1))?;
                let follows = read(&mut reader, 1 + MAGIC.len() as u64)?;
                if follows.len() == 1 || follows.get(1..) == Some(MAGIC) {
                    at = end;
                    continue;
                }
            }
            damaged += 1;
            if damaged > DAMAGED_MAX || damaged_nbytes > TOTAL_MAX_NBYTES {
                return Err(too_long());
            }
            reader.seek(SeekFrom::Start(at + 1))?;
            match find_magic(&mut reader)? {
                Some(distance) => at += 1 + distance,
                None => break,
            }
        }
        packets.files(damaged)
    }
}

fn invalid(what: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what)
}

fn fault(what: &str) -> io::Error {
    invalid(format!("not a set of files: {what}"))
}

fn too_long() -> io::Error {
    let what = "expected up to 64 MiB of packets that describe files, found more, or damage in 65,536 places";
    invalid(what.to_owned())
}

fn read(reader: impl Read, nbytes: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(nbytes).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn md5(parts: &[&[u8]]) -> Md5 {
    array(hash(Algorithm::Md5, &parts.concat()).as_ref())
}

/// An array of the first bytes, of which there must be enough.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[..N]);
    array
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_le_bytes(array(bytes))
}

/// The distance of the next packet.
fn find_magic(mut reader: impl Read) -> io::Result<Option<u64>> {
    let (mut bytes, mut before) = (Vec::new(), 0);
    loop {
        let nread = reader.by_ref().take(STEP_NBYTES).read_to_end(&mut bytes)?;
        if let Some(found) = bytes.windows(MAGIC.len()).position(|window| window == MAGIC) {
            return Ok(Some(before + found as u64));
        }
        if nread == 0 {
            return Ok(None);
        }
        let done = bytes.len().saturating_sub(MAGIC.len() - 1);
        bytes.drain(..done);
        before += done as u64;
    }
}

impl Packets {
    fn has(kind: &[u8]) -> bool {
        [&b"PAR 2.0\0Main\0\0\0\0"[..], b"PAR 2.0\0FileDesc", b"PAR 2.0\0IFSC\0\0\0\0"].contains(&kind)
    }

    /// Adds an undamaged packet. Repeated packets must be alike.
    fn add(&mut self, head: &[u8], body: Vec<u8>) -> io::Result<()> {
        let set = array(&head[32..]);
        if *self.set.get_or_insert(set) != set {
            return Err(fault("it has packets of two sets"));
        }
        let old = match (head[56], body.len()) {
            (b'M', 12..) if md5(&[&body]) == set => self.main.get_or_insert_default(),
            (b'F', 57..) => self.descriptions.entry(array(&body)).or_default(),
            (b'I', 16..) => self.lists.entry(array(&body)).or_default(),
            _ => return Err(fault("a packet is not as its kind asks for")),
        };
        if old.is_empty() {
            self.nbytes += body.len() as u64;
            *old = body;
        } else if *old != body {
            return Err(fault("two packets are about one file and differ"));
        }
        if self.nbytes > TOTAL_MAX_NBYTES { Err(too_long()) } else { Ok(()) }
    }

    fn files(self, damaged: u64) -> io::Result<Par2> {
        let fault = |what| Err(fault(what));
        let main =
            self.main.ok_or_else(|| invalid("expected a Main packet, found none that is undamaged".to_owned()))?;
        let (block_nbytes, ids) = (number(&main), main[12..].chunks_exact(16));
        if block_nbytes == 0 || block_nbytes % 4 != 0 || !ids.remainder().is_empty() {
            return fault("Main has no length of blocks that is a multiple of 4");
        }
        let mut par2 = Par2 { block_nbytes, files: Vec::new(), undescribed: 0, damaged };
        let (mut numbers, mut names, mut total) = (HashSet::new(), HashSet::new(), 0_u64);
        for id in ids {
            if !numbers.insert(id) {
                return fault("Main names a file twice");
            }
            let Some(description) = self.descriptions.get(id) else {
                par2.undescribed += 1;
                continue;
            };
            let (nbytes, name) = (number(&description[48..]), &description[56..]);
            let name = &name[..name.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1)];
            if md5(&[&description[32..56], name]) != *id {
                return fault("a description is of another file than its number");
            }
            // The MD5 of the file, and of its first 16 KiB.
            if nbytes <= 16 << 10 && description[16..32] != description[32..48] {
                return fault("a short file has two digests");
            }
            if !names.insert(name) {
                return fault("two files have one name");
            }
            let nblocks = nbytes.div_ceil(block_nbytes);
            let filled = nblocks.checked_mul(block_nbytes).and_then(|filled| total.checked_add(filled));
            total = match filled.filter(|&total| total < 1 << 62) {
                Some(total) => total,
                None => return fault("its files are longer than any can be"),
            };
            let blocks: Option<Vec<Md5>> = match self.lists.get(id) {
                Some(list) if list.len() % 20 != 16 => return fault("a list of blocks is cut off"),
                Some(list) => Some(list[16..].chunks_exact(20).map(array).collect()),
                None => (nblocks == 0).then(Vec::new),
            };
            if blocks.as_ref().is_some_and(|blocks| blocks.len() as u64 != nblocks) {
                return fault("a list has another number of blocks than its file");
            }
            par2.files.push(Par2File { name: name.to_vec(), nbytes, md5: array(&description[16..]), blocks });
        }
        Ok(par2)
    }
}
