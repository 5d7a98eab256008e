//! Writing and reading of the bytes that packed values and keys consist of.

use std::hash::{DefaultHasher, Hasher};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// Returns a 128-bit hash that is the same in every process.
pub(crate) fn hash(bytes: &[u8]) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        hasher.write_u8(salt);
        hasher.write(bytes);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

/// Appends a text exactly, lone surrogates included.
pub(super) fn put_text(text: &Bound<'_, PyString>, bytes: &mut Vec<u8>) -> PyResult<()> {
    if let Ok(text) = text.to_str() {
        put_bytes(bytes, b's', text.as_bytes());
    } else {
        let encoded = text.call_method1("encode", ("utf-8", "surrogatepass"))?;
        put_bytes(bytes, b'z', encoded.cast::<PyBytes>()?.as_bytes());
    }
    Ok(())
}

/// Takes items that are all small integers, of two bytes each. Takes nothing otherwise.
pub(super) fn take_small_numbers<'b>(
    bytes: &mut &'b [u8],
    length: usize,
) -> Option<impl ExactSizeIterator<Item = i64> + use<'b>> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let is_small = |[tag, number]: &[u8; 2]| *tag == b'i' && *number < 0x80;
    let pairs = pairs.get(..length)?;
    pairs.iter().all(is_small).then(|| {
        take(bytes, 2 * length);
        pairs
            .iter()
            .map(|[_, folded]| zigzag_decode(u64::from(*folded)))
    })
}

/// Appends a tag, a length and bytes.
pub(super) fn put_bytes(bytes: &mut Vec<u8>, tag: u8, content: &[u8]) {
    put_length(bytes, tag, content.len());
    bytes.extend_from_slice(content);
}

/// Appends a tag and an integer in zigzag encoding.
pub(super) fn put_number(bytes: &mut Vec<u8>, tag: u8, number: i64) {
    bytes.push(tag);
    put_varint(bytes, (number << 1 ^ number >> 63) as u64);
}

/// Appends a tag and a length.
pub(super) fn put_length(bytes: &mut Vec<u8>, tag: u8, length: usize) {
    bytes.push(tag);
    put_varint(bytes, length as u64);
}

/// Appends a variable-length number: seven bits per byte, the highest bit marks continuation.
pub(crate) fn put_varint(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes a variable-length number.
pub(crate) fn take_varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for (index, byte) in bytes.iter().enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            *bytes = &bytes[index + 1..];
            break;
        }
    }
    number
}

/// Takes an integer in zigzag encoding.
pub(super) fn take_number(bytes: &mut &[u8]) -> i64 {
    zigzag_decode(take_varint(bytes))
}

/// Decodes a zigzag-encoded number: the lowest bit is the sign.
fn zigzag_decode(folded: u64) -> i64 {
    (folded >> 1) as i64 ^ -((folded & 1) as i64)
}

/// Takes a length.
pub(super) fn take_length(bytes: &mut &[u8]) -> usize {
    take_varint(bytes) as usize
}

/// Takes bytes from the front.
pub(super) fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}
