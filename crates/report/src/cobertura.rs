//! Cobertura's XML format, which build servers read.
//!
//! Cobertura comes from Java: a folder is a package, and a file is a class. The elements and
//! attributes are those of its document type `coverage-04`, and one more that coverage.py
//! introduced and services expect: `missing-branches`, the destinations that a line never reached.
//! The document does not refer to the type, because some readers would fetch it from the network
//! and others would reject the file.

use std::collections::BTreeMap;
use std::io;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::Timestamp;
use crate::coverage::{CoverageReport, CoverageSummary, FileCoverage, FileFindings};
use crate::xml::replace_invalid_chars;

type Xml = Writer<Vec<u8>>;

/// Renders a Cobertura document.
pub fn cobertura(report: &CoverageReport, timestamp: Timestamp) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut xml, report, timestamp).expect("memory can always be written to");
    let mut text = String::from_utf8(xml.into_inner()).expect("text was written");
    text.push('\n');
    text
}

/// A file, as Cobertura's class.
struct CoberturaClass<'a> {
    /// Path relative to the root.
    path: String,
    file: &'a FileCoverage,
    findings: FileFindings,
}

/// Writes the whole document.
fn write(xml: &mut Xml, report: &CoverageReport, timestamp: Timestamp) -> io::Result<()> {
    let mut packages: BTreeMap<String, Vec<CoberturaClass<'_>>> = BTreeMap::new();
    for (_, file) in report.sorted_files() {
        let path = replace_invalid_chars(&report.relative_path(file));
        let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
        let package = folder.replace('/', ".");
        packages.entry(package).or_default().push(CoberturaClass {
            findings: file.findings(),
            path,
            file,
        });
    }
    let total = sum_classes(packages.values().flatten());
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("coverage")
        .with_attribute(("version", concat!("testwright ", env!("CARGO_PKG_VERSION"))))
        .with_attribute(("timestamp", (timestamp.0 * 1000).to_string().as_str()))
        .with_attribute(("lines-valid", total.statements.to_string().as_str()))
        .with_attribute(("lines-covered", lines_covered(&total).to_string().as_str()))
        .with_attribute(("branches-valid", total.branches.to_string().as_str()))
        .with_attribute((
            "branches-covered",
            branches_covered(&total).to_string().as_str(),
        ))
        .with_attributes(
            rates(&total)
                .iter()
                .map(|(name, rate)| (*name, rate.as_str())),
        )
        .write_inner_content(|xml| {
            xml.create_element("sources").write_inner_content(|xml| {
                let root = replace_invalid_chars(&report.root.to_string_lossy());
                xml.create_element("source")
                    .write_text_content(BytesText::new(&root))?;
                Ok(())
            })?;
            xml.create_element("packages").write_inner_content(|xml| {
                (packages.iter()).try_for_each(|(name, classes)| write_package(xml, name, classes))
            })?;
            Ok(())
        })?;
    Ok(())
}

