// SPDX-License-Identifier: MIT OR Apache-2.0

//! Values to write. The output of any value built here is canonical.

use std::collections::BTreeMap;

/// A value that is built and then written: keys sorted, nothing superfluous.
///
/// ```
/// use hashloom_torrent::bencode::Item;
///
/// let mut info = Item::dictionary();
/// info.insert("name", "alice.txt");
/// info.insert("length", 163783);
/// assert_eq!(info.encode(), b"d6:lengthi163783e4:name9:alice.txte");
/// let list: Item = [Item::from(1), Item::from("a"), Item::Raw(b"de".to_vec())].into_iter().collect();
/// assert_eq!(list.encode(), b"li1e1:adee");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// `i…e`
    Integer(i64),
    /// `length:bytes`
    String(Vec<u8>),
    /// `l…e`
    List(Vec<Item>),
    /// `d…e`
    Dictionary(BTreeMap<Vec<u8>, Item>),
    /// Bencode as it stands, such as the `info` dictionary of a torrent, whose digest must not change.
    Raw(Vec<u8>),
}

impl Item {
    /// An empty dictionary.
    pub fn dictionary() -> Item {
        Item::Dictionary(BTreeMap::new())
    }

    /// Puts a value into a dictionary; it replaces an earlier value of the key.
    ///
    /// # Panics
    /// If this is not a dictionary.
    pub fn insert(&mut self, key: impl AsRef<[u8]>, value: impl Into<Item>) {
        let Item::Dictionary(entries) = self else { panic!("Item::insert: not a dictionary") };
        entries.insert(key.as_ref().to_vec(), value.into());
    }

    /// The bencoded bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.encode_to(&mut out);
        out
    }

    /// Appends the bencoded bytes to `out`.
    fn encode_to(&self, out: &mut Vec<u8>) {
        match self {
            Item::Integer(value) => out.extend_from_slice(format!("i{value}e").as_bytes()),
            Item::String(bytes) => encode_string(bytes, out),
            Item::List(items) => {
                out.push(b'l');
                items.iter().for_each(|item| item.encode_to(out));
                out.push(b'e');
            }
            Item::Dictionary(entries) => {
                out.push(b'd');
                for (key, value) in entries {
                    encode_string(key, out);
                    value.encode_to(out);
                }
                out.push(b'e');
            }
            Item::Raw(bytes) => out.extend_from_slice(bytes),
        }
    }
}

/// Appends `length:bytes` to `out`.
pub fn encode_string(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(format!("{}:", bytes.len()).as_bytes());
    out.extend_from_slice(bytes);
}

impl From<i64> for Item {
    fn from(value: i64) -> Item {
        Item::Integer(value)
    }
}

impl From<Vec<u8>> for Item {
    fn from(bytes: Vec<u8>) -> Item {
        Item::String(bytes)
    }
}

impl From<&[u8]> for Item {
    fn from(bytes: &[u8]) -> Item {
        Item::String(bytes.to_vec())
    }
}

impl From<&str> for Item {
    fn from(text: &str) -> Item {
        Item::String(text.into())
    }
}

impl FromIterator<Item> for Item {
    /// A list.
    fn from_iter<I: IntoIterator<Item = Item>>(items: I) -> Item {
        Item::List(items.into_iter().collect())
    }
}
