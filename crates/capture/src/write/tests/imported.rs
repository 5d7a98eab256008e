//! What an import gives is not made again.

use super::*;

/// A call with an object of a module, which it leaves as it was or not, and with something inside of that.
fn using(shelf: &str, left: &str, inner: Value) -> Made {
    let mut made = Made::of("use");
    let (before, after) = (made.text(shelf), made.text(left));
    let inner = made.with_id(2, inner);
    let attributes = |label| [("label", label), ("inner", inner)];
    let before = made.object(1, "Shelf", &attributes(before));
    let after = made.object(1, "Shelf", &attributes(after));
    let result = made.number(3);
    let mut made = made
        .argument("shelf", before, after)
        .argument("inner", inner, inner)
        .place(global("shelf"), Some(before), Some(after))
        .returns(result);
    made.call.places[0].is_as_imported = true;
    made
}

fn nameless() -> Value {
    Value::Function(Function {
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
fn what_can_be_made_inside_of_it_is_made() {
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
fn what_the_call_changes_is_not_shared_with_other_tests() {
    let written = written(&[&using("a", "b", nameless())], Style::Pytest, Form::ALL[0]);
    assert!(matches!(written.completeness, Completeness::Stub(_)));
}

#[test]
fn by_its_state_an_object_is_made_all_the_same_where_that_is_possible() {
    let state = |inner| {
        let made = using("a", "a", inner);
        lines(&written(&[&made], Style::Pytest, Form::ALL[1]))
    };
    assert!(state(Value::List(Vec::new())).contains("rebuilt(Shelf"));
    let said = state(nameless());
    assert!(said.contains("inner=zoo.shelf.inner"), "{said}");
}