/// Writes a package.
fn write_package(xml: &mut Xml, name: &str, classes: &[CoberturaClass<'_>]) -> io::Result<()> {
    let counts = sum_classes(classes);
    xml.create_element("package")
        .with_attribute(("name", name))
        .with_attributes(
            rates(&counts)
                .iter()
                .map(|(name, rate)| (*name, rate.as_str())),
        )
        .write_inner_content(|xml| {
            xml.create_element("classes").write_inner_content(|xml| {
                (classes.iter()).try_for_each(|one| write_class(xml, one))
            })?;
            Ok(())
        })?;
    Ok(())
}

/// Writes a class.
fn write_class(xml: &mut Xml, class: &CoberturaClass<'_>) -> io::Result<()> {
    let name = class.path.rsplit('/').next().unwrap_or(&class.path);
    let counts = class.findings.counts();
    xml.create_element("class")
        .with_attribute(("name", name))
        .with_attribute(("filename", class.path.as_str()))
        .with_attributes(
            rates(&counts)
                .iter()
                .map(|(name, rate)| (*name, rate.as_str())),
        )
        .write_inner_content(|xml| {
            xml.create_element("methods").write_empty()?;
            xml.create_element("lines")
                .write_inner_content(|xml| write_lines(xml, class))?;
            Ok(())
        })?;
    Ok(())
}

/// Writes the lines of a class.
fn write_lines(xml: &mut Xml, class: &CoberturaClass<'_>) -> io::Result<()> {
    let branches: BTreeMap<u32, Vec<i32>> = class.file.counted_branches().collect();
    let FileFindings {
        executed,
        missing_branches,
        ..
    } = &class.findings;
    for line in &class.file.statements {
        let hits = if executed.contains(line) { "1" } else { "0" };
        let mut element = xml
            .create_element("line")
            .with_attribute(("number", line.to_string().as_str()))
            .with_attribute(("hits", hits));
        if let Some(destinations) = branches.get(line) {
            let missing: Vec<String> = (destinations.iter())
                .filter(|destination| missing_branches.contains(&(*line, **destination)))
                .map(|destination| {
                    if *destination > 0 {
                        destination.to_string()
                    } else {
                        "exit".to_owned()
                    }
                })
                .collect();
            let (taken, all) = (destinations.len() - missing.len(), destinations.len());
            let share = format!("{}% ({taken}/{all})", 100 * taken / all);
            element = element
                .with_attribute(("branch", "true"))
                .with_attribute(("condition-coverage", share.as_str()));
            if !missing.is_empty() {
                element = element.with_attribute(("missing-branches", missing.join(",").as_str()));
            }
        }
        element.write_empty()?;
    }
    Ok(())
}

/// Adds the numbers of classes.
fn sum_classes<'a>(classes: impl IntoIterator<Item = &'a CoberturaClass<'a>>) -> CoverageSummary {
    (classes.into_iter())
        .map(|class| class.findings.counts())
        .sum()
}

/// Returns the number of executed statements.
fn lines_covered(counts: &CoverageSummary) -> usize {
    counts.statements - counts.missed_statements
}

/// Returns the number of executed branches.
fn branches_covered(counts: &CoverageSummary) -> usize {
    counts.branches - counts.missed_branches
}

