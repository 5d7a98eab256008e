//! What a line consists of, once it is read.

use std::ops::Range;
use std::rc::Rc;

use testwright_core::PoolId;

use crate::choices::ChoiceNode;
use crate::host;

/// A part of a line.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Where it stands in the line's text.
    pub(crate) span: Range<usize>,
}

/// What a part of a line is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    /// Host text: what stands at the span.
    Text,
    /// Host text that does not stand in the file as such.
    Written(String),
    /// `<x>`
    Slot(Mention),
    /// `<x,1>`; the number from 1, or 0 for the last.
    Back(Mention, u64),
    /// `<[…]>`, `<,[…],>`
    Choice(Rc<ChoiceNode>),
    /// A separator of the harness language, outside of strings and brackets.
    Mark(Mark),
    /// `pre<(`
    PreOpen,
    /// `)>` of a `pre<(`
    PreClose,
}

/// A pool named in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mention {
    pub(crate) pool: PoolId,
    /// `REF:<x>`
    pub(crate) twin: bool,
    /// `~<x>`
    pub(crate) silent: bool,
    /// Inside a string literal.
    pub(crate) in_string: bool,
}

/// A separator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// `->`
    Guard,
    /// `=>`
    Post,
    /// `==>`
    Expect,
    /// `;`
    Semicolon,
    /// `:=`
    Define,
    /// `,`
    Comma,
}

impl Mark {
    /// How it is written in host code.
    pub(crate) fn host_text(self) -> &'static str {
        match self {
            Mark::Guard => "->",
            Mark::Post => "=>",
            Mark::Expect => "==>",
            Mark::Semicolon => ";",
            Mark::Define => "=",
            Mark::Comma => ",",
        }
    }
}

/// Longest first.
pub(crate) const MARKS: [(&str, Mark); 6] = [
    ("==>", Mark::Expect),
    ("=>", Mark::Post),
    ("->", Mark::Guard),
    (":=", Mark::Define),
    (";", Mark::Semicolon),
    (",", Mark::Comma),
];

impl Node {
    pub(crate) fn is_mark(&self, mark: Mark) -> bool {
        matches!(self.kind, Kind::Mark(found) if found == mark)
    }

    pub(crate) fn is_comma(&self) -> bool {
        self.is_mark(Mark::Comma)
    }
}

/// The parts of `<x>` or `<x,1>` at the start of a text.
pub(crate) struct Placeholder<'a> {
    pub(crate) name: &'a str,
    /// From 1, or 0 for the last.
    pub(crate) number: Option<u64>,
    /// Around the comma.
    pub(crate) has_blanks: bool,
    /// In bytes, brackets included.
    pub(crate) length: usize,
}

impl<'a> Placeholder<'a> {
    /// Reads one that starts with `<` or `%`.
    pub(crate) fn parse(text: &'a str) -> Option<Placeholder<'a>> {
        let closer = if text.starts_with('<') { '>' } else { '%' };
        let inner = &text[1..];
        let end = inner.find(|letter| !host::continues_name(letter))?;
        let (name, rest) = inner.split_at(end);
        if name.is_empty() {
            return None;
        }
        if rest.starts_with(closer) {
            return Some(Placeholder {
                name,
                number: None,
                has_blanks: false,
                length: 1 + end + 1,
            });
        }
        let behind_comma = rest.trim_start_matches([' ', '\t']).strip_prefix(',')?;
        let digits_start = behind_comma.trim_start_matches([' ', '\t']);
        let digits_end = digits_start
            .find(|letter: char| !letter.is_ascii_digit())
            .filter(|end| *end > 0)?;
        let behind = digits_start[digits_end..].trim_start_matches([' ', '\t']);
        let behind = behind.strip_prefix(closer)?;
        let length = text.len() - behind.len();
        let number = &digits_start[..digits_end];
        Some(Placeholder {
            name,
            number: Some(number.parse().unwrap_or(u64::MAX)),
            has_blanks: length != name.len() + number.len() + 3,
            length,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<(&str, Option<u64>, bool, usize)>) {
        let found = Placeholder::parse(text)
            .map(|found| (found.name, found.number, found.has_blanks, found.length));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn placeholders() {
        check("<x> y", Some(("x", None, false, 3)));
        check("%Int_1%", Some(("Int_1", None, false, 7)));
        check("<x,12>", Some(("x", Some(12), false, 6)));
        check("%x , 1%", Some(("x", Some(1), true, 7)));
        check("<größe,0>", Some(("größe", Some(0), false, 11)));
        check(
            "<x,99999999999999999999>",
            Some(("x", Some(u64::MAX), false, 24)),
        );
        for other in [
            "<>", "<x", "<x,>", "<x,y>", "<x%", "< x>", "<x >", "%%", "<x,1",
        ] {
            check(other, None);
        }
    }
}
