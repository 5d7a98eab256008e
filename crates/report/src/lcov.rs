//! LCOV's tracefile format, which editors, genhtml and many services read.
//!
//! Each file has a section, by absolute path. It is not known how often a line ran, so its count is
//! 1 or 0. Branches have numbers instead of names, because versions of LCOV before 2 understand
//! only those. They are in reading order, exits last. Functions are optional in the format and left
//! out.

use std::fmt::Write;

use crate::coverage::{CoverageReport, FileCoverage};
use crate::visible::make_visible;

/// Renders a tracefile.
pub fn lcov(report: &CoverageReport) -> String {
    let mut text = String::new();
    for (_, file) in report.sorted_files() {
        write_section(&mut text, file);
    }
    text
}

/// Renders the section of one file.
fn write_section(text: &mut String, file: &FileCoverage) {
    let findings = file.findings();
    let counts = findings.counts();
    // A line cannot be continued in the next one. So a line break in a path is spelled out, which
    // keeps the path at least recognizable.
    let path = file.path.to_string_lossy();
    let _ = write!(text, "TN:\nSF:{}\n", make_visible(&path));
    for (line, mut destinations) in file.counted_branches() {
        destinations.sort_by_key(|destination| (*destination < 0, *destination));
        let has_run = findings.executed.contains(&line);
        for (number, destination) in destinations.iter().enumerate() {
            let taken = if findings.executed_branches.contains(&(line, *destination)) {
                "1"
            } else if has_run {
                "0"
            } else {
                // The format distinguishes a branch that was not taken from one whose line did not
                // run.
                "-"
            };
            let _ = writeln!(text, "BRDA:{line},0,{number},{taken}");
        }
    }
    if counts.branches > 0 {
        let hit = counts.branches - counts.missed_branches;
        let _ = write!(text, "BRF:{}\nBRH:{hit}\n", counts.branches);
    }
    for line in &file.statements {
        let hits = u8::from(findings.executed.contains(line));
        let _ = writeln!(text, "DA:{line},{hits}");
    }
    let hit = counts.statements - counts.missed_statements;
    let _ = write!(text, "LF:{}\nLH:{hit}\nend_of_record\n", counts.statements);
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use expect_test::expect;

    use super::*;
    use crate::toys;

    /// Parses a tracefile by its description in geninfo(1), and checks that its sums are correct.
    /// Returns the paths.
    fn parse(text: &str) -> Vec<String> {
        let number = |text: &str| text.parse::<usize>().unwrap_or_else(|_| panic!("{text}"));
        let mut paths = Vec::new();
        let mut lines = text.lines();
        while let Some(first) = lines.next() {
            assert!(first.starts_with("TN:"), "{first}");
            let path = lines.next().unwrap().strip_prefix("SF:").unwrap();
            assert!(path.starts_with('/'), "{path}");
            paths.push(path.to_owned());
            let (mut found, mut hit) = (BTreeMap::new(), BTreeMap::new());
            let mut sums = BTreeMap::new();
            let mut seen = BTreeSet::new();
            loop {
                let line = lines.next().expect("a section ends");
                if line == "end_of_record" {
                    break;
                }
                let (kind, rest) = line.split_once(':').unwrap();
                let fields: Vec<&str> = rest.split(',').collect();
                match (kind, fields.as_slice()) {
                    ("DA", [line, hits]) => {
                        assert!(number(line) > 0);
                        assert!(seen.insert((kind, number(line), 0)), "{line} twice");
                        *found.entry("L").or_default() += 1;
                        *hit.entry("L").or_default() += number(hits).min(1);
                    }
                    ("BRDA", [line, block, branch, taken]) => {
                        assert_eq!(number(block), 0);
                        assert!(seen.insert((kind, number(line), number(branch))));
                        *found.entry("BR").or_default() += 1;
                        let taken = if *taken == "-" { 0 } else { number(taken) };
                        *hit.entry("BR").or_default() += taken.min(1);
                    }
                    ("LF" | "LH" | "BRF" | "BRH", [sum]) => {
                        assert!(sums.insert(kind, number(sum)).is_none(), "{kind} twice");
                    }
                    _ => panic!("{line}"),
                }
            }
            for what in ["L", "BR"] {
                let sum = |of: &str| sums.get(format!("{what}{of}").as_str()).copied();
                let (found, hit) = (found.get(what).copied(), hit.get(what).copied());
                assert_eq!(sum("F").unwrap_or(0), found.unwrap_or(0));
                assert_eq!(sum("H").unwrap_or(0), hit.unwrap_or(0));
            }
        }
        paths
    }

    #[test]
    fn the_format_is_kept() {
        let text = lcov(&toys::report());
        assert_eq!(
            parse(&text),
            [
                "/elsewhere/tool.py",
                "/project/gone.py",
                "/project/shop/__init__.py",
                "/project/shop/cart.py",
                "/project/shop/prices.py",
            ]
        );
        let cart = CoverageReport {
            files: vec![toys::cart()],
            ..toys::report()
        };
        expect![[r#"
            TN:
            SF:/project/shop/cart.py
            BRDA:6,0,0,0
            BRDA:6,0,1,1
            BRDA:11,0,0,1
            BRDA:11,0,1,0
            BRDA:12,0,0,0
            BRDA:12,0,1,0
            BRF:6
            BRH:2
            DA:1,1
            DA:4,1
            DA:6,1
            DA:7,0
            DA:9,1
            DA:11,1
            DA:12,1
            DA:13,0
            LF:8
            LH:6
            end_of_record
        "#]]
        .assert_eq(&lcov(&cart));
    }

    #[test]
    fn a_branch_that_could_not_be_taken_is_told_from_one_that_was_not() {
        let text = lcov(&toys::report());
        assert!(text.contains("SF:/elsewhere/tool.py\nBRDA:1,0,0,-\nBRDA:1,0,1,-\nBRF:2\nBRH:0\n"));
    }

    #[test]
    fn paths_cannot_break_out_of_their_line() {
        let file = FileCoverage {
            path: "/project/a\nend_of_record\nß \"'.py".into(),
            statements: BTreeSet::from([1]),
            ..FileCoverage::default()
        };
        let report = CoverageReport {
            files: vec![file],
            ..toys::report()
        };
        assert_eq!(
            parse(&lcov(&report)),
            ["/project/a\\nend_of_record\\nß \"'.py"]
        );
    }

    #[test]
    fn nothing_gives_nothing() {
        let report = CoverageReport {
            files: Vec::new(),
            ..toys::report()
        };
        assert_eq!(lcov(&report), "");
    }
}
