//! Parts of models that an exploration did not use: actions that were never possible, and guards
//! that were never false.

use testwright_model::ExploredGraph;
use testwright_python::Models;

use crate::console::Console;

/// Maximum number of names that are printed.
const MAX_NAMES: usize = 10;

/// Parts of models without an effect, as far as they were explored.
pub(super) struct UnusedParts {
    /// Actions that were not possible in any state.
    pub(super) actions: Vec<String>,
    /// Guards that were asked and never false.
    pub(super) guards: Vec<String>,
}

impl UnusedParts {
    /// Collects the unused parts of models after their exploration.
    pub(super) fn collect(models: &Models<'_>, explored: &ExploredGraph) -> UnusedParts {
        let product = &models.product;
        let labels = &explored.graph.labels;
        let unused = product.vocabulary().iter();
        let unused = unused.filter(|name| !labels.iter().any(|label| label.name == **name));
        let text = |name| product.interner().name_text(name).to_owned();
        let mut guards: Vec<String> = Vec::new();
        for guard in product
            .models()
            .iter()
            .flat_map(|model| model.notices().idle_guards)
        {
            if !guards.contains(&guard) {
                guards.push(guard);
            }
        }
        UnusedParts {
            actions: unused.map(|name| text(*name)).collect(),
            guards,
        }
    }

    /// Prints them, if there are any.
    pub(super) fn print(&self, console: &mut Console<'_>, is_complete: bool) {
        let so_far = if is_complete { "" } else { " so far" };
        for (text, names) in [
            ("Never possible", &self.actions),
            ("Guards that were never false", &self.guards),
        ] {
            // A guard may still become false where the search did not get.
            let is_open = !is_complete && std::ptr::eq(names, &self.guards);
            if names.is_empty() || is_open {
                continue;
            }
            let shown = names[..names.len().min(MAX_NAMES)].join(", ");
            let more = match names.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(", and {more} more"),
            };
            console.out(format_args!("{text}{so_far}: {shown}{more}"));
        }
    }
}
