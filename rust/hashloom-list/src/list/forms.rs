// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of forms that lists have, and how lines that stand alone are read.

use std::borrow::Cow;

use data_encoding::BASE64URL_NOPAD;
use hashloom::Algorithm;
use hashloom_files::paths::to_path;

use super::layout::{Apk, Columns, Fields, Jar, Layout, Record, Section, cells};
use super::mtree::Mtree;
use super::unread::{ignored, words};
use super::write::Written;
use super::xml::Xml;
use super::{
    BadLine, Crc, DIGITS_MIN, Entry, Line, List, Parser, Place, after_blanks, digest, from_base64, from_letters,
    hex_ndigits, unescaped, write,
};

/// Reads a line if it is of this form, or begins it.
type Read = for<'a> fn(&mut Parser, &'a [u8]) -> Option<Line<'a>>;

/// A form of lists.
#[derive(Debug)]
#[non_exhaustive]
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// The programs that write it.
    pub of: &'static str,
    /// A line, with words in angle brackets for what varies.
    pub line: &'static str,
    /// Rules beside the line: escapes, the folder of names, the lines that are not verified.
    pub told: &'static str,
    /// The name of a list.
    pub list: &'static str,
    /// A list of the file `a.txt` with the bytes `abc`.
    pub example: &'static str,
    /// Whether any line that is no entry is one that was damaged.
    pub(super) is_strict: bool,
    /// A byte without which no line is of this form or begins it, or 0: most lines are told from most forms so.
    mark: u8,
    read: Read,
    /// Writes the lines of a file, if programs ask for this form.
    pub write: Option<&'static Written>,
}

impl Form {
    /// Reads a line; `marks`: those that it has.
    pub(super) fn read<'a>(&self, parser: &mut Parser, line: &'a [u8], marks: &mut Option<u8>) -> Option<Line<'a>> {
        let of_mark = MARKS[usize::from(self.mark)];
        if of_mark != 0 {
            let of_line = || line.iter().fold(0, |marks, &byte| marks | MARKS[usize::from(byte)]);
            if *marks.get_or_insert_with(of_line) & of_mark == 0 {
                return None;
            }
        }
        (self.read)(parser, line)
    }
}

#[rustfmt::skip]
macro_rules! hex {
    (md5) => { "900150983cd24fb0d6963f7d28e17f72" };
    (sha1) => { "a9993e364706816aba3e25717850c26c9cd0d89d" };
    (sha256) => { "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" };
    (sha512) => {
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd45\
        4d4423643ce80e2a9ac94fa54ca49f"
    };
}

/// A row of the table.
macro_rules! form {
    ($name:literal, $of:literal, $line:literal, $told:literal,
        $list:literal, $is_strict:literal, $mark:literal, $read:expr, $($example:expr),+) => {
        Form {
            name: $name,
            of: $of,
            line: $line,
            told: $told,
            list: $list,
            is_strict: $is_strict,
            mark: known($mark),
            read: $read,
            write: write::of($name),
            example: concat!($($example),+),
        }
    };
}

