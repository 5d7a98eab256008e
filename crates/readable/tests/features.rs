//! The worked examples of properties as features, compared to the letter.

mod parsers;

use parsers::read_alike;
use testwright_readable::counterexample::{Contrast, Observation, Style};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Speaker;
use testwright_readable::property::{Layout, Sampled, Subject, Values};
use testwright_readable::sample::{Argument, Case};
use testwright_readable::value::Value;

const LISTS: &str = include_str!("features/test_lists.py");
const BANK: &str = include_str!("features/test_bank_account.py");

fn numbers(numbers: &[i64]) -> Value {
    Value::List(
        numbers
            .iter()
            .map(|number| Value::integer(*number))
            .collect(),
    )
}

fn lists_case(n: i64, xs: &[i64]) -> Case {
    Case::of(vec![
        Argument::new("n", Value::integer(n)),
        Argument::new("xs", numbers(xs)),
    ])
}

fn lists(values: Values, layout: Layout) -> String {
    let subject = Subject::read("test_lists.py", LISTS).expect("Python");
    let properties = subject.properties();
    let cases = vec![lists_case(0, &[]), lists_case(13, &[6, 13, 11])];
    let sampled = [Sampled::new(&properties[0], cases)];
    let vocabulary = Vocabulary::default();
    let told = subject.tell(&sampled, values, layout, &Speaker::new(&vocabulary));
    gherkin::write(&told.feature).expect("every parser reads it")
}

/// From a line on that begins with these words.
fn from(text: &str, beginning: &str) -> String {
    let lines = text
        .split_inclusive('\n')
        .skip_while(|line| !line.trim_start().starts_with(beginning));
    lines.collect()
}

#[test]
fn example_1_named() {
    assert_eq!(
        lists(Values::Named, Layout::Scenarios),
        include_str!("features/lists.feature")
    );
}

#[test]
fn example_1_inline() {
    let text = lists(Values::Inline, Layout::Scenarios);
    assert_eq!(
        from(&text, "Scenario: Delete - example 2"),
        include_str!("features/lists.inline.txt")
    );
}

#[test]
fn example_1_outline() {
    let text = lists(Values::Named, Layout::Outline);
    assert_eq!(
        from(&text, "Scenario Outline:"),
        include_str!("features/lists.outline.txt")
    );
}

#[test]
fn example_3() {
    let subject = Subject::read("test_bank_account.py", BANK).expect("Python");
    let properties = subject.properties();
    let case = |balance, amount| {
        Case::of(vec![
            Argument::new("balance", Value::integer(balance)),
            Argument::new("amount", Value::integer(amount)),
        ])
    };
    let sampled = [
        Sampled::new(&properties[0], vec![case(5, 5), case(90, 1)]),
        Sampled::new(&properties[1], vec![case(0, 1)]),
    ];
    let vocabulary = Vocabulary::default();
    let told = subject.tell(
        &sampled,
        Values::Named,
        Layout::Scenarios,
        &Speaker::new(&vocabulary),
    );
    let text = gherkin::write(&told.feature).expect("every parser reads it");
    assert_eq!(text, include_str!("features/bank_account.feature"));
}

#[test]
fn example_4_in_both_styles_and_as_a_diagram() {
    let subject = Subject::read("test_lists.py", LISTS).expect("Python");
    let properties = subject.properties();
    let observation = Observation {
        failed: 3,
        error: None,
        values: vec![("the result".to_owned(), numbers(&[7]))],
        contrast: vec![Contrast::NotWhen {
            name: "xs".to_owned(),
            value: numbers(&[7]),
        }],
    };
    let vocabulary = Vocabulary::default();
    let speaker = Speaker::new(&vocabulary);
    let case = lists_case(7, &[7, 7]);
    let tell = |style| {
        subject.counterexample(
            &properties[0],
            &case,
            &observation,
            style,
            Values::Named,
            &speaker,
        )
    };
    let expected = tell(Style::Expected);
    let text = gherkin::write(&expected.told.feature).expect("every parser reads it");
    assert_eq!(text, include_str!("features/delete.counterexample.feature"));
    assert_eq!(
        expected.diagram.write(),
        include_str!("features/delete.counterexample.mmd")
    );

    let observed =
        gherkin::write(&tell(Style::Observed).told.feature).expect("every parser reads it");
    let (same, last) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(last.trim(), "Then n is not in the result");
    assert_eq!(observed, format!("{same}\n      Then n is in the result\n"));
}

#[test]
fn q10_and_trap_2_the_crate_reads_all_features_alike() {
    for values in [Values::Named, Values::Inline] {
        for layout in [Layout::Scenarios, Layout::Outline] {
            read_alike(&lists(values, layout));
        }
    }
    read_alike(include_str!("features/bank_account.feature"));
    read_alike(include_str!("features/delete.counterexample.feature"));
    // Whatever a docstring begins with, the crate takes it for a description.
    for word in [
        "Rules",
        "Examples",
        "Scenario",
        "Background",
        "Feature",
        "Given",
        "But",
        "Ability",
        "* a",
        "| a",
        "@a",
        "# a",
        "\"\"\"",
        "```",
        "Business Need",
    ] {
        let module = format!(
            "'''{word} of the house.'''\n\ndef prop_a(n: int):\n    '''{word} of n.'''\n    assert n\n"
        );
        let subject = Subject::read("test_words.py", &module).expect("Python");
        let properties = subject.properties();
        let case = Case::of(vec![Argument::new("n", Value::integer(1))]);
        let vocabulary = Vocabulary::default();
        let speaker = Speaker::new(&vocabulary);
        let sampled = [Sampled::new(&properties[0], vec![case])];
        let told = subject.tell(&sampled, Values::Named, Layout::Scenarios, &speaker);
        read_alike(&gherkin::write(&told.feature).expect("every parser reads it"));
    }
}
