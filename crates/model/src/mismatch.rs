//! Failures of an implementation that does not behave as its model says.

use testwright_core::message::without_values;
use testwright_core::product::{Interner, StepLabel, ValueId, ValueText};
use testwright_core::{Failure, FailureKind};

use crate::runs::StepMismatch;

/// The reason of a failure whose message mentions the expected result.
const ANOTHER_RESULT: &str = "another result";

/// Builds the failure for an action that did not do what the models say.
///
/// The signature says what kind of difference it is and leaves out values, so that the same complaint
/// about other values counts as the same failure. A reason that mentions the expected value is a
/// complaint about the result, in whatever words.
pub(crate) fn mismatch(action: &str, reason: String, expected: Option<&ValueText>) -> Failure {
    let kind = if expected.is_some_and(|value| mentions(&reason, value)) {
        ANOTHER_RESULT.to_owned()
    } else {
        without_values(&reason)
    };
    Failure {
        kind: FailureKind::ModelMismatch,
        signature: format!("{action}: {kind}"),
        message: reason,
        details: String::new(),
    }
}

/// Builds the failure for a step that the implementation did not perform as its label says.
pub(crate) fn step_mismatch(interner: &Interner, label: StepLabel, found: StepMismatch) -> Failure {
    let name = interner.name_text(label.name);
    if found.is_hang {
        return Failure {
            kind: FailureKind::Hang,
            message: found.text,
            signature: name.to_owned(),
            details: String::new(),
        };
    }
    // An exception is no complaint about the result, even if it mentions it.
    let has_result = label.result != ValueId::NONE && found.exception.is_none();
    let expected = has_result.then(|| interner.value_text(label.result));
    let mut failure = mismatch(name, found.text, expected);
    if let Some(reason) = found
        .reason
        .filter(|_| !failure.signature.ends_with(ANOTHER_RESULT))
    {
        failure.signature = format!("{name}: {reason}");
    }
    failure
}

/// Returns true if a text contains a value as a word of its own.
fn mentions(text: &str, value: &ValueText) -> bool {
    let is_part = |letter: Option<char>| {
        letter.is_some_and(|letter| letter.is_alphanumeric() || letter == '_')
    };
    let has = |word: &str| {
        text.match_indices(word).any(|(start, _)| {
            let (before, after) = (&text[..start], &text[start + word.len()..]);
            let is_cut = is_part(before.chars().last()) && is_part(word.chars().next())
                || is_part(word.chars().last()) && is_part(after.chars().next());
            !word.is_empty() && !is_cut
        })
    };
    has(value.plain()) || has(&value.literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_complaint_about_other_values_is_the_same_failure() {
        let same = |one: &str, other: &str| {
            mismatch("Pop", one.to_owned(), None).is_same_as(&mismatch(
                "Pop",
                other.to_owned(),
                None,
            ))
        };
        assert!(same("got 12, expected 7", "got 3, expected 40"));
        assert!(same(
            "got 'a b', expected \"c\"",
            "got '', expected \"it's\""
        ));
        assert!(same(
            "got [1, 3, 3, 1], expected [1, 3, 1]",
            "got [], expected [2]"
        ));
        assert!(same(
            "the switch says True, the model False",
            "the switch says False, the model True"
        ));
        assert!(same("slot -1.5e3 of {1: (2, 3)}", "slot 7 of {}"));
        assert!(!same("the pile is empty", "the pile is full"));
        assert!(!same("can't push", "can't pop"));
        let about_results = |got: &str, expected: &str| {
            let text = format!("{got} instead of {expected}");
            mismatch("Pop", text, Some(&ValueText::literal(expected)))
        };
        assert!(about_results("abc", "abd").is_same_as(&about_results("xyz", "x")));
        let other_action = mismatch("Push", "wrong".to_owned(), None);
        assert!(!mismatch("Pop", "wrong".to_owned(), None).is_same_as(&other_action));
    }
}
