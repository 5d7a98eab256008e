//! The table for the terminal: a line for each file with its missing lines.
//!
//! It is at most as wide as the terminal. The missing lines are shortened first, at a comma. Then
//! names lose their first folders. Then the missing lines are dropped, and headings become short.
//! Numbers are never cut, so a terminal of less than fifty columns may still wrap.

use std::fmt::Write;

use unicode_width::UnicodeWidthStr;

use crate::coverage::{CoverageReport, CoverageSummary};
use crate::missing::missing_ranges;

/// Options for drawing the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOptions {
    /// Width of the terminal in columns.
    pub width: usize,
    /// True if the terminal shows more than ASCII. Names of files are shown unchanged in any case.
    pub unicode: bool,
    /// True to use colors.
    pub colour: bool,
}

/// Minimum width of the column of missing lines. It is dropped rather than cut below this.
const MIN_MISSING: usize = 14;
/// Minimum width of a name while something else can be cut.
const MIN_NAME: usize = 20;

/// Headings of the numbers.
const LONG_HEADINGS: [&str; 5] = ["Statements", "Missed", "Branches", "Missed", "Cover"];
/// Headings for a narrow terminal.
const SHORT_HEADINGS: [&str; 5] = ["Stmts", "Miss", "Branch", "Miss", "Cover"];

/// A line of the table.
struct TableRow {
    name: String,
    counts: CoverageSummary,
    missing: Vec<String>,
}

