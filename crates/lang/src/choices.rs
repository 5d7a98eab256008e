//! Parses `<[…]>`, `<,[…],>` and `<1..10>`: the end of a choice, and its alternatives.

use std::cell::OnceCell;
use std::ops::Range;

use testwright_core::ChoiceValues;

use crate::host::{self, Token, TokenKind};
use crate::nodes::{LineNode, NodeKind};

/// A choice in a line.
#[derive(Debug)]
pub(crate) struct ChoiceNode {
    /// True for `<,[…],>`, whose alternatives are separated by double commas.
    pub(crate) double: bool,
    /// True inside a string literal.
    pub(crate) in_string: bool,
    /// Alternatives to choose from.
    pub(crate) alternatives: ChoiceAlternatives,
    /// Result of [`ChoiceNode::literals`], computed once.
    literals: OnceCell<Option<LiteralInfo>>,
}

/// Facts about alternatives that are all literals of the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiteralInfo {
    /// True if some of them have a sign.
    pub(crate) signed: bool,
}

/// Alternatives of a choice.
#[derive(Debug)]
pub(crate) enum ChoiceAlternatives {
    /// A range such as `1..20`.
    Range(ChoiceValues),
    /// Items of a list.
    Items(Vec<ChoiceItem>),
}

/// One alternative of a list.
#[derive(Clone, Debug)]
pub(crate) struct ChoiceItem {
    /// Range in the line.
    pub(crate) span: Range<usize>,
    /// Content of the item.
    pub(crate) nodes: Vec<LineNode>,
}

impl ChoiceItem {
    /// Creates an item that is text only.
    pub(crate) fn plain(span: Range<usize>) -> ChoiceItem {
        ChoiceItem {
            nodes: vec![LineNode {
                kind: NodeKind::Text,
                span: span.clone(),
            }],
            span,
        }
    }

    /// Returns true if the item is text only, so that it can be the alternative of an axis.
    pub(crate) fn is_text(&self) -> bool {
        self.nodes.iter().all(|node| {
            matches!(node.kind, NodeKind::Text | NodeKind::HostText(_)) || node.is_comma()
        })
    }

    /// Returns the text of an item that is text only.
    pub(crate) fn text(&self, line: &str) -> String {
        let of_node = |node: &LineNode| match &node.kind {
            NodeKind::HostText(text) => text.clone(),
            _ => line[node.span.clone()].to_owned(),
        };
        self.nodes.iter().map(of_node).collect()
    }
}

impl ChoiceNode {
    /// Creates a choice.
    pub(crate) fn new(
        alternatives: ChoiceAlternatives,
        double: bool,
        in_string: bool,
    ) -> ChoiceNode {
        ChoiceNode {
            double,
            in_string,
            alternatives,
            literals: OnceCell::new(),
        }
    }

    /// Returns facts about the alternatives if every one is a literal of the host.
    pub(crate) fn literal_info(&self, line: &str) -> Option<LiteralInfo> {
        *self.literals.get_or_init(|| match &self.alternatives {
            ChoiceAlternatives::Range(ChoiceValues::Integers { first, .. }) => {
                Some(LiteralInfo { signed: *first < 0 })
            }
            ChoiceAlternatives::Range(_) => Some(LiteralInfo { signed: false }),
            ChoiceAlternatives::Items(items) => literal_info_of_items(items, line),
        })
    }

    /// Converts the alternatives to an axis. Parts that are not text are left out.
    pub(crate) fn to_axis(&self, line: &str) -> ChoiceValues {
        match &self.alternatives {
            ChoiceAlternatives::Range(choice) => choice.clone(),
            ChoiceAlternatives::Items(items) => {
                ChoiceValues::Texts(items.iter().map(|item| item.text(line)).collect())
            }
        }
    }
}

/// Returns facts about items if every one is a literal.
fn literal_info_of_items(items: &[ChoiceItem], line: &str) -> Option<LiteralInfo> {
    let mut signed = false;
    for item in items {
        let [node] = item.nodes.as_slice() else {
            return None;
        };
        let text = match &node.kind {
            NodeKind::Text => &line[node.span.clone()],
            NodeKind::HostText(text) => text,
            _ => return None,
        };
        if !host::is_literal(text) {
            return None;
        }
        signed |= text.trim_start().starts_with(['+', '-']);
    }
    (!items.is_empty()).then_some(LiteralInfo { signed })
}

/// Extent of a choice that was found in a line.
#[derive(Debug)]
pub(crate) struct ChoiceSpan {
    /// Range between opener and closer.
    pub(crate) content: Range<usize>,
    /// End of the closer.
    pub(crate) end: usize,
    /// Ranges of the items.
    pub(crate) items: Vec<Range<usize>>,
    /// True for `<,[…],>`.
    pub(crate) double: bool,
    /// True if brackets in the content match.
    pub(crate) balanced: bool,
}

