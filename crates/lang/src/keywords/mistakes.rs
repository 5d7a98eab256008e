//! Recovers from misspelt keywords and headers.

use std::ops::Range;

use super::{Classifier, Declaration, LineKeyword, WORDS, colon_word, shorten, trim};
use crate::diagnostics::Diagnostic;
use crate::host;
use crate::lines::LogicalLine;
use crate::nodes::Placeholder;
use crate::spelling;

impl Classifier<'_> {
    /// Recognizes `pool : <x> 3`, or `actions` alone on its line. Returns the word, and the start
    /// of what follows it.
    pub(super) fn recognise_loose_colon<'t>(
        &mut self,
        line: &LogicalLine,
        content: &Range<usize>,
        text: &'t str,
    ) -> (Option<&'t str>, usize) {
        let end = text.find(|letter: char| !host::continues_name(letter));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        let small = word.to_lowercase();
        let is_section = LineKeyword::from_section(&small).is_some();
        let is_known = is_section || LineKeyword::from_word(&small).is_some();
        let behind = rest.trim_start();
        let location = content.start..content.start + word.len();
        if is_known && behind.starts_with(':') && !behind.starts_with(":=") {
            let until_colon = text.len() - behind.len() + 1;
            self.diagnostics.push(
                Diagnostic::error(
                    "missing-colon",
                    line.file_range(&(location.start..content.start + until_colon)),
                    format!("the colon must follow the keyword `{small}` directly"),
                )
                .with_label("a blank before the colon")
                .with_help(format!("write `{small}:`")),
            );
            return (Some(word), until_colon);
        }
        let takes_words = matches!(
            self.section,
            Some((
                LineKeyword::Compare | LineKeyword::Source | LineKeyword::Feature,
                _
            ))
        );
        let is_alone = behind.is_empty() || behind.starts_with('#');
        if is_section && is_alone && !takes_words {
            self.diagnostics.push(
                Diagnostic::error(
                    "missing-colon",
                    line.file_range(&location),
                    format!("the section header `{small}` needs a colon"),
                )
                .with_label("no colon")
                .with_help(format!("write `{small}:`")),
            );
            // Continues as if the colon stood there already.
            return (Some(word), word.len());
        }
        (None, 0)
    }

    /// Recognizes `{E} expect: …`, where the exceptions of the line stand before its keyword. They
    /// stay part of the content.
    pub(super) fn keyword_after_exceptions<'a>(
        &mut self,
        line: &'a LogicalLine,
        content: &Range<usize>,
        text: &str,
    ) -> Option<Declaration<'a>> {
        if !text.starts_with('{') {
            return None;
        }
        let behind = text.find('}')? + 1;
        let rest = text[behind..].trim_start();
        let keyword = LineKeyword::from_word(colon_word(rest)?)?;
        if !matches!(keyword, LineKeyword::Expect | LineKeyword::Property) {
            let start = content.end - rest.len();
            let word = keyword.word();
            let problem = Diagnostic::error(
                "misplaced-exceptions",
                line.file_range(&(content.start..content.start + behind)),
                format!("`{word}:` lines have no list of exceptions"),
            )
            .with_label("cannot stand here")
            .with_help("only actions and properties have one");
            self.diagnostics.push(problem);
            return Some(Declaration {
                line,
                keyword,
                repeat: None,
                content: trim(&line.text, start + word.len() + 1..content.end),
            });
        }
        Some(Declaration {
            line,
            keyword,
            repeat: None,
            content: content.clone(),
        })
    }

    /// Returns true if a line without keyword is surely an action, although it stands in another
    /// section.
    pub(super) fn is_misplaced_action(&self, text: &str) -> bool {
        let Some((section, _)) = &self.section else {
            return false;
        };
        if matches!(
            section,
            LineKeyword::Action | LineKeyword::Init | LineKeyword::Finally
        ) {
            return false;
        }
        if let Some(placeholder) = text
            .starts_with(['<', '%'])
            .then(|| Placeholder::parse(text))
            .flatten()
            && text[placeholder.length..].trim_start().starts_with(":=")
        {
            return true;
        }
        let first = text.split_whitespace().next().unwrap_or_default();
        *section == LineKeyword::Pool && first.find('(').is_some_and(|at| at > 0)
    }

    /// Reports an action in another section, and ends that section.
    pub(super) fn report_misplaced_action(&mut self, line: &LogicalLine, content: &Range<usize>) {
        let Some((section, header)) = self.section.clone() else {
            return;
        };
        self.diagnostics.push(
            Diagnostic::error(
                "wrong-section",
                line.file_range(content),
                format!(
                    "an action cannot stand in the section `{}:`",
                    section.section()
                ),
            )
            .with_label(format!("every line here is read as `{}:`", section.word()))
            .with_related(header.clone(), "the section starts here")
            .with_help("put a header `actions:` before it"),
        );
        // Continues as if the header stood there.
        self.section = Some((LineKeyword::Action, header));
    }

    /// Reports `word: …` where the word is not a keyword.
    pub(super) fn report_unknown_keyword<'a>(
        &mut self,
        mut declaration: Declaration<'a>,
        word: &str,
    ) -> Option<Declaration<'a>> {
        let start = declaration.content.start;
        let end = start + word.len() + 1;
        if word == "REF" && declaration.line.text[end..].starts_with(['<', '%']) {
            // This is the slot of a reference twin, with which an action may begin.
            return Some(declaration);
        }
        let location = declaration.file_range(&(start..end));
        let rest = trim(&declaration.line.text, end..declaration.content.end);
        if word.eq_ignore_ascii_case("action") && !rest.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("unknown-keyword", location, "an action has no keyword")
                    .with_label("not a keyword")
                    .with_help(format!(
                        "write `{}`",
                        shorten(&declaration.line.text[rest.clone()])
                    )),
            );
            declaration.keyword = LineKeyword::Action;
            declaration.content = rest;
            return Some(declaration);
        }
        if let Some(meant) = nearest(word) {
            self.diagnostics.push(
                Diagnostic::error(
                    "unknown-keyword",
                    location,
                    format!("there is no keyword `{word}:`"),
                )
                .with_label("not a keyword")
                .with_help(format!("did you mean `{meant}:`?")),
            );
            // Continues as if it were spelt correctly. Otherwise everything that follows would be
            // wrong too.
            if let Some(section) = LineKeyword::from_section(meant) {
                self.section = Some((section, declaration.file_range(&(start..end))));
                return None;
            }
            declaration.keyword = LineKeyword::from_word(meant)?;
            declaration.content = trim(&declaration.line.text, end..declaration.content.end);
            return Some(declaration);
        }
        self.diagnostics.push(
            Diagnostic::warning(
                "unknown-keyword",
                location,
                format!("there is no keyword `{word}:`, so the line is taken for an action"),
            )
            .with_label("not a keyword")
            .with_help(match synonym(word) {
                Some(meant) => format!("did you mean `{meant}:`?"),
                None if word.ends_with("Error") || word.ends_with("Exception") => {
                    format!("exceptions that may be raised stand in braces: `{{{word}}} statement`")
                }
                None => format!("the keywords are {}", all_words()),
            }),
        );
        Some(declaration)
    }
}

