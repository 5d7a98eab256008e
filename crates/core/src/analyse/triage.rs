//! Triage: how many bugs are these failures?
//!
//! A campaign finds hundreds of failing tests for a handful of bugs. Tests are put together if their failures look the same
//! once numbers (and, if wanted, strings) are left out and they fail in the same action, whatever its slots and values.

use std::collections::{BTreeMap, BTreeSet};

use crate::{Catalog, Failure, Step, Test};

/// What counts when failures are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TriageOptions {
    /// Leave out what stands in quotes, too.
    pub abstract_strings: bool,
    /// Tests with different sets of action classes are different.
    pub action_classes: bool,
    /// Failures whose message contains any of these are not looked at.
    pub ignore: Vec<String>,
}

/// What failures of one kind have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The message without what varies.
    pub failure: String,
    /// The failing step without what varies; empty if there is none.
    pub step: String,
    /// The classes of all steps, if they count.
    pub classes: BTreeSet<String>,
}

/// Failing tests with one signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// What they have in common.
    pub signature: Signature,
    /// The shortest of them; of equally short ones the first.
    pub shortest: usize,
    /// All of them, by index.
    pub members: Vec<usize>,
}

/// Puts failing tests together, the largest group first. The last step of each test should be the one that fails.
///
/// ```
/// use testwright_core::analyse::triage::{TriageOptions, triage};
/// use testwright_core::{Failure, FailureKind, Test, toys};
///
/// let catalog = toys::catalog(&[("x", 3)], &["<x> := <[1..9]>", "f(<x>)"]);
/// let case = |test: &str, message: &str| {
///     let test = Test::of(test.split("; ").map(|text| catalog.find(text)[0]));
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
pub fn triage(catalog: &Catalog, cases: &[(Test, Failure)], options: &TriageOptions) -> Vec<Group> {
    let mut groups: BTreeMap<Signature, Vec<usize>> = BTreeMap::new();
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
    let mut groups: Vec<Group> = groups
        .into_iter()
        .map(|(signature, members)| {
            let shortest = members
                .iter()
                .copied()
                .min_by_key(|index| (cases[*index].0.len(), *index));
            Group {
                signature,
                shortest: shortest.unwrap_or(0),
                members,
            }
        })
        .collect();
    // Stable: in order of signatures within.
    groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    groups
}

/// What a failure has in common with others of its kind.
pub fn signature(
    catalog: &Catalog,
    test: &Test,
    failure: &Failure,
    options: &TriageOptions,
) -> Signature {
    let class = |step: &Step| match step {
        Step::Act(action) => Some(
            catalog.templates()[catalog.template_of(*action).0]
                .class
                .clone(),
        ),
        Step::Restart => None,
    };
    let step = match test.steps.last() {
        Some(Step::Act(action)) => without_digits(&catalog.text(*action)),
        _ => String::new(),
    };
    let classes = if options.action_classes {
        test.steps.iter().filter_map(class).collect()
    } else {
        BTreeSet::new()
    };
    Signature {
        failure: abstract_message(&failure.message, options.abstract_strings),
        step,
        classes,
    }
}

/// A message without digits, and without what stands in quotes if that is wanted.
pub fn abstract_message(message: &str, abstract_strings: bool) -> String {
    let message = if abstract_strings {
        without_strings(message)
    } else {
        message.to_owned()
    };
    without_digits(&message)
}

fn without_digits(text: &str) -> String {
    text.chars()
        .filter(|character| !character.is_ascii_digit())
        .collect()
}

/// Quotes stay, what they enclose goes. A quote within a word is an apostrophe, and one that is never closed is left alone.
fn without_strings(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find(['\'', '"']) {
        let (before, from_quote) = rest.split_at(place);
        out.push_str(before);
        let quote = &from_quote[..1];
        out.push_str(quote);
        rest = &from_quote[1..];
        let is_apostrophe = quote == "'" && out[..out.len() - 1].ends_with(char::is_alphabetic);
        if is_apostrophe {
            continue;
        }
        if let Some(end) = closing(rest, quote) {
            out.push_str(quote);
            rest = &rest[end + 1..];
        }
    }
    out.push_str(rest);
    out
}

/// Where a string ends, with regard to backslashes.
fn closing(text: &str, quote: &str) -> Option<usize> {
    let mut escaped = false;
    for (place, character) in text.char_indices() {
        if escaped {
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if quote.starts_with(character) {
            return Some(place);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_is_left_out() {
        let check = |text: &str, strings: bool, expected: &str| {
            assert_eq!(abstract_message(text, strings), expected);
        };
        check("list index 17 of 3", false, "list index  of ");
        check(
            "KeyError: 'a1' is not \"b\"",
            false,
            "KeyError: 'a' is not \"b\"",
        );
        check(
            "KeyError: 'a1' is not \"b\"",
            true,
            "KeyError: '' is not \"\"",
        );
        check("can't find 'it\\'s'", true, "can't find ''");
        check("never 'closed", true, "never 'closed");
        check("ä 'ö' ü", true, "ä '' ü");
    }
}
