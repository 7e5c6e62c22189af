// SPDX-License-Identifier: MIT OR Apache-2.0

//! Tests `hashloom address`: vectors of BIP 173 and BIP 350, lines that are no keys, secret keys, threads.
//! `test/addresses.py` compares keys of every form on every network with an implementation of its own, and has the
//! vectors of Bitcoin Core and of BIP 341.

use std::process::Output;

use crate::common::{Ran, hashloom, status, stderr, stdout, with_input};

/// The generator of secp256k1 (SEC 2 section 2.4.1), the public key of the secret key 1.
const G: &str = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798";
const G_UNCOMPRESSED: &str = "0479be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798\
    483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8";
const G_HASH160: &str = "751e76e8199196d454941c45d1b3a323f1433bd6";

fn run(arguments: &[&str], input: &[u8]) -> Output {
    with_input(hashloom().arg("address").args(arguments), input)
}

/// Runs the program, which must print `expected` and no message.
fn check(arguments: &[&str], input: impl AsRef<[u8]>, expected: &str) {
    let output = run(arguments, input.as_ref());
    assert_eq!((status(&output), stdout(&output), stderr(&output)), (0, expected, ""), "{arguments:?}");
}

/// Runs the program with one line that is not right. Returns the reason that it gives.
fn reason(arguments: &[&str], line: impl AsRef<[u8]>) -> String {
    let output = run(arguments, line.as_ref());
    let lines = stdout(&output).lines().count();
    assert_eq!((status(&output), lines <= 1), (1, true), "{arguments:?}: {}{}", stdout(&output), stderr(&output));
    let message = stderr(&output).strip_suffix('\n').unwrap().to_owned();
    assert!(!message.contains('\n'), "{message}");
    let reason = message.strip_prefix("hashloom: standard input: line 1: ");
    reason.unwrap_or_else(|| panic!("{message}")).to_owned()
}

fn bytes(digits: &str) -> Vec<u8> {
    (0..digits.len() / 2).map(|i| u8::from_str_radix(&digits[2 * i..][..2], 16).unwrap()).collect()
}

#[test]
fn standard_input_by_its_name_and_capitals() {
    let line = format!("{G},1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH\n");
    let input = format!("{G}\r\n{}\n", G.to_uppercase());
    check(&["-t", "p2pkh", "-"], input, &format!("key,p2pkh\n{line}{line}"));
    let json = format!("{{\"key\":\"{G}\",\"p2pkh\":\"1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH\"}}\n");
    check(&["-t", "p2pkh", "--json", "--unchecked"], G, &json);
}

#[test]
fn none_of_the_wanted_types_is_possible() {
    let x = &G[2..];
    assert_eq!(reason(&["-t", "p2pkh,p2wpkh"], x), "a key of 32 bytes (x-only) has only a P2TR address");
    let expected = "an uncompressed key has only P2PKH and P2TR addresses";
    assert_eq!(reason(&["-t", "p2sh-p2wpkh,p2wpkh"], G_UNCOMPRESSED), expected);
    assert_eq!(reason(&["--hash160"], x), "a key of 32 bytes (x-only) has no hash160");
}

/// Address, network, type, hash160, script. `test/addresses.py` has the vectors of Bitcoin Core.
const ADDRESSES: [(&str, &str, &str, &str, &str); 4] = [
    // BIP 350, valid addresses of segregated witness.
    ("BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4", "main", "p2wpkh", G_HASH160, "0014"),
    ("BC1SW50QGDZ25J", "main", "witness_unknown", "", "6002751e"),
    ("bc1zw508d6qejxtdg4y5r3zarvaryvaxxpcs", "main", "witness_unknown", "", "5210751e76e8199196d454941c45d1b3a323"),
    // Version 0 and hash160 0: as many leading ones as base58 can have.
    ("1111111111111111111114oLvT2", "main", "p2pkh", "0000000000000000000000000000000000000000", "76a914"),
];

#[test]
fn what_addresses_mean() {
    let (mut lines, mut csv, mut json) =
        (String::new(), "address,network,type,hash160,script\n".to_owned(), String::new());
    for (address, network, kind, hash160, script) in ADDRESSES {
        let end = if kind == "p2pkh" { "88ac" } else { "" };
        let script = format!("{script}{hash160}{end}");
        lines += &format!("{address}\n");
        csv += &format!("{address},{network},{kind},{hash160},{script}\n");
        let hash160 = if hash160.is_empty() { String::new() } else { format!("\"hash160\":\"{hash160}\",") };
        json += &format!(
            "{{\"address\":\"{address}\",\"network\":\"{network}\",\"type\":\"{kind}\",{hash160}\
             \"script\":\"{script}\"}}\n"
        );
    }
    check(&["--decode"], &lines, &csv);
    check(&["-d", "--json"], &lines, &json);
}

