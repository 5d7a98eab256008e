//! Finds the names that were probably meant by a misspelt one.

use crate::text_distance;

/// Maximum number of names that a message lists.
const MAX_NAMES: usize = 10;

/// Returns the candidate that is most like a word, if one is like it: the same letters in another
/// order, or few letters that differ.
pub fn closest(word: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    by_distance(word, candidates).into_iter().next()
}

/// Returns advice for a name that does not exist: the names that are like it, or else all of them.
///
/// ```
/// let names = ["Open", "Close"].map(str::to_owned);
/// let advice = testwright_core::spelling::advice("Clsoe", "actions", names);
/// assert_eq!(advice, "did you mean `Close`? the actions are `Open`, `Close`");
/// ```
pub fn advice(word: &str, kind: &str, names: impl IntoIterator<Item = String>) -> String {
    let names: Vec<String> = names.into_iter().collect();
    if names.is_empty() {
        return format!("there are no {kind}");
    }
    let quoted = |names: &[String]| -> String {
        let each: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        each.join(", ")
    };
    let close: Vec<String> = by_distance(word, names.clone())
        .into_iter()
        .take(3)
        .collect();
    let shown = &names[..names.len().min(MAX_NAMES)];
    let more = match names.len() - shown.len() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let all = format!("the {kind} are {}{more}", quoted(shown));
    if close.is_empty() {
        all
    } else {
        format!("did you mean {}? {all}", quoted(&close))
    }
}

/// Returns the candidates that are like a word, the most similar first.
fn by_distance(word: &str, candidates: impl IntoIterator<Item = String>) -> Vec<String> {
    let length = word.chars().count();
    let distance = |candidate: &String| {
        if sorted_letters(word) == sorted_letters(candidate) {
            1
        } else {
            text_distance(word, candidate)
        }
    };
    let mut close: Vec<(usize, String)> = candidates
        .into_iter()
        .map(|candidate| (distance(&candidate), candidate))
        .filter(|(distance, _)| *distance <= 1 + length / 4 && *distance < length)
        .collect();
    close.sort_unstable();
    close.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Returns the letters of a word in alphabetical order.
fn sorted_letters(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn only_similar_names_are_suggested() {
        let closest = |word| closest(word, ["run", "reduce", "replay"].map(str::to_owned));
        for (word, meant) in [
            ("rnu", Some("run")),
            ("ru", Some("run")),
            ("redcue", Some("reduce")),
            ("rpelay", Some("replay")),
            ("r", None),
            ("check", None),
            ("", None),
        ] {
            assert_eq!(closest(word).as_deref(), meant, "{word}");
        }
    }
}
