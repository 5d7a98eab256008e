//! Model programs: Python modules whose variables are the state, and whose functions are the
//! actions.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use rustc_hash::FxHashSet;
use testwright_core::Error;
use testwright_core::product::{
    BlockReason, Interner, Model, ModelError, ModelNotices, ModelState, ModelStep, NameId, Phase,
    StepLabel, ValueId,
};
use testwright_core::verdict::Caveat;

use super::actions::{
    ActionArguments, CallArguments, DomainUse, GuardAnswers, ModelAction, ParameterDomains, Tuples,
    function_name,
};
use super::model_values::{ModelValues, raised};
use super::packing::{put_varint, take_varint};
use super::states::ProgramStates;
use super::unknown_argument;
use crate::forking;

/// A model program, running in its module.
///
/// An action is tried by executing it: the state is read before and after, and restored. Variables
/// that the module does not list as part of its state are never restored, and code that keeps a
/// reference to an object of the state sees it change. Both agree with PyModel, and some models
/// rely on it.
pub(crate) struct ModelProgram<'py> {
    name: String,
    /// The namespace of the module.
    module: Bound<'py, PyDict>,
    values: Rc<RefCell<ModelValues<'py>>>,
    states: Rc<RefCell<ProgramStates<'py>>>,
    /// All actions: controllable ones, then observable ones.
    actions: Vec<ModelAction<'py>>,
    /// Indices of the controllable actions, in order.
    controllable: Rc<[usize]>,
    /// Indices of the controllable cleanup actions, in order.
    cleanup: Rc<[usize]>,
    vocabulary: Vec<NameId>,
    predicates: StatePredicates<'py>,
    /// True if observable actions are tried with the values of their domains.
    tries_observables: bool,
    /// The keys of the states that the filter rejected.
    filtered: FxHashSet<u128>,
    /// True if steps from a state depend on the order of a set in it.
    depends_on_set_order: bool,
    /// The number of states with sets whose steps were computed.
    with_sets: u64,
    /// The function that restores the initial state.
    reset: Option<Bound<'py, PyAny>>,
    /// The present state of the module's variables, if known.
    current: Option<ModelState>,
    /// The state at the start of the first run.
    initial: Option<ModelState>,
}

/// The predicates of a module on its state. Missing ones count as true.
pub(crate) struct StatePredicates<'py> {
    /// Decides whether a run may end in the state.
    pub(crate) accepting: Option<Bound<'py, PyAny>>,
    /// Decides whether the state is explored.
    pub(crate) filter: Option<Bound<'py, PyAny>>,
    /// Decides whether the state is safe.
    pub(crate) invariant: Option<Bound<'py, PyAny>>,
}

/// The treatment of states that the filter rejects.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FilteredStates {
    /// They are dropped.
    Dropped,
    /// They are kept: a run starts there, or was led there without regard to the filter.
    Kept,
}

/// An action, and the arguments to try it with.
type Choices<'py> = (usize, Tuples<'py>);

/// The parts that a model program is made from.
pub(crate) struct ProgramParts<'py> {
    pub(crate) name: String,
    pub(crate) module: Bound<'py, PyDict>,
    pub(crate) states: ProgramStates<'py>,
    pub(crate) actions: Vec<ModelAction<'py>>,
    pub(crate) predicates: StatePredicates<'py>,
    pub(crate) reset: Option<Bound<'py, PyAny>>,
}