/// All forms, in the order in which a line is tried.
#[rustfmt::skip]
pub static FORMS: &[Form] = &[
    form!("gnu", "sha256sum, b3sum, md5deep, dpkg", "<hex>  <name>",
        "SHA256SUMS, a.iso.md5; also `<hex> *<name>`, `<hex> <name>`; a backslash before the line: `\\n`, `\\r`, \
        `\\\\` in the name",
        "SHA256SUMS", false, 0, gnu, hex!(sha256), "  a.txt\n"),
    form!("bsd", "BSD's sha256, openssl, distinfo", "SHA256 (<name>) = <hex>",
        "also base64; any spelling of the algorithm; CRC32, CRC32C, CRC64NVME; `SIZE (<name>) = <length>`",
        "distinfo", false, b'(', tagged, "SHA256 (a.txt) = ", hex!(sha256), "\nSIZE (a.txt) = 3\n"),
    form!("alone", "Maven, browsers' downloads", "<hex>",
        "in a list NAME.sha256, of the file NAME beside it",
        "a.txt.sha256", false, 0, alone, hex!(sha256), "\n"),
    form!("bag", "bagit", "<hex>  <name>",
        "in a list manifest-sha256.txt: `%0A`, `%0D`, `%25` in names. Beside bagit.txt names are of that folder",
        "manifest-sha256.txt", false, 0, bag, hex!(sha256), "  a.txt\n"),
    form!("hashdeep", "hashdeep", "<length>,<hex>,<hex>,<name>",
        "below its line `%%%% size,md5,sha256,filename`; pieces (-p) are not verified",
        "list", true, b'%', hashdeep, "%%%% HASHDEEP-1.0\n%%%% size,md5,filename\n## x\n3,", hex!(md5), ",a.txt\n"),
    form!("mtree", "BSD's mtree, pacman, bsdtar", "<name> size=<length> sha256digest=<hex>",
        "begins with `#mtree`, `/set` or `.`; vis's escapes in names, as `\\040`; only lengths and digests of files \
        count",
        "mtree", true, 0, mtree, "#mtree\n/set type=file\n. type=dir\n    a.txt size=3 \\\n        sha256digest=",
        hex!(sha256), "\n..\n"),
    form!("debian", "dpkg's .dsc, .changes, .buildinfo; Release", " <hex> <length> <name>",
        "below `Checksums-Sha256:`, `Files:`, `SHA256:` or the like; also ` <name>: <hex>`, as in gems of Ruby",
        "a.dsc", false, b':', debian, "Format: 1.0\nFiles:\n ", hex!(md5), " 3 a.txt\nChecksums-Sha256:\n ",
        hex!(sha256), " 3 a.txt\n"),
    form!("gentoo", "Gentoo's Manifest", "DIST <name> <length> SHA512 <hex>",
        "AUX is in the folder files; `\\x20` in names",
        "Manifest", true, 0, gentoo, "DIST a.txt 3 SHA512 ", hex!(sha512), "\n"),
    form!("record", "Python's wheels", "<name>,sha256=<base64>,<length>",
        "CSV; a list NAME.dist-info/RECORD is of the folder above NAME.dist-info",
        "RECORD", true, b',', record, "a.txt,sha256=ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0,3\nRECORD,,\n"),
    form!("csv", "tables", "<name>,<hex>,<length>",
        "CSV (also with `;` or tabs) below a first line such as `name,sha256,size` or `path,md5`, in any order",
        "list", true, 0, csv, "name,sha256,size\na.txt,", hex!(sha256), ",3\n"),
    form!("cargo", "cargo vendor", "{\"files\":{\"<name>\":\"<hex>\",…}}",
        ".cargo-checksum.json is of its folder; the digest of the package, which is not there, is passed over",
        ".cargo-checksum.json", true, 0, cargo, "{\"files\":{\"a.txt\":\"", hex!(sha256), "\"},\"package\":null}\n"),
    form!("jar", "jarsigner", "SHA-256-Digest: <base64>",
        "below `Name: <name>` in META-INF/MANIFEST.MF, which is of the folder above META-INF; not in a file .SF",
        "MANIFEST.MF", true, b':', jar, "Manifest-Version: 1.0\n\nName: a\n .txt\n",
        "SHA-256-Digest: ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=\n\n"),
    form!("rpm", "rpm -qa --dump", "<path> <length> <time> <hex> <mode> …",
        "only regular files",
        "list", true, 0, rpm, "/x/a.txt 3 1700000000 ", hex!(sha256), " 0100644 root root 0 0 0 X\n"),
    form!("apk", "apk", "Z:Q1<base64>",
        "below `R:<name>` and `F:<folder>`; links are left out; lib/apk/db/installed is of the folder above lib",
        "installed", true, b':', apk,
        "C:Q1qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\nP:x\nF:\nR:a.txt\nZ:Q1qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\n"),
    form!("sri", "npm, browsers", "sha512-<base64>  <name>", "",
        "list", true, b'-', |_, line| prefixed(line, b'-'), "sha1-qZk+NkcGgWq6PiVxeFDCbJzQ2J0=  a.txt\n"),
    form!("colon", "GitHub, OCI", "sha256:<hex>  <name>", "",
        "list", true, b':', |_, line| prefixed(line, b':'), "sha256:", hex!(sha256), "  a.txt\n"),
    form!("cpan", "CPAN's SIGNATURE", "SHA256 <hex> <name>", "",
        "SIGNATURE", false, 0, cpan, "SHA256 ", hex!(sha256), " a.txt\n"),
    form!("name-colon", "notes of releases", "<name>: <hex>",
        "unless the name is that of an algorithm",
        "list", false, b':', name_colon, "a.txt: ", hex!(sha256), "\n"),
    form!("sizes", "md5deep -z", "<length>  <hex>  <name>",
        "also `<hex> <length> <name>`",
        "list", true, 0, sizes, "         3  ", hex!(sha256), "  a.txt\n"),
    form!("pip", "pip's requirements", "<file> --hash=sha256:<hex>",
        "one of several digests must match; a requirement that names no file is not verified",
        "requirements.txt", false, b'=', pip, "./a.txt --hash=sha256:", hex!(sha256), "\n"),
    form!("certutil", "Windows' certutil", "SHA256 hash of <name>:",
        "and the digest below, with or without blanks",
        "list", true, b':', certutil, "SHA256 hash of a.txt:\r\n", hex!(sha256),
        "\r\nCertUtil: -hashfile command completed successfully.\r\n"),
    form!("gpg", "gpg --print-md", "<name>: <HEX> <HEX> …",
        "on several lines; also `<name>: SHA256 = <HEX> …` (--print-mds)",
        "list", true, b':', print_md,
        "a.txt: BA7816BF 8F01CFEA 414140DE 5DAE2223 B00361A3 96177A9C B410FF61\n       F20015AD\n"),
    form!("file-hash", "PowerShell's Get-FileHash", "Algorithm  Hash  Path",
        "also properties or CSV; the folder that its paths have in common with files here is the current one",
        "list", false, 0, file_hash, "Algorithm : SHA256\r\nHash      : ", hex!(sha256), "\r\nPath      : a.txt\r\n"),
    form!("dat", "clrmamepro, No-Intro, Redump", "<rom name=\"<name>\" size=\"<length>\" crc=\"<hex>\" \
        sha1=\"<hex>\"/>",
        "XML, one file a line, here or in a folder of its game; members of archives are not verified",
        "list", true, b'<', dat,
        "<?xml version=\"1.0\"?>\n<datafile>\n<game name=\"A\">\n<rom name=\"a.txt\" size=\"3\" crc=\"352441c2\" \
        sha1=\"",
        hex!(sha1), "\"/>\n</game>\n</datafile>\n"),
    form!("sfv", "cksfv, rhash", "<name> <CRC-32>",
        "in a list NAME.sfv or NAME.crc32, also without zeros at its front; or below a line that begins with `;`",
        "a.sfv", true, 0, crc_last, "a.txt 352441C2\n"),
    form!("last", "rhash", "<name> <hex>",
        "also several digests; if no earlier line has the digest first",
        "list", false, 0, last, "a.txt  ", hex!(sha1), "  ", hex!(sha256), "\n"),
];

