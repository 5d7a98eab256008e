//! Choice of the next step of a test: at random, at random among the least used, or by a module of
//! the user.
//!
//! All of them draw from Python's own `random`, like models that compute arguments at random, so a
//! single seed determines everything.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString, PyTuple};
use rustc_hash::FxHashMap;
use testwright_core::Error;
use testwright_core::product::{JointStep, ModelError, ModelState, NameId, Product};
use testwright_model::{Chooser, ChosenStep};

use super::model_values::raised;
use super::modules::import;
use super::{ModelHandles, Models, strategies};

/// A strategy for choosing steps.
enum StepStrategy<'py> {
    /// Any step, all equally likely.
    Any,
    /// A step whose name was chosen least often so far.
    ByName(FxHashMap<NameId, u64>),
    /// A step to a state that was chosen least often so far.
    ByState(FxHashMap<Vec<ModelState>, u64>),
    /// A name by its weight, then any step with that name.
    ByWeight(FxHashMap<NameId, f64>),
    /// A function of the user.
    Custom(Bound<'py, PyAny>),
}

/// Chooses steps by a strategy.
pub struct PythonChooser<'py> {
    python: Python<'py>,
    strategy: StepStrategy<'py>,
    handles: ModelHandles<'py>,
}

/// The names of the choosing function in a module; later ones take precedence.
const CHOOSING_FUNCTION_NAMES: [&str; 3] = ["SelectAction", "selectaction", "select_action"];

impl<'py> Models<'py> {
    /// Returns a chooser for a built-in strategy or a module, by name. Without a name, all steps
    /// are equally likely.
    pub fn chooser(&self, name: Option<&str>) -> Result<PythonChooser<'py>, ModelError> {
        let to_model_error = |error: PyErr| raised(self.python, &error);
        let own = strategies::provide(self.python).map_err(to_model_error)?;
        let strategy = match name {
            None => StepStrategy::Any,
            Some("ActionNameCoverage") if own[0] => StepStrategy::ByName(FxHashMap::default()),
            Some("StateCoverage") if own[1] => StepStrategy::ByState(FxHashMap::default()),
            Some(name) => StepStrategy::Custom(self.strategy_function(name)?),
        };
        Ok(self.chooser_for(strategy))
    }

    /// Returns a chooser that draws a name by its weight, then any step with that name. Other names
    /// have weight 1.
    pub fn weighted_chooser(
        &self,
        weights: &[(String, f64)],
    ) -> Result<PythonChooser<'py>, ModelError> {
        let interner = self.product.interner();
        let known = self.product.vocabulary();
        let mut by_name: FxHashMap<NameId, f64> = known.iter().map(|name| (*name, 1.0)).collect();
        for (text, weight) in weights {
            let Some(name) = known.iter().find(|name| interner.name_text(**name) == text) else {
                let names: Vec<&str> = known.iter().map(|name| interner.name_text(*name)).collect();
                let message = format!("the models have no action `{text}` to weigh");
                let help = format!("they have {}", names.join(", "));
                return Err(Error::new(message).with_help(help).into());
            };
            by_name.insert(*name, *weight);
        }
        Ok(self.chooser_for(StepStrategy::ByWeight(by_name)))
    }

    /// Returns a chooser with this strategy.
    fn chooser_for(&self, strategy: StepStrategy<'py>) -> PythonChooser<'py> {
        PythonChooser {
            python: self.python,
            strategy,
            handles: self.handles.clone(),
        }
    }

    /// Imports a strategy module, and returns its choosing function.
    fn strategy_function(&self, name: &str) -> Result<Bound<'py, PyAny>, ModelError> {
        let module = import(self.python, std::path::Path::new(""), name)?;
        let mut names = CHOOSING_FUNCTION_NAMES.iter().rev();
        let found = names.find_map(|name| module.getattr(*name).ok());
        found.ok_or_else(|| {
            let message = format!("the strategy `{name}` has no `{}`", CHOOSING_FUNCTION_NAMES[0]);
            let help = "define `def SelectAction(possible)`, which returns the name and the arguments of one of the steps \
                        that it is given, or `(None, None)`";
            Error::new(message).with_help(help).into()
        })
    }

    /// Seeds Python's random numbers.
    pub fn seed(&self, seed: u64) -> Result<(), ModelError> {
        let random = self.python.import("random");
        let seeded = random.and_then(|random| random.call_method1("seed", (seed,)));
        seeded
            .map(|_| ())
            .map_err(|error| raised(self.python, &error))
    }
}

