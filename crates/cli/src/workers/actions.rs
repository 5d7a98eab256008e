//! The numbers of actions of a system in other processes.
//!
//! The actions of a harness have the same numbers everywhere. The actions of models come up one by
//! one, in a different order in each worker. So a worker sends the name of an action before it
//! takes it for the first time, and the campaign assigns its own numbers.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;
use testwright_campaign::{LoggedTest, SentName, SentTest};
use testwright_core::saved::{self, ReadProblem, SavedTest};
use testwright_core::{ActionId, Catalog, Step, TemplateId, Test};

/// The actions that a campaign knows, shared by all its threads.
#[derive(Debug)]
pub(crate) struct ActionRegistry {
    /// The registered actions.
    known: RwLock<RegisteredActions>,
    /// True if actions can be added.
    is_open: bool,
}

/// A catalog that grows, with an index by name.
#[derive(Debug, Default)]
struct RegisteredActions {
    /// The actions.
    catalog: Catalog,
    /// The templates by the names of actions.
    classes: FxHashMap<String, TemplateId>,
    /// The actions by template and arguments.
    ids_by_name: FxHashMap<(TemplateId, String), ActionId>,
}

impl RegisteredActions {
    /// Returns the template of a name, and creates it if necessary.
    fn template(&mut self, class: &str) -> Option<TemplateId> {
        if let Some(known) = self.classes.get(class) {
            return Some(*known);
        }
        let line = self.classes.len() + 1;
        let template = self.catalog.open_template(class.to_owned(), line).ok()?;
        self.classes.insert(class.to_owned(), template);
        Some(template)
    }

    /// Returns the number of an action, and creates it if necessary.
    fn action(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        let template = self.template(class)?;
        if let Some(known) = self.ids_by_name.get(&(template, rest.to_owned())) {
            return Some(*known);
        }
        let action = self.catalog.add_action(template, rest.to_owned()).ok()?;
        self.ids_by_name.insert((template, rest.to_owned()), action);
        Some(action)
    }
}

impl ActionRegistry {
    /// Creates a registry that has all actions.
    pub(crate) fn complete(catalog: Catalog) -> ActionRegistry {
        ActionRegistry {
            known: RwLock::new(RegisteredActions {
                catalog,
                ..RegisteredActions::default()
            }),
            is_open: false,
        }
    }

    /// Creates an empty registry that can grow.
    pub(crate) fn growable() -> ActionRegistry {
        ActionRegistry {
            known: RwLock::default(),
            is_open: true,
        }
    }

    /// Locks the registry and returns the catalog.
    pub(crate) fn catalog(&self) -> CatalogGuard<'_> {
        CatalogGuard(self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Registers the names of actions, without arguments.
    pub(crate) fn register_classes(&self, classes: &[String]) {
        if self.is_open {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            for class in classes {
                known.template(class);
            }
        }
    }

    /// Returns the campaign's number for an action, and registers it if necessary. Returns `None`
    /// if the registry cannot grow.
    pub(crate) fn register(&self, class: &str, rest: &str) -> Option<ActionId> {
        if !self.is_open {
            return None;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.action(class, rest)
    }

    /// Returns a copy of the catalog, if it has all actions.
    pub(crate) fn complete_catalog(&self) -> Option<Catalog> {
        (!self.is_open).then(|| self.catalog().clone())
    }

    /// Decodes a test from a worker.
    pub(crate) fn decode_test(&self, sent: SentTest) -> Test {
        if sent.has_names() {
            sent.resolve_names(|name| self.register(&name.class, &name.rest))
        } else {
            sent.into_test(&self.catalog())
        }
    }

    /// Encodes a test for a worker.
    pub(crate) fn encode_test(&self, test: &Test) -> SentTest {
        SentTest::from_test(test, &self.catalog())
    }

    /// Reads a saved test. An open registry assumes that all its actions exist.
    pub(crate) fn read(&self, text: &str) -> Result<SavedTest, Vec<ReadProblem>> {
        for (class, rest) in mentioned_actions(text).filter(|_| self.is_open) {
            self.register(class, rest);
        }
        saved::read(&self.catalog(), text)
    }
}

/// The catalog, locked for reading.
pub(crate) struct CatalogGuard<'a>(RwLockReadGuard<'a, RegisteredActions>);

impl std::ops::Deref for CatalogGuard<'_> {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.0.catalog
    }
}

