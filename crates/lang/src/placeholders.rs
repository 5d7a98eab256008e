//! Parses a line's text into a list of nodes: host text, placeholders, choices, separators.
//!
//! The scanner walks over the host's tokens, so that brackets and quotes inside strings mean
//! nothing, and decides for every `<` and `%` whether it starts a placeholder or choice. In doubt,
//! the position decides: after an operand (a name, a closing bracket) `<` is a comparison,
//! anywhere else it cannot be host code.

use std::ops::Range;

use crate::choices;
use crate::diagnostics::Diagnostic;
use crate::host::{self, Token, TokenKind};
use crate::keywords::Declaration;
use crate::nodes::{LineNode, NodeKind, Placeholder, PoolMention, SEPARATORS, Separator};
use crate::pools::Pools;

mod bad;
mod choice;

/// Text in place of an unknown pool, so that the rest of the line can still be checked.
pub(crate) const UNKNOWN_POOL_TEXT: &str = "unknown_pool";

/// Maximum depth of choices within choices.
const MAX_NESTING: usize = 20;

/// Maximum number of times that a line is split into tokens again because a choice ended inside a
/// string.
const MAX_RETOKENIZATIONS: usize = 100;

/// Parses a range of a line.
pub(crate) fn scan(
    declaration: &Declaration<'_>,
    range: Range<usize>,
    pools: &Pools,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<LineNode> {
    let mut scanner = LineScanner {
        declaration,
        pools,
        diagnostics,
    };
    scanner.scan_region(range, RegionContext::default())
}

/// Scanner for one line.
struct LineScanner<'a, 'd> {
    /// The line.
    declaration: &'a Declaration<'a>,
    /// Known pools.
    pools: &'a Pools,
    diagnostics: &'d mut Vec<Diagnostic>,
}

/// Context of a region of the line.
#[derive(Clone, Copy, Debug, Default)]
struct RegionContext {
    /// Number of open brackets.
    depth: usize,
    /// Number of open choices and `pre`s.
    nesting: usize,
    /// True inside `pre<(…)>`.
    in_pre: bool,
    /// True inside a string literal.
    in_string: bool,
}

impl<'a> LineScanner<'a, '_> {
    /// Returns the text of the line.
    fn text(&self) -> &'a str {
        &self.declaration.line.text
    }

    /// Parses a region of the line.
    fn scan_region(&mut self, range: Range<usize>, context: RegionContext) -> Vec<LineNode> {
        if context.nesting > MAX_NESTING {
            self.error("too-deep", &range, "choices are nested too deeply");
            if let Some(last) = self.diagnostics.last_mut() {
                last.help = Some("write several lines, or use a pool".to_owned());
            }
            return Vec::new();
        }
        let mut region = Region {
            text_start: range.start,
            at: range.start,
            end: range.end,
            tokens: Vec::new(),
            next: 0,
            depth: context.depth,
            context,
            before: PrecedingToken::Start,
            lambdas: 0,
            retokenizations: 0,
            without_closer: [false; 2],
            unclosed_pre: false,
            nodes: Vec::new(),
            scanner: self,
        };
        if context.in_string {
            region.scan_string(range.clone());
        } else {
            region.tokenize_rest();
            region.run();
        }
        region.flush(range.end);
        region.nodes
    }

    /// Reports an error at a range of the line.
    fn error(&mut self, name: &'static str, range: &Range<usize>, message: impl Into<String>) {
        let location = self.declaration.file_range(range);
        self.diagnostics
            .push(Diagnostic::error(name, location, message));
    }
}

/// Kind of text before the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrecedingToken {
    /// Nothing, or a separator.
    Start,
    /// A value: a name, a literal, a closing bracket.
    Operand,
    /// Anything else.
    Operator,
}

/// Region of the line that is being parsed.
struct Region<'s, 'a, 'd> {
    scanner: &'s mut LineScanner<'a, 'd>,
    /// Nodes found so far.
    nodes: Vec<LineNode>,
    /// End of the text that `nodes` covers.
    text_start: usize,
    /// Offset of the cursor.
    at: usize,
    /// End of the region.
    end: usize,
    /// Host tokens of the rest.
    tokens: Vec<Token>,
    /// Index of the token at or after the cursor.
    next: usize,
    /// Number of open brackets at the cursor.
    depth: usize,
    context: RegionContext,
    before: PrecedingToken,
    /// Number of `lambda`s whose colon has not come yet. Commas before it separate parameters.
    lambdas: usize,
    /// Number of times that the rest was split into tokens again.
    retokenizations: usize,
    /// True if no `]>` or no `],>` stands in the rest, so that it need not be searched again.
    without_closer: [bool; 2],
    /// True if a `pre<(` was not closed. Further ones are ignored.
    unclosed_pre: bool,
}

