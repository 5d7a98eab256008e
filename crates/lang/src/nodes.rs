//! Nodes: the parts of a line after parsing.

use std::ops::Range;
use std::rc::Rc;

use testwright_core::PoolId;

use crate::choices::ChoiceNode;
use crate::host;

/// A part of a line.
#[derive(Clone, Debug)]
pub(crate) struct LineNode {
    /// Kind of part.
    pub(crate) kind: NodeKind,
    /// Range in the line's text.
    pub(crate) span: Range<usize>,
}

/// Kind of a node.
#[derive(Clone, Debug)]
pub(crate) enum NodeKind {
    /// Host text, as it stands at the span.
    Text,
    /// Host text that does not stand in the file literally.
    HostText(String),
    /// A placeholder `<x>`.
    Slot(PoolMention),
    /// A back reference `<x,1>`, with its number from 1, or 0 for the last.
    BackReference(PoolMention, u64),
    /// A choice `<[…]>` or `<,[…],>`.
    Choice(Rc<ChoiceNode>),
    /// A separator of the harness language, outside of strings and brackets.
    Separator(Separator),
    /// The opener `pre<(`.
    PreOpen,
    /// The closer `)>` of a `pre<(`.
    PreClose,
}

/// A pool named in a line.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolMention {
    /// The pool.
    pub(crate) pool: PoolId,
    /// True for the reference twin, `REF:<x>`.
    pub(crate) twin: bool,
    /// True for `~<x>`, which does not count as a use.
    pub(crate) silent: bool,
    /// True inside a string literal.
    pub(crate) in_string: bool,
}

/// A separator of the harness language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    /// `->` after a guard.
    Guard,
    /// `=>` before a post-condition.
    Post,
    /// `==>` before an expectation.
    Expect,
    /// `;` between statements.
    Semicolon,
    /// `:=` in a definition.
    Define,
    /// `,` before a message.
    Comma,
}

impl Separator {
    /// Returns the text of the separator in host code.
    pub(crate) fn host_text(self) -> &'static str {
        match self {
            Separator::Guard => "->",
            Separator::Post => "=>",
            Separator::Expect => "==>",
            Separator::Semicolon => ";",
            Separator::Define => "=",
            Separator::Comma => ",",
        }
    }
}

/// Separators with their texts, longest first.
pub(crate) const SEPARATORS: [(&str, Separator); 6] = [
    ("==>", Separator::Expect),
    ("=>", Separator::Post),
    ("->", Separator::Guard),
    (":=", Separator::Define),
    (";", Separator::Semicolon),
    (",", Separator::Comma),
];

impl LineNode {
    /// Returns true if the node is this separator.
    pub(crate) fn is_separator(&self, mark: Separator) -> bool {
        matches!(self.kind, NodeKind::Separator(found) if found == mark)
    }

    /// Returns true if the node is a comma.
    pub(crate) fn is_comma(&self) -> bool {
        self.is_separator(Separator::Comma)
    }
}

/// Parts of `<x>` or `<x,1>` at the start of a text.
pub(crate) struct Placeholder<'a> {
    /// Name of the pool.
    pub(crate) name: &'a str,
    /// Number from 1, or 0 for the last.
    pub(crate) number: Option<u64>,
    /// True if there are blanks around the comma.
    pub(crate) has_blanks: bool,
    /// Length in bytes, with brackets.
    pub(crate) length: usize,
}

impl<'a> Placeholder<'a> {
    /// Parses a placeholder that starts with `<` or `%`.
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
