//! The page of one file: every line with its colour, what is missing in words, and the tests that reach it.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::escape::{Escaped, SourceLine};
use super::reached::{Mentioned, Reached};
use super::words::Source;
use super::{INDEX, bar, foot, grouped, head, name_with_folder, quantity};
use crate::Timestamp;
use crate::coverage::{Attribution, CoverageReport, FileCoverage, Findings};
use crate::missing::missing;

/// Where a page is among the others; neighbours as page and name.
pub(super) struct Place<'a> {
    pub(super) name: &'a str,
    pub(super) previous: Option<(&'a str, &'a str)>,
    pub(super) next: Option<(&'a str, &'a str)>,
}

const SCRIPT: &str = include_str!("page.js");

/// Lines are grouped, so that the browser need not lay out those that are far away.
const LINES_IN_A_GROUP: usize = 200;

pub(super) fn page(
    report: &CoverageReport,
    file: &FileCoverage,
    findings: &Findings,
    place: &Place<'_>,
    timestamp: Timestamp,
) -> String {
    let percentage = findings.counts().percentage_text(0);
    let mut text = head(&format!("{} · {percentage}% covered", place.name), SCRIPT);
    text += "<body class=\"file\">\n";
    text += &header(findings, place);
    text += "<main>\n";
    if file.text.is_none() {
        text += &unreadable(findings);
    } else if file.text.as_deref().is_some_and(str::is_empty) {
        text += "<p class=\"nothing\">This file is empty.</p>\n";
    } else {
        text += &Lines::new(report, file, findings).markup();
    }
    text += "</main>\n<nav class=\"neighbours\">";
    for (neighbour, label, key) in [(place.previous, "←", "p"), (place.next, "→", "n")] {
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
    text += &foot(timestamp);
    text
}

fn header(findings: &Findings, place: &Place<'_>) -> String {
    let counts = findings.counts();
    let mut text = format!(
        "<header>\n<a class=\"up\" id=\"u\" href=\"{INDEX}\" title=\"All files (u)\">All files</a>\n\
         <h1 title=\"{title}\">{name}</h1>\n\
         <p class=\"share\">{bar}<b>{percentage}%</b></p>\n<ul class=\"legend\">",
        title = Escaped(place.name),
        name = name_with_folder(place.name),
        bar = bar(&counts),
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
        // What there is none of needs no explanation, except the two that everybody looks for.
        if number > 0 || class == "r" || class == "m" {
            let _ = write!(
                text,
                "<li class=\"{class}\"><b>{}</b> {word}</li>",
                grouped(number)
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

fn unreadable(findings: &Findings) -> String {
    let items = missing(findings);
    let missing = if items.is_empty() {
        "Nothing is missing in it.".to_owned()
    } else {
        format!("Missing: {}.", Escaped(&items.join(", ")))
    };
    format!("<p class=\"nothing\">The source of this file cannot be read. {missing}</p>\n")
}

/// The lines of a file while they are written down.
struct Lines<'a> {
    report: &'a CoverageReport,
    findings: &'a Findings,
    source: Source<'a>,
    branches: BTreeMap<u32, Vec<i32>>,
    reached: Reached,
    mentioned: Mentioned,
    /// The test that the last button named, which the next need not repeat.
    last_named: Option<usize>,
}

impl<'a> Lines<'a> {
    fn new(
        report: &'a CoverageReport,
        file: &'a FileCoverage,
        findings: &'a Findings,
    ) -> Lines<'a> {
        Lines {
            report,
            findings,
            source: Source::new(file),
            branches: file.counted_branches().collect(),
            reached: Reached::new(file),
            mentioned: Mentioned::default(),
            last_named: None,
        }
    }

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
                self.line(&mut text, index);
            }
            text += "</section>\n";
        }
        text += "</div>\n";
        text += &self.mentioned.markup(self.report);
        text
    }

    fn line(&mut self, text: &mut String, index: usize) {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        let file = self.source.file;
        let first = file.first_lines.get(&number).copied().unwrap_or(number);
        let class = self.class(first);
        let _ = write!(
            text,
            "<div class=\"l{class}\" id=\"L{number}\"><a href=\"#L{number}\">{number}</a><code>{}</code>",
            SourceLine(self.source.lines[index])
        );
        if first == number {
            self.button(text, number);
            self.note(text, number);
        }
        text.push_str("</div>\n");
    }

    /// What happened to the statement that begins in a line.
    fn class(&self, first: u32) -> &'static str {
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

    /// Which tests reach a line, short. The script adds the list.
    fn button(&mut self, text: &mut String, line: u32) {
        let tests = self.reached.line(line);
        let Some(first) = tests.first().copied() else {
            return;
        };
        let (set, class, label) = match self.report.attribution {
            Attribution::Every => (tests, "", quantity(tests.len(), "test")),
            Attribution::First => {
                let class = if self.last_named == Some(first) {
                    " class=\"again\""
                } else {
                    ""
                };
                self.last_named = Some(first);
                (&tests[..1], class, shortened(self.report.test_name(first)))
            }
        };
        let set = self.mentioned.number(set);
        let _ = write!(text, "<button{class} data-tests=\"{set}\"");
        if let Some(ways) = self.branches.get(&line) {
            let ways: Vec<String> = (ways.iter())
                .map(|way| {
                    let tests = self.reached.way(line, *way);
                    let tests = match self.report.attribution {
                        Attribution::Every => tests,
                        Attribution::First => tests.get(..1).unwrap_or(tests),
                    };
                    let set = self.mentioned.number(tests);
                    format!("{set} {}", without_tags(&self.source.way(line, *way)))
                })
                .collect();
            let _ = write!(text, " data-ways=\"{}\"", ways.join("|"));
        }
        let _ = write!(text, ">{}</button>", Escaped(&label));
    }

    /// What is missing in a line that ran.
    fn note(&self, text: &mut String, line: u32) {
        if !self.findings.partial.contains(&line) {
            return;
        }
        let Some(ways) = self.branches.get(&line) else {
            return;
        };
        let missing: Vec<i32> = (ways.iter().copied())
            .filter(|way| self.findings.missing_branches.contains(&(line, *way)))
            .collect();
        let is_every_way = missing.len() == ways.len();
        for words in self.source.never(line, &missing, is_every_way) {
            let columns = self.source.columns(line);
            let _ = write!(text, "<p style=\"--in:{columns}\"><span>{words}</span></p>");
        }
    }
}

/// A name for a narrow column; the list below the line has all of it.
fn shortened(name: String) -> String {
    match name.char_indices().nth(60) {
        Some((place, _)) => format!("{}…", &name[..place]),
        None => name,
    }
}

/// Markup without its tags; what was escaped stays escaped.
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

    /// The lines of the toy's page, without head and foot.
    fn check(attribution: Attribution, expected: Expect) {
        let report = CoverageReport {
            attribution,
            ..toys::report()
        };
        let cart = toys::cart();
        let findings = cart.findings();
        expected.assert_eq(&Lines::new(&report, &cart, &findings).markup());
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
    fn what_is_missing_is_said_without_source() {
        let report = toys::report();
        let place = Place {
            name: "gone.py",
            previous: None,
            next: None,
        };
        let file = &report.files[4];
        let text = page(&report, file, &file.findings(), &place, Timestamp(0));
        assert!(text.contains("The source of this file cannot be read. Missing: 1."));
    }
}
