//! Parses action lines: exceptions, guard, statement, post-condition and expectation.

use std::ops::Range;

use crate::check::{self, HostCode};
use crate::exceptions::Exceptions;
use crate::expand::{self, Expansion, LineContext, PlacedNode, PlaceholderMeaning};
use crate::fragments::{build_fragment, node_span, trim_nodes};
use crate::guarded;
use crate::harness::{ActionTemplate, Expect, Fragment};
use crate::host::{self, SyntaxKind};
use crate::keywords::{self, LineKeyword};
use crate::nodes::{NodeKind, Separator};
use crate::placeholders;

/// Parses one action line into its structural alternatives. `guarded` are the functions of the raw
/// code that take a speculative call.
pub(crate) fn parse_action(
    context: &mut LineContext<'_, '_>,
    guarded: &[String],
) -> Vec<ActionTemplate> {
    let declaration = context.declaration;
    let content = code_range(context);
    if content.is_empty() {
        report_empty(context, &content, "the line", "nothing to do");
        return Vec::new();
    }
    let before = count_errors(context);
    let Some(exceptions) = Exceptions::read(context, content) else {
        return Vec::new();
    };
    let errors = if exceptions.is_dictionary {
        // Errors after a dictionary that was taken for exceptions say nothing.
        before
    } else {
        count_errors(context)
    };
    if exceptions.rest.is_empty() {
        if errors == 0 {
            let location = declaration.content.clone();
            let label = "no statement behind the exceptions";
            report_empty(context, &location, "the statement", label);
        }
        return Vec::new();
    }
    let nodes = placeholders::scan(
        declaration,
        exceptions.rest.clone(),
        context.pools,
        context.diagnostics,
    );
    let essential = declaration.line.text.contains("#ESSENTIAL");
    let mut budget = check::budget();
    let mut actions = Vec::new();
    for expansion in expand::expand(nodes, PlaceholderMeaning::Action, context) {
        let Some(action_parts) = ActionParts::split(&expansion, context) else {
            continue;
        };
        if count_errors(context) == errors {
            let found = context.diagnostics.len();
            action_parts.check(&expansion, &mut budget, context);
            if context.diagnostics.len() == found {
                action_parts.warn_lost_definition(context);
            }
        }
        let mut action = action_parts.to_template(context, guarded);
        action.essential = essential;
        action.axes = expansion.axes;
        action.expected.clone_from(&exceptions.expected);
        action.warnings.clone_from(&exceptions.warnings);
        actions.push(action);
    }
    actions
}

/// Returns the content without its trailing comment.
pub(crate) fn code_range(context: &LineContext<'_, '_>) -> Range<usize> {
    let content = context.declaration.content.clone();
    let length = host::end_of_code(context.declaration.text());
    keywords::trim(context.line(), content.start..content.start + length)
}

/// Counts the errors that make checking the host code pointless. An unknown pool does not.
pub(crate) fn count_errors(context: &LineContext<'_, '_>) -> usize {
    context
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == crate::Severity::Error)
        .filter(|diagnostic| {
            !matches!(diagnostic.name, "unknown-pool" | "host-syntax" | "python-2")
        })
        .count()
}

/// Reports a part that is empty.
fn report_empty(
    context: &mut LineContext<'_, '_>,
    range: &Range<usize>,
    part_name: &str,
    label: &str,
) {
    let location = if range.is_empty() {
        keywords::trim(context.line(), 0..context.line().len())
    } else {
        range.clone()
    };
    let diagnostic = context.error("empty-part", &location, format!("{part_name} is empty"));
    diagnostic.label = label.to_owned();
}

/// Parts of one line, or of one structural alternative of it.
struct ActionParts {
    /// Condition before `->`.
    guard: Option<Vec<PlacedNode>>,
    /// Statement to execute.
    statement: Vec<PlacedNode>,
    /// Condition after `=>`.
    post: Option<Condition>,
    /// Expectation after `==>`.
    expect: Option<ExpectParts>,
}