/// Returns the keyword that other tools call by this word.
fn synonym(word: &str) -> Option<&'static str> {
    match word.to_lowercase().as_str() {
        "invariant" | "invariants" | "check" | "ensure" | "always" => Some("property"),
        "setup" | "start" | "before" => Some("init"),
        "teardown" | "end" | "after" | "cleanup" => Some("finally"),
        "variable" | "variables" | "var" | "vars" => Some("pool"),
        "require" | "precondition" => Some("assume"),
        _ => None,
    }
}

/// Lists all keywords for a message.
fn all_words() -> String {
    let words: Vec<String> = WORDS
        .iter()
        .filter(|(_, word, _)| !word.is_empty())
        .map(|(_, word, _)| format!("`{word}:`"))
        .collect();
    words.join(", ")
}

/// Finds the keyword that was probably meant.
pub(super) fn nearest(word: &str) -> Option<&'static str> {
    let known = WORDS
        .iter()
        .flat_map(|(_, singular, plural)| [*singular, *plural])
        .filter(|known| !known.is_empty());
    spelling::nearest(word, known)
}

/// Builds the diagnostic for a keyword in the section of another one.
pub(super) fn wrong_section_warning(
    line: &LogicalLine,
    own: LineKeyword,
    section: LineKeyword,
    header: Range<usize>,
    location: &Range<usize>,
) -> Diagnostic {
    let word = own.word();
    let location = line.file_range(location);
    let plural = section.section();
    let help = if own == LineKeyword::Expect {
        "put a header `actions:` before it".to_owned()
    } else {
        format!(
            "put a header `{}:` before it, or move it out of the section",
            own.section()
        )
    };
    Diagnostic::error(
        "wrong-section",
        location,
        format!("`{word}:` cannot stand in the section `{plural}:`"),
    )
    .with_label(format!("every line here is read as `{}:`", section.word()))
    .with_related(header, "the section starts here")
    .with_help(help)
}

/// Recognizes `pool <x> 3`: a keyword without its colon, if what follows cannot be host code.
pub(super) fn missing_colon(
    declaration: &Declaration<'_>,
) -> Option<(LineKeyword, Range<usize>, Diagnostic)> {
    let text = declaration.text();
    let end = text.find(|letter: char| !host::continues_name(letter))?;
    let word = &text[..end];
    let keyword = LineKeyword::from_word(&word.to_lowercase())?;
    let rest = text[end..].strip_prefix([' ', '\t'])?.trim_start();
    let is_declaration = match keyword {
        LineKeyword::Pool => rest.starts_with(['<', '%']) && rest.contains(char::is_whitespace),
        _ if rest.starts_with(['"', '\'', '{']) => true,
        _ if rest.starts_with('<') => Placeholder::parse(rest).is_some(),
        _ => {
            let mut words = rest.split(|letter| !host::continues_name(letter));
            let next = words.next().unwrap_or_default();
            let starts_value = match next {
                "not" => words.next() != Some("in"),
                _ => matches!(next, "lambda" | "None" | "True" | "False"),
            };
            !next.is_empty() && (starts_value || !host::is_keyword(next))
        }
    };
    if !is_declaration {
        return None;
    }
    let start = declaration.content.start;
    let problem = Diagnostic::error(
        "missing-colon",
        declaration.file_range(&(start..start + end)),
        format!("the keyword `{}` needs a colon", keyword.word()),
    )
    .with_label("no colon")
    .with_help(format!("write `{}: {}`", keyword.word(), shorten(rest)));
    let content = declaration.content.end - rest.len()..declaration.content.end;
    Some((keyword, content, problem))
}
