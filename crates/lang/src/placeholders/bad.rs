//! Reports text that looks like a placeholder but is not one.

use std::ops::Range;

use super::{PrecedingToken, Region, UNKNOWN_POOL_TEXT};
use crate::host;
use crate::keywords::shorten;
use crate::nodes::NodeKind;

/// Maximum length of text that is probably meant as a placeholder.
const MAX_LENGTH: usize = 60;

impl Region<'_, '_, '_> {
    /// Reports a `<` or `%` where the host language expects an operand, and which starts no
    /// placeholder. Returns false if it may be correct.
    pub(super) fn report_bad_placeholder(&mut self) -> bool {
        // The alternatives of a choice may be operators.
        let may_be_alternative = self.before == PrecedingToken::Start && self.context.nesting > 0;
        let rest = self.rest();
        let inner = &rest[1..];
        let is_name = inner.starts_with(host::continues_name);
        let is_other = inner.starts_with(['<', '=', '-', '@', '%']);
        if self.before == PrecedingToken::Operand
            || may_be_alternative
            || is_other
            || (rest.starts_with('%') && !is_name)
        {
            return false;
        }
        let closer = if rest.starts_with('<') { '>' } else { '%' };
        let near = &inner[..inner.floor_char_boundary(MAX_LENGTH)];
        let content = near.find(closer).map(|end| &near[..end]);
        let (length, message, help) = match content {
            Some(content) if !content.contains(['<', '"', '\'', ';', '{', '=']) => {
                let whole = &rest[..content.len() + 2];
                self.explain_closed(content, whole)
                    .unwrap_or_else(|| self.explain_unclosed(inner, closer))
            }
            _ => self.explain_unclosed(inner, closer),
        };
        let range = self.at..self.at + length;
        self.scanner.error("bad-placeholder", &range, message);
        if !help.is_empty() {
            self.set_help(&help);
        }
        self.push_unknown(range);
        true
    }

    /// Adds a name in place of a wrong placeholder.
    fn push_unknown(&mut self, range: Range<usize>) {
        self.push(
            NodeKind::HostText(UNKNOWN_POOL_TEXT.to_owned()),
            range.start,
            range.end,
        );
    }

    /// Explains a wrong placeholder between two brackets. Returns its length, a message and help.
    fn explain_closed(&self, content: &str, whole: &str) -> Option<(usize, String, String)> {
        let (open, close) = (&whole[..1], &whole[whole.len() - 1..]);
        let is_name = |text: &str| !text.is_empty() && text.chars().all(host::continues_name);
        let trimmed = content.trim();
        let (message, help) = if trimmed.is_empty() {
            (
                format!("the placeholder `{whole}` has no name"),
                "write `<name>` with the name of a pool".to_owned(),
            )
        } else if is_name(trimmed) {
            (
                format!("no blanks can stand in a placeholder: `{whole}`"),
                format!("write `{open}{trimmed}{close}`"),
            )
        } else if let Some((name, number)) = content.split_once(',')
            && is_name(name.trim())
            && !name.starts_with(|first: char| first.is_ascii_digit())
        {
            let name = name.trim();
            (
                match number.trim() {
                    "" => format!("no number stands behind the comma of `{whole}`"),
                    number => format!(
                        "behind the comma of a placeholder stands a number, not `{}`",
                        shorten(number)
                    ),
                },
                format!(
                    "`{open}{name},1{close}` is the slot of the first `{open}{name}{close}` in the line, `{open}{name},2{close}` of the second"
                ),
            )
        } else if content.contains("..")
            || content.contains(',')
            || (content.starts_with('(') && content.ends_with(')'))
        {
            let inner = content.trim_matches(['(', ')']);
            (
                format!("`{whole}` is not a choice"),
                format!("write `<[{}]>`", shorten(inner)),
            )
        } else if let Some((name, attribute)) = content.split_once('.')
            && self.scanner.pools.find(name).is_some()
        {
            (
                format!("only the name of a pool stands in a placeholder, not `{content}`"),
                format!("write `{open}{name}{close}.{attribute}`"),
            )
        } else if content
            .chars()
            .all(|letter| host::continues_name(letter) || matches!(letter, ' ' | '-' | '.' | '/'))
        {
            (
                format!("`{whole}` cannot be the name of a pool"),
                "names of pools have letters, digits and underscores".to_owned(),
            )
        } else {
            return None;
        };
        Some((whole.len(), message, help))
    }

    /// Explains a bracket that nothing closes. Returns its length, a message and help.
    fn explain_unclosed(&self, inner: &str, closer: char) -> (usize, String, String) {
        let end = inner.find(|letter| !host::continues_name(letter));
        let name = &inner[..end.unwrap_or(inner.len())];
        let opener = if closer == '>' { '<' } else { '%' };
        if name.is_empty() {
            let message = format!("nothing stands before this `{opener}` that could be compared");
            let help = "a placeholder is written `<name>`, a choice `<[1,2,3]>`";
            return (1, message, help.to_owned());
        }
        let shown = shorten(name);
        (
            1 + name.len(),
            format!("the placeholder `{opener}{shown}` is never closed"),
            format!("write `{opener}{shown}{closer}`"),
        )
    }
}
