//! Texts with places that are filled in: `"%s: %d" % (a, b)` and `"{}: {}".format(a, b)`. They read
//! like `f"{a}: {b}"` (P35: "the text made of …").

use std::str::Chars;

use crate::term::{CallTerm, Term};
use crate::value::PythonValue;

/// The words before the pieces of a text.
pub(super) const TEXT_OF: &str = "the text made of";

/// Returns the pieces of `template % values`, or nothing if their places are not plain.
pub(super) fn parse_percent_format(template: &str, values: &Term) -> Option<Vec<Term>> {
    let values = match values {
        Term::Tuple(values) => values.clone(),
        Term::Value(PythonValue::Tuple(values)) => {
            values.iter().cloned().map(Term::Value).collect()
        }
        only => vec![only.clone()],
    };
    let mut values = values.into_iter();
    let mut pieces = TextPieces::default();
    let mut rest = template.chars();
    while let Some(character) = rest.next() {
        if character != '%' {
            pieces.text.push(character);
            continue;
        }
        match parse_conversion(&mut rest)? {
            '%' => pieces.text.push('%'),
            _ => pieces.push_value(values.next()?),
        }
    }
    values.next().is_none().then(|| pieces.finish())
}

/// Returns the conversion letter after `%`, skipping flags and widths.
fn parse_conversion(rest: &mut Chars<'_>) -> Option<char> {
    rest.find(|one| !matches!(one, '-' | '+' | ' ' | '#' | '.' | '0'..='9'))
        .filter(|one| *one == '%' || one.is_ascii_alphabetic())
}

/// Returns the pieces of `template.format(values)`.
pub(super) fn parse_format_call(template: &str, call: &CallTerm) -> Option<Vec<Term>> {
    let mut positions = call.arguments.iter();
    let mut pieces = TextPieces::default();
    let mut rest = template.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '{' | '}' if rest.next_if_eq(&character).is_some() => pieces.text.push(character),
            '{' => {
                let field: String = rest.by_ref().take_while(|one| *one != '}').collect();
                let name = field.split([':', '!']).next().unwrap_or_default();
                let value = match name.parse::<usize>() {
                    Ok(position) => call.arguments.get(position),
                    Err(_) if name.is_empty() => positions.next(),
                    Err(_) => {
                        let mut named = call.keywords.iter();
                        let found = named.find(|(key, _)| key.as_deref() == Some(name));
                        found.map(|(_, value)| value)
                    }
                };
                pieces.push_value(value?.clone());
            }
            '}' => return None,
            _ => pieces.text.push(character),
        }
    }
    let is_spread = |one: &Term| matches!(one, Term::Starred(_));
    (!call.arguments.iter().any(is_spread)).then(|| pieces.finish())
}

/// Literal texts and values, alternating.
#[derive(Default)]
struct TextPieces {
    done: Vec<Term>,
    text: String,
}

impl TextPieces {
    /// Ends the current text and appends a value.
    fn push_value(&mut self, value: Term) {
        self.end_text();
        self.done.push(value);
    }

    /// Appends the current text, if there is any.
    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.done
                .push(PythonValue::text(std::mem::take(&mut self.text)).into());
        }
    }

    /// Returns all pieces.
    fn finish(mut self) -> Vec<Term> {
        self.end_text();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use crate::phrase::testing::np;

    #[test]
    fn p35_texts_that_are_filled_in() {
        let rendered = "the text made of x, \": \" and y";
        for text in [
            "'%s: %d' % (x, y)",
            "'%-5s: %.2f' % (x, y)",
            "'{}: {}'.format(x, y)",
            "'{1}: {0:>5}'.format(y, x)",
            "'{a}: {b!r}'.format(a=x, b=y)",
        ] {
            assert_eq!(np(text), rendered, "{text}");
        }
        assert_eq!(np("'%d%%' % x"), "the text made of x and \"%\"");
        assert_eq!(
            np("'{{{}}}'.format(x)"),
            "the text made of \"{\", x and \"}\""
        );
    }

    #[test]
    fn p35_what_goes_where_may_not_be_plain() {
        assert_eq!(np("'%(a)s' % x"), "the text made of \"%(a)s\" and x");
        assert_eq!(np("'%s %s' % x"), "the text made of \"%s %s\" and x");
    }
}
