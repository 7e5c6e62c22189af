// SPDX-License-Identifier: MIT OR Apache-2.0

//! The page in the browser asks the engine for these: the contents of a torrent or of a list of checksums, digests, and
//! a new torrent.
//!
//! The page and each of its workers have an instance of their own, with one thread. Bytes go in through [`room`], text
//! comes out through [`answer_at`] and [`answer_nbytes`]. JavaScript knows only numbers, so addresses are numbers here
//! too. A call that is wrong panics, which ends the instance: the page then reports an error, never a verdict.

mod json;

use std::cell::RefCell;
use std::cmp::Reverse;
use std::io::Read;

use hashloom::{Algorithm, Hasher, finalize_many, update_many};
use hashloom_list::{BadLine, Line, Parser, read_digest as parse_digest};
use hashloom_maker::{Builder, CreateError, Draft};
use hashloom_torrent::{Attributes, PieceDigests, Pieces, Torrent, Version};

use json::Json;

/// Flags of a torrent's file, as in shared.js.
const PADDING: u64 = 1;
const SYMLINK: u64 = 2;

const SHA1_NBYTES: usize = 20;
const ROOT_NBYTES: usize = 32;

#[derive(Default)]
struct State {
    input: Vec<u8>,
    answer: Vec<u8>,
    /// Leaked: an instance has one torrent at a time, and ends with it.
    torrent: Option<&'static Torrent>,
    /// A torrent that is to be made, in place of one; leaked too.
    draft: Option<&'static Draft>,
    pieces: Option<Pieces<'static>>,
    hashers: Vec<(usize, Hasher)>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(work: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(work)
}

/// Makes room for input of this number of bytes, and returns the address of the room. The room keeps its address until
/// more bytes are asked for.
#[unsafe(no_mangle)]
pub extern "C" fn room(nbytes: usize) -> *mut u8 {
    with(|state| {
        if state.input.len() < nbytes {
            // The old bytes are not copied, and not kept beside the new ones.
            state.input = Vec::new();
            state.input = vec![0; nbytes];
        }
        state.input.as_mut_ptr()
    })
}

/// The address of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_at() -> *const u8 {
    with(|state| state.answer.as_ptr())
}

/// The length of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_nbytes() -> usize {
    with(|state| state.answer.len())
}

/// Reads the torrent in the room. The answer is JSON: the torrent's contents, or `error`. Returns 1 if the bytes are a
/// torrent.
#[unsafe(no_mangle)]
pub extern "C" fn read_torrent(nbytes: usize) -> u32 {
    with(|state| {
        let (json, torrent) = match Torrent::parse(&state.input[..nbytes]) {
            Ok(torrent) => (describe(&torrent), Some(&*Box::leak(Box::new(torrent)))),
            Err(error) => (Json::object().text("error", error.to_string().as_bytes()).end(), None),
        };
        state.torrent = torrent;
        state.answer = json;
        u32::from(torrent.is_some())
    })
}

/// Files are columns: JavaScript would take a second for a million objects.
fn columns<'a, I: Iterator<Item = (&'a [u8], u64, u64, Attributes)>>(json: Json, files: impl Fn() -> I) -> Json {
    let number = |number: u64| number.to_string().into_bytes();
    let flags = |of: Attributes| u64::from(of.padding) * PADDING + u64::from(of.symlink) * SYMLINK;
    json.list("paths", files().map(|(path, ..)| json::text(path)))
        .list("offsets", files().map(|(_, offset, ..)| number(offset)))
        .list("nbytes", files().map(|(_, _, nbytes, _)| number(nbytes)))
        .list("flags", files().map(|(.., attributes)| number(flags(attributes))))
}

