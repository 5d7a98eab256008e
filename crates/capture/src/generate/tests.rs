//! The whole pipeline from a recording to passing tests, with a real Python.

use std::fs;
use std::path::PathBuf;

use super::*;
use crate::inspect::FileFilter;
use crate::recording::{CodeUnit, Interaction, ProgramRun};
use crate::toys::CallBuilder;
use crate::validate::PythonRunner;

const SHOP: &str = "\
import random

seen = []


def double(number):
    return number * 2


def remember(name):
    seen.append(name)
    return len(seen)


def chance():
    return random.random()


def save(path):
    with open(path, 'w') as file:
        file.write('x')


def nothing():
    pass


class Cart:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, item):
        self.items.append(item)
";

fn generated(calls: Vec<CallBuilder>) -> GeneratedTests {
    generated_beside(calls, BTreeSet::new())
}

/// Generates tests where tests with these ids exist already.
fn generated_beside(calls: Vec<CallBuilder>, present: BTreeSet<String>) -> GeneratedTests {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("shop.py"), SHOP).expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let mut recording = Recording {
        executions: vec![ProgramRun::default()],
        ..Recording::default()
    };
    for made in calls {
        let unit = CodeUnit {
            module: "shop".to_owned(),
            file: "shop.py".to_owned(),
            line: 0,
            ..made.unit
        };
        let known = recording
            .units
            .iter()
            .position(|other| other.qualified_name == unit.qualified_name);
        let position = known.unwrap_or_else(|| {
            recording.units.push(unit);
            recording.units.len() - 1
        });
        let mut call = made.call;
        call.unit = UnitId(u32::try_from(position).expect("few units"));
        recording.calls.push(call);
    }
    let options = Options {
        modules: Vec::new(),
        style: TestFramework::Unittest,
        existing_ids: present,
    };
    let runner = PythonRunner {
        executable: PathBuf::from("python3"),
        style: TestFramework::Unittest,
        path: vec![folder.path().to_owned()],
        modules: vec!["shop".to_owned()],
    };
    generate(&recording, &project, &options, &runner).expect("tests were run")
}

/// Generates tests with classes of the tested module.
fn in_shop(mut made: CallBuilder) -> CallBuilder {
    use crate::recording::Receiver;
    use crate::value::{ImportPath, Value};
    let places: Vec<_> = made
        .call
        .values
        .iter()
        .map(|(place, node)| (place, node.clone()))
        .collect();
    for (place, mut node) in places {
        if let Value::Object(object) = &mut node.value {
            object.class = ImportPath::new("shop", object.class.path.clone());
            made.call.values.set(place, node);
        }
    }
    if let Receiver::Instance(class) = &mut made.call.receiver {
        class.module = "shop".to_owned();
    }
    made
}

fn doubled(given: i64, result: i64) -> CallBuilder {
    let mut made = CallBuilder::new("double");
    let (given, result) = (made.number(given), made.number(result));
    made.argument("number", given, given).returns(result)
}

fn outcomes(generated: &GeneratedTests) -> Vec<&TestOutcome> {
    generated
        .tests
        .iter()
        .map(|tested| &tested.outcome)
        .collect()
}

#[test]
fn a_passing_test_is_kept() {
    let found = generated(vec![doubled(2, 4)]);
    assert_eq!(
        outcomes(&found),
        [&TestOutcome::Written(Completeness::Full)]
    );
    assert_eq!(found.tests[0].test, "TestDouble::test_returns_4_for_2");
    assert_eq!(found.counts().full, 1);
    assert!(found.uncalled.contains(&"shop.Cart.add".to_owned()));
}

#[test]
fn a_test_that_fails_is_weakened_as_far_as_needed() {
    // It is an integer, but not that one.
    let found = generated(vec![doubled(2, 5)]);
    let [TestOutcome::Written(Completeness::Partial(_))] = outcomes(&found).as_slice() else {
        panic!("{found:?}");
    };
    let suite = found.suites.get("shop").expect("tests");
    let text = suite.classes[0].tests[0].lines.join("\n");
    assert!(text.contains("assertIsInstance(double(2), int)"), "{text}");
}

#[test]
fn a_test_that_fails_in_every_form_is_dropped() {
    let mut made = CallBuilder::new("double");
    let (given, result) = (made.number(2), made.text("four"));
    let found = generated(vec![made.argument("number", given, given).returns(result)]);
    assert!(
        matches!(outcomes(&found).as_slice(), [TestOutcome::Dropped(_)]),
        "{found:?}"
    );
    assert!(found.suites.is_empty());
}

#[test]
fn leaked_changes_are_restored() {
    let mut made = CallBuilder::new("remember");
    let (name, one) = (made.text("ann"), made.number(1));
    let found = generated(vec![made.argument("name", name, name).returns(one)]);
    assert_eq!(
        outcomes(&found),
        [&TestOutcome::Written(Completeness::Full)]
    );
    let suite = found.suites.get("shop").expect("tests");
    let text = suite.classes[0].tests[0].lines.join("\n");
    assert!(text.contains("copy.copy(shop.seen)"), "{text}");
}

#[test]
fn a_test_that_checks_nothing_is_counted_as_smoke_and_only_kept_if_there_is_no_other() {
    let found = generated(vec![CallBuilder::new("nothing")]);
    assert_eq!(
        outcomes(&found),
        [&TestOutcome::Written(Completeness::Smoke)]
    );
    assert_eq!((found.counts().full, found.counts().smoke), (0, 1));
}

