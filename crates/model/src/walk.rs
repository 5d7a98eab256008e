//! A product as a [`System`]: what can be done to a harness can be done to models, too.

use rustc_hash::FxHashMap;
use testwright_core::product::{Joint, Label, NameId, Phase, Place, Product, Trouble, ValueId};
use testwright_core::{
    ActionId, Catalog, Error, Failure, FailureKind, Fingerprint, Likeness, Outcome, Piece, Random,
    Snapshot, System, Template,
};

use crate::Implementation;

/// A product that is led around, with or without an implementation that does the same.
///
/// An action is a name with arguments. What comes of it is up to the models, and if they leave that open the system is
/// in several states at a time. Which actions there are is not known beforehand, since models compute their arguments:
/// the [`Catalog`] has those that were possible somewhere until now.
pub struct Walk<'w, 'm> {
    product: &'w mut Product<'m>,
    implementation: Option<&'w mut dyn Implementation>,
    start: Vec<Place>,
    states: Vec<Vec<Place>>,
    /// What is possible now, once somebody has asked.
    possible: Option<Vec<Joint>>,
    actions: Catalog,
    numbers: FxHashMap<(NameId, ValueId), ActionId>,
    chosen: Vec<(NameId, ValueId)>,
    /// What the implementation did that the models do not allow, or trouble; told by the next step or check.
    wrong: Option<Failure>,
    has_begun: bool,
}

impl<'w, 'm> Walk<'w, 'm> {
    /// A product in its initial state.
    pub fn new(
        product: &'w mut Product<'m>,
        implementation: Option<&'w mut dyn Implementation>,
    ) -> Result<Walk<'w, 'm>, Trouble> {
        let start = product.begin(0)?;
        let start = start.ok_or_else(|| Error::new("the models have no run to begin with"))?;
        Ok(Walk {
            product,
            implementation,
            states: vec![start.clone()],
            start,
            possible: None,
            actions: Catalog::default(),
            numbers: FxHashMap::default(),
            chosen: Vec::new(),
            wrong: None,
            has_begun: false,
        })
    }

    /// The models.
    pub fn product(&self) -> &Product<'m> {
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

    /// The implementation has been used before, and has to be made ready for each run.
    pub fn has_begun(&mut self) {
        self.has_begun = true;
    }

    /// What the models say of steps, from where a run begins: each with its result.
    pub fn expected(&mut self, steps: &[(NameId, ValueId)]) -> Result<Vec<Label>, Error> {
        let mut labels = Vec::new();
        let mut state = self.start.clone();
        for (name, arguments) in steps {
            let done = self.product.perform(&state, *name, *arguments);
            let done = done.map_err(|trouble| Error::new(trouble.to_string()))?;
            let Some(one) = done.into_iter().next() else {
                break;
            };
            labels.push(one.label);
            state = one.to;
        }
        Ok(labels)
    }

    /// Takes steps that somebody has written down, from where a run begins, up to the first that fails.
    pub fn play(&mut self, steps: &[(NameId, ValueId)]) -> Result<Option<Failure>, Error> {
        self.reset()?;
        for (name, arguments) in steps {
            let action = self.action(*name, *arguments);
            if !self.is_enabled(action) {
                let text = self.actions.text(action);
                return Ok(Some(mismatch(format!("{text} is not possible here"))));
            }
            for outcome in [self.step(action), self.check()] {
                if let Outcome::Failed(failure) = outcome {
                    return Ok(Some(*failure));
                }
            }
        }
        Ok(None)
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

    /// Looks at what the implementation has done by itself.
    fn observe(&mut self) -> Result<(), Failure> {
        loop {
            let Some(implementation) = &mut self.implementation else {
                return Ok(());
            };
            let observed = implementation.observed(self.product.words_mut());
            let Some((name, arguments)) = observed.map_err(|trouble| failure_of(&trouble))? else {
                return Ok(());
            };
            let mut after: Vec<Vec<Place>> = Vec::new();
            for state in &self.states {
                let allowed = self.product.allows(state, name, arguments);
                if allowed.map_err(|trouble| failure_of(&trouble))? {
                    let done = self.product.perform(state, name, arguments);
                    let done = done.map_err(|trouble| failure_of(&trouble))?;
                    after.extend(done.into_iter().map(|one| one.to));
                }
            }
            if after.is_empty() {
                let words = self.product.words();
                let name = words.name_text(name);
                let arguments = words.value_text(arguments).plain();
                return Err(mismatch(format!("{name}{arguments}, action not enabled")));
            }
            after.sort_unstable();
            after.dedup();
            self.go(after);
        }
    }

    fn take(&mut self, action: ActionId) -> Result<(), Failure> {
        let (name, arguments) = self.chosen(action);
        let taken: Vec<Joint> = self
            .look()
            .iter()
            .filter(|one| one.label.name == name && one.label.arguments == arguments)
            .cloned()
            .collect();
        let label = taken.first().map(|one| one.label);
        let mut after: Vec<Vec<Place>> = taken.into_iter().map(|one| one.to).collect();
        after.sort_unstable();
        after.dedup();
        self.go(after);
        if let (Some(label), Some(implementation)) = (label, &mut self.implementation) {
            let wrong = implementation.act(self.product.words(), label);
            if let Some(why) = wrong.map_err(|trouble| failure_of(&trouble))? {
                return Err(mismatch(why));
            }
        }
        self.observe()
    }
}

/// The implementation did not do what the models do.
fn mismatch(why: String) -> Failure {
    Failure {
        kind: FailureKind::ModelMismatch,
        signature: without_numbers(&why),
        message: why,
        details: String::new(),
    }
}

/// The same complaint with other values is the same failure.
fn without_numbers(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}

fn failure_of(trouble: &Trouble) -> Failure {
    let details = match trouble {
        Trouble::Raised { traceback, .. } => traceback.clone(),
        _ => String::new(),
    };
    let message = trouble.to_string();
    Failure {
        kind: FailureKind::UncaughtException,
        signature: without_numbers(&message),
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
        if let Some(implementation) = &mut self.implementation
            && std::mem::replace(&mut self.has_begun, true)
        {
            let left = implementation
                .reset()
                .and_then(|()| implementation.forget());
            left.map_err(|trouble| Error::new(trouble.to_string()))?;
        }
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
        match self.take(action) {
            Ok(()) => Outcome::Passed,
            Err(failure) => Outcome::Failed(Box::new(failure)),
        }
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
        match self.implementation {
            None => Ok(self.states.clone()),
            Some(_) => Err(Error::new("an implementation cannot be copied")),
        }
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        self.wrong = None;
        self.go(state.clone());
        Ok(())
    }
}

impl Fingerprint for Walk<'_, '_> {
    fn fingerprint(&mut self, _likeness: Likeness) -> Result<u128, Error> {
        if self.implementation.is_some() {
            return Err(Error::new(
                "the states of an implementation cannot be told apart",
            ));
        }
        Ok(crate::graph::key_of_set(&self.states))
    }
}
