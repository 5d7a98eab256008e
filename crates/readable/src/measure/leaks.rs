//! Leaks: places in a text where a reader sees code (Q1).

/// Python keywords and names that are no English words.
const KEYWORDS: [&str; 12] = [
    "None",
    "True",
    "False",
    "def",
    "lambda",
    "elif",
    "del",
    "nonlocal",
    "async",
    "await",
    "len",
    "isinstance",
];

/// Operators that no English sentence contains.
const OPERATORS: [&str; 13] = [
    "==", "!=", "<=", ">=", "+=", "-=", "*=", "->", ":=", "//", "**", "<<", ">>",
];

/// Counts the pieces of code in a sentence: code outside quotation marks, and every place where the
/// sentence says that it quotes Python.
#[must_use]
pub fn count_leaks(sentence: &str) -> usize {
    let admitted = sentence.matches("the Python expression \"").count()
        + sentence.matches("he Python statement \"").count();
    let outside = without_quotes(sentence);
    admitted
        + outside
            .split_whitespace()
            .filter(|word| is_code(word))
            .count()
}

/// Returns the sentence without its quoted parts.
fn without_quotes(sentence: &str) -> String {
    let mut kept = String::new();
    let mut inside = false;
    let mut escaped = false;
    for letter in sentence.chars() {
        match letter {
            '"' if !escaped => {
                inside = !inside;
                kept.push(' ');
            }
            _ if !inside => kept.push(letter),
            _ => {}
        }
        escaped = inside && letter == '\\' && !escaped;
    }
    kept
}

/// Returns true if a word looks like code: a keyword, an operator, a call, or a name with dots or
/// underscores.
fn is_code(word: &str) -> bool {
    // A bracket before or after a word belongs to the sentence, one inside it to a call.
    let bare = word.trim_matches(|letter: char| "()[]{},;:.?!".contains(letter));
    if bare.is_empty() {
        return word.starts_with("()");
    }
    let plain = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_call = word
        .split_once('(')
        .is_some_and(|(name, _)| name.ends_with(plain));
    let is_number = bare
        .trim_start_matches('-')
        .starts_with(|letter: char| letter.is_ascii_digit());
    let is_dotted = !is_number
        && !bare.contains("..")
        && bare
            .split('.')
            .collect::<Vec<_>>()
            .windows(2)
            .any(|pair| pair[0].ends_with(plain) && pair[1].starts_with(plain))
        && !ABBREVIATIONS.contains(&bare);
    KEYWORDS.contains(&bare)
        || OPERATORS.iter().any(|operator| word.contains(operator))
        || bare == "="
        || bare.contains('_')
        || is_call
        || is_dotted
}

/// English abbreviations with dots.
const ABBREVIATIONS: [&str; 3] = ["e.g", "i.e", "a.m"];

#[cfg(test)]
mod tests {
    use super::count_leaks;

    #[test]
    fn q1_code_is_noticed() {
        for (sentence, count) in [
            ("The plates are empty.", 0),
            ("It returns None.", 1),
            ("a == b and c != d", 2),
            ("the user_name is in self.users", 2),
            ("len(plates) is 3", 1),
            ("the Python expression \"x @ y\" is 3", 1),
            ("The Python statement \"x\" is carried out.", 1),
            ("It fails with the error \"a == b\".", 0),
            ("the number -2.5 (or 3.0) e.g. this", 0),
            ("\"contains\" held (before the step).", 0),
            ("the text \"a \\\" == b\" is empty", 0),
            ("the list [1, 2] is {\"a\": 1}", 0),
        ] {
            assert_eq!(count_leaks(sentence), count, "{sentence}");
        }
    }
}
