//! Reading of state machines and test suites.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rustc_hash::FxHashMap;
use testwright_core::product::{Model, ModelError, ModelState, NameId, StepLabel, ValueId};
use testwright_core::{Error, spelling};
use testwright_model::{Fsm, FsmEdge, RunSuite};

use super::actions::function_name;
use super::modules::{ModuleReader, SUITE_NAMES};
use super::value_text;

/// Reads a state machine. Returns it with its states as Python objects.
pub(crate) fn read_fsm<'py>(
    reader: &mut ModuleReader<'_, 'py>,
) -> Result<(Fsm, Vec<Bound<'py, PyAny>>), ModelError> {
    let (fsm, states) = read_fsm_with_states(reader)?;
    Ok((fsm, states.objects))
}

/// Reads a state machine. Returns it with the table of its states.
pub(crate) fn read_fsm_with_states<'py>(
    reader: &mut ModuleReader<'_, 'py>,
) -> Result<(Fsm, FsmStates<'py>), ModelError> {
    let expected = "(state, (action, arguments, result), state)";
    let graph = reader.required("graph", &format!("a sequence of {expected}"))?;
    let initial = reader.required("initial", "the state in which runs begin")?;
    let mut machine = FsmStates::new();
    let initial = machine.state_id(reader, &initial)?;
    let mut edges = Vec::new();
    for (number, edge) in sequence_items(reader, &graph, "`graph`")?
        .iter()
        .enumerate()
    {
        let subject = format!("entry {number} of `graph`");
        let parts: Vec<Bound<'py, PyAny>> = tuple_items(edge);
        let [from, step, to] = parts.as_slice() else {
            return Err(reader.malformed(&subject, expected));
        };
        edges.push(FsmEdge {
            from: machine.state_id(reader, from)?,
            label: read_step(reader, step, &subject)?,
            to: machine.state_id(reader, to)?,
        });
    }
    check_initial(reader, initial, &edges, &machine)?;
    let listed = reader.optional("accepting");
    let accepting = match listed.map_err(|error| reader.raised(error))? {
        // Without a list of accepting states, a run may end anywhere.
        None => vec![true; machine.texts.len()],
        Some(listed) => {
            let ids = machine.state_ids(reader, &listed, "`accepting`")?;
            let mut accepting = vec![false; machine.texts.len()];
            ids.iter().for_each(|id| accepting[id.0 as usize] = true);
            accepting
        }
    };
    let vocabulary = action_names(reader, "actions")?;
    let cleanup = action_names(reader, "cleanup")?;
    let mut fsm = Fsm::new(
        reader.name,
        machine.texts.clone(),
        initial,
        accepting,
        edges,
    );
    if let Some(vocabulary) = vocabulary {
        fsm = fsm.with_vocabulary(vocabulary);
    }
    let fsm = fsm.with_cleanup(cleanup.unwrap_or_default());
    reader.note_actions(fsm.vocabulary());
    Ok((fsm.filtered(reader.interner, reader.filter), machine))
}

/// Returns an error if the state in which runs begin is not a state of the graph. PyModel accepts
/// it: nothing is possible there. A machine without edges only forbids actions.
fn check_initial(
    reader: &ModuleReader<'_, '_>,
    initial: ModelState,
    edges: &[FsmEdge],
    machine: &FsmStates<'_>,
) -> Result<(), ModelError> {
    let is_known = |edge: &FsmEdge| edge.from == initial || edge.to == initial;
    if reader.filter.follows_pymodel || edges.is_empty() || edges.iter().any(is_known) {
        return Ok(());
    }
    let unknown = &machine.texts[initial.0 as usize];
    let message = format!(
        "`initial` of the module `{}` is {unknown}, and `graph` has no such state",
        reader.name
    );
    let states = machine.texts.iter().filter(|text| *text != unknown);
    let advice = spelling::advice(unknown, "states", states.cloned());
    Err(Error::new(message).with_help(advice).into())
}

/// Returns the actions listed under a name.
fn action_names(
    reader: &mut ModuleReader<'_, '_>,
    attribute: &str,
) -> Result<Option<Vec<NameId>>, ModelError> {
    let functions = reader.functions(attribute)?;
    let names = functions.map(|functions| reader.names(&functions));
    names.transpose().map_err(|error| reader.raised(error))
}

