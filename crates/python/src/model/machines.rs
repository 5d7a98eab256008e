//! A machine as its module has it, to draw it: also what an exploration has written beside its transitions.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use testwright_core::product::{Label, Model, Place, Trouble, Words};
use testwright_model::{Edge, Filter};

use super::modules::{self, Reader};
use super::scenarios;
use super::speech::{Speech, raised};
use crate::Interpreter;

/// A machine to draw.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Names and values of its steps.
    pub words: Words,
    /// The states: what each is called, and what else is known of it.
    pub states: Vec<(String, Option<String>)>,
    /// Where runs begin.
    pub starts: Vec<usize>,
    /// Where they may end.
    pub accepting: Vec<usize>,
    /// Unsafe states, those with steps that are not known, finished ones and dead ends.
    pub marked: [Vec<usize>; 4],
    /// The steps.
    pub edges: Vec<(usize, Label, usize)>,
}

/// What an exploration writes beside the transitions. They count together or not at all.
const LISTS: [&str; 5] = ["unsafe", "frontier", "finished", "deadend", "runstarts"];

impl Machine {
    /// Imports a module, and reads it if it is that of a machine.
    pub fn load_if(interpreter: Interpreter<'_>, name: &str) -> Result<Option<Machine>, Trouble> {
        let python = interpreter.0;
        let (folder, module) = modules::place(name);
        let module = modules::import(python, &folder, &module)?;
        let is_machine = module.hasattr("graph");
        if is_machine.map_err(|error| raised(python, &error))? {
            Machine::load(interpreter, name).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Imports the module of a machine.
    pub fn load(interpreter: Interpreter<'_>, name: &str) -> Result<Machine, Trouble> {
        let python = interpreter.0;
        let (folder, name) = modules::place(name);
        let module = modules::import(python, &folder, &name)?;
        let trouble = |error: PyErr| raised(python, &error);
        let (speech, mut words) = Speech::new(python).map_err(trouble)?;
        let speech = Rc::new(RefCell::new(speech));
        let mut remarks = Vec::new();
        let mut reader = Reader {
            name: &name,
            module: &module,
            words: &mut words,
            speech: &speech,
            filter: &Filter::default(),
            remarks: &mut remarks,
        };
        let (fsm, mut places) = scenarios::fsm_with_places(&mut reader)?;
        let mut lists = Vec::new();
        for list in LISTS {
            let listed = reader.optional(list).map_err(trouble)?;
            lists.push(
                listed
                    .map(|listed| places.all(&reader, &listed, &format!("`{list}`")))
                    .transpose()?,
            );
        }
        let lists: Option<Vec<Vec<Place>>> = lists.into_iter().collect();
        let described = reader.optional("states").map_err(trouble)?;
        let described = described.and_then(|states| states.cast_into::<PyDict>().ok());
        let mut details: Vec<(Place, String)> = Vec::new();
        for (state, text) in described.iter().flat_map(|states| states.iter()) {
            let place = places.place(&reader, &state)?;
            let text = text.str().map_err(trouble)?;
            details.push((place, text.to_string_lossy().into_owned()));
        }
        // With a description, those that are described; otherwise those that occur.
        let order: Vec<Place> = match described {
            Some(_) => details.iter().map(|(place, _)| *place).collect(),
            None => (0..places.texts.len() as u32).map(Place).collect(),
        };
        let mut placed = vec![None; places.texts.len()];
        for (number, place) in order.iter().enumerate() {
            placed[place.0 as usize].get_or_insert(number);
        }
        let number = |place: Place| placed[place.0 as usize];
        let numbers = |all: &[Place]| all.iter().filter_map(|place| number(*place)).collect();
        let mut details = details.into_iter().map(|(_, text)| text);
        let mut states = Vec::new();
        for place in &order {
            // As Python prints it: a text is its own name.
            let name = places.objects[place.0 as usize].str().map_err(trouble)?;
            states.push((name.to_string_lossy().into_owned(), details.next()));
        }
        let mut starts = vec![fsm.initial()];
        let mut marked: [Vec<usize>; 4] = Default::default();
        if let Some([bad, open, finished, dead, runs]) = lists.as_deref() {
            marked = [bad, open, finished, dead].map(|list| numbers(list));
            starts.extend(runs);
        }
        let edge = |edge: &Edge| Some((number(edge.from)?, edge.label, number(edge.to)?));
        let accepting: Vec<Place> = order
            .iter()
            .copied()
            .filter(|place| fsm.is_accepting(*place))
            .collect();
        Ok(Machine {
            states,
            starts: numbers(&starts),
            accepting: numbers(&accepting),
            marked,
            edges: fsm.edges().iter().filter_map(edge).collect(),
            words,
        })
    }
}