/// The beginning of a list of cargo.
pub(super) const CARGO: &[u8] = b"{\"files\":{";

/// A bit for each byte that is a mark of a form.
const MARKS: [u8; 256] = {
    let (mut marks, bytes, mut i) = ([0; 256], b"(%:,-=<", 0);
    while i < bytes.len() {
        marks[bytes[i] as usize] = 1 << i;
        i += 1;
    }
    marks
};

/// A mark of a form. One that [`MARKS`] lacks is an error of the compiler.
const fn known(mark: u8) -> u8 {
    assert!(mark == 0 || MARKS[mark as usize] != 0, "a byte of MARKS, or 0");
    mark
}

/// A digest, or what is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sum {
    Digest(Algorithm),
    Crc(Crc),
}

impl Sum {
    /// The checksum of this name, in any spelling.
    pub(super) fn named(name: &[u8]) -> Option<Sum> {
        let crc = || Crc::ALL.iter().find(|crc| is_spelling(name, crc.tag())).map(|crc| Sum::Crc(*crc));
        algorithm(name).map(Sum::Digest).or_else(crc)
    }
}

/// Whether two names differ only in case, hyphens and the like.
fn is_spelling(name: &[u8], other: &str) -> bool {
    let is_letter = |byte: &&u8| !b"-_/".contains(byte);
    let (one, other) = (name.iter().filter(is_letter), other.as_bytes().iter().filter(is_letter));
    one.map(u8::to_ascii_lowercase).eq(other.map(u8::to_ascii_lowercase))
}

/// The algorithm of this name.
pub(super) fn algorithm(name: &[u8]) -> Option<Algorithm> {
    // Most lists have a name as it stands here; and most words are no name.
    let has = |algorithm: &&Algorithm| algorithm.name().as_bytes() == name || algorithm.tags()[0].as_bytes() == name;
    let is_spelled = |algorithm: &&Algorithm| {
        is_spelling(name, algorithm.name()) || algorithm.tags().iter().any(|tag| is_spelling(name, tag))
    };
    let is_name = (3..=20).contains(&name.len()) && name.iter().any(u8::is_ascii_digit);
    let begins = |algorithm: &&Algorithm| algorithm.name().as_bytes()[0] == name[0].to_ascii_lowercase();
    let mut all = Algorithm::ALL.iter().filter(|algorithm| is_name && begins(algorithm));
    all.clone().find(has).or_else(|| all.find(is_spelled)).copied()
}

/// The algorithms that digests are of whose length alone tells.
pub(super) const BY_LENGTH: [Algorithm; 6] =
    [Algorithm::Md5, Algorithm::Sha1, Algorithm::Sha224, Algorithm::Sha256, Algorithm::Sha384, Algorithm::Sha512];

pub(super) fn of_length(ndigits: usize) -> Option<Algorithm> {
    BY_LENGTH.into_iter().find(|algorithm| 2 * algorithm.digest_nbytes() == ndigits)
}

pub(super) fn number(text: &[u8]) -> Option<u64> {
    let is_number = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text).ok().filter(|_| is_number)?.parse().ok()
}

