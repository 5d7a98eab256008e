//! Summaries of actions that differ only in numbers.

use std::collections::{BTreeMap, BTreeSet};

use super::Branch;

/// Groups actions that differ only in their numbers, which may be values or slots of a pool. Each
/// group becomes a branch, in the order of its first action. The difference is shown in the
/// notation of harnesses: `<[1..20]>`, `<[2,4,8]>`.
pub fn summarize(actions: &[String]) -> Vec<Branch> {
    let mut groups: Vec<(&String, Vec<NumberedText<'_>>)> = Vec::new();
    let mut indices = BTreeMap::new();
    for action in actions {
        let parts = NumberedText::new(action);
        let index = *indices.entry(parts.words.clone()).or_insert(groups.len());
        if index == groups.len() {
            groups.push((action, Vec::new()));
        }
        groups[index].1.push(parts);
    }
    (groups.iter())
        .map(|(first, members)| Branch {
            text: (*first).clone(),
            more_actions: members.len() - 1,
            pattern: common_pattern(members),
        })
        .collect()
}

/// A text, split into its numbers and the words around them.
struct NumberedText<'a> {
    /// Words, one more than there are numbers.
    words: Vec<&'a str>,
    /// Numbers between the words.
    numbers: Vec<u64>,
}

impl<'a> NumberedText<'a> {
    /// Splits a text.
    fn new(text: &'a str) -> NumberedText<'a> {
        let mut parts = NumberedText {
            words: Vec::new(),
            numbers: Vec::new(),
        };
        let mut word_start = 0;
        let mut index = 0;
        while let Some(found) = text[index..].find(|letter: char| letter.is_ascii_digit()) {
            let start = index + found;
            let rest = &text[start..];
            let length = (rest.find(|letter: char| !letter.is_ascii_digit())).unwrap_or(rest.len());
            index = start + length;
            // Numbers that are too large or start with a zero stay words, so that joining the parts
            // always gives the text.
            let digits = &rest[..length];
            if let Ok(number) = digits.parse::<u64>()
                && (digits == "0" || !digits.starts_with('0'))
            {
                parts.words.push(&text[word_start..start]);
                parts.numbers.push(number);
                word_start = index;
            }
        }
        parts.words.push(&text[word_start..]);
        parts
    }
}

/// Returns the common pattern of texts with the same words.
fn common_pattern(members: &[NumberedText<'_>]) -> String {
    let mut text = String::new();
    let Some(first) = members.first() else {
        return text;
    };
    for (index, word) in first.words.iter().enumerate() {
        text += word;
        let values: BTreeSet<u64> = (members.iter())
            .filter_map(|member| member.numbers.get(index).copied())
            .collect();
        text += &value_list(&values);
    }
    text
}

/// Renders values as a choice: a single one literally, a range by its ends, others one by one
/// unless there are many.
fn value_list(values: &BTreeSet<u64>) -> String {
    let (Some(least), Some(most)) = (values.first(), values.last()) else {
        return String::new();
    };
    let count = values.len() as u64;
    if count == 1 {
        return least.to_string();
    }
    if most - least == count - 1 && count > 2 {
        return format!("<[{least}..{most}]>");
    }
    let mut shown: Vec<String> = values.iter().take(6).map(u64::to_string).collect();
    if count > 6 {
        shown[5] = format!("…,{most}");
    }
    format!("<[{}]>", shown.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(actions: &[&str], expected: &[(&str, usize, &str)]) {
        let actions: Vec<String> = actions.iter().map(|action| action.to_string()).collect();
        let branches = summarize(&actions);
        let found: Vec<(&str, usize, &str)> = (branches.iter())
            .map(|branch| {
                (
                    branch.text.as_str(),
                    branch.more_actions,
                    branch.pattern.as_str(),
                )
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn numbers_become_choices() {
        check(
            &["int0 = 3", "f(int1)", "int0 = 1", "int0 = 2", "f(int0)"],
            &[
                ("int0 = 3", 2, "int0 = <[1..3]>"),
                ("f(int1)", 1, "f(int<[0,1]>)"),
            ],
        );
        check(
            &["a(1, 9)", "a(1, 4)", "a(1, 7)"],
            &[("a(1, 9)", 2, "a(1, <[4,7,9]>)")],
        );
        check(&["x"], &[("x", 0, "x")]);
        check(&[], &[]);
    }

    #[test]
    fn many_values_are_cut() {
        let actions: Vec<String> = (0..20).map(|value| format!("ü{}", value * value)).collect();
        assert_eq!(summarize(&actions)[0].pattern, "ü<[0,1,4,9,16,…,361]>");
    }

    #[test]
    fn odd_numbers_stay_words() {
        let large = "9".repeat(40);
        check(
            &[&large, "007", "7", "08"],
            &[
                (&large, 0, &large),
                ("007", 0, "007"),
                ("7", 0, "7"),
                ("08", 0, "08"),
            ],
        );
    }
}
