//! Changes of what is no part of a model's state.
//!
//! A step is tried by executing it, and only the declared variables are restored. Whatever else an
//! action changes (another global, a class attribute, a default argument, a closure, a list of a
//! module that the model imports) stays changed, so what is found afterwards may depend on the order
//! in which states were explored. The [base](crate::walker::base) notices such changes.

use std::collections::BTreeSet;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use testwright_core::verdict::Caveat;

use crate::load::load_support;
use crate::walker::base::BaseImage;
use crate::walker::encoder::{EncodingContext, EncodingGap, StateRoot};

/// The namespace of a model program, and the names of its state variables.
pub(crate) type DeclaredState<'py> = (Bound<'py, PyDict>, Vec<Bound<'py, PyString>>);

/// The modules of the models as they were before the first step, and the changes noticed since.
pub(crate) struct UndeclaredState<'py> {
    base: BaseImage,
    /// The state variables: their namespaces, names, and objects in the base.
    variables: Vec<(Bound<'py, PyDict>, Bound<'py, PyString>, Bound<'py, PyAny>)>,
    /// The names of what was changed.
    pub(crate) changed: BTreeSet<String>,
    /// The things outside of states that code of the models asks for.
    code: Vec<Caveat>,
    /// The number of times that a change could have been noticed.
    chances: u64,
}

impl<'py> UndeclaredState<'py> {
    /// The number of chances that are all taken; later, one in so many is, and still later fewer.
    const ALL: u64 = 16;
    const INTERVAL: u64 = 64;
    const LATER_INTERVAL: u64 = 1024;

    /// Records the modules of model programs, and those of the project that they use.
    pub(crate) fn watch(
        context: &mut EncodingContext<'py>,
        programs: Vec<DeclaredState<'py>>,
    ) -> PyResult<UndeclaredState<'py>> {
        let support = load_support(context.python)?;
        let mut namespaces: Vec<Bound<'py, PyDict>> = Vec::new();
        let mut variables = Vec::new();
        for (module, names) in programs {
            let none: Vec<&str> = Vec::new();
            let found = support.call_method1("modules_of_state", (&module, &none, &none))?;
            let (found, _): (Vec<Bound<'py, PyDict>>, Vec<String>) = found.extract()?;
            for namespace in std::iter::once(module.clone()).chain(found) {
                if !namespaces.iter().any(|known| known.is(&namespace)) {
                    namespaces.push(namespace);
                }
            }
            for name in names {
                if let Some(value) = module.get_item(&name)? {
                    variables.push((module.clone(), name, value));
                }
            }
        }
        context.modules = namespaces
            .iter()
            .filter_map(|namespace| namespace.get_item("__name__").ok().flatten())
            .map(|name| name.to_string())
            .collect();
        let state: Vec<Bound<'py, PyAny>> = variables
            .iter()
            .map(|(_, _, value)| value.clone())
            .collect();
        let base = BaseImage::take(context, &namespaces, &state);
        let functions = base.functions(context.python);
        let code: Vec<(bool, String, String, usize)> = support
            .call_method1("code_outside_state", (functions,))?
            .extract()?;
        let code = code.into_iter().map(|(is_identity, what, file, line)| {
            let place = format!("`{what}` in {file}, line {line}");
            if is_identity {
                Caveat::Identity { place }
            } else {
                Caveat::OutsideState { what: place }
            }
        });
        Ok(UndeclaredState {
            base,
            variables,
            changed: BTreeSet::new(),
            code: code.collect(),
            chances: 0,
        })
    }

    /// Looks for changes, the first few times and then from time to time.
    pub(crate) fn look_sometimes(&mut self, context: &mut EncodingContext<'py>) -> PyResult<()> {
        self.chances += 1;
        let interval = match self.chances {
            chances if chances <= UndeclaredState::ALL => 1,
            chances if chances <= UndeclaredState::LATER_INTERVAL => UndeclaredState::INTERVAL,
            _ => UndeclaredState::LATER_INTERVAL,
        };
        if self.chances.is_multiple_of(interval) {
            return self.look(context);
        }
        Ok(())
    }

    /// Looks for changes. Meanwhile, the state variables have the objects of the base.
    pub(crate) fn look(&mut self, context: &mut EncodingContext<'py>) -> PyResult<()> {
        let mut present = Vec::with_capacity(self.variables.len());
        for (module, name, value) in &self.variables {
            present.push(module.get_item(name)?);
            module.set_item(name, value)?;
        }
        if !self.base.is_unchanged(context) {
            self.changed.extend(self.base.changed_names(context));
        }
        for ((module, name, _), value) in self.variables.iter().zip(present) {
            match value {
                Some(value) => module.set_item(name, value)?,
                None => module.del_item(name)?,
            }
        }
        Ok(())
    }

    /// Returns the caveats about what no state contains.
    pub(crate) fn caveats(&self, context: &EncodingContext<'py>) -> Vec<Caveat> {
        let changed = self.changed.iter().cloned();
        let mut caveats: Vec<Caveat> = changed.map(|what| Caveat::OutsideState { what }).collect();
        for (root, gap) in &context.gaps {
            let (EncodingGap::Unseen(class), StateRoot::Slot(_)) = (gap, root) else {
                continue;
            };
            caveats.push(Caveat::OutsideState {
                what: format!("a `{class}` in a state variable"),
            });
        }
        caveats.extend(self.code.iter().cloned());
        caveats
    }
}