/// Learns from the name of a list.
pub(super) fn known_by_name(list: &mut List, path: &[u8]) {
    let name = path.rsplit(|&byte| byte == b'/' || cfg!(windows) && byte == b'\\').next().unwrap_or_default();
    let lower = name.to_ascii_lowercase();
    let endings = [&b".txt"[..], b".asc", b".sign"];
    let stem = endings.iter().find_map(|end| lower.strip_suffix(*end)).unwrap_or(&lower);
    let algorithms = |word: &[u8]| {
        let word = word.strip_suffix(b"s").filter(|word| word.ends_with(b"sum")).unwrap_or(word);
        let word = word.strip_suffix(b"sum").unwrap_or(word);
        match word {
            b"b2" => vec![Algorithm::Blake2b],
            b"b3" => vec![Algorithm::Blake3],
            // The number of digits tells which.
            b"sha3" => Algorithm::ALL.iter().copied().filter(|one| one.name().starts_with("sha3-")).collect(),
            word => algorithm(word).into_iter().collect(),
        }
    };
    // MD5SUMS; a.md5, a.md5sums, a.iso-SHA256, manifest-sha256.txt, checksums.sha1.
    let ends = lower.iter().take(stem.len()).enumerate().filter(|(_, byte)| b".-_".contains(byte)).map(|(at, _)| at);
    let found = ends.map(|at| (at, algorithms(&stem[at + 1..]))).find(|(_, found)| !found.is_empty());
    list.named = algorithms(stem);
    if let Some((at, named)) = found.filter(|_| list.named.is_empty()) {
        list.named = named;
        list.beside = Some(name[..at].to_vec()).filter(|name| !name.is_empty());
    }
    list.is_bag = [&b"manifest-"[..], b"tagmanifest-"].iter().any(|before| {
        lower.ends_with(b".txt") && stem.strip_prefix(*before).is_some_and(|name| algorithm(name).is_some())
    });
    if list.is_bag {
        list.beside = None;
    }
    list.is_called_sfv = [&b".sfv"[..], b".crc32"].iter().any(|end| lower.ends_with(end));
    list.is_sfv = list.is_called_sfv;
    list.is_of_pacman = name == b"mtree" && path.windows(14).any(|part| part == b"/pacman/local/");
    let form = match name {
        b"RECORD" => "record",
        b"Manifest" => "gentoo",
        _ => "",
    };
    list.form = FORMS.iter().find(|other| other.name == form);
}

/// As [`Parser::nfolders_up`].
pub(super) fn nfolders_up(path: &[u8]) -> Option<usize> {
    let is_separator = |byte: &u8| *byte == b'/' || cfg!(windows) && *byte == b'\\';
    let parts: Vec<&[u8]> = path.split(is_separator).collect();
    match &parts[..] {
        [.., folder, b"RECORD"] if folder.ends_with(b".dist-info") => Some(1),
        [.., b"META-INF", b"MANIFEST.MF"] => Some(1),
        [.., b".cargo-checksum.json"] => Some(0),
        [.., b"var", b"lib", b"dpkg", b"info", name] if name.ends_with(b".md5sums") => Some(4),
        [.., b"var", b"lib", b"pacman", b"local", _, b"mtree"] => Some(5),
        [.., b"usr", b"lib", b"apk", b"db", b"installed"] => Some(4),
        [.., b"lib", b"apk", b"db", b"installed"] => Some(3),
        [.., name] => {
            let mut list = List::default();
            known_by_name(&mut list, name);
            let bag = [&path[..path.len() - name.len()], b"bagit.txt"].concat();
            (list.is_bag && to_path(&bag).is_file()).then_some(0)
        }
        _ => None,
    }
}

/// The line without blanks at its start, and without the mark of escapes.
pub(super) fn bare(line: &[u8]) -> (&[u8], bool) {
    let line = after_blanks(line);
    line.strip_prefix(b"\\").map_or((line, false), |line| (line, true))
}

fn entry_or_unread<'a>(entry: Result<Entry<'a>, BadLine>) -> Option<Line<'a>> {
    Some(entry.map_or_else(Line::Unread, Line::Entry))
}

fn begin<'a>(parser: &mut Parser, layout: Layout) -> Option<Line<'a>> {
    parser.list.layout = layout;
    Some(Line::Blank)
}

/// Begins a layout whose first line has a content of its own.
fn begin_with<'a>(parser: &mut Parser, mut layout: Layout, line: &'a [u8]) -> Option<Line<'a>> {
    let found = layout.read(line, &mut parser.list.more);
    parser.list.layout = layout;
    found
}

fn bag<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    if !parser.list.is_bag {
        return None;
    }
    let (line, is_escaped) = bare(line);
    let entry = parser.untagged_line(line, is_escaped).ok()?;
    Some(Line::Entry(Entry { name: unescaped_of_bag(entry.name), ..entry }))
}

fn gnu<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let (line, is_escaped) = bare(line);
    let ndigits = hex_ndigits(line);
    let rest = &line[ndigits..];
    let has_name = matches!(rest.first(), Some(b' ' | b'\t')) && !after_blanks(rest).is_empty();
    if ndigits < DIGITS_MIN || !has_name || parser.list.is_bag {
        return None;
    }
    Some(parser.untagged_line(line, is_escaped).map_or_else(Line::Bad, Line::Entry))
}

/// A digest alone, of the file that the list is named after.
fn alone<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let name = parser.list.beside.as_ref()?;
    let hex = line.trim_ascii();
    if hex.contains(&b' ') {
        return None;
    }
    let hex = hex.iter().position(|&byte| byte == b':').map_or(hex, |at| &hex[at + 1..]);
    let found =
        |&algorithm: &Algorithm| Some((algorithm, digest(algorithm, hex).or_else(|| from_base64(algorithm, hex))?));
    let (algorithm, digest) = parser.list.named.iter().find_map(found)?;
    Some(Line::Entry(Entry { place: Place::List, ..Entry::new(vec![(algorithm, digest)], true, name.clone().into()) }))
}

