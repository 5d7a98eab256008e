//! Shapes that real packages asked for.

use super::*;
use crate::recording::Receiver;

fn made_by(made: &mut CallBuilder, module: &str, path: &str, arguments: Vec<NodeId>) -> NodeId {
    made.plain(Value::Constructed {
        callee: ImportPath::new(module, path),
        arguments,
        keywords: vec![],
    })
}

fn shelf(name: &str) -> (CallBuilder, NodeId) {
    let mut made = CallBuilder::new(&format!("Shelf.{name}"));
    let books = made.list(2, &[1, 2]);
    let shelf = made.object(1, "Shelf", &[("books", books)]);
    (made, shelf)
}

#[test]
fn operators_and_subscripts_are_written_as_such() {
    let (mut made, shelf) = self::shelf("__contains__");
    let (one, yes) = (made.number(1), made.plain(Value::Boolean(true)));
    let made = made.on("Shelf", shelf, shelf).argument("book", one, one);
    check(
        &made.returns(yes),
        expect![[r#"
            from testwright_helpers import rebuilt
            from zoo import Shelf
            # TestShelf Full
            def test_contains_returns_true_for_1(self):
                shelf = rebuilt(Shelf, books=[1, 2])

                assert (1 in shelf) is True
        "#]],
    );
    let (mut made, shelf) = self::shelf("__getitem__");
    let (none, two) = (made.plain(Value::None), made.number(2));
    let key = made_by(&mut made, "builtins", "slice", vec![none, two, none]);
    let found = made.list(3, &[1, 2]);
    let made = made.on("Shelf", shelf, shelf).argument("key", key, key);
    check(
        &made.returns(found),
        expect![[r#"
            from testwright_helpers import rebuilt
            from zoo import Shelf
            # TestShelf Full
            def test_getitem_returns_list_for_slice(self):
                shelf = rebuilt(Shelf, books=[1, 2])

                assert shelf[:2] == [1, 2]
        "#]],
    );
}

#[test]
fn names_contain_short_texts_and_beginnings_of_messages() {
    for (message, told) in [
        ("No such key here: 'a'", "_no_such_key_here"),
        ("Invalid literal for int()", "_invalid_literal"),
        ("Bad of the", ""),
    ] {
        let mut made = CallBuilder::new("read");
        let (text, line) = (made.text("a.b = 1"), made.text(message));
        let error = made.plain(Value::Exception(Exception {
            class: ImportPath::new("zoo", "TOMLError"),
            is_importable: true,
            arguments: vec![line],
            attributes: vec![],
            cause: None,
            context: None,
            members: vec![],
        }));
        let mut made = made.argument("text", text, text);
        made.call.outcome = CallOutcome::Raised {
            exception: error,
            is_own: true,
        };
        let name = written(&[&made], TestFramework::Pytest, TestForm::ALL[0])
            .test
            .name;
        assert_eq!(name, format!("test_raises_toml_error{told}_for_a_b_1"));
    }
}

#[test]
fn an_unchanged_object_is_checked_only_if_nothing_else_is() {
    let (mut made, shelf) = self::shelf("save");
    let none = made.plain(Value::None);
    let made = made.on("Shelf", shelf, shelf).returns(none);
    check(
        &made,
        expect![[r#"
        from testwright_helpers import assert_same
        from testwright_helpers import rebuilt
        from zoo import Shelf
        # TestShelf Full
        def test_save_runs(self):
            shelf = rebuilt(Shelf, books=[1, 2])

            shelf.save()

            assert_same(shelf, rebuilt(Shelf, books=[1, 2]))
    "#]],
    );
    let made = made.event(Interaction::File {
        path: "books.txt".to_owned(),
        before: FileState::Absent,
        after: FileState::File(b"1 2".to_vec()),
    });
    check(
        &made,
        expect![[r#"
        from testwright_helpers import rebuilt
        from zoo import Shelf
        # TestShelf Full
        def test_save_writes_file(self, tmp_path, monkeypatch):
            path = tmp_path / "books.txt"
            monkeypatch.chdir(tmp_path)
            shelf = rebuilt(Shelf, books=[1, 2])

            shelf.save()

            assert path.read_bytes() == b"1 2"
    "#]],
    );
}

#[test]
fn arguments_that_are_kept_are_referred_to_by_name() {
    let mut made = CallBuilder::new("Shelf.put");
    let (pages, none) = (made.number(90), made.plain(Value::None));
    let book = made.object(3, "Book", &[("pages", pages)]);
    let (empty, full) = (
        made.with_id(2, Value::List(vec![])),
        made.with_id(2, Value::List(vec![book, book])),
    );
    let before = made.object(1, "Shelf", &[("books", empty)]);
    let after = made.object(1, "Shelf", &[("books", full)]);
    let made = made.on("Shelf", before, after).argument("book", book, book);
    check(
        &made.returns(none),
        expect![[r#"
        from testwright_helpers import rebuilt
        from zoo import Book
        from zoo import Shelf
        # TestShelf Full
        def test_put_changes_books_for_book(self):
            shelf = rebuilt(Shelf, books=[])
            book = rebuilt(Book, pages=90)

            shelf.put(book)

            assert shelf.books == [book, book]
    "#]],
    );
}

#[test]
fn a_missing_file_needs_no_name() {
    let (mut made, shelf) = self::shelf("load");
    let no = made.plain(Value::Boolean(false));
    let made = made.on("Shelf", shelf, shelf).returns(no);
    let made = made.event(Interaction::File {
        path: "books.txt".to_owned(),
        before: FileState::Absent,
        after: FileState::Absent,
    });
    check(
        &made,
        expect![[r#"
        from testwright_helpers import rebuilt
        from zoo import Shelf
        # TestShelf Full
        def test_load_returns_false(self, tmp_path, monkeypatch):
            monkeypatch.chdir(tmp_path)
            shelf = rebuilt(Shelf, books=[1, 2])

            assert shelf.load() is False
    "#]],
    );
}

#[test]
fn a_statement_can_raise() {
    let (mut made, shelf) = self::shelf("__setitem__");
    let (zero, word) = (made.number(0), made.text("no"));
    let error = made.plain(Value::Exception(Exception {
        class: ImportPath::new("builtins", "NotImplementedError"),
        is_importable: true,
        arguments: vec![word],
        attributes: vec![],
        cause: None,
        context: None,
        members: vec![],
    }));
    let mut made = made
        .on("Shelf", shelf, shelf)
        .argument("key", zero, zero)
        .argument("book", zero, zero);
    made.call.outcome = CallOutcome::Raised {
        exception: error,
        is_own: true,
    };
    check(
        &made,
        expect![[r#"
            import pytest
            from testwright_helpers import rebuilt
            from zoo import Shelf
            # TestShelf Full
            def test_setitem_raises_not_implemented_error_for_0_and_0(self):
                shelf = rebuilt(Shelf, books=[1, 2])

                with pytest.raises(NotImplementedError) as caught:
                    shelf[0] = 0

                assert caught.value.args == ("no",)
        "#]],
    );
}

#[test]
fn a_method_that_changes_nothing_leaves_its_object_as_it_was() {
    let (mut made, shelf) = self::shelf("discard");
    let nine = made.number(9);
    let made = made.on("Shelf", shelf, shelf).argument("book", nine, nine);
    check(
        &made,
        expect![[r#"
            from testwright_helpers import assert_same
            from testwright_helpers import rebuilt
            from zoo import Shelf
            # TestShelf Full
            def test_discard_runs_for_9(self):
                shelf = rebuilt(Shelf, books=[1, 2])

                shelf.discard(9)

                assert_same(shelf, rebuilt(Shelf, books=[1, 2]))
        "#]],
    );
}

#[test]
fn a_constructor_of_an_object_that_has_something_already() {
    let mut made = CallBuilder::new("Shelf.__init__");
    let (one, two) = (made.number(1), made.number(2));
    let before = made.object(1, "Shelf", &[("width", one)]);
    let after = made.object(1, "Shelf", &[("width", one), ("height", two)]);
    let made = made.on("Shelf", before, after);
    let shown = |form| lines(&written(&[&made], TestFramework::Pytest, form));
    assert!(shown(TestForm::ALL[0]).contains("result = Shelf()"));
    expect![[r#"
        from testwright_helpers import rebuilt
        from zoo import Shelf
        # TestShelf Full
        def test_creation_with_defaults(self):
            shelf = rebuilt(Shelf, width=1)

            shelf.__init__()

            assert shelf.height == 2
    "#]]
    .assert_eq(&shown(TestForm::ALL[1]));
}

#[test]
fn methods_of_parts_and_kept_hashes_of_a_new_object() {
    let mut made = CallBuilder::new("Shelf.__init__");
    let before = made.object(1, "Shelf", &[]);
    let books = made.list(2, &[1]);
    let count = made.plain(Value::Method {
        receiver: books,
        name: "count".to_owned(),
    });
    let hash = made.number(1 << 40);
    let after = made.object(
        1,
        "Shelf",
        &[("books", books), ("count", count), ("_hash", hash)],
    );
    check(
        &made.on("Shelf", before, after),
        expect![[r#"
            from zoo import Shelf
            # TestShelf Full
            def test_creation_with_defaults(self):
                result = Shelf()

                assert result.books == [1]
                assert result.count == result.books.count
        "#]],
    );
}

#[test]
fn an_object_before_its_constructor() {
    let mut made = CallBuilder::new("Shelf.__new__");
    let class = made.plain(Value::Reference(ImportPath::new("zoo", "Shelf")));
    let empty = made.object(1, "Shelf", &[]);
    let mut made = made.argument("cls", class, class).returns(empty);
    made.call.receiver = Receiver::Class(ImportPath::new("zoo", "Shelf"));
    expect![[r#"
        from zoo import Shelf
        # TestShelf Full
        def test_creation_with_defaults(self):
            assert isinstance(Shelf.__new__(Shelf), Shelf)
    "#]]
    .assert_eq(&lines(&written(
        &[&made],
        TestFramework::Pytest,
        TestForm::ALL[1],
    )));
}

#[test]
fn well_known_values_as_people_write_them() {
    let mut made = CallBuilder::new("keep");
    let numbers: Vec<NodeId> = [0, 1, 2, 30, 7, 12]
        .map(|number| made.number(number))
        .into();
    let [zero, one, two, thirty, seven, twelve] = numbers[..] else {
        panic!("six numbers");
    };
    let pattern = made.text("a+");
    let flags = made.number(32 + 2 + 64);
    let plain_flags = made.number(32);
    let nothing = made_by(&mut made, "datetime", "timedelta", vec![zero, zero, zero]);
    let zone = made_by(&mut made, "datetime", "timezone", vec![nothing]);
    let later = made_by(&mut made, "datetime", "timedelta", vec![one, zero, seven]);
    let as_of = vec![thirty, one, two, twelve, zero, zero, zero];
    let as_of = made_by(&mut made, "datetime", "datetime", as_of);
    let compiled = made_by(&mut made, "re", "compile", vec![pattern, flags]);
    let simple = made_by(&mut made, "re", "compile", vec![pattern, plain_flags]);
    let range = made_by(&mut made, "builtins", "range", vec![zero, seven, one]);
    let all = vec![zone, later, as_of, compiled, simple, range];
    let values = made.with_id(9, Value::List(all));
    let made = made.argument("values", values, values).returns(two);
    let shown = lines(&written(&[&made], TestFramework::Pytest, TestForm::ALL[0]));
    for expected in [
        "datetime.timezone.utc,",
        "datetime.timedelta(days=1, microseconds=7),",
        "datetime.datetime(30, 1, 2, 12, 0),",
        "re.compile(\"a+\", re.IGNORECASE | re.VERBOSE),",
        "re.compile(\"a+\"),",
        "range(7),",
    ] {
        assert!(shown.contains(expected), "{expected}\n{shown}");
    }
}

#[test]
fn matches_are_rebuilt_and_compared_by_content() {
    let mut made = CallBuilder::new("first_number");
    let (pattern, flags, text) = (made.text("[0-9]+"), made.number(32), made.text("a 12"));
    let pattern = made_by(&mut made, "re", "compile", vec![pattern, flags]);
    let found = made_by(&mut made, "re", "search", vec![pattern, text]);
    check(
        &made.argument("text", text, text).returns(found),
        expect![[r#"
            import re
            from testwright_helpers import assert_same
            from zoo import first_number
            # TestFirstNumber Full
            def test_returns_match_for_a_12(self):
                assert_same(first_number("a 12"), re.search(re.compile("[0-9]+"), "a 12"))
        "#]],
    );
}

#[test]
fn values_of_a_program_without_a_module_name_make_a_stub() {
    let mut made = CallBuilder::new("apply");
    let function = made.plain(Value::Reference(ImportPath::new("__main__", "double")));
    let made = made.argument("function", function, function);
    let written = written(&[&made], TestFramework::Pytest, TestForm::ALL[0]);
    let reason = "argument 'function' is double, which belongs to the program that was run";
    assert_eq!(written.completeness, Completeness::Stub(reason.to_owned()));
    let imports: Vec<String> = (written.test.imports.iter())
        .map(crate::suite::TestImport::text)
        .collect();
    assert!(!imports.join("\n").contains("__main__"), "{imports:?}");
}

#[test]
fn a_long_text_alone_in_a_call_needs_no_brackets_of_its_own() {
    let mut made = CallBuilder::new("read");
    let text = made.text("the first line of a text\nthe second line of it\nand the third one\n");
    let three = made.number(3);
    check(
        &made.argument("text", text, text).returns(three),
        expect![[r#"
            from zoo import read
            # TestRead Full
            def test_returns_3_for_text(self):
                result = read(
                    "the first line of a text\n"
                    "the second line of it\n"
                    "and the third one\n"
                )

                assert result == 3
        "#]],
    );
}

/// A call of a method of a shelf, at this time, which changes its books so.
fn kept_shelf(name: &str, time: u64, books: Option<&[i64]>, then: &[i64]) -> CallBuilder {
    let mut made = CallBuilder::new(&format!("Shelf.{name}"));
    let before = match books {
        Some(books) => closed_shelf(&mut made, books),
        None => made.object(7, "Shelf", &[]),
    };
    let after = closed_shelf(&mut made, then);
    made.call.id = crate::recording::CallId(time);
    made.call.end = Some(time + 1);
    made.on("Shelf", before, after)
}

/// A shelf that has an opaque value as soon as it has a book.
fn closed_shelf(made: &mut CallBuilder, books: &[i64]) -> NodeId {
    let list = made.list(8, books);
    if books.is_empty() {
        return made.object(7, "Shelf", &[("books", list)]);
    }
    let door = made.plain(Value::Unknown {
        class: ImportPath::new("weakref", "ReferenceType"),
        reason: "it cannot be looked into".to_owned(),
    });
    made.object(7, "Shelf", &[("door", door), ("books", list)])
}

#[test]
fn an_object_that_cannot_be_built_by_state_is_built_by_its_history() {
    let mut count = kept_shelf("count", 20, Some(&[4]), &[4]);
    let one = count.number(1);
    let count = count.returns(one);
    let creation = kept_shelf("__init__", 1, None, &[]);
    let mut put = kept_shelf("put", 5, Some(&[]), &[4]);
    let four = put.number(4);
    let put = put.argument("book", four, four);
    let looked = kept_shelf("look", 9, Some(&[4]), &[4]);
    let later = kept_shelf("clear", 30, Some(&[4]), &[]);
    let story =
        |made: &[&CallBuilder]| lines(&written(made, TestFramework::Pytest, TestForm::ALL[0]));
    expect![[r#"
        from zoo import Shelf
        # TestShelf Full
        def test_count_returns_1(self):
            shelf = Shelf()
            shelf.put(4)

            assert shelf.count() == 1
    "#]]
    .assert_eq(&story(&[&count, &creation, &put, &looked, &later]));
    // Code outside of the recording has changed it.
    let unknown = story(&[&count, &creation, &looked]);
    assert!(unknown.contains("Stub"), "{unknown}");
}

#[test]
fn a_number_among_others_is_named_with_its_parameter() {
    let mut made = CallBuilder::new("sell");
    let (name, amount) = (made.text("tea"), made.number(2));
    let (loud, limit) = (made.plain(Value::Boolean(false)), made.plain(Value::None));
    let made = made
        .argument("name", name, name)
        .argument("amount", amount, amount)
        .argument("loud", loud, loud)
        .argument("limit", limit, limit);
    let name = written(&[&made], TestFramework::Pytest, TestForm::ALL[0])
        .test
        .name;
    assert_eq!(
        name,
        "test_runs_for_tea_and_amount_2_and_not_loud_and_no_limit"
    );
}