impl<'a> Region<'_, 'a, '_> {
    fn text(&self) -> &'a str {
        self.scanner.text()
    }

    /// Returns the text from the cursor to the end of the region.
    fn rest(&self) -> &'a str {
        self.text().get(self.at..self.end).unwrap_or_default()
    }

    /// Splits the rest into tokens.
    fn tokenize_rest(&mut self) {
        let start = self.at;
        self.tokens = host::tokenize(self.rest());
        for token in &mut self.tokens {
            token.range = token.range.start + start..token.range.end + start;
        }
        self.next = 0;
    }

    /// Returns the token at the cursor, after moving the cursor over blanks.
    fn token(&mut self) -> Option<Token> {
        loop {
            let token = self.tokens.get(self.next)?.clone();
            if token.range.start >= self.at {
                self.at = token.range.start;
                return Some(token);
            }
            if token.range.end <= self.at {
                self.next += 1;
            } else if token.kind == TokenKind::Operator {
                return Some(Token {
                    kind: TokenKind::Operator,
                    range: self.at..token.range.end,
                });
            } else if self.retokenizations == MAX_RETOKENIZATIONS {
                return None;
            } else {
                self.retokenizations += 1;
                self.tokenize_rest();
            }
        }
    }

    /// Parses up to the end of the region.
    fn run(&mut self) {
        while let Some(token) = self.token() {
            match token.kind {
                TokenKind::String => self.scan_string(token.range),
                TokenKind::Operator => self.scan_operator(),
                TokenKind::OpenBracket => {
                    self.depth += 1;
                    self.skip(token.range.end, PrecedingToken::Operator);
                }
                TokenKind::CloseBracket => {
                    self.depth = self.depth.saturating_sub(1);
                    self.skip(token.range.end, PrecedingToken::Operand);
                }
                TokenKind::Name => self.skip_name(&token.range),
                TokenKind::Keyword => self.skip_keyword(&token.range),
                TokenKind::Number => self.skip(token.range.end, PrecedingToken::Operand),
                TokenKind::Comment | TokenKind::Newline | TokenKind::Unknown => {
                    self.skip(token.range.end, PrecedingToken::Operator);
                }
            }
        }
    }

    /// Moves the cursor over host code.
    fn skip(&mut self, end: usize, before: PrecedingToken) {
        self.at = end.max(self.at);
        self.before = before;
    }

    /// Adds the host text up to `end` as a node.
    fn flush(&mut self, end: usize) {
        if self.text_start < end {
            self.nodes.push(LineNode {
                kind: NodeKind::Text,
                span: self.text_start..end,
            });
        }
        self.text_start = end;
    }

    /// Adds a node from `start` to `end`.
    fn push(&mut self, kind: NodeKind, start: usize, end: usize) {
        self.flush(start);
        self.nodes.push(LineNode {
            kind,
            span: start..end,
        });
        self.text_start = end;
        self.at = end;
        self.before = PrecedingToken::Operand;
    }

    /// Skips a keyword of the host.
    fn skip_keyword(&mut self, range: &Range<usize>) {
        let word = &self.text()[range.clone()];
        if word == "lambda" {
            self.lambdas += 1;
        }
        let before = if host::is_constant(word) {
            PrecedingToken::Operand
        } else {
            PrecedingToken::Operator
        };
        self.skip(range.end, before);
    }

    /// Skips a name, unless it is a `pre<(…)>`.
    fn skip_name(&mut self, range: &Range<usize>) {
        let word = &self.text()[range.clone()];
        let behind = &self.text()[range.end..self.end];
        let opens = behind.starts_with("<(") || behind.starts_with("%(");
        if matches!(word, "pre" | "PRE") && opens && !self.unclosed_pre && self.scan_pre(range) {
            return;
        }
        self.skip(range.end, PrecedingToken::Operand);
    }

    /// Parses `pre<(e)>`. Returns false if it is host code (`pre < (e)`).
    fn scan_pre(&mut self, word: &Range<usize>) -> bool {
        let start = word.end + 2;
        let text = self.text();
        let closes = |at: usize| {
            text[..self.end]
                .get(at + 1..)
                .is_some_and(|rest| rest.starts_with(['>', '%']))
        };
        let close = match choices::find_close(text, &self.tokens, start, b')') {
            Some(close) if closes(close.at) => close.at,
            // `PRE % (a, b)` is host code.
            Some(_) if text[word.end..].starts_with('%') => return false,
            _ => {
                let rest = &text[start..self.end];
                let closes = |at: &usize| rest[at + 1..].starts_with(['>', '%']);
                let mut brackets = rest.match_indices(')').map(|(at, _)| at);
                let Some(at) = brackets.find(closes) else {
                    self.unclosed_pre = true;
                    let location = word.start..start;
                    self.scanner
                        .error("unclosed-pre", &location, "this `pre<(` is never closed");
                    self.set_help("end the expression with `)>`");
                    return false;
                };
                start + at
            }
        };
        if self.context.in_pre {
            let location = word.start..close + 2;
            self.scanner.error(
                "nested-pre",
                &location,
                "a `pre<(…)>` cannot stand inside another one",
            );
            self.set_help("write one around the whole expression");
        }
        self.push(NodeKind::PreOpen, word.start, start);
        let context = RegionContext {
            depth: self.depth + 1,
            nesting: self.context.nesting + 1,
            in_pre: true,
            in_string: false,
        };
        let inner = self.scanner.scan_region(start..close, context);
        self.nodes.extend(inner);
        self.text_start = close;
        self.push(NodeKind::PreClose, close, close + 2);
        true
    }

    /// Sets the help of the last diagnostic.
    fn set_help(&mut self, help: &str) {
        if let Some(last) = self.scanner.diagnostics.last_mut() {
            last.help = Some(help.to_owned());
        }
    }

    /// Parses a placeholder, a choice or a separator, or skips an operator.
    fn scan_operator(&mut self) {
        let rest = self.rest();
        if rest.starts_with(['<', '%']) && (self.scan_hole() || self.report_bad_placeholder()) {
            return;
        }
        if self.depth == 0 {
            let mark = SEPARATORS.iter().find(|(text, _)| rest.starts_with(text));
            if let Some((text, mark)) =
                mark.filter(|(_, mark)| *mark != Separator::Comma || self.lambdas == 0)
            {
                self.push(NodeKind::Separator(*mark), self.at, self.at + text.len());
                self.before = PrecedingToken::Start;
                return;
            }
        }
        if rest.starts_with(':') {
            self.lambdas = self.lambdas.saturating_sub(1);
        }
        self.skip(
            self.at + host::operator_length(rest),
            PrecedingToken::Operator,
        );
    }

    /// Parses a placeholder or choice at the cursor. Returns false if it is an operator of the
    /// host.
    fn scan_hole(&mut self) -> bool {
        let rest = self.rest();
        let run = rest.len() - rest.trim_start_matches('<').len();
        if run >= 2 {
            // A shift, unless the second `<` belongs to a choice: `x <<[1..3]>`.
            let opens = rest[run..].starts_with('[') || rest[run..].starts_with(",[");
            if run == 2
                && opens
                && !self.without_closer.contains(&true)
                && choices::is_closed(&rest[1..])
            {
                self.skip(self.at + 1, PrecedingToken::Operator);
            } else {
                self.skip(self.at + 2, PrecedingToken::Operator);
            }
            return true;
        }
        if rest[1..].starts_with('[') || rest[1..].starts_with(",[") {
            return self.scan_choice();
        }
        if let Some((choice, length)) = choices::parse_bare_range(rest) {
            self.push_bare_range(choice, self.at + length);
            return true;
        }
        self.scan_placeholder(false)
    }

    /// Parses `<x>`, `<x,1>`, `%x%` or `%x , 1%`.
    fn scan_placeholder(&mut self, in_string: bool) -> bool {
        let Some(found) = Placeholder::parse(self.rest()) else {
            return false;
        };
        let expects_operand = self.before != PrecedingToken::Operand;
        let Some(pool) = self.scanner.pools.find(found.name) else {
            if in_string || !expects_operand {
                return false;
            }
            self.report_unknown_pool(&found);
            return true;
        };
        if found.has_blanks && !(expects_operand || in_string || self.rest().starts_with('%')) {
            return false;
        }
        let (start, twin, silent) = self.prefixes();
        let end = self.at + found.length;
        if in_string && self.looks_like_format(pool, &found) {
            self.warn_format_in_string(found.name, start..end);
        }
        if twin && !self.scanner.pools.declared[pool.0].reference {
            self.report_missing_twin(found.name, start..end);
        }
        let mention = PoolMention {
            pool,
            twin,
            silent,
            in_string,
        };
        let kind = match found.number {
            Some(number) => NodeKind::BackReference(mention, number),
            None => NodeKind::Slot(mention),
        };
        self.push(kind, start, end);
        true
    }

    /// Returns true for `"%s%s"` in a harness whose pools are written `<s>`.
    fn looks_like_format(&self, pool: testwright_core::PoolId, found: &Placeholder<'_>) -> bool {
        let is_conversion = found.name.len() == 1 && found.number.is_none();
        is_conversion && self.rest().starts_with('%') && !self.scanner.pools.old_notation[pool.0]
    }

    /// Warns about a format that is taken for a placeholder.
    fn warn_format_in_string(&mut self, name: &str, range: Range<usize>) {
        let location = self.scanner.declaration.file_range(&range);
        self.scanner.diagnostics.push(
            Diagnostic::warning(
                "format-is-placeholder",
                location,
                format!("`%{name}%` in this string means the pool `<{name}>`"),
            )
            .with_label("replaced by the slot")
            .with_help("if it is a format, put a blank between the two, or rename the pool"),
        );
    }

    /// Reports a placeholder for a pool that is not declared.
    fn report_unknown_pool(&mut self, found: &Placeholder<'_>) {
        let range = self.at..self.at + found.length;
        let help = self.scanner.pools.advice(found.name);
        let location = self.scanner.declaration.file_range(&range);
        self.scanner.diagnostics.push(
            Diagnostic::error(
                "unknown-pool",
                location,
                format!("no pool named `<{}>`", found.name),
            )
            .with_label("not declared in this harness")
            .with_help(help),
        );
        self.push(
            NodeKind::HostText(UNKNOWN_POOL_TEXT.to_owned()),
            range.start,
            range.end,
        );
    }

    /// Reports `REF:` before a pool without a twin.
    fn report_missing_twin(&mut self, name: &str, range: Range<usize>) {
        let message = format!("the pool `<{name}>` has no reference twin");
        self.scanner.error("no-twin", &range, message);
        let size = self.scanner.pools.find(name);
        let size = size.map_or(2, |pool| self.scanner.pools.declared[pool.0].size);
        self.set_help(&format!(
            "declare it with `REF`: `pool: <{name}> {size} REF`"
        ));
    }

    /// Looks back over `~` and `REF:` directly before the cursor. Returns the start of the
    /// placeholder with them, and whether it is a twin and silent.
    fn prefixes(&self) -> (usize, bool, bool) {
        let before = &self.text()[self.text_start..self.at];
        let (before, twin) = match before.strip_suffix("REF:") {
            Some(rest) if !rest.ends_with(host::continues_name) => (rest, true),
            _ => (before, false),
        };
        let (before, silent) = match before.strip_suffix('~') {
            Some(rest) => (rest, true),
            None => (before, false),
        };
        (self.text_start + before.len(), twin, silent)
    }

    /// Parses placeholders and choices inside a string literal, from its opening to its closing
    /// quotes.
    fn scan_string(&mut self, range: Range<usize>) {
        let string = &self.text()[range.clone()];
        let outer_end = std::mem::replace(&mut self.end, range.end);
        self.at = range.start;
        if string.contains(['<', '%']) {
            let code = host::code_in_string(string);
            while let Some(next) = self.rest().find(['<', '%']) {
                self.at += next;
                let at = self.at - range.start;
                let in_code = code.iter().any(|code| code.contains(&at));
                self.before = PrecedingToken::Operand;
                if !self.scan_placeholder(!in_code) && !self.scan_choice_in_string() {
                    self.at += 1;
                }
            }
        }
        self.end = outer_end;
        self.skip(range.end, PrecedingToken::Operand);
    }
}
