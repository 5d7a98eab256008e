//! `{KeyError, !Warning}`: which exceptions a line may raise.

use std::ops::Range;

use crate::expand::Context;
use crate::host::{self, Syntax};
use crate::keywords;

/// `{E, !W}` at the start of a line.
pub(crate) struct Exceptions {
    pub(crate) expected: Vec<String>,
    pub(crate) warnings: Vec<String>,
    /// What follows.
    pub(crate) rest: Range<usize>,
}

impl Exceptions {
    /// `None` if the list is not closed.
    pub(crate) fn read(context: &mut Context<'_, '_>, content: Range<usize>) -> Option<Exceptions> {
        let line = context.line();
        let mut exceptions = Exceptions {
            expected: Vec::new(),
            warnings: Vec::new(),
            rest: content.clone(),
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
            diagnostic.help = Some("write `{KeyError, ValueError} statement`".to_owned());
            return None;
        };
        let mut at = content.start + 1;
        for item in line[at..content.start + length].split(',') {
            exceptions.item(context, keywords::trim(line, at..at + item.len()));
            at += item.len() + 1;
        }
        exceptions.rest = keywords::trim(line, content.start + length + 1..content.end);
        Some(exceptions)
    }

    fn item(&mut self, context: &mut Context<'_, '_>, range: Range<usize>) {
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
                let place = range.start - 1..range.start;
                context.error(
                    "bad-exception",
                    &place,
                    "`!` must be followed by an exception",
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

/// Reports an exception class that is no expression.
pub(crate) fn check_exception(context: &mut Context<'_, '_>, range: &Range<usize>) {
    let text = &context.line()[range.clone()];
    if let Some(trouble) = host::check(Syntax::Expression, text).first() {
        let place = range.start + trouble.range.start..range.start + trouble.range.end;
        let message = format!("`{text}` does not name an exception: {}", trouble.message);
        let diagnostic = context.error("bad-exception", &place, message);
        diagnostic.help = Some(
            "write class names with commas between: `{KeyError, ValueError}`; a dictionary that starts a line needs parentheses"
                .to_owned(),
        );
    }
}
