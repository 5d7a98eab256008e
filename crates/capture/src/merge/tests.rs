//! Whole merges, compared as text, and the law that all other bytes stay.

use std::collections::BTreeSet;

use expect_test::expect;
use proptest::prelude::*;

use super::*;

fn test(id: &str, name: &str, body: &str) -> UnitTest {
    UnitTest {
        id: id.to_owned(),
        name: name.to_owned(),
        lines: vec![format!("def {name}(self):"), format!("    {body}")],
        imports: Vec::new(),
    }
}

fn suite() -> UnitTestSuite {
    UnitTestSuite {
        imports: vec![
            TestImport::whole_module("io"),
            TestImport::single_name("shop", "total"),
        ],
        classes: vec![TestClass {
            name: "TestTotal".to_owned(),
            base: None,
            tests: vec![
                test("aa", "test_empty", "assert total([]) == 0"),
                test("bb", "test_one", "assert total([1]) == 1"),
            ],
        }],
        main_guard: false,
    }
}

fn merged(text: &str) -> MergedFile {
    merge(
        Some(text.as_bytes()),
        &suite(),
        &BTreeSet::new(),
        RewritePolicy::Keep,
    )
    .expect("merged")
}

fn text(merged: &MergedFile) -> String {
    String::from_utf8(merged.bytes.clone()).expect("a text")
}

