//! Variables of the same name: what is bound inside is told apart from what is meant outside.

mod telling;

use telling::happens;

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
fn check(body: &str, told: &str) {
    let body = body.replace('\n', "\n    ");
    let model = format!("{LOANS}def act(x):\n    {body}\n");
    assert_eq!(happens(&model), told, "{body}");
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
