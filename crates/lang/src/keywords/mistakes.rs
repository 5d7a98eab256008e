//! Keywords and headers that are not quite right, and what was meant by them.

use std::ops::Range;

use super::{Classifier, Declaration, Keyword, WORDS, colon_word, shorten, trim};
use crate::diagnostics::Diagnostic;
use crate::host;
use crate::lines::Logical;
use crate::nodes::Placeholder;
use crate::spelling;

impl Classifier<'_> {
    /// `pool : <x> 3`, or `actions` alone on its line: the word, and where what follows it starts.
    pub(super) fn loose_colon<'t>(
        &mut self,
        line: &Logical,
        content: &Range<usize>,
        text: &'t str,
    ) -> (Option<&'t str>, usize) {
        let end = text.find(|letter: char| !host::continues_name(letter));
        let (word, rest) = text.split_at(end.unwrap_or(text.len()));
        let small = word.to_lowercase();
        let is_section = Keyword::of_section(&small).is_some();
        let is_known = is_section || Keyword::of_word(&small).is_some();
        let behind = rest.trim_start();
        let place = content.start..content.start + word.len();
        if is_known && behind.starts_with(':') && !behind.starts_with(":=") {
            let until_colon = text.len() - behind.len() + 1;
            self.diagnostics.push(
                Diagnostic::error(
                    "missing-colon",
                    line.place(&(place.start..content.start + until_colon)),
                    format!("the colon must follow the keyword `{small}` directly"),
                )
                .with_label("a blank before the colon")
                .with_help(format!("write `{small}:`")),
            );
            return (Some(word), until_colon);
        }
        let takes_words = matches!(
            self.section,
            Some((Keyword::Compare | Keyword::Source | Keyword::Feature, _))
        );
        let is_alone = behind.is_empty() || behind.starts_with('#');
        if is_section && is_alone && !takes_words {
            self.diagnostics.push(
                Diagnostic::error(
                    "missing-colon",
                    line.place(&place),
                    format!("the section header `{small}` needs a colon"),
                )
                .with_label("no colon")
                .with_help(format!("write `{small}:`")),
            );
            // As if the colon stood there already.
            return (Some(word), word.len());
        }
        (None, 0)
    }

    /// `{E} expect: …`: the exceptions of the line stand before its keyword. They stay part of the content.
    pub(super) fn behind_exceptions<'a>(
        &mut self,
        line: &'a Logical,
        content: &Range<usize>,
        text: &str,
    ) -> Option<Declaration<'a>> {
        if !text.starts_with('{') {
            return None;
        }
        let behind = text.find('}')? + 1;
        let rest = text[behind..].trim_start();
        let keyword = Keyword::of_word(colon_word(rest)?)?;
        if !matches!(keyword, Keyword::Expect | Keyword::Property) {
            let start = content.end - rest.len();
            let word = keyword.word();
            let problem = Diagnostic::error(
                "misplaced-exceptions",
                line.place(&(content.start..content.start + behind)),
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

    /// Whether a line without keyword is surely an action, although the section is one of something else.
    pub(super) fn is_misplaced_action(&self, text: &str) -> bool {
        let Some((section, _)) = &self.section else {
            return false;
        };
        if matches!(section, Keyword::Action | Keyword::Init | Keyword::Finally) {
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
        *section == Keyword::Pool && first.find('(').is_some_and(|at| at > 0)
    }

    pub(super) fn misplaced_action(&mut self, line: &Logical, content: &Range<usize>) {
        let Some((section, header)) = self.section.clone() else {
            return;
        };
        self.diagnostics.push(
            Diagnostic::error(
                "wrong-section",
                line.place(content),
                format!(
                    "an action cannot stand in the section `{}:`",
                    section.section()
                ),
            )
            .with_label(format!("every line here is read as `{}:`", section.word()))
            .with_related(header.clone(), "the section starts here")
            .with_help("put a header `actions:` before it"),
        );
        // Go on as if the header stood there.
        self.section = Some((Keyword::Action, header));
    }

    /// `word: …` where the word is no keyword.
    pub(super) fn unknown_keyword<'a>(
        &mut self,
        mut declaration: Declaration<'a>,
        word: &str,
    ) -> Option<Declaration<'a>> {
        let start = declaration.content.start;
        let end = start + word.len() + 1;
        if word == "REF" && declaration.line.text[end..].starts_with(['<', '%']) {
            // The slot of a reference, with which an action may well begin.
            return Some(declaration);
        }
        let place = declaration.place(&(start..end));
        let rest = trim(&declaration.line.text, end..declaration.content.end);
        if word.eq_ignore_ascii_case("action") && !rest.is_empty() {
            self.diagnostics.push(
                Diagnostic::error("unknown-keyword", place, "an action has no keyword")
                    .with_label("not a keyword")
                    .with_help(format!(
                        "write `{}`",
                        shorten(&declaration.line.text[rest.clone()])
                    )),
            );
            declaration.keyword = Keyword::Action;
            declaration.content = rest;
            return Some(declaration);
        }
        if let Some(meant) = nearest(word) {
            self.diagnostics.push(
                Diagnostic::error(
                    "unknown-keyword",
                    place,
                    format!("there is no keyword `{word}:`"),
                )
                .with_label("not a keyword")
                .with_help(format!("did you mean `{meant}:`?")),
            );
            // Go on as if it were spelt right, or all that follows would be wrong too.
            if let Some(section) = Keyword::of_section(meant) {
                self.section = Some((section, declaration.place(&(start..end))));
                return None;
            }
            declaration.keyword = Keyword::of_word(meant)?;
            declaration.content = trim(&declaration.line.text, end..declaration.content.end);
            return Some(declaration);
        }
        self.diagnostics.push(
            Diagnostic::warning(
                "unknown-keyword",
                place,
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

/// What others call it.
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

fn all_words() -> String {
    let words: Vec<String> = WORDS
        .iter()
        .filter(|(_, word, _)| !word.is_empty())
        .map(|(_, word, _)| format!("`{word}:`"))
        .collect();
    words.join(", ")
}

/// The keyword that was meant.
pub(super) fn nearest(word: &str) -> Option<&'static str> {
    let known = WORDS
        .iter()
        .flat_map(|(_, singular, plural)| [*singular, *plural])
        .filter(|known| !known.is_empty());
    spelling::nearest(word, known)
}

pub(super) fn wrong_section(
    line: &Logical,
    own: Keyword,
    section: Keyword,
    header: Range<usize>,
    place: &Range<usize>,
) -> Diagnostic {
    let word = own.word();
    let place = line.place(place);
    let plural = section.section();
    let help = if own == Keyword::Expect {
        "put a header `actions:` before it".to_owned()
    } else {
        format!(
            "put a header `{}:` before it, or move it out of the section",
            own.section()
        )
    };
    Diagnostic::error(
        "wrong-section",
        place,
        format!("`{word}:` cannot stand in the section `{plural}:`"),
    )
    .with_label(format!("every line here is read as `{}:`", section.word()))
    .with_related(header, "the section starts here")
    .with_help(help)
}

/// `pool <x> 3`: a keyword whose colon was forgotten, if what follows cannot be host code.
pub(super) fn missing_colon(
    declaration: &Declaration<'_>,
) -> Option<(Keyword, Range<usize>, Diagnostic)> {
    let text = declaration.text();
    let end = text.find(|letter: char| !host::continues_name(letter))?;
    let word = &text[..end];
    let keyword = Keyword::of_word(&word.to_lowercase())?;
    let rest = text[end..].strip_prefix([' ', '\t'])?.trim_start();
    let is_declaration = match keyword {
        Keyword::Pool => rest.starts_with(['<', '%']) && rest.contains(char::is_whitespace),
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
        declaration.place(&(start..start + end)),
        format!("the keyword `{}` needs a colon", keyword.word()),
    )
    .with_label("no colon")
    .with_help(format!("write `{}: {}`", keyword.word(), shorten(rest)));
    let content = declaration.content.end - rest.len()..declaration.content.end;
    Some((keyword, content, problem))
}
