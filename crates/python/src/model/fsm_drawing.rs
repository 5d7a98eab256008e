//! A state machine as its module describes it, for drawing: including the lists that an exploration
//! adds to the transitions.

use std::cell::RefCell;
use std::rc::Rc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use testwright_core::product::{Interner, Model, ModelError, ModelState, StepLabel};
use testwright_model::{Filter, FsmEdge};

use super::model_values::{ModelValues, raised};
use super::modules::{self, ModuleReader};
use super::packing::StateEquality;
use super::scenarios;
use crate::Interpreter;

/// A state machine to draw.
#[derive(Clone, Debug)]
pub struct FsmDrawing {
    /// Names and values of its steps.
    pub interner: Interner,
    /// The states: name, and further description if there is one.
    pub states: Vec<(String, Option<String>)>,
    /// Initial states.
    pub starts: Vec<usize>,
    /// Accepting states.
    pub accepting: Vec<usize>,
    /// Unsafe states, frontier states, finished states and dead ends.
    pub marked: [Vec<usize>; 4],
    /// The transitions.
    pub edges: Vec<(usize, StepLabel, usize)>,
}

/// The lists that an exploration writes beside the transitions. They are used only if all are
/// present.
const LISTS: [&str; 5] = ["unsafe", "frontier", "finished", "deadend", "runstarts"];

impl FsmDrawing {
    /// Imports a module, and reads it if it is a state machine.
    pub fn load_if_fsm(
        interpreter: Interpreter<'_>,
        name: &str,
    ) -> Result<Option<FsmDrawing>, ModelError> {
        let python = interpreter.0;
        let (folder, module) = modules::split_module_path(name);
        let module = modules::import(python, &folder, &module)?;
        let is_machine = module.hasattr("graph");
        if is_machine.map_err(|error| raised(python, &error))? {
            let filter = Filter::default();
            FsmDrawing::load_with(interpreter, name, &filter).map(Some)
        } else {
            Ok(None)
        }
    }

    /// Imports the module of a state machine, which may begin anywhere, as in PyModel.
    pub fn load(interpreter: Interpreter<'_>, name: &str) -> Result<FsmDrawing, ModelError> {
        let filter = Filter {
            follows_pymodel: true,
            ..Filter::default()
        };
        FsmDrawing::load_with(interpreter, name, &filter)
    }

    /// Imports the module of a state machine.
    fn load_with(
        interpreter: Interpreter<'_>,
        name: &str,
        filter: &Filter,
    ) -> Result<FsmDrawing, ModelError> {
        let python = interpreter.0;
        let (folder, name) = modules::split_module_path(name);
        let module = modules::import(python, &folder, &name)?;
        let to_model_error = |error: PyErr| raised(python, &error);
        let (values, mut interner) =
            ModelValues::new(python, StateEquality::Python).map_err(to_model_error)?;
        let values = Rc::new(RefCell::new(values));
        let mut warnings = Vec::new();
        let mut reader = ModuleReader {
            name: &name,
            module: &module,
            interner: &mut interner,
            values: &values,
            filter,
            warnings: &mut warnings,
            action_names: Vec::new(),
        };
        let (fsm, mut fsm_states) = scenarios::read_fsm_with_states(&mut reader)?;
        let mut lists = Vec::new();
        for list in LISTS {
            let listed = reader.optional(list).map_err(to_model_error)?;
            lists.push(
                listed
                    .map(|listed| fsm_states.state_ids(&reader, &listed, &format!("`{list}`")))
                    .transpose()?,
            );
        }
        let lists: Option<Vec<Vec<ModelState>>> = lists.into_iter().collect();
        let described = reader.optional("states").map_err(to_model_error)?;
        let described = described.and_then(|states| states.cast_into::<PyDict>().ok());
        let mut details: Vec<(ModelState, String)> = Vec::new();
        for (state, text) in described.iter().flat_map(|states| states.iter()) {
            let id = fsm_states.state_id(&reader, &state)?;
            let text = text.str().map_err(to_model_error)?;
            details.push((id, text.to_string_lossy().into_owned()));
        }
        // If the states are described, only those; otherwise all that occur.
        let order: Vec<ModelState> = match described {
            Some(_) => details.iter().map(|(id, _)| *id).collect(),
            None => (0..fsm_states.texts.len() as u32).map(ModelState).collect(),
        };
        let mut positions = vec![None; fsm_states.texts.len()];
        for (number, id) in order.iter().enumerate() {
            positions[id.0 as usize].get_or_insert(number);
        }
        let number = |id: ModelState| positions[id.0 as usize];
        let numbers = |all: &[ModelState]| all.iter().filter_map(|id| number(*id)).collect();
        let mut details = details.into_iter().map(|(_, text)| text);
        let mut states = Vec::new();
        for id in &order {
            // Printed with `str`, so that a string is its own name.
            let name = fsm_states.objects[id.0 as usize]
                .str()
                .map_err(to_model_error)?;
            states.push((name.to_string_lossy().into_owned(), details.next()));
        }
        let mut starts = vec![fsm.initial()];
        let mut marked: [Vec<usize>; 4] = Default::default();
        if let Some([bad, open, finished, dead, runs]) = lists.as_deref() {
            marked = [bad, open, finished, dead].map(|list| numbers(list));
            starts.extend(runs);
        }
        let edge = |edge: &FsmEdge| Some((number(edge.from)?, edge.label, number(edge.to)?));
        let accepting: Vec<ModelState> = order
            .iter()
            .copied()
            .filter(|id| fsm.is_accepting(*id))
            .collect();
        Ok(FsmDrawing {
            states,
            starts: numbers(&starts),
            accepting: numbers(&accepting),
            marked,
            edges: fsm.edges().iter().filter_map(edge).collect(),
            interner,
        })
    }
}
