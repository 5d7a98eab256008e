//! Differences between texts as unified diffs.

/// The number of unchanged lines that are shown around a change.
const CONTEXT: usize = 3;

/// Renders the difference between two texts in the unified format; empty if there is none.
#[must_use]
pub fn unified_diff(name: &str, before: &str, after: &str) -> String {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let script = diff_lines(&old, &new);
    if script.iter().all(|step| matches!(step, DiffLine::Same(..))) {
        return String::new();
    }
    let from = if before.is_empty() { "/dev/null" } else { name };
    let mut text = format!("--- {from}\n+++ {name}\n");
    for (start, end) in hunks(&script) {
        write_hunk(
            &mut text,
            script.get(start..end).unwrap_or_default(),
            &old,
            &new,
        );
    }
    text
}

/// A line of a comparison.
#[derive(Clone, Copy)]
enum DiffLine {
    /// A line that both texts have, with its index in each.
    Same(usize, usize),
    /// A line of the old text only, and the index of the next line in the new one.
    Old(usize, usize),
    /// A line of the new text only, and the index of the next line in the old one.
    New(usize, usize),
}

/// Compares two texts. Common lines at both ends are skipped, the rest is compared completely.
/// Merging inserts a few blocks, so the rest is small; if it is large, all of it counts as changed.
fn diff_lines(old: &[&str], new: &[&str]) -> Vec<DiffLine> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let max_end = old.len().min(new.len()) - start;
    let end = (old.iter().rev().zip(new.iter().rev()).take(max_end))
        .take_while(|(a, b)| a == b)
        .count();
    let (rows, columns) = (old.len() - start - end, new.len() - start - end);
    let mut steps: Vec<DiffLine> = (0..start).map(|line| DiffLine::Same(line, line)).collect();
    if rows.saturating_mul(columns) > 16_000_000 {
        steps.extend((0..rows).map(|row| DiffLine::Old(start + row, start)));
        steps.extend((0..columns).map(|column| DiffLine::New(start + column, start + rows)));
    } else {
        steps.extend(diff_completely(old, new, start, (rows, columns)));
    }
    steps.extend(
        (0..end).map(|line| DiffLine::Same(old.len() - end + line, new.len() - end + line)),
    );
    steps
}

/// Finds the longest common subsequence of the lines from `start` on.
fn diff_completely(
    old: &[&str],
    new: &[&str],
    start: usize,
    (rows, columns): (usize, usize),
) -> Vec<DiffLine> {
    let width = columns + 1;
    let mut lengths = vec![0_u32; (rows + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    let same = |row: usize, column: usize| old[start + row] == new[start + column];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[at(row, column)] = if same(row, column) {
                lengths[at(row + 1, column + 1)] + 1
            } else {
                lengths[at(row + 1, column)].max(lengths[at(row, column + 1)])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut steps = Vec::new();
    while row < rows || column < columns {
        if row < rows && column < columns && same(row, column) {
            steps.push(DiffLine::Same(start + row, start + column));
            row += 1;
            column += 1;
        } else if row < rows
            && (column == columns || lengths[at(row + 1, column)] >= lengths[at(row, column + 1)])
        {
            steps.push(DiffLine::Old(start + row, start + column));
            row += 1;
        } else {
            steps.push(DiffLine::New(start + column, start + row));
            column += 1;
        }
    }
    steps
}

/// Returns the ranges of lines that are shown together.
fn hunks(script: &[DiffLine]) -> Vec<(usize, usize)> {
    let mut hunks: Vec<(usize, usize)> = Vec::new();
    for (index, step) in script.iter().enumerate() {
        if matches!(step, DiffLine::Same(..)) {
            continue;
        }
        let start = index.saturating_sub(CONTEXT);
        let end = (index + CONTEXT + 1).min(script.len());
        match hunks.last_mut() {
            Some(last) if start <= last.1 => last.1 = end,
            _ => hunks.push((start, end)),
        }
    }
    hunks
}

/// Renders a hunk.
fn write_hunk(text: &mut String, steps: &[DiffLine], old: &[&str], new: &[&str]) {
    let (mut old_start, mut new_start) = (0, 0);
    if let Some(first) = steps.first() {
        (old_start, new_start) = match *first {
            DiffLine::Same(a, b) | DiffLine::Old(a, b) | DiffLine::New(b, a) => (a, b),
        };
    }
    let old_count = steps
        .iter()
        .filter(|step| !matches!(step, DiffLine::New(..)))
        .count();
    let new_count = steps
        .iter()
        .filter(|step| !matches!(step, DiffLine::Old(..)))
        .count();
    // An empty side is identified by the line before it.
    let shown = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
    text.push_str(&format!(
        "@@ -{},{old_count} +{},{new_count} @@\n",
        shown(old_start, old_count),
        shown(new_start, new_count)
    ));
    for step in steps {
        let (sign, line) = match *step {
            DiffLine::Same(line, _) => (' ', old.get(line)),
            DiffLine::Old(line, _) => ('-', old.get(line)),
            DiffLine::New(line, _) => ('+', new.get(line)),
        };
        let line = line.copied().unwrap_or_default();
        text.push(sign);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn changes_are_shown_with_their_surroundings() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj";
        let after = "a\nnew\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\n";
        expect![[r"
            --- t.py
            +++ t.py
            @@ -1,4 +1,5 @@
             a
            +new
             b
             c
             d
            @@ -7,4 +8,5 @@
             g
             h
             i
            -j
            \ No newline at end of file
            +j
            +k
        "]]
        .assert_eq(&unified_diff("t.py", before, after));
    }

    #[test]
    fn a_new_file_comes_from_nowhere_and_no_change_is_no_diff() {
        expect![[r"
            --- /dev/null
            +++ t.py
            @@ -0,0 +1,1 @@
            +a
        "]]
        .assert_eq(&unified_diff("t.py", "", "a\n"));
        assert_eq!(unified_diff("t.py", "a\n", "a\n"), "");
    }
}
