//! JUnit's XML, in which build servers expect the results of tests.
//!
//! There is no standard for it, only what readers have in common: suites with counts, cases with a name, a time and,
//! if they did not pass, an element that says why.

use std::io;
use std::time::Duration;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use crate::xml::allowed;

type Xml = Writer<Vec<u8>>;

/// The results of some tests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestSuite {
    /// What was tested.
    pub name: String,
    /// The tests, in the order in which they ran.
    pub cases: Vec<TestCase>,
}

/// The result of one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestCase {
    /// Its name.
    pub name: String,
    /// How long it took.
    pub time: Duration,
    /// What it came to.
    pub verdict: Verdict,
}

/// What a test came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It failed.
    Failed {
        /// In which way, as a word.
        kind: String,
        /// Why, in a line.
        message: String,
        /// More about it, in any number of lines.
        details: String,
    },
    /// It could not be run.
    Broken {
        /// Why, in a line.
        message: String,
    },
}

/// The text of the document.
pub fn junit(suite: &TestSuite) -> String {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 2);
    write(&mut xml, suite).expect("memory can always be written to");
    let mut text = String::from_utf8(xml.into_inner()).expect("text was written");
    text.push('\n');
    text
}

fn write(xml: &mut Xml, suite: &TestSuite) -> io::Result<()> {
    let count = |wanted: fn(&Verdict) -> bool| {
        let found = suite.cases.iter().filter(|case| wanted(&case.verdict));
        found.count().to_string()
    };
    let counts = [
        ("tests", suite.cases.len().to_string()),
        (
            "failures",
            count(|verdict| matches!(verdict, Verdict::Failed { .. })),
        ),
        (
            "errors",
            count(|verdict| matches!(verdict, Verdict::Broken { .. })),
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
                .with_attribute(("name", allowed(&suite.name).as_str()))
                .with_attributes(counts())
                .write_inner_content(|xml| {
                    let mut cases = suite.cases.iter();
                    cases.try_for_each(|case| write_case(xml, &suite.name, case))
                })?;
            Ok(())
        })?;
    Ok(())
}

fn write_case(xml: &mut Xml, suite: &str, case: &TestCase) -> io::Result<()> {
    let element = xml
        .create_element("testcase")
        .with_attribute(("classname", allowed(suite).as_str()))
        .with_attribute(("name", allowed(&case.name).as_str()))
        .with_attribute(("time", seconds(case.time).as_str()));
    let (name, kind, message, details) = match &case.verdict {
        Verdict::Passed => {
            element.write_empty()?;
            return Ok(());
        }
        Verdict::Failed {
            kind,
            message,
            details,
        } => ("failure", kind.as_str(), message, details.as_str()),
        Verdict::Broken { message } => ("error", "error", message, ""),
    };
    element.write_inner_content(|xml| {
        xml.create_element(name)
            .with_attribute(("type", allowed(kind).as_str()))
            .with_attribute(("message", allowed(message).as_str()))
            .write_text_content(BytesText::new(&allowed(details)))?;
        Ok(())
    })?;
    Ok(())
}

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
                case("good.test", Verdict::Passed),
                case(
                    "bad.test",
                    Verdict::Failed {
                        kind: String::from("property"),
                        message: String::from("`a < b` is false\u{1b}"),
                        details: String::from("push(1) & pop()"),
                    },
                ),
                case(
                    "odd.test",
                    Verdict::Broken {
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
