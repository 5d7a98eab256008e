//! Features as read by another parser, the crate `gherkin`. The other three parsers in use are
//! Python's; the tests of the command run them (`python/tests/feature_runners.py`).

use testwright_readable::gherkin::{
    self, DataTable, Scenario, ScenarioStep, StepArgument, StepKeyword,
};

/// Fails unless the crate reads a feature as we do.
pub(crate) fn read_alike(text: &str) {
    let ours = gherkin::parse(text).unwrap_or_else(|problem| panic!("{problem:?}\n{text}"));
    let theirs = ::gherkin::Feature::parse(text, ::gherkin::GherkinEnv::default())
        .unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    assert_eq!(theirs.name, ours.name, "{text}");
    assert_eq!(theirs.tags, ours.tags, "{text}");
    assert_eq!(theirs.scenarios.len(), ours.scenarios.len(), "{text}");
    assert_eq!(theirs.rules.len(), ours.rules.len(), "{text}");
    let rules = theirs.rules.iter().zip(&ours.rules);
    let in_rules = rules.flat_map(|(theirs, ours)| {
        assert_eq!(theirs.name, ours.name, "{text}");
        assert_eq!(theirs.scenarios.len(), ours.scenarios.len(), "{text}");
        theirs.scenarios.iter().zip(&ours.scenarios)
    });
    for (theirs, ours) in theirs.scenarios.iter().zip(&ours.scenarios).chain(in_rules) {
        scenario(theirs, ours, text);
    }
}

fn scenario(theirs: &::gherkin::Scenario, ours: &Scenario, text: &str) {
    assert_eq!(theirs.name, ours.name, "{text}");
    assert_eq!(theirs.tags, ours.tags, "{text}");
    let read: Vec<String> = theirs
        .steps
        .iter()
        .map(|step| their_step(step, text))
        .collect();
    let meant: Vec<String> = ours.steps.iter().map(our_step).collect();
    assert_eq!(read, meant, "{text}");
    let tables: Vec<Vec<Vec<String>>> = theirs
        .examples
        .iter()
        .filter_map(|examples| Some(examples.table.as_ref()?.rows.clone()))
        .collect();
    let meant: Vec<Vec<Vec<String>>> = ours.examples.iter().map(rows).collect();
    assert_eq!(tables, meant, "{text}");
}

fn their_step(step: &::gherkin::Step, text: &str) -> String {
    let keyword = match step.ty {
        ::gherkin::StepType::Given => "Given",
        ::gherkin::StepType::When => "When",
        ::gherkin::StepType::Then => "Then",
    };
    assert_ne!(step.value, "", "{text}");
    let below = match (&step.docstring, &step.table) {
        (Some(lines), _) => lines.trim_matches('\n').to_owned(),
        (None, Some(table)) => format!("{:?}", table.rows),
        (None, None) => String::new(),
    };
    format!("{keyword} {}{below}", step.value)
}

fn our_step(step: &ScenarioStep) -> String {
    let keyword = match step.keyword {
        StepKeyword::Given => "Given",
        StepKeyword::When => "When",
        StepKeyword::Then => "Then",
    };
    let below = match &step.argument {
        Some(StepArgument::Text(lines)) => lines.trim_matches('\n').to_owned(),
        Some(StepArgument::Table(table)) => format!("{:?}", rows(table)),
        None => String::new(),
    };
    format!("{keyword} {}{below}", step.text)
}

fn rows(table: &DataTable) -> Vec<Vec<String>> {
    let mut rows = vec![table.headings.clone()];
    rows.extend(table.rows.iter().cloned());
    rows
}
