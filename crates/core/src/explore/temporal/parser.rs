//! Parser of formulas.

use std::ops::Range;
use std::str::FromStr;

use super::FormulaError;
use super::formula::{Atom, Formula};

/// A formula and the ranges of its atoms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedFormula {
    /// The formula.
    pub formula: Formula,
    /// Each atom with the byte range of its own text, without braces or quotes, so that errors can
    /// point at it.
    pub atom_ranges: Vec<(Atom, Range<usize>)>,
}

/// Parses a formula. See the [module](super) for the language.
///
/// ```
/// use testwright_core::explore::temporal::parse;
///
/// let formula = parse("[] (request -> <> {queue == []})").unwrap().formula;
/// assert_eq!(formula.to_string(), "always (request implies eventually {queue == []})");
///
/// let problem = parse("always (request -> )").unwrap_err();
/// assert_eq!((problem.range, problem.message.as_str()), (19..20, "expected a formula before `)`"));
/// ```
pub fn parse(text: &str) -> Result<ParsedFormula, FormulaError> {
    let mut parser = FormulaParser {
        tokens: tokenize(text)?,
        text,
        next: 0,
        atom_ranges: Vec::new(),
        depth: 0,
    };
    let formula = parser.parse_formula()?;
    if let Some((token, range)) = parser.peek() {
        let problem = match token {
            FormulaToken::Close => error_at(range.clone(), "there is no `(` for this `)`"),
            _ => {
                let message = format!("expected an operator before `{}`", &text[range.clone()]);
                let help = "join formulas by `and`, `or`, `implies` or `until`; texts with spaces stand in braces";
                with_help(error_at(range.clone(), message), help)
            }
        };
        return Err(problem);
    }
    Ok(ParsedFormula {
        formula,
        atom_ranges: parser.atom_ranges,
    })
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Formula, FormulaError> {
        parse(text).map(|parsed| parsed.formula)
    }
}

/// The maximum nesting of formulas, so that no text overflows the stack.
const MAX_NESTING: usize = 80;

/// A token of a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
enum FormulaToken {
    Open,
    Close,
    Not,
    Next,
    Always,
    Eventually,
    And,
    Or,
    Implies,
    Until,
    WeakUntil,
    Release,
    True,
    False,
    /// An atom and the range of its own text.
    Atom(Atom, Range<usize>),
}

/// Creates an error without advice.
fn error_at(range: Range<usize>, message: impl Into<String>) -> FormulaError {
    FormulaError {
        range,
        message: message.into(),
        help: None,
    }
}

/// Adds advice to an error.
fn with_help(diagnostic: FormulaError, help: impl Into<String>) -> FormulaError {
    FormulaError {
        help: Some(help.into()),
        ..diagnostic
    }
}

/// Operators written as signs, longer ones first.
const SIGNS: [(&str, FormulaToken); 10] = [
    ("[]", FormulaToken::Always),
    ("<>", FormulaToken::Eventually),
    ("->", FormulaToken::Implies),
    ("=>", FormulaToken::Implies),
    ("&&", FormulaToken::And),
    ("||", FormulaToken::Or),
    ("(", FormulaToken::Open),
    (")", FormulaToken::Close),
    ("!", FormulaToken::Not),
    ("~", FormulaToken::Not),
];