/// Place of a separator, and the nodes that follow it.
type Section<'n> = (Range<usize>, &'n [PlacedNode]);

/// Parts of `name(arguments)` after `==>`.
struct ExpectParts {
    /// Common part of the names of three functions.
    name: String,
    /// Arguments without parentheses.
    arguments: Vec<PlacedNode>,
}

impl ActionParts {
    /// Splits a line into its parts, and reports missing ones.
    fn split(expansion: &Expansion, context: &mut LineContext<'_, '_>) -> Option<ActionParts> {
        let line = context.line();
        let nodes = &expansion.nodes;
        let whole = node_span(nodes).unwrap_or_else(|| context.declaration.content.clone());
        let mut pieces = split_at_separator(nodes, Separator::Guard);
        let dropped = pieces.split_off(pieces.len().min(2));
        let rest = pieces.pop().unwrap_or(&[]);
        let mut arrow = None;
        let guard = match pieces.pop() {
            Some(guard) => {
                arrow = nodes
                    .get(guard.len())
                    .map(|placed| placed.node.span.clone());
                let location = arrow.clone().unwrap_or(whole.clone());
                Some(Self::check_guard(guard, &location, context)?)
            }
            None => None,
        };
        if let (Some(first), Some(last)) = (dropped.first(), dropped.last()) {
            warn_dropped_text(first, last, "->", rest, &whole, context);
        }
        let (statement, post, expect) = Self::split_sections(rest, &whole, context);
        let mark = rest
            .get(statement.len())
            .map(|placed| placed.node.span.clone());
        let statement = trim_nodes(statement, line);
        if statement.is_empty() {
            let behind = arrow.map(|arrow| (arrow, "no statement behind `->`"));
            let before = || Some((mark?, "no statement before this"));
            let (location, label) = behind
                .or_else(before)
                .unwrap_or((whole, "no statement here"));
            report_empty(context, &location, "the statement", label);
            return None;
        }
        report_misplaced_pre(&statement, "a statement", context)?;
        let post = match post {
            Some((arrow, post)) => Some(Self::parse_post_condition(post, &arrow, context)?),
            None => None,
        };
        let expect = match expect {
            Some((_, expect)) => Some(ExpectParts::parse(expect, &whole, context)?),
            None if context.declaration.keyword == LineKeyword::Expect => {
                let diagnostic =
                    context.error("bad-expect", &whole, "an `expect:` line needs `==>`");
                let text = &line[whole.clone()];
                diagnostic.help = Some(match text.split_once("=>") {
                    Some((statement, _)) => format!(
                        "write `expect: {} ==> name(arguments)`, with `==>`",
                        keywords::shorten(statement.trim())
                    ),
                    None => format!(
                        "write `expect: {} ==> name(arguments)`",
                        keywords::shorten(text)
                    ),
                });
                return None;
            }
            None => None,
        };
        Some(ActionParts {
            guard,
            statement,
            post,
            expect,
        })
    }

    /// Checks the guard before the arrow `->`.
    fn check_guard(
        nodes: &[PlacedNode],
        arrow: &Range<usize>,
        context: &mut LineContext<'_, '_>,
    ) -> Option<Vec<PlacedNode>> {
        let guard = trim_nodes(nodes, context.line());
        if guard.is_empty() {
            report_empty(context, arrow, "the guard", "no condition before `->`");
            return None;
        }
        let is_late = |placed: &&PlacedNode| {
            placed.node.is_separator(Separator::Post) || placed.node.is_separator(Separator::Expect)
        };
        if let Some(mark) = guard.iter().find(is_late) {
            let diagnostic = context.error(
                "post-before-guard",
                &mark.node.span,
                "the guard comes first, the post-condition last",
            );
            diagnostic.label = "stands before the guard's `->`".to_owned();
            diagnostic.help = Some(
                "write `guard -> statement => post-condition`; greater or equal is written `>=`"
                    .to_owned(),
            );
            return None;
        }
        report_misplaced_pre(&guard, "a guard", context)?;
        Some(guard)
    }

