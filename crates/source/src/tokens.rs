//! A small tokenizer that never fails.
//!
//! A text with embedded Python must often be cut *before* its Python can be checked: where does a
//! string end, is this `#` a comment, which bracket closes which. The parser answers for finished
//! programs; [`tokenize`] answers for any text, also for a broken one or one that mixes in another
//! notation.

use crate::Range;

/// A token: a range of the text and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The kind of token.
    pub kind: TokenKind,
    /// The range in the text.
    pub range: Range,
}

/// The kind of a [`Token`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A name, also one that is a keyword only in some places (`match`, `type`).
    Name,
    /// A word that can never be a name.
    Keyword,
    /// A number, with its suffix (`2j`, and Python 2's `2L`) but without its sign.
    Number,
    /// A whole string with its prefix and quotes; a formatted string is one token too.
    String,
    /// From `#` to the end of the line.
    Comment,
    /// Any operator or separator; the longest that fits, also Python 2's `<>`.
    Operator,
    /// `(`, `[` or `{`.
    OpenBracket,
    /// `)`, `]` or `}`.
    CloseBracket,
    /// The end of a physical line: `\n`, `\r\n` or `\r`.
    Newline,
    /// One character that has no meaning in Python outside strings, such as `$` or a lone
    /// backslash.
    Unknown,
}

/// Splits `text` into tokens. Blanks and backslash-continued line ends between them are left out.
///
/// This never fails. A string without its closing quote ends with its line, a triple-quoted one with the text.
///
/// ```
/// use testwright_source::{TokenKind, tokenize};
///
/// let text = "f(x, '#')  # why";
/// let comment = tokenize(text).into_iter().find(|token| token.kind == TokenKind::Comment);
/// assert_eq!(comment.map(|token| &text[token.range]), Some("# why"));
/// ```
pub fn tokenize(text: &str) -> Vec<Token> {
    let mut scanner = TokenScanner {
        text,
        at: 0,
        no_formatted_strings_before: 0,
    };
    let mut found = Vec::new();
    while let Some(token) = scanner.next_token() {
        found.push(token);
    }
    found
}

/// Returns true if `word` can never be a name in Python 3.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Returns true if a text can be the name of a class or a variable.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name) && !is_keyword(text)
}

/// Python's keywords, sorted as bytes for the binary search above.
const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue",
    "def", "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import",
    "in", "is", "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while",
    "with", "yield",
];

/// Python's operators, longest first, so that the first match is right.
const OPERATORS: [&str; 42] = [
    "...", "**=", "//=", ">>=", "<<=", "!=", "->", ":=", "==", "<=", ">=", "<>", "<<", ">>", "**",
    "//", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "+", "-", "*", "/", "%", "&", "|",
    "^", "~", "@", "<", ">", "=", ".", ",", ":", ";",
];

/// The maximum nesting of formatted strings. Deeper ones are read as plain strings; Python itself
/// allows 150.
const MAX_FORMATTED_NESTING: usize = 30;

/// The state of the tokenizer.
struct TokenScanner<'a> {
    text: &'a str,
    at: usize,
    /// The position up to which formatted strings are read as plain ones. Set after one turned out
    /// not to be closed, since rescanning the same text from every later quote would take quadratic
    /// time.
    no_formatted_strings_before: usize,
}

