//! Refusing text that is nested too deeply, before the parser sees it.
//!
//! A syntax tree is walked and freed by recursion, so ten thousand opening brackets would overflow the stack and end the
//! process. Python has limits of its own (200 brackets, 100 indentations, some thousand operators in a row); below them
//! everything it accepts is accepted here too.

use ruff_python_ast::token::TokenKind as Kind;
use ruff_python_parser::{Mode, lexer};

use crate::check::Problem;
use crate::tokens::{TokenKind, tokens};

/// Brackets inside brackets; Python's own limit.
const DEEPEST_BRACKETS: usize = 200;
/// Blocks inside blocks; Python's own limit.
const DEEPEST_BLOCKS: usize = 100;
/// What may hang on one another without brackets, as in `a + b + c` or `a.b.c`, summed over all brackets that are open.
const LONGEST_CHAIN: usize = 1_000;
/// What a `lambda` counts in a chain. It opens a scope, and walking that takes more of the stack than an operator.
const LAMBDA: usize = 4;

/// The problem with `text` if it is too large or too deeply nested to be parsed.
pub(crate) fn too_deep(text: &str) -> Option<Problem> {
    if u32::try_from(text.len()).is_err() {
        return Some(Problem::new(0..0, "the text is longer than 4 gigabytes"));
    }
    let mut depth = Depth::default();
    // The parser's own lexer knows best what it will find inside formatted strings. It keeps its ranges to itself, so the
    // place is looked up afterwards.
    let mut lexer = lexer::lex(text, Mode::Module);
    loop {
        let kind = lexer.next_token();
        if kind == Kind::EndOfFile {
            return None;
        }
        if let Some(message) = depth.step(kind) {
            return Some(Problem::new(deepest_bracket(text), message));
        }
    }
}

/// How deep the lexer is.
#[derive(Default)]
struct Depth {
    /// What hangs together inside the innermost bracket.
    chain: Chain,
    /// The same for the brackets around it, and the sum of their lengths.
    around: Vec<Chain>,
    length_around: usize,
    blocks: usize,
}

/// What hangs on one another at one level of brackets.
#[derive(Default, Clone, Copy)]
struct Chain {
    length: usize,
    /// How much of this is due to `lambda`: a comma behind one may be between its parameters, so it does not end that chain.
    lambdas: usize,
}

impl Depth {
    /// Takes one token; says what is wrong if that was one too many.
    fn step(&mut self, kind: Kind) -> Option<&'static str> {
        match kind {
            Kind::Lpar | Kind::Lsqb | Kind::Lbrace | Kind::FStringStart | Kind::TStringStart => {
                // The bracket itself hangs on what is before it, as in `f()()()`.
                self.chain.length += 1;
                self.length_around += self.chain.length;
                self.around.push(std::mem::take(&mut self.chain));
            }
            Kind::Rpar | Kind::Rsqb | Kind::Rbrace | Kind::FStringEnd | Kind::TStringEnd => {
                if let Some(chain) = self.around.pop() {
                    self.length_around -= chain.length;
                    self.chain = chain;
                }
            }
            // Elements of a list lie beside one another.
            Kind::Comma => self.chain.length = self.chain.lambdas,
            Kind::Newline | Kind::Semi => self.chain = Chain::default(),
            Kind::Lambda => {
                self.chain.length += LAMBDA;
                self.chain.lambdas += LAMBDA;
            }
            Kind::Indent => self.blocks += 1,
            Kind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            // These only start statements: an open bracket has been forgotten, and the parser starts afresh as well.
            Kind::Def
            | Kind::Class
            | Kind::Import
            | Kind::Return
            | Kind::While
            | Kind::Try
            | Kind::With => {
                *self = Depth {
                    blocks: self.blocks,
                    ..Depth::default()
                };
            }
            _ if kind.is_operator() || kind.is_keyword() => self.chain.length += 1,
            _ => {}
        }
        if self.around.len() > DEEPEST_BRACKETS {
            Some("brackets are nested more than 200 deep")
        } else if self.blocks > DEEPEST_BLOCKS {
            Some("blocks are nested more than 100 deep")
        } else if self.chain.length + self.length_around > LONGEST_CHAIN {
            Some("more than 1,000 operators in one expression; give a part of it a name")
        } else {
            None
        }
    }
}

/// The first bracket with the most brackets around it, or the start of the text if there is none.
fn deepest_bracket(text: &str) -> crate::Range {
    let mut depth = 0_usize;
    let mut deepest = (0, 0..0);
    for token in tokens(text) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest.0 {
            deepest = (depth, token.range);
        }
        if depth > DEEPEST_BRACKETS {
            break;
        }
    }
    deepest.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::shape;
    use crate::{check_expression, check_module, definitions, names};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let message = too_deep(text).map(|problem| problem.message);
        assert_eq!(message.as_deref(), expected);
        // Whatever passes must not overflow the small stack of a test, neither parsed nor walked.
        check_module(text);
        check_expression(text);
        drop(definitions(text));
        drop(names(text));
        drop(shape(text, &(1..=200).collect()));
    }

    #[test]
    fn python_limits_are_kept() {
        check("", None);
        check(&format!("{}1{}", "(".repeat(200), ")".repeat(200)), None);
        check(
            &"(".repeat(201),
            Some("brackets are nested more than 200 deep"),
        );
        assert_eq!(
            too_deep(&"(".repeat(10_000)).map(|problem| problem.range),
            Some(200..201)
        );
        check(
            &"f\"{".repeat(10_000),
            Some("brackets are nested more than 200 deep"),
        );
        let blocks: String = (0..200)
            .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
            .collect();
        check(&blocks, Some("blocks are nested more than 100 deep"));
    }

    #[test]
    fn chains_are_bounded() {
        let too_long =
            Some("more than 1,000 operators in one expression; give a part of it a name");
        // Each with how many of it just fit, which is what the stack of a test must bear.
        let links = [
            ("x + ", 1_000),
            ("x ** ", 1_000),
            ("not ", 1_000),
            ("-", 1_000),
            ("x.", 1_000),
            ("x < ", 1_000),
            ("x()", 1_000),
            ("x[0]", 999),
            ("await ", 1_000),
            ("async ", 1_000),
            ("lambda: ", 200),
            ("lambda a, b: ", 249),
            ("x if y else ", 500),
        ];
        for (link, fitting) in links {
            check(&format!("{}1", link.repeat(fitting)), None);
            check(&format!("{}1", link.repeat(10_000)), too_long);
        }
        let blocks: String = (0..99)
            .map(|depth| format!("{}def f():\n", " ".repeat(depth)))
            .collect();
        check(
            &format!("{blocks}{}{}1", " ".repeat(99), "x + ".repeat(1_000)),
            None,
        );
        check(
            &format!("{}1{}", "[x for x in y if ".repeat(150), "]".repeat(150)),
            None,
        );
        check(
            &format!("{}1{}", "[".repeat(200), " for x in y]".repeat(200)),
            None,
        );
        check(
            &format!("{}1{}", "x + x + x + x + (".repeat(190), ")".repeat(190)),
            None,
        );
    }

    #[test]
    fn long_but_flat_text_is_fine() {
        check(&format!("x = [{}]", "-1 + 2, ".repeat(20_000)), None);
        check(&"x = a + b\n".repeat(20_000), None);
        check(
            &format!("x = (\n{}", "def f():\n    return a + b\n".repeat(5_000)),
            None,
        );
        check(&format!("x = '{}'", "y".repeat(1_000_000)), None);
    }
}
