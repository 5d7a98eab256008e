//! The page of one file: every line with its color, the missing branches in words, and the tests
//! that reach each line.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::branch_text::SourceText;
use super::escape::{Escaped, SourceLine};
use super::reaching_tests::{ReachingTests, TestSets};
use super::{
    INDEX, count_with_noun, coverage_bar, group_digits, name_with_folder, page_foot, page_head,
};
use crate::Timestamp;
use crate::coverage::{Attribution, CoverageReport, FileCoverage, FileFindings};
use crate::missing::missing_ranges;

/// Position of a page among the others. Each neighbor is a page and a name.
pub(super) struct PagePosition<'a> {
    /// Name of the file.
    pub(super) name: &'a str,
    /// Page before this one.
    pub(super) previous: Option<(&'a str, &'a str)>,
    /// Page after this one.
    pub(super) next: Option<(&'a str, &'a str)>,
}

const SCRIPT: &str = include_str!("page.js");

/// Number of lines in a group. Lines are grouped so that the browser need not lay out those that
/// are far away.
const LINES_IN_A_GROUP: usize = 200;

/// Renders the page of one file.
pub(super) fn page(
    report: &CoverageReport,
    file: &FileCoverage,
    findings: &FileFindings,
    position: &PagePosition<'_>,
    timestamp: Timestamp,
) -> String {
    let percentage = findings.counts().percentage_text(0);
    let mut text = page_head(
        &format!("{} · {percentage}% covered", position.name),
        SCRIPT,
    );
    text += "<body class=\"file\">\n";
    text += &page_header(findings, position);
    text += "<main>\n";
    if file.text.is_none() {
        text += &unreadable_message(findings);
    } else if file.text.as_deref().is_some_and(str::is_empty) {
        text += "<p class=\"nothing\">This file is empty.</p>\n";
    } else {
        text += &SourceLines::new(report, file, findings).markup();
    }
    text += "</main>\n<nav class=\"neighbours\">";
    for (neighbour, label, key) in [(position.previous, "←", "p"), (position.next, "→", "n")] {
        match neighbour {
            Some((page, name)) => {
                let _ = write!(
                    text,
                    "<a id=\"{key}\" href=\"{page}\"><span>{label}</span> {}</a>",
                    name_with_folder(name)
                );
            }
            None => text += "<span></span>",
        }
    }
    text += "</nav>\n";
    text += &page_foot(timestamp);
    text
}

/// Renders the head of the page: name, percentage and legend.
fn page_header(findings: &FileFindings, position: &PagePosition<'_>) -> String {
    let counts = findings.counts();
    let mut text = format!(
        "<header>\n<a class=\"up\" id=\"u\" href=\"{INDEX}\" title=\"All files (u)\">All files</a>\n\
         <h1 title=\"{title}\">{name}</h1>\n\
         <p class=\"share\">{bar}<b>{percentage}%</b></p>\n<ul class=\"legend\">",
        title = Escaped(position.name),
        name = name_with_folder(position.name),
        bar = coverage_bar(&counts),
        percentage = counts.percentage_text(0),
    );
    let run = findings.executed.len() - findings.partial.len();
    let kinds = [
        ("r", run, "run"),
        ("p", counts.partial_lines, "partial"),
        ("m", counts.missed_statements, "missed"),
        ("x", counts.excluded, "excluded"),
    ];
    for (class, number, word) in kinds {
        // A kind of line that does not occur needs no explanation, except the two that every reader
        // looks for.
        if number > 0 || class == "r" || class == "m" {
            let _ = write!(
                text,
                "<li class=\"{class}\"><b>{}</b> {word}</li>",
                group_digits(number)
            );
        }
    }
    text += "</ul>\n";
    if counts.partial_lines + counts.missed_statements > 0 {
        text += "<p class=\"jump\"><button id=\"k\" title=\"Previous missed line (k)\">↑ <kbd>k</kbd></button>\
                 <button id=\"j\" title=\"Next missed line (j)\">↓ <kbd>j</kbd></button></p>\n";
    }
    text += "</header>\n";
    text
}

