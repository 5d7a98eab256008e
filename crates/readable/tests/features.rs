//! Worked examples of properties as features, compared letter by letter.

use crate::parsers;

use parsers::read_alike;
use testwright_readable::counterexample::{Contrast, CounterexampleStyle, FailureObservation};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{
    ExampleLayout, PropertyModule, SampledProperty, ValuePlacement,
};
use testwright_readable::sample::{SampleArgument, SampleCase};
use testwright_readable::value::PythonValue;

const LISTS: &str = include_str!("features/test_lists.py");
const BANK: &str = include_str!("features/test_bank_account.py");

fn numbers(numbers: &[i64]) -> PythonValue {
    PythonValue::List(
        numbers
            .iter()
            .map(|number| PythonValue::integer(*number))
            .collect(),
    )
}

fn lists_case(n: i64, xs: &[i64]) -> SampleCase {
    SampleCase::of(vec![
        SampleArgument::new("n", PythonValue::integer(n)),
        SampleArgument::new("xs", numbers(xs)),
    ])
}

fn lists(values: ValuePlacement, layout: ExampleLayout) -> String {
    let module = PropertyModule::parse("test_lists.py", LISTS).expect("Python");
    let properties = module.properties();
    let cases = vec![lists_case(0, &[]), lists_case(13, &[6, 13, 11])];
    let sampled = [SampledProperty::new(&properties[0], cases)];
    let vocabulary = Vocabulary::default();
    let rendered = module.render_feature(&sampled, values, layout, &Phraser::new(&vocabulary));
    gherkin::write(&rendered.feature).expect("every parser reads it")
}

/// Returns the text from the first line that begins with these words.
fn from(text: &str, beginning: &str) -> String {
    let lines = text
        .split_inclusive('\n')
        .skip_while(|line| !line.trim_start().starts_with(beginning));
    lines.collect()
}

#[test]
fn example_1_named() {
    assert_eq!(
        lists(ValuePlacement::Named, ExampleLayout::Scenarios),
        include_str!("features/lists.feature")
    );
}

#[test]
fn example_1_inline() {
    let text = lists(ValuePlacement::Inline, ExampleLayout::Scenarios);
    assert_eq!(
        from(&text, "Scenario: Delete - example 2"),
        include_str!("features/lists.inline.txt")
    );
}

#[test]
fn example_1_outline() {
    let text = lists(ValuePlacement::Named, ExampleLayout::Outline);
    assert_eq!(
        from(&text, "Scenario Outline:"),
        include_str!("features/lists.outline.txt")
    );
}

#[test]
fn example_3() {
    let module = PropertyModule::parse("test_bank_account.py", BANK).expect("Python");
    let properties = module.properties();
    let case = |balance, amount| {
        SampleCase::of(vec![
            SampleArgument::new("balance", PythonValue::integer(balance)),
            SampleArgument::new("amount", PythonValue::integer(amount)),
        ])
    };
    let sampled = [
        SampledProperty::new(&properties[0], vec![case(5, 5), case(90, 1)]),
        SampledProperty::new(&properties[1], vec![case(0, 1)]),
    ];
    let vocabulary = Vocabulary::default();
    let rendered = module.render_feature(
        &sampled,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &Phraser::new(&vocabulary),
    );
    let text = gherkin::write(&rendered.feature).expect("every parser reads it");
    assert_eq!(text, include_str!("features/bank_account.feature"));
}

#[test]
fn example_4_in_both_styles_and_as_a_diagram() {
    let module = PropertyModule::parse("test_lists.py", LISTS).expect("Python");
    let properties = module.properties();
    let observation = FailureObservation {
        failed: 3,
        error: None,
        values: vec![("the result".to_owned(), numbers(&[7]))],
        contrast: vec![Contrast::NotWhen {
            name: "xs".to_owned(),
            value: numbers(&[7]),
        }],
    };
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let case = lists_case(7, &[7, 7]);
    let render_counterexample = |style| {
        module.counterexample(
            &properties[0],
            &case,
            &observation,
            style,
            ValuePlacement::Named,
            &phraser,
        )
    };
    let expected = render_counterexample(CounterexampleStyle::Expected);
    let text = gherkin::write(&expected.rendered.feature).expect("every parser reads it");
    assert_eq!(text, include_str!("features/delete.counterexample.feature"));
    assert_eq!(
        expected.diagram.write(),
        include_str!("features/delete.counterexample.mmd")
    );

    let observed = gherkin::write(
        &render_counterexample(CounterexampleStyle::Observed)
            .rendered
            .feature,
    )
    .expect("every parser reads it");
    let (same, last) = text.trim_end().rsplit_once('\n').expect("lines");
    assert_eq!(last.trim(), "Then n is not in the result");
    assert_eq!(observed, format!("{same}\n      Then n is in the result\n"));
}

#[test]
fn q10_and_trap_2_the_crate_reads_all_features_alike() {
    for values in [ValuePlacement::Named, ValuePlacement::Inline] {
        for layout in [ExampleLayout::Scenarios, ExampleLayout::Outline] {
            read_alike(&lists(values, layout));
        }
    }
    read_alike(include_str!("features/bank_account.feature"));
    read_alike(include_str!("features/delete.counterexample.feature"));
    // The `gherkin` crate takes every docstring for a description.
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
        let module = PropertyModule::parse("test_words.py", &module).expect("Python");
        let properties = module.properties();
        let case = SampleCase::of(vec![SampleArgument::new("n", PythonValue::integer(1))]);
        let vocabulary = Vocabulary::default();
        let phraser = Phraser::new(&vocabulary);
        let sampled = [SampledProperty::new(&properties[0], vec![case])];
        let rendered = module.render_feature(
            &sampled,
            ValuePlacement::Named,
            ExampleLayout::Scenarios,
            &phraser,
        );
        read_alike(&gherkin::write(&rendered.feature).expect("every parser reads it"));
    }
}