fn tagged<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let (line, is_escaped) = bare(line);
    let is_of_tag = |byte: &&u8| byte.is_ascii_alphanumeric() || b"-_/".contains(byte);
    let (tag, rest) = line.split_at(line.iter().take_while(is_of_tag).count());
    let rest = after_blanks(rest).strip_prefix(b"(")?;
    let sum = Sum::named(tag);
    if sum.is_none() && !tag.eq_ignore_ascii_case(b"size") {
        return None;
    }
    let end = rest.iter().rposition(|byte| !matches!(byte, b' ' | b'\t')).map_or(0, |last| last + 1);
    let entry = tagged_rest(sum, &rest[..end], is_escaped, true);
    entry_or_unread(entry.and_then(|entry| parser.list.lengths.note(&entry).map(|()| entry)))
}

/// `<name>) = <hex>`; without a checksum it is a length.
pub(super) fn tagged_rest(
    sum: Option<Sum>,
    line: &[u8],
    is_escaped: bool,
    reads_base64: bool,
) -> Result<Entry<'_>, BadLine> {
    let end = line.iter().rposition(|&byte| byte == b')').ok_or(BadLine::Format)?;
    let name = unescaped(&line[..end], is_escaped)?;
    let text = after_blanks(after_blanks(&line[end + 1..]).strip_prefix(b"=").ok_or(BadLine::Format)?);
    let mut entry = Entry::new(Vec::new(), true, name);
    match sum {
        Some(sum) if entry.push(sum, text).is_some() => {}
        Some(Sum::Digest(algorithm)) => {
            let ndigits = hex_ndigits(text);
            let is_hex = ndigits == text.len() && ndigits > 0;
            let why = if is_hex { BadLine::Digits { algorithm, ndigits } } else { BadLine::Format };
            let digest = from_base64(algorithm, text).filter(|_| reads_base64).ok_or(why)?;
            entry.digests.push((algorithm, digest));
        }
        Some(Sum::Crc(_)) => return Err(BadLine::Format),
        None => entry.nbytes = Some(number(text.strip_suffix(b" bytes").unwrap_or(text)).ok_or(BadLine::Format)?),
    }
    Ok(entry)
}

fn hashdeep<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let names = line.strip_prefix(b"%%%% ")?;
    let mut columns = Columns::nothing();
    let found = columns.header(names);
    if names != b"HASHDEEP-1.0" {
        parser.list.layout = Layout::Columns(columns);
    }
    Some(found.map_or_else(Line::Unread, |()| Line::Blank))
}

fn mtree<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    if !matches!(after_blanks(line).first()?, b'#' | b'/' | b'.') {
        return None;
    }
    let first = words(line).next()?;
    let is_root = first == b"." && words(line).nth(1).is_some_and(|word| word.contains(&b'='));
    if !(first.starts_with(b"#mtree") || first == b"/set" || is_root) {
        return None;
    }
    let mut mtree = Mtree::default();
    mtree.is_of_pacman = parser.list.is_of_pacman;
    begin_with(parser, Layout::Mtree(mtree), line)
}

fn debian<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    const FIRST: [&[u8]; 7] = [b"Format", b"Origin", b"Label", b"Suite", b"Codename", b"Source", b"Date"];
    let (key, value) = line.split_at(line.iter().position(|&byte| byte == b':')?);
    let section = Section::of(key).filter(|_| value == b":");
    if section.is_none() && !(FIRST.contains(&key) && value.starts_with(b": ")) {
        return None;
    }
    begin(parser, Layout::Fields(Fields::new(section.unwrap_or(Section::Other(Vec::new())), value == b":")))
}

fn gentoo<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    const KINDS: [&[u8]; 6] = [b"DIST", b"AUX", b"EBUILD", b"MISC", b"DATA", b"MANIFEST"];
    after_blanks(line).first().filter(|byte| byte.is_ascii_uppercase())?;
    let mut words = words(line);
    let kind = words.next()?;
    let is_manifest = || parser.list.form.is_some_and(|form| form.name == "gentoo");
    if !KINDS.contains(&kind) {
        let is_known = matches!(kind, b"TIMESTAMP" | b"IGNORE" | b"OPTIONAL") && words.count() == 1;
        return (is_known && is_manifest()).then_some(Line::Blank);
    }
    let name = words.next()?;
    let nbytes = number(words.next()?)?;
    let decoded = |name| super::mtree::unescaped(name).ok_or(BadLine::Escape);
    let mut parse = || {
        let mut name = decoded(name)?;
        if kind == b"AUX" {
            name = [b"files/", &name[..]].concat().into();
        }
        let mut entry = Entry { nbytes: Some(nbytes), ..Entry::new(Vec::new(), true, name) };
        let mut lacking = None;
        while let Some(tag) = words.next() {
            let hex = words.next().ok_or(BadLine::Form { name: "gentoo" })?;
            match Sum::named(tag) {
                Some(sum) => entry.push(sum, hex).ok_or(BadLine::Form { name: "gentoo" })?,
                None => lacking = Some(BadLine::algorithm(tag)),
            }
        }
        if entry.digests.is_empty() {
            return Err(lacking.unwrap_or(BadLine::NoDigest));
        }
        parser.list.more.extend(lacking.map(Line::Unread));
        Ok(entry)
    };
    entry_or_unread(parse())
}

