//! Machines and lists of runs, read from their modules.

use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rustc_hash::FxHashMap;
use testwright_core::product::{Label, NameId, Place, Trouble, ValueId};
use testwright_model::{Edge, Fsm, Suite};

use super::actions::own_name;
use super::modules::{Reader, SUITE_NAMES};
use super::text;

/// Reads a machine; its states come with it, as Python has them.
pub(crate) fn fsm<'py>(
    reader: &mut Reader<'_, 'py>,
) -> Result<(Fsm, Vec<Bound<'py, PyAny>>), Trouble> {
    let (fsm, states) = fsm_with_places(reader)?;
    Ok((fsm, states.objects))
}

/// Reads a machine; which place each of its states is comes with it.
pub(crate) fn fsm_with_places<'py>(
    reader: &mut Reader<'_, 'py>,
) -> Result<(Fsm, States<'py>), Trouble> {
    let expected = "(state, (action, arguments, result), state)";
    let graph = reader.required("graph", &format!("a sequence of {expected}"))?;
    let initial = reader.required("initial", "the state in which runs begin")?;
    let mut machine = States::new();
    let initial = machine.place(reader, &initial)?;
    let mut edges = Vec::new();
    for (number, edge) in each(reader, &graph, "`graph`")?.iter().enumerate() {
        let what = format!("entry {number} of `graph`");
        let parts: Vec<Bound<'py, PyAny>> = parts_of(edge);
        let [from, step, to] = parts.as_slice() else {
            return Err(reader.odd(&what, expected));
        };
        edges.push(Edge {
            from: machine.place(reader, from)?,
            label: step_of(reader, step, &what)?,
            to: machine.place(reader, to)?,
        });
    }
    let listed = reader.optional("accepting");
    let accepting = match listed.map_err(|error| reader.trouble(error))? {
        // Without a word about it, a run may end anywhere.
        None => vec![true; machine.texts.len()],
        Some(listed) => {
            let places = machine.all(reader, &listed, "`accepting`")?;
            let mut accepting = vec![false; machine.texts.len()];
            places
                .iter()
                .for_each(|place| accepting[place.0 as usize] = true);
            accepting
        }
    };
    let vocabulary = names(reader, "actions")?;
    let cleanup = names(reader, "cleanup")?;
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
    Ok((fsm.filtered(reader.words, reader.filter), machine))
}

/// The actions that a module lists under a name.
fn names(reader: &mut Reader<'_, '_>, attribute: &str) -> Result<Option<Vec<NameId>>, Trouble> {
    let functions = reader.functions(attribute)?;
    let names = functions.map(|functions| reader.names(&functions));
    names.transpose().map_err(|error| reader.trouble(error))
}

/// Reads a list of runs.
pub(crate) fn suite(reader: &mut Reader<'_, '_>) -> Result<Suite, Trouble> {
    let mut listed = None;
    for name in SUITE_NAMES {
        let found = reader.optional(name);
        listed = found.map_err(|error| reader.trouble(error))?.or(listed);
    }
    let mut runs = Vec::new();
    if let Some(listed) = listed {
        for (number, run) in each(reader, &listed, "the list of runs")?
            .iter()
            .enumerate()
        {
            let mut steps = Vec::new();
            let what = format!("run {number}");
            for (place, step) in each(reader, run, &what)?.iter().enumerate() {
                let what = format!("step {place} of run {number}");
                steps.push(step_of(reader, step, &what)?);
            }
            runs.push(steps);
        }
    }
    let vocabulary = names(reader, "actions")?;
    let mut suite = Suite::new(reader.name, runs);
    if let Some(vocabulary) = vocabulary {
        suite = suite.with_vocabulary(vocabulary);
    }
    Ok(suite.filtered(reader.words, reader.filter))
}

/// The states of a machine, as they are met.
pub(crate) struct States<'py> {
    keys: FxHashMap<u128, Place>,
    pub(crate) texts: Vec<String>,
    pub(crate) objects: Vec<Bound<'py, PyAny>>,
}

impl<'py> States<'py> {
    fn new() -> States<'py> {
        States {
            keys: FxHashMap::default(),
            texts: Vec::new(),
            objects: Vec::new(),
        }
    }

    /// All states of a sequence.
    pub(crate) fn all(
        &mut self,
        reader: &Reader<'_, 'py>,
        states: &Bound<'py, PyAny>,
        what: &str,
    ) -> Result<Vec<Place>, Trouble> {
        let states = each(reader, states, what)?;
        states
            .iter()
            .map(|state| self.place(reader, state))
            .collect()
    }

    pub(crate) fn place(
        &mut self,
        reader: &Reader<'_, 'py>,
        state: &Bound<'py, PyAny>,
    ) -> Result<Place, Trouble> {
        let key = reader.speech.borrow_mut().values.key(state);
        let key = key.map_err(|error| reader.trouble(error))?;
        if let Some(known) = self.keys.get(&key) {
            return Ok(*known);
        }
        let place = Place(self.texts.len() as u32);
        let text = text::literal(state).map_err(|error| reader.trouble(error))?;
        self.texts.push(text.0);
        self.objects.push(state.clone());
        self.keys.insert(key, place);
        Ok(place)
    }
}

/// What a module gives as a sequence, as a list.
fn each<'py>(
    reader: &Reader<'_, 'py>,
    sequence: &Bound<'py, PyAny>,
    what: &str,
) -> Result<Vec<Bound<'py, PyAny>>, Trouble> {
    let items = sequence.try_iter().and_then(|items| items.collect());
    items.map_err(|_| reader.odd(what, "a sequence"))
}

/// The parts of what is written as a tuple, or as a list; of anything else, none.
fn parts_of<'py>(written: &Bound<'py, PyAny>) -> Vec<Bound<'py, PyAny>> {
    if let Ok(tuple) = written.cast::<PyTuple>() {
        return tuple.iter().collect();
    }
    let list = written.cast::<PyList>();
    list.map_or_else(|_| Vec::new(), |list| list.iter().collect())
}

/// A step as it is written: action, arguments, and mostly a result.
fn step_of<'py>(
    reader: &mut Reader<'_, 'py>,
    step: &Bound<'py, PyAny>,
    what: &str,
) -> Result<Label, Trouble> {
    let odd = |reader: &Reader<'_, 'py>| reader.odd(what, "(action, (argument, …), result)");
    let parts = parts_of(step);
    let (function, arguments, result) = match parts.as_slice() {
        [function, arguments] => (function, arguments, None),
        [function, arguments, result] => (function, arguments, Some(result)),
        _ => return Err(odd(reader)),
    };
    let Some(name) = own_name(function)
        .ok()
        .filter(|_| arguments.is_instance_of::<PyTuple>())
    else {
        return Err(odd(reader));
    };
    let mut work = || -> PyResult<Label> {
        let mut speech = reader.speech.borrow_mut();
        Ok(Label {
            name: reader.words.name(&name),
            arguments: speech.value(reader.words, arguments)?,
            result: match result {
                Some(result) => speech.value(reader.words, result)?,
                None => ValueId::NONE,
            },
        })
    };
    work().map_err(|error| reader.trouble(error))
}
