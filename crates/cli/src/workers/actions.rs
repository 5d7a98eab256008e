//! The actions of a system that lives in other processes.
//!
//! Those of a harness are numbered alike everywhere. Those of models come up one by one, in each worker in another order:
//! there a worker tells what an action is called before it first takes it, and the campaign has numbers of its own.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use rustc_hash::FxHashMap;
use testwright_campaign::{Recorded, SentName, SentTest};
use testwright_core::saved::{self, ReadProblem, SavedTest};
use testwright_core::{ActionId, Catalog, Step, TemplateId, Test};

/// The actions that a campaign knows, for all its threads.
#[derive(Debug)]
pub(crate) struct Actions {
    known: RwLock<Known>,
    /// More may come up.
    is_open: bool,
}

#[derive(Debug, Default)]
struct Known {
    catalog: Catalog,
    classes: FxHashMap<String, TemplateId>,
    named: FxHashMap<(TemplateId, String), ActionId>,
}

impl Known {
    fn template(&mut self, class: &str) -> Option<TemplateId> {
        if let Some(known) = self.classes.get(class) {
            return Some(*known);
        }
        let line = self.classes.len() + 1;
        let template = self.catalog.open(class.to_owned(), line).ok()?;
        self.classes.insert(class.to_owned(), template);
        Some(template)
    }

    fn action(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        let template = self.template(class)?;
        if let Some(known) = self.named.get(&(template, rest.to_owned())) {
            return Some(*known);
        }
        let action = self.catalog.add(template, rest.to_owned()).ok()?;
        self.named.insert((template, rest.to_owned()), action);
        Some(action)
    }
}

impl Actions {
    /// All that there ever are.
    pub(crate) fn all(catalog: Catalog) -> Actions {
        Actions {
            known: RwLock::new(Known {
                catalog,
                ..Known::default()
            }),
            is_open: false,
        }
    }

    /// None yet.
    pub(crate) fn to_come() -> Actions {
        Actions {
            known: RwLock::default(),
            is_open: true,
        }
    }

    pub(crate) fn catalog(&self) -> CatalogGuard<'_> {
        CatalogGuard(self.known.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// There are actions of these classes.
    pub(crate) fn learn_classes(&self, classes: &[String]) {
        if self.is_open {
            let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
            for class in classes {
                known.template(class);
            }
        }
    }

    /// Our number for an action.
    pub(crate) fn learn(&self, class: &str, rest: &str) -> Option<ActionId> {
        if !self.is_open {
            return None;
        }
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        known.action(class, rest)
    }

    /// A test that a worker has sent.
    pub(crate) fn received(&self, sent: SentTest) -> Test {
        if sent.has_names() {
            sent.named(|name| self.learn(&name.class, &name.rest))
        } else {
            sent.into_test(&self.catalog())
        }
    }

    /// A test for a worker.
    pub(crate) fn sent(&self, test: &Test) -> SentTest {
        SentTest::of(test, &self.catalog())
    }

    /// A saved test. Of actions that come up one by one, it is believed that there are those that it speaks of.
    pub(crate) fn read(&self, text: &str) -> Result<SavedTest, Vec<ReadProblem>> {
        for (class, rest) in spoken_of(text).filter(|_| self.is_open) {
            self.learn(class, rest);
        }
        saved::read(&self.catalog(), text)
    }
}

/// The catalogue, for as long as somebody looks at it.
pub(crate) struct CatalogGuard<'a>(RwLockReadGuard<'a, Known>);

impl std::ops::Deref for CatalogGuard<'_> {
    type Target = Catalog;

    fn deref(&self) -> &Catalog {
        &self.0.catalog
    }
}

/// The actions of models that the text of a saved test speaks of: their names, and what follows them. An action ends with
/// a bracket, and a remark may stand after it.
pub(crate) fn spoken_of(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let lines = text.lines().map(str::trim);
    let steps = lines.filter(|line| !line.starts_with('#')).map(|line| {
        let mut ends = line
            .match_indices(";;;")
            .map(|(end, _)| line[..end].trim_end());
        ends.find(|step| step.ends_with(')')).unwrap_or(line)
    });
    steps.filter_map(|step| step.find('(').map(|end| step.split_at(end)))
}

/// What one worker calls the actions.
pub(crate) struct Glossary<'a> {
    actions: &'a Actions,
    numbers: FxHashMap<u64, ActionId>,
}

impl<'a> Glossary<'a> {
    pub(crate) fn new(actions: &'a Actions) -> Glossary<'a> {
        Glossary {
            actions,
            numbers: FxHashMap::default(),
        }
    }

    /// The worker has told what it calls an action.
    pub(crate) fn hear(&mut self, name: &SentName) {
        let ours = self.actions.learn(&name.class, &name.rest);
        self.numbers.extend(ours.map(|ours| (name.number, ours)));
    }

    /// The action that has this number in the worker. Code under test may write into its log, so there may be none.
    pub(crate) fn action(&self, theirs: ActionId) -> Option<ActionId> {
        if self.actions.is_open {
            self.numbers.get(&theirs.0).copied()
        } else {
            Some(theirs).filter(|action| self.actions.catalog().contains(*action))
        }
    }

    /// What the worker has written down.
    pub(crate) fn test(&self, recorded: &Recorded) -> Test {
        let catalog = (!self.actions.is_open).then(|| self.actions.catalog());
        let step = |step: &Step| match (step, &catalog) {
            (Step::Restart, _) => Some(Step::Restart),
            (Step::Act(action), Some(all)) => all.contains(*action).then_some(Step::Act(*action)),
            (Step::Act(action), None) => self.numbers.get(&action.0).copied().map(Step::Act),
        };
        Test::of_steps(recorded.test.steps.iter().filter_map(step).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_workers_number_otherwise_is_one_action() {
        let actions = Actions::to_come();
        let name = |number, rest: &str| SentName {
            number,
            class: "Push".to_owned(),
            rest: rest.to_owned(),
        };
        let (mut one, mut other) = (Glossary::new(&actions), Glossary::new(&actions));
        one.hear(&name(7, "(1,)"));
        other.hear(&name(7, "(2,)"));
        other.hear(&name(8, "(1,)"));
        let (ours, theirs) = (one.action(ActionId(7)), other.action(ActionId(8)));
        assert!(ours.is_some());
        assert_eq!(ours, theirs);
        assert_ne!(ours, other.action(ActionId(7)));
        assert_eq!(one.action(ActionId(8)), None);
        let recorded = Recorded {
            test: Test::of([ActionId(8), ActionId(9), ActionId(7)]),
            ..Recorded::default()
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
        let actions = Actions::to_come();
        let text = "# testwright test 1\n# failure: (x)\nPush((1, '('),)\n<<RESTART>>\nPop() ;;; (why not)\n";
        assert_eq!(actions.read(text).unwrap().lines.len(), 3);
        assert_eq!(actions.catalog().len(), 2);
        let closed = Actions::all(Catalog::default());
        assert!(closed.read(text).is_err());
    }
}
