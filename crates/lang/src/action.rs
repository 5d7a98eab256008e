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
    let before = count_errors(context);
    let Some(exceptions) = Exceptions::read(context, content) else {
        return Vec::new();
    };
    let errors = if exceptions.is_dictionary {
        // What follows a dictionary that was taken for exceptions makes no sense.
        before
    } else {
        count_errors(context)
    };
    if exceptions.rest.is_empty() {
        if errors == 0 {
            let place = declaration.content.clone();
            let label = "no statement behind the exceptions";
            empty(context, &place, "the statement", label);
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
    for expansion in expand::expand(nodes, Meaning::Action, context) {
        let Some(anatomy) = Anatomy::of(&expansion, context) else {
            continue;
        };
        if count_errors(context) == errors {
            let found = context.diagnostics.len();
            anatomy.check(&expansion, &mut budget, context);
            if context.diagnostics.len() == found {
                anatomy.forgotten(context);
            }
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
    post: Option<Condition>,
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
        let mut arrow = None;
        let guard = match pieces.pop() {
            Some(guard) => {
                arrow = nodes
                    .get(guard.len())
                    .map(|placed| placed.node.span.clone());
                let place = arrow.clone().unwrap_or(whole.clone());
                Some(Self::guard(guard, &place, context)?)
            }
            None => None,
        };
        if let (Some(first), Some(last)) = (dropped.first(), dropped.last()) {
            warn_dropped(first, last, "->", rest, &whole, context);
        }
        let (statement, post, expect) = Self::sections(rest, &whole, context);
        let mark = rest
            .get(statement.len())
            .map(|placed| placed.node.span.clone());
        let statement = trimmed(statement, line);
        if statement.is_empty() {
            let behind = arrow.map(|arrow| (arrow, "no statement behind `->`"));
            let before = || Some((mark?, "no statement before this"));
            let (place, label) = behind
                .or_else(before)
                .unwrap_or((whole, "no statement here"));
            empty(context, &place, "the statement", label);
            return None;
        }
        misplaced_pre(&statement, "a statement", context)?;
        let post = match post {
            Some((arrow, post)) => Some(Self::post(post, &arrow, context)?),
            None => None,
        };
        let expect = match expect {
            Some((_, expect)) => Some(ExpectParts::of(expect, &whole, context)?),
            None if context.declaration.keyword == Keyword::Expect => {
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
        Some(Anatomy {
            guard,
            statement,
            post,
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
            diagnostic.label = "stands before the guard's `->`".to_owned();
            diagnostic.help = Some(
                "write `guard -> statement => post-condition`; greater or equal is written `>=`"
                    .to_owned(),
            );
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

    /// A post-condition, given the arrow before it.
    fn post(
        nodes: &[Placed],
        arrow: &Range<usize>,
        context: &mut Context<'_, '_>,
    ) -> Option<Condition> {
        let post = Condition::of(nodes, context.line());
        if post.test.is_empty() {
            empty(
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

    /// A definition that nobody can see: names are local to an action.
    fn forgotten(&self, context: &mut Context<'_, '_>) {
        let [only] = self.statement.as_slice() else {
            return;
        };
        let text = &context.line()[only.node.span.clone()];
        let end = text.find(|letter| !host::continues_name(letter));
        let word = &text[..end.unwrap_or(text.len())];
        let what = match word {
            "import" | "from" => "an import",
            "def" => "a function",
            "class" => "a class",
            _ => return,
        };
        let (span, text) = (only.node.span.clone(), keywords::shorten(text));
        let message = format!("{what} in an action is forgotten when the action ends");
        let diagnostic = context.warning("missing-at", &span, message);
        diagnostic.label = "an action like any other".to_owned();
        diagnostic.help = Some(format!(
            "write `@{text}`: raw code is run once and known everywhere"
        ));
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
            check("post-condition", Syntax::Expression, &post.test, ("", ""));
            if let Some(message) = &post.message {
                check("message", Syntax::Expression, message, ("", ""));
            }
            if let Some(tail) = &post.tail {
                check("statement", Syntax::Statements, tail, ("", ""));
            }
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
        let mut condition =
            |part: Option<&Vec<Placed>>| part.map(|nodes| fragment(nodes, line, &mut pre_values));
        let post = condition(self.post.as_ref().map(|post| &post.test));
        let post_message = condition(self.post.as_ref().and_then(|post| post.message.as_ref()));
        let post_tail = condition(self.post.as_ref().and_then(|post| post.tail.as_ref()));
        let statement = fragment(&self.statement, line, &mut none);
        let post_text: String = [&post, &post_message, &post_tail]
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
            post_tail,
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
                "a condition stands behind `=>`; behind `==>` stands the name of three functions, `name_before`, `name_after` and `name_check`, and their arguments".to_owned(),
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

/// A condition as it stands behind `=>` or `property:`. It stands for the assertion of what is written there, so a message
/// may follow it, and further statements.
pub(crate) struct Condition {
    pub(crate) test: Vec<Placed>,
    pub(crate) message: Option<Vec<Placed>>,
    /// Where the comma before the message stands.
    comma: Option<Range<usize>>,
    pub(crate) tail: Option<Vec<Placed>>,
}

impl Condition {
    /// Takes `test, message; tail` apart.
    pub(crate) fn of(nodes: &[Placed], line: &str) -> Condition {
        let is_semicolon = |placed: &Placed| placed.node.is_mark(Mark::Semicolon);
        let (assertion, tail) = match nodes.iter().position(is_semicolon) {
            Some(at) => (&nodes[..at], &nodes[at + 1..]),
            None => (nodes, &[][..]),
        };
        let mut tail = trimmed(tail, line);
        while tail.last().is_some_and(is_semicolon) {
            tail.pop();
            tail = trimmed(&tail, line);
        }
        let assertion = trimmed(assertion, line);
        let at = assertion.iter().position(|placed| placed.node.is_comma());
        let (test, message, comma) = match at {
            Some(at) => (
                trimmed(&assertion[..at], line),
                Some(trimmed(&assertion[at + 1..], line)),
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
    pub(crate) fn check_message(&self, context: &mut Context<'_, '_>) {
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
            "a line has one guard: join conditions with `and`, statements with `;`".to_owned()
        }
        "=>" => "join conditions with `and`; greater or equal is written `>=`".to_owned(),
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
