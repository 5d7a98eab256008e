//! Functions that assert something, from whatever is installed on this machine: each becomes a feature whose sentences
//! are whole and well-formed, and which other parsers read alike.
//!
//! Some of Python's own library are enough for every day. Those who change the wording read more: all of the library, or
//! the tests of packages that were unpacked somewhere.
//!
//! ```sh
//! SWEEP=all cargo test --release -p testwright-readable --test installed_code -- --nocapture
//! SWEEP=$HOME/packages cargo test --release -p testwright-readable --test installed_code -- --nocapture
//! ```

mod parsers;
mod sweep;

use std::collections::BTreeSet;

use parsers::read_alike;
use sweep::{fault, installed, is_thorough, words_of_names};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::measure;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Layout, Property, Sampled, Subject, Values};
use testwright_readable::sample::{Argument, Case};
use testwright_readable::value::Value;
use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};

/// Enough to meet everything, few enough for a debug build.
const FUNCTIONS: usize = 300;

/// `function` and `Class.method` of all that assert something.
fn asserting(body: &[Statement], class: Option<&str>, found: &mut Vec<String>) {
    for statement in body {
        match &statement.kind {
            StatementKind::Function(function)
                if asserts(&function.body) || is_given(&function.decorators) =>
            {
                let class = class.map(|class| format!("{class}."));
                found.push(class.unwrap_or_default() + &function.name);
            }
            StatementKind::Class(inner) if class.is_none() => {
                asserting(&inner.body, Some(&inner.name), found);
            }
            _ => {}
        }
    }
}

/// Whether Hypothesis runs it: what it asserts may be in what it calls.
fn is_given(decorators: &[Expression]) -> bool {
    decorators.iter().any(|decorator| {
        let ExpressionKind::Call { function, .. } = &decorator.kind else {
            return false;
        };
        let words = function.dotted();
        words.is_some_and(|words| words.last() == Some(&"given"))
    })
}

fn asserts(body: &[Statement]) -> bool {
    body.iter().any(|statement| match &statement.kind {
        StatementKind::Assert { .. } => true,
        StatementKind::For { body, .. }
        | StatementKind::While { body, .. }
        | StatementKind::If { body, .. }
        | StatementKind::With { body, .. }
        | StatementKind::Try { body, .. } => asserts(body),
        _ => false,
    })
}

/// Any values: what is told must be well-formed whatever they are.
fn case(property: &Property, turn: usize) -> Case {
    let values = [
        Value::Integer("7".to_owned()),
        Value::List(vec![Value::Integer("1".to_owned()), Value::Nothing]),
        Value::Text("two words".to_owned()),
    ];
    let value = |index: usize| values[(index + turn) % values.len()].clone();
    let inputs = property.inputs.iter().enumerate();
    Case::of(
        inputs
            .map(|(index, input)| Argument::new(&input.name, value(index)))
            .collect(),
    )
}

/// What people read of a feature, without the values of tables and long texts.
fn sentences(feature: &str) -> Vec<&str> {
    let mut quoted = false;
    let told = feature.lines().map(str::trim).filter(|line| {
        let is_fence = line.starts_with("\"\"\"") || line.starts_with("```");
        quoted ^= is_fence;
        !quoted && !is_fence && !line.is_empty() && !line.starts_with(['@', '|', '#'])
    });
    told.collect()
}

/// What was told so far.
#[derive(Default)]
struct Sweep {
    functions: usize,
    given: usize,
    sentences: usize,
    leaks: usize,
    faults: Vec<String>,
}

/// Tells a function with made-up values.
fn tell(
    subject: &Subject,
    name: &str,
    words: &BTreeSet<String>,
    speaker: &Speaker<'_>,
    sweep: &mut Sweep,
) {
    let turn = sweep.functions;
    let property = subject.property(name).expect("the module has it");
    let sampled = [Sampled::new(&property, vec![case(&property, turn)])];
    let values = [Values::Named, Values::Inline][turn % 2];
    let told = subject.tell(&sampled, values, Layout::default(), speaker);
    let written = gherkin::write(&told.feature)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}", subject.file));
    let read = gherkin::read(&written)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}\n{written}", subject.file));
    assert_eq!(gherkin::write(&read).ok().as_ref(), Some(&written));
    read_alike(&written);
    // The rest of the description is the function's own docstring, and what it says is its author's.
    let steps = sentences(&written);
    let scenario = steps.iter().position(|line| line.starts_with("Scenario"));
    let (description, steps) = steps.split_at(scenario.unwrap_or(steps.len()));
    let must_hold = description
        .iter()
        .filter(|line| line.starts_with("This must hold for "));
    let steps: Vec<&str> = must_hold.chain(steps).copied().collect();
    assert!(!steps.is_empty(), "{}: {name}:\n{written}", subject.file);
    for step in &steps {
        if let Some(fault) = fault(step, words) {
            sweep
                .faults
                .push(format!("{}: {name}: {fault}:\n    {step}", subject.file));
        }
    }
    sweep.functions += 1;
    sweep.given += usize::from(property.is_given);
    sweep.sentences += steps.len();
    sweep.leaks += steps.iter().map(|step| measure::leaks(step)).sum::<usize>();
}

#[test]
#[allow(
    clippy::print_stdout,
    reason = "those who sweep over all there is want to know how much that was"
)]
fn whatever_asserts_something_can_be_told() {
    let paths = installed();
    if paths.is_empty() {
        return;
    }
    let vocabulary = Vocabulary::default();
    let speaker = Speaker::new(&vocabulary);
    let mut sweep = Sweep::default();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        if !(text.contains("assert") || text.contains("@given"))
            || (sweep.functions >= FUNCTIONS && !is_thorough())
        {
            continue;
        }
        let Ok(module) = tree::module(&text) else {
            continue;
        };
        let mut names = Vec::new();
        asserting(&module.body, None, &mut names);
        let Ok(subject) = Subject::read(&path.to_string_lossy(), &text) else {
            continue;
        };
        let words = words_of_names(&text);
        for name in names {
            tell(&subject, &name, &words, &speaker, &mut sweep);
        }
    }
    println!(
        "{} functions, {} of them run by Hypothesis, {} sentences, {} leaks, {} faults",
        sweep.functions,
        sweep.given,
        sweep.sentences,
        sweep.leaks,
        sweep.faults.len()
    );
    let some: Vec<&String> = sweep.faults.iter().take(20).collect();
    assert!(some.is_empty(), "{some:#?}");
    assert!(
        is_thorough() || sweep.functions > 100,
        "only {} functions were found",
        sweep.functions
    );
}