/// Finds the actions of models in the text of a saved test: their names, and the rest of the call.
/// An action ends with a bracket, and a remark may follow.
pub(crate) fn mentioned_actions(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim);
    let steps = lines.filter(|line| !line.starts_with('#')).map(|line| {
        let mut ends = line
            .match_indices(";;;")
            .map(|(end, _)| line[..end].trim_end());
        ends.find(|step| step.ends_with(')')).unwrap_or(line)
    });
    steps.filter_map(|step| step.find('(').map(|end| step.split_at(end)))
}

/// The numbers that one worker uses for actions.
pub(crate) struct WorkerActionIds<'a> {
    /// The numbers of the campaign.
    actions: &'a ActionRegistry,
    /// The campaign's numbers by the worker's numbers.
    numbers: FxHashMap<u64, ActionId>,
}

impl<'a> WorkerActionIds<'a> {
    /// Creates a table without entries.
    pub(crate) fn new(actions: &'a ActionRegistry) -> WorkerActionIds<'a> {
        WorkerActionIds {
            actions,
            numbers: FxHashMap::default(),
        }
    }

    /// Records the worker's number for an action.
    pub(crate) fn add_name(&mut self, name: &SentName) {
        let ours = self.actions.register(&name.class, &name.rest);
        self.numbers.extend(ours.map(|ours| (name.number, ours)));
    }

    /// Returns the action with this number in the worker. Code under test may write into the log,
    /// so there may be none.
    pub(crate) fn action(&self, theirs: ActionId) -> Option<ActionId> {
        if self.actions.is_open {
            self.numbers.get(&theirs.0).copied()
        } else {
            Some(theirs).filter(|action| self.actions.catalog().contains(*action))
        }
    }

    /// Translates the steps that the worker has logged.
    pub(crate) fn test(&self, recorded: &LoggedTest) -> Test {
        let catalog = (!self.actions.is_open).then(|| self.actions.catalog());
        let step = |step: &Step| match (step, &catalog) {
            (Step::Restart, _) => Some(Step::Restart),
            (Step::Act(action), Some(all)) => all.contains(*action).then_some(Step::Act(*action)),
            (Step::Act(action), None) => self.numbers.get(&action.0).copied().map(Step::Act),
        };
        Test::from_steps(recorded.test.steps.iter().filter_map(step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_different_workers_map_to_one_action() {
        let actions = ActionRegistry::growable();
        let name = |number, rest: &str| SentName {
            number,
            class: "Push".to_owned(),
            rest: rest.to_owned(),
        };
        let (mut one, mut other) = (
            WorkerActionIds::new(&actions),
            WorkerActionIds::new(&actions),
        );
        one.add_name(&name(7, "(1,)"));
        other.add_name(&name(7, "(2,)"));
        other.add_name(&name(8, "(1,)"));
        let (ours, theirs) = (one.action(ActionId(7)), other.action(ActionId(8)));
        assert!(ours.is_some());
        assert_eq!(ours, theirs);
        assert_ne!(ours, other.action(ActionId(7)));
        assert_eq!(one.action(ActionId(8)), None);
        let recorded = LoggedTest {
            test: Test::from_actions([ActionId(8), ActionId(9), ActionId(7)]),
            ..LoggedTest::default()
        };
        let texts: Vec<String> = other
            .test(&recorded)
            .steps
            .iter()
            .filter_map(|step| match step {
                Step::Act(action) => Some(actions.catalog().text(*action)),
                Step::Restart => None,
            })
            .collect();
        assert_eq!(texts, ["Push(1,)", "Push(2,)"]);
    }

    #[test]
    fn a_saved_test_is_read_before_any_worker_has_spoken() {
        let actions = ActionRegistry::growable();
        let text = "# testwright test 1\n# failure: (x)\nPush((1, '('),)\n<<RESTART>>\nPop() ;;; (why not)\n";
        assert_eq!(actions.read(text).unwrap().lines.len(), 3);
        assert_eq!(actions.catalog().len(), 2);
        let closed = ActionRegistry::complete(Catalog::default());
        assert!(closed.read(text).is_err());
    }
}