impl<'py> ModelProgram<'py> {
    /// Creates a program from its parts.
    pub(crate) fn new(
        parts: ProgramParts<'py>,
        values: Rc<RefCell<ModelValues<'py>>>,
    ) -> ModelProgram<'py> {
        let mut vocabulary: Vec<NameId> = Vec::new();
        for action in &parts.actions {
            if !vocabulary.contains(&action.name) {
                vocabulary.push(action.name);
            }
        }
        let chosen = |number: &usize| !parts.actions[*number].is_observable;
        let chosen = (0..parts.actions.len()).filter(chosen);
        let (controllable, mut cleanup) = (chosen.clone(), chosen.collect::<Vec<usize>>());
        let controllable = controllable.filter(|number| parts.actions[*number].is_listed);
        let controllable = controllable.collect();
        cleanup.retain(|number| parts.actions[*number].cleanup.is_some());
        cleanup.sort_by_key(|number| parts.actions[*number].cleanup);
        ModelProgram {
            name: parts.name,
            module: parts.module,
            values,
            states: Rc::new(RefCell::new(parts.states)),
            actions: parts.actions,
            controllable,
            cleanup: cleanup.into(),
            vocabulary,
            predicates: parts.predicates,
            tries_observables: false,
            filtered: FxHashSet::default(),
            depends_on_set_order: false,
            with_sets: 0,
            reset: parts.reset,
            current: None,
            initial: None,
        }
    }

    /// Returns the known states, shared with other users.
    pub(crate) fn states(&self) -> Rc<RefCell<ProgramStates<'py>>> {
        Rc::clone(&self.states)
    }

    /// Returns the interpreter.
    fn python(&self) -> Python<'py> {
        self.module.py()
    }

    /// Converts an exception from the code of the model to an error.
    fn raised(&self, error: &PyErr) -> ModelError {
        raised(self.python(), error)
    }

    /// Restores a state: sets the variables of the module to new objects.
    fn enter(&mut self, id: ModelState) -> PyResult<()> {
        if self.current == Some(id) {
            return Ok(());
        }
        let mut values = self.values.borrow_mut();
        let states = self.states.borrow();
        states.restore(&values.packer, &self.module, id)?;
        states.check_restored(&mut values.packer, &self.module, id)?;
        self.current = Some(id);
        Ok(())
    }

    /// Returns the present state of the module. Returns `None` if the filter rejects it and
    /// rejected states are dropped.
    fn read_state(&mut self, filtered: FilteredStates) -> PyResult<Option<ModelState>> {
        let holds = |predicate: &Option<Bound<'py, PyAny>>| {
            let Some(predicate) = predicate else {
                return Ok(true);
            };
            let answer = predicate.call0()?;
            self.values.borrow().coroutines.check_result(&answer)?;
            answer.is_truthy()
        };
        // The state is read first: changes made by a predicate are not part of the step.
        let mut values = self.values.borrow_mut();
        let mut states = self.states.borrow_mut();
        let read = states.read(&mut values.packer, &self.module)?;
        drop(values);
        drop(states);
        let accepting = holds(&self.predicates.accepting)?;
        let is_admitted = holds(&self.predicates.filter)?;
        let safe = holds(&self.predicates.invariant)?;
        if !is_admitted && filtered == FilteredStates::Dropped {
            // There may be many times as many rejected states as others, so only keys are kept.
            self.filtered.insert(self.states.borrow().key_of_read());
            return Ok(None);
        }
        let id = self.states.borrow_mut().save(read, accepting, safe)?;
        Ok(Some(id))
    }

    /// Returns the possible steps from a state, found by trying all actions.
    fn steps_from(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        phase: Phase,
        offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        let has_sets = self.states.borrow().has_sets(from);
        let steps = self.try_all(interner, from, phase, offers)?;
        let looked = self.values.borrow_mut().look_sometimes();
        looked.map_err(|error| self.raised(&error))?;
        if has_sets && !self.depends_on_set_order && self.is_sampled() {
            self.current = None;
            self.values.borrow().packer.shuffles_sets.set(true);
            let others = self.try_all(interner, from, phase, offers);
            self.values.borrow().packer.shuffles_sets.set(false);
            self.current = None;
            let is_same = others.is_ok_and(|others| {
                let all: FxHashSet<ModelStep> = steps.iter().copied().collect();
                others.len() == steps.len() && others.iter().all(|step| all.contains(step))
            });
            self.depends_on_set_order |= !is_same;
        }
        Ok(steps)
    }

    /// Returns true if the steps of this state are tried with sets in another order, too: the first
    /// few times, and then from time to time.
    fn is_sampled(&mut self) -> bool {
        const ALL: u64 = 16;
        const INTERVAL: u64 = 64;
        self.with_sets += 1;
        self.with_sets <= ALL || self.with_sets.is_multiple_of(INTERVAL)
    }

    /// Returns the steps from a state, by trying all actions once.
    fn try_all(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        phase: Phase,
        offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        let mut steps = Vec::new();
        for (action, tuples) in self.argument_choices(from, phase, offers)? {
            for arguments in tuples.iter() {
                if self
                    .blocking_guard(from, action, &arguments.tuple)?
                    .is_none()
                {
                    let step = self.try_action(
                        interner,
                        from,
                        action,
                        arguments,
                        FilteredStates::Dropped,
                    )?;
                    steps.extend(step);
                }
            }
        }
        Ok(steps)
    }

    /// Tries an action in a state. Returns the step, or `None` if the filter rejects the result.
    /// The module is in another state afterwards.
    fn try_action(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        action: usize,
        arguments: &CallArguments<'py>,
        filtered: FilteredStates,
    ) -> Result<Option<ModelStep>, ModelError> {
        let needed = self.actions[action].min_arguments;
        if arguments.tuple.len() < needed {
            let name = self.actions[action].text.clone();
            return Err(self.wrong_argument_count(action, &name, needed, arguments.tuple.len()));
        }
        let mut work = || -> PyResult<Option<ModelStep>> {
            self.enter(from)?;
            self.current = None;
            let action = &self.actions[action];
            let name = action.name;
            let result = action.function.call1(arguments.tuple.clone())?;
            self.values.borrow().coroutines.check_result(&result)?;
            let Some(to) = self.read_state(filtered)? else {
                return Ok(None);
            };
            let mut values = self.values.borrow_mut();
            let label = StepLabel {
                name,
                arguments: arguments.number(&mut values, interner)?,
                result: values.value(interner, &result)?,
            };
            Ok(Some(ModelStep { label, to }))
        };
        work().map_err(|error| self.raised(&error))
    }

    /// Returns the name of a guard that blocks an action in a state.
    fn blocking_guard(
        &mut self,
        from: ModelState,
        action: usize,
        arguments: &Bound<'py, PyTuple>,
    ) -> Result<Option<String>, ModelError> {
        for guard in 0..self.actions[action].guards.len() {
            self.enter(from).map_err(|error| self.raised(&error))?;
            let guard = &self.actions[action].guards[guard];
            let allows = match guard.parameters {
                0 => guard.function.call0(),
                needed if needed == arguments.len() => guard.function.call1(arguments.clone()),
                needed => {
                    return Err(self.wrong_argument_count(
                        action,
                        &guard.name,
                        needed,
                        arguments.len(),
                    ));
                }
            };
            let allows = allows.and_then(|allows| {
                self.values.borrow().coroutines.check_result(&allows)?;
                allows.is_truthy()
            });
            let allows = allows.map_err(|error| self.raised(&error))?;
            guard.note(allows);
            if !allows {
                return Ok(Some(guard.name.clone()));
            }
        }
        Ok(None)
    }

    /// Returns the error for a function called with the wrong number of arguments.
    fn wrong_argument_count(
        &self,
        action: usize,
        callee: &str,
        needed: usize,
        given: usize,
    ) -> ModelError {
        let message =
            format!("{callee} needs {needed} arguments, got {given}.  Check parameter generator.");
        let help = format!(
            "`domains` of the module `{}` should have values for each parameter of `{}`",
            self.name, self.actions[action].text
        );
        ModelError::Unusable(Error::new(message).with_help(help))
    }

    /// Returns the arguments to try each action with in a state: from the module, or from scenarios
    /// for observable actions.
    fn argument_choices(
        &mut self,
        from: ModelState,
        phase: Phase,
        offers: &[StepLabel],
    ) -> Result<Vec<Choices<'py>>, ModelError> {
        let mut choices = Vec::with_capacity(self.actions.len());
        let chosen = Rc::clone(match phase {
            Phase::Normal => &self.controllable,
            Phase::Cleanup => &self.cleanup,
        });
        for number in chosen.iter().copied() {
            choices.push((number, self.own_arguments(from, number)?));
        }
        for observable in 0..self.actions.len() {
            let action = &self.actions[observable];
            if action.is_observable {
                let is_tried = self.tries_observables && phase == Phase::Normal && action.is_listed;
                if is_tried && (action.min_arguments == 0 || !action.is_observed_without_values()) {
                    choices.push((observable, self.own_arguments(from, observable)?));
                }
                choices.push((
                    observable,
                    self.offered_arguments(observable, phase, offers),
                ));
            }
        }
        Ok(choices)
    }

    /// Returns the arguments that the module has for an action in a state.
    fn own_arguments(
        &mut self,
        from: ModelState,
        action: usize,
    ) -> Result<Tuples<'py>, ModelError> {
        self.enter(from).map_err(|error| self.raised(&error))?;
        match &self.actions[action].arguments {
            ActionArguments::None(tuples) => Ok(Rc::clone(tuples)),
            ActionArguments::Domains(domains) => {
                let tuples = domains.tuples(self.python());
                let tuples = tuples.map_err(|error| self.raised(&error))?;
                tuples.map_err(ModelError::Unusable)
            }
            ActionArguments::Missing(error) => Err(ModelError::Unusable(error.clone())),
        }
    }

    /// Returns the arguments with which scenarios allow an observable action now.
    fn offered_arguments(&self, action: usize, phase: Phase, offers: &[StepLabel]) -> Tuples<'py> {
        let action = &self.actions[action];
        let takes_part = match phase {
            Phase::Normal => action.is_listed,
            Phase::Cleanup => action.cleanup.is_some(),
        };
        let mut seen: Vec<ValueId> = Vec::new();
        for offer in offers.iter().filter(|offer| offer.name == action.name) {
            if takes_part && !seen.contains(&offer.arguments) {
                seen.push(offer.arguments);
            }
        }
        let values = self.values.borrow();
        seen.into_iter()
            .filter_map(|value| values.tuple(value))
            // A scenario that leaves the arguments open does not offer any.
            .filter(|arguments| action.accepts_count(arguments.len()))
            .map(CallArguments::new)
            .collect()
    }

    /// Returns the domains of actions, in the order of the actions.
    fn domains(&self) -> impl Iterator<Item = &ParameterDomains<'py>> {
        self.actions
            .iter()
            .filter_map(|action| match &action.arguments {
                ActionArguments::Domains(domains) => Some(domains),
                ActionArguments::None(_) | ActionArguments::Missing(_) => None,
            })
    }

    /// Returns the actions without parameters.
    pub(crate) fn without_parameters(&self) -> impl Iterator<Item = NameId> {
        let actions = self
            .actions
            .iter()
            .filter(|action| action.max_arguments == Some(0));
        actions.map(|action| action.name)
    }

    /// Returns the index of the action with this name.
    fn action(&self, name: NameId) -> Option<usize> {
        let mut actions = self.actions.iter();
        actions.position(|action| action.name == name)
    }
}

