//! Whole drafts, from texts and recordings made by hand.

use std::fs;

use expect_test::{Expect, expect};

use super::*;
use crate::inspect::FileFilter;
use crate::recording::{CallId, CallOutcome, ProgramRun, UnitId};
use crate::toys::CallBuilder;
use crate::value::{Exception, ImportPath, NodeId, Value};

const ZOO: &str = r#"import enum
import shutil
from dataclasses import dataclass


class Size(enum.Enum):
    SMALL = 1
    LARGE = 2


class ZooError(Exception):
    pass


@dataclass
class Animal:
    name: str
    size: Size = Size.SMALL


class Cage:
    def __init__(self, places=2):
        self.animals = []

    def __len__(self):
        return len(self.animals)

    def put(self, animal):
        self.animals.append(animal)

    def take(self):
        return self.animals.pop()

    def __add__(self, other):
        return self


def feed(food, amount: int = 1):
    if not food:
        raise ValueError("food")
    return food * amount


def open_gate(name: str, size: Size = Size.LARGE) -> Cage:
    return Cage()


def burn(path: str):
    shutil.rmtree(path)


def judge(thing):
    return thing
"#;

/// Builds a recording from its parts.
fn recorded(parts: Vec<CallBuilder>) -> Recording {
    let mut recording = Recording {
        executions: vec![ProgramRun::default()],
        ..Recording::default()
    };
    for (number, mut made) in (0..).zip(parts) {
        let known = recording
            .units
            .iter()
            .position(|unit| unit.name() == made.unit.name());
        let place = known.unwrap_or_else(|| {
            recording.units.push(crate::CodeUnit {
                calls: 0,
                ..made.unit.clone()
            });
            recording.units.len() - 1
        });
        recording.units[place].calls += 1;
        made.call.unit = UnitId(u32::try_from(place).expect("few units"));
        made.call.id = CallId(number);
        recording.calls.push(made.call);
    }
    recording
}

fn drafted(recording: &Recording) -> Draft {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("zoo.py"), ZOO).expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    draft(recording, &project, &["zoo".to_owned()], "zoo.tstl")
}

fn cage(made: &mut CallBuilder, animals: &[&str]) -> NodeId {
    let names: Vec<NodeId> = animals.iter().map(|name| made.text(name)).collect();
    let list = made.with_id(20, Value::List(names));
    made.object(10, "Cage", &[("animals", list)])
}

fn created() -> CallBuilder {
    let mut made = CallBuilder::new("Cage.__init__");
    let before = made.object(10, "Cage", &[]);
    let after = cage(&mut made, &[]);
    made.on("Cage", before, after)
}

fn put(before: &[&str], name: &str) -> CallBuilder {
    let mut made = CallBuilder::new("Cage.put");
    let held = cage(&mut made, before);
    let holds = cage(&mut made, &[before, &[name]].concat());
    let animal = made.text(name);
    made.on("Cage", held, holds)
        .argument("animal", animal, animal)
}

fn took(before: &[&str]) -> CallBuilder {
    let mut made = CallBuilder::new("Cage.take");
    let held = cage(&mut made, before);
    let (last, rest) = before.split_last().expect("not empty");
    let holds = cage(&mut made, rest);
    let last = made.text(last);
    made.on("Cage", held, holds).returns(last)
}

fn fed(food: &str, amount: Option<i64>) -> CallBuilder {
    let mut made = CallBuilder::new("feed");
    let (text, number) = (made.text(food), made.number(amount.unwrap_or(1)));
    let mut made = made
        .argument("food", text, text)
        .argument("amount", number, number);
    made.call.arguments[1].is_default = amount.is_none();
    if food.is_empty() {
        let exception = made.plain(Value::Exception(Exception {
            class: ImportPath::new("builtins", "ValueError"),
            is_importable: true,
            arguments: Vec::new(),
            attributes: Vec::new(),
            cause: None,
            context: None,
            members: Vec::new(),
        }));
        made.call.outcome = CallOutcome::Raised {
            exception,
            is_own: true,
        };
    }
    made
}

fn check(text: &str, from: &str, expected: &Expect) {
    let start = text.find(from).unwrap_or(0);
    expected.assert_eq(text.get(start..).unwrap_or_default());
}

