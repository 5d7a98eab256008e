//! A harness plus the interpreter, as a [`System`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{
    ActionId, Axis, Catalog, Error, Outcome, PoolId, Random, System, TemplateId,
};
use testwright_lang::Harness;

use crate::actions::{Actions, complaint};
use crate::checks::{Checks, Violation};
use crate::context::Context;
use crate::draw::Draw;
use crate::failures::{self, Raised};
use crate::forked;
use crate::hooks::{Hook, Hooks};
use crate::interrupt;
use crate::line_code::LineCode;
use crate::load;
use crate::logs::Logs;
use crate::mirror::Mirror;
use crate::modules::Modules;
use crate::output::Output;
use crate::pool_states::PoolStates;
use crate::stage::Stage;
use crate::weights::Weights;
use crate::{Interpreter, LoadError, Options};

/// Something that showed only while the harness ran and is not the system's fault: a guard that raises, for example.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the harness, from 1.
    pub line: usize,
    /// One sentence without full stop.
    pub message: String,
    /// How often.
    pub times: u64,
}

/// A harness plus the interpreter, as a [`System`].
///
/// While it lives, standard input, output and error of the process belong to the system under test; the tool's
/// own messages must go to duplicates of the descriptors made before.
pub struct PythonSystem<'py> {
    pub(crate) context: Context<'py>,
    pub(crate) path: PathBuf,
    pub(crate) mirror: Mirror<'py>,
    pub(crate) actions: Actions<'py>,
    pub(crate) states: PoolStates,
    pub(crate) weights: Weights,
    pub(crate) draw: Draw,
    pub(crate) inits: Vec<LineCode<'py>>,
    pub(crate) finallys: Vec<LineCode<'py>>,
    pub(crate) assumptions: Vec<LineCode<'py>>,
    pub(crate) checks: Checks<'py>,
    pub(crate) logs: Logs<'py>,
    pub(crate) hooks: Hooks<'py>,
    pub(crate) modules: Modules<'py>,
    pub(crate) warned: Bound<'py, PyList>,
    /// Exceptions that the reference raised in the last step.
    pub(crate) reference_raised: Bound<'py, PyList>,
    pub(crate) stage: Stage<'py>,
    pub(crate) problems: BTreeMap<(usize, String), u64>,
    /// Harness code may change slots that the action does not name.
    pub(crate) slots_may_change_unseen: bool,
    pub(crate) assumption_violated: bool,
    /// The expected exception that the last step raised, as text.
    pub(crate) last_expected: Option<String>,
    /// What the last failure was, in detail, for writing a test that fails in the same way.
    pub(crate) last_failure: Option<LastFailure>,
    pub(crate) values: Vec<u64>,
}

/// A failure as the backend knows it.
pub(crate) enum LastFailure {
    /// The step raised.
    Step(PyErr),
    /// An invariant does not hold.
    Check(Violation),
}