#[test]
fn a_new_file() {
    let merged = merge(None, &suite(), &BTreeSet::new(), RewritePolicy::Keep).expect("merged");
    expect![[r#"
        import io

        from shop import total


        class TestTotal:
            def test_empty(self):
                # tw:aa-7572a356
                assert total([]) == 0

            def test_one(self):
                # tw:bb-0de17346
                assert total([1]) == 1
    "#]]
    .assert_eq(&text(&merged));
}

#[test]
fn an_existing_class_gets_new_methods_with_its_own_indentation() {
    let before = "\"\"\"Mine.\"\"\"\nfrom __future__ import annotations\nimport io\n\nclass TestTotal:  # all of it\n\tdef test_one(self):\n\t\tpass  # mine\n\t# the end\n\nif __name__ == '__main__':\n\tmain()\n";
    let merged = merged(before);
    expect![[r#"
        """Mine."""
        from __future__ import annotations
        import io
        from shop import total

        class TestTotal:  # all of it
        	def test_one(self):
        		pass  # mine

        	def test_empty(self):
        		# tw:aa-bf339241
        		assert total([]) == 0
        	# the end

        if __name__ == '__main__':
        	main()
    "#]]
    .assert_eq(&text(&merged));
    assert_eq!(merged.skipped, [("bb".to_owned(), SkipReason::NameTaken)]);
}

#[test]
fn a_new_class_comes_before_the_guard_and_without_a_last_newline_there_is_none_after() {
    let guarded = text(&merged(
        "import shop\n\n# start\nif __name__ == \"__main__\":\n    pass\n",
    ));
    assert!(guarded.contains("assert total([1]) == 1\n\n\n# start\nif __name__"));
    let open = text(&merged("x = 1"));
    assert!(open.ends_with("assert total([1]) == 1"));
}

#[test]
fn a_written_test_is_recognised() {
    let first = merged("x = 1\n");
    let again = merge(
        Some(&first.bytes),
        &suite(),
        &BTreeSet::new(),
        RewritePolicy::Rewrite,
    )
    .expect("merged");
    assert_eq!(first.bytes, again.bytes);
    // Renamed and moved, but not changed: still there.
    let moved = text(&first)
        .replace("TestTotal", "TestSum")
        .replace("x = 1\n", "");
    let again = merge(
        Some(moved.as_bytes()),
        &suite(),
        &BTreeSet::new(),
        RewritePolicy::Keep,
    )
    .expect("merged");
    assert_eq!(text(&again), moved);
}

#[test]
fn a_rewritten_test_replaces_only_itself() {
    let first = text(&merged("x = 1\r\n"));
    let mut other = suite();
    other.classes[0].tests[0].lines[1] = "    assert total([]) == 7".to_owned();
    let again = merge(
        Some(first.as_bytes()),
        &other,
        &BTreeSet::new(),
        RewritePolicy::Rewrite,
    )
    .expect("merged");
    let (before, after) = (first.split("\r\n"), text(&again));
    let changed: Vec<(&str, &str)> = before
        .zip(after.split("\r\n"))
        .filter(|(before, after)| before != after)
        .collect();
    assert_eq!(changed.len(), 2, "{changed:?}");
    assert!(changed[1].1.ends_with("== 7"));
}

#[test]
fn edited_and_deleted_tests_stay_so() {
    let first = merged("x = 1\n");
    let edited = text(&first).replace("([1]) == 1", "([1]) == 1  # sure");
    let again = merge(
        Some(edited.as_bytes()),
        &suite(),
        &BTreeSet::new(),
        RewritePolicy::Rewrite,
    )
    .expect("merged");
    assert_eq!(text(&again), edited);
    assert!(
        again
            .skipped
            .contains(&("bb".to_owned(), SkipReason::Edited))
    );
    let written: BTreeSet<String> = marker_ids(&text(&first));
    assert_eq!(written, ["aa", "bb"].map(str::to_owned).into());
    for existing in [Some(&b"x = 1\n"[..]), None] {
        let again = merge(existing, &suite(), &written, RewritePolicy::Rewrite).expect("merged");
        assert_eq!(again.bytes, existing.unwrap_or_default());
        assert_eq!(again.skipped[0].1, SkipReason::Deleted);
    }
}

#[test]
fn files_that_cannot_be_changed_safely_are_refused() {
    let refusal = |text: &[u8]| merge(Some(text), &suite(), &BTreeSet::new(), RewritePolicy::Keep);
    assert_eq!(
        refusal(b"x = 1\ny = (\n"),
        Err(MergeError::NotPython {
            line: 2,
            message: "this `(` is never closed".to_owned()
        })
    );
    assert!(matches!(
        refusal(b"x = '\xff'\n"),
        Err(MergeError::NotPython { line: 1, .. })
    ));
    assert!(matches!(
        refusal(b"from other import total\n"),
        Err(MergeError::NameClash { name, meaning }) if name == "total" && meaning == "other.total"
    ));
    assert!(matches!(
        refusal(b"total = 3\n"),
        Err(MergeError::NameClash { .. })
    ));
}

#[test]
fn imports_are_known_in_any_spelling() {
    for head in [
        "from shop import *\nimport io\n",
        "from shop import a, total\nimport io, os\n",
    ] {
        let merged = text(&merged(head));
        assert!(merged.starts_with(head), "{merged}");
        assert!(merged[head.len()..].starts_with("\n\nclass"), "{merged}");
    }
}

/// Pieces of generated files, with everything that is easily damaged.
fn pieces() -> impl Strategy<Value = Vec<&'static str>> {
    let piece = prop_oneof![
        Just("import io\n"),
        Just("from shop import total  # why not\n"),
        Just("# a comment\n"),
        Just("\n"),
        Just("\n\n\n"),
        Just("x = 1  \n"),
        Just("text = '''a\n\tb\n'''\n"),
        Just("class TestTotal:\n\tdef test_empty(self):\n\t\tpass\n"),
        Just("class TestTotal(Base):\n  # two\n  x = 1\n"),
        Just("class TestTotal: pass\n"),
        Just("def f():\n    return 1 # é\n    # below\n"),
        Just("if __name__ == '__main__':\n    f()\n"),
        Just(
            "@decorated\nclass Other:\n    '''Doc.'''\n\n    def m(self):\n        return {\n  1: 2}\n"
        ),
    ];
    proptest::collection::vec(piece, 0..8)
}

proptest! {
    #[test]
    fn removing_what_was_inserted_gives_back_the_file(
        pieces in pieces(),
        crlf in any::<bool>(),
        mark in any::<bool>(),
        open in any::<bool>(),
        force in any::<bool>(),
    ) {
        let mut before = pieces.concat();
        if open {
            before.truncate(before.trim_end_matches('\n').len());
        }
        if crlf {
            before = before.replace('\n', "\r\n");
        }
        if mark {
            before.insert(0, '\u{feff}');
        }
        let force = if force { RewritePolicy::Rewrite } else { RewritePolicy::Keep };
        let merged = merge(Some(before.as_bytes()), &suite(), &BTreeSet::new(), force).expect("merged");
        let mut rest = merged.bytes.clone();
        for range in merged.inserted.iter().rev() {
            rest.drain(range.clone());
        }
        prop_assert_eq!(&String::from_utf8(rest).expect("a text"), &before);
        // The result is valid Python with every added test.
        let after = text(&merged);
        let bare = after.trim_start_matches('\u{feff}');
        prop_assert_eq!(testwright_source::check_module(bare), vec![]);
        for id in &merged.added {
            let marker = format!("# tw:{id}-");
            prop_assert!(bare.contains(&marker));
        }
        prop_assert!(!before.contains('\r') || !bare.replace("\r\n", "").contains('\n'));
        // Merging again changes nothing.
        let again = merge(Some(&merged.bytes), &suite(), &BTreeSet::new(), force).expect("merged");
        prop_assert_eq!(again.bytes, merged.bytes);
    }
}