impl TokenScanner<'_> {
    /// Returns the next token.
    fn next_token(&mut self) -> Option<Token> {
        self.skip_blanks();
        let start = self.at;
        let rest = self.text.get(start..)?;
        let first = rest.chars().next()?;
        let (kind, length) = match first {
            '\n' => (TokenKind::Newline, 1),
            '\r' => (TokenKind::Newline, line_end_length(rest)),
            '#' => (TokenKind::Comment, length_to_line_end(rest)),
            '(' | '[' | '{' => (TokenKind::OpenBracket, 1),
            ')' | ']' | '}' => (TokenKind::CloseBracket, 1),
            '\'' | '"' => (TokenKind::String, self.string_length("")),
            _ if starts_number(rest) => (TokenKind::Number, number_length(rest)),
            _ if starts_name(first) => self.scan_word(rest),
            _ => match OPERATORS
                .iter()
                .find(|operator| rest.starts_with(*operator))
            {
                Some(operator) => (TokenKind::Operator, operator.len()),
                None => (TokenKind::Unknown, first.len_utf8()),
            },
        };
        self.at = start + length;
        Some(Token {
            kind,
            range: start..self.at,
        })
    }

    /// Skips blanks, continued line ends and a byte order mark.
    fn skip_blanks(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let first = rest.as_bytes().first();
            match first {
                Some(b' ' | b'\t' | b'\x0c') => self.at += 1,
                Some(b'\\') if matches!(rest.as_bytes().get(1), Some(b'\n' | b'\r')) => {
                    self.at += 1 + line_end_length(&rest[1..]);
                }
                // A byte order mark is not part of the program.
                Some(0xEF) if self.at == 0 && rest.starts_with('\u{feff}') => self.at += 3,
                _ => return,
            }
        }
    }

    /// Scans a name, a keyword, or a string with a prefix.
    fn scan_word(&mut self, rest: &str) -> (TokenKind, usize) {
        let length = rest
            .find(|character| !continues_name(character))
            .unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        if after.starts_with(['\'', '"']) && is_string_prefix(word) {
            (TokenKind::String, self.string_length(word))
        } else if is_keyword(word) {
            (TokenKind::Keyword, length)
        } else {
            (TokenKind::Name, length)
        }
    }

    /// Returns the length of the string at the current position, which begins with this prefix.
    fn string_length(&mut self, prefix: &str) -> usize {
        let quote_at = self.at + prefix.len();
        let string = OpenString::new(self.text.as_bytes(), quote_at, prefix);
        if string.formatted && quote_at >= self.no_formatted_strings_before {
            match string.formatted_end(0) {
                Ok(end) => return end - self.at,
                Err(reached) => self.no_formatted_strings_before = reached,
            }
        }
        let (end, _) = string.plain_end();
        end - self.at
    }
}

/// A string whose opening quotes have been read.
///
/// Works on bytes: every significant character is ASCII, so every end found is also the end of a
/// character.
#[derive(Clone, Copy)]
struct OpenString<'a> {
    bytes: &'a [u8],
    /// The position after the opening quotes.
    start: usize,
    quote: u8,
    triple: bool,
    raw: bool,
    formatted: bool,
}

impl<'a> OpenString<'a> {
    /// Reads the opening quotes at `quote_at`.
    fn new(bytes: &'a [u8], quote_at: usize, prefix: &str) -> Self {
        let quote = bytes.get(quote_at).copied().unwrap_or(b'"');
        let triple = bytes[quote_at..].starts_with(&[quote; 3]);
        let has = |letter: char| prefix.contains([letter, letter.to_ascii_uppercase()]);
        OpenString {
            bytes,
            start: quote_at + if triple { 3 } else { 1 },
            quote,
            triple,
            raw: has('r'),
            formatted: has('f') || has('t'),
        }
    }

    /// Returns the byte at a position.
    fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the position after the closing quotes, if they are at `at`.
    fn end_if_closed_at(&self, at: usize) -> Option<usize> {
        let length = if self.triple { 3 } else { 1 };
        let quotes = self.bytes.get(at..at + length)?;
        quotes
            .iter()
            .all(|byte| *byte == self.quote)
            .then_some(at + length)
    }

    /// Returns true if a byte ends the line, and with it the string.
    fn ends_string_line(&self, byte: u8) -> bool {
        !self.triple && matches!(byte, b'\n' | b'\r')
    }

    /// Returns the end of the string if only quotes and backslashes matter, and whether it was
    /// closed.
    fn plain_end(&self) -> (usize, bool) {
        let mut at = self.start;
        while let Some(byte) = self.byte(at) {
            if self.ends_string_line(byte) {
                return (at, false);
            }
            if let Some(end) = self.end_if_closed_at(at) {
                return (end, true);
            }
            at = if byte == b'\\' {
                self.after_escape(at)
            } else {
                at + 1
            };
        }
        (self.bytes.len(), false)
    }

    /// Returns the position after a backslash and the character it escapes, which may be a two-byte
    /// line end.
    fn after_escape(&self, at: usize) -> usize {
        match self.bytes.get(at + 1..) {
            Some([b'\r', b'\n', ..]) => at + 3,
            _ => at + 2,
        }
    }

    /// Returns the end of a formatted string, whose fields may contain the same quotes (Python
    /// 3.12); or the position reached without finding the end. A field of a single-quoted string
    /// must end on its line: Python would allow more, but then one forgotten brace would swallow
    /// the following lines.
    fn formatted_end(&self, depth: usize) -> Result<usize, usize> {
        if depth > MAX_FORMATTED_NESTING {
            return Err(self.start);
        }
        let mut at = self.start;
        while let Some(byte) = self.byte(at) {
            if self.ends_string_line(byte) {
                return Err(at);
            }
            if let Some(end) = self.end_if_closed_at(at) {
                return Ok(end);
            }
            at = match byte {
                b'\\' => self.after_formatted_escape(at),
                b'{' if self.byte(at + 1) == Some(b'{') => at + 2,
                b'{' => self.replacement_field_end(at + 1, depth)?,
                _ => at + 1,
            };
        }
        Err(self.bytes.len())
    }

