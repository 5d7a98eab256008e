//! From text to formulas.

use std::ops::Range;
use std::str::FromStr;

use super::Diagnostic;
use super::formula::{Atom, Formula};

/// A formula, and where its atoms stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The formula.
    pub formula: Formula,
    /// Each atom with the bytes of its own text, without braces or quotes, so that trouble with it has a place.
    pub places: Vec<(Atom, Range<usize>)>,
}

/// Reads a formula. See the [module](super) for the language.
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
pub fn parse(text: &str) -> Result<Parsed, Diagnostic> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        text,
        next: 0,
        places: Vec::new(),
        depth: 0,
    };
    let formula = parser.implies()?;
    if let Some((token, range)) = parser.peek() {
        let problem = match token {
            Token::Close => problem(range.clone(), "there is no `(` for this `)`"),
            _ => {
                let message = format!("expected an operator before `{}`", &text[range.clone()]);
                let help = "join formulas by `and`, `or`, `implies` or `until`; texts with spaces stand in braces";
                with_help(problem(range.clone(), message), help)
            }
        };
        return Err(problem);
    }
    Ok(Parsed {
        formula,
        places: parser.places,
    })
}

impl FromStr for Formula {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Formula, Diagnostic> {
        parse(text).map(|parsed| parsed.formula)
    }
}

/// How many formulas may stand in each other, so that no text makes the stack overflow.
const DEEPEST: usize = 80;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
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
    /// And where its own text stands.
    Atom(Atom, Range<usize>),
}

fn problem(range: Range<usize>, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        range,
        message: message.into(),
        help: None,
    }
}

fn with_help(diagnostic: Diagnostic, help: impl Into<String>) -> Diagnostic {
    Diagnostic {
        help: Some(help.into()),
        ..diagnostic
    }
}

/// Signs that are one token, longer ones first.
const SIGNS: [(&str, Token); 10] = [
    ("[]", Token::Always),
    ("<>", Token::Eventually),
    ("->", Token::Implies),
    ("=>", Token::Implies),
    ("&&", Token::And),
    ("||", Token::Or),
    ("(", Token::Open),
    (")", Token::Close),
    ("!", Token::Not),
    ("~", Token::Not),
];

fn tokens(text: &str) -> Result<Vec<(Token, Range<usize>)>, Diagnostic> {
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
            let inner = enclosed(text, at)?;
            at = inner.end + 1;
            let trimmed = text[inner.clone()].trim();
            if trimmed.is_empty() {
                return Err(problem(start..at, "there is nothing in here"));
            }
            let begin = inner.start + (text[inner.clone()].len() - text[inner].trim_start().len());
            let atom = Atom::Predicate(trimmed.to_owned());
            let token = Token::Atom(atom, begin..begin + trimmed.len());
            tokens.push((token, start..at));
        } else if first.is_alphabetic() || first == '_' {
            at += word(&text[at..]).len();
            let token = match &text[start..at] {
                "took" => {
                    let (pattern, range) = quoted(text, start..at)?;
                    at = range.end + 1;
                    Token::Atom(Atom::Took(pattern), range)
                }
                "weak" => {
                    let rest = text[at..].trim_start();
                    if word(rest) != "until" {
                        let help = "write `weak until`, or put a predicate of that name in braces";
                        let message = "expected `until` after `weak`";
                        return Err(with_help(problem(start..at, message), help));
                    }
                    at = text.len() - rest.len() + "until".len();
                    Token::WeakUntil
                }
                name => keyword(name)
                    .unwrap_or_else(|| Token::Atom(Atom::Predicate(name.to_owned()), start..at)),
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
            return Err(with_help(problem(range, message), help));
        }
    }
    Ok(tokens)
}

/// The word at the beginning of a text.
fn word(text: &str) -> &str {
    let end = text.find(|next: char| !next.is_alphanumeric() && next != '_');
    &text[..end.unwrap_or(text.len())]
}

fn keyword(word: &str) -> Option<Token> {
    Some(match word {
        "always" | "G" => Token::Always,
        "eventually" | "F" => Token::Eventually,
        "next" | "X" => Token::Next,
        "until" | "U" => Token::Until,
        "W" => Token::WeakUntil,
        "release" | "R" | "V" => Token::Release,
        "not" => Token::Not,
        "and" => Token::And,
        "or" => Token::Or,
        "implies" => Token::Implies,
        "true" => Token::True,
        "false" => Token::False,
        _ => return None,
    })
}

/// What stands between the brace or backquote at a place and the one that ends it.
fn enclosed(text: &str, at: usize) -> Result<Range<usize>, Diagnostic> {
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
    let (what, end) = if braces {
        ("brace", "}")
    } else {
        ("backquote", "`")
    };
    let message = format!("this {what} is not closed");
    let help = format!("end the predicate with `{end}`");
    Err(with_help(problem(at..at + 1, message), help))
}