/// Reason for which counting brackets did not find the end of a choice.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UnclosedChoice {
    /// The bracket is closed, but not followed by `>` or `%`.
    Early,
    /// The brackets inside do not match.
    Unbalanced,
}

/// A closing bracket, and the commas before it that no other bracket encloses.
pub(crate) struct ClosingBracket {
    /// Offset of the bracket.
    pub(crate) at: usize,
    /// Offsets of the commas.
    commas: Vec<usize>,
}

/// Finds the bracket that closes the one directly before `start`.
pub(crate) fn find_close(
    text: &str,
    tokens: &[Token],
    start: usize,
    closer: u8,
) -> Option<ClosingBracket> {
    let first = tokens.partition_point(|token| token.range.start < start);
    let mut open: Vec<u8> = Vec::new();
    let mut commas = Vec::new();
    for token in &tokens[first..] {
        let byte = text.as_bytes()[token.range.start];
        match token.kind {
            TokenKind::OpenBracket if open.len() > MAX_OPEN => return None,
            TokenKind::OpenBracket => open.push(byte),
            TokenKind::CloseBracket => match (open.pop(), byte) {
                (None, byte) => {
                    let at = token.range.start;
                    return (byte == closer).then_some(ClosingBracket { at, commas });
                }
                (Some(b'('), b')') | (Some(b'['), b']') | (Some(b'{'), b'}') => {}
                _ => return None,
            },
            TokenKind::Operator if open.is_empty() && byte == b',' => {
                commas.push(token.range.start);
            }
            TokenKind::Comment => return None,
            _ => {}
        }
    }
    None
}

/// Maximum depth of brackets, so that hostile text does not cost memory.
const MAX_OPEN: usize = 10_000;

impl ChoiceSpan {
    /// Finds the end by counting brackets outside of strings. Items are split at commas outside of
    /// brackets.
    pub(crate) fn find_balanced(
        text: &str,
        tokens: &[Token],
        opener: usize,
        end: usize,
    ) -> Result<ChoiceSpan, UnclosedChoice> {
        let double = text[opener + 1..].starts_with(',');
        let start = opener + if double { 3 } else { 2 };
        let close =
            find_close(&text[..end], tokens, start, b']').ok_or(UnclosedChoice::Unbalanced)?;
        let closers: [&str; 2] = if double { ["],>", "],%"] } else { ["]>", "]%"] };
        let behind = &text[close.at..end];
        if !closers.iter().any(|closer| behind.starts_with(closer)) {
            return Err(UnclosedChoice::Early);
        }
        let content = start..close.at;
        Ok(ChoiceSpan {
            items: split_items(content.clone(), &close.commas, double),
            end: close.at + closers[0].len(),
            content,
            double,
            balanced: true,
        })
    }

    /// Finds the end by the rule of the original TSTL: the first closer ends a choice, and every comma
    /// separates items.
    pub(crate) fn find_textual(text: &str, opener: usize, end: usize) -> Option<ChoiceSpan> {
        let rest = text.get(opener + 1..end)?;
        let double = rest.starts_with(",[");
        if !double && !rest.starts_with('[') {
            return None;
        }
        let start = opener + if double { 3 } else { 2 };
        let closers: [&str; 2] = if double { ["],>", "],%"] } else { ["]>", "]%"] };
        let inner = text.get(start..end)?;
        // Searches for both closers at once: a closer that does not occur would be searched for up
        // to the end of the line.
        let closes = |at: &usize| {
            closers
                .iter()
                .any(|closer| inner[*at..].starts_with(closer))
        };
        let length = inner.match_indices(']').map(|(at, _)| at).find(closes)?;
        let content = start..start + length;
        let commas: Vec<usize> = text[content.clone()]
            .match_indices(',')
            .map(|(at, _)| start + at)
            .collect();
        Some(ChoiceSpan {
            items: split_items(content.clone(), &commas, double),
            end: content.end + closers[0].len(),
            content,
            double,
            balanced: false,
        })
    }
}

/// Returns true if the choice at the start of a text is closed somewhere.
pub(crate) fn is_closed(text: &str) -> bool {
    ChoiceSpan::find_textual(text, 0, text.len()).is_some()
}

/// Returns the closer that belongs to an opener.
pub(crate) fn closer_of(opener: &str) -> &'static str {
    match opener {
        "<[" => "]>",
        "%[" => "]%",
        "<,[" => "],>",
        _ => "],%",
    }
}

