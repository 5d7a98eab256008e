//! Properties, called all at once where possible and one by one where not.

use crate::support;

use support::{Folder, check, step};
use testwright_core::{Outcome, System};

const HARNESS: &str = "\
<@
LIMIT = 3
log = []
def small(number):
    log.append(number)
    if number > 8:
        raise KeyError(number)
    return number < LIMIT
class Vague:
    def __bool__(self):
        raise ValueError('who knows')
@>
pool: <int> 2
pool: <list> 2
<int> := <[0..9]>
<list> := []
<list> = None
~<list>.append(<int>)
{ValueError} <int> = -1
";

/// Binds a name, so that it cannot share a function with others.
const LONER: &str = "property: (own := True) and own\n";

/// Returns the failure after these steps, with its traceback. The message is the same whether
/// properties are called at once or one by one.
fn failure(properties: &str, steps: &[&str]) -> String {
    let outcome = |text: &str| {
        Folder::new(&[]).with(text, |system| {
            for text in steps {
                assert_eq!(step(system, text), "passed", "{text}");
            }
            match system.check() {
                Outcome::Failed(failure) => {
                    assert!(
                        failure.signature.contains("property in line 20"),
                        "{failure:?}"
                    );
                    format!("{}\n{}", failure.message, failure.details)
                }
                outcome => format!("{outcome:?}"),
            }
        })
    };
    let at_once = outcome(&format!("{HARNESS}{properties}"));
    let one_by_one = outcome(&format!("{HARNESS}{properties}{LONER}"));
    let message = |text: &str| text.lines().next().map(str::to_owned);
    assert_eq!(message(&at_once), message(&one_by_one));
    at_once
}

#[test]
fn the_first_false_instance_is_named() {
    let property = "property: small(<int>) or <list> != []\n";
    let steps = ["int1 = 7", "list0 = [1]", "list1 = []"];
    let list = "<list> := [1]\n";
    let found = failure(&format!("{property}{list}"), &steps);
    assert!(
        found.starts_with("`small(int1) or list1 != []` is false"),
        "{found}"
    );
}

#[test]
fn empty_slots_are_left_out() {
    assert_eq!(failure("property: small(<int>)\n", &["int0 = 2"]), "Passed");
    assert_eq!(failure("property: small(<int>)\n", &[]), "Passed");
    assert_eq!(
        failure(
            "property: len(<list>) == 0\n",
            &["list1 = []", "list1 = None"]
        ),
        "Passed"
    );
}

#[test]
fn a_raising_property_names_its_instance_and_line() {
    let found = failure(
        "property: small(<int>) or True\n",
        &["int0 = 1", "int1 = 9"],
    );
    assert!(
        found.starts_with("`small(int1) or True` raised KeyError"),
        "{found}"
    );
    assert!(found.contains("line 20, in line"), "{found}");
}

#[test]
fn an_answer_that_cannot_be_had_is_a_failure() {
    let found = failure("property: Vague()\n", &[]);
    assert!(found.starts_with("`Vague()` raised ValueError"), "{found}");
}

#[test]
fn excused_exceptions_count_as_true() {
    assert_eq!(
        failure("property: {KeyError} small(<int>) or True\n", &["int0 = 9"]),
        "Passed"
    );
    let found = failure(
        "property: {KeyError} small(<int>)\n",
        &["int0 = 9", "int1 = 4"],
    );
    assert!(found.starts_with("`small(int1)` is false"), "{found}");
    let excused = "property: {ValueError} Vague()\n";
    assert!(
        failure(excused, &[]).contains("raised ValueError"),
        "asking is not evaluating"
    );
}

#[test]
fn alternatives_are_instances() {
    let found = failure("property: <int> != <[0,4,5]>\n", &["int0 = 3", "int1 = 5"]);
    assert!(found.starts_with("`int1 != 5` is false"), "{found}");
}

#[test]
fn names_of_one_property_are_not_those_of_another() {
    let text = format!("{HARNESS}property: (LIMIT := 9) > 3\nproperty: LIMIT == 3\n");
    Folder::new(&[]).with(&text, |system| assert_eq!(check(system), "passed"));
}

#[test]
fn comprehensions_and_functions_see_the_slots() {
    let property = "property: all(x in <list> for x in <list>) and (lambda: len(<list,1>) < 2)()\n";
    assert_eq!(
        failure(property, &["int0 = 4", "list0 = []", "list0.append(int0)"]),
        "Passed"
    );
    let twice = [
        "int0 = 4",
        "list1 = []",
        "list1.append(int0)",
        "list1.append(int0)",
    ];
    assert!(failure(property, &twice).contains("is false"));
}

#[test]
fn each_instance_is_asked_once() {
    let text = format!("{HARNESS}property: small(<int>)\nproperty: {{KeyError}} small(<int>)\n");
    let asked = "log == [0, 1, 0, 1] -> pass\n";
    Folder::new(&[]).with(&format!("{text}{asked}"), |system| {
        assert_eq!(step(system, "int0 = 0"), "passed");
        assert_eq!(step(system, "int1 = 1"), "passed");
        assert_eq!(check(system), "passed");
        let enabled = support::enabled(system);
        assert!(enabled.contains(&String::from("pass")), "{enabled:?}");
    });
}