/// Renders what is known of a file whose source cannot be read.
fn unreadable_message(findings: &FileFindings) -> String {
    let items = missing_ranges(findings);
    let missing = if items.is_empty() {
        "Nothing is missing in it.".to_owned()
    } else {
        format!("Missing: {}.", Escaped(&items.join(", ")))
    };
    format!("<p class=\"nothing\">The source of this file cannot be read. {missing}</p>\n")
}

/// The lines of a file while they are rendered.
struct SourceLines<'a> {
    report: &'a CoverageReport,
    findings: &'a FileFindings,
    source: SourceText<'a>,
    /// Destinations of each line with branches.
    branches: BTreeMap<u32, Vec<i32>>,
    reached: ReachingTests,
    mentioned: TestSets,
    /// Test that the last button named. The next button need not repeat it.
    last_named: Option<usize>,
}

impl<'a> SourceLines<'a> {
    fn new(
        report: &'a CoverageReport,
        file: &'a FileCoverage,
        findings: &'a FileFindings,
    ) -> SourceLines<'a> {
        SourceLines {
            report,
            findings,
            source: SourceText::new(file),
            branches: file.counted_branches().collect(),
            reached: ReachingTests::new(file),
            mentioned: TestSets::default(),
            last_named: None,
        }
    }

    /// Renders all lines, and the data for the script.
    fn markup(mut self) -> String {
        let count = self.source.lines.len();
        let heading = match self.report.attribution {
            Attribution::First => "first reached by",
            Attribution::Every => "reached by",
        };
        let digits = count.to_string().len().max(2);
        let attribution = match self.report.attribution {
            Attribution::First => "first",
            Attribution::Every => "every",
        };
        let mut text = format!(
            "<div class=\"source\" data-attribution=\"{attribution}\" style=\"--digits:{digits}\">\n\
             <p class=\"heading\">{heading}</p>\n"
        );
        for first in (0..count).step_by(LINES_IN_A_GROUP) {
            let last = (first + LINES_IN_A_GROUP).min(count);
            let _ = writeln!(text, "<section style=\"--lines:{}\">", last - first);
            for index in first..last {
                self.write_line(&mut text, index);
            }
            text += "</section>\n";
        }
        text += "</div>\n";
        text += &self.mentioned.markup(self.report);
        text
    }

    /// Renders one line.
    fn write_line(&mut self, text: &mut String, index: usize) {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let file = self.source.file;
        let first = file.first_lines.get(&number).copied().unwrap_or(number);
        let class = self.css_class(first);
        let _ = write!(
            text,
            "<div class=\"l{class}\" id=\"L{number}\"><a href=\"#L{number}\">{number}</a><code>{}</code>",
            SourceLine(self.source.lines[index])
        );
        if first == number {
            self.write_button(text, number);
            self.write_note(text, number);
        }
        text.push_str("</div>\n");
    }

    /// Returns the CSS class for the state of the statement that begins in a line.
    fn css_class(&self, first: u32) -> &'static str {
        let findings = self.findings;
        if findings.excluded.contains(&first) {
            " x"
        } else if findings.partial.contains(&first) {
            " p"
        } else if findings.executed.contains(&first) {
            " r"
        } else if findings.missing.contains(&first) {
            " m"
        } else {
            ""
        }
    }

    /// Renders a button with the tests that reach a line, in short. The script adds the list.
    fn write_button(&mut self, text: &mut String, line: u32) {
        let tests = self.reached.tests_of_line(line);
        let Some(first) = tests.first().copied() else {
            return;
        };
        let (set, class, label) = match self.report.attribution {
            Attribution::Every => (tests, "", count_with_noun(tests.len(), "test")),
            Attribution::First => {
                let class = if self.last_named == Some(first) {
                    " class=\"again\""
                } else {
                    ""
                };
                self.last_named = Some(first);
                (
                    &tests[..1],
                    class,
                    shorten_name(self.report.test_name(first)),
                )
            }
        };
        let set = self.mentioned.set_number(set);
        let _ = write!(text, "<button{class} data-tests=\"{set}\"");
        if let Some(destinations) = self.branches.get(&line) {
            let destinations: Vec<String> = (destinations.iter())
                .map(|destination| {
                    let tests = self.reached.tests_of_branch(line, *destination);
                    let tests = match self.report.attribution {
                        Attribution::Every => tests,
                        Attribution::First => tests.get(..1).unwrap_or(tests),
                    };
                    let set = self.mentioned.set_number(tests);
                    format!(
                        "{set} {}",
                        without_tags(&self.source.describe_destination(line, *destination))
                    )
                })
                .collect();
            let _ = write!(text, " data-ways=\"{}\"", destinations.join("|"));
        }
        let _ = write!(text, ">{}</button>", Escaped(&label));
    }

    /// Renders notes about the missing branches of a line that ran.
    fn write_note(&self, text: &mut String, line: u32) {
        if !self.findings.partial.contains(&line) {
            return;
        }
        let Some(destinations) = self.branches.get(&line) else {
            return;
        };
        let missing: Vec<i32> = (destinations.iter().copied())
            .filter(|destination| {
                self.findings
                    .missing_branches
                    .contains(&(line, *destination))
            })
            .collect();
        let is_every_branch = missing.len() == destinations.len();
        for words in self
            .source
            .describe_missing(line, &missing, is_every_branch)
        {
            let columns = self.source.columns(line);
            let _ = write!(text, "<p style=\"--in:{columns}\"><span>{words}</span></p>");
        }
    }
}

