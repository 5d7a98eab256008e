//! Action lines: exceptions, guard, statement, post-condition, and what is expected of the statement.

use std::ops::Range;

use crate::check::{self, Code};
use crate::exceptions::Exceptions;
use crate::expand::{self, Context, Expansion, Meaning, Placed};
use crate::fragments::{fragment, span, trimmed};
use crate::guarded;
use crate::harness::{Action, Expect, Fragment};
use crate::host::{self, Syntax};
use crate::keywords::{self, Keyword};
use crate::nodes::{Kind, Mark};
use crate::placeholders;

/// Reads one action line. `guarded` are the functions of the raw code that take a speculative call.
pub(crate) fn read(context: &mut Context<'_, '_>, guarded: &[String]) -> Vec<Action> {
    let declaration = context.declaration;
    let content = code(context);
    if content.is_empty() {
        empty(context, &content, "the line", "nothing to do");
        return Vec::new();
    }
    let Some(exceptions) = Exceptions::read(context, content) else {
        return Vec::new();
    };
    let errors = count_errors(context);
    if errors > 0 && exceptions.rest.is_empty() {
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
    for expansion in expand::expand(nodes, Meaning::Action, context) {
        let Some(anatomy) = Anatomy::of(&expansion, context) else {
            continue;
        };
        if count_errors(context) == errors {
            anatomy.check(&expansion, &mut budget, context);
        }
        let mut action = anatomy.action(context, guarded);
        action.essential = essential;
        action.axes = expansion.axes;
        action.expected.clone_from(&exceptions.expected);
        action.warnings.clone_from(&exceptions.warnings);
        actions.push(action);
    }
    actions
}

/// The content without its trailing comment.
pub(crate) fn code(context: &Context<'_, '_>) -> Range<usize> {
    let content = context.declaration.content.clone();
    let length = host::end_of_code(context.declaration.text());
    keywords::trim(context.line(), content.start..content.start + length)
}

/// Errors that make a look at the host code pointless; an unknown pool does not.
pub(crate) fn count_errors(context: &Context<'_, '_>) -> usize {
    context
        .diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity == crate::Severity::Error)
        .filter(|diagnostic| {
            !matches!(diagnostic.name, "unknown-pool" | "host-syntax" | "python-2")
        })
        .count()
}

fn empty(context: &mut Context<'_, '_>, range: &Range<usize>, what: &str, label: &str) {
    let place = if range.is_empty() {
        keywords::trim(context.line(), 0..context.line().len())
    } else {
        range.clone()
    };
    let diagnostic = context.error("empty-part", &place, format!("{what} is empty"));
    diagnostic.label = label.to_owned();
}

/// The parts of one line, or of one structural alternative of it.
struct Anatomy {
    guard: Option<Vec<Placed>>,
    statement: Vec<Placed>,
    post: Option<Vec<Placed>>,
    message: Option<Vec<Placed>>,
    expect: Option<ExpectParts>,
}

/// What follows a separator, and where the separator stands.
type Section<'n> = (Range<usize>, &'n [Placed]);

struct ExpectParts {
    name: String,
    arguments: Vec<Placed>,
}

impl Anatomy {
    fn of(expansion: &Expansion, context: &mut Context<'_, '_>) -> Option<Anatomy> {
        let line = context.line();
        let nodes = &expansion.nodes;
        let whole = span(nodes).unwrap_or_else(|| context.declaration.content.clone());
        let mut pieces = split_at_mark(nodes, Mark::Guard);
        let dropped = pieces.split_off(pieces.len().min(2));
        let rest = pieces.pop().unwrap_or(&[]);
        let guard = match pieces.pop() {
            Some(guard) => {
                let arrow = nodes
                    .get(guard.len())
                    .map_or(whole.clone(), |placed| placed.node.span.clone());
                Some(Self::guard(guard, &arrow, context)?)
            }
            None => None,
        };
        if let (Some(first), Some(last)) = (dropped.first(), dropped.last()) {
            warn_dropped(first, last, "->", rest, &whole, context);
        }
        let (statement, post, expect) = Self::sections(rest, &whole, context);
        let statement = trimmed(statement, line);
        if statement.is_empty() {
            empty(context, &whole, "the statement", "no statement here");
            return None;
        }
        misplaced_pre(&statement, "a statement", context)?;
        let (post, message) = match post {
            Some((arrow, post)) => {
                let (post, message) = Self::post(post, &arrow, context)?;
                (Some(post), message)
            }
            None => (None, None),
        };
        let expect = match expect {
            Some((_, expect)) => Some(ExpectParts::of(expect, &whole, context)?),
            None if context.declaration.keyword == Keyword::Expect => {
                let diagnostic =
                    context.error("bad-expect", &whole, "an `expect:` line needs `==>`");
                diagnostic.help = Some("write `expect: statement ==> name(arguments)`".to_owned());
                return None;
            }
            None => None,
        };
        Some(Anatomy {
            guard,
            statement,
            post,
            message,
            expect,
        })
    }