#[test]
fn an_emptied_unit_makes_real_tests_fail() {
    let mut made = CallBuilder::new("Cart.add");
    let item = made.number(1);
    let owner = made.text("ann");
    let items = made.list(2, &[]);
    let before = made.object(1, "Cart", &[("owner", owner), ("items", items)]);
    let items = made.list(2, &[1]);
    let after = made.object(1, "Cart", &[("owner", owner), ("items", items)]);
    let made = made.on("Cart", before, after).argument("item", item, item);
    let found = generated(vec![in_shop(made)]);
    assert_eq!(
        outcomes(&found),
        [&TestOutcome::Written(Completeness::Full)],
        "{found:?}"
    );
}

#[test]
fn a_test_may_not_write_outside_of_its_folder() {
    let outside = tempfile::tempdir().expect("a folder");
    let target = outside.path().join("x.txt");
    let mut made = CallBuilder::new("save");
    let path = made.text(&target.to_string_lossy());
    // The recording lacks that the file is written.
    let found = generated(vec![made.argument("path", path, path)]);
    assert!(!target.exists());
    let [TestOutcome::Dropped(reason)] = outcomes(&found).as_slice() else {
        panic!("{found:?}");
    };
    assert!(reason.contains("may not write"), "{reason}");
}

#[test]
fn random_replies_are_replayed() {
    let mut made = CallBuilder::new("chance");
    let quarter = made.plain(crate::value::Value::Float(crate::value::ExactFloat(0.25)));
    let made = made.returns(quarter).event(Interaction::Called {
        source: crate::recording::ExternalSource::Random,
        function: "random.random".to_owned(),
        arguments: vec![],
        keywords: vec![],
        answer: crate::recording::ExternalReply::Returned(quarter),
    });
    let found = generated(vec![made]);
    assert_eq!(
        outcomes(&found),
        [&TestOutcome::Written(Completeness::Full)]
    );
}

#[test]
fn values_that_vary_are_not_checked() {
    let mut made = CallBuilder::new("chance");
    let quarter = made.plain(crate::value::Value::Float(crate::value::ExactFloat(0.25)));
    let found = generated(vec![made.returns(quarter)]);
    assert!(
        matches!(
            outcomes(&found).as_slice(),
            [TestOutcome::Written(Completeness::Partial(_))]
        ),
        "{found:?}"
    );
}

#[test]
fn a_vacuous_test_is_detected() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("shop.py"), SHOP).expect("a file");
    let runner = PythonRunner {
        executable: PathBuf::from("python3"),
        style: TestFramework::Unittest,
        path: vec![folder.path().to_owned()],
        modules: vec!["shop".to_owned()],
    };
    let file = CandidateFile {
        name: "test_shop.py".to_owned(),
        text: "\
import unittest

from shop import double


class TestDouble(unittest.TestCase):
    def test_checks(self):
        self.assertEqual(double(2), 4)

    def test_checks_nothing(self):
        try:
            double(2)
        except BaseException:
            pass

    def test_checks_something_else(self):
        self.assertEqual(2 + 2, 4)
"
        .to_owned(),
    };
    let name = |test: &str| format!("test_shop.py::TestDouble::{test}");
    let tests = [
        "test_checks",
        "test_checks_nothing",
        "test_checks_something_else",
    ];
    let unit = ("shop".to_owned(), "double".to_owned());
    let units: TestedUnits = tests.map(|test| (name(test), unit.clone())).into();
    let run = |round| {
        runner
            .run(std::slice::from_ref(&file), &units, round)
            .expect("tests were run")
    };
    let usual = run(ValidationRound::ALL[0]);
    assert!(
        usual
            .values()
            .all(|verdict| *verdict == TestVerdict::Passed),
        "{usual:?}"
    );
    let without_body = run(ValidationRound::EMPTY);
    let passes = |test: &str| without_body.get(&name(test)) == Some(&TestVerdict::Passed);
    assert_eq!(tests.map(passes), [false, true, true], "{without_body:?}");
}

#[test]
fn tests_that_differ_only_in_values_become_one_with_a_table() {
    let made = vec![doubled(2, 4), doubled(0, 0), doubled(-3, -6)];
    let found = generated(made);
    let names: BTreeSet<&str> = found.tests.iter().map(|one| one.test.as_str()).collect();
    assert_eq!(
        names,
        BTreeSet::from(["TestDouble::test_returns_number_for_each_number"])
    );
    assert_eq!(found.counts().full, 3);
    let suite = found.suites.get("shop").expect("a suite");
    let tests: Vec<&Vec<String>> = (suite.classes.iter())
        .flat_map(|class| class.tests.iter().map(|test| &test.lines))
        .collect();
    assert_eq!(
        tests,
        [&[
            "def test_returns_number_for_each_number(self):",
            "    cases = [(2, 4), (0, 0), (-3, -6)]",
            "    for number, expected in cases:",
            "        self.assertEqual(double(number), expected)",
        ]
        .map(str::to_owned)
        .to_vec()]
    );
}

#[test]
fn an_existing_test_is_not_joined_with_others() {
    let made = || vec![doubled(2, 4), doubled(0, 0), doubled(-3, -6)];
    let alone = generated(vec![doubled(2, 4)]);
    let present = alone.tests.iter().map(|one| one.id.clone()).collect();
    let found = generated_beside(made(), present);
    let names: BTreeSet<&str> = found.tests.iter().map(|one| one.test.as_str()).collect();
    assert_eq!(names.len(), 3);
    assert!(names.contains("TestDouble::test_returns_4_for_2"));
}
