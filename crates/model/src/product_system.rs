//! A product as a [`System`]: everything that works on a harness works on models too.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use testwright_core::message::without_values;
use testwright_core::product::{
    JointStep, ModelError, ModelState, NameId, Phase, Product, ValueId,
};
use testwright_core::{
    ActionId, Catalog, Coverage, Covered, Equivalence, Error, Examination, Failure, FailureKind,
    Fingerprint, Outcome, Random, Snapshot, System, TargetId, TemplateId, TooManyActions,
};

mod lockstep;
mod saved_actions;
mod transition_coverage;

use lockstep::AttachedImplementation;
pub use transition_coverage::TakenTransition;
use transition_coverage::TransitionCoverage;

/// A product of models, as a system for generation, reduction and exploration.
///
/// An action is a name with arguments. The models decide its result, and if they leave it open the
/// system is in several states at a time. The set of actions is not known in advance, since models
/// compute their arguments: the [`Catalog`] has a template for each name, and the actions that were
/// possible somewhere so far.
///
/// A test fails where the code of a model raises an exception, where an invariant is false, and in
/// a dead end: a state that is not accepting and in which no step is possible. Every transition
/// that is taken counts as coverage ([`Covered`]).
pub struct ProductSystem<'w, 'm> {
    /// Models that move together.
    product: &'w mut Product<'m>,
    /// States in which a test begins, sorted.
    starts: Vec<Vec<ModelState>>,
    /// States that the models may be in now, sorted.
    states: Vec<Vec<ModelState>>,
    /// For each of `states`, the steps that are possible there. `None` until they are needed.
    possible: Option<Vec<Rc<[JointStep]>>>,
    /// Cache of the steps that are possible in states.
    cache: FxHashMap<Vec<ModelState>, Rc<[JointStep]>>,
    /// All actions met so far.
    actions: Catalog,
    /// Template of each action name.
    names: FxHashMap<NameId, TemplateId>,
    /// For each template, its name and the arguments of its actions. An action that is known only
    /// by its text has none.
    arguments: Vec<(NameId, Vec<Option<ValueId>>)>,
    /// Action of each name with its arguments.
    numbers: FxHashMap<(NameId, ValueId), ActionId>,
    /// All actions by their text, filled when an action is first looked up that way. A saved test
    /// may name actions that were not met yet; these have no arguments.
    by_text: Option<FxHashMap<(TemplateId, String), ActionId>>,
    /// Transitions that were taken.
    coverage: TransitionCoverage,
    /// Implementation that performs each step too, if there is one.
    attached: Option<AttachedImplementation<'m>>,
    /// Error that kept the models from saying what is possible now.
    error: Option<ModelError>,
    /// The first reason for which the models or the implementation cannot be used at all. It is no
    /// failure of a test, so no test goes on, and the next reset tells it.
    unusable: Option<Error>,
}

/// Maximum number of observers of one name.
const MAX_OBSERVERS: usize = 4;

/// Maximum number of states in the cache. Tests pass through the same states again and again.
const MAX_CACHED: usize = 1 << 16;

impl<'w, 'm> ProductSystem<'w, 'm> {
    /// Creates a system in the initial state of a product. If one of the models is a suite, the
    /// system is at the start of any of its runs.
    pub fn new(product: &'w mut Product<'m>) -> Result<ProductSystem<'w, 'm>, ModelError> {
        let mut starts = Vec::new();
        while let Some(start) = product.initial_state(starts.len())? {
            starts.push(start);
            if !product.has_suite() {
                break;
            }
        }
        ProductSystem::starting_in(product, starts)
    }

    /// Creates a system at the start of one run. The starts differ if one of the models is a suite.
    pub fn starting_with_run(
        product: &'w mut Product<'m>,
        run: usize,
    ) -> Result<ProductSystem<'w, 'm>, ModelError> {
        let start = product.initial_state(run)?;
        ProductSystem::starting_in(product, start.into_iter().collect())
    }

    /// Creates a system that begins in any of `starts`.
    fn starting_in(
        product: &'w mut Product<'m>,
        mut starts: Vec<Vec<ModelState>>,
    ) -> Result<ProductSystem<'w, 'm>, ModelError> {
        if starts.is_empty() {
            return Err(Error::new("the models have no run to begin with").into());
        }
        starts.sort_unstable();
        starts.dedup();
        let vocabulary = product.vocabulary().to_vec();
        let mut system = ProductSystem {
            product,
            states: starts.clone(),
            starts,
            possible: None,
            cache: FxHashMap::default(),
            actions: Catalog::default(),
            names: FxHashMap::default(),
            arguments: Vec::new(),
            numbers: FxHashMap::default(),
            by_text: None,
            coverage: TransitionCoverage::default(),
            attached: None,
            error: None,
            unusable: None,
        };
        for name in vocabulary {
            system.template(name).map_err(too_many_actions)?;
        }
        Ok(system)
    }