/// Splits a text into tokens with their ranges.
fn tokenize(text: &str) -> Result<Vec<(FormulaToken, Range<usize>)>, FormulaError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let start = at;
        let sign = SIGNS.iter().find(|(sign, _)| text[at..].starts_with(sign));
        if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some((sign, token)) = sign {
            at += sign.len();
            tokens.push((token.clone(), start..at));
        } else if first == '{' || first == '`' {
            let inner = enclosed_range(text, at)?;
            at = inner.end + 1;
            let trimmed = text[inner.clone()].trim();
            if trimmed.is_empty() {
                return Err(error_at(start..at, "there is nothing in here"));
            }
            let begin = inner.start + (text[inner.clone()].len() - text[inner].trim_start().len());
            let atom = Atom::Predicate(trimmed.to_owned());
            let token = FormulaToken::Atom(atom, begin..begin + trimmed.len());
            tokens.push((token, start..at));
        } else if first.is_alphabetic() || first == '_' {
            at += leading_word(&text[at..]).len();
            let token = match &text[start..at] {
                "took" => {
                    let (pattern, range) = parse_quoted(text, start..at)?;
                    at = range.end + 1;
                    FormulaToken::Atom(Atom::Took(pattern), range)
                }
                "weak" => {
                    let rest = text[at..].trim_start();
                    if leading_word(rest) != "until" {
                        let help = "write `weak until`, or put a predicate of that name in braces";
                        let message = "expected `until` after `weak`";
                        return Err(with_help(error_at(start..at, message), help));
                    }
                    at = text.len() - rest.len() + "until".len();
                    FormulaToken::WeakUntil
                }
                name => keyword_token(name).unwrap_or_else(|| {
                    FormulaToken::Atom(Atom::Predicate(name.to_owned()), start..at)
                }),
            };
            tokens.push((token, start..at));
        } else {
            let range = at..at + first.len_utf8();
            let message = format!("`{first}` means nothing here");
            let help = match first {
                '&' => "write `&&` or `and`",
                '|' => "write `||` or `or`",
                '"' | '\'' => {
                    "texts stand after `took`; predicates stand in braces: `{name == \"x\"}`"
                }
                '}' => "predicates stand in braces, `{…}`, and braces in them come in pairs",
                _ => "put predicates of the host language in braces: `{len(x) < 3}`",
            };
            return Err(with_help(error_at(range, message), help));
        }
    }
    Ok(tokens)
}

/// Returns the word at the beginning of a text.
fn leading_word(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_alphanumeric() && next != '_');
    &text[..end.unwrap_or(text.len())]
}

/// Returns the token of a keyword.
fn keyword_token(word: &str) -> Option<FormulaToken> {
    Some(match word {
        "always" | "G" => FormulaToken::Always,
        "eventually" | "F" => FormulaToken::Eventually,
        "next" | "X" => FormulaToken::Next,
        "until" | "U" => FormulaToken::Until,
        "W" => FormulaToken::WeakUntil,
        "release" | "R" | "V" => FormulaToken::Release,
        "not" => FormulaToken::Not,
        "and" => FormulaToken::And,
        "or" => FormulaToken::Or,
        "implies" => FormulaToken::Implies,
        "true" => FormulaToken::True,
        "false" => FormulaToken::False,
        _ => return None,
    })
}

/// Returns the range between the brace or backquote at `at` and the one that closes it.
fn enclosed_range(text: &str, at: usize) -> Result<Range<usize>, FormulaError> {
    let braces = text[at..].starts_with('{');
    let mut open = 0usize;
    for (offset, next) in text[at..].char_indices() {
        match next {
            '{' if braces => open += 1,
            '}' if braces => open -= 1,
            '`' if !braces => open = usize::from(offset == 0),
            _ => {}
        }
        if open == 0 {
            return Ok(at + 1..at + offset);
        }
    }
    let (mark, end) = if braces {
        ("brace", "}")
    } else {
        ("backquote", "`")
    };
    let message = format!("this {mark} is not closed");
    let help = format!("end the predicate with `{end}`");
    Err(with_help(error_at(at..at + 1, message), help))
}

/// Parses the text in quotes after `took`, and returns it with its range.
fn parse_quoted(text: &str, took: Range<usize>) -> Result<(String, Range<usize>), FormulaError> {
    let help = "write `took \"text of the action\"`, with `*` for anything";
    let rest = text[took.end..].trim_start();
    let quote = rest
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quote else {
        let message = "expected the text of an action in quotes after `took`";
        return Err(with_help(error_at(took, message), help));
    };
    let start = text.len() - rest.len() + 1;
    let mut pattern = String::new();
    let mut characters = text[start..].char_indices();
    while let Some((offset, next)) = characters.next() {
        let following = text[start + offset + next.len_utf8()..].chars().next();
        match (next, following) {
            ('\\', Some(escaped @ ('\\' | '"' | '\''))) => {
                pattern.push(escaped);
                characters.next();
            }
            _ if next == quote => return Ok((pattern, start..start + offset)),
            _ => pattern.push(next),
        }
    }
    Err(with_help(
        error_at(start - 1..start, "this quote is not closed"),
        help,
    ))
}

