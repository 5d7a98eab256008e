//! Messages of failures without their values, so that the same complaint about other values is recognized.

/// Returns a message without what may differ from test to test: numbers, quoted text, collections and
/// constants.
///
/// ```
/// use testwright_core::message::without_values;
///
/// assert_eq!(without_values("got [1, 'a'], expected 7"), "got expected");
/// assert_eq!(without_values("can't find 'it\\'s' at 0x7f3a"), "can't find at");
/// ```
pub fn without_values(text: &str) -> String {
    let mut rest = String::new();
    let mut quoted_by = None;
    let mut depth = 0usize;
    let mut before = ' ';
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match quoted_by {
            Some(mark) if mark == letter => quoted_by = None,
            // The next character is escaped.
            Some(_) if letter == '\\' => drop(letters.next()),
            Some(_) => {}
            // A quotation mark after a letter is an apostrophe.
            None if matches!(letter, '\'' | '"' | '`') && !before.is_alphanumeric() => {
                quoted_by = Some(letter);
            }
            None if matches!(letter, '(' | '[' | '{' | '<') => depth += 1,
            None if matches!(letter, ')' | ']' | '}' | '>') => depth = depth.saturating_sub(1),
            None if depth > 0 => {}
            None => rest.push(letter),
        }
        before = letter;
    }
    // A quotation mark or a bracket without its other half is no sign of a value.
    if quoted_by.is_some() || depth > 0 {
        rest = text.to_owned();
    }
    let words = rest.split_whitespace().filter(|word| !is_value(word));
    let words = words.map(|word| word.trim_end_matches([',', ';', ':']));
    words.collect::<Vec<&str>>().join(" ")
}

/// Returns a text of any number of lines in one line.
///
/// ```
/// assert_eq!(testwright_core::message::in_one_line("Pair(\n  1,\n  2,\n)\n"), "Pair( 1, 2, )");
/// ```
pub fn in_one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim);
    let lines: Vec<&str> = lines.filter(|line| !line.is_empty()).collect();
    lines.join(" ")
}

/// Returns true if a word is a number or a constant, with or without punctuation.
fn is_value(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| letter.is_ascii_punctuation());
    let is_constant = matches!(word, "True" | "False" | "None" | "nan" | "inf");
    word.is_empty() || is_constant || word.chars().any(|letter| letter.is_ascii_digit())
}
