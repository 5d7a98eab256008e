//! A harness plus the interpreter, as a [`System`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyException;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyList;
use testwright_core::{
    ActionId, Catalog, Error, Outcome, PoolId, Random, System, TemplateId, TemplateSet,
};
use testwright_lang::Harness;

use crate::actions::{Actions, Variant, VariantId, complaint};
use crate::checks::{Checks, Violation};
use crate::context::Context;
use crate::coverage::Collector;
use crate::draw::Draw;
use crate::failures;
use crate::forked;
use crate::guidance::Guidance;
use crate::hooks::{Hook, Hooks};
use crate::interpreter;
use crate::interrupt;
use crate::line_code::LineCode;
use crate::load;
use crate::logs::Logs;
use crate::mirror::Mirror;
use crate::modules::Modules;
use crate::output::Output;
use crate::pool_states::PoolStates;
use crate::rejected::Rejected;
use crate::restricted::Restricted;
use crate::shapes::Shapes;
use crate::stage::Stage;
use crate::weights::{Weights, action_of};
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
/// While it lives in a [process of the tool](crate::Process::OfTheTool), standard input, output and error belong to
/// the system under test; the tool's own messages must go to duplicates of the descriptors made before.
pub struct PythonSystem<'py> {
    pub(crate) context: Context<'py>,
    pub(crate) path: PathBuf,
    pub(crate) mirror: Mirror<'py>,
    pub(crate) actions: Actions<'py>,
    pub(crate) states: PoolStates,
    pub(crate) weights: Weights,
    pub(crate) restricted: Restricted,
    pub(crate) shapes: Shapes,
    pub(crate) draw: Draw,
    pub(crate) inits: Vec<LineCode<'py>>,
    pub(crate) finallys: Vec<LineCode<'py>>,
    pub(crate) assumptions: Vec<LineCode<'py>>,
    pub(crate) hints: Vec<LineCode<'py>>,
    pub(crate) checks: Checks<'py>,
    pub(crate) logs: Logs<'py>,
    pub(crate) hooks: Hooks<'py>,
    pub(crate) modules: Modules<'py>,
    pub(crate) warned: Bound<'py, PyList>,
    /// Exceptions that the reference raised in the last step.
    pub(crate) reference_raised: Bound<'py, PyList>,
    pub(crate) collector: Option<Collector<'py>>,
    /// What is put back on every reset, if that is up to the tool.
    pub(crate) stage: Option<Stage<'py>>,
    pub(crate) problems: BTreeMap<(usize, String), u64>,
    /// Harness code may change slots that the action does not name.
    pub(crate) slots_may_change_unseen: bool,
    pub(crate) assumption_violated: bool,
    /// Scenarios that say which lines may come next, if there are any.
    pub(crate) guidance: Option<Guidance<'py>>,
    /// The expected exception that the last step raised.
    pub(crate) last_expected: Option<Bound<'py, PyAny>>,
    /// The exception of the last step that counts as a warning.
    pub(crate) last_warned: Option<Bound<'py, PyAny>>,
    /// What the last failure was, in detail, for writing a test that fails in the same way.
    pub(crate) last_failure: Option<LastFailure>,
    /// The action that was last picked or asked for, which mostly is the one that is taken next.
    pub(crate) prepared: Option<Prepared>,
    /// What the prepared action has chosen on each axis.
    pub(crate) values: Vec<u64>,
    pub(crate) rejected: Rejected,
}

