// SPDX-License-Identifier: MIT OR Apache-2.0

//! Lists of checksums: a table of lines, and random lines compared with an oracle.

use std::cell::RefCell;
use std::io::Read;

use crate::list_oracle::{Oracle, compare};
use hashloom::Algorithm::{
    self, Md5, Ripemd160, Sha1, Sha3_256, Sha224, Sha256, Sha384, Sha512, Sha512_224, Sha512_256, Shake256,
};
use hashloom::Hash;
use hashloom_list::{BadLine, Entry, FORMS, Form, Line, Parser, Writer, decoded, tag};
use proptest::prelude::*;

/// Replaces `{}` in a line by a digest of this many bytes.
fn with_digest(line: &str, nbytes: usize) -> String {
    line.replace("{}", &"0a".repeat(nbytes))
}

fn names(parser: &mut Parser, lines: &[&str], nbytes: usize) -> Vec<Option<String>> {
    let name = |line: &&str| match parser.parse(with_digest(line, nbytes).as_bytes()) {
        Line::Entry(Entry { digests, name, .. }) => {
            assert_eq!(digests[0].1.as_ref(), vec![10; nbytes]);
            Some(String::from_utf8(name.into_owned()).unwrap())
        }
        _ => None,
    };
    lines.iter().map(name).collect()
}

#[test]
fn lines_by_line() {
    let cases: &[(&str, Option<&str>)] = &[
        ("{}  a", Some("a")),
        ("{} *a", Some("a")),
        ("{}\t a", Some("a")),
        ("{}  a b ", Some("a b ")),
        ("{}   a", Some(" a")),
        ("{} **a", Some("*a")),
        ("  \t{}  a", Some("a")),
        ("{}  a\r", Some("a")),
        ("{}  a\r\r", Some("a\r")),
        ("{}  a\\n", Some("a\\n")),
        ("\\{}  a\\n\\r\\\\", Some("a\n\r\\")),
        (" \\{}  a", Some("a")),
        ("\\{}  a\\", None),
        ("\\{}  a\\t", None),
        ("\\{}  a\0", None),
        ("{}  a\0b", Some("a")),
        ("\\\\{}  a", None),
        ("{}", None),
        ("{} ", None),
        ("{}a", None),
        ("{}0  a", None),
        ("0{}  a", None),
        ("x{}  a", None),
        ("  a", None),
        ("SHA256 (a) = {}", Some("a")),
        ("SHA256(a)= {}", Some("a")),
        ("SHA256 (a)={}", Some("a")),
        ("SHA256 (a) \t= \t{}", Some("a")),
        ("\\SHA256 (a\\n) = {}", Some("a\n")),
        ("SHA256 () = {}", Some("")),
        ("SHA256 (a) = b) = {}", Some("a) = b")),
        ("SHA256 (a) = {}0", None),
        ("SHA256 (a) = ", None),
        ("SHA256 (a) {}", None),
        ("SHA256 (a", None),
        ("SHA256", None),
        ("SHA1 (a) = {}", None),
    ];
    // Only coreutils is so strict.
    for line in ["SHA256  (a) = {}", "SHA256 (a) = {} ", "sha256 (a) = {}", "sha-256(a)={}", "{}  a \t\r"] {
        let by_coreutils = names(&mut Parser::only(Sha256), &[line], 32);
        assert_eq!(by_coreutils, [line.starts_with('{').then(|| "a \t".to_owned())], "{line:?}");
        assert_eq!(names(&mut Parser::new(), &[line], 32), [Some("a".to_owned())], "{line:?}");
    }
    for (line, expected) in cases {
        // Programs of coreutils end a name at a NUL.
        let by_all = expected.filter(|_| !line.contains('\0'));
        for (mut parser, expected) in [(Parser::new(), by_all), (Parser::only(Sha256), *expected)] {
            let found = names(&mut parser, &[line], 32);
            assert_eq!(found[0].as_deref(), expected, "{line:?}");
        }
    }
    for blank in ["", "\r", "#", "# comment", "#{}  a"] {
        assert_eq!(Parser::new().parse(blank.as_bytes()), Line::Blank, "{blank:?}");
    }
}

#[test]
fn one_space_and_two_are_not_mixed() {
    let some = |name: &str| Some(name.to_owned());
    let lines = ["{} a", "{}  b", "{} *c", "SHA1 (d) = {}"];
    assert_eq!(names(&mut Parser::new(), &lines, 20), [some("a"), some(" b"), some("*c"), some("d")]);
    let lines = ["SHA1 (d) = {}", "{}  b", "{} a", "{}  c"];
    assert_eq!(names(&mut Parser::new(), &lines, 20), [some("d"), some("b"), None, some("c")]);
}

#[test]
fn algorithms_by_length_and_by_name() {
    let algorithm = |parser: &mut Parser, line: &str, nbytes| match parser.parse(with_digest(line, nbytes).as_bytes()) {
        Line::Entry(entry) => Ok(entry.digests[0].0),
        Line::Unread(bad) | Line::Bad(bad) => Err(bad),
        Line::Blank => panic!("{line:?} is blank"),
    };
    for (nbytes, expected) in [(16, Md5), (20, Sha1), (28, Sha224), (32, Sha256), (48, Sha384), (64, Sha512)] {
        assert_eq!(algorithm(&mut Parser::new(), "{}  a", nbytes), Ok(expected));
    }
    assert_eq!(algorithm(&mut Parser::new(), "{}  a", 24), Err(BadLine::Length { ndigits: 48 }));
    let mut parser = Parser::untagged(&[Sha512_256, Ripemd160]);
    assert_eq!(algorithm(&mut parser, "{}  a", 20), Ok(Ripemd160));
    assert_eq!(algorithm(&mut parser, "{}  a", 32), Ok(Sha512_256));
    assert_eq!(algorithm(&mut parser, "{}  a", 64), Err(BadLine::Length { ndigits: 128 }));
    assert_eq!(algorithm(&mut parser, "SHA512 (a) = {}", 64), Ok(Sha512));
    for &expected in Algorithm::ALL {
        let line = format!("{} (a) = {{}}", tag(expected));
        assert_eq!(algorithm(&mut Parser::new(), &line, expected.digest_nbytes()), Ok(expected));
    }
    assert_eq!(algorithm(&mut Parser::untagged(&[Md5]), "{}  a", 16), Ok(Md5));
    let others = [
        ("SHA2-256(a)= {}", Sha256),
        ("SHA512t256 (a) = {}", Sha512_256),
        ("SHA2-512/224 (a) = {}", Sha512_224),
        ("RIPEMD160(a)= {}", Ripemd160),
        ("SHA3_256 (a) = {}", Sha3_256),
        ("SHAKE-256(a)= {}", Shake256),
    ];
    for (line, expected) in others {
        assert_eq!(algorithm(&mut Parser::new(), line, expected.digest_nbytes()), Ok(expected), "{line}");
        assert!(algorithm(&mut Parser::only(expected), line, expected.digest_nbytes()).is_err(), "{line}");
    }
}

/// Parses the lines of one list: names, lengths and digests as text; `None` for a bad line.
fn entries(parser: &mut Parser, list: &str) -> Vec<Option<String>> {
    parser.begin_list(b'\n');
    let text = |line: &str| match parser.parse(line.as_bytes()) {
        Line::Blank => None,
        Line::Unread(_) | Line::Bad(_) => Some(None),
        Line::Entry(Entry { digests, nbytes, name, .. }) => {
            let digests: Vec<_> = digests.iter().map(|(algorithm, digest)| format!("{algorithm}:{digest}")).collect();
            let nbytes = nbytes.map_or(String::new(), |nbytes| format!("{nbytes} "));
            Some(Some(format!("{nbytes}{} {}", digests.join(","), name.escape_ascii())))
        }
    };
    let found = list.split('\n').filter_map(text).collect();
    while parser.more(false).is_some() {}
    found
}