#[test]
fn what_is_no_address() {
    // BIP 173 and BIP 350, invalid addresses.
    let wrong = "tc1qw508d6qejxtdg4y5r3zarvary0c5xw7kg3g4ty bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t5 \
        BC13W508D6QEJXTDG4Y5R3ZARVARY0C5XW7KN40WF2 bc1rw5uspcuh \
        bc10w508d6qejxtdg4y5r3zarvary0c5xw7kw508d6qejxtdg4y5r3zarvary0c5xw7kw5rljs90 \
        tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3q0sL5k7 bc1zw508d6qejxtdg4y5r3zarvaryvqyzf3du \
        tb1qrp33g0q5c5txsp9arysrx4k6zdkfs4nce4xj0gdcccefvpysxf3pjxtptv \
        tc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq5zuyut \
        bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd \
        tb1z0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqglt7rf \
        BC1S0XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ54WELL bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh \
        tb1q0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq24jc47 \
        bc1p38j9r5y49hruaue7wxjce0updqjuyyx0kh56v8s25huc6995vvpql3jow4 \
        BC130XLXVLHEMJA6C4DQV22UAPCTQUPFHLXM9H8Z3K2E72Q4K9HCZ7VQ7ZWS8R bc1pw5dgrnzv \
        bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v8n0nx0muaewav253zgeav \
        BC1QR508D6QEJXTDG4Y5R3ZARVARYV98GJ9P tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vq47Zagq \
        bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7v07qwwzcrf \
        tb1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vpggkg4j bc1gmk9yu bc1 bc";
    for address in wrong.split(' ') {
        reason(&["--decode"], address);
    }
    // The last digit 1 ends the prefix of bech32: these are right, but of networks whose prefix begins like these.
    for address in [
        "bc1q1qw508d6qejxtdg4y5r3zarvary0c5xw7kdzn78v",
        "bc11qw508d6qejxtdg4y5r3zarvary0c5xw7kan2muu",
        "tb1x1qw508d6qejxtdg4y5r3zarvary0c5xw7kjwr3mu",
        "bc1\",\"type\":\"p2pk1qw508d6qejxtdg4y5r3zarvary0c5xw7k2yev5j",
    ] {
        let expected = "expected bech32 with one digit 1, after bc, tb or bcrt; found another";
        assert_eq!(reason(&["--decode", "--json"], address), expected, "{address}");
    }
    let cases: [(&[u8], &str); 7] = [
        (b"1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2mp", "the checksum is wrong: the address was mistyped or cut"),
        (b"1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2", "expected base58 of 25 bytes, found 24"),
        (b"1FsSia9rv4NeEwvJ2GvXrX7LyxYspbN2momo", "expected base58 of 25 bytes, found more"),
        (b"1Fs0ia", "expected base58, or bech32 that begins with bc1, tb1 or bcrt1; found 0 in column 4"),
        (b"1F\0", "expected base58, or bech32 that begins with bc1, tb1 or bcrt1; found the byte 0x00 in column 3"),
        // Litecoin's prefix, 0x30.
        (b"LM2WMpR1Rp6j3Sa59cMXMs1SPzj9eXpGc1", "expected a prefix of 00, 05, 6f or c4, found 30"),
        (b"\n", "expected an address, found an empty line"),
    ];
    for (line, expected) in cases {
        assert_eq!(reason(&["--decode"], line), expected, "{line:?}");
    }
}

