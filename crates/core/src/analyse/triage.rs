//! Triage: how many bugs are these failures?
//!
//! A campaign finds hundreds of failing tests for a handful of bugs. Tests are grouped if their
//! failures look the same without numbers (and, on request, without strings) and they fail in the
//! same action, whatever its slots and values.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Catalog, Failure, Step, Test};

/// Options of the comparison of failures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriageOptions {
    /// Also ignore text in quotes.
    pub abstract_strings: bool,
    /// Keep tests apart that use different sets of action classes.
    pub action_classes: bool,
    /// Skip failures whose message contains any of these.
    pub ignore: Vec<String>,
}

/// The properties that equivalent failures share.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FailureSignature {
    /// The message without its variable parts.
    pub failure: String,
    /// The failing step without its variable parts; empty if there is none.
    pub step: String,
    /// The classes of all steps, if they are compared.
    pub classes: BTreeSet<String>,
}

/// Failing tests with one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailureGroup {
    /// Their common signature.
    pub signature: FailureSignature,
    /// The index of the shortest one; of equally short ones the first.
    pub shortest: usize,
    /// The indices of all of them.
    pub members: Vec<usize>,
}

impl FailureGroup {
    /// Builds the group of some failing tests that belong together.
    pub fn of_members(
        catalog: &Catalog,
        cases: &[(Test, Failure)],
        members: Vec<usize>,
        options: &TriageOptions,
    ) -> FailureGroup {
        let shortest = members
            .iter()
            .copied()
            .min_by_key(|index| (cases[*index].0.len(), *index))
            .unwrap_or(0);
        let (test, failure) = &cases[shortest];
        FailureGroup {
            signature: signature(catalog, test, failure, options),
            shortest,
            members,
        }
    }
}

/// Groups failing tests by signature, the largest group first. The last step of each test should be
/// the failing one.
///
/// ```
/// use testwright_core::analyse::triage::{TriageOptions, triage};
/// use testwright_core::{Failure, FailureKind, Test, toys};
///
/// let catalog = toys::catalog(&[("x", 3)], &["<x> := <[1..9]>", "f(<x>)"]);
/// let case = |test: &str, message: &str| {
///     let test = Test::from_actions(test.split("; ").map(|text| catalog.find(text)[0]));
///     let kind = FailureKind::UncaughtException;
///     (test, Failure { kind, message: message.to_owned(), signature: String::new(), details: String::new() })
/// };
/// let cases = [
///     case("x0 = 3; x1 = 5; f(x1)", "KeyError: 17"),
///     case("x2 = 4; f(x2)", "KeyError: 4"),
///     case("x2 = 4; f(x2)", "TypeError: no"),
/// ];
/// let groups = triage(&catalog, &cases, &TriageOptions::default());
/// assert_eq!(groups.len(), 2);
/// assert_eq!(groups[0].signature.step, "f(x)");
/// assert_eq!((groups[0].shortest, groups[0].members.as_slice()), (1, [0, 1].as_slice()));
/// ```
pub fn triage(
    catalog: &Catalog,
    cases: &[(Test, Failure)],
    options: &TriageOptions,
) -> Vec<FailureGroup> {
    let mut groups: BTreeMap<FailureSignature, Vec<usize>> = BTreeMap::new();
    for (index, (test, failure)) in cases.iter().enumerate() {
        if options
            .ignore
            .iter()
            .any(|text| failure.message.contains(text))
        {
            continue;
        }
        let signature = signature(catalog, test, failure, options);
        groups.entry(signature).or_default().push(index);
    }
    let mut groups: Vec<FailureGroup> = groups
        .into_values()
        .map(|members| FailureGroup::of_members(catalog, cases, members, options))
        .collect();
    // Stable: in order of signatures within.
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// Computes the signature of a failing test.
pub fn signature(
    catalog: &Catalog,
    test: &Test,
    failure: &Failure,
    options: &TriageOptions,
) -> FailureSignature {
    let class = |step: &Step| match step {
        Step::Act(action) => Some(
            catalog.templates()[catalog.template_of(*action).0]
                .class
                .clone(),
        ),
        Step::Restart => None,
    };
    let step = match test.steps.last() {
        Some(Step::Act(action)) => without_numbers(&catalog.text(*action)),
        _ => String::new(),
    };
    let classes = if options.action_classes {
        test.steps.iter().filter_map(class).collect()
    } else {
        BTreeSet::new()
    };
    FailureSignature {
        failure: abstract_message(&failure.message, options.abstract_strings),
        step,
        classes,
    }
}

/// Writes `…` for each number in a message, and also for text in quotes if `abstract_strings` is
/// set.
pub fn abstract_message(message: &str, abstract_strings: bool) -> String {
    let message = if abstract_strings {
        without_strings(message)
    } else {
        message.to_owned()
    };
    without_numbers(&message)
}

/// Writes `…` for each number. The digits at the end of a name are left out: `b0` is a `b`.
fn without_numbers(text: &str) -> String {
    let mut out = String::new();
    let mut previous = ' ';
    let mut in_number = false;
    for (position, character) in text.char_indices() {
        let is_digit = character.is_ascii_digit();
        let is_point = character == '.'
            && text[position + 1..].starts_with(|next: char| next.is_ascii_digit());
        if is_digit && !in_number {
            in_number = !(previous.is_alphanumeric() || previous == '_');
            if in_number {
                out.push('…');
            }
        } else if !(is_digit || in_number && is_point) {
            in_number = false;
            out.push(character);
        }
        previous = character;
    }
    out
}

/// Writes `…` for the text between quotes. A quote within a word is an apostrophe,
/// and a quote that is never closed is left alone.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(position) = rest.find(['\'', '"']) {
        let (before, from_quote) = rest.split_at(position);
        out.push_str(before);
        let quote = &from_quote[..1];
        out.push_str(quote);
        rest = &from_quote[1..];
        let is_apostrophe = quote == "'" && out[..out.len() - 1].ends_with(char::is_alphabetic);
        if is_apostrophe {
            continue;
        }
        if let Some(end) = find_closing_quote(rest, quote) {
            out.push('…');
            out.push_str(quote);
            rest = &rest[end + 1..];
        }
    }
    out.push_str(rest);
    out
}

/// Returns the position of the closing quote, taking backslash escapes into account.
fn find_closing_quote(text: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    for (position, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if quote.starts_with(character) {
            return Some(position);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_removed_from_messages() {
        let check = |text: &str, strings: bool, expected: &str| {
            assert_eq!(abstract_message(text, strings), expected);
        };
        check("list index 17 of 3", false, "list index … of …");
        check(
            "KeyError: 'a1' is not \"b\"",
            false,
            "KeyError: 'a' is not \"b\"",
        );
        check(
            "KeyError: 'a1' is not \"b\"",
            true,
            "KeyError: '…' is not \"…\"",
        );
        check("can't find 'it\\'s'", true, "can't find '…'");
        check("never 'closed", true, "never 'closed");
        check("ä 'ö' ü", true, "ä '…' ü");
    }
}
