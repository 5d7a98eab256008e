//! Who picks the next step of a test: chance, or chance among what was picked least, or a module of the user's.
//!
//! All of them draw from Python's own `random`, as models do that compute their arguments by chance: one seed decides
//! everything.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use testwright_core::Error;
use testwright_core::product::{Joint, NameId, Place, Product, Trouble};
use testwright_model::{Choice, Chooser};

use super::modules::import;
use super::speech::raised;
use super::{Handles, Models};

/// Those that come with the tool.
enum Strategy<'py> {
    /// Any step.
    Any,
    /// A step whose name was picked least.
    ByName(FxHashMap<NameId, u64>),
    /// A step to a state that was picked least.
    ByState(FxHashMap<Vec<Place>, u64>),
    /// What a function says.
    Own(Bound<'py, PyAny>),
}

/// Picks steps as a strategy says.
pub struct PythonChooser<'py> {
    python: Python<'py>,
    strategy: Strategy<'py>,
    handles: Handles<'py>,
}

/// What a module calls the function that picks; a later name counts more.
const FUNCTIONS: [&str; 3] = ["SelectAction", "selectaction", "select_action"];

impl<'py> Models<'py> {
    /// A strategy by name: one that comes with the tool, or a module. Without a name, any step is as likely as any other.
    pub fn chooser(&self, name: Option<&str>) -> Result<PythonChooser<'py>, Trouble> {
        let python = self.python;
        let strategy = match name {
            None => Strategy::Any,
            Some(name) => match self.own_choice(name) {
                Ok(function) => Strategy::Own(function),
                // A module of the user's that cannot be imported is not one that is not there.
                Err(trouble @ (Trouble::Raised { .. } | Trouble::Misread(_))) => {
                    return Err(trouble);
                }
                Err(trouble) => match name {
                    "ActionNameCoverage" => Strategy::ByName(FxHashMap::default()),
                    "StateCoverage" => Strategy::ByState(FxHashMap::default()),
                    _ => return Err(trouble),
                },
            },
        };
        Ok(PythonChooser {
            python,
            strategy,
            handles: self.handles.clone(),
        })
    }

    /// The function of a module that picks.
    fn own_choice(&self, name: &str) -> Result<Bound<'py, PyAny>, Trouble> {
        let module = import(self.python, std::path::Path::new(""), name)?;
        let mut names = FUNCTIONS.iter().rev();
        let found = names.find_map(|name| module.getattr(*name).ok());
        found.ok_or_else(|| {
            let message = format!("the strategy `{name}` has no `{}`", FUNCTIONS[0]);
            let help = "define `def SelectAction(possible)`, which returns the name and the arguments of one of the steps \
                        that it is given, or `(None, None)`";
            Error::new(message).with_help(help).into()
        })
    }

    /// Makes chance repeatable.
    pub fn seed(&self, seed: u64) -> Result<(), Trouble> {
        let random = self.python.import("random");
        let seeded = random.and_then(|random| random.call_method1("seed", (seed,)));
        seeded
            .map(|_| ())
            .map_err(|error| raised(self.python, &error))
    }
}

impl PythonChooser<'_> {
    /// One of so many, each as likely.
    fn draw(&self, many: usize) -> PyResult<usize> {
        let random = self.python.import("random")?;
        random.call_method1("randrange", (many,))?.extract()
    }

    fn least<K: std::hash::Hash + Eq>(
        &self,
        counts: &FxHashMap<K, u64>,
        keys: &[K],
    ) -> PyResult<usize> {
        let count = |key: &K| counts.get(key).copied().unwrap_or(0);
        let least = keys.iter().map(count).min().unwrap_or(0);
        let mut places: Vec<usize> = (0..keys.len()).collect();
        places.retain(|place| count(&keys[*place]) == least);
        Ok(places[self.draw(places.len())?])
    }

    /// What the user's function says. It is shown what is possible as name, arguments, result, the state after it, and
    /// what holds there.
    fn ask(
        &self,
        function: &Bound<'_, PyAny>,
        product: &mut Product<'_>,
        possible: &[Joint],
    ) -> PyResult<Option<Choice>> {
        let python = self.python;
        let shown = PyList::empty(python);
        for one in possible {
            let name = PyString::new(python, product.words().name_text(one.label.name));
            let speech = self.handles.speech.borrow();
            let arguments = speech.object(one.label.arguments);
            let result = speech.object(one.label.result);
            drop(speech);
            let state = self.handles.state(product, &one.to)?;
            let properties = PyDict::new(python);
            properties.set_item("accepting", product.is_accepting(&one.to))?;
            properties.set_item("statefilter", true)?;
            properties.set_item("stateinvariant", product.is_safe(&one.to))?;
            shown.append((name, arguments, result, state, properties))?;
        }
        let answer = function.call1((shown,))?;
        let (name, arguments): (Bound<'_, PyAny>, Bound<'_, PyAny>) = answer.extract()?;
        if !name.is_truthy()? {
            return Ok(None);
        }
        let name: String = name.extract()?;
        let name = product.words_mut().name(&name);
        let arguments = arguments.cast_into::<PyTuple>().map_err(PyErr::from)?;
        let mut speech = self.handles.speech.borrow_mut();
        let arguments = arguments.into_any().unbind().into_bound(python);
        Ok(Some(Choice {
            name,
            arguments: speech.value(product.words_mut(), &arguments)?,
            result: None,
        }))
    }
}

impl Chooser for PythonChooser<'_> {
    fn choose(
        &mut self,
        product: &mut Product<'_>,
        possible: &[Joint],
    ) -> Result<Option<Choice>, Trouble> {
        // Models and steppers may have swallowed it.
        if super::asked_to_stop() {
            return Err(Trouble::Interrupted);
        }
        let trouble = |error: PyErr| raised(self.python, &error);
        if let Strategy::Own(function) = &self.strategy {
            return self.ask(function, product, possible).map_err(trouble);
        }
        if possible.is_empty() {
            return Ok(None);
        }
        let names: Vec<NameId> = possible.iter().map(|one| one.label.name).collect();
        let states: Vec<Vec<Place>> = possible.iter().map(|one| one.to.clone()).collect();
        let picked = match &self.strategy {
            Strategy::Any | Strategy::Own(_) => self.draw(possible.len()),
            Strategy::ByName(counts) => self.least(counts, &names),
            Strategy::ByState(counts) => self.least(counts, &states),
        };
        let picked = picked.map_err(trouble)?;
        match &mut self.strategy {
            Strategy::ByName(counts) => *counts.entry(names[picked]).or_default() += 1,
            Strategy::ByState(counts) => *counts.entry(states[picked].clone()).or_default() += 1,
            Strategy::Any | Strategy::Own(_) => {}
        }
        let label = possible[picked].label;
        Ok(Some(Choice {
            name: label.name,
            arguments: label.arguments,
            result: Some(label.result),
        }))
    }
}
