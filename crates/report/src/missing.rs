//! Missing lines and branches in numbers: `12-14, 20->22, 31->exit`.

use crate::coverage::FileFindings;

/// Renders missing lines as ranges and missing branches as arrows, in the order of the lines.
///
/// A range may span lines without statements. A branch from or to a missing line is left out, since
/// the line implies it.
pub(crate) fn missing_ranges(findings: &FileFindings) -> Vec<String> {
    let mut items: Vec<(u32, String)> = Vec::new();
    let mut add = |first: u32, last: u32| {
        let text = if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        };
        items.push((first, text));
    };
    let mut range: Option<(u32, u32)> = None;
    let mut ran = findings.executed.iter().copied().peekable();
    for line in findings.missing.iter().copied() {
        let mut is_apart = false;
        while ran.next_if(|executed| *executed < line).is_some() {
            is_apart = true;
        }
        range = match range {
            Some((first, _)) if !is_apart => Some((first, line)),
            other => {
                if let Some((first, last)) = other {
                    add(first, last);
                }
                Some((line, line))
            }
        };
    }
    if let Some((first, last)) = range {
        add(first, last);
    }
    for (line, destination) in &findings.missing_branches {
        let is_missing = |line: u32| findings.missing.contains(&line);
        if is_missing(*line) || u32::try_from(*destination).is_ok_and(is_missing) {
            continue;
        }
        let text = match destination {
            1.. => format!("{line}->{destination}"),
            _ => format!("{line}->exit"),
        };
        items.push((*line, text));
    }
    items.sort_by_key(|(line, _)| *line);
    items.into_iter().map(|(_, text)| text).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn check(executed: &[u32], missing: &[u32], branches: &[(u32, i32)], expected: &str) {
        let findings = FileFindings {
            executed: executed.iter().copied().collect(),
            missing: missing.iter().copied().collect(),
            missing_branches: branches.iter().copied().collect::<BTreeSet<_>>(),
            ..FileFindings::default()
        };
        assert_eq!(super::missing_ranges(&findings).join(", "), expected);
    }

    #[test]
    fn ranges_span_what_is_not_code() {
        check(&[], &[], &[], "");
        check(&[1], &[], &[], "");
        check(&[], &[7], &[], "7");
        check(
            &[3, 4, 12],
            &[1, 2, 5, 10, 11, 13, 14],
            &[],
            "1-2, 5-11, 13-14",
        );
    }

    #[test]
    fn branches_stand_between_lines() {
        check(
            &[1, 4, 9],
            &[5, 6],
            &[(1, 5), (4, 9), (9, -2), (5, 6)],
            "4->9, 5-6, 9->exit",
        );
    }
}
