//! Finds the name that was probably meant by a misspelt one.

use testwright_core::text_distance;

/// Returns the candidate that is most like a word, if one is like it: the same letters in another
/// order, or few letters that differ.
pub(crate) fn closest(word: &str, candidates: impl IntoIterator<Item = String>) -> Option<String> {
    let length = word.chars().count();
    let distance = |candidate: &String| {
        if sorted_letters(word) == sorted_letters(candidate) {
            1
        } else {
            text_distance(word, candidate)
        }
    };
    candidates
        .into_iter()
        .map(|candidate| (distance(&candidate), candidate))
        .filter(|(distance, _)| *distance <= 1 + length / 4 && *distance < length)
        .min()
        .map(|(_, candidate)| candidate)
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
