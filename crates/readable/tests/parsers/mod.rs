//! Features as another parser reads them: the crate `gherkin`, one of the four that people use. The other three are
//! Python's, and read what the tests of the command write (`python/tests/feature_runners.py`).

use testwright_readable::gherkin::{self, Argument, Keyword, Scenario, Step, Table};

/// Fails unless the crate reads a feature as we do.
pub(crate) fn read_alike(text: &str) {
    let ours = gherkin::read(text).unwrap_or_else(|problem| panic!("{problem:?}\n{text}"));
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

fn our_step(step: &Step) -> String {
    let keyword = match step.keyword {
        Keyword::Given => "Given",
        Keyword::When => "When",
        Keyword::Then => "Then",
    };
    let below = match &step.argument {
        Some(Argument::Text(lines)) => lines.trim_matches('\n').to_owned(),
        Some(Argument::Table(table)) => format!("{:?}", rows(table)),
        None => String::new(),
    };
    format!("{keyword} {}{below}", step.text)
}

fn rows(table: &Table) -> Vec<Vec<String>> {
    let mut rows = vec![table.headings.clone()];
    rows.extend(table.rows.iter().cloned());
    rows
}
