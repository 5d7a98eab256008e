//! LCOV's own program reads our tracefile, if it is installed (Debian's package `lcov`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use testwright_report::{Attribution, CoverageReport, FileCoverage, lcov};

#[test]
fn genhtml_reads_lines_and_branches() {
    if Command::new("genhtml").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sign & \"name\" ü.py");
    let text = "def sign(x):\n    if x < 0:\n        return -1\n    return 1\n";
    fs::write(&path, text).unwrap();
    let report = CoverageReport {
        files: vec![FileCoverage {
            path,
            text: Some(text.to_owned()),
            statements: BTreeSet::from([1, 2, 3, 4]),
            branches: BTreeMap::from([(2, BTreeSet::from([3, 4]))]),
            by_test: vec![(0, BTreeSet::from([(-1, 1), (-1, 2), (2, 4), (4, -1)]))],
            ..FileCoverage::default()
        }],
        tests: vec!["sign(7)".to_owned()],
        attribution: Attribution::Every,
        root: folder.path().to_owned(),
    };
    let tracefile = folder.path().join("lcov.info");
    fs::write(&tracefile, lcov::lcov(&report)).unwrap();
    let output = Command::new("genhtml")
        .args(["--branch-coverage", "--output-directory"])
        .arg(folder.path().join("html"))
        .arg(&tracefile)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // Versions differ in how they draw the table, not in the numbers.
    let words: Vec<&str> = said.split_whitespace().collect();
    let said = words.join(" ");
    assert!(said.contains("75.0% (3 of 4 line"), "{said}");
    assert!(said.contains("50.0% (1 of 2 branches)"), "{said}");
}
