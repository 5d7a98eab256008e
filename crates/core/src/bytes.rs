//! Encoding of tests as bytes, for fuzzers.
//!
//! A fuzzer mutates bytes and knows nothing of actions. So that any bytes are a test, each step is
//! a number: the position of its action among the selected ones, little-endian, in as many bytes as
//! the number of actions needs. A number that is too large wraps around.
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

/// Returns the number of bytes per step for this many actions.
pub fn width(actions: u64) -> usize {
    match actions {
        0..=255 => 1,
        256..=65_536 => 2,
        _ => 4,
    }
}

/// Encodes positions of actions as bytes.
pub fn write(positions: impl IntoIterator<Item = u64>, width: usize) -> Vec<u8> {
    let bytes = |position: u64| position.to_le_bytes().into_iter().take(width);
    positions.into_iter().flat_map(bytes).collect()
}

/// Decodes bytes into positions below `actions`. An incomplete step at the end is ignored.
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
        fn positions_survive_a_round_trip(actions in 1u64..100_000, seeds in prop::collection::vec(any::<u64>(), 0..20)) {
            let positions: Vec<u64> = seeds.iter().map(|seed| seed % actions).collect();
            let data = write(positions.iter().copied(), width(actions));
            prop_assert_eq!(read(&data, width(actions), actions).collect::<Vec<_>>(), positions);
        }
    }
}
