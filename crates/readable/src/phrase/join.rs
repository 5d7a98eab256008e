//! Joining phrases with commas, "and" and "or", and putting them in parentheses.

/// Joins nouns: "A", "A and B", "A, B and C".
#[must_use]
pub fn nouns(phrases: &[String], word: &str) -> String {
    match phrases {
        [] => String::new(),
        [only] => only.clone(),
        [before @ .., last] => format!("{} {word} {last}", before.join(", ")),
    }
}

/// Joins clauses like [`nouns`], with a comma before the word if a clause has a comma, an "and" or
/// an "or" of its own.
#[must_use]
pub fn clauses(clauses: &[String], word: &str) -> String {
    match clauses {
        [before @ .., last]
            if !before.is_empty() && clauses.iter().any(|clause| is_compound(clause)) =>
        {
            format!("{}, {word} {last}", before.join(", "))
        }
        _ => nouns(clauses, word),
    }
}

/// Returns true if a clause has a comma, "and" or "or" outside quotation marks.
fn is_compound(clause: &str) -> bool {
    let outside = outside_quotes(clause, false);
    [",", " and ", " or "]
        .iter()
        .any(|word| outside.contains(word))
}

/// Puts an operand in parentheses if it would run into its neighbors.
#[must_use]
pub fn parenthesise(phrase: &str) -> String {
    let outside = outside_quotes(phrase, true);
    if [",", " and ", " or ", " with "]
        .iter()
        .any(|word| outside.contains(word))
    {
        format!("({phrase})")
    } else {
        phrase.to_owned()
    }
}

/// Returns the text between quotation marks, if they enclose the whole text.
pub(crate) fn strip_quotes(text: &str) -> Option<&str> {
    text.strip_prefix('"')?.strip_suffix('"')
}

/// Returns the parts outside quotation marks and, if asked for, outside brackets. A mark replaces
/// each omitted part, so that the words around it do not meet.
fn outside_quotes(text: &str, without_brackets: bool) -> String {
    let mut outside = String::with_capacity(text.len());
    let mut depth = 0_usize;
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            '"' => {
                while let Some(character) = characters.next() {
                    match character {
                        '\\' => _ = characters.next(),
                        '"' => break,
                        _ => {}
                    }
                }
                if depth == 0 {
                    outside.push('"');
                }
            }
            '(' | '[' | '{' if without_brackets => depth += 1,
            ')' | ']' | '}' if without_brackets => {
                depth = depth.saturating_sub(1);
                outside.push(')');
            }
            _ if depth == 0 => outside.push(character),
            _ => {}
        }
    }
    outside
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(phrases: &[&str]) -> Vec<String> {
        phrases.iter().map(|phrase| (*phrase).to_owned()).collect()
    }

    #[test]
    fn joining_nouns() {
        assert_eq!(nouns(&list(&["A"]), "and"), "A");
        assert_eq!(nouns(&list(&["A", "B"]), "and"), "A and B");
        assert_eq!(nouns(&list(&["A", "B", "C"]), "or"), "A, B or C");
        assert_eq!(nouns(&[], "and"), "");
    }

    #[test]
    fn joining_clauses() {
        assert_eq!(
            clauses(&list(&["a is b", "c is d"]), "and"),
            "a is b and c is d"
        );
        assert_eq!(clauses(&list(&["a and b", "c"]), "and"), "a and b, and c");
        assert_eq!(
            clauses(&list(&["a", "either b or c", "d"]), "or"),
            "a, either b or c, or d"
        );
        assert_eq!(
            clauses(&list(&["a is \"x, y and z\"", "c"]), "and"),
            "a is \"x, y and z\" and c"
        );
        assert_eq!(
            clauses(&list(&["a is [1, 2]", "c"]), "and"),
            "a is [1, 2], and c"
        );
        assert_eq!(clauses(&list(&["a, b"]), "and"), "a, b");
    }

    #[test]
    fn nesting_puts_operands_in_parentheses() {
        assert_eq!(parenthesise("n"), "n");
        assert_eq!(parenthesise("[1, 2]"), "[1, 2]");
        assert_eq!(
            parenthesise("the result of \"f\" with x"),
            "(the result of \"f\" with x)"
        );
        assert_eq!(parenthesise("a list with just x"), "(a list with just x)");
        assert_eq!(parenthesise("\"this with that\""), "\"this with that\"");
        assert_eq!(parenthesise("the pair of a and b"), "(the pair of a and b)");
        assert_eq!(
            parenthesise("x (as many as a and b)"),
            "x (as many as a and b)"
        );
    }
}
