//! Checks that models allow the actions an implementation takes by itself.

use testwright_core::Failure;
use testwright_core::product::{ModelError, ModelState, NameId, Product, ValueId};

use crate::conform::explain;
use crate::mismatch::mismatch;
use crate::state_text;

/// Maximum number of states for which a failure explains which models forbid the action.
const MAX_REASONS: usize = 3;

/// Checks an action that the implementation took by itself against all states that the models may
/// be in.
///
/// Returns a failure if no state allows it. Otherwise removes the states that do not allow it, and
/// returns `None`.
pub(crate) fn check_observation(
    product: &mut Product<'_>,
    states: &mut Vec<Vec<ModelState>>,
    name: NameId,
    arguments: ValueId,
) -> Result<Option<Failure>, ModelError> {
    let refused = |product: &Product<'_>, why: &str, details: String| {
        let interner = product.interner();
        let text = interner.name_text(name);
        let message = format!("{text}{}, {why}", interner.value_text(arguments).plain());
        Ok(Some(Failure {
            // The arguments are not part of the signature: other arguments are refused for the same
            // reason.
            signature: format!("{text}: {why}"),
            details,
            ..mismatch(text, message, None)
        }))
    };
    if !product.has_action(name) {
        let details = String::new();
        return refused(product, "not in the vocabulary of any model", details);
    }
    let mut allowing = Vec::new();
    let mut reasons = Vec::new();
    for state in states.iter() {
        let by = product.block_reasons(state, name, arguments)?;
        if by.is_empty() {
            allowing.push(state.clone());
        } else if reasons.len() < MAX_REASONS {
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