    /// Returns the models.
    pub fn product(&self) -> &Product<'m> {
        self.product
    }

    /// Returns the models for use between two tests.
    pub(crate) fn product_mut(&mut self) -> &mut Product<'m> {
        self.product
    }

    /// Returns the states that the models may be in now.
    pub fn states(&self) -> &[Vec<ModelState>] {
        &self.states
    }

    /// Returns the states in which a test begins.
    pub fn starts(&self) -> &[Vec<ModelState>] {
        &self.starts
    }

    /// Returns the template of an action name, and adds it to the catalog if it is new.
    fn template(&mut self, name: NameId) -> Result<TemplateId, TooManyActions> {
        if let Some(template) = self.names.get(&name) {
            return Ok(*template);
        }
        let class = self.product.interner().name_text(name).to_owned();
        let template = self.actions.open_template(class, name.0 as usize + 1)?;
        self.names.insert(name, template);
        self.arguments.push((name, Vec::new()));
        Ok(template)
    }

    /// Returns the number of an action, and adds it to the catalog if it is new.
    pub fn action_id(&mut self, name: NameId, arguments: ValueId) -> Result<ActionId, Error> {
        if let Some(known) = self.numbers.get(&(name, arguments)) {
            return Ok(*known);
        }
        let number = || Error::new("the models have more actions than can be numbered");
        let template = self.template(name).map_err(|_| number())?;
        // A text with line breaks would take several lines of a saved test.
        let text = self.product.interner().value_text(arguments).plain();
        let text = if text.contains(['\n', '\r']) {
            self.product
                .interner()
                .value_text(arguments)
                .literal
                .clone()
        } else {
            text.to_owned()
        };
        let named = self.by_text.as_ref();
        let known_by_text = named.and_then(|named| named.get(&(template, text.clone())).copied());
        // If several actions have the same text, it refers to the first that was met.
        let action = match known_by_text.filter(|action| self.name_and_arguments(*action).is_none())
        {
            Some(action) => {
                let (_, values) = self.actions.values(action);
                self.arguments[template.0].1[values[0] as usize] = Some(arguments);
                action
            }
            None => {
                let action = self.add_action(template, text).map_err(|_| number())?;
                self.arguments[template.0].1.push(Some(arguments));
                action
            }
        };
        self.numbers.insert((name, arguments), action);
        Ok(action)
    }

    /// Adds an action with this text to the catalog.
    fn add_action(
        &mut self,
        template: TemplateId,
        text: String,
    ) -> Result<ActionId, TooManyActions> {
        let action = self.actions.add_action(template, text.clone())?;
        if let Some(named) = &mut self.by_text {
            named.entry((template, text)).or_insert(action);
        }
        Ok(action)
    }

    /// Returns the actions by their texts.
    fn actions_by_text(&mut self) -> &mut FxHashMap<(TemplateId, String), ActionId> {
        let actions = &self.actions;
        self.by_text.get_or_insert_with(|| {
            let mut named = FxHashMap::default();
            for action in actions.ids() {
                if let Some((_, rest)) = actions.name(action) {
                    let key = (actions.template_of(action), rest.to_owned());
                    named.entry(key).or_insert(action);
                }
            }
            named
        })
    }

    /// Returns the name and the arguments of an action, or `None` if only its text is known.
    pub fn name_and_arguments(&self, action: ActionId) -> Option<(NameId, ValueId)> {
        let (template, values) = self.actions.values(action);
        let (name, arguments) = &self.arguments[template.0];
        Some((*name, (*arguments.get(values[0] as usize)?)?))
    }

    /// Computes the steps that are possible now, unless they are known.
    fn compute_steps(&mut self) {
        if self.possible.is_some() {
            return;
        }
        let mut all = Vec::new();
        for state in self.states.clone() {
            match self.steps_from(&state) {
                Ok(moves) => all.push(moves),
                Err(error) => self.error = Some(error),
            }
        }
        self.possible = Some(all);
    }

    /// Returns the steps that are possible in a state, and numbers their actions.
    fn steps_from(&mut self, state: &[ModelState]) -> Result<Rc<[JointStep]>, ModelError> {
        if let Some(known) = self.cache.get(state) {
            return Ok(Rc::clone(known));
        }
        let moves: Rc<[JointStep]> = self.product.possible_steps(state, Phase::Normal)?.into();
        for one in moves.iter() {
            self.action_id(one.label.name, one.label.arguments)?;
        }
        if self.cache.len() >= MAX_CACHED {
            self.cache.clear();
        }
        self.cache.insert(state.to_vec(), Rc::clone(&moves));
        Ok(moves)
    }

    /// Iterates over all steps that are possible now.
    fn possible_steps(&mut self) -> impl Iterator<Item = &JointStep> {
        self.compute_steps();
        let all = self.possible.as_deref().unwrap_or_default();
        all.iter().flat_map(|moves| moves.iter())
    }

    /// Returns the distinct actions that are possible now, sorted.
    fn possible_actions(&mut self) -> Vec<ActionId> {
        let labels: Vec<_> = self.possible_steps().map(|one| one.label).collect();
        if self.unusable.is_some() {
            return Vec::new();
        }
        let known = labels
            .iter()
            .filter_map(|label| self.numbers.get(&(label.name, label.arguments)));
        let mut actions: Vec<ActionId> = known.copied().collect();
        actions.sort_unstable();
        actions.dedup();
        actions
    }

    /// Returns possible actions with results that leave the models where they are, a few of each name.
    fn observers(&mut self) -> Vec<ActionId> {
        let (states, possible) = (self.states.clone(), self.possible_actions());
        let mut observers = Vec::new();
        for action in possible {
            let chosen = self.name_and_arguments(action);
            let mut of_action = self
                .possible_steps()
                .filter(|one| Some((one.label.name, one.label.arguments)) == chosen);
            if of_action.all(|one| one.label.result != ValueId::NONE && states == [one.to.clone()])
            {
                observers.push(action);
            }
        }
        let mut counts: FxHashMap<TemplateId, usize> = FxHashMap::default();
        observers.retain(|action| {
            let count = counts.entry(self.actions.template_of(*action)).or_default();
            *count += 1;
            *count <= MAX_OBSERVERS
        });
        observers
    }

    /// Moves the system to these states.
    fn set_states(&mut self, states: Vec<Vec<ModelState>>) {
        self.states = states;
        self.possible = None;
        self.error = None;
    }

    /// Takes an action in the models, without an implementation.
    fn take_action(&mut self, action: ActionId) {
        let chosen = self.name_and_arguments(action);
        let fits = |one: &&JointStep| Some((one.label.name, one.label.arguments)) == chosen;
        let taken = self.possible_steps().filter(fits);
        let mut after: Vec<Vec<ModelState>> = taken.map(|one| one.to.clone()).collect();
        after.sort_unstable();
        after.dedup();
        self.coverage.record(&self.states, action);
        self.set_states(after);
    }

    /// Returns the outcome of computing what is possible now, which is where the code of a model
    /// raises.
    fn model_outcome(&mut self) -> Outcome {
        self.compute_steps();
        match self.error.clone() {
            None => Outcome::Passed,
            Some(error) => self.error_outcome(error),
        }
    }

    /// Returns the outcome of a step in which the code of a model or an implementation raised.
    fn error_outcome(&mut self, error: ModelError) -> Outcome {
        match error {
            ModelError::Interrupted => Outcome::Interrupted,
            ModelError::Unusable(error) => {
                self.unusable.get_or_insert(error);
                Outcome::Passed
            }
            error => Outcome::Failed(Box::new(model_failure(&error))),
        }
    }

    /// Returns the reason for which the models or the implementation cannot be used, if one has come
    /// up.
    pub fn unusable(&self) -> Option<&Error> {
        self.unusable.as_ref()
    }

    /// Returns a failure if one of the current states has a false invariant or is a dead end.
    fn find_violation(&mut self) -> Option<Failure> {
        self.compute_steps();
        let product = &*self.product;
        let moves = self.possible.as_deref().unwrap_or_default();
        for (state, moves) in self.states.iter().zip(moves) {
            let models = product.models().iter().zip(state);
            let mut violated = models.filter(|(model, state)| !model.is_safe(**state));
            let (message, signature) = if let Some((model, _)) = violated.next() {
                let name = model.name();
                (
                    format!("the invariant of `{name}` is false"),
                    format!("invariant of {name}"),
                )
            } else if moves.is_empty() && !product.is_accepting(state) {
                let message = "a dead end: nothing is possible, and no run may end here";
                (message.to_owned(), "dead end".to_owned())
            } else {
                continue;
            };
            return Some(Failure {
                kind: FailureKind::Property,
                message,
                signature,
                details: format!("in the state {}", crate::state_text(product, state)),
            });
        }
        None
    }
}