#[test]
fn a_recording_becomes_a_harness() {
    let recording = recorded(vec![
        created(),
        put(&[], "lion"),
        put(&["lion"], "bear"),
        put(&["lion", "bear"], "mouse"),
        took(&["lion", "bear", "mouse"]),
        took(&["lion", "bear"]),
        took(&["lion"]),
        fed("hay", None),
        fed("hay", Some(3)),
        fed("", None),
    ]);
    let draft = drafted(&recording);
    check(
        &draft.text,
        "@import",
        &expect![[r#"
        @import zoo

        source: zoo

        # Values are combined without knowing what fits together, so any call may raise these. Remove what
        # should never happen: from then on it is reported as a failure.
        exception: TypeError, ValueError, LookupError, AttributeError, ArithmeticError, AssertionError, ImportError, NotImplementedError, OSError, StopIteration, zoo.ZooError

        # ---- Values ------------------------------------------------------------------------------

        pool: <food> 2  # str, 2 seen
        <food> := <["hay",""]>

        pool: <str> 2  # str, from type hints
        <str> := <["","a","two words"]>

        pool: <size> 2  # from type hints
        <size> := <[zoo.Size.SMALL,zoo.Size.LARGE]>

        # ---- Animal ------------------------------------------------------------------------------

        pool: <animal> 2

        <animal> := zoo.Animal(<str>)               # from its fields
        <animal> := zoo.Animal(<str>, size=<size>)  # from its fields

        # ---- Cage --------------------------------------------------------------------------------

        pool: <cage> 2

        <cage> := zoo.Cage()                    # seen once
        len(<cage>)                             # from its signature
        <cage>.put(<["lion","bear","mouse"]>)   # seen 3 times
        <cage,1>.animals -> <cage>.take()       # seen 3 times; the guard was observed, not proved
        len(<cage,1>) < 100 -> <cage> + <cage>  # from its signature; kept small

        # ---- Functions ---------------------------------------------------------------------------

        {ValueError} zoo.feed(<food>)                # seen twice, raised ValueError once
        zoo.feed(<food>, <[3,0,1,-1,2,10]>)          # seen once
        <cage> := zoo.open_gate(<str>)               # from its signature
        <cage> := zoo.open_gate(<str>, size=<size>)  # from its signature

        # Left out: it may change files (`shutil.rmtree`).
        # zoo.burn(<str>)

        # Left out: nothing is known about `thing`: there is no recorded call and no type hint.
        # zoo.judge(thing)

        # ---- What must be true -------------------------------------------------------------------

        # Nothing is claimed yet, so only exceptions, crashes and hangs are found. For example:
        #
        # property: len(<cage>) <= 100
    "#]],
    );
}

#[test]
fn recorded_calls_become_saved_tests() {
    let recording = recorded(vec![
        created(),
        put(&[], "lion"),
        took(&["lion"]),
        // A call in between was not kept.
        took(&["bear"]),
        fed("hay", Some(3)),
    ]);
    let draft = drafted(&recording);
    expect![[r##"
        # testwright test 1
        # harness: zoo.tstl
        # recorded: yes
        cage0 = zoo.Cage()
        cage0.put("lion")
        cage0.take()

        # testwright test 1
        # harness: zoo.tstl
        # recorded: yes
        zoo.feed("hay", 3)
    "##]]
    .assert_eq(&draft.tests.join("\n"));
    assert_eq!(
        (draft.summary.replayed_calls, draft.summary.skipped_calls),
        (4, 1)
    );
}

#[test]
fn signatures_alone_are_enough_to_begin() {
    let draft = drafted(&Recording::default());
    assert!(draft.text.contains("A recording would make it better"));
    check(
        &draft.text,
        "# ---- Values",
        &expect![[r##"
        # ---- Values ------------------------------------------------------------------------------

        pool: <str> 2  # str, from type hints
        <str> := <["","a","two words"]>

        pool: <size> 2  # from type hints
        <size> := <[zoo.Size.SMALL,zoo.Size.LARGE]>

        # ---- Animal ------------------------------------------------------------------------------

        pool: <animal> 2

        <animal> := zoo.Animal(<str>)               # from its fields
        <animal> := zoo.Animal(<str>, size=<size>)  # from its fields

        # ---- Cage --------------------------------------------------------------------------------

        pool: <cage> 2

        <cage> := zoo.Cage()                        # from its signature
        <cage> := zoo.Cage(places=<[0,1,-1,2,10]>)  # from its signature
        len(<cage>)                                 # from its signature
        <cage>.put(<animal>)                        # from its signature
        <cage>.take()                               # from its signature
        len(<cage,1>) < 100 -> <cage> + <cage>      # from its signature; kept small

        # ---- Functions ---------------------------------------------------------------------------

        <cage> := zoo.open_gate(<str>)               # from its signature
        <cage> := zoo.open_gate(<str>, size=<size>)  # from its signature

        # Left out: nothing is known about `food`: there is no recorded call and no type hint.
        # zoo.feed(food)

        # Left out: it may change files (`shutil.rmtree`).
        # zoo.burn(<str>)

        # Left out: nothing is known about `thing`: there is no recorded call and no type hint.
        # zoo.judge(thing)

        # ---- What must be true -------------------------------------------------------------------

        # Nothing is claimed yet, so only exceptions, crashes and hangs are found. For example:
        #
        # property: len(<cage>) <= 100
    "##]],
    );
    assert!(draft.tests.is_empty());
}

#[test]
fn a_package_defines_its_public_api() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("folders");
        fs::write(path, text).expect("a file");
    };
    file(
        "shop/__init__.py",
        "from ._cart import Cart\nfrom .prices import *\n",
    );
    file(
        "shop/_cart.py",
        "class Cart:\n    def total(self): pass\ndef inner(): pass\n",
    );
    file("shop/prices.py", "def tax(): pass\ndef _secret(): pass\n");
    file("shop/helpers.py", "def help_out(): pass\n");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let draft = draft(
        &Recording::default(),
        &project,
        &["shop".to_owned()],
        "shop.tstl",
    );
    let lines: Vec<&str> = draft
        .text
        .lines()
        .filter(|line| line.contains("# from its"))
        .collect();
    let lines: Vec<&str> = lines
        .iter()
        .filter_map(|line| line.split("  ").next())
        .collect();
    assert_eq!(
        lines,
        ["<cart> := shop.Cart()", "<cart>.total()", "shop.tax()"]
    );
}

#[test]
fn values_that_look_like_the_language_are_kept_apart() {
    let texts = ["<food>", "%a% %b%", "plain", "<[1,2]>"];
    let recording = recorded(texts.map(|text| fed(text, None)).into_iter().collect());
    let draft = drafted(&recording);
    assert!(
        draft.text.contains("FOOD_1 = \"<food>\"\n"),
        "{}",
        draft.text
    );
    assert!(
        draft
            .text
            .contains("<food> := <[FOOD_1,FOOD_2,\"plain\",FOOD_3]>\n"),
        "{}",
        draft.text
    );
}

#[test]
fn modules_in_a_source_folder_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("src/shop")).expect("folders");
    fs::write(folder.path().join("src/shop/__init__.py"), "").expect("a file");
    fs::write(folder.path().join("src/shop/cart.py"), "def f(): pass\n").expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let text = |module: &str| {
        draft(
            &Recording::default(),
            &project,
            &[module.to_owned()],
            "x.tstl",
        )
        .text
    };
    assert!(text("shop").contains("@sys.path.insert(0, \"src\")\n\n@import shop\n"));
    assert!(text("shop").contains("\nsource: src/shop\n"));
    assert!(text("shop.cart").contains("\nsource: src/shop/cart.py\n"));
}

#[test]
fn a_line_never_begins_with_a_brace_that_is_no_exception() {
    let mut made = CallBuilder::new("Cage.__contains__");
    let held = cage(&mut made, &[]);
    let wanted = made.plain(Value::Set(Vec::new()));
    let number = made.number(1);
    let keyed = made.plain(Value::Dictionary(vec![(number, wanted)]));
    let asked = made.on("Cage", held, held).argument("animal", keyed, keyed);
    let text = ZOO.replace("def __len__(self)", "def __contains__(self, animal)");
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("zoo.py"), text).expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let drafted = draft(
        &recorded(vec![created(), asked]),
        &project,
        &["zoo".to_owned()],
        "zoo.tstl",
    );
    assert!(
        drafted.text.contains("\n<animal_value> in <cage>  "),
        "{}",
        drafted.text
    );
    assert!(
        drafted.text.contains("<animal_value> := {1: set()}\n"),
        "{}",
        drafted.text
    );
}