/// Widths of the columns: of names, of numbers, and of missing lines if they are shown.
struct TableLayout {
    name: usize,
    headings: [&'static str; 5],
    numbers: [usize; 5],
    missing: Option<usize>,
}

/// Renders the table, with a line end after each line. Without files it is empty.
pub fn table(report: &CoverageReport, options: &TableOptions) -> String {
    let rows: Vec<TableRow> = (report.sorted_files().into_iter())
        .map(|(name, file)| {
            let findings = file.findings();
            TableRow {
                name,
                counts: findings.counts(),
                missing: missing_ranges(&findings),
            }
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let total: CoverageSummary = rows.iter().map(|row| row.counts).sum();
    let layout = TableLayout::new(&rows, &total, options);
    let mut text = layout.line("Name", layout.headings.map(str::to_owned), "Missing", None);
    // A total of one file is not worth a line.
    let has_total = rows.len() > 1;
    let mut lines: Vec<String> = (rows.iter())
        .map(|row| {
            let missing = layout.shorten_missing(&row.missing, options);
            layout.row(&row.name, &row.counts, &missing, options)
        })
        .collect();
    if has_total {
        lines.push(layout.row("Total", &total, "", options));
    }
    // The rule is as long as the longest line. Colors take no room.
    let plain = TableOptions {
        colour: false,
        ..*options
    };
    let longest = (rows.iter())
        .map(|row| {
            let missing = layout.shorten_missing(&row.missing, &plain);
            layout
                .row(&row.name, &row.counts, &missing, &plain)
                .trim_end()
                .width()
        })
        .chain([text.trim_end().width()])
        .max()
        .unwrap_or(0);
    let rule = if options.unicode { "─" } else { "-" }.repeat(longest) + "\n";
    text += &rule;
    for (index, line) in lines.iter().enumerate() {
        if has_total && index == rows.len() {
            text += &rule;
        }
        text += line;
    }
    text
}

impl TableLayout {
    /// Distributes the width of the terminal.
    fn new(rows: &[TableRow], total: &CoverageSummary, options: &TableOptions) -> TableLayout {
        let widths = |headings: [&'static str; 5]| {
            let mut widths = headings.map(str::len);
            for (width, number) in widths.iter_mut().zip(number_cells(total)) {
                *width = (*width).max(number.len());
            }
            widths
        };
        let name = (rows.iter().map(|row| row.name.width()))
            .chain(["Total".len()])
            .max()
            .unwrap_or(0);
        let missing = (rows.iter().map(|row| row.missing.join(", ").width()))
            .chain(["Missing".len()])
            .max()
            .unwrap_or(0);
        let needs = |numbers: &[usize; 5]| numbers.iter().map(|width| width + 2).sum::<usize>();
        let mut layout = TableLayout {
            name,
            headings: LONG_HEADINGS,
            numbers: widths(LONG_HEADINGS),
            missing: Some(missing),
        };
        let room = |layout: &TableLayout| options.width.saturating_sub(needs(&layout.numbers));
        let min_missing = missing.min(MIN_MISSING) + 2;
        if room(&layout) < name.min(MIN_NAME) + min_missing {
            layout.headings = SHORT_HEADINGS;
            layout.numbers = widths(SHORT_HEADINGS);
        }
        let room = room(&layout);
        if room >= name.min(MIN_NAME) + min_missing {
            // Names come first, up to two thirds. The rest is for missing lines.
            let for_names = (room / 3 * 2).max(room.saturating_sub(missing + 2));
            layout.name = name.min(for_names.max(MIN_NAME)).min(room - min_missing);
            layout.missing = Some(missing.min(room - layout.name - 2));
        } else {
            layout.name = name.min(room.max("Total".len()));
            layout.missing = None;
        }
        layout
    }

    /// Renders the line of a file.
    fn row(
        &self,
        name: &str,
        counts: &CoverageSummary,
        missing: &str,
        options: &TableOptions,
    ) -> String {
        let name = shorten_name(name, self.name, options.unicode);
        let colour = options.colour.then(|| match counts.percentage() {
            90.0.. => "32",
            60.0.. => "33",
            _ => "31",
        });
        self.line(&name, number_cells(counts), missing, colour)
    }

    /// Renders one line: the name to the left, the numbers to the right, the last of them in this
    /// color.
    fn line(&self, name: &str, cells: [String; 5], missing: &str, colour: Option<&str>) -> String {
        let mut line = pad(name, self.name);
        for (index, (cell, width)) in cells.iter().zip(self.numbers).enumerate() {
            let cell = format!("{cell:>width$}");
            match colour {
                Some(colour) if index == 4 => {
                    let _ = write!(line, "  \u{1b}[{colour}m{cell}\u{1b}[0m");
                }
                _ => {
                    let _ = write!(line, "  {cell}");
                }
            }
        }
        if self.missing.is_some() && !missing.is_empty() {
            let _ = write!(line, "  {missing}");
        }
        line + "\n"
    }

    /// Renders as many missing lines as there is room for, and the number of those left out.
    fn shorten_missing(&self, items: &[String], options: &TableOptions) -> String {
        let Some(width) = self.missing else {
            return String::new();
        };
        let whole = items.join(", ");
        if whole.len() <= width {
            return whole;
        }
        let ellipsis = if options.unicode { "…" } else { "..." };
        let more = |shown: usize| format!("{ellipsis} {} more", items.len() - shown);
        let mut best = more(0);
        let mut text = String::new();
        for (index, item) in items.iter().enumerate() {
            text += item;
            text += ", ";
            let candidate = format!("{text}{}", more(index + 1));
            if candidate.width() > width {
                break;
            }
            best = candidate;
        }
        best
    }
}

/// Renders the numbers of a line.
fn number_cells(counts: &CoverageSummary) -> [String; 5] {
    [
        counts.statements.to_string(),
        counts.missed_statements.to_string(),
        counts.branches.to_string(),
        counts.missed_branches.to_string(),
        format!("{}%", counts.percentage_text(0)),
    ]
}

/// Pads a text with spaces.
fn pad(text: &str, width: usize) -> String {
    let padding = width.saturating_sub(text.width());
    text.to_owned() + &" ".repeat(padding)
}

/// Cuts the beginning of a name that is too long, at a `/` if possible: files in the same folder
/// differ at the end.
fn shorten_name(name: &str, width: usize, unicode: bool) -> String {
    if name.width() <= width {
        return name.to_owned();
    }
    let ellipsis = if unicode { "…" } else { "..." };
    let fits = |rest: &str| ellipsis.width() + rest.width() <= width;
    let at_folder = (name.match_indices('/'))
        .map(|(index, _)| &name[index..])
        .find(|rest| fits(rest));
    let anywhere = || {
        (name.char_indices())
            .map(|(index, _)| &name[index..])
            .find(|rest| fits(rest))
    };
    let rest = at_folder.or_else(anywhere).unwrap_or("");
    format!("{ellipsis}{rest}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::{Expect, expect};

    use super::*;
    use crate::coverage::{Attribution, FileCoverage};
    use crate::toys;

    fn check(report: &CoverageReport, width: usize, unicode: bool, expected: Expect) {
        let options = TableOptions {
            width,
            unicode,
            colour: false,
        };
        let text = table(report, &options);
        for line in text.lines() {
            assert!(line.width() <= width.max(47), "{line}");
        }
        expected.assert_eq(&text);
    }

    /// Builds a file in which every other line did not run.
    fn holes(path: &str, lines: u32) -> FileCoverage {
        FileCoverage {
            path: path.into(),
            statements: (1..=lines).collect(),
            by_test: vec![(0, (1..=lines as i32).step_by(2).map(|l| (l, l)).collect())],
            ..FileCoverage::default()
        }
    }

    fn of(files: Vec<FileCoverage>) -> CoverageReport {
        CoverageReport {
            files,
            ..toys::report()
        }
    }

    #[test]
    fn all_kinds_of_files() {
        check(
            &toys::report(),
            100,
            true,
            expect![[r#"
                Name                Statements  Missed  Branches  Missed  Cover  Missing
                ────────────────────────────────────────────────────────────────────────────────────────
                /elsewhere/tool.py           3       3         2       2     0%  1-4
                gone.py                      1       1         0       0     0%  1
                shop/__init__.py             0       0         0       0   100%
                shop/cart.py                 8       2         6       4    57%  7, 11->exit, 12->11, 13
                shop/prices.py               2       0         0       0   100%
                ────────────────────────────────────────────────────────────────────────────────────────
                Total                       14       6         8       6    45%
            "#]],
        );
    }

    #[test]
    fn the_list_of_missing_lines_is_shortened_first() {
        let report = of(vec![
            holes("/project/shop/warehouse/inventory.py", 60),
            holes("/project/shop/a.py", 4),
        ]);
        check(
            &report,
            100,
            true,
            expect![[r#"
            Name                         Statements  Missed  Branches  Missed  Cover  Missing
            ───────────────────────────────────────────────────────────────────────────────────────────────────
            shop/a.py                             4       2         0       0    50%  2, 4
            shop/warehouse/inventory.py          60      30         0       0    50%  2, 4, 6, 8, 10, … 25 more
            ───────────────────────────────────────────────────────────────────────────────────────────────────
            Total                                64      32         0       0    50%
        "#]],
        );
        check(
            &report,
            90,
            false,
            expect![[r#"
            Name                         Statements  Missed  Branches  Missed  Cover  Missing
            ----------------------------------------------------------------------------------------
            shop/a.py                             4       2         0       0    50%  2, 4
            shop/warehouse/inventory.py          60      30         0       0    50%  2, ... 29 more
            ----------------------------------------------------------------------------------------
            Total                                64      32         0       0    50%
        "#]],
        );
    }

    #[test]
    fn then_names_then_headings_then_what_is_missing() {
        let report = of(vec![
            holes("/project/shop/warehouse/northern/inventory.py", 60),
            holes("/project/averyverylongnamewithoutanyfolderinsight.py", 4),
        ]);
        check(
            &report,
            80,
            true,
            expect![[r#"
            Name                            Stmts  Miss  Branch  Miss  Cover  Missing
            ──────────────────────────────────────────────────────────────────────────────
            …amewithoutanyfolderinsight.py      4     2       0     0    50%  2, 4
            …/northern/inventory.py            60    30       0     0    50%  2, … 29 more
            ──────────────────────────────────────────────────────────────────────────────
            Total                              64    32       0     0    50%
        "#]],
        );
        check(
            &report,
            70,
            true,
            expect![[r#"
            Name                  Stmts  Miss  Branch  Miss  Cover  Missing
            ────────────────────────────────────────────────────────────────────
            …anyfolderinsight.py      4     2       0     0    50%  2, 4
            …/inventory.py           60    30       0     0    50%  2, … 29 more
            ────────────────────────────────────────────────────────────────────
            Total                    64    32       0     0    50%
        "#]],
        );
        check(
            &report,
            60,
            false,
            expect![[r#"
            Name                        Stmts  Miss  Branch  Miss  Cover
            ------------------------------------------------------------
            ...houtanyfolderinsight.py      4     2       0     0    50%
            .../northern/inventory.py      60    30       0     0    50%
            ------------------------------------------------------------
            Total                          64    32       0     0    50%
        "#]],
        );
        check(
            &report,
            10,
            true,
            expect![[r#"
            Name   Stmts  Miss  Branch  Miss  Cover
            ───────────────────────────────────────
            …t.py      4     2       0     0    50%
            …y.py     60    30       0     0    50%
            ───────────────────────────────────────
            Total     64    32       0     0    50%
        "#]],
        );
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let report = of(vec![
            holes("/project/店/名前.py", 4),
            holes("/project/shop/cart.py", 4),
        ]);
        check(
            &report,
            80,
            true,
            expect![[r#"
            Name          Statements  Missed  Branches  Missed  Cover  Missing
            ──────────────────────────────────────────────────────────────────
            shop/cart.py           4       2         0       0    50%  2, 4
            店/名前.py             4       2         0       0    50%  2, 4
            ──────────────────────────────────────────────────────────────────
            Total                  8       4         0       0    50%
        "#]],
        );
    }

    #[test]
    fn one_file_needs_no_total_and_none_no_table() {
        check(
            &of(vec![toys::cart()]),
            80,
            false,
            expect![[r#"
                Name          Statements  Missed  Branches  Missed  Cover  Missing
                ------------------------------------------------------------------------
                shop/cart.py           8       2         6       4    57%  7, ... 3 more
            "#]],
        );
        check(&of(vec![]), 80, false, expect![[""]]);
    }

    #[test]
    fn colours_only_if_asked_for() {
        let report = CoverageReport {
            files: vec![toys::cart()],
            tests: Vec::new(),
            attribution: Attribution::First,
            root: "/project".into(),
        };
        let options = TableOptions {
            width: 80,
            unicode: true,
            colour: true,
        };
        let text = table(&report, &options);
        assert!(text.contains("  \u{1b}[31m  57%\u{1b}[0m  7, "), "{text:?}");
        let hostile = FileCoverage {
            path: "/project/\u{1b}[2J.py".into(),
            statements: BTreeSet::from([1]),
            ..FileCoverage::default()
        };
        let plain = TableOptions {
            colour: false,
            ..options
        };
        assert!(!table(&of(vec![hostile]), &plain).contains('\u{1b}'));
    }
}
