//! Exception tables, which code objects have since 3.11: the handlers of each range of
//! instructions.

use std::ops::Range;

/// A range of code whose exceptions go to a handler.
///
/// Positions are code units in the table itself, and instruction numbers once read by
/// [`super::instructions`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExceptionEntry {
    /// The first position of the range.
    pub(crate) start: usize,
    /// The first position after the range.
    pub(crate) end: usize,
    /// The position of the handler.
    pub(crate) handler: usize,
    /// The depth to which the stack is unwound, and the flag [`PUSH_LASTI`].
    pub(crate) depth_and_lasti: usize,
}

/// The bit of [`ExceptionEntry::depth_and_lasti`] that requests pushing the offset of the raising
/// instruction.
pub(crate) const PUSH_LASTI: usize = 1;

/// Sends the exceptions of uncovered code to a handler, which finds only the offset and the
/// exception on the stack.
pub(crate) fn cover_gaps(
    exception_entries: &mut Vec<ExceptionEntry>,
    code: Range<usize>,
    handler: usize,
) {
    let parsed = std::mem::take(exception_entries);
    let mut position = code.start;
    let protect = |exception_entries: &mut Vec<ExceptionEntry>, start: usize, end: usize| {
        if start < end {
            exception_entries.push(ExceptionEntry {
                start,
                end,
                handler,
                depth_and_lasti: PUSH_LASTI,
            });
        }
    };
    for entry in parsed {
        protect(exception_entries, position, entry.start);
        position = position.max(entry.end);
        exception_entries.push(entry);
    }
    protect(exception_entries, position, code.end);
}

/// Reads a table. Returns `None` if it is malformed.
pub(crate) fn read(table: &[u8]) -> Option<Vec<ExceptionEntry>> {
    let mut reader = VarintReader(table.iter());
    let mut found = Vec::new();
    while let Some(start) = reader.next() {
        let length = reader.next()?;
        found.push(ExceptionEntry {
            start,
            end: start + length,
            handler: reader.next()?,
            depth_and_lasti: reader.next()?,
        });
    }
    Some(found)
}

/// Writes a table.
pub(crate) fn write(exception_entries: &[ExceptionEntry]) -> Vec<u8> {
    let mut table = Vec::new();
    for entry in exception_entries {
        let starts_entry = true;
        write_number(&mut table, entry.start, starts_entry);
        write_number(&mut table, entry.end - entry.start, false);
        write_number(&mut table, entry.handler, false);
        write_number(&mut table, entry.depth_and_lasti, false);
    }
    table
}

/// Reads variable-length numbers: six bits per byte, the most significant first. Bit 6 marks
/// continuation, bit 7 the start of an entry.
struct VarintReader<'a>(std::slice::Iter<'a, u8>);

impl Iterator for VarintReader<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let mut byte = *self.0.next()?;
        let mut number = usize::from(byte & 63);
        while byte & 64 != 0 {
            byte = *self.0.next()?;
            number = number << 6 | usize::from(byte & 63);
        }
        Some(number)
    }
}

/// Writes a variable-length number.
fn write_number(table: &mut Vec<u8>, number: usize, starts_entry: bool) {
    let first = table.len();
    let digits = (1..6)
        .take_while(|digit| number >> (6 * digit) != 0)
        .count();
    for digit in (0..=digits).rev() {
        let more = if digit > 0 { 64 } else { 0 };
        table.push((number >> (6 * digit) & 63) as u8 | more);
    }
    if starts_entry {
        table[first] |= 128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exception_tables_survive_a_round_trip() {
        let exception_entries: Vec<ExceptionEntry> =
            [(0, 1, 5), (63, 64, 65), (4095, 5000, 70_000)]
                .map(|(start, end, handler)| ExceptionEntry {
                    start,
                    end,
                    handler,
                    depth_and_lasti: 3,
                })
                .into();
        let table = write(&exception_entries);
        assert_eq!(read(&table), Some(exception_entries));
        assert_eq!(table.iter().filter(|byte| **byte & 128 != 0).count(), 3);
    }

    #[test]
    fn the_rest_can_be_protected() {
        let entry = |start, end, handler| ExceptionEntry {
            start,
            end,
            handler,
            depth_and_lasti: PUSH_LASTI,
        };
        let mut exception_entries = vec![entry(3, 5, 9), entry(5, 7, 11)];
        cover_gaps(&mut exception_entries, 1..20, 20);
        let expected = [(1, 3, 20), (3, 5, 9), (5, 7, 11), (7, 20, 20)];
        let expected = expected.map(|(start, end, handler)| entry(start, end, handler));
        assert_eq!(exception_entries, expected);
    }

    #[test]
    fn a_broken_table_is_refused() {
        assert_eq!(read(&[128, 1]), None);
    }
}
