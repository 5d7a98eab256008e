//! Limits: long chains and deep nesting that the parser accepts can be phrased without overflowing
//! the stack or taking very long.

use testwright_readable::explain::{Options, explain};
use testwright_readable::gherkin;
use testwright_readable::idiom::Vocabulary;
use testwright_readable::phrase::Phraser;
use testwright_readable::property::{
    ExampleLayout, PropertyModule, SampledProperty, ValuePlacement,
};
use testwright_readable::render;
use testwright_readable::sample::{SampleArgument, SampleCase};
use testwright_readable::term::{EmptyScope, Term};
use testwright_readable::value::PythonValue;
use testwright_source::tree;

fn longest_phrase(text: &str) -> usize {
    let expression = tree::expression(text).unwrap_or_else(|problems| panic!("{problems:?}"));
    let term = Term::from_expression(&expression, text, &EmptyScope);
    let mut vocabulary = Vocabulary::default();
    vocabulary
        .add("[idiom sum]\nkind = value\nmatch = $a + $b + 1\nsay = {a} and {b} and one\n")
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    let phraser = Phraser::new(&vocabulary);
    let phrases = [
        phraser.noun(&term).text,
        phraser.clause(&term),
        phraser.negative(&term),
    ];
    phrases.iter().map(String::len).max().unwrap_or_default()
}

#[test]
fn long_chains() {
    for link in [
        " + x", " - [x]", " and x", " or x", " == x", " < x", ".strip()", "[0]", "[1:]", ".y",
        "(x)",
    ] {
        // Some links are two operators for the parser, which accepts a thousand.
        let chain = format!("x{}", link.repeat(450));
        assert!(longest_phrase(&chain) < 1_000_000, "{link}");
    }
}

#[test]
fn deep_nesting() {
    for (open, close) in [
        ("(", " or y)"),
        ("not (", " and y)"),
        ("(", " and f(y) or z)"),
        ("f(", ")"),
        ("[", ", y]"),
        ("len(", ")"),
        ("sorted(", ") == y"),
        ("(y if (", ") else z)"),
        ("all(v for v in ", ")"),
        ("x[", "]"),
        ("(", ") + 1"),
    ] {
        let nested = format!("{}x{}", open.repeat(90), close.repeat(90));
        assert!(longest_phrase(&nested) < 1_000_000, "{open}…{close}");
    }
}

#[test]
fn the_longest_chain() {
    // A stack as large as that of a main thread. A test's thread has less, and debug builds take
    // more.
    let work = || longest_phrase(&format!("x{}", " + x".repeat(990)));
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(work);
    assert_ne!(thread.ok().and_then(|thread| thread.join().ok()), None);
}

#[test]
fn locals_that_are_made_of_locals() {
    let updates = "    n = n + x\n".repeat(3_000);
    let model =
        format!("t = []\ndef act(x):\n    n = 0\n{updates}    t.append(n)\nactions = (act,)\n");
    let rendered =
        explain("model.py", &model, &Options::default()).unwrap_or_else(|_| panic!("{model}"));
    let text = render::text(&rendered.document);
    assert!(text.contains(" means "), "{text}");
    let longest = text.lines().map(str::len).max();
    assert!(longest < Some(2_000), "{longest:?}");
}

fn rendered(model: &str) -> String {
    let rendered = explain("model.py", model, &Options::default())
        .unwrap_or_else(|problem| panic!("{problem:?}"));
    render::text(&rendered.document)
}

#[test]
fn many_changes_in_a_row() {
    let changes = "    t.append(x)\n    n += 1\n    m = m + n\n".repeat(1_000);
    let model = format!(
        "t = []\nn = m = 0\ndef act(x):\n    global n, m\n{changes}state = ('t', 'n', 'm')\nactions = (act,)\n"
    );
    let text = rendered(&model);
    assert_eq!(text.matches("goes up by 1.").count(), 1_000, "{text:.2000}");
}

#[test]
fn long_tables_of_cases() {
    let case = |number: usize| format!("    elif x == {number}:\n        t = {number}\n");
    let cases: String = (1..=1_000).map(case).collect();
    let model = format!(
        "t = 0\ndef act(x):\n    global t\n    if x == 0:\n        t = 0\n{cases}state = ('t',)\nactions = (act,)\n"
    );
    let text = rendered(&model);
    assert_eq!(text.matches("Otherwise, if the given x is ").count(), 1_000);

    let case = |number: usize| format!("    elif x == {number}:\n        assert x < {number}\n");
    let cases: String = (1..=1_000).map(case).collect();
    let property = format!("def prop_act(x: int):\n    if x == 0:\n        assert x\n{cases}");
    let module = PropertyModule::parse("test_table.py", &property).expect("Python");
    let properties = module.properties();
    let case = SampleCase::of(vec![SampleArgument::new("x", PythonValue::integer(999))]);
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let sampled = [SampledProperty::new(&properties[0], vec![case])];
    let rendered = module.render_feature(
        &sampled,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &phraser,
    );
    let written = gherkin::write(&rendered.feature).expect("a feature");
    assert!(
        written.ends_with("    And x is 999\n      Then x is less than 999\n"),
        "{written:.500}"
    );
}

#[test]
fn locals_of_properties_that_are_made_of_locals() {
    let updates = "    n = n + x\n".repeat(1_000);
    let property = format!("def prop_sum(x: int):\n    n = 0\n{updates}    assert n == 1000 * x\n");
    let module = PropertyModule::parse("test_sums.py", &property).expect("Python");
    let properties = module.properties();
    let case = SampleCase::of(vec![SampleArgument::new("x", PythonValue::integer(2))]);
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let sampled = [SampledProperty::new(&properties[0], vec![case])];
    let rendered = module.render_feature(
        &sampled,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &phraser,
    );
    let written = gherkin::write(&rendered.feature).expect("a feature");
    let longest = written.lines().map(str::len).max();
    assert!(longest < Some(2_000), "{longest:?}");
}
