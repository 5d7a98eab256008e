//! Helpers with effects: each effect is explained once, wherever the helper is called (Y2).

use crate::small_models;

use small_models::happens;

const BANK: &str = "\
n, m, t = 0, 0, []
state = ('n', 'm', 't')
def bump(k=1):
    global n
    n += k
    return n
def log(a):
    t.append(a)
    return len(t)
def size():
    return len(t)
def withdraw(a):
    global n
    if a > n:
        return False
    n -= a
    return True
def positive(a):
    if a < 0:
        raise ValueError(a)
    return a
def search(a):
    global n
    for y in t:
        n += 1
        if y > a:
            return y
    return 0
";

#[track_caller]
fn check(body: &str, rendered: &str) {
    let body = body.replace('\n', "\n    ");
    let model = format!("{BANK}def act(x, i):\n    global n, m, t\n    {body}\n");
    assert_eq!(happens(&model), rendered, "{body}");
}

#[test]
fn r10_what_two_calls_of_a_helper_give_are_two_values() {
    check(
        "a = bump()\nb = bump(k=3)\nt.append(a + b)",
        "- The n goes up by 1.\n- The n goes up by 3.\n\
         - One more than the old n plus the new n is added at the end of the t.",
    );
    check(
        "m = bump() + bump()",
        "- The n goes up by 1.\n- The n goes up by 1.\n- The m becomes one more than the old n plus the new n.",
    );
}

#[test]
fn y2_what_a_helper_does_in_the_middle_of_a_statement() {
    check(
        "if log(x) > 3:\n    t.clear()",
        "- The given x is added at the end of the t.\n\
         If the new t has more than 3 elements:\n  - The t becomes empty.",
    );
    check(
        "return log(x) == 1",
        "- The given x is added at the end of the t.\n\
         - It returns true if the new t has 1 element, and false otherwise.",
    );
    // A value that was read before the helper changed it must not seem to be read afterwards.
    check(
        "m = len(t) + log(x)",
        "- The m becomes the number of elements in the old t plus the result of \"log\" with the given x.\n\
         - This may also change the t.",
    );
    check(
        "m = size() + log(x)",
        "- The m becomes the number of elements in the old t plus the result of \"log\" with the given x.\n\
         - This may also change the t.",
    );
}

#[test]
fn y5_the_ways_part_as_those_of_a_helper_do() {
    check(
        "if withdraw(x):\n    m += x",
        "If the given x is greater than the n:\n  - Nothing changes.\n\
         Otherwise:\n  - The n goes down by the given x.\n  - The m goes up by the given x.",
    );
    check(
        "if not withdraw(x):\n    return 'no'\nm += x",
        "If the given x is greater than the n:\n  - Nothing changes.\n  - It returns \"no\".\n\
         Otherwise:\n  - The n goes down by the given x.\n  - The m goes up by the given x.",
    );
    check(
        "done = withdraw(x)\nt.append(i)\nreturn done",
        "If the given x is greater than the n:\n  - The given i is added at the end of the t.\n  - It returns false.\n\
         Otherwise:\n  - The n goes down by the given x.\n  - The given i is added at the end of the t.\n  \
           - It returns true.",
    );
    check(
        "m = positive(x)",
        "If the given x is less than 0:\n  - It fails with the error \"value error\".\n\
         Otherwise:\n  - The m becomes the given x.",
    );
}

/// A helper that cannot be inlined stays a call, once, and never returns in place of the action.
#[test]
fn y3_a_helper_that_returns_on_some_ways_only() {
    check(
        "v = search(x)\nm = v",
        "- \"search\" is carried out with the given x, giving the v.\n- This may also change the n.\n- The m becomes the v.",
    );
    check(
        "search(x)\nm = 3",
        "- \"search\" is carried out with the given x.\n- This may also change the n.\n- The m becomes 3.",
    );
    check(
        "for y in x:\n    v = withdraw(y)\n    if v:\n        m += y",
        "For each y in the given x:\n  - \"withdraw\" is carried out with y, giving the v.\n  - This may also change the n.\n  \
           If the v is set:\n    - The m goes up by y.",
    );
}
