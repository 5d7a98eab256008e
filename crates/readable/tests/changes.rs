//! Changes: one test for each rule E1 to E28.

use crate::small_models;

use small_models::{change, changes, happens};

#[test]
fn e1_appending() {
    changes("t.append(x)", "The given x is added at the end of the t.");
    changes("t = t + [x]", "The given x is added at the end of the t.");
    changes("t += [x]", "The given x is added at the end of the t.");
    changes("t += [7]", "7 is added at the end of the t.");
}

#[test]
fn e2_adding_at_the_start() {
    changes(
        "t.insert(0, x)",
        "The given x is added at the start of the t.",
    );
    changes("t = [x] + t", "The given x is added at the start of the t.");
}

#[test]
fn e3_inserting() {
    changes(
        "t.insert(i, x)",
        "The given x is inserted into the t at position the given i.",
    );
}

#[test]
fn e4_extending() {
    changes(
        "t.extend(x)",
        "The elements of the given x are added at the end of the t.",
    );
    changes(
        "t += x",
        "The elements of the given x are added at the end of the t.",
    );
    changes(
        "t += [1, 2]",
        "The elements of [1, 2] are added at the end of the t.",
    );
}

#[test]
fn e5_and_trap_6_removing() {
    // Trap 6: only one occurrence is removed.
    changes(
        "t.remove(x)",
        "The first occurrence of the given x is removed from the t.",
    );
    changes("s.remove(x)", "The given x is removed from the s.");
}

#[test]
fn e6_removing_by_position() {
    changes("del t[0]", "The first element of the t is removed.");
    changes("t.pop(0)", "The first element of the t is removed.");
    changes("t.pop()", "The last element of the t is removed.");
    changes(
        "del t[i]",
        "The element of the t at position the given i is removed.",
    );
    changes(
        "t.pop(i)",
        "The element of the t at position the given i is removed.",
    );
}

#[test]
fn e6_a_value_that_is_taken_away_is_that_of_the_old_one() {
    assert_eq!(
        change("return t.pop()"),
        "- The last element of the t is removed.\n- It returns the last element of the old t."
    );
    assert_eq!(
        change("y = d.pop(x)\nn = y"),
        "- The entry for the given x is removed from the d.\n- The n becomes the entry for the given x in the old d."
    );
}

