//! Where in the source each instruction comes from: three formats, of 3.9, of 3.10 and of later versions.

/// A place in the source. Without a line for code that the compiler made up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: Option<u32>,
    /// Last line, first column, column after the end; since 3.11.
    pub(crate) span: Option<(u32, u32, u32)>,
}

/// The place of every code unit; `None` if the table is broken.
pub(crate) fn read(minor: u8, table: &[u8], first_line: u32, units: usize) -> Option<Vec<Place>> {
    match minor {
        11.. => locations::read(table, first_line, units),
        10 => ranges::read(table, first_line, units),
        _ => steps::read(table, first_line, units),
    }
}

/// A table for code whose units have these places, run by run: (units, place).
pub(crate) fn write(minor: u8, runs: &[(usize, Place)], first_line: u32) -> Vec<u8> {
    match minor {
        11.. => locations::write(runs, first_line),
        10 => ranges::write(runs, first_line),
        _ => steps::write(runs, first_line),
    }
}

/// Since 3.11: entries for up to eight units each, with lines and columns.
mod locations {
    use super::Place;

    const ONE_LINE: u8 = 10;
    const NO_COLUMNS: u8 = 13;
    const LONG: u8 = 14;
    const NONE: u8 = 15;

    pub(super) fn read(table: &[u8], first_line: u32, units: usize) -> Option<Vec<Place>> {
        let mut places = Vec::with_capacity(units);
        let mut line = i64::from(first_line);
        let mut bytes = table.iter().copied();
        while let Some(head) = bytes.next() {
            let length = usize::from(head & 7) + 1;
            let place = match head >> 3 & 15 {
                NONE => Place::default(),
                NO_COLUMNS => {
                    line += signed(&mut bytes)?;
                    Place {
                        line: u32::try_from(line).ok(),
                        span: None,
                    }
                }
                LONG => {
                    line += signed(&mut bytes)?;
                    let start = u32::try_from(line).ok()?;
                    let end_line = start + unsigned(&mut bytes)?;
                    let (column, end_column) = (unsigned(&mut bytes)?, unsigned(&mut bytes)?);
                    // Columns are stored plus one, so that zero can mean none.
                    let columns = column.checked_sub(1).zip(end_column.checked_sub(1));
                    Place {
                        line: Some(start),
                        span: columns.map(|(column, end)| (end_line, column, end)),
                    }
                }
                code @ ONE_LINE..NO_COLUMNS => {
                    line += i64::from(code - ONE_LINE);
                    let start = u32::try_from(line).ok()?;
                    let (column, end) = (u32::from(bytes.next()?), u32::from(bytes.next()?));
                    Place {
                        line: Some(start),
                        span: Some((start, column, end)),
                    }
                }
                code => {
                    let start = u32::try_from(line).ok()?;
                    let second = bytes.next()?;
                    let column = u32::from(code) << 3 | u32::from(second >> 4);
                    Place {
                        line: Some(start),
                        span: Some((start, column, column + u32::from(second & 15))),
                    }
                }
            };
            places.resize(places.len() + length, place);
        }
        (places.len() == units).then_some(places)
    }

    pub(super) fn write(runs: &[(usize, Place)], first_line: u32) -> Vec<u8> {
        let mut table = Vec::new();
        let mut line = i64::from(first_line);
        for &(units, place) in runs {
            let mut left = units;
            while left > 0 {
                let length = left.min(8);
                left -= length;
                let head = |code: u8| 128 | code << 3 | (length as u8 - 1);
                let Some(own) = place.line else {
                    table.push(head(NONE));
                    continue;
                };
                let step = i64::from(own) - line;
                line = i64::from(own);
                match place.span {
                    None => {
                        table.push(head(NO_COLUMNS));
                        write_signed(&mut table, step);
                    }
                    // Only the first byte of an entry may have its highest bit set.
                    Some((end_line, column, end))
                        if end_line == own && (0..3).contains(&step) && column.max(end) < 128 =>
                    {
                        table.extend([head(ONE_LINE + step as u8), column as u8, end as u8]);
                    }
                    Some((end_line, column, end)) => {
                        table.push(head(LONG));
                        write_signed(&mut table, step);
                        write_unsigned(&mut table, u64::from(end_line - own));
                        write_unsigned(&mut table, u64::from(column) + 1);
                        write_unsigned(&mut table, u64::from(end) + 1);
                    }
                }
            }
        }
        table
    }

    fn unsigned(bytes: &mut impl Iterator<Item = u8>) -> Option<u32> {
        let mut byte = bytes.next()?;
        let mut number = u32::from(byte & 63);
        let mut shift = 0;
        while byte & 64 != 0 {
            byte = bytes.next()?;
            shift += 6;
            number |= u32::from(byte & 63).checked_shl(shift)?;
        }
        Some(number)
    }

    fn signed(bytes: &mut impl Iterator<Item = u8>) -> Option<i64> {
        let number = i64::from(unsigned(bytes)?);
        Some(if number & 1 != 0 {
            -(number >> 1)
        } else {
            number >> 1
        })
    }

