// SPDX-License-Identifier: MIT OR Apache-2.0

//! One bit for each piece.

use std::fmt;

use super::verify::PieceState;

/// A set of pieces, one bit each, in the order of BitTorrent's `bitfield` message (BEP 3). The highest bit of the first
/// byte is piece 0; spare bits at the end are 0.
///
/// ```
/// use hashloom_torrent::{Bitfield, BitfieldError};
///
/// let mut have = Bitfield::none(10);
/// have.set(0, true);
/// have.set(9, true);
/// assert_eq!(have.as_bytes(), [0x80, 0x40]);
/// assert_eq!((have.len(), have.count(), have.get(9)), (10, 2, true));
/// assert_eq!(have.ones().collect::<Vec<_>>(), [0, 9]);
/// assert_eq!(Bitfield::from_bytes(&[0x80, 0x40], 10)?, have);
/// assert!(Bitfield::all(10).is_complete() && !have.is_complete());
/// assert_eq!(Bitfield::from_bytes(&[1], 7), Err(BitfieldError::SpareBit { bit: 7, pieces: 7 }));
/// # Ok::<(), BitfieldError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Bitfield {
    bytes: Vec<u8>,
    npieces: usize,
}

/// Why bytes are not the bitfield of a number of pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BitfieldError {
    /// There are too many or too few bytes.
    Length {
        /// Bytes needed for the number of pieces.
        expected: usize,
        /// Bytes found.
        found: usize,
        /// Number of pieces.
        pieces: usize,
    },
    /// A bit after the last piece is set.
    SpareBit {
        /// The bit's number.
        bit: usize,
        /// Number of pieces.
        pieces: usize,
    },
}

impl fmt::Display for BitfieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BitfieldError::Length { expected, found, pieces } => {
                write!(f, "a bitfield of {pieces} pieces has {expected} bytes, found {found}")
            }
            BitfieldError::SpareBit { bit, pieces } => {
                write!(f, "bit {bit} is set, but there are only {pieces} pieces")
            }
        }
    }
}

impl std::error::Error for BitfieldError {}

impl Bitfield {
    /// No piece out of `npieces`.
    pub fn none(npieces: usize) -> Bitfield {
        Bitfield { bytes: vec![0; npieces.div_ceil(8)], npieces }
    }

    /// All `npieces` pieces.
    pub fn all(npieces: usize) -> Bitfield {
        let mut bytes = vec![0xff; npieces.div_ceil(8)];
        if let (Some(last), spare @ 1..) = (bytes.last_mut(), npieces.wrapping_neg() % 8) {
            *last <<= spare;
        }
        Bitfield { bytes, npieces }
    }

    /// Reads the payload of a `bitfield` message for `npieces` pieces.
    ///
    /// # Errors
    ///
    /// If `bytes` has another length than `npieces` pieces need, or a spare bit is set: a client has to drop the
    /// connection then (BEP 3).
    pub fn from_bytes(bytes: &[u8], npieces: usize) -> Result<Bitfield, BitfieldError> {
        let expected = npieces.div_ceil(8);
        if bytes.len() != expected {
            return Err(BitfieldError::Length { expected, found: bytes.len(), pieces: npieces });
        }
        let bitfield = Bitfield { bytes: bytes.to_vec(), npieces };
        match (npieces..expected * 8).find(|&bit| bitfield.bit(bit)) {
            Some(bit) => Err(BitfieldError::SpareBit { bit, pieces: npieces }),
            None => Ok(bitfield),
        }
    }

    /// The bytes of a `bitfield` message.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Number of pieces, in the set or not.
    pub fn len(&self) -> usize {
        self.npieces
    }

    /// Whether the number of pieces is 0.
    pub fn is_empty(&self) -> bool {
        self.npieces == 0
    }

    /// Whether a piece is in the set.
    ///
    /// # Panics
    /// If the piece does not exist.
    pub fn get(&self, piece: usize) -> bool {
        assert!(piece < self.npieces, "Bitfield::get: piece {piece} of {}", self.npieces);
        self.bit(piece)
    }

    fn bit(&self, bit: usize) -> bool {
        self.bytes[bit / 8] & 0x80 >> (bit % 8) != 0
    }

    /// Sets whether a piece is in the set.
    ///
    /// # Panics
    /// If the piece does not exist.
    pub fn set(&mut self, piece: usize, there: bool) {
        assert!(piece < self.npieces, "Bitfield::set: piece {piece} of {}", self.npieces);
        let bit = 0x80 >> (piece % 8);
        if there { self.bytes[piece / 8] |= bit } else { self.bytes[piece / 8] &= !bit }
    }

    /// Number of pieces in the set.
    pub fn count(&self) -> usize {
        self.bytes.iter().map(|byte| byte.count_ones() as usize).sum()
    }

    /// Whether all pieces are in the set.
    pub fn is_complete(&self) -> bool {
        self.count() == self.npieces
    }

    /// The same set among another number of pieces.
    pub(super) fn resized(self, npieces: usize) -> Bitfield {
        if self.npieces == npieces {
            return self;
        }
        let mut resized = Bitfield::none(npieces);
        self.ones().take_while(|&piece| piece < npieces).for_each(|piece| resized.set(piece, true));
        resized
    }

    /// The pieces in the set, in order.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.npieces).filter(|&piece| self.bit(piece))
    }
}

impl From<&[PieceState]> for Bitfield {
    /// The pieces that are right according to [`verify`](super::verify()).
    fn from(states: &[PieceState]) -> Bitfield {
        let mut bitfield = Bitfield::none(states.len());
        let right = states.iter().enumerate().filter(|(_, state)| **state == PieceState::Have);
        right.for_each(|(piece, _)| bitfield.set(piece, true));
        bitfield
    }
}

impl fmt::Debug for Bitfield {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bitfield({} of {})", self.count(), self.npieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_stand_where_bep_3_wants_them() {
        for len in 0..40 {
            let all = Bitfield::all(len);
            assert_eq!((all.count(), all.ones().count(), all.is_complete()), (len, len, true));
            assert_eq!(Bitfield::from_bytes(all.as_bytes(), len), Ok(all.clone()));
            let mut none = all.clone();
            (0..len).for_each(|piece| none.set(piece, false));
            assert_eq!(none, Bitfield::none(len));
            for spare in len..len.next_multiple_of(8) {
                let mut bytes = all.as_bytes().to_vec();
                bytes[spare / 8] |= 0x80 >> (spare % 8);
                let error = BitfieldError::SpareBit { bit: spare, pieces: len };
                assert_eq!(Bitfield::from_bytes(&bytes, len), Err(error));
            }
        }
        let error = Bitfield::from_bytes(&[0; 3], 10).unwrap_err();
        assert_eq!(error.to_string(), "a bitfield of 10 pieces has 2 bytes, found 3");
    }

    #[test]
    fn only_right_pieces_count() {
        use PieceState::*;
        let bitfield = Bitfield::from(&[Have, Bad, Missing, Unread, Unchecked, Have, Bad, Bad, Have][..]);
        assert_eq!(bitfield.as_bytes(), [0x84, 0x80]);
    }
}
