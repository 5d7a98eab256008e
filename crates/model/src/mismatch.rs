//! Failures of an implementation that does not behave as its model says.

use testwright_core::{Failure, FailureKind};

/// Builds the failure for an action that did not do what the models say. The signature leaves out
/// values, so that the same complaint about other values counts as the same failure.
pub(crate) fn mismatch(action: &str, reason: String) -> Failure {
    Failure {
        kind: FailureKind::ModelMismatch,
        signature: format!("{action}: {}", without_values(&reason)),
        message: reason,
        details: String::new(),
    }
}

/// Removes digits and quoted passages from a text.
fn without_values(text: &str) -> String {
    let mut rest = String::new();
    let mut quoted_by = None;
    let mut before = ' ';
    for letter in text.chars() {
        match quoted_by {
            Some(mark) if mark == letter => quoted_by = None,
            Some(_) => {}
            // A quotation mark after a letter is an apostrophe.
            None if matches!(letter, '\'' | '"' | '`') && !before.is_alphanumeric() => {
                quoted_by = Some(letter);
            }
            None if letter.is_ascii_digit() => {}
            None => rest.push(letter),
        }
        before = letter;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_complaint_about_other_values_is_the_same_failure() {
        let same = |one: &str, other: &str| {
            mismatch("Pop", one.to_owned()).is_same_as(&mismatch("Pop", other.to_owned()))
        };
        assert!(same("got 12, expected 7", "got 3, expected 40"));
        assert!(same(
            "got 'a b', expected \"c\"",
            "got '', expected \"it's\""
        ));
        assert!(!same("the pile is empty", "the pile is full"));
        assert!(!same("can't push", "can't pop"));
        let other_action = mismatch("Push", "wrong".to_owned());
        assert!(!mismatch("Pop", "wrong".to_owned()).is_same_as(&other_action));
    }
}
