//! One small harness for each feature of the language, and its parsed form.
//!
//! `tests/inputs/NAME.tstl` is compared with `tests/inputs/NAME.expected`. After a change, run with
//! `UPDATE_EXPECTATIONS=1` and read the difference.

use std::fmt::Write as _;
use std::path::Path;

use testwright_core::{ActionId, Axis, ChoiceValues, SlotRole};
use testwright_lang::harness::{ActionTemplate, CodeLine, CodePart, Fragment, Harness, Pool};
use testwright_lang::{Diagnostic, parse};

#[test]
fn inputs_are_read_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .expect("the folder of inputs exists")
        .map(|entry| entry.expect("it can be read").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "tstl")
        })
        .collect();
    paths.sort();
    let mut differing = Vec::new();
    for path in &paths {
        let source = std::fs::read_to_string(path).expect("inputs are text");
        let (harness, diagnostics) = parse(&source);
        let shown = dump(&harness, &diagnostics, &source);
        let expectation = path.with_extension("expected");
        if std::env::var_os("UPDATE_EXPECTATIONS").is_some() {
            std::fs::write(&expectation, &shown).expect("expectations can be written");
        }
        let expected = std::fs::read_to_string(&expectation).unwrap_or_default();
        if shown != expected {
            differing.push(format!("--- {}\n{shown}", path.display()));
        }
    }
    assert!(!paths.is_empty(), "no inputs in {}", folder.display());
    assert!(
        differing.is_empty(),
        "not as expected:\n{}",
        differing.join("\n")
    );
}

fn dump(harness: &Harness, diagnostics: &[Diagnostic], source: &str) -> String {
    let mut out = String::new();
    let text = &mut out;
    for pool in &harness.pools {
        line(text, "pool", &show_pool(pool));
    }
    for (number, raw) in harness.raw.text.lines().enumerate() {
        if !raw.is_empty() {
            line(text, "raw", &format!("{:>3} {raw}", number + 1));
        }
    }
    for value in &harness.raw.entry_values {
        line(
            text,
            "entry value",
            &format!(
                "{} = {} (line {})",
                value.name, value.expression, value.line
            ),
        );
    }
    for module in &harness.raw.reset_modules {
        line(
            text,
            "reset",
            &format!("{} (line {})", module.text, module.line),
        );
    }
    for action in &harness.actions {
        show_action(text, action, harness);
    }
    for property in &harness.properties {
        let expected = exceptions(&property.expected, &[]);
        line(
            text,
            "property",
            &format!("{expected}{}", show_line(&property.line, harness)),
        );
        if let Some(message) = &property.message {
            line(text, "  message", &show(message));
        }
    }
    let lists = [
        ("init", &harness.inits),
        ("finally", &harness.finallys),
        ("assume", &harness.assumptions),
        ("hint", &harness.hints),
    ];
    for (name, lines) in lists {
        for one in lines {
            line(text, name, &show_line(one, harness));
        }
    }
    for log in &harness.logs {
        let when = if log.after { "after" } else { "before" };
        line(
            text,
            "log",
            &format!(
                "{when} level {} {}",
                log.level,
                show_line(&log.line, harness)
            ),
        );
    }
    for reference in &harness.references {
        line(
            text,
            "reference",
            &format!("{} ==> {}", reference.pattern, reference.replacement),
        );
    }
    let words = [
        ("exception", &harness.exceptions),
        ("compare", &harness.compares),
        ("source", &harness.sources),
        ("feature", &harness.features),
    ];
    for (name, located) in words {
        for one in located {
            line(text, name, &format!("{} (line {})", one.text, one.line));
        }
    }
    for diagnostic in diagnostics {
        let at = 1 + source[..diagnostic.range.start].matches('\n').count();
        line(
            text,
            diagnostic.name,
            &format!("line {at}: {}", diagnostic.message),
        );
    }
    out
}

fn line(out: &mut String, name: &str, text: &str) {
    let _ = writeln!(out, "{name}: {text}");
}

fn show_pool(pool: &Pool) -> String {
    let mut text = format!("{} {}", pool.name, pool.size);
    let flags = [
        (pool.reference, " REF"),
        (pool.constant, " CONST"),
        (pool.opaque, " OPAQUE"),
        (pool.opaque_twin, " OPAQUEREF"),
    ];
    text.extend(flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag));
    if let Some(function) = &pool.abstraction {
        text += &format!(" ABSTRACT {function}");
    }
    if let Some(name) = &pool.type_name {
        text += &format!(" : {name}");
    }
    text
}