impl<'py> PythonSystem<'py> {
    /// Brings a harness to life: imports what it imports and runs its raw code.
    ///
    /// `path` is the harness file. Modules are looked for in its folder, then in the current directory, then as usual.
    pub fn load(
        interpreter: Interpreter<'py>,
        path: &Path,
        text: &str,
        harness: Harness,
        options: &Options,
    ) -> Result<PythonSystem<'py>, LoadError> {
        load::load(interpreter, path, text, harness, options)
    }

    /// The harness.
    pub fn harness(&self) -> &Harness {
        &self.context.harness
    }

    /// The harness file, with its whole path.
    pub fn file(&self) -> &Path {
        Path::new(&self.context.path)
    }

    /// The folder that was the current one when the harness was loaded.
    pub fn folder(&self) -> Option<PathBuf> {
        self.stage.folder()
    }

    /// The interpreter's own program file.
    pub fn executable(&self) -> Option<PathBuf> {
        let system = self.context.python.import("sys").ok()?;
        system.getattr("executable").ok()?.extract().ok()
    }

    /// What went wrong with the harness itself so far, one entry per cause, in order of lines.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |((line, message), times): (&(usize, String), &u64)| Problem {
            line: *line,
            message: message.clone(),
            times: *times,
        };
        self.problems.iter().map(problem).collect()
    }

    /// Lines that `log:` lines produced since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.logs.take()
    }

    /// What the system printed since the last call, with [`Output::Capture`].
    pub fn take_output(&mut self) -> String {
        self.stage.take_output()
    }

    /// Changes what becomes of the system's output from now on.
    pub fn set_output(&mut self, output: Output) -> Result<(), Error> {
        self.stage
            .set_output(output)
            .map_err(|error| Error::new(format!("cannot redirect the output: {error}")))
    }

    /// Writes out what the system has printed so far, so that it comes before what the tool prints next.
    pub fn flush(&self) {
        self.stage.flush();
    }

    /// Calls a hook of the harness; exceptions in it are remembered as problems.
    pub fn call_hook(&mut self, hook: Hook) {
        if let Err(error) = self.hooks.call(hook) {
            self.complain(0, complaint(self.context.python, "a hook", &error));
        }
    }

    /// The modules that a reset runs again, as the harness calls them.
    pub(crate) fn names_of_reset_modules(&self) -> Vec<&str> {
        let is_reset = |name: &str| {
            let mut parts = name.split('.');
            let first = parts
                .next()
                .and_then(|first| self.context.namespace.get_item(first).ok().flatten());
            let module = parts.fold(first, |module, part| {
                module.and_then(|module| module.getattr(part).ok())
            });
            let namespace = module.and_then(|module| module.getattr("__dict__").ok());
            namespace.is_some_and(|namespace| self.modules.contain(&namespace))
        };
        let names = self
            .context
            .harness
            .raw
            .reset_modules
            .iter()
            .map(|module| module.text.as_str());
        names.filter(|name| is_reset(name)).collect()
    }

    fn complain(&mut self, line: usize, message: String) {
        *self.problems.entry((line, message)).or_default() += 1;
    }

    /// Whether harness code lets an action happen; one that raises instead of answering does not.
    fn conditions_hold(&mut self, template: TemplateId, values: &[u64]) -> bool {
        match self
            .actions
            .conditions_hold(&self.context, &self.mirror, template, values)
        {
            Ok(hold) => hold,
            Err(error) => {
                if !failures::is_interrupt(self.context.python, &error) {
                    let line = self.context.harness.actions[template.0].line;
                    let has_guard = self.context.harness.actions[template.0].guard.is_some();
                    let what = if has_guard {
                        "the guard"
                    } else {
                        "compiling this line"
                    };
                    self.complain(line, complaint(self.context.python, what, &error));
                }
                false
            }
        }
    }

    /// Looks at the values of slots after harness code ran.
    fn notice_values(&mut self, axes_of: Option<(TemplateId, &[u64])>) {
        if let (Some((template, values)), false) = (axes_of, self.slots_may_change_unseen) {
            for (axis, value) in self.context.harness.catalog.templates()[template.0]
                .axes
                .iter()
                .zip(values)
            {
                if let Axis::Slot { pool, .. } = axis {
                    let filled = self.context.is_filled(*pool, *value as u32);
                    self.states.set_filled(*pool, *value as u32, filled);
                }
            }
            return;
        }
        for (number, pool) in self.context.harness.pools.iter().enumerate() {
            for slot in 0..pool.size {
                self.states.set_filled(
                    PoolId(number),
                    slot,
                    self.context.is_filled(PoolId(number), slot),
                );
            }
        }
    }

    fn check_assumptions(&mut self) {
        let mut violated = false;
        for assumption in &mut self.assumptions {
            assumption.for_each(&self.context, None, |_, _, result| {
                // One that cannot be evaluated, for example because a slot is empty, counts as holding.
                violated |= result
                    .and_then(|value| value.is_truthy())
                    .is_ok_and(|holds| !holds);
                !violated
            });
        }
        self.assumption_violated |= violated;
    }

    fn remember_warnings(&mut self, line: usize) {
        let name = |error: Bound<'_, PyAny>| {
            error
                .get_type()
                .name()
                .map_or_else(|_| String::from("?"), |name| name.to_string())
        };
        let warned: Vec<String> = self.warned.iter().map(name).collect();
        if !warned.is_empty() {
            let _a_list_can_be_emptied = self.warned.del_slice(0, warned.len());
        }
        for warning in warned {
            self.complain(
                line,
                format!("the action raised {warning}, which the harness takes as a warning"),
            );
        }
    }
}

