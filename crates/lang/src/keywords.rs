//! Classifies lines: sections, keywords, repeat counts.

use std::ops::Range;

use crate::diagnostics::Diagnostic;
use crate::host;
use crate::lines::LogicalLine;

mod mistakes;

use mistakes::{missing_colon, nearest, wrong_section_warning};

/// Kind of declaration on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineKeyword {
    Pool,
    Property,
    Init,
    Finally,
    Log,
    Assume,
    Hint,
    Exception,
    Reference,
    Compare,
    Source,
    Feature,
    Expect,
    /// A line without keyword.
    Action,
}

/// Each keyword with its word on a line and its word in a section header.
const WORDS: [(LineKeyword, &str, &str); 14] = [
    (LineKeyword::Pool, "pool", "pools"),
    (LineKeyword::Property, "property", "properties"),
    (LineKeyword::Init, "init", "inits"),
    (LineKeyword::Finally, "finally", "finallys"),
    (LineKeyword::Log, "log", "logs"),
    (LineKeyword::Assume, "assume", "assumptions"),
    (LineKeyword::Hint, "hint", "hints"),
    (LineKeyword::Exception, "exception", "exceptions"),
    (LineKeyword::Reference, "reference", "references"),
    (LineKeyword::Compare, "compare", "compares"),
    (LineKeyword::Source, "source", "sources"),
    (LineKeyword::Feature, "feature", "features"),
    (LineKeyword::Expect, "expect", ""),
    (LineKeyword::Action, "", "actions"),
];

impl LineKeyword {
    /// Returns the word on a line, without colon.
    pub(crate) fn word(self) -> &'static str {
        WORDS
            .iter()
            .find(|(keyword, ..)| *keyword == self)
            .map_or("", |(_, word, _)| *word)
    }

    /// Returns the header of a section of such lines, without colon.
    pub(crate) fn section(self) -> &'static str {
        WORDS
            .iter()
            .find(|(keyword, ..)| *keyword == self)
            .map_or("", |(.., section)| *section)
    }

    /// Finds the keyword with this word.
    fn from_word(word: &str) -> Option<LineKeyword> {
        WORDS
            .iter()
            .find(|(_, singular, _)| !word.is_empty() && *singular == word)
            .map(|(keyword, ..)| *keyword)
    }

    /// Finds the keyword with this section header.
    fn from_section(word: &str) -> Option<LineKeyword> {
        WORDS
            .iter()
            .find(|(.., section)| !word.is_empty() && *section == word)
            .map(|(keyword, ..)| *keyword)
    }
}

/// A line of the harness, classified.
#[derive(Debug)]
pub(crate) struct Declaration<'a> {
    /// The line.
    pub(crate) line: &'a LogicalLine,
    /// Kind of declaration.
    pub(crate) keyword: LineKeyword,
    /// Repeat count of `*N action`.
    pub(crate) repeat: Option<u64>,
    /// Range after the keyword, without blanks at both ends, with a trailing comment.
    pub(crate) content: Range<usize>,
}

impl Declaration<'_> {
    /// Converts a range of the line to a range of the file.
    pub(crate) fn file_range(&self, range: &Range<usize>) -> Range<usize> {
        self.line.file_range(range)
    }

    /// Returns the range of the file of the line, without blanks at its ends.
    pub(crate) fn line_range(&self) -> Range<usize> {
        self.file_range(&trim(&self.line.text, 0..self.line.text.len()))
    }

    /// Returns the text of the content.
    pub(crate) fn text(&self) -> &str {
        &self.line.text[self.content.clone()]
    }
}

/// Narrows a range so that it has no blanks at its ends.
pub(crate) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let start = range.start + inner.len() - inner.trim_start().len();
    start..start + inner.trim().len()
}

/// Returns true if a physical line starts with a keyword and a colon.
pub(crate) fn starts_with_keyword(line: &str) -> bool {
    colon_word(line.trim_start()).is_some_and(|word| {
        LineKeyword::from_word(word)
            .or(LineKeyword::from_section(word))
            .is_some()
    })
}

