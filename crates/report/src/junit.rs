//! JUnit's XML format, in which build servers expect test results.
//!
//! The format has no standard, only a common subset of what readers accept: suites with counts, and
//! cases with a name, a time and, if they did not pass, an element with the reason.

use std::io;
use std::time::Duration;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::xml::replace_invalid_chars;

type Xml = Writer<Vec<u8>>;

/// Results of a set of tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSuite {
    /// Name of the tested harness or file.
    pub name: String,
    /// Tests, in the order in which they ran.
    pub cases: Vec<TestCase>,
}

/// Result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Name of the test.
    pub name: String,
    /// Duration of the test.
    pub time: Duration,
    /// Result of the test.
    pub verdict: CaseVerdict,
}

/// Result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseVerdict {
    /// The test passed.
    Passed,
    /// The test passed, and not all of it was run.
    PassedInPart {
        /// The steps that were not run, on one line.
        note: String,
    },
    /// The test failed.
    Failed {
        /// Kind of failure, as a word.
        kind: String,
        /// Reason, on one line.
        message: String,
        /// Details, on any number of lines.
        details: String,
    },
    /// The test could not be run.
    Broken {
        /// Reason, on one line.
        message: String,
    },
}

/// Renders a JUnit document.
pub fn junit(suite: &TestSuite) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut xml, suite).expect("memory can always be written to");
    let mut text = String::from_utf8(xml.into_inner()).expect("text was written");
    text.push('\n');
    text
}

/// Writes the whole document.
fn write(xml: &mut Xml, suite: &TestSuite) -> io::Result<()> {
    let count = |wanted: fn(&CaseVerdict) -> bool| {
        let found = suite.cases.iter().filter(|case| wanted(&case.verdict));
        found.count().to_string()
    };
    let counts = [
        ("tests", suite.cases.len().to_string()),
        (
            "failures",
            count(|verdict| matches!(verdict, CaseVerdict::Failed { .. })),
        ),
        (
            "errors",
            count(|verdict| matches!(verdict, CaseVerdict::Broken { .. })),
        ),
        (
            "time",
            seconds(suite.cases.iter().map(|case| case.time).sum()),
        ),
    ];
    let counts = || counts.iter().map(|(name, value)| (*name, value.as_str()));
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
    xml.create_element("testsuites")
        .with_attributes(counts())
        .write_inner_content(|xml| {
            xml.create_element("testsuite")
                .with_attribute(("name", replace_invalid_chars(&suite.name).as_str()))
                .with_attributes(counts())
                .write_inner_content(|xml| {
                    let mut cases = suite.cases.iter();
                    cases.try_for_each(|case| write_case(xml, &suite.name, case))
                })?;
            Ok(())
        })?;
    Ok(())
}

/// Writes one test case.
fn write_case(xml: &mut Xml, suite: &str, case: &TestCase) -> io::Result<()> {
    let element = xml
        .create_element("testcase")
        .with_attribute(("classname", replace_invalid_chars(suite).as_str()))
        .with_attribute(("name", replace_invalid_chars(&case.name).as_str()))
        .with_attribute(("time", seconds(case.time).as_str()));
    let (name, kind, message, details) = match &case.verdict {
        CaseVerdict::Passed => {
            element.write_empty()?;
            return Ok(());
        }
        CaseVerdict::PassedInPart { note } => {
            element.write_inner_content(|xml| {
                let note = replace_invalid_chars(note);
                let output = xml.create_element("system-out");
                output.write_text_content(BytesText::new(&note))?;
                Ok(())
            })?;
            return Ok(());
        }
        CaseVerdict::Failed {
            kind,
            message,
            details,
        } => ("failure", kind.as_str(), message, details.as_str()),
        CaseVerdict::Broken { message } => ("error", "error", message, ""),
    };
    element.write_inner_content(|xml| {
        xml.create_element(name)
            .with_attribute(("type", replace_invalid_chars(kind).as_str()))
            .with_attribute(("message", replace_invalid_chars(message).as_str()))
            .write_text_content(BytesText::new(&replace_invalid_chars(details)))?;
        Ok(())
    })?;
    Ok(())
}

/// Renders a duration in seconds.
fn seconds(time: Duration) -> String {
    format!("{:.3}", time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passing_failing_and_broken_tests_are_told_apart() {
        let case = |name: &str, verdict| TestCase {
            name: name.to_owned(),
            time: Duration::from_millis(1500),
            verdict,
        };
        let suite = TestSuite {
            name: String::from("stack.tstl"),
            cases: vec![
                case("good.test", CaseVerdict::Passed),
                case(
                    "bad.test",
                    CaseVerdict::Failed {
                        kind: String::from("property"),
                        message: String::from("`a < b` is false\u{1b}"),
                        details: String::from("push(1) & pop()"),
                    },
                ),
                case(
                    "odd.test",
                    CaseVerdict::Broken {
                        message: String::from("line 3 is unknown"),
                    },
                ),
            ],
        };
        let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites tests=\"3\" failures=\"1\" errors=\"1\" time=\"4.500\">
  <testsuite name=\"stack.tstl\" tests=\"3\" failures=\"1\" errors=\"1\" time=\"4.500\">
    <testcase classname=\"stack.tstl\" name=\"good.test\" time=\"1.500\"/>
    <testcase classname=\"stack.tstl\" name=\"bad.test\" time=\"1.500\">
      <failure type=\"property\" message=\"`a &lt; b` is false\u{fffd}\">push(1) &amp; pop()</failure>
    </testcase>
    <testcase classname=\"stack.tstl\" name=\"odd.test\" time=\"1.500\">
      <error type=\"error\" message=\"line 3 is unknown\"></error>
    </testcase>
  </testsuite>
</testsuites>
";
        assert_eq!(junit(&suite), expected);
    }
}
