//! Python code inside a sentence, for what has no phrase of its own (P42: code is quoted as a last
//! resort).

use testwright_source::{TokenKind, tokenize};

use crate::value::PythonValue;

/// Returns the code on one line, without comments, which would end it.
pub(crate) fn on_one_line(code: &str) -> String {
    let mut kept = String::new();
    let mut end = 0;
    for comment in tokenize(code) {
        if comment.kind == TokenKind::Comment {
            kept.push_str(code.get(end..comment.range.start).unwrap_or_default());
            end = comment.range.end;
        }
    }
    kept.push_str(code.get(end..).unwrap_or_default());
    kept.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the code in quotation marks, with escapes, so that a reader sees where it ends.
pub(crate) fn quote_code(code: &str) -> String {
    PythonValue::text(code).notation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_left_out_and_quotation_marks_are_marked() {
        let line = on_one_line("while n:  # why\n    # more\n    n = '#'\n");
        assert_eq!(line, "while n: n = '#'");
        assert_eq!(quote_code("s == \"a\""), r#""s == \"a\"""#);
    }
}
