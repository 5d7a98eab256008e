//! Keyword lines that hold host code: `property:`, `init:`, `finally:`, `log:`, `assume:`, `hint:`.

use std::ops::Range;

use crate::action::{self, Condition};
use crate::check::{self, Code};
use crate::exceptions::Exceptions;
use crate::expand::{self, Context, Expansion, Meaning, Placed};
use crate::fragments::{fragment, span, trimmed};
use crate::harness::{Fragment, Harness, Line, Log, Property};
use crate::host::Syntax;
use crate::keywords::{self, Keyword};
use crate::nodes::Mark;
use crate::placeholders;

/// Reads one such line into the harness.
pub(crate) fn read(context: &mut Context<'_, '_>, harness: &mut Harness) {
    let keyword = context.declaration.keyword;
    let content = action::code(context);
    if content.is_empty() {
        missing(context);
        return;
    }
    match keyword {
        Keyword::Property => {
            let Some(exceptions) = Exceptions::read(context, content) else {
                return;
            };
            for (line, message) in lines(context, exceptions.rest.clone()) {
                let expected = [&exceptions.expected[..], &exceptions.warnings[..]].concat();
                harness.properties.push(Property {
                    line,
                    expected,
                    message,
                });
            }
        }
        Keyword::Log => {
            let (after, level, rest) = log_prefix(context.line(), content);
            for (line, _) in lines(context, rest) {
                harness.logs.push(Log { line, after, level });
            }
        }
        _ => {
            let found = lines(context, content).into_iter().map(|(line, _)| line);
            let list = match keyword {
                Keyword::Init => &mut harness.inits,
                Keyword::Finally => &mut harness.finallys,
                Keyword::Assume => &mut harness.assumptions,
                _ => &mut harness.hints,
            };
            list.extend(found);
        }
    }
}

/// Reports a keyword without content.
pub(crate) fn missing(context: &mut Context<'_, '_>) {
    let keyword = context.declaration.keyword;
    let word = keyword.word();
    let range = keywords::trim(context.line(), 0..context.line().len());
    let diagnostic = context.error(
        "empty-part",
        &range,
        format!("nothing stands behind `{word}:`"),
    );
    diagnostic.label = "no content".to_owned();
    diagnostic.help = Some(match keyword {
        Keyword::Expect => "write `expect: statement ==> name(arguments)`".to_owned(),
        _ => format!(
            "write something behind it; a section of such lines starts with `{}:`",
            keyword.section()
        ),
    });
}

/// `[POST] [level]`
fn log_prefix(line: &str, content: Range<usize>) -> (bool, i64, Range<usize>) {
    let mut rest = content;
    let mut next_word = |accept: &dyn Fn(&str) -> bool| {
        let text = &line[rest.clone()];
        let end = text.find(char::is_whitespace)?;
        let word = &text[..end];
        if !accept(word) {
            return None;
        }
        rest = keywords::trim(line, rest.start + end..rest.end);
        Some(word)
    };
    let after = next_word(&|word| word == "POST").is_some();
    let level = next_word(&|word| word.parse::<i64>().is_ok());
    let level = level.and_then(|word| word.parse().ok()).unwrap_or(0);
    (after, level, rest)
}

/// The line, once for each of its structural alternatives, with the message of a property.
fn lines(context: &mut Context<'_, '_>, range: Range<usize>) -> Vec<(Line, Option<Fragment>)> {
    let keyword = context.declaration.keyword;
    let meaning = match keyword {
        Keyword::Property => Meaning::Property,
        _ => Meaning::Plain,
    };
    if range.is_empty() {
        missing(context);
        return Vec::new();
    }
    let errors = action::count_errors(context);
    let nodes = placeholders::scan(
        context.declaration,
        range.clone(),
        context.pools,
        context.diagnostics,
    );
    let mut budget = check::budget();
    let mut lines = Vec::new();
    for expansion in expand::expand(nodes, meaning, context) {
        let what = a_line(keyword);
        if misplaced_mark(&expansion, &what, context)
            || action::misplaced_pre(&expansion.nodes, &what, context).is_none()
        {
            continue;
        }
        let text = context.line();
        let (code, message) = match keyword {
            Keyword::Property => property(&expansion.nodes, context),
            _ => (trimmed(&expansion.nodes, text), None),
        };
        if code.is_empty() {
            missing(context);
            continue;
        }
        if action::count_errors(context) == errors {
            check_code(&code, message.as_deref(), &expansion, &mut budget, context);
        }
        let line = Line {
            line: context.declaration.line.number,
            text: text[range.clone()].to_owned(),
            code: fragment(&code, text, &mut Vec::new()),
            axes: expansion.axes,
        };
        let message = message.map(|message| fragment(&message, text, &mut Vec::new()));
        lines.push((line, message));
    }
    lines
}

