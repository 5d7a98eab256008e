//! Effects in parts of an expression that are not always reached, or reached many times. They are
//! explained where they happen, and an outcome with effects never claims that nothing changes.

use crate::small_models;

use small_models::happens;

const SHELF: &str = "\
items, seen, n = [], set(), 0
state = ('items', 'seen', 'n')
def note(a):
    items.append(a)
    return len(items)
def claim(a):
    if a in seen:
        return False
    seen.add(a)
    return True
def doubled(a):
    both = []
    both.append(a)
    return both + both
";

#[track_caller]
fn check(body: &str, rendered: &str) {
    let body = body.replace('\n', "\n    ");
    let model = format!("{SHELF}def act(x):\n    global items, seen, n\n    {body}\n");
    assert_eq!(happens(&model), rendered, "{body}");
}

#[test]
fn y5_a_later_part_of_a_condition() {
    check(
        "if x and items.pop():\n    n += 1",
        "If the given x is set:\n  \
         - The last element of the items is removed.\n  \
         If the last element of the old items is set:\n    \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
    check(
        "if x > 3 or note(x) > 7:\n    n += 1\nelse:\n    n = 0",
        "If the given x is greater than 3:\n  \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - The given x is added at the end of the items.\n  \
         If the new items have more than 7 elements:\n    \
         - The n goes up by 1.\n  \
         Otherwise:\n    \
         - The n becomes 0.",
    );
    check(
        "if not (x > 3 and items.pop()):\n    n += 1",
        "If the given x is greater than 3:\n  \
         - The last element of the items is removed.\n  \
         If the last element of the old items is not set:\n    \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - The n goes up by 1.",
    );
    check(
        "if x and n and items.pop() and n > 2:\n    n += 1",
        "If the given x is set and the n is not zero:\n  \
         - The last element of the items is removed.\n  \
         If the last element of the old items is set and the n is greater than 2:\n    \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
    check(
        "if (x or items.pop()) and n > 2:\n    n += 1",
        "If the given x is set:\n  \
         If the n is greater than 2:\n    \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - The last element of the items is removed.\n  \
         If the last element of the old items is set:\n    \
         If the n is greater than 2:\n      \
         - The n goes up by 1.",
    );
    check(
        "if x > 3 and claim(x):\n    n += 1",
        "If the given x is greater than 3:\n  \
         If the given x is in the seen set:\n    \
         - Nothing changes.\n  \
         Otherwise:\n    \
         - The given x is added to the seen set.\n    \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
    check(
        "assert x in items and items.pop() == x",
        "- It is checked that the given x is in the old items.\n\
         - The last element of the items is removed.\n\
         - It is checked that the last element of the old items equals the given x.",
    );
}

#[test]
fn y5_a_later_part_of_a_value() {
    check(
        "return x > 3 and items.pop()",
        "If the given x is greater than 3:\n  \
         - The last element of the items is removed.\n  \
         - It returns the last element of the old items.\n\
         Otherwise:\n  \
         - Nothing changes.\n  \
         - It returns false.",
    );
    check(
        "return x and items.pop()",
        "If the given x is set:\n  \
         - The last element of the items is removed.\n  \
         - It returns the last element of the old items.\n\
         Otherwise:\n  \
         - Nothing changes.\n  \
         - It returns the given x.",
    );
    check(
        "n = x or items.pop()",
        "If the given x is set:\n  \
         - The n becomes the given x.\n\
         Otherwise:\n  \
         - The last element of the items is removed.\n  \
         - The n becomes the last element of the old items.",
    );
    check(
        "x in seen or seen.add(x)",
        "If the given x is not in the seen set:\n  \
         - The given x is added to the seen set.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
    check(
        "x > 3 and items.append(x)",
        "If the given x is greater than 3:\n  \
         - The given x is added at the end of the items.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
}

#[test]
fn y9_what_a_loop_does_to_know_whether_it_goes_on() {
    check(
        "while items and items.pop() != x:\n    n += 1",
        "As long as the items are not empty:\n  \
         - The last element of the items is removed.\n  \
         If that element does not equal the given x:\n    \
         - The n goes up by 1.\n  \
         Otherwise:\n    \
         - This is not done again.",
    );
    check(
        "while items.pop() != x:\n    pass",
        "Again and again:\n  \
         - The last element of the items is removed.\n  \
         If that element equals the given x:\n    \
         - This is not done again.",
    );
    check(
        "for y in items.pop(0):\n    n += y",
        "- The first element of the items is removed.\n\
         - For each y in that element, the n goes up by y.",
    );
}

#[test]
fn e6_what_is_taken_out_and_put_back() {
    check(
        "items.append(items.pop())",
        "- The last element of the items is removed.\n\
         - The last element of the old items is added at the end of the items.",
    );
    check(
        "items.insert(0, items.pop())",
        "- The last element of the items is removed.\n\
         - The last element of the old items is added at the start of the items.",
    );
}

#[test]
fn effects_that_cannot_be_told_step_by_step_are_announced() {
    check(
        "n = sum(items.pop() for _ in range(x))",
        "- The n becomes the sum of the result of \"pop\" on the old items for each item in the numbers from 0 up to but not including the given x.\n\
         - This may also change the items.",
    );
    check(
        "if any(items.pop() for _ in range(x)):\n    n += 1",
        "- What is done next may also change the items.\n\
         If for some item in the numbers from 0 up to but not including the given x, \"pop\" holds for the new items:\n  \
         - The n goes up by 1.",
    );
    check(
        "return [y for y in x if not (y in seen or seen.add(y))]",
        "- What is done next may also change the seen set.\n\
         - It returns the elements y of the given x such that y is not in the old seen set and \"add\" does not hold for the old seen set with y.",
    );
    check(
        "for y in x:\n    if claim(y):\n        n += 1",
        "For each y in the given x:\n  \
         - What is done next may also change the seen set.\n  \
         If \"claim\" holds for y:\n    \
         - The n goes up by 1.",
    );
}

/// Nested conditions must not multiply the outcomes without end.
#[test]
fn unfolding_ends() {
    let depth = 60;
    let nested = (0..depth).map(|at| format!("{}if x > {at} or items.pop():\n", "    ".repeat(at)));
    let body = format!(
        "{}{}n += 1",
        nested.collect::<String>(),
        "    ".repeat(depth)
    );
    let body = body.replace('\n', "\n    ");
    let model = format!("{SHELF}def act(x):\n    global n\n    {body}\n");
    assert!(happens(&model).contains("may also change the items"));
}

/// A condition without effects, or with effects only on its own values, is left as it is.
#[test]
fn conditions_without_effects_are_not_split() {
    check(
        "if x and doubled(x) == items:\n    n += 1",
        "If the given x is set and a list with just the given x followed by a list with just the given x equals the items:\n  \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
    check(
        "f = lambda: items.pop()\nif x and f:\n    n += 1",
        "If the given x is set and a rule that gives the result of \"pop\" on the items is set:\n  \
         - The n goes up by 1.\n\
         Otherwise:\n  \
         - Nothing changes.",
    );
}
