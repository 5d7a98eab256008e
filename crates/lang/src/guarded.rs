//! Calls of guarded functions, which can be asked whether they would do anything.

use crate::harness::{CodePart, Fragment};
use crate::host;

/// Returns the call `guardedX(a)` with one more argument, `True`, if the statement is such a call.
pub(crate) fn speculative_call(statement: &Fragment, guarded: &[String]) -> Option<Fragment> {
    let Some(CodePart::Text(first)) = statement.parts.first() else {
        return None;
    };
    let open = first.find('(')?;
    let name = first[..open].trim_end();
    if !guarded.iter().any(|known| known == name) {
        return None;
    }
    let mut depth = 0_usize;
    let mut has_arguments = false;
    let mut parts = Vec::new();
    for (index, part) in statement.parts.iter().enumerate() {
        let CodePart::Text(text) = part else {
            has_arguments = true;
            parts.push(part.clone());
            continue;
        };
        let start = if index == 0 { open } else { 0 };
        for token in host::tokenize(&text[start..]) {
            match token.kind {
                host::TokenKind::OpenBracket => depth += 1,
                host::TokenKind::CloseBracket if depth <= 1 => {
                    let inner = &text[..start + token.range.start];
                    let separator = if has_arguments && !inner.trim_end().ends_with(',') {
                        ", "
                    } else {
                        ""
                    };
                    parts.push(CodePart::Text(format!("{inner}{separator}True)")));
                    return Some(Fragment { parts });
                }
                host::TokenKind::CloseBracket => depth -= 1,
                _ if depth > 0 => has_arguments = true,
                _ => {}
            }
        }
        parts.push(part.clone());
    }
    None
}