/// An action, ready to be taken.
#[derive(Clone, Copy)]
pub(crate) struct Prepared {
    action: ActionId,
    template: TemplateId,
    variant: VariantId,
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
        match &self.stage {
            Some(stage) => stage.folder(),
            None => std::env::current_dir().ok(),
        }
    }

    /// Lets the system run in another folder from now on.
    pub fn move_to(&mut self, folder: &Path) -> Result<(), Error> {
        let python = self.context.python;
        let stage = self.stage.as_mut();
        stage
            .map_or(Ok(()), |stage| stage.move_to(folder))
            .map_err(|error| {
                let raised = failures::summary(python, &error);
                Error::new(format!("cannot run in `{}`: {raised}", folder.display()))
            })
    }

    /// The interpreter's own program file.
    pub fn executable(&self) -> Option<PathBuf> {
        interpreter::executable(self.context.python.into())
    }

    /// What went wrong with the harness itself so far, one entry per cause, in order of lines.
    pub fn problems(&self) -> Vec<Problem> {
        let problem = |((line, message), times): (&(usize, String), &u64)| Problem {
            line: *line,
            message: message.clone(),
            times: *times,
        };
        let mut problems: Vec<Problem> = self.problems.iter().map(problem).collect();
        if let Some(why) = self.checks.why_all() {
            let message = format!("all properties were checked after every step: {why}");
            problems.insert(
                0,
                Problem {
                    line: 0,
                    message,
                    times: 1,
                },
            );
        }
        problems
    }

    /// Lines that `log:` lines produced since the last call.
    pub fn take_log(&mut self) -> Vec<String> {
        self.logs.take()
    }

    /// What measures coverage, if that was asked for.
    pub fn coverage(&self) -> Option<&Collector<'py>> {
        self.collector.as_ref()
    }

    /// What the system printed since the last call, with [`Output::Capture`].
    pub fn take_output(&mut self) -> String {
        let stage = self.stage.as_mut();
        stage.map(Stage::take_output).unwrap_or_default()
    }

    /// Changes what becomes of the system's output from now on.
    pub fn set_output(&mut self, output: Output) -> Result<(), Error> {
        let stage = self.stage.as_mut();
        stage
            .map_or(Ok(()), |stage| stage.set_output(output))
            .map_err(crate::output::unredirected)
    }

    /// Writes out what the system has printed so far, so that it comes before what the tool prints next.
    pub fn flush(&self) {
        if let Some(stage) = &self.stage {
            stage.flush();
        }
    }

    /// Calls a hook of the harness; exceptions in it are remembered as problems.
    #[inline(never)]
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

    /// Prepares an action, whose values are in `self.values`, if harness code lets it happen; code that raises
    /// instead of answering does not.
    #[inline]
    fn prepare_if_allowed(&mut self, action: ActionId, template: TemplateId) -> bool {
        // Mostly the functions were made long ago, and there is nothing to ask.
        let Some(variant) = self.actions.unconditional(template, &self.values) else {
            return self.ask_and_prepare(action, template);
        };
        self.prepared = Some(Prepared {
            action,
            template,
            variant,
        });
        true
    }

    #[inline(never)]
    fn ask_and_prepare(&mut self, action: ActionId, template: TemplateId) -> bool {
        let (context, values) = (&self.context, &self.values);
        let variant = self
            .actions
            .variant(context, &self.mirror, template, values);
        let answer = variant.and_then(|variant| {
            let hold = self
                .actions
                .conditions_hold(context, template, variant, values)?;
            Ok(hold.then_some(variant))
        });
        match answer {
            Ok(variant) => {
                self.prepared = variant.map(|variant| Prepared {
                    action,
                    template,
                    variant,
                });
                variant.is_some()
            }
            Err(error) => {
                if !interrupt::is_interrupt(self.context.python, &error) {
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

    /// Draws from `total` actions until one is enabled, and prepares it; `find` tells the template of a rank and the
    /// rank of the action in it.
    #[inline]
    fn draw_enabled(
        &mut self,
        total: u64,
        random: &mut Random,
        find: impl Fn(&PythonSystem<'py>, u64) -> (TemplateId, u64),
    ) -> Option<ActionId> {
        self.prepared = None;
        if self.assumption_violated {
            return None;
        }
        self.draw.start(total);
        self.rejected.start();
        while let Some(rank) = self.draw.next(random) {
            let (template, rest) = find(self, rank);
            let catalog = &self.context.harness.catalog;
            let source = (catalog, &self.shapes, &self.states);
            let action = action_of(template, rest, source, &mut self.values);
            // Mostly the first is good, and nothing was rejected: then nobody asks for its conditions.
            if !self.rejected.is_empty() && self.was_rejected(template) {
                continue;
            }
            if self.prepare_if_allowed(action, template) {
                return Some(action);
            }
            if let Some(condition) = self.actions.condition_number(template, &self.values) {
                self.rejected.add(template, condition);
            }
            if interrupt::interrupted() {
                break;
            }
        }
        None
    }

    /// Whether an action with the conditions of the one in `self.values` was rejected.
    #[cold]
    fn was_rejected(&self, template: TemplateId) -> bool {
        let condition = self.actions.condition_number(template, &self.values);
        condition.is_some_and(|condition| self.rejected.contains(template, condition))
    }

    /// The template and the functions of an action that was not prepared.
    #[cold]
    fn look_up(&mut self, action: ActionId) -> Result<Prepared, Box<Outcome>> {
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut self.values);
        let variant = self
            .actions
            .variant(&self.context, &self.mirror, template, &self.values);
        match variant {
            Ok(variant) => Ok(Prepared {
                action,
                template,
                variant,
            }),
            Err(error) => Err(Box::new(self.raised(action, template, error))),
        }
    }

    /// A step has raised what counts as a failure.
    #[cold]
    fn raised(&mut self, action: ActionId, template: TemplateId, error: PyErr) -> Outcome {
        let line = self.context.harness.actions[template.0].line;
        let outcome = self.outcome_of_error(action, line, &error);
        self.last_failure = Some(LastFailure::Step(error));
        outcome
    }

    /// A step has given something back: an exception that was expected, if it matters.
    #[inline(never)]
    fn gave(&mut self, value: Bound<'py, PyAny>) -> Outcome {
        if !value.is_instance_of::<PyException>() {
            return Outcome::Passed;
        }
        forget_traceback(&value);
        self.last_expected = Some(value);
        Outcome::Expected
    }

    /// The expected exception that the last step raised, as text.
    pub(crate) fn text_of_expected(&self) -> Option<String> {
        let raised = self.last_expected.as_ref()?;
        Some(failures::summary(
            self.context.python,
            &PyErr::from_value(raised.clone()),
        ))
    }

    /// What the last step raised is of no interest any more.
    #[inline]
    fn forget_exceptions(&mut self) {
        if self.last_expected.is_some() || !self.reference_raised.is_empty() {
            self.forget_raised();
        }
    }

    #[inline(never)]
    fn forget_raised(&mut self) {
        self.last_expected = None;
        let raised = &self.reference_raised;
        raised.iter().for_each(|raised| forget_traceback(&raised));
        let _a_list_can_be_emptied = raised.del_slice(0, raised.len());
    }

    /// Looks at the values of all slots after harness code ran.
    #[inline(never)]
    pub(crate) fn notice_values(&mut self) {
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

    #[inline(never)]
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

    #[inline(never)]
    fn remember_warnings(&mut self, line: usize) {
        let name = |error: Bound<'_, PyAny>| {
            error
                .get_type()
                .name()
                .map_or_else(|_| String::from("?"), |name| name.to_string())
        };
        self.last_warned = self.warned.iter().last();
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

/// Lets go of everything that was there when an exception was raised.
///
/// The function of an action keeps the exception it caught, and the exception keeps the function's frame: only the
/// garbage collector would find that neither is needed, and until then whatever they hold stays alive.
fn forget_traceback(exception: &Bound<'_, PyAny>) {
    // SAFETY: the object is an exception, or else nothing happens but an error, which is cleared; the reference to
    // `None` is borrowed for the call.
    unsafe {
        if ffi::PyExceptionInstance_Check(exception.as_ptr()) != 0
            && ffi::PyException_SetTraceback(exception.as_ptr(), ffi::Py_None()) != 0
        {
            ffi::PyErr_Clear();
        }
    }
}

impl PythonSystem<'_> {
    /// A uniformly random enabled action of some templates.
    fn pick_restricted(
        &mut self,
        templates: &TemplateSet,
        random: &mut Random,
    ) -> Option<ActionId> {
        self.weights.update(&self.states);
        let catalog = &self.context.harness.catalog;
        let total = self
            .restricted
            .turn_to(templates, &self.weights, catalog, &self.states);
        self.draw_enabled(total, random, |system, rank| system.restricted.find(rank))
    }
}

impl System for PythonSystem<'_> {
    fn actions(&self) -> &Catalog {
        &self.context.harness.catalog
    }

    fn reset(&mut self) -> Result<(), Error> {
        match self.start_anew() {
            // Whoever asked for the reset will hear of the interruption before the next step.
            Err(trouble) if interrupt::is_interrupt(self.context.python, &trouble.error) => Ok(()),
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
        self.prepared = None;
        let template = self
            .context
            .harness
            .catalog
            .values_into(action, &mut self.values);
        if let Some(guidance) = &self.guidance
            && !guidance.allowed().contains(template)
        {
            return false;
        }
        let slots = &self.shapes.of(template).slots;
        !self.assumption_violated
            && self.states.allow(slots, &self.values)
            && self.prepare_if_allowed(action, template)
    }

    fn pick(&mut self, random: &mut Random) -> Option<ActionId> {
        if let Some(guidance) = &self.guidance {
            let allowed = guidance.allowed().clone();
            return self.pick_restricted(&allowed, random);
        }
        self.weights.update(&self.states);
        let total = self.weights.total();
        self.draw_enabled(total, random, |system, rank| system.weights.find(rank))
    }

    fn pick_among(&mut self, templates: &TemplateSet, random: &mut Random) -> Option<ActionId> {
        match &self.guidance {
            None => self.pick_restricted(templates, random),
            Some(guidance) => {
                let both = templates.both(guidance.allowed());
                self.pick_restricted(&both, random)
            }
        }
    }

    fn alike(&self, template: TemplateId) -> Option<u64> {
        let line = &self.context.harness.actions[template.0];
        if line.guard.is_some() || line.speculative.is_some() {
            return None;
        }
        let guidance = self.guidance.as_ref();
        let name = guidance.and_then(|guidance| guidance.name_of(template));
        let name = name.map_or(0, |name| u64::from(name.0) + 1);
        Some(name << 32 | u64::from(self.weights.group_of(template)))
    }

    fn step(&mut self, action: ActionId) -> Outcome {
        let prepared = match self.prepared.take() {
            Some(prepared) if prepared.action == action => prepared,
            _ => match self.look_up(action) {
                Ok(prepared) => prepared,
                Err(outcome) => return *outcome,
            },
        };
        let Prepared {
            template, variant, ..
        } = prepared;
        self.logs.speak(&self.context, action, false);
        if self.hooks.has(Hook::BeforeEach) {
            self.call_hook(Hook::BeforeEach);
        }
        self.forget_exceptions();
        interrupt::sign_of_life();
        let (context, values) = (&self.context, &self.values);
        let result = self.actions.run(context, template, variant, values);
        forked::leave_if_child();
        if let Some(guidance) = &mut self.guidance {
            guidance.took(template);
        }
        let is_filled = |pool, slot| context.is_filled(pool, slot);
        self.states
            .took(self.shapes.of(template), values, is_filled);
        let Variant {
            mirrored, warns, ..
        } = *self.actions.about(variant);
        if self.hooks.has(Hook::AfterEach) && !(mirrored && result.is_ok()) {
            self.call_hook(Hook::AfterEach);
        }
        if self.slots_may_change_unseen {
            self.notice_values();
        }
        if !self.assumptions.is_empty() {
            self.check_assumptions();
        }
        if warns {
            self.remember_warnings(self.context.harness.actions[template.0].line);
        }
        match result {
            Ok(value) => {
                self.logs.speak(&self.context, action, true);
                if value.is_none() {
                    Outcome::Passed
                } else {
                    self.gave(value)
                }
            }
            Err(error) => self.raised(action, template, *error),
        }
    }

    fn expected(&mut self) -> String {
        self.text_of_expected().unwrap_or_default()
    }

    fn check(&mut self) -> Outcome {
        interrupt::sign_of_life();
        match self.checks.check(&self.context, &self.states) {
            Ok(()) => Outcome::Passed,
            Err(broken) => {
                self.last_failure = Some(LastFailure::Check(broken.violation));
                broken.outcome
            }
        }
    }
}