fn record<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    if !line.contains(&b',') {
        return None;
    }
    let mut cells = cells(line, b',').filter(|cells| cells.len() == 3)?.into_iter();
    let [name, label, nbytes] = std::array::from_fn(|_| cells.next().unwrap_or_default());
    let parts = label.iter().position(|&byte| byte == b'=').map(|at| (&label[..at], &label[at + 1..]));
    let of = parts.and_then(|(tag, text)| Some((algorithm(tag)?, text)));
    let is_record = parser.list.form.is_some_and(|form| form.name == "record");
    let Some((algorithm, text)) = of else {
        let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        // The list itself, its signatures, and what Python compiles anew.
        let is_left_out = file.starts_with(b"RECORD") || file.ends_with(b".pyc");
        let is_lacking = parts.map(|(tag, _)| BadLine::algorithm(tag));
        return match (is_record, &label[..], &nbytes[..]) {
            (_, b"", b"") if is_left_out => Some(ignored(&name, "record")),
            (true, ..) => Some(Line::Unread(is_lacking.unwrap_or(BadLine::NoDigest))),
            _ => None,
        };
    };
    let digest = from_letters(algorithm, text, &BASE64URL_NOPAD);
    let nbytes = if nbytes.is_empty() { Some(None) } else { number(&nbytes).map(Some) };
    let (Some(digest), Some(nbytes), false) = (digest, nbytes, name.is_empty()) else {
        return Some(Line::Unread(BadLine::Form { name: "record" }));
    };
    Some(Line::Entry(Entry { nbytes, ..Entry::new(vec![(algorithm, digest)], true, name) }))
}

fn csv<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let columns = if parser.list.has_any { None } else { Columns::of_table(line) };
    begin(parser, Layout::Columns(columns?))
}

/// The names of files are escaped in no package so far.
fn cargo<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let mut rest = line.strip_prefix(CARGO)?;
    let mut read = || {
        let mut files = Vec::new();
        loop {
            let mut parts = rest.splitn(5, |&byte| byte == b'"');
            let [before, name, colon, hex, after] = std::array::from_fn(|_| parts.next().unwrap_or_default());
            let is_right = (before, colon) == (b"", b":") && !name.is_empty() && !name.contains(&b'\\');
            let digest = digest(Algorithm::Sha256, hex).filter(|_| is_right)?;
            files.push(Line::Entry(Entry::new(vec![(Algorithm::Sha256, digest)], true, name.to_vec().into())));
            match after.strip_prefix(b",") {
                Some(more) => rest = more,
                None => break rest = after.strip_prefix(b"}")?,
            }
        }
        let package = rest.strip_prefix(b",\"package\":").and_then(|rest| rest.strip_suffix(b"}"));
        let hex = || package?.strip_prefix(b"\"")?.strip_suffix(b"\"");
        let is_hex = || hex().is_some_and(|hex| digest(Algorithm::Sha256, hex).is_some());
        (rest == b"}" || package == Some(b"null") || is_hex()).then_some(files)
    };
    let Some(files) = read() else { return Some(Line::Unread(BadLine::Form { name: "cargo" })) };
    parser.list.more.extend(files.into_iter().rev());
    Some(Line::Blank)
}

fn jar<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let is_first = line.starts_with(b"Manifest-Version: ") && !parser.list.has_any;
    is_first.then(|| begin(parser, Layout::Jar(Jar::default())))?
}

/// A record of a package begins with its digest.
fn apk<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let is_first = [&b"C:Q1"[..], b"C:Q2"].iter().any(|first| line.starts_with(first));
    is_first.then(|| begin(parser, Layout::Apk(Apk::default())))?
}

fn rpm<'a>(_: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    if line == b"(contains no files)" {
        return Some(Line::Blank);
    }
    if !line.starts_with(b"/") {
        return None;
    }
    let words: Vec<&[u8]> = line.split(|&byte| byte == b' ').collect();
    let is_number = |word: &[u8]| number(word).is_some();
    let is_mode = |word: &[u8]| matches!(word.len(), 6 | 7) && word[0] == b'0' && is_number(word);
    let is_it = |four: &[&[u8]]| {
        is_number(four[0]) && is_number(four[1]) && hex_ndigits(four[2]) == four[2].len() && is_mode(four[3])
    };
    let at = words.windows(4).skip(1).position(is_it)? + 1;
    let [nbytes, hex, mode] = [words[at], words[at + 2], words[at + 3]];
    // Folders and links have no digest; neither have files that rpm does not keep.
    if hex.iter().all(|&byte| byte == b'0') {
        return Some(ignored(&words[at + 4..].join(&b' '), "rpm"));
    }
    if !mode.starts_with(b"0100") {
        return Some(Line::Unread(BadLine::Form { name: "rpm" }));
    }
    let mut entry = Entry::new(Vec::new(), true, words[..at].join(&b' ').into());
    entry.nbytes = number(nbytes);
    let pushed = of_length(hex.len()).and_then(|algorithm| entry.push(Sum::Digest(algorithm), hex));
    entry_or_unread(pushed.map(|()| entry).ok_or(BadLine::Length { ndigits: hex.len() }))
}

