//! Values suggested by hints.

use std::path::Path;

use super::*;
use crate::draft::public_api::PublicApi;
use crate::inspect::{FileFilter, PythonProject};

const MODULE: &str = "import enum
from dataclasses import dataclass
from enum import Enum

class Color(Enum):
    RED = 1
    BLUE = 2

class Cart:
    pass
";

fn describe(annotation: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shop.py"), MODULE).expect("a file");
    let project = PythonProject::read(folder.path(), &FileFilter::default());
    let roots = ["shop".to_owned()];
    let api = PublicApi::collect(&project, &roots, Default::default());
    let module = project
        .module_at(Path::new("shop.py"))
        .expect("it is there");
    let mut scope = ImportScope::with_module_names(Default::default(), Default::default());
    let mut hints = HintReader {
        api: &api,
        module,
        scope: &mut scope,
    };
    let Some(hinted) = hints.annotation_values(annotation) else {
        return "nothing".to_owned();
    };
    let mut words: Vec<String> = hinted
        .samples
        .iter()
        .map(|sample| sample.code.one_line())
        .collect();
    words.extend(
        hinted
            .classes
            .iter()
            .map(|class| format!("an object of {class}")),
    );
    words.extend(hinted.allows_none.then(|| "None".to_owned()));
    format!("{}: {}", hinted.label, words.join(" | "))
}

#[test]
fn types_have_values() {
    let expected = [
        ("int", "int: 0 | 1 | -1 | 2 | 10"),
        ("bool", "bool: True | False"),
        ("'int'", "int: 0 | 1 | -1 | 2 | 10"),
        ("list[bool]", "list_bool: [] | [False] | [False, True]"),
        (
            "dict[str, int]",
            "dict_str_int: {} | {\"a\": 1} | {\"a\": 1, \"two words\": -1}",
        ),
        (
            "tuple[int, str]",
            "tuple_int_str: (1, \"a\") | (-1, \"two words\")",
        ),
        ("tuple[int, ...]", "tuple_int: () | (1,) | (1, -1)"),
        (
            "typing.Set[float]",
            "set_float: set() | {1.0} | {1.0, -1.5}",
        ),
        ("list[Thing]", "list: [] | [1] | [2, 1, 2] | [\"a\"]"),
        ("Literal['a', -1, None]", ": \"a\" | -1 | None"),
    ];
    for (annotation, values) in expected {
        assert_eq!(describe(annotation), values, "{annotation}");
    }
}

#[test]
fn unions_have_the_values_of_their_parts() {
    let both = "bool_or_bytes: True | False | b\"\" | b\"a\" | b\"\\x00\\xff\"";
    assert_eq!(describe("bool | bytes"), both);
    assert_eq!(describe("Union[bool, bytes]"), both);
    assert_eq!(describe("Optional[bool]"), "bool: True | False | None");
    assert_eq!(describe("bool | None"), "bool: True | False | None");
    assert_eq!(describe("Thing | bool"), "bool: True | False");
}

#[test]
fn classes_of_the_module_have_members_or_objects() {
    assert_eq!(describe("Color"), "color: shop.Color.RED | shop.Color.BLUE");
    assert_eq!(
        describe("Optional[Cart]"),
        "cart: an object of shop.Cart | None"
    );
}

#[test]
fn uninformative_hints_give_no_values() {
    for annotation in [
        "Thing",
        "Callable[[int], int]",
        "int if x else str",
        "(",
        "type[Cart]",
        "list[list[list[list[list[int]]]]]",
    ] {
        let describe = describe(annotation);
        assert!(
            describe == "nothing" || describe.starts_with("list"),
            "{annotation}: {describe}"
        );
    }
}
