//! Symbolic execution (rules Y1 to Y11): inlining, branches and omissions.

use crate::small_models;

use small_models::{change, happens, text, text_with};
use testwright_readable::explain::Limits;

#[test]
fn y1_locals_are_written_out_and_connectives_do_not_part_the_ways() {
    assert_eq!(
        change("y = x\nz = y + 1\nn = z"),
        "- The n becomes one more than the given x."
    );
    assert_eq!(
        change("if x and i or n:\n    return 1\nreturn 2"),
        "- Nothing changes.\nIf either the given x is set and the given i is set, or the n is not zero:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
}

#[test]
fn y1_constant_parts_are_folded() {
    let rendered = happens(
        "LIMIT = 2 + 1\nn = 0\ndef act():\n    global n\n    n = LIMIT * 2\nstate = ('n',)\n",
    );
    assert_eq!(rendered, "- The n becomes 6.");
}

#[test]
fn y1_assigning_to_a_name_of_the_state_without_global_is_a_local() {
    let rendered = happens("n = 0\ndef act():\n    n = 5\n    return n\nstate = ('n',)\n");
    assert_eq!(rendered, "- Nothing changes.\n- It returns 5.");
}

#[test]
fn y2_helpers_are_read_as_if_they_were_written_there() {
    let rendered = happens(
        "t = []\ndef twice(x):\n    if x > 3: return True\n    return x in t\n\
         def put(y):\n    t.append(y)\n\
         def act(x):\n    if twice(x):\n        put(x)\nstate = ('t',)\n",
    );
    assert_eq!(
        rendered,
        "If either the given x is greater than 3 or the given x is in the t:\n  - The given x is added at the end of the t.\nOtherwise:\n  - Nothing changes."
    );
}

#[test]
fn y2_helpers_that_return_on_some_paths_are_unknown_calls() {
    let rendered = happens(
        "t = []\ndef put(y):\n    if y in t: return\n    t.append(y)\n\
         def act(x):\n    put(x)\nstate = ('t',)\n",
    );
    assert_eq!(
        rendered,
        "- \"put\" is carried out with the given x.\n- This may also change the t."
    );
}

#[test]
fn y2_recursion_and_other_arguments_are_unknown_calls() {
    let rendered = happens(
        "n = 0\ndef f(x):\n    return f(x - 1)\ndef act(x):\n    return f(x)\nstate = ('n',)\n",
    );
    assert!(
        rendered.ends_with("- It returns the result of \"f\" with one less than the given x."),
        "{rendered}"
    );
    let rendered =
        happens("n = 0\ndef f(x, y): return x\ndef act(x):\n    return f(x)\nstate = ('n',)\n");
    assert!(
        rendered.ends_with("- It returns the result of \"f\" with the given x."),
        "{rendered}"
    );
}

#[test]
fn y2_defaults_and_keywords_are_arguments() {
    let rendered = happens(
        "n = 0\ndef f(x, y=2): return x + y\ndef act(x):\n    return f(x=x)\nstate = ('n',)\n",
    );
    assert!(
        rendered.ends_with("- It returns the given x plus 2."),
        "{rendered}"
    );
}

#[test]
fn y2_a_helper_with_a_name_of_its_own_is_not_looked_into() {
    let model = "t = []\ndef full(): return len(t) > 3\ndef act(): t.clear()\nstate = ('t',)\n\
        actions = (act,)\nenablers = {act: (lambda: full(),)}\n";
    let rendered = text_with(
        "model.py",
        model,
        "[names]\nfull = no room is left\n",
        Limits::default(),
    );
    assert!(
        rendered.contains("When it can happen: only if \"no room is left\" holds."),
        "{rendered}"
    );
    let rendered = text("model.py", model);
    assert!(
        rendered.contains("When it can happen: only if the t has more than 3 elements."),
        "{rendered}"
    );
}

#[test]
fn y2_a_helper_with_an_idiom_is_not_looked_into() {
    let model = "t = []\ndef full(extra): return len(t) + extra > 3\ndef act(x): t.append(x)\nstate = ('t',)\n\
        actions = (act,)\nenablers = {act: (lambda x: not full(x),)}\n";
    let idiom = "[idiom full]\nkind = condition\nmatch = full($n)\nsay = {n} more are too many\nnot = there is room for {n} more\n";
    let rendered = text_with("model.py", model, idiom, Limits::default());
    assert!(
        rendered.contains("When it can happen: only if there is room for the given x more."),
        "{rendered}"
    );
    let machine = "class M(RuleBasedStateMachine):\n    def __init__(self): self.t = []\n    def full(self): return len(self.t) > 3\n    @precondition(lambda self: self.full())\n    @rule()\n    def act(self): self.t.clear()\n";
    let idiom = "[idiom full]\nkind = condition\nmatch = self.full()\nsay = no room is left\n";
    let rendered = text_with("machine.py", machine, idiom, Limits::default());
    assert!(
        rendered.contains("When it can happen: only if no room is left."),
        "{rendered}"
    );
}

#[test]
fn y2_helpers_are_looked_into_only_so_deep() {
    let chain = |length: usize| {
        let mut model = "n = 0\ndef f0(x): return x > 0\n".to_owned();
        for number in 1..=length {
            model += &format!("def f{number}(x): return f{}(x)\n", number - 1);
        }
        happens(&format!(
            "{model}def act(x): return f{length}(x)\nstate = ('n',)\n"
        ))
    };
    assert!(
        chain(4)
            .ends_with("It returns true if the given x is greater than 0, and false otherwise.")
    );
    assert!(
        chain(5).ends_with("- It returns the result of \"f0\" with the given x."),
        "{}",
        chain(5)
    );
}

#[test]
fn y2_what_a_helper_does_behind_return_is_done() {
    let rendered = happens(
        "t = []\ndef put(y):\n    t.append(y)\n    return len(t)\ndef act(x):\n    return put(x)\nstate = ('t',)\n",
    );
    assert_eq!(
        rendered,
        "- The given x is added at the end of the t.\n- It returns the number of elements in the new t."
    );
}

#[test]
fn y3_results_of_unknown_calls_have_names() {
    assert_eq!(
        change("answer = o.ask(x)\nif answer:\n    n = answer"),
        "- \"ask\" is carried out on the o with the given x, giving the answer.\nIf the answer is set:\n  - The n becomes the answer."
    );
}

#[test]
fn y4_branches_that_meet_again_are_one_event() {
    assert_eq!(
        change("if x:\n    n = 1\nelse:\n    n = 2\nm = n"),
        "If the given x is set:\n  - The n becomes 1.\nOtherwise:\n  - The n becomes 2.\n- The m becomes the new n."
    );
}

#[test]
fn y4_a_local_that_differs_is_a_conditional_expression() {
    assert_eq!(
        change("if x:\n    y = 1\nelse:\n    y = 2\nn = y"),
        "- The n becomes (1 if the given x is set, otherwise 2)."
    );
    assert_eq!(
        change("y = 0\nif x:\n    y = 1\nn = y + i"),
        "- The n becomes (1 if the given x is set, otherwise 0) plus the given i."
    );
}

#[test]
fn y5_branches_that_leave_part_the_ways() {
    assert_eq!(
        change("if x:\n    return 'no'\nn += 1\nreturn 'yes'"),
        "If the given x is set:\n  - Nothing changes.\n  - It returns \"no\".\nOtherwise:\n  - The n goes up by 1.\n  - It returns \"yes\"."
    );
    assert_eq!(
        change("return 1 if x else 2"),
        "- Nothing changes.\nIf the given x is set:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
    assert_eq!(
        change("n = 1 if x else 2"),
        "If the given x is set:\n  - The n becomes 1.\nOtherwise:\n  - The n becomes 2."
    );
}

#[test]
fn y6_what_is_known_is_not_asked_again() {
    assert_eq!(
        change("if x == 1:\n    return 'one'\nif x != 1:\n    n = 2"),
        "If the given x is 1:\n  - Nothing changes.\n  - It returns \"one\".\nOtherwise:\n  - The n becomes 2."
    );
    let rendered = happens(
        "t = []\ndef some(): return t\ndef act():\n    if len(t) == 0:\n        return 'never'\n    t.pop()\n\
         state = ('t',)\nenablers = {act: (some,)}\n",
    );
    assert_eq!(rendered, "- The last element of the t is removed.");
}

#[test]
fn y6_a_fact_about_an_old_value_says_nothing_about_a_new_one() {
    // Trap 7: a condition after a change reads the new value.
    let rendered = change("if n > 3:\n    n -= 1\n    if n > 3:\n        m = 1");
    assert!(
        rendered.contains("If the new n is greater than 3:"),
        "{rendered}"
    );
    let rendered = change("old = n\nn += 1\nm = old");
    assert_eq!(
        rendered,
        "- The n goes up by 1.\n- The m becomes the old n."
    );
}

#[test]
fn y7_outcomes_that_read_alike_are_one() {
    assert_eq!(
        change("if x:\n    n = 1\n    return 2\nn = 1\nreturn 2"),
        "- The n becomes 1.\n- It returns 2."
    );
    assert_eq!(
        change("if x:\n    n = 1\nelse:\n    n = 1"),
        "- The n becomes 1."
    );
}

#[test]
fn y8_overwritten_changes_are_left_out() {
    assert_eq!(change("n = 1\nn = 2"), "- The n becomes 2.");
    assert_eq!(change("n += 1\nn = 2"), "- The n becomes 2.");
    assert_eq!(
        change("n = 1\nm = n\nn = 2"),
        "- The n becomes 1.\n- The m becomes the new n.\n- The n becomes 2."
    );
    assert_eq!(change("y = n\nn = 0\nn = y + 1"), "- The n goes up by 1.");
}

#[test]
fn y9_loops_are_one_sentence() {
    assert_eq!(
        change("for v in x:\n    t.append(v)\n    n += 1"),
        "- For each v in the given x, v is added at the end of the t and the n goes up by 1."
    );
    assert_eq!(
        change("for v in x:\n    if v > 3:\n        t.append(v)"),
        "- For each v in the given x such that v is greater than 3, v is added at the end of the t."
    );
    assert_eq!(
        change("for v in x:\n    if v > 3:\n        n += 1\n    else:\n        m += 1"),
        "- For each v in the given x, if v is greater than 3 then the n goes up by 1, otherwise the m goes up by 1."
    );
    assert_eq!(
        change("for v in x:\n    if not v > 3:\n        continue\n    n += v"),
        "- For each v in the given x such that v is greater than 3, the n goes up by v."
    );
}

#[test]
fn y9_larger_loops_are_blocks() {
    assert_eq!(
        change("for v in x:\n    n += v\n    if v > 3:\n        t.append(v)"),
        "For each v in the given x:\n  - The n goes up by v.\n  If v is greater than 3:\n    - V is added at the end of the t."
    );
}

#[test]
fn y9_accumulations_are_expressions() {
    assert_eq!(
        change("y = 0\nfor v in t:\n    y += v * 2\nreturn y"),
        "- Nothing changes.\n- It returns the sum of v times 2 for each v in the t."
    );
    assert_eq!(
        change("y = []\nfor v in t:\n    if v > x:\n        y.append(v)\nreturn y"),
        "- Nothing changes.\n- It returns the elements v of the t such that v is greater than the given x."
    );
    assert_eq!(
        change("y = 0\nfor v in t:\n    if v > x:\n        y += 1\nreturn y"),
        "- Nothing changes.\n- It returns the number of elements v of the t such that v is greater than the given x."
    );
}

#[test]
fn y9_whatever_a_loop_gathers_is_an_expression() {
    let gathers = |body: &str, rendered: &str| {
        let expected = format!("- Nothing changes.\n- It returns {rendered}.");
        assert_eq!(change(body), expected, "{body}");
    };
    gathers(
        "y = set()\nfor v in t:\n    if v > x:\n        y.add(v)\nreturn y",
        "the set of v for each v in the t such that v is greater than the given x",
    );
    gathers(
        "y = {}\nfor v in t:\n    y[v] = n\nreturn y",
        "a dictionary in which v is the n for each v in the t",
    );
    gathers(
        "y = []\nfor v in t:\n    if v > 5:\n        continue\n    z = v + 1\n    y.append(z)\nreturn y",
        "the list of one more than v for each v in the t such that v is at most 5",
    );
    gathers(
        "y = []\nfor v in t:\n    for z in s:\n        if z != v:\n            y.append((v, z))\nreturn y",
        "the list of the pair of v and z for each v in the t and each z in the s such that z does not equal v",
    );
    gathers(
        "y = []\nfor v in t:\n    if v > 1:\n        y.append(v)\n    else:\n        y.append(0)\nreturn y",
        "the list of (v if v is greater than 1, otherwise 0) for each v in the t",
    );
    gathers(
        "y, z = [0], 0\nfor v in t:\n    y.append(v)\n    z += v\nreturn y, z",
        "the pair of [0] followed by the t and the sum of the t",
    );
    gathers(
        "y = False\nfor v in t:\n    if v > 5:\n        y = True\n        break\nreturn y",
        "true if for some v in the t, v is greater than 5, and false otherwise",
    );
}

#[test]
fn y9_what_asks_for_what_was_gathered_stays_a_loop() {
    assert_eq!(
        change("y = []\nfor v in t:\n    if v not in y:\n        y.append(v)\nreturn y"),
        "- The y becomes empty.\n- For each v in the t such that v is not in the y, v is added at the end of the y.\n- It returns the y."
    );
    assert_eq!(
        change("y = {}\nfor v in t:\n    y[v] = y.get(v, 0) + 1\nreturn y"),
        "- The y becomes empty.\n- For each v in the t, the entry for v in the y becomes one more than the entry for v in the y (0 if there is none).\n- It returns the y."
    );
    // An alias of a state variable is that variable.
    assert_eq!(
        change("y = t\nfor v in x:\n    y.append(v)"),
        "- For each v in the given x, v is added at the end of the t."
    );
}

#[test]
fn y9_loops_that_search_and_do_something_else_if_they_find_nothing() {
    assert_eq!(
        change("for v in t:\n    if v == x:\n        break\nelse:\n    t.append(x)"),
        "If there is no v in the t such that v equals the given x:\n  - The given x is added at the end of the t.\nOtherwise:\n  - Nothing changes."
    );
    assert_eq!(
        change(
            "for v in t:\n    if v > x:\n        n = v\n        break\nelse:\n    return 1\nreturn 2"
        ),
        "If there is some v in the t such that v is greater than the given x:\n  - The n becomes the first v in the t such that v is greater than the given x.\n  - It returns 2.\nOtherwise:\n  - Nothing changes.\n  - It returns 1."
    );
    assert_eq!(
        change("for v in t:\n    if v == x:\n        return v\nelse:\n    n += 1\nreturn n"),
        "If there is some v in the t such that v equals the given x:\n  - Nothing changes.\n  - It returns the first v in the t such that v equals the given x.\nOtherwise:\n  - The n goes up by 1.\n  - It returns the new n."
    );
}

#[test]
fn y9_loops_that_break_off() {
    assert_eq!(
        change("for v in t:\n    n += v\n    if n > 9:\n        break\nelse:\n    m = 1"),
        "For each v in the t:\n  - The n goes up by v.\n  If the n is greater than 9:\n    - No further one is looked at.\nIf all of them were looked at:\n  - The m becomes 1."
    );
    assert_eq!(
        change("while n < 9:\n    n += 1\n    if n in s:\n        break\nelse:\n    m = 1"),
        "As long as the n is less than 9:\n  - The n goes up by 1.\n  If the n is in the s:\n    - This is not done again.\nIf this ended because the n is at least 9:\n  - The m becomes 1."
    );
    assert_eq!(
        change("while True:\n    n += 1\n    if n > m:\n        break"),
        "Again and again:\n  - The n goes up by 1.\n  If the n is greater than the m:\n    - This is not done again."
    );
}

#[test]
fn y10_who_has_failed_and_leaves_does_not_go_on() {
    assert_eq!(
        change("try:\n    o.go(x)\nexcept KeyError:\n    n += 1\n    return\nm += 1"),
        "- \"go\" is carried out on the o with the given x.\nIf this fails with the error \"key error\":\n  - The n goes up by 1.\n  - Nothing else changes.\n- The m goes up by 1."
    );
    assert_eq!(
        change(
            "for v in t:\n    try:\n        o.go(v)\n    except KeyError:\n        continue\n    m += 1"
        ),
        "For each v in the t:\n  - \"go\" is carried out on the o with v.\n  If this fails with the error \"key error\":\n    - The next one is looked at.\n  - The m goes up by 1."
    );
}

#[test]
fn y10_what_must_fail_is_checked() {
    assert_eq!(
        change("with pytest.raises((KeyError, shop.Closed)):\n    o.sell(x)\nn += 1"),
        "- \"sell\" is carried out on the o with the given x.\n- It is checked that this fails with the error \"key error\" or \"closed\".\n- The n goes up by 1."
    );
}

#[test]
fn y10_what_is_done_at_last_is_done_by_those_who_leave() {
    assert_eq!(
        change("try:\n    n += 1\n    return n\nfinally:\n    f = False"),
        "- The n goes up by 1.\n- The f flag becomes false.\n- It returns the new n."
    );
    assert_eq!(
        change(
            "try:\n    o.go(x)\nexcept KeyError:\n    return 1\nexcept ValueError:\n    raise\nfinally:\n    f = True\nreturn 2"
        ),
        "- \"go\" is carried out on the o with the given x.\n\
         If this fails with the error \"key error\":\n  - The f flag becomes true.\n  - It returns 1.\n\
         If this fails with the error \"value error\":\n  - The f flag becomes true.\n  - It fails with the same error.\n\
         - The f flag becomes true.\n- It returns 2."
    );
}

#[test]
fn y1_a_collection_of_a_local_is_what_was_put_into_it() {
    assert_eq!(
        change("y = {}\ny['a'] = x\ny['b'] = n\nreturn y"),
        "- Nothing changes.\n- It returns a dictionary in which \"a\" is the given x and \"b\" is the n."
    );
    assert_eq!(
        change("y = [1, 2]\ny[0] = x\nreturn y"),
        "- The y becomes [1, 2].\n- The element of the y at position 0 becomes the given x.\n- It returns the y."
    );
}

#[test]
fn y10_who_fails_comes_to_what_follows() {
    assert_eq!(
        change("try:\n    return d[x]\nexcept KeyError:\n    n += 1\nm = 0\nreturn m"),
        "- The entry for the given x in the d is computed.\n\
         If this fails with the error \"key error\":\n  - The n goes up by 1.\n  - The m becomes 0.\n  - It returns the new m.\n\
         - It returns the entry for the given x in the d."
    );
}

#[test]
fn y9_the_first_that_is_found() {
    assert_eq!(
        change("for v in t:\n    if v > x:\n        return v\nreturn None"),
        "- Nothing changes.\nIf there is some v in the t such that v is greater than the given x:\n  - It returns the first v in the t such that v is greater than the given x."
    );
}

#[test]
fn y9_while() {
    assert_eq!(
        change("while t:\n    t.pop()"),
        "- As long as the t is not empty, the last element of the t is removed."
    );
    let rendered = change("while t:\n    n += 1\n    if n > 3:\n        t.pop()");
    assert!(
        rendered.starts_with("As long as the t is not empty:\n  - The n goes up by 1.\n"),
        "{rendered}"
    );
}

#[test]
fn y9_list_and_sorted_are_transparent_if_order_does_not_matter() {
    let rendered = change("for k in sorted(d):\n    del d[k]");
    assert_eq!(
        rendered,
        "- For each k in the d, the entry for k is removed from the d."
    );
    let rendered = change("for k in sorted(t):\n    t.append(k)");
    assert_eq!(
        rendered,
        "- For each k in the t in sorted order, k is added at the end of the t."
    );
    let rendered = change("for k in list(d):\n    del d[k]");
    assert_eq!(
        rendered,
        "- For each k in the d, the entry for k is removed from the d."
    );
}

#[test]
fn y9_locals_that_loops_change_are_told_of() {
    assert_eq!(
        change("y = x\nfor v in t:\n    y = v * y\nn = y"),
        "- The y becomes the given x.\n- For each v in the t, the y becomes v times the y.\n- The n becomes the y."
    );
}

#[test]
fn y10_try_with_raise_assert_print() {
    assert_eq!(
        change("try:\n    n = int(x)\nexcept ValueError:\n    n = 0"),
        "- The n becomes the given x as a whole number.\nIf this fails with the error \"value error\":\n  - The n becomes 0."
    );
    assert_eq!(
        change("with o.lock() as y:\n    print('x')\n    n += 1"),
        "- The n goes up by 1."
    );
    assert_eq!(
        change("if x not in d:\n    raise errors.NotFound(x)\nreturn d[x]"),
        "If the d has no entry for the given x:\n  - It fails with the error \"not found\".\nOtherwise:\n  - Nothing changes.\n  - It returns the entry for the given x in the d."
    );
    assert_eq!(
        change("assert n > 0 and m > 0\nn -= 1"),
        "- It is checked that the old n is greater than 0.\n- It is checked that the m is greater than 0.\n- The n goes down by 1."
    );
}

#[test]
fn y11_guards_are_one_condition() {
    let rendered = text(
        "model.py",
        "t, n = [], 0\ndef act(): t.pop()\ndef may():\n    if n > 3:\n        return False\n    if not t:\n        return False\n    return n != 1\n\
         state = ('t', 'n')\nactions = (act,)\nenablers = {act: (may,)}\n",
    );
    assert!(
        rendered.contains("When it can happen: only if all of the following hold:\n    - the n is at most 3\n    - the t is not empty\n    - the n is not 1\n"),
        "{rendered}"
    );
    let rendered = text(
        "model.py",
        "t, n = [], 0\ndef act(): t.pop()\ndef may():\n    if n > 3:\n        return t\n    return n == 1\n\
         state = ('t', 'n')\nactions = (act,)\nenablers = {act: (may,)}\n",
    );
    assert!(
        rendered.contains(
            "only if either the n is greater than 3 and the t is not empty, or the n is at most 3 and the n is 1."
        ),
        "{rendered}"
    );
}

#[test]
fn y11_guards_that_ask_first_and_answer_later() {
    let rendered = text(
        "model.py",
        "import device\nn = 0\ndef act(x): pass\ndef may(x):\n    status = device.status(x)\n    return status == 'ok' and n > 0\nstate = ('n',)\nactions = (act,)\nenablers = {act: (may,)}\n",
    );
    assert!(
        rendered.contains("    - the result of \"status\" with the given x is \"ok\"\n    - the n is greater than 0\n"),
        "{rendered}"
    );
}

#[test]
fn types_of_elements_are_inferred_from_insertions() {
    assert_eq!(
        change("d.setdefault(x, []).append(i)"),
        "- An entry for the given x is added to the d, with the value the empty list, unless there is one already.\n- The given i is added at the end of the entry for the given x in the d."
    );
    assert_eq!(
        change("y = d.setdefault(x, [])\nif i not in y:\n    y.append(i)"),
        "- An entry for the given x is added to the d, with the value the empty list, unless there is one already.\nIf the given i is not in the entry for the given x in the new d:\n  - The given i is added at the end of the entry for the given x in the d."
    );
}

/// On its own the condition reads "if … then …" (C37).
#[test]
fn l2_there_is_no_if_behind_if() {
    assert_eq!(
        change("if x not in d or n > 3:\n    n = 0"),
        "If either the d has no entry for the given x or the n is greater than 3:\n  - The n becomes 0.\nOtherwise:\n  - Nothing changes."
    );
}

#[test]
fn y1_values_that_are_named_on_the_way() {
    assert_eq!(
        change("if (k := len(t)) > 3:\n    return k\nn = k"),
        "If the t has more than 3 elements:\n  - Nothing changes.\n  - It returns the number of elements in the t.\nOtherwise:\n  - The n becomes the number of elements in the t."
    );
}

#[test]
fn r10_what_was_so_for_a_while_is_neither_old_nor_new() {
    assert_eq!(
        change("y = t.pop()\nz = t.pop()\nt.append(z - y)"),
        "- The last element of the t is removed.\n- The last element of the t is removed.\n- The last element of the old t without its last element minus the last element of the old t is added at the end of the t."
    );
    assert_eq!(
        change("n -= 3\ny, n = n, 0\nreturn y"),
        "- The n goes down by 3.\n- The n becomes 0.\n- It returns the old n minus 3."
    );
    // While the condition holds, it is about the new value.
    assert_eq!(
        change("n += 1\ny = n\nm = y"),
        "- The n goes up by 1.\n- The m becomes the new n."
    );
}

#[test]
fn r10_keys_inside_of_keys_are_marked() {
    assert_eq!(
        change("n, m = m, n + i\nt[n][m] = x"),
        "- The n becomes the old m.\n- The m becomes the old n plus the given i.\n- The element of the element of the t at position the new n at position the new m becomes the given x."
    );
}
