//! Whether models allow what an implementation has done by itself.

use testwright_core::Failure;
use testwright_core::product::{NameId, Place, Product, Trouble, ValueId};

use crate::mismatch::mismatch;

/// Why something that an implementation has done is wrong. The states that do not allow it are given up.
pub(crate) fn refusal(
    product: &mut Product<'_>,
    states: &mut Vec<Vec<Place>>,
    name: NameId,
    arguments: ValueId,
) -> Result<Option<Failure>, Trouble> {
    let refused = |product: &Product<'_>, why: &str| {
        let words = product.words();
        let text = words.name_text(name);
        let message = format!("{text}{}, {why}", words.value_text(arguments).plain());
        Ok(Some(Failure {
            // The same action with other arguments is refused for the same reason.
            signature: format!("{text}: {why}"),
            ..mismatch(text, message)
        }))
    };
    if !product.knows(name) {
        return refused(product, "not in the vocabulary of any model");
    }
    let mut allowing = Vec::new();
    for state in states.iter() {
        if product.allows(state, name, arguments)? {
            allowing.push(state.clone());
        }
    }
    if allowing.is_empty() {
        return refused(product, "action not enabled");
    }
    *states = allowing;
    Ok(None)
}