/// Returns the attributes that the document, its packages and its classes share.
fn rates(counts: &CoverageSummary) -> [(&'static str, String); 3] {
    [
        ("line-rate", rate(lines_covered(counts), counts.statements)),
        (
            "branch-rate",
            rate(branches_covered(counts), counts.branches),
        ),
        // The document type requires this attribute. Complexity is not computed.
        ("complexity", "0".to_owned()),
    ]
}

/// Renders a share from 0 to 1 with four significant digits, as coverage.py does. Only everything
/// is 1, and only nothing is 0.
fn rate(covered: usize, all: usize) -> String {
    match (covered, all) {
        (covered, all) if covered == all => "1".to_owned(),
        (0, _) => "0".to_owned(),
        (covered, all) => {
            let share = (covered as f64 / all as f64).clamp(0.0001, 0.9999);
            let zeros = [0.1, 0.01, 0.001].iter().filter(|bound| share < **bound);
            let decimals = 4 + zeros.count();
            let text = format!("{share:.decimals$}");
            text.trim_end_matches('0').to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use expect_test::expect;

    use super::*;
    use crate::toys;

    #[test]
    fn folders_are_packages_and_files_are_classes() {
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <coverage version="testwright 0.1.0" timestamp="1700000000000" lines-valid="14" lines-covered="8" branches-valid="8" branches-covered="2" line-rate="0.5714" branch-rate="0.25" complexity="0">
              <sources>
                <source>/project</source>
              </sources>
              <packages>
                <package name="." line-rate="0" branch-rate="1" complexity="0">
                  <classes>
                    <class name="gone.py" filename="gone.py" line-rate="0" branch-rate="1" complexity="0">
                      <methods/>
                      <lines>
                        <line number="1" hits="0"/>
                      </lines>
                    </class>
                  </classes>
                </package>
                <package name=".elsewhere" line-rate="0" branch-rate="0" complexity="0">
                  <classes>
                    <class name="tool.py" filename="/elsewhere/tool.py" line-rate="0" branch-rate="0" complexity="0">
                      <methods/>
                      <lines>
                        <line number="1" hits="0" branch="true" condition-coverage="0% (0/2)" missing-branches="2,4"/>
                        <line number="2" hits="0"/>
                        <line number="4" hits="0"/>
                      </lines>
                    </class>
                  </classes>
                </package>
                <package name="shop" line-rate="0.8" branch-rate="0.3333" complexity="0">
                  <classes>
                    <class name="__init__.py" filename="shop/__init__.py" line-rate="1" branch-rate="1" complexity="0">
                      <methods/>
                      <lines>
                      </lines>
                    </class>
                    <class name="cart.py" filename="shop/cart.py" line-rate="0.75" branch-rate="0.3333" complexity="0">
                      <methods/>
                      <lines>
                        <line number="1" hits="1"/>
                        <line number="4" hits="1"/>
                        <line number="6" hits="1" branch="true" condition-coverage="50% (1/2)" missing-branches="7"/>
                        <line number="7" hits="0"/>
                        <line number="9" hits="1"/>
                        <line number="11" hits="1" branch="true" condition-coverage="50% (1/2)" missing-branches="exit"/>
                        <line number="12" hits="1" branch="true" condition-coverage="0% (0/2)" missing-branches="11,13"/>
                        <line number="13" hits="0"/>
                      </lines>
                    </class>
                    <class name="prices.py" filename="shop/prices.py" line-rate="1" branch-rate="1" complexity="0">
                      <methods/>
                      <lines>
                        <line number="1" hits="1"/>
                        <line number="2" hits="1"/>
                      </lines>
                    </class>
                  </classes>
                </package>
              </packages>
            </coverage>
        "#]].assert_eq(&cobertura(&toys::report(), Timestamp(1_700_000_000)));
    }

    #[test]
    fn nothing_is_still_a_document() {
        let report = CoverageReport {
            files: Vec::new(),
            ..toys::report()
        };
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <coverage version="testwright 0.1.0" timestamp="0" lines-valid="0" lines-covered="0" branches-valid="0" branches-covered="0" line-rate="1" branch-rate="1" complexity="0">
              <sources>
                <source>/project</source>
              </sources>
              <packages>
              </packages>
            </coverage>
        "#]].assert_eq(&cobertura(&report, Timestamp(0)));
    }

    #[test]
    fn names_are_escaped_and_come_back() {
        let path = "a \"b\"\n<c>&'ß\u{1}.py";
        let file = FileCoverage {
            path: format!("/project/{path}").into(),
            statements: BTreeSet::from([1]),
            ..FileCoverage::default()
        };
        let report = CoverageReport {
            files: vec![file],
            ..toys::report()
        };
        let text = cobertura(&report, Timestamp(0));
        let written = "filename=\"a &quot;b&quot;&#10;&lt;c&gt;&amp;&apos;ß\u{fffd}.py\"";
        assert!(text.contains(written), "{text}");
    }

    #[test]
    fn rates_are_never_rounded_to_the_ends() {
        assert_eq!(rate(0, 0), "1");
        assert_eq!(rate(7, 7), "1");
        assert_eq!(rate(0, 7), "0");
        assert_eq!(rate(1, 2), "0.5");
        assert_eq!(rate(1, 3), "0.3333");
        assert_eq!(rate(1, 66), "0.01515");
        assert_eq!(rate(1, 1_000_000), "0.0001");
        assert_eq!(rate(999_999, 1_000_000), "0.9999");
    }
}
