//! Variables of the same name: an inner variable is told apart from an outer one.

use crate::small_models;

use small_models::{change, happens};

const LOANS: &str = "\
loans, books = {}, []
state = ('loans', 'books')
def held(member):
    return sum(1 for m in loans.values() if m == member)
def forget(member):
    for m in list(loans):
        if loans[m] == member:
            del loans[m]
";

#[track_caller]
fn check(body: &str, rendered: &str) {
    let body = body.replace('\n', "\n    ");
    let model = format!("{LOANS}def act(x):\n    {body}\n");
    assert_eq!(happens(&model), rendered, "{body}");
}

#[test]
fn y2_r5_a_helper_binds_a_variable_of_its_own() {
    check(
        "return all(held(m) < 3 for m in books)",
        "- Nothing changes.\n- It returns true if for every m in the books, the number of elements other m of the \
         values of the loans such that other m equals m is less than 3, and false otherwise.",
    );
    check(
        "for m in books:\n    forget(m)",
        "For each m in the books:\n  - For each other m in the loans such that the entry for other m in the loans \
         equals m, the entry for other m is removed from the loans.",
    );
}

#[test]
fn y1_r5_a_local_that_is_written_out_means_what_it_meant() {
    check(
        "found = []\nfor b in books:\n    more = b + 1\n    if any(more == b for b in loans):\n        found.append(b)\n\
         return found",
        "- Nothing changes.\n- It returns the elements b of the books such that for some other b in the loans, one more \
         than b equals other b.",
    );
    check(
        "late = [b for b in books if b > x]\nreturn all(b in late for b in loans)",
        "- Nothing changes.\n- It returns true if for every b in the loans, b is in the elements b of the books such \
         that b is greater than the given x, and false otherwise.",
    );
}

#[test]
fn y9_a_local_of_the_rounds_that_is_asked_for_behind_them() {
    assert_eq!(
        change("for y in x:\n    last = y\nn = last"),
        "- For each y in the given x, the last becomes y.\n- The n becomes the last."
    );
    assert_eq!(
        change("while n > 0:\n    r = n % 2\n    n -= 1\nm = r"),
        "- As long as the n is greater than 0, the r becomes the remainder of the n divided by 2 and the n goes down by 1.\n\
         - The m becomes the r."
    );
    // A local that is assigned again is another one.
    assert_eq!(
        change("for y in x:\n    k = y * 2\n    t.append(k)\nk = 3\nn = k"),
        "- For each y in the given x, y times 2 is added at the end of the t.\n- The n becomes 3."
    );
}

#[test]
fn y4_a_local_that_differs_in_a_round_is_told_of() {
    assert_eq!(
        change(
            "v = 0\nfor y in x:\n    if y:\n        v = 1\n    else:\n        v = 'a'\n    t.append(v)"
        ),
        "- The v becomes 0.\nFor each y in the given x:\n  If y is set:\n    - The v becomes 1.\n  \
           Otherwise:\n    - The v becomes \"a\".\n  - The v is added at the end of the t."
    );
    assert_eq!(
        change("for y in x:\n    v = t.pop() if t else 0\n    n += v"),
        "For each y in the given x:\n  If the t is not empty:\n    - The last element of the t is removed.\n    \
             - The v becomes that element.\n  Otherwise:\n    - The v becomes 0.\n  - The n goes up by the v."
    );
}
