//! One test for each rule of counterexamples (X).

use expect_test::expect;

use super::*;
use crate::gherkin;
use crate::idiom::Vocabulary;
use crate::phrase::Phraser;
use crate::property::{PropertyModule, ValuePlacement};
use crate::sample::{SampleArgument, SampleCase};
use crate::steps::{self, FeatureRunner};
use crate::value::PythonValue;

fn module(body: &str) -> PropertyModule {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("import shop\ndef prop_small(n, m):\n{body}");
    PropertyModule::parse("test_things.py", &text).expect("Python")
}

/// The scenario of a property that fails for n = 3 and m = 4.
fn of_property(
    body: &str,
    observation: &FailureObservation,
    style: CounterexampleStyle,
) -> (Vec<String>, RenderedCounterexample) {
    let module = module(body);
    let property = module.property("prop_small").expect("a property");
    let case = SampleCase::of(vec![
        SampleArgument::new("n", PythonValue::integer(3)),
        SampleArgument::new("m", PythonValue::integer(4)),
    ]);
    let vocabulary = Vocabulary::default();
    let phraser = Phraser::new(&vocabulary);
    let found = module.counterexample(
        &property,
        &case,
        observation,
        style,
        ValuePlacement::Named,
        &phraser,
    );
    let text = gherkin::write(&found.rendered.feature).expect("every parser reads it");
    let lines = text
        .lines()
        .skip_while(|line| !line.contains("@counterexample"))
        .map(|line| line.trim().to_owned());
    (lines.filter(|line| !line.is_empty()).collect(), found)
}

fn failed(line: usize) -> FailureObservation {
    FailureObservation {
        failed: line,
        ..FailureObservation::default()
    }
}

fn of_harness(steps: &[&str], violation: FailureCause, names: &str) -> (Vec<String>, String) {
    let mut vocabulary = Vocabulary::default();
    vocabulary.add(names).expect("names");
    let phraser = Phraser::new(&vocabulary);
    let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
    let failing = FailedTest {
        harness: "avl_tree",
        comment: &["A tree".to_owned(), "of numbers.".to_owned()],
        pools: &["int".to_owned(), "tree".to_owned(), "list".to_owned()],
        steps: &steps,
        cause: violation,
        code: None,
    };
    let found = failing.render(&phraser);
    let text = gherkin::write(&found.rendered.feature).expect("every parser reads it");
    let lines = text
        .lines()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty());
    (lines.collect(), found.diagram.write())
}

#[test]
fn x1_tag_and_name() {
    let (lines, _) = of_property("assert n > m", &failed(2), CounterexampleStyle::Expected);
    assert_eq!(
        lines[..2],
        ["@counterexample", "Scenario: Small - counterexample"]
    );
}

#[test]
fn x2_what_is_expected_observed_and_known() {
    let observation = FailureObservation {
        failed: 4,
        error: None,
        values: vec![
            ("price".to_owned(), PythonValue::integer(9)),
            ("x".to_owned(), PythonValue::text("a")),
            ("n".to_owned(), PythonValue::integer(3)),
        ],
        contrast: vec![Contrast::Always {
            name: "m".to_owned(),
        }],
    };
    let body = "price = shop.price(n)\nx = shop.name(m)\nassert price < m";
    let (lines, _) = of_property(body, &observation, CounterexampleStyle::Expected);
    assert_eq!(
        lines[2..7],
        [
            "Expected: price is less than m.",
            "Observed: price is at least m.",
            "Price is the number 9.",
            "x is the text \"a\".",
            "It happens for any other value of m as well.",
        ]
    );
}

#[test]
fn x2_an_exception_instead_of_a_failed_check() {
    let observation = FailureObservation {
        failed: 2,
        error: Some("KeyError".to_owned()),
        ..FailureObservation::default()
    };
    let (lines, found) = of_property(
        "assert shop.price(n) < m",
        &observation,
        CounterexampleStyle::Expected,
    );
    assert_eq!(
        lines[2..],
        [
            "Expected: no error is raised.",
            "Observed: the last step fails with the error \"key error\".",
            "Given I have the number 3, called n",
            "And I have the number 4, called m",
            "When I call \"price\" with n",
        ]
    );
    let diagram = found.diagram.write();
    assert!(
        diagram.contains("P0->>P1: price with n = 3\n    P1--xP0: error \"key error\"\n"),
        "{diagram}"
    );
    let (lines, _) = of_property(
        "assert shop.price(n) < m",
        &observation,
        CounterexampleStyle::Observed,
    );
    assert_eq!(
        lines[6..],
        [
            "When I try to call \"price\" with n",
            "Then it fails with the error \"key error\""
        ]
    );
}

