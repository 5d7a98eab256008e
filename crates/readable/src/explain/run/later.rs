//! Finds out if a name is read later, before it gets another value.

use testwright_source::Range;
use testwright_source::tree::{Statement, StatementKind};

use super::cycle::bodies;

/// First use of a name.
#[derive(PartialEq)]
enum Use {
    Read,
    Given,
}

/// Returns true if statements read a value that a name had before them.
pub(super) fn reads<'s>(
    statements: impl IntoIterator<Item = &'s Statement>,
    name: &str,
    text: &str,
) -> bool {
    let mut uses = statements
        .into_iter()
        .filter_map(|one| used(one, name, text));
    uses.next() == Some(Use::Read)
}

fn used(statement: &Statement, name: &str, text: &str) -> Option<Use> {
    let mentions = |range: Range| mentions(text.get(range).unwrap_or_default(), name);
    let range = statement.range.clone();
    if let StatementKind::Assign { targets, value } = &statement.kind {
        let is_given = targets.iter().any(|one| one.as_name() == Some(name));
        return match (mentions(value.range.clone()), is_given) {
            (false, true) => Some(Use::Given),
            (false, false) => mentions(range).then_some(Use::Read),
            (true, _) => Some(Use::Read),
        };
    }
    let inside = bodies(statement);
    let first = inside.iter().find_map(|body| body.first());
    let Some(first) = first else {
        return mentions(range).then_some(Use::Read);
    };
    let header = match &statement.kind {
        StatementKind::For {
            target, iterable, ..
        } => {
            if target.as_name() == Some(name) && !mentions(iterable.range.clone()) {
                return Some(Use::Given);
            }
            iterable.range.clone()
        }
        _ => range.start..first.range.start,
    };
    let is_read = mentions(header) || inside.into_iter().any(|body| reads(body, name, text));
    is_read.then_some(Use::Read)
}

/// Returns true if a name occurs in a text.
fn mentions(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    text.split(|letter| !is_part(letter))
        .any(|word| word == name)
}