/// Converts the error of a full catalog.
fn too_many_actions(error: TooManyActions) -> ModelError {
    Error::new(error.to_string()).into()
}

/// Converts an exception in a model's code to a failure.
fn model_failure(error: &ModelError) -> Failure {
    let details = match error {
        ModelError::Raised { traceback, .. } => traceback.clone(),
        _ => String::new(),
    };
    let message = error.to_string();
    Failure {
        kind: FailureKind::UncaughtException,
        signature: without_values(&message),
        message,
        details,
    }
}

impl System for ProductSystem<'_, '_> {
    fn actions(&self) -> &Catalog {
        &self.actions
    }

    fn action_by_name(&mut self, class: &str, rest: &str) -> Option<ActionId> {
        let templates = self.actions.templates();
        let template = TemplateId(templates.iter().position(|one| one.class == class)?);
        if let Some(known) = self.actions_by_text().get(&(template, rest.to_owned())) {
            return Some(*known);
        }
        let action = self.add_action(template, rest.to_owned()).ok()?;
        self.arguments[template.0].1.push(None);
        Some(action)
    }

    fn reset(&mut self) -> Result<(), Error> {
        if let Some(error) = &self.unusable {
            return Err(error.clone());
        }
        self.reset_implementation()?;
        self.set_states(self.starts.clone());
        self.compute_steps();
        match &self.error {
            None | Some(ModelError::Interrupted) => Ok(()),
            Some(ModelError::Unusable(error)) => Err(error.clone()),
            Some(error) => {
                let mut message = format!("where runs begin, a model raises {error}");
                for line in model_failure(error).details.lines() {
                    message.push_str("\n  ");
                    message.push_str(line);
                }
                Err(Error::new(message))
            }
        }
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        // The action may be one that is numbered only now.
        self.compute_steps();
        let chosen = self.name_and_arguments(action);
        let mut steps = self.possible_steps();
        steps.any(|one| Some((one.label.name, one.label.arguments)) == chosen)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        let possible = self.possible_actions();
        let index = random.below(possible.len() as u64);
        possible.get(index as usize).copied()
    }