#[test]
fn e6_and_e12_what_is_taken_away_inside_of_an_expression() {
    assert_eq!(
        change("s.add(t.pop(0))"),
        "- The first element of the t is removed.\n- The first element of the old t is added to the s."
    );
    assert_eq!(
        change("return d.pop(x) + 1"),
        "- The entry for the given x is removed from the d.\n- It returns one more than the entry for the given x in the old d."
    );
    assert_eq!(
        change("n += d.pop(x, 0)"),
        "- The entry for the given x is removed from the d if present.\n- The n goes up by the entry for the given x in the old d (0 if there is none)."
    );
    assert_eq!(
        change("if t.pop() == x:\n    return 1\nreturn 2"),
        "- The last element of the t is removed.\nIf the last element of the old t equals the given x:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
    // Nothing is old or new in a loop.
    assert_eq!(
        change("while t:\n    s.add(t.pop())"),
        "- As long as the t is not empty, the last element of the t is removed and that element is added to the s."
    );
}

#[test]
fn e7_emptying() {
    for statement in ["t.clear()", "del t[:]", "t = []", "t = list()"] {
        changes(statement, "The t becomes empty.");
    }
    changes("d = {}", "The d becomes empty.");
    changes("w = ''", "The w becomes empty.");
}

#[test]
fn e8_adding_to_a_set() {
    changes("s.add(x)", "The given x is added to the s.");
    changes("s = s | {x}", "The given x is added to the s.");
    changes("s |= {x}", "The given x is added to the s.");
}

#[test]
fn e9_discarding() {
    changes(
        "s.discard(x)",
        "The given x is removed from the s if present.",
    );
    changes("s = s - {x}", "The given x is removed from the s.");
}

#[test]
fn e10_new_entries() {
    assert_eq!(
        change("if x not in d:\n    d[x] = i"),
        "If the d has no entry for the given x:\n  - An entry for the given x is added to the d, with the value the given i.\nOtherwise:\n  - Nothing changes."
    );
    // A false `or` makes all its parts false.
    let rendered = change("if x in d or i in t:\n    return 1\nd[x] = 2");
    assert!(
        rendered.contains("- An entry for the given x is added to the d, with the value 2."),
        "{rendered}"
    );
    // A guard is a fact, too.
    let rendered = happens(
        "d = {}\ndef free(x): return x not in d.keys()\ndef act(x):\n    d[x] = 1\n\
         state = ('d',)\nenablers = {act: (free,)}\n",
    );
    assert_eq!(
        rendered,
        "- An entry for the given x is added to the d, with the value 1."
    );
    // After another change of the dictionary the fact says nothing.
    let rendered = change("if x not in d:\n    d[i] = 1\n    d[x] = 2");
    assert!(
        rendered.contains("- The entry for the given x in the d becomes 2."),
        "{rendered}"
    );
}

#[test]
fn e11_entries() {
    changes(
        "d[x] += i",
        "The entry for the given x in the d goes up by the given i.",
    );
    changes(
        "d[x] = d[x] + 2",
        "The entry for the given x in the d goes up by 2.",
    );
    changes(
        "d[x] -= 2",
        "The entry for the given x in the d goes down by 2.",
    );
    changes(
        "d[x] = i",
        "The entry for the given x in the d becomes the given i.",
    );
}

#[test]
fn e12_removing_entries() {
    changes(
        "del d[x]",
        "The entry for the given x is removed from the d.",
    );
    changes(
        "d.pop(x)",
        "The entry for the given x is removed from the d.",
    );
}

#[test]
fn e13_merging() {
    changes(
        "d.update(x)",
        "The entries of the given x are merged into the d.",
    );
    changes(
        "d.setdefault(x, 0)",
        "An entry for the given x is added to the d, with the value 0, unless there is one already.",
    );
}

#[test]
fn e14_numbers() {
    changes("n += 1", "The n goes up by 1.");
    changes("n = n + m", "The n goes up by the m.");
    changes("n -= x", "The n goes down by the given x.");
    changes("n = n - 1", "The n goes down by 1.");
    changes("n *= 2", "The n is multiplied by 2.");
}

#[test]
fn e15_text() {
    changes("w += x", "The given x is added at the end of the w.");
    changes("w += '!'", "\"!\" is added at the end of the w.");
}

#[test]
fn e16_counting_round() {
    changes(
        "n = (n + 1) % 3",
        "The n goes up by 1, starting again from 0 after 2.",
    );
    changes(
        "n = (n + x) % m",
        "The n goes up by the given x, starting again from 0 after one less than the m.",
    );
}

#[test]
fn e17_switching_between_0_and_1() {
    changes("n = 1 - n", "The n switches between 0 and 1.");
}

#[test]
fn e18_switching_flags() {
    changes("f = not f", "The f flag switches between true and false.");
}

#[test]
fn e19_cutting() {
    changes("t = t[1:]", "The first element of the t is removed.");
    changes("t = t[2:]", "The first 2 elements of the t are removed.");
    changes(
        "t = t[x:]",
        "The first elements of the t (as many as the given x) are removed.",
    );
    changes("t = t[:-1]", "The last element of the t is removed.");
    changes("t = t[:3]", "Only the first 3 elements of the t are kept.");
    changes("w = w[1:]", "The first character of the w is removed.");
}

#[test]
fn e20_keeping_some() {
    changes(
        "t = [v for v in t if v > x]",
        "Only the elements v of the t such that v is greater than the given x are kept.",
    );
    changes(
        "t[:] = [v for v in t if v > x]",
        "Only the elements v of the t such that v is greater than the given x are kept.",
    );
}

#[test]
fn e21_order() {
    changes("t.sort()", "The t is put in sorted order.");
    changes("t = sorted(t)", "The t is put in sorted order.");
    changes("t.reverse()", "The t is put in reverse order.");
}

#[test]
fn e22_swapping() {
    changes("n, m = m, n", "The n and the m swap values.");
}

#[test]
fn e23_elements() {
    changes(
        "t[i] = x",
        "The element of the t at position the given i becomes the given x.",
    );
}

#[test]
fn e24_attributes() {
    changes("x.size = 3", "The size of the given x becomes 3.");
}

#[test]
fn e25_no_value() {
    changes("o = None", "The o no longer has a value.");
    // A local had no value before.
    assert_eq!(
        change("y = None\nfor v in t:\n    if y is None or v > y:\n        y = v\no = y"),
        "- The y has no value at first.\n- For each v in the t such that either the y has no value or v is greater than the y, the y becomes v.\n- The o becomes the y."
    );
}

#[test]
fn e26_anything_else() {
    changes("n = x", "The n becomes the given x.");
    changes("n = 2 * n", "The n becomes 2 times the old n.");
}

#[test]
fn e26_a_copy_is_the_same() {
    for statement in ["t = list(t)", "t = t.copy()", "d = dict(d)", "n = n"] {
        changes(statement, "Nothing changes.");
    }
}

#[test]
fn e27_unknown_calls() {
    changes("ring()", "\"ring\" is carried out.");
    changes(
        "o.ring(x, i)",
        "\"ring\" is carried out on the o with the given x and the given i.",
    );
    changes(
        "y = o.ask(x)",
        "\"ask\" is carried out on the o with the given x, giving the y.",
    );
}

#[test]
fn e28_built_ins() {
    changes("len(t)", "The number of elements in the t is computed.");
}

#[test]
fn verbs_agree_with_what_changes() {
    let rendered = happens(
        "plates = []\ndef act():\n    global plates\n    plates = None\nstate = ('plates',)\n",
    );
    assert_eq!(rendered, "- The plates no longer have a value.");
    let rendered =
        happens("coins = 0\ndef act():\n    global coins\n    coins += 1\nstate = ('coins',)\n");
    assert_eq!(rendered, "- The coins go up by 1.");
}