    fn write_unsigned(table: &mut Vec<u8>, mut number: u64) {
        while number >= 64 {
            table.push((number & 63) as u8 | 64);
            number >>= 6;
        }
        table.push(number as u8);
    }

    fn write_signed(table: &mut Vec<u8>, number: i64) {
        let sign = u64::from(number < 0);
        write_unsigned(table, number.unsigned_abs() << 1 | sign);
    }
}

/// 3.10: pairs of a length in bytes and a step in lines; -128 for no line.
mod ranges {
    use super::Place;

    const NO_LINE: i8 = -128;

    pub(super) fn read(table: &[u8], first_line: u32, units: usize) -> Option<Vec<Place>> {
        let mut places = Vec::with_capacity(units);
        let mut line = i64::from(first_line);
        for pair in table.chunks_exact(2) {
            let step = pair[1] as i8;
            let own = if step == NO_LINE {
                None
            } else {
                line += i64::from(step);
                Some(u32::try_from(line).ok()?)
            };
            let place = Place {
                line: own,
                span: None,
            };
            places.resize(places.len() + usize::from(pair[0]) / 2, place);
        }
        (places.len() == units).then_some(places)
    }

    pub(super) fn write(runs: &[(usize, Place)], first_line: u32) -> Vec<u8> {
        let mut table = Vec::new();
        let mut line = i64::from(first_line);
        for &(units, place) in runs {
            let mut left = 2 * units;
            let mut step = place.line.map(|own| i64::from(own) - line);
            line = place.line.map_or(line, i64::from);
            // Steps of more than a byte are spread over entries without length.
            while let Some(far) = step.filter(|step| !(-127..=127).contains(step)) {
                let near = far.clamp(-127, 127);
                table.extend([0, near as i8 as u8]);
                step = Some(far - near);
            }
            while left > 0 {
                let length = left.min(254);
                let own = step.map_or(NO_LINE, |step| step as i8);
                table.extend([length as u8, own as u8]);
                step = step.map(|_| 0);
                left -= length;
            }
        }
        table
    }
}

/// 3.9: pairs of a step in bytes and a step in lines; every instruction has a line.
mod steps {
    use super::Place;

    pub(super) fn read(table: &[u8], first_line: u32, units: usize) -> Option<Vec<Place>> {
        let mut places = Vec::with_capacity(units);
        let mut line = i64::from(first_line);
        for pair in table.chunks_exact(2) {
            let place = Place {
                line: Some(u32::try_from(line).ok()?),
                span: None,
            };
            places.resize(places.len() + usize::from(pair[0]) / 2, place);
            line += i64::from(pair[1] as i8);
        }
        let place = Place {
            line: Some(u32::try_from(line).ok()?),
            span: None,
        };
        places.resize(units.max(places.len()), place);
        (places.len() == units).then_some(places)
    }

    pub(super) fn write(runs: &[(usize, Place)], first_line: u32) -> Vec<u8> {
        let mut table = Vec::new();
        let mut line = i64::from(first_line);
        let mut waiting = 0;
        for &(units, place) in runs {
            let own = place.line.map_or(line, i64::from);
            let mut step = own - line;
            line = own;
            while step != 0 {
                while waiting > 254 {
                    table.extend([254, 0]);
                    waiting -= 254;
                }
                let near = step.clamp(-127, 127);
                table.extend([waiting as u8, near as i8 as u8]);
                waiting = 0;
                step -= near;
            }
            waiting += 2 * units;
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs() -> Vec<(usize, Place)> {
        let at = |line, span| Place {
            line: Some(line),
            span,
        };
        vec![
            (1, at(7, None)),
            (3, at(8, None)),
            (200, at(300, None)),
            (20, at(12, None)),
            (1, at(9_000, None)),
        ]
    }

    fn check(minor: u8, runs: &[(usize, Place)]) {
        let table = write(minor, runs, 7);
        if minor >= 11 {
            let entries: usize = runs.iter().map(|(units, _)| units.div_ceil(8)).sum();
            let heads = table.iter().filter(|byte| **byte >= 128).count();
            assert_eq!(
                heads, entries,
                "the interpreter finds entries by their first byte"
            );
        }
        let expected: Vec<Place> = runs
            .iter()
            .flat_map(|(units, place)| std::iter::repeat_n(*place, *units))
            .collect();
        assert_eq!(
            read(minor, &table, 7, expected.len()),
            Some(expected),
            "3.{minor}"
        );
    }

    #[test]
    fn what_is_written_can_be_read() {
        for minor in [9, 10, 11] {
            check(minor, &runs());
        }
    }

    #[test]
    fn code_without_lines_stays_without() {
        let mut runs = runs();
        runs.insert(2, (5, Place::default()));
        check(10, &runs);
        for (number, span) in [(9, 0, 3), (9, 130, 140), (9, 300, 301), (12, 4, 1)]
            .into_iter()
            .enumerate()
        {
            let place = Place {
                line: Some(9),
                span: Some(span),
            };
            runs.insert(number, (9, place));
        }
        check(11, &runs);
    }
}