    /// Returns the position after a backslash. It does not escape a brace, except in the name of a
    /// character: `\N{BULLET}`.
    fn after_formatted_escape(&self, at: usize) -> usize {
        match self.bytes.get(at + 1..) {
            Some([b'{' | b'}', ..]) => at + 1,
            Some([b'N', b'{', ..]) if !self.raw => at + 3,
            _ => self.after_escape(at),
        }
    }

    /// Returns the position after the `}` of a replacement field whose `{` has been read.
    fn replacement_field_end(&self, mut at: usize, depth: usize) -> Result<usize, usize> {
        let mut open = 0_usize;
        while let Some(byte) = self.byte(at) {
            if self.ends_string_line(byte) {
                return Err(at);
            }
            at = match byte {
                b'}' if open == 0 => return Ok(at + 1),
                b':' if open == 0 => return self.format_specification_end(at + 1, depth),
                b'\'' | b'"' => self.nested_string_end(at, depth)?,
                b'(' | b'[' | b'{' => {
                    open += 1;
                    at + 1
                }
                b')' | b']' | b'}' => {
                    open = open.saturating_sub(1);
                    at + 1
                }
                _ => at + 1,
            };
        }
        Err(self.bytes.len())
    }

    /// Returns the position after the `}` of a field whose `:` has been read. The format is literal
    /// text with fields of its own.
    fn format_specification_end(&self, mut at: usize, depth: usize) -> Result<usize, usize> {
        if depth > MAX_FORMATTED_NESTING {
            return Err(at);
        }
        while let Some(byte) = self.byte(at) {
            if self.ends_string_line(byte) || self.end_if_closed_at(at).is_some() {
                return Err(at);
            }
            at = match byte {
                b'}' => return Ok(at + 1),
                b'{' => self.replacement_field_end(at + 1, depth + 1)?,
                _ => at + 1,
            };
        }
        Err(self.bytes.len())
    }

    /// Returns the position after a string inside a field, whose opening quote is at `at`.
    fn nested_string_end(&self, at: usize, depth: usize) -> Result<usize, usize> {
        let letters = self.bytes[..at]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let prefix = std::str::from_utf8(&self.bytes[at - letters..at])
            .ok()
            .filter(|word| is_string_prefix(word))
            .unwrap_or("");
        let string = OpenString::new(self.bytes, at, prefix);
        if string.formatted {
            return string.formatted_end(depth + 1);
        }
        match string.plain_end() {
            (end, true) => Ok(end),
            (end, false) => Err(end),
        }
    }
}

/// Returns true if `word` is a string prefix; `ur` was one in Python 2.
fn is_string_prefix(word: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "r", "u", "b", "f", "t", "br", "rb", "fr", "rf", "tr", "rt", "ur",
    ];
    PREFIXES
        .iter()
        .any(|prefix| prefix.eq_ignore_ascii_case(word))
}

/// Returns true if a character can start a name.
fn starts_name(character: char) -> bool {
    character == '_' || unicode_ident::is_xid_start(character)
}

/// Returns true if a character can continue a name.
fn continues_name(character: char) -> bool {
    unicode_ident::is_xid_continue(character)
}

/// Returns true if a text starts with a number.
fn starts_number(rest: &str) -> bool {
    let digits = rest.strip_prefix('.').unwrap_or(rest);
    digits.starts_with(|character: char| character.is_ascii_digit())
}

/// Returns the length of the number at the start of a text.
fn number_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    if let [b'0', base @ (b'x' | b'X' | b'o' | b'O' | b'b' | b'B'), ..] = bytes {
        let hexadecimal = base.eq_ignore_ascii_case(&b'x');
        let end = digits_end(bytes, 2, hexadecimal);
        return end + usize::from(matches!(bytes.get(end), Some(b'l' | b'L')));
    }
    let mut at = digits_end(bytes, 0, false);
    if bytes.get(at) == Some(&b'.') {
        at = digits_end(bytes, at + 1, false);
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits_end(bytes, at + 1 + sign, false);
        if exponent > at + 1 + sign {
            at = exponent;
        }
    }
    at + usize::from(matches!(bytes.get(at), Some(b'j' | b'J' | b'l' | b'L')))
}

/// Returns the position after the digits from `at` on; an underscore counts if a digit follows it.
fn digits_end(bytes: &[u8], mut at: usize, hexadecimal: bool) -> usize {
    let is_digit = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte.is_ascii_digit() || (hexadecimal && byte.is_ascii_hexdigit()))
    };
    while is_digit(at) || (bytes.get(at) == Some(&b'_') && is_digit(at + 1)) {
        at += 1;
    }
    at
}

