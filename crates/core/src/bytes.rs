//! Tests as bytes, as fuzzers make and keep them.
//!
//! A fuzzer knows nothing of actions, it changes bytes. So that any bytes are a test, each step is a number: the place
//! of its action among those that are switched on, little-endian, in as many bytes as the number of actions needs,
//! and a number that is too large starts again from the first.
//!
//! ```
//! use testwright_core::bytes;
//!
//! let width = bytes::width(300);
//! let data = bytes::write([1, 299], width);
//! assert_eq!(data, [1, 0, 43, 1]);
//! assert_eq!(bytes::read(&data, width, 300).collect::<Vec<_>>(), [1, 299]);
//! assert_eq!(bytes::read(&[3, 1], width, 200).collect::<Vec<_>>(), [259 % 200]);
//! ```

/// How many bytes a step takes if there are so many actions.
pub fn width(actions: u64) -> usize {
    match actions {
        0..=255 => 1,
        256..=65_536 => 2,
        _ => 4,
    }
}

/// The bytes for the places of actions.
pub fn write(places: impl IntoIterator<Item = u64>, width: usize) -> Vec<u8> {
    let bytes = |place: u64| place.to_le_bytes().into_iter().take(width);
    places.into_iter().flat_map(bytes).collect()
}

/// The places of actions that bytes stand for, of so many actions. Bytes at the end that make no whole step are left out.
pub fn read(data: &[u8], width: usize, actions: u64) -> impl Iterator<Item = u64> {
    let number = |bytes: &[u8]| {
        let digits = bytes.iter().rev();
        digits.fold(0, |number, byte| number << 8 | u64::from(*byte))
    };
    data.chunks_exact(width.max(1))
        .filter_map(move |bytes| number(bytes).checked_rem(actions))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn steps_are_as_wide_as_they_must_be() {
        assert_eq!([0, 255, 256, 65_536, 65_537].map(width), [1, 1, 2, 2, 4]);
        assert_eq!(read(&[1, 2, 3], 1, 0).count(), 0, "nothing to choose from");
        assert_eq!(read(&[1, 0, 3], 2, 9).collect::<Vec<_>>(), [1]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(actions in 1u64..100_000, seeds in prop::collection::vec(any::<u64>(), 0..20)) {
            let places: Vec<u64> = seeds.iter().map(|seed| seed % actions).collect();
            let data = write(places.iter().copied(), width(actions));
            prop_assert_eq!(read(&data, width(actions), actions).collect::<Vec<_>>(), places);
        }
    }
}