/// Splits the content of a choice into items.
fn split_items(content: Range<usize>, commas: &[usize], double: bool) -> Vec<Range<usize>> {
    let mut items = Vec::new();
    let mut start = content.start;
    let mut commas = commas.iter().copied().peekable();
    while let Some(comma) = commas.next() {
        if double && commas.peek() != Some(&(comma + 1)) {
            continue;
        }
        items.push(start..comma);
        start = comma + 1;
        if double {
            commas.next();
            start += 1;
        }
    }
    if double || !items.is_empty() || !content.is_empty() {
        items.push(start..content.end);
    }
    items
}

/// Returns true if an item surely contains nothing of the harness language.
pub(crate) fn is_plain(item: &str) -> bool {
    !item
        .bytes()
        .any(|byte| matches!(byte, b'<' | b'%' | b'>' | b';' | b':' | b','))
}

/// Parses `1..20` or `'a'..'z'`. Returns `None` if it is not a range, and an error if it is a wrong
/// one.
pub(crate) fn parse_range(content: &str) -> Option<Result<ChoiceValues, String>> {
    let content = content.trim();
    if !content.contains("..") {
        return None;
    }
    if let Some((first, last)) = content.split_once("..")
        && let (Some(first), Some(last)) = (parse_integer(first), parse_integer(last))
    {
        return Some(match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) => Ok(ChoiceValues::Integers { first, last }),
            _ => Err(format!(
                "the numbers of the range `{content}` are too large"
            )),
        });
    }
    if let Some((first, last)) = parse_characters(content) {
        return Some(Ok(character_range(first, last)));
    }
    if let Some((first, last)) = content.split_once("...") {
        let ends = (
            parse_integer(first),
            parse_integer(last.trim_start_matches('.')),
        );
        if let (Some(_), Some(_)) = ends {
            return Some(Err(format!("a range has two dots, not as in `{content}`")));
        }
    }
    let has_dots = |token: &Token| content[token.range.clone()].contains("..");
    let is_range = !content.contains("...") && {
        let tokens = host::tokenize(content);
        let outside = |token: &&Token| token.kind != TokenKind::String;
        let neighbours = tokens.windows(2).any(|pair| {
            let dot = |token: &Token, at: &str| {
                token.kind != TokenKind::String && content[token.range.clone()].contains(at)
            };
            pair[0].range.end == pair[1].range.start && dot(&pair[0], ".") && dot(&pair[1], ".")
        });
        neighbours || tokens.iter().filter(outside).any(has_dots)
    };
    let looks_like_code = content.contains(['(', '[', '{', ',']);
    (is_range && !looks_like_code).then(|| {
        Err(format!(
            "`{content}` is neither a range of integers nor of characters"
        ))
    })
}

/// Returns advice for a wrong range.
pub(crate) fn range_advice(content: &str) -> String {
    let dots = content.find("..").unwrap_or(content.len());
    let first = content[..dots].trim();
    let last = content[dots..].trim_start_matches('.').trim();
    let letter = |text: &str| {
        let mut letters = text.trim_matches(['\'', '"']).chars();
        letters
            .next()
            .filter(|letter| letters.next().is_none() && letter.is_alphabetic())
    };
    match (
        parse_integer(first),
        parse_integer(last),
        letter(first),
        letter(last),
    ) {
        (Some(_), Some(_), ..) if content.contains("...") => format!("write `<[{first}..{last}]>`"),
        (Some(_), Some(_), ..) => "use smaller numbers".to_owned(),
        (_, _, Some(first), Some(last)) => format!("write `<['{first}'..'{last}']>`"),
        _ => {
            "write `<[1..20]>` or `<['a'..'z']>`, or list the values: `<[0.5,1.0,2.5]>`".to_owned()
        }
    }
}

/// Splits `1-5`, which is a difference where a range may be meant.
pub(crate) fn split_difference(content: &str) -> Option<(&str, &str)> {
    let (first, last) = content.trim().split_once(['-', ':'])?;
    let is_number = |text: &str| !text.starts_with('-') && parse_integer(text).is_some();
    (is_number(first) && is_number(last)).then_some((first.trim(), last.trim()))
}

/// Returns the text if it is a decimal integer.
fn parse_integer(text: &str) -> Option<&str> {
    let text = text.trim();
    let digits = text.strip_prefix('-').unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(text)
}

/// Parses `'a'..'z'`.
fn parse_characters(text: &str) -> Option<(char, char)> {
    let mut letters = text.chars();
    let quoted = |letters: &mut std::str::Chars<'_>| {
        let quote = letters.next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let letter = letters.next()?;
        (letters.next()? == quote).then_some(letter)
    };
    let first = quoted(&mut letters)?;
    let rest = letters.as_str().trim_start().strip_prefix("..")?;
    let mut letters = rest.trim_start().chars();
    let last = quoted(&mut letters)?;
    letters.as_str().is_empty().then_some((first, last))
}