/// The condition of a property and its message. The original runs statements behind it, which only a condition with side
/// effects needs; here they are ignored.
fn property(nodes: &[Placed], context: &mut Context<'_, '_>) -> (Vec<Placed>, Option<Vec<Placed>>) {
    let condition = Condition::of(nodes, context.line());
    if let Some(range) = condition.tail.as_deref().and_then(span) {
        let diagnostic = context.warning(
            "dropped-text",
            &range,
            "statements behind a property are ignored",
        );
        diagnostic.label = "never executed".to_owned();
        diagnostic.help = Some("a property is one condition; write another line".to_owned());
    }
    condition.check_message(context);
    (condition.test, condition.message)
}

/// With its article, as messages name it.
fn a_line(keyword: Keyword) -> String {
    let word = keyword.word();
    let article = if word.starts_with(['a', 'e', 'i']) {
        "an"
    } else {
        "a"
    };
    format!("{article} `{word}:` line")
}

fn check_code(
    code: &[Placed],
    message: Option<&[Placed]>,
    expansion: &Expansion,
    budget: &mut usize,
    context: &mut Context<'_, '_>,
) {
    let (what, syntax) = match context.declaration.keyword {
        Keyword::Property => ("property", Syntax::Expression),
        Keyword::Init => ("`init:` line", Syntax::Statements),
        Keyword::Finally => ("`finally:` line", Syntax::Statements),
        Keyword::Log => ("`log:` line", Syntax::Expression),
        Keyword::Assume => ("assumption", Syntax::Expression),
        _ => ("hint", Syntax::Expression),
    };
    let mut check = |what, syntax, nodes| {
        let around = ("", "");
        let code = Code {
            what,
            syntax,
            nodes,
            around,
            budget,
        };
        check::check(code, &expansion.axes, context);
    };
    check(what, syntax, code);
    if let Some(message) = message {
        check("message", Syntax::Expression, message);
    }
}

/// Separators that only mean something in actions.
fn misplaced_mark(expansion: &Expansion, what: &str, context: &mut Context<'_, '_>) -> bool {
    let is_statement = matches!(
        context.declaration.keyword,
        Keyword::Init | Keyword::Finally
    );
    for placed in &expansion.nodes {
        let marks = [
            (Mark::Guard, "->", "a guard"),
            (Mark::Post, "=>", "a post-condition"),
            (Mark::Expect, "==>", "an expectation"),
        ];
        if let Some((_, text, thing)) = marks.iter().find(|(mark, ..)| placed.node.is_mark(*mark)) {
            let message = format!("`{text}` cannot stand in {what}");
            let diagnostic = context.error("misplaced-separator", &placed.node.span, message);
            diagnostic.help = Some(if is_statement {
                format!("only actions have {thing}")
            } else {
                format!("only actions have {thing}; for “if a, then b” write `not a or b`")
            });
            return true;
        }
        if placed.node.is_mark(Mark::Define) {
            let message = format!("`:=` cannot stand in {what}");
            let whole = context.declaration.line.text.trim();
            let corrected = whole.replace(":=", "=");
            let diagnostic = context.error("misplaced-definition", &placed.node.span, message);
            diagnostic.help = Some(if is_statement {
                format!("write `{}`", keywords::shorten(&corrected))
            } else {
                "only actions give slots new values; to compare, write `==`".to_owned()
            });
            return true;
        }
    }
    false
}