#[test]
fn what_is_no_key() {
    let repeat = |digits: &str, count| digits.repeat(count).into_bytes();
    let not_on_the_curve = "the key is not a point of the curve secp256k1";
    let digits = |found| format!("expected a public key of 64, 66 or 130 digits, found {found} characters");
    let with = |text: &str, at: usize, byte: u8| {
        let mut text = text.as_bytes().to_vec();
        text[at] = byte;
        text
    };
    for (line, expected) in [
        (b"\n".to_vec(), "expected a public key, found an empty line".to_owned()),
        (b"\r\n".to_vec(), "expected a public key, found an empty line".to_owned()),
        (G[1..].into(), digits(65)),
        (G[2..64].into(), digits(62)),
        (format!(" {G}").into(), digits(67)),
        (format!("{G}\r").into(), String::new()),
        (format!("{G}\r\r").into(), digits(67)),
        (format!("0x{}", &G[2..]).into(), "expected hexadecimal digits, found x in column 2".into()),
        (with(G, 65, b'g'), "expected hexadecimal digits, found g in column 66".into()),
        (with(G, 1, 0), "expected hexadecimal digits, found the byte 0x00 in column 2".into()),
        (with(G, 10, 0xff), "expected hexadecimal digits, found the byte 0xff in column 11".into()),
        (with(G, 10, b' '), "expected hexadecimal digits, found the byte 0x20 in column 11".into()),
        (with(G, 1, b'4'), "expected a key of 33 bytes to begin with 02 or 03, found 04".into()),
        (with(G, 1, b'0'), "expected a key of 33 bytes to begin with 02 or 03, found 00".into()),
        (with(G_UNCOMPRESSED, 1, b'2'), "expected a key of 65 bytes to begin with 04, found 02".into()),
        // SEC 1 section 2.3.3 has no such form; OpenSSL calls it hybrid.
        (with(G_UNCOMPRESSED, 1, b'6'), "expected a key of 65 bytes to begin with 04, found 06".into()),
        // No y belongs to x = 5, x is not below the field's size, y is another.
        (format!("02{:064x}", 5).into(), not_on_the_curve.into()),
        (format!("{:064x}", 5).into(), not_on_the_curve.into()),
        ([b"02".to_vec(), repeat("f", 64)].concat(), not_on_the_curve.into()),
        (repeat("f", 64), not_on_the_curve.into()),
        (repeat("0", 64), not_on_the_curve.into()),
        (with(G_UNCOMPRESSED, 129, b'9'), not_on_the_curve.into()),
        (repeat("02", 512), digits(1024)),
        (repeat("02", 513), "expected at most 1024 bytes, found more".into()),
        (repeat("02", 1 << 19), "expected at most 1024 bytes, found more".into()),
        (vec![0; 1 << 20], "expected at most 1024 bytes, found more".into()),
    ] {
        if expected.is_empty() {
            assert_eq!(status(&run(&[], &line)), 0, "one carriage return is part of the line's end");
        } else {
            assert_eq!(reason(&[], &line), expected);
        }
    }
    // The form alone counts.
    for arguments in [&["--hash160"][..], &["--unchecked", "-t", "p2pkh"]] {
        assert_eq!(status(&run(arguments, format!("02{:064x}", 5).as_bytes())), 0);
        reason(arguments, with(G, 1, b'4'));
    }
    // No input, no keys.
    check(&["-t", "p2tr"], "", "key,p2tr\n");
    check(&["--hash160"], "", "");
}

#[test]
fn all_others_are_printed() {
    let input = format!("{G}\nx\n\n{}\n{G}\n02{:064x}\n{G}", "y".repeat(1 << 20), 5);
    for threads in ["1", "3"] {
        let output = run(&["-t", "p2pkh", "--threads", threads], input.as_bytes());
        let line = format!("{G},1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH\n");
        assert_eq!(stdout(&output), format!("key,p2pkh\n{line}{line}{line}"));
        let expected = [
            "line 2: expected a public key of 64, 66 or 130 digits, found 1 characters",
            "line 3: expected a public key, found an empty line",
            "line 4: expected at most 1024 bytes, found more",
            "line 6: the key is not a point of the curve secp256k1",
        ];
        let expected = expected.map(|line| format!("hashloom: standard input: {line}\n")).concat();
        output.ends(1).tells(expected.as_str());
    }
}

#[test]
fn binary_keys() {
    let line = format!("{G_HASH160}\n");
    check(&["--hash160", "--binary", "33"], bytes(G).repeat(20_000), &line.repeat(20_000));
    // A row that is cut, and one that is no key.
    run(&["--hash160", "-b", "33"], &bytes(G).repeat(3)[..98])
        .ends(2)
        .prints(line.repeat(2).as_str())
        .tells("hashloom: standard input: row 3: expected 33 bytes, found 32\n");
    let output = run(&["--hash160", "-b", "33"], &[bytes(G), vec![4; 33], bytes(G)].concat());
    output.ends(1).prints(line.repeat(2).as_str());
    let expected = "hashloom: standard input: row 2: expected a key of 33 bytes to begin with 02 or 03, found 04\n";
    assert_eq!(stderr(&output), expected);
}