/// Builds a range of characters. Characters that cannot stand in quotes get a backslash.
fn character_range(first: char, last: char) -> ChoiceValues {
    let needs_escape = |letter: char| matches!(letter, '\'' | '\\') || letter.is_control();
    let short = (first..=last).take(MAX_WRITTEN_OUT);
    if !short.clone().any(needs_escape) {
        return ChoiceValues::Characters { first, last };
    }
    ChoiceValues::Texts(
        short
            .map(|letter| match letter {
                '\'' | '\\' => format!("'\\{letter}'"),
                _ if letter.is_control() => format!("'\\x{:02x}'", u32::from(letter)),
                _ => format!("'{letter}'"),
            })
            .collect(),
    )
}

/// Maximum length of a range that is written out: one among other items, or one with characters to
/// escape.
const MAX_WRITTEN_OUT: usize = 0x11_0000;

/// Returns the alternatives of a range that stands in a list.
pub(crate) fn range_items(
    alternatives: ChoiceAlternatives,
    span: &Range<usize>,
) -> Vec<ChoiceItem> {
    let choice = match alternatives {
        ChoiceAlternatives::Items(items) => return items,
        ChoiceAlternatives::Range(choice) => choice,
    };
    let count = choice.len().min(MAX_WRITTEN_OUT as u64);
    (0..count)
        .map(|alternative| ChoiceItem {
            span: span.clone(),
            nodes: vec![LineNode {
                kind: NodeKind::HostText(choice.text(alternative).into_owned()),
                span: span.clone(),
            }],
        })
        .collect()
}

/// Parses `<1..10>` at the start of a text. Returns it with its length.
pub(crate) fn parse_bare_range(text: &str) -> Option<(Result<ChoiceValues, String>, usize)> {
    let inner = text.strip_prefix('<')?;
    let near = inner.as_bytes().iter().take(MAX_BARE_RANGE);
    let end = near.copied().position(|byte| byte == b'>')?;
    let content = &inner[..end];
    if !content.contains("..") {
        return None;
    }
    let is_range = parse_characters(content.trim()).is_some()
        || content.split_once("..").is_some_and(|(first, last)| {
            parse_integer(first).is_some() && parse_integer(last).is_some()
        });
    let choice = is_range.then(|| parse_range(content))??;
    Some((choice, end + 2))
}

/// Maximum length of a bare range, so that searching for its end does not take quadratic time.
const MAX_BARE_RANGE: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn items(text: &str, expected: &[&str]) {
        let tokens = host::tokenize(text);
        let found = ChoiceSpan::find_balanced(text, &tokens, 0, text.len())
            .ok()
            .or_else(|| ChoiceSpan::find_textual(text, 0, text.len()));
        let shown: Vec<&str> = found
            .map(|found| found.items)
            .unwrap_or_default()
            .into_iter()
            .map(|item| &text[item])
            .collect();
        assert_eq!(shown, expected, "{text:?}");
    }

    #[test]
    fn items_of_choices() {
        items("<[1, 2]>", &["1", " 2"]);
        items("<[5]>", &["5"]);
        items("<[]>", &[]);
        items("<[,]>", &["", ""]);
        items("%[\"a,]>b\",f(1,2)]%", &["\"a,]>b\"", "f(1,2)"]);
        items("<[f(,g(]>)", &["f(", "g("]);
        items("<,[1,2,,3],>", &["1,2", "3"]);
        items("<,[,a=1,,],>", &[",a=1", ""]);
        items("<,[],>", &[""]);
        items("<[<[1,2]>,<x>]>", &["<[1,2]>", "<x>"]);
        items("<[1", &[]);
    }

    #[test]
    fn ranges() {
        let integers = |first, last| Some(Ok(ChoiceValues::Integers { first, last }));
        assert_eq!(parse_range("1..20"), integers(1, 20));
        assert_eq!(parse_range(" -5 .. -1 "), integers(-5, -1));
        assert_eq!(
            parse_range("'a'..'c'"),
            Some(Ok(ChoiceValues::Characters {
                first: 'a',
                last: 'c'
            }))
        );
        assert!(matches!(parse_range("1..x"), Some(Err(_))));
        assert!(matches!(
            parse_range("1..99999999999999999999"),
            Some(Err(_))
        ));
        assert!(matches!(parse_range("1...5"), Some(Err(_))));
        for other in ["1", "'..'", "...", "f(..)", "'../a'", ""] {
            assert_eq!(parse_range(other), None, "{other:?}");
        }
        assert_eq!(
            parse_bare_range("<1..3> + 1").map(|(_, length)| length),
            Some(6)
        );
        assert_eq!(parse_bare_range("<x..y>").map(|(_, length)| length), None);
    }
}
