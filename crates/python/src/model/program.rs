//! A model program: a Python module whose variables are the state and whose functions are the actions.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use testwright_core::Error;
use testwright_core::product::{
    Label, Model, Move, NameId, Phase, Place, Refusal, Trouble, ValueId, Words,
};

use super::actions::{Action, Arguments, Given, Tuples};
use super::speech::{Speech, raised};
use super::states::States;
use crate::forked;

/// A model program, alive in its module.
///
/// An action is tried by doing it: the state is noted before and after, and put back. Variables that the module does not
/// call part of its state are never put back, and whoever keeps an object of the state elsewhere sees it change; both
/// is how models have always been run, and some count on it.
pub(crate) struct Program<'py> {
    name: String,
    module: Bound<'py, PyDict>,
    speech: Rc<RefCell<Speech<'py>>>,
    states: Rc<RefCell<States<'py>>>,
    /// All actions: those that are chosen, then those that are observed.
    actions: Vec<Action<'py>>,
    /// Those that are chosen, in their order.
    usual: Rc<[usize]>,
    /// Those that are chosen to come to an end with.
    cleanup: Rc<[usize]>,
    vocabulary: Vec<NameId>,
    predicates: Predicates<'py>,
    reset: Option<Bound<'py, PyAny>>,
    /// Where the variables of the module are now, if that is known.
    now: Option<Place>,
    /// Where they were when the first run began.
    initial: Option<Place>,
}

/// What a module says of the state it is in; what it does not say is true.
pub(crate) struct Predicates<'py> {
    pub(crate) accepting: Option<Bound<'py, PyAny>>,
    pub(crate) filter: Option<Bound<'py, PyAny>>,
    pub(crate) invariant: Option<Bound<'py, PyAny>>,
}

/// What becomes of a state that the filter does not let in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Filtered {
    Forgotten,
    /// A run begins in it, or was led there by somebody who asks no filter.
    Kept,
}

/// An action, and with which arguments to try it.
type Choices<'py> = (usize, Tuples<'py>);

/// What a module has told about itself.
pub(crate) struct Parts<'py> {
    pub(crate) name: String,
    pub(crate) module: Bound<'py, PyDict>,
    pub(crate) states: States<'py>,
    pub(crate) actions: Vec<Action<'py>>,
    pub(crate) predicates: Predicates<'py>,
    pub(crate) reset: Option<Bound<'py, PyAny>>,
}

