//! What an import gives is not made again.

use super::*;

/// A call with an object of a module, which it leaves as it was or not, and with something inside
/// of that.
fn using(shelf: &str, left: &str, inner: Value) -> CallBuilder {
    let mut made = CallBuilder::new("use");
    let (before, after) = (made.text(shelf), made.text(left));
    let inner = made.with_id(2, inner);
    let attributes = |label| [("label", label), ("inner", inner)];
    let before = made.object(1, "Shelf", &attributes(before));
    let after = made.object(1, "Shelf", &attributes(after));
    let result = made.number(3);
    let mut made = made
        .argument("shelf", before, after)
        .argument("inner", inner, inner)
        .variable(global("shelf"), Some(before), Some(after))
        .returns(result);
    made.call.variables[0].is_as_imported = true;
    made
}

fn nameless() -> Value {
    Value::Function(LocalFunction {
        module: "zoo".to_owned(),
        qualified_name: "made".to_owned(),
        line: 3,
        closure: Vec::new(),
    })
}

#[test]
fn an_object_of_a_module_is_imported_and_what_cannot_be_made_is_found_in_it() {
    check(
        &using("a", "a", nameless()),
        expect![[r#"
            from zoo import shelf
            from zoo import use
            # TestUse Full
            def test_returns_3_for_shelf_and_inner(self):
                assert use(shelf, shelf.inner) == 3
        "#]],
    );
}

#[test]
fn parts_that_can_be_built_are_built() {
    check(
        &using("a", "a", Value::List(Vec::new())),
        expect![[r#"
            from zoo import shelf
            from zoo import use
            # TestUse Full
            def test_returns_3_for_shelf_and_empty_list(self):
                inner = []

                assert use(shelf, inner) == 3
        "#]],
    );
}

#[test]
fn changed_globals_are_not_shared_with_other_tests() {
    let written = written(
        &[&using("a", "b", nameless())],
        TestFramework::Pytest,
        TestForm::ALL[0],
    );
    assert!(matches!(written.completeness, Completeness::Stub(_)));
}

#[test]
fn objects_are_built_by_state_where_possible() {
    let state = |inner| {
        let made = using("a", "a", inner);
        lines(&written(&[&made], TestFramework::Pytest, TestForm::ALL[1]))
    };
    assert!(state(Value::List(Vec::new())).contains("rebuilt(Shelf"));
    let said = state(nameless());
    assert!(said.contains("inner=zoo.shelf.inner"), "{said}");
}