fn describe(torrent: &Torrent) -> Vec<u8> {
    let hex = |algorithm, hash: &[u8]| json::text(hashloom::Hash::new(algorithm, hash).to_string().as_bytes());
    let hashes = [
        torrent.info_hash_v1().map(|hash| hex(Algorithm::Sha1, &hash[..])),
        torrent.info_hash_v2().map(|hash| hex(Algorithm::Sha256, &hash[..])),
    ];
    let json = Json::object()
        .text("name", torrent.name())
        .text("version", torrent.version().to_string().as_bytes())
        .truth("single", torrent.is_single_file())
        .number("piece_nbytes", torrent.piece_nbytes())
        .number("piece_count", torrent.piece_count() as u64)
        .list("hashes", hashes.into_iter().flatten())
        .text("magnet", torrent.magnet().as_bytes());
    columns(json, || torrent.files().map(|file| (file.path, file.offset, file.nbytes, file.attributes)))
        .list("notes", torrent.notes().iter().map(|note| json::text(note.to_string().as_bytes())))
        .end()
}

/// Lays out the torrent that is to be made of the options in the room: lines that each end in a NUL byte, which no name
/// has. The answer is JSON: what [`read_torrent`] answers of a torrent, or `error`. Returns 1 if there is a layout.
#[unsafe(no_mangle)]
pub extern "C" fn read_draft(nbytes: usize) -> u32 {
    with(|state| {
        let (json, draft) = match draft(&state.input[..nbytes]) {
            Ok(draft) => (describe_draft(&draft), Some(&*Box::leak(Box::new(draft)))),
            Err(error) => (Json::object().text("error", error.as_bytes()).end(), None),
        };
        state.draft = draft;
        state.answer = json;
        u32::from(draft.is_some())
    })
}

/// The options are lines of a letter, a space and a value; the order of different letters does not matter.
fn draft(options: &[u8]) -> Result<Draft, String> {
    let options = std::str::from_utf8(options).map_err(|error| error.to_string())?;
    // As `hashloom torrent create` has it.
    let mut builder = Builder::new().created_by(concat!("hashloom ", env!("CARGO_PKG_VERSION")));
    let (mut folder, mut files, mut is_open) = (None, Vec::new(), true);
    for line in options.split_terminator('\0') {
        let (letter, value) = line.split_once(' ').ok_or("an option without a value")?;
        builder = match letter {
            "v" => {
                is_open = false;
                builder.version(match value {
                    "v1" => Version::V1,
                    "v2" => Version::V2,
                    _ => Version::Hybrid,
                })
            }
            "l" => builder.piece_nbytes(value.parse().map_err(|_| format!("a piece length of {value} bytes"))?),
            "n" => builder.name(value),
            "t" => builder.tier(value.split(',')),
            "w" => builder.web_seed(value),
            "p" => builder.private(true),
            _ => builder,
        };
        match letter {
            "d" => folder = Some(value),
            "f" => {
                let (nbytes, path) = value.split_once(' ').ok_or("a file without a length")?;
                if path.contains(char::REPLACEMENT_CHARACTER) {
                    return Err(format!(
                        "{path}: a browser does not show such a name as it is on the disk; rename it, or use \
                         the program hashloom"
                    ));
                }
                files.push((path, nbytes.parse().map_err(|_| format!("{path}: a length of {nbytes} bytes"))?));
            }
            _ => {}
        }
    }
    let drafted = builder.clone().draft(folder, files.iter().copied());
    let drafted = match drafted {
        // Many clients take padding for files.
        Ok(draft) if is_open && draft.files().any(|(.., attributes)| attributes.padding) => {
            builder.version(Version::V1).draft(folder, files)
        }
        Err(CreateError::PadFolder) if is_open => builder.version(Version::V1).draft(folder, files),
        drafted => drafted,
    };
    drafted.map_err(|error| error.to_string())
}

fn describe_draft(draft: &Draft) -> Vec<u8> {
    let json = Json::object()
        .text("name", draft.name())
        .text("version", draft.version().to_string().as_bytes())
        .truth("single", draft.is_single_file())
        .number("piece_nbytes", draft.piece_nbytes())
        .number("piece_count", draft.piece_count() as u64);
    columns(json.number("digests_nbytes", digests_nbytes(draft) as u64), || draft.files())
        .list("notes", std::iter::empty())
        .end()
}