/// Returns the word before a colon at the start of a line. `x := 1` has none.
fn colon_word(line: &str) -> Option<&str> {
    let end = line.find(|letter: char| !host::continues_name(letter))?;
    let rest = &line[end..];
    let is_colon = rest.starts_with(':') && !rest.starts_with(":=");
    (end > 0 && is_colon).then(|| &line[..end])
}

/// Classifies all lines.
pub(crate) fn classify<'a>(
    lines: &'a [LogicalLine],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Declaration<'a>> {
    let mut classifier = Classifier {
        section: None,
        diagnostics,
    };
    lines
        .iter()
        .filter_map(|line| classifier.classify_line(line))
        .collect()
}

/// Classifier with the current section.
struct Classifier<'d> {
    /// LineKeyword of lines without one, and the place of the section header.
    section: Option<(LineKeyword, Range<usize>)>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Classifier<'_> {
    /// Classifies a line. Returns `None` for a section header or a line that cannot be used.
    fn classify_line<'a>(&mut self, line: &'a LogicalLine) -> Option<Declaration<'a>> {
        let content = trim(&line.text, 0..line.text.len());
        let text = &line.text[content.clone()];
        let (word, behind_word) = match colon_word(text) {
            Some(word) => (Some(word), word.len() + 1),
            None => self.recognise_loose_colon(line, &content, text),
        };
        let small = word.map(str::to_lowercase).unwrap_or_default();
        let word_is_loose = word.is_some_and(|word| word.len() + 1 != behind_word);
        let known = word.map(|word| if word_is_loose { small.as_str() } else { word });
        if let Some(section) = known.and_then(LineKeyword::from_section) {
            self.start_section(
                line,
                section,
                content.start + behind_word..content.end,
                &content,
            );
            return None;
        }
        let own = known.and_then(LineKeyword::from_word);
        if own.is_none()
            && let Some(declaration) = self.keyword_after_exceptions(line, &content, text)
        {
            return Some(declaration);
        }
        if own.is_none() && self.is_misplaced_action(text) {
            self.report_misplaced_action(line, &content);
        }
        let keyword = match (own, &self.section) {
            (Some(own), Some((section, header)))
                if own != *section && *section != LineKeyword::Action =>
            {
                let location = content.start..content.start + behind_word;
                let problem = wrong_section_warning(line, own, *section, header.clone(), &location);
                self.diagnostics.push(problem);
                own
            }
            (Some(own), _) => own,
            (None, Some((section, _))) => *section,
            (None, None) => LineKeyword::Action,
        };
        let declaration = Declaration {
            line,
            keyword,
            repeat: None,
            content: match own {
                Some(_) => trim(&line.text, content.start + behind_word..content.end),
                None => content,
            },
        };
        if own.is_none() && keyword == LineKeyword::Action {
            return self.classify_action(declaration, word);
        }
        match word
            .filter(|word| own.is_none() && !host::is_keyword(word) && nearest(word).is_some())
        {
            Some(word) => self.report_unknown_keyword(declaration, word),
            None => Some(declaration),
        }
    }

    /// Starts a section. `rest` is the range after its header.
    fn start_section(
        &mut self,
        line: &LogicalLine,
        section: LineKeyword,
        rest: Range<usize>,
        content: &Range<usize>,
    ) {
        let header = content.start..rest.start;
        let range = trim(&line.text, rest);
        let rest = &line.text[range.clone()];
        if !rest.is_empty() && !rest.starts_with('#') {
            self.diagnostics.push(
                Diagnostic::warning(
                    "text-behind-header",
                    line.file_range(&range),
                    format!(
                        "text behind the section header `{}:` is ignored",
                        section.section()
                    ),
                )
                .with_label("ignored")
                .with_help(match section.word() {
                    "" => "put it on a line of its own".to_owned(),
                    word => format!(
                        "put it on a line of its own, or write `{word}: {}`",
                        shorten(rest)
                    ),
                }),
            );
        }
        self.section = Some((section, line.file_range(&header)));
    }

    /// Classifies a line without keyword as an action, unless it is a misspelt declaration.
    fn classify_action<'a>(
        &mut self,
        declaration: Declaration<'a>,
        word: Option<&str>,
    ) -> Option<Declaration<'a>> {
        if declaration.text().starts_with('*') {
            return self.parse_repeat(declaration);
        }
        if let Some(word) = word.filter(|word| !host::is_keyword(word)) {
            return self.report_unknown_keyword(declaration, word);
        }
        if let Some((keyword, content, problem)) = missing_colon(&declaration) {
            self.diagnostics.push(problem);
            return Some(Declaration {
                keyword,
                content,
                ..declaration
            });
        }
        Some(declaration)
    }

    /// Parses `*N action`.
    fn parse_repeat<'a>(&mut self, mut declaration: Declaration<'a>) -> Option<Declaration<'a>> {
        let text = declaration.text();
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (count, rest) = text.split_at(end);
        let mut location = declaration.content.start..declaration.content.start + end;
        let digits = count[1..].len()
            - count[1..]
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let mut help = format!(
            "write `*3 <x> := 1` to have an action three times as often, at most {MAX_REPEAT} times"
        );
        let problem = match count[1..].parse::<u64>() {
            Ok(0) => "the line is repeated zero times, so it has no actions",
            Ok(times) if times > MAX_REPEAT => "the repeat count is too large",
            Ok(_) if rest.trim().is_empty() => "nothing stands behind the repeat count",
            Ok(_) if starts_with_keyword(rest) => "only actions can be repeated",
            Ok(times) => {
                declaration.repeat = Some(times);
                declaration.content = trim(
                    &declaration.line.text,
                    location.end..declaration.content.end,
                );
                return Some(declaration);
            }
            Err(_) if digits > 0 && digits + 1 < count.len() => {
                let (number, rest) = text[1..].split_at(digits);
                location.end = location.start + 1 + digits;
                help = format!("write `*{number} {}`", shorten(rest));
                "a blank must follow the repeat count"
            }
            Err(_)
                if count == "*" && rest.trim_start().starts_with(|c: char| c.is_ascii_digit()) =>
            {
                help = format!("write `*{}`", shorten(rest.trim_start()));
                "no blank can stand between `*` and the number"
            }
            Err(_) => "`*` at the start of a line must be followed by a number",
        };
        self.diagnostics.push(
            Diagnostic::error("bad-repeat", declaration.file_range(&location), problem)
                .with_help(help),
        );
        None
    }
}

