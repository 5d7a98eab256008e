use super::*;
use crate::idiom::Vocabulary;
use crate::phrase::Phraser;
use crate::property::{ExampleLayout, PropertyModule, SampledProperty, ValuePlacement};
use crate::sample::{SampleArgument, SampleCase};
use crate::value::PythonValue;

const MODULE: &str = r#"
from hypothesis import given, strategies as st
from shop import Basket, total

@given(n=st.integers(), name=st.text())
def test_add(n, name):
    basket = Basket(n)
    before = basket.size
    basket.add(name)
    assert basket.size == before + 1 and total(basket) > 0

@given(n=st.integers())
def test_refuse(n):
    with raises(ValueError, match="too many"):
        total(n)
"#;

fn rendered(values: ValuePlacement) -> RenderedFeature {
    let module = PropertyModule::parse("tests/test_shop.py", MODULE).expect("Python");
    let properties = module.properties();
    let n = || SampleArgument::new("n", PythonValue::integer(3));
    let sampled = [
        SampledProperty::new(
            &properties[0],
            vec![SampleCase::of(vec![
                n(),
                SampleArgument::new("name", PythonValue::text("a")),
            ])],
        ),
        SampledProperty::new(&properties[1], vec![SampleCase::of(vec![n()])]),
    ];
    let vocabulary = Vocabulary::default();
    module.render_feature(
        &sampled,
        values,
        ExampleLayout::Scenarios,
        &Phraser::new(&vocabulary),
    )
}

fn target() -> StepModule {
    StepModule {
        feature: "shop.feature".to_owned(),
        module: "tests.test_shop".to_owned(),
        folder: "..".to_owned(),
        store: "v",
    }
}

fn files(runner: FeatureRunner, values: ValuePlacement) -> Vec<GeneratedFile> {
    let files = write_step_files(runner, &rendered(values), &target());
    for file in &files {
        assert_eq!(
            testwright_source::check_module(&file.text),
            [],
            "{}",
            file.path
        );
    }
    files
}

fn has(file: &GeneratedFile, code: &str) {
    assert!(file.text.contains(code), "{code}\nis not in\n{}", file.text);
}

#[test]
fn s1_one_generic_step_lists_the_kinds_that_can_be_read_back() {
    for runner in [FeatureRunner::Behave, FeatureRunner::PytestBdd] {
        let files = files(runner, ValuePlacement::Named);
        has(
            &files[0],
            r#"HAVE = r"I have (?P<phrase>nothing|the (?:empty|numbers|" + "|".join(KINDS) + r")\b.*)""#,
        );
        has(&files[0], r#"HAVE + ", called (?P<name>.+)""#);
        assert!(!files[0].text.contains("I have the number 3"));
    }
}

#[test]
fn s2_every_other_text_is_a_step_with_the_code_it_was_made_from() {
    let files = files(FeatureRunner::Behave, ValuePlacement::Named);
    has(
        &files[0],
        "@step(\"given\", literal(\"I have a new basket made from n, called basket\"))",
    );
    has(
        &files[0],
        "    v[\"basket\"] = test_shop.Basket(v[\"n\"])\n",
    );
    has(
        &files[0],
        "assert test_shop.total(v[\"basket\"]) > 0, seen(v, \"basket\")",
    );
    has(&files[0], "import tests.test_shop as test_shop");
    has(&files[0], "\"../..\"))");
}

#[test]
fn s3_and_trap_3_behave_gets_no_anchors_and_the_generic_step_last() {
    let files = files(FeatureRunner::Behave, ValuePlacement::Named);
    assert_eq!(files[0].path, "steps/shop_steps.py");
    assert_eq!(files[1].path, "environment.py");
    let text = &files[0].text;
    let generic = text.find("def step_have").expect("the generic step");
    assert!(
        text.match_indices("@step(")
            .all(|(position, _)| position < generic)
    );
    assert!(!text.contains("literal(\"^") && !text.contains("$\")"));
    has(&files[0], "FEATURE = \"shop.feature\"");
}

#[test]
fn s3_pytest_bdd_has_a_module_for_each_feature_and_plain_texts() {
    let files = files(FeatureRunner::PytestBdd, ValuePlacement::Named);
    assert_eq!(files[0].path, "test_shop_feature.py");
    has(&files[0], "scenarios(\"shop.feature\")");
    has(
        &files[0],
        "@when(\"I call \\\"add\\\" on basket with name\")\n",
    );
}

#[test]
fn s4_attempts_keep_their_error() {
    let files = files(FeatureRunner::Behave, ValuePlacement::Named);
    has(
        &files[0],
        "    attempt(v, lambda: test_shop.total(v[\"n\"]))\n",
    );
    has(&files[0], "    fails(v, ValueError, \"too many\")\n");
}

#[test]
fn s5_earlier_values_are_kept_before_something_is_done() {
    let files = files(FeatureRunner::Behave, ValuePlacement::Named);
    has(
        &files[0],
        "    remember(v, \"earlier before\", lambda: v[\"basket\"].size)\n    v[\"basket\"].add(v[\"name\"])\n",
    );
    has(
        &files[0],
        "assert v[\"basket\"].size == v[\"earlier before\"] + 1",
    );
}

#[test]
fn s6_lines_with_values_must_agree_with_those_that_were_given() {
    for runner in [FeatureRunner::Behave, FeatureRunner::PytestBdd] {
        let files = files(runner, ValuePlacement::Inline);
        has(&files[0], "    name_inputs(v, \"n\", \"name\")\n");
        has(
            &files[0],
            "    read_along(line, [(\"I call \\\"add\\\" on basket with \", None), (None, \"name\")], v)\n",
        );
        has(
            &files[0],
            "\"(?P<line>\" + re.escape(\"I call \\\"add\\\" on basket with \") + \".+\" + \")\"",
        );
        has(
            &files[0],
            "setdefault(\"_given\", []).append(read_phrase(phrase))",
        );
    }
}

#[test]
fn s7_tags_are_registered_with_pytest() {
    let text = pytest_ini(&[rendered(ValuePlacement::Named).feature]);
    assert_eq!(
        text,
        "[pytest]\nmarkers =\n    property: features written from properties\n"
    );
}

#[test]
fn one_text_may_do_different_things_in_different_scenarios() {
    let text = "
from hypothesis import given, strategies as st
import one, two

@given(n=st.integers())
def test_a(n):
    assert one.half(n) < n

@given(n=st.integers())
def test_b(n):
    assert two.half(n) < n
";
    let module = PropertyModule::parse("test_halves.py", text).expect("Python");
    let properties = module.properties();
    let case = SampleCase::of(vec![SampleArgument::new("n", PythonValue::integer(3))]);
    let sampled: Vec<SampledProperty<'_>> = properties
        .iter()
        .map(|property| SampledProperty::new(property, vec![case.clone()]))
        .collect();
    let vocabulary = Vocabulary::default();
    let rendered = module.render_feature(
        &sampled,
        ValuePlacement::Named,
        ExampleLayout::Scenarios,
        &Phraser::new(&vocabulary),
    );
    let files = write_step_files(FeatureRunner::Behave, &rendered, &target());
    has(
        &files[0],
        "    if context.scenario.name.startswith((\"A - example 1\",)):\n        v[\"the result\"] = test_halves.one.half(v[\"n\"])\n",
    );
    has(
        &files[0],
        "    elif context.scenario.name.startswith((\"B - example 1\",)):\n",
    );
}
