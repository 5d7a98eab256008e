//! The steps that bring a system back to its initial state.

use pyo3::prelude::*;

use crate::hooks::Hook;
use crate::interrupt;
use crate::system::PythonSystem;

/// The reason why a reset failed.
pub(crate) struct ResetError {
    /// The step of the reset that failed.
    pub(crate) failed_step: String,
    /// The exception.
    pub(crate) error: PyErr,
    /// Advice for the user.
    pub(crate) help: Option<String>,
}

impl PythonSystem<'_> {
    /// Runs all steps of a reset.
    pub(crate) fn reset_all(&mut self) -> Result<(), ResetError> {
        interrupt::mark_progress();
        let failed_at = |step: &str| {
            let step = step.to_owned();
            |error| ResetError {
                failed_step: step,
                error,
                help: None,
            }
        };
        self.assumption_violated = false;
        if let Some(guide) = &mut self.guide {
            guide.begin();
        }
        for line in &mut self.finallys {
            // Slots may be empty, so any line may fail; the others still run.
            line.for_each(&self.context, None, |_, _, _| true);
        }
        self.call_hook(Hook::BeforeRestart);
        if let Some(process_state) = &mut self.process_state {
            process_state
                .restore()
                .map_err(failed_at("restoring the process state"))?;
        }
        if !self.restore_base() {
            self.modules.forget();
        }
        let executed = self.reset_modules()?;
        self.renew_base(executed)
            .map_err(failed_at("looking at the modules under test"))?;
        let none = self.context.python.None();
        for position in 0..self.context.layout.total() {
            self.context
                .slots
                .set_item(position, &none)
                .map_err(failed_at("emptying the slots"))?;
        }
        self.states.reset();
        self.run_inits()?;
        self.call_hook(Hook::AfterRestart);
        if !self.inits.is_empty() || self.hooks.has_any() {
            self.refresh_slot_states();
        }
        self.is_at_start = true;
        Ok(())
    }

    /// Restores the modules under test.
    ///
    /// Returns true if they were executed again.
    fn reset_modules(&mut self) -> Result<bool, ResetError> {
        self.modules.reset().map_err(|error| ResetError {
            failed_step: format!("running the module `{}` again for a new test", error.module),
            error: error.error,
            help: Some(String::from(
                "if the module cannot be run twice, switch this off with `--no-reset`",
            )),
        })
    }

    /// Runs the `init:` lines.
    fn run_inits(&mut self) -> Result<(), ResetError> {
        let _watched = self.watch(0);
        for line in &mut self.inits {
            let mut error = None;
            line.for_each(&self.context, None, |line, _, result| {
                error = result.err().map(|error| ResetError {
                    failed_step: format!("`init: {}` in line {}", line.text, line.line),
                    error,
                    help: None,
                });
                error.is_none()
            });
            if let Some(error) = error {
                return Err(error);
            }
        }
        Ok(())
    }
}