/// Bytes of the digests of a piece.
fn digests_nbytes(draft: &Draft) -> usize {
    match draft.version() {
        Version::V1 => SHA1_NBYTES,
        Version::V2 => ROOT_NBYTES,
        Version::Hybrid => SHA1_NBYTES + ROOT_NBYTES,
    }
}

/// Makes the torrent of the digests in the room: of each piece its SHA-1, its root or both, as [`finish_pieces`] gives
/// them. The answer is the torrent, and the function returns 1; or the answer is the error.
#[unsafe(no_mangle)]
pub extern "C" fn finish_draft(nbytes: usize) -> u32 {
    with(|state| {
        let made = state.draft.ok_or_else(|| "there is no draft".to_owned()).and_then(|draft| {
            let (has_sha1, has_root) = (draft.version() != Version::V2, draft.version() != Version::V1);
            let digests = |piece: &[u8]| PieceDigests {
                sha1: piece.first_chunk().copied().filter(|_| has_sha1),
                root: piece.last_chunk().copied().filter(|_| has_root),
            };
            let digests: Vec<PieceDigests> = state.input[..nbytes].chunks(digests_nbytes(draft)).map(digests).collect();
            draft.finish(&digests).map_err(|error| error.to_string())
        });
        let is_made = made.is_ok();
        state.answer = made.map_or_else(String::into_bytes, |created| created.bytes);
        u32::from(is_made)
    })
}

/// The algorithms for lines that name none, the first of them for digests of its length: those that the name of the
/// list names, as SHA3-256SUMS and x.rmd160 do, before all others. Also the number of those that are told.
fn untagged(list_name: &[u8]) -> (Vec<Algorithm>, usize) {
    let name = String::from_utf8_lossy(list_name).to_lowercase();
    // sha512-224 is in the name, and so is sha512: the longer one is meant.
    let told = |algorithm: &Algorithm| {
        let names = algorithm.tags().iter().copied().chain([algorithm.name()]);
        names.filter(|known| name.contains(&known.to_lowercase())).map(str::len).max()
    };
    let mut algorithms = Algorithm::ALL.to_vec();
    algorithms.sort_by_key(|algorithm| Reverse(told(algorithm)));
    let ntold = algorithms.iter().filter(|algorithm| told(algorithm).is_some()).count();
    (algorithms, ntold)
}

/// Reads the list of checksums in the room, which its name follows. The answer is JSON: its entries, its bad lines,
/// remarks on it, and all algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn read_list(nbytes: usize, name_nbytes: usize) {
    /// The first bad lines are told.
    const BAD_MAX: usize = 20;
    with(|state| {
        let (algorithms, ntold) = untagged(&state.input[nbytes..][..name_nbytes]);
        let mut parser = Parser::untagged(&algorithms);
        let (mut entries, mut bad, mut nbad) = (Vec::new(), Vec::new(), 0);
        let (mut text, mut end) = (Vec::new(), b'\n');
        // Reading from memory cannot fail.
        let _ = hashloom_list::decoded(&state.input[..nbytes], None).and_then(|(mut list, its_end)| {
            end = its_end;
            list.read_to_end(&mut text)
        });
        parser.begin_named(end, &state.input[nbytes..][..name_nbytes]);
        let text = text.strip_suffix(&[end]).unwrap_or(&text);
        let mut tell = |number: u64, why: BadLine| {
            nbad += 1;
            if bad.len() < BAD_MAX {
                bad.push(json::text(format!("line {number}: {why}").as_bytes()));
            }
        };
        let mut read = |line: Line<'_>, number| match line {
            Line::Blank => {}
            // The page computes no CRC.
            Line::Entry(entry) if entry.digests.is_empty() => tell(number, BadLine::NoDigest),
            Line::Entry(entry) => entries.push(describe_entry(&entry, &algorithms[..ntold])),
            Line::Unread(why) | Line::Bad(why) => tell(number, why),
        };
        let mut nlines = 0;
        for (line, number) in text.split(|&byte| byte == end).zip(1..) {
            nlines = number;
            read(parser.parse(line), number);
            while let Some(line) = parser.more(false) {
                read(line, number);
            }
        }
        while let Some(line) = parser.more(true) {
            read(line, nlines);
        }
        state.answer = Json::object()
            .list("entries", entries.into_iter())
            .list("bad", bad.into_iter())
            .number("nbad", nbad)
            .list("remarks", parser.remarks().map(|remark| json::text(remark.as_bytes())))
            .list("algorithms", describe_algorithms())
            .end();
    });
}