    fn enabled(&mut self) -> Vec<ActionId> {
        self.possible_actions()
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        match &self.attached {
            None => self.take_action(action),
            Some(_) => {
                if let Some(wrong) = self.step_in_lockstep(action) {
                    return wrong;
                }
            }
        }
        // The code of a model runs when it computes its next steps, so this is where it raises.
        self.model_outcome()
    }

    fn examine(&mut self) -> Option<Examination> {
        let attached = self.attached.as_ref()?;
        if attached.is_asynchronous() {
            return None;
        }
        Some(Examination {
            observers: self.observers(),
            state: Some(crate::graph::key_of_states(&self.states)),
            ..Examination::default()
        })
    }

    fn step_with_lines(&mut self, action: ActionId, lines: &mut Vec<String>) -> Outcome {
        let record = |system: &mut Self, record| {
            let attached = system.attached.as_mut();
            attached.map_or_else(Vec::new, |attached| attached.record_lines(record))
        };
        record(self, true);
        let outcome = self.step(action);
        lines.extend(record(self, false));
        outcome
    }

    fn check(&mut self) -> Outcome {
        match (self.model_outcome(), self.find_violation()) {
            (Outcome::Passed, Some(failure)) => Outcome::Failed(Box::new(failure)),
            (outcome, _) => outcome,
        }
    }
}

impl Snapshot for ProductSystem<'_, '_> {
    type State = Vec<Vec<ModelState>>;

    fn snapshot(&mut self) -> Result<Self::State, Error> {
        Ok(self.states.clone())
    }

    fn restore(&mut self, state: &Self::State) -> Result<(), Error> {
        self.set_states(state.clone());
        Ok(())
    }
}

impl Fingerprint for ProductSystem<'_, '_> {
    fn fingerprint(&mut self, _equivalence: Equivalence) -> Result<u128, Error> {
        Ok(crate::graph::key_of_states(&self.states))
    }
}

impl Covered for ProductSystem<'_, '_> {
    fn all_touched(&self) -> Coverage {
        self.coverage.all()
    }

    fn take_new(&mut self) -> Vec<TargetId> {
        self.coverage.take_new()
    }

    fn reset_touched(&mut self) -> Result<(), Error> {
        self.coverage.begin_test();
        Ok(())
    }

    fn touched(&self) -> Coverage {
        self.coverage.current_test()
    }
}