impl<'py> Program<'py> {
    pub(crate) fn new(parts: Parts<'py>, speech: Rc<RefCell<Speech<'py>>>) -> Program<'py> {
        let mut vocabulary: Vec<NameId> = Vec::new();
        for action in &parts.actions {
            if !vocabulary.contains(&action.name) {
                vocabulary.push(action.name);
            }
        }
        let chosen = |number: &usize| !parts.actions[*number].is_observable;
        let chosen = (0..parts.actions.len()).filter(chosen);
        let (usual, mut cleanup) = (chosen.clone(), chosen.collect::<Vec<usize>>());
        let usual = usual.filter(|number| parts.actions[*number].is_listed);
        let usual = usual.collect();
        cleanup.retain(|number| parts.actions[*number].cleanup.is_some());
        cleanup.sort_by_key(|number| parts.actions[*number].cleanup);
        Program {
            name: parts.name,
            module: parts.module,
            speech,
            states: Rc::new(RefCell::new(parts.states)),
            actions: parts.actions,
            usual,
            cleanup: cleanup.into(),
            vocabulary,
            predicates: parts.predicates,
            reset: parts.reset,
            now: None,
            initial: None,
        }
    }

    /// The states that it was met in, for others to look at.
    pub(crate) fn states(&self) -> Rc<RefCell<States<'py>>> {
        Rc::clone(&self.states)
    }

    fn python(&self) -> Python<'py> {
        self.module.py()
    }

    fn trouble(&self, error: &PyErr) -> Trouble {
        raised(self.python(), error)
    }

    /// Makes the module be in a state, its variables new objects.
    fn enter(&mut self, place: Place) -> PyResult<()> {
        if self.now == Some(place) {
            return Ok(());
        }
        let speech = self.speech.borrow();
        self.states
            .borrow()
            .restore(&speech.values, &self.module, place)?;
        self.now = Some(place);
        Ok(())
    }

    /// The state that the module is in; nothing if its filter does not let it in and it need not be known then.
    fn look(&mut self, filtered: Filtered) -> PyResult<Option<Place>> {
        let asked = |predicate: &Option<Bound<'py, PyAny>>| match predicate {
            Some(predicate) => predicate.call0()?.is_truthy(),
            None => Ok(true),
        };
        // The state is read first: what a predicate does to it is not part of the step.
        let mut speech = self.speech.borrow_mut();
        let mut states = self.states.borrow_mut();
        let read = states.read(&mut speech.values, &self.module)?;
        drop(speech);
        drop(states);
        let accepting = asked(&self.predicates.accepting)?;
        let is_let_in = asked(&self.predicates.filter)?;
        let safe = asked(&self.predicates.invariant)?;
        if !is_let_in && filtered == Filtered::Forgotten {
            // There may be many times as many of these as of others.
            return Ok(None);
        }
        let place = self.states.borrow_mut().keep(read, accepting, safe)?;
        Ok(Some(place))
    }

    /// What is possible in a state, found out by doing it.
    fn tried_out(
        &mut self,
        words: &mut Words,
        from: Place,
        phase: Phase,
        offers: &[Label],
    ) -> Result<Vec<Move>, Trouble> {
        let mut moves = Vec::new();
        for (action, tuples) in self.choices(from, phase, offers)? {
            for given in tuples.iter() {
                if self.refusing_guard(from, action, &given.tuple)?.is_none() {
                    let one = self.try_out(words, from, action, given, Filtered::Forgotten)?;
                    moves.extend(one);
                }
            }
        }
        Ok(moves)
    }

    /// Takes an action in a state, and looks at what it leads to; nothing if that is filtered out. The module is not in
    /// that state any more afterwards.
    fn try_out(
        &mut self,
        words: &mut Words,
        from: Place,
        action: usize,
        given: &Given<'py>,
        filtered: Filtered,
    ) -> Result<Option<Move>, Trouble> {
        let needed = self.actions[action].needs;
        if given.tuple.len() < needed {
            let name = self.actions[action].text.clone();
            return Err(self.wrong_number(action, &name, needed, given.tuple.len()));
        }
        let mut work = || -> PyResult<Option<Move>> {
            self.enter(from)?;
            self.now = None;
            let action = &self.actions[action];
            let name = action.name;
            let result = action.function.call1(given.tuple.clone())?;
            let Some(to) = self.look(filtered)? else {
                return Ok(None);
            };
            let mut speech = self.speech.borrow_mut();
            let label = Label {
                name,
                arguments: given.number(&mut speech, words)?,
                result: speech.value(words, &result)?,
            };
            Ok(Some(Move { label, to }))
        };
        work().map_err(|error| self.trouble(&error))
    }

    /// The guard of an action that does not let it happen in a state.
    fn refusing_guard(
        &mut self,
        from: Place,
        action: usize,
        arguments: &Bound<'py, PyTuple>,
    ) -> Result<Option<String>, Trouble> {
        for guard in 0..self.actions[action].guards.len() {
            self.enter(from).map_err(|error| self.trouble(&error))?;
            let guard = &self.actions[action].guards[guard];
            let says = match guard.parameters {
                0 => guard.function.call0(),
                needed if needed == arguments.len() => guard.function.call1(arguments.clone()),
                needed => {
                    return Err(self.wrong_number(action, &guard.name, needed, arguments.len()));
                }
            };
            let says = says.and_then(|says| says.is_truthy());
            if !says.map_err(|error| self.trouble(&error))? {
                return Ok(Some(guard.name.clone()));
            }
        }
        Ok(None)
    }

    fn wrong_number(&self, action: usize, who: &str, needed: usize, given: usize) -> Trouble {
        let message =
            format!("{who} needs {needed} arguments, got {given}.  Check parameter generator.");
        let help = format!(
            "`domains` of the module `{}` should have values for each parameter of `{}`",
            self.name, self.actions[action].text
        );
        Trouble::Unusable(Error::new(message).with_help(help))
    }

    /// With which arguments each action may be tried, as the module says in a state, or scenarios of what is observed.
    fn choices(
        &mut self,
        from: Place,
        phase: Phase,
        offers: &[Label],
    ) -> Result<Vec<Choices<'py>>, Trouble> {
        let mut choices = Vec::with_capacity(self.actions.len());
        let chosen = Rc::clone(match phase {
            Phase::Usual => &self.usual,
            Phase::Cleanup => &self.cleanup,
        });
        for number in chosen.iter().copied() {
            self.enter(from).map_err(|error| self.trouble(&error))?;
            let tuples = match &self.actions[number].arguments {
                Arguments::None(tuples) => Rc::clone(tuples),
                Arguments::Of(domains) => domains
                    .tuples(self.python())
                    .map_err(|error| self.trouble(&error))?,
                Arguments::Missing(error) => return Err(Trouble::Unusable(error.clone())),
            };
            choices.push((number, tuples));
        }
        for observable in 0..self.actions.len() {
            if self.actions[observable].is_observable {
                choices.push((observable, self.offered(observable, phase, offers)));
            }
        }
        Ok(choices)
    }

    /// The arguments with which scenarios would let an observable action happen now.
    fn offered(&self, action: usize, phase: Phase, offers: &[Label]) -> Tuples<'py> {
        let action = &self.actions[action];
        let takes_part = match phase {
            Phase::Usual => action.is_listed,
            Phase::Cleanup => action.cleanup.is_some(),
        };
        let mut seen: Vec<ValueId> = Vec::new();
        for offer in offers.iter().filter(|offer| offer.name == action.name) {
            if takes_part && !seen.contains(&offer.arguments) {
                seen.push(offer.arguments);
            }
        }
        let speech = self.speech.borrow();
        seen.into_iter()
            .filter_map(|value| speech.tuple(value))
            // A scenario that leaves the arguments open does not say with which.
            .filter(|arguments| action.can_take(arguments.len()))
            .map(Given::new)
            .collect()
    }

    /// The actions that take no arguments.
    pub(crate) fn without_parameters(&self) -> impl Iterator<Item = NameId> {
        let actions = self.actions.iter().filter(|action| action.takes == Some(0));
        actions.map(|action| action.name)
    }

    /// The action of that name that is listed.
    fn action(&self, name: NameId) -> Option<usize> {
        let mut actions = self.actions.iter();
        actions.position(|action| action.name == name)
    }
}