fn show_action(out: &mut String, action: &ActionTemplate, harness: &Harness) {
    let essential = if action.essential { " (essential)" } else { "" };
    line(
        out,
        "action",
        &format!("{:?} (line {}){essential}", action.class, action.line),
    );
    for axis in &action.axes {
        line(out, "  axis", &show_axis(axis, harness));
    }
    let expected = exceptions(&action.expected, &action.warnings);
    if !expected.is_empty() {
        line(out, "  exceptions", &expected);
    }
    let parts = [
        ("  guard", action.guard.as_ref()),
        ("  speculative", action.speculative.as_ref()),
        ("  statement", Some(&action.statement)),
        ("  post", action.post.as_ref()),
        ("  message", action.post_message.as_ref()),
        ("  tail", action.post_tail.as_ref()),
        (
            "  expect",
            action.expect.as_ref().map(|expect| &expect.arguments),
        ),
    ];
    for (name, fragment) in parts {
        if let Some(fragment) = fragment {
            line(out, name, &show(fragment));
        }
    }
    if let Some(expect) = &action.expect {
        line(out, "  expect name", &expect.name);
    }
    for value in &action.pre_values {
        line(out, "  pre", &show(value));
    }
    if action.post_mentions_raised {
        line(out, "  post", "mentions raised");
    }
    if action.post_mentions_reference {
        line(out, "  post", "mentions reference");
    }
    let index = harness
        .actions
        .iter()
        .position(|one| std::ptr::eq(one, action))
        .unwrap_or(0);
    let template = testwright_core::TemplateId(index);
    let count = harness.catalog.count(template);
    let first = harness
        .catalog
        .action(template, &vec![0; action.axes.len()]);
    if count > 0 {
        let last = ActionId(first.0 + count - 1);
        let texts = (harness.catalog.text(first), harness.catalog.text(last));
        line(
            out,
            "  concrete",
            &format!("{count}: {} … {}", texts.0, texts.1),
        );
    }
}

fn exceptions(expected: &[String], warnings: &[String]) -> String {
    if expected.is_empty() && warnings.is_empty() {
        return String::new();
    }
    let warnings = warnings.iter().map(|warning| format!("!{warning}"));
    let all: Vec<String> = expected.iter().cloned().chain(warnings).collect();
    format!("{{{}}} ", all.join(", "))
}

fn show_axis(axis: &Axis, harness: &Harness) -> String {
    match axis {
        Axis::Slot { pool, role } => {
            let role = match role {
                SlotRole::Use => "use",
                SlotRole::SilentUse => "silent use",
                SlotRole::Definition => "definition",
                SlotRole::Mention => "mention",
            };
            format!("{} {role}", harness.pool(*pool).name)
        }
        Axis::Choice(ChoiceValues::Texts(texts)) => format!("one of {texts:?}"),
        Axis::Choice(choice) => {
            let last = choice.text(choice.len().saturating_sub(1));
            format!("from {} to {last}", choice.text(0))
        }
        Axis::Repeat(times) => format!("{times} times"),
    }
}

fn show_line(line: &CodeLine, harness: &Harness) -> String {
    let axes: Vec<String> = line
        .axes
        .iter()
        .map(|axis| show_axis(axis, harness))
        .collect();
    format!(
        "{} [{}] (line {}: {})",
        show(&line.code),
        axes.join("; "),
        line.line,
        line.text
    )
}

/// Renders a fragment with its holes in guillemets: `«0»` is the slot on axis 0, `«0 twin»` its
/// twin, `«"0"»` one in a string, `«[1]»` a choice, `«[1]=»` a choice that is an operand.
fn show(fragment: &Fragment) -> String {
    fragment.render(|part| match part {
        CodePart::Slot {
            axis,
            twin,
            in_string,
        } => {
            let twin = if *twin { " twin" } else { "" };
            if *in_string {
                format!("«\"{axis}{twin}\"»")
            } else {
                format!("«{axis}{twin}»")
            }
        }
        CodePart::Choice { axis, is_operand } => {
            let operand = if *is_operand { "=" } else { "" };
            format!("«[{axis}]{operand}»")
        }
        CodePart::Pre(index) => format!("«pre {index}»"),
        CodePart::Text(text) => text.clone(),
    })
}