/// Reads a test suite.
pub(crate) fn read_suite(reader: &mut ModuleReader<'_, '_>) -> Result<RunSuite, ModelError> {
    let mut listed = None;
    for name in SUITE_NAMES {
        let found = reader.optional(name);
        listed = found.map_err(|error| reader.raised(error))?.or(listed);
    }
    let mut runs = Vec::new();
    if let Some(listed) = listed {
        for (number, run) in sequence_items(reader, &listed, "the list of runs")?
            .iter()
            .enumerate()
        {
            let mut steps = Vec::new();
            let subject = format!("run {number}");
            for (index, step) in sequence_items(reader, run, &subject)?.iter().enumerate() {
                let subject = format!("step {index} of run {number}");
                steps.push(read_step(reader, step, &subject)?);
            }
            runs.push(steps);
        }
    }
    let vocabulary = action_names(reader, "actions")?;
    let mut suite = RunSuite::new(reader.name, runs);
    if let Some(vocabulary) = vocabulary {
        suite = suite.with_vocabulary(vocabulary);
    }
    reader.note_actions(suite.vocabulary());
    Ok(suite.filtered(reader.interner, reader.filter))
}

/// The states of a state machine, numbered in the order of occurrence.
pub(crate) struct FsmStates<'py> {
    /// Numbers of states, by key.
    keys: FxHashMap<u128, ModelState>,
    /// The states as source text.
    pub(crate) texts: Vec<String>,
    pub(crate) objects: Vec<Bound<'py, PyAny>>,
}

impl<'py> FsmStates<'py> {
    fn new() -> FsmStates<'py> {
        FsmStates {
            keys: FxHashMap::default(),
            texts: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// Returns the numbers of all states in a sequence.
    pub(crate) fn state_ids(
        &mut self,
        reader: &ModuleReader<'_, 'py>,
        states: &Bound<'py, PyAny>,
        subject: &str,
    ) -> Result<Vec<ModelState>, ModelError> {
        let states = sequence_items(reader, states, subject)?;
        states
            .iter()
            .map(|state| self.state_id(reader, state))
            .collect()
    }

    /// Returns the number of a state, assigning one if needed.
    pub(crate) fn state_id(
        &mut self,
        reader: &ModuleReader<'_, 'py>,
        state: &Bound<'py, PyAny>,
    ) -> Result<ModelState, ModelError> {
        let key = reader.values.borrow_mut().packer.key(state);
        let key = key.map_err(|error| reader.raised(error))?;
        if let Some(known) = self.keys.get(&key) {
            return Ok(*known);
        }
        let id = ModelState(self.texts.len() as u32);
        let text = value_text::literal(state).map_err(|error| reader.raised(error))?;
        self.texts.push(text.0);
        self.objects.push(state.clone());
        self.keys.insert(key, id);
        Ok(id)
    }
}

/// Returns the items of a sequence, or an error that names it.
fn sequence_items<'py>(
    reader: &ModuleReader<'_, 'py>,
    sequence: &Bound<'py, PyAny>,
    subject: &str,
) -> Result<Vec<Bound<'py, PyAny>>, ModelError> {
    let items = sequence.try_iter().and_then(|items| items.collect());
    items.map_err(|_| reader.malformed(subject, "a sequence"))
}

/// Returns the items of a tuple or list; none for other values.
fn tuple_items<'py>(written: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if let Ok(tuple) = written.cast::<PyTuple>() {
        return tuple.iter().collect();
    }
    let list = written.cast::<PyList>();
    list.map_or_else(|_| Vec::new(), |list| list.iter().collect())
}

/// Reads a step: action, arguments, and optionally a result.
fn read_step<'py>(
    reader: &mut ModuleReader<'_, 'py>,
    step: &Bound<'py, PyAny>,
    subject: &str,
) -> Result<StepLabel, ModelError> {
    let malformed = |reader: &ModuleReader<'_, 'py>| {
        reader.malformed(subject, "(action, (argument, …), result)")
    };
    let parts = tuple_items(step);
    let (function, arguments, result) = match parts.as_slice() {
        [function, arguments] => (function, arguments, None),
        [function, arguments, result] => (function, arguments, Some(result)),
        _ => return Err(malformed(reader)),
    };
    let Some(name) = function_name(function)
        .ok()
        .filter(|_| arguments.is_instance_of::<PyTuple>())
    else {
        return Err(malformed(reader));
    };
    let mut work = || -> PyResult<StepLabel> {
        let mut values = reader.values.borrow_mut();
        Ok(StepLabel {
            name: reader.interner.intern_name(&name),
            arguments: values.value(reader.interner, arguments)?,
            result: match result {
                Some(result) => values.value(reader.interner, result)?,
                None => ValueId::NONE,
            },
        })
    };
    work().map_err(|error| reader.raised(error))
}
