//! The data that every part of a loaded harness needs: the interpreter, the harness, the slots, the
//! namespace.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyModule};
use testwright_core::{Axis, PoolId};
use testwright_lang::Harness;

use crate::call;
use crate::functions::FunctionText;
use crate::skeleton::Skeletons;
use crate::slot_layout::SlotLayout;
use crate::unawaited::UnawaitedCoroutines;

/// The constant data of a loaded harness.
pub(crate) struct HarnessContext<'py> {
    /// Proof that this thread holds the interpreter.
    pub(crate) python: Python<'py>,
    /// The parsed harness.
    pub(crate) harness: Harness,
    /// The positions of slots in `slots`.
    pub(crate) layout: SlotLayout,
    /// All slots, twins included, in one list.
    pub(crate) slots: Bound<'py, PyList>,
    /// Each position in `slots` as a Python integer.
    pub(crate) positions: Vec<Bound<'py, PyAny>>,
    /// The module namespace in which all harness code runs.
    pub(crate) namespace: Bound<'py, PyDict>,
    /// The harness file, as tracebacks name it.
    pub(crate) path: String,
    /// The module `support.py`.
    pub(crate) support: Bound<'py, PyModule>,
    /// Compiled functions to copy where only literals differ.
    pub(crate) skeletons: Skeletons<'py>,
    /// The coroutines that were never awaited, once the harness is loaded.
    pub(crate) unawaited: Option<UnawaitedCoroutines<'py>>,
}

impl<'py> HarnessContext<'py> {
    /// Returns the Python function of a text: a copy of a similar one if possible, else compiled.
    pub(crate) fn function(&self, function: &FunctionText) -> PyResult<Bound<'py, PyAny>> {
        match self.skeletons.function(self, function)? {
            Some(made) => Ok(made),
            None => self.compile(&function.text, function.line),
        }
    }

    /// Compiles the text of a function.
    pub(crate) fn compile(&self, text: &str, line: usize) -> PyResult<Bound<'py, PyAny>> {
        let arguments = (text, line, &self.path, &self.namespace);
        self.support.call_method1("make_function", arguments)
    }

    /// Returns true if the value of a condition in a line is true. A coroutine, which always is, is
    /// noted as a mistake of the line.
    pub(crate) fn is_truthy(&self, line: usize, value: &Bound<'py, PyAny>) -> PyResult<bool> {
        if let Some(unawaited) = &self.unawaited {
            unawaited.note_condition(line, value);
        }
        value.is_truthy()
    }

    /// Returns true if a slot holds a value.
    #[inline]
    pub(crate) fn is_filled(&self, pool: PoolId, slot: u32) -> bool {
        call::is_filled(&self.slots, self.layout.position(pool, slot))
    }

    /// Returns the text of a keyword line for one combination, as shown to users: `heightOk(avl0)`.
    pub(crate) fn display_text(
        &self,
        code: &testwright_lang::harness::Fragment,
        axes: &[Axis],
        values: &[u64],
    ) -> String {
        use testwright_lang::harness::CodePart;
        code.render(|part| match part {
            CodePart::Slot { axis, twin, .. } => match (&axes[*axis], *twin) {
                (Axis::Slot { pool, .. }, false) => self
                    .harness
                    .catalog
                    .pool(*pool)
                    .slot_name(values[*axis] as u32),
                (Axis::Slot { pool, .. }, true) => self
                    .harness
                    .catalog
                    .pool(*pool)
                    .twin_name(values[*axis] as u32),
                _ => String::new(),
            },
            CodePart::Choice { axis, .. } => match &axes[*axis] {
                Axis::Choice(choice) => choice.text(values[*axis]).into_owned(),
                _ => String::new(),
            },
            CodePart::Pre(number) => format!("pre{number}"),
            CodePart::Text(text) => text.clone(),
        })
    }

    /// Returns a text in which slot accesses such as `self.p_avl[0]` are replaced by display names.
    pub(crate) fn with_display_names(&self, text: &str) -> String {
        self.with_slot_names(text, |pool, slot, twin| {
            if twin {
                self.harness.catalog.pool(pool).twin_name(slot)
            } else {
                self.harness.catalog.pool(pool).slot_name(slot)
            }
        })
    }

    /// Returns a text in which slot accesses such as `self.p_avl[0]` are replaced by `name(pool,
    /// slot, is_twin)`.
    pub(crate) fn with_slot_names(
        &self,
        text: &str,
        name: impl Fn(PoolId, u32, bool) -> String,
    ) -> String {
        let mut named = text.to_owned();
        for (number, pool) in self.harness.pools.iter().enumerate() {
            for (suffix, twin) in [("", false), ("_REF", true)] {
                let access = format!("self.p_{}{suffix}[", pool.name);
                while let Some(start) = named.find(&access) {
                    let index_start = start + access.len();
                    let Some(length) = named[index_start..].find(']') else {
                        break;
                    };
                    let Ok(slot) = named[index_start..index_start + length].parse() else {
                        break;
                    };
                    named.replace_range(
                        start..=index_start + length,
                        &name(PoolId(number), slot, twin),
                    );
                }
            }
        }
        named
    }
}