    /// Splits the nodes after the guard into statement, post-condition and expectation.
    fn split_sections<'n>(
        nodes: &'n [PlacedNode],
        whole: &Range<usize>,
        context: &mut LineContext<'_, '_>,
    ) -> (&'n [PlacedNode], Option<Section<'n>>, Option<Section<'n>>) {
        let is_separator = |placed: &PlacedNode| {
            placed.node.is_separator(Separator::Post) || placed.node.is_separator(Separator::Expect)
        };
        let end = nodes.iter().position(is_separator).unwrap_or(nodes.len());
        let (statement, mut rest) = nodes.split_at(end);
        let (mut post, mut expect) = (None, None);
        while let Some((mark, behind)) = rest.split_first() {
            let end = behind.iter().position(is_separator).unwrap_or(behind.len());
            let (section, further) = behind.split_at(end);
            let wanted = if mark.node.is_separator(Separator::Post) {
                &mut post
            } else {
                &mut expect
            };
            if wanted.is_some() {
                let text = if mark.node.is_separator(Separator::Post) {
                    "=>"
                } else {
                    "==>"
                };
                warn_dropped_text(section, section, text, &[], whole, context);
            } else {
                *wanted = Some((mark.node.span.clone(), section));
            }
            rest = further;
        }
        (statement, post, expect)
    }

    /// Parses a post-condition after the arrow `=>`.
    fn parse_post_condition(
        nodes: &[PlacedNode],
        arrow: &Range<usize>,
        context: &mut LineContext<'_, '_>,
    ) -> Option<Condition> {
        let post = Condition::split(nodes, context.line());
        if post.test.is_empty() {
            report_empty(
                context,
                arrow,
                "the post-condition",
                "no condition behind `=>`",
            );
            return None;
        }
        post.check_message(context);
        Some(post)
    }

    /// Warns about a definition that is lost at once: names are local to an action.
    fn warn_lost_definition(&self, context: &mut LineContext<'_, '_>) {
        let [only] = self.statement.as_slice() else {
            return;
        };
        let text = &context.line()[only.node.span.clone()];
        let end = text.find(|letter| !host::continues_name(letter));
        let word = &text[..end.unwrap_or(text.len())];
        let definition = match word {
            "import" | "from" => "an import",
            "def" => "a function",
            "class" => "a class",
            _ => return,
        };
        let (span, text) = (only.node.span.clone(), keywords::shorten(text));
        let message = format!("{definition} in an action is forgotten when the action ends");
        let diagnostic = context.warning("missing-at", &span, message);
        diagnostic.label = "an action like any other".to_owned();
        diagnostic.help = Some(format!(
            "write `@{text}`: raw code is run once and known everywhere"
        ));
    }

    /// Checks the host code of all parts.
    fn check(&self, expansion: &Expansion, budget: &mut usize, context: &mut LineContext<'_, '_>) {
        let mut check = |part_name, syntax, nodes: &[PlacedNode], around| {
            let code = HostCode {
                part_name,
                syntax,
                nodes,
                wrapper: around,
                budget,
            };
            check::check(code, &expansion.axes, context);
        };
        if let Some(guard) = &self.guard {
            check("guard", SyntaxKind::Expression, guard, ("", ""));
        }
        check(
            "statement",
            SyntaxKind::Statements,
            &self.statement,
            ("", ""),
        );
        if let Some(post) = &self.post {
            check(
                "post-condition",
                SyntaxKind::Expression,
                &post.test,
                ("", ""),
            );
            if let Some(message) = &post.message {
                check("message", SyntaxKind::Expression, message, ("", ""));
            }
            if let Some(tail) = &post.tail {
                check("statement", SyntaxKind::Statements, tail, ("", ""));
            }
        }
        if let Some(expect) = &self.expect {
            check(
                "arguments",
                SyntaxKind::Expression,
                &expect.arguments,
                ("f(", ")"),
            );
        }
    }

    /// Builds the action from its parts.
    fn to_template(&self, context: &LineContext<'_, '_>, guarded: &[String]) -> ActionTemplate {
        let line = context.line();
        let mut pre_values = Vec::new();
        let mut none = Vec::new();
        let mut condition = |part: Option<&Vec<PlacedNode>>| {
            part.map(|nodes| build_fragment(nodes, line, &mut pre_values))
        };
        let post = condition(self.post.as_ref().map(|post| &post.test));
        let post_message = condition(self.post.as_ref().and_then(|post| post.message.as_ref()));
        let post_tail = condition(self.post.as_ref().and_then(|post| post.tail.as_ref()));
        let statement = build_fragment(&self.statement, line, &mut none);
        let post_text: String = [&post, &post_message, &post_tail]
            .into_iter()
            .flatten()
            .chain(&pre_values)
            .map(template_text)
            .collect();
        let names = names(&post_text);
        ActionTemplate {
            line: context.declaration.line.number,
            class: context.declaration.line.text.clone(),
            essential: false,
            axes: Vec::new(),
            expected: Vec::new(),
            warnings: Vec::new(),
            guard: self
                .guard
                .as_ref()
                .map(|guard| build_fragment(guard, line, &mut none)),
            speculative: guarded::speculative_call(&statement, guarded),
            statement,
            post,
            post_message,
            post_tail,
            post_mentions_raised: post_text.contains("raised"),
            post_mentions_reference: post_text.contains("refRaised")
                || names
                    .iter()
                    .any(|name| matches!(*name, "result" | "result_REF")),
            pre_values,
            expect: self.expect.as_ref().map(|expect| Expect {
                name: expect.name.clone(),
                arguments: build_fragment(&expect.arguments, line, &mut none),
            }),
        }
    }
}

