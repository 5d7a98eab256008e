//! How a system is brought back to its initial state, step by step.

use pyo3::prelude::*;

use crate::hooks::Hook;
use crate::interrupt;
use crate::system::PythonSystem;

/// Why a reset did not succeed.
pub(crate) struct ResetTrouble {
    pub(crate) what: String,
    pub(crate) error: PyErr,
    pub(crate) help: Option<String>,
}

impl PythonSystem<'_> {
    /// Back to the initial state.
    pub(crate) fn start_anew(&mut self) -> Result<(), ResetTrouble> {
        interrupt::sign_of_life();
        let trouble = |what: &str| {
            let what = what.to_owned();
            |error| ResetTrouble {
                what,
                error,
                help: None,
            }
        };
        self.assumption_violated = false;
        if let Some(guidance) = &mut self.guidance {
            guidance.begin();
        }
        for line in &mut self.finallys {
            // Slots may be empty, anything may fail: cleaning up does what it can.
            line.for_each(&self.context, None, |_, _, _| true);
        }
        self.call_hook(Hook::BeforeRestart);
        if let Some(stage) = &mut self.stage {
            stage
                .restore()
                .map_err(trouble("putting the surroundings back"))?;
        }
        self.reset_modules()?;
        let none = self.context.python.None();
        for place in 0..self.context.layout.total() {
            self.context
                .slots
                .set_item(place, &none)
                .map_err(trouble("emptying the slots"))?;
        }
        self.states.reset();
        self.run_inits()?;
        self.call_hook(Hook::AfterRestart);
        if !self.inits.is_empty() || self.hooks.any() {
            self.notice_values();
        }
        Ok(())
    }

    fn reset_modules(&mut self) -> Result<(), ResetTrouble> {
        self.modules.reset().map_err(|trouble| ResetTrouble {
            what: format!(
                "running the module `{}` again for a new test",
                trouble.module
            ),
            error: trouble.error,
            help: Some(String::from(
                "if the module cannot be run twice, switch this off with `--no-reset`",
            )),
        })
    }

    fn run_inits(&mut self) -> Result<(), ResetTrouble> {
        for line in &mut self.inits {
            let mut trouble = None;
            line.for_each(&self.context, None, |line, _, result| {
                trouble = result.err().map(|error| ResetTrouble {
                    what: format!("`init: {}` in line {}", line.text, line.line),
                    error,
                    help: None,
                });
                trouble.is_none()
            });
            if let Some(trouble) = trouble {
                return Err(trouble);
            }
        }
        Ok(())
    }
}
