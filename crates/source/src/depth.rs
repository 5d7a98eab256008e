//! Nesting limits, checked before the parser runs.
//!
//! A syntax tree is traversed and freed by recursion, so ten thousand opening brackets would
//! overflow the stack and end the process. Python has limits of its own (200 brackets, 100
//! indentations, some thousand operators in a row); everything it accepts within them is accepted
//! here too.

use ruff_python_ast::token::TokenKind as Kind;
use ruff_python_parser::{Mode, lexer};

use crate::check::SyntaxProblem;
use crate::tokens::{TokenKind, tokenize};

/// The maximum nesting of brackets; Python's own limit.
const MAX_BRACKETS: usize = 200;
/// The maximum nesting of blocks; Python's own limit.
const MAX_BLOCKS: usize = 100;
/// The maximum length of a chain without brackets, as in `a + b + c` or `a.b.c`, summed over all
/// open brackets.
const MAX_CHAIN: usize = 1_000;
/// The weight of a `lambda` in a chain. It opens a scope, and traversing that takes more stack than
/// an operator.
const LAMBDA_WEIGHT: usize = 4;

/// Returns a problem if `text` is too large or too deeply nested to be parsed.
pub(crate) fn find_excessive_depth(text: &str) -> Option<SyntaxProblem> {
    if u32::try_from(text.len()).is_err() {
        return Some(SyntaxProblem::new(
            0..0,
            "the text is longer than 4 gigabytes",
        ));
    }
    let mut depth = NestingDepth::default();
    // The parser's own lexer is exact about formatted strings. It does not expose its ranges, so
    // the position is looked up afterwards.
    let mut lexer = lexer::lex(text, Mode::Module);
    loop {
        let kind = lexer.next_token();
        if kind == Kind::EndOfFile {
            return None;
        }
        if let Some(message) = depth.step(kind) {
            return Some(SyntaxProblem::new(deepest_bracket(text), message));
        }
    }
}

/// The current nesting of the lexer.
#[derive(Default)]
struct NestingDepth {
    /// The chain inside the innermost bracket.
    chain: OperatorChain,
    /// The chains of the surrounding brackets.
    outer_chains: Vec<OperatorChain>,
    /// The sum of their lengths.
    outer_length: usize,
    /// The number of open blocks.
    blocks: usize,
}

/// A chain of operators at one level of brackets.
#[derive(Default, Clone, Copy)]
struct OperatorChain {
    length: usize,
    /// The part of the length due to `lambda`: a comma after one may separate its parameters, so it
    /// does not end that chain.
    lambdas: usize,
}

impl NestingDepth {
    /// Processes one token. Returns a message if a limit is exceeded.
    fn step(&mut self, kind: Kind) -> Option<&'static str> {
        match kind {
            Kind::Lpar | Kind::Lsqb | Kind::Lbrace | Kind::FStringStart | Kind::TStringStart => {
                // The bracket itself extends the chain before it, as in `f()()()`.
                self.chain.length += 1;
                self.outer_length += self.chain.length;
                self.outer_chains.push(std::mem::take(&mut self.chain));
            }
            Kind::Rpar | Kind::Rsqb | Kind::Rbrace | Kind::FStringEnd | Kind::TStringEnd => {
                if let Some(chain) = self.outer_chains.pop() {
                    self.outer_length -= chain.length;
                    self.chain = chain;
                }
            }
            // Elements of a list are siblings.
            Kind::Comma => self.chain.length = self.chain.lambdas,
            Kind::Newline | Kind::Semi => self.chain = OperatorChain::default(),
            Kind::Lambda => {
                self.chain.length += LAMBDA_WEIGHT;
                self.chain.lambdas += LAMBDA_WEIGHT;
            }
            Kind::Indent => self.blocks += 1,
            Kind::Dedent => self.blocks = self.blocks.saturating_sub(1),
            // These only start statements: an open bracket was forgotten, and the parser starts
            // over as well.
            Kind::Def
            | Kind::Class
            | Kind::Import
            | Kind::Return
            | Kind::While
            | Kind::Try
            | Kind::With => {
                *self = NestingDepth {
                    blocks: self.blocks,
                    ..NestingDepth::default()
                };
            }
            _ if kind.is_operator() || kind.is_keyword() => self.chain.length += 1,
            _ => {}
        }
        if self.outer_chains.len() > MAX_BRACKETS {
            Some("brackets are nested more than 200 deep")
        } else if self.blocks > MAX_BLOCKS {
            Some("blocks are nested more than 100 deep")
        } else if self.chain.length + self.outer_length > MAX_CHAIN {
            Some("more than 1,000 operators in one expression; give a part of it a name")
        } else {
            None
        }
    }
}

/// Returns the first bracket at the deepest nesting, or the start of the text if there is none.
fn deepest_bracket(text: &str) -> crate::Range {
    let mut depth = 0_usize;
    let mut deepest = (0, 0..0);
    for token in tokenize(text) {
        match token.kind {
            TokenKind::OpenBracket => depth += 1,
            TokenKind::CloseBracket => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > deepest.0 {
            deepest = (depth, token.range);
        }
        if depth > MAX_BRACKETS {
            break;
        }
    }
    deepest.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverable::coverable_code;
    use crate::{check_expression, check_module, definitions, names};

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let message = find_excessive_depth(text).map(|problem| problem.message);
        assert_eq!(message.as_deref(), expected);
        // Accepted text must not overflow the small stack of a test, neither when parsed nor when
        // traversed.
        check_module(text);
        check_expression(text);
        drop(definitions(text));
        drop(names(text));
        drop(coverable_code(text, &(1..=200).collect()));
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
            find_excessive_depth(&"(".repeat(10_000)).map(|problem| problem.range),
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
        // Each with the largest number that fits, which the stack of a test must bear.
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