/// Shortens a name for a narrow column. The list below the line has the whole name.
fn shorten_name(name: String) -> String {
    match name.char_indices().nth(60) {
        Some((position, _)) => format!("{}…", &name[..position]),
        None => name,
    }
}

/// Removes the tags of markup. Escaped characters stay escaped.
fn without_tags(markup: &str) -> String {
    let mut text = String::new();
    let mut is_inside = false;
    for letter in markup.chars() {
        match letter {
            '<' => is_inside = true,
            '>' => is_inside = false,
            _ if !is_inside => text.push(letter),
            _ => {}
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::toys;

    /// Compares the lines of the toy's page, without head and foot.
    fn check(attribution: Attribution, expected: Expect) {
        let report = CoverageReport {
            attribution,
            ..toys::report()
        };
        let cart = toys::cart();
        let findings = cart.findings();
        expected.assert_eq(&SourceLines::new(&report, &cart, &findings).markup());
    }

    #[test]
    fn lines_with_all_tests() {
        check(
            Attribution::Every,
            expect![[r##"
                <div class="source" data-attribution="every" style="--digits:2">
                <p class="heading">reached by</p>
                <section style="--lines:17">
                <div class="l r" id="L1"><a href="#L1">1</a><code>import decimal</code><button data-tests="0">1 test</button></div>
                <div class="l" id="L2"><a href="#L2">2</a><code></code></div>
                <div class="l" id="L3"><a href="#L3">3</a><code></code></div>
                <div class="l r" id="L4"><a href="#L4">4</a><code>def total(prices, voucher=None, *,</code><button data-tests="0">1 test</button></div>
                <div class="l r" id="L5"><a href="#L5">5</a><code>          rounded=True):</code></div>
                <div class="l p" id="L6"><a href="#L6">6</a><code>    if voucher is not None and voucher &gt; 1:</code><button data-tests="1" data-ways="2 to line 7|1 to line 9">2 tests</button><p style="--in:4"><span>never jumped to <a href="#L7">line 7</a> (the condition was never true)</span></p></div>
                <div class="l m" id="L7"><a href="#L7">7</a><code>        raise ValueError(</code></div>
                <div class="l m" id="L8"><a href="#L8">8</a><code>            f&quot;a voucher of {voucher:.0%} &amp; more&quot;)</code></div>
                <div class="l r" id="L9"><a href="#L9">9</a><code>    result = 0</code><button data-tests="1">2 tests</button></div>
                <div class="l" id="L10"><a href="#L10">10</a><code></code></div>
                <div class="l p" id="L11"><a href="#L11">11</a><code>    for price in prices:</code><button data-tests="1" data-ways="2 out of the function total|1 to line 12">2 tests</button><p style="--in:4"><span>never left the function <b>total</b> (the loop never ran to its end)</span></p></div>
                <div class="l p" id="L12"><a href="#L12">12</a><code>        if price &lt; 0:</code><button data-tests="1" data-ways="2 to line 11|2 to line 13">2 tests</button><p style="--in:8"><span>never got to <a href="#L11">line 11</a> or to <a href="#L13">line 13</a></span></p></div>
                <div class="l m" id="L13"><a href="#L13">13</a><code>            print(&quot;&lt;refund&gt;&quot;, price)</code></div>
                <div class="l" id="L14"><a href="#L14">14</a><code></code></div>
                <div class="l" id="L15"><a href="#L15">15</a><code></code></div>
                <div class="l x" id="L16"><a href="#L16">16</a><code>def debug():  # pragma: no cover</code></div>
                <div class="l x" id="L17"><a href="#L17">17</a><code>    print(&quot;…&quot;)</code></div>
                </section>
                </div>
                <ol id="tests" hidden>
                <li>import</li>
                <li>total([None])</li>
                <li>total([&quot;&lt;b&gt;&quot;]) &amp; more</li>
                </ol>
                <script type="text/plain" id="sets">0
                1 2
                </script>
            "##]],
        );
    }

    #[test]
    fn lines_with_the_first_test() {
        check(
            Attribution::First,
            expect![[r##"
                <div class="source" data-attribution="first" style="--digits:2">
                <p class="heading">first reached by</p>
                <section style="--lines:17">
                <div class="l r" id="L1"><a href="#L1">1</a><code>import decimal</code><button data-tests="0">import</button></div>
                <div class="l" id="L2"><a href="#L2">2</a><code></code></div>
                <div class="l" id="L3"><a href="#L3">3</a><code></code></div>
                <div class="l r" id="L4"><a href="#L4">4</a><code>def total(prices, voucher=None, *,</code><button class="again" data-tests="0">import</button></div>
                <div class="l r" id="L5"><a href="#L5">5</a><code>          rounded=True):</code></div>
                <div class="l p" id="L6"><a href="#L6">6</a><code>    if voucher is not None and voucher &gt; 1:</code><button data-tests="1" data-ways="2 to line 7|1 to line 9">total([None])</button><p style="--in:4"><span>never jumped to <a href="#L7">line 7</a> (the condition was never true)</span></p></div>
                <div class="l m" id="L7"><a href="#L7">7</a><code>        raise ValueError(</code></div>
                <div class="l m" id="L8"><a href="#L8">8</a><code>            f&quot;a voucher of {voucher:.0%} &amp; more&quot;)</code></div>
                <div class="l r" id="L9"><a href="#L9">9</a><code>    result = 0</code><button class="again" data-tests="1">total([None])</button></div>
                <div class="l" id="L10"><a href="#L10">10</a><code></code></div>
                <div class="l p" id="L11"><a href="#L11">11</a><code>    for price in prices:</code><button class="again" data-tests="1" data-ways="2 out of the function total|1 to line 12">total([None])</button><p style="--in:4"><span>never left the function <b>total</b> (the loop never ran to its end)</span></p></div>
                <div class="l p" id="L12"><a href="#L12">12</a><code>        if price &lt; 0:</code><button class="again" data-tests="1" data-ways="2 to line 11|2 to line 13">total([None])</button><p style="--in:8"><span>never got to <a href="#L11">line 11</a> or to <a href="#L13">line 13</a></span></p></div>
                <div class="l m" id="L13"><a href="#L13">13</a><code>            print(&quot;&lt;refund&gt;&quot;, price)</code></div>
                <div class="l" id="L14"><a href="#L14">14</a><code></code></div>
                <div class="l" id="L15"><a href="#L15">15</a><code></code></div>
                <div class="l x" id="L16"><a href="#L16">16</a><code>def debug():  # pragma: no cover</code></div>
                <div class="l x" id="L17"><a href="#L17">17</a><code>    print(&quot;…&quot;)</code></div>
                </section>
                </div>
                <ol id="tests" hidden>
                <li>import</li>
                <li>total([None])</li>
                </ol>
                <script type="text/plain" id="sets">0
                1
                </script>
            "##]],
        );
    }

    #[test]
    fn missing_lines_are_listed_without_source() {
        let report = toys::report();
        let position = PagePosition {
            name: "gone.py",
            previous: None,
            next: None,
        };
        let file = &report.files[4];
        let text = page(&report, file, &file.findings(), &position, Timestamp(0));
        assert!(text.contains("The source of this file cannot be read. Missing: 1."));
    }
}