impl ExpectParts {
    /// Parses `name(arguments)`, and reports what cannot be parsed.
    fn parse(
        nodes: &[PlacedNode],
        whole: &Range<usize>,
        context: &mut LineContext<'_, '_>,
    ) -> Option<ExpectParts> {
        let line = context.line();
        let nodes = trim_nodes(nodes, line);
        let parts = Self::split_call(&nodes, line);
        if parts.is_none() {
            let range = node_span(&nodes).unwrap_or_else(|| whole.clone());
            let diagnostic =
                context.error("bad-expect", &range, "`name(arguments)` must follow `==>`");
            diagnostic.help = Some(
                "a condition stands behind `=>`; behind `==>` stands the name of three functions, `name_before`, `name_after` and `name_check`, and their arguments".to_owned(),
            );
        }
        parts
    }

    /// Splits `name(arguments)`.
    fn split_call(nodes: &[PlacedNode], line: &str) -> Option<ExpectParts> {
        let mut arguments = nodes.to_vec();
        let first = arguments.first_mut()?;
        let is_text = |placed: &PlacedNode| matches!(placed.node.kind, NodeKind::Text);
        let text = &line[first.node.span.clone()];
        let length = text.find('(').filter(|_| is_text(first))?;
        let name = text[..length].trim();
        if !host::is_dotted_name(name) {
            return None;
        }
        first.node.span.start += length + 1;
        let last = arguments.last_mut()?;
        let closed = is_text(last) && line[last.node.span.clone()].ends_with(')');
        if !closed {
            return None;
        }
        last.node.span.end -= 1;
        Some(ExpectParts {
            name: name.to_owned(),
            arguments: trim_nodes(&arguments, line),
        })
    }
}

/// Splits nodes at a separator.
fn split_at_separator(nodes: &[PlacedNode], mark: Separator) -> Vec<&[PlacedNode]> {
    nodes
        .split(|placed| placed.node.is_separator(mark))
        .collect()
}

/// A condition after `=>` or `property:`. It becomes an assertion, so a message may follow it, and
/// further statements.
pub(crate) struct Condition {
    /// Expression that must hold.
    pub(crate) test: Vec<PlacedNode>,
    /// Expression for the message after a comma.
    pub(crate) message: Option<Vec<PlacedNode>>,
    /// Place of the comma before the message.
    comma: Option<Range<usize>>,
    /// Statements after a semicolon.
    pub(crate) tail: Option<Vec<PlacedNode>>,
}

