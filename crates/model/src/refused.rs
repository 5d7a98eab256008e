//! Whether models allow what an implementation has done by itself.

use testwright_core::Failure;
use testwright_core::product::{NameId, Place, Product, Trouble, ValueId};

use crate::conform::explain;
use crate::mismatch::mismatch;
use crate::state_text;

/// In how many states it is said who does not allow it.
const MOST_REASONS: usize = 3;

/// Why something that an implementation has done is wrong. The states that do not allow it are given up.
pub(crate) fn refusal(
    product: &mut Product<'_>,
    states: &mut Vec<Vec<Place>>,
    name: NameId,
    arguments: ValueId,
) -> Result<Option<Failure>, Trouble> {
    let refused = |product: &Product<'_>, why: &str, details: String| {
        let words = product.words();
        let text = words.name_text(name);
        let message = format!("{text}{}, {why}", words.value_text(arguments).plain());
        Ok(Some(Failure {
            // The same action with other arguments is refused for the same reason.
            signature: format!("{text}: {why}"),
            details,
            ..mismatch(text, message)
        }))
    };
    if !product.knows(name) {
        let details = String::new();
        return refused(product, "not in the vocabulary of any model", details);
    }
    let mut allowing = Vec::new();
    let mut reasons = Vec::new();
    for state in states.iter() {
        let by = product.refusals(state, name, arguments)?;
        if by.is_empty() {
            allowing.push(state.clone());
        } else if reasons.len() < MOST_REASONS {
            let state = state_text(product, state);
            reasons.push(format!("in the state {state}\n{}", explain(product, &by)));
        }
    }
    if allowing.is_empty() {
        return refused(product, "action not enabled", reasons.join("\n"));
    }
    *states = allowing;
    Ok(None)
}
