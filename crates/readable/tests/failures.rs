//! Error handling (Y10): the effects of handlers, of `else` and of `finally`.

use crate::small_models;

use small_models::change;

#[test]
fn y10_what_is_only_done_if_nothing_fails() {
    assert_eq!(
        change("try:\n    send(x)\nexcept KeyError:\n    n = 0\nelse:\n    n += 1\nt.append(x)"),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - The n becomes 0.\n\
         Otherwise:\n  - The n goes up by 1.\n\
         - The given x is added at the end of the t."
    );
    // No failing path comes here, so no choice is needed.
    assert_eq!(
        change("try:\n    send(x)\nexcept KeyError:\n    return 0\nelse:\n    n += 1"),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - It returns 0.\n\
         - The n goes up by 1."
    );
}

#[test]
fn y10_a_local_that_depends_on_a_failure_is_told_of() {
    assert_eq!(
        change("try:\n    size = int(x)\nexcept ValueError:\n    size = 0\nn += size"),
        "- The size becomes the given x as a whole number.\n\
         If this fails with the error \"value error\":\n  - The size becomes 0.\n\
         - The n goes up by the size."
    );
}

#[test]
fn y10_a_failure_that_is_passed_over() {
    assert_eq!(
        change("try:\n    send(x)\nexcept KeyError:\n    pass\nn += 1"),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - Nothing is done about it.\n\
         - The n goes up by 1."
    );
    assert_eq!(
        change("try:\n    send(x)\nexcept KeyError:\n    pass"),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - Nothing else changes."
    );
}

#[test]
fn y10_what_follows_is_told_of_those_who_come_to_it() {
    assert_eq!(
        change("try:\n    send(x)\nexcept KeyError:\n    n = 0\nelse:\n    return 1\nt.append(x)"),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - The n becomes 0.\n  \
           - The given x is added at the end of the t.\n\
         Otherwise:\n  - It returns 1."
    );
    assert_eq!(
        change(
            "try:\n    send(x)\nexcept KeyError:\n    n = 0\n\
             else:\n    if n > 3:\n        return 1\n    n += 1\nt.append(x)"
        ),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - The n becomes 0.\n  \
           - The given x is added at the end of the t.\n\
         Otherwise:\n  If the n is greater than 3:\n    - It returns 1.\n  \
           Otherwise:\n    - The n goes up by 1.\n    - The given x is added at the end of the t."
    );
    assert_eq!(
        change(
            "for y in x:\n    try:\n        send(y)\n    except KeyError:\n        n = 0\n    \
             else:\n        continue\n    t.append(y)"
        ),
        "For each y in the given x:\n  - \"send\" is carried out with y.\n  \
           If this fails with the error \"key error\":\n    - The n becomes 0.\n    \
             - Y is added at the end of the t."
    );
}

#[test]
fn y10_a_handler_knows_nothing_of_another() {
    assert_eq!(
        change(
            "try:\n    send(x)\nexcept KeyError:\n    n = 0\nexcept ValueError:\n    t.append(n)"
        ),
        "- \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - The n becomes 0.\n\
         If this fails with the error \"value error\":\n  - The old n is added at the end of the t."
    );
}

#[test]
fn y10_a_local_that_a_failure_leaves_as_it_was() {
    assert_eq!(
        change("y = 5\ntry:\n    y = int(x)\nexcept ValueError:\n    pass\nn += y"),
        "- The y becomes 5.\n\
         - The y becomes the given x as a whole number.\n\
         If this fails with the error \"value error\":\n  - Nothing is done about it.\n\
         - The n goes up by the y."
    );
    assert_eq!(
        change(
            "y: int = 5\ntry:\n    send(x)\nexcept KeyError:\n    pass\nelse:\n    y: int = 3\nn += y"
        ),
        "- The y becomes 5.\n\
         - \"send\" is carried out with the given x.\n\
         If this fails with the error \"key error\":\n  - Nothing is done about it.\n\
         Otherwise:\n  - The y becomes 3.\n\
         - The n goes up by the y."
    );
}

#[test]
fn y10_who_has_failed_does_not_leave_with_those_who_have_not() {
    assert_eq!(
        change(
            "while True:\n    try:\n        n = int(x)\n        break\n    except ValueError:\n        m += 1"
        ),
        "Again and again:\n  - The n becomes the given x as a whole number.\n  \
           If this fails with the error \"value error\":\n    - The m goes up by 1.\n  \
           Otherwise:\n    - This is not done again."
    );
    assert_eq!(
        change("try:\n    return int(x)\nexcept ValueError:\n    m += 1\nn = 3"),
        "- The given x as a whole number is computed.\n\
         If this fails with the error \"value error\":\n  - The m goes up by 1.\n  - The n becomes 3.\n\
         Otherwise:\n  - It returns the given x as a whole number."
    );
}

#[test]
fn y10_ways_that_part_inside_of_what_is_tried() {
    // The `finally` block is explained once.
    assert_eq!(
        change("try:\n    return 1 if x else 2\nfinally:\n    n += 1"),
        "- The n goes up by 1.\nIf the given x is set:\n  - It returns 1.\nOtherwise:\n  - It returns 2."
    );
    assert_eq!(
        change(
            "try:\n    if x:\n        return 1\n    m = 2\n    y = int(i)\nexcept KeyError:\n    y = 0\n\
             t.append(m + y)"
        ),
        "If the given x is set:\n  - It returns 1.\n\
         Otherwise:\n  - The m becomes 2.\n  - The y becomes the given i as a whole number.\n\
         If this fails with the error \"key error\":\n  - The y becomes 0.\n\
         - The new m plus the y is added at the end of the t."
    );
}
