//! What kind of line a line is: sections, keywords, repeat counts.

use std::ops::Range;

use crate::diagnostics::Diagnostic;
use crate::host;
use crate::lines::Logical;

mod mistakes;

use mistakes::{missing_colon, nearest, wrong_section};

/// What a line declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keyword {
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
    /// No keyword.
    Action,
}

/// Keyword, the word on a line, the word of a section.
const WORDS: [(Keyword, &str, &str); 14] = [
    (Keyword::Pool, "pool", "pools"),
    (Keyword::Property, "property", "properties"),
    (Keyword::Init, "init", "inits"),
    (Keyword::Finally, "finally", "finallys"),
    (Keyword::Log, "log", "logs"),
    (Keyword::Assume, "assume", "assumptions"),
    (Keyword::Hint, "hint", "hints"),
    (Keyword::Exception, "exception", "exceptions"),
    (Keyword::Reference, "reference", "references"),
    (Keyword::Compare, "compare", "compares"),
    (Keyword::Source, "source", "sources"),
    (Keyword::Feature, "feature", "features"),
    (Keyword::Expect, "expect", ""),
    (Keyword::Action, "", "actions"),
];

impl Keyword {
    /// As written on a line, without colon.
    pub(crate) fn word(self) -> &'static str {
        WORDS
            .iter()
            .find(|(keyword, ..)| *keyword == self)
            .map_or("", |(_, word, _)| *word)
    }

    /// The header of a section of such lines, without colon.
    pub(crate) fn section(self) -> &'static str {
        WORDS
            .iter()
            .find(|(keyword, ..)| *keyword == self)
            .map_or("", |(.., section)| *section)
    }

    fn of_word(word: &str) -> Option<Keyword> {
        WORDS
            .iter()
            .find(|(_, singular, _)| !word.is_empty() && *singular == word)
            .map(|(keyword, ..)| *keyword)
    }

    fn of_section(word: &str) -> Option<Keyword> {
        WORDS
            .iter()
            .find(|(.., section)| !word.is_empty() && *section == word)
            .map(|(keyword, ..)| *keyword)
    }
}

/// A line of the harness and what it is.
#[derive(Debug)]
pub(crate) struct Declaration<'a> {
    pub(crate) line: &'a Logical,
    pub(crate) keyword: Keyword,
    /// `*N`, and where it stands.
    pub(crate) repeat: Option<u64>,
    /// What follows the keyword, blanks removed at both ends, a trailing comment included.
    pub(crate) content: Range<usize>,
}

impl Declaration<'_> {
    /// The range of the file for a range of the line.
    pub(crate) fn place(&self, range: &Range<usize>) -> Range<usize> {
        self.line.place(range)
    }

    /// The line without blanks at its ends, as a range of the file.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.place(&trim(&self.line.text, 0..self.line.text.len()))
    }

    /// The content as text.
    pub(crate) fn text(&self) -> &str {
        &self.line.text[self.content.clone()]
    }
}

/// Narrows a range so that no blanks are at its ends.
pub(crate) fn trim(text: &str, range: Range<usize>) -> Range<usize> {
    let inner = text.get(range.clone()).unwrap_or_default();
    let start = range.start + inner.len() - inner.trim_start().len();
    start..start + inner.trim().len()
}

/// Whether a physical line starts with a keyword and a colon.
pub(crate) fn starts_with_keyword(line: &str) -> bool {
    colon_word(line.trim_start()).is_some_and(|word| {
        Keyword::of_word(word)
            .or(Keyword::of_section(word))
            .is_some()
    })
}

/// The word before a colon at the start of a line; `x := 1` has none.
fn colon_word(line: &str) -> Option<&str> {
    let end = line.find(|letter: char| !host::continues_name(letter))?;
    let rest = &line[end..];
    let is_colon = rest.starts_with(':') && !rest.starts_with(":=");
    (end > 0 && is_colon).then(|| &line[..end])
}

/// Finds out what each line is.
pub(crate) fn classify<'a>(
    lines: &'a [Logical],
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Declaration<'a>> {
    let mut classifier = Classifier {
        section: None,
        diagnostics,
    };
    lines
        .iter()
        .filter_map(|line| classifier.line(line))
        .collect()
}

struct Classifier<'d> {
    /// The keyword that lines get for free, and the place of the header.
    section: Option<(Keyword, Range<usize>)>,
    diagnostics: &'d mut Vec<Diagnostic>,
}