impl Model for Program<'_> {
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

    fn start(&mut self, run: usize) -> Result<Option<Place>, Trouble> {
        if run == 0 && self.initial.is_some() {
            return Ok(self.initial);
        }
        if run > 0 {
            let Some(reset) = self.reset.clone() else {
                return Err(Trouble::NoReset {
                    model: self.name.clone(),
                });
            };
            reset.call0().map_err(|error| self.trouble(&error))?;
        }
        let place = self.look(Filtered::Kept);
        let Some(place) = place.map_err(|error| self.trouble(&error))? else {
            return Ok(None);
        };
        // The variables stay the objects that they are: a module may have kept them elsewhere, too.
        self.now = Some(place);
        self.initial.get_or_insert(place);
        Ok(Some(place))
    }

    fn begin(&mut self, _run: usize) -> Result<Option<Place>, Trouble> {
        match self.initial {
            Some(initial) => Ok(Some(initial)),
            None => self.start(0),
        }
    }

    fn moves(
        &mut self,
        words: &mut Words,
        from: Place,
        phase: Phase,
        offers: &[Label],
    ) -> Result<Vec<Move>, Trouble> {
        let moves = self.tried_out(words, from, phase, offers);
        // An action may have copied the process, and this be the copy.
        forked::leave_if_child();
        moves
    }

    fn refusal(
        &mut self,
        _words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Option<Refusal>, Trouble> {
        let arguments = self.speech.borrow().tuple(arguments);
        let (Some(action), Some(arguments)) = (self.action(name), arguments) else {
            return Ok(Some(Refusal::Domain));
        };
        // Whoever did it is to blame, and not the module, which never does.
        if !self.actions[action].can_take(arguments.len()) {
            return Ok(Some(Refusal::Domain));
        }
        let guard = self.refusing_guard(from, action, &arguments)?;
        Ok(guard.map(Refusal::Guard))
    }

    fn refusals(
        &mut self,
        words: &mut Words,
        from: Place,
        offers: &[Label],
    ) -> Result<Vec<(NameId, ValueId, Refusal)>, Trouble> {
        let mut all = Vec::new();
        for (action, tuples) in self.choices(from, Phase::Usual, offers)? {
            for given in tuples.iter() {
                let refusal = match self.refusing_guard(from, action, &given.tuple)? {
                    Some(guard) => Some(Refusal::Guard(guard)),
                    None => {
                        let one = self.try_out(words, from, action, given, Filtered::Forgotten)?;
                        one.is_none().then_some(Refusal::Filter)
                    }
                };
                let Some(refusal) = refusal else {
                    continue;
                };
                let mut speech = self.speech.borrow_mut();
                let value = given.number(&mut speech, words);
                let value = value.map_err(|error| self.trouble(&error))?;
                all.push((self.actions[action].name, value, refusal));
            }
        }
        Ok(all)
    }

    fn perform(
        &mut self,
        words: &mut Words,
        from: Place,
        name: NameId,
        arguments: ValueId,
    ) -> Result<Vec<Move>, Trouble> {
        let arguments = self.speech.borrow().tuple(arguments);
        let (Some(action), Some(arguments)) = (self.action(name), arguments) else {
            return Ok(Vec::new());
        };
        let given = Given::new(arguments);
        let one = self.try_out(words, from, action, &given, Filtered::Kept)?;
        // Nothing was put back: the module has moved on.
        self.now = one.map(|one| one.to);
        Ok(one.into_iter().collect())
    }

    fn leave(&mut self) {
        self.now = None;
    }

    fn is_accepting(&self, place: Place) -> bool {
        self.states.borrow().marks(place).is_accepting()
    }

    fn is_safe(&self, place: Place) -> bool {
        self.states.borrow().marks(place).is_safe()
    }

    fn text(&self, place: Place) -> String {
        let speech = self.speech.borrow();
        let text = self.states.borrow().text(&speech.values, place);
        text.unwrap_or_else(|error| self.trouble(&error).to_string())
    }

    fn export(&self, place: Place) -> Option<Vec<u8>> {
        self.states.borrow().export(place)
    }

    fn import(&mut self, state: &[u8]) -> Option<Place> {
        self.states.borrow_mut().import(state)
    }

    fn bytes(&self) -> usize {
        self.states.borrow().bytes()
    }
}

impl Drop for Program<'_> {
    /// Leaves the module as it was found: it may be used again, by itself or in another product.
    fn drop(&mut self) {
        if let Some(initial) = self.initial {
            // There is nobody left to tell that a value cannot be copied.
            let _ = self.enter(initial);
        }
    }
}
