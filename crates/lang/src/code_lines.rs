//! Parses the keyword lines that hold host code: `property:`, `init:`, `finally:`, `log:`,
//! `assume:`, `hint:`.

use std::ops::Range;

use crate::action::{self, Condition};
use crate::check::{self, HostCode};
use crate::exceptions::Exceptions;
use crate::expand::{self, Expansion, LineContext, PlacedNode, PlaceholderMeaning};
use crate::fragments::{build_fragment, node_span, trim_nodes};
use crate::harness::{CodeLine, Fragment, Harness, LogExpression, PropertyLine};
use crate::host::SyntaxKind;
use crate::keywords::{self, LineKeyword};
use crate::nodes::Separator;
use crate::placeholders;

/// Parses one such line, and adds it to the harness.
pub(crate) fn parse_code_line(context: &mut LineContext<'_, '_>, harness: &mut Harness) {
    let keyword = context.declaration.keyword;
    let content = action::code_range(context);
    if content.is_empty() {
        report_missing_content(context);
        return;
    }
    match keyword {
        LineKeyword::Property => {
            let Some(exceptions) = Exceptions::read(context, content) else {
                return;
            };
            for (line, message) in expand_line(context, exceptions.rest.clone()) {
                let expected = [&exceptions.expected[..], &exceptions.warnings[..]].concat();
                harness.properties.push(PropertyLine {
                    line,
                    expected,
                    message,
                });
            }
        }
        LineKeyword::Log => {
            let (after, level, rest) = log_prefix(context.line(), content);
            for (line, _) in expand_line(context, rest) {
                harness.logs.push(LogExpression { line, after, level });
            }
        }
        _ => {
            let found = expand_line(context, content)
                .into_iter()
                .map(|(line, _)| line);
            let list = match keyword {
                LineKeyword::Init => &mut harness.inits,
                LineKeyword::Finally => &mut harness.finallys,
                LineKeyword::Assume => &mut harness.assumptions,
                _ => &mut harness.hints,
            };
            list.extend(found);
        }
    }
}

/// Reports a keyword without content.
pub(crate) fn report_missing_content(context: &mut LineContext<'_, '_>) {
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
        LineKeyword::Expect => "write `expect: statement ==> name(arguments)`".to_owned(),
        _ => format!(
            "write something behind it; a section of such lines starts with `{}:`",
            keyword.section()
        ),
    });
}

/// Splits `[POST] [level]` off a `log:` line. Returns whether it is printed after the step, its
/// level, and the rest.
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

/// Expands a line over its structural alternatives. Each comes with the message of a property, if
/// there is one.
fn expand_line(
    context: &mut LineContext<'_, '_>,
    range: Range<usize>,
) -> Vec<(CodeLine, Option<Fragment>)> {
    let keyword = context.declaration.keyword;
    let meaning = match keyword {
        LineKeyword::Property => PlaceholderMeaning::Property,
        _ => PlaceholderMeaning::Plain,
    };
    if range.is_empty() {
        report_missing_content(context);
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
        let part_name = line_with_article(keyword);
        if report_misplaced_separator(&expansion, &part_name, context)
            || action::report_misplaced_pre(&expansion.nodes, &part_name, context).is_none()
        {
            continue;
        }
        let text = context.line();
        let (code, message) = match keyword {
            LineKeyword::Property => split_property(&expansion.nodes, context),
            _ => (trim_nodes(&expansion.nodes, text), None),
        };
        if code.is_empty() {
            report_missing_content(context);
            continue;
        }
        if action::count_errors(context) == errors {
            check_code(&code, message.as_deref(), &expansion, &mut budget, context);
        }
        let line = CodeLine {
            line: context.declaration.line.number,
            text: text[range.clone()].to_owned(),
            code: build_fragment(&code, text, &mut Vec::new()),
            axes: expansion.axes,
        };
        let message = message.map(|message| build_fragment(&message, text, &mut Vec::new()));
        lines.push((line, message));
    }
    lines
}

/// Splits a property into its condition and its message. The original TSTL runs statements after the
/// condition, which only a condition with side effects needs; here they are ignored.
fn split_property(
    nodes: &[PlacedNode],
    context: &mut LineContext<'_, '_>,
) -> (Vec<PlacedNode>, Option<Vec<PlacedNode>>) {
    let condition = Condition::split(nodes, context.line());
    if let Some(range) = condition.tail.as_deref().and_then(node_span) {
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

/// Names a kind of line with its article, for messages.
fn line_with_article(keyword: LineKeyword) -> String {
    let word = keyword.word();
    let article = if word.starts_with(['a', 'e', 'i']) {
        "an"
    } else {
        "a"
    };
    format!("{article} `{word}:` line")
}

/// Checks the code of a line, and its message.
fn check_code(
    code: &[PlacedNode],
    message: Option<&[PlacedNode]>,
    expansion: &Expansion,
    budget: &mut usize,
    context: &mut LineContext<'_, '_>,
) {
    let (part_name, syntax) = match context.declaration.keyword {
        LineKeyword::Property => ("property", SyntaxKind::Expression),
        LineKeyword::Init => ("`init:` line", SyntaxKind::Statements),
        LineKeyword::Finally => ("`finally:` line", SyntaxKind::Statements),
        LineKeyword::Log => ("`log:` line", SyntaxKind::Expression),
        LineKeyword::Assume => ("assumption", SyntaxKind::Expression),
        _ => ("hint", SyntaxKind::Expression),
    };
    let mut check = |part_name, syntax, nodes| {
        let around = ("", "");
        let code = HostCode {
            part_name,
            syntax,
            nodes,
            wrapper: around,
            budget,
        };
        check::check(code, &expansion.axes, context);
    };
    check(part_name, syntax, code);
    if let Some(message) = message {
        check("message", SyntaxKind::Expression, message);
    }
}

/// Reports separators that have a meaning only in actions.
fn report_misplaced_separator(
    expansion: &Expansion,
    part_name: &str,
    context: &mut LineContext<'_, '_>,
) -> bool {
    let is_statement = matches!(
        context.declaration.keyword,
        LineKeyword::Init | LineKeyword::Finally
    );
    for placed in &expansion.nodes {
        let marks = [
            (Separator::Guard, "->", "a guard"),
            (Separator::Post, "=>", "a post-condition"),
            (Separator::Expect, "==>", "an expectation"),
        ];
        if let Some((_, text, thing)) = marks
            .iter()
            .find(|(mark, ..)| placed.node.is_separator(*mark))
        {
            let message = format!("`{text}` cannot stand in {part_name}");
            let diagnostic = context.error("misplaced-separator", &placed.node.span, message);
            diagnostic.help = Some(if is_statement {
                format!("only actions have {thing}")
            } else {
                format!("only actions have {thing}; for “if a, then b” write `not a or b`")
            });
            return true;
        }
        if placed.node.is_separator(Separator::Define) {
            let message = format!("`:=` cannot stand in {part_name}");
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