/// The text in quotes after `took`, and where it stands.
fn quoted(text: &str, took: Range<usize>) -> Result<(String, Range<usize>), Diagnostic> {
    let help = "write `took \"text of the action\"`, with `*` for anything";
    let rest = text[took.end..].trim_start();
    let quote = rest
        .chars()
        .next()
        .filter(|first| matches!(first, '"' | '\''));
    let Some(quote) = quote else {
        let message = "expected the text of an action in quotes after `took`";
        return Err(with_help(problem(took, message), help));
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
        problem(start - 1..start, "this quote is not closed"),
        help,
    ))
}

struct Parser<'t> {
    tokens: Vec<(Token, Range<usize>)>,
    text: &'t str,
    next: usize,
    places: Vec<(Atom, Range<usize>)>,
    depth: usize,
}

/// Makes a formula of two.
type Join = fn(Box<Formula>, Box<Formula>) -> Formula;

impl Parser<'_> {
    fn peek(&self) -> Option<&(Token, Range<usize>)> {
        self.tokens.get(self.next)
    }

    fn implies(&mut self) -> Result<Formula, Diagnostic> {
        self.joined(0)
    }

    /// Formulas joined by operators that bind at least as tightly as this level.
    fn joined(&mut self, level: usize) -> Result<Formula, Diagnostic> {
        if level > 3 {
            return self.unary();
        }
        self.enter()?;
        let left = self.joined(level + 1)?;
        let join: Option<Join> = self.peek().and_then(|(token, _)| match (level, token) {
            (0, Token::Implies) => Some(Formula::Implies as Join),
            (1, Token::Or) => Some(Formula::Or),
            (2, Token::And) => Some(Formula::And),
            (3, Token::Until) => Some(Formula::Until),
            (3, Token::WeakUntil) => Some(Formula::WeakUntil),
            (3, Token::Release) => Some(Formula::Release),
            _ => None,
        });
        let joined = match join {
            None => left,
            Some(join) => {
                self.next += 1;
                let right = self.joined(level)?;
                join(Box::new(left), Box::new(right))
            }
        };
        self.depth -= 1;
        Ok(joined)
    }

    fn enter(&mut self) -> Result<(), Diagnostic> {
        self.depth += 1;
        if self.depth > DEEPEST * 5 {
            let range = self.peek().map(|(_, range)| range.clone());
            let end = self.text.len();
            return Err(problem(
                range.unwrap_or(end..end),
                "the formula is nested too deeply",
            ));
        }
        Ok(())
    }

    fn unary(&mut self) -> Result<Formula, Diagnostic> {
        let Some((token, range)) = self.peek().cloned() else {
            let end = self.text.len();
            let message = match end {
                0 => "there is no formula",
                _ => "expected a formula at the end",
            };
            return Err(problem(end..end, message));
        };
        self.next += 1;
        let prefix: fn(Box<Formula>) -> Formula = match token {
            Token::Not => Formula::Not,
            Token::Next => Formula::Next,
            Token::Always => Formula::Always,
            Token::Eventually => Formula::Eventually,
            Token::True => return Ok(Formula::True),
            Token::False => return Ok(Formula::False),
            Token::Atom(atom, place) => {
                self.places.push((atom.clone(), place));
                return Ok(Formula::Atom(atom));
            }
            Token::Open => return self.parenthesis(range),
            _ => {
                let message = format!("expected a formula before `{}`", &self.text[range.clone()]);
                return Err(problem(range, message));
            }
        };
        self.enter()?;
        let formula = prefix(Box::new(self.unary()?));
        self.depth -= 1;
        Ok(formula)
    }

    fn parenthesis(&mut self, open: Range<usize>) -> Result<Formula, Diagnostic> {
        let formula = self.implies()?;
        match self.peek() {
            Some((Token::Close, _)) => {
                self.next += 1;
                Ok(formula)
            }
            Some((_, range)) => {
                let message = format!(
                    "expected an operator or `)` before `{}`",
                    &self.text[range.clone()]
                );
                Err(problem(range.clone(), message))
            }
            None => Err(with_help(
                problem(open, "this parenthesis is not closed"),
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
        assert_eq!(parsed.places[0].1, 2..15);
        assert_eq!(shown("{until}"), "{until}");
        assert_eq!(shown("{ready}"), "ready");
        assert_eq!(
            shown("took \"a \\\" \\\\ \\n\""),
            "took \"a \\\" \\\\ \\\\n\""
        );
    }

    #[test]
    fn trouble_has_a_place() {
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