/// Maximum repeat count. All actions are numbered, so a larger one is a mistake.
const MAX_REPEAT: u64 = 1_000_000;

/// Shortens a text for a message.
pub(crate) fn shorten(text: &str) -> String {
    const MAX_LENGTH: usize = 40;
    if text.chars().count() <= MAX_LENGTH {
        return text.to_owned();
    }
    let start: String = text.chars().take(MAX_LENGTH).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &[(LineKeyword, &str)]) {
        let mut diagnostics = Vec::new();
        let lines = crate::lines::read(file, &mut diagnostics);
        let declarations = classify(&lines.harness, &mut diagnostics);
        let shown: Vec<(LineKeyword, &str)> = declarations
            .iter()
            .map(|declaration| (declaration.keyword, declaration.text()))
            .collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn keywords_and_sections() {
        check(
            "init: a = 1\nfinally:b()\nlog := 3\nelse: x\nproperties: # all\n p\nproperty: q\nactions:\n r\n pool: <x> 1\n",
            &[
                (LineKeyword::Init, "a = 1"),
                (LineKeyword::Finally, "b()"),
                (LineKeyword::Action, "log := 3"),
                (LineKeyword::Action, "else: x"),
                (LineKeyword::Property, "p"),
                (LineKeyword::Property, "q"),
                (LineKeyword::Action, "r"),
                (LineKeyword::Pool, "<x> 1"),
            ],
        );
    }

    #[test]
    fn misspelt_words_are_understood() {
        check(
            "Inits:\na = 1\nacions:\npool <x> 3\nlog = 5\nlog in x\nproperty f(x)\n",
            &[
                (LineKeyword::Init, "a = 1"),
                (LineKeyword::Pool, "<x> 3"),
                (LineKeyword::Action, "log = 5"),
                (LineKeyword::Action, "log in x"),
                (LineKeyword::Property, "f(x)"),
            ],
        );
    }
}