impl Condition {
    /// Splits `test, message; tail`.
    pub(crate) fn split(nodes: &[PlacedNode], line: &str) -> Condition {
        let is_semicolon = |placed: &PlacedNode| placed.node.is_separator(Separator::Semicolon);
        let (assertion, tail) = match nodes.iter().position(is_semicolon) {
            Some(at) => (&nodes[..at], &nodes[at + 1..]),
            None => (nodes, &[][..]),
        };
        let mut tail = trim_nodes(tail, line);
        while tail.last().is_some_and(is_semicolon) {
            tail.pop();
            tail = trim_nodes(&tail, line);
        }
        let assertion = trim_nodes(assertion, line);
        let at = assertion.iter().position(|placed| placed.node.is_comma());
        let (test, message, comma) = match at {
            Some(at) => (
                trim_nodes(&assertion[..at], line),
                Some(trim_nodes(&assertion[at + 1..], line)),
                Some(assertion[at].node.span.clone()),
            ),
            None => (assertion, None, None),
        };
        Condition {
            test,
            message,
            comma,
            tail: (!tail.is_empty()).then_some(tail),
        }
    }

    /// Reports a comma that no message follows.
    pub(crate) fn check_message(&self, context: &mut LineContext<'_, '_>) {
        if let (Some(comma), true) = (
            &self.comma,
            self.message.as_ref().is_some_and(Vec::is_empty),
        ) {
            let diagnostic = context.error("empty-part", comma, "the message is empty");
            diagnostic.label = "nothing stands behind this comma".to_owned();
            diagnostic.help = Some("write a message behind it, or remove it".to_owned());
        }
    }
}

/// Warns about text after a second separator, which the original TSTL ignores too.
fn warn_dropped_text(
    first: &[PlacedNode],
    last: &[PlacedNode],
    mark: &str,
    statement: &[PlacedNode],
    whole: &Range<usize>,
    context: &mut LineContext<'_, '_>,
) {
    let start = node_span(first).map_or(whole.end, |span| span.start);
    let end = node_span(last).map_or(whole.end, |span| span.end);
    let range = keywords::trim(context.line(), start..end.max(start));
    let diagnostic = context.warning(
        "dropped-text",
        &range,
        format!("text behind a second `{mark}` is ignored"),
    );
    diagnostic.label = "never executed".to_owned();
    diagnostic.help = Some(match mark {
        "->" if !statement.is_empty() => {
            "a line has one guard: join conditions with `and`, statements with `;`".to_owned()
        }
        "=>" => "join conditions with `and`; greater or equal is written `>=`".to_owned(),
        _ => "join conditions with `and`".to_owned(),
    });
}

/// Reports `pre<(e)>` outside of post-conditions, by returning `None`.
pub(crate) fn report_misplaced_pre(
    nodes: &[PlacedNode],
    part_name: &str,
    context: &mut LineContext<'_, '_>,
) -> Option<()> {
    let Some(pre) = nodes
        .iter()
        .find(|placed| matches!(placed.node.kind, NodeKind::PreOpen))
    else {
        return Some(());
    };
    let diagnostic = context.error(
        "misplaced-pre",
        &pre.node.span,
        format!("`pre<(…)>` cannot stand in {part_name}"),
    );
    diagnostic.help =
        Some("it belongs into a post-condition, behind `=>`, or into a raw function".to_owned());
    None
}

/// Returns the text of a fragment, with blanks in place of its holes.
fn template_text(fragment: &Fragment) -> String {
    let mut text = fragment.render(|_| " ".to_owned());
    text.push(' ');
    text
}

/// Returns the names that occur in code.
fn names(code: &str) -> Vec<&str> {
    host::tokenize(code)
        .into_iter()
        .filter(|token| token.kind == host::TokenKind::Name)
        .map(|token| &code[token.range])
        .collect()
}
