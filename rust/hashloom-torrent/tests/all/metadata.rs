// SPDX-License-Identifier: MIT OR Apache-2.0

//! The metadata of a torrent. Malformed metadata never makes a torrent unusable.

use crate::maker::{Bencode, dictionary, int, list, text};
use hashloom_torrent::Torrent;

/// A torrent with the keys `outer` beside `info` and the keys `inner` in it.
fn torrent(outer: Vec<(&'static str, Bencode)>, inner: Vec<(&'static str, Bencode)>) -> Torrent {
    let mut info = vec![("length", int(0)), ("name", text("name")), ("piece length", int(16384)), ("pieces", text(""))];
    info.extend(inner);
    let bytes = dictionary(outer.into_iter().chain([("info", dictionary(info))])).write();
    Torrent::parse(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

fn notes(torrent: &Torrent) -> Vec<String> {
    torrent.notes().iter().map(ToString::to_string).collect()
}

#[test]
fn trackers() {
    let tiers = |tiers: &[&[&str]]| list(tiers.iter().map(|tier| list(tier.iter().map(text))));
    let one = torrent(vec![("announce", text("a"))], vec![]);
    assert_eq!((&one.metadata().trackers, notes(&one)), (&vec![vec![b"a".to_vec()]], vec![]));
    let some = torrent(vec![("announce", text("b")), ("announce-list", tiers(&[&["a", "b"], &[], &["c"]]))], vec![]);
    assert_eq!(some.metadata().trackers, [&[b"a".to_vec(), b"b".to_vec()][..], &[b"c".to_vec()]]);
    assert_eq!(notes(&some), [""; 0]);
    let other = torrent(vec![("announce", text("x")), ("announce-list", tiers(&[&["a"]]))], vec![]);
    assert_eq!(other.metadata().trackers, [[b"a"]]);
    assert_eq!(notes(&other), ["announce: this tracker is not in announce-list, which counts"]);
    let empty = torrent(vec![("announce", text("x")), ("announce-list", tiers(&[&[""], &[]]))], vec![]);
    assert_eq!(empty.metadata().trackers, [[b"x"]]);
    // Each string of a flat list is a tier of its own.
    let flat = torrent(vec![("announce-list", list([text("a"), text("b")]))], vec![]);
    assert_eq!(flat.metadata().trackers, [[b"a"], [b"b"]]);
    assert_eq!(torrent(vec![("announce", text(""))], vec![]).metadata().trackers, Vec::<Vec<Vec<u8>>>::new());
}

#[test]
fn web_seeds_are_a_list_or_one() {
    let one = torrent(vec![("url-list", text("u")), ("httpseeds", text(""))], vec![]);
    assert_eq!((&one.metadata().web_seeds[..], one.metadata().http_seeds.len()), (&[b"u".to_vec()][..], 0));
    let two = torrent(vec![("url-list", list([text("u"), text(""), int(1), text("v")]))], vec![]);
    assert_eq!(two.metadata().web_seeds, [b"u", b"v"]);
    assert_eq!(notes(&two), ["url-list: byte 80: expected a string, found an integer, it is ignored"]);
}

#[test]
fn utf8_variants_go_first() {
    let both = |key: &'static str, utf8: &'static str| vec![(key, text("x")), (utf8, text("y"))];
    let comment = torrent(both("comment", "comment.utf-8"), vec![]);
    assert_eq!(comment.metadata().comment.as_deref(), Some(&b"y"[..]));
    let publisher = torrent(both("publisher", "publisher.utf-8"), vec![]);
    assert_eq!(publisher.metadata().publisher.as_deref(), Some(&b"y"[..]));
    let url = torrent(both("publisher-url", "publisher-url.utf-8"), vec![]);
    assert_eq!(url.metadata().publisher_url.as_deref(), Some(&b"y"[..]));
    let wrong = torrent(vec![("comment", text("x")), ("comment.utf-8", int(1))], vec![]);
    assert_eq!(wrong.metadata().comment.as_deref(), Some(&b"x"[..]));
}

#[test]
fn nodes() {
    let node = |host: Bencode, port: Bencode| list([host, port]);
    let good = node(text("::1"), int(65535));
    let bad = [
        node(text(""), int(1)),
        node(text("h"), int(65536)),
        node(text("h"), Bencode::Integer(-1)),
        node(int(1), int(1)),
        list([]),
        text("h:1"),
    ];
    let count = bad.len();
    let torrent = torrent(vec![("nodes", list(bad.into_iter().chain([good])))], vec![]);
    assert_eq!(torrent.metadata().nodes, [(b"::1".to_vec(), 65535)]);
    assert_eq!(torrent.note_count(), count);
}

#[test]
fn private_is_any_number_but_0() {
    for (value, private) in [(0, false), (1, true), (2, true)] {
        assert_eq!(torrent(vec![], vec![("private", int(value))]).metadata().private, private, "{value}");
    }
}

#[test]
fn magnet_links_are_percent_encoded() {
    let trackers = list([list([text("http://t/a?b=c&d=e#f"), text(b"\xff ")])]);
    let torrent = torrent(vec![("announce-list", trackers), ("url-list", text("http://w/ü"))], vec![]);
    let link = torrent.magnet();
    let expected = "&dn=name&tr=http%3A%2F%2Ft%2Fa%3Fb%3Dc%26d%3De%23f&tr=%FF%20&ws=http%3A%2F%2Fw%2F%C3%BC";
    assert!(link.starts_with("magnet:?xt=urn:btih:") && link.ends_with(expected), "{link}");
}
