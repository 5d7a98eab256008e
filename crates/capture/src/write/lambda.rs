//! Lambdas that can be written down again because they use nothing but what they are given.

use std::fs;

use testwright_source::{names, tokens};

use super::Knowledge;
use super::scope::is_builtin;
use crate::inspect::Module;

impl Knowledge<'_> {
    /// The text of the only lambda on a line of a module, if it uses nothing but its parameters and Python's own names.
    pub(super) fn lambda(&self, module: &Module, line: u32) -> Option<String> {
        let text = fs::read_to_string(self.project.root.join(&module.path)).ok()?;
        only_lambda(&text, line)
    }
}

fn only_lambda(text: &str, line: u32) -> Option<String> {
    let before = usize::try_from(line).ok()?.checked_sub(1)?;
    let start: usize = text.split_inclusive('\n').take(before).map(str::len).sum();
    let end = start + text.get(start..)?.find('\n').unwrap_or(text.len() - start);
    let words = tokens(text.get(start..end)?);
    let word = |index: usize| {
        let range = words.get(index)?.range.clone();
        text.get(start + range.start..start + range.end)
    };
    let mut found = (0..words.len()).filter(|index| word(*index) == Some("lambda"));
    let (first, None) = (found.next()?, found.next()) else {
        return None;
    };
    // Behind the colon, it ends with the first comma or bracket that is not its own.
    let (mut depth, mut in_body, mut last) = (0_usize, false, first);
    for index in first + 1..words.len() {
        match word(index)? {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" if depth == 0 => break,
            ")" | "]" | "}" => depth -= 1,
            ":" if depth == 0 => in_body = true,
            "," if depth == 0 && in_body => break,
            comment if comment.starts_with('#') => break,
            _ => {}
        }
        last = index;
    }
    let from = start + words.get(first)?.range.start;
    let to = start + words.get(last)?.range.end;
    let lambda = text.get(from..to)?.trim_end();
    let reads = names(&format!("_ = {lambda}")).ok()?.reads;
    let is_free = reads.iter().all(|name| is_builtin(name));
    is_free.then(|| lambda.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lambda_is_copied_if_it_needs_nothing_from_outside() {
        let of = |line: &str| only_lambda(&format!("x = 1\n{line}\ny = 2\n"), 2);
        assert_eq!(
            of("twice(lambda a, b=(1, 2): len([a, b]), 3)  # so").as_deref(),
            Some("lambda a, b=(1, 2): len([a, b])")
        );
        assert_eq!(of("f = lambda: 0").as_deref(), Some("lambda: 0"));
        assert_eq!(of("twice(lambda a: a + x, 3)"), None);
        assert_eq!(of("f(lambda: 1, lambda: 2)"), None);
        assert_eq!(of("f(lambda a:"), None);
        assert_eq!(only_lambda("", 7), None);
    }
}
