//! The explanations that stand beside the examples say what the examples say now.
//!
//! `UPDATE_EXPECT=1 cargo test -p testwright-readable --test examples` writes them anew, for you to read in the diff.

use std::path::{Path, PathBuf};

use expect_test::expect_file;
use testwright_readable::block::NORMAL;
use testwright_readable::explain::{Options, explain};
use testwright_readable::measure;
use testwright_readable::render;

const EXPLAINED: [&str; 12] = [
    "alternating-bit/protocol.py",
    "avl/avl.tstl",
    "bank/bank.tstl",
    "first-minute/rolling.tstl",
    "login/login_model.py",
    "shelf/shelf.tstl",
    "sorted-list/sorted_list.tstl",
    "stack-model/stack_model.py",
    "switches/fan.py",
    "switches/session.py",
    "switches/power_switch.py",
    "water-jugs/jugs.tstl",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

#[test]
fn explanations_of_examples_are_up_to_date() {
    for example in EXPLAINED {
        let path = folder().join(example);
        let text = std::fs::read_to_string(&path).expect(example);
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let told = explain(&file, &text, &Options::default()).expect(example);
        let page = render::markdown(&told.document.shown_at(NORMAL));
        expect_file![path.with_extension("explanation.md")].assert_eq(&page);
    }
}

#[test]
fn explanations_of_examples_have_no_code_in_them() {
    for example in EXPLAINED {
        let path = folder().join(example);
        let text = std::fs::read_to_string(&path).expect(example);
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let told = explain(&file, &text, &Options::default()).expect(example);
        // What the author of the example wrote is not ours.
        let mut document = told.document.shown_at(NORMAL);
        document.intro = None;
        for (sentence, _) in document.sentences() {
            assert_eq!(measure::leaks(&sentence), 0, "{example}: {sentence}");
        }
    }
}