/// Reads the digest of one file in the text in the room. The answer is JSON: an entry as those of a list, or `problem`.
/// If the text names no algorithm, the entry has the digest of the usual one of its length.
#[unsafe(no_mangle)]
pub extern "C" fn read_digest(nbytes: usize) {
    with(|state| {
        let problem = |text: String| Json::object().text("problem", text.as_bytes()).end();
        state.answer = match parse_digest(&String::from_utf8_lossy(&state.input[..nbytes])) {
            Err(why) => problem(why.to_string()),
            Ok(entry) if !entry.crcs.is_empty() => problem("this page computes no CRC".to_owned()),
            Ok(mut entry) => {
                entry.digests.truncate(if entry.is_tagged { usize::MAX } else { 1 });
                describe_entry(&entry, &[])
            }
        };
    });
}

fn describe_algorithms() -> impl Iterator<Item = Vec<u8>> {
    Algorithm::ALL.iter().map(|algorithm| {
        let json = Json::object()
            .text("name", algorithm.name().as_bytes())
            .text("tag", hashloom_list::tag(*algorithm).as_bytes());
        json.number("nbytes", algorithm.digest_nbytes() as u64).end()
    })
}

/// The answer is JSON: all algorithms.
#[unsafe(no_mangle)]
pub extern "C" fn algorithms() {
    with(|state| state.answer = json::list(describe_algorithms()));
}

/// `told`: the algorithms that lines without a tag are of, by the name of the list.
fn describe_entry(entry: &hashloom_list::Entry<'_>, told: &[Algorithm]) -> Vec<u8> {
    let digests = entry.digests.iter().map(|(algorithm, hash)| {
        Json::object()
            .number("algorithm", index_of(*algorithm) as u64)
            .text("tag", hashloom_list::tag(*algorithm).as_bytes())
            .text("hex", hash.to_string().as_bytes())
            .end()
    });
    let is_told = entry.is_tagged || entry.digests.iter().all(|(algorithm, _)| told.contains(algorithm));
    let json = Json::object().text("name", &entry.name).truth("told", is_told).truth("any", entry.is_any);
    let json = json.list("digests", digests);
    match entry.nbytes {
        Some(nbytes) => json.number("nbytes", nbytes).end(),
        None => json.end(),
    }
}

fn index_of(algorithm: Algorithm) -> usize {
    Algorithm::ALL.iter().position(|&of| of == algorithm).unwrap_or_default()
}

/// Begins pieces of the torrent or draft: `count` numbers of 32 bits at the beginning of the room.
#[unsafe(no_mangle)]
pub extern "C" fn begin_pieces(count: usize) {
    with(|state| {
        let pieces: Vec<usize> = numbers(&state.input, 0, count).collect();
        state.pieces = match state.draft {
            Some(draft) => Some(draft.pieces(&pieces)),
            None => state.torrent.map(|torrent| Pieces::new(torrent, &pieces)),
        };
    });
}

/// Hashes the next bytes of each piece: chunk i is at i * stride in the room. The lengths of the `count` chunks, of 32
/// bits each, are at `lengths_at`.
#[unsafe(no_mangle)]
pub extern "C" fn update_pieces(count: usize, stride: usize, lengths_at: usize) {
    with(|state| {
        let chunks = chunks(&state.input, count, stride, lengths_at);
        if let Some(pieces) = &mut state.pieces {
            pieces.update(&chunks);
        }
    });
}