/// Why a reset did not succeed.
struct ResetTrouble {
    what: String,
    error: PyErr,
    help: Option<String>,
}

impl PythonSystem<'_> {
    fn start_anew(&mut self) -> Result<(), ResetTrouble> {
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
        for line in &mut self.finallys {
            // Slots may be empty, anything may fail: cleaning up does what it can.
            line.for_each(&self.context, None, |_, _, _| true);
        }
        self.call_hook(Hook::BeforeRestart);
        self.stage
            .restore()
            .map_err(trouble("putting the surroundings back"))?;
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
            self.notice_values(None);
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

impl System for PythonSystem<'_> {
    fn actions(&self) -> &Catalog {
        &self.context.harness.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        match self.start_anew() {
            // Whoever asked for the reset will hear of the interruption before the next step.
            Err(trouble) if failures::is_interrupt(self.context.python, &trouble.error) => Ok(()),
            Err(trouble) => {
                let message = complaint(self.context.python, &trouble.what, &trouble.error);
                Err(Error {
                    message,
                    help: trouble.help,
                })
            }
            Ok(()) => Ok(()),
        }
    }

    fn is_enabled(&mut self, action: ActionId) -> bool {
        let mut values = std::mem::take(&mut self.values);
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut values);
        let axes = &self.context.harness.catalog.templates()[template.0].axes;
        let enabled = !self.assumption_violated
            && self.states.allow(axes, &values)
            && self.conditions_hold(template, &values);
        self.values = values;
        enabled
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        if self.assumption_violated {
            return None;
        }
        self.weights.update(&self.states);
        self.draw.start(self.weights.total());
        let mut values = std::mem::take(&mut self.values);
        let mut picked = None;
        while let Some(rank) = self.draw.next(random) {
            let action = self.weights.action(
                &self.context.harness.catalog,
                &self.states,
                rank,
                &mut values,
            );
            let template = self.context.harness.catalog.template_of(action);
            if self.conditions_hold(template, &values) {
                picked = Some(action);
                break;
            }
            if interrupt::interrupted() {
                break;
            }
        }
        self.values = values;
        picked
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let mut values = std::mem::take(&mut self.values);
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut values);
        let line = self.context.harness.actions[template.0].line;
        self.logs.speak(&self.context, action, false);
        if self.hooks.has(Hook::BeforeEach) {
            self.call_hook(Hook::BeforeEach);
        }
        if !self.reference_raised.is_empty() {
            let _a_list_can_be_emptied = self
                .reference_raised
                .del_slice(0, self.reference_raised.len());
        }
        interrupt::sign_of_life();
        self.last_expected = None;
        let (result, mirrored) = self
            .actions
            .run(&self.context, &self.mirror, template, &values);
        forked::leave_if_child();
        self.states.mark(
            &self.context.harness.catalog.templates()[template.0].axes,
            &values,
        );
        if self.hooks.has(Hook::AfterEach) && !(mirrored && result.is_ok()) {
            self.call_hook(Hook::AfterEach);
        }
        self.notice_values(Some((template, &values)));
        self.values = values;
        if !self.assumptions.is_empty() {
            self.check_assumptions();
        }
        if !self.context.harness.actions[template.0].warnings.is_empty() {
            self.remember_warnings(line);
        }
        match result {
            Ok(value) => {
                self.logs.speak(&self.context, action, true);
                if !value.is_instance_of::<pyo3::exceptions::PyException>() {
                    return Outcome::Passed;
                }
                let raised = Raised::new(self.context.python, &PyErr::from_value(value)).summary();
                self.last_expected = Some(raised.clone());
                Outcome::Expected(raised)
            }
            Err(error) => {
                let outcome = self.outcome_of_error(action, line, &error);
                self.last_failure = Some(LastFailure::Step(error));
                outcome
            }
        }
    }

    fn check(&mut self) -> Outcome {
        interrupt::sign_of_life();
        let (outcome, violation) = self.checks.check(&self.context, &self.states);
        if let Some(violation) = violation {
            self.last_failure = Some(LastFailure::Check(violation));
        }
        outcome
    }
}