impl Model for ModelProgram<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn vocabulary(&self) -> &[NameId] {
        &self.vocabulary
    }

    fn is_scenario(&self) -> bool {
        false
    }

    fn can_reset(&self) -> bool {
        self.reset.is_some()
    }

    fn start(&mut self, run: usize) -> Result<Option<ModelState>, ModelError> {
        if run == 0 && self.initial.is_some() {
            return Ok(self.initial);
        }
        if run > 0 {
            let Some(reset) = self.reset.clone() else {
                return Err(ModelError::NoReset {
                    model: self.name.clone(),
                });
            };
            let values = &self.values;
            let reset = reset.call0();
            let reset = reset.and_then(|value| values.borrow().coroutines.check_result(&value));
            reset.map_err(|error| self.raised(&error))?;
        }
        let id = self.read_state(FilteredStates::Kept);
        let Some(id) = id.map_err(|error| self.raised(&error))? else {
            return Ok(None);
        };
        // The variables keep their objects, because the module may hold further references to them.
        self.current = Some(id);
        self.initial.get_or_insert(id);
        Ok(Some(id))
    }

    fn initial_state(&mut self, _run: usize) -> Result<Option<ModelState>, ModelError> {
        match self.initial {
            Some(initial) => Ok(Some(initial)),
            None => self.start(0),
        }
    }

    fn possible_steps(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        phase: Phase,
        offers: &[StepLabel],
    ) -> Result<Vec<ModelStep>, ModelError> {
        let steps = self.steps_from(interner, from, phase, offers);
        // An action may have forked, and this process be the child.
        forking::exit_if_child();
        steps
    }

    fn block_reason(
        &mut self,
        _interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<BlockReason>, ModelError> {
        let arguments = self.values.borrow().tuple(arguments);
        let (Some(action), Some(arguments)) = (self.action(name), arguments) else {
            return Ok(Some(BlockReason::Domain));
        };
        // A wrong number of arguments comes from the caller here, and not from the module.
        if !self.actions[action].accepts_count(arguments.len()) {
            return Ok(Some(BlockReason::Domain));
        }
        let guard = self.blocking_guard(from, action, &arguments)?;
        Ok(guard.map(BlockReason::Guard))
    }

    fn block_reasons(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        offers: &[StepLabel],
    ) -> Result<Vec<(NameId, ValueId, BlockReason)>, ModelError> {
        let mut all = Vec::new();
        for (action, tuples) in self.argument_choices(from, Phase::Normal, offers)? {
            for arguments in tuples.iter() {
                let reason = match self.blocking_guard(from, action, &arguments.tuple)? {
                    Some(guard) => Some(BlockReason::Guard(guard)),
                    None => {
                        let step = self.try_action(
                            interner,
                            from,
                            action,
                            arguments,
                            FilteredStates::Dropped,
                        )?;
                        step.is_none().then_some(BlockReason::Filter)
                    }
                };
                let Some(reason) = reason else {
                    continue;
                };
                let mut values = self.values.borrow_mut();
                let value = arguments.number(&mut values, interner);
                let value = value.map_err(|error| self.raised(&error))?;
                all.push((self.actions[action].name, value, reason));
            }
        }
        Ok(all)
    }

    fn perform(
        &mut self,
        interner: &mut Interner,
        from: ModelState,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<ModelStep>, ModelError> {
        let arguments = self.values.borrow().tuple(arguments);
        let (Some(action), Some(arguments)) = (self.action(name), arguments) else {
            return Ok(Vec::new());
        };
        let given = CallArguments::new(arguments);
        let step = self.try_action(interner, from, action, &given, FilteredStates::Kept)?;
        // The state was not restored: the module has moved on.
        self.current = step.map(|step| step.to);
        Ok(step.into_iter().collect())
    }

    fn try_observables(&mut self) {
        self.tries_observables = true;
    }

    fn is_observable(&self, name: NameId) -> bool {
        let mut actions = self.actions.iter();
        actions.any(|action| action.name == name && action.is_observable)
    }

    fn may_observe(&mut self, from: ModelState) -> Result<bool, ModelError> {
        for number in 0..self.actions.len() {
            let action = &self.actions[number];
            if !action.is_observable || !action.is_listed {
                continue;
            }
            if action.is_observed_without_values() {
                self.enter(from).map_err(|error| self.raised(&error))?;
                let mut guards = self.actions[number].guards.iter();
                let refuses = |guard| unknown_argument::refuses_all(self.python(), guard);
                if !guards.any(|guard| refuses(guard).unwrap_or(false)) {
                    return Ok(true);
                }
                continue;
            }
            for arguments in self.own_arguments(from, number)?.iter() {
                let guard = self.blocking_guard(from, number, &arguments.tuple)?;
                if guard.is_none() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    fn enter_state(&mut self, state: ModelState) -> Result<(), ModelError> {
        self.enter(state).map_err(|error| self.raised(&error))
    }

    fn observables_without_values(&self) -> Vec<NameId> {
        let actions = self.actions.iter();
        let actions = actions.filter(|action| action.is_observed_without_values());
        actions.map(|action| action.name).collect()
    }

    fn has_fixed_arguments(&self, name: NameId) -> bool {
        self.action(name).is_some_and(|action| {
            let action = &self.actions[action];
            match &action.arguments {
                ActionArguments::None(_) => !action.is_observed_without_values(),
                ActionArguments::Domains(domains) => domains.are_fixed(),
                ActionArguments::Missing(_) => false,
            }
        })
    }

    fn has_invariant(&self) -> bool {
        self.predicates.invariant.is_some()
    }

    fn notices(&self) -> ModelNotices {
        let mut caveats = self.values.borrow_mut().caveats();
        if let Some(filter) = &self.predicates.filter
            && !self.filtered.is_empty()
        {
            caveats.push(Caveat::FilteredStates {
                filter: function_name(filter).unwrap_or_else(|_| "StateFilter".to_owned()),
                states: self.filtered.len() as u64,
            });
        }
        if self.depends_on_set_order {
            caveats.push(Caveat::Nondeterministic {
                what: format!(
                    "steps of `{}` depend on the order of a set, which is no part of its state",
                    self.name
                ),
            });
        }
        caveats.extend(self.domains().filter_map(ParameterDomains::caveat));
        let guards = self.actions.iter().flat_map(|action| &action.guards);
        let idle = guards.filter(|guard| guard.answers.get().yes && !guard.answers.get().no);
        ModelNotices {
            caveats,
            idle_guards: idle.map(|guard| guard.name.clone()).collect(),
        }
    }

    fn export_notices(&mut self) -> Vec<u8> {
        let guards = self.actions.iter().flat_map(|action| &action.guards);
        let bits = |answers: GuardAnswers| u8::from(answers.yes) | u8::from(answers.no) << 1;
        let mut notices: Vec<u8> = guards.map(|guard| bits(guard.answers.get())).collect();
        notices.push(u8::from(self.depends_on_set_order));
        for domains in self.domains() {
            let found = domains.use_so_far();
            for number in [
                usize::from(found.is_tried),
                found.empty,
                found.cut,
                found.left_out,
            ] {
                put_varint(&mut notices, number as u64);
            }
        }
        let mut keys: Vec<u128> = std::mem::take(&mut self.filtered).into_iter().collect();
        keys.sort_unstable();
        put_varint(&mut notices, keys.len() as u64);
        notices.extend(keys.into_iter().flat_map(u128::to_le_bytes));
        let changed = self.values.borrow_mut().changed_names();
        notices.extend(changed.join("\n").into_bytes());
        notices
    }

    fn import_notices(&mut self, notices: &[u8]) {
        let guards = self.actions.iter().flat_map(|action| &action.guards);
        let mut notices = notices;
        for guard in guards {
            let Some((bits, rest)) = notices.split_first() else {
                return;
            };
            notices = rest;
            (bits & 1 != 0).then(|| guard.note(true));
            (bits & 2 != 0).then(|| guard.note(false));
        }
        let Some((depends, rest)) = notices.split_first() else {
            return;
        };
        self.depends_on_set_order |= *depends != 0;
        notices = rest;
        for domains in self.domains() {
            let [is_tried, empty, cut, left_out] =
                [(); 4].map(|()| take_varint(&mut notices) as usize);
            domains.add_use(DomainUse {
                is_tried: is_tried != 0,
                empty,
                cut,
                left_out,
            });
        }
        let count = take_varint(&mut notices) as usize;
        let Some((keys, names)) = notices.split_at_checked(count * size_of::<u128>()) else {
            return;
        };
        let (keys, _) = keys.as_chunks();
        let keys = keys.iter().map(|key| u128::from_le_bytes(*key));
        self.filtered.extend(keys);
        let names = String::from_utf8_lossy(names);
        self.values.borrow_mut().add_changed_names(names.lines());
    }

    fn release_state(&mut self) {
        self.current = None;
    }

    fn is_accepting(&self, id: ModelState) -> bool {
        self.states.borrow().flags(id).is_accepting()
    }

    fn is_safe(&self, id: ModelState) -> bool {
        self.states.borrow().flags(id).is_safe()
    }

    fn text(&self, id: ModelState) -> String {
        let values = self.values.borrow();
        let text = self.states.borrow().text(&values.packer, id);
        text.unwrap_or_else(|error| self.raised(&error).to_string())
    }

    fn export(&self, id: ModelState) -> Option<Vec<u8>> {
        self.states.borrow().export(id)
    }

    fn import(&mut self, state: &[u8]) -> Option<ModelState> {
        self.states.borrow_mut().import(state)
    }

    fn bytes(&self) -> usize {
        self.states.borrow().bytes() + self.filtered.capacity() * size_of::<u128>()
    }
}

impl Drop for ModelProgram<'_> {
    /// Restores the initial state of the module, which may be used again on its own or in another
    /// product.
    fn drop(&mut self) {
        if let Some(initial) = self.initial {
            // A value that cannot be copied can no longer be reported.
            let _ = self.enter(initial);
        }
    }
}
