//! Sampling and bisection: finds the alternatives that work without trying them all.

/// Consecutive alternatives that work, as far as they were tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProbedRange {
    pub(super) first: u64,
    pub(super) last: u64,
    /// The number of tried alternatives; both ends are among them.
    pub(super) tried: u64,
}

/// The number of intervals between evenly spread points.
const SAMPLE_INTERVALS: u64 = 8;

/// The maximum number of borders to bisect.
const MAX_BORDERS: usize = 6;

/// Finds which of `size` alternatives work, apart from `now`, which is known to.
pub(super) fn probe<E>(
    size: u64,
    now: u64,
    max_exhaustive: u64,
    works: &mut dyn FnMut(u64) -> Result<bool, E>,
) -> Result<Vec<ProbedRange>, E> {
    probe_from(size, Some(now), max_exhaustive, works)
}

/// Finds which of `size` alternatives work.
pub(super) fn probe_all<E>(
    size: u64,
    max_exhaustive: u64,
    works: &mut dyn FnMut(u64) -> Result<bool, E>,
) -> Result<Vec<ProbedRange>, E> {
    probe_from(size, None, max_exhaustive, works)
}

/// Tries all alternatives, or a sample with bisected borders, and returns the ranges that work.
fn probe_from<E>(
    size: u64,
    now: Option<u64>,
    max_exhaustive: u64,
    works: &mut dyn FnMut(u64) -> Result<bool, E>,
) -> Result<Vec<ProbedRange>, E> {
    let mut points: Vec<u64> = if size <= max_exhaustive {
        (0..size).collect()
    } else {
        sample_points(size, now)
    };
    points.sort_unstable();
    points.dedup();
    let mut known: Vec<(u64, bool)> = Vec::new();
    for point in points {
        let answer = Some(point) == now || works(point)?;
        known.push((point, answer));
    }
    let mut borders = Vec::new();
    for pair in known.windows(2) {
        if pair[0].1 != pair[1].1 && borders.len() < MAX_BORDERS * 2 {
            borders.extend(bisect_border(pair[0], pair[1], works)?);
        }
    }
    known.extend(borders);
    known.sort_unstable();
    known.dedup();
    Ok(ranges(&known, now))
}

/// Returns the ends, points between them, and points around the alternative that is known to work.
fn sample_points(size: u64, now: Option<u64>) -> Vec<u64> {
    let mut points: Vec<u64> = (0..=SAMPLE_INTERVALS)
        .map(|number| {
            (u128::from(size - 1) * u128::from(number) / u128::from(SAMPLE_INTERVALS)) as u64
        })
        .collect();
    if let Some(now) = now {
        points.push(now);
        let mut distance = 1;
        while distance < size {
            points.extend(now.checked_sub(distance));
            points.extend(Some(now + distance).filter(|point| *point < size));
            distance *= 2;
        }
    }
    points
}

/// Bisects between a point that works and one that does not. Returns all tried points, which
/// include a pair of neighbors at the border.
fn bisect_border<E>(
    mut low: (u64, bool),
    mut high: (u64, bool),
    works: &mut dyn FnMut(u64) -> Result<bool, E>,
) -> Result<Vec<(u64, bool)>, E> {
    let mut tried = Vec::new();
    while high.0 - low.0 > 1 {
        let middle = low.0 + (high.0 - low.0) / 2;
        let answer = works(middle)?;
        tried.push((middle, answer));
        if answer == low.1 {
            low.0 = middle;
        } else {
            high.0 = middle;
        }
    }
    Ok(tried)
}

/// Returns the ranges of points that work, cut at the current alternative.
fn ranges(known: &[(u64, bool)], now: Option<u64>) -> Vec<ProbedRange> {
    let mut ranges: Vec<ProbedRange> = Vec::new();
    let mut open = false;
    for (index, (point, answer)) in known.iter().enumerate() {
        if Some(*point) == now {
            // A range ends here. With many alternatives, at least one neighbor is always tried.
            open = false;
            continue;
        }
        if !answer {
            open = false;
            continue;
        }
        // A border that was not bisected leaves a gap: nothing is claimed in it.
        let after_gap = index > 0 && !known[index - 1].1;
        match ranges.last_mut() {
            Some(range) if open && !after_gap => {
                range.last = *point;
                range.tried += 1;
            }
            _ => ranges.push(ProbedRange {
                first: *point,
                last: *point,
                tried: 1,
            }),
        }
        open = true;
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the ranges found for a given predicate, and the number of tried points.
    fn found(
        size: u64,
        now: Option<u64>,
        works: impl Fn(u64) -> bool,
    ) -> (Vec<ProbedRange>, usize) {
        let mut tried = Vec::new();
        let mut query = |point| {
            tried.push(point);
            Ok::<bool, ()>(works(point))
        };
        let ranges = probe_from(size, now, 16, &mut query).unwrap();
        let count = tried.len();
        tried.sort_unstable();
        tried.dedup();
        assert_eq!(tried.len(), count, "nothing is tried twice");
        for range in &ranges {
            assert!(works(range.first) && works(range.last));
            let within = tried
                .iter()
                .filter(|point| (range.first..=range.last).contains(point));
            assert_eq!(within.count() as u64, range.tried);
        }
        (ranges, count)
    }

    #[test]
    fn few_alternatives_are_all_tried() {
        let (ranges, tried) = found(10, Some(3), |value| value != 7);
        let range = |first, last| ProbedRange {
            first,
            last,
            tried: last - first + 1,
        };
        assert_eq!(ranges, [range(0, 2), range(4, 6), range(8, 9)]);
        assert_eq!(tried, 9);
    }

    #[test]
    fn many_are_bisected() {
        let (ranges, tried) = found(20_000, Some(500), |value| value >= 137);
        let ends: Vec<_> = ranges
            .iter()
            .map(|range| (range.first, range.last))
            .collect();
        assert_eq!(ends, [(137, 499), (501, 19_999)]);
        assert!(tried < 50, "{tried}");
        assert!(ranges[1].tried < 30);
    }

    #[test]
    fn one_that_stands_alone_is_alone() {
        let (ranges, tried) = found(1 << 40, Some(12_345), |value| value == 12_345);
        assert_eq!(ranges, []);
        assert!(tried < 100, "{tried}");
    }

    #[test]
    fn claimed_ranges_lie_between_working_values() {
        for divisor in 2..9 {
            found(100_000, Some(0), |value| value % divisor == 0);
            found(100_000, None, |value| value % divisor == 1);
        }
    }
}