#[test]
fn x3_checks_behind_the_failed_one_are_left_out() {
    let body = "assert n < m and n > m and n == m\nassert m";
    let (lines, _) = of_property(body, &failed(3), CounterexampleStyle::Expected);
    assert_eq!(
        lines[lines.len() - 2..],
        ["Then n is less than m", "And n is greater than m"]
    );
}

#[test]
fn x4_the_bug_as_it_should_be_or_as_it_is() {
    let (lines, found) = of_property("assert n > m", &failed(2), CounterexampleStyle::Observed);
    assert_eq!(
        lines.last().map(String::as_str),
        Some("Then n is at most m")
    );
    let check = found
        .rendered
        .definitions
        .last()
        .and_then(|definition| definition.code.check.clone());
    assert_eq!(check.as_deref(), Some("not (v[\"n\"] > v[\"m\"])"));
}

#[test]
fn x5_a_harness_gives_name_and_description() {
    let steps = ["int0 = 5", "tree0 = avl.AVLTree()", "tree0.insert(int0)"];
    let (lines, _) = of_harness(
        &steps,
        FailureCause::Check("tree0.is_balanced()".to_owned()),
        "",
    );
    assert_eq!(
        lines,
        [
            "Feature: Avl tree",
            "A tree of numbers.",
            "@counterexample",
            "Scenario: Counterexample with 2 steps",
            "Given I have a new AVL tree, called tree0",
            "When I call \"insert\" on tree0 with 5",
            "Then tree0 is balanced",
        ]
    );
}

#[test]
fn x6_scalars_are_written_where_they_are_used() {
    let steps = [
        "int0 = 5",
        "tree0 = avl.AVLTree()",
        "tree0.insert(int0)",
        "int0 = -7",
        "list0 = []",
        "tree0.insert(int0)",
        "tree1 = avl.AVLTree()",
        "int1 = tree0.take(\"a\")",
        "tree1.insert(int1)",
    ];
    let (lines, _) = of_harness(&steps, FailureCause::Check("int1 < int0".to_owned()), "");
    assert_eq!(
        lines[4..],
        [
            "Given I have a new AVL tree, called tree0",
            "When I call \"insert\" on tree0 with 5",
            "And I make the empty list, called list0",
            "And I call \"insert\" on tree0 with -7",
            "And I make a new AVL tree, called tree1",
            "And I call \"take\" on tree0 with \"a\", giving int1",
            "And I call \"insert\" on tree1 with int1",
            "Then int1 is less than -7",
        ]
    );
}

#[test]
fn x6_stored_form_says_the_same() {
    let stored = [
        "self.p_int[0] = 5",
        "self.p_tree[1] = avl.AVLTree()",
        "self.p_tree[1].insert(self.p_int[0])",
    ];
    let pretty = ["int0 = 5", "tree1 = avl.AVLTree()", "tree1.insert(int0)"];
    let violation = || FailureCause::Error(Some("KeyError".to_owned()));
    assert_eq!(
        of_harness(&stored, violation(), ""),
        of_harness(&pretty, violation(), "")
    );
}

#[test]
fn x7_what_was_violated() {
    let steps = ["int0 = 5", "tree0 = avl.AVLTree()", "tree0.insert(int0)"];
    let last = |violation| of_harness(&steps, violation, "").0.split_off(5);
    assert_eq!(
        last(FailureCause::Error(Some("KeyError".to_owned()))),
        [
            "When I try to call \"insert\" on tree0 with 5",
            "Then no error is raised"
        ]
    );
    assert_eq!(
        last(FailureCause::Reference)[1],
        "Then the answer to \"insert\" is the same as that of the reference"
    );
    let check =
        "len(tree0.listing()) == pre<(len(tree0.listing()))> + 1 or pre<(tree0.contains(int0))>";
    assert_eq!(
        last(FailureCause::Check(check.to_owned()))[1],
        "Then the number of elements in the result of \"listing\" on tree0 is one more than before, unless \"contains\" held for tree0 with 5 before the step"
    );
}

