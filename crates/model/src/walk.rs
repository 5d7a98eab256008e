//! A product as a [`System`]: what can be done to a harness can be done to models, too.

use rustc_hash::FxHashMap;
use testwright_core::product::{Joint, NameId, Phase, Place, Product, Trouble, ValueId};
use testwright_core::{
    ActionId, Catalog, Error, Failure, FailureKind, Fingerprint, Likeness, Outcome, Piece, Random,
    Snapshot, System, Template,
};

/// A product that is led around.
///
/// An action is a name with arguments. What comes of it is up to the models, and if they leave that open the system is
/// in several states at a time. Which actions there are is not known beforehand, since models compute their arguments:
/// the [`Catalog`] has those that were possible somewhere until now.
pub struct Walk<'w, 'm> {
    product: &'w mut Product<'m>,
    start: Vec<Place>,
    states: Vec<Vec<Place>>,
    /// What is possible now, once somebody has asked.
    possible: Option<Vec<Joint>>,
    actions: Catalog,
    numbers: FxHashMap<(NameId, ValueId), ActionId>,
    chosen: Vec<(NameId, ValueId)>,
    /// Trouble, told by the next check.
    wrong: Option<Failure>,
}

impl<'w, 'm> Walk<'w, 'm> {
    /// A product in its initial state.
    pub fn new(product: &'w mut Product<'m>) -> Result<Walk<'w, 'm>, Trouble> {
        Walk::beginning_with(product, 0)
    }

    /// A product where a run begins; they differ if there is a suite among the models.
    pub fn beginning_with(
        product: &'w mut Product<'m>,
        run: usize,
    ) -> Result<Walk<'w, 'm>, Trouble> {
        let start = product.begin(run)?;
        let start = start.ok_or_else(|| Error::new("the models have no run to begin with"))?;
        Ok(Walk {
            product,
            states: vec![start.clone()],
            start,
            possible: None,
            actions: Catalog::default(),
            numbers: FxHashMap::default(),
            chosen: Vec::new(),
            wrong: None,
        })
    }

    /// The models.
    pub fn product(&self) -> &Product<'m> {
        self.product
    }

    /// The models, for somebody else to use between two walks.
    pub(crate) fn product_mut(&mut self) -> &mut Product<'m> {
        self.product
    }

    /// The states that the models may be in now.
    pub fn states(&self) -> &[Vec<Place>] {
        &self.states
    }

    /// The number of an action, which may be new.
    pub fn action(&mut self, name: NameId, arguments: ValueId) -> ActionId {
        let next = ActionId(self.chosen.len() as u64);
        let action = *self.numbers.entry((name, arguments)).or_insert(next);
        if action == next {
            self.chosen.push((name, arguments));
            let words = self.product.words();
            let class = words.name_text(name).to_owned();
            let text = format!("{class}{}", words.value_text(arguments).plain());
            self.actions.add(Template {
                class,
                line: name.0 as usize + 1,
                pieces: vec![Piece::Text(text)],
                axes: Vec::new(),
            });
        }
        action
    }

    /// The name and the arguments of an action.
    pub fn chosen(&self, action: ActionId) -> (NameId, ValueId) {
        self.chosen[action.0 as usize]
    }

    /// Finds out what is possible, unless that is known.
    fn look(&mut self) -> &[Joint] {
        if self.possible.is_none() {
            let mut all = Vec::new();
            for state in &self.states {
                match self.product.moves(state, Phase::Usual) {
                    Ok(moves) => all.extend(moves),
                    Err(trouble) => self.wrong = Some(failure_of(&trouble)),
                }
            }
            for one in &all {
                self.action(one.label.name, one.label.arguments);
            }
            self.possible = Some(all);
        }
        self.possible.as_deref().unwrap_or_default()
    }

    fn possible(&mut self) -> Vec<ActionId> {
        let labels: Vec<_> = self.look().iter().map(|one| one.label).collect();
        let mut actions: Vec<ActionId> = labels
            .iter()
            .map(|label| self.action(label.name, label.arguments))
            .collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    fn go(&mut self, states: Vec<Vec<Place>>) {
        self.states = states;
        self.possible = None;
    }

    fn take(&mut self, action: ActionId) {
        let (name, arguments) = self.chosen(action);
        let fits = |one: &&Joint| (one.label.name, one.label.arguments) == (name, arguments);
        let taken = self.look().iter().filter(fits);
        let mut after: Vec<Vec<Place>> = taken.map(|one| one.to.clone()).collect();
        after.sort_unstable();
        after.dedup();
        self.go(after);
    }
}

fn failure_of(trouble: &Trouble) -> Failure {
    let details = match trouble {
        Trouble::Raised { traceback, .. } => traceback.clone(),
        _ => String::new(),
    };
    let message = trouble.to_string();
    Failure {
        kind: FailureKind::UncaughtException,
        signature: message.clone(),
        message,
        details,
    }
}

impl System for Walk<'_, '_> {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn reset(&mut self) -> Result<(), Error> {
        self.wrong = None;
        self.go(vec![self.start.clone()]);
        Ok(())
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        let (name, arguments) = self.chosen(action);
        let fits = |one: &Joint| one.label.name == name && one.label.arguments == arguments;
        self.look().iter().any(fits)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let possible = self.possible();
        let place = random.below(possible.len() as u64);
        possible.get(place as usize).copied()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.possible()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        self.take(action);
        Outcome::Passed
    }

    fn check(&mut self) -> Outcome {
        if let Some(failure) = self.wrong.take() {
            return Outcome::Failed(Box::new(failure));
        }
        if self.states.iter().any(|state| self.product.is_safe(state)) {
            return Outcome::Passed;
        }
        Outcome::Failed(Box::new(Failure {
            kind: FailureKind::Property,
            message: "the invariant of the model is false".to_owned(),
            signature: "invariant".to_owned(),
            details: String::new(),
        }))
    }
}

impl Snapshot for Walk<'_, '_> {
    type State = Vec<Vec<Place>>;

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok(self.states.clone())
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        self.wrong = None;
        self.go(state.clone());
        Ok(())
    }
}

impl Fingerprint for Walk<'_, '_> {
    fn fingerprint(&mut self, _likeness: Likeness) -> Result<u128, Error> {
        Ok(crate::graph::key_of_set(&self.states))
    }
}