/// `sha512-<base64>  <name>` and `sha256:<hex>  <name>`.
fn prefixed(line: &[u8], separator: u8) -> Option<Line<'_>> {
    let line = after_blanks(line);
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t'))?;
    let at = line[..end].iter().rposition(|&byte| byte == separator)?;
    let algorithm = algorithm(&line[..at])?;
    let text = &line[at + 1..end];
    let digest = if separator == b':' { digest(algorithm, text) } else { from_base64(algorithm, text) }?;
    let name = &line[end + 1..];
    let name = if name.len() > 1 { name.strip_prefix(b" ").or(name.strip_prefix(b"*")).unwrap_or(name) } else { name };
    (!name.is_empty()).then(|| Line::Entry(Entry::new(vec![(algorithm, digest)], true, name.into())))
}

fn cpan<'a>(_: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let mut parts = line.splitn(3, |&byte| byte == b' ');
    let [tag, hex, name] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    let algorithm = algorithm(tag).filter(|_| !name.trim_ascii().is_empty() && !name.contains(&0))?;
    Some(Line::Entry(Entry::new(vec![(algorithm, digest(algorithm, hex)?)], true, name.into())))
}

fn name_colon<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let colon = line.windows(2).rposition(|two| two == b": ")?;
    let (name, hex) = (&line[..colon], line[colon + 2..].trim_ascii());
    let is_of_tag = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_/".contains(byte);
    let last = name.split(|byte| !is_of_tag(byte)).rfind(|word| !word.is_empty()).unwrap_or_default();
    let is_tag = [&b"sums"[..], b"sum", b""].iter().any(|end| last.strip_suffix(*end).and_then(Sum::named).is_some());
    let is_name = !is_tag && !name.is_empty() && name[0] != b' ' && name[0] != b'\\' && !name.contains(&0);
    let algorithm = is_name.then(|| parser.asked(hex.len()))??;
    Some(Line::Entry(Entry::new(vec![(algorithm, digest(algorithm, hex)?)], false, name.into())))
}

fn sizes<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let line = after_blanks(line);
    let (nbytes, rest) = line.split_at(line.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let rest = rest.strip_prefix(b"  ").filter(|_| !nbytes.is_empty())?;
    let (hex, rest) = rest.split_at(hex_ndigits(rest));
    let name = rest.strip_prefix(b"  ").or(rest.strip_prefix(b" *")).filter(|name| !name.is_empty())?;
    let algorithm = parser.asked(hex.len())?;
    let mut entry = Entry::new(vec![(algorithm, digest(algorithm, hex)?)], false, name.into());
    entry.nbytes = Some(number(nbytes)?);
    Some(Line::Entry(entry))
}

/// Whether the line may have further ones: a requirement of pip, or the first line of mtree.
pub(super) fn may_go_on(line: &[u8]) -> bool {
    let first = words(line).next().unwrap_or_default();
    let has_version = || first[..first.len() - 1].windows(2).any(|two| two == b"==");
    matches!(first, b"." | b"/set") || is_archive(first) || has_version()
}

fn is_archive(name: &[u8]) -> bool {
    [&b".whl"[..], b".zip", b".gz", b".txt"].iter().any(|end| name.ends_with(end)) && !name.contains(&b'=')
}

fn pip<'a>(_: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    // Most lines end here.
    line.windows(2).find(|two| matches!(two, [b'-', b'-'] | [b'h', b'1']))?;
    let what = "a package, which has no file here";
    // Also a line of go.sum.
    if words(line).nth(2).is_some_and(|word| word.starts_with(b"h1:")) {
        return Some(Line::Unread(BadLine::NoFile("a Go module, not of a file")));
    }
    let mut hashes = words(line).filter_map(|word| word.strip_prefix(b"--hash=")).peekable();
    hashes.peek()?;
    let file = words(line).next()?;
    let is_file = is_archive(file);
    let mut entry = Entry { is_any: true, ..Entry::new(Vec::new(), true, file.into()) };
    for hash in hashes.filter(|_| is_file) {
        let (name, hex) = hash.split_at(hash.iter().position(|&byte| byte == b':').unwrap_or(hash.len()));
        let sum = algorithm(name).map(Sum::Digest);
        if sum.and_then(|sum| entry.push(sum, hex.get(1..)?)).is_none() {
            return Some(Line::Unread(if sum.is_some() { BadLine::Format } else { BadLine::algorithm(name) }));
        }
    }
    entry_or_unread(if is_file { Ok(entry) } else { Err(BadLine::NoFile(what)) })
}

