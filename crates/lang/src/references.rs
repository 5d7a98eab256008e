//! Parses the keyword lines whose content is taken literally: `reference:`, `compare:`, `source:`,
//! `feature:`, `exception:`.

use std::ops::Range;

use crate::action;
use crate::code_lines;
use crate::exceptions;
use crate::expand::LineContext;
use crate::harness::{Harness, LocatedText, ReferenceRule};
use crate::keywords::{self, LineKeyword};

/// Parses one such line, and adds it to the harness.
pub(crate) fn read(context: &mut LineContext<'_, '_>, harness: &mut Harness) {
    match context.declaration.keyword {
        LineKeyword::Reference => parse_reference(context, harness),
        LineKeyword::Exception => parse_exception(context, harness),
        keyword => {
            let Some(located) = parse_single_word(context) else {
                return;
            };
            match keyword {
                LineKeyword::Compare => harness.compares.push(located),
                LineKeyword::Source => harness.sources.push(located),
                _ => harness.features.push(located),
            }
        }
    }
}

/// Returns the range of the content up to a `#` that starts a word. These lines are not host code,
/// and patterns may contain `#` and quotes.
fn without_comment(context: &LineContext<'_, '_>) -> Range<usize> {
    let content = context.declaration.content.clone();
    let text = context.declaration.text();
    let mut end = text.len();
    for (at, _) in text.match_indices('#') {
        if at == 0 || text[..at].ends_with(char::is_whitespace) {
            end = at;
            break;
        }
    }
    keywords::trim(context.line(), content.start..content.start + end)
}

/// Parses a line that has a single word.
fn parse_single_word(context: &mut LineContext<'_, '_>) -> Option<LocatedText> {
    let content = without_comment(context);
    let text = &context.line()[content.clone()];
    let Some(word) = text.split_whitespace().next() else {
        code_lines::report_missing_content(context);
        return None;
    };
    if word.len() < text.len() {
        let rest = keywords::trim(context.line(), content.start + word.len()..content.end);
        let keyword = context.declaration.keyword.word();
        let diagnostic = context.warning(
            "extra-words",
            &rest,
            format!("a `{keyword}:` line takes one word, the rest is ignored"),
        );
        diagnostic.label = "ignored".to_owned();
        diagnostic.help = Some(format!("write one `{keyword}:` line for each"));
    }
    Some(LocatedText {
        text: word.to_owned(),
        line: context.declaration.line.number,
    })
}

/// Parses an `exception:` line.
fn parse_exception(context: &mut LineContext<'_, '_>, harness: &mut Harness) {
    let content = action::code_range(context);
    if content.is_empty() {
        code_lines::report_missing_content(context);
        return;
    }
    let line = context.line();
    let mut at = content.start;
    for item in line[content].split(',') {
        let range = keywords::trim(line, at..at + item.len());
        at += item.len() + 1;
        if range.is_empty() {
            continue;
        }
        exceptions::check_exception(context, &range);
        harness.exceptions.push(LocatedText {
            text: line[range].to_owned(),
            line: context.declaration.line.number,
        });
    }
}

/// Parses a `reference:` line.
fn parse_reference(context: &mut LineContext<'_, '_>, harness: &mut Harness) {
    let content = without_comment(context);
    let line = context.line();
    let text = &line[content.clone()];
    if text.is_empty() {
        code_lines::report_missing_content(context);
        return;
    }
    let Some((pattern, replacement)) = text.split_once("==>") else {
        let diagnostic =
            context.error("bad-reference", &content, "a `reference:` line needs `==>`");
        diagnostic.help = Some(match split_at_other_arrow(text) {
            Some((pattern, replacement)) => {
                format!("write `reference: {pattern} ==> {replacement}`")
            }
            None => "write `reference: pattern ==> replacement`".to_owned(),
        });
        return;
    };
    let (pattern, replacement) = (pattern.trim(), replacement.trim());
    if pattern.is_empty() {
        let diagnostic = context.error("bad-reference", &content, "no pattern stands before `==>`");
        diagnostic.help = Some("write `reference: pattern ==> replacement`".to_owned());
        return;
    }
    if replacement.is_empty() {
        let message = format!("`{pattern}` is replaced by nothing");
        let diagnostic = context.warning("empty-replacement", &content, message);
        diagnostic.help = Some(format!(
            "write what the reference is called behind `==>`: `reference: {pattern} ==> list`"
        ));
    }
    let reference = ReferenceRule {
        pattern: expand_pattern(pattern),
        replacement: expand_replacement(replacement),
        line: context.declaration.line.number,
    };
    let known = harness
        .references
        .iter_mut()
        .find(|known| known.pattern == reference.pattern);
    match known {
        Some(known) => {
            let message = format!(
                "`{pattern}` was translated on line {} already; this line replaces it",
                known.line
            );
            *known = reference;
            let diagnostic = context.warning("reference-replaced", &content, message);
            diagnostic.help = Some("remove one of the two lines".to_owned());
        }
        None => harness.references.push(reference),
    }
}

/// Splits pattern and replacement if something else than `==>` stands between them.
fn split_at_other_arrow(text: &str) -> Option<(&str, &str)> {
    let parts = ["=>", "->", "="]
        .iter()
        .find_map(|arrow| text.split_once(arrow));
    let (pattern, replacement) = match parts {
        Some(parts) => parts,
        None => text.split_once(char::is_whitespace)?,
    };
    let (pattern, replacement) = (pattern.trim(), replacement.trim());
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    (is_word(pattern) && is_word(replacement)).then_some((pattern, replacement))
}

/// Expands `METHOD(m)` and `CALL(f)` on the left.
fn expand_pattern(pattern: &str) -> String {
    let methods = replace_shorthand(pattern, "METHOD(", |name| format!(r"(\S+)\.{name}\(\)"));
    replace_shorthand(&methods, "CALL(", |name| format!(r"{name}\((\S+)\)"))
}

/// Expands `METHOD(m)` and `CALL(f)` on the right.
fn expand_replacement(replacement: &str) -> String {
    let calls = replace_shorthand(replacement, "CALL(", |name| format!(r"{name}(\1)"));
    replace_shorthand(&calls, "METHOD(", |name| format!(r"\1.{name}()"))
}

/// Replaces each `opener name)` by the long form of the name.
fn replace_shorthand(text: &str, opener: &str, long: impl Fn(&str) -> String) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(opener) {
        let behind = &rest[at + opener.len()..];
        let Some(end) = behind.find(')') else { break };
        result.push_str(&rest[..at]);
        result.push_str(&long(behind[..end].trim()));
        rest = &behind[end + 1..];
    }
    result.push_str(rest);
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorthands() {
        assert_eq!(expand_pattern("METHOD(get)"), r"(\S+)\.get\(\)");
        assert_eq!(expand_pattern("CALL(f)"), r"f\((\S+)\)");
        assert_eq!(expand_replacement("CALL(sorted)"), r"sorted(\1)");
        assert_eq!(expand_replacement("METHOD(keys)"), r"\1.keys()");
        assert_eq!(expand_pattern("METHOD(get"), "METHOD(get");
        assert_eq!(expand_pattern("plain"), "plain");
    }
}
