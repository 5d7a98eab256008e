//! Aliases: several names for one thing, and parts of things. A change is explained by the thing
//! that changes.

use crate::small_models;

use small_models::{change, changes};

#[track_caller]
fn check(body: &str, rendered: &str) {
    assert_eq!(change(body), rendered, "{body}");
}

#[test]
fn r10_another_name_of_a_collection_is_new_as_well() {
    check(
        "old = t\nt.append(x)\nreturn old",
        "- The given x is added at the end of the t.\n- It returns the new t.",
    );
    check(
        "old = t\nold += [x]\nn = len(t)",
        "- The given x is added at the end of the t.\n- The n becomes the number of elements in the new t.",
    );
    check(
        "row = d.setdefault(x, [])\nrow.append(i)\nn = len(row)",
        "- An entry for the given x is added to the d, with the value the empty list, unless there is one already.\n\
         - The given i is added at the end of the entry for the given x in the d.\n\
         - The n becomes the number of elements in the entry for the given x in the new d.",
    );
    check(
        "a = t\nfor y in x:\n    a.append(y)\nn = len(a)",
        "- For each y in the given x, y is added at the end of the t.\n\
         - The n becomes the number of elements in the new t.",
    );
}

#[test]
fn r10_who_has_kept_what_was_replaced_has_the_old_one() {
    check(
        "old = t\nt = t + [x]\nreturn old",
        "- The given x is added at the end of the t.\n- It returns the old t.",
    );
    check(
        "old = t\nt = t + [1]\nold.append(2)\nn = len(old)",
        "- 1 is added at the end of the t.\n\
         - The n becomes the number of elements in the old t followed by [2].",
    );
    check(
        "old = n\nn += 1\nt.append(old)",
        "- The n goes up by 1.\n- The old n is added at the end of the t.",
    );
}

#[test]
fn e6_what_is_taken_out_on_one_side_only() {
    check(
        "n = t.pop() if t else 0",
        "If the t is not empty:\n  - The last element of the t is removed.\n  \
           - The n becomes the last element of the old t.\nOtherwise:\n  - The n becomes 0.",
    );
    check(
        "return t.pop(0) if t else None",
        "If the t is not empty:\n  - The first element of the t is removed.\n  \
           - It returns the first element of the old t.\nOtherwise:\n  - Nothing changes.",
    );
    check(
        "n += t.pop() if t else 1",
        "If the t is not empty:\n  - The last element of the t is removed.\n  \
           - The n goes up by the last element of the old t.\nOtherwise:\n  - The n goes up by 1.",
    );
}

#[test]
fn e19_parts_of_a_list_that_are_removed_or_replaced() {
    changes("del t[1:]", "Only the first element of the t is kept.");
    changes("del t[2:]", "Only the first 2 elements of the t are kept.");
    changes("del t[:1]", "The first element of the t is removed.");
    changes("del t[-2:]", "The last 2 elements of the t are removed.");
    changes(
        "del t[:-2]",
        "The t becomes the last 2 elements of the old t.",
    );
    changes("t[1:] = []", "Only the first element of the t is kept.");
    changes("t[:0] = [x]", "The given x is added at the start of the t.");
    changes(
        "t[len(t):] = [x]",
        "The given x is added at the end of the t.",
    );
    changes(
        "t[2:] = x",
        "The t becomes the first 2 elements of the old t followed by the given x.",
    );
}

/// A change that has no words of its own is a change all the same.
#[test]
fn e27_a_collection_is_changed_in_a_way_of_its_own() {
    changes(
        "t.sort(key=abs)",
        "\"sort\" is carried out on the t with key set to abs.",
    );
    changes(
        "d.update(a=1)",
        "\"update\" is carried out on the d with a set to 1.",
    );
    changes(
        "d.update(x, a=1)",
        "\"update\" is carried out on the d with the given x and a set to 1.",
    );
}

#[test]
fn y9_what_was_found_keeps_its_name() {
    check(
        "for y in x:\n    if y > 3:\n        found = y\n        break\nelse:\n    return 0\nn = found",
        "If there is some y in the given x such that y is greater than 3:\n  \
           - The n becomes the first y in the given x such that y is greater than 3.\n\
         Otherwise:\n  - Nothing changes.\n  - It returns 0.",
    );
}

#[test]
fn y1_what_is_put_somewhere_and_changes_afterwards() {
    check(
        "a = []\nt.append(a)\na.append(x)",
        "- The a becomes empty.\n- The a is added at the end of the t.\n- The given x is added at the end of the a.",
    );
    check(
        "a = [1, 2]\nb = a\nb.append(3)\nt = a",
        "- The a becomes [1, 2].\n- 3 is added at the end of the a.\n- The t becomes the a.",
    );
    // A name for something else changes nothing.
    check(
        "a = [x]\nt = a\na = [i]\nn = len(a)",
        "- The t becomes a list with just the given x.\n\
         - The n becomes the number of elements in a list with just the given i.",
    );
}
