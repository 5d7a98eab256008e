//! Parses `{KeyError, !Warning}`: the exceptions that a line may raise.

use std::ops::Range;

use crate::expand::LineContext;
use crate::host::{self, SyntaxKind};
use crate::keywords::{self, LineKeyword};

/// The list `{E, !W}` at the start of a line.
pub(crate) struct Exceptions {
    /// Exceptions that do not count as failures.
    pub(crate) expected: Vec<String>,
    /// Exceptions that are reported as warnings.
    pub(crate) warnings: Vec<String>,
    /// Range after the list.
    pub(crate) rest: Range<usize>,
    /// True if it is a dictionary, not a list of exceptions.
    pub(crate) is_dictionary: bool,
}

impl Exceptions {
    /// Parses the list. Returns `None` if it is not closed.
    pub(crate) fn read(
        context: &mut LineContext<'_, '_>,
        content: Range<usize>,
    ) -> Option<Exceptions> {
        let line = context.line();
        let mut exceptions = Exceptions {
            expected: Vec::new(),
            warnings: Vec::new(),
            rest: content.clone(),
            is_dictionary: false,
        };
        if !line[content.clone()].starts_with('{') {
            return Some(exceptions);
        }
        let Some(length) = line[content.clone()].find('}') else {
            let diagnostic = context.error(
                "unclosed-exceptions",
                &(content.start..content.start + 1),
                "the list of exceptions is never closed",
            );
            diagnostic.label = "no `}` follows".to_owned();
            let names = line[content.start + 1..content.end].split(|letter| {
                !(host::continues_name(letter) || matches!(letter, '.' | ',' | '!'))
            });
            let first = names
                .map(|name| name.trim_matches(','))
                .find(|name| !name.is_empty());
            let first = first.unwrap_or("KeyError").to_owned();
            diagnostic.help = Some(format!("write `{{{first}}} statement`"));
            return None;
        };
        let inner = keywords::trim(line, content.start + 1..content.start + length);
        if inner.is_empty() {
            let diagnostic = context.warning(
                "empty-exceptions",
                &(content.start..content.start + length + 1),
                "the list of exceptions is empty, so none is expected",
            );
            diagnostic.help = Some(
                "name those that may be raised: `{KeyError} statement`; `{Exception}` is any"
                    .to_owned(),
            );
        } else if line[inner.clone()].contains(':') {
            exceptions.is_dictionary = true;
            let diagnostic = context.error(
                "bad-exception",
                &(content.start..content.start + length + 1),
                "a line that starts with `{` starts with a list of exceptions, which this is not",
            );
            diagnostic.help = Some("put a dictionary into parentheses: `({…})`".to_owned());
            exceptions.rest = keywords::trim(line, content.start + length + 1..content.end);
            return Some(exceptions);
        }
        let mut at = content.start + 1;
        for item in line[at..content.start + length].split(',') {
            exceptions.parse_item(context, keywords::trim(line, at..at + item.len()));
            at += item.len() + 1;
        }
        exceptions.rest = keywords::trim(line, content.start + length + 1..content.end);
        exceptions.skip_keyword(context);
        Some(exceptions)
    }

    /// Skips the keyword of the line, which may stand after its exceptions.
    fn skip_keyword(&mut self, context: &LineContext<'_, '_>) {
        let (line, word) = (context.line(), context.declaration.keyword.word());
        let behind = line[self.rest.clone()].strip_prefix(word);
        if let Some(behind) = behind.filter(|behind| !word.is_empty() && behind.starts_with(':')) {
            self.rest = keywords::trim(line, self.rest.end - behind.len() + 1..self.rest.end);
        }
    }

    /// Parses one exception.
    fn parse_item(&mut self, context: &mut LineContext<'_, '_>, range: Range<usize>) {
        let line = context.line();
        let is_warning = line[range.clone()].starts_with('!');
        let range = if is_warning {
            keywords::trim(line, range.start + 1..range.end)
        } else {
            range
        };
        let text = &line[range.clone()];
        if text.is_empty() {
            if is_warning {
                let location = range.start - 1..range.start;
                let diagnostic = context.error(
                    "bad-exception",
                    &location,
                    "`!` must be followed by an exception",
                );
                diagnostic.help = Some(
                    "write `{!ValueError}` for one that is to be reported as a warning".to_owned(),
                );
            }
            return;
        }
        check_exception(context, &range);
        let list = if is_warning {
            &mut self.warnings
        } else {
            &mut self.expected
        };
        list.push(text.to_owned());
    }
}

/// Reports text that is not an exception class.
pub(crate) fn check_exception(context: &mut LineContext<'_, '_>, range: &Range<usize>) {
    let text = &context.line()[range.clone()];
    let is_value = host::is_literal(text) || text.starts_with(['{', '[']);
    let location = match host::check(SyntaxKind::Expression, text).first() {
        Some(problem) => range.start + problem.range.start..range.start + problem.range.end,
        None if is_value => range.clone(),
        None => return,
    };
    let is_list = context.declaration.keyword != LineKeyword::Exception;
    let (open, close) = if is_list {
        ("{", "}")
    } else {
        ("exception: ", "")
    };
    let inner = text.trim_matches(['{', '}', '[', ']', '(', ')', '\'', '"', ' ']);
    let names: Vec<&str> = inner
        .split_whitespace()
        .filter(|name| !matches!(*name, "and" | "or"))
        .collect();
    let example = if !names.is_empty() && names.iter().all(|name| host::is_dotted_name(name)) {
        keywords::shorten(&names.join(", "))
    } else {
        "KeyError, ValueError".to_owned()
    };
    let message = format!("`{}` does not name an exception", keywords::shorten(text));
    let diagnostic = context.error("bad-exception", &location, message);
    diagnostic.help = Some(format!(
        "write class names with commas between: `{open}{example}{close}`"
    ));
}