/// A recursive-descent parser over the tokens of a formula.
struct FormulaParser<'t> {
    tokens: Vec<(FormulaToken, Range<usize>)>,
    text: &'t str,
    next: usize,
    atom_ranges: Vec<(Atom, Range<usize>)>,
    depth: usize,
}

/// A constructor that combines two formulas.
type BinaryConstructor = fn(Box<Formula>, Box<Formula>) -> Formula;

impl FormulaParser<'_> {
    /// Returns the next token.
    fn peek(&self) -> Option<&(FormulaToken, Range<usize>)> {
        self.tokens.get(self.next)
    }

    /// Parses a complete formula.
    fn parse_formula(&mut self) -> Result<Formula, FormulaError> {
        self.parse_binary(0)
    }

    /// Parses formulas joined by operators that bind at least as tightly as this level.
    fn parse_binary(&mut self, level: usize) -> Result<Formula, FormulaError> {
        if level > 3 {
            return self.parse_unary();
        }
        self.enter_level()?;
        let left = self.parse_binary(level + 1)?;
        let join: Option<BinaryConstructor> =
            self.peek().and_then(|(token, _)| match (level, token) {
                (0, FormulaToken::Implies) => Some(Formula::Implies as BinaryConstructor),
                (1, FormulaToken::Or) => Some(Formula::Or),
                (2, FormulaToken::And) => Some(Formula::And),
                (3, FormulaToken::Until) => Some(Formula::Until),
                (3, FormulaToken::WeakUntil) => Some(Formula::WeakUntil),
                (3, FormulaToken::Release) => Some(Formula::Release),
                _ => None,
            });
        let joined = match join {
            None => left,
            Some(join) => {
                self.next += 1;
                let right = self.parse_binary(level)?;
                join(Box::new(left), Box::new(right))
            }
        };
        self.depth -= 1;
        Ok(joined)
    }

    /// Counts one more level of nesting. Returns an error if there are too many.
    fn enter_level(&mut self) -> Result<(), FormulaError> {
        self.depth += 1;
        if self.depth > MAX_NESTING * 5 {
            let range = self.peek().map(|(_, range)| range.clone());
            let end = self.text.len();
            return Err(error_at(
                range.unwrap_or(end..end),
                "the formula is nested too deeply",
            ));
        }
        Ok(())
    }

    /// Parses an atom, a formula in parentheses, or a prefix operator with its operand.
    fn parse_unary(&mut self) -> Result<Formula, FormulaError> {
        let Some((token, range)) = self.peek().cloned() else {
            let end = self.text.len();
            let message = match end {
                0 => "there is no formula",
                _ => "expected a formula at the end",
            };
            return Err(error_at(end..end, message));
        };
        self.next += 1;
        let prefix: fn(Box<Formula>) -> Formula = match token {
            FormulaToken::Not => Formula::Not,
            FormulaToken::Next => Formula::Next,
            FormulaToken::Always => Formula::Always,
            FormulaToken::Eventually => Formula::Eventually,
            FormulaToken::True => return Ok(Formula::True),
            FormulaToken::False => return Ok(Formula::False),
            FormulaToken::Atom(atom, range_of_text) => {
                self.atom_ranges.push((atom.clone(), range_of_text));
                return Ok(Formula::Atom(atom));
            }
            FormulaToken::Open => return self.parse_parenthesis(range),
            _ => {
                let message = format!("expected a formula before `{}`", &self.text[range.clone()]);
                return Err(error_at(range, message));
            }
        };
        self.enter_level()?;
        let formula = prefix(Box::new(self.parse_unary()?));
        self.depth -= 1;
        Ok(formula)
    }

    /// Parses a formula in parentheses whose opening one was read.
    fn parse_parenthesis(&mut self, open: Range<usize>) -> Result<Formula, FormulaError> {
        let formula = self.parse_formula()?;
        match self.peek() {
            Some((FormulaToken::Close, _)) => {
                self.next += 1;
                Ok(formula)
            }
            Some((_, range)) => {
                let message = format!(
                    "expected an operator or `)` before `{}`",
                    &self.text[range.clone()]
                );
                Err(error_at(range.clone(), message))
            }
            None => Err(with_help(
                error_at(open, "this parenthesis is not closed"),
                "end it with `)`",
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        parse(text).unwrap().formula.to_string()
    }

    #[test]
    fn words_and_signs_mean_the_same() {
        let words =
            "always (a implies eventually b) and not next c or d until e weak until f release g";
        let signs = "[] (a -> <> b) && ! X c || d U e W f R g";
        let letters = "G (a -> F b) and ~ X c or d U (e W (f R g))";
        assert_eq!(shown(words), words);
        assert_eq!(shown(signs), words);
        assert_eq!(shown(letters), words);
        assert_eq!(shown("(a and b) and c"), "(a and b) and c");
        assert_eq!(shown("a -> b -> c"), "a implies b implies c");
        assert_eq!(shown("(a or b) until true"), "(a or b) until true");
        assert_eq!(shown("always a until b"), "always a until b");
        assert_eq!(
            parse("always a until b").unwrap().formula,
            parse("(always a) until b").unwrap().formula
        );
    }

    #[test]
    fn atoms_are_names_or_texts() {
        let parsed =
            parse("{ {1: 2}[x] < 3 } and `'}' in x` and took 'f(\\'a\\')' or F_1").unwrap();
        let atoms = [
            Atom::Predicate("{1: 2}[x] < 3".to_owned()),
            Atom::Predicate("'}' in x".to_owned()),
            Atom::Took("f('a')".to_owned()),
            Atom::Predicate("F_1".to_owned()),
        ];
        assert_eq!(parsed.formula.atoms(), atoms);
        assert_eq!(parsed.atom_ranges[0].1, 2..15);
        assert_eq!(shown("{until}"), "{until}");
        assert_eq!(shown("{ready}"), "ready");
        assert_eq!(
            shown("took \"a \\\" \\\\ \\n\""),
            "took \"a \\\" \\\\ \\\\n\""
        );
    }

    #[test]
    fn errors_have_ranges() {
        let check = |text: &str, range: Range<usize>, message: &str| {
            let problem = parse(text).unwrap_err();
            assert_eq!(
                (problem.message.as_str(), problem.range),
                (message, range),
                "{text}"
            );
        };
        check("", 0..0, "there is no formula");
        check("always", 6..6, "expected a formula at the end");
        check("a until", 7..7, "expected a formula at the end");
        check("(a and b", 0..1, "this parenthesis is not closed");
        check("a)", 1..2, "there is no `(` for this `)`");
        check("a b", 2..3, "expected an operator before `b`");
        check("(a b)", 3..4, "expected an operator or `)` before `b`");
        check("and b", 0..3, "expected a formula before `and`");
        check("x < 3", 2..3, "`<` means nothing here");
        check("a & b", 2..3, "`&` means nothing here");
        check("{a and b", 0..1, "this brace is not closed");
        check("`a", 0..1, "this backquote is not closed");
        check("{ }", 0..3, "there is nothing in here");
        check(
            "took fill",
            0..4,
            "expected the text of an action in quotes after `took`",
        );
        check("took \"fill", 5..6, "this quote is not closed");
        check("a weak b", 2..6, "expected `until` after `weak`");
        check("ä and €", 7..10, "`€` means nothing here");
        let deep = "(".repeat(100_000);
        assert_eq!(
            parse(&deep).unwrap_err().message,
            "the formula is nested too deeply"
        );
        let deep = "!".repeat(100_000);
        assert_eq!(
            parse(&deep).unwrap_err().message,
            "the formula is nested too deeply"
        );
    }
}