    /// The guard, given the arrow behind it.
    fn guard(
        nodes: &[Placed],
        arrow: &Range<usize>,
        context: &mut Context<'_, '_>,
    ) -> Option<Vec<Placed>> {
        let guard = trimmed(nodes, context.line());
        if guard.is_empty() {
            empty(context, arrow, "the guard", "no condition before `->`");
            return None;
        }
        let is_late =
            |placed: &&Placed| placed.node.is_mark(Mark::Post) || placed.node.is_mark(Mark::Expect);
        if let Some(mark) = guard.iter().find(is_late) {
            let diagnostic = context.error(
                "post-before-guard",
                &mark.node.span,
                "the guard comes first, the post-condition last",
            );
            diagnostic.help = Some("write `guard -> statement => post-condition`".to_owned());
            return None;
        }
        misplaced_pre(&guard, "a guard", context)?;
        Some(guard)
    }

    /// Statement, post-condition, expectation.
    fn sections<'n>(
        nodes: &'n [Placed],
        whole: &Range<usize>,
        context: &mut Context<'_, '_>,
    ) -> (&'n [Placed], Option<Section<'n>>, Option<Section<'n>>) {
        let is_mark =
            |placed: &Placed| placed.node.is_mark(Mark::Post) || placed.node.is_mark(Mark::Expect);
        let end = nodes.iter().position(is_mark).unwrap_or(nodes.len());
        let (statement, mut rest) = nodes.split_at(end);
        let (mut post, mut expect) = (None, None);
        while let Some((mark, behind)) = rest.split_first() {
            let end = behind.iter().position(is_mark).unwrap_or(behind.len());
            let (section, further) = behind.split_at(end);
            let wanted = if mark.node.is_mark(Mark::Post) {
                &mut post
            } else {
                &mut expect
            };
            if wanted.is_some() {
                let text = if mark.node.is_mark(Mark::Post) {
                    "=>"
                } else {
                    "==>"
                };
                warn_dropped(section, section, text, &[], whole, context);
            } else {
                *wanted = Some((mark.node.span.clone(), section));
            }
            rest = further;
        }
        (statement, post, expect)
    }

    /// A post-condition and its message, given the arrow before them.
    fn post(
        nodes: &[Placed],
        arrow: &Range<usize>,
        context: &mut Context<'_, '_>,
    ) -> Option<(Vec<Placed>, Option<Vec<Placed>>)> {
        let line = context.line();
        let (post, message) = split_message(nodes, line);
        if post.is_empty() {
            empty(
                context,
                arrow,
                "the post-condition",
                "no condition behind `=>`",
            );
            return None;
        }
        let is_semicolon = |placed: &&Placed| placed.node.is_mark(Mark::Semicolon);
        if let Some(semicolon) = post
            .iter()
            .chain(message.iter().flatten())
            .find(is_semicolon)
        {
            let diagnostic = context.error(
                "statement-behind-post",
                &semicolon.node.span,
                "no statement can follow the post-condition",
            );
            diagnostic.help = Some("put all statements before `=>`".to_owned());
            return None;
        }
        Some((post, message))
    }

    fn check(&self, expansion: &Expansion, budget: &mut usize, context: &mut Context<'_, '_>) {
        let mut check = |what, syntax, nodes: &[Placed], around| {
            let code = Code {
                what,
                syntax,
                nodes,
                around,
                budget,
            };
            check::check(code, &expansion.axes, context);
        };
        if let Some(guard) = &self.guard {
            check("guard", Syntax::Expression, guard, ("", ""));
        }
        check("statement", Syntax::Statements, &self.statement, ("", ""));
        if let Some(post) = &self.post {
            check("post-condition", Syntax::Expression, post, ("", ""));
        }
        if let Some(message) = &self.message {
            check("message", Syntax::Expression, message, ("", ""));
        }
        if let Some(expect) = &self.expect {
            check(
                "arguments",
                Syntax::Expression,
                &expect.arguments,
                ("f(", ")"),
            );
        }
    }

    fn action(&self, context: &Context<'_, '_>, guarded: &[String]) -> Action {
        let line = context.line();
        let mut pre_values = Vec::new();
        let mut none = Vec::new();
        let post = self
            .post
            .as_ref()
            .map(|post| fragment(post, line, &mut pre_values));
        let post_message = self
            .message
            .as_ref()
            .map(|message| fragment(message, line, &mut pre_values));
        let statement = fragment(&self.statement, line, &mut none);
        let post_text: String = [&post, &post_message]
            .into_iter()
            .flatten()
            .chain(&pre_values)
            .map(text_of)
            .collect();
        let names = names(&post_text);
        Action {
            line: context.declaration.line.number,
            class: context.declaration.line.text.clone(),
            essential: false,
            axes: Vec::new(),
            expected: Vec::new(),
            warnings: Vec::new(),
            guard: self
                .guard
                .as_ref()
                .map(|guard| fragment(guard, line, &mut none)),
            speculative: guarded::speculative(&statement, guarded),
            statement,
            post,
            post_message,
            post_mentions_raised: post_text.contains("raised"),
            post_mentions_reference: post_text.contains("refRaised")
                || names
                    .iter()
                    .any(|name| matches!(*name, "result" | "result_REF")),
            pre_values,
            expect: self.expect.as_ref().map(|expect| Expect {
                name: expect.name.clone(),
                arguments: fragment(&expect.arguments, line, &mut none),
            }),
        }
    }
}