#[test]
fn a_line_tells_whether_it_names_its_algorithm() {
    let (hex, base64) = ("0a".repeat(20), "CgoKCgoKCgoKCgoKCgoKCgoKCgo=");
    let cases = [
        (format!("{hex}  a"), false),
        (format!("{base64}  a"), false),
        (format!("a {hex}"), false),
        (format!("SHA1 (a) = {hex}"), true),
        (format!("SHA1 (a) = {base64}"), true),
        (format!("%%%% size,sha1,filename\n1,{hex},a"), true),
    ];
    for (list, expected) in cases {
        let mut parser = Parser::new();
        let lines: Vec<_> = list.split('\n').map(|line| parser.parse(line.as_bytes())).collect();
        let Some(Line::Entry(entry)) = lines.last() else { panic!("{list}") };
        assert_eq!((entry.is_tagged, entry.digests[0].0), (expected, Sha1), "{list}");
    }
}

#[test]
fn what_get_file_hash_prints() {
    let (one, two) = ("0A".repeat(32), "0b".repeat(16));
    let (first, second) = (format!("sha256:{} C:/x y/a.txt", one.to_lowercase()), format!("md5:{two} /home/u/b\\\\c"));
    let expected = [Some(first), Some(second)];
    let (table, csv) = ("Algorithm Hash Path\n", "\"Algorithm\",\"Hash\",\"Path\"\n");
    for list in [
        format!(
            "\r\n{table}--------- ----   ----\r\nSHA256  {one}  C:\\x y\\a.txt   \r\nMD5 {two}   /home/u/b\\c\r\n\r\n"
        ),
        // A narrow window wraps digests.
        format!(
            "\r\nAlgorithm : SHA256\r\nHash      : {one}\r\nPath      : C:\\x y\\a.txt\r\n\r\nAlgorithm : MD5\n\
             Hash      : {}\n            {}\nPath      : /home/u/b\\c\n",
            &two[..20],
            &two[20..]
        ),
        format!("#TYPE x\r\n{csv}\"SHA256\",\"{one}\",\"C:\\x y\\a.txt\"\r\n\"MD5\",\"{two}\",\"/home/u/b\\c\"\r\n"),
        format!("Path;Hash;Algorithm;More\nC:\\x y\\a.txt;{one};SHA256;1\n\"/home/u/b\\c\";{two};MD5;\n"),
    ] {
        assert_eq!(entries(&mut Parser::new(), &list), expected, "{list}");
        // Programs of coreutils know none of this.
        assert!(entries(&mut Parser::only(Sha256), &list).iter().all(Option::is_none), "{list}");
    }
    let quoted = format!("{csv}\"MD5\",\"{two}\",\"C:\\\"\"a\"\",b\"");
    assert_eq!(entries(&mut Parser::new(), &quoted), [Some(format!("md5:{two} C:/\\\"a\\\",b"))]);
    for (list, why) in [
        (format!("{table}MD5 {two} C:\\a\\very\\lo..."), BadLine::Cut),
        (format!("{table}MD5 {two} C:\\a\\very\\lo…"), BadLine::Cut),
        (format!("{table}MD5 {}... C:\\a", &two[..20]), BadLine::Cut),
        (format!("{table}MD5 {one} a"), BadLine::FileHash),
        (format!("{table}MACTripleDES {} a", &two[..16]), lacking("MACTripleDES")),
        (format!("{table}{one}  a"), BadLine::FileHash),
        (format!("{csv}\"MD5\",\"{two}\",\"a\"b"), BadLine::FileHash),
        (format!("Algorithm : MD5\nHash : {two}\nPath : a\n           b"), BadLine::Cut),
        (format!("Algorithm : MD5\nHash : {two}\nAlgorithm : MD5"), BadLine::Unfinished),
        (format!("Algorithm : SHA512\nHash : {one}{one}00\nPath : a"), BadLine::FileHash),
    ] {
        let mut parser = Parser::new();
        let lines: Vec<_> = list.lines().map(|line| parser.parse(line.as_bytes())).collect();
        assert_eq!(lines.last(), Some(&Line::Unread(why)), "{list}");
        // The layout holds for one list.
        parser.begin_list(b'\n');
        assert!(matches!(parser.parse(format!("{one}  a").as_bytes()), Line::Entry(_)), "{list}");
    }
}

fn lacking(name: &str) -> BadLine {
    BadLine::Algorithm { name: name.into() }
}