/// The place of a raw hash tells its key: nothing is printed after a key that is not right.
#[test]
fn raw_hashes_end_at_the_first_fault() {
    let end = "; --raw prints nothing of what follows\n";
    let hash = bytes(G_HASH160);
    for (nbefore, threads) in [(0, "1"), (3, "1"), (30_000, "1"), (0, "4"), (30_000, "4")] {
        let (lines, rows) = (format!("{G}\n").repeat(nbefore), bytes(G).repeat(nbefore));
        let number = nbefore + 1;
        let first = format!("expected a key of 33 bytes to begin with 02 or 03, found 04{end}");
        let digits = format!("expected a public key of 64, 66 or 130 digits, found 1 characters{end}");
        let x_only = format!("a key of 32 bytes (x-only) has no hash160{end}");
        let cut = format!("expected 33 bytes, found 5{end}");
        for (arguments, input, status_, reason) in [
            (&["-b", "33"][..], [&rows[..], &[4; 33], &rows, &[4; 33]].concat(), 1, format!("row {number}: {first}")),
            (&["-b", "33"], [&rows[..], &[2; 5]].concat(), 2, format!("row {number}: {cut}")),
            (&[], format!("{lines}z\n{lines}\n{}\n", &G[2..]).into(), 1, format!("line {number}: {digits}")),
            (&[], format!("{lines}{}\nz\n{lines}\n", &G[2..]).into(), 1, format!("line {number}: {x_only}")),
        ] {
            let output = run(&[&["--hash160", "--raw", "--threads", threads], arguments].concat(), &input);
            output.ends(status_).tells(&format!("hashloom: standard input: {reason}"));
            assert!(output.stdout == hash.repeat(nbefore), "{arguments:?}, {number}, {threads} threads");
        }
    }
    // A file that is missing has an unknown number of keys.
    let output = run(&["--hash160", "--raw", "-", "/nonexistent/none", "-"], G.as_bytes());
    assert_eq!((status(&output), output.stdout), (2, hash));
}

#[test]
#[cfg_attr(windows, ignore = "spells paths as this system does")]
fn files_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(path("a"), format!("{G}\nx")).unwrap();
    std::fs::write(path("b"), format!("{G}\n\n")).unwrap();
    let line = format!("{G_HASH160}\n");
    let output = run(&["--hash160", &path("a"), "-", &path("b")], G.as_bytes());
    output.ends(1).prints(line.repeat(3).as_str());
    let expected = format!(
        "hashloom: {}: line 2: expected a public key of 64, 66 or 130 digits, found 1 characters\n\
         hashloom: {}: line 2: expected a public key, found an empty line\n",
        path("a"),
        path("b")
    );
    assert_eq!(stderr(&output), expected);
    let output = run(&["--hash160", &path("none"), folder.path().to_str().unwrap(), &path("b")], b"");
    output.ends(2).prints(line.as_str()).says("none: No such file or directory\n").says(": Is a directory\n");
    // The names of the columns come with the first file that can be read, also if it is empty.
    std::fs::write(path("empty"), "").unwrap();
    for (file, lines, code) in [("none", 0, 2), ("empty", 1, 0), ("b", 2, 1)] {
        let output = run(&["--type", "p2pkh", &path(file)], b"");
        assert_eq!((status(&output), stdout(&output).lines().count()), (code, lines), "{file}");
    }
    run(&["--type", "p2pkh", &path("none"), &path("b")], b"").begins("key,p2pkh\n");
}

/// The order of many blocks is that of the input, with any number of threads.
#[test]
fn the_order_is_that_of_the_input() {
    // Keys that are not checked, each different, with a wrong one now and then.
    let key = |i: usize| if i % 9973 == 500 { "zz".into() } else { format!("{:02x}{i:064x}", 2 + i % 2) };
    let input: String = (0..60_000).map(|i| key(i) + "\n").collect();
    let one = run(&["--unchecked", "-t", "p2pkh", "--threads", "1"], input.as_bytes());
    let keys: Vec<&str> = stdout(&one).lines().skip(1).map(|line| line.split(',').next().unwrap()).collect();
    assert!(keys == input.lines().filter(|line| *line != "zz").collect::<Vec<_>>());
    for threads in ["2", "7"] {
        let many = run(&["--unchecked", "-t", "p2pkh", "--threads", threads], input.as_bytes());
        assert!((status(&many), many.stdout == one.stdout, many.stderr == one.stderr) == (1, true, true), "{threads}");
    }
    assert_eq!(stderr(&one).lines().count(), 6);
}

