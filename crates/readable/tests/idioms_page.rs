//! The files on the page about names and idioms can be parsed, and the printed built-in file
//! changes nothing.

use testwright_readable::explain::{self, Options};
use testwright_readable::idiom::{BUILT_IN, Vocabulary};
use testwright_readable::render;

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

const EFFECTS: &str = "
plates, names, regs, on, bit, last = [], set(), {}, False, 0, None
def add(x, i, xs, other):
    plates.append(x)
    plates.insert(0, x)
    plates.insert(i, x)
    plates.extend(xs)
    plates.sort()
    plates.reverse()
    names.add(x)
    names.discard(x)
    regs.update(other)
def more(x):
    global plates
    plates = plates + [x]
def front(x):
    global plates
    plates = [x] + plates
def turn():
    global on, bit, last
    on = not on
    bit = 1 - bit
    last = None
def drop():
    plates.clear()
def empty():
    global plates
    plates = []
def judge(x):
    if x is None or sorted(plates) == plates or len(set(plates)) != len(plates):
        plates.append(plates.count(x) + max(plates))
    return regs.get(x)
state = ('plates', 'names', 'regs', 'on', 'bit', 'last')
actions = (add, more, front, turn, drop, empty, judge)
";

#[test]
fn the_printed_file_changes_no_explanation() {
    let mut vocabulary = Vocabulary::default();
    assert_eq!(vocabulary.add(BUILT_IN), Ok(()));
    let printed = Options {
        vocabulary,
        ..Options::default()
    };
    for (file, model) in [
        ("effects.py", EFFECTS),
        ("plates.py", include_str!("models/plates.py")),
        (
            "process_registry.py",
            include_str!("models/process_registry.py"),
        ),
        ("avl_tree.tstl", include_str!("models/avl_tree.tstl")),
    ] {
        let text = |options: &Options| {
            let rendered = explain::explain(file, model, options).expect(file);
            render::text(&rendered.document.at_verbosity(1))
        };
        assert_eq!(text(&printed), text(&Options::default()), "{file}");
    }
}
