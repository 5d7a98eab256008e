//! An estimate of the syllables of English words: groups of vowels, without silent ones.

/// Counts the syllables of a word; at least one.
pub(super) fn count(word: &str) -> usize {
    let small = word.to_lowercase();
    let letters: Vec<char> = small.chars().filter(|one| one.is_alphanumeric()).collect();
    let is_vowel = |one: char| "aeiouy".contains(one);
    let mut groups = 0;
    let mut in_group = false;
    for one in &letters {
        let vowel = is_vowel(*one);
        groups += usize::from(vowel && !in_group);
        in_group = vowel;
    }
    groups -= usize::from(has_silent_end(&letters) && groups > 1);
    groups.max(1)
}

/// Returns true if the last group of vowels is a silent `e`: "hole", "named", "goes", but not
/// "table", "added", "boxes".
fn has_silent_end(letters: &[char]) -> bool {
    let is_vowel = |one: char| "aeiouy".contains(one);
    match letters {
        [.., before, 'l', 'e'] => is_vowel(*before),
        [.., before, 'e'] => !is_vowel(*before),
        [.., before, 'e', 'd'] => !is_vowel(*before) && !"td".contains(*before),
        [.., before, 'e', 's'] => !is_vowel(*before) && !"scxz".contains(*before),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn groups_of_vowels() {
        for (word, syllables) in [
            ("the", 1),
            ("list", 1),
            ("number", 2),
            ("table", 2),
            ("hole", 1),
            ("named", 1),
            ("added", 2),
            ("boxes", 2),
            ("entry", 2),
            ("dictionary", 4),
            ("3", 1),
            ("", 1),
        ] {
            assert_eq!(count(word), syllables, "{word}");
        }
    }
}
