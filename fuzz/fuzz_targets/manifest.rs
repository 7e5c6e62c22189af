// SPDX-License-Identifier: MIT OR Apache-2.0

//! Reads any input. There is no panic. An accepted manifest is sorted, its paths stay in the folder, and it is the same
//! after writing and reading. The last line of an input is computed to fit, as otherwise no input would be accepted. A
//! manifest is equal to itself; compared with a part of itself, the rest was removed or added.

#![no_main]

use hashloom::{Algorithm, hash};
use hashloom_files::paths::by_components;
use hashloom_manifest::{Comparison, Difference, Entry, Kind, Reader, Status, Totals, Writer};
use libfuzzer_sys::fuzz_target;

fn read(bytes: &[u8]) -> Option<(Vec<Algorithm>, Vec<Entry>, Totals)> {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(error) => {
            assert_eq!(error.line, 1);
            assert!(error.to_string().len() < 8192 + bytes.len());
            return None;
        }
    };
    let algorithms = reader.algorithms().to_vec();
    let mut entries = Vec::new();
    for entry in &mut reader {
        match entry {
            Ok(entry) => entries.push(entry),
            Err(error) => {
                assert_eq!(error.line, entries.len() as u64 + 2);
                assert!(error.to_string().len() < 8192 + 4 * bytes.len());
                return None;
            }
        }
    }
    let totals = reader.totals().expect("read to its end");
    Some((algorithms, entries, totals))
}

fn write(algorithms: &[Algorithm], entries: &[Entry]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), algorithms).unwrap();
    entries.iter().for_each(|entry| writer.write(entry).unwrap());
    writer.finish().unwrap()
}

fn compare(old: &[u8], new: &[Entry], algorithms: &[Algorithm]) -> Vec<Status> {
    let mut comparison = Comparison::new(Reader::new(old).unwrap(), algorithms, algorithms).unwrap();
    let mut found = Vec::new();
    let mut each = |difference: Difference| found.push(difference.status);
    for entry in new {
        comparison.found(entry.clone(), &mut each).unwrap();
    }
    comparison.finish(&mut each).unwrap();
    found
}

fuzz_target!(|input: &[u8]| {
    let _ = read(input);
    // The counts and the digest that the lines have.
    let mut bytes = input.to_vec();
    let last = input.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    bytes.truncate(last);
    let count =
        |part: &str| bytes.split(|&byte| byte == b'\n').filter(|line| line.starts_with(part.as_bytes())).count();
    let counts = ["file", "link", "folder", "unread"].map(|name| count(&format!("{{\"type\":\"{name}\"")));
    let [files, links, folders, unread] = counts;
    // A size is the number after the key. A link target that contains the key makes the sum wrong, and the manifest is
    // refused.
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let sizes = text.split("\"size\":").skip(1).map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap());
    let nbytes = sizes.fold(0u64, |sum, size| sum.wrapping_add(size.parse().unwrap_or(0)));
    let digest = hash(Algorithm::Sha256, &bytes);
    let end = format!(
        "{{\"type\":\"end\",\"files\":{files},\"links\":{links},\"folders\":{folders},\"unread\":{unread},\
         \"bytes\":{nbytes},\"sha256\":\"{digest}\"}}\n"
    );
    bytes.extend_from_slice(end.as_bytes());
    let Some((algorithms, entries, totals)) = read(&bytes) else { return };

    for pair in entries.windows(2) {
        assert!(by_components(&pair[0].path, &pair[1].path).is_lt());
    }
    let mut sum = 0;
    for entry in &entries {
        for component in entry.path.split(|&byte| byte == b'/') {
            assert!(!matches!(component, b"" | b"." | b"..") && !component.contains(&0));
        }
        if let Kind::File { nbytes, digests, .. } = &entry.kind {
            sum += nbytes;
            assert!(digests.len() == algorithms.len());
        }
    }
    assert_eq!(totals.nbytes, sum);

    let written = write(&algorithms, &entries);
    let (algorithms_again, again, totals_again) = read(&written).expect("what was written is read");
    assert_eq!((&algorithms_again, &again, totals_again), (&algorithms, &entries, totals));
    assert_eq!(write(&algorithms, &again), written);

    let is_unread = |entry: &&Entry| matches!(entry.kind, Kind::Unread(_));
    let nunread = entries.iter().filter(is_unread).count();
    assert_eq!(compare(&written, &entries, &algorithms).len(), nunread);
    // Half of the manifest. If a folder is left out, so are its entries, which follow it.
    let half: Vec<Entry> = entries[..entries.len() / 2].to_vec();
    let gone = entries.len() - half.len();
    let of = |found: &[Status], status| found.iter().filter(|&&other| other == status).count();
    assert_eq!(of(&compare(&written, &half, &algorithms), Status::Removed), gone);
    let nunread_gone = entries[half.len()..].iter().filter(is_unread).count();
    assert_eq!(of(&compare(&write(&algorithms, &half), &entries, &algorithms), Status::Added), gone - nunread_gone);
});
