//! A curve of coverage over time: kept in constant memory, and drawn at any size.

use std::time::Duration;

/// A growing number over time.
///
/// Time is divided into slices of equal length, and the number at the end of each is kept. Whenever
/// there are too many slices, two become one. So a campaign of days takes no more memory than one
/// of seconds, and is drawn as fast.
pub(crate) struct Curve {
    /// The length of a slice.
    slice: Duration,
    /// The number at the end of each slice since the beginning.
    numbers: Vec<u64>,
}

impl Curve {
    /// The maximum number of slices: more than any terminal has columns.
    const MAX_SLICES: usize = 1024;
    /// The length of a slice at the beginning.
    const FIRST_SLICE: Duration = Duration::from_millis(100);

    /// Block characters; each is an eighth of a line higher than the one before.
    const HEIGHTS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

    /// Creates an empty curve.
    pub(crate) fn new() -> Curve {
        Curve {
            slice: Curve::FIRST_SLICE,
            numbers: Vec::new(),
        }
    }

    /// Records the number at a time. Neither time nor numbers may decrease.
    pub(crate) fn record(&mut self, at: Duration, number: u64) {
        while self.index(at) >= Curve::MAX_SLICES {
            self.halve();
        }
        let index = self.index(at);
        let last = self.numbers.last().copied().unwrap_or(number);
        if index >= self.numbers.len() {
            // Nothing was recorded for a while, so nothing has changed.
            self.numbers.resize(index + 1, last);
        }
        if let Some(newest) = self.numbers.last_mut() {
            *newest = number.max(last);
        }
    }

    /// Returns the numbers at the bottom and the top of the picture. It does not start from zero:
    /// the coverage of the first moments would press the rest of the curve into one line.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        Some((*self.numbers.first()?, *self.numbers.last()?))
    }

    /// Draws the curve up to a time, in this number of columns and lines, the top line first.
    pub(crate) fn draw(&self, until: Duration, columns: usize, lines: usize) -> Vec<String> {
        let mut picture = vec![String::new(); lines];
        let Some((bottom, top)) = self.range() else {
            return picture;
        };
        let eighths = lines * 8;
        let slices = self.index(until) as u128 + 1;
        for column in 0..columns {
            // The slice at the right edge of the column. There may be fewer slices than columns.
            let edge = (slices * (column as u128 + 1)).div_ceil(columns as u128);
            let number = self.number(edge - 1);
            let share = (number - bottom) as f64 / (top - bottom).max(1) as f64;
            // The smallest number is visible, too.
            let height = ((share * eighths as f64).round() as usize).max(1);
            for (line, text) in picture.iter_mut().rev().enumerate() {
                let rest = height.saturating_sub(line * 8).min(8);
                text.push(Curve::HEIGHTS[rest]);
            }
        }
        for text in &mut picture {
            text.truncate(text.trim_end().len());
        }
        picture
    }

    /// Returns the number in a slice. After the last slice nothing has changed.
    fn number(&self, index: u128) -> u64 {
        let last = self.numbers.len().saturating_sub(1);
        let index = usize::try_from(index).unwrap_or(last).min(last);
        self.numbers.get(index).copied().unwrap_or(0)
    }

    /// Returns the slice of a time.
    fn index(&self, at: Duration) -> usize {
        let index = at.as_nanos() / self.slice.as_nanos();
        usize::try_from(index).unwrap_or(usize::MAX)
    }

    /// Doubles the length of the slices, which halves their number.
    fn halve(&mut self) {
        self.slice = self.slice.saturating_mul(2);
        let halves = self.numbers.chunks(2);
        self.numbers = halves.filter_map(|pair| pair.last().copied()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn check(noted: &[(u64, u64)], until: u64, size: (usize, usize), expected: Expect) {
        let mut curve = Curve::new();
        for &(seconds, number) in noted {
            curve.record(Duration::from_secs(seconds), number);
        }
        let lines = curve.draw(Duration::from_secs(until), size.0, size.1);
        let lines: Vec<String> = lines.iter().map(|line| format!("|{line}\n")).collect();
        expected.assert_eq(&lines.concat());
    }

    const GROWTH: [(u64, u64); 6] = [(0, 100), (2, 180), (4, 240), (8, 280), (16, 296), (30, 300)];

    #[test]
    fn growth_in_one_line() {
        check(
            &GROWTH,
            40,
            (30, 1),
            expect![[r#"
            |▁▃▆▆▆▇▇▇▇▇▇███████████████████
        "#]],
        );
    }

    #[test]
    fn growth_in_three_lines() {
        check(
            &GROWTH,
            40,
            (30, 3),
            expect![[r#"
            |  ▁▁▁▆▆▆▆▆▆███████████████████
            | ▂████████████████████████████
            |▁█████████████████████████████
        "#]],
        );
    }

    #[test]
    fn nothing_noted_is_nothing_drawn() {
        check(
            &[],
            40,
            (30, 2),
            expect![[r#"
            |
            |
        "#]],
        );
    }

    #[test]
    fn a_number_that_does_not_grow() {
        check(
            &[(0, 7)],
            40,
            (10, 2),
            expect![[r#"
            |
            |▁▁▁▁▁▁▁▁▁▁
        "#]],
        );
        check(
            &[(0, 0)],
            0,
            (10, 1),
            expect![[r#"
            |▁▁▁▁▁▁▁▁▁▁
        "#]],
        );
    }

    #[test]
    fn a_curve_of_years_takes_the_memory_of_one_of_seconds() {
        let mut curve = Curve::new();
        let mut at = Duration::ZERO;
        for number in 0..200_000 {
            curve.record(at, number / 100);
            at += Duration::from_millis(number);
        }
        assert!(curve.numbers.len() <= Curve::MAX_SLICES);
        assert!(curve.numbers.len() > Curve::MAX_SLICES / 2);
        assert!(curve.numbers.is_sorted());
        assert_eq!(curve.range().map(|(_, top)| top), Some(1_999));
        curve.record(Duration::MAX, 3_000);
        assert_eq!(curve.draw(Duration::MAX, 40, 2).len(), 2);
    }

    #[test]
    fn any_size_will_do() {
        let mut curve = Curve::new();
        curve.record(Duration::from_secs(3), u64::MAX);
        curve.record(Duration::from_secs(2), 1);
        for columns in 0..4 {
            for lines in 0..4 {
                let picture = curve.draw(Duration::from_secs(9), columns, lines);
                assert_eq!(picture.len(), lines);
                assert!(picture.iter().all(|line| line.chars().count() <= columns));
            }
        }
    }
}