/// The secret key 1, and one of a test network (Bitcoin Core, key_io_valid.json). `test/addresses.py` has the others.
const COMPRESSED_1: &str = "KwDiBf89QgGbjEhKnhXJuH7LrciVrZi3qYjgd9M7rFU73sVHnoWn";
const OF_A_TEST_NETWORK: &str = "cV83kKisF3RQSvXbUCm9ox3kaz5JjEUBWcx8tNydfGJcyeUxuH47";

#[test]
fn the_first_and_the_last_secret_key() {
    check(&["--from-secret", "--hash160"], format!("{:064x}", 1), &format!("{G_HASH160}\n"));
    // The public key of the last one is -G.
    let order_less_1 = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364140";
    run(&["--from-secret", "-t", "p2tr"], order_less_1.as_bytes()).has(&format!("\n03{},bc1pmfr3p9j00", &G[2..]));
}

#[test]
fn secret_keys_that_are_wrong() {
    let wif = COMPRESSED_1;
    let range = "the number is no secret key: expected 1 to the order of secp256k1 less 1";
    let checksum = "the checksum of the WIF is wrong: the key was mistyped or cut";
    let characters = |found| {
        let expected = "expected a secret key of 64 hexadecimal digits, or 51 or 52 characters of base58 (WIF)";
        format!("{expected}, found {found} characters")
    };
    for (line, expected) in [
        ("\n".to_owned(), "expected a secret key, found an empty line".to_owned()),
        ("0".repeat(64), range.into()),
        ("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141".into(), range.into()),
        ("f".repeat(64), range.into()),
        ("g".repeat(64), "expected 64 hexadecimal digits, found other characters".into()),
        (wif[1..].into(), checksum.into()),
        (
            format!("{}zzzzzzzz", &wif[..44]),
            "expected WIF: 33 bytes or, for a compressed key, 34 that end in 01, and a checksum".into(),
        ),
        (wif[2..].into(), characters(50)),
        (format!("{wif}n"), characters(53)),
        (wif.replace("oWn", "oWo"), checksum.into()),
        (wif.replace("KwDi", "KwDj"), checksum.into()),
        (wif.replace('s', "l"), "expected base58 (WIF), found other characters or a number too large".into()),
        ("z".repeat(52), "expected base58 (WIF), found other characters or a number too large".into()),
        (OF_A_TEST_NETWORK.into(), "a key of a test network: use --network test, signet or regtest".into()),
        ("0".repeat(63), characters(63)),
        ("1".repeat(1 << 20), "expected at most 1024 bytes, found more".into()),
        ("1".repeat(51), "expected base58 (WIF), found other characters or a number too large".into()),
    ] {
        let found = reason(&["--from-secret"], &line);
        assert_eq!(found, expected, "{}", &line[..line.len().min(100)]);
    }
    let found = reason(&["--from-secret", "-n", "signet"], wif);
    assert_eq!(found, "a key of the network main, not signet: use --network main");
}

#[test]
fn usage() {
    let wrong = "--from-secret file | --from-secret - | --from-secret --binary 33 | --from-secret --decode | \
        --binary 34 | --binary -1 | --raw | --hash160 --json | --hash160 --binary 32 | --hash160 --type p2pkh | \
        --decode --network main | --decode --type p2pkh | --type p2pk | --type p2pkh,p2pkh | --network litecoin | \
        --unchecked | --unchecked --type p2tr | --threads 0";
    for words in wrong.split('|') {
        let arguments: Vec<&str> = words.split_whitespace().collect();
        let output = run(&arguments, b"");
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{words}");
        assert!(stderr(&output).starts_with("hashloom: "), "{words}: {}", stderr(&output));
    }
    // Secret keys are refused as arguments, and not repeated.
    let secret = COMPRESSED_1;
    for arguments in [&["--from-secret", secret][..], &[&format!("--from-secret={secret}")]] {
        let output = run(arguments, b"");
        assert_eq!((status(&output), stdout(&output)), (2, ""), "{arguments:?}");
        assert!(!stderr(&output).contains(&secret[..8]), "{}", stderr(&output));
    }
}
