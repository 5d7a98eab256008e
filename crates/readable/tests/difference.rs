//! Differences between two versions of a model, and drift of a written explanation.

use crate::small_models;

use expect_test::expect;
use small_models::explained;
use testwright_readable::block::NORMAL;
use testwright_readable::drift::drifted_blocks;
use testwright_readable::explain::difference;
use testwright_readable::render::{DocumentFormat, render, text};

const OLD: &str = "\
n, t = 0, []
def put(x):
    t.append(x)
def take():
    if not t:
        return 'none'
    return t.pop()
def gone(): pass
def stay(): pass
def StateInvariant(): return n >= 0
def Accepting(): return n == 1
state = ('n', 't')
actions = (put, take, gone, stay)
enablers = {put: (lambda x: len(t) < 3,), take: (lambda: n > 0,)}
";

fn new() -> String {
    OLD.replace("t.append(x)", "t.insert(0, x)")
        .replace("len(t) < 3", "len(t) < 3 and x not in t")
        .replace("take: (lambda: n > 0,)", "")
        .replace("def gone(): pass", "def come(): pass")
        .replace("take, gone", "take, come")
        .replace("'none'", "'nothing'")
        .replace("n >= 0", "n > 0")
        .replace("def stay(): pass", "def stay(): t.clear()")
        .replace("return n == 1", "return n == 2")
}

#[test]
fn only_what_has_changed_is_told() {
    let (old, new) = (
        explained("m.py", OLD).document,
        explained("m.py", &new()).document,
    );
    expect![[r#"
        Model: m

        Action: put
          - Now also requires: the given x is not in the t.
          - Now: The given x is added at the start of the t.
          - No longer: The given x is added at the end of the t.

        Action: take
          - Now: If the t is empty: It returns "nothing".
          - No longer requires: the n is greater than 0.
          - No longer: If the t is empty: It returns "none".

        Action: come
          - New action

        Action: stay
          - Now: The t becomes empty.

        What must always be true:
          - Now: The n is greater than 0.
          - No longer: The n is at least 0.

        A run may end:
          - Now: only if the n is 2.
          - No longer: only if the n is 1.

        Action: gone
          - Removed action
    "#]]
    .assert_eq(&text(&difference(&old, &new)));
    assert!(difference(&old, &old).sections.is_empty());
}

#[test]
fn changes_of_domains_and_observables_are_reported() {
    let old = "n = 0\ndef act(x): pass\nstate = ('n',)\nactions = (act,)\ndomains = {act: {'x': [1, 2]}}\n";
    let new = old.replace("[1, 2]", "[1, 2, 3]") + "observables = (act,)\n";
    let (old, new) = (
        explained("m.py", old).document,
        explained("m.py", &new).document,
    );
    expect![[r#"
        Model: m

        Action: act (observed, not chosen by the tester)
          - Now: It is observed, not chosen by the tester.
          - Now: Input x: one of 1, 2 or 3.
          - No longer: Input x: either 1 or 2.
    "#]]
    .assert_eq(&text(&difference(&old, &new)));
    let old = "pool: <a> 2\n<a> := []\n<a>.append(1) => len(<a,1>) > 0\n";
    let new = old.replace("len(<a,1>) > 0", "1 in <a,1>");
    let (old, new) = (
        explained("h.tstl", old).document,
        explained("h.tstl", &new).document,
    );
    expect![[r#"
        Test harness: h

        Action: append
          - Now: Checked afterwards: 1 is in the a.
          - No longer: Checked afterwards: The a is not empty.
    "#]]
    .assert_eq(&text(&difference(&old, &new)));
}

#[test]
fn drift_names_the_blocks_of_a_real_model() {
    let (old, new) = (
        explained("m.py", OLD).document,
        explained("m.py", &new()).document,
    );
    for format in [
        DocumentFormat::Text,
        DocumentFormat::Markdown,
        DocumentFormat::Html,
    ] {
        let (old, new) = (
            render(&old.at_verbosity(NORMAL), format),
            render(&new.at_verbosity(NORMAL), format),
        );
        assert_eq!(drifted_blocks(&old, &old, format), [""; 0]);
        let named = drifted_blocks(&old, &new, format);
        for block in [
            "Action: put",
            "Action: take",
            "Action: come",
            "Action: gone",
            "What must always be true",
        ] {
            assert!(
                named.iter().any(|one| one == block),
                "{block} is not in {named:?} of {format:?}"
            );
        }
        assert!(
            !named.iter().any(|one| one == "What is remembered"),
            "{named:?}"
        );
    }
}