/// Ends the pieces. The answer has a byte for each: 1 if the piece is right. For a draft the answer has the digests of
/// each piece, SHA-1 before the root.
#[unsafe(no_mangle)]
pub extern "C" fn finish_pieces() {
    with(|state| {
        let Some(pieces) = state.pieces.take() else { return state.answer.clear() };
        state.answer = match state.draft {
            Some(_) => pieces.digests().iter().flat_map(bytes_of).collect(),
            None => pieces.finish().into_iter().map(u8::from).collect(),
        };
    });
}

fn bytes_of(digests: &PieceDigests) -> Vec<u8> {
    let PieceDigests { sha1, root } = digests;
    [sha1.as_ref().map_or(&[][..], |sha1| sha1), root.as_ref().map_or(&[][..], |root| root)].concat()
}

/// Begins messages. The room begins with `count` pairs of numbers of 32 bits: the index of a chunk, in rising order,
/// and an algorithm.
#[unsafe(no_mangle)]
pub extern "C" fn begin_messages(count: usize) {
    with(|state| {
        let pairs: Vec<usize> = numbers(&state.input, 0, 2 * count).collect();
        let hasher = |pair: &[usize]| (pair[0], Hasher::new(Algorithm::ALL[pair[1]]));
        state.hashers = pairs.chunks_exact(2).map(hasher).collect();
        // Hashers of one algorithm stand together: these can be side by side.
        state.hashers.sort_by_key(|(_, hasher)| index_of(hasher.algorithm()));
    });
}

/// Hashes the next chunk of each message; the arguments are those of [`update_pieces`].
#[unsafe(no_mangle)]
pub extern "C" fn update_messages(count: usize, stride: usize, lengths_at: usize) {
    with(|state| {
        let chunks = chunks(&state.input, count, stride, lengths_at);
        each_algorithm(&mut state.hashers, |of, hashers| {
            let own: Vec<&[u8]> = of.iter().map(|&chunk| chunks[chunk]).collect();
            update_many(hashers, &own);
        });
    });
}

/// Ends the messages. The answer is JSON: for each message its chunk's index, its algorithm and its digest.
#[unsafe(no_mangle)]
pub extern "C" fn finish_messages() {
    with(|state| {
        let mut digests = Vec::new();
        each_algorithm(&mut state.hashers, |of, hashers| {
            let algorithm = hashers[0].algorithm();
            let mut bytes = vec![0; of.len() * algorithm.digest_nbytes()];
            finalize_many(hashers, &mut bytes);
            for (chunk, digest) in of.iter().zip(bytes.chunks_exact(algorithm.digest_nbytes())) {
                let json = Json::object().number("chunk", *chunk as u64);
                let json = json.number("algorithm", index_of(algorithm) as u64);
                digests.push(json.text("hex", hashloom::Hash::new(algorithm, digest).to_string().as_bytes()).end());
            }
        });
        state.hashers.clear();
        state.answer = json::list(digests.into_iter());
    });
}

/// Calls `work` for the hashers of each algorithm, with the indices of their chunks.
fn each_algorithm(hashers: &mut [(usize, Hasher)], mut work: impl FnMut(&[usize], &mut [Hasher])) {
    for same in hashers.chunk_by_mut(|(_, a), (_, b)| a.algorithm() == b.algorithm()) {
        let of: Vec<usize> = same.iter().map(|(chunk, _)| *chunk).collect();
        let mut own: Vec<Hasher> = same.iter().map(|(_, hasher)| hasher.clone()).collect();
        work(&of, &mut own);
        for (place, hasher) in same.iter_mut().zip(own) {
            place.1 = hasher;
        }
    }
}

fn chunks(room: &[u8], count: usize, stride: usize, lengths_at: usize) -> Vec<&[u8]> {
    numbers(room, lengths_at, count).enumerate().map(|(i, nbytes)| &room[i * stride..][..nbytes]).collect()
}

/// Numbers of 32 bits, little-endian as all of WebAssembly.
fn numbers(room: &[u8], at: usize, count: usize) -> impl Iterator<Item = usize> + '_ {
    room[at..][..4 * count]
        .chunks_exact(4)
        .map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
}