impl PythonChooser<'_> {
    /// Draws a number below `bound`.
    fn draw(&self, bound: usize) -> PyResult<usize> {
        let random = self.python.import("random")?;
        random.call_method1("randrange", (bound,))?.extract()
    }

    /// Draws among the keys with the lowest count.
    fn least_used<K: std::hash::Hash + Eq>(
        &self,
        counts: &FxHashMap<K, u64>,
        keys: &[K],
    ) -> PyResult<usize> {
        let count = |key: &K| counts.get(key).copied().unwrap_or(0);
        let least = keys.iter().map(count).min().unwrap_or(0);
        let mut indices: Vec<usize> = (0..keys.len()).collect();
        indices.retain(|index| count(&keys[*index]) == least);
        Ok(indices[self.draw(indices.len())?])
    }

    /// Draws a name by weight, then a step with it. Names of weight zero are drawn only if there
    /// are no others.
    fn draw_by_weight(
        &self,
        weights: &FxHashMap<NameId, f64>,
        names: &[NameId],
    ) -> PyResult<usize> {
        let mut distinct: Vec<NameId> = Vec::new();
        for name in names {
            if !distinct.contains(name) {
                distinct.push(*name);
            }
        }
        let weight = |name: &NameId| weights.get(name).copied().unwrap_or(1.0);
        let total: f64 = distinct.iter().map(weight).sum();
        if total <= 0.0 {
            return self.draw(names.len());
        }
        let random = self.python.import("random")?.call_method0("random")?;
        let mut rest = random.extract::<f64>()? * total;
        let with_positive_weight = || distinct.iter().filter(|name| weight(name) > 0.0);
        let drawn = with_positive_weight().find(|name| {
            rest -= weight(name);
            rest < 0.0
        });
        let drawn = drawn.or(with_positive_weight().next_back());
        let mut indices: Vec<usize> = (0..names.len()).collect();
        indices.retain(|index| drawn == Some(&names[*index]));
        Ok(indices[self.draw(indices.len())?])
    }

    /// Calls the function of the user. It gets each possible step as name, arguments, result, next
    /// state, and properties of that state.
    fn call_strategy(
        &self,
        function: &Bound<'_, PyAny>,
        product: &mut Product<'_>,
        possible: &[JointStep],
    ) -> PyResult<Option<ChosenStep>> {
        let python = self.python;
        let described_steps = PyList::empty(python);
        for one in possible {
            let name = PyString::new(python, product.interner().name_text(one.label.name));
            let values = self.handles.values.borrow();
            let arguments = values.object(one.label.arguments);
            let result = values.object(one.label.result);
            drop(values);
            let state = self.handles.state(product, &one.to)?;
            let properties = PyDict::new(python);
            properties.set_item("accepting", product.is_accepting(&one.to))?;
            properties.set_item("statefilter", true)?;
            properties.set_item("stateinvariant", product.is_safe(&one.to))?;
            described_steps.append((name, arguments, result, state, properties))?;
        }
        let answer = function.call1((described_steps,))?;
        let (name, arguments): (Bound<'_, PyAny>, Bound<'_, PyAny>) = answer.extract()?;
        if !name.is_truthy()? {
            return Ok(None);
        }
        let name: String = name.extract()?;
        let name = product.interner_mut().intern_name(&name);
        let arguments = arguments.cast_into::<PyTuple>().map_err(PyErr::from)?;
        let mut values = self.handles.values.borrow_mut();
        let arguments = arguments.into_any().unbind().into_bound(python);
        Ok(Some(ChosenStep {
            name,
            arguments: values.value(product.interner_mut(), &arguments)?,
            result: None,
        }))
    }
}

impl Chooser for PythonChooser<'_> {
    fn choose(
        &mut self,
        product: &mut Product<'_>,
        possible: &[JointStep],
    ) -> Result<Option<ChosenStep>, ModelError> {
        // Code of models and steppers may have swallowed the interrupt.
        if super::is_stop_requested() {
            return Err(ModelError::Interrupted);
        }
        let to_model_error = |error: PyErr| raised(self.python, &error);
        if let StepStrategy::Custom(function) = &self.strategy {
            return self
                .call_strategy(function, product, possible)
                .map_err(to_model_error);
        }
        if possible.is_empty() {
            return Ok(None);
        }
        let names: Vec<NameId> = possible.iter().map(|one| one.label.name).collect();
        let states: Vec<Vec<ModelState>> = possible.iter().map(|one| one.to.clone()).collect();
        let picked = match &self.strategy {
            StepStrategy::Any | StepStrategy::Custom(_) => self.draw(possible.len()),
            StepStrategy::ByName(counts) => self.least_used(counts, &names),
            StepStrategy::ByState(counts) => self.least_used(counts, &states),
            StepStrategy::ByWeight(weights) => self.draw_by_weight(weights, &names),
        };
        let picked = picked.map_err(to_model_error)?;
        match &mut self.strategy {
            StepStrategy::ByName(counts) => *counts.entry(names[picked]).or_default() += 1,
            StepStrategy::ByState(counts) => {
                *counts.entry(states[picked].clone()).or_default() += 1
            }
            StepStrategy::Any | StepStrategy::ByWeight(_) | StepStrategy::Custom(_) => {}
        }
        let label = possible[picked].label;
        Ok(Some(ChosenStep {
            name: label.name,
            arguments: label.arguments,
            result: Some(label.result),
        }))
    }
}
