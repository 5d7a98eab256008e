//! Every file that the page about names and idioms shows can be read.

use testwright_readable::idiom::{BUILT_IN, Vocabulary};

const PAGE: &str = include_str!("../../../docs/guide/idioms.md");

#[test]
fn the_files_on_the_page_can_be_read() {
    let mut files: Vec<&str> = PAGE
        .split("```text\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .collect();
    assert_eq!(files.len(), 2);
    files.push(BUILT_IN);
    for file in files {
        let read = Vocabulary::default().add(file);
        assert!(read.is_ok(), "{read:?}\n{file}");
    }
}