impl Classifier<'_> {
    fn line<'a>(&mut self, line: &'a Logical) -> Option<Declaration<'a>> {
        let content = trim(&line.text, 0..line.text.len());
        let text = &line.text[content.clone()];
        let (word, behind_word) = match colon_word(text) {
            Some(word) => (Some(word), word.len() + 1),
            None => self.loose_colon(line, &content, text),
        };
        let small = word.map(str::to_lowercase).unwrap_or_default();
        let word_is_loose = word.is_some_and(|word| word.len() + 1 != behind_word);
        let known = word.map(|word| if word_is_loose { small.as_str() } else { word });
        if let Some(section) = known.and_then(Keyword::of_section) {
            self.header(
                line,
                section,
                content.start + behind_word..content.end,
                &content,
            );
            return None;
        }
        let own = known.and_then(Keyword::of_word);
        if own.is_none()
            && let Some(declaration) = self.behind_exceptions(line, &content, text)
        {
            return Some(declaration);
        }
        if own.is_none() && self.is_misplaced_action(text) {
            self.misplaced_action(line, &content);
        }
        let keyword = match (own, &self.section) {
            (Some(own), Some((section, header)))
                if own != *section && *section != Keyword::Action =>
            {
                let place = content.start..content.start + behind_word;
                let problem = wrong_section(line, own, *section, header.clone(), &place);
                self.diagnostics.push(problem);
                own
            }
            (Some(own), _) => own,
            (None, Some((section, _))) => *section,
            (None, None) => Keyword::Action,
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
        if own.is_none() && keyword == Keyword::Action {
            return self.action(declaration, word);
        }
        match word
            .filter(|word| own.is_none() && !host::is_keyword(word) && nearest(word).is_some())
        {
            Some(word) => self.unknown_keyword(declaration, word),
            None => Some(declaration),
        }
    }

    /// A section header; `rest` is what stands behind it.
    fn header(
        &mut self,
        line: &Logical,
        section: Keyword,
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
                    line.place(&range),
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
        self.section = Some((section, line.place(&header)));
    }

    fn action<'a>(
        &mut self,
        declaration: Declaration<'a>,
        word: Option<&str>,
    ) -> Option<Declaration<'a>> {
        if declaration.text().starts_with('*') {
            return self.repeated(declaration);
        }
        if let Some(word) = word.filter(|word| !host::is_keyword(word)) {
            return self.unknown_keyword(declaration, word);
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

    /// `*N action`
    fn repeated<'a>(&mut self, mut declaration: Declaration<'a>) -> Option<Declaration<'a>> {
        let text = declaration.text();
        let end = text.find(char::is_whitespace).unwrap_or(text.len());
        let (count, rest) = text.split_at(end);
        let mut place = declaration.content.start..declaration.content.start + end;
        let digits = count[1..].len()
            - count[1..]
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let mut help = format!(
            "write `*3 <x> := 1` to have an action three times as often, at most {LARGEST_REPEAT} times"
        );
        let problem = match count[1..].parse::<u64>() {
            Ok(0) => "the line is repeated zero times, so it has no actions",
            Ok(times) if times > LARGEST_REPEAT => "the repeat count is too large",
            Ok(_) if rest.trim().is_empty() => "nothing stands behind the repeat count",
            Ok(_) if starts_with_keyword(rest) => "only actions can be repeated",
            Ok(times) => {
                declaration.repeat = Some(times);
                declaration.content =
                    trim(&declaration.line.text, place.end..declaration.content.end);
                return Some(declaration);
            }
            Err(_) if digits > 0 && digits + 1 < count.len() => {
                let (number, rest) = text[1..].split_at(digits);
                place.end = place.start + 1 + digits;
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
            Diagnostic::error("bad-repeat", declaration.place(&place), problem).with_help(help),
        );
        None
    }
}

/// Larger counts are mistakes: the actions are numbered.
const LARGEST_REPEAT: u64 = 1_000_000;

/// A text as a message can hold it.
pub(crate) fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    let start: String = text.chars().take(LONGEST).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, expected: &[(Keyword, &str)]) {
        let mut diagnostics = Vec::new();
        let lines = crate::lines::read(file, &mut diagnostics);
        let declarations = classify(&lines.harness, &mut diagnostics);
        let shown: Vec<(Keyword, &str)> = declarations
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
                (Keyword::Init, "a = 1"),
                (Keyword::Finally, "b()"),
                (Keyword::Action, "log := 3"),
                (Keyword::Action, "else: x"),
                (Keyword::Property, "p"),
                (Keyword::Property, "q"),
                (Keyword::Action, "r"),
                (Keyword::Pool, "<x> 1"),
            ],
        );
    }

    #[test]
    fn misspelt_words_are_understood() {
        check(
            "Inits:\na = 1\nacions:\npool <x> 3\nlog = 5\nlog in x\nproperty f(x)\n",
            &[
                (Keyword::Init, "a = 1"),
                (Keyword::Pool, "<x> 3"),
                (Keyword::Action, "log = 5"),
                (Keyword::Action, "log in x"),
                (Keyword::Property, "f(x)"),
            ],
        );
    }
}