/// Lines of many programs whose digests are not read, and lines that have none.
#[test]
fn a_line_that_names_a_digest_is_not_a_bad_one() {
    let [other, sha1, sha256, sha512] = [24, 20, 32, 64].map(|nbytes| "0a".repeat(nbytes));
    let tag = |name: &str, digest: &str| (format!("{name} (a) = {digest}"), Some(lacking(name)));
    let (format, length) = (Some(BadLine::Format), |ndigits| Some(BadLine::Length { ndigits }));
    let cases = [
        tag("WHIRLPOOL", &sha512),
        tag("STREEBOG-256", &sha256),
        tag("md_gost12_256", &sha256),
        tag("TIGER", "cfe9f8a1 dc1c4fca"[..8].into()),
        // rhash writes these in base32.
        tag("TTH", "czquwh3iyxbf5l3bgyugzhassmxu647ip2ike4y"),
        tag("AICH", "Q336IN72UWT7ZYK5DXOLT2XK5I3XMZ5Y"),
        tag("WHIRLPOOL", "M/oKgZhCYKXAZ0nYN5sgcpUUhpaVHrdUDOGoY+Qo1Xk="),
        // OpenSSL.
        (format!("\\TIGER-192(a\\n)= {sha512}"), Some(lacking("TIGER-192"))),
        ("MDC2(a)= 52:52:52:52:52:52:52:52:52:52:52:52:52:52:52:52".into(), Some(lacking("MDC2"))),
        // An algorithm that is known.
        ("SHA256 (a) = 0a0a".into(), Some(BadLine::Digits { algorithm: Sha256, ndigits: 4 })),
        ("SHA256 (a) = ".into(), format.clone()),
        ("SHA256 (a".into(), format.clone()),
        (format!("SHA256 (a) {sha256}"), format.clone()),
        // Lengths that no algorithm asked for has.
        (format!("{other}  a"), length(48)),
        (format!("{sha256}0  a"), length(65)),
        ("e8b7be43  a".into(), length(8)),
        (format!("a  {other}"), length(48)),
        (other.clone(), length(48)),
        (sha256.clone(), format.clone()),
        ("ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs *".into(), format.clone()),
        ("0oCwxA==  a".into(), format.clone()),
        (format!("\\{sha256}  a\\q"), Some(BadLine::Escape)),
        // Gentoo, rhash, md5deep, cksum, xxhsum, SRI, nix, Debian, ed2k, magnets, JSON, XML, CSV.
        (format!("DIST a 5 TIGER {sha512}"), Some(lacking("TIGER"))),
        ("a.rar E8B7BE43".into(), format.clone()),
        ("a b.rar 20240101".into(), format.clone()),
        (format!("e8b7be43  {other}  {sha1}  a"), length(8)),
        ("1220704766 5 a".into(), Some(BadLine::Length { ndigits: 10 })),
        ("70476 5 a".into(), format.clone()),
        ("XXH3_e8b7be43e8b7be43  a".into(), format.clone()),
        ("tiger-yY3tTGkqlaU16DtKIYVyqQ/CE2MRyQwT1hIb8Jf5SK9g1Q8B6KJvYZ0aZxV2a9oN  a".into(), format.clone()),
        ("sha256:0ssi1wpaf7plaswqqjwigppsg5fyh99vdlb9kzl7c9lng89ndq1i a".into(), format.clone()),
        (format!("sha256={other}"), length(48)),
        (format!("MD5sum: {other}"), length(48)),
        (format!("SHA1: {sha1}"), format.clone()),
        (format!("ed2k://|file|a|5|{other}|/"), length(48)),
        (format!("magnet:?xl=5&dn=a&xt=urn:btih:{sha1}"), format.clone()),
        (format!("[{{\"path\":\"a\",\"md5\":\"{other}\"}}]"), length(48)),
        (format!("<S N=\"Hash\">{other}</S>"), length(48)),
        (format!("a,5,{other}"), length(48)),
        ("a,5,e8b7be43".into(), format.clone()),
        ("magnet:?xl=1&dn=b&xt=urn:sha1:5hlr6xxhzeww3spjf7622f5yxveudd4y".into(), format.clone()),
        (format!("0x{other}  a"), length(48)),
        ("92-EB-5F-FE-E6-AE-2F-EC-3A-D7-1C-77-75-31-57-8F a".into(), format.clone()),
        // None of them has a digest.
        ("hello".into(), None),
        ("bad".into(), None),
        ("facade  a".into(), None),
        ("no checksum".into(), None),
        ("TIMESTAMP = 1700000000".into(), None),
        ("$NetBSD: distinfo,v 1.1 2024/01/01 00:00:00 a Exp $".into(), None),
        ("Hash: SHA256".into(), None),
        ("Version: GnuPG v2".into(), None),
        ("iQIzBAEBCAAdFiEEjcJ3XyxRPxKmmOFRWVnrT8lRLWoFAmWSn4sACgkQWVnrT8lR".into(), None),
        ("=9ZbA".into(), None),
        ("BagIt-Version: 0.97".into(), None),
        ("Key fingerprint = C598 6B4F 1257 FFA8 6632  CBA7 4618 1433 FBB7 5451".into(), None),
        ("Id: 123e4567-e89b-12d3-a456-426614174000".into(), None),
        ("See also (the manual) = good".into(), None),
        ("https://example.org/openSUSE-Tumbleweed-DVD-x86_64-Snapshot20240101-Media.iso".into(), None),
    ];
    for (line, expected) in cases {
        let found = match Parser::new().parse(line.as_bytes()) {
            Line::Unread(why) => Some(why),
            Line::Bad(_) => None,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(found, expected, "{line}");
    }
    // MD5 alone has 32 digits, and needs no name, but is told.
    let mut parser = Parser::untagged(&[Sha256]);
    let line = format!("{}  a", "0".repeat(32));
    assert!(matches!(parser.parse(line.as_bytes()), Line::Entry(entry) if entry.digests[0].0 == Md5));
    assert_eq!(parser.remarks().collect::<Vec<_>>().len(), 1);
    assert!(matches!(Parser::only(Sha256).parse(line.as_bytes()), Line::Unread(_) | Line::Bad(_)));
    let base64 = Parser::untagged(&[Sha1]).parse(b"DMF1ucDxtqgxw5niaXcmYQ==  a");
    assert_eq!(base64, Line::Unread(BadLine::Base64 { nbytes: 16 }));
    // What a parser does not ask for, it does not call bad.
    for line in [format!("MD5 (a) = {other}"), format!("{other}  a"), format!("%%%% {sha256}"), format!("a {sha256}")] {
        assert!(matches!(Parser::only(Sha256).parse(line.as_bytes()), Line::Unread(_)), "{line}");
    }
    for (name, text) in
        [("MD5", "a digest of MD5, which was not asked for"), ("TIGER", "a digest of TIGER, which hashloom lacks")]
    {
        assert_eq!(lacking(name).to_string(), text);
    }
}

/// Lines that end with NUL.
#[test]
fn lists_that_end_lines_with_nul() {
    let sha1 = "0a".repeat(20);
    let read = |list: &str| {
        let (mut text, end) = decoded(list.as_bytes(), None).unwrap();
        let (mut parser, mut found) = (Parser::new(), Vec::new());
        parser.begin_list(end);
        let mut all = String::new();
        text.read_to_string(&mut all).unwrap();
        for line in all.trim_end_matches(char::from(end)).split(char::from(end)) {
            found.push(match parser.parse(line.as_bytes()) {
                Line::Entry(entry) => String::from_utf8(entry.name.into_owned()).unwrap(),
                Line::Unread(why) => format!("{why:?}"),
                Line::Bad(_) => "bad".into(),
                Line::Blank => "blank".into(),
            });
        }
        found
    };
    let line = |name: &str| format!("{sha1}  {name}\0");
    let names = ["a\nb", " c", "d\r", "e\\n", "\r\n# f", "g)\n(h) = none"];
    let list: String = names.iter().map(|name| line(name)).collect();
    assert_eq!(read(&list), names);
    assert_eq!(read(&list.replace(&format!("{sha1}  "), "SHA1 (").replace('\0', &format!(") = {sha1}\0"))), names);
    // A list of both kinds, and a name that looks like it.
    let lf = |name: &str| format!("{sha1}  {name}\n");
    for list in [
        lf("a") + &line("b"),
        line("a") + &lf("b") + &line("c"),
        line("a") + &lf("b") + &lf("c"),
        format!("# comment\n{}", line("a")),
        format!("\n{}", line("a")),
        line("a\nTIGER (b) = 0a0a0a0a"),
        format!("SHA1 (a) = {sha1}\nSHA1 (b) = {sha1}\0"),
        format!("TIGER (a) = {sha1}\nSHA1 (b) = {sha1}\0"),
    ] {
        assert!(read(&list).contains(&"Ends".into()), "{list:?}: {:?}", read(&list));
    }
    // A NUL beyond the bytes by which the end is known.
    let long: String = (0..1000).map(|i| lf(&i.to_string())).collect::<String>() + &line("x");
    assert_eq!(read(&long)[999..], ["999", "Ends"]);
}

#[test]
fn lists_of_hashdeep() {
    let (md5, sha1, sha256) = ("0a".repeat(16), "0B".repeat(20), "0c".repeat(32));
    let expected = |name: &str| Some(format!("3 md5:{md5},sha256:{sha256} {name}"));
    let header = "%%%% size,md5,sha256,filename\n";
    let list = format!(
        "%%%% HASHDEEP-1.0\r\n{header}3,{md5},{sha256},/tmp/a\r\n3,{md5},{sha256},a, b,c \n3,{md5},{sha256},{sha256}  a"
    );
    let names = ["/tmp/a", "a, b,c ", &format!("{sha256}  a")].map(expected);
    let mut parser = Parser::new();
    assert_eq!(entries(&mut parser, &list), names);
    // The columns hold for one list, and other formats do not mix with them.
    let gnu = format!("{sha256}  a");
    assert_eq!(entries(&mut parser, &gnu), [Some(format!("sha256:{sha256} a"))]);
    for line in [
        &gnu,
        &format!("MD5 (a) = {md5}"),
        &format!("3,{md5},{sha256},"),
        &format!("3,{md5},a"),
        &format!("+3,{md5},{sha256},a"),
        &format!("18446744073709551616,{md5},{sha256},a"),
        &format!("3,{md5},{sha256},a\0b"),
        "%%%% size,md5,md5,filename",
        "%%%% HASHDEEP-2.0",
    ] {
        assert_eq!(entries(&mut Parser::new(), &format!("{header}{line}")), [None], "{line}");
    }
    // Unknown algorithms are skipped; without a known one, and below columns that are not understood, nothing is read.
    let others = format!("%%%% size,tiger,whirlpool,sha1,filename\n18446744073709551615,x,,{sha1},a");
    let found = format!("18446744073709551615 sha1:{} a", sha1.to_lowercase());
    assert_eq!(entries(&mut Parser::new(), &others), [None, Some(found)]);
    assert_eq!(entries(&mut Parser::new(), "%%%% size,tiger,filename\n1,x,a"), [None, None]);
    assert_eq!(entries(&mut Parser::new(), &format!("%%%% size,md5\n{gnu}")), [None, None]);
}

#[test]
fn digests_after_names() {
    let (sha1, sha256) = ("0b".repeat(20), "0c".repeat(32));
    let some = |name: &str, digest: &str| {
        Some(format!("{}:{digest} {name}", if digest.len() == 40 { "sha1" } else { "sha256" }))
    };
    let list = format!("a {sha256}\na b \t {sha256}\r\n face  {sha1}\nSHA1 (t) = {sha1}");
    let expected = [some("a", &sha256), some("a b", &sha256), some("face", &sha1), some("t", &sha1)];
    assert_eq!(entries(&mut Parser::new(), &list), expected);
    // The first line decides: a line that can be read in both ways has the digest first.
    let both = format!("{sha256}  {sha1}");
    assert_eq!(entries(&mut Parser::new(), &both), [some(&sha1, &sha256)]);
    let list = format!("{both}\na {sha256}\n{sha1}  b");
    assert_eq!(entries(&mut Parser::new(), &list), [some(&sha1, &sha256), None, some("b", &sha1)]);
    // A name that looks like a line with the digest first gains nothing where digests are last.
    let list = format!("a {sha256}\n{both}\n{sha1}  b");
    assert_eq!(entries(&mut Parser::new(), &list), [some("a", &sha256), some(&sha256, &sha1), None]);
    // Digests of unknown algorithms are not names.
    let (md5, other) = ("0a".repeat(16), "0a".repeat(24));
    assert_eq!(entries(&mut Parser::new(), &format!("{other}  {sha256}")), [None]);
    for bad in ["a{}", " {}", "\\a {}", "a\0 {}", "a {} ", "a {}0"].map(|bad| bad.replace("{}", &sha256)) {
        assert_eq!(entries(&mut Parser::new(), &bad), [None], "{bad:?}");
    }
    assert_eq!(entries(&mut Parser::only(Sha256), &format!("a {sha256}")), [None]);
    assert_eq!(entries(&mut Parser::untagged(&[Md5]), &format!("a {md5}")), [Some(format!("md5:{md5} a"))]);
}

#[test]
fn digests_in_base64() {
    let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
    let text = "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=";
    let some = |name: &str| Some(format!("sha1:{sha1} {name}"));
    let list = format!("{text}  a\r\nSHA1 (b) = {text}\n\\{text} *c\\n\n{sha1}  d\n{text} e");
    assert_eq!(entries(&mut Parser::new(), &list), [some("a"), some("b"), some("c\\n"), some("d"), None]);
    assert_eq!(entries(&mut Parser::new(), &format!("{text} a\n{text}  b")), [some("a"), some(" b")]);
    // A bit too many, no padding, another length, another alphabet.
    for (good, wrong) in [("0=", "1="), ("0=", "0"), ("0=", "0=="), ("+", "-"), ("0=", "=="), ("q", "=")] {
        let bad = text.replacen(good, wrong, 1);
        for line in [format!("{bad}  a"), format!("SHA1 (a) = {bad}")] {
            assert_eq!(entries(&mut Parser::new(), &line), [None], "{line}");
        }
    }
    assert_eq!(entries(&mut Parser::only(Sha1), &format!("{text}  a\nSHA1 (a) = {text}")), [None, None]);
    // SHA-384 in base64 has as many letters as SHA-256 has hexadecimal digits.
    let digits = "0a".repeat(32);
    assert_eq!(entries(&mut Parser::new(), &format!("{digits}  a")), [Some(format!("sha256:{digits} a"))]);
    assert_eq!(entries(&mut Parser::untagged(&[Sha384]), &format!("{digits}  a")), [None]);
    let letters = "AAA/".repeat(16);
    assert_eq!(
        entries(&mut Parser::new(), &format!("{letters}  a")),
        [Some(format!("sha384:{} a", "00003f".repeat(16)))]
    );
}

/// Lines that are nearly right.
fn line() -> impl Strategy<Value = Vec<u8>> {
    let hex = prop_oneof![
        4 => Just("0123456789abcdefABCDEF0123456789abcdefAB"),
        2 => Just("qZk+NkcGgWq6PiVxeFDCbJzQ2J0="),
        1 => Just("0123"),
        1 => Just(""),
    ];
    let token = prop_oneof![
        8 => hex.prop_map(|hex| hex.as_bytes().to_vec()),
        20 => prop::sample::select(vec![
            " ", "  ", " *", "\t", "\\", "\\n", "\\r", "\\\\", "SHA1", "SHA1 (", "(", ")", ") = ", "=", "name", "\r",
            "\0", "#", "SHA256", "x", "%%%% ", "%%%% size,sha1,filename", ",", "9", "sha1,", "size,", "filename",
        ]).prop_map(|token| token.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    let tokens = prop::collection::vec(token, 0..8).prop_map(|tokens| tokens.concat());
    let name = "[a\\\\nr \0)=*]{0,4}";
    let plain = ("\\\\?", prop::sample::select(vec!["  ", " *", " ", "\t"]), name)
        .prop_map(|(mark, blanks, name)| format!("{mark}{}{blanks}{name}", "0f".repeat(20)).into_bytes());
    let tagged = ("\\\\?", " ?", name, " ?= ?")
        .prop_map(|(mark, space, name, is)| format!("{mark}SHA1{space}({name}){is}{}", "0F".repeat(20)).into_bytes());
    let last = ("[ a\\\\=\0)]{1,5}", "[ \t]{1,2}")
        .prop_map(|(name, blanks)| format!("{name}{blanks}{}", "0F".repeat(20)).into_bytes());
    let deep = ("[09]{0,21}(,[a9]{0,2}){0,1}", "[,a9]{1,3}")
        .prop_map(|(size, name)| format!("{size},{},{name}", "0F".repeat(20)).into_bytes());
    prop_oneof![3 => tokens, 3 => plain, 3 => tagged, 2 => last, 2 => deep]
}

proptest! {
    #[test]
    fn the_parser_and_the_oracle_agree(lines in prop::collection::vec(line(), 1..6)) {
        thread_local!(static ORACLE: RefCell<Oracle> = RefCell::new(Oracle::new(Sha1, "SHA1")));
        ORACLE.with_borrow_mut(|oracle| compare(oracle, Sha1, &lines.join(&b'\n')));
    }
}

/// Reads a whole list, as the program does: the checksums of each entry, and whether a line is unread.
fn read_all(name: &str, list: &str) -> (Vec<String>, bool, Vec<Option<&'static str>>) {
    let (mut parser, mut found, mut is_unread, mut forms) = (Parser::new(), Vec::new(), false, Vec::new());
    parser.begin_named(b'\n', name.as_bytes());
    let mut take = |line: Line<'_>, form| match line {
        Line::Entry(Entry { digests, crcs, nbytes, name, .. }) => {
            let name = name.strip_prefix(b"/x/").unwrap_or(&name);
            let name = String::from_utf8_lossy(name.strip_prefix(b"./").unwrap_or(name)).into_owned();
            found.extend(digests.iter().map(|(algorithm, digest)| format!("{name} {algorithm} {digest}")));
            found.extend(crcs.iter().map(|(crc, value)| format!("{name} {} {value:08x}", crc.tag())));
            found.extend(nbytes.filter(|nbytes| *nbytes != 3).map(|nbytes| format!("{nbytes}")));
            forms.push(form);
        }
        Line::Unread(_) => is_unread = true,
        Line::Blank | Line::Bad(_) => {}
    };
    for line in list.trim_end_matches('\n').split('\n') {
        let read = parser.parse(line.as_bytes());
        take(read, parser.form().map(|form| form.name));
        while let Some(more) = parser.more(false) {
            take(more, parser.form().map(|form| form.name));
        }
    }
    while let Some(more) = parser.more(true) {
        take(more, parser.form().map(|form| form.name));
    }
    found.sort();
    found.dedup();
    (found, is_unread, forms)
}

/// Each form is read; and whatever is damaged in it, nothing is verified in part without a word. A list without entries
/// counts as wrong, and so does a file that is not there.
#[test]
fn the_example_of_each_form_and_damaged_ones() {
    let right: Vec<String> = [Md5, Sha1, Sha256, Sha512]
        .iter()
        .map(|algorithm| format!("a.txt {algorithm} {}", hashloom::hash(*algorithm, b"abc")))
        .chain(["a.txt CRC32 352441c2".to_owned()])
        .collect();
    for form in FORMS {
        let (found, is_unread, forms) = read_all(form.list, form.example);
        assert!(!found.is_empty() && !is_unread, "{}: {found:?} {is_unread}", form.name);
        assert!(found.iter().all(|one| right.contains(one)), "{}: {found:?}", form.name);
        assert!(forms.iter().all(|name| *name == Some(form.name)), "{}: {forms:?}", form.name);
        let doubled = read_all(form.list, &[form.example, form.example].concat());
        assert_eq!(doubled.0, found, "{}", form.name);
        for at in 0..form.example.len() {
            for with in ["", "x", "0", " ", "\n", "a\\"] {
                let damaged = [&form.example[..at], with, &form.example[at + 1..]].concat();
                let (now, is_unread, _) = read_all(form.list, &damaged);
                let is_right = !now.is_empty() && !is_unread && now.iter().all(|one| right.contains(one));
                assert!(!is_right || now == found, "{} {at} {with:?}:\n{damaged}\n{now:?}", form.name);
            }
            let cut = &form.example[..at];
            let (now, is_unread, _) = read_all(form.list, cut);
            let is_right = !now.is_empty() && !is_unread && now.iter().all(|one| right.contains(one));
            // Nobody sees that whole lines are missing, or a last word.
            let is_cut_at_line =
                cut.trim_end_matches(' ').ends_with(['\n', ':']) || form.example[at..].starts_with('\n');
            assert!(!is_right || now == found || is_cut_at_line || form.name == "last", "{}: {cut}", form.name);
        }
    }
}

/// The documentation has the table of forms.
#[test]
fn the_documentation_has_the_table() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/checksums.md");
    let text = std::fs::read_to_string(file).unwrap();
    let row = |form: &Form| {
        let told = [form.line.replace('|', "\\|"), form.of.into(), form.told.into()];
        format!("| `{}` | {} | {} |\n", told[0], told[1], told[2])
    };
    let table = FORMS.iter().map(row).collect::<String>();
    let table = format!("| a line | of | |\n|---|---|---|\n{table}");
    let begin = text.find("| a line | of | |").expect("no table of forms");
    assert!(text[begin..].starts_with(&table), "docs/checksums.md should have:\n{table}");
}

proptest! {
    /// What a form writes is read back, and whatever name it cannot write it refuses.
    #[test]
    fn forms_that_are_written_are_read(
        name in prop_oneof![
            prop::collection::vec(1..=255u8, 1..20),
            "[ *\\\\\n\r,\"%#=a./]{1,8}".prop_map(String::into_bytes),
        ],
        bytes in prop::array::uniform32(any::<u8>()),
        nbytes: u64,
    ) {
        let digests = [(Sha256, Hash::new(Sha256, &bytes))];
        for form in FORMS {
            let Some(write) = form.write else { continue };
            let mut text = write.head.as_bytes().to_vec();
            if !(write.file)(&mut text, &digests, nbytes, &name) {
                prop_assert_eq!(&text, write.head.as_bytes());
                continue;
            }
            let mut parser = Parser::new();
            parser.begin_named(b'\n', form.list.as_bytes());
            let lines: Vec<_> = text.split(|&byte| byte == b'\n').map(|line| parser.parse(line)).collect();
            let entries: Vec<_> = lines.iter().filter(|line| **line != Line::Blank).collect();
            let [Line::Entry(entry)] = &entries[..] else { panic!("{}: {entries:?}", text.escape_ascii()) };
            let same = |name: &[u8]| name.strip_prefix(b"./").unwrap_or(name).to_vec();
            prop_assert_eq!((&entry.digests[..], same(&entry.name)), (&digests[..], same(&name)));
            prop_assert!(entry.nbytes.is_none_or(|length| length == nbytes));
        }
    }

    /// The parser reads back every line of the writer. Names have no NUL, which ends a name.
    #[test]
    fn written_lines_are_read(
        name in prop_oneof![
            prop::collection::vec(1..=255u8, 1..20),
            "[ *\\\\\n\r()=a]{1,8}".prop_map(String::into_bytes),
        ],
        kind in 0..3usize,
        base64: bool,
        bytes in prop::array::uniform32(any::<u8>()),
    ) {
        let algorithm = Algorithm::ALL[usize::from(bytes[0]) % Algorithm::ALL.len()];
        let digest = Hash::new(algorithm, &bytes.repeat(2)[..algorithm.digest_nbytes()]);
        let writer = [Writer::gnu(), Writer::gnu_binary(), Writer::bsd()][kind].base64(base64);
        let mut line = Vec::new();
        writer.write(&mut line, &digest, algorithm, &name);
        prop_assert_eq!(line.pop(), Some(b'\n'));
        prop_assert!(!line.contains(&b'\n'));
        let read = Parser::untagged(&[algorithm]).parse(&line);
        let Line::Entry(entry) = read else { panic!("{read:?}: {}", line.escape_ascii()) };
        prop_assert_eq!((&entry.digests[..], &*entry.name), (&[(algorithm, digest)][..], &name[..]));
        // Lines that end in NUL have no escapes.
        let mut zero = Vec::new();
        writer.zero(true).write(&mut zero, &digest, algorithm, &name);
        prop_assert_eq!(zero.pop(), Some(0));
        let mut parser = Parser::untagged(&[algorithm]);
        parser.begin_list(0);
        let read = parser.parse(&zero);
        let Line::Entry(entry) = read else { panic!("{read:?}: {}", zero.escape_ascii()) };
        prop_assert_eq!((&entry.digests[..], &*entry.name), (&[(algorithm, digest)][..], &name[..]));
    }
}

/// What cksum reads beyond the programs of one algorithm, and no more.
#[test]
fn cksum() {
    use Algorithm::{Md5, Sha1, Sha256};
    let md5 = "900150983cd24fb0d6963f7d28e17f72";
    let (sha256, base64) = ("0".repeat(64), format!("{}=", "A".repeat(43)));
    let accepts = |parser: &Parser, line: &str| matches!(parser.clone().parse(line.as_bytes()), Line::Entry(_));
    let (all, one) = (Parser::cksum(&[Md5, Sha1, Sha256], &[]), Parser::cksum(&[Sha256], &[Sha256]));
    for (line, by_all, by_one) in [
        (format!("MD5 (a) = {md5}"), true, false),
        (format!("MD5(a)= {md5}"), true, false),
        (format!("SHA256 (a) = {sha256}"), true, true),
        (format!("SHA256 (a) = {base64}"), true, true),
        (format!("SHA2-256 (a) = {sha256}"), true, false),
        (format!("SHA-256 (a) = {sha256}"), false, false),
        (format!("SHA256 (a) = {md5}"), false, false),
        (format!("{sha256}  a"), false, true),
        (format!("{base64}  a"), false, true),
        (format!("{sha256} "), false, true),
        (format!("{md5}  a"), false, false),
        (format!("%%%% size,md5,filename\n3,{md5},a"), false, false),
        (format!("a {sha256}"), false, false),
    ] {
        assert_eq!((accepts(&all, &line), accepts(&one, &line)), (by_all, by_one), "{line}");
    }
    let mut parser = all;
    assert_eq!(parser.last_tag(), None);
    let _ = parser.parse(b"SHA256 (a) = 00");
    let _ = parser.parse(b"bad");
    assert_eq!(parser.last_tag(), Some(Sha256));
}

/// A digest as pages, programs and mails show it: the algorithms it may be of, of `abc`.
#[test]
fn digests_as_somebody_copied_them() {
    use Algorithm::Blake2b;
    use hashloom::hash;
    use hashloom_list::{BadDigest, read_digest};
    let hex = |algorithm| hash(algorithm, b"abc").to_string();
    let base64 = |algorithm| {
        let mut line = Vec::new();
        Writer::gnu().base64(true).write(&mut line, &hash(algorithm, b"abc"), algorithm, b"");
        String::from_utf8(line).unwrap().trim_end().to_owned()
    };
    let (md5, sha1, sha256, sha512) = (hex(Md5), hex(Sha1), hex(Sha256), hex(Sha512));
    let grouped = |hex: &str, by: usize, mark: &str| {
        hex.as_bytes().chunks(by).map(|group| std::str::from_utf8(group).unwrap()).collect::<Vec<_>>().join(mark)
    };
    let upper = sha256.to_uppercase();
    let told = [
        (format!("sha256:{upper}"), Sha256),
        (format!("SHA256 (my sha1 (1).iso) = {sha256}"), Sha256),
        (format!("SHA2-256(stdin)= {sha256}\n"), Sha256),
        (format!("SHA-256 Checksum:  {sha256}"), Sha256),
        (format!("SHA 256: {sha256}"), Sha256),
        (format!("SHA256-Hash von film.iso:\r\n{sha256}\r\n"), Sha256),
        (format!("--hash=sha256:{sha256}"), Sha256),
        (format!("docker.io/x/y@sha256:{sha256}"), Sha256),
        (format!("SHA256  {upper}  C:\\one.iso"), Sha256),
        (format!("Algorithm : SHA256\r\nHash      : {upper}\r\nPath      : C:\\md5\\one.iso\r\n"), Sha256),
        (format!("MD5 hash of sha256.iso:\r\n{}\r\nCertUtil: -hashfile ended.\r\n", grouped(&md5, 2, " ")), Md5),
        (format!("<tr><td>SHA3-256</td><td class=\"x\"><code>{}</code></td></tr>", hex(Sha3_256)), Sha3_256),
        (format!("<b>SHA-256</b> <i class='md5'>{}</i>", grouped(&sha256, 16, "</i><i class=\"a > b\">")), Sha256),
        (format!("SHA256: {}<wbr>{}", &sha256[..32], &sha256[32..]), Sha256),
        (format!("<input title=\"SHA256\" value={sha256}>"), Sha256),
        (format!("SHA512: {}", grouped(&sha512, 64, "\n")), Sha512),
        (format!("sha384-{}", base64(Sha384)), Sha384),
        (format!("<script src=\"a.js\" integrity=\"sha384-{}\">", base64(Sha384)), Sha384),
        (format!("sha1-{} sha512-{}", base64(Sha1), base64(Sha512)), Sha512),
        (format!("Content-MD5: {}", base64(Md5)), Md5),
        (format!("{} (SHA3-256)", hex(Sha3_256)), Sha3_256),
        (format!("BLAKE2b: {}", hex(Blake2b)), Blake2b),
        (format!("SHA256: {sha256}\nsame again: {upper}"), Sha256),
    ];
    for (text, algorithm) in told {
        let read = read_digest(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!((read.digests, read.is_tagged), (vec![(algorithm, hash(algorithm, b"abc"))], true), "{text}");
    }
    let untold = [
        (sha256.clone(), Sha256),
        (upper.clone(), Sha256),
        (format!("0x{sha256}"), Sha256),
        (format!("`{sha256}`"), Sha256),
        (format!("\u{feff}\u{201c}{sha256}\u{201d}."), Sha256),
        (grouped(&sha256, 8, " "), Sha256),
        (grouped(&sha256, 2, ":"), Sha256),
        (grouped(&sha256, 4, "-"), Sha256),
        (grouped(&sha256, 2, ", 0x"), Sha256),
        (grouped(&sha512, 80, "\n"), Sha512),
        (format!("film.iso: {}", grouped(&sha256, 8, "\n  ")), Sha256),
        (format!("{sha256}  face"), Sha256),
        (format!("\\{sha256} *md5.iso"), Sha256),
        (format!("md5.iso: {sha256}"), Sha256),
        (format!("{sha256}  {}.iso", sha256.replace('b', "c")), Sha256),
        (format!("1234  {sha1}  2024-01-02 film.iso"), Sha1),
        (format!("<code>{md5}</code>"), Md5),
        (format!("<{sha256}>"), Sha256),
        (format!("{}<wbr>{}", &sha256[..32], &sha256[32..]), Sha256),
        (format!("<td id=x>{}</td>", grouped(&sha256, 8, "<br class=b>")), Sha256),
        (base64(Sha1), Sha1),
        (base64(Sha256).trim_end_matches('=').to_owned(), Sha256),
    ];
    for (text, first) in untold {
        let read = read_digest(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(read.digests[0], (first, hash(first, b"abc")), "{text}");
        let all = Algorithm::ALL.iter().filter(|other| other.digest_nbytes() == first.digest_nbytes()).count();
        assert_eq!((read.digests.len(), read.is_any, read.is_tagged), (all, true, false), "{text}");
    }
    // A file must have all digests that a page shows of it.
    let read = read_digest(&format!("MD5: {md5}\nSHA-1: {sha1}\nCRC32: 352441C2")).unwrap();
    assert_eq!((read.digests.len(), read.is_any), (2, false));
    assert_eq!(read.crcs, [(hashloom_list::Crc::Crc32, 0x3524_41c2)]);

    let other = sha256.replace('b', "c");
    let bad = [
        (sha256[1..].to_owned(), "63 digits, but SHA256 has 64: 1 missing"),
        (format!("{sha256}0"), "65 digits, but SHA256 has 64: 1 too many"),
        (format!("MD5: {}", &sha256[..61]), "61 digits, but MD5 has 32: 29 too many"),
        (format!("MD5: {sha256}"), "64 digits, but MD5 has 32: 32 too many"),
        (format!("SHA256: {}\nMD5: {md5}", &sha256[1..]), "63 digits, but SHA256 has 64: 1 missing"),
        (format!("O{}", &sha256[1..]), "\u{201c}o\u{201d} is no hexadecimal digit (place 1)"),
        (format!("SHA256: O{}", &sha256[1..]), "\u{201c}o\u{201d} is no hexadecimal digit (place 1)"),
        (grouped(&format!("{}G", &sha256[1..]), 8, " "), "\u{201c}g\u{201d} is no hexadecimal digit (place 64)"),
        (grouped(&format!("O{}", &sha256[1..]), 8, " "), "\u{201c}o\u{201d} is no hexadecimal digit (place 1)"),
        (
            grouped(&format!("{}S{}", &sha256[..40], &sha256[41..]), 4, " "),
            "\u{201c}s\u{201d} is no hexadecimal digit (place 41)",
        ),
        (format!("{}  x\n{md5}  x", &sha256[1..]), "63 digits, but SHA256 has 64: 1 missing"),
        (format!("O{}  x\n{md5}  x", &sha256[1..]), "\u{201c}o\u{201d} is no hexadecimal digit (place 1)"),
        ("hello".to_owned(), "this is no digest"),
        ("".to_owned(), "this is no digest"),
        ("352441c2".to_owned(), "8 digits: if it is a CRC, put its name before it, as in crc32:"),
        ("1234".to_owned(), "4 digits: no algorithm has so many"),
        (format!("sha256-{} sha512-{}", base64(Md5), base64(Sha512)), "this is no digest of SHA256"),
        ("SHA256:".to_owned(), "this is no digest of SHA256"),
        (format!("SHA256: {}", base64(Md5)), "this is no digest of SHA256"),
        (format!("SHA256: {} MD5: {md5}", base64(Md5)), "this is no digest of SHA256"),
    ];
    for (text, why) in bad {
        assert_eq!(read_digest(&text).map_err(|error| error.to_string()), Err(why.to_owned()), "{text}");
    }
    let several = [
        format!("{sha256}\n{other}"),
        format!("{sha256}  a\n{other}  b"),
        format!("{sha256}  {other}"),
        format!("SHA256: {sha256} {other}"),
        format!("SHA256: {sha256}\nSHA256: {other}"),
        format!("SHA256 (a) = {sha256}\nSHA1 (b) = {sha1}"),
        format!("{sha256} {sha1}"),
        format!("SHA256: {sha256}\nor {sha1}"),
        format!("{md5} {}", md5.replace('9', "8")),
        format!("<td title=\"{other}\">{sha256}</td>"),
        format!("<td title=\"{other}\">{}</td>", grouped(&sha256, 8, "<br class=b>")),
    ];
    for text in several {
        assert_eq!(read_digest(&text), Err(BadDigest::Several), "{text}");
    }
}

proptest! {
    /// Texts of the parts that the reader knows: it ends, and what it takes for a digest is whole in the text.
    #[test]
    fn copied_digests_are_in_the_text(parts in prop::collection::vec(prop::sample::select(vec![
        "sha256", "SHA-512/256", "MD5", "crc32", "hash of ", "(", ") = ", "=", ": ", "-", "\n", "  ", " ", "0x", "@",
        "<b>",
        "</td>", "<a href=\"", "&nbsp;", "\u{200b}", "\u{2013}", "\u{fc}", "film.iso", "352441c2", "0123456789abcdef",
        "0123456789abcdef0123456789abcdef", "a9993e364706816aba3e25717850c26c9cd0d89d", "O0g1",
        "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=",
    ]), 0..24)) {
        let text = parts.concat();
        if let Ok(entry) = hashloom_list::read_digest(&text) {
            prop_assert!(!entry.digests.is_empty() || !entry.crcs.is_empty());
            let between = ["<b>", "</td>", "&nbsp;", "0x"];
            let bare = between.iter().fold(text.clone(), |text, one| text.replace(one, ""));
            let digits: String = bare.chars().filter(char::is_ascii_hexdigit).collect();
            for (algorithm, hash) in entry.digests {
                prop_assert_eq!(algorithm.digest_nbytes(), hash.as_ref().len());
                let bits = |at: usize| (0..6).fold(0, |bits, i| {
                    let bit = 6 * at + i;
                    bits << 1 | hash.as_ref().get(bit / 8).map_or(0, |byte| usize::from(byte >> (7 - bit % 8) & 1))
                });
                let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                let base64: String =
                    (0..(8 * hash.as_ref().len()).div_ceil(6)).map(|at| char::from(letters[bits(at)])).collect();
                // Also that of URLs, and in groups.
                let is_base64 = [&text, &bare].into_iter().any(|text| {
                    let joined: String = text.split([' ', '\n', ':', '\u{200b}']).collect();
                    joined.replace('-', "+").contains(&base64)
                });
                prop_assert!(is_base64 || digits.contains(&hash.to_string()), "{text:?}");
            }
        }
    }
}

/// Fragments of files, beside those of [`FORMS`], that people paste into lists.
const FRAGMENTS: &[&str] = &[
    "<?xml version=\"1.0\"?>",
    "<?xml version=\"1.0\"",
    "<!-- a comment",
    "<datafile>\n<header>\n<name>x</name>\n</header>",
    "<game name=\"x\">\n<description>x</description>",
    "Format: 1.8\nDescription:\n x",
    "Source: x\nChanges:\n x\n .",
    "Date: x\nX-Unknown:",
    "Origin: x\nSHA3-999:",
    "#mtree\n/set type=dir",
    "/set type=link uname=",
    ". type=dir\n./x type=dir",
    "C:Q1qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\nP:x",
    "x==1.0 \\",
    "./x.whl \\",
    "Algorithm : SHA256",
    "Algorithm : SHA256\nHash : 00",
    "Algorithm Hash Path",
    "SHA256 hash of x:",
    "CertUtil: done",
    "x: BA7816BF 8F01CFEA",
    "%%%% HASHDEEP-1.0",
    "%%%% size,md5,filename",
    "%%%% size,tiger,filename",
    "-----BEGIN PGP SIGNED MESSAGE-----",
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n",
    "-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----",
    "-----BEGIN PGP SIGNED MESSAGE-----\n\n-----BEGIN PGP SIGNATURE-----\n-----END PGP SIGNATURE-----",
    "-----BEGIN PGP SIGNATURE-----",
    "TIMESTAMP 2024-01-01T00:00:00Z",
    "RECORD,,",
    "(contains no files)",
    "/x 0 0 00000000000000000000000000000000 0100644 root root 0 0 0 X",
    "{",
    "[",
    "; x",
    "\"x\": {",
    "{\"files\":{",
    "name,sha256",
    "Manifest-Version: 1.0",
    "Manifest-Version: 1.0\n\nName: x",
    "SHA256:\n  x: 00",
];

/// The lines of a plain list, in the ways that programs write one.
fn plain_lists() -> Vec<Vec<String>> {
    let sums = ["b", "c d", "f.pyc"].map(|name| (name, hashloom::hash(Sha256, name.as_bytes()).to_string()));
    let ways: [fn(&str, &str) -> String; 8] = [
        |name, hex| format!("{hex}  {name}"),
        |name, hex| format!("{hex} *{name}"),
        |name, hex| format!("  {hex}  {name}"),
        |name, hex| format!("{hex} {name}"),
        |name, hex| format!("SHA256 ({name}) = {hex}"),
        |name, hex| format!("{name} {hex}"),
        |name, hex| format!("sha256:{hex}  {name}"),
        |name, hex| {
            format!(
                "{name}: {}",
                hex.as_bytes().chunks(8).map(|eight| std::str::from_utf8(eight).unwrap()).collect::<Vec<_>>().join(" ")
            )
        },
    ];
    ways.iter().map(|line| sums.iter().map(|(name, hex)| line(name, hex)).collect()).collect()
}

/// Whatever stands between the lines of a list: each of them is verified, or the list is not right as a whole.
#[test]
fn no_digest_is_passed_over_among_lines_of_other_forms() {
    let digest = |name: &str| format!("{name} sha256 {}", hashloom::hash(Sha256, name.as_bytes()));
    let (names, mut nright) = (["b", "c d", "f.pyc"], 0);
    let mut fragments: Vec<String> = FRAGMENTS.iter().map(|&text| text.to_owned()).collect();
    for form in FORMS {
        let lines: Vec<&str> = form.example.lines().collect();
        fragments.extend(
            (0..lines.len())
                .flat_map(|from| (from + 1..=lines.len()).map(move |to| (from, to)))
                .map(|(from, to)| lines[from..to].join("\n")),
        );
    }
    for list in plain_lists() {
        for fragment in &fragments {
            for at in 0..=list.len() {
                let text = [&list[..at], std::slice::from_ref(fragment), &list[at..]].concat().join("\n");
                let (found, is_unread, _) = read_all("list", &text);
                // A file of another name is not there.
                let is_here = |one: &String| {
                    names.iter().any(|name| *one == digest(name))
                        || one.starts_with("a.txt ") && one.split(' ').count() == 3
                };
                let is_right = !is_unread && !found.is_empty() && found.iter().all(is_here);
                let is_whole = names.iter().all(|name| found.contains(&digest(name)));
                assert!(!is_right || is_whole, "{text}\n{found:?}");
                nright += u32::from(is_right);
            }
        }
    }
    assert!(nright > 100, "{nright}");
}

/// Only lines of the text that OpenPGP has signed count.
#[test]
fn what_is_outside_of_a_signed_text() {
    let line = |name: &str| format!("{}  {name}", hashloom::hash(Sha256, name.as_bytes()));
    let (begin, sign) = ("-----BEGIN PGP SIGNED MESSAGE-----", "-----BEGIN PGP SIGNATURE-----");
    let end = "-----END PGP SIGNATURE-----";
    let signed = |head: &str| format!("{begin}{head}\n\n{}\n- -- x\n{sign}\nComment: x\n\niQ\n=9ZbA\n{end}", line("a"));
    let (plain, evil) = (signed("\nHash: SHA512, SHA256"), line("b"));
    let names = |text: &str| {
        let (found, is_unread, _) = read_all("list", text);
        (found.iter().map(|one| one[..1].to_owned()).collect::<String>(), is_unread)
    };
    for right in [&plain, &signed(" \t\r\nHash: SHA1\r"), &signed(""), &format!("x\n\n{plain}\nbye\n# {evil}")] {
        assert_eq!(names(right), ("a".into(), false), "{right}");
    }
    for (wrong, found) in [
        (format!("{plain}\n{evil}"), "a"),
        (format!("{plain}\n{}", plain.replace(&line("a"), &evil)), "a"),
        (format!("{plain}\nSHA256 (b) = {}", &evil[..64]), "a"),
        (format!("{plain}\nb 352441C2"), "a"),
        (format!("{plain}\n{{\"path\":\"b\",\"digests\":{{\"sha256\":\"{}\"}}}}", &evil[..64]), "a"),
        (format!("{plain}\nSHA256 hash of b:"), "a"),
        (plain.replace(sign, &format!("{sign}\n{evil}")), "a"),
        (plain.replace(sign, &format!("{begin}\n\n{evil}\n{sign}")), "a"),
        (plain.replace(sign, &format!("-----BEGIN X-----\n{evil}\n{sign}")), "a"),
        (signed(&format!("\nHash: {evil}")), ""),
        (signed("\nNotDashEscaped: x"), ""),
        (signed("\nComment: x"), ""),
        (signed(&format!("\n{evil}")), ""),
        (plain.replace(end, ""), "a"),
        (plain[..plain.find(sign).unwrap()].to_owned(), "a"),
        // These lines were given before anything could tell.
        (format!("{evil}\n{plain}"), "ab"),
        (format!("TIGER (b) = {evil}\n{plain}"), "a"),
        (format!("Checksums-Sha256:\n {} 3 b\n{plain}", &evil[..64]), "b"),
    ] {
        assert_eq!(names(&wrong), (found.into(), true), "{wrong}");
    }
    let mut parser = Parser::new();
    parser.expect_signed();
    let text = format!("{evil}\n{plain}");
    let lines: Vec<_> = text.lines().map(|line| parser.parse(line.as_bytes())).collect();
    assert_eq!(lines[0], Line::Unread(BadLine::Unsigned));
    assert_eq!(lines.iter().filter(|line| matches!(line, Line::Entry(_))).count(), 1);
}

/// A length is no check of bytes: a file that has nothing else is named, wherever its other lines may stand.
#[test]
fn lengths_beside_digests() {
    let sum = |name: &str| format!("SHA256 ({name}) = {}", "0a".repeat(32));
    let size = |name: &str| format!("SIZE ({name}) = 3 bytes");
    let unread = |lines: &[String]| read_all("list", &lines.join("\n")).1;
    for right in [vec![sum("a"), size("a")], vec![size("a"), sum("a")], vec![sum("a"), sum("b"), size("b"), size("a")]]
    {
        assert!(!unread(&right), "{right:?}");
    }
    for wrong in [vec![size("a")], vec![sum("a"), size("b")], vec![size("b"), sum("a"), size("a")]] {
        assert!(unread(&wrong), "{wrong:?}");
    }
    let mut parser = Parser::new();
    assert!(matches!(parser.parse(size("x y").as_bytes()), Line::Entry(_)));
    assert_eq!(parser.more(true), Some(Line::Unread(BadLine::OnlyLength { name: "x y".into() })));
}

/// Old programs leave out zeros. Elsewhere than in a list of that name such a word is part of a text.
#[test]
fn crcs_without_zeros_at_their_front() {
    let read = |name: &str, list: &str| read_all(name, list).0;
    for name in ["x.sfv", "x.crc32"] {
        assert_eq!(
            read(name, "; x\na b 2C1\nc 352441C2\nd 0\n"),
            ["a b CRC32 000002c1", "c CRC32 352441c2", "d CRC32 00000000"]
        );
    }
    assert_eq!(read("x.crc32", "352441C2  c\n352441c2 *a b\n"), ["a b CRC32 352441c2", "c CRC32 352441c2"]);
    assert_eq!(read("x.crc32", "352441C2  00000001\n"), [""; 0]);
    assert_eq!(read("list", "; x\nc 2C1"), [""; 0]);
    for line in ["2C1", " 2C1", "a 352441C20", "a 2G1", "\\a 2C1", "a\t", "a 0x2C1"] {
        assert_eq!(read("x.sfv", line), [""; 0], "{line}");
    }
}

/// A name before a colon is no algorithm's.
#[test]
fn names_before_a_colon() {
    let hex = "0a".repeat(32);
    let read = |line: &str| entries(&mut Parser::new(), &line.replace("{}", &hex)).pop().flatten();
    for (line, name) in [("a: {}", "a"), ("a: b: {}\r", "a: b"), ("A b.zip:  {}", "A b.zip"), ("SHA256 {} a b", "a b")]
    {
        assert_eq!(read(line), Some(format!("sha256:{hex} {name}")), "{line}");
    }
    for line in
        ["SHA256: {}", "sha512sum: {}", "a (SHA-256): {}", "a MD5: {}", ": {}", " a: {}", "a: {}0", "a:{}", "SHA1 {} a"]
    {
        assert_eq!(read(line), None, "{line}");
    }
}

/// Tables whose first line names the columns, checksums of gems, and those of vendored crates.
#[test]
fn tables_gems_and_crates() {
    let hex = "0a".repeat(32);
    let md5 = "0b".repeat(16);
    let read = |list: &str| {
        let (found, is_unread, _) = read_all("list", &list.replace("{}", &hex).replace("[]", &md5));
        (found.iter().map(|one| one.rsplit_once(' ').unwrap().0.to_owned()).collect::<Vec<_>>(), is_unread)
    };
    for (list, expected) in [
        ("name,sha256\na b,{}\n\"c,d\",{}\r", ["a b sha256", "c,d sha256"]),
        (
            "Manifest-Version: 1.0\r\n\r\nName: a\r\n  b\r\nSHA-256-Digest: \
            CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=\r\n\r\n\
             Name: x/\nSealed: true\n\nName: c\nSHA-256-Digest: CgoKCgoKCgoKCgoKCgoKCgoK\n CgoKCgoKCgoKCgoKCgo=",
            ["a b sha256", "c sha256"],
        ),
        ("SHA-256;Path;date\n{};a;20240101\n{};b;", ["a sha256", "b sha256"]),
        ("md5\tfilename\tsha256\tsize\n[]\ta\t{}\t3", ["a md5", "a sha256"]),
        ("---\nSHA256:\n  data.tar.gz: {}\n  metadata.gz: {}", ["data.tar.gz sha256", "metadata.gz sha256"]),
        ("{\"files\":{\"a\":\"{}\",\"b/c d\":\"{}\"},\"package\":\"{}\"}", ["a sha256", "b/c d sha256"]),
        ("{\"files\":{\"a\":\"{}\",\"b\":\"{}\"}}", ["a sha256", "b sha256"]),
    ] {
        assert_eq!(read(list), (expected.map(String::from).to_vec(), false), "{list}");
    }
    for list in [
        "name,sha256,x\na,{},{}",
        "name,sha256\na,{},b",
        "name,sha256\na,",
        "name,sha256\n,{}",
        "name,sha256\na,{}\n{}  b",
        "name,sha256\na,{}\nname,md5\nb,[]",
        "name,sha256,sha-256\na,{},{}",
        "name,path,sha256\na,b,{}",
        "name,crc32,sha256\na,352441c2,{}",
        "{}  b\nname,sha256\na,{}",
        "SHA256:\n  a: {} b",
        "SHA256:\n  : {}",
        "{\"files\":{\"a\":\"{}\"},\"package\":\"[]\"}",
        "{\"files\":{\"a\":\"{}\"},\"other\":\"{}\"}",
        "{\"files\":{\"a\":\"{}\",\"b\":\"\"}}",
        "{\"files\":{\"a\\u0041\":\"{}\"}}",
        "{\"files\":{\"a\":\"{}\"}",
        "{\"files\":{}}",
        "Manifest-Version: 1.0\n\nName: c\nSHA-256-Digest: CgoK",
        "Manifest-Version: 1.0\n\nName: c\nSHA-256-Digest-de: CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=",
        "Manifest-Version: 1.0\nSHA-256-Digest: CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=",
        "Manifest-Version: 1.0\n\nName: c\n\nName: d\nSHA-256-Digest: CgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgoKCgo=",
        "Manifest-Version: 1.0\n\n  {}  b",
    ] {
        assert!(read(list).1, "{list}: {:?}", read(list));
    }
}
