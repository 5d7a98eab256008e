//! Suggestions for misspelt words.

/// Returns the candidate nearest to `word`: equal but for its case, or at most a third of its
/// letters away.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = word.chars().count();
    if length > MAX_LENGTH {
        return None;
    }
    let allowed = (length / 3).max(usize::from(length > 1));
    candidates
        .into_iter()
        .filter(|candidate| candidate.chars().count() <= MAX_LENGTH)
        .filter_map(|candidate| {
            let distance = if candidate.to_lowercase() == word.to_lowercase() {
                0
            } else {
                distance(word, candidate)
            };
            (distance <= allowed).then_some((distance, candidate))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Maximum length of a word. Longer ones are not misspelt but something else.
const MAX_LENGTH: usize = 60;

/// Returns the number of letters that must be added, removed, replaced or swapped with their
/// neighbor.
fn distance(one: &str, other: &str) -> usize {
    let one: Vec<char> = one.chars().collect();
    let other: Vec<char> = other.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut row_costs = vec![row + 1];
        for (column, candidate) in other.iter().enumerate() {
            let replaced = above[column] + usize::from(letter != candidate);
            let mut best = replaced
                .min(above[column + 1] + 1)
                .min(row_costs[column] + 1);
            let swapped =
                row > 0 && column > 0 && one[row - 1] == *candidate && other[column - 1] == *letter;
            if swapped {
                best = best.min(before[column - 1] + 1);
            }
            row_costs.push(best);
        }
        before = std::mem::replace(&mut above, row_costs);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_was_meant() {
        let words = ["pool", "property", "properties", "log"];
        assert_eq!(nearest("propertry", words), Some("property"));
        assert_eq!(nearest("Pool", words), Some("pool"));
        assert_eq!(nearest("lgo", words), Some("log"));
        assert_eq!(nearest("else", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest("avl", ["AVL"]), Some("AVL"));
    }

    #[test]
    fn distances() {
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abc", "acb"), 1);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