/// Returns the length of the rest of the line.
fn length_to_line_end(rest: &str) -> usize {
    rest.find(['\n', '\r']).unwrap_or(rest.len())
}

/// Returns the length of the line end at the start of `rest`.
fn line_end_length(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks each token, written as a letter for its kind and its text: `N:x`.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let shown: Vec<String> = tokenize(text)
            .into_iter()
            .map(|token| {
                let letter = match token.kind {
                    TokenKind::Name => 'N',
                    TokenKind::Keyword => 'K',
                    TokenKind::Number => '#',
                    TokenKind::String => 'S',
                    TokenKind::Comment => 'C',
                    TokenKind::Operator => 'O',
                    TokenKind::OpenBracket => '<',
                    TokenKind::CloseBracket => '>',
                    TokenKind::Newline => return "NL".to_owned(),
                    TokenKind::Unknown => '?',
                };
                format!("{letter}:{}", &text[token.range])
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{text:?}");
    }

    #[test]
    fn ordinary_lines() {
        check("", "");
        check("  \t ", "");
        check("x=f(1)", "N:x O:= N:f <:( #:1 >:)");
        check(
            "return x if y else None",
            "K:return N:x K:if N:y K:else K:None",
        );
        check("a//=b**-c", "N:a O://= N:b O:** O:- N:c");
        check("x # 'y", "N:x C:# 'y");
        check("a\r\nb\rc\n", "N:a NL N:b NL N:c NL");
        check("a \\\r\n b", "N:a N:b");
        check("\u{feff}x", "N:x");
        check("<int> $x ?`", "O:< N:int O:> ?:$ N:x ?:? ?:`");
        check("größe = 'ä'", "N:größe O:= S:'ä'");
        check("हिन्दी.x", "N:हिन्दी O:. N:x");
        check("x\u{a0}€", "N:x ?:\u{a0} ?:€");
    }

    #[test]
    fn numbers() {
        check(
            "1 1. .5 1e-3 2J 0x_fF 0b101 1_000",
            "#:1 #:1. #:.5 #:1e-3 #:2J #:0x_fF #:0b101 #:1_000",
        );
        check("1if 0xfor 1L 0777", "#:1 K:if #:0xf K:or #:1L #:0777");
        check(
            "1..real 1.e5 1e x.y 1__2",
            "#:1. O:. N:real #:1.e5 #:1 N:e N:x O:. N:y #:1 N:__2",
        );
    }

    #[test]
    fn strings() {
        check(
            r#"'a' "b'c" '' """d"e""" rb'\'' Ur"x""#,
            r#"S:'a' S:"b'c" S:'' S:"""d"e""" S:rb'\'' S:Ur"x""#,
        );
        check("xf'a'", "N:xf S:'a'");
        check("'a\nb", "S:'a NL N:b");
        check("'a\\\r\nb' c", "S:'a\\\r\nb' N:c");
        check("'''a\nb", "S:'''a\nb");
        check("'\\", "S:'\\");
        check("'\\é", "S:'\\é");
    }

    #[test]
    fn formatted_strings_are_one_token() {
        check(r#"f"{x["a"]}" y"#, r#"S:f"{x["a"]}" N:y"#);
        check(r#"f"{f"{f"{1}"}"}""#, r#"S:f"{f"{f"{1}"}"}""#);
        check(
            r#"f"{x:{w}}" f"{{" rf'\{x['b']}'"#,
            r#"S:f"{x:{w}}" S:f"{{" S:rf'\{x['b']}'"#,
        );
        check(
            r#"f"\N{BULLET}" f"don't {x}" t'{a!r}'"#,
            r#"S:f"\N{BULLET}" S:f"don't {x}" S:t'{a!r}'"#,
        );
        check("f'''{\nx['''a''']}''' b", "S:f'''{\nx['''a''']}''' N:b");
    }

    #[test]
    fn broken_formatted_strings_are_read_as_plain_ones() {
        check("f\"{\" x\ny", "S:f\"{\" N:x NL N:y");
        check("f'{x:' y", "S:f'{x:' N:y");
        check("f'{a\n}'", "S:f'{a NL >:} S:'");
    }

    #[test]
    fn hostile_text_takes_no_longer_than_it_is() {
        assert_eq!(tokenize(&"(".repeat(100_000)).len(), 100_000);
        assert!(!tokenize(&"f\"{".repeat(100_000)).is_empty());
        assert!(!tokenize(&"f'''{x:".repeat(50_000)).is_empty());
        assert_eq!(tokenize(&"x".repeat(1_000_000)).len(), 1);
    }
}
