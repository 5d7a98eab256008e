//! Which instructions are protected by which handlers: the table that code objects have since 3.11.

use std::ops::Range;

/// A stretch of code whose exceptions go to a handler.
///
/// In the table itself places are code units; once read by [`super::instructions`] they are numbers of instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Protection {
    pub(crate) start: usize,
    /// The first place that is not protected any more.
    pub(crate) end: usize,
    pub(crate) handler: usize,
    /// How deep the stack is kept, and whether the place of the exception is put on it.
    pub(crate) depth_and_place: usize,
}

/// The bit of [`Protection::depth_and_place`] that says that the place of the exception is put on the stack.
pub(crate) const WITH_PLACE: usize = 1;

/// Sends the exceptions of code that is not protected to a handler, which finds nothing on the stack but the place
/// and the exception.
pub(crate) fn protect_the_rest(
    protections: &mut Vec<Protection>,
    code: Range<usize>,
    handler: usize,
) {
    let taken = std::mem::take(protections);
    let mut place = code.start;
    let protect = |protections: &mut Vec<Protection>, start: usize, end: usize| {
        if start < end {
            protections.push(Protection {
                start,
                end,
                handler,
                depth_and_place: WITH_PLACE,
            });
        }
    };
    for protection in taken {
        protect(protections, place, protection.start);
        place = place.max(protection.end);
        protections.push(protection);
    }
    protect(protections, place, code.end);
}

/// Reads a table, or `None` if it is broken.
pub(crate) fn read(table: &[u8]) -> Option<Vec<Protection>> {
    let mut numbers = Numbers(table.iter());
    let mut found = Vec::new();
    while let Some(start) = numbers.next() {
        let length = numbers.next()?;
        found.push(Protection {
            start,
            end: start + length,
            handler: numbers.next()?,
            depth_and_place: numbers.next()?,
        });
    }
    Some(found)
}

/// Writes a table.
pub(crate) fn write(protections: &[Protection]) -> Vec<u8> {
    let mut table = Vec::new();
    for protection in protections {
        let begins_entry = true;
        write_number(&mut table, protection.start, begins_entry);
        write_number(&mut table, protection.end - protection.start, false);
        write_number(&mut table, protection.handler, false);
        write_number(&mut table, protection.depth_and_place, false);
    }
    table
}

/// Six bits a byte, the most significant first; bit 6 says that more follow, bit 7 marks the start of an entry.
struct Numbers<'a>(std::slice::Iter<'a, u8>);

impl Iterator for Numbers<'_> {
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

fn write_number(table: &mut Vec<u8>, number: usize, begins_entry: bool) {
    let first = table.len();
    let digits = (1..6)
        .take_while(|digit| number >> (6 * digit) != 0)
        .count();
    for digit in (0..=digits).rev() {
        let more = if digit > 0 { 64 } else { 0 };
        table.push((number >> (6 * digit) & 63) as u8 | more);
    }
    if begins_entry {
        table[first] |= 128;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let protections: Vec<Protection> = [(0, 1, 5), (63, 64, 65), (4095, 5000, 70_000)]
            .map(|(start, end, handler)| Protection {
                start,
                end,
                handler,
                depth_and_place: 3,
            })
            .into();
        let table = write(&protections);
        assert_eq!(read(&table), Some(protections));
        assert_eq!(table.iter().filter(|byte| **byte & 128 != 0).count(), 3);
    }

    #[test]
    fn the_rest_can_be_protected() {
        let protection = |start, end, handler| Protection {
            start,
            end,
            handler,
            depth_and_place: WITH_PLACE,
        };
        let mut protections = vec![protection(3, 5, 9), protection(5, 7, 11)];
        protect_the_rest(&mut protections, 1..20, 20);
        let expected = [(1, 3, 20), (3, 5, 9), (5, 7, 11), (7, 20, 20)];
        let expected = expected.map(|(start, end, handler)| protection(start, end, handler));
        assert_eq!(protections, expected);
    }

    #[test]
    fn a_broken_table_is_refused() {
        assert_eq!(read(&[128, 1]), None);
    }
}