fn certutil<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    begin(parser, Layout::Digits(Some(Record::certutil(line)?)))
}

fn print_md<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    begin(parser, Layout::Digits(Some(Record::print_md(line)?)))
}

fn file_hash<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    begin_with(parser, Layout::of_file_hash(line)?, line)
}

fn dat<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let bare = line.trim_ascii_start();
    if !bare.starts_with(b"<?xml") && !bare.starts_with(b"<datafile") && !bare.starts_with(b"<rom ") {
        return None;
    }
    begin_with(parser, Layout::Xml(Xml::default()), line)
}

fn crc_last<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    if line.starts_with(b";") {
        parser.list.is_sfv = true;
        return Some(Line::Blank);
    }
    if !parser.list.is_sfv || parser.list.is_digest_last == Some(false) {
        return None;
    }
    let (line, is_escaped) = bare(line);
    let may_be_short = parser.list.is_called_sfv && !is_escaped;
    let short = || short_crc(line).filter(|_| may_be_short);
    let entry = parser.digests_last(line, is_escaped).filter(|entry| !entry.crcs.is_empty());
    if let Some(first) = first_crc(line, is_escaped).filter(|_| parser.list.is_called_sfv) {
        // The name may look like a CRC, too: then nobody knows.
        return Some(entry.map_or(Line::Entry(first), |_| Line::Unread(BadLine::Format)));
    }
    let entry = entry.or_else(short)?;
    parser.list.is_digest_last = Some(true);
    Some(Line::Entry(entry))
}

/// `<CRC-32>  <name>`, as other programs write it.
fn first_crc(line: &[u8], is_escaped: bool) -> Option<Entry<'_>> {
    let (hex, name) = line.split_at_checked(2 * Crc::Crc32.nbytes())?;
    let name = name.strip_prefix(b"  ").or_else(|| name.strip_prefix(b" *"))?;
    let mut entry = Entry::new(Vec::new(), false, unescaped(name, is_escaped).ok()?);
    entry.push(Sum::Crc(Crc::Crc32), hex).filter(|()| !name.is_empty() && !name.contains(&0))?;
    Some(entry)
}

/// A CRC without its zeros at the front, as old programs write one.
fn short_crc(line: &[u8]) -> Option<Entry<'_>> {
    let at = line.iter().rposition(|byte| matches!(byte, b' ' | b'\t'))?;
    let (name, hex) = (line[..at].trim_ascii_end(), &line[at + 1..]);
    let is_short = (1..2 * Crc::Crc32.nbytes()).contains(&hex.len()) && !name.is_empty() && !name.contains(&0);
    let mut entry = Entry::new(Vec::new(), false, name.into());
    entry.push(Sum::Crc(Crc::Crc32), &[&b"0000000"[is_short.then(|| hex.len() - 1)?..], hex].concat())?;
    Some(entry)
}

fn last<'a>(parser: &mut Parser, line: &'a [u8]) -> Option<Line<'a>> {
    let (line, is_escaped) = bare(line);
    Some(parser.untagged_line(line, is_escaped).map_or_else(Line::Bad, Line::Entry))
}

/// The name that a manifest of a bag has for a file (RFC 8493 section 2.1.3).
pub(super) fn unescaped_of_bag(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    if !name.contains(&b'%') {
        return name;
    }
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = &name[..];
    while let Some((&byte, after)) = rest.split_first() {
        let (byte, nbytes) = match rest.get(..3).map(<[u8]>::to_ascii_uppercase).as_deref() {
            Some(b"%0A") => (b'\n', 3),
            Some(b"%0D") => (b'\r', 3),
            Some(b"%25") => (b'%', 3),
            _ => (byte, rest.len() - after.len()),
        };
        bytes.push(byte);
        rest = &rest[nbytes..];
    }
    bytes.into()
}

/// The form whose lines look most like this one.
///
/// ```
/// use hashloom_list::nearest;
///
/// assert_eq!(nearest(b"SHA9 (a.txt) = 0123456789abcdef").name, "bsd");
/// assert_eq!(nearest(b"a.txt,sha999=ungWv48Bz-pBQ_fIAFa0,3").name, "record");
/// ```
#[must_use]
pub fn nearest(line: &[u8]) -> &'static Form {
    let shape = |line: &[u8]| {
        let class = |byte: &u8| if byte.is_ascii_alphanumeric() || *byte >= 0x80 { b'a' } else { *byte };
        let mut shape: Vec<u8> = line.iter().take(256).map(class).collect();
        shape.dedup();
        shape
    };
    let own = shape(line.trim_ascii_end());
    let distance = |form: &&Form| {
        let lines = form.example.lines().map(|line| distance(&own, &shape(line.as_bytes())));
        lines.min().unwrap_or(usize::MAX)
    };
    FORMS.iter().min_by_key(distance).unwrap_or(&FORMS[0])
}

/// The number of letters to insert, remove or replace (Levenshtein).
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in other.iter().enumerate() {
            let least = (row[j] + 1).min(row[j + 1] + 1).min(before + usize::from(a != b));
            before = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row[other.len()]
}