#[test]
fn x8_slots_are_called_as_the_names_file_calls_their_pool() {
    let steps = [
        "tree0 = avl.AVLTree()",
        "tree1 = avl.AVLTree()",
        "tree1.join(tree0)",
    ];
    let names = "[names]\ntree = search tree\n";
    let (lines, diagram) = of_harness(
        &steps,
        FailureCause::Check("tree1.is_balanced()".to_owned()),
        names,
    );
    assert_eq!(
        lines[4..],
        [
            "Given I have a new AVL tree, called search tree 1",
            "And I have a new AVL tree, called search tree 2",
            "When I call \"join\" on search tree 2 with search tree 1",
            "Then search tree 2 is balanced",
        ]
    );
    assert!(
        diagram.contains(
            "participant P2 as search tree 2 (AVL tree)\n    P0->>P2: join search tree 1\n"
        ),
        "{diagram}"
    );
}

#[test]
fn steps_that_cannot_be_read_are_shown_as_they_are() {
    let (lines, _) = of_harness(&["def", "x ="], FailureCause::Error(None), "");
    assert_eq!(lines[4], "When the Python statement \"def\" is carried out");
}

#[test]
fn s2_what_steps_do_stands_between_the_lines() {
    let vocabulary = Vocabulary::default();
    let taken = [
        "tree0 = avl.Tree()",
        "<<RESTART>>",
        "int0 = 3",
        "tree0 = avl.Tree()",
        "tree0.insert(int0)",
    ];
    let taken = taken.map(str::to_owned);
    let code = |lines: &[&str]| {
        lines
            .iter()
            .map(|line| (*line).to_owned())
            .collect::<Vec<_>>()
    };
    let acts = TestCode {
        before: code(&["avl.prepare()"]),
        steps: vec![
            code(&["tree0 = avl.Tree()"]),
            code(&["importlib.reload(avl)"]),
            code(&["int0 = 3"]),
            code(&["tree0 = avl.Tree()"]),
            code(&["tree0.insert(int0)"]),
        ],
        check: vec![],
        last: code(&["avl.clean()"]),
    };
    let failing = FailedTest {
        harness: "avl_tree",
        comment: &[],
        pools: &["int".to_owned(), "tree".to_owned()],
        steps: &taken,
        cause: FailureCause::Error(Some("KeyError".to_owned())),
        code: Some(&acts),
    };
    let found = failing.render(&Phraser::new(&vocabulary));
    let files = steps::write_scenarios(
        FeatureRunner::PytestBdd,
        "avl.feature",
        "import avl\n",
        &found.rendered.scenarios,
    );
    let text = &files[0].text;
    let start = text.find("def play").expect("a function");
    let end = text.find("\n\ndef go_on").expect("the rest");
    expect![[r#"
        def play_counterexample_with_4_steps():
            """Counterexample with 4 steps: each `yield` waits for the next line, and brings the values in it."""
            try:
                avl.prepare()
                yield  # Given I have a new tree, called tree0
                tree0 = avl.Tree()
                yield  # When I start everything again
                importlib.reload(avl)
                int0 = 3
                yield  # When I make a new tree, called tree0
                tree0 = avl.Tree()
                [int0] = yield  # When I try to call "insert" on tree0 with 3
                failure = None
                try:
                    tree0.insert(int0)
                except Exception as error:
                    failure = error
                yield  # Then no error is raised
                if failure is not None:
                    raise failure
            finally:
                avl.clean()


        # What the lines say, and where in them are values (`...`).
        PLAYS = {
            "Counterexample with 4 steps": (
                play_counterexample_with_4_steps,
                [
                    ("given", "I have a new tree, called tree0"),
                    ("when", "I start everything again"),
                    ("when", "I make a new tree, called tree0"),
                    ("when", "I try to call \"insert\" on tree0 with ", ...),
                    ("then", "no error is raised"),
                ],
            ),
        }
    "#]]
    .assert_eq(&text[start..end]);
}
