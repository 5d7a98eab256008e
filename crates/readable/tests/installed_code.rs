//! Installed functions that assert something: each becomes a feature with complete, well-formed
//! sentences, which other parsers read alike.
//!
//! Part of Python's own library is enough for daily work. After a change of wording, read more: the
//! whole library, or the tests of unpacked packages.
//!
//! ```sh
//! SWEEP=all cargo test --release -p testwright-readable --test integration installed_code -- --nocapture
//! SWEEP=$HOME/packages cargo test --release -p testwright-readable --test integration installed_code -- --nocapture
//! ```

use crate::parsers;
use crate::sweep;

use std::collections::BTreeSet;

use parsers::read_alike;
use sweep::{fault, installed, is_thorough, words_of_names};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::measure;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{
    ExampleLayout, PropertyFunction, PropertyModule, SampledProperty, ValuePlacement,
};
use testwright_readable::sample::{SampleArgument, SampleCase};
use testwright_readable::value::PythonValue;
use testwright_source::tree::{self, Expression, ExpressionKind, Statement, StatementKind};

/// The number of functions: enough to meet every construct, few enough for a debug build.
const FUNCTIONS: usize = 300;

/// Collects `function` and `Class.method` of everything that asserts something.
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

/// Returns true if Hypothesis runs the function, which may assert something in what it calls.
fn is_given(decorators: &[Expression]) -> bool {
    decorators.iter().any(|decorator| {
        let ExpressionKind::Call { function, .. } = &decorator.kind else {
            return false;
        };
        let words = function.dotted_parts();
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

/// Returns arbitrary values, for which the text must be well-formed as well.
fn case(property: &PropertyFunction, turn: usize) -> SampleCase {
    let values = [
        PythonValue::Integer("7".to_owned()),
        PythonValue::List(vec![
            PythonValue::Integer("1".to_owned()),
            PythonValue::Nothing,
        ]),
        PythonValue::Text("two words".to_owned()),
    ];
    let value = |index: usize| values[(index + turn) % values.len()].clone();
    let inputs = property.inputs.iter().enumerate();
    SampleCase::of(
        inputs
            .map(|(index, input)| SampleArgument::new(&input.name, value(index)))
            .collect(),
    )
}

/// Returns the sentences of a feature, without the values of tables and long texts.
fn sentences(feature: &str) -> Vec<&str> {
    let mut quoted = false;
    let rendered = feature.lines().map(str::trim).filter(|line| {
        let is_fence = line.starts_with("\"\"\"") || line.starts_with("```");
        quoted ^= is_fence;
        !quoted && !is_fence && !line.is_empty() && !line.starts_with(['@', '|', '#'])
    });
    rendered.collect()
}

/// The counts of a sweep so far.
#[derive(Default)]
struct Sweep {
    functions: usize,
    given: usize,
    sentences: usize,
    leaks: usize,
    faults: Vec<String>,
}

/// Renders a function with made-up values, and checks the sentences.
fn check_function(
    module: &PropertyModule,
    name: &str,
    words: &BTreeSet<String>,
    phraser: &Phraser<'_>,
    sweep: &mut Sweep,
) {
    let turn = sweep.functions;
    let property = module.property(name).expect("the module has it");
    let sampled = [SampledProperty::new(&property, vec![case(&property, turn)])];
    let values = [ValuePlacement::Named, ValuePlacement::Inline][turn % 2];
    let rendered = module.render_feature(&sampled, values, ExampleLayout::default(), phraser);
    let written = gherkin::write(&rendered.feature)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}", module.file));
    let read = gherkin::parse(&written)
        .unwrap_or_else(|problem| panic!("{}: {name}: {problem:?}\n{written}", module.file));
    assert_eq!(gherkin::write(&read).ok().as_ref(), Some(&written));
    read_alike(&written);
    // The rest of the description is the function's own docstring, so it is not checked.
    let steps = sentences(&written);
    let scenario = steps.iter().position(|line| line.starts_with("Scenario"));
    let (description, steps) = steps.split_at(scenario.unwrap_or(steps.len()));
    let must_hold = description
        .iter()
        .filter(|line| line.starts_with("This must hold for "));
    let steps: Vec<&str> = must_hold.chain(steps).copied().collect();
    assert!(!steps.is_empty(), "{}: {name}:\n{written}", module.file);
    for step in &steps {
        if let Some(fault) = fault(step, words) {
            sweep
                .faults
                .push(format!("{}: {name}: {fault}:\n    {step}", module.file));
        }
    }
    sweep.functions += 1;
    sweep.given += usize::from(property.is_given);
    sweep.sentences += steps.len();
    sweep.leaks += steps
        .iter()
        .map(|step| measure::count_leaks(step))
        .sum::<usize>();
}

#[test]
#[allow(
    clippy::print_stdout,
    reason = "a sweep over everything reports how much that was"
)]
fn whatever_asserts_something_can_be_told() {
    let paths = installed();
    if paths.is_empty() {
        return;
    }
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
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
        let Ok(module) = PropertyModule::parse(&path.to_string_lossy(), &text) else {
            continue;
        };
        let words = words_of_names(&text);
        for name in names {
            check_function(&module, &name, &words, &phraser, &mut sweep);
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