impl ExpectParts {
    /// `name(arguments)`
    fn of(
        nodes: &[Placed],
        whole: &Range<usize>,
        context: &mut Context<'_, '_>,
    ) -> Option<ExpectParts> {
        let line = context.line();
        let nodes = trimmed(nodes, line);
        let parts = Self::parts(&nodes, line);
        if parts.is_none() {
            let range = span(&nodes).unwrap_or_else(|| whole.clone());
            let diagnostic =
                context.error("bad-expect", &range, "`name(arguments)` must follow `==>`");
            diagnostic.help = Some(
                "the functions `name_before`, `name_after` and `name_check` are called with the arguments".to_owned(),
            );
        }
        parts
    }

    fn parts(nodes: &[Placed], line: &str) -> Option<ExpectParts> {
        let mut arguments = nodes.to_vec();
        let first = arguments.first_mut()?;
        let is_text = |placed: &Placed| matches!(placed.node.kind, Kind::Text);
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
            arguments: trimmed(&arguments, line),
        })
    }
}

fn split_at_mark(nodes: &[Placed], mark: Mark) -> Vec<&[Placed]> {
    nodes.split(|placed| placed.node.is_mark(mark)).collect()
}

/// Splits `expression, message`; like any statement, the assertion it stands for may end in a semicolon.
pub(crate) fn split_message(nodes: &[Placed], line: &str) -> (Vec<Placed>, Option<Vec<Placed>>) {
    let mut nodes = trimmed(nodes, line);
    while nodes
        .last()
        .is_some_and(|last| last.node.is_mark(Mark::Semicolon))
    {
        nodes.pop();
        nodes = trimmed(&nodes, line);
    }
    match nodes.iter().position(|placed| placed.node.is_comma()) {
        Some(comma) => {
            let message = trimmed(&nodes[comma + 1..], line);
            (trimmed(&nodes[..comma], line), Some(message))
        }
        None => (nodes, None),
    }
}

/// Warns about text that the original ignores too.
fn warn_dropped(
    first: &[Placed],
    last: &[Placed],
    mark: &str,
    statement: &[Placed],
    whole: &Range<usize>,
    context: &mut Context<'_, '_>,
) {
    let start = span(first).map_or(whole.end, |span| span.start);
    let end = span(last).map_or(whole.end, |span| span.end);
    let range = keywords::trim(context.line(), start..end.max(start));
    let diagnostic = context.warning(
        "dropped-text",
        &range,
        format!("text behind a second `{mark}` is ignored"),
    );
    diagnostic.label = "never executed".to_owned();
    diagnostic.help = Some(match mark {
        "->" if !statement.is_empty() => {
            "a line has one guard; write a sequence with `;`: `guard -> one; two`".to_owned()
        }
        _ => "join conditions with `and`".to_owned(),
    });
}

/// `pre<(e)>` belongs into post-conditions.
pub(crate) fn misplaced_pre(
    nodes: &[Placed],
    what: &str,
    context: &mut Context<'_, '_>,
) -> Option<()> {
    let Some(pre) = nodes
        .iter()
        .find(|placed| matches!(placed.node.kind, Kind::PreOpen))
    else {
        return Some(());
    };
    let diagnostic = context.error(
        "misplaced-pre",
        &pre.node.span,
        format!("`pre<(…)>` cannot stand in {what}"),
    );
    diagnostic.help =
        Some("it belongs into a post-condition, behind `=>`, or into a raw function".to_owned());
    None
}

/// The text of a fragment without its holes, with blanks in their place.
fn text_of(fragment: &Fragment) -> String {
    let mut text = fragment.render(|_| " ".to_owned());
    text.push(' ');
    text
}

fn names(code: &str) -> Vec<&str> {
    host::tokens(code)
        .into_iter()
        .filter(|token| token.kind == host::TokenKind::Name)
        .map(|token| &code[token.range])
        .collect()
}
